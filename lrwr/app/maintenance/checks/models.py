"""Checks of the embedding model, the reranker, the language model and local servers."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.app.maintenance.check_result import HealthFinding, HealthState
from lrwr.app.presenters.text import TURN_ON_MODEL, format_count
from lrwr.core.adapters.chat.connection import OPENAI_CHAT_URL, ChatConnection
from lrwr.core.adapters.chat.local_servers import LocalServer, LocalServerModels
from lrwr.core.adapters.embed.minilm import EmbeddingModelReport
from lrwr.core.settings.loader import find_nearest_name
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import is_loopback_host, mask_credentials

_SHOWN_NAMES = 6

_REINSTALL = 'Reinstall lrwr, or set `[embedding] model = "off"`.'

_START = "Start the model server, or set `model.base_url` to its address."
_NAME = "Load it in the server, or set `model.name` to one of these."
_ANOTHER = "Set it, in `[model]`, to a model that this key may use."


def check_model(facts: EmbeddingModelReport) -> HealthFinding:
    """Check the report on the embedding model: its file and its self-test.

    The self-test computes a vector whose value is known.
    """
    part = "embedding"
    if facts.genuine is None:
        detail = f"Your own model, {facts.weights}: {facts.dimensions} dimensions."
        return HealthFinding(part, HealthState.OK, detail)
    if not facts.genuine:
        detail = f"{facts.weights} is not the file that was shipped with lrwr."
        return HealthFinding(part, HealthState.BROKEN, detail, _REINSTALL)
    if not facts.agrees:
        detail = "The self-test failed: this machine computes different vectors."
        return HealthFinding(part, HealthState.BROKEN, detail, _REINSTALL)
    slower = "" if facts.fused else " This machine runs a slower variant of it."
    detail = f"{facts.space}: the file is intact and works on this machine.{slower}"
    return HealthFinding(part, HealthState.OK, detail)


def check_reranker(settings: Settings, *, embeds: bool) -> HealthFinding:
    """Check whether the reranker on this machine can be used.

    `embeds` says that an embedding model works, which the reranker needs.
    """
    part = "reranker"
    if settings.rerank.model == "off":
        return HealthFinding(part, HealthState.OFF, "`[rerank] model` is off.")
    if settings.rerank.model == "model" and settings.model.use == "off":
        detail = "`[rerank] model` is model, but `[model] use` is off."
        remedy = "Set `model.use`, or set `rerank.model` to late-interaction."
        return HealthFinding(part, HealthState.WARNING, detail, remedy)
    if settings.rerank.model == "model":
        detail = "The language model orders the first 20 results in one call."
        return HealthFinding(part, HealthState.OK, detail)
    if not embeds:
        detail = "It needs the embedding model, which is off or broken."
        return HealthFinding(part, HealthState.OFF, detail)
    candidates = format_count(settings.rerank.candidate_count, "candidate")
    detail = f"It scores {candidates} again with the embedding model."
    return HealthFinding(part, HealthState.OK, detail)


@dataclass(frozen=True, slots=True)
class LanguageModelStatus:
    """The configured language model, and the answer of its server.

    `answers` is None if the server was not asked. `offered` are the names of the
    server's models, None if it lists none. `others` are the models configured for other
    uses.
    """

    connection: ChatConnection
    answers: bool | None = None
    offered: tuple[str, ...] | None = None
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all configured models, each once, the main one first."""
        return tuple(dict.fromkeys((self.connection.name, *self.others)))


def check_services(
    connection: ChatConnection | None, *, refusal: str = "", others: Sequence[str] = ()
) -> HealthFinding:
    """Report which data leaves this machine.

    `connection` is the language model's, None if none is used. `refusal` is a sentence
    that says why the model may not be called, empty if it may. `others` are sentences
    about the data that other services receive. The state is `OFF` if nothing is sent.
    """
    part = "hosted services"
    if others:
        alone = check_services(connection, refusal=refusal)
        model_sentence = refusal if alone.state is HealthState.OFF else alone.detail
        return HealthFinding(
            part, HealthState.OK, " ".join((model_sentence, *others)).strip()
        )
    if refusal:
        return HealthFinding(
            part, HealthState.OFF, f"Nothing is sent from this machine. {refusal}"
        )
    if connection is None or (connection.own and is_loopback_host(connection.host)):
        return HealthFinding(
            part, HealthState.OFF, "Nothing is sent from this machine."
        )
    recipient = (
        connection.server if connection.base_url == OPENAI_CHAT_URL else connection.host
    )
    detail = (
        f"Because of `[model]`, text for the language model is sent to {recipient}."
        " `lrwr privacy` lists the requests."
    )
    return HealthFinding(part, HealthState.OK, detail)


