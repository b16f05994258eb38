"""Whose "his" and "her" are, where a simple rule can tell."""

import re

from lrwr.core.english.proper import (
    NAME,
    clean_name,
    gender_of_title,
    is_placed,
    may_be_person,
)
from lrwr.core.english.prose import HIDDEN, Prose

_NAME = re.compile(rf"(?<![\w'])(?<!\w-){NAME}")


def owner_of(prose: Prose, place: int, words: str, at: int, pronoun: str) -> str:
    """Return the name that `his` or `her` at `at` stands for, or nothing.

    It is the only name before it in its sentence; where there is none, the subject of
    the sentence before, when that one names nobody else. A title must not gainsay.
    """
    names = people_in(prose, words[:at])
    if not names:
        names = _of_sentence_before(prose, place)
    if len(names) != 1 or not may_be_person(names[0], prose):
        return ""
    gender = gender_of_title(names[0])
    return names[0] if gender in ("", pronoun) else ""


def names_in(prose: Prose, words: str) -> list[str]:
    """Return the different names in some words, in order."""
    found = (clean_name(match.group(), prose) for match in _NAME.finditer(words))
    return list(dict.fromkeys(name for name in found if name))


def people_in(prose: Prose, words: str) -> list[str]:
    """Return the names in some words save those that "in", "at" or "of" precede."""
    found = (
        clean_name(match.group(), prose)
        for match in _NAME.finditer(words)
        if not is_placed(words, match.start())
    )
    return list(dict.fromkeys(name for name in found if name))


def subject_of(prose: Prose, words: str) -> str:
    """Return the name that a sentence begins with, or nothing."""
    start = len(words) - len(words.lstrip(HIDDEN + " "))
    found = _NAME.match(words, start)
    return clean_name(found.group(), prose) if found else ""


def _of_sentence_before(prose: Prose, place: int) -> list[str]:
    if not place:
        return []
    before, here = prose.sentences[place - 1], prose.sentences[place]
    if "\n\n" in prose.text[before.span.end : here.span.start]:
        return []
    subject = subject_of(prose, before.told)
    names = names_in(prose, before.told)
    return [subject] if subject and names == [subject] else []
