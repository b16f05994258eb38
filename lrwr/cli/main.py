"""The command line: every command by name. Nothing heavy is imported here."""

import os
import sys
from copy import copy
from typing import Annotated

import typer

from lrwr import __version__
from lrwr.cli.commands import (
    account,
    ask,
    backup,
    canon,
    characters,
    chat,
    check,
    config,
    deploy,
    diff,
    doctor,
    eval_review,
    export,
    forget,
    gaps,
    home,
    ingest,
    init,
    jobs,
    keys,
    privacy,
    quotes,
    recap,
    relations,
    search,
    status,
    threads,
    timeline,
    transfer,
    watch,
    world,
)
from lrwr.cli.commands import (
    eval as evaluation,
)
from lrwr.cli.runtime.groups import NamedGroup
from lrwr.core.model.errors import ExitCode, LrwrError

COMPLETION_VARIABLE = "_LRWR_COMPLETE"
"""The variable by which a shell says that it completes a command."""

app = typer.Typer(
    name="lrwr",
    help="The Little Red Writing Room: reads your manuscript, and answers from it.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: lrwr ingest FOLDER, then lrwr ask 'who is …?'",
)
canon_app = typer.Typer(invoke_without_command=True, epilog=canon.EPILOG)
characters_app = typer.Typer(
    cls=NamedGroup, invoke_without_command=True, epilog=characters.EPILOG
)
check_app = typer.Typer(
    cls=NamedGroup, invoke_without_command=True, epilog=check.EPILOG
)
eval_app = typer.Typer(invoke_without_command=True, epilog=evaluation.EPILOG)
gaps_app = typer.Typer(cls=NamedGroup, invoke_without_command=True, epilog=gaps.EPILOG)
threads_app = typer.Typer(invoke_without_command=True, epilog=threads.EPILOG)
privacy_app = typer.Typer(invoke_without_command=True, epilog=privacy.EPILOG)
deploy_app = typer.Typer(
    help="Put lrwr where documents can be read elsewhere.", no_args_is_help=True
)
export_app = typer.Typer(
    help="Write what lrwr knows into a file of yours.", no_args_is_help=True
)
settings_app = typer.Typer(
    help="See what is set, and where; keep keys.", no_args_is_help=True
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lrwr {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback has answered already
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and stop.",
        ),
    ] = False,
    color: Annotated[
        str | None,
        typer.Option(help="Colours: auto, always or never.", metavar="WHEN"),
    ] = None,
) -> None:
    """The Little Red Writing Room: reads your manuscript, and answers from it."""
    context.obj = {"output.color": color}
    if context.invoked_subcommand is None:
        home.home_command(context)


