"""What to search for, and what a search returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkId, Passage
from lrwr.core.model.documents import DocumentType, Horizon
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.confidence import SearchConfidence
from lrwr.core.retrieval.story_search import SearchFilters


class PassageSort(StrEnum):
    """The order of the passages of a search: as in the story, or best first."""

    STORY = "story"
    RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search for, and how.

    `limit` is the number of passages to return. `lexical` and `dense` select the
    retrievers, by words and by embedding; `rerank` applies the reranker. `types` are
    the document types to search, empty for all. `horizon` is None for the whole story.
    `notes` includes author's comments. With `exact`, only passages that contain the
    words of the question verbatim are returned; with an empty question, which needs
    `filters`, one passage of each scene that passes them. `sort` None sorts these two
    by story, other searches by relevance: the `limit` most relevant passages can then
    be sorted by story too. `names` adds scores for characters named in the
    question, `boosts` favours the content type it asks for, such as dialogue; both
    apply to pipeline b only and exclude nothing. `chapters` are the story-order numbers
    of the chapters to search, None for the whole library; then no note and no fact is
    found.
    """

    question: str
    pipeline: Pipeline
    limit: int
    lexical: bool = True
    dense: bool = True
    rerank: bool = True
    types: frozenset[DocumentType] = frozenset()
    horizon: Horizon | None = None
    notes: bool = False
    filters: SearchFilters = field(default_factory=SearchFilters)
    names: bool = True
    boosts: bool = True
    exact: bool = False
    sort: PassageSort | None = None
    chapters: range | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether passages are excluded by chapter, character or kind."""
        return bool(self.filters) or self.chapters is not None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages of a search, in the order requested, and what else it found.

    Passages of the story come first, at most `limit`; then those of notes, which are
    ranked beside them, at most one for three. Only notes: at most `limit`.

    `unknown` are the words of the question that no text within the search scope and the
    filters contains, `missing_phrases` its quoted phrases of that kind, as typed: then
    the confidence is None and low. `notes_phrases` are those found that only notes
    contain. `phrases` is the number of quoted phrases in each chunk that has one; None
    if the question has none. `elsewhere` are those of both that text outside the
    filters contains, up to the horizon, in `found_elsewhere` passages. `remarks` are sentences about parts of the search that were skipped or
    failed. `facts` are matching facts of the story bible, best first. `judgement`
    estimates how likely the first passages contain the answer; None if only one
    retriever was requested, filters were set, or `by_words_only` is true: then meaning
    was left out although an embedding model is configured, because it did not answer or
    the passages are not embedded with it. `confidence` is its probability, 0.0 to 1.0,
    and `low_confidence` whether that is below the threshold of the calibration; None
    without a judgement, or without a calibration for this kind of search. `total` is the number of passages of an exact
    search, or of scenes that pass the filters, of which `passages` are the first; None
    for other searches. `total_matches` is the number of all matches of an
    exact search, None for other searches. `matches` are the spans of the exact words, by chunk.
    """

    passages: tuple[Passage, ...]
    unknown: tuple[str, ...] = ()
    similar_names: tuple[str, ...] = ()
    missing_phrases: tuple[str, ...] = ()
    notes_phrases: tuple[str, ...] = ()
    phrases: Mapping[ChunkId, int] | None = None
    elsewhere: tuple[str, ...] = ()
    found_elsewhere: int = 0
    remarks: tuple[str, ...] = ()
    facts: tuple[DocumentFact, ...] = ()
    judgement: SearchConfidence | None = None
    confidence: float | None = None
    low_confidence: bool | None = None
    by_words_only: bool = False
    total: int | None = None
    total_matches: int | None = None
    matches: Mapping[ChunkId, tuple[Span, ...]] = field(default_factory=dict)
