"""What is known otherwise of a story: two states of it, compared. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lrwr.core.bible.characters import HorizonCast, normalize_character_name
from lrwr.core.bible.claims import (
    SourcedFact,
    collect_visible_facts,
    normalize_attribute,
    normalize_value,
)
from lrwr.core.bible.events import (
    FactChange,
    FactTopic,
    derive_fact_topic,
    find_fact_changes,
    find_new_characters,
)
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.impact import AffectedScene, LaterSceneFinder
from lrwr.core.bible.phrases import list_model_claims
from lrwr.core.bible.service import StoryKnowledge, project_bible
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
)
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import FactAbout, WorldField

DocumentRenames = Mapping[DocumentId, DocumentId]
"""New names of documents, each with the old one."""


class StoryChangeKind(StrEnum):
    """What a change is a change of."""

    NAME = "name"
    FACT = "fact"
    MOMENT = "moment"
    """A line of the timeline."""
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class StoryState:
    """One state of a story: all that is known of it, and the bible drawn from that.

    `loose` are facts about people of whom the bible has no profile.
    """

    known: StoryKnowledge
    bible: Bible
    loose: tuple[SourcedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryChange:
    """One thing that is known otherwise, and the words that say so, old and new.

    `was` are places in the old state, `now` in the new one; of a value that other
    places still say, only those that do not. `later` are the scenes of the new state
    that touch a fact that is changed or lost, in story order.
    """

    kind: StoryChangeKind
    shift: FactChange
    was: tuple[TextEvidence, ...] = ()
    now: tuple[TextEvidence, ...] = ()
    later: tuple[AffectedScene, ...] = ()


@dataclass(slots=True)
class _TopicStatements:
    """What one state says on its topics; `words` is wording and places of a saying."""

    sayings: dict[FactTopic, dict[str, set[DocumentId]]] = field(default_factory=dict)
    words: dict[tuple[FactTopic, str], tuple[str, tuple[TextEvidence, ...]]] = field(
        default_factory=dict
    )
    labels: dict[FactTopic, tuple[str, str]] = field(default_factory=dict)


_Row = tuple[FactAbout, str, str, str, tuple[TextEvidence, ...]]
"""What a claim is about, whom, which quality, its value, and its words."""


def build_story_state(known: StoryKnowledge) -> StoryState:
    """Return the state of a story of which that is known."""
    sight = HorizonView(known.order, known.texts, None)
    roll = HorizonCast(known.cast, known.first_seen, sight, known.canon.names)
    loose = (
        fact
        for fact in known.facts
        if fact.fact.about is FactAbout.CHARACTER and not roll.person(fact.fact.subject)
    )
    return StoryState(
        known, project_bible(known), collect_visible_facts(loose, roll, sight).found
    )


def diff_story_states(
    before: StoryState, after: StoryState, renamed: DocumentRenames
) -> tuple[StoryChange, ...]:
    """Return what differs: names, facts, moments, gaps, each in a fixed order."""
    people = align_casts(before.known.cast, after.known.cast)
    names = {was: document for document, was in renamed.items()}
    return (
        *_names(before, after),
        *_facts(before, after, people, names),
        *_moments(before, after),
        *_gaps(before, after, people),
    )


def align_casts(
    before: Cast, after: Cast
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return for either cast what to call each of its people in both.

    One who is called otherwise now is the same where a form of the name is left that
    nobody else had or has. The longer name is told.
    """
    old, new = _forms(before), _forms(after)
    left = {name: forms for name, forms in old.items() if name not in new}
    right = {name: forms for name, forms in new.items() if name not in old}
    pairs = {
        (one, other)
        for one, forms in left.items()
        for other, others in right.items()
        if _own(forms, old) & _own(others, new)
    }
    alone = [
        pair
        for pair in pairs
        if sum(one == pair[0] for one, _ in pairs) == 1
        and sum(other == pair[1] for _, other in pairs) == 1
    ]
    told = {pair: max(pair, key=lambda name: (len(name), name)) for pair in alone}
    mine = {name: name for name in old} | {pair[0]: told[pair] for pair in alone}
    theirs = {name: name for name in new} | {pair[1]: told[pair] for pair in alone}
    return mine, theirs


