"""Traces of turns. A step of a turn ends when the next one begins."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lrwr.core.adapters.traces.langsmith import LangSmithTracer
from lrwr.core.chat.service import AvatarSessionService, TurnRequest
from lrwr.core.model.traces import (
    TraceError,
    TraceFactValue,
    TraceSpan,
    TraceStepKind,
    usage_to_facts,
)
from lrwr.core.model.turns import (
    AnswerToken,
    PassageCited,
    SupervisorOutput,
    Turn,
    TurnDone,
    TurnEvent,
    TurnStageStarted,
    WebPageCited,
    list_output_searches,
)

STEPS: Mapping[str, TraceStepKind] = MappingProxyType(
    {
        "search": TraceStepKind.RETRIEVER,
        "read": TraceStepKind.TOOL,
        "contents": TraceStepKind.TOOL,
        "web": TraceStepKind.TOOL,
    }
)
"""Steps of a turn with another kind than `CHAIN`."""
PARALLEL_STEPS: Mapping[str, str] = MappingProxyType({"search": "plan"})
"""Steps that begin while the named other step is still running."""


class TracedSessionService(AvatarSessionService):
    """Answers questions, and sends `tracer` a trace of each turn when it has ended.

    `parts` are further arguments of `AvatarSessionService`.
    """

    def __init__(self, tracer: LangSmithTracer, **parts: Any) -> None:
        super().__init__(**parts)
        self._tracer = tracer

    async def ask(self, asking: TurnRequest) -> AsyncGenerator[TurnEvent]:
        """Answer a question; yield its events as they happen, `TurnDone` last.

        A trace is sent at the end, also if the caller stops early, or after an error,
        which is raised again.
        """
        recorder = TurnTraceRecorder(asking, self._now)
        try:
            async with aclosing(super().ask(asking)) as events:
                async for event in events:
                    recorder.record(event)
                    yield event
        except Exception as error:
            recorder.failed = TraceError(type(error).__name__, str(error))
            raise
        finally:
            self._tracer.send(recorder.to_span())


@dataclass(slots=True)
class _Step:
    """A step that is running; `says` is its text on the screen."""

    name: str
    kind: TraceStepKind
    says: str
    started: float

    def over(self, ended: float, *, model: str = "") -> TraceSpan:
        """Return the finished step; `model` is the language model that it used, if any."""
        return TraceSpan(
            self.name,
            TraceStepKind.LLM if model else self.kind,
            self.started,
            ended,
            facts={"model": model} if model else {},
            inputs={"step": self.says},
        )


class TurnTraceRecorder:
    """Builds the trace of one turn from its events; `now` returns seconds since 1970."""

    def __init__(self, request: TurnRequest, now: Callable[[], float]) -> None:
        self._request = request
        self._now = now
        self._began = now()
        self._open: list[_Step] = []
        self._ended_steps: list[tuple[_Step, float]] = []
        self._found = 0
        self._pages = 0
        self._first_word: float | None = None
        self._done: TurnDone | None = None
        self.failed: TraceError | None = None

    def record(self, event: TurnEvent) -> None:
        """Add an event of the turn to the trace."""
        match event:
            case TurnStageStarted():
                self._begin(event)
            case PassageCited():
                self._found += 1
            case WebPageCited():
                self._pages += 1
            case AnswerToken() if self._first_word is None:
                self._first_word = self._now()
            case TurnDone():
                self._done = event
            case _:
                pass

    def to_span(self) -> TraceSpan:
        """Return the trace of the turn; steps that have not ended end now."""
        ended = self._now()
        self._end_steps(ended)
        turn = self._done.turn if self._done else None
        model = turn.output.model if turn else ""
        steps = [
            step.over(step_end, model=model if step.name == "answer" else "")
            for step, step_end in self._ended_steps
        ]
        return TraceSpan(
            "turn",
            TraceStepKind.CHAIN,
            self._began,
            ended,
            facts=self._facts(turn),
            inputs=_question_inputs(self._request),
            outputs=_answer_outputs(turn.output) if turn else {},
            error=self.failed,
            steps=tuple(steps),
        )

    def _begin(self, event: TurnStageStarted) -> None:
        now = self._now()
        if [step.name for step in self._open] != [PARALLEL_STEPS.get(event.step)]:
            self._end_steps(now)
        kind = STEPS.get(event.step, TraceStepKind.CHAIN)
        self._open.append(_Step(event.step, kind, event.text, now))

    def _end_steps(self, now: float) -> None:
        self._ended_steps += [(step, now) for step in self._open]
        self._open = []

    def _facts(self, turn: Turn | None) -> dict[str, TraceFactValue]:
        facts: dict[str, TraceFactValue] = {
            "passages": self._found,
            "web_pages": self._pages,
        }
        if self._first_word is not None:
            facts["seconds_to_first_word"] = round(self._first_word - self._began, 3)
        if self._request.thread is not None:
            facts["thread_id"] = self._request.thread
        if self._done is None or turn is None:
            return {**facts, "state": "failed" if self.failed else "stopped"}
        facts |= {
            "thread_id": self._done.thread,
            "turn_id": turn.id,
            "number": turn.number,
            "state": turn.state.value,
            "price_usd": turn.price or 0.0,
            **_output_facts(turn.output),
            **usage_to_facts(turn.usage),
        }
        return facts


def _question_inputs(request: TurnRequest) -> dict[str, str | tuple[str, ...]]:
    texts = {
        "question": request.text,
        "character": request.character,
        "as_of": request.as_of,
    }
    return {name: text for name, text in texts.items() if text}


def _answer_outputs(output: SupervisorOutput) -> dict[str, str | tuple[str, ...]]:
    return {
        "answer": output.response_text,
        "citations": tuple(
            f"{citation.document}:{citation.lines.first}: {citation.text}"
            for citation in output.citations
        ),
        "remarks": output.remarks,
        "searches": list_output_searches(output),
        "calls": tuple(
            f"{call.purpose}: {call.prompt_tokens} + {call.reply_tokens} tokens,"
            f" {call.seconds} s{', failed' * call.failed}"
            for call in output.calls
        ),
    }


def _output_facts(output: SupervisorOutput) -> dict[str, TraceFactValue]:
    facts: dict[str, TraceFactValue] = {
        "intent": output.intent.value,
        "mode": output.narrative_state_delta.mode.value,
        "model": output.model,
        "citations": len(output.citations),
        "gaps": len(output.gap_flags),
        "unsupported": len(output.unsupported),
        "web_asked": output.tavily_used,
    }
    if output.low_confidence is not None:
        facts["low_confidence"] = output.low_confidence
    return facts
