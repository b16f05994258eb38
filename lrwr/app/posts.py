"""Texts about the manuscript: checks them against the library, reads and exports drafts."""

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace
from lrwr.app.post_files import CachedWebSearch, PostFiles, StoredPost
from lrwr.core.adapters.document_renderer import render_blocks_as_docx
from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX, parse_layout
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.names import fold_words
from lrwr.core.bible.name_lookup import list_cast_forms, list_narrators
from lrwr.core.evidence.attribute_check import (
    list_known_attributes,
    list_known_relations,
)
from lrwr.core.evidence.checker import DraftChecker
from lrwr.core.evidence.drafts import (
    PART_BREAK,
    CitationStyle,
    convert_citations,
    list_posts,
)
from lrwr.core.evidence.limits import (
    PartLength,
    Platform,
    measure_parts,
    split_parts,
)
from lrwr.core.evidence.pack import (
    AnchoredFact,
    anchor_facts,
    list_pack_documents,
)
from lrwr.core.evidence.quotation_check import (
    compare_with_texts,
    list_known_quotations,
)
from lrwr.core.evidence.results import (
    CheckedStatement,
    CheckedStory,
    StatementResult,
)
from lrwr.core.evidence.statement_search import StatementSearch, find_subject
from lrwr.core.evidence.statements import extract_post, is_english, iter_statements
from lrwr.core.evidence.web_queries import MAX_QUERIES, BookWords, build_queries
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Block, BlockKind, DocumentFormat, DocumentId
from lrwr.core.model.errors import (
    NotFound,
    ServiceUnavailable,
    SettingsProblem,
    StoreProblem,
    UnreadableDocument,
)
from lrwr.core.model.text import Span
from lrwr.core.ports.sources import WebPage
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.freshness import find_changed_files
from lrwr.core.retrieval.story import build_search_scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from lrwr.core.model.documents import Horizon


SHOWN_PAGES = 2
"""Pages that are shown for a sentence outside the book."""

BEFORE_SENTENCES = 2
"""Sentences before a statement that a language model sees, for its pronouns."""

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


def read_draft(content: bytes, name: str) -> DocumentText:
    """Return the text and lines of a draft, Markdown, plain text or Word.

    `name` is its file name; its ending selects the format.

    Raises:
        UnreadableDocument: It is no text, too long, or not English.
        NotFound: It has no words.
    """
    if len(content) > MAX_DRAFT_BYTES:
        raise UnreadableDocument(
            f"{name} is larger than {MAX_DRAFT_BYTES // 1000:,} kB",
            hint="Check a part of it at a time.",
        )
    suffix = PurePosixPath(name).suffix.lower()
    kind = FORMATS_BY_SUFFIX.get(suffix, DocumentFormat.TEXT)
    layout = parse_layout(kind, content, name)
    text = layout.text
    if not any(character.isalnum() for character in text):
        raise NotFound(f"{name} has no words", hint="Write something, then check it.")
    if not is_english(text):
        raise UnreadableDocument(
            f"{name} was not evaluated: it does not seem to be English",
            hint="Check drafts in English only.",
        )
    return DocumentText(text, layout.lines)


def measure_draft(draft: DocumentText, platform: Platform) -> list[PartLength]:
    """Return the length of each part of a draft on `platform`; lines of `---` divide
    parts.
    """
    text = extract_post(draft.text)
    spans = split_parts(text)
    return measure_parts([text[s.start : s.end] for s in spans], platform)


async def load_checked_story(workspace: Workspace, as_of: str = "") -> CheckedStory:
    """Return the story that drafts are checked against, up to `as_of`, such as "ch3".

    Raises:
        NotFound: Nothing was ingested here, or the horizon does not exist.
    """
    await workspace.require_text()
    bible = workspace.bible()
    cast = list_cast_forms(await bible.names())
    order, pipeline = await bible.story_order(), workspace.settings.pipeline
    horizon = await bible.horizon(as_of) if as_of else None
    story_data = await bible.read(horizon)
    scope = build_search_scope(order, types=(), horizon=horizon, kinds=[*ChunkKind])
    documents = scope.documents if horizon is not None else order.outlines
    texts = await workspace.passages.texts(documents or ())
    parts = [text.text[: scope.until.get(id_)] for id_, text in texts.items()]
    words = (word for part in parts for word in fold_words(part))
    return CheckedStory(
        order,
        pipeline,
        cast,
        horizon,
        list_cast_forms(await bible.names(horizon)) if horizon is not None else cast,
        frozenset(words) if horizon is not None else frozenset(),
        list_known_attributes(story_data),
        list_known_relations(story_data),
        list_known_quotations(story_data),
        list_narrators(story_data),
        await asyncio.to_thread(_collect_stems, parts),
    )


