"""Settings of language models and of external services."""

from dataclasses import dataclass
from typing import Literal

from lrwr.core.settings.schema import declare_setting


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings `model.*`: the language models, and their limits of time and cost."""

    use: Literal["off", "openai", "local"] = declare_setting(
        "off",
        "The language model: off; an OpenAI model (your text is sent to OpenAI); or a"
        " local model on a server on this machine, such as Ollama.",
    )
    name: str = declare_setting(
        "",
        "The model's name, as its server calls it. Empty means gpt-6-luna with"
        " OpenAI; with a local server it is required.",
        example="gpt-6-luna",
    )
    planner: str = declare_setting(
        "",
        "Another model on the same server, to plan answers. Empty means `name`.",
        example="gpt-6-luna",
    )
    analyst: str = declare_setting(
        "",
        "Another model on the same server, to read the manuscript. Empty means `name`.",
        example="gpt-6-luna",
    )
    avatar: str = declare_setting(
        "",
        "Another model on the same server, to write answers. Empty means `name`.",
        example="gpt-6-sol",
    )
    judge: str = declare_setting(
        "",
        "Another model on the same server, to judge answers in `lrwr eval --model`."
        " Empty means `name`.",
        example="gpt-6-sol",
    )
    checker: str = declare_setting(
        "",
        "Another model on the same server, to check drafts in `lrwr post check`. Empty"
        " means `name`.",
        example="gpt-6-sol",
    )
    writer: str = declare_setting(
        "",
        "Another model on the same server, to draft texts in `lrwr post new` and"
        " scenes in `lrwr draft write`. Empty means `name`.",
        example="gpt-6-sol",
    )
    base_url: str = declare_setting(
        "",
        "Address of the server. Empty means OpenAI itself, or Ollama on this machine.",
        example="http://127.0.0.1:1234/v1",
    )
    timeout: int = declare_setting(
        300,
        "Seconds that the server may be silent: before an answer begins, and in the"
        " middle of it.",
        low=1,
        high=3600,
    )
    answer_timeout: int = declare_setting(
        1800,
        "Seconds that a whole answer may take; a longer one is cut off.",
        low=1,
        high=86_400,
    )
    answer_tokens: int = declare_setting(
        16_000,
        "Length of the longest answer, in tokens; a longer one is cut off.",
        low=100,
        high=100_000,
    )
    plan_timeout: int = declare_setting(
        20,
        "Seconds to wait for the plan of an answer; after that, rules make the plan.",
        low=1,
        high=3600,
    )
    source_confidence: float = declare_setting(
        0.7,
        "How sure the model must be that an answer needs a source, such as the timeline,"
        " for it to be used. The model is told this number.",
        low=0,
        high=1,
    )
    name_confidence: float = declare_setting(
        0.6,
        "How sure the model must be that a question means a name, for it to be looked"
        " up. The model is told this number.",
        low=0,
        high=1,
    )
    steps: int = declare_setting(
        10,
        "How many searches and chapters a model may look up before it answers; 0"
        " means none.",
        low=0,
        high=10,
    )
    concurrency: int = declare_setting(
        4, "How many requests run at the same time.", low=1, high=64
    )
    requests_per_minute: int = declare_setting(
        0,
        "How many requests are sent in a minute at most; 0 means no limit.",
        low=0,
        high=10_000,
    )
    reasoning_effort: Literal["auto", "none", "low", "medium", "high"] = (
        declare_setting(
            "auto",
            "How long the model thinks before it answers; longer costs more. auto means"
            " none with OpenAI's newer models, and the model's own default otherwise.",
        )
    )
    budget: float = declare_setting(
        0.0,
        "The most that a run may cost, in US dollars; 0 means no limit. Ingesting stops"
        " before it costs more; the results so far are stored. A chat is one run: when"
        " its budget is used up, answers consist of quotations.",
        low=0,
        high=10_000,
    )
    prices: tuple[str, ...] = declare_setting(
        (),
        "Prices of models that lrwr does not know, or that changed: the model, then"
        " US dollars for a million tokens of input and for a million tokens of output.",
        example=("gpt-6-luna 0.10 0.50",),
    )


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Settings `answer.*`: the material from which a language model answers."""

    context_tokens: int = declare_setting(
        0,
        "How many tokens of outline, passages and facts a language model gets for one"
        " answer. More costs more, and a local server must have room for it. 0 means"
        " 8000 with a local model and 24000 with OpenAI.",
        low=0,
        high=400_000,
    )

    def budget_context(self, *, hosted: bool) -> int:
        """Return the tokens of material in a prompt: the setting, or the default for a
        `hosted` or a local model.
        """
        return self.context_tokens or (24_000 if hosted else 8_000)


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Settings `web.*`: web search for facts outside the manuscript."""

    use: Literal["off", "tavily"] = declare_setting(
        "off",
        "Web search for facts outside your manuscript, such as other books, people and"
        " craft: off; or Tavily, which receives a short query without the names in your"
        " manuscript.",
    )
    results: int = declare_setting(
        4, "How many web pages an answer may use.", low=1, high=10
    )
    timeout: int = declare_setting(
        15, "Seconds to wait for a web search.", low=1, high=120
    )
    base_url: str = declare_setting(
        "",
        "Address of the service. Empty means Tavily itself.",
        example="http://127.0.0.1:8765",
    )


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """Settings `records.*`: where library data and threads are stored."""

    keeper: Literal["embedded", "supabase"] = declare_setting(
        "embedded",
        "Where the library, with your threads (saved conversations), is stored: in a"
        " file on this machine; or in your Supabase project, with a copy on this machine. Move"
        " a library there with `lrwr push` first, or back with `lrwr pull`.",
    )
    files: bool = declare_setting(
        True,
        "Whether the Supabase project also stores the manuscript's files, for `lrwr"
        " pull` on another machine.",
    )


@dataclass(frozen=True, slots=True)
class SupabaseSettings:
    """Settings `supabase.*`: the Supabase project for `lrwr login`, `push` and
    `pull`.
    """

    url: str = declare_setting(
        "",
        "Address of your Supabase project, for `lrwr login`, `lrwr push` and `lrwr"
        " pull`. The address alone stores nothing there.",
        example="https://abcdefghijkl.supabase.co",
    )
    timeout: int = declare_setting(
        20, "Seconds to wait for the project.", low=1, high=300
    )


@dataclass(frozen=True, slots=True)
class TracesSettings:
    """Settings `traces.*`: traces of turns, ingestions and evaluations."""

    keeper: Literal["off", "langsmith"] = declare_setting(
        "off",
        "Where traces are stored, with the steps of each turn and each ingest,"
        " their times, and the results of `lrwr eval`: nowhere; or at LangSmith, which"
        " receives them.",
    )
    texts: bool = declare_setting(
        False,
        "Whether traces contain your questions, the answers, the cited passages and"
        " file names. Otherwise they contain only names of steps and models, counts,"
        " times and ids. Set this in your own file or as a variable; a library's file"
        " cannot turn it on.",
    )
    project: str = declare_setting(
        "lrwr", "The LangSmith project that stores the traces."
    )
    base_url: str = declare_setting(
        "",
        "Address of the service. Empty means LangSmith itself, in the United States.",
        example="https://eu.api.smith.langchain.com",
    )
    timeout: int = declare_setting(
        10,
        "Seconds to wait for LangSmith. lrwr waits for it only at the end of a command.",
        low=1,
        high=120,
    )


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Settings `ingest.*`: where `lrwr ingest` processes documents."""

    runner: Literal["local", "modal"] = declare_setting(
        "local",
        "Where `lrwr ingest` processes documents: on this machine; or in containers"
        " at Modal, to which the files are sent. `--remote` means Modal for one run.",
    )
    containers: int = declare_setting(
        10, "How many containers at Modal run at the same time.", low=1, high=100
    )
    timeout: int = declare_setting(
        20,
        "Seconds to wait for a response from Modal. Processing a document may take longer.",
        low=1,
        high=600,
    )
    app: str = declare_setting(
        "lrwr", "Name of the Modal app that `lrwr deploy modal` creates."
    )
    base_url: str = declare_setting(
        "",
        "Address of Modal. Empty means Modal's own address.",
        example="http://127.0.0.1:8767",
    )
