"""The report of an ingest or a dry run, as text and JSON."""

from typing import TYPE_CHECKING

from lrwr.app.presenters.text import (
    format_count,
    format_dollars,
    format_tokens_and_price,
    sanitize_line,
)
from lrwr.core.model.language_model import Usage, compute_price, parse_prices
from lrwr.core.settings.consent import NOTHING_SENT
from lrwr.core.settings.model import DEFAULT_EMBEDDING_MODEL
from lrwr.pipeline.report import MODEL_SKIPPED_TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lrwr.core.model.documents import DocumentId
    from lrwr.core.ports.stores import LibraryCounts
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.report import DocumentProblem, IngestReport

SHOWN_DELETED = 5
"""Deleted documents that are named; of others only the number is given."""


def describe_ingest_report(
    report: "IngestReport", counts: "LibraryCounts | None", settings: "Settings"
) -> list[str]:
    """Return the report of an ingestion as lines: documents, passages, library, models.

    `counts` is the content of the library afterwards, None if there is no library.
    """
    lines = [*_lines(report, counts), *_of_embedding(report, settings)]
    return [*lines, *_of_model(report, settings)]


def describe_document_problem(problem: "DocumentProblem") -> str:
    """Return why a document could not be processed, beginning with its full path.

    The path is not repeated if the message already starts with it or with the file
    name.
    """
    document, message = problem.document, problem.message
    name = document.rpartition("/")[2]
    for spelling in (document, name):
        if message.startswith(f"{spelling} "):
            return document + message.removeprefix(spelling)
    return f"{document}: {message}"


def _lines(report: "IngestReport", counts: "LibraryCounts | None") -> list[str]:
    verb = "to process" if report.dry_run else "processed"
    lines = [
        f"{format_count(report.processed, 'document')} {verb}"
        f" ({format_count(report.words, 'word')}), {report.unchanged:,} unchanged"
        f"{_describe_changes(report)}."
    ]
    if report.deleted and not report.dry_run and report.found:
        lines.append(_describe_deleted(report.deleted))
    if report.processed:
        verb = "to embed" if report.dry_run else "embedded"
        lines.append(
            f"{format_count(report.chunks, 'passage')}: {report.embedded:,} {verb}"
            f" ({report.tokens:,} tokens), {report.reused:,} reused."
        )
    if counts is not None and not report.dry_run:
        lines.append(
            f"The library holds {format_count(counts.documents, 'document')},"
            f" {format_count(counts.words, 'word')}, {format_count(counts.chunks, 'passage')}."
        )
    if report.forgotten and not (report.found or report.dry_run):
        lines.append("Your threads and decisions are kept.")
    if report.attribution is not None and report.attribution.characters:
        count_text = format_count(report.attribution.characters, "character")
        lines.append(f"{count_text} found; `lrwr characters` lists them.")
    return lines


def _describe_deleted(documents: "Sequence[DocumentId]") -> str:
    """Return which documents were deleted, and how to get them back."""
    names = ", ".join(sanitize_line(name) for name in sorted(documents)[:SHOWN_DELETED])
    others = len(documents) - SHOWN_DELETED
    more = f" and {others:,} more" if others > 0 else ""
    them = "it" if len(documents) == 1 else "them"
    return (
        f"Deleted: {names}{more}. To get {them} back, bring the"
        f" {'file' if them == 'it' else 'files'} back and run `lrwr ingest`."
    )


def _of_embedding(report: "IngestReport", settings: "Settings") -> list[str]:
    """Return the estimated cost of OpenAI embeddings; empty for other models.

    The estimate counts tokens with the local tokenizer, which differs from OpenAI's.
    """
    if settings.embedding.model != "openai" or not report.embedded:
        return []
    # Pipeline b embeds every sentence too, to find where the topic changes.
    tokens = report.tokens * (2 if settings.pipeline == "b" else 1)
    name = settings.embedding.name or DEFAULT_EMBEDDING_MODEL
    prices = parse_prices(settings.model.prices)
    cost = format_dollars(compute_price(Usage(1, tokens), name, prices))
    sent = "would be sent" if report.dry_run else "were sent"
    return [f"About {tokens:,} tokens {sent} to {name} ({cost})."]


