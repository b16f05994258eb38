"""A character without a language model: what they say in the text, verbatim."""

import re
from collections.abc import Sequence

from lrwr.core.chat.context.items import ContextItem, build_quote_item, is_sure
from lrwr.core.chat.extractive.question_parts import QuestionPart
from lrwr.core.chat.extractive.selection import MIN_ITEM_FIT, ItemSelector
from lrwr.core.chat.extractive.sentence_ranker import MIN_QUOTE_WORDS
from lrwr.core.chat.extractive.writer import AnswerPieces, AnswerWriter
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, normalize_word
from lrwr.core.model.turns import QuestionPlan

_GREETING = re.compile(
    r"\b(?:hello|hi|hey|greetings|good\s+(?:morning|day|afternoon|evening|night)"
    r"|how\s+(?:are|do)\s+you(?:\s+(?:do|today|feeling|keeping))?|how\s+is\s+it\s+going"
    r"|nice\s+to\s+meet\s+you|pleased\s+to\s+meet\s+you|welcome|good-?bye|farewell"
    r"|thanks?(?:\s+you)?)\b",
    re.IGNORECASE,
)
"""What is said to somebody without asking for anything."""


MAX_NEAREST_LINES = 2
"""Lines told at most that are near to an answer and are none."""


class CharacterAnswerer:
    """Lets one character answer; `silent` says that nothing of theirs did."""

    def __init__(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        answer_writer: AnswerWriter,
    ) -> None:
        self._question = question
        self._name = question.character
        own_lines = [
            build_quote_item(o) for o in result.lines if o.speaker == self._name
        ]
        self._lines = [line for line in own_lines if _says_something(line)]
        self._sure = [line for line in self._lines if all(map(is_sure, line.evidence))]
        self._chooser = ItemSelector(self._lines, plan, result)
        self._scribe = answer_writer
        self.silent = False

    @property
    def nothing(self) -> str:
        """What is told where they have no line at all for it."""
        return f"{self._name} says nothing of this, as far as the story has come."

    @property
    def _nothing_sure(self) -> str:
        return f"Nothing of this is surely {self._name}’s."

    def answer(self, parts: Sequence[QuestionPart]) -> AnswerPieces:
        """Yield the lines of theirs that answer, or a greeting; else what is nearest.

        A line that is only probably theirs is no answer of theirs, and is told as such.
        """
        if self._is_greeted():
            yield from self._greeting()
            return
        answers, guessed = self._fitting(parts, self._sure), []
        if not answers:
            guessed = self._fitting(parts, self._lines)[:MAX_NEAREST_LINES]
        nearest_lines = [] if guessed else self._nearest(parts)
        yield from self._told(answers, "")
        self.silent = not answers and not guessed
        yield from self._told(guessed, f"{self._nothing_sure} Probably theirs:")
        yield from self._told(
            nearest_lines, f"{self.nothing} What comes nearest in their words:"
        )

    def _fitting(
        self, parts: Sequence[QuestionPart], lines: Sequence[ContextItem]
    ) -> list[ContextItem]:
        fitting_lines = (
            line for part in parts for line in self._chooser.lines(part, lines)
        )
        return list(dict.fromkeys(fitting_lines))

    def _told(self, lines: Sequence[ContextItem], heading: str) -> AnswerPieces:
        if lines and heading:
            yield self._scribe.say(heading)
        for line in lines:
            yield from self._scribe.own(line)

    def _is_greeted(self) -> bool:
        rest = _GREETING.sub(" ", self._question.text)
        names = {normalize_word(word) for word in WORD_PATTERN.findall(self._name)}
        words = {normalize_word(word) for word in WORD_PATTERN.findall(rest)}
        greeted = rest != self._question.text
        return greeted and words <= names | STOP_WORDS

    def _greeting(self) -> AnswerPieces:
        """Yield a greeting of theirs, else the first thing that they surely say."""
        greetings = [line for line in self._sure if _GREETING.match(_said(line))]
        none = f"{self._name} has no greeting in the text. Their first words in it:"
        first = [*greetings, *self._sure][:1]
        yield from self._told(first, "" if greetings else none)

    def _nearest(self, parts: Sequence[QuestionPart]) -> list[ContextItem]:
        """Return what is surely theirs and has some word of the question, best first."""

        def fit(line: ContextItem) -> float:
            return max((part.words.coverage(line.words) for part in parts), default=0.0)

        some = [
            line for line in self._sure if MIN_ITEM_FIT / 2 <= fit(line) < MIN_ITEM_FIT
        ]
        return sorted(some, key=lambda line: -fit(line))[:MAX_NEAREST_LINES]


def _said(line: ContextItem) -> str:
    return line.words.strip(" “”\"'‘’")


def _says_something(line: ContextItem) -> bool:
    """Say whether a line is long enough to answer, and its speaker was evaluated."""
    is_evaluated = all(
        e.certainty is not Certainty.NOT_EVALUATED for e in line.evidence
    )
    return is_evaluated and len(line.words.split()) >= MIN_QUOTE_WORDS
