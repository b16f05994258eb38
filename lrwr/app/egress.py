"""External services: consents, API keys, clients and the send log."""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lrwr.core.adapters.chat.factory import (
    build_chat_connection,
    create_chat_server_client,
    create_openai_chat_model,
)
from lrwr.core.adapters.chat.openai import UnavailableChatModel
from lrwr.core.adapters.embed.connection import (
    build_embedding_connection,
    create_embedding_server_client,
)
from lrwr.core.adapters.http.egress_log import EgressLogger
from lrwr.core.adapters.modal.factory import (
    build_modal_token,
    create_modal_function_client,
    find_modal_connection,
)
from lrwr.core.adapters.storage.sqlite.egress_log import SqliteEgressLog
from lrwr.core.model.errors import LrwrError, ServiceUnavailable, StoreProblem
from lrwr.core.model.language_model import Usage, compute_price, parse_prices
from lrwr.core.ports.jobs import RunnerUnavailable
from lrwr.core.settings.consent import (
    CONSENT_SERVICES,
    EMBEDDING_SERVER,
    HOSTED_SERVICES,
    ConsentState,
    ConsentStore,
    describe_folder_use,
    find_consent_problem,
    find_model_service,
    resolve_consent,
)
from lrwr.core.settings.library import Library, get_consent_folder, prepare_state_dir
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import HostedService, find_key

if TYPE_CHECKING:
    from lrwr.core.adapters.chat.connection import ModelServerClient
    from lrwr.core.adapters.embed.local import CountTokens
    from lrwr.core.adapters.embed.openai import OpenAIEmbedder
    from lrwr.core.adapters.modal.calls import ModalFunctionClient, ModalToken
    from lrwr.core.adapters.rerank.cohere import CohereReranker
    from lrwr.core.adapters.storage.sqlite.database import SqliteDatabase
    from lrwr.core.adapters.traces.experiments import LangSmithExperimentLog
    from lrwr.core.adapters.traces.langsmith import LangSmithTracer
    from lrwr.core.ports.models import ChatModel
    from lrwr.core.ports.sources import WebSearch
    from lrwr.core.settings.chat_models import ModelRole


NO_KEY: Mapping[str, str] = {"OPENAI_API_KEY": "none"}
"""Stands in for the API key if only the name of a model is needed."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """Whether and how language models can be called.

    `connection` is None if no model is configured. If `may_ask` is False, nothing is
    sent, and models have only a name. `refusal` is the error about a missing consent,
    None if there is consent. `is_interactive` means that a person waits for each reply.
    """

    connection: "ModelServerClient | None"
    may_ask: bool = True
    refusal: LrwrError | None = None
    is_interactive: bool = False


@dataclass(frozen=True, slots=True)
class Keyring:
    """The API keys of the services that the user allows for one library.

    Keys are read from the environment `env`, then from the system keyring. Names of
    services are the keys of `CONSENT_SERVICES`.
    """

    settings: Settings
    library: Library
    consents: ConsentStore
    env: Mapping[str, str] = field(repr=False)

    def consent(self, service: str) -> ConsentState:
        """Return the user's consent to `service`, a key of `CONSENT_SERVICES`."""
        return resolve_consent(self.settings, self.library, service, self.consents)

    def consent_refusal(self, service: str) -> LrwrError | None:
        """Return the error that says why a configured service may not be used.

        `service` is a key of `CONSENT_SERVICES`. None if the service may be used, or if
        the settings do not turn it on.
        """
        return find_consent_problem(self.settings, self.library, service, self.consents)

    def key(self, service: str) -> str:
        """Return the API key of `service`, a key of `CONSENT_SERVICES`.

        It is empty for the user's own servers. Call it before each request, because
        consent may change meanwhile.

        Raises:
            ServiceUnavailable: Consent or the key is missing, or the system keyring is
                locked.
        """
        refusal = self.consent_refusal(service)
        if refusal is not None:
            raise ServiceUnavailable(str(refusal), hint=refusal.hint)
        hosted = CONSENT_SERVICES[service]
        if not hosted.key:
            return ""
        key = find_key(hosted.key, self.env)
        if not key:
            owner = hosted.key.partition("_")[0].lower()
            raise ServiceUnavailable(
                f"`{hosted.setting}` is {hosted.value}, but there is no API key",
                hint=f"Store a key with `lrwr config set-key {owner}`, or set the"
                f" environment variable {hosted.key}.",
            )
        return key

    def modal_token(self) -> "ModalToken":
        """Return the API token of Modal, which runs lrwr's function.

        If that function gets embeddings from OpenAI, consent to it is needed, too.

        Raises:
            RunnerUnavailable: Consent or the token is missing, or the system keyring is
                locked.
        """
        refusal = self.consent_refusal("openai-embeddings")
        if refusal is not None:
            raise RunnerUnavailable(str(refusal), hint=refusal.hint)
        return build_modal_token(partial(self.key, "modal"), self.env)


