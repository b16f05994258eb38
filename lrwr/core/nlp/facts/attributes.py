"""Extraction of looks, age, occupation and death from sentences."""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from lrwr.core.model.facts import Certainty, CharacterField, Fact, FactAbout
from lrwr.core.nlp.facts.attribute_rules import (
    CHARACTER_PATTERN,
    DECEASED_PATTERN,
    RULES_BY_NAME,
    RULES_BY_PRONOUN,
    TRADE_APPOSITION,
    TRADES,
    TRIGGERS,
    AttributeRule,
)
from lrwr.core.nlp.facts.clauses import (
    SPOKEN_DETAIL,
    clean_name,
    deduplicate_facts,
    ends_in_question,
    extract_clause_before,
    find_matches_at,
    find_prose_person_names,
    has_place_preposition,
    is_asserted,
    make_fact,
    may_be_person,
    rate_rule_certainty,
    split_narration_and_speech,
    to_text_span,
)
from lrwr.core.nlp.facts.description_rules import (
    DESCRIPTION_TRIGGERS,
    DESCRIPTIONS_BY_NAME,
    DESCRIPTIONS_BY_PRONOUN,
)
from lrwr.core.nlp.facts.pronouns import resolve_person_pronoun
from lrwr.core.nlp.text.prose import (
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
)

_TRIGGERS = MappingProxyType(
    {
        attribute: TRIGGERS.get(attribute, frozenset())
        | DESCRIPTION_TRIGGERS.get(attribute, frozenset())
        for attribute in (*TRIGGERS, *DESCRIPTION_TRIGGERS)
    }
)
_BY_NAME = RULES_BY_NAME + DESCRIPTIONS_BY_NAME
_BY_PRONOUN = RULES_BY_PRONOUN + DESCRIPTIONS_BY_PRONOUN
_GENDER = MappingProxyType({"he": "his", "she": "her", "his": "his", "her": "her"})


def find_attribute_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield facts on the attributes eyes, hair, age, build, occupation, birth and
    death, sentence by sentence.

    Verified if narration names the person; probable if a pronoun refers to the person,
    if the sentence is spoken, and for "the late Mr. Vale".
    """
    trades = frozenset(w for w in prose.plain if w.endswith(TRADES))
    for place, sentence in enumerate(prose.sentences):
        possible = _possible_attributes(sentence, trades)
        if not possible:
            continue
        for words, is_spoken in split_narration_and_speech(sentence):
            yield from deduplicate_facts(
                _match_sentence(prose, place, words, is_spoken, possible)
            )


def _possible_attributes(sentence: ProseSentence, trades: frozenset[str]) -> set[str]:
    """Return the attributes whose trigger words occur in the sentence."""
    words = sentence.words
    names = {name for name, triggers in _TRIGGERS.items() if words & triggers}
    if words & trades:
        names.add("occupation")
    return names


def _match_sentence(
    prose: AnnotatedProse, place: int, words: str, is_spoken: bool, possible: set[str]
) -> Iterator[Fact]:
    sentence = prose.sentences[place]
    starts = sentence.starts if not is_spoken else find_capitalized_offsets(words)
    for rule in _BY_NAME:
        if rule[0] not in possible or (is_spoken and rule[1] is TRADE_APPOSITION):
            continue
        for match in _iter_matches(rule, words, starts):
            subject = clean_name(match["who"], prose)
            if subject and _is_stated(rule, match, words):
                sure = rate_rule_certainty(
                    is_spoken, named=rule[1] is not DECEASED_PATTERN
                )
                yield _build_fact(rule, subject, match, sentence, is_spoken, sure)
    for rule in _BY_PRONOUN if not is_spoken else ():
        for match in rule[1].finditer(words) if rule[0] in possible else ():
            subject = _resolve_owner(prose, place, words, match)
            if subject and _is_stated(rule, match, words):
                yield _build_fact(
                    rule, subject, match, sentence, is_spoken, Certainty.PROBABLE
                )


def _resolve_owner(
    prose: AnnotatedProse, place: int, words: str, match: re.Match[str]
) -> str:
    """Return the name that a pronoun refers to; "those eyes" means the last person
    named.
    """
    pronoun = match["who"].lower()
    if pronoun != "those":
        return resolve_person_pronoun(
            prose, place, words, match.start("who"), _GENDER[pronoun]
        )
    if not place or find_prose_person_names(prose, words):
        return ""
    before, sentence = prose.sentences[place - 1], prose.sentences[place]
    if "\n\n" in prose.text[before.span.end : sentence.span.start]:
        return ""
    names = find_prose_person_names(prose, before.narration)
    return names[0] if len(names) == 1 and may_be_person(names[0], prose) else ""


def _iter_matches(
    rule: AttributeRule, words: str, starts: Sequence[int]
) -> Iterator[re.Match[str]]:
    """Yield a rule's matches; rules that begin with a name are tried at names only."""
    pattern = rule[1]
    if pattern.pattern.startswith(CHARACTER_PATTERN):
        return find_matches_at(pattern, words, starts)
    return pattern.finditer(words)


def _is_stated(rule: AttributeRule, match: re.Match[str], words: str) -> bool:
    if rule[3]:
        return True
    if (
        has_place_preposition(words, match.start("who"))
        and words[match.end("who") :][:2] != "'s"
    ):
        return False
    before = extract_clause_before(words, match.start())
    return is_asserted(before) and not ends_in_question(words, match.end())


def _build_fact(
    rule: AttributeRule,
    subject: str,
    match: re.Match[str],
    sentence: ProseSentence,
    is_spoken: bool,
    certainty: Certainty,
) -> Fact:
    attribute, _, value, _ = rule
    details = (("attribute", attribute),)
    return make_fact(
        FactAbout.CHARACTER,
        CharacterField.ATTRIBUTE,
        value or match["value"],
        to_text_span(sentence, match.start(), match.end()),
        certainty,
        subject=subject,
        details=(*details, SPOKEN_DETAIL) if is_spoken else details,
    )
