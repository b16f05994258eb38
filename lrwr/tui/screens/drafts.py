"""The screens of drafts: scenes of the board with brief, check and text, and posts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from lrwr.app.draft_decisions import LedgerRow
from lrwr.app.drafts import SceneState, SceneStatus
from lrwr.app.post_files import StoredPost
from lrwr.app.presenters.drafts import (
    describe_finding_counts,
    describe_state,
    render_card,
    render_checked_scene,
    render_tidy_hints,
)
from lrwr.app.presenters.post_drafts import describe_post
from lrwr.app.presenters.posts import render_checked_draft
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    Tone,
    format_count,
    sanitize_line,
    shorten_chapter_names,
    styled_line,
)
from lrwr.core.drafting.board import spell_horizon
from lrwr.core.drafting.brief import Brief
from lrwr.core.drafting.plan_questions import PlanQuestion, PlanStep
from lrwr.tui.actions.screen_keys import DRAFT_ACTIONS, FIND_ACTION, OPEN_ROW_ACTION
from lrwr.tui.queries.drafts import (
    CheckedStoredPost,
    DraftBoard,
    DraftText,
    accept_draft,
    check_scene_draft,
    check_stored_post,
    load_draft_board,
    load_ledger,
    load_plan_questions,
    load_post_list,
    load_tidy_hints,
    make_draft_board,
    read_scene_brief,
    read_scene_draft,
    reject_draft,
    undo_draft,
)
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.dialogs import TextInputScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen, locate_line, locate_lines
from lrwr.tui.widgets.lists import LineList, ListRow

CARD = "card"
"""The details that a scene has at first."""

DIFF_TONES: Mapping[str, Tone] = {"+": "good", "-": "bad", "@": "faint"}
"""How the lines of a diff are shown, by their first character."""

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)(?:-\d+)?")


PLAN, TIDY, LEDGER = ":plan", ":tidy", ":ledger"
"""Keys of the rows that are about all scenes; ids of scenes have no colon."""


class DraftsScreen(MasterDetailScreen[None]):
    """Lists the scenes of the board, then what is open, untidy and decided; keys show
    the brief, check or text of a scene.
    """

    DEFAULT_CSS: ClassVar[str] = """
    DraftsScreen.-beside #master-detail-rows { width: 42%; }
    """
    FOCUS_FILTER: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_ROW_ACTION.binding,
        *(action.binding for action in (*DRAFT_ACTIONS, FIND_ACTION)),
    ]

    def __init__(self, room: RoomScreen) -> None:
        super().__init__(room, "Drafts")
        self.hint = "Press / to search…"
        self.nothing = "The board has no scenes."
        self._board = DraftBoard((), "")
        self._shown = "", CARD

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for each scene of the board, under its chapter.

        Raises:
            NotFound: There is no board; a hint names the key that makes one.
            SettingsProblem: It cannot be read.
        """
        self._board = await self.room.room.service_thread.run(load_draft_board)
        return [
            *_build_rows(self._board.statuses),
            ListRow("", "All scenes", heading=True),
            ListRow(PLAN, "What the plan leaves open"),
            ListRow(TIDY, "Duplicates and orphans"),
            ListRow(LEDGER, "What became of each draft"),
        ]

    def first(self) -> str:
        """Return the first scene that is not in the manuscript yet."""
        states = SceneState.PROPOSED, SceneState.PLANNED
        open_scenes = (s.card.id for s in self._board.statuses if s.state in states)
        return next(open_scenes, "")

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the card of a scene, or what was asked for last if it is the same."""
        if key in (PLAN, TIDY, LEDGER):
            return await self._load_report(key)
        shown, view = self._shown
        if shown != key:
            self._shown, view = (key, CARD), CARD
        run = self.room.room.service_thread.run
        if view == "brief":
            return _render_brief(await run(lambda w: read_scene_brief(w, key)))
        if view == "check":
            checked = await run(lambda w: check_scene_draft(w, key))
            return locate_lines(render_checked_scene(checked), checked.name)
        if view in ("text", "diff"):
            is_diff = view == "diff"
            text = await run(lambda w: read_scene_draft(w, key, diff=is_diff))
            return _render_diff(text) if is_diff else _render_text(text)
        return self._render_card(key)

    async def _load_report(self, key: str) -> Iterable[StyledLine]:
        run = self.room.room.service_thread.run
        if key == PLAN:
            return _render_plan(await run(load_plan_questions))
        if key == TIDY:
            return render_tidy_hints(await run(load_tidy_hints))
        return _render_ledger(await run(load_ledger))

    def action_show(self, view: str) -> None:
        """Show the "card", "brief", "check", "text" or "diff" of the highlighted scene."""
        if self._status(self.key):
            self._shown = self.key, view
            waiting = "Checking the draft in a copy of the library…"
            text = waiting if view == "check" else self.loading_text
            self.query_one(LineList).show([styled_line(text)])
            self._read(self.key)

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_make(self) -> None:
        """Write a board of the manuscript."""
        run = self.room.room.service_thread.run
        path = await self.run_guarded(run(make_draft_board))
        if path:
            self.set_note(f"{path} has a card for each scene; edit it.", good=True)
            self.fill()

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_accept(self) -> None:
        """Check the latest draft of the scene, ask for a file, and make it that file."""
        if (status := self._status(self.key)) is None:
            return
        if not status.proposals:
            self.set_note(f"There is no draft of {status.card.id} yet.")
            return
        run = self.room.room.service_thread.run
        self.set_note("Checking…")
        checked = await self.run_guarded(
            run(lambda w: check_scene_draft(w, status.card.id))
        )
        note = "A file of yours is never changed. Press u to undo it."
        if checked is not None:
            self.set_note("")
            if checked.needs_author:
                note = f"It has {describe_finding_counts(checked)}. {note}"
        line = TextInputScreen(
            f"Accept the draft of “{status.card.title}” as which new file?",
            value=self._suggest_file(status),
            note=note,
        )
        file = await self.app.push_screen_wait(line)
        if not file:
            return
        entry = await self.run_guarded(
            run(lambda w: accept_draft(w, status.card.id, file))
        )
        if entry is not None:
            self._report(f"{entry.file} created. Ctrl+L, then r, reads it.")

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_reject(self) -> None:
        """Record that the latest draft of the scene is rejected; its file stays."""
        if self._status(scene := self.key):
            run = self.room.room.service_thread.run
            entry = await self.run_guarded(run(lambda w: reject_draft(w, scene)))
            if entry is not None:
                self._report(f"{entry.key} is rejected; its file stays.")

    @work(exclusive=True, group="decide", exit_on_error=False)
    async def action_undo(self) -> None:
        """Remove the file of the accepted draft of the scene; the draft stays."""
        if self._status(scene := self.key):
            run = self.room.room.service_thread.run
            entry = await self.run_guarded(run(lambda w: undo_draft(w, scene)))
            if entry is not None:
                self._report(f"{entry.file} removed; the draft stays.")

    def _report(self, text: str) -> None:
        self.set_note(text, good=True)
        self._shown = "", CARD
        self.fill(at=self.key)

    def _status(self, key: str) -> SceneStatus | None:
        return next((s for s in self._board.statuses if s.card.id == key), None)

    def _suggest_file(self, status: SceneStatus) -> str:
        """Return the file on the card, else one beside the file of another scene."""
        if status.card.at is not None:
            return status.card.at.file
        files = [s.card.at.file for s in self._board.statuses if s.card.at]
        folder = PurePosixPath(files[-1]).parent if files else PurePosixPath()
        return str(folder / f"{status.card.id}.md")

    def _render_card(self, key: str) -> Iterator[StyledLine]:
        if (status := self._status(key)) is None:
            return
        for line in render_card(status):
            yield line
        card, path = status.card, self._board.path
        if card.at is not None and card.at.first:
            place = StyledText(sanitize_line(str(card.at)), "place")
            line = styled_line("text: ", place, indent=2)
            yield locate_line(line, card.at.file, card.at.first)
        board = StyledText(f"{path}:{card.line}", "place")
        line = styled_line("board: ", board, indent=2)
        yield locate_line(line, path, max(1, card.line))


def _build_rows(statuses: Sequence[SceneStatus]) -> Iterator[ListRow]:
    groups = groupby(statuses, lambda status: status.card.chapter)
    chapters = [(chapter, list(group)) for chapter, group in groups]
    headings = shorten_chapter_names([chapter for chapter, _ in chapters])
    for heading, (_, group) in zip(headings, chapters, strict=True):
        yield ListRow("", heading or "Without a chapter", heading=True)
        for status in group:
            card, state = status.card, describe_state(status)
            yield ListRow(card.id, card.title, state, (card.id, card.pov))


def _render_plan(
    questions: Mapping[PlanStep, Sequence[PlanQuestion]],
) -> Iterator[StyledLine]:
    """Yield the open questions of each step; Enter opens the place of one."""
    for step, open_questions in questions.items():
        yield styled_line(StyledText(step.value.capitalize(), "strong"))
        for question in open_questions:
            about = StyledText(f"{sanitize_line(question.about)}: ", "strong")
            place = StyledText(f"  {sanitize_line(question.place)}", "place")
            line = styled_line(about, sanitize_line(question.text), place, indent=2)
            match = _PLACE.fullmatch(question.place)
            yield (
                locate_line(line, match["file"], int(match["line"])) if match else line
            )
        if not open_questions:
            yield styled_line(StyledText("Nothing is open.", "faint"), indent=2)


def _render_ledger(rows: Sequence[LedgerRow]) -> Iterator[StyledLine]:
    """Yield what became of each draft, who wrote it, and how much still stands."""
    for row in rows:
        entry = row.entry
        stands = "" if row.standing is None else f", {row.standing:.0%} still stands"
        yield styled_line(
            StyledText(sanitize_line(entry.key), "strong"),
            f"  {entry.decision}, by {sanitize_line(entry.model or 'you')}{stands}  ",
            StyledText(sanitize_line(entry.file), "place"),
        )
    if not rows:
        yield styled_line("There are no drafts.")


def _render_brief(brief: Brief) -> Iterator[StyledLine]:
    """Yield the entries of a brief; Enter opens the place of one."""
    yield styled_line(
        StyledText(f"Brief of “{sanitize_line(brief.card.title)}”", "strong"),
        StyledText(f", the story up to {spell_horizon(brief.horizon)}", "faint"),
    )
    section = None
    for number, item in enumerate(brief.items, start=1):
        if item.section is not section:
            section = item.section
            yield styled_line(StyledText(section.value, "strong"))
        place = StyledText(f"  {sanitize_line(item.place)}", "place")
        line = StyledLine((f"[{number}] {item.text}", place), 2, item.evidence)
        match = _PLACE.fullmatch(item.place) if item.evidence is None else None
        yield locate_line(line, match["file"], int(match["line"])) if match else line
    if brief.left_out:
        left_out = format_count(brief.left_out, "entry", "entries")
        yield styled_line(StyledText(f"{left_out} left out for length.", "faint"))


def _render_text(text: DraftText) -> Iterator[StyledLine]:
    path = text.draft.file.path
    yield locate_line(styled_line(StyledText(path, "place")), path, 1)
    for number, line in enumerate(text.lines, start=1):
        yield locate_line(styled_line(line, indent=2), path, number)


def _render_diff(text: DraftText) -> Iterator[StyledLine]:
    for line in text.lines:
        yield styled_line(StyledText(line, DIFF_TONES.get(line[:1], "plain")))


class PostsScreen(MasterDetailScreen[None]):
    """Lists the drafts in `posts/`; beside them is what `lrwr post check` finds."""

    FOCUS_FILTER: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN_ROW_ACTION.binding,
        FIND_ACTION.binding,
    ]

    def __init__(self, room: RoomScreen) -> None:
        super().__init__(room, "Posts")
        self.hint = "Press / to search…"
        self.nothing = (
            "No drafts yet. `lrwr post new` makes one; `lrwr post check FILE` checks a"
            " text of yours."
        )
        self._posts: Sequence[StoredPost] = ()

    async def rows(self) -> Sequence[ListRow]:
        """Return a row for each draft, newest first.

        Raises:
            NotFound: No manuscript was ingested.
        """
        problems: list[str] = []
        self._posts = await self.room.room.service_thread.run(
            lambda workspace: load_post_list(workspace, problems.append)
        )
        self.set_note(" ".join(problems))
        return [
            ListRow(post.name, post.name, describe_post(post)) for post in self._posts
        ]

    async def lines(self, key: str) -> Iterable[StyledLine]:
        """Return the results of the check of a draft; Enter opens the draft."""
        post = next((post for post in self._posts if post.name == key), None)
        if post is None:
            return ()
        result = await self.room.room.service_thread.run(
            lambda workspace: check_stored_post(workspace, post)
        )
        return _render_result(post, result)


def _render_result(post: StoredPost, result: CheckedStoredPost) -> Iterator[StyledLine]:
    """Yield what the check found; each line opens the draft where its sentence is."""
    file = result.document
    yield styled_line(StyledText(describe_post(post), "strong"))
    yield locate_line(styled_line(StyledText(file, "place"), indent=2), file, 1)
    yield styled_line()
    yield from locate_lines(
        render_checked_draft(result.checked, file, result.texts), file
    )
