"""Pipeline B from end to end: what it keeps of a document, and what an edit costs."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.knowledge_store import SqliteAnalysisStore
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import ChunkKind, TextHash
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER, Certainty, FactAbout
from lrwr.core.model.jobs import JobStage, StageStarted
from lrwr.core.ports.stores import LibraryCounts
from lrwr.pipeline.recipes import AgenticRecipe, RecipeTools
from lrwr.pipeline.stages.units import AROUND
from tests.fakes.desks import Desk
from tests.fakes.embedder import WordEmbedder, count_words
from tests.fakes.records import Clock
from tests.fakes.short_story import LAMP, LEDGER, NOTE, ROAD, STORY
from tests.fakes.story_desks import SMALL, StoryDesk
from tests.fakes.suite import examples
from tests.unit.pipeline.test_semantic import scenes
from tests.unit.pipeline.told import NOTE as COMMENT
from tests.unit.pipeline.told import Scenes, document_of

NUMBERS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]


@pytest.fixture
def book(story: StoryDesk) -> StoryDesk:
    for name, text in STORY.items():
        story.write(name, text)
    return story


async def test_the_text_at_every_span_is_the_passage(book: StoryDesk) -> None:
    report = await book.ingest()
    chunks = await book.chunks()
    assert report.chunks == len(chunks) > 5
    for chunk in chunks:
        assert await book.words(chunk.document, chunk.span) == chunk.text
        assert chunk.text.strip() == chunk.text
    for one, other in pairwise(await book.chunks("1.md")):
        assert one.span.end <= other.span.start


async def test_a_passage_brings_the_end_of_the_one_before_in_its_scene(
    book: StoryDesk,
) -> None:
    await book.ingest()
    led = []
    for before, chunk in pairwise(await book.chunks("1.md")):
        if before.scene == chunk.scene:
            led.append(chunk.lead)
            assert before.text.endswith(chunk.lead)
            assert chunk.embedded == (
                f"{chunk.lead}\n\n{chunk.text}" if chunk.lead else chunk.text
            )
        else:
            assert chunk.lead == ""
    assert any(led)


async def test_a_passage_says_where_it_stands(book: StoryDesk) -> None:
    await book.ingest()
    assert {chunk.heading for chunk in await book.chunks("1.md")} == {
        "The Lamp, scene 1",
        "The Lamp, scene 2",
    }
    assert {chunk.heading for chunk in await book.chunks("2.md")} == {"The Ledger"}


async def test_an_edit_embeds_what_stands_around_it_alone(story: StoryDesk) -> None:
    lines = [f"The {word} came in. It went out by the {word} door." for word in NUMBERS]
    story.write("1.md", "\n\n".join(lines))
    await story.ingest()
    before = {chunk.id for chunk in await story.chunks()}
    story.embedder = WordEmbedder()
    lines[9] = "Nobody came in. Nobody went out."
    story.write("1.md", "\n\n".join(lines))
    report = await story.ingest()
    passages = [c.embedded for c in await story.chunks() if c.id not in before]
    sentences = [text for text in story.embedder.asked if text not in passages]
    assert report.embedded == len(passages) <= 3
    assert set(passages) <= set(story.embedder.asked)
    assert len(sentences) <= 4 * AROUND + 2
    near = NUMBERS[9 - AROUND : 9 + AROUND + 1]
    for sentence in sentences:
        assert any(word in sentence for word in (*near, "Nobody"))


async def test_a_second_look_asks_nothing_and_writes_nothing(book: StoryDesk) -> None:
    await book.ingest()
    before = await book.written()
    book.embedder = WordEmbedder()
    report = await book.ingest()
    assert (report.processed, report.unchanged, report.embedded) == (0, 2, 0)
    assert report.attribution is not None
    assert report.attribution.documents == 0
    assert book.embedder.asked == []
    assert await book.written() == before


async def test_a_file_put_back_is_not_embedded_again(book: StoryDesk) -> None:
    await book.ingest()
    book.write("1.md", LAMP.replace("steel", "reed"))
    await book.ingest()
    book.write("1.md", LAMP)
    report = await book.ingest()
    assert (report.processed, report.embedded) == (1, 0)


async def test_every_passage_of_a_renamed_file_is_known(book: StoryDesk) -> None:
    await book.ingest()
    (book.folder / "1.md").rename(book.folder / "0.md")
    report = await book.ingest()
    assert report.renamed == {"0.md": "1.md"}
    assert report.embedded == 0
    assert {chunk.document for chunk in await book.chunks()} == {"0.md", "2.md"}


async def test_what_rules_read_stands_in_the_text(book: StoryDesk) -> None:
    await book.ingest()
    known = await book.library.story.facts()
    assert {one.fact.keeper for one in known} == {RULES_KEEPER}
    (eyes,) = [one for one in known if one.fact.detail("attribute") == "eyes"]
    assert (eyes.fact.value, eyes.document) == ("grey", "1.md")
    assert "grey" in await book.words("1.md", eyes.fact.spans[0])
    assert eyes.fact.certainty is not Certainty.NOT_EVALUATED


async def test_what_front_matter_says_of_the_point_of_view_is_confirmed(
    book: StoryDesk,
) -> None:
    book.write("1.md", f"---\npov: Corin Vale\n---\n{LAMP}")
    await book.ingest()
    told = [
        one.fact
        for one in await book.library.story.facts([FactAbout.SCENE])
        if one.fact.field == "pov" and one.document == "1.md"
    ]
    assert [(fact.value, fact.keeper, fact.certainty) for fact in told] == [
        ("Corin Vale", WRITER_KEEPER, Certainty.CONFIRMED)
    ] * 2


async def test_a_note_is_read_for_what_it_says_and_has_no_scenes(
    book: StoryDesk,
) -> None:
    book.write("notes/nell.md", NOTE)
    await book.ingest()
    facts = [
        one.fact
        for one in await book.library.story.facts()
        if one.document == "notes/nell.md"
    ]
    assert facts
    assert {fact.keeper for fact in facts} == {WRITER_KEEPER}
    assert FactAbout.SCENE not in {fact.about for fact in facts}


async def test_what_a_comment_leaves_open_is_a_gap_and_nothing_else_of_it_is_known(
    book: StoryDesk,
) -> None:
    told = (
        "%% TODO: Nell’s brother? Nell’s hair was red. Nell is Ivo Marsh’s sister. %%"
    )
    book.write("1.md", LAMP.replace("The rain", f"{told}\n\nThe rain"))
    await book.ingest()
    facts = [one.fact for one in await book.library.story.facts()]
    (gap,) = [fact for fact in facts if fact.about is FactAbout.GAP]
    assert (gap.keeper, gap.certainty) == (WRITER_KEEPER, Certainty.CONFIRMED)
    assert await book.words("1.md", gap.spans[0]) == told
    assert not any(
        "red" in fact.value or "Ivo" in str(fact) for fact in facts if fact != gap
    )
    assert "Ivo Marsh" not in await book.people()


async def test_without_an_embedder_passages_are_cut_by_their_sizes(
    book: StoryDesk,
) -> None:
    book.embedder = None
    report = await book.ingest()
    assert (report.processed, report.embedded) == (2, 0)
    assert len(await book.chunks()) > 4
    assert "Nell" in await book.people()


async def test_an_embedder_that_goes_away_leaves_words_and_is_made_up_for(
    book: StoryDesk,
) -> None:
    book.embedder = WordEmbedder(patience=1)
    report = await book.ingest()
    assert report.remarks == [
        "Keyword search only until the next ingest. The model is away. Wake it up."
    ]
    assert len(await book.chunks()) > 4
    assert "Nell" in await book.people()
    book.embedder = WordEmbedder()
    report = await book.ingest()
    assert (report.processed, report.remarks) == (2, [])
    counts = await book.library.passages.counts(Pipeline.AGENTIC)
    assert counts == LibraryCounts(
        2,
        counts.words,
        counts.chunks,
        {"words-32": counts.chunks},
        book.library.clock.time,
    )


async def test_what_is_being_done_is_told(book: StoryDesk) -> None:
    await book.ingest("2.md")
    stages = [event.stage for event in book.events if isinstance(event, StageStarted)]
    assert list(dict.fromkeys(stages)) == [
        JobStage.READ,
        JobStage.SPLIT,
        JobStage.ANALYSE,
        JobStage.EMBED,
        JobStage.STORE,
    ]


async def test_both_pipelines_live_side_by_side(book: StoryDesk) -> None:
    naive = Desk(book.folder, book.library)
    await naive.ingest()
    passages = await naive.told()
    await book.ingest()
    assert await naive.told() == passages
    (book.folder / "1.md").unlink()
    await book.ingest()
    assert await naive.told() == passages
    assert {chunk.document for chunk in await book.chunks()} == {"2.md"}


async def test_a_dry_run_says_what_there_is_to_do_and_writes_nothing(
    book: StoryDesk,
) -> None:
    report = await book.ingest(dry_run=True)
    assert (report.processed, report.attribution) == (2, None)
    assert report.chunks > 4
    assert await book.written() == []
    assert await book.library.casts.name_evidence() == []
    assert book.embedder is not None
    assert book.embedder.asked == []


async def test_sizes_of_the_settings_are_kept(story: StoryDesk) -> None:
    story.write("1.md", "\n\n".join([LAMP, LEDGER, ROAD]))
    await story.ingest()
    assert max(chunk.tokens for chunk in await story.chunks()) <= SMALL.most


async def nobody_knows(space: str, texts: set[TextHash]) -> set[TextHash]:
    return set()


@settings(max_examples=examples(40))
@given(st.lists(scenes, max_size=3))
def test_same_words_have_the_same_ids_and_no_id_is_given_twice(
    told: list[Scenes],
) -> None:
    document = document_of(told)
    unopened = SqliteAnalysisStore(SqliteDatabase(Path("nowhere")), now=Clock())
    recipe = AgenticRecipe(
        SMALL, find_sentence_spans, RulesAnalyst(find_sentence_spans), unopened
    )
    tools = RecipeTools(count_words, None, nobody_knows)
    drafted = asyncio.run(recipe.draft(document, tools))
    ids = [chunk.id for chunk in drafted.chunks]
    assert len(set(ids)) == len(ids)
    assert asyncio.run(recipe.draft(document, tools)) == drafted
    for chunk in drafted.chunks:
        assert document.text[chunk.span.start : chunk.span.end] == chunk.text
        assert chunk.lead in document.text
        if chunk.kind is ChunkKind.PROSE:
            assert COMMENT not in chunk.embedded
