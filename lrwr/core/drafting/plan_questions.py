"""Questions about what a plan leaves open: intent, sheets, parts, chapters and scenes."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.bible.name_lookup import match_people
from lrwr.core.bible.values import Bible
from lrwr.core.drafting.board import Board, SceneCard
from lrwr.core.drafting.folder import DraftFile

_INTENT_QUESTIONS = {
    "genre": "What kind of story is it?",
    "theme": "What is it about, beneath what happens?",
    "setting": "Where and when does it happen?",
    "style": "How should it sound: whose voice, which tense, which register?",
    "length": "How many words should the whole have?",
}
_RULE_QUESTIONS = {
    "always": "What does the text always do?",
    "never": "What does the text never do?",
}
_SCENE_QUESTIONS = {
    "pov": "Through whose eyes is it told?",
    "people": "Who is there?",
    "place": "Where does it happen?",
    "words": "How long should it be?",
    "summary": "What happens, and what is different at its end?",
    "beats": "Which steps lead there?",
}
SHEET_FIELD = "sheet"
MAX_GAPS = 3
"""Open questions of the text that are shown for one person."""


class PlanStep(StrEnum):
    """A part of the plan."""

    INTENT = "intent"
    SHEETS = "sheets"
    PARTS = "parts"
    CHAPTERS = "chapters"
    SCENES = "scenes"


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """A question, what it is about, and where to write the answer, as `file:line` or a
    file that does not exist yet. `field` names what is open there, such as "pov".
    """

    about: str
    text: str
    place: str
    field: str


@dataclass(frozen=True, slots=True)
class PlanMaterial:
    """What is planned so far.

    `board` has the path `board_path`. `written` are the ids of scenes that are in the
    manuscript. `sheets` are the names of people with a sheet in `sheets_path`. `bible`
    is that of the whole story.
    """

    board: Board
    board_path: str
    written: Collection[str]
    intent: DraftFile
    sheets: Collection[str]
    sheets_path: str
    bible: Bible

    @property
    def planned(self) -> Sequence[SceneCard]:
        """The cards of scenes that are not written yet."""
        return [card for card in self.board.cards if card.id not in self.written]


def list_plan_questions(step: PlanStep, material: PlanMaterial) -> list[PlanQuestion]:
    """Return what a step of the plan leaves open, in the order of the plan."""
    match step:
        case PlanStep.INTENT:
            return list(_ask_intent(material.intent))
        case PlanStep.SHEETS:
            return list(_ask_sheets(material))
        case PlanStep.PARTS:
            return list(_ask_headings(material, "part"))
        case PlanStep.CHAPTERS:
            return list(_ask_headings(material, "chapter"))
        case PlanStep.SCENES:
            return list(_ask_scenes(material))


def _ask_intent(intent: DraftFile) -> Iterator[PlanQuestion]:
    lines = intent.text.splitlines()
    for name, question in _INTENT_QUESTIONS.items():
        pattern = re.compile(rf"[-*+][ \t]+{name}[ \t]*:(.*)", re.IGNORECASE)
        rows = [(n, pattern.match(line)) for n, line in enumerate(lines, start=1)]
        number, match = next(((n, m) for n, m in rows if m), (1, None))
        if match is None or not match[1].strip():
            yield PlanQuestion(name, question, f"{intent.path}:{number}", name)
    for name, question in _RULE_QUESTIONS.items():
        heading = re.compile(rf"#{{1,6}}[ \t]+{name}\b", re.IGNORECASE)
        at = next((n for n, line in enumerate(lines) if heading.match(line)), None)
        following = lines[at + 1 :] if at is not None else []
        text = next((line for line in following if line.strip()), "#")
        if text.startswith("#"):
            place = f"{intent.path}:{(at or 0) + 1}"
            yield PlanQuestion(name, question, place, name)


def _ask_sheets(material: PlanMaterial) -> Iterator[PlanQuestion]:
    names = dict.fromkeys(name for card in material.planned for name in card.cast)
    sheets = {name.casefold() for name in material.sheets}
    for name in names:
        if name.casefold() in sheets:
            continue
        place = f"{material.sheets_path}/{name}.md"
        people = match_people(name, material.bible)
        if not people:
            text = "Who is this, what do they want, and what stands in their way?"
            yield PlanQuestion(name, text, place, SHEET_FIELD)
        for gap in [g for person in people for g in person.open_gaps][:MAX_GAPS]:
            text = f"The text leaves open: {gap.attribute}. What is true?"
            yield PlanQuestion(name, text, place, SHEET_FIELD)


def _ask_headings(material: PlanMaterial, level: str) -> Iterator[PlanQuestion]:
    """Yield a question for each planned scene without a part or chapter."""
    for card in material.planned:
        if not getattr(card, level):
            text = f"Which {level} does it belong to, and why there?"
            place = f"{material.board_path}:{card.line}"
            yield PlanQuestion(card.title, text, place, level)


def _ask_scenes(material: PlanMaterial) -> Iterator[PlanQuestion]:
    for card in material.planned:
        for name, question in _SCENE_QUESTIONS.items():
            if not getattr(card, name):
                place = f"{material.board_path}:{card.line}"
                yield PlanQuestion(f"{card.title}, {name}", question, place, name)
