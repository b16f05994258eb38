"""Two states of a manuscript, compared: its files, what is known, what clashes. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from lrwr.core.bible.changes import (
    StoryChange,
    StoryState,
    align_casts,
    build_story_state,
    diff_story_states,
)
from lrwr.core.bible.claims import normalize_value
from lrwr.core.bible.service import StoryKnowledge
from lrwr.core.continuity.guard import find_contradictions, is_in_documents
from lrwr.core.continuity.values import Contradiction
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.record_store import DocumentText, DocumentVersion
from lrwr.core.ports.snapshot_store import DocumentSnapshot
from lrwr.pipeline.changes import match_renames
from lrwr.pipeline.watch.changes import DocumentDelta, diff_documents

_BETWEEN_PARAGRAPHS = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class ManuscriptState:
    """One state of the manuscript; `find_contradictions` are those not marked as intended."""

    story: StoryState
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryDiff:
    """What differs between two states; all of it in a fixed order.

    Of `documents` those that are otherwise now, in paragraphs.
    """

    documents: tuple[DocumentDelta, ...] = ()
    changes: tuple[StoryChange, ...] = ()
    appeared: tuple[Contradiction, ...] = ()
    vanished: tuple[Contradiction, ...] = ()

    @property
    def same(self) -> bool:
        """Say whether nothing is known otherwise, and no file says anything else."""
        return not (self.documents or self.changes or self.appeared or self.vanished)


def build_manuscript_state(
    known: StoryKnowledge, without: Collection[DocumentId] = ()
) -> ManuscriptState:
    """Return the state in which that is known, `without` what these documents say.

    What conversations asked is no part of it: it has no revision.
    """
    story_knowledge = _without(replace(known, wondered=()), without)
    slips = (
        contradiction
        for contradiction in find_contradictions(story_knowledge)
        if not contradiction.intended
    )
    return ManuscriptState(build_story_state(story_knowledge), tuple(slips))


def diff_states(before: ManuscriptState, after: ManuscriptState) -> StoryDiff:
    """Return what is known, and what contradicts what, otherwise than before."""
    old, new = before.story.known, after.story.known
    renamed = _renamed(old.texts, new.texts)
    mine, theirs = align_casts(old.cast, new.cast)
    had = {
        _key(contradiction, mine): contradiction
        for contradiction in before.contradictions
    }
    has = {
        _key(contradiction, theirs): contradiction
        for contradiction in after.contradictions
    }
    documents = diff_documents(
        _paragraphs(old.texts, new.texts),
        _paragraphs(new.texts, old.texts),
        renamed,
    )
    return StoryDiff(
        documents=tuple(document for document in documents if document.changed),
        changes=diff_story_states(before.story, after.story, renamed),
        appeared=tuple(one for key, one in has.items() if key not in had),
        vanished=tuple(one for key, one in had.items() if key not in has),
    )


def filter_story_diff(
    story_diff: StoryDiff, documents: Collection[DocumentId]
) -> StoryDiff:
    """Return what has a place in one of `documents`, in either state."""
    return StoryDiff(
        tuple(d for d in story_diff.documents if {d.document, d.was} & {*documents}),
        tuple(
            change
            for change in story_diff.changes
            if any(place.document in documents for place in (*change.was, *change.now))
        ),
        tuple(one for one in story_diff.appeared if is_in_documents(one, documents)),
        tuple(one for one in story_diff.vanished if is_in_documents(one, documents)),
    )


def _without(known: StoryKnowledge, without: Collection[DocumentId]) -> StoryKnowledge:
    if not without:
        return known
    order = known.order
    outlines = {d: one for d, one in order.outlines.items() if d not in without}
    story = tuple(one for one in order.story if one not in without)
    texts = {d: one for d, one in known.texts.items() if d not in without}
    return replace(
        known, order=replace(order, outlines=outlines, story=story), texts=texts
    )


def _renamed(
    old: Mapping[DocumentId, DocumentText], new: Mapping[DocumentId, DocumentText]
) -> dict[DocumentId, DocumentId]:
    """Return new names with the old one, of documents that say what they said."""
    gone = sorted(old.keys() - new.keys())
    seen = [DocumentVersion(document, "", old[document].text, "") for document in gone]
    arrived = {document: new[document].text for document in new.keys() - old.keys()}
    return match_renames(gone, seen, arrived)


def _paragraphs(
    here: Mapping[DocumentId, DocumentText], there: Mapping[DocumentId, DocumentText]
) -> dict[DocumentId, DocumentSnapshot]:
    """Return the documents of one state that the other has otherwise, or not at all."""
    found = {}
    for document, kept in here.items():
        if document not in there or there[document].text != kept.text:
            parts = _BETWEEN_PARAGRAPHS.split(kept.text)
            found[document] = DocumentSnapshot(
                tuple(part for part in parts if part.strip())
            )
    return found


def _key(contradiction: Contradiction, people: Mapping[str, str]) -> tuple[object, ...]:
    values = frozenset(
        map(normalize_value, (contradiction.canon.value, contradiction.found.value))
    )
    return (
        people.get(contradiction.about, contradiction.about),
        contradiction.attribute,
        values,
    )
