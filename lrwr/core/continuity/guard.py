"""Facts joined with confirmed canon: every contradiction that is sure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lrwr.core.bible.characters import HorizonCast
from lrwr.core.bible.claims import (
    VisibleFacts,
    collect_visible_facts,
    deduplicate_evidence,
    normalize_value,
)
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.service import StoryKnowledge
from lrwr.core.bible.values import assign_short_ids, find_by_id_prefix
from lrwr.core.canon.model import Canon, IntendedContradiction
from lrwr.core.continuity.misspellings import find_misspelled_names
from lrwr.core.continuity.normalize import (
    are_values_incompatible,
    find_quantity_statements,
    normalize_value_meaning,
)
from lrwr.core.continuity.rules import StatementComparator, StatementConflict
from lrwr.core.continuity.statements import Statement, collect_statements
from lrwr.core.continuity.values import Contradiction, ContradictionSide
from lrwr.core.model.documents import DocumentId, Horizon

ContradictionKey = tuple[str, str, str, str]
"""Whose, which attribute, and the two meanings, in order of their words."""

UNCHECKED_TOPICS = (
    "occupation, build, clothes, places, who knows what, and whatever is only said in"
    " dialogue or in words that the rules do not know"
)
"""What no rule compares; a language model may be asked about some of it."""


def find_contradictions(
    knowledge: StoryKnowledge,
    horizon: Horizon | None = None,
    documents: Collection[DocumentId] | None = None,
) -> tuple[Contradiction, ...]:
    """Return what contradicts confirmed canon, in the order in which the text does.

    Confirmed canon are the writer's notes, answers and names, and what the text
    itself has said in an earlier document. Under a horizon nothing later is looked
    at; notes and answers hold all the same. With `documents` only what has a passage
    in one of them is returned. Those marked as intended are among them.
    """
    horizon_view = HorizonView(knowledge.order, knowledge.texts, None)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, horizon_cast, horizon_view)
    bounded_view = HorizonView(knowledge.order, knowledge.texts, horizon)
    conflicts = [
        c for c in _clashes(material, knowledge.canon) if _is_seen(c, bounded_view)
    ]
    contradictions = _contradictions(conflicts, horizon_cast, knowledge.canon)
    return tuple(
        contradiction
        for contradiction in contradictions
        if documents is None or is_in_documents(contradiction, documents)
    )


def is_in_documents(
    contradiction: Contradiction, documents: Collection[DocumentId]
) -> bool:
    """Say whether either side has a passage in one of `documents`."""
    places = (*contradiction.canon.evidence, *contradiction.found.evidence)
    return any(place.document in documents for place in places)


def find_contradiction_by_id(
    text: str, contradictions: Sequence[Contradiction]
) -> Contradiction:
    """Return the contradiction whose id is `text`, or alone begins with it.

    Raises:
        NotFound: There is none, or more than one.
    """
    return find_by_id_prefix(
        text, contradictions, noun="contradiction", listed_by="lrwr check --all"
    )


def _clashes(material: VisibleFacts, canon: Canon) -> list[StatementConflict]:
    judge = StatementComparator(material)
    conflicts = list(judge.clashes(collect_statements(material, canon)))
    conflicts += _of_numbers(find_quantity_statements(material.sight))
    conflicts += [
        StatementConflict("name", right, wrong, (right.value, wrong.value))
        for right, wrong in find_misspelled_names(material, canon)
    ]
    return sorted(conflicts, key=lambda conflict: conflict.found.rank)


def _of_numbers(statements: Sequence[Statement]) -> Iterable[StatementConflict]:
    first: dict[tuple[str, str], Statement] = {}
    for statement in statements:
        canon = first.setdefault((statement.about, statement.attribute), statement)
        if (
            are_values_incompatible("number", canon.value, statement.value)
            and canon.rank[:2] != statement.rank[:2]
        ):
            yield StatementConflict(
                statement.attribute, canon, statement, (canon.value, statement.value)
            )


def _is_seen(conflict: StatementConflict, bounded_view: HorizonView) -> bool:
    """Say whether both passages are before the horizon; a note always is."""
    places = [
        statement.evidence
        for statement in (conflict.canon, conflict.found)
        if statement.evidence
    ]
    story_places = [place for place in places if bounded_view.tells(place.document)]
    return all(bounded_view.sees(place.document, place.spans) for place in story_places)


def _contradictions(
    clashes: Sequence[StatementConflict], horizon_cast: HorizonCast, canon: Canon
) -> list[Contradiction]:
    groups: dict[ContradictionKey, list[StatementConflict]] = {}
    for conflict in clashes:
        groups.setdefault(_key(conflict), []).append(conflict)
    ids = assign_short_ids(groups)
    intended = collect_intended_contradictions(canon, horizon_cast)
    return [
        replace(
            _contradiction(ids[key], group, horizon_cast),
            intended=key in intended,
            because=intended.get(key, ""),
        )
        for key, group in groups.items()
    ]


def _contradiction(
    id_: str, group: Sequence[StatementConflict], horizon_cast: HorizonCast
) -> Contradiction:
    first = group[0]
    return Contradiction(
        id=id_,
        about=horizon_cast.shown(first.found.about) or first.found.about,
        attribute=first.attribute,
        canon=_side(first.values[0], [conflict.canon for conflict in group]),
        found=_side(first.values[1], [conflict.found for conflict in group]),
    )


def _side(value: str, statements: Sequence[Statement]) -> ContradictionSide:
    places = (statement.evidence for statement in statements if statement.evidence)
    return ContradictionSide(value, statements[0].source, deduplicate_evidence(places))


def _key(conflict: StatementConflict) -> ContradictionKey:
    return build_contradiction_key(
        conflict.found.about, conflict.attribute, *conflict.values
    )


def collect_intended_contradictions(
    canon: Canon, horizon_cast: HorizonCast
) -> dict[ContradictionKey, str]:
    """Return the intended contradictions, each with the writer's reason."""
    return {
        _intended_key(contradiction, horizon_cast): why
        for contradiction, why in canon.intentional.items()
    }


def _intended_key(
    intended_contradiction: IntendedContradiction, horizon_cast: HorizonCast
) -> ContradictionKey:
    person = (
        horizon_cast.person(intended_contradiction.about)
        or intended_contradiction.about
    )
    return build_contradiction_key(
        person,
        intended_contradiction.attribute,
        intended_contradiction.one,
        intended_contradiction.other,
    )


def build_contradiction_key(
    about: str, attribute: str, first_value: str, second_value: str
) -> ContradictionKey:
    """Return a key that does not change while both values mean the same."""
    kind = attribute.split(" ")[0]
    first, second = sorted(
        normalize_value_meaning(kind, value) for value in (first_value, second_value)
    )
    return normalize_value(about), attribute, first, second
