"""The state folder: made once, never on top of someone else's files."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.settings.library import (
    Library,
    check_state_dir,
    list_manuscript_folders,
    load_ingested_paths,
    prepare_state_dir,
    resolve_library,
    store_ingested_paths,
)
from lrwr.core.settings.model import (
    ManuscriptSettings,
    SettingOrigin,
    Settings,
    SettingSource,
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return resolve_library(Settings(tmp_path))


def test_the_state_folder_stands_under_the_root(library: Library) -> None:
    assert library.state_dir == library.root / ".lrwr"
    assert library.database.parent == library.state_dir


def test_the_state_folder_may_stand_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    settings = Settings(tmp_path / "novel", state_dir="~/state")
    assert resolve_library(settings).state_dir == tmp_path / "home" / "state"


@pytest.mark.parametrize("state_dir", [".", "..", "", "a/.."])
def test_a_state_folder_that_holds_the_manuscript_is_refused(
    tmp_path: Path, state_dir: str
) -> None:
    with pytest.raises(SettingsProblem, match="holds the manuscript"):
        resolve_library(Settings(tmp_path / "novel", state_dir=state_dir))


def test_the_state_folder_keeps_itself_out_of_version_control(library: Library) -> None:
    prepare_state_dir(library)
    prepare_state_dir(library)
    lines = (library.state_dir / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines


def test_a_folder_with_other_files_is_left_alone(library: Library) -> None:
    library.state_dir.mkdir()
    (library.state_dir / "chapter.md").touch()
    with pytest.raises(StoreProblem, match="lrwr did not write"):
        prepare_state_dir(library)
    assert [path.name for path in library.state_dir.iterdir()] == ["chapter.md"]


def test_a_folder_that_another_process_is_making_is_nobody_elses(
    library: Library,
) -> None:
    library.state_dir.mkdir()
    half = library.state_dir / ".gitignore.0a1b"
    half.write_text("*")
    prepare_state_dir(library)
    assert (library.state_dir / ".gitignore").exists()


def test_a_state_folder_that_cannot_be_made_is_a_store_problem(
    library: Library,
) -> None:
    library.state_dir.touch()
    with pytest.raises(StoreProblem, match="cannot be read or written") as caught:
        prepare_state_dir(library)
    assert "state_dir" in caught.value.hint


def test_nothing_is_remembered_at_first(library: Library) -> None:
    assert load_ingested_paths(library) == ()
    assert not library.state_dir.exists()


def test_folders_are_remembered_in_order_and_once(library: Library) -> None:
    notes, manuscript = library.root / "notes", library.root / "manuscript"
    store_ingested_paths(library, [notes])
    store_ingested_paths(library, [manuscript, notes])
    assert load_ingested_paths(library) == (notes, manuscript)
    assert json.loads(library.memory.read_text(encoding="utf-8")) == {
        "folders": ["notes", "manuscript"]
    }


def test_a_folder_covers_what_is_inside_it(library: Library) -> None:
    manuscript = library.root / "manuscript"
    store_ingested_paths(library, [manuscript / "part-1"])
    store_ingested_paths(library, [manuscript])
    store_ingested_paths(library, [manuscript / "part-2"])
    assert load_ingested_paths(library) == (manuscript,)


def test_a_folder_outside_the_library_is_remembered_whole(
    library: Library, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    store_ingested_paths(library, [outside, library.root])
    assert load_ingested_paths(library) == (outside, library.root)


def test_remembering_leaves_no_other_file_behind(library: Library) -> None:
    store_ingested_paths(library, [library.root / "manuscript"])
    names = sorted(path.name for path in library.state_dir.iterdir())
    assert names == [".gitignore", "library.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"folders": 3}'])
def test_a_damaged_memory_says_how_to_mend_it(library: Library, text: str) -> None:
    library.state_dir.mkdir()
    library.memory.write_text(text, encoding="utf-8")
    with pytest.raises(StoreProblem, match="damaged") as caught:
        load_ingested_paths(library)
    assert "ingest" in caught.value.hint


def test_a_copy_of_a_library_names_no_folder_outside(
    library: Library, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    store_ingested_paths(library, [outside, library.root / "notes"])
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(library.state_dir, copy / ".lrwr")
    copied = resolve_library(Settings(copy))
    assert load_ingested_paths(library) == (outside, library.root / "notes")
    assert load_ingested_paths(copied) == (copied.root / "notes",)


def test_a_link_in_the_state_folder_is_refused(library: Library) -> None:
    prepare_state_dir(library)
    check_state_dir(library)
    library.database.symlink_to(library.root / "elsewhere")
    with pytest.raises(StoreProblem, match="is a link"):
        check_state_dir(library)


def test_a_state_folder_that_is_a_link_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "novel").mkdir()
    (tmp_path / "novel/.lrwr").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsProblem, match="link to a folder outside"):
        resolve_library(Settings(tmp_path / "novel"))


def test_folders_that_lead_out_count_only_where_the_writer_named_them(
    library: Library,
) -> None:
    named = ManuscriptSettings(folders=("../notes",))
    file = {"manuscript.folders": SettingOrigin(SettingSource.LIBRARY, "lrwr.toml:2")}
    mine = {"manuscript.folders": SettingOrigin(SettingSource.ENVIRONMENT, "X")}
    settings = Settings(library.root, manuscript=named, origins=mine)
    assert list_manuscript_folders(settings, library) == (
        library.root.parent / "notes",
    )
    with pytest.raises(
        SettingsProblem, match=r"lrwr.toml:2: .* names a folder outside"
    ):
        list_manuscript_folders(replace(settings, origins=file), library)
