"""Settings of whoever keeps something for the writer elsewhere: an account, traces."""

from dataclasses import dataclass
from typing import Literal

from lrwr.core.settings.schema import declare_setting


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which language model reads and answers, and what it may cost."""

    use: Literal["off", "openai", "local"] = declare_setting(
        "off",
        "Which language model reads and answers: none; one of OpenAI's, to which"
        " your text is then sent; or one that a server on your own machine runs.",
    )
    name: str = declare_setting(
        "",
        "The model, as its server calls it. Empty means gpt-6-luna with OpenAI; a local"
        " model must be named.",
        example="gpt-6-luna",
    )
    planner: str = declare_setting(
        "",
        "Which model of that server plans an answer, where it should be another one.",
        example="gpt-6-luna",
    )
    analyst: str = declare_setting(
        "",
        "Which model of that server reads the manuscript, where it should be another"
        " one.",
        example="gpt-6-luna",
    )
    avatar: str = declare_setting(
        "",
        "Which model of that server answers, where it should be another one.",
        example="gpt-6-sol",
    )
    judge: str = declare_setting(
        "",
        "Which model of that server judges answers in `lrwr eval --model`, where it"
        " should be another one.",
        example="gpt-6-sol",
    )
    base_url: str = declare_setting(
        "",
        "Where the server is. Empty means OpenAI itself, or Ollama on this machine.",
        example="http://127.0.0.1:1234/v1",
    )
    timeout: int = declare_setting(
        300, "How many seconds an answer may take.", low=1, high=3600
    )
    plan_timeout: int = declare_setting(
        20,
        "How many seconds planning an answer may take; then rules plan it.",
        low=1,
        high=3600,
    )
    steps: int = declare_setting(
        10,
        "How many steps a model may take to look things up before it answers: searches"
        " and chapters read. 0 means none.",
        low=0,
        high=10,
    )
    concurrency: int = declare_setting(
        4, "How many requests are under way at once.", low=1, high=64
    )
    requests_per_minute: int = declare_setting(
        0,
        "How many requests are sent in a minute at most; 0 means no limit of ours.",
        low=0,
        high=10_000,
    )
    reasoning_effort: Literal["auto", "none", "low", "medium", "high"] = (
        declare_setting(
            "auto",
            "How long the model thinks before it answers; more costs more. Auto means none"
            " with OpenAI's newer models, and leaves others as they are.",
        )
    )
    budget: float = declare_setting(
        0.0,
        "What a run may cost at most, in US dollars; 0 means no limit. Reading stops"
        " before it costs more, and what was read is kept.",
        low=0,
        high=10_000,
    )
    prices: tuple[str, ...] = declare_setting(
        (),
        "Prices that lrwr does not know, or that changed: a model, then US dollars for"
        " a million tokens sent and for a million tokens answered.",
        example=("gpt-6-luna 0.10 0.50",),
    )


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Whether the web is asked about what lies outside of the book."""

    use: Literal["off", "tavily"] = declare_setting(
        "off",
        "Who looks on the web for works, people and craft outside of your book: nobody,"
        " or Tavily, to which a short query without the names of your book is sent.",
    )
    results: int = declare_setting(
        4, "How many pages of the web an answer may draw on.", low=1, high=10
    )
    timeout: int = declare_setting(
        15, "How many seconds the web may take to answer.", low=1, high=120
    )
    base_url: str = declare_setting(
        "",
        "Where the service is. Empty means Tavily itself.",
        example="http://127.0.0.1:8765",
    )


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
