import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import pytest
import typer

from lrwr.cli.main import app
from lrwr.cli.presenters.passages import passage_as_json
from lrwr.cli.runtime.groups import LazyGroup
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.model import index_settings

Command: TypeAlias = Any
"""Typer keeps its own copy of click to itself."""

REPO = Path(__file__).parents[2]
DOCS = sorted((REPO / "docs").rglob("*.md"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def page(name: str) -> str:
    return (REPO / "docs" / name).read_text(encoding="utf-8")


def commands(command: Command, path: str) -> Iterator[tuple[str, Command]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        lazy = isinstance(command, LazyGroup)
        real = command.load_command(name) if lazy else inner
        yield from commands(real, f"{path} {name}")


COMMANDS = dict(commands(typer.main.get_command(app), "lrwr"))


def options(command: Command) -> set[str]:
    named = (name for p in command.params for name in (*p.opts, *p.secondary_opts))
    return {name for name in named if name.startswith("--")}


def told(text: str) -> dict[str, set[str]]:
    """Long options by command: a heading's, or that of the item they stand in."""
    found: dict[str, set[str]] = {}
    section = ""
    for line in text.split("\n## Exit codes")[0].splitlines():
        if line.startswith("## "):
            section = command_in(line)
        here = section
        for piece in re.findall(r"`([^`]+)`", line):
            here = command_in(f"`{piece}`") or here
            found.setdefault(here, set()).update(re.findall(r"--[a-z-]+", piece))
    return found


def command_in(text: str) -> str:
    words = re.match(r"[^`]*`(lrwr[a-z -]*)", text)
    if not words:
        return ""
    path = words[1].strip().split()
    while " ".join(path) not in COMMANDS:
        path.pop()
    return " ".join(path)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_options_named_and_no_others(name: str) -> None:
    text = page("lrwr.md")
    assert re.search(rf"`{name}[ `]", text)
    named = told(text).get(name, set())
    assert named - {"--help"} == options(COMMANDS[name]) - {"--help"}


def test_no_command_is_named_that_is_not_there() -> None:
    for path in [REPO / "README.md", *DOCS]:
        for words in re.findall(r"lrwr ([a-z][a-z-]+)", unquoted(path)):
            assert f"lrwr {words}" in COMMANDS, (path.name, words)


def unquoted(path: Path) -> str:
    """What is shown as typed: in backticks, or after a prompt."""
    text = path.read_text(encoding="utf-8")
    typed = re.findall(r"`(lrwr [^`\n]+)`|^\$ (lrwr .*)$", text, re.M)
    return "\n".join("".join(pair) for pair in typed)


def test_every_setting_and_its_variable_is_told_and_no_other() -> None:
    keys = set(re.findall(r"^\| `([\w.]+)` = ", page("files.md"), re.M))
    assert keys == set(index_settings())
    rows = re.findall(r"^\| `(LRWR_\w+)` \| `([\w.]+)` \|$", page("lrwr.md"), re.M)
    assert dict(rows) == {s.variable: key for key, s in index_settings().items()}


def test_every_setting_is_told_with_its_meaning() -> None:
    for key, setting in index_settings().items():
        assert f"| {setting.about.meaning} |" in page("files.md"), key


@pytest.mark.parametrize("path", [REPO / "README.md", REPO / "docs/lrwr.md"])
def test_every_exit_code_is_told(path: Path) -> None:
    rows = re.findall(r"^\| (\d+) \|", path.read_text(encoding="utf-8"), re.M)
    assert [int(row) for row in rows] == sorted(ExitCode)


def test_an_exit_code_means_the_same_wherever_it_is_told() -> None:
    row = re.compile(r"^\| (\d+) \| (.+) \|$", re.M)
    readme, manual = (
        dict(row.findall(path.read_text(encoding="utf-8")))
        for path in (REPO / "README.md", REPO / "docs/lrwr.md")
    )
    assert readme == manual


def test_the_json_of_a_passage_is_told() -> None:
    shown = re.findall(r'^      "(\w+)": ', page("search.md"), re.M)
    constants = passage_as_json.__code__.co_consts
    keys = next(one for one in constants if isinstance(one, tuple) and "chars" in one)
    assert tuple(shown) == keys


@pytest.mark.parametrize("path", [REPO / "README.md", *DOCS], ids=lambda p: p.name)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, heading = unquote(target).partition("#")
        found = (path.parent / file).resolve() if file else path
        assert found.exists(), target
        if heading:
            assert heading in anchors(found), target


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    return {
        re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-")
        for title in headings
    }
