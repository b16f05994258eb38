"""The steps that draft a scene with a language model, and what they read and write."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypedDict

from lrwr.core.drafting.brief import Brief
from lrwr.core.drafting.model_steps import ModelSteps
from lrwr.core.drafting.prompts import (
    MAX_ISSUES,
    DraftEdit,
    DraftIssue,
    PromptTexts,
    build_beat_prompt,
    build_revise_prompt,
    build_write_prompt,
    parse_prose,
    parse_revision,
)
from lrwr.core.model.errors import ServiceUnavailable

MAX_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class DraftingDependencies:
    """What the steps use.

    `brief` is that of the scene. `check` returns what is wrong with a text
    that `save` made a proposal, of which that returns the number. At most `rounds`
    revisions follow. `by_beats` asks for one beat at a time, and `attempt` numbers
    further drafts from the same brief. `refusals` has, by the description of a finding,
    why the model left it as it is before; `remember` stores another one. `emit` receives
    a sentence about each step.
    """

    steps: ModelSteps
    texts: PromptTexts
    brief: Brief
    check: Callable[[int], Awaitable[Sequence[DraftIssue]]]
    save: Callable[[str], Awaitable[int]]
    rounds: int = 1
    by_beats: bool = False
    attempt: int = 0
    refusals: Mapping[str, str] = field(default_factory=dict)
    remember: Callable[[str, str], Awaitable[None]] | None = None
    emit: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class MadeEdit:
    """An edit of a revision, and the finding that it is for."""

    issue: DraftIssue
    edit: DraftEdit


@dataclass(frozen=True, slots=True)
class RefusedFinding:
    """A finding that the language model left as it is, and its reason."""

    issue: DraftIssue
    why: str


@dataclass(frozen=True, slots=True)
class DraftingResult:
    """What drafting gave: the numbers of its proposals, the latest last.

    `edits` led from the first to the last; `refused` are findings that the model did not
    correct. `remarks` say what failed; `is_complete` that nothing did.
    """

    numbers: tuple[int, ...]
    edits: tuple[MadeEdit, ...] = ()
    refused: tuple[RefusedFinding, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether no step failed."""
        return not self.remarks


class DraftingState(TypedDict, total=False):
    """The state that the steps read and write.

    `text` is the latest proposal, `number` that of its file. `round` counts the
    revisions; `is_revision_due` says that another follows, `is_stopped` that the last
    one changed nothing.
    """

    text: str
    number: int
    numbers: tuple[int, ...]
    issues: tuple[DraftIssue, ...]
    edits: tuple[MadeEdit, ...]
    refused: tuple[RefusedFinding, ...]
    remarks: tuple[str, ...]
    round: int
    is_revision_due: bool
    is_stopped: bool


DraftingStep: TypeAlias = Callable[
    [DraftingState, DraftingDependencies], Awaitable[DraftingState]
]
"""One step: gets the state so far, returns the keys that it sets."""


def build_drafting_state(text: str = "", number: int = 0) -> DraftingState:
    """Return the state before the first step; `text` is an existing proposal."""
    return {
        "text": text,
        "number": number,
        "numbers": (),
        "issues": (),
        "edits": (),
        "refused": (),
        "remarks": (),
        "round": 0,
        "is_revision_due": False,
        "is_stopped": False,
    }


async def write_scene_text(
    state: DraftingState, dependencies: DraftingDependencies
) -> DraftingState:
    """Let the model write the scene, and save it; an existing text is not replaced."""
    if state["text"]:
        return {}
    brief = dependencies.brief
    if dependencies.by_beats and brief.card.beats:
        prose = await _write_beats(brief, dependencies)
    else:
        dependencies.emit("Writing")
        prompt = build_write_prompt(dependencies.texts, brief, dependencies.attempt)
        prose = await dependencies.steps.request(prompt, parse_prose)
    title = " ".join(brief.card.title.split())
    text = f"# {title}\n\n{prose}\n"
    number = await dependencies.save(text)
    return {"text": text, "number": number, "numbers": (number,)}


async def _write_beats(brief: Brief, dependencies: DraftingDependencies) -> str:
    parts: list[str] = []
    for beat in range(1, len(brief.card.beats) + 1):
        dependencies.emit(f"Writing beat {beat} of {len(brief.card.beats)}")
        so_far = "\n\n".join(parts)
        prompt = build_beat_prompt(
            dependencies.texts, brief, beat, so_far, dependencies.attempt
        )
        parts.append(await dependencies.steps.request(prompt, parse_prose))
    return "\n\n".join(parts)


async def check_proposal(
    state: DraftingState, dependencies: DraftingDependencies
) -> DraftingState:
    """Check the latest proposal, at its place in the story."""
    dependencies.emit("Checking")
    issues = tuple(await dependencies.check(state["number"]))
    refused = list(state["refused"])
    described = {entry.issue.describe() for entry in refused}
    for issue in issues:
        why = dependencies.refusals.get(issue.describe())
        if why is not None and issue.describe() not in described:
            refused.append(RefusedFinding(issue, why))
    revisable = _list_revisable(issues, refused)
    is_due = bool(revisable) and state["round"] < dependencies.rounds
    return {
        "issues": issues,
        "refused": tuple(refused),
        "is_revision_due": is_due,
    }


async def revise_proposal(
    state: DraftingState, dependencies: DraftingDependencies
) -> DraftingState:
    """Let the model edit the proposal, and save the result as the next one.

    If it fails, nothing is changed: a reply is used as a whole or not at all.
    """
    issues, text = _list_revisable(state["issues"], state["refused"]), state["text"]
    count = f"{len(issues)} findings" if len(issues) > 1 else "one finding"
    dependencies.emit(f"Revising for {count}")
    prompt = build_revise_prompt(dependencies.texts, dependencies.brief, text, issues)
    try:
        revision = await dependencies.steps.request(
            prompt, partial(parse_revision, draft=text, issues=issues)
        )
    except ServiceUnavailable as error:
        remark = f"It was not revised. {error.full_text}"
        return {"is_stopped": True, "remarks": (*state["remarks"], remark)}
    refused = [
        RefusedFinding(issues[entry.finding - 1], entry.why)
        for entry in revision.refused
    ]
    for entry in refused:
        if dependencies.remember is not None:
            await dependencies.remember(entry.issue.describe(), entry.why)
    update: DraftingState = {
        "round": state["round"] + 1,
        "refused": (*state["refused"], *refused),
        "is_stopped": revision.text == text,
    }
    if revision.text == text:
        return update
    number = await dependencies.save(revision.text)
    edits = (MadeEdit(issues[edit.finding - 1], edit) for edit in revision.edits)
    return update | {
        "text": revision.text,
        "number": number,
        "numbers": (*state["numbers"], number),
        "edits": (*state["edits"], *edits),
    }


def _list_revisable(
    issues: Sequence[DraftIssue], refused: Sequence[RefusedFinding]
) -> list[DraftIssue]:
    """Return the findings that a revision is asked for: no remarks, and not those
    `refused` before.
    """
    texts = {entry.issue.describe() for entry in refused}
    revisable = [i for i in issues if not i.is_remark and i.describe() not in texts]
    return revisable[:MAX_ISSUES]


def build_result(state: DraftingState) -> DraftingResult:
    """Return what the steps gave."""
    return DraftingResult(
        state["numbers"], state["edits"], state["refused"], state["remarks"]
    )
