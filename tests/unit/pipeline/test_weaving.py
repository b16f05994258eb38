"""The cast of a library, and what follows from it in each document."""

import asyncio
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.canon.decision import (
    DocumentTypeSet,
    NameIgnored,
    NameRenamed,
    NamesMerged,
    NamesSplit,
    PointOfViewSet,
)
from lrwr.core.canon.model import ManuscriptLocation
from lrwr.core.model.cast import Alias, AttributionCue, Cast, Character, Gender
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speakers import gather_narrator_evidence
from lrwr.core.nlp.names.mentions import find_mentions
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.settings.library import CANON_FILE_NAME
from lrwr.pipeline.speaker_attribution import AttributionSummary
from lrwr.pipeline.stages.speakers import (
    SceneSpans,
    find_narrator_signs,
    index_name_forms,
)
from tests.fakes.canons import a_service
from tests.fakes.short_story import LAMP, LEDGER, NOTE, ROAD, STORY
from tests.fakes.story_desks import StoryDesk, a_story_desk

FORMS = [
    "Nell", "Nell Tallow", "NELL", "Mrs. Gannet", "the Hatmaker", "the lamp keeper",
    "O’Vale", "O'Vale", "Will", "de Marne", "The Heron", "Corin-Vale", "'Liza", "Élan",
]  # fmt: skip
WORDS = [
    *FORMS, "Tallow", "Gannet,", "Will asked", "NELL’S", "nell", "Nell's", "hatmaker",
    "the Hatmaker", "Heron.", "de", "Marne", "\n\n", "“Nell,”", "ÉLAN", "Corin", "and",
]  # fmt: skip

EVERYBODY = {"Nell", "Corin", "Mrs. Gannet"}

TELLING = """\
# The Boat

“You are late, Corin,” said Nell.

“I know,” I said, and I took the oars. I rowed, and I did not look round.
"""


@pytest.fixture
async def book(story: StoryDesk) -> StoryDesk:
    for name, text in STORY.items():
        story.write(name, text)
    await story.ingest()
    return story


async def woven(desk: StoryDesk) -> AttributionSummary:
    report = await desk.ingest()
    assert report.attribution is not None
    return report.attribution


async def said(desk: StoryDesk, speaker: str | None = None) -> list[tuple[str, str]]:
    """Who says what: the words as the text has them."""
    return [
        (one.quotation.speaker, await desk.words(one.document, one.quotation.spans[0]))
        for one in await desk.library.story.quotations()
        if speaker in (None, one.quotation.speaker)
    ]


async def everything(desk: StoryDesk) -> tuple[object, ...]:
    kept = desk.library.story
    return (
        await kept.cast(),
        await kept.first_seen(),
        await kept.quotations(),
        await kept.appearances(),
    )


async def documents_told(desk: StoryDesk) -> set[DocumentId]:
    """Where somebody speaks, is there or is named."""
    kept = desk.library.story
    return {
        *(one.document for one in await kept.quotations()),
        *(one.document for one in await kept.appearances()),
        *(one.document for one in await kept.first_seen()),
    }


async def test_the_cast_is_made_of_what_all_documents_say(book: StoryDesk) -> None:
    people = await book.people()
    assert set(people) == EVERYBODY
    assert {"Nell", "Nell Tallow"} <= {one.name for one in people["Nell"].aliases}
    assert people["Mrs. Gannet"].certainty is Certainty.VERIFIED


async def test_what_is_said_is_kept_with_who_says_it(book: StoryDesk) -> None:
    assert ("Nell", "Is it late, Corin?") in await said(book)
    assert await said(book, "Mrs. Gannet") == [
        ("Mrs. Gannet", "Three cans of oil,"),
        ("Mrs. Gannet", "You are late,"),
    ]


async def test_passages_know_who_is_in_them_and_how(book: StoryDesk) -> None:
    chunks = {chunk.id: chunk for chunk in await book.chunks()}
    found = await book.present("Corin")
    assert {one.role for one in found} >= {
        AppearanceRole.SPEAKS,
        AppearanceRole.HEARS,
        AppearanceRole.PRESENT,
    }
    for one in found:
        assert chunks[one.chunk].span == one.span
        if one.role is AppearanceRole.PRESENT:
            assert "Corin" in chunks[one.chunk].text
    assert {one.document for one in found} == {"1.md"}


async def test_weaving_twice_changes_nothing(book: StoryDesk) -> None:
    before = await everything(book)
    assert await woven(book) == AttributionSummary(characters=3, documents=0)
    assert await everything(book) == before


