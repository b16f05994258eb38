"""The screen that asks which names are one character."""

from pathlib import Path

from tests.fakes.paired import shown_lines, shown_note, shown_rows
from tests.fakes.read_books import BY_WORDS, ReadBooks
from tests.fakes.room import a_room

TALK = (
    "# One\n\n“Come here, Sophy,” said Admiral Croft. He sat down.\n\n"
    "“I come,” said Mrs. Croft. Mrs. Croft smiled at the Admiral.\n\n"
    "“It is late, Sophy.”\n\n“It is, Admiral,” said Mrs. Croft.\n\n"
    "“Sophy is my wife,” said Admiral Croft.\n"
)
QUESTION = "Are Sophy and Mrs. Croft one character?"


def write_book(folder: Path) -> None:
    folder.mkdir()
    folder.joinpath("1.md").write_text(TALK, encoding="utf-8")


async def test_a_question_about_names_is_answered_with_one_key_and_undone(
    books: ReadBooks, home: Path, tmp_path: Path
) -> None:
    book = books.copy("names", write_book, tmp_path / "names", **BY_WORDS).folder
    async with a_room(book) as room:
        await room.press("alt+n")
        assert shown_rows(room) == [QUESTION]
        assert any(line.startswith("1.md:3") for line in shown_lines(room))
        await room.press("y")
        assert QUESTION not in shown_rows(room)
        assert "Mrs. Croft" in (book / "lrwr.canon.toml").read_text(encoding="utf-8")
        await room.press("u")
        assert shown_note(room).startswith("Undone: ")
        assert shown_rows(room) == [QUESTION]
        await room.press("n")
        assert QUESTION not in shown_rows(room)


async def test_without_names_to_review_the_screen_says_so(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+n")
        assert "No names to review." in shown_lines(room)
