"""Checks a draft in a temporary copy of the library that has the draft at its place."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.container import Workspace
from lrwr.app.continuity import CheckScope, find_known_contradictions
from lrwr.app.diff import OverlaySource, open_library_copy
from lrwr.app.draft_claims import DraftClaimFinder
from lrwr.app.draft_decisions import DraftDesk, list_rejected
from lrwr.app.drafts import load_placed_board, load_story_places, open_draft_folder
from lrwr.app.ingestion import IngestLimits, create_processing_service
from lrwr.core.adapters.source.folder import FolderSource
from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX
from lrwr.core.continuity.statements import Contradiction, ContradictionSide
from lrwr.core.drafting.board import Board, SceneCard, StoryPlaces
from lrwr.core.drafting.brief import Brief
from lrwr.core.drafting.brief_items import BriefSection
from lrwr.core.drafting.findings import (
    DraftContext,
    DraftFinding,
    DraftReport,
    FindingKind,
    add_findings,
)
from lrwr.core.drafting.folder import (
    BOARD_FILE,
    INTENT_FILE,
    SHEETS_FOLDER,
    WORLD_FOLDER,
    DraftFolder,
)
from lrwr.core.drafting.inspection import inspect_draft
from lrwr.core.drafting.model_steps import ModelSteps
from lrwr.core.drafting.prompts import DraftIssue, PromptTexts
from lrwr.core.drafting.review import review_draft, select_compared
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, ServiceUnavailable, UnreadableDocument
from lrwr.core.model.text import LineIndex
from lrwr.core.ports.stores import DocumentText

if TYPE_CHECKING:
    from lrwr.pipeline.report import EmitIngestEvent

MAX_DRAFT_BYTES = 500_000
"""Size of the longest draft that is checked, about 80,000 words."""

_CONTRADICTED = frozenset({FindingKind.NUMBER, FindingKind.DETAIL, FindingKind.DEAD})

_NEXT = ".next"
"""Ending, before that of its format, of the name that a draft has in the copy of the
library, if it is to become no file yet."""


@dataclass(frozen=True, slots=True)
class DraftSubject:
    """A draft to check.

    `name` is its path for the user. `document` is the one that it is, or is to become;
    "" if that is open. `after` is the document that it follows then, "" for the start of
    the story. `card` is that of its scene, if it belongs to one. `is_accepted` says that
    the document is a draft of lrwr's that was accepted, `is_rejected` that it is one that
    was rejected.
    """

    name: str
    content: bytes
    document: DocumentId
    after: DocumentId
    card: SceneCard | None = None
    is_accepted: bool = False
    is_rejected: bool = False


@dataclass(frozen=True, slots=True)
class CheckedScene:
    """The result of checking a draft.

    `contradictions` are those that involve the draft or appear with it, without intended
    ones. `chapter` is its number in story order, None if it was read as a note;
    `moves_chapters` says that later chapters are numbered one higher than without it.
    `reviewed_by` is the language model that compared the draft with beats, brief and
    `reviewed_passages` passages. `before` are the documents of the story before it.
    """

    name: str
    contradictions: tuple[Contradiction, ...]
    report: DraftReport
    chapter: int | None = None
    moves_chapters: bool = False
    reviewed_by: str = ""
    reviewed_passages: int = 0
    before: frozenset[DocumentId] = frozenset()
    is_rejected: bool = False

    @property
    def needs_author(self) -> bool:
        """Whether there is anything that the author should decide."""
        findings = self.report.findings
        return bool(self.contradictions) or any(f.needs_author for f in findings)


async def find_draft_subject(
    workspace: Workspace,
    folder: DraftFolder,
    name: str,
    number: int | None = None,
    to: Path | None = None,
) -> DraftSubject:
    """Return the draft that `name` means: a file, else a scene of the board.

    Of a scene, it is the proposal `number`, else the file that a draft of it became, else
    the latest proposal, else the file in which it stands. `to` is the file that the draft is to become, else the card's.

    Raises:
        NotFound: There is no such file, scene or proposal.
        UnreadableDocument: The file is too large or cannot be read.
    """
    places = await load_story_places(workspace)
    path = Path(os.path.abspath(name))  # noqa: ASYNC240, PTH100 - links stay as they are
    if path.is_file():  # noqa: ASYNC240 - a single look
        return await _describe_file(workspace, folder, path, to, places)
    board = await load_placed_board(workspace, folder)
    index = board.index(name)
    card = board.cards[index]
    written = folder.root / card.at.file if card.at else None
    accepted = await DraftDesk(workspace, folder).map_accepted_files()
    is_open = folder.list_proposals(card.id) and card.id not in accepted.values()
    if not (is_open or number) and written and written.is_file():
        return await _describe_file(workspace, folder, written, to, places)
    if number is None:
        number = await DraftDesk(workspace, folder).find_latest(card.id)
    proposal = folder.read_proposal(card.id, number)
    rejected = list_rejected(await DraftDesk(workspace, folder).list_entries())
    target = _to_document(workspace, to or written)
    return DraftSubject(
        proposal.path,
        proposal.text.encode(),
        target,
        _find_document_before(places, board, index),
        card,
        is_rejected=f"{card.id}/{Path(proposal.path).stem}" in rejected,
    )


async def _describe_file(
    workspace: Workspace,
    folder: DraftFolder,
    path: Path,
    to: Path | None,
    places: StoryPlaces,
) -> DraftSubject:
    """Return a file of the manuscript, a proposal in the folder, or any other file,
    which then follows the whole story.
    """
    document = _to_document(workspace, path)
    content = _read_limited(path, document)
    is_known = document in places.order.outlines or any(
        path.is_relative_to(target) for target in workspace.manuscript()
    )
    if path.is_relative_to(folder.path):
        is_known = False
        board = await load_placed_board(workspace, folder)
        scene = path.parent.name
        index = next((n for n, c in enumerate(board.cards) if c.id == scene), None)
        if index is not None:
            card = board.cards[index]
            target = _to_document(workspace, to or _card_path(folder, card))
            after = _find_document_before(places, board, index)
            return DraftSubject(document, content, target, after, card)
    last = places.scenes[-1].document if places.scenes else DocumentId("")
    target = _to_document(workspace, to) if to else DocumentId("")
    subject = DraftSubject(document, content, document if is_known else target, last)
    accepted = await DraftDesk(workspace, folder).map_accepted_files()
    if document not in accepted:
        return subject
    cards = (await load_placed_board(workspace, folder)).cards
    own = next((c for c in cards if c.id == accepted[document]), None)
    return replace(subject, card=own, is_accepted=True)


def _card_path(folder: DraftFolder, card: SceneCard) -> Path | None:
    return folder.root / card.at.file if card.at else None


def _read_limited(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_DRAFT_BYTES + 1)
    except OSError as error:
        raise UnreadableDocument(
            f"{name} cannot be read: {error.strerror}", hint="Check its permissions."
        ) from error
    if len(content) > MAX_DRAFT_BYTES:
        raise UnreadableDocument(
            f"{name} is larger than {MAX_DRAFT_BYTES // 1000:,} kB",
            hint="Check a part of it at a time.",
        )
    return content


def _to_document(workspace: Workspace, path: Path | None) -> DocumentId:
    if path is None:
        return DocumentId("")
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they are
    return DocumentId(workspace.library.name_of_document(absolute))


def _find_document_before(places: StoryPlaces, board: Board, index: int) -> DocumentId:
    scene = places.find_scene_before(board, index)
    return scene.document if scene else DocumentId("")


async def check_scene(
    workspace: Workspace,
    subject: DraftSubject,
    place: Path,
    emit: "EmitIngestEvent",
) -> CheckedScene:
    """Check a draft in a copy of the library that is made in `place`, an empty folder.

    Nothing is sent, and the library is not changed. Delete `place` after the event loop
    was closed, because a thread of a cancelled check may still write there. `emit`
    receives the events of the ingestion.

    Raises:
        NotFound: Nothing was ingested here, or the draft has no words.
        UnreadableDocument: The draft cannot be parsed.
        StoreProblem: The library cannot be copied.
    """
    await _require_story(workspace, subject)
    earlier = await _find_contradiction_ids(workspace)
    order = await workspace.bible().story_order()
    document = subject.document or _name_draft(order.story, subject)
    settings = workspace.settings
    if not subject.document:
        patterns = _insert_document(order.story, document, subject.after)
        manuscript = replace(settings.manuscript, order=patterns)
        settings = replace(settings, manuscript=manuscript)
    build = partial(
        DraftContext.of,
        is_revision=document in order.outlines and not subject.is_accepted,
        plans=await _read_known_text(workspace, subject),
        numbering=order,
    )
    state = place / "library"
    async with open_library_copy(settings, workspace.library, state) as copy:
        await _ingest_draft(copy, workspace, document, subject, emit)
        knowledge = await copy.bible().knowledge()
        contradictions = await find_known_contradictions(copy, CheckScope(knowledge))
        context = await asyncio.to_thread(build, knowledge, document, subject.card)
        claims = DraftClaimFinder(copy, frozenset(context.texts_before), document)
        details = await claims.find_differences(context)
    report = add_findings(await asyncio.to_thread(inspect_draft, context), details)
    shown = [
        _rename_document(contradiction, document, DocumentId(subject.name))
        for contradiction in contradictions
        if not contradiction.intended
        and (contradiction.id not in earlier or _involves(contradiction, document))
    ]
    return CheckedScene(
        subject.name,
        tuple(shown),
        _drop_repeated(report, shown, DocumentId(subject.name)),
        chapter=knowledge.order.chapter_number(document, 0),
        moves_chapters=document not in (*order.outlines, knowledge.order.story[-1]),
        before=frozenset(context.texts_before),
        is_rejected=subject.is_rejected,
    )


async def _read_known_text(workspace: Workspace, subject: DraftSubject) -> str:
    """Return the writer's plans, and the text of a file of hers as it is in the library."""
    folder = open_draft_folder(workspace)
    plans = [folder.read(BOARD_FILE), folder.read(INTENT_FILE)]
    plans += [*folder.read_all(SHEETS_FOLDER), *folder.read_all(WORLD_FOLDER)]
    own = [] if subject.is_accepted else [subject.document]
    texts = await workspace.passages.texts(own)
    parts = [file.text for file in plans if file] + [t.text for t in texts.values()]
    return "\n".join(parts + folder.list_names(SHEETS_FOLDER))


