"""Questions made by templates: what each promises, on a small book."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN
from lrwr.core.retrieval.story import parse_horizon
from lrwr.pipeline.evaluation.question_generation.generator import (
    TEMPLATE_SHARES,
    GeneratedQuestions,
    divide_by_shares,
    make_question_id,
    make_questions,
)
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SourceMaterial,
    load_source_material,
)
from lrwr.pipeline.evaluation.question_generation.templates import (
    ABSENT,
    is_word_in_text,
)
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    QuestionKind,
    find_quote_places,
    parse_questions,
    serialize_questions,
)
from tests.fakes.stories import Book, Stories
from tests.unit.evaluation.made_books import a_material


@pytest.fixture(scope="module")
def material() -> SourceMaterial:
    return a_material()


@pytest.fixture(scope="module")
def made(material: SourceMaterial) -> GeneratedQuestions:
    return make_questions(material, 60, seed=1)


def of_kind(made: GeneratedQuestions, kind: QuestionKind) -> list[EvalQuestion]:
    return [one for one in made.questions if one.kind is kind]


def texts(made: GeneratedQuestions) -> set[str]:
    return {one.text for one in made.questions}


def places(question: EvalQuestion, material: SourceMaterial) -> list[AnswerPlace]:
    return [
        place
        for gold in (*question.gold, *question.spoilers)
        for place in find_quote_places(
            gold.quote, DocumentId(gold.file), material.texts[DocumentId(gold.file)]
        )
    ]


def test_every_quote_stands_in_its_file_once(
    made: GeneratedQuestions, material: SourceMaterial
) -> None:
    assert made.questions
    for question in made.questions:
        golds = (*question.gold, *question.spoilers)
        assert len(places(question, material)) == len(golds)


def test_no_two_questions_rest_on_the_same_words(
    made: GeneratedQuestions, material: SourceMaterial
) -> None:
    used: list[AnswerPlace] = []
    for question in made.questions:
        for place in places(question, material):
            for other in used:
                same = place.document == other.document
                apart = (
                    place.span.end <= other.span.start
                    or other.span.end <= place.span.start
                )
                assert apart or not same
        used += places(question, material)


def test_the_same_seed_makes_the_same_questions(material: SourceMaterial) -> None:
    one, other = (make_questions(material, 30, seed=7) for _ in range(2))
    assert one == other


def test_ids_come_from_kind_and_words_and_not_from_the_seed(
    material: SourceMaterial,
) -> None:
    ids: dict[str, str] = {}
    for seed in range(4):
        for one in make_questions(material, 30, seed).questions:
            assert one.id == make_question_id(one.kind, one.text, one.as_of)
            assert ids.setdefault(one.id, one.text) == one.text


def test_what_is_made_can_be_saved_and_read_again(made: GeneratedQuestions) -> None:
    assert parse_questions(serialize_questions(made.questions), "made") == list(
        made.questions
    )


def test_a_share_that_cannot_be_filled_is_told_and_not_filled_with_others(
    material: SourceMaterial,
) -> None:
    made = make_questions(material, 200)
    counts = Counter(one.kind for one in made.questions)
    for kind, wanted in divide_by_shares(200, TEMPLATE_SHARES).items():
        assert counts[kind] <= wanted
    short = [
        kind
        for kind, wanted in divide_by_shares(200, TEMPLATE_SHARES).items()
        if counts[kind] < wanted
    ]
    assert len(made.remarks) == len(short) > 0


def test_a_thing_is_asked_about_with_the_person_of_its_sentence(
    material: SourceMaterial,
) -> None:
    questions = make_questions(material, 200).questions
    asked = next(one for one in questions if "kettle" in one.text)
    assert asked.text == "What does Nell Tallow have to do with the kettle?"
    assert asked.gold[0].quote.startswith("Nell Tallow hid the kettle")


def test_a_thing_of_two_chapters_is_asked_about_in_both(
    made: GeneratedQuestions,
) -> None:
    both = next(
        one for one in of_kind(made, QuestionKind.SEVERAL) if "anchor" in one.text
    )
    assert both.every
    assert [gold.file for gold in both.gold] == ["1.md", "2.md"]


def test_what_a_note_says_is_asked_about(made: GeneratedQuestions) -> None:
    assert "How old is Nell Tallow?" in texts(made)


def test_half_of_the_bounded_questions_are_asked_too_early(
    material: SourceMaterial,
) -> None:
    made = of_kind(make_questions(material, 60), QuestionKind.AS_OF)
    early = [one for one in made if not one.gold]
    assert early
    for one in made:
        horizon = parse_horizon(one.as_of, material.order)
        golds = one.gold or one.spoilers
        told = [
            material.chapter_of(place)
            for gold in golds
            for place in find_quote_places(
                gold.quote,
                DocumentId(gold.file),
                material.texts[DocumentId(gold.file)],
            )
        ]
        assert all((n <= horizon.chapter) is bool(one.gold) for n in told)
        assert bool(one.spoilers) is not bool(one.gold)


def test_no_word_of_what_is_called_unanswerable_stands_in_the_text(
    made: GeneratedQuestions, material: SourceMaterial
) -> None:
    words = {
        word.casefold()
        for text in material.texts.values()
        for word in WORD_PATTERN.findall(text)
    }
    named = {one.name for one in material.people()}
    asked = {pattern: absent.split() for pattern, absent in ABSENT}
    for question in of_kind(made, QuestionKind.UNANSWERABLE):
        assert not question.gold
        for pattern, absent in asked.items():
            fits = {pattern.format(one, other) for one in named for other in named}
            if question.text in fits:
                assert not any(
                    own.startswith(word)
                    for own in words
                    for word in absent
                    if len(word) > 3
                )


def test_a_word_counts_as_there_in_any_form_and_short_ones_alone() -> None:
    material = a_material(
        {"4.md": "# Chapter 4\n\nThe jugglers ate forbidden fruit.\n"}
    )
    assert is_word_in_text(material, "juggl")
    assert not is_word_in_text(material, "eve")
    assert is_word_in_text(material, "sprin")


def test_notes_count_as_text_that_answers() -> None:
    told = {"notes/Hob.md": "# Corin Vale\n\nHe has a tattoo of an eel, and no dog.\n"}
    made = make_questions(a_material(told), 200)
    assert not any("tattoo" in text or "dog" in text for text in texts(made))


async def test_a_library_of_which_nothing_is_known_makes_nothing() -> None:
    nothing = Stories(Book({"1.md": "# Chapter 1\n\nRain.\n"}))
    material = await load_source_material(nothing.service(), lambda text: [])
    made = make_questions(material, 20)
    assert made.questions == ()
    assert len(made.remarks) == len(
        [n for n in divide_by_shares(20, TEMPLATE_SHARES).values() if n]
    )


@given(st.integers(0, 1000))
def test_shares_add_up_and_are_off_by_less_than_one(number: int) -> None:
    shares = divide_by_shares(number, TEMPLATE_SHARES)
    assert sum(shares.values()) == number
    for kind, share in TEMPLATE_SHARES.items():
        assert abs(shares[kind] - number * share / 100) < 1
