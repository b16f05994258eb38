from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lrwr.core.canon.model import Canon
from lrwr.core.model.chunks import ChunkKind, SearchScope
from lrwr.core.model.documents import (
    Chapter,
    DocumentId,
    DocumentOutline,
    DocumentType,
    Horizon,
    Scene,
)
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import Span
from lrwr.core.retrieval.story import (
    StoryOrder,
    build_search_scope,
    build_story_order,
    natural_key,
    parse_horizon,
)
from tests.fakes.suite import examples

LENGTH = 10
"""Characters of a scene."""

PROSE = frozenset({ChunkKind.PROSE})


def chapters_of(*scenes: int, opening: int = 0) -> tuple[Chapter, ...]:
    """Chapters with so many scenes each; the first `opening` are openings."""
    made, at = [], 0
    for number, count in enumerate(scenes):
        inner = []
        for _ in range(count):
            span = Span(at, at + LENGTH)
            inner.append(Scene(span, (span,)))
            at += LENGTH + 1
        start = inner[0].span.start if inner else at
        whole = Span(start, max(start, at - 1))
        made.append(Chapter("", whole, tuple(inner), opening=number < opening))
    return tuple(made)


def outline(
    path: str,
    chapters: tuple[Chapter, ...] | None = None,
    *,
    kind: DocumentType = DocumentType.SCENE,
    order: float | None = None,
) -> DocumentOutline:
    told = chapters_of(1) if chapters is None else chapters
    return DocumentOutline(DocumentId(path), kind, path, 10, order, told)


def story(*outlines: DocumentOutline, order: Sequence[str] = ()) -> StoryOrder:
    return build_story_order(outlines, order)


def test_chapter_two_comes_before_chapter_ten() -> None:
    told = story(outline("ch10.md"), outline("ch2.md"), outline("Ch1.md"))
    assert told.story == ("Ch1.md", "ch2.md", "ch10.md")
    assert told.numbers == {"Ch1.md": (1,), "ch2.md": (2,), "ch10.md": (3,)}
    assert told.last == 3


@given(st.lists(st.text("aB1209/.é", min_size=1, max_size=8), unique=True))
def test_natural_order_is_an_order(paths: list[str]) -> None:
    assert sorted(map(natural_key, paths)) == sorted(map(natural_key, paths[::-1]))


def test_front_matter_says_a_place_among_all() -> None:
    told = story(
        outline("a.md"), outline("b.md"), outline("c.md"), outline("z.md", order=2)
    )
    assert told.story == ("a.md", "z.md", "b.md", "c.md")


def test_front_matter_wins_over_patterns_and_patterns_over_paths() -> None:
    told = story(
        outline("part-1/1.md"),
        outline("part-2/1.md"),
        outline("prologue.md"),
        outline("last.md"),
        outline("z.md", order=0),
        order=["prologue.md", "part-2/*", "part-*/*"],
    )
    assert told.story == (
        "z.md",
        "prologue.md",
        "part-2/1.md",
        "part-1/1.md",
        "last.md",
    )


@settings(max_examples=examples(100))
@given(
    st.sets(st.integers(1, 12)),
    st.sets(st.integers(1, 12)),
    st.sets(st.sampled_from(["00.md", "03b.md", "03c.md", "07b.md", "fog.md"])),
)
@example({1, 5, 6, 8}, {2, 3, 4, 7, 9}, {"03b.md"})
def test_a_new_file_keeps_the_order_of_files_numbered_as_they_say(
    stated: set[int], unstated: set[int], added: set[str]
) -> None:
    book = [outline(f"{n:02}.md", order=n) for n in stated]
    book += [outline(f"{n:02}.md") for n in unstated - stated]
    grown = story(*book, *(outline(path) for path in added)).story
    assert [path for path in grown if path not in added] == list(story(*book).story)
    assert list(grown) == sorted(grown, key=natural_key)


def test_files_numbered_against_their_paths_follow_what_they_say() -> None:
    told = story(outline("a/02.md", order=2), outline("b/01.md", order=1))
    assert told.story == ("b/01.md", "a/02.md")


def test_a_place_among_all_counts_numbered_files_by_what_they_say() -> None:
    told = story(
        outline("01.md", order=1),
        outline("02.md"),
        outline("02b.md"),
        outline("03.md", order=3),
        outline("between.md", order=2.9),
        outline("prologue.md", order=0),
    )
    assert told.story == (
        "prologue.md",
        "01.md",
        "02.md",
        "02b.md",
        "between.md",
        "03.md",
    )


def test_only_scenes_are_in_the_story() -> None:
    notes = [outline(f"{kind}.md", kind=kind) for kind in DocumentType]
    told = story(*notes)
    assert told.story == ("scene.md",)
    assert set(told.outlines) == {f"{kind}.md" for kind in DocumentType}
    assert told.chapter_number(DocumentId("character.md"), 0) is None
    assert told.chapter_number(DocumentId("scene.md"), 1) is None


