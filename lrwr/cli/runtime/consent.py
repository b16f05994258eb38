"""Asking the writer's leave, and saying what leaves this machine before it does."""

import sys
from typing import TYPE_CHECKING

from lrwr.app.egress import announce_first_uses, pending_consents, record_consent

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.cli.runtime.output import Output

SEARCH_SERVICES = ("openai-embeddings", "qdrant", "cohere")
"""What a search may be sent to."""

INGEST_SERVICES = ("openai-embeddings", "supabase", "langsmith")
"""What all that is read is sent to, whoever else reads it."""

ANSWER_SERVICES = ("openai", "tavily", *SEARCH_SERVICES, "supabase", "langsmith")
"""What a question may be sent to."""

_YES = frozenset({"y", "yes"})


def prompt_for_consent(
    workspace: "Workspace", output: "Output", *names: str, as_json: bool
) -> None:
    """Ask, once for a folder, about services that only its own settings turn on.

    Where nobody can be asked, nothing is and the services stay unused.

    Raises:
        StoreProblem: The answer cannot be stored.
    """
    if not _can_be_asked(as_json):
        return
    for request in pending_consents(workspace.egress, names):
        output.story(request.question)
        output.story("Allow it for this folder? [y/N]")
        line = sys.stdin.readline(100)
        if not line:
            continue  # nobody there after all
        allowed = line.strip().lower() in _YES
        record_consent(workspace.egress, request.name, allowed=allowed)
        other = "deny" if allowed else "allow"
        output.story(f"To change your mind: lrwr privacy {other} {request.name}")


def announce_first_use(workspace: "Workspace", output: "Output", *names: str) -> None:
    """Print a line about what leaves, the first time that a library uses a service."""
    announce_first_uses(workspace.egress, names, output.story)


def _can_be_asked(as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()
