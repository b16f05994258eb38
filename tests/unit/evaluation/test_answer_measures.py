from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.models import GroundedAnswer
from lrwr.pipeline.evaluation.answer_measures import (
    citation_precision,
    citation_recall,
    compute_answer_figures,
    resolved_citation_share,
    spoiler_leak,
    verbatim_quote_share,
    word_overlap,
)
from lrwr.pipeline.evaluation.outcomes import ContextPiece
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    GoldQuote,
    QuestionKind,
    find_quote_places,
)

ONE = DocumentId("chapters/01.md")
LAMP = "Nell Tallow lit the lamp before the third bell."
EELS = "“I counted them twice,” said OchraMags."
GATE = "The sluice gate was grey."
TEXT = "\n\n".join((LAMP, EELS, GATE))
ASKED = EvalQuestion(
    "1",
    "Who lit the lamp?",
    (GoldQuote(ONE, LAMP),),
    kind=QuestionKind.FACT,
    answer="Nell did.",
)
OPEN = EvalQuestion("2", "Who rows the ferry?", (), kind=QuestionKind.UNANSWERABLE)
GOLD = [find_quote_places(LAMP, ONE, TEXT)]
SEVERAL = [*GOLD, find_quote_places(GATE, ONE, TEXT)]


def text_of(document: DocumentId) -> str | None:
    return TEXT if document == ONE else None


def cites(*texts: str) -> tuple[Citation, ...]:
    return tuple(
        Citation(number, ONE, Span(at, at + len(text)), LineRange(1, 1), text, 1)
        for number, text in enumerate(texts, start=1)
        if (at := TEXT.index(text)) >= 0
    )


def says(
    text: str, *cited: str, gap: bool = False, doubts: bool = False
) -> GroundedAnswer:
    contexts = (LAMP, EELS)
    return GroundedAnswer(
        text, cites(*cited), contexts, gap, seconds=2.0, doubts=doubts
    )


def figures(
    answered: GroundedAnswer, question: EvalQuestion = ASKED
) -> dict[str, float]:
    gold: Sequence[Sequence[AnswerPlace]] = GOLD if question.answerable else []
    return compute_answer_figures(answered, question, gold, text_of=text_of, late=None)


def test_a_good_answer_has_good_figures() -> None:
    assert figures(says("Nell did [1].", LAMP)) == {
        "seconds": 2.0,
        "tokens": 0.0,
        "gap": 0.0,
        "doubted": 0.0,
        "false_gap": 0.0,
        "resolved": 1.0,
        "citation_precision": 1.0,
        "citation_recall": 1.0,
        "word_overlap": 1.0,
    }


def test_an_inventing_answer_is_exposed() -> None:
    made_up = Citation(9, DocumentId(""), Span(0, 0), LineRange(0, 0), "", None)
    answered = replace(
        says("“The ferry is rowed by Corin Vale” [9].", LAMP),
        citations=(*cites(LAMP), made_up),
    )
    found = figures(answered, OPEN)
    assert (found["invented"], found["gap"]) == (1.0, 0.0)
    assert (found["resolved"], found["quotes"]) == (0.5, 0.0)
    assert "false_gap" not in found
    assert "citation_recall" not in found


def test_a_gap_is_right_where_the_text_is_silent_and_false_where_it_is_not() -> None:
    silent = says("The text does not tell.", gap=True)
    assert figures(silent, OPEN)["invented"] == 0.0
    assert figures(silent, OPEN)["gap"] == 1.0
    assert figures(silent)["false_gap"] == 1.0
    assert figures(silent)["citation_recall"] == 0.0
    assert "citation_precision" not in figures(silent)


def test_an_answer_that_warns_is_neither_a_gap_nor_invented() -> None:
    warned = says("“I counted them twice,” [1]", EELS, doubts=True)
    found = figures(warned, OPEN)
    assert (found["invented"], found["gap"], found["doubted"]) == (0.0, 0.0, 1.0)


