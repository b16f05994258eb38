"""The conversation: ask, read, follow it to the text."""

import asyncio
import gc
from collections import deque
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, assert_never, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Footer

from lrwr.app.presenters.answers import format_spending
from lrwr.app.presenters.text import format_count, sanitize_text
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.turns import (
    AnswerToken,
    GapFound,
    PassageCited,
    ThreadId,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
    WebPageCited,
)
from lrwr.tui.actions.table import ROOM_ACTIONS
from lrwr.tui.input.commands import list_commands
from lrwr.tui.queries.completions import fill_prompt_completions, fill_prompt_history
from lrwr.tui.queries.context import load_citation_contexts
from lrwr.tui.queries.turns import (
    Welcome,
    count_unread_files,
    load_stopped_turn,
    load_welcome,
    stream_answer,
)
from lrwr.tui.scope import ChatOptions, ChatScope
from lrwr.tui.widgets.header import RoomHeader
from lrwr.tui.widgets.prompt import PromptBox, PromptInputArea
from lrwr.tui.widgets.split_view import JUMP_BINDINGS, SplitView
from lrwr.tui.widgets.status import StatusLine
from lrwr.tui.widgets.transcript import Transcript
from lrwr.tui.widgets.turn import TurnView

if TYPE_CHECKING:
    from textual.worker import WorkType

    from lrwr.tui.app import WritingRoom

BREATH = 0.05
"""Seconds in which the first picture is drawn, before anything heavy is loaded."""

ANSWER = "the last answer"
"""What a turn that is stopped puts away."""

LEARNED = 100
"""Lines of what saves brought that are kept to be looked at."""


