"""The story bible at a moment of the story, drawn from everything that is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lrwr.core.bible.characters import Roll
from lrwr.core.bible.claims import gather, readers
from lrwr.core.bible.events import events_of, quotes_of, timeline_of, told_of, world_of
from lrwr.core.bible.gaps import ledger_of
from lrwr.core.bible.horizon import Sight
from lrwr.core.bible.profiles import profiles_of, relations_of
from lrwr.core.bible.scenes import scenes_of
from lrwr.core.bible.values import Bible
from lrwr.core.canon.model import Canon
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.story import Horizon
from lrwr.core.model.turns import GapFlag
from lrwr.core.ports.record_store import DocumentText
from lrwr.core.ports.story_store import Appearance, FirstSeen, Known, Said
from lrwr.core.retrieval.story import StoryOrder


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that is known of a story, the whole of it.

    `wondered` is what conversations left open that may be seen where one reads to.
    """

    order: StoryOrder
    texts: Mapping[DocumentId, DocumentText]
    cast: Cast = field(default_factory=Cast)
    first_seen: tuple[FirstSeen, ...] = ()
    facts: tuple[Known, ...] = ()
    quotations: tuple[Said, ...] = ()
    appearances: tuple[Appearance, ...] = ()
    canon: Canon = field(default_factory=Canon)
    wondered: tuple[GapFlag, ...] = ()


def project(known: Knowledge, horizon: Horizon | None = None) -> Bible:
    """Return what one knows who has read up to `horizon`; None means everything.

    What rests on words after the horizon, on a note or on an author's comment is not
    there; nor is a name that has not been seen by then.
    """
    sight = Sight(known.order, known.texts, horizon)
    roll = Roll(known.cast, known.first_seen, sight, known.canon.names)
    material = gather(known.facts, roll, sight)
    gaps = ledger_of(material, known.canon, known.wondered)
    relations = relations_of(material)
    events, told = events_of(material), told_of(material)
    scenes = scenes_of(material, known.appearances, known.canon)
    return Bible(
        characters=profiles_of(material, relations, gaps),
        world=world_of(material),
        events=events,
        relations=relations,
        told=told,
        scenes=scenes,
        timeline=timeline_of(events, told, scenes, material),
        quotes=quotes_of(known.quotations, material),
        gaps=gaps,
        readers=readers(known.facts),
        bounded=sight.bounded,
    )
