"""A process that writes a proposal when told to: `python -m tests.fakes.writing_process`.

It imports what that needs once. For each line on its standard input it starts a child
that runs `draft write new`, prints its id, and when it ended its exit code.
"""

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import lrwr.core.adapters.chat.langchain_client
import lrwr.core.drafting.graph
from lrwr.app.container import open_workspace
from lrwr.app.drafts import open_draft_folder
from lrwr.app.proposals import ProposalOrder, ProposalWriter
from lrwr.core.settings.loader import load_settings

WARM = (lrwr.core.drafting.graph, lrwr.core.adapters.chat.langchain_client)
"""Modules that take seconds to import."""


async def write(place: Path) -> None:
    """Write a proposal for the scene `new`."""
    settings = load_settings(Path.cwd(), os.environ, {})
    async with open_workspace(settings) as workspace:
        writer = ProposalWriter(workspace, open_draft_folder(workspace))
        await writer.write(ProposalOrder("new"), place)


def tell(line: object) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def start() -> int:
    """Start a child and return its id."""
    child = os.fork()
    if child:
        return child
    try:
        with TemporaryDirectory() as place:
            asyncio.run(write(Path(place)))
    except BaseException as error:  # noqa: BLE001 - the child must not go on as parent
        sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    tell("ready")
    for _ in sys.stdin:
        process = start()
        tell(process)
        _, status = os.waitpid(process, 0)
        tell(os.waitstatus_to_exitcode(status))
