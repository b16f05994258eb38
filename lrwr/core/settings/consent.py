"""The writer's leave: what a folder's own settings may not turn on by themselves.

A downloaded folder brings its `lrwr.toml` along. Where that turns on a service that is
sent text and paid with the writer's key, the writer is asked once for that folder.
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
from lrwr.core.settings.library import (
    Library,
    read_library_identity,
    write_private_file,
)
from lrwr.core.settings.loader import find_nearest_name
from lrwr.core.settings.model import Settings, SettingSource
from lrwr.core.settings.service_access import is_loopback_host

MAX_CONSENT_BYTES = 10_000
"""Bytes of an answer that is read: ours are shorter."""


@dataclass(frozen=True, slots=True)
class HostedService:
    """A service elsewhere: what turns it on, and what it is then sent.

    It is on where `setting` has `value` for its value. It is at `host` unless the
    setting `address` names another place. Its key is in the variable `key`. Where it
    `may_be_own`, one on this machine is the writer's own, and is no service elsewhere.
    `whole` is what it is sent where traces hold texts; empty: that changes nothing.
    """

    name: str
    title: str
    setting: str
    address: str
    host: str
    key: str
    what: str
    value: str
    may_be_own: bool = False
    whole: str = ""

    def on_in(self, settings: Settings) -> bool:
        """Say whether it is turned on, by whomever."""
        if settings.value(self.setting) != self.value:
            return False
        return not (self.may_be_own and is_loopback_host(self.host_in(settings)))

    def host_in(self, settings: Settings) -> str:
        """Return the machine that is asked."""
        with suppress(ValueError):  # what is no address is refused where it is used
            return urlsplit(str(settings.value(self.address))).hostname or self.host
        return self.host

    def what_in(self, settings: Settings) -> str:
        """Return what it is sent, as the settings are."""
        return self.whole if self.whole and is_tracing_texts(settings) else self.what


HOSTED_SERVICES: Mapping[str, HostedService] = {
    "openai": HostedService(
        "openai",
        "OpenAI",
        "model.use",
        "model.base_url",
        "api.openai.com",
        "OPENAI_API_KEY",
        "the scenes of your manuscript when it is read, your questions with the passages"
        " found for them, and, where you have `lrwr check --model` judge, pairs of"
        " passages with what your notes say of them",
        "openai",
    ),
    "openai-embeddings": HostedService(
        "openai-embeddings",
        "OpenAI (embeddings)",
        "embedding.model",
        "embedding.base_url",
        "api.openai.com",
        "OPENAI_API_KEY",
        "the whole text of your manuscript and your notes when it is read, and what you"
        " search for",
        "openai",
    ),
    "cohere": HostedService(
        "cohere",
        "Cohere",
        "rerank.model",
        "rerank.base_url",
        "api.cohere.com",
        "COHERE_API_KEY",
        "what you search for, with the passages found for it",
        "cohere",
    ),
    "qdrant": HostedService(
        "qdrant",
        "Qdrant",
        "vectors.keeper",
        "vectors.url",
        "127.0.0.1",
        "QDRANT_API_KEY",
        "the vectors of your passages and of what you search for, without their text and"
        " without the names of your files",
        "qdrant",
        may_be_own=True,
    ),
    "modal": HostedService(
        "modal",
        "Modal",
        "ingest.runner",
        "ingest.base_url",
        "api.modal.com",
        "MODAL_TOKEN_ID",
        "the files of your manuscript and your notes that are new or changed, whole and"
        " with their names",
        "modal",
    ),
    "supabase": HostedService(
        "supabase",
        "Supabase",
        "records.keeper",
        "supabase.url",
        "",
        "SUPABASE_KEY",
        "everything that lrwr knows of your book: its text, its files unless you keep them"
        " out, the vectors of its passages, what is known of the story, what models said"
        " of it, and your conversations",
        "supabase",
        may_be_own=True,
    ),
    "tavily": HostedService(
        "tavily",
        "Tavily",
        "web.use",
        "web.base_url",
        "api.tavily.com",
        "TAVILY_API_KEY",
        "short queries made from your questions, without the names of your book",
        "tavily",
    ),
    "langsmith": HostedService(
        "langsmith",
        "LangSmith",
        "traces.keeper",
        "traces.base_url",
        "api.smith.langchain.com",
        "LANGSMITH_API_KEY",
        "the steps of your questions and of the reading of your manuscript, and what"
        " `lrwr eval` found: times, counts, models and scores, without your text",
        "langsmith",
        whole="the steps of your questions and of the reading of your manuscript, and"
        " what `lrwr eval` found, with your questions, the answers, the passages they"
        " cite and the names of your files",
    ),
}
"""The services that a setting can turn on."""


class ConsentState(StrEnum):
    """Whether a service may be asked from a library."""

    OFF = "off"
    GIVEN = "on"
    """The writer turned it on, not the folder."""
    ALLOWED = "allowed"
    DENIED = "denied"
    UNASKED = "not allowed yet"

    @property
    def may(self) -> bool:
        """Whether anything may be sent."""
        return self in (ConsentState.GIVEN, ConsentState.ALLOWED)


class ConsentStore:
    """What the writer answered, and was told: kept outside of every library.

    Each answer is a file of its own, written whole, and read by its owner alone. It
    holds for the folder that it was given for, not for a copy of it, nor for another
    folder that later stands in the same place.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def answer(self, library: Library, service: str) -> bool | None:
        """Return whether the writer allowed a service, None if they did not say.

        What cannot be read or understood was not said.
        """
        stored = self._kept(library, f"{service}.json")
        is_allowed = stored.get("allowed")
        return is_allowed if isinstance(is_allowed, bool) else None

    def keep(self, library: Library, service: str, *, allowed: bool) -> None:
        """Keep the writer's answer; the library's state folder must be there.

        Raises:
            StoreProblem: It cannot be kept.
        """
        self._write(library, f"{service}.json", {"allowed": allowed})

    def told(self, library: Library, service: str) -> bool:
        """Say whether the writer was told what goes to a service from here."""
        return bool(self._kept(library, f"{service}.told.json"))

    def tell(self, library: Library, service: str) -> None:
        """Note that the writer was told.

        Raises:
            StoreProblem: It cannot be kept.
        """
        self._write(library, f"{service}.told.json", {})

    def _path(self, library: Library, name: str) -> Path:
        place = sha256(os.fsencode(library.root)).hexdigest()[:32]
        return self._folder / f"{place}.{name}"

    def _kept(self, library: Library, name: str) -> Mapping[str, object]:
        stored: object = None
        path = self._path(library, name)
        with suppress(OSError, ValueError, RecursionError), path.open("rb") as file:
            stored = json.loads(file.read(MAX_CONSENT_BYTES))
        mark = read_library_identity(library)
        if not isinstance(stored, dict) or not mark:
            return {}
        is_same_folder = (stored.get("folder"), stored.get("mark")) == (
            str(library.root),
            mark,
        )
        return stored if is_same_folder else {}

    def _write(self, library: Library, name: str, fields: Mapping[str, object]) -> None:
        mark = read_library_identity(library)
        if not mark:
            raise StoreProblem(
                f"{library.state_dir} is not there, and an answer is kept for it",
                hint="Run `lrwr ingest FOLDER` first.",
            )
        content = {"folder": str(library.root), "mark": mark, **fields}
        path = self._path(library, name)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private_file(path, json.dumps(content, indent=2) + "\n")
        except (OSError, UnicodeError) as error:
            raise StoreProblem(
                f"{path.parent} cannot be used, so your answer cannot be kept",
                hint="Check the disk and your rights there.",
            ) from error


