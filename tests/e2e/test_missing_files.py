"""A manuscript whose files are suddenly not there: nothing is deleted unless asked."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from lrwr.cli.main import app
from lrwr.core.model.errors import ExitCode
from tests.e2e.test_folder_addresses import walk_commands
from tests.fakes.pty_terminal import PtyTerminal
from tests.fakes.repositories import Kept
from tests.fakes.terminal import LRWR, Terminal, check_refusal
from tests.fakes.watch_process import Watches

NAMES = ("Nell", "Mags", "Corin", "Ruan", "Ochra", "Tamsin")
CHAPTERS = {
    f"book/{number:02}.md": f"# Chapter {number}\n\n“Mind the lamp,” said {name}. {name}"
    f" walked along dyke number {number} until the bell rang {number} times.\n"
    for number, name in enumerate(NAMES, start=1)
}
NOTES = {
    "notes/nell.md": "# Nell\n\nNell's eyes are grey.\n",
    "notes/mags.md": "# Mags\n\nMags keeps the ledger.\n",
}
MANUSCRIPT = {**CHAPTERS, **NOTES}


@pytest.fixture
def shelf(empty: Terminal) -> Terminal:
    """Six chapters and two notes, in two folders, ingested and in git."""
    repository = Kept(empty.folder)
    repository.write({"readme.rst": "A book.\n", ".gitignore": ".lrwr/\n"})
    repository.commit()
    repository.git("branch", "early")
    repository.write(MANUSCRIPT)
    repository.commit()
    assert empty.run("ingest", "book", "notes").code == 0
    return empty


@pytest.fixture
def watches(shelf: Terminal) -> Iterator[Watches]:
    with Watches(shelf) as opened:
        yield opened


def empty_folder(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def empty_the_folder(shelf: Terminal) -> list[str]:
    empty_folder(shelf.folder / "book")
    return sorted(CHAPTERS)


def move_the_folder_away(shelf: Terminal) -> list[str]:
    (shelf.folder / "book").rename(shelf.folder.parent / "away")
    return sorted(CHAPTERS)


def empty_the_smaller_folder(shelf: Terminal) -> list[str]:
    empty_folder(shelf.folder / "notes")
    return sorted(NOTES)


def check_out_another_branch(shelf: Terminal) -> list[str]:
    repository = Kept(shelf.folder)
    repository.git("checkout", "--quiet", "early")
    repository.write({"book/00.md": "# Prologue\n\nThe tide was out.\n"})
    (shelf.folder / "notes").mkdir(exist_ok=True)
    return sorted(MANUSCRIPT)


ACCIDENTS = [
    empty_the_folder,
    move_the_folder_away,
    empty_the_smaller_folder,
    check_out_another_branch,
]


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_nothing_is_deleted_until_the_flag_is_given(
    shelf: Terminal, accident: Callable[[Terminal], list[str]]
) -> None:
    lost = accident(shelf)
    status = shelf.run("status", "--json").json
    assert (status["missing"], status["gone"]) == (lost, 0)
    told = shelf.run("status").out
    assert f"{len(lost)} documents are missing" in told
    assert "`lrwr ingest --forget-missing` to remove these documents" in told
    assert "up to date" not in told
    ran = shelf.run("ingest")
    assert ran.code == ExitCode.PARTIAL
    assert f"{len(lost)} documents are missing" in ran.out
    assert f"{len(lost)} missing and not deleted" in ran.out
    again = shelf.run("ingest", "--json")
    assert (again.code, again.json["missing"]) == (ExitCode.PARTIAL, lost)
    assert again.json["forgotten"] == 0
    compared = shelf.run("diff", "--json")
    if accident is not move_the_folder_away:
        assert compared.json["missing"] == lost
        assert compared.json["lost"] == []
    assert shelf.run("status", "--json").json["documents"] >= len(MANUSCRIPT)
    done = shelf.run("ingest", "--forget-missing", "--yes", "--json")
    assert (done.code, done.json["forgotten"]) == (0, len(lost))
    assert shelf.run("ingest", "--json").code == 0
    assert shelf.run("status", "--json").json["missing"] == []


def test_the_whole_manuscript_that_is_away_is_not_found_and_can_be_dropped(
    shelf: Terminal,
) -> None:
    shutil.rmtree(shelf.folder / "notes")
    move_the_folder_away(shelf)
    check_refusal(
        shelf.run("ingest"), ExitCode.NOT_FOUND, "There is no file", "--forget-missing"
    )
    assert shelf.run("status", "--json").json["documents"] == 8
    done = shelf.run("ingest", "--forget-missing", "--yes", "--json")
    assert (done.code, done.json["forgotten"]) == (0, 8)
    status = shelf.run("status", "--json").json
    assert (status["documents"], status["folders"]) == (0, [])


def test_an_unmounted_volume_keeps_its_documents(shelf: Terminal) -> None:
    volume = shelf.folder.parent / "volume"
    shutil.copytree(shelf.folder / "book", volume)
    point = shelf.folder / "drive"
    point.mkdir()
    mounted = subprocess.run(
        ["mount", "--bind", str(volume), str(point)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounts are not allowed here")
    try:
        shutil.rmtree(shelf.folder / "book")
        assert shelf.run("ingest", "drive").code == 0
    finally:
        subprocess.run(["umount", str(point)], check=True)
    ran = shelf.run("ingest", "--json")
    assert (ran.code, len(ran.json["missing"])) == (ExitCode.PARTIAL, 6)
    assert shelf.run("status", "--json").json["documents"] == 8


def test_a_renamed_folder_is_a_move_and_its_old_name_is_dropped(
    shelf: Terminal,
) -> None:
    (shelf.folder / "book").rename(shelf.folder / "novel")
    ran = shelf.run("ingest", "novel", "--json")
    assert (ran.code, len(ran.json["renamed"]), ran.json["missing"]) == (0, 6, [])
    status = shelf.run("status", "--json").json
    assert (status["documents"], status["gone"]) == (8, 0)
    assert sorted(Path(one).name for one in status["folders"]) == ["notes", "novel"]
    assert shelf.run("ingest").code == 0


def test_a_renamed_root_loses_nothing(shelf: Terminal) -> None:
    moved = shelf.folder.rename(shelf.folder.with_name("renamed"))
    home = Path(shelf.env["HOME"])
    there = Terminal(moved, home=home, LRWR_EMBEDDING_MODEL="off")
    ran = there.run("ingest", "--json").json
    assert (ran["missing"], ran["forgotten"]) == ([], 0)


def test_files_that_come_back_are_as_before(shelf: Terminal) -> None:
    repository = Kept(shelf.folder)
    check_out_another_branch(shelf)
    assert shelf.run("ingest").code == ExitCode.PARTIAL
    (shelf.folder / "book/00.md").unlink()
    repository.git("checkout", "--quiet", "main")
    ran = shelf.run("ingest", "--json")
    assert ran.code == 0
    assert (ran.json["forgotten"], ran.json["processed"]) == (1, 0)
    assert ran.json["unchanged"] == len(MANUSCRIPT)


def test_watch_deletes_nothing_either_and_says_so_once(
    shelf: Terminal, watches: Watches
) -> None:
    watch = watches.start()
    watch.hear("watching")
    empty_the_folder(shelf)
    saved = watch.hear("saved")
    assert (saved["missing"], saved["documents"]) == (sorted(CHAPTERS), [])
    assert "6 documents are missing from book" in saved["remarks"][0]
    (shelf.folder / "notes/nell.md").write_text("# Nell\n\nNell's eyes are brown.\n")
    saved = watch.hear("saved")
    assert saved["remarks"] == []
    assert [one["document"] for one in saved["documents"]] == ["notes/nell.md"]
    watch.stop()
    assert shelf.run("status", "--json").json["documents"] == 8
    once = shelf.run("watch", "--once")
    assert once.code == ExitCode.PARTIAL
    assert "6 documents are missing from book" in once.out


def test_a_folder_that_the_settings_drop_is_named_until_it_is_forgotten(
    shelf: Terminal,
) -> None:
    (shelf.folder / "lrwr.toml").write_text('[manuscript]\nfolders = ["book"]\n')
    ran = shelf.run("ingest")
    assert ran.code == 0
    assert "notes/mags.md and 1 more: no longer in a folder" in ran.out
    assert shelf.run("status", "--json").json["documents"] == 8
    done = shelf.run("ingest", "--forget-missing", "--yes", "--json")
    assert (done.json["forgotten"], done.json["remarks"]) == (2, [])
    assert shelf.run("status", "--json").json["documents"] == 6


@pytest.mark.parametrize(
    "words", [["ingest", "nothing"], ["ingest", "nothing", "--json"]]
)
def test_a_folder_without_text_becomes_no_library(
    empty: Terminal, words: list[str]
) -> None:
    (empty.folder / "nothing").mkdir()
    (empty.folder / "nothing" / "novel.odt").write_bytes(b"PK")
    ran = empty.run(*words)
    assert ran.code == ExitCode.NOT_FOUND
    assert "No .md, .docx or .txt files found in" in ran.out + ran.err
    assert "nothing/novel.odt: not a format lrwr reads" in ran.out + ran.err
    assert [path.name for path in empty.folder.iterdir()] == ["nothing"]


def test_a_wrong_folder_is_not_remembered(shelf: Terminal) -> None:
    (shelf.folder / "wrong").mkdir()
    ran = shelf.run("ingest", "wrong")
    assert ran.code == ExitCode.NOT_FOUND
    folders = shelf.run("status", "--json").json["folders"]
    assert sorted(Path(one).name for one in folders) == ["book", "notes"]


MOVED = (
    "Mount or restore it, or run `lrwr ingest FOLDER` with its new path. Nothing was"
    " deleted; `lrwr ingest --forget-missing` removes its documents from the library."
)


def test_a_folder_that_is_away_has_one_hint_in_all_commands(shelf: Terminal) -> None:
    shutil.rmtree(shelf.folder / "notes")
    move_the_folder_away(shelf)
    for words in ("ingest", "ingest book", "diff", "watch --once"):
        said = shelf.run(*words.split()).err
        assert said.count(f"hint: {MOVED}") == 1, words
    assert f"hint: {MOVED}" in shelf.run("status").out
    findings = shelf.run("doctor", "--json").json["findings"]
    assert MOVED in [finding["remedy"] for finding in findings]
    assert "Check the path" in shelf.run("ingest", "elsewhere").err


@pytest.mark.parametrize("accident", [empty_the_folder, move_the_folder_away])
def test_answers_from_stored_text_say_once_that_files_are_missing(
    shelf: Terminal, accident: Callable[[Terminal], list[str]]
) -> None:
    shelf.run("ask", "Who walked along dyke number 3?")
    accident(shelf)
    for words in (
        ["search", "dyke"],
        ["search", "dyke", "--json"],
        ["ask", "Who walked along dyke number 3?"],
        ["threads", "show", "1"],
    ):
        ran = shelf.run(*words)
        assert ran.code == 0
        assert ran.err.count("missing; what is shown is the text of the last") == 1
    assert "missing" not in shelf.run("search", "ledger").err


def test_a_thread_does_not_call_a_renamed_or_deleted_file_missing(
    shelf: Terminal,
) -> None:
    shelf.run("ask", "Who walked along dyke number 3?")
    file = shelf.folder / "book" / "03.md"
    file.rename(file.with_name("three.md"))
    assert "1 renamed" in shelf.run("ingest").out
    shown = shelf.run("threads", "show", "1")
    assert "moved to book/three.md" in shown.out
    assert "missing" not in shown.err
    file.with_name("three.md").unlink()
    assert "missing" in shelf.run("threads", "show", "1").err
    assert "1 deleted" in shelf.run("ingest").out
    shown = shelf.run("threads", "show", "1")
    assert "has changed since this answer" in shown.out
    assert "missing" not in shown.err


NOT_ABOUT_THE_STORY = {
    *("ingest", "watch", "jobs", "config", "config show", "config path", "config keys"),
    *("repair", "backup", "restore", "forget", "privacy", "whoami", "push", "pull"),
    *("eval", "eval compare", "eval review", "eval runs", "eval show"),
    *("canon", "canon check", "canon order", "threads", "threads search", "open"),
    *("annotations import", "annotations list", "books", "books add", "books toc"),
    *("read", "draft", "draft accept", "draft ledger", "draft plan", "draft show"),
    *("draft write", "draft revise", "draft prompts", "draft prompts show"),
    *("post export", "post list", "post show", "post undo"),
}
"""Commands with `--json` that show no text or data of the manuscript.

