"""`lrwr canon`, as the writer meets it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lrwr.cli.main import app
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.settings.library import CANON_FILE_NAME

FILES = {
    "lrwr.toml": '[embedding]\nmodel = "off"\n',
    "book/1.md": "# One\n\nThe marsh lantern burned low.\n",
    "book/2.md": "# Two\n\nNell saw the lantern.\n\n***\n\nShe went in.\n",
    "book/3.md": "# Three\n\nThe lantern was out.\n",
    "book/notes/mill.md": "---\ntype: character\n---\nThe mill has a lantern.\n",
}


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "novel"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def library(novel: Path) -> Iterator[Path]:
    before = manuscript(novel)
    run("ingest", "book")
    yield novel
    assert manuscript(novel) == before


def manuscript(novel: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in novel.joinpath("book").rglob("*") if p.is_file()}


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, catch_exceptions=False)


def run(*args: str) -> str:
    result = invoke(*args)
    assert result.exit_code == 0
    return result.stdout


def test_a_decided_type_is_what_search_shows_and_asks_for(library: Path) -> None:
    said = run("canon", "type", "mill.md", "Setting")
    assert said == (
        "book/notes/mill.md is a setting document. To undo it: `lrwr canon undo`.\n"
    )
    found = json.loads(run("search", "mill", "--json", "--type", "setting"))
    assert [(p["file"], p["type"]) for p in found["passages"]] == [
        ("book/notes/mill.md", "setting")
    ]
    run("canon", "undo")
    assert not json.loads(run("search", "mill", "--json", "--type", "setting"))[
        "passages"
    ]


def test_a_decided_order_is_what_horizons_go_by(library: Path) -> None:
    run("canon", "order", "book/3.md", "book/1.md")
    shown = json.loads(run("canon", "order", "--show", "--json"))
    assert [one["file"] for one in shown] == ["book/3.md", "book/2.md", "book/1.md"]
    assert [line.split()[-1] for line in run("canon", "order").splitlines()[1:]] == [
        "book/3.md",
        "book/2.md",
        "book/1.md",
    ]
    found = json.loads(run("search", "lantern", "--json", "--as-of", "ch1"))
    assert {p["file"] for p in found["passages"]} == {"book/3.md"}


def test_an_order_wants_scenes_and_more_than_one(library: Path) -> None:
    with pytest.raises(SettingsProblem, match="at least two files"):
        invoke("canon", "order", "1.md")
    with pytest.raises(SettingsProblem, match="character document") as caught:
        invoke("canon", "order", "mill.md", "1.md")
    assert "lrwr canon type book/notes/mill.md scene" in caught.value.hint


def test_points_of_view_and_names_are_kept_and_shown(library: Path) -> None:
    run("canon", "pov", "ch2:s2", "Nell")
    assert "are one character: Nell Tallow. Run `lrwr ingest` to apply it." in run(
        "canon", "merge", "Nell", "Wren", "--as", "Nell Tallow"
    )
    assert run("canon", "split", "Mags", "Maggie").startswith(
        "Mags and Maggie are not the same character. Run `lrwr ingest` to apply it."
        " Each is then listed only if your text says enough about it."
    )
    run("canon", "rename", "the narrator", "Jory")
    run("canon", "ignore", "Monday")
    shown = json.loads(run("canon", "--json"))
    assert shown["points_of_view"] == [
        {
            "place": "book/2.md:s2",
            "file": "book/2.md",
            "chapter": None,
            "scene": 2,
            "character": "Nell",
        }
    ]
    assert shown["names"] == {
        "merged": {"Nell Tallow": ["Nell", "Wren"]},
        "split": [["Maggie", "Mags"]],
        "renamed": {"the narrator": "Jory"},
        "ignored": ["Monday"],
        "confirmed": [],
    }
    assert shown["last"] == "Monday is not a character."
    text = run("canon")
    for part in (
        "book/2.md:s2",
        "also called Nell, Wren",
        "renamed to Jory",
        "is not a character",
    ):
        assert part in text
    assert "replaces the decision" in run("canon", "merge", "Mags", "Maggie")


def test_points_of_view_are_listed_without_a_place(library: Path) -> None:
    before = run("canon", "pov")
    assert "Scenes without a known point of view: " in before
    assert "Mags" not in before
    run("canon", "pov", "ch2", "Mags")
    assert "ch2:s1  Mags  book/2.md:" in run("canon", "pov")
    assert invoke("canon", "pov", "ch2").exit_code


def test_a_split_name_can_be_merged_before_the_next_ingest(novel: Path) -> None:
    talk = (
        "“Is it late?” said Tom Tallow. They met Tom, and Tom shut the book. He sat."
        " “Well, Tom?” said Mr. Corin Tallow. Corin Tallow sat. “No,” said Tom. Tom"
        " sighed. “Yes,” said Mr. Tom. “Four,” said Corin Tallow, and Corin rowed.\n\n"
    )
    (novel / "book/4.md").write_text("# Four\n\n" + talk * 4, encoding="utf-8")
    run("ingest", "book")
    run("canon", "split", "Tom", "Tom Tallow")
    run("canon", "merge", "Corin Tallow", "Tom Tallow")

    decided = json.loads(run("canon", "--json"))["names"]
    assert decided["split"] == [["Tom", "Tom Tallow"]]
    assert decided["merged"] == {"Corin Tallow": ["Tom Tallow"]}
    run("ingest", "book")
    rows = run("characters").splitlines()
    assert "Tom Tallow" in next(row for row in rows if row.startswith("Corin"))
    assert "Tom Tallow" not in next(row for row in rows if row.startswith("Tom"))


def test_undo_and_redo_say_what_they_did(library: Path) -> None:
    run("canon", "ignore", "Monday")
    assert run("canon", "undo").startswith("Undone: Monday is not a character.")
    assert not (library / CANON_FILE_NAME).exists()
    result = invoke("canon", "undo")
    assert (result.stdout, result.stderr) == ("There is nothing to undo.\n", "")
    assert run("canon", "redo").startswith("Redone: Monday is not a character.")
    assert "already" in run("canon", "ignore", "Monday")


@pytest.mark.parametrize("group", ["gaps", "check"])
def test_only_decisions_of_its_own_kind_are_undone_by_a_command(
    library: Path, group: str
) -> None:
    run("canon", "type", "book/notes/mill.md", "setting")
    last = "book/notes/mill.md is a setting document"
    for name in ("characters", group):
        with pytest.raises(NotFound, match=f"of another kind: “{last}”") as refused:
            invoke(name, "undo")
        assert "`lrwr canon undo`" in refused.value.hint
    run("characters", "ignore", "Nell")
    with pytest.raises(NotFound, match="Nell is not a character"):
        invoke(group, "undo")
    assert "Nell is not a character" in run("canon")
    assert "Undone: Nell is not a character." in run("characters", "undo")
    assert f"Undone: {last}." in run("canon", "undo")
    assert "There is nothing to undo." in run(group, "undo")


def test_a_renamed_file_is_found_again_and_its_decisions_moved(novel: Path) -> None:
    run("ingest", "book")
    run("canon", "type", "mill.md", "setting")
    assert run("canon", "check").startswith("All files")
    (novel / "book" / "places").mkdir()
    (novel / "book/notes/mill.md").rename(novel / "book/places/mill.md")
    run("ingest")
    result = invoke("canon", "check")
    assert result.exit_code == 3
    assert "book/notes/mill.md  does not exist (type)." in result.stdout
    offered = result.stdout.partition("renamed: ")[2].split()
    assert offered[3:] == ["book/notes/mill.md", "book/places/mill.md"]
    run(*offered[1:])
    assert run("canon", "check").startswith("All files")
    assert json.loads(run("canon", "--json"))["types"] == {
        "book/places/mill.md": "setting"
    }


def test_the_files_of_lrwr_itself_are_no_surprise_to_an_ingestion(novel: Path) -> None:
    run("canon", "ignore", "Monday")
    assert "Skipped" not in invoke("ingest", ".").stdout


def test_a_chapter_that_is_gone_is_listed(library: Path) -> None:
    text = '[pov]\n"book/2.md#Twoo" = "Nell"\n'
    (library / CANON_FILE_NAME).write_text(text, encoding="utf-8")
    result = invoke("canon", "check", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout) == {"files": [], "places": ["book/2.md#Twoo"]}


def test_mistyped_files_and_types_are_answered_with_the_nearest(library: Path) -> None:
    with pytest.raises(NotFound) as missing:
        invoke("canon", "type", "notes/mil.md", "setting")
    assert "book/notes/mill.md" in missing.value.hint
    with pytest.raises(SettingsProblem) as unknown:
        invoke("canon", "type", "mill.md", "seting")
    assert "Did you mean setting?" in unknown.value.hint


def test_a_folder_that_is_no_library_does_not_become_one(
    novel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.raises(NotFound, match="no library in"):
        invoke("canon", "ignore", "Monday")
    assert run("canon") == (
        "No decisions yet.\nRun `lrwr canon --help` to see what you can decide.\n"
    )
    assert list(elsewhere.iterdir()) == []


def test_a_type_is_applied_by_the_next_ingest_and_so_is_its_undoing(
    novel: Path,
) -> None:
    sheet = "# Corin Vale\n\n- Eyes: grey\n- Age: forty\n"
    (novel / "book/corin.md").write_text(sheet, encoding="utf-8")
    run("ingest", "book")
    assert "eyes" not in run("characters", "--json")
    run("canon", "type", "book/corin.md", "character")
    assert json.loads(run("status", "--json"))["changed"] == 1
    assert json.loads(run("ingest", "--json"))["processed"] == 1
    assert "eyes: grey  confirmed" in run("characters", "Corin")
    assert json.loads(run("ingest", "--json"))["processed"] == 0
    (novel / "book/corin.md").touch()
    assert json.loads(run("ingest", "--json"))["processed"] == 0
    run("canon", "undo")
    assert json.loads(run("ingest", "--json"))["processed"] == 1
    assert "eyes: grey" not in run("characters", "--json")


def test_a_broken_file_stops_with_its_line_and_is_left_alone(novel: Path) -> None:
    (novel / CANON_FILE_NAME).write_text("[types]\n\n[nmaes]\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "lrwr", "canon", "ignore", "Monday"],
        capture_output=True,
        text=True,
        cwd=novel,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 2
    assert (
        f"{CANON_FILE_NAME}:3: unknown table `nmaes`; did you mean `names`?"
        in done.stderr
    )
    assert "hint: " in done.stderr
    assert (novel / CANON_FILE_NAME).read_text(
        encoding="utf-8"
    ) == "[types]\n\n[nmaes]\n"


@pytest.mark.parametrize(
    "command",
    ["type", "order", "pov", "merge", "split", "rename", "ignore", "move"],
)
def test_every_way_to_decide_shows_an_example(command: str) -> None:
    shown = " ".join(run("canon", command, "--help").split())
    assert f"lrwr canon {command}" in shown.split("Example")[1]
