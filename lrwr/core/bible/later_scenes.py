"""Finds the later scenes that a changed fact may affect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.bible.values import SceneSummary, TextEvidence
from lrwr.core.model.documents import DocumentId

_Place = tuple[int, float]
"""Index of a document in story order, and an offset in it."""

_BEFORE_ALL: _Place = (-1, 0)


@dataclass(frozen=True, slots=True)
class AffectedScene:
    """A scene that the author may have to adapt after a change.

    `says` means that it still states the old value. `line` is the line in `document`,
    from 1, where that statement begins; without one, where the scene begins. `chapter`
    is the number in story order, `chapter_title` its heading; `scene` counts from 1
    within the chapter.
    """

    document: DocumentId
    line: int
    chapter: int
    scene: int
    says: bool = False
    chapter_title: str = ""


class LaterSceneFinder:
    """Finds the scenes after a changed fact that it may affect.

    `before` and `after` are the stored data of the story before and after the change,
    `scenes` the scenes of the new state. `names` maps the old ids of renamed documents
    to new ones.
    """

    def __init__(
        self,
        before: StoryKnowledge,
        after: StoryKnowledge,
        scenes: Sequence[SceneSummary],
        names: Mapping[DocumentId, DocumentId],
    ) -> None:
        self._before = before
        self._after = after
        self._names = names
        self._scenes = scenes
        self._ranks = {document: n for n, document in enumerate(after.order.story)}
        self._known: dict[tuple[str, bool], tuple[SceneSummary, ...]] = {}
        self._common_ends: dict[DocumentId, tuple[int, int]] = {}

    def touched(
        self,
        subject: str,
        person: str | None,
        was: Sequence[TextEvidence],
        now: Sequence[TextEvidence],
        still: Sequence[TextEvidence],
    ) -> tuple[AffectedScene, ...]:
        """Return the scenes that a changed fact may affect, in story order, each once.

        These are scenes where `person`, a character's name in the new state, is
        present; or, if `person` is None, whose text names the `subject`; and those with
        `still`, evidence of the old value in the new state. Only what comes after the
        first of `now`, the new evidence, is returned; if `now` is empty, after the
        first of `was`, the old evidence. Evidence in a note counts as before all
        scenes.
        """
        place = self._place(was, now)
        scenes_by_place: dict[tuple[int, float, int], AffectedScene] = {}
        for scene in self._relevant_scenes(subject, person):
            at = (self._ranks[scene.document], scene.span.start)
            if at > place:
                scenes_by_place[*at, scene.scene] = AffectedScene(
                    scene.document,
                    scene.lines.first,
                    scene.chapter,
                    scene.scene,
                    chapter_title=scene.chapter_title,
                )
        for text_evidence in still:
            self._add(text_evidence, place, scenes_by_place)
        return tuple(scenes_by_place[key] for key in sorted(scenes_by_place))

    def _add(
        self,
        text_evidence: TextEvidence,
        place: _Place,
        scenes_by_place: dict[tuple[int, float, int], AffectedScene],
    ) -> None:
        rank = self._ranks.get(text_evidence.document)
        if rank is None or text_evidence.chapter is None or text_evidence.scene is None:
            return
        at = (rank, text_evidence.spans[0].start)
        if at <= place:
            return
        matching_scenes = (s for s in self._scenes if _contains(s, text_evidence))
        scene = next(matching_scenes, None)
        start = scene.span.start if scene else at[1]
        scenes_by_place[rank, start, text_evidence.scene] = AffectedScene(
            text_evidence.document,
            text_evidence.lines.first,
            text_evidence.chapter,
            text_evidence.scene,
            says=True,
            chapter_title=scene.chapter_title if scene else "",
        )

    def _relevant_scenes(
        self, subject: str, person: str | None
    ) -> tuple[SceneSummary, ...]:
        key = (subject if person is None else person, person is None)
        if key not in self._known:
            if person is None:
                scenes = self._scenes_naming(subject)
            else:
                scenes = tuple(s for s in self._scenes if person in s.present)
            self._known[key] = scenes
        return self._known[key]

    def _scenes_naming(self, element_name: str) -> tuple[SceneSummary, ...]:
        pattern = compile_forms_pattern([element_name])
        return tuple(
            scene
            for scene in self._scenes
            if pattern
            and pattern.search(
                self._after.texts[scene.document].text,
                scene.span.start,
                scene.span.end,
            )
        )

    def _place(
        self, was: Sequence[TextEvidence], now: Sequence[TextEvidence]
    ) -> _Place:
        places = [
            (self._ranks[text_evidence.document], float(text_evidence.spans[0].start))
            for text_evidence in now
            if text_evidence.document in self._ranks
        ]
        if places:
            return min(places)
        if now:
            return _BEFORE_ALL
        return min(
            (self._map_location(text_evidence) for text_evidence in was),
            default=_BEFORE_ALL,
        )

    def _map_location(self, text_evidence: TextEvidence) -> _Place:
        """Return the location in the new state that corresponds to old evidence."""
        story = self._before.order.story
        if text_evidence.document not in story:
            return _BEFORE_ALL
        document = self._names.get(text_evidence.document, text_evidence.document)
        if document in self._ranks:
            at = self._map_offset(
                text_evidence.spans[0].start, text_evidence.document, document
            )
            return self._ranks[document], at
        earlier = story[: story.index(text_evidence.document)]
        names = (self._names.get(other, other) for other in earlier)
        return max((self._ranks.get(name, -1) for name in names), default=-1), float("inf")  # fmt: skip

    def _map_offset(self, at: int, was: DocumentId, document: DocumentId) -> int:
        """Return the new offset of an old one; inside rewritten text, its start."""
        old, new = self._before.texts[was].text, self._after.texts[document].text
        if was not in self._common_ends:
            head = _common_prefix_length(old, new)
            tail = _common_prefix_length(old[head:][::-1], new[head:][::-1])
            self._common_ends[was] = head, tail
        head, tail = self._common_ends[was]
        if at < head:
            return at
        return at + len(new) - len(old) if at >= len(old) - tail else head


def _contains(scene: SceneSummary, text_evidence: TextEvidence) -> bool:
    start = text_evidence.spans[0].start
    return (
        scene.document == text_evidence.document
        and scene.span.start <= start < scene.span.end
    )


def _common_prefix_length(text: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(text, other, strict=False))
    differ = (n for n, (letter, other_letter) in pairs if letter != other_letter)
    return next(differ, min(len(text), len(other)))
