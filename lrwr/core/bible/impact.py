"""Which later scenes touch what was changed: the new state's scenes, in story order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.bible.service import StoryKnowledge
from lrwr.core.bible.values import SceneSummary, TextEvidence
from lrwr.core.model.documents import DocumentId

_Place = tuple[int, float]
"""A document's rank in story order, and a character of it."""

_BEFORE_ALL: _Place = (-1, 0)


@dataclass(frozen=True, slots=True)
class AffectedScene:
    """A scene that touches a fact; `says` that it still says the old value, in `line`."""

    document: DocumentId
    line: int
    chapter: int
    scene: int
    says: bool = False


class LaterSceneFinder:
    """Finds the scenes after a place. `names` are new names of documents, by the old."""

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
        self._same: dict[DocumentId, tuple[int, int]] = {}

    def touched(
        self,
        subject: str,
        person: str | None,
        was: Sequence[TextEvidence],
        now: Sequence[TextEvidence],
        still: Sequence[TextEvidence],
    ) -> tuple[AffectedScene, ...]:
        """Return the scenes after a fact's place that touch it, in story order.

        It is about `person`, as the new state calls them; or about a thing, or somebody
        unknown, and None: then scenes count that name the `subject`. The place is that of the new
        words, else where the old ones were; a note comes before all scenes. `still` are
        the places that say the old value in the new state.
        """
        place = self._place(was, now)
        scenes_by_place: dict[tuple[int, float, int], AffectedScene] = {}
        for scene in self._there(subject, person):
            at = (self._ranks[scene.document], scene.span.start)
            if at > place:
                scenes_by_place[*at, scene.scene] = AffectedScene(
                    scene.document, scene.lines.first, scene.chapter, scene.scene
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
        matching_scenes = (
            scene for scene in self._scenes if _holds(scene, text_evidence)
        )
        start = next((scene.span.start for scene in matching_scenes), at[1])
        scenes_by_place[rank, start, text_evidence.scene] = AffectedScene(
            text_evidence.document,
            text_evidence.lines.first,
            text_evidence.chapter,
            text_evidence.scene,
            says=True,
        )

    def _there(self, subject: str, person: str | None) -> tuple[SceneSummary, ...]:
        key = (subject if person is None else person, person is None)
        if key not in self._known:
            if person is None:
                scenes = self._naming(subject)
            else:
                scenes = tuple(s for s in self._scenes if person in s.present)
            self._known[key] = scenes
        return self._known[key]

    def _naming(self, element_name: str) -> tuple[SceneSummary, ...]:
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
            (self._moved(text_evidence) for text_evidence in was), default=_BEFORE_ALL
        )

    def _moved(self, text_evidence: TextEvidence) -> _Place:
        """Return where the words would stand now that stood there once."""
        story = self._before.order.story
        if text_evidence.document not in story:
            return _BEFORE_ALL
        document = self._names.get(text_evidence.document, text_evidence.document)
        if document in self._ranks:
            at = self._carried(
                text_evidence.spans[0].start, text_evidence.document, document
            )
            return self._ranks[document], at
        earlier = story[: story.index(text_evidence.document)]
        names = (self._names.get(other, other) for other in earlier)
        return max((self._ranks.get(name, -1) for name in names), default=-1), float("inf")  # fmt: skip

    def _carried(self, at: int, was: DocumentId, document: DocumentId) -> int:
        """Return where a character is now; what was written anew has its beginning."""
        old, new = self._before.texts[was].text, self._after.texts[document].text
        if was not in self._same:
            head = _alike(old, new)
            tail = _alike(old[head:][::-1], new[head:][::-1])
            self._same[was] = head, tail
        head, tail = self._same[was]
        if at < head:
            return at
        return at + len(new) - len(old) if at >= len(old) - tail else head


def _holds(scene: SceneSummary, text_evidence: TextEvidence) -> bool:
    start = text_evidence.spans[0].start
    return (
        scene.document == text_evidence.document
        and scene.span.start <= start < scene.span.end
    )


def _alike(text: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(text, other, strict=False))
    differ = (n for n, (letter, other_letter) in pairs if letter != other_letter)
    return next(differ, min(len(text), len(other)))
