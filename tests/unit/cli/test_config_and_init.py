"""`lrwr config` and `lrwr init`, as the writer meets them."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from lrwr.cli.commands.config import (
    config_path_command,
    config_show_command,
    init_command,
)
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.settings.loader import render_example_toml
from lrwr.core.settings.model import index_settings


def app() -> typer.Typer:
    made = typer.Typer()
    made.command("show")(config_show_command)
    made.command("path")(config_path_command)
    made.command("init")(init_command)
    return made


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "novel"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run(*args: str) -> str:
    return CliRunner().invoke(app(), args, catch_exceptions=False).stdout


def test_show_names_every_setting_and_where_it_was_set(
    novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (novel / "lrwr.toml").write_text("[search]\nlimit = 3\n", encoding="utf-8")
    monkeypatch.setenv("LRWR_CHUNK_SIZE", "300")
    rows = [line.split() for line in run("show").splitlines()]
    assert ["search.limit", "3", "lrwr.toml:2"] in rows
    assert ["chunk.size", "300", "LRWR_CHUNK_SIZE"] in rows
    assert ["output.progress", "true", "default"] in rows
    assert ["Library:", str(novel)] in rows


def test_show_speaks_json(novel: Path) -> None:
    (novel / "lrwr.toml").write_text("[search]\nlimit = 3\n", encoding="utf-8")
    shown = json.loads(run("show", "--json"))
    assert shown["state_dir"] == str(novel / ".lrwr")
    by_key = {one["key"]: one for one in shown["settings"]}
    assert set(by_key) == set(index_settings())
    assert by_key["search.limit"] == {
        "key": "search.limit",
        "value": 3,
        "source": "lrwr.toml",
        "where": f"{novel / 'lrwr.toml'}:2",
    }


def test_show_warns_of_a_variable_that_sets_nothing(
    novel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LRWR_SERCH_LIMIT", "3")
    result = CliRunner().invoke(app(), ["show", "--json"])
    assert "warning: Unknown environment variable LRWR_SERCH_LIMIT" in result.stderr
    assert json.loads(result.stdout)


def test_path_works_when_the_file_is_broken(novel: Path) -> None:
    (novel / "lrwr.toml").write_text("[[[", encoding="utf-8")
    shown = json.loads(run("path", "--json"))
    assert shown["library"] == {"path": str(novel / "lrwr.toml"), "exists": True}
    assert shown["user"]["exists"] is False
    assert ["library", str(novel / "lrwr.toml"), "yes"] in [
        line.split() for line in run("path").splitlines()
    ]


def test_init_writes_the_example_and_says_what_is_next(novel: Path) -> None:
    result = CliRunner().invoke(app(), ["init"])
    assert result.stdout.strip() == str(novel / "lrwr.toml")
    assert "lrwr ingest" in result.stderr
    assert (novel / "lrwr.toml").read_text(encoding="utf-8") == render_example_toml()


def test_init_keeps_what_is_there(novel: Path) -> None:
    (novel / "lrwr.toml").write_text("# mine\n", encoding="utf-8")
    with pytest.raises(SettingsProblem, match="already exists"):
        run("init", str(novel))
    assert (novel / "lrwr.toml").read_text(encoding="utf-8") == "# mine\n"


def test_init_by_force_keeps_the_old_file_beside_the_new_one(novel: Path) -> None:
    (novel / "lrwr.toml").write_text("# mine\n", encoding="utf-8")
    run("init", "--force")
    assert (novel / "lrwr.toml").read_text(encoding="utf-8") == render_example_toml()
    assert (novel / "lrwr.toml.old").read_text(encoding="utf-8") == "# mine\n"


def test_init_wants_a_folder_that_is_there(novel: Path) -> None:
    with pytest.raises(NotFound, match="no folder nowhere"):
        run("init", "nowhere")
