"""Texts about the manuscript, such as newsletters: checks them against the library."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace
from lrwr.core.adapters.source.text import decode_text, find_sentence_spans
from lrwr.core.bible.name_lookup import list_cast_forms
from lrwr.core.evidence.checker import (
    CheckedStatement,
    CheckedStory,
    DraftChecker,
    find_subject,
)
from lrwr.core.evidence.statements import is_english, iter_statements
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, UnreadableDocument

if TYPE_CHECKING:
    from collections.abc import Callable

    from lrwr.core.model.documents import Horizon


MAX_DRAFT_BYTES = 500_000
"""Size of the longest draft that is checked, about 80,000 words."""


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """The statements of a draft, in text order, with the results of their check.

    `horizon` is the point of the story up to which readers may know it; None for all.
    """

    statements: tuple[CheckedStatement, ...]
    horizon: "Horizon | None" = None

    @property
    def needs_author(self) -> bool:
        """Whether the author has to look at any statement."""
        return any(checked.needs_author for checked in self.statements)

    @property
    def documents(self) -> frozenset[DocumentId]:
        """The documents that the closest passages are from."""
        return frozenset(
            closest.passage.chunk.document
            for checked in self.statements
            for closest in checked.passages
        )


def read_draft(content: bytes, name: str) -> str:
    """Return the text of a draft, Markdown, plain text or Word; `name` is its file name.

    Raises:
        UnreadableDocument: It is no text, too long, or not English.
        NotFound: It has no words.
    """
    if len(content) > MAX_DRAFT_BYTES:
        raise UnreadableDocument(
            f"{name} is larger than {MAX_DRAFT_BYTES // 1000:,} kB",
            hint="Check a part of it at a time.",
        )
    if name.lower().endswith(".docx"):
        from lrwr.core.adapters.source.docx import parse_docx

        layout = parse_docx(content, name)
        text = layout.text[layout.body.start : layout.body.end]
    else:
        text, _ = decode_text(content, name)
    if not any(character.isalnum() for character in text):
        raise NotFound(f"{name} has no words", hint="Write something, then check it.")
    if not is_english(text):
        raise UnreadableDocument(
            f"{name} was not evaluated: it does not seem to be English",
            hint="Check drafts in English only.",
        )
    return text


async def load_story(workspace: Workspace, as_of: str = "") -> CheckedStory:
    """Return the story that drafts are checked against, up to `as_of`, such as "ch3".

    Raises:
        NotFound: Nothing was ingested here, or the horizon does not exist.
    """
    await workspace.require_text()
    bible = workspace.bible()
    horizon = await bible.horizon(as_of) if as_of else None
    cast = list_cast_forms(await bible.names())
    return CheckedStory(
        await bible.story_order(),
        workspace.settings.pipeline,
        cast,
        horizon,
        list_cast_forms(await bible.names(horizon)) if horizon else cast,
    )


async def check_draft(
    workspace: Workspace,
    text: str,
    story: CheckedStory,
    advance: "Callable[[], object]" = lambda: None,
) -> CheckedDraft:
    """Check the draft `text`, Markdown, against `story`. Nothing is stored or sent.

    `advance` is called after each statement.

    Raises:
        NotFound: Nothing was ingested here.
        StoreProblem: The library cannot be read.
    """
    checker = DraftChecker(workspace.finder(), workspace.passages, find_sentence_spans)
    checked, subject = [], ""
    for statement in iter_statements(text, find_sentence_spans):
        checked.append(await checker.check(statement, story, subject))
        subject = find_subject(statement, story) or subject
        advance()
    return CheckedDraft(tuple(checked), story.horizon)
