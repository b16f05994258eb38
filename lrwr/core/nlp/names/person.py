"""One person being put together from the forms that may be theirs."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.gender import infer_form_gender, resolve_gender_votes
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.nicknames import is_same_given_name, is_short_for
from lrwr.core.nlp.names.titles import DEFAULT_MALE_TITLES, infer_title_gender


@dataclass(slots=True)
class PersonCluster:
    """Forms taken for one person's, and why; `noted`: the writer named them."""

    forms: dict[str, NameForm] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)
    givens: set[str] = field(default_factory=set)
    lasts: set[str] = field(default_factory=set)
    titles: Counter[str] = field(default_factory=Counter)
    parts: set[str] = field(default_factory=set)
    full_givens: set[str] = field(default_factory=set)
    noted: str = ""
    noted_names: tuple[str, ...] = ()
    noted_gender: Gender = Gender.UNKNOWN

    def add(self, form: NameForm, because: str) -> None:
        """Take `form` for one of this person's names."""
        self.forms[form.name] = form
        self.because.setdefault(form.name, because)
        if form.title:
            self.titles[form.title] += form.n
        self.parts |= form.parts
        if form.given:
            self.givens.add(form.given)
            self.lasts.add(form.last)
            self.full_givens.add(form.given)

    def begins_with(self, letter: str) -> bool:
        """Say whether a surname of this person begins with `letter`, in lower case."""
        return any(last.startswith(letter) for last in self.lasts)

    @property
    def n(self) -> int:
        """How often the text names this person."""
        return sum(form.n for form in self.forms.values())

    def cue(self, name: str) -> int:
        """Return how often `name` stands beside any form."""
        return sum(form.counts[name] for form in self.forms.values())

    def votes(self) -> tuple[int, int]:
        """Weigh what pronouns and given names say: for a man, for a woman."""
        forms = self.forms.values()
        male = self.cue("male") + max(form.male for form in forms)
        return male, self.cue("female") + max(form.female for form in forms)

    def gender(self) -> tuple[Gender, bool]:
        """Return the gender that titles and pronouns tell, and whether it is sure."""
        if self.noted_gender is not Gender.UNKNOWN:
            return self.noted_gender, True
        told = vote_title_gender(self.titles)
        if told is not Gender.UNKNOWN:
            return told, True
        male, female = self.votes()
        gender, sure = resolve_gender_votes(male, female)
        if (
            gender is Gender.UNKNOWN
            and male >= female
            and not DEFAULT_MALE_TITLES.isdisjoint(self.titles)
        ):
            return Gender.MALE, False
        return gender, sure


def vote_title_gender(titles: Counter[str]) -> Gender:
    """Return the gender that most of the titles are for."""
    sides: Counter[Gender] = Counter()
    for title, n in titles.items():
        sides[infer_title_gender(title)] += n
    male, female = sides[Gender.MALE], sides[Gender.FEMALE]
    if male == female:
        return Gender.UNKNOWN
    return Gender.MALE if male > female else Gender.FEMALE


def has_gender_conflict(form: NameForm, person: PersonCluster) -> bool:
    """Say whether `form` speaks of the other gender than `person`."""
    one, (other, _) = infer_form_gender(form), person.gender()
    return Gender.UNKNOWN not in (one, other) and one is not other


def may_share_given_name(person: PersonCluster, word: str) -> bool:
    """Say whether `word` may be short for a given name of `person`, or long for it.

    What is itself short for another of theirs does not count: who may be short for
    Eliza is not yet short for Elizabeth.
    """
    return any(
        is_same_given_name(word, given) and not _is_shorter(given, person.givens)
        for given in person.givens
    )


def _is_shorter(given: str, givens: Collection[str]) -> bool:
    return any(len(given) < len(one) and is_short_for(given, one) for one in givens)


def find_dominant_person(
    people: Collection[PersonCluster], times: float
) -> PersonCluster | None:
    """Return the one who is named `times` as often as any other; None without one."""
    ranked = sorted(people, key=lambda person: -person.n)
    if not ranked:
        return None
    if len(ranked) == 1 or ranked[0].n >= times * ranked[1].n:
        return ranked[0]
    return None