class ChatScreen(Screen[None]):
    """The writing room's own screen; all others lie on top of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in ROOM_ACTIONS),
        *JUMP_BINDINGS,
    ]
    sitting: reactive[ChatScope] = reactive(ChatScope)

    def __init__(self, opening: ChatOptions) -> None:
        super().__init__()
        self._opening = opening
        self._model = ""
        self._settled = self._stopping = False
        self._loaded, self.choosing = asyncio.Event(), asyncio.Lock()
        self.learned: deque[str] = deque(maxlen=LEARNED)

    @property
    def room(self) -> "WritingRoom":
        """The app that this screen belongs to."""
        return cast("WritingRoom", self.app)

    def compose(self) -> ComposeResult:
        """Lay out the room."""
        yield RoomHeader(self.sitting)
        yield SplitView(
            self.room.settings.screen.side,
            lambda cited: self.room.stage.do(
                lambda workspace: load_citation_contexts(workspace, cited)
            ),
            self.room.keymap,
        )
        yield PromptBox()
        yield Vertical(id="foot")  # for what is told once there is something to tell

    def on_mount(self) -> None:
        """Be ready to be asked, and load behind that."""
        self.query_one(PromptInputArea).focus()
        self.call_after_refresh(self._drawn)

    async def _drawn(self) -> None:
        """Go on once the first picture is drawn: what follows may take its time."""
        if not gc.isenabled():
            gc.freeze()  # none of what is there by now goes away before the room does
            gc.enable()
        footer = Footer(show_command_palette=False, compact=True)
        await self.query_one("#foot").mount(StatusLine(id="status"), footer)
        # once the keys are drawn: below what lies on them nothing is
        footer.call_after_refresh(self.set_timer, BREATH, self.load)

    def watch_sitting(self, sitting: ChatScope) -> None:
        """Say with whom the writer talks, and how far the story has come."""
        if self.is_mounted:
            self.query_one(RoomHeader).say(sitting)
            self.call_after_refresh(self._tell_spent)

    def _tell_spent(self) -> None:
        turns = self.query_one(Transcript).turns
        self.query_one(StatusLine).say(spent=format_spending(turns))

    @work(exclusive=True, group="load", exit_on_error=False)
    async def load(self) -> None:
        """Open the library, behind the first picture, or look at it anew."""
        from lrwr.tui.consent import ask_consent_on_screen

        status = self.query_one(StatusLine)
        status.say(model="opening the library …")
        try:
            await ask_consent_on_screen(self)
            found = await self.room.stage.do(
                lambda workspace: load_welcome(workspace, self._opening)
            )
            await self._settle(found)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.tell(error)
            status.say(model="")
        self._loaded.set()  # not if another look has taken this one's place

    async def _settle(self, found: Welcome) -> None:
        self._model = found.model
        status = self.query_one(StatusLine)
        status.say(
            model=found.model or "no model",
            leaving="leaves this machine: see Settings" if found.leaving else "",
        )
        for told in found.first_use:
            self.notify(sanitize_text(told), timeout=20, markup=False)
        if not self._settled and not self.query_one(Transcript).views:
            self.sitting = found.sitting
            await self._begin_with(found)
        self._settled = found.counts is not None
        self.run_worker(fill_prompt_history(self), group="past", exit_on_error=False)
        if found.counts is None:
            return
        if self._opening.watch:
            self.action_do("watch", "on")
        else:
            self._look()

    async def _begin_with(self, found: Welcome) -> None:
        desk = self.query_one(SplitView)
        if found.turns:
            await desk.show(found.turns)
        else:
            await desk.greet(_greeting(found))

    @work(exclusive=True, group="look", exit_on_error=False)
    async def _look(self) -> None:
        """Say whether what is known is what the files say."""
        try:
            unread = await self.room.stage.do(count_unread_files)
        except LrwrError:
            return  # what cannot be looked at is said where it is read
        told = (
            f"{format_count(unread, 'file')} touched since: Ctrl+L"
            if unread
            else "up to date"
        )
        self.query_one(StatusLine).say(index=told)

    @on(PromptInputArea.Sent)
    def _sent(self, event: PromptInputArea.Sent) -> None:
        self._answer(event.text)

    @on(PromptInputArea.Command)
    async def _commanded(self, event: PromptInputArea.Command) -> None:
        action = list_commands()[event.name]
        if action.deed:
            self.action_do(action.deed, event.words)
        else:
            await self.run_action(action.does)

    @on(PromptInputArea.Wanting)
    def _wanted(self) -> None:
        self.run_worker(
            fill_prompt_completions(self), group="known", exit_on_error=False
        )

    @work(exclusive=True, group="turn", exit_on_error=False)
    async def _answer(self, text: str) -> None:
        """Show one turn; another question, or Escape, stops it."""
        view: TurnView | None = None
        try:
            await self._loaded.wait()
            view = await self.query_one(SplitView).begin(text)
            await self._follow(text, view)
        finally:  # by now the answer is kept, whole or stopped
            for prompt in self.query(PromptInputArea):
                prompt.busy = False
            stopped, self._stopping = self._stopping, False
            if stopped and view is not None:
                self._take_up(text, view)

    async def _follow(self, text: str, view: TurnView) -> None:
        sitting = self.sitting
        turn = self.room.stage.follow(
            lambda workspace: stream_answer(workspace, sitting, text), keeps=ANSWER
        )
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    await self._show(event, view)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            told = self.room.told(error)
            await view.fail(str(told), told.hint)

    @work(exclusive=True, group="stopped", exit_on_error=False)
    async def _take_up(self, text: str, view: TurnView) -> None:
        """Show what was kept of an answer that was stopped."""
        sitting = self.sitting
        found = await self.room.stage.do(
            lambda workspace: load_stopped_turn(workspace, sitting, text)
        )
        if found is not None:
            await self._done(*found, view)

    async def _show(self, event: TurnEvent, view: TurnView) -> None:
        desk = self.query_one(SplitView)
        match event:
            case TurnStageStarted(_, text):
                view.step(text)
            case PassageCited(citation):
                await desk.found(view, citation)
            case WebPageCited(citation):
                await desk.found_page(view, citation)
            case GapFound():
                pass  # the answer ends with its gaps
            case AnswerToken(text, speaker):
                await view.write(
                    text, speaker, called=self.sitting.speaker, model=self._model
                )
            case TurnDone(thread, turn):
                await self._done(thread, turn, view)
            case _:
                assert_never(event)

    async def _done(self, thread: ThreadId, turn: Turn, view: TurnView) -> None:
        await self.query_one(SplitView).finish(view, turn)
        title = self.sitting.title or " ".join(turn.question.split())[:60]
        self.sitting = replace(self.sitting, thread=thread, title=title)
        self._tell_spent()

    def tell(self, error: Exception) -> None:
        """Say what went wrong and what to try, in a line."""
        told = self.room.told(error)
        self.notify(
            sanitize_text(f"{told}\n{told.hint}".strip()),
            severity="error",
            markup=False,
        )

    def action_do(self, name: str, words: str = "") -> None:
        """Do what is called so, see `deeds`; it takes the place only of its like."""
        doing: WorkType[None] = partial(self._do, name, words)
        group = f"deed {name}"
        self.run_worker(doing, group=group, exclusive=True, exit_on_error=False)

    async def _do(self, name: str, words: str) -> None:
        from lrwr.tui.actions.registry import find_action_handler

        try:
            await find_action_handler(name)(self, words)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self.tell(error)

    def action_jump(self, number: str) -> None:
        """Show the passage of that number."""
        self.query_one(SplitView).jump(number)

    async def action_stop(self) -> None:
        """Stop the answer that is under way."""
        running = [w for w in self.workers if w.group == "turn" and w.is_running]
        if running:
            self._stopping = True
            self.workers.cancel_group(self, "turn")
            for view in self.query_one(Transcript).views[-1:]:
                await view.stop()
        else:
            self.action_back()

    def action_side(self) -> None:
        """Show or hide the pane beside the conversation."""
        self.query_one(SplitView).toggle()

    def action_back(self) -> None:
        """Go back to the prompt."""
        self.query_one(SplitView).leave()
        self.query_one(PromptInputArea).focus()

    def action_type(self, text: str) -> None:
        """Go back to the prompt, and write there what was typed elsewhere."""
        self.action_back()
        self.query_one(PromptInputArea).insert(text)

    async def action_quit(self) -> None:
        """Leave."""
        self.app.exit()


def _greeting(found: Welcome) -> list[str]:
    if found.counts is None:
        return [
            "Nothing has been read here yet.",
            "Ctrl+L asks for the folder of your manuscript and reads it, on this"
            " machine. lrwr never writes into it.",
        ]
    lines = [
        f"{found.counts.documents:,} documents are read, {found.counts.words:,} words.",
        "Ask something: “Who is …?”, “What does … know of …?”, “Remind me of …”.",
    ]
    if not found.model:
        lines.append(
            "No language model: the text answers in its own words, each with its place."
            " `[model] use` in lrwr.toml adds one."
        )
    return lines
