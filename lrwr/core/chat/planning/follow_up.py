"""Rewrites a follow-up question by rules, so that it can be understood without the
earlier turns.

The rules are for English.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.attribution.citations import strip_answer_citation_marks
from lrwr.core.bible.name_lookup import (
    NamedEntity,
    NamedEntityKind,
    match_people_exactly,
    recognize_named_entities,
)
from lrwr.core.bible.values import Bible
from lrwr.core.chat.extractive.relatives import name_relative
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.cast import Gender
from lrwr.core.model.turns import Turn

_GENDERS = {
    "he": Gender.MALE, "him": Gender.MALE, "his": Gender.MALE,
    "she": Gender.FEMALE, "her": Gender.FEMALE, "hers": Gender.FEMALE,
}  # fmt: skip
_THING_PRONOUNS = frozenset({"it", "its"})
_POSSESSIVES = frozenset({"his", "hers", "its", "their", "theirs"})
_PRONOUN = re.compile(
    r"\b(?:he|him|his|she|hers?|they|them|theirs?|it|its)\b(?!['’](?!s\b))", re.I
)
_IMPERSONAL_IT = re.compile(
    r"\b(?:is|was)\s+it\s+(?:ever|true|said|told|clear|possible|possibly|that)\b"
    r"|\bit\s+(?:is|was|seems?)\s+(?:ever\s+)?(?:that|true|said|clear|possible)\b",
    re.I,
)
"""Phrases in which "it" refers to nothing."""

_AFTER_OBJECT = re.compile(
    r"\s*(?:$|[^\w\s]|(?:a|an|the|and|or|about|after|again|alone|at|away|back|before"
    r"|by|do|down|first|for|from|go|how|if|in|into|keep|know|leave|lie|more|most|now|of"
    r"|off|on|out|say|so|take|than|that|then|to|up|what|when|where|who|why|with|want)\b)",
    re.I,
)
"""What can follow the object "her"; before other words "her" is possessive."""

_OPENING = re.compile(r"^(?:(?:and|but|so|then|ok(?:ay)?|well),?\s+)+", re.I)
_ELLIPSIS = re.compile(
    r"^(?:and\s+)?(?:(?:what|how)\s+about\s+)?(?P<rest>[^?.!]{1,60})[?.!\s]*$", re.I
)
_BARE = re.compile(
    r"^(?:and|but|so)?\s*(?P<ask>why(?:\s+not)?|when|where|how|with\s+whom|since\s+when"
    r"|who\s+else|how\s+(?:so|come))[?.!\s]*$",
    re.I,
)
_CHAPTER = re.compile(r"^(?:in|by|after|before|at\s+the\s+end\s+of)\s+\S.*$", re.I)
_MAX_NAME_WORDS = 6


@dataclass(frozen=True, slots=True)
class _Antecedent:
    """A name of an earlier turn that a pronoun may refer to."""

    name: str
    gender: Gender | None
    is_plural: bool


def rewrite_question(question: TurnQuestion, bible: Bible) -> str:
    """Return `question` so that it stands alone, with the name of whom it calls "Nell's
    aunt", if `bible` has just one; empty if its own words do.
    """
    standalone = rewrite_follow_up(question, bible)
    return name_relative(standalone or question.text, bible) or standalone


def rewrite_follow_up(question: TurnQuestion, bible: Bible) -> str:
    """Return `question` so that it stands alone; empty if its own words do, or if
    nothing is known of the earlier turns.

    Pronouns become names of the last question and its answer that `bible` contains.
    "And Nell?" and "Why?" repeat the last question.
    """
    if not question.history:
        return ""
    last = question.history[-1]
    last_question = _get_standalone(last)
    text = " ".join(question.text.split())
    rewritten = _complete_ellipsis(text, last_question, bible)
    if not rewritten:
        names = list(_iter_antecedents(question, last, last_question, bible))
        rewritten = _resolve_pronouns(_OPENING.sub("", text), names, bible)
        if rewritten == _OPENING.sub("", text):
            return ""
    return rewritten[:1].upper() + rewritten[1:]


def _get_standalone(turn: Turn) -> str:
    plan = turn.output.plan
    return " ".join(((plan.question if plan else "") or turn.question).split())


def _complete_ellipsis(text: str, last_question: str, bible: Bible) -> str:
    """Return the last question about what `text` names instead; empty if `text` is a
    whole question.
    """
    if bare := _BARE.match(text):
        ending = bare["ask"]
        return f"{last_question} {ending[:1].upper()}{ending[1:]}?"
    match = _ELLIPSIS.match(text)
    if match is None or not last_question:
        return ""
    rest = match["rest"].strip()
    if _CHAPTER.match(rest) and len(rest.split()) <= _MAX_NAME_WORDS:
        return f"{last_question.rstrip(' ?.!')} {rest}?"
    names = recognize_named_entities(rest, bible)
    if len(names) != 1 or names[0].span.end - names[0].span.start < len(rest) - 4:
        return ""
    replaced = [
        entity
        for entity in recognize_named_entities(last_question, bible)
        if (entity.kind is NamedEntityKind.THING)
        is (names[0].kind is NamedEntityKind.THING)
    ]
    if not replaced:
        return ""
    span = replaced[-1].span if len(replaced) == 1 else replaced[0].span
    return f"{last_question[: span.start]}{rest}{last_question[span.end :]}"


def _iter_antecedents(
    question: TurnQuestion, last: Turn, last_question: str, bible: Bible
) -> Iterator[_Antecedent]:
    """Yield the names that pronouns may refer to, the most likely first.

    A question for somebody ("who") makes the answer's first person the topic; otherwise
    the topic is whom the last question names.
    """
    named_before = list(recognize_named_entities(last_question, bible))
    answered: list[NamedEntity] = []
    if last.id not in question.outdated:
        answer = strip_answer_citation_marks(last.output.response_text)
        answered = list(recognize_named_entities(answer, bible))
        earlier_names = {entity.name for entity in named_before}
        answered = [entity for entity in answered if entity.name not in earlier_names]
    is_who = re.search(r"\b(?:who|whom|whose)\b", last_question, re.I) is not None
    entities = [*answered, *named_before] if is_who else [*named_before, *answered]
    for name in dict.fromkeys(
        e.name for e in entities if e.kind is not NamedEntityKind.STRANGER
    ):
        yield _describe(name, bible)
    for name in question.state.entities:
        yield _describe(name, bible)


def _describe(name: str, bible: Bible) -> _Antecedent:
    people = match_people_exactly(name, bible)
    gender = people[0].gender if people else None
    return _Antecedent(name, gender, name.casefold().endswith("s") and not people)


def _resolve_pronouns(text: str, names: Sequence[_Antecedent], bible: Bible) -> str:
    """Return `text` with names for its pronouns, except those that may refer to a name
    before them in `text`.
    """
    own = recognize_named_entities(text, bible)
    impersonal = [match.span() for match in _IMPERSONAL_IT.finditer(text)]

    def replace_pronoun(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in impersonal):
            return match[0]
        word = match[0].lower()
        before = [_describe(e.name, bible) for e in own if e.span.end <= match.start()]
        if _select(word, before):
            return match[0]
        chosen = _select(word, names)
        if not chosen:
            return match[0]
        is_possessive = word in _POSSESSIVES or (
            word == "her" and not _AFTER_OBJECT.match(text, match.end())
        )
        joined = " and ".join(chosen)
        return f"{joined}{'’s' if is_possessive else ''}"

    return _PRONOUN.sub(replace_pronoun, text)


def _select(pronoun: str, names: Sequence[_Antecedent]) -> list[str]:
    """Return the names that `pronoun` means: one, or two people for "they"."""
    people = [antecedent for antecedent in names if antecedent.gender is not None]
    if pronoun in _THING_PRONOUNS:
        return [antecedent.name for antecedent in names if antecedent.gender is None][
            :1
        ]
    if pronoun in _GENDERS:
        gender = _GENDERS[pronoun]
        sure = [antecedent.name for antecedent in people if antecedent.gender is gender]
        unsure = [
            antecedent.name
            for antecedent in people
            if antecedent.gender is Gender.UNKNOWN
        ]
        return (sure or unsure)[:1]
    things = [antecedent.name for antecedent in names if antecedent.is_plural]
    return (
        [antecedent.name for antecedent in people][:2]
        if len(people) > 1
        else things[:1]
    )
