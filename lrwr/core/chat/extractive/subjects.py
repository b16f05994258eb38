"""Finds whom a question asks about, and whether a value is said of them: whose age, looks
or death it is.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from lrwr.core.chat.extractive.answer_types import AnswerType
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    Span,
    extract_capitalized_words,
    normalize_word,
)
from lrwr.core.nlp.facts.clauses import TITLE_WORDS

FORMS_OF_ADDRESS = frozenset(
    {"mr", "mrs", "ms", "miss", "master", "mister", "sir", "lady", "lord", "dr", "de"}
)
"""Words of names that many people share, and that therefore identify nobody."""

SENTENCES_BEFORE = 5
"""Sentences before one with a pronoun that may name the person whom it means."""

OWNER_DISTANCE = 300
"""Characters before a relative, as in "his brother", in which it is said whose it is."""

OBJECT_DISTANCE = 30
"""Characters after a verb in which its object may be named."""

_TITLES = frozenset(TITLE_WORDS.split())
_TITLE = "|".join(sorted(TITLE_WORDS.split(), key=len, reverse=True))
_PEOPLE = (
    r"boy|girl|m[ae]n|wom[ae]n|lady|ladies|gentlem[ae]n|child|children|lad|fellow|youth"
    r"|creature|stranger|baby|infant"
)
RELATIVES = (
    r"(?:grand|step|half-|god)?(?:father|mother|son|daughter|brother|sister|child)"
    r"(?:-in-law)?|mamma|mama|papa|cousin|aunt|uncle|nephew|niece|wife|husband|widow"
    r"|friend|servant|maid|master|mistress|parents?|children|family"
)
_MENTION = re.compile(
    rf"\b(?P<titled>(?:{_TITLE})\.?(?:\s+(?:de\s+)?[A-Z][\w-]+)+)"
    rf"|\b(?P<of>[A-Z][\w-]+)['’]s?\s+(?:\w+\s+){{0,2}}?(?P<kin>{RELATIVES})s?\b"
    rf"|\b(?P<relative>(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur)\s+(?:\w+\s+){{0,2}}?(?:{RELATIVES})s?)\b"
    rf"|\b(?P<person>(?:[Tt]he|[Tt]his|[Tt]hat)\s+(?:\w+\s+){{0,2}}?(?:{_PEOPLE}))\b"
    r"|\b(?P<pronoun>[Hh]e|[Ss]he|[Hh]im|[Hh]is|[Hh]er|[Hh]ers|[Hh]erself|[Hh]imself)\b"
    r"|\b(?P<self>I|[Mm]y|[Mm]e|[Mm]yself)\b"
    r"|(?P<name>\b[A-Z][\w-]*[a-z][\w-]*(?:\s+[A-Z][\w-]*[a-z][\w-]*)*)"
)
"""What may name somebody. Of the name of a whole clause, only known names count."""


@dataclass(frozen=True, slots=True)
class ValueQuestion:
    """What `describe_missing_value` reads of a question.

    `people` has for each person it names the words of their names; without anybody
    known, words that the question capitalizes count. `forms` are the full names of all
    of them. `topic` are its other words. `others` are the words of the names of
    everybody whom it does not name, and one of `people` may be the narrator.
    """

    text: str
    people: Sequence[Collection[str]] = ()
    forms: Collection[str] = ()
    topic: Collection[str] = ()
    others: Collection[str] = ()
    has_narrator: bool = False


class _Who(Enum):
    """Whom a mention means: the one asked about, another, or one named before."""

    ASKED = "asked"
    OTHER = "other"
    EARLIER = "earlier"
    SPEAKER = "speaker"


@dataclass(frozen=True, slots=True)
class _Mention:
    """Words that mean somebody; `is_male` is None if they do not tell."""

    span: Span
    who: _Who
    is_male: bool | None = None

    def may_be(self, pronoun: "_Mention | None") -> bool:
        """Return whether `pronoun` may mean the same person, by its gender."""
        genders = {self.is_male, pronoun.is_male if pronoun else None}
        return not genders >= {True, False}


_MALE = frozenset(
    [
        "he",
        "him",
        "his",
        "himself",
        "mr",
        "sir",
        "lord",
        "monsieur",
        "boy",
        "man",
        "men",
        "lad",
        "gentleman",
        "gentlemen",
        "father",
        "son",
        "brother",
        "papa",
        "uncle",
        "nephew",
        "husband",
        "stepfather",
        "stepson",
    ]
)
_FEMALE = frozenset(
    [
        "she",
        "her",
        "hers",
        "herself",
        "mrs",
        "miss",
        "ms",
        "lady",
        "ladies",
        "madame",
        "mademoiselle",
        "girl",
        "woman",
        "women",
        "mother",
        "mamma",
        "mama",
        "daughter",
        "sister",
        "aunt",
        "niece",
        "wife",
        "widow",
        "stepmother",
        "stepdaughter",
    ]
)


def _tell_gender(match: re.Match[str]) -> bool | None:
    """Return whether a match of `_MENTION` means a man; None if it does not tell."""
    words = [normalize_word(word) for word in WORD_PATTERN.findall(match.group())]
    telling = words[0] if match.lastgroup in ("titled", "pronoun") else words[-1]
    if telling in _MALE:
        return True
    return False if telling in _FEMALE else None


@dataclass(frozen=True, slots=True)
class Subject:
    """The person whom a question asks about.

    `names` are the words of their names, in lower case, `nouns` words that mean them
    without a capital, too ("painter"); of a relative, `owner` are the words of the names
    of the one whose relative it is. `others` are the words of the names of
    everybody else. The first person means them if they are the narrator.
    """

    names: frozenset[str]
    others: frozenset[str] = frozenset()
    is_narrator: bool = False
    nouns: frozenset[str] = frozenset()
    owner: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        names: Collection[str],
        others: Collection[str] = (),
        *,
        is_narrator: bool = False,
        nouns: Collection[str] = (),
        owner: Collection[str] = (),
    ) -> "Subject":
        """Return the person whose names have the words `names`."""
        return cls(
            frozenset(names),
            frozenset(others) - FORMS_OF_ADDRESS,
            is_narrator,
            frozenset(nouns),
            frozenset(owner),
        )

    def owns(self, text: str, sentences: Sequence[Span], place: Span) -> bool:
        """Return whether what stands at `place` in `text` is said of this person: they
        are the last one named before it in its sentence, or the first one after it.

        A pronoun, or no name at all, means somebody named in the `sentences` before.
        """
        number = next((n for n, s in enumerate(sentences) if place.start < s.end), -1)
        if number < 0:
            return False
        mentions = list(self._iter_mentions(text, sentences[number]))
        before = [m for m in mentions if m.span.start < place.start]
        clause = re.split(r"[,;:]", text[place.start : sentences[number].end])[0]
        reach = place.start + len(clause)
        after = [m for m in mentions if place.start <= m.span.start < reach]
        nearest = next(iter(before[-1:] or after[:1]), None)
        if nearest is None or nearest.who is _Who.EARLIER:
            return self._is_named_before(text, sentences, number, nearest)
        if nearest.who is _Who.SPEAKER:
            return self.is_narrator or any(m.who is _Who.ASKED for m in after)
        return nearest.who is _Who.ASKED

    def suffers(self, text: str, sentences: Sequence[Span], place: Span) -> bool:
        """Return whether this person is the first one named just after `place`, as in
        "killed Nell", or else `owns` what stands there.
        """
        clause = re.split(r"[;.,:]", text[place.end : place.end + OBJECT_DISTANCE])[0]
        reach = Span(place.end, place.end + len(clause))
        first = next(self._iter_mentions(text, reach), None)
        if first is not None and first.who in (_Who.ASKED, _Who.OTHER):
            return first.who is _Who.ASKED
        return self.owns(text, sentences, place)

    def is_with_another(self, text: str, sentence: Span) -> bool:
        """Return whether `sentence` of `text` names somebody else, or the first person."""
        others = {_Who.OTHER, _Who.SPEAKER}
        return any(m.who in others for m in self._iter_mentions(text, sentence))

    def is_named_in(self, text: str) -> bool:
        """Return whether `text` has a name that is this person's and no other's."""
        whole = Span(0, len(text))
        owners = (m["of"] for m in _MENTION.finditer(text) if m["of"])
        return _Who.ASKED in self._list_named(text, whole) or any(
            self._classify_name([normalize_word(owner)]) is _Who.ASKED
            for owner in owners
        )

    def _is_named_before(
        self,
        text: str,
        sentences: Sequence[Span],
        number: int,
        pronoun: _Mention | None,
    ) -> bool:
        """Return whether the last person named before `pronoun`, or else the first or last
        one in the nearest sentence before that has a name, is the one asked about.
        """
        end = pronoun.span.start if pronoun is not None else sentences[number].start
        if same := self._list_named(text, Span(sentences[number].start, end), pronoun):
            return same[-1] is _Who.ASKED
        for sentence in reversed(sentences[max(0, number - SENTENCES_BEFORE) : number]):
            if named := self._list_named(text, sentence, pronoun):
                return _Who.ASKED in (named[0], named[-1])
        return False

    def _list_named(
        self, text: str, span: Span, pronoun: _Mention | None = None
    ) -> list[_Who]:
        named = {_Who.ASKED, _Who.OTHER}
        return [
            m.who
            for m in self._iter_mentions(text, span)
            if m.who in named and m.may_be(pronoun)
        ]

    def _iter_mentions(self, text: str, span: Span) -> Iterator[_Mention]:
        part = text[span.start : span.end]
        before = text[max(0, span.start - OWNER_DISTANCE) : span.start]
        has_owner = self._names_owner(before)
        places: list[tuple[int, int, _Who | None, bool | None]] = []
        for match in _MENTION.finditer(part):
            who = self._classify(match)
            is_relative = match.lastgroup == "relative" and who is _Who.ASKED
            if is_relative and not self._may_own(match, part, has_owner=has_owner):
                who = _Who.OTHER
            places.append((*match.span(), who, _tell_gender(match)))
        if self.nouns:
            nouns = "|".join(map(re.escape, self.nouns))
            matches = re.finditer(rf"(?i)\b(?:{nouns})s?\b", part)
            places += [(*m.span(), _Who.ASKED, None) for m in matches]
        for start, end, who, is_male in sorted(places, key=lambda row: row[:2]):
            if who is not None:
                at = Span(span.start + start, span.start + end)
                yield _Mention(at, who, is_male)

    def _may_own(self, match: re.Match[str], sentence: str, *, has_owner: bool) -> bool:
        """Return whether a relative, as in "his brother", may be that of the owner, who
        is named before it; "your brother" never is, as its speaker is not known.
        """
        if not self.owner:
            return True
        if match.group().split()[0].lower() in ("my", "our"):
            return has_owner or self._names_owner(sentence)
        possessive = match.group().split()[0].lower()
        other = {"his": _FEMALE, "her": _MALE}.get(possessive)
        titles = self.owner & FORMS_OF_ADDRESS
        is_other = possessive == "your" or not titles.isdisjoint(other or ())
        return not is_other and (
            has_owner or self._names_owner(sentence[: match.end()])
        )

    def _names_owner(self, text: str) -> bool:
        words = {normalize_word(word) for word in WORD_PATTERN.findall(text)}
        owner = self.owner - FORMS_OF_ADDRESS
        return not owner or not owner.isdisjoint(words)

    def _classify(self, match: re.Match[str]) -> _Who | None:
        """Return whom a match of `_MENTION` means; None for a word that is no name."""
        words = [normalize_word(word) for word in WORD_PATTERN.findall(match.group())]
        match match.lastgroup:
            case "pronoun":
                return _Who.EARLIER
            case "self":
                return _Who.SPEAKER
            case "kin" if words[-1] in self.names:
                return _Who.ASKED if self._names_owner(words[0]) else _Who.OTHER
            case "relative" | "person" if words[-1] in self.names:
                return _Who.ASKED
            case "person":
                return _Who.EARLIER
            case "kin" | "relative":
                return _Who.OTHER
            case "titled":
                return self._classify_titled(words)
            case _:
                return self._classify_name(words)

    def _classify_titled(self, words: Sequence[str]) -> _Who:
        """Return whom a title with a name means: "Mrs Rook" is not Admiral Rook."""
        *first, last = words
        if last not in self.names:
            return _Who.OTHER
        has_title = any(word.capitalize() in _TITLES for word in self.names)
        is_own = not self.names.isdisjoint(first)
        is_own |= not has_title and last not in self.others
        return _Who.ASKED if is_own else _Who.OTHER

    def _classify_name(self, words: Sequence[str]) -> _Who | None:
        own = self.names - FORMS_OF_ADDRESS
        if not (own - self.others).isdisjoint(words):
            return _Who.ASKED
        if not (self.others - own).isdisjoint(words):
            return _Who.OTHER
        return None if own.isdisjoint(words) else _Who.ASKED


_KIN_NOUN = re.compile(
    rf"\b(?P<noun>(?:{RELATIVES}|ward|guardian|heir|nephews?|nieces?)s?)\b"
    r"|\b(?P<other>(?:is|was|are|were|be|been|being)\s+(?:\w+\s+)?(?:related|connected)"
    r"|relations?|relatives?|relationship|married|kinsm[ae]n|kinswom[ae]n)\b",
    re.IGNORECASE,
)
_POSSESSOR = re.compile(
    r"(?:[\w-]+['’]s?|\b(?:my|your|his|her|their|our|its|whose))\s+(?:[\w-]+\s+){0,3}$",
    re.IGNORECASE,
)
_OF = re.compile(r"^s?(?:\s+\w+){0,3}?\s+(?:of|to)\b", re.IGNORECASE)
_PAIR = re.compile(r"\band\b.{0,80}$", re.IGNORECASE | re.DOTALL)

KIN_DISTANCE = 90
"""Characters before and after a word for a relative in which both people are named."""


def are_related_in(text: str, first: Subject, second: Subject) -> bool:
    """Return whether a sentence, `text`, has a word for relatives that belongs to
    somebody, with `first` and `second`, or one of them and the first person, near it.
    """
    for match in _KIN_NOUN.finditer(text):
        start = max(0, match.start() - KIN_DISTANCE)
        before = re.split(r"[;“”\"]", text[start : match.start()])[-1]
        after = re.split(r"[;“”\"]", text[match.end() : match.end() + KIN_DISTANCE])[0]
        is_owned = (
            match["other"] is not None
            or _POSSESSOR.search(before) is not None
            or _OF.search(after) is not None
            or (match.group().endswith("s") and _PAIR.search(before) is not None)
        )
        near = f"{before}{match.group()}{after}"
        named = first.is_named_in(near) + second.is_named_in(near)
        speaks = re.search(r"\b(?:I|[Mm]y)\b", near) is not None
        if is_owned and (named == 2 or (named == 1 and speaks)):
            return True
    return False


def list_pair(question: ValueQuestion) -> tuple[Subject, Subject] | tuple[()]:
    """Return the two people whose relation `question` asks for; () unless it names two."""
    people = [set(names) for names in question.people if names] or [
        {word}
        for word in extract_capitalized_words(question.text)
        if word not in FORMS_OF_ADDRESS
    ]
    if len(people) != 2:
        return ()
    first, second = people
    everybody = set(question.others)
    return (
        Subject.of(first, everybody | second),
        Subject.of(second, everybody | first),
    )


_OWNED_KIN = re.compile(
    r"\b(?:[A-Z][\w-]+['’]s?|[Hh]is|[Hh]er|[Tt]heir)\s+(?:\w+\s+){0,2}?"
    rf"(?P<kin>{RELATIVES}|girl|boy)\b"
)
"""A relative of somebody whom a question names: "Nell's aunt"."""


_CHILDREN = {"girl": "daughter", "boy": "son"}

_KIN_TITLES = {
    "daughter": "miss", "sister": "miss", "wife": "mrs", "mother": "mrs",
    "husband": "mr", "father": "mr", "son": "mr", "brother": "mr",
}  # fmt: skip
"""How a relative with the same surname is called: Admiral Rook's daughter is Miss Rook."""


