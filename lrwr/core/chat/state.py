"""The question of a turn and the material retrieved for it."""

from dataclasses import dataclass, field

from lrwr.core.bible.values import (
    AttributedQuote,
    CharacterProfile,
    CharacterRelation,
    Gap,
    SceneSummary,
    TimelineMoment,
    WorldElement,
)
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import Horizon
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerMode,
    NarrativeState,
    QuestionPlan,
    Turn,
    TurnId,
)
from lrwr.core.ports.sources import WebPage


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """The writer's question, with everything that bounds the answer.

    `character` is the name in the bible of the character who is talked to, empty for
    none. `witnessed` limits what is known to scenes in which the character was present
    and to what they were told. `history` are the latest turns that fit into the prompt,
    oldest first; `before` summarizes earlier ones, empty if there are none. `outdated`
    are the turns whose cited passages have changed since.
    """

    text: str
    mode: AnswerMode = AnswerMode.ANALYTICAL
    character: str = ""
    horizon: Horizon | None = None
    witnessed: bool = False
    history: tuple[Turn, ...] = ()
    before: str = ""
    outdated: frozenset[TurnId] = frozenset()
    state: NarrativeState = field(default_factory=NarrativeState)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Everything found for a question within its horizon.

    `ranked_chunks` are passages, best first; the other lists are in story order.
    `low_confidence` is None if it was not evaluated. `unknown` are words of the
    question that no text within the horizon contains. `lines` are quotations of the
    character, verified ones first. `pages` are web pages found for `web_query`, which
    is empty if no web search ran; they are not part of the story.
    """

    character_profiles: tuple[CharacterProfile, ...] = ()
    ranked_chunks: tuple[Passage, ...] = ()
    low_confidence: bool | None = None
    world: tuple[WorldElement, ...] = ()
    moments: tuple[TimelineMoment, ...] = ()
    relations: tuple[CharacterRelation, ...] = ()
    scenes: tuple[SceneSummary, ...] = ()
    gaps: tuple[Gap, ...] = ()
    lines: tuple[AttributedQuote, ...] = ()
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    pages: tuple[WebPage, ...] = ()
    web_query: str = ""


def find_answering_character(question: TurnQuestion, plan: QuestionPlan) -> str:
    """Return the name of the character who answers; empty if the analyst answers.

    Scenario questions are always answered by the analyst.
    """
    if (
        question.mode is not AnswerMode.IN_CHARACTER
        or plan.intent is AnswerIntent.SCENARIO
    ):
        return ""
    return question.character


def select_web_pages(
    question: TurnQuestion, result: RetrievalResult
) -> tuple[WebPage, ...]:
    """Return the web pages that the answer may use; none if a character answers."""
    return () if question.mode is AnswerMode.IN_CHARACTER else result.pages
