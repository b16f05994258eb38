"""Builds the story bible from stored story data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lrwr.core.bible.gaps import build_gap_ledger
from lrwr.core.bible.horizon import HorizonCast, HorizonView
from lrwr.core.bible.kin_terms import find_close_relatives
from lrwr.core.bible.profiles import build_character_profiles, collect_visible_facts
from lrwr.core.bible.relations import collect_relations
from lrwr.core.bible.scenes import build_scene_summaries, drop_predecessors
from lrwr.core.bible.timeline import (
    build_timeline,
    collect_disclosures,
    collect_events,
    collect_quotes,
)
from lrwr.core.bible.values import Bible
from lrwr.core.bible.world import collect_world_elements
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import list_reader_models
from lrwr.core.model.turns import GapFlag
from lrwr.core.ports.stores import DocumentText
from lrwr.core.ports.story_stores import (
    Appearance,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
)
from lrwr.core.retrieval.story import StoryOrder


@dataclass(frozen=True, slots=True)
class StoryKnowledge:
    """All stored data from which the story bible is built, without a horizon.

    `first_seen` are the first mentions of all aliases in each document. `canon` are the
    user's decisions. `flagged_gaps` are gaps found while answering questions, the only part
    that may be limited to a horizon.
    """

    order: StoryOrder
    texts: Mapping[DocumentId, DocumentText]
    cast: Cast = field(default_factory=Cast)
    first_seen: tuple[FirstMention, ...] = ()
    facts: tuple[DocumentFact, ...] = ()
    quotations: tuple[DocumentQuotation, ...] = ()
    appearances: tuple[Appearance, ...] = ()
    canon: Canon = field(default_factory=Canon)
    flagged_gaps: tuple[GapFlag, ...] = ()


def project_bible(knowledge: StoryKnowledge, horizon: Horizon | None = None) -> Bible:
    """Return the story bible as known up to `horizon`; None is the whole story.

    With a horizon, facts are left out whose evidence is after it, in a note or in an
    author's comment, and so are names that are not mentioned by then.
    """
    horizon_view = HorizonView(knowledge.order, knowledge.texts, horizon)
    horizon_cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, horizon_view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, horizon_cast, horizon_view)
    material = drop_predecessors(material, knowledge.appearances)
    gaps = build_gap_ledger(material, knowledge.canon, knowledge.flagged_gaps)
    relations = collect_relations(material)
    relatives = find_close_relatives((r.source, r.target, r.kind) for r in relations)
    events = collect_events(material, knowledge.canon, relatives)
    disclosures = collect_disclosures(material)
    scenes = build_scene_summaries(material, knowledge.appearances, knowledge.canon)
    return Bible(
        characters=build_character_profiles(material, relations, gaps),
        world=collect_world_elements(material),
        events=events,
        relations=relations,
        told=disclosures,
        scenes=scenes,
        timeline=build_timeline(events, disclosures, scenes, material),
        quotes=collect_quotes(knowledge.quotations, material),
        gaps=gaps,
        readers=list_reader_models(f.fact.keeper for f in knowledge.facts),
        bounded=horizon_view.bounded,
    )
