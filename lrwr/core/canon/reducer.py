"""Application of decisions to the canon, without side effects: the latest decision
wins.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TypeVar, assert_never

from lrwr.core.canon.decision import (
    Decision,
    DocumentMoved,
    DocumentTypeSet,
    GapAnswered,
    GapDecision,
    GapDeclined,
    NameConfirmed,
    NameDecision,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
    SlipIntended,
    StoryOrderSet,
)
from lrwr.core.canon.model import (
    Canon,
    CanonNames,
    IntendedContradiction,
    UndefinedAttribute,
    belongs_to_other_person,
    normalize_canon_answer,
    normalize_canon_name,
    normalize_canon_text,
    resolve_canon_person,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import SettingsProblem


def apply_name_decision(names: CanonNames, decision: NameDecision) -> CanonNames:
    """Return a copy of `names` with `decision` added; earlier decisions that contradict
    it are removed.

    Raises:
        SettingsProblem: A name is empty or contains control characters, only one name
            is given where two are needed, or two characters would get one name.
    """
    match decision:
        case NamesMerged(merged_names, canonical):
            return _drop_merged_pairs(_merge(names, merged_names, canonical))
        case NamesSplit(split_name, other):
            return _drop_merged_pairs(
                _split(names, *_two_different_names(split_name, other))
            )
        case NameRenamed(old, new):
            return _drop_merged_pairs(_rename(names, *_two_different_names(old, new)))
        case NameIgnored(name):
            return _ignore(names, normalize_canon_name(name))
        case NameConfirmed(name):
            return _confirm(names, normalize_canon_name(name))
        case _:
            assert_never(decision)


def _merge(
    names: CanonNames, names_to_merge: Iterable[str], canonical: str
) -> CanonNames:
    normalized_names = [normalize_canon_name(name) for name in names_to_merge]
    canonical_name = (
        normalize_canon_name(canonical)
        if canonical
        else resolve_canon_person(names, normalized_names[0])
    )
    people = [
        resolve_canon_person(names, name)
        for name in (canonical_name, *normalized_names)
    ]
    groups = chain(*(names.merged.get(person, ()) for person in people))
    own_group = names.merged.get(canonical_name, ())
    member_names = dict.fromkeys(
        [canonical_name, *own_group, *normalized_names, *people, *groups]
    )
    others = tuple(name for name in member_names if name != canonical_name)
    if not others:
        raise SettingsProblem(
            f"{canonical_name} is only one name",
            hint='Give two or more names: `lrwr canon merge "Nell Tallow" Wren`.',
        )
    other_groups = {
        n: g
        for n, g in names.merged.items()
        if n == canonical_name or n not in member_names
    }
    return CanonNames(
        merged={**other_groups, canonical_name: others},
        split=names.split,
        renamed={old: new for old, new in names.renamed.items() if old not in others},
        ignored=_remove(names.ignored, member_names),
        confirmed=names.confirmed,
    )


def _split(names: CanonNames, split_name: str, other: str) -> CanonNames:
    renamed = {o: n for o, n in names.renamed.items() if {o, n} != {split_name, other}}
    bearers = {new: old for old, new in renamed.items()}
    split_name, other = bearers.get(split_name, split_name), bearers.get(other, other)
    merged = dict(names.merged)
    for canonical, group in names.merged.items():
        if {split_name, other} <= {canonical, *group}:
            leaves = split_name if other == canonical else other
            merged[canonical] = tuple(name for name in group if name != leaves)
    pair = (split_name, other) if split_name < other else (other, split_name)
    return CanonNames(
        merged={name: group for name, group in merged.items() if group},
        split=names.split if pair in names.split else (*names.split, pair),
        renamed=renamed,
        ignored=_remove(names.ignored, pair),
        confirmed=names.confirmed,
    )


def _rename(names: CanonNames, old: str, new: str) -> CanonNames:
    person = resolve_canon_person(names, old)
    if new in names.renamed.values() or belongs_to_other_person(names, person, new):
        if names.renamed.get(person) == new:
            return names
        raise SettingsProblem(
            f"{new} is already the name of another character",
            hint=f'To merge them, run `lrwr canon merge "{new}" "{old}"`.',
        )
    renamed = {**names.renamed, person: new}
    if person == new:
        del renamed[person]
    ignored = _remove(names.ignored, (old, person, new))
    return replace(names, renamed=renamed, ignored=ignored)


def _ignore(names: CanonNames, name: str) -> CanonNames:
    merged: dict[str, tuple[str, ...]] = {}
    for canonical, group in names.merged.items():
        remaining_names = [member for member in (canonical, *group) if member != name]
        if len(remaining_names) > 1:
            merged[remaining_names[0]] = tuple(remaining_names[1:])
    return CanonNames(
        merged=merged,
        split=tuple(pair for pair in names.split if name not in pair),
        renamed={o: n for o, n in names.renamed.items() if name not in (o, n)},
        ignored=names.ignored if name in names.ignored else (*names.ignored, name),
        confirmed=_remove(names.confirmed, (name,)),
    )


def _confirm(names: CanonNames, name: str) -> CanonNames:
    if name in names.confirmed:
        return names
    return replace(
        names,
        ignored=_remove(names.ignored, (name,)),
        confirmed=(*names.confirmed, name),
    )


def _drop_merged_pairs(names: CanonNames) -> CanonNames:
    """Remove split pairs that are one person now."""
    apart = (
        pair
        for pair in names.split
        if resolve_canon_person(names, pair[0]) != resolve_canon_person(names, pair[1])
    )
    return replace(names, split=tuple(apart))


def _two_different_names(name: str, other: str) -> tuple[str, str]:
    name, other = normalize_canon_name(name), normalize_canon_name(other)
    if name == other:
        raise SettingsProblem(
            f"{name} and {other} are the same name", hint="Give two different names."
        )
    return name, other


def _remove(names: tuple[str, ...], removed_names: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in removed_names)


ValueT = TypeVar("ValueT")


def apply_decision(canon: Canon, decision: Decision) -> Canon:
    """Return a copy of `canon` with `decision` added; earlier decisions that contradict
    it are removed.

    Raises:
        SettingsProblem: The decision is invalid, for example a name merged with itself.
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
            return _move_document(canon, decision)
        case GapAnswered() | GapDeclined():
            return _apply_gap_decision(canon, decision)
        case SlipIntended():
            return _mark_intended(canon, decision)
        case _:
            return _decide_name(canon, decision)


