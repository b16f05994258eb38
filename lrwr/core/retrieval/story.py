"""Story order: sorts documents, numbers chapters, parses horizons and reads chapters."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from lrwr.core.canon.model import Canon, normalize_canon_path
from lrwr.core.canon.resolver import find_similar_documents
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkKind, Passage, SearchScope
from lrwr.core.model.documents import (
    Chapter,
    DocumentId,
    DocumentOutline,
    DocumentType,
    Horizon,
    find_positions,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span, spell_reference_in_figures
from lrwr.core.ports.stores import PassageStore

_DIGITS = re.compile(r"(\d+)")
_HORIZON = re.compile(
    r"(?:(?:vol|volume|book|part)\W*(?P<volume>\d{1,6})(?!\d)\W*)?"
    r"(?:(?:ch|chap|chapter)\W*)?(?P<chapter>\d{1,6})"
    r"(?:\W+(?:s|sc|scene)\W*(?P<scene>\d{1,6}))?(?:@(?P<offset>\d{1,9}))?",
    re.IGNORECASE,
)
_RANGE_DASH = re.compile(r"\s*(?:[-–—]|\.\.|\bto\b)\s*", re.IGNORECASE)
_SCENE_SUFFIX = re.compile(r":(?:s|sc|scene)(\d{1,6})$", re.IGNORECASE)
_CHAPTERS_HINT = "`lrwr canon order --show` lists the chapters."
_LOCATION_HINT = "Write it as `ch12`, `ch12:s2`, `vol3.ch6` or the path of a file."


@dataclass(frozen=True, slots=True)
class StoryOrder:
    """The documents of a library, with the order of those that tell the story.

    `outlines` has every document; `story` only scene documents, in story order.
    `numbers` maps each of these to the story-order numbers of its chapters: 0 for text
    before the first chapter of all, then 1, 2, 3, …. A later opening, such as the
    preface of a second part, has the number of the chapter that follows it.
    """

    outlines: Mapping[DocumentId, DocumentOutline]
    story: tuple[DocumentId, ...]
    numbers: Mapping[DocumentId, tuple[int, ...]]

    @property
    def last(self) -> int:
        """The story-order number of the last chapter; 0 without chapters."""
        return max((n for row in self.numbers.values() for n in row), default=0)

    def chapter_number(self, document: DocumentId, chapter: int) -> int | None:
        """Return the story-order number of the chapter at index `chapter`, from 0, of
        `document`.

        None for documents outside the story and for indexes beyond its last chapter.
        """
        row = self.numbers.get(document, ())
        return row[chapter] if chapter < len(row) else None

    def title(self, document: DocumentId) -> str:
        """Return the heading of the only chapter of `document`, else its own title."""
        outline = self.outlines[document]
        headings = [chapter.title for chapter in outline.chapters if chapter.title]
        return headings[0] if len(headings) == 1 else outline.title

    def iter_chapters(self) -> Iterator[tuple[DocumentId, Chapter, int]]:
        """Yield each chapter in story order: its document, the chapter, its story-order
        number.
        """
        for document in self.story:
            chapters = self.outlines[document].chapters
            for chapter, number in zip(chapters, self.numbers[document], strict=True):
                yield document, chapter, number


def build_story_order(
    outlines: Sequence[DocumentOutline],
    order: Sequence[str],
    canon: Canon | None = None,
) -> StoryOrder:
    """Sort documents into story order and number their chapters.

    Documents with an `order:` in their front matter take that position; a new file
    moves none whose `order:` is the number in its file name. The others follow the
    first glob pattern of `order` that matches their path, then their path, with numbers
    compared by value. Index notes override the relative order of the
    documents that they list. The user's decisions in `canon` override all this:
    document types first, then the relative order of the documents that `canon.order`
    lists.
    """
    canon = canon or Canon()
    by_id = {outline.id: _apply_type_decision(outline, canon) for outline in outlines}
    scenes = [o for o in by_id.values() if o.type is DocumentType.SCENE]
    by_path = sorted(
        scenes, key=lambda o: (_rank_by_pattern(o.id, order), natural_key(o.id))
    )
    # On equal positions the document with an `order:` wins.
    placed = [
        (position if o.order is None else o.order, o.order is None, place, o.id)
        for place, (o, position) in enumerate(
            zip(by_path, find_positions(by_path), strict=True)
        )
    ]
    story = [document for *_, document in sorted(placed)]
    indexes = [outline for outline in by_id.values() if outline.scene_files]
    for index in sorted(indexes, key=lambda outline: outline.id):
        story = _reorder_by_index(story, index)
    story = reorder_documents(story, canon.order)
    return StoryOrder(by_id, tuple(story), number_chapters(by_id, story))


class StoryOrderBuilder:
    """Builds the story order of one library, again only if something has changed.

    `patterns` is the setting `[manuscript] order`.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._inputs: tuple[Sequence[DocumentOutline], Canon] | None = None
        self._order = StoryOrder({}, (), {})

    def build(self, outlines: Sequence[DocumentOutline], canon: Canon) -> StoryOrder:
        """Return what `build_story_order` returns."""
        # Unchanged outlines are the same objects, so that comparing them is fast.
        if self._inputs != (outlines, canon):
            self._order = build_story_order(outlines, self._patterns, canon)
            self._inputs = outlines, canon
        return self._order


