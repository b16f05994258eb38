"""Documentation names what exists: commands, options, settings, exit codes, links."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import pytest
import typer

from lrwr.cli.main import LazyGroup, app
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.model import index_settings
from tools import examples, reference

Command: TypeAlias = Any
"""Typer has its own copy of click and does not export its types."""

REPO = Path(__file__).parents[2]
DOCS = sorted((REPO / "docs").rglob("*.md"))
GUIDES = [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
README_LINES = 120


def walk_commands(command: Command, path: str) -> Iterator[tuple[str, Command]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        is_lazy = isinstance(command, LazyGroup)
        loaded = command.load_command(name) if is_lazy else inner
        yield from walk_commands(loaded, f"{path} {name}")


COMMANDS = dict(walk_commands(typer.main.get_command(app), "lrwr"))


def option_names(command: Command) -> set[str]:
    names = (name for p in command.params for name in (*p.opts, *p.secondary_opts))
    return {name for name in names if name.startswith("--")}


OPTIONS = {name for command in COMMANDS.values() for name in option_names(command)}
OTHER_PROGRAMS = {"--modules", "--unshallow"}


@pytest.mark.parametrize(
    ("page", "render"),
    [
        ("commands.md", reference.render_commands),
        ("settings.md", reference.render_settings),
    ],
)
def test_a_reference_page_is_what_the_code_says(page: str, render: Any) -> None:
    """`python -m tools.reference` writes the pages."""
    assert (REPO / "docs/reference" / page).read_text(encoding="utf-8") == render()


@pytest.mark.parametrize("path", GUIDES, ids=lambda p: p.name)
def test_a_page_names_only_commands_that_exist(path: Path) -> None:
    for words in re.findall(r"lrwr ([a-z][a-z-]+)", typed_text(path)):
        assert f"lrwr {words}" in COMMANDS, (path.name, words)


@pytest.mark.parametrize("path", GUIDES, ids=lambda p: p.name)
def test_a_page_names_only_options_that_exist(path: Path) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", typed_text(path)))
    assert named <= OPTIONS | OTHER_PROGRAMS | {"--help"}


@pytest.mark.parametrize("path", GUIDES, ids=lambda p: p.name)
def test_a_page_names_only_settings_that_exist(path: Path) -> None:
    sections = {setting.section for setting in index_settings().values()}
    text = path.read_text(encoding="utf-8")
    dotted = re.findall(rf"`((?:{'|'.join(sections - {''})})\.\w+)`", text)
    assert set(dotted) <= set(index_settings()) | FILES
    for section, name in re.findall(r"`\[(\w+)\] (\w+) = ", text):
        assert f"{section}.{name}" in index_settings()


FILES = {"library.db", "library.json"}


def typed_text(path: Path) -> str:
    """Return what a page shows as typed: inline code, and lines after a prompt."""
    text = path.read_text(encoding="utf-8")
    typed = re.findall(r"`(lrwr [^`\n]+|--[a-z][^`\n]*)`|^\$ (lrwr .*)$", text, re.M)
    return "\n".join("".join(pair) for pair in typed)


def test_every_exit_code_has_a_meaning() -> None:
    assert set(reference.EXIT_CODES) == set(ExitCode)


def test_the_readme_stays_short() -> None:
    lines = (REPO / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= README_LINES


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


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", GUIDES, ids=lambda p: p.name)
def test_examples_print_what_a_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m tools.examples --write` updates the pages."""
    monkeypatch.chdir(REPO)
    monkeypatch.setattr(examples, "WORKSPACE", tmp_path)
    for example, actual in examples.run_page(page):
        assert examples.matches(example.output, actual), (example.command, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (["Done in … s."], ["Done in 7.3 s."]),
        (["first", "…"], ["first", "second", "third"]),
        (["…"], []),
    ],
)
def test_an_ellipsis_stands_for_any_output(
    expected: list[str], actual: list[str]
) -> None:
    assert examples.matches(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(["first"], ["first", "second"]), (["first", "…"], ["second"]), ([], ["more"])],
)
def test_other_output_differs(expected: list[str], actual: list[str]) -> None:
    assert not examples.matches(expected, actual)


def test_the_tests_that_documents_name_exist() -> None:
    tests = {path.name for path in (REPO / "tests").rglob("test_*.py")}
    named = {
        (name, path.name)
        for path in DOCS
        for name in re.findall(r"\btest_\w+\.py", path.read_text("utf-8"))
    }
    assert [pair for pair in sorted(named) if pair[0] not in tests] == []
