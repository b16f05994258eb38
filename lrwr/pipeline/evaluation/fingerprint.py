"""What results depend on beside the question: told in few letters, to compare runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.ports.record_store import DocumentVersion
from lrwr.core.ports.story_store import DocumentFact
from lrwr.core.retrieval import retrievers, service, story_search
from lrwr.pipeline.evaluation.variants import SearchVariant

_LENGTH = 16


@dataclass(frozen=True, slots=True)
class LibraryFingerprint:
    """One state of a library, and what searches it.

    `seen` is what each pipeline has read; `facts` are what is known of the story.
    `embedder` and `reranker` are names, empty where there is none. `patterns` is the
    setting `[manuscript] order`, `canon` the file of the writer's decisions.
    """

    seen: Mapping[Pipeline, Sequence[DocumentVersion]]
    facts: Sequence[DocumentFact]
    embedder: str
    reranker: str
    candidates: int
    limit: int
    patterns: Sequence[str] = ()
    canon: bytes = b""

    def library(self) -> str:
        """Tell this state of the manuscript, as it was read and decided, from others."""
        content = next(iter(self.seen.values()), ())
        read = [(one.id, one.content) for one in content]
        return _hashed(repr((sorted(read), list(self.patterns), self.canon)))

    def recipe(self, step: SearchVariant, weights: Sequence[float]) -> str:
        """Tell all that a step's results depend on beside library and question.

        What it is called is no part of it. `weights` are those of the columns.
        """
        known = self.facts if step.knows_story else ()
        parts = [
            step.way,
            self.recipe_of_passages(step.pipeline),
            f"at most {self.limit}",
            f"columns {', '.join(map(str, weights))}",
            f"weights {_hashed(repr(_weights()))}",
        ]
        if step.dense:
            parts.append(f"meaning {self.embedder}")
        if step.rerank:
            parts.append(f"second look {self.reranker} at {self.candidates}")
        if step.knows_story:
            parts.append(f"known {_hashed(repr(known))}")
        return "; ".join(parts)

    def recipe_of_passages(self, pipeline: Pipeline) -> str:
        """Tell how a pipeline's passages were made; empty where it has read nothing."""
        made = sorted({one.recipe for one in self.seen.get(pipeline, ())})
        return f"passages {_hashed(repr(made))}" if made else ""


def check_pipelines_comparable(
    seen: Mapping[Pipeline, Sequence[DocumentVersion]],
) -> None:
    """Make sure that pipelines can be compared: they have read the same.

    Raises:
        NotFound: One has read nothing.
        LrwrError: They have read different states of the manuscript.
    """
    for pipeline, read in seen.items():
        if not read:
            raise NotFound(
                f"Pipeline {pipeline.value} has read nothing here",
                hint=f"Run `lrwr ingest --pipeline {pipeline.value}`.",
            )
    states = {p: {(one.id, one.content) for one in read} for p, read in seen.items()}
    if len({frozenset(state) for state in states.values()}) > 1:
        raise LrwrError(
            "The pipelines have read different states of the manuscript",
            hint="Run `lrwr ingest --pipeline a` and `lrwr ingest --pipeline b`.",
        )


def _weights() -> tuple[float, ...]:
    return (
        retrievers.RETRIEVER_POOL_SIZE,
        retrievers.LEXICAL_WEIGHT,
        retrievers.PAIRS_WEIGHT,
        retrievers.DENSE_WEIGHT,
        service.RERANK_WEIGHT,
        story_search.PEOPLE_WEIGHT,
        story_search.EARLINESS_WEIGHT,
        story_search.CONTENT_TYPE_BOOST,
        story_search.MAX_SEARCH_FACTS,
    )


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:_LENGTH]