def _forms(cast: Cast) -> dict[str, frozenset[str]]:
    return {
        character.name: frozenset(
            (character.name, *(alias.name for alias in character.aliases))
        )
        for character in cast.characters
    }


def _own(forms: frozenset[str], everyone: Mapping[str, frozenset[str]]) -> set[str]:
    return {
        form
        for form in forms
        if sum(form in others for others in everyone.values()) == 1
    }


def _names(before: StoryState, after: StoryState) -> Iterator[StoryChange]:
    first = {character.name: _first(character) for character in after.bible.characters}
    for name in find_new_characters(after.known.cast, before.known.cast):
        if name in first:
            shift = FactChange(FactAbout.CHARACTER, "", "", after=name)
            yield StoryChange(StoryChangeKind.NAME, shift, now=first[name])
    last = {character.name: _first(character) for character in before.bible.characters}
    for name in find_new_characters(before.known.cast, after.known.cast):
        if name in last:
            shift = FactChange(FactAbout.CHARACTER, "", "", before=name)
            yield StoryChange(StoryChangeKind.NAME, shift, was=last[name])


def _first(character_profile: CharacterProfile) -> tuple[TextEvidence, ...]:
    return (character_profile.first_seen,) if character_profile.first_seen else ()


def _facts(
    before: StoryState,
    after: StoryState,
    people: tuple[Mapping[str, str], Mapping[str, str]],
    names: Mapping[DocumentId, DocumentId],
) -> Iterator[StoryChange]:
    old = _said(before, people[0], names)
    new = _said(after, people[1], {})
    later = LaterSceneFinder(before.known, after.known, after.bible.scenes, names)
    called = {label: name for name, label in people[1].items()}
    for shift in find_fact_changes(old.sayings, new.sayings):
        topic = (shift.about, shift.subject, shift.what)
        was = _places(old, new, topic, shift.before, names)
        now = _places(new, old, topic, shift.after, {})
        subject, what = max(old.labels.get(topic, ("", "")), new.labels.get(topic, ("", "")))  # fmt: skip
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
                what=what,
                before=old.words[topic, shift.before][0] if shift.before else "",
                after=new.words[topic, shift.after][0] if shift.after else "",
            ),
            was,
            now,
            touched,
        )


def _said(
    story: StoryState, people: Mapping[str, str], names: Mapping[DocumentId, DocumentId]
) -> _TopicStatements:
    topic_statements = _TopicStatements()
    for about, subject, what, value, evidence in _rows(story, people):
        topic = (about, normalize_character_name(subject), normalize_attribute(what))
        key = normalize_value(value)
        if not key:
            continue
        where = topic_statements.sayings.setdefault(topic, {}).setdefault(key, set())
        where.update(names.get(one.document, one.document) for one in evidence)
        wording, places = topic_statements.words.get((topic, key), (value, ()))
        topic_statements.words[topic, key] = wording, (*places, *evidence)
        labels = topic_statements.labels.get(topic, (subject, what))
        topic_statements.labels[topic] = max(labels, (subject, what))
    return topic_statements


def _rows(story: StoryState, people: Mapping[str, str]) -> Iterator[_Row]:
    """Yield what rests on words; the writer's decisions have not changed."""
    for character in story.bible.characters:
        name = people.get(character.name, character.name)
        yield from _claimed(FactAbout.CHARACTER, name, "", character.attributes)
        for what, claims in list_model_claims(character):
            yield from _claimed(FactAbout.CHARACTER, name, what, claims)
        yield from (_related(tie, name, people) for tie in character.relationships)
    for thing in story.bible.world:
        for part, claims in (
            (WorldField.ELEMENT_TYPE, thing.element_types),
            (WorldField.DESCRIPTION, thing.descriptions),
            (WorldField.CONNECTED, thing.connected_characters),
        ):
            what = part.value.replace("_", " ")
            yield from _claimed(FactAbout.WORLD, thing.name, what, claims)
    for found in story.loose:
        (about, subject, what), value = derive_fact_topic(
            found.fact, found.evidence.text
        )
        yield about, subject, what, value, (found.evidence,)


