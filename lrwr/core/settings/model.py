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
from lrwr.core.settings.model_services import (
    IngestSettings,
    ModelSettings,
    RecordSettings,
    SupabaseSettings,
    TracesSettings,
    WebSettings,
)
from lrwr.core.settings.schema import Setting, declare_setting, iterate_settings

DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small"
"""The model of OpenAI's that embeds where none is named."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """How passages are compared by meaning."""

    model: Literal["local", "openai", "server", "off"] = declare_setting(
        "local",
        "Who turns text into vectors: a small model on this machine; one of OpenAI's, to"
        " which your whole text is then sent; one that a server of your own runs; or"
        " nobody, and a search goes by words alone.",
    )
    name: str = declare_setting(
        "",
        "The model, as its server calls it. Empty means text-embedding-3-small with"
        " OpenAI; that of a server must be named.",
        example="text-embedding-3-small",
    )
    base_url: str = declare_setting(
        "",
        "Where the server is. Empty means OpenAI itself, or Ollama on this machine.",
        example="http://127.0.0.1:1234/v1",
    )
    dimensions: int = declare_setting(
        0,
        "How many numbers a vector has. 0 means as many as OpenAI's model gives; for a"
        " model of a server it must be set.",
        low=0,
        high=8192,
    )
    timeout: int = declare_setting(
        60, "How many seconds a server may take for one request.", low=1, high=3600
    )
    folder: str = declare_setting(
        "",
        "A folder with another local model: `model.onnx` and `tokenizer.json`. Empty"
        " means the model that comes with lrwr.",
        example="~/models/my-embedder",
    )
    threads: int = declare_setting(
        0,
        "Processor threads the local model may use; 0 means every core, at most 8.",
        low=0,
        high=64,
    )


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """Who keeps what passages are compared by."""

    keeper: Literal["embedded", "qdrant"] = declare_setting(
        "embedded",
        "Who keeps the vectors of passages and compares them: lrwr itself, on this"
        " machine; or a Qdrant server, to which vectors are sent, and no text.",
    )
    url: str = declare_setting(
        "",
        "Where the Qdrant server is; without a port, 6333 is meant. Empty means this"
        " machine.",
        example="https://my-cluster.cloud.qdrant.io:6333",
    )
    timeout: int = declare_setting(
        15,
        "How many seconds the Qdrant server may take for a request.",
        low=1,
        high=300,
    )


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """How the best candidates of a search are put in their final order."""

    model: Literal["late-interaction", "cohere", "off"] = declare_setting(
        "late-interaction",
        "Who looks at the best candidates once more: the local model, word by word;"
        " Cohere, to which your question and the candidates are then sent; or nobody.",
    )
    cohere_model: str = declare_setting(
        "rerank-v5.0-fast",
        "Which model of Cohere's.",
        example="rerank-english-v3.0",
    )
    candidates: int = declare_setting(
        0,
        "How many candidates are looked at once more; more is slower. 0 means 20 by the"
        " local model and 50 by Cohere.",
        low=0,
        high=100,
    )
    base_url: str = declare_setting(
        "",
        "Where Cohere's service is. Empty means Cohere itself.",
        example="http://127.0.0.1:8766",
    )
    timeout: int = declare_setting(
        15, "How many seconds Cohere may take to answer.", low=1, high=120
    )

    @property
    def looked_at(self) -> int:
        """How many candidates are looked at once more."""
        return self.candidates or (50 if self.model == "cohere" else 20)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search gives back."""

    limit: int = declare_setting(
        8, "How many passages a search shows at most.", low=1, high=100
    )


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How the text is cut into passages."""

    size: int = declare_setting(
        500,
        "The longest passage of pipeline a, in tokens of the embedding model.",
        low=64,
        high=510,
    )
    overlap: int = declare_setting(
        50,
        "How many tokens of a passage pipeline a repeats at the start of the next; at"
        " most half of `size`.",
        low=0,
        high=255,
    )
    smallest: int = declare_setting(
        200,
        "How many tokens a passage of pipeline b should have at least; at most half of"
        " `largest`.",
        low=20,
        high=250,
    )
    largest: int = declare_setting(
        440,
        "The longest passage of pipeline b, in tokens of the embedding model.",
        low=64,
        high=440,
    )


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
