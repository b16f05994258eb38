"""Counts the facts that rules compare, and lists those that differ without being
compared.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from lrwr.core.bible.horizon import HorizonCast, HorizonView
from lrwr.core.bible.profiles import (
    VisibleFacts,
    collect_visible_facts,
    normalize_attribute,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.continuity.statements import COMPARED_ATTRIBUTES, collect_statements
from lrwr.core.continuity.values import (
    COLOUR_ATTRIBUTES,
    are_values_incompatible,
    find_quantity_statements,
    parse_age_range,
)
from lrwr.core.model.documents import Horizon
from lrwr.core.model.facts import CharacterField, FactAbout


@dataclass(frozen=True, slots=True)
class DifferingFact:
    """An attribute ("eyes") of `character` of which two values exclude each other."""

    character: str
    attribute: str
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ComparedFacts:
    """How many facts rules could compare: `stated` in all, of which `compared` are of an
    attribute that notes or text state more than once.

    `differing` are attributes with values that exclude each other in the profiles of
    characters. Those that are no contradictions are doubtful, spoken, of another time,
    or may be somebody else's.
    """

    stated: int
    compared: int
    differing: tuple[DifferingFact, ...] = ()


def count_compared_facts(
    knowledge: StoryKnowledge, horizon: Horizon | None = None
) -> ComparedFacts:
    """Return how many facts `find_contradictions` compares, and which ones differ."""
    view = HorizonView(knowledge.order, knowledge.texts, horizon)
    cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, cast, view)
    statements = (
        *collect_statements(material, knowledge.canon),
        *find_quantity_statements(view),
    )
    counts = Counter((statement.about, statement.attribute) for statement in statements)
    return ComparedFacts(
        counts.total(),
        sum(count for count in counts.values() if count > 1),
        tuple(_find_differing(material)),
    )


def _find_differing(material: VisibleFacts) -> Iterator[DifferingFact]:
    """Yield the ages and colours of characters of which two values exclude each other."""
    values: dict[tuple[str, str], list[str]] = {}
    for sourced_fact in material.about(FactAbout.CHARACTER):
        fact = sourced_fact.fact
        label = normalize_attribute(fact.detail("attribute"))
        attribute = COMPARED_ATTRIBUTES.get(label, "")
        name = material.cast.display_name(fact.subject)
        is_compared = attribute == "age" or attribute in COLOUR_ATTRIBUTES
        if fact.field == CharacterField.ATTRIBUTE and is_compared and name:
            values.setdefault((name, attribute), []).append(fact.value)
    for (name, attribute), stated in values.items():
        for pair in combinations(dict.fromkeys(stated), 2):
            if _exclude_each_other(attribute, *pair):
                yield DifferingFact(name, attribute, pair)
                break


def _exclude_each_other(attribute: str, value: str, other: str) -> bool:
    if attribute != "age":
        return are_values_incompatible(attribute, value, other)
    first, second = parse_age_range(value), parse_age_range(other)
    if first is None or second is None:
        return False
    return first[1] < second[0] or second[1] < first[0]
