"""Drafts of scenes: the folder, the board and the brief of a scene."""

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath

from lrwr.app.container import Workspace
from lrwr.app.draft_decisions import (
    Draft,
    DraftDesk,
    add_accepted_places,
    list_rejected,
)
from lrwr.core.adapters.embed.connection import is_embedding_remote
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.bible.projection import StoryKnowledge, project_bible
from lrwr.core.bible.scenes import find_scene_place
from lrwr.core.bible.values import Bible, SceneSummary
from lrwr.core.drafting.board import (
    Board,
    SceneCard,
    ScenePlace,
    StoryPlaces,
    parse_board,
    render_board,
)
from lrwr.core.drafting.brief import Brief, build_brief
from lrwr.core.drafting.brief_items import BriefMaterial
from lrwr.core.drafting.folder import (
    BOARD_FILE,
    INTENT_FILE,
    SHEETS_FOLDER,
    WORLD_FOLDER,
    DraftFile,
    DraftFolder,
)
from lrwr.core.drafting.plan_questions import (
    PlanMaterial,
    PlanQuestion,
    PlanStep,
    TidyHint,
    list_plan_questions,
    list_tidy_hints,
)
from lrwr.core.drafting.story_passages import (
    PASSAGES_PER_QUERY,
    RelatedPassage,
    join_related,
    list_related_queries,
)
from lrwr.core.model.documents import (
    Document,
    DocumentId,
    DocumentOutline,
    Horizon,
)
from lrwr.core.model.errors import NotFound, SettingsProblem
from lrwr.core.model.text import format_chapter_title
from lrwr.core.retrieval.search_model import SearchRequest
from lrwr.core.retrieval.story import StoryOrder, build_story_order
from lrwr.core.settings.files import OWN_FOLDER_MARKER

MAX_PEOPLE = 8
"""People of a scene that a board of an existing book names."""


class SceneState(StrEnum):
    """Where a scene of the board stands."""

    WRITTEN = "in the manuscript"
    PENDING = "not ingested"
    """Its file exists, but was not ingested yet."""
    PROPOSED = "proposed"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class SceneStatus:
    """A scene of the board with its state and the numbers of its proposals, without
    rejected ones.
    """

    card: SceneCard
    state: SceneState
    proposals: tuple[int, ...] = ()


def open_draft_folder(workspace: Workspace) -> DraftFolder:
    """Return the folder of drafts that the settings name; nothing is created.

    Raises:
        SettingsProblem: The setting does not name a folder inside the library's.
    """
    name, root = workspace.settings.draft.folder, workspace.library.root
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or not path.parts or {"..", "~"} & set(path.parts):
        raise SettingsProblem(
            f"`draft.folder` is {name!r}, which is not a folder inside the library's",
            hint='Set it to a name such as "drafts".',
        )
    return DraftFolder(root, root / path, OWN_FOLDER_MARKER)


def load_board(folder: DraftFolder) -> Board:
    """Return the board of `folder`.

    Raises:
        NotFound: There is none.
        SettingsProblem: It cannot be read.
    """
    file = folder.read(BOARD_FILE)
    if file is None:
        raise NotFound(
            f"There is no board {folder.name_of(BOARD_FILE)}",
            hint="Run `lrwr draft board --from-text` to make one of your manuscript.",
        )
    return parse_board(file.text)


async def load_placed_board(workspace: Workspace, folder: DraftFolder) -> Board:
    """Return the board of `folder`; scenes whose draft was accepted have its file.

    Raises:
        NotFound: There is no board.
        SettingsProblem: It cannot be read.
        StoreProblem: The library cannot be read.
    """
    board = load_board(folder)
    if not workspace.is_ingested:
        return board
    entries = await DraftDesk(workspace, folder).list_entries()
    return add_accepted_places(board, entries)


async def load_story_places(workspace: Workspace) -> StoryPlaces:
    """Return where the scenes of the ingested manuscript stand; empty without one."""
    if not workspace.is_ingested:
        return StoryPlaces(StoryOrder({}, (), {}), {})
    order = await workspace.bible().story_order()
    return StoryPlaces(order, await workspace.passages.texts(order.story))


