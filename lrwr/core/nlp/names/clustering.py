"""Which forms are one person's: full names first, then what is shorter."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.lexicon import GIVEN_TITLES, NEUTRAL_TITLES, SURNAME_TITLES
from lrwr.core.nlp.names.name_form import (
    NameForm,
    find_matching_given_names,
    infer_form_gender,
    is_same_given_name,
)
from lrwr.core.nlp.names.person import (
    PersonCluster,
    find_dominant_person,
    has_gender_conflict,
    may_share_given_name,
)

_TITLES_OF_WORK_WRITTEN = """dr prof captain colonel general major lieutenant sergeant corporal inspector
    superintendent detective constable sheriff marshal judge reverend president mayor
    admiral commodore commander chief bishop archbishop cardinal king queen prince
    princess duke duchess earl count countess baron baroness knave keeper reeve widow
    vicar parson squire abbot abbess"""
TITLES_OF_WORK = frozenset(_TITLES_OF_WORK_WRITTEN.split())
"""Titles that stand alone for the one who has them: the Captain."""
_BESIDE_MR_WRITTEN = """dr prof inspector superintendent detective constable judge reverend mayor
    president master monsieur signor senor sheriff"""
_BESIDE_MR = frozenset(_BESIDE_MR_WRITTEN.split())
"""Titles of a man who is called "Mr.", too."""
_SELDOM = 4
"""Mr. Vale is somebody else than Corin Vale where he is named this many times as often."""
_SETTLED = 6
"""In how many documents "Mr. Corin Vale" stands before it tells two people apart."""


def has_compatible_title(form: NameForm, person: PersonCluster) -> bool:
    """Say whether the titles do not tell two people apart: Tom, and Sir Thomas."""
    if form.title in person.titles:
        return True
    noble = {form.title, *person.titles} - SURNAME_TITLES - _BESIDE_MR - {""}
    return not noble


def is_wife_of_namesake(form: NameForm, person: PersonCluster) -> bool:
    """Say whether one is "Mrs. Corin Vale" and the other Corin Vale."""
    if (form.title == "mrs") == ("mrs" in person.titles):
        return False
    return person.gender()[0] is not Gender.FEMALE or form.title == "mrs"


def may_bear_title(form: NameForm, person: PersonCluster) -> bool:
    """Say whether a bearer of the surname may be called by the title of `form`."""
    if form.title in person.titles:
        return True
    if form.title == "mrs":
        return len(person.lasts) > 1 and person.gender()[0] is Gender.FEMALE
    if form.title == "miss":
        married = "mrs" in person.titles or "lady" in person.titles
        male, female = person.votes()
        return not married and (male == 0 or female > 2 * male)
    if form.title == "lady":
        return False
    if form.title == "mr" or form.title not in SURNAME_TITLES:
        return _may_be_man_of(form.title, person)
    return True


def _may_be_man_of(title: str, person: PersonCluster) -> bool:
    if person.gender()[0] is Gender.FEMALE:
        return False
    other_titles = set(person.titles) - {title}
    if not other_titles:
        return True
    if title == "mr":
        return other_titles <= _BESIDE_MR
    return title in _BESIDE_MR and other_titles <= _BESIDE_MR | {"mr"}


def keeps_given_name(form: NameForm, person: PersonCluster) -> bool:
    """Say whether the text says "Mr. Corin Vale" to tell him from Mr. Vale."""
    full = [other_form for other_form in person.forms.values() if other_form.given]
    titled = [other_form for other_form in full if other_form.title == form.title]
    if max((other_form.documents for other_form in titled), default=0) < _SETTLED:
        return False
    seldom = form.n > _SELDOM * sum(other_form.n for other_form in titled)
    return seldom and form.n > sum(other_form.n for other_form in full)


NamePairCounts = Mapping[frozenset[str], int]
NamePartners = Mapping[str, set[str]]
"""The names that a name is paired with."""
_NOBODY: frozenset[str] = frozenset()
_MOST = 3.0
"""A form that several may bear is the one's who is named this often as the next."""


