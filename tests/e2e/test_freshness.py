"""What becomes of kept answers when the manuscript goes on, as the writer meets it."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.terminal import Terminal

LAMP = "Nell Tallow lit the lamp before the fog came in."
LAMP_NOW = "Nell Tallow lit the lantern before the fog came in."
GLASS = "The lamp smoked, and Mags wiped the glass of it with her sleeve."
BOOK = f"# One\n\n{LAMP}\n\n***\n\n{GLASS}\n"
FROG = "The frog sat still."
ASKED = "Who lit the lamp, and who wiped the lamp?"


@pytest.fixture
def talked(empty: Terminal) -> Terminal:
    """A book of two chapters, and one answer that cites both scenes of the first."""
    (empty.folder / "book").mkdir()
    write(empty, "1.md", BOOK)
    write(empty, "2.md", f"# Two\n\n{FROG}\n")
    assert empty.run("ingest", "book").code == 0
    texts = {one["text"] for one in empty.run("ask", ASKED, "--json").json["citations"]}
    assert texts == {LAMP, GLASS}
    return empty


def write(terminal: Terminal, name: str, text: str) -> Path:
    path = terminal.folder / "book" / name
    path.write_text(text, encoding="utf-8")
    return path


def ingest(terminal: Terminal) -> None:
    assert terminal.run("ingest").code == 0


def fresh(terminal: Terminal) -> dict[str, dict[str, Any]]:
    """Each citation of the first answer, by its words."""
    told = terminal.run("threads", "show", "1", "--json").json
    return {one["text"]: one for one in told["conversation"][0]["citations"]}


def test_an_answer_that_stands_is_shown_as_it_was(talked: Terminal) -> None:
    shown = talked.run("threads", "show", "1").out
    assert f"book/1.md:3  “{LAMP}”" in shown
    assert "since" not in shown
    assert {one["freshness"] for one in fresh(talked).values()} == {"current"}


def test_an_answer_says_what_was_moved_edited_or_taken_out(talked: Terminal) -> None:
    write(talked, "1.md", f"# One\n\nIt began.\n\n{LAMP_NOW}\n")
    write(talked, "2.md", f"# Two\n\n{FROG}\n\n***\n\n{GLASS}\n")
    ingest(talked)
    shown = talked.run("threads", "show", "1").out
    assert shown.count("1 of 2 cited passages has changed since this answer.") == 1
    edited = f"book/1.md:5 was edited since; it now reads: “{LAMP_NOW}”"
    assert edited in shown
    assert f"moved to book/2.md:7  “{GLASS}”" in shown
    assert "book/1.md:3" not in shown
    cited = fresh(talked)
    assert cited[LAMP]["freshness"] == "edited"
    assert cited[LAMP]["now"]["text"] == LAMP_NOW
    assert cited[LAMP]["lines"] == [3, 3]
    assert cited[GLASS]["now"]["document"] == "book/2.md"
    pages = talked.run("threads", "export", "1").out
    assert "1 of 2 cited passages has changed since this answer." in pages
    assert f"it now reads**: “{LAMP_NOW}” When this was answered: “{LAMP}”" in pages
    write(talked, "2.md", f"# Two\n\n{FROG}\n")
    ingest(talked)
    assert (fresh(talked)[GLASS]["freshness"], fresh(talked)[GLASS]["now"]) == (
        "gone",
        None,
    )
    shown = talked.run("threads", "show", "1").out
    assert "Both cited passages have changed since this answer." in shown
    assert f"is no longer in the text; it read: “{GLASS}”" in shown


def test_a_renamed_file_keeps_its_answers(talked: Terminal) -> None:
    (talked.folder / "book/1.md").rename(talked.folder / "book/0.md")
    ingest(talked)
    shown = talked.run("threads", "show", "1").out
    assert f"moved to book/0.md:3  “{LAMP}”" in shown
    assert "changed since" not in shown


def test_going_on_from_changed_ground_is_remarked(talked: Terminal) -> None:
    before = talked.run("ask", "And the frog?", "--thread", "1")
    assert "changed since" not in before.err
    write(talked, "1.md", BOOK.replace(LAMP, LAMP_NOW).replace(GLASS, ""))
    write(talked, "2.md", "# Two\n\nThe frog slept.\n")
    ingest(talked)
    asked = talked.run("ask", "And the frog?", "--thread", "1")
    assert "that the previous answer cites has changed since." in asked.out
    prompt = talked.run(
        "ask", "Who is Wren?", "--thread", "1", "--show-prompt",
        LRWR_MODEL_USE="local", LRWR_MODEL_NAME="pretend-1",
    )  # fmt: skip
    assert "The author has since changed passages" in prompt.out


def test_a_save_tells_the_answers_that_rest_on_it_once(talked: Terminal) -> None:
    write(talked, "1.md", BOOK.replace("# One", "# One\n\nIt began."))
    first = talked.run("watch", "--once")
    assert "book/1.md processed" in first.out
    assert "cite" not in first.out
    write(talked, "1.md", BOOK.replace(LAMP, LAMP_NOW))
    told = talked.run("watch", "--once").out
    thread = talked.run("threads", "--json").json[0]["id"]
    assert (
        f"1 answer in 1 thread cites changed passages (lrwr threads show {thread[:8]})"
    ) in told
    assert talked.run("threads", "show", thread[:8]).code == 0
    write(talked, "1.md", BOOK.replace(LAMP, LAMP_NOW) + "\nIt ended.\n")
    assert "cites" not in talked.run("watch", "--once").out
    write(talked, "1.md", BOOK.replace(LAMP, "").replace(GLASS, ""))
    row = talked.run("watch", "--once", "--json").json
    assert row["answers"] == {"changed": 1, "threads": [thread]}