`open` refuses a file that is missing. E-books, drafts and posts are files of their own.
"""
READ = {
    "ask": ["Who walked along dyke number 3?"],
    "draft board": ["--from-text"],
    "draft brief": ["ch2-s1"],
    "draft check": ["blurb.md"],
    "graph near": ["Nell"],
    "post check": ["blurb.md"],
    "post new": ["How Nell walks", "--kind", "newsletter", "--whole", "--force"],
    "search": ["dyke"],
    "threads show": ["1"],
}
"""The arguments of commands that need some."""


def test_every_reading_command_says_once_that_files_are_missing(
    shelf: Terminal,
) -> None:
    reading = [
        " ".join(words)
        for words, command in walk_commands(typer.main.get_command(app))
        if any("--json" in parameter.opts for parameter in command.params)
    ]
    assert set(reading) >= {"check", "export bible"} | NOT_ABOUT_THE_STORY
    shelf.run(*["ask", "Who?"])
    shelf.run("ask", *READ["ask"], "--thread", "1")
    draft = shelf.folder / "blurb.md"
    draft.write_text("Nell walked along dyke number 1.\n", encoding="utf-8")
    empty_the_folder(shelf)
    for name in sorted({*reading} - NOT_ABOUT_THE_STORY):
        words = [*name.split(), *READ.get(name, [])]
        ran = shelf.run(*words)
        assert (ran.out + ran.err).count("missing") >= 1, name
        assert ran.err.count("missing; what is shown") <= 1, name
        shown = shelf.run(*words, "--json")
        assert "missing" in shown.out + shown.err, name


def test_ask_names_its_thread_by_an_id_that_stays(shelf: Terminal) -> None:
    said = shelf.run("ask", *READ["ask"]).err
    _, _, rest = said.partition("To continue this thread: `lrwr ask --thread ")
    id_ = rest.split()[0]
    shelf.run("ask", "Who keeps the ledger?")
    shown = shelf.run("threads", "show", id_).out
    assert "dyke number 3" in shown


def test_what_ask_says_of_missing_files_is_a_line_of_its_own(shelf: Terminal) -> None:
    empty_the_folder(shelf)
    words = [str(LRWR), "ask", *READ["ask"]]
    with PtyTerminal(words, folder=shelf.folder, env=shelf.env) as screen:
        assert screen.leave() == 0
        lines = [line.strip() for line in screen.text.splitlines()]
    (warning,) = [line for line in lines if "missing;" in line]
    assert warning.startswith("warning: book/0")
    together = shelf.command(["sh", "-c", f"'{LRWR}' ask '{words[-1]}' 2>&1"])
    assert "\nwarning: book/0" in together.out


def test_diff_says_first_that_files_are_missing(shelf: Terminal) -> None:
    empty_the_folder(shelf)
    lines = shelf.run("diff").out.splitlines()
    assert "6 documents are missing from book" in lines[0]
    assert "no changes in the other documents" in lines[1]
    said = shelf.run("diff", "HEAD").out
    assert "6 documents are missing from book" in said
    assert "HEAD" in said
    assert "no changes in the other documents" in said
    assert "deleted\n" not in said


def test_diff_lists_what_another_branch_does_not_have_as_deleted(
    shelf: Terminal,
) -> None:
    repository = Kept(shelf.folder)
    repository.git("checkout", "--quiet", "-b", "short")
    repository.git("rm", "--quiet", "-r", "book/01.md", "book/02.md", "book/03.md")
    repository.git("commit", "--quiet", "-m", "Shorten")
    said = shelf.run("diff", "main").out
    assert "3 documents are missing from book" in said
    assert "book/01.md: deleted" in said


def test_forgetting_all_documents_reads_as_what_was_asked(shelf: Terminal) -> None:
    shelf.run("ask", "Who walked along dyke number 3?")
    shutil.rmtree(shelf.folder / "notes")
    shutil.rmtree(shelf.folder / "book")
    ran = shelf.run("ingest", "--forget-missing", "--yes")
    assert ran.code == 0
    assert "8 deleted" in ran.out
    assert "files found" not in ran.out + ran.err
    assert "Your threads and decisions are kept." in ran.out
    status = shelf.run("status").out
    assert "still stored" not in status
    assert "The library has no documents" in status
    assert "Nothing has been ingested" not in status
    check_refusal(
        shelf.run("ingest"),
        ExitCode.NOT_FOUND,
        "remembers no manuscript",
        "ingest FOLDER",
    )


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_without_a_terminal_many_documents_are_only_deleted_with_yes(
    shelf: Terminal, words: list[str]
) -> None:
    empty_the_folder(shelf)
    ran = shelf.run("ingest", "--forget-missing", *words)
    assert ran.code == ExitCode.SETTINGS
    assert "6 documents have no file: book/01.md" in ran.out + ran.err
    assert "--forget-missing --yes" in ran.out + ran.err
    assert shelf.run("status", "--json").json["documents"] == 8


def test_deleted_documents_are_named_with_the_way_back(shelf: Terminal) -> None:
    for number in (2, 4):
        (shelf.folder / "book" / f"{number:02}.md").unlink()
    ran = shelf.run("ingest")
    assert "2 deleted" in ran.out
    assert (
        "Deleted: book/02.md, book/04.md. To get them back, bring the files" in ran.out
    )
    Kept(shelf.folder).git("checkout", "--quiet", "book")
    assert shelf.run("ingest", "--json").json["deleted"] == []
    assert shelf.run("status", "--json").json["documents"] == 8


@pytest.mark.parametrize(("answer", "left"), [("n", 8), ("y", 2)])
def test_on_a_terminal_forgetting_many_documents_is_asked_first(
    shelf: Terminal, answer: str, left: int
) -> None:
    empty_the_folder(shelf)
    words = [str(LRWR), "ingest", "--forget-missing"]
    with PtyTerminal(words, folder=shelf.folder, env=shelf.env) as screen:
        screen.expect("Delete them from the library? [y/N]")
        screen.press(answer, "enter")
        assert screen.leave() == (1 if answer == "n" else 0)
    assert shelf.run("status", "--json").json["documents"] == left


def test_yes_forgets_without_a_question(shelf: Terminal) -> None:
    empty_the_folder(shelf)
    words = [str(LRWR), "ingest", "--forget-missing", "--yes"]
    with PtyTerminal(words, folder=shelf.folder, env=shelf.env) as screen:
        assert screen.leave() == 0
        assert "[y/N]" not in screen.text


def test_watch_says_that_the_files_are_back(shelf: Terminal, watches: Watches) -> None:
    # Long enough for the six files to disappear together on a slow machine.
    (shelf.folder / "lrwr.toml").write_text("[watch]\ndebounce = 1500\n")
    watch = watches.start()
    watch.hear("watching")
    for _ in range(2):
        empty_folder(shelf.folder / "book")
        saved = watch.hear("saved")
        assert (saved["missing"], len(saved["remarks"])) == (sorted(CHAPTERS), 1)
        Kept(shelf.folder).git("checkout", "--quiet", "book")
        watch.hear("returned")
    watch.stop()
