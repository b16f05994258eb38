"""Events of `lrwr watch`, and the changes that a save made."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from lrwr.core.bible.timeline import (
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
    """The stored passages and facts of the documents of a save, and the cast, at one
    time.
    """

    documents: Mapping[DocumentId, DocumentSnapshot] = field(default_factory=dict)
    cast: Cast = field(default_factory=Cast)


@dataclass(frozen=True, slots=True)
class DocumentDelta:
    """The change of one document: how many passages are new, changed and gone.

    `was` is its former id if it was renamed, else empty; `gone` means that it was
    deleted.
    """

    document: DocumentId
    was: str = ""
    gone: bool = False
    passages_new: int = 0
    passages_changed: int = 0
    passages_gone: int = 0

    @property
    def changed(self) -> bool:
        """Whether the document was renamed, deleted, or differs in a passage."""
        passages = self.passages_new + self.passages_changed + self.passages_gone
        return bool(self.was or self.gone or passages)


@dataclass(frozen=True, slots=True)
class KnowledgeDelta:
    """Changes of the library made by a save; every tuple is in a deterministic order.

    They are changed documents, names of characters, facts, and gaps that were opened or
    closed. A name is new if no character had any form of it before. A fact that only
    moved, within a document or to another one, has not changed.
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
        """Whether any document, name, fact or gap has changed."""
        named = self.names_new + self.names_gone
        facts = self.facts_new + self.facts_changed + self.facts_gone
        gaps = self.gaps_opened + self.gaps_closed
        return bool(named or facts or gaps or any(d.changed for d in self.documents))


def diff_knowledge(
    before: KnowledgeSnapshot,
    after: KnowledgeSnapshot,
    renamed: Mapping[DocumentId, DocumentId],
) -> KnowledgeDelta:
    """Return the changes between the snapshots before and after a save.

    A snapshot must contain every document of the save that was in the library at its
    time. `renamed` maps new ids to old ones.
    """
    fact_changes = list(find_fact_changes(_claims(before, renamed), _claims(after, {})))
    facts = [shift for shift in fact_changes if shift.about is not FactAbout.GAP]
    gaps = [shift for shift in fact_changes if shift.about is FactAbout.GAP]
    documents = tuple(diff_documents(before.documents, after.documents, renamed))
    changed = any(document.passages_changed for document in documents)
    only_less = not changed and not any(d.passages_new for d in documents)
    only_more = not changed and not any(d.passages_gone for d in documents)
    is_one_way = only_less != only_more
    # Less text can move the names of the rest over a threshold, and more text below it;
    # neither is news about the text.
    return KnowledgeDelta(
        documents=documents,
        names_new=()
        if is_one_way and only_less
        else find_new_characters(after.cast, before.cast),
        names_gone=()
        if is_one_way and only_more
        else find_new_characters(before.cast, after.cast),
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
    """Yield the change of each document in `before` or `after`, sorted by id; unchanged
    ones, too.

    `renamed` maps new ids to old ones; a renamed document has one item, under its new
    id. A new and an old passage together count as one changed passage, as far as there
    are both; the rest are new or gone.
    """
    moved = set(renamed.values())
    for document in sorted(before.keys() | after.keys()):
        if document in moved and document not in after:
            continue  # reported under its new id
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

    Documents have the ids that they have after the change.
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
    """Why the manuscript was scanned: start, a save, a regular sweep, idle time, or the
    return of a missing folder.
    """

    START = "start"
    SAVE = "save"
    SWEEP = "sweep"
    IDLE = "idle"
    RETURN = "return"
    """The manuscript folder exists again."""


@dataclass(frozen=True, slots=True)
class WatchStart:
    """Event: the first scan is complete; `documents` is the number of watched
    documents.
    """

    documents: int


@dataclass(frozen=True, slots=True)
class SaveReport:
    """Event: documents were processed or deleted; `seconds` is the duration.

    `learned` are the changes of the library. `model` is the language model that `usage`
    counts; empty if none ran. `unread` means that a configured language model has not
    analysed the change yet. `problems` and `remarks` are those not reported before.
    `unsettled` lists saved answers that cite changed text. `missing` documents have no
    file but were not deleted, because they are too many.
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
    missing: tuple[DocumentId, ...] = ()


@dataclass(frozen=True, slots=True)
class ManuscriptAway:
    """Event: the manuscript folder or all its files disappeared; nothing is deleted.

    `what` is the reason, a sentence without a full stop.
    """

    what: str


@dataclass(frozen=True, slots=True)
class ManuscriptReturn:
    """Event: the manuscript folder exists again."""


@dataclass(frozen=True, slots=True)
class PollingFallback:
    """Event: the system reports no file events, so files are checked at intervals.

    `why` is a clause that gives the reason.
    """

    why: str


@dataclass(frozen=True, slots=True)
class WatchFailure:
    """Event: processing failed; watch continues and tries again.

    `message` and `hint` are sentences for the user.
    """

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

EmitWatchEvent = Callable[[WatchEvent], Awaitable[None]]
