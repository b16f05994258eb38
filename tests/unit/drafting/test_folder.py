"""The folder of drafts: created by lrwr, edited by the writer, never overwritten."""

import os
from pathlib import Path

import pytest

from lrwr.core.drafting.folder import DraftFolder
from lrwr.core.model.errors import NotFound, SettingsProblem

MARKER = ".lrwr-folder"


@pytest.fixture
def folder(tmp_path: Path) -> DraftFolder:
    created = DraftFolder(tmp_path, tmp_path / "drafts", MARKER)
    created.create()
    return created


def test_it_is_created_with_its_marker_and_a_file_for_intent(
    folder: DraftFolder,
) -> None:
    folder.create()
    assert sorted(path.name for path in folder.path.iterdir()) == [MARKER, "intent.md"]
    assert not folder.is_changed("intent.md")


def test_a_writers_own_folder_is_left_alone_and_another_name_offered(
    tmp_path: Path,
) -> None:
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "one.md").write_text("Mine.")
    folder = DraftFolder(tmp_path, tmp_path / "drafts", MARKER)
    with pytest.raises(SettingsProblem) as refused:
        folder.create()
    assert 'folder = "lrwr-drafts"' in refused.value.hint
    assert [path.name for path in folder.path.iterdir()] == ["one.md"]


def test_what_the_writer_changed_is_not_overwritten(folder: DraftFolder) -> None:
    folder.write("board.md", "one")
    folder.write("board.md", "two")
    (folder.path / "board.md").write_text("mine")
    assert folder.is_changed("board.md")
    with pytest.raises(SettingsProblem, match=r"drafts/board\.md was changed"):
        folder.write("board.md", "three")
    assert (folder.path / "board.md").read_text() == "mine"
    folder.write("board.md", "mine")
    (folder.path / "board.md").unlink()
    folder.write("board.md", "four")
    assert (folder.path / "board.md").read_text() == "four"


def test_a_file_of_the_writers_own_is_not_overwritten(folder: DraftFolder) -> None:
    (folder.path / "sheets").mkdir()
    (folder.path / "sheets" / "Nell.md").write_text("mine")
    with pytest.raises(SettingsProblem):
        folder.write("sheets/Nell.md", "lrwr's")


def test_a_damaged_marker_makes_every_file_the_writers_own(folder: DraftFolder) -> None:
    folder.write("board.md", "one")
    (folder.path / MARKER).write_text('{"files": [')
    assert folder.is_changed("board.md")


def test_a_run_that_died_between_marker_and_file_can_be_repeated(
    folder: DraftFolder,
) -> None:
    folder.write("board.md", "one")
    folder.write("board.md", "two")
    (folder.path / "board.md").write_text("one")  # the marker has "two" already
    folder.write("board.md", "two")
    (folder.path / ".lrwr-new-x").write_text("half")
    folder.clean()
    assert not list(folder.path.glob(".lrwr-new-*"))


def test_links_out_of_the_library_are_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "book"
    root.mkdir()
    (root / "drafts").symlink_to(outside)
    with pytest.raises(SettingsProblem):
        DraftFolder(root, root / "drafts", MARKER).create()
    folder = DraftFolder(root, root / "plans", MARKER)
    folder.create()
    (folder.path / "scenes").symlink_to(outside)
    with pytest.raises(SettingsProblem):
        folder.write("scenes/a/1.md", "text")
    (folder.path / "board.md").symlink_to(outside / "board.md")
    with pytest.raises(SettingsProblem):
        folder.write("board.md", "text")
    assert list(outside.iterdir()) == []


def test_proposals_have_numbers_and_the_latest_is_meant(folder: DraftFolder) -> None:
    with pytest.raises(NotFound) as missing:
        folder.read_proposal("s1")
    assert "drafts/scenes/s1/1.md" in missing.value.hint
    for name in ("1", "2", "10", "notes"):
        folder.write(f"scenes/s1/{name}.md", name)
    assert folder.list_proposals("s1") == [1, 2, 10]
    assert folder.read_proposal("s1").text == "10"
    assert folder.read_proposal("s1", 2).path == "drafts/scenes/s1/2.md"
    with pytest.raises(NotFound) as other:
        folder.read_proposal("s1", 3)
    assert "1, 2, 10" in other.value.hint


def test_a_pipe_is_refused_instead_of_waited_for(folder: DraftFolder) -> None:
    os.mkfifo(folder.path / "board.md")
    with pytest.raises(SettingsProblem):
        folder.read("board.md")
