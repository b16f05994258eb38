"""How conversations are called, listed, shown and told to a script."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.answers import notes_on
from lrwr.app.presenters.citations import (
    changed_in_words,
    freshness_as_json,
    standing,
    words_shown,
)
from lrwr.app.presenters.text import excerpt, one_line
from lrwr.app.presenters.threads import (
    ANALYST,
    FROM_THE_WEB,
    moment,
    near_words,
    places_of,
    short_ids,
    title_of,
    who_speaks,
)
from lrwr.cli.presenters.passages import pieces_of
from lrwr.cli.runtime.stream import Styled
from lrwr.core.model.turns import (
    SupervisorOutput,
    Thread,
    Turn,
    TurnId,
)
from lrwr.core.retrieval.anchors import Anchored

if TYPE_CHECKING:
    from lrwr.cli.runtime.output import Output
    from lrwr.cli.runtime.stream import Piece


def list_threads(threads: Sequence[Thread], output: "Output") -> None:
    """List conversations with their numbers."""
    ids = short_ids(threads)
    rows: list[list[Piece]] = [
        [
            str(number),
            title_of(thread),
            str(thread.turns),
            moment(thread.updated_at),
            who_speaks(thread.state),
            Styled(ids[thread.id], "place"),
        ]
        for number, thread in enumerate(threads, start=1)
    ]
    headings = ["No.", "Title", "Turns", "When", "With", "Id"]
    output.table(headings, rows, right={"No.", "Turns"})


def show_thread(
    thread: Thread,
    turns: Sequence[Turn],
    places: Mapping[TurnId, Sequence[Anchored]],
    output: "Output",
) -> None:
    """Show a whole conversation; `places` say what became of what it rests on."""
    output.answer(Styled(title_of(thread), "strong"), Styled(f"  {thread.id}", "place"))
    for turn in turns:
        output.answer()
        show_turn(turn, places_of(turn, places), output)


def show_turn(turn: Turn, places: Sequence[Anchored], output: "Output") -> None:
    """Show one turn: what was asked and said, and what it rests on."""
    said = turn.output
    output.answer(
        Styled(turn.question, "strong"),
        Styled(f"  {turn.number}, {moment(turn.asked_at)}", "faint"),
    )
    if changed := changed_in_words(places):
        output.answer(changed, indent=4)
    speaker = who_speaks(said.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}: "
    output.answer(Styled(lead, "strong"), said.response_text)
    for one in places:
        now = standing(one)
        output.answer(
            f"[{one.citation.number}] {now.before}",
            Styled(now.place, "place"),
            f"{now.after}“{words_shown(one)}”",
            indent=4,
        )
    show_web(said, output, indent=4)
    for note in notes_on(turn):
        output.answer(Styled(note, "faint"), indent=4)


def show_web(said: SupervisorOutput, output: "Output", *, indent: int = 0) -> None:
    """Show what an answer has from the web, apart from what it has from the text."""
    if said.web:
        output.answer(Styled(FROM_THE_WEB, "strong"), indent=indent)
    for page in said.web:
        output.answer(
            f"[w{page.number}] {one_line(page.title)}  ",
            Styled(one_line(page.url), "place"),
            Styled(f"  “{excerpt(page.text)}”" if said.model else "", "faint"),
            indent=indent,
        )


def show_found(
    found: Sequence[tuple[Thread, Turn]], words: list[str], output: "Output"
) -> None:
    """Show turns that hold the words, each with the way to its conversation."""
    for thread, turn in found:
        output.answer(
            Styled(title_of(thread), "strong"),
            Styled(f"  {thread.id}", "place"),
            Styled(f"  turn {turn.number}, {moment(turn.asked_at)}", "faint"),
        )
        output.answer(*pieces_of(excerpt(turn.question), words), indent=2)
        answer = near_words(turn.output.response_text, words)
        output.answer(*pieces_of(answer, words), indent=4)


def thread_as_json(thread: Thread) -> dict[str, object]:
    """Return what a script may want to know of a conversation."""
    state = thread.state
    return {
        "id": thread.id,
        "title": thread.title,
        "turns": thread.turns,
        "created": thread.created_at,
        "updated": thread.updated_at,
        "character": state.character or None,
        "mode": state.mode,
        "as_of": state.as_of or None,
        "witnessed": state.witnessed,
    }


def turn_as_json(
    turn: Turn, places: Sequence[Anchored] | None = None
) -> dict[str, object]:
    """Return what a script may want to know of a turn; lines and chars as elsewhere.

    With `places`, each citation says what became of its words.
    """
    said = turn.output
    state = said.narrative_state_delta
    return {
        "id": turn.id,
        "number": turn.number,
        "asked": turn.asked_at,
        "question": turn.question,
        "answer": said.response_text,
        "state": turn.state,
        "intent": said.intent,
        "character": state.character or None,
        "mode": state.mode,
        "as_of": state.as_of or None,
        "characters": list(said.resolved_characters),
        "citations": list(_citations(said, places)),
        "gaps": list(said.gap_flags),
        "unsupported": [[span.start, span.end] for span in said.unsupported],
        "low_confidence": said.low_confidence,
        "web": said.tavily_used,
        "web_query": said.web_query or None,
        "web_citations": list(said.web),
        "remarks": list(said.remarks),
        "model": said.model or None,
        "usage": turn.usage,
        "price": turn.price,
    }


def _citations(
    said: SupervisorOutput, places: Sequence[Anchored] | None
) -> Iterator[dict[str, object]]:
    fresh = map(freshness_as_json, places or ())
    for one in said.citations:
        yield {
            "number": one.number,
            "file": one.document,
            "lines": [one.lines.first, one.lines.last],
            "chars": [one.span.start, one.span.end],
            "chapter": one.chapter,
            "text": one.text,
            **next(fresh, {}),
        }
