"""Index of people by the words of their names.

A search through all people for each name would take minutes in a text with thousands of
names.
"""

from collections.abc import Iterable, Iterator, Sequence

from lrwr.core.nlp.names.name_form import GivenNameIndex
from lrwr.core.nlp.names.person import PersonCluster, may_share_given_name

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
