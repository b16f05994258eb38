"""The settings themselves, with `finding`. Everything else about settings is made from
them: what a file may say, `lrwr.toml.example`, and `lrwr config show`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal

from lrwr.core.model.chunks import Pipeline
from lrwr.core.settings.model_retrieval import (
    ChunkSettings,
    EmbeddingSettings,
    RerankSettings,
    SearchSettings,
    VectorSettings,
)
from lrwr.core.settings.model_services import (
    IngestSettings,
    RecordSettings,
    SupabaseSettings,
    TracesSettings,
)
from lrwr.core.settings.schema import Setting, declare_setting, iterate_settings


class SettingSource(StrEnum):
    """Where a value came from; a later one wins over an earlier one."""

    DEFAULT = "default"
    USER = "user file"
    LIBRARY = "lrwr.toml"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """Where one value came from.

    `where` is `file:line`, the variable or the setting a flag stands for; empty for
    a default.
    """

    source: SettingSource = SettingSource.DEFAULT
    where: str = ""


@dataclass(frozen=True, slots=True)
class ManuscriptSettings:
    """Which files are the manuscript, and in what order they tell the story."""

    folders: tuple[str, ...] = declare_setting(
        (),
        "Folders and files that hold the manuscript and the notes, inside the"
        " library's folder. Empty means those that `lrwr ingest` was given so far.",
        per_library=True,
        example=("manuscript", "notes"),
    )
    exclude: tuple[str, ...] = declare_setting(
        (),
        "Files to leave out, written as in a .gitignore.",
        example=("drafts/", "*.old.md"),
    )
    order: tuple[str, ...] = declare_setting(
        (),
        "Story order: paths or patterns, first to last, relative to the library's"
        " folder. What is not named follows, sorted by path; `order:` in a file's front"
        " matter wins.",
        per_library=True,
        example=("manuscript/prologue.md", "manuscript/part-1/*.md"),
    )


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
class WatchSettings:
    """How `lrwr watch` keeps up with what is written."""

    debounce: int = declare_setting(
        200,
        "How many milliseconds files must be at rest before a save is read.",
        low=10,
        high=60_000,
    )
    sweep: int = declare_setting(
        60,
        "How many seconds pass between two looks at all files, for what the system did"
        " not tell.",
        low=1,
        high=86_400,
    )
    model: Literal["on-save", "idle", "manual"] = declare_setting(
        "manual",
        "When a language model that is turned on reads what changed: at each save; once"
        " nothing has changed for `idle` seconds; or never, and `lrwr ingest` asks it.",
    )
    idle: int = declare_setting(
        120,
        "How many seconds nothing may have changed before a language model reads.",
        low=1,
        high=86_400,
    )
    calls: int = declare_setting(
        20,
        "How many calls of a language model a save, or a quiet time, may make at most.",
        low=1,
        high=10_000,
    )


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """How the writing room, `lrwr chat`, looks and listens."""

    theme: str = declare_setting(
        "auto",
        "Its colours: auto, which follows the terminal where that tells; dark; light;"
        " or any theme that its command palette lists.",
        example="light",
    )
    side: int = declare_setting(
        42,
        "How many hundredths of a wide terminal the pane beside the conversation has.",
        low=20,
        high=70,
    )
    keys: tuple[str, ...] = declare_setting(
        (),
        "Keys that you want otherwise: the name of what they do, as F1 shows it, then"
        " the keys, with commas between.",
        example=("room.characters f2,ctrl+o",),
    )


@dataclass(frozen=True, slots=True)
class OutputSettings:
    """How lrwr writes to the terminal."""

    color: Literal["auto", "always", "never"] = declare_setting(
        "auto",
        "Whether the output is coloured; auto means on a terminal, unless NO_COLOR is"
        " set.",
    )
    progress: bool = declare_setting(
        True, "Whether long work shows a progress bar on a terminal."
    )
    pager: bool = declare_setting(
        True,
        "Whether an answer that is longer than the terminal is shown a screen at a"
        " time, with the program that PAGER names.",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that was set for one run, and where each value came from.

    `root` is the library's folder, absolute. `origins` is keyed by dotted name and
    says nothing of defaults. `warnings` are sentences for the writer.
    """

    root: Path
    pipeline: Literal[Pipeline.NAIVE, Pipeline.AGENTIC] = declare_setting(
        Pipeline.AGENTIC,
        "The recipe that turns the manuscript into passages: a cuts it by size; b"
        " where the meaning turns, and learns who and what is in the story.",
    )
    state_dir: str = declare_setting(
        ".lrwr",
        "Where lrwr keeps what it knows, relative to the library's folder; `~` is your"
        " home folder. Name a folder that no sync service and no network holds.",
        example="~/.local/share/lrwr/my-novel",
    )
    manuscript: ManuscriptSettings = field(default_factory=ManuscriptSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    ingest: IngestSettings = field(default_factory=IngestSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    web: WebSettings = field(default_factory=WebSettings)
    records: RecordSettings = field(default_factory=RecordSettings)
    supabase: SupabaseSettings = field(default_factory=SupabaseSettings)
    traces: TracesSettings = field(default_factory=TracesSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def value(self, key: str) -> object:
        """Return the value of the setting with this dotted name."""
        value: object = self
        for name in key.split("."):
            value = getattr(value, name)
        return value

    def origin(self, key: str) -> SettingOrigin:
        """Return where the value of the setting with this dotted name came from."""
        return self.origins.get(key, SettingOrigin())


@cache
def index_settings() -> Mapping[str, Setting]:
    """Return every setting by its dotted name, in the order of this file."""
    return {setting.key: setting for setting in iterate_settings(Settings)}
