"""The names of the story bible, and the parts of the bible that one question needs.

Planning a question needs only names. Everything else is read by subject afterwards, so
that the cost of a question does not grow with the library.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lrwr.core.bible.gaps import build_gap_ledger
from lrwr.core.bible.horizon import (
    HorizonCast,
    HorizonView,
    VisibleCharacter,
)
from lrwr.core.bible.kin_terms import find_close_relatives
from lrwr.core.bible.profiles import (
    build_character_profiles,
    build_name_profile,
    build_visible_cast,
    collect_visible_facts,
    normalize_value,
)
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.scenes import build_scene_summaries, drop_predecessors
from lrwr.core.bible.timeline import (
    build_timeline,
    collect_disclosures,
    collect_events,
    collect_quotes,
)
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    TextEvidence,
    WorldElement,
)
from lrwr.core.bible.world import (
    collect_world_elements,
    list_outer_words,
    may_be_same_place,
    normalize_place_name,
)
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import (
    Certainty,
    Fact,
    FactAbout,
)
from lrwr.core.model.text import Span
from lrwr.core.ports.story_stores import DocumentFact


@dataclass(frozen=True, slots=True)
class IndexedCharacter:
    """A character as known at the horizon, without what the text says about them.

    `name` is the name in the whole cast; `also_called` are further names that facts
    give them, in the spelling of the claims.
    """

    name: str
    visible: VisibleCharacter
    also_called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedElement:
    """The name of a world element, and the displayed names of the characters connected
    with it.
    """

    name: str
    connected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """Where the text supports a relation, and who said so; see `TextEvidence`."""

    document: DocumentId
    spans: tuple[Span, ...]
    keeper: str
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A `CharacterRelation` of two displayed names, without the words that support it."""

    source: str
    target: str
    kind: str
    valence: str
    places: tuple[StoredPlace, ...]
    certainty: Certainty
    derived: bool = False

    @classmethod
    def of(cls, relation: CharacterRelation) -> "StoredRelation":
        """Return `relation` without the words."""
        return cls(
            relation.source,
            relation.target,
            relation.kind,
            relation.valence,
            tuple(
                StoredPlace(e.document, e.spans, e.keeper, e.certainty)
                for e in relation.evidence
            ),
            relation.certainty,
            relation.derived,
        )


@dataclass(frozen=True, slots=True)
class BibleIndex:
    """The names of the story bible at a horizon, and the relations between characters.

    Characters are sorted by mentions, elements and relations by story order, as in
    `Bible`. `readers` are the names of the language models that have analysed the text.
    `subjects` are those of facts about the world, by the first and last word of their
    names.
    """

    characters: tuple[IndexedCharacter, ...] = ()
    elements: tuple[IndexedElement, ...] = ()
    readers: tuple[str, ...] = ()
    relations: tuple[StoredRelation, ...] = ()
    subjects: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bounded: bool = False
    unread: bool = False

    def names(self) -> Bible:
        """Return a bible of names: characters without claims, relationships and first
        mentions, elements without descriptions, and nothing else.
        """
        profiles = tuple(self._profiles())
        return Bible(
            characters=profiles,
            world=tuple(
                WorldElement(
                    element.name,
                    (),
                    (),
                    _name_claims(element.connected),
                    Certainty.NOT_EVALUATED,
                )
                for element in self.elements
            ),
            readers=self.readers,
            bounded=self.bounded,
            unread=self.unread,
            visible_cast=build_visible_cast(profiles),
        )

    def visible(self) -> Mapping[str, VisibleCharacter]:
        """Return the visible characters by their names in the whole cast, most
        mentioned first.
        """
        return {character.name: character.visible for character in self.characters}

    def list_stored_names(self, names: Collection[str], cast: Cast) -> frozenset[str]:
        """Return `names`, which are displayed, with all names in the whole `cast` under
        which quotations and appearances of these characters may be stored.
        """
        shown = {
            character.name
            for character in self.characters
            if character.visible.character.name in names
        }
        aliases = (
            alias.name
            for character in cast.characters
            if character.name in shown
            for alias in character.aliases
        )
        return frozenset((*names, *shown, *aliases))

    def list_subjects(self, names: Collection[str]) -> frozenset[str]:
        """Return the subjects of the facts from which the elements `names` are built;
        see `may_be_same_place`.
        """
        words = {
            word
            for name in names
            for word in list_outer_words(normalize_place_name(name))
        }
        return frozenset[str]().union(*(self.subjects.get(word, ()) for word in words))

    def list_relations(self, parts: "BibleParts") -> tuple[StoredRelation, ...]:
        """Return the relations of the people of `parts`, without the words."""
        if not parts.relations:
            return ()
        return tuple(select_relations(self.relations, parts.people))

    def _profiles(self) -> Iterator[CharacterProfile]:
        for character in self.characters:
            yield build_name_profile(
                character.visible,
                _name_claims(character.also_called),
                bounded=self.bounded,
            )


