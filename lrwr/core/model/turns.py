"""One turn of a conversation: what is planned, found, cited, said, remembered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NewType, TypeAlias

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineRange, Span

ThreadId = NewType("ThreadId", str)
"""A conversation's own name: a UUID in hexadecimal."""

TurnId = NewType("TurnId", str)
"""A turn's own name: a UUID in hexadecimal."""


class AnswerSource(StrEnum):
    """Where an answer may come from."""

    MANUSCRIPT = "manuscript"
    PROFILES = "profiles"
    WORLD = "world"
    TIMELINE = "timeline"
    NOTES = "notes"
    WEB = "web"


class SourceIntention(StrEnum):
    """What is wanted of a source."""

    FIND_PASSAGE = "find_passage"
    RECAP = "recap"
    COMPARE_PASSAGES = "compare_passages"
    DIALOGUE_OF = "dialogue_of"
    TRAITS = "traits"
    VALUES = "values"
    BEHAVIOR = "behavior"
    RELATIONSHIPS = "relationships"
    VOICE = "voice"
    ARC = "arc"
    SETTING = "setting"
    TECHNOLOGY = "technology"
    FACTION = "faction"
    ARTIFACT = "artifact"
    RULE = "rule"
    WHAT_HAPPENED = "what_happened"
    WHEN = "when"
    BEFORE_AFTER = "before_after"
    WHO_WAS_THERE = "who_was_there"
    AUTHOR_INTENT = "author_intent"
    OPEN_QUESTION = "open_question"
    EXTERNAL_REFERENCE = "external_reference"
    CRAFT = "craft"


INTENTIONS_BY_SOURCE: Mapping[AnswerSource, tuple[SourceIntention, ...]] = (
    MappingProxyType(
        {
            AnswerSource.MANUSCRIPT: (
                SourceIntention.FIND_PASSAGE,
                SourceIntention.RECAP,
                SourceIntention.COMPARE_PASSAGES,
                SourceIntention.DIALOGUE_OF,
            ),
            AnswerSource.PROFILES: (
                SourceIntention.TRAITS,
                SourceIntention.VALUES,
                SourceIntention.BEHAVIOR,
                SourceIntention.RELATIONSHIPS,
                SourceIntention.VOICE,
                SourceIntention.ARC,
            ),
            AnswerSource.WORLD: (
                SourceIntention.SETTING,
                SourceIntention.TECHNOLOGY,
                SourceIntention.FACTION,
                SourceIntention.ARTIFACT,
                SourceIntention.RULE,
            ),
            AnswerSource.TIMELINE: (
                SourceIntention.WHAT_HAPPENED,
                SourceIntention.WHEN,
                SourceIntention.BEFORE_AFTER,
                SourceIntention.WHO_WAS_THERE,
            ),
            AnswerSource.NOTES: (
                SourceIntention.AUTHOR_INTENT,
                SourceIntention.OPEN_QUESTION,
            ),
            AnswerSource.WEB: (
                SourceIntention.EXTERNAL_REFERENCE,
                SourceIntention.CRAFT,
            ),
        }
    )
)
"""What each source can be asked for."""


class AnswerIntent(StrEnum):
    """What kind of answer a question wants."""

    ANALYTICAL = "analytical"
    IN_CHARACTER = "in_character"
    GAP_PROBE = "gap_probe"
    EXTERNAL_REFERENCE = "external_reference"
    SCENARIO = "scenario"


class AnswerMode(StrEnum):
    """Who answers: the analyst, or a character."""

    ANALYTICAL = "analytical"
    IN_CHARACTER = "in_character"


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """A source that a question needs, what for, and how sure that is, 0.0 to 1.0."""

    source: AnswerSource
    intention: SourceIntention
    confidence: float


@dataclass(frozen=True, slots=True)
class QuestionEntity:
    """Somebody or something that a question names, and how sure that is, 0.0 to 1.0."""

    name: str
    confidence: float


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """What a question needs. `planner` made it: `RULES_KEEPER` or the name of a model.

    `remarks` say in sentences what was skipped, and why.
    """

    intent: AnswerIntent
    choices: tuple[SourceChoice, ...]
    entities: tuple[QuestionEntity, ...]
    planner: str
    remarks: tuple[str, ...] = ()

    @property
    def sources(self) -> frozenset[AnswerSource]:
        """The sources that are chosen."""
        return frozenset(choice.source for choice in self.choices)


