"""Detection of model servers on this machine, and the models that a server offers."""

import http.client
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from lrwr.core.model.untrusted_text import parse_json

LOOPBACK_HOST = "127.0.0.1"
PROBE_TIMEOUT = 0.5
"""Seconds to wait for a port on which perhaps no server listens."""

LOCAL_SERVER_TIMEOUT = 3.0
"""Seconds to wait for the configured server."""

_MAX_RESPONSE_BYTES = 512 * 1024

_MAX_NAMES = 200


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program that serves language models, and its default port."""

    name: str
    port: int


@dataclass(frozen=True, slots=True)
class LocalServerModels:
    """The names of the models that a server on this machine offers.

    `models` is empty if it offers none, and None if it gave no list of models in time;
    another program may listen on the port.
    """

    server: LocalServer
    models: tuple[str, ...] | None


def list_local_servers() -> tuple[LocalServer, ...]:
    """Return the model servers that users commonly run, with their default ports."""
    return (
        LocalServer("Ollama", 11434),
        LocalServer("LM Studio", 1234),
        LocalServer("llama-server", 8080),
    )


def probe_local_server(server: LocalServer) -> LocalServerModels | None:
    """Ask the port of `server` on 127.0.0.1 for its models.

    None if nothing listens there. This is one request without a key; redirects are not
    followed.
    """
    connection = http.client.HTTPConnection(
        LOOPBACK_HOST, server.port, timeout=PROBE_TIMEOUT
    )
    try:
        return LocalServerModels(
            server, _list_models(connection, "/v1/models", PROBE_TIMEOUT)
        )
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException):  # includes timeouts
        return LocalServerModels(server, None)


def fetch_server_models(address: str) -> tuple[str, ...] | None:
    """Ask the server with the base URL `address` for the names of its models.

    None if it does not list them. This is one request without a key; redirects are not
    followed.

    Raises:
        OSError: There was no answer within `LOCAL_SERVER_TIMEOUT` seconds.
    """
    url = urlsplit(address)
    is_secure = url.scheme == "https"
    connect = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    connection = connect(
        url.hostname or LOOPBACK_HOST, url.port, timeout=LOCAL_SERVER_TIMEOUT
    )
    try:
        return _list_models(connection, f"{url.path}/models", LOCAL_SERVER_TIMEOUT)
    except http.client.HTTPException:
        return None


def _list_models(
    connection: http.client.HTTPConnection, path: str, timeout: float
) -> tuple[str, ...] | None:
    deadline = time.monotonic() + timeout
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        return _parse_names(
            _read(response, deadline) if response.status == 200 else b""
        )
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    content = b""
    while time.monotonic() < deadline and len(content) < _MAX_RESPONSE_BYTES:
        part = response.read1(65_536)
        if not part:
            break
        content += part
    return content


def _parse_names(content: bytes) -> tuple[str, ...] | None:
    try:
        listed = parse_json(content)["data"]
        return tuple(str(model["id"]) for model in listed)[:_MAX_NAMES]
    except (ValueError, KeyError, TypeError):
        return None
