"""Steps of the reading companion: tool calls, their results, and the prompts that choose a
step and write the answer.

Pure functions. Every value has a JSON form, because a graph may run elsewhere than its
tools.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from lrwr.core.model.language_model import (
    CHARACTERS_PER_TOKEN,
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.ports.models import ChatMessage, ReplyShape

MAX_STEPS = 10
"""Steps before the answer, at most."""

MAX_PHRASINGS = 4
MAX_PHRASING_CHARS = 200
MAX_PART = 999
PARAGRAPH_GAP = 2
"""Characters between two paragraphs of a book."""

_ANSWER = "answer"

_STEP_TASK = """\
You accompany a reader through a book. You know of this book only what stands below; the \
reader has read a part of it, and you can see no more than that part. Choose the next \
step towards an answer to the reader's question:
search: find passages in what has been read. phrasings: 1 to {phrasings} different \
lines as the part that has been read might have them. Even if you know this book, use no \
name and no event from after that part: the reader sees these lines.
read_chapter: read the chapter with the number `chapter`, part `part` of it (the first \
is 1).
current_page: see the page on which the reader is.
table_of_contents: see the chapters that the reader has begun.
book_info: see title, author, language and how much has been read.
answer: the passages below answer the question, or further steps would find nothing more.
Answer as soon as you can. Do not repeat a step. {left} steps are left.
Fill phrasings, chapter and part only for the step that needs them, else [] and 0."""

_ANSWER_TASK = """\
You accompany a reader through a book and answer the reader's question: briefly and \
plainly, the answer first. Use only the numbered passages, which are from the part that \
has been read. Speak of nothing that comes later, even if you know this book, and do not \
guess at it.
Every claim about the book needs the number of its passage right after it, inside the \
sentence, as in [2] or [1][3]. Use no number that is not there. Quote word for word, in \
“…”, with the number directly after the closing mark, or do not quote.
Where the passages do not say, say that the text so far does not say it. What has no \
number, such as title and contents, needs none."""


class ReadingTool(StrEnum):
    """What the companion may look at; nothing after the reader's position is shown."""

    SEARCH = "search"
    READ_CHAPTER = "read_chapter"
    CURRENT_PAGE = "current_page"
    TABLE_OF_CONTENTS = "table_of_contents"
    BOOK_INFO = "book_info"
    SELECTION = "selection"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool. `phrasings` are the texts of a search; `chapter` is a number in
    story order and `part`, from 1, a part of a long chapter.
    """

    tool: ReadingTool
    phrasings: tuple[str, ...] = ()
    chapter: int = 0
    part: int = 0

    @property
    def description(self) -> str:
        """What happens, for the model: with phrasings that it may know from later parts."""
        return self.describe(self.phrasings)

    def describe(self, phrasings: Sequence[str]) -> str:
        """Return what happens; of a search only `phrasings`, which may be none."""
        match self.tool:
            case ReadingTool.SEARCH:
                words = f" for “{' | '.join(phrasings)}”" if phrasings else ""
                return f"Searching what you have read{words}"
            case ReadingTool.READ_CHAPTER:
                part = f", part {self.part}" if self.part > 1 else ""
                return f"Reading chapter {self.chapter}{part}"
            case ReadingTool.CURRENT_PAGE:
                return "Reading your page"
            case ReadingTool.TABLE_OF_CONTENTS:
                return "Reading the table of contents"
            case ReadingTool.BOOK_INFO:
                return "Reading the title page"
            case ReadingTool.SELECTION:
                return "Reading around the passage"


@dataclass(frozen=True, slots=True)
class ReadingPassage:
    """Words of the book at `start` to `end` of its text. `paragraph` counts from 1,
    `chapter` is None outside of chapters.
    """

    start: int
    end: int
    text: str
    chapter: int | None
    paragraph: int


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns: passages, best first, or `text` that is no part of the book."""

    passages: tuple[ReadingPassage, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class ReadingStep:
    """A call with its result."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ReadingQuestion:
    """A question of a reader. `passage` are the words that it is about, empty for none;
    `history` are earlier questions and answers of the conversation, as text. `place` says
    in words how far the reader is.
    """

    text: str
    passage: str = ""
    history: str = ""
    place: str = ""


def number_passages(steps: Sequence[ReadingStep]) -> dict[ReadingPassage, int]:
    """Return the passages of all results with their numbers, from 1, each once.

    The number of a passage does not change when steps are added.
    """
    passages = (passage for step in steps for passage in step.result.passages)
    return {passage: n for n, passage in enumerate(dict.fromkeys(passages), 1)}


def build_step_messages(
    question: ReadingQuestion, steps: Sequence[ReadingStep], budget: int
) -> list[ChatMessage]:
    """Return the prompt that asks for the next step; `budget` limits the tokens of the
    passages.
    """
    task = _STEP_TASK.format(phrasings=MAX_PHRASINGS, left=MAX_STEPS - len(steps))
    return _build_messages(task, question, steps, budget)


def build_answer_messages(
    question: ReadingQuestion, steps: Sequence[ReadingStep], budget: int
) -> list[ChatMessage]:
    """Return the prompt that asks for the answer."""
    return _build_messages(_ANSWER_TASK, question, steps, budget)


@cache
def build_step_shape() -> ReplyShape:
    """Return the format of a step."""
    tools = [tool.value for tool in ReadingTool if tool is not ReadingTool.SELECTION]
    schema = build_strict_schema(
        {
            "step": {"type": "string", "enum": [*tools, _ANSWER]},
            "phrasings": {"type": "array", "items": {"type": "string"}},
            "chapter": {"type": "integer"},
            "part": {"type": "integer"},
        }
    )
    return ReplyShape("ReadingStep", json.dumps(schema))


def parse_step(reply: str) -> ToolCall | None:
    """Return the call in a reply; None to answer.

    Raises:
        MalformedReply: The reply names no step, or what the step needs is missing.
    """
    value = extract_json_object(reply)
    step = value.get("step") if isinstance(value, dict) else None
    if not isinstance(value, dict) or step == _ANSWER:
        return None
    if step == ReadingTool.SELECTION or step not in list(ReadingTool):
        raise MalformedReply("`step` is none of the steps")
    match ReadingTool(step):
        case ReadingTool.SEARCH:
            return ToolCall(ReadingTool.SEARCH, _parse_phrasings(value))
        case ReadingTool.READ_CHAPTER:
            chapter = _parse_number(value, "chapter")
            if chapter is None:
                raise MalformedReply("`chapter` is not the number of a chapter")
            part = _parse_number(value, "part") or 1
            return ToolCall(ReadingTool.READ_CHAPTER, chapter=chapter, part=part)
        case tool:
            return ToolCall(tool)


def _parse_phrasings(value: dict[str, object]) -> tuple[str, ...]:
    listed = value.get("phrasings")
    texts = listed if isinstance(listed, list) else []
    lines = [flatten_reply_text(text) for text in texts if isinstance(text, str)]
    phrasings = [line[:MAX_PHRASING_CHARS] for line in lines if line]
    if not phrasings:
        raise MalformedReply("a search needs `phrasings`")
    return tuple(dict.fromkeys(phrasings))[:MAX_PHRASINGS]


def _parse_number(value: dict[str, object], key: str) -> int | None:
    number = value.get(key)
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return number if is_number and 0 <= number <= MAX_PART else None  # type: ignore[operator, return-value]


def _build_messages(
    task: str, question: ReadingQuestion, steps: Sequence[ReadingStep], budget: int
) -> list[ChatMessage]:
    numbers = number_passages(steps)
    shown = _choose_passages(steps, budget * CHARACTERS_PER_TOKEN)
    texts = [passage.text for passage in shown]
    others = [step.result.text for step in steps]
    own = (question.passage, question.history, question.place)
    mark = generate_fence_mark(*texts, *others, *own)
    parts = list(_list_material(steps, numbers, shown, mark))
    if not steps:
        parts.append("No step was taken yet.")
    if question.history:
        history = wrap_in_fence("conversation so far", question.history, mark)
        parts.insert(0, history)
    if question.place:
        parts.append(wrap_in_fence("the reader is at", question.place, mark))
    if question.passage:
        parts.append(wrap_in_fence("passage in question", question.passage, mark))
    parts.append(f"The reader's question: {question.text}")
    return [
        ChatMessage("system", f"{task}\n\n{FENCE_RULE}"),
        ChatMessage("user", "\n\n".join(parts)),
    ]


def _list_material(
    steps: Sequence[ReadingStep],
    numbers: dict[ReadingPassage, int],
    shown: frozenset[ReadingPassage],
    mark: str,
) -> Iterator[str]:
    """Yield each step with what it returned; a passage stands at its first step.

    Of a passage whose words are in others, the numbers of these are given.
    """
    covering = {p: [p] if p in shown else _find_covering(p, shown) for p in numbers}
    written: set[ReadingPassage] = set()
    for count, step in enumerate(steps, 1):
        head = f"Step {count}: {step.call.description}."
        passages, text = step.result.passages, step.result.text
        if passages:
            others = (other for p in passages for other in covering[p] or [p])
            listed = ", ".join(str(numbers[p]) for p in dict.fromkeys(others))
            yield f"{head} It returned the passages {listed}. {text}".rstrip()
        elif text:
            yield f"{head}\n{wrap_in_fence(step.call.tool, text, mark)}"
        else:
            yield f"{head} Nothing was found."
        for passage in passages:
            if passage in shown and passage not in written:
                written.add(passage)
                yield _format_passage(passage, numbers[passage], mark)
    left_out = sum(1 for others in covering.values() if not others)
    if left_out:
        yield f"{left_out} passages are left out, because there is no room for more."


def _find_covering(
    passage: ReadingPassage, others: Collection[ReadingPassage]
) -> list[ReadingPassage]:
    """Return the passages that together have all words of `passage`, in text order;
    empty if some words are missing.
    """
    covering, reached = list[ReadingPassage](), passage.start
    for other in sorted(others, key=lambda p: (p.start, p.end)):
        if other.start <= reached + PARAGRAPH_GAP and other.end > reached:
            covering.append(other)
            reached = other.end
        if covering and reached >= passage.end:
            return covering
    return []


def _format_passage(passage: ReadingPassage, number: int, mark: str) -> str:
    where = "" if passage.chapter is None else f", chapter {passage.chapter}"
    head = f"[{number}] paragraph {passage.paragraph}{where}"
    return wrap_in_fence(f"passage {number}", f"{head}\n{passage.text}", mark)


def _choose_passages(
    steps: Sequence[ReadingStep], characters: int
) -> frozenset[ReadingPassage]:
    """Return the passages that fit: the first of each step, then the second of each, and
    so on, of the latest step first. Those whose words are in others are left out.
    """
    results = [step.result.passages for step in reversed(steps)]
    depth = max(map(len, results), default=0)
    chosen: set[ReadingPassage] = set()
    for rank in range(depth):
        for passages in results:
            passage = passages[rank] if rank < len(passages) else None
            if passage is None or _find_covering(passage, chosen):
                continue
            characters -= len(passage.text)
            if characters < 0 and chosen:
                return _drop_covered(chosen)
            chosen.add(passage)
    return _drop_covered(chosen)


def _drop_covered(passages: Collection[ReadingPassage]) -> frozenset[ReadingPassage]:
    """Return the passages without those whose words are in longer ones."""
    remaining = set(passages)
    for passage in sorted(passages, key=lambda p: (p.end - p.start, p.start)):
        if _find_covering(passage, remaining - {passage}):
            remaining.remove(passage)
    return frozenset(remaining)
