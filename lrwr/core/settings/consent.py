"""Consent: a folder's own settings cannot make lrwr contact a server without the user.

A downloaded folder brings its own `lrwr.toml`. If that turns on a service, or names the
address of one, the user is asked once for that folder. This includes servers on this
machine: another program may listen there.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.library import (
    Library,
    read_library_identity,
    write_private_file,
)
from lrwr.core.settings.loader import find_nearest_name
from lrwr.core.settings.model import SettingOrigin, Settings
from lrwr.core.settings.service_access import (
    OLLAMA_URL,
    QDRANT_URL,
    HostedService,
)

MAX_CONSENT_BYTES = 10_000
"""Bytes read of a stored answer, which is always shorter."""

NOTHING_SENT = "Nothing was sent"
"""Part of each message that a service is not allowed."""


_QUESTIONS_ON_BOOK = (
    "your questions about the book, with parts of it up to your position, or of the whole"
    " book with `--whole`"
)
_BOOK_AND_QUERIES = (
    "the whole text of the book when you add it, and your search queries"
)
HOSTED_SERVICES: Mapping[str, HostedService] = {
    "openai": HostedService(
        "openai",
        "OpenAI",
        "model.use",
        "model.base_url",
        "api.openai.com",
        "OPENAI_API_KEY",
        "the scenes of your manuscript when it is ingested, your questions with the"
        " passages found for them, and, with `lrwr check --model`, pairs of passages"
        " with what your notes say about them",
        "openai",
        sent_of_book=_QUESTIONS_ON_BOOK,
    ),
    "openai-embeddings": HostedService(
        "openai-embeddings",
        "OpenAI (embeddings)",
        "embedding.model",
        "embedding.base_url",
        "api.openai.com",
        "OPENAI_API_KEY",
        "the whole text of your manuscript and your notes when they are ingested, and"
        " your search queries",
        "openai",
        sent_of_book=_BOOK_AND_QUERIES,
    ),
    "huggingface": HostedService(
        "huggingface",
        "Hugging Face",
        "embedding.model",
        "embedding.base_url",
        "huggingface.co",
        "",
        "the name of an embedding model when you download it, and no text",
        "fastembed",
    ),
    "cohere": HostedService(
        "cohere",
        "Cohere",
        "rerank.model",
        "rerank.base_url",
        "api.cohere.com",
        "COHERE_API_KEY",
        "your search queries, with the passages found for them",
        "cohere",
    ),
    "qdrant": HostedService(
        "qdrant",
        "Qdrant",
        "vectors.keeper",
        "vectors.url",
        "127.0.0.1",
        "QDRANT_API_KEY",
        "the vectors of your passages and of your search queries, without their text and"
        " without the names of your files",
        "qdrant",
        may_be_local=True,
        default_address=QDRANT_URL,
    ),
    "modal": HostedService(
        "modal",
        "Modal",
        "ingest.runner",
        "ingest.base_url",
        "api.modal.com",
        "MODAL_TOKEN_ID",
        "the complete new or changed files of your manuscript and your notes, with their"
        " names",
        "modal",
    ),
    "supabase": HostedService(
        "supabase",
        "Supabase",
        "records.keeper",
        "supabase.url",
        "",
        "SUPABASE_KEY",
        "all data that lrwr stores about your manuscript: its text, its files (unless"
        " `records.files` is false), the vectors of its passages, the story data, the"
        " replies of models about it, and your threads (saved conversations)",
        "supabase",
        may_be_local=True,
        address_suffices=True,
    ),
    "tavily": HostedService(
        "tavily",
        "Tavily",
        "web.use",
        "web.base_url",
        "api.tavily.com",
        "TAVILY_API_KEY",
        "short queries made from your questions, without the names in your manuscript",
        "tavily",
        sent_of_book="short queries made from your questions, without the names in the book",
    ),
    "langsmith": HostedService(
        "langsmith",
        "LangSmith",
        "traces.keeper",
        "traces.base_url",
        "api.smith.langchain.com",
        "LANGSMITH_API_KEY",
        "the steps of your questions and of each ingestion, and the results of"
        " `lrwr eval`: times, counts, models and scores, without your text",
        "langsmith",
        sent_with_texts="the steps of your questions and of each ingestion, and the"
        " results of `lrwr eval`, with your questions, the answers, the passages they"
        " cite and the names of your files",
    ),
}
"""The external services that a setting can turn on, by name."""

MODEL_SERVER = "model-server"
EMBEDDING_SERVER = "embedding-server"
OWN_SERVERS: Mapping[str, HostedService] = {
    MODEL_SERVER: HostedService(
        MODEL_SERVER,
        "the model server",
        "model.use",
        "model.base_url",
        "127.0.0.1",
        "",
        "the scenes of your manuscript when it is ingested, and your questions with the"
        " passages found for them",
        "local",
        may_be_local=True,
        default_address=OLLAMA_URL,
        sent_of_book=_QUESTIONS_ON_BOOK,
    ),
    EMBEDDING_SERVER: HostedService(
        EMBEDDING_SERVER,
        "the embedding server",
        "embedding.model",
        "embedding.base_url",
        "127.0.0.1",
        "",
        "the whole text of your manuscript and your notes when they are ingested, and"
        " your search queries",
        "server",
        may_be_local=True,
        default_address=OLLAMA_URL,
        sent_of_book=_BOOK_AND_QUERIES,
    ),
}
"""The user's own servers that a setting can turn on, by name. They need no key."""

