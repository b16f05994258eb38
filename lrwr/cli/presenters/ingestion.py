"""What an ingestion did, or would do, as JSON."""

from collections.abc import Callable

from lrwr.app.presenters.ingestion import compute_ingest_price
from lrwr.app.presenters.text import format_count
from lrwr.cli.runtime.output import AdvanceProgress, Output
from lrwr.core.model.jobs import (
    DocumentFinished,
    DocumentsPending,
    IngestEvent,
    IngestPlanned,
)
from lrwr.core.ports.stores import LibraryCounts
from lrwr.core.settings.model import Settings
from lrwr.pipeline.report import IngestReport


def ingest_report_as_json(
    report: IngestReport,
    counts: LibraryCounts | None,
    settings: Settings,
    seconds: float,
) -> dict[str, object]:
    """Return it for scripts."""
    return {
        **_work(report),
        "seconds": round(seconds, 3),
        **_problems(report),
        "model": _model(report, settings),
        "characters": report.attribution.characters if report.attribution else None,
        "library": counts and _library(counts),
    }


def _work(report: IngestReport) -> dict[str, object]:
    return {
        "dry_run": report.dry_run,
        "documents": report.found,
        "processed": report.processed,
        "unchanged": report.unchanged,
        "forgotten": report.forgotten,
        "waiting": report.waiting,
        "renamed": [
            {"from": old, "to": new} for new, old in sorted(report.renamed.items())
        ],
        "words": report.words,
        "chunks": report.chunks,
        "tokens": report.tokens,
        "embedded": report.embedded,
        "reused": report.reused,
    }


def _problems(report: IngestReport) -> dict[str, object]:
    return {
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
    }


def _library(counts: LibraryCounts) -> dict[str, object]:
    return {
        "documents": counts.documents,
        "words": counts.words,
        "chunks": counts.chunks,
        "embedded": counts.embedded,
    }


def _model(report: IngestReport, settings: Settings) -> dict[str, object] | None:
    """Return what the language model was asked; None without one."""
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
        "usd": compute_ingest_price(report, settings),
    }


def create_progress_listener(
    advance: AdvanceProgress, output: Output
) -> Callable[[IngestEvent], None]:
    """Return what moves a bar on while documents are read."""
    waits = False

    def watch(event: IngestEvent) -> None:
        nonlocal waits
        if isinstance(event, IngestPlanned):
            advance(0, total=event.process + event.forget)
        elif isinstance(event, DocumentFinished):
            advance(1)
        elif isinstance(event, DocumentsPending) and not waits:
            waits = True
            count_text = format_count(event.documents, "document")
            output.story(f"Waiting for another run of lrwr, which is at {count_text}.")

    return watch
