"""Answers questions in threads (saved conversations); stores each answer as a turn."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from lrwr.core.attribution.quotations import count_quotations
from lrwr.core.bible.gaps import (
    CanonCommand,
    build_gap_answer,
    format_gap_answer,
    parse_canon_command,
)
from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.name_lookup import (
    collect_bible_names,
    list_cast_forms,
    list_forms_of_known,
    list_narrators,
)
from lrwr.core.bible.service import BibleService, find_profile_by_name
from lrwr.core.bible.values import Bible
from lrwr.core.canon.decision import CanonChange, Decision
from lrwr.core.chat.context.lookups import BoundedLookupTools
from lrwr.core.chat.extractive.question_parts import (
    describe_question_chapters,
    find_question_horizon,
)
from lrwr.core.chat.generation.avatars import ModelAvatar, TurnCompanion
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
from lrwr.core.chat.history import (
    describe_later_names,
    format_changed_answer_remark,
    recall_history,
)
from lrwr.core.chat.nodes import (
    TurnBibleReader,
    TurnDependencies,
    TurnEventEmitter,
)
from lrwr.core.chat.planning.rules import build_search_text
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.choices import AnswerMode, Pipeline
from lrwr.core.model.documents import DocumentType, Horizon
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import build_title
from lrwr.core.model.turns import (
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
)
from lrwr.core.ports.sources import WebSearch
from lrwr.core.ports.stores import PassageStore
from lrwr.core.ports.threads import ThreadStore
from lrwr.core.retrieval.freshness import FreshnessService
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.service import PassageFinder
from lrwr.core.retrieval.story import ChapterReader, StoryOrder
from lrwr.core.web.search import WebLookup, look_up_web


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A question, `text`, and changes of its thread's state; None leaves a value
    unchanged.

    `thread` is the id of the thread to continue; None creates a new one. `character` is
    a name; empty selects nobody. `as_of` is a horizon as the user types it, empty for
    the whole story. `witnessed` limits the character to what they witnessed or were
    told.
    """

    text: str
    thread: ThreadId | None = None
    character: str | None = None
    mode: AnswerMode | None = None
    as_of: str | None = None
    witnessed: bool | None = None


@dataclass(frozen=True, slots=True)
class _PendingTurn:
    """A turn that is ready to run; `before` is its thread, None for a new one.

    `bible` has the names up to the question's horizon, nothing else. `remark` says if
    the question itself sets that horizon.
    """

    question: TurnQuestion
    bible: Bible
    order: StoryOrder
    before: Thread | None
    turns: Sequence[Turn]
    remark: str = ""