def _decide_name(canon: Canon, decision: NameDecision) -> Canon:
    """Apply `decision`; decisions about a name that it drops from the renamed ones apply
    to the present name of the same character.

    A dropped name occurs nowhere in the text, so nothing else would connect the two.
    """
    names = apply_name_decision(canon.names, decision)
    decided = replace(canon, names=names)
    used_names = {
        *names.renamed.values(),
        *names.merged,
        *chain(*names.merged.values()),
    }
    for person, dropped in canon.names.renamed.items():
        if dropped not in used_names:
            main_name = resolve_canon_person(names, person)
            present = names.renamed.get(main_name, main_name)
            decided = _rename_owner(decided, dropped, present)
    return decided


def _rename_owner(canon: Canon, old: str, new: str) -> Canon:
    """Return `canon` with its decisions about `old` as decisions about `new`.

    Where both have one, that about `old` takes precedence.
    """
    views = canon.points_of_view.items()
    renamed = replace(
        canon, points_of_view={p: new if who == old else who for p, who in views}
    )
    for question, answer in canon.answers.items():
        if question.about == old:
            answers = {q: a for q, a in renamed.answers.items() if q != question}
            renamed = _apply_gap_decision(
                replace(renamed, answers=answers),
                GapAnswered(new, question.attribute, answer),
            )
    for question in canon.unsaid:
        if question.about == old:
            unsaid = tuple(q for q in renamed.unsaid if q != question)
            renamed = _apply_gap_decision(
                replace(renamed, unsaid=unsaid), GapDeclined(new, question.attribute)
            )
    for marked, why in canon.intentional.items():
        if marked.about == old:
            rest = {c: w for c, w in renamed.intentional.items() if c != marked}
            renamed = _mark_intended(
                replace(renamed, intentional=rest),
                SlipIntended(new, marked.attribute, marked.one, marked.other, why),
            )
    return renamed


def list_decided_documents(canon: Canon) -> dict[DocumentId, tuple[str, ...]]:
    """Return the documents that decisions are about, each with the kinds of its
    decisions.

    The kinds are "type", "order" and "point of view", in this order, each once. The
    documents may be missing in the library.
    """
    labels_by_document: dict[DocumentId, list[str]] = {}
    for document in canon.types:
        labels_by_document.setdefault(document, []).append("type")
    for document in canon.order:
        labels_by_document.setdefault(document, []).append("order")
    for document in dict.fromkeys(place.document for place in canon.points_of_view):
        labels_by_document.setdefault(document, []).append("point of view")
    return {document: tuple(words) for document, words in labels_by_document.items()}


def _apply_gap_decision(canon: Canon, decision: GapDecision) -> Canon:
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


def _mark_intended(canon: Canon, decision: SlipIntended) -> Canon:
    """Mark a contradiction as intended; without a new reason, the earlier one remains."""
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


def _move_document(canon: Canon, move: DocumentMoved) -> Canon:
    """Move decisions to the new path; decisions that already exist there take
    precedence.
    """
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
    types = _rename_key(canon.types, old, new)
    return replace(canon, types=types, order=order, points_of_view=views)


def _rename_key(
    values_by_document: Mapping[DocumentId, ValueT], old: DocumentId, new: DocumentId
) -> dict[DocumentId, ValueT]:
    if new in values_by_document:
        return {key: value for key, value in values_by_document.items() if key != old}
    return {
        new if key == old else key: value for key, value in values_by_document.items()
    }