class ExternalAccess:
    """The clients of the external services that one library uses.

    Most are opened on first use and closed by `stack`. `database` stores the send log.
    `now` returns seconds since 1970. `say` receives notices about requests that failed
    in the background.
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
        self.settings = settings
        self.library = library
        self._stack = stack
        self.database = database
        self._now = now
        self._say = say
        self.consents = ConsentStore(get_consent_folder())

    def consent(self, service: str) -> ConsentState:
        """Return the user's consent to `service`, a key of `CONSENT_SERVICES`."""
        return self.keyring.consent(service)

    def consent_refusal(self, service: str) -> LrwrError | None:
        """Return the error that says why a configured service may not be used.

        `service` is a key of `CONSENT_SERVICES`. None if the service may be used, or if
        the settings do not turn it on.
        """
        return self.keyring.consent_refusal(service)

    @cached_property
    def log(self) -> "SqliteEgressLog":
        """The send log: the list of requests that left the machine."""
        return SqliteEgressLog(self.database)

    @cached_property
    def request_logger(self) -> "EgressLogger":
        """Records each request in the send log before it is sent.

        Raises:
            SettingsProblem: `model.prices` cannot be parsed.
        """
        return EgressLogger(self.log, self._now, create_price_lookup(self.settings))

    @cached_property
    def keyring(self) -> Keyring:
        """The API keys of the services that the user allows."""
        return Keyring(self.settings, self.library, self.consents, os.environ)

    def hosted_embedder(self, count: "CountTokens") -> "OpenAIEmbedder | None":
        """Return the embedding model on a server, or None if none is configured.

        `count` counts the tokens of a text on this machine.

        Raises:
            SettingsProblem: A setting is missing or its address is not allowed.
        """
        connection = build_embedding_connection(self.settings)
        if connection is None:
            return None
        client = create_embedding_server_client(self.settings, self.request_logger)
        self._stack.push_async_callback(client.aclose)
        service = EMBEDDING_SERVER if connection.own else "openai-embeddings"
        key = partial(self.keyring.key, service)
        from lrwr.core.adapters.embed.openai import OpenAIEmbedder

        return OpenAIEmbedder(connection, client, key, count)

    def modal_calls(self) -> "ModalFunctionClient | None":
        """Return the client that calls lrwr's function at Modal.

        None if Modal is not configured.

        Raises:
            SettingsProblem: An address is not allowed, or `model.prices` is invalid.
        """
        if self.settings.ingest.runner == "local":
            return None
        connection = find_modal_connection(self.settings)
        if connection is None:
            return None
        calls = create_modal_function_client(
            connection, self.library, self.keyring.modal_token, self.request_logger
        )
        self._stack.push_async_callback(calls.aclose)
        return calls

    def hosted_reranker(self) -> "CohereReranker | None":
        """Return the reranker at Cohere, or None if another or none is configured.

        Raises:
            SettingsProblem: An address is not allowed, or `model.prices` is invalid.
        """
        if self.settings.rerank.model != "cohere":
            return None
        from lrwr.core.adapters.rerank.cohere import create_cohere_reranker

        key = partial(self.keyring.key, "cohere")
        return create_cohere_reranker(self.settings, key, self.request_logger)

    def model_access(
        self, *, may_ask: bool, is_interactive: bool = False
    ) -> ModelAccess:
        """Return whether and how language models can be called.

        With `may_ask` False nothing may be sent. `is_interactive` means that a person
        waits for each reply.

        Raises:
            SettingsProblem: The address or `model.prices` is invalid.
        """
        refusal = self.consent_refusal(find_model_service(self.settings))
        return ModelAccess(self._chat_client, may_ask, refusal, is_interactive)

    def web_search(self) -> "WebSearch | None":
        """Return the client that searches the web, or None if `web.use` is off.

        Raises:
            SettingsProblem: It has no key, or its address is not allowed.
        """
        if self.settings.web.use == "off":
            return None
        from lrwr.core.adapters.web import tavily

        refusal = self.consent_refusal("tavily")
        if refusal is not None:
            return tavily.UnavailableWebSearch(refusal)
        return tavily.create_tavily_search(
            self.settings, os.environ, self.request_logger
        )

    @cached_property
    def tracer(self) -> "LangSmithTracer | None":
        """The client that sends traces to LangSmith; None if traces are off.

        Raises:
            SettingsProblem: An address is not allowed, or `model.prices` is invalid.
        """
        if self.settings.traces.keeper == "off":
            return None
        from lrwr.core.adapters.traces import http, langsmith

        connection = http.build_langsmith_connection(self.settings)
        if connection is None:
            return None
        key = partial(self.keyring.key, "langsmith")
        tracer = langsmith.LangSmithTracer(
            connection, key, self.request_logger, self._say
        )
        self._stack.push_async_callback(tracer.aclose)
        return tracer

    def experiments(self) -> "LangSmithExperimentLog | None":
        """Return the client that sends evaluation results to LangSmith.

        None if traces are off.

        Raises:
            SettingsProblem: An address is not allowed, or `model.prices` is invalid.
        """
        if self.settings.traces.keeper == "off":
            return None
        from lrwr.core.adapters.traces import experiments, http

        connection = http.build_langsmith_connection(self.settings)
        if connection is None:
            return None
        key = partial(self.keyring.key, "langsmith")
        return experiments.LangSmithExperimentLog(connection, key, self.request_logger)

    @cached_property
    def _chat_client(self) -> "ModelServerClient | None":
        if self.settings.model.use == "off":
            return None
        logger = self.request_logger
        client = create_chat_server_client(self.settings, logger, self._say)
        self._stack.push_async_callback(client.aclose)
        return client


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """A question to the user: may the service `name` receive data?

    It is asked if the settings file in the library's folder turns the service on, or
    names its address.
    """

    name: str
    question: str


