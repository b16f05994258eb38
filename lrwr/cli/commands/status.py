"""`lrwr status`, `lrwr jobs`, and what `lrwr` prints without a command."""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Annotated

import typer

from lrwr.app.container import Workspace, open_workspace
from lrwr.app.history import FindingLog, load_finding_log, parse_since
from lrwr.app.maintenance.automatic_backup import (
    describe_known_damage,
    load_newest_backup,
)
from lrwr.app.maintenance.check_result import end_with_full_stop
from lrwr.app.pending_changes import (
    MAX_JOBS,
    count_unreadable,
    create_scanner,
    has_pending_names,
    is_model_allowed,
    load_identical_documents,
)
from lrwr.app.presenters.text import (
    TURN_ON_MODEL,
    LinePiece,
    StyledText,
    format_count,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption, declare_limit, parse_choice
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.model.chunks import describe_missing_vectors
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import FactAbout, list_reader_models
from lrwr.core.model.jobs import Job, JobState
from lrwr.core.ports.sources import SkipCause, SkippedFile
from lrwr.core.ports.stores import LibraryCounts
from lrwr.core.retrieval.story import StoryOrder, build_story_order
from lrwr.core.settings.chat_models import list_chat_models
from lrwr.core.settings.library import MOVED_HINT, resolve_library
from lrwr.core.settings.model import Settings
from lrwr.pipeline.changes import (
    DocumentChanges,
    describe_conflicted_documents,
    describe_missing_documents,
)
from lrwr.pipeline.scan import (
    describe_identical_documents,
    describe_post_documents,
    describe_shared_positions,
)

STATUS_EPILOG = "Examples: lrwr status · lrwr status --json"
JOBS_EPILOG = "Examples: lrwr jobs · lrwr jobs --state failed · lrwr jobs -n 100 --json"

NOT_RECORDED = "The location of the manuscript folder is not recorded"
_MAX_SKIPPED, _SHOWN_CHANGES = 20, 3
"""Skipped files and changed documents that are named."""
_USUAL_STEPS = (
    ('lrwr ask "…"', "answer a question, with citations"),
    ('lrwr search "…"', "find passages by their words and meaning"),
    ("lrwr chat", "open the screen: questions, passages, lists and a reader"),
    ("lrwr --help", "list all commands"),
)

app = typer.Typer()


def show_overview(context: typer.Context) -> None:
    """Print the state of the library and the commands to try next.

    Without a library, only the commands that start one are shown.
    """
    settings, output = start_session(context)
    library = resolve_library(settings)
    if not library.database.exists():
        output.answer(f"There is no library in {library.root} yet.")
        _show_next_steps(
            output,
            ("lrwr ingest FOLDER", "read your manuscript: .md, .docx and .txt files"),
            ("lrwr chat", "open the screen, which can read it, too"),
            ("lrwr --help", "list all commands"),
        )
        return
    facts = run_async(collect_status(settings, output.info))
    log = load_finding_log(library)
    print_status(facts, output)
    if log.checked:
        output.answer(log.describe(datetime.now().astimezone()))
    _show_next_steps(output, *_list_next_steps(facts, log), *_USUAL_STEPS)


def _list_next_steps(
    facts: dict[str, object], log: FindingLog
) -> Iterator[tuple[str, str]]:
    """Yield commands for what changed, for findings, and for the last thread."""
    if _count_readable_changes(facts) or facts["gone"] or facts["names_pending"]:
        yield "lrwr ingest", "process what changed"
    if _number(facts, "changed") or facts["gone"]:
        yield "lrwr diff", "see what the changes do to the story"
    newest = facts["newest"]
    written_at = newest if isinstance(newest, float) else 0.0
    new = log.list_since(parse_since("yesterday", datetime.now().astimezone()))
    if facts["documents"] and log.checked < written_at:
        since = "what you wrote since" if log.checked else "what you wrote"
        yield "lrwr check", f"look for contradictions in {since}"
    elif new:
        number = format_count(len(new), "contradiction")
        yield "lrwr check --since yesterday", f"see the {number} new since yesterday"
    elif log.open_ids:
        number = format_count(len(log.open_ids), "open contradiction")
        yield "lrwr check", f"see the {number}"
    if title := facts["last_thread"]:
        yield "lrwr chat --thread 1", f"go on with “{title}”"


def _show_next_steps(output: Output, *steps: tuple[str, str]) -> None:
    output.answer()
    command_width = max(len(command) for command, _ in steps)
    # 2 columns of margin and 2 between command and description.
    fits_on_line = (
        4 + command_width + max(len(meaning) for _, meaning in steps) <= output.width
    )
    for command, meaning in steps:
        command_text = StyledText(
            command.ljust(command_width) if fits_on_line else command, "strong"
        )
        line: list[LinePiece] = [command_text, f"  {meaning}" if fits_on_line else ""]
        output.answer(*line, indent=2)
        if not fits_on_line:
            output.answer(meaning, indent=6)


@app.command("status", epilog=STATUS_EPILOG)
def status_command(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show what the library holds and what has changed."""
    settings, output = start_session(context)
    facts = run_async(collect_status(settings, output.info))
    if as_json:
        output.json(facts)
    else:
        print_status(facts, output)


async def collect_status(
    settings: Settings, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the contents of the library and the changes to ingest, as for `--json`.

    `changed` and `gone` count the documents that an ingestion would process or delete;
    `changed_documents` lists those with a new content;
    `missing` lists those without a file that it would not delete, because they are too
    many. They are found by file times and sizes; documents whose time or size differs
    are read, and no service is contacted. `conflicted` lists documents with git
    conflict markers. `skipped` lists conflict
    copies, folders that lrwr created, and files marked `lrwr: ignore`. `names_pending`
    is whether a decision about names waits for an ingestion. `backup` is the day of the
    newest automatic backup, as in 2026-11-23, or empty. `last_thread` is the title of
    the thread used last, or empty. `problem` is a sentence if the
    manuscript cannot be found, else empty. `embedded` counts the passages that the
    configured embedding model has embedded, `remarks` has a sentence if some are not, one
    if documents have the same `order`, and one if stored data is known to be damaged.
    `say` receives notices of the library.

    Raises:
        NotFound: Nothing has been ingested here.
        StoreProblem: The library cannot be read, or only `lrwr repair` can heal it.
    """
    async with open_workspace(settings, say=say) as workspace:
        workspace.require_library()
        folders = workspace.manuscript()
        counts = await workspace.passages.counts(settings.pipeline)
        order = await _load_order(workspace)
        read_by = await _list_readers(workspace) if counts.documents else ()
        changes, skipped = DocumentChanges((), (), (), ()), tuple[SkippedFile, ...]()
        problem = "" if folders else NOT_RECORDED
        try:
            service = create_scanner(workspace)
            changes = await service.compare()
            skipped = service.skipped_files
        except NotFound as error:
            problem = problem or str(error)
        newest = load_newest_backup(workspace.library)
        return {
            "root": workspace.library.root,
            "state_dir": workspace.library.state_dir,
            "kept": settings.records.keeper,
            "folders": list(folders),
            "pipeline": settings.pipeline,
            "read_by": list(read_by),
            "models": list_chat_models(settings),
            "model_allowed": is_model_allowed(workspace),
            "documents": counts.documents,
            "chapters": order.last,
            "words": counts.words,
            "chunks": counts.chunks,
            **await _collect_remarks(workspace, counts, order),
            **_changes_as_json(changes),
            "last_thread": await _load_last_title(workspace),
            "unreadable": await count_unreadable(workspace, changes.changed),
            "skipped": [
                {"path": file.path, "cause": file.cause, "reason": file.reason}
                for file in skipped
                if file.cause is not SkipCause.OTHER
            ],
            "newest": counts.newest,
            "problem": problem,
            "backup": str(newest.day) if newest else "",
            "names_pending": await has_pending_names(workspace),
        }


def _changes_as_json(changes: DocumentChanges) -> dict[str, object]:
    return {
        "changed": len(changes.changed) + len(changes.stale),
        "changed_documents": list(changes.changed),
        "gone": len(changes.gone),
        "missing": list(changes.missing),
        "conflicted": list(changes.conflicted),
    }


async def _load_last_title(workspace: Workspace) -> str:
    """Return the title of the thread used last; empty if there is none."""
    threads = await workspace.threads.threads()
    return shorten_excerpt(threads[0].title) if threads else ""


async def _load_order(workspace: Workspace) -> StoryOrder:
    return build_story_order(
        await workspace.passages.outlines(),
        workspace.settings.manuscript.order,
        workspace.canon_file.load(),
    )


async def _find_alike(workspace: Workspace, order: StoryOrder) -> str:
    """Return a remark on documents with the same text; empty if there are none."""
    outlines = list(order.outlines.values())
    groups = await load_identical_documents(workspace, outlines)
    return describe_identical_documents(groups)


async def _list_readers(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of the language models that have analysed the text."""
    labels = [FactAbout.PASSAGE, FactAbout.SCENE]
    return list_reader_models(await workspace.stories.keepers(labels))


async def _collect_remarks(
    workspace: Workspace, counts: LibraryCounts, order: StoryOrder
) -> dict[str, object]:
    """Return how many passages the configured model has embedded, and remarks: on
    damage, documents with one text or position or in `posts/`, and missing embeddings.
    """
    outlines, canon = order.outlines, workspace.canon_file.load()
    embedder = workspace.embedders.configured
    space = embedder.space if embedder else ""
    remarks = (
        describe_known_damage(workspace.library, time.time()),
        await _find_alike(workspace, order),
        describe_post_documents(outlines),
        describe_shared_positions(outlines.values(), canon),
        describe_missing_vectors(counts.chunks, counts.spaces, space) if space else "",
    )
    return {
        "embedded": counts.spaces.get(space, 0) if space else counts.embedded,
        "remarks": [remark for remark in remarks if remark],
    }


def _count_readable_changes(facts: dict[str, object]) -> int:
    return _number(facts, "changed") - _number(facts, "unreadable")


def _number(facts: dict[str, object], key: str) -> int:
    number = facts[key]
    return number if isinstance(number, int) else 0


def print_status(facts: dict[str, object], output: Output) -> None:
    """Print the result of `collect_status` as text."""
    output.answer(f"Library: {facts['root']}")
    folders = facts["folders"]
    for folder in folders if isinstance(folders, list) else []:
        output.answer(f"Manuscript: {folder}")
    if facts["kept"] != "embedded":
        output.answer(
            "The library is stored in your Supabase project; this is a local copy."
        )
    output.answer(_describe_pipeline(facts))
    if facts["models"]:
        output.answer(
            _describe_models(facts["models"], is_allowed=bool(facts["model_allowed"]))
        )
    elif not facts["read_by"]:
        output.answer(TURN_ON_MODEL)
    output.answer(
        f"{_count(facts, 'documents', 'document')}, {_count(facts, 'chapters', 'chapter')},"
        f" {_count(facts, 'words', 'word')}, {_count(facts, 'chunks', 'passage')}"
        f" ({facts['embedded']:,} embedded)."
    )
    remarks = facts["remarks"]
    for remark in remarks if isinstance(remarks, list) else ():
        output.answer(remark)
    if facts["problem"]:
        _print_problem(facts, output)
    else:
        _print_changes(facts, output)
        _print_skipped(facts["skipped"], output)
    if facts["backup"]:
        output.answer(f"Automatic backup of your threads: {facts['backup']}.")


def _print_problem(facts: dict[str, object], output: Output) -> None:
    if not facts["documents"]:
        output.answer("The library has no documents. Run `lrwr ingest FOLDER`.")
        return
    output.answer(f"{facts['problem']}. What was ingested before is still stored.")
    if facts["folders"]:
        output.answer(StyledText("hint: ", "strong"), MOVED_HINT, indent=2)


def _print_skipped(skipped: object, output: Output) -> None:
    rows = skipped if isinstance(skipped, list) else []
    for row in rows[:_MAX_SKIPPED]:
        output.answer(sanitize_line(f"Skipped {row['path']}: {row['reason']}"))
    if len(rows) > _MAX_SKIPPED:
        output.answer(
            f"Skipped {len(rows) - _MAX_SKIPPED:,} more; `lrwr status --json` lists them."
        )


def _print_changes(facts: dict[str, object], output: Output) -> None:
    if unreadable := _number(facts, "unreadable"):
        output.answer(
            f"{format_count(unreadable, 'file')} could not be read;"
            " `lrwr jobs --state failed` says why."
        )
    missing = facts["missing"]
    if isinstance(missing, list) and missing:
        output.answer(sanitize_line(describe_missing_documents(missing)))
    conflicted = facts["conflicted"]
    if isinstance(conflicted, list) and conflicted:
        output.answer(sanitize_line(describe_conflicted_documents(conflicted)))
    changed, gone = _count_readable_changes(facts), _number(facts, "gone")
    if changed or gone:
        deletes = f" It deletes {format_count(gone, 'document')} without a file."
        output.answer(
            f"To ingest: {format_count(changed, 'document')} (new, changed or not"
            " analysed with the current settings). Run `lrwr ingest`."
            f"{deletes if gone else ''}"
        )
        _name_changed_documents(facts["changed_documents"], output)
    elif facts["names_pending"]:
        output.answer(
            "Your last decisions about names are not applied yet. Run `lrwr ingest`."
        )
    elif not (unreadable or missing or conflicted):
        output.answer("The library is up to date with the manuscript.")


def _name_changed_documents(documents: object, output: Output) -> None:
    names = list(map(str, documents)) if isinstance(documents, list) else []
    if not names:
        return
    shown, more = names[:_SHOWN_CHANGES], len(names) - _SHOWN_CHANGES
    rest = f" and {more:,} more" if more > 0 else ""
    output.answer(sanitize_line(f"{', '.join(shown)}{rest}"), indent=2)


def _count(facts: dict[str, object], key: str, noun: str) -> str:
    return format_count(_number(facts, key), noun)


def _describe_pipeline(facts: dict[str, object]) -> str:
    pipeline, models = facts["pipeline"], facts["read_by"]
    if not facts["documents"]:
        return f"No document is ingested with pipeline {pipeline}."
    if pipeline == "a":
        return "Fixed-size passages, without story data (pipeline a)."
    if isinstance(models, list) and models:
        return f"Analysed by rules and by {' and '.join(models)} (pipeline {pipeline})."
    return f"Analysed by rules, without a language model (pipeline {pipeline})."


def _describe_models(models: object, *, is_allowed: bool) -> str:
    end = "." if is_allowed else ", which you have not allowed (`lrwr privacy`)."
    purposes_by_model: dict[str, list[str]] = {}
    for purpose, name in models.items() if isinstance(models, dict) else ():
        purposes_by_model.setdefault(name, []).append(purpose)
    phrases = (
        f"{name} for {' and '.join(purposes)}"
        for name, purposes in purposes_by_model.items()
    )
    if len(purposes_by_model) == 1:
        return f"Language model: {next(iter(purposes_by_model))}{end}"
    return f"Language models: {', '.join(phrases)}{end}"


@app.command("jobs", epilog=JOBS_EPILOG)
def jobs_command(
    context: typer.Context,
    limit: Annotated[
        int,
        declare_limit("jobs", most=MAX_JOBS),
    ] = 20,
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            help="Show only jobs in this state: pending, running, complete or failed.",
            metavar="STATE",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List recent processing jobs, newest first.

    A failed job is no longer listed by `--state failed` once a later job of its
    document was complete.
    """
    settings, output = start_session(context)
    all_jobs = run_async(_load_jobs(settings, output, MAX_JOBS, state))
    if as_json:
        output.json([_job_as_json(job) for job in all_jobs[:limit]])
        return
    if not all_jobs:
        output.answer("No jobs.")
        return
    all_jobs = _drop_resolved_failures(all_jobs)
    jobs = all_jobs[:limit]
    headings = ["Job", "State", "Work", "Document", "When", "Tries"]
    with output.paged():
        output.table(headings, [_job_row(job) for job in jobs], right={"Job", "Tries"})
        for job in jobs:
            if job.error:
                _print_job_error(job, output)
        if more := len(all_jobs) - len(jobs):
            output.answer(f"{more:,} more; `--limit {len(all_jobs)}` lists them.")


async def _load_jobs(
    settings: Settings, output: Output, limit: int, state: str | None
) -> list[Job]:
    job_state = parse_choice(JobState, state, "--state") if state else None
    async with open_workspace(settings, say=output.info) as workspace:
        workspace.require_library()
        if job_state is not JobState.FAILED:
            return list(await workspace.jobs.jobs(limit=limit, state=job_state))
        jobs = _drop_resolved_failures(await workspace.jobs.jobs(limit=limit))
        return [job for job in jobs if job.state is JobState.FAILED]


def _drop_resolved_failures(jobs: Sequence[Job]) -> list[Job]:
    """Return `jobs`, newest first, without failed ones that a later job of the document
    followed which failed or was complete.
    """
    settled: set[tuple[str, str]] = set()
    latest_jobs = []
    for job in jobs:
        key = (str(job.order.document), str(job.order.pipeline))
        if job.state is not JobState.FAILED or key not in settled:
            latest_jobs.append(job)
        if job.state in (JobState.FAILED, JobState.COMPLETE):
            settled.add(key)
    return latest_jobs


def _print_job_error(job: Job, output: Output) -> None:
    output.answer(f"Job {job.id} failed: {end_with_full_stop(job.error)}")
    if job.hint:
        output.answer(StyledText("hint: ", "strong"), job.hint, indent=2)


def _job_row(job: Job) -> list[LinePiece]:
    updated_at = datetime.fromtimestamp(job.updated).strftime("%Y-%m-%d %H:%M:%S")
    state = f"{job.state}: {job.stage}" if job.stage else str(job.state)
    kind, document = str(job.order.kind), str(job.order.document)
    return [str(job.id), state, kind, document, updated_at, str(job.attempts)]


def _job_as_json(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "state": job.state,
        "stage": job.stage,
        "kind": job.order.kind,
        "document": job.order.document,
        "pipeline": job.order.pipeline,
        "attempts": job.attempts,
        "error": job.error,
        "hint": job.hint,
        "created": job.created,
        "updated": job.updated,
    }
