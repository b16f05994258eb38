"""What the library holds of single documents: to be compared before and after."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Fact


@dataclass(frozen=True, slots=True)
class QuotedFact:
    """A fact, and the words of the text that it rests on first."""

    fact: Fact
    words: str


@dataclass(frozen=True, slots=True)
class DocumentSnapshot:
    """What is known of one document.

    `passages` are its texts in order. `facts` are in order of place; those that only
    say of what kind a passage or scene is are left out. `people` are the characters
    that are named in it, by their names in the cast.
    """

    passages: tuple[str, ...] = ()
    facts: tuple[QuotedFact, ...] = ()
    people: frozenset[str] = frozenset()


class DocumentSnapshotStore(Protocol):
    """What the library holds of single documents, each read in one snapshot."""

    async def held(
        self, documents: Collection[DocumentId], pipeline: Pipeline
    ) -> Mapping[DocumentId, DocumentSnapshot]:
        """Return what a pipeline knows of these documents, all at one moment.

        Those that it has not read are left out. Pipeline a knows passages alone.

        Raises:
            StoreProblem: The library cannot be read.
        """
        ...
