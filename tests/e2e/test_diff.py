"""`lrwr diff` as it is typed, in real repositories."""

import signal
import sqlite3
import time
from functools import partial
from pathlib import Path

import pytest

from lrwr.app.history import TEXTS_FILE_NAME
from lrwr.core.model.errors import ExitCode
from tests.fakes.repositories import Kept
from tests.fakes.terminal import Ran, Terminal, check_refusal
from tests.unit.source.word_files import paragraphs

ONE = "# One\n\n“No,” said Corin Vale. Corin Vale’s eyes were grey. He sang.\n"
TWO = "# Two\n\nThe frog sat still.\n"
THREE = "# Three\n\n“Go,” said Corin Vale. Corin Vale’s eyes were grey, as ever.\n"
FOUR = "# Four\n\n“Rain,” said Corin Vale. Corin Vale sang again.\n"


@pytest.fixture
def kept(empty: Terminal) -> Kept:
    """A book that git keeps, read once."""
    kept = Kept(empty.folder)
    kept.write({"1.md": ONE, "2.md": TWO, "3.md": THREE, "4.md": FOUR})
    kept.commit("2026-03-01T12:00Z")
    assert empty.run("ingest", ".").code == 0
    return kept


def brown(kept: Kept) -> None:
    kept.write({"1.md": ONE.replace("grey", "brown")})


def known(terminal: Terminal) -> tuple[list[str], set[str]]:
    """Return what the library holds, and the files in its folder."""
    state = terminal.folder / ".lrwr"
    with sqlite3.connect(state / "library.db") as connection:
        rows = list(connection.iterdump())
    connection.close()
    return rows, {path.name for path in state.iterdir()}


def test_a_fact_that_changed_is_told_with_both_places_and_what_comes_later(
    empty: Terminal, kept: Kept
) -> None:
    brown(kept)
    for ran, then in (
        (empty.run("diff"), "last ingest"),
        (empty.run("diff", "HEAD"), "HEAD"),
        (empty.run("diff", "--since", "2026-03-02"), "before 2026-03-02"),
    ):
        assert ran.code == 0
        assert ran.out.startswith(then)
        assert "1.md: 1 paragraph changed" in ran.out
        assert "Changed\n  Corin Vale's eyes: grey -> brown\n" in ran.out
        assert f"1.md:3 at {then}" in ran.out
        later = (
            "later: ch3 scene 1 (3.md:3, still has the old value), ch4 scene 1 (4.md:1)"
        )
        assert later in ran.out


def test_the_json_has_all_of_it(empty: Terminal, kept: Kept) -> None:
    brown(kept)
    kept.write({"2.md": "# Two\n\nTODO: whose frog?\n"})
    found = empty.run("diff", "HEAD", "--json").json
    assert found["before"]["commit"] == kept.git("rev-parse", "HEAD")
    assert found["after"] == {"name": "now", "commit": None}
    assert found["same"] is False
    assert [one["document"] for one in found["documents"]] == ["1.md", "2.md"]
    (change,) = found["changed"]
    assert (change["subject"], change["what"]) == ("Corin Vale", "eyes")
    assert (change["before"], change["after"]) == ("grey", "brown")
    assert change["was"][0]["lines"] == change["now"][0]["lines"] == [3, 3]
    assert [one["still_says_before"] for one in change["later"]] == [True, False]
    (gap,) = found["gaps"]["opened"]
    assert "whose frog" in gap["after"]
    assert found["not_compared"] == []
    (slip,) = found["contradictions"]["appeared"]
    assert slip["attribute"] == "eyes"


def test_nothing_changed_is_one_line(empty: Terminal, kept: Kept) -> None:
    for words in (["diff", "--exit-code"], ["diff", "HEAD..HEAD"]):
        same = empty.run(*words)
        assert (same.code, same.out.count("\n")) == (0, 1)
        assert "no changes" in same.out


def test_the_exit_code_and_the_file_are_as_asked(empty: Terminal, kept: Kept) -> None:
    brown(kept)
    whole = empty.run("diff", "--exit-code", "--only", "1.md")
    assert whole.code == ExitCode.CHANGED
    assert "grey -> brown" in whole.out
    only = empty.run("diff", "--exit-code", "--only", "2.md")
    assert (only.code, "no changes" in only.out) == (0, True)
    check_refusal(empty.run("diff", "--only", "9.md"), ExitCode.NOT_FOUND, "9.md")


def test_two_revisions_are_compared_and_the_files_do_not_matter(
    empty: Terminal, kept: Kept
) -> None:
    brown(kept)
    kept.commit("2026-03-05T12:00Z")
    kept.write({"1.md": ONE.replace("grey", "green")})
    assert "grey -> brown" in empty.run("diff", "HEAD~1..HEAD").out
    assert "brown -> grey" in empty.run("diff", "HEAD..HEAD~1").out
    assert "grey -> green" in empty.run("diff", "HEAD~1").out


