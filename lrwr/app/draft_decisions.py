"""Decisions about drafts: accepting one as a new file of the manuscript, rejecting it,
undoing it.
"""

import asyncio
import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, unified_diff
from pathlib import Path

from lrwr.app.container import Workspace
from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX
from lrwr.core.adapters.storage.sqlite.draft_journal import SqliteDraftJournal
from lrwr.core.drafting.board import Board, SceneCard, ScenePlace, parse_board
from lrwr.core.drafting.folder import BOARD_FILE, SHEETS_FOLDER, DraftFile, DraftFolder
from lrwr.core.model.documents import DocumentFormat
from lrwr.core.model.drafts import DraftDecision, DraftEntry
from lrwr.core.model.errors import LrwrError, NotFound, SettingsProblem, StoreProblem
from lrwr.core.settings.files import FileLock, create_file_atomically

_LOCK = "drafts.lock"


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft in the folder: `key` is "SCENE/NUMBER" or "sheets/NAME".

    `card` is that of its scene, None for a sheet.
    """

    key: str
    file: DraftFile
    card: SceneCard | None = None


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A draft and what was decided about it, and how much of it its file still has.

    `standing` is between 0.0 and 1.0; None if it is no file now.
    """

    entry: DraftEntry
    standing: float | None = None


