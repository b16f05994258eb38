"""Questions written by a language model, each checked against the text that
answers it.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.language_model import (
    FENCE_RULE,
    MalformedReply,
    build_strict_schema,
    extract_json_object,
    flatten_reply_text,
    generate_fence_mark,
    wrap_in_fence,
)
from lrwr.core.model.text import Span, extract_content_words, stem_lightly
from lrwr.core.ports.models import ChatMessage, ChatModel, ReplyShape
from lrwr.pipeline.evaluation.question_generation.generator import (
    MODEL_SHARES,
    TEMPLATE_SHARES,
    DraftSelector,
    GeneratedQuestions,
    choose_kind_questions,
    collect_draft_families,
    divide_by_shares,
    find_first_chapters,
)
from lrwr.pipeline.evaluation.question_generation.source_material import (
    QuestionDraft,
    SourceMaterial,
)
from lrwr.pipeline.evaluation.question_generation.templates import (
    bound_drafts_by_chapter,
)
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    QuestionKind,
    find_quote_places,
)

AnswerProbe: TypeAlias = Callable[[str], Awaitable[bool]]
"""Returns whether search finds good evidence for a question."""

_PROMPT = """\
You write test questions on a novel for its author, who asks about it from memory. Write \
{number} questions from the numbered passages.
{way}
Ask in your own words, in one sentence, as somebody asks who does not have the passage \
before them: name the people and things that are meant, never say "the passage", and do \
not repeat the passage's wording.
answer: what a right answer says, in at most 30 words.
quotes: the words that answer, each with the number of its passage, 5 to 40 words, copied \
letter by letter from it.{quotes}
"""

_KIND_INSTRUCTIONS: Mapping[QuestionKind, str] = MappingProxyType(
    {
        QuestionKind.FACT: "Each asks for one fact that a single sentence or two tells.",
        QuestionKind.SEVERAL: "Each can be answered only from two or three passages together,"
        " and needs all of them.",
        QuestionKind.RELATIONSHIP: "Each asks how two people stand to each other: kinship,"
        " service, debt, trust, dislike, what one calls or thinks of the other.",
        QuestionKind.TIMELINE: "Each asks when something happens, how long it takes, or which of"
        " two things comes first.",
        QuestionKind.UNANSWERABLE: "Each asks for something that a reader may well want to know"
        " of the people and things in the passages, which they suggest, and which"
        " neither they nor, most likely, the rest of the book tell.",
    }
)
_NO_QUOTES = " Here there are none: leave quotes empty, and answer too."

LONGEST = 240
"""Characters of the longest question."""


PER_CALL = 4
PASSAGES = 4
"""Questions requested in one call, and passages shown for them."""

ROUNDS = 3
"""Rounds of calls for one kind of question."""

_LONG = 1800
"""Minimum length of a passage in characters; it ends with a sentence."""
_REPEATED = 0.8
"""Share of a quote's words in a question from which it counts as a copy."""
_FEWEST = 4
"""Content words of a quote below which copying is not checked."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question in a model's reply, before it is checked.

    `quotes` are pairs: the index of a passage in the prompt, from 0, and a quote of it.
    """

    question: str
    answer: str
    quotes: tuple[tuple[int, str], ...]


@dataclass(slots=True)
class _Tally:
    """Counts of rejected questions by reason, and why the model failed."""

    rejected: Counter[str] = field(default_factory=Counter)
    failure: str = ""

    def describe(
        self, kind: QuestionKind, question_count: int, limit: int
    ) -> list[str]:
        """Return sentences on how many questions were rejected, and why."""
        sentences = [
            f"{count} of the model's questions of kind {kind.value} {reason}."
            for reason, count in sorted(self.rejected.items())
        ]
        if self.failure:
            sentences.append(f"The model failed: {self.failure}.")
        if question_count < limit:
            rest = "; templates supply the rest" if kind in TEMPLATE_SHARES else ""
            sentences.append(
                f"The model gave {question_count} of {limit} questions of kind"
                f" {kind.value}{rest}."
            )
        return sentences


