"""`rerank.model = "model"`: the language model orders what a search found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.model_server import MODEL, ModelServer, Refuse, Say, Turn
from tests.fakes.read_books import BY_WORDS, write_files
from tests.fakes.terminal import Terminal

FILES = {f"{n}.md": f"# {n}\n\nThe lamp of keeper {n} burned.\n" for n in range(1, 5)}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as opened:
        yield opened


@pytest.fixture
def book(server: ModelServer, tmp_path: Path) -> Terminal:
    write_files(FILES)(tmp_path / "book")
    terminal = Terminal(
        tmp_path / "book",
        home=tmp_path / "home",
        LRWR_RERANK_MODEL="model",
        LRWR_MODEL_USE="local",
        LRWR_MODEL_NAME=MODEL,
        LRWR_MODEL_BASE_URL=server.base_url,
        **BY_WORDS,
    )
    assert terminal.run("ingest", ".", LRWR_MODEL_USE="off").code == 0
    return terminal


def files(terminal: Terminal, **env: str) -> list[str]:
    found = terminal.run("search", "lamp", "--json", **env).json
    return [passage["file"] for passage in found["passages"]]


def test_a_search_comes_in_the_order_of_the_model_and_says_its_cost(
    book: Terminal, server: ModelServer
) -> None:
    local = files(book, LRWR_RERANK_MODEL="late-interaction")
    server.answering(lambda asked: Say('{"ids": [4, 3, 2, 1]}'))
    ran = book.run("search", "lamp", "--json", LRWR_MODEL_PRICES=f"{MODEL} 0.1 0.5")
    assert [p["file"] for p in ran.json["passages"]] == local[::-1]
    assert ran.json["confidence"] is None
    assert "1 call: about " in ran.err
    assert "tokens sent" in ran.err
    assert files(book) == local[::-1]
    assert len(server.asked) == 1, "an order is asked for once"


@pytest.mark.parametrize(
    "turn", [Say('{"ids": [4, 4, 2, 1]}'), Refuse(400, "no")], ids=["reply", "refusal"]
)
def test_a_failure_leaves_the_local_order(
    book: Terminal, server: ModelServer, turn: Turn
) -> None:
    local = files(book, LRWR_RERANK_MODEL="late-interaction")
    server.answering(lambda asked: turn)
    found = book.run("search", "lamp", "--json").json
    assert [passage["file"] for passage in found["passages"]] == local
    assert len(found["remarks"]) == 1


def test_nothing_is_sent_that_was_not_asked_for(
    book: Terminal, server: ModelServer
) -> None:
    files(book, LRWR_RERANK_MODEL="late-interaction")
    book.run("search", "lamp", "--no-rerank")
    book.run("status")
    off = book.run("search", "lamp", "--json", LRWR_MODEL_USE="off").json
    assert "`model.use` is off" in off["remarks"][0]
    budget = book.run("search", "lamp", "--json", LRWR_MODEL_BUDGET="0.1").json
    assert "price of" in budget["remarks"][0]
    assert server.asked == []
