"""Whatever is written, cut, split and renamed: what is kept is what a fresh look says."""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.held import read_holdings
from lrwr.pipeline.watch.service import WatchService
from tests.fakes.story_desks import a_story_desk
from tests.fakes.suite import examples
from tests.fakes.watches import over

PARAGRAPHS = (
    "Nell Tallow's eyes were grey. She counted the lanterns along the causeway twice.",
    '"The tide is late," said Corin Vale. "It was never late before the bank came."',
    "Nell's sister Mags had walked to Thole that morning, and nobody asked her why.",
    "The frog sat on the sluice gate. It was shy, and it sang only when the fog came.",
    '"Who rang the third bell?" asked Mrs. Gannet. Nell Tallow said nothing at all.',
    "Corin Vale was forty years old. TODO: whose boat is it? He tied it up all the same.",
    "* * *",
)
NAMES = ("1.md", "2.md", "part/3.md")


@dataclass(slots=True)
class Writer:
    """Somebody at work on some files, with one step of undo for each."""

    folder: Path
    before: dict[str, str] = field(default_factory=dict)

    def do(
        self, what: str, name: str, other: str, paragraph: str, share: float
    ) -> None:
        """Make one edit; one that cannot be made is none."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = text.split("\n\n") if text else []
        at = int(share * len(lines))
        match what:
            case "type":
                self._write(name, f"{text} {paragraph}".strip())
            case "paste":
                self._write(name, "\n\n".join([*lines[:at], paragraph, *lines[at:]]))
            case "cut" if lines:
                self._write(name, "\n\n".join(lines[:at] + lines[at + 1 :]))
            case "undo" if name in self.before:
                self._write(name, self.before[name])
            case "rename" if text and name != other:
                (self.folder / other).parent.mkdir(exist_ok=True)
                path.replace(self.folder / other)
            case "split" if lines and name != other:
                self._write(other, "\n\n".join(lines[at:]))
                self._write(name, "\n\n".join(lines[:at]))
            case "merge" if text and name != other:
                self._write(other, f"{self._read(other)}\n\n{text}".strip())
                path.unlink()

    def _read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _write(self, name: str, text: str) -> None:
        self.before[name] = self._read(name)
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_name(f".{path.name}.tmp")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)


EDITS = st.tuples(
    st.sampled_from(("type", "paste", "cut", "undo", "rename", "split", "merge")),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from(PARAGRAPHS),
    st.floats(0, 1),
)
BATCHES = st.lists(st.lists(EDITS, min_size=1, max_size=4), min_size=1, max_size=4)


@settings(max_examples=examples(12))
@given(BATCHES)
def test_after_every_save_the_library_is_what_a_fresh_one_would_be(
    batches: list[list[tuple[str, str, str, str, float]]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(check(Path(place), batches))


async def check(
    place: Path, batches: list[list[tuple[str, str, str, str, float]]]
) -> None:
    async with a_story_desk(place) as desk, over(desk) as watched:
        desk.write("0.md", "\n\n".join(PARAGRAPHS[:3]))  # never all is gone
        writer, watch = Writer(desk.folder), watched.service()
        await watch.run(watched.say, once=True)
        for number, batch in enumerate(batches):
            for edit in batch:
                writer.do(*edit)
            await watch.run(watched.say, once=True)
            fresh = place / f"fresh-{number}"
            fresh.mkdir()
            await ingest_anew(desk.folder, fresh)
            kept = read_holdings(place / "state" / "lrwr.db", "b")
            assert kept == read_holdings(fresh / "state" / "lrwr.db", "b")


async def ingest_anew(folder: Path, place: Path) -> None:
    async with a_story_desk(place) as desk, over(desk) as watched:
        shutil.copytree(folder, desk.folder, dirs_exist_ok=True)
        watch: WatchService = watched.service()
        await watch.run(watched.say, once=True)
