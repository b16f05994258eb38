"""What arms give: verbatim, within the horizon, each step one thing more."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, ServiceUnavailable
from lrwr.core.ports.models import Reranker
from lrwr.core.ports.stores import DocumentVersion
from lrwr.pipeline.evaluation.fingerprint import (
    LibraryFingerprint,
    check_pipelines_comparable,
)
from lrwr.pipeline.evaluation.gold_spans import RANKED, SpanMeasure
from lrwr.pipeline.evaluation.outcomes import RetrievedContext
from lrwr.pipeline.evaluation.questions import EvalQuestion, GoldQuote
from lrwr.pipeline.evaluation.tokens import choose_token_counter, estimate_token_counts
from lrwr.pipeline.evaluation.variants import (
    VARIANT_A,
    VARIANT_B,
    VARIANT_LADDER,
    IndexedLibrary,
    SearchArm,
    SearchedColumns,
    SearchVariant,
    WholeTextArm,
    select_possible_variants,
)
from tests.fakes.embedder import count_words
from tests.fakes.story_desks import StoryDesk, a_story_desk

ONE, TWO, NOTE = "chapters/1.md", "chapters/2.md", "characters/nell.md"
CHAPTERS = {
    ONE: "# One\n\nNell Tallow lit the lamp. Corin Vale watched the lamp burn.\n",
    TWO: "# Two\n\nCorin Vale broke the lamp. Nell Tallow’s eyes were grey.\n",
    NOTE: "# Nell Tallow\n\nNell keeps the lamp.\n",
}
LAMP = EvalQuestion(
    "lamp", "Who lit the lamp?", (GoldQuote(ONE, "Nell Tallow lit the lamp."),)
)
EARLY = replace(LAMP, as_of="ch1")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_story_desk(tmp_path) as opened:
        for name, text in CHAPTERS.items():
            opened.write(name, text)
        await opened.ingest()
        yield opened


async def shelf_of(desk: StoryDesk) -> IndexedLibrary:
    ticks = iter(range(10_000))
    order = await desk.finder().story_order()
    return IndexedLibrary(
        desk.library.passages, order, count_words, lambda: next(ticks) / 4
    )


async def arm_of(
    desk: StoryDesk,
    step: SearchVariant = VARIANT_LADDER[6],
    *,
    reranker: Reranker | None = None,
) -> SearchArm:
    finder = desk.finder(reranker=reranker)
    return SearchArm(step, finder, await shelf_of(desk), 20, "recipe")


async def figures(
    desk: StoryDesk, question: EvalQuestion, given: RetrievedContext
) -> dict[str, float]:
    measure = SpanMeasure(await shelf_of(desk), (20, 200))
    found, failed = await measure.figures(question, await arm_of(desk), given)
    assert failed == {}
    assert set(found) == set(measure.gives(question, "+ boosts"))
    return dict(found)


@dataclass(frozen=True, slots=True)
class Leaking:
    """An arm that pays no heed to where a question is asked."""

    arm: SearchArm
    name: str = "leaking"
    told: str = "Looks beyond the horizon."
    recipe: str = "leaking"

    async def give(self, question: EvalQuestion) -> RetrievedContext:
        return await self.arm.give(replace(question, as_of=""))


class Away:
    """A reranker that does not answer."""

    name = "away"

    async def rerank(self, question: str, passages: Sequence[str]) -> list[float]:
        raise ServiceUnavailable("It is away.")


async def test_what_an_arm_gives_stands_there_and_has_tokens_of_its_own(
    desk: StoryDesk,
) -> None:
    given = await (await arm_of(desk)).give(LAMP)
    assert {piece.document for piece in given.pieces} == set(CHAPTERS)
    for piece in given.pieces:
        kept = await desk.library.passages.text(piece.document)
        assert kept.text[piece.span.start : piece.span.end] == piece.text
        assert [piece.tokens] == count_words([piece.text])
    assert given.seconds == 0.25


async def test_an_arm_sees_nothing_from_after_the_question(desk: StoryDesk) -> None:
    given = await (await arm_of(desk)).give(EARLY)
    assert {piece.document for piece in given.pieces} == {ONE}
    assert (await figures(desk, EARLY, given))["leak"] == 0.0


async def test_an_arm_that_looks_beyond_the_horizon_is_found_out(
    desk: StoryDesk,
) -> None:
    given = await Leaking(await arm_of(desk)).give(EARLY)
    assert (await figures(desk, EARLY, given))["leak"] == 1.0


async def test_where_nothing_can_leak_there_is_no_such_figure(desk: StoryDesk) -> None:
    given = await (await arm_of(desk)).give(LAMP)
    assert "leak" not in await figures(desk, LAMP, given)


async def test_a_question_that_the_text_does_not_answer_has_no_recall(
    desk: StoryDesk,
) -> None:
    question = EvalQuestion("x", "Who took the lamp to the sea?", ())
    given = await (await arm_of(desk)).give(question)
    assert set(await figures(desk, question, given)) == {"seconds", "tokens"}


async def test_a_place_that_the_story_does_not_have_is_told(desk: StoryDesk) -> None:
    with pytest.raises(NotFound, match="no chapter 9"):
        await (await arm_of(desk)).give(replace(LAMP, as_of="ch9"))


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        (GoldQuote(ONE, "Nobody lit it."), "does not stand"),
        (GoldQuote("chapters/3.md", "Nell"), "No document"),
        (GoldQuote("gone.md", "Nell"), "No document"),
    ],
)
async def test_a_quote_that_stands_nowhere_is_told(
    desk: StoryDesk, gold: GoldQuote, why: str
) -> None:
    measure = SpanMeasure(await shelf_of(desk), (20,))
    arm, question = await arm_of(desk), replace(LAMP, gold=(gold,))
    with pytest.raises(NotFound, match=why):
        await measure.figures(question, arm, await arm.give(question))


async def test_a_search_that_went_only_in_part_is_no_result_of_the_arm(
    desk: StoryDesk,
) -> None:
    arm = await arm_of(desk, VARIANT_B, reranker=Away())
    with pytest.raises(ServiceUnavailable, match="It is away"):
        await arm.give(LAMP)


async def test_what_is_known_comes_first_each_stretch_once(desk: StoryDesk) -> None:
    step = replace(VARIANT_LADDER[-1], rerank=False)
    question = EvalQuestion("eyes", "What colour are Nell Tallow’s eyes?", ())
    with_facts = (await (await arm_of(desk, step)).give(question)).pieces
    plain = (await (await arm_of(desk)).give(question)).pieces
    known = with_facts[: len(with_facts) - len(plain)]
    assert with_facts[len(known) :] == plain
    assert any("grey" in piece.text for piece in known)
    assert len({(one.document, one.span) for one in known}) == len(known)
    early = (
        await (await arm_of(desk, step)).give(replace(question, as_of="ch1"))
    ).pieces
    assert not any("grey" in piece.text for piece in early)


async def test_the_whole_text_is_told_in_the_order_of_the_story(
    desk: StoryDesk,
) -> None:
    arm = WholeTextArm(await shelf_of(desk))
    given = await arm.give(LAMP)
    assert list(dict.fromkeys(piece.document for piece in given.pieces)) == [
        ONE,
        TWO,
        NOTE,
    ]
    assert await arm.tokens() == sum(piece.tokens for piece in given.pieces)
    early = await arm.give(EARLY)
    assert {piece.document for piece in early.pieces} == {ONE}


async def test_the_whole_text_has_no_ranks_and_no_budget_that_it_does_not_fit(
    desk: StoryDesk,
) -> None:
    shelf = await shelf_of(desk)
    arm = WholeTextArm(shelf)
    measure = SpanMeasure(shelf, (5, 500))
    found, _ = await measure.figures(LAMP, arm, await arm.give(LAMP))
    assert found["recall@500"] == 1.0
    assert not {"recall@5", *RANKED} & found.keys()


def test_each_step_of_the_ladder_does_one_thing_more() -> None:
    def told(step: SearchVariant) -> set[str]:
        switches = ("lexical", "dense", "names", "boosts", "rerank", "facts")
        done = {one for one in switches if getattr(step, one)}
        columns = {
            f"{c}"
            for c in list(SearchedColumns)[
                : list(SearchedColumns).index(step.columns) + 1
            ]
        }
        of_b = step.pipeline is Pipeline.AGENTIC
        return done | (columns | {"b"} if of_b else {SearchedColumns.TEXT})

    for lower, upper in pairwise(VARIANT_LADDER):
        assert told(lower) < told(upper)
        assert len(told(upper) - told(lower)) == 1
    assert VARIANT_LADDER[7].way == VARIANT_B.way
    assert (
        len({step.name for step in (VARIANT_A, VARIANT_B, *VARIANT_LADDER)})
        == len(VARIANT_LADDER) + 2
    )


def test_headline_arms_are_looked_at_a_second_time_alike() -> None:
    assert VARIANT_A.rerank
    assert VARIANT_B.rerank
    assert VARIANT_A.dense
    assert not VARIANT_A.lexical


def test_without_embeddings_arms_go_by_words_and_say_so() -> None:
    steps, remarks = select_possible_variants(
        (VARIANT_A, VARIANT_B, *VARIANT_LADDER), embeds=False, reranks=False
    )
    assert all(s.lexical and not s.dense and not s.rerank for s in steps)
    assert "Embeddings are off" in steps[0].told
    assert [step.name for step in steps] == [
        "A", "B", "a + words", "b's passages", "+ headings", "+ people", "+ names",
        "+ boosts", "+ what is known",
    ]  # fmt: skip
    assert remarks == (
        "Embeddings are off: every arm searches by words alone.",
        "Left out, being no more than the step before: a: by meaning, + second look.",
    )


def test_without_a_second_look_only_that_step_is_left_out() -> None:
    steps, remarks = select_possible_variants(
        (VARIANT_A, VARIANT_B, *VARIANT_LADDER), embeds=True, reranks=False
    )
    assert {step.name for step in VARIANT_LADDER} - {s.name for s in steps} == {
        "+ second look"
    }
    assert remarks[0] == "The second look is off: no arm has it."
    assert select_possible_variants(VARIANT_LADDER, embeds=True, reranks=True) == (
        VARIANT_LADDER,
        (),
    )


def seen(name: str, content: str = "c", recipe: str = "r") -> DocumentVersion:
    return DocumentVersion(DocumentId(name), "rev", content, recipe)


def test_pipelines_are_compared_only_where_they_have_read_the_same() -> None:
    check_pipelines_comparable(
        {Pipeline.NAIVE: [seen("1")], Pipeline.AGENTIC: [seen("1", recipe="s")]}
    )
    with pytest.raises(NotFound) as caught:
        check_pipelines_comparable({Pipeline.AGENTIC: [seen("1")], Pipeline.NAIVE: []})
    assert "lrwr ingest --pipeline a" in caught.value.hint
    with pytest.raises(LrwrError, match="different states"):
        check_pipelines_comparable(
            {Pipeline.AGENTIC: [seen("1")], Pipeline.NAIVE: [seen("1", "d")]}
        )


def test_a_recipe_tells_what_results_depend_on_and_no_more() -> None:
    both = {Pipeline.NAIVE: [seen("1")], Pipeline.AGENTIC: [seen("1", recipe="s")]}
    made = LibraryFingerprint(both, (), "e", "r", 20, 100)
    a, b = made.recipe(VARIANT_A, (1.0,)), made.recipe(VARIANT_B, (1.0, 0.5))
    other = LibraryFingerprint(
        {**both, Pipeline.NAIVE: [seen("1", recipe="t")]}, (), "e", "r", 20, 100
    )
    assert other.library() == made.library()
    assert other.recipe(VARIANT_A, (1.0,)) != a
    assert other.recipe(VARIANT_B, (1.0, 0.5)) == b
    assert made.recipe(VARIANT_LADDER[7], (1.0, 0.5)) == b
    without_look = LibraryFingerprint(both, (), "e", "", 20, 100)
    assert without_look.recipe(VARIANT_A, (1.0,)) != a
    assert without_look.recipe(VARIANT_LADDER[0], (1.0,)) == made.recipe(
        VARIANT_LADDER[0], (1.0,)
    )
    changed = LibraryFingerprint(
        {p: [seen("1", "d")] for p in both}, (), "e", "r", 20, 100
    )
    decided = LibraryFingerprint(both, (), "e", "r", 20, 100, canon=b"x")
    assert len({one.library() for one in (made, changed, decided)}) == 3


def test_tokens_are_estimated_where_nothing_counts_them() -> None:
    def broken(texts: Sequence[str]) -> list[int]:
        raise ServiceUnavailable("There is no tokenizer")

    count, remarks = choose_token_counter(broken)
    assert count(["", "a" * 40]) == [1, 10] == estimate_token_counts(["", "a" * 40])
    assert "estimated" in remarks[0]


def test_no_text_is_counted_twice() -> None:
    asked: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        asked.extend(texts)
        return count_words(texts)

    remembered, remarks = choose_token_counter(count)
    assert remembered(["a b", "c", "a b"]) == [2, 1, 2]
    assert remembered(["c"]) == [1]
    assert (asked[1:], remarks) == (["a b", "c"], ())
