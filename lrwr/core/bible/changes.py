"""Compares two states of the story bible and reports what changed. Pure functions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lrwr.core.bible.horizon import (
    HorizonCast,
    HorizonView,
    compile_forms_pattern,
    normalize_character_name,
)
from lrwr.core.bible.later_scenes import AffectedScene, LaterSceneFinder
from lrwr.core.bible.profiles import (
    SourcedFact,
    collect_visible_facts,
    normalize_attribute,
    normalize_value,
)
from lrwr.core.bible.projection import StoryKnowledge, project_bible
from lrwr.core.bible.timeline import (
    FactChange,
    FactTopic,
    derive_fact_topic,
    find_fact_changes,
    find_new_characters,
)
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Gap,
    GapState,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    list_model_claims,
)
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import FactAbout, WorldField

DocumentRenames = Mapping[DocumentId, DocumentId]
"""New document ids, each with the old one."""


class StoryChangeKind(StrEnum):
    """What changed: a character's name, a fact, an entry of the timeline, or a gap."""

    NAME = "name"
    FACT = "fact"
    MOMENT = "moment"
    """An entry of the timeline."""
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class StoryState:
    """The stored story data at one time (`known`), and the bible built from it, without
    a horizon.

    `loose` are facts about people who have no profile in the bible.
    """

    known: StoryKnowledge
    bible: Bible
    loose: tuple[SourcedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryChange:
    """One change between two states of the story, with its evidence.

    `shift` has the subject, the attribute, and the old and new value. `was` is the
    evidence in the old state, `now` that in the new one, without evidence that both
    share. `later` are the scenes of the new state that a changed or removed fact may
    affect, in story order; empty for other changes.
    """

    kind: StoryChangeKind
    shift: FactChange
    was: tuple[TextEvidence, ...] = ()
    now: tuple[TextEvidence, ...] = ()
    later: tuple[AffectedScene, ...] = ()


@dataclass(slots=True)
class _TopicStatements:
    """The values of one state by topic.

    `words` maps topic and normalized value to the original wording and its evidence.
    """

    sayings: dict[FactTopic, dict[str, set[DocumentId]]] = field(default_factory=dict)
    words: dict[tuple[FactTopic, str], tuple[str, tuple[TextEvidence, ...]]] = field(
        default_factory=dict
    )
    labels: dict[FactTopic, tuple[str, str]] = field(default_factory=dict)


_UnchangedDocuments = tuple[frozenset[DocumentId], frozenset[DocumentId]]
"""Documents whose text is the same in both states: their old ids, and their new ids."""

_Row = tuple[FactAbout, str, str, str, tuple[TextEvidence, ...]]
"""Kind of subject, subject, attribute, value, and evidence of a claim."""


def build_story_state(knowledge: StoryKnowledge) -> StoryState:
    """Build the story bible from `knowledge`, and return both for a comparison."""
    horizon_view = HorizonView(knowledge.order, knowledge.texts, None)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    loose = (
        fact
        for fact in knowledge.facts
        if fact.fact.about is FactAbout.CHARACTER
        and not horizon_cast.resolve_name(fact.fact.subject)
    )
    return StoryState(
        knowledge,
        project_bible(knowledge),
        collect_visible_facts(loose, horizon_cast, horizon_view).found,
    )


def diff_story_states(
    before: StoryState, after: StoryState, renamed: DocumentRenames
) -> tuple[StoryChange, ...]:
    """Return what changed from `before` to `after`.

    Names of characters come first, then facts, the timeline and gaps. Names and facts
    that only unchanged documents have are left out: they are not in the text that
    changed, lrwr only judges the same words differently. `renamed` maps new document
    ids to old ones. Equal arguments give the same order.
    """
    people = align_casts(before.known.cast, after.known.cast)
    names = {old_document: document for document, old_document in renamed.items()}
    same = (
        _list_unchanged_documents(before.known, after.known, names),
        _list_unchanged_documents(after.known, before.known, renamed),
    )
    fact_changes = _fact_changes(before, after, people, names)
    return (
        *_name_changes(before, after, same),
        *(change for change in fact_changes if not _is_in_same_text(change, same)),
        *_timeline_changes(before, after),
        *_gap_changes(before, after, people),
    )


def align_casts(
    before: Cast, after: Cast
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return two mappings, from the names in `before` and from those in `after`, to
    names that are equal for the same character.

    Each mapping has all names of its cast as keys. A renamed character is recognized by
    an alias that only this character has, before and after; both names then map to the
    longer one. Any other name maps to itself.
    """
    old, new = _forms(before), _forms(after)
    unmatched_old = {name: forms for name, forms in old.items() if name not in new}
    unmatched_new = {name: forms for name, forms in new.items() if name not in old}
    pairs = {
        (old_name, new_name)
        for old_name, forms in unmatched_old.items()
        for new_name, others in unmatched_new.items()
        if _unique_forms(forms, old) & _unique_forms(others, new)
    }
    unique_pairs = [
        pair
        for pair in pairs
        if sum(old_name == pair[0] for old_name, _ in pairs) == 1
        and sum(other == pair[1] for _, other in pairs) == 1
    ]
    shared_names = {
        pair: max(pair, key=lambda name: (len(name), name)) for pair in unique_pairs
    }
    names_before = {name: name for name in old} | {
        pair[0]: shared_names[pair] for pair in unique_pairs
    }
    names_after = {name: name for name in new} | {
        pair[1]: shared_names[pair] for pair in unique_pairs
    }
    return names_before, names_after


def _forms(cast: Cast) -> dict[str, frozenset[str]]:
    return {
        character.name: frozenset(
            (character.name, *(alias.name for alias in character.aliases))
        )
        for character in cast.characters
    }


def _unique_forms(
    forms: frozenset[str], everyone: Mapping[str, frozenset[str]]
) -> set[str]:
    return {
        form
        for form in forms
        if sum(form in others for others in everyone.values()) == 1
    }


def _list_unchanged_documents(
    own: StoryKnowledge, other: StoryKnowledge, counterparts: DocumentRenames
) -> frozenset[DocumentId]:
    """Return the documents of `own` that `other` has with the same text.

    `counterparts` maps the ids of renamed documents in `own` to those in `other`.
    """
    others = {document: text.text for document, text in other.texts.items()}
    return frozenset(
        document
        for document, text in own.texts.items()
        if others.get(counterparts.get(document, document)) == text.text
    )


def _is_in_same_text(change: StoryChange, same: _UnchangedDocuments) -> bool:
    """Return whether a gained or lost fact is only in documents that did not change."""
    if change.shift.before and change.shift.after:
        return False
    places, documents = (change.now, same[1]) if change.now else (change.was, same[0])
    return bool(places) and all(place.document in documents for place in places)


def _is_named_in_same_text(
    name: str, knowledge: StoryKnowledge, same: Collection[DocumentId]
) -> bool:
    """Return whether no document but those of `same` names the character `name`.

    False without any text.
    """
    forms = {
        alias.name
        for character in knowledge.cast.characters
        if character.name == name
        for alias in character.aliases
    }
    pattern = compile_forms_pattern({name, *forms})
    named = {
        document
        for document, text in knowledge.texts.items()
        if pattern is not None and pattern.search(text.text)
    }
    return bool(knowledge.texts) and named <= {*same}


def _name_changes(
    before: StoryState, after: StoryState, same: _UnchangedDocuments
) -> Iterator[StoryChange]:
    first = {
        character.name: _first_evidence(character)
        for character in after.bible.characters
    }
    for name in find_new_characters(after.known.cast, before.known.cast):
        if name in first and not _is_named_in_same_text(name, after.known, same[1]):
            shift = FactChange(FactAbout.CHARACTER, "", "", after=name)
            yield StoryChange(StoryChangeKind.NAME, shift, now=first[name])
    last = {
        character.name: _first_evidence(character)
        for character in before.bible.characters
    }
    for name in find_new_characters(before.known.cast, after.known.cast):
        if name in last and not _is_named_in_same_text(name, before.known, same[0]):
            shift = FactChange(FactAbout.CHARACTER, "", "", before=name)
            yield StoryChange(StoryChangeKind.NAME, shift, was=last[name])


def _first_evidence(character_profile: CharacterProfile) -> tuple[TextEvidence, ...]:
    return (character_profile.first_seen,) if character_profile.first_seen else ()


def _fact_changes(
    before: StoryState,
    after: StoryState,
    people: tuple[Mapping[str, str], Mapping[str, str]],
    names: Mapping[DocumentId, DocumentId],
) -> Iterator[StoryChange]:
    old = _collect_statements(before, people[0], names)
    new = _collect_statements(after, people[1], {})
    later = LaterSceneFinder(before.known, after.known, after.bible.scenes, names)
    called = {label: name for name, label in people[1].items()}
    for shift in find_fact_changes(old.sayings, new.sayings):
        topic = (shift.about, shift.subject, shift.what)
        was = _places(old, new, topic, shift.before, names)
        now = _places(new, old, topic, shift.after, {})
        subject, attribute = max(old.labels.get(topic, ("", "")), new.labels.get(topic, ("", "")))  # fmt: skip
        touched: tuple[AffectedScene, ...] = ()
        if shift.before:
            still = new.words.get((topic, shift.before), ("", ()))[1]
            person = called.get(subject) if shift.about is FactAbout.CHARACTER else None
            touched = later.touched(subject, person, was, now, still)
        yield StoryChange(
            StoryChangeKind.FACT,
            replace(
                shift,
                subject=subject,
                what=attribute,
                before=old.words[topic, shift.before][0] if shift.before else "",
                after=new.words[topic, shift.after][0] if shift.after else "",
            ),
            was,
            now,
            touched,
        )


def _collect_statements(
    story: StoryState, people: Mapping[str, str], names: Mapping[DocumentId, DocumentId]
) -> _TopicStatements:
    topic_statements = _TopicStatements()
    for about, subject, attribute, value, evidence in _rows(story, people):
        topic = (
            about,
            normalize_character_name(subject),
            normalize_attribute(attribute),
        )
        key = normalize_value(value)
        if not key:
            continue
        where = topic_statements.sayings.setdefault(topic, {}).setdefault(key, set())
        where.update(
            names.get(text_evidence.document, text_evidence.document)
            for text_evidence in evidence
        )
        wording, places = topic_statements.words.get((topic, key), (value, ()))
        topic_statements.words[topic, key] = wording, (*places, *evidence)
        labels = topic_statements.labels.get(topic, (subject, attribute))
        topic_statements.labels[topic] = max(labels, (subject, attribute))
    return topic_statements


def _rows(story: StoryState, people: Mapping[str, str]) -> Iterator[_Row]:
    """Yield the claims with evidence; canon decisions are not compared."""
    for character in story.bible.characters:
        name = people.get(character.name, character.name)
        yield from _claim_rows(FactAbout.CHARACTER, name, "", character.attributes)
        for attribute, claims in list_model_claims(character):
            yield from _claim_rows(FactAbout.CHARACTER, name, attribute, claims)
        yield from (_relation_row(tie, name, people) for tie in character.relationships)
    for element in story.bible.world:
        for part, claims in (
            (WorldField.ELEMENT_TYPE, element.element_types),
            (WorldField.DESCRIPTION, element.descriptions),
            (WorldField.CONNECTED, element.connected_characters),
        ):
            attribute = part.value.replace("_", " ")
            yield from _claim_rows(FactAbout.WORLD, element.name, attribute, claims)
    for sourced_fact in story.loose:
        (about, subject, attribute), value = derive_fact_topic(
            sourced_fact.fact, sourced_fact.evidence.text
        )
        yield about, subject, attribute, value, (sourced_fact.evidence,)


def _claim_rows(
    about: FactAbout, subject: str, attribute: str, claims: Iterable[BibleClaim]
) -> Iterator[_Row]:
    for claim in claims:
        if claim.evidence:
            yield about, subject, claim.label or attribute, claim.value, claim.evidence


def _relation_row(tie: CharacterRelation, name: str, people: Mapping[str, str]) -> _Row:
    target = people.get(tie.target, tie.target)
    target_text = f"{target} ({tie.valence})" if tie.valence else target
    return FactAbout.CHARACTER, name, tie.kind or "related", target_text, tie.evidence


def _places(
    own_statements: _TopicStatements,
    topic_statements: _TopicStatements,
    topic: FactTopic,
    value_key: str,
    names: Mapping[DocumentId, DocumentId],
) -> tuple[TextEvidence, ...]:
    """Return the evidence only in `own_statements`; all of it if none differs."""
    if not value_key:
        return ()
    places = own_statements.words[topic, value_key][1]
    others = topic_statements.sayings.get(topic, {}).get(value_key, set())
    only = (e for e in places if names.get(e.document, e.document) not in others)
    return tuple(only) or places


def _timeline_changes(before: StoryState, after: StoryState) -> Iterator[StoryChange]:
    """Yield timeline entries that were added or removed.

    A key sentence that is in both texts does not count: it may be replaced as a key
    sentence only because other sentences of the scene changed.
    """
    old, new = _timeline(before.bible.timeline), _timeline(after.bible.timeline)
    for key, moment in new.items():
        if key not in old and not _is_in_text(moment, before):
            shift = FactChange(FactAbout.EVENT, "", moment.kind, after=key[1])
            yield StoryChange(StoryChangeKind.MOMENT, shift, now=(moment.evidence,))
    for key, moment in old.items():
        if key not in new and not _is_in_text(moment, after):
            shift = FactChange(FactAbout.EVENT, "", moment.kind, before=key[1])
            yield StoryChange(StoryChangeKind.MOMENT, shift, was=(moment.evidence,))


def _timeline(
    moments: Sequence[TimelineMoment],
) -> dict[tuple[TimelineMomentKind, str], TimelineMoment]:
    moments_by_key: dict[tuple[TimelineMomentKind, str], TimelineMoment] = {}
    for moment in moments:
        moments_by_key.setdefault((moment.kind, " ".join(moment.text.split())), moment)
    return moments_by_key


def _is_in_text(timeline_moment: TimelineMoment, story: StoryState) -> bool:
    if timeline_moment.kind is not TimelineMomentKind.SCENE:
        return False
    return any(timeline_moment.text in text.text for text in story.known.texts.values())


def _gap_changes(
    before: StoryState,
    after: StoryState,
    people: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[StoryChange]:
    old, new = _gaps_by_key(before.bible.gaps, people[0]), _gaps_by_key(after.bible.gaps, people[1])  # fmt: skip
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        opened, open_before = _is_open(now), _is_open(was)
        if opened is open_before:
            continue
        gap = now if opened else was
        assert gap is not None
        attribute_change = {"after" if opened else "before": gap.attribute}
        yield StoryChange(
            StoryChangeKind.GAP,
            FactChange(FactAbout.GAP, key[0] and gap.about, "", **attribute_change),
            was=_evidence(was),
            now=_evidence(now),
        )


def _gaps_by_key(
    gaps: Sequence[Gap], people: Mapping[str, str]
) -> dict[tuple[str, str], Gap]:
    return {
        (people.get(gap.about, gap.about), normalize_attribute(gap.attribute)): gap
        for gap in gaps
    }


def _is_open(gap: Gap | None) -> bool:
    return gap is not None and gap.state is GapState.OPEN


def _evidence(gap: Gap | None) -> tuple[TextEvidence, ...]:
    """Return the evidence of a gap, or of its definition."""
    claims = () if gap is None else gap.defined or gap.implied
    return tuple(place for claim in claims for place in claim.evidence)