async def describe_misplaced_file(
    workspace: Workspace, folder: DraftFolder, draft: Draft, file: DocumentId
) -> str:
    """Return a remark if story order has `file`, which `draft` became, at another place
    than the board has its scene; empty if not, and for a sheet.

    Raises:
        StoreProblem: The library cannot be read.
    """
    if draft.card is None or not workspace.is_ingested:
        return ""
    board, places = load_board(folder), await load_story_places(workspace)
    around = places.find_documents_around(board, board.index(draft.card.id))
    order = await _insert_file(workspace, places.order, draft, file)
    outlines, story = order.outlines, order.story
    if file not in story:
        return ""
    before, after = (story.index(d) if d else None for d in around)
    at = story.index(file)
    if before is not None and at < before:
        where = f"before {story[before]} in the story, but after it on the board"
    elif after is not None and at > after and before != after:
        where = f"after {story[after]} in the story, but before it on the board"
    else:
        return ""
    advice = _suggest_order(*(outlines[d] if d else None for d in around))
    return f"{file} comes {where}. {advice}, or run `lrwr canon order`."


async def describe_new_numbers(
    workspace: Workspace, draft: Draft, file: DocumentId
) -> str:
    """Return a sentence on how chapters are numbered once `file`, which `draft` became,
    is ingested; empty if no number changes.

    Raises:
        StoreProblem: The library cannot be read.
    """
    if draft.card is None or not workspace.is_ingested:
        return ""
    before = await workspace.bible().story_order()
    order = await _insert_file(workspace, before, draft, file)
    number = order.chapter_number(file, 0)
    if file in before.outlines or number is None or number > before.last:
        return ""
    return (
        f"It becomes chapter {number}, and the chapters after it are numbered one"
        " higher. Ids on the board stay as they are."
    )


def describe_shared_chapter(folder: DraftFolder, draft: Draft) -> str:
    """Return a remark if the board plans other scenes for the chapter of `draft`: each
    file is a chapter of its own. Empty if not, and for a sheet.
    """
    card = draft.card
    if card is None or not card.chapter:
        return ""
    cards = load_board(folder).cards
    others = [c for c in cards if c.chapter == card.chapter and c.id != card.id]
    if not others:
        return ""
    return (
        f"The board has {len(others) + 1} scenes in “{card.chapter}”, but each file is a"
        " chapter of its own. Put their texts into one file to make them one chapter."
    )


async def _insert_file(
    workspace: Workspace, order: StoryOrder, draft: Draft, file: DocumentId
) -> StoryOrder:
    """Return the story order with `file`, which `draft` became."""
    new = _build_outline(parse_document(file, draft.file.text.encode()))
    outlines = {**order.outlines, file: new}
    canon = await asyncio.to_thread(workspace.canon_file.load)
    patterns = workspace.settings.manuscript.order
    return build_story_order(list(outlines.values()), patterns, canon)


def _suggest_order(
    before: DocumentOutline | None, after: DocumentOutline | None
) -> str:
    """Return what the front matter of a document between two others may have."""
    first = before.order if before else None
    last = after.order if after else None
    match first, last:
        case (float(), float()) if first < last:
            order = (first + last) / 2
        case (float(), _) if after is None:
            order = first + 1
        case (_, float()) if before is None:
            order = last - 1
        case _:
            return "Give it another name or an `order:` in its front matter"
    return f"Give it `order: {order:g}` in its front matter"


def _build_outline(document: Document) -> DocumentOutline:
    return DocumentOutline(
        document.id,
        document.type,
        document.title,
        document.words,
        document.order,
        document.chapters,
    )