def reorder_documents(
    documents: Sequence[DocumentId], order: Sequence[DocumentId]
) -> list[DocumentId]:
    """Return `documents` with those that `order` lists sorted as there.

    The sorted ones share the positions they had; all others stay where they are. Names
    in `order` that are not among `documents` are ignored.
    """
    if not order:
        return list(documents)
    ranks = {document: rank for rank, document in enumerate(order)}
    ordered_documents = [d for d in documents if normalize_canon_path(d) in ranks]
    waiting = iter(
        sorted(ordered_documents, key=lambda d: ranks[normalize_canon_path(d)])
    )
    return [next(waiting) if normalize_canon_path(d) in ranks else d for d in documents]


def _reorder_by_index(
    documents: Sequence[DocumentId], index: DocumentOutline
) -> list[DocumentId]:
    """Return `documents` with those that an index note lists sorted as there.

    Other documents in their folder come after them: they are not part of the project
    yet, so that nothing is revealed too early.
    """
    listed = [normalize_canon_path(file) for file in index.scene_files]
    folder = PurePosixPath(listed[0]).parent
    paths = map(normalize_canon_path, documents)
    others = [path for path in paths if PurePosixPath(path).parent == folder]
    return reorder_documents(documents, list(dict.fromkeys([*listed, *others])))


def number_chapters(
    outlines: Mapping[DocumentId, DocumentOutline], story: Sequence[DocumentId]
) -> dict[DocumentId, tuple[int, ...]]:
    """Return the story-order numbers of the chapters of each document, by its id.

    Text before the first chapter of all has 0; chapters count from 1 through all
    documents; a later opening, such as a preface, has the number of the chapter after
    it. `story` are the documents in story order; each must be in `outlines`.
    """
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


