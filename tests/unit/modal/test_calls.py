"""What becomes of a call when the run that made it is stopped, at whatever moment."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from grpclib import GRPCError, Status

from lrwr.core.adapters.modal.calls import (
    ModalCallKey,
    ModalCallLedger,
    ModalConnection,
    ModalFunctionClient,
    ModalToken,
)
from lrwr.core.ports.jobs import RunnerUnavailable
from tests.fakes.modal_server import TOKEN_ID, TOKEN_SECRET, ModalServer, Stream
from tests.fakes.remote_desks import until

APP = "lrwr"
CANCEL = "FunctionCallCancel"


@dataclass
class Gate:
    """Where something waits until it is let through."""

    reached: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)
    passed: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        """Wait until it is open."""
        self.reached.set()
        assert self.open.wait(30)


class SlowLedger(ModalCallLedger):
    """A ledger on a disk that takes its time to write."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = Gate()

    def store(self, errand: ModalCallKey, call: str) -> None:
        """Note a call, once the gate is open."""
        self.gate.wait()
        try:
            super().store(errand, call)
        finally:
            self.gate.passed.set()


@dataclass
class SlowToCancel(ModalServer):
    """A control plane that takes its time to cancel a call, and refuses some requests."""

    gate: Gate = field(default_factory=Gate)
    refused: set[str] = field(default_factory=set)

    async def answer(self, name: str, stream: Stream) -> None:
        """Answer one request; a cancellation once the gate is open."""
        if name == CANCEL:
            await asyncio.to_thread(self.gate.wait)
        if name in self.refused:
            raise GRPCError(Status.PERMISSION_DENIED, name)
        await super().answer(name, stream)


@pytest.fixture
def server() -> Iterator[SlowToCancel]:
    server = SlowToCancel()
    with server:
        server.hold()
        yield server


@asynccontextmanager
async def calling(
    server: ModalServer, ledger: ModalCallLedger
) -> AsyncIterator[tuple[ModalFunctionClient, ModalCallKey]]:
    """Lend out what makes calls, and an errand for one."""
    connection = ModalConnection(APP, server.address, timeout=10.0, poll=0.5)
    calls = ModalFunctionClient(
        connection, lambda: ModalToken(TOKEN_ID, TOKEN_SECRET), ledger
    )
    try:
        yield calls, ModalCallKey("01.md", "reading", "c1", "recipe", connection.place)
    finally:
        await calls.aclose()


async def reached(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 30)


async def test_a_run_that_is_stopped_while_it_notes_a_call_leaves_none_behind(
    tmp_path: Path, server: SlowToCancel
) -> None:
    server.gate.open.set()
    ledger = SlowLedger(tmp_path / "calls")
    async with calling(server, ledger) as (calls, errand):
        made = asyncio.create_task(calls.call(errand, b"text"))
        await reached(ledger.gate.reached)
        made.cancel()
        await asyncio.sleep(0)
        ledger.gate.open.set()
        with pytest.raises(asyncio.CancelledError):
            await made
        await reached(ledger.gate.passed)
    assert [call.cancelled for call in server.calls] == [True]
    assert ledger.find(errand) is None


async def test_a_run_that_is_stopped_twice_leaves_no_call_behind(
    tmp_path: Path, server: SlowToCancel
) -> None:
    ledger = ModalCallLedger(tmp_path / "calls")
    async with calling(server, ledger) as (calls, errand):
        made = asyncio.create_task(calls.call(errand, b"text"))
        await asyncio.to_thread(until, lambda: bool(server.waited_for))
        made.cancel()
        await reached(server.gate.reached)
        made.cancel()
        await asyncio.sleep(0)
        server.gate.open.set()
        with pytest.raises(asyncio.CancelledError):
            await made
    assert [call.cancelled for call in server.calls] == [True]
    assert ledger.find(errand) is None


async def test_an_outdated_call_that_was_cancelled_is_taken_up_by_nobody(
    tmp_path: Path, server: SlowToCancel
) -> None:
    server.gate.open.set()
    ledger = ModalCallLedger(tmp_path / "calls")
    async with calling(server, ledger) as (calls, errand):
        await calls.check()
        earlier = server.begin(b"text", 4)
        ledger.store(errand, earlier.id)
        server.refused.add("FunctionMap")
        with pytest.raises(RunnerUnavailable):
            await calls.call(replace(errand, content="c2"), b"another text")
    assert earlier.cancelled
    assert ledger.find(errand) is None
