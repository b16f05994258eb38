"""What would be forgotten, and what is: in words, and as JSON."""

from collections.abc import Callable, Iterator

from lrwr.app.maintenance.check_result import format_size, pluralize
from lrwr.app.maintenance.deletion import DeletionPlan, DeletionResult
from lrwr.app.maintenance.local_data import RECORDS
from lrwr.app.presenters.text import LinePiece, StyledText, format_count
from lrwr.cli.runtime.output import Output
from lrwr.core.adapters.storage.sqlite.maintenance import EgressRecipient
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.core.settings.service_access import parse_host

KEPT = (
    "Your manuscript, lrwr.toml and lrwr.canon.toml stay, and so do backups, your keys"
    " and your sign-in."
)

_BY_HAND = {
    "langsmith": ": traces stay there, and so do the datasets and experiments of"
    " `lrwr eval`. Delete traces, or their whole project, in LangSmith: it cannot tell"
    " those of one library from another's. Datasets and experiments are listed apart:"
    " their names begin with `traces.project`.",
    "modal": ": what a call took and gave stays there for some days: how long, Modal"
    " says. A call that is still under way is not cancelled: stop the app in Modal.",
}
"""What stays at a service, and how it goes."""

_ANY = ". lrwr cannot call them back: look at what it says of keeping them."

BACKUP = "Conversations cannot be had back. To keep them: lrwr backup"


def show_deletion_plan(plan: DeletionPlan, output: Output, *, to_stderr: bool) -> None:
    """Show what would go, from where, and what stays."""
    say: Callable[..., None] = output.story if to_stderr else output.answer
    say(f"What lrwr keeps of {plan.library.root}, in {plan.library.state_dir}:")
    for part in plan.kept.parts:
        labels = [part.what, *_counts(plan)] if part.what == RECORDS else [part.what]
        say(f"- {', '.join(labels)} ({format_size(part.size)})")
    if plan.answers:
        say("- your answers about services for this folder")
    if not plan.kept.parts:
        say("- nothing any more")
    for place in plan.asked:
        say(f"- {place}")
    for sentence in _remarks(plan):
        say(sentence)


def show_deletion_result(
    plan: DeletionPlan, deletion_result: DeletionResult, output: Output
) -> None:
    """Say what is gone, and what is left."""
    for failure in deletion_result.left:
        output.warn(f"Left: {failure.where}: {failure.why}.")
        for name in failure.what:
            output.story(StyledText(name, "place"), indent=2)
        output.story(failure.remedy, indent=2)
    if not deletion_result.left:
        scope_text = "" if plan.everywhere else " on this machine"
        output.answer(f"Forgotten{scope_text}: {plan.library.root}")
    else:
        output.answer(f"Forgotten, but not all of it: {plan.library.root}")


def deletion_plan_as_json(plan: DeletionPlan) -> dict[str, object]:
    """Return what would go, for scripts; sizes are in bytes."""
    inventory = plan.weight
    return {
        "library": plan.library.root,
        "state_dir": plan.library.state_dir,
        "everywhere": plan.everywhere,
        "here": [{"what": part.what, "size": part.size} for part in plan.kept.parts],
        "size": plan.kept.size,
        "documents": inventory.documents,
        "passages": inventory.passages,
        "conversations": inventory.conversations,
        "answers": inventory.answers,
        "replies": inventory.replies,
        "requests": inventory.requests,
        "elsewhere": list(plan.asked),
        "refused": list(plan.refused),
        "not_lrwrs": list(plan.kept.others),
        "sent_to": list(inventory.recipients),
    }


def deletion_result_as_json(
    plan: DeletionPlan, deletion_result: DeletionResult
) -> dict[str, object]:
    """Return what is gone and what is left, for scripts."""
    return {
        **deletion_plan_as_json(plan),
        "gone": list(deletion_result.gone),
        "left": list(deletion_result.left),
        "all_gone": not deletion_result.left,
    }


def _counts(plan: DeletionPlan) -> Iterator[str]:
    inventory = plan.weight
    numbers = (
        (inventory.documents, "document", "documents"),
        (inventory.passages, "passage", "passages"),
        (inventory.conversations, "conversation", "conversations"),
        (inventory.answers, "answer", "answers"),
        (inventory.replies, "reply of a model", "replies of a model"),
        (inventory.requests, "request in the list", "requests in the list"),
    )
    return (
        pluralize(number, singular, plural)
        for number, singular, plural in numbers
        if number
    )


def _remarks(plan: DeletionPlan) -> Iterator[LinePiece]:
    if plan.weight.conversations:
        yield BACKUP
    yield KEPT
    yield from plan.refused
    if plan.kept.others:
        yield f"Not lrwr's, and left alone: {', '.join(plan.kept.others)}."
    for recipient in plan.weight.recipients:
        if not _is_dealt_with(plan, recipient):
            yield _stays(recipient)


def _is_dealt_with(plan: DeletionPlan, recipient: EgressRecipient) -> bool:
    """Say whether it is told anyway what goes at a service, and what is left."""
    if recipient.service == "supabase" and plan.known.hosted:
        return parse_host(plan.known.hosted.project) == recipient.host
    return recipient.service == "qdrant"


def _stays(recipient: EgressRecipient) -> str:
    """Say what a service was sent that lrwr cannot call back."""
    hosted = HOSTED_SERVICES.get(recipient.service)
    name = hosted.title if hosted else "The server"
    sentence = f"{name} at {recipient.host} was sent {format_count(recipient.requests, 'request')}"
    return sentence + _BY_HAND.get(recipient.service, _ANY)
