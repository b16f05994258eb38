"""Proposals for scenes by a language model: written, checked, revised and saved."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.app.draft_check import CheckedScene, SceneChecker
from lrwr.app.draft_decisions import DraftDesk
from lrwr.app.draft_prompts import load_prompt_texts
from lrwr.app.drafts import brief_card, load_placed_board
from lrwr.app.judge_parts import JudgeParts, create_judge_parts
from lrwr.core.adapters.storage.sqlite.draft_journal import SqliteDraftJournal
from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.brief import DEFAULT_BRIEF_TOKENS, Brief
from lrwr.core.drafting.brief_items import BriefItem, BriefSection
from lrwr.core.drafting.folder import DraftFile, DraftFolder, proposal_path
from lrwr.core.drafting.model_steps import ModelSteps, StepPrompt
from lrwr.core.drafting.prompts import (
    USUAL_WORDS,
    DraftIssue,
    PromptTexts,
    build_beat_prompt,
    build_revise_prompt,
    build_write_prompt,
)
from lrwr.core.drafting.review import build_review_prompt, select_compared
from lrwr.core.drafting.steps import (
    DraftingDependencies,
    DraftingResult,
)
from lrwr.core.model.drafts import DraftDecision, DraftStep
from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.chat_models import ModelRole
from lrwr.core.settings.files import FileLock

PROPOSAL_STEP = "proposal"
_DONE_STEP, _REFUSED_STEP = "done", "refused"
_LOCK = "writing.lock"
_USUAL_ISSUES = 4
"""Findings of a draft, for estimates."""


@dataclass(frozen=True, slots=True)
class ProposalOrder:
    """What to write: the scene with this id or title, from a brief of `tokens`.

    `again` asks for another text than the last one for the same brief. `rounds` and
    `by_beats` are those of the settings if None.
    """

    scene: str
    tokens: int = DEFAULT_BRIEF_TOKENS
    again: bool = False
    rounds: int | None = None
    by_beats: bool | None = None


@dataclass(frozen=True, slots=True)
class WrittenProposal:
    """Proposals that were saved, and the check of the last one.

    `paths` are relative to the library. `cost` is in US dollars, None if unknown.
    """

    card: SceneCard
    paths: tuple[str, ...]
    result: DraftingResult
    checked: CheckedScene
    model: str
    usage: Usage
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ProposalPlan:
    """What writing would take, at most, without a request to any service.

    `steps` are the calls with their purpose and estimated usage; `stored` are calls
    whose reply is stored already. `prompts` are those that are known before the first
    reply. `cost` is in US dollars, None if unknown; `enough` is a budget with which none
    of these calls is refused.
    """

    card: SceneCard
    model: str
    steps: tuple[tuple[str, Usage], ...]
    stored: int
    prompts: tuple[StepPrompt, ...]
    cost: float | None = None
    enough: float | None = None

    @property
    def usage(self) -> Usage:
        """The estimated usage of all calls."""
        return sum((usage for _, usage in self.steps), Usage())


class ProposalWriter:
    """Lets the language model for the role `writer` propose texts for scenes.

    `folder` has the drafts; proposals become files of it, nothing else is written. One
    process at a time writes.
    """

    def __init__(
        self,
        workspace: Workspace,
        folder: DraftFolder,
        emit: Callable[[str], None] = lambda _: None,
    ) -> None:
        workspace.require_library()
        self._workspace = workspace
        self._folder = folder
        self._emit = emit
        self._journal = SqliteDraftJournal(workspace.database)

    async def write(self, order: ProposalOrder, place: Path) -> WrittenProposal:
        """Write a proposal for a scene, check it, and revise it for what is found.

        Repeating it after a crash continues, and pays for no reply twice. Checks run in
        `place`, an empty folder; delete it after the event loop was closed.

        Raises:
            NotFound: There is no board or no such scene, or nothing was ingested.
            ServiceUnavailable: The language model did not write a usable text.
            SettingsProblem: No language model is configured, or a prompt is invalid.
            StoreProblem: The library cannot be read, or another process writes.
        """
        with hold_writing_lock(self._workspace):
            card, brief = await self._load_brief(order)
            texts = load_prompt_texts(self._folder)
            parts, steps = self._create_steps(card)
            by_beats = self._is_by_beats(order, card)
            start = _AttemptStart(texts, brief, steps.name, by_beats=by_beats)
            attempt = await self._find_attempt(start, again=order.again)
            key = start.build_done_key(attempt)
            run = _ProposalRun(key, card, brief, parts, steps, texts, place)
            written = await self._run(run, order, attempt=attempt, by_beats=by_beats)
            if written.result.is_complete:
                numbers = ", ".join(map(str, written.result.numbers))
                await self._save_step(key, card, _DONE_STEP, steps.name, numbers)
        return written

    async def revise(
        self, order: ProposalOrder, number: int | None, place: Path
    ) -> WrittenProposal:
        """Check proposal `number` of a scene, the latest if None, and revise it; see
        `write`.

        Raises:
            NotFound: There is no such proposal.
            LrwrError: As `write`.
        """
        with hold_writing_lock(self._workspace):
            card, brief = await self._load_brief(order)
            desk = DraftDesk(self._workspace, self._folder)
            if number is None:
                number = await desk.find_latest(card.id)
            file = self._folder.read_proposal(card.id, number)
            texts = load_prompt_texts(self._folder)
            parts, steps = self._create_steps(card)
            digest = sha256(file.text.encode()).hexdigest()
            key = f"revise {file.path} {digest}"
            run = _ProposalRun(key, card, brief, parts, steps, texts, place, file)
            order = replace(order, rounds=max(1, self._count_rounds(order)))
            return await self._run(run, order)

    async def check(
        self, scene: str, number: int | None, place: Path
    ) -> tuple[CheckedScene, tuple[str, ...]]:
        """Return the check of proposal `number` of a scene, the latest if None, in which
        a language model compares it with beats and brief, and remarks on what it did not
        compare.

        Nothing is written. See `write` for `place` and errors.
        """
        card, brief = await self._load_brief(ProposalOrder(scene))
        if number is None:
            number = await DraftDesk(self._workspace, self._folder).find_latest(card.id)
        self._folder.read_proposal(card.id, number)
        _, steps = self._create_steps(card)
        texts = load_prompt_texts(self._folder)
        checker = SceneChecker(
            self._workspace, self._folder, brief, steps, texts, place, self._emit
        )
        await checker.check(number)
        assert checker.last is not None, "it was checked"
        return checker.last, tuple(checker.remarks)

    async def plan(
        self, order: ProposalOrder, number: int | None = None, *, revises: bool = False
    ) -> ProposalPlan:
        """Return what `write` would take, or `revise` if it `revises` proposal `number`;
        nothing is sent or written.

        Raises:
            NotFound: There is no board or no such scene, or nothing was ingested.
            SettingsProblem: No language model is configured, or a prompt is invalid.
        """
        card, brief = await self._load_brief(order)
        parts = self._create_parts(may_ask=False)
        texts, draft = load_prompt_texts(self._folder), ""
        by_beats, rounds = self._is_by_beats(order, card), self._count_rounds(order)
        prompts: list[StepPrompt] = []
        if revises:
            draft = self._folder.read_proposal(card.id, number).text
            rounds = max(1, rounds)
        else:
            start = _AttemptStart(texts, brief, parts.chat.name, by_beats=by_beats)
            attempt = await self._find_attempt(start, again=order.again)
            prompts = list(
                _iter_write_prompts(texts, brief, attempt, by_beats=by_beats)
            )
        first = tuple(prompts[:1])
        keys = [prompt.build_key(parts.chat.name) for prompt in prompts[:1]]
        stored = [await self._journal.find_step(key) for key in keys]
        draft = draft or "word " * (card.words or USUAL_WORDS)
        prompts += [_plan_review(texts, brief, draft)] * (rounds + 1)
        issues = [DraftIssue("card: a sentence about it", "words " * 8)] * _USUAL_ISSUES
        prompts += [build_revise_prompt(texts, brief, draft, issues)] * rounds
        planned = tuple((prompt.step, prompt.estimate()) for prompt in prompts)
        total = sum((usage for _, usage in planned), Usage())
        count = sum(step is not None for step in stored)
        most = sum((prompt.bound() for prompt in prompts), Usage())
        price = parts.budget.price
        return ProposalPlan(
            card, parts.chat.name, planned, count, first, price(total), price(most)
        )

    async def _find_attempt(self, start: "_AttemptStart", *, again: bool) -> int:
        """Return the number of the first attempt that is not finished, or whose last
        proposal was not rejected; `again` skips all finished ones.
        """
        card, attempt = start.brief.card, 0
        while True:
            done = await self._journal.find_step(start.build_done_key(attempt))
            if done is None:
                return attempt
            last = f"{card.id}/{done.reply.rpartition(', ')[2]}"
            if not again and not await self._is_rejected(last):
                return attempt
            attempt += 1

    async def _is_rejected(self, key: str) -> bool:
        entries = await DraftDesk(self._workspace, self._folder).list_entries()
        return key in entries and entries[key].decision is DraftDecision.REJECTED

    async def _load_refusals(self, run: "_ProposalRun") -> dict[str, str]:
        """Return, by the description of a finding, why the model left it as it is in
        another run: this one must ask the same again if it is repeated.
        """
        steps = await self._journal.list_steps(_REFUSED_STEP)
        rows = [
            json.loads(step.reply)
            for step in steps
            if (step.scene, step.model) == (run.card.id, run.steps.name)
        ]
        return {row["finding"]: row["why"] for row in rows if row["run"] != run.key}

    async def _save_refusal(self, run: "_ProposalRun", finding: str, why: str) -> None:
        reply = json.dumps({"run": run.key, "finding": finding, "why": why})
        key = f"{_REFUSED_STEP} {sha256(f'{run.key} {finding}'.encode()).hexdigest()}"
        await self._save_step(key, run.card, _REFUSED_STEP, run.steps.name, reply)

    async def _run(
        self,
        run: "_ProposalRun",
        order: ProposalOrder,
        *,
        attempt: int = 0,
        by_beats: bool = False,
    ) -> WrittenProposal:
        self._folder.clean()
        checker = self._create_checker(run)
        dependencies = DraftingDependencies(
            run.steps,
            run.texts,
            run.brief,
            checker.check,
            partial(self._save_proposal, run.card, run.steps.name),
            self._count_rounds(order),
            by_beats,
            attempt,
            await self._load_refusals(run),
            partial(self._save_refusal, run),
            self._emit,
        )
        start = run.start
        number = int(Path(start.path).stem) if start else 0
        drafting = _load_drafting_runner()
        result = await drafting(dependencies, start.text if start else "", number)
        assert checker.last is not None, "each run ends with a check"
        result = replace(result, remarks=(*result.remarks, *checker.remarks))
        paths = [
            self._folder.name_of(proposal_path(run.card.id, number))
            for number in result.numbers
        ]
        usage = run.steps.usage
        return WrittenProposal(
            run.card,
            tuple(paths),
            result,
            checker.last,
            run.steps.name,
            usage,
            run.parts.budget.price(usage),
        )

    def _create_checker(self, run: "_ProposalRun") -> SceneChecker:
        return SceneChecker(
            self._workspace,
            self._folder,
            run.brief,
            run.steps,
            run.texts,
            run.place,
            self._emit,
        )

    async def _load_brief(self, order: ProposalOrder) -> tuple[SceneCard, Brief]:
        board = await load_placed_board(self._workspace, self._folder)
        index = board.index(order.scene)
        brief = await brief_card(
            self._workspace, self._folder, board, index, order.tokens
        )
        return board.cards[index], brief

    async def _save_proposal(self, card: SceneCard, model: str, text: str) -> int:
        """Make `text` a proposal, unless it is one already, and return its number."""
        numbers = self._folder.list_proposals(card.id)
        for number in numbers:
            if self._folder.read_proposal(card.id, number).text == text:
                break
        else:
            number = max(numbers, default=0) + 1
            self._folder.write(proposal_path(card.id, number), text)
        key = f"{card.id}/{number}"
        await self._save_step(key, card, PROPOSAL_STEP, model, text)
        return number

    async def _save_step(
        self, key: str, card: SceneCard, step: str, model: str, text: str
    ) -> None:
        now = self._workspace.now()
        await self._journal.save_step(DraftStep(key, card.id, step, model, text, now))

    def _create_steps(self, card: SceneCard) -> tuple[JudgeParts, ModelSteps]:
        parts = self._create_parts()
        now = self._workspace.now
        chat, budget = parts.chat, parts.budget
        steps = ModelSteps(chat, budget, self._journal, card.id, now, self._emit)
        return parts, steps

    def _create_parts(self, *, may_ask: bool = True) -> JudgeParts:
        return create_writer_parts(self._workspace, may_ask=may_ask)

    def _is_by_beats(self, order: ProposalOrder, card: SceneCard) -> bool:
        is_set = self._workspace.settings.draft.stride == "beat"
        by_beats = is_set if order.by_beats is None else order.by_beats
        return by_beats and bool(card.beats)

    def _count_rounds(self, order: ProposalOrder) -> int:
        rounds = order.rounds
        return self._workspace.settings.draft.rounds if rounds is None else rounds


def create_writer_parts(workspace: Workspace, *, may_ask: bool = True) -> JudgeParts:
    """Return the language model for the role `writer`, and its budget.

    Raises:
        SettingsProblem: None is configured, or it has no key or no name.
    """
    parts = create_judge_parts(workspace, ModelRole.WRITER, may_ask=may_ask)
    if parts is None:
        raise SettingsProblem(
            "No language model is configured, so you write the text",
            hint="`lrwr draft brief SCENE` shows what a scene needs, `draft plan` asks"
            " what is open; `[model] use` configures a model.",
        )
    return parts


@contextmanager
def hold_writing_lock(workspace: Workspace) -> Iterator[None]:
    """Hold the lock of what language models write into the folder of drafts.

    Raises:
        StoreProblem: Another process holds it.
    """
    lock = FileLock(workspace.library.state_dir / _LOCK)
    try:
        with suppress(OSError):  # a drive without locks
            if not lock.acquire():
                raise StoreProblem(
                    "Another lrwr process is writing a proposal",
                    hint="Try again when it has finished.",
                )
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class _ProposalRun:
    """One run: the scene, its brief and model, and the proposal to start from.

    `key` is the same whenever the run is repeated.
    """

    key: str
    card: SceneCard
    brief: Brief
    parts: JudgeParts
    steps: ModelSteps
    texts: PromptTexts
    place: Path
    start: DraftFile | None = None


@dataclass(frozen=True, slots=True)
class _AttemptStart:
    """What the attempts at a scene by the language model `model` start from."""

    texts: PromptTexts
    brief: Brief
    model: str
    by_beats: bool

    def build_prompt(self, attempt: int) -> StepPrompt:
        """Return the first prompt of an attempt, by its number from 0."""
        if self.by_beats:
            return build_beat_prompt(self.texts, self.brief, 1, "", attempt)
        return build_write_prompt(self.texts, self.brief, attempt)

    def build_done_key(self, attempt: int) -> str:
        """Return the key of the step that says that an attempt is finished."""
        return f"{_DONE_STEP} {self.build_prompt(attempt).build_key(self.model)}"


def _iter_write_prompts(
    texts: PromptTexts, brief: Brief, attempt: int, *, by_beats: bool
) -> Iterator[StepPrompt]:
    """Yield the prompt for a scene, or those for all its beats, with words in the place
    of what comes first.
    """
    if not by_beats:
        yield build_write_prompt(texts, brief, attempt)
        return
    words = (brief.card.words or USUAL_WORDS) // len(brief.card.beats)
    for number in range(len(brief.card.beats)):
        so_far = "word " * words * number
        yield build_beat_prompt(texts, brief, number + 1, so_far, attempt)


def _plan_review(texts: PromptTexts, brief: Brief, draft: str) -> StepPrompt:
    """Return a review prompt with as many passages as one has at most."""
    usual = [BriefItem(BriefSection.STORY, f"{n} {'word ' * 60}", 3) for n in range(18)]
    return build_review_prompt(texts, select_compared(brief, usual), draft)


def _load_drafting_runner() -> Callable[..., Awaitable[DraftingResult]]:
    """Return what runs the steps as a graph; importing LangGraph takes half a second."""
    module = import_module("lrwr.core.drafting.graph")
    runner: Callable[..., Awaitable[DraftingResult]] = module.run_drafting_graph
    return runner
