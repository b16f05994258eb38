"""Clustering of name forms into people: full names first, then shorter forms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.lexicon import GIVEN_TITLES, NEUTRAL_TITLES, SURNAME_TITLES
from lrwr.core.nlp.names.name_form import (
    GivenNameIndex,
    NameForm,
    find_matching_given_names,
    infer_form_gender,
    is_same_given_name,
    is_titled_initial,
)
from lrwr.core.nlp.names.person import (
    PersonCluster,
    find_dominant_person,
    has_gender_conflict,
    may_share_given_name,
)

_TITLES_OF_WORK_TEXT = """dr prof captain colonel general major lieutenant sergeant corporal inspector
    superintendent detective constable sheriff marshal judge reverend president mayor
    admiral commodore commander chief bishop archbishop cardinal king queen prince
    princess duke duchess earl count countess baron baroness knave keeper reeve widow
    vicar parson squire abbot abbess"""
TITLES_OF_WORK = frozenset(_TITLES_OF_WORK_TEXT.split())
"""Titles that may stand for their bearer without a name: the Captain."""
_BESIDE_MR_TEXT = """dr prof inspector superintendent detective constable judge reverend mayor
    president master monsieur signor senor sheriff"""
_BESIDE_MR = frozenset(_BESIDE_MR_TEXT.split())
"""Titles of men who may also be called "Mr."."""
_SEPARATE_RATIO = 4
"""If "Mr. Vale" is this many times as frequent as "Mr. Corin Vale", they may be two."""
_MIN_DOCUMENTS = 6
"""Minimum documents with "Mr. Corin Vale" before it counts as a second person."""


def has_compatible_title(form: NameForm, person: PersonCluster) -> bool:
    """Return whether the title of `form` fits the titles of `person`.

    "Tom" and "Mr. Vale" may be one person; "Tom" and "Sir Thomas" may not.
    """
    if form.title in person.titles:
        return True
    noble = {form.title, *person.titles} - SURNAME_TITLES - _BESIDE_MR - {""}
    return not noble


def is_wife_of_namesake(form: NameForm, person: PersonCluster) -> bool:
    """Return whether one is the other's wife: "Mrs. Corin Vale" and "Corin Vale"."""
    if (form.title == "mrs") == ("mrs" in person.titles):
        return False
    return person.gender()[0] is not Gender.FEMALE or form.title == "mrs"


def may_bear_title(form: NameForm, person: PersonCluster) -> bool:
    """Return whether `person` may have the title of `form`, a title with that person's
    surname, such as "Mrs. Vale".
    """
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
        return _may_be_man_with(form.title, person)
    return True


def _may_be_man_with(title: str, person: PersonCluster) -> bool:
    if person.gender()[0] is Gender.FEMALE:
        return False
    other_titles = set(person.titles) - {title}
    if not other_titles:
        return True
    if title == "mr":
        return other_titles <= _BESIDE_MR
    return title in _BESIDE_MR and other_titles <= _BESIDE_MR | {"mr"}


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


NamePairCounts = Mapping[frozenset[str], int]
NamePartners = Mapping[str, set[str]]
"""For each name, the names it is paired with."""
_NOBODY: frozenset[str] = frozenset()
_DOMINANCE = 3.0
"""A person owns a shared form if mentioned this many times as often as the next one."""


