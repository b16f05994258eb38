"""Finds dialogue lines that answer: the one whose speaker a question asks for, as in "Who
says that it is late?", and those of a character who answers in their own words.
"""

import re
from collections.abc import Iterable, Sequence

from lrwr.core.bible.values import AttributedQuote
from lrwr.core.chat.context.items import ContextItem, build_quote_item, is_sure
from lrwr.core.chat.extractive.answer_types import (
    asks_where,
    has_value_form,
    needs_value,
)
from lrwr.core.chat.extractive.question_parts import QuestionPart
from lrwr.core.chat.extractive.selection import (
    MIN_QUOTE_WORDS,
    ItemSelector,
)
from lrwr.core.chat.extractive.writer import AnswerPieces, AnswerWriter
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import Chunk, Passage
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    extract_content_words,
    normalize_word,
    normalize_words,
)
from lrwr.core.model.turns import NO_CLEAR_ANSWER, NO_LINE, QuestionPlan
from lrwr.core.retrieval.excerpts import (
    PassageSource,
    contains_any_phrase,
    weigh_question_words,
)
from lrwr.core.retrieval.query_words import extract_quoted_phrases

MIN_SPOKEN_SHARE = 0.75
"""Share of the weight of the question's words that a line must have to be the one asked
for, unless the question quotes it."""

MIN_REPORTED_SHARE = 0.9
"""The same for "who told …", which reports what was said in other words."""

SHOWN_CHARS = 400
"""Characters of a line that are compared with the question: as many as are shown."""

SPOKEN_PASSAGES = 5
"""First passages of a search whose quotations are compared with the question."""

_SPEAKER_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:(?:first|then|also|once|actually|really|later)\s+)*"
    r"(?P<verb>say|says|said|ask|asks|asked|tell|tells|told|answer|answers|answered"
    r"|repl(?:y|ies|ied)|claims?|claimed|declares?|declared|remarks?|remarked|exclaims?"
    r"|exclaimed|shouts?|shouted|whispers?|whispered|cries|cried|insists?|insisted"
    r"|speaks?\s+(?:the|these|those)|spoke\s+(?:the|these|those)|utters?|uttered)\b"
    r"(?-i:\s+(?:[A-Z][a-z]+\.?\s+){1,3}(?=that\b|“|\"))?"
    r"|^\W*whose\s+(?:words?|lines?)\b",
    re.IGNORECASE,
)


_TELLING_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:\w+\s+)?(?:tells?|told|asks?|asked)\b",
    re.IGNORECASE,
)

_NAMELESS = re.compile(r"(?:my|our|your|his|her|their|an?)\s", re.IGNORECASE)
"""The beginning of a speaker without a name, such as "my mother"."""


def find_words_spoken(question: str) -> str:
    """Return the words of `question` whose speaker it asks for; "" if it asks for none."""
    match = _SPEAKER_QUESTION.match(question)
    return question[match.end() :].strip() if match else ""


def select_spoken_chunks(question: str, passages: Sequence[Passage]) -> list[Chunk]:
    """Return the first of `passages` if `question` asks who says something; else none."""
    if not find_words_spoken(question):
        return []
    return [passage.chunk for passage in passages[:SPOKEN_PASSAGES]]


def gather_spoken_lines(
    question: str, passages: Sequence[Passage], quotes: Iterable[AttributedQuote]
) -> tuple[AttributedQuote, ...]:
    """Return those of `quotes` in the first `passages`, if `question` asks who says
    something.
    """
    chunks = select_spoken_chunks(question, passages)
    return tuple(
        quote
        for quote in quotes
        if any(
            quote.evidence.document == chunk.document
            and any(chunk.span.holds(span) for span in quote.evidence.spans)
            for chunk in chunks
        )
    )


