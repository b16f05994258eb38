"""What the screens read of the story. Runs in the service thread."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.decision import Decision, GapAnswered, GapDeclined, format_decision
from lrwr.core.model.documents import Chapter, DocumentId, Scene
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import AnswerMode, ThreadId
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.core.settings.library import CANON_FILE_NAME
from lrwr.tui.input.prompt import CompletionContext
from lrwr.tui.scope import ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MAX_OPENING_CHARS = 70
"""Characters of a scene's beginning that tell it from the others."""


@dataclass(frozen=True, slots=True)
class HorizonStop:
    """A place to which the story may be read: `as_of` is what a writer would say.

    `begins` are the first words there. `scene` is 0 for a whole chapter. `present`
    says that the writer stands here.
    """

    as_of: str
    chapter: int
    scene: int
    title: str
    begins: str = ""
    present: bool = False


def require_ingested(workspace: "Workspace") -> None:
    """Make sure that anything was read.

    Raises:
        NotFound: Nothing was.
    """
    if not workspace.is_ingested:
        raise NotFound(
            "No manuscript has been ingested yet",
            hint="Press Ctrl+L to ingest your manuscript.",
        )


async def load_story(workspace: "Workspace", as_of: str) -> Bible:
    """Return all that is known up to a place, the whole story for an empty one.

    Raises:
        NotFound: Nothing was read, or there is no such place.
    """
    require_ingested(workspace)
    bible = workspace.bible()
    horizon = await bible.horizon(as_of) if as_of else None
    return await bible.read(horizon)


async def resolve_character_name(workspace: "Workspace", name: str, as_of: str) -> str:
    """Return the name of the character whom the writer calls so, up to a place.

    Raises:
        NotFound: Nobody is called so, or several are.
    """
    return find_profile_by_name(name, await load_story(workspace, as_of)).name


async def move_chat_scope(
    workspace: "Workspace", scope: ChatScope, as_of: str
) -> ChatScope:
    """Return the scope as of another place, without a character unknown at that place.

    Raises:
        NotFound: There is no such place.
    """
    bible = await load_story(workspace, as_of)
    moved_scope = replace(scope, as_of=as_of)
    if not scope.character:
        return moved_scope
    try:
        name = find_profile_by_name(scope.character, bible).name
    except NotFound:
        return replace(
            moved_scope, character="", mode=AnswerMode.ANALYTICAL, witnessed=False
        )
    return replace(moved_scope, character=name)


async def list_horizon_stops(workspace: "Workspace", as_of: str) -> list[HorizonStop]:
    """Return every place to stop at, in story order; the whole story is none of them.

    Raises:
        NotFound: Nothing was read.
    """
    require_ingested(workspace)
    order = await workspace.finder().story_order()
    stops: list[HorizonStop] = []
    texts: dict[DocumentId, DocumentText] = {}
    for document, chapter, number in order.iter_chapters():
        if document not in texts:
            texts[document] = await workspace.passages.text(document)
        stops += _stops_of(document, chapter, number, order, texts[document].text)
    return _mark_present(stops, as_of, order)


def _stops_of(
    document: DocumentId,
    chapter: Chapter,
    number: int,
    order: StoryOrder,
    text: str,
) -> Iterator[HorizonStop]:
    if chapter.opening and number:
        if chapter is order.outlines[document].chapters[-1]:  # its path means its end
            yield HorizonStop(document, number, 0, chapter.title or document)
        return
    name = f"ch{number}"
    yield HorizonStop(name, number, 0, chapter.title)
    if len(chapter.scenes) > 1:
        for count, scene in enumerate(chapter.scenes, start=1):
            begins = extract_first_words(scene, text, besides=chapter.title)
            yield HorizonStop(f"{name}:s{count}", number, count, "", begins)


def _mark_present(
    horizon_stops: list[HorizonStop], as_of: str, order: StoryOrder
) -> list[HorizonStop]:
    """Mark where the writer stands, however they called it."""
    if not as_of:
        return horizon_stops
    try:
        horizon = parse_horizon(as_of, order)
    except NotFound:  # read anew since, and gone
        return horizon_stops
    return [
        replace(
            horizon_stop, present=parse_horizon(horizon_stop.as_of, order) == horizon
        )
        for horizon_stop in horizon_stops
    ]


