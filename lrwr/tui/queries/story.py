"""Reads the story bible, horizons and open questions for screens; stores answers."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import shorten_titles
from lrwr.app.presenters.threads import ANALYST, describe_speaker
from lrwr.core.bible.name_review import NameProposal, review_names
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import Bible, Gap, GapState
from lrwr.core.canon.decision import Decision, GapAnswered, GapDeclined, format_decision
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import Chapter, DocumentId, Scene
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import ThreadId, Turn
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.story import StoryOrder, parse_horizon
from lrwr.core.settings.library import CANON_FILE_NAME
from lrwr.tui.input.prompt import CompletionContext
from lrwr.tui.queries.passages import require_ingested
from lrwr.tui.scope import ChatScope

if TYPE_CHECKING:
    from lrwr.app.container import Workspace

MAX_OPENING_CHARS = 70
"""Maximum number of characters shown of a scene's first words."""


@dataclass(frozen=True, slots=True)
class HorizonStop:
    """A chapter or scene that can be chosen as the horizon.

    `as_of` is the horizon in the notation of `--as-of`. `chapter` is its number, 0
    before chapter 1, `title` its title, empty for a scene. `scene` is its number in the
    chapter from 1, 0 for a whole chapter. `begins` are the scene's first words, empty
    for a chapter. `present` is true for the current horizon.
    """

    as_of: str
    chapter: int
    scene: int
    title: str
    begins: str = ""
    present: bool = False


async def load_story(workspace: "Workspace", as_of: str) -> Bible:
    """Return the story bible up to the horizon `as_of`, such as "ch3".

    An empty `as_of` means the whole story.

    Raises:
        NotFound: No manuscript was ingested, or the horizon does not exist.
    """
    require_ingested(workspace)
    await workspace.require_text()
    bible = workspace.bible()
    horizon = await bible.horizon(as_of) if as_of else None
    return await bible.read(horizon)


async def resolve_character_name(workspace: "Workspace", name: str, as_of: str) -> str:
    """Return the main name of the character called `name`, which may be an alias.

    Only the story up to the horizon `as_of` is used; empty means all of it.

    Raises:
        NotFound: No character has this name, or several have; or no manuscript was
            ingested, or the horizon does not exist.
    """
    bible = await load_story(workspace, as_of)
    try:
        return find_profile_by_name(name, bible).name
    except NotFound as error:
        hint = error.hint if "lrwr" not in error.hint else "F2 lists all characters."
        raise NotFound(str(error), hint=hint) from error


async def move_chat_scope(
    workspace: "Workspace", scope: ChatScope, as_of: str
) -> ChatScope:
    """Return `scope` with the horizon `as_of`, empty for the whole story.

    A character who does not appear up to that horizon, or whose name is ambiguous
    there, is deselected; then the analyst answers, without the witnessed filter.

    Raises:
        NotFound: No manuscript was ingested, or the horizon does not exist.
    """
    try:
        bible = await load_story(workspace, as_of)
    except NotFound as error:
        if not workspace.is_ingested:
            raise
        raise NotFound(str(error), hint="F3 lists all chapters and scenes.") from error
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
    """Return the chapters and scenes that can be the horizon, in story order.

    Scenes are listed after their chapter if it has several. `as_of` is the current
    horizon, empty for the whole story; the item for it has `present` True.

    Raises:
        NotFound: No manuscript was ingested.
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
    """Mark the stop that `as_of` means, in whatever notation it is written."""
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
    """Return the first words of `scene` in `text`, the text of its document.

    Headings, and lines equal to `besides` (a chapter title), are skipped. At most
    `MAX_OPENING_CHARS` characters of one line, with an ellipsis if it was cut; empty if
    the scene has no words.
    """
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
    """Return the names and chapters that complete commands.

    Names are of characters up to the horizon `as_of`, empty for the whole story;
    chapters are all of the story. If library, canon and horizon have not changed since
    `before` was loaded, `before` is returned. Without a library there are no values.

    Raises:
        NotFound: The horizon does not exist.
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
    order = await workspace.finder().story_order()
    chapters = [(n, c.title) for _, c, n in order.iter_chapters() if not c.opening]
    titles = shorten_titles([title for _, title in chapters])
    places = {
        f"ch{number}": title
        for (number, _), title in zip(chapters, titles, strict=True)
    }
    return CompletionContext(
        tuple(character.name for character in characters), tuple(places.items()), mark
    )