CONSENT_SERVICES: Mapping[str, HostedService] = {**HOSTED_SERVICES, **OWN_SERVERS}
"""Everything that a folder's own file cannot use without consent, by name."""


class ConsentState(StrEnum):
    """Whether a service may be used from a library: off, turned on by the user's own
    settings, allowed, denied, or not yet asked.
    """

    OFF = "off"
    GIVEN = "on"
    """The user's own settings turn it on, not the library's."""
    ALLOWED = "allowed"
    DENIED = "denied"
    UNASKED = "not allowed yet"

    @property
    def allows_sending(self) -> bool:
        """Whether data may be sent to the service: the user allowed it, or turned it on
        in their own settings without denying it.
        """
        return self in (ConsentState.GIVEN, ConsentState.ALLOWED)


class ConsentStore:
    """The user's consents, stored in `folder`, outside every library.

    Each answer is a file that only its owner can read. It holds for one library folder:
    not for a copy of it, nor for another folder that later has the same path. A consent
    holds for the address that the folder named when it was given.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_answer(
        self, library: Library, service: str, address: str | None = None
    ) -> bool | None:
        """Return whether the user allowed (true) or denied (false) the service called
        `service` for this library.

        None if there is no readable answer, or if the user allowed another address
        than `address`, which is compared unless it is None. Consents that were stored
        without an address hold for every address.
        """
        stored = self._load(library, f"{service}.json")
        is_allowed = stored.get("allowed")
        if not isinstance(is_allowed, bool):
            return None
        is_other = address is not None and stored.get("address", address) != address
        return None if is_allowed and is_other else is_allowed

    def store_answer(
        self, library: Library, service: str, *, allowed: bool, address: str = ""
    ) -> None:
        """Store whether the user allowed a service for this library (`allowed`) or
        denied it.

        `address` is the one that the library's own file names, empty if it names none.
        The library's state folder must exist.

        Raises:
            StoreProblem: The answer cannot be stored.
        """
        answer = {"allowed": allowed, "address": address}
        self._write(library, f"{service}.json", answer)

    def has_notice(self, library: Library, service: str) -> bool:
        """Return whether the user was shown what data this library sends to the
        service.
        """
        return bool(self._load(library, f"{service}.told.json"))

    def store_notice(self, library: Library, service: str) -> None:
        """Record that the user was shown what data this library sends to the service.

        Raises:
            StoreProblem: The record cannot be stored.
        """
        self._write(library, f"{service}.told.json", {})

    def _path(self, library: Library, name: str) -> Path:
        digest = sha256(os.fsencode(library.root)).hexdigest()[:32]
        return self._folder / f"{digest}.{name}"

    def _load(self, library: Library, name: str) -> Mapping[str, object]:
        stored: object = None
        path = self._path(library, name)
        with suppress(OSError, ValueError), path.open("rb") as file:
            stored = parse_json(file.read(MAX_CONSENT_BYTES))
        identity = read_library_identity(library)
        if not isinstance(stored, dict) or not identity:
            return {}
        is_same_folder = (stored.get("folder"), stored.get("mark")) == (
            str(library.root),
            identity,
        )
        return stored if is_same_folder else {}

    def _write(self, library: Library, name: str, fields: Mapping[str, object]) -> None:
        identity = read_library_identity(library)
        if not identity:
            raise StoreProblem(
                f"{library.state_dir} does not exist, so your answer cannot be stored",
                hint="Run `lrwr ingest FOLDER` first.",
            )
        content = {"folder": str(library.root), "mark": identity, **fields}
        path = self._path(library, name)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private_file(path, json.dumps(content, indent=2) + "\n")
        except (OSError, UnicodeError) as error:
            raise StoreProblem(
                f"{path.parent} cannot be written, so your answer cannot be stored",
                hint="Check the free disk space and the permissions of the folder.",
            ) from error


def find_hosted_service(name: str) -> HostedService:
    """Return the service or server called `name`, such as "openai", ignoring case.

    Raises:
        SettingsProblem: There is no such service.
    """
    normalized = name.strip().lower()
    if normalized in CONSENT_SERVICES:
        return CONSENT_SERVICES[normalized]
    near = find_nearest_name(normalized, CONSENT_SERVICES)
    offer = f"Did you mean {near}? " if near else ""
    raise SettingsProblem(
        f"Unknown service {name!r}",
        hint=f"{offer}Choose from: {', '.join(CONSENT_SERVICES)}.",
    )


def find_model_service(settings: Settings) -> str:
    """Return the name of the service that the setting `model.use` selects: "openai",
    or `MODEL_SERVER` for a local model.
    """
    return MODEL_SERVER if settings.model.use == "local" else "openai"


def resolve_consent(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> ConsentState:
    """Return whether the service called `service` may be used from the library.

    Off if no setting turns it on. Else the user's answer decides, if there is one, or
    the user's own settings count as consent, the library's own file does not. A server
    on this machine is off, unless it was denied, or that file turns it on or names it.
    """
    hosted = CONSENT_SERVICES[service]
    is_from_folder = hosted.find_folder_origin(settings) is not None
    if not (is_from_folder or hosted.is_selected(settings)):
        return ConsentState.OFF
    address = hosted.find_folder_address(settings)
    answer = consents.find_answer(library, service, address)
    if answer is False:
        return ConsentState.DENIED
    if not hosted.is_on(settings):
        return ConsentState.OFF
    if answer is True:
        return ConsentState.ALLOWED
    return ConsentState.UNASKED if is_from_folder else ConsentState.GIVEN


def find_consent_problem(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> SettingsProblem | None:
    """Return the error to raise for a service that is on but denied or not yet allowed;
    None if it is off or may be used.
    """
    consent = resolve_consent(settings, library, service, consents)
    if consent is ConsentState.OFF or consent.allows_sending:
        return None
    hosted = CONSENT_SERVICES[service]
    if consent is ConsentState.DENIED:
        reason = f"You denied {hosted.title} for this folder"
    else:
        use = " ".join(describe_folder_use(hosted, settings))
        reason = f"{use}, and you have not allowed it"
    return SettingsProblem(
        f"{reason}. {NOTHING_SENT}",
        hint=f"To allow it, run `lrwr privacy allow {service}`.",
    )


def find_address_problem(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> SettingsProblem | None:
    """Return the error of `find_consent_problem` if the library's own file names the
    service's address; None if it does not.

    For commands that the user starts to use this service, which need no other consent.
    """
    if not CONSENT_SERVICES[service].find_folder_address(settings):
        return None
    return find_consent_problem(settings, library, service, consents)


def describe_folder_use(hosted: HostedService, settings: Settings) -> tuple[str, str]:
    """Return the line of the folder's own file that concerns the service, and what the
    file does, such as "turns on OpenAI".

    The service is one that the file turns on or whose address it names.
    """
    origin = hosted.find_folder_origin(settings) or SettingOrigin()
    address = hosted.find_folder_address(settings)
    if origin == settings.origin(hosted.setting):
        at = f" at {address}" if address else ""
        return origin.where, f"turns on {hosted.title}{at}"
    return origin.where, f"sets the address of {hosted.title} to {address}"