class AvatarSessionService:
    """Answers questions and stores each as a turn of a thread, complete or stopped.

    `make_turn_models` creates the models of one turn. `price` returns the price in US
    dollars of a usage of the named model, None if unknown. `decide` saves a decision of
    the user. `web` is None if web search is off. Passages of `pipeline` are searched,
    `limit` at most for each question. `now` returns seconds since 1970, UTC; `new_id`
    returns a unique id. With a language model, a `companion` answers all questions that
    are not put to a character.
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
        companion: TurnCompanion | None = None,
    ) -> None:
        self._bible, self._finder = bible, finder
        self._passages, self._freshness = passages, FreshnessService(passages)
        self._threads, self._companion = threads, companion
        self._make_turn_models = make_turn_models
        self._price, self._decide, self._web = price, decide, web
        self._pipeline, self._limit = pipeline, limit
        self._now, self._new_id = now, new_id

    @property
    def model(self) -> str:
        """The name of the language model that answers; empty without one."""
        return self._make_turn_models().avatar.model

    async def prompt(self, turn_request: TurnRequest) -> tuple[PromptPreview, ...]:
        """Return the prompts that `ask` would send, without sending or storing
        anything.

        The answer's prompt is built from a plan by rules and without look-ups and web
        search, because these depend on replies. Empty without a language model, and for
        a `canon:` command.

        Raises:
            NotFound: There is no such thread, character or point of the story.
            StoreProblem: The library cannot be read.
        """
        turn_models = self._make_turn_models()
        if not isinstance(turn_models.avatar, ModelAvatar) or parse_canon_command(
            turn_request.text
        ):
            return ()
        pending = await self._prepare_turn(turn_request)
        if self._companion is not None and not pending.question.character:
            messages = self._companion.preview(pending.question, turn_models.avatar)
            return (PromptPreview("planning", messages),)
        preview_avatar = PreviewAvatar(turn_models.avatar)
        dependencies = replace(
            self._build_dependencies(
                pending,
                TurnModels(
                    plan_without_model,
                    preview_avatar,
                    max_lookups=turn_models.max_lookups,
                ),
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
        """Answer a question and yield events as they happen, `TurnDone` last.

        A text that begins with `canon:` is saved as a decision instead. Closing the
        generator stops the turn and stores the part of the answer that exists;
        `StoreProblem` is raised if that fails. If a complete turn cannot be stored, it
        is returned with a remark that says so.

        Raises:
            NotFound: There is no such thread, character or point of the story, or it is
                unclear what a `canon:` statement defines.
            SettingsProblem: The canon file is invalid.
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
        turn_recorder.add_remark(pending.remark)
        remark = await self._describe_later_names(pending, turn_recorder)
        turn_recorder.add_remark(remark)
        await self._warn_about_changed_passages(pending, turn_recorder)
        yield TurnDone(thread, await self._save_turn(thread, turn_recorder, asked_at))

    async def _describe_later_names(
        self, pending: _PendingTurn, turn_recorder: TurnRecorder
    ) -> str:
        turn, horizon = turn_recorder.result, pending.question.horizon
        # A reader must not learn from a remark which names come later.
        if self._companion or not horizon or turn is None or not turn.output.model:
            return ""
        whole = await self._bible.names()
        known = collect_bible_names(pending.bible)
        names = find_names_beyond_horizon(
            turn.output.response_text,
            collect_bible_names(whole),
            known | list_forms_of_known(whole, known),
        )
        return await describe_later_names(names, self._passages, pending.order, horizon)

    async def _run_turn(
        self,
        pending: _PendingTurn,
        turn_models: TurnModels,
        turn_recorder: TurnRecorder,
    ) -> AsyncGenerator[TurnEvent]:
        """Yield the events of a turn and record them."""
        if canon := parse_canon_command(pending.question.text):
            yield await self._save_decision(pending, canon, turn_recorder)
            return
        question, avatar, companion = pending.question, turn_models.avatar, None
        dependencies = self._build_dependencies(pending, turn_models)
        chosen = None if question.character else self._companion
        if chosen is not None and isinstance(avatar, ModelAvatar):
            companion = partial(chosen.answer, avatar)
        turn = record_turn(
            question, pending.bible, dependencies, turn_recorder, companion
        )
        async with aclosing(turn) as events:
            async for event in events:
                yield event

    async def _save_decision(
        self, pending: _PendingTurn, canon: CanonCommand, turn_recorder: TurnRecorder
    ) -> AnswerToken:
        """Save what the user defines and return the answer that confirms it."""
        newest = pending.turns[-1].output.gap_flags if pending.turns else ()
        bible = await self._bible.read_parts(BibleParts(), pending.question.horizon)
        decision = build_gap_answer(canon, bible, newest)
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
        def first(turn_question: TurnQuestion) -> Coroutine[None, None, SearchResult]:
            words = build_search_text(turn_question, pending.bible)
            return search(replace(turn_question, text=words))

        def search(turn_question: TurnQuestion) -> Coroutine[None, None, SearchResult]:
            return self._search(turn_question, pending.order)

        reader = ChapterReader(
            self._passages, self._pipeline, pending.order, pending.question.horizon
        )
        return TurnDependencies(
            plan=turn_models.plan,
            search=first,
            avatar=turn_models.avatar,
            read_parts=TurnBibleReader(
                partial(self._bible.read_parts, horizon=pending.question.horizon),
                pending.order,
            ),
            notes=_list_note_titles(pending.order),
            lookup_tools=partial(BoundedLookupTools, search=search, reader=reader),
            max_lookups=turn_models.max_lookups,
            has_outline=isinstance(turn_models.avatar, ModelAvatar | PreviewAvatar),
            search_web=partial(_look_up_web_for, self._bible, self._web),
            find_gaps=turn_models.gaps.find if turn_models.gaps else None,
        )

    async def _prepare_turn(self, turn_request: TurnRequest) -> _PendingTurn:
        before = None
        if turn_request.thread is not None:
            before = await self._threads.thread(turn_request.thread)
        state = _apply_request(
            turn_request, before.state if before else NarrativeState()
        )
        order = await self._bible.story_order()
        turns = await self._threads.turns(before.id) if before else []
        text = turn_request.text
        limit = await self._bible.horizon(state.as_of) if state.as_of else None
        horizon = limit
        if parse_canon_command(text) is None:
            horizon = find_question_horizon(text, limit, order)
        question, bible = await _build_question(
            text, state, horizon, turns, order, self._bible, self._freshness
        )
        remark = describe_question_chapters(text, order, horizon, limit)
        remark = "" if self._companion and limit else remark
        return _PendingTurn(question, bible, order, before, turns, remark)

    async def _warn_about_changed_passages(
        self, pending: _PendingTurn, turn_recorder: TurnRecorder
    ) -> None:
        """Add a remark if the previous answer cites passages that have changed since."""
        places = await self._freshness.anchor_turns(pending.turns[-1:])
        for place in places.values():
            if remark := format_changed_answer_remark(place):
                turn_recorder.add_remark(remark)

    async def _search(self, question: TurnQuestion, order: StoryOrder) -> SearchResult:
        request = SearchRequest(
            question.text, self._pipeline, self._limit, horizon=question.horizon
        )
        result = await self._finder.find(request, order)
        return self._companion.add_selection(result) if self._companion else result

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
            thread, build_title(turn.question), turn, state
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
    """Return the turn as it will be stored; the store assigns its number."""
    model, cost = turn_recorder.turn_models.avatar.model, turn_recorder.turn_models.cost
    paid = cost() if cost else None
    usage = turn_recorder.turn_models.take_usage()
    output = replace(
        turn_recorder.output(model),
        steps=tuple(turn_recorder.steps),
        calls=turn_recorder.turn_models.take_calls(),
    )
    if output.model:
        quoted, found = count_quotations(output.response_text, output.citations)
        usage += Usage(quotes=quoted, verified=found)
    return Turn(
        id=turn,
        number=0,
        asked_at=asked_at,
        question=turn_recorder.question.text,
        output=output,
        state=turn_recorder.state,
        usage=usage,
        price=paid if cost else price(usage, model),
    )


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
    """Replace the character by their full name and drop entities that are not known.

    Raises:
        NotFound: The character is not in the story, or none is selected to answer.
    """
    if state.character:
        name = find_profile_by_name(state.character, bible).name
        state = replace(state, character=name)
    elif state.mode is AnswerMode.IN_CHARACTER:
        raise NotFound(
            "No character is chosen to answer",
            hint="Choose one with `--character NAME`; `lrwr characters` lists them.",
        )
    names = {profile.name for profile in bible.characters}
    names |= {element.name for element in bible.world}
    return replace(state, entities=tuple(e for e in state.entities if e in names))


