from functools import partial
from pathlib import Path

import pytest

from lrwr.core.canon.model import Canon, ManuscriptLocation
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.model.documents import (
    Chapter,
    DocumentId,
    DocumentOutline,
    DocumentType,
    Scene,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span
from lrwr.core.retrieval.locations import (
    find_orphaned_locations,
    parse_manuscript_location,
)
from lrwr.core.retrieval.story import StoryOrder, build_story_order

BOOK, LAST = DocumentId("book.md"), DocumentId("last.md")
TITLES = ["", "The Mill", "Fog", "Fog", "Part 2:s3"]


def chapter(title: str, at: int, *, opening: bool = False) -> Chapter:
    spans = [Span(at, at + 4), Span(at + 5, at + 9)]
    scenes = tuple(Scene(span, (span,)) for span in spans)
    return Chapter(title, Span(at, at + 9), scenes, opening=opening)


def story() -> StoryOrder:
    book = [chapter(t, 10 * n, opening=n == 0) for n, t in enumerate(TITLES)]
    outlines = [
        DocumentOutline(BOOK, DocumentType.SCENE, "Book", 9, None, tuple(book)),
        DocumentOutline(LAST, DocumentType.SCENE, "End", 9, None, (chapter("End", 0),)),
    ]
    return build_story_order(outlines, ())


def place(text: str) -> ManuscriptLocation:
    find = partial(
        resolve_document,
        document_ids=[BOOK, LAST],
        root=Path("/"),
        working_directory=Path("/"),
    )
    return parse_manuscript_location(text, story(), lambda name: find(name))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ch1", "book.md#The Mill"),
        ("chapter 1, scene 2", "book.md#The Mill:s2"),
        ("book.md#The  Mill:s2", "book.md#The Mill:s2"),
        ("book.md#ch1", "book.md#The Mill"),
        ("ch2", "book.md#ch2"),
        ("book.md#ch3:s1", "book.md#ch3:s1"),
        ("ch4", "book.md#ch4"),
        ("0", "book.md#ch0"),
        ("ch5", "last.md"),
        ("last.md:s2", "last.md:s2"),
        ("book.md", "book.md"),
    ],
)
def test_a_chapter_is_remembered_by_file_and_heading(text: str, named: str) -> None:
    assert str(place(text)) == named
    assert ManuscriptLocation.read(named) == place(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ch6", "no chapter 6"),
        ("ch1:s3", "no scene 3"),
        ("book.md#The Mil", "no chapter 'The Mil'"),
        ("book.md#Fog", "no chapter 'Fog'"),
        ("book.md:s2", "several chapters"),
        ("book.md#ch1:s3", "has no scene 3; its last scene is 2"),
        ("bok.md", "No document"),
    ],
)
def test_a_place_that_is_not_there_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotFound, match=said) as caught:
        place(text)
    assert caught.value.hint


def test_a_mistyped_heading_is_answered_with_the_nearest() -> None:
    with pytest.raises(NotFound) as caught:
        place("book.md#The Mil")
    assert 'Did you mean "The Mill"?' in caught.value.hint


def test_places_that_a_known_document_no_longer_has_are_listed() -> None:
    there = [
        ManuscriptLocation(BOOK),
        ManuscriptLocation(BOOK, "The Mill", 2),
        ManuscriptLocation(LAST, "", 2),
    ]
    gone = [
        ManuscriptLocation(BOOK, "The Inn"),
        ManuscriptLocation(BOOK, "ch9"),
        ManuscriptLocation(LAST, "", 3),
    ]
    unknown = ManuscriptLocation(DocumentId("other.md"), "ch9")
    canon = Canon(points_of_view=dict.fromkeys([*there, *gone, unknown], "Nell"))
    assert find_orphaned_locations(canon, story()) == tuple(gone)
