"""Builds events, the timeline and quotations from facts, and compares facts."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from lrwr.core.bible.horizon import HorizonCast
from lrwr.core.bible.kin_directory import KinDirectory
from lrwr.core.bible.profiles import SourcedFact, VisibleFacts
from lrwr.core.bible.scenes import (
    SceneNarrators,
    find_scene_place,
    find_time_phrase,
)
from lrwr.core.bible.values import (
    AttributedQuote,
    Disclosure,
    NarrativeEvent,
    SceneSummary,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
)
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast, Gender
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import (
    NARRATOR_DETAIL,
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
    LifeEventKind,
    StoryGridTag,
)
from lrwr.core.ports.story_stores import DocumentQuotation


def collect_events(
    material: VisibleFacts,
    canon: Canon,
    relatives: Collection[frozenset[str]] = (),
) -> tuple[NarrativeEvent, ...]:
    """Return the events of `material`, the visible facts, in story order.

    "I" in narration is the narrator of the scene, whom `canon` may decide. Nobody is in
    love with one of their `relatives`, pairs of displayed names: the pronoun means
    somebody else.

    Facts with the same description and location give one event. Names that are not
    visible are left out. An event that rules found and in which nobody known takes part
    is left out, too, unless it is a death or the like.
    """
    events: dict[tuple[object, ...], NarrativeEvent] = {}
    narrators = SceneNarrators(material, canon)
    people = KinDirectory(material.cast)
    for sourced_fact in _drop_replaced_events(material):
        fact = sourced_fact.fact
        involved = _list_involved(sourced_fact, material.cast, narrators)
        if fact.keeper == RULES_KEEPER and fact.detail("kind") in _OF_COUPLES:
            involved = _drop_impossible_partners(fact, involved, relatives, people)
        if _is_about_nobody(fact, involved) or _is_chance(sourced_fact, material):
            continue
        if _is_repeated(sourced_fact, involved, events.values()):
            continue
        tag = fact.detail("story_grid_tag")
        place = (
            sourced_fact.evidence.document,
            sourced_fact.evidence.spans,
            fact.value,
        )
        event = NarrativeEvent(
            description=fact.value or sourced_fact.evidence.text,
            characters_involved=involved,
            emotional_weight=dict(_feelings(fact.all_details("feels"), material)),
            story_grid_tag="" if tag == StoryGridTag.NONE else tag,
            evidence=sourced_fact.evidence,
            kind=fact.detail("kind"),
            told=bool(fact.detail("told")),
            earlier=bool(fact.detail("earlier")),
        )
        events.setdefault(place, event)
    return tuple(events.values())


_K = LifeEventKind
_GRAVE = frozenset({_K.DIED, _K.ROBBED, _K.ARRESTED, _K.ELOPED})
"""Kinds of events that matter whoever takes part."""
_OF_COUPLES = frozenset({_K.LOVED, _K.PROPOSED, _K.ENGAGED, _K.MARRIED, _K.REFUSED})
"""Kinds of events between two people who are not closely related."""
_OF_LOVERS = frozenset({_K.LOVED, _K.PROPOSED, _K.REFUSED})
"""Kinds of events of which dialogue says nothing unless both who talk are known."""
_GRAVE_IF_NARRATED = frozenset({_K.MARRIED, _K.WOUNDED, _K.ACCIDENT, _K.TAKEN})
"""Kinds of which speech says too little if it names nobody."""


def _list_involved(
    sourced_fact: SourcedFact, cast: HorizonCast, narrators: SceneNarrators
) -> tuple[str, ...]:
    """Return the displayed names of those who take part in an event; first, the
    narrator of the scene, if they tell it of themselves.
    """
    fact, document = sourced_fact.fact, sourced_fact.evidence.document
    names = [cast.display_name(name) for name in fact.all_details("involved")]
    if NARRATOR_DETAIL in fact.details:
        names.insert(0, narrators.find(document, fact.spans[0]))
    return tuple(dict.fromkeys(filter(None, names)))


def _drop_impossible_partners(
    fact: Fact,
    involved: tuple[str, ...],
    relatives: Collection[frozenset[str]],
    people: KinDirectory,
) -> tuple[str, ...]:
    """Return who takes part in a courtship or a wedding: no relative of the first, and
    nobody if two who talk ("I love you", "I am engaged to Nell") are of one gender,
    since friends say so, too.
    """
    partners = tuple(
        name for name in involved if frozenset((involved[0], name)) not in relatives
    )
    if not fact.detail("party"):
        return partners
    genders = {people.gender(name) for name in partners}
    is_alone = len(partners) < 2 and fact.detail("kind") in _OF_LOVERS
    is_same = len(partners) > 1 and len(genders - {Gender.UNKNOWN}) == len(genders) == 1
    return () if is_alone or is_same else partners


def _is_about_nobody(fact: Fact, involved: Collection[str]) -> bool:
    """Return whether rules found an event of a life in which nobody known takes part,
    and which is not grave by itself.
    """
    kind = fact.detail("kind")
    if fact.keeper != RULES_KEEPER or involved or not kind or kind in _GRAVE:
        return False
    return bool(fact.detail("told")) or kind not in _GRAVE_IF_NARRATED


_CHANCE = re.compile(r"\b(?:met|encountered) (?:Mrs?\.?|Miss|Dr\.?|[A-Z])")
_FIRST = re.compile(r"\bfirst\b|\bintroduc|\bface to face\b")
_ONCE = frozenset({_K.DIED, _K.BORN, _K.MARRIED, _K.ENGAGED})
"""Kinds of events of which dialogue mostly speaks again."""


def _is_chance(sourced_fact: SourcedFact, material: VisibleFacts) -> bool:
    """Return whether rules found people to meet who are known from earlier chapters."""
    fact, document = sourced_fact.fact, sourced_fact.evidence.document
    if fact.keeper != RULES_KEEPER or fact.detail("kind") != _K.MET:
        return False
    if not _CHANCE.search(fact.value) or _FIRST.search(fact.value):
        return False
    cast, view = material.cast, material.view
    first = [
        visible.first
        for name in fact.all_details("involved")
        if (visible := cast.visible.get(cast.resolve_name(name) or ""))
    ]
    chapter = view.locate_scene(document, fact.spans[0])[0]
    return all(
        mention is not None
        and (
            mention.document != document
            or view.locate_scene(document, mention.span)[0] != chapter
        )
        for mention in first
    )


def _is_repeated(
    sourced_fact: SourcedFact,
    involved: Collection[str],
    events: Iterable[NarrativeEvent],
) -> bool:
    """Return whether dialogue tells of an event that happens once and that the document
    has told already.
    """
    fact, document = sourced_fact.fact, sourced_fact.evidence.document
    kind = fact.detail("kind")
    is_spoken = bool(fact.detail("told") or fact.detail("party"))
    return (
        fact.keeper == RULES_KEEPER
        and kind in _ONCE
        and is_spoken
        and bool(involved)
        and any(
            event.kind == kind
            and event.evidence.document == document
            and set(involved) <= {*event.characters_involved}
            for event in events
        )
    )


def _drop_replaced_events(material: VisibleFacts) -> list[SourcedFact]:
    """Return events without those that rules found in a scene that a language model
    read: one in which it found an event, or that it summarized.
    """

    def locate(sourced_fact: SourcedFact) -> tuple[DocumentId, int, int]:
        document, span = sourced_fact.evidence.document, sourced_fact.fact.spans[0]
        return document, *material.view.locate_scene(document, span)

    sourced_facts = material.about(FactAbout.EVENT)
    summaries = (f for f in material.about(FactAbout.SCENE) if f.fact.field == "recap")
    read_scenes = {
        locate(sourced_fact)
        for sourced_fact in (*sourced_facts, *summaries)
        if sourced_fact.fact.keeper not in (RULES_KEEPER, WRITER_KEEPER)
    }
    return [
        sourced_fact
        for sourced_fact in sourced_facts
        if sourced_fact.fact.keeper != RULES_KEEPER
        or locate(sourced_fact) not in read_scenes
    ]


def collect_disclosures(material: VisibleFacts) -> tuple[Disclosure, ...]:
    """Return what characters tell each other, in story order.

    A statement whose teller is not visible at the horizon is left out, and so is a
    hearer who is not visible.
    """
    disclosures = (
        Disclosure(
            material.cast.display_name(sourced_fact.fact.subject),
            _list_hearers(sourced_fact, material),
            sourced_fact.fact.value,
            sourced_fact.evidence,
        )
        for sourced_fact in material.about(FactAbout.TOLD)
    )
    return tuple(disclosure for disclosure in disclosures if disclosure.teller)


def _list_hearers(sourced_fact: SourcedFact, material: VisibleFacts) -> tuple[str, ...]:
    names = map(material.cast.display_name, sourced_fact.fact.all_details("hearer"))
    return tuple(dict.fromkeys(filter(None, names)))


def build_timeline(
    events: Sequence[NarrativeEvent],
    disclosures: Sequence[Disclosure],
    scenes: Sequence[SceneSummary],
    material: VisibleFacts,
) -> tuple[TimelineMoment, ...]:
    """Return the entries of the timeline, in story order: each of `scenes` that has key
    sentences, and after it the `events` and `disclosures` in it.

    `material` are the visible facts; they determine the story order.
    """
    moments = [
        TimelineMoment(
            TimelineMomentKind.EVENT,
            e.description,
            e.characters_involved,
            e.evidence,
            event_kind=e.kind,
            told=e.told,
            earlier=e.earlier,
        )
        for e in events
    ]
    moments += (
        TimelineMoment(TimelineMomentKind.TOLD, t.what, (t.teller, *t.hearers), t.evidence)
        for t in disclosures
    )  # fmt: skip
    placed = [(_key(m.evidence, material), 1, m) for m in moments]
    for scene in scenes:
        if scene.key_sentences:
            start = material.view.sort_key(scene.document, scene.span.start)
            placed.append((start, 0, _build_scene_moment(scene, material)))
    return tuple(moment for *_, moment in sorted(placed, key=lambda item: item[:2]))


def _build_scene_moment(scene: SceneSummary, material: VisibleFacts) -> TimelineMoment:
    first = scene.key_sentences[0]
    evidence = material.view.evidence(
        scene.document,
        [span for sentence in scene.key_sentences for span in sentence.spans],
        first.keeper,
        first.certainty,
    )
    text = material.view.texts[scene.document].text
    return TimelineMoment(
        TimelineMomentKind.SCENE,
        evidence.text,
        scene.present,
        evidence,
        when=find_time_phrase(text, scene.span),
        where=find_scene_place(text, scene.span),
    )


def collect_quotes(
    document_quotations: Iterable[DocumentQuotation], material: VisibleFacts
) -> tuple[AttributedQuote, ...]:
    """Return those of `document_quotations` that are visible, in story order.

    A speaker or addressee whose name is not visible is left empty.
    """
    horizon_view = material.view
    visible_quotations = [
        document_quotation
        for document_quotation in document_quotations
        if horizon_view.is_visible(
            document_quotation.document, document_quotation.quotation.spans
        )
    ]
    visible_quotations.sort(
        key=lambda document_quotation: horizon_view.sort_key(
            document_quotation.document, document_quotation.quotation.spans[0].start
        )
    )
    return tuple(
        _quote(document_quotation, material)
        for document_quotation in visible_quotations
    )


def _quote(
    document_quotation: DocumentQuotation, material: VisibleFacts
) -> AttributedQuote:
    quotation = document_quotation.quotation
    speaker, certainty = _shown_name(quotation.speaker, quotation.certainty, material)
    addressee, sureness = _shown_name(
        quotation.addressee, quotation.addressee_certainty, material
    )
    words = material.view.evidence(
        document_quotation.document,
        quotation.spans,
        RULES_KEEPER,
        certainty,
        speech=True,
    )
    return AttributedQuote(speaker, addressee, sureness, words)


def _shown_name(
    name: str, certainty: Certainty, material: VisibleFacts
) -> tuple[str, Certainty]:
    shown_name = material.cast.display_name(name) if name else ""
    return shown_name, certainty if shown_name else Certainty.NOT_EVALUATED


def _feelings(
    details: Iterable[str], material: VisibleFacts
) -> Iterator[tuple[str, str]]:
    for detail in details:
        character_name, _, feeling = detail.partition(":")
        shown_name = material.cast.display_name(character_name.strip())
        if shown_name and feeling.strip():
            yield shown_name, feeling.strip()


def _key(evidence: TextEvidence, material: VisibleFacts) -> tuple[int, str, int]:
    return material.view.sort_key(evidence.document, evidence.spans[0].start)


_KIND = "kind"
_ATTRIBUTE = "attribute"
_TARGET = "target"
_HEARER = "hearer"
FactTopic: TypeAlias = tuple[FactAbout, str, str]
"""Kind of subject, subject, and attribute of a fact."""
TopicValues: TypeAlias = Mapping[str, Set[DocumentId]]
"""Values stated on one topic, in order, each with its documents."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """A fact, event or gap that was added, changed or removed.

    `about` is the kind of subject; `subject` is its name, empty for an event. `what` is
    the attribute, empty for a gap that the author marked. `before` and `after` are the
    values; `before` is empty for an added fact, `after` for a removed one.
    """

    about: FactAbout
    subject: str
    what: str
    before: str = ""
    after: str = ""


def derive_fact_topic(fact: Fact, words: str) -> tuple[FactTopic, str]:
    """Return the topic of `fact`, as (kind of subject, subject, attribute), and its
    value.

    The value of a fact without one is `words`, the text of its evidence; that of a
    relationship is the other character's name with the valence.
    """
    attribute = fact.field.replace("_", " ")
    value = " ".join((fact.value or words).split())
    if fact.field == CharacterField.ATTRIBUTE:
        attribute = fact.detail(_ATTRIBUTE) or attribute
    elif fact.field == CharacterField.RELATIONSHIP:
        attribute = fact.detail(_KIND) or attribute
        value = " ".join(filter(None, (fact.detail(_TARGET), fact.value))) or value
    elif fact.about is FactAbout.GAP and fact.keeper in (RULES_KEEPER, WRITER_KEEPER):
        attribute = ""  # the marked text is the value
    elif fact.about is FactAbout.TOLD:
        attribute = f"told {fact.detail(_HEARER)}".strip()
    return (fact.about, fact.subject, attribute), value or attribute


def find_fact_changes(
    before: Mapping[FactTopic, TopicValues], after: Mapping[FactTopic, TopicValues]
) -> Iterator[FactChange]:
    """Yield the differences between two states, sorted by topic.

    Each maps topics to the values stated, and these to the documents that state them. A
    removed and an added value form one change if they are the only differences of the
    topic, or of the topic in one document. A value that moved to another document has
    not changed. Gaps are only added or removed, never changed.
    """
    for topic in sorted(before.keys() | after.keys()):
        old, new = before.get(topic, {}), after.get(topic, {})
        removed = [value for value in old if value not in new]
        added = [value for value in new if value not in old]
        pairs: list[tuple[str, str]] = []
        if topic[0] is not FactAbout.GAP and (removed or added):
            pairs = _pair_values(old, new, removed, added)
        yield from (
            FactChange(*topic, before=old_value, after=other)
            for old_value, other in pairs
        )
        paired_values = {value for pair in pairs for value in pair}
        yield from (
            FactChange(*topic, before=value)
            for value in removed
            if value not in paired_values
        )
        yield from (
            FactChange(*topic, after=value)
            for value in added
            if value not in paired_values
        )


def _pair_values(
    old: TopicValues, new: TopicValues, removed: Collection[str], added: Collection[str]
) -> list[tuple[str, str]]:
    if len(removed) == len(added) == 1:
        return list(zip(removed, added, strict=True))
    value_pairs: dict[tuple[str, str], None] = {}
    documents = {document for sayings in (old, new) for d in sayings.values() for document in d}  # fmt: skip
    for document in sorted(documents):
        removed_here = [
            value for value in old if _is_only_in(value, document, old, new)
        ]
        added_here = [value for value in new if _is_only_in(value, document, new, old)]
        if len(removed_here) == len(added_here) == 1 and (
            removed_here[0] in removed or added_here[0] in added
        ):
            value_pairs[removed_here[0], added_here[0]] = None
    return list(value_pairs)


def _is_only_in(
    value: str, document: DocumentId, own_values: TopicValues, topic_values: TopicValues
) -> bool:
    return document in own_values[value] and document not in topic_values.get(value, ())


def find_new_characters(cast: Cast, others: Cast) -> tuple[str, ...]:
    """Return the names of those characters of `cast` of whom no name or alias occurs in
    `others`, sorted.
    """
    known_names = {
        alias.name for character in others.characters for alias in character.aliases
    }
    known_names |= {character.name for character in others.characters} | set(
        others.shared
    )
    return tuple(
        sorted(
            character.name
            for character in cast.characters
            if not known_names
            & {character.name, *(alias.name for alias in character.aliases)}
        )
    )
