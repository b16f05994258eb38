"""Reads text files that the user names, and files of questions: a JSON object a line."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.untrusted_text import parse_json


def read_as_of(line: Mapping[str, object]) -> str | None:
    """Return the point of the story in `as_of`, or the chapter in `asof_chapter`; None
    without either.
    """
    if line.get("as_of") is not None:
        return str(line["as_of"])
    if line.get("asof_chapter") is not None:
        return f"ch{line['asof_chapter']}"
    return None


def read_input_file(path: Path, *, missing: str = "Check the path.") -> str:
    """Return the text of a file that the user named.

    `missing` is the hint when there is no such file.

    Raises:
        NotFound: There is no such file, or it cannot be read.
        SettingsProblem: It is not UTF-8.
    """
    try:
        return read_input_bytes(path, missing=missing).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsProblem(
            f"{path} is not UTF-8 text", hint="Save it as UTF-8."
        ) from error


def read_input_bytes(path: Path, *, missing: str = "Check the path.") -> bytes:
    """Return the content of a file that the user named.

    `missing` is the hint when there is no such file.

    Raises:
        NotFound: There is no such file, or it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist", hint=missing) from error
    except OSError as error:
        raise NotFound(
            f"{path} cannot be read: {error.strerror}", hint="Check the path."
        ) from error


def read_question_lines(batch: Path) -> Iterator[Mapping[str, object]]:
    """Yield the objects of a JSON Lines file, each with `id` and `question`.

    Raises:
        NotFound: The file cannot be read.
        SettingsProblem: It is not UTF-8, or a line is not such an object.
    """
    text = read_input_file(batch)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = parse_json(line)
            if not isinstance(entry, dict) or not {"id", "question"} <= entry.keys():
                raise ValueError('"id" and "question" are required')
        except ValueError as error:
            raise SettingsProblem(
                f"{batch}:{number}: {error}",
                hint='Write each line as JSON: {"id": "1", "question": "Who is Ash?"}.',
            ) from error
        yield entry
