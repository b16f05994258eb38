"""A library whose output and files are searched for planted secrets."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from tests.fakes.hostile_gate import Came
from tests.fakes.planted_secrets import MANUSCRIPT, SESSION, TEXTS, leaking_files, leaks
from tests.fakes.terminal import Ran, Terminal

PAGES = {
    "1.md": "# One\n\n“Is it late?” said Nell Tallow. She hid the quillfeather below the"
    " sluice, and the lamp burned low.\n",
    "notes/characters/Nell-Tallow.md": "# Nell Tallow\n\nNell Tallow fears marmoleum.\n",
}
ASKED = "Which zymurgist did Nell Tallow wait for below the sluice?"
PROSE = {name: TEXTS[name] for name in ("manuscript", "notes")}

NOSY = {
    "HTTPX_LOG_LEVEL": "debug",
    "MODAL_LOGLEVEL": "DEBUG",
    "MODAL_TRACEBACK": "1",
    "LANGSMITH_TRACING": "true",
    "PYTHONASYNCIODEBUG": "1",
    "GRPC_VERBOSITY": "debug",
}
"""Environment variables that make the libraries under lrwr log more."""

PAIR = ("password", "renewing")
"""Secrets that only the body of a sign-in request may contain."""


_HELD = frozenset(SESSION)


class Desk:
    """A manuscript on its own machine, with secrets that must not leak.

    `secrets` are the planted ones, by name; those of a session have a file of their own.
    """

    def __init__(self, place: Path, secrets: dict[str, str], **env: str) -> None:
        self.place, self.book = place, place / "book"
        self.secrets = secrets
        for folder in (self.book, place / "home", place / "tmp"):
            folder.mkdir(parents=True)
        self.env = {
            "XDG_STATE_HOME": str(place / "home/state"),
            "TMPDIR": str(place / "tmp"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "LRWR_EMBEDDING_MODEL": "off",
            **env,
        }
        self.terminal = Terminal(self.book, home=place / "home", **self.env)

    def write(self) -> None:
        """Write the book's pages."""
        for name, text in PAGES.items():
            (self.book / name).parent.mkdir(parents=True, exist_ok=True)
            (self.book / name).write_text(text, encoding="utf-8")

    def add(self, words: str) -> None:
        """Write a sentence of the manuscript's below the first page."""
        with (self.book / "1.md").open("a", encoding="utf-8") as page:
            page.write(f"\nNell Tallow sold the {MANUSCRIPT}: {words}.\n")

    def keep_there(self) -> None:
        """Have the library kept in the project from now on."""
        file = self.place / "home/config/lrwr/lrwr.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('[records]\nkeeper = "supabase"\n', encoding="utf-8")

    def run(self, *words: str, given: str = "", **env: str) -> Ran:
        """Run a command; no secret may be in what it says, no text in its story."""
        return self.judged(words, self.terminal.run(*words, given=given, **env))

    def start(self, *words: str, **env: str) -> Ran:
        """Run a command in a process of its own."""
        return self.judged(words, self.terminal.process(*words, **env))

    def judged(self, words: tuple[str, ...], ran: Ran) -> Ran:
        """Search what a command said."""
        assert leaks(ran.out, self.secrets) == [], words
        assert leaks(ran.err, {**self.secrets, **PROSE}) == [], (words, ran.err)
        return ran

    def hunt(self) -> None:
        """Search every file, and the log of what was sent."""
        assert leaking_files(self.book, self.secrets) == []
        for folder in ("home", "tmp"):
            found = {**self.secrets, **TEXTS}
            assert leaking_files(self.place / folder, found, but=_HELD) == []
        holding = leaking_files(
            self.place,
            {name: self.secrets[name] for name in _HELD if name in self.secrets},
        )
        assert [one.partition(":")[0] for one in holding] in ([], ["session.json"])
        for file in self.place.rglob("session.json"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert leaks(self.sent(), {**self.secrets, **TEXTS, "a file": "1.md"}) == []

    def sent(self) -> str:
        """What the log says of what left this machine."""
        file = self.book / ".lrwr/library.db"
        if not file.exists():
            return ""
        with closing(sqlite3.connect(file)) as connection:
            return repr(connection.execute("select * from sent").fetchall())


def wrongly_sent(came: Came, secrets: dict[str, str]) -> list[str]:
    """Return what a project was sent in a place where it must not be."""
    wrong = leaks(came.place, {**secrets, **TEXTS})
    for header in came.headers.splitlines():
        name = header.partition(":")[0].lower()
        own = {"apikey": {"key"}, "authorization": {"token"}}.get(name, set())
        wrong += sorted({*leaks(header, {**secrets, **TEXTS})} - own)
    signing_in = came.place.startswith("/auth/v1/token")
    wrong += leaks(came.body, {n: s for n, s in secrets.items() if n not in PAIR})
    if not signing_in:
        wrong += leaks(came.body, {name: secrets[name] for name in PAIR})
    if came.place.startswith("/auth/"):
        wrong += leaks(came.body, TEXTS)
    return wrong
