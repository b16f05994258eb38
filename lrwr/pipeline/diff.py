"""Two states of a manuscript, compared: its files, what is known, what clashes. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from lrwr.core.bible.changes import Change, Story, changes, same_people, story_of
from lrwr.core.bible.claims import value_key
from lrwr.core.bible.projection import Knowledge
from lrwr.core.continuity.guard import contradictions, touches
from lrwr.core.continuity.values import Contradiction
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.record_store import DocumentText, Seen
from lrwr.core.ports.snapshot_store import Held
from lrwr.pipeline.changes import renames
from lrwr.pipeline.watch.changes import LearnedDocument, documents_learned

_BETWEEN_PARAGRAPHS = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class State:
    """One state of the manuscript; `contradictions` are those not marked as intended."""

    story: Story
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two states; all of it in a fixed order.

    Of `documents` those that are otherwise now, in paragraphs.
    """

    documents: tuple[LearnedDocument, ...] = ()
    changes: tuple[Change, ...] = ()
    appeared: tuple[Contradiction, ...] = ()
    vanished: tuple[Contradiction, ...] = ()

    @property
    def same(self) -> bool:
        """Say whether nothing is known otherwise, and no file says anything else."""
        return not (self.documents or self.changes or self.appeared or self.vanished)


def state_of(known: Knowledge, without: Collection[DocumentId] = ()) -> State:
    """Return the state in which that is known, `without` what these documents say.

    What conversations asked is no part of it: it has no revision.
    """
    seen = _without(replace(known, wondered=()), without)
    slips = (one for one in contradictions(seen) if not one.intended)
    return State(story_of(seen), tuple(slips))


def difference(before: State, after: State) -> Difference:
    """Return what is known, and what contradicts what, otherwise than before."""
    old, new = before.story.known, after.story.known
    renamed = _renamed(old.texts, new.texts)
    mine, theirs = same_people(old.cast, new.cast)
    had = {_key(one, mine): one for one in before.contradictions}
    has = {_key(one, theirs): one for one in after.contradictions}
    documents = documents_learned(
        _paragraphs(old.texts, new.texts),
        _paragraphs(new.texts, old.texts),
        renamed,
    )
    return Difference(
        documents=tuple(one for one in documents if one.changed),
        changes=changes(before.story, after.story, renamed),
        appeared=tuple(one for key, one in has.items() if key not in had),
        vanished=tuple(one for key, one in had.items() if key not in has),
    )


def only(whole: Difference, documents: Collection[DocumentId]) -> Difference:
    """Return what has a place in one of `documents`, in either state."""
    return Difference(
        tuple(d for d in whole.documents if {d.document, d.was} & {*documents}),
        tuple(
            one
            for one in whole.changes
            if any(place.document in documents for place in (*one.was, *one.now))
        ),
        tuple(one for one in whole.appeared if touches(one, documents)),
        tuple(one for one in whole.vanished if touches(one, documents)),
    )


def _without(known: Knowledge, without: Collection[DocumentId]) -> Knowledge:
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
    seen = [Seen(document, "", old[document].text, "") for document in gone]
    arrived = {document: new[document].text for document in new.keys() - old.keys()}
    return renames(gone, seen, arrived)


def _paragraphs(
    here: Mapping[DocumentId, DocumentText], there: Mapping[DocumentId, DocumentText]
) -> dict[DocumentId, Held]:
    """Return the documents of one state that the other has otherwise, or not at all."""
    found = {}
    for document, kept in here.items():
        if document not in there or there[document].text != kept.text:
            parts = _BETWEEN_PARAGRAPHS.split(kept.text)
            found[document] = Held(tuple(part for part in parts if part.strip()))
    return found


def _key(one: Contradiction, people: Mapping[str, str]) -> tuple[object, ...]:
    values = frozenset(map(value_key, (one.canon.value, one.found.value)))
    return people.get(one.about, one.about), one.attribute, values