def test_the_library_and_the_repository_stay_as_they_are(
    empty: Terminal, kept: Kept, tmp_path: Path
) -> None:
    brown(kept)
    kept.write({"5.md": FOUR})
    status = kept.git("status", "--porcelain")
    before = known(empty)
    (tmp_path / "passing").mkdir()
    for words in (["diff"], ["diff", "HEAD"]):
        empty.run(*words, TMPDIR=str(tmp_path / "passing"))
    assert known(empty) == before
    assert kept.git("status", "--porcelain") == status
    assert list((tmp_path / "passing").iterdir()) == []


def test_without_a_library_revisions_are_compared_all_the_same(
    empty: Terminal,
) -> None:
    kept = Kept(empty.folder)
    kept.write({"1.md": ONE, "lrwr.toml": '[manuscript]\nfolders = ["."]\n'})
    kept.commit()
    brown(kept)
    assert "grey -> brown" in empty.run("diff", "HEAD").out
    assert not (empty.folder / ".lrwr").exists()
    check_refusal(empty.run("diff"), ExitCode.NOT_FOUND, "lrwr ingest")


def test_the_writers_decisions_of_today_hold_for_both_sides(
    empty: Terminal, kept: Kept
) -> None:
    empty.run("canon", "rename", "Corin Vale", "Corin")
    brown(kept)
    assert "Corin's eyes: grey -> brown" in empty.run("diff", "HEAD").out
    (empty.folder / ".lrwrignore").write_text("1.md\n", encoding="utf-8")
    assert "no changes" in empty.run("diff", "HEAD").out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere"], ExitCode.NOT_FOUND, "no revision 'nowhere'"),
        ([""], ExitCode.NOT_FOUND, "no revision"),
        (["--since", ""], ExitCode.SETTINGS, "2 days ago"),
        (["HEAD~7"], ExitCode.NOT_FOUND, "git log"),
        (["nowhere..HEAD"], ExitCode.NOT_FOUND, "nowhere"),
        (["--", "--output=x"], ExitCode.NOT_FOUND, "--output=x"),
        (["HEAD...HEAD"], ExitCode.SETTINGS, "not supported"),
        (["HEAD", "--since", "yesterday"], ExitCode.SETTINGS, "--since"),
        (["--since", "bananas"], ExitCode.SETTINGS, "2 days ago"),
        (["--since", "2001-01-01"], ExitCode.NOT_FOUND, "no revision before"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(
    empty: Terminal, kept: Kept, words: list[str], code: ExitCode, said: str
) -> None:
    check_refusal(empty.run("diff", *words), code, said)


def test_no_repository_and_no_git_leave_the_last_ingest(
    empty: Terminal, tmp_path: Path
) -> None:
    (empty.folder / "1.md").write_text(ONE, encoding="utf-8")
    empty.run("ingest", ".")
    check_refusal(
        empty.run("diff", "HEAD"), ExitCode.NOT_FOUND, "not in a git repository"
    )
    (tmp_path / "none").mkdir()
    refused = empty.run("diff", "HEAD", PATH=str(tmp_path / "none"))
    check_refusal(refused, ExitCode.NOT_FOUND, "git is not installed")
    assert empty.run("diff", PATH=str(tmp_path / "none")).code == 0


def test_a_manuscript_outside_of_the_repository_is_named(
    empty: Terminal, kept: Kept, tmp_path: Path
) -> None:
    outside = tmp_path / "notes"
    outside.mkdir()
    (outside / "n.md").write_text(TWO, encoding="utf-8")
    empty.run("ingest", str(outside))
    check_refusal(empty.run("diff", "HEAD"), ExitCode.SETTINGS, "outside the repo")


def test_a_repository_may_be_the_manuscripts_alone_or_hold_more(
    empty: Terminal, tmp_path: Path
) -> None:
    inner = Kept(empty.folder / "text")
    inner.write({"1.md": ONE})
    inner.commit()
    empty.run("ingest", "text")
    inner.write({"1.md": ONE.replace("grey", "brown")})
    assert "text/1.md:3" in empty.run("diff", "HEAD").out

    outer = Kept(tmp_path / "shelf")
    outer.write({"my book/text/Ä 1.md": ONE, "other/2.md": TWO})
    outer.commit()
    there = Terminal(outer.folder / "my book", home=tmp_path / "home", **there_env())
    there.run("ingest", "text")
    outer.write({"my book/text/Ä 1.md": ONE.replace("grey", "brown")})
    ran = there.run("diff", "HEAD")
    assert "text/Ä 1.md: 1 paragraph changed" in ran.out
    assert "grey -> brown" in ran.out
    assert "other" not in ran.out


def there_env() -> dict[str, str]:
    return {"LRWR_EMBEDDING_MODEL": "off"}


def test_a_file_that_was_not_there_yet_and_one_that_is_gone(
    empty: Terminal, kept: Kept
) -> None:
    (empty.folder / "3.md").rename(empty.folder / "3b.md")
    (empty.folder / "1.md").unlink()
    kept.write({"5.md": "# Five\n\n“Oh,” said Pip Gannet. Pip Gannet sang.\n"})
    out = empty.run("diff", "HEAD").out
    assert "1.md: deleted" in out
    assert "3.md -> 3b.md: renamed" in out
    assert "5.md: " in out
    assert "Gained\n  Pip Gannet\n      5.md:3\n" in out


def test_a_single_file_may_be_the_manuscript(empty: Terminal) -> None:
    kept = Kept(empty.folder)
    kept.write({"other.md": TWO})
    kept.commit()
    kept.write({"book.md": ONE})
    empty.run("ingest", "book.md")
    assert "Gained\n  Corin Vale\n" in empty.run("diff", "HEAD").out


def test_a_folders_settings_for_git_run_nothing(
    empty: Terminal, kept: Kept, tmp_path: Path
) -> None:
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    (empty.folder / ".gitattributes").write_text("*.md filter=evil diff=evil\n")
    brown(kept)
    commit = kept.commit()
    for key in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.clean",
                "diff.evil.textconv", "core.pager", "core.sshCommand"):  # fmt: skip
        kept.git("config", key, str(trap))
    assert "grey -> brown" in empty.run("diff", f"{commit}~1..{commit}").out
    assert not sprung.exists()


