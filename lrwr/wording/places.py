"""How a place in the manuscript is named."""

from typing import TYPE_CHECKING

from lrwr.wording.cleaning import one_line

if TYPE_CHECKING:
    from lrwr.core.model.text import Lines


def place_of(document: str, lines: "Lines") -> str:
    """Return `file:first-last`, as editors and writers know it."""
    name = one_line(document)
    if lines.first == lines.last:
        return f"{name}:{lines.first}"
    return f"{name}:{lines.first}-{lines.last}"


def place_in_words(document: str, lines: "Lines") -> str:
    """Return `file:first-last`; of a `.docx`, whose lines nobody sees, its paragraphs."""
    if not document.lower().endswith(".docx"):
        return place_of(document, lines)
    name = one_line(document)
    if lines.first == lines.last:
        return f"{name}, paragraph {lines.first}"
    return f"{name}, paragraphs {lines.first}-{lines.last}"


def told_in(kind: str, chapter: int | None, title: str, scene: int | None) -> str:
    """Return a place in the story in words; outside of it, what `kind` of note it is."""
    if chapter is None:
        return f"{kind} note, {title}"
    titled = f" “{title}”" if title else ""
    if chapter == 0:
        return f"before chapter 1{titled}"
    return f"chapter {chapter}{titled}, scene {scene}"
