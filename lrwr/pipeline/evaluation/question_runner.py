"""Putting questions whose answers are known to a library."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lrwr.core.model.chunks import Pipeline
from lrwr.core.model.errors import NotFound
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.confidence import FIRST_PASSAGES
from lrwr.core.retrieval.service import PassageFinder, SearchRequest
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.pipeline.evaluation.calibration import CalibrationExample
from lrwr.pipeline.evaluation.gold_spans import locate_gold
from lrwr.pipeline.evaluation.questions import EvalQuestion, has_gold


@dataclass(slots=True)
class CalibrationExamples:
    """What searching for questions showed, by how their passages were ranked.

    `remarks` are sentences on questions that were left out.
    """

    examples: defaultdict[str, list[CalibrationExample]] = field(
        default_factory=lambda: defaultdict(list)
    )
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExampleCollector:
    """Puts questions to one library, as it stands."""

    finder: PassageFinder
    store: PassageStore
    pipeline: Pipeline
    order: StoryOrder

    async def ask(
        self, questions: Sequence[EvalQuestion], advance: Callable[[int], None]
    ) -> CalibrationExamples:
        """Search for each question, and see whether the first passages hold it.

        A question whose quote is no longer there, or that nothing is found for, is
        left out, and a remark says so.

        Raises:
            StoreProblem: The library cannot be read.
        """
        calibration_examples = CalibrationExamples()
        for question in questions:
            try:
                await self._one(question, calibration_examples)
            except NotFound as problem:
                calibration_examples.remarks.append(
                    f"Left out {question.id}: {problem}."
                )
            advance(1)
        return calibration_examples

    async def _one(
        self, question: EvalQuestion, calibration_examples: CalibrationExamples
    ) -> None:
        gold = [await locate_gold(self.store, self.order, o) for o in question.gold]
        request = SearchRequest(question.text, self.pipeline, FIRST_PASSAGES)
        if question.as_of:
            horizon = parse_horizon(question.as_of, self.order)
            request = replace(request, horizon=horizon)
        result = await self.finder.find(request, self.order)
        judged = result.judgement
        if judged is None or judged.signals is None:
            raise NotFound("nothing is found for it")
        first = [passage.chunk for passage in result.passages]
        is_found = has_gold(first, gold, every=question.every)
        calibration_examples.examples[judged.ranking].append(
            CalibrationExample(
                question.group, judged.signals, is_found, question.answerable
            )
        )