def test_a_pointer_of_lfs_is_named_and_not_compared(
    empty: Terminal, kept: Kept
) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    kept.write({"1.md": pointer})
    kept.commit()
    kept.write({"1.md": ONE})
    ran: Ran = empty.run("diff", "HEAD")
    assert "1.md was not compared: its text is stored by Git LFS" in ran.out
    assert "Corin Vale's eyes" not in ran.out


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.exhaustive
def test_who_stops_it_leaves_nothing_behind(
    empty: Terminal, kept: Kept, tmp_path: Path, how: signal.Signals
) -> None:
    kept.write({f"n{n}.md": ONE * 40 for n in range(40)})
    passing = tmp_path / "passing"
    passing.mkdir()
    there = Terminal(
        empty.folder, home=tmp_path / "home", TMPDIR=str(passing), **there_env()
    )
    process = there.start("diff", "HEAD")
    while process.poll() is None and not list(passing.glob("*/library/library.db")):
        time.sleep(0.01)
    process.send_signal(how)
    assert process.wait(timeout=30) == ExitCode.INTERRUPTED
    assert list(passing.iterdir()) == []


def test_the_last_ingest_is_shown_after_it_with_its_words(empty: Terminal) -> None:
    write = partial(_write, empty.folder)
    write({"1.md": ONE, "2.md": TWO, "3.md": THREE})
    assert empty.run("ingest", ".").code == 0
    assert empty.run("diff", "--last").code == ExitCode.NOT_FOUND
    write({"1.md": ONE.replace("grey", "brown"), "4.md": FOUR})
    (empty.folder / "2.md").unlink()
    assert empty.run("ingest", ".").code == 0
    nothing = empty.run("diff")
    assert "no changes" in nothing.out
    assert "`lrwr diff --last`" in nothing.err
    for options, before in (
        (("--last",), "previous ingest"),
        (("--since", "yesterday"), "before yesterday"),
    ):
        ran = empty.run("diff", "--words", *options)
        assert ran.code == 0
        assert ran.out.startswith(f"{before} -> last ingest\n")
        assert "Corin Vale's eyes: grey -> brown" in ran.out
        assert "eyes were brown. He sang." in ran.out
        assert "2.md: deleted" in ran.out
        assert "4.md: 2 paragraphs new" in ran.out
    assert empty.run("ingest", ".").code == 0
    assert "grey -> brown" in empty.run("diff", "--last").out, "nothing was ingested"
    assert empty.run("diff", "--last", "HEAD").code == ExitCode.SETTINGS


def test_earlier_texts_of_word_files_are_compared_in_words(empty: Terminal) -> None:
    book = empty.folder / "1.docx"
    book.write_bytes(paragraphs("He sang of grey eyes."))
    assert empty.run("ingest", ".").code == 0
    book.write_bytes(paragraphs("He sang of blue eyes."))
    assert empty.run("ingest", ".").code == 0
    shown = empty.run("diff", "--last", "--words")
    assert "1.docx: 1 paragraph changed" in shown.out
    assert "+ He sang of blue eyes." in shown.out
    assert "not facts" in shown.out


def test_forget_deletes_earlier_texts(empty: Terminal) -> None:
    for text in (ONE, TWO):
        _write(empty.folder, {"1.md": text})
        assert empty.run("ingest", ".").code == 0
    assert (empty.folder / ".lrwr" / TEXTS_FILE_NAME).exists()
    assert empty.run("forget", "--yes").code == 0
    assert not (empty.folder / ".lrwr").exists()


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
