"""Proposals for scenes by a language model: written, checked, revised and saved."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.app.draft_check import CheckedScene, check_scene, find_draft_subject
from lrwr.app.draft_decisions import DraftDesk
from lrwr.app.draft_prompts import load_prompt_texts
from lrwr.app.drafts import brief_card, load_placed_board
from lrwr.app.judge_parts import JudgeParts, create_judge_parts
from lrwr.core.adapters.storage.sqlite.draft_journal import SqliteDraftJournal
from lrwr.core.continuity.statements import Contradiction, ContradictionSide
from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.brief import DEFAULT_BRIEF_TOKENS, Brief
from lrwr.core.drafting.folder import DraftFile, DraftFolder, proposal_path
from lrwr.core.drafting.model_steps import ModelSteps, StepPrompt
from lrwr.core.drafting.prompts import (
    USUAL_WORDS,
    PromptTexts,
    build_beat_prompt,
    build_revise_prompt,
    build_write_prompt,
)
from lrwr.core.drafting.review import build_review_prompt, review_draft
from lrwr.core.drafting.revision import DraftIssue
from lrwr.core.drafting.steps import (
    DraftingDependencies,
    DraftingResult,
)
from lrwr.core.model.drafts import DraftStep
from lrwr.core.model.errors import ServiceUnavailable, SettingsProblem, StoreProblem
from lrwr.core.model.language_model import Usage
from lrwr.core.settings.chat_models import ModelRole
from lrwr.core.settings.files import FileLock

PROPOSAL_STEP = "proposal"
_DONE_STEP = "done"
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
    reply. `cost` is in US dollars, None if unknown.
    """

    card: SceneCard
    model: str
    steps: tuple[tuple[str, Usage], ...]
    stored: int
    prompts: tuple[StepPrompt, ...]
    cost: float | None = None

    @property
    def usage(self) -> Usage:
        """The estimated usage of all calls."""
        return sum((usage for _, usage in self.steps), Usage())


@dataclass(slots=True)
class SceneChecker:
    """Checks proposals for one scene, each in a folder of its own in `place`.

    `brief` is that of the scene. `last` is the last result, `remarks` say what could not
    be checked. `emit` receives a sentence if conflicts with the brief were dropped.
    """

    workspace: Workspace
    folder: DraftFolder
    brief: Brief
    steps: ModelSteps
    texts: PromptTexts
    place: Path
    emit: Callable[[str], None] = lambda _: None
    last: CheckedScene | None = None
    remarks: list[str] = field(default_factory=list)
    _count: int = 0

    async def check(self, number: int | None) -> list[DraftIssue]:
        """Return what is wrong with a proposal; see `check_scene` for errors."""
        subject = await find_draft_subject(
            self.workspace, self.folder, self.brief.card.id, number
        )
        self._count += 1
        place = self.place / str(self._count)
        place.mkdir()
        checked = await check_scene(self.workspace, subject, place, lambda _: None)
        draft = subject.content.decode()
        self.last = await self._add_review(checked, draft)
        return list_issues(self.last)

    async def _add_review(self, checked: CheckedScene, draft: str) -> CheckedScene:
        try:
            findings, dropped = await review_draft(
                self.steps, self.texts, self.brief, draft
            )
        except ServiceUnavailable as error:
            self.remarks.append(
                f"The draft was not compared with beats and brief. {error.full_text}"
            )
            return checked
        if dropped:
            count = f"{dropped} contradictions" if dropped > 1 else "A contradiction"
            self.emit(f"{count} to the brief not shown: the quoted words do not exist")
        report = checked.report
        report = replace(report, findings=(*report.findings, *findings))
        return replace(checked, report=report, reviewed_by=self.steps.name)


def list_issues(checked: CheckedScene) -> list[DraftIssue]:
    """Return the contradictions and findings of a check, as a model gets them."""
    contradictions = (
        _describe_contradiction(contradiction, checked.name)
        for contradiction in checked.contradictions
    )
    findings = checked.report.findings
    return [*contradictions, *(DraftIssue.of(f, checked.name) for f in findings)]


