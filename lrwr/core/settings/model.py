"""The settings of lrwr, with descriptions.

The parser of settings files, `lrwr.toml.example` and `lrwr config show` are all
derived from these declarations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal

from lrwr.core.model.choices import Pipeline
from lrwr.core.settings.model_services import (
    AnswerSettings,
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
    """Settings `embedding.*`: the embedding model, which turns text into vectors."""

    model: Literal["local", "openai", "server", "fastembed", "off"] = declare_setting(
        "local",
        "The embedding model, which turns text into vectors: a small model on this"
        " machine; an OpenAI model (your whole text is sent to OpenAI); a model on"
        " your own server; another model on this machine, by the package fastembed; or off, so that search uses words only.",
    )
    name: str = declare_setting(
        "",
        "The model's name, as its server calls it. Empty means text-embedding-3-small"
        " with OpenAI, and BAAI/bge-small-en-v1.5 with fastembed; with your own server"
        " it is required.",
        example="text-embedding-3-small",
    )
    base_url: str = declare_setting(
        "",
        "Address of the server. Empty means OpenAI itself, or Ollama on this machine;"
        " with fastembed, Hugging Face, from which its models are downloaded.",
        example="http://127.0.0.1:1234/v1",
    )
    dimensions: int = declare_setting(
        0,
        "How many numbers a vector has. 0 means the default of OpenAI's model; with"
        " your own server it is required.",
        low=0,
        high=8192,
    )
    timeout: int = declare_setting(
        60, "Seconds to wait for one request to a server.", low=1, high=3600
    )
    folder: str = declare_setting(
        "",
        "A folder with another local model: `model.onnx` and `tokenizer.json`. Empty"
        " means the model that comes with lrwr.",
        example="~/models/my-embedder",
    )
    threads: int = declare_setting(
        0,
        "Processor threads of the local model; 0 means every core, at most 8.",
        low=0,
        high=64,
    )
    query_prefix: str = declare_setting(
        "auto",
        "Text that a model in `folder`, of fastembed or on your own server expects before"
        " a question."
        " auto means what is known for the model's name, for example for"
        " nomic-embed-text, bge, e5, mxbai, qwen3-embedding and embeddinggemma.",
        example="query: ",
    )
    passage_prefix: str = declare_setting(
        "auto",
        "The same before a passage. A change embeds everything again.",
        example="passage: ",
    )
    pooling: Literal["auto", "mean", "cls", "last"] = declare_setting(
        "auto",
        "How a model in `folder` makes one vector of its tokens: their mean, the first"
        " one (cls) or the last one. auto means what is known for the folder's name,"
        " else the mean.",
    )
    max_tokens: int = declare_setting(
        0,
        "How many tokens a model in `folder` or on your own server reads; the rest of a"
        " text is cut off. 0 means what is known for the model's name, else 512 for a"
        " folder and no limit for a server.",
        low=0,
        high=32_768,
    )


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """Settings `vectors.*`: where the vectors of passages are stored."""

    keeper: Literal["embedded", "qdrant"] = declare_setting(
        "embedded",
        "Where the vectors of passages are stored and compared: by lrwr on this"
        " machine; or by a Qdrant server, which receives vectors and no text.",
    )
    url: str = declare_setting(
        "",
        "Address of the Qdrant server; the default port is 6333. Empty means this"
        " machine.",
        example="https://my-cluster.cloud.qdrant.io:6333",
    )
    timeout: int = declare_setting(
        15,
        "Seconds to wait for one request to the Qdrant server.",
        low=1,
        high=300,
    )


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Settings `rerank.*`: how the top results of a search are reranked."""

    model: Literal["late-interaction", "cohere", "model", "off"] = declare_setting(
        "late-interaction",
        "What reranks the top results of a search: the local model, word by word;"
        " Cohere (your question and the top results are sent to it); the language model"
        " of `[model]`, which orders the first 20 in one call, after the local model; or"
        " off.",
    )
    cohere_model: str = declare_setting(
        "rerank-v5.0-fast",
        "The Cohere model.",
        example="rerank-english-v3.0",
    )
    candidates: int = declare_setting(
        0,
        "How many top results are reranked; more is slower. 0 means 20 with the local"
        " model and 50 with Cohere.",
        low=0,
        high=100,
    )
    base_url: str = declare_setting(
        "",
        "Address of the service. Empty means Cohere itself.",
        example="http://127.0.0.1:8766",
    )
    timeout: int = declare_setting(
        15, "Seconds to wait for Cohere or the language model.", low=1, high=3600
    )

    @property
    def candidate_count(self) -> int:
        """The number of top results to rerank: the setting, or the default of the
        reranker.
        """
        return self.candidates or (50 if self.model == "cohere" else 20)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings `search.*`: how many passages a search shows."""

    limit: int = declare_setting(
        8, "How many passages a search shows at most.", low=1, high=100
    )


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Settings `chunk.*`: how the text is divided into passages."""

    size: int = declare_setting(
        500,
        "Length of the longest passage of pipeline a, in tokens of the embedding"
        " model.",
        low=64,
        high=510,
    )
    overlap: int = declare_setting(
        50,
        "How many tokens of a passage of pipeline a are repeated at the start of the"
        " next one; at most half of `size`.",
        low=0,
        high=255,
    )
    smallest: int = declare_setting(
        200,
        "Length of the shortest passage of pipeline b, in tokens, where the text"
        " allows it; at most half of `largest`.",
        low=20,
        high=250,
    )
    largest: int = declare_setting(
        440,
        "Length of the longest passage of pipeline b, in tokens of the embedding"
        " model.",
        low=64,
        high=440,
    )


