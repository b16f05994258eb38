"""Reads excerpts with a language model, and believes nothing it cannot find."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lrwr.core.adapters.analyst import model_prompts, model_shapes
from lrwr.core.adapters.analyst.model_facts import (
    Evidence,
    extracted_facts,
    passage_facts,
)
from lrwr.core.adapters.analyst.model_prompts import (
    classify_messages,
    extract_messages,
    repair_messages,
)
from lrwr.core.adapters.analyst.model_shapes import (
    Extracted,
    Passage,
    Passages,
    shape_of,
)
from lrwr.core.model.usage import Usage
from lrwr.core.ports.analyst import TOGETHER, Excerpt, Finding
from lrwr.core.ports.chat_model import ChatModel, Message, Reply

S = TypeVar("S", bound=BaseModel)

_MOST_PROBLEMS = 3
"""Faults of a reply that the model is told of."""

_THOUGHT = "</think>"
"""Ends what some local models think aloud before they answer."""


class ModelAnalyst:
    """An analyst that asks a language model, and checks every quote by code.

    A reply that is not as asked is asked for once more. A fact whose quote does not
    stand in the excerpt is dropped; both quotes are counted in the usage.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """Name the model."""
        return self._chat.name

    @property
    def revision(self) -> str:
        """Name the model, and the revisions of prompts and schemas."""
        prompts, shapes = model_prompts.REVISION, model_shapes.REVISION
        return f"{self.name}/prompts-{prompts}/shapes-{shapes}"

    def prompt_tokens(self, excerpts: Sequence[Excerpt], *, extracting: bool) -> int:
        """Return about how many tokens it takes to ask: characters / 4."""
        if extracting:
            return sum(
                _prompt_tokens(extract_messages(one), Extracted) for one in excerpts
            )
        return sum(
            _prompt_tokens(classify_messages(batch), Passages)
            for batch in _batches(excerpts)
        )

    async def classify(
        self, excerpts: Sequence[Excerpt]
    ) -> tuple[list[Finding], Usage]:
        """Return what each excerpt is, in order; `TOGETHER` are read in one call.

        An excerpt that a reply leaves out is asked for again, alone.
        """
        findings: list[Finding] = []
        usage = Usage()
        for batch in _batches(excerpts):
            found, cost = await self._classify_together(batch)
            findings += found
            usage += cost
        return findings, usage

    async def extract(self, excerpt: Excerpt) -> tuple[Finding, Usage]:
        """Return what an excerpt of some pages says."""
        reply, usage = await self._ask(extract_messages(excerpt), Extracted)
        if reply is None:
            return _unread(excerpt), usage
        evidence = Evidence(excerpt, self.name)
        facts = tuple(extracted_facts(reply, evidence))
        return Finding(facts), usage + evidence.usage()

    async def _classify_together(
        self, batch: list[Excerpt]
    ) -> tuple[list[Finding], Usage]:
        reply, usage = await self._ask(classify_messages(batch), Passages)
        told: dict[int, Passage] = {}
        for one in reply.passages if reply else []:
            told.setdefault(one.id, one)
        findings: list[Finding] = []
        for number, excerpt in enumerate(batch, start=1):
            passage = told.get(number)
            if passage is None and len(batch) > 1:
                passage, cost = await self._classify_alone(excerpt)
                usage += cost
            finding, quotes = self._finding(excerpt, passage)
            findings.append(finding)
            usage += quotes
        return findings, usage

    async def _classify_alone(self, excerpt: Excerpt) -> tuple[Passage | None, Usage]:
        messages = classify_messages([excerpt])
        reply, usage = await self._ask(messages, Passages, repair=False)
        passages = reply.passages if reply else []
        return (passages[0] if passages else None), usage

    def _finding(
        self, excerpt: Excerpt, passage: Passage | None
    ) -> tuple[Finding, Usage]:
        if passage is None:
            return _unread(excerpt), Usage()
        evidence = Evidence(excerpt, self.name)
        facts = tuple(passage_facts(passage, evidence))
        return Finding(facts), evidence.usage()

    async def _ask(
        self, messages: Sequence[Message], kind: type[S], *, repair: bool = True
    ) -> tuple[S | None, Usage]:
        """Return what the model said, None if it cannot be understood even then."""
        first = await self._chat.fill(messages, shape_of(kind))
        usage = _spent(first)
        parsed, problem = _parsed(first.text, kind)
        if parsed is None and repair:
            again = repair_messages(messages, first.text, problem)
            second = await self._chat.fill(again, shape_of(kind))
            parsed, _ = _parsed(second.text, kind)
            usage += _spent(second) + Usage(repaired=1)
        return parsed, usage + Usage(failed=int(parsed is None))


def _batches(excerpts: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    waiting = iter(excerpts)
    while batch := list(islice(waiting, TOGETHER)):
        yield batch


def _prompt_tokens(messages: Sequence[Message], kind: type[BaseModel]) -> int:
    said = sum(len(one.text) for one in messages)
    return -(-(said + len(shape_of(kind).schema)) // 4)


def _parsed(text: str, kind: type[S]) -> tuple[S | None, str]:
    """Return the reply, or what is wrong with it; words around the JSON are ignored."""
    said = text.rpartition(_THOUGHT)[2]
    start, end = said.find("{"), said.rfind("}") + 1
    if not 0 <= start < end:
        return None, "it holds no JSON object."
    try:
        return kind.model_validate_json(said[start:end]), ""
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        problems = [
            f"{'.'.join(map(str, one['loc'])) or 'JSON'}: {one['msg']}"
            for one in faults[:_MOST_PROBLEMS]
        ]
        return None, "; ".join(problems)


def _spent(reply: Reply) -> Usage:
    return Usage(
        calls=1,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )


def _unread(excerpt: Excerpt) -> Finding:
    return Finding((), f"The model gave no usable answer about {excerpt.where}")
