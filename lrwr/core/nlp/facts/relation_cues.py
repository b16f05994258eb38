"""Cues to relations between people: weak signs that count only together.

A cue may leave out who somebody is: "my aunt" is the aunt of whoever speaks, and
"Nell's mother" has no name. The story bible fills in speakers, addressees and names that
only one character fits, and shows a relation when the cues of the library suffice.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from lrwr.core.model.facts import (
    RELATION_CUE_FIELD,
    Certainty,
    CueParty,
    Fact,
    FactAbout,
    RelationCue,
)
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    deduplicate_facts,
    ends_in_question,
    extract_clause_before,
    find_matches_at,
    find_prose_names,
    is_asserted,
    is_known_person,
    make_fact,
    split_narration_and_speech,
    to_text_span,
)
from lrwr.core.nlp.facts.kinship import KINSHIP_ADJECTIVES, RELATIONSHIP_WORDS
from lrwr.core.nlp.text.prose import (
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
)

_FAMILY = (
    "mother-in-law father-in-law sister-in-law brother-in-law son-in-law "
    "daughter-in-law half-sister half-brother stepmother stepfather stepson "
    "stepdaughter step-mother step-father step-son step-daughter grandmother "
    "grandfather grandson granddaughter mother father sister brother daughter son wife "
    "husband aunt uncle niece nephew cousin guardian ward mamma mama papa"
)
_WORDS = {"mamma": "mother", "mama": "mother", "papa": "father", "mum": "mother"}
"""Words of address, and the nouns for the same relation."""
_FAMILY_NOUN = "|".join(_FAMILY.split())
_ANY_NOUN = "|".join(
    sorted(RELATIONSHIP_WORDS | {"patroness", "patron"}, key=len, reverse=True)
)
_NO_NAME = r"(?![\w'’-]|,? [A-Z])"
_LIST = rf"{NAME_PATTERN}(?:, {NAME_PATTERN})*,? (?:and|or) {NAME_PATTERN}"
_PLURALS = (
    "sisters|brothers|daughters|sons|cousins|children|aunts|uncles|nieces|nephews|"
    "friends"
)

# "Nell's mother" without a name
_NAMED_OWNER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN})(?:'s|(?<=s)') {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_FAMILY_NOUN}){_NO_NAME}"
)
# "her mother", "my mother", without a name
_OWNER = LazyPattern(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_FAMILY_NOUN})\b{_NO_NAME}"
)
# "her cousin Mags"
_OWNER_AND_NAME = LazyPattern(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_ANY_NOUN}) (?P<two>{NAME_PATTERN})(?![\w-]| [A-Z])(?! and [A-Z])"
)
# "a letter from my cousin, Mr. Vale", not "I thank my cousin, Mr. Vale", said to him
_OWNER_AND_APPOSITION = LazyPattern(
    rf"\b(?:from|of|by|about|than|is|was) (?P<whose>[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_ANY_NOUN}), (?P<two>{NAME_PATTERN})(?![\w-]| [A-Z])(?! and [A-Z])"
)
# "Mags, her cousin,"
_NAME_AND_OWNER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}), (?P<whose>his|her|my|your) "
    rf"{KINSHIP_ADJECTIVES}(?P<kin>{_ANY_NOUN})(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
)
# "his sisters, Mags and Ada", "Nell's two sisters Mags and Ada"
_PLURAL = LazyPattern(
    rf"(?:\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our)|(?P<one>{NAME_PATTERN})(?:'s|(?<=s)')) "
    rf"{KINSHIP_ADJECTIVES}(?:(?:two|three|four|five|six|elder|younger|eldest|"
    rf"youngest) )*(?P<kin>{_PLURALS}),? (?P<names>{_LIST})(?![\w-])"
)
# "the eldest of his daughters, Jane"
_ONE_OF = LazyPattern(
    rf"\b(?:one|eldest|elder|youngest|younger|second|third|first|last) of (?:(?P<whose>"
    rf"his|her|my|your)|(?P<one>{NAME_PATTERN})(?:'s|(?<=s)')) {KINSHIP_ADJECTIVES}"
    rf"(?:(?:two|three|four|five|six) )?(?P<kin>{_PLURALS}),? (?P<two>{NAME_PATTERN})"
    r"(?=[.,;:!?)—–]|$| (?:was|is|had|and)\b)"
)
_SINGULAR = {"children": "child"}
_PAUSE = r"(?:^|(?<=[\x01.!?;:—“\"‘',])|(?<=[\x01.!?;:—“\"‘',] ))"
# "…, mamma." and "My dear aunt, …"
_VOCATIVE = LazyPattern(
    rf"(?i){_PAUSE}(?:(?:oh|ah|no|yes|well|but|and|now|"
    r"O|good \w+|thank you)[,!]? )?(?P<dear>(?:my )?(?:(?:dear|dearest|own|sweet|"
    r"beloved|poor) )+|my )?(?P<kin>mamma|mama|papa|mother|father|aunt|uncle|"
    r"sister|brother|cousin|niece|nephew|grandmother|grandfather|grandmamma|grandpapa|"
    r"wife|husband|son|daughter)(?=[,.!?;\x01”\"—])"
)
# "Aunt Mags", of an aunt of the speaker
_TITLED_KIN = LazyPattern(
    rf"(?<![\w-])(?<![Hh]is )(?<![Hh]er )(?<![Yy]our )(?<![Mm]y )(?P<kin>[Aa]unt|[Uu]ncle|[Cc]ousin) (?P<two>{NAME_PATTERN})"
)
# "the daughter of Hob Gannet" is a pattern of `kinship`; these are of couples.
_UNION = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) (?:(?:is|was|were|be|been|being|had been|has "
    r"been|are) )?(?:(?:now|already|really|actually|secretly|formally) )?"
    r"(?P<verb>engaged|betrothed|affianced|married|wedded) (?:to be married )?to "
    rf"(?P<two>{NAME_PATTERN})(?![\w-])"
)
_UNION_OF = LazyPattern(
    rf"\b(?P<verb>marriage|wedding|engagement|union) (?:of|between) (?P<one>"
    rf"{NAME_PATTERN}) (?:and|with|to) (?P<two>{NAME_PATTERN})(?![\w-])"
)
_UNION_WITH = LazyPattern(
    rf"(?:(?P<one>{NAME_PATTERN})(?:'s|(?<=s)')|\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our)) "
    rf"(?:\w+ )?(?P<verb>marriage|wedding|engagement) (?:to|with) (?P<two>{NAME_PATTERN})(?![\w-])"
)
_FIRST_PERSON_UNION = LazyPattern(
    r"\b(?P<whose>I|[Yy]ou) (?:am|was|are|were|have|had|have been|had been) (?:\w+ )?"
    rf"(?P<verb>engaged|married) (?:to )?(?P<two>{NAME_PATTERN})(?![\w-])"
)
_PRONOUN_UNION = LazyPattern(
    r"\b(?P<whose>[Hh]e|[Ss]he) (?:is|was|were|had been|has been) (?:\w+ )?"
    rf"(?P<verb>engaged|married|betrothed) (?:to be married )?to (?P<two>{NAME_PATTERN})(?![\w-])"
)
# "Mags became the wife of Hob"
_WIFE_OF = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN})(?: will| had| has)?(?: soon| now| at last)?"
    r"(?: be| become| became| been|) the (?P<verb>wife|widow|husband) of "
    rf"(?P<one>{NAME_PATTERN})(?![\w-])"
)
# "…," said her mother
_TAG = LazyPattern(
    r"\x01,? (?:said|cried|replied|asked|returned|answered|exclaimed|observed|added|"
    r"continued|inquired|rejoined|remarked|whispered|repeated|resumed|interrupted|called"
    rf") (?P<whose>his|her) {KINSHIP_ADJECTIVES}(?P<kin>{_FAMILY_NOUN}|friend){_NO_NAME}"
)
_ENGAGED = frozenset({"engaged", "betrothed", "affianced", "engagement"})
_UNIONS = {"wife": "wife", "husband": "husband", "widow": "widow"}
_FRIENDLY = LazyPattern(
    rf"(?i){_PAUSE}(?:(?:oh|ah|no|yes|well|but|and|now),? )?"
    r"(?:my (?:dear |dearest |good |old )*friend|mon ami|(?:my )?(?:dear |dearest |good )*"
    r"old (?:friend|fellow|chap|man)|my (?:dear |dearest |good )+(?:fellow|chap))(?=[,.!?;\x01”\"—])"
)
# "My dear Mags", with a given name; "my dear Mr. Vale" is a form of politeness
_DEAR_NAME = LazyPattern(
    rf"\b[Mm]y (?:dear|dearest)(?: old| good)? (?P<two>{NAME_PATTERN})(?![\w-])"
)
_PARTIES = {
    "my": CueParty.SPEAKER,
    "i": CueParty.SPEAKER,
    "your": CueParty.ADDRESSEE,
    "you": CueParty.ADDRESSEE,
}
_POSSESSIVES = {"he": "his", "she": "her"}
_PLURAL_WORDS = frozenset(_PLURALS.split("|"))
_UNION_WORDS = frozenset(
    [
        "engaged",
        "betrothed",
        "affianced",
        "married",
        "wedded",
        "marriage",
        "wedding",
        "engagement",
        "union",
        "wife",
        "widow",
        "husband",
    ]
)
_TRIGGERS = (
    {*_FAMILY.split(), *_PLURALS.split("|"), "friend", "ami", "married", "engaged"}
    | {"marriage", "engagement", "wedding", "betrothed", "affianced", "union", "wedded"}
    | {"patroness", "patron", "grandmamma", "grandpapa", "dear", "dearest", "fellow"}
    | {"chap"}
    | RELATIONSHIP_WORDS
)


@dataclass(frozen=True, slots=True)
class _Cue:
    """A sign that `target` is the `kin` of `owner`; either may be a `CueParty` or empty.

    With `possible`, `owner` is empty: it is one of these names, or nobody.
    """

    owner: str
    kin: str
    target: str
    sign: RelationCue
    start: int
    end: int
    possible: tuple[str, ...] = ()
    pronoun: str = ""


@dataclass(frozen=True, slots=True)
class _Clause:
    """The narration or the speech of the sentence with index `place` of `prose`."""

    prose: AnnotatedProse
    place: int
    words: str
    is_spoken: bool
    starts: Sequence[int] = field(default=())


def find_relation_cues(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield a fact about a relation cue for each sign of kinship or friendship, in text
    order; equal ones of a sentence once.

    The subject, and the detail `target`, are a name, a `CueParty`, or empty if it is
    not said who it is. Further details: `kind` (a noun), `sign` (a `RelationCue`) and,
    for a pronoun, `pronoun` with each name that it may stand for as `possible`.
    """
    for place, sentence in enumerate(prose.sentences):
        if sentence.words.isdisjoint(_TRIGGERS):
            continue
        for words, is_spoken in split_narration_and_speech(sentence):
            starts = find_capitalized_offsets(words) if is_spoken else sentence.starts
            clause = _Clause(prose, place, words, is_spoken, starts)
            cues = (_build_fact(cue, sentence) for cue in _find_cues(clause))
            yield from deduplicate_facts(cues)