async def list_scene_states(
    workspace: Workspace, folder: DraftFolder, board: Board
) -> list[SceneStatus]:
    """Return where each scene of `board` stands, in the order of the board.

    Raises:
        StoreProblem: The library cannot be read.
    """
    places = await load_story_places(workspace)
    rejected: frozenset[str] = frozenset()
    if workspace.is_ingested:
        rejected = list_rejected(await DraftDesk(workspace, folder).list_entries())
    states = []
    for card in board.cards:
        proposals = tuple(
            number
            for number in folder.list_proposals(card.id)
            if f"{card.id}/{number}" not in rejected
        )
        if places.is_written(card):
            state = SceneState.WRITTEN
        elif card.at and (folder.root / card.at.file).is_file():
            state = SceneState.PENDING
        else:
            state = SceneState.PROPOSED if proposals else SceneState.PLANNED
        states.append(SceneStatus(card, state, proposals))
    return states


async def create_board_from_text(workspace: Workspace) -> Board:
    """Return a board with a card for each scene of the ingested manuscript.

    Raises:
        NotFound: Nothing was ingested here, or the story has no scene.
    """
    await workspace.require_text()
    service = workspace.bible()
    knowledge = await service.knowledge()
    bible = await asyncio.to_thread(project_bible, knowledge)
    if not bible.scenes:
        raise NotFound(
            "The library has no scenes of a story",
            hint="Run `lrwr ingest --pipeline b` with the folder of your chapters.",
        )
    cards = [_build_card(scene, knowledge) for scene in bible.scenes]
    return parse_board(render_board(Board(tuple(cards))))


def _build_card(scene: SceneSummary, knowledge: StoryKnowledge) -> SceneCard:
    text = knowledge.texts[scene.document].text
    heading = format_chapter_title(scene.chapter, scene.chapter_title)
    key = scene.key_sentences[0].text if scene.key_sentences else ""
    views = [claim.value for claim in scene.points_of_view]
    place = ScenePlace(scene.document, scene.lines.first, scene.lines.last)
    # Who the scene is told of is there, whoever else is.
    people = dict.fromkeys((*views[:1], *scene.present))
    return SceneCard(
        id=f"ch{scene.chapter}-s{scene.scene}",
        title=f"Scene {scene.scene}",
        chapter=f"Chapter {scene.chapter}{heading}",
        pov=views[0] if views else "",
        people=tuple(people)[:MAX_PEOPLE],
        place=find_scene_place(text, scene.span),
        words=len(text[scene.span.start : scene.span.end].split()),
        at=place,
        summary=f"“{' '.join(key.split())}”" if key else "",
    )


def write_board(folder: DraftFolder, board: Board) -> str:
    """Write the board into `folder`, which is created, and return its path.

    Raises:
        SettingsProblem: The board was changed since lrwr wrote it, or the folder has
            the writer's own files.
        LrwrError: It cannot be written.
    """
    folder.create()
    return folder.write(BOARD_FILE, render_board(board))


async def brief_scene(
    workspace: Workspace, folder: DraftFolder, scene: str, tokens: int
) -> Brief:
    """Return the brief of the scene with the id or title `scene`.

    Raises:
        NotFound: There is no board, no such scene, or nothing was ingested.
        StoreProblem: The library cannot be read.
    """
    board = await load_placed_board(workspace, folder)
    return await brief_card(workspace, folder, board, board.index(scene), tokens)


async def brief_card(
    workspace: Workspace, folder: DraftFolder, board: Board, index: int, tokens: int
) -> Brief:
    """Return the brief of the card at `index` of `board`; see `brief_scene`.

    Raises:
        NotFound: Nothing was ingested here.
        StoreProblem: The library cannot be read.
    """
    await workspace.require_text()
    material = await _gather_material(workspace, folder, board, index)
    return await asyncio.to_thread(build_brief, material, tokens)


async def _gather_material(
    workspace: Workspace, folder: DraftFolder, board: Board, index: int
) -> BriefMaterial:
    service = workspace.bible()
    order = await service.story_order()
    places = StoryPlaces(order, await workspace.passages.texts(order.story))
    horizon = places.find_horizon(board, index)
    knowledge = await service.knowledge(horizon)

    def project() -> Bible:
        return project_bible(knowledge, horizon)

    material = BriefMaterial(
        card=board.cards[index],
        horizon=horizon,
        bible=await asyncio.to_thread(project),
        view=HorizonView(knowledge.order, knowledge.texts, horizon),
        intent=folder.read(INTENT_FILE),
        world=folder.read_all(WORLD_FOLDER),
        sheets=folder.read_all(SHEETS_FOLDER),
        related=await _find_related(workspace, board.cards[index], order, horizon),
        board=folder.name_of(BOARD_FILE),
    )
    return _add_neighbours(material, folder, board, index, places)


