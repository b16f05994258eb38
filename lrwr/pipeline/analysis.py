"""Extraction of facts with an analyst: replies are cached by text, costs are
limited.
"""

import asyncio
import json
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from lrwr.core.model.chunks import Chunk
from lrwr.core.model.documents import Document
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import (
    PRESENT_FIELD,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
)
from lrwr.core.model.language_model import (
    Usage,
    describe_reservation,
    format_budget,
)
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Analyst, Excerpt, ExcerptFinding
from lrwr.core.ports.stores import AnalysisStore
from lrwr.pipeline.stages.windows import (
    NameFinder,
    batch_excerpts,
    build_classify_excerpts,
    build_extract_excerpts,
)

RosterFinder = Callable[[], Awaitable[NameFinder]]
"""Returns a function that lists, for a text, characters with their aliases."""
PriceLookup = Callable[[Usage], float | None]
"""Returns the price of a usage in US dollars; None if the model's price is unknown."""


@dataclass(slots=True)
class ModelBudget:
    """Limits what one run may spend on a language model.

    `price` returns the price of a usage in US dollars, None if unknown. `budget` is the
    limit in US dollars and `most_calls` in calls; 0 means unlimited. A dollar limit
    needs a known price: without one, no call is allowed from the start. Calls in
    progress count at their estimate until `settle`. `usage` is that of the settled
    calls. `stopped` is a sentence that says why no more calls are allowed; empty while
    calls are allowed.
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
                "Nothing was sent: the model's price is unknown. Set `model.prices`, or"
                " remove the budget."
            )

    @property
    def spent(self) -> float | None:
        """Price of all settled calls in US dollars; None if it is unknown."""
        return self.price(self.usage)

    def reserve(self, estimate: Usage) -> float | None:
        """Reserve the estimated price of the calls in `estimate`; return it in US
        dollars.

        The result is 0.0 if the price is unknown; pass it to `settle` after the calls.
        It is None if these calls, added to all settled and reserved ones, would exceed
        a limit: then they must not be made, and every later result is None, too.
        """
        if self.stopped:
            return None
        if self.most_calls and self._begun + estimate.calls > self.most_calls:
            self.stopped = f"The limit on model calls is reached: {self.most_calls}."
            return None
        price = self.price(estimate) or 0.0
        total = (self.spent or 0.0) + self._reserved + price
        if self.budget and total > self.budget:
            self.stopped = (
                f"The next call would exceed the budget of {format_budget(self.budget)}."
                " Raise `--budget` or `model.budget`."
                f" Reserved for it: {describe_reservation(estimate, price, total)}."
            )
            return None
        self._reserved += price
        self._begun += estimate.calls
        return price

    def limit_reply(self, prompt_tokens: int, most: int) -> int:
        """Return how many tokens the reply to a prompt may have, at most `most`, so that
        the call cannot exceed the budget; 0 if it would without a reply.
        """
        if not self.budget:
            return most
        rest = self.budget - (self.spent or 0.0) - self._reserved

        def is_within(tokens: int) -> bool:
            usage = Usage(1, prompt_tokens, tokens)
            return (self.price(usage) or 0.0) <= rest

        return bisect_left(range(1, most + 1), True, key=lambda n: not is_within(n))

    def settle(self, reserved: float, usage: Usage) -> None:
        """Replace the reservation `reserved`, a result of `reserve`, by the actual
        `usage`.

        Call it once for each reservation; with an empty usage if the calls failed.
        """
        self._reserved -= reserved
        self.usage += usage

    def stop(self, reason: str) -> None:
        """Allow no more calls in this run; `reason` is a sentence for the user.

        If the budget is stopped already, the earlier reason stays.
        """
        self.stopped = self.stopped or reason


def finding_to_json(finding: ExcerptFinding, start: int) -> str:
    """Convert the facts of a finding to a JSON list, to be stored.

    Offsets are relative to `start`, the offset in the document where its excerpt
    begins. Only `finding_from_json` reads the format.
    """
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
    """Parse JSON from `finding_to_json` into the finding of an excerpt with the same
    text.

    `start` is the offset in the document where that excerpt begins.
    """
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


_NOT_A_PERSON = CharacterField.NOT_A_PERSON
CLASSIFY, EXTRACT = "classify", "extract"
REPLY_TOKENS = {CLASSIFY: 60, EXTRACT: 1500}
"""Typical tokens of a reply for one excerpt; used for estimates only."""


@dataclass(slots=True)
class DocumentAnalysis:
    """Facts that an analyst extracted from one document, in text order, and the usage.

    `unfinished` is a sentence that says why parts of the document were skipped; empty
    if all of it was analysed.
    """

    facts: list[Fact] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    unfinished: str = ""


@dataclass(frozen=True, slots=True)
class _AnalystCall:
    """One call to the analyst: its excerpts and the cache key of each."""

    kind: str
    excerpts: tuple[Excerpt, ...]
    keys: tuple[str, ...]


class CachingAnalyst:
    """Extracts facts from documents with an analyst and caches every reply.

    Each reply is stored immediately, so an interrupted run never pays twice. If the
    language model does not answer, the budget stops. After the budget has stopped, only
    cached replies are used.
    """

    def __init__(
        self, analyst: Analyst, store: AnalysisStore, budget: ModelBudget
    ) -> None:
        self._analyst = analyst
        self._store = store
        self.budget = budget

    @property
    def model(self) -> str:
        """Name of the language model."""
        return self._analyst.name

    @property
    def revision(self) -> str:
        """A text that changes with the model, the prompts or the schema; part of cache
        keys.
        """
        return self._analyst.revision

    async def estimate(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        names: NameFinder,
        roster: RosterFinder | None = None,
    ) -> Usage:
        """Estimate the calls and tokens for analysing the document; makes no call.

        `names` and `roster` are those of `read`. Excerpts with a cached reply cost
        nothing and are counted in `Usage.cached`.
        """
        _, calls, cached = await self._plan(document, chunks, names)
        if calls and roster is not None:
            list_cast = await roster()
            calls = [_add_cast(call, list_cast) for call in calls]
        total = Usage(cached=cached)
        for call in calls:
            total += self._estimate_call(call)
        return total

    async def cached_keys(
        self, document: Document, chunks: Sequence[Chunk], names: NameFinder
    ) -> frozenset[str]:
        """Return the keys, hashes of excerpt and `revision`, under which replies are
        stored for the document's excerpts.

        `names` returns the names of characters in a text. Excerpts without a stored
        reply have no key in the result.
        """
        keys = [
            self._key(kind, excerpt)
            for kind, excerpts in _build_excerpts(document, chunks, names).items()
            for excerpt in excerpts
        ]
        return frozenset(await self._store.replies(keys))

    async def read(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        names: NameFinder,
        roster: RosterFinder | None = None,
    ) -> DocumentAnalysis:
        """Return the facts of the document, in text order, from cached replies and new
        calls.

        `names` returns the names of characters in a text. `roster` is called if calls
        are made: they show the cast, which is no part of the cache key, so that a
        passage is not read again because the cast grew. Excerpts are skipped if the
        budget allows no call or the model does not answer; `unfinished` of the result
        says why.

        Raises:
            StoreProblem: The replies cannot be read or stored.
        """
        findings, calls, cached = await self._plan(document, chunks, names)
        analysis = DocumentAnalysis(usage=Usage(cached=cached))
        if calls and roster is not None:
            list_cast = await roster()
            calls = [_add_cast(call, list_cast) for call in calls]
        replies = await self._run_calls(calls)
        for reply_findings, usage in replies:
            findings += reply_findings
            analysis.usage += usage
        analysis.facts = [fact for finding in findings for fact in finding.facts]
        analysis.facts.sort(key=lambda fact: (fact.spans[:1], fact.about, fact.field))
        if self.budget.stopped and any(
            not reply_findings for reply_findings, _ in replies
        ):
            analysis.unfinished = self.budget.stopped
        return analysis

    async def _plan(
        self, document: Document, chunks: Sequence[Chunk], names: NameFinder
    ) -> tuple[list[ExcerptFinding], list[_AnalystCall], int]:
        """Return the cached findings, the calls to make, and the number of cached
        findings.
        """
        excerpts_by_kind = _build_excerpts(document, chunks, names)
        keys = {
            kind: [self._key(kind, excerpt) for excerpt in excerpts]
            for kind, excerpts in excerpts_by_kind.items()
        }
        stored_replies = await self._store.replies(
            [key for row in keys.values() for key in row]
        )
        findings, calls = [], []
        for kind, excerpts in excerpts_by_kind.items():
            missing = []
            for key, excerpt in zip(keys[kind], excerpts, strict=True):
                if key in stored_replies:
                    findings.append(
                        finding_from_json(stored_replies[key], excerpt.span.start)
                    )
                else:
                    missing.append(excerpt)
            calls += self._build_calls(kind, missing)
        return findings, calls, len(findings)

    def _build_calls(
        self, kind: str, excerpts: Sequence[Excerpt]
    ) -> list[_AnalystCall]:
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

    def _estimate_call(self, call: _AnalystCall) -> Usage:
        prompt = self._analyst.prompt_tokens(
            call.excerpts, extracting=call.kind == EXTRACT
        )
        reply = REPLY_TOKENS[call.kind] * len(call.excerpts)
        return Usage(calls=1, prompt_tokens=prompt, completion_tokens=reply)

    async def _run_calls(
        self, calls: Sequence[_AnalystCall]
    ) -> list[tuple[list[ExcerptFinding], Usage]]:
        """Make all calls concurrently and return the findings and usage of each."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._ask(call)) for call in calls]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return [task.result() for task in tasks]

    async def _ask(self, call: _AnalystCall) -> tuple[list[ExcerptFinding], Usage]:
        """Make one call and store its reply; return nothing if the budget forbids it."""
        reserved = self.budget.reserve(self._estimate_call(call))
        if reserved is None:
            return [], Usage()
        usage = Usage()
        try:
            findings, usage = await self._call_analyst(call)
        except ServiceUnavailable as error:
            self.budget.stop(_format_error(error))
            usage = Usage(calls=1, failed=1)
            return [], usage
        finally:
            self.budget.settle(reserved, usage)
        await self._store_replies(call, findings, usage)
        return findings, usage

    async def _call_analyst(
        self, call: _AnalystCall
    ) -> tuple[list[ExcerptFinding], Usage]:
        if call.kind == CLASSIFY:
            return await self._analyst.classify(call.excerpts)
        excerpt = call.excerpts[0]
        finding, usage = await self._analyst.extract(excerpt)
        return [_with_reach(finding, excerpt)], usage

    async def _store_replies(
        self, call: _AnalystCall, findings: Sequence[ExcerptFinding], usage: Usage
    ) -> None:
        replies: Mapping[str, str] = {
            key: finding_to_json(finding, excerpt.span.start)
            for key, finding, excerpt in zip(
                call.keys, findings, call.excerpts, strict=True
            )
            if not finding.failed
        }
        if replies:
            await self._store.save_replies(replies, usage)


