"""Whom one may ask for at a moment of the story: who has been named by then."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from lrwr.core.model.cast import Cast, Character
from lrwr.core.model.errors import NotFound
from lrwr.core.model.search import SearchScope
from lrwr.core.nlp.names.lookup import resolve_name
from lrwr.core.ports.story_store import FirstMention
from lrwr.core.retrieval.people import is_within_scope


@dataclass(frozen=True, slots=True)
class ScopedCast:
    """The cast by the names that have been seen, and who is meant in the whole cast."""

    cast: Cast
    meant: Mapping[str, tuple[str, ...]]

    def called(self, name: str) -> tuple[str, ...]:
        """Return the names in the whole cast of those whom `name` may mean.

        Raises:
            NotFound: Nobody is called so, or nobody who has been named yet.
        """
        people = self.meaning(resolve_name(name, self.cast))
        if people:
            return people
        raise NotFound(
            f"Nobody in the story is called {name}",
            hint="See who is there with `lrwr characters`.",
        )

    def meaning(self, people: Iterable[str]) -> tuple[str, ...]:
        """Return those of the whole cast who go by the names of `people` here."""
        return tuple(who for one in people for who in self.meant[one])


def build_unscoped_cast(cast: Cast) -> ScopedCast:
    """Return the whole cast, by every name."""
    return ScopedCast(cast, {one.name: (one.name,) for one in cast.characters})


def build_scoped_cast(
    cast: Cast, rows: Iterable[FirstMention], scope: SearchScope
) -> ScopedCast:
    """Return those whose names stand in `scope`, by the forms that stand there."""
    forms: dict[str, set[str]] = {}
    for row in rows:
        if is_within_scope(row.document, row.span, scope):
            forms.setdefault(row.character, set()).add(row.alias)
    meant: dict[str, tuple[str, ...]] = {}
    people = []
    for one in cast.characters:
        if one.name in forms:
            known = _by_forms(one, forms[one.name])
            meant[known.name] = (*meant.get(known.name, ()), one.name)
            people.append(known)
    return ScopedCast(Cast(tuple(people)), meant)


def _by_forms(one: Character, forms: Collection[str]) -> Character:
    aliases = tuple(alias for alias in one.aliases if alias.name in forms)
    if one.name in forms or not aliases:
        return replace(one, aliases=aliases)
    return replace(one, name=aliases[0].name, aliases=aliases)
