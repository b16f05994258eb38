"""`lrwr forget`: delete everything that lrwr stores about a manuscript."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Annotated
from unicodedata import normalize

import typer

from lrwr.app.maintenance.check_result import format_size
from lrwr.app.maintenance.deletion import (
    DeletionPlan,
    DeletionResult,
    delete_local_library,
    plan_deletion,
)
from lrwr.app.maintenance.local_data import RECORDS
from lrwr.app.presenters.text import LinePiece, StyledText, format_count
from lrwr.cli.runtime.event_loop import run_async
from lrwr.cli.runtime.options import JsonOption
from lrwr.cli.runtime.output import Output, start_session
from lrwr.core.adapters.storage.sqlite.maintenance import EgressRecipient
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.core.settings.service_access import parse_host

EPILOG = (
    "Examples: lrwr forget --dry-run · lrwr forget · lrwr forget --here --yes. Exit"
    " code 0: all is deleted; 7: something could not be deleted, and is listed."
)

_LONGEST = 10_000
"""Maximum number of characters read of a typed line."""

_NOT_DELETED = (
    "Not deleted: your manuscript, `lrwr.toml`, `lrwr.canon.toml`, backups, API keys and"
    " your sign-in."
)

_SERVICE_RETENTION = {
    "langsmith": ". Traces, datasets and experiments stay there, because LangSmith"
    " does not record which library they belong to. Delete traces, or the project, in"
    " LangSmith; names of datasets and experiments begin with `traces.project`.",
    "modal": ". Modal stores the input and output of calls for some days; see its"
    " documentation. Calls in progress are not cancelled: stop the app in Modal.",
}
"""What a service keeps, and how to delete it there."""

_UNKNOWN_RETENTION = (
    ". lrwr cannot delete them; see the service's data retention rules."
)

_BACKUP_FIRST = "Threads cannot be restored. To keep them, run `lrwr backup` first."


app = typer.Typer()


@app.command("forget", epilog=EPILOG)
def forget_command(
    context: typer.Context,
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere/--here",
            help="Delete on configured servers too, or only on this machine.",
        ),
    ] = True,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask for confirmation.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only show what would be deleted; contact no server."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete what lrwr stores about this manuscript.

    Deletes on this machine and on configured servers.


    Your manuscript, lrwr.toml and lrwr.canon.toml are never changed. Threads (saved
    conversations) cannot be restored; run `lrwr backup` first to keep them.
    """
    settings, output = start_session(context)
    plan = plan_deletion(settings, everywhere=everywhere)
    if dry_run and as_json:
        output.json({"dry_run": True, **deletion_plan_as_json(plan)})
        return
    _show_plan(plan, output, to_stderr=as_json)
    if dry_run:
        return
    _confirm(plan, output, yes=yes)
    result = run_async(delete_local_library(plan, settings, os.environ, output.info))
    if as_json:
        output.json({"dry_run": False, **deletion_result_as_json(plan, result)})
    else:
        _show_result(plan, result, output)
    if result.failures:
        raise typer.Exit(int(ExitCode.PARTIAL))


def _confirm(plan: DeletionPlan, output: Output, *, yes: bool) -> None:
    """Ask for the name of the folder, unless `yes`.

    Raises:
        SettingsProblem: The name is wrong, or `yes` is not allowed for this folder.
    """
    if yes and plan.unsafe:
        raise SettingsProblem(
            f"{plan.unsafe}, so `--yes` is not enough. Nothing was deleted",
            hint="If the folder is yours, run"
            f" `LRWR_STATE_DIR={plan.library.state_dir} lrwr forget`.",
        )
    if yes:
        return
    name = plan.library.root.name or str(plan.library.root)
    output.info(f"To continue, type the name of the folder, {name}:")
    typed_name = sys.stdin.readline(_LONGEST).strip()
    if normalize("NFC", typed_name) != normalize("NFC", name):
        raise SettingsProblem(
            "The name does not match the folder. Nothing was deleted",
            hint=f"Type {name}, or use `--yes`.",
        )