def _collect_stems(texts: Sequence[str]) -> frozenset[str]:
    return frozenset().union(*map(stem_words, texts))


@lru_cache(maxsize=2_000)
def split_passage(text: str) -> list[Span]:
    """Return the spans of the sentences of a passage; many statements share it."""
    return find_sentence_spans(text)


def create_draft_checker(
    workspace: Workspace, *, by_words_only: bool = False
) -> DraftChecker:
    """Return what compares statements with the library; `by_words_only` embeds nothing
    and looks for no differences.
    """
    search = StatementSearch(
        workspace.finder(),
        workspace.passages,
        workspace.retrieval.local_reranker,
        dense=not by_words_only,
    )
    passages, details = workspace.passages, not by_words_only
    return DraftChecker(search, passages, split_passage, with_details=details)


async def check_draft(
    workspace: Workspace,
    draft: DocumentText,
    story: CheckedStory,
    advance: "Callable[[], object]" = lambda: None,
) -> CheckedDraft:
    """Check `draft` against `story`. Nothing is stored or sent.

    `advance` is called after each statement.

    Raises:
        NotFound: Nothing was ingested here.
        StoreProblem: The library cannot be read.
    """
    checker = create_draft_checker(workspace)
    checked: list[CheckedStatement] = []
    subject = ""
    for statement in iter_statements(draft, find_sentence_spans):
        last = checked[-1].statement.text if checked else ""
        result = await checker.check(statement, story, subject, last)
        before = " ".join(c.statement.text for c in checked[-BEFORE_SENTENCES:])
        checked.append(replace(result, before=before))
        subject = find_subject(statement, story) or subject
        advance()
    return CheckedDraft(tuple(checked), story.horizon)


async def plan_queries(
    workspace: Workspace, draft: CheckedDraft
) -> dict[CheckedStatement, str]:
    """Return the web queries for sentences outside the book that cite no page, at most
    `MAX_QUERIES`; nothing is sent.

    Raises:
        StoreProblem: The library cannot be read.
    """
    waiting = [
        checked
        for checked in draft.statements
        if checked.result is StatementResult.OUTSIDE and not checked.statement.links
    ]
    if not waiting:
        return {}
    names = await workspace.bible().names()
    outlines = await workspace.passages.outlines()
    texts = await workspace.passages.texts([outline.id for outline in outlines])
    book = BookWords(text.text for text in texts.values())
    queries = (
        (checked, query)
        for checked in waiting
        for query in build_queries([checked.statement.text], names, book)[:1]
    )
    return dict(islice(queries, MAX_QUERIES))


async def find_pages(
    workspace: Workspace, draft: CheckedDraft, notify: "Callable[[str], None]"
) -> CheckedDraft:
    """Return `draft` with pages for sentences outside the book that cite none, at most
    `MAX_QUERIES` of them. Without a web search, or consent to it, nothing is sent.

    `notify` receives each query before it is sent, and a sentence about each failure.

    Raises:
        StoreProblem: The library cannot be read.
    """
    web = workspace.egress.web_search()
    queries = await plan_queries(workspace, draft) if web is not None else {}
    if web is None or not queries:
        return draft
    cached = CachedWebSearch(web, workspace.library, workspace.now)
    pages: dict[CheckedStatement, tuple[WebPage, ...]] = {}
    for checked, query in queries.items():
        notify(f"Searching the web for “{query}”")
        try:
            pages[checked] = tuple(await cached.search(query, SHOWN_PAGES))
        except ServiceUnavailable as error:
            notify(f"Web search failed. {error.full_text}")
            break
    statements = tuple(
        replace(checked, pages=pages.get(checked, ())) for checked in draft.statements
    )
    return replace(draft, statements=statements)


def load_posts(workspace: Workspace, warn: "Callable[[str], None]") -> list[StoredPost]:
    """Return the drafts of the library, newest first.

    `warn` receives a sentence about each whose files cannot be read.
    """
    files, posts = PostFiles(workspace.library), []
    for name in files.list_names():
        try:
            posts.append(files.load(name))
        except StoreProblem as error:
            warn(error.full_text)
    return sorted(posts, key=lambda post: -post.changed)


@dataclass(frozen=True, slots=True)
class AnchoredPost:
    """The facts of a draft with the present places of their quotations.

    `changed` are their documents whose files have changed since the last ingest: there,
    the quotations are compared with the file.
    """

    facts: tuple[AnchoredFact, ...] = ()
    changed: tuple[DocumentId, ...] = ()


