import asyncio

import pytest

from lrwr.cli.runtime.event_loop import run_async


async def is_debugging() -> bool:
    return asyncio.get_running_loop().get_debug()


def test_no_loop_of_lrwr_is_in_debug_mode_which_prints_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    assert asyncio.run(is_debugging())
    assert not run_async(is_debugging())
