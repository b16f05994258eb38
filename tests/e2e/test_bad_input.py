import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal
from tools.bad_files import GOOD, bad_inputs
from tools.bad_input import InputTrial, try_inputs

if sys.platform != "linux":
    pytest.skip("its names and rights are made for Linux", allow_module_level=True)

pytestmark = pytest.mark.timeout(240)
"""The first test waits for all files of the fixture."""

SLOW = frozenset({"10 MB in a single line", "picture bomb .docx"})

NO_TEXT = "is not a text file: it contains binary data"
UNPACKS = "is too large when unpacked"

PROBLEMS = {
    "binary.md": NO_TEXT,
    "nul.md": NO_TEXT,
    "broken.docx": "is damaged and cannot be opened as a Word document",
    "encrypted.docx": "is protected with a password",
    "old.docx": "is in Word's old format (.doc)",
    "text.docx": "is not a Word document, although its name ends in .docx",
    "zip-bomb-docx.docx": UNPACKS,
    "xml-entity-bomb.docx": "contains XML that lrwr does not accept, for security",
    "sixty-megabytes.txt": "is larger than 50 MB",
    "forbidden.md": "cannot be read: Permission denied",
    "growing.md": "keeps changing while lrwr reads it",
    "merge.md": "has git conflict markers (line 3)",
}
REMARKS = {
    "empty.md": "The file is empty.",
    "empty.docx": "The file is empty.",
    "utf16.md": "Read as UTF-16, although it has no byte order mark.",
    "windows.txt": "Read as Windows-1252, because it is not UTF-8.",
    "not-yaml.md": "The front matter is not valid YAML; its fields are ignored.",
    "wrong-values.md": "The front matter's order 'soon' is not a number.",
}
SKIPPED = {
    "bell (1).md": "looks like a copy of bell.md, made by a sync program or by hand; merge what differs and delete the copy",
    "diary.md": "a link to a file outside the manuscript folder; lrwr does not follow it",
    "loop/up": "a link to a folder; lrwr does not follow it",
    "loop/here.md": "a broken link",
    "pipe.md": "not a regular file",
    "forbidden/": "cannot be opened: permission denied",
    "caf? latin.md": "its name is not valid text; rename it",
}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InputTrial]:
    place = tmp_path_factory.mktemp("bad")
    yield try_inputs([one for one in bad_inputs() if one.name not in SLOW], place)
    (place / "book/forbidden").chmod(0o700)


def test_the_good_chapters_are_read_whatever_lies_beside_them(
    together: InputTrial,
) -> None:
    assert (together.good, together.code) == (len(GOOD), ExitCode.PARTIAL)


def test_what_cannot_be_read_gets_one_sentence_and_one_hint(
    together: InputTrial,
) -> None:
    lines = list(together.printed)
    problems = [at for at, line in enumerate(lines) if line.startswith("  hint: ")]
    said = [lines[at - 1] for at in problems]
    assert said == [f"warning: {file} {why}" for file, why in sorted(PROBLEMS.items())]


def test_what_is_odd_or_passed_over_is_said_in_a_line(together: InputTrial) -> None:
    for file, remark in REMARKS.items():
        assert f"warning: {file}: {remark}" in together.printed
    for file, reason in SKIPPED.items():
        assert f"Skipped {file}: {reason}" in together.printed


def test_nothing_else_is_said_and_no_traceback(together: InputTrial) -> None:
    starts = ("warning: ", "Skipped ", "  hint: ")
    assert [line for line in together.printed if not line.startswith(starts)] == []


def test_a_name_of_two_lines_stays_on_one(empty: Terminal) -> None:
    name = "fog\nlrwr: all is lost.md"
    (empty.folder / name).write_bytes(b"\0")
    ran = empty.run("ingest", ".")
    assert ran.out.startswith("warning: fog␊lrwr: all is lost.md is not a text file")
    (empty.folder / name).write_text("# Fog\n\nIt came in.", encoding="utf-8")
    assert empty.run("ingest").code == ExitCode.OK
    assert "fog␊lrwr: all is lost.md:3" in empty.run("search", "came").out


def test_a_problem_names_the_file_by_its_whole_path(empty: Terminal) -> None:
    Path(empty.folder / "drafts").mkdir()
    (empty.folder / "drafts/fog.md").write_bytes(b"\0")
    ran = empty.run("ingest", ".")
    assert ran.out.startswith("warning: drafts/fog.md is not a text file")
