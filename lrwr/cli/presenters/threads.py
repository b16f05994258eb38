"""How conversations are called, listed, shown and told to a script."""

from collections.abc import Iterator, Mapping, Sequence

from lrwr.app.presenters.answers import describe_answer_notes
from lrwr.app.presenters.citations import (
    describe_changed_citations,
    describe_citation_freshness,
    freshness_as_json,
    get_displayed_words,
)
from lrwr.app.presenters.text import (
    LinePiece,
    StyledText,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.app.presenters.threads import (
    ANALYST,
    FROM_THE_WEB,
    cut_around_words,
    describe_speaker,
    format_local_time,
    format_thread_title,
    get_citation_places,
    shorten_thread_ids,
)
from lrwr.cli.presenters.passages import highlight_words
from lrwr.cli.runtime.output import Output
from lrwr.core.model.turns import (
    SupervisorOutput,
    Thread,
    Turn,
    TurnId,
)
from lrwr.core.retrieval.anchors import AnchoredCitation


def list_threads(threads: Sequence[Thread], output: Output) -> None:
    """List conversations with their numbers."""
    ids = shorten_thread_ids(threads)
    rows: list[list[LinePiece]] = [
        [
            str(number),
            format_thread_title(thread),
            str(thread.turns),
            format_local_time(thread.updated_at),
            describe_speaker(thread.state),
            StyledText(ids[thread.id], "place"),
        ]
        for number, thread in enumerate(threads, start=1)
    ]
    headings = ["No.", "Title", "Turns", "When", "With", "Id"]
    output.table(headings, rows, right={"No.", "Turns"})


def show_thread(
    thread: Thread,
    turns: Sequence[Turn],
    places: Mapping[TurnId, Sequence[AnchoredCitation]],
    output: Output,
) -> None:
    """Show a whole conversation; `places` say what became of what it rests on."""
    output.answer(
        StyledText(format_thread_title(thread), "strong"),
        StyledText(f"  {thread.id}", "place"),
    )
    for turn in turns:
        output.answer()
        show_turn(turn, get_citation_places(turn, places), output)


def show_turn(turn: Turn, places: Sequence[AnchoredCitation], output: Output) -> None:
    """Show one turn: what was asked and said, and what it rests on."""
    answer = turn.output
    output.answer(
        StyledText(turn.question, "strong"),
        StyledText(f"  {turn.number}, {format_local_time(turn.asked_at)}", "faint"),
    )
    if changed := describe_changed_citations(places):
        output.answer(changed, indent=4)
    speaker = describe_speaker(answer.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}: "
    output.answer(StyledText(lead, "strong"), answer.response_text)
    for place in places:
        citation_line = describe_citation_freshness(place)
        output.answer(
            f"[{place.citation.number}] {citation_line.before}",
            StyledText(citation_line.place, "place"),
            f"{citation_line.after}“{get_displayed_words(place)}”",
            indent=4,
        )
    show_web_citations(answer, output, indent=4)
    for note in describe_answer_notes(turn):
        output.answer(StyledText(note, "faint"), indent=4)


def show_web_citations(
    supervisor_output: SupervisorOutput, output: Output, *, indent: int = 0
) -> None:
    """Show what an answer has from the web, apart from what it has from the text."""
    if supervisor_output.web:
        output.answer(StyledText(FROM_THE_WEB, "strong"), indent=indent)
    for page in supervisor_output.web:
        output.answer(
            f"[w{page.number}] {sanitize_line(page.title)}  ",
            StyledText(sanitize_line(page.url), "place"),
            StyledText(
                f"  “{shorten_excerpt(page.text)}”" if supervisor_output.model else "",
                "faint",
            ),
            indent=indent,
        )


def show_thread_matches(
    matches: Sequence[tuple[Thread, Turn]], words: list[str], output: Output
) -> None:
    """Show turns that hold the words, each with the way to its conversation."""
    for thread, turn in matches:
        output.answer(
            StyledText(format_thread_title(thread), "strong"),
            StyledText(f"  {thread.id}", "place"),
            StyledText(
                f"  turn {turn.number}, {format_local_time(turn.asked_at)}", "faint"
            ),
        )
        output.answer(*highlight_words(shorten_excerpt(turn.question), words), indent=2)
        answer = cut_around_words(turn.output.response_text, words)
        output.answer(*highlight_words(answer, words), indent=4)


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
    turn: Turn, places: Sequence[AnchoredCitation] | None = None
) -> dict[str, object]:
    """Return what a script may want to know of a turn; lines and chars as elsewhere.

    With `places`, each citation says what became of its words.
    """
    answer = turn.output
    state = answer.narrative_state_delta
    return {
        "id": turn.id,
        "number": turn.number,
        "asked": turn.asked_at,
        "question": turn.question,
        "answer": answer.response_text,
        "state": turn.state,
        "intent": answer.intent,
        "character": state.character or None,
        "mode": state.mode,
        "as_of": state.as_of or None,
        "characters": list(answer.resolved_characters),
        "citations": list(_citations(answer, places)),
        "gaps": list(answer.gap_flags),
        "unsupported": [[span.start, span.end] for span in answer.unsupported],
        "low_confidence": answer.low_confidence,
        "web": answer.tavily_used,
        "web_query": answer.web_query or None,
        "web_citations": list(answer.web),
        "remarks": list(answer.remarks),
        "model": answer.model or None,
        "usage": turn.usage,
        "price": turn.price,
    }


def _citations(
    supervisor_output: SupervisorOutput, places: Sequence[AnchoredCitation] | None
) -> Iterator[dict[str, object]]:
    fresh = map(freshness_as_json, places or ())
    for citation in supervisor_output.citations:
        yield {
            "number": citation.number,
            "file": citation.document,
            "lines": [citation.lines.first, citation.lines.last],
            "chars": [citation.span.start, citation.span.end],
            "chapter": citation.chapter,
            "text": citation.text,
            **next(fresh, {}),
        }
