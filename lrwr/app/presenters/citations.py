"""What became of the words that an answer rests on, as a writer is told it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import EXCERPT_CHARACTERS, sanitize_line, shorten_excerpt
from lrwr.core.retrieval.anchors import AnchoredCitation, Freshness

if TYPE_CHECKING:
    from lrwr.core.model.text import LineRange


def format_line_range(document: str, lines: "LineRange") -> str:
    """Return `file:first-last`, as editors and writers know it."""
    name = sanitize_line(document)
    if lines.first == lines.last:
        return f"{name}:{lines.first}"
    return f"{name}:{lines.first}-{lines.last}"


def format_place(document: str, lines: "LineRange") -> str:
    """Return `file:first-last`; of a `.docx`, whose lines nobody sees, its paragraphs."""
    if not document.lower().endswith(".docx"):
        return format_line_range(document, lines)
    name = sanitize_line(document)
    if lines.first == lines.last:
        return f"{name}, paragraph {lines.first}"
    return f"{name}, paragraphs {lines.first}-{lines.last}"


def describe_story_place(
    kind: str, chapter: int | None, title: str, scene: int | None
) -> str:
    """Return a place in the story in words; outside of it, what `kind` of note it is."""
    if chapter is None:
        return f"{kind} note, {title}"
    titled = f" “{title}”" if title else ""
    if chapter == 0:
        return f"before chapter 1{titled}"
    return f"chapter {chapter}{titled}, scene {scene}"


NOT_LOOKED_UP = "Whether its passages still stand could not be looked up."
BEFORE = 60
"""Characters that stand before the first word that differs."""


@dataclass(frozen=True, slots=True)
class CitationLine:
    """A citation's line in parts: `before`, `place`, `after`, then `words` in quotes.

    `place` is the present one, empty where there is none. `words` stand in the present
    text, unless `after` says that they did once.
    """

    before: str
    place: str
    after: str
    words: str


def describe_citation_freshness(anchored_citation: AnchoredCitation) -> CitationLine:
    """Return what became of a citation, in words."""
    cited, current = anchored_citation.citation, anchored_citation.now
    if current is None and anchored_citation.freshness is Freshness.GONE:
        return CitationLine("is no longer in the text", "", "; it read: ", cited.text)
    if current is None:
        place = format_line_range(cited.document, cited.lines)
        return CitationLine("", place, "  ", cited.text)
    place = format_line_range(current.document, current.lines)
    if anchored_citation.freshness is Freshness.EDITED:
        return CitationLine(
            "", place, " was edited since; it now reads: ", current.text
        )
    return CitationLine(
        "moved to " if anchored_citation.moved else "", place, "  ", current.text
    )


def describe_changed_citations(places: Sequence[AnchoredCitation]) -> str:
    """Say how many passages of an answer were changed; empty where all stand."""
    if any(place.freshness is Freshness.NOT_EVALUATED for place in places):
        return NOT_LOOKED_UP
    changed, total = sum(place.changed for place in places), len(places)
    if not changed:
        return ""
    if total == 1:
        return "Its only passage was changed since this answer."
    how_many = f"{changed} of its {total}"
    if changed == total:
        how_many = "Both of its" if total == 2 else f"All {total} of its"
    verb = "was" if changed == 1 else "were"
    return f"{how_many} passages {verb} changed since this answer."


def get_displayed_words(anchored_citation: AnchoredCitation) -> str:
    """Return the words of a citation's line, short; of edited ones where they differ."""
    words = " ".join(describe_citation_freshness(anchored_citation).words.split())
    if (
        anchored_citation.freshness is Freshness.EDITED
        and len(words) > EXCERPT_CHARACTERS
    ):
        common_length = _alike_until(
            words, " ".join(anchored_citation.citation.text.split())
        )
        at = words.rfind(" ", 0, max(0, common_length - BEFORE)) + 1
        return f"… {shorten_excerpt(words[at:])}" if at else shorten_excerpt(words)
    return shorten_excerpt(words)


def freshness_as_json(anchored_citation: AnchoredCitation) -> dict[str, object]:
    """Return what became of a citation, and where its words or their heirs stand."""
    current = anchored_citation.now
    return {
        "freshness": anchored_citation.freshness,
        "now": None
        if current is None
        else {
            "document": current.document,
            "lines": [current.lines.first, current.lines.last],
            "chars": [current.span.start, current.span.end],
            "text": current.text,
        },
    }


def _alike_until(first_text: str, second_text: str) -> int:
    pairs = enumerate(zip(first_text, second_text, strict=False))
    return next(
        (at for at, (a, b) in pairs if a != b), min(len(first_text), len(second_text))
    )
