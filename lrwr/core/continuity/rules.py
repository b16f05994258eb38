"""Which statements surely cannot both be true. What may have changed, may."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.bible.characters import HorizonCast
from lrwr.core.bible.claims import VisibleFacts
from lrwr.core.continuity.normalize import (
    COLOUR_ATTRIBUTES,
    UNIQUE_KINSHIP_CLASSES,
    are_values_incompatible,
    classify_hues,
    classify_kinship,
    excludes_kinship,
    invert_kinship,
    normalize_value_meaning,
    parse_age_range,
)
from lrwr.core.continuity.statements import (
    KINSHIP_ATTRIBUTE,
    Statement,
    may_skip_years,
    mentions_change,
    mentions_past_age,
)
from lrwr.core.continuity.values import StatementSource
from lrwr.core.model.cast import Gender
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.patterns import TITLE_WORDS

MIN_REPEATED_STATEMENTS = 2
"""Statements of the text's own that make it canon where the writer says nothing."""

_TITLES = frozenset(TITLE_WORDS.split())

_GROWN = 3
"""Years by which somebody is surely another age, if no years have passed."""


@dataclass(frozen=True, slots=True)
class StatementConflict:
    """Two statements that shut each other out; `attribute` is what to call it."""

    attribute: str
    canon: Statement
    found: Statement
    values: tuple[str, str]


class StatementComparator:
    """Compares statements; knows the story's words between them."""

    def __init__(self, material: VisibleFacts) -> None:
        self._material = material

    def clashes(self, statements: Sequence[Statement]) -> Iterator[StatementConflict]:
        """Yield what shuts each other out, `statements` being in story order.

        What the writer says is held against every statement of the text; the text's
        own word only against later ones, and where it is repeated.
        """
        groups: dict[tuple[str, str], list[Statement]] = {}
        for one in statements:
            groups.setdefault((one.about, one.attribute), []).append(one)
        for (_, attribute), group in groups.items():
            if attribute != KINSHIP_ATTRIBUTE:
                yield from self._of_attribute(attribute, group)
        kin = [one for one in statements if one.attribute == KINSHIP_ATTRIBUTE]
        yield from find_kinship_conflicts(kin, self._material.roll)

    def _of_attribute(
        self, attribute: str, group: Sequence[Statement]
    ) -> Iterator[StatementConflict]:
        for at, found in enumerate(group):
            for canon in self._canon_for(attribute, found, group[:at]):
                if self._differ(attribute, canon, found):
                    yield StatementConflict(
                        attribute, canon, found, (canon.value, found.value)
                    )
                    break

    def _canon_for(
        self, attribute: str, found: Statement, before: Sequence[Statement]
    ) -> Iterator[Statement]:
        """Yield what counts where `found` stands: the writer's word, if there is one."""
        writers = [one for one in before if one.source is not StatementSource.TEXT]
        if writers:
            yield from writers
            return
        told = [
            one for one in before if one.source is StatementSource.TEXT and one.certain
        ]
        told = [one for one in told if one.rank[:2] != found.rank[:2]]
        if attribute in ("eyes", "life", "age", "born"):
            yield from told
            return
        said = Counter(normalize_value_meaning(attribute, one.value) for one in told)
        for one in told:
            if (
                said[normalize_value_meaning(attribute, one.value)]
                >= MIN_REPEATED_STATEMENTS
            ):
                yield one

    def _differ(self, attribute: str, canon: Statement, found: Statement) -> bool:
        if attribute == "age":
            return self._other_age(canon, found)
        if attribute == "life":
            return self._rises(canon, found)
        if not are_values_incompatible(attribute, canon.value, found.value):
            return False
        if (
            attribute not in COLOUR_ATTRIBUTES
            or found.source is not StatementSource.TEXT
        ):
            return True
        if any(self._changes(one) for one in (canon, found)):
            return False
        return attribute != "hair" or not self._whitens(canon, found)

    def _other_age(self, canon: Statement, found: Statement) -> bool:
        """Say whether the later one is younger, or older with no years in between."""
        one, other = parse_age_range(canon.value), parse_age_range(found.value)
        if one is None or other is None or StatementSource.ANSWER is found.source:
            return False
        if any(
            mentions_past_age(*self._place(s))
            for s in (canon, found)
            if self._is_told(s)
        ):
            return False
        if other[1] < one[0] - 1:
            return True
        return other[0] > one[1] + _GROWN and not self._years_between(canon, found)

    def _rises(self, canon: Statement, found: Statement) -> bool:
        """Say whether somebody lives whom the text itself has let die before."""
        if "dead" not in canon.value.casefold() or found.value != "alive":
            return False
        return self._is_told(canon) and not self._changes(found)

    def _whitens(self, canon: Statement, found: Statement) -> bool:
        """Say whether hair went grey, as hair does."""
        return "grey" in classify_hues("hair", found.value) and canon.rank < found.rank

    def _is_told(self, one: Statement) -> bool:
        return one.source is StatementSource.TEXT

    def _changes(self, one: Statement) -> bool:
        return self._is_told(one) and mentions_change(*self._place(one))

    def _place(self, one: Statement) -> tuple[str, Span]:
        assert one.document is not None
        assert one.span is not None
        return self._material.sight.texts[one.document].text, one.span

    def _years_between(self, canon: Statement, found: Statement) -> bool:
        """Say whether the story may leap over years before `found` is told."""
        order = self._material.sight.order.story
        first = order.index(canon.document) if canon.document in order else 0
        for document in order[first:]:
            text = self._material.sight.texts[document].text
            if document == found.document:
                return may_skip_years(text[: found.span.end if found.span else 0])
            if may_skip_years(text):
                return True
        return True