@dataclass(frozen=True, slots=True)
class DraftSettings:
    """Settings `draft.*`: plans and drafts of scenes, `lrwr draft`."""

    folder: str = declare_setting(
        "drafts",
        "The folder for the board, plans and drafts of scenes, relative to the library's"
        " folder. lrwr creates it; it is never read as manuscript.",
        per_library=True,
        example="lrwr-drafts",
    )
    stride: Literal["scene", "beat"] = declare_setting(
        "scene",
        "How much of a scene a language model writes with one call in `lrwr draft"
        " write`: all of it, or one beat of its card.",
    )
    rounds: int = declare_setting(
        1,
        "How many times a proposal is checked again and revised by a language model, if"
        " its check finds something.",
        low=0,
        high=3,
    )


class SettingSource(StrEnum):
    """Where the value of a setting comes from.

    From weakest to strongest: default, the user's file, `lrwr.toml`, environment,
    option.
    """

    DEFAULT = "default"
    USER = "user file"
    LIBRARY = "lrwr.toml"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """Where the value of one setting comes from.

    `where` is `file:line`, the environment variable, or the key that a command-line
    option sets; empty for a default.
    """

    source: SettingSource = SettingSource.DEFAULT
    where: str = ""


@dataclass(frozen=True, slots=True)
class ManuscriptSettings:
    """Settings `manuscript.*`: which files belong to the manuscript, and their story
    order.
    """

    folders: tuple[str, ...] = declare_setting(
        (),
        "Folders and files with the manuscript and the notes, inside the library's"
        " folder. Empty means the paths of earlier `lrwr ingest` commands.",
        per_library=True,
        example=("manuscript", "notes"),
    )
    exclude: tuple[str, ...] = declare_setting(
        (),
        "Files to skip, written as in a .gitignore.",
        example=("drafts/", "*.old.md"),
    )
    order: tuple[str, ...] = declare_setting(
        (),
        "Story order: paths or patterns, first to last, relative to the library's"
        " folder. Files that match none follow, sorted by path. `order:` in a file's"
        " front matter wins.",
        per_library=True,
        example=("manuscript/prologue.md", "manuscript/part-1/*.md"),
    )


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Settings `watch.*`: how `lrwr watch` reacts to saves."""

    debounce: int = declare_setting(
        200,
        "How many milliseconds files must be unchanged before a save is read.",
        low=10,
        high=60_000,
    )
    sweep: int = declare_setting(
        60,
        "Seconds between two checks of all files, for saves that the system did not"
        " report.",
        low=1,
        high=86_400,
    )
    model: Literal["on-save", "idle", "manual"] = declare_setting(
        "manual",
        "When a configured language model reads changes: at each save; when nothing"
        " has changed for `idle` seconds; or never, so that only `lrwr ingest` uses"
        " it.",
    )
    idle: int = declare_setting(
        120,
        "Seconds without a change before a language model reads.",
        low=1,
        high=86_400,
    )
    calls: int = declare_setting(
        20,
        "How many requests to a language model one save, or one idle period, may make.",
        low=1,
        high=10_000,
    )


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """Settings `screen.*`: appearance and keys of the terminal interface, `lrwr
    chat`.
    """

    theme: str = declare_setting(
        "auto",
        "Colours of `lrwr chat`: auto, which follows the terminal where it reports"
        " its colours; dark; light; or any theme listed in the command palette.",
        example="light",
    )
    side: int = declare_setting(
        42,
        "Width of the side pane on a wide terminal, in percent.",
        low=20,
        high=70,
    )
    keys: tuple[str, ...] = declare_setting(
        (),
        "Your own keys: the name of an action, as F1 shows it, then its keys,"
        " separated by commas.",
        example=("room.characters f2,ctrl+o",),
    )


@dataclass(frozen=True, slots=True)
class OutputSettings:
    """Settings `output.*`: colours, hyperlinks, progress bars and pager of commands."""

    color: Literal["auto", "always", "never"] = declare_setting(
        "auto",
        "Whether output has colours; auto means on a terminal, unless NO_COLOR is set.",
    )
    progress: bool = declare_setting(
        True, "Whether long work shows a progress bar on a terminal."
    )
    pager: bool = declare_setting(
        True,
        "Whether an answer longer than the terminal opens in the program that PAGER"
        " names, else in less; `lrwr --no-pager` turns it off for one command.",
    )
    hyperlinks: Literal["auto", "always", "never"] = declare_setting(
        "auto",
        "Whether locations are links to their files; auto means in terminals that are"
        " known to show links. There are none without colours and in the pager.",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one run, and where each value comes from.

    `root` is the library's folder, absolute. `origins` maps keys such as `search.limit`
    to sources; settings with their default are not in it. `warnings` are sentences to
    show to the user. `is_of_book` says that the library is that of an e-book.
    """

    root: Path
    pipeline: Literal[Pipeline.NAIVE, Pipeline.AGENTIC] = declare_setting(
        Pipeline.AGENTIC,
        "How the manuscript is divided into passages: a cuts fixed-size passages; b"
        " cuts where the meaning changes and collects data about the story, such as"
        " characters and settings.",
    )
    state_dir: str = declare_setting(
        ".lrwr",
        "Where lrwr stores its data, relative to the library's folder; `~` is your"
        " home folder. Choose a folder that is not synced and not on a network drive.",
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
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    web: WebSettings = field(default_factory=WebSettings)
    records: RecordSettings = field(default_factory=RecordSettings)
    supabase: SupabaseSettings = field(default_factory=SupabaseSettings)
    traces: TracesSettings = field(default_factory=TracesSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    draft: DraftSettings = field(default_factory=DraftSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_of_book: bool = False

    def value(self, key: str) -> object:
        """Return the value of the setting `key`, such as `search.limit`.

        Raises:
            AttributeError: There is no such setting.
        """
        value: object = self
        for name in key.split("."):
            value = getattr(value, name)
        return value

    def origin(self, key: str) -> SettingOrigin:
        """Return where the value of the setting `key`, such as `search.limit`, comes
        from; for a default or an unknown key, an origin with the source "default".
        """
        return self.origins.get(key, SettingOrigin())


@cache
def index_settings() -> Mapping[str, Setting]:
    """Return every setting by its key, such as `search.limit`, in the order of
    declaration.

    The result is cached and shared.
    """
    return {setting.key: setting for setting in iterate_settings(Settings)}
