"""A language model reads along: what `lrwr ingest` asks of it, says of it, and keeps."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.model_server import MODEL, Asked, ModelServer
from tests.fakes.terminal import Terminal

FILES = {
    "1.md": (
        "# One\n\n“Is it late?” said Nell Tallow.\n\n“Six strokes,” said Corin Vale.\n"
    ),
    "2.md": "# Two\n\nThe pony ate the oats. “So late,” said Mrs. Gannet.\n",
}
CHEAP, DEAR = f"{MODEL} 0.10 0.50", f"{MODEL} 1000 1000"
NUMBERED = re.compile(r"^\[\w{4}:([1-9]\d*)\] ", re.MULTILINE)
KINDS = ("scenes", "people", "relations", "world", "events", "told", "gaps")


def read(asked: Asked) -> str:
    """Read as a model does that invents half of its quotes."""
    if asked.shape == "Passages":
        return passages(len(NUMBERED.findall(asked.texts[-1])))
    reply: dict[str, list[dict[str, str]]] = {kind: [] for kind in KINDS}
    if "said Nell Tallow" in asked.texts[-1]:  # the other chapter may list her name
        reply["people"] = [
            trait("wary", "Is it late?” said Nell Tallow"),
            trait("merry", "Nell danced in the rain"),
        ]
    return json.dumps(reply)


def passages(count: int) -> str:
    plain = {"content": "dialogue", "function": "plot_event", "tag": "none"}
    told = {**plain, "present": [], "references": []}
    return json.dumps({"passages": [{"id": n + 1, **told} for n in range(count)]})


def trait(value: str, quote: str) -> dict[str, str]:
    about = {"who": "Nell Tallow", "kind": "trait", "what": ""}
    return {**about, "value": value, "quote": quote}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as opened:
        opened.answering(read)
        yield opened


@pytest.fixture
def book(server: ModelServer, tmp_path: Path) -> Terminal:
    """Two chapters, and a model on this machine that may read them."""
    (tmp_path / "book").mkdir()
    for name, text in FILES.items():
        (tmp_path / "book" / name).write_text(text, encoding="utf-8")
    return Terminal(
        tmp_path / "book",
        home=tmp_path / "home",
        LRWR_EMBEDDING_MODEL="off",
        LRWR_MODEL_USE="local",
        LRWR_MODEL_NAME=MODEL,
        LRWR_MODEL_BASE_URL=server.base_url,
    )


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(
    book: Terminal, server: ModelServer
) -> None:
    said = book.run("ingest", ".", "--dry-run").out
    assert re.search(
        rf"^{MODEL} would need 4 calls: about [\d,]+ tokens sent,"
        r" [\d,]+ received \(price unknown\)\.$",
        said,
        re.MULTILINE,
    )
    assert "less than $0.01" in dry(book, CHEAP)
    assert re.search(r"received \(\$\d\.\d\d\)", dry(book, DEAR))
    told = book.run("ingest", ".", "--dry-run", "--json", LRWR_MODEL_PRICES=DEAR).json
    model = told["model"]
    assert (model["name"], model["calls"]) == (MODEL, 4)
    tokens = model["prompt_tokens"] + model["completion_tokens"]
    assert model["usd"] == pytest.approx(tokens / 1000)
    assert server.asked == []
    assert not (book.folder / ".lrwr").exists()


def dry(book: Terminal, prices: str) -> str:
    return book.run("ingest", ".", "--dry-run", LRWR_MODEL_PRICES=prices).out


def test_what_was_asked_is_told_once_and_never_asked_again(
    book: Terminal, server: ModelServer
) -> None:
    first = book.run("ingest", ".").out
    assert f"{MODEL}: 4 calls" in first
    assert "2 quotations in the model's replies: 1 found in the text (50 %)" in first
    assert len(server.chats) == 4
    again = book.run("ingest")
    assert f"{MODEL}: no calls.\n" in again.out
    told = book.run("ingest", "--verify", "--json").json["model"]
    assert (told["calls"], told["quotes"]) == (0, 0)
    (book.folder / "2.md").write_text(
        FILES["2.md"] + "\nShe fed it again.\n", encoding="utf-8"
    )
    assert f"{MODEL}: 2 calls" in book.run("ingest").out
    (book.folder / "2.md").write_text(FILES["2.md"], encoding="utf-8")
    assert "no calls; 2 replies from the cache." in book.run("ingest").out
    assert len(server.chats) == 6


def test_what_the_model_quoted_rightly_is_known_and_says_who_read(
    book: Terminal,
) -> None:
    assert book.run("ingest", ".").code == 0
    assert f"Analysed by rules and by {MODEL} (pipeline b)." in book.run("status").out
    assert book.run("status", "--json").json["read_by"] == [MODEL]
    nell = book.run("characters", "Nell", "--json").json
    (wary,) = nell["personality_traits"]
    assert wary["value"] == "wary"
    assert "merry" not in json.dumps(nell)


def test_a_budget_stops_the_reading_and_the_next_run_completes_it(
    book: Terminal, server: ModelServer
) -> None:
    stopped = book.run("ingest", ".", "--budget", "0.01", LRWR_MODEL_PRICES=DEAR)
    assert stopped.code == 0
    assert "warning: The language model has not analysed all documents." in stopped.out
    assert (
        "The next call would exceed the budget of $0.01. Raise `--budget` or `model.budget`."
        in stopped.out
    )
    assert server.asked == []
    assert book.run("search", "oats", "--json").json["passages"]
    whole = book.run("ingest", "--budget", "5", LRWR_MODEL_PRICES=CHEAP)
    assert (whole.code, whole.err) == (0, "")
    assert f"{MODEL}: 4 calls" in whole.out


def test_a_budget_without_a_price_is_not_taken_for_kept(
    book: Terminal, server: ModelServer
) -> None:
    ran = book.run("ingest", ".", "--budget", "1")
    assert ran.code == 0
    assert "the model's price is unknown. Set `model.prices`" in ran.out
    assert server.asked == []


def test_what_a_hosted_model_would_cost_is_told_without_a_key(
    book: Terminal, server: ModelServer
) -> None:
    hosted = {"LRWR_MODEL_USE": "openai", "LRWR_MODEL_NAME": "gpt-6-luna"}
    dry = book.run("ingest", ".", "--dry-run", **hosted)
    assert (dry.code, dry.err) == (0, "")
    assert "gpt-6-luna would need 4 calls" in dry.out
    assert "less than $0.01" in dry.out
    refused = book.run("ingest", ".", **hosted)
    assert (refused.code, refused.out) == (ExitCode.SETTINGS, "")
    assert "there is no API key" in refused.err
    assert book.run("ingest", ".").code == 0
    asked = len(server.asked)
    for words in (["status"], ["search", "oats"], ["characters"], []):
        assert book.run(*words, **hosted).code == 0
    assert "To ingest: 2 documents (new, changed or" in book.run("status", **hosted).out
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"LRWR_MODEL_NAME": ""}, "`model.name` is empty"),
        (
            {"LRWR_MODEL_PRICES": f"{MODEL} cheap"},
            "expected a model name and two prices",
        ),
        ({"LRWR_MODEL_BASE_URL": "ollama"}, "not a server address"),
        ({"LRWR_MODEL_BUDGET": "-1"}, "LRWR_MODEL_BUDGET"),
    ],
)
def test_a_model_that_is_set_wrongly_is_told_before_anything_is_read(
    book: Terminal, env: dict[str, str], said: str
) -> None:
    ran = book.run("ingest", ".", **env)
    assert (ran.code, ran.out) == (ExitCode.SETTINGS, "")
    assert said in ran.err
    assert "\nhint: " in ran.err
    assert not (book.folder / ".lrwr" / "library.db").exists()


def test_a_model_that_answers_nothing_ends_with_the_code_of_a_service(
    book: Terminal,
) -> None:
    ran = book.run("ingest", ".", LRWR_MODEL_BASE_URL="http://127.0.0.1:9/v1")
    assert ran.code == ExitCode.SERVICE
    assert "cannot be reached" in ran.out
    assert book.run("search", "oats", "--json").json["passages"]
