"""Where conversations are kept."""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict

from lrwr.core.adapters.records.sqlite.turns import (
    citations_from_json,
    gaps_from_json,
    thread_of,
    turn_of,
)
from lrwr.core.adapters.records.supabase.calling import Hosted, Json
from lrwr.core.adapters.records.supabase.packing import packed_json
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import NarrativeState, Thread, ThreadId, Turn, TurnId
from lrwr.core.ports.thread_store import AskedGap, CitingTurn

_MOST_WORDS = 100
"""Words of a search, the first ones: each is a part of what PostgreSQL looks for."""


class SupabaseThreadStore:
    """Keeps the `ThreadStore` port for one library, which `open_library` names."""

    def __init__(self, hosted: Hosted, library: str) -> None:
        self._hosted = hosted
        self._library = library

    async def threads(self) -> list[Thread]:
        """Return the conversations, the one that was spoken in last first."""
        return [_thread(one) for one in await self._call("threads")]

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one conversation."""
        found = await self._call("thread_called", thread=thread)
        if found is None:
            raise _no_thread(thread)
        return _thread(found)

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return a conversation's turns in order, or the `last` so many of them."""
        limit = None if last is None else max(0, last)
        found = await self._call("turns", thread=thread, last=limit)
        return [_turn(one) for one in found]

    async def keep_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Keep a turn and the state after it, all or nothing."""
        whole = asdict(turn.output)
        row = {
            "id": turn.id,
            "asked_at": turn.asked_at,
            "state": turn.state.value,
            "price": turn.price,
            "usage": asdict(turn.usage),
            "question": turn.question,
            "answer": whole.pop("response_text"),
            "output": whole,
        }
        kept = await self._call(
            "keep_turn",
            thread=thread,
            title=title,
            state=packed_json(asdict(state)),
            turn=packed_json(row),
        )
        return _thread(kept)

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Give a conversation another title."""
        if not await self._call("rename_thread", thread=thread, title=title):
            raise _no_thread(thread)

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Put a conversation away."""
        if not await self._call("delete_thread", thread=thread, at=at):
            raise _no_thread(thread)

    async def restore(self) -> Thread | None:
        """Bring back what was deleted last."""
        back = await self._call("restore_thread")
        return None if back is None else _thread(back)

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time."""
        return int(await self._call("purge_threads", before=before))

    async def gaps(self) -> list[AskedGap]:
        """Return what whole answers of kept conversations left open, oldest first."""
        return [
            AskedGap(gap, one["as_of"])
            for one in await self._call("gaps")
            for gap in gaps_from_json(json.dumps(one["gaps"]))
        ]

    async def citing(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[CitingTurn]:
        """Return what answers of kept conversations cite, oldest first."""
        wanted = None if documents is None else sorted(documents)
        return [
            CitingTurn(
                ThreadId(one["thread"]),
                TurnId(one["turn"]),
                citations_from_json(json.dumps(one["citations"])),
            )
            for one in await self._call("citing", documents=wanted)
        ]

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return turns whose question or answer holds any of `words`, best first."""
        asked = [word.replace("\0", " ") for word in dict.fromkeys(words)]
        found = await self._call(
            "search_turns", words=asked[:_MOST_WORDS], limit=max(0, limit)
        )
        return [(_thread(one["thread"]), _turn(one["turn"])) for one in found]

    async def _call(self, function: str, **arguments: Json) -> Json:
        return await self._hosted.call(function, library=self._library, **arguments)


async def open_library(hosted: Hosted, name: str) -> str:
    """Return the id of the signed-in account's library of that name, made if need be."""
    return str(await hosted.call("open_library", name=name))


def _thread(told: Json) -> Thread:
    created, updated = float(told["created_at"]), float(told["updated_at"])
    state = json.dumps(told["state"])
    return thread_of(
        (told["id"], told["title"], created, updated, told["turns"], state)
    )


def _turn(told: Json) -> Turn:
    price = told["price"]
    return turn_of(
        (
            told["id"],
            told["number"],
            float(told["asked_at"]),
            told["state"],
            None if price is None else float(price),
            json.dumps(told["usage"]),
            told["question"],
            told["answer"],
            json.dumps(told["output"]),
        )
    )


def _no_thread(thread: ThreadId) -> NotFound:
    return NotFound(
        f"There is no conversation {thread}", hint="`lrwr threads` lists them."
    )
