"""Embedding models of the package fastembed, which is an extra of lrwr.

fastembed finds a model by its name on Hugging Face and runs it on this machine. Only
`download_fastembed_model` contacts a server; an embedder reads the models that it has
stored.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lrwr.core.adapters.embed.profile import EmbeddingProfile, resolve_profile
from lrwr.core.adapters.http.egress_log import EgressLogEntry, EgressLogger
from lrwr.core.model.chunks import compute_norm
from lrwr.core.model.egress import OutboundRequest, RequestPurpose
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.ports.models import EmbeddingRole
from lrwr.core.settings.model import EmbeddingSettings, Settings
from lrwr.core.settings.service_access import parse_host, resolve_address

if TYPE_CHECKING:
    from lrwr.core.model.chunks import Vectors

DEFAULT_FASTEMBED_MODEL = "BAAI/bge-small-en-v1.5"
"""The model without `embedding.name`: 384 dimensions, 67 MB."""

HUGGING_FACE = "huggingface"
"""Name of the service that models are downloaded from, for consent and the send log."""

HUGGING_FACE_URL = "https://huggingface.co"

DOWNLOAD_HINT = "Run `lrwr config download-model`."


@dataclass(frozen=True, slots=True)
class FastembedModel:
    """A model of fastembed: its name on Hugging Face, such as "BAAI/bge-small-en-v1.5",
    the folder where models are stored, and the prefixes that it expects.
    """

    name: str
    folder: Path
    profile: EmbeddingProfile

    @property
    def space(self) -> str:
        """The name of the embedding space."""
        return f"fastembed/{self.name}{self.profile.tag}"


def resolve_fastembed_model(
    settings: EmbeddingSettings, folder: Path
) -> FastembedModel:
    """Return the model that `settings` name, stored in `folder`.

    Prefixes are known by the model's name, or set. Pooling and the greatest number of
    tokens are fastembed's own, so that their settings do not apply.
    """
    name = settings.name.strip() or DEFAULT_FASTEMBED_MODEL
    known = resolve_profile(replace(settings, name=name), is_folder=False)
    return FastembedModel(name, folder, EmbeddingProfile(known.query, known.passage))


class FastembedEmbedder:
    """The `Embedder` port with a model of fastembed; loads it at its first use.

    `count` counts tokens. A text is embedded with up to `threads` threads.
    """

    def __init__(
        self,
        model: FastembedModel,
        *,
        threads: int,
        count: Callable[[Sequence[str]], list[int]],
    ) -> None:
        self._about = model
        self._threads = threads
        self._count = count
        self._loading = threading.Lock()

    @property
    def token_states(self) -> None:
        """None: fastembed returns no states of tokens."""
        return

    @property
    def space(self) -> str:
        """The name of the embedding space; the model need not be there."""
        return self._about.space

    @property
    def dimensions(self) -> int:
        """The number of dimensions of a vector; the model need not be there.

        Raises:
            ServiceUnavailable: fastembed is not installed.
            SettingsProblem: fastembed does not know the model.
        """
        return find_fastembed_dimensions(self._about.name)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return about how many tokens each text has, in order."""
        return self._count(texts)

    async def embed(
        self, texts: Sequence[str], role: EmbeddingRole = "passage"
    ) -> "Vectors":
        """Return one vector of length 1.0 per text, in the order of `texts`.

        Raises:
            ServiceUnavailable: fastembed or the model is not on this machine, or the
                model failed.
            SettingsProblem: fastembed does not know the model.
        """
        return await asyncio.to_thread(self._embed, texts, role)

    @cached_property
    def _model(self) -> Any:
        return _open_model(self._about, is_offline=True, threads=self._threads)

    def _embed(self, texts: Sequence[str], role: EmbeddingRole) -> "Vectors":
        with self._loading:
            model = self._model
        prefixed = [self._about.profile.add_prefix(text, role) for text in texts]
        # Some models have an input for the role, which these two methods set.
        embed = model.query_embed if role == "query" else model.passage_embed
        try:
            # One text at a time: in a batch, activations that are rounded to 8 bits
            # would depend on the other texts.
            rows = [_scale(row) for row in embed(prefixed, batch_size=1)]
        except Exception as error:  # the errors of its libraries have no common base
            raise ServiceUnavailable(
                f"The embedding model {self._about.name} failed: {error}",
                hint="Choose another `embedding.name`.",
            ) from error
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimensions)