def test_what_an_answer_takes_is_told_where_it_is_known() -> None:
    answered = replace(says("a"), usage=Usage(1, 300, 40), price=0.25)
    found = figures(answered)
    assert (found["tokens"], found["dollars"]) == (340.0, 0.25)
    assert "dollars" not in figures(says("a"))


def test_a_citation_resolves_only_where_its_very_words_stand() -> None:
    (right,) = cites(LAMP)
    moved = replace(right, span=Span(1, 1 + len(LAMP)))
    edited = replace(right, text=LAMP.upper())
    elsewhere = replace(right, document=DocumentId("chapters/02.md"))
    assert resolved_citation_share([right], text_of) == 1.0
    assert resolved_citation_share([right, moved, edited, elsewhere], text_of) == 0.25
    assert resolved_citation_share([], text_of) is None


def test_precision_and_recall_of_citations_are_of_passages_and_of_quotes() -> None:
    both = cites(LAMP, EELS)
    assert citation_precision(both, GOLD) == 0.5
    assert citation_recall(both, GOLD, every=False) == 1.0
    assert citation_recall(both, SEVERAL, every=True) == 0.5
    assert citation_recall(both, SEVERAL, every=False) == 1.0
    assert citation_recall((), SEVERAL, every=False) == 0.0
    assert citation_recall(both, (), every=True) is None
    assert citation_precision((), GOLD) is None


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("She says “I counted them twice,” [1].", 1.0),
        ('She says "I counted  them twice".', 1.0),
        ("“nell tallow lit the lamp …”", 1.0),
        ("“Nell Tallow lit … the third bell.”", 1.0),
        ("“Nell Tallow lit the lamp [1] before the third bell.”", 1.0),
        ("“Nell Tallow lit the lantern before the third bell.”", 0.0),
        ("“Nell Tallow lit … the fourth bell.”", 0.0),
        ("“I counted them twice” and “she sold every one of them”", 0.5),
        ("“tin grey” is no quotation", None),
        ("Nothing is quoted.", None),
        ("", None),
    ],
)
def test_a_quotation_must_stand_word_for_word(answer: str, share: float | None) -> None:
    assert verbatim_quote_share(answer, [LAMP, EELS]) == share


def test_words_that_must_not_be_told_yet_are_a_leak() -> None:
    bounded = replace(ASKED, as_of="ch1", spoilers=(GoldQuote(ONE, "the third bell"),))
    assert spoiler_leak(says("Nell, before the third bell."), bounded, None) == 1.0
    assert spoiler_leak(says("Nell did."), bounded, None) == 0.0
    assert spoiler_leak(says("Nell did."), ASKED, None) is None


def test_citing_what_comes_later_is_a_leak() -> None:
    def late(piece: ContextPiece) -> bool:
        return piece.span.start >= TEXT.index(EELS)

    assert spoiler_leak(says("[1]", EELS), ASKED, late) == 1.0
    assert spoiler_leak(says("[1]", LAMP), ASKED, late) == 0.0


@pytest.mark.parametrize(
    ("answer", "reference", "share"),
    [
        ("Nell did [1].", "Nell did.", 1.0),
        ("The keeper, Nell", "A keeper; nell's", 1.0),
        ("Nell", "OchraMags", 0.0),
        ("Nell lit the lamp", "Nell", 0.5),
        ("", "Nell", 0.0),
        ("Nell", "", None),
        ("Nell", "…", None),
    ],
)
def test_word_overlap_is_the_f1_of_words(
    answer: str, reference: str, share: float | None
) -> None:
    assert word_overlap(answer, reference) == share


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_share_lies_between_nothing_and_all(answer: str, other: str) -> None:
    for share in (word_overlap(answer, other), verbatim_quote_share(answer, [other])):
        assert share is None or 0.0 <= share <= 1.0


@given(st.text(alphabet="Nel lit the.,’—…", max_size=80))
def test_what_is_given_in_full_is_quoted_truly(text: str) -> None:
    assert verbatim_quote_share(f"“{text}”", [text]) in (None, 1.0)
