"""Opens the services that commands use, and asks and tells the user about them."""

import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from os.path import normpath
from pathlib import Path
from types import MappingProxyType

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.egress import (
    announce_first_uses,
    pending_consents,
    record_consent,
)
from lrwr.app.presenters.text import (
    describe_changed_files,
    format_count,
    format_tokens_and_price,
    sanitize_line,
)
from lrwr.cli.runtime.output import AdvanceProgress, Output
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.jobs import (
    ChunksEmbedded,
    DocumentFinished,
    DocumentsPending,
    IngestEvent,
    IngestPlanned,
    JobStage,
    StageStarted,
)
from lrwr.core.model.language_model import Usage
from lrwr.core.retrieval.freshness import find_changed_files
from lrwr.core.settings.model import Settings

MODEL_SERVICES = ("openai", "model-server")
"""Services that a language model may run on."""
SEARCH_SERVICES = ("openai-embeddings", "embedding-server", "qdrant", "cohere")
"""Services that may receive the words of a search."""
INGEST_SERVICES = ("openai-embeddings", "embedding-server", "supabase", "langsmith")
"""Services that may receive the manuscript during an ingest, whatever the pipeline."""
ANSWER_SERVICES = (
    *MODEL_SERVICES,
    "tavily",
    *SEARCH_SERVICES,
    "supabase",
    "langsmith",
)
"""Services that may receive a question or the passages found for it."""
STAGE_LABELS: Mapping[JobStage, str] = MappingProxyType(
    {
        JobStage.READ: "Reading",
        JobStage.SPLIT: "Splitting into passages",
        JobStage.ANALYSE: "Finding names and facts",
        JobStage.EMBED: "Embedding passages",
        JobStage.STORE: "Storing",
    }
)
"""What is being done with the only document of an ingestion."""
ATTRIBUTING = "Finding characters and speakers"
_YES = frozenset({"y", "yes"})


def select_text(
    settings: Settings,
    output: Output,
    book: str | None,
    as_of: str | None,
    *,
    whole: bool,
) -> tuple[Settings, str | None]:
    """Return the settings and the horizon of what the user asks about: the manuscript,
    or with `book` an e-book up to the reader's position; with `whole` all of it.

    Raises:
        SettingsProblem: The options contradict each other.
        NotFound: There is no such book.
    """
    if book is None:
        if whole:
            raise SettingsProblem(
                "`--whole` needs `--book`", hint="Leave it out, or add `--book`."
            )
        return settings, as_of
    if as_of is not None:
        raise SettingsProblem(
            "`--book` and `--as-of` cannot be combined",
            hint="The position of the book decides; change it with `lrwr read --at`.",
        )
    if whole:
        output.info("Using the whole book, also after your position.")
    # Imported here: only a book needs the shelf.
    from lrwr.app.books import select_book

    return select_book(settings, book, whole=whole)


@asynccontextmanager
async def open_search_services(
    settings: Settings, output: Output, *, as_json: bool
) -> AsyncIterator[Workspace]:
    """Yield the workspace for a search; close it on exit.

    First, the user is asked for missing consents and informed about services that are
    used for the first time. With `as_json`, nobody is asked. A library that only
    pipeline a has ingested is searched with pipeline a, after a notice. At the end, the
    cost of reranking by a language model is printed.

    Raises:
        NotFound: There is no library, or only pipeline b ingested something and
            pipeline a is configured.
    """
    async with AsyncExitStack() as stack:
        workspace = await stack.enter_async_context(
            open_workspace(settings, say=output.info)
        )
        if await _has_only_pipeline_a(workspace):
            output.info("Only pipeline a has ingested this library: searching with it.")
            await stack.aclose()
            workspace = await stack.enter_async_context(
                open_workspace(
                    replace(settings, pipeline=Pipeline.NAIVE), say=output.info
                )
            )
        await require_passages(workspace)
        names: tuple[str, ...] = SEARCH_SERVICES
        if settings.rerank.model == "model" and settings.model.use != "off":
            names = (*MODEL_SERVICES, *names)
        prompt_for_consent(workspace, output, *names, as_json=as_json)
        announce_first_use(workspace, output, *names)
        yield workspace
        if settings.rerank.model == "model":
            _show_ranking_cost(workspace, output)


@asynccontextmanager
async def open_story_services(
    settings: Settings, output: Output
) -> AsyncIterator[Workspace]:
    """Yield the workspace for a command that reads the whole story; close it on exit.

    First, a warning is printed if files of ingested documents are missing or changed.

    Raises:
        NotFound: There is no library, or it has no text.
    """
    async with open_workspace(settings, say=output.info) as workspace:
        await workspace.require_text()
        documents = [outline.id for outline in await workspace.passages.outlines()]
        await warn_of_outdated_files(workspace, documents, output.warn)
        yield workspace


def _show_ranking_cost(workspace: Workspace, output: Output) -> None:
    """Print what reranking by the language model took, if it ran."""
    ranker = workspace.retrieval.ranker
    usage, dollars = ranker.take_cost() if ranker is not None else (Usage(), None)
    if usage.calls:
        cost = format_tokens_and_price(usage, dollars, about=True)
        output.info(f"{format_count(usage.calls, 'call')}: {cost}.")


