"""The people found so far: name clusters, and an index of them by their names."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.nlp.names.lexicon import GivenNameIndex
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.person import (
    PersonCluster,
    find_dominant_person,
    has_gender_conflict,
    may_share_given_name,
)

_Key = tuple[str, str]
"""A kind of word and the word."""


class PeopleIndex:
    """People in a fixed order, by the words of their names.

    Every search returns people in that order. A person who got more names must be added
    again, one who lost some must be updated.
    """

    def __init__(self, people: Iterable[PersonCluster]) -> None:
        self._people: list[PersonCluster] = []
        self._positions_by_person: dict[int, int] = {}
        self._positions: dict[_Key, set[int]] = {}
        self._keys: list[dict[str, set[str]]] = []
        self._givens = GivenNameIndex()
        for person in people:
            self.add(person)

    def add(self, person: PersonCluster) -> None:
        """Add a person at the end, or the new words of one that was added before."""
        new = len(self._people)
        position = self._positions_by_person.setdefault(id(person), new)
        if position == new:
            self._people.append(person)
            self._keys.append({})
        keys = self._keys[position]
        for kind, words in _list_words(person):
            if len(words) == len(keys.get(kind, ())):
                continue  # between updates, words are only added
            new_words = self._add_words(position, kind, words)
            if kind == "forms":
                joined = {_join(person.forms[name].words) for name in new_words}
                self._add_words(position, "words", joined)
            elif kind == "givens":
                for given_name in new_words:
                    self._givens.add(given_name)

    def _add_words(
        self, position: int, kind: str, words: Collection[str]
    ) -> Collection[str]:
        """Index the new ones of some words of a kind, and return them."""
        indexed = self._keys[position].setdefault(kind, set())
        new_words = set(words) - indexed
        indexed |= new_words
        for word in new_words:
            self._positions.setdefault((kind, word), set()).add(position)
        return new_words

    def update(self, person: PersonCluster) -> None:
        """Index a person again whose names have changed."""
        position = self._positions_by_person[id(person)]
        self._forget(position)
        self.add(person)

    def remove(self, person: PersonCluster) -> None:
        """Remove a person; the order of the others stays."""
        self._forget(self._positions_by_person[id(person)])

    def _forget(self, position: int) -> None:
        for kind, words in self._keys[position].items():
            for word in words:
                self._positions[kind, word].discard(position)
        self._keys[position].clear()

    def find(self, kind: str, word: str) -> list[PersonCluster]:
        """Return the people with `word` among their "givens", "lasts", "parts", "titles"
        or "forms"; with "noted", among the given names of a person from the notes.
        """
        return self._at(self._positions.get((kind, word), ()))

    def find_part(self, word: str) -> list[PersonCluster]:
        """Return the people with `word` among their "parts" or "lasts"."""
        kinds = ("parts", "lasts")
        return self._at(
            set().union(*(self._positions.get((k, word), ()) for k in kinds))
        )

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

    def find_joined(self, words: Collection[str]) -> list[PersonCluster]:
        """Return the people with a name that has exactly these words, in lower case."""
        return self.find("words", _join(list(words)))

    def _at(self, positions: Collection[int]) -> list[PersonCluster]:
        if not positions:
            return []
        return [self._people[position] for position in sorted(positions)]


def _list_words(person: PersonCluster) -> list[tuple[str, Collection[str]]]:
    """Return the words of a person's names, by kind."""
    words: list[tuple[str, Collection[str]]] = [
        ("forms", person.forms.keys()),
        ("givens", person.givens),
        ("lasts", person.lasts),
        ("titles", person.titles.keys()),
    ]
    if person.parts:
        words.append(("parts", person.parts))
    if person.noted:
        words.append(("noted", person.givens))
    return words


def _join(words: Sequence[str]) -> str:
    """Return the words in lower case and in a fixed order, each once."""
    if len(words) == 1:
        return words[0].lower()
    return " ".join(sorted({word.lower() for word in words}))


NamePairCounts = Mapping[frozenset[str], int]
NamePartners = Mapping[str, set[str]]
"""For each name, the names it is paired with."""
_NOBODY: frozenset[str] = frozenset()
DOMINANCE = 3.0
"""A person owns a shared form if mentioned this many times as often as the next one."""


@dataclass(slots=True)
class NameClusters:
    """The people found so far, and name forms shared by several of them.

    `shared` has each shared form with the people it may mean, most mentioned first.
    `apart` and `alike` count pairs of names that belong to two people or to one.
    `names` are all names of the text, also of families. `ignored` are names that the user excluded, as `fold_name` returns them. `index` has
    `people` by the words of their names.
    """

    apart: NamePairCounts
    alike: NamePairCounts = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    people: list[PersonCluster] = field(default_factory=list)
    shared: list[tuple[NameForm, list[PersonCluster]]] = field(default_factory=list)
    names: Mapping[str, NameForm] = field(default_factory=dict)
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

    def remove(self, person: PersonCluster) -> None:
        """Remove one of `people`, whose names another one got."""
        self.people = [other for other in self.people if other is not person]
        self.index.remove(person)

    def fits(self, form: NameForm, person: PersonCluster) -> bool:
        """Return whether `form` may belong to `person`: no known genders differ, and
        the text does not name both together.
        """
        return not (has_gender_conflict(form, person) or self.is_apart(form, person))

    def is_apart(self, form: NameForm, person: PersonCluster) -> bool:
        """Return whether the text sets both apart ("Nell and Corin")."""
        return not self._apart_by_name.get(form.name, _NOBODY).isdisjoint(person.forms)

    def called(self, form: NameForm) -> list[PersonCluster]:
        """Return the people whom the text explicitly identifies with `form`, as in
        "Nell, called Wren".
        """
        mates = self._alike_by_name.get(form.name)
        if not mates:
            return []
        return self.index.find_any("forms", mates)

    def is_shared(self, form: NameForm) -> bool:
        """Return whether `form` is shared by several people."""
        return any(other is form for other, _ in self.shared)

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
        dominant_person = find_dominant_person(fit, DOMINANCE)
        if not fit:
            return
        if dominant_person is None and form.n > DOMINANCE * sum(
            person.n for person in fit
        ):
            self.start(form, "", givens=(w.lower() for w in form.words))
        elif dominant_person is not None:
            self.add(form, dominant_person, because)
        else:
            self.shared.append((form, sorted(fit, key=lambda person: -person.n)))


def _partners(pairs: NamePairCounts) -> dict[str, set[str]]:
    paired_names: dict[str, set[str]] = {}
    for pair in (pair for pair, count in pairs.items() if count):
        for name in pair:
            paired_names.setdefault(name, set()).update(pair - {name})
    return paired_names
