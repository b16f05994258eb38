"""The board of scenes with their drafts, and drafts of posts, for the screens."""

import asyncio
import atexit
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from lrwr.app.draft_check import CheckedScene, check_scene, find_draft_subject
from lrwr.app.draft_decisions import Draft, DraftDesk, LedgerRow
from lrwr.app.drafts import (
    SceneStatus,
    ask_plan_questions,
    brief_scene,
    create_board_from_text,
    find_tidy_hints,
    list_scene_states,
    load_placed_board,
    open_draft_folder,
    write_board,
)
from lrwr.app.post_files import StoredPost
from lrwr.app.posts import (
    CheckedDraft,
    check_draft,
    compare_with_files,
    load_checked_story,
    load_posts,
    read_draft,
)
from lrwr.core.drafting.brief import DEFAULT_BRIEF_TOKENS, Brief
from lrwr.core.drafting.folder import BOARD_FILE
from lrwr.core.drafting.plan_questions import PlanQuestion, PlanStep, TidyHint
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.drafts import DraftEntry
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.stores import DocumentText
from lrwr.tui.queries.passages import require_ingested

if TYPE_CHECKING:
    from lrwr.app.container import Workspace


MAKE_HINT = (
    "Press m on the drafts screen, or run `lrwr draft board --from-text`, to make one of"
    " your manuscript."
)


@dataclass(frozen=True, slots=True)
class DraftBoard:
    """The scenes of the board in the file `path`, relative to the library's folder."""

    statuses: tuple[SceneStatus, ...]
    path: str


@dataclass(frozen=True, slots=True)
class DraftText:
    """The lines of a draft, or of its difference from the one before."""

    draft: Draft
    lines: tuple[str, ...]


async def load_draft_board(workspace: "Workspace") -> DraftBoard:
    """Return where each scene of the board stands.

    Raises:
        NotFound: There is no board.
        SettingsProblem: It cannot be read.
        StoreProblem: The library cannot be read.
    """
    folder = open_draft_folder(workspace)
    try:
        board = await load_placed_board(workspace, folder)
    except NotFound as error:
        raise NotFound(str(error), hint=MAKE_HINT) from error
    statuses = await list_scene_states(workspace, folder, board)
    return DraftBoard(tuple(statuses), folder.name_of(BOARD_FILE))


async def load_plan_questions(
    workspace: "Workspace",
) -> Mapping[PlanStep, Sequence[PlanQuestion]]:
    """Return what each step of the plan leaves open, as `lrwr draft plan` lists it.

    Raises:
        NotFound: There is no board.
    """
    folder = open_draft_folder(workspace)
    return {
        step: await ask_plan_questions(workspace, folder, step) for step in PlanStep
    }


async def load_tidy_hints(workspace: "Workspace") -> Sequence[TidyHint]:
    """Return duplicates and orphans, as `lrwr draft tidy` lists them.

    Raises:
        NotFound: There is no board, or nothing was ingested.
    """
    return await find_tidy_hints(workspace, open_draft_folder(workspace))


async def load_ledger(workspace: "Workspace") -> Sequence[LedgerRow]:
    """Return what became of each draft, as `lrwr draft ledger` lists it.

    Raises:
        SettingsProblem: A draft cannot be read.
    """
    return await DraftDesk(workspace, open_draft_folder(workspace)).list_ledger()


async def make_draft_board(workspace: "Workspace") -> str:
    """Write a board of the ingested manuscript, and return its path.

    Raises:
        NotFound: Nothing was ingested, or the story has no scene.
        SettingsProblem: There is a board that was changed, or a folder of other files.
    """
    board = await create_board_from_text(workspace)
    return write_board(open_draft_folder(workspace), board)


async def read_scene_brief(workspace: "Workspace", scene: str) -> Brief:
    """Return what the scene with the id `scene` needs.

    Raises:
        NotFound: Nothing was ingested.
        StoreProblem: The library cannot be read.
    """
    folder = open_draft_folder(workspace)
    return await brief_scene(workspace, folder, scene, DEFAULT_BRIEF_TOKENS)


