"""What is broken shows: a retriever, a horizon, an answerer, a judge."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lrwr.app.presenters.evaluation import (
    render_report_markdown,
    render_report_sections,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation
from lrwr.core.ports.models import GroundedAnswer, JudgeResult, JudgeSample
from lrwr.pipeline.evaluation.answer_measures import (
    AnswerMeasure,
    AnswerMethod,
    build_session_answer_method,
)
from lrwr.pipeline.evaluation.outcomes import Arm, RetrievedContext
from lrwr.pipeline.evaluation.questions import (
    WRITER_SOURCE,
    EvalQuestion,
    GoldQuote,
    QuestionKind,
)
from lrwr.pipeline.evaluation.report import EvalReport, build_eval_report
from lrwr.pipeline.evaluation.runner import (
    EvalMeasure,
    EvalRunner,
    RunSetup,
    RunStart,
    build_eval_plan,
)
from lrwr.pipeline.evaluation.runs import load_eval_run
from lrwr.pipeline.evaluation.search_measures import SpanMeasure
from lrwr.pipeline.evaluation.variants import VARIANT_B, IndexedLibrary, SearchArm
from tests.fakes.embedder import count_words
from tests.fakes.story_desks import StoryDesk, a_story_desk

THINGS = (
    "kettle", "ledger", "anchor", "violin", "candle", "hammer", "mirror", "lantern",
    "saddle", "basket", "compass", "thimble", "bucket", "feather", "pistol", "rosary",
    "spindle", "trumpet", "whistle", "ribbon", "bottle", "carpet", "dagger", "easel",
)  # fmt: skip
BUDGETS = (20, 100)


def file(n: int) -> str:
    return f"chapters/{n + 1:02}.md"


def sentence(n: int) -> str:
    return f"Nell Tallow hid the {THINGS[n]} behind the stove."


def there() -> list[EvalQuestion]:
    return [
        EvalQuestion(
            f"there-{n}",
            f"Where is the {thing} hidden?",
            (GoldQuote(file(n), sentence(n)),),
            kind=QuestionKind.FACT,
            answer="Behind the stove.",
        )
        for n, thing in enumerate(THINGS)
    ]


def not_yet() -> list[EvalQuestion]:
    return [
        replace(
            one,
            id=f"early-{n}",
            gold=(),
            kind=QuestionKind.AS_OF,
            as_of="ch1",
            answer="",
        )
        for n, one in enumerate(there())
        if n
    ]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[StoryDesk]:
    async with a_story_desk(tmp_path) as opened:
        for n in range(len(THINGS)):
            text = f"# {n}\n\n{sentence(n)} Rain fell on Corin Vale.\n"
            opened.write(file(n), text)
        await opened.ingest()
        yield opened


async def shelf_of(desk: StoryDesk) -> IndexedLibrary:
    order = await desk.finder().story_order()
    return IndexedLibrary(desk.library.passages, order, count_words, lambda: 0.0)


@dataclass(slots=True)
class Otherwise:
    """An arm that does what it should, and then something else."""

    arm: Arm
    name: str
    description: str = "Broken."
    recipe: str = "broken"
    ahead: bool = False
    """Whether it forgets where in the story it is asked."""

    async def retrieve(self, question: EvalQuestion) -> RetrievedContext:
        if self.ahead:
            return await self.arm.retrieve(replace(question, as_of=""))
        given = await self.arm.retrieve(question)
        wrong = [p for p in given.pieces if p.document != question.gold[0].file]
        return replace(given, pieces=tuple(wrong))


async def sound(desk: StoryDesk, indexed_library: IndexedLibrary) -> Arm:
    return SearchArm(
        replace(VARIANT_B, boosts=False, rerank=False),
        desk.finder(),
        indexed_library,
        50,
        "sound",
    )


async def reported(
    folder: Path,
    arms: Sequence[Arm],
    questions: Sequence[EvalQuestion],
    *measures: EvalMeasure,
) -> EvalReport:
    means = RunSetup(arms, measures)
    plan = build_eval_plan(questions, means, budgets=BUDGETS, library="one", lrwr="0")
    run = ""
    async with aclosing(EvalRunner(folder, plan, means, lambda: 0.0).run()) as events:
        async for event in events:
            run = event.run if isinstance(event, RunStart) else run
    names = [arm.name for arm in arms]
    pairs = [(names[0], other) for other in names[1:]]
    return build_eval_report(load_eval_run(folder, run), pairs=pairs)


def text_of(report: EvalReport) -> str:
    return render_report_markdown(render_report_sections(report), "Report")


async def test_a_retriever_that_finds_the_wrong_passages(
    desk: StoryDesk, tmp_path: Path
) -> None:
    indexed_library = await shelf_of(desk)
    good = await sound(desk, indexed_library)
    arms = [good, Otherwise(good, "broken")]
    report = await reported(
        tmp_path / "r", arms, there(), SpanMeasure(indexed_library, BUDGETS)
    )
    told = text_of(report)
    assert "broken finds the answer to none of the 24 questions" in told
    assert f"{good.name} finds more of the answer in 20 tokens" in told
    assert f"{good.name} finds the answer to none" not in told


async def test_generated_questions_are_said_first_to_give_an_upper_bound(
    desk: StoryDesk, tmp_path: Path
) -> None:
    indexed_library = await shelf_of(desk)
    arms = [await sound(desk, indexed_library)]
    measure = SpanMeasure(indexed_library, BUDGETS)
    generated = [replace(question, made="a name") for question in there()]
    report = await reported(tmp_path / "g", arms, generated, measure)
    first, *_ = render_report_sections(report)
    assert first.sentences[0].startswith("The figures are an upper bound")
    own = [replace(question, made=WRITER_SOURCE) for question in there()]
    report = await reported(tmp_path / "o", arms, own, measure)
    assert "upper bound" not in text_of(report)


async def test_a_horizon_that_leaks(desk: StoryDesk, tmp_path: Path) -> None:
    indexed_library = await shelf_of(desk)
    good = await sound(desk, indexed_library)
    arms = [good, Otherwise(good, "leaking", ahead=True)]
    report = await reported(
        tmp_path / "r", arms, not_yet(), SpanMeasure(indexed_library, BUDGETS)
    )
    told = text_of(report)
    assert (
        "leaking retrieves text from after the point of the story that the question allows, for 23 of 23 questions"
        in told
    )
    assert f"{good.name} gives what comes later" not in told
    assert (
        f"{good.name} retrieves less text from after the point of the story that a question allows"
        in told
    )


@dataclass(slots=True)
class Inventor:
    """Answers everything, with a quotation and a passage that are not there."""

    name: str = "a-model"

    async def answer(self, question: str, as_of: str) -> GroundedAnswer:
        text = "Mrs. Gannet wrote, “I have put it under the old church clock.” [1]"
        cited = Citation(
            1, DocumentId(file(0)), Span(0, 8), LineRange(1, 1), "the old", None
        )
        return GroundedAnswer(
            text, (cited,), ("Rain fell.",), says_gap=False, seconds=1.0
        )


@dataclass(slots=True)
class Doubtful:
    """A judge whose every second judgement fails."""

    name: str = "a-judge"
    revision: str = "1"
    figures: tuple[str, ...] = ("faithfulness",)
    asked: list[str] = field(default_factory=list)

    def estimate(self, sample: JudgeSample) -> Usage:
        return Usage(1, 100, 10)

    async def judge(self, sample: JudgeSample) -> JudgeResult:
        self.asked.append(sample.question)
        if len(self.asked) % 2:
            return JudgeResult({}, {"faithfulness": "The judge answered in riddles."})
        return JudgeResult({"faithfulness": 1.0})


async def test_a_model_that_invents(desk: StoryDesk, tmp_path: Path) -> None:
    told = text_of(
        await answered(
            desk, tmp_path, {"invents": build_session_answer_method(Inventor(), 8_000)}
        )
    )
    assert "answers 24 of 24 questions that the text does not answer" in told
    assert (
        "answers 24 of 24 questions with citations that do not match the text" in told
    )
    assert "answers 24 of 24 questions with quotations that are not in the text" in told


async def test_a_judge_that_fails_half_the_time(
    desk: StoryDesk, tmp_path: Path
) -> None:
    answering = {"invents": build_session_answer_method(Inventor(), 8_000)}
    told = text_of(await answered(desk, tmp_path, answering, Doubtful()))
    assert "faithfulness could not be computed 36 of 72 times" in told
    assert "The judge answered in riddles." in told
    assert "| invents | faithfulness | not evaluated | 24 | 72 | 36 |" in told


@pytest.mark.parametrize(("tokens", "passages"), [(8_000, 25), (24_000, 75)])
async def test_what_a_judge_costs_grows_with_the_text_of_an_answer(
    desk: StoryDesk, tokens: int, passages: int
) -> None:
    class EachContext(Doubtful):
        def estimate(self, sample: JudgeSample) -> Usage:
            return Usage(len(sample.contexts), 0, 0)

    method = build_session_answer_method(Inventor(), tokens)
    spans = SpanMeasure(await shelf_of(desk), BUDGETS)
    measure = AnswerMeasure(spans, {"a": method}, [EachContext()], no_price, repeats=2)
    own, *judged = measure.estimate_usage(there()[0], "a")
    assert own[1] == "a-model"
    assert own[0].prompt_tokens > tokens
    assert [usage.calls for usage, _ in judged] == [passages] * 2


def no_price(usage: Usage, model: str) -> None:
    """Know no price."""


async def answered(
    desk: StoryDesk,
    folder: Path,
    answering: Mapping[str, AnswerMethod],
    *judges: Doubtful,
) -> EvalReport:
    indexed_library = await shelf_of(desk)
    arm = Otherwise(await sound(desk, indexed_library), "invents", ahead=True)
    unknown = [replace(one, gold=(), kind=QuestionKind.UNANSWERABLE) for one in there()]
    spans = SpanMeasure(indexed_library, BUDGETS)
    measure = AnswerMeasure(spans, answering, judges, lambda usage, name: None)
    return await reported(folder / "r", [arm], unknown, spans, measure)
