"""What a save changed in what is known. Pure: stored values in, differences out."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES, WRITER, About, CharacterField
from lrwr.core.ports.holding_store import Held, HeldFact

_KIND = "kind"
_ATTRIBUTE = "attribute"
_TARGET = "target"
_HEARER = "hearer"

Topic: TypeAlias = tuple[About, str, str]
"""What a fact is about, whom, and which of their qualities."""


@dataclass(frozen=True, slots=True)
class Library:
    """What is known of the documents that a save concerns, and everybody's names."""

    documents: Mapping[DocumentId, Held] = field(default_factory=dict)
    cast: Cast = field(default_factory=Cast)


@dataclass(frozen=True, slots=True)
class LearnedDocument:
    """What became of one document, in passages.

    `was` is its former name, if it was renamed; `gone` means that it was forgotten.
    """

    document: DocumentId
    was: str = ""
    gone: bool = False
    passages_new: int = 0
    passages_changed: int = 0
    passages_gone: int = 0

    @property
    def changed(self) -> bool:
        """Say whether it is another document now than before."""
        passages = self.passages_new + self.passages_changed + self.passages_gone
        return bool(self.was or self.gone or passages)


@dataclass(frozen=True, slots=True)
class Shift:
    """One thing that is known otherwise now.

    `subject` is whom or what it is about, empty for an event; `what` names the
    quality, and is empty for a gap that the writer marked in words. What was not known has no `before`, what is not known now no `after`.
    """

    about: About
    subject: str
    what: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Learned:
    """What a save changed; every list in a fixed order.

    A name is new when nobody in the story went by any form of it before. A fact that
    merely moved, within a document or from one of them to another, has not changed.
    """

    documents: tuple[LearnedDocument, ...] = ()
    names_new: tuple[str, ...] = ()
    names_gone: tuple[str, ...] = ()
    facts_new: tuple[Shift, ...] = ()
    facts_changed: tuple[Shift, ...] = ()
    facts_gone: tuple[Shift, ...] = ()
    gaps_opened: tuple[Shift, ...] = ()
    gaps_closed: tuple[Shift, ...] = ()

    @property
    def changed(self) -> bool:
        """Say whether anything is known otherwise than before."""
        named = self.names_new + self.names_gone
        facts = self.facts_new + self.facts_changed + self.facts_gone
        gaps = self.gaps_opened + self.gaps_closed
        return bool(named or facts or gaps or any(d.changed for d in self.documents))


def learned(
    before: Library, after: Library, renamed: Mapping[DocumentId, DocumentId]
) -> Learned:
    """Compare what was known before a save with what is known after it.

    Both hold the documents concerned, those that were or are in the library.
    `renamed` maps new names to old ones.
    """
    shifts = list(_shifts(_claims(before), _claims(after)))
    facts = [shift for shift in shifts if shift.about is not About.GAP]
    gaps = [shift for shift in shifts if shift.about is About.GAP]
    return Learned(
        documents=tuple(_documents(before.documents, after.documents, renamed)),
        names_new=_strangers(after.cast, before.cast),
        names_gone=_strangers(before.cast, after.cast),
        facts_new=tuple(s for s in facts if not s.before),
        facts_changed=tuple(s for s in facts if s.before and s.after),
        facts_gone=tuple(s for s in facts if not s.after),
        gaps_opened=tuple(s for s in gaps if s.after),
        gaps_closed=tuple(s for s in gaps if not s.after),
    )


def _documents(
    before: Mapping[DocumentId, Held],
    after: Mapping[DocumentId, Held],
    renamed: Mapping[DocumentId, DocumentId],
) -> Iterable[LearnedDocument]:
    moved = set(renamed.values())
    for document in sorted(before.keys() | after.keys()):
        if document in moved and document not in after:
            continue  # told by its new name
        was = renamed.get(document, document)
        old, new = before.get(was), after.get(document)
        added = Counter(new.passages if new else ())
        taken = Counter(old.passages if old else ())
        more, less = (added - taken).total(), (taken - added).total()
        both = min(more, less)
        yield LearnedDocument(
            document=document,
            was=was if was != document else "",
            gone=new is None,
            passages_new=more - both,
            passages_changed=both,
            passages_gone=less - both,
        )


def _strangers(cast: Cast, others: Cast) -> tuple[str, ...]:
    """Return those of a cast no form of whose name is known in the other."""
    known = {alias.name for one in others.characters for alias in one.aliases}
    known |= {one.name for one in others.characters} | set(others.shared)
    return tuple(
        sorted(
            one.name
            for one in cast.characters
            if not known & {one.name, *(alias.name for alias in one.aliases)}
        )
    )


def _claims(library: Library) -> dict[Topic, dict[str, None]]:
    """Return what is said on each topic, once each and in order."""
    found: dict[Topic, dict[str, None]] = {}
    for _, held in sorted(library.documents.items()):
        for one in held.facts:
            topic, said = _claim(one)
            found.setdefault(topic, {})[said] = None
    return found


def _claim(held: HeldFact) -> tuple[Topic, str]:
    fact = held.fact
    what = fact.field.replace("_", " ")
    said = " ".join((fact.value or held.words).split())
    if fact.field == CharacterField.ATTRIBUTE:
        what = fact.detail(_ATTRIBUTE) or what
    elif fact.field == CharacterField.RELATIONSHIP:
        what = fact.detail(_KIND) or what
        said = " ".join(filter(None, (fact.detail(_TARGET), fact.value))) or said
    elif fact.about is About.GAP and fact.keeper in (RULES, WRITER):
        what = ""  # the words say it all
    elif fact.about is About.TOLD:
        what = f"told {fact.detail(_HEARER)}".strip()
    return (fact.about, fact.subject, what), said or what


def _shifts(
    before: Mapping[Topic, Collection[str]], after: Mapping[Topic, Collection[str]]
) -> Iterable[Shift]:
    """Yield what differs; one thing said in the place of one other is a change."""
    for topic in sorted(before.keys() | after.keys()):
        old, new = before.get(topic, ()), after.get(topic, ())
        taken = [said for said in old if said not in new]
        added = [said for said in new if said not in old]
        if len(taken) == len(added) == 1 and topic[0] is not About.GAP:
            yield Shift(*topic, before=taken[0], after=added[0])
            continue
        yield from (Shift(*topic, before=said) for said in taken)
        yield from (Shift(*topic, after=said) for said in added)
