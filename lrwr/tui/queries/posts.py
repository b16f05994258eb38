"""Drafts of texts about the story, and what their check finds, for the screens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.post_files import StoredPost
from lrwr.app.posts import (
    CheckedDraft,
    check_draft,
    compare_with_files,
    load_checked_story,
    load_posts,
    read_draft,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import DocumentText
from lrwr.tui.queries.story import require_ingested

if TYPE_CHECKING:
    from lrwr.app.container import Workspace


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