@dataclass(frozen=True, slots=True)
class BibleParts:
    """The parts of the story bible that a question needs. Names and gaps are always
    included.

    `people` and `elements` are displayed names; profiles, relationships and world
    elements are complete for these. `speakers` are those whose quotations are needed.
    Scenes and quotations of `documents` are complete. With `timeline`, all events,
    disclosures and scenes are included; the characters present in scenes of other
    documents are then only those of `people`. Without `relations`, there are none, and
    profiles have no relationships.
    """

    people: frozenset[str] = frozenset()
    elements: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()
    documents: frozenset[DocumentId] = frozenset()
    timeline: bool = False
    relations: bool = True

    @property
    def kinds(self) -> frozenset[FactAbout]:
        """The kinds of facts from which these parts are built."""
        kinds = {FactAbout.CHARACTER, FactAbout.GAP}
        if self.elements:
            kinds.add(FactAbout.WORLD)
        if self.documents or self.timeline:
            kinds.add(FactAbout.SCENE)
        if self.timeline:
            kinds |= {FactAbout.EVENT, FactAbout.TOLD}
        return frozenset(kinds)


def project_bible_parts(
    knowledge: StoryKnowledge,
    index: BibleIndex,
    names: Bible,
    parts: BibleParts,
    horizon: Horizon | None = None,
) -> Bible:
    """Return the story bible up to `horizon` with only `parts` of it.

    Each part is equal to that of `project_bible` of all knowledge. `knowledge` needs
    only what `parts` consist of, and the texts of that. `index` is that of `horizon`,
    `names` its bible of names.
    """
    view, cast = _view_story(knowledge, index, horizon)
    material = collect_visible_facts(knowledge.facts, cast, view)
    material = drop_predecessors(material, knowledge.appearances)
    gaps = build_gap_ledger(material, knowledge.canon, knowledge.flagged_gaps)
    relations = tuple(quote_relations(index.list_relations(parts), view))
    relatives = find_close_relatives(
        (r.source, r.target, r.kind) for r in index.relations
    )
    events = collect_events(material, knowledge.canon, relatives)
    disclosures = collect_disclosures(material)
    scenes = build_scene_summaries(
        material,
        knowledge.appearances,
        knowledge.canon,
        documents=None if parts.timeline else parts.documents,
    )
    profiles = iter(build_character_profiles(material, relations, gaps, parts.people))
    elements = {element.name: element for element in collect_world_elements(material)}
    return Bible(
        characters=tuple(
            next(profiles) if profile.name in parts.people else profile
            for profile in names.characters
        ),
        world=tuple(elements.get(element.name, element) for element in names.world),
        events=events,
        relations=relations,
        told=disclosures,
        scenes=scenes,
        timeline=build_timeline(events, disclosures, scenes, material)
        if parts.timeline
        else (),
        quotes=collect_quotes(knowledge.quotations, material),
        gaps=gaps,
        readers=names.readers,
        bounded=names.bounded,
        unread=names.unread,
        visible_cast=names.visible_cast,
    )