@dataclass(slots=True)
class NameClusters:
    """The people found so far, and name forms shared by several of them.

    `shared` has each shared form with the people it may mean, most mentioned first.
    `apart` and `alike` count pairs of names that belong to two people or to one.
    `ignored` are names that the user excluded, as `fold_name` returns them.
    """

    apart: NamePairCounts
    alike: NamePairCounts = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    people: list[PersonCluster] = field(default_factory=list)
    shared: list[tuple[NameForm, list[PersonCluster]]] = field(default_factory=list)
    _apart_by_name: NamePartners = field(init=False)
    _alike_by_name: NamePartners = field(init=False)

    def __post_init__(self) -> None:
        self._apart_by_name, self._alike_by_name = (
            _partners(self.apart),
            _partners(self.alike),
        )

    def fits(self, form: NameForm, person: PersonCluster) -> bool:
        """Return whether `form` may belong to `person`.

        It may not if the genders are known and differ, or if the text names both
        together ("Nell and Corin").
        """
        if has_gender_conflict(form, person):
            return False
        return self._apart_by_name.get(form.name, _NOBODY).isdisjoint(person.forms)

    def called(self, form: NameForm) -> list[PersonCluster]:
        """Return the people whom the text explicitly identifies with `form`, as in
        "Nell, called Wren".
        """
        mates = self._alike_by_name.get(form.name)
        if not mates:
            return []
        return [person for person in self.people if not mates.isdisjoint(person.forms)]

    def near(self, word: str) -> list[PersonCluster]:
        """Return the people with a given name of which `word`, in lower case, may be a
        short or long form.
        """
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
        """Return those of `people` to whom `form` may belong, according to `fits`."""
        return [person for person in people if self.fits(form, person)]

    def start(self, form: NameForm, because: str) -> PersonCluster:
        """Add and return a new person with `form`; `because` is stored as the
        reason.
        """
        person = PersonCluster()
        person.add(form, because)
        self.people.append(person)
        return person

    def give(
        self, form: NameForm, people: Iterable[PersonCluster], because: str
    ) -> None:
        """Assign `form` to the only one of `people`, or to the one with at least 3
        times the mentions of any other; `because` is stored as the reason.

        Without such a person, a form more than 3 times as frequent as all of `people`
        together starts a new person; any other form is added to `shared`. Without
        `people`, nothing happens.
        """
        fit = list(people)
        dominant_person = find_dominant_person(fit, _DOMINANCE)
        if not fit:
            return
        if dominant_person is None and form.n > _DOMINANCE * sum(
            person.n for person in fit
        ):
            self.start(form, "").givens.update(w.lower() for w in form.words)
        elif dominant_person is not None:
            dominant_person.add(form, because)
        else:
            self.shared.append((form, sorted(fit, key=lambda person: -person.n)))


def cluster_name_forms(forms: Sequence[NameForm], clusters: NameClusters) -> None:
    """Assign each form to a person of `clusters`, to a new person, or to several.

    Order: full names, names written without a space, titles with words, single words
    and titles alone; each group by descending frequency.
    """
    ranked = sorted(forms, key=lambda form: (-form.n, form.first, form.name))
    lone = {form.words[0].lower(): form for form in ranked if _is_bare(form)}
    for form in filter(_is_full, ranked):
        _assign_full(form, clusters)
    for form in filter(_is_joined, ranked):
        _assign_joined(form, clusters)
    index = _PeopleIndex(clusters)
    for form in sorted(filter(_is_titled, ranked), key=is_titled_initial):
        _assign_titled(form, clusters, lone, index)
    index = _PeopleIndex(clusters)
    for form in ranked:
        if _is_bare(form) and not _is_joined(form):
            _assign_bare(form, clusters, index)
        elif form.title and not form.words and not form.of:
            _assign_title(form, clusters)


def _partners(pairs: NamePairCounts) -> dict[str, set[str]]:
    paired_names: dict[str, set[str]] = {}
    for pair in (pair for pair, count in pairs.items() if count):
        for name in pair:
            paired_names.setdefault(name, set()).update(pair - {name})
    return paired_names


def assign_shared_forms(clusters: NameClusters) -> None:
    """Assign again the shared forms, among the candidates that are still in the
    clusters.

    A form whose candidates are all gone is dropped; one with several remains shared,
    unless one of them has far more mentions (see `NameClusters.give`).
    """
    listed = {id(person) for person in clusters.people}
    open_forms, clusters.shared = clusters.shared, []
    for form, people in open_forms:
        candidates = [person for person in people if id(person) in listed]
        candidates = clusters.fitting(form, candidates)
        if candidates:
            clusters.give(form, candidates, "most frequent character of that name")


def _is_bare(form: NameForm) -> bool:
    return not form.title and len(form.words) == 1 and not form.of


def _is_joined(form: NameForm) -> bool:
    return _is_bare(form) and bool(form.parts)


def _is_titled(form: NameForm) -> bool:
    return bool(form.title) and len(form.words) == 1 and not form.of


