"""Stands in for the package fastembed: the part of it that lrwr uses.

A model is a file in the cache folder. It is downloaded from the server in HF_ENDPOINT,
as the client of Hugging Face does.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.request import urlopen
from zlib import crc32

import numpy as np

MODELS = {"BAAI/bge-small-en-v1.5": 48, "intfloat/multilingual-e5-large": 32}
"""Names of models, and the length of their vectors."""


class TextEmbedding:
    """A model that adds up a vector for each word."""

    embedded: ClassVar[list[str]] = []
    """All texts as they were given, with prefixes."""

    def __init__(
        self,
        model_name: str,
        cache_dir: str,
        threads: int,
        providers: Sequence[str],
        local_files_only: bool = False,
    ) -> None:
        self._dimensions = self.get_embedding_size(model_name)
        file = Path(cache_dir) / model_name.replace("/", "--")
        if file.exists():
            return
        if local_files_only:
            raise ValueError(f"Could not load model {model_name} from any source.")
        with urlopen(f"{os.environ['HF_ENDPOINT']}/{model_name}") as reply:
            file.write_bytes(reply.read())

    @classmethod
    def get_embedding_size(cls, model_name: str) -> int:
        if model_name not in MODELS:
            raise ValueError(f"Embedding size for model {model_name} was None.")
        return MODELS[model_name]

    def query_embed(self, texts: Iterable[str], batch_size: int) -> Iterator[object]:
        return self._embed(texts)

    def passage_embed(self, texts: Iterable[str], batch_size: int) -> Iterator[object]:
        return self._embed(texts)

    def _embed(self, texts: Iterable[str]) -> Iterator[object]:
        for text in texts:
            self.embedded.append(text)
            vector = np.full(self._dimensions, 0.1)
            for word in text.lower().replace(".", " ").replace("?", " ").split():
                vector[crc32(word.encode()) % self._dimensions] += 1.0
            yield vector
