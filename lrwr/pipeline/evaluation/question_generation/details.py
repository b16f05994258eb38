"""Questions about things: their colour, what they are of, how many, and where."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from lrwr.core.model.text import WORD_PATTERN, Span
from lrwr.pipeline.evaluation.question_generation.draft import QuestionDraft
from lrwr.pipeline.evaluation.question_generation.lexicon import BODY, VAGUE_WORDS
from lrwr.pipeline.evaluation.question_generation.source_material import (
    AFTER,
    SourceMaterial,
    find_topics,
    is_plural_noun,
    is_possible_noun,
    stem_noun,
)
from lrwr.pipeline.evaluation.questions import AnswerPlace, QuestionKind

MADE = "a detail"
_TOGETHER = "a sentence"

_COLOURS = (
    "red|green|blue|yellow|black|white|brown|grey|gray|purple|scarlet|crimson|pink"
    "|orange|violet|golden|vermilion|mauve|azure"
)
_STUFFS = (
    "brass|silver|copper|iron|tin|oak|oaken|wooden|leather|silk|velvet|satin|lace|ivory"
    "|ebony|marble|china|glass|bronze|gilt|pewter|woollen|linen|straw|mahogany|lead"
)
_NUMBERS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty"
)
_NOUN = rf"(?P<noun>[a-z]{{4,}}){AFTER}"
_DETAILS = (
    (re.compile(rf"\b(?P<told>{_COLOURS}) {_NOUN}"), "What colour {is_} the {noun}?"),
    (re.compile(rf"\b(?P<told>{_STUFFS}) {_NOUN}"), "What {is_} the {noun} made of?"),
    (re.compile(rf"\b(?P<told>(?i:{_NUMBERS})) (?:[a-z]+ )??{_NOUN}"), "How many {noun} are there?"),
    (
        re.compile(
            r"\b[Tt]he (?:[a-z]+ )?(?P<noun>[a-z]{4,}) (?:was|were|stood|lay|hung|sat)"
            r" (?P<told>(?:on|in|under|behind|over|against|beside|between|outside) (?:the"
            r"|his|her|their|its) [a-z]+)"
        ),
        "Where {is_} the {noun}?",
    ),
)  # fmt: skip
_COUNTED = 2
_LIKE = re.compile(r"\b(?:like|as if|as though|as|than|without|would|could|might|if)\b")
"""What stands before things that are not there."""

_NO_THING_TEXT = (
    "inches yards miles feet pounds crowns shillings pence guineas francs ounces steps"
    " paces strokes spot speck glare shine smear foam sky skies light shadow weddings"
    " inlaid lines sentences glow gleam haze cloud clouds stars rows pairs"
)
_NO_THING = frozenset(_NO_THING_TEXT.split())
"""What is no thing that anybody counts or asks the colour of."""

_SELDOM = 5
_RARELY = 5
_SHORTEST = 6
"""Words of a sentence that says something."""


@dataclass(frozen=True, slots=True)
class _Detail:
    way: int
    noun: str
    told: str
    place: AnswerPlace


def draft_detail_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on a detail of a rare thing that the text gives once."""
    by_noun: dict[tuple[int, str], list[_Detail]] = defaultdict(list)
    for detail in _found(material):
        by_noun[detail.way, stem_noun(detail.noun)].append(detail)
    for (pattern_index, stem), details in by_noun.items():
        detail = details[0]
        is_usable = is_possible_noun(detail.noun) and material.stems[stem] <= _SELDOM
        if len(details) > 1 or not is_usable or not _fits(detail):
            continue
        is_ = "are" if is_plural_noun(detail.noun) else "is"
        yield QuestionDraft(
            QuestionKind.FACT,
            _DETAILS[pattern_index][1].format(noun=detail.noun, is_=is_),
            (detail.place,),
            MADE,
            answer=f"{detail.told[:1].upper()}{detail.told[1:]}.",
            about=(detail.noun, str(pattern_index)),
        )


def draft_person_and_thing_questions(
    material: SourceMaterial,
) -> Iterator[QuestionDraft]:
    """Yield questions on what a person has to do with a thing, from one sentence."""
    named = {
        character_profile.name: _pattern(material.forms(character_profile))
        for character_profile in material.people()
    }
    anybody = _pattern(
        [
            f
            for character_profile in material.people()
            for f in material.forms(character_profile)
        ]
    )
    for document in material.order.story:
        text = material.texts.get(document, "")
        for span in material.narration(document):
            sentence = text[span.start : span.end]
            if not anybody.search(sentence):
                continue
            names = [
                name
                for name, name_pattern in named.items()
                if name_pattern.search(sentence)
            ]
            if len(names) == 1 and len(WORD_PATTERN.findall(sentence)) >= _SHORTEST:
                place = AnswerPlace(document, span)
                yield from _together(names[0], named[names[0]], place, material)


def _together(
    name: str, named: re.Pattern[str], place: AnswerPlace, material: SourceMaterial
) -> Iterator[QuestionDraft]:
    text = material.texts[place.document]
    for topic in find_topics(text, place.span, material, rare=_RARELY):
        before = text[place.span.start : topic.span.start]
        if named.search(before) and not _LIKE.search(before):
            yield QuestionDraft(
                QuestionKind.FACT,
                f"What does {name} have to do with {topic.said}?",
                (place,),
                _TOGETHER,
                answer=material.said(place),
                about=(name, topic.stem),
            )
            return


def _found(material: SourceMaterial) -> Iterator[_Detail]:
    for document in material.order.story:
        text = material.texts.get(document, "")
        for span in material.sentences.get(document, ()):
            yield from _in(text, AnswerPlace(document, span))


def _in(text: str, place: AnswerPlace) -> Iterator[_Detail]:
    span: Span = place.span
    if len(WORD_PATTERN.findall(text, span.start, span.end)) < _SHORTEST:
        return
    for pattern_index, (pattern, _) in enumerate(_DETAILS):
        for match in pattern.finditer(text, span.start, span.end):
            before = text[span.start : match.start()]
            if match["noun"] not in VAGUE_WORDS | BODY | _NO_THING and not _LIKE.search(
                before
            ):
                description = " ".join(match["told"].split())
                yield _Detail(pattern_index, match["noun"], description, place)


def _fits(detail: _Detail) -> bool:
    return detail.way != _COUNTED or is_plural_noun(detail.noun)


def _pattern(forms: list[str]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, forms)) or "(?!)"
    titled = "".join(rf"(?<!{title} )" for title in ("Mr", r"Mr\.", "Mrs", r"Mrs\."))
    return re.compile(rf"(?<!\w){titled}(?:{either})(?!\w)")
