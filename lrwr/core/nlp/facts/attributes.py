"""Extraction of looks, age, occupation and death from sentences."""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from lrwr.core.model.facts import Certainty, CharacterField, Fact, FactAbout
from lrwr.core.model.text import NUMERAL_PATTERN, parse_numeral
from lrwr.core.nlp.facts.attribute_rules import (
    CHARACTER_PATTERN,
    DECEASED_PATTERN,
    PERSON_PATTERN,
    RULES_BY_NAME,
    RULES_BY_PRONOUN,
    TEENS,
    TENS,
    TRADE_APPOSITION,
    TRADES,
    TRIGGERS,
    UNITS,
    AttributeRule,
)
from lrwr.core.nlp.facts.clauses import (
    SPOKEN_DETAIL,
    clean_name,
    deduplicate_facts,
    ends_in_question,
    extract_clause_before,
    find_matches_at,
    find_prose_names,
    find_prose_person_names,
    find_sentence_subject,
    has_place_preposition,
    infer_title_possessive,
    is_asserted,
    is_known_person,
    make_fact,
    may_be_person,
    rate_rule_certainty,
    resolve_possessive,
    split_narration_and_speech,
    to_text_span,
)
from lrwr.core.nlp.facts.description_rules import (
    DESCRIPTION_TRIGGERS,
    DESCRIPTIONS_BY_NAME,
    DESCRIPTIONS_BY_PRONOUN,
)
from lrwr.core.nlp.names.lexicon import FEMALE_NAMES, MALE_NAMES
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
_SMALL_NUMBERS = (*UNITS, *TEENS)
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
            # "The late Mr. Vale" is the father of one who speaks.
            is_other = rule[1] is DECEASED_PATTERN and _speaks(subject, prose)
            if subject and not is_other and _is_stated(rule, match, words):
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
    if rule[0] == "eyes" and _MIND.match(words, match.end()):
        return False  # "the grey eyes of his soul"
    if rule[3]:
        return True
    if (
        has_place_preposition(words, match.start("who"))
        and words[match.end("who") :][:2] != "'s"
    ):
        return False
    before = extract_clause_before(words, match.start())
    if rule[0] == "age" and _PAST_AGE.search(before):
        return False  # "ever since Nell was twelve"
    return is_asserted(before) and not ends_in_question(words, match.end())


_MIND = re.compile(r"(?: eyes?)? of (?:his|her|the|their) (?:mind|soul|heart|spirit)\b")
_SPEECH_VERB = (
    r"(?:said|cried|asked|answered|replied|returned|observed|began|added|continued)"
)


def _speaks(name: str, prose: AnnotatedProse) -> bool:
    """Return whether the narration has a tag with `name`."""
    who = re.escape(name)
    tag = re.compile(
        rf"\b{_SPEECH_VERB} {who}(?!['’]s|\w| [A-Z])|(?<![\w.] ){who} {_SPEECH_VERB}\b"
    )
    return bool(name) and any(
        name in sentence.narration and tag.search(sentence.narration)
        for sentence in prose.sentences
    )


_PAST_AGE = re.compile(
    r"\b(?:since|till|until|before|after|from the time)\b[^,]*$", re.I
)


_YEAR_OF_LIFE = re.compile(rf"in h(?:is|er) (?P<year>{NUMERAL_PATTERN}) year")


def _spell_age(value: str) -> str:
    """Return `value`; "twenty" for "in her twenty-first year"."""
    match = _YEAR_OF_LIFE.fullmatch(value)
    years = (parse_numeral(match["year"]) or 0) - 1 if match else 0
    if years < 1:
        return value
    if years <= len(_SMALL_NUMBERS):
        return _SMALL_NUMBERS[years - 1]
    tens, unit = divmod(years, 10)
    words = [TENS[tens - 2], *([UNITS[unit - 1]] if unit else [])]
    return "-".join(words) if tens <= len(TENS) + 1 else value


def _build_fact(
    rule: AttributeRule,
    subject: str,
    match: re.Match[str],
    sentence: ProseSentence,
    is_spoken: bool,
    certainty: Certainty,
) -> Fact:
    attribute, _, value, _ = rule
    value = value or _spell_age(match["value"])
    details = (("attribute", attribute),)
    return make_fact(
        FactAbout.CHARACTER,
        CharacterField.ATTRIBUTE,
        value,
        to_text_span(sentence, match.start(), match.end()),
        certainty,
        subject=subject,
        details=(*details, SPOKEN_DETAIL) if is_spoken else details,
    )


# People without a name, to whom a pronoun after them may refer
_UNNAMED = re.compile(
    rf"\b(?:{PERSON_PATTERN}|mother|father|brother|sister|wife|husband|son|daughter|aunt|"
    r"uncle|cousin|friend|visitor|stranger|servant|one|other|somebody|someone|"
    r"figure|newcomer|comer|speaker|officer|doctor|guest|inmate|master|mistress)s?\b"
)
# Objects that are somebody else than the subject of their sentence
_OBJECTS = {
    "his": re.compile(r"\bhim\b"),
    "her": re.compile(
        r"\b(?:to|at|with|for|by|upon|from|saw|met|told) her(?=[ .,;]|$)|\bher[.,;]"
    ),
}
# "was a delightful companion": still the subject
_PREDICATE = re.compile(
    r"\b(?:was|is|as|been|became) (?:[a-z]+ )?an? (?:[a-z-]+,? ){0,3}$"
)
# Openings of a description before the name of its subject: "With her grey eyes, Nell …"
_OPENING = re.compile(r"[ \x01]*(?:With|An?)\b")
_SUBJECT_AFTER = re.compile(r", (?:[a-z]+ )?$")