async def check_scene_draft(workspace: "Workspace", scene: str) -> CheckedScene:
    """Check the latest draft of a scene, else the file in which it stands.

    Raises:
        NotFound: There is neither, or nothing was ingested.
        UnreadableDocument: It cannot be read.
    """
    folder = open_draft_folder(workspace)
    subject = await find_draft_subject(workspace, folder, scene)
    place = await asyncio.to_thread(partial(mkdtemp, prefix="lrwr-draft-"))
    delete = partial(shutil.rmtree, place, ignore_errors=True)
    # A thread of a cancelled check may still write there until the end.
    atexit.register(delete)
    checked = await check_scene(workspace, subject, Path(place), lambda _: None)
    await asyncio.to_thread(delete)
    atexit.unregister(delete)
    return checked


async def read_scene_draft(
    workspace: "Workspace", scene: str, *, diff: bool
) -> DraftText:
    """Return the latest draft of a scene, or with `diff` what differs from the one
    before, or from the file that it became.

    Raises:
        NotFound: There is no draft, or none to compare it with.
    """
    desk = DraftDesk(workspace, open_draft_folder(workspace))
    draft = await desk.find(scene)
    lines = await desk.compare(draft) if diff else draft.file.text.splitlines()
    return DraftText(draft, tuple(lines))


async def accept_draft(workspace: "Workspace", scene: str, file: str) -> DraftEntry:
    """Make the latest draft of a scene the new file `file` of the manuscript.

    `file` is relative to the library's folder.

    Raises:
        SettingsProblem: The file exists, or would not be ingested.
        LrwrError: It cannot be written.
    """
    desk = DraftDesk(workspace, open_draft_folder(workspace))
    to = workspace.library.root / file
    return await desk.accept(await desk.find(scene), to)


async def reject_draft(workspace: "Workspace", scene: str) -> DraftEntry:
    """Record that the latest draft of a scene is rejected.

    Raises:
        NotFound: There is no draft.
        SettingsProblem: It was accepted.
    """
    desk = DraftDesk(workspace, open_draft_folder(workspace))
    return await desk.reject(await desk.find(scene))


async def undo_draft(workspace: "Workspace", scene: str) -> DraftEntry:
    """Remove the file of the draft of a scene that was accepted; the draft stays.

    Raises:
        NotFound: No draft of the scene is accepted.
        SettingsProblem: The file was changed since.
    """
    return await DraftDesk(workspace, open_draft_folder(workspace)).undo(scene)


@dataclass(frozen=True, slots=True)
class CheckedStoredPost:
    """A draft with the results of its check; `document` is its path relative to the
    library, `texts` are those of the documents with passages.
    """

    document: DocumentId
    checked: CheckedDraft
    texts: Mapping[DocumentId, DocumentText]


async def load_post_list(
    workspace: "Workspace", warn: Callable[[str], None]
) -> Sequence[StoredPost]:
    """Return the drafts, newest first; `warn` receives problems with their files.

    Raises:
        NotFound: No manuscript was ingested.
    """
    require_ingested(workspace)
    return load_posts(workspace, warn)


async def check_stored_post(
    workspace: "Workspace", post: StoredPost
) -> CheckedStoredPost:
    """Check a draft as it is now, up to its horizon, without a language model.

    Raises:
        NotFound: It has no words, or its horizon no longer exists.
        UnreadableDocument: It is too long, or not English.
        StoreProblem: The library cannot be read.
    """
    draft = read_draft(post.text.encode(), post.file.name)
    story = await load_checked_story(workspace, post.evidence.as_of)
    checked = await check_draft(workspace, draft, story)
    checked, _ = await compare_with_files(workspace, checked)
    texts = await workspace.passages.texts(checked.documents)
    document = DocumentId(workspace.library.name_of(post.file))
    return CheckedStoredPost(document, checked, texts)
