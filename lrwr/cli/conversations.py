"""How conversations are called, listed, shown and told to a script."""

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from lrwr.cli.cards import excerpt
from lrwr.cli.clean import clean, one_line
from lrwr.cli.passages import pieces_of, place_of
from lrwr.cli.stream import Styled
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import (
    Mode,
    NarrativeState,
    SupervisorOutput,
    Thread,
    Turn,
    TurnState,
)

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.cli.stream import Piece

ANALYST = "the analyst"
"""Who speaks where no character does."""

SHORTEST_ID = 6
"""Characters of an id that are shown at least."""

FROM_THE_WEB = "From the web, not from your book"
"""What stands over pages of the web, wherever they are shown."""

BEFORE = 60
"""Characters that stand before the first word that was looked for."""

_SENTENCE = 4
"""Words from which on a gap is no mere name of an attribute."""


def thread_called(wanted: str, threads: Sequence[Thread]) -> Thread:
    """Return the conversation that the writer means; `threads` are newest first.

    A whole id goes before a number of the list, that before a title, and that before
    the beginning of an id. A title may be in small letters.

    Raises:
        NotFound: There is none.
        SettingsProblem: There are several.
    """
    for found in _readings(wanted, threads):
        if len(found) > 1:
            ids = short_ids(threads)
            raise SettingsProblem(
                f"{len(found)} conversations may be meant by “{wanted}”",
                hint=f"Use one of their ids: {', '.join(ids[t.id] for t in found)}",
            )
        if found:
            return found[0]
    raise NotFound(
        f"There is no conversation “{wanted}”",
        hint="`lrwr threads` lists them: use a number, an id or a title.",
    )


def title_of(thread: Thread) -> str:
    """Return a title on one line, fit to be shown."""
    return " ".join(clean(thread.title).split()) or "(no title)"


def who_speaks(state: NarrativeState) -> str:
    """Return who answers: a character, or the analyst."""
    in_character = state.mode is Mode.IN_CHARACTER
    return state.character if in_character and state.character else ANALYST


def moment(seconds: float) -> str:
    """Return a time as a writer reads it, in local time."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def short_ids(threads: Sequence[Thread]) -> dict[str, str]:
    """Return the beginning of each id that tells it from all others."""
    length = SHORTEST_ID
    while len({thread.id[:length] for thread in threads}) < len(threads):
        length += 1
    return {thread.id: thread.id[:length] for thread in threads}


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


def show_thread(thread: Thread, turns: Sequence[Turn], output: "Output") -> None:
    """Show a whole conversation."""
    output.answer(Styled(title_of(thread), "strong"), Styled(f"  {thread.id}", "place"))
    for turn in turns:
        output.answer()
        show_turn(turn, output)


def show_turn(turn: Turn, output: "Output") -> None:
    """Show one turn: what was asked and said, and what it rests on."""
    said = turn.output
    output.answer(
        Styled(turn.question, "strong"),
        Styled(f"  {turn.number}, {moment(turn.asked_at)}", "faint"),
    )
    speaker = who_speaks(said.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}: "
    output.answer(Styled(lead, "strong"), said.response_text)
    for citation in said.citations:
        place = place_of(citation.document, citation.lines)
        output.answer(
            f"[{citation.number}] ",
            Styled(place, "place"),
            f"  “{excerpt(citation.text)}”",
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


def notes_on(turn: Turn) -> Iterator[str]:
    """Yield what there is to say of an answer besides its words and citations."""
    said = turn.output
    told = one_line(said.response_text)
    for gap in said.gap_flags:
        if _is_told(gap.undefined_attribute, told):
            continue
        about = f"{gap.about}, " if gap.about else ""
        implied = f" ({gap.what_is_implied})" if gap.what_is_implied else ""
        yield f"not defined: {about}{gap.undefined_attribute}{implied}"
        if gap.development_suggestion:
            yield f"a way to go: {gap.development_suggestion}"
    for span in said.unsupported:
        words = excerpt(said.response_text[span.start : span.end])
        yield f"no passage bears out: “{words}”"
    if said.low_confidence:
        yield "the evidence is weak"
    yield from said.remarks
    if said.tavily_used:
        sent = f": “{said.web_query}”" if said.web_query else ""
        yield f"the web was asked{sent}"
    if turn.state is TurnState.STOPPED:
        yield "stopped before its end"


def _is_told(attribute: str, answer: str) -> bool:
    """Say whether an answer quotes a gap as the writer left it: in a sentence."""
    words = one_line(attribute).rstrip(" .")
    return len(words.split()) >= _SENTENCE and words in answer


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
        answer = _near_words(turn.output.response_text, words)
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


def turn_as_json(turn: Turn) -> dict[str, object]:
    """Return what a script may want to know of a turn; lines and chars as elsewhere."""
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
        "citations": [
            {
                "number": one.number,
                "file": one.document,
                "lines": [one.lines.first, one.lines.last],
                "chars": [one.span.start, one.span.end],
                "chapter": one.chapter,
                "text": one.text,
            }
            for one in said.citations
        ],
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


def _readings(wanted: str, threads: Sequence[Thread]) -> Iterator[Sequence[Thread]]:
    text = wanted.strip()
    yield [thread for thread in threads if thread.id == text]
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(threads):
        yield [threads[int(text) - 1]]
    yield [thread for thread in threads if thread.title == wanted]
    yield [thread for thread in threads if _plain(thread.title) == _plain(text)]
    if text:
        yield [thread for thread in threads if thread.id.startswith(text.lower())]


def _plain(title: str) -> str:
    return unicodedata.normalize("NFC", " ".join(clean(title).split())).casefold()


def _near_words(text: str, words: list[str]) -> str:
    from lrwr.core.retrieval.evidence import highlights

    line, at = " ".join(text.split()), 0
    for piece, hit in highlights(line, words):
        if hit:
            break
        at += len(piece)
    if at <= BEFORE or at == len(line):
        return excerpt(line)
    return f"… {excerpt(line[at - BEFORE :].partition(' ')[2])}"
