"""The avatar without a language model: the text's own words, and never a claim of its.

Every line but those that say what is missing ends with the numbers of its words.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from lrwr.core.bible.telling import implied_by
from lrwr.core.bible.values import Gap, GapState
from lrwr.core.chat.citing import Numbering, cited, texts_of
from lrwr.core.chat.material import Facet, Piece, is_sure, line_piece, pieces_of, wanted
from lrwr.core.chat.picking import (
    NEAR,
    QUOTES,
    SHORTEST,
    Quote,
    Remark,
    Shelf,
    best_sentences,
    says_nothing,
    weigh,
)
from lrwr.core.chat.speaking import speaks_as
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.chat.wording import fact_in_words, joined, one_line, quoted
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import WRITER
from lrwr.core.model.turns import (
    Citation,
    Cited,
    GapFlag,
    GapFound,
    Intent,
    Intention,
    Plan,
    Speaker,
    Token,
)
from lrwr.core.model.words import content_words
from lrwr.core.retrieval.evidence import WordWeights

FACTS = 6
"""Facts told at most: what fits less is in the bible, whole."""

_ASKING = (
    "related relation relations relationship relationships describe description look"
    " looks like likes kind sort trait traits personality behave happen happens"
    " happened happening mention mentioned recap summary summarise summarize think"
    " thinks feel feels say says said tell tells know knows believe believes habit"
    " habits note notes noted wrote written chapter chapters"
)

ASKING = frozenset(_ASKING.split())
"""Words that ask for a side of somebody: a text need not hold them to answer."""

FITS = 0.25
"""The share of the question's weight that somebody's own line must hold to be an
answer to it: a common word alone is less."""

UNHEARD = 0.5
"""The share of what is asked for that, never said in the text, makes it silent."""

PLAYED = frozenset({Facet.HAPPENED, Facet.CHARACTER, Facet.LINE})
"""What is shown where a scene would have to be played out."""

TRAITS = frozenset({Facet.LOOK, Facet.NAME, Facet.CHARACTER})
"""What a profile has much of, and a question mostly asks one thing of."""

_OF_CHARACTER = frozenset({Intention.VALUES, Intention.BEHAVIOR, Intention.ARC})

_NO_FORMS: Mapping[str, str] = MappingProxyType({})

Piecewise = AsyncGenerator[Token | Cited | GapFound]
"""An answer as it is made: what is cited comes before the line that cites it."""


async def quote_answer(
    question: Question,
    plan: Plan,
    result: RetrievalResult,
    shelf: Shelf,
    remark: Remark,
) -> Piecewise:
    """Yield an answer from `result` in its own words, a fact or a quote at a time.

    In character these are the character's own lines, else facts and then sentences of
    passages. What cannot be answered is said, and is a gap. The tokens' texts, joined,
    are the answer.

    Raises:
        StoreProblem: The library cannot be read.
    """
    told = _Told(
        question=question,
        plan=plan,
        result=result,
        numbering=Numbering(await texts_of(result, shelf.store)),
        shelf=shelf,
        words=await weigh(_asked_for(question, result), shelf),
        whole=await weigh(content_words(question.text), shelf),
    )
    facets = wanted(one.intention for one in plan.choices)
    if plan.intent is Intent.GAP_PROBE:
        facets |= {Facet.GAP}
    answer = told.analytical(facets, remark)
    if plan.intent is Intent.SCENARIO:
        answer = told.scenario(remark)
    elif speaks_as(question, plan):
        answer = told.in_character()
    async with aclosing(answer):
        async for event in answer:
            yield event


def gap_asked(
    question: Question, result: RetrievalResult, plan: Plan | None = None
) -> GapFlag:
    """Return what `question` asks for, as something that the text leaves undefined.

    It is about the one character found, or the one entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    own = content_words(about)
    words = [word for word in _asked_for(question, result) if word not in own]
    return GapFlag(about, " ".join(words) or " ".join(question.text.split()))


def gap_known(gap: Gap) -> GapFlag:
    """Return a gap of the ledger, as an answer has it."""
    implied = "; ".join(implied_by(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))


