"""What is asked of the workspace, in the words of the screen. Runs in the service thread."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lrwr.app.egress import announce_first_uses, list_data_leaving
from lrwr.app.presenters.threads import find_thread
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import ThreadId, Turn, TurnEvent
from lrwr.core.ports.stores import LibraryCounts
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.tui.scope import ChatOptions, ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the room finds when it opens.

    `model` is empty where no language model answers. `counts` is None where nothing has
    been ingested. `first_use` says what will leave the machine from now on.
    """

    scope: ChatScope
    model: str = ""
    counts: "LibraryCounts | None" = None
    leaving: tuple[str, ...] = ()
    first_use: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()


async def load_welcome(workspace: "Workspace", options: ChatOptions) -> Welcome:
    """Return how things stand, once all that is slow to load is loaded.

    Raises:
        NotFound: There is no such character, conversation or place in the story.
        SettingsProblem: The language model that is set has no key or no name.
    """
    if not workspace.is_ingested:
        return Welcome(ChatScope())
    session = workspace.sessions()
    scope = await resolve_chat_scope(workspace, options)
    turns = await workspace.threads.turns(scope.thread) if scope.thread else []
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    leaving, first_uses = list_data_leaving(workspace.egress), list[str]()
    announce_first_uses(workspace.egress, HOSTED_SERVICES, first_uses.append)
    return Welcome(
        scope,
        session.model,
        counts,
        leaving,
        tuple(first_uses),
        tuple(turns),
    )


async def resolve_chat_scope(workspace: "Workspace", options: ChatOptions) -> ChatScope:
    """Return where the writer begins.

    Raises:
        NotFound: There is no such character, conversation or place in the story.
    """
    scope = ChatScope()
    if options.thread:
        thread = find_thread(options.thread, await workspace.threads.threads())
        scope = ChatScope.of_thread(thread)
    bible = workspace.bible()
    if options.as_of:
        await bible.horizon(options.as_of)
        scope = replace(scope, as_of=options.as_of)
    if options.character:
        horizon = await bible.horizon(scope.as_of) if scope.as_of else None
        name = find_profile_by_name(options.character, await bible.read(horizon)).name
        scope = replace(scope, character=name)
    mode = options.mode or scope.mode
    return replace(scope, mode=mode)


async def load_stopped_turn(
    workspace: "Workspace", scope: ChatScope, text: str
) -> tuple[ThreadId, Turn] | None:
    """Return what was kept of a turn that was stopped; None where nothing was."""
    thread = scope.thread
    if thread is None:
        threads = await workspace.threads.threads()
        thread = threads[0].id if threads else None
    turns = await workspace.threads.turns(thread, last=1) if thread else []
    if thread and turns and turns[0].question == text:
        return thread, turns[0]
    return None


async def stream_answer(
    workspace: "Workspace", scope: ChatScope, text: str
) -> AsyncGenerator[TurnEvent, None]:
    """Yield what happens while `text` is answered; see `AvatarSessionService.ask`."""
    if not workspace.is_ingested:
        raise NotFound(
            "Nothing has been read yet", hint="Ctrl+L reads your manuscript."
        )
    asking = TurnRequest(
        text=text,
        thread=scope.thread,
        character=scope.character,
        mode=scope.mode,
        as_of=scope.as_of,
        witnessed=scope.witnessed,
    )
    async with aclosing(workspace.sessions().ask(asking)) as events:
        async for event in events:
            yield event
