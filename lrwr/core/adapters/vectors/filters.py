"""A scope as an engine asks for it: which documents whole, which up to where."""

from collections.abc import Mapping
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.search import SearchScope


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """What may be found: of some kinds, and in any of these places.

    Every document but `bounded` where `others`; the documents `whole`; of each document
    in `bounded` what ends at its character or before. Where `everywhere`, no place need
    be looked at.
    """

    kinds: tuple[str, ...]
    others: bool
    whole: tuple[DocumentId, ...]
    bounded: Mapping[DocumentId, int]

    @property
    def everywhere(self) -> bool:
        """Whether every document is open to its end."""
        return self.others and not self.bounded


def build_vector_filter(scope: SearchScope) -> VectorFilter | None:
    """Return what `scope` asks for; None when nothing can be in it."""
    among = scope.documents
    bounded = {
        document: until
        for document, until in scope.until.items()
        if among is None or document in among
    }
    whole = () if among is None else tuple(sorted(among - scope.until.keys()))
    if not scope.kinds or not (among is None or whole or bounded):
        return None
    kinds = tuple(sorted(kind.value for kind in scope.kinds))
    return VectorFilter(kinds, among is None, whole, bounded)
