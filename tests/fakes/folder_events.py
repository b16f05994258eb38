"""Folder events that come when a test says so."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from lrwr.core.adapters.source.folder import may_be_manuscript_name
from lrwr.core.ports.sources import FolderEvent, FolderLost, PathsChanged


class ScriptedEvents:
    """Keeps the `FolderEvents` port; `asked` counts how often the watching began."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[FolderEvent] = asyncio.Queue()
        self.asked = 0

    def tell(self, *news: FolderEvent) -> None:
        """Let these things be heard, in this order."""
        for one in news:
            self._queue.put_nowait(one)

    def touch(self, *names: str) -> None:
        """Let it be heard that something happened at these names."""
        paths = map(Path, names or ("anything",))
        if wanted := frozenset(
            path for path in paths if may_be_manuscript_name(path.name)
        ):
            self.tell(PathsChanged(wanted))

    async def events(self) -> AsyncGenerator[FolderEvent]:
        """Yield what is told, until a folder is lost."""
        self.asked += 1
        while True:
            one = await self._queue.get()
            yield one
            if isinstance(one, FolderLost):
                return
