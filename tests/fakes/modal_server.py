"""A loopback control plane that speaks what lrwr uses of Modal's, to Modal's own client.

    with ModalServer() as server:
        ...                                # LRWR_INGEST_BASE_URL=server.address

It is made from the messages and the gRPC server that the client itself comes with. A
call runs `function` in a thread: really, and on what really travelled. As at Modal,
what is larger than a few kilobytes goes through a store of blobs beside it.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpclib.server
from grpclib import GRPCError, Status
from grpclib.const import Cardinality
from modal_proto import api_grpc, api_pb2

from tests.fakes import modal_deploys
from tests.fakes.modal_blobs import BlobStore

Stream: TypeAlias = Any
Message: TypeAlias = Any
Answer: TypeAlias = Callable[["ModalServer", Message], Coroutine[Any, Any, Message]]

TOKEN_ID = "ak-test-0123456789"
TOKEN_SECRET = "as-test-9876543210"
APP = "lrwr"
FUNCTION = "read_document"
SMALL = 8 * 1024
"""Bytes that travel in a message; more goes through the store."""

_LONGEST_POLL = 0.5


class ContainerDied(Exception):
    """Raised in a function: the container is killed, and says nothing."""


class TookTooLong(Exception):
    """Raised in a function: it takes longer than its app allows."""


@dataclass
class Call:
    """One call of the function."""

    id: str
    body: bytes
    size: int
    result: api_pb2.GenericResult | None = None
    cancelled: bool = False


@dataclass
class ModalServer:
    """The server. `calls` are those made, in order; `asked` names every request.

    What is in `forgotten` is unknown. `files`, `steps` and `functions` are those of an
    app that was deployed.
    """

    function: Callable[[bytes], object] | None = None
    token: tuple[str, str] = (TOKEN_ID, TOKEN_SECRET)
    deployed: bool = True
    silent: bool = False
    secrets: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)
    functions: list[Message] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    waited_for: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    most_at_once: int = 0
    forgotten: set[str] = field(default_factory=set)
    blobs: BlobStore = field(default_factory=BlobStore)
    _open: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(32, thread_name_prefix="container")
    )
    _running: int = 0
    _ready: threading.Event = field(default_factory=threading.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _stop: asyncio.Event | None = None
    _thread: threading.Thread | None = None
    address: str = ""

    def __enter__(self) -> "ModalServer":
        self._open.set()
        self.blobs.__enter__()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), daemon=True
        )
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop and self._stop and self._thread
        self._open.set()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._pool.shutdown()
        self.blobs.__exit__()

    def hold(self) -> None:
        """Let no call begin to run."""
        self._open.clear()

    def release(self) -> None:
        """Let calls run."""
        self._open.set()

    @property
    def env(self) -> dict[str, str]:
        """What leads lrwr here, with a token."""
        return {
            "LRWR_INGEST_BASE_URL": self.address,
            "MODAL_TOKEN_ID": TOKEN_ID,
            "MODAL_TOKEN_SECRET": TOKEN_SECRET,
        }

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = grpclib.server.Server([_servicer(self)])
        await server.start("127.0.0.1", 0)
        listening = server._server
        assert isinstance(listening, asyncio.Server)
        self.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        server.close()
        await asyncio.wait_for(server.wait_closed(), 5)

    async def answer(self, name: str, stream: Stream) -> None:
        """Answer one request, as Modal does."""
        request = await stream.recv_message()
        with self._lock:
            self.asked.append(name)
            self.messages.append(request)
        if self.silent:
            assert self._stop is not None
            await self._stop.wait()
        sent = stream.metadata
        if (sent.get("x-modal-token-id"), sent.get("x-modal-token-secret")) != (
            self.token
        ):
            raise GRPCError(Status.UNAUTHENTICATED, "Token ID is malformed")
        if name not in ANSWERS:
            raise GRPCError(Status.UNIMPLEMENTED, name)
        await stream.send_message(await ANSWERS[name](self, request))

    def call(self, ident: str) -> Call:
        """Return a call, if it is known."""
        for call in self.calls:
            if call.id == ident and ident not in self.forgotten:
                return call
        raise GRPCError(Status.NOT_FOUND, f"no call {ident}")

    def begin(self, body: bytes, size: int) -> Call:
        """Make a call: it runs as soon as it may."""
        with self._lock:
            call = Call(f"fc-{len(self.calls)}", body, size)
            self.calls.append(call)
        self._pool.submit(self._run, call)
        return call

    def _run(self, call: Call) -> None:
        self._open.wait()
        if call.cancelled:
            return
        with self._lock:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        try:
            call.result = self._result(call)
        finally:
            with self._lock:
                self._running -= 1

    def _result(self, call: Call) -> api_pb2.GenericResult:
        from modal._serialization import serialize

        from lrwr.app.modal_worker import read_document

        function = self.function or read_document
        try:
            data = serialize(function(call.body))
        except ContainerDied:
            return api_pb2.GenericResult(
                status=api_pb2.GenericResult.GENERIC_STATUS_FAILURE, exception="OOM"
            )
        except TookTooLong:
            return api_pb2.GenericResult(
                status=api_pb2.GenericResult.GENERIC_STATUS_TIMEOUT, exception="late"
            )
        except Exception as error:  # noqa: BLE001 - Modal sends what was raised
            return api_pb2.GenericResult(
                status=api_pb2.GenericResult.GENERIC_STATUS_FAILURE,
                exception=repr(error),
                data=serialize(error),
            )
        success = api_pb2.GenericResult.GENERIC_STATUS_SUCCESS
        if len(data) <= SMALL:
            return api_pb2.GenericResult(status=success, data=data)
        name = self.blobs.new()
        self.blobs.blobs[name] = data
        return api_pb2.GenericResult(status=success, data_blob_id=name)


async def _hello(server: ModalServer, request: Message) -> Message:
    return api_pb2.ClientHelloResponse()


async def _environment(server: ModalServer, request: Message) -> Message:
    settings = api_pb2.EnvironmentSettings(image_builder_version="2025.06")
    about = api_pb2.EnvironmentMetadata(name="main", settings=settings)
    return api_pb2.EnvironmentGetOrCreateResponse(environment_id="en-1", metadata=about)


async def _function(server: ModalServer, request: Message) -> Message:
    found = (request.app_name, request.object_tag) == (APP, FUNCTION)
    if not (server.deployed and found):
        raise GRPCError(Status.NOT_FOUND, f"no function {request.object_tag}")
    name = request.object_tag
    return api_pb2.FunctionGetResponse(
        function_id="fu-1", handle_metadata=handle_of(name), function=data_of(name)
    )


def data_of(name: str) -> api_pb2.FunctionData:
    """Return what a client is told of how a function runs."""
    function = api_pb2.Function(
        function_name=name,
        function_type=api_pb2.Function.FUNCTION_TYPE_FUNCTION,
        timeout_secs=60,
    )
    ranked = api_pb2.FunctionData.RankedFunction(rank=0, function=function)
    return api_pb2.FunctionData(
        function_name=name,
        function_type=api_pb2.Function.FUNCTION_TYPE_FUNCTION,
        ranked_functions=[ranked],
    )


def handle_of(name: str) -> api_pb2.FunctionHandleMetadata:
    """Return what a client is told of a function."""
    return api_pb2.FunctionHandleMetadata(
        function_name=name,
        function_type=api_pb2.Function.FUNCTION_TYPE_FUNCTION,
        app_id="ap-1",
        definition_id="de-1",
        supported_input_formats=[api_pb2.DATA_FORMAT_PICKLE],
        supported_output_formats=[api_pb2.DATA_FORMAT_PICKLE],
    )


async def _new_blob(server: ModalServer, request: Message) -> Message:
    name = server.blobs.new()
    address = server.blobs.address(name)
    return api_pb2.BlobCreateResponse(
        blob_ids=[name], upload_urls=api_pb2.UploadUrlList(items=[address])
    )


async def _blob(server: ModalServer, request: Message) -> Message:
    address = server.blobs.address(request.blob_id)
    return api_pb2.BlobGetResponse(download_url=address)


async def _spawn(server: ModalServer, request: Message) -> Message:
    from modal._serialization import deserialize_data_format

    (item,) = request.pipelined_inputs
    sent = item.input
    raw = server.blobs.blobs[sent.args_blob_id] if sent.args_blob_id else sent.args
    assert sent.args_blob_id or len(raw) <= SMALL
    args, _ = deserialize_data_format(raw, sent.data_format, None)
    call = server.begin(args[0], len(raw))
    put = api_pb2.FunctionPutInputsResponseItem(input_id="in-0", idx=0, input_jwt="j")
    return api_pb2.FunctionMapResponse(
        function_call_id=call.id,
        pipelined_inputs=[put],
        retry_policy=api_pb2.FunctionRetryPolicy(),
        function_call_jwt="j",
        max_inputs_outstanding=100,
    )


async def _outputs(server: ModalServer, request: Message) -> Message:
    call = server.call(request.function_call_id)
    server.waited_for.append(call.id)
    for _ in range(int(min(request.timeout, _LONGEST_POLL) / 0.01) + 1):
        if call.result is not None:
            break
        await asyncio.sleep(0.01)
    if call.result is None:
        return api_pb2.FunctionGetOutputsResponse(num_unfinished_inputs=1)
    item = api_pb2.FunctionGetOutputsItem(
        result=call.result, input_id="in-0", data_format=api_pb2.DATA_FORMAT_PICKLE
    )
    return api_pb2.FunctionGetOutputsResponse(outputs=[item], last_entry_id="1-0")


async def _cancel(server: ModalServer, request: Message) -> Message:
    server.call(request.function_call_id).cancelled = True
    return await modal_deploys.heartbeat(server, request)


async def _from_id(server: ModalServer, request: Message) -> Message:
    call = server.call(request.function_call_id)
    return api_pb2.FunctionCallFromIdResponse(function_call_id=call.id, num_inputs=1)


ANSWERS: dict[str, Answer] = {
    "ClientHello": _hello,
    "EnvironmentGetOrCreate": _environment,
    "FunctionGet": _function,
    "BlobCreate": _new_blob,
    "BlobGet": _blob,
    "FunctionMap": _spawn,
    "FunctionGetOutputs": _outputs,
    "FunctionCallCancel": _cancel,
    "FunctionCallFromId": _from_id,
    "AppGetByDeploymentName": modal_deploys.app_named,
    "AppCreate": modal_deploys.new_app,
    "AppHeartbeat": modal_deploys.heartbeat,
    "AppClientDisconnect": modal_deploys.heartbeat,
    "MountBatchedCheckExistence": modal_deploys.known_files,
    "AppPublish": modal_deploys.publish,
    "SecretGetOrCreate": modal_deploys.secret,
    "MountPutFile": modal_deploys.file,
    "MountGetOrCreate": modal_deploys.mount,
    "ImageGetOrCreate": modal_deploys.image,
    "FunctionPrecreate": modal_deploys.function_to_come,
    "FunctionCreate": modal_deploys.function,
}


def _servicer(server: ModalServer) -> api_grpc.ModalClientBase:
    """Make what answers every method of Modal's service through `server`."""

    def handler(name: str) -> Callable[[Any, Stream], Coroutine[Any, Any, None]]:
        async def handle(self: object, stream: Stream) -> None:
            await server.answer(name, stream)

        return handle

    names = api_grpc.ModalClientBase.__abstractmethods__
    made = type("Servicer", (api_grpc.ModalClientBase,), {n: handler(n) for n in names})
    servicer: api_grpc.ModalClientBase = made()
    for method in servicer.__mapping__().values():
        assert isinstance(method.cardinality, Cardinality)
    return servicer
