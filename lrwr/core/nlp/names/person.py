"""Person clusters, and the cues beside a name that it is a person's."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.lexicon import (
    ADDRESS_WORDS,
    DEFAULT_MALE_TITLES,
    FEMALE_NAMES,
    PLACE_NOUNS,
    TITLES_OF_WORK,
    infer_title_gender,
    is_given_name,
    is_same_given_name,
    is_short_for,
    normalize_name_title,
)
from lrwr.core.nlp.names.name_form import (
    NameForm,
    infer_form_gender,
    is_named_after_husband,
    resolve_gender_votes,
    unlisp,
)


@dataclass(slots=True)
class PersonCluster:
    """Name forms assigned to one person, keyed by name.

    `because` gives the reason for each form. `givens`, `lasts` and `titles` are the
    known given names, surnames and titles; `full_givens` are given names that occur
    with a surname. `parts` are the words of names written without a space. `noted`
    and `noted_gender` are the name and the gender from notes or decisions; empty and
    unknown without them.
    """

    forms: dict[str, NameForm] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)
    givens: set[str] = field(default_factory=set)
    lasts: set[str] = field(default_factory=set)
    titles: Counter[str] = field(default_factory=Counter)
    parts: set[str] = field(default_factory=set)
    full_givens: set[str] = field(default_factory=set)
    noted: str = ""
    noted_gender: Gender = Gender.UNKNOWN

    def add(self, form: NameForm, because: str) -> None:
        """Assign `form` to this person; `because` is stored as the reason.

        Of several reasons for a form, the first one stays.
        """
        self.forms[form.name] = form
        self.because.setdefault(form.name, because)
        if form.title:
            self.titles[form.title] += form.n
        self.parts |= form.parts
        if form.given_name:
            self.lasts.add(form.last)
            if not is_named_after_husband(form):
                self.givens.add(form.given_name)
                self.full_givens.add(form.given_name)

    def begins_with(self, letter: str) -> bool:
        """Return whether a surname of this person starts with `letter`, a lower-case
        letter.
        """
        return any(last.startswith(letter) for last in self.lasts)

    @property
    def n(self) -> int:
        """Number of mentions by any form of the name."""
        total = 0
        for form in self.forms.values():  # faster than a sum of a generator
            total += form.counts["n"]
        return total

    def cue(self, name: str) -> int:
        """Return how often the cue `name` (see `count_name_cues`) occurs with any
        form.
        """
        return sum(form.counts[name] for form in self.forms.values())

    def votes(self) -> tuple[int, int]:
        """Return the numbers of gender votes (male, female) from pronouns and given
        names.
        """
        forms = self.forms.values()
        male = self.cue("male") + max(form.male for form in forms)
        return male, self.cue("female") + max(form.female for form in forms)

    def gender(self) -> tuple[Gender, bool]:
        """Return the gender and whether it is certain.

        The author's notes outrank titles, which outrank pronouns and given names. A
        title such as "captain" makes an undecided person male, uncertain.
        """
        if self.noted_gender is not Gender.UNKNOWN:
            return self.noted_gender, True
        title_gender = vote_title_gender(self.titles)
        if title_gender is not Gender.UNKNOWN:
            return title_gender, True
        male, female = self.votes()
        gender, sure = resolve_gender_votes(male, female)
        if (
            gender is Gender.UNKNOWN
            and male * _UNDECIDED >= female
            and not DEFAULT_MALE_TITLES.isdisjoint(self.titles)
        ):
            return Gender.MALE, False
        return gender, sure


_UNDECIDED = 2
"""Ratio of votes for a woman up to which a rank decides for a man: the pronouns in a
sentence with a general and his daughter may be hers.
"""


def vote_title_gender(titles: Counter[str]) -> Gender:
    """Return the gender of the majority of `titles`, weighted by count; unknown on a
    tie.
    """
    if not titles:
        return Gender.UNKNOWN
    male = female = 0
    for title, n in titles.items():
        gender = infer_title_gender(title)
        if gender is Gender.MALE:
            male += n
        elif gender is Gender.FEMALE:
            female += n
    if male == female:
        return Gender.UNKNOWN
    return Gender.MALE if male > female else Gender.FEMALE


def has_gender_conflict(form: NameForm, person: PersonCluster) -> bool:
    """Return whether the genders of `form` and `person` are known and differ."""
    if form.title in DEFAULT_MALE_TITLES and form.title not in person.titles:
        male, female = person.votes()
        if female > male and not FEMALE_NAMES.isdisjoint(person.givens):
            return True
    gender = infer_form_gender(form)
    if gender is Gender.UNKNOWN:
        return False
    return person.gender()[0] not in (Gender.UNKNOWN, gender)


def may_share_given_name(person: PersonCluster, word: str) -> bool:
    """Return whether `word` may be a short or long form of a given name of `person`.

    A given name that is itself short for another one of the person is not compared:
    "Liz" for Eliza does not make the person an Elizabeth.
    """
    return any(
        is_same_given_name(word, given_name)
        and not _is_shorter(given_name, person.givens)
        for given_name in person.givens
    )


def _is_shorter(given_name: str, givens: Collection[str]) -> bool:
    return any(
        len(given_name) < len(other_name) and is_short_for(given_name, other_name)
        for other_name in givens
    )


def find_dominant_person(
    people: Collection[PersonCluster], times: float
) -> PersonCluster | None:
    """Return the only one of `people`, or the one with at least `times` as many
    mentions as any other.

    None if there is no such person, or if `people` is empty.
    """
    if len(people) < 2:
        return next(iter(people), None)
    ranked = sorted(people, key=lambda person: -person.n)
    if ranked[0].n >= times * ranked[1].n:
        return ranked[0]
    return None


_SEPARATE_RATIO = 4
"""If "Mr. Vale" is this many times as frequent as "Mr. Corin Vale", they may be two."""
_MIN_DOCUMENTS = 6
"""Minimum documents with "Mr. Corin Vale" before it counts as a second person."""


def keeps_given_name(form: NameForm, person: PersonCluster) -> bool:
    """Return whether `form`, such as "Mr. Vale", is probably someone other than
    `person`.

    This is so if several documents call `person` "Mr. Corin Vale", yet "Mr. Vale" is
    far more frequent: the given name then tells the two men apart.
    """
    full = [other_form for other_form in person.forms.values() if other_form.given_name]
    titled = [other_form for other_form in full if other_form.title == form.title]
    if max((other_form.documents for other_form in titled), default=0) < _MIN_DOCUMENTS:
        return False
    seldom = form.n > _SEPARATE_RATIO * sum(other_form.n for other_form in titled)
    return seldom and form.n > sum(other_form.n for other_form in full)


_TITLE_MENTIONS = 5
"""Mentions from which a title alone, "the Inspector", is a person."""
_NARRATED_ADDRESS = 3
"""Mentions in narration from which a word of address may be a name."""
_SIZES = (3_000, 8_000, 20_000, 40_000)
"""Text lengths in words; each step raises the minimum number of mentions by one."""
_OFTEN = 2
"""Multiple of the minimum mentions above which a person need not speak."""
_HUMAN = (0.0, 0.1, 0.2, 0.3, 0.6)
"""Minimum person score per required mention of someone who never speaks, by minimum
mentions: long novels name many people in passing."""
_WEIGHTS = {
    "tag": 2.0,
    "speech": 1.0,
    "vocative": 2.0,
    "act": 1.0,
    "who": 1.0,
    "body": 1.5,
    "kin": 1.5,
    "epithet": 0.7,
    "possessive": 0.3,
    "narrator": 2.0,
}


def score_person_cues(counts: Mapping[str, int]) -> float:
    """Return the weighted number of person cues per occurrence of a name, 0.0 or more.

    `counts` maps cues (the keys of `_WEIGHTS`) to their numbers, and "n" to the number
    of occurrences.
    """
    total = sum(weight * counts.get(cue, 0) for cue, weight in _WEIGHTS.items())
    return total / max(1, counts.get("n", 0))


def score_place_cues(counts: Mapping[str, int]) -> float:
    """Return the weighted number of place cues per occurrence of a name, 0.0 or more.

    `counts` maps the cues "in" (weight 2.0) and "at" (0.6) to their numbers, and "n" to
    the number of occurrences.
    """
    total = 2.0 * counts.get("in", 0) + 0.6 * counts.get("at", 0)
    return total / max(1, counts.get("n", 0))


def is_person_form(form: NameForm, family: Mapping[str, NameForm]) -> bool:
    """Return whether `form` can be the name of a single person, not of a place, a thing
    or a family.

    `family` maps all names to their forms; "the Gannets" is a family if there is a
    Gannet.
    """
    if form.words and form.words[-1].lower() in PLACE_NOUNS and len(form.words) > 1:
        return form.title not in ("", "st") and form.counts["speech"] > 0
    if _is_family(form, family) or is_only_spoken_word(form):
        return False
    if _has_titled_surname(form, family) or _is_longer_description(form, family):
        return True
    if is_address_word(form):
        return _has_two_signs(form)
    if form.title in TITLES_OF_WORK and not (form.words or form.of):
        return _is_often_the(form) or _looks_like_person(form)
    return _looks_like_person(form)


_SPOKEN_ARTICLES = 2
"""Occurrences with an article from which a word that is only spoken is no name."""


def is_only_spoken_word(form: NameForm) -> bool:
    """Return whether a form is a word of somebody's speech rather than a name.

    It never occurs in narration, and has an article ("the Gaffer") or is a lisped title
    or word of address ("Thergeant", "Mith").
    """
    if form.narrated:
        return False
    articles = form.counts["the"] + form.counts["a"]
    if not form.title and len(form.words) == 1 and articles >= _SPOKEN_ARTICLES:
        return True
    return any(
        word in ADDRESS_WORDS or normalize_name_title(word)
        for spoken in form.words
        for word in unlisp(spoken)
    )


def _is_often_the(form: NameForm) -> bool:
    """Return whether a title alone is somebody's name: "the Inspector", often."""
    return form.n >= _TITLE_MENTIONS and form.counts["the"] * 2 >= form.n


