"""The board, `board.md`: parts, chapters, scenes and beats as Markdown headings; and where
its scenes stand in the story.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from unicodedata import normalize

from lrwr.core.model.documents import BEFORE_THE_STORY, DocumentId, Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.text import LineRange
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.story import StoryOrder

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_BLOCK_ID = re.compile(r"(?:^|[ \t]+)\^([A-Za-z0-9-]+)$")
_FIELD = re.compile(r"[-*+][ \t]+([A-Za-z][A-Za-z ]{0,30}?)[ \t]*:[ \t]*(.*)")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_LINES = re.compile(r"(?P<file>.+?):(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?")
_MARKUP = re.compile(r"[#\-*+`~<%]")
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)

PART_LEVEL, CHAPTER_LEVEL, SCENE_LEVEL, BEAT_LEVEL = 2, 3, 4, 5
"""Levels of the headings of a board; level 1 is its title."""

MAX_ID_LENGTH = 60
"""Longest id that is made of a title, in characters."""


@dataclass(frozen=True, slots=True)
class ScenePlace:
    """Where a scene stands in the manuscript: a file, and its lines, from 1.

    `file` is a path relative to the library's folder. `first` is 0 if only the file is
    known: the scene is to become this file.
    """

    file: str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if not self.first:
            return self.file
        end = f"-{self.last}" if self.last > self.first else ""
        return f"{self.file}:{self.first}{end}"


@dataclass(frozen=True, slots=True)
class SceneCard:
    """A scene as the board plans it.

    `id` is the block id of its heading, else made of `title`. `words` is the planned
    length, 0 for none. `place` names a place of the story; `at` is where the scene
    stands in the manuscript, None if it is not written. `summary` says what happens,
    `beats` are its steps. `line` is that of the heading in the board.
    """

    id: str
    title: str
    chapter: str = ""
    part: str = ""
    pov: str = ""
    people: tuple[str, ...] = ()
    place: str = ""
    words: int = 0
    at: ScenePlace | None = None
    summary: str = ""
    beats: tuple[str, ...] = ()
    line: int = 0

    @property
    def cast(self) -> tuple[str, ...]:
        """The people of the scene, the point-of-view character first, each once."""
        return tuple(dict.fromkeys(filter(None, (self.pov, *self.people))))


@dataclass(frozen=True, slots=True)
class Board:
    """The cards of all scenes, in story order."""

    cards: tuple[SceneCard, ...] = ()
    title: str = "Board"

    def index(self, name: str) -> int:
        """Return the index of the scene with the id or title `name`, ignoring case.

        Raises:
            NotFound: There is none, or several have this title.
        """
        word = name.strip().removeprefix("^").casefold()
        by_id = [n for n, card in enumerate(self.cards) if card.id.casefold() == word]
        fits = by_id or [
            n for n, card in enumerate(self.cards) if card.title.casefold() == word
        ]
        if len(fits) == 1:
            return fits[0]
        if fits:
            ids = " or ".join(self.cards[n].id for n in fits[:4])
            raise NotFound(
                f"Several scenes of the board are called {name}", hint=f"Use {ids}."
            )
        similar = get_close_matches(word, [card.id for card in self.cards], n=1)
        offer = f"Did you mean {similar[0]}? " if similar else ""
        raise NotFound(
            f"The board has no scene {name}",
            hint=f"{offer}`lrwr draft` lists all scenes.",
        )


@dataclass(slots=True)
class _Entry:
    """A heading of the board while it is parsed."""

    title: str
    id: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    beats: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Collects the scenes of a board, line by line."""

    title: str = "Board"
    part: str = ""
    chapter: str = ""
    scene: _Entry | None = None
    cards: list[SceneCard] = field(default_factory=list)

    def read_heading(self, level: int, text: str, line: int) -> None:
        match = _BLOCK_ID.search(text)
        title = _BLOCK_ID.sub("", text).strip()
        if level == BEAT_LEVEL and self.scene is not None:
            self.scene.beats.append(title)
            return
        self.close_scene()
        if level == 1:
            self.title = title or self.title
        elif level == PART_LEVEL:
            self.part, self.chapter = title, ""
        elif level == CHAPTER_LEVEL:
            self.chapter = title
        elif level == SCENE_LEVEL:
            self.scene = _Entry(title, match[1] if match else "", line)

    def read_text(self, text: str) -> None:
        if self.scene is None:
            return
        match = _FIELD.fullmatch(text.strip())
        if match and not self.scene.beats:
            self.scene.fields[match[1].casefold()] = match[2].strip()
        elif self.scene.beats:
            if text.strip():
                self.scene.beats[-1] += f" {text.strip().lstrip('-*+ ')}"
        else:
            self.scene.text.append(text)

    def close_scene(self) -> None:
        if self.scene is not None:
            self.cards.append(self._build_card(self.scene))
        self.scene = None

    def _build_card(self, entry: _Entry) -> SceneCard:
        fields = entry.fields
        return SceneCard(
            id=entry.id,
            title=entry.title,
            chapter=self.chapter,
            part=self.part,
            pov=fields.get("pov", ""),
            people=_split_names(fields.get("people", "")),
            place=fields.get("place", ""),
            words=_parse_words(fields.get("words", "")),
            at=parse_scene_place(fields.get("file", "")),
            summary=_read_summary(entry.text),
            beats=tuple(entry.beats),
            line=entry.line,
        )


