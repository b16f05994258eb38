"""What a push or a pull did: in words, and as JSON."""

from collections.abc import Sequence

from lrwr.app.presenters.text import format_count
from lrwr.app.transfer.files import FileTransferResult
from lrwr.app.transfer.library import LibraryPullResult, LibraryPushResult
from lrwr.cli.runtime.output import Output
from lrwr.core.settings.model import Settings

_SHOWN = 5
"""Names of files that are told."""


def show_push_result(
    done: LibraryPushResult, settings: Settings, output: Output
) -> None:
    """Say what a push did."""
    records = done.records
    parts = _some(
        (records.documents, "document"),
        (records.removed, "removed document"),
        (records.conversations, "conversation"),
        (records.replies, "model answer"),
        (done.files.moved, "file"),
    )
    if parts:
        output.answer(f"{done.name} is at {done.host}. Taken there: {parts}.")
    else:
        output.answer(f"{done.name} is at {done.host} as it is here.")
    if done.files.changed:
        output.warn(
            f"Files changed since they were read were not sent:"
            f" {_names(done.files.changed)}. Run `lrwr ingest`, then `lrwr push` again."
        )
    if records.apart:
        output.warn("Something was read meanwhile: run `lrwr push` again.")
    if settings.records.keeper == "embedded":
        output.story(
            "It is a copy: this machine goes on by itself. To keep the library there"
            ' from now on, set [records] keeper = "supabase" in lrwr.toml.'
        )


def show_pull_result(
    done: LibraryPullResult, settings: Settings, output: Output
) -> None:
    """Say what a pull did."""
    parts = _some(
        (done.records.records, "record"),
        (done.records.conversations, "conversation"),
        (done.records.replies, "model answer"),
        (done.files.moved, "file"),
    )
    if parts:
        output.answer(f"{done.name} is here from {done.host}. Brought: {parts}.")
    else:
        output.answer(f"{done.name} is here as it is at {done.host}.")
    if done.files.written:
        output.story(f"{format_count(len(done.files.written), 'file')} written.")
    if done.files.changed:
        output.warn(
            f"These files are not kept there: {_names(done.files.changed)}."
            " `lrwr push` on the machine that has them takes them there."
        )
    if done.files.refused:
        output.warn(
            "Not written, for their names lead out of the folder or are none of a"
            f" manuscript's: {_names(done.files.refused)}."
        )
    if settings.records.keeper == "embedded":
        output.story(
            "It is a copy: what is read here stays here until `lrwr push`. To follow"
            ' the project from now on, set [records] keeper = "supabase" in lrwr.toml.'
        )


def push_result_as_json(done: LibraryPushResult) -> dict[str, object]:
    """Return what a push did, for scripts."""
    return {
        "library": done.name,
        "host": done.host,
        "begun": done.begun,
        "documents": done.records.documents,
        "unchanged": done.records.unchanged,
        "removed": done.records.removed,
        "conversations": done.records.conversations,
        "replies": done.records.replies,
        "changed_meanwhile": done.records.apart,
        "files": _files(done.files),
    }


def pull_result_as_json(done: LibraryPullResult) -> dict[str, object]:
    """Return what a pull did, for scripts."""
    return {
        "library": done.name,
        "host": done.host,
        "records": done.records.records,
        "conversations": done.records.conversations,
        "replies": done.records.replies,
        "files": _files(done.files),
    }


def _files(filed: FileTransferResult) -> dict[str, object]:
    return {
        "moved": filed.moved,
        "there": filed.there,
        "left_out": [*filed.changed, *filed.refused],
        "written": list(filed.written),
    }


def _some(*parts: tuple[int, str]) -> str:
    """Return those things of which there are any."""
    return ", ".join(format_count(number, noun) for number, noun in parts if number)


def _names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
