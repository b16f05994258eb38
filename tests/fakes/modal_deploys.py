"""How the loopback control plane takes an app: it builds nothing, and keeps what came."""

from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.empty_pb2 import Empty  # type: ignore[import-untyped]
from grpclib import GRPCError, Status
from modal_proto import api_pb2

if TYPE_CHECKING:
    from tests.fakes.modal_server import ModalServer

Message: TypeAlias = Any


async def app_named(server: "ModalServer", request: Message) -> Message:
    """Say that there is none yet."""
    return api_pb2.AppGetByDeploymentNameResponse()


async def new_app(server: "ModalServer", request: Message) -> Message:
    """Make an app."""
    return api_pb2.AppCreateResponse(app_id="ap-1")


async def heartbeat(server: "ModalServer", request: Message) -> Message:
    """Answer the greeting of the client."""
    return Empty()


async def secret(server: "ModalServer", request: Message) -> Message:
    """Find a secret by its name."""
    if request.deployment_name not in server.secrets:
        raise GRPCError(Status.NOT_FOUND, "no secret")
    return api_pb2.SecretGetOrCreateResponse(secret_id="st-1")


async def file(server: "ModalServer", request: Message) -> Message:
    """Take a file, or say that it is there."""
    return api_pb2.MountPutFileResponse(exists=True)


async def known_files(server: "ModalServer", request: Message) -> Message:
    """Say that all files are there."""
    return api_pb2.MountBatchedCheckExistenceResponse()


async def mount(server: "ModalServer", request: Message) -> Message:
    """Take a list of files."""
    server.files |= {one.filename for one in request.files}
    return api_pb2.MountGetOrCreateResponse(mount_id="mo-1")


async def image(server: "ModalServer", request: Message) -> Message:
    """Take the steps by which an image is made, as if it were made."""
    server.steps += list(request.image.dockerfile_commands)
    success = api_pb2.GenericResult.GENERIC_STATUS_SUCCESS
    return api_pb2.ImageGetOrCreateResponse(
        image_id="im-1", result=api_pb2.GenericResult(status=success)
    )


async def function_to_come(server: "ModalServer", request: Message) -> Message:
    """Give a function an id."""
    from tests.fakes.modal_server import handle_of

    return api_pb2.FunctionPrecreateResponse(
        function_id="fu-1", handle_metadata=handle_of(request.function_name)
    )


async def function(server: "ModalServer", request: Message) -> Message:
    """Take a function."""
    from tests.fakes.modal_server import data_of, handle_of

    server.functions.append(request.function)
    name = request.function.function_name
    return api_pb2.FunctionCreateResponse(
        function_id="fu-1",
        function=request.function,
        handle_metadata=handle_of(name),
        function_data=data_of(name),
    )


async def publish(server: "ModalServer", request: Message) -> Message:
    """Let the app be found by its name."""
    server.deployed = True
    return api_pb2.AppPublishResponse(url="https://modal.invalid/apps/lrwr")
