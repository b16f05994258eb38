"""What a decision does to the canon. Pure: the last word wins."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from lrwr.core.canon.decision import (
    Decision,
    DocumentMoved,
    DocumentTypeSet,
    GapAnswered,
    GapDecision,
    GapDeclined,
    PointOfViewSet,
    SlipIntended,
    StoryOrderSet,
)
from lrwr.core.canon.model import (
    Canon,
    IntendedContradiction,
    UndefinedAttribute,
    normalize_canon_answer,
    normalize_canon_name,
    normalize_canon_text,
)
from lrwr.core.canon.names import apply_name_decision
from lrwr.core.model.documents import DocumentId

ValueT = TypeVar("ValueT")


def apply_decision(canon: Canon, decision: Decision) -> Canon:
    """Return the canon as it is after `decision`.

    Raises:
        SettingsProblem: The decision says nothing, such as a name that is itself.
    """
    match decision:
        case DocumentTypeSet(document, kind):
            return replace(canon, types={**canon.types, document: kind})
        case StoryOrderSet(documents):
            return replace(canon, order=tuple(dict.fromkeys(documents)))
        case PointOfViewSet(place, character):
            views = {**canon.points_of_view, place: normalize_canon_name(character)}
            return replace(canon, points_of_view=views)
        case DocumentMoved():
            return _moved(canon, decision)
        case GapAnswered() | GapDeclined():
            return _about_gap(canon, decision)
        case SlipIntended():
            return _meant(canon, decision)
        case _:
            return replace(canon, names=apply_name_decision(canon.names, decision))


def list_decided_documents(canon: Canon) -> dict[DocumentId, tuple[str, ...]]:
    """Return the documents with decisions, each with the kinds of its decisions."""
    labels_by_document: dict[DocumentId, list[str]] = {}
    for document in canon.types:
        labels_by_document.setdefault(document, []).append("type")
    for document in canon.order:
        labels_by_document.setdefault(document, []).append("order")
    for document in dict.fromkeys(place.document for place in canon.points_of_view):
        labels_by_document.setdefault(document, []).append("point of view")
    return {document: tuple(words) for document, words in labels_by_document.items()}


def _about_gap(canon: Canon, decision: GapDecision) -> Canon:
    undefined_attribute = UndefinedAttribute(
        normalize_canon_text(decision.about), normalize_canon_name(decision.attribute)
    )
    if undefined_attribute.about:
        normalize_canon_name(undefined_attribute.about)
    answers = {q: text for q, text in canon.answers.items() if q != undefined_attribute}
    unsaid = tuple(
        question for question in canon.unsaid if question != undefined_attribute
    )
    if isinstance(decision, GapDeclined):
        unsaid = (
            canon.unsaid
            if undefined_attribute in canon.unsaid
            else (*unsaid, undefined_attribute)
        )
    else:
        answers = {
            **canon.answers,
            undefined_attribute: normalize_canon_answer(decision.answer),
        }
    return replace(canon, answers=answers, unsaid=unsaid)


def _meant(canon: Canon, decision: SlipIntended) -> Canon:
    """Mark a contradiction as intended; an earlier reason is kept or replaced."""
    value, other = (
        normalize_canon_answer(decision.one),
        normalize_canon_answer(decision.other),
    )
    intended_contradiction = IntendedContradiction(
        normalize_canon_name(decision.about),
        normalize_canon_name(decision.attribute),
        value,
        other,
    )
    before = canon.intentional.get(intended_contradiction, "")
    why = (
        normalize_canon_answer(decision.because) if decision.because.strip() else before
    )
    return replace(
        canon, intentional={**canon.intentional, intended_contradiction: why}
    )


def _moved(canon: Canon, move: DocumentMoved) -> Canon:
    """Carry decisions over; what was decided about the new path already stays."""
    old, new = move.before, move.now
    if old == new:
        return canon
    views = {
        replace(place, document=new) if place.document == old else place: character
        for place, character in canon.points_of_view.items()
        if place.document != old
        or replace(place, document=new) not in canon.points_of_view
    }
    order = canon.order
    if old in order:
        order = tuple(new if d == old else d for d in order if d != new)
    types = _rekeyed(canon.types, old, new)
    return replace(canon, types=types, order=order, points_of_view=views)


def _rekeyed(
    values_by_document: Mapping[DocumentId, ValueT], old: DocumentId, new: DocumentId
) -> dict[DocumentId, ValueT]:
    if new in values_by_document:
        return {key: value for key, value in values_by_document.items() if key != old}
    return {
        new if key == old else key: value for key, value in values_by_document.items()
    }
