"""Clustering of name forms into people: full names first, then shorter forms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.lexicon import GIVEN_TITLES, NEUTRAL_TITLES, SURNAME_TITLES
from lrwr.core.nlp.names.name_form import (
    GivenNameIndex,
    NameForm,
    infer_form_gender,
    is_full_name,
    is_given_name,
    is_joined_word,
    is_same_given_name,
    is_single_word,
    is_titled_initial,
    is_titled_word,
)
from lrwr.core.nlp.names.person import (
    PersonCluster,
    find_dominant_person,
    has_gender_conflict,
    keeps_given_name,
    may_share_given_name,
)

_TITLES_OF_WORK_TEXT = """dr prof captain colonel general major lieutenant sergeant corporal inspector
    superintendent detective constable sheriff marshal judge reverend president mayor
    admiral commodore commander chief bishop archbishop cardinal king queen prince
    princess duke duchess earl count countess baron baroness knave keeper reeve widow
    vicar parson squire abbot abbess"""
TITLES_OF_WORK = frozenset(_TITLES_OF_WORK_TEXT.split())
"""Titles that may stand alone for their bearer: the Captain."""
_BESIDE_MR_TEXT = """dr prof inspector superintendent detective constable judge reverend mayor
    president master monsieur signor senor sheriff"""
_BESIDE_MR = frozenset(_BESIDE_MR_TEXT.split())
"""Titles of men who may also be called "Mr."."""


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


_Key = tuple[str, str]
"""A kind of word and the word."""


class PeopleIndex:
    """People in a fixed order, by the words of their names.

    Every search returns people in that order. A person whose names have changed must be
    added again.
    """

    def __init__(self, people: Iterable[PersonCluster]) -> None:
        self._people: list[PersonCluster] = []
        self._positions_by_person: dict[int, int] = {}
        self._positions: dict[_Key, set[int]] = {}
        self._givens = GivenNameIndex()
        for person in people:
            self.add(person)

    def add(self, person: PersonCluster) -> None:
        """Add a person at the end, or the new words of one that was added before."""
        new = len(self._people)
        position = self._positions_by_person.setdefault(id(person), new)
        if position == new:
            self._people.append(person)
        for given_name in person.givens:
            self._givens.add(given_name)
        for key in _list_keys(person):
            self._positions.setdefault(key, set()).add(position)

    def find(self, kind: str, word: str) -> list[PersonCluster]:
        """Return the people with `word` among their "givens", "lasts", "parts",
        "parts or lasts", "titles" or "forms"; with "noted", among the given names of a
        person from the notes.
        """
        return self._at(self._positions.get((kind, word), ()))

    def find_any(self, kind: str, words: Iterable[str]) -> list[PersonCluster]:
        """Return the people with any of `words`; see `find` for `kind`."""
        keys = [(kind, word) for word in words]
        return self._at(set().union(*(self._positions.get(key, ()) for key in keys)))

    def find_near(self, word: str) -> list[PersonCluster]:
        """Return the people with a given name of which `word`, in lower case, may be a
        short or long form.
        """
        people = self.find_any("givens", self._givens.find(word))
        return [person for person in people if may_share_given_name(person, word)]

    def find_relatives(self, given_name: str, surname: str) -> list[PersonCluster]:
        """Return the people with `surname` whose given name is `given_name`, or a short
        or long form of it.
        """
        family = self._positions.get(("lasts", surname), set())
        alike = self._givens.find(given_name)
        namesakes = (self._positions.get(("givens", name), ()) for name in alike)
        return self._at(set().union(*map(family.intersection, namesakes)))

    def find_joined(self, words: Iterable[str]) -> list[PersonCluster]:
        """Return the people with a name that has exactly these words, in lower case."""
        return self.find("words", _join(words))

    def _at(self, positions: Iterable[int]) -> list[PersonCluster]:
        return [self._people[position] for position in sorted(positions)]


def _list_keys(person: PersonCluster) -> Iterator[_Key]:
    kinds: dict[str, Sequence[str] | set[str]] = {
        "givens": person.givens,
        "lasts": person.lasts,
        "parts": person.parts,
        "parts or lasts": person.parts | person.lasts,
        "titles": set(person.titles),
        "forms": list(person.forms),
        "words": [
            _join(w.lower() for w in form.words) for form in person.forms.values()
        ],
        "noted": person.givens if person.noted else (),
    }
    for kind, words in kinds.items():
        for word in words:
            yield kind, word


def _join(words: Iterable[str]) -> str:
    return " ".join(sorted(set(words)))


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
    `ignored` are names that the user excluded, as `fold_name` returns them. `index` has
    `people` by the words of their names.
    """

    apart: NamePairCounts
    alike: NamePairCounts = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    people: list[PersonCluster] = field(default_factory=list)
    shared: list[tuple[NameForm, list[PersonCluster]]] = field(default_factory=list)
    _apart_by_name: NamePartners = field(init=False)
    _alike_by_name: NamePartners = field(init=False)
    index: PeopleIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index_people()
        self._apart_by_name, self._alike_by_name = (
            _partners(self.apart),
            _partners(self.alike),
        )

    def index_people(self) -> None:
        """Build `index` from `people`.

        To be called if people were added or removed otherwise than by methods.
        """
        self.index = PeopleIndex(self.people)

    def fits(self, form: NameForm, person: PersonCluster) -> bool:
        """Return whether `form` may belong to `person`: no known genders differ, and
        the text does not name both together.
        """
        return not (has_gender_conflict(form, person) or self.is_apart(form, person))

    def is_apart(self, form: NameForm, person: PersonCluster) -> bool:
        """Return whether text or user set both apart ("Nell and Corin")."""
        return not self._apart_by_name.get(form.name, _NOBODY).isdisjoint(person.forms)

    def called(self, form: NameForm) -> list[PersonCluster]:
        """Return the people whom the text explicitly identifies with `form`, as in
        "Nell, called Wren".
        """
        mates = self._alike_by_name.get(form.name)
        if not mates:
            return []
        return self.index.find_any("forms", mates)

    def fitting(
        self, form: NameForm, people: Iterable[PersonCluster]
    ) -> list[PersonCluster]:
        """Return those of `people` to whom `form` may belong, according to `fits`."""
        return [person for person in people if self.fits(form, person)]

    def start(
        self,
        form: NameForm,
        because: str,
        *,
        givens: Iterable[str] = (),
        lasts: Iterable[str] = (),
    ) -> None:
        """Add a new person with `form` and these given names and surnames; `because` is
        stored as the reason.
        """
        person = PersonCluster(givens=set(givens), lasts=set(lasts))
        self.people.append(person)
        self.add(form, person, because)

    def add(self, form: NameForm, person: PersonCluster, because: str) -> None:
        """Assign `form` to one of `people`; `because` is stored as the reason."""
        person.add(form, because)
        self.index.add(person)

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
            self.start(form, "", givens=(w.lower() for w in form.words))
        elif dominant_person is not None:
            self.add(form, dominant_person, because)
        else:
            self.shared.append((form, sorted(fit, key=lambda person: -person.n)))


