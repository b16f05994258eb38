"""The structure of the package, held against docs/decisions/024-five-packages.md.

What breaks a rule today stands in structure_baseline.json, and may only shrink.
"""

import ast
import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).parents[2]
BASELINE = Path(__file__).with_name("structure_baseline.json")

PACKAGES = {"app", "cli", "core", "pipeline", "tui"}
LAYERS, MODULES, FUNCTION_IMPORTS = 12, 570, 60

TERMS = frozenset({"embedding", "clustering", "feed", "heading", "setting", "string"})
"""Words that end like a participle and are standard terms or no verbs at all."""

PARTICIPLE = re.compile(r"(?:ing|ed)$")
VAGUE = frozenset(
    {
        "asked", "brought", "came", "each", "found", "given", "held", "kept", "known",
        "left", "made", "one", "said", "seen", "sought", "taken", "told", "wanted",
    }
)  # fmt: skip
"""Names of variables that do not say what they hold."""

Imports = Mapping[str, frozenset[str]]


@cache
def modules() -> Mapping[str, ast.Module]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted((REPO / "lrwr").rglob("*.py")):
        name = ".".join(path.relative_to(REPO).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[name.removesuffix(".__init__")] = tree
    return found


def plain_modules() -> list[str]:
    """Return the names of modules that are not a package's `__init__`."""
    return [name for name in modules() if (REPO / as_file(name)).exists()]


def as_file(module: str) -> str:
    return module.replace(".", "/") + ".py"


def baseline() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(BASELINE.read_text(encoding="utf-8"))
    return recorded


def imported_by(tree: ast.Module) -> Iterator[str]:
    """Yield the modules of the package that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module in modules()
        ):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules() else node.module


@cache
def import_graph() -> Imports:
    return {
        name: frozenset(imported_by(tree)) - {name} for name, tree in modules().items()
    }


def reachable(start: str, graph: Imports) -> set[str]:
    """Return the modules that `start` imports, directly or not."""
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting.extend(graph[module])
    return reached


def functions_in(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def function_imports(tree: ast.Module) -> int:
    """Count import statements inside functions, each once."""
    return len(
        {
            id(node)
            for function in functions_in(tree)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
    )


def definitions_of(kinds: tuple[type[ast.stmt], ...]) -> dict[str, list[str]]:
    """Return where each top-level name is defined; private functions do not count."""
    places = defaultdict(list)
    for module, tree in modules().items():
        for node in tree.body:
            if not isinstance(node, kinds):
                continue
            assert isinstance(
                node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            if isinstance(node, ast.ClassDef) or not node.name.startswith("_"):
                places[node.name].append(module)
    return places


def repeated(places: Mapping[str, Iterable[str]]) -> list[str]:
    return sorted(name for name, where in places.items() if len(list(where)) > 1)


def vague_variables() -> Counter[str]:
    """Count how often a variable or parameter gets a name that says nothing."""
    names: Counter[str] = Counter()
    for tree in modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] += 1
            elif isinstance(node, ast.arg):
                names[node.arg] += 1
    return Counter({name: names[name] for name in VAGUE if names[name]})


def test_there_are_five_packages_and_no_loose_modules() -> None:
    top = {
        path.name
        for path in (REPO / "lrwr").iterdir()
        if path.suffix in {"", ".py"} and path.name != "__pycache__"
    }
    assert top == PACKAGES | {"__init__.py", "__main__.py"}


def test_the_import_contract_has_few_layers() -> None:
    settings = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = [one["layers"] for one in contracts if one["type"] == "layers"]
    assert [len(each) <= LAYERS for each in layers] == [True]


def test_no_module_imports_itself_through_others() -> None:
    """Imports for type checking and inside functions count, too."""
    graph = import_graph()
    assert [name for name in graph if name in reachable(name, graph)] == []


def test_modules_are_named_by_nouns() -> None:
    named = {
        name
        for name in plain_modules()
        for last in [name.rpartition(".")[2].split("_")[-1]]
        if PARTICIPLE.search(last) and last not in TERMS
    }
    assert named == set(baseline()["participle_modules"])


@pytest.mark.parametrize(
    "kinds", [(ast.ClassDef,), (ast.FunctionDef, ast.AsyncFunctionDef)]
)
def test_a_name_is_defined_once(kinds: tuple[type[ast.stmt], ...]) -> None:
    assert repeated(definitions_of(kinds)) == []


def test_modules_are_few() -> None:
    assert len(plain_modules()) <= min(MODULES, baseline()["modules"])


def test_imports_stand_at_the_top() -> None:
    counted = {name: function_imports(tree) for name, tree in modules().items()}
    counted = {name: count for name, count in counted.items() if count}
    assert counted == baseline()["function_imports"]
    assert sum(counted.values()) <= FUNCTION_IMPORTS


def test_variables_say_what_they_hold() -> None:
    assert dict(vague_variables()) == baseline()["vague_variables"]


def record() -> None:
    """Write the baseline anew. A figure that grows needs its reason in the commit."""
    counted = {name: function_imports(tree) for name, tree in modules().items()}
    figures = {
        "participle_modules": [],
        "modules": len(plain_modules()),
        "function_imports": {name: n for name, n in sorted(counted.items()) if n},
        "vague_variables": dict(sorted(vague_variables().items())),
    }
    BASELINE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
