"""Who is in the story: people, the names they go by, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span


class Gender(StrEnum):
    """How the text speaks of a character."""

    FEMALE = "female"
    MALE = "male"
    UNKNOWN = "unknown"


class AttributionCue(StrEnum):
    """What tells who speaks."""

    NAMED = "named"
    """A name beside a verb of speech: "…," said Nell."""
    PRONOUN = "pronoun"
    """A pronoun or a description beside it: "…," she said; said the old man."""
    ACTION = "action"
    """The paragraph's other words are about one person."""
    TURN = "turn"
    """Speakers take turns."""
    NARRATOR = "narrator"
    """The narrator speaks: "…," I said."""
    SCENE = "scene"
    """The person most likely to speak here."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Alias:
    """One form of a character's name, as the text or the writer has it.

    `mentions` counts it in the whole text. `certainty` is that of its being this
    character's. `because` says in a few words what speaks for it.
    """

    name: str
    mentions: int
    certainty: Certainty
    because: str = ""


@dataclass(frozen=True, slots=True)
class Character:
    """A person of the story; `name` is unique in a cast.

    `aliases` are all forms, `name` among them, most frequent first. `certainty` is
    that of there being such a person. `narrator` marks the one who says "I".
    """

    name: str
    aliases: tuple[Alias, ...]
    gender: Gender
    gender_certainty: Certainty
    certainty: Certainty
    because: str = ""
    narrator: bool = False

    @property
    def mentions(self) -> int:
        """How often the text names this character."""
        return sum(alias.mentions for alias in self.aliases)


@dataclass(frozen=True, slots=True)
class Cast:
    """Everyone in the story, most mentioned first.

    `shared` holds the forms that may mean several people ("Miss Gannet" of three
    sisters), each with the names of those people, likeliest first; such a form is an
    alias of none of them unless it is told which.
    """

    characters: tuple[Character, ...] = ()
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the text: whose it is, and where; `who` is a character's `name`."""

    who: str
    span: Span


@dataclass(frozen=True, slots=True)
class Quotation:
    """What one person says without a break: one utterance, marks not included.

    `spans` are its stretches, in order; a tag may stand between them. `speaker` and
    `addressee` are names of characters, empty when nobody can tell. `certainty` is
    that of the speaker, and `addressee_certainty` that of the addressee. `mentions`
    are characters whom the words name.
    """

    spans: tuple[Span, ...]
    speaker: str = ""
    certainty: Certainty = Certainty.NOT_EVALUATED
    cue: AttributionCue = AttributionCue.NONE
    addressee: str = ""
    addressee_certainty: Certainty = Certainty.NOT_EVALUATED
    mentions: tuple[str, ...] = ()
