"""Turns of a thread: question plans, citations, answers, and the events of a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NewType, TypeAlias

from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineRange, Span

ThreadId = NewType("ThreadId", str)
"""Hexadecimal UUID of a thread."""

TurnId = NewType("TurnId", str)
"""Hexadecimal UUID of a turn."""


class AnswerSource(StrEnum):
    """A source that an answer can draw on: manuscript, character profiles, world,
    timeline, notes or web.
    """

    MANUSCRIPT = "manuscript"
    PROFILES = "profiles"
    WORLD = "world"
    TIMELINE = "timeline"
    NOTES = "notes"
    WEB = "web"


class SourceIntention(StrEnum):
    """What information a source is needed for, such as a passage, a recap, or a
    character's traits.
    """

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
"""What each source can be used for."""


class AnswerIntent(StrEnum):
    """The kind of answer that a question calls for, such as analysis, a character's own
    words, a check for gaps, or a judgement on craft, pacing, voice or consistency.
    """

    ANALYTICAL = "analytical"
    IN_CHARACTER = "in_character"
    GAP_PROBE = "gap_probe"
    EXTERNAL_REFERENCE = "external_reference"
    SCENARIO = "scenario"
    JUDGEMENT = "judgement"


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """A source that a question needs, and for what.

    `confidence`, 0.0 to 1.0, says how sure it is that the question needs it.
    """

    source: AnswerSource
    intention: SourceIntention
    confidence: float


@dataclass(frozen=True, slots=True)
class QuestionEntity:
    """A name that occurs in a question.

    `confidence`, 0.0 to 1.0, says how sure it is that the question is about it.
    """

    name: str
    confidence: float


MAX_PLANNED_SEARCHES = 3
"""Search texts in a question plan at most."""


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """The kind of answer and the sources that a question needs, and the names in it.

    `planner` is `RULES_KEEPER` or the name of the language model that made the plan.
    `remarks` are sentences about what was skipped and why. `question` is the question
    rewritten so that it can be understood without the earlier turns; empty if the
    user's own words can. `searches` are up to `MAX_PLANNED_SEARCHES` search texts,
    phrased as the manuscript might phrase them. `chapters` are the numbers, in story
    order, of chapters to read completely.
    """

    intent: AnswerIntent
    choices: tuple[SourceChoice, ...]
    entities: tuple[QuestionEntity, ...]
    planner: str
    remarks: tuple[str, ...] = ()
    question: str = ""
    searches: tuple[str, ...] = ()
    chapters: tuple[int, ...] = ()

    @property
    def sources(self) -> frozenset[AnswerSource]:
        """The sources of all choices."""
        return frozenset(choice.source for choice in self.choices)


class NameMatch(StrEnum):
    """How a name in a question matches a name in a source: the same name, an alias of
    the same character, a part of the name or the other way round, or a similar
    spelling.
    """

    EXACT = "exact"
    ALIAS = "alias"
    SUBSTRING = "substring"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class EntityLocation:
    """A source that contains an entity of a question, and the entity's name in that
    source.

    `match` says how the entity's name matches, and `confidence`, 0.0 to 1.0, how surely
    the source means the entity. `text` are the words of the source that match; empty if
    that was not recorded.
    """

    source: AnswerSource
    name: str
    match: NameMatch = NameMatch.EXACT
    confidence: float = 1.0
    text: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """A name in a question with the sources that contain it.

    `places` are the chosen sources of the question plan in which the name occurs; empty
    if it occurs in none.
    """

    entity: QuestionEntity
    places: tuple[EntityLocation, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """Words of a document that support an answer, verbatim at `span`.

    `number` is the number in brackets in the answer, from 1. `chapter` is the chapter's
    number in story order: 0 before the first chapter, None outside the story. `best`
    is the place in `text` of the sentence that fits the question best, or in an answer
    about an e-book of the words on which it rests; None if the answer itself quotes or
    states what is cited, and `text` is no more than that.
    """

    number: int
    document: DocumentId
    span: Span
    lines: LineRange
    text: str
    chapter: int | None
    best: Span | None = None


@dataclass(frozen=True, slots=True)
class WebCitation:
    """A web page that an answer mentions; it is never part of the story.

    The answer refers to it as [w1]; `number` counts from 1, separately from the numbers
    of citations. `text` is the page's text as the search service returned it.
    """

    number: int
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class GapFlag:
    """Something that a question asks for and the text leaves undefined.

    `about` is the character or thing whose attribute is undefined; empty for neither.
    The other texts are for the user: the attribute, what the text implies about it, and
    a suggestion; the last two may be empty.
    """

    about: str
    undefined_attribute: str
    what_is_implied: str = ""
    development_suggestion: str = ""


@dataclass(frozen=True, slots=True)
class NarrativeState:
    """The state of a thread after a turn, on which the next turn builds.

    `character` is the one who answers, in `mode` `IN_CHARACTER`. `as_of` is the horizon
    as the user typed it; empty for the whole story. `witnessed` limits a character to
    scenes they were present in or were told of. `entities` are the names talked about,
    the latest first. `assumptions` are what the user asked to assume.
    """

    character: str = ""
    mode: AnswerMode = AnswerMode.ANALYTICAL
    as_of: str = ""
    witnessed: bool = False
    entities: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a language model, `model`, in a turn.

    `purpose` is the kind of reply, such as "plan" or "answer". `prompt_tokens` and
    `reply_tokens` are those reported by the server, else estimated. `seconds` is how
    long the call took, retries included. `failed` says that no reply came.
    """

    purpose: str
    model: str
    prompt_tokens: int
    reply_tokens: int
    seconds: float
    failed: bool = False


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A stage that a turn entered, as `TurnStageStarted`, `seconds` after its start."""

    step: str
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SupervisorOutput:
    """A complete answer with its citations and metadata.

    `gap_flags` are gaps that it reports. `narrative_state_delta` is the state of the
    thread after it. `unsupported` are the sentences and quotations of `response_text`
    that no citation supports, and `lacking_words` are for each of them the words that
    the cited text lacks, empty if none in particular; answers of earlier versions have
    none. `remarks` are sentences about what was left out or failed. `model` is the
    language model that wrote the answer, empty if it consists of quotations.
    `tavily_used` says whether `web_query` was sent to the web search service; `web` are
    the pages that the answer mentions. `low_confidence` means that the search found
    little that fits; None if that was not evaluated. `plan` is the plan of the
    question, None for a `canon:` command, a stopped turn and answers of earlier
    versions; `entities` are the names in it with their locations. `steps` are the stages
    of the turn, `calls` the calls of language models, both in order.
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
    lacking_words: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()
    model: str = ""
    web: tuple[WebCitation, ...] = ()
    web_query: str = ""
    plan: QuestionPlan | None = None
    entities: tuple[ResolvedEntity, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    calls: tuple[ModelCall, ...] = ()


def list_output_searches(output: SupervisorOutput) -> tuple[str, ...]:
    """Return the texts searched for beside the question: planned ones, then look-ups."""
    planned = output.plan.searches if output.plan else ()
    looked_up = (
        step.text.partition("“")[2].removesuffix("”")
        for step in output.steps
        if step.step == "search" and "“" in step.text
    )
    return tuple(dict.fromkeys((*planned, *looked_up)))


NO_CLEAR_ANSWER = "No clear answer found"
CONTRADICTORY = "The text contradicts itself on"
"""How an answer begins whose facts cannot all be true."""

NO_CHAPTER = "The story has no chapter"
"""How a remark begins that a chapter in the question does not exist."""

NOT_MENTIONED = "The text does not mention this"
NO_SCENE = "No scene found"
NO_LINE = "No line of"
NOBODY_PRESENT = "Nobody is known to be present"
"""How the sentences begin by which an answer without a language model says that it
found no answer, or that there is none."""

STOPPED_REMARK = "Stopped before the answer was complete."
"""The remark of a turn that the user stopped."""


class TurnState(StrEnum):
    """Whether the answer of a turn is complete, or was stopped by the user or cut off
    before its end.
    """

    COMPLETE = "complete"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question with its answer, as stored.

    `number` counts the turns of the thread from 1. `asked_at` is in seconds since 1970,
    UTC. `price` is in US dollars, None if unknown. `is_damaged` says that its stored
    words do not match their checksum.
    """

    id: TurnId
    number: int
    asked_at: float
    question: str
    output: SupervisorOutput
    state: TurnState = TurnState.COMPLETE
    usage: Usage = field(default_factory=Usage)
    price: float | None = None
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """A saved conversation, without its turns. Times are in seconds since 1970, UTC.

    `turns` is their number. `state` is the state after the last one. `is_damaged` says
    that the stored title or state does not match its checksum.
    """

    id: ThreadId
    title: str
    created_at: float
    updated_at: float
    turns: int
    state: NarrativeState
    is_damaged: bool = False


class AnswerSpeaker(StrEnum):
    """Who speaks the text of an answer: lrwr (`SUPERVISOR`) or a character
    (`AVATAR`).
    """

    SUPERVISOR = "supervisor"
    AVATAR = "avatar"


@dataclass(frozen=True, slots=True)
class TurnStageStarted:
    """Event: a turn entered a stage.

    `step` is the stage's key, such as "plan", "search" or "answer"; `text` describes it
    to the user.
    """

    step: str
    text: str


@dataclass(frozen=True, slots=True)
class PassageCited:
    """Event: the answer may cite a passage, under the number of `citation`."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class WebPageCited:
    """Event: the answer may cite a web page, under the number of `citation`."""

    citation: WebCitation


@dataclass(frozen=True, slots=True)
class GapFound:
    """Event: the text leaves undefined something that the question asks for."""

    gap: GapFlag


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """Event: the next piece of the answer's text."""

    text: str
    speaker: AnswerSpeaker


@dataclass(frozen=True, slots=True)
class TurnDone:
    """Event: the turn is finished and stored in the thread."""

    thread: ThreadId
    turn: Turn


TurnEvent: TypeAlias = (
    TurnStageStarted | PassageCited | WebPageCited | GapFound | AnswerToken | TurnDone
)
