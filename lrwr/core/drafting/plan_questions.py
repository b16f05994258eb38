"""The plan of a novel: what it leaves open, answers that are inserted there, and what to
tidy up.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import combinations

from lrwr.core.bible.name_lookup import match_people
from lrwr.core.bible.values import Bible, CharacterProfile
from lrwr.core.drafting.board import Board, SceneCard
from lrwr.core.drafting.folder import DraftFile
from lrwr.core.drafting.model_steps import StepPrompt
from lrwr.core.drafting.prompts import PromptName, PromptTexts
from lrwr.core.model.cast import Gender
from lrwr.core.model.language_model import (
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
)
from lrwr.core.nlp.names.lookup import bounded_edit_distance
from lrwr.core.ports.models import ReplyShape

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
_ON_PURPOSE = "on purpose"
"""In what a note leaves open: not to be asked."""
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
        gaps = [gap for person in people for gap in person.open_gaps]
        open_gaps = [gap for gap in gaps if _ON_PURPOSE not in gap.attribute]
        for gap in open_gaps[:MAX_GAPS]:
            text = f"The text leaves open: {gap.attribute.rstrip(' .')}. What is true?"
            yield PlanQuestion(name, text, place, SHEET_FIELD)


def _ask_headings(material: PlanMaterial, level: str) -> Iterator[PlanQuestion]:
    """Yield a question for each planned scene without a part or chapter; none about parts
    if the scenes of the manuscript are in none.
    """
    written = [card for card in material.board.cards if card.id in material.written]
    if level == "part" and written and not any(card.part for card in written):
        return
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


_LEAST_LETTERS = 5
"""Letters of the shorter of two names that may be misspellings of each other."""


@dataclass(frozen=True, slots=True)
class TidyHint:
    """Something that may be tidied up: a sentence, and the command or file to do so."""

    text: str
    remedy: str


def list_tidy_hints(
    board: Board, bible: Bible, sheets: Sequence[str], scenes: Collection[str]
) -> list[TidyHint]:
    """Return duplicates and orphans of the story and the plan.

    `sheets` are the names of sheets, `scenes` the ids of scenes with drafts.
    """
    return [
        *_find_duplicates(bible),
        *_find_orphaned_people(bible),
        *_find_orphaned_plans(board, bible, sheets, scenes),
    ]


def _find_duplicates(bible: Bible) -> Iterator[TidyHint]:
    for person, other in combinations(bible.characters, 2):
        genders = {person.gender, other.gender} - {Gender.UNKNOWN}
        if len(genders) < 2 and may_be_same_name(person.name, other.name):
            yield TidyHint(
                f"{person.name} ({person.mentions:,} mentions) and {other.name}"
                f" ({other.mentions:,}) may be one person",
                f'lrwr characters merge "{person.name}" "{other.name}"',
            )


def may_be_same_name(name: str, other: str) -> bool:
    """Return whether two names differ by one letter, or one has all words of the
    other.
    """
    words, others = set(name.casefold().split()), set(other.casefold().split())
    if words < others or others < words:
        return True
    shorter = min(len(name), len(other))
    if shorter < _LEAST_LETTERS:
        return False
    return bounded_edit_distance(name.casefold(), other.casefold(), 1) <= 1


def _find_orphaned_people(bible: Bible) -> Iterator[TidyHint]:
    related = {name for r in bible.relations for name in (r.source, r.target)}
    present = {name for scene in bible.scenes for name in scene.present}
    for person in bible.characters:
        if not _is_known(person) and person.name not in related | present:
            yield TidyHint(
                f"{person.name} is mentioned once, and nothing else is known",
                f'lrwr characters ignore "{person.name}"',
            )


def _is_known(person: CharacterProfile) -> bool:
    return person.mentions > 1 or bool(person.attributes or person.narrator)


def _find_orphaned_plans(
    board: Board, bible: Bible, sheets: Sequence[str], scenes: Collection[str]
) -> Iterator[TidyHint]:
    ids = {card.id for card in board.cards}
    cast = {name.casefold() for card in board.cards for name in card.cast}
    for scene in sorted(set(scenes) - ids):
        yield TidyHint(
            f"There are drafts for the scene {scene}, which is not on the board",
            f"scenes/{scene}",
        )
    for sheet in sheets:
        if sheet.casefold() not in cast and not match_people(sheet, bible):
            yield TidyHint(
                f"{sheet} has a sheet, but is in no scene of the board and not in the"
                " story",
                f"sheets/{sheet}.md",
            )


MAX_QUESTIONS = 24
"""Questions that a language model gets at once."""
MAX_ANSWER_CHARS = 600
MAX_PLAN_CHARS = 16_000
"""Characters of one file of the plan, and of the story, that are sent."""
ANSWER_TOKENS = 50

_MARKUP = re.compile(r"^[\s#>*+`~|-]+|<!--|-->|%%|\^[A-Za-z0-9-]+$")
_FIELD = re.compile(r"[-*+][ \t]+[A-Za-z][A-Za-z ]{0,30}?[ \t]*:")
_HEADING = re.compile(r"#{1,4}[ \t]")
_LEVELS = {"part": "##", "chapter": "###"}
_RULES = ("always", "never")


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """An answer to a question, on one line; `beats` answers are separated by "; "."""

    question: PlanQuestion
    text: str


@dataclass(frozen=True, slots=True)
class PlanInsertion:
    """A line or lines that a file of the plan gets, from line `line` of the new text."""

    path: str
    line: int
    text: str


def build_plan_prompt(
    texts: PromptTexts,
    step: PlanStep,
    questions: Sequence[PlanQuestion],
    plan: Mapping[str, str],
) -> StepPrompt:
    """Return the prompt that asks for answers; `plan` are labelled texts of the writer
    and of the story.
    """
    rows = "\n".join(
        f"{number}. {question.about}: {question.text}"
        for number, question in enumerate(questions, start=1)
    )
    blocks = [(label, text[:MAX_PLAN_CHARS]) for label, text in plan.items()]
    task = texts.render(PromptName.PLAN, questions=len(questions))
    blocks.append(("questions", rows))
    tokens = ANSWER_TOKENS * len(questions)
    return StepPrompt(f"plan {step}", task, tuple(blocks), _build_shape(), tokens)


def parse_answers(
    reply: str, questions: Sequence[PlanQuestion]
) -> tuple[PlanAnswer, ...]:
    """Return the answers in a reply, without empty ones.

    Raises:
        MalformedReply: The reply has another shape, answers a question twice or one that
            was not asked, or an answer cannot stand on a line of the plan.
    """
    match extract_json_object(reply):
        case {"answers": [*rows], **more} if not more:
            pairs = [_parse_answer(row, len(questions)) for row in rows]
        case _:
            raise MalformedReply("it is not an object of `answers`")
    numbers = [number for number, _ in pairs]
    if len(set(numbers)) < len(numbers):
        raise MalformedReply("a question is answered twice")
    answers = (PlanAnswer(questions[number - 1], text) for number, text in pairs)
    return tuple(_check_answer(answer) for answer in answers if answer.text)


def _parse_answer(row: object, count: int) -> tuple[int, str]:
    match row:
        case {"question": int(number), "answer": str(text), **more} if not more:
            if not 1 <= number <= count:
                raise MalformedReply(f"there is no question {number}")
            return number, flatten_reply_text(text)
    raise MalformedReply("an answer is not `question` and `answer`")


def _check_answer(answer: PlanAnswer) -> PlanAnswer:
    about = f"the answer about “{answer.question.about}”"
    if len(answer.text) > MAX_ANSWER_CHARS:
        raise MalformedReply(f"{about} is longer than {MAX_ANSWER_CHARS} characters")
    if _MARKUP.search(answer.text):
        raise MalformedReply(f"{about} has markup")
    if answer.question.field == "words" and not re.match(r"\d", answer.text):
        raise MalformedReply(f"{about} is no number of words")
    return answer


def insert_answers(
    text: str, path: str, answers: Sequence[PlanAnswer]
) -> tuple[str, tuple[PlanInsertion, ...]]:
    """Return `text`, the file `path` of the plan, with the answers that belong there,
    and what was inserted. Everything that the file says stays.
    """
    lines = text.splitlines()
    placed = [(_line_of(answer, path), answer) for answer in answers]
    # From the end, so that the lines of earlier answers stay where they are.
    placed.sort(key=lambda pair: -pair[0])
    marks: list[tuple[int, Sequence[str]]] = []
    for line, answer in _skip_repeated_headings(placed):
        at, rows = _place_answer(lines, line, answer)
        if at < len(lines) and _is_empty_field(lines[at], answer):
            lines[at : at + 1] = rows
        else:
            lines[at:at] = rows
            marks = [
                (mark + len(rows) if mark >= at else mark, shown)
                for mark, shown in marks
            ]
        marks.append((at, rows))
    marks.sort(key=lambda mark: mark[0])
    inserted = tuple(
        PlanInsertion(path, at + 1, "\n".join(rows).strip()) for at, rows in marks
    )
    return "\n".join(lines) + "\n", inserted


def _line_of(answer: PlanAnswer, path: str) -> int:
    file, _, line = answer.question.place.rpartition(":")
    if file != path or not line.isdigit():
        raise ValueError(f"{answer.question.place} is not a line of {path}")
    return int(line)


def _skip_repeated_headings(
    placed: Sequence[tuple[int, PlanAnswer]],
) -> list[tuple[int, PlanAnswer]]:
    """Leave out a part or chapter that the heading before it opens already."""
    chosen = []
    for number, (line, answer) in enumerate(placed):
        before = placed[number + 1][1].text if number + 1 < len(placed) else ""
        if answer.question.field not in _LEVELS or answer.text != before:
            chosen.append((line, answer))
    return chosen


def _place_answer(
    lines: Sequence[str], line: int, answer: PlanAnswer
) -> tuple[int, list[str]]:
    """Return the index at which the answer is inserted, and its lines."""
    name, text = answer.question.field, answer.text
    at = min(line, len(lines)) - 1
    if name in _LEVELS:
        return at, [f"{_LEVELS[name]} {text}", ""]
    if name in _RULES:
        return _place_rule(lines, at, name, text)
    if name == "beats":
        end = _find_end(lines, at)
        beats = [beat.strip() for beat in text.split(";") if beat.strip()]
        return end, [row for beat in beats for row in (f"##### {beat}", "")]
    fields = _count_fields(lines, at)
    if name == "summary":
        return at + 1 + fields, ["", text]
    if answer.question.about == name:  # a field of `intent.md`
        return _place_intent(lines, at, name, text)
    return at + 1 + fields, [f"- {name}: {text}"]


def _place_rule(
    lines: Sequence[str], at: int, name: str, text: str
) -> tuple[int, list[str]]:
    if 0 <= at < len(lines) and re.match(
        rf"#+[ \t]+{name}\b", lines[at], re.IGNORECASE
    ):
        return at + 1, ["", f"- {text}"]
    return len(lines), ["", f"## {name.capitalize()}", "", f"- {text}"]


def _place_intent(
    lines: Sequence[str], at: int, name: str, text: str
) -> tuple[int, list[str]]:
    row = f"- {name}: {text}"
    if 0 <= at < len(lines) and _is_field(lines[at], name):
        return at, [row]
    heading = bool(lines) and lines[0].startswith("#")
    return int(heading), [row]


def _is_field(line: str, name: str) -> bool:
    pattern = rf"[-*+][ \t]+{re.escape(name)}[ \t]*:[ \t]*"
    return re.fullmatch(pattern, line, re.IGNORECASE) is not None


def _is_empty_field(line: str, answer: PlanAnswer) -> bool:
    """Return whether a line is the empty field of `intent.md` that is filled."""
    is_intent = answer.question.about == answer.question.field
    return is_intent and _is_field(line, answer.question.field)


def _count_fields(lines: Sequence[str], at: int) -> int:
    """Return the number of lines with fields that follow the heading at `at`."""
    count = 0
    while at + 1 + count < len(lines) and _FIELD.match(lines[at + 1 + count]):
        count += 1
    return count


def _find_end(lines: Sequence[str], at: int) -> int:
    """Return the index after the card whose heading is at `at`."""
    later = range(at + 1, len(lines))
    return next((n for n in later if _HEADING.match(lines[n])), len(lines))


def render_sheet(name: str, answers: Sequence[PlanAnswer]) -> str:
    """Return a new sheet for a person, a paragraph for each answer."""
    paragraphs = "\n\n".join(answer.text for answer in answers)
    return f"# {name}\n\n{paragraphs}\n"


@cache
def _build_shape() -> ReplyShape:
    row = {"question": {"type": "integer"}, "answer": {"type": "string"}}
    fields = {"answers": {"type": "array", "items": build_strict_schema(row)}}
    schema = json.dumps(build_strict_schema(fields), separators=(",", ":"))
    return ReplyShape("Answers", schema)
