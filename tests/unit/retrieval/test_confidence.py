"""How likely the first passages are to hold the answer."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.choices import Pipeline
from lrwr.core.retrieval.confidence import (
    FIRST_PASSAGES,
    SHIPPED_CALIBRATIONS,
    SIGNAL_NAMES,
    Calibration,
    RankingSignals,
    SignalTerm,
    build_ranking_id,
    compute_score_lead,
    estimate_probability,
    logistic,
)
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.story_search import SearchFilters
from tests.fakes.desks import Desk
from tests.fakes.embedder import WordEmbedder
from tests.fakes.story_desks import StoryDesk
from tests.unit.retrieval.lamp import CHAPTERS
from tests.unit.retrieval.test_search import Backwards

NUMBERS = st.floats(-1e6, 1e6)
SHARES = st.floats(0, 1)
ROWS = st.lists(NUMBERS, min_size=len(SIGNAL_NAMES), max_size=len(SIGNAL_NAMES))
TERMS = st.lists(
    st.builds(
        SignalTerm,
        st.sampled_from(SIGNAL_NAMES),
        NUMBERS,
        NUMBERS,
        st.floats(1e-6, 1e6),
    ),
    max_size=8,
)


def model(*terms: SignalTerm, bias: float = 0.0, threshold: float = 0.5) -> Calibration:
    return Calibration(
        "off/words-32", Pipeline.AGENTIC, bias, terms, threshold, 80, 0.8, "a test"
    )


def signals(**given: float) -> RankingSignals:
    return dataclasses.replace(RankingSignals(*[0.0] * len(SIGNAL_NAMES)), **given)


def test_the_signals_are_named_in_order() -> None:
    assert (
        tuple(field.name for field in dataclasses.fields(RankingSignals))
        == SIGNAL_NAMES
    )
    assert RankingSignals(*range(len(SIGNAL_NAMES))).row == tuple(
        range(len(SIGNAL_NAMES))
    )


@given(ROWS, TERMS, NUMBERS)
def test_a_probability_lies_within_its_bounds(
    row: list[float], terms: list[SignalTerm], bias: float
) -> None:
    assert (
        0.0
        <= estimate_probability(RankingSignals(*row), model(*terms, bias=bias))
        <= 1.0
    )


@given(st.floats(allow_nan=False))
def test_a_logit_and_its_opposite_make_one(logit: float) -> None:
    assert math.isclose(logistic(logit) + logistic(-logit), 1.0)


@given(
    st.sampled_from(sorted(SHIPPED_CALIBRATIONS)),
    SHARES,
    SHARES,
    st.sampled_from(SIGNAL_NAMES),
)
def test_no_shipped_model_trusts_a_stronger_signal_less(
    key: tuple[str, Pipeline], one: float, other: float, signal: str
) -> None:
    weak, strong = sorted((one, other))
    known = SHIPPED_CALIBRATIONS[key]
    lower = estimate_probability(signals(**{signal: weak}), known)
    assert lower <= estimate_probability(signals(**{signal: strong}), known)


def test_a_signal_counts_no_more_however_far_it_is() -> None:
    known = model(SignalTerm("top", 1.0, 0.5, 0.1))
    assert estimate_probability(signals(top=1.0), known) == estimate_probability(
        signals(top=9.0), known
    )


@pytest.mark.parametrize("key", sorted(SHIPPED_CALIBRATIONS))
def test_what_is_shipped_says_whose_it_is_and_where_it_comes_from(
    key: tuple[str, Pipeline],
) -> None:
    one = SHIPPED_CALIBRATIONS[key]
    assert (one.ranking, one.pipeline) == key
    assert 0.0 < one.threshold < 0.5
    assert 0.5 < one.auroc < 1.0
    assert one.questions >= 200
    assert "bench" in one.source
    assert {term.signal for term in one.terms} <= set(SIGNAL_NAMES)
    assert all(term.weight >= 0 and term.scale > 0 for term in one.terms)


def test_every_way_a_search_goes_by_default_has_a_model() -> None:
    rankings = {ranking.partition("/")[0] for ranking, _ in SHIPPED_CALIBRATIONS}
    assert rankings >= {"late-interaction", "off"}


@pytest.mark.parametrize(
    ("scores", "far"),
    [([], 0.0), ([3.0], 0.0), ([1.0, 4.0], 3.0), ([9, 8, 7, 6, 5, 0], 4.0)],
)
def test_the_margin_is_from_the_best_to_the_fifth(
    scores: list[float], far: float
) -> None:
    assert compute_score_lead(scores) == far


def test_a_ranking_is_named_by_who_looked_last() -> None:
    assert build_ranking_id(reranker="r/s", is_people_ranking=False, space="s") == "r/s"
    assert build_ranking_id(reranker="", is_people_ranking=False, space="s") == "off/s"
    assert (
        build_ranking_id(reranker="", is_people_ranking=False, space="") == "off/words"
    )
    assert (
        build_ranking_id(reranker="", is_people_ranking=True, space="s") == "people/s"
    )


@pytest.fixture
async def book(story: StoryDesk) -> StoryDesk:
    for name, text in CHAPTERS.items():
        story.write(name, text)
    await story.ingest()
    return story


def request(desk: Desk, question: str, **changes: object) -> SearchRequest:
    made = SearchRequest(question, desk.pipeline, 8)
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


async def test_a_search_is_judged_by_what_is_known_of_its_ranking(
    book: StoryDesk,
) -> None:
    asked = request(book, "lamp all that night rain")
    unknown = (await book.finder().find(asked)).judgement
    assert unknown is not None and unknown.signals is not None
    assert (unknown.ranking, unknown.confidence) == ("off/words-32", None)
    assert unknown.signals.covered == unknown.signals.covered_together == 1.0

    known = model(SignalTerm("covered", 2.0, 0.5, 0.5))
    finder = book.finder(calibrations={("off/words-32", book.pipeline): known})
    sure = await finder.find(asked)
    assert sure.confidence == pytest.approx(logistic(2.0))
    assert sure.low_confidence is False
    assert sure.passages == (await book.finder().find(asked)).passages
    unsure = await finder.find(request(book, "marzipan, griffins and a lamp"))
    assert unsure.low_confidence is True


async def test_signals_do_not_depend_on_how_many_passages_are_wanted(
    book: StoryDesk,
) -> None:
    finder = book.finder()
    judged = [
        (await finder.find(request(book, "Whose lamp is it?", limit=limit))).judgement
        for limit in (1, FIRST_PASSAGES, 50)
    ]
    assert judged[0] == judged[1] == judged[2]


async def test_a_reranker_is_judged_by_its_own_scores(book: StoryDesk) -> None:
    finder = book.finder(reranker=Backwards(), candidates=3)
    judged = (await finder.find(request(book, "the lamp at night"))).judgement
    assert judged is not None and judged.signals is not None
    assert judged.ranking == "backwards/words-32"
    assert judged.signals.top == 2.0


async def test_a_reranker_that_is_away_judges_nothing(book: StoryDesk) -> None:
    finder = book.finder(reranker=Backwards(away=True))
    judged = (await finder.find(request(book, "the lamp at night"))).judgement
    assert judged is not None
    assert judged.ranking == "off/words-32"


async def test_a_question_about_who_says_what_is_a_ranking_of_its_own(
    book: StoryDesk,
) -> None:
    asked = request(book, "What does Orla Finch say to Nell Tallow?")
    judged = (await book.finder(reranker=Backwards()).find(asked)).judgement
    assert judged is not None and judged.signals is not None
    assert judged.ranking == "people/words-32"
    assert judged.signals.named == 1.0


@pytest.mark.parametrize(
    "changes",
    [
        {"lexical": False},
        {"dense": False},
        {"filters": SearchFilters(frozenset({"Nell"}))},
    ],
)
async def test_one_way_alone_and_filtered_passages_are_not_judged(
    book: StoryDesk, changes: dict[str, object]
) -> None:
    result = await book.finder().find(request(book, "the lamp", **changes))
    assert result.passages
    assert result.judgement is None
    assert (result.confidence, result.low_confidence) == (None, None)


async def test_what_finds_nothing_holds_no_answer(desk: Desk) -> None:
    result = await desk.finder().find(request(desk, "lamp"))
    assert (result.confidence, result.low_confidence) == (0.0, True)


async def test_without_an_embedder_words_are_judged_as_words(book: StoryDesk) -> None:
    book.embedder = None
    judged = (await book.finder().find(request(book, "the lamp"))).judgement
    assert judged is not None
    assert judged.ranking == "off/words"


async def test_words_are_not_judged_if_the_embedder_is_away(book: StoryDesk) -> None:
    finder = book.finder(embedder=WordEmbedder(patience=0))
    for question in ("the lamp", "a bicycle"):
        result = await finder.find(request(book, question))
        assert (result.judgement, result.by_words_only) == (None, True)