def parse_board(text: str) -> Board:
    """Parse a board; what it does not understand is skipped.

    Level 2 headings are parts, level 3 chapters, level 4 scenes, level 5 beats. A line
    `- people: Nell, Hob` below a scene is a field; other text is its summary. A scene
    without a block id (`^id` at the end of its heading) gets an id from its title.
    """
    reader, fence = _Reader(), ""
    plain = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(plain.splitlines(), start=1):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
            continue
        heading = None if fence else _HEADING.fullmatch(line)
        if heading:
            reader.read_heading(len(heading[1]), heading[2], number)
        elif not fence:
            reader.read_text(line)
    reader.close_scene()
    return Board(tuple(_assign_ids(reader.cards)), reader.title)


def _assign_ids(cards: Sequence[SceneCard]) -> Iterator[SceneCard]:
    """Yield the cards, each with an id of its own; later ones of the same id get a
    number.
    """
    used = {card.id.casefold() for card in cards if card.id}
    assigned: set[str] = set()
    for card in cards:
        base = card.id or slugify(card.title) or "scene"
        candidate, number = base, 2
        while candidate.casefold() in assigned or (
            not card.id and candidate.casefold() in used
        ):
            candidate, number = f"{base}-{number}", number + 1
        assigned.add(candidate.casefold())
        yield replace(card, id=candidate)


def slugify(title: str) -> str:
    """Return `title` in lower-case ASCII letters, digits and hyphens, for an id."""
    plain = normalize("NFKD", title).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_ID_LENGTH].strip("-")


def parse_scene_place(text: str) -> ScenePlace | None:
    """Return the place that a field `file` names, such as "ch/1.md:3-9"; None if it is
    empty.
    """
    text = text.strip().strip("`")
    match = _LINES.fullmatch(text)
    if match:
        first = int(match["first"])
        return ScenePlace(match["file"], first, int(match["last"] or first))
    return ScenePlace(text) if text else None


def render_board(board: Board) -> str:
    """Return the board as Markdown, which `parse_board` reads."""
    lines = [f"# {board.title}"]
    part = chapter = ""
    for card in board.cards:
        if card.part != part:
            part, chapter = card.part, ""
            lines += ["", f"## {part}"] if part else []
        if card.chapter != chapter:
            chapter = card.chapter
            lines += ["", f"### {chapter}"] if chapter else []
        lines += ["", *_render_card(card)]
    return "\n".join(lines) + "\n"


def _render_card(card: SceneCard) -> Iterable[str]:
    yield f"#### {_render_words(card.title)} ^{card.id}"
    fields = {
        "pov": card.pov,
        "people": ", ".join(card.people),
        "place": card.place,
        "words": str(card.words or ""),
        "file": str(card.at or ""),
    }
    for name, value in fields.items():
        if value:
            yield f"- {name}: {_render_words(value)}"
    if card.summary:
        yield from ("", _protect(card.summary))
    for beat in card.beats:
        yield from ("", f"##### {_render_words(beat)}")


def _render_words(text: str) -> str:
    """Return a text on one line, without the marks that start and end comments."""
    return re.sub(r"<!(?=--)|%(?=%)", r"\g<0> ", " ".join(text.split()))


def _protect(summary: str) -> str:
    """Return a summary that Markdown does not read as a heading, list or fence."""
    text = _render_words(summary)
    return f"\\{text}" if _MARKUP.match(text) else text


def _read_summary(lines: Sequence[str]) -> str:
    text = " ".join(" ".join(lines).split())
    return text[1:] if text.startswith("\\") and _MARKUP.match(text[1:]) else text


def _split_names(text: str) -> tuple[str, ...]:
    names = (_unlink(name.strip()) for name in re.split(r"[,;]", text))
    return tuple(dict.fromkeys(filter(None, names)))


def _unlink(name: str) -> str:
    """Return the name in an Obsidian link: "[[notes/Nell|Nell]]" gives "Nell"."""
    if name.startswith("[[") and name.endswith("]]"):
        return name[2:-2].rpartition("|")[2].rpartition("/")[2].strip()
    return name


def _parse_words(text: str) -> int:
    digits = re.match(r"\d[\d,.]{0,8}", text)
    return int(re.sub(r"\D", "", digits[0])) if digits else 0


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
