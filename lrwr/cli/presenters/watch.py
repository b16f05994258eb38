"""What a watch saw, as JSON."""

from lrwr.pipeline.watch.events import (
    DocumentDelta,
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchEvent,
    WatchFailure,
    WatchStart,
)


def watch_event_as_json(event: WatchEvent) -> dict[str, object]:
    """Return an event for scripts; `event` says which it is."""
    match event:
        case WatchStart(documents):
            return {"event": "watching", "documents": documents}
        case SaveReport():
            return {"event": "saved", **_save_report_as_json(event)}
        case ManuscriptAway(what):
            return {"event": "away", "what": what}
        case ManuscriptReturn():
            return {"event": "returned"}
        case PollingFallback(why):
            return {"event": "polling", "why": why}
        case WatchFailure(message, hint):
            return {"event": "trouble", "message": message, "hint": hint}


def _save_report_as_json(report: SaveReport) -> dict[str, object]:
    changes, usage = report.learned, report.usage
    return {
        "cause": report.cause,
        "seconds": round(report.seconds, 3),
        "changed": changes.changed,
        "documents": [
            document_delta_as_json(document, "passages")
            for document in changes.documents
        ],
        "names": {"new": changes.names_new, "gone": changes.names_gone},
        "facts": {
            "new": changes.facts_new,
            "changed": changes.facts_changed,
            "gone": changes.facts_gone,
        },
        "gaps": {"opened": changes.gaps_opened, "closed": changes.gaps_closed},
        "model": {
            "name": report.model,
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        }
        if report.model
        else None,
        "unread_by_model": report.unread,
        "problems": report.problems,
        "remarks": report.remarks,
        "answers": {
            "changed": report.unsettled.answers,
            "threads": report.unsettled.threads,
        },
    }


def document_delta_as_json(
    document_delta: DocumentDelta, parts: str
) -> dict[str, object]:
    """Return what became of a document; `parts` is what it is counted in."""
    return {
        "document": document_delta.document,
        "was": document_delta.was or None,
        "gone": document_delta.gone,
        parts: {
            "new": document_delta.passages_new,
            "changed": document_delta.passages_changed,
            "gone": document_delta.passages_gone,
        },
    }