class DraftDesk:
    """Finds drafts and records decisions about them; the only writer of the journal.

    `folder` has the drafts. One process at a time decides.
    """

    def __init__(self, workspace: Workspace, folder: DraftFolder) -> None:
        workspace.require_library()
        self._workspace = workspace
        self._folder = folder
        self._journal = SqliteDraftJournal(workspace.database)

    async def find(self, name: str, number: int | None = None) -> Draft:
        """Return the draft `number` of the scene `name`, else the latest one that was
        not rejected; or the sheet with this name.

        Raises:
            NotFound: There is no such draft.
            SettingsProblem: It cannot be read.
        """
        board_file = self._folder.read(BOARD_FILE)
        board = parse_board(board_file.text) if board_file else Board()
        try:
            card = board.cards[board.index(name)]
        except NotFound:
            sheet = self._folder.read(f"{SHEETS_FOLDER}/{name}.md")
            if sheet is None or Path(name).name != name:
                raise
            return Draft(f"{SHEETS_FOLDER}/{name}", sheet)
        if number is None:
            number = await self.find_latest(card.id)
        file = self._folder.read_proposal(card.id, number)
        return Draft(f"{card.id}/{Path(file.path).stem}", file, card)

    async def find_latest(self, scene: str) -> int | None:
        """Return the number of the latest draft of a scene that was not rejected; None
        if there is none.

        Raises:
            StoreProblem: The library cannot be read.
        """
        rejected = list_rejected(await self.list_entries())
        numbers = self._folder.list_proposals(scene)
        remaining = [
            number for number in numbers if f"{scene}/{number}" not in rejected
        ]
        return remaining[-1] if remaining else None

    async def map_accepted_files(self) -> dict[str, str]:
        """Return the scene, or "sheets", of each file that an accepted draft became.

        Raises:
            StoreProblem: The library cannot be read.
        """
        return {
            entry.file: entry.key.rpartition("/")[0]
            for entry in await self._journal.entries()
            if entry.decision is DraftDecision.ACCEPTED
        }

    async def find_accepted(self, draft: Draft, to: Path | None) -> DraftEntry | None:
        """Return the decision with which `draft` became the file that `accept` would
        create; None if that file does not exist.

        Raises:
            SettingsProblem: No file is named, another one has the name, or ingestion
                would not read it.
        """
        target = self._choose_target(draft, to)
        name = self._workspace.library.name_of_document(target)
        earlier = await self._find_entry(draft.key)
        if earlier is not None and _is_standing(earlier, target, name):
            return earlier
        if target.exists():
            raise _exists_error(name)
        return None

    async def accept(self, draft: Draft, to: Path | None) -> DraftEntry:
        """Make `draft` a new file of the manuscript, at `to` or where its card says.

        Repeating it after a crash completes it. An existing file is never changed.

        Raises:
            SettingsProblem: No file is named, it exists, or ingestion would not read it.
            LrwrError: It cannot be written.
        """
        target = self._choose_target(draft, to)
        name = self._workspace.library.name_of_document(target)
        content = draft.file.text.encode()
        entry = DraftEntry(
            draft.key,
            DraftDecision.ACCEPTING,
            draft.file.text,
            self._workspace.now(),
            name,
            await self._find_model(draft.key),
        )
        with self._lock():
            earlier = await self.find_accepted(draft, to)
            if earlier is not None:
                if earlier.decision is DraftDecision.ACCEPTING:
                    earlier = replace(earlier, decision=DraftDecision.ACCEPTED)
                    await self._journal.save(earlier)
                return earlier
            await self._journal.save(entry)
            await asyncio.to_thread(self._create, target, content)
            entry = replace(entry, decision=DraftDecision.ACCEPTED)
            await self._journal.save(entry)
        return entry

    async def reject(self, draft: Draft) -> DraftEntry:
        """Record that `draft` is rejected; its file in the folder stays.

        Raises:
            SettingsProblem: It was accepted.
            StoreProblem: The journal cannot be written.
        """
        with self._lock():
            earlier = await self._find_entry(draft.key)
            if earlier and earlier.decision is DraftDecision.ACCEPTED:
                raise SettingsProblem(
                    f"{draft.file.path} was accepted as {earlier.file}",
                    hint="Run `lrwr draft undo` first.",
                )
            now = self._workspace.now()
            text = draft.file.text
            model = await self._find_model(draft.key)
            entry = DraftEntry(
                draft.key, DraftDecision.REJECTED, text, now, model=model
            )
            await self._journal.save(entry)
        return entry

    async def undo(self, scene: str = "") -> DraftEntry:
        """Remove the file of the draft that was accepted last, of `scene` if it is
        named; the draft stays in the folder.

        Raises:
            NotFound: No draft is accepted.
            SettingsProblem: The file was changed since; it stays.
            LrwrError: It cannot be removed.
        """
        with self._lock():
            accepted = [
                entry
                for entry in await self._journal.entries()
                if entry.decision in (DraftDecision.ACCEPTED, DraftDecision.ACCEPTING)
                and (not scene or entry.key.rpartition("/")[0] == scene
                     or entry.key == f"{SHEETS_FOLDER}/{scene}")
            ]  # fmt: skip
            if not accepted:
                raise NotFound(
                    "No draft is accepted" + (f" for {scene}" if scene else ""),
                    hint="`lrwr draft ledger` lists all decisions.",
                )
            entry = accepted[-1]
            await asyncio.to_thread(self._remove, entry)
            entry = replace(entry, decision=DraftDecision.UNDONE)
            await self._journal.save(entry)
        return entry

    async def list_entries(self) -> Mapping[str, DraftEntry]:
        """Return all decisions by draft, the earliest first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        return {entry.key: entry for entry in await self._journal.entries()}

    async def list_ledger(self) -> list[LedgerRow]:
        """Return all decisions, with how much of each draft its file still has, then the
        drafts of scenes about which nothing was decided; they are superseded if another
        draft of their scene is accepted.

        Raises:
            SettingsProblem: A draft cannot be read.
            StoreProblem: The library cannot be read.
        """
        entries = await self._journal.entries()
        rows = [LedgerRow(entry, self._measure_standing(entry)) for entry in entries]
        decided = {entry.key for entry in entries}
        accepted = set((await self.map_accepted_files()).values())
        others = [
            (scene, number)
            for scene in self._folder.list_scenes()
            for number in self._folder.list_proposals(scene)
            if f"{scene}/{number}" not in decided
        ]
        for scene, number in others:
            entry = await self._describe_undecided(scene, number)
            if scene in accepted:
                entry = replace(entry, decision=DraftDecision.SUPERSEDED)
            rows.append(LedgerRow(entry))
        return rows

    async def _describe_undecided(self, scene: str, number: int) -> DraftEntry:
        key, file = f"{scene}/{number}", self._folder.read_proposal(scene, number)
        step = await self._journal.find_step(key)
        return DraftEntry(
            key,
            DraftDecision.UNDECIDED,
            file.text,
            step.at if step else 0.0,
            model=step.model if step else "",
        )

    async def compare(self, draft: Draft) -> list[str]:
        """Return the lines of a unified diff: from the file that `draft` became, else
        from the draft before it, to `draft`.

        Raises:
            NotFound: There is nothing to compare it with.
        """
        entry = await self._find_entry(draft.key)
        path = self._workspace.library.root / entry.file if entry else Path()
        if entry and entry.decision is DraftDecision.ACCEPTED and path.is_file():
            other = DraftFile(entry.file, path.read_text("utf-8", "replace"))
        elif draft.card is not None:
            numbers = self._folder.list_proposals(draft.card.id)
            own = int(draft.key.rpartition("/")[2])
            earlier = [number for number in numbers if number < own]
            if not earlier:
                raise NotFound(
                    f"There is no draft before {draft.file.path}",
                    hint="Leave out `--diff` to read it.",
                )
            other = self._folder.read_proposal(draft.card.id, earlier[-1])
        else:
            raise NotFound(
                f"{draft.file.path} is not accepted, so there is nothing to compare",
                hint="Leave out `--diff` to read it.",
            )
        texts = (other.text.splitlines(), draft.file.text.splitlines())
        return list(unified_diff(*texts, other.path, draft.file.path, lineterm=""))

    def _choose_target(self, draft: Draft, to: Path | None) -> Path:
        """Return the file to create.

        Raises:
            SettingsProblem: None is named, or ingestion would not read it.
        """
        planned = draft.card.at if draft.card else None
        if to is None and planned is None:
            raise SettingsProblem(
                "No file is named for the draft",
                hint="Add `--to FILE`, such as `--to chapters/11.md`, or a line"
                " `- file: …` to its card.",
            )
        path = to or self._folder.root / str(planned and planned.file)
        target = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they are
        folders = [folder.resolve() for folder in self._workspace.manuscript()]
        is_inside = any(target.parent.resolve().is_relative_to(f) for f in folders)
        if not is_inside or target.is_relative_to(self._folder.path):
            raise SettingsProblem(
                f"{target} is in no folder of the manuscript, so lrwr would not read it",
                hint="Name a file in the folder of your chapters.",
            )
        kind = FORMATS_BY_SUFFIX.get(target.suffix.lower())
        is_text = kind in (DocumentFormat.MARKDOWN, DocumentFormat.TEXT)
        if not is_text or target.name.startswith("."):
            raise SettingsProblem(
                f"{target.name} is not a Markdown or text file",
                hint="Name a file that ends in .md or .txt.",
            )
        return target

    def _create(self, target: Path, content: bytes) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._folder.clean()
            try:
                create_file_atomically(target, content, self._folder.path)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # The folder of drafts is on another drive.
                create_file_atomically(target, content, target.parent)
        except FileExistsError as error:
            raise _exists_error(str(target)) from error
        except OSError as error:
            raise LrwrError(
                f"{target} cannot be written: {error.strerror}",
                hint="Check the free disk space and the permissions of the folder.",
            ) from error

    def _remove(self, entry: DraftEntry) -> None:
        path = self._workspace.library.root / entry.file
        try:
            if path.exists() and not _has_content(path, entry.text):
                raise SettingsProblem(
                    f"{entry.file} was changed since it was accepted, so it stays",
                    hint="Delete it yourself if you no longer need it.",
                )
            path.unlink(missing_ok=True)
        except OSError as error:
            raise LrwrError(
                f"{entry.file} cannot be removed: {error.strerror}",
                hint="Check the permissions of its folder.",
            ) from error

    def _measure_standing(self, entry: DraftEntry) -> float | None:
        path = self._workspace.library.root / entry.file
        if entry.decision is not DraftDecision.ACCEPTED or not path.is_file():
            return None
        now = path.read_text("utf-8", "replace").split()
        words = entry.text.split()
        matcher = SequenceMatcher(None, words, now, autojunk=False)
        same = sum(block.size for block in matcher.get_matching_blocks())
        return same / max(1, len(words))

    async def _find_model(self, key: str) -> str:
        """Return the name of the language model that wrote a draft; empty for none."""
        step = await self._journal.find_step(key)
        return step.model if step else ""

    async def _find_entry(self, key: str) -> DraftEntry | None:
        return (await self.list_entries()).get(key)

    def _lock(self) -> "_Lock":
        return _Lock(self._workspace.library.state_dir / _LOCK)


class _Lock:
    """Holds the lock of the drafts; refuses to wait for another process."""

    def __init__(self, path: Path) -> None:
        self._lock = FileLock(path)

    def __enter__(self) -> None:
        with suppress(OSError):  # a drive without locks
            if not self._lock.acquire():
                raise StoreProblem(
                    "Another lrwr process is deciding about a draft",
                    hint="Try again when it has finished.",
                )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def list_rejected(entries: Mapping[str, DraftEntry]) -> frozenset[str]:
    """Return the keys of the rejected drafts among decisions."""
    rejected = DraftDecision.REJECTED
    return frozenset(key for key, e in entries.items() if e.decision is rejected)


def add_accepted_places(board: Board, entries: Mapping[str, DraftEntry]) -> Board:
    """Return `board` with the files of accepted drafts, on cards that name none."""
    files = {
        entry.key.rpartition("/")[0]: entry.file
        for entry in entries.values()
        if entry.decision is DraftDecision.ACCEPTED
    }
    cards: Sequence[SceneCard] = [
        card
        if card.at or card.id not in files
        else replace(card, at=ScenePlace(files[card.id]))
        for card in board.cards
    ]
    return replace(board, cards=tuple(cards))


def _is_standing(entry: DraftEntry, target: Path, name: str) -> bool:
    """Return whether a draft was accepted as `target`, which has its text."""
    is_accepted = entry.decision in (DraftDecision.ACCEPTED, DraftDecision.ACCEPTING)
    return is_accepted and entry.file == name and _has_content(target, entry.text)


def _has_content(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _exists_error(name: str) -> SettingsProblem:
    return SettingsProblem(
        f"{name} already exists, and lrwr never changes a file of yours",
        hint="Name a new file with `--to FILE`.",
    )
