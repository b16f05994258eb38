"""The posts screen: drafts of texts about the story, and what their check finds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType

from lrwr.app.post_files import StoredPost
from lrwr.app.presenters.post_drafts import describe_post
from lrwr.app.presenters.posts import render_checked_draft
from lrwr.app.presenters.text import StyledLine, StyledText, styled_line
from lrwr.core.bible.values import TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span
from lrwr.tui.actions.screen_keys import FIND_ACTION, OPEN_ROW_ACTION
from lrwr.tui.queries.posts import (
    CheckedStoredPost,
    check_stored_post,
    load_post_list,
)
from lrwr.tui.room import RoomScreen
from lrwr.tui.screens.master_detail import MasterDetailScreen
from lrwr.tui.widgets.lists import ListRow


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
        self.nothing = "No drafts yet. `lrwr post new` makes one."
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
    yield _locate(styled_line(StyledText(file, "place"), indent=2), file, 1)
    yield styled_line()
    place = 1
    for line in render_checked_draft(result.checked, file, result.texts):
        first = line.pieces[0] if line.pieces else ""
        if line.indent == 0 and isinstance(first, StyledText) and first.tone == "place":
            number = first.text.rpartition(":")[2].split("–")[0].split("-")[0]
            place = int(number) if number.isdecimal() else place
        yield _locate(line, file, place)


def _locate(line: StyledLine, document: DocumentId, number: int) -> StyledLine:
    """Return a line that Enter opens at a line of the draft."""
    evidence = TextEvidence(
        document=document,
        spans=(Span(0, 1),),
        text="",
        lines=LineRange(number, number),
        chapter=None,
        chapter_title="",
        scene=None,
        keeper=RULES_KEEPER,
        certainty=Certainty.PROBABLE,
    )
    return replace(line, evidence=evidence)
