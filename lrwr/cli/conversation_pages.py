"""A conversation as a document."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lrwr.cli.cards import excerpt
from lrwr.cli.clean import clean
from lrwr.cli.conversations import (
    ANALYST,
    FROM_THE_WEB,
    moment,
    notes_on,
    title_of,
    who_speaks,
)
from lrwr.cli.passages import place_of
from lrwr.core.model.pages import Block, BlockKind
from lrwr.core.model.turns import Thread, Turn

_ITEM = re.compile(r"\s*[-*•+]\s+(?=\S)")


def blocks_of(thread: Thread, turns: Sequence[Turn]) -> list[Block]:
    """Return a conversation as blocks, without anything that could steer a screen."""
    whole = [Block(BlockKind.HEADING, title_of(thread), level=1)]
    for turn in turns:
        whole += _turn(turn)
    return [
        replace(
            block,
            text=clean(block.text),
            lead=clean(block.lead),
            place=clean(block.place),
        )
        for block in whole
    ]


def _turn(turn: Turn) -> Iterator[Block]:
    said = turn.output
    heading = excerpt(turn.question)
    yield Block(BlockKind.HEADING, heading, level=2)
    if heading != " ".join(turn.question.split()):
        yield from _paragraphs(turn.question)
    speaker = who_speaks(said.narrative_state_delta)
    lead = "" if speaker == ANALYST else f"{speaker}, "
    yield Block(BlockKind.TEXT, f"{lead}{moment(turn.asked_at)}")
    yield from _paragraphs(said.response_text)
    for citation in said.citations:
        place = place_of(citation.document, citation.lines)
        lead = f"[{citation.number}] {place}"
        yield Block(BlockKind.ITEM, f"“{citation.text}”", lead=lead)
    if said.web:
        yield Block(BlockKind.TEXT, f"{FROM_THE_WEB}:")
    for page in said.web:
        lead = f"[w{page.number}] {page.title}"
        yield Block(BlockKind.ITEM, f"{page.url} “{page.text}”", lead=lead)
    for note in notes_on(turn):
        yield Block(BlockKind.ITEM, note)


def _paragraphs(text: str) -> Iterator[Block]:
    for line in text.splitlines():
        if found := _ITEM.match(line):
            yield Block(BlockKind.ITEM, line[found.end() :])
        elif line.strip():
            yield Block(BlockKind.TEXT, line)
