"""What is known of the story, brought to bear on a search."""

import pytest

from lrwr.core.canon.decision import NameRenamed
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId, DocumentType, Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import (
    ContentType,
    ElementType,
    FactAbout,
    NarrativeFunction,
    WorldField,
)
from lrwr.core.retrieval.search_model import SearchRequest, SearchResult
from lrwr.core.retrieval.story_search import MAX_SEARCH_FACTS, SearchFilters
from lrwr.pipeline.stages.semantic_splitter import ChunkLimits
from tests.fakes.analysts import ScriptedAnalyst
from tests.fakes.desks import Desk
from tests.fakes.story_desks import StoryDesk
from tests.unit.retrieval.lamp import (
    ALONE,
    CHAPTERS,
    HARBOUR,
    MINE,
    MISSED,
    NOTE,
    OUT,
    RAIN,
    SCRIPT,
)

EVERYTHING = 100
WAYS = [{}, {"dense": False}, {"lexical": False}]
HORIZONS = [
    (Horizon(0), []),
    (Horizon(1, 1), [OUT]),
    (Horizon(1), [OUT, RAIN]),
    (Horizon(2, 1), [OUT, RAIN, MISSED]),
    (Horizon(2), [OUT, RAIN, MISSED, ALONE]),
    (Horizon(3, 1), [OUT, RAIN, MISSED, ALONE, MINE]),
    (Horizon(3), [OUT, RAIN, MISSED, ALONE, MINE, HARBOUR]),
]
"""Places of the story, and what has been told by then."""


@pytest.fixture
async def book(story: StoryDesk) -> StoryDesk:
    story.limits = ChunkLimits(least=40, most=80, overlap=10)
    story.analyst = ScriptedAnalyst(SCRIPT)
    for name, text in CHAPTERS.items():
        story.write(name, text)
    story.write("notes/orla.md", NOTE)
    await story.ingest()
    return story


async def find(desk: Desk, question: str, **changes: object) -> SearchResult:
    given: dict[str, object] = {"pipeline": desk.pipeline, "limit": EVERYTHING}
    request = SearchRequest(question=question, **given | changes)  # type: ignore[arg-type]
    return await desk.finder().find(request)


async def filtered(
    desk: Desk,
    *,
    question: str = "lamp",
    horizon: Horizon | None = None,
    types: frozenset[DocumentType] = frozenset(),
    **wanted: frozenset[str],
) -> set[str]:
    """Which scenes pass these filters, best or not, by both ways of searching."""
    filters = SearchFilters(**wanted)  # type: ignore[arg-type]
    result = await find(desk, question, filters=filters, horizon=horizon, types=types)
    return set(texts(result))


def texts(result: SearchResult) -> list[str]:
    """The passages, without their headings."""
    return [one.chunk.text.split("\n\n", 1)[-1] for one in result.passages]


def values(result: SearchResult) -> list[str]:
    return [known.fact.value for known in result.facts]


def named(*names: str) -> frozenset[str]:
    return frozenset(names)


async def test_only_passages_that_have_a_character_are_found(book: StoryDesk) -> None:
    assert await filtered(book, characters=named("Corin Vale")) == {OUT, MISSED, ALONE}
    assert await filtered(book, characters=named("Orla")) == {MISSED, MINE, HARBOUR}


async def test_who_is_merely_spoken_of_is_not_there(book: StoryDesk) -> None:
    assert await filtered(book, present=named("Kestrel")) == {MINE, HARBOUR}
    assert await filtered(book, present=named("Corin")) == {OUT, MISSED, ALONE}


async def test_all_who_are_named_must_be_in_a_passage(book: StoryDesk) -> None:
    both = named("Corin", "Orla")
    assert await filtered(book, characters=both) == {MISSED}
    assert await filtered(book, present=both) == set()
    assert await filtered(book, present=named("Corin"), characters=named("Orla")) == {
        MISSED
    }


async def test_only_passages_of_the_kinds_that_are_named_are_found(
    book: StoryDesk,
) -> None:
    description = frozenset({ContentType.DESCRIPTION})
    assert await filtered(book, content_types=description) == {RAIN}
    monologue = frozenset({ContentType.INTERNAL_MONOLOGUE})
    assert await filtered(book, content_types=monologue) == set()
    assert await filtered(book, content_types=monologue | description) == {RAIN}
    backstory = frozenset({NarrativeFunction.BACKSTORY})
    assert await filtered(book, functions=backstory) == {ALONE}
    assert await filtered(book, functions=backstory, content_types=description) == set()


