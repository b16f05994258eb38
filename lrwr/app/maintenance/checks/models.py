"""The models: the one that embeds, the second look, language models, servers."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.app.maintenance.check_result import HealthFinding, HealthState, pluralize
from lrwr.core.adapters.chat.connection import OPENAI_CHAT_URL, ChatConnection
from lrwr.core.adapters.chat.local_servers import LocalServer, LocalServerModels
from lrwr.core.adapters.embed.minilm import EmbeddingModelReport
from lrwr.core.settings.loader import find_nearest_name
from lrwr.core.settings.model import Settings
from lrwr.core.settings.service_access import is_loopback_host

_SHOWN_NAMES = 6

_REINSTALL = 'Reinstall lrwr, or set [embedding] model = "off".'

_START = "Start the model server, or set [model] base_url to where it is."
_NAME = "Load it there, or set [model] name to one that is."
_ANOTHER = "Set it, in [model], to one that this key may use."


def check_model(facts: EmbeddingModelReport) -> HealthFinding:
    """Say whether the embedding model is the right one, and works as it should."""
    part = "embedding"
    if facts.genuine is None:
        detail = f"Your own model, {facts.weights}: {facts.dimensions} numbers a text."
        return HealthFinding(part, HealthState.OK, detail)
    if not facts.genuine:
        detail = f"{facts.weights} is not the file that lrwr was made with."
        return HealthFinding(part, HealthState.BROKEN, detail, _REINSTALL)
    if not facts.agrees:
        detail = "This machine's arithmetic gives other vectors than it should."
        return HealthFinding(part, HealthState.BROKEN, detail, _REINSTALL)
    graph = "fused graph" if facts.fused else "plain graph, which is slower"
    detail = f"{facts.space}: the weights are right, the self-test agrees; {graph}."
    return HealthFinding(part, HealthState.OK, detail)


def check_reranker(settings: Settings, *, embeds: bool) -> HealthFinding:
    """Say whether the best candidates are looked at a second time."""
    part = "reranker"
    if settings.rerank.model == "off":
        return HealthFinding(part, HealthState.OFF, "[rerank] model is off.")
    if not embeds:
        detail = "It needs the embedding model, which is not at work."
        return HealthFinding(part, HealthState.OFF, detail)
    candidates = pluralize(settings.rerank.candidate_count, "candidate")
    detail = f"Late interaction over the embedding model, {candidates}."
    return HealthFinding(part, HealthState.OK, detail)


@dataclass(frozen=True, slots=True)
class LanguageModelStatus:
    """The language model that is set, and what its server said.

    `answers` says whether the server answered, None where it was not asked. `offered`
    are its models, None where it lists none. `others` are asked beside the
    connection's own, in another role.
    """

    connection: ChatConnection
    answers: bool | None = None
    offered: tuple[str, ...] | None = None
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All models that are asked, each once."""
        return tuple(dict.fromkeys((self.connection.name, *self.others)))


def check_services(
    connection: ChatConnection | None, *, refusal: str = "", others: Sequence[str] = ()
) -> HealthFinding:
    """Say who else gets to read the manuscript; None: no language model elsewhere.

    `refusal` says why a service that is on is not asked. `others` are sentences of what
    leaves besides.
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
            part, HealthState.OFF, f"Nothing leaves this machine. {refusal}"
        )
    if connection is None or (connection.own and is_loopback_host(connection.host)):
        return HealthFinding(part, HealthState.OFF, "Nothing leaves this machine.")
    recipient = (
        connection.server if connection.base_url == OPENAI_CHAT_URL else connection.host
    )
    detail = (
        f"What a language model is to read is sent to {recipient}: [model] is set so."
        " `lrwr privacy` lists what left."
    )
    return HealthFinding(part, HealthState.OK, detail)


def check_language_model(
    language_model_status: LanguageModelStatus | None,
) -> HealthFinding:
    """Say whether the language model that is set can be used; None: it is off."""
    part = "language model"
    if language_model_status is None:
        detail = "[model] use is off: lrwr quotes and does not reason."
        return HealthFinding(part, HealthState.OFF, detail)
    connection, names = (
        language_model_status.connection,
        " and ".join(language_model_status.names),
    )
    if not connection.own:
        return _of_hosted(language_model_status)
    address = connection.base_url
    if not language_model_status.answers:
        detail = f"{names} is set, and nothing answers at {address}."
        return HealthFinding(part, HealthState.WARNING, detail, _START)
    if language_model_status.offered is None:
        detail = f"{names} is set, and {address} lists no models."
        return HealthFinding(part, HealthState.WARNING, detail, _START)
    if missing := _missing(language_model_status, language_model_status.offered):
        detail = f"{address} answers, and has no model {' and '.join(missing)}."
        has = (
            f"It has {_some(language_model_status.offered)}. "
            if language_model_status.offered
            else ""
        )
        return HealthFinding(part, HealthState.WARNING, detail, f"{has}{_NAME}")
    has = "has it" if len(language_model_status.names) == 1 else "has them"
    detail = f"{names}: the server at {address} answers, and {has}."
    return HealthFinding(part, HealthState.OK, detail)


def _of_hosted(language_model_status: LanguageModelStatus) -> HealthFinding:
    """Say whether a hosted server has the models; one that lists none may have them."""
    part, names = "language model", " and ".join(language_model_status.names)
    server = language_model_status.connection.server
    if language_model_status.offered is None:
        detail = (
            f"{names}, and there is a key for it. {server} does not say which models it"
            " has for this key: the first reading shows whether it answers."
        )
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    if missing := _missing(language_model_status, language_model_status.offered):
        # Whoever stands in for OpenAI may list other names than it answers to.
        is_openai = language_model_status.connection.base_url == OPENAI_CHAT_URL
        detail = f"{server} takes the key, and has no model {' and '.join(missing)}."
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
        part, HealthState.OK, f"{names}: {server} takes the key, and {has}."
    )


def _missing(
    language_model_status: LanguageModelStatus, offered: Sequence[str]
) -> list[str]:
    """Return the models that are asked and not offered."""
    offered_names = {name.removesuffix(":latest") for name in offered}
    return [
        name
        for name in language_model_status.names
        if name.removesuffix(":latest") not in offered_names
    ]


def check_server(
    server: LocalServer, answered: LocalServerModels | None, *, used: bool = False
) -> HealthFinding:
    """Say what listens on a port where a model server usually does.

    `used` says that the settings name it already.
    """
    part = server.name
    address = f"127.0.0.1:{server.port}"
    if answered is None:
        return HealthFinding(part, HealthState.OFF, f"Nothing listens on {address}.")
    if answered.models is None:
        detail = f"Something listens on {address}, but it lists no models."
        return HealthFinding(part, HealthState.NOT_CHECKED, detail)
    if not answered.models:
        detail = f"It runs on {address}, without a model."
        return HealthFinding(part, HealthState.WARNING, detail, "Load a model in it.")
    remedy = (
        f'To let one of them read, set [model] use = "local", name to the model, and'
        f' base_url = "http://{address}/v1".'
    )
    detail = f"It runs on {address}: {_some(answered.models)}."
    return HealthFinding(part, HealthState.OK, detail, "" if used else remedy)


def _some(names: Sequence[str]) -> str:
    hidden_count = len(names) - _SHOWN_NAMES
    hidden_text = f" and {hidden_count} more" if hidden_count > 0 else ""
    return f"{', '.join(names[:_SHOWN_NAMES])}{hidden_text}"
