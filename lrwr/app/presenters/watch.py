"""What a save brought, in words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.ingestion import describe_document_problem
from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.core.bible.phrases import format_evidence_location
from lrwr.core.continuity.values import (
    Contradiction,
    ContradictionSide,
    NewContradictions,
)
from lrwr.core.model.facts import FactAbout
from lrwr.pipeline.watch.events import (
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchEvent,
    WatchFailure,
    WatchStart,
)

if TYPE_CHECKING:
    from lrwr.core.bible.events import FactChange
    from lrwr.pipeline.watch.changes import DocumentDelta, KnowledgeDelta

SHOWN = 3
"""How many documents, names or facts one line names."""
LONGEST = 60
"""Characters of what is known that a line shows."""

SHORT_ID = 8
"""Characters of a conversation's id that tell it from others, as good as always."""


def describe_save(saved: SaveReport) -> str:
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
    return sanitize_line(f"{text} ({_took(saved)})")


def list_changed_documents(learned: "KnowledgeDelta") -> list[str]:
    """Return the documents that are otherwise now, forgotten and renamed ones too."""
    return [document.document for document in learned.documents if document.changed]


def describe_save_problems(saved: SaveReport) -> Iterator[tuple[str, str]]:
    """Yield what could not be read, each with what to try."""
    for problem in saved.problems:
        yield sanitize_line(describe_document_problem(problem)), problem.hint


def _documents(documents: "Sequence[DocumentDelta]") -> str:
    if not documents:
        return "nothing read"
    kinds = {
        "read": [
            document for document in documents if not document.gone and not document.was
        ],
        "renamed": [document for document in documents if document.was],
        "forgotten": [document for document in documents if document.gone],
    }
    parts = []
    for verb, some in kinds.items():
        if some:
            parts.append(f"{_called(some)} {verb}{describe_passage_changes(some)}")
    return "; ".join(parts)


def _called(documents: "Sequence[DocumentDelta]") -> str:
    if len(documents) > SHOWN:
        return format_count(len(documents), "document")
    names = (
        f"{document.was} -> {document.document}" if document.was else document.document
        for document in documents
    )
    return ", ".join(names)


def describe_passage_changes(
    documents: "Sequence[DocumentDelta]", noun: str = "passage"
) -> str:
    """Return how many are otherwise, after a colon; nothing where that goes without."""
    if all(document.gone for document in documents):
        return ""
    counts = {
        "changed": sum(document.passages_changed for document in documents),
        "new": sum(document.passages_new for document in documents),
        "gone": sum(document.passages_gone for document in documents),
    }
    told = [(number, state) for state, number in counts.items() if number]
    if not told:
        return (
            "" if any(document.was for document in documents) else ": the same passages"
        )
    (first, state), *rest = told
    words = [f"{format_count(first, noun)} {state}"]
    return f": {', '.join([*words, *(f'{n:,} {state}' for n, state in rest)])}"


def _named(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"{title}: {', '.join(names[:SHOWN])}{_more(len(names))}"]


def _facts(known: "KnowledgeDelta") -> Iterator[str]:
    yield from map(describe_shift, known.facts_changed[:SHOWN])
    more = len(known.facts_changed) - SHOWN
    if more > 0:
        yield f"{more:,} more changed"
    for state, shifts in (("new", known.facts_new), ("gone", known.facts_gone)):
        people = [shift for shift in shifts if shift.about is FactAbout.CHARACTER]
        shown = people if len(people) <= SHOWN else []
        yield from (f"{state}: {describe_shift(one)}" for one in shown)
        if rest := len(shifts) - len(shown):
            other = "other " if shown else ""
            yield f"{format_count(rest, f'{other}fact')} {state}"


def _gaps(state: str, shifts: "Sequence[FactChange]") -> list[str]:
    if len(shifts) > SHOWN:
        return [f"{format_count(len(shifts), 'gap')} {state}"]
    return [f"gap {state}: {describe_shift(shift)}" for shift in shifts]


def describe_shift(shift: "FactChange") -> str:
    """Return "Nell's eyes: grey -> brown", or what is known of her alone."""
    whose = f"{shift.subject}'s" if shift.subject and shift.what else shift.subject
    about = f"{whose} {shift.what}".strip()
    said = " -> ".join(_short(one) for one in (shift.before, shift.after) if one)
    return f"{about}: {said}" if about and said != shift.what else about or said


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _more(number: int) -> str:
    return f" and {number - SHOWN:,} more" if number > SHOWN else ""


def _unsettled(saved: SaveReport) -> list[str]:
    """Return what the save took the ground from, and where to read it."""
    answers, threads = saved.unsettled.answers, saved.unsettled.threads
    if not answers:
        return []
    ids = ", ".join(thread[:SHORT_ID] for thread in threads[:SHOWN])
    return [
        f"{format_count(answers, 'answer')} in {format_count(len(threads), 'conversation')}"
        f" {'rests' if answers == 1 else 'rest'} on what changed"
        f" (lrwr threads show {ids}{_more(len(threads))})"
    ]


def _took(saved: SaveReport) -> str:
    calls = f"{format_count(saved.usage.calls, 'call')} of {saved.model}, "
    return f"{calls if saved.usage.calls else ''}{saved.seconds:.1f} s"


def describe_watch_event(event: WatchEvent | NewContradictions) -> tuple[str, str]:
    """Return a line that tells an event, and what the status line says of it.

    Either may be empty.
    """
    match event:
        case WatchStart(documents):
            return "", f"watching {format_count(documents, 'document')}, up to date"
        case SaveReport():
            return _save(event)
        case NewContradictions(found):
            return "\n".join(map(_slip, found)), ""
        case ManuscriptAway(what):
            return f"{what}. Nothing is forgotten; waiting for its return.", "away"
        case ManuscriptReturn():
            return "The manuscript is there again.", "up to date"
        case PollingFallback(why):
            return f"{why}: files are looked at every two seconds instead.", ""
        case WatchFailure(message, hint):
            return f"{message} {hint}".strip(), ""


def _save(saved: SaveReport) -> tuple[str, str]:
    names = [str(document.document) for document in saved.learned.documents]
    if not names:
        return " ".join(saved.remarks), ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return describe_save(saved), f"{names[0].rpartition('/')[2]}{more} read again"


def _slip(contradiction: Contradiction) -> str:
    found, canon = _said(contradiction.found), _said(contradiction.canon)
    return f"{contradiction.about}, {contradiction.attribute}: {found}, but {canon} (lrwr check)"


def _said(side: ContradictionSide) -> str:
    where = (
        format_evidence_location(side.evidence[0])
        if side.evidence
        else "lrwr.canon.toml"
    )
    return f"{where} says “{side.value}”"