def is_tracing_texts(settings: Settings) -> bool:
    """Say whether traces hold texts: a folder's own settings cannot make them."""
    is_library_setting = settings.origin("traces.texts").source is SettingSource.LIBRARY
    return settings.traces.texts and not is_library_setting


def find_hosted_service(name: str) -> HostedService:
    """Return the hosted service of that name, whatever its case.

    Raises:
        SettingsProblem: There is none.
    """
    normalized = name.strip().lower()
    if normalized in HOSTED_SERVICES:
        return HOSTED_SERVICES[normalized]
    near = find_nearest_name(normalized, HOSTED_SERVICES)
    offer = f"Did you mean {near}? " if near else ""
    raise SettingsProblem(
        f"lrwr sends nothing to a service {name!r}",
        hint=f"{offer}Choose from: {', '.join(HOSTED_SERVICES)}.",
    )


def resolve_consent(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> ConsentState:
    """Say whether a hosted service may be asked from a library.

    What the writer denied stays so, whoever turns it on.
    """
    hosted = HOSTED_SERVICES[service]
    if not hosted.on_in(settings):
        return ConsentState.OFF
    answer = consents.answer(library, service)
    if answer is not None:
        return ConsentState.ALLOWED if answer else ConsentState.DENIED
    is_library_setting = settings.origin(hosted.setting).source is SettingSource.LIBRARY
    return ConsentState.UNASKED if is_library_setting else ConsentState.GIVEN


def find_consent_problem(
    settings: Settings, library: Library, service: str, consents: ConsentStore
) -> SettingsProblem | None:
    """Return why a service that is on may not be asked; None where it is off, or may."""
    leave = resolve_consent(settings, library, service, consents)
    if leave is ConsentState.OFF or leave.may:
        return None
    hosted = HOSTED_SERVICES[service]
    if leave is ConsentState.DENIED:
        reason = f"You denied {hosted.title} for this folder"
    else:
        where = settings.origin(hosted.setting).where
        reason = f"{where} turns {hosted.title} on, and you have not allowed it"
    return SettingsProblem(
        f"{reason}: nothing was sent", hint=f"To allow it: lrwr privacy allow {service}"
    )
