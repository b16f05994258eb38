"""What a watch saw, as JSON."""

from lrwr.pipeline.watch.changes import DocumentDelta
from lrwr.pipeline.watch.events import (
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
            return {"event": "saved", **_saved(event)}
        case ManuscriptAway(what):
            return {"event": "away", "what": what}
        case ManuscriptReturn():
            return {"event": "returned"}
        case PollingFallback(why):
            return {"event": "polling", "why": why}
        case WatchFailure(message, hint):
            return {"event": "trouble", "message": message, "hint": hint}


def _saved(saved: SaveReport) -> dict[str, object]:
    known, usage = saved.learned, saved.usage
    return {
        "cause": saved.cause,
        "seconds": round(saved.seconds, 3),
        "changed": known.changed,
        "documents": [
            document_delta_as_json(document, "passages") for document in known.documents
        ],
        "names": {"new": known.names_new, "gone": known.names_gone},
        "facts": {
            "new": known.facts_new,
            "changed": known.facts_changed,
            "gone": known.facts_gone,
        },
        "gaps": {"opened": known.gaps_opened, "closed": known.gaps_closed},
        "model": {
            "name": saved.model,
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        }
        if saved.model
        else None,
        "unread_by_model": saved.unread,
        "problems": saved.problems,
        "remarks": saved.remarks,
        "answers": {
            "changed": saved.unsettled.answers,
            "threads": saved.unsettled.threads,
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
