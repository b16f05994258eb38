"""What people look like, do for a living, how old they are: as the words say it."""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import About, CharacterField, Fact
from lrwr.core.nlp.facts.appearance_words import TRADES
from lrwr.core.nlp.facts.attribute_rules import (
    BY_PRONOUN,
    RULES_BY_NAME,
    THE_LATE,
    THE_TRADE,
    TRIGGERS,
    WHO,
    Rule,
)
from lrwr.core.nlp.facts.claims import (
    SAID,
    certainty_of,
    clause_before,
    is_asked,
    is_real,
    make_fact,
    owner_of,
    people_in,
    span_in,
    voices,
    without_twins,
)
from lrwr.core.nlp.names.patterns import clean_name, is_placed, matches, may_be_person
from lrwr.core.nlp.text.prose import Prose, Sentence, capitals

_GENDER = MappingProxyType({"he": "his", "she": "her", "his": "his", "her": "her"})


def attributes(prose: Prose) -> Iterator[Fact]:
    """Yield eyes, hair, age, build, occupation and death, where one clause says it.

    Verified where the narrator's words name the person; probable where a pronoun
    stands for the name, where somebody says it, and of the late Mr. Somebody.
    """
    trades = frozenset(w for w in prose.plain if w.endswith(TRADES))
    for place, sentence in enumerate(prose.sentences):
        possible = _possible(sentence, trades)
        if not possible:
            continue
        for words, spoken in voices(sentence):
            yield from without_twins(_read(prose, place, words, spoken, possible))


def _possible(sentence: Sentence, trades: frozenset[str]) -> set[str]:
    """Name the attributes that the sentence's words make possible."""
    words = sentence.words
    found = {name for name, triggers in TRIGGERS.items() if words & triggers}
    if words & trades:
        found.add("occupation")
    return found


def _read(
    prose: Prose, place: int, words: str, spoken: bool, possible: set[str]
) -> Iterator[Fact]:
    sentence = prose.sentences[place]
    starts = sentence.starts if not spoken else capitals(words)
    for rule in RULES_BY_NAME:
        if rule[0] not in possible or (spoken and rule[1] is THE_TRADE):
            continue
        for found in _found(rule, words, starts):
            who = clean_name(found["who"], prose)
            if who and _holds(rule, found, words):
                sure = certainty_of(spoken, named=rule[1] is not THE_LATE)
                yield _fact(rule, who, found, sentence, spoken, sure)
    for rule in BY_PRONOUN if not spoken else ():
        for found in rule[1].finditer(words) if rule[0] in possible else ():
            who = _whose(prose, place, words, found)
            if who and _holds(rule, found, words):
                yield _fact(rule, who, found, sentence, spoken, Certainty.PROBABLE)


def _whose(prose: Prose, place: int, words: str, found: re.Match[str]) -> str:
    """Return whom a pronoun stands for; "those eyes" are of the one just named."""
    pronoun = found["who"].lower()
    if pronoun != "those":
        return owner_of(prose, place, words, found.start("who"), _GENDER[pronoun])
    if not place or people_in(prose, words):
        return ""
    before, here = prose.sentences[place - 1], prose.sentences[place]
    if "\n\n" in prose.text[before.span.end : here.span.start]:
        return ""
    names = people_in(prose, before.told)
    return names[0] if len(names) == 1 and may_be_person(names[0], prose) else ""


def _found(rule: Rule, words: str, starts: Sequence[int]) -> Iterator[re.Match[str]]:
    """Yield a rule's matches; only those that begin with a name are looked for there."""
    pattern = rule[1]
    if pattern.pattern.startswith(WHO):
        return matches(pattern, words, starts)
    return pattern.finditer(words)


def _holds(rule: Rule, found: re.Match[str], words: str) -> bool:
    if rule[3]:
        return True
    if is_placed(words, found.start("who")) and words[found.end("who") :][:2] != "'s":
        return False
    before = clause_before(words, found.start())
    return is_real(before) and not is_asked(words, found.end())


def _fact(
    rule: Rule,
    who: str,
    found: re.Match[str],
    sentence: Sentence,
    spoken: bool,
    certainty: Certainty,
) -> Fact:
    attribute, _, value, _ = rule
    details = (("attribute", attribute),)
    return make_fact(
        About.CHARACTER,
        CharacterField.ATTRIBUTE,
        value or found["value"],
        span_in(sentence, found.start(), found.end()),
        certainty,
        subject=who,
        details=(*details, SAID) if spoken else details,
    )
