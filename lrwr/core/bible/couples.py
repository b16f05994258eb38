"""Couples: whose names say that they are married, and what a marriage excludes."""

from collections.abc import Sequence

from lrwr.core.bible.family_ties import RelationGroup, is_couple
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.kin_directory import KinDirectory
from lrwr.core.model.facts import RelationCue

COUPLE_PLACES = 4
"""Number of places with "Mr. and Mrs. Vale" from which they are a couple anyway."""


def have_married_name(first: str, second: str, people: KinDirectory) -> bool:
    """Return whether two people have one name by marriage, as far as names tell."""
    return any(
        people.has_married(wife, husband) or people.are_heads(husband, wife)
        for husband, wife in ((first, second), (second, first))
    )


def is_known_couple(group: RelationGroup) -> bool:
    """Return whether "Mr. and Mrs. Vale" stands in so many places that hardly another
    two can be meant, although other men have the name.
    """
    couples = (
        tie
        for tie in group.ties
        if is_couple(tie.fact.fact)
        and tie.source.replace(".", "") == tie.fact.fact.subject.replace(".", "")
    )
    return sum(1 for _ in couples) >= COUPLE_PLACES


def drop_other_partners(groups: Sequence[RelationGroup]) -> list[RelationGroup]:
    """Return the groups without parents by surname alone who are married to somebody
    else than the other parent: "his mother" is not the Mrs. Vale of an uncle.
    """
    partners: dict[str, set[str]] = {}
    parents: dict[str, set[str]] = {}
    for group in groups:
        first, second, _ = group.key
        if group.term is not None and group.term.base == "spouse":
            partners.setdefault(first, set()).add(second)
            partners.setdefault(second, set()).add(first)
        if group.term is not None and group.term.base == "parent":
            parents.setdefault(second, set()).add(first)
    return [
        group
        for group in groups
        if group.term is None
        or group.term.base != "parent"
        or not (group.ruled and group.is_by_surname)
        or not (others := parents[group.key[1]] - {group.key[0]})
        or not (spouses := partners.get(group.key[0]))
        or others & spouses
    ]


def drop_earlier_unions(
    groups: Sequence[RelationGroup], people: KinDirectory, view: HorizonView
) -> list[RelationGroup]:
    """Return the groups without the marriages that are only spoken of, if the story
    tells of another one of the same character later, in their order.

    "Mrs. Vale" may be the same wife as "Mags", who is spoken of before.
    """
    spouses = [g for g in groups if g.term is not None and g.term.base == "spouse"]
    by_person: dict[str, list[RelationGroup]] = {}
    for group in spouses:
        for name in group.key[:2]:
            by_person.setdefault(name, []).append(group)
    dropped = {
        id(group)
        for group in spouses
        if all(tie.sign == RelationCue.UNION for tie in group.ties)
        and not have_married_name(*group.key[:2], people)
        for name in group.key[:2]
        for other in by_person[name]
        if other is not group
        and not any(map(people.is_married, set(other.key[:2]) - set(group.key[:2])))
        and _last_place(other, view) > _last_place(group, view)
    }
    return [group for group in groups if id(group) not in dropped]


def _last_place(group: RelationGroup, view: HorizonView) -> tuple[int, str, int]:
    fact = group.ties[-1].fact
    document, start = fact.evidence.document, fact.evidence.spans[0].start
    chapter, _ = view.locate_scene(document, fact.fact.spans[0])
    return view.order.chapter_number(document, chapter) or 0, document, start