@dataclass(frozen=True, slots=True)
class OpenGaps:
    """The open questions (gaps) up to a horizon, with the story bible up to it.

    `open` has them in the order of the story bible, `others` the answered, declined and
    closed ones. `flagged` holds the ids of those
    that answers of the current thread reported. `questions` has by id, for gaps
    found only while answering, what the user asked: "You asked Nell: Where were you?".
    """

    bible: Bible
    open: "tuple[Gap, ...]"
    others: "tuple[Gap, ...]"
    flagged: frozenset[str]
    questions: Mapping[str, str]


async def load_open_gaps(
    workspace: "Workspace", as_of: str, thread: "ThreadId | None"
) -> OpenGaps:
    """Return the open questions (gaps) up to the horizon `as_of`.

    An empty `as_of` means the whole story. `thread` is the current thread, whose
    answers may have reported gaps; None for a new one.

    Raises:
        NotFound: No manuscript was ingested, or the horizon does not exist.
    """
    bible = await load_story(workspace, as_of)
    open_gaps = tuple(gap for gap in bible.gaps if gap.state is GapState.OPEN)
    others = tuple(gap for gap in bible.gaps if gap.state is not GapState.OPEN)
    turns = await workspace.threads.turns(thread) if thread else []
    flags = [flag for turn in turns for flag in turn.output.gap_flags]
    flagged = {(_normalize(f.about), _normalize(f.undefined_attribute)) for f in flags}
    flagged_ids = (gap.id for gap in open_gaps if _gap_key(gap) in flagged)
    questions = await _load_questions(workspace, open_gaps)
    return OpenGaps(bible, open_gaps, others, frozenset(flagged_ids), questions)


async def _load_questions(
    workspace: "Workspace", gaps: Sequence[Gap]
) -> dict[str, str]:
    """Return, by id, the questions whose answers reported `gaps` not in the text."""
    ids = {_gap_key(gap): gap.id for gap in gaps if gap.asked_in_thread}
    threads = await workspace.threads.threads() if ids else ()
    turns = [t for thread in threads for t in await workspace.threads.turns(thread.id)]
    questions: dict[str, str] = {}
    for turn, flag in ((t, f) for t in turns for f in t.output.gap_flags):
        key = _normalize(flag.about), _normalize(flag.undefined_attribute)
        if key in ids:
            questions.setdefault(ids[key], _describe_question(turn))
    return questions


def _describe_question(turn: Turn) -> str:
    speaker = describe_speaker(turn.output.narrative_state_delta)
    whom = "" if speaker == ANALYST else f" {speaker}"
    return f"You asked{whom}: {' '.join(turn.question.split())}"


async def decide_gap(
    workspace: "Workspace", gap: Gap, answer: str | None
) -> "Decision | None":
    """Record the user's answer to an open question (`gap`) in the canon.

    `answer` None records that it stays open on purpose. Return the decision; None if
    the same decision was recorded before.

    Raises:
        SettingsProblem: The canon file is invalid.
        StoreProblem: The canon file cannot be written.
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
    return decision if await record_decision(workspace, decision) else None


async def load_name_proposals(workspace: "Workspace") -> Sequence[NameProposal]:
    """Return what `lrwr characters review` proposes.

    Raises:
        NotFound: No manuscript was ingested.
    """
    require_ingested(workspace)
    return await review_names(workspace.bible())


async def record_decision(workspace: "Workspace", decision: Decision) -> bool:
    """Record `decision` in the canon; return False if it was recorded before.

    Raises:
        SettingsProblem: The canon file is invalid.
        StoreProblem: The canon file cannot be written.
    """
    return bool(await asyncio.to_thread(workspace.canon.decide, decision))


async def load_last_decision(workspace: "Workspace") -> Decision | None:
    """Return the newest decision that was not undone; None if there is none.

    Raises:
        SettingsProblem: The canon file is invalid.
    """
    history = await asyncio.to_thread(workspace.canon.history)
    active = [entry.decision for entry in history if not entry.undone]
    return active[-1] if active else None


async def undo_decision(workspace: "Workspace", last: Decision) -> str:
    """Undo `last` in the canon and return its description as a sentence.

    Nothing is undone, and the result is empty, unless `last` is the newest decision
    that was not undone.

    Raises:
        SettingsProblem: The canon file was edited since the decision.
        StoreProblem: The canon file cannot be written.
    """
    if await load_last_decision(workspace) != last:
        return ""
    undone = await asyncio.to_thread(workspace.canon.undo)
    return format_decision(undone) if undone else ""


def _gap_key(gap: Gap) -> tuple[str, str]:
    return _normalize(gap.about), _normalize(gap.attribute)


def _normalize(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()
