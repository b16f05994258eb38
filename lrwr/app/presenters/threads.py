"""Threads (saved conversations) and their turns as text, Markdown blocks and JSON."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lrwr.app.presenters.answers import (
    DAMAGED_ANSWER,
    describe_answer_notes,
    describe_reliability,
    findings_as_json,
    is_answer_doubtful,
    strip_markup,
)
from lrwr.app.presenters.citations import (
    describe_citation_freshness,
    freshness_as_json,
    get_displayed_words,
    highlight_words,
)
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    format_horizon,
    sanitize_line,
    sanitize_text,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import Block, BlockKind
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.text import split_highlighted_words
from lrwr.core.model.turns import (
    Citation,
    NarrativeState,
    SupervisorOutput,
    Thread,
    Turn,
    TurnId,
    list_output_searches,
)
from lrwr.core.retrieval.anchors import AnchoredCitation, Freshness, mark_unevaluated

ANALYST = "the analyst"
"""Name of the speaker when no character answers."""
FROM_THE_WEB = "From the web, not from your manuscript"
"""Heading of web pages that an answer cites."""
BEFORE = 60
"""Characters shown before the first matching word."""
DAMAGED_TITLE = (
    "The title, the state or an answer of this thread was damaged on disk. Run"
    " `lrwr restore --latest` to put back the copy in your automatic backups, if they"
    " have one."
)
LOST_TURNS = (
    "The questions and answers of this thread were lost with a damaged library."
    " `lrwr threads delete` deletes the rest."
)
SHORTEST_ID = 6
"""Minimum number of characters of a thread id that are shown."""


def format_thread_title(thread: Thread) -> str:
    """Return the title of a thread on one line, sanitized; "(no title)" if empty."""
    return " ".join(sanitize_text(thread.title).split()) or "(no title)"


def describe_speaker(state: NarrativeState) -> str:
    """Return who answers: the name of a character, or `ANALYST`."""
    in_character = state.mode is AnswerMode.IN_CHARACTER
    return state.character if in_character and state.character else ANALYST


def format_local_time(seconds: float) -> str:
    """Return seconds since 1970 as local date and time, such as "2026-11-23 07:39"."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def shorten_thread_ids(threads: Sequence[Thread]) -> dict[str, str]:
    """Return, for each full thread id, its prefix to show: unique, and all of one
    length, at least `SHORTEST_ID`.
    """
    ids = [str(thread.id) for thread in threads]  # that of a damaged one may be no text
    length = SHORTEST_ID
    while length < 40 and len({t[:length] for t in ids}) < len(ids):
        length += 1
    return {thread.id: str(thread.id)[:length] for thread in threads}


def get_citation_places(
    turn: Turn, places: "Mapping[TurnId, Sequence[AnchoredCitation]]"
) -> "Sequence[AnchoredCitation]":
    """Return the citations of a turn with their state in the current text.

    `places` has them by turn id. If the turn is not in it, each citation of its answer
    is returned with the freshness "not evaluated". The order is that of the answer.
    """
    unknown = [mark_unevaluated(citation) for citation in turn.output.citations]
    return places.get(turn.id, unknown)


def cut_around_words(text: str, words: Sequence[str]) -> str:
    """Return an excerpt of `text` on one line, around the first of `words` in it.

    A word matches if its stem is equal; `words` must be in lower case. The excerpt is
    the beginning of `text` if none matches. Its length is limited by
    `EXCERPT_CHARACTERS`.
    """
    line, at = " ".join(text.split()), 0
    for piece, hit in split_highlighted_words(line, words):
        if hit:
            break
        at += len(piece)
    if at <= BEFORE or at == len(line):
        return shorten_excerpt(line)
    return f"… {shorten_excerpt(line[at - BEFORE :].partition(' ')[2])}"


def find_thread(reference: str, threads: Sequence[Thread]) -> Thread:
    """Return the thread that `reference`, typed by the user, names.

    `threads` must be newest first. Tried in this order: the full id, the position from
    1 for the newest, the title, the title ignoring case, the beginning of an id, words
    of a title.

    Raises:
        NotFound: No thread matches.
        SettingsProblem: Several threads match.
    """
    for matches in _find_candidates(reference, threads):
        if len(matches) > 1:
            ids = shorten_thread_ids(threads)
            raise SettingsProblem(
                f"{len(matches)} threads match “{reference}”",
                hint=f"Use an id: {', '.join(ids[t.id] for t in matches)}.",
            )
        if matches:
            return matches[0]
    raise NotFound(
        f"There is no thread “{reference}”",
        hint="Run `lrwr threads` and use an id or words of a title.",
    )


