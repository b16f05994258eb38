"""The analyst that uses a language model; it drops facts without a verified
quotation.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lrwr.core.adapters.analyst import model_prompts
from lrwr.core.adapters.analyst.model_facts import (
    QuoteMatcher,
    build_extracted_facts,
    build_passage_facts,
)
from lrwr.core.adapters.analyst.model_prompts import (
    Extracted,
    PassageClassification,
    Passages,
    build_analyst_repair_messages,
    build_classify_messages,
    build_extract_messages,
    build_reply_shape,
)
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.models import (
    EXCERPTS_PER_CALL,
    ChatMessage,
    ChatModel,
    Excerpt,
    ExcerptFinding,
)

S = TypeVar("S", bound=BaseModel)

_MAX_PROBLEMS = 3
"""Validation errors that the repair prompt lists."""

_END_OF_REASONING = "</think>"
"""Ends the reasoning that some local models write before their answer."""


class ModelAnalyst:
    """Analyses excerpts with a language model, and verifies every quotation in the
    text.

    An invalid reply is requested once more. A fact whose quotation is not in the
    excerpt is dropped. The usage counts all quotations of the model (`quotes`), and
    those that are in the text (`verified`).
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The name of the language model."""
        return self._chat.name

    @property
    def revision(self) -> str:
        """The model's name and the revisions of prompts and schemas.

        Cached replies are used only for the same revision.
        """
        prompts, shapes = (
            model_prompts.ANALYST_PROMPT_REVISION,
            model_prompts.ANALYST_SCHEMA_REVISION,
        )
        return f"{self.name}/prompts-{prompts}/shapes-{shapes}"

    def prompt_tokens(self, excerpts: Sequence[Excerpt], *, extracting: bool) -> int:
        """Return the estimated prompt tokens of all calls for `excerpts` together.

        If `extracting`, these are calls of `extract`, else of `classify`. A token
        counts as four characters.
        """
        if extracting:
            return sum(
                _prompt_tokens(build_extract_messages(excerpt), Extracted)
                for excerpt in excerpts
            )
        return sum(
            _prompt_tokens(build_classify_messages(batch), Passages)
            for batch in _batches(excerpts)
        )

    async def classify(
        self, excerpts: Sequence[Excerpt]
    ) -> tuple[list[ExcerptFinding], Usage]:
        """Return one finding per excerpt, in the order of `excerpts`, and the usage of
        all calls.

        The facts of a finding are about the passage: its content type, narrative
        function and Story Grid element, the characters present, references and gaps. If
        no valid reply came, there are none, and `failed` says why. One call covers
        `EXCERPTS_PER_CALL` excerpts; an excerpt that its reply omits is requested
        again, alone.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        findings: list[ExcerptFinding] = []
        usage = Usage()
        for batch in _batches(excerpts):
            batch_findings, cost = await self._classify_together(batch)
            findings += batch_findings
            usage += cost
        return findings, usage

    async def extract(self, excerpt: Excerpt) -> tuple[ExcerptFinding, Usage]:
        """Return the facts about scenes, characters and the world in an excerpt, and
        the usage.

        If no valid reply came, the finding has no facts, and `failed` says why.

        Raises:
            ServiceUnavailable: The server did not answer or refused.
        """
        reply, usage = await self._ask(build_extract_messages(excerpt), Extracted)
        if reply is None:
            return _no_finding(excerpt), usage
        evidence = QuoteMatcher(excerpt, self.name)
        facts = tuple(build_extracted_facts(reply, evidence))
        return ExcerptFinding(facts), usage + evidence.usage()

    async def _classify_together(
        self, batch: list[Excerpt]
    ) -> tuple[list[ExcerptFinding], Usage]:
        reply, usage = await self._ask(build_classify_messages(batch), Passages)
        by_number: dict[int, PassageClassification] = {}
        for item in reply.passages if reply else []:
            by_number.setdefault(item.id, item)
        findings: list[ExcerptFinding] = []
        for number, excerpt in enumerate(batch, start=1):
            passage = by_number.get(number)
            if passage is None and len(batch) > 1:
                passage, cost = await self._classify_alone(excerpt)
                usage += cost
            finding, quotes = self._finding(excerpt, passage)
            findings.append(finding)
            usage += quotes
        return findings, usage

    async def _classify_alone(
        self, excerpt: Excerpt
    ) -> tuple[PassageClassification | None, Usage]:
        messages = build_classify_messages([excerpt])
        reply, usage = await self._ask(messages, Passages, repair=False)
        passages = reply.passages if reply else []
        return (passages[0] if passages else None), usage

    def _finding(
        self, excerpt: Excerpt, passage: PassageClassification | None
    ) -> tuple[ExcerptFinding, Usage]:
        if passage is None:
            return _no_finding(excerpt), Usage()
        evidence = QuoteMatcher(excerpt, self.name)
        facts = tuple(build_passage_facts(passage, evidence))
        return ExcerptFinding(facts), evidence.usage()

    async def _ask(
        self, messages: Sequence[ChatMessage], kind: type[S], *, repair: bool = True
    ) -> tuple[S | None, Usage]:
        """Return the parsed reply, or None if it is invalid even after one repair."""
        first = await self._chat.fill(messages, build_reply_shape(kind))
        usage = first.usage
        parsed, problem = _parse_reply(first.text, kind)
        if parsed is None and repair:
            repair_messages = build_analyst_repair_messages(
                messages, first.text, problem
            )
            second = await self._chat.fill(repair_messages, build_reply_shape(kind))
            parsed, _ = _parse_reply(second.text, kind)
            usage += second.usage + Usage(repaired=1)
        return parsed, usage + Usage(failed=int(parsed is None))


def _batches(excerpts: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    waiting = iter(excerpts)
    while batch := list(islice(waiting, EXCERPTS_PER_CALL)):
        yield batch


def _prompt_tokens(messages: Sequence[ChatMessage], kind: type[BaseModel]) -> int:
    characters = sum(len(message.text) for message in messages)
    return -(-(characters + len(build_reply_shape(kind).schema)) // 4)


def _parse_reply(text: str, kind: type[S]) -> tuple[S | None, str]:
    """Return the parsed reply, or a description of its faults.

    Text around the JSON object is ignored.
    """
    answer = text.rpartition(_END_OF_REASONING)[2]
    start, end = answer.find("{"), answer.rfind("}") + 1
    if not 0 <= start < end:
        return None, "it contains no JSON object."
    try:
        return kind.model_validate_json(answer[start:end]), ""
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        problems = [
            f"{'.'.join(map(str, fault['loc'])) or 'JSON'}: {fault['msg']}"
            for fault in faults[:_MAX_PROBLEMS]
        ]
        return None, "; ".join(problems)


def _no_finding(excerpt: Excerpt) -> ExcerptFinding:
    return ExcerptFinding(
        (), f"The language model gave no valid reply about {excerpt.where}"
    )