def cluster_name_forms(forms: Sequence[NameForm], clusters: NameClusters) -> None:
    """Assign each form to a person of `clusters`, to a new person, or to several.

    Order: full names, names written without a space, titles with words, single words
    and titles alone; each group by descending frequency.
    """
    clusters.index_people()
    ranked = sorted(forms, key=lambda form: (-form.n, form.first, form.name))
    lone = {form.words[0].lower(): form for form in ranked if is_single_word(form)}
    for form in filter(is_full_name, ranked):
        _assign_full(form, clusters)
    for form in filter(is_joined_word, ranked):
        _assign_joined(form, clusters)
    for form in sorted(filter(is_titled_word, ranked), key=is_titled_initial):
        _assign_titled(form, clusters, lone)
    for form in ranked:
        if is_single_word(form) and not is_joined_word(form):
            _assign_bare(form, clusters)
        elif form.title and not form.words and not form.of:
            _assign_title(form, clusters)


def _partners(pairs: NamePairCounts) -> dict[str, set[str]]:
    paired_names: dict[str, set[str]] = {}
    for pair in (pair for pair, count in pairs.items() if count):
        for name in pair:
            paired_names.setdefault(name, set()).update(pair - {name})
    return paired_names


def _assign_full(form: NameForm, clusters: NameClusters) -> None:
    if form.of:
        clusters.start(form, "a title and a place")
        return
    relatives = clusters.index.find_relatives(form.given_name, form.last)
    family = [
        person
        for person in clusters.fitting(form, relatives)
        if not is_wife_of_namesake(form, person)
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
        clusters.add(form, chosen, "the same given name and surname")


def _noted_by_given(form: NameForm, clusters: NameClusters) -> PersonCluster | None:
    """Return the person whom the author's notes call only by the given name of `form`."""
    noted = [
        person
        for person in clusters.index.find("noted", form.given_name)
        if form.given_name not in person.full_givens
    ]
    return find_dominant_person(clusters.fitting(form, noted), 1.0)


def _is_nickname_of(form: NameForm, person: PersonCluster) -> bool:
    return any(
        is_same_given_name(form.given_name, given_name) for given_name in person.givens
    )


def _assign_joined(form: NameForm, clusters: NameClusters) -> None:
    """Assign a name written without its space: "NellTallow" is Nell Tallow."""
    people = clusters.index.find_joined(form.parts)
    if people:
        clusters.add(form, people[0], "the same words without a space")
    else:
        clusters.start(form, "a name", givens={form.words[0].lower()})


def _assign_titled(
    form: NameForm,
    clusters: NameClusters,
    lone: Mapping[str, NameForm],
) -> None:
    word = form.words[0].lower()
    if is_titled_initial(form):
        bearers = clusters.index.find("titles", form.title)
        alike = clusters.fitting(form, [p for p in bearers if p.begins_with(word[0])])
        clusters.give(form, alike, "title and initial")
        return
    family = clusters.fitting(form, clusters.index.find("lasts", word))
    family = [person for person in family if may_bear_title(form, person)]
    namesakes = clusters.fitting(form, clusters.index.find("givens", word))
    namesakes = [person for person in namesakes if word not in person.lasts]
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
        near = clusters.index.find("parts or lasts", word)
        near = clusters.fitting(form, near or clusters.index.find_near(word))
    dominant_person = find_dominant_person(near, _DOMINANCE)
    if dominant_person is not None:
        clusters.add(form, dominant_person, "title and part of the name")
        return
    own = {"givens" if is_given else "lasts": {word}}
    clusters.start(form, "title before the name", **own)


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
        clusters.add(form, chosen, "title and surname")
    elif form.title in ("mr", "mrs") and form.n >= max(p.n for p in family):
        _start_family(form, clusters)
    else:
        clusters.give(form, plain, "title and surname")


def _start_family(form: NameForm, clusters: NameClusters) -> None:
    clusters.start(form, "title before the name", lasts={form.words[0].lower()})


def _assign_bare(form: NameForm, clusters: NameClusters) -> None:
    word = form.words[0].lower()
    namesakes = clusters.fitting(form, clusters.index.find("givens", word))
    bearers = clusters.index.find("lasts", word)
    family = clusters.fitting(form, bearers)
    if len(bearers) == 1 and not (family or namesakes or is_given_name(word)):
        family = [p for p in bearers if not clusters.is_apart(form, p)]
    if namesakes and not (family and _is_rather_surname(form, namesakes, family)):
        clusters.give(form, namesakes, "given name")
    elif family:
        men = [person for person in family if person.gender()[0] is not Gender.FEMALE]
        clusters.give(form, men or family, "surname")
    else:
        _assign_short(form, clusters)


def _assign_short(form: NameForm, clusters: NameClusters) -> None:
    word = form.words[0].lower()
    short = clusters.fitting(form, clusters.called(form))
    short = short or clusters.fitting(form, clusters.index.find("parts", word))
    if not short:
        short = clusters.fitting(form, clusters.index.find_near(word))
    dominant_person = find_dominant_person(short, _DOMINANCE)
    if dominant_person is not None:
        reason = _short_form_reason(form, dominant_person)
        clusters.add(form, dominant_person, reason)
    else:
        clusters.start(form, "", givens={word})


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
    bearers = clusters.index.find("titles", form.title)
    bearers = [person for person in bearers if person.titles[form.title] >= 2]
    if form.title in TITLES_OF_WORK and bearers:
        clusters.give(form, bearers, "the title alone")
    elif not bearers:
        clusters.start(form, "a title")
