"""A question gets what its sources hold of whom and what it names, and no more."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lrwr.core.bible.projection import project_bible
from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.model import UndefinedAttribute as Asked
from lrwr.core.chat.context.builder import (
    MAX_GATHERED_LINES,
    MAX_GATHERED_MOMENTS,
    MAX_GATHERED_SCENES,
    gather_context,
)
from lrwr.core.chat.planning.rules import plan_by_rules, resolve_entities
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.chunks import Passage
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSource,
    QuestionEntity,
    QuestionPlan,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.retrieval.search_model import SearchResult
from tests.fakes.chatting import a_story, paragraphs
from tests.fakes.stories import Stories
from tests.unit.bible.marsh import MODEL, ONE, TWO, marsh

NELL, MAGS, CORIN = "Nell Tallow", "OchraMags", "Corin Vale"


@pytest.fixture
def story() -> Stories:
    return marsh()


def gathered(
    story: Stories | Bible,
    question: TurnQuestion | str,
    *choices: tuple[AnswerSource, SourceIntention],
    names: Sequence[str] = (),
    passages: Sequence[Passage] = (),
    unknown: Sequence[str] = (),
    intent: AnswerIntent = AnswerIntent.ANALYTICAL,
) -> RetrievalResult:
    """Gather by the given choices; without any, by the plan that rules make."""
    bible = story if isinstance(story, Bible) else project_bible(story.knowledge())
    asked = TurnQuestion(question) if isinstance(question, str) else question
    plan = plan_by_rules(asked, bible)
    if choices:
        entities = tuple(QuestionEntity(name, 0.9) for name in names)
        made = tuple(SourceChoice(*one, 0.9) for one in choices)
        plan = QuestionPlan(intent, made, entities, "rules")
    found = SearchResult(tuple(passages), tuple(unknown))
    return gather_context(asked, plan, resolve_entities(plan, bible, ()), bible, found)


def said(result: RetrievalResult) -> list[str]:
    return [quote.evidence.text for quote in result.lines]


def happened(result: RetrievalResult) -> list[str]:
    return [moment.text for moment in result.moments]


@pytest.fixture
def passages() -> list[Passage]:
    found = paragraphs(a_story().book, "1.md")[:3]
    places = (1, 2, None)
    return [replace(one, chapter=at) for one, at in zip(found, places, strict=True)]


PROFILE = (AnswerSource.PROFILES, SourceIntention.TRAITS)
FIND = (AnswerSource.MANUSCRIPT, SourceIntention.FIND_PASSAGE)
SPOKEN = (AnswerSource.MANUSCRIPT, SourceIntention.DIALOGUE_OF)
HAPPENED = (AnswerSource.TIMELINE, SourceIntention.WHAT_HAPPENED)


@pytest.mark.parametrize(
    ("choice", "filled"),
    [
        (PROFILE, {"character_profiles"}),
        (FIND, set()),
        (SPOKEN, {"lines"}),
        (HAPPENED, {"moments"}),
        ((AnswerSource.PROFILES, SourceIntention.RELATIONSHIPS),
         {"character_profiles", "relations"}),
        ((AnswerSource.MANUSCRIPT, SourceIntention.RECAP), {"scenes"}),
        ((AnswerSource.WORLD, SourceIntention.SETTING), {"world"}),
    ],
)  # fmt: skip
def test_only_what_the_chosen_source_holds_is_gathered(
    story: Stories, choice: tuple[AnswerSource, SourceIntention], filled: set[str]
) -> None:
    result = gathered(story, "Nell? Corin?", choice, names=[NELL, CORIN])
    kinds = ("character_profiles", "world", "moments", "relations", "scenes", "lines")
    assert {kind for kind in kinds if getattr(result, kind)} == filled


def test_only_those_who_are_named_are_gathered(story: Stories) -> None:
    result = gathered(story, "Who is Mags?", PROFILE, names=["Mags"])
    assert [one.name for one in result.character_profiles] == [MAGS]


def test_what_nobody_witnessed_is_left_out(story: Stories) -> None:
    asked = TurnQuestion("What happened to Corin Vale?", character=MAGS)
    everything = gathered(story, asked, HAPPENED, names=[CORIN])
    assert "Corin drowns." in happened(everything)
    bounded = gathered(story, replace(asked, witnessed=True), HAPPENED, names=[CORIN])
    assert "Corin drowns." not in happened(bounded)
    assert "that it is six" in happened(bounded)


def test_of_much_the_best_is_kept_in_story_order(story: Stories) -> None:
    for number in range(2 * MAX_GATHERED_MOMENTS):
        story.fact(ONE, "Wren climbed", FactAbout.EVENT, "event", f"Nell climbs {number}.",
                   details=(("involved", NELL),))  # fmt: skip
    story.fact(TWO, "Nell Tallow came in.", FactAbout.EVENT, "event",
               "Nell finds the red boat.", keeper=MODEL, details=(("involved", NELL),))  # fmt: skip
    result = gathered(story, "How did Nell find the red boat?", HAPPENED, names=[NELL])
    assert len(result.moments) == MAX_GATHERED_MOMENTS
    assert happened(result)[-1] == "Nell finds the red boat."
    bible = project_bible(story.knowledge())
    places = [bible.timeline.index(one) for one in result.moments]
    assert places == sorted(places)


def test_lines_and_scenes_are_no_more_than_their_limits(story: Stories) -> None:
    bible = project_bible(story.knowledge())
    quote = next(one for one in bible.quotes if one.speaker == NELL)
    many = replace(
        bible, quotes=(quote,) * (MAX_GATHERED_LINES + 1), scenes=bible.scenes * 9
    )
    recap = (AnswerSource.MANUSCRIPT, SourceIntention.RECAP)
    result = gathered(many, "What did Nell say?", SPOKEN, recap, names=[NELL])
    assert (len(result.lines), len(result.scenes)) == (
        MAX_GATHERED_LINES,
        MAX_GATHERED_SCENES,
    )


def test_of_a_question_about_saying_the_speakers_are_quoted_and_not_the_topic(
    story: Stories,
) -> None:
    assert said(gathered(story, "What does Nell say about Mags?")) == [
        "Is it late?",
        "You are my aunt,",
    ]


def test_of_what_is_told_to_somebody_the_lines_to_others_are_left_out(
    story: Stories,
) -> None:
    assert said(gathered(story, "What did Nell tell Mags?")) == ["You are my aunt,"]
    never = gathered(story, "What did Nell tell Corin Vale?")
    assert said(never) == ["Is it late?", "You are my aunt,"]


def test_what_would_be_if_is_shown_by_what_the_named_did_and_said(
    story: Stories,
) -> None:
    result = gathered(story, "What would Mags do if the tide came early?")
    assert said(result) == ["Six strokes,"]
    assert happened(result) == ["that it is six"]


def test_in_character_the_lines_are_those_of_who_answers(story: Stories) -> None:
    asked = TurnQuestion("What did Mags say?", AnswerMode.IN_CHARACTER, NELL)
    assert said(gathered(story, asked)) == ["Is it late?", "You are my aunt,"]


def test_what_happened_at_a_place_is_found_by_the_place(story: Stories) -> None:
    came = "Nell Tallow came in."
    story.fact(TWO, came, FactAbout.EVENT, "event", "She enters.", keeper=MODEL)
    result = gathered(story, "What happened at the ledger house?")
    assert [one.name for one in result.world] == ["the Ledger House"]
    # The first is in the chapter of that name, the second about somebody of the house.
    assert happened(result) == ["She enters.", "Corin drowns."]


@pytest.mark.parametrize("text", ["chapter 2", "Chapter Two", "ch 2", "ch. 2"])
def test_of_a_chapter_asked_about_by_its_number_all_moments_count(
    story: Stories, text: str
) -> None:
    result = gathered(story, f"What happens in {text}?", unknown=["2", "two", "flood"])
    assert happened(result) == ["Corin drowns."]
    assert result.unknown[-1] == "flood" and len(result.unknown) < 3


def test_what_is_before_a_chapter_is_not_in_it(story: Stories) -> None:
    result = gathered(story, "What happened to Corin Vale before chapter 1?")
    assert "Corin drowns." in happened(result)


def test_a_recap_of_a_chapter_has_its_scenes(story: Stories) -> None:
    recap = (AnswerSource.MANUSCRIPT, SourceIntention.RECAP)
    result = gathered(story, "Recap chapter 1", recap)
    assert {scene.chapter for scene in result.scenes} == {1}
    assert {s.chapter for s in gathered(story, "Recap it", recap).scenes} > {1}


def test_passages_of_other_chapters_than_the_one_asked_about_are_left_out(
    story: Stories, passages: list[Passage]
) -> None:
    asked = "Who drowned in chapter 2?"
    result = gathered(story, asked, FIND, passages=passages)
    assert [one.chapter for one in result.ranked_chunks] == [2]
    nowhere = gathered(story, "Who drowned in chapter 9?", FIND, passages=passages)
    assert nowhere.ranked_chunks == tuple(passages)


def test_of_what_the_writer_noted_the_notes_come_first(
    story: Stories, passages: list[Passage]
) -> None:
    result = gathered(story, "What did I note about Nell?", passages=passages)
    assert [one.chapter for one in result.ranked_chunks] == [None, 1, 2]
    assert [one.name for one in result.character_profiles] == [NELL]


async def test_who_was_there_is_asked_of_the_scene_that_was_found() -> None:
    story = marsh()
    bible = await story.service().read()
    scene = bible.scenes[0]
    (found, *_) = paragraphs(a_story().book, "1.md")
    chunk = replace(found.chunk, document=scene.document, span=scene.span)
    result = gathered(
        bible,
        "Who was there when the lamp failed?",
        passages=[replace(found, chunk=chunk)],
    )
    (there,) = result.scenes
    assert there.present == scene.present
    spoken = [q.evidence for q in bible.quotes if q.speaker in scene.present]
    assert all(words in spoken for words in there.key_sentences)
    assert gathered(bible, "Who is Nell?").scenes == ()


async def test_what_the_notes_leave_open_is_found_by_its_words() -> None:
    bible = await marsh().service().read()
    text = "Undecided: who leaves eleven crowns on the step."
    gap = Gap("bcdf", Asked("", text), "", text, GapState.OPEN)
    asked = replace(bible, gaps=(gap,))
    result = gathered(asked, "Who has been leaving eleven crowns?")
    assert result.gaps == (gap,)
    assert gathered(asked, "Who has the crowns?").gaps == ()


@pytest.mark.parametrize(
    ("choices", "chapters"),
    [
        ([FIND], [1, 2, None]),
        ([PROFILE], []),
        ([HAPPENED], []),
        ([(AnswerSource.NOTES, SourceIntention.AUTHOR_INTENT)], [None]),
        ([FIND, (AnswerSource.NOTES, SourceIntention.AUTHOR_INTENT)], [None, 1, 2]),
        ([(AnswerSource.WEB, SourceIntention.CRAFT)], []),
    ],
)
def test_a_source_that_was_not_chosen_has_no_passages(
    story: Stories,
    passages: list[Passage],
    choices: list[tuple[AnswerSource, SourceIntention]],
    chapters: list[int | None],
) -> None:
    result = gathered(story, "Where is Nell?", *choices, passages=passages)
    assert [passage.chapter for passage in result.ranked_chunks] == chapters


def test_notes_have_a_third_of_the_context_unless_they_were_chosen(
    story: Stories, passages: list[Passage]
) -> None:
    notes = (AnswerSource.NOTES, SourceIntention.AUTHOR_INTENT)
    result = gathered(story, "Where is Nell?", FIND, passages=passages)
    assert result.max_note_share == pytest.approx(1 / 3)
    result = gathered(story, "Where is Nell?", FIND, notes, passages=passages)
    assert result.max_note_share == 1.0
