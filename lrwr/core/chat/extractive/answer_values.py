"""Finds the passages that have a value of the kind that a question asks for."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lrwr.core.chat.extractive.answer_types import (
    KIN_WORD_PATTERN,
    NAMING,
    AnswerType,
    find_answer_type,
)
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    extract_capitalized_words,
    normalize_word,
    stem_word,
)
from lrwr.core.nlp.facts.clauses import TITLE_WORDS

_TITLES = frozenset(TITLE_WORDS.split())

_TITLED_NAME = re.compile(
    rf"\b(?:{'|'.join(sorted(_TITLES, key=len, reverse=True))})\.?(?:\s+[A-Z][\w-]+)+"
)
"""A person by title and name: "Admiral Rook"."""


@dataclass(frozen=True, slots=True)
class ValueQuestion:
    """What `describe_missing_value` reads of a question.

    `people` has for each person it names the words of their names; without anybody
    known, words that the question capitalizes count. `forms` are the full names of all
    of them. `topic` are its other words.
    """

    text: str
    people: Sequence[Collection[str]] = ()
    forms: Collection[str] = ()
    topic: Collection[str] = ()


def describe_missing_value(
    question: ValueQuestion, texts: Sequence[str], sentences: SentenceSplitter
) -> str | None:
    """Return what the question asks for and none of `texts` has, as in "gives the age".

    Empty if a text has it; None if the question needs no kind of value.
    """
    answer_type = find_answer_type(question.text)
    if answer_type is None or not answer_type.is_needed:
        return None
    missing = f"{answer_type.verb} {answer_type.name}"
    return "" if any(find_texts_with_value(question, texts, sentences)) else missing


def find_texts_with_value(
    question: ValueQuestion, texts: Sequence[str], sentences: SentenceSplitter
) -> list[bool]:
    """Return for each of `texts` whether it has a value of the kind asked for; always
    false if the question asks for no such value.
    """
    answer_type = find_answer_type(question.text)
    asked = answer_type.asks.search(question.text) if answer_type else None
    if answer_type is None or asked is None:
        return [False] * len(texts)
    gives = answer_type.gives
    if gives == NAMING and not KIN_WORD_PATTERN.search(question.text):
        return [_has_full_name(question)] * len(texts)
    text = gives if isinstance(gives, str) else gives(asked)
    if gives == NAMING and (kin := KIN_WORD_PATTERN.search(question.text)):
        # Whose name is asked for stands in the sentence that names somebody.
        text = rf"(?s)(?=.*(?i:\b{re.escape(kin.group())}\b)).*{NAMING}"
    pattern = re.compile(text)
    near = _NearWords(question, answer_type)
    return [_has_value(text, sentences, pattern, near) for text in texts]


def _has_full_name(question: ValueQuestion) -> bool:
    """Return whether somebody's name has two words or more, without titles."""
    if not question.forms:
        return False
    return any(
        len(
            [w for w in form.split() if w.rstrip(".") not in _TITLES and w[0].isupper()]
        )
        > 1
        for form in question.forms
    )


MIN_TOPIC_WORDS = 1
"""Words of the topic that must stand near a value, if the question has as many."""

_KINDS = frozenset(
    {
        "date", "day", "hour", "time", "name", "long", "many", "much", "money",
        "number", "exact", "first", "last", "exactly", "place", "part", "whereabouts", "kind", "sort",
    }
)  # fmt: skip
"""Words of a question that name the kind of value, which need not stand near it."""

_FIRST_PERSON = frozenset({"i", "my", "me", "mine"})


class _NearWords:
    """The words that must stand near a value for it to be that of the question."""

    def __init__(self, question: ValueQuestion, answer_type: AnswerType) -> None:
        people = answer_type.people
        known = [set(words) for words in question.people]
        self._are_known = bool(known)
        capitalized = [{word} for word in extract_capitalized_words(question.text)]
        self._people = (known or capitalized) if people else []
        self._count = min(people, len(self._people))
        is_topical = answer_type.is_topical or not people
        topic = set(question.topic) - _KINDS if is_topical else set()
        self._topic = set(map(_cut_ending, topic))

    @property
    def reach(self) -> int:
        """How many sentences beside the one with the value are read: who is related to
        whom stands in one sentence.
        """
        return 0 if self._count > 1 else 1

    def fit(self, text: str) -> bool:
        """Return whether `text` names enough people, and has a word of the topic, if the
        question needs one.
        """
        words = _extract_words(text)
        named = sum(
            not names.isdisjoint(
                _extract_words(_drop_namesakes(text, names))
                if self._are_known
                else words
            )
            for names in self._people
        )
        # Of two people, one may be the narrator or speaker: "Hob was my uncle".
        speaker = self._count > 1 and not _FIRST_PERSON.isdisjoint(words)
        if named + speaker < self._count:
            return False
        shared = self._topic.intersection(map(_cut_ending, words))
        return len(shared) >= min(MIN_TOPIC_WORDS, len(self._topic))


def _extract_words(text: str) -> set[str]:
    return {normalize_word(word) for word in WORD_PATTERN.findall(text)}


def _drop_namesakes(text: str, names: Collection[str]) -> str:
    """Return `text` without people who share only the title or surname with the one who
    has `names`: "Admiral Vane" and "Mrs Rook" are not Admiral Rook.
    """

    def keep_own(match: re.Match[str]) -> str:
        title, *first, last = map(normalize_word, WORD_PATTERN.findall(match.group()))
        is_own = last in names and not {title, *first}.isdisjoint(names)
        return match.group() if is_own else " "

    return _TITLED_NAME.sub(keep_own, text)


def _cut_ending(word: str) -> str:
    """Return a word without its ending: "marr" for "marry" and "married"."""
    return stem_word(word).rstrip("iy")


def _has_value(
    text: str, sentences: SentenceSplitter, pattern: re.Pattern[str], near: _NearWords
) -> bool:
    """Return whether a sentence matches `pattern`, and it and those beside it fit
    `near`.
    """
    texts = [text[span.start : span.end] for span in sentences(text)]
    return any(
        pattern.search(sentence) is not None
        and near.fit(
            " ".join(texts[max(0, place - near.reach) : place + near.reach + 1])
        )
        for place, sentence in enumerate(texts)
    )
