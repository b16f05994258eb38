"""Figures of answers: those computed without a language model, and those of judges."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.language_model import Usage, compute_total_price
from lrwr.core.model.text import WORD_PATTERN, normalize_words
from lrwr.core.model.turns import Citation
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.models import Answerer, AnswerJudge, GroundedAnswer
from lrwr.core.retrieval.anchors import is_same_wording
from lrwr.pipeline.evaluation.answers import (
    ContextReader,
    ReaderInput,
    strip_citation_numbers,
)
from lrwr.pipeline.evaluation.judgements import (
    REPEATS,
    build_judge_sample,
    judge_answer,
    panel_result_to_figures,
)
from lrwr.pipeline.evaluation.outcomes import (
    Arm,
    ContextPiece,
    RetrievedContext,
    cut_to_token_budget,
)
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    covers_answer_place,
)
from lrwr.pipeline.evaluation.runs import DOLLARS
from lrwr.pipeline.evaluation.search_measures import SpanMeasure

TextLookup = Callable[[DocumentId], str | None]
"""Returns a document's canonical text; None if there is no such document."""
QUOTED_WORDS = 4
"""Minimum words of a quotation: fewer may be a title, a name or irony."""
_QUOTED = re.compile(r"“([^“”]+)”|\"([^\"\n]+)\"")
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")
_ARTICLES = frozenset({"a", "an", "the"})


def compute_answer_figures(
    answered: GroundedAnswer,
    question: EvalQuestion,
    gold: Sequence[Sequence[AnswerPlace]],
    *,
    text_of: TextLookup,
    late: Callable[[ContextPiece], bool] | None,
) -> dict[str, float]:
    """Return the figures (measured values) of one answer by name, without those that do
    not apply.

    `gold` holds, for each gold quote (words of the text that answer the question), the
    places where it occurs. `text_of` returns the text of a document, None if it is
    gone. `late` returns whether a piece of text comes after the question's horizon;
    None if the question has no horizon. Shares are 0.0 to 1.0; figures that are 1.0 if
    something holds are otherwise 0.0.

    - `resolved`: share of citations whose words occur verbatim at their span.
    - `citation_precision`: share of citations that overlap a gold quote.
    - `citation_recall`: share of gold quotes that citations cover; if any one quote
      suffices, 1.0 as soon as one is covered.
    - `quotes`: share of quotations that occur in the text given to the answerer.
    - `gap`: 1.0 if the answer says that the text does not answer the question.
      `false_gap`: the same, for a question that the text does answer.
    - `invented`: 1.0 if the text does not answer the question, and the answer neither
      says so nor warns. `doubted`: 1.0 if the answer warns of low confidence.
    - `leak`: 1.0 if the answer cites or quotes text from after the horizon.
    - `word_overlap`: F1 of the words of the answer and of the known answer.
    - `tokens`, `seconds`, `dollars`: usage, duration and price of the answer.
    """
    cited = answered.citations
    figures = {
        "seconds": answered.seconds,
        "gap": float(answered.says_gap),
        "doubted": float(answered.doubts),
        **_usage_figures(answered),
    }
    optional_figures: dict[str, float | None] = {
        "resolved": resolved_citation_share(cited, text_of),
        "quotes": verbatim_quote_share(
            answered.text, [*answered.contexts, *(c.text for c in cited)]
        ),
        "leak": spoiler_leak(answered, question, late),
    }
    if question.answerable:
        figures["false_gap"] = float(answered.says_gap)
        optional_figures["citation_precision"] = citation_precision(cited, gold)
        optional_figures["citation_recall"] = citation_recall(
            cited, gold, every=question.every
        )
        optional_figures["word_overlap"] = word_overlap(answered.text, question.answer)
    else:
        figures["invented"] = float(not answered.says_gap and not answered.doubts)
    applicable_figures = {
        name: value for name, value in optional_figures.items() if value is not None
    }
    return figures | applicable_figures


def resolved_citation_share(
    citations: Sequence[Citation], text_of: TextLookup
) -> float | None:
    """Return the share of citations whose text occurs verbatim at their span, 0.0 to
    1.0.

    `text_of` returns the text of a document, None if it is gone. None without
    citations.
    """
    return _share(
        [_is_at_span(citation, text_of(citation.document)) for citation in citations]
    )