def _mark_unsaved(turn: Turn, error: StoreProblem) -> Turn:
    """Return the turn with a remark that it could not be saved."""
    remark = f"This turn was not saved. {error}"
    output = replace(turn.output, remarks=(*turn.output.remarks, remark))
    return replace(turn, output=output)


def _list_note_titles(order: StoryOrder) -> tuple[str, ...]:
    story = set(order.story)
    return tuple(
        outline.title
        for document, outline in order.outlines.items()
        if document not in story and outline.type is not DocumentType.SCENE
    )


async def _look_up_web_for(
    bible_service: BibleService,
    web: WebSearch | None,
    question: TurnQuestion,
    plan: QuestionPlan,
    emit: TurnEventEmitter,
) -> WebLookup:
    in_character = question.mode is AnswerMode.IN_CHARACTER
    bible = await bible_service.read()  # what occurs later is a name of the story, too
    return await look_up_web(
        question.text, plan, bible, web, emit, in_character=in_character
    )


async def _build_question(
    text: str,
    state: NarrativeState,
    horizon: Horizon | None,
    turns: Sequence[Turn],
    order: StoryOrder,
    bible_service: BibleService,
    freshness: FreshnessService,
) -> tuple[TurnQuestion, Bible]:
    bible = await bible_service.names(horizon)
    state = _resolve_names(state, bible)
    recalled = await recall_history(turns, horizon, order, freshness)
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
        cast=list_cast_forms(bible),
        narrators=list_narrators(bible),
    )
    return question, bible
