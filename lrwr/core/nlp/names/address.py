"""Evidence from direct address: who answers to a name, and who uses it for another.

In "“Lizzy, come here.” ¶ “I come,” said Elizabeth." Elizabeth answers to Lizzy: both
names are probably one person. In "“Lizzy,” said Jane" they are two.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.clusters import NameClusters
from lrwr.core.nlp.names.lexicon import is_same_given_name
from lrwr.core.nlp.names.name_form import NameForm, is_full_name
from lrwr.core.nlp.names.person import PersonCluster, has_gender_conflict

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
        cls, counts: Mapping[str, int], settle: Callable[[str], str]
    ) -> "AddressPairs":
        """Return the pairs of `counts`, as `NameEvidence.address` has them.

        `settle` returns the name within a form.
        """
        sums: dict[str, Counter[tuple[str, str]]] = {
            kind: Counter() for kind in ("after", "before", "same")
        }
        for key, n in counts.items():
            kind, called, speaker = key.split("|")
            pair = settle(called), settle(speaker)
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
    renamed: list[PersonCluster] = []
    for called, speaker in pairs.list_identities():
        answering = clusters.index.find("forms", speaker)
        if len(answering) != 1:
            continue
        if _move_shared(clusters, called, answering[0]):
            renamed.append(answering[0])
        bearers = clusters.index.find("forms", called)
        # The index has no names that were moved since the last merge.
        bearers += [p for p in renamed if called in p.forms and p not in bearers]
        if len(bearers) != 1 or bearers[0] is answering[0]:
            continue
        if _join(clusters, called, bearers[0], answering[0]):
            # Names found so far decide only from here on.
            _index_again(clusters, [*renamed, bearers[0], answering[0]])
            renamed.clear()
    _index_again(clusters, renamed)
    _join_married(clusters)


def _index_again(clusters: NameClusters, people: Iterable[PersonCluster]) -> None:
    remaining = {id(person) for person in clusters.people}
    for person in people:
        if id(person) in remaining:
            clusters.index.update(person)


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
            clusters.remove(person)
            clusters.index.update(wives[0])


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


def _join(
    clusters: NameClusters, called: str, bearer: PersonCluster, person: PersonCluster
) -> bool:
    form = bearer.forms[called]
    if bearer.noted or person.noted or has_gender_conflict(form, person):
        return False
    if _may_be_one(clusters, bearer, person):
        first, second = sorted((bearer, person), key=lambda p: -p.n)
        _absorb(first, second)
        clusters.remove(second)
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
