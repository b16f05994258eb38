"""What results depend on beside the question: told in few letters, to compare runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.ports.stores import DocumentVersion
from lrwr.core.ports.story_stores import DocumentFact
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
        """Return a fingerprint of the manuscript as ingested, its patterns and the canon."""
        content = next(iter(self.seen.values()), ())
        read = [(version.id, version.content) for version in content]
        return _hashed(repr((sorted(read), list(self.patterns), self.canon)))

    def recipe(self, step: SearchVariant, weights: Sequence[float]) -> str:
        """Describe what a step's results depend on besides library and question.

        The step's name is not included. `weights` are those of the columns.
        """
        facts = self.facts if step.knows_story else ()
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
            parts.append(f"known {_hashed(repr(facts))}")
        return "; ".join(parts)

    def recipe_of_passages(self, pipeline: Pipeline) -> str:
        """Describe how a pipeline's passages were made; empty if it has ingested nothing."""
        recipes = sorted({version.recipe for version in self.seen.get(pipeline, ())})
        return f"passages {_hashed(repr(recipes))}" if recipes else ""


def check_pipelines_comparable(
    versions_by_pipeline: Mapping[Pipeline, Sequence[DocumentVersion]],
) -> None:
    """Check that the pipelines can be compared: they have ingested the same state.

    Raises:
        NotFound: A pipeline has ingested nothing.
        LrwrError: They have ingested different states of the manuscript.
    """
    for pipeline, read in versions_by_pipeline.items():
        if not read:
            raise NotFound(
                f"Pipeline {pipeline.value} has read nothing here",
                hint=f"Run `lrwr ingest --pipeline {pipeline.value}`.",
            )
    states = {
        p: {(version.id, version.content) for version in read}
        for p, read in versions_by_pipeline.items()
    }
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