def is_address_word(form: NameForm) -> bool:
    """Return whether a form is only a word of address: "Mother", "Monsieur"."""
    word = form.name.lower().rstrip(".")
    return word in ADDRESS_WORDS


def _has_two_signs(form: NameForm) -> bool:
    """Return whether narration shows in two ways that the word is somebody's name."""
    signs = sum(form.counts[cue] > 0 for cue in ("tag", "act", "who", "body"))
    return form.narrated >= _NARRATED_ADDRESS and signs > 1


def _looks_like_person(form: NameForm) -> bool:
    if form.title and form.words:
        return form.title not in ("st", "saint") or form.counts["speech"] > 1
    if form.of:
        return bool(form.title)
    if not form.counts["inside"] and form.counts["tag"] < 2:
        return False
    if _is_thing(form):
        return False
    if form.counts["tag"] >= 2 or form.counts["vocative"] >= 3:
        return score_person_cues(form.counts) > 0.1
    return score_place_cues(form.counts) <= 0.25 + score_person_cues(form.counts)


def _has_titled_surname(form: NameForm, family: Mapping[str, NameForm]) -> bool:
    """Return whether "Nell Gannet" has a common given name, and there is a Gannet with
    a title.
    """
    titles = ("Mr.", "Mrs.", "Miss", "Mr", "Mrs", "Lady", "Dr.", "Captain")
    if not form.given_name or not is_given_name(form.words[0]):
        return False
    return any(f"{title} {form.words[-1]}" in family for title in titles)


