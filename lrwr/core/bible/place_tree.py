"""Puts places under the places that they are part of."""

from collections.abc import Mapping, Sequence

from lrwr.core.bible.values import WorldElement
from lrwr.core.nlp.names.lexicon import fold_name


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
