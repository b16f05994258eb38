"""A vault whose order is that of Obsidian's plug-in Longform, with `--as-of`."""

import json

from tests.fakes.terminal import Terminal

INDEX = """\
---
longform:
  format: scenes
  sceneFolder: Scenes
  scenes: [{scenes}]
---
A book about a toad that Agnes Quill wrote.
"""
SCENES = {
    "Arrival": "Nell Tallow lit the lamp. “Good night,” said Nell Tallow.",
    "Dawn": "Silas Reeve killed the toad. “It is done,” said Silas Reeve.",
    "Bells": "Ada Crane rang the bell. “Ring,” said Ada Crane.",
    "Unused": "Tobias Wren left. “No more,” said Tobias Wren.",
}


def order(terminal: Terminal) -> list[str]:
    rows = json.loads(terminal.run("canon", "order", "--show", "--json").out)
    return [row["file"] for row in rows]


def names(terminal: Terminal, *words: str) -> set[str]:
    found = json.loads(terminal.run("characters", *words, "--json").out)
    return {one["name"] for one in found}


def test_the_index_of_longform_gives_the_story_order(empty: Terminal) -> None:
    (empty.folder / "Scenes").mkdir()
    for name, text in SCENES.items():
        (empty.folder / "Scenes" / f"{name}.md").write_text(text, encoding="utf-8")
    index = empty.folder / "The Toad.md"
    index.write_text(INDEX.format(scenes="Bells, [Arrival], Dawn"), encoding="utf-8")
    assert empty.run("ingest", ".").code == 0
    listed = [f"Scenes/{name}.md" for name in ("Bells", "Arrival", "Dawn", "Unused")]
    assert order(empty) == listed
    assert names(empty, "--as-of", "ch1") == {"Ada Crane"}
    assert "Agnes Quill" not in names(empty)
    assert json.loads(empty.run("world", "--json").out) == []

    index.write_text(INDEX.format(scenes="Dawn, Arrival"), encoding="utf-8")
    assert empty.run("ingest").code == 0
    assert order(empty)[:2] == ["Scenes/Dawn.md", "Scenes/Arrival.md"]
    assert names(empty, "--as-of", "ch1") == {"Silas Reeve"}

    decided = ["Scenes/Arrival.md", "Scenes/Dawn.md"]
    assert empty.run("canon", "order", *decided).code == 0
    assert order(empty)[:2] == decided

    index.unlink()
    assert empty.run("ingest").code == 0
    assert order(empty)[-1] == "Scenes/Unused.md"
