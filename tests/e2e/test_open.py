"""`lrwr open`: the editor at what a writer names."""

import sys
import time
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.read_books import BY_WORDS
from tests.fakes.terminal import Terminal, check_refusal

FOG = "chapters/06-fog.md"

needs_a_terminal = pytest.mark.skipif(
    sys.platform == "win32", reason="needs a terminal of POSIX"
)


@pytest.fixture
def book(read_sample: Terminal) -> Terminal:
    return read_sample


def location(book: Terminal, *target: str) -> str:
    ran = book.run("open", "--print", *target)
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return ran.out.removeprefix(f"{book.folder}/").strip()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (f"{FOG}:32", f"{FOG}:32"),
        (f"{FOG}:32-34", f"{FOG}:32"),
        ("06-fog.md", f"{FOG}:1"),
        (
            "chapters/04-six-strokes.docx:47",
            "chapters/04-six-strokes.docx, paragraph 47",
        ),
        ("ch6", f"{FOG}:8"),
        ("chapter 6", f"{FOG}:8"),
        ("nell", "chapters/01-lighting-up.md:22"),
        ("svkp", "notes/characters/GreyAnsel.md:16"),
        ("purplefrog husband", "notes/characters/PurpleFrog.md:19"),
        ("the purplefrog", "chapters/01-lighting-up.md:10"),
        ("what he needed money for", "notes/characters/GreyAnsel.md:16"),
        ("dshp", f"{FOG}:32"),
        ("Rungs", f"{FOG}:32"),
    ],
)
def test_a_target_has_a_location(book: Terminal, target: str, expected: str) -> None:
    assert location(book, *target.split()) == expected


def test_the_location_of_a_scene_lies_in_its_chapter(book: Terminal) -> None:
    first, second = (location(book, f"ch6:s{scene}") for scene in (1, 2))
    lines = [int(place.removeprefix(f"{FOG}:")) for place in (first, second)]
    assert lines == sorted(set(lines))


def test_a_number_is_a_citation_of_the_newest_thread(book: Terminal) -> None:
    book.run("ask", "Who is Dorothea Pell?")
    cited = book.run("ask", "Who keeps the ledger?", "--json").json["citations"]
    place = f"{cited[1]['file']}:{cited[1]['lines'][0]}"
    assert location(book, "2") == location(book, "[2]") == place
    check_refusal(book.run("open", "99"), ExitCode.NOT_FOUND, "no citation 99", "1, 2")


def test_a_location_is_printed_as_json(book: Terminal) -> None:
    assert book.run("open", f"{FOG}:32", "--json").json == {
        "file": str(book.folder / FOG),
        "line": 32,
        "counts": "lines",
        "gone": False,
    }


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("1", "Ask a question first"),
        ("mags zebra", "Nothing is recorded about OchraMags with “zebra”"),
        ("nobody at all", "No character is called nobody at all"),
        ("ch99", "no chapter 99"),
        ("nowhere.md:3", "No document is called nowhere.md"),
        ("the", "Use an id: "),
    ],
)
def test_what_is_not_there_is_refused(book: Terminal, target: str, words: str) -> None:
    check_refusal(book.run("open", target), ExitCode.NOT_FOUND, words)


def test_what_is_not_recorded_about_one_of_two_of_a_surname_is_said(
    empty: Terminal,
) -> None:
    story = " ".join(
        f"{name} came in. “Yes,” said {name}. {name} sat down and {name} slept."
        for name in ("Mrs Croft", "Mr Croft", "Mary")
    )
    (empty.folder / "1.md").write_text(f"# One\n\n{story}\n", encoding="utf-8")
    assert empty.run("ingest", "1.md").code == 0
    for name in ("Mrs Croft", "Mr Croft"):
        check_refusal(
            empty.run("open", f"{name} eyes"),
            ExitCode.NOT_FOUND,
            f"Nothing is recorded about {name} with “eyes”",
            f'lrwr search "{name} eyes"',
        )


def test_a_file_that_is_gone_is_named(book: Terminal) -> None:
    (book.folder / FOG).unlink()
    refused = book.run("open", f"{FOG}:3")
    check_refusal(refused, ExitCode.NOT_FOUND, f"{FOG} no longer exists")


def test_without_a_library_there_is_nothing_to_open(empty: Terminal) -> None:
    check_refusal(empty.run("open", "nell"), ExitCode.NOT_FOUND)


