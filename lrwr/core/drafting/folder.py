"""The folder of drafts, which lrwr created and the writer edits."""

import json
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.core.model.untrusted_text import InvalidText, parse_json, read_limited_file
from lrwr.core.settings.files import STAGED_PREFIX

BOARD_FILE, INTENT_FILE = "board.md", "intent.md"
SHEETS_FOLDER, WORLD_FOLDER, SCENES_FOLDER, PROMPTS_FOLDER = (
    "sheets",
    "world",
    "scenes",
    "prompts",
)
MAX_DRAFT_FILE_BYTES = 2 * 1024 * 1024
"""Size of the largest file of the folder that is read."""

HASHES_PER_FILE = 3
"""Versions of a file that lrwr wrote and remembers, the latest last."""

_NUMBER = re.compile(r"(\d{1,4})\.md")

INTENT_TEMPLATE = """\
# Intent

- genre:
- theme:
- setting:
- style:
- length:

## Always

## Never
"""


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A Markdown file of the folder: its path relative to the library, and its text."""

    path: str
    text: str


class DraftFolder:
    """The folder of drafts at `path`, in the library's folder `root`.

    A file named `marker` in it says that lrwr created it, and has the hashes of what
    lrwr wrote there: a file with another content was changed by the writer, and is
    never overwritten.
    """

    def __init__(self, root: Path, path: Path, marker: str) -> None:
        self.root = root
        self.path = path
        self._marker = path / marker

    @property
    def exists(self) -> bool:
        """Whether lrwr has created the folder."""
        return self._marker.is_file()

    def create(self) -> None:
        """Create the folder, its marker and an empty `intent.md`. Idempotent.

        Raises:
            SettingsProblem: There is a folder with the writer's own files.
            LrwrError: It cannot be written.
        """
        self._check_own()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not self._marker.exists():
                self._replace(self._marker, json.dumps({"files": {}}) + "\n")
        except OSError as error:
            raise _write_error(self.path, error) from error
        if not (self.path / INTENT_FILE).exists():
            self.write(INTENT_FILE, INTENT_TEMPLATE)

    def name_of(self, inner: str) -> str:
        """Return the path of a file of the folder, relative to the library's folder."""
        return (self.path / inner).relative_to(self.root).as_posix()

    def read(self, inner: str) -> DraftFile | None:
        """Return a file of the folder; None if there is none.

        Raises:
            SettingsProblem: It is a link, too large, or not UTF-8.
        """
        path = self.path / inner
        if not self.exists or not path.exists():
            return None
        try:
            self._check_link(path)
            content = read_limited_file(path, MAX_DRAFT_FILE_BYTES)
            return DraftFile(self.name_of(inner), content.decode("utf-8-sig"))
        except (OSError, ValueError) as error:
            raise SettingsProblem(
                f"{path} cannot be read: it is not a UTF-8 text file of at most 2 MB",
                hint="Save it as UTF-8, or move it away.",
            ) from error

    def read_all(self, inner: str) -> list[DraftFile]:
        """Return the Markdown files directly in a sub-folder, sorted by name.

        Raises:
            SettingsProblem: One cannot be read.
        """
        folder = self.path / inner
        if not self.exists or not folder.is_dir():
            return []
        names = sorted(path.name for path in folder.glob("*.md"))
        files = (self.read(f"{inner}/{name}") for name in names)
        return [file for file in files if file is not None]

    def list_names(self, inner: str) -> list[str]:
        """Return the names of the Markdown files in a sub-folder, without ending."""
        folder = self.path / inner
        is_listed = self.exists and folder.is_dir()
        return sorted(path.stem for path in folder.glob("*.md")) if is_listed else []

    def list_scenes(self) -> list[str]:
        """Return the ids of the scenes that have drafts, sorted."""
        folder = self.path / SCENES_FOLDER
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return sorted(name for name in names if self.list_proposals(name))

    def write(self, inner: str, text: str) -> str:
        """Write a file atomically and return its path relative to the library.

        A file that has this text already is left alone.

        Raises:
            SettingsProblem: The file was changed since lrwr wrote it.
            LrwrError: It cannot be written.
        """
        path, hashes = self.path / inner, self._load_hashes()
        self._check_link(path)
        digest = sha256(text.encode()).hexdigest()
        current = _hash_file(path)
        if current == digest:
            return self.name_of(inner)
        if current and current not in hashes.get(inner, ()):
            raise SettingsProblem(
                f"{self.name_of(inner)} was changed since lrwr wrote it, so it was not"
                " overwritten",
                hint="Rename your file, then run the command again.",
            )
        # The hash comes first: after a crash in between, the file still counts as
        # written by lrwr, whichever of the two contents it has.
        hashes[inner] = [*hashes.get(inner, ()), digest][-HASHES_PER_FILE:]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._replace(self._marker, json.dumps({"files": hashes}, indent=1) + "\n")
            self._replace(path, text)
        except OSError as error:
            raise _write_error(path, error) from error
        return self.name_of(inner)

    def amend(self, file: DraftFile, text: str) -> None:
        """Replace the text of a file of the folder, which must still be that of `file`.

        The file then counts as changed by the writer, so that lrwr overwrites it no more.

        Raises:
            SettingsProblem: The file was changed meanwhile.
            LrwrError: It cannot be written.
        """
        path = self.root / file.path
        self._check_link(path)
        current = self.read(path.relative_to(self.path).as_posix())
        if current is None or current.text != file.text:
            raise SettingsProblem(
                f"{file.path} was changed meanwhile, so nothing was inserted",
                hint="Run the command again.",
            )
        try:
            self._replace(path, text)
        except OSError as error:
            raise _write_error(path, error) from error

    def is_changed(self, inner: str) -> bool:
        """Return whether a file exists with a content that lrwr did not write."""
        current = _hash_file(self.path / inner)
        return bool(current) and current not in self._load_hashes().get(inner, ())

    def list_proposals(self, scene: str) -> list[int]:
        """Return the numbers of the proposals for a scene, ascending."""
        folder = self.path / SCENES_FOLDER / scene
        names = [path.name for path in folder.glob("*.md")] if folder.is_dir() else []
        matches = (_NUMBER.fullmatch(name) for name in names)
        return sorted(int(match[1]) for match in matches if match)

    def read_proposal(self, scene: str, number: int | None = None) -> DraftFile:
        """Return a proposal for a scene; without a number the latest one.

        Raises:
            NotFound: There is none.
            SettingsProblem: It cannot be read.
        """
        numbers = self.list_proposals(scene)
        if numbers and (number is None or number in numbers):
            file = self.read(proposal_path(scene, number or numbers[-1]))
            if file is not None:
                return file
        which = f"{number} " if number and numbers else ""
        shown = ", ".join(map(str, numbers))
        raise NotFound(
            f"There is no proposal {which}for the scene {scene}",
            hint=f"There are: {shown}."
            if numbers
            else f"Write it to {self.name_of(proposal_path(scene, 1))}.",
        )

    def _check_own(self) -> None:
        self._check_link(self.path)
        if self.exists or not self.path.exists():
            return
        if not self.path.is_dir() or any(self.path.iterdir()):
            raise SettingsProblem(
                f"{self.path.name} contains files that lrwr did not write",
                hint=f'Set `folder = "lrwr-{self.path.name}"` under `[draft]` in'
                " `lrwr.toml`.",
            )

    def _check_link(self, path: Path) -> None:
        """Refuse a path through which lrwr would read or write outside the library."""
        if not path.resolve().is_relative_to(self.root.resolve()) or path.is_symlink():
            raise SettingsProblem(
                f"{path} is a link, or leads out of the library's folder",
                hint="Replace the link with the file or folder itself.",
            )

    def _load_hashes(self) -> dict[str, list[str]]:
        try:
            content = read_limited_file(self._marker, MAX_DRAFT_FILE_BYTES)
            files = parse_json(content).get("files", {})
        except FileNotFoundError:
            return {}
        except (OSError, InvalidText, AttributeError):
            files = {}  # damaged: every file then counts as the writer's own
        return {
            str(name): [str(digest) for digest in digests]
            for name, digests in (files.items() if isinstance(files, dict) else ())
            if isinstance(digests, list)
        }

    def _replace(self, path: Path, text: str) -> None:
        # Temporary files are in the top folder, where a later run removes them.
        handle, name = tempfile.mkstemp(dir=self.path, prefix=STAGED_PREFIX)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def clean(self) -> None:
        """Delete temporary files that a killed run left behind."""
        if self.exists:
            for path in self.path.glob(f"{STAGED_PREFIX}*"):
                with suppress(OSError):
                    path.unlink()


def proposal_path(scene: str, number: int) -> str:
    """Return the path, inside the folder, of a proposal for a scene."""
    return f"{SCENES_FOLDER}/{scene}/{number}.md"


def _hash_file(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    except OSError:
        return "unreadable"


def _write_error(path: Path, error: OSError) -> LrwrError:
    return LrwrError(
        f"{path} cannot be written: {error.strerror}",
        hint="Check the free disk space and the permissions of the folder.",
    )