async def reanchor_post(workspace: Workspace, post: StoredPost) -> AnchoredPost:
    """Return the facts of a draft with the places of their quotations in the files as
    they are now.

    Raises:
        StoreProblem: The library cannot be read.
    """
    facts = post.evidence.pack.facts
    outlines = await workspace.passages.outlines()
    texts = await workspace.passages.texts([outline.id for outline in outlines])
    changed = await _read_changed_texts(
        workspace, list_pack_documents(post.evidence.pack)
    )
    return AnchoredPost(anchor_facts(facts, {**texts, **changed}), tuple(changed))


async def _read_changed_texts(
    workspace: Workspace, documents: Collection[DocumentId]
) -> dict[DocumentId, DocumentText]:
    """Return the present texts of those of `documents` whose file has another text than
    the library.

    Files that are missing or cannot be read are left out.

    Raises:
        StoreProblem: The library cannot be read.
    """
    root, pipeline = workspace.library.root, workspace.settings.pipeline
    changed = await find_changed_files(workspace.versions, pipeline, root, documents)
    stored = await workspace.passages.texts(changed)
    return await asyncio.to_thread(_parse_changed_files, root, stored)


def _parse_changed_files(
    root: Path, stored: Mapping[DocumentId, DocumentText]
) -> dict[DocumentId, DocumentText]:
    changed = {}
    for document in sorted(stored):
        path = root / document
        kind = FORMATS_BY_SUFFIX.get(path.suffix.lower())
        if kind is None:
            continue
        try:
            layout = parse_layout(kind, path.read_bytes(), document)
        except (OSError, UnreadableDocument):
            continue
        if layout.text != stored[document].text:
            changed[document] = DocumentText(layout.text, layout.lines)
    return changed


async def compare_with_files(
    workspace: Workspace, draft: CheckedDraft
) -> tuple[CheckedDraft, tuple[DocumentId, ...]]:
    """Return `draft` with its quotations compared with the files as they are now, and
    the documents with passages whose files have changed since the last ingest.

    Raises:
        StoreProblem: The library cannot be read.
    """
    changed = await _read_changed_texts(workspace, draft.documents)
    if not changed:
        return draft, ()
    texts = await workspace.passages.texts(draft.documents)
    present = [text.text for text in {**texts, **changed}.values()]
    statements = (compare_with_texts(c, present) for c in draft.statements)
    return replace(draft, statements=tuple(statements)), tuple(changed)


@dataclass(frozen=True, slots=True)
class PostExport:
    """An exported draft: its text, the bytes of its file, and its posts; no posts
    without a platform.
    """

    text: str
    content: bytes
    posts: tuple[str, ...] = ()


def export_post(
    post: StoredPost, ending: str, platform: Platform | None, style: CitationStyle
) -> PostExport:
    """Return a draft as `.md`, `.docx` or `.txt`, or as the posts of `platform`.

    Raises:
        SettingsProblem: It shall be posted and is an outline with room to write.
    """
    if platform is not None:
        if re.search(r"^…$", post.text, re.MULTILINE):
            raise SettingsProblem(
                f"{post.name} is an outline: it has room that you have not filled",
                hint=f"Write in {post.file}, and delete the lines with `…`.",
            )
        posts = tuple(list_posts(post.text, platform, style, find_sentence_spans))
        text = f"{PART_BREAK.join(posts)}\n"
        return PostExport(text, text.encode(), posts)
    text = convert_citations(post.text, style)
    if ending == ".docx":
        return PostExport(text, render_blocks_as_docx(_iter_post_blocks(text)))
    if ending == ".txt":
        text = re.sub(r"^#{1,6}[ \t]+", "", text, flags=re.MULTILINE)
    return PostExport(text, text.encode())


def _iter_post_blocks(text: str) -> Iterator[Block]:
    """Yield the headings, list items and paragraphs of the Markdown of a draft."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        for line in paragraph.strip().split("\n"):
            heading = re.match(r"(#{1,6})[ \t]+(.*)", line)
            if heading:
                yield Block(BlockKind.HEADING, heading[2], len(heading[1]))
            elif line.startswith("- "):
                yield Block(BlockKind.ITEM, line[2:])
            elif re.fullmatch(r"[ \t]*-{3,}[ \t]*", line):
                yield Block(BlockKind.TEXT, "* * *")
            elif line.strip():
                yield Block(BlockKind.TEXT, line)
