"""An answer without a language model, taken in as whoever asks would see it."""

import re
from dataclasses import dataclass

from lrwr.core.chat.extractive.answerer import stream_extractive_answer
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.turns import (
    AnswerSpeaker,
    AnswerToken,
    Citation,
    GapFlag,
    GapFound,
    PassageCited,
    QuestionPlan,
)
from lrwr.core.ports.models import Reranker
from tests.fakes.chatting import a_shelf
from tests.fakes.stories import Stories


@dataclass(frozen=True, slots=True)
class Said:
    """What was said, line by line, and what it rests on."""

    lines: list[str]
    citations: tuple[Citation, ...]
    gaps: tuple[GapFlag, ...]

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.lines)


async def answer(
    story: Stories,
    question: TurnQuestion | str,
    plan: QuestionPlan,
    result: RetrievalResult,
    *,
    reranker: Reranker | None = None,
) -> Said:
    """Answer from `result`, and see to it that words are cited before they are said."""
    if isinstance(question, str):
        question = TurnQuestion(question)
    shelf = a_shelf(story.book, reranker)
    lines, cited, gaps = list[str](), list[Citation](), list[GapFlag]()
    async for event in stream_extractive_answer(question, plan, result, shelf):
        match event:
            case AnswerToken(text, speaker):
                assert speaker is AnswerSpeaker.AVATAR
                marks = {int(n) for n in re.findall(r"\[(\d+)\]", text)}
                assert marks <= {one.number for one in cited}, "cited before it is said"
                lines.append(text)
            case PassageCited(citation):
                cited.append(citation)
            case GapFound(gap):
                gaps.append(gap)
    return Said(lines, tuple(cited), tuple(gaps))