def _describe_contradiction(contradiction: Contradiction, name: str) -> DraftIssue:
    sides = (contradiction.canon, contradiction.found)
    own = [e for side in sides for e in side.evidence if e.document == name]
    others = [e for side in sides for e in side.evidence if e.document != name]
    values = " or ".join(_name_value(side) for side in sides)
    return DraftIssue(
        f"contradiction: {contradiction.about}, {contradiction.attribute}: {values}?",
        own[0].text if own else "",
        tuple(f"In chapter {e.chapter}: “{e.text}”" for e in others[:3]),
    )


def _name_value(side: ContradictionSide) -> str:
    return f"“{side.value}”"


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
            attempt, key = 0, ""
            while True:
                first = _build_first_prompt(texts, brief, attempt, by_beats=by_beats)
                key = f"{_DONE_STEP} {first.build_key(steps.name)}"
                if not order.again or await self._journal.find_step(key) is None:
                    break
                attempt += 1
            run = _ProposalRun(card, brief, parts, steps, texts, place)
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
            run = _ProposalRun(card, brief, parts, steps, texts, place, file)
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
        elif by_beats:
            prompts = list(_iter_beat_prompts(texts, brief))
        else:
            prompts = [build_write_prompt(texts, brief, 0)]
        first = tuple(prompts[:1])
        keys = [prompt.build_key(parts.chat.name) for prompt in prompts[:1]]
        stored = [await self._journal.find_step(key) for key in keys]
        draft = draft or "word " * (card.words or USUAL_WORDS)
        prompts += [build_review_prompt(texts, brief, draft)] * (rounds + 1)
        issues = [DraftIssue("card: a sentence about it", "words " * 8)] * _USUAL_ISSUES
        prompts += [build_revise_prompt(texts, brief, draft, issues)] * rounds
        planned = tuple((prompt.step, prompt.estimate()) for prompt in prompts)
        total = sum((usage for _, usage in planned), Usage())
        count = sum(step is not None for step in stored)
        cost = parts.budget.price(total)
        return ProposalPlan(card, parts.chat.name, planned, count, first, cost)

    async def _run(
        self,
        run: "_ProposalRun",
        order: ProposalOrder,
        *,
        attempt: int = 0,
        by_beats: bool = False,
    ) -> WrittenProposal:
        self._folder.clean()
        checker = SceneChecker(
            self._workspace,
            self._folder,
            run.brief,
            run.steps,
            run.texts,
            run.place,
            self._emit,
        )
        dependencies = DraftingDependencies(
            run.steps,
            run.texts,
            run.brief,
            checker.check,
            partial(self._save_proposal, run.card, run.steps.name),
            self._count_rounds(order),
            by_beats,
            attempt,
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
    """One run: the scene, its brief and model, and the proposal to start from."""

    card: SceneCard
    brief: Brief
    parts: JudgeParts
    steps: ModelSteps
    texts: PromptTexts
    place: Path
    start: DraftFile | None = None


def _build_first_prompt(
    texts: PromptTexts, brief: Brief, attempt: int, *, by_beats: bool
) -> StepPrompt:
    if by_beats:
        return build_beat_prompt(texts, brief, 1, "", attempt)
    return build_write_prompt(texts, brief, attempt)


def _iter_beat_prompts(texts: PromptTexts, brief: Brief) -> Iterator[StepPrompt]:
    """Yield the prompts for all beats, with words in the place of what comes first."""
    words = (brief.card.words or USUAL_WORDS) // len(brief.card.beats)
    for number in range(len(brief.card.beats)):
        yield build_beat_prompt(texts, brief, number + 1, "word " * words * number, 0)


def _load_drafting_runner() -> Callable[..., Awaitable[DraftingResult]]:
    """Return what runs the steps as a graph; importing LangGraph takes half a second."""
    module = import_module("lrwr.core.drafting.graph")
    runner: Callable[..., Awaitable[DraftingResult]] = module.run_drafting_graph
    return runner
