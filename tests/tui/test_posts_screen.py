"""The screen with drafts of texts about the story, and what their check finds."""

from pathlib import Path

from tests.fakes.paired import shown_lines, shown_rows
from tests.fakes.read_books import BY_WORDS
from tests.fakes.room import a_room
from tests.fakes.terminal import Terminal


async def test_drafts_are_listed_with_the_findings_of_their_check(
    book: Path, home: Path
) -> None:
    terminal = Terminal(book, home=home, **BY_WORDS)
    words = ("The lantern", "--kind", "newsletter", "--whole", "--name", "letter")
    assert terminal.run("post", "new", *words).code == 0
    draft = book / "posts" / "letter.md"
    draft.write_text("# A letter\n\nThe mule had a name.\n", encoding="utf-8")
    async with a_room(book) as room:
        await room.press("alt+p")
        assert any(row.startswith("letter") for row in shown_rows(room))
        lines = shown_lines(room)
        assert any("posts/letter.md:3" in line for line in lines)
        assert any("details differ" in line for line in lines)


async def test_without_drafts_the_screen_says_how_to_make_one(book: Path) -> None:
    async with a_room(book) as room:
        await room.press("alt+p")
        assert any("lrwr post new" in line for line in shown_lines(room))
        assert any("lrwr post check FILE" in line for line in shown_lines(room))
