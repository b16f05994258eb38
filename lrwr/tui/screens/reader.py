"""The reader: the manuscript by chapters and scenes, read only, with marks; and its base,
which e-books share.
"""

import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from lrwr.app.presenters.text import format_count, sanitize_line, sanitize_text
from lrwr.core.bible.values import SceneSummary
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText
from lrwr.tui.actions.citations import open_document_at_line
from lrwr.tui.actions.screen_keys import HELP_ACTION, READER_ACTIONS
from lrwr.tui.key_queue import LoadingScreen
from lrwr.tui.queries.reader import (
    ReaderContents,
    ReaderFinding,
    ReaderPart,
    ReaderPosition,
    compile_words_pattern,
    find_next_match,
    load_name_pattern,
    load_reader_contents,
    load_reader_findings,
    load_reader_text,
    load_scene_summaries,
    match_spans,
    save_reader_position,
)
from lrwr.tui.queries.story import extract_first_words
from lrwr.tui.room import RoomApp, RoomScreen
from lrwr.tui.screens.dialogs import SIDE_BY_SIDE
from lrwr.tui.screens.scope import CharactersScreen
from lrwr.tui.widgets.contents_tree import ContentsTree
from lrwr.tui.widgets.status import KeyFooter
from lrwr.tui.widgets.text_pane import TextMark, TextPane

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

ResultT = TypeVar("ResultT")
NOTHING_HIGHLIGHTED = (
    "Nothing is highlighted. Press c for a character, or / to find text."
)


class TextScreen(LoadingScreen[None]):
    """Shows a text in a pane, and beside it the contents in a tree.

    The ids of title, status and the other lines begin with `PREFIX`; those of one line
    have the class `bar`. An input, hidden at first, is below the text.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TextScreen {
        background: $background;
        .bar {
            height: 1;
            padding: 0 1;
            color: $text-muted;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        .title { background: $panel; color: $primary; text-style: bold; }
        .status { background: $panel; }
        .status.error {
            height: auto;
            max-height: 6;
            text-wrap: wrap;
            text-overflow: fold;
        }
        Horizontal { height: 1fr; background: $surface; }
        Input { background: $background; display: none; }
        &.-narrow #reader-tree { display: none; width: 100%; border-right: none; }
        &.-narrow.contents #reader-tree { display: block; }
        &.-narrow.contents TextPane { display: none; }
    }
    """
    PREFIX: ClassVar[str]

    @property
    def application(self) -> RoomApp:
        """The application whose services the screen uses."""
        return cast("RoomApp", self.app)

    async def _run(
        self, work: "Callable[[Workspace], Coroutine[None, None, ResultT]]"
    ) -> "ResultT | None":
        """Return the result of `work`; of a failure, show the error and return None."""
        try:
            return await self.application.service_thread.run(work)
        except Exception as error:  # noqa: BLE001 - a traceback tells a reader nothing
            self._show_error(error)
            return None

    def _show_error(self, error: Exception) -> None:
        self._show_status(self.application.describe_error(error).full_text)
        self.query_one(f"#{self.PREFIX}-status").add_class("error")

    def _update(self, name: str, text: str) -> None:
        """Show `text` in the line whose id ends with `name`."""
        line = self.query_one(f"#{self.PREFIX}-{name}", Static)
        line.update(sanitize_text(text))

    def _show_status(self, text: str, *, warn: bool = False) -> None:
        """Show `text` in the status line; `warn` marks a finding."""
        self._update("status", text)
        line = self.query_one(f"#{self.PREFIX}-status")
        line.remove_class("error").set_class(warn, "finding")

    def action_contents(self) -> None:
        """Move the focus to the contents, or back to the text."""
        contents = self.query_one(ContentsTree)
        if self.focused is contents:
            self._show_text()
        else:
            self.add_class("contents")
            contents.focus()

    def _show_text(self) -> None:
        """Close the contents of a narrow screen and the input; focus the text."""
        self.remove_class("contents")
        self.query_one(Input).display = False
        # At once: the status line shows the keys of what has the focus.
        self.set_focus(self.query_one(TextPane))


