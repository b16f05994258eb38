"""The prompts for proposals: those that come with lrwr, and the writer's own."""

from dataclasses import dataclass
from pathlib import Path

from lrwr.core.drafting.folder import DraftFolder
from lrwr.core.drafting.prompts import (
    PromptName,
    PromptTexts,
    check_prompt,
    get_default_prompt,
    list_prompt_names,
    prompt_path,
)
from lrwr.core.model.errors import LrwrError


@dataclass(frozen=True, slots=True)
class PromptState:
    """A prompt as it is used: its `text`, the names that it may contain, and `file`,
    the path of the writer's own, empty for the default. `is_changed` says whether that
    differs from the default.
    """

    name: PromptName
    text: str
    names: tuple[str, ...]
    file: str = ""
    is_changed: bool = False


def list_prompts(folder: DraftFolder) -> list[PromptState]:
    """Return all prompts.

    Raises:
        SettingsProblem: One in `folder` cannot be read or used.
    """
    own = load_prompt_texts(folder).own
    return [
        PromptState(
            prompt,
            own.get(prompt, get_default_prompt(prompt)),
            list_prompt_names(prompt),
            folder.name_of(prompt_path(prompt)) if prompt in own else "",
            own.get(prompt, get_default_prompt(prompt)) != get_default_prompt(prompt),
        )
        for prompt in PromptName
    ]


def load_prompt_texts(folder: DraftFolder) -> PromptTexts:
    """Return the prompts, of which `folder` may have the writer's own.

    Raises:
        SettingsProblem: One cannot be used.
    """
    own = {}
    for prompt in PromptName:
        file = folder.read(prompt_path(prompt))
        if file is not None:
            check_prompt(prompt, file.text, file.path)
            own[prompt] = file.text
    return PromptTexts(own)


def create_prompt_file(folder: DraftFolder, prompt: PromptName) -> Path:
    """Return the file of the writer's own prompt; if there is none, create it with the
    default.

    Raises:
        SettingsProblem: The folder has the writer's own files.
        LrwrError: It cannot be written.
    """
    inner = prompt_path(prompt)
    if folder.read(inner) is None:
        folder.create()
        folder.write(inner, get_default_prompt(prompt))
    return folder.path / inner


def reset_prompt(folder: DraftFolder, prompt: PromptName) -> str:
    """Use the default of a prompt again; return the path, relative to the library, under
    which a changed one stays, empty if there was none.

    Raises:
        LrwrError: The file cannot be moved.
    """
    file = folder.read(prompt_path(prompt))
    if file is None:
        return ""
    path = folder.path / prompt_path(prompt)
    try:
        if file.text == get_default_prompt(prompt):
            path.unlink()
            return ""
        backup = path.with_suffix(".old.md")
        number = 2
        while backup.exists():
            backup = path.with_suffix(f".old-{number}.md")
            number += 1
        path.rename(backup)
    except OSError as error:
        raise LrwrError(
            f"{file.path} cannot be moved: {error.strerror}",
            hint="Check the permissions of its folder.",
        ) from error
    return backup.relative_to(folder.root).as_posix()
