"""What is asked of the services, in the words of the screen. All of it runs backstage."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.egress import announce_first_uses, list_data_leaving
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import ThreadId, Turn, TurnEvent
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.tui.scope import ChatOptions, ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.core.ports.record_store import LibraryCounts


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the room finds when it opens.

    `model` is empty where no language model answers. `counts` is None where nothing has
    been ingested. `first_use` says what will leave the machine from now on.
    """

    sitting: ChatScope
    model: str = ""
    counts: "LibraryCounts | None" = None
    leaving: tuple[str, ...] = ()
    first_use: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()


async def load_welcome(workspace: "Workspace", opening: ChatOptions) -> Welcome:
    """Return how things stand, once all that is slow to load is loaded.

    Raises:
        NotFound: There is no such character, conversation or place in the story.
        SettingsProblem: The language model that is set has no key or no name.
    """
    if not workspace.is_ingested:
        return Welcome(ChatScope())
    session = workspace.sessions()
    sitting = await resolve_chat_scope(workspace, opening)
    turns = await workspace.threads.turns(sitting.thread) if sitting.thread else []
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    leaving, first_uses = list_data_leaving(workspace.egress), list[str]()
    announce_first_uses(workspace.egress, HOSTED_SERVICES, first_uses.append)
    return Welcome(
        sitting,
        session.model,
        counts,
        leaving,
        tuple(first_uses),
        tuple(turns),
    )


async def resolve_chat_scope(workspace: "Workspace", opening: ChatOptions) -> ChatScope:
    """Return where the writer begins.

    Raises:
        NotFound: There is no such character, conversation or place in the story.
    """
    from dataclasses import replace

    from lrwr.app.presenters.threads import find_thread
    from lrwr.core.bible.service import find_profile_by_name

    sitting = ChatScope()
    if opening.thread:
        found = find_thread(opening.thread, await workspace.threads.threads())
        sitting = ChatScope.of_thread(found)
    bible = workspace.bible()
    if opening.as_of:
        await bible.horizon(opening.as_of)
        sitting = replace(sitting, as_of=opening.as_of)
    if opening.character:
        horizon = await bible.horizon(sitting.as_of) if sitting.as_of else None
        name = find_profile_by_name(opening.character, await bible.read(horizon)).name
        sitting = replace(sitting, character=name)
    mode = opening.mode or sitting.mode
    return replace(sitting, mode=mode)


async def load_stopped_turn(
    workspace: "Workspace", sitting: ChatScope, text: str
) -> tuple[ThreadId, Turn] | None:
    """Return what was kept of a turn that was stopped; None where nothing was."""
    thread = sitting.thread
    if thread is None:
        threads = await workspace.threads.threads()
        thread = threads[0].id if threads else None
    turns = await workspace.threads.turns(thread, last=1) if thread else []
    if thread and turns and turns[0].question == text:
        return thread, turns[0]
    return None


async def stream_answer(
    workspace: "Workspace", sitting: ChatScope, text: str
) -> AsyncGenerator[TurnEvent, None]:
    """Yield what happens while `text` is answered; see `AvatarSessionService.ask`."""
    from contextlib import aclosing

    from lrwr.core.chat.service import TurnRequest

    if not workspace.is_ingested:
        raise NotFound(
            "Nothing has been read yet", hint="Ctrl+L reads your manuscript."
        )
    asking = TurnRequest(
        text=text,
        thread=sitting.thread,
        character=sitting.character,
        mode=sitting.mode,
        as_of=sitting.as_of,
        witnessed=sitting.witnessed,
    )
    async with aclosing(workspace.sessions().ask(asking)) as events:
        async for event in events:
            yield event


async def count_unread_files(workspace: "Workspace") -> int:
    """Return how many files changed since the last ingestion."""
    from lrwr.app.ingestion import count_unread  # slow to import

    return await count_unread(workspace)
