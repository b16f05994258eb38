"""The people found so far: name clusters, and an index of them by their names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.canonical import CapitalizationCounts, settle_name_form
from lrwr.core.nlp.names.lexicon import GivenNameIndex, is_same_given_name
from lrwr.core.nlp.names.name_form import NameForm, is_full_name
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


_MIN_REPLIES = 2
"""Minimum replies of one speaker to a name, after being addressed by it."""
_MIN_ANSWERS = 3
"""Minimum replies, before and after, of one speaker to a name."""
_CLEARLY = 2
"""Minimum ratio of a speaker's replies to a name to those of any other speaker."""
_REASON = "answers to the name"


@dataclass(frozen=True, slots=True)
class AddressPairs:
    """Counts of pairs (name in address, name in a dialogue tag), settled names.

    `after` counts tags in the paragraph after the address, `before` those in the
    paragraph before it, `same` those in its own paragraph.
    """

    after: Mapping[tuple[str, str], int] = field(default_factory=dict)
    before: Mapping[tuple[str, str], int] = field(default_factory=dict)
    same: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def settle(
        cls, counts: Mapping[str, int], words: CapitalizationCounts
    ) -> "AddressPairs":
        """Return the pairs of `counts`, as `NameEvidence.address` has them."""
        sums: dict[str, Counter[tuple[str, str]]] = {
            kind: Counter() for kind in ("after", "before", "same")
        }
        for key, n in counts.items():
            kind, called, speaker = key.split("|")
            pair = settle_name_form(called, words), settle_name_form(speaker, words)
            if all(pair) and pair[0] != pair[1]:
                sums[kind][pair] += n
        return cls(**sums)

    def list_identities(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs whose names are probably one person, best supported first.

        The speaker never uses the name for somebody else, and answers to it at least
        twice as often as any other speaker.
        """
        answers = Counter(self.after)
        answers.update(self.before)
        ranked = sorted(answers.items(), key=lambda item: (-item[1], item[0]))
        rivals: dict[str, list[int]] = {}
        for (called, _), n in ranked:
            rivals.setdefault(called, []).append(n)
        for pair, n in ranked:
            others = [n, *rivals[pair[0]]]
            others.remove(n)
            second = others[1] if others[0] == n and len(others) > 1 else 0
            clear = n == others[0] and n >= _CLEARLY * second
            often = self.after.get(pair, 0) >= _MIN_REPLIES and n >= _MIN_ANSWERS
            if often and clear and not self._is_used_for_others(pair):
                yield pair

    def _is_used_for_others(self, pair: tuple[str, str]) -> bool:
        return bool(self.same.get(pair) or self.same.get((pair[1], pair[0])))


def join_people_by_address(clusters: NameClusters, pairs: AddressPairs) -> None:
    """Merge the people of `clusters` who answer to each other's names.

    Two people whose given names or surnames differ stay apart; then only the name in
    address, if it has no given name of its own, goes to the person who answers to it.
    """
    for called, speaker in pairs.list_identities():
        answering = clusters.index.find("forms", speaker)
        if len(answering) != 1:
            continue
        _move_shared(clusters, called, answering[0])
        bearers = [p for p in clusters.people if called in p.forms]
        if len(bearers) != 1 or bearers[0] is answering[0]:
            continue
        if _join_bearer(clusters, called, bearers[0], answering[0]):
            clusters.index_people()
    _join_married(clusters)


def _join_married(clusters: NameClusters) -> None:
    """Merge "Lou Vale" into the Louisa who is "Mrs. Vale"."""
    wives_by_name: dict[str, dict[int, PersonCluster]] = {}
    for person in clusters.people:
        _note_married_names(person, wives_by_name)
    absorbed: set[int] = set()
    for person in list(clusters.people):
        lasts = {form.last for form in person.forms.values() if form.given_name}
        namesakes: dict[int, PersonCluster] = {}
        for last in lasts:
            namesakes |= wives_by_name.get(last, {})
        wives = [
            wife
            for wife in namesakes.values()
            if wife is not person
            and id(wife) not in absorbed
            and wife.titles["mrs"]
            and wife.n > person.n
            and _may_be_called(wife, person)
        ]
        if len(wives) == 1 and not person.noted:
            _absorb(wives[0], person)
            _note_married_names(wives[0], wives_by_name)
            absorbed.add(id(person))
    clusters.people = [p for p in clusters.people if id(p) not in absorbed]
    clusters.index_people()


def _note_married_names(
    wife: PersonCluster, wives_by_name: dict[str, dict[int, PersonCluster]]
) -> None:
    """Add `wife` under each surname that she has with "Mrs." alone: "Mrs. Vale"."""
    for form in wife.forms.values():
        if form.title == "mrs" and len(form.words) == 1:
            wives_by_name.setdefault(form.words[-1].lower(), {})[id(wife)] = wife


def _may_be_called(wife: PersonCluster, person: PersonCluster) -> bool:
    givens = _own_givens(person)
    alike = (is_same_given_name(a, b) for a in givens for b in wife.givens)
    return bool(givens) and person.gender()[0] is not Gender.MALE and any(alike)


def _move_shared(clusters: NameClusters, called: str, person: PersonCluster) -> bool:
    for form, people in clusters.shared:
        if form.name == called and person in people and form.title != "miss":
            clusters.shared.remove((form, people))
            person.add(form, _REASON)
            return True
    return False


def _join_bearer(
    clusters: NameClusters, called: str, bearer: PersonCluster, person: PersonCluster
) -> bool:
    form = bearer.forms[called]
    if bearer.noted or person.noted or has_gender_conflict(form, person):
        return False
    if _may_be_one(clusters, bearer, person):
        first, second = sorted((bearer, person), key=lambda p: -p.n)
        _absorb(first, second)
        clusters.people.remove(second)
        return True
    if is_full_name(form) or len(bearer.forms) == 1 or not form.title:
        return False
    if form.title == "miss" and bearer.full_givens and person.full_givens:
        clusters.shared.append((form, [bearer, person]))  # a sister may stand in
        _remove(form, bearer)
        return True
    _remove(form, bearer)
    person.add(form, _REASON)
    person.lasts.update(word.lower() for word in form.words)
    return True


def _remove(form: NameForm, person: PersonCluster) -> None:
    del person.forms[form.name]
    person.titles[form.title] -= form.n


def _absorb(person: PersonCluster, other: PersonCluster) -> None:
    for form in other.forms.values():
        person.add(form, other.because.get(form.name, "") or _REASON)
    person.givens |= other.givens
    person.lasts |= other.lasts


def _may_be_one(
    clusters: NameClusters, first: PersonCluster, second: PersonCluster
) -> bool:
    """Return whether no name of one contradicts the other."""
    genders = {first.gender()[0], second.gender()[0]} - {Gender.UNKNOWN}
    if len(genders) > 1:
        return False
    if first.full_givens and second.full_givens:
        return False
    if any(clusters.is_apart(form, second) for form in first.forms.values()):
        return False
    return _agree(_own_givens(first), _own_givens(second)) and _agree(
        _surnames(first), _surnames(second)
    )


def _agree(first: set[str], second: set[str]) -> bool:
    return (
        not first
        or not second
        or any(is_same_given_name(a, b) for a in first for b in second)
    )


def _own_givens(person: PersonCluster) -> set[str]:
    return {
        form.words[0].lower()
        for form in person.forms.values()
        if form.given_name and form.title != "mrs"
    }


def _surnames(person: PersonCluster) -> set[str]:
    """Return the surnames after a title or given name; a married woman may have two."""
    return {_surname(form) for form in person.forms.values()} - {""}


def _surname(form: NameForm) -> str:
    if form.given_name:
        return form.last
    titled = form.title in ("mr", "miss", "captain", "colonel", "dr")
    return form.words[-1].lower() if titled and form.words else ""
