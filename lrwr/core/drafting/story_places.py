"""Where the scenes of a board stand in the story, and what may be known there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.drafting.board import Board, SceneCard, ScenePlace
from lrwr.core.model.documents import BEFORE_THE_STORY, DocumentId, Horizon
from lrwr.core.model.text import LineRange
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.story import StoryOrder


@dataclass(frozen=True, slots=True)
class WrittenScene:
    """A scene of the manuscript: its document, and the horizon at its end."""

    document: DocumentId
    lines: LineRange
    horizon: Horizon


class StoryPlaces:
    """Locates the scenes of a board in the manuscript.

    `texts` maps the documents of the story to their texts.
    """

    def __init__(
        self, order: StoryOrder, texts: Mapping[DocumentId, DocumentText]
    ) -> None:
        self.order = order
        self.scenes = _list_written_scenes(order, texts)

    def locate(self, place: ScenePlace | None) -> Sequence[int]:
        """Return the indexes in `scenes` of the scenes at `place`, ascending.

        Empty if the manuscript has no such document. Lines that are in no scene, because
        the text was edited, mean the scene before them.
        """
        if place is None:
            return ()
        own = [n for n, s in enumerate(self.scenes) if s.document == place.file]
        if not place.first or not own:
            return own
        last = max(place.first, place.last)
        inside = [
            n
            for n in own
            if self.scenes[n].lines.first <= last
            and place.first <= self.scenes[n].lines.last
        ]
        before = [n for n in own if self.scenes[n].lines.first <= place.first]
        return inside or before[-1:] or own[:1]

    def is_written(self, card: SceneCard) -> bool:
        """Return whether the scene of `card` stands in the ingested manuscript."""
        return bool(self.locate(card.at))

    def find_scene_before(self, board: Board, index: int) -> WrittenScene | None:
        """Return the last scene of the manuscript before the card at `index`.

        For a written scene it is the one before it; for a scene to come, the nearest
        written one before it on the board, or, if all written ones come later, the one
        before those. None at the start of the story. A scene on a board without any
        written one is to follow the whole story.
        """
        own = self.locate(board.cards[index].at)
        if own:
            return self._before(own[0])
        for card in reversed(board.cards[:index]):
            if located := self.locate(card.at):
                return self.scenes[located[-1]]
        for card in board.cards[index + 1 :]:
            if located := self.locate(card.at):
                return self._before(located[0])
        return self._before(len(self.scenes))

    def find_documents_around(
        self, board: Board, index: int
    ) -> tuple[DocumentId | None, DocumentId | None]:
        """Return the documents of the nearest written scenes before and after the card
        at `index` on the board; None where there is none.
        """
        earlier, later = board.cards[:index], board.cards[index + 1 :]
        ends = (
            (located[-1] for c in reversed(earlier) if (located := self.locate(c.at))),
            (located[0] for c in later if (located := self.locate(c.at))),
        )
        before, after = (next(end, None) for end in ends)
        return (
            None if before is None else self.scenes[before].document,
            None if after is None else self.scenes[after].document,
        )

    def find_horizon(self, board: Board, index: int) -> Horizon:
        """Return the horizon of the card at `index`: the end of the scene before it."""
        scene = self.find_scene_before(board, index)
        return BEFORE_THE_STORY if scene is None else scene.horizon

    def _before(self, index: int) -> WrittenScene | None:
        return self.scenes[index - 1] if index else None


def spell_horizon(horizon: Horizon) -> str:
    """Return a horizon as users type it: "ch3:s2"; "the start" before all text."""
    if horizon.chapter < 0:
        return "the start"
    scene = "" if horizon.scene is None else f":s{horizon.scene}"
    return f"ch{horizon.chapter}{scene}"


def _list_written_scenes(
    order: StoryOrder, texts: Mapping[DocumentId, DocumentText]
) -> list[WrittenScene]:
    rows = list(order.iter_chapters())
    last_of_number = {number: chapter for _, chapter, number in rows}
    scenes = []
    for document, chapter, number in rows:
        if document not in texts:
            continue
        lines = texts[document].lines
        # An opening shares the number of the chapter that follows it.
        is_opening = last_of_number[number] is not chapter
        for index, scene in enumerate(chapter.scenes, start=1):
            horizon = Horizon(number, 0 if is_opening else index)
            scenes.append(WrittenScene(document, lines.lines_of(scene.span), horizon))
    return scenes