def test_without_a_terminal_no_editor_is_started(
    book: Terminal, tmp_path: Path
) -> None:
    editor = write_editor(tmp_path)
    ran = book.process("open", f"{FOG}:32", EDITOR=editor)
    assert (ran.out, ran.err) == (f"{book.folder / FOG}:32\n", "")


@needs_a_terminal
def test_the_editor_is_opened_at_the_line(book: Terminal, tmp_path: Path) -> None:
    shown = on_terminal(book, "open", f"{FOG}:32", EDITOR=write_editor(tmp_path))
    assert f"opened +32 {book.folder / FOG}" in shown
    visual = on_terminal(
        book, "open", "nell", EDITOR="false", VISUAL=write_editor(tmp_path)
    )
    assert "opened +22 " in visual


@needs_a_terminal
@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("false", "false exited with code 1"),
        ("no-such-editor", "Cannot run no-such-editor"),
        ('vi "', "The command in VISUAL or EDITOR is invalid"),
    ],
)
def test_an_editor_that_fails_is_named(
    book: Terminal, editor: str, message: str
) -> None:
    shown = on_terminal(book, "open", f"{FOG}:32", EDITOR=editor)
    assert f"{FOG}:32" in shown
    assert message in shown


@needs_a_terminal
def test_a_docx_is_opened_in_the_program_of_the_system(
    book: Terminal, tmp_path: Path
) -> None:
    name = "open" if sys.platform == "darwin" else "xdg-open"
    write_editor(tmp_path, name, f'#!/bin/sh\necho "$1" > "{tmp_path}/opened"\n')
    target = "chapters/04-six-strokes.docx"
    shown = on_terminal(book, "open", f"{target}:47", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert "paragraph 47" in shown
    opened = tmp_path / "opened"
    for _ in range(100):
        if opened.exists() and opened.read_text():
            break
        time.sleep(0.1)
    assert opened.read_text().strip() == str(book.folder / target)


def write_editor(
    folder: Path, name: str = "vi", text: str = '#!/bin/sh\necho "opened $1 $2"\n'
) -> str:
    """Write a program that shows its arguments, and return its path."""
    program = folder / name
    program.write_text(text)
    program.chmod(0o755)
    return str(program)


def on_terminal(book: Terminal, *words: str, **env: str) -> str:
    """Return what a command shows on a wide terminal, without colours."""
    from tests.fakes.pty_output import on_a_terminal

    env = {**BY_WORDS, "NO_COLOR": "1", **env}
    return on_a_terminal(book.folder, *words, lines=50, columns=300, **env)


def test_the_mentions_of_a_character_are_opened_one_after_another(
    empty: Terminal,
) -> None:
    talk = "“Yes,” said Nell.\n\nNell sat down. Nell slept.\n\nRain.\n"
    for name in ("1.md", "2.md"):
        (empty.folder / name).write_text(f"# Part\n\n{talk}", encoding="utf-8")
    (empty.folder / "3.md").write_text("# Part\n\nFog.\n", encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    place, places = "ch1", []
    for _ in range(4):
        ran = empty.run("open", "Nell", "--after", place, "--print")
        place = ran.out.strip()
        places.append(place.removeprefix(f"{empty.folder}/"))
    assert places == ["1.md:3", "1.md:5", "2.md:3", "2.md:5"]
    assert location(empty, "Nell", "--after", "1.md:5") == "2.md:3"
    ran = empty.run("open", "Nell", "--after", place, "--print")
    assert ran.code == ExitCode.NOT_FOUND
    assert "not mentioned after" in ran.err


def test_a_fact_that_is_not_recorded_is_named_with_its_character(
    empty: Terminal,
) -> None:
    talk = "“Yes,” said {0}. {0} sat down. {0} slept.\n\n"
    people = ("Nell Tallow", "Hob Tallow", "Nell", "Hob")
    text = "".join(map(talk.format, people))
    (empty.folder / "1.md").write_text(f"# Part\n\n{text}", encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    for target in ("Nell Tallow eyes", "Nell's eyes"):
        ran = empty.run("open", target, "--print")
        assert ran.code == ExitCode.NOT_FOUND
        assert ran.err.startswith("lrwr: Nothing is recorded about Nell Tallow with")
        assert f'`lrwr search "{target}"`' in ran.err
