"""What the prompt is given to go on with: former questions, people and places."""

from typing import TYPE_CHECKING

from lrwr.core.settings.places import CANON_FILE_NAME
from lrwr.tui.input.commands import CompletionContext
from lrwr.tui.input.history import load_past_questions
from lrwr.tui.widgets.prompt import PromptInputArea

if TYPE_CHECKING:
    from lrwr.app.container import Workspace
    from lrwr.tui.screens.chat import ChatScreen


async def fill_prompt_history(screen: "ChatScreen") -> None:
    """Give the prompt the questions of former conversations."""
    try:
        found = await screen.room.stage.do(load_past_questions)
    except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
        screen.tell(error)
    else:
        screen.query_one(PromptInputArea).past.load(found)


async def fill_prompt_completions(screen: "ChatScreen") -> None:
    """Give the prompt what can follow commands, unless it has that already."""
    as_of = screen.sitting.as_of
    prompt = screen.query_one(PromptInputArea)
    before = prompt.known
    try:
        prompt.known = await screen.room.stage.do(
            lambda workspace: load_completion_context(workspace, as_of, before)
        )
    except Exception as error:  # noqa: BLE001 - a traceback tells a writer nothing
        screen.tell(error)


async def load_completion_context(
    workspace: "Workspace", as_of: str, before: CompletionContext
) -> CompletionContext:
    """Return who has come up by `as_of`, and the places of the whole story.

    It is `before` where nothing has changed since. It runs backstage.

    Raises:
        NotFound: There is no such place in the story.
        StoreProblem: The library cannot be read.
    """
    if not workspace.is_ingested:
        return CompletionContext()
    canon = workspace.library.root / CANON_FILE_NAME
    decided = canon.stat().st_mtime_ns if canon.exists() else 0
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    mark = f"{as_of} {decided} {counts}"
    if mark == before.mark:
        return before
    bible = workspace.bible()
    horizon = await bible.horizon(as_of) if as_of else None
    people = (await bible.read(horizon)).characters
    told = (await workspace.finder().story_order()).told()
    places = {f"ch{number}": one.title for _, one, number in told if not one.opening}
    return CompletionContext(
        tuple(one.name for one in people), tuple(places.items()), mark
    )
