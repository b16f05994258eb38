"""What an answer is worth as far as it can be counted, without a model. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, normalize_word
from lrwr.core.model.turns import Citation
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote
from lrwr.core.ports.models import GroundedAnswer
from lrwr.core.retrieval.anchors import is_same_wording
from lrwr.pipeline.evaluation.answers import strip_citation_numbers
from lrwr.pipeline.evaluation.outcomes import ContextPiece
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    EvalQuestion,
    covers_answer_place,
)

TextLookup = Callable[[DocumentId], str | None]
"""Returns a document's canonical text, None where there is no such document."""

QUOTED_WORDS = 4
"""Words from which on quotation marks claim that the text says just that: fewer may be
a title, a name or irony."""

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
    """Return the figures of one answer by name, without those that do not apply.

    `gold` holds, for each quote that answers, the places where it stands. `late` says
    whether a piece comes after the question's horizon, None where nothing can.

    - `resolved_citation_share`: the share of citations whose words stand verbatim at their span.
    - `citation_precision`: the share of citations that share with a quote that answers.
    - `citation_recall`: the share of those quotes that citations cover; where any one
      will do, 1.0 if one is covered.
    - `verbatim_quote_share`: the share of quotations that stand in the words that were given.
    - `gap`: 1.0 if the answer says that the text does not tell. `false_gap`: so, and
      the text does. `invented`: the text does not, and the answer neither says so nor
      warns. `doubted`: 1.0 if it warns that its evidence is weak.
    - `spoiler_leak`: 1.0 if it cites what is `late`, or says what must not be told yet.
    - `word_overlap`: how far its words are those of the written answer (F1).
    - `tokens`, `seconds`, `dollars`: what it took.
    """
    cited = answered.citations
    figures = {
        "seconds": answered.seconds,
        "gap": float(answered.says_gap),
        "doubted": float(answered.doubts),
        **_took(answered),
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
    """Return the share of citations that stand verbatim at their span; None of none."""
    return _share(
        [_stands_at(citation, text_of(citation.document)) for citation in citations]
    )


def citation_precision(
    citations: Sequence[Citation], gold: Sequence[Sequence[AnswerPlace]]
) -> float | None:
    """Return the share of citations that share with gold; None if nothing is cited."""
    places = [place for quote in gold for place in quote]
    return _share(
        [
            any(covers_answer_place(_piece(citation), place) for place in places)
            for citation in citations
        ]
    )


def citation_recall(
    citations: Sequence[Citation], gold: Sequence[Sequence[AnswerPlace]], *, every: bool
) -> float | None:
    """Return the share of gold quotes that are cited; unless `every`, 1.0 if any one is."""
    pieces = [_piece(citation) for citation in citations]
    covered = [
        any(covers_answer_place(piece, place) for piece in pieces for place in quote)
        for quote in gold
    ]
    return _share(covered) if every or not covered else float(any(covered))


def verbatim_quote_share(answer: str, texts: Sequence[str]) -> float | None:
    """Return the share of an answer's quotations that `texts` have; None of none.

    A quotation has `MIN_QUOTED_WORDS` words or more. Marks, dashes, white space and the
    first capital may differ; what is left out with an ellipsis may stand elsewhere.
    """
    return _share([_is_in(quote, texts) for quote in _quotations(answer)])


def spoiler_leak(
    answered: GroundedAnswer,
    question: EvalQuestion,
    late: Callable[[ContextPiece], bool] | None,
) -> float | None:
    """Return 1.0 if an answer contains a spoiler; None if it cannot contain one."""
    if late is None and not question.spoilers:
        return None
    cites = late is not None and any(
        late(_piece(citation)) for citation in answered.citations
    )
    answer_texts = [answered.text]
    return float(
        cites
        or any(_is_in(spoiler.quote, answer_texts) for spoiler in question.spoilers)
    )


def word_overlap(answer: str, reference: str) -> float | None:
    """Return the F1 of an answer's words and a reference's, None without a reference.

    Words count as often as they stand; capitals, articles and numbers in brackets do
    not. It knows nothing of meaning: “not in the mill” is near to “in the mill”.
    """
    reference_words = _words(reference)
    if not reference_words:
        return None
    answer_words = _words(strip_citation_numbers(answer))
    common = (reference_words & answer_words).total()
    return 2 * common / (reference_words.total() + answer_words.total())


def _took(answered: GroundedAnswer) -> dict[str, float]:
    usage = answered.usage
    took = {"tokens": float(usage.prompt_tokens + usage.completion_tokens)}
    return took if answered.price is None else {**took, "dollars": answered.price}


def _share(outcomes: Sequence[bool]) -> float | None:
    return sum(outcomes) / len(outcomes) if outcomes else None


def _stands_at(citation: Citation, text: str | None) -> bool:
    span = citation.span
    return bool(text and citation.text) and (
        text is not None and text[span.start : span.end] == citation.text
    )


def _piece(citation: Citation) -> ContextPiece:
    return ContextPiece(citation.document, citation.span, citation.text, 0)


def _quotations(answer: str) -> Iterator[str]:
    for match in _QUOTED.finditer(strip_citation_numbers(answer)):
        quote = match[1] or match[2]
        if len(WORD_PATTERN.findall(quote)) >= QUOTED_WORDS:
            yield quote


def _is_in(quote: str, texts: Sequence[str]) -> bool:
    if any(_holds(text, quote) for text in texts):
        return True
    parts = [part for part in _ELLIPSIS.split(quote) if WORD_PATTERN.search(part)]
    return len(parts) > 1 and all(
        any(_holds(text, part) for text in texts) for part in parts
    )


def _holds(text: str, quote: str) -> bool:
    spans = find_fuzzy_quote(quote, text)
    if len(spans) != 1:
        return False
    excerpt = text[spans[0].start : spans[0].end]
    return is_same_wording(_bare(excerpt), _bare(quote))


def _bare(text: str) -> str:
    """Return a text in lower case, without the marks around it."""
    words = list(WORD_PATTERN.finditer(text))
    return text[words[0].start() : words[-1].end()].casefold() if words else ""


def _words(text: str) -> Counter[str]:
    words = (normalize_word(word) for word in WORD_PATTERN.findall(text))
    return Counter(word for word in words if word not in _ARTICLES)