class ReaderState:
    """What the reader shows: a part of the manuscript, and what is marked in it."""

    def __init__(self, contents: ReaderContents) -> None:
        self.contents = contents
        self.number = 0
        self.document = DocumentId("")
        self.text: DocumentText | None = None
        self.openings: Sequence[str] = ()
        self.scenes: dict[DocumentId, Sequence[SceneSummary]] = {}
        self.findings: Mapping[DocumentId, tuple[ReaderFinding, ...]] = {}
        self.pattern: re.Pattern[str] | None = None
        self.label = ""
        self.matches: list[Span] = []
        self.current: Span | None = None

    @property
    def part(self) -> ReaderPart:
        """The part that is shown."""
        return self.contents.parts[self.number]

    def open_part(self, number: int, text: DocumentText) -> None:
        """Show the part with the index `number`; `text` is that of its document."""
        self.number, self.text = number, text
        self.document = self.part.document
        self.openings = [
            extract_first_words(scene, text.text, besides=self.part.title)
            for scene in self.part.scenes
        ]

    def highlight(self, pattern: re.Pattern[str] | None, label: str) -> None:
        """Highlight what matches `pattern`, which `label` describes; None for nothing."""
        self.pattern, self.label, self.current = pattern, label, None

    def find_marks(self) -> list[TextMark]:
        """Return the marks of the part: its findings, then its matches."""
        text = self.text.text if self.text else ""
        self.matches = (
            match_spans(self.pattern, text, self.part.span) if self.pattern else []
        )
        marks = [TextMark(finding.span, "finding") for finding in self.findings_here]
        marks += [TextMark(match, "match") for match in self.matches]
        if self.current in self.matches:
            marks.append(TextMark(self.current, "current"))
        return marks

    @property
    def findings_here(self) -> list[ReaderFinding]:
        """The findings in the part that is shown, in text order."""
        return [
            finding for number, finding in self._findings() if number == self.number
        ]

    def find_finding(self, offset: int, *, forward: bool) -> tuple[int, int] | None:
        """Return the next finding after `offset` as the index of its part and its offset.

        If not `forward`, it is the one before. At the end of the manuscript the search
        goes on at its other end. None if there is no finding.
        """
        places = [(number, finding.span.start) for number, finding in self._findings()]
        here = self.number, offset
        if forward:
            return next((p for p in places if p > here), next(iter(places), None))
        before = [place for place in places if place < here] or places
        return before[-1] if before else None

    def describe_people(self, scene: int) -> str:
        """Return who is present in the scene with the index `scene`."""
        summaries = self.scenes.get(self.document)
        if self.part.chapter is None:
            return "A note, not part of the story"
        if summaries is None:
            return "Present: …"
        span = self.part.scenes[scene].span if self.part.scenes else self.part.span
        summary = next((s for s in summaries if s.span == span), None)
        if summary is None or not summary.present:
            return "Present: nobody found"
        views = ", ".join(claim.value for claim in summary.points_of_view)
        view = f" · point of view: {views}" if views else ""
        return f"Present: {', '.join(summary.present)}{view}"

    def describe_position(self, line: int) -> str:
        """Return the location `line` and the numbers of matches and findings."""
        phrases = [f"{sanitize_line(self.document)}:{line}"]
        if self.label:
            count = format_count(len(self.matches), "match", "matches")
            phrases.append(f"{self.label}: {count} here")
        if findings := len(self.findings_here):
            phrases.append(f"{format_count(findings, 'finding')} here")
        return " · ".join(phrases)

    def _findings(self) -> Iterator[tuple[int, ReaderFinding]]:
        """Yield all findings with the indexes of their parts, in the order of parts."""
        for number, part in enumerate(self.contents.parts):
            for finding in self.findings.get(part.document, ()):
                if part.span.start <= finding.span.start < part.span.end:
                    yield number, finding


