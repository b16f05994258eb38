"""Settings of whoever keeps something for the writer elsewhere: an account, traces."""

from dataclasses import dataclass
from typing import Literal

from lrwr.core.settings.schema import declare_setting


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """Who keeps what lrwr knows of your book, and your conversations."""

    keeper: Literal["embedded", "supabase"] = declare_setting(
        "embedded",
        "Who keeps records, jobs and conversations: a file on this machine, or your"
        " Supabase project, which a file on this machine then follows. Take a library"
        " there with `lrwr push` first, or bring one here with `lrwr pull`.",
    )
    files: bool = declare_setting(
        True,
        "Whether your project also keeps the files of the manuscript as they are, for"
        " `lrwr pull` on another machine.",
    )


@dataclass(frozen=True, slots=True)
class SupabaseSettings:
    """Which Supabase project you sign in to, push to and pull from."""

    url: str = declare_setting(
        "",
        "The address of your Supabase project, for `lrwr login`, `push` and `pull`. By"
        " itself it keeps nothing there.",
        example="https://abcdefghijkl.supabase.co",
    )
    timeout: int = declare_setting(
        20, "How many seconds the project may take to answer.", low=1, high=300
    )


@dataclass(frozen=True, slots=True)
class TracesSettings:
    """Whether somebody keeps a record of each turn's and each ingestion's steps."""

    keeper: Literal["off", "langsmith"] = declare_setting(
        "off",
        "Who keeps a trace of each turn and each ingestion, its steps and how long each"
        " took, and what `lrwr eval` found: nobody, or LangSmith, to which it is then"
        " sent.",
    )
    texts: bool = declare_setting(
        False,
        "Whether your questions, answers, cited passages and names of files go along;"
        " else only names of steps and models, counts, times and ids. It counts in your"
        " own file or as a variable, not in a library's.",
    )
    project: str = declare_setting(
        "lrwr", "In which project of LangSmith traces are kept."
    )
    base_url: str = declare_setting(
        "",
        "Where the service is. Empty means LangSmith itself, in the United States.",
        example="https://eu.api.smith.langchain.com",
    )
    timeout: int = declare_setting(
        10,
        "How many seconds LangSmith may take to answer. Nothing waits for it but the"
        " end of a command.",
        low=1,
        high=120,
    )


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Where `lrwr ingest` has documents read."""

    runner: Literal["local", "modal"] = declare_setting(
        "local",
        "Where `lrwr ingest` has documents read: on this machine, or in containers at"
        " Modal, to which the files are then sent. `--remote` means Modal for one run.",
    )
    containers: int = declare_setting(
        10, "How many containers at Modal may be at work at once.", low=1, high=100
    )
    timeout: int = declare_setting(
        20,
        "How many seconds Modal may be silent. Reading a document may take longer.",
        low=1,
        high=600,
    )
    app: str = declare_setting(
        "lrwr", "The name under which `lrwr deploy modal` puts lrwr at Modal."
    )
    base_url: str = declare_setting(
        "",
        "Where Modal is. Empty means Modal itself.",
        example="http://127.0.0.1:8767",
    )
