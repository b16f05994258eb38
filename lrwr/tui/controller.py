"""The controller of the chat screen: loads the library, streams answers, runs actions.

Importing this module imports every screen and the whole core. The chat screen therefore
imports it in a thread, after its first frame.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from lrwr.app.pending_changes import PendingCounts, count_pending
from lrwr.app.presenters.text import format_count, sanitize_text, shorten_excerpt
from lrwr.core.model.errors import LrwrError, NotFound
from lrwr.core.model.text import build_title
from lrwr.core.model.turns import (
    AnswerToken,
    Citation,
    GapFound,
    PassageCited,
    ThreadId,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
    WebPageCited,
)
from lrwr.tui.actions.citations import copy_answer, open_cited_passage
from lrwr.tui.actions.ingestion import start_ingestion, stop_ingestion
from lrwr.tui.actions.scope import (
    choose_character,
    choose_horizon,
    switch_mode,
    toggle_witnessed,
)
from lrwr.tui.actions.screens import (
    WATCH_GROUP,
    open_check_screen,
    open_diff_screen,
    open_drafts_screen,
    open_gaps_screen,
    open_library_screen,
    open_name_review_screen,
    open_palette,
    open_people_screen,
    open_posts_screen,
    open_quotes_screen,
    open_reader,
    open_recap_screen,
    open_relations_screen,
    open_search_screen,
    open_settings_screen,
    open_timeline_screen,
    open_world_screen,
    read_cited_passage,
    show_help,
    toggle_watch,
)
from lrwr.tui.actions.threads import (
    choose_thread,
    export_thread,
    rename_thread,
    start_thread,
)
from lrwr.tui.input.prompt import load_past_questions
from lrwr.tui.queries.passages import CitationContext, load_citation_contexts
from lrwr.tui.queries.story import load_completion_context
from lrwr.tui.queries.threads import (
    Welcome,
    load_stopped_turn,
    load_welcome,
    stream_answer,
)
from lrwr.tui.room import ActionHandler, RoomScreen
from lrwr.tui.scope import ChatOptions
from lrwr.tui.screens.dialogs import ask_consents
from lrwr.tui.widgets.prompt import PromptInputArea
from lrwr.tui.widgets.split_view import SplitView
from lrwr.tui.widgets.status import StatusLine
from lrwr.tui.widgets.transcript import Transcript
from lrwr.tui.widgets.turn import TurnView

if TYPE_CHECKING:
    from textual.timer import Timer


ACTION_HANDLERS: Mapping[str, ActionHandler] = MappingProxyType(
    {
        "help": show_help,
        "palette": open_palette,
        "characters": choose_character,
        "horizon": choose_horizon,
        "mode": switch_mode,
        "witnessed": toggle_witnessed,
        "threads": choose_thread,
        "new": start_thread,
        "rename": rename_thread,
        "export": export_thread,
        "gaps": open_gaps_screen,
        "people": open_people_screen,
        "world": open_world_screen,
        "timeline": open_timeline_screen,
        "search": open_search_screen,
        "check": open_check_screen,
        "diff": open_diff_screen,
        "posts": open_posts_screen,
        "drafts": open_drafts_screen,
        "review": open_name_review_screen,
        "relations": open_relations_screen,
        "quotes": open_quotes_screen,
        "recap": open_recap_screen,
        "reader": open_reader,
        "read_passage": read_cited_passage,
        "library": open_library_screen,
        "ingest": start_ingestion,
        "stop_ingestion": stop_ingestion,
        "watch": toggle_watch,
        "settings": open_settings_screen,
        "copy": copy_answer,
        "open": open_cited_passage,
    }
)
"""The function of each named action, see `Action.handler_name`."""

PARTIAL_REMARK = (
    "When this was asked, the manuscript was still being read, so the answer knows only"
    " a part of it. Ask again when it is done."
)
LOOK_INTERVAL = 15.0
"""Seconds between two looks for files that changed on disk."""

STOPPED_ANSWER = "the last answer"
"""Names what a stopped turn saves, in the message shown if saving fails."""


class ChatController:
    """Connects the widgets of the chat screen with the library.

    It shows errors instead of raising them, unless a method says otherwise.
    """

    def __init__(self, screen: RoomScreen, options: ChatOptions) -> None:
        self._screen = screen
        self._options = options
        self._model = ""
        self._is_ingested = False
        self._services = screen.room.service_thread
        self._looks: Timer | None = None

    async def load(self) -> None:
        """Ask for missing consents, open the library and show its state."""
        status = self._screen.query_one(StatusLine)
        try:
            await ask_consents(self._screen.room, by_address=True)
            welcome = await self._services.run(
                lambda workspace: load_welcome(workspace, self._options)
            )
            await self._show_welcome(welcome)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self._screen.show_error(error)
            status.update_fields(model="")

    async def show_unread_count(self, view: TurnView | None = None) -> None:
        """Show in the status line how many files changed since the last ingest.

        The turn in `view` gets a remark if its answer lacks files. Nothing is shown if
        the library cannot be read.
        """
        try:
            pending = await self._services.run(count_pending)
            if view is not None and pending.unread:
                await view.add_remark(_describe_unread(pending))
        except LrwrError:
            return  # reading the library reports the same problem
        freshness = "up to date"
        if pending.changed:
            freshness = f"{_describe_pending(pending)} (Ctrl+L)"
        elif pending.unreadable:
            files = format_count(pending.unreadable, "file")
            freshness = f"{files} could not be read (Ctrl+L)"
        elif pending.missing:
            freshness = f"{format_count(pending.missing, 'file')} missing"
        self._screen.query_one(StatusLine).update_fields(index=freshness)

    async def fill_prompt_history(self) -> None:
        """Load the questions of earlier threads, which the Up key recalls."""
        try:
            questions = await self._services.run(load_past_questions)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self._screen.show_error(error)
        else:
            self._screen.query_one(PromptInputArea).question_history.load(questions)

    async def fill_prompt_completions(self) -> None:
        """Load the names and chapters that complete commands, for the current horizon.

        Nothing is loaded if library, canon and horizon are unchanged since the last
        call.
        """
        as_of = self._screen.scope.as_of
        prompt = self._screen.query_one(PromptInputArea)
        before = prompt.completions
        try:
            prompt.completions = await self._services.run(
                lambda workspace: load_completion_context(workspace, as_of, before)
            )
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self._screen.show_error(error)

    async def load_contexts(
        self, citations: Sequence[Citation]
    ) -> Sequence[CitationContext]:
        """Return cited passages with the text around them in the current documents.

        They have the order of `citations`.

        Raises:
            LrwrError: The library cannot be read.
        """
        return await self._services.run(
            lambda workspace: load_citation_contexts(workspace, citations)
        )

    async def stream_turn(self, question: str, view: TurnView) -> None:
        """Ask `question` within the current scope, and show the answer in `view`.

        The answer is shown as it arrives. An error is shown in `view` instead of being
        raised.
        """
        scope, is_partial = self._screen.scope, self._screen.ingestion.is_running
        turn = self._services.stream(
            lambda workspace: stream_answer(workspace, scope, question),
            keeps=STOPPED_ANSWER,
        )
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    await self._show_event(event, view)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            problem = self._describe_problem(error)
            await view.fail(str(problem), problem.hint)
            await self._screen.query_one(SplitView).show_sources_of(view)
        else:
            if is_partial:
                await view.add_remark(PARTIAL_REMARK)

    def _describe_problem(self, error: Exception) -> LrwrError:
        """Return an error that can be shown, or what to do while nothing is stored."""
        if self._screen.ingestion.is_running and isinstance(error, NotFound):
            return NotFound(
                "Nothing has been read yet; the manuscript is being read now",
                hint="Ask again in a moment: Up brings the question back.",
            )
        return self._screen.room.describe_error(error)

    async def show_stopped_turn(self, question: str, view: TurnView) -> None:
        """Show in `view` what was saved of a stopped answer to `question`.

        Nothing changes if the newest saved turn of the thread has another question.

        Raises:
            LrwrError: The library cannot be read.
        """
        scope = self._screen.scope
        saved = await self._services.run(
            lambda workspace: load_stopped_turn(workspace, scope, question)
        )
        if saved is not None:
            await self._finish_turn(*saved, view)

    async def run_action(self, name: str, words: str) -> None:
        """Run the action called `name`, a key of `ACTION_HANDLERS`.

        `words` is its argument, empty for none. Errors are shown as notifications.
        """
        try:
            await ACTION_HANDLERS[name](self._screen, words)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            self._screen.show_error(error)

    async def _show_welcome(self, welcome: Welcome) -> None:
        screen = self._screen
        self._model = welcome.model
        screen.query_one(StatusLine).update_fields(
            model=welcome.model or "no model",
            leaving="sends data to services" if welcome.leaving else "",
        )
        for notice in welcome.first_use:
            screen.notify(sanitize_text(notice), timeout=20, markup=False)
        if not screen.query_one(Transcript).views:
            if self._is_ingested:  # again, after an ingestion
                welcome = replace(welcome, turns=())
            else:
                screen.scope = welcome.scope
            await self._show_first_turns(welcome)
        self._is_ingested = welcome.counts is not None
        screen.run_worker(self.fill_prompt_history(), group="past", exit_on_error=False)
        if welcome.counts is None:
            return
        if self._looks is None:
            self._looks = screen.set_interval(LOOK_INTERVAL, self._look_for_changes)
        if self._options.watch:
            screen.action_do("watch", "on")
        else:
            self._look_for_changes()

    def _look_for_changes(self, view: TurnView | None = None) -> None:
        """Update the freshness in the status line, unless something else updates it.

        The turn in `view` gets a remark if its answer lacks files.
        """
        groups = {w.group for w in self._screen.workers if w.is_running}
        is_read_now = self._screen.ingestion.is_running or WATCH_GROUP in groups
        if is_read_now or (view is None and "look" in groups):
            return
        self._screen.run_worker(
            self.show_unread_count(view), group="look", exit_on_error=False
        )

    async def _show_first_turns(self, welcome: Welcome) -> None:
        split_view = self._screen.query_one(SplitView)
        if welcome.turns:
            await split_view.show(welcome.turns)
        else:
            await split_view.show_notice(_describe_library(welcome))

    async def _show_event(self, event: TurnEvent, view: TurnView) -> None:
        split_view = self._screen.query_one(SplitView)
        match event:
            case TurnStageStarted(_, text):
                view.show_stage(text)
            case PassageCited(citation):
                await split_view.add_citation(view, citation)
            case WebPageCited(citation):
                await split_view.add_page(view, citation)
            case GapFound():
                pass  # the answer ends with its gaps
            case AnswerToken(text, speaker):
                name = self._screen.scope.speaker
                await view.write(text, speaker, avatar=name, model=self._model)
            case TurnDone(thread, turn):
                await self._finish_turn(thread, turn, view)
            case _:
                assert_never(event)

    async def _finish_turn(self, thread: ThreadId, turn: Turn, view: TurnView) -> None:
        screen = self._screen
        await screen.query_one(SplitView).finish(view, turn)
        title = screen.scope.title or build_title(turn.question)
        screen.scope = replace(screen.scope, thread=thread, title=title)
        screen.show_spending()
        self._look_for_changes(view)


def _describe_pending(pending: PendingCounts) -> str:
    """Return how many files are to be read, to be analysed again, and deleted."""
    files = pending.unread
    parts = [f"{format_count(files, 'file')} to read"] if files else []
    if pending.stale:
        noun = "" if files else " document"
        plural = "s" if noun and pending.stale > 1 else ""
        parts.append(f"{pending.stale:,}{noun}{plural} to be analysed again")
    if pending.gone:
        parts.append(f"{format_count(pending.gone, 'file')} deleted")
    return ", ".join(parts)


def _describe_unread(pending: PendingCounts) -> str:
    """Return the remark on an answer that lacks new or changed files."""
    return (
        f"Answered from {pending.stored:,} of {format_count(pending.total, 'file')}, as they were"
        f" read; {pending.unread:,} new or changed. Alt+L reads what is missing."
    )


def _describe_library(welcome: Welcome) -> list[str]:
    """Return the paragraphs that an empty thread shows."""
    if welcome.counts is None:
        return [
            "No manuscript has been read yet.",
            "Press Ctrl+L to choose the folder of your manuscript. lrwr reads it on"
            " this machine and never changes your files.",
        ]
    counts = welcome.counts
    lines = [
        f"{format_count(counts.documents, 'document')} read,"
        f" {format_count(counts.words, 'word')}.",
        "Ask a question, for example “Who is …?”, “What does … know about …?” or"
        " “Remind me of …”.",
    ]
    if not welcome.model:
        lines.append(
            "No language model is configured: answers are quotations from your text."
            " To add one, set `use` under `[model]` in lrwr.toml; `lrwr init` creates"
            " that file."
        )
    if welcome.threads:
        own = format_count(welcome.threads, "thread")
        last = shorten_excerpt(welcome.last_thread)
        lines.append(
            f"F5 opens your {own} (saved conversations); the last one, “{last}”, with"
            " F5 and Enter."
        )
    return lines
