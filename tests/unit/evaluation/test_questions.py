"""Questions whose answers are known, and whether passages hold them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind, TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.text import LineRange, Span
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    GoldQuote,
    QuestionKind,
    find_quote_places,
    has_gold,
    parse_questions,
    serialize_questions,
)

ONE = DocumentId("1.md")
ASKED = {"id": "a", "question": "Who?", "gold": [{"file": "1.md", "quote": "Nell."}]}


def read(*lines: object) -> list[EvalQuestion]:
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return parse_questions(text, "q.jsonl")


def passage(start: int, end: int, document: DocumentId = ONE) -> Chunk:
    return Chunk(
        ChunkId(f"{document}:{start}"), document, 0, Span(start, end), LineRange(1, 1), 0, 0,
        ChunkKind.PROSE, "", TextHash(""), 0,
    )  # fmt: skip


def place(start: int, end: int) -> list[AnswerPlace]:
    return [AnswerPlace(ONE, Span(start, end))]


def test_a_question_says_what_answers_it() -> None:
    (one,) = read(ASKED | {"kind": "fact", "answer": "Nell Tallow.", "as_of": "ch2"})
    assert one == EvalQuestion(
        "a",
        "Who?",
        (GoldQuote("1.md", "Nell."),),
        as_of="ch2",
        kind=QuestionKind.FACT,
        answer="Nell Tallow.",
    )
    assert one.answerable
    assert one.group == "1.md"


@pytest.mark.parametrize("more", [{"kind": "unanswerable"}, {"answerable": False}])
def test_a_question_that_the_text_does_not_answer_has_no_gold(
    more: dict[str, object],
) -> None:
    (one,) = read(ASKED | more)
    assert not one.answerable
    assert one.gold == ()


def test_empty_lines_are_passed_over_and_a_number_is_an_id() -> None:
    text = '\n{"question": "Who?", "kind": "unanswerable"}\n\n'
    assert [one.id for one in parse_questions(text, "q")] == ["2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not JSON", "q.jsonl:2"),
        ("[1]", "q.jsonl:2"),
        ('{"id": "a"}', "'question' is missing"),
        ('{"question": " "}', "is empty"),
        ('{"question": "Who?"}', 'needs "gold"'),
        ('{"question": "Who?", "gold": [{"file": "1.md"}]}', "'quote' is missing"),
    ],
)
def test_a_line_that_is_no_question_is_refused_with_its_place(
    line: str, said: str
) -> None:
    with pytest.raises(SettingsProblem, match=r"q\.jsonl:2") as refused:
        parse_questions(f"\n{line}\n", "q.jsonl")
    assert said in str(refused.value)
    assert '"gold"' in refused.value.hint


@given(st.text())
def test_no_file_does_more_than_be_refused(text: str) -> None:
    try:
        parse_questions(text, "q.jsonl")
    except SettingsProblem as problem:
        assert "q.jsonl:" in str(problem)


def test_a_quote_is_found_whatever_the_white_space() -> None:
    text = "She lit\nthe  lamp. Later she lit the lamp."
    assert find_quote_places("lit the lamp", ONE, text) == [
        *place(4, 17),
        *place(29, 41),
    ]
    assert find_quote_places("the harbour", ONE, text) == []
    assert find_quote_places("  ", ONE, text) == []


def test_passages_hold_any_of_the_gold_or_all_of_it() -> None:
    gold = [place(0, 20), place(100, 120)]
    near, far = passage(0, 50), passage(90, 130)
    assert has_gold([near], gold, every=False)
    assert not has_gold([near], gold, every=True)
    assert has_gold([near, far], gold, every=True)
    assert not has_gold([], gold, every=False)
    assert not has_gold([near], [], every=True)


def test_half_of_the_shorter_is_enough_and_less_is_not() -> None:
    assert has_gold([passage(10, 60)], [place(0, 20)], every=False)
    assert not has_gold([passage(11, 60)], [place(0, 20)], every=False)
    assert has_gold([passage(5, 15)], [place(0, 200)], every=False)
    assert not has_gold(
        [passage(0, 20, DocumentId("2.md"))], [place(0, 20)], every=False
    )


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
written_words = words.map(str.strip).filter(bool)
golds = st.lists(st.builds(GoldQuote, words, words), max_size=3).map(tuple)


@given(
    st.lists(
        st.builds(
            EvalQuestion,
            id=written_words,
            text=written_words,
            gold=golds,
            every=st.booleans(),
            as_of=st.just("") | written_words,
            kind=st.sampled_from(
                [kind for kind in QuestionKind if kind != QuestionKind.UNANSWERABLE]
            ),
            answer=st.just("") | written_words,
            spoilers=golds,
            made=written_words,
            dropped=st.booleans(),
        ),
        max_size=4,
    )
)
def test_what_is_written_is_read_again(questions: list[EvalQuestion]) -> None:
    assert parse_questions(serialize_questions(questions), "q.jsonl") == questions
