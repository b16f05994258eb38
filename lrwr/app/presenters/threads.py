"""How conversations are called, and who speaks in them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lrwr.app.presenters.answers import describe_answer_notes
from lrwr.app.presenters.citations import (
    describe_changed_citations,
    describe_citation_freshness,
)
from lrwr.app.presenters.text import sanitize_text, shorten_excerpt
from lrwr.core.model.documents import Block, BlockKind
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import AnswerMode, NarrativeState, Thread, Turn, TurnId
from lrwr.core.retrieval.anchors import AnchoredCitation, Freshness, mark_unevaluated
from lrwr.core.retrieval.retrievers import split_highlighted_words

ANALYST = "the analyst"
"""Who speaks where no character does."""
FROM_THE_WEB = "From the web, not from your book"
"""What stands over pages of the web, wherever they are shown."""
KEPT_DAYS = 30
"""How long a deleted conversation can be had back."""
BEFORE = 60
"""Characters that stand before the first word that was looked for."""
SHORTEST_ID = 6
"""Characters of an id that are shown at least."""


def format_thread_title(thread: Thread) -> str:
    """Return a title on one line, fit to be shown."""
    return " ".join(sanitize_text(thread.title).split()) or "(no title)"


def describe_speaker(state: NarrativeState) -> str:
    """Return who answers: a character, or the analyst."""
    in_character = state.mode is AnswerMode.IN_CHARACTER
    return state.character if in_character and state.character else ANALYST


def format_local_time(seconds: float) -> str:
    """Return a time as a writer reads it, in local time."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def shorten_thread_ids(threads: Sequence[Thread]) -> dict[str, str]:
    """Return the beginning of each id that tells it from all others."""
    length = SHORTEST_ID
    while len({thread.id[:length] for thread in threads}) < len(threads):
        length += 1
    return {thread.id: thread.id[:length] for thread in threads}


def get_citation_places(
    turn: Turn, places: "Mapping[TurnId, Sequence[AnchoredCitation]]"
) -> "Sequence[AnchoredCitation]":
    """Return what became of what a turn rests on; not evaluated where nobody looked."""
    unknown = [mark_unevaluated(citation) for citation in turn.output.citations]
    return places.get(turn.id, unknown)


def cut_around_words(text: str, words: Sequence[str]) -> str:
    """Return a text cut short, around the first of the words that it holds."""
    line, at = " ".join(text.split()), 0
    for piece, hit in split_highlighted_words(line, words):
        if hit:
            break
        at += len(piece)
    if at <= BEFORE or at == len(line):
        return shorten_excerpt(line)
    return f"… {shorten_excerpt(line[at - BEFORE :].partition(' ')[2])}"


def find_thread(reference: str, threads: Sequence[Thread]) -> Thread:
    """Return the conversation that the writer means; `threads` are newest first.

    A whole id goes before a number of the list, that before a title, and that before
    the beginning of an id. A title may be in small letters.

    Raises:
        NotFound: There is none.
        SettingsProblem: There are several.
    """
    for matches in _find_candidates(reference, threads):
        if len(matches) > 1:
            ids = shorten_thread_ids(threads)
            raise SettingsProblem(
                f"{len(matches)} conversations may be meant by “{reference}”",
                hint=f"Use one of their ids: {', '.join(ids[t.id] for t in matches)}",
            )
        if matches:
            return matches[0]
    raise NotFound(
        f"There is no conversation “{reference}”",
        hint="`lrwr threads` lists them: use a number, an id or a title.",
    )


def _find_candidates(
    reference: str, threads: Sequence[Thread]
) -> Iterator[Sequence[Thread]]:
    text = reference.strip()
    yield [thread for thread in threads if thread.id == text]
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(threads):
        yield [threads[int(text) - 1]]
    yield [thread for thread in threads if thread.title == reference]
    yield [thread for thread in threads if _plain(thread.title) == _plain(text)]
    if text:
        yield [thread for thread in threads if thread.id.startswith(text.lower())]


def _plain(title: str) -> str:
    return unicodedata.normalize(
        "NFC", " ".join(sanitize_text(title).split())
    ).casefold()


_ITEM = re.compile(r"\s*[-*•+]\s+(?=\S)")


def thread_to_blocks(
    thread: Thread,
    turns: Sequence[Turn],
    places: Mapping[TurnId, Sequence[AnchoredCitation]],
) -> list[Block]:
    """Return a conversation as blocks, without anything that could steer a screen.

    `places` say what became of the words that each answer rests on.
    """
    blocks = [Block(BlockKind.HEADING, format_thread_title(thread), level=1)]
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
    if changed := describe_changed_citations(places):
        yield Block(BlockKind.TEXT, changed)
    yield from _paragraphs(answer.response_text)
    yield from map(_render_citation, places)
    if answer.web:
        yield Block(BlockKind.TEXT, f"{FROM_THE_WEB}:")
    for page in answer.web:
        lead = f"[w{page.number}] {page.title}"
        yield Block(BlockKind.ITEM, f"{page.url} “{page.text}”", lead=lead)
    for note in describe_answer_notes(turn):
        yield Block(BlockKind.ITEM, note)


def _render_citation(anchored_citation: AnchoredCitation) -> Block:
    """Return a citation as it stands now, with the old wording where that is another."""
    citation_line = describe_citation_freshness(anchored_citation)
    words = f"“{citation_line.words}”"
    if anchored_citation.freshness is Freshness.EDITED:
        words = f"{words} When this was answered: “{anchored_citation.citation.text}”"
    lead = f"[{anchored_citation.citation.number}] {citation_line.before}{citation_line.place}{citation_line.after.rstrip(' :')}"
    return Block(BlockKind.ITEM, words, lead=lead)


def _paragraphs(text: str) -> Iterator[Block]:
    for line in text.splitlines():
        if match := _ITEM.match(line):
            yield Block(BlockKind.ITEM, line[match.end() :])
        elif line.strip():
            yield Block(BlockKind.TEXT, line)
