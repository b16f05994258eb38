"""Name forms: parsing, gender by given name, and nicknames."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Character, Gender
from lrwr.core.nlp.names.lexicon import (
    FEMALE_NAMES,
    MALE_NAMES,
    NAME_EPITHETS,
    PARTICLES,
    PEOPLE_SUFFIXES,
    infer_title_gender,
    is_same_given_name,
    normalize_name_title,
    split_bare_words,
)

# Two or more capitalised parts in one word: NellTallow
_JOINED = re.compile(r"([A-Z][a-z]+)(?:[A-Z][a-z]+)+")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_PREFIXES = frozenset({"Mc", "Mac", "Fitz", "De", "Di", "La", "Le", "Van", "Von"})


@dataclass(slots=True)
class NameForm:
    """One spelling of a name ("Mr. Vale"), counted over all documents.

    `title` is normalized ("mr") or empty, `words` are the words after it, `of` is what
    follows an "of" ("Duke of Thole"). `counts` holds cue counts as described at
    `NameEvidence.forms`. `first` is the first occurrence: index of the document and
    character offset. `documents` counts the documents with this form. `male` and
    `female` are the gender votes of the given name.

    `given_name` and `last` are the given name and the surname of two or more words, else
    empty: the first word, and the last one with its particles ("de"), in lower case.
    """

    name: str
    title: str
    words: tuple[str, ...]
    of: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    first: tuple[int, int] = (0, 0)
    documents: int = 0
    male: int = 0
    female: int = 0
    given_name: str = field(init=False, default="")
    last: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if len(self.words) > 1:
            self.given_name = self.words[0].lower()
            self.last = _surname_with_particles(self.words)

    @classmethod
    def of_name(cls, name: str) -> "NameForm":
        """Return the form of `name` with its title and words; all counts are 0."""
        title, words, of = parse_name_form(name)
        return cls(name, title, words, of)

    @property
    def n(self) -> int:
        """Number of occurrences of this form in all documents."""
        return self.counts["n"]

    @property
    def narrated(self) -> int:
        """Number of occurrences outside quoted speech."""
        return self.counts["n"] - self.counts["quoted"]

    @property
    def parts(self) -> frozenset[str]:
        """Lower-case words of a name written without a space ("BrineHob"); else empty."""
        name = self.words[0] if len(self.words) == 1 else ""
        match = _JOINED.fullmatch(name)
        if match is None or match[1] in _PREFIXES:
            return frozenset()
        return frozenset(word.lower() for word in _CAPITAL.findall(name))


def is_single_word(form: NameForm) -> bool:
    """Return whether a form is one word without a title, such as "Nell"."""
    return not form.title and len(form.words) == 1 and not form.of


def is_joined_word(form: NameForm) -> bool:
    """Return whether a form is several words without a space, such as "NellTallow"."""
    return is_single_word(form) and bool(form.parts)


def is_titled_word(form: NameForm) -> bool:
    """Return whether a form is a title and one word, such as "Mr. Vale"."""
    return bool(form.title) and len(form.words) == 1 and not form.of


def is_full_name(form: NameForm) -> bool:
    """Return whether a form has several words after its title, or an "of"."""
    return bool(form.of) or len(form.words) > 1


def is_titled_initial(form: NameForm) -> bool:
    """Return whether a form is a title and an initial, such as "Mr. V"."""
    return len(form.words[-1].rstrip(".")) == 1


def _surname_with_particles(words: Sequence[str]) -> str:
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return " ".join(words[at:]).lower()


def parse_name_form(name: str) -> tuple[str, tuple[str, ...], str]:
    """Split a name into its title, its words, and the words after "of".

    "the Duke of Thole" gives ("duke", (), "Thole"). The title is normalized. Articles,
    epithets ("old") and suffixes ("Jr.") are dropped.
    """
    body, _, of = name.partition(" of ")
    words = body.split(" ")
    if len(words) > 1 and words[0].lower() in ("the", "a", "an"):
        words.pop(0)
    title = ""
    while len(words) > 1 and words[0].lower() in NAME_EPITHETS:
        words.pop(0)
    while words and normalize_name_title(words[0]) and (len(words) > 1 or not title):
        title = normalize_name_title(words.pop(0))
    while len(words) > 1 and words[-1].lower().rstrip(".") in PEOPLE_SUFFIXES:
        words.pop()
    return title, tuple(words), of


_LISTED_NAME_VOTES = 6
"""Votes of a given name from the lists; a pronoun near the name is one vote."""
_AGAINST_LIST = 4
"""A vote for a listed given name weighs this many times as much as one against it."""
_TITLE_VOTES = 5
"""Votes of a title before the given name."""
_MIN_MAJORITY = 0.72
"""Minimum share of the votes for a gender to be assigned."""


def score_given_name_gender(forms: Collection[NameForm]) -> None:
    """Set the gender votes `male` and `female` of each form.

    Votes come from pronouns, titles and lists of common names; those of all forms with
    the same given name are added up.
    """
    words = {id(form): _given_word(form) for form in forms}
    males, females = Counter[str](), Counter[str]()
    for form in forms:
        if word := words[id(form)]:
            male, female = _gender_votes(form)
            males[word] += male
            females[word] += female
    for form in forms:
        if word := words[id(form)]:
            form.male, form.female = _weigh_votes(word, males[word], females[word])


def _weigh_votes(word: str, male: int, female: int) -> tuple[int, int]:
    """Return the votes (male, female) of a given name with those of the lists of names.

    Pronouns near a name often mean someone else: unless they outvote the list, the
    votes against it count little.
    """
    male += _LISTED_NAME_VOTES * (word in MALE_NAMES)
    female += _LISTED_NAME_VOTES * (word in FEMALE_NAMES)
    if word in MALE_NAMES - FEMALE_NAMES and male >= female:
        return male, min(female, male // _AGAINST_LIST)
    if word in FEMALE_NAMES - MALE_NAMES and female >= male:
        return min(male, female // _AGAINST_LIST), female
    return male, female


def is_named_after_husband(form: NameForm) -> bool:
    """Return whether a form is a wife's with her husband's given name: "Mrs. Corin
    Vale".
    """
    return form.title == "mrs" and form.given_name in MALE_NAMES - FEMALE_NAMES


def _given_word(form: NameForm) -> str:
    if not form.words or form.title == "mrs" or form.of:
        return ""
    if form.given_name:
        return form.given_name
    if not form.title or form.title in ("sir", "aunt", "uncle", "sister", "brother"):
        return form.words[0].lower()
    return ""


def _gender_votes(form: NameForm) -> tuple[int, int]:
    title_gender = infer_title_gender(form.title)
    if title_gender is Gender.UNKNOWN:
        return form.counts["male"], form.counts["female"]
    is_male = title_gender is Gender.MALE
    return _TITLE_VOTES * is_male, _TITLE_VOTES * (not is_male)


def resolve_gender_votes(male: int, female: int) -> tuple[Gender, bool]:
    """Return the gender with at least 72 % of the votes, and whether that is certain.

    `male` and `female` are numbers of votes. Unknown with fewer than 2 votes or a
    smaller majority; certain from 5 votes.
    """
    total = male + female
    if total < 2 or max(male, female) / total < _MIN_MAJORITY:
        return Gender.UNKNOWN, False
    return (Gender.MALE if male > female else Gender.FEMALE), total >= 5


def infer_form_gender(form: NameForm) -> Gender:
    """Return the gender of the form's title, else of its votes if they are certain,
    else unknown.
    """
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return title_gender
    male = max(form.male, form.counts["male"])
    gender, sure = resolve_gender_votes(male, max(form.female, form.counts["female"]))
    return gender if sure else Gender.UNKNOWN


@dataclass(frozen=True, slots=True)
class NameParts:
    """The first names and surnames of a character, folded, and the gender."""

    givens: frozenset[str]
    surnames: frozenset[str]
    gender: Gender

    @classmethod
    def of(cls, character: Character) -> "NameParts":
        """Split all names of a character into their parts.

        A single word is a surname after a title such as "Mr.", else a first name, unless
        it is the surname in another of the names.
        """
        givens, singles, surnames = set[str](), set[str](), set[str]()
        gender = character.gender
        for name in list_name_forms(character):
            title, _, _ = parse_name_form(name)
            words = split_bare_words(name)
            if gender is Gender.UNKNOWN:
                gender = infer_title_gender(title)
            if len(words) > 1:
                givens.add(words[0])
            if len(words) > 1 or (words and title):
                surnames.add(words[-1])
            else:
                singles.update(words)
        surnames -= givens
        return cls(frozenset(givens | singles - surnames), frozenset(surnames), gender)

    def may_be_called(self, words: Sequence[str]) -> bool:
        """Return whether no part contradicts a name of folded words, surname last."""
        has_other_surname = self.surnames and self.surnames.isdisjoint(words)
        has_other_gender = (
            self.gender is Gender.MALE and words[0] in FEMALE_NAMES - MALE_NAMES
        ) or (self.gender is Gender.FEMALE and words[0] in MALE_NAMES - FEMALE_NAMES)
        return (
            not has_other_surname
            and not has_other_gender
            and self.has_first_name(words)
        )

    def has_first_name(self, words: Sequence[str]) -> bool:
        """Return whether a first name, or a short form of one, is among folded words;
        true if no first name is known.
        """
        return not self.givens or any(
            is_same_given_name(own, word) for own in self.givens for word in words
        )


def list_name_forms(character: Character) -> tuple[str, ...]:
    """Return the name and all aliases of a character."""
    return character.name, *(alias.name for alias in character.aliases)
