"""A file that was changed after the last ingest: what is shown of it says so."""

import pytest

from tests.fakes.terminal import Terminal

CHAPTERS = {
    "book/01.md": "# Chapter 1\n\nNell's eyes were blue.\n\n“Mind the lamp,” said Nell.\n",
    "book/02.md": "# Chapter 2\n\nMags mended the sail of the yawl.\n",
}
READING = (
    ["ask", "What colour are Nell's eyes?"],
    ["search", "blue eyes"],
    ["threads", "show", "1"],
    ["quotes"],
    ["check"],
    ["characters", "Nell"],
)
WARNING = "book/01.md has changed since the last ingest"


@pytest.fixture
def shelf(empty: Terminal) -> Terminal:
    """Two chapters, ingested, and a thread that cites the first."""
    (empty.folder / "book").mkdir()
    for name, text in CHAPTERS.items():
        (empty.folder / name).write_text(text, encoding="utf-8")
    assert empty.run("ingest", "book").code == 0
    assert empty.run("ask", "What colour are Nell's eyes?").code == 0
    return empty


def change(shelf: Terminal, name: str) -> None:
    file = shelf.folder / name
    text = file.read_text(encoding="utf-8").replace("blue", "black")
    file.write_text(f"{text}\nThe tide was out.\n", encoding="utf-8")


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_what_is_shown_of_a_changed_file_comes_with_one_warning(
    shelf: Terminal, words: list[str]
) -> None:
    assert "has changed" not in shelf.run(*words).err
    change(shelf, "book/01.md")
    ran = shelf.run(*words)
    assert ran.code in (0, 1)
    assert ran.err.count(WARNING) == 1
    assert ran.err.count("Run `lrwr ingest`") == 1


@pytest.mark.parametrize("words", READING[:2], ids=" ".join)
def test_json_of_a_changed_file_is_marked_as_warned(
    shelf: Terminal, words: list[str]
) -> None:
    assert shelf.run(*words, "--json").json["warned"] is False
    change(shelf, "book/01.md")
    shown = shelf.run(*words, "--json").json
    assert shown["warned"] is True
    assert any(WARNING in remark for remark in shown["remarks"])


def test_json_of_a_thread_is_marked_as_warned(shelf: Terminal) -> None:
    words = ("threads", "show", "1", "--json")
    assert "has changed" not in shelf.run(*words).out
    change(shelf, "book/01.md")
    shown = shelf.run(*words).json
    assert shown["warned"] is True
    assert any(WARNING in remark for remark in shown["remarks"])


def test_a_changed_file_that_is_not_shown_needs_no_warning(shelf: Terminal) -> None:
    change(shelf, "book/02.md")
    assert "has changed" not in shelf.run("search", "blue eyes", "--limit", "1").err


def test_a_file_that_is_only_saved_again_needs_no_warning(shelf: Terminal) -> None:
    file = shelf.folder / "book/01.md"
    file.write_bytes(file.read_bytes())
    assert "has changed" not in shelf.run(*READING[0]).err


def test_all_changed_files_are_named_until_the_next_ingest(shelf: Terminal) -> None:
    change(shelf, "book/01.md")
    change(shelf, "book/02.md")
    warning = "book/01.md and book/02.md have changed since the last ingest"
    assert warning in shelf.run("check").err
    assert shelf.run("ingest").code == 0
    assert "changed" not in shelf.run("check").err
    assert "has changed since the last ingest" not in shelf.run(*READING[0]).err


def test_the_plain_chat_tells_it_below_the_answer(shelf: Terminal) -> None:
    change(shelf, "book/01.md")
    ran = shelf.run("chat", "--plain", given="What colour are Nell's eyes?\n")
    assert (ran.out + ran.err).count(WARNING) == 1
