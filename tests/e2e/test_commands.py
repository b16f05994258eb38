import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

import lrwr
from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import LRWR, Ran, Terminal, check_refusal

SUMMARY = {
    "dry_run",
    "documents",
    "processed",
    "unchanged",
    "forgotten",
    "deleted",
    "missing",
    "renamed",
    "words",
    "chunks",
    "tokens",
    "embedded",
    "reused",
    "seconds",
    "skipped",
    "problems",
    "remarks",
    "model",
    "characters",
    "library",
    "waiting",
}


def test_the_version_is_told_by_command_and_module(empty: Terminal) -> None:
    said = f"lrwr {lrwr.__version__}\n"
    assert empty.process("--version") == Ran(said, "", 0)
    assert empty.command([sys.executable, "-m", "lrwr", "--version"]) == Ran(
        said, "", 0
    )


def test_help_names_every_command(empty: Terminal) -> None:
    ran = empty.process("--help")
    assert ran == empty.run("--help")
    assert ran.code == 0
    for name in ("ingest", "search", "ask", "status", "jobs", "init", "config"):
        assert name in ran.out


def test_from_nothing_to_an_answer(sample: Terminal) -> None:
    dry = sample.run("ingest", ".", "--dry-run", "--json")
    assert (dry.code, set(dry.json)) == (0, SUMMARY)
    assert not (sample.folder / ".lrwr").exists()
    real = sample.process("ingest", ".", "--json")
    assert (real.code, set(real.json)) == (0, SUMMARY)
    for key in SUMMARY - {"dry_run", "seconds", "characters", "library"}:
        assert dry.json[key] == real.json[key]
    assert (dry.json["characters"], dry.json["model"]) == (None, None)
    assert real.json["characters"] > 5
    again = sample.run("ingest")
    assert again.code == 0
    assert "unchanged" in again.out
    found = sample.run("search", "ledger", "--json", "--type", "scene").json
    assert {passage["type"] for passage in found["passages"]} == {"scene"}
    sample.run("ask", "Who keeps the ledger?")  # the first has advice
    asked = sample.process("ask", "Who keeps the ledger?")
    assert (asked.code, asked.out) == (
        0,
        sample.run("ask", "Who keeps the ledger?").out,
    )


def rows_of(database: Path) -> list[str]:
    connection = sqlite3.connect(database)
    rows = list(connection.iterdump())
    connection.close()
    return rows