def _drop_repeated(
    report: DraftReport, contradictions: Sequence[Contradiction], name: DocumentId
) -> DraftReport:
    """Return `report` without what a contradiction of the draft `name` on the same lines
    says: differing numbers and details, and acts of the dead.
    """
    lines = {
        evidence.lines.first
        for contradiction in contradictions
        for side in (contradiction.canon, contradiction.found)
        for evidence in side.evidence
        if evidence.document == name
    }
    findings = (
        finding
        for finding in report.findings
        if finding.kind not in _CONTRADICTED
        or not finding.lines
        or finding.lines.first not in lines
    )
    return replace(report, findings=tuple(findings))


async def _require_story(workspace: Workspace, subject: DraftSubject) -> None:
    await workspace.require_text()
    if not (await workspace.passages.counts(Pipeline.AGENTIC)).documents:
        raise NotFound(
            "This library has no story data to check a draft against",
            hint="Run `lrwr ingest --pipeline b` first.",
        )
    text = subject.content.decode("utf-8", "ignore")
    if not any(character.isalnum() for character in text):
        raise NotFound(f"{subject.name} has no words", hint="Write something first.")


def _insert_document(
    story: "tuple[DocumentId, ...]", document: DocumentId, after: DocumentId
) -> tuple[str, ...]:
    """Return the story order with `document` after the document `after`, or first."""
    at = story.index(after) + 1 if after in story else 0
    return (*story[:at], document, *story[at:])


