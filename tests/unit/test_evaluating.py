"""Arms and answers over a real library: both pipelines, and the writer left alone."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.evaluation import (
    ArmSet,
    create_eval_lock,
    load_eval_material,
    open_answerer,
    open_arms,
    open_eval_finders,
)
from lrwr.app.ingestion import create_processing_service
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem
from lrwr.core.settings.loader import load_settings
from lrwr.pipeline.evaluation.questions import EvalQuestion, GoldQuote
from lrwr.pipeline.evaluation.runner import EvalRunner, RunSetup, build_eval_plan
from lrwr.pipeline.evaluation.runs import (
    load_latest_eval_run,
    locate_evaluations_folder,
)
from lrwr.pipeline.evaluation.search_measures import SpanMeasure
from lrwr.pipeline.evaluation.variants import (
    VARIANT_A,
    VARIANT_B,
    WHOLE_TEXT_NAME,
    SearchArm,
)

BOOK = {
    "chapters/1.md": "# One\n\nNell Tallow lit the lamp. “It smokes,” said Nell.\n",
    "chapters/2.md": "# Two\n\nCorin Vale broke the lamp. Nell Tallow’s eyes were grey.\n",
    "chapters/3.md": "# Three\n\nMrs. Gannet mended the lamp with a spoon and thread.\n",
    "characters/nell.md": "# Nell Tallow\n\nNell keeps the lamp.\n",
}
BOTH = (Pipeline.AGENTIC, Pipeline.NAIVE)
QUESTIONS = [
    EvalQuestion(
        "q1", "Who lit the lamp?", (GoldQuote("chapters/1.md", "Nell Tallow lit"),)
    ),
    EvalQuestion(
        "q2",
        "What happened to the lamp?",
        (GoldQuote("chapters/1.md", "“It smokes,”"),),
        as_of="ch1",
    ),
    EvalQuestion("q3", "Who sold the boat?", ()),
]
ALL = (VARIANT_A, VARIANT_B)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in BOOK.items():
        path = tmp_path / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "book"


@asynccontextmanager
async def services_of(
    folder: Path, *, embedding: str = "off"
) -> AsyncIterator[Workspace]:
    env = {"LRWR_EMBEDDING_MODEL": embedding, "HOME": str(folder.parent / "home")}
    async with open_workspace(load_settings(folder, env, {})) as workspace:
        yield workspace


async def ingest(folder: Path, *pipelines: Pipeline, embedding: str = "off") -> None:
    async with services_of(folder, embedding=embedding) as found:
        for pipeline in pipelines:
            settings = replace(found.settings, pipeline=pipeline)
            async with open_workspace(settings) as workspace:
                await create_processing_service(workspace, [folder]).process(
                    lambda event: None
                )


async def evaluated(workspace: Workspace, opened: ArmSet) -> None:
    means = RunSetup(opened.arms, [SpanMeasure(opened.indexed_library, (50, 500))])
    plan = build_eval_plan(
        QUESTIONS, means, budgets=(50, 500), library=opened.library, lrwr="0"
    )
    place = locate_evaluations_folder(workspace.library)
    async with aclosing(EvalRunner(place, plan, means, lambda: 0.0).run()) as events:
        async for _ in events:
            pass


async def test_both_pipelines_must_have_read_the_manuscript(folder: Path) -> None:
    await ingest(folder, Pipeline.AGENTIC)
    async with services_of(folder) as workspace:
        with pytest.raises(
            NotFound, match="Nothing has been ingested with pipeline a"
        ) as caught:
            async with open_arms(workspace, (VARIANT_A, VARIANT_B), [500]):
                pass
        assert "lrwr ingest --pipeline a" in caught.value.hint
        async with open_arms(workspace, (VARIANT_B,), [500], whole=False) as opened:
            assert [arm.name for arm in opened.arms] == ["B"]


async def test_without_a_library_a_hint_says_what_to_do(folder: Path) -> None:
    async with services_of(folder) as workspace:
        with pytest.raises(NotFound) as caught:
            async with open_arms(workspace, (VARIANT_A, VARIANT_B), [500]):
                pass
        assert "lrwr ingest" in caught.value.hint
        assert not (folder / ".lrwr").exists()


async def test_pipelines_that_read_another_text_are_not_compared(folder: Path) -> None:
    await ingest(folder, *BOTH)
    (folder / "chapters/1.md").write_text("# One\n\nAll is new.\n", encoding="utf-8")
    await ingest(folder, Pipeline.AGENTIC)
    async with services_of(folder) as workspace:
        with pytest.raises(LrwrError, match="has changed between"):
            async with open_arms(workspace, (VARIANT_A, VARIANT_B), [500]):
                pass


async def test_every_arm_keeps_the_horizon_and_finds_what_answers(folder: Path) -> None:
    await ingest(folder, *BOTH)
    async with services_of(folder) as workspace:
        async with open_arms(workspace, ALL, [50, 500]) as opened:
            await evaluated(workspace, opened)
        run = load_latest_eval_run(locate_evaluations_folder(workspace.library))
    assert run.complete
    assert {o.arm for o in run.outcomes} == {arm.name for arm in opened.arms}
    assert all(not outcome.failed for outcome in run.outcomes)
    leaks = [o.figures["leak"] for o in run.outcomes if o.question == "q2"]
    assert leaks == [0.0] * len(opened.arms)
    found = [o for o in run.outcomes if o.question == "q1"]
    assert {o.figures["recall@500"] for o in found} == {1.0}


async def test_the_whole_text_is_there_where_it_fits_and_told_where_not(
    folder: Path,
) -> None:
    await ingest(folder, *BOTH)
    async with services_of(folder) as workspace:
        async with open_arms(workspace, (VARIANT_A, VARIANT_B), [50, 5000]) as opened:
            assert opened.arms[-1].name == WHOLE_TEXT_NAME
        async with open_arms(workspace, (VARIANT_A, VARIANT_B), [20]) as opened:
            assert WHOLE_TEXT_NAME not in {arm.name for arm in opened.arms}
            assert any(
                WHOLE_TEXT_NAME in one and "tokens" in one for one in opened.remarks
            )


async def test_arm_b_is_what_a_search_gives(folder: Path) -> None:
    await ingest(folder, *BOTH)
    async with services_of(folder) as workspace:
        async with open_arms(workspace, (VARIANT_B,), [500]) as opened:
            given = await opened.arms[0].retrieve(QUESTIONS[0])
        found = await workspace.finder().find(VARIANT_B.request(QUESTIONS[0].text, 20))
    wanted = [passage.chunk.span for passage in found.passages]
    assert [piece.span for piece in given.pieces] == wanted


async def test_with_embeddings_all_arms_are_there_and_share_one_second_look(
    folder: Path,
) -> None:
    await ingest(folder, *BOTH, embedding="local")
    async with (
        services_of(folder, embedding="local") as workspace,
        open_arms(workspace, ALL, [500], whole=False) as opened,
    ):
        assert [arm.name for arm in opened.arms] == [step.name for step in ALL]
        assert opened.remarks == ()
        a, b = opened.arms[:2]
        assert isinstance(a, SearchArm)
        assert isinstance(b, SearchArm)
        assert opened.models["the second look"] in a.recipe
        assert opened.models["the second look"] in b.recipe
        assert (await a.retrieve(QUESTIONS[0])).pieces
        by_name = {arm.name: arm.recipe for arm in opened.arms}
    assert len(set(by_name.values())) == len(ALL)


async def test_a_state_of_the_library_is_told_from_others(folder: Path) -> None:
    async def state() -> tuple[str, str]:
        async with (
            services_of(folder) as workspace,
            open_arms(workspace, (VARIANT_B,), [500]) as opened,
        ):
            return opened.library, opened.arms[0].recipe

    await ingest(folder, Pipeline.AGENTIC)
    first = await state()
    assert await state() == first
    copied = folder.parent / "copy"
    shutil.copytree(folder, copied, ignore=shutil.ignore_patterns(".lrwr"))
    await ingest(copied, Pipeline.AGENTIC)
    async with (
        services_of(copied) as workspace,
        open_arms(workspace, (VARIANT_B,), [500]) as opened,
    ):
        assert (opened.library, opened.arms[0].recipe) == first
    (folder / "chapters/3.md").write_text("# Three\n\nNo more.\n", encoding="utf-8")
    await ingest(folder, Pipeline.AGENTIC)
    second = await state()
    assert second[0] != first[0]
    (folder / "lrwr.canon.toml").write_text("# decided\n", encoding="utf-8")
    assert (await state())[0] != second[0]


async def test_an_answer_is_given_and_nothing_is_kept_of_it(folder: Path) -> None:
    await ingest(folder, *BOTH)
    async with services_of(folder) as workspace:
        for pipeline in BOTH:
            async with open_answerer(workspace, pipeline, model=False) as answerer:
                answered = await answerer.answer("Who mended the lamp?", "")
                early = await answerer.answer("Who mended the lamp?", "ch1")
            assert answerer.name == ""
            assert any("spoon" in one.text for one in answered.citations)
            assert answered.citations
            assert set(answered.contexts)
            assert "spoon" not in "".join([early.text, *early.contexts])
        assert await workspace.threads.threads() == []
        with pytest.raises(NotFound, match="no chapter 9"):
            async with open_answerer(workspace, Pipeline.AGENTIC) as answerer:
                await answerer.answer("Who?", "ch9")


async def test_no_question_of_a_file_decides_anything(folder: Path) -> None:
    await ingest(folder, Pipeline.AGENTIC)
    async with (
        services_of(folder) as workspace,
        open_answerer(workspace, Pipeline.AGENTIC) as answerer,
    ):
        with pytest.raises(SettingsProblem, match="not a question"):
            await answerer.answer("canon: Nell's eyes are green", "")
    assert not (folder / "lrwr.canon.toml").exists()


async def test_what_questions_are_made_from_is_the_whole_manuscript(
    folder: Path,
) -> None:
    await ingest(folder, Pipeline.AGENTIC)
    async with services_of(folder) as workspace:
        material = await load_eval_material(workspace)
    assert set(material.texts) == set(BOOK)


async def test_only_one_evaluation_holds_the_lock(folder: Path) -> None:
    await ingest(folder, Pipeline.AGENTIC)
    async with services_of(folder) as workspace:
        one, other = (
            create_eval_lock(workspace.library),
            create_eval_lock(workspace.library),
        )
        assert one.acquire()
        assert not other.acquire()
        one.release()
        assert other.acquire()
        other.release()


async def test_a_workshop_of_one_pipeline_searches_as_a_step_says(folder: Path) -> None:
    await ingest(folder, Pipeline.AGENTIC)
    step = replace(VARIANT_B, names=False, boosts=False)
    async with (
        services_of(folder) as workspace,
        open_eval_finders(workspace) as workshop,
    ):
        finder = workshop.finder(step)
        found = await finder.find(step.request("Who broke the lamp?", 1))
    assert "Corin Vale broke" in found.passages[0].chunk.text
    assert found.facts == ()
