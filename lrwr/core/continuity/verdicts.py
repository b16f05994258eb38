"""Verifies the contradictions that a language model claims: both quotations must be in
the text.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lrwr.core.bible.horizon import HorizonCast, HorizonView
from lrwr.core.bible.profiles import deduplicate_evidence
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.values import assign_short_ids
from lrwr.core.continuity.contradictions import (
    ContradictionKey,
    build_contradiction_key,
    collect_intended_contradictions,
)
from lrwr.core.continuity.judge import PairJudgement
from lrwr.core.continuity.pairs import PairPassage, StatementPair, extract_content_stems
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    StatementSource,
)
from lrwr.core.model.text import STOP_WORDS, Span
from lrwr.core.nlp.dialogue.quote_lookup import find_verbatim
from lrwr.core.nlp.text.prose import find_quoted_spans

JudgedPair = tuple[StatementPair, PairJudgement]


class DropReason(StrEnum):
    """Why a contradiction that the model claims is not reported: a quotation is not in
    the text, is about something else, or is dialogue.
    """

    NOT_THERE = "its quotation is not in the text"
    BESIDE = "its quotation is about something else"
    SAID = "its quotation is dialogue"


@dataclass(frozen=True, slots=True)
class VerifiedJudgements:
    """Result of verifying a model's judgements.

    `found` are the contradictions to report, `dropped` the number of rejected claims by
    reason. `agreed` is the number of pairs without contradiction, `repeated` that of
    pairs whose contradiction repeats one in `found` or one that rules found.
    """

    found: tuple[Contradiction, ...] = ()
    agreed: int = 0
    repeated: int = 0
    dropped: Mapping[DropReason, int] = field(default_factory=dict)

    @property
    def judged(self) -> int:
        """The number of pairs that the model judged."""
        return (
            self.agreed + self.repeated + len(self.found) + sum(self.dropped.values())
        )


def verify_judgements(
    judged_pairs: Sequence[JudgedPair],
    knowledge: StoryKnowledge,
    model: str,
    rule_contradictions: Sequence[Contradiction] = (),
) -> VerifiedJudgements:
    """Return those contradictions in `judged_pairs` whose two quotations are valid, and
    counts of the other pairs.

    A quotation must be verbatim in its passage, overlap the statement, and contain more
    than the name. Quotations of dialogue are rejected because characters may lie.
    Contradictions in `rule_contradictions`, found by rules, are not repeated. `model`
    is the name of the language model that judged the pairs.
    """
    dropped: Counter[DropReason] = Counter()
    verified_rows: list[tuple[StatementPair, tuple[str, str], str]] = []
    claimed_rows = [row for row in judged_pairs if row[1].contradicts]
    for pair, judgement in claimed_rows:
        quotes = _verify_quotes(pair, judgement, knowledge)
        if isinstance(quotes, DropReason):
            dropped[quotes] += 1
        else:
            verified_rows.append((pair, quotes, judgement.why))
    contradictions = _build_contradictions(
        verified_rows, knowledge, model, rule_contradictions
    )
    return VerifiedJudgements(
        contradictions,
        agreed=len(judged_pairs) - len(claimed_rows),
        repeated=len(verified_rows) - len(contradictions),
        dropped=dropped,
    )


def _verify_quotes(
    pair: StatementPair, judgement: PairJudgement, knowledge: StoryKnowledge
) -> tuple[str, str] | DropReason:
    sides = ((pair.canon, judgement.canon_quote), (pair.found, judgement.text_quote))
    words: list[str] = []
    for passage, quote in sides:
        place = find_verbatim(quote, passage.text)
        if place is None:
            return DropReason.NOT_THERE
        text = passage.text[place.start : place.end]
        if not _is_relevant(place, text, passage, pair):
            return DropReason.BESIDE
        if _is_dialogue(place, passage, knowledge):
            return DropReason.SAID
        words.append(" ".join(text.split()))
    return words[0], words[1]


def _is_relevant(
    place: Span, text: str, passage: PairPassage, pair: StatementPair
) -> bool:
    """Return whether the quote overlaps the statement and has more than the name."""
    core = passage.core
    content_stems = (
        extract_content_stems(text) - extract_content_stems(pair.about) - STOP_WORDS
    )
    return core.overlaps(place) and bool(content_stems)


def _is_dialogue(place: Span, passage: PairPassage, knowledge: StoryKnowledge) -> bool:
    if passage.source is not StatementSource.TEXT or passage.document is None:
        return False
    span = Span(passage.start + place.start, passage.start + place.end)
    spoken_spans = [
        stretch
        for quotation in knowledge.quotations
        if quotation.document == passage.document
        for stretch in quotation.quotation.spans
    ]
    text = knowledge.texts[passage.document].text
    return any(
        spoken_span.overlaps(span)
        for spoken_span in (*find_quoted_spans(text), *spoken_spans)
    )


def _build_contradictions(
    verified_rows: Iterable[tuple[StatementPair, tuple[str, str], str]],
    knowledge: StoryKnowledge,
    model: str,
    rule_contradictions: Sequence[Contradiction],
) -> tuple[Contradiction, ...]:
    horizon_view = HorizonView(knowledge.order, knowledge.texts, None)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    intended = collect_intended_contradictions(knowledge.canon, horizon_cast)
    groups: dict[
        ContradictionKey, list[tuple[StatementPair, tuple[str, str], str]]
    ] = {}
    for row in verified_rows:
        pair, quotes, _ = row
        about = horizon_cast.resolve_name(pair.about) or pair.about
        groups.setdefault(
            build_contradiction_key(about, pair.attribute, *quotes), []
        ).append(row)
    ids = assign_short_ids(groups)
    return tuple(
        _build_contradiction(ids[key], group, model, intended.get(key))
        for key, group in groups.items()
        if not any(
            _is_found_by_rules(pair, rule_contradictions) for pair, _, _ in group
        )
    )


def _build_contradiction(
    id_: str,
    group: Sequence[tuple[StatementPair, tuple[str, str], str]],
    model: str,
    because: str | None,
) -> Contradiction:
    pair, (canon, text), why = group[0]
    return Contradiction(
        id=id_,
        about=pair.about,
        attribute=pair.attribute,
        canon=_side(canon, [pair.canon for pair, _, _ in group]),
        found=_side(text, [pair.found for pair, _, _ in group]),
        intended=because is not None,
        because=because or "",
        judge=model,
        why=why,
    )


def _side(value: str, passages: Sequence[PairPassage]) -> ContradictionSide:
    places = (passage.evidence for passage in passages if passage.evidence)
    return ContradictionSide(value, passages[0].source, deduplicate_evidence(places))


def _is_found_by_rules(
    pair: StatementPair, rule_contradictions: Sequence[Contradiction]
) -> bool:
    """Return whether rules report the same two passages about the same character."""
    return any(
        contradiction.about == pair.about
        and _overlaps(pair.found, contradiction.found)
        and _overlaps(pair.canon, contradiction.canon)
        for contradiction in rule_contradictions
    )


def _overlaps(passage: PairPassage, side: ContradictionSide) -> bool:
    return any(
        text_evidence.document == passage.document
        and text_evidence.spans[0].start < passage.start + passage.core.end
        and passage.start + passage.core.start < text_evidence.spans[-1].end
        for text_evidence in side.evidence
    )
