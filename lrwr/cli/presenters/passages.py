"""How a passage is shown and told: its place, its words, its JSON."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lrwr.app.presenters.citations import describe_story_place, format_line_range
from lrwr.app.presenters.text import LinePiece, StyledText, sanitize_line
from lrwr.cli.runtime.output import Output
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Fact, FactAbout
from lrwr.core.ports.stores import DocumentText
from lrwr.core.ports.story_stores import DocumentFact
from lrwr.core.retrieval.retrievers import split_highlighted_words

if TYPE_CHECKING:
    from lrwr.core.retrieval.service import SearchResult


def describe_passage_chapter(passage: Passage) -> str:
    """Return the passage's place in the story, in words; its type outside of it."""
    return describe_story_place(
        passage.type, passage.chapter, passage.chapter_title, passage.scene
    )


def highlight_words(text: str, words: list[str]) -> list[LinePiece]:
    """Return `text` with the words of the question made to stand out."""
    return [
        StyledText(piece, "strong") if hit else piece
        for piece, hit in split_highlighted_words(text, words)
    ]


def passage_as_json(passage: Passage) -> dict[str, object]:
    """Return what a script may want to know of a passage.

    `lines` are first and last, from 1, both included; paragraphs for a `.docx`.
    `chars` are start and end, end not included, in the canonical text.
    """
    chunk = passage.chunk
    return {
        "text": chunk.text,
        "file": chunk.document,
        "type": passage.type,
        "kind": chunk.kind,
        "chapter": passage.chapter,
        "chapter_title": passage.chapter_title,
        "scene": passage.scene,
        "lines": [chunk.lines.first, chunk.lines.last],
        "chars": [chunk.span.start, chunk.span.end],
        "score": round(passage.score, 6),
    }


FactTexts = Mapping[DocumentId, DocumentText]


def show_known_facts(
    facts: Sequence[DocumentFact], texts: FactTexts, output: Output
) -> None:
    """Print what is known besides the passages, a line each; nothing for none."""
    if not facts:
        return
    output.answer("Known of it:")
    for fact in facts:
        text = texts[fact.document]
        place = format_line_range(
            fact.document, text.lines.lines_of(fact.fact.spans[0])
        )
        output.answer(
            f"  {sanitize_line(describe_fact(fact.fact))}  ",
            StyledText(place, "place"),
            StyledText(f"  {fact.fact.certainty}", "faint"),
        )


def known_facts_as_json(
    facts: Sequence[DocumentFact], texts: FactTexts
) -> list[dict[str, object]]:
    """Return what a script may want to know of facts."""
    rows: list[dict[str, object]] = []
    for document_fact in facts:
        fact, text = document_fact.fact, texts[document_fact.document]
        lines = text.lines.lines_of(fact.spans[0])
        rows.append(
            {
                "about": fact.about,
                "subject": fact.subject,
                "field": fact.field,
                "value": fact.value,
                "details": [list(pair) for pair in fact.details],
                "certainty": fact.certainty,
                "filled_by": fact.keeper,
                "file": document_fact.document,
                "chars": [[span.start, span.end] for span in fact.spans],
                "lines": [lines.first, lines.last],
            }
        )
    return rows


def describe_fact(fact: Fact) -> str:
    """Tell a fact in a few words."""
    match fact.about:
        case FactAbout.EVENT | FactAbout.SCENE:
            return fact.value
        case FactAbout.TOLD:
            return f"{fact.subject} tells {fact.detail('hearer')}: {fact.value}"
        case FactAbout.GAP:
            return f"Open: {fact.subject or 'the story'}, {fact.field}: {fact.value}"
        case _:
            attribute = fact.detail("attribute") or fact.detail("kind") or fact.field
            target = fact.detail("target")
            value = " ".join(word for word in (fact.value, target) if word)
            return f"{fact.subject}, {attribute.replace('_', ' ')}: {value}"


def print_confidence(output: Output, result: "SearchResult") -> None:
    """Say how far what was found can be trusted; nothing where nothing was."""
    if result.passages:
        confidence_text = describe_confidence(
            result.confidence, low=result.low_confidence
        )
        output.answer(StyledText(f"Confidence: {confidence_text}.", "faint"))


def describe_confidence(confidence: float | None, *, low: bool | None) -> str:
    """Return the probability that the first passages contain the answer, in words."""
    if confidence is None:
        return "not evaluated"
    percent = f"{100 * confidence:.0f} %"
    share = f"{percent} of searches with this score had the answer in the top 5"
    return f"weak evidence, {share}" if low else share
