"""Compares the manuscript's files with the library, without the code that processes
documents.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from lrwr.core.canon.model import Canon, normalize_canon_path
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId, DocumentOutline, DocumentType
from lrwr.core.ports.models import Embedder
from lrwr.core.ports.sources import ManuscriptSource, SkippedFile
from lrwr.core.ports.stores import DocumentVersion, KnowledgeStore
from lrwr.pipeline.changes import (
    DecisionOf,
    DocumentChanges,
    ManuscriptScan,
    compare_contents,
    detect_changes,
    withhold_deletions,
)

_POSTS_FOLDER = re.compile(r"(?:.*/)?posts/")

UNFINISHED = "unfinished"
"""Suffix of the stored recipe name of a document that the next run must complete."""

SEMANTIC_REVISION = "semantic-1"
"""The version of the splitter of pipeline b."""


def build_naive_recipe_name(size: int, overlap: int, embedder: Embedder | None) -> str:
    """Return the splitter's version, the sizes and the embedding space of pipeline a,
    as one text.
    """
    return f"recursive-2/{size}/{overlap}/{_name_space(embedder)}"


def build_agentic_recipe_name(
    least: int, most: int, rules: str, model: str, embedder: Embedder | None
) -> str:
    """Return the versions of splitter, rules and model, the chunk sizes and the
    embedding space of pipeline b, as one text.

    `model` is empty if rules only analyse documents.
    """
    space = _name_space(embedder)
    return f"{SEMANTIC_REVISION}/{least}-{most}/{rules}/{model or 'no-model'}/{space}"


def _name_space(embedder: Embedder | None) -> str:
    return embedder.space if embedder else "words-only"


@dataclass(slots=True)
class ManuscriptScanner:
    """Finds out what an ingestion would do; writes nothing.

    `recipe` returns the name of everything besides a document that affects its
    knowledge. `complete`, `forget_missing` and `decision_of` are those of
    `DocumentProcessingService`. `skipped_files` are those of the last scan.
    """

    source: ManuscriptSource
    store: KnowledgeStore
    pipeline: Pipeline
    recipe: Callable[[], str]
    complete: bool = True
    forget_missing: bool = False
    decision_of: DecisionOf | None = None
    skipped_files: tuple[SkippedFile, ...] = field(default=(), init=False)

    def recipes(self) -> tuple[str, ...]:
        """Return the names of the recipes whose documents need not be processed
        again.
        """
        recipe = self.recipe()
        return (recipe,) if self.complete else (recipe, f"{recipe}/{UNFINISHED}")

    async def scan(self, *, verify: bool = False) -> ManuscriptScan:
        """Compare the list of the manuscript's files with the library; reads a file
        only to tell whether a document is missing or was moved.

        With `verify`, every file counts as changed.

        Raises:
            NotFound: The manuscript folder does not exist.
            StoreProblem: The library cannot be read.
        """
        listing = await self.source.list()
        self.skipped_files = listing.skipped
        stored_versions = await self.store.document_versions(self.pipeline)
        changes = detect_changes(
            stored_versions,
            listing.found,
            recipes=self.recipes(),
            covers=self.source.covers,
            verify=verify,
            missing_too=self.forget_missing,
            decision_of=self.decision_of,
        )
        if not self.forget_missing:
            changes = await withhold_deletions(
                changes, stored_versions, listing, self.source
            )
        return ManuscriptScan(listing, stored_versions, changes)

    async def compare(self) -> DocumentChanges:
        """Compare the manuscript's files with the library, changed ones by content.

        Raises what `scan` raises.
        """
        return await compare_contents(
            await self.scan(), self.recipes(), self.source, self.decision_of
        )


LEAST_WORDS = 20
"""Documents with fewer words may be alike, such as notes that are not begun."""


def find_identical_documents(
    outlines: Iterable[DocumentOutline], versions: Iterable[DocumentVersion]
) -> list[tuple[DocumentId, ...]]:
    """Return the groups of documents whose files are the same byte for byte, sorted.

    Documents with fewer than `LEAST_WORDS` words do not count. `versions` has the
    hashes of the files.
    """
    long_ones = {outline.id for outline in outlines if outline.words >= LEAST_WORDS}
    groups: dict[str, list[DocumentId]] = {}
    for version in versions:
        if version.id in long_ones and version.content:
            groups.setdefault(version.content, []).append(version.id)
    return sorted(tuple(sorted(ids)) for ids in groups.values() if len(ids) > 1)


def describe_identical_documents(groups: Sequence[tuple[DocumentId, ...]]) -> str:
    """Return a remark about the first of `groups` of identical documents; empty if
    there are none.
    """
    if not groups:
        return ""
    first, second, *_ = groups[0]
    others = sum(len(group) - 1 for group in groups) - 1
    verb = "is a copy" if others == 1 else "are copies"
    more = f" {others:,} more {verb} of another document." if others else ""
    return (
        f"{first} and {second} have the same text, so it counts twice, and chapters after"
        f" them may have wrong numbers.{more} Delete one of each, or write `lrwr: ignore`"
        " into its front matter."
    )


def describe_post_documents(documents: Iterable[DocumentId]) -> str:
    """Return a remark about those of `documents` that are in a folder called `posts`;
    empty if there are none.

    Such a folder of the author's own is part of the manuscript; that of `lrwr post` is
    not, because lrwr creates it with a mark.
    """
    folders = [match[0] for match in map(_POSTS_FOLDER.match, documents) if match]
    if not folders:
        return ""
    number = "1 document" if len(folders) == 1 else f"{len(folders):,} documents"
    return (
        f"{min(folders)} is read as part of the manuscript ({number}). If it is not part"
        ' of the story, write exclude = ["posts/"] under [manuscript] in lrwr.toml.'
    )


def describe_shared_positions(outlines: Iterable[DocumentOutline], canon: Canon) -> str:
    """Return a remark about scene documents with the same `order` in front matter;
    empty if there are none.

    Documents that the user's decisions or an index note put in order do not count.
    """
    outlines = tuple(outlines)
    ordered = {*canon.order, *(f for o in outlines for f in o.scene_files)}
    ordered_paths = {normalize_canon_path(path) for path in ordered}
    documents_by_position: dict[float, list[DocumentId]] = {}
    for outline in sorted(outlines, key=lambda outline: outline.id):
        path = normalize_canon_path(outline.id)
        is_story = canon.types.get(path, outline.type) is DocumentType.SCENE
        if outline.order is not None and is_story and path not in ordered_paths:
            documents_by_position.setdefault(outline.order, []).append(outline.id)
    shared = sorted(
        (order, ids) for order, ids in documents_by_position.items() if len(ids) > 1
    )
    if not shared:
        return ""
    position, (first, second, *_) = shared[0]
    others = sum(len(ids) for _, ids in shared) - 2
    more = f" {others:,} other documents share theirs, too." if others else ""
    if others == 1:
        more = f" {shared[0][1][2]} has it, too."
    return (
        f"{first} and {second} have the same `order: {position:g}` in their front"
        f" matter; chapters after them may be in the wrong order.{more} Change one, or"
        " run `lrwr canon order`."
    )
