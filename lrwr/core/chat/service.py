"""The one owner of conversations: it reads, has the graph answer, and writes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from lrwr.core.bible.name_lookup import collect_bible_names
from lrwr.core.bible.service import BibleService, find_profile_by_name
from lrwr.core.bible.values import Bible
from lrwr.core.canon.decision import CanonChange, Decision
from lrwr.core.chat.context.tool_loop import LookupLoop, LookupResult
from lrwr.core.chat.context.tools import BoundedLookupTools, PassageSearcher
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.generation.prompts import find_names_beyond_horizon
from lrwr.core.chat.graph import run_turn
from lrwr.core.chat.history import format_changed_answer_remark, recall_history
from lrwr.core.chat.nodes import (
    CanonCommand,
    TurnDependencies,
    TurnEventEmitter,
    build_gap_answer,
    format_gap_answer,
    parse_canon_command,
)
from lrwr.core.chat.planning.rules import build_search_text
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.chat.turn_models import (
    PreviewAvatar,
    PromptPreview,
    TurnModels,
    plan_without_model,
)
from lrwr.core.chat.turn_recorder import TurnRecorder, record_turn
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.turns import (
    AnswerMode,
    AnswerSpeaker,
    AnswerToken,
    NarrativeState,
    QuestionPlan,
    Thread,
    ThreadId,
    Turn,
    TurnDone,
    TurnEvent,
    TurnId,
    TurnState,
)
from lrwr.core.model.usage import Usage
from lrwr.core.ports.record_store import PassageStore
from lrwr.core.ports.thread_store import ThreadStore
from lrwr.core.ports.web_search import WebSearch
from lrwr.core.retrieval.chapters import ChapterReader
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.service import PassageFinder, SearchRequest, SearchResult
from lrwr.core.retrieval.story import StoryOrder
from lrwr.core.web.search import WebLookup, look_up_web

MAX_THREAD_TITLE_CHARS = 60
"""Characters of a first question that a conversation is called by."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What the writer asks, and what they change: None goes on as before.

    `character` empty is nobody, `as_of` empty the whole story.
    """

    text: str
    thread: ThreadId | None = None
    character: str | None = None
    mode: AnswerMode | None = None
    as_of: str | None = None
    witnessed: bool | None = None


@dataclass(frozen=True, slots=True)
class _PendingTurn:
    """A turn that is about to be: `before` is its conversation, None for a new one."""

    question: TurnQuestion
    bible: Bible
    order: StoryOrder
    before: Thread | None
    turns: Sequence[Turn]


class AvatarSessionService:
    """Answers questions; each is one turn of a conversation, kept whole or stopped.

    `voices` makes those of one turn. `price` tells what a model's usage costs in US
    dollars, None where that is not known. `decide` writes down a decision of the
    writer's. `web` is asked for what lies outside of the book, None where it is off. `pipeline` and `limit` are how passages are searched. `now` tells seconds
    since 1970, `new_id` names what is new.
    """

    def __init__(
        self,
        *,
        bible: BibleService,
        finder: PassageFinder,
        passages: PassageStore,
        threads: ThreadStore,
        voices: Callable[[], TurnModels],
        price: Callable[[Usage, str], float | None],
        decide: Callable[[Decision], CanonChange],
        web: WebSearch | None,
        pipeline: Pipeline,
        limit: int,
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._bible = bible
        self._finder = finder
        self._passages = passages
        self._freshness = FreshnessService(passages)
        self._threads = threads
        self._voices = voices
        self._price = price
        self._decide = decide
        self._web = web
        self._pipeline = pipeline
        self._limit = limit
        self._now = now
        self._new_id = new_id

    @property
    def model(self) -> str:
        """Name the language model that answers; empty without one."""
        return self._voices().avatar.model

    async def prompt(self, asking: TurnRequest) -> tuple[PromptPreview, ...]:
        """Return what language models would be sent for a turn; send and keep nothing.

        The answer's is that of a plan by rules: what a model would plan or look up
        depends on its replies, and what the web says on asking it. Empty where no model
        is set.

        Raises:
            NotFound: There is no such conversation, character or place in the story.
            StoreProblem: The library cannot be read.
        """
        voices = self._voices()
        if not isinstance(voices.avatar, ModelAvatar) or parse_canon_command(
            asking.text
        ):
            return ()
        begun = await self._begin(asking)
        shown = PreviewAvatar(voices.avatar)
        room = replace(
            self._room(begun, TurnModels(plan_without_model, shown)), outside=None
        )
        async with aclosing(run_turn(begun.question, begun.bible, room)) as events:
            async for _ in events:
                pass
        planning = voices.asked_first(begun.question, begun.bible)
        return (
            *(PromptPreview("planning", messages) for messages in planning),
            PromptPreview("answering", shown.messages),
        )

    async def ask(self, asking: TurnRequest) -> AsyncGenerator[TurnEvent]:
        """Yield what happens while a question is answered, and last `TurnDone`.

        Closing the generator stops the turn; what was said by then is kept, and
        `StoreProblem` is raised if it cannot be. A whole answer that cannot be kept is
        given all the same, with a remark. What begins with `canon:` is a decision of
        the writer's, and is written down as one.

        Raises:
            NotFound: There is no such conversation, character or place in the story;
                or nothing says what `canon:` defines.
            SettingsProblem: The file of the writer's decisions is broken.
            StoreProblem: The library cannot be read.
        """
        asked_at = self._now()
        begun = await self._begin(asking)
        thread = begun.before.id if begun.before else ThreadId(self._new_id())
        voices = self._voices()
        turn_recorder = TurnRecorder(begun.question, voices)
        turn = self._turn(begun, voices, turn_recorder)
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            stopped = self._taken(turn_recorder, asked_at)
            await asyncio.shield(self._put_away(thread, stopped))
            raise
        await self._check(begun, turn_recorder)
        await self._look_back(begun, turn_recorder)
        yield TurnDone(thread, await self._keep(thread, turn_recorder, asked_at))

    async def _turn(
        self, begun: _PendingTurn, voices: TurnModels, turn_recorder: TurnRecorder
    ) -> AsyncGenerator[TurnEvent]:
        """Yield what happens in a turn, and let `turn_recorder` take it in."""
        if canon := parse_canon_command(begun.question.text):
            yield await self._defined(begun, canon, turn_recorder)
            return
        room = self._room(begun, voices)
        async with aclosing(
            record_turn(begun.question, begun.bible, room, turn_recorder)
        ) as events:
            async for event in events:
                yield event

    async def _defined(
        self, begun: _PendingTurn, canon: CanonCommand, turn_recorder: TurnRecorder
    ) -> AnswerToken:
        """Write down what the writer defines, and say so."""
        newest = begun.turns[-1].output.gap_flags if begun.turns else ()
        decision = build_gap_answer(canon, begun.bible, newest)
        change = await asyncio.to_thread(self._decide, decision)
        turn_recorder.settle(format_gap_answer(decision, new=bool(change)))
        return AnswerToken(
            turn_recorder.output("").response_text, AnswerSpeaker.SUPERVISOR
        )

    def _room(self, begun: _PendingTurn, voices: TurnModels) -> TurnDependencies:
        seeker = voices.seeker

        def first(turn_question: TurnQuestion) -> Coroutine[None, None, SearchResult]:
            words = build_search_text(turn_question, begun.bible)
            return search(replace(turn_question, text=words))

        def search(asked: TurnQuestion) -> Coroutine[None, None, SearchResult]:
            return self._search(asked, begun.order)

        async def outside(
            question: TurnQuestion, plan: QuestionPlan, emit: TurnEventEmitter
        ) -> WebLookup:
            bible = await self._bible.read() if question.horizon else begun.bible
            return await _ask_the_web(question, plan, bible, self._web, emit)

        reader = ChapterReader(
            self._passages, self._pipeline, begun.order, begun.question.horizon
        )
        return TurnDependencies(
            plan=voices.plan,
            search=first,
            avatar=voices.avatar,
            notes=_notes(begun.order),
            seek=partial(_sought, seeker, search, reader) if seeker else None,
            outside=outside,
            wonder=voices.gaps.find if voices.gaps else None,
        )

    async def _begin(self, asking: TurnRequest) -> _PendingTurn:
        before = None
        if asking.thread is not None:
            before = await self._threads.thread(asking.thread)
        state = _state(asking, before.state if before else NarrativeState())
        order = await self._finder.story_order()
        turns = await self._threads.turns(before.id) if before else []
        question, bible = await self._question(asking.text, state, turns, order)
        return _PendingTurn(question, bible, order, before, turns)

    async def _check(self, begun: _PendingTurn, turn_recorder: TurnRecorder) -> None:
        """Have a model's answer say which names in it nobody can know yet.

        Quotes are of what is in sight.
        """
        made = turn_recorder.made
        if begun.question.horizon is None or made is None or not made.output.model:
            return
        later = await self._bible.read()
        text = made.output.response_text
        names = find_names_beyond_horizon(
            text, collect_bible_names(later), collect_bible_names(begun.bible)
        )
        if names:
            _remark(
                turn_recorder, f"Names from later in the story: {', '.join(names)}."
            )

    async def _look_back(
        self, begun: _PendingTurn, turn_recorder: TurnRecorder
    ) -> None:
        """Remark that the answer before this one rests on what was changed since."""
        places = await self._freshness.of_turns(begun.turns[-1:])
        for place in places.values():
            if remark := format_changed_answer_remark(place):
                _remark(turn_recorder, remark)

    async def _question(
        self,
        text: str,
        state: NarrativeState,
        turns: Sequence[Turn],
        order: StoryOrder,
    ) -> tuple[TurnQuestion, Bible]:
        horizon = await self._bible.horizon(state.as_of) if state.as_of else None
        bible = await self._bible.read(horizon)
        state = _resolve_names(state, bible)
        recalled = await recall_history(turns, horizon, order, self._freshness)
        question = TurnQuestion(
            text=text,
            mode=state.mode,
            character=state.character,
            horizon=horizon,
            witnessed=state.witnessed,
            history=recalled.history,
            before=recalled.before,
            outdated=recalled.outdated,
            state=state,
        )
        return question, bible

    async def _search(self, question: TurnQuestion, order: StoryOrder) -> SearchResult:
        request = SearchRequest(
            question=question.text,
            pipeline=self._pipeline,
            limit=self._limit,
            horizon=question.horizon,
        )
        return await self._finder.find(request, order)

    async def _keep(
        self, thread: ThreadId, turn_recorder: TurnRecorder, asked_at: float
    ) -> Turn:
        turn = self._taken(turn_recorder, asked_at)
        try:
            return await self._put_away(thread, turn)
        except StoreProblem as error:
            return _unkept(turn, error)

    async def _put_away(self, thread: ThreadId, turn: Turn) -> Turn:
        state = turn.output.narrative_state_delta
        kept = await self._threads.keep_turn(thread, _title(turn), turn, state)
        return replace(turn, number=kept.turns)

    def _taken(self, turn_recorder: TurnRecorder, asked_at: float) -> Turn:
        return _build_turn(TurnId(self._new_id()), turn_recorder, asked_at, self._price)


def _build_turn(
    turn: TurnId,
    turn_recorder: TurnRecorder,
    asked_at: float,
    price: Callable[[Usage, str], float | None],
) -> Turn:
    """Return what a turn came to, complete or stopped; its number is not known yet."""
    model, cost = turn_recorder.voices.avatar.model, turn_recorder.voices.cost
    paid = cost() if cost else None
    usage = turn_recorder.voices.taken()
    return Turn(
        id=turn,
        number=0,
        asked_at=asked_at,
        question=turn_recorder.question.text,
        output=turn_recorder.output(model),
        state=TurnState.COMPLETE if turn_recorder.made else TurnState.STOPPED,
        usage=usage,
        price=paid if cost else price(usage, model),
    )


async def _sought(
    seeker: LookupLoop,
    search: PassageSearcher,
    reader: ChapterReader,
    question: TurnQuestion,
    bible: Bible,
    result: RetrievalResult,
    emit: TurnEventEmitter,
) -> LookupResult:
    hands = BoundedLookupTools(question, bible, search, reader)
    return await seeker.seek(question, result, hands, emit)


def _state(asking: TurnRequest, before: NarrativeState) -> NarrativeState:
    character = before.character if asking.character is None else asking.character
    witnessed = before.witnessed if asking.witnessed is None else asking.witnessed
    as_of = before.as_of if asking.as_of is None else asking.as_of
    return replace(
        before,
        character=character,
        mode=asking.mode or before.mode,
        as_of=as_of,
        witnessed=witnessed,
    )


def _resolve_names(state: NarrativeState, bible: Bible) -> NarrativeState:
    """Return the state with the character's full name and only names that are known.

    Raises:
        NotFound: The character is not in the story, or none is chosen to answer.
    """
    if state.character:
        name = find_profile_by_name(state.character, bible).name
        state = replace(state, character=name)
    elif state.mode is AnswerMode.IN_CHARACTER:
        raise NotFound(
            "Nobody is chosen to answer in character",
            hint="Say who with `--character NAME`; `lrwr characters` lists them.",
        )
    return replace(state, entities=_known(state.entities, bible))


def _known(entities: tuple[str, ...], bible: Bible) -> tuple[str, ...]:
    """Leave out what has not come up yet where the question stands in the story."""
    people = {profile.name for profile in bible.characters}
    names = people | {element.name for element in bible.world}
    return tuple(entity for entity in entities if entity in names)


def _remark(turn_recorder: TurnRecorder, remark: str) -> None:
    """Add what is to be said of a whole answer."""
    if turn_recorder.made is not None:
        output = turn_recorder.made.output
        output = replace(output, remarks=(*output.remarks, remark))
        turn_recorder.made = replace(turn_recorder.made, output=output)


def _unkept(turn: Turn, error: StoreProblem) -> Turn:
    """Return a turn that could not be kept, and says so: its answer still counts."""
    remark = f"This turn is not kept. {error}"
    output = replace(turn.output, remarks=(*turn.output.remarks, remark))
    return replace(turn, output=output)


def _title(turn: Turn) -> str:
    line = " ".join(turn.question.split())
    return (
        line
        if len(line) <= MAX_THREAD_TITLE_CHARS
        else f"{line[: MAX_THREAD_TITLE_CHARS - 1].rstrip()}…"
    )


def _notes(order: StoryOrder) -> tuple[str, ...]:
    story = set(order.story)
    return tuple(
        outline.title
        for document, outline in order.outlines.items()
        if document not in story and outline.type is not DocumentType.SCENE
    )


async def _ask_the_web(
    question: TurnQuestion,
    plan: QuestionPlan,
    bible: Bible,
    web: WebSearch | None,
    emit: TurnEventEmitter,
) -> WebLookup:
    in_character = question.mode is AnswerMode.IN_CHARACTER
    return await look_up_web(
        question.text, plan, bible, web, emit, in_character=in_character
    )
