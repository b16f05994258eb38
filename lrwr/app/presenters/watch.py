"""What a save brought, in words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.ingestion import problem_in_words
from lrwr.app.presenters.text import count, one_line
from lrwr.core.bible.phrases import place_of
from lrwr.core.continuity.values import Contradiction, Side, Slips
from lrwr.core.model.facts import About
from lrwr.pipeline.watch.events import (
    Away,
    Polled,
    Returned,
    Saved,
    Troubled,
    WatchEvent,
    Watching,
)

if TYPE_CHECKING:
    from lrwr.core.bible.events import Shift
    from lrwr.pipeline.watch.changes import Learned, LearnedDocument

SHOWN = 3
"""How many documents, names or facts one line names."""
LONGEST = 60
"""Characters of what is known that a line shows."""

SHORT_ID = 8
"""Characters of a conversation's id that tell it from others, as good as always."""


def saved_in_words(saved: Saved) -> str:
    """Return what a save changed, in one line."""
    known = saved.learned
    parts = [_documents(known.documents)]
    parts += _named("new", known.names_new)
    parts += _named("gone", known.names_gone)
    parts += _facts(known)
    parts += _gaps("opened", known.gaps_opened)
    parts += _gaps("closed", known.gaps_closed)
    parts += _unsettled(saved)
    text = "; ".join(part for part in parts if part)
    return one_line(f"{text} ({_took(saved)})")


def documents_changed(learned: "Learned") -> list[str]:
    """Return the documents that are otherwise now, forgotten and renamed ones too."""
    return [one.document for one in learned.documents if one.changed]


def problems_in_words(saved: Saved) -> Iterator[tuple[str, str]]:
    """Yield what could not be read, each with what to try."""
    for problem in saved.problems:
        yield one_line(problem_in_words(problem)), problem.hint


def _documents(documents: "Sequence[LearnedDocument]") -> str:
    if not documents:
        return "nothing read"
    kinds = {
        "read": [one for one in documents if not one.gone and not one.was],
        "renamed": [one for one in documents if one.was],
        "forgotten": [one for one in documents if one.gone],
    }
    parts = []
    for verb, some in kinds.items():
        if some:
            parts.append(f"{_called(some)} {verb}{passages_in_words(some)}")
    return "; ".join(parts)


def _called(documents: "Sequence[LearnedDocument]") -> str:
    if len(documents) > SHOWN:
        return count(len(documents), "document")
    names = (
        f"{one.was} -> {one.document}" if one.was else one.document for one in documents
    )
    return ", ".join(names)


def passages_in_words(
    documents: "Sequence[LearnedDocument]", noun: str = "passage"
) -> str:
    """Return how many are otherwise, after a colon; nothing where that goes without."""
    if all(one.gone for one in documents):
        return ""
    counts = {
        "changed": sum(one.passages_changed for one in documents),
        "new": sum(one.passages_new for one in documents),
        "gone": sum(one.passages_gone for one in documents),
    }
    told = [(number, state) for state, number in counts.items() if number]
    if not told:
        return "" if any(one.was for one in documents) else ": the same passages"
    (first, state), *rest = told
    words = [f"{count(first, noun)} {state}"]
    return f": {', '.join([*words, *(f'{n:,} {state}' for n, state in rest)])}"


def _named(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"{title}: {', '.join(names[:SHOWN])}{_more(len(names))}"]


def _facts(known: "Learned") -> Iterator[str]:
    yield from map(shift_in_words, known.facts_changed[:SHOWN])
    more = len(known.facts_changed) - SHOWN
    if more > 0:
        yield f"{more:,} more changed"
    for state, shifts in (("new", known.facts_new), ("gone", known.facts_gone)):
        people = [one for one in shifts if one.about is About.CHARACTER]
        shown = people if len(people) <= SHOWN else []
        yield from (f"{state}: {shift_in_words(one)}" for one in shown)
        if rest := len(shifts) - len(shown):
            other = "other " if shown else ""
            yield f"{count(rest, f'{other}fact')} {state}"


def _gaps(state: str, shifts: "Sequence[Shift]") -> list[str]:
    if len(shifts) > SHOWN:
        return [f"{count(len(shifts), 'gap')} {state}"]
    return [f"gap {state}: {shift_in_words(shift)}" for shift in shifts]


def shift_in_words(shift: "Shift") -> str:
    """Return "Nell's eyes: grey -> brown", or what is known of her alone."""
    whose = f"{shift.subject}'s" if shift.subject and shift.what else shift.subject
    about = f"{whose} {shift.what}".strip()
    said = " -> ".join(_short(one) for one in (shift.before, shift.after) if one)
    return f"{about}: {said}" if about and said != shift.what else about or said


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _more(number: int) -> str:
    return f" and {number - SHOWN:,} more" if number > SHOWN else ""


def _unsettled(saved: Saved) -> list[str]:
    """Return what the save took the ground from, and where to read it."""
    answers, threads = saved.unsettled.answers, saved.unsettled.threads
    if not answers:
        return []
    ids = ", ".join(thread[:SHORT_ID] for thread in threads[:SHOWN])
    return [
        f"{count(answers, 'answer')} in {count(len(threads), 'conversation')}"
        f" {'rests' if answers == 1 else 'rest'} on what changed"
        f" (lrwr threads show {ids}{_more(len(threads))})"
    ]


def _took(saved: Saved) -> str:
    calls = f"{count(saved.usage.calls, 'call')} of {saved.model}, "
    return f"{calls if saved.usage.calls else ''}{saved.seconds:.1f} s"


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