@dataclass(slots=True)
class _Told:
    """An answer under way. `lines` counts what was said so far.

    `words` are those that say what is asked, `whole` are all of the question's.
    """

    question: Question
    plan: Plan
    result: RetrievalResult
    numbering: Numbering
    shelf: Shelf
    words: WordWeights
    whole: WordWeights
    lines: int = 0

    async def analytical(self, facets: frozenset[Facet], remark: Remark) -> Piecewise:
        """Tell facts, then quote passages; first what the text never says."""
        facts = self._facts(facets)
        nearest = bool(facts or self.result.ranked_chunks)
        silent = self._is_silent() or not nearest
        gaps = [gap_known(gap) for gap in self._open_gaps(facets)]
        if silent and not gaps:
            gaps = [gap_asked(self.question, self.result, self.plan)]
        missing = self._missing(silent, nearest=nearest)
        for event in chain(map(GapFound, gaps), missing, *map(self._fact, facts)):
            yield event
        for event in chain(*map(self._quote, await self._quotes(remark))):
            yield event
        if not self.lines:
            yield GapFound(gap_asked(self.question, self.result, self.plan))
            yield self._line("Your text is silent on this.")

    async def in_character(self) -> Piecewise:
        """Say what they say of it in the text, or that they say nothing."""
        name = self.question.character
        own = [line_piece(o) for o in self.result.lines if o.speaker == name]
        known = filter(_is_answer, own)
        fitting = _fitting(known, self.words, QUOTES, least=FITS)
        before = self.lines
        for event in chain.from_iterable(self._fact(p, own=True) for p in fitting):
            yield event
        if self.lines == before:
            yield GapFound(gap_asked(self.question, self.result, self.plan))
            yield self._line(
                f"{name} says nothing of this, as far as the story has come."
            )

    async def scenario(self, remark: Remark) -> Piecewise:
        """Show what is nearest to a scene that nobody can play out here."""
        names = [profile.name for profile in self.result.character_profiles]
        who = self.question.character or " and ".join(names[:2]) or "anybody"
        yield self._line(
            "Without a language model lrwr cannot play this out. It can only show what"
            f" {who} did and said nearby."
        )
        for event in chain(*map(self._fact, self._facts(PLAYED))):
            yield event
        for event in chain(*map(self._quote, await self._quotes(remark))):
            yield event
        if self.lines == 1:
            yield GapFound(gap_asked(self.question, self.result, self.plan))
            yield self._line("There is nothing nearby, as far as the story has come.")

    def _facts(self, facets: frozenset[Facet]) -> list[Piece]:
        """Return the facts that fit, in the order found.

        Where a question says what it asks for, a trait that does not fit is not it;
        nor is anything else where the text never has those words.
        """
        pieces = [
            one
            for one in pieces_of(self.result)
            if one.facet in facets and self._may_answer(one)
        ]
        if any(one.intention is Intention.AUTHOR_INTENT for one in self.plan.choices):
            pieces = [one for one in pieces if _is_writers(one)]
        pieces = _without_scraps(pieces)
        unheard = set(self.words.weights).intersection(self.result.unknown)
        least = FITS if unheard and self.plan.intent is not Intent.SCENARIO else 0.0
        fitting = set(
            _fitting(pieces, self.words, FACTS, least=least, forms=self._forms)
        )
        return [piece for piece in pieces if piece in fitting]

    @property
    def _forms(self) -> dict[str, str]:
        """Every form of the name of each who was found: a question has any of them."""
        return {
            profile.name: " ".join(form.name for form in profile.aliases)
            for profile in self.result.character_profiles
        }

    def _may_answer(self, piece: Piece) -> bool:
        asked = {choice.intention for choice in self.plan.choices}
        plain = piece.facet not in TRAITS or (
            piece.facet is Facet.CHARACTER and not asked.isdisjoint(_OF_CHARACTER)
        )
        if plain or not self.words.weights:
            return True
        forms = self._forms.get(piece.about, "")
        return self.words.coverage(f"{piece.words} {forms}") > 0

    async def _quotes(self, remark: Remark) -> list[Quote]:
        passages = self.result.ranked_chunks
        text = self.question.text
        return await best_sentences(text, passages, self.whole, self.shelf, remark)

    def _open_gaps(self, facets: frozenset[Facet]) -> list[Gap]:
        """Return the gaps that are asked about: by their names, or all of them."""
        gaps = [gap for gap in self.result.gaps if gap.state is GapState.OPEN]
        asked = [g for g in gaps if self.words.coverage(g.attribute) > 0]
        return asked or (gaps[:FACTS] if Facet.GAP in facets else [])

    @property
    def _unknown(self) -> list[str]:
        return [word for word in self.result.unknown if word not in ASKING]

    def _is_silent(self) -> bool:
        unknown = self._unknown
        unheard = sum(self.words.weights.get(word, 0.0) for word in unknown)
        return unheard >= UNHEARD or says_nothing(self.question.text, unknown)

    def _missing(self, silent: bool, *, nearest: bool) -> Iterator[Token]:
        bounded = self.question.horizon is not None
        if self._unknown:
            never = "Not said so far" if bounded else "Your text never says"
            yield self._line(f"{never}: {', '.join(self._unknown)}.")
        if silent:
            so_far = " so far" if bounded else ""
            rest = " What comes nearest:" if nearest else ""
            yield self._line(f"Your text is silent on this{so_far}.{rest}")

    def _fact(self, piece: Piece, *, own: bool = False) -> Iterator[Token | Cited]:
        """Yield what a fact rests on, then its line; nothing if the words are gone.

        Somebody's `own` line stands for itself.
        """
        found = [
            one
            for evidence in piece.surest[:1]
            for one in cited(evidence, self.numbering, self.shelf.sentences)
        ]
        if not found and not piece.bare:
            return
        new = [one for one in found if not self.numbering.knows(one)]
        numbered = [self.numbering.number(one) for one in found]
        yield from (Cited(self.numbering.number(one)) for one in new)
        numbers = dict.fromkeys(citation.number for citation in numbered)
        marks = "".join(f"[{number}]" for number in numbers)
        told = quoted(joined(numbered)) if own else fact_in_words(piece, numbered)
        yield self._line(f"{told} {marks}".rstrip())

    def _quote(self, quote: Quote) -> Iterator[Token | Cited]:
        document, chapter = quote.passage.chunk.document, quote.passage.chapter
        found = self.numbering.stands(document, quote.span, quote.text, chapter)
        if found is None or self._is_told(found):
            return
        citation = self.numbering.number(found)
        yield Cited(citation)
        yield self._line(f"{one_line(quote.text)} [{citation.number}]")

    def _is_told(self, found: Citation) -> bool:
        """Say whether half of a stretch, or more, is among what is cited already."""
        told = {
            at
            for one in self.numbering.citations
            if one.document == found.document
            for at in range(one.span.start, one.span.end)
        }
        there = told.intersection(range(found.span.start, found.span.end))
        return 2 * len(there) >= len(found.span)

    def _line(self, text: str) -> Token:
        self.lines += 1
        return Token(text if self.lines == 1 else f"\n\n{text}", Speaker.AVATAR)


