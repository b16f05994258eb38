"""The passages beside the conversation, over the real services."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from lrwr.app.presenters.answers import strip_markup
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation, WebCitation
from lrwr.tui.queries.passages import (
    MAX_CONTEXT_CHARS,
    cut_surroundings,
    join_wrapped_lines,
    load_citation_contexts,
)
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.source_views import SourceView
from lrwr.tui.widgets.sources import (
    INTRODUCTION,
    NO_SOURCES,
    WEB_HEADING,
    Sources,
)
from lrwr.tui.widgets.turn import TurnView
from tests.fakes.conversations import QUOTED, a_turn
from tests.fakes.desk_app import DeskApp, a_desk, settle
from tests.fakes.room import NARROW, a_room, look_again

LEDGER = "Who keeps the ledger?"
PAGE = WebCitation(1, "On sluices", "https://example.org/sluices", "They are gates.")
CHAPTER = "chapters/01-lighting-up.md"


def told(view: Static) -> str:
    return str(view.render())


def headings(app: DeskApp) -> list[str]:
    return [told(one) for one in app.query(".source-heading").results(Static)]


async def test_a_chosen_passage_stands_in_its_context(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("alt+2")
        sources = room.screen.query_one(Sources)
        assert room.app.focused is sources
        chosen = sources.chosen
        assert isinstance(chosen, SourceView)
        assert chosen.context is not None
        for part in (chosen.context.before, chosen.context.words, chosen.context.after):
            assert strip_markup(part).strip("# \n")[:20] in told(chosen)
        assert chosen.context.chapter in told(chosen)
        await room.press("escape")
        assert room.app.focused is room.screen.query_one("#prompt")


async def test_what_is_typed_beside_the_prompt_gets_there(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        room.transcript.focus()
        await room.type("Who's Nell")
        prompt = room.screen.query_one(PromptInputArea)
        assert prompt.text == "Who's Nell"
        assert prompt.has_focus


async def test_escape_goes_back_to_the_prompt_where_nothing_is_under_way(
    book: Path,
) -> None:
    async with a_room(book) as room:
        room.transcript.focus()
        await room.press("escape")
        assert room.screen.query_one(PromptInputArea).has_focus


async def test_one_goes_through_the_passages_with_the_keys(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("alt+1")
        sources = room.screen.query_one(Sources)
        numbers = [one.number for one in sources.views]
        went = []
        for key in ("down", "k", "j", "up", "2", "9", "end", "home"):
            await room.press(key)
            assert sources.chosen is not None
            went.append(sources.chosen.number)
        assert went == ["2", "1", "2", "1", "2", "2", numbers[-1], "1"]


async def test_in_a_narrow_terminal_the_pane_takes_the_conversation_s_place(
    book: Path,
) -> None:
    async with a_room(book, size=NARROW) as room:
        await room.ask(LEDGER)
        sources = room.screen.query_one(Sources)
        assert not sources.display
        await room.press("f10")
        assert sources.display
        assert not room.transcript.display
        await room.press("escape")
        assert room.transcript.display
        assert not sources.display
        await room.press("alt+2")
        assert sources.display
        assert sources.size.width > NARROW[0] - 8


async def test_the_room_can_be_made_wide_and_narrow_while_it_is_used(
    book: Path,
) -> None:
    async with a_room(book, LRWR_SCREEN_SIDE="30") as room:
        await room.ask(LEDGER)
        await room.press("alt+1")
        sources = room.screen.query_one(Sources)
        for width in (250, 101, 100, 99, 60, 200):
            await room.pilot.resize_terminal(width, 24)
            await room.pilot.pause()
            assert sources.display
            assert room.transcript.display is (width >= 100)
        assert abs(sources.size.width - 60) < 8


async def test_what_became_of_a_passage_is_said(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        turn = room.transcript.last
    assert turn is not None
    edited, *_ = turn.output.citations
    file = book / edited.document
    words = edited.text.split(".")[0]
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(words, f"{words}, and so it is"), encoding="utf-8")
    gone = Citation(
        7,
        edited.document,
        Span(0, 40),
        LineRange(1, 1),
        "Zephyr quoted Xanthippe.",
        None,
    )
    await asyncio.to_thread(look_again, book)
    async with a_room(book) as room:
        found = await room.stage.run(
            lambda lent: load_citation_contexts(lent, [edited, gone])
        )
    assert [one.change for one in found] == [
        "edited since",
        "no longer in the text; it was:",
    ]
    assert "and so it is" in found[0].words
    assert found[1].words == gone.text


async def test_a_docx_is_told_by_its_paragraphs(book: Path) -> None:
    async with a_room(book) as room:
        text = await room.stage.run(
            lambda lent: lent.passages.text(DocumentId("chapters/04-six-strokes.docx"))
        )
        at = len(text.text) // 2
        span = Span(at, at + 60)
        cited = Citation(
            1,
            DocumentId("chapters/04-six-strokes.docx"),
            span,
            text.lines.lines_of(span),
            text.text[at : at + 60],
            4,
        )
        (found,) = await room.stage.run(
            lambda lent: load_citation_contexts(lent, [cited])
        )
    assert f"paragraph {found.lines.first}" in found.place.replace("graphs", "graph")
    assert found.chapter.startswith("chapter 4 ")


async def test_pages_of_the_web_stand_apart_and_are_not_opened() -> None:
    async with a_desk() as (app, pilot):
        turn = a_turn()
        await app.desk.show([replace(turn, output=replace(turn.output, web=(PAGE,)))])
        await settle(app, pilot)
        assert WEB_HEADING in headings(app)
        app.desk.jump("w1")
        await settle(app, pilot)
        page = app.desk.sources.chosen
        assert isinstance(page, Static)
        assert PAGE.url in told(page)


async def test_an_answer_that_rests_on_nothing_says_so() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show([a_turn(citations=())])
        await settle(app, pilot)
        (empty,) = app.query(".source-message").results(Static)
        assert told(empty).startswith("No passage to show")


async def test_passages_come_as_they_are_found_and_stay_if_they_are_cited() -> None:
    later = LineRange(9, 9)
    other = replace(QUOTED, number=2, text="Nobody saw it.", lines=later)
    async with a_desk() as (app, pilot):
        view = await app.desk.start_turn("Who shut it?")
        await app.desk.add_page(view, PAGE)
        await app.desk.add_citation(view, QUOTED)
        await app.desk.add_citation(view, other)
        await settle(app, pilot)
        assert [one.number for one in app.desk.sources.views] == ["1", "2", "w1"]
        await app.desk.finish(view, a_turn("Who shut it?"))
        await settle(app, pilot)
        assert [one.number for one in app.desk.sources.views] == ["1"]


async def test_a_number_that_is_clicked_shows_the_passage_of_its_own_turn() -> None:
    turns = [a_turn("One?", citations=(QUOTED, replace(QUOTED, number=2))), a_turn()]
    async with a_desk() as (app, pilot):
        await app.desk.show(turns)
        await settle(app, pilot)
        first = app.desk.transcript.views[0]
        first.post_message(TurnView.Chosen(first, "2"))
        await settle(app, pilot)
        assert app.desk.sources.chosen is not None
        assert app.desk.sources.chosen.number == "2"
        reply = app.desk.transcript.views[1].query_one(".reply")
        x = str(reply.render()).index("[1]") + 1
        await pilot.click(reply, offset=(x, 0))
        await settle(app, pilot)
        assert app.desk.transcript.chosen is app.desk.transcript.views[1]
        assert app.focused is app.desk.sources


@pytest.mark.parametrize("at", [0, 5, 900, 2_400])
def test_context_is_short_and_joins_the_words_it_surrounds(at: int) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "All is well. " * 12 for n in range(16))
    span = Span(at, min(len(text), at + 200))
    before, after = cut_surroundings(text, span)
    assert len(before) <= MAX_CONTEXT_CHARS + 2 >= len(after)
    whole = before.removeprefix("… ") + text[at : span.end] + after.removesuffix(" …")
    assert whole in text


def test_wrapped_lines_are_joined_and_those_of_verse_are_not() -> None:
    prose = "Nell Tallow had seen to it herself, with both hands, and then\nhad stood."
    assert join_wrapped_lines(prose) == prose.replace("\n", " ")
    for kept in ("Shut the gate,\nshut it late.", f"{'a' * 70}\n- one\n\nTwo"):
        assert join_wrapped_lines(kept) == kept


async def test_a_new_thread_introduces_the_sources_again(book: Path) -> None:
    async with a_room(book) as room:
        await room.ask(LEDGER)
        await room.press("ctrl+n")
        sources = room.screen.query_one(Sources)
        assert told(sources.query_one(".source-message", Static)) == INTRODUCTION


async def test_an_answer_that_fails_ends_the_search(unread: Path) -> None:
    async with a_room(unread) as room:
        await room.ask(LEDGER)
        sources = room.screen.query_one(Sources)
        assert told(sources.query_one(".source-message", Static)) == NO_SOURCES


async def test_citations_of_one_paragraph_are_one_entry_with_their_sentences() -> None:
    second = replace(
        QUOTED,
        number=2,
        span=Span(60, 74),
        text="Nobody saw it.",
        lines=LineRange(4, 4),
    )
    elsewhere = replace(QUOTED, number=3, lines=LineRange(30, 31))
    turn = a_turn("Who shut it?", citations=(QUOTED, second, elsewhere))
    async with a_desk() as (app, pilot):
        await app.desk.show([turn])
        await settle(app, pilot)
        both, other = app.desk.sources.views
        assert isinstance(both, SourceView)
        assert told(both).startswith("[1][2] ")
        assert "The sluice was shut. … Nobody saw it." in told(both)
        assert told(other).startswith("[3] ")
        assert headings(app)[0].startswith("2 passages")
        app.desk.jump("2")
        await settle(app, pilot)
        assert both.citation == second
        assert both.has_class("chosen")


async def test_wiki_links_and_emphasis_of_a_passage_are_rendered() -> None:
    text = "[[Nell Tallow|The girl]] saw *the lamp* and **nobody** else_where."
    citation = replace(QUOTED, text=text)
    async with a_desk() as (app, pilot):
        await app.desk.show([a_turn(citations=(citation,))])
        await settle(app, pilot)
        (view,) = app.desk.sources.views
        assert "The girl saw the lamp and nobody else_where." in told(view)
        assert isinstance(view, SourceView)
        assert view.words == text
