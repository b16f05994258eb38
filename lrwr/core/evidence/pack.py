"""The evidence pack of a text about the story: facts with verbatim quotations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lrwr.core.attribution.details import stem_words
from lrwr.core.evidence.kinds import PostGap
from lrwr.core.evidence.results import KnownQuotation
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.nlp.dialogue.quote_lookup import find_verbatim
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.anchors import find_most_similar_span, find_nearest_quote

MAX_QUOTE_WORDS = 20
MIN_QUOTE_WORDS = 3
MIN_FACTS = 5

_CONTEXT_CHARS = 40
"""Characters before and after a quotation by which its place is found without it."""

_CLAUSE_ENDS = ".,;:!?…—–”"
_SENTENCE_ENDS = ".!?…”"
_SENTENCE_START = re.compile(r"\W*[A-Z0-9]")
_MARKUP = re.compile(r"^(?:[>\s]|[-+*]\s)+")


class FactCertainty(StrEnum):
    """Whether the source says a fact, or it follows from what the source says."""

    STATED = "stated"
    IMPLIED = "implied"


@dataclass(frozen=True, slots=True)
class EvidenceFact:
    """A fact of the pack, with its number in citations, from 1.

    `quote` are words of `source`, verbatim, at most `MAX_QUOTE_WORDS`.
    """

    number: int
    statement: str
    quote: str
    source: EvidenceSource
    certainty: FactCertainty = FactCertainty.STATED


@dataclass(frozen=True, slots=True)
class EvidencePack:
    """What a draft may rest on.

    `dropped` counts facts whose quotation is not in their source. `gaps` is what is
    missing, `queries` what was sent to a web search.
    """

    facts: tuple[EvidenceFact, ...] = ()
    dropped: int = 0
    gaps: tuple[PostGap, ...] = ()
    queries: tuple[str, ...] = ()

    def select(self, numbers: Iterable[int]) -> tuple[EvidenceFact, ...]:
        """Return the facts with these numbers, in the order of `numbers`."""
        facts = {fact.number: fact for fact in self.facts}
        return tuple(facts[number] for number in numbers if number in facts)


@dataclass(frozen=True, slots=True)
class FactProposal:
    """A fact as a language model states it; `source` is the index of its source.

    `quote` is not verified yet.
    """

    source: int
    statement: str
    quote: str
    certainty: FactCertainty


def build_pack(
    proposals: Sequence[FactProposal],
    sources: Sequence[EvidenceSource],
    most: int,
) -> EvidencePack:
    """Return the pack of those facts, of the first `most`, whose quotation stands in their
    source.

    The quotation gets the letters of the source; a longer one is cut to
    `MAX_QUOTE_WORDS` words. Facts of the author come first.
    """
    facts: list[EvidenceFact] = []
    dropped = 0
    for proposal in proposals[:most]:
        source = sources[proposal.source]
        quote = cut_quote(proposal.quote, source.text, proposal.statement)
        if not quote or not proposal.statement:
            dropped += 1
            continue
        facts.append(
            EvidenceFact(0, proposal.statement, quote, source, proposal.certainty)
        )
    ordered = sorted(facts, key=lambda fact: not fact.source.is_own)
    numbered = (replace(fact, number=n) for n, fact in enumerate(ordered, start=1))
    return EvidencePack(tuple(numbered), dropped)


def build_pack_by_rules(
    brief: str,
    sources: Sequence[EvidenceSource],
    split: SentenceSplitter,
    *,
    covers_story: bool = False,
    spoken: Sequence[KnownQuotation] = (),
) -> EvidencePack:
    """Return a pack with the sentence of each source that fits `brief` best, made
    without a language model: the statement is the sentence itself. One from a speech
    stands in quotation marks, after its speaker if `spoken` names one for sure.

    Sentences without a word of the brief are left out if `MIN_FACTS` others remain,
    unless the text `covers_story`.
    """
    facts: list[EvidenceFact] = []
    for source in sources:
        sentence = _find_best_sentence(brief, source, split)
        quote = cut_quote(sentence, source.text, brief)
        if quote:
            line = _mark_speech(sentence, source.text, spoken)
            facts.append(EvidenceFact(0, line, quote, source))
    stems = stem_words(brief)
    fitting = [f for f in facts if not stems.isdisjoint(stem_words(f.statement))]
    if not covers_story and len(fitting) >= MIN_FACTS:
        facts = fitting
    return EvidencePack(tuple(replace(f, number=n) for n, f in enumerate(facts, 1)))


def _mark_speech(sentence: str, text: str, spoken: Sequence[KnownQuotation]) -> str:
    """Return a sentence of `text` on one line. One that begins inside a quotation gets its
    opening mark; if it is speech as a whole, both and the name of its speaker.
    """
    line = _strip_unpaired_marks(" ".join(sentence.split()))
    start = text.find(sentence)
    paragraph = text[: max(start, 0)].rpartition("\n\n")[2]
    is_inside = paragraph.count("“") > paragraph.count("”") or paragraph.count('"') % 2
    begins = is_inside or sentence.startswith(("“", '"'))
    if not begins or line.startswith(("“", '"')):
        return line
    closing = re.search('[”"]', line)
    if closing is not None:
        return f"{'“' if closing[0] == '”' else closing[0]}{line}"
    words = " ".join(sentence.strip('“”"').split())
    names = (
        quotation.speaker[0]
        for quotation in spoken
        if quotation.is_sure and words in " ".join(quotation.text.split())
    )
    speaker = next(names, "")
    return f"{speaker}: “{line}”" if speaker else f"“{line}”"


def _strip_unpaired_marks(sentence: str) -> str:
    """Return `sentence` without a quotation mark at its beginning or end whose
    counterpart is in another sentence.
    """
    if sentence.count('"') % 2:
        sentence = sentence.removeprefix('"').removesuffix('"')
    opened, closed = sentence.count("“"), sentence.count("”")
    if opened > closed:
        return sentence.removeprefix("“")
    if closed > opened:
        return sentence.removesuffix("”")
    is_unpaired = "‘" not in sentence and re.search(r"[,.!?…—–]’$", sentence)
    return sentence.removesuffix("’") if is_unpaired else sentence


def _find_best_sentence(
    brief: str, source: EvidenceSource, split: SentenceSplitter
) -> str:
    """Return a sentence of `source` for which it was chosen, or the one that has most
    words of `brief`.
    """
    stems, text = stem_words(brief), source.text
    sentences = [text[span.start : span.end].strip() for span in split(text)]
    plain = [_MARKUP.sub("", s) for s in sentences if not s.startswith("#")]
    long = [s for s in plain if len(s.split()) >= MIN_QUOTE_WORDS]
    long = [s for s in long if _SENTENCE_START.match(s)] or long
    chosen = [s for s in long if s in source.focus] or long
    return max(chosen, key=lambda s: len(stems & stem_words(s)), default="")


def cut_quote(quote: str, text: str, statement: str = "") -> str:
    """Return the words of `text` that `quote` repeats, in the letters of `text` and cut
    to `MAX_QUOTE_WORDS` words; empty if it does not repeat at least three words.

    Of a longer one, the part with most content words of `statement` remains, from the
    beginning of a clause if possible.
    """
    span = find_verbatim(quote, text)
    words = text[span.start : span.end].split() if span else []
    if len(words) < MIN_QUOTE_WORDS:
        return ""
    if len(words) <= MAX_QUOTE_WORDS:
        return " ".join(words)
    stems = stem_words(statement)

    def rate(start: int) -> tuple[int, bool, int]:
        part = " ".join(words[start : start + MAX_QUOTE_WORDS])
        is_clause = start == 0 or words[start - 1][-1] in _CLAUSE_ENDS
        return len(stems & stem_words(part)), is_clause, -start

    start = max(range(len(words) - MAX_QUOTE_WORDS + 1), key=rate)
    return " ".join(words[start : start + MAX_QUOTE_WORDS])


def mark_cut(fact: EvidenceFact) -> str:
    """Return the quotation of a fact, with ellipses where it was cut from a longer
    sentence of its source.
    """
    text = " ".join(fact.source.text.split())
    start = text.find(fact.quote)
    if start < 0 or len(fact.quote.split()) < MAX_QUOTE_WORDS:
        return fact.quote
    before, after = text[:start].rstrip(), text[start + len(fact.quote) :]
    is_start = not before or before[-1] in _SENTENCE_ENDS
    is_end = fact.quote[-1] in _SENTENCE_ENDS or not after or after[0] in _SENTENCE_ENDS
    return f"{'' if is_start else '… '}{fact.quote}{'' if is_end else ' …'}"


class QuoteState(StrEnum):
    """Where the quotation of a fact is now."""

    CURRENT = "current"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"
    PAGE = "page"
    """It is from a page of the web, which is not read again."""


@dataclass(frozen=True, slots=True)
class AnchoredFact:
    """A fact with its quotation at its present place; `fact.source` has that place."""

    fact: EvidenceFact
    state: QuoteState


def anchor_facts(
    facts: Sequence[EvidenceFact], texts: Mapping[DocumentId, DocumentText]
) -> tuple[AnchoredFact, ...]:
    """Return `facts` with the places of their quotations in the present `texts`."""
    return tuple(_anchor(fact, texts) for fact in facts)


def _anchor(
    fact: EvidenceFact, texts: Mapping[DocumentId, DocumentText]
) -> AnchoredFact:
    source = fact.source
    if not source.is_own:
        return AnchoredFact(fact, QuoteState.PAGE)
    document = DocumentId(source.document)
    others = (name for name in sorted(texts) if name != document)
    for name in (document, *others):
        if name not in texts:
            continue
        span = _find_span(fact.quote, texts[name].text, source.span.start)
        if span is None:
            continue
        lines = texts[name].lines.lines_of(span)
        moved = replace(fact, source=replace(source, document=name, lines=lines))
        is_same = name == document and lines == source.lines
        return AnchoredFact(moved, QuoteState.CURRENT if is_same else QuoteState.MOVED)
    if document in texts:
        text = texts[document]
        near = find_most_similar_span(
            fact.quote, text.text, source.span.start, reach=20_000
        )
        if near is not None:
            lines = text.lines.lines_of(near.span)
            changed = replace(fact, source=replace(source, lines=lines))
            return AnchoredFact(changed, QuoteState.CHANGED)
        return _anchor_by_context(fact, text)
    return AnchoredFact(fact, QuoteState.GONE)


def _anchor_by_context(fact: EvidenceFact, text: DocumentText) -> AnchoredFact:
    """Return `fact` at the place between the words that stood before and after its
    quotation: changed if there are other words between them now, else gone.
    """
    source = fact.source
    quoted = _find_span(fact.quote, source.text, 0)
    if quoted is None:
        return AnchoredFact(fact, QuoteState.GONE)
    before = source.text[: quoted.start][-_CONTEXT_CHARS:].strip()
    after = source.text[quoted.end :][:_CONTEXT_CHARS].strip()
    first = _find_span(before, text.text, source.span.start) if before else None
    last = _find_span(after, text.text, source.span.start) if after else None
    if first is None and last is None:
        return AnchoredFact(fact, QuoteState.GONE)
    start = first.end if first else last.start if last else 0
    words = text.text[start : last.start].split() if first and last else []
    longest = MAX_QUOTE_WORDS + len(fact.quote.split())
    is_changed = MIN_QUOTE_WORDS <= len(words) <= longest
    lead = len(text.text) - len(text.text[start:].lstrip()) if start else 0
    place = Span(max(start, lead), max(start, lead) + 1)
    lines = text.lines.lines_of(place)
    present = replace(fact, source=replace(source, lines=lines))
    return AnchoredFact(present, QuoteState.CHANGED if is_changed else QuoteState.GONE)


def _find_span(quote: str, text: str, near: int) -> Span | None:
    """Return the place of a quotation nearest to `near`; white space may differ."""
    start = find_nearest_quote(quote, text, near)
    if start is not None:
        return Span(start, start + len(quote))
    pattern = r"[\s*_]+".join(re.escape(word) for word in quote.split())
    places = [Span(*match.span()) for match in re.finditer(pattern, text)]
    return min(places, key=lambda span: abs(span.start - near), default=None)


def list_pack_documents(pack: EvidencePack) -> frozenset[DocumentId]:
    """Return the documents that the facts of a pack are from."""
    return frozenset(
        DocumentId(f.source.document) for f in pack.facts if f.source.is_own
    )


def iter_source_texts(facts: Iterable[EvidenceFact]) -> Iterator[str]:
    """Yield the text of each source of `facts` once, with the title of a page."""
    seen_texts: dict[str, None] = {}
    for fact in facts:
        source = fact.source
        text = source.text if source.is_own else f"{source.title}\n{source.text}"
        seen_texts.setdefault(text)
    yield from seen_texts
