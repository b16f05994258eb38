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
from lrwr.core.chat.context.tool_loop import (
    BoundedLookupTools,
    LookupLoop,
    LookupResult,
    PassageSearcher,
)
from lrwr.core.chat.generation.avatars import ModelAvatar
from lrwr.core.chat.generation.prompts import find_names_beyond_horizon
from lrwr.core.chat.graph import (
    PreviewAvatar,
    PromptPreview,
    TurnModels,
    TurnRecorder,
    plan_without_model,
    record_turn,
    run_turn,
)
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
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.language_model import Usage
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
from lrwr.core.ports.sources import WebSearch
from lrwr.core.ports.stores import PassageStore, ThreadStore
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.service import PassageFinder, SearchRequest, SearchResult
from lrwr.core.retrieval.story import ChapterReader, StoryOrder
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

    `make_turn_models` creates the models of one turn. `price` returns what a model's
    usage costs in US dollars, None where that is not known. `decide` saves a decision of
    the writer. `web` searches search_web of the book, None where it is off. `pipeline` and
    `limit` say how passages are searched. `now` returns seconds since 1970, `new_id` a
    new id.
    """

    def __init__(
        self,
        *,
        bible: BibleService,
        finder: PassageFinder,
        passages: PassageStore,
        threads: ThreadStore,
        make_turn_models: Callable[[], TurnModels],
        price: Callable[[Usage, str], float | None],
        decide: Callable[[Decision], CanonChange],
        web: WebSearch | None,
        pipeline: Pipeline,
        limit: int,
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._bible, self._finder = bible, finder
        self._passages = passages
        self._freshness = FreshnessService(passages)
        self._threads = threads
        self._make_turn_models = make_turn_models
        self._price, self._decide, self._web = price, decide, web
        self._pipeline, self._limit = pipeline, limit
        self._now, self._new_id = now, new_id

    @property
    def model(self) -> str:
        """Name the language model that answers; empty without one."""
        return self._make_turn_models().avatar.model

    async def prompt(self, turn_request: TurnRequest) -> tuple[PromptPreview, ...]:
        """Return what language models would be sent for a turn; send and keep nothing.

        The answer's is that of a plan by rules: what a model would plan or look up
        depends on its replies, and what the web says on asking it. Empty where no model
        is set.

        Raises:
            NotFound: There is no such conversation, character or place in the story.
            StoreProblem: The library cannot be read.
        """
        turn_models = self._make_turn_models()
        if not isinstance(turn_models.avatar, ModelAvatar) or parse_canon_command(
            turn_request.text
        ):
            return ()
        pending = await self._prepare_turn(turn_request)
        preview_avatar = PreviewAvatar(turn_models.avatar)
        dependencies = replace(
            self._build_dependencies(
                pending, TurnModels(plan_without_model, preview_avatar)
            ),
            search_web=None,
        )
        turn = run_turn(pending.question, pending.bible, dependencies)
        async with aclosing(turn) as events:
            async for _ in events:
                pass
        planning = turn_models.build_planner_prompts(pending.question, pending.bible)
        return (
            *(PromptPreview("planning", messages) for messages in planning),
            PromptPreview("answering", preview_avatar.messages),
        )

    async def ask(self, turn_request: TurnRequest) -> AsyncGenerator[TurnEvent]:
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
        pending = await self._prepare_turn(turn_request)
        thread = pending.before.id if pending.before else ThreadId(self._new_id())
        turn_models = self._make_turn_models()
        turn_recorder = TurnRecorder(pending.question, turn_models)
        turn = self._run_turn(pending, turn_models, turn_recorder)
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            stopped = self._build_turn_record(turn_recorder, asked_at)
            await asyncio.shield(self._store_turn(thread, stopped))
            raise
        await self._warn_about_later_names(pending, turn_recorder)
        await self._warn_about_changed_passages(pending, turn_recorder)
        yield TurnDone(thread, await self._save_turn(thread, turn_recorder, asked_at))

    async def _run_turn(
        self,
        pending: _PendingTurn,
        turn_models: TurnModels,
        turn_recorder: TurnRecorder,
    ) -> AsyncGenerator[TurnEvent]:
        """Yield what happens in a turn, and let `turn_recorder` take it in."""
        if canon := parse_canon_command(pending.question.text):
            yield await self._save_decision(pending, canon, turn_recorder)
            return
        dependencies = self._build_dependencies(pending, turn_models)
        async with aclosing(
            record_turn(pending.question, pending.bible, dependencies, turn_recorder)
        ) as events:
            async for event in events:
                yield event

    async def _save_decision(
        self, pending: _PendingTurn, canon: CanonCommand, turn_recorder: TurnRecorder
    ) -> AnswerToken:
        """Write down what the writer defines, and say so."""
        newest = pending.turns[-1].output.gap_flags if pending.turns else ()
        decision = build_gap_answer(canon, pending.bible, newest)
        change = await asyncio.to_thread(self._decide, decision)
        turn_recorder.record_direct_answer(
            format_gap_answer(decision, new=bool(change))
        )
        return AnswerToken(
            turn_recorder.output("").response_text, AnswerSpeaker.SUPERVISOR
        )

    def _build_dependencies(
        self, pending: _PendingTurn, turn_models: TurnModels
    ) -> TurnDependencies:
        lookup_loop = turn_models.lookup_loop

        def first(turn_question: TurnQuestion) -> Coroutine[None, None, SearchResult]:
            words = build_search_text(turn_question, pending.bible)
            return search(replace(turn_question, text=words))

        def search(turn_question: TurnQuestion) -> Coroutine[None, None, SearchResult]:
            return self._search(turn_question, pending.order)

        async def search_web(
            question: TurnQuestion, plan: QuestionPlan, emit: TurnEventEmitter
        ) -> WebLookup:
            bible = await self._bible.read() if question.horizon else pending.bible
            return await _look_up_web_for(question, plan, bible, self._web, emit)

        reader = ChapterReader(
            self._passages, self._pipeline, pending.order, pending.question.horizon
        )
        return TurnDependencies(
            plan=turn_models.plan,
            search=first,
            avatar=turn_models.avatar,
            notes=_list_note_titles(pending.order),
            look_up=partial(_run_lookup_loop, lookup_loop, search, reader)
            if lookup_loop
            else None,
            search_web=search_web,
            find_gaps=turn_models.gaps.find if turn_models.gaps else None,
        )

    async def _prepare_turn(self, turn_request: TurnRequest) -> _PendingTurn:
        before = None
        if turn_request.thread is not None:
            before = await self._threads.thread(turn_request.thread)
        state = _apply_request(
            turn_request, before.state if before else NarrativeState()
        )
        order = await self._finder.story_order()
        turns = await self._threads.turns(before.id) if before else []
        question, bible = await self._build_question(
            turn_request.text, state, turns, order
        )
        return _PendingTurn(question, bible, order, before, turns)

    async def _warn_about_later_names(
        self, pending: _PendingTurn, turn_recorder: TurnRecorder
    ) -> None:
        """Have a model's answer say which names in it nobody can know yet.

        Quotes are of what is in sight.
        """
        turn = turn_recorder.result
        if pending.question.horizon is None or turn is None or not turn.output.model:
            return
        later = await self._bible.read()
        text = turn.output.response_text
        names = find_names_beyond_horizon(
            text, collect_bible_names(later), collect_bible_names(pending.bible)
        )
        if names:
            _add_remark(
                turn_recorder, f"Names from later in the story: {', '.join(names)}."
            )

    async def _warn_about_changed_passages(
        self, pending: _PendingTurn, turn_recorder: TurnRecorder
    ) -> None:
        """Remark that the answer before this one rests on what was changed since."""
        places = await self._freshness.anchor_turns(pending.turns[-1:])
        for place in places.values():
            if remark := format_changed_answer_remark(place):
                _add_remark(turn_recorder, remark)

    async def _build_question(
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

    async def _save_turn(
        self, thread: ThreadId, turn_recorder: TurnRecorder, asked_at: float
    ) -> Turn:
        turn = self._build_turn_record(turn_recorder, asked_at)
        try:
            return await self._store_turn(thread, turn)
        except StoreProblem as error:
            return _mark_unsaved(turn, error)

    async def _store_turn(self, thread: ThreadId, turn: Turn) -> Turn:
        state = turn.output.narrative_state_delta
        thread_summary = await self._threads.save_turn(
            thread, _build_title(turn), turn, state
        )
        return replace(turn, number=thread_summary.turns)

    def _build_turn_record(self, turn_recorder: TurnRecorder, asked_at: float) -> Turn:
        return _build_turn(TurnId(self._new_id()), turn_recorder, asked_at, self._price)


def _build_turn(
    turn: TurnId,
    turn_recorder: TurnRecorder,
    asked_at: float,
    price: Callable[[Usage, str], float | None],
) -> Turn:
    """Return what a turn came to, complete or stopped; its number is not known yet."""
    model, cost = turn_recorder.turn_models.avatar.model, turn_recorder.turn_models.cost
    paid = cost() if cost else None
    usage = turn_recorder.turn_models.take_usage()
    return Turn(
        id=turn,
        number=0,
        asked_at=asked_at,
        question=turn_recorder.question.text,
        output=turn_recorder.output(model),
        state=TurnState.COMPLETE if turn_recorder.result else TurnState.STOPPED,
        usage=usage,
        price=paid if cost else price(usage, model),
    )


async def _run_lookup_loop(
    lookup_loop: LookupLoop,
    search: PassageSearcher,
    reader: ChapterReader,
    question: TurnQuestion,
    bible: Bible,
    result: RetrievalResult,
    emit: TurnEventEmitter,
) -> LookupResult:
    lookup_tools = BoundedLookupTools(question, bible, search, reader)
    return await lookup_loop.look_up(question, result, lookup_tools, emit)


def _apply_request(turn_request: TurnRequest, before: NarrativeState) -> NarrativeState:
    character = (
        before.character if turn_request.character is None else turn_request.character
    )
    witnessed = (
        before.witnessed if turn_request.witnessed is None else turn_request.witnessed
    )
    as_of = before.as_of if turn_request.as_of is None else turn_request.as_of
    return replace(
        before,
        character=character,
        mode=turn_request.mode or before.mode,
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
            "No character is selected to answer",
            hint="Select one with `--character NAME`; `lrwr characters` lists them.",
        )
    return replace(state, entities=_drop_unknown_entities(state.entities, bible))


def _drop_unknown_entities(entities: tuple[str, ...], bible: Bible) -> tuple[str, ...]:
    """Leave out what has not come up yet where the question stands in the story."""
    people = {profile.name for profile in bible.characters}
    names = people | {element.name for element in bible.world}
    return tuple(entity for entity in entities if entity in names)


def _add_remark(turn_recorder: TurnRecorder, remark: str) -> None:
    """Add what is to be said of a whole answer."""
    if turn_recorder.result is not None:
        output = turn_recorder.result.output
        output = replace(output, remarks=(*output.remarks, remark))
        turn_recorder.result = replace(turn_recorder.result, output=output)


def _mark_unsaved(turn: Turn, error: StoreProblem) -> Turn:
    """Return a turn that could not be kept, and says so: its answer still counts."""
    remark = f"This turn was not saved. {error}"
    output = replace(turn.output, remarks=(*turn.output.remarks, remark))
    return replace(turn, output=output)


def _build_title(turn: Turn) -> str:
    line = " ".join(turn.question.split())
    return (
        line
        if len(line) <= MAX_THREAD_TITLE_CHARS
        else f"{line[: MAX_THREAD_TITLE_CHARS - 1].rstrip()}…"
    )


def _list_note_titles(order: StoryOrder) -> tuple[str, ...]:
    story = set(order.story)
    return tuple(
        outline.title
        for document, outline in order.outlines.items()
        if document not in story and outline.type is not DocumentType.SCENE
    )


async def _look_up_web_for(
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
