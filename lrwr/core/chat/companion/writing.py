"""An answer without a language model as it is written: a line, and what it rests on."""

from collections.abc import Iterator, Sequence

from lrwr.core.bible.values import Evidence
from lrwr.core.chat.answering.citing import Numbering, cited
from lrwr.core.chat.companion.picking import Quote
from lrwr.core.chat.companion.wording import (
    body_in_words,
    fact_in_words,
    head_in_words,
    joined,
    quoted,
    shown,
)
from lrwr.core.chat.finding.material import Facet, Piece
from lrwr.core.english.noted import plain
from lrwr.core.model.text import SplitSentences
from lrwr.core.model.turns import Citation, Cited, Speaker, Token

Written = Iterator[Token | Cited]
"""What is cited comes before the line that cites it."""


class Scribe:
    """Writes the lines of one answer; `lines` counts them."""

    def __init__(self, numbering: Numbering, sentences: SplitSentences) -> None:
        self._numbering = numbering
        self._sentences = sentences
        self.lines = 0

    def say(self, text: str) -> Token:
        """Return a line that rests on nothing: what is missing, or what follows."""
        self.lines += 1
        return Token(text if self.lines == 1 else f"\n\n{text}", Speaker.AVATAR)

    def facts(self, together: Sequence[Piece]) -> Written:
        """Yield a line of facts of one kind, without those whose words are gone."""
        standing = [(one, self._found(one)) for one in together]
        standing = [(one, found) for one, found in standing if found or one.bare]
        if not standing:
            return
        numbered = []
        for piece, found in standing:
            yield from self._new(found)
            numbered.append((piece, [self._numbering.number(one) for one in found]))
        if len(numbered) == 1:
            ((piece, found),) = numbered
            yield self.say(f"{fact_in_words(piece, found)} {_marks(found)}".rstrip())
            return
        heads = {head_in_words(piece) for piece, _ in numbered}
        if len(heads) > 1:
            told = (f"{p.label}: {_with_marks(p, f)}" for p, f in numbered)
            yield self.say(f"{plain(together[0].about)}, {'; '.join(told)}")
            return
        bodies = [(body_in_words(p, f), _marks(f)) for p, f in numbered]
        yield self.say(f"{heads.pop()}: {_in_a_row(bodies)}")

    def own(self, line: Piece, note: str = "") -> Written:
        """Yield somebody's own words, and `note` after them."""
        found = self._found(line)
        if found:
            yield from self._new(found)
            numbered = [self._numbering.number(one) for one in found]
            parts = (quoted(joined(numbered)), note, _marks(numbered))
            yield self.say(" ".join(filter(None, parts)))

    def quote(self, quote: Quote) -> Written:
        """Yield a quote, unless half of it or more is among what is cited already."""
        document, chapter = quote.passage.chunk.document, quote.passage.chapter
        found = self._numbering.stands(document, quote.span, quote.text, chapter)
        if found is None or self._is_told(found):
            return
        citation = self._numbering.number(found)
        yield Cited(citation)
        yield self.say(f"{shown(quote.text)} [{citation.number}]")

    def _found(self, piece: Piece) -> list[Citation]:
        if piece.facet is not Facet.PRESENT:
            evidence = piece.surest[:1]
            return [one for e in evidence for one in self._cited(e)]
        first = (next(self._cited(evidence), None) for evidence in piece.evidence)
        return [one for one in first if one is not None]

    def _cited(self, evidence: Evidence) -> Iterator[Citation]:
        return cited(evidence, self._numbering, self._sentences)

    def _new(self, found: Sequence[Citation]) -> Iterator[Cited]:
        for one in found:
            if not self._numbering.knows(one):
                yield Cited(self._numbering.number(one))

    def _is_told(self, found: Citation) -> bool:
        told = {
            at
            for one in self._numbering.citations
            if one.document == found.document
            for at in range(one.span.start, one.span.end)
        }
        there = told.intersection(range(found.span.start, found.span.end))
        return 2 * len(there) >= len(found.span)


def _in_a_row(bodies: Sequence[tuple[str, str]]) -> str:
    """Join what is told one after another; what is no sentence ends with a semicolon."""
    told = ""
    for body, marks in bodies:
        whole = body.rstrip("”’\"'*_)").endswith((".", "!", "?", "…"))
        told += f"{body} {marks}".rstrip() + (" " if whole else "; ")
    return told.rstrip(" ;")


def _with_marks(piece: Piece, found: Sequence[Citation]) -> str:
    return f"{body_in_words(piece, found)} {_marks(found)}".rstrip()


def _marks(found: Sequence[Citation]) -> str:
    numbers = dict.fromkeys(citation.number for citation in found)
    return "".join(f"[{number}]" for number in numbers)