def _claimed(
    about: FactAbout, subject: str, what: str, claims: Iterable[BibleClaim]
) -> Iterator[_Row]:
    for claim in claims:
        if claim.evidence:
            yield about, subject, claim.label or what, claim.value, claim.evidence


def _related(tie: CharacterRelation, name: str, people: Mapping[str, str]) -> _Row:
    target = people.get(tie.target, tie.target)
    judged = f"{target} ({tie.valence})" if tie.valence else target
    return FactAbout.CHARACTER, name, tie.kind or "related", judged, tie.evidence


def _places(
    here: _TopicStatements,
    topic_statements: _TopicStatements,
    topic: FactTopic,
    said: str,
    names: Mapping[DocumentId, DocumentId],
) -> tuple[TextEvidence, ...]:
    """Return where it is said here and not there; all of it where none is told apart."""
    if not said:
        return ()
    places = here.words[topic, said][1]
    others = topic_statements.sayings.get(topic, {}).get(said, set())
    only = (e for e in places if names.get(e.document, e.document) not in others)
    return tuple(only) or places


def _moments(before: StoryState, after: StoryState) -> Iterator[StoryChange]:
    """Yield lines of the timeline that come and go.

    A key sentence whose words stand in both texts has not: which of them stands for a
    scene is a matter of its other sentences.
    """
    old, new = _timeline(before.bible.timeline), _timeline(after.bible.timeline)
    for key, one in new.items():
        if key not in old and not _stands(one, before):
            shift = FactChange(FactAbout.EVENT, "", one.kind, after=key[1])
            yield StoryChange(StoryChangeKind.MOMENT, shift, now=(one.evidence,))
    for key, one in old.items():
        if key not in new and not _stands(one, after):
            shift = FactChange(FactAbout.EVENT, "", one.kind, before=key[1])
            yield StoryChange(StoryChangeKind.MOMENT, shift, was=(one.evidence,))


def _timeline(
    moments: Sequence[TimelineMoment],
) -> dict[tuple[TimelineMomentKind, str], TimelineMoment]:
    found: dict[tuple[TimelineMomentKind, str], TimelineMoment] = {}
    for moment in moments:
        found.setdefault((moment.kind, " ".join(moment.text.split())), moment)
    return found


def _stands(timeline_moment: TimelineMoment, story: StoryState) -> bool:
    if timeline_moment.kind is not TimelineMomentKind.SENTENCE:
        return False
    return any(timeline_moment.text in text.text for text in story.known.texts.values())


def _gaps(
    before: StoryState,
    after: StoryState,
    people: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[StoryChange]:
    old, new = _ledger(before.bible.gaps, people[0]), _ledger(after.bible.gaps, people[1])  # fmt: skip
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        opened, open_before = _open(now), _open(was)
        if opened is open_before:
            continue
        gap = now if opened else was
        assert gap is not None
        said = {"after" if opened else "before": gap.attribute}
        yield StoryChange(
            StoryChangeKind.GAP,
            FactChange(FactAbout.GAP, key[0] and gap.about, "", **said),
            was=_evidence(was),
            now=_evidence(now),
        )


def _ledger(
    gaps: Sequence[Gap], people: Mapping[str, str]
) -> dict[tuple[str, str], Gap]:
    return {
        (people.get(gap.about, gap.about), normalize_attribute(gap.attribute)): gap
        for gap in gaps
    }


def _open(gap: Gap | None) -> bool:
    return gap is not None and gap.state is GapState.OPEN


def _evidence(gap: Gap | None) -> tuple[TextEvidence, ...]:
    """Return where it is left open, or where it is defined."""
    claims = () if gap is None else gap.defined or gap.implied
    return tuple(place for claim in claims for place in claim.evidence)