def _find_cues(clause: _Clause) -> Iterator[_Cue]:
    words = clause.prose.sentences[clause.place].words
    yield from _find_owned(clause)
    if not words.isdisjoint(_PLURAL_WORDS):
        yield from _find_lists(clause)
    if not words.isdisjoint(_UNION_WORDS):
        yield from _find_unions(clause)
    if clause.is_spoken:
        yield from _find_addresses(clause)
    else:
        for match in _TAG.finditer(clause.words):
            kin = _WORDS.get(match["kin"], match["kin"])
            # The span begins in the quotation, which tells the speaker.
            at, end = match.start(), match.end()
            parties = CueParty.ADDRESSEE, kin, CueParty.SPEAKER
            yield _Cue(*parties, RelationCue.TAG, at, end)


def _find_owned(clause: _Clause) -> Iterator[_Cue]:
    for match in find_matches_at(_NAMED_OWNER, clause.words, clause.starts):
        if owner := clean_name(match["one"], clause.prose):
            kin = _WORDS.get(match["kin"], match["kin"])
            yield _Cue(owner, kin, "", RelationCue.OWNER, *match.span())
    ends = {match.end() for match in _iter_kin_addresses(clause)}
    for match in _OWNER.finditer(clause.words):
        if match.end() in ends:
            continue
        yield from _owned_by(clause, match, "", RelationCue.UNNAMED)
    # In speech, "Mags, my cousin" may be said to Mags.
    more = _OWNER_AND_APPOSITION if clause.is_spoken else _NAME_AND_OWNER
    patterns = (_OWNER_AND_NAME, more)
    for match in chain.from_iterable(p.finditer(clause.words) for p in patterns):
        if two := clean_name(match["two"], clause.prose):
            yield from _owned_by(clause, match, two, RelationCue.NAMED)


