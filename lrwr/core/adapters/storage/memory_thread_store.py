"""Threads in memory, for saved conversations that need not outlive the program."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import (
    WORD_PATTERN,
    normalize_word,
    replace_surrogates,
    stem_lightly,
)
from lrwr.core.model.turns import NarrativeState, Thread, ThreadId, Turn, TurnState
from lrwr.core.ports.threads import RecordedGap, TurnCitations


@dataclass(slots=True)
class _StoredThread:
    """A thread with its turns. `deletion` numbers deletions from 1; 0 means not deleted."""

    thread: Thread
    turns: list[Turn] = field(default_factory=list)
    deletion: int = 0
    deleted_at: float = 0.0


class MemoryThreadStore:
    """The `ThreadStore` port in memory: threads are lost with this object."""

    def __init__(self) -> None:
        self._threads: dict[ThreadId, _StoredThread] = {}
        self._deletions = 0

    async def threads(self) -> list[Thread]:
        """Return all threads that are not deleted, the most recently used first."""
        threads = [stored_thread.thread for stored_thread in self._existing()]
        threads.sort(
            key=lambda thread: (-thread.updated_at, -thread.created_at, thread.id)
        )
        return threads

    async def thread(self, thread: ThreadId) -> Thread:
        """Return the thread with this id, without its turns.

        Raises:
            NotFound: It does not exist or is deleted.
        """
        return self._get(thread).thread

    async def turns(self, thread: ThreadId, *, last: int | None = None) -> list[Turn]:
        """Return the turns of a thread, oldest first.

        With `last`, return only that many of the newest. Empty if the thread does not
        exist or is deleted.
        """
        stored_thread = self._threads.get(thread)
        if stored_thread is None or stored_thread.deletion:
            return []
        first = 0 if last is None else max(0, len(stored_thread.turns) - max(0, last))
        return stored_thread.turns[first:]

    async def save_turn(
        self, thread: ThreadId, title: str, turn: Turn, state: NarrativeState
    ) -> Thread:
        """Store a turn of a thread, and `state`, the thread's state after it; return
        the thread.

        A thread that does not exist is created with `title`; a deleted one is restored.
        A turn that is already stored is not added again.
        """
        at = turn.asked_at
        new_thread = _StoredThread(
            Thread(thread, replace_surrogates(title), at, at, 0, state)
        )
        stored_thread = self._threads.setdefault(thread, new_thread)
        stored_thread.deletion = 0
        if all(earlier_turn.id != turn.id for earlier_turn in stored_thread.turns):
            stored_thread.turns.append(_with_number(turn, len(stored_thread.turns) + 1))
        stored_thread.thread = replace(
            stored_thread.thread,
            updated_at=max(stored_thread.thread.updated_at, at),
            turns=len(stored_thread.turns),
            state=state,
        )
        return stored_thread.thread

    async def rename(self, thread: ThreadId, title: str) -> None:
        """Set the title of a thread.

        Raises:
            NotFound: The thread does not exist or is deleted.
        """
        stored_thread = self._get(thread)
        stored_thread.thread = replace(
            stored_thread.thread, title=replace_surrogates(title)
        )

    async def delete(self, thread: ThreadId, at: float) -> None:
        """Mark a thread as deleted at the time `at`, in seconds since 1970; it can be
        restored.

        Raises:
            NotFound: The thread does not exist or is deleted already.
        """
        stored_thread = self._get(thread)
        self._deletions += 1
        stored_thread.deletion, stored_thread.deleted_at = self._deletions, at

    async def restore(self) -> Thread | None:
        """Restore the thread that was deleted last, and return it; None if none is
        deleted.
        """
        deleted = [
            stored_thread
            for stored_thread in self._threads.values()
            if stored_thread.deletion
        ]
        if not deleted:
            return None
        last = max(deleted, key=lambda stored_thread: stored_thread.deletion)
        last.deletion = 0
        return last.thread

    async def purge(self, before: float) -> int:
        """Remove for good the deleted threads whose deletion was earlier than `before`.

        Returns their number. `before` is in seconds since 1970.
        """
        old = [
            thread
            for thread, stored_thread in self._threads.items()
            if stored_thread.deletion and stored_thread.deleted_at < before
        ]
        for thread in old:
            del self._threads[thread]
        return len(old)

    async def gaps(self) -> list[RecordedGap]:
        """Return the open questions recorded in complete answers, the oldest answer
        first.

        Deleted threads are left out. A question recorded in several answers occurs
        several times.
        """
        return [
            RecordedGap(gap, turn.output.narrative_state_delta.as_of)
            for _, turn in self._turns_by_time()
            if turn.state is TurnState.COMPLETE
            for gap in turn.output.gap_flags
        ]

    async def turn_citations(
        self, documents: Collection[DocumentId] | None = None
    ) -> list[TurnCitations]:
        """Return the citations of each turn's answer, oldest turn first.

        With `documents`, only citations of these documents. Turns without any, and
        deleted threads, are left out.
        """
        thread_citations: list[TurnCitations] = []
        for thread, turn in self._turns_by_time():
            cited = tuple(
                citation
                for citation in turn.output.citations
                if documents is None or citation.document in documents
            )
            if cited:
                thread_citations.append(TurnCitations(thread.id, turn.id, cited))
        return thread_citations

    async def search(
        self, words: Sequence[str], *, limit: int
    ) -> list[tuple[Thread, Turn]]:
        """Return at most `limit` turns whose question or answer contains any of
        `words`, each with its thread, best first.

        Turns that contain more of the words rank higher, then newer ones. Words are
        compared by stem.
        """
        query_stems = _stems(words)
        matches: list[tuple[int, Thread, Turn]] = []
        for thread, turn in reversed(self._turns_by_time()):
            turn_stems = _stems((turn.question, turn.output.response_text))
            if shared_count := len(query_stems & turn_stems):
                matches.append((shared_count, thread, turn))
        matches.sort(key=lambda match: -match[0])
        return [(thread, turn) for _, thread, turn in matches[: max(0, limit)]]

    def _get(self, thread: ThreadId) -> _StoredThread:
        stored_thread = self._threads.get(thread)
        if stored_thread is None or stored_thread.deletion:
            raise NotFound(
                f"There is no thread {thread}",
                hint="Run `lrwr threads` to list the threads.",
            )
        return stored_thread

    def _existing(self) -> list[_StoredThread]:
        return [
            stored_thread
            for stored_thread in self._threads.values()
            if not stored_thread.deletion
        ]

    def _turns_by_time(self) -> list[tuple[Thread, Turn]]:
        pairs = [
            (stored_thread.thread, turn)
            for stored_thread in self._existing()
            for turn in stored_thread.turns
        ]
        return sorted(pairs, key=lambda pair: pair[1].asked_at)


def _with_number(turn: Turn, number: int) -> Turn:
    output = replace(
        turn.output, response_text=replace_surrogates(turn.output.response_text)
    )
    return replace(
        turn, number=number, question=replace_surrogates(turn.question), output=output
    )


def _stems(texts: Iterable[str]) -> frozenset[str]:
    words = (
        normalize_word(word) for text in texts for word in WORD_PATTERN.findall(text)
    )
    return frozenset(stem_lightly(word) for word in words)