async def test_every_filter_shuts_out_on_its_own(book: StoryDesk) -> None:
    dialogue = frozenset({ContentType.DIALOGUE})
    assert await filtered(book, content_types=dialogue) == {MISSED}
    orla = named("Orla")
    assert await filtered(book, content_types=dialogue, characters=orla) == {MISSED}
    assert await filtered(book, content_types=dialogue, present=orla) == set()
    assert (
        await filtered(
            book, present=named("Nell"), types=frozenset({DocumentType.CHARACTER})
        )
        == set()
    )


async def test_whom_nobody_in_the_story_is_called_is_said(book: StoryDesk) -> None:
    with pytest.raises(NotFound, match="No character is called Toller") as told:
        await filtered(book, present=named("Toller"))
    assert "lrwr characters" in told.value.hint
    with pytest.raises(NotFound):
        await filtered(book, characters=named("Nell", "Toller"))


@pytest.mark.parametrize(("horizon", "told"), HORIZONS)
async def test_filters_find_all_that_is_told_by_then_and_nothing_later(
    book: StoryDesk, horizon: Horizon, told: list[str]
) -> None:
    if OUT in told:
        seen = await filtered(book, characters=named("Corin"), horizon=horizon)
        assert seen == {OUT, MISSED, ALONE} & set(told)
    if MISSED in told:
        seen = await filtered(book, present=named("Orla Finch"), horizon=horizon)
        assert seen == {MINE, HARBOUR} & set(told)


@pytest.mark.parametrize(("horizon", "told"), HORIZONS)
async def test_who_has_not_been_named_yet_is_as_unknown_as_somebody_made_up(
    book: StoryDesk, horizon: Horizon, told: list[str]
) -> None:
    unknown = {"Toller", "Kestrel"}  # the one is nobody, the other's name is in a note
    unknown |= {"Orla", "Orla Finch", "Orlla"} if MISSED not in told else set()
    unknown |= {"Nell Tallow", "corin"} if OUT not in told else set()
    for name in unknown:
        with pytest.raises(NotFound, match=f"^No character is called {name}$"):
            await filtered(book, horizon=horizon, characters=named(name))
        with pytest.raises(NotFound):
            await filtered(book, horizon=horizon, present=named(name))


async def test_a_name_that_comes_later_leads_to_nobody_although_its_bearer_is_there(
    story: StoryDesk,
) -> None:
    story.write("1.md", "“Fog,” said Mags. Mags sat down.")
    story.write("2.md", "“More fog,” said Mags Vale. Mags Vale, or Mags, sat down.")
    await story.ingest()
    horizon = Horizon(1)
    assert len(await filtered(story, present=named("Mags"), horizon=horizon)) == 1
    with pytest.raises(NotFound):
        await filtered(story, present=named("Mrs. Vale"), horizon=horizon)
    assert await filtered(story, present=named("Mrs. Vale"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("horizon", "told"), HORIZONS)
@pytest.mark.parametrize(
    "question",
    [
        "What does Orla Finch say of the lamp?",
        "What did the Harbour say to Nell first?",
        "Where is Kestrel?",
    ],
)
async def test_no_person_of_a_question_leads_beyond_the_horizon(
    book: StoryDesk,
    horizon: Horizon,
    told: list[str],
    way: dict[str, object],
    question: str,
) -> None:
    result = await find(book, question, horizon=horizon, **way)
    assert set(texts(result)) <= set(told)
    assert "notes/orla.md" not in {one.chunk.document for one in result.passages}


async def test_filters_find_what_is_far_down_among_all_the_rest(
    story: StoryDesk,
) -> None:
    story.limits = ChunkLimits(least=10, most=20, overlap=2)
    lamps = "\n\n* * *\n\n".join(f"A lamp, a lamp, lamp {n}." for n in range(150))
    story.write("1.md", lamps)
    story.write("2.md", "“Oil,” said Corin Vale. Corin Vale had seen one lamp or two.")
    await story.ingest()
    for way in ({"dense": False}, {"lexical": False}):
        wanted = SearchFilters(present=named("Corin Vale"))
        result = await find(story, "lamp", filters=wanted, limit=3, **way)
        assert {one.chunk.document for one in result.passages} == {"2.md"}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does Nell Tallow say of the lamp?", OUT),
        ("What does Corin say about Orla Finch?", MISSED),
        ("What has Orla Finch said to Nell Tallow about a lamp?", MINE),
    ],
)
async def test_where_those_are_whom_a_question_names_comes_first(
    book: StoryDesk, question: str, first: str
) -> None:
    scene = frozenset({DocumentType.SCENE})
    assert texts(await find(book, question, types=scene))[0] == first


