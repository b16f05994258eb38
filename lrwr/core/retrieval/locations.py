"""Parses the locations to which canon decisions apply, finds decisions whose location
no longer exists, and merges decisions about the order of documents.
"""

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from lrwr.core.canon.model import (
    Canon,
    ManuscriptLocation,
    normalize_canon_path,
    normalize_canon_text,
)
from lrwr.core.model.documents import Chapter, DocumentId, DocumentOutline
from lrwr.core.model.errors import NotFound
from lrwr.core.retrieval.story import (
    StoryOrder,
    number_chapters,
    parse_horizon,
    reorder_documents,
)

_STORY_CHAPTER = re.compile(r"[a-z]{0,7}\W*\d+(?:\W+[a-z]+\W*\d+){0,2}", re.IGNORECASE)
_NUMBER = re.compile(r"ch(\d{1,6})")
_LOCATION_HINT = (
    'Write it as `ch12`, `ch12:s2`, `vol3.ch6`, `FILE`, `"FILE#Heading"` or'
    " `FILE#ch5:s2`."
)


def parse_manuscript_location(
    text: str, order: StoryOrder, find: Callable[[str], DocumentId]
) -> ManuscriptLocation:
    """Parse a location that the user types, such as `ch12:s2` or `FILE#Heading`.

    Chapter numbers count in story order, but the result names the file and heading, so
    that it stays correct when chapters are inserted before it. `find` resolves a file
    name to a document and raises `NotFound` if there is none.

    Raises:
        NotFound: There is no such chapter, scene or file.
    """
    if _STORY_CHAPTER.fullmatch(text.strip()):
        return _locate_story_chapter(text, order)
    location = ManuscriptLocation.read(text)
    document = find(location.document if location else text)
    if location is None or not (location.chapter or location.scene):
        return ManuscriptLocation(document)
    outline = _find_outline(document, order)
    if outline is None:
        return ManuscriptLocation(document, location.chapter, location.scene)
    chapter = _find_chapter(location.chapter, outline)
    if chapter is None:
        raise _build_missing_chapter_error(location.chapter, outline)
    if location.scene is not None and location.scene > len(chapter.scenes):
        raise NotFound(
            f"The chapter in {document} has no scene {location.scene}; its last scene"
            f" is {len(chapter.scenes)}",
            hint=_LOCATION_HINT,
        )
    return _build_location(outline, chapter, location.scene)


def find_orphaned_locations(
    canon: Canon, order: StoryOrder
) -> tuple[ManuscriptLocation, ...]:
    """Return the locations of the point-of-view decisions in `canon` whose chapter or
    scene no longer exists, in the order of `canon`.

    Decisions about whole documents, and about documents that are not in the library,
    are left out.
    """
    lost = []
    for place in canon.points_of_view:
        outline = _find_outline(place.document, order)
        if outline is None or not (place.chapter or place.scene):
            continue
        chapter = _find_chapter(place.chapter, outline)
        if chapter is None or (place.scene or 1) > max(1, len(chapter.scenes)):
            lost.append(place)
    return tuple(lost)


def merge_document_order(
    story: Sequence[DocumentId],
    before: Sequence[DocumentId],
    now: Sequence[DocumentId],
) -> tuple[DocumentId, ...]:
    """Return the document order to record after the user puts the documents `now` in
    order.

    `story`, the present story order, keeps its positions; only the documents of `now`
    are exchanged among theirs. `before` is the order recorded last. The result has each
    document of `before` or `now` once; those that `story` lacks come last.
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


def _locate_story_chapter(text: str, order: StoryOrder) -> ManuscriptLocation:
    horizon = parse_horizon(text, order)
    matching_chapters = [
        (d, c) for d, c, number in order.iter_chapters() if number == horizon.chapter
    ]
    if not matching_chapters:
        raise NotFound(
            f"The story has no chapter {horizon.chapter}", hint=_LOCATION_HINT
        )
    document, chapter = matching_chapters[-1]
    return _build_location(order.outlines[document], chapter, horizon.scene)


def _build_location(
    outline: DocumentOutline, chapter: Chapter, scene: int | None
) -> ManuscriptLocation:
    """Identify a chapter by its heading if that is unique in the file, else by number."""
    document = normalize_canon_path(outline.id)
    if len(outline.chapters) == 1:
        return ManuscriptLocation(document, "", scene)
    title = normalize_canon_text(chapter.title)
    place = ManuscriptLocation(document, title, scene)
    if (
        _find_chapter(title, outline) is chapter
        and ManuscriptLocation.read(str(place)) == place
    ):
        return place
    return ManuscriptLocation(
        document,
        f"ch{_number_file_chapters(outline)[_find_index(outline, chapter)]}",
        scene,
    )


def _find_chapter(name: str, outline: DocumentOutline) -> Chapter | None:
    """Return the chapter with this number (`ch7`) or heading; None unless exactly one
    fits.

    An empty name means the only chapter of the file.
    """
    if not name:
        return outline.chapters[0] if len(outline.chapters) == 1 else None
    if number := _NUMBER.fullmatch(name):
        numbers = zip(outline.chapters, _number_file_chapters(outline), strict=True)
        fits = [c for c, n in numbers if n == int(number[1])][-1:]
    else:
        fits = [
            c
            for c in outline.chapters
            if normalize_canon_text(c.title) == normalize_canon_text(name)
        ]
    return fits[0] if len(fits) == 1 else None


def _number_file_chapters(outline: DocumentOutline) -> Sequence[int]:
    """Number the chapters of one file as if it were the whole story."""
    return number_chapters({outline.id: outline}, [outline.id])[outline.id]


def _find_index(outline: DocumentOutline, chapter: Chapter) -> int:
    return next(
        n for n, candidate in enumerate(outline.chapters) if candidate is chapter
    )


def _find_outline(document: DocumentId, order: StoryOrder) -> DocumentOutline | None:
    fits = (
        o for o in order.outlines.values() if normalize_canon_path(o.id) == document
    )
    return next(fits, None)


def _build_missing_chapter_error(name: str, outline: DocumentOutline) -> NotFound:
    titles = [normalize_canon_text(c.title) for c in outline.chapters if c.title]
    similar_titles = get_close_matches(name, titles, n=1)
    suggestion = f'Did you mean "{similar_titles[0]}"? ' if similar_titles else ""
    problem = (
        f"has no chapter {name!r}"
        if name
        else "has several chapters: a scene needs a chapter too"
    )
    return NotFound(f"{outline.id} {problem}", hint=f"{suggestion}{_LOCATION_HINT}")
