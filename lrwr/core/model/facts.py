"""Facts extracted from the text: one small claim each, with its place and certainty."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.text import Span


class Certainty(StrEnum):
    """How sure a thing is, surest first."""

    CONFIRMED = "confirmed"
    """The writer said so: in the canon file, in notes, in front matter."""
    VERIFIED = "verified"
    """Strong evidence stands in the text, and its place is known."""
    PROBABLE = "probable"
    """Weaker evidence speaks for it."""
    NOT_EVALUATED = "not evaluated"
    """Nobody looked, or nobody can tell."""


RULES_KEEPER = "rules"
"""The keeper of facts that no model was asked for."""
WRITER_KEEPER = "writer"
"""The keeper of facts that stand in the writer's notes or decisions."""


class FactAbout(StrEnum):
    """What a fact is about, and what its `subject` names."""

    PASSAGE = "passage"
    """A chunk; no subject. Fields: `PassageField`."""
    SCENE = "scene"
    """A scene, no subject. Fields: `pov` (a name), `recap` (a text; with no model the
    spans are its key sentences and the value is empty)."""
    CHARACTER = "character"
    """A person, by a name as the text has it. Fields: `CharacterField`."""
    WORLD = "world"
    """A thing of the world, by its name. Fields: `WorldField`."""
    EVENT = "event"
    """Something that happens; no subject. Field `event`, value: its description;
    details: `involved` (a name, repeated), `feels` ("Nell: afraid", repeated),
    `story_grid_tag`."""
    TOLD = "told"
    """The subject tells `hearer` (a detail) the value. Field `told`."""
    GAP = "gap"
    """What the text leaves undefined of its subject. The field is the attribute, the
    value what is implied; detail `suggestion`, if any."""


class PassageField(StrEnum):
    """What is told of a chunk."""

    CONTENT_TYPE = "content_type"
    NARRATIVE_FUNCTION = "narrative_function"
    STORY_GRID_TAG = "story_grid_tag"
    PRESENT = "present"
    """A character who is there; one fact each."""
    EXTERNAL_REFERENCE = "external_reference"


class CharacterField(StrEnum):
    """What is told of a character."""

    ALIAS = "alias"
    """Another name that the text has for them."""
    TRAIT = "personality_trait"
    STATED_VALUE = "stated_value"
    BEHAVIOR = "behavioral_pattern"
    RELATIONSHIP = "relationship"
    """Value: ally, antagonist, neutral or complex, or empty where nobody judged;
    details: `target` (a name), `kind` ("sister", "employer"; as the text says): the
    target is the subject's kind, as in "Nell's sister Mags" of Nell."""
    SPEECH_PATTERN = "speech_pattern"
    EXTERNAL_REFERENCE = "external_reference"
    ATTRIBUTE = "attribute"
    """Value: "grey"; detail `attribute`: "eyes", "age", "hair", "occupation", …."""


class WorldField(StrEnum):
    """What is told of a thing of the world."""

    ELEMENT_TYPE = "element_type"
    """setting, technology, faction, artifact or rule."""
    DESCRIPTION = "description"
    CONNECTED = "connected_character"


class ContentType(StrEnum):
    """What a passage is made of."""

    DIALOGUE = "dialogue"
    ACTION_REACTION = "action_reaction"
    DESCRIPTION = "description"
    INTERNAL_MONOLOGUE = "internal_monologue"


class NarrativeFunction(StrEnum):
    """What a passage does for the story."""

    WORLDBUILDING = "worldbuilding"
    CHARACTER_REVEAL = "character_reveal"
    PLOT_EVENT = "plot_event"
    BACKSTORY = "backstory"
    THEMATIC = "thematic"


class StoryGridTag(StrEnum):
    """A passage's or an event's place in the arc of its scene."""

    INCITING_INCIDENT = "inciting_incident"
    TURNING_POINT = "turning_point"
    CRISIS = "crisis"
    CLIMAX = "climax"
    RESOLUTION = "resolution"
    NONE = "none"


class ElementType(StrEnum):
    """What a thing of the world is."""

    SETTING = "setting"
    TECHNOLOGY = "technology"
    FACTION = "faction"
    ARTIFACT = "artifact"
    RULE = "rule"


class Valence(StrEnum):
    """How one character stands to another."""

    ALLY = "ally"
    ANTAGONIST = "antagonist"
    NEUTRAL = "neutral"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True)
class Fact:
    """One claim about one document's text.

    `spans` are the words that it rests on, verbatim, in order; the first one is its
    place in the story. Only a fact of the writer's, or one that is probable, may have
    a span that is merely its passage. `keeper` says who filled it: `RULES_KEEPER`, `WRITER_KEEPER`
    or the name of a model. `details` are pairs, whose first may repeat. `reach` is the
    end of what its keeper had read, where that goes beyond the spans: a reader's own
    words may give away all of it. It is 0 where they cannot.
    """

    about: FactAbout
    subject: str
    field: str
    value: str
    spans: tuple[Span, ...]
    keeper: str
    certainty: Certainty
    details: tuple[tuple[str, str], ...] = ()
    reach: int = 0

    def detail(self, name: str) -> str:
        """Return the first detail of that name, or an empty text."""
        return next(self.all_details(name), "")

    def all_details(self, name: str) -> Iterator[str]:
        """Yield every detail of that name, in order."""
        return (value for key, value in self.details if key == name)