def _of_model(report: "IngestReport", settings: "Settings") -> list[str]:
    if not report.model:
        return []
    usage = report.usage
    lines = [
        f"{_describe_model_usage(report, settings)}{_describe_cached(usage.cached)}."
    ]
    if usage.quotes:
        lines.append(
            f"{format_count(usage.quotes, 'quotation')} in the model's replies:"
            f" {_describe_verified_quotes(usage)}."
        )
    if usage.repaired or usage.failed:
        lines.append(
            f"{format_count(usage.repaired, 'invalid reply', 'invalid replies')} requested"
            f" again; {usage.failed:,} still could not be used."
        )
    return lines


def _describe_model_usage(report: "IngestReport", settings: "Settings") -> str:
    usage, dry = report.usage, report.dry_run
    if not usage.calls:
        skipped = [t for t in report.remarks if t.startswith(MODEL_SKIPPED_TEXT)]
        if any(NOTHING_SENT in text for text in skipped):
            return f"{report.model}: not asked"
        if skipped:
            return f"{report.model}: no reply received"
        return f"{report.model}: no calls{' needed' if dry else ''}"
    price_text = format_tokens_and_price(
        usage, compute_ingest_price(report, settings), about=dry
    )
    calls = format_count(usage.calls, "call")
    if dry:
        return f"{report.model} would need {calls}: {price_text}"
    return f"{report.model}: {calls}, {price_text}"


def _describe_verified_quotes(usage: Usage) -> str:
    dropped = usage.quotes - usage.verified
    if not dropped:
        return "all found in the text"
    share = 100 * usage.verified // usage.quotes  # rounds down: 100 % means all
    return f"{usage.verified:,} found in the text ({share} %), {dropped:,} dropped"


def _describe_cached(cached: int) -> str:
    if not cached:
        return ""
    return f"; {format_count(cached, 'reply', 'replies')} from the cache"


def compute_ingest_price(report: "IngestReport", settings: "Settings") -> float | None:
    """Return what an ingestion's calls of the language model cost, in US dollars.

    For a dry run, that is an estimate. None if the price of the model is unknown.
    """
    return compute_price(
        report.usage, report.model, parse_prices(settings.model.prices)
    )


def _describe_changes(report: "IngestReport") -> str:
    forgotten = report.forgotten - len(report.renamed)
    text = f", {len(report.renamed):,} renamed" if report.renamed else ""
    text += f", {forgotten:,} deleted" if forgotten > 0 else ""
    missing = len(report.missing)
    text += f", {missing:,} missing and not deleted" if missing else ""
    text += f", {report.waiting:,} waiting" if report.waiting else ""
    failed = len(report.problems)
    return text + (f", {failed:,} failed" if failed else "")


def ingest_report_as_json(
    report: "IngestReport",
    counts: "LibraryCounts | None",
    settings: "Settings",
    seconds: float,
) -> dict[str, object]:
    """Return the report of an ingestion as JSON; `seconds` is the duration of the run.

    It has numbers of documents, words and chunks, the renamed, missing, skipped and
    failed documents, `remarks`, `model` (usage and price; None without a model), the number of
    `characters` (None if not updated) and `library`. The latter is `counts`, the
    content of the library afterwards; None if there is no library.
    """
    return {
        **_work_as_json(report),
        "seconds": round(seconds, 3),
        **_problems_as_json(report),
        "model": _model_as_json(report, settings),
        "characters": report.attribution.characters if report.attribution else None,
        "library": counts and _library_as_json(counts),
    }


def _work_as_json(report: "IngestReport") -> dict[str, object]:
    return {
        "dry_run": report.dry_run,
        "documents": report.found,
        "processed": report.processed,
        "unchanged": report.unchanged,
        "forgotten": report.forgotten,
        "deleted": sorted(report.deleted),
        "missing": report.missing,
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


def _problems_as_json(report: "IngestReport") -> dict[str, object]:
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


def _library_as_json(counts: "LibraryCounts") -> dict[str, object]:
    return {
        "documents": counts.documents,
        "words": counts.words,
        "chunks": counts.chunks,
        "embedded": counts.embedded,
    }


def _model_as_json(
    report: "IngestReport", settings: "Settings"
) -> dict[str, object] | None:
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