def find_fastembed_dimensions(name: str) -> int:
    """Return the length of the vectors of the model `name`.

    Raises:
        ServiceUnavailable: fastembed is not installed.
        SettingsProblem: fastembed does not know the model.
    """
    embeddings = _import_fastembed().TextEmbedding
    try:
        return int(embeddings.get_embedding_size(name))
    except ValueError as error:
        raise _unknown_model(name) from error


def inspect_fastembed_model(model: FastembedModel) -> int:
    """Load `model` and return the length of its vectors.

    Raises:
        ServiceUnavailable: fastembed or the model is not on this machine.
        SettingsProblem: fastembed does not know the model.
    """
    _open_model(model, is_offline=True, threads=1)
    return find_fastembed_dimensions(model.name)


async def download_fastembed_model(
    model: FastembedModel, settings: Settings, request_logger: EgressLogger
) -> None:
    """Download `model` from Hugging Face, or from the mirror in `embedding.base_url`,
    into its folder. Only its name is sent, and no token of the user.

    fastembed makes several requests, perhaps also to servers that Hugging Face names;
    the send log has one entry for all. The caller has checked the user's consent.

    Raises:
        ServiceUnavailable: fastembed is not installed, the model cannot be downloaded,
            or the send log cannot be written.
        SettingsProblem: fastembed does not know the model, or the address is invalid or
            not allowed.
    """
    find_fastembed_dimensions(model.name)
    address = resolve_address(
        settings, "embedding.base_url", HUGGING_FACE_URL, secret=False
    )
    host = parse_host(address)
    about = OutboundRequest(
        HUGGING_FACE, host, RequestPurpose.MODEL_DOWNLOAD, model=model.name
    )
    before = _count_bytes(model.folder)
    async with aclosing(EgressLogEntry(request_logger, about)) as entry:
        await entry.record_request(len(model.name))
        await asyncio.to_thread(_download, model, address)
        entry.record_response(
            ok=True,
            is_complete=True,
            received=lambda: _count_bytes(model.folder) - before,
        )


def _download(model: FastembedModel, address: str) -> None:
    variables = {
        "HF_ENDPOINT": address,
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
    }
    with _temporary_variables(variables):
        _open_model(model, is_offline=False, threads=1)


def _open_model(model: FastembedModel, *, is_offline: bool, threads: int) -> Any:
    """Load `model`. Unless `is_offline`, it is downloaded if its folder lacks it."""
    package = _import_fastembed()
    try:
        model.folder.mkdir(parents=True, exist_ok=True)
        return package.TextEmbedding(
            model.name,
            cache_dir=str(model.folder),
            threads=threads,
            providers=["CPUExecutionProvider"],
            local_files_only=is_offline,
        )
    except Exception as error:  # the errors of its libraries have no common base
        find_fastembed_dimensions(model.name)
        raise _describe_failure(model, error, is_offline=is_offline) from error


def _describe_failure(
    model: FastembedModel, error: Exception, *, is_offline: bool
) -> LrwrError:
    if isinstance(error, OSError) and error.filename is not None:
        return ServiceUnavailable(
            f"{error.filename} cannot be written or read: {error.strerror}",
            hint="Check the free disk space and the permissions of the folder.",
        )
    if is_offline:
        return ServiceUnavailable(
            f"The embedding model {model.name} is not on this machine, or damaged",
            hint=DOWNLOAD_HINT,
        )
    return ServiceUnavailable(
        f"The embedding model {model.name} cannot be downloaded: {error}",
        hint="Check the connection, and `embedding.base_url` if you set it.",
    )


def _import_fastembed() -> Any:
    """Import the package fastembed, which takes about a second.

    Raises:
        ServiceUnavailable: It is not installed.
    """
    try:
        package = import_module("fastembed")
    except ImportError as error:
        raise ServiceUnavailable(
            "`embedding.model` is fastembed, but the package fastembed is not installed",
            hint='Install it with `pip install "lrwr[fastembed]"`.',
        ) from error
    with suppress(ImportError):  # its messages repeat the error, with a time
        import_module("loguru").logger.disable("fastembed")
    return package


def _unknown_model(name: str) -> SettingsProblem:
    return SettingsProblem(
        f"fastembed has no embedding model called {name!r}",
        hint="Set `embedding.name` to one of its list of supported models, such as"
        f" {DEFAULT_FASTEMBED_MODEL}.",
    )


def _scale(row: Any) -> Any:
    """Return a vector scaled to length 1.0."""
    vector = np.asarray(row, dtype=np.float32)
    return vector / max(compute_norm(vector), 1e-12)


def _count_bytes(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.is_file())


@contextmanager
def _temporary_variables(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables, which the client of Hugging Face reads when it is
    imported; restore the old values at the end.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
