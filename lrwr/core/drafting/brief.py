"""The brief of a scene: what its place in the story lets one know, within a budget."""

from dataclasses import dataclass, replace

from lrwr.core.drafting.board import SceneCard, spell_horizon
from lrwr.core.drafting.brief_items import (
    BriefItem,
    BriefMaterial,
    BriefSection,
    iter_brief_items,
)
from lrwr.core.model.documents import Horizon
from lrwr.core.model.language_model import CHARACTERS_PER_TOKEN, estimate_tokens

DEFAULT_BRIEF_TOKENS = 4_000
LEAST_BRIEF_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Brief:
    """What a scene needs, in at most `tokens` tokens.

    `horizon` is the point of the story up to which the text was used. `left_out`
    entries did not fit.
    """

    card: SceneCard
    horizon: Horizon
    tokens: int
    items: tuple[BriefItem, ...] = ()
    left_out: int = 0


def build_brief(material: BriefMaterial, tokens: int) -> Brief:
    """Return the brief of a scene, with as many entries as fit into `tokens`.

    `tokens` are counted as about four characters each, headings included. Nothing of
    the manuscript is from after the horizon.
    """
    items = sorted(iter_brief_items(material), key=lambda item: item.rank)
    unique = list(
        {(item.section, item.text, item.place): item for item in items}.values()
    )
    brief = Brief(material.card, material.horizon, tokens)
    room = tokens * CHARACTERS_PER_TOKEN - len(render_brief(brief))
    chosen: list[BriefItem] = []
    for item in unique:
        heading = 0 if any(c.section is item.section for c in chosen) else _HEADING_ROOM
        fitting = _shorten(item, room - heading - _LABEL_ROOM)
        if fitting is not None:
            chosen.append(fitting)
            room -= heading + _LABEL_ROOM + len(_format_item(fitting))
    order = list(BriefSection)
    chosen.sort(key=lambda item: (order.index(item.section), item.rank))
    return replace(brief, items=tuple(chosen), left_out=len(unique) - len(chosen))


_LABEL_ROOM = 9
"""Characters of a number and line break: "[1234] "."""
_HEADING_ROOM = 5 + max(len(section) for section in BriefSection)
_LEAST_CUT = 60
"""Characters of an entry below which it is left out instead of shortened."""


def _shorten(item: BriefItem, room: int) -> BriefItem | None:
    """Return `item` so that it takes at most `room` characters; None if it cannot."""
    excess = len(_format_item(item)) - room
    if excess <= 0:
        return item
    size = len(item.text) - excess - 4
    if not item.cut or size < _LEAST_CUT:
        return None
    if item.cut == "start":
        return replace(item, text="… " + item.text[-size:].partition(" ")[2])
    return replace(item, text=item.text[:size].rpartition(" ")[0] + " …")


def render_brief(brief: Brief) -> str:
    """Return a brief as text; its entries are numbered from 1."""
    title = f"{' '.join(brief.card.title.split())[:80]} ({brief.card.id[:80]})"
    lines = [f"# {title}", f"The story up to {spell_horizon(brief.horizon)}."]
    section = None
    for number, item in enumerate(brief.items, start=1):
        if item.section is not section:
            section = item.section
            lines += ["", f"## {section}"]
        lines.append(f"[{number}] {_format_item(item)}")
    return "\n".join(lines) + "\n"


def count_brief_tokens(brief: Brief) -> int:
    """Return the estimated tokens of a brief as `render_brief` returns it."""
    return estimate_tokens(render_brief(brief))


def _format_item(item: BriefItem) -> str:
    return f"{item.text} ({item.place})" if item.place else item.text