def extract_first_words(scene: Scene, text: str, *, besides: str = "") -> str:
    """Return the words with which a scene begins, without headings and `besides`."""
    for part in scene.parts:
        for line in text[part.start : part.end].splitlines():
            words = " ".join(line.split())
            heading = words.startswith("#") or words == besides
            if any(map(str.isalnum, words)) and not heading:
                short = words[:MAX_OPENING_CHARS]
                return short if short == words else short.rsplit(" ", 1)[0] + " …"
    return ""


async def load_completion_context(
    workspace: "Workspace", as_of: str, before: CompletionContext
) -> CompletionContext:
    """Return the characters known by `as_of`, and the places of the whole story.

    Returns `before` itself if nothing has changed since it was loaded.

    Raises:
        NotFound: There is no such place in the story.
        StoreProblem: The library cannot be read.
    """
    if not workspace.is_ingested:
        return CompletionContext()
    canon = workspace.library.root / CANON_FILE_NAME
    decided_at = canon.stat().st_mtime_ns if canon.exists() else 0
    counts = await workspace.passages.counts(workspace.settings.pipeline)
    mark = f"{as_of} {decided_at} {counts}"
    if mark == before.mark:
        return before
    bible = workspace.bible()
    horizon = await bible.horizon(as_of) if as_of else None
    characters = (await bible.read(horizon)).characters
    chapters = (await workspace.finder().story_order()).iter_chapters()
    places = {
        f"ch{number}": chapter.title
        for _, chapter, number in chapters
        if not chapter.opening
    }
    return CompletionContext(
        tuple(character.name for character in characters), tuple(places.items()), mark
    )


@dataclass(frozen=True, slots=True)
class OpenGaps:
    """What the story leaves open as of a place; `asked` are the gaps, by id, that this
    conversation came upon."""

    bible: Bible
    open: "tuple[Gap, ...]"
    flagged: frozenset[str]


async def load_open_gaps(
    workspace: "Workspace", as_of: str, thread: "ThreadId | None"
) -> OpenGaps:
    """Return the open gaps as of a point of the story.

    Raises:
        NotFound: Nothing was read, or there is no such place.
    """
    bible = await load_story(workspace, as_of)
    open_gaps = tuple(gap for gap in bible.gaps if gap.state is GapState.OPEN)
    turns = await workspace.threads.turns(thread) if thread else []
    flags = [flag for turn in turns for flag in turn.output.gap_flags]
    flagged = {(_normalize(f.about), _normalize(f.undefined_attribute)) for f in flags}
    flagged_ids = (gap.id for gap in open_gaps if _gap_key(gap) in flagged)
    return OpenGaps(bible, open_gaps, frozenset(flagged_ids))


async def decide_gap(
    workspace: "Workspace", gap: Gap, answer: str | None
) -> "Decision | None":
    """Answer a gap, or mark it as intentional if there is no answer.

    Returns the decision; None if the same was decided already.

    Raises:
        SettingsProblem: The file of the writer's decisions is broken.
        StoreProblem: It cannot be written.
    """
    gaps_by_id = {
        known_gap.id: known_gap for known_gap in (await workspace.bible().read()).gaps
    }
    question = gaps_by_id.get(gap.id, gap).asked  # a horizon may hide under what name
    decision: Decision = (
        GapDeclined(question.about, question.attribute)
        if answer is None
        else GapAnswered(question.about, question.attribute, answer)
    )
    change = await asyncio.to_thread(workspace.canon.decide, decision)
    return decision if change else None


async def undo_gap_decision(workspace: "Workspace", last: Decision) -> str:
    """Undo the last decision made on this screen, and return its description.

    Empty if another decision was made elsewhere since: that one is not undone.

    Raises:
        SettingsProblem: The file was changed by hand since.
        StoreProblem: It cannot be written.
    """
    active_entries = [
        entry
        for entry in await asyncio.to_thread(workspace.canon.history)
        if not entry.undone
    ]
    if not active_entries or active_entries[-1].decision != last:
        return ""
    undone = await asyncio.to_thread(workspace.canon.undo)
    return format_decision(undone) if undone else ""


def _gap_key(gap: Gap) -> tuple[str, str]:
    return _normalize(gap.about), _normalize(gap.attribute)


def _normalize(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()
