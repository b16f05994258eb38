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
    library_push_result: LibraryPushResult, settings: Settings, output: Output
) -> None:
    """Say what a push did."""
    records = library_push_result.records
    parts = _some(
        (records.documents, "document"),
        (records.removed, "removed document"),
        (records.conversations, "conversation"),
        (records.replies, "model answer"),
        (library_push_result.files.moved, "file"),
    )
    if parts:
        output.answer(
            f"{library_push_result.name} is at {library_push_result.host}. Taken there: {parts}."
        )
    else:
        output.answer(
            f"{library_push_result.name} is at {library_push_result.host} as it is here."
        )
    if library_push_result.files.changed:
        output.warn(
            f"Files changed since they were read were not sent:"
            f" {_names(library_push_result.files.changed)}. Run `lrwr ingest`, then `lrwr push` again."
        )
    if records.apart:
        output.warn("Something was read meanwhile: run `lrwr push` again.")
    if settings.records.keeper == "embedded":
        output.story(
            "It is a copy: this machine goes on by itself. To keep the library there"
            ' from now on, set [records] keeper = "supabase" in lrwr.toml.'
        )


def show_pull_result(
    library_pull_result: LibraryPullResult, settings: Settings, output: Output
) -> None:
    """Say what a pull did."""
    parts = _some(
        (library_pull_result.records.records, "record"),
        (library_pull_result.records.conversations, "conversation"),
        (library_pull_result.records.replies, "model answer"),
        (library_pull_result.files.moved, "file"),
    )
    if parts:
        output.answer(
            f"{library_pull_result.name} is here from {library_pull_result.host}. Brought: {parts}."
        )
    else:
        output.answer(
            f"{library_pull_result.name} is here as it is at {library_pull_result.host}."
        )
    if library_pull_result.files.written:
        output.story(
            f"{format_count(len(library_pull_result.files.written), 'file')} written."
        )
    if library_pull_result.files.changed:
        output.warn(
            f"These files are not kept there: {_names(library_pull_result.files.changed)}."
            " `lrwr push` on the machine that has them takes them there."
        )
    if library_pull_result.files.refused:
        output.warn(
            "Not written, for their names lead out of the folder or are none of a"
            f" manuscript's: {_names(library_pull_result.files.refused)}."
        )
    if settings.records.keeper == "embedded":
        output.story(
            "It is a copy: what is read here stays here until `lrwr push`. To follow"
            ' the project from now on, set [records] keeper = "supabase" in lrwr.toml.'
        )


def push_result_as_json(library_push_result: LibraryPushResult) -> dict[str, object]:
    """Return what a push did, for scripts."""
    return {
        "library": library_push_result.name,
        "host": library_push_result.host,
        "begun": library_push_result.begun,
        "documents": library_push_result.records.documents,
        "unchanged": library_push_result.records.unchanged,
        "removed": library_push_result.records.removed,
        "conversations": library_push_result.records.conversations,
        "replies": library_push_result.records.replies,
        "changed_meanwhile": library_push_result.records.apart,
        "files": _files(library_push_result.files),
    }


def pull_result_as_json(library_pull_result: LibraryPullResult) -> dict[str, object]:
    """Return what a pull did, for scripts."""
    return {
        "library": library_pull_result.name,
        "host": library_pull_result.host,
        "records": library_pull_result.records.records,
        "conversations": library_pull_result.records.conversations,
        "replies": library_pull_result.records.replies,
        "files": _files(library_pull_result.files),
    }


def _files(file_result: FileTransferResult) -> dict[str, object]:
    return {
        "moved": file_result.moved,
        "there": file_result.there,
        "left_out": [*file_result.changed, *file_result.refused],
        "written": list(file_result.written),
    }


def _some(*parts: tuple[int, str]) -> str:
    """Return those things of which there are any."""
    return ", ".join(format_count(number, noun) for number, noun in parts if number)


def _names(names: Sequence[str]) -> str:
    hidden_count = len(names) - _SHOWN
    listed = ", ".join(names[:_SHOWN])
    return f"{listed} and {hidden_count} more" if hidden_count > 0 else listed