def citation_precision(
    citations: Sequence[Citation], gold: Sequence[Sequence[AnswerPlace]]
) -> float | None:
    """Return the share of citations, 0.0 to 1.0, that cover a gold quote; None without
    citations.

    `gold` holds, for each gold quote (words of the text that answer the question), the
    places where it occurs. A citation covers a quote if it shares at least half of the
    shorter of the two with one of these places.
    """
    places = [place for quote in gold for place in quote]
    return _share(
        [
            any(covers_answer_place(_to_piece(citation), place) for place in places)
            for citation in citations
        ]
    )


def citation_recall(
    citations: Sequence[Citation], gold: Sequence[Sequence[AnswerPlace]], *, every: bool
) -> float | None:
    """Return the share of gold quotes that citations cover, 0.0 to 1.0; None without
    gold quotes.

    `gold` holds, for each gold quote (words of the text that answer the question), the
    places where it occurs. With `every`, the answer needs all quotes. Otherwise the
    result is 1.0 if any one is covered, else 0.0. A quote is covered at a place if a
    citation shares at least half of the shorter of the two with it.
    """
    pieces = [_to_piece(citation) for citation in citations]
    covered = [
        any(covers_answer_place(piece, place) for piece in pieces for place in quote)
        for quote in gold
    ]
    return _share(covered) if every or not covered else float(any(covered))


def verbatim_quote_share(answer: str, texts: Sequence[str]) -> float | None:
    """Return the share of the quotations in `answer` that occur in `texts`, 0.0 to 1.0;
    None without quotations.

    A quotation is text in double quotation marks of at least `QUOTED_WORDS` (4) words.
    Punctuation, white space and the case of the first letter may differ; the pieces
    around an ellipsis may occur apart from each other.
    """
    return _share([_occurs_in(quote, texts) for quote in _quotations(answer)])


def spoiler_leak(
    answered: GroundedAnswer,
    question: EvalQuestion,
    late: Callable[[ContextPiece], bool] | None,
) -> float | None:
    """Return 1.0 if an answer cites or quotes text from after the horizon, else 0.0.

    `late` returns whether a piece of text comes after the horizon, None without a
    horizon. The result is None if the question has neither a horizon nor spoilers.
    """
    if late is None and not question.spoilers:
        return None
    cites = late is not None and any(
        late(_to_piece(citation)) for citation in answered.citations
    )
    answer_texts = [answered.text]
    return float(
        cites
        or any(_occurs_in(spoiler.quote, answer_texts) for spoiler in question.spoilers)
    )


def word_overlap(answer: str, reference: str) -> float | None:
    """Return the F1 of the words of an answer and a reference, 0.0 to 1.0.

    None for an empty reference. Repeated words count as often as they occur; case,
    articles and citation numbers are ignored. Meaning is not compared: "not in the
    mill" scores close to "in the mill".
    """
    reference_words = _words(reference)
    if not reference_words:
        return None
    answer_words = _words(strip_citation_numbers(answer))
    common = (reference_words & answer_words).total()
    return 2 * common / (reference_words.total() + answer_words.total())


def _usage_figures(answered: GroundedAnswer) -> dict[str, float]:
    usage = answered.usage
    took = {"tokens": float(usage.prompt_tokens + usage.completion_tokens)}
    return took if answered.price is None else {**took, "dollars": answered.price}


def _share(outcomes: Sequence[bool]) -> float | None:
    return sum(outcomes) / len(outcomes) if outcomes else None


def _is_at_span(citation: Citation, text: str | None) -> bool:
    span = citation.span
    return bool(text and citation.text) and (
        text is not None and text[span.start : span.end] == citation.text
    )


def _to_piece(citation: Citation) -> ContextPiece:
    return ContextPiece(citation.document, citation.span, citation.text, 0)


def _quotations(answer: str) -> Iterator[str]:
    for match in _QUOTED.finditer(strip_citation_numbers(answer)):
        quote = match[1] or match[2]
        if len(WORD_PATTERN.findall(quote)) >= QUOTED_WORDS:
            yield quote


