"""Relationships between people that a sentence states."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from lrwr.core.model.facts import Certainty, CharacterField, Fact, FactAbout
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    SPOKEN_DETAIL,
    clean_name,
    deduplicate_facts,
    ends_in_question,
    extract_clause_before,
    find_matches_at,
    has_place_preposition,
    is_asserted,
    make_fact,
    rate_rule_certainty,
    resolve_possessive,
    split_narration_and_speech,
    to_text_span,
)
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
)

FAMILY_WORDS = (
    "sister brother mother father son daughter wife husband uncle aunt cousin nephew "
    "niece grandmother grandfather grandson granddaughter grandchild child parent "
    "stepmother stepfather stepson stepdaughter stepsister stepbrother widow widower "
    "fiancé fiancée fiance fiancee betrothed bride bridegroom twin godfather godmother "
    "godson goddaughter half-sister half-brother step-mother step-father step-son "
    "step-daughter step-sister step-brother great-aunt great-uncle foster-father "
    "foster-mother grandpa grandma mother-in-law father-in-law sister-in-law "
    "brother-in-law son-in-law daughter-in-law"
)
SOCIAL_TIE_WORDS = (
    "friend master mistress servant employer clerk apprentice tutor governess pupil "
    "neighbour neighbor landlord landlady partner ward guardian maid housekeeper "
    "butler steward heir heiress companion secretary nurse valet lover sweetheart "
    "enemy rival assistant colleague doctor physician surgeon lawyer solicitor "
    "attorney accomplice confederate gardener coachman footman"
)
RELATIONSHIP_WORDS = frozenset(FAMILY_WORDS.split()) | frozenset(
    SOCIAL_TIE_WORDS.split()
)
"""All nouns for a relationship to another person."""

_KIN = "|".join(sorted(RELATIONSHIP_WORDS, key=len, reverse=True))
# Adjectives between a possessive and the noun: "Nell's younger sister"
KINSHIP_ADJECTIVES = (
    r"(?:(?:other|younger|elder|older|eldest|youngest|oldest|little|late|dear|dearest|poor|"
    r"twin|only|second|first|third|new|old|young|good|own|former|best|oldest|bosom|greatest|"
    r"intimate|great|half|dead|beloved|adopted|unmarried|married|widowed|maiden|"
    r"maternal|paternal|closest|faithful|trusty|true|future|intended|lawful|worthy) )*"
)
"""Matches adjectives before a noun for a relationship, each with a space after it."""
_IS = r"(?:is|was|had been|has been|being)"
# The name is complete: no further name word follows.
_WHOLE = r"(?![\w'-]| [A-Z]| of [A-Z])"
_END = r"(?=[.,;:!?)—–]| --|$| (?:was|is|had|and|who|said|came|of)\b)"
# The apposition is closed by punctuation, and is no list of people.
_CLOSED = r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"

# "Nell's sister Mags"
_POSSESSED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN})(?:'s|(?<=s)') {KINSHIP_ADJECTIVES}(?P<kin>{_KIN})(?P<comma>,?) "
    rf"(?P<two>{NAME_PATTERN}){_WHOLE}(?P<list>,? (?:and|or) (?:[A-Z]|the |his |her ))?"
)
# "Mags, Nell's sister"
_BESIDE = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}), (?P<one>{NAME_PATTERN})(?:'s|"
    rf"(?<=s)') {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}){_CLOSED}"
)
# "Mags, who was Nell's sister"
_WHO_IS = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}),? (?:who )?{_IS} (?P<one>{NAME_PATTERN})(?:'s|"
    rf"(?<=s)') {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}){_END}"
)
# "Mags, the sister of Nell"
_OF = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN})(?:,| {_IS}|, who {_IS}) (?:the|a|an|"
    rf"now|only)? ?{KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_KIN}) (?:of|to) (?P<one>{NAME_PATTERN}){_WHOLE}"
    r"(?! (?:and|or) [A-Z])"
)
# "Mags, the daughter of Hob Vale, of Thole, and Ada"
_OF_BOTH = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN})(?:,| {_IS}|, who {_IS}) (?:the |an? )?"
    rf"{KINSHIP_ADJECTIVES}(?P<kin>son|daughter|child) of (?P<one>{NAME_PATTERN})"
    rf"(?:,? of [A-Z]\w+,?)? and (?:of )?(?P<other>{NAME_PATTERN}){_WHOLE}"
)
# "Nell's sister was called Mags"
_CALLED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN})(?:'s|"
    rf"(?<=s)') {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}),? (?:(?:was|is) )?"
    rf"(?:named|called) (?P<two>{NAME_PATTERN}){_WHOLE}"
)
# "Nell's sister was Mags", closed, because more may follow: "was Mags Vale's clerk"
_IS_NAMED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN})(?:'s|"
    rf"(?<=s)') {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}) (?:was|is) (?P<two>{NAME_PATTERN}){_CLOSED}"
)
# "the sister of Nell, Mags,"
_OF_BESIDE = LazyPattern(
    rf"\b[Tt]he {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}) of (?P<one>{NAME_PATTERN}), "
    rf"(?P<two>{NAME_PATTERN}){_CLOSED}"
)
# "Hob had a daughter, Nell"
_HAD = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) (?:had|has) (?:an?|one|only one|but one) "
    rf"{KINSHIP_ADJECTIVES}(?P<kin>{_KIN})(?:,|:|,? called|,? named) (?P<two>{NAME_PATTERN}){_CLOSED}"
)
# "Hob, whose daughter was Nell"
_WHOSE = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}), whose {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}) "
    rf"(?:was|is|was called|is called) (?P<two>{NAME_PATTERN}){_CLOSED}"
)
# "Nell was born to Hob"
_BORN_TO = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}) (?:was|had been) born to "
    rf"(?P<one>{NAME_PATTERN}){_WHOLE}"
)
# "her sister Mags"
_PRONOUN = LazyPattern(
    rf"\b(?P<whose>his|her|His|Her) {KINSHIP_ADJECTIVES}(?P<kin>{_KIN})(?P<comma>,?) (?P<two>{NAME_PATTERN})"
    rf"{_WHOLE}(?P<list>,? (?:and|or) (?:[A-Z]|the |his |her ))?"
)
# "Mags, her sister"
_PRONOUN_BESIDE = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}), (?P<whose>his|her) {KINSHIP_ADJECTIVES}(?P<kin>{_KIN}){_CLOSED}"
)
_NARRATORS = LazyPattern(
    rf"\b[Mm]y {KINSHIP_ADJECTIVES}(?P<kin>{_KIN})(?P<comma>,?) (?P<two>{NAME_PATTERN})(?![\w-]|')"
    r"(?P<list>,? (?:and|or) (?:[A-Z]|the |his |her ))?"
)
_COUPLE = LazyPattern(
    r"\b(?P<his>Mr|Dr|Doctor|Colonel|Col|Captain|Capt|General|Major|Admiral|Professor|"
    r"Monsieur|Lord|Squire)\.? and (?P<her>Mrs|Madame|Mme|Lady)\.? (?P<name>(?:[A-Z]\. )*[A-Z][\w-]+(?: [A-Z][\w-]+)*)"
)
_KNIGHT = LazyPattern(r"\b(?P<sir>Sir [A-Z]\w+) and (?P<lady>Lady [A-Z][\w-]+)\b")
_COUPLE_PARTS = ("his", "her")
_ABBREVIATIONS = frozenset({"Mr", "Mrs", "Dr", "Col", "Capt", "Mme"})
_MARRIED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) (?:had |has )?(?:married|wed) (?P<two>{NAME_PATTERN}){_WHOLE}"
)
_ADOPTED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}) (?:had |has )?(?:formally |legally )?"
    rf"adopted (?P<one>{NAME_PATTERN})(?![\w'-]| [A-Z])"
)
_EACH_OTHER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) and (?P<two>{NAME_PATTERN}) (?:were|are|had been) "
    rf"(?:very |close |fast |firm )?{KINSHIP_ADJECTIVES}"
    r"(?P<kin>sister|brother|cousin|twin|friend|partner|neighbour|rival)s\b"
)
_POSSESSIVE_KIN = LazyPattern(
    rf"\b(?:[Hh]is|[Hh]er|[Mm]y) {KINSHIP_ADJECTIVES}(?:{_KIN})\b"
)
_VERBS = (_MARRIED, "spouse"), (_ADOPTED, "adoptive parent")
_IN_PASSING = frozenset(
    [
        *(_POSSESSED.pattern, _BESIDE.pattern, _PRONOUN.pattern),
        *(_PRONOUN_BESIDE.pattern, _NARRATORS.pattern, _COUPLE.pattern),
        _KNIGHT.pattern,
    ]
)
"""Patterns that mention a relationship without asserting it."""

_SIGNS = (
    ("' ", (_POSSESSED, _BESIDE, _WHO_IS, _CALLED)),
    ("'s ", (_POSSESSED, _BESIDE, _WHO_IS, _CALLED, _IS_NAMED)),
    (" of ", (_OF,)),
    (" to ", (_OF,)),
    (" and ", (_EACH_OTHER,)),
    (" ha", (_HAD,)),
    (", whose ", (_WHOSE,)),
    (" born to ", (_BORN_TO,)),
)
"""Substrings, and the patterns to try on sentences that contain them."""

_PLURALS = "s ".join([*RELATIONSHIP_WORDS, ""]).split()
_TRIGGERS = (
    RELATIONSHIP_WORDS
    | {"married", "wed", "adopted", "mrs", "lady", "born"}
    | set(_PLURALS)
)


@dataclass(frozen=True, slots=True)
class _KinshipMatch:
    """A relationship: `two` is the `kin` (such as "sister") of `one`."""

    one: str
    kin: str
    two: str
    found: re.Match[str]
    certainty: Certainty


def find_kinship_facts(prose: AnnotatedProse, narrator: str = "") -> Iterator[Fact]:
    """Yield a relationship fact for each family or social tie that a sentence states,
    such as "Corin, Nell's brother".

    Verified if narration names both people; probable if one is a pronoun or if the
    sentence is spoken. `narrator` is the name of the person who says "my uncle", or
    empty.
    """
    for place, sentence in enumerate(prose.sentences):
        if sentence.words.isdisjoint(_TRIGGERS):
            continue
        for words, is_spoken in split_narration_and_speech(sentence):
            kinship_matches = _match_sentence(prose, place, words, is_spoken, narrator)
            stated = (
                kinship_match
                for kinship_match in kinship_matches
                if _is_stated(kinship_match, words)
            )
            yield from deduplicate_facts(
                _build_fact(t, sentence, is_spoken) for t in stated
            )


def _match_sentence(
    prose: AnnotatedProse, place: int, words: str, is_spoken: bool, narrator: str
) -> Iterator[_KinshipMatch]:
    starts = (
        find_capitalized_offsets(words) if is_spoken else prose.sentences[place].starts
    )
    for sign, patterns in _SIGNS:
        for pattern in patterns if sign in words else ():
            for match in find_matches_at(pattern, words, starts):
                yield from _build_match(prose, match, is_spoken)
    for match in _OF_BESIDE.finditer(words) if " of " in words else ():
        yield from _build_match(prose, match, is_spoken)
    if " and " in words:
        for match in find_matches_at(_OF_BOTH, words, starts):
            yield from _build_parents(prose, match, is_spoken)
    yield from _match_couples(prose, words, starts, is_spoken)
    if not is_spoken and _POSSESSIVE_KIN.search(words):
        yield from _match_pronouns(prose, place, words)
        yield from _match_narrator(prose, words, narrator)


def _build_match(
    prose: AnnotatedProse, match: re.Match[str], is_spoken: bool
) -> Iterator[_KinshipMatch]:
    first, second = clean_name(match["one"], prose), clean_name(match["two"], prose)
    called_out = is_spoken and bool(match.groupdict().get("comma"))
    kin = match.groupdict().get("kin") or "child"
    if first and second and first != second and not called_out and not _is_list(match):
        certainty = rate_rule_certainty(is_spoken)
        yield _KinshipMatch(first, kin, second, match, certainty)


def _build_parents(
    prose: AnnotatedProse, match: re.Match[str], is_spoken: bool
) -> Iterator[_KinshipMatch]:
    child = clean_name(match["two"], prose)
    for parent in (clean_name(match[group], prose) for group in ("one", "other")):
        if child and parent and parent != child:
            certainty = rate_rule_certainty(is_spoken)
            yield _KinshipMatch(parent, match["kin"], child, match, certainty)


def _is_list(match: re.Match[str]) -> bool:
    """Return whether the second name may only be the next one in a list of people."""
    groups = match.groupdict()
    if groups.get("list"):
        return True
    if not groups.get("comma"):
        return False
    next_characters = match.string[match.end() : match.end() + 2]
    return next_characters[:1] not in (",", ".", ";", ")", "—", "!", "?", "")


def _match_couples(
    prose: AnnotatedProse, words: str, starts: Sequence[int], is_spoken: bool
) -> Iterator[_KinshipMatch]:
    for match in _COUPLE.finditer(words) if " and " in words else ():
        has_dot = "." in match.group()
        his, her = (
            f"{_dot(match[who], has_dot)} {match['name']}" for who in _COUPLE_PARTS
        )
        yield _KinshipMatch(his, "wife", her, match, Certainty.PROBABLE)
    # "Sir Hob and Lady Vale", said of a knight to be, is no couple.
    is_narrated = not is_spoken and " and Lady " in words
    for match in _KNIGHT.finditer(words) if is_narrated else ():
        names = match["sir"], match["lady"]
        yield _KinshipMatch(names[0], "wife", names[1], match, Certainty.PROBABLE)
    for pattern, kin in _VERBS:
        for match in find_matches_at(pattern, words, starts):
            names = clean_name(match["one"], prose), clean_name(match["two"], prose)
            if all(names) and names[0] != names[1]:
                certainty = rate_rule_certainty(is_spoken)
                yield _KinshipMatch(names[0], kin, names[1], match, certainty)


def _dot(title: str, has_dot: bool) -> str:
    """Return an abbreviated title with a full stop if the text writes them."""
    return f"{title}." if has_dot and title in _ABBREVIATIONS else title


def _match_pronouns(
    prose: AnnotatedProse, place: int, words: str
) -> Iterator[_KinshipMatch]:
    unowned = mask_owned_names(words)
    for match in chain(_PRONOUN.finditer(words), _PRONOUN_BESIDE.finditer(words)):
        two = clean_name(match["two"], prose)
        # "Her own sister": somebody else's was spoken of.
        if not two or _is_list(match) or " own " in match.group():
            continue
        possessive = resolve_possessive(
            prose,
            place,
            unowned,
            match.start(),
            match["whose"].lower(),
            of_kin=True,
        )
        if possessive and possessive != two:
            yield _KinshipMatch(
                possessive, match["kin"], two, match, Certainty.PROBABLE
            )


def mask_owned_names(words: str) -> str:
    """Return `words` with the names of a pronoun's kin masked: "his aunt Mags"."""
    for match in _PRONOUN.finditer(words) if _POSSESSIVE_KIN.search(words) else ():
        start, end = match.span("two")
        words = words[:start] + MASK_CHARACTER * (end - start) + words[end:]
    return words


