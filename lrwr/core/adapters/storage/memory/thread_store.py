"""Conversations that nobody wants kept, such as those of an evaluation."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import WORD_PATTERN, normalize_word, stem_lightly
from lrwr.core.model.turns import NarrativeState, Thread, ThreadId, Turn, TurnState
from lrwr.core.ports.thread_store import RecordedGap, TurnCitations


@dataclass(slots=True)
class _StoredThread:
    """One conversation. `deletion` counts deletions; 0 is one that is not deleted."""

    thread: Thread
    turns: list[Turn] = field(default_factory=list)
    deletion: int = 0
    deleted_at: float = 0.0


class MemoryThreadStore:
    """Keeps the `ThreadStore` port until it is let go of."""

    def __init__(self) -> None:
        self._kept: dict[ThreadId, _StoredThread] = {}
        self._deletions = 0

    async def threads(self) -> list[Thread]:
        """Return the conversations, the one that was spoken in last first."""
        found = [stored_thread.thread for stored_thread in self._shown()]
        found.sort(key=lambda one: (-one.updated_at, -one.created_at, one.id))
        return found

    async def thread(self, thread: ThreadId) -> Thread:
        """Return one conversation."""
        return self._there(thread).thread

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return a conversation's turns in order, or the `last` so many of them."""
        kept = self._kept.get(thread)
        if kept is None or kept.deletion:
            return []
        first = 0 if last is None else max(0, len(kept.turns) - max(0, last))
        return kept.turns[first:]

    async def keep_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Keep a turn and the state after it, all or nothing."""
        at = turn.asked_at
        begun = _StoredThread(Thread(thread, _unicode(title), at, at, 0, state))
        kept = self._kept.setdefault(thread, begun)
        kept.deletion = 0
        if all(one.id != turn.id for one in kept.turns):
            kept.turns.append(_numbered(turn, len(kept.turns) + 1))
        kept.thread = replace(
            kept.thread,
            updated_at=max(kept.thread.updated_at, at),
            turns=len(kept.turns),
            state=state,
        )
        return kept.thread

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Give a conversation another title."""
        stored_thread = self._there(thread)
        stored_thread.thread = replace(stored_thread.thread, title=_unicode(title))

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Put a conversation away."""
        stored_thread = self._there(thread)
        self._deletions += 1
        stored_thread.deletion, stored_thread.deleted_at = self._deletions, at

    async def restore(self) -> Thread | None:
        """Bring back what was deleted last."""
        deleted = [one for one in self._kept.values() if one.deletion]
        if not deleted:
            return None
        last = max(deleted, key=lambda one: one.deletion)
        last.deletion = 0
        return last.thread

    async def purge(self, before: float) -> int:
        """Forget for good what was deleted before a time."""
        old = [
            thread
            for thread, one in self._kept.items()
            if one.deletion and one.deleted_at < before
        ]
        for thread in old:
            del self._kept[thread]
        return len(old)

    async def gaps(self) -> list[RecordedGap]:
        """Return what whole answers of kept conversations left open, oldest first."""
        return [
            RecordedGap(gap, turn.output.narrative_state_delta.as_of)
            for _, turn in self._oldest_first()
            if turn.state is TurnState.COMPLETE
            for gap in turn.output.gap_flags
        ]

    async def citing(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return what answers of kept conversations cite, oldest first."""
        turn_citationses: list[TurnCitations] = []
        for thread, turn in self._oldest_first():
            cited = tuple(
                citation
                for citation in turn.output.citations
                if documents is None or citation.document in documents
            )
            if cited:
                turn_citationses.append(TurnCitations(thread.id, turn.id, cited))
        return turn_citationses

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return turns whose question or answer holds any of `words`, best first.

        Best is what holds most of them; of equals the newest.
        """
        wanted = _stems(words)
        found: list[tuple[int, Thread, Turn]] = []
        for thread, turn in reversed(self._oldest_first()):
            said = _stems((turn.question, turn.output.response_text))
            if held := len(wanted & said):
                found.append((held, thread, turn))
        found.sort(key=lambda one: -one[0])
        return [(thread, turn) for _, thread, turn in found[: max(0, limit)]]

    def _there(self, thread: ThreadId) -> _StoredThread:
        kept = self._kept.get(thread)
        if kept is None or kept.deletion:
            raise NotFound(
                f"There is no conversation {thread}", hint="`lrwr threads` lists them."
            )
        return kept

    def _shown(self) -> list[_StoredThread]:
        return [one for one in self._kept.values() if not one.deletion]

    def _oldest_first(self) -> list[tuple[Thread, Turn]]:
        found = [
            (stored_thread.thread, turn)
            for stored_thread in self._shown()
            for turn in stored_thread.turns
        ]
        return sorted(found, key=lambda pair: pair[1].asked_at)


def _numbered(turn: Turn, number: int) -> Turn:
    said = replace(turn.output, response_text=_unicode(turn.output.response_text))
    return replace(turn, number=number, question=_unicode(turn.question), output=said)


def _stems(texts: Iterable[str]) -> frozenset[str]:
    words = (
        normalize_word(word) for text in texts for word in WORD_PATTERN.findall(text)
    )
    return frozenset(stem_lightly(word) for word in words)


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