def _asked_for(question: Question, result: RetrievalResult) -> list[str]:
    """Return the question's words that say what is asked, and not of whom.

    Where a name's words are all there is, such as "ledger" of the Ledger House, they
    are what is asked.
    """
    forms = (
        form
        for profile in result.character_profiles
        for form in (profile.name, *(alias.name for alias in profile.aliases))
    )
    named = {
        word
        for name in (*forms, question.character, *(e.name for e in result.world))
        for word in content_words(name)
    }
    words = [word for word in content_words(question.text) if word not in ASKING]
    return [word for word in words if word not in named] or words


def _fitting(
    pieces: Iterable[Piece],
    words: WordWeights,
    limit: int,
    *,
    least: float = 0.0,
    forms: Mapping[str, str] = _NO_FORMS,
) -> list[Piece]:
    """Return the pieces that fit nearly as well as the best of their facet, sure first.

    `forms` are other names of those whom pieces are about; a line has to fit without.
    Of equals, facets take turns. Where nothing of a facet fits, and `least` is 0.0,
    what happened counts all the same, anything else if no facet fits at all.
    """
    scored: list[tuple[bool, float, int, Piece]] = []
    turns: Counter[Facet] = Counter()
    best: dict[Facet, float] = {}
    for one in pieces:
        name = "" if one.facet is Facet.LINE else forms.get(one.about, "")
        score = words.coverage(f"{one.words} {name}")
        scored.append((not _is_sure(one), -score, turns[one.facet], one))
        turns[one.facet] += 1
        best[one.facet] = max(score, best.get(one.facet, 0.0))
    any_fits = max(best.values(), default=0.0) > 0
    near = [
        row
        for row in scored
        if -row[1] >= max(least, NEAR * best[row[3].facet])
        and (-row[1] > 0 or not any_fits or row[3].facet is Facet.HAPPENED)
    ]
    near.sort(key=lambda row: row[:3])
    return [piece for *_, piece in near][:limit]


def _without_scraps(pieces: Sequence[Piece]) -> list[Piece]:
    """Return `pieces` without lines of a word or two, unless all lines are such."""
    lines = [one for one in pieces if one.facet is Facet.LINE]
    scraps = {one for one in lines if len(one.words.split()) < SHORTEST}
    if len(scraps) == len(lines):
        return list(pieces)
    return [one for one in pieces if one not in scraps]


def _is_writers(piece: Piece) -> bool:
    """Say whether the writer says so, outside of the story, or has left it open."""
    told = piece.decided or piece.facet is Facet.GAP
    return told or any(one.keeper == WRITER for one in piece.evidence)


def _is_sure(piece: Piece) -> bool:
    return piece.decided or any(map(is_sure, piece.evidence))


def _is_answer(line: Piece) -> bool:
    """Say whether a line is long enough to say something, and surely the speaker's."""
    known = all(e.certainty is not Certainty.NOT_EVALUATED for e in line.evidence)
    return known and len(line.words.split()) >= SHORTEST
