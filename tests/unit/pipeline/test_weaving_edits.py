"""Any sequence of edits and decisions ends in the story that a fresh reading gives."""

import asyncio
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    Decision,
    DocumentTypeSet,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
)
from lrwr.core.canon.model import ManuscriptLocation
from lrwr.core.model.cast import AttributionCue
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import LrwrError
from lrwr.core.ports.story_stores import CastStore
from lrwr.core.settings.library import CANON_FILE_NAME
from lrwr.pipeline.speaker_attribution import StoryAttributor
from tests.fakes.canons import a_service
from tests.fakes.story_desks import StoryDesk, a_story_desk

PARAGRAPHS = [
    "“Is it late, Corin?” said Nell Tallow.",
    "“Four,” said Corin Vale. He was tall.",
    "“You are late, Corin,” said Nell. “Very late,” said Wren.",
    "Mrs. Gannet sighed. “Three cans of oil,” said Mrs. Gannet.",
    "“I know,” I said, and I took the oars. I rowed, and I did not look round.",
    "“Nell, you are early.” “I am,” I said. “Nell!” “I am here,” I said.",
    "“Left,” said Orla Finch. Orla Finch had grey eyes. NELL waited.",
    "“Will you?” asked Will. Will Finch was Orla’s brother.",
    "“The Hatmaker knows,” said the Hatmaker. The lamp burned low.",
    "Nell, called Wren, and Corin rowed to the Half House.",
    "It rained. The lamp burned low, and nobody came.",
    "They will wait, and will row. There is a finch at the marsh.",
]
NOTE_TEXTS = [
    "---\ntype: character\nname: Nell Tallow\naliases: [Wren]\n---\n# Nell\nA keeper.",
    "---\ntype: character\nname: Corin Vale\ngender: male\n---\n# Corin\nHe rows.",
    "# The Half House\n\nA house of stone.",
]
FRONT = ["", "", "", "---\npov: Corin Vale\n---\n", "---\norder: 1\n---\n"]
SCENES = ["1.md", "2.md", "3.md", "4.md"]
DECISIONS: list[Decision] = [
    NamesMerged(("Nell", "Mrs. Gannet")),
    NamesMerged(("Orla", "Wren")),
    NamesSplit("Nell", "Nell Tallow"),
    NameRenamed("Corin", "The Boatman"),
    NameIgnored("Mrs. Gannet"),
    NameIgnored("Will"),
    PointOfViewSet(ManuscriptLocation(DocumentId("1.md")), "Ivo Marsh"),
    PointOfViewSet(ManuscriptLocation(DocumentId("3.md")), "Nell"),
    DocumentTypeSet(DocumentId("2.md"), DocumentType.SETTING),
]
texts = st.tuples(
    st.sampled_from(FRONT),
    st.lists(st.sampled_from(PARAGRAPHS), min_size=1, max_size=6),
).map(lambda parts: f"{parts[0]}# A Part\n\n" + "\n\n".join(parts[1]) + "\n")
steps = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(SCENES), texts),
    st.tuples(st.just("write"), st.sampled_from(SCENES), texts),
    st.tuples(st.just("write"), st.just("notes/n.md"), st.sampled_from(NOTE_TEXTS)),
    st.tuples(st.just("delete"), st.sampled_from([*SCENES, "notes/n.md"]), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(SCENES), st.sampled_from(SCENES)),
    st.tuples(st.just("decide"), st.sampled_from(DECISIONS), st.none()),
    st.tuples(st.just("undo"), st.none(), st.none()),
    st.tuples(st.just("ingest"), st.none(), st.none()),
    st.tuples(st.just("ingest"), st.none(), st.none()),
)


async def story_of(desk: StoryDesk) -> list[object]:
    kept = desk.library.story
    appearances = [
        (one.document, one.span, one.ordinal, one.character, one.role, one.count)
        for one in await kept.appearances()
    ]
    return [
        await kept.cast(),
        await kept.first_seen(),
        await kept.quotations(),
        appearances,
        await kept.facts(),
    ]


def act(desk: StoryDesk, step: tuple[Any, ...]) -> None:
    kind, first, second = step
    if kind == "write":
        desk.write(first, second)
    elif kind == "delete":
        (desk.folder / first).unlink(missing_ok=True)
    elif kind == "rename" and (desk.folder / first).exists():
        (desk.folder / first).replace(desk.folder / second)
    elif kind == "decide":
        try:
            desk.decide(first)
        except LrwrError:
            return  # it contradicts an earlier decision
    elif kind == "undo" and (desk.folder / CANON_FILE_NAME).exists():
        try:
            a_service(desk.folder).undo()
        except LrwrError:
            return  # nothing is left to undo


