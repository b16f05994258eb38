"""Writes the reference pages of the documentation from the code.

`commands.md` comes from the help of the command line, `settings.md` from the
declaration of the settings, `json.md` from what commands print with `--json` on the
sample manuscript: real output, with lists cut to their first item and repeats folded.

    python -m tools.reference            # write docs/reference/*.md
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from lrwr.cli.main import LazyGroup, app
from lrwr.core.model.errors import ExitCode
from lrwr.core.settings.loader import format_toml_value
from lrwr.core.settings.model import index_settings
from lrwr.core.settings.schema import Setting

PAGES = Path("docs/reference")
SAMPLE = Path("examples/marsh-lantern")
WORKSPACE = Path("build/reference")
GENERATED = "<!-- Generated: `make docs` -->\n"
COMMON_FROM = 4
"""A parameter with one text in this many commands is described once, at the top."""

REFERENCE_FROM = 8
"""A repeated text of this many words is replaced by a reference to the first one."""

FOLDED = "{…}"
"""Stands for an object with the same keys as one shown before."""

FOLD_FROM = 4
"""Objects with fewer keys are always shown."""

LONGEST_TEXT = 30
"""Longer strings of a JSON example are cut to this many characters."""

EXIT_CODES = {
    ExitCode.OK: "success",
    ExitCode.FAILED: "a failure without a code of its own, or `lrwr doctor` found a fault",
    ExitCode.SETTINGS: "invalid option, argument, setting or variable",
    ExitCode.NOT_FOUND: "a file, folder, chapter or library does not exist",
    ExitCode.UNREADABLE: "a manuscript file cannot be read",
    ExitCode.STORE: "the library in `.lrwr/` cannot be opened, read or written",
    ExitCode.SERVICE: "a model or a service did not answer",
    ExitCode.PARTIAL: "finished, but some documents could not be read or deleted",
    ExitCode.CONTRADICTIONS: "`lrwr check` found contradictions, or `lrwr draft check` found something in a draft",
    ExitCode.CHANGED: "`lrwr diff --exit-code` found differences",
    ExitCode.UNSUPPORTED: "`lrwr post check` found sentences that need the author",
    ExitCode.INTERNAL: "a bug in lrwr; the message names the report file",
    ExitCode.INTERRUPTED: "stopped with Ctrl-C; finished work is saved",
}

NEWSLETTER = "The marsh lantern is made of silver.\n"
"""The draft `newsletter.md` that an example checks, beside the manuscript."""

POST_NEW = (
    "post",
    "new",
    "How the lantern is lit",
    "--kind",
    "newsletter",
    "--as-of",
    "ch3",
)

JSON_EXAMPLES: Sequence[Sequence[str]] = (
    ("ingest", ".", "--json"),
    ("status", "--json"),
    (
        "search",
        "How many rungs has the ladder to Half House?",
        "--limit",
        "1",
        "--json",
    ),
    ("ask", "How old is Nell?", "--json"),
    ("characters", "Nell", "--as-of", "ch3", "--json"),
    ("world", "--json"),
    ("timeline", "--json"),
    ("recap", "--json"),
    ("gaps", "--json"),
    ("check", "--json"),
    ("diff", "--json"),
    ("threads", "--json"),
    ("threads", "show", "1", "--json"),
    ("open", "Nell", "--json"),
    ("post", "check", "../newsletter.md", "--to", "x", "--json"),
    (*POST_NEW, "--dry-run", "--json"),
    (*POST_NEW, "--name", "letter", "--json"),
    ("post", "list", "--json"),
    ("post", "show", "letter", "--json"),
    ("post", "export", "letter", "--json"),
    ("search", "belt", "--as-of", "ch99", "--json"),
)
"""Commands that `json.md` shows, in the order in which they run; the last one fails."""


def render_commands() -> str:
    """Return the Markdown page of all commands, their options and exit codes."""
    commands = dict(_walk(typer.main.get_command(app), "lrwr"))
    rendered = {
        path: [_render_parameter(parameter) for parameter in command.params]
        for path, command in commands.items()
    }
    counts = Counter(text for texts in rendered.values() for text in texts if text)
    common = {text for text, count in counts.items() if count >= COMMON_FROM}
    parts = [
        "# Commands\n",
        GENERATED,
        "Every command also takes `--help`, which shows examples. Answers go to stdout;"
        " progress and errors go to stderr.\n",
        "Arguments and options that many commands share, not repeated below:\n",
        "\n".join(sorted(common)),
        "",
    ]
    first: dict[str, str] = {}
    for path, command in commands.items():
        own = [text for text in rendered[path] if text and text not in common]
        parts.append(_render_command(path, command, own, first))
    parts.append("## Exit codes\n")
    parts += [f"- `{int(code)}`: {meaning}" for code, meaning in EXIT_CODES.items()]
    return "\n".join(parts) + "\n"


def render_settings() -> str:
    """Return the Markdown page of all settings, grouped by section of `lrwr.toml`."""
    parts = [
        "# Settings\n",
        GENERATED,
        "A value comes from, in this order: a command-line option; an environment variable"
        " (`LRWR_`, then the name in capitals with `_` for `.`, such as `LRWR_MODEL_USE`;"
        " items of a list are separated by `:`, on Windows by `;`); `lrwr.toml` in the"
        " library's folder; your own settings file (`lrwr config path`); the default, shown"
        " below. `lrwr config show` lists all values with their sources. API keys are never"
        " read from files: use `lrwr config set-key` or the environment.",
    ]
    settings = index_settings().values()
    for section, group in groupby(settings, key=lambda setting: setting.section):
        parts.append(f"\n## {f'`[{section}]`' if section else 'Top level'}\n")
        parts += [_render_setting(setting) for setting in group]
    return "\n".join(parts) + "\n"


def render_json() -> str:
    """Return the Markdown page with the JSON output of commands.

    The commands of `JSON_EXAMPLES` are run on a copy of the sample manuscript; of each,
    the first JSON value is shown, shortened.
    """
    shutil.rmtree(WORKSPACE, ignore_errors=True)
    shutil.copytree(SAMPLE, WORKSPACE, ignore=shutil.ignore_patterns(".lrwr"))
    (WORKSPACE.parent / "newsletter.md").write_text(NEWSLETTER, encoding="utf-8")
    parts = [
        "# JSON output\n",
        GENERATED,
        "Real output for the sample manuscript, with lists cut to one item and long texts"
        " cut; `{…}` stands for an object with the same keys as one shown before. Keys are"
        " stable; messages are not. An error is an object with the key `error`, and the exit code is that of"
        " the text output. `start` and `end`, and pairs under `chars`, are half-open"
        " character ranges in the document.\n",
    ]
    shown: set[frozenset[str]] = set()
    for words in JSON_EXAMPLES:
        typed = " ".join(f'"{word}"' if " " in word else word for word in words)
        parts.append(f"## `lrwr {typed}`\n\n```json")
        printed = [json.loads(line) for line in _parse_json(_run(words))]
        first = [_fold(shorten_json(value), shown) for value in printed[:1]]
        parts += [_format_json(value).replace(f'"{FOLDED}"', FOLDED) for value in first]
        parts.append("```\n")
    return "\n".join(parts)


def shorten_json(value: Any) -> Any:
    """Return `value` with lists cut to their first item and long strings cut.

    Strings are cut after `LONGEST_TEXT` characters. Lists of numbers stay complete.
    """
    match value:
        case dict():
            return {key: shorten_json(inner) for key, inner in value.items()}
        case list():
            simple = all(isinstance(item, int | float) for item in value)
            return value if simple else [shorten_json(item) for item in value[:1]]
        case str() if len(value) > LONGEST_TEXT:
            return value[:LONGEST_TEXT].rstrip() + "…"
        case _:
            return value


def _fold(value: Any, shown: set[frozenset[str]]) -> Any:
    """Return `value` with `FOLDED` for inner objects whose keys are in `shown`.

    The keys of the other objects are added to `shown`.
    """
    if isinstance(value, list):
        return [_fold(item, shown) for item in value]
    if not isinstance(value, dict):
        return value
    keys = frozenset(value)
    if len(keys) >= FOLD_FROM and keys in shown:
        return FOLDED
    shown.add(keys)
    return {key: _fold(inner, shown) for key, inner in value.items()}


def _render_setting(setting: Setting) -> str:
    """Return the list item of a setting: name, default, meaning, other choices."""
    default = format_toml_value(setting.default)
    choices = [format_toml_value(c) for c in setting.choices if c != setting.default]
    also = f" Or {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""
    return f"- `{setting.name} = {default}`: {setting.about.meaning}{also}"


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    is_lazy = isinstance(command, LazyGroup)
    for name, inner in getattr(command, "commands", {}).items():
        loaded = command.load_command(name) if is_lazy else inner
        yield from _walk(loaded, f"{path} {name}")


def _render_command(
    path: str, command: Any, own: Sequence[str], first: dict[str, str]
) -> str:
    """Return the section of a command with the texts of its `own` parameters.

    `first` maps a text to the command that shows it; repeated texts become references
    to that command, and new ones are added.
    """
    level = "##" if path.count(" ") <= 1 else "###"
    metavars = [p.metavar for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([path, *(metavar for metavar in metavars if metavar)])
    body = "\n".join([command.help or "", "", *own]).strip()
    if _is_repeated(body, path, first):
        body = f"Same as `{first[body]}`."
    else:
        body = "\n".join([command.help or "", "", *_refer(own, path, first)])
    lines = f"{level} `{usage}`\n\n{body}"
    return re.sub(r"\n{3,}", "\n\n", lines).rstrip() + "\n"


def _refer(texts: Sequence[str], path: str, first: dict[str, str]) -> list[str]:
    """Return `texts`; those that `first` has for another command as one line for each."""
    new: list[str] = []
    repeated: dict[str, list[str]] = {}
    for text in texts:
        if _is_repeated(text, path, first):
            names = text.removeprefix("- ").partition(": ")[0]
            repeated.setdefault(first[text], []).append(names)
        else:
            new.append(text)
    references = (
        f"- {', '.join(names)}: see `{earlier}`." for earlier, names in repeated.items()
    )
    return [*new, *references]


def _is_repeated(text: str, path: str, first: dict[str, str]) -> bool:
    """Whether a long text was shown for another command; records it otherwise."""
    return len(text.split()) >= REFERENCE_FROM and first.setdefault(text, path) != path


def _render_parameter(parameter: Any) -> str:
    """Return the list item of an argument or option; empty if it is not shown."""
    if parameter.name == "help" or getattr(parameter, "hidden", False):
        return ""
    help_text = getattr(parameter, "help", "") or ""
    if parameter.param_type_name == "argument":
        return f"- `{parameter.metavar}`: {help_text}"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    value = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
    return f"- `{names}{value}`: {help_text}"


def _run(words: Sequence[str]) -> str:
    """Return what the command prints; a failing one prints its error as JSON."""
    plain = {"LRWR_OUTPUT_PAGER": "false", "PYTHONUTF8": "1"}
    completed = subprocess.run(
        [sys.executable, "-m", "lrwr", *words],
        cwd=WORKSPACE,
        env=os.environ
        | plain
        | {"XDG_CONFIG_HOME": ".home", "XDG_STATE_HOME": ".home"},
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    return completed.stdout.replace(str(WORKSPACE.resolve()), "~/my-novel")


def _parse_json(printed: str) -> list[str]:
    """Return the JSON texts of an output: one document, or one a line."""
    try:
        json.loads(printed)
    except ValueError:
        return printed.splitlines()
    return [printed]


def _format_json(value: Any) -> str:
    """Return indented JSON with lists and objects on one line where they fit."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    collapsed = re.compile(r"[\[{]\s*([^\[\]{}]*?)\s*[\]}]")

    def collapse(found: re.Match[str]) -> str:
        line = " ".join(found[0].split())
        return line if len(line) <= 70 else found[0]

    return collapsed.sub(collapse, text)


def main() -> None:
    """Write all reference pages."""
    PAGES.mkdir(parents=True, exist_ok=True)
    pages = {
        "commands.md": render_commands,
        "settings.md": render_settings,
        "json.md": render_json,
    }
    for name, render in pages.items():
        (PAGES / name).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
