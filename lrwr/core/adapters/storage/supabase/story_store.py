"""The cast and what is woven, and replies of models, kept in a project and here."""

from collections.abc import Callable, Collection, Mapping, Sequence

from lrwr.core.adapters.storage.sqlite.attribution_rows import (
    build_attribution_rows,
    store_attribution_rows,
)
from lrwr.core.adapters.storage.sqlite.codecs import cast_to_json
from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
from lrwr.core.adapters.storage.sqlite.story_store import (
    SqliteAnalysisStore,
    SqliteCastStore,
    load_cast_json,
    store_cast_json,
)
from lrwr.core.adapters.storage.supabase.codecs import encode_record
from lrwr.core.adapters.storage.supabase.records import SupabaseRecords
from lrwr.core.adapters.storage.supabase.replica import SupabaseReplica
from lrwr.core.adapters.storage.supabase.row_transfer import ModelReplyRow
from lrwr.core.model.cast import Cast
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.story_stores import AttributionInput, AttributionResult, ChunkSpan


class SupabaseCastStore:
    """Keeps the `CastStore` port. What is read is read from the copy."""

    def __init__(
        self, database: SqliteDatabase, copy: SupabaseReplica, records: SupabaseRecords
    ) -> None:
        self._database = database
        self._copy = copy
        self._records = records
        self._here = SqliteCastStore(database)

    async def strands(self) -> list[AttributionInput]:
        """Return every document that pipeline b has read."""
        return await self._here.strands()

    async def places(self, document: DocumentId) -> Sequence[ChunkSpan]:
        """Return the document's chunks of the story's own words."""
        return await self._here.places(document)

    async def keep_cast(self, cast: Cast) -> None:
        """Make `cast` the cast of the library; nothing is sent if it is that already.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
        """
        cast_json = cast_to_json(cast)
        if cast_json == await self._database.read(load_cast_json):
            return
        self._copy.check()
        put_result = await self._records.put(encode_record(cast_json))
        await self._copy.written(
            put_result, lambda connection: store_cast_json(connection, cast_json)
        )

    async def keep_woven(self, woven: AttributionResult) -> bool:
        """Replace what was woven of a document; False if it changed meanwhile.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
        """
        weave = await self._database.read(
            lambda connection: build_attribution_rows(connection, woven)
        )
        if weave is None:
            return False
        self._copy.check()
        put_result = await self._records.put(
            encode_record(weave), if_content=woven.content
        )
        if put_result.done:
            await self._copy.written(
                put_result, lambda connection: store_attribution_rows(connection, weave)
            )
        return put_result.done


class SupabaseAnalysisStore:
    """Keeps the `AnalysisStore` port. `now` returns seconds since 1970, UTC."""

    def __init__(
        self,
        database: SqliteDatabase,
        records: SupabaseRecords,
        *,
        now: Callable[[], float],
    ) -> None:
        self._here = SqliteAnalysisStore(database, now=now)
        self._records = records
        self._now = now

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the document's distances between sentences."""
        return await self._here.seams(document, space)

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return those replies that are kept: here, or by another machine.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
        """
        local_replies = await self._here.replies(keys)
        missing_keys = [key for key in keys if key not in local_replies]
        if not missing_keys:
            return local_replies
        remote_replies = await self._records.replies(missing_keys)
        return {
            **local_replies,
            **{reply.key: reply.finding for reply in remote_replies},
        }

    async def keep_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Keep replies: here first, for they were paid for, and then in the project.

        Raises:
            LrwrError: The project cannot be asked, or refuses.
        """
        await self._here.keep_replies(replies, usage)
        tokens = [(usage.prompt_tokens, usage.completion_tokens)]
        tokens += [(0, 0)] * len(replies)
        await self._records.put_replies(
            [
                ModelReplyRow(key, self._now(), *token_counts, finding)
                for (key, finding), token_counts in zip(
                    replies.items(), tokens, strict=False
                )
            ]
        )
