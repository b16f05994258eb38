"""The user's decisions on names, applied to the people that the text alone gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.canonical import FROM_NOTES, add_partial_names, sort_people
from lrwr.core.nlp.names.clusters import NameClusters
from lrwr.core.nlp.names.lexicon import fold_name
from lrwr.core.nlp.names.name_form import NameForm, parse_name_form
from lrwr.core.nlp.names.person import PersonCluster


@dataclass(frozen=True, slots=True)
class NameOverrides:
    """The user's canon decisions on names; they outrank text and notes.

    `merged` maps the main name of a person to other names of the same person. `split`
    holds pairs of names of two different people. `renamed` maps a name to the name to
    display. `ignored` are words that are not characters.
    """

    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: tuple[tuple[str, str], ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def apply_name_overrides(
    clusters: NameClusters,
    decided: NameOverrides,
    unlisted: Sequence[PersonCluster],
    forms: Mapping[str, NameForm],
) -> None:
    """Apply splits and merges to `clusters`, the people that the text alone gives.

    A split takes one name out of a person; it becomes a person of its own, or goes to
    the person with whom it is merged. A merge joins two people. All others keep their
    names. `unlisted` are people with too little evidence to be listed, and `forms` all
    forms of the text by name: a merge may need either.
    """
    if not (decided.merged or decided.split):
        return
    add_partial_names(sort_people(clusters.people), clusters)
    _OverrideApplication(clusters, decided, unlisted, forms).run()
    # A name that was taken out of a person must not come back as part of a full name.
    clusters.ignored |= {fold_name(name) for pair in decided.split for name in pair}
    clusters.index_people()


class _OverrideApplication:
    """Applies decisions to clusters; names are compared as `fold_name` returns them."""

    def __init__(
        self,
        clusters: NameClusters,
        decided: NameOverrides,
        unlisted: Sequence[PersonCluster],
        forms: Mapping[str, NameForm],
    ) -> None:
        self._clusters = clusters
        self._unlisted = list(unlisted)
        self._forms: dict[str, list[NameForm]] = {}
        for form in forms.values():
            self._forms.setdefault(fold_name(form.name), []).append(form)
        self._ignored = {fold_name(name) for name in decided.ignored}
        self._groups = [list(self._group(item)) for item in decided.merged.items()]
        self._group_of = {
            fold_name(name): number
            for number, group in enumerate(self._groups)
            for name in group
        }
        self._split = [
            (fold_name(first), fold_name(second)) for first, second in decided.split
        ]

    def _group(self, item: tuple[str, tuple[str, ...]]) -> Iterator[str]:
        names = dict.fromkeys((item[0], *item[1]))
        return (name for name in names if fold_name(name) not in self._ignored)

    def run(self) -> None:
        """Split, merge, and split again what the merges brought together."""
        self._split_people()
        for group in self._groups:
            if group:
                self._merge(group)
        self._split_people()

    def _split_people(self) -> None:
        for first, second in self._split:
            for person in list(self._clusters.people):
                names = {fold_name(name) for name in person.forms}
                if first != second and {first, second} <= names:
                    leaving = self._choose_leaving(person, first, second)
                    self._detach(person, leaving)

    def _choose_leaving(self, person: PersonCluster, first: str, second: str) -> str:
        """Return which of two split names leaves `person`.

        It is the one that is merged with a name of somebody else, else one that is not
        the main name by notes or decisions, else the less frequent one.
        """
        names = {fold_name(name) for name in person.forms}

        def rank(name: str) -> tuple[bool, bool, int, str]:
            group = (
                [] if name not in self._group_of else self._groups[self._group_of[name]]
            )
            leaves = any(fold_name(other) not in names for other in group)
            belongs = fold_name(person.noted) in {name, *map(fold_name, group)}
            mentions = sum(
                f.n for f in person.forms.values() if fold_name(f.name) == name
            )
            return leaves, not belongs, -mentions, name

        return max(first, second, key=rank)

    def _detach(self, person: PersonCluster, name: str) -> PersonCluster:
        """Make the forms of `name` a person of their own, and return that person."""
        own = PersonCluster()
        for form in [f for f in person.forms.values() if fold_name(f.name) == name]:
            del person.forms[form.name]
            person.because.pop(form.name, None)
            own.add(form, "")
            if not form.title and len(form.words) == 1:
                own.givens.add(form.words[0].lower())
        if fold_name(person.noted) == name:
            person.noted, own.noted = "", person.noted
        _count_titles(own)
        _count_titles(person)
        if own.n or name in self._group_of:
            self._clusters.people.append(own)
        return own

    def _merge(self, group: Sequence[str]) -> None:
        """Join the people who have the names of `group`; the first is the main name."""
        target = self._find_first(fold_name(group[0]))
        if not any(person is target for person in self._clusters.people):
            self._clusters.people.append(target)
            self._unlisted = [p for p in self._unlisted if p is not target]
        for name in group:
            self._join_bearers(fold_name(name), target)
            self._claim_forms(name, target)
        target.noted = group[0]
        for form in target.forms:
            if (
                self._group_of.get(fold_name(form))
                == self._group_of[fold_name(group[0])]
            ):
                target.because[form] = FROM_NOTES

    def _find_first(self, name: str) -> PersonCluster:
        return next(self._find(name), PersonCluster())

    def _find(self, name: str) -> Iterator[PersonCluster]:
        for person in [*self._clusters.people, *self._unlisted]:
            if any(fold_name(form) == name for form in person.forms):
                yield person

    def _join_bearers(self, name: str, target: PersonCluster) -> None:
        for bearer in list(self._find(name)):
            if bearer is target:
                continue
            is_whole = len({fold_name(form) for form in bearer.forms}) == 1 or not (
                self._is_split(bearer, target)
            )
            joined = bearer if is_whole else self._detach(bearer, name)
            _absorb(target, joined)
            self._replace(joined, target)

    def _is_split(self, person: PersonCluster, other: PersonCluster) -> bool:
        names = {fold_name(name) for name in person.forms}
        others = {fold_name(name) for name in other.forms}
        return any(
            (a in names and b in others) or (b in names and a in others)
            for a, b in self._split
        )

    def _replace(self, person: PersonCluster, target: PersonCluster) -> None:
        """Remove `person`, whose names `target` got; so do shared forms."""
        self._clusters.people = [p for p in self._clusters.people if p is not person]
        self._unlisted = [p for p in self._unlisted if p is not person]
        shared, self._clusters.shared = self._clusters.shared, []
        for form, people in shared:
            candidates = _unique(target if p is person else p for p in people)
            if len(candidates) == 1 and candidates[0] is target:
                target.add(form, "")
            else:
                self._clusters.shared.append((form, candidates))

    def _claim_forms(self, name: str, target: PersonCluster) -> None:
        """Give `target` the forms of `name` that nobody has, or that are shared."""
        folded = fold_name(name)
        self._clusters.shared = [
            (form, people)
            for form, people in self._clusters.shared
            if fold_name(form.name) != folded
        ]
        for form in self._forms.get(folded, ()):
            target.add(form, FROM_NOTES)
        if name not in target.forms:
            title, words, of = parse_name_form(name)
            target.add(NameForm(name, title, words, of), FROM_NOTES)
        _count_titles(target)


def _absorb(person: PersonCluster, other: PersonCluster) -> None:
    for form in other.forms.values():
        person.add(form, other.because.get(form.name, ""))
    person.givens |= other.givens
    person.lasts |= other.lasts
    if person.noted_gender is Gender.UNKNOWN:
        person.noted_gender = other.noted_gender


def _count_titles(person: PersonCluster) -> None:
    """Count the titles of a person again, whose forms have changed."""
    person.titles.clear()
    for form in person.forms.values():
        if form.title:
            person.titles[form.title] += form.n


def _unique(people: Iterable[PersonCluster]) -> list[PersonCluster]:
    return list({id(person): person for person in people}.values())