def check_language_model(
    language_model_status: LanguageModelStatus | None,
) -> HealthFinding:
    """Check whether the language model can be used; it is off if the status is None."""
    part = "language model"
    if language_model_status is None:
        detail = "`[model] use` is off: lrwr shows quotations and writes no answers."
        return HealthFinding(part, HealthState.OFF, detail, TURN_ON_MODEL)
    connection, names = (
        language_model_status.connection,
        " and ".join(language_model_status.names),
    )
    if not connection.own:
        return _check_hosted_model(language_model_status)
    address = mask_credentials(connection.base_url)
    if not language_model_status.answers:
        detail = f"{names} is set, but no server answers at {address}."
        return HealthFinding(part, HealthState.WARNING, detail, _START)
    if language_model_status.offered is None:
        detail = f"{names} is set, but {address} lists no models."
        return HealthFinding(part, HealthState.WARNING, detail, _START)
    if missing := _missing(language_model_status, language_model_status.offered):
        detail = f"{address} answers, but has no model {' and '.join(missing)}."
        has = (
            f"It has {_some(language_model_status.offered)}. "
            if language_model_status.offered
            else ""
        )
        return HealthFinding(part, HealthState.WARNING, detail, f"{has}{_NAME}")
    has = "has it" if len(language_model_status.names) == 1 else "has them"
    detail = f"{names}: the server at {address} answers and {has}."
    return HealthFinding(part, HealthState.OK, detail)


def _check_hosted_model(language_model_status: LanguageModelStatus) -> HealthFinding:
    """Check whether a hosted server has the models; one without a list may have them."""
    part, names = "language model", " and ".join(language_model_status.names)
    server = language_model_status.connection.server
    if language_model_status.offered is None:
        detail = (
            f"{names}, with an API key. {server} does not list the models of this key, so"
            " only the first request shows whether it works."
        )
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    if missing := _missing(language_model_status, language_model_status.offered):
        # A server in place of OpenAI may accept models that it does not list.
        is_openai = language_model_status.connection.base_url == OPENAI_CHAT_URL
        detail = f"{server} accepts the key, but has no model {' and '.join(missing)}."
        nearest = find_nearest_name(missing[0], language_model_status.offered)
        remedy = f"Did you mean {nearest}? {_ANOTHER}" if nearest else _ANOTHER
        return HealthFinding(
            part,
            HealthState.BROKEN if is_openai else HealthState.WARNING,
            detail,
            remedy,
        )
    has = "has it" if len(language_model_status.names) == 1 else "has them"
    return HealthFinding(
        part, HealthState.OK, f"{names}: {server} accepts the key and {has}."
    )


def _missing(
    language_model_status: LanguageModelStatus, offered: Sequence[str]
) -> list[str]:
    """Return the configured models that the server does not offer."""
    offered_names = {name.removesuffix(":latest") for name in offered}
    return [
        name
        for name in language_model_status.names
        if name.removesuffix(":latest") not in offered_names
    ]


def check_server(
    server: LocalServer, answered: LocalServerModels | None, *, used: bool = False
) -> HealthFinding:
    """Report whether a model server, such as Ollama, runs on its default port.

    `answered` has its models, None if nothing answers, which is `OFF`. `used` says that
    the settings use this server already; otherwise the remedy says how to use it.
    """
    part = server.name
    address = f"127.0.0.1:{server.port}"
    if answered is None:
        return HealthFinding(part, HealthState.OFF, f"No server runs on {address}.")
    if answered.models is None:
        detail = f"A server runs on {address}, but it lists no models."
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    if not answered.models:
        detail = f"It runs on {address}, but has no models."
        return HealthFinding(part, HealthState.WARNING, detail, "Load a model in it.")
    remedy = (
        f'To use it, set `[model] use = "local"`, `name` to one of these models, and'
        f' `base_url = "http://{address}/v1"`.'
    )
    detail = f"It runs on {address}: {_some(answered.models)}."
    return HealthFinding(part, HealthState.OK, detail, "" if used else remedy)


def _some(names: Sequence[str]) -> str:
    hidden_count = len(names) - _SHOWN_NAMES
    hidden_text = f" and {hidden_count} more" if hidden_count > 0 else ""
    return f"{', '.join(names[:_SHOWN_NAMES])}{hidden_text}"
