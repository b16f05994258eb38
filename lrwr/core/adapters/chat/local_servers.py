"""Asks model servers what they offer: this machine's, or the one that is set."""

import http.client
import json
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK_HOST = "127.0.0.1"
PROBE_TIMEOUT = 0.5
"""Seconds to wait for each word of a port that may hold no server."""

LOCAL_SERVER_TIMEOUT = 3.0
"""Seconds to wait for each word of the server that is set."""

_LONGEST = 512 * 1024
"""Bytes of an answer that are read."""

_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program that serves models, and the port where it usually listens."""

    name: str
    port: int


@dataclass(frozen=True, slots=True)
class LocalServerModels:
    """What a port said: the models that it offers.

    `models` is None when something listens there that serves no models.
    """

    server: LocalServer
    models: tuple[str, ...] | None


def list_local_servers() -> tuple[LocalServer, ...]:
    """Return the servers that writers run, at their usual ports."""
    return (
        LocalServer("Ollama", 11434),
        LocalServer("LM Studio", 1234),
        LocalServer("llama-server", 8080),
    )


def probe_local_server(server: LocalServer) -> LocalServerModels | None:
    """Ask the server's port for its models; None when nobody listens.

    One request, to 127.0.0.1 only: no redirect is followed, nothing is sent along.
    """
    connection = http.client.HTTPConnection(
        LOOPBACK_HOST, server.port, timeout=PROBE_TIMEOUT
    )
    try:
        return LocalServerModels(
            server, _listed(connection, "/v1/models", PROBE_TIMEOUT)
        )
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException):  # time-outs among them
        return LocalServerModels(server, None)


def fetch_server_models(address: str) -> tuple[str, ...] | None:
    """Return the models that the server at `address` offers, None if it lists none.

    One request: no redirect is followed, no key is sent along, and no model is asked.

    Raises:
        OSError: Nobody answers within `LOCAL_SERVER_TIMEOUT` seconds.
    """
    place = urlsplit(address)
    secure = place.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(
        place.hostname or LOOPBACK_HOST, place.port, timeout=LOCAL_SERVER_TIMEOUT
    )
    try:
        return _listed(connection, f"{place.path}/models", LOCAL_SERVER_TIMEOUT)
    except http.client.HTTPException:
        return None


def _listed(
    connection: http.client.HTTPConnection, path: str, patience: float
) -> tuple[str, ...] | None:
    deadline = time.monotonic() + patience
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        return _names(_read(response, deadline) if response.status == 200 else b"")
    finally:
        connection.close()


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    content = b""
    while time.monotonic() < deadline and len(content) < _LONGEST:
        part = response.read1(65_536)
        if not part:
            break
        content += part
    return content


def _names(content: bytes) -> tuple[str, ...] | None:
    try:
        listed = json.loads(content)["data"]
        return tuple(str(model["id"]) for model in listed)[:_MOST_NAMES]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