async def _find_contradiction_ids(workspace: Workspace) -> set[str]:
    knowledge = await workspace.bible().knowledge()
    return {
        c.id for c in await find_known_contradictions(workspace, CheckScope(knowledge))
    }


def _name_draft(story: "tuple[DocumentId, ...]", subject: DraftSubject) -> DocumentId:
    """Return the name of a draft in the copy: in the folder of the document before, so
    that it has the same type.
    """
    suffix = Path(subject.name).suffix.lower()
    ending = f"{_NEXT}{suffix if suffix in FORMATS_BY_SUFFIX else '.md'}"
    if subject.after:
        return DocumentId(subject.after + ending)
    folder = story[0].rpartition("/")[0] if story else ""
    return DocumentId(f"{folder}/0{ending}" if folder else f"0{ending}")


async def _ingest_draft(
    copy: Workspace,
    workspace: Workspace,
    document: DocumentId,
    subject: DraftSubject,
    emit: "EmitIngestEvent",
) -> None:
    targets = [folder for folder in workspace.manuscript() if folder.exists()]
    base = FolderSource(
        workspace.library.root, targets, workspace.settings.manuscript.exclude
    )
    source = OverlaySource(base, document, subject.content)
    limits = IngestLimits(attribute_now=False, vectors=False, source=source)
    service = create_processing_service(copy, targets, may_ask=False, limits=limits)
    report = await service.process(emit)
    problem = next((p for p in report.problems if p.document == document), None)
    if problem is not None:
        raise UnreadableDocument(
            f"{subject.name} was not checked: {problem.message}",
            hint="Save it as Markdown or plain text in UTF-8.",
        )