def _is_full(form: NameForm) -> bool:
    return bool(form.of) or len(form.words) > 1


def _assign_full(form: NameForm, clusters: NameClusters) -> None:
    if form.of:
        clusters.start(form, "a title and a place")
        return
    last = form.last
    family = [
        person
        for person in clusters.people
        if last in person.lasts
        and clusters.fits(form, person)
        and not is_wife_of_namesake(form, person)
    ]
    exact = [person for person in family if form.given_name in person.givens]
    chosen = find_dominant_person(exact, 1.0) or find_dominant_person(
        [
            p
            for p in family
            if _is_nickname_of(form, p) and has_compatible_title(form, p)
        ],
        1.0,
    )
    chosen = chosen or _noted_by_given(form, clusters)
    if chosen is None:
        clusters.start(form, "given name and surname")
    else:
        chosen.add(form, "the same given name and surname")


def _noted_by_given(form: NameForm, clusters: NameClusters) -> PersonCluster | None:
    """Return the person whom the author's notes call only by the given name of `form`."""
    noted = [
        person
        for person in clusters.people
        if person.noted
        and form.given_name in person.givens
        and form.given_name not in person.full_givens
    ]
    return find_dominant_person(clusters.fitting(form, noted), 1.0)


def _is_nickname_of(form: NameForm, person: PersonCluster) -> bool:
    return any(
        is_same_given_name(form.given_name, given_name) for given_name in person.givens
    )


def _assign_joined(form: NameForm, clusters: NameClusters) -> None:
    """Assign a name written without its space: "NellTallow" is Nell Tallow."""
    for person in clusters.people:
        if any(
            {w.lower() for w in f.words} == form.parts for f in person.forms.values()
        ):
            person.add(form, "the same words without a space")
            return
    clusters.start(form, "a name").givens.add(form.words[0].lower())


def _assign_titled(
    form: NameForm,
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
    index: "_PeopleIndex",
) -> None:
    word = form.words[0].lower()
    if is_titled_initial(form):
        alike = [p for p in clusters.people if form.title in p.titles]
        alike = clusters.fitting(form, [p for p in alike if p.begins_with(word[0])])
        clusters.give(form, alike, "title and initial")
        return
    family = clusters.fitting(form, index.find("lasts", word))
    family = [person for person in family if may_bear_title(form, person)]
    namesakes = [p for p in index.find("givens", word) if word not in p.lasts]
    namesakes = clusters.fitting(form, namesakes)
    titled = [person for person in namesakes if form.title in person.titles]
    if form.title in NEUTRAL_TITLES - GIVEN_TITLES:
        namesakes = titled  # an office precedes a surname, rarely a given name
    if namesakes and (not family or form.title in GIVEN_TITLES):
        clusters.give(form, titled or namesakes, "title and given name")
    elif family:
        _assign_family(form, family, clusters)
    else:
        _assign_lone_title(form, clusters, is_given=_is_given(form, lone.get(word)))


def _assign_lone_title(
    form: NameForm, clusters: NameClusters, *, is_given: bool
) -> None:
    word = form.words[0].lower()
    near: list[PersonCluster] = []
    if is_given:
        near = [p for p in clusters.people if word in p.parts or word in p.lasts]
        near = near or clusters.near(word)
        near = clusters.fitting(form, near)
    dominant_person = find_dominant_person(near, _DOMINANCE)
    if dominant_person is not None:
        dominant_person.add(form, "title and part of the name")
        return
    person = clusters.start(form, "title before the name")
    (person.givens if is_given else person.lasts).add(word)


def _is_given(form: NameForm, bare: NameForm | None) -> bool:
    if form.title in GIVEN_TITLES:
        return True
    if form.title not in ("miss", "lady", "lord") or bare is None:
        return False
    alike = infer_form_gender(bare) is infer_form_gender(form)
    return alike and bare.n > form.n / 2


