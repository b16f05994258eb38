"""Who answers: the text itself, or a language model that was given the text."""

from contextlib import aclosing
from dataclasses import dataclass, field

from lrwr.core.chat.checking import checked
from lrwr.core.chat.citing import Numbered, numbered, texts_of
from lrwr.core.chat.fence import new_mark
from lrwr.core.chat.nodes import Answer, Emit
from lrwr.core.chat.picking import Shelf, weigh
from lrwr.core.chat.prompts import avatar_messages, texts_in
from lrwr.core.chat.quoting import gap_asked, quote_answer
from lrwr.core.chat.speaking import speak, speaks_as
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.turns import (
    Citation,
    Cited,
    GapFlag,
    GapFound,
    Intent,
    Mode,
    Plan,
    Token,
)
from lrwr.core.model.words import content_words
from lrwr.core.ports.chat_model import ChatModel, Message


@dataclass(frozen=True, slots=True)
class QuotingAvatar:
    """Answers in the words of the text, and makes no claim of its own."""

    shelf: Shelf
    model: str = ""

    async def answer(
        self, question: Question, plan: Plan, result: RetrievalResult, emit: Emit
    ) -> Answer:
        """Quote, and emit a quote or a fact at a time."""
        pieces: list[str] = []
        citations: list[Citation] = []
        gaps: list[GapFlag] = []
        remarks: list[str] = []
        told = quote_answer(question, plan, result, self.shelf, remarks.append)
        async with aclosing(told) as events:
            async for event in events:
                emit(event)
                match event:
                    case Token(text=text):
                        pieces.append(text)
                    case Cited(citation=citation):
                        citations.append(citation)
                    case GapFound(gap=gap):
                        gaps.append(gap)
        return Answer(
            text="".join(pieces),
            citations=tuple(citations),
            gaps=tuple(gaps),
            remarks=tuple(remarks),
        )


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model would be sent, and the material that is in it."""

    messages: tuple[Message, ...]
    material: Numbered


@dataclass(frozen=True, slots=True)
class ModelAvatar:
    """Answers with a language model; where it fails, `instead` answers."""

    chat: ChatModel
    shelf: Shelf
    instead: QuotingAvatar = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "instead", QuotingAvatar(self.shelf))

    @property
    def model(self) -> str:
        """Name the model, as its server does."""
        return self.chat.name

    async def prompt(
        self, question: Question, plan: Plan, result: RetrievalResult
    ) -> Prompt:
        """Return exactly what would be sent, but for the mark of its fences."""
        texts = await texts_of(result, self.shelf.store)
        words = await weigh(content_words(question.text), self.shelf)
        material = numbered(result, texts, self.shelf.sentences, words=words)
        mark = new_mark(*texts_in(question, material))
        messages = avatar_messages(question, plan, result, material, mark)
        return Prompt(tuple(messages), material)

    async def answer(
        self, question: Question, plan: Plan, result: RetrievalResult, emit: Emit
    ) -> Answer:
        """Answer as the model's words come; then hold them against what they cite."""
        prompt = await self.prompt(question, plan, result)
        material = prompt.material
        pieces: list[str] = []
        remarks: tuple[str, ...] = ()
        try:
            await self._speak(prompt, pieces, emit)
        except ServiceUnavailable as error:
            if not pieces:
                return await self._instead(error, question, plan, result, emit)
            remarks = (f"The answer broke off. {error}",)
        return self._held_against(
            "".join(pieces), material, question, plan, result, remarks
        )

    async def _speak(self, prompt: Prompt, pieces: list[str], emit: Emit) -> None:
        """Take in the model's words as they come, first what its numbers stand for."""
        async with aclosing(speak(self.chat, prompt.messages)) as tokens:
            async for token in tokens:
                if not pieces:
                    _show(prompt.material, emit)
                emit(token)
                pieces.append(token.text)

    async def _instead(
        self,
        error: ServiceUnavailable,
        question: Question,
        plan: Plan,
        result: RetrievalResult,
        emit: Emit,
    ) -> Answer:
        answer = await self.instead.answer(question, plan, result, emit)
        why = f"Answered without a language model, in the text's own words. {error}"
        return Answer(
            text=answer.text,
            citations=answer.citations,
            gaps=answer.gaps,
            remarks=(why, *answer.remarks),
        )

    def _held_against(
        self,
        said: str,
        material: Numbered,
        question: Question,
        plan: Plan,
        result: RetrievalResult,
        remarks: tuple[str, ...],
    ) -> Answer:
        mode = Mode.IN_CHARACTER if speaks_as(question, plan) else Mode.ANALYTICAL
        text, cited, unsupported = checked(
            said,
            material.citations,
            self.shelf.sentences,
            mode=mode,
            notes=material.notes,
            decided=material.decided,
        )
        empty = not material.entries and not material.passages
        asked = plan.intent is Intent.GAP_PROBE and not cited
        gaps = (gap_asked(question, result, plan),) if empty or asked else ()
        return Answer(text, cited, gaps, unsupported, remarks, model=self.model)


def _show(material: Numbered, emit: Emit) -> None:
    """Let others see what the numbers of an answer that has begun stand for."""
    for citation in material.citations:
        emit(Cited(citation))
