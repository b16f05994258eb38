"""What every rule asks of a clause, and how a rule's finding becomes a fact."""

import re
from collections.abc import Iterable, Iterator

from lrwr.core.model.facts import RULES_KEEPER, Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.patterns import (
    NAME_PATTERN,
    clean_name,
    has_place_preposition,
    infer_title_possessive,
    may_be_person,
)
from lrwr.core.nlp.text.prose import MASK_CHARACTER, AnnotatedProse, ProseSentence

SPOKEN_DETAIL = ("said", "yes")
"""The detail of a fact that stands in somebody's words: they may lie, or be wrong."""
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|would|might|could|should|may|must|perhaps|maybe|possibly|"
    r"probably|supposed?|imagin\w+|dream\w*|dreamt|pretend\w*|fanc(?:y|ied)|believ\w+|"
    r"thought|think|hoped?|wish\w*|fear\w*|doubt\w*|seem\w*|appear\w*|like|as though|"
    r"as if|said to|suspect\w*|guess\w*|almost|nearly|never|not|no longer|hardly|"
    r"rumou?r\w*|lied?|lying|sworn?|swore|claim\w*|insist\w*|declar\w*|assum\w*|presum\w*"
    r"|n't|until|till|before|lest)\b|n't\b",
    re.I,
)


def is_asserted(clause: str) -> bool:
    """Say whether a clause asserts what it says: no doubt, wish, "not" or "as if"."""
    return not _UNREAL.search(clause)


def split_narration_and_speech(sentence: ProseSentence) -> Iterator[tuple[str, bool]]:
    """Yield what the narrator tells, then what is spoken; True marks the spoken."""
    yield sentence.told, False
    if sentence.spoken:
        yield sentence.spoken, True


def extract_clause_before(words: str, at: int) -> str:
    """Return the words of the sentence before `at`, as far as they bear on it."""
    start = max(words.rfind(mark, 0, at) for mark in ";:\x01")
    return words[start + 1 : at]


def ends_in_question(words: str, end: int) -> bool:
    """Say whether the sentence goes on after `end` to a question mark."""
    end_mark = re.search(r"[.!?;]", words[end:])
    return bool(end_mark and end_mark.group() == "?")


def make_fact(
    about: FactAbout,
    field: str,
    value: str,
    span: Span,
    certainty: Certainty,
    *,
    subject: str = "",
    details: tuple[tuple[str, str], ...] = (),
) -> Fact:
    """Make a fact of the rules with one span."""
    return Fact(about, subject, field, value, (span,), RULES_KEEPER, certainty, details)


def rate_rule_certainty(spoken: bool, named: bool = True) -> Certainty:
    """Return how sure a rule is: at most probable where it is spoken or resolved."""
    return Certainty.PROBABLE if spoken or not named else Certainty.VERIFIED


def to_text_span(sentence: ProseSentence, start: int, end: int) -> Span:
    """Turn characters of a sentence into a span of the text."""
    return Span(sentence.span.start + start, sentence.span.start + end)


def extract_verbatim(prose: AnnotatedProse, span: Span) -> str:
    """Return the text at a span in one line."""
    return " ".join(prose.text[span.start : span.end].split())


def deduplicate_facts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts in order, of those that claim the same only the first."""
    seen_keys = set()
    for fact in facts:
        key = (fact.about, fact.subject, fact.field, fact.value, fact.details)
        if key not in seen_keys:
            seen_keys.add(key)
            yield fact


_NAME = re.compile(rf"(?<![\w'])(?<!\w-){NAME_PATTERN}")


def resolve_possessive(
    prose: AnnotatedProse, place: int, words: str, at: int, pronoun: str
) -> str:
    """Return the name that `his` or `her` at `at` stands for, or nothing.

    It is the only name before it in its sentence; where there is none, the subject of
    the sentence before, when that one names nobody else. A title must not gainsay.
    """
    names = find_prose_person_names(prose, words[:at])
    if not names:
        names = _of_sentence_before(prose, place)
    if len(names) != 1 or not may_be_person(names[0], prose):
        return ""
    gender = infer_title_possessive(names[0])
    return names[0] if gender in ("", pronoun) else ""


def find_prose_names(prose: AnnotatedProse, words: str) -> list[str]:
    """Return the different names in some words, in order."""
    names = (clean_name(match.group(), prose) for match in _NAME.finditer(words))
    return list(dict.fromkeys(name for name in names if name))


def find_prose_person_names(prose: AnnotatedProse, words: str) -> list[str]:
    """Return the names in some words save those that "in", "at" or "of" precede."""
    names = (
        clean_name(match.group(), prose)
        for match in _NAME.finditer(words)
        if not has_place_preposition(words, match.start())
    )
    return list(dict.fromkeys(name for name in names if name))


def find_sentence_subject(prose: AnnotatedProse, words: str) -> str:
    """Return the name that a sentence begins with, or nothing."""
    start = len(words) - len(words.lstrip(MASK_CHARACTER + " "))
    match = _NAME.match(words, start)
    return clean_name(match.group(), prose) if match else ""


def _of_sentence_before(prose: AnnotatedProse, place: int) -> list[str]:
    if not place:
        return []
    before, sentence = prose.sentences[place - 1], prose.sentences[place]
    if "\n\n" in prose.text[before.span.end : sentence.span.start]:
        return []
    subject = find_sentence_subject(prose, before.told)
    names = find_prose_names(prose, before.told)
    return [subject] if subject and names == [subject] else []
