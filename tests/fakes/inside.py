"""A terminal for tests that run a command many times: lrwr, in the tests' own process.

It starts nothing, and so takes a tenth of the time. What a process of its own has for
itself is lent to the command: variables, the folder it is in, its streams.
"""

import io
import os
import sys
import tempfile
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

import keyring
from keyring.backends import fail

from tests.fakes.terminal import Ran, Terminal


class Inside(Terminal):
    """Runs commands in `folder`, without a keyring."""

    def run(self, *words: str, given: str = "", **env: str) -> Ran:
        """Run `lrwr` with these words; `given` is piped in."""
        out, err = _stream(), _stream()
        with ExitStack() as stack:
            for lent in (
                patch.dict(os.environ, {**self.env, **env}, clear=True),
                patch.object(sys, "argv", ["lrwr", *words]),
                patch.object(tempfile, "tempdir", self.env.get("TMPDIR")),
                patch.object(sys, "stdin", _stream(given)),
                chdir(self.folder),
                redirect_stdout(out),
                redirect_stderr(err),
            ):
                stack.enter_context(lent)
            before = keyring.get_keyring()
            keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
            stack.callback(keyring.set_keyring, before)
            code = _ended()
        return Ran(_said(out), _said(err), code)


def _ended() -> int:
    from lrwr.cli.main import run

    try:
        run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0


def _stream(given: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")


def _said(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