async def _has_only_pipeline_a(workspace: Workspace) -> bool:
    if workspace.settings.pipeline is Pipeline.NAIVE:
        return False
    if (await workspace.passages.counts(Pipeline.AGENTIC)).documents:
        return False
    return (await workspace.passages.counts(Pipeline.NAIVE)).documents > 0


async def require_passages(workspace: Workspace) -> None:
    """Raise an error unless the configured pipeline ingested text.

    Otherwise a search would report that the text does not contain a word it contains.

    Raises:
        NotFound: There is no library, it has no text, or only the other pipeline
            ingested something.
    """
    await workspace.require_text()
    pipeline = workspace.settings.pipeline
    counts = {
        candidate: await workspace.passages.counts(candidate) for candidate in Pipeline
    }
    others = [
        candidate
        for candidate in Pipeline
        if candidate is not pipeline and counts[candidate].documents
    ]
    if counts[pipeline].documents or not others:
        return
    raise NotFound(
        f"This library was ingested with pipeline {others[0]}, not with pipeline"
        f" {pipeline}",
        hint=f"Run `lrwr ingest --pipeline {pipeline}`; this deletes nothing.",
    )


def prompt_for_consent(
    workspace: Workspace,
    output: Output,
    *names: str,
    as_json: bool,
    by_address: bool = False,
) -> None:
    """Ask the user for consent to services that only settings in this folder turn on,
    or with `by_address` of which they only name the address.

    `names` are keys of `CONSENT_SERVICES`. Each is asked for once per folder. Without a
    terminal, or with `as_json`, nothing is asked and the services stay unused.

    Raises:
        StoreProblem: The answer cannot be stored.
    """
    if as_json or not can_prompt():
        return
    for request in pending_consents(workspace.egress, names, by_address=by_address):
        output.info(request.question)
        allowed = ask_yes_no(output, "Allow it for this folder? [y/N]")
        if allowed is None:
            continue
        record_consent(workspace.egress, request.name, allowed=allowed)
        other = "deny" if allowed else "allow"
        output.info(f"To change this: `lrwr privacy {other} {request.name}`.")


def ask_yes_no(output: Output, question: str) -> bool | None:
    """Print `question` and return whether the user types yes; None at end of input."""
    output.info(question)
    line = sys.stdin.readline(100)
    return line.strip().lower() in _YES if line else None


async def warn_of_outdated_files(
    workspace: Workspace,
    documents: Collection[DocumentId],
    say: Callable[[str], None] | None,
) -> list[str]:
    """Give `say`, unless None, one sentence if files of some of `documents` are missing,
    and one if some have changed since they were ingested; return the latter, if any.

    Only missing documents inside the manuscript's folders count: others may have been
    ingested on another machine.

    Raises:
        StoreProblem: The library cannot be read.
    """
    changed = await find_changed_files(
        workspace.versions,
        workspace.settings.pipeline,
        workspace.library.root,
        documents,
    )
    changes = describe_changed_files(changed)
    missing = _describe_missing_files(workspace, documents)
    if say is not None:
        for sentence in filter(None, (changes, missing)):
            say(sentence)
    return [changes] if changes else []


def _describe_missing_files(
    workspace: Workspace, documents: Collection[DocumentId]
) -> str:
    folders, library = workspace.manuscript(named=True), workspace.library
    paths = {d: Path(normpath(library.root / d)) for d in documents}
    missing = [
        document
        for document, path in sorted(paths.items())
        if any(map(path.is_relative_to, folders)) and not path.exists()
    ]
    if not missing:
        return ""
    more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
    are = "are" if more else "is"
    return (
        f"{sanitize_line(missing[0])}{more} {are} missing; what is shown is the text"
        " of the last ingest. Run `lrwr status`."
    )


def announce_first_use(workspace: Workspace, output: Output, *names: str) -> None:
    """Print what data a service receives, if this library uses it for the first time.

    `names` are keys of `CONSENT_SERVICES`.
    """
    announce_first_uses(workspace.egress, names, output.info)


def create_progress_listener(
    advance: AdvanceProgress, output: Output
) -> Callable[[IngestEvent], None]:
    """Return a function that receives the events of an ingestion.

    It calls `advance` for each finished document, or if there is only one, for its
    stages and embedded passages. It prints, once, that another run of lrwr is using the
    library.
    """
    has_announced_wait = is_single = False

    def listen(event: IngestEvent) -> None:
        nonlocal has_announced_wait, is_single
        match event:
            case IngestPlanned():
                is_single = (event.process, event.forget) == (1, 0)
                advance(0, None if is_single else event.process + event.forget)
            case StageStarted() if is_single:
                advance(0, event.chunks or None, STAGE_LABELS[event.stage])
            case ChunksEmbedded() if is_single:
                advance(event.chunks)
            case DocumentFinished():
                advance(*((0, None, ATTRIBUTING) if is_single else (1,)))
            case DocumentsPending() if not has_announced_wait:
                has_announced_wait = True
                documents = format_count(event.documents, "document")
                output.info(f"Waiting for another lrwr process to finish {documents}.")
            case _:
                pass

    return listen


def can_prompt() -> bool:
    """Return whether a question can be asked on a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()
