"""The one owner of conversations: it reads, has the graph answer, and writes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace

from lrwr.core.bible.service import BibleService, character_called
from lrwr.core.bible.values import Bible
from lrwr.core.chat.avatars import ModelAvatar
from lrwr.core.chat.gathering import gather
from lrwr.core.chat.graph import TurnMade, run_turn
from lrwr.core.chat.history import fitting, within_horizon
from lrwr.core.chat.names import every_name
from lrwr.core.chat.nodes import Avatar, Room
from lrwr.core.chat.resolving import resolve
from lrwr.core.chat.rules_planner import plan_by_rules
from lrwr.core.chat.speaking import beyond_horizon
from lrwr.core.chat.state import Question
from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentType
from lrwr.core.model.errors import NotFound, StoreProblem
from lrwr.core.model.metering import Usage
from lrwr.core.model.turns import (
    Cited,
    Intent,
    Mode,
    NarrativeState,
    Plan,
    SupervisorOutput,
    Thread,
    ThreadId,
    Token,
    Turn,
    TurnDone,
    TurnEvent,
    TurnId,
    TurnState,
)
from lrwr.core.ports.chat_model import Message
from lrwr.core.ports.thread_store import ThreadStore
from lrwr.core.retrieval.search import PassageFinder, SearchRequest, SearchResult
from lrwr.core.retrieval.story import StoryOrder

TITLE = 60
"""Characters of a first question that a conversation is called by."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What the writer asks, and what they change: None goes on as before.

    `character` empty is nobody, `as_of` empty the whole story.
    """

    text: str
    thread: ThreadId | None = None
    character: str | None = None
    mode: Mode | None = None
    as_of: str | None = None
    witnessed: bool | None = None


@dataclass(frozen=True, slots=True)
class Voices:
    """Who plans and who answers in one turn; `taken` tells what a model was asked."""

    plan: Callable[[Question, Bible], Coroutine[None, None, Plan]]
    avatar: Avatar
    taken: Callable[[], Usage] = Usage


class AvatarSessionService:
    """Answers questions; each is one turn of a conversation, kept whole or stopped.

    `voices` makes those of one turn. `price` tells what a model's usage costs in US
    dollars, None where that is not known. `pipeline` and `limit` are how passages are
    searched. `now` tells seconds since 1970, `new_id` names what is new.
    """

    def __init__(
        self,
        *,
        bible: BibleService,
        finder: PassageFinder,
        threads: ThreadStore,
        voices: Callable[[], Voices],
        price: Callable[[Usage, str], float | None],
        pipeline: Pipeline,
        limit: int,
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._bible = bible
        self._finder = finder
        self._threads = threads
        self._voices = voices
        self._price = price
        self._pipeline = pipeline
        self._limit = limit
        self._now = now
        self._new_id = new_id

    @property
    def model(self) -> str:
        """Name the language model that answers; empty without one."""
        return self._voices().avatar.model

    async def prompt(self, asking: Asking) -> tuple[Message, ...]:
        """Return what a language model would be sent for the answer; keep nothing.

        Rules plan: no model is asked. Empty where no model is set.

        Raises:
            NotFound: There is no such conversation, character or place in the story.
            StoreProblem: The library cannot be read.
        """
        avatar = self._voices().avatar
        if not isinstance(avatar, ModelAvatar):
            return ()
        before = await self._before(asking)
        state = _state(asking, before.state if before else NarrativeState())
        order = await self._finder.story_order()
        question, bible = await self._question(asking.text, state, before, order)
        plan = plan_by_rules(question, bible)
        found = await self._search(question, order)
        resolved = resolve(plan, bible, _notes(order))
        result = gather(question, plan, resolved, bible, found)
        return (await avatar.prompt(question, plan, result)).messages

    async def ask(self, asking: Asking) -> AsyncGenerator[TurnEvent]:
        """Yield what happens while a question is answered, and last `TurnDone`.

        Closing the generator stops the turn; what was said by then is kept. An answer
        that cannot be kept is given all the same, with a remark.

        Raises:
            NotFound: There is no such conversation, character or place in the story.
            StoreProblem: The library cannot be read.
        """
        asked_at = self._now()
        before = await self._before(asking)
        state = _state(asking, before.state if before else NarrativeState())
        order = await self._finder.story_order()
        question, bible = await self._question(asking.text, state, before, order)
        thread = before.id if before else ThreadId(self._new_id())
        voices = self._voices()
        said = _Said(question, voices)
        room = Room(
            plan=voices.plan,
            search=lambda asked: self._search(asked, order),
            avatar=voices.avatar,
            notes=_notes(order),
        )
        try:
            async with aclosing(_heard(question, bible, room, said)) as events:
                async for event in events:
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            await asyncio.shield(self._keep(thread, said, asked_at))
            raise
        await self._check(question, bible, said)
        yield TurnDone(thread, await self._keep(thread, said, asked_at))

    async def _check(self, question: Question, bible: Bible, said: "_Said") -> None:
        """Have a finished answer say which names in it nobody can know yet."""
        if question.horizon is None or said.made is None:
            return
        later = await self._bible.read()
        text = said.made.output.response_text
        names = beyond_horizon(text, every_name(later), every_name(bible))
        if names:
            output = said.made.output
            told = f"Names from later in the story: {', '.join(names)}."
            output = replace(output, remarks=(*output.remarks, told))
            said.made = replace(said.made, output=output)

    async def _before(self, asking: Asking) -> Thread | None:
        if asking.thread is None:
            return None
        return await self._threads.thread(asking.thread)

    async def _question(
        self, text: str, state: NarrativeState, thread: Thread | None, order: StoryOrder
    ) -> tuple[Question, Bible]:
        horizon = await self._bible.horizon(state.as_of) if state.as_of else None
        bible = await self._bible.read(horizon)
        if state.character:
            name = character_called(state.character, bible).name
            state = replace(state, character=name)
        elif state.mode is Mode.IN_CHARACTER:
            raise NotFound(
                "Nobody is chosen to answer in character",
                hint="Say who with `--character NAME`; `lrwr characters` lists them.",
            )
        state = replace(state, entities=_known(state.entities, bible))
        turns = await self._threads.turns(thread.id) if thread else []
        history, before = fitting(within_horizon(turns, horizon, order))
        question = Question(
            text=text,
            mode=state.mode,
            character=state.character,
            horizon=horizon,
            witnessed=state.witnessed,
            history=history,
            before=before,
            state=state,
        )
        return question, bible

    async def _search(self, question: Question, order: StoryOrder) -> SearchResult:
        request = SearchRequest(
            question=question.text,
            pipeline=self._pipeline,
            limit=self._limit,
            horizon=question.horizon,
        )
        return await self._finder.find(request, order)

    async def _keep(self, thread: ThreadId, said: "_Said", asked_at: float) -> Turn:
        model, usage = said.voices.avatar.model, said.voices.taken()
        turn = Turn(
            id=TurnId(self._new_id()),
            number=0,
            asked_at=asked_at,
            question=said.question.text,
            output=said.output(model),
            state=TurnState.COMPLETE if said.made else TurnState.STOPPED,
            usage=usage,
            price=self._price(usage, model),
        )
        state = turn.output.narrative_state_delta
        try:
            kept = await self._threads.keep_turn(thread, _title(turn), turn, state)
        except StoreProblem as error:
            return _unkept(turn, error)
        return replace(turn, number=kept.turns)


class _Said:
    """What has come of a turn so far."""

    def __init__(self, question: Question, voices: Voices) -> None:
        self.question = question
        self.voices = voices
        self.made: TurnMade | None = None
        self._pieces: list[str] = []
        self._cited: list[Cited] = []

    def hear(self, event: TurnEvent) -> None:
        """Take in what the graph lets others see."""
        match event:
            case Token():
                self._pieces.append(event.text)
            case Cited():
                self._cited.append(event)
            case _:
                pass

    def output(self, model: str) -> SupervisorOutput:
        """Return the whole answer, or of a stopped one what had come."""
        if self.made is not None:
            return self.made.output
        return SupervisorOutput(
            response_text="".join(self._pieces),
            intent=Intent.ANALYTICAL,
            resolved_characters=(),
            citations=tuple(event.citation for event in self._cited),
            gap_flags=(),
            narrative_state_delta=self.question.state,
            remarks=("Stopped before it was whole.",),
            model=model,
        )


async def _heard(
    question: Question, bible: Bible, room: Room, said: _Said
) -> AsyncGenerator[TurnEvent]:
    """Run a turn, and let `said` take in what comes of it."""
    async with aclosing(run_turn(question, bible, room)) as events:
        async for event in events:
            if isinstance(event, TurnMade):
                said.made = event
            else:
                said.hear(event)
                yield event


def _state(asking: Asking, before: NarrativeState) -> NarrativeState:
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


def _known(entities: tuple[str, ...], bible: Bible) -> tuple[str, ...]:
    """Leave out what has not come up yet where the question stands in the story."""
    people = {profile.name for profile in bible.characters}
    names = people | {element.name for element in bible.world}
    return tuple(entity for entity in entities if entity in names)


def _unkept(turn: Turn, error: StoreProblem) -> Turn:
    """Return a turn that could not be kept, and says so: its answer still counts."""
    remark = f"This turn is not kept. {error}"
    output = replace(turn.output, remarks=(*turn.output.remarks, remark))
    return replace(turn, output=output)


def _title(turn: Turn) -> str:
    line = " ".join(turn.question.split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1].rstrip()}…"


def _notes(order: StoryOrder) -> tuple[str, ...]:
    story = set(order.story)
    return tuple(
        outline.title
        for document, outline in order.outlines.items()
        if document not in story and outline.type is not DocumentType.SCENE
    )
