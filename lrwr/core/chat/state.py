"""What the steps of one turn hand to one another."""

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
    """What the writer asks, and of whom.

    `character` is a name of the bible's at `horizon`, empty for nobody. `witnessed`
    bounds what is known to what the character was present for or was told. `history`
    are the turns that fit, oldest first; `before` is what came before them in short,
    empty where nothing did. `outdated` are those turns whose answers rest on passages
    that were changed since.
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
    """What was found for a question, within its horizon; best or earliest first.

    `low_confidence` is None where it was not evaluated. `unknown` are words of the
    question that nothing in sight holds. `lines` are what the character says, for
    their voice; verified ones come first. `pages` are what the web says to
    `web_query`, which is empty where nothing was sent; they are no part of the story.
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
    """Return the character who answers; empty where the analyst does.

    What would be if is judged from outside, whoever is asked.
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
    """Return the pages that an answer may mention: a character knows no web."""
    return () if question.mode is AnswerMode.IN_CHARACTER else result.pages
