"""Lists the texts that users of lrwr can see, with their locations.

    python -m tools.messages                     # all, grouped by area
    python -m tools.messages lrwr/cli            # only below these paths

Every string of more than one word counts, wherever it stands: messages are often stored
in variables, constants, tables or helper functions before they are shown. Left out are
docstrings, regular expressions, SQL, style sheets and modules without messages
(`WITHOUT_MESSAGES`). Single words count as arguments of functions that show them
(`SHOWING`, `SHOWN_KEYWORDS`), and, in packages that present (`PRESENTING`), where labels
stand: in tables, enums, returned values and conditional expressions. F-strings are shown
with their expressions in braces. Some of the result is no message: prefer that to a miss.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

PACKAGE = Path("lrwr")

PRESENTING = ("lrwr/cli", "lrwr/tui", "lrwr/app")
"""Folders in which single words can be labels."""

WITHOUT_MESSAGES = (
    *("lexicon.py", "prompts.py", "_rows.py", "_rules.py", "templates.py"),
    *("job_queue.py", "kinship.py", "lrwr/core/nlp/facts/events.py"),
)
"""Ends of paths of modules whose strings are word lists, patterns, prompts or SQL."""

NO_MESSAGE = re.compile(
    r"""
    ^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|BEGIN|ATTACH)\b  # SQL
    | [ ]?\{ [ ] [^}]* [a-z-]+: [^}]* ; | ^\.[a-z-]+[ ,]                        # styles
    | \(\?[:=!<P] | \\[bswd] | \[\^ | \(\?i                                    # patterns
    | ^[A-Z][A-Za-z]+\[                                                       # types
    """,
    re.VERBOSE,
)

SHOWING = frozenset(
    {
        *(
            "answer",
            "echo",
            "_on_progress",
            "_report_progress",
            "info",
            "notice",
            "notice_warning",
            "print",
            "say",
            "warn",
        ),
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
    if not file.endswith(WITHOUT_MESSAGES):
        for statement in tree.body:
            yield from _strings(file, statement, docstrings, any_word=False)
    for node in (*_shown_nodes(tree, errors), *_labels(file, tree)):
        yield from _strings(file, node, docstrings, any_word=True)
    yield from _command_docstrings(file, tree)


def _shown_nodes(tree: ast.Module, errors: set[str]) -> Iterator[ast.expr]:
    """Yield the arguments of calls that show them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _shown_arguments(node, errors)


def _command_docstrings(file: str, tree: ast.Module) -> Iterator[Location]:
    """Yield the docstrings of commands, which `--help` shows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _is_command(node):
            text = ast.get_docstring(node) or ""
            yield file, node.lineno, " ".join(text.split())


def _labels(file: str, tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the strings at places where labels of one word stand.

    These are values of enums and, in packages that present, of other expressions.
    """
    is_presenting = file.startswith(PRESENTING)
    for node in ast.walk(tree):
        if is_presenting or isinstance(node, ast.ClassDef):
            yield from (
                value
                for value in _label_expressions(node)
                if isinstance(value, ast.Constant | ast.JoinedStr)
            )


def _label_expressions(node: ast.AST) -> Sequence[ast.expr | None]:
    match node:
        case ast.ClassDef() if any("Enum" in ast.unparse(base) for base in node.bases):
            return [line.value for line in node.body if isinstance(line, ast.Assign)]
        case ast.Dict():
            return node.values
        case ast.IfExp():
            return node.body, node.orelse
        case ast.Return() | ast.Assign():
            value = node.value
            return value.elts if isinstance(value, ast.Tuple) else [value]
        case _:
            return ()


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
    if literal.startswith("-") or NO_MESSAGE.search(literal):  # an option, a pattern
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
