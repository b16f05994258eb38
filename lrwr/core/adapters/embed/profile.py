"""How embedding models expect their texts, and how they make vectors of tokens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePath
from typing import Literal

from lrwr.core.ports.models import EmbeddingRole
from lrwr.core.settings.model import EmbeddingSettings

SHIPPED_SPACE = "all-minilm-l6-v2-int8"
"""Name of the embedding space of the model that comes with lrwr."""

MINILM_DIMENSIONS = 384
"""Length of the vectors of the model that comes with lrwr."""

DEFAULT_MAX_TOKENS = 512
"""Tokens that a model in a folder reads at once, including its two markers."""


@dataclass(frozen=True, slots=True)
class EmbeddingProfile:
    """How an embedding model expects its texts, and how it makes vectors of tokens.

    `query` and `passage` are put before a text. `pooling` is how the states of a text's
    tokens become one vector: their mean, the first (cls) or the last; a server does
    this itself. `max_tokens` is how many tokens the model reads, 0 for the default.
    """

    query: str = ""
    passage: str = ""
    pooling: Literal["mean", "cls", "last"] = "mean"
    max_tokens: int = 0

    def add_prefix(self, text: str, role: EmbeddingRole) -> str:
        """Return `text` as the model expects it for `role`."""
        return f"{self.query if role == 'query' else self.passage}{text}"

    @property
    def tag(self) -> str:
        """The end of an embedding space's name; empty for the default profile.

        It is made of all fields, so that a change embeds everything again.
        """
        if self == DEFAULT_PROFILE:
            return ""
        fields = [self.query, self.passage, self.pooling, self.max_tokens]
        return f"+{sha256(json.dumps(fields).encode()).hexdigest()[:8]}"


DEFAULT_PROFILE = EmbeddingProfile()
"""The profile of the model that comes with lrwr, and of unknown models."""

_WEB_SEARCH = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the"
    " query\nQuery:"
)
_SEARCH_SENTENCE = "Represent this sentence for searching relevant passages: "
KNOWN_PROFILES: Mapping[str, EmbeddingProfile] = {
    "nomic-embed-text": EmbeddingProfile(
        "search_query: ", "search_document: ", "mean", 2048
    ),
    "bge-m3": EmbeddingProfile("", "", "cls", 8192),
    "bge": EmbeddingProfile(_SEARCH_SENTENCE, "", "cls", 512),
    "e5-mistral": EmbeddingProfile(f"{_WEB_SEARCH} ", "", "last", 4096),
    "e5-large-instruct": EmbeddingProfile(f"{_WEB_SEARCH} ", "", "mean", 512),
    "e5": EmbeddingProfile("query: ", "passage: ", "mean", 512),
    "mxbai-embed": EmbeddingProfile(_SEARCH_SENTENCE, "", "cls", 512),
    "qwen3-embedding": EmbeddingProfile(_WEB_SEARCH, "", "last", 8192),
    "embeddinggemma": EmbeddingProfile(
        "task: search result | query: ", "title: none | text: ", "mean", 2048
    ),
}
"""Profiles by a part of the model's name; the first part that fits counts.

From the model cards of nomic-ai/nomic-embed-text-v1.5, BAAI/bge-m3,
BAAI/bge-large-en-v1.5, intfloat/e5-mistral-7b-instruct,
intfloat/multilingual-e5-large-instruct, intfloat/e5-large-v2,
mixedbread-ai/mxbai-embed-large-v1, Qwen/Qwen3-Embedding-0.6B and
google/embeddinggemma-300m on Hugging Face. nomic-embed-text reads 8,192 tokens, but
servers such as Ollama set 2,048; Qwen3 reads 32,768, and its card uses 8,192.
"""


def find_known_profile(name: str) -> EmbeddingProfile:
    """Return the profile that is known for the model `name`, else the default."""
    normalized = name.casefold().replace("_", "-").replace(" ", "-")
    for part, profile in KNOWN_PROFILES.items():
        # "e5" must be a word of its own: "base5" is another model.
        if f"-{part}" in f"-{normalized.replace('/', '-').replace(':', '-')}":
            return profile
    return DEFAULT_PROFILE


def resolve_profile(
    embedding: EmbeddingSettings, *, is_folder: bool
) -> EmbeddingProfile:
    """Return the profile of the model in `embedding.folder` or on the user's server.

    With `is_folder` the folder's name identifies the model, else `embedding.name`.
    Settings replace the known values. The model that comes with lrwr has the default
    profile: without a folder none of the settings applies to it.
    """
    name = PurePath(embedding.folder).name if is_folder else embedding.name
    if is_folder and not embedding.folder:
        return DEFAULT_PROFILE
    profile = find_known_profile(name)
    if embedding.query_prefix != "auto":
        profile = replace(profile, query=embedding.query_prefix)
    if embedding.passage_prefix != "auto":
        profile = replace(profile, passage=embedding.passage_prefix)
    if embedding.pooling != "auto":
        profile = replace(profile, pooling=embedding.pooling)
    return replace(profile, max_tokens=embedding.max_tokens or profile.max_tokens)
