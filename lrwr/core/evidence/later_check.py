"""Finds out what of a statement the story tells only after the horizon."""

from collections.abc import Sequence

from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.names import (
    find_missing_names,
    fold_words,
    list_named_characters,
)
from lrwr.core.attribution.quotations import AnswerQuotation, occurs_in
from lrwr.core.evidence.results import CheckedStory, ComparedPassage
from lrwr.core.evidence.statements import DraftStatement

MIN_LATER_WORDS = 4
MIN_LATER_SHARE = 0.75
LATER_MARGIN = 0.25
"""How many content words a statement must have, how close a later passage must be, and
how much closer than any passage up to the horizon, for it to be told later only."""


def find_later(
    statement: DraftStatement,
    story: CheckedStory,
    candidates: Sequence[ComparedPassage],
) -> ComparedPassage | None:
    """Return the passage after the horizon that alone tells what a statement says."""
    if story.horizon is None:
        return None
    later = [
        c for c in candidates if not c.is_visible and c.passage.chapter is not None
    ]
    visible = [c for c in candidates if c.is_visible]
    if not later:
        return None
    for quotation in statement.quotations:
        if quotation.is_long and not _has(quotation, visible):
            told = [c for c in later if _has(quotation, [c])]
            if told:
                return min(told, key=lambda c: c.chapter)
    named = list_named_characters(statement.text, story.cast)
    known = {fold_words(form) for forms in story.known_cast for form in forms}
    unknown = [forms for forms in named if known.isdisjoint(forms)]
    closest = max(later, key=lambda c: c.compared.strength)
    if unknown:
        return closest
    if (naming := _find_later_name(statement, story, later)) is not None:
        return naming
    after = closest.compared
    before = max(
        (
            c.compared.strength
            for c in visible
            if after.differences or not c.compared.differences
        ),
        default=0.0,
    )
    enough = len(stem_words(statement.text)) >= MIN_LATER_WORDS
    is_told = after.is_near or (
        enough and after.share >= MIN_LATER_SHARE and not after.differences
    )
    return closest if is_told and after.strength >= before + LATER_MARGIN else None


def _find_later_name(
    statement: DraftStatement, story: CheckedStory, later: Sequence[ComparedPassage]
) -> ComparedPassage | None:
    """Return the first passage that has a name of the statement which no text up to the
    horizon has, also if it is another name of a character who is known there.
    """
    words = list_unknown_names(statement, story)
    naming = [
        c for c in later if not words.isdisjoint(fold_words(c.passage.chunk.text))
    ]
    return min(naming, key=lambda c: c.chapter, default=None)


def list_unknown_names(
    statement: DraftStatement, story: CheckedStory
) -> frozenset[str]:
    """Return the folded words of names that no text up to the horizon has; none without
    a horizon.
    """
    if not story.words:
        return frozenset()
    names = find_missing_names(statement.text, "", story.cast)
    return frozenset(w for name in names for w in fold_words(name.text)) - story.words


def _has(quotation: AnswerQuotation, candidates: Sequence[ComparedPassage]) -> bool:
    return occurs_in(quotation.text, [c.text for c in candidates])
