"""What a language model is asked in an ingestion, and what it is never asked again."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import StoreProblem
from lrwr.core.model.facts import FactAbout, PassageField
from lrwr.core.model.jobs import JobState
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import EXCERPTS_PER_CALL
from lrwr.pipeline.scan import UNFINISHED
from tests.fakes.analysts import ScriptedAnalyst
from tests.fakes.short_story import LAMP, LEDGER, NOTE, STORY
from tests.fakes.story_desks import StoryDesk

SCRIPT = {
    "is it late": (FactAbout.PASSAGE, PassageField.CONTENT_TYPE, "dialogue"),
    "steel pen": (FactAbout.PASSAGE, PassageField.CONTENT_TYPE, "description"),
    "Three cans": (FactAbout.EVENT, "event", "Mrs. Gannet counts the oil."),
    "stopped at four": (FactAbout.EVENT, "event", "The clock stops."),
    "Nobody wound it": (FactAbout.GAP, "clock", "Somebody used to wind it."),
}


@pytest.fixture
def book(story: StoryDesk) -> StoryDesk:
    for name, text in STORY.items():
        story.write(name, text)
    story.analyst = ScriptedAnalyst(SCRIPT)
    return story


def analyst_of(desk: StoryDesk, **changes: object) -> ScriptedAnalyst:
    """Let a new analyst with the same name read from now on."""
    made = ScriptedAnalyst(SCRIPT, **changes)  # type: ignore[arg-type]
    desk.analyst = made
    return made


async def values(desk: StoryDesk, about: FactAbout = FactAbout.EVENT) -> list[str]:
    known = await desk.library.story.facts([about])
    return [one.fact.value for one in known if one.fact.keeper == "scripted"]


async def names(desk: StoryDesk) -> list[str]:
    """By what recipe each document was read last."""
    kept = await desk.library.knowledge.document_versions(desk.pipeline)
    return [seen.recipe.rpartition("/")[2] for seen in kept]


async def test_what_a_model_reads_is_kept_beside_what_rules_read(
    book: StoryDesk,
) -> None:
    report = await book.ingest()
    assert report.model == "scripted"
    assert await values(book) == ["Mrs. Gannet counts the oil.", "The clock stops."]
    assert await values(book, FactAbout.GAP) == ["Somebody used to wind it."]
    keepers = {one.fact.keeper for one in await book.library.story.facts()}
    assert keepers == {"rules", "scripted"}
    for one in await book.library.story.facts([FactAbout.EVENT, FactAbout.GAP]):
        said = await book.words(one.document, one.fact.spans[0])
        assert said in SCRIPT


async def test_every_passage_is_asked_about_once_eight_to_a_call(
    book: StoryDesk,
) -> None:
    analyst = analyst_of(book)
    report = await book.ingest()
    asked = [text for call in analyst.classified for text in call]
    assert sorted(asked) == sorted(chunk.text for chunk in await book.chunks())
    assert all(len(call) <= EXCERPTS_PER_CALL for call in analyst.classified)
    assert len(analyst.extracted) == len(STORY)
    assert report.usage.calls == analyst.calls == len(book.meters) * 4
    assert book.meters[-1].usage == Usage(
        calls=4, prompt_tokens=400, completion_tokens=40, quotes=4, verified=4
    )


async def test_no_call_is_made_twice(book: StoryDesk) -> None:
    await book.ingest()
    analyst = analyst_of(book)
    assert (await book.ingest()).usage == Usage()
    report = await book.ingest(verify=True)
    assert (report.unchanged, report.usage) == (2, Usage())
    assert analyst.calls == 0


async def test_what_was_said_is_found_again_when_a_document_is_read_again(
    book: StoryDesk,
) -> None:
    await book.ingest()
    before = await book.library.story.facts()
    (book.folder / "1.md").rename(book.folder / "0.md")
    analyst = analyst_of(book)
    report = await book.ingest()
    assert analyst.calls == 0
    assert report.usage.cached > 3
    after = await book.library.story.facts()
    assert [one.fact for one in after] == [one.fact for one in before]


async def test_one_changed_passage_asks_one_call_and_its_window(
    book: StoryDesk,
) -> None:
    await book.ingest()
    kept = {chunk.id for chunk in await book.chunks()}
    analyst = analyst_of(book)
    book.write("1.md", LAMP.replace("steel pen", "reed pen"))
    report = await book.ingest()
    changed = [chunk.text for chunk in await book.chunks() if chunk.id not in kept]
    assert analyst.classified == [changed]
    assert len(changed) == 1
    assert len(analyst.extracted) == 1
    assert "reed pen" in analyst.extracted[0]
    assert report.usage.cached == len(await book.chunks("1.md")) - 1


async def test_a_passage_is_asked_about_anew_when_what_stands_before_it_changed(
    book: StoryDesk,
) -> None:
    await book.ingest()
    before = await book.chunks("1.md")
    number = next(n for n, chunk in enumerate(before) if chunk.lead)
    analyst = analyst_of(book)
    book.write("1.md", LAMP.replace(before[number].lead, "He yawned."))
    await book.ingest()
    after = await book.chunks("1.md")
    assert after[number].text == before[number].text
    assert after[number].lead.endswith("He yawned.")
    assert before[number].text in analyst.classified[0]


async def test_facts_move_with_their_words(book: StoryDesk) -> None:
    await book.ingest()
    analyst = analyst_of(book)
    book.write("2.md", f"---\ntitle: The Ledger\n---\n\n{LEDGER}")
    await book.ingest()
    assert analyst.calls == 0
    (clock,) = [
        one.fact
        for one in await book.library.story.facts([FactAbout.EVENT])
        if one.fact.value == "The clock stops."
    ]
    assert await book.words("2.md", clock.spans[0]) == "stopped at four"


async def test_what_is_worded_freely_reaches_as_far_as_was_read(
    book: StoryDesk,
) -> None:
    await book.ingest()
    (counts,) = [
        one.fact
        for one in await book.library.story.facts([FactAbout.EVENT])
        if one.document == "1.md"
    ]
    last = (await book.chunks("1.md"))[-1]
    assert counts.spans[0].end < counts.reach == last.span.end
    (gap,) = await book.library.story.facts([FactAbout.GAP])
    assert gap.fact.reach == 0


async def test_a_model_of_another_name_is_asked_anew(book: StoryDesk) -> None:
    await book.ingest()
    analyst = analyst_of(book, name="other")
    report = await book.ingest()
    assert (report.processed, report.embedded, report.usage.cached) == (2, 0, 0)
    assert analyst.calls == 4
    assert await values(book) == []


async def test_notes_are_not_given_to_a_model(book: StoryDesk) -> None:
    book.write("notes/nell.md", NOTE)
    analyst = analyst_of(book)
    await book.ingest()
    read = [*analyst.extracted, *(text for call in analyst.classified for text in call)]
    assert not any("Eyes" in text for text in read)


async def test_a_passage_that_cannot_be_read_is_counted_and_asked_again(
    book: StoryDesk,
) -> None:
    analyst_of(book, broken="stopped at four")
    report = await book.ingest()
    assert report.usage.failed == 2
    assert await values(book) == ["Mrs. Gannet counts the oil."]
    analyst = analyst_of(book)
    book.write("2.md", LEDGER.replace("You are late", "You are early"))
    await book.ingest()
    assert len([text for call in analyst.classified for text in call]) == 2
    assert "The clock stops." in await values(book)


async def test_when_the_model_goes_away_what_was_paid_is_kept_and_no_more_asked(
    book: StoryDesk,
) -> None:
    first = analyst_of(book, patience=1)
    report = await book.ingest()
    assert report.remarks == [
        "The language model has not analysed all documents. The model is away. Wake it up."
    ]
    assert (report.problems, report.processed) == ([], 2)
    assert UNFINISHED in await names(book)
    assert first.calls == 1
    assert (report.usage.calls, report.usage.failed) == (2, 1)
    assert "Nell" in await book.people()
    second = analyst_of(book)
    report = await book.ingest()
    assert report.remarks == []
    assert first.calls + second.calls == 4
    assert UNFINISHED not in await names(book)
    assert await values(book) == ["Mrs. Gannet counts the oil.", "The clock stops."]
    assert (await book.ingest()).processed == 0


async def test_what_a_model_read_before_it_went_away_stays_known(
    book: StoryDesk,
) -> None:
    await book.ingest()
    book.write("1.md", LAMP.replace("steel pen", "reed pen"))
    analyst_of(book, patience=0)
    report = await book.ingest()
    assert report.usage.cached == len(await book.chunks("1.md")) - 1
    assert await values(book) == ["The clock stops."]
    assert (await names(book)).count(UNFINISHED) == 1


def by_call(usage: Usage) -> float:
    """Ten cents a call."""
    return usage.calls / 10


async def test_a_budget_stops_before_it_is_passed_and_the_next_run_goes_on(
    book: StoryDesk,
) -> None:
    book.price = by_call
    book.budget = 0.25
    first = analyst_of(book)
    report = await book.ingest()
    assert report.usage.calls == first.calls == 2
    (remark,) = report.remarks
    assert remark.startswith(
        "The language model has not analysed all documents. The next call would exceed"
        " the budget of $0.25. Raise `--budget` or `model.budget`. Reserved for it: $"
    )
    assert "; a budget of $0.30 allows it." in remark
    assert UNFINISHED in await names(book)
    second = analyst_of(book)
    report = await book.ingest()
    assert (second.calls, report.remarks) == (2, [])
    assert (await book.ingest()).processed == 0


async def test_a_budget_that_cannot_be_kept_asks_nothing_and_says_so(
    book: StoryDesk,
) -> None:
    book.budget = 1.0
    analyst = analyst_of(book)
    report = await book.ingest()
    assert (analyst.calls, report.processed) == (0, 2)
    (remark,) = report.remarks
    assert "the model's price is unknown" in remark
    assert "Nell" in await book.people()


async def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(
    book: StoryDesk,
) -> None:
    book.embedder = None
    analyst = analyst_of(book)
    dry = await book.ingest(dry_run=True)
    assert (analyst.calls, dry.usage.calls) == (0, 4)
    assert dry.usage.prompt_tokens > 100
    assert dry.usage.completion_tokens > 0
    real = await book.ingest()
    assert real.usage.calls == dry.usage.calls
    again = await book.ingest(dry_run=True)
    assert again.usage == Usage()
    book.write("1.md", LAMP.replace("steel pen", "reed pen"))
    assert (await book.ingest(dry_run=True)).usage.calls == 2


class FullDisk:
    """Knows what was said before, and cannot keep anything more."""

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        return {}

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        return {}

    async def save_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        raise StoreProblem("The disk is full.", hint="Make room.")


async def test_replies_that_cannot_be_kept_are_a_problem_of_their_document(
    book: StoryDesk,
) -> None:
    whole = book.library
    book.library = replace(whole, analysis=FullDisk())
    report = await book.ingest()
    assert [one.message for one in report.problems] == ["The disk is full."] * 2
    assert await whole.queue.jobs(limit=9, state=JobState.RUNNING) == []
    book.library = whole
    assert (await book.ingest()).problems == []
    assert await values(book) == ["Mrs. Gannet counts the oil.", "The clock stops."]
