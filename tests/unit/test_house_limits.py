"""The sizes and habits that STYLE asks for, checked, because prose is forgotten."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
MODULE_LINES, CLASS_LINES, FUNCTION_LINES = 500, 250, 45

CODE = sorted(
    path
    for folder in ("lrwr", "tests", "bench", "tools")
    for path in (REPO / folder).rglob("*.py")
)
PRODUCT = [path for path in CODE if path.is_relative_to(REPO / "lrwr")]

TEXT_SUFFIXES = frozenset(
    {".py", ".md", ".toml", ".txt", ".sh", ".yml", ".yaml", ".cfg", ".example", ""}
)
LEFT_OUT = frozenset({"build", "dist", "results", "__pycache__"})
HIDDEN_BUT_OURS = frozenset({".ci", ".github", ".gitignore", ".gitattributes"})

MACHINE_PATH = re.compile(r"(?<![\w.~/])/(?:work|root|home|tmp)/[\w.]")

Function = ast.FunctionDef | ast.AsyncFunctionDef

PURE_CALLS = frozenset(
    {
        # make a value or a type, and touch nothing
        "Argument", "ContextVar", "Decimal", "Fraction", "LazyPattern", "MappingProxyType", "NamedTuple", "NewType",
        "Option", "ParamSpec", "Path", "Struct", "TypeAdapter", "TypeVar", "TypedDict",
        "UUID", "auto", "bytes", "compile", "dict", "encode", "field", "float",
        "frozenset", "get", "getattr", "items", "join", "len", "list", "maketrans", "max", "min",
        "namedtuple", "declare_setting", "range", "set", "sorted", "split", "str", "sum",
        "tuple", "update_wrapper", "uuid5", "zip",
        # build SQL from names
        "checksum_sql", "fits_sql", "insert_sql", "outline_fits_sql", "seal_sql", "text_fits_sql",
        # what Textual reads from a class: values, no more
        "Action", "Binding", "reactive", "var",
        # a frozen dataclass, declared beside the addresses that it reads
        "HostedService",
    }
)  # fmt: skip
VALUE = "@dataclass(frozen=True)\nclass A:\n    b: int\n"
COMMAND_LINE = (REPO / "lrwr/cli/main.py", REPO / "lrwr/cli/commands")
REGISTERING = frozenset({"Typer", "add_typer", "command", "callback", "CommandEntry"})


def short(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def definitions(path: Path, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def length(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a definition without its docstring and those of its methods."""
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1 - docstring_lines(node)


def docstring_lines(node: ast.AST) -> int:
    documented = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [inner for inner in ast.walk(node) if isinstance(inner, documented)]
    docstrings = [inner.body[0] for inner in nodes if ast.get_docstring(inner)]
    return sum((d.end_lineno or d.lineno) - d.lineno + 1 for d in docstrings)


def too_long(path: Path) -> Iterator[str]:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    if lines > MODULE_LINES:
        yield f"{short(path)}: {lines} lines, at most {MODULE_LINES}"
    for node in definitions(path, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
        assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        limit = CLASS_LINES if isinstance(node, ast.ClassDef) else FUNCTION_LINES
        if length(node) > limit:
            place = f"{short(path)}:{node.lineno}"
            yield f"{place}: {node.name} has {length(node)} lines, at most {limit}"


def run_at_import(body: list[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        match statement:
            case ast.ClassDef():
                yield from run_at_import(statement.body)
            case ast.Assign(value=value):
                yield value
            case ast.AnnAssign(value=value) if value is not None:
                yield value
            case ast.Expr(value=value) if not isinstance(value, ast.Constant):
                yield value
            case ast.Try() | ast.With() | ast.For() | ast.While():
                yield ast.Call(ast.Name("a block"), [], [], lineno=statement.lineno)
            case ast.If(body=inner, orelse=other) if not guarded(statement):
                yield from run_at_import([*inner, *other])


def guarded(statement: ast.If) -> bool:
    test = ast.unparse(statement.test)
    return "TYPE_CHECKING" in test or "__name__" in test


def calls_in(expression: ast.expr) -> Iterator[ast.Call]:
    waiting: list[ast.AST] = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def values_of(tree: ast.Module) -> Iterator[str]:
    """Yield the frozen dataclasses of a module that run nothing when one is made."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        frozen = any("frozen=True" in ast.unparse(one) for one in node.decorator_list)
        own = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        if frozen and not node.bases and not own & {"__init__", "__post_init__"}:
            yield node.name


def done_at_import(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    allowed = PURE_CALLS | frozenset(values_of(tree))
    if any(path.is_relative_to(place) for place in COMMAND_LINE):
        allowed |= REGISTERING
    for expression in run_at_import(tree.body):
        for call in calls_in(expression):
            if isinstance(call.func, ast.Call):
                continue  # what the inner call returns; the inner call is looked at
            name = ast.unparse(call.func)
            if name.rpartition(".")[2] not in allowed:
                yield f"{short(path)}:{expression.lineno}: calls {name} at import"


def kept_files() -> Iterator[Path]:
    waiting = [REPO]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            hidden = path.name.startswith(".") and path.name not in HIDDEN_BUT_OURS
            if hidden or path.name in LEFT_OUT:
                continue
            if path.is_dir():
                waiting.append(path)
            elif path.suffix in TEXT_SUFFIXES:
                yield path


def machine_paths(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if MACHINE_PATH.search(line):
            yield f"{short(path)}:{number}: {line.strip()}"


def test_modules_classes_and_functions_stay_small() -> None:
    assert [line for path in CODE for line in too_long(path)] == []


def test_nothing_happens_when_a_module_is_imported() -> None:
    assert [line for path in PRODUCT for line in done_at_import(path)] == []


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert [line for path in kept_files() for line in machine_paths(path)] == []


def test_every_package_says_in_one_line_what_it_is_for() -> None:
    silent = [
        short(path)
        for path in PRODUCT
        if path.name == "__init__.py"
        and not re.match(r'"""[^\n]+"""\n', path.read_text(encoding="utf-8"))
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("code", "noticed"),
    [
        ("client = connect()", True),
        ("class A:\n    b = open('x')", True),
        ("print('hello')", True),
        ("if DEBUG:\n    start()", True),
        ("for x in y:\n    z(x)", True),
        (f"{VALUE}ONE = A(1)", False),
        (f"{VALUE}ONE = A(find())", True),
        (f"{VALUE.replace('frozen=True', '')}ONE = A(1)", True),
        (f"{VALUE}    def __post_init__(self) -> None: ...\nONE = A(1)", True),
        ("import re\nWORD = re.compile('a')", False),
        ("NAMES = frozenset({'a'})", False),
        ("f = lambda: connect()", False),
        ("def f() -> None:\n    connect()", False),
        ("if __name__ == '__main__':\n    run()", False),
    ],
)
def test_work_at_import_is_noticed_and_definitions_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, noticed: bool
) -> None:
    monkeypatch.setitem(globals(), "REPO", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(code, encoding="utf-8")
    assert bool(list(done_at_import(module))) is noticed


@pytest.mark.parametrize(
    ("line", "noticed"),
    [
        ("cd /" + "work/main", True),
        ('open("/' + 'tmp/x")', True),
        ("~/" + "work/novel", False),
        ("../" + "work/novel", False),
        ("https://e.org/home/x", False),
        ("/" + "home/ is where homes are", False),
    ],
)
def test_paths_of_a_machine_are_told_from_others(line: str, noticed: bool) -> None:
    assert bool(MACHINE_PATH.search(line)) is noticed
