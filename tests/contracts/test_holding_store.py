"""What every store promises that tells what is held of single documents."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.document_snapshots import SqliteSnapshotStore
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.facts import FactAbout
from lrwr.core.ports.stores import DocumentSnapshot, DocumentSnapshotStore
from tests.fakes.desks import Desk
from tests.fakes.story_desks import StoryDesk, a_story_desk

ONE, TWO = DocumentId("1.md"), DocumentId("2.md")
B = Pipeline.AGENTIC
TEXTS = {
    "1.md": "# One\n\nNell Tallow's eyes were grey. “The tide is late,” said Nell"
    " Tallow.\n\n* * *\n\nThe rain came over the flats and beat on the shutters all"
    " that night.\n\nNell Tallow was thirty years old. TODO: whose boat is it?\n",
    "2.md": "# Two\n\n“It is,” said Corin Vale. Corin Vale's eyes were brown.\n",
}


@dataclass(slots=True)
class Known:
    """A writer's desk, and the store that tells what is held of its documents."""

    desk: StoryDesk
    store: DocumentSnapshotStore

    async def of(self, name: DocumentId) -> DocumentSnapshot:
        return (await self.store.snapshots([name], B))[name]


@pytest.fixture(params=["sqlite"])
async def known(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Known]:
    assert request.param == "sqlite"
    database = SqliteDatabase(tmp_path / "state" / "lrwr.db")
    async with a_story_desk(tmp_path) as desk:
        for name, text in TEXTS.items():
            desk.write(name, text)
        await desk.ingest()
        yield Known(desk, SqliteSnapshotStore(database))
    await database.aclose()


async def test_passages_are_told_in_the_order_of_the_text(known: Known) -> None:
    kept = await known.desk.chunks("1.md")
    held = await known.of(ONE)
    assert held.passages == tuple(chunk.text for chunk in kept)
    assert len(held.passages) > 1


async def test_facts_are_told_in_order_of_place_with_the_words_they_rest_on(
    known: Known,
) -> None:
    held = await known.of(ONE)
    starts = [one.fact.spans[0].start for one in held.facts if one.fact.spans]
    assert starts == sorted(starts)
    eyes = [one for one in held.facts if one.fact.value == "grey"]
    assert [(one.fact.subject, one.fact.about) for one in eyes] == [
        ("Nell Tallow", FactAbout.CHARACTER)
    ]
    for one in held.facts:
        text = await known.desk.words("1.md", one.fact.spans[0])
        assert one.words == text
    assert "eyes were grey" in eyes[0].words


async def test_of_what_kind_a_passage_is_is_no_fact_here(known: Known) -> None:
    for document in (ONE, TWO):
        held = await known.of(document)
        assert not {one.fact.about for one in held.facts} & {
            FactAbout.PASSAGE,
            FactAbout.SCENE,
        }


async def test_what_was_not_read_is_left_out(known: Known) -> None:
    none = DocumentId("none.md")
    assert (await known.store.snapshots([ONE, none], B)).keys() == {ONE}
    assert await known.store.snapshots([none], B) == {}
    assert await known.store.snapshots([], B) == {}
    assert await known.store.snapshots([ONE], Pipeline.NAIVE) == {}


async def test_what_the_other_pipeline_read_is_passages_alone(known: Known) -> None:
    await Desk(known.desk.folder, known.desk.library).ingest()
    held = (await known.store.snapshots([ONE], Pipeline.NAIVE))[ONE]
    assert held.passages
    assert held.facts == ()
    assert await known.of(ONE) != held


async def test_asking_twice_or_for_one_twice_is_the_same(known: Known) -> None:
    both = await known.store.snapshots([ONE, TWO], B)
    assert await known.store.snapshots([TWO, ONE, TWO], B) == both
    assert await known.store.snapshots([ONE, TWO], B) == both


async def test_what_is_told_follows_the_library(known: Known) -> None:
    before = await known.of(ONE)
    known.desk.write("1.md", TEXTS["1.md"].replace("grey", "green"))
    (known.desk.folder / "2.md").unlink()
    await known.desk.ingest()
    assert {one.fact.value for one in (await known.of(ONE)).facts} >= {"green"}
    assert await known.store.snapshots([TWO], B) == {}
    assert "grey" in {one.fact.value for one in before.facts}


async def test_a_library_that_cannot_be_read_is_a_problem_with_a_hint(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lrwr.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 999")
    database = SqliteDatabase(path)
    with pytest.raises(StoreProblem) as caught:
        await SqliteSnapshotStore(database).snapshots([ONE], B)
    assert caught.value.hint
    await database.aclose()
