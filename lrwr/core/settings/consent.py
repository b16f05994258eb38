"""Consent: a folder's own settings cannot turn on a service without the user.

A downloaded folder brings its own `lrwr.toml`. If that turns on a service that receives
text and is paid with the user's key, the user is asked once for that folder.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from lrwr.core.model.errors import SettingsProblem, StoreProblem
from lrwr.core.model.untrusted_text import parse_json
from lrwr.core.settings.library import (
    Library,
    read_library_identity,
    write_private_file,
)
from lrwr.core.settings.loader import find_nearest_name
from lrwr.core.settings.model import Settings, SettingSource
from lrwr.core.settings.service_access import is_loopback_host

MAX_CONSENT_BYTES = 10_000
"""Bytes read of a stored answer, which is always shorter."""


@dataclass(frozen=True, slots=True)
class HostedService:
    """An external service: the setting that turns it on, and the data it receives.

    `title` is its name for users. It is on if `setting` has the value `value`. Its
    server is `host`, unless the setting `address` names another one. `key` is the
    environment variable of its API key. `sent` describes the data that it receives;
    `sent_with_texts` describes it for traces that contain texts, and is empty for
    services without that option. With `may_be_local`, a server on this machine needs no
    consent.
    """

    name: str
    title: str
    setting: str
    address: str
    host: str
    key: str
    sent: str
    value: str
    may_be_local: bool = False
    sent_with_texts: str = ""

    def is_on(self, settings: Settings) -> bool:
        """Return whether the settings turn the service on.

        False for a server on this machine if `may_be_local`, because nothing is sent
        out then.
        """
        if settings.value(self.setting) != self.value:
            return False
        return not (self.may_be_local and is_loopback_host(self.find_host(settings)))

    def find_host(self, settings: Settings) -> str:
        """Return the host name of the service's server: that of the address in the
        settings, or `host` if it is empty or invalid.
        """
        with suppress(ValueError):  # an invalid address is refused where it is used
            return urlsplit(str(settings.value(self.address))).hostname or self.host
        return self.host

    def describe_sent(self, settings: Settings) -> str:
        """Return a description, for users, of the data that the service receives with
        these settings: `sent_with_texts` if traces contain texts, else `sent`.
        """
        if self.sent_with_texts and is_tracing_texts(settings):
            return self.sent_with_texts
        return self.sent


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
"""The services that a setting can turn on, by name."""


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
    not for a copy of it, nor for another folder that later has the same path.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_answer(self, library: Library, service: str) -> bool | None:
        """Return whether the user allowed (true) or denied (false) the service called
        `service` for this library.

        None if there is no readable answer.
        """
        stored = self._load(library, f"{service}.json")
        is_allowed = stored.get("allowed")
        return is_allowed if isinstance(is_allowed, bool) else None

    def store_answer(self, library: Library, service: str, *, allowed: bool) -> None:
        """Store whether the user allowed a service for this library (`allowed`) or
        denied it.

        The library's state folder must exist.

        Raises:
            StoreProblem: The answer cannot be stored.
        """
        self._write(library, f"{service}.json", {"allowed": allowed})

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


def is_tracing_texts(settings: Settings) -> bool:
    """Return whether traces contain the user's texts.

    True if the setting `traces.texts` is on, unless the library's own file turns it on.
    """
    is_library_setting = settings.origin("traces.texts").source is SettingSource.LIBRARY
    return settings.traces.texts and not is_library_setting


def find_hosted_service(name: str) -> HostedService:
    """Return the external service called `name`, such as "openai", ignoring case.

    Raises:
        SettingsProblem: There is no such service.
    """
    normalized = name.strip().lower()
    if normalized in HOSTED_SERVICES:
        return HOSTED_SERVICES[normalized]
    near = find_nearest_name(normalized, HOSTED_SERVICES)
    offer = f"Did you mean {near}? " if near else ""
    raise SettingsProblem(
        f"Unknown service {name!r}",
        hint=f"{offer}Choose from: {', '.join(HOSTED_SERVICES)}.",
    )


def resolve_consent(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> ConsentState:
    """Return whether the service called `service` may be used from the library.

    Off if no setting turns it on. Else the user's answer decides, if there is one.
    Without an answer, the user's own settings count as consent, the library's own file
    does not.
    """
    hosted = HOSTED_SERVICES[service]
    if not hosted.is_on(settings):
        return ConsentState.OFF
    answer = consents.find_answer(library, service)
    if answer is not None:
        return ConsentState.ALLOWED if answer else ConsentState.DENIED
    is_library_setting = settings.origin(hosted.setting).source is SettingSource.LIBRARY
    return ConsentState.UNASKED if is_library_setting else ConsentState.GIVEN


def find_consent_problem(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> SettingsProblem | None:
    """Return the error to raise for a service that is on but denied or not yet allowed;
    None if it is off or may be used.
    """
    consent = resolve_consent(settings, library, service, consents)
    if consent is ConsentState.OFF or consent.allows_sending:
        return None
    hosted = HOSTED_SERVICES[service]
    if consent is ConsentState.DENIED:
        reason = f"You denied {hosted.title} for this folder"
    else:
        where = settings.origin(hosted.setting).where
        reason = f"{where} turns on {hosted.title}, and you have not allowed it"
    return SettingsProblem(
        f"{reason}. Nothing was sent",
        hint=f"To allow it, run `lrwr privacy allow {service}`.",
    )