def find_kinship_conflicts(
    statements: Sequence[Statement], roll: HorizonCast
) -> Iterator[StatementConflict]:
    """Yield two fathers of one child, and people who are two things to each other."""
    held: dict[tuple[str, str], list[tuple[str, Statement]]] = {}
    parents: dict[tuple[str, str], list[tuple[str, Statement]]] = {}
    for one in statements:
        if not classify_kinship(one.value):
            continue
        for child, kind, parent in _parentage(one, roll):
            known = parents.setdefault((child, kind), [])
            yield from _two_parents(kind, parent, one, known, roll)
            known.append((parent, one))
        pair, kinship = _pair(one)
        yield from _two_ties(one, kinship, held.setdefault(pair, []))
        held[pair].append((kinship, one))


def _pair(one: Statement) -> tuple[tuple[str, str], str]:
    """Return the pair by name, and what the second is of the first."""
    if one.about < one.other:
        return (one.about, one.other), classify_kinship(one.value)
    return (one.other, one.about), invert_kinship(one.value)


def _two_ties(
    one: Statement, kinship: str, known: Sequence[tuple[str, Statement]]
) -> Iterator[StatementConflict]:
    for other, before in _weightiest(known):
        if _counts(before, one) and excludes_kinship(other, kinship):
            values = (_of(before), _of(one))
            yield StatementConflict("kin", before, one, values)
            return


def _parentage(one: Statement, roll: HorizonCast) -> Iterator[tuple[str, str, str]]:
    """Yield child, "father" or "mother", and who that is."""
    if one.value in UNIQUE_KINSHIP_CLASSES:
        yield one.about, one.value, one.other
    elif classify_kinship(one.value) == "child":
        seen = roll.seen.get(one.about)
        gender = seen.character.gender if seen else Gender.UNKNOWN
        if gender is Gender.MALE:
            yield one.other, "father", one.about
        elif gender is Gender.FEMALE:
            yield one.other, "mother", one.about


def _two_parents(
    kind: str,
    parent: str,
    one: Statement,
    known: Sequence[tuple[str, Statement]],
    roll: HorizonCast,
) -> Iterator[StatementConflict]:
    for other, before in _weightiest(known):
        if other != parent and _counts(before, one) and _apart(other, parent, roll):
            yield StatementConflict(kind, before, one, (other, parent))
            return


def _weightiest(
    known: Sequence[tuple[str, Statement]],
) -> list[tuple[str, Statement]]:
    """Return what the writer says; where that is nothing, what the text does."""
    writers = [pair for pair in known if pair[1].source is not StatementSource.TEXT]
    return writers or list(known)


def _counts(canon: Statement, found: Statement) -> bool:
    if (
        found.source is not StatementSource.TEXT
        and canon.source is StatementSource.TEXT
    ):
        return False
    return canon.document != found.document or canon.source is not StatementSource.TEXT


def _of(one: Statement) -> str:
    return f"{one.other} is {one.about}’s {one.value}"


def _apart(one: str, other: str, roll: HorizonCast) -> bool:
    """Say whether two people share no word of any name, and so are surely two."""
    return _words(one, roll).isdisjoint(_words(other, roll))


def _words(person: str, roll: HorizonCast) -> set[str]:
    seen = roll.seen.get(person)
    forms = [person, *(a.name for a in seen.character.aliases)] if seen else [person]
    words = {word.rstrip(".") for form in forms for word in form.split()}
    return {word.casefold() for word in words - _TITLES} - {"the"}
