"""The avatars, which write the answer of a turn: from quotations, or with a language
model.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol

from lrwr.core.attribution.answer_sentences import states_silence
from lrwr.core.attribution.citations import ANY_MARK
from lrwr.core.attribution.claims import check_citations
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.chat.context.fact_selection import MaterialFocus
from lrwr.core.chat.context.items import load_result_texts
from lrwr.core.chat.context.lookups import (
    MAX_REQUEST_CHARS,
    LookupRequest,
    parse_lookup_request,
    split_possible_request,
)
from lrwr.core.chat.context.material import (
    MATERIAL_TOKEN_BUDGET,
    NumberedMaterial,
    number_material,
)
from lrwr.core.chat.extractive.answerer import (
    find_question_gap,
    stream_extractive_answer,
)
from lrwr.core.chat.extractive.writer import quote_web_pages
from lrwr.core.chat.generation.prompts import (
    build_avatar_messages,
    collect_story_name_words,
    list_fenced_texts,
    select_prompt_pages,
    stream_model_answer,
)
from lrwr.core.chat.nodes import Avatar, AvatarAnswer, TurnEventEmitter
from lrwr.core.chat.state import (
    RetrievalResult,
    TurnQuestion,
    find_answering_character,
    select_web_pages,
)
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import generate_fence_mark
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSpeaker,
    AnswerToken,
    Citation,
    GapFlag,
    GapFound,
    PassageCited,
    QuestionPlan,
    WebCitation,
    WebPageCited,
)
from lrwr.core.ports.models import ChatMessage, ChatModel
from lrwr.core.ports.stores import DocumentText
from lrwr.core.retrieval.excerpts import (
    PassageSource,
    weigh_question_words,
)
from lrwr.core.retrieval.search_model import SearchResult


@dataclass(frozen=True, slots=True)
class ExtractiveAvatar:
    """Answers with facts and quotations, without a language model; `model` is empty."""

    source: PassageSource
    model: str = ""

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
        lookups: int = 0,  # noqa: ARG002 - quotations need no look-ups
    ) -> AvatarAnswer:
        """Answer with facts and quotations of `result`, and emit each line when it is
        ready.

        Quotations of web pages follow those of the manuscript.

        Raises:
            StoreProblem: The library cannot be read.
        """
        pieces: list[str] = []
        citations: list[Citation] = []
        gaps: list[GapFlag] = []
        answer_event_stream = stream_extractive_answer(
            question, plan, result, self.source
        )
        async with aclosing(answer_event_stream) as events:
            async for event in events:
                emit(event)
                match event:
                    case AnswerToken(text=text):
                        pieces.append(text)
                    case PassageCited(citation=citation):
                        citations.append(citation)
                    case GapFound(gap=gap):
                        gaps.append(gap)
        pieces += await self._quote_web_pages(question, result, emit)
        return AvatarAnswer(
            text="".join(pieces),
            citations=tuple(citations),
            gaps=tuple(gaps),
        )

    async def _quote_web_pages(
        self, question: TurnQuestion, result: RetrievalResult, emit: TurnEventEmitter
    ) -> list[str]:
        """Emit quotations of web pages, to follow those of the text; return their
        lines.
        """
        pages = select_web_pages(question, result)
        if not pages:
            return []
        words = await weigh_question_words(
            extract_content_words(result.web_query), self.source
        )
        answer_parts: list[str] = []
        for event in quote_web_pages(pages, words, self.source.sentences):
            emit(event)
            if isinstance(event, AnswerToken):
                answer_parts.append(event.text)
        return answer_parts


@dataclass(frozen=True, slots=True)
class AvatarPrompt:
    """The messages for a language model, the numbered facts, passages and web pages that
    they contain, and the texts of the documents that these are from.
    """

    messages: tuple[ChatMessage, ...]
    material: NumberedMaterial
    web: tuple[WebCitation, ...] = ()
    texts: Mapping[DocumentId, DocumentText] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelAvatar:
    """Answers with the language model `chat`.

    If it fails before the first word, `instead` answers with quotations. `source` has
    the texts to cite. `context_tokens` are the tokens of material in a prompt.
    """

    chat: ChatModel
    source: PassageSource
    context_tokens: int = MATERIAL_TOKEN_BUDGET
    instead: ExtractiveAvatar = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "instead", ExtractiveAvatar(self.source))

    @property
    def model(self) -> str:
        """The name of the language model as its server knows it."""
        return self.chat.name

    async def prompt(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        lookups: int = 0,
    ) -> AvatarPrompt:
        """Return what `answer` would send for the question, without sending it.

        Raises:
            StoreProblem: The library cannot be read.
        """
        texts = await load_result_texts(result, self.source.store)
        words = await weigh_question_words(
            extract_content_words(plan.question or question.text), self.source
        )
        material = number_material(
            result,
            texts,
            self.source.sentences,
            words=words,
            focus=MaterialFocus.of(question, plan, result),
            budget=self.context_tokens,
        )
        web = select_prompt_pages(question, result)
        mark = generate_fence_mark(*list_fenced_texts(question, result, material, web))
        messages = build_avatar_messages(
            question, plan, result, material, mark, lookups=lookups
        )
        return AvatarPrompt(tuple(messages), material, web, texts)

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
        lookups: int = 0,
    ) -> AvatarAnswer:
        """Emit the model's answer as it arrives, then check it and return it.

        If the model asks for look-ups instead, of which it may have `lookups`, nothing
        is emitted and the answer is empty but for the request. Invalid citations are
        removed, and sentences that their sources do not support are reported. If the
        model fails before its first word, the answer consists of quotations; if later,
        it is incomplete. Both add a remark.

        Raises:
            StoreProblem: The library cannot be read.
        """
        prompt = await self.prompt(question, plan, result, lookups)
        pieces: list[str] = []
        remarks: tuple[str, ...] = ()
        try:
            request = await self._stream_answer(prompt, pieces, emit)
            if request is not None and lookups:
                return _build_request_answer(request, prompt, self.model)
            if request is not None or not "".join(pieces).strip():
                why = (
                    "asked for more to read" if request else "returned an empty answer"
                )
                raise ServiceUnavailable(f"{self.model} {why}")
        except ServiceUnavailable as error:
            if not "".join(pieces).strip():
                return await self._answer_with_quotations(
                    error, question, plan, result, emit
                )
            remarks = (f"The answer is incomplete. {error.full_text}",)
        answer = self._check_answer("".join(pieces), prompt, question, plan, result)
        return replace(
            answer, remarks=(*answer.remarks, *remarks), is_cut=bool(remarks)
        )

    async def _stream_answer(
        self, prompt: AvatarPrompt, pieces: list[str], emit: TurnEventEmitter
    ) -> LookupRequest | None:
        """Append the model's tokens to `pieces` and emit them, preceded by the sources.

        A line that may become a request for look-ups is emitted when it has become
        something else. Lines that do are returned as a request if no answer with a
        citation stands before them, else left out.
        """
        buffered = ""
        async with aclosing(stream_model_answer(self.chat, prompt.messages)) as tokens:
            async for token in tokens:
                buffered += token.text
                if len(buffered) > MAX_REQUEST_CHARS:
                    break
                begins_line = not pieces or pieces[-1].endswith("\n")
                ready, buffered = split_possible_request(
                    buffered, begins_line=begins_line
                )
                if ready:
                    _emit_piece(ready, prompt, pieces, emit)
        request = parse_lookup_request(buffered) if buffered else None
        if buffered.strip() and request is None:
            _emit_piece(buffered, prompt, pieces, emit)
        return None if ANY_MARK.search("".join(pieces)) else request

    async def _answer_with_quotations(
        self,
        error: ServiceUnavailable,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
    ) -> AvatarAnswer:
        answer = await self.instead.answer(question, plan, result, emit)
        why = f"Answered with quotations, without a language model. {error.full_text}"
        return AvatarAnswer(
            text=answer.text,
            citations=answer.citations,
            gaps=answer.gaps,
            remarks=(why, *answer.remarks),
        )

    def _check_answer(
        self,
        answer_text: str,
        prompt: AvatarPrompt,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
    ) -> AvatarAnswer:
        material = prompt.material
        speaks = bool(find_answering_character(question, plan))
        mode = AnswerMode.IN_CHARACTER if speaks else AnswerMode.ANALYTICAL
        checked = check_citations(
            answer_text,
            material.citations,
            self.source.sentences,
            mode=mode,
            question=question.text,
            notes=material.notes,
            decided=material.decided,
            web=prompt.web,
            story=StoryContext(
                question.cast,
                collect_story_name_words(plan, result),
                prompt.texts,
                frozenset({question.horizon.chapter} if question.horizon else ()),
                question.narrators,
            ),
        )
        is_silent = mode is AnswerMode.ANALYTICAL and states_silence(
            checked.text, self.source.sentences
        )
        is_empty = not material.entries and not material.passages
        asks_for_gap = plan.intent is AnswerIntent.GAP_PROBE and not checked.citations
        answer = AvatarAnswer(
            checked.text,
            checked.citations,
            findings=checked.findings,
            remarks=checked.remarks,
            model=self.model,
            is_silent=is_silent,
        )
        gap = find_question_gap(question, result, plan)
        if gap is not None and (is_empty or asks_for_gap or is_silent):
            return replace(answer, gaps=(gap,))
        return answer


def _build_request_answer(
    request: LookupRequest, prompt: AvatarPrompt, model: str
) -> AvatarAnswer:
    """Return an empty answer with the request and the citations that it keeps."""
    kept_citations = tuple(
        citation
        for citation in prompt.material.citations
        if citation.number in request.keep
    )
    return AvatarAnswer("", kept_citations, model=model, request=request)


def _emit_piece(
    text: str, prompt: AvatarPrompt, pieces: list[str], emit: TurnEventEmitter
) -> None:
    if not pieces:
        _emit_sources(prompt, emit)
    emit(AnswerToken(text, AnswerSpeaker.AVATAR))
    pieces.append(text)


def _emit_sources(prompt: AvatarPrompt, emit: TurnEventEmitter) -> None:
    """Emit everything that the numbers in the coming answer may refer to."""
    for citation in prompt.material.citations:
        emit(PassageCited(citation))
    for page in prompt.web:
        emit(WebPageCited(page))


@dataclass(frozen=True, slots=True)
class AvatarWithRemark:
    """Wraps an avatar and adds `remark`, a sentence, to each answer."""

    avatar: Avatar
    remark: str

    @property
    def model(self) -> str:
        """The name of the wrapped avatar's language model; empty without one."""
        return self.avatar.model

    async def answer(
        self,
        question: TurnQuestion,
        plan: QuestionPlan,
        result: RetrievalResult,
        emit: TurnEventEmitter,
        lookups: int = 0,
    ) -> AvatarAnswer:
        """Return the answer of the wrapped avatar, with the remark first."""
        answer = await self.avatar.answer(question, plan, result, emit, lookups)
        return replace(answer, remarks=(self.remark, *answer.remarks))


class TurnCompanion(Protocol):
    """Answers questions with a language model and tools of its own; see `app.companion`."""

    def preview(
        self, question: TurnQuestion, avatar: ModelAvatar
    ) -> Sequence[ChatMessage]:
        """Return the first prompt that `answer` would send."""
        ...

    async def answer(
        self, avatar: ModelAvatar, question: TurnQuestion, emit: TurnEventEmitter
    ) -> AvatarAnswer:
        """Answer with the model of `avatar`, and emit what happens."""
        ...

    def add_selection(self, result: SearchResult) -> SearchResult:
        """Return what a search found, with the selected passage first."""
        ...