def add_read_names(noted: str, facts: Sequence[Fact]) -> str:
    """Return `noted`, the declared names of a document as JSON, with the names that a
    model read as people and those that it read as no person.

    A name that it read as both is a person.
    """
    about_people = [fact for fact in facts if fact.about is FactAbout.CHARACTER]
    excluded = {f.subject for f in about_people if f.field == _NOT_A_PERSON}
    people = {f.subject for f in about_people if f.field != _NOT_A_PERSON}
    people |= {fact.value for fact in facts if fact.field == PRESENT_FIELD}
    if not excluded and not people:
        return noted
    declared = json.loads(noted or "{}")
    read = {"read_as_people": sorted(people), "not_people": sorted(excluded - people)}
    return json.dumps({**declared, **read}, ensure_ascii=False)


def _add_cast(call: _AnalystCall, list_cast: NameFinder) -> _AnalystCall:
    excerpts = (replace(e, cast=list_cast(e.text)) for e in call.excerpts)
    return replace(call, excerpts=tuple(excerpts))


def _build_excerpts(
    document: Document, chunks: Sequence[Chunk], names: NameFinder
) -> dict[str, Sequence[Excerpt]]:
    return {
        CLASSIFY: build_classify_excerpts(document, chunks, names),
        EXTRACT: build_extract_excerpts(document, chunks, names),
    }


def _with_reach(finding: ExcerptFinding, excerpt: Excerpt) -> ExcerptFinding:
    """Set `reach` to the excerpt's end: a fact's value may depend on all of the
    excerpt.
    """
    facts = tuple(replace(fact, reach=excerpt.span.end) for fact in finding.facts)
    return replace(finding, facts=facts)


def _format_error(error: ServiceUnavailable) -> str:
    """Return the error's message and hint as sentences."""
    message = str(error)
    end = "" if message.endswith((".", "!", "?")) else "."
    return f"{message}{end} {error.hint}".rstrip()
