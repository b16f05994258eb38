"""A question on its way: `python -m bench.flight [--times 10]`.

How far apart the two planning calls are sent, how long after the server sends a piece
of the answer it is printed, and how soon `lrwr ask` hangs up when it is stopped with
Ctrl-C while the server plans or answers: from the signal to the end of every
connection, as the server sees it.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.children import environment, lrwr

GOAL = 100
"""Milliseconds."""

SAMPLE = Path(__file__).parent.parent / "examples" / "marsh-lantern"
QUESTION = "What does PurpleFrog say about the marsh lantern?"
PATIENCE = 60.0
ENDLESS = 1_000_000
PIECES = 50

_PIECE = {"choices": [{"index": 0, "delta": {"content": "And "}}]}
_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n"
_PLAN = {
    "Tools": {"intent": "analytical", "tools": []},
    "Entities": {"entities": []},
    "Step": {"tool": "enough", "words": "", "chapter": 0, "part": 0, "keep": []},
    "Gaps": {"gaps": []},
}


@dataclass
class Server:
    """Answers without an end; `plans` says whether it answers planning calls."""

    plans: bool
    speaking: threading.Event = field(default_factory=threading.Event)
    ended: list[float] = field(default_factory=list)
    opened: int = 0
    asked: dict[str, float] = field(default_factory=dict)
    sent: list[float] = field(default_factory=list)
    pieces: int = ENDLESS

    def __enter__(self) -> "Server":
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(
                target=self._serve, args=(connection,), daemon=True
            ).start()

    def _serve(self, connection: socket.socket) -> None:
        shape = _shape_asked(connection)
        self.asked.setdefault(shape, time.monotonic())
        if shape and self.plans:
            message = {"role": "assistant", "content": json.dumps(_PLAN[shape])}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({"choices": [choice]})
            head = _HEAD.format(kind="application/json")
            connection.sendall((head + body).encode())
            connection.close()
            return
        self.opened += 1
        threading.Thread(target=self._watch, args=(connection,), daemon=True).start()
        if shape:
            self.speaking.set()
            return
        try:
            connection.sendall(_HEAD.format(kind="text/event-stream").encode())
            for _ in range(self.pieces):
                self.sent.append(time.monotonic())
                connection.sendall(f"data: {json.dumps(_PIECE)}\n\n".encode())
                self.speaking.set()
                time.sleep(0.02)
            connection.sendall(b"data: [DONE]\n\n")
            connection.close()
        except OSError:
            return

    def _watch(self, connection: socket.socket) -> None:
        """Note when the other side is gone."""
        try:
            while connection.recv(1024):
                pass
        except OSError:
            pass
        self.ended.append(time.monotonic())


def _shape_asked(connection: socket.socket) -> str:
    """Read a request, and return the name of the JSON that it asks for, if any."""
    told = b""
    while b"\r\n\r\n" not in told:
        told += connection.recv(65_536)
    head, _, body = told.partition(b"\r\n\r\n")
    lines = [line.split(b":", 1) for line in head.lower().split(b"\r\n")[1:]]
    length = next(int(value) for name, value in lines if name == b"content-length")
    while len(body) < length:
        body += connection.recv(65_536)
    wanted = json.loads(body).get("response_format") or {}
    return str(wanted.get("json_schema", {}).get("name", ""))


def streamed(folder: Path, scratch: Path) -> tuple[float, list[float]]:
    """Ask, and return the milliseconds between the planning calls, and those that each
    piece of the answer took from the server to standard output."""
    with Server(plans=True, pieces=PIECES) as server:
        asking = subprocess.Popen(
            [*lrwr(), "ask", QUESTION],
            cwd=folder,
            env=environment(scratch, _variables(server)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert asking.stdout is not None
        printed: list[float] = []
        text = b""
        while piece := os.read(asking.stdout.fileno(), 65_536):
            text += piece
            came = text.count(b"And ")
            printed += [time.monotonic()] * (came - len(printed))
        asking.wait(PATIENCE)
        apart = abs(server.asked["Tools"] - server.asked["Entities"])
        pairs = zip(server.sent, printed, strict=True)
        return apart * 1000, [(came - sent) * 1000 for sent, came in pairs]


def _variables(server: Server) -> dict[str, str]:
    return {
        "LRWR_MODEL_USE": "local",
        "LRWR_MODEL_NAME": "endless",
        "LRWR_MODEL_BASE_URL": server.base_url,
        "LRWR_EMBEDDING_MODEL": "off",
    }


def stopped(folder: Path, scratch: Path, *, plans: bool) -> float:
    """Ask, stop it, and return the milliseconds until all connections were closed.

    Raises:
        TimeoutError: The question did not begin, or did not end.
    """
    with Server(plans) as server:
        asking = subprocess.Popen(
            [*lrwr(), "ask", QUESTION],
            cwd=folder,
            env=environment(scratch, _variables(server)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if not server.speaking.wait(PATIENCE):
            asking.kill()
            raise TimeoutError("the question did not begin")
        time.sleep(0.3)
        began = time.monotonic()
        asking.send_signal(signal.SIGINT)
        asking.wait(PATIENCE)
        until = time.monotonic() + PATIENCE
        while len(server.ended) < server.opened:
            if time.monotonic() > until:
                raise TimeoutError("a connection stays open")
            time.sleep(0.001)
        return (max(server.ended) - began) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    times = parser.parse_args().times
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="lrwr-hangups-") as place:
        scratch, folder = Path(place, "scratch"), Path(place, "book")
        scratch.mkdir()
        shutil.copytree(SAMPLE, folder)
        subprocess.run(
            [*lrwr(), "ingest", "."],
            cwd=folder,
            env=environment(scratch, {"LRWR_EMBEDDING_MODEL": "off"}),
            check=True,
        )
        apart, late = streamed(folder, scratch)
        print(f"both planning calls were sent within {apart:.0f} ms")
        print(
            f"a piece was printed {median(late):.1f} ms after it was sent,"
            f" at most {max(late):.1f} ms ({len(late)} pieces, 20 ms apart)"
        )
        for plans, when in ((False, "while it plans"), (True, "while it answers")):
            took = [stopped(folder, scratch, plans=plans) for _ in range(times)]
            worst = max(worst, *took)
            print(
                f"{when}: median {median(took):.0f} ms, most {max(took):.0f} ms"
                f" of {times} (goal {GOAL} at most)"
            )
    return int(worst > GOAL)


if __name__ == "__main__":
    sys.exit(main())
