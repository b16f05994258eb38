"""What becomes of a model's judgements: two quotes that stand in the text, or silence."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lrwr.core.bible.characters import Roll
from lrwr.core.bible.claims import distinct
from lrwr.core.bible.horizon import Sight
from lrwr.core.bible.ids import ids_of
from lrwr.core.bible.projection import Knowledge
from lrwr.core.continuity.guard import Key, intended_in, key_of
from lrwr.core.continuity.pairs import Pair, Passage
from lrwr.core.continuity.prompts import Judgement
from lrwr.core.continuity.quote_lookup import find_verbatim
from lrwr.core.continuity.uncompared_statements import stems
from lrwr.core.continuity.values import Contradiction, Side, Source
from lrwr.core.model.query_terms import STOP_WORDS
from lrwr.core.model.text import Span
from lrwr.core.nlp.text.prose import quoted_stretches

Judged = tuple[Pair, Judgement]


class Dropped(StrEnum):
    """Why a contradiction that a model claims is not reported."""

    NOT_THERE = "its quote is not in the text"
    BESIDE = "its quote is beside the point"
    SAID = "somebody in the story only says it"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model's judgements come to.

    `agreed` pairs contradict nothing. `dropped` counts claims that are not reported.
    """

    found: tuple[Contradiction, ...] = ()
    agreed: int = 0
    dropped: Mapping[Dropped, int] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """How many pairs were judged."""
        return self.agreed + len(self.found) + sum(self.dropped.values())


def verdict(
    judged: Sequence[Judged],
    known: Knowledge,
    model: str,
    ruled: Sequence[Contradiction] = (),
) -> Verdict:
    """Return what `model` found, each with two quotes that were looked up by code.

    A quote counts only if it stands word for word in its own passage, in the sentence
    that the pair is about, and is more than a name. What stands in quotation marks is
    what somebody says, and never reported: people lie. What rules report, `ruled`, is
    not reported twice.
    """
    dropped: Counter[Dropped] = Counter()
    kept: list[tuple[Pair, tuple[str, str], str]] = []
    claimed = [row for row in judged if row[1].contradicts]
    for pair, judgement in claimed:
        quotes = _quotes(pair, judgement, known)
        if isinstance(quotes, Dropped):
            dropped[quotes] += 1
        else:
            kept.append((pair, quotes, judgement.why))
    found = _contradictions(kept, known, model, ruled)
    return Verdict(found, len(judged) - sum(dropped.values()) - len(found), dropped)


def _quotes(
    pair: Pair, judgement: Judgement, known: Knowledge
) -> tuple[str, str] | Dropped:
    sides = ((pair.canon, judgement.canon_quote), (pair.found, judgement.text_quote))
    words: list[str] = []
    for passage, quote in sides:
        place = find_verbatim(quote, passage.text)
        if place is None:
            return Dropped.NOT_THERE
        text = passage.text[place.start : place.end]
        if not _is_on_it(place, text, passage, pair):
            return Dropped.BESIDE
        if _is_said(place, passage, known):
            return Dropped.SAID
        words.append(" ".join(text.split()))
    return words[0], words[1]


def _is_on_it(place: Span, text: str, passage: Passage, pair: Pair) -> bool:
    """Say whether a quote is of the sentence that counts, and more than the name."""
    core = passage.core
    said = stems(text) - stems(pair.about) - STOP_WORDS
    return core.start < place.end and place.start < core.end and bool(said)


def _is_said(place: Span, passage: Passage, known: Knowledge) -> bool:
    if passage.source is not Source.TEXT or passage.document is None:
        return False
    span = Span(passage.start + place.start, passage.start + place.end)
    spoken = [
        stretch
        for said in known.quotations
        if said.document == passage.document
        for stretch in said.quotation.spans
    ]
    text = known.texts[passage.document].text
    return any(
        one.start < span.end and span.start < one.end
        for one in (*quoted_stretches(text), *spoken)
    )


def _contradictions(
    kept: Iterable[tuple[Pair, tuple[str, str], str]],
    known: Knowledge,
    model: str,
    ruled: Sequence[Contradiction],
) -> tuple[Contradiction, ...]:
    sight = Sight(known.order, known.texts, None)
    roll = Roll(known.cast, known.first_seen, sight, known.canon.names)
    intended = intended_in(known.canon, roll)
    groups: dict[Key, list[tuple[Pair, tuple[str, str], str]]] = {}
    for row in kept:
        pair, quotes, _ = row
        about = roll.person(pair.about) or pair.about
        groups.setdefault(key_of(about, pair.attribute, *quotes), []).append(row)
    ids = ids_of(groups)
    return tuple(
        _contradiction(ids[key], group, model, intended.get(key))
        for key, group in groups.items()
        if not any(_is_known(pair, ruled) for pair, _, _ in group)
    )


def _contradiction(
    id_: str,
    group: Sequence[tuple[Pair, tuple[str, str], str]],
    model: str,
    because: str | None,
) -> Contradiction:
    pair, (canon, text), why = group[0]
    return Contradiction(
        id=id_,
        about=pair.about,
        attribute=pair.attribute,
        canon=_side(canon, [one.canon for one, _, _ in group]),
        found=_side(text, [one.found for one, _, _ in group]),
        intended=because is not None,
        because=because or "",
        judge=model,
        why=why,
    )


def _side(value: str, passages: Sequence[Passage]) -> Side:
    places = (one.evidence for one in passages if one.evidence)
    return Side(value, passages[0].source, distinct(places))


def _is_known(pair: Pair, ruled: Sequence[Contradiction]) -> bool:
    """Say whether rules report the same two passages on the same person."""
    return any(
        one.about == pair.about
        and _stands(pair.found, one.found)
        and _stands(pair.canon, one.canon)
        for one in ruled
    )


def _stands(passage: Passage, side: Side) -> bool:
    return any(
        one.document == passage.document
        and one.spans[0].start < passage.start + passage.core.end
        and passage.start + passage.core.start < one.spans[-1].end
        for one in side.evidence
    )
