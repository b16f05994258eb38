"""Finds the relatives whom a question names by somebody else, as in "Nell's aunt".

"Nell's aunt" is not Nell: what is known of Nell does not answer for her aunt.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lrwr.core.bible.kin_terms import FAMILY, KinTerm, read_kin_term
from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.items import ContextItem, StoryFacet, is_sure
from lrwr.core.chat.extractive.person_answers import find_kin_asked, select_kin
from lrwr.core.chat.extractive.question_parts import iter_profile_names
from lrwr.core.chat.planning import lexicon
from lrwr.core.model.chunks import Passage
from lrwr.core.model.text import SentenceSplitter
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.people import infer_question_role

_ORDER = (
    r"(?:elder|eldest|younger|youngest|older|oldest|late|dead|own|only|twin|poor|little"
    r"|future|former|first|second)"
)
_NAME_ASKED = re.compile(r"\b(?:names?|called|named|related|relations?)\b", re.I)
"""Questions for the name of a relative itself, or for how people are related."""

_WHO_IS = re.compile(r"\W*(?:and\s+)?who(?:['’]s|\s+(?:is|was|are|were))\s+", re.I)
"""The beginning of a question for who a relative is, whatever follows."""

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
    owners = {form: tuple(names) for names in cast for form in names}
    if not owners or find_kin_asked(question) or _NAME_ASKED.search(question):
        return None
    names = "|".join(map(re.escape, sorted(owners, key=len, reverse=True)))
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
    cast = [tuple(iter_profile_names(profile)) for profile in bible.characters]
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


def describe_nameless(question: str, relative: Relative) -> str:
    """Return a sentence that says that it is not known who the `relative` is; "" unless
    `question` asks what they say: then lines of nobody known can answer it.
    """
    role = infer_question_role(question, question.find(relative.phrase))
    is_speech = lexicon.SPEECH_PATTERN.search(question.lower())
    if role is not AppearanceRole.SPEAKS or not is_speech:
        return ""
    return f"No single name is known for {relative.phrase}."
