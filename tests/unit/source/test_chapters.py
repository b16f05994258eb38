import pytest

from lrwr.core.model.documents import DocumentType
from tests.unit.source.pages import check_promises, outline, parse, scenes_of

BOOK = """# The Fog

## Volume I

### Chapter 1

One.

### Chapter 2: Ash

Two.

## Volume II

### Chapter 1

Three.

## Epilogue

Four.
"""


def test_a_volume_heading_belongs_to_the_chapter_that_follows() -> None:
    document = parse(BOOK)
    assert document.title == "The Fog"
    assert outline(document) == [
        ("Chapter 1", 1, 1),
        ("Chapter 2: Ash", 1, 2),
        ("Chapter 1", 2, 1),
        ("Epilogue", 2, None),
    ]
    assert scenes_of(document.chapters[0], document) == [
        ["# The Fog\n\n## Volume I\n\n### Chapter 1\n\nOne."]
    ]
    assert scenes_of(document.chapters[2], document) == [
        ["## Volume II\n\n### Chapter 1\n\nThree."]
    ]
    check_promises(document)


@pytest.mark.parametrize(
    ("text", "chapters"),
    [
        ("# The Fog\n\nA.\n\n# The Ash\n\nB.", [("The Fog", None), ("The Ash", None)]),
        ("# The Fog\n\nA.\n\n## Noon\n\nB.\n\n## Night\n\nC.", [("The Fog", None)]),
        ("# 1\n\nA.\n\n# 2\n\nB.", [("1", 1), ("2", 2)]),
        ("# Fog\n\n## I\n\nA.\n\n## II\n\nB.\n\n## III\n\nC.",
         [("I", 1), ("II", 2), ("III", 3)]),
        ("# Prologue\n\nA.\n\n# The Fog\n\nB.\n\n# The Ash\n\nC.",
         [("Prologue", 0), ("The Fog", None), ("The Ash", None)]),
        ("# Part One\n\n## The Fog\n\nA.\n\n## The Ash\n\nB.\n\n# Part Two\n\n## Sea\n\nC.",
         [("The Fog", None), ("The Ash", None), ("Sea", None)]),
        ("# Part 1\n\nA.\n\n# Part 2\n\nB.", [("Part 1", 1), ("Part 2", 2)]),
        ("# Chapter 1\n\nA.\n\n## Part 2\n\nB.\n\n# Chapter 2\n\nC.",
         [("Chapter 1", 1), ("Chapter 2", 2)]),
        ("# Fog\n\nby Ada\n\n## Chapter 1\n\nA.\n\n## Chapter 2\n\nB.",
         [("Fog", 0), ("Chapter 1", 1), ("Chapter 2", 2)]),
        ("For Ada.\n\n# Chapter 1\n\nA.\n\n# Chapter 2\n\nB.",
         [("", 0), ("Chapter 1", 1), ("Chapter 2", 2)]),
        ("# Chapter 1\n\n# Chapter 2\n\nB.", [("Chapter 1", 1), ("Chapter 2", 2)]),
        ("Chapter 1\n\nA.\n\nChapter 2\n\nB.", [("Chapter 1", 1), ("Chapter 2", 2)]),
        ("", []),
        ("***\n", []),
    ],
)  # fmt: skip
def test_headings_make_chapters(
    text: str, chapters: list[tuple[str, int | None]]
) -> None:
    document = parse(text, "book.md")
    assert [(title, number) for title, _, number in outline(document)] == chapters
    check_promises(document)


def test_an_epigraph_under_a_part_goes_with_the_chapter_after_it() -> None:
    document = parse(
        "# Part 1\n\nAsh to ash.\n\n## Chapter 1\n\nA.\n\n## Chapter 2\n\nB."
    )
    assert outline(document) == [("Chapter 1", 1, 1), ("Chapter 2", 1, 2)]
    assert scenes_of(document.chapters[0], document) == [
        ["# Part 1\n\nAsh to ash."],
        ["## Chapter 1\n\nA."],
    ]


def test_the_outer_volume_counts_when_parts_are_inside_books() -> None:
    text = "\n\nA.\n\n".join(
        ["# Book Two\n\n## Part 1\n\n### Chapter 1", "## Part 2\n\n### Chapter 2", ""]
    )
    assert outline(parse(text)) == [("Chapter 1", 2, 1), ("Chapter 2", 2, 2)]


@pytest.mark.parametrize(
    ("name", "text", "chapter"),
    [
        ("42-volume-iii-chapter-vi.md", "It was.", ("Volume III Chapter VI", 3, 6)),
        ("chapter-07.md", "# The Fog\n\nIt was.", ("The Fog", None, 7)),
        ("08-viii.md", "It was.", ("VIII", None, 8)),
        ("07-the-fog.md", "It was.", ("The Fog", None, None)),
        ("00-front-matter.md", "# Emma\n\nby Jane", ("Emma", None, 0)),
        ("prologue.txt", "It was.", ("Prologue", None, 0)),
        ("x.md", "# Preface\n\nIt was.", ("Preface", None, 0)),
        ("x.md", "---\nchapter: 7\nvolume: ii\n---\n# Ash\n\nIt.", ("Ash", 2, 7)),
        ("x.md", "---\ntitle: Ash\n---\nIt was.", ("Ash", None, None)),
        ("04-the-fog.md", "# Fog\n\n## 1\n\nA\n\n## 2\n\nB\n\n## 3\n\nC", ("Fog", None, None)),
    ],
)  # fmt: skip
def test_a_file_that_is_one_chapter_is_named_and_numbered(
    name: str, text: str, chapter: tuple[str, int | None, int | None]
) -> None:
    assert outline(parse(text, name)) == [chapter]


def test_a_title_is_the_writers_before_it_is_the_files() -> None:
    assert parse("---\ntitle: Ash\n---\n# Fog\n\nx", "a/b.md").title == "Ash"
    assert parse("# *Fog*\n\nx", "a/b.md").title == "Fog"
    assert parse("x", "a/the-fog.md").title == "The Fog"
    assert (
        parse("# Chapter 1\n\nx\n\n# Chapter 2\n\ny", "the-fog.md").title == "The Fog"
    )


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("notes/characters/ada.md", "x", "character"),
        ("02_Cast/ada.md", "x", "character"),
        ("world/places/inn.md", "x", "setting"),
        ("world/lore/chapters/x.md", "x", "scene"),
        ("Factions/guild.txt", "x", "worldbuilding"),
        ("ideas/x.md", "x", "scene"),
        ("characters/x.md", "---\ntype: Chapter\n---\nx", "scene"),
        ("x.md", "---\nType: People\n---\nx", "character"),
        ("world/x.md", "---\ntype: poem\n---\nx", "worldbuilding"),
    ],
)
def test_front_matter_then_the_nearest_folder_tell_the_type(
    name: str, text: str, kind: str
) -> None:
    assert parse(text, name).type == DocumentType(kind)


def test_a_note_on_a_character_is_one_chapter_with_a_scene_for_each_heading() -> None:
    document = parse(
        "# Ada\n\n- tall\n\n## Chapter 1\n\nYoung.\n\n## Voice\n\n> No.",
        "people/ada.md",
    )
    assert outline(document) == [("Ada", None, None)]
    assert scenes_of(document.chapters[0], document) == [
        ["# Ada\n\n- tall"],
        ["## Chapter 1\n\nYoung."],
        ["## Voice\n\n> No."],
    ]
