"""The example file says what the program does."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.settings.loader import (
    format_toml_value,
    load_settings,
    render_example_toml,
)
from lrwr.core.settings.model import index_settings
from lrwr.core.settings.schema import Setting

REPO = Path(__file__).parents[3]


def uncommented() -> str:
    return re.sub(r"^#(?! |$)", "", render_example_toml(), flags=re.MULTILINE)


def test_the_example_in_the_repository_is_the_one_the_program_writes() -> None:
    # To mend it: lrwr init, then copy the file that was written.
    kept = (REPO / "lrwr.toml.example").read_text(encoding="utf-8")
    assert kept == render_example_toml()


def test_the_example_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "lrwr.toml").write_text(render_example_toml(), encoding="utf-8")
    settings = load_settings(tmp_path, {}, {}, user=tmp_path / "nowhere.toml")
    assert not settings.origins


def test_every_line_of_the_example_works_once_its_mark_is_gone(tmp_path: Path) -> None:
    (tmp_path / "lrwr.toml").write_text(uncommented(), encoding="utf-8")
    settings = load_settings(tmp_path, {}, {}, user=tmp_path / "nowhere.toml")
    assert set(settings.origins) == set(index_settings())


@pytest.mark.parametrize("setting", index_settings().values(), ids=lambda one: one.key)
def test_every_setting_says_what_it_means_and_takes_its_own_default(
    setting: Setting,
) -> None:
    assert setting.about.meaning.endswith(".")
    assert setting.about.meaning.split(".")[0] in " ".join(
        render_example_toml().replace("\n# ", " ").split()
    )
    if isinstance(setting.default, int) and not isinstance(setting.default, bool):
        assert setting.about.low is not None
        assert setting.about.high is not None
        assert setting.about.low <= setting.default <= setting.about.high


@given(st.recursive(st.text() | st.booleans() | st.integers(), st.lists, max_leaves=5))
def test_a_value_written_as_toml_reads_back_as_itself(value: object) -> None:
    assert tomllib.loads(f"x = {format_toml_value(value)}")["x"] == value
