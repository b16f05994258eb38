"""What a watch lets others see: a closed union."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from lrwr.core.bible.events import (
    FactChange,
    FactTopic,
    derive_fact_topic,
    find_fact_changes,
    find_new_characters,
)
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.stores import DocumentSnapshot
from lrwr.core.retrieval.freshness import StaleAnswers
from lrwr.pipeline.report import DocumentProblem


@dataclass(frozen=True, slots=True)
class KnowledgeSnapshot:
    """What is known of the documents that a save concerns, and everybody's names."""

    documents: Mapping[DocumentId, DocumentSnapshot] = field(default_factory=dict)
    cast: Cast = field(default_factory=Cast)


@dataclass(frozen=True, slots=True)
class DocumentDelta:
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
class KnowledgeDelta:
    """What a save changed; every list in a fixed order.

    A name is new when nobody in the story went by any form of it before. A fact that
    merely moved, within a document or from one of them to another, has not changed.
    """

    documents: tuple[DocumentDelta, ...] = ()
    names_new: tuple[str, ...] = ()
    names_gone: tuple[str, ...] = ()
    facts_new: tuple[FactChange, ...] = ()
    facts_changed: tuple[FactChange, ...] = ()
    facts_gone: tuple[FactChange, ...] = ()
    gaps_opened: tuple[FactChange, ...] = ()
    gaps_closed: tuple[FactChange, ...] = ()

    @property
    def changed(self) -> bool:
        """Say whether anything is known otherwise than before."""
        named = self.names_new + self.names_gone
        facts = self.facts_new + self.facts_changed + self.facts_gone
        gaps = self.gaps_opened + self.gaps_closed
        return bool(named or facts or gaps or any(d.changed for d in self.documents))


def diff_knowledge(
    before: KnowledgeSnapshot,
    after: KnowledgeSnapshot,
    renamed: Mapping[DocumentId, DocumentId],
) -> KnowledgeDelta:
    """Compare what was known before a save with what is known after it.

    Both hold the documents concerned, those that were or are in the library.
    `renamed` maps new names to old ones.
    """
    fact_changes = list(find_fact_changes(_claims(before, renamed), _claims(after, {})))
    facts = [shift for shift in fact_changes if shift.about is not FactAbout.GAP]
    gaps = [shift for shift in fact_changes if shift.about is FactAbout.GAP]
    return KnowledgeDelta(
        documents=tuple(diff_documents(before.documents, after.documents, renamed)),
        names_new=find_new_characters(after.cast, before.cast),
        names_gone=find_new_characters(before.cast, after.cast),
        facts_new=tuple(s for s in facts if not s.before),
        facts_changed=tuple(s for s in facts if s.before and s.after),
        facts_gone=tuple(s for s in facts if not s.after),
        gaps_opened=tuple(s for s in gaps if s.after),
        gaps_closed=tuple(s for s in gaps if not s.after),
    )


def diff_documents(
    before: Mapping[DocumentId, DocumentSnapshot],
    after: Mapping[DocumentId, DocumentSnapshot],
    renamed: Mapping[DocumentId, DocumentId],
) -> Iterable[DocumentDelta]:
    """Yield what became of each document, sorted; `renamed` maps new names to old."""
    moved = set(renamed.values())
    for document in sorted(before.keys() | after.keys()):
        if document in moved and document not in after:
            continue  # told by its new name
        was = renamed.get(document, document)
        old, new = before.get(was), after.get(document)
        added = Counter(new.passages if new else ())
        counter = Counter(old.passages if old else ())
        more, less = (added - counter).total(), (counter - added).total()
        both = min(more, less)
        yield DocumentDelta(
            document=document,
            was=was if was != document else "",
            gone=new is None,
            passages_new=more - both,
            passages_changed=both,
            passages_gone=less - both,
        )


def _claims(
    library: KnowledgeSnapshot, renamed: Mapping[DocumentId, DocumentId]
) -> dict[FactTopic, dict[str, set[DocumentId]]]:
    """Return the statements on each topic and their documents, each once and in order.

    Documents have the names that they have after the change.
    """
    names = {was: document for document, was in renamed.items()}
    places_by_topic: dict[FactTopic, dict[str, set[DocumentId]]] = {}
    for document, snapshot in sorted(library.documents.items()):
        for fact in snapshot.facts:
            topic, statement = derive_fact_topic(fact.fact, fact.words)
            places = places_by_topic.setdefault(topic, {}).setdefault(statement, set())
            places.add(names.get(document, document))
    return places_by_topic


class WatchCause(StrEnum):
    """Why the manuscript was looked at."""

    START = "start"
    SAVE = "save"
    SWEEP = "sweep"
    IDLE = "idle"
    RETURN = "return"
    """A folder that was gone is there again."""


@dataclass(frozen=True, slots=True)
class WatchStart:
    """The first sweep is done, and so many documents are watched."""

    documents: int


@dataclass(frozen=True, slots=True)
class SaveReport:
    """Something was read or forgotten; `seconds` is how long that took.

    `model` is who was asked what `usage` counts; empty where nobody was. `unread` says
    that a language model is set and has still to read this. `problems` are those that
    were not told before. `unsettled` are kept answers that rest on what changed.
    """

    cause: WatchCause
    learned: KnowledgeDelta
    seconds: float
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    unread: bool = False
    problems: tuple[DocumentProblem, ...] = ()
    remarks: tuple[str, ...] = ()
    unsettled: StaleAnswers = field(default_factory=StaleAnswers)


@dataclass(frozen=True, slots=True)
class ManuscriptAway:
    """A folder, or all that was in it, is gone, as `what` says. Nothing is forgotten."""

    what: str


@dataclass(frozen=True, slots=True)
class ManuscriptReturn:
    """What was gone is there again."""


@dataclass(frozen=True, slots=True)
class PollingFallback:
    """The system does not tell of changes, so they are looked for: `why` is a clause."""

    why: str


@dataclass(frozen=True, slots=True)
class WatchFailure:
    """A round failed; the next one is made as if nothing had happened."""

    message: str
    hint: str


WatchEvent: TypeAlias = (
    WatchStart
    | SaveReport
    | ManuscriptAway
    | ManuscriptReturn
    | PollingFallback
    | WatchFailure
)
