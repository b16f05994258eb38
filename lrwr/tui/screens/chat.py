"""The chat screen: prompt, transcript, sources and status line."""

import asyncio
import gc
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from lrwr.core.settings.library import resolve_library
from lrwr.tui.actions.keys_and_commands import ROOM_ACTIONS
from lrwr.tui.input.prompt import CompletionContext, list_commands
from lrwr.tui.room import IngestStatus, RoomScreen, take_unsent_question
from lrwr.tui.scope import ChatOptions, ChatScope
from lrwr.tui.widgets.prompt import PromptBox, PromptInputArea
from lrwr.tui.widgets.status import KeyFooter, RoomHeader, StatusLine

if TYPE_CHECKING:
    from textual.worker import WorkType

    from lrwr.core.model.turns import Citation
    from lrwr.tui.controller import ChatController
    from lrwr.tui.queries.passages import CitationContext
    from lrwr.tui.widgets.split_view import SplitView
    from lrwr.tui.widgets.turn import TurnView

LOAD_DELAY = 0.05
"""Seconds between the first frame and the first heavy import."""

COLLECTOR_THRESHOLDS = 2_000, 20, 1_000_000
"""Thresholds of the three generations of the garbage collector. The oldest generation has
every object of the story, and a collection of it takes 0.2 s with a long novel: it
runs only while nobody types."""

IDLE_SECONDS = 5.0
"""Seconds without a key after which old objects may be collected."""

TRANSCRIPT_STYLES = Path(__file__).parents[1] / "transcript.tcss"
"""Styles of what is mounted after the first frame."""

JUMP_BINDINGS = tuple(
    Binding(
        f"alt+{n}",
        f"jump('{n}')",
        f"Passage {n}",
        show=False,
        id=f"room.jump.{n}",
        tooltip="Show the passage of that number",
        priority=True,
    )
    for n in range(1, 10)
)
"""Keys that show a passage, independent of the focus."""

OPENS_SCREEN = frozenset(
    {
        "help", "palette", "characters", "horizon", "threads", "gaps", "people", "world",
        "timeline", "search", "check", "diff", "posts", "drafts", "review", "relations",
        "quotes", "recap", "reader", "read_passage", "library", "settings", "rename",
        "export",
    }
)  # fmt: skip
"""Actions that open a screen, for which the keys pressed after them are meant."""

QUESTION_WAITS = "Your question is asked as soon as the library is open."


