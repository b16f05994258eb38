"""A small book for the room's tests, and what may be found in it for a question."""

from collections.abc import Mapping, Sequence

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.values import Bible
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import (
    Chunk,
    ChunkId,
    ChunkKind,
    Passage,
    ScoredChunk,
    SearchScope,
    TextHash,
)
from lrwr.core.model.documents import DocumentId, DocumentType, Horizon
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.text import WORD_PATTERN, LineRange, Span, normalize_word
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSource,
    Citation,
    QuestionPlan,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.ports.models import Reranker
from lrwr.core.retrieval.excerpts import PassageSource
from tests.fakes.stories import Book, Stories

ONE, TWO = "1.md", "2.md"

BOOK = {
    ONE: (
        "# One\n\n"
        "Nell Tallow climbed the ladder, nineteen rungs of it. Her eyes were grey as"
        " slate.\n\n"
        "“The lamp must never go out,” said Nell. “Not once.”\n\n"
        "Mags opened the ledger and looked at the page for a long time.\n\n"
        "“The fog is only weather,” said Mags.\n"
    ),
    TWO: (
        "# Two\n\n"
        "Corin Vale came over the marsh with a lantern in his hand. Nobody had asked"
        " him.\n\n"
        "“I keep no ledger,” said Nell.\n\n"
        "The pony drowned in the fog.\n"
    ),
}


def a_story() -> Stories:
    """Return the book with what rules would find in it."""
    stories = Stories(Book(BOOK))
    stories.name("Nell Tallow", "Nell")
    stories.name("Mags")
    stories.name("Corin Vale")
    character, event = FactAbout.CHARACTER, FactAbout.EVENT
    stories.fact(
        ONE, "Her eyes were grey as slate.", character, "attribute", "grey", "Nell",
        details=(("attribute", "eyes"),),
    )  # fmt: skip
    stories.fact(
        TWO, "Corin Vale came over the marsh", character, "attribute", "lantern-bearer",
        "Corin Vale", details=(("attribute", "occupation"),),
    )  # fmt: skip
    stories.fact(ONE, "Nell Tallow climbed the ladder", event, "event", "")
    stories.fact(TWO, "The pony drowned in the fog.", event, "event", "")
    stories.says(ONE, "The lamp must never go out,", "Nell Tallow")
    stories.says(ONE, "Not once.", "Nell Tallow")
    stories.says(ONE, "The fog is only weather,", "Mags", "Nell Tallow")
    stories.says(TWO, "I keep no ledger,", "Nell Tallow")
    return stories


def a_bible(stories: Stories, horizon: Horizon | None = None) -> Bible:
    """Return what is known up to `horizon`, by the real projection."""
    return project_bible(stories.knowledge(), horizon)


def passage(book: Book, path: str, words: str, score: float = 1.0) -> Passage:
    """Return the passage that `words` of a document are."""
    span = book.span(path, words)
    document = book.documents[DocumentId(path)]
    chunk = Chunk(
        id=ChunkId(f"{path}:{span.start}"),
        document=document.id,
        ordinal=span.start,
        span=span,
        lines=document.lines.lines_of(span),
        chapter=0,
        scene=0,
        kind=ChunkKind.PROSE,
        text=words,
        text_hash=TextHash(words),
        tokens=len(words) // 4,
    )
    return Passage(chunk, DocumentType.SCENE, int(path[0]), "", 1, score)


def paragraphs(book: Book, path: str) -> list[Passage]:
    """Return each paragraph of a document as a passage, headings not."""
    text = book.documents[DocumentId(path)].text
    told = [one.strip() for one in text.split("\n\n") if not one.startswith("#")]
    return [passage(book, path, one, 1 / (n + 1)) for n, one in enumerate(told)]


def found(
    stories: Stories,
    *names: str,
    horizon: Horizon | None = None,
    speaker: str = "",
    passages: Sequence[Passage] = (),
    unknown: Sequence[str] = (),
) -> RetrievalResult:
    """Return what the bible holds on `names`, and the passages given."""
    bible = a_bible(stories, horizon)
    return RetrievalResult(
        character_profiles=tuple(c for c in bible.characters if c.name in names),
        ranked_chunks=tuple(passages),
        moments=tuple(m for m in bible.timeline if names),
        lines=tuple(q for q in bible.quotes if q.speaker == speaker),
        unknown=tuple(unknown),
    )


def a_plan(
    *intentions: SourceIntention,
    intent: AnswerIntent = AnswerIntent.ANALYTICAL,
    planner: str = "rules",
) -> QuestionPlan:
    """Return a plan that is sure of its intentions."""
    choices = tuple(SourceChoice(AnswerSource.PROFILES, one, 1.0) for one in intentions)
    return QuestionPlan(intent, choices, (), planner)


def cite(number: int, text: str, path: str = ONE, start: int = 0) -> Citation:
    """Return a citation of `text` as it stands at `start`."""
    span = Span(start, start + len(text))
    return Citation(number, DocumentId(path), span, LineRange(1, 1), text, 1)


class BookWords:
    """Counts words by paragraph; finds nothing, which nobody here asks for."""

    def __init__(self, book: Book) -> None:
        self._told = [
            {normalize_word(word) for word in WORD_PATTERN.findall(paragraph)}
            for text in book.all_texts().values()
            for paragraph in text.text.split("\n\n")
        ]

    async def search_words(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Find nothing."""
        return []

    async def search_pairs(
        self,
        words: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Find nothing."""
        return []

    async def search_phrases(
        self,
        phrases: Sequence[str],
        *,
        pipeline: Pipeline,
        scope: SearchScope,
        limit: int,
    ) -> list[ScoredChunk]:
        """Find nothing."""
        return []

    async def document_frequencies(
        self, words: Sequence[str], *, pipeline: Pipeline
    ) -> tuple[Mapping[str, int], int]:
        """Count the paragraphs that hold each word."""
        counts = {word: sum(word in told for told in self._told) for word in words}
        return counts, len(self._told)


def a_shelf(book: Book, reranker: Reranker | None = None) -> PassageSource:
    """Return what quoting is lent."""
    return PassageSource(
        book, BookWords(book), reranker, find_sentence_spans, Pipeline.AGENTIC
    )