@dataclass(slots=True)
class NameClusters:
    """People so far; `shared` are forms that several may bear, likeliest first.

    `apart` holds pairs of forms that are two people's, `alike` of one's; `ignored` are plain names
    that name nobody.
    """

    apart: NamePairCounts
    alike: NamePairCounts = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    people: list[PersonCluster] = field(default_factory=list)
    shared: list[tuple[NameForm, list[PersonCluster]]] = field(default_factory=list)
    _parted: NamePartners = field(init=False)
    _mates: NamePartners = field(init=False)

    def __post_init__(self) -> None:
        self._parted, self._mates = _others(self.apart), _others(self.alike)

    def fits(self, form: NameForm, person: PersonCluster) -> bool:
        """Say whether nothing speaks against `form`'s being `person`'s.

        The text tells them apart where it names both at once ("Nell and Corin").
        """
        if has_gender_conflict(form, person):
            return False
        return self._parted.get(form.name, _NOBODY).isdisjoint(person.forms)

    def called(self, form: NameForm) -> list[PersonCluster]:
        """Return those whose the text says that `form` is ("called Wren")."""
        mates = self._mates.get(form.name)
        if not mates:
            return []
        return [person for person in self.people if not mates.isdisjoint(person.forms)]

    def near(self, word: str) -> list[PersonCluster]:
        """Return those of whose given name `word` may be a short or a long form."""
        every: set[str] = set().union(*(person.givens for person in self.people))
        alike = find_matching_given_names(word, every)
        return [
            person
            for person in self.people
            if not alike.isdisjoint(person.givens)
            and may_share_given_name(person, word)
        ]

    def fitting(
        self, form: NameForm, people: Iterable[PersonCluster]
    ) -> list[PersonCluster]:
        """Return those of `people` who may bear `form`."""
        return [person for person in people if self.fits(form, person)]

    def start(self, form: NameForm, because: str) -> PersonCluster:
        """Begin a new person with `form`."""
        person = PersonCluster()
        person.add(form, because)
        self.people.append(person)
        return person

    def give(
        self, form: NameForm, people: Iterable[PersonCluster], because: str
    ) -> None:
        """Give `form` to the one of `people` who dominates; else they share it."""
        fit = list(people)
        dominant_person = find_dominant_person(fit, _MOST)
        if not fit:
            return
        if dominant_person is None and form.n > _MOST * sum(person.n for person in fit):
            self.start(form, "").givens.update(w.lower() for w in form.words)
        elif dominant_person is not None:
            dominant_person.add(form, because)
        else:
            self.shared.append((form, sorted(fit, key=lambda person: -person.n)))


def cluster_name_forms(forms: Sequence[NameForm], grouping: NameClusters) -> None:
    """Give each form to a person: a known one, a new one, or several.

    Full names come first, then a title with one word, single words, and titles alone.
    """
    ranked = sorted(forms, key=lambda form: (-form.n, form.first, form.name))
    lone = {form.words[0].lower(): form for form in ranked if _is_bare(form)}
    for form in filter(_is_full, ranked):
        _place_full(form, grouping)
    for form in filter(_is_joined, ranked):
        _place_joined(form, grouping)
    for form in sorted(filter(_is_titled, ranked), key=is_titled_initial):
        _place_titled(form, grouping, lone)
    for form in ranked:
        if _is_bare(form) and not _is_joined(form):
            _place_bare(form, grouping)
        elif form.title and not form.words and not form.of:
            _place_title(form, grouping)


def _others(pairs: NamePairCounts) -> dict[str, set[str]]:
    paired_names: dict[str, set[str]] = {}
    for pair in (pair for pair, count in pairs.items() if count):
        for name in pair:
            paired_names.setdefault(name, set()).update(pair - {name})
    return paired_names


def assign_shared_forms(grouping: NameClusters) -> None:
    """Give shared forms to the one bearer who is left of several, or dominates."""
    listed = {id(person) for person in grouping.people}
    open_forms, grouping.shared = grouping.shared, []
    for form, people in open_forms:
        candidates = [person for person in people if id(person) in listed]
        candidates = grouping.fitting(form, candidates)
        if candidates:
            grouping.give(form, candidates, "most often named of several")


def is_titled_initial(form: NameForm) -> bool:
    """Say whether a title stands before a mere letter: Mr. V."""
    return len(form.words[-1].rstrip(".")) == 1


def _is_bare(form: NameForm) -> bool:
    return not form.title and len(form.words) == 1 and not form.of


def _is_joined(form: NameForm) -> bool:
    return _is_bare(form) and bool(form.parts)


def _is_titled(form: NameForm) -> bool:
    return bool(form.title) and len(form.words) == 1 and not form.of


def _is_full(form: NameForm) -> bool:
    return bool(form.of) or len(form.words) > 1


def _place_full(form: NameForm, grouping: NameClusters) -> None:
    if form.of:
        grouping.start(form, "a title and a place")
        return
    family = [
        person
        for person in grouping.people
        if form.last in person.lasts
        and grouping.fits(form, person)
        and not is_wife_of_namesake(form, person)
    ]
    exact = [person for person in family if form.given in person.givens]
    chosen = find_dominant_person(exact, 1.0) or find_dominant_person(
        [
            p
            for p in family
            if _is_nickname_of(form, p) and has_compatible_title(form, p)
        ],
        1.0,
    )
    chosen = chosen or _noted_by_given(form, grouping)
    if chosen is None:
        grouping.start(form, "given name and surname")
    else:
        chosen.add(form, "the same given name and surname")


def _noted_by_given(form: NameForm, grouping: NameClusters) -> PersonCluster | None:
    """Return the one whom the writer calls by the given name of `form` only."""
    noted = [
        person
        for person in grouping.people
        if form.given in person.givens - person.full_givens and person.noted
    ]
    return find_dominant_person(grouping.fitting(form, noted), 1.0)


def _is_nickname_of(form: NameForm, person: PersonCluster) -> bool:
    return any(
        is_same_given_name(form.given, given_name) for given_name in person.givens
    )


