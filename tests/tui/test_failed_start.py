"""What happens if a part of the program cannot be imported after the first frame."""

import sys
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.room import a_room


async def test_the_chat_closes_with_the_error_of_an_import(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Importing a module that is None raises ModuleNotFoundError.
    monkeypatch.setitem(sys.modules, "lrwr.tui.controller", None)
    async with a_room(book, settled=False) as room:
        while room.app.is_running:
            await room.pilot.pause(0.02)
        failure = room.app.failure
        assert failure is not None
        assert "ModuleNotFoundError" in str(failure)
        assert failure.exit_code == ExitCode.INTERNAL