def _match_narrator(
    prose: AnnotatedProse, words: str, narrator: str
) -> Iterator[_KinshipMatch]:
    for match in _NARRATORS.finditer(words) if narrator else ():
        two = clean_name(match["two"], prose)
        if two and two != narrator and not _is_list(match):
            yield _KinshipMatch(narrator, match["kin"], two, match, Certainty.PROBABLE)


def _is_stated(kinship_match: _KinshipMatch, words: str) -> bool:
    """Return whether nothing in the clause negates or doubts the relationship.

    A relationship mentioned in passing ("if Nell's sister Mags came") always holds.
    """
    if kinship_match.found.re.pattern in _IN_PASSING:
        return True
    if has_place_preposition(words, kinship_match.found.start()):
        return False
    before = extract_clause_before(words, kinship_match.found.start())
    return is_asserted(before) and not ends_in_question(
        words, kinship_match.found.end()
    )


def _build_fact(
    kinship_match: _KinshipMatch, sentence: ProseSentence, is_spoken: bool
) -> Fact:
    details = [("target", kinship_match.two), ("kind", kinship_match.kin)]
    if whose := kinship_match.found.groupdict().get("whose"):
        details.append(("pronoun", whose.lower()))
    end = (
        kinship_match.found.end("list")
        if "list" in kinship_match.found.groupdict()
        else -1
    )
    end = kinship_match.found.start("list") if end > 0 else kinship_match.found.end()
    return make_fact(
        FactAbout.CHARACTER,
        CharacterField.RELATIONSHIP,
        "",
        to_text_span(sentence, kinship_match.found.start(), end),
        kinship_match.certainty,
        subject=kinship_match.one,
        details=(*details, SPOKEN_DETAIL) if is_spoken else tuple(details),
    )
