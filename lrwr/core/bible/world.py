"""Builds the world elements of the story bible: places, objects, groups and rules."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.bible.kin_terms import NAME_TITLES
from lrwr.core.bible.profiles import (
    SourcedFact,
    VisibleFacts,
    find_highest_certainty,
    merge_claims,
)
from lrwr.core.bible.values import BibleClaim, WorldElement
from lrwr.core.model.facts import (
    LOCATIVE_DETAIL,
    MENTIONS_DETAIL,
    PART_OF_DETAIL,
    WRITER_KEEPER,
    Certainty,
    FactAbout,
    WorldField,
)
from lrwr.core.nlp.names.lexicon import fold_name, is_given_name
from lrwr.core.ports.story_stores import CountedFact


def normalize_place_name(name: str) -> str:
    """Return a place's name in the form for comparison: without case, a leading article
    and hyphens, so that "the Gull-street" and "Gull Street" are equal.
    """
    return fold_name(name.replace("-", " "))


def nest_places(
    elements: Sequence[WorldElement],
) -> tuple[tuple[WorldElement, int], ...]:
    """Return pairs of an element and its depth: each place that is part of another of
    `elements` follows it, one level deeper; otherwise the order stays.
    """
    names = {normalize_place_name(element.name): element for element in elements}
    parts: dict[str, list[WorldElement]] = {}
    for element in elements:
        parent = normalize_place_name(element.part_of) if element.part_of else ""
        is_nested = parent in names and not _is_cyclic(element, names)
        parts.setdefault(parent if is_nested else "", []).append(element)

    def walk(parent: str, depth: int) -> list[tuple[WorldElement, int]]:
        rows: list[tuple[WorldElement, int]] = []
        for element in parts.get(parent, ()):
            rows += [
                (element, depth),
                *walk(normalize_place_name(element.name), depth + 1),
            ]
        return rows

    return tuple(walk("", 0))


def _is_cyclic(element: WorldElement, names: Mapping[str, WorldElement]) -> bool:
    """Return whether the places around `element` lead back to one of themselves."""
    seen = {normalize_place_name(element.name)}
    parent = names.get(normalize_place_name(element.part_of))
    while parent is not None:
        key = normalize_place_name(parent.name)
        if key in seen:
            return True
        seen.add(key)
        parent = (
            names.get(normalize_place_name(parent.part_of)) if parent.part_of else None
        )
    return False


_MIN_MENTIONS = 2
"""Mentions from which a name with a locative use is a place."""
_MIN_LOCATIVE_SHARE = 0.15
"""Minimum share of locative uses among the mentions of a place."""
_MIN_SHARE_WITH_ARTICLE = 0.3
"""The same for a name with "the", such as "the Angel", which is more often a thing's."""
_MIN_SHARE_OF_GIVEN_NAME = 0.3
"""The same for a name such as "Frederick", which is mostly a person's or a part's."""


def collect_world_elements(material: VisibleFacts) -> tuple[WorldElement, ...]:
    """Return the places and other named things of the story's world, most mentioned
    first, then in order of first occurrence.

    A place that only rules found needs a locative use and two mentions, or a place noun
    ("Gull Street"). Facts that take a character for a place are ignored; an element
    with such facts is skipped if no other fact gives its type.
    """
    facts = [
        f
        for f in material.about(FactAbout.WORLD)
        if f.fact.subject and material.view.contains_name(f.fact.subject)
    ]
    groups: dict[str, list[SourcedFact]] = {}
    for sourced_fact in facts:
        key = normalize_place_name(sourced_fact.fact.subject)
        groups.setdefault(key, []).append(sourced_fact)
    elements = {
        key: _build_element(group, group, material) for key, group in groups.items()
    }
    parts = [key for key in elements if _is_part_of_room(key, elements)]
    elements |= dict.fromkeys(parts)
    same = _find_same_places({k: e for k, e in elements.items() if e is not None})
    if same:
        elements = _merge_same_places(facts, groups, elements, same, material)
    found = (element for element in elements.values() if element is not None)
    return tuple(sorted(found, key=lambda element: -element.mentions))


def select_possible_elements(facts: Iterable[CountedFact]) -> frozenset[str]:
    """Return the subjects of facts about the world that `collect_world_elements` may
    list at any horizon. `facts` must be all of them.

    Left out are names that only rules found, never with a locative use or only once;
    most of the facts are about these.
    """
    groups: dict[str, list[CountedFact]] = {}
    for counted_fact in facts:
        key = normalize_place_name(counted_fact.subject)
        groups.setdefault(key, []).append(counted_fact)
    return frozenset(
        fact.subject
        for group in groups.values()
        if _may_be_listed(group)
        for fact in group
    )


