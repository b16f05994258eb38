"""What a watch sees, as the room tells it."""

from lrwr.core.bible.telling import place_of
from lrwr.core.continuity.values import Contradiction, Side, Slips
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


def seen(event: WatchEvent | Slips) -> tuple[str, str]:
    """Return a line that tells an event, and what the status line says of it.

    Either may be empty.
    """
    match event:
        case Watching(documents):
            return "", f"watching {count(documents, 'document')}, up to date"
        case Saved():
            return _save(event)
        case Slips(found):
            return "\n".join(map(_slip, found)), ""
        case Away(what):
            return f"{what}. Nothing is forgotten; waiting for its return.", "away"
        case Returned():
            return "The manuscript is there again.", "up to date"
        case Polled(why):
            return f"{why}: files are looked at every two seconds instead.", ""
        case Troubled(message, hint):
            return f"{message} {hint}".strip(), ""


def _save(saved: Saved) -> tuple[str, str]:
    names = [str(one.document) for one in saved.learned.documents]
    if not names:
        return " ".join(saved.remarks), ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return saved_in_words(saved), f"{names[0].rpartition('/')[2]}{more} read again"


def _slip(one: Contradiction) -> str:
    found, canon = _said(one.found), _said(one.canon)
    return f"{one.about}, {one.attribute}: {found}, but {canon} (lrwr check)"


def _said(side: Side) -> str:
    where = place_of(side.evidence[0]) if side.evidence else "lrwr.canon.toml"
    return f"{where} says “{side.value}”"
