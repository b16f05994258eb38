"""Runs lrwr under guard: `guarded.py FORBIDDEN COMMANDS`, FORBIDDEN being a folder.

COMMANDS are told and run as `several.py` has them. Ends at once, with 99, where Python contacts something, starts a program, or opens a
file in the forbidden folder. A connection by any library of ours goes through Python.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from tests.fakes.several import run_all

CAUGHT = 99

REACHING_OUT = frozenset(
    {
        "socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind",
        "socket.getaddrinfo", "socket.gethostbyname", "subprocess.Popen", "os.system",
        "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn",
        "ftplib.connect", "http.client.connect", "urllib.Request", "webbrowser.open",
    }
)  # fmt: skip


def caught(*_: object, **__: object) -> NoReturn:
    os.write(2, f"Caught: {_!r}\n".encode())
    os._exit(CAUGHT)


def tries_ipv6(event: str, arguments: tuple[object, ...]) -> bool:
    """A library looks, when it is imported, whether there is IPv6; nobody is reached."""
    return event == "socket.bind" and arguments[1] == ("::1", 0)


def watch(event: str, arguments: tuple[object, ...], forbidden: Path) -> None:
    if event in REACHING_OUT and not tries_ipv6(event, arguments):
        caught(event, arguments)
    if event in ("open", "os.listdir", "os.scandir", "sqlite3.connect"):
        path = arguments[0]
        if isinstance(path, str | bytes | os.PathLike):
            opened = Path(os.path.realpath(os.fsdecode(path)))
            if opened.is_relative_to(forbidden):
                caught(event, arguments)


def main() -> None:
    forbidden, commands = Path(sys.argv[1]).resolve(), json.loads(sys.argv[2])
    import lrwr.cli.main  # noqa: F401 - before anything is watched

    for way in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, way, caught)
    sys.addaudithook(lambda event, args: watch(event, args, forbidden))
    run_all(commands)


if __name__ == "__main__":
    main()
