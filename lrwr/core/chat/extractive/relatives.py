"""Finds the relatives whom a question asks for, or names, as in "Nell's aunt".

"Nell's aunt" is not Nell: what is known of Nell does not answer for her aunt.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.bible.kin_terms import FAMILY, KinTerm, choose_noun, read_kin_term
from lrwr.core.bible.values import Bible, CharacterRelation
from lrwr.core.chat.context.items import (
    ContextItem,
    StoryFacet,
    build_relation_item,
    is_sure,
)
from lrwr.core.chat.extractive.answer_types import MARRIAGE_QUESTION
from lrwr.core.chat.extractive.question_parts import (
    QuestionPart,
    build_name_pattern,
    iter_profile_names,
)
from lrwr.core.chat.planning import lexicon
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.cast import Gender
from lrwr.core.model.chunks import Passage
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.nlp.facts.clauses import FEMALE_TITLE_WORDS, MALE_TITLE_WORDS
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.people import infer_question_role

_KIN_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:"
    r"(?:who|what)(?:['’]s|\s+(?:is|was|are|were))\s+(?:the\s+names?\s+of\s+)?(?:"
    r"(?:.{1,40}?['’]s?|his|her|their|its)\s+(?P<owned>[\w-]+)"
    r"|the\s+(?P<of>[\w-]+)\s+of\s+.{1,40}?)(?:['’]s?\s+names?|\s+called|\s+named)?"
    r"|(?:does|did|do|has|have|had)\s+.{1,40}?\s+(?:have\s+)?(?:any|an?)\s+(?P<has>[\w-]+)"
    r"|whose\s+(?P<whose>[\w-]+)\s+(?:is|was|are|were)\s+.{1,40}?)\W*$",
    re.IGNORECASE,
)
"""Asks who is related to somebody in one way ("Who is Nell's mother?"), and no more."""

_PLURALS = {"children": "child", "wives": "wife"}

_ORDER = (
    r"(?:elder|eldest|younger|youngest|older|oldest|late|dead|own|only|twin|poor|little"
    r"|future|former|first|second)"
)
_NAME_ASKED = re.compile(r"\b(?:names?|called|named|related|relations?)\b", re.I)
"""Questions for the name of a relative itself, or for how people are related."""

_WHO_IS = re.compile(r"\W*(?:and\s+)?who(?:['’]s|\s+(?:is|was|are|were))\s+", re.I)
"""The beginning of a question for who a relative is, whatever follows."""

_NEAR_KIN_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:who|what)(?:['’]s|\s+(?:is|was|are|were))\s+"
    r"(?:the\s+names?\s+of\s+)?(?:.{1,40}?['’]s?|his|her|their)\s+(?P<phrase>"
    r"(?:(?:elder|eldest|older|oldest|younger|youngest|twin|only)\s+(?P<noun>[\w-]+)"
    r"|half-?\s?(?P<half>brother|sister)))\W*$",
    re.IGNORECASE,
)
"""Asks for one of several relatives, or for a half-sister, whom the story may only call
a sister."""

_KINDS_OF_KIN = FAMILY | {"widowed", "guardian"}


@dataclass(frozen=True, slots=True)
class Relative:
    """A person whom a question names only as a relative.

    `phrase` are the words of the question, "Nell's aunt"; `owner` are all names of the
    one whose relative it is, and `noun` is the word for the relative.
    """

    phrase: str
    owner: tuple[str, ...]
    noun: str
    term: KinTerm


def find_relative(question: str, cast: Iterable[Sequence[str]]) -> Relative | None:
    """Return the first relative of one of `cast`, the names of each character, whom
    `question` names; None without one, or if it asks who that is.
    """
    if find_kin_asked(question) or _NAME_ASKED.search(question):
        return None
    owners = {
        form: tuple(names) for names in cast for form in names if form in question
    }
    names = build_name_pattern(owners, question)
    if names is None:
        return None
    pattern = re.compile(
        rf"(?<!\w)(?P<owner>{names})(?:['’]s|(?<=s)['’])\s+(?:{_ORDER}\s+)?"
        r"(?P<noun>[a-z]+(?:-[a-z]+)*)(?!\w)"
    )
    for match in pattern.finditer(question):
        if _WHO_IS.fullmatch(question[: match.start()]):
            continue
        term = read_kin_term(match["noun"])
        if term is not None and term.base in _KINDS_OF_KIN:
            return Relative(match.group(), owners[match["owner"]], match["noun"], term)
    return None


def name_relative(question: str, bible: Bible) -> str:
    """Return `question` with the name of the relative in place of "Nell's aunt"; "" if
    there is none, or unless a certain relation of `bible` names just one such person.
    """
    cast = (tuple(iter_profile_names(profile)) for profile in bible.characters)
    relative = find_relative(question, cast)
    if relative is None:
        return ""
    genders = {profile.name: profile.gender for profile in bible.characters}
    relations = select_kin(relative.term, relative.owner, bible.relations, genders)
    names = {relation.target for relation in relations}
    is_certain = all(any(map(is_sure, relation.evidence)) for relation in relations)
    if len(names) != 1 or not is_certain or not names.isdisjoint(relative.owner):
        return ""
    return question.replace(relative.phrase, names.pop(), 1)


def drop_owner_items(
    relative: Relative | None, lines: Sequence[tuple[ContextItem, ...]]
) -> list[tuple[ContextItem, ...]]:
    """Return `lines` without what is known of the one whose `relative` is meant, and
    without events that do not name the relative.
    """
    if relative is None:
        return list(lines)
    return [
        line
        for line in lines
        if not any(item.about in relative.owner for item in line)
        and all(
            item.facet is not StoryFacet.HAPPENED or relative.noun in item.words.lower()
            for item in line
        )
    ]


def put_relative_first(
    relative: Relative | None,
    passages: Sequence[Passage],
    narrators: Iterable[Sequence[str]],
    sentences: SentenceSplitter,
) -> list[Passage]:
    """Return `passages`, first those with a sentence that names the `relative` and whose
    it is, then those that only have the noun.

    If the owner is one of `narrators`, "my aunt" names them both.
    """
    if relative is None:
        return list(passages)
    noun = rf"\b{re.escape(relative.noun)}\b"
    whose = [rf"\b{re.escape(form)}\b" for form in relative.owner]
    if any(set(relative.owner) & set(forms) for forms in narrators):
        whose.append(rf"\b[Mm]y\s+(?:\w+\s+)?{noun}")
    near = re.compile("|".join(whose))

    def rank(passage: Passage) -> int:
        text = passage.chunk.text
        parts = [text[s.start : s.end] for s in sentences(text)]
        with_noun = [part for part in parts if re.search(noun, part, re.IGNORECASE)]
        if any(near.search(part) for part in with_noun):
            return 0
        return 1 if with_noun else 2

    return sorted(passages, key=rank)


def describe_unknown_relative(question: str, relative: Relative) -> str:
    """Return a sentence that says that it is not known who the `relative` is; "" unless
    `question` asks what they say: then lines of nobody known can answer it.
    """
    role = infer_question_role(question, question.find(relative.phrase))
    is_speech = lexicon.SPEECH_PATTERN.search(question.lower())
    if role is not AppearanceRole.SPEAKS or not is_speech:
        return ""
    return f"No single name is known for {relative.phrase}."


def find_kin_asked(question: str) -> KinTerm | None:
    """Return the relationship to whom `question` names that it asks for, as in "Who is
    Nell's mother?"; None if it asks for anything else.
    """
    if MARRIAGE_QUESTION.match(question):
        return read_kin_term("spouse")
    match = _KIN_QUESTION.match(question)
    if match is None:
        return None
    noun = next(filter(None, match.groups())).lower()
    term = read_kin_term(noun) or read_kin_term(_PLURALS.get(noun, noun.rstrip("s")))
    if term is None or not match["whose"]:
        return term
    return replace(term, side=-term.side, gender=Gender.UNKNOWN)


def _find_near_kin_asked(question: str) -> tuple[str, KinTerm] | None:
    """Return the relative that `question` asks for, such as "eldest brother", and the
    wider relationship that may be known, "brother"; None if it asks for anything else.
    """
    match = _NEAR_KIN_QUESTION.match(question)
    if match is None:
        return None
    term = read_kin_term((match["half"] or match["noun"]).lower())
    return (match["phrase"], term) if term is not None else None


def select_asked_kin(
    part: QuestionPart, result: RetrievalResult, cast: Iterable[Sequence[str]]
) -> list[tuple[ContextItem, ...]] | None:
    """Return the relatives that `part` asks for, one a line; None if it asks for
    anything else, or for relatives of nobody known. `cast` has the names of each
    character, whose titles tell their gender.
    """
    asked = find_kin_asked(part.text)
    if asked is None or not part.people:
        return None
    return _list_kin(asked, part, result, cast)


def select_near_kin(
    parts: Sequence[QuestionPart],
    result: RetrievalResult,
    cast: Iterable[Sequence[str]],
) -> list[tuple[str, list[tuple[ContextItem, ...]]]]:
    """Return for each of `parts` the words for the relative it asks for, such as "eldest
    brother", with the known brothers; left out are parts without any.
    """
    near = [
        (kin[0], _list_kin(kin[1], part, result, cast))
        for part in parts
        if part.people and (kin := _find_near_kin_asked(part.text))
    ]
    return [(phrase, lines) for phrase, lines in near if lines]


def _list_kin(
    term: KinTerm,
    part: QuestionPart,
    result: RetrievalResult,
    cast: Iterable[Sequence[str]],
) -> list[tuple[ContextItem, ...]]:
    stated = {p.name: p.gender for p in result.character_profiles}
    certain = {n: g for n, g in stated.items() if g is not Gender.UNKNOWN}
    genders = {**_tell_by_forms(cast), **certain}
    relations = select_kin(term, part.people, result.relations, genders)
    return [(build_relation_item(relation),) for relation in relations]


def select_kin(
    asked: KinTerm,
    people: Collection[str],
    relations: Iterable[CharacterRelation],
    genders: Mapping[str, Gender],
) -> list[CharacterRelation]:
    """Return who is in the relationship `asked` to one of `people`, each once, in the
    order of `relations`: the person asked about is the source.

    A relationship stated the other way round is turned: who has a daughter is her
    mother or father, as the `genders` of characters tell, or a noun such as "husband".
    If the gender is unknown, it is returned as stated, and only if nobody else fits.
    """
    relations = list(relations)
    called = {
        relation.target: term.gender
        for relation in relations
        if (term := read_kin_term(relation.kind)) is not None
        and term.gender is not Gender.UNKNOWN
    }
    stated = {name: g for name, g in genders.items() if g is not Gender.UNKNOWN}
    genders = {**_tell_by_titles(relations), **stated, **called}
    certain: dict[tuple[str, str], CharacterRelation] = {}
    possible: list[CharacterRelation] = []
    for relation in relations:
        if relation.source in people and _names_kin(asked, relation):
            certain.setdefault((relation.source, relation.target), relation)
        elif relation.target in people and _implies_kin(asked, relation, genders):
            gender = genders.get(relation.source, Gender.UNKNOWN)
            if gender is Gender.UNKNOWN:
                possible.append(relation)
                continue
            turned = _turn_around(asked, relation, gender)
            certain.setdefault((turned.source, turned.target), turned)
    return list(certain.values()) or list(dict.fromkeys(possible))


def _tell_by_titles(relations: Iterable[CharacterRelation]) -> dict[str, Gender]:
    """Return the genders that the titles of names tell, as in "Mr. John Pike"."""
    names = {name for r in relations for name in (r.source, r.target) if " " in name}
    titles = {name: name.split()[0].rstrip(".") for name in names}
    return {
        name: Gender.MALE if title in MALE_TITLE_WORDS else Gender.FEMALE
        for name, title in titles.items()
        if title in MALE_TITLE_WORDS | FEMALE_TITLE_WORDS
    }


def _tell_by_forms(cast: Iterable[Sequence[str]]) -> dict[str, Gender]:
    """Return the genders that a title among the names of a character tells, for each of
    the names; characters with titles of both are left out.
    """
    genders: dict[str, Gender] = {}
    for forms in cast:
        titles = {form.split()[0].rstrip(".") for form in forms if " " in form}
        is_male = not titles.isdisjoint(MALE_TITLE_WORDS)
        if is_male != (not titles.isdisjoint(FEMALE_TITLE_WORDS)):
            gender = Gender.MALE if is_male else Gender.FEMALE
            genders.update(dict.fromkeys(forms, gender))
    return genders


def _turn_around(
    kin: KinTerm, relation: CharacterRelation, gender: Gender
) -> CharacterRelation:
    """Return "Nell's mother: Ada" for "Ada's daughter: Nell"; `gender` is Ada's."""
    noun = choose_noun(kin.base, kin.side, gender)
    return replace(relation, source=relation.target, target=relation.source, kind=noun)


def _names_kin(asked: KinTerm, relation: CharacterRelation) -> bool:
    """Return whether the target of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, term.gender)
    )


def _implies_kin(
    asked: KinTerm, relation: CharacterRelation, genders: Mapping[str, Gender]
) -> bool:
    """Return whether the source of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, -term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, genders.get(relation.source, Gender.UNKNOWN))
    )


def _may_be_same(first: Gender, second: Gender) -> bool:
    return first is second or Gender.UNKNOWN in (first, second)