def _involves(contradiction: Contradiction, document: DocumentId) -> bool:
    sides = (contradiction.canon, contradiction.found)
    return any(e.document == document for side in sides for e in side.evidence)


def _rename_document(
    contradiction: Contradiction, document: DocumentId, name: DocumentId
) -> Contradiction:
    """Return `contradiction` with the draft under the name that the user knows."""

    def rename(side: ContradictionSide) -> ContradictionSide:
        evidence = tuple(
            replace(e, document=name) if e.document == document else e
            for e in side.evidence
        )
        return replace(side, evidence=evidence)

    return replace(
        contradiction,
        canon=rename(contradiction.canon),
        found=rename(contradiction.found),
    )


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
        self.last = await self._add_review(checked, subject)
        return list_issues(self.last)

    async def _add_review(
        self, checked: CheckedScene, subject: DraftSubject
    ) -> CheckedScene:
        draft = subject.content.decode()
        claims = DraftClaimFinder(self.workspace, checked.before, subject.document)
        text = DocumentText(draft, LineIndex.of(draft))
        compared = select_compared(self.brief, await claims.find_passages(text))
        try:
            findings, dropped = await review_draft(
                self.steps, self.texts, compared, draft
            )
        except ServiceUnavailable as error:
            self.remarks.append(
                f"The draft was not compared with beats and brief. {error.full_text}"
            )
            return checked
        for reason in dropped:
            self.emit(f"A contradiction to the brief is not shown: {reason}")
        sections = (BriefSection.STORY, BriefSection.NOTES)
        return replace(
            checked,
            report=add_findings(checked.report, _drop_known(findings, checked)),
            reviewed_by=self.steps.name,
            reviewed_passages=sum(i.section in sections for i in compared.items),
        )


def _drop_known(
    findings: Sequence[DraftFinding], checked: CheckedScene
) -> list[DraftFinding]:
    """Return the `findings` of a language model without contradictions that the rules
    found: of the same words on the same lines. One that only the author can judge does
    not replace one that a revision can correct.
    """
    rows = [
        (f.lines, f.words, f.is_remark)
        for f in checked.report.findings
        if f.lines and f.words
    ]
    rows += [
        (evidence.lines, side.value, False)
        for contradiction in checked.contradictions
        for side in (contradiction.canon, contradiction.found)
        for evidence in side.evidence
        if evidence.document == checked.name
    ]

    def is_known(finding: DraftFinding) -> bool:
        quote, at = finding.quote.casefold(), finding.lines
        return finding.kind is FindingKind.BRIEF and any(
            at is not None
            and at.first <= lines.last
            and lines.first <= at.last
            and words.casefold() in quote
            and (finding.is_remark or not is_remark)
            for lines, words, is_remark in rows
        )

    return [finding for finding in findings if not is_known(finding)]


def list_issues(checked: CheckedScene) -> list[DraftIssue]:
    """Return the contradictions and findings of a check, as a model gets them."""
    contradictions = (
        DraftIssue.of_contradiction(contradiction, checked.name)
        for contradiction in checked.contradictions
    )
    findings = checked.report.findings
    return [*contradictions, *(DraftIssue.of(f, checked.name) for f in findings)]
