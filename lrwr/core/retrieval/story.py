"""Story order: documents into one line, chapters into numbers, horizons into bounds."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from lrwr.core.canon.model import Canon, normalize_canon_path
from lrwr.core.model.chunks import Chunk, ChunkKind, Passage, Pipeline, SearchScope
from lrwr.core.model.documents import (
    Chapter,
    DocumentId,
    DocumentOutline,
    DocumentType,
    Horizon,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import PassageStore

_DIGITS = re.compile(r"(\d+)")
_HORIZON = re.compile(
    r"(?:(?:vol|volume)\W*(?P<volume>\d{1,6})(?!\d)\W*)?"
    r"(?:(?:ch|chap|chapter)\W*)?(?P<chapter>\d{1,6})"
    r"(?:\W+(?:s|sc|scene)\W*(?P<scene>\d{1,6}))?",
    re.IGNORECASE,
)
_SCENE_SUFFIX = re.compile(r":(?:s|sc|scene)(\d{1,6})$", re.IGNORECASE)
_EXAMPLES = "Say it as ch12, ch12:s2, vol3.ch6, or the path of a file."


@dataclass(frozen=True, slots=True)
class StoryOrder:
    """The library's documents, those of the story in the order they are told.

    `story` holds scene documents only. `numbers` gives each of their chapters its
    number in story order: 0 before the first chapter of all, then 1, 2, 3, …. A later
    opening (the preface of a second part) shares the number of the chapter after it.
    """

    outlines: Mapping[DocumentId, DocumentOutline]
    story: tuple[DocumentId, ...]
    numbers: Mapping[DocumentId, tuple[int, ...]]

    @property
    def last(self) -> int:
        """The number of the last chapter."""
        return max((n for row in self.numbers.values() for n in row), default=0)

    def chapter_number(self, document: DocumentId, chapter: int) -> int | None:
        """Return a chapter's number; None outside the story."""
        row = self.numbers.get(document, ())
        return row[chapter] if chapter < len(row) else None

    def iter_chapters(self) -> Iterator[tuple[DocumentId, Chapter, int]]:
        """Yield every chapter of the story, in order, with its number."""
        for document in self.story:
            chapters = self.outlines[document].chapters
            for chapter, number in zip(chapters, self.numbers[document], strict=True):
                yield document, chapter, number


def build_story_order(
    outlines: Sequence[DocumentOutline],
    order: Sequence[str],
    canon: Canon | None = None,
) -> StoryOrder:
    """Put documents into story order.

    The front matter's `order:` says a document's place among all; then comes the
    first pattern of `order` that fits its path; then its path, numbers by value. The
    writer's decisions in `canon` outrank all of it: types first, then the order, in
    which the documents it names trade places among themselves.
    """
    canon = canon or Canon()
    by_id = {outline.id: _as_decided(outline, canon) for outline in outlines}
    scenes = [o for o in by_id.values() if o.type is DocumentType.SCENE]
    by_path = sorted(scenes, key=lambda o: (_rank(o.id, order), natural_key(o.id)))
    placed = [
        (float(place) if o.order is None else o.order, o.order is None, place, o.id)
        for place, o in enumerate(by_path, start=1)
    ]
    story = [document for *_, document in sorted(placed)]
    story = reorder_documents(story, canon.order)
    return StoryOrder(by_id, tuple(story), number_chapters(by_id, story))


def reorder_documents(
    documents: Sequence[DocumentId], order: Sequence[DocumentId]
) -> list[DocumentId]:
    """Return `documents` with those that `order` names in its order, in their places.

    A name of `order` that is not among them is passed over.
    """
    ranks = {document: rank for rank, document in enumerate(order)}
    ordered_documents = [d for d in documents if normalize_canon_path(d) in ranks]
    waiting = iter(
        sorted(ordered_documents, key=lambda d: ranks[normalize_canon_path(d)])
    )
    return [next(waiting) if normalize_canon_path(d) in ranks else d for d in documents]


def merge_document_order(
    story: Sequence[DocumentId],
    before: Sequence[DocumentId],
    now: Sequence[DocumentId],
) -> tuple[DocumentId, ...]:
    """Return the order that decides `now` and keeps what `before` decided of `story`.

    `story` is told as `before` says. All that either names is named, and no more.
    """
    documents = dict.fromkeys([*before, *now])
    story_documents = [
        normalize_canon_path(d)
        for d in reorder_documents(story or list(documents), now)
    ]
    existing_documents = [
        document for document in story_documents if document in documents
    ]
    return (
        *existing_documents,
        *(document for document in documents if document not in existing_documents),
    )


