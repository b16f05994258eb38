"""The models: the one that embeds, the second look, language models, servers."""

from lrwr.care.findings import Finding, State, counted
from lrwr.core.adapters.embed.upkeep import ModelFacts
from lrwr.core.adapters.servers.loopback import Answered, Server
from lrwr.core.settings.values import Settings

_SHOWN_NAMES = 6

_REINSTALL = 'Reinstall lrwr, or set [embedding] model = "off".'


def check_model(facts: ModelFacts) -> Finding:
    """Say whether the embedding model is the right one, and works as it should."""
    part = "embedding"
    if facts.genuine is None:
        detail = f"Your own model, {facts.weights}: {facts.dimensions} numbers a text."
        return Finding(part, State.OK, detail)
    if not facts.genuine:
        detail = f"{facts.weights} is not the file that lrwr was made with."
        return Finding(part, State.BROKEN, detail, _REINSTALL)
    if not facts.agrees:
        detail = "This machine's arithmetic gives other vectors than it should."
        return Finding(part, State.BROKEN, detail, _REINSTALL)
    graph = "fused graph" if facts.fused else "plain graph, which is slower"
    detail = f"{facts.space}: the weights are right, the self-test agrees; {graph}."
    return Finding(part, State.OK, detail)


def check_reranker(settings: Settings, *, embeds: bool) -> Finding:
    """Say whether the best candidates are looked at a second time."""
    part = "reranker"
    if settings.rerank.model == "off":
        return Finding(part, State.OFF, "[rerank] model is off.")
    if not embeds:
        detail = "It needs the embedding model, which is not at work."
        return Finding(part, State.OFF, detail)
    candidates = counted(settings.rerank.candidates, "candidate")
    detail = f"Late interaction over the embedding model, {candidates}."
    return Finding(part, State.OK, detail)


def check_services() -> Finding:
    """Say which hosted services are on: this version has none."""
    detail = "Nothing leaves this machine; no setting for one exists yet."
    return Finding("hosted services", State.OFF, detail)


def check_language_model() -> Finding:
    """Say that there is no language model: this version has no setting for one."""
    detail = "lrwr quotes and does not reason; no setting for one exists yet."
    return Finding("language model", State.OFF, detail)


def check_server(server: Server, answered: Answered | None) -> Finding:
    """Say what listens on a port where a model server usually does."""
    part = server.name
    address = f"127.0.0.1:{server.port}"
    if answered is None:
        return Finding(part, State.OFF, f"Nothing listens on {address}.")
    if answered.models is None:
        detail = f"Something listens on {address}, but it lists no models."
        return Finding(part, State.NOT_CHECKED, detail)
    if not answered.models:
        detail = f"It runs on {address}, without a model."
        return Finding(part, State.WARNING, detail, "Load a model in it.")
    shown = ", ".join(answered.models[:_SHOWN_NAMES])
    more = len(answered.models) - _SHOWN_NAMES
    rest = f" and {more} more" if more > 0 else ""
    base = f"http://{address}/v1"
    remedy = (
        f"lrwr cannot use it yet: a setting for language models comes in a later"
        f" version, and will take this address, {base}."
    )
    return Finding(part, State.OK, f"It runs on {address}: {shown}{rest}.", remedy)
