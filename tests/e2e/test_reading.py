"""`lrwr books` and `lrwr read`: an e-book, read page by page and asked about."""

import json
import re
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.pty_terminal import PtyTerminal
from tests.fakes.terminal import LRWR, Ran, Terminal
from tests.unit.source.epub_files import build_epub

EBB = [f"<p>Nell counted {n} lamps on the Strake.</p>" for n in range(1, 20)]
BODIES = {
    "one": "<h1>Chapter 1. Ebb</h1>" + "".join(EBB),
    "two": "<h1>Chapter 2. The Betrayal</h1><p>Hob betrayed Nell for silver.</p>",
}
NAV = "".join(
    f'<li><a href="{name}.xhtml">{title}</a></li>'
    for name, title in (("one", "Chapter 1. Ebb"), ("two", "Chapter 2. The Betrayal"))
)
SPOILERS = ("etray", "silver")
LENT = "(Lent by a Retired Dyke Reeve)"


@pytest.fixture
def reader(empty: Terminal) -> Terminal:
    """A folder with the e-book Lanterns, which is not added yet."""
    (empty.folder / "lanterns.epub").write_bytes(build_epub(BODIES, nav=NAV))
    return empty


def run(terminal: Terminal, *words: str) -> Ran:
    ran = terminal.run(*words)
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("typed", ["keepers", "Keeper’s lanterns", "KEEPER'S"])
def test_a_book_is_found_by_words_of_its_title_without_its_marks(
    reader: Terminal, typed: str
) -> None:
    title = "The Keeper’s Lanterns"
    (reader.folder / "keeper.epub").write_bytes(build_epub(BODIES, title=title))
    run(reader, "books", "add", "keeper.epub")
    assert "Ebb" in run(reader, "books", "toc", typed, "--whole").out


def test_a_book_is_added_listed_and_removed(reader: Terminal) -> None:
    assert "2 chapters" in run(reader, "books", "add", "lanterns.epub").out
    again = run(reader, "books", "add", "lanterns.epub").out
    assert "2 chapters. It is among your books already." in again
    (book,) = run(reader, "books", "--json").json
    assert (book["title"], book["authors"], book["read"]) == (
        "Lanterns",
        ["A. Writer"],
        0,
    )
    assert "Lanterns" in run(reader, "books").out
    assert reader.run("books", "remove", "lanterns").code == ExitCode.SETTINGS
    run(reader, "books", "remove", "lanterns", "--yes")
    assert run(reader, "books", "--json").json == []
    assert (reader.folder / "lanterns.epub").is_file()


def test_reading_begins_at_the_first_page_and_remembers_the_position(
    reader: Terminal,
) -> None:
    first = run(reader, "read", "lanterns.epub").out
    assert "counted 1 lamps" in first
    assert "counted 12 lamps" not in first
    assert run(reader, "read", "lanterns").out == first
    second = run(reader, "read", "lanterns", "--next").out
    assert "counted 12 lamps" in second
    assert not any(word in second for word in SPOILERS)
    assert "betrayed" in run(reader, "read", "lanterns", "--next").out
    assert "whole book" in reader.run("read", "lanterns", "--next").err


def test_reading_can_go_to_a_chapter_or_a_paragraph(reader: Terminal) -> None:
    run(reader, "books", "add", "lanterns.epub")
    page = run(reader, "read", "lanterns", "--at", "ch2", "--json").json
    assert [p["text"] for p in page["paragraphs"]] == [
        "Chapter 2. The Betrayal",
        "Hob betrayed Nell for silver.",
    ]
    assert page["paragraphs"][1]["cfi"] == "epubcfi(/6/4!/4/4)"
    assert run(reader, "read", "lanterns", "--at", "2", "--json").json["chapter"] == 1
    refused = reader.run("read", "lanterns", "--at", "ch9")
    assert refused.code == ExitCode.NOT_FOUND
    assert "ch1 to ch2" in refused.err