def _assign_family(
    form: NameForm, family: list[PersonCluster], clusters: NameClusters
) -> None:
    plain = [person for person in family if not keeps_given_name(form, person)]
    if not plain:
        _start_family(form, clusters)
        return
    same = [person for person in plain if form.title in person.titles]
    chosen = find_dominant_person(plain, _DOMINANCE) or find_dominant_person(
        same, _DOMINANCE
    )
    if chosen is not None:
        chosen.add(form, "title and surname")
    elif form.title in ("mr", "mrs") and form.n >= max(p.n for p in family):
        _start_family(form, clusters)
    else:
        clusters.give(form, plain, "title and surname")


def _start_family(form: NameForm, clusters: NameClusters) -> None:
    clusters.start(form, "title before the name").lasts.add(form.words[0].lower())


class _PeopleIndex:
    """The people of `clusters` by the words of their names, in their order there.

    For the assignment of single words and titles, which gives no known person another
    given name or surname. A search through all people for each word would take minutes
    in a text with thousands of names.
    """

    def __init__(self, clusters: NameClusters) -> None:
        self._people = clusters.people
        self._indexed = 0
        self._positions: dict[tuple[str, str], list[int]] = {}
        self._givens = GivenNameIndex()

    def find(self, kind: str, word: str) -> list[PersonCluster]:
        """Return the people with `word` among their "givens", "lasts" or "parts"."""
        self._update()
        positions = self._positions.get((kind, word), ())
        return [self._people[position] for position in positions]

    def find_near(self, word: str) -> list[PersonCluster]:
        """Return the people with a given name of which `word` may be a short or long
        form, as `NameClusters.near` does.
        """
        self._update()
        positions = {
            position
            for given_name in self._givens.find(word)
            for position in self._positions["givens", given_name]
        }
        people = [self._people[position] for position in sorted(positions)]
        return [person for person in people if may_share_given_name(person, word)]

    def _update(self) -> None:
        for position in range(self._indexed, len(self._people)):
            person = self._people[position]
            for given_name in person.givens:
                self._givens.add(given_name)
            words = {"givens": person.givens, "lasts": person.lasts}
            for kind, own in {**words, "parts": person.parts}.items():
                for word in own:
                    self._positions.setdefault((kind, word), []).append(position)
        self._indexed = len(self._people)


def _assign_bare(form: NameForm, clusters: NameClusters, index: _PeopleIndex) -> None:
    word = form.words[0].lower()
    namesakes = clusters.fitting(form, index.find("givens", word))
    family = clusters.fitting(form, index.find("lasts", word))
    if namesakes and not (family and _is_rather_surname(form, namesakes, family)):
        clusters.give(form, namesakes, "given name")
    elif family:
        men = [person for person in family if person.gender()[0] is not Gender.FEMALE]
        clusters.give(form, men or family, "surname")
    else:
        _assign_short(form, clusters, index)


def _assign_short(form: NameForm, clusters: NameClusters, index: _PeopleIndex) -> None:
    word = form.words[0].lower()
    short = clusters.fitting(form, clusters.called(form))
    short = short or clusters.fitting(form, index.find("parts", word))
    if not short:
        short = clusters.fitting(form, index.find_near(word))
    dominant_person = find_dominant_person(short, _DOMINANCE)
    if dominant_person is not None:
        dominant_person.add(form, _short_form_reason(form, dominant_person))
    else:
        clusters.start(form, "").givens.add(word)


def _short_form_reason(form: NameForm, person: PersonCluster) -> str:
    word = form.words[0].lower()
    if word in person.parts:
        return "part of the name"
    return (
        "short for the given name"
        if may_share_given_name(person, word)
        else "stated in the text"
    )


def _is_rather_surname(
    form: NameForm, namesakes: list[PersonCluster], family: list[PersonCluster]
) -> bool:
    given_mentions = sum(person.n for person in namesakes)
    return (
        given_mentions < sum(person.n for person in family)
        and form.counts["vocative"] <= 3
    )


def _assign_title(form: NameForm, clusters: NameClusters) -> None:
    """Assign a title alone: "the Captain" is the only captain there is."""
    bearers = [p for p in clusters.people if p.titles.get(form.title, 0) >= 2]
    if form.title in TITLES_OF_WORK and bearers:
        clusters.give(form, bearers, "the title alone")
    elif not bearers:
        clusters.start(form, "a title")