async def test_a_name_that_stands_elsewhere_than_its_bearer_leads_to_the_bearer(
    story: StoryDesk,
) -> None:
    story.limits = ChunkLimits(least=40, most=80, overlap=10)
    story.write("1.md", "“I am Corin Vale,” said Corin Vale. Corin Vale was a boatman.")
    story.write(
        "2.md",
        "“Fog,” said Corin Vale.\n\n* * *\n\nCorin Vale rowed. “Fog,” he said, “and more"
        " of it by night.”\n\n* * *\n\nThere was fog, fog on the flats and fog in town.",
    )
    await story.ingest()
    question = "What did Corin say of fog?"
    plain = texts(await find(story, question, names=False))
    known = texts(await find(story, question))
    silent = next(text for text in known if text.startswith("There was"))
    assert known.index(silent) >= 2  # after the passages in which he speaks of fog
    assert sorted(plain) == sorted(known)


@pytest.mark.parametrize("way", WAYS)
async def test_names_and_kinds_shut_nothing_out(
    book: StoryDesk, way: dict[str, object]
) -> None:
    question = "What did Corin Vale say about the lamp, and what did he feel?"
    plain = await find(book, question, names=False, boosts=False, **way)
    for ways in ({}, {"names": False}, {"boosts": False}):
        found = await find(book, question, **way, **ways)
        assert set(texts(found)) >= set(texts(plain))


async def test_a_name_that_nobody_bears_is_a_word_like_any_other(
    book: StoryDesk,
) -> None:
    result = await find(book, "What does the Harbour say of the lamp?", dense=False)
    assert HARBOUR in texts(result)
    assert "harbour" not in result.unknown


async def test_a_passage_of_the_kind_that_is_asked_for_gains(book: StoryDesk) -> None:
    question = "What did the night look like, with the lamp by the door?"
    plain = await find(book, question, boosts=False, rerank=False)
    boosted = await find(book, question, rerank=False)

    def score(result: SearchResult) -> float:
        return next(p.score for p in result.passages if p.chunk.text == RAIN)

    assert score(boosted) > score(plain) > 0


async def test_facts_that_hold_words_of_a_question_come_beside_its_passages(
    book: StoryDesk,
) -> None:
    result = await find(book, "Who has grey, green or brown eyes?")
    assert {(one.fact.subject, one.fact.value) for one in result.facts} == {
        ("Nell Tallow", "grey"),
        ("Orla Finch", "green"),
        ("Orla Finch", "brown"),
    }
    for one in result.facts:
        if one.document != "notes/orla.md":
            said = await book.words(one.document, one.fact.spans[0])
            assert one.fact.value in said


async def test_facts_are_those_of_whom_a_question_names(book: StoryDesk) -> None:
    for name, own in (("Kestrel", {"green", "brown"}), ("Nell", {"grey"})):
        result = await find(book, f"Are {name}'s eyes green or grey or brown?")
        assert set(values(result)) == own


@pytest.mark.parametrize(
    "question", ["Where does Nell sleep?", "Whose lamp is green?", "eyes", "Nell"]
)
async def test_no_fact_is_shown_that_shares_only_a_name_or_a_word(
    book: StoryDesk, question: str
) -> None:
    assert not {"grey", "green", "brown"}.intersection(
        values(await find(book, question))
    )


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Who is Nell Tallow's brother?", True),
        ("How are Nell Tallow and Corin Tallow related?", True),
        ("What does Corin Tallow write to Nell?", False),
        ("Which ship did Corin Tallow command?", False),
    ],
)
async def test_a_relation_is_shown_if_it_is_asked_for(
    story: StoryDesk, question: str, *, shown: bool
) -> None:
    text = "Nell Tallow's brother Corin Tallow came home. “Nell,” said Corin Tallow. "
    story.write("1.md", text + "“Corin,” said Nell Tallow.")
    await story.ingest()
    found = await find(story, question)
    assert any(one.fact.detail("target") for one in found.facts) is shown


async def test_a_fact_without_a_value_is_not_shown(story: StoryDesk) -> None:
    story.write("1.md", "“Yes,” said Nell to Toby. “The lamp is mine,” said Nell.")
    await story.ingest()
    found = await find(story, "What is the point of view of Nell, and the recap?")
    assert all(one.fact.value or one.fact.details for one in found.facts)


