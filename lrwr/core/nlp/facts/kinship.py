"""Kinship and ties between people, as the very words say them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import About, CharacterField, Fact
from lrwr.core.nlp.facts.claims import (
    SAID,
    certainty_of,
    clause_before,
    is_asked,
    is_real,
    make_fact,
    owner_of,
    span_in,
    voices,
    without_twins,
)
from lrwr.core.nlp.names.patterns import NAME, clean_name, is_placed, matches
from lrwr.core.nlp.text.lazy_regex import Expression
from lrwr.core.nlp.text.prose import Prose, Sentence, capitals

BLOOD = (
    "sister brother mother father son daughter wife husband uncle aunt cousin nephew "
    "niece grandmother grandfather grandson granddaughter grandchild child parent "
    "stepmother stepfather stepson stepdaughter stepsister stepbrother widow widower "
    "fiancé fiancée fiance fiancee betrothed bride bridegroom twin godfather godmother "
    "godson goddaughter half-sister half-brother step-mother step-father step-son "
    "step-daughter step-sister step-brother great-aunt great-uncle foster-father "
    "foster-mother grandpa grandma mother-in-law father-in-law sister-in-law "
    "brother-in-law son-in-law daughter-in-law"
)
TIES = (
    "friend master mistress servant employer clerk apprentice tutor governess pupil "
    "neighbour neighbor landlord landlady partner ward guardian maid housekeeper "
    "butler steward heir heiress companion secretary nurse valet lover sweetheart "
    "enemy rival assistant colleague"
)
KIN = frozenset(BLOOD.split()) | frozenset(TIES.split())
"""Every word for what one person is to another."""

_KIN = "|".join(sorted(KIN, key=len, reverse=True))
_MORE = (
    r"(?:(?:younger|elder|older|eldest|youngest|oldest|little|late|dear|dearest|poor|"
    r"twin|only|second|first|third|new|old|young|good|own|former|best|oldest|bosom|"
    r"intimate|great|half|dead|beloved|adopted|unmarried|married|widowed|maiden|"
    r"maternal|paternal|closest|faithful|trusty|true|future|intended|lawful|worthy) )*"
)
_IS = r"(?:is|was|had been|has been|being)"
_WHOLE = r"(?![\w'-]| [A-Z]| of [A-Z])"
_END = r"(?=[.,;:!?)—–]| --|$| (?:was|is|had|and|who|said|came|of)\b)"
_CLOSED = r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"

_POSSESSED = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME})(?:'s|(?<=s)') {_MORE}(?P<kin>{_KIN})(?P<comma>,?) "
    rf"(?P<two>{NAME}){_WHOLE}(?P<list>,? (?:and|or) (?:[A-Z]|the |his |her ))?"
)
_BESIDE = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME}), (?P<one>{NAME})(?:'s|"
    rf"(?<=s)') {_MORE}(?P<kin>{_KIN}){_CLOSED}"
)
_WHO_IS = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME}),? (?:who )?{_IS} (?P<one>{NAME})(?:'s|"
    rf"(?<=s)') {_MORE}(?P<kin>{_KIN}){_END}"
)
_OF = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME})(?:,| {_IS}|, who {_IS}) (?:the|a|an|"
    rf"now|only)? ?{_MORE}"
    rf"(?P<kin>{_KIN}) (?:of|to) (?P<one>{NAME}){_WHOLE}"
    r"(?! (?:and|or) [A-Z])"
)
_CALLED = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME})(?:'s|"
    rf"(?<=s)') {_MORE}(?P<kin>{_KIN}),? (?:(?:was|is) )?"
    rf"(?:named|called) (?P<two>{NAME}){_WHOLE}"
)
_PRONOUN = Expression(
    rf"\b(?P<whose>his|her|His|Her) {_MORE}(?P<kin>{_KIN})(?P<comma>,?) (?P<two>{NAME})"
    rf"{_WHOLE}(?P<list>,? (?:and|or) (?:[A-Z]|the |his |her ))?"
)
_PRONOUN_BESIDE = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME}), (?P<whose>his|her) {_MORE}(?P<kin>{_KIN}){_CLOSED}"
)
_NARRATORS = Expression(
    rf"\b[Mm]y {_MORE}(?P<kin>{_KIN})(?P<comma>,?) (?P<two>{NAME})(?![\w-]|')"
    r"(?P<list>,? (?:and|or) (?:[A-Z]|the |his |her ))?"
)
_COUPLE = Expression(
    r"\bMr\.? and Mrs\.? (?P<name>(?:[A-Z]\. )*[A-Z][\w-]+(?: [A-Z][\w-]+)*)"
)
_MARRIED = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME}) (?:had |has )?(?:married|wed) (?P<two>{NAME}){_WHOLE}"
)
_EACH_OTHER = Expression(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME}) and (?P<two>{NAME}) (?:were|are|had been) "
    r"(?:twin )?(?P<kin>sister|brother|cousin|twin|friend|partner|neighbour|rival)s\b"
)
_HERS = Expression(rf"\b(?:[Hh]is|[Hh]er|[Mm]y) {_MORE}(?:{_KIN})\b")
_IN_PASSING = frozenset(
    one.pattern
    for one in (_POSSESSED, _BESIDE, _PRONOUN, _PRONOUN_BESIDE, _NARRATORS, _COUPLE)
)
"""What only names a tie, and asserts nothing."""

_SIGNS = (
    ("' ", (_POSSESSED, _BESIDE, _WHO_IS, _CALLED)),
    ("'s ", (_POSSESSED, _BESIDE, _WHO_IS, _CALLED)),
    (" of ", (_OF,)),
    (" to ", (_OF,)),
    (" and ", (_EACH_OTHER,)),
)
"""Patterns, and what a sentence must hold for them to be tried."""

_TRIGGERS = KIN | {"married", "wed", "mrs"} | {f"{word}s" for word in KIN}


@dataclass(frozen=True, slots=True)
class _Tie:
    """`two` is the `kin` of `one`."""

    one: str
    kin: str
    two: str
    found: re.Match[str]
    certainty: Certainty


def ties(prose: Prose, narrator: str = "") -> Iterator[Fact]:
    """Yield who is what to whom: the target is the subject's sister, clerk, widow ….

    Verified where both are named in the narrator's words; probable where one of them
    is a pronoun, or where somebody says it. `narrator` names who says "my uncle".
    """
    for place, sentence in enumerate(prose.sentences):
        if sentence.words.isdisjoint(_TRIGGERS):
            continue
        for words, spoken in voices(sentence):
            found = _read(prose, place, words, spoken, narrator)
            standing = (tie for tie in found if _stands(tie, words))
            yield from without_twins(_fact(t, sentence, spoken) for t in standing)


def _read(
    prose: Prose, place: int, words: str, spoken: bool, narrator: str
) -> Iterator[_Tie]:
    starts = capitals(words) if spoken else prose.sentences[place].starts
    for sign, patterns in _SIGNS:
        for pattern in patterns if sign in words else ():
            for found in matches(pattern, words, starts):
                yield from _pair(prose, found, spoken)
    yield from _couples(prose, words, starts, spoken)
    if not spoken and _HERS.search(words):
        yield from _by_pronoun(prose, place, words)
        yield from _of_narrator(prose, words, narrator)


def _pair(prose: Prose, found: re.Match[str], spoken: bool) -> Iterator[_Tie]:
    one, two = clean_name(found["one"], prose), clean_name(found["two"], prose)
    called_out = spoken and bool(found.groupdict().get("comma"))
    if one and two and one != two and not called_out and not _is_list(found):
        yield _Tie(one, found["kin"], two, found, certainty_of(spoken))


def _is_list(found: re.Match[str]) -> bool:
    """Say whether the second name may only be the next in a row of people."""
    groups = found.groupdict()
    if groups.get("list"):
        return True
    if not groups.get("comma"):
        return False
    rest = found.string[found.end() : found.end() + 2]
    return rest[:1] not in (",", ".", ";", ")", "—", "!", "?", "")


def _couples(
    prose: Prose, words: str, starts: Sequence[int], spoken: bool
) -> Iterator[_Tie]:
    for found in _COUPLE.finditer(words) if "Mrs" in words else ():
        name = found["name"]
        yield _Tie(f"Mr. {name}", "wife", f"Mrs. {name}", found, Certainty.PROBABLE)
    for found in matches(_MARRIED, words, starts):
        one, two = clean_name(found["one"], prose), clean_name(found["two"], prose)
        if one and two and one != two:
            yield _Tie(one, "spouse", two, found, certainty_of(spoken))


def _by_pronoun(prose: Prose, place: int, words: str) -> Iterator[_Tie]:
    for found in chain(_PRONOUN.finditer(words), _PRONOUN_BESIDE.finditer(words)):
        two = clean_name(found["two"], prose)
        if not two or _is_list(found):
            continue
        one = owner_of(prose, place, words, found.start(), found["whose"].lower())
        if one and one != two:
            yield _Tie(one, found["kin"], two, found, Certainty.PROBABLE)


def _of_narrator(prose: Prose, words: str, narrator: str) -> Iterator[_Tie]:
    for found in _NARRATORS.finditer(words) if narrator else ():
        two = clean_name(found["two"], prose)
        if two and two != narrator and not _is_list(found):
            yield _Tie(narrator, found["kin"], two, found, Certainty.PROBABLE)


def _stands(tie: _Tie, words: str) -> bool:
    """Say whether nothing in the clause takes the claim back.

    A tie that is only named in passing ("if Nell's sister Mags came") stands whatever
    is said of it; one that is asserted must not be doubted.
    """
    if tie.found.re.pattern in _IN_PASSING:
        return True
    if is_placed(words, tie.found.start()):
        return False
    before = clause_before(words, tie.found.start())
    return is_real(before) and not is_asked(words, tie.found.end())


def _fact(tie: _Tie, sentence: Sentence, spoken: bool) -> Fact:
    details = (("target", tie.two), ("kind", tie.kin))
    end = tie.found.end("list") if "list" in tie.found.groupdict() else -1
    end = tie.found.start("list") if end > 0 else tie.found.end()
    return make_fact(
        About.CHARACTER,
        CharacterField.RELATIONSHIP,
        "",
        span_in(sentence, tie.found.start(), end),
        tie.certainty,
        subject=tie.one,
        details=(*details, SAID) if spoken else details,
    )
