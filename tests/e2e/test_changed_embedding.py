"""Another embedding model is configured, and nothing is embedded with it yet."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.read_books import write_files
from tests.fakes.terminal import Terminal

FILES = {
    "1.md": "# One\n\n“The lamp must never go out,” said Nell. “Not once.”\n",
    "2.md": "# Two\n\nCorin came over the marsh with the pony.\n",
}
CHANGED = (
    "The embedding model changed; 2 passages are not embedded with it yet."
    " Run `lrwr ingest`."
)
REMARK = f"Searched by words only. {CHANGED}"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(key="", sizes={"first": 64, "second": 64}) as opened:
        yield opened


@pytest.fixture
def book(server: EmbeddingServer, tmp_path: Path) -> Terminal:
    """Two chapters that are embedded with the model `first`; `second` is set."""
    write_files(FILES)(tmp_path / "book")
    terminal = Terminal(
        tmp_path / "book",
        home=tmp_path / "home",
        LRWR_EMBEDDING_MODEL="server",
        LRWR_EMBEDDING_NAME="second",
        LRWR_EMBEDDING_DIMENSIONS="64",
        LRWR_EMBEDDING_BASE_URL=server.base_url,
    )
    assert terminal.run("ingest", ".", LRWR_EMBEDDING_NAME="first").code == 0
    return terminal


def test_a_search_says_that_meaning_is_left_out_and_is_not_confident(
    book: Terminal, server: EmbeddingServer
) -> None:
    before = len(server.asked)
    found = book.run("search", "Who guards the lamp?", "--json").json
    assert found["remarks"] == [REMARK]
    assert (found["confidence"], found["low_confidence"]) == (None, None)
    assert found["passages"]
    assert len(server.asked) == before, "a question is not embedded for nothing"
    assert REMARK in book.run("search", "lamp").out


def test_each_line_of_a_batch_says_so_too(book: Terminal) -> None:
    (book.folder / "q.jsonl").write_text('{"id": "1", "question": "Who has a lamp?"}\n')
    assert book.run("search", "--batch", "q.jsonl").json["remarks"] == [REMARK]


@pytest.mark.parametrize("question", ["Who is the bookkeeper?", "Who owns a bicycle?"])
def test_words_that_occur_nowhere_do_not_make_the_text_silent(
    book: Terminal, question: str
) -> None:
    ran = book.run("ask", question)
    assert "does not mention" not in ran.out
    assert "No clear answer found" in ran.out
    assert "Open question" not in ran.out + ran.err
    assert REMARK in ran.out + ran.err
    turn = book.run("ask", question, "--json").json
    assert REMARK in turn["remarks"]
    assert turn["low_confidence"] is None


def test_status_and_doctor_count_what_is_not_embedded(book: Terminal) -> None:
    assert CHANGED in book.run("status").out
    status = book.run("status", "--json").json
    assert (status["embedded"], status["remarks"]) == (0, [CHANGED])
    findings = book.run("doctor", "--json").json["findings"]
    (vectors,) = (one for one in findings if one["part"] == "vectors")
    assert vectors["state"] == "warning"
    assert f"{vectors['detail']} {vectors['remedy']}" == CHANGED


def test_chat_says_so_below_each_answer(book: Terminal) -> None:
    ran = book.run("chat", "--plain", given="Who has a lamp?\n")
    assert REMARK in ran.out + ran.err


def test_ingesting_ends_it_and_switching_back_embeds_nothing(
    book: Terminal, server: EmbeddingServer
) -> None:
    assert book.run("ingest").code == 0
    for name in ("second", "first"):
        embedded = len(server.texts)
        assert book.run("ingest", LRWR_EMBEDDING_NAME=name).code == 0
        assert len(server.texts) == embedded, name
        env = {"LRWR_EMBEDDING_NAME": name}
        assert book.run("search", "lamp", "--json", **env).json["remarks"] == []
        assert book.run("status", "--json", **env).json["remarks"] == []


def test_passages_that_were_never_embedded_are_counted(
    book: Terminal, server: EmbeddingServer
) -> None:
    assert book.run("ingest", LRWR_EMBEDDING_MODEL="off").code == 0
    found = book.run("search", "Who guards the lamp?", "--json").json
    assert found["remarks"] == [
        "Searched by words only. 2 passages are not embedded yet. Run `lrwr ingest`."
    ]
