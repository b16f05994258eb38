"""The cast: characters, their aliases, mentions of them, and quotations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span


class Gender(StrEnum):
    """Gender of a character: female, male or unknown.

    It is inferred from pronouns, titles and given names, or stated in a note.
    """

    FEMALE = "female"
    MALE = "male"
    UNKNOWN = "unknown"


class AttributionCue(StrEnum):
    """The kind of evidence by which a quotation was attributed to its speaker.

    Examples are a name or pronoun in the dialogue tag, an action beside it, or the
    alternation of speakers.
    """

    NAMED = "named"
    """A name next to a verb of speech: "…," said Nell."""
    PRONOUN = "pronoun"
    """A pronoun or a description next to one: "…," she said; said the old man."""
    ACTION = "action"
    """The rest of the paragraph is about one character."""
    TURN = "turn"
    """Two speakers alternate."""
    NARRATOR = "narrator"
    """The narrator speaks: "…," I said."""
    SCENE = "scene"
    """No cue in the paragraph: the likeliest speaker of the scene."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Alias:
    """One form of a character's name, as the text or the user spells it.

    `mentions` counts its occurrences in the whole story. `certainty` says how sure it
    is that this form belongs to the character; `because` gives the reason in a few
    words.
    """

    name: str
    mentions: int
    certainty: Certainty
    because: str = ""


@dataclass(frozen=True, slots=True)
class Character:
    """A character of the story; `name` is unique in a cast.

    `aliases` contains every form, `name` included, most frequent first. `certainty`
    says how sure it is that this is a character at all; `because` gives the reason in a
    few words. `gender_certainty` says how sure the gender is. `narrator` marks the one
    who says "I".
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
        """The number of occurrences of all names of the character in the whole
        story.
        """
        return sum(alias.mentions for alias in self.aliases)


@dataclass(frozen=True, slots=True)
class Cast:
    """All characters, most mentioned first.

    `shared` maps each ambiguous form ("Miss Gannet" among three sisters) to the names
    of the characters it may mean, likeliest first. Such a form is an alias of none of
    them unless the user decides it.
    """

    characters: tuple[Character, ...] = ()
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of a name in the text; `who` is the `name` of a character."""

    who: str
    span: Span


@dataclass(frozen=True, slots=True)
class Quotation:
    """One utterance: the words of one speaker, without interruption by another.

    `spans` are its pieces in text order, without quotation marks; a dialogue tag may
    stand between them. `speaker` and `addressee` are names of characters, empty if
    unknown; `certainty` and `cue` (the kind of evidence) refer to the speaker.
    `mentions` are the characters named within the utterance.
    """

    spans: tuple[Span, ...]
    speaker: str = ""
    certainty: Certainty = Certainty.NOT_EVALUATED
    cue: AttributionCue = AttributionCue.NONE
    addressee: str = ""
    addressee_certainty: Certainty = Certainty.NOT_EVALUATED
    mentions: tuple[str, ...] = ()
