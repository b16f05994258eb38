"""Facts extracted from the text: single statements with location and certainty."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.text import Span


class Certainty(StrEnum):
    """How certain a fact is, from most to least: confirmed (by the author or user),
    verified (in the text's words), probable, not evaluated.
    """

    CONFIRMED = "confirmed"
    """The writer states it, in the canon file, in notes or in front matter."""
    VERIFIED = "verified"
    """The text contains strong evidence at a known location."""
    PROBABLE = "probable"
    """The evidence is weaker."""
    NOT_EVALUATED = "not evaluated"
    """It was not analysed, or the evidence does not decide it."""


SURE_CERTAINTIES = frozenset({Certainty.CONFIRMED, Certainty.VERIFIED})
"""Certainties of what the author states or strong evidence in the text shows."""

RULES_KEEPER = "rules"
"""`Fact.keeper` of facts found by rules, without a language model."""
RULES_REVISION = "rules-24"
"""The version of these rules; documents are analysed again when it changes."""
WRITER_KEEPER = "writer"
"""`Fact.keeper` of facts from the author's notes or the user's decisions."""
DIRECTED_DETAIL = ("direction", "target is kind of subject")
"""Detail of a relationship from a language model that was asked who is what of whom.
Models were once asked a question that can be read both ways; those relationships lack
it, and most of them are reversed."""
ALONE_DETAIL = ("alone", "yes")
"""Detail of a relation cue with a pronoun: its paragraph names only one before it."""
FAR_DETAIL = ("far", "yes")
"""Detail of a relation cue whose pronoun means somebody of the paragraph before."""
NARRATOR_DETAIL = ("first person", "yes")
"""Detail of an event that the narrator tells of "I" or "we"."""
RELATION_CUE_FIELD = "relation"
"""`Fact.field` of the cues to a relationship."""
PRESENT_FIELD = "present"
"""`Fact.field` of a character whom a language model found present in a scene."""


MENTIONS_DETAIL = "mentions"
"""Detail of a place that rules found: how often the name occurs in the text read."""
LOCATIVE_DETAIL = "locative"
"""Detail of a place that rules found: how many of these occurrences say where something
is or happens."""
PART_OF_DETAIL = "part_of"
"""Detail of a place: the name of the place that it is in."""


class FactAbout(StrEnum):
    """What a fact is about; this determines the meaning of `subject` and `field`.

    A passage, a scene, a character, the story's world, an event, something told by one
    character to another, or a gap.
    """

    PASSAGE = "passage"
    """A chunk; the subject is empty. Fields: `PassageField`."""
    SCENE = "scene"
    """A scene; the subject is empty. Fields: `pov` (a name), `recap` (a text; without a
    language model the value is empty and the spans are the key sentences) and `present`
    (a name, one fact for each passage in which a model found the character)."""
    CHARACTER = "character"
    """A character; the subject is a name as the text spells it. Fields:
    `CharacterField`."""
    WORLD = "world"
    """An element of the story's world; the subject is its name. Fields: `WorldField`."""
    EVENT = "event"
    """An event; the subject is empty. Field `event`, the value describes it; details:
    `involved` (a name, repeated), `feels` ("Nell: afraid", repeated) and
    `story_grid_tag`."""
    TOLD = "told"
    """The subject tells the character in the detail `hearer` the value. Field `told`."""
    RELATION_CUE = "relation_cue"
    """A weak sign of a relationship, such as "my dear aunt", that counts only together
    with others. Field `RELATION_CUE_FIELD`; the subject and the detail `target` are a
    name, a `CueParty` or empty; see `find_relation_cues`."""
    GAP = "gap"
    """An attribute of the subject that the text leaves undefined. The field is the
    attribute, the value what the text implies; detail `suggestion`, if any."""


class CueParty(StrEnum):
    """Somebody whom a relation cue or an event does not name; stores replace it by the
    name that attribution found when they read the fact.
    """

    SPEAKER = "(speaker)"
    ADDRESSEE = "(addressee)"
    NARRATOR = "(narrator)"


CUE_PARTIES = frozenset(CueParty)


class RelationCue(StrEnum):
    """Kinds of weak signs of a relationship."""

    OWNER = "owner"
    """"Nell's mother", who has no name there."""
    UNNAMED = "unnamed"
    """"her mother", "my mother", who has no name there."""
    NAMED = "named"
    """"her cousin Mags", "your cousin Mags"."""
    STATED = "stated"
    """"Mags is my cousin", "she was the daughter of Hob"."""
    LIST = "list"
    """"Nell's sisters, Mags and Ada"."""
    UNION = "union"
    """A verb or noun of marriage or engagement between two names."""
    ADDRESS = "address"
    """"Mamma," said to somebody."""
    TAG = "tag"
    """"…," said her mother."""
    TITLE = "title"
    """"Aunt Mags" in somebody's words."""


class PassageField(StrEnum):
    """Names of the fields of facts about a chunk, such as its content type or a
    character who is present.
    """

    CONTENT_TYPE = "content_type"
    NARRATIVE_FUNCTION = "narrative_function"
    STORY_GRID_TAG = "story_grid_tag"
    EXTERNAL_REFERENCE = "external_reference"


class CharacterField(StrEnum):
    """Names of the fields of facts about a character, such as an alias, a trait or a
    relationship.
    """

    ALIAS = "alias"
    """Another name of the character."""
    TRAIT = "personality_trait"
    STATED_VALUE = "stated_value"
    BEHAVIOR = "behavioral_pattern"
    RELATIONSHIP = "relationship"
    """Value: ally, antagonist, neutral or complex, or empty if not judged; details:
    `target` (a name) and `kind` ("sister", "employer"; in the text's words). The target
    is the subject's kind: in "Nell's sister Mags" the subject is Nell and the target
    Mags."""
    NOT_A_PERSON = "not_a_person"
    """A language model found that the subject, a name of the cast, names no person."""
    SPEECH_PATTERN = "speech_pattern"
    EXTERNAL_REFERENCE = "external_reference"
    ATTRIBUTE = "attribute"
    """For example value "grey", detail `attribute` "eyes"."""


class WorldField(StrEnum):
    """Names of the fields of facts about the story's world: type, description, and
    connected characters.
    """

    ELEMENT_TYPE = "element_type"
    """Value: an `ElementType`."""
    DESCRIPTION = "description"
    CONNECTED = "connected_character"
    MENTION = "mention"
    """A name that may be a place's, without a locative use here; the value is empty."""


class ContentType(StrEnum):
    """What a passage mainly consists of: dialogue, action, description or thoughts."""

    DIALOGUE = "dialogue"
    ACTION_REACTION = "action_reaction"
    DESCRIPTION = "description"
    INTERNAL_MONOLOGUE = "internal_monologue"


class NarrativeFunction(StrEnum):
    """The purpose of a passage in the story, such as worldbuilding, a plot event or
    backstory.
    """

    WORLDBUILDING = "worldbuilding"
    CHARACTER_REVEAL = "character_reveal"
    PLOT_EVENT = "plot_event"
    BACKSTORY = "backstory"
    THEMATIC = "thematic"


class StoryGridTag(StrEnum):
    """Position of a passage or an event in the course of its scene, such as turning
    point or climax.

    Source: Shawn Coyne, The Story Grid (2015).
    """

    INCITING_INCIDENT = "inciting_incident"
    TURNING_POINT = "turning_point"
    CRISIS = "crisis"
    CLIMAX = "climax"
    RESOLUTION = "resolution"
    NONE = "none"


class LifeEventKind(StrEnum):
    """Kind of an event in somebody's life that rules recognise."""

    MET = "meets"
    ARRIVED = "arrives"
    LEFT = "leaves"
    MOVED = "moves"
    PROPOSED = "proposes"
    REFUSED = "refuses"
    ENGAGED = "is engaged"
    MARRIED = "marries"
    LOVED = "is in love"
    ELOPED = "runs away"
    PARTED = "breaks off"
    BORN = "is born"
    DIED = "dies"
    WOUNDED = "is wounded or ill"
    ACCIDENT = "has an accident"
    FOUGHT = "fights"
    TAKEN = "is taken by force"
    ROBBED = "robs"
    ARRESTED = "is arrested or judged"
    INHERITED = "inherits"
    SIGNED = "signs or sells"
    ADOPTED = "is adopted"
    LETTER = "letter"
    LEARNED = "learns"
    CONFESSED = "confesses"


class ElementType(StrEnum):
    """Type of an element of the story's world: setting, technology, faction, artifact
    or rule.
    """

    SETTING = "setting"
    TECHNOLOGY = "technology"
    FACTION = "faction"
    ARTIFACT = "artifact"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement about the text of one document.

    `about` determines the meaning of `subject` and `field`. `spans` are the words that
    support it, verbatim and in text order; the first one locates the fact in the story.
    A span may cover the whole passage only if the fact comes from the author or is
    probable. `keeper` is the source of the fact: `RULES_KEEPER`, `WRITER_KEEPER` or the
    name of a language model. `details` are name-value pairs; names may repeat. `reach`
    is the end offset of the text that a model had read when it stated the fact, because
    its wording may reveal any of it; 0 if the wording reveals nothing beyond the spans.
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
        """Return the value of the first detail called `name`; empty if there is
        none.
        """
        # A loop: search reads the details of hundreds of facts, and a generator is slow.
        for key, value in self.details:
            if key == name:
                return value
        return ""

    def all_details(self, name: str) -> Iterator[str]:
        """Yield the value of every detail called `name`, in the order of `details`."""
        return (value for key, value in self.details if key == name)


def list_reader_models(keepers: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the language models among `keepers` of facts, sorted, each
    once.
    """
    return tuple(sorted({*keepers} - {RULES_KEEPER, WRITER_KEEPER}))
