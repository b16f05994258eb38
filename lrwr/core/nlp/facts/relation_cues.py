"""Cues to relations between people: weak signs that count only together.

A cue may leave out who somebody is: "my aunt" is the aunt of whoever speaks, and
"Nell's mother" has no name. The story bible fills in speakers, addressees and names that
only one character fits, and shows a relation when the cues of the library suffice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from lrwr.core.model.facts import (
    ALONE_DETAIL,
    FAR_DETAIL,
    RELATION_CUE_FIELD,
    Certainty,
    CueParty,
    Fact,
    FactAbout,
    RelationCue,
)
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    clean_name,
    deduplicate_facts,
    ends_in_question,
    extract_clause_before,
    find_matches_at,
    find_prose_names,
    infer_title_possessive,
    is_asserted,
    is_known_person,
    make_fact,
    may_be_person,
    split_narration_and_speech,
    to_text_span,
)
from lrwr.core.nlp.facts.kin_patterns import (
    ADDRESSED,
    BOTH_UNITED,
    DEAR_NAME,
    ENGAGED,
    FAMILY,
    FIRST_PERSON_UNION,
    FRIENDLY,
    FRIENDSHIP,
    HAS_PARTNER,
    IN_LOVE,
    INVERSE,
    NAME_AND_OWNER,
    NAME_IS_OWNED,
    NAME_OF_OWNER,
    NAME_OF_RANK,
    NAMED_OWNER,
    ONE_OF,
    OWNED_NAME,
    OWNER,
    OWNER_AND_APPOSITION,
    OWNER_AND_CLOSED_NAME,
    OWNER_AND_NAME,
    OWNER_IS_NAME,
    PLURAL,
    PLURALS,
    PRONOUN_AND_NAME,
    PRONOUN_IS_NAMED,
    PRONOUN_IS_OWNED,
    PRONOUN_OF_NAME,
    PRONOUN_UNION,
    SINGULAR,
    SOMEBODYS_WIFE,
    TAG,
    TAG_TO,
    TIME_CLAUSE,
    TITLED_KIN,
    UNION,
    UNION_OF,
    UNION_WITH,
    UNION_WORDS,
    UNIONS,
    VOCATIVE,
    WIFE_OF,
    WORDS,
    YOU_ARE,
)
from lrwr.core.nlp.facts.kinship import (
    RELATIONSHIP_WORDS,
    mask_owned_names,
)
from lrwr.core.nlp.names.lexicon import FEMALE_NAMES, MALE_NAMES
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
)

_PARTIES = {
    "my": CueParty.SPEAKER,
    "i": CueParty.SPEAKER,
    "your": CueParty.ADDRESSEE,
    "you": CueParty.ADDRESSEE,
}
_POSSESSIVES = {"he": "his", "she": "her", "mine": "my", "hers": "her", "yours": "your"}
_PLURAL_WORDS = frozenset(PLURALS.split("|"))
_TRIGGERS = (
    {*FAMILY.split(), *PLURALS.split("|"), "friend", "ami", "married", "engaged"}
    | {"marriage", "engagement", "wedding", "betrothed", "affianced", "union", "wedded"}
    | {"patroness", "patron", "grandmamma", "grandpapa", "dear", "dearest", "fellow"}
    | {"chap", "friendship", "love"}
    | RELATIONSHIP_WORDS
)


@dataclass(frozen=True, slots=True)
class _Owners:
    """The `names` that a pronoun may mean; with `is_alone`, the paragraph has no other
    name before it, and with `is_far`, they are of the paragraph before.
    """

    names: tuple[str, ...] = ()
    is_alone: bool = False
    is_far: bool = False


@dataclass(frozen=True, slots=True)
class _Cue:
    """A sign that `target` is the `kin` of `owner`; either may be a `CueParty` or empty.

    With names in `owners`, `owner` is empty: it is one of these, or nobody.
    """

    owner: str
    kin: str
    target: str
    sign: RelationCue
    start: int
    end: int
    owners: _Owners = _Owners()
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
    if not words.isdisjoint(UNION_WORDS):
        yield from _find_unions(clause)
    if clause.is_spoken:
        yield from _find_addresses(clause)
        yield from _find_you(clause)
    else:
        for match in TAG.finditer(clause.words):
            kin = WORDS.get(match["kin"], match["kin"])
            # The span begins in the quotation, which tells the speaker.
            at, end = match.start(), match.end()
            parties = CueParty.ADDRESSEE, kin, CueParty.SPEAKER
            yield _Cue(*parties, RelationCue.TAG, at, end)
        for match in TAG_TO.finditer(clause.words):
            kin = WORDS.get(match["kin"], match["kin"])
            parties = CueParty.SPEAKER, kin, CueParty.ADDRESSEE
            yield _Cue(*parties, RelationCue.TAG, *match.span())


def _find_owned(clause: _Clause) -> Iterator[_Cue]:
    for match in find_matches_at(NAMED_OWNER, clause.words, clause.starts):
        if owner := clean_name(match["one"], clause.prose):
            kin = WORDS.get(match["kin"], match["kin"])
            yield _Cue(owner, kin, "", RelationCue.OWNER, *match.span())
    if "wife" in clause.words or "husband" in clause.words:
        yield from _find_partners(clause)
    ends = {match.end() for match in _iter_kin_addresses(clause)}
    for match in OWNER.finditer(clause.words):
        if match.end() in ends:
            continue
        yield from _owned_by(clause, match, "", RelationCue.UNNAMED)
    yield from _find_named(clause)
    yield from _find_pronoun_predicates(clause)


def _find_partners(clause: _Clause) -> Iterator[_Cue]:
    """Yield the cues that somebody has a wife or a husband without a name."""
    for pattern in (HAS_PARTNER, SOMEBODYS_WIFE):
        for match in find_matches_at(pattern, clause.words, clause.starts):
            kin = match["kin"] if pattern is HAS_PARTNER else "husband"
            if owner := clean_name(match["one"], clause.prose):
                yield _Cue(owner, kin, "", RelationCue.STATED, *match.span())


def _find_named(clause: _Clause) -> Iterator[_Cue]:
    """Yield the cues that name the kin of somebody."""
    # In speech, "Mags, my cousin" may be said to Mags.
    more: tuple[LazyPattern, ...] = (OWNER_AND_APPOSITION, OWNER_AND_CLOSED_NAME)
    if not clause.is_spoken:
        more = (NAME_AND_OWNER, OWNER_AND_CLOSED_NAME)
    patterns = (OWNER_AND_NAME, *more)
    matches = chain.from_iterable(p.finditer(clause.words) for p in patterns)
    named = ((match, RelationCue.NAMED) for match in matches)
    stated = ((match, RelationCue.STATED) for match in _find_predicates(clause))
    for match, sign in chain(named, stated):
        two = clean_name(match["two"], clause.prose)
        groups = match.groupdict()
        kin = _read_kin(groups)
        if two and groups.get("whose"):
            yield from _owned_by(clause, match, two, sign, kin)
        elif two and (owner := _clean_owner(groups.get("one") or "", clause.prose)):
            yield _Cue(owner, kin, two, sign, *match.span())


def _find_pronoun_predicates(clause: _Clause) -> Iterator[_Cue]:
    """Yield the cue of "she is my cousin" in speech that has named only one woman."""
    for match in PRONOUN_IS_OWNED.finditer(clause.words) if clause.is_spoken else ():
        whose = _POSSESSIVES[match["who"].lower()]
        names = set(_find_owners(clause, match.start(), whose).names)
        before = extract_clause_before(clause.words, match.start())
        if len(names) == 1 and is_asserted(before):
            yield from _owned_by(clause, match, names.pop(), RelationCue.NAMED)


def _clean_owner(phrase: str, prose: AnnotatedProse) -> str:
    """Return the name in `phrase`; "the duchess" is one."""
    return phrase if phrase[4:].islower() else clean_name(phrase, prose)


def _read_kin(groups: Mapping[str, str | None]) -> str:
    """Return what the second of two people is to the first; "her father" for "she is
    the daughter of".
    """
    role = groups.get("role") or ""
    kin = groups.get("kin") or INVERSE.get(role, role)
    return WORDS.get(kin, kin)


def _find_predicates(clause: _Clause) -> Iterator[re.Match[str]]:
    """Yield the statements that somebody is the kin of another one."""
    begun = (NAME_IS_OWNED, NAME_OF_OWNER, NAME_OF_RANK)
    free = [OWNER_IS_NAME, PRONOUN_OF_NAME, PRONOUN_IS_NAMED, PRONOUN_AND_NAME]
    if "friendship " in clause.words or "in love " in clause.words:
        free += [FRIENDSHIP, IN_LOVE]
    matches = chain(
        *(find_matches_at(pattern, clause.words, clause.starts) for pattern in begun),
        *(pattern.finditer(clause.words) for pattern in free),
    )
    return (match for match in matches if _is_statement(clause, match))


def _is_statement(clause: _Clause, match: re.Match[str]) -> bool:
    """Return whether nothing before it denies or doubts what a match says."""
    before = extract_clause_before(clause.words, match.start())
    is_question = ends_in_question(clause.words, match.end())
    return is_asserted(TIME_CLAUSE.sub("", before)) and not is_question


def _owned_by(
    clause: _Clause, match: re.Match[str], two: str, sign: RelationCue, kin: str = ""
) -> Iterator[_Cue]:
    """Yield the cue of a possessive pronoun, if somebody may be meant by it."""
    whose = match["whose"].lower()
    whose = _POSSESSIVES.get(whose, whose)
    if two and whose in ("his", "her") and " own " in match.group():
        return  # somebody else's kin was spoken of
    kin = kin or WORDS.get(match["kin"], match["kin"])
    party = _party(clause, whose)
    if party:
        yield _Cue(party, kin, two, sign, *match.span())
    elif whose in ("his", "her"):
        owners = _find_owners(clause, match.start(), whose)
        people = tuple(name for name in owners.names if name != two)
        if people:
            owners = replace(owners, names=people)
            yield _Cue("", kin, two, sign, *match.span(), owners, whose)


def _party(clause: _Clause, whose: str) -> str:
    """Return who says "my", or is meant by "your"; "" for other pronouns."""
    if clause.is_spoken:
        return _PARTIES.get(whose, "")
    return CueParty.NARRATOR if whose in ("my", "i") else ""


_SUBJECTS = {"his": ("he",), "her": ("she",)}
_FAR_PARAGRAPHS = {False: 1, True: 3}
"""Paragraphs before, in narration and in speech, whose names a pronoun may mean: who is
talked about is seldom named in each reply.
"""


def _find_owners(clause: _Clause, at: int, whose: str) -> _Owners:
    """Return the names before offset `at` of the sentence that "his" or "her" may mean;
    if there are none, those of the last sentence before it that has any in the
    paragraph, or in one of the last paragraphs before it.

    The kin of the same pronoun are none of them: in "his aunt Mags and his friend Hob",
    "his" means the same twice.
    """
    prose, own = clause.prose, clause.prose.sentences[clause.place]
    everybody = find_prose_names(prose, mask_owned_names(clause.words[:at]))
    names, distance = _keep_fitting(everybody, whose, prose), 0
    breaks, end = 0, own.span.start
    for before in reversed(prose.sentences[: clause.place]):
        breaks += prose.text.count("\n\n", before.span.end, end)
        if breaks > (0 if names else _FAR_PARAGRAPHS[clause.is_spoken]):
            break
        words = before.narration
        if clause.is_spoken:
            words = ADDRESSED.sub(MASK_CHARACTER, before.speech)
        if words.lstrip(MASK_CHARACTER + " ")[:3].strip().lower() in _SUBJECTS[whose]:
            # "He is Hob's grandson. His mother …": not that of Hob.
            words = OWNED_NAME.sub(MASK_CHARACTER, words)
        earlier = find_prose_names(prose, mask_owned_names(words))
        if not names:
            names, distance = _keep_fitting(earlier, whose, prose), breaks
        everybody += earlier
        end = before.span.start
    is_alone = len(set(everybody)) == 1 and not distance
    return _Owners(tuple(names), is_alone, distance > 0)


def _keep_fitting(names: Sequence[str], whose: str, prose: AnnotatedProse) -> list[str]:
    """Return the names of people whose title or given name does not contradict the
    pronoun `whose`.
    """
    return [
        name
        for name in names
        if _guess_possessive(name) in ("", whose) and may_be_person(name, prose)
    ]


def _guess_possessive(name: str) -> str:
    given_name = name.split(" ")[0].lower()
    title = infer_title_possessive(name)
    if title or (given_name in FEMALE_NAMES) == (given_name in MALE_NAMES):
        return title
    return "her" if given_name in FEMALE_NAMES else "his"


def _find_lists(clause: _Clause) -> Iterator[_Cue]:
    for match in (*PLURAL.finditer(clause.words), *ONE_OF.finditer(clause.words)):
        kin = SINGULAR.get(match["kin"], match["kin"].removesuffix("s"))
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
    matches = [*find_matches_at(UNION, clause.words, clause.starts)]
    matches += find_matches_at(WIFE_OF, clause.words, clause.starts)
    matches += find_matches_at(BOTH_UNITED, clause.words, clause.starts)
    for pattern in (UNION_OF, UNION_WITH, FIRST_PERSON_UNION, PRONOUN_UNION):
        matches += pattern.finditer(clause.words)
    for match in matches:
        groups = match.groupdict()
        two = clean_name(match["two"], clause.prose)
        kin = (
            "engaged"
            if match["verb"] in ENGAGED
            else UNIONS.get(match["verb"], "spouse")
        )
        before = extract_clause_before(clause.words, match.start())
        before = TIME_CLAUSE.sub("", before)
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
        yield _address(WORDS.get(kin, kin), match, group)
    for match in FRIENDLY.finditer(clause.words):
        yield _address("friend", match, "")
    for match in DEAR_NAME.finditer(clause.words):
        two = clean_name(match["two"], clause.prose)
        if two and " " not in two:
            yield _Cue(
                CueParty.SPEAKER, "friend", two, RelationCue.ADDRESS, *match.span()
            )
    for match in TITLED_KIN.finditer(clause.words):
        if two := clean_name(match["two"], clause.prose):
            kin = match["kin"].lower()
            yield _Cue(CueParty.SPEAKER, kin, two, RelationCue.TITLE, *match.span())


def _find_you(clause: _Clause) -> Iterator[_Cue]:
    """Yield the cues of "you are my cousin" and "I am your cousin"."""
    for match in YOU_ARE.finditer(clause.words):
        says_i = match["who"] == "I"
        parties = CueParty.SPEAKER, match["kin"], CueParty.ADDRESSEE
        parties = parties[::-1] if says_i else parties
        if says_i == (match["whose"] == "your") and _is_statement(clause, match):
            yield _Cue(*parties, RelationCue.ADDRESS, *match.span())


def _iter_kin_addresses(clause: _Clause) -> Iterator[re.Match[str]]:
    """Yield the matches of words of kinship said to somebody: "aunt" or "my dear aunt",
    but not "my aunt", which may be the subject; "my son", but not "son".
    """
    for match in VOCATIVE.finditer(clause.words) if clause.is_spoken else ():
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
    if cue.owners.names:
        details.append(("pronoun", cue.pronoun))
        details += [("possible", name) for name in cue.owners.names]
        details += [ALONE_DETAIL] if cue.owners.is_alone else []
        details += [FAR_DETAIL] if cue.owners.is_far else []
    return make_fact(
        FactAbout.RELATION_CUE,
        RELATION_CUE_FIELD,
        "",
        to_text_span(sentence, cue.start, cue.end),
        Certainty.VERIFIED if is_named else Certainty.PROBABLE,
        subject=cue.owner,
        details=tuple(details),
    )
