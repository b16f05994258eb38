"""The local embedding model, as an `Embedder`, and the models of one library."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from lrwr.core.adapters.embed.profile import (
    DEFAULT_PROFILE,
    MINILM_DIMENSIONS,
    SHIPPED_SPACE,
    EmbeddingProfile,
    resolve_profile,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.chunks import Chunk
from lrwr.core.ports.models import EmbeddingRole
from lrwr.core.settings.library import Library, get_models_folder
from lrwr.core.settings.model import EmbeddingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lrwr.core.adapters.embed.fastembed_model import FastembedEmbedder
    from lrwr.core.adapters.embed.minilm import MiniLM, TokenizedText
    from lrwr.core.model.chunks import Vectors
    from lrwr.core.ports.models import Embedder

CountTokens = Callable[[Sequence[str]], list[int]]
"""A function that returns the number of tokens of each text, in order."""
Result = TypeVar("Result")
Task = TypeVar("Task")


class LocalEmbedder:
    """The `Embedder` port on this machine; loads the model at its first use.

    `folder` contains a model of the user (`model.onnx`, `tokenizer.json`); None means
    the one that comes with lrwr. `profile` is how the model expects its texts. Up to
    `threads` texts are embedded at the same time.
    Any method or property may raise `ServiceUnavailable` if the model cannot be loaded.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        threads: int,
        profile: EmbeddingProfile = DEFAULT_PROFILE,
    ) -> None:
        self._folder = folder
        self._profile = profile
        self._threads = threads
        self._loading = threading.Lock()

    @property
    def space(self) -> str:
        """The name of the embedding space, the vectors that may be compared with each
        other.
        """
        return SHIPPED_SPACE if self._folder is None else self.loaded().space

    @property
    def token_states(self) -> "LocalEmbedder | None":
        """This embedder, if it runs the model that comes with lrwr."""
        return self if self._folder is None else None

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector."""
        return MINILM_DIMENSIONS if self._folder is None else self.loaded().dimensions

    @cached_property
    def _tokenizer(self) -> Any:
        return self._load_tokenizer()

    @cached_property
    def _untruncated_tokenizer(self) -> Any:
        tokenizer = self._load_tokenizer()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, thread_name_prefix="lrwr-embed")

    @cached_property
    def _model(self) -> "MiniLM":
        model: MiniLM = _import_minilm().load_minilm(
            self._folder, self._tokenizer, self._profile
        )
        return model

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without those that mark start and
        end.

        Texts longer than the model's limit are counted completely.

        Raises:
            ServiceUnavailable: The tokenizer cannot be loaded.
        """
        encoded = self._untruncated_tokenizer.encode_batch_fast(
            list(texts), add_special_tokens=False
        )
        return [len(entry) for entry in encoded]

    async def embed(
        self, texts: Sequence[str], role: EmbeddingRole = "passage"
    ) -> "Vectors":
        """Return one vector of length 1.0 per text, in the order of `texts`.

        The array has the shape (texts, dimensions). The model's prefix for `role`
        precedes each text.

        Raises:
            ServiceUnavailable: The model cannot be loaded, or failed.
        """
        if self._profile is not DEFAULT_PROFILE:
            texts = [self._profile.add_prefix(text, role) for text in texts]
        return await asyncio.to_thread(self._embed, texts)

    async def embed_with_states(
        self, chunks: Sequence[Chunk]
    ) -> "tuple[Vectors, list[bytes]]":
        """Return the vectors of the texts that are embedded of `chunks`, as `embed`
        does, and the encoded token states of the chunks' own texts, for reranking.

        Raises:
            ServiceUnavailable: The model cannot be loaded, or failed.
        """
        return await asyncio.to_thread(self._embed_with_states, chunks)

    async def sketch(self, texts: Sequence[str]) -> "Vectors":
        """Return a rough embedding of each text, of length 1.0, in the order of `texts`.

        It takes a hundredth of the time of `embed`, and only the model that comes with
        lrwr can do it. Rough and other embeddings are not comparable.

        Raises:
            ServiceUnavailable: The model cannot be loaded.
        """
        return await asyncio.to_thread(self._sketch, texts)

    def _sketch(self, texts: Sequence[str]) -> "Vectors":
        model = self.loaded()
        rows = [model.sketch(ids) for ids in model.token_ids(texts)]
        return model.stack(rows, self.dimensions)

    def loaded(self) -> "MiniLM":
        """Return the model; the first call loads it. Thread-safe.

        Raises:
            ServiceUnavailable: The model cannot be loaded.
        """
        with self._loading:
            return self._model

    def side_by_side(
        self,
        work: Callable[["TokenizedText"], Result],
        texts: Sequence["TokenizedText"],
    ) -> list[Result]:
        """Return `work(text)` for each text, in the order of `texts`.

        Texts are processed in several threads, the longest first, so that no thread
        starts a long text when the others are done.
        """
        return self._map_longest_first(work, texts, [len(text.ids) for text in texts])

    def close(self) -> None:
        """Stop the threads; running calls are completed, waiting ones cancelled."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: Sequence[str]) -> "Vectors":
        model = self.loaded()
        rows = self.side_by_side(lambda t: model.vector(t.ids), model.tokens(texts))
        return model.stack(rows, self.dimensions)

    def _embed_with_states(
        self, chunks: Sequence[Chunk]
    ) -> "tuple[Vectors, list[bytes]]":
        model = self.loaded()

        def work(task: "tuple[Chunk, TokenizedText]") -> "tuple[NDArray[Any], bytes]":
            chunk, tokens = task
            lead = len(chunk.embedded) - len(chunk.text)
            return model.embed_passage(tokens, lead, find_sentence_spans(chunk.text))

        tokens = model.tokens([chunk.embedded for chunk in chunks])
        tasks = list(zip(chunks, tokens, strict=True))
        results = self._map_longest_first(work, tasks, [len(t.ids) for t in tokens])
        vectors = model.stack([vector for vector, _ in results], self.dimensions)
        return vectors, [content for _, content in results]

    def _map_longest_first(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], sizes: list[int]
    ) -> list[Result]:
        order = sorted(range(len(tasks)), key=lambda n: -sizes[n])
        outputs = self._pool.map(work, [tasks[n] for n in order])
        results = dict(zip(order, outputs, strict=True))
        return [results[n] for n in range(len(tasks))]

    def _load_tokenizer(self) -> Any:
        return _import_minilm().load_tokenizer(self._folder, self._profile)


def _import_minilm() -> ModuleType:
    """Import the model's module, which takes a tenth of a second."""
    from lrwr.core.adapters.embed import minilm

    return minilm


