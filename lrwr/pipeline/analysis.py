"""Asking an analyst about a document, never twice about the same words."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from lrwr.core.model.chunks import Chunk
from lrwr.core.model.documents import Document
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Analyst, Excerpt, ExcerptFinding
from lrwr.core.ports.stores import AnalysisStore
from lrwr.pipeline.stages.windows import (
    NameFinder,
    batch_excerpts,
    build_classify_excerpts,
    build_extract_excerpts,
)

PriceLookup = Callable[[Usage], float | None]
"""What a usage costs, in US dollars; None where the model's price is unknown."""


@dataclass(slots=True)
class ModelBudget:
    """Counts what a run asks of a model, and stops it when enough was spent.

    `budget` is in US dollars, `most_calls` in calls; 0 means no bound. A budget can be
    kept only where the price is known: elsewhere the meter begins stopped. What is
    under way counts as spent at its estimate until it is paid. `stopped` says in a
    sentence why nothing more is asked; empty while more may be.
    """

    price: PriceLookup
    budget: float = 0.0
    usage: Usage = field(default_factory=Usage)
    stopped: str = ""
    most_calls: int = 0
    _reserved: float = 0.0
    _begun: int = 0

    def __post_init__(self) -> None:
        if self.budget and self.price(Usage(calls=1)) is None:
            self.stopped = (
                "The budget cannot be kept, since the model's price is unknown: set"
                " `model.prices`, or set the budget to 0."
            )

    @property
    def spent(self) -> float | None:
        """What was paid so far, in US dollars; None where the price is unknown."""
        return self.price(self.usage)

    def reserve(self, estimate: Usage) -> float | None:
        """Set the price of a call aside; None when the run must not make it."""
        if self.stopped:
            return None
        if self.most_calls and self._begun + estimate.calls > self.most_calls:
            self.stopped = f"Calls were made, as many as may be: {self.most_calls}."
            return None
        price = self.price(estimate) or 0.0
        if self.budget and (self.spent or 0.0) + self._reserved + price > self.budget:
            self.stopped = f"The budget of ${self.budget:.2f} is used up."
            return None
        self._reserved += price
        self._begun += estimate.calls
        return price

    def settle(self, reserved: float, usage: Usage) -> None:
        """Count what a call really took, in the place of what was set aside."""
        self._reserved -= reserved
        self.usage += usage

    def stop(self, reason: str) -> None:
        """Ask nothing more in this run; the first reason stays."""
        self.stopped = self.stopped or reason


def finding_to_json(finding: ExcerptFinding, start: int) -> str:
    """Return a finding whose excerpt begins at `start` of its document."""
    facts = [
        [
            fact.about.value,
            fact.subject,
            fact.field,
            fact.value,
            [[span.start - start, span.end - start] for span in fact.spans],
            fact.keeper,
            fact.certainty.value,
            fact.details,
            fact.reach - start if fact.reach else 0,
        ]
        for fact in finding.facts
    ]
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def finding_from_json(stored_json: str, start: int) -> ExcerptFinding:
    """Return the finding of an equal excerpt that begins at `start`."""
    return ExcerptFinding(
        tuple(
            Fact(
                about=FactAbout(about),
                subject=subject,
                field=field,
                value=value,
                spans=tuple(Span(left + start, right + start) for left, right in spans),
                keeper=keeper,
                certainty=Certainty(certainty),
                details=tuple((key, text) for key, text in details),
                reach=reach + start if reach else 0,
            )
            for (
                about,
                subject,
                field,
                value,
                spans,
                keeper,
                certainty,
                details,
                reach,
            ) in json.loads(stored_json)
        )
    )


CLASSIFY, EXTRACT = "classify", "extract"
REPLY_TOKENS = {CLASSIFY: 60, EXTRACT: 1500}
"""Tokens that a reply has about, for each excerpt: what an estimate goes by."""


@dataclass(slots=True)
class DocumentAnalysis:
    """What an analyst said of one document.

    `unfinished` says in a sentence why it could not be asked for all of it.
    """

    facts: list[Fact] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unfinished: str = ""


@dataclass(frozen=True, slots=True)
class _AnalystCall:
    """One call: which excerpts, and the keys of what will be said of them."""

    kind: str
    excerpts: tuple[Excerpt, ...]
    keys: tuple[str, ...]