async def check_sequence(
    place: Path, sequence: list[tuple[Any, ...]], *, watches: bool
) -> None:
    (place / "old").mkdir()
    async with a_story_desk(place / "old") as desk:
        if watches:
            desk.attributor = desk.weaver()
        for name in SCENES[:2]:
            desk.write(name, "\n\n".join(["# One", *PARAGRAPHS]))
        for step in sequence:
            act(desk, step)
            if step[0] == "ingest":
                await desk.ingest(forget_missing=True)
        await desk.ingest(forget_missing=True)
        await assert_like_fresh(desk, place / "new")
        again = await desk.ingest(forget_missing=True)
        assert again.attribution is not None
        assert again.attribution.documents == 0


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sequence=st.lists(steps, min_size=2, max_size=14), watches=st.booleans())
@pytest.mark.timeout(300)
def test_any_sequence_of_edits_ends_in_the_story_of_a_fresh_reading(
    sequence: list[tuple[Any, ...]], watches: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check_sequence(Path(folder), sequence, watches=watches))


def telling(name: str, times: int) -> str:
    """A chapter in the first person, whose narrator is called `name`."""
    answer = "“I know,” I said, and I took the oars. I rowed, and I looked round."
    calls = [f"“You are late, {name},” said Nell.\n\n{answer}"] * times
    return "\n\n".join(["# A Part", *calls, answer, "“I do,” I said.", answer])


async def narrators(desk: StoryDesk, document: str) -> set[str]:
    """Who says what the narrator says."""
    return {
        one.quotation.speaker
        for one in await desk.library.story.quotations()
        if one.document == document and one.quotation.cue is AttributionCue.NARRATOR
    }


async def assert_like_fresh(desk: StoryDesk, place: Path) -> None:
    await asyncio.to_thread(place.mkdir)
    async with a_story_desk(place) as fresh:
        shutil.copytree(desk.folder, fresh.folder, dirs_exist_ok=True)
        await fresh.ingest()
        assert await story_of(desk) == await story_of(fresh)


async def test_a_narrator_who_is_named_elsewhere_speaks_in_unchanged_documents(
    story: StoryDesk, tmp_path: Path
) -> None:
    story.write("1.md", telling("Corin", 1))
    story.write("2.md", telling("Corin", 3))
    await story.ingest()
    assert await narrators(story, "1.md") == {"Corin"}
    story.write("2.md", telling("Orla", 3))
    await story.ingest()
    assert await narrators(story, "1.md") == {"Orla"}
    await assert_like_fresh(story, tmp_path / "fresh")


async def test_signs_of_a_narrator_are_those_of_the_present_names(
    story: StoryDesk, tmp_path: Path
) -> None:
    view = PointOfViewSet(ManuscriptLocation(DocumentId("1.md")), "Ivo Marsh")
    story.write("1.md", telling("Corin", 3))
    await story.ingest()
    story.decide(view)
    await story.ingest()
    assert await narrators(story, "1.md") == {"Ivo Marsh"}
    story.decide(NameRenamed("Corin", "The Boatman"))
    await story.ingest()
    a_service(story.folder).undo()
    a_service(story.folder).undo()
    story.decide(NameRenamed("Corin", "The Boatman"))
    await story.ingest()
    assert await narrators(story, "1.md") == {"The Boatman"}
    await assert_like_fresh(story, tmp_path / "fresh")


async def test_damaged_signs_and_state_are_made_again(
    story: StoryDesk, tmp_path: Path
) -> None:
    story.write("1.md", telling("Corin", 3))
    story.write("2.md", telling("Corin", 1))
    await story.ingest()
    (path,) = await asyncio.to_thread(lambda: list(tmp_path.rglob("*.db")))
    for harm in (
        'update narration set signs = \'{"turns":0,"called":{},"narrated":{}}\'',
        "update attribution set state = replace(state, 'Corin', 'Orla')",
        "update attribution set state = '{', crc = null",
        "delete from attribution",
        "delete from narration",
        """update story set "cast" = replace("cast", 'Corin', 'Orla')""",
        "delete from story",
    ):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(harm)
            connection.commit()
        story.write("2.md", telling("Corin", 1) + harm.split()[0])
        await story.ingest()
        assert await narrators(story, "2.md") == {"Corin"}
    await assert_like_fresh(story, tmp_path / "fresh")


class Killed(Exception):
    """The process ends here."""


class Dying:
    """A cast store whose method `method` ends the process after `count` calls."""

    def __init__(self, store: CastStore, method: str, count: int) -> None:
        self._store, self._method, self._count = store, method, count

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            self._count -= 1
            if self._count < 0:
                raise Killed
        return getattr(self._store, name)


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("method", ["save_cast", "save_attribution", "save_state"])
async def test_a_run_that_is_killed_is_completed_by_the_next(
    story: StoryDesk, tmp_path: Path, method: str, count: int
) -> None:
    for name in SCENES:
        story.write(name, telling("Corin", 2))
    await story.ingest()
    story.decide(NameRenamed("Corin", "The Boatman"))
    dying = StoryAttributor(
        store=cast(CastStore, Dying(story.library.casts, method, count)),
        passages=story.library.passages,
        patterns=(),
        canon=a_service(story.folder).load,
    )
    with suppress(Killed):
        await dying.attribute_all()
    if method == "save_attribution" and count:
        a_service(story.folder).undo()
    await story.ingest()
    await assert_like_fresh(story, tmp_path / "fresh")