def _place_joined(form: NameForm, grouping: NameClusters) -> None:
    """Place a name written without its space: NellTallow is Nell Tallow."""
    for person in grouping.people:
        if any(
            {w.lower() for w in f.words} == form.parts for f in person.forms.values()
        ):
            person.add(form, "the same words, written together")
            return
    grouping.start(form, "a name").givens.add(form.words[0].lower())


def _place_titled(
    form: NameForm, grouping: NameClusters, lone: Mapping[str, NameForm]
) -> None:
    word = form.words[0].lower()
    if is_titled_initial(form):
        alike = [p for p in grouping.people if form.title in p.titles]
        alike = grouping.fitting(form, [p for p in alike if p.begins_with(word[0])])
        grouping.give(form, alike, "title and initial")
        return
    family = grouping.fitting(form, [p for p in grouping.people if word in p.lasts])
    family = [person for person in family if may_bear_title(form, person)]
    namesakes = [p for p in grouping.people if word in p.givens and word not in p.lasts]
    namesakes = grouping.fitting(form, namesakes)
    titled = [person for person in namesakes if form.title in person.titles]
    if form.title in NEUTRAL_TITLES - GIVEN_TITLES:
        namesakes = (
            titled  # an office goes before a surname, seldom before a given name
        )
    if namesakes and (not family or form.title in GIVEN_TITLES):
        grouping.give(form, titled or namesakes, "title and given name")
    elif family:
        _place_family(form, family, grouping)
    else:
        _place_lone_title(form, grouping, is_given=_is_given(form, lone.get(word)))


def _place_lone_title(
    form: NameForm, grouping: NameClusters, *, is_given: bool
) -> None:
    word = form.words[0].lower()
    near: list[PersonCluster] = []
    if is_given:
        near = [p for p in grouping.people if word in p.parts or word in p.lasts]
        near = near or grouping.near(word)
        near = grouping.fitting(form, near)
    dominant_person = find_dominant_person(near, _MOST)
    if dominant_person is not None:
        dominant_person.add(form, "title and part of the name")
        return
    person = grouping.start(form, "a title before it")
    (person.givens if is_given else person.lasts).add(word)


def _is_given(form: NameForm, bare: NameForm | None) -> bool:
    if form.title in GIVEN_TITLES:
        return True
    if form.title not in ("miss", "lady", "lord") or bare is None:
        return False
    alike = infer_form_gender(bare) is infer_form_gender(form)
    return alike and bare.n > form.n / 2


def _place_family(
    form: NameForm, family: list[PersonCluster], grouping: NameClusters
) -> None:
    plain = [person for person in family if not keeps_given_name(form, person)]
    if not plain:
        _start_family(form, grouping)
        return
    same = [person for person in plain if form.title in person.titles]
    chosen = find_dominant_person(plain, _MOST) or find_dominant_person(same, _MOST)
    if chosen is not None:
        chosen.add(form, "title and surname")
    elif form.title in ("mr", "mrs") and form.n >= max(p.n for p in family):
        _start_family(form, grouping)
    else:
        grouping.give(form, plain, "title and surname")


def _start_family(form: NameForm, grouping: NameClusters) -> None:
    grouping.start(form, "a title before it").lasts.add(form.words[0].lower())


def _place_bare(form: NameForm, grouping: NameClusters) -> None:
    word = form.words[0].lower()
    namesakes = grouping.fitting(form, [p for p in grouping.people if word in p.givens])
    family = grouping.fitting(form, [p for p in grouping.people if word in p.lasts])
    if namesakes and not (family and _is_rather_surname(form, namesakes, family)):
        grouping.give(form, namesakes, "given name")
    elif family:
        men = [person for person in family if person.gender()[0] is not Gender.FEMALE]
        grouping.give(form, men or family, "surname")
    else:
        _place_short(form, grouping)


def _place_short(form: NameForm, grouping: NameClusters) -> None:
    word = form.words[0].lower()
    people = grouping.people
    short = grouping.fitting(form, grouping.called(form))
    short = short or grouping.fitting(form, [p for p in people if word in p.parts])
    if not short:
        short = grouping.fitting(form, grouping.near(word))
    dominant_person = find_dominant_person(short, _MOST)
    if dominant_person is not None:
        dominant_person.add(form, _because(form, dominant_person))
    else:
        grouping.start(form, "").givens.add(word)


def _because(form: NameForm, person: PersonCluster) -> str:
    word = form.words[0].lower()
    if word in person.parts:
        return "part of the name"
    return (
        "short for the given name"
        if may_share_given_name(person, word)
        else "called so"
    )


def _is_rather_surname(
    form: NameForm, namesakes: list[PersonCluster], family: list[PersonCluster]
) -> bool:
    given_mentions = sum(person.n for person in namesakes)
    return (
        given_mentions < sum(person.n for person in family)
        and form.counts["vocative"] <= 3
    )


def _place_title(form: NameForm, grouping: NameClusters) -> None:
    """Place a title alone: "the Captain" is the only captain there is."""
    bearers = [p for p in grouping.people if p.titles.get(form.title, 0) >= 2]
    if form.title in TITLES_OF_WORK and bearers:
        grouping.give(form, bearers, "the title alone")
    elif not bearers:
        grouping.start(form, "a title")
