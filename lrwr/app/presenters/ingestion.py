"""What an ingestion did, or would do, in words."""

from typing import TYPE_CHECKING

from lrwr.app.presenters.text import (
    format_count,
    format_dollars,
    format_tokens_and_price,
)
from lrwr.core.model.language_model import Usage, compute_price, parse_prices
from lrwr.core.settings.model import DEFAULT_EMBEDDING_MODEL

if TYPE_CHECKING:
    from lrwr.core.ports.stores import LibraryCounts
    from lrwr.core.settings.model import Settings
    from lrwr.pipeline.report import DocumentProblem, IngestReport


def describe_ingest_report(
    report: "IngestReport", counts: "LibraryCounts | None", settings: "Settings"
) -> list[str]:
    """Return it in sentences, a line each; the time it took is not among them."""
    lines = [*_lines(report, counts), *_of_embedding(report, settings)]
    return [*lines, *_of_model(report, settings)]


def describe_document_problem(problem: "DocumentProblem") -> str:
    """Return what happened, the file named by its whole path, and once."""
    document, message = problem.document, problem.message
    name = document.rpartition("/")[2]
    for spelling in (document, name):
        if message.startswith(f"{spelling} "):
            return document + message.removeprefix(spelling)
    return f"{document}: {message}"


def _lines(report: "IngestReport", counts: "LibraryCounts | None") -> list[str]:
    read_line = "to read" if report.dry_run else "read"
    lines = [
        f"{format_count(report.processed, 'document')} {read_line}"
        f" ({format_count(report.words, 'word')}), {report.unchanged:,} unchanged"
        f"{_describe_changes(report)}."
    ]
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
    if report.attribution is not None and report.attribution.characters:
        count_text = format_count(report.attribution.characters, "character")
        lines.append(f"{count_text} known; see them with `lrwr characters`.")
    return lines


def _of_embedding(report: "IngestReport", settings: "Settings") -> list[str]:
    """Say what embedding elsewhere costs, about: the server's own tokens are others."""
    if settings.embedding.model != "openai" or not report.embedded:
        return []
    # Where the meaning turns is found by sentences, each embedded as well.
    tokens = report.tokens * (2 if settings.pipeline == "b" else 1)
    name = settings.embedding.name or DEFAULT_EMBEDDING_MODEL
    prices = parse_prices(settings.model.prices)
    cost = format_dollars(compute_price(Usage(1, tokens), name, prices))
    sends = "would be sent" if report.dry_run else "was sent"
    return [f"{name} {sends} about {tokens:,} tokens ({cost})."]


def _of_model(report: "IngestReport", settings: "Settings") -> list[str]:
    """Say what a language model was asked, or would be, and what it costs."""
    if not report.model:
        return []
    usage = report.usage
    lines = [
        f"{_describe_model_usage(report, settings)}{_describe_cached(usage.cached)}."
    ]
    if usage.quotes:
        lines.append(
            f"It quoted {format_count(usage.quotes, 'time')}; {_describe_verified_quotes(usage)}."
        )
    if usage.repaired or usage.failed:
        lines.append(
            f"{format_count(usage.repaired, 'answer')} had to be asked for twice;"
            f" {usage.failed:,} could not be read."
        )
    return lines


def _describe_model_usage(report: "IngestReport", settings: "Settings") -> str:
    usage, dry = report.usage, report.dry_run
    will = "would be asked" if dry else "was asked"
    if not usage.calls:
        return f"{report.model} {will} nothing"
    price_text = format_tokens_and_price(
        usage, compute_ingest_price(report, settings), about=dry
    )
    return (
        f"{report.model} {will} {format_count(usage.calls, 'question')}: {price_text}"
    )


def _describe_verified_quotes(usage: Usage) -> str:
    dropped = usage.quotes - usage.verified
    if not dropped:
        return "every quote stands in the text"
    share = 100 * usage.verified // usage.quotes  # 99 % until it is all of them
    return (
        f"{usage.verified:,} of the quotes stand in the text ({share}%),"
        f" {dropped:,} {'was' if dropped == 1 else 'were'} dropped"
    )


def _describe_cached(cached: int) -> str:
    if not cached:
        return ""
    return (
        f"; {format_count(cached, 'answer')} {'was' if cached == 1 else 'were'} known"
    )


def compute_ingest_price(report: "IngestReport", settings: "Settings") -> float | None:
    """Return what the model's work cost in US dollars; None where nobody knows."""
    return compute_price(
        report.usage, report.model, parse_prices(settings.model.prices)
    )


def _describe_changes(report: "IngestReport") -> str:
    forgotten = report.forgotten - len(report.renamed)
    text = f", {len(report.renamed):,} renamed" if report.renamed else ""
    text += f", {forgotten:,} forgotten" if forgotten > 0 else ""
    text += f", {report.waiting:,} not read yet" if report.waiting else ""
    failed = len(report.problems)
    return text + (f", {failed:,} not readable" if failed else "")