async def _find_related(
    workspace: Workspace, card: SceneCard, order: StoryOrder, horizon: Horizon
) -> tuple[RelatedPassage, ...]:
    """Return the passages up to `horizon` that the words of `card` ask for.

    Embeddings help if they are computed on this machine: nothing is sent.
    """
    queries = list_related_queries(card)
    settings = workspace.settings
    dense = settings.embedding.model != "off" and not is_embedding_remote(settings)
    request = SearchRequest(
        "",
        settings.pipeline,
        PASSAGES_PER_QUERY,
        dense=dense,
        rerank=False,
        horizon=horizon,
    )
    rankings = []
    for query in queries if order.outlines else ():
        search = replace(request, question=query)
        rankings.append((await workspace.finder().find(search, order)).passages)
    return join_related(queries, rankings) if rankings else ()


def _add_neighbours(
    material: BriefMaterial,
    folder: DraftFolder,
    board: Board,
    index: int,
    places: StoryPlaces,
) -> BriefMaterial:
    """Return `material` with the cards around, of which a later one counts only if it
    is not written. Of a draft for the scene before it says only that there is one: what
    is not accepted may be wrong.
    """
    before = board.cards[index - 1] if index else None
    after = board.cards[index + 1] if index + 1 < len(board.cards) else None
    if after is not None and after.at is not None:
        after = None  # its summary may be from the text after the horizon
    if before is not None and places.is_written(before):
        before = None
    pending, place = "", ""
    if before is not None and before.at and (folder.root / before.at.file).is_file():
        place = f"{before.at.file}:1"
        pending = f"“{before.title}” comes before, in a file that was not ingested yet"
    elif before is not None and folder.list_proposals(before.id):
        place = f"{folder.read_proposal(before.id).path}:1"
        pending = f"“{before.title}” comes before, as a draft that is not accepted yet"
    return replace(
        material, before=before, after=after, pending=pending, pending_place=place
    )


async def ask_plan_questions(
    workspace: Workspace, folder: DraftFolder, step: PlanStep
) -> list[PlanQuestion]:
    """Return what a step of the plan leaves open.

    Raises:
        NotFound: There is no board.
        StoreProblem: The library cannot be read.
    """
    material = await load_plan_material(workspace, folder)
    return list_plan_questions(step, material)


async def load_plan_material(workspace: Workspace, folder: DraftFolder) -> PlanMaterial:
    """Return what is planned so far, and the story.

    Raises:
        NotFound: There is no board.
        StoreProblem: The library cannot be read.
    """
    board = await load_placed_board(workspace, folder)
    places = await load_story_places(workspace)
    empty = DraftFile(folder.name_of(INTENT_FILE), "")
    return PlanMaterial(
        board=board,
        board_path=folder.name_of(BOARD_FILE),
        written={card.id for card in board.cards if places.is_written(card)},
        intent=folder.read(INTENT_FILE) or empty,
        sheets=folder.list_names(SHEETS_FOLDER),
        sheets_path=folder.name_of(SHEETS_FOLDER),
        bible=await workspace.bible().read() if workspace.is_ingested else Bible(),
    )


async def find_tidy_hints(workspace: Workspace, folder: DraftFolder) -> list[TidyHint]:
    """Return duplicates and orphans of the story and of the folder of drafts.

    Raises:
        NotFound: There is no board, or nothing was ingested.
        StoreProblem: The library cannot be read.
    """
    board = await load_placed_board(workspace, folder)
    bible = await workspace.bible().read()
    sheets = folder.list_names(SHEETS_FOLDER)
    return list_tidy_hints(board, bible, sheets, folder.list_scenes())