def _find_candidates(
    reference: str, threads: Sequence[Thread]
) -> Iterator[Sequence[Thread]]:
    text = reference.strip()
    yield [thread for thread in threads if thread.id == text]
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(threads):
        yield [threads[int(text) - 1]]
    yield [thread for thread in threads if thread.title == reference]
    yield [
        thread
        for thread in threads
        if _normalize_title(thread.title) == _normalize_title(text)
    ]
    if text:
        yield [thread for thread in threads if thread.id.startswith(text.lower())]
        words = {*_normalize_title(text).split()}
        yield [t for t in threads if words <= {*_normalize_title(t.title).split()}]


def _normalize_title(title: str) -> str:
    plain = " ".join(sanitize_text(title).split())
    return unicodedata.normalize("NFC", plain).casefold()


_ITEM = re.compile(r"\s*[-*•+]\s+(?=\S)")


def thread_to_blocks(
    thread: Thread,
    turns: Sequence[Turn],
    places: Mapping[TurnId, Sequence[AnchoredCitation]],
) -> list[Block]:
    """Return a thread as headings, paragraphs and list items for export, sanitized.

    `places` has, by turn id, the citations with their state in the current text; a turn
    that is missing in it has the locations that were cited.
    """
    blocks = [Block(BlockKind.HEADING, format_thread_title(thread), level=1)]
    blocks += [Block(BlockKind.TEXT, remark) for remark in _describe_damage([thread])]
    for turn in turns:
        blocks += _turn(turn, get_citation_places(turn, places))
    return [
        replace(
            block,
            text=sanitize_text(block.text),
            lead=sanitize_text(block.lead),
            place=sanitize_text(block.place),
        )
        for block in blocks
    ]


def _turn(turn: Turn, places: Sequence[AnchoredCitation]) -> Iterator[Block]:
    answer = turn.output
    heading = shorten_excerpt(turn.question)
    yield Block(BlockKind.HEADING, heading, level=2)
    if heading != " ".join(turn.question.split()):
        yield from _paragraphs(turn.question)
    speaker = describe_speaker(answer.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}, "
    yield Block(BlockKind.TEXT, f"{lead}{format_local_time(turn.asked_at)}")
    if warning := describe_reliability(turn, places):
        yield Block(BlockKind.TEXT, warning)
    yield from _paragraphs(strip_markup(answer.response_text))
    yield from map(_render_citation, places)
    if answer.web:
        yield Block(BlockKind.TEXT, f"{FROM_THE_WEB}:")
    for page in answer.web:
        lead = f"[w{page.number}] {page.title}"
        yield Block(BlockKind.ITEM, f"{page.url} “{page.text}”", lead=lead)
    for note in describe_answer_notes(replace(turn, is_damaged=False)):
        yield Block(BlockKind.ITEM, note.text)


def _render_citation(anchored_citation: AnchoredCitation) -> Block:
    citation_line = describe_citation_freshness(anchored_citation)
    words = f"“{strip_markup(citation_line.words)}”"
    if anchored_citation.freshness is Freshness.EDITED:
        earlier = strip_markup(anchored_citation.citation.text)
        words = f"{words} When this was answered: “{earlier}”"
    lead = f"[{anchored_citation.citation.number}] {citation_line.before}{citation_line.place}{citation_line.after.rstrip(' :')}"
    return Block(BlockKind.ITEM, words, lead=lead)


def _paragraphs(text: str) -> Iterator[Block]:
    for line in text.splitlines():
        if match := _ITEM.match(line):
            yield Block(BlockKind.ITEM, line[match.end() :])
        elif line.strip():
            yield Block(BlockKind.TEXT, line)


def _mark_damaged(thread: Thread) -> str:
    return " (damaged)" * thread.is_damaged + " (turns lost)" * (not thread.turns)


