"""Settings of whoever keeps something for the writer elsewhere: an account, traces."""

from dataclasses import dataclass
from typing import Literal

from lrwr.core.settings.declaring import setting


@dataclass(frozen=True, slots=True)
class SupabaseSettings:
    """Which Supabase project `lrwr login` signs in to; nothing is kept there yet."""

    url: str = setting(
        "",
        "The address of your Supabase project, for `lrwr login`. It turns nothing else"
        " on: records are still kept on this machine.",
        example="https://abcdefghijkl.supabase.co",
    )
    timeout: int = setting(
        20, "How many seconds the project may take to answer.", low=1, high=300
    )


@dataclass(frozen=True, slots=True)
class TracesSettings:
    """Whether somebody keeps a record of each turn's and each ingestion's steps."""

    keeper: Literal["off", "langsmith"] = setting(
        "off",
        "Who keeps a trace of each turn and each ingestion, its steps and how long each"
        " took: nobody, or LangSmith, to which it is then sent.",
    )
    texts: bool = setting(
        False,
        "Whether your questions, answers, cited passages and names of files go along;"
        " else only names of steps and models, counts, times and ids. It counts in your"
        " own file or as a variable, not in a library's.",
    )
    project: str = setting("lrwr", "In which project of LangSmith traces are kept.")
    base_url: str = setting(
        "",
        "Where the service is. Empty means LangSmith itself, in the United States.",
        example="https://eu.api.smith.langchain.com",
    )
    timeout: int = setting(
        10,
        "How many seconds LangSmith may take to answer. Nothing waits for it but the"
        " end of a command.",
        low=1,
        high=120,
    )