def pending_consents(
    egress: ExternalAccess,
    names: Collection[str] = CONSENT_SERVICES,
    *,
    by_address: bool = True,
) -> tuple[ConsentRequest, ...]:
    """Return a question for each service that the user was not asked about yet.

    With `by_address` False, a service is left out of which the settings only name the
    address: only some commands use it.

    Only services that a settings file in the library's folder turns on, or whose
    address it names, need an answer. `names` are keys of `CONSENT_SERVICES`; their
    order is preserved.
    """
    return tuple(
        ConsentRequest(
            name, describe_consent_question(CONSENT_SERVICES[name], egress.settings)
        )
        for name in names
        if egress.consent(name) is ConsentState.UNASKED
        and (by_address or CONSENT_SERVICES[name].is_selected(egress.settings))
    )


def record_consent(egress: ExternalAccess, name: str, *, allowed: bool) -> None:
    """Store whether the user allows the service `name`, a key of `CONSENT_SERVICES`.

    The answer holds for the address that the library's own file names. The service then also counts as announced.

    Raises:
        StoreProblem: The answer cannot be written.
    """
    prepare_state_dir(egress.library)
    address = CONSENT_SERVICES[name].find_folder_address(egress.settings)
    egress.consents.store_answer(egress.library, name, allowed=allowed, address=address)
    egress.consents.store_notice(egress.library, name)


