"""What a watch sees, as the room tells it."""

from lrwr.pipeline.watch_events import (
    Away,
    Polled,
    Returned,
    Saved,
    Troubled,
    WatchEvent,
    Watching,
)
from lrwr.wording.amounts import count
from lrwr.wording.watched import saved_in_words


def seen(event: WatchEvent) -> tuple[str, str]:
    """Return a line that tells an event, and what the status line says of it.

    Either may be empty.
    """
    match event:
        case Watching(documents):
            return "", f"watching {count(documents, 'document')}, up to date"
        case Saved() if event.learned.documents:
            names = [one.document for one in event.learned.documents]
            first = str(names[0]).rpartition("/")[2]
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            return saved_in_words(event), f"{first}{more} read again"
        case Saved():
            return " ".join(event.remarks), ""
        case Away(what):
            return f"{what}. Nothing is forgotten; waiting for its return.", "away"
        case Returned():
            return "The manuscript is there again.", "up to date"
        case Polled(why):
            return f"{why}: files are looked at every two seconds instead.", ""
        case Troubled(message, hint):
            return f"{message} {hint}".strip(), ""
