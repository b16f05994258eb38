"""Lists the texts that users of lrwr can see, with their locations.

    python -m tools.messages                     # all, grouped by area
    python -m tools.messages lrwr/cli            # only below these paths

Texts are strings passed to functions that print or show them, messages and hints of
errors, help texts, docstrings of commands, labels, key bindings and notifications. In
packages that only present (`PRESENTING`), every string of more than one word counts.
F-strings are shown with their expressions in braces.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

PACKAGE = Path("lrwr")

PRESENTING = ("lrwr/cli", "lrwr/tui", "lrwr/app/presenters")
"""Folders in which strings are there to be shown."""

SHOWING = frozenset(
    {
        *("answer", "echo", "info", "notice", "notice_warning", "print", "say", "warn"),
        *("notify", "styled_line", "StyledLine", "StyledText", "StyledTable", "table"),
        *("Binding", "Button", "Input", "Label", "Option", "OptionList", "Static"),
        *("Argument", "CommandEntry", "Typer", "declare_setting", "HealthFinding"),
    }
)
"""Functions and classes whose string arguments are shown."""

SHOWN_KEYWORDS = frozenset(
    {"detail", "epilog", "help", "hint", "placeholder", "remedy", "title", "tooltip"}
)
"""Keyword arguments that are shown, whatever the function."""

HIDDEN_CALLS = frozenset(
    {"compile", "execute", "getattr", "getLogger", "import_module"}
)
"""Functions whose string arguments are never shown."""

TONES = frozenset({"plain", "strong", "faint", "place", "good", "bad"})
"""Arguments of `StyledText` that choose a tone."""

Location = tuple[str, int, str]
"""File, line and text."""


def find_messages(paths: Sequence[str] = ()) -> list[Location]:
    """Return file, line and text of all messages, sorted by file and line.

    `paths` are beginnings of file paths, to which the result is limited; empty for all.
    """
    modules = {
        path.as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    errors = _find_error_classes(modules.values())
    messages: set[Location] = set()
    for file, tree in modules.items():
        if not paths or file.startswith(tuple(paths)):
            messages.update(_find_in_module(file, tree, errors))
    return sorted(messages)


def _find_error_classes(
    modules: Iterable[ast.Module],
) -> set[str]:
    """Return the names of `LrwrError` and of all classes that derive from it."""
    bases_by_class = {
        node.name: {ast.unparse(base) for base in node.bases}
        for tree in modules
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    errors = {"LrwrError"}
    while derived := {
        name
        for name, bases in bases_by_class.items()
        if bases & errors and name not in errors
    }:
        errors |= derived
    return errors


def _find_in_module(
    file: str, tree: ast.Module, errors: set[str]
) -> Iterator[Location]:
    docstrings = {id(node) for node in _docstring_nodes(tree)}
    is_presenting = file.startswith(PRESENTING)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for shown in _shown_arguments(node, errors):
                yield from _strings(file, shown, docstrings, any_word=True)
        elif isinstance(node, ast.FunctionDef) and _is_command(node):
            text = ast.get_docstring(node)
            if text:
                yield file, node.lineno, " ".join(text.split())
    if is_presenting:
        for statement in tree.body:
            yield from _strings(file, statement, docstrings, any_word=False)


def _docstring_nodes(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield every string that is a statement: docstrings of all kinds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _shown_arguments(call: ast.Call, errors: set[str]) -> Iterator[ast.expr]:
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in SHOWING or name in errors:
        yield from call.args
    for keyword in call.keywords:
        if keyword.arg in SHOWN_KEYWORDS:
            yield keyword.value


def _is_command(function: ast.FunctionDef) -> bool:
    decorators = map(ast.unparse, function.decorator_list)
    return any(".command(" in name or ".callback(" in name for name in decorators)


def _strings(
    file: str, node: ast.AST, docstrings: set[int], *, any_word: bool
) -> Iterator[Location]:
    """Yield the strings in `node`; single words only with `any_word`."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        if id(node) not in docstrings and _is_message(node, any_word=any_word):
            yield file, node.lineno, " ".join(_text(node).split())
        return
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in HIDDEN_CALLS:
            return
    for child in _children(node):
        yield from _strings(file, child, docstrings, any_word=any_word)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below `node`, without annotations and decorators."""
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list"}:
            children = value if isinstance(value, list) else [value]
            yield from (child for child in children if isinstance(child, ast.AST))


def _is_message(node: ast.Constant | ast.JoinedStr, *, any_word: bool) -> bool:
    """Return whether the literal parts of a string have words, and are not a tone."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    literal = "".join(_text(part) for part in parts if isinstance(part, ast.Constant))
    if literal.startswith("-"):  # an option
        return False
    is_several_words = " " in _text(node).strip() and any(map(str.isalpha, literal))
    is_word = any_word and any(map(str.isalpha, literal)) and literal not in TONES
    return is_several_words or is_word


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(
        f"{{{ast.unparse(part.value)}}}"
        if isinstance(part, ast.FormattedValue)
        else _text(part)
        for part in node.values
        if isinstance(part, ast.FormattedValue | ast.Constant)
    )


def _area(message: Location) -> str:
    """Return the first three parts of the file's folder: "lrwr/core/adapters"."""
    return "/".join(Path(message[0]).parts[:3][:-1]) or "lrwr"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the messages below the paths in `arguments` (all if none), grouped by area."""
    paths = list(sys.argv[1:] if arguments is None else arguments)
    for area, messages in groupby(find_messages(paths), _area):
        print(f"\n{area}")
        for file, line, text in messages:
            print(f"  {file}:{line}: {text}")


if __name__ == "__main__":
    main()