def test_what_comes_before_the_first_chapter_is_numbered_nought() -> None:
    told = story(
        outline("0.md", chapters_of(1, opening=1)),
        outline("1.md", chapters_of(1, 1, 1, opening=1)),
        outline("2.md"),
    )
    assert told.numbers == {"0.md": (0,), "1.md": (0, 1, 2), "2.md": (3,)}


def test_a_later_opening_shares_the_number_of_the_chapter_after_it() -> None:
    told = story(outline("1.md"), outline("2.md", chapters_of(1, 1, opening=1)))
    assert told.numbers == {"1.md": (1,), "2.md": (2, 2)}


def test_an_empty_library_has_an_empty_story() -> None:
    told = story()
    assert (told.story, told.last, list(told.iter_chapters())) == ((), 0, [])
    assert build_search_scope(told, types=(), horizon=None, kinds=PROSE) == SearchScope(
        None, {}, PROSE
    )


def documents_of(scope: SearchScope) -> set[str] | None:
    return None if scope.documents is None else set(scope.documents)


def a_book() -> StoryOrder:
    """Chapters 0 to 6: a prologue, three chapters, then a second volume of three."""
    volume = [
        Chapter("", c.span, c.scenes, volume=2, number=n)
        for n, c in enumerate(chapters_of(1, 2, 1), start=1)
    ]
    return story(
        outline("book/0-prologue.md", chapters_of(2, opening=1)),
        outline("book/1.md", chapters_of(1, 3)),
        outline("book/2.md", chapters_of(2)),
        outline("book/v2.md", tuple(volume)),
        outline("notes/2.md", kind=DocumentType.CHARACTER),
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ch2", Horizon(2)),
        ("CH 2", Horizon(2)),
        ("chapter 2", Horizon(2)),
        ("2", Horizon(2)),
        (" ch2:s3 ", Horizon(2, 3)),
        ("chapter 2, scene 1", Horizon(2, 1)),
        ("ch0", Horizon(0)),
        ("ch0:s2", Horizon(0, 2)),
        ("vol2.ch2", Horizon(5)),
        ("volume 2, chapter 2: scene 2", Horizon(5, 2)),
        ("Book II, II", Horizon(5)),
        ("Part Two, 2", Horizon(5)),
        ("Volume the Second, Chapter II, scene 2", Horizon(5, 2)),
        ("Chapter II", Horizon(2)),
        ("chapter two", Horizon(2)),
        ("book/1.md", Horizon(2)),
        ("./book/1.md", Horizon(2)),
        ("1.md", Horizon(2)),
        ("1.md:s2", Horizon(2, 2)),
        ("0-prologue.md", Horizon(0)),
        ("v2.md", Horizon(6)),
    ],
)
def test_a_place_is_read_as_a_writer_says_it(said: str, meant: Horizon) -> None:
    assert parse_horizon(said, a_book()) == meant


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("ch7", "no chapter 7; its last chapter is 6"),
        ("ch2:s4", "Chapter 2 has no scene 4; its last scene is 3"),
        ("ch2:s0", "no scene 0"),
        ("ch0:s3", "Chapter 0 has no scene 3"),
        ("vol9.ch1", "chapter 1 in volume 9"),
        ("vol12", "No story file"),
        ("nowhere.md", "No story file"),
        ("", "No story file"),
        ("-1", "No story file"),
        ("ch" + "9" * 5000, "No story file"),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_examples(
    said: str, why: str
) -> None:
    with pytest.raises(NotFound, match=why) as caught:
        parse_horizon(said, a_book())
    is_well_formed = "no chapter" in why or "volume" in why
    assert ("canon order" if is_well_formed else "ch12:s2") in caught.value.hint


def test_a_wrong_path_is_refused_with_the_file_of_that_number() -> None:
    for path in ("notes/2.md", "chapters/2.md:s2"):
        with pytest.raises(NotFound, match="No story file") as caught:
            parse_horizon(path, story(outline("chapters/02-fog.md")))
        assert caught.value.hint == "Did you mean chapters/02-fog.md?"


def test_a_name_that_two_files_have_is_refused() -> None:
    told = story(outline("a/1.md"), outline("b/1.md"))
    with pytest.raises(NotFound, match="More than one story file"):
        parse_horizon("1.md", told)
    assert parse_horizon("b/1.md", told) == Horizon(2)


@pytest.mark.parametrize("said", ["ch0:s1", "ch1", "ch1:s1"])
def test_a_story_without_that_chapter_refuses_its_scenes(said: str) -> None:
    with pytest.raises(NotFound):
        parse_horizon(said, story())
    assert parse_horizon("ch0", story()) == Horizon(0)


def test_the_path_of_a_later_opening_means_its_own_end() -> None:
    told = story(
        outline("1.md"),
        outline("2-preface.md", chapters_of(1, opening=1)),
        outline("3.md", chapters_of(2)),
    )
    with pytest.raises(NotFound, match="no scenes"):
        parse_horizon("2-preface.md:s1", told)
    horizon = parse_horizon("2-preface.md", told)
    scope = build_search_scope(told, types=(), horizon=horizon, kinds=PROSE)
    assert documents_of(scope) == {"1.md", "2-preface.md"}