def _owned_by(
    clause: _Clause, match: re.Match[str], two: str, sign: RelationCue, kin: str = ""
) -> Iterator[_Cue]:
    """Yield the cue of a possessive pronoun, if somebody may be meant by it."""
    whose = match["whose"].lower()
    whose = _POSSESSIVES.get(whose, whose)
    kin = kin or _WORDS.get(match["kin"], match["kin"])
    party = _party(clause, whose)
    if party:
        yield _Cue(party, kin, two, sign, *match.span())
    elif whose in ("his", "her"):
        people = _possible_owners(clause, match.start())
        people = tuple(name for name in people if name != two)
        if people:
            yield _Cue("", kin, two, sign, *match.span(), people, whose)


def _party(clause: _Clause, whose: str) -> str:
    """Return who says "my", or is meant by "your"; "" for other pronouns."""
    if clause.is_spoken:
        return _PARTIES.get(whose, "")
    return CueParty.NARRATOR if whose in ("my", "i") else ""


def _possible_owners(clause: _Clause, at: int) -> tuple[str, ...]:
    """Return the names before offset `at` of the sentence; if there are none, those of
    the sentence before it in the paragraph.
    """
    prose = clause.prose
    names = find_prose_names(prose, clause.words[:at])
    if not names and clause.place and not clause.is_spoken:
        before, own = prose.sentences[clause.place - 1], prose.sentences[clause.place]
        if "\n\n" not in prose.text[before.span.end : own.span.start]:
            names = find_prose_names(prose, before.narration)
    return tuple(name for name in names if is_known_person(name, prose))


