"""The story bible at a moment of the story, drawn from everything that is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lrwr.core.bible.characters import HorizonCast
from lrwr.core.bible.claims import collect_visible_facts, list_reader_models
from lrwr.core.bible.events import (
    build_timeline,
    collect_disclosures,
    collect_events,
    collect_quotes,
    collect_world_elements,
)
from lrwr.core.bible.gaps import build_gap_ledger
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.profiles import build_character_profiles, collect_relations
from lrwr.core.bible.scenes import build_scene_summaries
from lrwr.core.bible.values import Bible
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.story import Horizon
from lrwr.core.model.turns import GapFlag
from lrwr.core.ports.record_store import DocumentText
from lrwr.core.ports.story_store import (
    Appearance,
    DocumentFact,
    DocumentQuotation,
    FirstMention,
)
from lrwr.core.retrieval.story import StoryOrder


@dataclass(frozen=True, slots=True)
class StoryKnowledge:
    """All that is known of a story, the whole of it.

    `wondered` is what conversations left open that may be seen where one reads to.
    """

    order: StoryOrder
    texts: Mapping[DocumentId, DocumentText]
    cast: Cast = field(default_factory=Cast)
    first_seen: tuple[FirstMention, ...] = ()
    facts: tuple[DocumentFact, ...] = ()
    quotations: tuple[DocumentQuotation, ...] = ()
    appearances: tuple[Appearance, ...] = ()
    canon: Canon = field(default_factory=Canon)
    wondered: tuple[GapFlag, ...] = ()


def project_bible(known: StoryKnowledge, horizon: Horizon | None = None) -> Bible:
    """Return what one knows who has read up to `horizon`; None means everything.

    What rests on words after the horizon, on a note or on an author's comment is not
    there; nor is a name that has not been seen by then.
    """
    sight = HorizonView(known.order, known.texts, horizon)
    roll = HorizonCast(known.cast, known.first_seen, sight, known.canon.names)
    material = collect_visible_facts(known.facts, roll, sight)
    gaps = build_gap_ledger(material, known.canon, known.wondered)
    relations = collect_relations(material)
    events, told = collect_events(material), collect_disclosures(material)
    scenes = build_scene_summaries(material, known.appearances, known.canon)
    return Bible(
        characters=build_character_profiles(material, relations, gaps),
        world=collect_world_elements(material),
        events=events,
        relations=relations,
        told=told,
        scenes=scenes,
        timeline=build_timeline(events, told, scenes, material),
        quotes=collect_quotes(known.quotations, material),
        gaps=gaps,
        readers=list_reader_models(known.facts),
        bounded=sight.bounded,
    )