def number_chapters(
    outlines: Mapping[DocumentId, DocumentOutline], story: Sequence[DocumentId]
) -> dict[DocumentId, tuple[int, ...]]:
    """Number the chapters of the documents in `story`, as `StoryOrder` tells them."""
    numbers: dict[DocumentId, tuple[int, ...]] = {}
    count = 0
    for document in story:
        row = []
        for chapter in outlines[document].chapters:
            if chapter.opening:
                row.append(count + 1 if count else 0)
            else:
                count += 1
                row.append(count)
        numbers[document] = tuple(row)
    return numbers


def natural_key(path: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which chapter 2 comes before chapter 10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part.casefold())
        for part in _DIGITS.split(path)
        if part
    )


def build_search_scope(
    order: StoryOrder,
    *,
    types: Collection[DocumentType],
    horizon: Horizon | None,
    kinds: Collection[ChunkKind],
) -> SearchScope:
    """Return the hard bound for a search; no `types` means every type.

    Under a horizon only the story itself is in scope: a note has no place in story
    order, so nobody can say that it gives nothing away.
    """
    if horizon is None:
        within = [o.id for o in order.outlines.values() if not types or o.type in types]
        has_all_documents = len(within) == len(order.outlines)
        return SearchScope(
            None if has_all_documents else frozenset(within), {}, frozenset(kinds)
        )
    if types and DocumentType.SCENE not in types:
        return SearchScope(frozenset(), {}, frozenset(kinds))
    ends = _visible_ends(order, horizon)
    until = {document: end for document, end in ends.items() if end is not None}
    return SearchScope(frozenset(ends), until, frozenset(kinds))


def is_within_scope(document: DocumentId, span: Span, scope: SearchScope) -> bool:
    """Say whether `scope` lets a stretch of a document be seen."""
    if scope.documents is not None and document not in scope.documents:
        return False
    until = scope.until.get(document)
    return until is None or span.end <= until


def parse_horizon(text: str, order: StoryOrder) -> Horizon:
    """Read what a writer calls a place in the story.

    `ch12` is the 12th chapter in story order, `ch12:s2` its second scene, `vol3.ch6`
    the chapter headed 6 in the volume headed 3; a file's path means its end.

    Raises:
        NotFound: There is no such chapter, scene or file.
    """
    match = _HORIZON.fullmatch(text.strip())
    if match is None:
        return _horizon_of_path(text.strip(), order)
    number = int(match["chapter"])
    if match["volume"]:
        number = _number_in_volume(int(match["volume"]), number, order)
    if number > order.last:
        raise NotFound(
            f"The story has no chapter {number}; its last is {order.last}",
            hint=_EXAMPLES,
        )
    return _checked(number, int(match["scene"]) if match["scene"] else None, order)


def is_at_or_before_horizon(as_of: str, horizon: Horizon, order: StoryOrder) -> bool:
    """Say whether a place that the writer once named is at `horizon` or before it.

    The whole story, an empty name, is after every horizon; so is a place that is there
    no more.
    """
    if not as_of:
        return False
    try:
        asked_horizon = parse_horizon(as_of, order)
    except NotFound:
        return False
    if asked_horizon.chapter != horizon.chapter:
        return asked_horizon.chapter < horizon.chapter
    if horizon.scene is None:
        return True
    return asked_horizon.scene is not None and asked_horizon.scene <= horizon.scene


def _as_decided(outline: DocumentOutline, canon: Canon) -> DocumentOutline:
    kind = canon.types.get(normalize_canon_path(outline.id))
    return outline if kind is None else replace(outline, type=kind)


def _rank(document: DocumentId, order: Sequence[str]) -> int:
    for rank, pattern in enumerate(order):
        if document == pattern or fnmatchcase(document, pattern):
            return rank
    return len(order)


def _visible_ends(order: StoryOrder, horizon: Horizon) -> dict[DocumentId, int | None]:
    """Return where the visible part of each visible document ends; None: at its end."""
    ends: dict[DocumentId, int | None] = {}
    hidden: set[DocumentId] = set()
    last = _last_told(order, horizon.chapter)
    for document, chapter, number in order.iter_chapters():
        if document in hidden:
            continue
        bounded = chapter is last and horizon.scene is not None
        if number > horizon.chapter or (bounded and horizon.scene == 0):
            hidden.add(document)
            continue
        scene_end = _scene_end(chapter, horizon.scene) if bounded else None
        ends[document] = chapter.span.end if scene_end is None else scene_end
        if scene_end is not None:
            hidden.add(document)
    visible_documents = set(ends) - hidden
    return {
        document: None if document in visible_documents else end
        for document, end in ends.items()
    }