class ReaderView(TextScreen, ModalScreen[None]):
    """Shows the manuscript: chapters and scenes in a tree, and the text beside it.

    `room` is the chat screen below. `start` is where to begin: a position, or what the
    user typed, such as "ch3:s2" or "chapters/03.md:15"; empty for where the reader was
    closed last in this session, else the horizon, else where it was closed in an earlier
    session, else the first chapter.
    """

    DEFAULT_CSS: ClassVar[str] = """
    ReaderView .finding { color: $text-warning; }
    """
    PREFIX: ClassVar[str] = "reader"

    def __init__(self, room: RoomScreen, start: ReaderPosition | str = "") -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]
        self.room = room
        self._start = start or room.last_read or room.scope.as_of
        self._state: ReaderState | None = None

    def compose(self) -> ComposeResult:
        """Lay out title, contents, text, search input, status and footer."""
        yield Static("Reader", markup=False, classes="bar title", id="reader-title")
        yield Static(markup=False, classes="bar", id="reader-present")
        with Horizontal(id="reader-both"):
            yield ContentsTree()
            yield TextPane()
        yield Input(placeholder="Find in the text…", compact=True, id="reader-find")
        yield Static("Loading…", markup=False, classes="bar status", id="reader-status")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Focus the text, and load the manuscript."""
        self.query_one(TextPane).focus()
        self._load()
        self.watch(self.room, "library_version", self._reload, init=False)

    def _reload(self) -> None:
        """Load the manuscript again at the same position, after it has changed."""
        state = self._state
        if state is None or state.text is None:
            self._load()
            return
        here = self.query_one(TextPane).offset_here
        self._start = ReaderPosition(state.document, here)
        self._load(state)

    @work(exclusive=True, group="read", exit_on_error=False)
    async def _load(self, before: ReaderState | None = None) -> None:
        """Show the text; names and findings follow, because they take longer.

        What is highlighted in `before` stays highlighted.
        """
        start = self._start
        contents = await self._run(lambda w: load_reader_contents(w, start))
        if contents is None:
            self.is_loading = False
            return
        self._state = ReaderState(contents)
        self.query_one(ContentsTree).show(contents)
        number = contents.find_part(contents.position)
        await self._open(number, contents.position.offset)
        self.is_loading = False
        if before is None:
            await self._highlight_character(self.room.scope.character)
        else:
            self._state.highlight(before.pattern, before.label)
        self._state.findings = await self._run(load_reader_findings) or {}
        self._mark()

    async def _open(self, number: int, offset: int) -> None:
        """Show the part with the index `number`, at `offset` of its document."""
        state = self._state
        if state is None or not state.contents.parts:
            return
        part, text = state.contents.parts[number], state.text
        if text is None or state.document != part.document:
            text = await self._run(lambda w: load_reader_text(w, part.document))
        if text is None:
            return
        state.open_part(number, text)
        pane = self.query_one(TextPane)
        pane.show(text.text, part.span, text.lines)
        self._mark()
        pane.go_to(offset)
        self._load_scenes(state)

    @work(exclusive=True, group="scenes", exit_on_error=False)
    async def _load_scenes(self, state: ReaderState) -> None:
        document = state.document
        if document not in state.scenes:
            scenes = await self._run(lambda w: load_scene_summaries(w, document))
            state.scenes[document] = scenes or ()
        self._show_position()

    async def _highlight_character(self, name: str) -> None:
        """Highlight the names of the character `name`; nothing if it is empty."""
        pattern = None
        if name:
            pattern = await self._run(lambda w: load_name_pattern(w, name))
        if self._state is not None:
            self._state.highlight(pattern, name if pattern else "")
        self._mark()

    def _mark(self) -> None:
        """Mark the findings and matches of the part, and update the status."""
        if self._state is not None and self._state.text is not None:
            self.query_one(TextPane).set_marks(self._state.find_marks())
            self._show_position()

    @on(TextPane.Moved)
    def _show_position(self) -> None:
        """Show chapter, scene, who is present, location, and the finding here."""
        state = self._state
        if state is None or state.text is None:
            return
        pane, part = self.query_one(TextPane), state.part
        scene, row = part.find_scene(pane.offset_here), pane.row_span
        title = f"{part.name}, scene {scene + 1}" if len(part.scenes) > 1 else part.name
        self._update("title", f"Reader · {title}")
        self._update("present", state.describe_people(scene))
        self.query_one(ContentsTree).open_part(state.number, state.openings, scene)
        texts = [
            finding.text
            for finding in state.findings_here
            if finding.span.start < row.end and row.start < finding.span.end
        ]
        text = texts[0] if texts else state.describe_position(pane.line_here)
        self._show_status(text, warn=bool(texts))


class ReaderScreen(ReaderView):
    """The reader with its keys, which go from place to place; nothing is edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding for action in (*READER_ACTIONS, HELP_ACTION)),
    ]

    @on(ContentsTree.Chosen)
    async def _chosen(self, event: ContentsTree.Chosen) -> None:
        event.stop()
        if self._state is not None:
            part = self._state.contents.parts[event.part]
            span = part.scenes[event.scene].span if event.scene >= 0 else part.span
            self._show_text()
            await self._open(event.part, span.start)

    @work(exclusive=True, group="match", exit_on_error=False)
    async def action_match(self, by: int) -> None:
        """Go to the next match of what is highlighted if `by` is positive, else back."""
        state = self._state
        if state is None or (pattern := state.pattern) is None:
            self._show_status(NOTHING_HIGHLIGHTED)
            return
        at, parts = (
            (state.number, self.query_one(TextPane).offset_here),
            state.contents.parts,
        )
        found = await self._run(
            lambda w: find_next_match(w, parts, pattern, at, forward=by > 0)
        )
        if found is None:
            self._show_status(f"{state.label} is not in the text.")
            return
        number, state.current = found
        await self._go(number, state.current.start)

    async def action_finding(self, by: int) -> None:
        """Go to the next finding if `by` is positive, else to the one before."""
        if self._state is None:
            return
        offset = self.query_one(TextPane).offset_here
        place = self._state.find_finding(offset, forward=by > 0)
        if place is None:
            self._show_status("`lrwr check` finds no contradiction in the text.")
        else:
            await self._go(*place)

    async def _go(self, number: int, offset: int) -> None:
        """Go to an offset in a part, which is loaded if another one is shown."""
        if self._state is not None and number == self._state.number:
            self._mark()
            self.query_one(TextPane).go_to(offset)
        else:
            await self._open(number, offset)

    async def action_part(self, by: int) -> None:
        """Open the next chapter or note if `by` is positive, else the one before."""
        if self._state is not None:
            number = self._state.number + by
            parts = self._state.contents.parts
            if 0 <= number < len(parts):
                await self._open(number, parts[number].span.start)

    def action_page(self, by: int) -> None:
        """Scroll by a page, down if `by` is positive."""
        pane = self.query_one(TextPane)
        (pane.scroll_page_down if by > 0 else pane.scroll_page_up)(animate=False)

    def action_find(self) -> None:
        """Ask for the words to find."""
        find = self.query_one("#reader-find", Input)
        find.display = True
        find.focus()

    @on(Input.Submitted, "#reader-find")
    def _find(self, event: Input.Submitted) -> None:
        words = event.value.strip()
        self._show_text()
        if words and self._state is not None:
            self._state.highlight(compile_words_pattern(words), f"“{words}”")
            self.action_match(1)

    @work(exclusive=True, group="character", exit_on_error=False)
    async def action_character(self) -> None:
        """Choose the character whose names are highlighted."""
        choice = await self.app.push_screen_wait(CharactersScreen(self.room))
        if choice is not None:
            await self._highlight_character(choice.name)

    @work(exclusive=True, group="open", exit_on_error=False)
    async def action_edit(self) -> None:
        """Open the document in the user's editor, at the current line."""
        line, room, state = self.query_one(TextPane).line_here, self.room, self._state
        if state is None or state.text is None:
            return
        try:
            await open_document_at_line(room, state.document, line)
        except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
            room.show_error(error)

    def action_close(self) -> None:
        """Close the search input or the contents if they are open, else the reader."""
        if self.focused is not self.query_one(TextPane):
            self._show_text()
            return
        if (position := self._find_position()) is not None:
            self.room.last_read = position
            save = self._save_position(position)
            self.room.run_worker(save, group="read", exit_on_error=False)
        self.dismiss(None)

    async def leave(self) -> None:
        """Store where the reader is."""
        if (position := self._find_position()) is not None:
            await self._save_position(position)

    def _find_position(self) -> ReaderPosition | None:
        if self._state is None or self._state.text is None:
            return None
        here = self.query_one(TextPane).offset_here
        return ReaderPosition(self._state.document, here)

    async def _save_position(self, position: ReaderPosition) -> None:
        run = self.room.room.service_thread.run
        await run(lambda workspace: save_reader_position(workspace, position))