async def generate_questions_with_model(
    chat: ChatModel,
    material: SourceMaterial,
    number: int,
    seed: int = 0,
    *,
    advance: Callable[[int], None],
    answered: AnswerProbe | None = None,
) -> GeneratedQuestions:
    """Have a language model write `number` questions; the shares of kinds are
    `MODEL_SHARES`.

    Each quote must occur verbatim in the passage that the model was shown, and once in
    its file. Questions that repeat a quote almost whole are dropped, and so are
    unanswerable ones for which `answered` finds an answer. Without `answered`,
    unanswerable questions come from templates, as do those that the model does not
    deliver. Remarks count what was dropped. `advance` is called with the number of
    questions done since the last call. `seed` determines the passages.
    """
    selector = DraftSelector(material, seed)
    generator = _ModelQuestionGenerator(
        chat,
        material,
        Random(f"{seed}"),
        selector,
        answered,
        find_first_chapters(material),
    )
    families = collect_draft_families(material, seed)
    questions: list[EvalQuestion] = []
    remarks: list[str] = []
    for kind, share in divide_by_shares(number, MODEL_SHARES).items():
        model_questions, model_remarks = await generator.ask(kind, share)
        questions += model_questions
        remarks += model_remarks
        missing = share - len(model_questions)
        if missing and kind in families:
            chosen = choose_kind_questions(selector, kind, families[kind], missing)
            questions += chosen.questions
            remarks += chosen.remarks
        advance(share)
    return GeneratedQuestions(tuple(questions), tuple(remarks))


