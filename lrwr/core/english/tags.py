"""Reading the narration beside a quotation: who is said to speak."""

from lrwr.core.english.tag_parts import Strength, Tag
from lrwr.core.english.tags_after import tag_after
from lrwr.core.english.tags_before import tag_before
from lrwr.core.english.turns import Page, Turn


def read_tags(page: Page, turn: Turn) -> list[Tag]:
    """Return what the narration around a turn tells of its speaker, surest first."""
    found: list[Tag] = []
    for span in turn.inside[:2]:
        _keep(found, tag_after(page, span, broken=True))
    if not found:
        _keep(found, tag_after(page, turn.after, broken=False))
    if any(tag.strength is Strength.SURE for tag in found):
        return found
    _keep(found, tag_before(page, turn.before))
    if turn.lead is not None:
        _keep(found, tag_before(page, turn.lead))
    return sorted(found, key=lambda tag: -tag.strength)


def _keep(found: list[Tag], tag: Tag | None) -> None:
    if tag is not None:
        found.append(tag)