def _show_plan(plan: DeletionPlan, output: Output, *, to_stderr: bool) -> None:
    say: Callable[..., None] = output.info if to_stderr else output.answer
    say(f"Stored about {plan.library.root}, in {plan.library.state_dir}:")
    for part in plan.local_data.parts:
        if not part.size and part.what != RECORDS:
            continue  # locks and empty folders
        labels = [part.what, *_counts(plan)] if part.what == RECORDS else [part.what]
        say(f"- {', '.join(labels)} ({format_size(part.size)})")
    if plan.consent_files:
        say("- your consents to services for this folder")
    if not plan.local_data.parts:
        say("- nothing")
    for place in plan.server_data:
        say(f"- {place}")
    for sentence in _remarks(plan):
        say(sentence)


def _show_result(
    plan: DeletionPlan, deletion_result: DeletionResult, output: Output
) -> None:
    for failure in deletion_result.failures:
        output.notice_warning(f"Not deleted: {failure.where}: {failure.why}.")
        for name in failure.what:
            output.notice(StyledText(name, "place"), indent=2)
        output.notice(failure.remedy, indent=2)
    if not deletion_result.failures:
        scope_text = "" if plan.everywhere else " on this machine"
        output.answer(
            f"Deleted everything stored about {plan.library.root}{scope_text}"
        )
    else:
        output.answer(
            "Not everything was deleted: see above for what lrwr still stores about"
            f" {plan.library.root}"
        )


def deletion_plan_as_json(plan: DeletionPlan) -> dict[str, object]:
    """Return what `lrwr forget` would delete as JSON; sizes are in bytes.

    `here` lists the files on this machine; the next keys count what they contain.
    `elsewhere` and `refused` are sentences on data at servers that would be deleted or
    stay, `not_lrwrs` names of other files, `sent_to` the recipients in the send log.
    """
    inventory = plan.inventory
    return {
        "library": plan.library.root,
        "state_dir": plan.library.state_dir,
        "everywhere": plan.everywhere,
        "here": [
            {"what": part.what, "size": part.size} for part in plan.local_data.parts
        ],
        "size": plan.local_data.size,
        "documents": inventory.documents,
        "passages": inventory.passages,
        "conversations": inventory.conversations,
        "answers": inventory.answers,
        "replies": inventory.replies,
        "requests": inventory.requests,
        "elsewhere": list(plan.server_data),
        "refused": list(plan.refusals),
        "not_lrwrs": list(plan.local_data.others),
        "sent_to": list(inventory.recipients),
    }


def deletion_result_as_json(
    plan: DeletionPlan, deletion_result: DeletionResult
) -> dict[str, object]:
    """Return the result of `lrwr forget` as JSON: the keys of the plan and three more.

    `gone` are sentences on what was deleted, `left` the failures; `all_gone` is true
    without failures.
    """
    return {
        **deletion_plan_as_json(plan),
        "gone": list(deletion_result.deleted),
        "left": list(deletion_result.failures),
        "all_gone": not deletion_result.failures,
    }


def _counts(plan: DeletionPlan) -> Iterator[str]:
    inventory = plan.inventory
    numbers = (
        (inventory.documents, "document", "documents"),
        (inventory.passages, "passage", "passages"),
        (inventory.conversations, "thread", "threads"),
        (inventory.answers, "answer", "answers"),
        (inventory.replies, "model reply", "model replies"),
        (inventory.requests, "request in the send log", "requests in the send log"),
    )
    return (
        format_count(number, singular, plural)
        for number, singular, plural in numbers
        if number
    )


def _remarks(plan: DeletionPlan) -> Iterator[LinePiece]:
    if plan.inventory.conversations:
        yield _BACKUP_FIRST
    yield _NOT_DELETED
    yield from plan.refusals
    if plan.local_data.others:
        yield f"Not created by lrwr, and not deleted: {', '.join(plan.local_data.others)}."
    for recipient in plan.inventory.recipients:
        if not _is_deleted_there(plan, recipient):
            yield _describe_retention(recipient)


def _is_deleted_there(plan: DeletionPlan, recipient: EgressRecipient) -> bool:
    if recipient.service == "supabase" and plan.identifiers.hosted:
        return parse_host(plan.identifiers.hosted.project) == recipient.host
    return recipient.service == "qdrant"


def _describe_retention(recipient: EgressRecipient) -> str:
    hosted = HOSTED_SERVICES.get(recipient.service)
    name = hosted.title if hosted else "The server"
    sentence = f"{name} at {recipient.host} received {format_count(recipient.requests, 'request')}"
    return sentence + _SERVICE_RETENTION.get(recipient.service, _UNKNOWN_RETENTION)