def _is_longer_description(form: NameForm, family: Mapping[str, NameForm]) -> bool:
    """Return whether "the Sly Hatmaker" is the person who is often "the Hatmaker"."""
    short = family.get(form.words[-1]) if form.given_name and not form.title else None
    if short is None or short.n <= form.n or not _is_often_the(short):
        return False
    return form.counts["the"] * 2 >= form.n and short.counts["tag"] >= _TITLE_MENTIONS


def _is_family(form: NameForm, family: Mapping[str, NameForm]) -> bool:
    """Return whether a plural names several people: "the Gannets", "the Miss Gannets"."""
    if not form.name.endswith("s") or form.given_name:
        return False
    word = form.words[-1][:-1] if form.words else ""
    titled = (f"{title} {word}" for title in ("Mr.", "Mrs.", "Miss", "Mr", "Mrs"))
    single = max(
        (family[name].n for name in (word, *titled) if name in family), default=0
    )
    if form.title:
        return form.title == "miss" and form.counts["the"] > 0 and single > 0
    return single > 0 and (form.counts["the"] * 2 >= form.n or single > 5 * form.n)


def _is_thing(form: NameForm) -> bool:
    articles = form.counts["the"] + form.counts["a"]
    if articles * 2 < form.n:
        return False
    return form.counts["tag"] < 2 and form.counts["speech"] < 3


def compute_min_mentions(words: int) -> int:
    """Return the number of mentions from which a name is listed as a character, 1 to 5.

    It grows with the number of `words` of the text: 5 from 40,000 words.
    """
    return bisect_right(_SIZES, words) + 1


def is_worth_listing(person: PersonCluster, least: int) -> bool:
    """Return whether a person has enough evidence to be listed as a character.

    Someone who speaks or is addressed needs little; someone only mentioned needs
    `least` mentions (one less with a title or a common given name) and other cues.
    """
    counts = sum_person_cues(person)
    if counts["tag"] >= 2 or counts["vocative"] >= 3:
        return score_person_cues(counts) * person.n >= 3
    forms = person.forms.values()
    titled = any(form.title and form.words for form in forms)
    has_given_name = any(is_given_name(form.words[0]) for form in forms if form.words)
    if _is_office(person) and any(map(_is_often_the, person.forms.values())):
        return True
    if person.n < least - (titled or has_given_name):
        return False
    human = score_person_cues(counts)
    if not titled and human < score_place_cues(counts):
        return False
    silent = person.n < _OFTEN * least and not counts["tag"]
    # Against the minimum, not the mentions: one more mention removes nobody.
    if silent and human * person.n < _HUMAN[least - 1] * least:
        return False
    return (
        titled or has_given_name or (human >= 0.3 and human * person.n >= min(3, least))
    )


def _is_office(person: PersonCluster) -> bool:
    """Return whether a person is known by a title of work alone: the Inspector."""
    forms = person.forms.values()
    return all(f.title in TITLES_OF_WORK and not (f.words or f.of) for f in forms)


def sum_person_cues(person: PersonCluster) -> Mapping[str, int]:
    """Return how often each cue (see `count_name_cues`) occurs with any name of a
    person; 0 for others.
    """
    forms = list(person.forms.values())
    if len(forms) == 1:
        return forms[0].counts
    sums = Counter[str]()
    for form in forms:
        sums.update(form.counts)
    return sums
