"""Asks this machine, and no other, which model servers are running on it."""

import http.client
import json
import time
from dataclasses import dataclass

HOST = "127.0.0.1"
TIMEOUT = 0.5
"""Seconds to wait for each word of a server."""

_LONGEST = 512 * 1024
"""Bytes of an answer that are read."""

_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class Server:
    """A program that serves models, and the port where it usually listens."""

    name: str
    port: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What a port said: the models that it offers.

    `models` is None when something listens there that serves no models.
    """

    server: Server
    models: tuple[str, ...] | None


def known_servers() -> tuple[Server, ...]:
    """Return the servers that writers run, at their usual ports."""
    return (
        Server("Ollama", 11434),
        Server("LM Studio", 1234),
        Server("llama-server", 8080),
    )


def ask_server(server: Server) -> Answered | None:
    """Ask the server's port for its models; None when nobody listens.

    One request, to 127.0.0.1 only: no redirect is followed, nothing is sent along.
    """
    deadline = time.monotonic() + TIMEOUT
    connection = http.client.HTTPConnection(HOST, server.port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        content = _read(response, deadline) if response.status == 200 else b""
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException):  # time-outs among them
        return Answered(server, None)
    finally:
        connection.close()
    return Answered(server, _names(content))


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
