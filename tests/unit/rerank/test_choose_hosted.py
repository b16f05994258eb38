"""Which servers the settings ask for, and where a downloaded folder may not lead."""

from pathlib import Path

import pytest

from lrwr.core.adapters.embed import connection as embed
from lrwr.core.adapters.embed.connection import OPENAI_EMBEDDING_URL
from lrwr.core.adapters.rerank import cohere as rerank
from lrwr.core.adapters.rerank.cohere import COHERE_URL
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import OLLAMA_URL


def settings(folder: Path, user: str, library: str = "") -> Settings:
    own = folder / "user.toml"
    own.write_text(user, encoding="utf-8")
    novel = folder / "novel"
    novel.mkdir(exist_ok=True)
    (novel / "lrwr.toml").write_text(library, encoding="utf-8")
    return load_settings(novel, {}, {}, user=own)


def test_as_it_comes_nobody_elsewhere_embeds_or_looks_again(tmp_path: Path) -> None:
    plain = settings(tmp_path, "")
    assert embed.build_embedding_connection(plain) is None
    assert rerank.build_cohere_connection(plain) is None
    assert not embed.is_embedding_remote(plain)


def test_openai_embeds_with_its_small_model(tmp_path: Path) -> None:
    on = settings(tmp_path, '[embedding]\nmodel = "openai"\n')
    connection = embed.build_embedding_connection(on)
    assert connection is not None
    assert (connection.name, connection.dimensions) == ("text-embedding-3-small", 1536)
    assert (connection.base_url, connection.shorter) == (OPENAI_EMBEDDING_URL, False)
    assert connection.space == "openai/text-embedding-3-small/1536"
    assert embed.is_embedding_remote(on)


@pytest.mark.parametrize(
    ("lines", "dimensions", "shorter"),
    [
        ("dimensions = 512", 512, True),
        ("dimensions = 1536", 1536, False),
        ('name = "text-embedding-3-large"', 3072, False),
        ('name = "text-embedding-ada-002"\ndimensions = 1536', 1536, False),
        ('name = "another"\ndimensions = 99', 99, False),
    ],
)
def test_a_length_is_asked_for_where_the_model_gives_another(
    tmp_path: Path, lines: str, dimensions: int, shorter: bool
) -> None:
    on = settings(tmp_path, f'[embedding]\nmodel = "openai"\n{lines}\n')
    connection = embed.build_embedding_connection(on)
    assert connection is not None
    assert (connection.dimensions, connection.shorter) == (dimensions, shorter)


def test_a_server_of_ones_own_is_apart_from_that_of_the_language_model(
    tmp_path: Path,
) -> None:
    on = settings(
        tmp_path,
        '[model]\nbase_url = "http://127.0.0.1:1/v1"\n[embedding]\nmodel = "server"\n'
        'name = "nomic"\ndimensions = 768\n',
    )
    connection = embed.build_embedding_connection(on)
    assert connection is not None
    assert (connection.base_url, connection.own) == (OLLAMA_URL, True)
    assert not embed.is_embedding_remote(on)
    afar = settings(
        tmp_path,
        '[embedding]\nmodel = "server"\nname = "nomic"\ndimensions = 768\n'
        'base_url = "http://192.168.1.5:80/v1"\n',
    )
    assert embed.is_embedding_remote(afar)


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ('model = "server"', "embedding.name"),
        ('model = "server"\nname = "nomic"', "embedding.dimensions"),
        ('model = "openai"\nname = "another"', "embedding.dimensions"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, lines: str, hint: str) -> None:
    with pytest.raises(SettingsProblem) as caught:
        embed.build_embedding_connection(settings(tmp_path, f"[embedding]\n{lines}\n"))
    assert hint in caught.value.hint


def test_cohere_is_asked_for_its_fast_model_and_for_more_candidates(
    tmp_path: Path,
) -> None:
    on = settings(tmp_path, '[rerank]\nmodel = "cohere"\n')
    connection = rerank.build_cohere_connection(on)
    assert connection is not None
    assert (connection.model, connection.base_url) == ("rerank-v5.0-fast", COHERE_URL)
    assert on.rerank.candidate_count == 50
    assert settings(tmp_path, "").rerank.candidate_count == 20
    assert settings(tmp_path, "[rerank]\ncandidates = 7\n").rerank.candidate_count == 7


def test_an_older_model_is_a_setting(tmp_path: Path) -> None:
    older = '[rerank]\nmodel = "cohere"\ncohere_model = "rerank-english-v3.0"\n'
    connection = rerank.build_cohere_connection(settings(tmp_path, older))
    assert connection is not None
    assert connection.model == "rerank-english-v3.0"


@pytest.mark.parametrize(
    "address", ["https://elsewhere.example/v1", "http://192.168.1.5:80"]
)
def test_a_downloaded_file_leads_nowhere_else(tmp_path: Path, address: str) -> None:
    both = '[embedding]\nmodel = "openai"\n[rerank]\nmodel = "cohere"\n'
    line = f'base_url = "{address}"\n'
    strange = settings(tmp_path, both, f"[embedding]\n{line}[rerank]\n{line}")
    with pytest.raises(SettingsProblem, match="points to another machine"):
        embed.build_embedding_connection(strange)
    with pytest.raises(SettingsProblem, match="points to another machine"):
        rerank.build_cohere_connection(strange)


def test_a_key_is_not_sent_for_all_to_read(tmp_path: Path) -> None:
    line = 'base_url = "http://proxy.example"\n'
    both = f'[embedding]\nmodel = "openai"\n{line}[rerank]\nmodel = "cohere"\n{line}'
    with pytest.raises(SettingsProblem, match="without encryption"):
        embed.build_embedding_connection(settings(tmp_path, both))
    with pytest.raises(SettingsProblem, match="without encryption"):
        rerank.build_cohere_connection(settings(tmp_path, both))