class CachingAnalyst:
    """Reads documents with an analyst; what was said once of a text is kept.

    Every reply is kept at once, so that a run that dies pays for nothing twice. Once
    the meter has stopped, only what is kept already is said.
    """

    def __init__(
        self, analyst: Analyst, store: AnalysisStore, meter: ModelBudget
    ) -> None:
        self._analyst = analyst
        self._store = store
        self.meter = meter

    @property
    def model(self) -> str:
        """Name who reads."""
        return self._analyst.name

    @property
    def revision(self) -> str:
        """Name everything that an analysis depends on besides the document."""
        return self._analyst.revision

    async def estimate(
        self, document: Document, chunks: Sequence[Chunk], names: NameFinder
    ) -> Usage:
        """Return what reading the document would take; asks nothing."""
        _, orders, cached = await self._plan(document, chunks, names)
        total = Usage(cached=cached)
        for order in orders:
            total += self._estimated(order)
        return total

    async def kept(
        self, document: Document, chunks: Sequence[Chunk], names: NameFinder
    ) -> frozenset[str]:
        """Return the keys of what was said of the document before, and is kept."""
        keys = [
            self._key(kind, excerpt)
            for kind, excerpts in _excerpts(document, chunks, names).items()
            for excerpt in excerpts
        ]
        return frozenset(await self._store.replies(keys))

    async def read(
        self, document: Document, chunks: Sequence[Chunk], names: NameFinder
    ) -> DocumentAnalysis:
        """Return all the analyst's findings on the document, in reading order.

        Raises:
            StoreProblem: The findings cannot be stored.
        """
        findings, orders, cached = await self._plan(document, chunks, names)
        analysis = DocumentAnalysis(usage=Usage(cached=cached))
        replies = await self._asked(orders)
        for reply_findings, usage in replies:
            findings += reply_findings
            analysis.usage += usage
        analysis.facts = [fact for finding in findings for fact in finding.facts]
        analysis.facts.sort(key=lambda fact: (fact.spans[:1], fact.about, fact.field))
        if self.meter.stopped and any(
            not reply_findings for reply_findings, _ in replies
        ):
            analysis.unfinished = self.meter.stopped
        return analysis

    async def _plan(
        self, document: Document, chunks: Sequence[Chunk], names: NameFinder
    ) -> tuple[list[ExcerptFinding], list[_AnalystCall], int]:
        """Return the stored findings, the calls to make, and the number of stored findings."""
        excerpts_by_kind = _excerpts(document, chunks, names)
        keys = {
            kind: [self._key(kind, excerpt) for excerpt in excerpts]
            for kind, excerpts in excerpts_by_kind.items()
        }
        stored_replies = await self._store.replies(
            [key for row in keys.values() for key in row]
        )
        findings, orders = [], []
        for kind, excerpts in excerpts_by_kind.items():
            missing = []
            for key, excerpt in zip(keys[kind], excerpts, strict=True):
                if key in stored_replies:
                    findings.append(
                        finding_from_json(stored_replies[key], excerpt.span.start)
                    )
                else:
                    missing.append(excerpt)
            orders += self._orders(kind, missing)
        return findings, orders, len(findings)

    def _orders(self, kind: str, excerpts: Sequence[Excerpt]) -> list[_AnalystCall]:
        together = (
            list(batch_excerpts(excerpts))
            if kind == CLASSIFY
            else [[excerpt] for excerpt in excerpts]
        )
        return [
            _AnalystCall(
                kind, tuple(part), tuple(self._key(kind, excerpt) for excerpt in part)
            )
            for part in together
        ]

    def _key(self, kind: str, excerpt: Excerpt) -> str:
        key_parts = [
            self._analyst.revision,
            kind,
            excerpt.text,
            excerpt.before if kind == CLASSIFY else "",
            excerpt.known,
        ]
        return sha256(json.dumps(key_parts).encode()).hexdigest()

    def _estimated(self, order: _AnalystCall) -> Usage:
        prompt = self._analyst.prompt_tokens(
            order.excerpts, extracting=order.kind == EXTRACT
        )
        reply = REPLY_TOKENS[order.kind] * len(order.excerpts)
        return Usage(calls=1, prompt_tokens=prompt, completion_tokens=reply)

    async def _asked(
        self, orders: Sequence[_AnalystCall]
    ) -> list[tuple[list[ExcerptFinding], Usage]]:
        """Make all calls concurrently and return the findings and usage of each."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._ask(order)) for order in orders]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return [task.result() for task in tasks]

    async def _ask(self, order: _AnalystCall) -> tuple[list[ExcerptFinding], Usage]:
        """Make one call and keep what came of it; nothing when it must not be made."""
        reserved = self.meter.reserve(self._estimated(order))
        if reserved is None:
            return [], Usage()
        usage = Usage()
        try:
            findings, usage = await self._answered(order)
        except ServiceUnavailable as error:
            self.meter.stop(_told(error))
            return [], Usage()
        finally:
            self.meter.settle(reserved, usage)
        await self._keep(order, findings, usage)
        return findings, usage

    async def _answered(
        self, order: _AnalystCall
    ) -> tuple[list[ExcerptFinding], Usage]:
        if order.kind == CLASSIFY:
            return await self._analyst.classify(order.excerpts)
        excerpt = order.excerpts[0]
        finding, usage = await self._analyst.extract(excerpt)
        return [_bounded(finding, excerpt)], usage

    async def _keep(
        self, order: _AnalystCall, findings: Sequence[ExcerptFinding], usage: Usage
    ) -> None:
        replies: Mapping[str, str] = {
            key: finding_to_json(finding, excerpt.span.start)
            for key, finding, excerpt in zip(
                order.keys, findings, order.excerpts, strict=True
            )
            if not finding.failed
        }
        if replies:
            await self._store.keep_replies(replies, usage)


def _excerpts(
    document: Document, chunks: Sequence[Chunk], names: NameFinder
) -> dict[str, Sequence[Excerpt]]:
    return {
        CLASSIFY: build_classify_excerpts(document, chunks, names),
        EXTRACT: build_extract_excerpts(document, chunks, names),
    }


def _bounded(finding: ExcerptFinding, excerpt: Excerpt) -> ExcerptFinding:
    """Note how far was read: free words on page one may come of the last page."""
    facts = tuple(replace(fact, reach=excerpt.span.end) for fact in finding.facts)
    return replace(finding, facts=facts)


def _told(error: ServiceUnavailable) -> str:
    """Return the error's message and hint as sentences."""
    message = str(error)
    end = "" if message.endswith((".", "!", "?")) else "."
    return f"{message}{end} {error.hint}".rstrip()