def _find_lists(clause: _Clause) -> Iterator[_Cue]:
    for match in (*_PLURAL.finditer(clause.words), *_ONE_OF.finditer(clause.words)):
        kin = _SINGULAR.get(match["kin"], match["kin"].removesuffix("s"))
        owner = clean_name(match["one"] or "", clause.prose)
        for two in _list_names(clause, match):
            if owner:
                yield _Cue(owner, kin, two, RelationCue.LIST, *match.span())
            elif match["whose"]:
                yield from _owned_by(clause, match, two, RelationCue.NAMED, kin)


def _list_names(clause: _Clause, match: re.Match[str]) -> Iterator[str]:
    names = match.groupdict()
    listed = names.get("names") or names.get("two") or ""
    for part in re.split(r",? (?:and|or) |, ", listed):
        name = clean_name(part, clause.prose)
        if name and is_known_person(name, clause.prose):
            yield name


def _find_unions(clause: _Clause) -> Iterator[_Cue]:
    matches = [*find_matches_at(_UNION, clause.words, clause.starts)]
    matches += find_matches_at(_WIFE_OF, clause.words, clause.starts)
    for pattern in (_UNION_OF, _UNION_WITH, _FIRST_PERSON_UNION, _PRONOUN_UNION):
        matches += pattern.finditer(clause.words)
    for match in matches:
        groups = match.groupdict()
        two = clean_name(match["two"], clause.prose)
        kin = (
            "engaged"
            if match["verb"] in _ENGAGED
            else _UNIONS.get(match["verb"], "spouse")
        )
        before = extract_clause_before(clause.words, match.start())
        if (
            not two
            or not is_asserted(match.group())
            or not is_asserted(before)
            or ends_in_question(clause.words, match.end())
        ):
            continue
        if not groups.get("one"):
            yield from _owned_by(clause, match, two, RelationCue.UNION, kin)
        elif owner := clean_name(match["one"], clause.prose):
            yield _Cue(owner, kin, two, RelationCue.UNION, *match.span())