def announce_first_uses(
    egress: ExternalAccess, names: Collection[str], notify: Callable[[str], None]
) -> None:
    """Call `notify` with a sentence about each service that is used for the first time.

    `names` are keys of `CONSENT_SERVICES`. Services without consent are skipped, and so
    are the user's own servers.
    """
    for name in names:
        if name not in HOSTED_SERVICES:
            continue
        may_use = egress.consent(name).allows_sending
        if not may_use or egress.consents.has_notice(egress.library, name):
            continue
        notify(describe_data_leaving(HOSTED_SERVICES[name], egress.settings))
        with suppress(StoreProblem):  # the announcement is then repeated next time
            egress.consents.store_notice(egress.library, name)


def list_data_leaving(egress: ExternalAccess) -> tuple[str, ...]:
    """Return, for each service with consent, a sentence on what it is sent.

    They are the texts of `describe_data_leaving`, in the order of `HOSTED_SERVICES`.
    Services that were announced before are included.
    """
    return tuple(
        describe_data_leaving(hosted, egress.settings)
        for name, hosted in HOSTED_SERVICES.items()
        if egress.consent(name).allows_sending
    )


def describe_consent_question(hosted: HostedService, settings: Settings) -> str:
    """Return what a service would be sent, to which server, and which settings say so.

    The user reads it when asked to allow the service.
    """
    where, action = describe_folder_use(hosted, settings)
    file = where.removeprefix(f"{settings.root}{os.sep}")
    server = (
        hosted.find_host(settings) if hosted.key else hosted.describe_server(settings)
    )
    to = "there" if hosted.find_folder_address(settings) else f"to {server}"
    use_key = "use your key to " if hosted.key else ""
    return (
        f"{file} {action}; this file may have come with the folder. lrwr would"
        f" {use_key}send this {to}: {hosted.describe_sent(settings)}."
        f" {hosted.describe_danger(settings)}"
    )


def describe_data_leaving(hosted: HostedService, settings: Settings) -> str:
    """Return the announcement of a service at its first use.

    It says which settings turn the service on, what it is sent, and to which host.
    """
    origin = _describe_origin(hosted, settings)
    return (
        f"{hosted.title} is on ({origin}). lrwr sends this to"
        f" {hosted.find_host(settings)}: {hosted.describe_sent(settings)}."
        " `lrwr privacy` lists the requests."
    )


def _describe_origin(hosted: HostedService, settings: Settings) -> str:
    """Return the source of a setting; a file in the library's folder by its name only."""
    source = settings.origin(hosted.setting).where
    return source.removeprefix(f"{settings.root}{os.sep}")


def create_chat_model(
    settings: Settings, role: "ModelRole", access: ModelAccess
) -> "ChatModel | None":
    """Return the language model that `role` uses, or None if none is configured.

    If `access` forbids requests, the returned model has a name, but calling it raises
    `LrwrError` with the reason.

    Raises:
        SettingsProblem: The configured model has no key or no name.
    """
    if access.connection is None:
        return None
    if access.may_ask and access.refusal is None:
        return create_openai_chat_model(
            settings,
            os.environ,
            role,
            access.connection,
            waited=access.is_interactive,
        )
    connection = build_chat_connection(settings, {**os.environ, **NO_KEY}, role)
    reason = access.refusal or LrwrError("This command does not use a language model")
    if connection is None:
        return None
    return UnavailableChatModel(connection.name, reason)


def describe_refusal(error: LrwrError) -> str:
    """Return the message and the hint of an error as two sentences."""
    return f"{error}. {error.hint}"


def create_price_lookup(settings: Settings) -> Callable[[Usage, str], float | None]:
    """Return a function that computes the price of model calls, in US dollars.

    Its arguments are the usage and the model's name; it returns None for models without
    a known price.

    Raises:
        SettingsProblem: `model.prices` cannot be parsed.
    """
    return partial(compute_price, table=parse_prices(settings.model.prices))
