"""The companion without a language model: it quotes, and does not reason.

It finds passages, picks their best sentences, and says where each stands. When the
evidence is thin it says so first.
"""

from dataclasses import dataclass

from lrwr.core.chat.picking import (
    QUOTES,
    Quote,
    Shelf,
    best_sentences,
    says_nothing,
    weigh,
)
from lrwr.core.model.text import SplitSentences
from lrwr.core.model.words import content_words
from lrwr.core.ports.lexical_index import LexicalIndex
from lrwr.core.ports.record_store import PassageStore
from lrwr.core.ports.reranker import Reranker
from lrwr.core.retrieval.search import PassageFinder, SearchRequest

__all__ = ["QUOTES", "Companion", "Quote", "QuotedAnswer"]


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """What the text itself says to a question.

    `unknown` are the question's words that the library does not hold at all. `silent`
    means that they are all of its words, or that a name is among them, or that there
    is nothing to quote; quotes are then only what comes nearest. How well quotes
    answer is not evaluated: see decision 004.
    """

    quotes: tuple[Quote, ...]
    silent: bool
    unknown: tuple[str, ...]
    remarks: tuple[str, ...]


class Companion:
    """Answers from the text with the text. Reads only."""

    def __init__(
        self,
        *,
        finder: PassageFinder,
        store: PassageStore,
        lexical: LexicalIndex,
        reranker: Reranker | None,
        sentences: SplitSentences,
    ) -> None:
        self._finder = finder
        self._store = store
        self._lexical = lexical
        self._reranker = reranker
        self._sentences = sentences

    async def answer(self, request: SearchRequest) -> QuotedAnswer:
        """Quote what fits the question best, best first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        result = await self._finder.find(request)
        shelf = Shelf(
            self._store,
            self._lexical,
            self._reranker,
            self._sentences,
            request.pipeline,
        )
        weights = await weigh(content_words(request.question), shelf)
        remarks = list(result.remarks)
        quotes = await best_sentences(
            request.question, result.passages, weights, shelf, remarks.append
        )
        return QuotedAnswer(
            quotes=tuple(quotes),
            silent=not quotes or says_nothing(request.question, result.unknown),
            unknown=result.unknown,
            remarks=tuple(remarks),
        )