async def test_an_edit_weaves_the_edited_document_alone(book: StoryDesk) -> None:
    book.write("2.md", LEDGER.replace("sighed", "laughed"))
    assert await woven(book) == AttributionSummary(characters=3, documents=1)


async def test_who_is_new_in_one_document_leaves_the_others_as_they_are(
    book: StoryDesk,
) -> None:
    before = await book.present("Nell")
    book.write("3.md", ROAD)
    assert await woven(book) == AttributionSummary(characters=4, documents=1)
    assert set(await book.people()) == {*EVERYBODY, "Orla Finch"}
    assert await book.present("Nell") == before


async def test_a_document_that_was_forgotten_leaves_the_cast(book: StoryDesk) -> None:
    (book.folder / "1.md").unlink()
    assert await woven(book) == AttributionSummary(characters=2, documents=1)
    assert set(await book.people()) == EVERYBODY - {"Corin"}
    assert await book.present("Corin") == []
    assert await documents_told(book) == {"2.md"}
    (book.folder / "2.md").unlink()
    book.write("4.md", "Nobody is here.")
    await book.ingest()
    assert await book.people() == {}
    assert (await everything(book))[1:] == ([], [], [])


async def test_documents_read_in_any_number_of_runs_give_the_same_story(
    book: StoryDesk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    book.write("3.md", ROAD)
    await book.ingest()
    async with a_story_desk(tmp_path_factory.mktemp("fresh")) as fresh:
        for name, text in [("3.md", ROAD), *STORY.items()]:
            fresh.write(name, text)
        await fresh.ingest()
        assert await everything(fresh) == await everything(book)


async def test_a_note_confirms_a_character_and_brings_its_aliases(
    book: StoryDesk,
) -> None:
    book.write("2.md", LEDGER.replace("said Nell.", "said Wren."))
    book.write("notes/nell.md", NOTE)
    await book.ingest()
    nell = (await book.people())["Nell Tallow"]
    assert nell.certainty is Certainty.CONFIRMED
    assert {"Nell", "Wren"} <= {alias.name for alias in nell.aliases}
    assert ("Nell Tallow", "The tide was,") in await said(book)
    assert all(one.document != "notes/nell.md" for one in await book.present(nell.name))
    (book.folder / "notes/nell.md").unlink()
    await book.ingest()
    assert "Nell Tallow" not in await book.people()


async def test_names_that_are_merged_are_one_person_from_the_next_time_on(
    book: StoryDesk,
) -> None:
    book.decide(NamesMerged(("Nell", "Mrs. Gannet")))
    assert await woven(book) == AttributionSummary(characters=2, documents=2)
    assert set(await book.people()) == {"Nell", "Corin"}
    assert ("Nell", "Three cans of oil,") in await said(book)
    assert await book.present("Mrs. Gannet") == []


async def test_names_that_are_split_are_two_people(book: StoryDesk) -> None:
    book.decide(NamesSplit("Nell", "Nell Tallow"))
    await book.ingest()
    assert {"Nell", "Nell Tallow"} <= set(await book.people())
    assert ("Nell Tallow", "Is it late, Corin?") in await said(book)
    assert ("Nell", "The tide was,") in await said(book)


async def test_who_is_renamed_is_called_so_everywhere(book: StoryDesk) -> None:
    book.decide(NameRenamed("Corin", "The Boatman"))
    assert (await woven(book)).documents == 1
    assert "Corin" not in await book.people()
    assert await said(book, "Corin") == []
    assert ("The Boatman", "Four,") in await said(book)


async def test_a_word_that_is_ignored_names_nobody(book: StoryDesk) -> None:
    book.decide(NameIgnored("Mrs. Gannet"))
    await book.ingest()
    assert set(await book.people()) == {"Nell", "Corin"}
    assert await book.present("Mrs. Gannet") == []


async def test_a_decision_that_is_taken_back_counts_no_more(book: StoryDesk) -> None:
    before = await everything(book)
    book.decide(NamesMerged(("Nell", "Mrs. Gannet")))
    await book.ingest()
    assert await everything(book) != before
    a_service(book.folder).undo()
    await book.ingest()
    assert await everything(book) == before


async def test_decisions_that_cannot_be_read_stop_the_run_and_lose_nothing(
    book: StoryDesk,
) -> None:
    before = await everything(book)
    (book.folder / CANON_FILE_NAME).write_text("[names", encoding="utf-8")
    with pytest.raises(SettingsProblem):
        await book.ingest()
    assert await everything(book) == before


async def test_front_matter_names_who_says_i(book: StoryDesk) -> None:
    book.write("3.md", f"---\npov: Corin Vale\n---\n{TELLING}")
    await book.ingest()
    (mine,) = [
        one.quotation
        for one in await book.library.story.quotations()
        if (one.document, one.quotation.speaker) == ("3.md", "Corin Vale")
    ]
    assert mine.cue is AttributionCue.NARRATOR
    assert (await book.people())["Corin Vale"].certainty is Certainty.CONFIRMED


async def test_a_teller_whom_nobody_names_is_a_character(book: StoryDesk) -> None:
    book.write("3.md", f"---\npov: Ivo Marsh\n---\n{TELLING}")
    await book.ingest()
    assert (await book.people())["Ivo Marsh"].certainty is Certainty.CONFIRMED
    assert ("Ivo Marsh", "I know,") in await said(book)


async def test_whom_the_writer_says_to_see_by_is_a_character(book: StoryDesk) -> None:
    book.decide(PointOfViewSet(ManuscriptLocation(DocumentId("2.md")), "Ivo Marsh"))
    await book.ingest()
    assert (await book.people())["Ivo Marsh"].certainty is Certainty.CONFIRMED


@pytest.mark.parametrize("front", ["", "---\npov: Corin Vale\n---\n"])
async def test_whom_the_writer_says_to_see_by_says_i(
    book: StoryDesk, front: str
) -> None:
    book.write("3.md", front + TELLING)
    book.decide(PointOfViewSet(ManuscriptLocation(DocumentId("3.md")), "Ivo Marsh"))
    await book.ingest()
    assert ("Ivo Marsh", "I know,") in await said(book)


async def test_a_scene_that_becomes_a_note_leaves_the_story(book: StoryDesk) -> None:
    before = await everything(book)
    book.decide(DocumentTypeSet(DocumentId("2.md"), DocumentType.SETTING))
    await book.ingest()
    assert await documents_told(book) == {"1.md"}
    a_service(book.folder).undo()
    await book.ingest()
    assert await everything(book) == before


async def test_a_scene_that_calls_itself_a_note_leaves_the_story(
    book: StoryDesk,
) -> None:
    book.write("2.md", f"---\ntype: setting\n---\n{LEDGER}")
    await book.ingest()
    assert await documents_told(book) == {"1.md"}
    assert (await woven(book)).documents == 0


async def test_a_file_that_was_only_touched_is_not_woven_again(book: StoryDesk) -> None:
    os.utime(book.folder / "1.md", ns=(5, 5))
    assert (await woven(book)).documents == 0


async def test_two_runs_at_once_end_in_one_story(book: StoryDesk) -> None:
    book.write("1.md", LAMP.replace("Corin", "Toller"))
    book.write("3.md", ROAD)
    one, other = book.service(worker="one"), book.service(worker="other")
    await asyncio.gather(
        *(service.process(book.events.append) for service in (one, other))
    )
    before = await everything(book)
    assert (await woven(book)).documents == 0
    assert await everything(book) == before


@given(
    words=st.lists(st.sampled_from(WORDS), max_size=30),
    forms=st.lists(st.sampled_from(FORMS), max_size=8, unique=True),
)
def test_signs_of_a_narrator_are_those_that_the_whole_cast_gives(
    words: list[str], forms: list[str]
) -> None:
    text = f"“You are late, {' '.join(words)}!”\n\n“I know,” I said."
    scenes = SceneSpans(((Span(0, len(text)),),))
    cast = Cast(tuple(a_person(form) for form in forms[1:]), shared(forms))
    mentions = find_mentions(text, scenes.spans, cast)
    assert find_narrator_signs(
        text, scenes, index_name_forms(cast)
    ) == gather_narrator_evidence(text, scenes.parts, mentions)


def a_person(name: str) -> Character:
    sure = Certainty.VERIFIED
    return Character(name, (Alias(name, 1, sure),), Gender.UNKNOWN, sure, sure)


def shared(forms: list[str]) -> dict[str, tuple[str, ...]]:
    """The first form is that of the next two people."""
    return {forms[0]: tuple(forms[1:3])} if len(forms) > 2 else {}


async def test_a_name_that_is_new_elsewhere_is_found_where_it_was_a_word(
    book: StoryDesk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    book.write("3.md", TELLING)
    await book.ingest()
    book.write("4.md", ROAD)
    await book.ingest()
    book.write("1.md", LAMP.replace("Nell", "Orla Finch"))
    await book.ingest()
    async with a_story_desk(tmp_path_factory.mktemp("fresh")) as fresh:
        for path in sorted(book.folder.glob("*.md")):
            fresh.write(path.name, path.read_text(encoding="utf-8"))
        await fresh.ingest()
        assert await everything(fresh) == await everything(book)