def test_without_bounds_everything_is_in_scope() -> None:
    scope = build_search_scope(a_book(), types=(), horizon=None, kinds=PROSE)
    assert scope == SearchScope(None, {}, PROSE)


def test_types_bound_a_search_to_their_documents() -> None:
    kinds = {DocumentType.CHARACTER}
    scope = build_search_scope(a_book(), types=kinds, horizon=None, kinds=PROSE)
    assert documents_of(scope) == {"notes/2.md"}


def test_under_a_horizon_notes_beside_the_story_are_out_of_scope() -> None:
    told = a_book()
    scope = build_search_scope(told, types=(), horizon=Horizon(told.last), kinds=PROSE)
    assert documents_of(scope) == set(told.story)
    notes = {DocumentType.CHARACTER}
    scope = build_search_scope(
        told, types=notes, horizon=Horizon(told.last), kinds=PROSE
    )
    assert documents_of(scope) == set()


books = st.lists(
    st.tuples(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 2)),
    min_size=1,
    max_size=4,
)


def visible(scope: SearchScope, document: DocumentId, end: int) -> bool:
    """What every index makes of a scope."""
    if scope.documents is not None and document not in scope.documents:
        return False
    until = scope.until.get(document)
    return until is None or end <= until


@example([([2], 1), ([1], 0)], 0, 1)
@example([([1], 0), ([2, 2], 1)], 2, 1)
@given(books, st.integers(0, 12), st.one_of(st.none(), st.integers(1, 3)))
@settings(max_examples=examples(200))
def test_no_scene_after_the_horizon_is_in_scope_and_every_one_before_is(
    told: list[tuple[list[int], int]], chapter: int, scene: int | None
) -> None:
    outlines = [
        outline(f"{n}.md", chapters_of(*scenes, opening=opening))
        for n, (scenes, opening) in enumerate(told)
    ]
    order = story(*outlines)
    scope = build_search_scope(
        order, types=(), horizon=Horizon(chapter, scene), kinds=PROSE
    )
    line = list(order.iter_chapters())
    last = max((n for n, (*_, no) in enumerate(line) if no == chapter), default=-1)
    for place, (document, held, number) in enumerate(line):
        for count, found in enumerate(held.scenes, start=1):
            bounded = scene is not None and place == last
            before = number < chapter or (
                number == chapter and (not bounded or count <= (scene or 0))
            )
            assert visible(scope, document, found.span.end) == before


def index(path: str, *files: str) -> DocumentOutline:
    return DocumentOutline(
        DocumentId(path), DocumentType.WORLDBUILDING, path, 0, None, (),
        tuple(map(DocumentId, files)),
    )  # fmt: skip


def test_an_index_gives_the_order_of_the_documents_that_it_lists() -> None:
    found = story(
        outline("a/bell.md"), outline("a/mill.md", order=1), outline("a/tide.md"),
        index("a/Index.md", "a/tide.md", "a/lost.md", "a/bell.md", "a/mill.md"),
    )  # fmt: skip
    assert found.story == ("a/tide.md", "a/bell.md", "a/mill.md")
    assert found.numbers[DocumentId("a/tide.md")] == (1,)
    assert "a/Index.md" not in found.story


def test_documents_that_an_index_does_not_list_come_after_those_it_does() -> None:
    found = story(
        outline("a/1.md"), outline("a/2.md"), outline("a/3.md"), outline("b/4.md"),
        outline("a/sub/0.md"), index("Index.md", "a/3.md", "a/2.md"),
    )  # fmt: skip
    assert found.story == ("a/3.md", "a/2.md", "a/1.md", "a/sub/0.md", "b/4.md")


def test_indexes_of_two_books_keep_the_books_apart() -> None:
    found = story(
        *(outline(f"{book}/{n}.md") for book in "ab" for n in (1, 2)),
        index("a.md", "a/2.md", "a/1.md"),
        index("b.md", "b/2.md", "b/1.md"),
    )
    assert found.story == ("a/2.md", "a/1.md", "b/2.md", "b/1.md")


def test_decisions_override_an_index() -> None:
    outlines = [outline("1.md"), outline("2.md"), outline("3.md")]
    longform = index("I.md", "3.md", "2.md", "1.md")
    canon = Canon(order=(DocumentId("1.md"), DocumentId("3.md")))
    decided = build_story_order([*outlines, longform], (), canon)
    assert decided.story == ("1.md", "2.md", "3.md")


def test_an_index_may_spell_names_in_another_unicode_form() -> None:
    found = story(
        outline("cafe\u0301.md"), outline("z.md"), index("I.md", "z.md", "caf\u00e9.md")
    )
    assert found.story == ("z.md", "cafe\u0301.md")
