"""The index note of Obsidian's plug-in Longform gives the order of its scenes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.documents import DocumentType
from tests.unit.source.pages import parse

INDEX = """\
---
title: The Fog
longform:
  format: scenes
  title: The Fog
  workflow: Default Workflow
  sceneFolder: Scenes
  scenes:
    - Low water
    - - The bell
      - - "2: Grey"
    - A clean page
  ignoredFiles:
    - Old*
---
What the book is about.
"""


def listed(text: str, name: str = "vault/The Fog.md") -> tuple[str, ...] | None:
    return parse(text, name).scene_files


def test_an_index_lists_its_scenes_in_story_order() -> None:
    assert listed(INDEX) == (
        "vault/Scenes/Low water.md",
        "vault/Scenes/The bell.md",
        "vault/Scenes/2: Grey.md",
        "vault/Scenes/A clean page.md",
    )


def test_an_index_is_no_story_text() -> None:
    document = parse(INDEX, "chapters/The Fog.md")
    assert document.type is DocumentType.WORLDBUILDING
    assert parse(INDEX.replace("title: The Fog\nlong", "type: scene\nlong")).type is (
        DocumentType.WORLDBUILDING
    )


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("/", "vault/Low water.md"),
        ("./", "vault/Low water.md"),
        ("drafts/2/", "vault/drafts/2/Low water.md"),
        ("/drafts", "vault/drafts/Low water.md"),
        ("../other", "other/Low water.md"),
    ],
)
def test_the_scene_folder_is_relative_to_the_index(folder: str, path: str) -> None:
    text = INDEX.replace("sceneFolder: Scenes", f"sceneFolder: {folder}")
    scenes = listed(text)
    assert scenes is not None
    assert scenes[0] == path


def test_without_a_folder_scenes_lie_beside_the_index() -> None:
    text = "---\nlongform:\n  format: scenes\n  scenes: [One, [Two]]\n---\n"
    assert listed(text, "Index.md") == ("One.md", "Two.md")


def test_an_index_without_scenes_is_an_index() -> None:
    assert listed("---\nlongform:\n  format: scenes\n  scenes: []\n---\n") == ()


@pytest.mark.parametrize(
    "front",
    [
        "longform:\n  format: single\n  title: Fog",
        "longform: yes",
        "longform: [One, Two]",
        "longform:\n  format: scenes\n  scenes: One",
        "scenes: [One, Two]",
        "longform:",
    ],
)
def test_other_notes_are_no_index(front: str) -> None:
    document = parse(f"---\n{front}\n---\nIt rose.\n")
    assert document.scene_files is None
    assert document.type is DocumentType.SCENE


@given(st.recursive(st.text(max_size=5), lambda inner: st.lists(inner, max_size=4)))
def test_any_list_gives_paths_inside_or_nothing(scenes: object) -> None:
    import json

    text = f"---\nlongform: {json.dumps({'format': 'scenes', 'scenes': scenes})}\n---\n"
    for path in listed(text, "index.md") or ():
        assert path.endswith(".md")
