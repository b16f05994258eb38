"""Who the names and pronouns of a sentence stand for, while a text is read."""

import re
from collections import Counter

from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    has_place_preposition,
    infer_title_possessive,
    is_known_person,
    may_be_person,
)
from lrwr.core.nlp.text.prose import AnnotatedProse, ProseSentence

_NAME = LazyPattern(NAME_PATTERN)
_PRONOUN = re.compile(r"\b(?:he|him|himself|she|her|herself|his)\b", re.I)
_GENDERS = {"he": "his", "him": "his", "himself": "his", "his": "his"}
_PEOPLE_TEXT = (
    "man woman girl boy child gentleman lady stranger father mother sister brother son "
    "daughter wife husband uncle aunt cousin nephew niece doctor captain baby infant "
    "mamma papa widow orphan colonel king queen prince princess sisters brothers "
    "friends"
)
PEOPLE_NOUNS = tuple(_PEOPLE_TEXT.split())
"""Common nouns for a person who may be the subject of a life event."""


class ParticipantTracker:
    """Resolves names and pronouns to people, sentence by sentence in text order.

    A pronoun stands for the person of its gender that the narration named last as a
    subject. The gender of a name comes from its title or from the pronouns in sentences
    that name nobody else.
    """

    def __init__(self, prose: AnnotatedProse) -> None:
        self._prose = prose
        self._names: dict[int, list[tuple[int, str]]] = {}
        self._genders = self._vote_genders()
        self._recent: dict[str, list[str]] = {"his": [], "her": []}
        self._latest: list[str] = []

    def leave(self, sentence: ProseSentence) -> None:
        """Remember the people whom the narration of `sentence` names."""
        words = sentence.narration
        for at, name in reversed(self._named(sentence)):
            if words[at + len(name) : at + len(name) + 2] == "'s":
                continue
            if name in self._latest:
                self._latest.remove(name)
            self._latest.insert(0, name)
            del self._latest[3:]
            gender = self.gender_of(name)
            for key in (gender,) if gender else ("his", "her"):
                recent = self._recent[key]
                if name in recent:
                    recent.remove(name)
                recent.insert(0, name)
                del recent[3:]

    def gender_of(self, name: str) -> str:
        """Return "his" or "her" for the gender of `name`; "" if unknown."""
        title = infer_title_possessive(name)
        return title or self._genders.get(name.split(" ")[0], "")

    def is_actor(self, who: str) -> bool:
        """Return whether the subject `who` of narration is a person: a name, a personal
        pronoun or a word for a person.
        """
        word = who.lower()
        if word in ("he", "she", "i", "they", "we"):
            return True
        return self.is_person(who) or who.split(" ")[-1].lower() in PEOPLE_NOUNS

    def is_person(self, who: str) -> bool:
        """Return whether `who` is a name that may be a person's."""
        if not who or not who[0].isupper() or who in ("He", "She", "They", "We", "I"):
            return False
        name = clean_name(who, self._prose)
        return bool(name) and (
            is_known_person(name, self._prose)
            if self._prose.known
            else may_be_person(name, self._prose)
        )

    def first_name(self, words: str) -> str:
        """Return the first name of a person in `words`; "" without one."""
        return next((name for _, name in self._find_names(words, ())), "")

    def list_people(self, words: str, subject: str, spoken: bool) -> list[str]:
        """Return the distinct people in a sentence whose words are `words`, the subject
        first; pronouns of narration are resolved.
        """
        people: dict[str, None] = {}
        if not spoken and subject.lower() in ("he", "she"):
            self._add_pronoun(people, subject)
        for at, name in self._find_names(words, ()):
            if not has_place_preposition(words, at) or is_known_person(
                name, self._prose
            ):
                people.setdefault(name)
        if not spoken:
            for match in _PRONOUN.finditer(words):
                self._add_pronoun(people, match.group())
        return list(people)

    def list_speakers(self, sentence: ProseSentence) -> list[str]:
        """Return the people whom the narration and the speech of a sentence name, and
        those whom the narration named last if there are fewer than two.
        """
        people = {name: None for _, name in self._named(sentence)}
        for name in self._latest:
            if len(people) >= 2:
                break
            people.setdefault(name)
        for _, name in self._find_names(sentence.speech, ()):
            people.setdefault(name)
        return list(people)

    def _add_pronoun(self, people: dict[str, None], pronoun: str) -> None:
        """Add the person whom `pronoun` stands for."""
        gender = _GENDERS.get(pronoun.lower(), "her")
        if any(self.gender_of(name) == gender for name in people):
            return
        candidates = self._recent[gender]
        if candidates:
            people.setdefault(candidates[0])

    def _named(self, sentence: ProseSentence) -> list[tuple[int, str]]:
        key = sentence.span.start
        if key not in self._names:
            self._names[key] = self._find_names(sentence.narration, sentence.starts)
        return self._names[key]

    def _find_names(self, words: str, starts: tuple[int, ...]) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        end = 0
        for at in starts or _capitals(words):
            if at < end:
                continue
            match = _NAME.match(words, at)
            name = clean_name(match.group(), self._prose) if match else ""
            if match and name and may_be_person(name, self._prose):
                place = words.find(name, at)
                found.append((place if place >= 0 else at, name))
                end = match.end()
        return found

    def _vote_genders(self) -> dict[str, str]:
        votes: dict[str, Counter[str]] = {}
        for sentence in self._prose.sentences:
            if not sentence.starts:
                continue
            names = self._named(sentence)
            if len({name for _, name in names}) != 1:
                continue
            at, name = names[0]
            match = _PRONOUN.search(sentence.narration, at)
            if match:
                gender = _GENDERS.get(match.group().lower(), "her")
                votes.setdefault(name.split(" ")[0], Counter())[gender] += 1
        genders = {}
        for word, counts in votes.items():
            (best, count), *_ = counts.most_common()
            if count >= 2 and count >= 0.7 * sum(counts.values()):
                genders[word] = best
        return genders


_CAPITAL = re.compile(r"(?<![\w'])(?<!\w-)[A-ZÀ-Þ]")


def _capitals(words: str) -> tuple[int, ...]:
    return tuple(match.start() for match in _CAPITAL.finditer(words))