def select_part_facts(
    knowledge: StoryKnowledge,
    index: BibleIndex,
    parts: BibleParts,
    horizon: Horizon | None = None,
) -> tuple[DocumentFact, ...]:
    """Return the facts of `knowledge` from which `parts` are built, in their order.

    `knowledge` must have all facts of `parts.kinds`, the user's decisions and the gaps
    found in answers; with a horizon, also all texts. `index` is that of `horizon`.
    """
    _, cast = _view_story(knowledge, index, horizon)
    undefined = _collect_gap_subjects(knowledge, cast)
    keys = {
        normalize_place_name(element.name)
        for element in index.elements
        if element.name in parts.elements
    }

    def is_needed(document_fact: DocumentFact) -> bool:
        fact = document_fact.fact
        match fact.about:
            case FactAbout.CHARACTER:
                subject = _normalize_subject(fact.subject, cast)
                return subject in undefined or bool(
                    parts.people.intersection(_display_names(fact, cast))
                )
            case FactAbout.WORLD:
                return may_be_same_place(normalize_place_name(fact.subject), keys)
            case FactAbout.SCENE:
                return parts.timeline or document_fact.document in parts.documents
            case _:
                return True

    return tuple(fact for fact in knowledge.facts if is_needed(fact))


def list_part_documents(
    knowledge: StoryKnowledge, index: BibleIndex, parts: BibleParts
) -> frozenset[DocumentId]:
    """Return the documents whose text `parts` quote.

    `knowledge` has only the facts and quotations of `parts`.
    """
    first_mentions = (
        character.visible.first
        for character in index.characters
        if character.visible.character.name in parts.people
    )
    return frozenset(
        (
            *parts.documents,
            *(knowledge.order.story if parts.timeline else ()),
            *(document_fact.document for document_fact in knowledge.facts),
            *(quotation.document for quotation in knowledge.quotations),
            *(
                place.document
                for relation in index.list_relations(parts)
                for place in relation.places
            ),
            *(first.document for first in first_mentions if first is not None),
        )
    )


def _view_story(
    knowledge: StoryKnowledge, index: BibleIndex, horizon: Horizon | None
) -> tuple[HorizonView, HorizonCast]:
    view = HorizonView(knowledge.order, knowledge.texts, horizon)
    names, visible = knowledge.canon.names, index.visible()
    return view, HorizonCast(knowledge.cast, (), view, names, visible=visible)


def _name_claims(names: Iterable[str]) -> tuple[BibleClaim, ...]:
    return tuple(BibleClaim(name, (), Certainty.NOT_EVALUATED) for name in names)


def _collect_gap_subjects(
    knowledge: StoryKnowledge, cast: HorizonCast
) -> frozenset[str]:
    """Return the normalized names of those with an undefined attribute: facts about
    them may define it after all.
    """
    canon = knowledge.canon
    subjects = {
        *(f.fact.subject for f in knowledge.facts if f.fact.about is FactAbout.GAP),
        *(flag.about for flag in knowledge.flagged_gaps),
        *(attribute.about for attribute in (*canon.answers, *canon.unsaid)),
    }
    return frozenset(_normalize_subject(subject, cast) for subject in subjects)


def _normalize_subject(name: str, cast: HorizonCast) -> str:
    return normalize_value(cast.resolve_name(name) or name) if name else ""


def _display_names(fact: Fact, cast: HorizonCast) -> tuple[str, str]:
    target = fact.detail("target")
    return cast.display_name(fact.subject), cast.display_name(target) if target else ""


def select_relations(
    relations: Iterable[StoredRelation], people: Collection[str]
) -> Iterator[StoredRelation]:
    """Yield the relations with any of `people`, which are displayed names, in order."""
    for relation in relations:
        if relation.source in people or relation.target in people:
            yield relation


def quote_relations(
    relations: Iterable[StoredRelation], view: HorizonView
) -> Iterator[CharacterRelation]:
    """Yield `relations` with the words that support them.

    `view` needs the texts of their places. A place whose text cannot be read is left
    out, and so is a relation without any.
    """
    for relation in relations:
        if evidence := tuple(_quote_places(relation.places, view)):
            yield CharacterRelation(
                relation.source,
                relation.target,
                relation.kind,
                relation.valence,
                evidence,
                relation.certainty,
                relation.derived,
            )


def _quote_places(
    places: Iterable[StoredPlace], view: HorizonView
) -> Iterator[TextEvidence]:
    for place in places:
        if view.is_visible(place.document, place.spans):
            yield view.evidence(
                place.document, place.spans, place.keeper, place.certainty
            )
