"""Random edits by a scripted writer, each followed by an update and compared with a
fresh library.

Run: python -m bench.drafting [FOLDER] [--edits 1000] [--seed 1] [--most 3].

A copy of the folder is edited. After at most `--most` edits the library is updated by a
watch, an ingestion, or an ingestion that ignores file times, and must then equal a
fresh ingestion of the same files. The embedding model is a fake.
"""

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.held import find_differences, read_holdings
from bench.kills import NAMES, SAMPLE
from bench.scripted import ScriptedWriter
from lrwr.core.canon.decision import (
    Decision,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
    StoryOrderSet,
)
from lrwr.core.canon.model import ManuscriptLocation
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.settings.library import CANON_FILE_NAME
from tests.fakes.story_desks import StoryDesk, a_story_desk
from tests.fakes.watches import Watched, over

DECISIONS = 0.06
"""How often a decision about the story is made in an edit's stead."""

_LEFT_OUT = shutil.ignore_patterns(".lrwr*")


@dataclass(slots=True)
class Drafted:
    """Result of a run of random edits.

    `made` counts edits by kind, `followed` counts updates of the library by kind.
    `failures` are sentences that say what differed from a fresh library, and after
    which edit; empty if nothing did.
    """

    made: Counter[str] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Desk:
    """A library that is updated after edits, and compared with a fresh one.

    `place` is the folder for both. `desk` opens the library and ingests its manuscript;
    `watched` runs a watch of it.
    """

    def __init__(self, place: Path, desk: StoryDesk, watched: Watched) -> None:
        self.place = place
        self.desk = desk
        self.watched = watched

    async def follow(self, dice: random.Random) -> str:
        """Update the library in a random way, and return the name of the way.

        It is "watch", "ingest" or "ingest --verify", followed by the problems that an
        ingestion reported, if any. `dice` is the source of randomness.
        """
        way = dice.choice(("watch", "watch", "ingest", "ingest --verify"))
        if way == "watch":
            self.watched.forget_missing = True  # a checkout may remove many files
            await self.watched.service().run(self.watched.say, once=True)
            return way
        report = await self.desk.ingest(verify=way != "ingest", forget_missing=True)
        return way if not report.problems else f"{way}: {report.problems}"

    async def differs(self) -> dict[str, list[str]]:
        """Compare the library with one into which the same files are ingested now.

        Return the rows that differ by the name of the comparison, as `find_differences`
        formats them; empty if the libraries are equal.
        """
        with tempfile.TemporaryDirectory(dir=self.place) as name:
            fresh = Path(name)
            async with a_story_desk(fresh) as desk:
                shutil.copytree(self.desk.folder, desk.folder, dirs_exist_ok=True)
                desk.embedder = self.desk.embedder
                await desk.ingest()
            one, other = (read_holdings(_database(f), "b") for f in (self.place, fresh))
        return {
            kind: find_differences(rows, other[kind])
            for kind, rows in one.items()
            if rows != other[kind]
        }


def _database(place: Path) -> Path:
    return place / "state" / "lrwr.db"


async def draft(
    place: Path, source: Path, *, edits: int, seed: int, most: int
) -> Drafted:
    """Edit a copy of `source` under `place`, until the library is wrong.

    At most `edits` edits are made. After each one to `most` of them, the library is
    updated and compared with a fresh one. The same `seed` makes the same edits.
    """
    dice, drafted = random.Random(seed), Drafted()
    async with AsyncExitStack() as stack:
        story = await stack.enter_async_context(a_story_desk(place))
        watched = await stack.enter_async_context(over(story))
        shutil.copytree(source, story.folder, dirs_exist_ok=True, ignore=_LEFT_OUT)
        desk = Desk(place, story, watched)
        await desk.follow(dice)
        writer = ScriptedWriter(story.folder, dice, NAMES)
        while (left := edits - writer.made.total()) > 0 and not drafted.failures:
            count = min(left, dice.randint(1, most))
            made = [_edit(writer, story) for _ in range(count)]
            way = await desk.follow(dice)
            drafted.followed[way] += 1
            if differ := await desk.differs():
                number = f"seed {seed}, edit {writer.made.total()}"
                drafted.failures.append(f"{number}, after {made}, by {way}: {differ}")
        drafted.made += writer.made
    return drafted


def _edit(writer: ScriptedWriter, desk: StoryDesk) -> str:
    if writer.dice.random() >= DECISIONS:
        return writer.edit()
    kind = _decide(writer, desk)
    writer.made[kind] += 1
    return kind


def _decide(writer: ScriptedWriter, desk: StoryDesk) -> str:
    """Decide something about the story, or take all decisions back."""
    canon = desk.folder / CANON_FILE_NAME
    if writer.dice.random() < 0.2:
        canon.unlink(missing_ok=True)
        return "decisions taken back"
    decision = writer.dice.choice(_DECISIONS)(writer)
    try:
        desk.decide(decision)
    except LrwrError:  # it cannot be so together with another
        return "decision refused"
    return type(decision).__name__


def _two(writer: ScriptedWriter) -> tuple[str, str]:
    one, other = writer.dice.sample(writer.names, 2)
    return one, other


def _documents(writer: ScriptedWriter) -> list[DocumentId]:
    paths = [path.relative_to(writer.folder) for path in writer.files()]
    return [DocumentId(path.as_posix()) for path in paths]


def _merged(writer: ScriptedWriter) -> Decision:
    return NamesMerged(_two(writer))


def _parted(writer: ScriptedWriter) -> Decision:
    return NamesSplit(*_two(writer))


def _renamed(writer: ScriptedWriter) -> Decision:
    return NameRenamed(writer.dice.choice(writer.names), "Ash Lark")


def _ignored(writer: ScriptedWriter) -> Decision:
    return NameIgnored(writer.dice.choice((*writer.names, "Monday", "Whitby")))


def _ordered(writer: ScriptedWriter) -> Decision:
    documents = _documents(writer)
    return StoryOrderSet(tuple(writer.dice.sample(documents, min(4, len(documents)))))


def _seen_by(writer: ScriptedWriter) -> Decision:
    place = ManuscriptLocation(writer.dice.choice(_documents(writer)))
    return PointOfViewSet(place, writer.dice.choice(writer.names))


_DECISIONS: tuple[Callable[[ScriptedWriter], Decision], ...] = (
    _merged,
    _parted,
    _renamed,
    _ignored,
    _ordered,
    _seen_by,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print one JSON object, and return 0 if no library ever differed, else 1.

    `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=3)
    args = parser.parse_args(arguments)
    began, drafted, seed = time.process_time(), Drafted(), args.seed
    while (left := args.edits - drafted.made.total()) > 0:
        with tempfile.TemporaryDirectory() as place:
            going = draft(
                Path(place), args.folder, edits=left, seed=seed, most=args.most
            )
            one = asyncio.run(going)
        drafted.made += one.made
        drafted.followed += one.followed
        drafted.failures += one.failures
        seed += 1
        for failure in one.failures:
            print(failure, file=sys.stderr)
    report = {
        "seeds": [args.seed, seed - 1],
        "edits": drafted.made.total(),
        "by_kind": dict(drafted.made.most_common()),
        "states_compared": drafted.followed.total(),
        "followed_by": dict(drafted.followed.most_common()),
        "failures": drafted.failures,
        "cpu_seconds": round(time.process_time() - began, 1),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 1 if drafted.failures else 0


if __name__ == "__main__":
    sys.exit(main())
