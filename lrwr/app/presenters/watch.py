"""Saves that `lrwr watch` processed, as text and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.ingestion import describe_document_problem
from lrwr.app.presenters.text import format_count, sanitize_line
from lrwr.core.bible.values import format_evidence_location
from lrwr.core.continuity.statements import (
    Contradiction,
    ContradictionSide,
    NewContradictions,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import LrwrError
from lrwr.core.model.facts import FactAbout
from lrwr.core.model.turns import ThreadId
from lrwr.pipeline.watch.events import (
    DocumentDelta,
    KnowledgeDelta,
    ManuscriptAway,
    ManuscriptReturn,
    PollingFallback,
    SaveReport,
    WatchEvent,
    WatchFailure,
    WatchStart,
)

if TYPE_CHECKING:
    from lrwr.core.bible.timeline import FactChange

SHOWN = 3
"""Maximum number of documents, names or facts listed in one line."""
LONGEST = 60
"""Maximum number of characters of a value in a line."""

SHORT_ID = 8
"""Characters of a thread id that are shown; enough to be unique in practice."""


def describe_save(report: SaveReport) -> str:
    """Return in one line what a save changed, and its cost in model calls and seconds.

    It names documents, characters, facts, open questions and outdated answers; long
    lists are counted instead.
    """
    changes = report.learned
    parts = [_documents(changes.documents)]
    parts += _list_names("new", changes.names_new)
    parts += _list_names("gone", changes.names_gone)
    parts += _facts(changes)
    parts += _gaps("opened", changes.gaps_opened)
    parts += _gaps("closed", changes.gaps_closed)
    parts += _unsettled(report)
    text = "; ".join(part for part in parts if part)
    return sanitize_line(f"{text} ({_describe_cost(report)})")


def list_changed_documents(learned: KnowledgeDelta) -> list[str]:
    """Return the ids of the documents that changed, in the order of `learned`.

    Deleted documents are included; a renamed one has its new id.
    """
    return [document.document for document in learned.documents if document.changed]


def describe_save_problems(report: SaveReport) -> Iterator[tuple[str, str]]:
    """Yield a message and a hint for each document that could not be processed.

    The hint is empty if there is nothing to try.
    """
    for problem in report.problems:
        yield sanitize_line(describe_document_problem(problem)), problem.hint


def _documents(documents: Sequence[DocumentDelta]) -> str:
    if not documents:
        return "nothing to process"
    kinds = {
        "processed": [
            document for document in documents if not document.gone and not document.was
        ],
        "renamed": [document for document in documents if document.was],
        "deleted": [document for document in documents if document.gone],
    }
    parts = []
    for verb, group in kinds.items():
        if group:
            parts.append(
                f"{_name_documents(group)} {verb}{describe_passage_changes(group)}"
            )
    return "; ".join(parts)


def _name_documents(documents: Sequence[DocumentDelta]) -> str:
    if len(documents) > SHOWN:
        return format_count(len(documents), "document")
    names = (
        f"{document.was} -> {document.document}" if document.was else document.document
        for document in documents
    )
    return ", ".join(names)


def describe_passage_changes(
    documents: Sequence[DocumentDelta], noun: str = "passage"
) -> str:
    """Return how many passages changed, such as ": 2 passages changed, 1 new".

    `noun` is the singular word for what is counted in `documents`. Empty if all were
    deleted, or if nothing changed and one was renamed; ": no passages changed" if nothing
    changed.
    """
    if all(document.gone for document in documents):
        return ""
    counts = {
        "changed": sum(document.passages_changed for document in documents),
        "new": sum(document.passages_new for document in documents),
        "gone": sum(document.passages_gone for document in documents),
    }
    state_counts = [(number, state) for state, number in counts.items() if number]
    if not state_counts:
        return (
            ""
            if any(document.was for document in documents)
            else ": no passages changed"
        )
    (first_count, state), *other_counts = state_counts
    words = [f"{format_count(first_count, noun)} {state}"]
    return f": {', '.join([*words, *(f'{n:,} {state}' for n, state in other_counts)])}"


def _list_names(title: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"{title}: {', '.join(names[:SHOWN])}{_format_hidden_count(len(names))}"]


def _facts(changes: KnowledgeDelta) -> Iterator[str]:
    yield from map(describe_shift, changes.facts_changed[:SHOWN])
    hidden_count = len(changes.facts_changed) - SHOWN
    if hidden_count > 0:
        yield f"{hidden_count:,} more changed"
    for state, shifts in (("new", changes.facts_new), ("gone", changes.facts_gone)):
        people = [shift for shift in shifts if shift.about is FactAbout.CHARACTER]
        listed = people if len(people) <= SHOWN else []
        yield from (
            f"{state}: {describe_shift(listed_shift)}" for listed_shift in listed
        )
        if other_count := len(shifts) - len(listed):
            other = "other " if listed else ""
            yield f"{format_count(other_count, f'{other}fact')} {state}"


def _gaps(state: str, shifts: "Sequence[FactChange]") -> list[str]:
    if len(shifts) > SHOWN:
        return [f"{format_count(len(shifts), 'open question')} {state}"]
    return [f"question {state}: {describe_shift(shift)}" for shift in shifts]


def describe_shift(shift: "FactChange") -> str:
    """Return a change of a fact: "Nell's eyes: grey -> brown".

    A fact that is new or gone has one value: "Nell's eyes: grey".
    """
    owner = f"{shift.subject}'s" if shift.subject and shift.what else shift.subject
    subject = f"{owner} {shift.what}".strip()
    values = " -> ".join(
        _shorten(value) for value in (shift.before, shift.after) if value
    )
    return (
        f"{subject}: {values}"
        if subject and values != shift.what
        else subject or values
    )


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _format_hidden_count(number: int) -> str:
    return f" and {number - SHOWN:,} more" if number > SHOWN else ""


def _unsettled(report: SaveReport) -> list[str]:
    """Return how many saved answers cite changed passages, and how to show them."""
    answers, threads = report.unsettled.answers, report.unsettled.threads
    if not answers:
        return []
    ids = ", ".join(thread[:SHORT_ID] for thread in threads[:SHOWN])
    return [
        f"{format_count(answers, 'answer')} in {format_count(len(threads), 'thread')}"
        f" {'cites' if answers == 1 else 'cite'} changed passages"
        f" (lrwr threads show {ids}{_format_hidden_count(len(threads))})"
    ]


def _describe_cost(report: SaveReport) -> str:
    calls = f"{format_count(report.usage.calls, 'call')} of {report.model}, "
    return f"{calls if report.usage.calls else ''}{report.seconds:.1f} s"


def describe_watch_event(
    event: WatchEvent | NewContradictions, titles: Mapping[ThreadId, str]
) -> tuple[str, str]:
    """Return an event of watching as a message, and as text for the status line.

    `titles` are those of the threads whose answers a save made outdated. Either text is
    empty if the event needs none.
    """
    match event:
        case WatchStart(documents):
            return "", f"watching {format_count(documents, 'document')}, up to date"
        case SaveReport():
            return _summarize_save(event, titles)
        case NewContradictions(found):
            return "\n".join(map(_describe_contradiction, found)), ""
        case ManuscriptAway(what):
            return (
                f"{what}. The library is unchanged; waiting for the files.",
                "watching, waiting for the files",
            )
        case ManuscriptReturn():
            return "The manuscript is available again.", "watching, up to date"
        case PollingFallback(why):
            return f"{why}. Files are checked every two seconds instead.", ""
        case WatchFailure(message, hint):
            return LrwrError(message, hint=hint).full_text, ""


def _summarize_save(
    report: SaveReport, titles: Mapping[ThreadId, str]
) -> tuple[str, str]:
    documents = report.learned.documents
    if not documents:
        return sanitize_line(" ".join(_list_warnings(report))), ""
    others_text = f" and {len(documents) - 1} more" if len(documents) > 1 else ""
    verb = "deleted" if all(document.gone for document in documents) else "read"
    name = _file_name(documents[0].document)
    return _describe_notice(report, titles), f"watching · {name}{others_text} {verb}"


def _describe_notice(report: SaveReport, titles: Mapping[ThreadId, str]) -> str:
    """Return what a save changed as short sentences, without ids, folders and costs."""
    changes = report.learned
    people = [new for new in changes.facts_new if new.about is FactAbout.CHARACTER]
    gone = [old for old in changes.facts_gone if old.about is FactAbout.CHARACTER]
    sentences = [_notice_of_documents(changes.documents)]
    sentences += _list_names("New in the text", changes.names_new)
    sentences += _list_names("No longer in the text", changes.names_gone)
    sentences += _list_shifts("New fact", people)
    sentences += _list_shifts("Changed fact", changes.facts_changed)
    sentences += _list_shifts("Deleted fact", gone)
    sentences += _list_shifts("New open question", changes.gaps_opened)
    sentences += _list_shifts("Settled question", changes.gaps_closed)
    sentences += [warning.rstrip(".") for warning in _list_warnings(report)]
    threads = report.unsettled.threads
    if threads:
        names = ", ".join(f"“{titles.get(t, '(no title)')}”" for t in threads[:SHOWN])
        noun = "thread" if len(threads) == 1 else "threads"
        more = _format_hidden_count(len(threads))
        sentences.append(f"Cited in the {noun} {names}{more}")
    return sanitize_line(" ".join(f"{sentence}." for sentence in sentences))


def _list_warnings(report: SaveReport) -> list[str]:
    """Return the problems with their hints, then the remarks, as sentences."""
    problems = [
        f"{message}. {hint}".rstrip()
        for message, hint in describe_save_problems(report)
    ]
    return [*problems, *report.remarks]


def _notice_of_documents(documents: Sequence[DocumentDelta]) -> str:
    read = [document for document in documents if not document.gone]
    if not read:
        return f"{_list_file_names(documents)} deleted"
    return f"{_list_file_names(read)} read{describe_passage_changes(read)}"


def _list_file_names(documents: Sequence[DocumentDelta]) -> str:
    if len(documents) > SHOWN:
        return format_count(len(documents), "document")
    return ", ".join(_file_name(document.document) for document in documents)


def _file_name(document: DocumentId) -> str:
    return document.rpartition("/")[2]


def _list_shifts(title: str, shifts: "Sequence[FactChange]") -> list[str]:
    listed = [f"{title}: {describe_shift(s).rstrip('.')}" for s in shifts[:SHOWN]]
    hidden = len(shifts) - SHOWN
    return [*listed, f"{title}: {hidden:,} more"] if hidden > 0 else listed


def _describe_contradiction(contradiction: Contradiction) -> str:
    found_text, canon_text = (
        _quote_side(contradiction.found),
        _quote_side(contradiction.canon),
    )
    return f"{contradiction.about}, {contradiction.attribute}: {found_text}, but {canon_text} (lrwr check)"


def _quote_side(side: ContradictionSide) -> str:
    location = (
        format_evidence_location(side.evidence[0])
        if side.evidence
        else "lrwr.canon.toml"
    )
    return f"{location} says “{side.value}”"


def watch_event_as_json(event: WatchEvent) -> dict[str, object]:
    """Return an event of `lrwr watch` as JSON.

    The key `event` is its kind: `watching`, `saved`, `away`, `returned`, `polling` or
    `trouble`; the other keys depend on it. A save has `cause`, `seconds`, and what was
    new, changed and gone.
    """
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
        "missing": report.missing,
        "answers": {
            "changed": report.unsettled.answers,
            "threads": report.unsettled.threads,
        },
    }


def document_delta_as_json(
    document_delta: DocumentDelta, parts: str
) -> dict[str, object]:
    """Return as JSON what changed in a document.

    Keys are `document` (its id), `was` (its former id if renamed, else None), `gone`
    (whether it was deleted) and `parts`, a name that the caller chooses for the counted
    units ("passages"); its value has the numbers of `new`, `changed` and `gone` ones.
    """
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