class ChatScreen(RoomScreen):
    """The main screen with prompt and answers; all other screens open over it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in ROOM_ACTIONS),
        *JUMP_BINDINGS,
    ]

    def __init__(self, options: ChatOptions) -> None:
        super().__init__()
        self._options = options
        self._is_stopping = False
        self._loaded = asyncio.Event()
        self._controller: ChatController | None = None
        self._import_lock = asyncio.Lock()
        self._split_view: SplitView | None = None
        self._is_complete = asyncio.Event()

    def compose(self) -> ComposeResult:
        """Lay out header and prompt; the rest is mounted after the first frame."""
        yield RoomHeader(self.scope)
        yield Vertical(id="content")
        yield PromptBox()
        yield Vertical(id="foot")

    def on_mount(self) -> None:
        """Focus the prompt; everything else is loaded after the first frame."""
        prompt = self.query_one(PromptInputArea)
        if question := take_unsent_question(resolve_library(self.room.settings)):
            prompt.text = question
            prompt.move_cursor(prompt.document.end)
        prompt.focus()
        self.call_after_refresh(self.set_timer, LOAD_DELAY, self._mount_rest)

    async def _mount_rest(self) -> None:
        """Mount status line, footer, transcript and sources; then load the library."""
        if not gc.isenabled():
            # `lrwr chat` starts with the collector off, because collections during
            # imports cost about 15 % of the first frame. Objects that exist by now
            # live as long as the application, so later collections skip them.
            gc.freeze()
            gc.set_threshold(*COLLECTOR_THRESHOLDS)
            gc.enable()
            self.set_interval(IDLE_SECONDS, self._collect_garbage)
        styles = TRANSCRIPT_STYLES.read_text(encoding="utf-8")
        self.app.stylesheet.add_source(styles, (str(TRANSCRIPT_STYLES), ""))
        footer = KeyFooter()
        await self.query_one("#foot").mount(StatusLine(id="status"), footer)
        self.refresh_bindings()  # the footer shows its keys when they are announced
        await self._mount_split_view()
        footer.call_after_refresh(self.set_timer, LOAD_DELAY, self.load)

    def _collect_garbage(self) -> None:
        """Collect old objects while nobody types."""
        is_answering = any(w.group == "turn" and w.is_running for w in self.workers)
        is_idle = self.room.seconds_since_input >= IDLE_SECONDS
        if is_idle and not is_answering and gc.get_count()[2]:
            gc.collect()

    async def _mount_split_view(self) -> None:
        split_view_class = await asyncio.to_thread(_import_split_view)
        split_view = split_view_class(
            self.room.settings.screen.side, self._load_contexts, self.room.keymap
        )
        await self.query_one("#content").mount(split_view)
        self._split_view = split_view
        self._is_complete.set()

    async def _get_controller(self) -> "ChatController":
        """Return the controller; the first call imports it in a thread.

        If that fails, lrwr closes with the error: no key would do anything.
        """
        await self._is_complete.wait()  # actions use all parts of the screen
        async with self._import_lock:
            if self._controller is None:
                try:
                    controller_class = await asyncio.to_thread(_import_controller)
                except Exception as error:
                    self.room.fail(error)
                    raise
                self._controller = controller_class(self, self._options)
        return self._controller

    async def _load_contexts(
        self, citations: "Sequence[Citation]"
    ) -> "Sequence[CitationContext]":
        controller = await self._get_controller()
        return await controller.load_contexts(citations)

    def watch_scope(self, scope: ChatScope) -> None:
        """Show the new `scope` in the header, and the spending of its thread."""
        if self.is_mounted:
            self.query_one(RoomHeader).show_scope(scope)
            self.call_after_refresh(self.show_spending)

    def watch_ingestion(self, status: IngestStatus) -> None:
        """Show the progress of the ingestion in the status line."""
        if status.is_running:
            text = f"reading: {status.progress}"
            self.query_one(StatusLine).update_fields(index=text)

    def watch_library_version(self, version: int) -> None:
        """Drop the completions of the library before the change, and load them again."""
        if version:
            self.query_one(PromptInputArea).completions = CompletionContext()
            self._fill_completions()

    def show_spending(self) -> None:
        """Show tokens and price of the last turn and of the thread."""
        if self._split_view is not None:
            spent = self._split_view.transcript.spending
            self.query_one(StatusLine).update_fields(spent=spent)

    @work(exclusive=True, group="load", exit_on_error=False)
    async def load(self) -> None:
        """Load the library's state and show it.

        It may be called again; the earlier call is then cancelled.
        """
        self.query_one(StatusLine).update_fields(model="Opening the library…")
        controller = await self._get_controller()
        await controller.load()
        self._loaded.set()  # not reached if another load has replaced this one

    @on(PromptInputArea.Sent)
    def _answer_question(self, event: PromptInputArea.Sent) -> None:
        self._answer(event.text)

    @on(PromptInputArea.Command)
    async def _run_command(self, event: PromptInputArea.Command) -> None:
        action = list_commands()[event.name]
        if action.handler_name:
            self.action_do(action.handler_name, event.words)
        else:
            await self.run_action(action.action)

    @on(PromptInputArea.CompletionsNeeded)
    def _fill_completions(self) -> None:
        self.run_worker(
            self._load_completions(), group="known", exclusive=True, exit_on_error=False
        )

    async def _load_completions(self) -> None:
        controller = await self._get_controller()
        await controller.fill_prompt_completions()

    @work(exclusive=True, group="turn", exit_on_error=False)
    async def _answer(self, question: str) -> None:
        """Show one turn. A new question or Escape stops it."""
        view: TurnView | None = None
        try:
            await self._wait_for_library()
            assert self._split_view is not None  # loading waits for it
            view = await self._split_view.start_turn(question)
            controller = await self._get_controller()
            await controller.stream_turn(question, view)
        finally:  # by now the answer is saved, whole or stopped
            for prompt in self.query(PromptInputArea):
                prompt.busy = False
            stopped, self._is_stopping = self._is_stopping, False
            if stopped and view is not None:
                self._show_stopped_turn(question, view)

    async def _wait_for_library(self) -> None:
        """Wait until the library is open; say meanwhile that the question is kept."""
        if self._loaded.is_set():
            return
        prompt = self.query_one(PromptInputArea)
        prompt.post_message(PromptInputArea.Hint(QUESTION_WAITS))
        try:
            await self._loaded.wait()
        finally:
            prompt.post_message(PromptInputArea.Hint(""))

    @work(exclusive=True, group="stopped", exit_on_error=False)
    async def _show_stopped_turn(self, question: str, view: "TurnView") -> None:
        controller = await self._get_controller()
        await controller.show_stopped_turn(question, view)

    def action_do(self, name: str, words: str = "") -> None:
        """Run an action in a worker; cancel a running call of the same action first.

        `name` is its key in `controller.ACTION_HANDLERS`, `words` its argument, empty
        for none.
        """
        run: WorkType[None] = partial(self._run_action_handler, name, words)
        group = f"action {name}"
        worker = self.run_worker(run, group=group, exclusive=True, exit_on_error=False)
        if name in OPENS_SCREEN:
            self.room.key_queue.wait_for_screen(worker)

    async def _run_action_handler(self, name: str, words: str) -> None:
        controller = await self._get_controller()
        await controller.run_action(name, words)

    def action_jump(self, number: str) -> None:
        """Select the source with the citation number `number`, such as "1" or "w1"."""
        if self._split_view is not None:
            self._split_view.jump(number)

    async def action_stop(self) -> None:
        """Stop the running answer; without one, return to the prompt."""
        running = [w for w in self.workers if w.group == "turn" and w.is_running]
        if running:
            self._is_stopping = True
            self.workers.cancel_group(self, "turn")
            await self._stop_last_turn()
        else:
            self.action_back()

    async def _stop_last_turn(self) -> None:
        split_view = self._split_view
        if split_view is None:
            return
        for view in split_view.transcript.views[-1:]:
            await view.stop()
            await split_view.show_sources_of(view)

    def action_side(self) -> None:
        """Show or hide the sources."""
        if self._split_view is not None:
            self._split_view.toggle()

    def action_back(self) -> None:
        """Return to the prompt."""
        if self._split_view is not None:
            self._split_view.close_sources()
        self.query_one(PromptInputArea).focus()

    def action_type(self, text: str) -> None:
        """Focus the prompt and insert `text`, which was typed elsewhere."""
        self.action_back()
        self.query_one(PromptInputArea).insert(text)

    async def action_quit(self) -> None:
        """Close the application; see `WritingRoom.action_quit`."""
        await self.app.action_quit()


def _import_split_view() -> "type[SplitView]":
    # Loads what shows answers and citations, none of which is in the first frame.
    from lrwr.tui.widgets.split_view import SplitView

    return SplitView


def _import_controller() -> "type[ChatController]":
    # Loads the whole core: far too slow for the first frame.
    from lrwr.tui.controller import ChatController

    return ChatController