@lru_cache(maxsize=8_192)
def natural_key(path: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key for `path` that compares numbers by value and ignores case:
    "ch2" sorts before "Ch10".
    """
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
    """Return the scope of a search over document `types` (empty: all) and chunk
    `kinds`.

    With a horizon only story documents are in scope, up to the horizon: a note has no
    position in the story, so it may reveal later events. None is the whole library.
    """
    if horizon is None:
        within = [o.id for o in order.outlines.values() if not types or o.type in types]
        has_all_documents = len(within) == len(order.outlines)
        return SearchScope(
            None if has_all_documents else frozenset(within), {}, frozenset(kinds)
        )
    if types and DocumentType.SCENE not in types:
        return SearchScope(frozenset(), {}, frozenset(kinds))
    ends = _find_visible_ends(order, horizon)
    until = {document: end for document, end in ends.items() if end is not None}
    return SearchScope(frozenset(ends), until, frozenset(kinds))


def is_within_scope(document: DocumentId, span: Span, scope: SearchScope) -> bool:
    """Return whether `scope` allows `document` and all of `span` in it.

    The chunk kinds of the scope are not checked.
    """
    if scope.documents is not None and document not in scope.documents:
        return False
    until = scope.until.get(document)
    return until is None or span.end <= until


def parse_horizon(text: str, order: StoryOrder) -> Horizon:
    """Parse a horizon that the user types.

    `ch12` is the 12th chapter in story order, `ch12:s2` its second scene, `vol3.ch6`
    the chapter headed 6 of the volume headed 3, as are "Book III, VI" and "Part Three,
    6". `ch12@5120` ends at a character of the 12th chapter's document. The path of a file means its end; `:s2` after it selects a scene of its last
    chapter.

    Raises:
        NotFound: There is no such chapter, scene or file.
    """
    match = _HORIZON.fullmatch(spell_reference_in_figures(text.strip()))
    if match is None:
        return _parse_path_horizon(text.strip(), order)
    number = int(match["chapter"])
    if match["volume"]:
        number = _find_volume_chapter(int(match["volume"]), number, order)
    if number > order.last:
        raise NotFound(
            f"The story has no chapter {number}; its last chapter is {order.last}",
            hint=_CHAPTERS_HINT,
        )
    scene, offset = match["scene"], match["offset"]
    horizon = _build_checked_horizon(number, int(scene) if scene else None, order)
    return replace(horizon, offset=int(offset)) if offset else horizon


def parse_chapter_range(text: str, order: StoryOrder) -> range:
    """Parse chapters that the user types, such as "ch5", "ch5-ch8", "5-8" or
    "vol2.ch1-vol2.ch4".

    Raises:
        NotFound: There is no such chapter, or the last comes before the first.
    """
    first, _, last = map(str.strip, _RANGE_DASH.sub("-", text).partition("-"))
    numbers = [parse_horizon(part, order).chapter for part in (first, last or first)]
    if numbers[1] < numbers[0]:
        raise NotFound(
            f"Chapter {numbers[1]} comes before chapter {numbers[0]}",
            hint="Write the earlier chapter first, as in ch5-ch8.",
        )
    return range(numbers[0], numbers[1] + 1)


def is_at_or_before_horizon(as_of: str, horizon: Horizon, order: StoryOrder) -> bool:
    """Return whether `as_of`, a horizon as the user typed it, is `horizon` or earlier.

    False for an empty `as_of` (the whole story) and for one that no longer exists.
    """
    if not as_of:
        return False
    try:
        asked_horizon = parse_horizon(as_of, order)
    except NotFound:
        return False
    if asked_horizon.chapter != horizon.chapter:
        return asked_horizon.chapter < horizon.chapter
    if asked_horizon.offset is not None and horizon.offset is not None:
        return asked_horizon.offset <= horizon.offset
    if asked_horizon.offset != horizon.offset:
        return horizon.scene is None and horizon.offset is None
    if horizon.scene is None:
        return True
    return asked_horizon.scene is not None and asked_horizon.scene <= horizon.scene


def _apply_type_decision(outline: DocumentOutline, canon: Canon) -> DocumentOutline:
    kind = canon.types.get(normalize_canon_path(outline.id))
    return outline if kind is None else replace(outline, type=kind)


def _rank_by_pattern(document: DocumentId, order: Sequence[str]) -> int:
    for rank, pattern in enumerate(order):
        if document == pattern or fnmatchcase(document, pattern):
            return rank
    return len(order)


def _find_visible_ends(
    order: StoryOrder, horizon: Horizon
) -> dict[DocumentId, int | None]:
    """Return the documents that are visible at `horizon`, with the offset at which the
    visible part ends; None if the whole document is visible.
    """
    ends: dict[DocumentId, int | None] = {}
    hidden: set[DocumentId] = set()
    last = _find_last_chapter(order, horizon.chapter)
    for document, chapter, number in order.iter_chapters():
        if document in hidden:
            continue
        bounded = chapter is last and horizon.scene is not None
        if number > horizon.chapter or (bounded and horizon.scene == 0):
            hidden.add(document)
            continue
        scene_end = _find_scene_end(chapter, horizon.scene) if bounded else None
        ends[document] = chapter.span.end if scene_end is None else scene_end
        if scene_end is not None:
            hidden.add(document)
    if horizon.offset is not None and ends:
        return {**dict.fromkeys(ends), [*ends][-1]: horizon.offset}
    visible_documents = set(ends) - hidden
    return {
        document: None if document in visible_documents else end
        for document, end in ends.items()
    }


def _find_last_chapter(order: StoryOrder, number: int) -> Chapter | None:
    """Return the chapter called `number`; not the opening that shares its number."""
    chapters = [chapter for _, chapter, n in order.iter_chapters() if n == number]
    return chapters[-1] if chapters else None


def _find_scene_end(chapter: Chapter, scene: int | None) -> int | None:
    if scene is None or scene >= len(chapter.scenes):
        return None
    return chapter.scenes[scene - 1].span.end


def _find_volume_chapter(volume: int, number: int, order: StoryOrder) -> int:
    for _, chapter, chapter_number in order.iter_chapters():
        if chapter.volume == volume and chapter.number == number:
            return chapter_number
    raise NotFound(
        f"The story has no chapter {number} in volume {volume}", hint=_CHAPTERS_HINT
    )


def _build_checked_horizon(
    number: int, scene: int | None, order: StoryOrder
) -> Horizon:
    if scene is None:
        return Horizon(number)
    chapter = _find_last_chapter(order, number)
    scenes = len(chapter.scenes) if chapter else 0
    if not 1 <= scene <= scenes:
        raise NotFound(
            f"Chapter {number} has no scene {scene}; its last scene is {scenes}",
            hint=_LOCATION_HINT,
        )
    return Horizon(number, scene)


def _parse_path_horizon(text: str, order: StoryOrder) -> Horizon:
    suffix = _SCENE_SUFFIX.search(text)
    path = (text[: suffix.start()] if suffix else text).removeprefix("./")
    fits = [d for d in order.story if d == path or d.endswith(f"/{path}")]
    if len(fits) != 1:
        problem = "No story file" if not fits else "More than one story file"
        is_path = "/" in path or "." in path
        similar = fits or (find_similar_documents(path, order.story) if is_path else [])
        raise NotFound(
            f"{problem} of the manuscript matches {path!r}",
            hint=f"Did you mean {' or '.join(similar[:3])}?"
            if similar
            else _LOCATION_HINT,
        )
    chapters = order.outlines[fits[0]].chapters
    number = order.numbers[fits[0]][-1] if chapters else 0
    if not chapters or chapters[-1] is _find_last_chapter(order, number):
        return _build_checked_horizon(number, int(suffix[1]) if suffix else None, order)
    if suffix:
        raise NotFound(
            f"{path} has no scenes of its own: it is the opening of a chapter",
            hint=_LOCATION_HINT,
        )
    return Horizon(number, 0)


@dataclass(frozen=True, slots=True)
class ChapterTitle:
    """The number of a chapter in story order, and its title, which may be empty."""

    number: int
    title: str


class ChapterReader:
    """Lists and reads the chapters of a library up to `horizon`; None is the whole
    story.

    Chapters are read as passages of `pipeline`, without author's comments.
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
        """Return the chapters that begin before the horizon, in story order."""
        return tuple(
            ChapterTitle(number, chapter.title)
            for document, chapter, number in self._order.iter_chapters()
            if _has_begun(document, chapter.span, self._scope)
        )

    async def chapter(self, number: int) -> tuple[Passage, ...]:
        """Return the passages of the chapter `number`, up to the horizon, in text
        order.

        `number` counts in story order. Empty if there is no such chapter.

        Raises:
            StoreProblem: The library cannot be read.
        """
        passages: list[Passage] = []
        for document, place in self._iter_chapter_indexes(number):
            chunks = await self._store.chunks_of(document, self._pipeline)
            passages += [
                build_passage(chunk, self._order, 0.0)
                for chunk in chunks
                if chunk.chapter == place
                and chunk.kind is ChunkKind.PROSE
                and is_within_scope(document, chunk.span, self._scope)
            ]
        return tuple(passages)

    def _iter_chapter_indexes(self, number: int) -> Iterator[tuple[DocumentId, int]]:
        for document in self._order.story:
            for place, chapter_number in enumerate(self._order.numbers[document]):
                if chapter_number == number:
                    yield document, place


def build_passage(chunk: Chunk, order: StoryOrder, score: float) -> Passage:
    """Return `chunk` as a passage with the given score, and its chapter and scene.

    Both are in story order and None outside the story; scenes count from 1.
    """
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
    """Return whether the first character of `span` is within `scope`."""
    return is_within_scope(
        document, Span(span.start, min(span.start + 1, span.end)), scope
    )
