import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hosted import PASSWORD, Writer, sign_up
from tests.fakes.model_server import KEY, MODEL, ModelServer
from tests.fakes.moved import NO_KEYRING, Desk, write_manuscript
from tests.fakes.post_writer import PostWriter
from tests.fakes.read_books import BY_WORDS, ReadBooks, copy_sample
from tests.fakes.supabase_server import SupabaseServer
from tests.fakes.terminal import Terminal


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> ReadBooks:
    """Books that are read once, to be copied."""
    return ReadBooks(tmp_path_factory)


@pytest.fixture(scope="session")
def marsh(books: ReadBooks, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """The sample, ingested once. Read it; to change it, copy it."""
    return books.copy("marsh", copy_sample, tmp_path_factory.mktemp("marsh"))


@pytest.fixture
def sample(tmp_path: Path) -> Terminal:
    """The sample, fresh, by words alone."""
    copy_sample(tmp_path / "book")
    return Terminal(tmp_path / "book", home=tmp_path / "home", **BY_WORDS)


@pytest.fixture
def read_sample(books: ReadBooks, tmp_path: Path) -> Terminal:
    """The sample, read by words alone."""
    return books.copy("sample", copy_sample, tmp_path, **BY_WORDS)


@pytest.fixture
def empty(tmp_path: Path) -> Terminal:
    """An empty folder, by words alone."""
    (tmp_path / "book").mkdir()
    return Terminal(tmp_path / "book", home=tmp_path / "home", **BY_WORDS)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A language model."""
    with ModelServer() as opened:
        yield opened


@pytest.fixture
def with_model(read_sample: Terminal, server: ModelServer, tmp_path: Path) -> Terminal:
    """The sample, read by words alone, with the language model of `server`."""
    return Terminal(
        read_sample.folder,
        home=tmp_path / "home",
        LRWR_EMBEDDING_MODEL="off",
        LRWR_MODEL_USE="openai",
        LRWR_MODEL_NAME=MODEL,
        LRWR_MODEL_BASE_URL=server.base_url,
        OPENAI_API_KEY=KEY,
    )


@pytest.fixture
def writer(server: ModelServer) -> PostWriter:
    """What the language model of `server` says: drafts of posts."""
    writer = PostWriter()
    server.answering(writer.answer)
    return writer


@pytest.fixture
def nell(supabase: SupabaseServer) -> Writer:
    """A writer with an account."""
    return sign_up(supabase)


@pytest.fixture
def desk(supabase: SupabaseServer, nell: Writer, tmp_path: Path) -> Iterator[Desk]:
    """Folders by name, each on a machine of its own, where Nell is signed in."""

    def made(name: str) -> Terminal:
        folder = tmp_path / name / "book"
        folder.mkdir(parents=True, exist_ok=True)
        terminal = Terminal(
            folder,
            home=tmp_path / name / "home",
            LRWR_SUPABASE_URL=supabase.url,
            SUPABASE_KEY=supabase.key,
            **NO_KEYRING,
        )
        assert terminal.run("login", nell.email, given=f"{PASSWORD}\n").code == 0
        return terminal

    yield made
    supabase.gate.refusals.clear()
    supabase.gate.held.clear()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a manuscript, which was read, and a conversation about it."""
    folder = tmp_path_factory.mktemp("written") / "book"
    write_manuscript(folder)
    terminal = Terminal(folder, home=folder.parent / "home")
    assert terminal.run("ingest", ".").code == 0
    assert terminal.run("ask", "How old is Nell?").code == 0
    return folder


@pytest.fixture
def first(desk: Desk, written: Path) -> Terminal:
    """A machine with a manuscript that was read."""
    terminal = desk("first")
    shutil.copytree(written, terminal.folder, dirs_exist_ok=True)
    return terminal


@pytest.fixture
def pushed(first: Terminal) -> Terminal:
    """A machine with a manuscript that was read and pushed."""
    assert first.run("push").code == 0
    return first
