"""`lrwr ingest`: read the manuscript, and bring the library up to date."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lrwr.cli.output import Advance, Output
    from lrwr.core.model.events import IngestEvent
    from lrwr.core.ports.record_store import LibraryCounts
    from lrwr.core.settings.values import Settings
    from lrwr.pipeline.report import IngestReport, Problem

EPILOG = (
    "Examples: lrwr ingest ./manuscript · lrwr ingest (again, the same folders) ·"
    " lrwr ingest --dry-run --json"
)


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER|FILE]...",
            help="Folders or files of .md, .docx and .txt; those of last time if left"
            " out.",
        ),
    ] = None,
    pipeline: Annotated[
        str | None, typer.Option(help="The recipe: a or b.", metavar="a|b")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Read every file, even those that seem unchanged."
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="USD", help="What a language model may cost in this run."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON.")
    ] = False,
) -> None:
    """Read the manuscript. Only what changed since the last time costs anything."""
    from lrwr.cli.begin import begin
    from lrwr.cli.running import run_async
    from lrwr.core.model.errors import ExitCode

    settings, output = begin(context, {"pipeline": pipeline, "model.budget": budget})
    with _lent(settings, dry_run=dry_run) as lent:
        work = _ingest(
            lent,
            output,
            paths or [],
            dry_run=dry_run,
            verify=verify,
            as_json=as_json,
        )
        report = run_async(work)
    if report.problems:
        raise typer.Exit(int(ExitCode.PARTIAL))


@contextmanager
def _lent(settings: "Settings", *, dry_run: bool) -> "Iterator[Settings]":
    """Lend out settings whose library may be made: a passing one for a first dry run."""
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from lrwr.core.settings.library import library_of

    library = library_of(settings)
    if not dry_run or library.database.exists() or library.memory.exists():
        yield settings
        return
    with TemporaryDirectory(prefix="lrwr-") as folder:
        yield replace(settings, state_dir=folder)


async def _ingest(
    settings: "Settings",
    output: "Output",
    paths: "Sequence[Path]",
    *,
    dry_run: bool,
    verify: bool,
    as_json: bool,
) -> "IngestReport":
    import time

    from lrwr.core.settings.library import remember
    from lrwr.core.settings.sync import sync_warning
    from lrwr.wiring import open_services

    began = time.monotonic()
    async with open_services(settings, say=output.story) as services:
        targets = _targets(paths or services.manuscript())
        warning = sync_warning(services.library.state_dir)
        if warning and not services.library.database.exists():
            output.warn(warning)
        service = services.processing(targets)
        if paths and not dry_run and not settings.manuscript.folders:
            remember(services.library, targets)  # first: the work may be cut short
        with output.progress("Reading the manuscript", None) as advance:
            report = await service.process(
                _watcher(advance, output), dry_run=dry_run, verify=verify
            )
        counts = None
        if services.library.database.exists():
            counts = await services.passages.counts(settings.pipeline)
        seconds = time.monotonic() - began
        _show(report, counts, settings, output, seconds, as_json=as_json)
    return report


def _targets(paths: "Sequence[Path]") -> list[Path]:
    from lrwr.core.model.errors import NotFound

    targets = [path.absolute() for path in paths]
    if not targets:
        raise NotFound(
            "It is not known yet where your manuscript is",
            hint="Name its folder: lrwr ingest ./manuscript",
        )
    for target in targets:
        if not target.exists():
            raise NotFound(f"There is no file or folder {target}", hint=_near(target))
    return targets


def _near(target: Path) -> str:
    """Return what to try instead of a path that is not there."""
    from contextlib import suppress
    from difflib import get_close_matches

    near: list[str] = []
    with suppress(OSError):
        beside = [path.name for path in target.parent.iterdir()]
        near = get_close_matches(target.name, beside, n=1)
    offer = f"Did you mean {near[0]}? " if near else ""
    return f"{offer}Check the path; nothing was forgotten."


def _watcher(advance: "Advance", output: "Output") -> "Callable[[IngestEvent], None]":
    from lrwr.core.model.events import Finished, Planned, Waiting

    waits = False

    def watch(event: "IngestEvent") -> None:
        nonlocal waits
        if isinstance(event, Planned):
            advance(0, total=event.process + event.forget)
        elif isinstance(event, Finished):
            advance(1)
        elif isinstance(event, Waiting) and not waits:
            waits = True
            held = _count(event.documents, "document")
            output.story(f"Waiting for another run of lrwr, which is at {held}.")

    return watch


def _show(
    report: "IngestReport",
    counts: "LibraryCounts | None",
    settings: "Settings",
    output: "Output",
    seconds: float,
    *,
    as_json: bool,
) -> None:
    from lrwr.cli.clean import one_line

    for remark in report.remarks:
        output.warn(one_line(remark))
    for problem in report.problems:
        output.warn(one_line(_told(problem)))
        if problem.hint:
            output.story(f"  hint: {problem.hint}")
    if as_json:
        output.json(_summary(report, counts, settings, seconds))
        return
    for skipped in report.skipped:
        output.story(f"skipped {one_line(skipped.path)}: {skipped.reason}")
    for line in [*_lines(report, counts), *_of_model(report, settings)]:
        output.answer(line)
    output.answer(f"Done in {seconds:.1f} s.")
    is_first = bool(counts and report.processed == counts.documents)
    if is_first and output.interactive and not report.dry_run:
        output.story('Now ask it something: lrwr ask "Who …?"')


def _told(problem: "Problem") -> str:
    """Return what happened, the file named by its whole path, and once."""
    document, message = problem.document, problem.message
    name = document.rpartition("/")[2]
    for shown in (document, name):
        if message.startswith(f"{shown} "):
            return document + message.removeprefix(shown)
    return f"{document}: {message}"


def _lines(report: "IngestReport", counts: "LibraryCounts | None") -> "list[str]":
    read = "to read" if report.dry_run else "read"
    lines = [
        f"{_count(report.processed, 'document')} {read}"
        f" ({_count(report.words, 'word')}), {report.unchanged:,} unchanged"
        f"{_moves(report)}."
    ]
    if report.processed:
        verb = "to embed" if report.dry_run else "embedded"
        lines.append(
            f"{_count(report.chunks, 'passage')}: {report.embedded:,} {verb}"
            f" ({report.tokens:,} tokens), {report.reused:,} reused."
        )
    if counts is not None and not report.dry_run:
        lines.append(
            f"The library holds {_count(counts.documents, 'document')},"
            f" {_count(counts.words, 'word')}, {_count(counts.chunks, 'passage')}."
        )
    if report.woven is not None and report.woven.characters:
        known = _count(report.woven.characters, "character")
        lines.append(f"{known} known; see them with `lrwr characters`.")
    return lines


def _of_model(report: "IngestReport", settings: "Settings") -> "list[str]":
    """Say what a language model was asked, or would be, and what it costs."""
    if not report.model:
        return []
    usage = report.usage
    will = "would be asked about" if report.dry_run else "was asked"
    cost = _price(report, settings)
    price = "price unknown" if cost is None else f"${cost:.2f}"
    lines = [
        f"{report.model} {will} {_count(usage.calls, 'question')}:"
        f" {usage.prompt_tokens:,} tokens sent, {usage.completion_tokens:,} answered"
        f" ({price}); {_count(usage.cached, 'answer')} known already."
    ]
    if usage.quotes:
        share = usage.verified / usage.quotes
        lines.append(
            f"It quoted {_count(usage.quotes, 'time')}; {usage.verified:,} of the quotes"
            f" stand in the text ({share:.0%}), the others were dropped."
        )
    if usage.repaired or usage.failed:
        lines.append(
            f"{_count(usage.repaired, 'answer')} had to be asked for twice;"
            f" {usage.failed:,} could not be read."
        )
    return lines


def _price(report: "IngestReport", settings: "Settings") -> float | None:
    from lrwr.core.model.metering import price, read_prices

    return price(report.usage, report.model, read_prices(settings.model.prices))


def _moves(report: "IngestReport") -> str:
    gone = report.forgotten - len(report.renamed)
    text = f", {len(report.renamed):,} renamed" if report.renamed else ""
    text += f", {gone:,} forgotten" if gone > 0 else ""
    failed = len(report.problems)
    return text + (f", {failed:,} not readable" if failed else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _summary(
    report: "IngestReport",
    counts: "LibraryCounts | None",
    settings: "Settings",
    seconds: float,
) -> dict[str, object]:
    return {
        "dry_run": report.dry_run,
        "documents": report.found,
        "processed": report.processed,
        "unchanged": report.unchanged,
        "forgotten": report.forgotten,
        "renamed": [
            {"from": old, "to": new} for new, old in sorted(report.renamed.items())
        ],
        "words": report.words,
        "chunks": report.chunks,
        "tokens": report.tokens,
        "embedded": report.embedded,
        "reused": report.reused,
        "seconds": round(seconds, 3),
        "skipped": [
            {"path": skipped.path, "reason": skipped.reason}
            for skipped in report.skipped
        ],
        "problems": [
            {
                "document": problem.document,
                "message": problem.message,
                "hint": problem.hint,
                "exit_code": problem.exit_code,
            }
            for problem in report.problems
        ],
        "remarks": report.remarks,
        "model": _model_summary(report, settings),
        "characters": report.woven.characters if report.woven else None,
        "library": None
        if counts is None
        else {
            "documents": counts.documents,
            "words": counts.words,
            "chunks": counts.chunks,
            "embedded": counts.embedded,
        },
    }


def _model_summary(
    report: "IngestReport", settings: "Settings"
) -> dict[str, object] | None:
    """Return what the language model was asked, for scripts; None without one."""
    if not report.model:
        return None
    usage = report.usage
    return {
        "name": report.model,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached": usage.cached,
        "repaired": usage.repaired,
        "failed": usage.failed,
        "quotes": usage.quotes,
        "verified": usage.verified,
        "usd": _price(report, settings),
    }
