"""How contradictions are looked for and shown on the command line."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.presenters.text import StyledText, sanitize_line, shorten_excerpt
from lrwr.cli.presenters.bible_json import evidence_as_json
from lrwr.cli.runtime.output import Output
from lrwr.core.bible.service import StoryKnowledge
from lrwr.core.bible.values import format_evidence_location
from lrwr.core.canon.model import normalize_canon_path
from lrwr.core.canon.resolver import resolve_document
from lrwr.core.continuity.guard import UNCHECKED_TOPICS, find_contradictions
from lrwr.core.continuity.pair_selection import find_statement_pairs
from lrwr.core.continuity.pairs import StatementPair
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    StatementSource,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.settings.model import Settings


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is checked: files, all if none are named, and up to which place."""

    paths: Sequence[str] = ()
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class CheckScope:
    """What is known, how far it is looked at, and which documents are asked about."""

    known: StoryKnowledge
    horizon: Horizon | None
    documents: tuple[DocumentId, ...] | None

    async def by_rules(self) -> tuple[Contradiction, ...]:
        """Return what rules find, in a thread of its own."""
        return await asyncio.to_thread(
            find_contradictions, self.known, self.horizon, self.documents
        )

    async def pairs(self) -> tuple[StatementPair, ...]:
        """Return what a model may judge, in a thread of its own."""
        return await asyncio.to_thread(
            find_statement_pairs, self.known, self.horizon, self.documents
        )


async def run_rule_check(
    settings: Settings, output: Output, check_request: CheckRequest
) -> tuple[Contradiction, ...]:
    """Return every contradiction that rules find, or those in the files asked about.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
    """
    async with open_workspace(settings, say=output.story) as workspace:
        return await (await load_check_scope(workspace, check_request)).by_rules()


async def load_check_scope(
    workspace: Workspace, check_request: CheckRequest
) -> CheckScope:
    """Read what is known, and find the files and the place that are asked about.

    Raises:
        NotFound: Nothing has been ingested here, or there is no such file or place.
    """
    workspace.require_library()
    service = workspace.bible()
    horizon = (
        None
        if check_request.as_of is None
        else await service.horizon(check_request.as_of)
    )
    knowledge = await service.knowledge(horizon)
    spelled = {
        normalize_canon_path(outline): outline for outline in knowledge.order.outlines
    }
    root, current_folder = workspace.library.root, Path.cwd()
    document_ids = (
        resolve_document(
            path,
            document_ids=list(spelled),
            root=root,
            working_directory=current_folder,
        )
        for path in check_request.paths
    )
    documents = tuple(
        spelled.get(document_id, document_id) for document_id in document_ids
    )
    return CheckScope(knowledge, horizon, documents or None)


def show_contradictions(
    contradictions: Sequence[Contradiction], output: Output
) -> None:
    """Show each with both values, and every passage with its place."""
    for contradiction in contradictions:
        intended_note = "  intended" if contradiction.intended else ""
        reason_note = f": {contradiction.because}" if contradiction.because else ""
        output.answer(
            StyledText(contradiction.id, "place"),
            f"  {contradiction.about}, {contradiction.attribute}: {_values(contradiction)}",
            StyledText(
                f"{intended_note}{reason_note if intended_note else ''}", "faint"
            ),
        )
        if contradiction.judge:
            reason = (
                f": {sanitize_line(contradiction.why)}" if contradiction.why else ""
            )
            output.answer(
                StyledText(f"{contradiction.judge} says so{reason}", "faint"), indent=6
            )
        for side in (contradiction.canon, contradiction.found):
            _show_side(side, output)
        output.answer()


def _values(contradiction: Contradiction) -> str:
    found_text, canon_text = (
        sanitize_line(contradiction.found.value),
        sanitize_line(contradiction.canon.value),
    )
    if contradiction.judge:
        return f"“{found_text}”, against “{canon_text}”"
    return f"{found_text}, not {canon_text}"


def _show_side(side: ContradictionSide, output: Output) -> None:
    speaker = (
        "the text" if side.source is StatementSource.TEXT else f"your {side.source}"
    )
    if not side.evidence:
        output.answer(
            StyledText("lrwr.canon.toml", "place"),
            f"  {speaker}: {side.value}",
            indent=6,
        )
    for passage in side.evidence:
        chapter = "" if passage.chapter is None else f"ch{passage.chapter}  "
        output.answer(
            StyledText(sanitize_line(format_evidence_location(passage)), "place"),
            StyledText(f"  {chapter}{speaker}: ", "faint"),
            f"“{shorten_excerpt(passage.text)}”",
            indent=6,
        )


def print_check_summary(
    unintended: Sequence[Contradiction], intended: int, output: Output, *, every: bool
) -> None:
    """Say what to do about it."""
    if unintended:
        output.story(
            "Change the text or the note and run `lrwr ingest`; or, if it is meant so:"
            f" lrwr check intend {unintended[0].id}"
        )
    else:
        output.story("No contradiction is known.")
    if intended and not every:
        output.story(f"{intended} more are intended: --all.")


def print_rules_only_note(settings: Settings, output: Output) -> None:
    """Say what rules did not look at, and who could."""
    output.story(f"Not evaluated: {UNCHECKED_TOPICS}.")
    model_option = "`lrwr check --model` has a language model judge some of it"
    has_model = settings.model.use != "off"
    next_step = (
        "`--dry-run` says the price first"
        if has_model
        else "`[model] use` turns one on"
    )
    output.story(f"{model_option}; {next_step}.")


def contradiction_as_json(contradiction: Contradiction) -> dict[str, object]:
    """Return a contradiction for a script."""
    return {
        "id": contradiction.id,
        "about": contradiction.about,
        "attribute": contradiction.attribute,
        "canon": _side(contradiction.canon),
        "found": _side(contradiction.found),
        "intended": contradiction.intended,
        "because": contradiction.because or None,
        "judge": contradiction.judge or None,
        "why": contradiction.why or None,
    }


def _side(side: ContradictionSide) -> dict[str, object]:
    return {
        "value": side.value,
        "source": side.source,
        "evidence": [evidence_as_json(passage) for passage in side.evidence],
    }
