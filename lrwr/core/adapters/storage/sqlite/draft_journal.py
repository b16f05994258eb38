"""The journal of drafts: what the writer decided about each, and the replies of language
models that they came from, in the library's file.
"""

from collections.abc import Collection

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.drafts import DraftDecision, DraftEntry, DraftStep

_COLUMNS = "key, state, model, file, text, at"
_SAVE = f"insert or replace into draft ({_COLUMNS}) values (?, ?, ?, ?, ?, ?)"
_LIST = f"select {_COLUMNS} from draft order by at, key"

_STEP_COLUMNS = "key, scene, step, model, reply, at, prompt_tokens, completion_tokens"
_SAVE_STEP = f"insert or replace into draft_step ({_STEP_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)"
_FIND_STEP = f"select {_STEP_COLUMNS} from draft_step where key = ?"
_LIST_STEPS = f"select {_STEP_COLUMNS} from draft_step where step = ? order by at, key"
_DELETE_STEP = "delete from draft_step where key = ?"


class SqliteDraftJournal:
    """The journal of drafts in the library's file: one entry for each draft, and one
    step for each reply of a language model.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def save(self, entry: DraftEntry) -> None:
        """Store the decision about a draft, instead of an earlier one about it.

        Raises:
            StoreProblem: The library cannot be written.
        """
        row = (
            entry.key,
            entry.decision.value,
            entry.model,
            entry.file,
            entry.text,
            entry.at,
        )
        await self._database.write(
            lambda connection: connection.execute(_SAVE, row).rowcount
        )

    async def entries(self) -> list[DraftEntry]:
        """Return all decisions, the earliest first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        rows = await self._database.read(
            lambda connection: connection.execute(_LIST).fetchall()
        )
        return [
            DraftEntry(key, DraftDecision(state), text, at, file, model)
            for key, state, model, file, text, at in rows
        ]

    async def save_step(self, step: DraftStep) -> None:
        """Store a reply, instead of an earlier one with the same key.

        Raises:
            StoreProblem: The library cannot be written.
        """
        row = (
            step.key,
            step.scene,
            step.step,
            step.model,
            step.reply,
            step.at,
            step.prompt_tokens,
            step.completion_tokens,
        )
        await self._database.write(
            lambda connection: connection.execute(_SAVE_STEP, row).rowcount
        )

    async def find_step(self, key: str) -> DraftStep | None:
        """Return the reply with this key; None if there is none.

        Raises:
            StoreProblem: The library cannot be read.
        """
        row = await self._database.read(
            lambda connection: connection.execute(_FIND_STEP, (key,)).fetchone()
        )
        return DraftStep(*row) if row else None

    async def list_steps(self, step: str) -> list[DraftStep]:
        """Return the replies to one kind of step, the earliest first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        rows = await self._database.read(
            lambda connection: connection.execute(_LIST_STEPS, (step,)).fetchall()
        )
        return [DraftStep(*row) for row in rows]

    async def delete_steps(self, keys: Collection[str]) -> None:
        """Delete the replies with these keys, so that they are requested again.

        Raises:
            StoreProblem: The library cannot be written.
        """
        rows = [(key,) for key in keys]
        await self._database.write(
            lambda connection: connection.executemany(_DELETE_STEP, rows).rowcount
        )