def _may_be_listed(group: Sequence[CountedFact]) -> bool:
    mentions = locative = 0
    for fact in group:
        details = dict(reversed(fact.details))
        counted = _parse_count(details.get(MENTIONS_DETAIL, ""))
        if not counted or fact.certainty is Certainty.VERIFIED:
            return True
        mentions += fact.count * counted
        locative += _parse_count(details.get(LOCATIVE_DETAIL, ""))
    return mentions >= _MIN_MENTIONS and locative > 0


def _parse_count(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _merge_same_places(
    facts: Iterable[SourcedFact],
    groups: Mapping[str, Sequence[SourcedFact]],
    elements: Mapping[str, WorldElement | None],
    same: Mapping[str, str],
    material: VisibleFacts,
) -> dict[str, WorldElement | None]:
    """Return `elements` by normalized name, built again where several are one place.

    `groups` are the facts by normalized name; `same` maps normalized names to those of
    the same place. The order is that of the first fact of each place.
    """
    merged: dict[str, list[SourcedFact]] = {key: [] for key in same.values()}
    order: dict[str, None] = {}
    for sourced_fact in facts:
        key = normalize_place_name(sourced_fact.fact.subject)
        order[same.get(key, key)] = None
        if (group := merged.get(same.get(key, key))) is not None:
            group.append(sourced_fact)
    return {
        key: _build_element(merged[key], groups.get(key) or merged[key], material)
        if key in merged
        else elements[key]
        for key in order
    }


def _find_same_places(elements: Mapping[str, WorldElement]) -> dict[str, str]:
    """Return the normalized names of places that are another's, with that name.

    "The Lodge" is "Thole Lodge" if no other Lodge is named nearly as often, "Ness
    Park" is "Ness" if that is its usual name and no other place begins with it, and "Mr.
    Vale's house" is "Mr. Vale's".
    """
    same: dict[str, str] = {}
    by_last_word: dict[str, list[str]] = {}
    for key in elements:
        by_last_word.setdefault(key.split(" ")[-1], []).append(key)
    ordered = sorted(elements)
    for key, element in elements.items():
        words = key.split(" ")
        if not element.mentions:
            continue
        if len(words) == 1 and not element.name.split(" ")[-1].islower():
            longer = [k for k in by_last_word[key] if k != key]
            if other := _find_usual(longer, elements):
                same[key] = other
        elif len(words) > 1 and words[-1] in _HOUSES:
            short = " ".join(words[:-1])
            if short in elements and _is_by_name(key, short, elements, ordered):
                same[key] = short
    return {key: other for key, other in same.items() if other not in same}


_HOUSES = frozenset({"house", "park", "court", "home"})
_USUAL_SHARE = 3
"""How much more often a place is called by its short name than by the full one."""


def _find_usual(keys: Sequence[str], elements: Mapping[str, WorldElement]) -> str:
    """Return the one of `keys` that is named much more often than all others."""
    ranked = sorted(keys, key=lambda key: -elements[key].mentions)
    if len(ranked) > 1 and (
        elements[ranked[0]].mentions < _USUAL_SHARE * elements[ranked[1]].mentions
    ):
        return ""
    return ranked[0] if ranked else ""


def _is_part_of_room(key: str, elements: Mapping[str, WorldElement | None]) -> bool:
    """Return whether `key` is hardly named but in the name of a room: "the East" in
    "the East room".
    """
    element = elements[key]
    rooms = (elements.get(f"{key} {noun}") for noun in _ROOMS)
    return element is not None and any(
        room is not None and room.mentions * _ROOM_SHARE >= element.mentions
        for room in rooms
    )


_ROOMS = ("room", "chamber", "wing", "tower", "gate")
_ROOM_SHARE = 1.25
"""How much more often "the East" may be named than "the East room"."""


def _is_by_name(
    full: str,
    short: str,
    elements: Mapping[str, WorldElement],
    ordered: Sequence[str],
) -> bool:
    """Return whether `short` is the usual name of `full`, or has a possessive ending;
    `ordered` are the sorted keys of `elements`.
    """
    if short.endswith("s") and "'" in short[-2:]:
        return True
    first = bisect_left(ordered, f"{short} ")
    longer = ordered[first : bisect_left(ordered, f"{short}!", first)]
    mentions = elements[full].mentions, elements[short].mentions
    return longer == [full] and mentions[1] >= _USUAL_SHARE * mentions[0]


def may_be_same_place(name: str, others: Collection[str]) -> bool:
    """Return whether the place `name` may be one of `others`, or decide whether another
    one is: it shares the first or the last word. All names are normalized.
    """
    words = {word for other in others for word in list_outer_words(other)}
    return not words.isdisjoint(list_outer_words(name))


def list_outer_words(name: str) -> tuple[str, ...]:
    """Return the first and the last word of the normalized `name` of a place."""
    words = name.split() or [name]
    return words[0], words[-1]


@dataclass(frozen=True, slots=True)
class _PlaceCounts:
    """How often the rules found a name, and how often as a place's; `names` counts the
    spellings, `is_sure` means that the text says that it is a place.
    """

    names: Counter[str]
    locative: int
    is_sure: bool

    @classmethod
    def of_facts(cls, facts: Sequence[SourcedFact]) -> "_PlaceCounts":
        """Add up the facts of one name."""
        names: Counter[str] = Counter()
        for sourced_fact in facts:
            fact = sourced_fact.fact
            names[fact.subject] += int(fact.detail(MENTIONS_DETAIL) or 0)
        return cls(
            names,
            sum(int(f.fact.detail(LOCATIVE_DETAIL) or 0) for f in facts),
            any(f.fact.certainty is Certainty.VERIFIED for f in facts),
        )

    @property
    def mentions(self) -> int:
        """The number of mentions."""
        return self.names.total()

    def is_place(self) -> bool:
        """Return whether the evidence is enough."""
        if self.is_sure:
            return True
        name = self.names.most_common(1)[0][0]
        if name.removeprefix("the ") in NAME_TITLES:
            return False  # "the Baron" is a person, or a part in a play
        with_article = name.startswith("the ") and not name[4:].islower()
        share = _MIN_SHARE_WITH_ARTICLE if with_article else _MIN_LOCATIVE_SHARE
        share = _MIN_SHARE_OF_GIVEN_NAME if is_given_name(name) else share
        return (
            self.mentions >= _MIN_MENTIONS
            and self.locative > 0
            and self.locative >= share * self.mentions
        )


def _build_element(
    sourced_facts: Sequence[SourcedFact],
    naming: Sequence[SourcedFact],
    material: VisibleFacts,
) -> WorldElement | None:
    """Return the element that the facts are about; `naming` are those that use its own
    name. None if the evidence is not enough.
    """
    group = [f for f in sourced_facts if not material.cast.is_misread_place(f.fact)]
    types = _claims(group, WorldField.ELEMENT_TYPE)
    if len(group) < len(sourced_facts) and not types:
        return None
    counted = [f for f in group if f.fact.detail(MENTIONS_DETAIL)]
    counts = _PlaceCounts.of_facts(counted)
    if not _is_listed(group, counted, counts):
        return None
    written = [f for f in group if f.fact.keeper == WRITER_KEEPER]
    naming_ids = {id(f) for f in naming}
    own = _PlaceCounts.of_facts([f for f in counted if id(f) in naming_ids]).names
    spelled = own.most_common(1)
    named = spelled[0][0] if spelled and not written else ""
    parents = Counter(filter(None, (f.fact.detail(PART_OF_DETAIL) for f in counted)))
    return WorldElement(
        name=named or (written or group)[0].fact.subject,
        element_types=types,
        descriptions=_claims(group, WorldField.DESCRIPTION),
        connected_characters=merge_claims(
            ("", name, sourced_fact.evidence)
            for sourced_fact in group
            if sourced_fact.fact.field == WorldField.CONNECTED
            and (name := material.cast.display_name(sourced_fact.fact.value))
        ),
        certainty=find_highest_certainty([f.evidence for f in group]),
        mentions=counts.mentions,
        part_of=parents.most_common(1)[0][0] if parents else "",
    )


def _is_listed(
    group: Sequence[SourcedFact], counted: Sequence[SourcedFact], counts: _PlaceCounts
) -> bool:
    """Return whether a note, a model or enough occurrences say what this is."""
    stated = any(
        not f.fact.detail(MENTIONS_DETAIL) and f.fact.field != WorldField.CONNECTED
        for f in group
    )
    return stated or not counted or counts.is_place()


def _claims(group: Sequence[SourcedFact], field: WorldField) -> tuple[BibleClaim, ...]:
    return merge_claims(
        (
            "",
            sourced_fact.fact.value or sourced_fact.evidence.text,
            sourced_fact.evidence,
        )
        for sourced_fact in group
        if sourced_fact.fact.field == field
    )