def _find_addresses(clause: _Clause) -> Iterator[_Cue]:
    for match in _iter_kin_addresses(clause):
        kin = match["kin"].lower().replace("mamma", "mother").replace("papa", "father")
        group = "dear" if match["dear"] else "kin"
        yield _address(_WORDS.get(kin, kin), match, group)
    for match in _FRIENDLY.finditer(clause.words):
        yield _address("friend", match, "")
    for match in _DEAR_NAME.finditer(clause.words):
        two = clean_name(match["two"], clause.prose)
        if two and " " not in two and is_known_person(two, clause.prose):
            yield _Cue(
                CueParty.SPEAKER, "friend", two, RelationCue.ADDRESS, *match.span()
            )
    for match in _TITLED_KIN.finditer(clause.words):
        if two := clean_name(match["two"], clause.prose):
            kin = match["kin"].lower()
            yield _Cue(CueParty.SPEAKER, kin, two, RelationCue.TITLE, *match.span())


def _iter_kin_addresses(clause: _Clause) -> Iterator[re.Match[str]]:
    """Yield the matches of words of kinship said to somebody: "aunt" or "my dear aunt",
    but not "my aunt", which may be the subject; "my son", but not "son".
    """
    for match in _VOCATIVE.finditer(clause.words) if clause.is_spoken else ():
        dear = (match["dear"] or "").strip().lower()
        is_owned = match["kin"].lower() in _OWNED_ADDRESS
        if dear not in ("", "my") or is_owned == (dear == "my"):
            yield match


_OWNED_ADDRESS = frozenset({"wife", "husband", "son", "daughter", "niece", "nephew"})
"""Words of address that stand without "my dear" for strangers, too."""


def _address(kin: str, match: re.Match[str], group: str) -> _Cue:
    start = match.start(group) if group else match.start()
    while match.string[start] in '\x01 “"‘—-':
        start += 1
    return _Cue(
        CueParty.SPEAKER,
        kin,
        CueParty.ADDRESSEE,
        RelationCue.ADDRESS,
        start,
        match.end(),
    )


def _build_fact(cue: _Cue, sentence: ProseSentence) -> Fact:
    is_named = bool(cue.owner and cue.owner not in set(CueParty))
    details = [("target", cue.target), ("kind", cue.kin), ("sign", cue.sign.value)]
    if cue.possible:
        details.append(("pronoun", cue.pronoun))
        details += [("possible", name) for name in cue.possible]
    return make_fact(
        FactAbout.RELATION_CUE,
        RELATION_CUE_FIELD,
        "",
        to_text_span(sentence, cue.start, cue.end),
        Certainty.VERIFIED if is_named else Certainty.PROBABLE,
        subject=cue.owner,
        details=tuple(details),
    )
