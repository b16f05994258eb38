"""Keys and texts are planted, services do their worst, and everything is searched."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.test_close_reading import read
from tests.fakes import planted_secrets
from tests.fakes.cohere_server import CohereServer
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.hostile_gate import Came, Gate, Manner, SigningInServer
from tests.fakes.langsmith_server import LangSmithServer
from tests.fakes.model_server import Asked, ModelServer, Say, Turn
from tests.fakes.planning import planning
from tests.fakes.planted_secrets import (
    KEYS,
    MANUSCRIPT,
    NOTES,
    PASSWORD,
    QUESTION,
    SESSION,
    leaking_files,
    leaks,
)
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.terminal import Ran, Terminal
from tests.fakes.watch_process import Watches
from tests.fakes.web_server import WebServer, a_result

if os.name == "nt":
    pytest.skip("rights of files are other ones", allow_module_level=True)

pytestmark = pytest.mark.timeout(180)

PAGES = {
    "1.md": "# One\n\n“Is it late?” said Nell Tallow. She hid the quillfeather below the"
    " sluice, and the lamp burned low.\n",
    "notes/characters/Nell-Tallow.md": "# Nell Tallow\n\nNell Tallow fears marmoleum.\n",
}
ASKED = "Which zymurgist sang in the frog opera by Aristophanes, before Nell Tallow?"
TEXTS = {"manuscript": MANUSCRIPT, "notes": NOTES}

NOSY = {
    "OPENAI_LOG": "debug",
    "HTTPX_LOG_LEVEL": "debug",
    "LANGCHAIN_VERBOSE": "true",
    "LANGCHAIN_DEBUG": "true",
    "LANGSMITH_TRACING": "true",
    "LANGCHAIN_TRACING_V2": "true",
    "PYTHONASYNCIODEBUG": "1",
    "GRPC_VERBOSITY": "debug",
}
"""Variables by which libraries tell more: some look at them when they are imported."""

OWN_KEYS = {
    "openai": {"OPENAI_API_KEY"},
    "embeddings": {"OPENAI_API_KEY"},
    "cohere": {"COHERE_API_KEY"},
    "tavily": {"TAVILY_API_KEY"},
    "qdrant": {"QDRANT_API_KEY"},
    "langsmith": {"LANGSMITH_API_KEY"},
    "supabase": {"SUPABASE_KEY", "token"},
}
"""What each service may find in the headers of a request."""

BODIES = {"supabase": {"password", "renewing"}}
"""What a service may find in the body of one."""

ADDRESSES = {
    "openai": "LRWR_MODEL_BASE_URL",
    "embeddings": "LRWR_EMBEDDING_BASE_URL",
    "cohere": "LRWR_RERANK_BASE_URL",
    "tavily": "LRWR_WEB_BASE_URL",
    "qdrant": "LRWR_VECTORS_URL",
    "langsmith": "LRWR_TRACES_BASE_URL",
    "supabase": "LRWR_SUPABASE_URL",
}

ON = {
    "LRWR_MODEL_USE": "openai",
    "LRWR_MODEL_NAME": "pretend-1",
    "LRWR_MODEL_STEPS": "0",
    "LRWR_EMBEDDING_MODEL": "openai",
    "LRWR_RERANK_MODEL": "cohere",
    "LRWR_VECTORS_KEEPER": "qdrant",
    "LRWR_WEB_USE": "tavily",
    "LRWR_TRACES_KEEPER": "langsmith",
    "LRWR_WATCH_MODEL": "on-save",
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
}
HASTY = {
    **{
        f"LRWR_{part}_TIMEOUT": "1"
        for part in ("EMBEDDING", "RERANK", "VECTORS", "WEB", "SUPABASE", "TRACES")
    },
    "LRWR_MODEL_TIMEOUT": "1",
    "LRWR_MODEL_PLAN_TIMEOUT": "30",
}
"""What is set where a service says nothing: others may take their time."""

MOST = 2
"""Requests of a command that each service does its worst with."""


def answered(asked: Asked) -> str | Turn:
    """Read, plan for the web, and answer as a model does."""
    web = "external_reference"
    if asked.shape in ("Passages", "Claims", "Scene"):
        return read(asked)
    if asked.shape in ("Tools", "Entities", "Gaps"):
        return planning(
            asked, tool="web", intention=web, intent=web, name="Nell Tallow"
        )
    return read(asked) if asked.shape else Say("It is not told who sang [1].")


class Desk:
    """A book, all services on, and a gate before each."""

    def __init__(self, place: Path, stack: ExitStack) -> None:
        self.place, self.book = place, place / "book"
        self.hasty: Mapping[str, str] = {}
        for name, text in PAGES.items():
            (self.book / name).parent.mkdir(parents=True, exist_ok=True)
            (self.book / name).write_text(text, encoding="utf-8")
        for name in ("home", "tmp"):
            (place / name).mkdir()
        self.gates = {
            name: stack.enter_context(Gate(behind=origin))
            for name, origin in _services(stack)
        }
        paths = {"openai": "/v1", "embeddings": "/v1"}
        addresses = {
            ADDRESSES[name]: gate.origin + paths.get(name, "")
            for name, gate in self.gates.items()
        }
        self.terminal = Terminal(
            self.book,
            home=place / "home",
            XDG_STATE_HOME=str(place / "home/state"),
            TMPDIR=str(place / "tmp"),
            **KEYS,
            **ON,
            **addresses,
        )

    def are(self, manner: Manner) -> None:
        """Have all services treat requests so, from now on."""
        self.hasty = HASTY if manner is Manner.SILENT else {}
        for gate in self.gates.values():
            gate.manner = manner
            gate.asked.clear()

    def run(self, *words: str, given: str = "", apart: bool = False, **env: str) -> Ran:
        """Run a command; no secret may be in what it says, no text in its story."""
        for gate in self.gates.values():
            gate.most = MOST
        run = self.terminal.process if apart else self.terminal.run
        ran = run(*words, given=given, **self.hasty, **env)
        assert leaks(ran.out, planted_secrets.SECRETS) == [], words
        assert leaks(ran.err, {**planted_secrets.SECRETS, **TEXTS}) == [], (
            words,
            ran.err,
        )
        return ran

    def hunt(self) -> None:
        """Search what was sent, and every file."""
        for name, gate in self.gates.items():
            for came in gate.asked:
                assert wrongly_sent(name, came) == [], (name, came)
        kept = frozenset(SESSION)
        assert leaking_files(self.book, planted_secrets.SECRETS) == []
        for folder in ("home", "tmp"):
            found = {**planted_secrets.SECRETS, **planted_secrets.TEXTS}
            assert leaking_files(self.place / folder, found, but=kept) == []
        holding = leaking_files(self.place, SESSION)
        assert holding in ([], [f"session.json: {[*SESSION]}"])
        for file in self.place.rglob("session.json"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


def _services(stack: ExitStack) -> Iterator[tuple[str, str]]:
    models = stack.enter_context(ModelServer(key=KEYS["OPENAI_API_KEY"]))
    models.answering(answered)
    yield "openai", models.base_url.removesuffix("/v1")
    embeddings = EmbeddingServer(key=KEYS["OPENAI_API_KEY"])
    yield "embeddings", stack.enter_context(embeddings).origin
    cohere = CohereServer(key=KEYS["COHERE_API_KEY"])
    yield "cohere", stack.enter_context(cohere).origin
    web = stack.enter_context(WebServer(key=KEYS["TAVILY_API_KEY"]))
    web.finds(a_result("Frogs", "https://example.org/frogs", "A chorus of frogs."))
    yield "tavily", web.base_url
    qdrant = QdrantServer(key=KEYS["QDRANT_API_KEY"])
    yield "qdrant", stack.enter_context(qdrant).url
    langsmith = LangSmithServer(takes=KEYS["LANGSMITH_API_KEY"])
    yield "langsmith", stack.enter_context(langsmith).origin
    signing_in = SigningInServer(**SESSION)
    yield "supabase", stack.enter_context(signing_in).origin


def wrongly_sent(service: str, came: Came) -> list[str]:
    """Return what a service was sent in a place where it must not be."""
    everything = {**planted_secrets.SECRETS, **planted_secrets.TEXTS}
    texts = {} if service in ("openai", "embeddings", "cohere") else TEXTS
    asking = service in ("openai", "embeddings", "cohere", "tavily")
    told = texts if asking else {**texts, "question": QUESTION}
    headers = {*leaks(came.headers, everything)} - OWN_KEYS[service]
    body = {*leaks(came.body, {**planted_secrets.SECRETS, **told})}
    return [
        *leaks(came.place, everything),
        *sorted(headers),
        *sorted(body - BODIES.get(service, set())),
    ]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(tmp_path_factory.mktemp("secrets"), stack)


@pytest.fixture(scope="module")
def read_well(desk: Desk) -> Desk:
    """A desk at which everything went well once."""
    desk.are(Manner.WELL)
    ran = desk.run("ingest", ".")
    assert ran.code == 0, ran.err
    return desk


EMAIL = "nell@example.org"

CONVERSING = (("ask", ASKED, "--json"), ("chat", "--plain"))
LOOKING = (
    ("search", MANUSCRIPT),
    ("doctor", "--json"),
    ("privacy", "--json"),
    ("config", "keys"),
)
SIGNING_IN = (("login", EMAIL), ("whoami", "--json"))


def said_to(words: tuple[str, ...]) -> str:
    """Return what is typed into a command."""
    return {"chat": f"{ASKED}\n/help\n", "login": f"{PASSWORD}\n"}.get(words[0], "")


@pytest.mark.parametrize("commands", [CONVERSING, LOOKING, SIGNING_IN])
def test_where_all_goes_well_every_service_has_its_own_key_and_no_other(
    read_well: Desk, commands: tuple[tuple[str, ...], ...]
) -> None:
    desk = read_well
    desk.are(Manner.WELL)
    for words in commands:
        assert desk.run(*words, given=said_to(words)).code in (0, 1), words
    asked = {name: gate.asked for name, gate in desk.gates.items() if gate.asked}
    whole: dict[tuple[tuple[str, ...], ...], set[str]] = {
        CONVERSING: set(OWN_KEYS) - {"supabase"},
        SIGNING_IN: {"supabase"},
    }
    assert {*asked} >= whole.get(commands, {"embeddings", "cohere", "qdrant"})
    for name, came in asked.items():
        headers = "".join(one.headers for one in came)
        assert {*leaks(headers, planted_secrets.SECRETS)} == OWN_KEYS[name]
    desk.hunt()


WORST = tuple(one for one in Manner if one is not Manner.WELL)

CASES = (
    *((manner, ("ask", ASKED)) for manner in WORST),
    *((manner, ("login", EMAIL)) for manner in WORST),
    *((m, ("ingest",)) for m in (Manner.DENIES, Manner.CUTS, Manner.NONSENSE)),
    *((m, ("doctor",)) for m in (Manner.DENIES, Manner.NONSENSE)),
)


@pytest.mark.parametrize(
    ("manner", "words"), CASES, ids=[f"{m.value}-{words[0]}" for m, words in CASES]
)
def test_services_that_do_their_worst_have_nothing_told_of_what_they_say_back(
    read_well: Desk, manner: Manner, words: tuple[str, ...]
) -> None:
    desk = read_well
    if words == ("ingest",):
        with (desk.book / "1.md").open("a", encoding="utf-8") as page:
            page.write(f"\nNell Tallow was at the {MANUSCRIPT}: {manner.value}.\n")
    desk.are(manner)
    assert desk.run(*words, given=said_to(words)).code in (0, 1, 6, 7)
    assert [name for name, gate in desk.gates.items() if gate.asked]
    desk.hunt()


@pytest.mark.parametrize("manner", [Manner.WELL, Manner.DENIES])
def test_the_libraries_below_tell_no_more_when_a_shell_wants_them_to(
    read_well: Desk, manner: Manner
) -> None:
    desk = read_well
    desk.are(manner)
    assert desk.run("ask", ASKED, apart=True, **NOSY).code in (0, 6)
    password = f"{PASSWORD}\n"
    ran = desk.run("login", EMAIL, given=password, apart=True, **NOSY)
    assert ran.code in (0, 1)
    desk.hunt()


def test_a_conversation_with_services_that_fail_goes_on_and_tells_nothing(
    read_well: Desk,
) -> None:
    desk = read_well
    desk.are(Manner.NONSENSE)
    ran = desk.run("chat", "--plain", given=f"{ASKED}\n{MANUSCRIPT}\n")
    assert ran.code == 0
    desk.hunt()


@pytest.mark.parametrize("manner", [Manner.DENIES, Manner.NONSENSE])
def test_a_save_is_watched_without_a_word_of_it_on_the_side(
    read_well: Desk, manner: Manner
) -> None:
    desk = read_well
    desk.are(manner)
    with Watches(desk.terminal) as watches:
        watch = watches.start()
        watch.until("watching")
        with (desk.book / "1.md").open("a", encoding="utf-8") as page:
            page.write(f"\nNell Tallow sold the {MANUSCRIPT}: {manner.value}.\n")
        watch.until("saved")
        said = watch.stop()
    assert leaks(said, {**planted_secrets.SECRETS, **TEXTS}) == [], said
    assert desk.gates["embeddings"].asked
    desk.hunt()


@pytest.mark.parametrize("manner", [Manner.WELL, Manner.DENIES])
def test_an_evaluation_tells_nothing_but_its_figures(
    read_well: Desk, manner: Manner
) -> None:
    desk = read_well
    desk.are(Manner.WELL)
    assert desk.run("ingest", "--pipeline", "a").code == 0
    desk.are(manner)
    ran = desk.run("eval", "--make", "3", "--answers", "--json")
    assert ran.code in (0, 1, 3, 6)
    desk.hunt()


@pytest.mark.parametrize("name", ["openai", "modal", "supabase"])
def test_a_key_that_cannot_be_kept_is_not_said_back(desk: Desk, name: str) -> None:
    keys = "".join(f"{key}\n" for key in KEYS.values())
    assert desk.run("config", "set-key", name, given=keys).code == 2
    assert desk.run("config", "set-key", KEYS["OPENAI_API_KEY"]).code == 2
    as_a_word = desk.run("config", "set-key", name, KEYS["OPENAI_API_KEY"])
    assert as_a_word.code == 2
    assert "shell's history" in " ".join(as_a_word.err.split())


def test_the_hunt_finds_what_is_planted(tmp_path: Path) -> None:
    key = KEYS["OPENAI_API_KEY"]
    for said in (
        key,
        key.upper(),
        f"sk-…{key[-8:]}",
        json.dumps({"a": f"Bearer {key}"}),
    ):
        assert leaks(said, KEYS) == ["OPENAI_API_KEY"]
    assert leaks("sk-proj- and nothing else", KEYS) == []
    from base64 import b64encode

    for before in ("", "a", "ab", "Bearer "):
        coded = b64encode(f"{before}{key}, and more".encode())
        assert leaks(coded, KEYS) == ["OPENAI_API_KEY"]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/log").write_bytes(b"\0\xff" + key.encode())
    (tmp_path / "session.json").write_text(planted_secrets.TOKEN)
    assert leaking_files(tmp_path, planted_secrets.SECRETS, but=frozenset(SESSION)) == [
        "log: ['OPENAI_API_KEY']"
    ]
    leaked = Came("GET", f"/search?key={key}", "accept: */*", "")
    assert wrongly_sent("openai", leaked) == ["OPENAI_API_KEY"]
    strange = Came("POST", "/", f"authorization: Bearer {key}", f'"{NOTES} {QUESTION}"')
    assert wrongly_sent("openai", strange) == []
    assert wrongly_sent("cohere", strange) == ["OPENAI_API_KEY"]
    assert wrongly_sent("langsmith", strange) == ["OPENAI_API_KEY", "notes", "question"]


def test_a_command_that_tells_a_key_is_found_out(desk: Desk) -> None:
    (desk.place / "home/config/lrwr").mkdir(parents=True, exist_ok=True)
    own = desk.place / "home/config/lrwr/lrwr.toml"
    own.write_text(f'[model]\nname = "{KEYS["OPENAI_API_KEY"]}"\n', encoding="utf-8")
    try:
        with pytest.raises(AssertionError):
            desk.run("config", "show", LRWR_MODEL_NAME="")
        with pytest.raises(AssertionError):
            desk.hunt()
    finally:
        own.unlink()
