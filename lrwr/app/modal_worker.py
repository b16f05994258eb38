"""The function that runs in Modal's containers, and its deployment.

The function takes a message with an order, which is one document to process, and
returns a message with the result (see `core/adapters/modal/wire.py`). It has no
library. Its only API key comes from a secret of the user's Modal account.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack, chdir
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.egress import ModelAccess
from lrwr.app.ingestion import create_caching_analyst, create_recipe
from lrwr.core.adapters.chat.connection import ModelServerClient
from lrwr.core.adapters.embed.connection import build_embedding_connection
from lrwr.core.adapters.embed.local import MAX_THREADS, LocalEmbedder
from lrwr.core.adapters.embed.openai import OpenAIEmbedder
from lrwr.core.adapters.http.rate_limit import RateLimit
from lrwr.core.adapters.modal.calls import (
    MODAL_FUNCTION_NAME,
    ModalConnection,
    ModalToken,
    open_modal_client,
)
from lrwr.core.adapters.modal.wire import (
    InvalidEnvelope,
    ModalOrder,
    decode_modal_order,
    encode_document_failure,
    encode_job_result,
    encode_model_answers,
    encode_recipe_mismatch,
)
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.model.cast import Cast
from lrwr.core.model.chunks import TextHash
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, SettingsProblem
from lrwr.core.model.jobs import ChunksEmbedded, StageStarted
from lrwr.core.model.language_model import Usage
from lrwr.core.ports.jobs import ModelAnswers, ModelCallReplies
from lrwr.core.settings.library import SETTINGS_FILE_NAME
from lrwr.core.settings.loader import load_settings
from lrwr.core.settings.model import Settings
from lrwr.pipeline.recipes import AgenticRecipe, RecipeTools
from lrwr.pipeline.report import wrap_unexpected_error
from lrwr.pipeline.service import LocalRunner, build_recipe_name

if TYPE_CHECKING:
    from modal import App, Image

    from lrwr.core.ports.models import Embedder
    from lrwr.pipeline.recipes import KnownVectors, Recipe
    from lrwr.pipeline.stages.windows import CountTokens

SECRET = "lrwr-openai"
"""Name of the Modal secret with the API key for requests from containers."""

KEY = "OPENAI_API_KEY"

PYTHON = "3.11"
"""Python version of the containers; messages do not depend on it."""

CORES = 1.0
"""CPU cores of a container; a core at Modal has two threads."""

MEMORY = 1024
"""Megabytes of memory of a container."""

LONGEST = 1800
"""Seconds after which Modal stops a container that processes one document."""

CORE_PRICE, MEMORY_PRICE = 0.0000131, 0.00000222
"""US dollars for one second of a core, and of a gibibyte of memory (November 2026)."""

NO_KEY = (
    f"There is no OpenAI key at Modal. Run `modal secret create {SECRET} {KEY}=…`"
    " with your key, then `lrwr deploy modal` again."
)


def read_document(request: bytes) -> bytes:
    """Process the document in a message, and return the result as a message.

    `request` and the result are encoded as in `core/adapters/modal/wire.py`. Errors are
    part of the result; nothing is raised.
    """
    try:
        order = decode_modal_order(request)
    except InvalidEnvelope:
        return encode_recipe_mismatch("")
    try:
        return asyncio.run(_run_order(order), debug=False)
    except LrwrError as error:
        return encode_document_failure(error)
    except Exception as error:  # noqa: BLE001 - its text may quote the manuscript
        return encode_document_failure(
            wrap_unexpected_error(DocumentId(order.document), error)
        )


class OrderAnalysisStore:
    """An `AnalysisStore` with the data of an order (a document to process).

    It writes nothing. `replies_made` has the replies of models so far, to be sent back
    with the result.
    """

    def __init__(self, order: ModalOrder) -> None:
        self._seams = order.seams
        self._kept = order.kept
        self._cast = order.cast
        self.replies_made: list[ModelCallReplies] = []

    async def seams(self, document: DocumentId, space: str) -> Mapping[str, float]:
        """Return the cosine distances of neighbouring sentences, sent with the order.

        A key is the hash of two neighbouring sentences. Both arguments are ignored.
        """
        del document, space
        return self._seams

    async def replies(self, keys: Collection[str]) -> Mapping[str, str]:
        """Return "[]" (an empty reply) for each of `keys` that the sender has a reply
        for.

        So the model is not asked again; the sender uses its stored reply. Keys are
        cache keys of requests to a model; those without a reply are left out.
        """
        return {key: "[]" for key in keys if key in self._kept}

    async def find_cast(self, document: DocumentId, name_evidence: str) -> Cast:
        """Return the characters of the library, sent with the order.

        The sender computed them from all documents; both arguments are ignored.
        """
        del document, name_evidence
        return self._cast

    async def save_replies(self, replies: Mapping[str, str], usage: Usage) -> None:
        """Add a model's replies to `replies_made`, to be sent back with the result.

        Keys of `replies` are cache keys of requests; `usage` is that of all replies.
        """
        self.replies_made.append(ModelCallReplies(replies, usage))


async def _run_order(order: ModalOrder) -> bytes:
    try:
        settings = _load_order_settings(order)
    except SettingsProblem:
        return encode_recipe_mismatch("")  # settings of another version of lrwr
    store = OrderAnalysisStore(order)
    async with AsyncExitStack() as stack:
        local = _load_local_embedder()
        embedder = _create_server_embedder(settings, stack, local.count_tokens) or local
        used = None if settings.embedding.model == "off" else embedder
        tools = RecipeTools(local.count_tokens, used, _create_known_vectors(order))
        recipe = _create_order_recipe(settings, store, stack, may_ask=order.asking)
        recipe_name = build_recipe_name(ManuscriptParser(), recipe, tools)
        if recipe_name != order.recipe:
            return encode_recipe_mismatch(recipe_name)
        reader = LocalRunner(ManuscriptParser(), recipe, tools)
        if order.asking:
            return encode_model_answers(await _ask_model(order, reader, store))
        result = await reader.run(
            DocumentId(order.document), order.content, _ignore_event
        )
        return encode_job_result(result)


async def _ask_model(
    order: ModalOrder, reader: LocalRunner, store: OrderAnalysisStore
) -> ModelAnswers:
    """Ask the language model for the replies that the sender does not have."""
    if not isinstance(reader.recipe, AgenticRecipe):
        return ModelAnswers((), Usage())
    if not os.environ.get(KEY):
        return ModelAnswers((), Usage(), NO_KEY)
    document = DocumentId(order.document)
    parsed = await asyncio.to_thread(reader.parse, document, order.content)
    drafted = await reader.recipe.draft(parsed, reader.tools)
    knowledge = await reader.recipe.add_model_facts(drafted)
    usage = knowledge.usage + Usage(cached=-knowledge.usage.cached)
    return ModelAnswers(tuple(store.replies_made), usage, knowledge.unfinished)


def _load_order_settings(order: ModalOrder) -> Settings:
    """Return the settings of an order, without files and variables of this machine."""
    values = {
        k: tuple(v) if isinstance(v, list) else v for k, v in order.settings.items()
    }
    with tempfile.TemporaryDirectory(prefix="lrwr-") as folder:
        settings_file = Path(folder) / SETTINGS_FILE_NAME
        settings_file.touch()
        return load_settings(
            settings_file.parent, {}, values, user=settings_file.parent / "none.toml"
        )


def _create_order_recipe(
    settings: Settings,
    store: OrderAnalysisStore,
    stack: AsyncExitStack,
    *,
    may_ask: bool,
) -> "Recipe":
    """Return the recipe; unless `may_ask`, its language model is not called."""
    line = None
    if settings.model.use == "openai":
        model = settings.model
        line = ModelServerClient(
            RateLimit(model.concurrency, model.requests_per_minute, 120.0)
        )
        stack.push_async_callback(line.aclose)
    access = ModelAccess(line, may_ask=may_ask and bool(os.environ.get(KEY)))
    close = create_caching_analyst(settings, store, access)
    recipe = create_recipe(settings, store, close)
    if isinstance(recipe, AgenticRecipe):
        return replace(recipe, find_cast=store.find_cast)
    return recipe


def _create_server_embedder(
    settings: Settings, stack: AsyncExitStack, count: "CountTokens"
) -> "Embedder | None":
    connection = build_embedding_connection(settings)
    if connection is None:
        return None
    line = ModelServerClient(RateLimit(4, patience=120.0))
    stack.push_async_callback(line.aclose)
    return OpenAIEmbedder(connection, line, _find_openai_key, count)


def _find_openai_key() -> str:
    key = os.environ.get(KEY)
    if not key:
        raise ServiceUnavailable(NO_KEY)
    return key


@cache
def _load_local_embedder() -> LocalEmbedder:
    """Return the shipped embedding model, loaded once per container."""
    return LocalEmbedder(None, threads=min(os.cpu_count() or 1, MAX_THREADS))


def _create_known_vectors(order: ModalOrder) -> "KnownVectors":
    async def known(space: str, texts: set[TextHash]) -> set[TextHash]:
        del space
        return {text for text in texts if text in order.texts}

    return known


async def _ignore_event(event: StageStarted | ChunksEmbedded) -> None:
    del event


@dataclass(frozen=True, slots=True)
class ModalDeployment:
    """What is deployed at Modal: the app `app` with one function, and its limits.

    At most `containers` run at once, each with `cores` CPU cores and `memory` MiB, for
    `longest` seconds. `packages` are requirements with versions, as pip takes them.
    `secret` is the name of a Modal secret, empty if containers contact no other
    service.
    """

    app: str
    containers: int
    packages: tuple[str, ...]
    secret: str = ""
    function: str = MODAL_FUNCTION_NAME
    python: str = PYTHON
    cores: float = CORES
    memory: int = MEMORY
    longest: int = LONGEST

    @property
    def price(self) -> float:
        """The approximate price of one hour of a running container, in US dollars."""
        return 3600 * (self.cores * CORE_PRICE + self.memory / 1024 * MEMORY_PRICE)


def plan_modal_deployment(
    settings: Settings, connection: ModalConnection
) -> ModalDeployment:
    """Return what would be deployed at Modal with these settings; nothing is sent."""
    uses_openai = "openai" in (settings.model.use, settings.embedding.model)
    return ModalDeployment(
        app=connection.app,
        containers=settings.ingest.containers,
        packages=list_installed_packages(),
        secret=SECRET if uses_openai else "",
    )


def list_installed_packages() -> tuple[str, ...]:
    """Return lrwr's dependencies with their installed versions, as "name==version".

    They are sorted by name. Those that are not installed (because only another system
    needs them) are left out, and so is Modal's client, which every container has.
    """
    lines = [line for line in requires("lrwr") or () if "extra ==" not in line]
    names = {match[0] for match in map(_NAME.match, lines) if match}
    pins = []
    for name in sorted(names - {"modal"}):
        try:
            pins.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            continue
    return tuple(pins)


async def deploy_to_modal(
    plan: ModalDeployment, connection: ModalConnection, token: ModalToken
) -> str:
    """Deploy the app, replacing an earlier deployment; return the URL of its page.

    Raises:
        RunnerUnavailable: Modal cannot be reached, refuses the token, or lacks the secret.
    """
    async with AsyncExitStack() as stack:
        # Modal's client sends the git branch, author and remote of the current folder,
        # which may be the manuscript. So it runs in an empty folder.
        elsewhere = stack.enter_context(tempfile.TemporaryDirectory(prefix="lrwr-"))
        stack.enter_context(chdir(elsewhere))
        client = await stack.enter_async_context(open_modal_client(connection, token))
        app = build_modal_app(plan)
        await app.deploy.aio(client=client)
        return str(await app.get_dashboard_url.aio())


def build_modal_app(plan: ModalDeployment) -> "App":
    """Return the app for Modal's client: one function and its container image."""
    import modal

    app = modal.App(plan.app, include_source=False)
    secrets = [modal.Secret.from_name(plan.secret, required_keys=[KEY])]
    register = app.function(
        image=_prepare_image(plan, modal.Image.debian_slim(python_version=plan.python)),
        name=plan.function,
        cpu=plan.cores,
        memory=plan.memory,
        timeout=plan.longest,
        max_containers=plan.containers,
        secrets=secrets if plan.secret else [],
    )
    register(read_document)
    return app


def _prepare_image(plan: ModalDeployment, image: "Image") -> "Image":
    """Return `image` with the packages and the source code of this lrwr."""
    installed = image.uv_pip_install(*plan.packages)
    return installed.add_local_python_source("lrwr", ignore=["**/__pycache__/**"])


_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