def test_only_numbered_chapters_are_counted_and_the_contents_show_their_numbers(
    reader: Terminal,
) -> None:
    nav = '<li><a href="pre.xhtml">Notes:</a></li>' + NAV
    bodies = {"pre": "<p>By nobody.</p>", **BODIES}
    (reader.folder / "lanterns.epub").write_bytes(build_epub(bodies, nav=nav))
    added = run(reader, "books", "add", "lanterns.epub").out
    contents = run(reader, "books", "toc", "lanterns", "--whole").out
    last = max(int(n) for n in re.findall(r"\bch(\d+), paragraph", contents))
    assert f"in {last} chapters" in added
    refused = reader.run("read", "lanterns", "--at", "ch99")
    assert f"ch1 to ch{last}" in refused.err
    assert "Notes:" in contents
    assert ", Notes: paragraph 1 of" in run(reader, "read", "lanterns", "--at", "1").out


def test_a_printed_page_marks_where_the_text_refers_to_a_footnote(
    reader: Terminal,
) -> None:
    body = (
        '<p>Hob sold the lamps<a epub:type="noteref" href="#n">1</a>.</p>'
        '<aside epub:type="footnote" id="n"><p>For silver.</p></aside>'
    )
    (reader.folder / "notes.epub").write_bytes(build_epub({"one": body}))
    page = run(reader, "read", "notes.epub").out
    assert "Hob sold the lamps†." in page
    assert page.index("lamps†") < page.index("For silver.")
    (paragraph,) = run(reader, "read", "notes.epub", "--json").json["paragraphs"]
    assert paragraph["text"] == "Hob sold the lamps."
    assert paragraph["references"] == [len("Hob sold the lamps")]


def test_a_folder_in_place_of_a_book_is_named(reader: Terminal) -> None:
    assert (
        "lrwr: . cannot be read: it is a folder" in reader.run("books", "add", ".").err
    )


def test_nothing_after_the_position_is_told(reader: Terminal) -> None:
    run(reader, "read", "lanterns.epub")
    question = "Who betrayed Nell for silver?"
    outputs = [
        run(reader, "books", "toc", "lanterns").out,
        run(reader, "read", "lanterns", "--json").out,
        run(reader, "search", "--book", "lanterns", "Hob Nell lamps").out,
        run(reader, "search", "--book", "lanterns", "Nell", "--exact").out,
    ]
    assert not any(word in text for word in SPOILERS for text in outputs)
    answer = run(reader, "ask", "--book", "lanterns", question, "--json").json
    quoted = json.dumps([c["text"] for c in answer["citations"]])
    assert "Hob" not in quoted
    assert not any(word in quoted for word in SPOILERS)


def test_a_reader_is_not_told_how_a_writer_measures_the_confidence(
    reader: Terminal,
) -> None:
    run(reader, "read", "lanterns.epub")
    search = ("search", "--book", "lanterns", "Nell counted lamps", "--whole")
    ran = run(reader, *search, "--chapters", "1")
    assert "Confidence: not computed" in ran.out
    assert "calibrate" not in ran.out


def test_the_whole_book_is_used_only_if_asked_for_and_that_is_announced(
    reader: Terminal,
) -> None:
    run(reader, "read", "lanterns.epub")
    found = run(reader, "search", "--book", "lanterns", "silver", "--whole")
    assert "Hob betrayed Nell" in found.out
    assert "after your position" in found.err
    contents = run(reader, "books", "toc", "lanterns", "--whole")
    assert "The Betrayal" in contents.out
    assert "after your position" in contents.err


def test_a_book_is_read_without_its_file(reader: Terminal) -> None:
    run(reader, "read", "lanterns.epub")
    (reader.folder / "lanterns.epub").unlink()
    assert "counted 1 lamps" in run(reader, "read", "lanterns").out


def test_a_passage_is_part_of_the_question(reader: Terminal) -> None:
    run(reader, "read", "lanterns.epub")
    run(reader, "read", "lanterns", "--next")
    passage = "Nell counted 3 lamps"
    words = ("ask", "--book", "lanterns", "What does this mean?", "--passage", passage)
    answer = run(reader, *words, "--json").json
    assert any(passage in citation["text"] for citation in answer["citations"])
    assert "Not found" not in answer["answer"]


