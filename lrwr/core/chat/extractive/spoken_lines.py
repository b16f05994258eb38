"""Finds the line whose speaker a question asks for, as in "Who says that it is late?"."""

import re
from collections.abc import Iterable, Sequence

from lrwr.core.bible.values import AttributedQuote
from lrwr.core.chat.context.items import ContextItem, build_quote_item, is_sure
from lrwr.core.model.chunks import Chunk, Passage
from lrwr.core.model.text import extract_content_words
from lrwr.core.retrieval.excerpts import (
    PassageSource,
    contains_any_phrase,
    weigh_question_words,
)
from lrwr.core.retrieval.query_words import extract_quoted_phrases

MIN_SPOKEN_SHARE = 0.75
"""Share of the weight of the question's words that a line must have to be the one asked
for, unless the question quotes it."""

SPOKEN_PASSAGES = 5
"""First passages of a search whose quotations are compared with the question."""

_SPEAKER_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:(?:first|then|also|once|actually|really|later)\s+)*"
    r"(?P<verb>say|says|said|ask|asks|asked|tell|tells|told|answer|answers|answered"
    r"|repl(?:y|ies|ied)|claims?|claimed|declares?|declared|remarks?|remarked|exclaims?"
    r"|exclaimed|shouts?|shouted|whispers?|whispered|cries|cried|insists?|insisted"
    r"|speaks?\s+(?:the|these|those)|spoke\s+(?:the|these|those)|utters?|uttered)\b"
    r"(?-i:\s+(?:[A-Z][a-z]+\.?\s+){1,3}(?=that\b|“|\"))?"
    r"|^\W*whose\s+(?:words?|lines?)\b",
    re.IGNORECASE,
)


def find_words_spoken(question: str) -> str:
    """Return the words of `question` whose speaker it asks for; "" if it asks for none."""
    match = _SPEAKER_QUESTION.match(question)
    return question[match.end() :].strip() if match else ""


def select_spoken_chunks(question: str, passages: Sequence[Passage]) -> list[Chunk]:
    """Return the first of `passages` if `question` asks who says something; else none."""
    if not find_words_spoken(question):
        return []
    return [passage.chunk for passage in passages[:SPOKEN_PASSAGES]]


def gather_spoken_lines(
    question: str, passages: Sequence[Passage], quotes: Iterable[AttributedQuote]
) -> tuple[AttributedQuote, ...]:
    """Return those of `quotes` in the first `passages`, if `question` asks who says
    something.
    """
    chunks = select_spoken_chunks(question, passages)
    return tuple(
        quote
        for quote in quotes
        if any(
            quote.evidence.document == chunk.document
            and any(chunk.span.holds(span) for span in quote.evidence.spans)
            for chunk in chunks
        )
    )


async def find_spoken_item(
    question: str, lines: Sequence[AttributedQuote], source: PassageSource
) -> ContextItem | None:
    """Return that one of `lines` whose speaker `question` asks for; None if it asks for
    none, or if no line of a known speaker has the words in question.

    It has a phrase that the question quotes, or most of its words. Of lines that have
    as much, it is one whose speaker is certain, else the first one.

    Raises:
        StoreProblem: The library cannot be read.
    """
    words = find_words_spoken(question)
    attributed = [line for line in lines if line.speaker]
    if not words or not attributed:
        return None
    phrases = extract_quoted_phrases(words)
    weights = await weigh_question_words(extract_content_words(words), source)

    def rank(line: AttributedQuote) -> tuple[float, bool]:
        text = line.evidence.text
        share = weights.coverage(text) + contains_any_phrase(text, phrases)
        return share, is_sure(line.evidence)

    best = max(attributed, key=rank)
    share, _ = rank(best)
    return build_quote_item(best) if share >= MIN_SPOKEN_SHARE else None