def _describe_damage(threads: Sequence[Thread]) -> Iterator[str]:
    """Yield a remark if any of `threads` is damaged, and one if any has lost its turns."""
    if any(thread.is_damaged for thread in threads):
        yield DAMAGED_TITLE
    if not all(thread.turns for thread in threads):
        yield LOST_TURNS


def list_threads(threads: Sequence[Thread]) -> Iterator[StyledTable | StyledLine]:
    """Yield one table with a row for each of `threads`, in their order.

    If one is damaged, a remark follows. Columns: shortened id, title, number of turns,
    time of the last change (local), the character that answers (only if one does in any
    thread).
    """
    ids = shorten_thread_ids(threads)
    characters = [
        "" if (speaker := describe_speaker(thread.state)) == ANALYST else speaker
        for thread in threads
    ]
    has_characters = any(characters)
    rows: list[list[LinePiece]] = [
        [
            StyledText(ids[thread.id], "place"),
            f"{format_thread_title(thread)}{_mark_damaged(thread)}",
            str(thread.turns),
            format_local_time(thread.updated_at),
            *([character] if has_characters else []),
        ]
        for thread, character in zip(threads, characters, strict=True)
    ]
    character_heading = ["In character"] if has_characters else []
    headings = ["Id", "Title", "Turns", "When", *character_heading]
    yield StyledTable(headings, rows, right={"Turns"})
    for remark in _describe_damage(threads):
        yield styled_line(StyledText(remark, "bad"))


def render_thread_turns(
    thread: Thread,
    turns: Sequence[Turn],
    places: Mapping[TurnId, Sequence[AnchoredCitation]],
) -> Iterator[StyledLine]:
    """Yield the lines of a whole thread: its title and id, then `turns` in their order.

    A title that is the first question, as by default, is not shown twice. `places` has,
    by turn id, the citations with their state in the current text; a turn that is
    missing in it has the locations that were cited.
    """
    title = format_thread_title(thread)
    yield styled_line(
        StyledText(title, "strong"),
        StyledText(f"  {thread.id[:SHORTEST_ID]}", "place"),
    )
    for remark in _describe_damage([thread]):
        yield styled_line(StyledText(remark, "bad"))
    for turn in turns:
        is_title = turn.number == 1 and turn.question == title
        yield styled_line()
        yield from render_turn(
            turn, get_citation_places(turn, places), has_question=not is_title
        )


def render_turn(
    turn: Turn, places: Sequence[AnchoredCitation], *, has_question: bool = True
) -> Iterator[StyledLine]:
    """Yield the lines of one turn: question, answer, citations, web pages, remarks.

    `places` are the turn's citations with their state in the current text.
    """
    answer = turn.output
    yield styled_line(
        StyledText(f"{turn.question}  " if has_question else "", "strong"),
        StyledText(_describe_turn_setup(turn), "faint"),
    )
    if warning := describe_reliability(turn, places):
        yield styled_line(
            StyledText(warning, "bad" if turn.is_damaged else "plain"), indent=4
        )
    speaker = describe_speaker(answer.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}: "
    yield styled_line(StyledText(lead, "strong"), strip_markup(answer.response_text))
    for place in places:
        citation_line = describe_citation_freshness(place)
        yield styled_line(
            f"[{place.citation.number}] {citation_line.before}",
            StyledText(citation_line.place, "place"),
            f"{citation_line.after}“{strip_markup(get_displayed_words(place))}”",
            indent=4,
        )
    yield from render_web_citations(answer, indent=4)
    for note in describe_answer_notes(replace(turn, is_damaged=False)):
        yield styled_line(StyledText(note.text, "faint"), indent=4)


def _describe_turn_setup(turn: Turn) -> str:
    """Return number, time, horizon and language model of a turn, joined by commas."""
    answer = turn.output
    as_of = answer.narrative_state_delta.as_of
    parts = [f"turn {turn.number}", format_local_time(turn.asked_at)]
    parts += [f"up to {format_horizon(as_of)}"] if as_of else []
    parts += [sanitize_line(answer.model)] if answer.model else []
    return ", ".join(parts)