async def find_spoken_item(
    question: str, lines: Sequence[AttributedQuote], source: PassageSource
) -> ContextItem | None:
    """Return that one of `lines` whose speaker `question` asks for; None if it asks for
    none, or if no line of a known speaker has the words in question.

    It has a phrase that the question quotes, or most of its words. Of lines that have
    as much, it is one whose speaker is certain, else the first one.

    Raises:
        StoreProblem: The library cannot be read.
    """
    words = find_words_spoken(question)
    attributed = [
        line for line in lines if line.speaker and not _NAMELESS.match(line.speaker)
    ]
    if not words or not attributed:
        return None
    phrases = extract_quoted_phrases(words)
    weights = await weigh_question_words(extract_content_words(words), source)

    def rank(line: AttributedQuote) -> tuple[float, bool]:
        text = line.evidence.text[:SHOWN_CHARS]
        share = weights.coverage(text) + contains_any_phrase(text, phrases)
        return share, is_sure(line.evidence)

    best = max(attributed, key=rank)
    share, _ = rank(best)
    if phrases and not _has_words(best.evidence.text[:SHOWN_CHARS], phrases):
        return None
    is_reported = not phrases and _TELLING_QUESTION.match(question) is not None
    least = MIN_REPORTED_SHARE if is_reported else MIN_SPOKEN_SHARE
    return build_quote_item(best) if share >= least else None


def _has_words(text: str, phrases: Sequence[str]) -> bool:
    """Return whether `text` has all words of one of `phrases`, which a tag may part."""
    words = {normalize_word(word) for word in WORD_PATTERN.findall(text)}
    return any(
        words.issuperset(map(normalize_word, WORD_PATTERN.findall(phrase)))
        for phrase in phrases
    )


def describe_uncertain_speaker(line: ContextItem) -> str:
    """Return a sentence that says that the speaker of `line` is only probable; "" if it
    is certain.
    """
    is_certain = all(map(is_sure, line.evidence))
    return "" if is_certain else f"{NO_CLEAR_ANSWER}. Its speaker is only probable."


_GREETING = re.compile(
    r"\b(?:hello|hi|hey|greetings|good\s+(?:morning|day|afternoon|evening|night)"
    r"|how\s+(?:are|do)\s+you(?:\s+(?:do|today|feeling|keeping))?|how\s+is\s+it\s+going"
    r"|nice\s+to\s+meet\s+you|pleased\s+to\s+meet\s+you|welcome|good-?bye|farewell"
    r"|thanks?(?:\s+you)?)\b",
    re.IGNORECASE,
)
"""Phrases that greet or thank somebody without asking for anything."""

MAX_UNCERTAIN_LINES = 2
"""Lines of an uncertain speaker shown at most."""

MIN_OWN_SHARE = 0.25
"""Share of the weight of the question's words that a character's line must itself have to
be about what is asked."""

_YOURS = re.compile(r"\byour\s+(?:own\s+)?([a-z]+)\b")
"""Something of the character who answers."""

_OWN = r"(?i:\b(?:my|our)\s+(?:\w+\s+){{0,2}}?{noun})"
_OWN_KIN = rf"{_OWN},?\s+(?:is\s+)?(?:[A-Z]|named|called)|\b[A-Z]\w+[^.!?]{{{{0,20}}}}\b(?:is|was)\s+{_OWN}"
_WHO_IS = re.compile(r"^\W*who\b", re.IGNORECASE)
_SELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e)\b")

_OPINION_QUESTION = re.compile(
    r"\b(?:think|feel|opinion|like|love|loves?|hate|trust|admire|view)\b", re.IGNORECASE
)
"""Asks what somebody thinks of somebody."""

_OPINION = (
    r"\b(?:I|we)\s+(?:\w+\s+){{0,3}}?(?:think|thought|believe|like|love|hate|dislike|detest|admire|"
    r"esteem|respect|trust|despise|pity|fear|wish|hope|like[sd]|loved|hated)\b"
    r"|(?:{names})[^.!?;]{{0,60}}?\s(?:is|was|are|were|seems?|looks?|must\s+be|has\s+been|to\s+be)\b"
)
"""How a line judges somebody with one of `names`."""


