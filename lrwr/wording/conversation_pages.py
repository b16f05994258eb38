"""A conversation as a document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lrwr.core.model.pages import Block, BlockKind
from lrwr.core.model.turns import Thread, Turn, TurnId
from lrwr.core.retrieval.anchoring import Anchored, Freshness
from lrwr.wording.answers import notes_on
from lrwr.wording.cleaning import clean
from lrwr.wording.conversations import (
    ANALYST,
    FROM_THE_WEB,
    moment,
    places_of,
    title_of,
    who_speaks,
)
from lrwr.wording.excerpts import excerpt
from lrwr.wording.freshness import changed_in_words, standing

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
