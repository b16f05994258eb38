"""Libraries that go to a project and come back: a manuscript, and what is in a file."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from tests.fakes.terminal import Terminal

Desk: TypeAlias = Callable[[str], Terminal]
"""Makes a folder on a machine of its own, by name."""

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}

_MANUSCRIPT = {
    "chapters/01-the-stones.md": """# The stones

Nell Tallow counted the stones at first bell. “Eleven,” said Nell Tallow. “There were
twelve yesterday.”

Corin Vale looked at the marsh. “The tide has moved one,” said Corin Vale. Nell did not
believe him. Her eyes were grey, and the water was grey.

* * *

At night the lantern burned in Half House. Nobody had lit it.
""",
    "chapters/02-the-lantern.md": """# The lantern

Corin Vale climbed to the lantern. It was cold. “Who lit you?” said Corin Vale.

Nell Tallow waited below with the rope in both hands. The stones went under one by one.
“Come down,” said Nell Tallow, “or walk home in the dark.”
""",
    "notes/characters/Nell-Tallow.md": """# Nell Tallow

Age: twelve

Eyes: grey

Nell keeps the count of the stones. TODO: who taught her?
""",
    "notes/world/tides.md": "# Tides\n\nThe stones are walked from first bell to third.\n",
}

EDITED = "chapters/02-the-lantern.md"
"""The file that a test edits."""

_TABLES = {
    "document": "*",
    "processed": "document_id, pipeline, content, recipe",
    "chunk": "id, document_id, pipeline, ordinal, char_start, char_end, line_first,"
    " line_last, chapter, scene, kind, tokens, space, lead, heading, names, text_hash,"
    " text",
    "fact": "document_id, about, subject, field, attribute, value, keeper, certainty,"
    " char_start, reach, spans, details",
    "seam": "*",
    "reading": "*",
    "story": "*",
    "woven": "*",
    "quotation": "document_id, char_start, speaker, certainty, cue, addressee,"
    " addressee_certainty, spans, mentions",
    "appearance": "*",
    "first_seen": "*",
    "reply": "*",
}
"""What two copies of a library have in common: all but what is a machine's own."""

_VECTORS = """
select space, text_hash, hex(vector) from embedding e where exists (
  select 1 from chunk c where c.space = e.space and c.text_hash = e.text_hash
)
"""


def write_manuscript(folder: Path) -> None:
    """Write a short story in four files."""
    for name, text in _MANUSCRIPT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def edit(folder: Path, words: str) -> None:
    """Change the second chapter of a manuscript in `folder`."""
    path = folder / EDITED
    path.write_text(f"{_MANUSCRIPT[EDITED]}\n{words}\n", encoding="utf-8")


def records_of(folder: Path) -> dict[str, list[Any]]:
    """Return all rows of the library in `folder` that a copy of it must have."""
    with closing(sqlite3.connect(folder / ".lrwr" / "library.db")) as library:
        found: dict[str, list[Any]] = {
            table: sorted(library.execute(f"select {columns} from {table}"), key=repr)
            for table, columns in _TABLES.items()
        }
        found["embedding"] = sorted(library.execute(_VECTORS))
        found["thread"] = [
            (*row, json.loads(state))
            for *row, state in library.execute(
                "select id, title, created_at, updated_at, deleted_at, state"
                " from thread order by id"
            )
        ]
        found["turn"] = [
            (*row, json.loads(usage), json.loads(output))
            for *row, usage, output in library.execute(
                "select id, thread_id, number, asked_at, state, price, question,"
                " answer, usage, output from turn order by id"
            )
        ]
    return found


def keep_there(terminal: Terminal) -> Terminal:
    """Have a library kept in the project from now on, by the user's own settings."""
    file = own_settings(terminal)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[records]\nkeeper = "supabase"\n', encoding="utf-8")
    return terminal


def own_settings(terminal: Terminal) -> Path:
    """Return the file with the settings of the machine's user."""
    return Path(terminal.env["XDG_CONFIG_HOME"]) / "lrwr" / "lrwr.toml"