MAX_THREADS = 8
"""Threads of the local embedding model; more do not make it faster."""


class Embedders:
    """The embedding models of one library, loaded on first use.

    `open_hosted` returns the one on a server, None if none is configured; its argument
    counts the tokens of texts. `stack` closes the models.
    """

    def __init__(
        self,
        settings: EmbeddingSettings,
        library: Library,
        open_hosted: Callable[[CountTokens], "Embedder | None"],
        stack: AsyncExitStack,
    ) -> None:
        self._settings = settings
        self._library = library
        self._open_hosted = open_hosted
        self._stack = stack

    @cached_property
    def local(self) -> LocalEmbedder:
        """The embedding model on this machine."""
        settings = self._settings
        folder = self._library.resolve(settings.folder) if settings.folder else None
        profile = DEFAULT_PROFILE
        if folder is not None:
            profile = resolve_profile(settings, is_folder=True)
        embedder = LocalEmbedder(folder, threads=self._threads, profile=profile)
        self._stack.callback(embedder.close)
        return embedder

    @cached_property
    def configured(self) -> "Embedder | None":
        """The configured embedding model; None if embeddings are off."""
        if self._settings.model == "off":
            return None
        if self._settings.model == "local":
            return self.local
        if self._settings.model == "fastembed":
            return self._open_fastembed()
        return self._open_hosted(self.local.count_tokens) or self.local

    def _open_fastembed(self) -> "FastembedEmbedder":
        module = import_module("lrwr.core.adapters.embed.fastembed_model")
        model = module.resolve_fastembed_model(self._settings, get_models_folder())
        embedder: FastembedEmbedder = module.FastembedEmbedder(
            model, threads=self._threads, count=self.local.count_tokens
        )
        return embedder

    @property
    def _threads(self) -> int:
        return self._settings.threads or min(os.cpu_count() or 1, MAX_THREADS)

    @property
    def has_token_states(self) -> bool:
        """Whether ingestion stores token states, from which search reranks.

        Only the model that comes with lrwr has some that can be stored.
        """
        configured = self.configured
        return configured is not None and configured.token_states is not None

    @property
    def states_space(self) -> str:
        """The embedding space of stored token states; empty if none are stored."""
        return self.local.space if self.has_token_states else ""