app.command("ingest", epilog=ingest.EPILOG)(ingest.ingest_command)
deploy_app.command("modal", epilog=deploy.MODAL_EPILOG)(deploy.deploy_modal_command)
app.add_typer(deploy_app, name="deploy")
app.command("watch", epilog=watch.EPILOG)(watch.watch_command)
app.command("diff", epilog=diff.EPILOG)(diff.diff_command)
app.command("search", epilog=search.EPILOG)(search.search_command)
app.command("ask", epilog=ask.EPILOG)(ask.ask_command)
app.command("chat", epilog=chat.EPILOG)(chat.chat_command)
eval_app.callback()(evaluation.eval_command)
eval_app.command("compare", epilog=evaluation.COMPARE_EPILOG)(
    evaluation.eval_compare_command
)
eval_app.command("review", epilog=eval_review.EPILOG)(eval_review.eval_review_command)
eval_app.command("runs")(evaluation.eval_runs_command)
eval_app.command("send", epilog=evaluation.SEND_EPILOG)(evaluation.eval_send_command)
eval_app.command("show", epilog=evaluation.SHOW_EPILOG)(evaluation.eval_show_command)
app.add_typer(eval_app, name="eval")
app.command("status")(status.status_command)
app.command("jobs")(jobs.jobs_command)
app.command("init")(init.init_command)
app.command("doctor", epilog=doctor.DOCTOR_EXAMPLES)(doctor.doctor_command)
app.command("repair", epilog=doctor.REPAIR_EXAMPLES)(doctor.repair_command)
app.command("backup", epilog=backup.BACKUP_EXAMPLES)(backup.backup_command)
app.command("restore", epilog=backup.RESTORE_EXAMPLES)(backup.restore_command)
app.command("push", epilog=transfer.PUSH_EPILOG)(transfer.push_command)
app.command("pull", epilog=transfer.PULL_EPILOG)(transfer.pull_command)
app.command("forget", epilog=forget.EPILOG)(forget.forget_command)
settings_app.command("show")(config.config_show_command)
settings_app.command("path")(config.config_path_command)
settings_app.command("keys", epilog=keys.KEYS_EXAMPLES)(keys.config_keys_command)
settings_app.command("set-key", epilog=keys.SET_EXAMPLES)(keys.config_set_key_command)
settings_app.command("unset-key", epilog=keys.UNSET_EXAMPLES)(
    keys.config_unset_key_command
)
app.add_typer(settings_app, name="config")
canon_app.callback()(canon.canon_command)
canon_app.command("type", epilog=canon.TYPE_EPILOG)(canon.canon_type_command)
canon_app.command("order", epilog=canon.ORDER_EPILOG)(canon.canon_order_command)
canon_app.command("pov", epilog=canon.POV_EPILOG)(canon.canon_pov_command)
canon_app.command("merge", epilog=canon.MERGE_EPILOG)(canon.canon_merge_command)
canon_app.command("split", epilog=canon.SPLIT_EPILOG)(canon.canon_split_command)
canon_app.command("rename", epilog=canon.RENAME_EPILOG)(canon.canon_rename_command)
canon_app.command("ignore", epilog=canon.IGNORE_EPILOG)(canon.canon_ignore_command)
canon_app.command("move", epilog=canon.MOVE_EPILOG)(canon.canon_move_command)
canon_app.command("undo")(canon.canon_undo_command)
canon_app.command("redo")(canon.canon_redo_command)
canon_app.command("check")(canon.canon_check_command)
app.add_typer(canon_app, name="canon")
characters_app.callback()(characters.characters_command)
characters_app.command("confirm", epilog=characters.CONFIRM_EPILOG)(
    characters.characters_confirm_command
)
characters_app.command("merge", epilog=characters.MERGE_EPILOG)(
    canon.canon_merge_command
)
characters_app.command("split", epilog=characters.SPLIT_EPILOG)(
    canon.canon_split_command
)
characters_app.command("rename", epilog=characters.RENAME_EPILOG)(
    canon.canon_rename_command
)
characters_app.command("ignore", epilog=characters.IGNORE_EPILOG)(
    canon.canon_ignore_command
)
characters_app.command("undo")(canon.canon_undo_command)
app.add_typer(characters_app, name="characters")
app.command("world", epilog=world.EPILOG)(world.world_command)
app.command("timeline", epilog=timeline.EPILOG)(timeline.timeline_command)
app.command("relations", epilog=relations.EPILOG)(relations.relations_command)
app.command("quotes", epilog=quotes.EPILOG)(quotes.quotes_command)
gaps_app.callback()(gaps.gaps_command)
gaps_app.command("answer", epilog=gaps.ANSWER_EPILOG)(gaps.gaps_answer_command)
gaps_app.command("dismiss", epilog=gaps.DISMISS_EPILOG)(gaps.gaps_dismiss_command)
gaps_app.command("undo")(canon.canon_undo_command)
app.add_typer(gaps_app, name="gaps")
check_app.callback()(check.check_command)
check_app.command("intend", epilog=check.INTEND_EPILOG)(check.check_intend_command)
check_app.command("undo")(canon.canon_undo_command)
app.add_typer(check_app, name="check")
app.command("recap", epilog=recap.EPILOG)(recap.recap_command)
export_app.command("bible", epilog=export.EPILOG)(export.export_bible_command)
app.add_typer(export_app, name="export")
threads_app.callback()(threads.threads_command)
threads_app.command("show", epilog=threads.SHOW_EPILOG)(threads.threads_show_command)
threads_app.command("rename", epilog=threads.RENAME_EPILOG)(
    threads.threads_rename_command
)
threads_app.command("search", epilog=threads.SEARCH_EPILOG)(
    threads.threads_search_command
)
threads_app.command("export", epilog=threads.EXPORT_EPILOG)(
    threads.threads_export_command
)
threads_app.command("delete", epilog=threads.DELETE_EPILOG)(
    threads.threads_delete_command
)
threads_app.command("undo")(threads.threads_undo_command)
app.add_typer(threads_app, name="threads")
privacy_app.callback()(privacy.privacy_command)
privacy_app.command("allow", epilog=privacy.ALLOW_EPILOG)(privacy.privacy_allow_command)
privacy_app.command("deny", epilog=privacy.DENY_EPILOG)(privacy.privacy_deny_command)
privacy_app.command("clear", epilog=privacy.CLEAR_EPILOG)(privacy.privacy_clear_command)
app.add_typer(privacy_app, name="privacy")
app.command("login", epilog=account.LOGIN_EPILOG)(account.login_command)
app.command("logout", epilog=account.LOGOUT_EPILOG)(account.logout_command)
app.command("whoami", epilog=account.WHOAMI_EPILOG)(account.whoami_command)


def run() -> None:
    """Run the command; turn every failure into a message and an exit code."""
    try:
        app_for(sys.argv[1:2])()
    except LrwrError as error:
        _say(error)
        sys.exit(int(error.exit_code))
    except KeyboardInterrupt:
        _say_stopped()
        sys.exit(int(ExitCode.INTERRUPTED))
    except SystemExit as end:  # what typer makes of Ctrl-C inside a command
        if end.code == ExitCode.INTERRUPTED:
            _say_stopped()
        raise
    except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
        from lrwr.cli.runtime.crash_report import report_crash

        fault = report_crash(error)
        _say(fault)
        sys.exit(int(fault.exit_code))


def app_for(first: list[str]) -> typer.Typer:
    """Return what has the command that is named first, and no other.

    To lay out what each can be told takes its time. All are there where none is named
    by its whole name, and where a shell completes one.
    """
    commands = [one for one in app.registered_commands if [one.name] == first]
    groups = [one for one in app.registered_groups if [one.name] == first]
    chosen = app
    if COMPLETION_VARIABLE not in os.environ and (commands or groups):
        chosen = copy(app)
        chosen.registered_commands, chosen.registered_groups = commands, groups
    _let_help_flow(chosen)
    return chosen


def _let_help_flow(told: typer.Typer) -> None:
    """Have help fill the terminal's width: Typer ends lines where a docstring does."""
    for one in (*told.registered_commands, told.registered_callback):
        if one is not None and one.callback is not None and one.callback.__doc__:
            paragraphs = one.callback.__doc__.split("\n\n")
            one.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for group in told.registered_groups:
        if group.typer_instance is not None:
            _let_help_flow(group.typer_instance)


def _say_stopped() -> None:
    typer.echo("\nlrwr: stopped; what was done so far is kept", err=True)


def _say(error: LrwrError) -> None:
    from lrwr.cli.runtime.output import Output

    Output().problem(error)
