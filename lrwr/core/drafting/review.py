"""The review of a draft by a language model: which words show its beats, and which
contradict its brief. Words that are not in the draft and in the brief do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from lrwr.core.attribution.quotations import find_quotation
from lrwr.core.drafting.brief import Brief, render_brief
from lrwr.core.drafting.brief_items import BriefItem, BriefSection
from lrwr.core.drafting.findings import DraftFinding, FindingKind
from lrwr.core.drafting.model_steps import ModelSteps, StepPrompt
from lrwr.core.drafting.prompts import (
    NUMBER_FIELD,
    TEXT_FIELD,
    PromptName,
    PromptTexts,
    build_list_shape,
    reduce_brief,
)
from lrwr.core.model.language_model import (
    CHARACTERS_PER_TOKEN,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
)
from lrwr.core.model.text import STOP_WORDS, LineIndex, Span, normalize_words
from lrwr.core.ports.models import ReplyShape

COMPARED_TOKENS = 2_400
"""Tokens of the entries of a brief, and of passages, that a draft is compared with."""
PASSAGE_TOKENS = 1_300
"""Tokens of them for passages about what the draft says, at most."""
MAX_CONFLICTS = 8
BEAT_TOKENS, CONFLICT_TOKENS = 50, 160
"""Usual tokens of what is said about a beat, and about all conflicts."""

_COMPARED = frozenset(
    {
        BriefSection.RULES,
        BriefSection.PEOPLE,
        BriefSection.PLACE,
        BriefSection.ABOUT,
        BriefSection.BEFORE,
    }
)


@dataclass(frozen=True, slots=True)
class BeatProof:
    """What a language model says about beat `number`, from 1: the words of the draft
    that show it, empty if none do.
    """

    number: int
    quote: str


@dataclass(frozen=True, slots=True)
class BriefConflict:
    """Words at `span` of a draft that contradict `words` of the entry `item`."""

    span: Span
    item: BriefItem
    words: str


@dataclass(frozen=True, slots=True)
class DraftReview:
    """A review. `dropped` says of each conflict that was quoted wrongly, and is not among
    the others, what is wrong with it.
    """

    proofs: tuple[BeatProof, ...] = ()
    conflicts: tuple[BriefConflict, ...] = ()
    dropped: tuple[str, ...] = ()


def select_compared(brief: Brief, passages: Sequence[BriefItem] = ()) -> Brief:
    """Return `brief` with only what a draft can contradict, the most important first,
    and as many of `passages`, the best first, as fit; those that it has are left out.
    """
    present = "\n".join(item.text for item in brief.items if item.section in _COMPARED)
    room = PASSAGE_TOKENS * CHARACTERS_PER_TOKEN
    chosen: list[BriefItem] = []
    for item in passages:
        size = len(item.text) + len(item.place) + 12
        if size <= room and item.text not in present:
            chosen.append(item)
            room -= size
    tokens = COMPARED_TOKENS - PASSAGE_TOKENS + room // CHARACTERS_PER_TOKEN
    reduced = reduce_brief(brief, _COMPARED, tokens)
    chosen.sort(key=lambda item: item.section)
    return replace(reduced, items=(*reduced.items, *chosen))


def build_review_prompt(texts: PromptTexts, brief: Brief, draft: str) -> StepPrompt:
    """Return the prompt that asks which words of a draft show the beats of the card, and
    which contradict `brief`, as `select_compared` returns it.
    """
    beats = brief.card.beats
    listed = "\n".join(f"{n}. {beat}" for n, beat in enumerate(beats, start=1))
    task = texts.render(PromptName.REVIEW, beats=len(beats))
    blocks = (
        ("brief", render_brief(brief)),
        ("beats", listed),
        ("draft", draft),
    )
    tokens = BEAT_TOKENS * len(beats) + CONFLICT_TOKENS
    return StepPrompt("review", task, blocks, _build_review_shape(), tokens)


def parse_review(reply: str, brief: Brief, draft: str) -> DraftReview:
    """Return the review of `draft` in a reply.

    A conflict counts only with words of the draft and of an entry of `brief`, as
    `select_compared` returns it, and the first one of the same words.

    Raises:
        MalformedReply: The reply has another shape, leaves a beat out, or quotes words
            for a beat that are not in `draft`.
    """
    match extract_json_object(reply):
        case {"beats": [*rows], "conflicts": [*others], **more} if not more:
            proofs = sorted(map(_parse_proof, rows), key=lambda proof: proof.number)
        case _:
            raise MalformedReply("it is not an object of `beats` and `conflicts`")
    count = len(brief.card.beats)
    if [proof.number for proof in proofs] != list(range(1, count + 1)):
        raise MalformedReply(f"it must have each of the {count} beats once")
    for proof in proofs:
        if proof.quote and find_quotation(draft, proof.quote) is None:
            raise MalformedReply(
                f"the quote of beat {proof.number} is not in the draft"
            )
    parsed = [_parse_conflict(row, brief.items, draft) for row in others]
    conflicts: list[BriefConflict] = []
    for conflict in parsed:
        if isinstance(conflict, BriefConflict) and not any(
            conflict.span.overlaps(other.span) for other in conflicts
        ):
            conflicts.append(conflict)
    chosen = tuple(conflicts[:MAX_CONFLICTS])
    return DraftReview(
        tuple(proofs), chosen, tuple(row for row in parsed if isinstance(row, str))
    )


def _parse_proof(row: object) -> BeatProof:
    match row:
        case {"beat": int(number), "quote": str(quote), **more} if not more:
            return BeatProof(number, quote.strip(" “”\"'"))
    raise MalformedReply("a beat is not `beat` and `quote`")


def _parse_conflict(
    row: object, items: Sequence[BriefItem], draft: str
) -> BriefConflict | str:
    """Return a conflict, or why it does not count: its words must be in the draft and in
    the entry.
    """
    match row:
        case {"draft": str(own), "entry": int(number), "brief": str(words), **more}:
            pass
        case _:
            raise MalformedReply("a conflict is not `draft`, `entry` and `brief`")
    if more or not 1 <= number <= len(items):
        return f"there is no entry {number}"
    for words_of_side in (own, words):
        if not _is_telling(words_of_side):
            return (
                f"“{words_of_side}” is too short: at least two telling words are needed"
            )
    item = items[number - 1]
    span, other = find_quotation(draft, own), find_quotation(item.text, words)
    if span is None:
        return f"“{own}” is not in the draft"
    if other is None:
        return f"“{words}” is not in entry {number}, “{item.text}”"
    return BriefConflict(span, item, item.text[other.start : other.end])


def _is_telling(quote: str) -> bool:
    """Return whether a quotation has at least two words, and not only function words."""
    words = normalize_words(quote)
    return len(words) > 1 and not STOP_WORDS.issuperset(words)


async def review_draft(
    steps: ModelSteps, texts: PromptTexts, brief: Brief, draft: str
) -> tuple[list[DraftFinding], tuple[str, ...]]:
    """Return a finding for each beat of the card for which the language model has no
    words of `draft` to quote, and for each of its words that contradict `brief`, as
    `select_compared` returns it; and of each conflict that was dropped, because it was
    quoted wrongly, why.

    Raises:
        ServiceUnavailable: The model did not answer usably.
        StoreProblem: A reply cannot be stored.
    """
    if not brief.card.beats and not brief.items:
        return [], ()
    prompt = build_review_prompt(texts, brief, draft)
    parse = partial(parse_review, brief=brief, draft=draft)
    review = await steps.request(prompt, parse)
    unmet = [
        DraftFinding(
            FindingKind.CARD,
            f"{steps.name} found no words for beat {proof.number},"
            f" “{brief.card.beats[proof.number - 1]}”",
        )
        for proof in review.proofs
        if not proof.quote
    ]
    conflicts = [_describe_conflict(c, draft, steps.name) for c in review.conflicts]
    return [*unmet, *conflicts], review.dropped


def _describe_conflict(conflict: BriefConflict, draft: str, model: str) -> DraftFinding:
    span = conflict.span
    return DraftFinding(
        FindingKind.BRIEF,
        f"{model} sees a contradiction to “{conflict.words}”",
        LineIndex.of(draft).lines_of(span),
        " ".join(draft[span.start : span.end].split()),
        conflict.item.place,
        is_remark=conflict.item.section is BriefSection.NOTES,
    )


@cache
def _build_review_shape() -> ReplyShape:
    beat = {"beat": NUMBER_FIELD, "quote": TEXT_FIELD}
    conflict = {"draft": TEXT_FIELD, "entry": NUMBER_FIELD, "brief": TEXT_FIELD}
    return build_list_shape(
        "Review",
        beats=build_strict_schema(beat),
        conflicts=build_strict_schema(conflict),
    )
