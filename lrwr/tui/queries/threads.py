"""Reads and changes threads (saved conversations) and their turns for the screens."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lrwr.app.egress import announce_first_uses, list_data_leaving
from lrwr.app.presenters.text import describe_changed_files
from lrwr.app.presenters.threads import (
    cut_around_words,
    find_thread,
    format_thread_title,
)
from lrwr.app.threads import write_thread_file
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.chat.service import TurnRequest
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import Thread, ThreadId, Turn, TurnDone, TurnEvent
from lrwr.core.ports.stores import LibraryCounts
from lrwr.core.retrieval.freshness import find_changed_files
from lrwr.core.settings.consent import HOSTED_SERVICES
from lrwr.tui.queries.passages import require_ingested
from lrwr.tui.scope import ChatOptions, ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MAX_MATCHES = 20
"""Maximum number of turns that a search considers."""


@dataclass(frozen=True, slots=True)
class ThreadMatch:
    """A thread that a search found.

    `words` is an excerpt of its best matching turn, around a word of the query.
    """

    thread: Thread
    words: str


async def load_threads(workspace: "Workspace") -> Sequence[Thread]:
    """Return all threads, most recently used first.

    Raises:
        NotFound: No manuscript was ingested.
    """
    require_ingested(workspace)
    return await workspace.threads.threads()


async def load_thread_with_turns(
    workspace: "Workspace", thread: ThreadId
) -> tuple[Thread, Sequence[Turn]]:
    """Return a thread and its turns, oldest first.

    Raises:
        NotFound: The thread does not exist or is deleted.
    """
    return await workspace.threads.thread(thread), await workspace.threads.turns(thread)


async def search_threads(workspace: "Workspace", text: str) -> list[ThreadMatch]:
    """Return the threads that contain any content word of `text`, best match first.

    Content words are all but stop words such as "the"; a text of stop words uses all
    its words. Questions and answers are searched; only the best `MAX_MATCHES` turns are
    used, and a thread is listed once. Empty if `text` has no word.
    """
    content_words = extract_content_words(text)
    if not content_words:
        return []
    matches: dict[ThreadId, ThreadMatch] = {}
    for thread, turn in await workspace.threads.search(
        content_words, limit=MAX_MATCHES
    ):
        turn_text = f"{turn.question} {turn.output.response_text}"
        matches.setdefault(
            thread.id, ThreadMatch(thread, cut_around_words(turn_text, content_words))
        )
    return list(matches.values())


async def export_thread_to_file(
    workspace: "Workspace", thread: ThreadId, path: str
) -> Path:
    """Write a thread as Markdown to the new file `path`; return the file.

    A leading `~` in `path` is the home folder.

    Raises:
        NotFound: There is no such thread.
        SettingsProblem: The file exists, is not `.md`, or is in the manuscript.
        LrwrError: The file cannot be written.
    """
    file = _expand_user(path)
    await write_thread_file(workspace, thread, file)
    return file


async def suggest_export_path(workspace: "Workspace", title: str) -> str:
    """Return the path of a `.md` file that does not exist yet, named after `title`.

    The name has at most 40 lower-case letters, digits and hyphens, or is "thread"; a
    number is appended if needed. The folder is the parent of the folder with `.lrwr/`.
    """
    words = "".join(
        character if character.isalnum() else " " for character in title.casefold()
    ).split()
    name = "-".join(words)[:40].strip("-") or "thread"
    folder = workspace.library.root.parent
    existing_names = {path.name for path in folder.glob(f"{name}*.md")}
    names = (
        f"{name}{f'-{n}' if n > 1 else ''}.md"
        for n in range(1, len(existing_names) + 2)
    )
    return str(folder / next(file for file in names if file not in existing_names))


def _expand_user(path: str) -> Path:
    return Path(path).expanduser()


@dataclass(frozen=True, slots=True)
class Welcome:
    """The state of the library and of the chat when the chat screen opens.

    `scope` is that of the first question. `model` is the name of the language model,
    empty if none is configured. `counts` is None if no manuscript was ingested; then
    all other fields are empty. `leaving` has a text for each service with consent to
    receive data; `first_use` are notices about services used for the first time.
    `turns` are those of the opened thread, oldest first. `threads` is the number of saved
    threads, `last_thread` the title of the newest.
    """

    scope: ChatScope
    model: str = ""
    counts: "LibraryCounts | None" = None
    leaving: tuple[str, ...] = ()
    first_use: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    threads: int = 0
    last_thread: str = ""


async def load_welcome(workspace: "Workspace", options: ChatOptions) -> Welcome:
    """Return the state that the chat screen shows first.

    `options` select thread, character, mode and horizon; they are ignored if no
    manuscript was ingested. Notices about services used for the first time are recorded
    as shown.

    Raises:
        NotFound: A character, thread or horizon of `options` does not exist.
        SettingsProblem: The configured language model has no key or no name, or several
            threads match.
    """
    if not workspace.is_ingested:
        return Welcome(ChatScope())
    session = workspace.sessions()
    scope = await resolve_chat_scope(workspace, options)
    turns = await workspace.threads.turns(scope.thread) if scope.thread else []
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    leaving, first_uses = list_data_leaving(workspace.egress), list[str]()
    announce_first_uses(workspace.egress, HOSTED_SERVICES, first_uses.append)
    threads = await workspace.threads.threads()
    return Welcome(
        scope,
        session.model,
        counts,
        leaving,
        tuple(first_uses),
        tuple(turns),
        len(threads),
        format_thread_title(threads[0]) if threads else "",
    )


async def resolve_chat_scope(workspace: "Workspace", options: ChatOptions) -> ChatScope:
    """Return the scope of the first question, which `options` select.

    It is the scope of the thread in `options` at its last turn, or that of a new
    thread, with the other options in place of its values. A character's alias is
    replaced by the main name.

    Raises:
        NotFound: A character, thread or horizon of `options` does not exist.
        SettingsProblem: Several threads match.
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
    """Return the saved turn of a stopped answer to `text`, and its thread's id.

    It is the last turn of the scope's thread, or of the most recently used one if the
    scope has none. None if that turn has another question; whether it was stopped is
    not checked.
    """
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
    """Answer the question `text` within `scope`, and yield the events, `TurnDone` last.

    See `AvatarSessionService.ask` for further errors.

    Raises:
        NotFound: No manuscript was ingested, or it must be ingested again.
    """
    require_ingested(workspace)
    await workspace.require_text()
    request = TurnRequest(
        text=text,
        thread=scope.thread,
        character=scope.character,
        mode=scope.mode,
        as_of=scope.as_of,
        witnessed=scope.witnessed,
    )
    async with aclosing(workspace.sessions().ask(request)) as events:
        async for event in events:
            yield await _add_file_warning(workspace, event)


async def _add_file_warning(workspace: "Workspace", event: TurnEvent) -> TurnEvent:
    """Return `event`; if it is `TurnDone`, with a remark on files that its answer cites
    and that have changed since they were ingested. The remark is not stored.
    """
    if not isinstance(event, TurnDone):
        return event
    output = event.turn.output
    documents = {citation.document for citation in output.citations}
    changed = await find_changed_files(
        workspace.versions,
        workspace.settings.pipeline,
        workspace.library.root,
        documents,
    )
    if not changed:
        return event
    remark = describe_changed_files(changed)
    output = replace(output, remarks=(*output.remarks, remark))
    return replace(event, turn=replace(event.turn, output=output))