async def test_no_fact_is_known_before_its_words_are_told(book: StoryDesk) -> None:
    eyes = "Whose eyes are green or grey or brown?"
    known = {
        place: values(await find(book, eyes, horizon=place)) for place, _ in HORIZONS
    }
    assert known[Horizon(0)] == []
    assert known[Horizon(1)] == known[Horizon(3, 1)] == ["grey"]
    assert set(known[Horizon(3)]) == {"grey", "green"}


async def test_what_is_worded_freely_is_known_once_all_that_was_read_is_told(
    book: StoryDesk,
) -> None:
    dusk = "What goes out at dusk?"
    event = "The lamp goes out at dusk."
    assert event in values(await find(book, dusk))
    assert event in values(await find(book, dusk, horizon=Horizon(1)))
    assert event not in values(await find(book, dusk, horizon=Horizon(1, 1)))


async def test_what_passages_are_is_no_fact_of_the_story(book: StoryDesk) -> None:
    result = await find(book, "backstory, description and dialogue of the lamp")
    assert FactAbout.PASSAGE not in {one.fact.about for one in result.facts}


async def test_a_fact_is_found_by_what_it_tells_of_somebody(book: StoryDesk) -> None:
    result = await find(book, "Nell's eyes", dense=False)
    assert (result.facts[0].fact.subject, values(result)[0]) == ("Nell Tallow", "grey")


async def test_a_renamed_character_has_the_new_name_in_every_part_of_a_fact(
    story: StoryDesk,
) -> None:
    story.write(
        "1.md",
        "“Yes,” said Nell. “No,” said Toby. Nell saw Toby, her clerk. Toby was Nell’s"
        " brother.",
    )
    story.decide(NameRenamed("Toby", "Tobias Finch"))
    await story.ingest()
    facts = (await find(story, "Who is Nell's brother Toby?")).facts
    relations = [one.fact for one in facts if one.fact.detail("target")]
    assert relations
    for fact in relations:
        assert "Toby" not in {fact.subject, fact.detail("target")}


async def test_a_fact_that_stands_in_many_places_is_given_once(
    story: StoryDesk,
) -> None:
    for n in range(3):
        story.write(f"{n}.md", "“Yes,” said Nell. Nell’s eyes were green.")
    story.write("4.md", "“Yes,” said Nell. Nell’s eyes were grey.")
    await story.ingest()
    found = await find(story, "Nell's green or grey eyes")
    assert sorted(values(found)) == ["green", "grey"]


async def test_a_person_who_was_read_as_a_place_is_no_fact(story: StoryDesk) -> None:
    kind = WorldField.ELEMENT_TYPE
    story.analyst = ScriptedAnalyst(
        {
            "the harbour": (FactAbout.WORLD, kind, ElementType.SETTING),
            "her lamp": (FactAbout.WORLD, kind, ElementType.ARTIFACT),
        }
    )
    story.write("1.md", "“Oil,” said Nell. Nell left the harbour, and her lamp.")
    await story.ingest()
    stored = [one.fact for one in await story.library.story.facts([FactAbout.WORLD])]
    kept = [fact for fact in stored if fact.subject == "Nell"]
    assert len(kept) == 2
    found = await find(story, "Which element type is Nell: setting, artifact?")
    told = [one.fact.value for one in found.facts if one.fact.about is FactAbout.WORLD]
    assert told == [ElementType.ARTIFACT]


async def test_only_a_few_facts_are_given(story: StoryDesk) -> None:
    story.write(
        "1.md",
        "\n\n".join(
            f"“Yes,” said {name} Finch. {name} Finch’s eyes were green."
            for name in ("Orla", "Nell", "Ivo", "Bess", "Corin", "Hob", "Ada")
        ),
    )
    await story.ingest()
    assert len(values(await find(story, "Whose eyes are green?"))) == MAX_SEARCH_FACTS


async def test_pipeline_a_knows_passages_alone(book: StoryDesk) -> None:
    naive = Desk(book.folder, book.library)
    await naive.ingest()
    question = "Orla Finch's green eyes"
    result = await find(book, question, pipeline=Pipeline.NAIVE, dense=False)
    assert result == await find(naive, question, dense=False)
    assert (await find(book, question, dense=False)).facts
    assert result.facts == ()
    assert DocumentId("3.md") in {one.chunk.document for one in result.passages}
