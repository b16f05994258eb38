"""The model that lrwr ships, loaded once for all commands of the tests' own process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any
from unittest.mock import patch

from lrwr.core.adapters.embed.local import LocalEmbedder

_SHARED = ("_tokenizer", "_untruncated_tokenizer", "_model")
_LOADED: dict[str, Any] = {}


@contextmanager
def shared_model() -> Iterator[None]:
    """Have every embedder use the one loaded model, unless a folder has its own."""
    with ExitStack() as stack:
        for name in _SHARED:
            load = LocalEmbedder.__dict__[name].func
            stack.enter_context(patch.object(LocalEmbedder, name, _once(name, load)))
        yield


def _once(
    name: str, load: Callable[[LocalEmbedder], Any]
) -> "cached_property[LocalEmbedder]":
    def loaded(embedder: LocalEmbedder) -> Any:
        if embedder._folder is not None:
            return load(embedder)
        if name not in _LOADED:
            _LOADED[name] = load(embedder)
        return _LOADED[name]

    shared = cached_property(loaded)
    shared.__set_name__(LocalEmbedder, name)
    return shared