class CharacterAnswerer:
    """Answers `question` with dialogue lines of the character who is talked to. If it
    names somebody else, only lines that name them count.

    `answer_writer` formats the lines.
    """

    def __init__(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        answer_writer: AnswerWriter,
    ) -> None:
        self._question = question
        self._name = question.character
        self._others = _list_others(question)
        referents = _compile_names(self._others) if self._others else None
        own_lines = [
            build_quote_item(o)
            for o in result.lines
            if o.speaker == self._name
            and (referents is None or referents.search(o.evidence.text))
        ]
        self._lines = [line for line in own_lines if _is_usable_line(line)]
        self._sure = [line for line in self._lines if all(map(is_sure, line.evidence))]
        self._selector = ItemSelector(self._lines, plan, result)
        self._writer = answer_writer

    @property
    def not_found_message(self) -> str:
        """The sentence to show if no line of the character answers the question."""
        bound = "" if self._question.horizon is None else " up to this point"
        return f"{NO_LINE} {self._name} is about this{bound}."

    @property
    def _uncertain_heading(self) -> str:
        return f"No line of dialogue can be attributed to {self._name} with certainty."

    def answer(self, parts: Sequence[QuestionPart]) -> AnswerPieces:
        """Yield the character's lines that answer the `parts` of the question.

        A greeting is answered with a greeting of theirs, or their first line. Lines
        that are only probably theirs are used if no certain line answers, below a
        heading that says so. If no line answers, nothing is yielded.
        """
        if self._is_greeting():
            yield from self._iter_greeting()
            return
        answers, uncertain = self._select_fitting_lines(parts, self._sure), []
        if not answers:
            uncertain = self._select_fitting_lines(parts, self._lines)[
                :MAX_UNCERTAIN_LINES
            ]
        yield from self._write_lines(answers, "")
        yield from self._write_lines(
            uncertain, f"{self._uncertain_heading} Probable lines:"
        )

    def _select_fitting_lines(
        self, parts: Sequence[QuestionPart], lines: Sequence[ContextItem]
    ) -> list[ContextItem]:
        fitting_lines = (
            line
            for part in parts
            for line in self._selector.lines(
                part, [line for line in lines if self._is_about(part, line)]
            )
        )
        return list(dict.fromkeys(fitting_lines))

    def _is_about(self, part: QuestionPart, line: ContextItem) -> bool:
        """Return whether a line itself has what `part` asks for: enough of its words, a
        value of the kind, an opinion of somebody.
        """
        question, shown = self._question.text, self._writer.get_shown_words(line)
        for noun in _YOURS.findall(question):
            who = _OWN_KIN if _WHO_IS.match(question) else _OWN
            if not re.search(who.format(noun=noun), shown):
                return False
        if needs_value(question):
            is_on = part.naming.coverage(shown) > 0 or not asks_where(question)
            return (
                is_on and has_value_form(question, shown) and bool(_SELF.search(shown))
            )
        if part.words.weights and part.words.coverage(shown) < MIN_OWN_SHARE:
            return False
        if self._others and _OPINION_QUESTION.search(question):
            names = "|".join(map(re.escape, self._others))
            return re.search(_OPINION.format(names=names), shown) is not None
        return True

    def _write_lines(self, lines: Sequence[ContextItem], heading: str) -> AnswerPieces:
        if lines and heading:
            yield self._writer.say(heading)
        for line in lines:
            yield from self._writer.quote_line(line)

    def _is_greeting(self) -> bool:
        rest = _GREETING.sub(" ", self._question.text)
        names = set(normalize_words(self._name))
        words = set(normalize_words(rest))
        greeted = rest != self._question.text
        return greeted and words <= names | STOP_WORDS

    def _iter_greeting(self) -> AnswerPieces:
        """Yield a greeting of theirs, or their first certain line."""
        greetings = [
            line for line in self._sure if _GREETING.match(_strip_quotation_marks(line))
        ]
        none = f"{self._name} greets nobody in the text. Their first line:"
        first = [*greetings, *self._sure][:1]
        yield from self._write_lines(first, "" if greetings else none)


def _list_others(question: TurnQuestion) -> list[str]:
    """Return all names of everybody whom `question` names beside the character who
    answers.
    """
    return [
        form
        for forms in question.cast
        if question.character not in forms
        and any(_compile_names([form]).search(question.text) for form in forms)
        for form in forms
    ]


def _compile_names(names: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")


def _strip_quotation_marks(line: ContextItem) -> str:
    return line.words.strip(" “”\"'‘’")


def _is_usable_line(line: ContextItem) -> bool:
    """Return whether a line is long enough to answer and its speaker was analysed."""
    is_evaluated = all(
        e.certainty is not Certainty.NOT_EVALUATED for e in line.evidence
    )
    return is_evaluated and len(line.words.split()) >= MIN_QUOTE_WORDS
