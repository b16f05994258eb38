"""Which folder is the library."""

from pathlib import Path

import pytest

from lrwr.core.settings.library import find_library_root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "novel" / "part" / "one").mkdir(parents=True)
    (tmp_path / ".config" / "lrwr").mkdir(parents=True)
    return tmp_path


def root(start: Path, home: Path) -> str:
    user = home / ".config" / "lrwr" / "lrwr.toml"
    return str(find_library_root(start, user=user, home=home).relative_to(home))


def test_a_folder_with_nothing_above_it_is_its_own_library(home: Path) -> None:
    assert root(home / "novel" / "part", home) == "novel/part"


def test_the_nearest_settings_file_upward_marks_the_library(home: Path) -> None:
    (home / "novel" / "lrwr.toml").touch()
    assert root(home / "novel" / "part" / "one", home) == "novel"


def test_the_writers_decisions_mark_the_library(home: Path) -> None:
    (home / "novel" / "lrwr.canon.toml").touch()
    assert root(home / "novel" / "part" / "one", home) == "novel"


def test_the_nearest_state_folder_upward_marks_the_library(home: Path) -> None:
    (home / "novel" / "lrwr.toml").touch()
    (home / "novel" / "part" / ".lrwr").mkdir()
    assert root(home / "novel" / "part" / "one", home) == "novel/part"


def test_a_folder_named_like_the_settings_file_marks_nothing(home: Path) -> None:
    (home / "novel" / "lrwr.toml").mkdir()
    assert root(home / "novel" / "part", home) == "novel/part"


def test_the_folder_of_the_users_own_file_is_no_library(home: Path) -> None:
    (home / ".config" / "lrwr" / "lrwr.toml").touch()
    inside = home / ".config" / "lrwr" / "notes"
    inside.mkdir()
    assert root(inside, home) == ".config/lrwr/notes"


def test_a_state_folder_at_home_takes_in_no_folder_below(home: Path) -> None:
    (home / ".lrwr").mkdir()
    assert root(home / "novel", home) == "novel"
    assert root(home, home) == "."


def test_a_settings_file_at_home_was_put_there_on_purpose(home: Path) -> None:
    (home / "lrwr.toml").touch()
    assert root(home / "novel", home) == "."