def test_a_dry_run_changes_nothing_that_is_known(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog.", encoding="utf-8")
    (empty.folder / "2.md").write_text("# Two\n\nThe pony.", encoding="utf-8")
    empty.run("ingest", ".")
    before = rows_of(empty.folder / ".lrwr/library.db")
    (empty.folder / "1.md").write_text("# One\n\nThe toad.", encoding="utf-8")
    (empty.folder / "2.md").rename(empty.folder / "3.md")
    ran = empty.run("ingest", "--dry-run", "--json")
    assert (ran.json["processed"], ran.json["forgotten"]) == (2, 1)
    assert ran.json["renamed"] == [{"from": "2.md", "to": "3.md"}]
    assert rows_of(empty.folder / ".lrwr/library.db") == before


def test_a_file_that_cannot_be_read_ends_with_code_seven(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("# One\n\nThe frog.", encoding="utf-8")
    (empty.folder / "2.docx").write_bytes(b"no zip")
    for extra in ([], ["--dry-run"]):
        ran = empty.run("ingest", ".", "--json", *extra)
        assert ran.code == ExitCode.PARTIAL
        (problem,) = ran.json["problems"]
        assert (problem["document"], problem["exit_code"]) == ("2.docx", 4)
        assert ran.json["processed"] + ran.json["unchanged"] == 1
        assert problem["hint"]
    assert "frog" in empty.run("search", "frog").out
    (job,) = empty.run("jobs", "--state", "failed", "--json").json
    assert job["error"]


def test_a_folder_that_vanished_forgets_nothing(empty: Terminal) -> None:
    part = empty.folder / "part"
    part.mkdir()
    (part / "1.md").write_text("The frog.", encoding="utf-8")
    empty.run("ingest", "part")
    part.rename(empty.folder / "away")
    check_refusal(empty.run("ingest"), ExitCode.NOT_FOUND, "part")
    check_refusal(empty.run("ingest", "part"), ExitCode.NOT_FOUND, "part")
    assert "frog" in empty.run("search", "frog", "--full").out


@pytest.mark.parametrize(
    "words",
    [
        ["search", "frog"],
        ["ask", "Who?"],
        ["status"],
        ["jobs"],
        ["ingest"],
    ],
)
def test_where_nothing_was_ingested_the_way_is_shown(
    empty: Terminal, words: list[str]
) -> None:
    check_refusal(empty.run(*words), ExitCode.NOT_FOUND, "lrwr ingest")
    assert not (empty.folder / ".lrwr").exists()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    place = tmp_path_factory.mktemp("small")
    book = place / "book"
    book.mkdir()
    text = "# One\n\nThe frog \x1b]0;owned\x07 lit \x1b[31mthe lamp."
    (book / "1.md").write_text(text, encoding="utf-8")
    (book / "2.md").write_text("# Two\n\nThe [bold]pony[/bold].", encoding="utf-8")
    terminal = Terminal(book, home=place / "home", LRWR_EMBEDDING_MODEL="off")
    assert terminal.run("ingest", ".").code == 0
    return terminal


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["search", "x", "--type", "charcter"], 2, "Did you mean character?"),
        (["search", "x", "--pipeline", "c"], 2, "pipeline"),
        (["--color", "allways", "search", "x"], 2, "always"),
        (["jobs", "--state", "runing"], 2, "Did you mean running?"),
        (["search", "x", "--dense", "--lexical"], 2, "cannot be combined"),
        (["search"], 2, "No search words"),
        (["search", "  "], 2, "No search words"),
        (["ask", ""], 2, "No question"),
        (["search", "x", "--as-of", "ch9"], 3, "no chapter 9; its last chapter is 2"),
        (["search", "x", "--as-of", "vol12"], 3, "ch12:s2"),
        (["ask", "x", "--as-of", "nowhere.md"], 3, "No story file"),
        (["search", "--batch", "nowhere.jsonl"], 3, "nowhere.jsonl"),
        (["ingest", "nowhere"], 3, "nowhere"),
        (["init", "nowhere"], 3, "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_hint(
    small: Terminal, words: list[str], code: int, said: str
) -> None:
    check_refusal(small.run(*words), ExitCode(code), said)


@pytest.mark.parametrize(
    "words",
    [
        ["serch", "x"],
        ["search", "x", "--limit", "0"],
        ["search", "x", "--limt", "3"],
        ["jobs", "-n", "many"],
    ],
)
def test_what_is_no_command_or_option_is_refused(
    small: Terminal, words: list[str]
) -> None:
    ran = small.run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


@pytest.mark.parametrize(
    "line", ["{", '{"id": 1}', "[1]", '{"id": "1", "question": "x", "as_of": "ch9"}']
)
def test_a_batch_line_that_cannot_be_read_is_named(small: Terminal, line: str) -> None:
    file = small.folder / "bad.jsonl"
    file.write_text(line, encoding="utf-8")
    ran = small.run("search", "--batch", "bad.jsonl")
    assert ran.code in {ExitCode.SETTINGS, ExitCode.NOT_FOUND}
    assert "hint: " in ran.err


def test_a_manuscript_cannot_steer_the_terminal(small: Terminal) -> None:
    ran = small.run("search", "lamp", "--full")
    assert "lit the lamp." in ran.out
    assert "owned" not in ran.out
    assert "[bold]pony[/bold]" in small.run("search", "pony").out
    (passage,) = small.run("search", "lamp", "--json").json["passages"]
    assert "\x1b" in passage["text"]


def test_colours_are_a_matter_of_the_terminal_alone(small: Terminal) -> None:
    plain = small.run("search", "lamp")
    assert small.run("search", "lamp", NO_COLOR="1") == plain
    assert small.run("--color", "never", "search", "lamp") == plain


def test_one_json_line_is_one_line_for_every_reader(small: Terminal) -> None:
    (small.folder / "batch.jsonl").write_text(
        json.dumps({"id": "a\u2028b\x85c", "question": "lamp"}), encoding="utf-8"
    )
    ran = small.run("search", "--batch", "batch.jsonl")
    (line,) = ran.out.splitlines()
    assert json.loads(line)["id"] == "a\u2028b\x85c"


def test_settings_are_shown_with_their_place(small: Terminal) -> None:
    shown = {
        s["key"]: s for s in small.run("config", "show", "--json").json["settings"]
    }
    assert shown["embedding.model"]["source"] == "environment"
    assert shown["search.limit"]["source"] == "default"
    assert small.run("config", "path").code == 0


def test_a_mistyped_setting_is_answered_with_the_nearest(empty: Terminal) -> None:
    (empty.folder / "lrwr.toml").write_text("[serch]\nlimit = 3\n", encoding="utf-8")
    check_refusal(empty.run("config", "show"), ExitCode.SETTINGS, "search")


def test_a_settings_file_is_made_once(empty: Terminal) -> None:
    ran = empty.run("init")
    assert (ran.code, ran.out) == (0, f"{empty.folder / 'lrwr.toml'}\n")
    check_refusal(empty.run("init"), ExitCode.SETTINGS, "--force")
    assert empty.run("init", "--force").code == 0
    shown = empty.run("config", "show", "--json").json["settings"]
    assert {s["source"] for s in shown} == {"default", "environment"}


@pytest.mark.parametrize(
    ("pipeline", "sizes"), [("a", "size = 64\noverlap = 8"), ("b", "largest = 160")]
)
def test_chunk_size_of_the_settings_reads_again(
    empty: Terminal, pipeline: str, sizes: str
) -> None:
    text = "# One\n\n" + "The frog lit the lamp and waited.\n\n" * 120
    (empty.folder / "1.md").write_text(text, encoding="utf-8")
    chosen = {"LRWR_PIPELINE": pipeline}
    first = empty.run("ingest", ".", "--json", **chosen).json
    (empty.folder / "lrwr.toml").write_text(f"[chunk]\n{sizes}\n", encoding="utf-8")
    assert empty.run("status", "--json", **chosen).json["changed"] == 1
    second = empty.run("ingest", "--json", **chosen).json
    assert (first["processed"], second["processed"]) == (1, 1)
    assert second["chunks"] > first["chunks"]


def test_a_library_that_is_damaged_is_told_and_not_traced(empty: Terminal) -> None:
    (empty.folder / "1.md").write_text("The frog.", encoding="utf-8")
    empty.run("ingest", ".")
    database = empty.folder / ".lrwr/library.db"
    for extra in ("-wal", "-shm"):
        Path(f"{database}{extra}").unlink(missing_ok=True)
    database.write_bytes(b"this is no database at all" * 400)
    check_refusal(empty.run("search", "frog"), ExitCode.STORE, "library.db")


def test_a_model_folder_that_is_not_there_leaves_search_by_words(
    small: Terminal,
) -> None:
    nowhere = {"LRWR_EMBEDDING_MODEL": "local", "LRWR_EMBEDDING_FOLDER": "nowhere"}
    ran = small.run("search", "lamp", **nowhere)
    assert ran.code == 0
    assert "lit the lamp" in ran.out


def test_a_broken_pipe_is_no_failure_to_trace(small: Terminal) -> None:
    if os.name == "nt":
        pytest.skip("no sh")
    ran = small.command(["sh", "-c", f"{LRWR} search lamp --json | head -c 1"])
    assert ran.out == "{"


def jobs_begun(database: Path) -> int:
    if not database.exists():
        return 0
    connection = sqlite3.connect(database)
    try:
        sql = "select count(*) from job where state = 'running'"
        return int(connection.execute(sql).fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # its tables are not made yet
    finally:
        connection.close()


@pytest.mark.exhaustive
def test_what_was_killed_is_taken_up_by_the_next_run(empty: Terminal) -> None:
    text = "# {}\n\n" + "The frog lit the lamp and waited for the tide.\n\n" * 1000
    for number in range(9):
        path = empty.folder / f"{number}.md"
        path.write_text(text.format(number), encoding="utf-8")
    running = empty.start("ingest", ".")
    while not jobs_begun(empty.folder / ".lrwr/library.db"):
        assert running.poll() is None
    running.kill()
    running.wait()
    again = empty.run("ingest", "--json")
    assert (again.code, again.json["problems"]) == (0, [])
    told = empty.run("status", "--json").json
    assert (told["documents"], told["changed"]) == (9, 0)
    assert empty.run("jobs", "--state", "running", "--json").json == []


def test_ctrl_c_ends_with_a_word_and_keeps_what_was_done(empty: Terminal) -> None:
    text = "# {}\n\n" + "The frog lit the lamp and waited for the tide.\n\n" * 1000
    for number in range(9):
        path = empty.folder / f"{number}.md"
        path.write_text(text.format(number), encoding="utf-8")
    script = (
        "import os, signal, subprocess, sys, time\n"
        # A shell in the background ignores the signal, and hands that down.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "running = subprocess.Popen(sys.argv[1:])\n"
        "while not os.path.exists('.lrwr/library.db'):\n"
        "    time.sleep(0.01)\n"
        "running.send_signal(signal.SIGINT)\n"
        "sys.exit(running.wait())\n"
    )
    ran = empty.command([sys.executable, "-c", script, str(LRWR), "ingest", "."])
    assert ran.code == ExitCode.INTERRUPTED
    assert ran.err == "lrwr: Stopped. Work finished so far is saved\n"
    assert empty.run("ingest").code == 0


def test_a_mistyped_folder_gets_the_nearest_name(empty: Terminal) -> None:
    (empty.folder / "chapters").mkdir()
    ran = empty.run("ingest", "chapter")
    check_refusal(ran, ExitCode.NOT_FOUND, "Did you mean chapters?")