def _list_kin_names(question: ValueQuestion, noun: str) -> set[str]:
    """Return the words that may mean a relative whom `question` names only as `noun`."""
    kin = _CHILDREN.get(noun, noun)
    owner = set(chain(*question.people))
    title = _KIN_TITLES.get(kin, "")
    if not title or title in owner or len(question.people) != 1:
        return {noun, kin}
    surnames = {form.lower().split()[-1] for form in question.forms if " " in form}
    return {noun, kin, title, *surnames.intersection(owner)}


_NOUN_ASKED = re.compile(
    r"\b(?:the|this|that|an?)\s+(?:\w+\s+)??(?P<owner>[a-z]+)['’]s\b"
    r"|\b(?:is|was|does|did|do|are|were)\s+(?:the|this|that)\s+(?:\w+\s+)??(?P<noun>[a-z]+)\b"
)
"""Names somebody only by a noun: "the painter's hair", "Where does the reeve live?"."""


def _find_noun_asked(question: ValueQuestion) -> Subject | None:
    noun = _NOUN_ASKED.search(question.text)
    if noun is None:
        return None
    word = noun["owner"] or noun["noun"]
    return Subject.of([word], question.others, nouns=[word])


def find_person_asked(
    question: ValueQuestion, answer_type: AnswerType
) -> Subject | None:
    """Return the person of whom a value must be said to answer `question`: a relative
    whom it names, the first person it names, or somebody whom a noun describes; None if
    its values are no person's, or nobody is asked about.
    """
    if not answer_type.is_personal:
        return None
    if answer_type.is_close and not question.people:
        # Amounts and places are also those of things: only a noun may be a person.
        return _find_noun_asked(question)
    everybody = {*question.others, *chain(*question.people)}
    if kin := _OWNED_KIN.search(question.text):
        names = _list_kin_names(question, kin["kin"].lower())
        owner = list(chain(*question.people)) or extract_capitalized_words(
            question.text
        )
        return Subject.of(names, everybody, owner=owner)
    words = _list_words(question.text)
    people = sorted(
        (set(names) for names in question.people if names),
        key=lambda names: min(
            (words.index(w) for w in names if w in words), default=99
        ),
    )
    if people:
        others = {*question.others, *chain(*people[1:])}
        nouns = [
            word
            for form in question.forms
            for word in form.split()
            if word.islower() and word in people[0] and word not in STOP_WORDS
        ]
        return Subject.of(
            people[0], others, is_narrator=question.has_narrator, nouns=nouns
        )
    if names := set(extract_capitalized_words(question.text)):
        return Subject.of(names, question.others)
    return _find_noun_asked(question)


def _list_words(text: str) -> list[str]:
    return [normalize_word(word) for word in WORD_PATTERN.findall(text)]