def render_web_citations(
    supervisor_output: SupervisorOutput, *, indent: int = 0
) -> Iterator[StyledLine]:
    """Yield a heading and a line for each web page that an answer cites.

    `indent` is in columns. Nothing if the answer cites no web page.
    """
    if supervisor_output.web:
        yield styled_line(StyledText(FROM_THE_WEB, "strong"), indent=indent)
    for page in supervisor_output.web:
        yield styled_line(
            f"[w{page.number}] {sanitize_line(page.title)}  ",
            StyledText(sanitize_line(page.url), "place"),
            StyledText(
                f"  “{shorten_excerpt(page.text)}”" if supervisor_output.model else "",
                "faint",
            ),
            indent=indent,
        )


def render_thread_matches(
    matches: Sequence[tuple[Thread, Turn]], words: Sequence[str]
) -> Iterator[StyledLine]:
    """Yield the lines of the turns that a search for `words` found, in their order.

    Each has the thread's title and id, and excerpts of question and answer in which
    `words` are highlighted. `words` must be in lower case.
    """
    for thread, turn in matches:
        yield styled_line(
            StyledText(
                f"{format_thread_title(thread)}{_mark_damaged(thread)}", "strong"
            ),
            StyledText(f"  {thread.id[:SHORTEST_ID]}", "place"),
            StyledText(
                f"  turn {turn.number}, {format_local_time(turn.asked_at)}", "faint"
            ),
        )
        question = shorten_excerpt(turn.question)
        yield styled_line(*highlight_words(question, words), indent=2)
        answer = cut_around_words(strip_markup(turn.output.response_text), words)
        yield styled_line(*highlight_words(answer, words), indent=4)
        if turn.is_damaged:
            yield styled_line(StyledText(DAMAGED_ANSWER, "bad"), indent=4)


def thread_as_json(thread: Thread) -> dict[str, object]:
    """Return a thread without its turns as JSON.

    `turns` is their number; `turns_lost` says that damage has left none. `damaged` says
    that the title or the state, or in a list an answer, does not match its checksum. `created` and `updated` are in seconds since 1970.
    `character`, `mode`, `as_of` (the horizon as typed, None for the whole story) and
    `witnessed` are the state after the last turn.
    """
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
        "damaged": thread.is_damaged,
        "turns_lost": not thread.turns,
    }


def turn_as_json(
    turn: Turn, places: Sequence[AnchoredCitation] | None = None
) -> dict[str, object]:
    """Return a turn as JSON: question, answer, citations, remarks, usage and price.

    `asked` is in seconds since 1970, `price` in US dollars. `unsupported` has half-open `[start, end]` offsets in the answer, `findings` the same
    with the words that the cited text lacks and a sentence that says what is wrong. `response_text`, `resolved_characters`,
    `gap_flags` and `tavily_used` repeat other keys under the names of the value that
    the turn returns; `narrative_state_delta` is the state after it. `plan` and `entities`
    are those of the question, `searches` the texts searched for beside it, `steps` the
    stages with seconds since the start, `calls` the calls of language models with
    purpose, tokens and seconds. Citations have
    `lines` (from 1, inclusive) and `chars` (half-open offsets in the document); with
    `places`, their state in the current text, also the keys of `freshness_as_json`.
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
        "findings": findings_as_json(answer),
        "low_confidence": answer.low_confidence,
        "warned": is_answer_doubtful(turn),
        "web": answer.tavily_used,
        "web_query": answer.web_query or None,
        "web_citations": list(answer.web),
        "remarks": [DAMAGED_ANSWER] * turn.is_damaged + list(answer.remarks),
        "model": answer.model or None,
        "usage": turn.usage,
        "price": turn.price,
        "response_text": answer.response_text,
        "resolved_characters": list(answer.resolved_characters),
        "gap_flags": list(answer.gap_flags),
        "narrative_state_delta": state,
        "tavily_used": answer.tavily_used,
        "plan": answer.plan,
        "entities": list(answer.entities),
        "searches": list(list_output_searches(answer)),
        "steps": list(answer.steps),
        "calls": list(answer.calls),
    }


def _best_sentence(citation: Citation) -> str | None:
    """Return the sentence of a cited passage that fits the question best, if any does."""
    best = citation.best
    return None if best is None else citation.text[best.start : best.end]


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
            "best": _best_sentence(citation),
            **next(fresh, {}),
        }