def test_a_passage_right_before_the_position_is_quoted_first_and_not_missing(
    reader: Terminal,
) -> None:
    body = "<h1>Words</h1>" + "<p>A lamp.</p>" * 10 + f"<p>{LENT}</p>"
    later = "<p>The old Reeve was murdered in the night by his own wardens.</p>" * 4
    (reader.folder / "lanterns.epub").write_bytes(build_epub({"one": body + later}))
    run(reader, "read", "lanterns.epub")
    words = ("ask", "--book", "lanterns", "Who is the reeve?", "--passage", LENT)
    answer = run(reader, *words, "--json")
    citation, *_ = answer.json["citations"]
    assert "Retired Dyke Reeve" in citation["text"]
    assert "Not found" not in answer.out
    assert "murdered" not in answer.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("read", "nothing"), ExitCode.NOT_FOUND),
        (("books", "add", "missing.epub"), ExitCode.NOT_FOUND),
        (("books", "add", "."), ExitCode.UNREADABLE),
        (("books", "add", "notes.epub"), ExitCode.UNREADABLE),
        (("ask", "Who?", "--whole"), ExitCode.SETTINGS),
        (("search", "x", "--book", "a", "--as-of", "ch1"), ExitCode.SETTINGS),
    ],
)
def test_what_cannot_be_done_is_said_with_a_hint(
    reader: Terminal, words: tuple[str, ...], code: ExitCode
) -> None:
    Path(reader.folder / "notes.epub").write_text("no book", encoding="utf-8")
    refused = reader.run(*words)
    assert refused.code == code
    assert "hint:" in refused.err


def test_a_chapter_in_place_of_a_book_names_what_opens_chapters(
    reader: Terminal,
) -> None:
    refused = reader.run("read", "ch3")
    assert refused.code == ExitCode.NOT_FOUND
    assert "`lrwr open ch3`" in refused.err
    assert "`/read ch3` in `lrwr chat`" in refused.err


def test_in_a_terminal_a_screen_opens_at_the_position_and_moves_it(
    reader: Terminal,
) -> None:
    run(reader, "books", "add", "lanterns.epub")
    words = [str(LRWR), "read", "lanterns"]
    with PtyTerminal(words, folder=reader.folder, env=reader.env) as screen:
        screen.expect("counted 11 lamps")
        screen.press(" ")
        screen.expect("counted 19 lamps")
        screen.press("escape")
        assert screen.leave() == 0
    assert run(reader, "books", "--json").json[0]["read"] == 20
    words += ["--plain"]
    with PtyTerminal(words, folder=reader.folder, env=reader.env) as printed:
        printed.expect("paragraph 20 of 22")


def test_the_screen_moves_the_position_to_what_it_shows_and_no_further(
    reader: Terminal,
) -> None:
    words, size = [str(LRWR), "read", "lanterns.epub"], (100, 12)
    for at, lamps, position in (((), 1, 5), (("--at", "9"), 8, 13)):
        with PtyTerminal(
            [*words, *at], folder=reader.folder, env=reader.env, size=size
        ) as screen:
            screen.expect(f"counted {lamps} lamps")
            screen.expect(f": paragraph {position} of")
            screen.press("escape")
            assert screen.leave() == 0
        (book,) = run(reader, "books", "--json").json
        assert book["read"] == position


def test_a_file_that_was_renamed_gives_its_book_the_new_name(reader: Terminal) -> None:
    run(reader, "read", "lanterns.epub")
    (reader.folder / "lanterns.epub").rename(reader.folder / "strake.epub")
    run(reader, "read", "strake.epub", "--next")
    assert "paragraph 20 of 22" in run(reader, "read", "strake").out


def test_the_hint_to_continue_a_thread_names_the_book(reader: Terminal) -> None:
    run(reader, "read", "lanterns.epub")
    ran = run(reader, "ask", "--book", "lanterns", "Who counted 3 lamps?")
    assert "`lrwr ask --book lanterns --thread " in ran.err


