"""How conversations are called, and who speaks in them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from lrwr.app.presenters.answers import notes_on
from lrwr.app.presenters.citations import changed_in_words, standing
from lrwr.app.presenters.text import clean, excerpt
from lrwr.core.model.document_blocks import Block, BlockKind
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.turns import Mode, NarrativeState, Thread, Turn, TurnId
from lrwr.core.retrieval.anchors import Anchored, Freshness

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


def places_of(
    turn: Turn, places: "Mapping[TurnId, Sequence[Anchored]]"
) -> "Sequence[Anchored]":
    """Return what became of what a turn rests on; not evaluated where nobody looked."""
    from lrwr.core.retrieval.anchors import not_evaluated

    unknown = [not_evaluated(citation) for citation in turn.output.citations]
    return places.get(turn.id, unknown)


def near_words(text: str, words: Sequence[str]) -> str:
    """Return a text cut short, around the first of the words that it holds."""
    from lrwr.core.retrieval.evidence import highlights

    line, at = " ".join(text.split()), 0
    for piece, hit in highlights(line, words):
        if hit:
            break
        at += len(piece)
    if at <= BEFORE or at == len(line):
        return excerpt(line)
    return f"… {excerpt(line[at - BEFORE :].partition(' ')[2])}"


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


_ITEM = re.compile(r"\s*[-*•+]\s+(?=\S)")


def blocks_of(
    thread: Thread,
    turns: Sequence[Turn],
    places: Mapping[TurnId, Sequence[Anchored]],
) -> list[Block]:
    """Return a conversation as blocks, without anything that could steer a screen.

    `places` say what became of the words that each answer rests on.
    """
    whole = [Block(BlockKind.HEADING, title_of(thread), level=1)]
    for turn in turns:
        whole += _turn(turn, places_of(turn, places))
    return [
        replace(
            block,
            text=clean(block.text),
            lead=clean(block.lead),
            place=clean(block.place),
        )
        for block in whole
    ]


def _turn(turn: Turn, places: Sequence[Anchored]) -> Iterator[Block]:
    said = turn.output
    heading = excerpt(turn.question)
    yield Block(BlockKind.HEADING, heading, level=2)
    if heading != " ".join(turn.question.split()):
        yield from _paragraphs(turn.question)
    speaker = who_speaks(said.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}, "
    yield Block(BlockKind.TEXT, f"{lead}{moment(turn.asked_at)}")
    if changed := changed_in_words(places):
        yield Block(BlockKind.TEXT, changed)
    yield from _paragraphs(said.response_text)
    yield from map(_cited, places)
    if said.web:
        yield Block(BlockKind.TEXT, f"{FROM_THE_WEB}:")
    for page in said.web:
        lead = f"[w{page.number}] {page.title}"
        yield Block(BlockKind.ITEM, f"{page.url} “{page.text}”", lead=lead)
    for note in notes_on(turn):
        yield Block(BlockKind.ITEM, note)


def _cited(one: Anchored) -> Block:
    """Return a citation as it stands now, with the old wording where that is another."""
    now = standing(one)
    words = f"“{now.words}”"
    if one.freshness is Freshness.EDITED:
        words = f"{words} When this was answered: “{one.citation.text}”"
    lead = f"[{one.citation.number}] {now.before}{now.place}{now.after.rstrip(' :')}"
    return Block(BlockKind.ITEM, words, lead=lead)


def _paragraphs(text: str) -> Iterator[Block]:
    for line in text.splitlines():
        if found := _ITEM.match(line):
            yield Block(BlockKind.ITEM, line[found.end() :])
        elif line.strip():
            yield Block(BlockKind.TEXT, line)