@dataclass(frozen=True, slots=True)
class _ModelQuestionGenerator:
    """Asks a model for questions and checks them."""

    chat: ChatModel
    material: SourceMaterial
    rng: Random
    selector: DraftSelector
    answered: AnswerProbe | None
    first_chapters: Mapping[str, int]

    async def ask(
        self, kind: QuestionKind, limit: int
    ) -> tuple[list[EvalQuestion], list[str]]:
        """Return at most `limit` checked questions of a kind, and remarks."""
        if kind is QuestionKind.UNANSWERABLE and self.answered is None and limit:
            return [], [
                "Search cannot check which questions the text answers, so unanswerable"
                " ones come from templates."
            ]
        tally = _Tally()
        questions: list[EvalQuestion] = []
        asked_kind = QuestionKind.FACT if kind is QuestionKind.AS_OF else kind
        for _ in range(ROUNDS):
            missing = limit - len(questions)
            if missing <= 0 or tally.failure:
                break
            calls = -(-missing // PER_CALL)
            place_groups = [self._choose_passages(asked_kind) for _ in range(calls)]
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._ask_once(asked_kind, p, tally))
                    for p in place_groups
                ]
            for task in tasks:
                for draft in task.result():
                    questions += await self._accept(
                        draft, kind, questions, limit, tally
                    )
        return questions, tally.describe(kind, len(questions), limit)

    async def _ask_once(
        self, kind: QuestionKind, places: Sequence[AnswerPlace], tally: _Tally
    ) -> list[QuestionDraft]:
        """Return the model's questions on some passages, with the places of their quotes."""
        texts = [self._text(place) for place in places]
        asking = build_question_messages(kind, texts, PER_CALL)
        try:
            reply = await self.chat.fill(asking, build_question_shape(kind))
            question_reply = parse_question_reply(reply.text)
        except ServiceUnavailable as problem:
            tally.failure = str(problem).rstrip(".")
            return []
        except MalformedReply:
            tally.rejected["were in an unreadable reply"] += PER_CALL
            return []
        drafts = (
            self._draft(model_question, kind, places, tally)
            for model_question in question_reply
        )
        return [draft for draft in drafts if draft is not None]

    def _draft(
        self,
        model_question: ModelQuestion,
        kind: QuestionKind,
        places: Sequence[AnswerPlace],
        tally: _Tally,
    ) -> QuestionDraft | None:
        gold_places = [
            self._locate_quote(place, quote, places)
            for place, quote in model_question.quotes
        ]
        golds = tuple(place for place in gold_places if place is not None)
        reason = _find_fault(model_question, kind, len(golds))
        if reason:
            tally.rejected[reason] += 1
            return None
        name = next(
            (
                p.name
                for p in self.material.people()
                if p.name in model_question.question
            ),
            "",
        )
        return QuestionDraft(
            kind,
            model_question.question,
            golds,
            f"the model {self.chat.name}",
            answer=model_question.answer,
            every=kind is QuestionKind.SEVERAL or len(golds) > 1,
            about=(name, model_question.question.casefold()),
        )

    def _locate_quote(
        self, number: int, quote: str, places: Sequence[AnswerPlace]
    ) -> AnswerPlace | None:
        """Return the place of a quote in the passage that the model names; None if absent."""
        if not 0 <= number < len(places):
            return None
        passage = places[number]
        text = self.material.texts[passage.document]
        standing = find_quote_places(quote, passage.document, text)
        inside = [place for place in standing if passage.span.holds(place.span)]
        return inside[0] if len(standing) == 1 == len(inside) else None

    async def _accept(
        self,
        draft: QuestionDraft,
        kind: QuestionKind,
        questions: Sequence[EvalQuestion],
        limit: int,
        tally: _Tally,
    ) -> list[EvalQuestion]:
        """Return the draft as a question in a list; empty if it is rejected."""
        if len(questions) >= limit:
            return []
        if kind is QuestionKind.AS_OF:
            after_telling, before_telling = bound_drafts_by_chapter(
                [draft], self.material, self.first_chapters
            )
            unanswered_count = sum(
                not eval_question.gold for eval_question in questions
            )
            candidates = (
                before_telling
                if before_telling and unanswered_count * 2 <= len(questions)
                else after_telling
            )
            if not candidates:
                tally.rejected["are about text before the first chapter"] += 1
                return []
            draft = candidates[0]
        search = self.answered if kind is QuestionKind.UNANSWERABLE else None
        if search is not None and await search(draft.text):
            tally.rejected["have an answer after all"] += 1
            return []
        question = self.selector.accept(draft)
        if question is None:
            tally.rejected["use the same text as others, or too little"] += 1
        return [question] if question else []

    def _choose_passages(self, kind: QuestionKind) -> list[AnswerPlace]:
        """Choose passages to ask about, from different chapters.

        For questions on several passages or on relationships, all name one person.
        """
        windows = list(_iter_windows(self.material))
        people = [
            character_profile
            for character_profile in self.material.people()
            if character_profile.mentions > PASSAGES
        ]
        if people and kind in (QuestionKind.SEVERAL, QuestionKind.RELATIONSHIP):
            name = self.rng.choice(people[:12])
            forms = self.material.forms(name)
            with_name = [w for w in windows if any(f in self._text(w) for f in forms)]
            windows = with_name if len(with_name) >= PASSAGES else windows
        self.rng.shuffle(windows)
        chosen: dict[int, AnswerPlace] = {}
        for window in windows:
            chosen.setdefault(self.material.chapter_of(window), window)
        spread = list(chosen.values())
        others = [window for window in windows if window not in spread]
        return [*spread, *others][:PASSAGES]

    def _text(self, place: AnswerPlace) -> str:
        return self.material.texts[place.document][place.span.start : place.span.end]


def _iter_windows(material: SourceMaterial) -> Iterator[AnswerPlace]:
    """Yield the story as passages of whole sentences within one document."""
    for document, spans in material.sentences.items():
        start = end = None
        for span in spans:
            start = span.start if start is None else start
            end = span.end
            if end - start >= _LONG:
                yield AnswerPlace(document, Span(start, end))
                start = None
        if start is not None and end is not None:
            yield AnswerPlace(document, Span(start, end))