def test_threads_about_a_book_are_listed_shown_and_deleted(reader: Terminal) -> None:
    run(reader, "read", "lanterns.epub")
    run(reader, "ask", "--book", "lanterns", "Who counted 3 lamps?")
    (thread,) = run(reader, "threads", "--book", "lanterns", "--json").json
    shown = run(reader, "threads", "show", "1", "--book", "lanterns").out
    assert "Who counted 3 lamps?" in shown
    found = run(reader, "threads", "search", "lamps", "--book", "lanterns", "--json")
    assert found.json[0]["thread"]["id"] == thread["id"]
    assert shown == run(reader, "threads", "--book", "lanterns", "show", "1").out
    run(reader, "threads", "delete", "1", "--book", "lanterns")
    assert run(reader, "threads", "--book", "lanterns", "--json").json == []
    run(reader, "threads", "undo", "--book", "lanterns")
    assert run(reader, "threads", "--book", "lanterns", "--json").json == [thread]


def test_going_to_a_place_says_how_far_that_moves_the_position(
    reader: Terminal,
) -> None:
    run(reader, "read", "lanterns.epub")
    moved = run(reader, "read", "lanterns", "--at", "ch2")
    assert "Your position moved forward from paragraph 12 to 22" in moved.err
    assert " --at 1`" in moved.err
    back = run(reader, "read", "lanterns", "--at", "1")
    assert "Your position moved back from paragraph 22 to 12" in back.err
    assert " --at 21`" in back.err
    assert "position moved" not in run(reader, "read", "lanterns", "--at", "1").err


def test_a_file_that_is_not_there_is_named_so(reader: Terminal) -> None:
    assert "no such file" in reader.run("read", "missing.epub").err


def test_a_book_is_found_by_the_name_of_its_file_and_several_are_listed(
    reader: Terminal,
) -> None:
    shelf = reader.folder / "shelf"
    shelf.mkdir()
    for name, title in (("first", "Lanterns"), ("second", "Lanterns, revised")):
        (shelf / f"{name}.epub").write_bytes(build_epub(BODIES, nav=NAV, title=title))
        run(reader, "books", "add", f"shelf/{name}.epub")
    for name in ("second", "second.epub"):
        assert run(reader, "read", name, "--json").json["title"] == "Lanterns, revised"
    refused = reader.run("read", "lanterns")
    assert refused.code == ExitCode.NOT_FOUND
    for book in run(reader, "books", "--json").json:
        assert book["id"][:8] in refused.err


def test_words_before_the_position_are_named_though_their_passage_is_not_read(
    reader: Terminal,
) -> None:
    run(reader, "read", "lanterns.epub")
    search = ("search", "--book", "lanterns", "--exact")
    found = run(reader, *search, "nell counted 11 lamps")
    assert "paragraph 12 of what you have read" in found.out + found.err
    for later in ("Nell counted 12 lamps", "Nell ate 12 lamps"):
        found = run(reader, *search, later)
        assert "paragraph" not in found.out + found.err


@pytest.mark.parametrize(
    ("old", "new", "position"),
    [
        ("<p>", "<p>", 12),
        ("<h1>Chapter 1. Ebb</h1>", "<h1>Chapter 1. Ebb</h1><p>To Ada.</p>", 13),
        ("11 lamps", "eleven lamps", 11),
        ("11 lamps on the Strake.</p><p>", "11 lamps on the Strake. ", 11),
    ],
)
def test_a_new_edition_takes_over_the_position_by_the_words_read_last(
    reader: Terminal, old: str, new: str, position: int
) -> None:
    run(reader, "read", "lanterns.epub")
    bodies = {**BODIES, "one": BODIES["one"].replace(old, new)}
    file = reader.folder / "second.epub"
    file.write_bytes(build_epub({**bodies, "three": "<p>The end.</p>"}, nav=NAV))
    added = run(reader, "books", "add", "second.epub")
    assert f"taken over: paragraph {position} of" in added.err
    read = {
        book["file"].rpartition("/")[2]: book["read"]
        for book in run(reader, "books", "--json").json
    }
    assert read["second.epub"] == position


def test_a_file_of_another_kind_is_not_said_to_be_named_epub(reader: Terminal) -> None:
    (reader.folder / "note.txt").write_text("no book", encoding="utf-8")
    refused = reader.run("books", "add", "note.txt")
    assert refused.code == ExitCode.UNREADABLE
    assert ".epub" not in refused.err.partition("hint:")[0]