@dataclass(frozen=True, slots=True)
class EntityLocation:
    """One place where an entity was found: in a source, under the name it has there."""

    source: AnswerSource
    name: str


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """An entity, and every place in the selected sources where it was found."""

    entity: QuestionEntity
    places: tuple[EntityLocation, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """The words of a document that an answer rests on, verbatim at `span`.

    `number` is the one in brackets in the answer, from 1. `chapter` is the number in
    story order, None outside of the story.
    """

    number: int
    document: DocumentId
    span: Span
    lines: LineRange
    text: str
    chapter: int | None


@dataclass(frozen=True, slots=True)
class WebCitation:
    """What a page of the web says, which is no part of the book.

    `number` stands behind a w in the answer's brackets, [w1], and counts apart from
    the text's numbers, from 1. `text` is verbatim what the service gave of the page.
    """

    number: int
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class GapFlag:
    """What a question asked for that the text leaves undefined.

    `about` is whom or what it is an attribute of, empty for nobody's.
    """

    about: str
    undefined_attribute: str
    what_is_implied: str = ""
    development_suggestion: str = ""


@dataclass(frozen=True, slots=True)
class NarrativeState:
    """What a conversation goes on from.

    `as_of` is the horizon as the writer gave it, empty for the whole story.
    """

    character: str = ""
    mode: AnswerMode = AnswerMode.ANALYTICAL
    as_of: str = ""
    witnessed: bool = False
    entities: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SupervisorOutput:
    """A whole answer. `unsupported` are stretches of it that no citation bears out.

    `remarks` say in sentences what was left out or did not work. `model` is the one
    that wrote it, empty where the text speaks for itself. `tavily_used` says that
    `web_query` was sent; `web` is what the answer has from the web, apart from the
    text's own citations.
    """

    response_text: str
    intent: AnswerIntent
    resolved_characters: tuple[str, ...]
    citations: tuple[Citation, ...]
    gap_flags: tuple[GapFlag, ...]
    narrative_state_delta: NarrativeState
    tavily_used: bool = False
    low_confidence: bool | None = None
    unsupported: tuple[Span, ...] = ()
    remarks: tuple[str, ...] = ()
    model: str = ""
    web: tuple[WebCitation, ...] = ()
    web_query: str = ""


class TurnState(StrEnum):
    """How a turn ended."""

    COMPLETE = "complete"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer, as they are kept.

    `number` counts the thread's turns from 1. `asked_at` is in seconds since 1970.
    `price` is in US dollars, None where it is not known.
    """

    id: TurnId
    number: int
    asked_at: float
    question: str
    output: SupervisorOutput
    state: TurnState = TurnState.COMPLETE
    usage: Usage = field(default_factory=Usage)
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation, without its turns. Times are in seconds since 1970."""

    id: ThreadId
    title: str
    created_at: float
    updated_at: float
    turns: int
    state: NarrativeState


class AnswerSpeaker(StrEnum):
    """Whose words stream by."""

    SUPERVISOR = "supervisor"
    AVATAR = "avatar"


@dataclass(frozen=True, slots=True)
class TurnStageStarted:
    """A turn entered a step; `text` names it for the writer."""

    step: str
    text: str


@dataclass(frozen=True, slots=True)
class PassageCited:
    """A passage that the answer may rest on was found."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class WebPageCited:
    """A page of the web that the answer may mention was found."""

    citation: WebCitation


@dataclass(frozen=True, slots=True)
class GapFound:
    """The text leaves open what was asked for."""

    gap: GapFlag


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """The next piece of an answer, as it came."""

    text: str
    speaker: AnswerSpeaker


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The turn is over and kept in the thread."""

    thread: ThreadId
    turn: Turn


TurnEvent: TypeAlias = (
    TurnStageStarted | PassageCited | WebPageCited | GapFound | AnswerToken | TurnDone
)
