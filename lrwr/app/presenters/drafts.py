"""Boards and briefs of scenes as text and JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lrwr.app.drafts import SceneState, SceneStatus
from lrwr.app.presenters.text import (
    LinePiece,
    StyledLine,
    StyledTable,
    StyledText,
    format_count,
    styled_line,
)
from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.brief import Brief, count_brief_tokens
from lrwr.core.drafting.story_places import spell_horizon


def render_board_status(
    statuses: Sequence[SceneStatus],
) -> Iterator[StyledLine | StyledTable]:
    """Yield a table with a row for each scene of a board, and a line that counts them."""
    rows: list[list[LinePiece]] = [
        [
            status.card.id,
            status.card.title,
            status.card.pov,
            f"{status.card.words:,}" if status.card.words else "",
            _describe_state(status),
            StyledText(str(status.card.at or ""), "place"),
        ]
        for status in statuses
    ]
    headings = ["Scene", "Title", "Point of view", "Words", "State", "File"]
    yield StyledTable(headings, rows, right={"Words"})
    counts = Counter(status.state for status in statuses)
    parts = [f"{counts[state]:,} {state}" for state in SceneState if counts[state]]
    total = format_count(len(statuses), "scene")
    yield styled_line(f"{total}: {', '.join(parts)}." if parts else f"{total}.")


def scene_status_as_json(status: SceneStatus) -> dict[str, object]:
    """Return a scene of the board as JSON: its card, state and proposals."""
    return {
        **card_as_json(status.card),
        "state": status.state,
        "proposals": status.proposals,
    }


def card_as_json(card: SceneCard) -> dict[str, object]:
    """Return a card as JSON; fields that it leaves out are None or empty."""
    return {
        "id": card.id,
        "title": card.title,
        "part": card.part or None,
        "chapter": card.chapter or None,
        "pov": card.pov or None,
        "people": card.people,
        "place": card.place or None,
        "words": card.words or None,
        "file": card.at.file if card.at else None,
        "lines": [card.at.first, card.at.last] if card.at and card.at.first else None,
        "summary": card.summary or None,
        "beats": card.beats,
        "line": card.line,
    }


def brief_as_json(brief: Brief) -> dict[str, object]:
    """Return a brief as JSON: the card, the horizon, and the numbered `items`.

    `tokens` are those that the text of the brief has, about four characters each;
    `limit` is what was asked for.
    """
    return {
        "scene": card_as_json(brief.card),
        "horizon": spell_horizon(brief.horizon),
        "tokens": count_brief_tokens(brief),
        "limit": brief.tokens,
        "left_out": brief.left_out,
        "items": [
            {
                "number": number,
                "section": item.section,
                "text": item.text,
                "place": item.place or None,
                "chapter": item.evidence.chapter if item.evidence else None,
                "scene": item.evidence.scene if item.evidence else None,
            }
            for number, item in enumerate(brief.items, start=1)
        ],
    }


def _describe_state(status: SceneStatus) -> str:
    if not status.proposals:
        return status.state
    proposals = format_count(len(status.proposals), "proposal")
    if status.state is SceneState.PROPOSED:
        return proposals
    return f"{status.state}, {proposals}"