AMBIGUOUS = "?"
"""Stands for a name where several people fit."""


def resolve_person_pronoun(
    prose: AnnotatedProse, place: int, words: str, at: int, pronoun: str
) -> str:
    """Return the name that a pronoun at offset `at` of `words` refers to; "" if unclear.

    `pronoun` is "his" or "her", for "he" and "she" too; `words` are those of the
    sentence with index `place` in `prose`. The name is that of the only person who fits
    before the pronoun in its sentence, else of the subject of the sentence before, else
    of the only person in the paragraph so far, or of the subject after an opening
    description.
    """
    before = words[:at]
    fitting = _find_only_fitting(prose, before, pronoun)
    if fitting == AMBIGUOUS:
        return ""
    name = (
        fitting
        or _accept(resolve_possessive(prose, place, words, at, pronoun), pronoun)
        or _accept(_find_only_in_paragraph(prose, place, before, pronoun), pronoun)
        or _accept(_find_subject_after(prose, words, at), pronoun)
    )
    if not name:
        return ""
    named_at = words.rfind(name, 0, at)
    if named_at >= 0:
        return "" if _has_unnamed(words, named_at + len(name), at) else name
    if name in words:
        return name
    earlier = prose.sentences[place - 1].narration
    is_clear = not (
        _has_unnamed(earlier, earlier.find(name) + len(name), len(earlier))
        or _has_unnamed(words, 0, at)
        or _OBJECTS[pronoun].search(earlier)
    )
    return name if is_clear else ""


def _has_unnamed(words: str, start: int, end: int) -> bool:
    """Return whether `words[start:end]` mentions a person without a name, other than in
    a predicate ("he was a young man").
    """
    return any(
        not _PREDICATE.search(words, max(start, match.start() - 60), match.start())
        for match in _UNNAMED.finditer(words, start, end)
    )


def _infer_possessive(name: str) -> str:
    """Return "his" or "her" by the title or the given name; "" if neither tells."""
    possessive = infer_title_possessive(name)
    words = name.split(" ")
    word = words[0].lower()
    if possessive or (len(words) > 1 and words[0].endswith(".")):
        return possessive
    if word in FEMALE_NAMES and word not in MALE_NAMES:
        return "her"
    return "his" if word in MALE_NAMES and word not in FEMALE_NAMES else ""


def _accept(name: str, pronoun: str) -> str:
    """Return `name`, or "" if it cannot be a person with the pronoun."""
    return name if _infer_possessive(name) in ("", pronoun) else ""


def _find_only_fitting(prose: AnnotatedProse, before: str, pronoun: str) -> str:
    """Return the only name in `before` whose gender fits, if all others are known not
    to fit; `AMBIGUOUS` if several may, and "" for fewer than two people.

    A name after a place preposition counts if it is a known person's: "at Nell".
    """
    people = set(find_prose_person_names(prose, before))
    names = [
        name
        for name in find_prose_names(prose, before)
        if name in people or (prose.known and is_known_person(name, prose))
    ]
    if len(names) < 2:
        return ""
    fitting = [name for name in names if _accept(name, pronoun)]
    return fitting[0] if len(fitting) == 1 else AMBIGUOUS


def _find_only_in_paragraph(
    prose: AnnotatedProse, place: int, before: str, pronoun: str
) -> str:
    """Return the only person named in the narration of the paragraph before a pronoun,
    if nobody without a name is mentioned there.
    """
    sentences = prose.sentences
    if find_prose_person_names(prose, before):
        return ""
    names: list[str] = []
    narration = ""
    while place and not names:
        place -= 1
        gap = prose.text[sentences[place].span.end : sentences[place + 1].span.start]
        narration = sentences[place].narration
        if "\n\n" in gap or _has_unnamed(narration, 0, len(narration)):
            return ""
        names = find_prose_person_names(prose, narration)
    fitting = [name for name in names if _infer_possessive(name) == pronoun]
    others = [name for name in names if _infer_possessive(name) == ""]
    if len(names) == 1 and is_known_person(names[0], prose):
        fitting, others = names, []
    is_clear = len(fitting) == 1 and not others
    return fitting[0] if is_clear and _is_subject(prose, fitting[0], narration) else ""


def _is_subject(prose: AnnotatedProse, name: str, words: str) -> bool:
    """Return whether a sentence begins with `name`, or has it in a dialogue tag."""
    tag = re.search(
        rf"\x01 ?(?:said|says|cried|cries|answered|replied) {re.escape(name)}\b", words
    )
    return bool(tag) or find_sentence_subject(prose, words) == name


def _find_subject_after(prose: AnnotatedProse, words: str, at: int) -> str:
    """Return the only person named in `words`, if the pronoun is in a description that
    opens the sentence and the name follows it: "With her grey eyes, Nell …".
    """
    if not _OPENING.match(words) or find_prose_person_names(prose, words[:at]):
        return ""
    names = find_prose_person_names(prose, words)
    if len(names) != 1 or not is_known_person(names[0], prose):
        return ""
    start = words.find(names[0])
    is_owner = words.startswith("'s", start + len(names[0]))
    return names[0] if _SUBJECT_AFTER.search(words[:start]) and not is_owner else ""
