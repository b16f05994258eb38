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
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import Horizon
from lrwr.core.model.turns import (
    AnswerIntent,
    NarrativeState,
    QuestionPlan,
    Turn,
    TurnId,
)
from lrwr.core.ports.sources import WebPage


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """The user's question and everything that limits its answer.

    `character` is the name in the story bible of the character who is talked to, empty
    for none. `horizon` is None for the whole story. `witnessed` limits the answer to
    scenes in which the character acts or speaks, and to what they are told. `history`
    are the latest turns that fit into the prompt, oldest first; `before` summarizes
    earlier ones, empty if there are none. `outdated` are the turns whose cited passages
    have changed since. `state` is that of the thread when the question is asked. `cast`
    has for each character up to the horizon all forms of its name, and `narrators` those
    of the characters who tell the story.
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
    cast: tuple[tuple[str, ...], ...] = ()
    narrators: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class StoryOutline:
    """The chapters of the story and its characters, up to the horizon of a question.

    `chapters` has a line for each chapter, in story order, `people` one for each
    character, with further names after "=", most mentioned first.
    """

    chapters: str = ""
    people: str = ""


@dataclass(frozen=True, slots=True)
class SharedScenes:
    """The scenes with all of `people`, in story order.

    Of each person, `people` has the displayed name and all forms of it. `is_list` says that
    all scenes are asked for, not whether the people meet. `apart` is the first scene
    with each person; `exchange` are the first words that one of two says to the other
    for certain, None without any. With `absent_since`, it is asked who is in no scene
    after that chapter: then `scenes` has the last scene of each of `people` before.
    """

    people: tuple[tuple[str, ...], ...]
    scenes: tuple[SceneSummary, ...]
    is_list: bool = False
    apart: tuple[SceneSummary, ...] = ()
    exchange: AttributedQuote | None = None
    absent_since: int | None = None

    @property
    def is_answer(self) -> bool:
        """Whether the scenes answer the question, so that no passages need follow."""
        return self.absent_since is not None or (self.is_list and bool(self.scenes))


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The story data, passages and web pages found for a question, up to its horizon.

    `ranked_chunks` are passages, best first, and `low_confidence` is that of their
    search, None if it was not evaluated. Characters are in order of mentions, other
    story data in story order; `lines` are dialogue lines, verified ones first.
    `unknown` are words of the question that no text up to the horizon contains,
    `similar_names` names that a misspelled one of them may mean, and `missing_phrases`
    its quoted phrases that stand nowhere.
    `remarks` are sentences about what was skipped or failed. `pages` are web pages
    found for `web_query`, which is empty if no web search ran; they are not part of the
    story. `outline` opens the material for a language model. `lookups` are phrases for
    what a model looked up after the first search. `by_words_only` says that the search
    left meaning out although an embedding model is configured; then nothing may be said
    to be missing from the text. `max_note_share` is the share of the prompt's material
    that passages of notes may use, 0.0 to 1.0. `whole_chapters` are pairs of the number
    of a chapter that is to be read whole and the number of its passages.
    `shared_scenes` are those of the people in question, None if it does not ask for
    scenes.
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
    similar_names: tuple[str, ...] = ()
    missing_phrases: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    pages: tuple[WebPage, ...] = ()
    web_query: str = ""
    outline: StoryOutline = field(default_factory=StoryOutline)
    lookups: tuple[str, ...] = ()
    by_words_only: bool = False
    max_note_share: float = 1.0
    whole_chapters: tuple[tuple[int, int], ...] = ()
    shared_scenes: SharedScenes | None = None


def find_answering_character(question: TurnQuestion, plan: QuestionPlan) -> str:
    """Return the name of the character who answers; empty if none does.

    A character answers if the question's mode says so, except for scenarios ("what
    if").
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
    """Return the web pages that the answer may use, in the order of `result`.

    Empty if the question is put to a character.
    """
    return () if question.mode is AnswerMode.IN_CHARACTER else result.pages
