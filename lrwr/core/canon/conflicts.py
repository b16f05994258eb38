"""Who a name stands for, and where names contradict each other."""

from collections.abc import Iterator
from itertools import chain

from lrwr.core.canon.model import Canon, CanonNames, UndefinedAttribute


def resolve_canon_person(names: CanonNames, name: str) -> str:
    """Return the name that stands for whoever is called `name`."""
    for person, new in names.renamed.items():
        if new == name:
            return person
    for canonical, others in names.merged.items():
        if name in others:
            return canonical
    return name


def find_name_conflicts(names: CanonNames) -> Iterator[tuple[str, str]]:
    """Yield each name that is used in two ways, and a sentence that says how."""
    groups = [(canonical, *others) for canonical, others in names.merged.items()]
    seen: set[str] = set()
    for name in chain(*groups):
        if name in seen:
            yield name, f"{name} is merged twice."
        seen.add(name)
    yield from _of_renames(names)
    for one, other in names.split:
        if resolve_canon_person(names, one) == resolve_canon_person(names, other):
            yield one, f"{one} and {other} are one person and two."
    used = {*seen, *names.renamed, *names.renamed.values(), *chain(*names.split)}
    used.update(names.confirmed)
    for name in names.ignored:
        if name in used:
            yield name, f"{name} is ignored, and a name."


def find_answer_conflicts(canon: Canon) -> Iterator[tuple[UndefinedAttribute, str]]:
    """Yield each question that is decided in two ways, and a sentence that says how."""
    for question in canon.unsaid:
        if question in canon.answers:
            yield question, f"{question} is answered, and left open on purpose."


def _of_renames(names: CanonNames) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for old, new in names.renamed.items():
        if any(old in others for others in names.merged.values()):
            yield old, f"{old} is merged into another name; rename that one."
        if old == new:
            yield old, f"{old} is renamed to itself."
        if new in taken or belongs_to_other_person(names, old, new):
            yield old, f"{new} is the name of two people; merge them instead."
        taken.add(new)


def belongs_to_other_person(names: CanonNames, person: str, name: str) -> bool:
    """Say whether `name` belongs to anybody but `person`."""
    if name != person and name in names.renamed:
        return True
    return any(
        canonical != person and name in (canonical, *others)
        for canonical, others in names.merged.items()
    )
