"""A turn as it is heard: what has come of it so far, whole or stopped."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from lrwr.core.bible.values import Bible
from lrwr.core.chat.graph import TurnResult, run_turn
from lrwr.core.chat.nodes import AvatarAnswer, TurnDependencies
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.chat.turn_models import TurnModels
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerToken,
    Citation,
    PassageCited,
    SupervisorOutput,
    TurnEvent,
    WebCitation,
    WebPageCited,
)


class TurnRecorder:
    """What has come of a turn so far."""

    def __init__(self, question: TurnQuestion, turn_models: TurnModels) -> None:
        self.question = question
        self.voices = turn_models
        self.made: TurnResult | None = None
        self._pieces: list[str] = []
        self._cited: list[Citation] = []
        self._web: list[WebCitation] = []

    def hear(self, event: TurnEvent) -> None:
        """Take in what the graph lets others see."""
        match event:
            case AnswerToken():
                self._pieces.append(event.text)
            case PassageCited(citation):
                self._cited.append(citation)
            case WebPageCited(citation):
                self._web.append(citation)
            case _:
                pass

    def settle(self, text: str) -> None:
        """Take in what was settled without asking anybody."""
        output = replace(self._stopped(""), response_text=text, remarks=())
        output = replace(output, intent=AnswerIntent.GAP_PROBE)
        self.made = TurnResult(output, AvatarAnswer(text))

    def output(self, model: str) -> SupervisorOutput:
        """Return the whole answer, or of a stopped one what had come."""
        if self.made is not None:
            return self.made.output
        return self._stopped(model)

    def _stopped(self, model: str) -> SupervisorOutput:
        return SupervisorOutput(
            response_text="".join(self._pieces),
            intent=AnswerIntent.ANALYTICAL,
            resolved_characters=(),
            citations=tuple(self._cited),
            web=tuple(self._web),
            gap_flags=(),
            narrative_state_delta=self.question.state,
            remarks=("Stopped before it was whole.",),
            model=model,
        )


async def record_turn(
    question: TurnQuestion,
    bible: Bible,
    dependencies: TurnDependencies,
    turn_recorder: TurnRecorder,
) -> AsyncGenerator[TurnEvent]:
    """Run a turn, and let `turn_recorder` take in what comes of it."""
    async with aclosing(run_turn(question, bible, dependencies)) as events:
        async for event in events:
            if isinstance(event, TurnResult):
                turn_recorder.made = event
            else:
                turn_recorder.hear(event)
                yield event
