"""What arms give: verbatim, within the horizon, each step one thing more."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, NotFound, ServiceUnavailable
from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Reranker, SentenceRating
from lrwr.core.ports.stores import DocumentVersion
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.pipeline.evaluation.outcomes import (
    RetrievedContext,
    choose_token_counter,
    estimate_token_counts,
)
from lrwr.pipeline.evaluation.questions import EvalQuestion, GoldQuote
from lrwr.pipeline.evaluation.search_measures import RANKED, SpanMeasure
from lrwr.pipeline.evaluation.variants import (
    VARIANT_A,
    VARIANT_B,
    IndexedLibrary,
    LibraryFingerprint,
    SearchArm,
    SearchVariant,
    WholeTextArm,
    check_pipelines_comparable,
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
UNRANKED = replace(VARIANT_B, rerank=False)
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
    step: SearchVariant = UNRANKED,
    *,
    reranker: Reranker | None = None,
) -> SearchArm:
    finder = desk.finder(reranker=reranker)
    return SearchArm(step, finder, await shelf_of(desk), 20, "recipe")


async def figures(
    desk: StoryDesk, question: EvalQuestion, given: RetrievedContext
) -> dict[str, float]:
    measure = SpanMeasure(await shelf_of(desk), (20, 200))
    found, failed = await measure.measure(question, await arm_of(desk), given)
    assert failed == {}
    assert set(found) == set(measure.figure_names(question, "B"))
    return dict(found)


@dataclass(frozen=True, slots=True)
class Leaking:
    """An arm that pays no heed to where a question is asked."""

    arm: SearchArm
    name: str = "leaking"
    description: str = "Looks beyond the horizon."
    recipe: str = "leaking"

    async def retrieve(self, question: EvalQuestion) -> RetrievedContext:
        return await self.arm.retrieve(replace(question, as_of=""))


class Away:
    """A reranker that does not answer."""

    name = "away"

    async def rerank(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash] = ()
    ) -> list[float]:
        raise ServiceUnavailable("It is away.")

    async def rate_sentences(
        self, question: str, passages: Sequence[str], stored: Sequence[TextHash]
    ) -> list[list[SentenceRating]]:
        """Return no ratings."""
        del question, stored
        return [[] for _ in passages]


async def test_what_an_arm_gives_stands_there_and_has_tokens_of_its_own(
    desk: StoryDesk,
) -> None:
    given = await (await arm_of(desk)).retrieve(LAMP)
    assert {piece.document for piece in given.pieces} == set(CHAPTERS)
    for piece in given.pieces:
        kept = await desk.library.passages.text(piece.document)
        assert kept.text[piece.span.start : piece.span.end] == piece.text
        assert [piece.tokens] == count_words([piece.text])
    assert given.seconds == 0.25


async def test_an_arm_sees_nothing_from_after_the_question(desk: StoryDesk) -> None:
    given = await (await arm_of(desk)).retrieve(EARLY)
    assert {piece.document for piece in given.pieces} == {ONE}
    assert (await figures(desk, EARLY, given))["leak"] == 0.0


async def test_an_arm_that_looks_beyond_the_horizon_is_found_out(
    desk: StoryDesk,
) -> None:
    given = await Leaking(await arm_of(desk)).retrieve(EARLY)
    assert (await figures(desk, EARLY, given))["leak"] == 1.0


async def test_where_nothing_can_leak_there_is_no_such_figure(desk: StoryDesk) -> None:
    given = await (await arm_of(desk)).retrieve(LAMP)
    assert "leak" not in await figures(desk, LAMP, given)


async def test_a_question_that_the_text_does_not_answer_has_no_recall(
    desk: StoryDesk,
) -> None:
    question = EvalQuestion("x", "Who took the lamp to the sea?", ())
    given = await (await arm_of(desk)).retrieve(question)
    assert set(await figures(desk, question, given)) == {"seconds", "tokens"}


async def test_a_place_that_the_story_does_not_have_is_told(desk: StoryDesk) -> None:
    with pytest.raises(NotFound, match="no chapter 9"):
        await (await arm_of(desk)).retrieve(replace(LAMP, as_of="ch9"))


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        (GoldQuote(ONE, "Nobody lit it."), "does not occur"),
        (GoldQuote("chapters/3.md", "Nell"), "no document"),
        (GoldQuote("gone.md", "Nell"), "no document"),
    ],
)
async def test_a_quote_that_stands_nowhere_is_told(
    desk: StoryDesk, gold: GoldQuote, why: str
) -> None:
    measure = SpanMeasure(await shelf_of(desk), (20,))
    arm, question = await arm_of(desk), replace(LAMP, gold=(gold,))
    with pytest.raises(NotFound, match=why):
        await measure.measure(question, arm, await arm.retrieve(question))


async def test_a_search_that_went_only_in_part_is_no_result_of_the_arm(
    desk: StoryDesk,
) -> None:
    arm = await arm_of(desk, VARIANT_B, reranker=Away())
    with pytest.raises(ServiceUnavailable, match="It is away"):
        await arm.retrieve(LAMP)


async def test_the_whole_text_is_told_in_the_order_of_the_story(
    desk: StoryDesk,
) -> None:
    arm = WholeTextArm(await shelf_of(desk))
    given = await arm.retrieve(LAMP)
    assert list(dict.fromkeys(piece.document for piece in given.pieces)) == [
        ONE,
        TWO,
        NOTE,
    ]
    assert await arm.tokens() == sum(piece.tokens for piece in given.pieces)
    early = await arm.retrieve(EARLY)
    assert {piece.document for piece in early.pieces} == {ONE}


async def test_the_whole_text_has_no_ranks_and_no_budget_that_it_does_not_fit(
    desk: StoryDesk,
) -> None:
    indexed_library = await shelf_of(desk)
    arm = WholeTextArm(indexed_library)
    measure = SpanMeasure(indexed_library, (5, 500))
    found, _ = await measure.measure(LAMP, arm, await arm.retrieve(LAMP))
    assert found["recall@500"] == 1.0
    assert not {"recall@5", *RANKED} & found.keys()


def test_headline_arms_are_looked_at_a_second_time_alike() -> None:
    assert VARIANT_A.rerank
    assert VARIANT_B.rerank
    assert VARIANT_A.dense
    assert not VARIANT_A.lexical


def test_without_embeddings_arms_go_by_words_and_say_so() -> None:
    variants, remarks = select_possible_variants(
        (VARIANT_A, VARIANT_B), embeds=False, reranks=False
    )
    assert [variant.name for variant in variants] == ["A", "B"]
    assert all(v.lexical and not v.dense and not v.rerank for v in variants)
    assert "Embeddings are off" in variants[0].description
    assert remarks == ("Embeddings are off: every arm searches by words only.",)


def test_without_reranking_no_arm_has_it() -> None:
    variants, remarks = select_possible_variants(
        (VARIANT_A, VARIANT_B), embeds=True, reranks=False
    )
    assert not any(variant.rerank for variant in variants)
    assert remarks == ("Reranking is off in every arm.",)
    assert select_possible_variants(
        (VARIANT_A, VARIANT_B), embeds=True, reranks=True
    ) == (
        (VARIANT_A, VARIANT_B),
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
    with pytest.raises(LrwrError, match="has changed between"):
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
    assert made.recipe(replace(VARIANT_B, name="other"), (1.0, 0.5)) == b
    without_look = LibraryFingerprint(both, (), "e", "", 20, 100)
    assert without_look.recipe(VARIANT_A, (1.0,)) != a
    assert without_look.recipe(replace(VARIANT_A, rerank=False), (1.0,)) == made.recipe(
        replace(VARIANT_A, rerank=False), (1.0,)
    )
    changed = LibraryFingerprint(
        {p: [seen("1", "d")] for p in both}, (), "e", "r", 20, 100
    )
    decided = LibraryFingerprint(both, (), "e", "r", 20, 100, canon=b"x")
    assert len({one.library() for one in (made, changed, decided)}) == 3


def test_a_recipe_hashes_the_values_of_facts_and_no_class_names() -> None:
    fact = Fact(
        FactAbout.CHARACTER, "Nell", "attribute", "grey", (Span(0, 4),), "rules",
        Certainty.VERIFIED,
    )  # fmt: skip
    facts = (DocumentFact(DocumentId("1.md"), fact),)
    known = LibraryFingerprint({Pipeline.AGENTIC: [seen("1")]}, facts, "e", "r", 20, 9)
    assert "known 7c7dbc1495c0bcd9" in known.recipe(VARIANT_B, (1.0,))


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