def _last_told(order: StoryOrder, number: int) -> Chapter | None:
    """Return the last chapter with that number, not one that opens it."""
    chapters = [chapter for _, chapter, n in order.iter_chapters() if n == number]
    return chapters[-1] if chapters else None


def _scene_end(chapter: Chapter, scene: int | None) -> int | None:
    if scene is None or scene >= len(chapter.scenes):
        return None
    return chapter.scenes[scene - 1].span.end


def _number_in_volume(volume: int, number: int, order: StoryOrder) -> int:
    for _, chapter, chapter_number in order.iter_chapters():
        if chapter.volume == volume and chapter.number == number:
            return chapter_number
    raise NotFound(f"No heading says volume {volume}, chapter {number}", hint=_EXAMPLES)


def _checked(number: int, scene: int | None, order: StoryOrder) -> Horizon:
    if scene is None:
        return Horizon(number)
    chapter = _last_told(order, number)
    scenes = len(chapter.scenes) if chapter else 0
    if not 1 <= scene <= scenes:
        raise NotFound(
            f"Chapter {number} has no scene {scene}; its last is scene {scenes}",
            hint=_EXAMPLES,
        )
    return Horizon(number, scene)


def _horizon_of_path(text: str, order: StoryOrder) -> Horizon:
    suffix = _SCENE_SUFFIX.search(text)
    path = (text[: suffix.start()] if suffix else text).removeprefix("./")
    fits = [d for d in order.story if d == path or d.endswith(f"/{path}")]
    if len(fits) != 1:
        problem = "No file" if not fits else "More than one file"
        raise NotFound(f"{problem} of the story is called {path!r}", hint=_EXAMPLES)
    chapters = order.outlines[fits[0]].chapters
    number = order.numbers[fits[0]][-1] if chapters else 0
    if not chapters or chapters[-1] is _last_told(order, number):
        return _checked(number, int(suffix[1]) if suffix else None, order)
    if suffix:
        raise NotFound(f"{path} opens a chapter and has no scenes", hint=_EXAMPLES)
    return Horizon(number, 0)


@dataclass(frozen=True, slots=True)
class ChapterTitle:
    """A chapter's number in story order, and its title, empty where it has none."""

    number: int
    title: str


class ChapterReader:
    """Reads the chapters of one library, up to a horizon; nothing after it is seen.

    Chapters come as passages of `pipeline`; the author's comments are left out.
    """

    def __init__(
        self,
        store: PassageStore,
        pipeline: Pipeline,
        order: StoryOrder,
        horizon: Horizon | None,
    ) -> None:
        self._store = store
        self._pipeline = pipeline
        self._order = order
        kinds = (ChunkKind.PROSE,)
        self._scope = build_search_scope(order, types=(), horizon=horizon, kinds=kinds)

    def contents(self) -> tuple[ChapterTitle, ...]:
        """Return the chapters that have begun, in story order."""
        return tuple(
            ChapterTitle(number, chapter.title)
            for document, chapter, number in self._order.iter_chapters()
            if _has_begun(document, chapter.span, self._scope)
        )

    async def chapter(self, number: int) -> tuple[Passage, ...]:
        """Return a chapter's passages in order; none where there is no such chapter."""
        passages: list[Passage] = []
        for document, place in self._places(number):
            chunks = await self._store.chunks_of(document, self._pipeline)
            passages += [
                build_passage(chunk, self._order, 0.0)
                for chunk in chunks
                if chunk.chapter == place
                and chunk.kind is ChunkKind.PROSE
                and is_within_scope(document, chunk.span, self._scope)
            ]
        return tuple(passages)

    def _places(self, number: int) -> Iterator[tuple[DocumentId, int]]:
        for document in self._order.story:
            for place, chapter_number in enumerate(self._order.numbers[document]):
                if chapter_number == number:
                    yield document, place


def build_passage(chunk: Chunk, order: StoryOrder, score: float) -> Passage:
    """Return a chunk with its place in the story."""
    outline = order.outlines[chunk.document]
    titled = outline.chapters[chunk.chapter : chunk.chapter + 1]
    number = order.chapter_number(chunk.document, chunk.chapter)
    return Passage(
        chunk=chunk,
        type=outline.type,
        chapter=number,
        chapter_title=titled[0].title if titled else outline.title,
        scene=None if number is None else chunk.scene + 1,
        score=score,
    )


def _has_begun(document: DocumentId, span: Span, scope: SearchScope) -> bool:
    return is_within_scope(
        document, Span(span.start, min(span.start + 1, span.end)), scope
    )
