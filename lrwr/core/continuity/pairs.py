"""A pair: what is confirmed, and a passage that may gainsay it. For a model to judge."""

from collections.abc import Collection
from dataclasses import dataclass

from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.values import TextEvidence
from lrwr.core.continuity.statements import Statement, find_enclosing_paragraph
from lrwr.core.continuity.values import StatementSource
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span

PAIR_CONTEXT_CHARS = 300
"""Characters of the same paragraph that are shown on each side, at most."""


@dataclass(frozen=True, slots=True)
class PairPassage:
    """Words to be judged, with a little of what stands around them.

    `core` is where in `text` the sentences stand that say it; the rest is there to be
    understood by. `start` is where `text` begins in its document, verbatim. What the
    writer decided in the canon file has no document and no evidence.
    """

    text: str
    core: Span
    source: StatementSource
    document: DocumentId | None = None
    start: int = 0
    evidence: TextEvidence | None = None


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two passages on one attribute of somebody or something; `canon` counts."""

    about: str
    attribute: str
    canon: PairPassage
    found: PairPassage

    def touches(self, documents: Collection[DocumentId]) -> bool:
        """Say whether either passage is in one of `documents`."""
        return any(
            passage.document in documents for passage in (self.canon, self.found)
        )


def build_pair_passage(
    statement: Statement, horizon_view: HorizonView
) -> PairPassage | None:
    """Return the passage of a statement; None where nothing of it may be shown.

    Of a note it is the sentence alone. Authors' comments are never part of it, nor is
    anything beyond the scene.
    """
    if statement.evidence is None:
        fact_text = f"{statement.attribute}: {statement.value}"
        return PairPassage(fact_text, Span(0, len(fact_text)), statement.source)
    document, core = statement.evidence.document, statement.evidence.spans[0]
    text = horizon_view.texts[document].text
    shown_span = core
    if horizon_view.tells(document):
        own_part = _own_part(document, statement.span or core, horizon_view)
        if own_part is None:
            return None
        core = Span(max(core.start, own_part.start), min(core.end, own_part.end))
        shown_span = _around(text, core, own_part)
    elif "<!--" in text[core.start : core.end] or "%%" in text[core.start : core.end]:
        return None
    return PairPassage(
        text=text[shown_span.start : shown_span.end],
        core=Span(core.start - shown_span.start, core.end - shown_span.start),
        source=statement.source,
        document=document,
        start=shown_span.start,
        evidence=statement.evidence,
    )


def _own_part(
    document: DocumentId, span: Span, horizon_view: HorizonView
) -> Span | None:
    """Return the stretch of the story's own words that `span` begins in."""
    parts = (
        part
        for chapter in horizon_view.order.outlines[document].chapters
        for scene in chapter.scenes
        for part in scene.parts
    )
    return next((part for part in parts if part.start <= span.start < part.end), None)


def _around(text: str, core: Span, own_part: Span) -> Span:
    paragraph = find_enclosing_paragraph(text, core)
    start = max(own_part.start, paragraph.start, core.start - PAIR_CONTEXT_CHARS)
    end = min(own_part.end, paragraph.end, core.end + PAIR_CONTEXT_CHARS)
    while start < core.start and _inside_word(text, start):
        start += 1
    while end > core.end and _inside_word(text, end):
        end -= 1
    return Span(start, end)


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
