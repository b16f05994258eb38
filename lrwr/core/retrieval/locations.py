"""What a writer calls a place, told from the story's chapters and scenes."""

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
from lrwr.core.retrieval.story import StoryOrder, number_chapters, parse_horizon

_STORY_CHAPTER = re.compile(r"[a-z]{0,7}\W*\d+(?:\W+[a-z]+\W*\d+){0,2}", re.IGNORECASE)
_NUMBER = re.compile(r"ch(\d{1,6})")
_SAY = 'Say it as ch12, ch12:s2, vol3.ch6, FILE, "FILE#Heading" or FILE#ch5:s2.'


def parse_manuscript_location(
    text: str, order: StoryOrder, find: Callable[[str], DocumentId]
) -> ManuscriptLocation:
    """Return the place that the writer means by `text`.

    `ch12:s2` counts chapters in story order; the place remembers the file and the
    heading instead, so that it stays true when chapters are added before it. `find`
    tells a document by what the writer calls it.

    Raises:
        NotFound: There is no such chapter, scene or file.
    """
    if _STORY_CHAPTER.fullmatch(text.strip()):
        return _place_in_story(text, order)
    location = ManuscriptLocation.read(text)
    document = find(location.document if location else text)
    if location is None or not (location.chapter or location.scene):
        return ManuscriptLocation(document)
    outline = _outline(document, order)
    if outline is None:
        return ManuscriptLocation(document, location.chapter, location.scene)
    chapter = _chapter_called(location.chapter, outline)
    if chapter is None:
        raise _no_chapter(location.chapter, outline)
    if location.scene is not None and location.scene > len(chapter.scenes):
        raise NotFound(
            f"That chapter of {document} has {len(chapter.scenes)} scenes", hint=_SAY
        )
    return _place(outline, chapter, location.scene)


def find_orphaned_locations(
    canon: Canon, order: StoryOrder
) -> tuple[ManuscriptLocation, ...]:
    """Return the places whose document is known, and has no such chapter or scene."""
    lost = []
    for place in canon.points_of_view:
        outline = _outline(place.document, order)
        if outline is None or not (place.chapter or place.scene):
            continue
        chapter = _chapter_called(place.chapter, outline)
        if chapter is None or (place.scene or 1) > max(1, len(chapter.scenes)):
            lost.append(place)
    return tuple(lost)


def _place_in_story(text: str, order: StoryOrder) -> ManuscriptLocation:
    horizon = parse_horizon(text, order)
    matching_chapters = [
        (d, c) for d, c, number in order.iter_chapters() if number == horizon.chapter
    ]
    if not matching_chapters:
        raise NotFound(f"The story has no chapter {horizon.chapter}", hint=_SAY)
    document, chapter = matching_chapters[-1]
    return _place(order.outlines[document], chapter, horizon.scene)


def _place(
    outline: DocumentOutline, chapter: Chapter, scene: int | None
) -> ManuscriptLocation:
    """Name a chapter by its heading where no other is headed so, else by number."""
    document = normalize_canon_path(outline.id)
    if len(outline.chapters) == 1:
        return ManuscriptLocation(document, "", scene)
    title = normalize_canon_text(chapter.title)
    place = ManuscriptLocation(document, title, scene)
    if (
        _chapter_called(title, outline) is chapter
        and ManuscriptLocation.read(str(place)) == place
    ):
        return place
    return ManuscriptLocation(
        document, f"ch{_numbers(outline)[_index(outline, chapter)]}", scene
    )


def _chapter_called(name: str, outline: DocumentOutline) -> Chapter | None:
    """Return the chapter by number or heading; one of several counts for none."""
    if not name:
        return outline.chapters[0] if len(outline.chapters) == 1 else None
    if number := _NUMBER.fullmatch(name):
        numbers = zip(outline.chapters, _numbers(outline), strict=True)
        fits = [c for c, n in numbers if n == int(number[1])][-1:]
    else:
        fits = [
            c
            for c in outline.chapters
            if normalize_canon_text(c.title) == normalize_canon_text(name)
        ]
    return fits[0] if len(fits) == 1 else None


def _numbers(outline: DocumentOutline) -> Sequence[int]:
    """Count the chapters of one file as story order counts those of a whole book."""
    return number_chapters({outline.id: outline}, [outline.id])[outline.id]


def _index(outline: DocumentOutline, chapter: Chapter) -> int:
    return next(
        n for n, candidate in enumerate(outline.chapters) if candidate is chapter
    )


def _outline(document: DocumentId, order: StoryOrder) -> DocumentOutline | None:
    fits = (
        o for o in order.outlines.values() if normalize_canon_path(o.id) == document
    )
    return next(fits, None)


def _no_chapter(name: str, outline: DocumentOutline) -> NotFound:
    titles = [normalize_canon_text(c.title) for c in outline.chapters if c.title]
    similar_titles = get_close_matches(name, titles, n=1)
    suggestion = f'Did you mean "{similar_titles[0]}"? ' if similar_titles else ""
    missing_place = (
        f"chapter {name!r}" if name else "scene of its own: it has several chapters"
    )
    return NotFound(f"{outline.id} has no {missing_place}", hint=f"{suggestion}{_SAY}")
