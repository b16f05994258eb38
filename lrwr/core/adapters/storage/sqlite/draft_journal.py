"""The journal of drafts: what the writer decided about each, in the library's file."""

from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.model.drafts import DraftDecision, DraftEntry

_COLUMNS = "key, state, model, file, text, at"
_SAVE = f"insert or replace into draft ({_COLUMNS}) values (?, ?, ?, ?, ?, ?)"
_LIST = f"select {_COLUMNS} from draft order by at, key"


class SqliteDraftJournal:
    """The journal of drafts in the library's file; one entry for each draft."""

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
