"""What may leave this machine from a library, what left it, and the way there."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lrwr.core.model.errors import LrwrError, ServiceUnavailable
from lrwr.core.settings.consent import (
    HOSTED_SERVICES,
    ConsentState,
    ConsentStore,
    find_consent_problem,
    resolve_consent,
)
from lrwr.core.settings.library import Library
from lrwr.core.settings.model import Settings
from lrwr.core.settings.places import get_consent_folder

if TYPE_CHECKING:
    from lrwr.core.adapters.chat.connection import ModelServerClient
    from lrwr.core.adapters.embed.openai import OpenAIEmbedder
    from lrwr.core.adapters.http.egress_log import EgressLogger
    from lrwr.core.adapters.modal.calls import ModalFunctionClient, ModalToken
    from lrwr.core.adapters.rerank.cohere import CohereReranker
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
    from lrwr.core.model.usage import Usage
    from lrwr.core.ports.experiment_log import ExperimentLog
    from lrwr.core.ports.tracer import Tracer
    from lrwr.core.ports.web_search import WebSearch


CountTokens = Callable[[Sequence[str]], list[int]]
"""Says how many tokens each text has."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How language models are reached, if at all.

    `line` leads to their server, None where no model is set. Unless `asking`, they are
    only named: nothing can be sent. `refused` says why the writer must first allow it.
    `waited` says that somebody sits and waits for each answer.
    """

    line: "ModelServerClient | None"
    asking: bool = True
    refused: LrwrError | None = None
    waited: bool = False


@dataclass(frozen=True, slots=True)
class Keyring:
    """Gives the keys of services that may be asked from one library, and no others."""

    settings: Settings
    library: Library
    consents: ConsentStore
    env: Mapping[str, str] = field(repr=False)

    def leave(self, service: str) -> ConsentState:
        """Say whether a hosted service may be asked."""
        return resolve_consent(self.settings, self.library, service, self.consents)

    def refusal(self, service: str) -> LrwrError | None:
        """Return why a hosted service that is on may not be asked; None: it may."""
        return find_consent_problem(self.settings, self.library, service, self.consents)

    def key(self, service: str) -> str:
        """Return the key of a hosted service, whenever something is to be sent.

        Raises:
            ServiceUnavailable: The writer has not allowed it, there is no key, or the
                keyring is locked.
        """
        from lrwr.core.settings.keys import find_key

        refused = self.refusal(service)
        if refused is not None:
            raise ServiceUnavailable(str(refused), hint=refused.hint)
        hosted = HOSTED_SERVICES[service]
        found = find_key(hosted.key, self.env)
        if not found:
            owner = hosted.key.partition("_")[0].lower()
            raise ServiceUnavailable(
                f"`{hosted.setting}` is {hosted.value}, and there is no key for it",
                hint=f"Keep one with `lrwr config set-key {owner}`, or set {hosted.key}.",
            )
        return found

    def modal_token(self) -> "ModalToken":
        """Return the token of Modal, whose containers may embed at OpenAI.

        Raises:
            RunnerAway: The writer has not allowed one of them, there is no token, or the
                keyring is locked.
        """
        from lrwr.core.adapters.modal.factory import build_modal_token
        from lrwr.core.ports.job_runner import RunnerUnavailable

        refused = self.refusal("openai-embeddings")
        if refused is not None:
            raise RunnerUnavailable(str(refused), hint=refused.hint)
        return build_modal_token(partial(self.key, "modal"), self.env)


class ExternalAccess:
    """What may leave this machine from one library, what left it, and the way there.

    Nothing is opened before it is needed; `stack` closes it. `say` is told what could
    not be done unasked.
    """

    def __init__(
        self,
        settings: Settings,
        library: Library,
        stack: AsyncExitStack,
        database: "SqliteDatabase",
        now: Callable[[], float],
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self.library = library
        self._stack = stack
        self.database = database
        self._now = now
        self._say = say
        self.consents = ConsentStore(get_consent_folder())

    def leave(self, service: str) -> ConsentState:
        """Say whether a hosted service may be asked from here."""
        return self.keyring.leave(service)

    def refusal(self, service: str) -> LrwrError | None:
        """Return why a hosted service that is on may not be asked; None: it may."""
        return self.keyring.refusal(service)

    @cached_property
    def log(self) -> "SqliteEgressLog":
        """What left."""
        from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog

        return SqliteEgressLog(self.database)

    @cached_property
    def noting(self) -> "EgressLogger":
        """How requests are noted before they leave.

        Raises:
            SettingsProblem: `model.prices` cannot be read.
        """
        from lrwr.core.adapters.http.egress_log import EgressLogger

        return EgressLogger(self.log, self._now, create_price_lookup(self._settings))

    @cached_property
    def keyring(self) -> Keyring:
        """The keys of the services that may be asked."""
        return Keyring(self._settings, self.library, self.consents, os.environ)

    def embedder(self, count: "CountTokens") -> "OpenAIEmbedder | None":
        """Return who embeds elsewhere; None where nobody elsewhere is set to.

        Raises:
            SettingsProblem: A setting is missing, or leads elsewhere.
        """
        if self._settings.embedding.model in ("local", "off"):
            return None
        from lrwr.core.adapters.embed.factory import (
            build_embedding_connection,
            create_embedding_server_client,
        )
        from lrwr.core.adapters.embed.openai import OpenAIEmbedder

        connection = build_embedding_connection(self._settings)
        if connection is None:
            return None
        line = create_embedding_server_client(self._settings, self.noting)
        self._stack.push_async_callback(line.aclose)
        key = str if connection.own else partial(self.keyring.key, "openai-embeddings")
        return OpenAIEmbedder(connection, line, key, count)

    def modal(self) -> "ModalFunctionClient | None":
        """Return what has documents read at Modal; None where this machine reads them.

        Raises:
            SettingsProblem: A setting leads elsewhere, or `model.prices` is no list.
        """
        if self._settings.ingest.runner == "local":
            return None
        from lrwr.core.adapters.modal.factory import (
            create_modal_function_client,
            find_modal_connection,
        )

        connection = find_modal_connection(self._settings)
        if connection is None:
            return None
        calls = create_modal_function_client(
            connection, self.library, self.keyring.modal_token, self.noting
        )
        self._stack.push_async_callback(calls.aclose)
        return calls

    def reranker(self) -> "CohereReranker | None":
        """Return who looks again elsewhere; None where nobody elsewhere is set to.

        Raises:
            SettingsProblem: A setting leads elsewhere, or `model.prices` is no list.
        """
        if self._settings.rerank.model != "cohere":
            return None
        from lrwr.core.adapters.rerank.factory import create_cohere_reranker

        return create_cohere_reranker(
            self._settings, partial(self.keyring.key, "cohere"), self.noting
        )

    def reach(self, *, asking: bool, waited: bool = False) -> ModelAccess:
        """Return how language models are reached.

        Raises:
            SettingsProblem: The address or `model.prices` cannot be used.
        """
        return ModelAccess(self._line, asking, self.refusal("openai"), waited)

    def web(self, *, asking: bool) -> "WebSearch | None":
        """Return the web; None where it is off, or nothing is to be asked.

        Raises:
            SettingsProblem: It is on without a key, or a setting leads elsewhere.
        """
        if self._settings.web.use == "off" or not asking:
            return None
        from lrwr.core.adapters.web.disabled import UnavailableWebSearch
        from lrwr.core.adapters.web.factory import create_tavily_search

        refused = self.refusal("tavily")
        if refused is not None:
            return UnavailableWebSearch(refused)
        return create_tavily_search(self._settings, os.environ, self.noting)

    def tracer(self, *, asking: bool) -> "Tracer":
        """Return who keeps traces: nobody where that is off, or nothing is to be sent.

        Raises:
            SettingsProblem: A setting leads elsewhere, or `model.prices` is no list.
        """
        if asking:
            return self._tracer
        from lrwr.core.adapters.traces.disabled import NullTracer

        return NullTracer()

    @cached_property
    def _tracer(self) -> "Tracer":
        from lrwr.core.adapters.traces.disabled import NullTracer

        if self._settings.traces.keeper == "off":
            return NullTracer()
        from lrwr.core.adapters.traces.factory import create_langsmith_tracer

        key = partial(self.keyring.key, "langsmith")
        tracer = create_langsmith_tracer(self._settings, key, self.noting, self._say)
        if tracer is None:
            return NullTracer()
        self._stack.push_async_callback(tracer.aclose)
        return tracer

    def experiments(self) -> "ExperimentLog | None":
        """Return who keeps results of evaluations; None where traces are off.

        Raises:
            SettingsProblem: A setting leads elsewhere, or `model.prices` is no list.
        """
        if self._settings.traces.keeper == "off":
            return None
        from lrwr.core.adapters.traces.factory import create_langsmith_experiment_log

        key = partial(self.keyring.key, "langsmith")
        return create_langsmith_experiment_log(self._settings, key, self.noting)

    async def library_name(self) -> str:
        """Return what tells the library's records from any others: made up, no words.

        Raises:
            StoreProblem: The library cannot be read.
        """
        from lrwr.core.adapters.storage.sqlite.change_feed import SqliteChangeFeed

        return await SqliteChangeFeed(self.database).library()

    @cached_property
    def _line(self) -> "ModelServerClient | None":
        if self._settings.model.use == "off":
            return None
        from lrwr.core.adapters.chat.factory import create_chat_server_client

        line = create_chat_server_client(self._settings, self.noting)
        self._stack.push_async_callback(line.aclose)
        return line


def describe_refusal(error: LrwrError) -> str:
    """Return a refusal and what to try, as sentences."""
    return f"{error}. {error.hint}"


def create_price_lookup(settings: Settings) -> "Callable[[Usage, str], float | None]":
    """Return what tells the price of a usage of a model, as the settings have it.

    Raises:
        SettingsProblem: `model.prices` cannot be read.
    """
    from lrwr.core.model.usage import compute_price, parse_prices

    return partial(compute_price, table=parse_prices(settings.model.prices))