def _find_fault(model_question: ModelQuestion, kind: QuestionKind, golds: int) -> str:
    """Return why a question is rejected, as a clause; empty if it is accepted."""
    if (
        not model_question.question.endswith("?")
        or len(model_question.question) > LONGEST
    ):
        return "were not questions, or too long"
    if kind is QuestionKind.UNANSWERABLE:
        return "had an answer and should have none" if model_question.quotes else ""
    if golds < len(model_question.quotes) or not golds:
        return "had quotes that do not occur in the passage, or occur twice"
    if kind is QuestionKind.SEVERAL and golds < 2:
        return "used only one passage"
    if any(
        _repeats(model_question.question, quote) for _, quote in model_question.quotes
    ):
        return "repeated most of a quote"
    return ""


def _repeats(question: str, quote: str) -> bool:
    quote_stems = {stem_lightly(word) for word in extract_content_words(quote)}
    question_stems = {stem_lightly(word) for word in extract_content_words(question)}
    return len(quote_stems) >= _FEWEST and len(
        quote_stems & question_stems
    ) >= _REPEATED * len(quote_stems)


def build_question_messages(
    kind: QuestionKind, passages: Sequence[str], number: int
) -> list[ChatMessage]:
    """Return the prompt for `number` questions of one kind about passages.

    Passages are numbered from 1 and fenced as untrusted text.
    """
    quotes = _NO_QUOTES if kind is QuestionKind.UNANSWERABLE else ""
    instructions = _PROMPT.format(
        number=number, way=_KIND_INSTRUCTIONS[kind], quotes=quotes
    )
    mark = generate_fence_mark(*passages)
    shown = "\n".join(
        wrap_in_fence(f"passage {place}", text, mark)
        for place, text in enumerate(passages, start=1)
    )
    return [
        ChatMessage("system", f"{instructions}{FENCE_RULE}"),
        ChatMessage("user", shown),
    ]


@cache
def build_question_shape(kind: QuestionKind) -> ReplyShape:
    """Return the JSON schema of a model's reply with questions of one kind.

    Its `questions` are objects with `question`, `answer` and `quotes`; a quote has the
    number of a `passage` and the `quote`. Only the name of the schema depends on
    `kind`.
    """
    quote = {"passage": {"type": "integer"}, "quote": {"type": "string"}}
    row = {
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "quotes": {"type": "array", "items": build_strict_schema(quote)},
    }
    fields = {"questions": {"type": "array", "items": build_strict_schema(row)}}
    name = f"Questions_{kind.value.replace('-', '_')}"
    return ReplyShape(
        name, json.dumps(build_strict_schema(fields), separators=(",", ":"))
    )


def parse_question_reply(reply: str) -> list[ModelQuestion]:
    """Return the questions in a model's reply, in the order of the reply.

    Raises:
        MalformedReply: The reply does not match the schema.
    """
    match extract_json_object(reply):
        case {"questions": [*rows], **more} if not more:
            return [_row(row) for row in rows]
    raise MalformedReply("it is not an object of `questions`")


def _row(raw_question: object) -> ModelQuestion:
    match raw_question:
        case {
            "question": str(question),
            "answer": str(answer),
            "quotes": [*quotes],
            **more,
        } if not more:
            return ModelQuestion(
                flatten_reply_text(question),
                flatten_reply_text(answer),
                tuple(map(_quote, quotes)),
            )
    raise MalformedReply("a question is not `question`, `answer` and `quotes`")


def _quote(raw_quote: object) -> tuple[int, str]:
    match raw_quote:
        case {"passage": int(passage), "quote": str(quote), **more} if not more:
            return passage - 1, quote
    raise MalformedReply("a quote is not `passage` and `quote`")