def _occurs_in(quote: str, texts: Sequence[str]) -> bool:
    if any(_contains_quote(text, quote) for text in texts):
        return True
    parts = [part for part in _ELLIPSIS.split(quote) if WORD_PATTERN.search(part)]
    return len(parts) > 1 and all(
        any(_contains_quote(text, part) for text in texts) for part in parts
    )


def _contains_quote(text: str, quote: str) -> bool:
    spans = find_fuzzy_quote(quote, text)
    if len(spans) != 1:
        return False
    excerpt = text[spans[0].start : spans[0].end]
    return is_same_wording(_normalize(excerpt), _normalize(quote))


def _normalize(text: str) -> str:
    """Return a text in lower case without surrounding punctuation."""
    words = list(WORD_PATTERN.finditer(text))
    return text[words[0].start() : words[-1].end()].casefold() if words else ""


def _words(text: str) -> Counter[str]:
    words = normalize_words(text)
    return Counter(word for word in words if word not in _ARTICLES)


PREFIXED = frozenset({"seconds", "tokens", "leak"})
"""Figures that retrieval has too: those of answers are prefixed with `answer_`."""
_CALLS_PER_ANSWER = 4
"""Estimated model calls of an answer: two for the plan, the answer, and one for a
look-up or the gaps."""
_PLAN_TOKENS = 2_000
_RULES_TOKENS = 2_000
_GAPS_TOKENS = 2_500
"""Estimated tokens of the prompts of an answer besides its material: both for the plan,
the rules and lists of the answer's, and the one for gaps."""
_TOKENS_PER_CONTEXT = 320
"""Estimated tokens of a passage: about 25 passages fit into 8,000 tokens."""
_REPLY_TOKENS = 250
"""Estimated tokens of the reply of one call."""


@dataclass(frozen=True, slots=True)
class AnswerMethod:
    """How answers to evaluation questions are produced.

    `answer` produces one from a question, an arm (way of retrieving text) and the
    retrieved text. `recipe` describes everything that the answers depend on. `usage` is
    the estimated usage of one answer by `model`; `model` is empty if no language model
    is asked. `context_tokens` are the tokens of text that an answer gets.
    """

    recipe: str
    answer: Callable[[EvalQuestion, Arm, RetrievedContext], Awaitable[GroundedAnswer]]
    usage: Usage
    model: str
    context_tokens: int


@dataclass(frozen=True, slots=True)
class AnswerMeasure:
    """Measures the answers to questions, by `compute_answer_figures` and by judges.

    `answering` maps names of arms (ways of retrieving text) to the method that answers;
    answers of other arms are not measured. `price` returns the price of a usage of a
    model in US dollars, None if unknown. `repeats` is how often each answer is judged.
    """

    spans: SpanMeasure
    answering: Mapping[str, AnswerMethod]
    judges: Sequence[AnswerJudge]
    price: Callable[[Usage, str], float | None]
    repeats: int = REPEATS
    name: str = "answers"

    @property
    def recipe(self) -> str:
        """A text that changes with anything that the measured values depend on besides
        question, arm and library; part of keys of stored results.
        """
        methods = (
            f"{arm}: {method.recipe}" for arm, method in sorted(self.answering.items())
        )
        judges = (f"{judge.name} {judge.revision}" for judge in self.judges)
        tries = f"{self.repeats} tries" if self.judges else ""
        return "\n".join(["answers 1", *methods, *judges, tries])

    def figure_names(self, question: EvalQuestion, arm: str) -> tuple[str, ...]:
        """Return the names of the figures (measured values) that every answer to a
        question has.

        `arm` is the name of the arm, the way of retrieving text; empty if answers of
        that arm are not measured.
        """
        if arm not in self.answering:
            return ()
        names = ["resolved", "quotes", "gap", "answer_seconds"]
        if question.answerable:
            names += ["citation_precision", "citation_recall", "false_gap"]
            names += ["word_overlap"] if question.answer else []
        else:
            names.append("invented")
        return (*names, *(name for judge in self.judges for name in judge.figures))

    def estimate_usage(
        self, question: EvalQuestion, arm: str
    ) -> list[tuple[Usage, str]]:
        """Return the estimated usage of each model call for a question, with the
        model's name.

        `arm` is the name of the arm, the way of retrieving text; empty if answers of
        that arm are not measured. Nothing is sent.
        """
        method = self.answering.get(arm)
        if method is None:
            return []
        usages = [(method.usage, method.model)] if method.model else []
        sample = build_judge_sample(question, _typical_answer(method.context_tokens))
        for judge in self.judges:
            usages += [(judge.estimate(sample), judge.name)] * self.repeats
        return usages

    async def measure(
        self, question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> tuple[Mapping[str, float], Mapping[str, str]]:
        """Answer the question and return its figures (measured values) by name, and for
        those that failed the reason by name.

        `seconds`, `tokens` and `leak` of answers are called `answer_seconds` and so on.
        Both mappings are empty if answers of the arm are not measured.

        Raises:
            NotFound: A gold quote does not occur in its file.
            ServiceUnavailable: The model did not answer.
            StoreProblem: The library cannot be read.
        """
        own = self.answering.get(arm.name)
        if own is None:
            return {}, {}
        gold = await self.spans.gold(question)  # before anything is paid for
        answered = await own.answer(question, arm, retrieved_context)
        store = self.spans.indexed_library.store
        texts = await store.texts(
            [citation.document for citation in answered.citations]
        )
        counted = compute_answer_figures(
            answered,
            question,
            gold,
            text_of=lambda name: texts[name].text if name in texts else None,
            late=self.spans.late(question),
        )
        figures = {_prefix_figure(name): value for name, value in counted.items()}
        if not self.judges:
            return figures, {}
        opinion = await judge_answer(
            self.judges, build_judge_sample(question, answered), repeats=self.repeats
        )
        values, failed = panel_result_to_figures(opinion)
        spent = compute_total_price(opinion.usages, self.price)
        if spent is not None:
            figures[DOLLARS] = figures.get(DOLLARS, 0.0) + spent
        return {**figures, **values}, failed


def build_session_answer_method(
    answerer: Answerer, context_tokens: int
) -> AnswerMethod:
    """Return the method by which `answerer` answers as `lrwr ask` does, from
    `context_tokens` tokens of text.

    It searches for itself: the text that the arm retrieved is ignored.
    """

    async def answer(
        question: EvalQuestion, arm: Arm, context: RetrievedContext
    ) -> GroundedAnswer:
        del arm, context  # it searches for itself
        return await answerer.answer(question.text, question.as_of)

    usage = (
        Usage(
            _CALLS_PER_ANSWER,
            _PLAN_TOKENS + context_tokens + _RULES_TOKENS + _GAPS_TOKENS,
            _CALLS_PER_ANSWER * _REPLY_TOKENS,
        )
        if answerer.name
        else Usage()
    )
    return AnswerMethod(
        f"as asked, by {answerer.name or 'the text'}",
        answer,
        usage,
        answerer.name,
        context_tokens,
    )


def build_reader_answer_method(
    reader: ContextReader, spans: SpanMeasure, budget: int
) -> AnswerMethod:
    """Return the method by which `reader` answers from the first `budget` tokens of the
    retrieved text.
    """

    async def answer(
        question: EvalQuestion, arm: Arm, retrieved_context: RetrievedContext
    ) -> GroundedAnswer:
        del arm
        pieces = cut_to_token_budget(retrieved_context.pieces, budget)
        documents = [piece.document for piece in pieces]
        texts = await spans.indexed_library.store.texts(documents)
        return await reader.read(
            ReaderInput(question.text, question.as_of, pieces, texts)
        )

    usage = Usage(1, budget + _REPLY_TOKENS, _REPLY_TOKENS)
    return AnswerMethod(
        f"read in {budget} tokens, by {reader.name}",
        answer,
        usage,
        reader.name,
        budget,
    )


def _prefix_figure(figure: str) -> str:
    return f"answer_{figure}" if figure in PREFIXED else figure


def _typical_answer(context_tokens: int) -> GroundedAnswer:
    """Return an answer of typical size, to estimate the usage of judges: one of them
    makes a call for each passage.
    """
    count = max(1, round(context_tokens / _TOKENS_PER_CONTEXT))
    context = "word " * (context_tokens // count)
    return GroundedAnswer(
        "word " * _REPLY_TOKENS, (), (context,) * count, says_gap=False, seconds=0.0
    )
