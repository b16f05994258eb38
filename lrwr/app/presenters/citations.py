"""Passages and citations as text and JSON: location, excerpt, freshness, confidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lrwr.app.presenters.text import (
    EXCERPT_CHARACTERS,
    LinePiece,
    StyledLine,
    StyledText,
    format_count,
    format_horizon,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.model.documents import has_paragraph_numbers
from lrwr.core.model.facts import FactAbout, WorldField
from lrwr.core.model.text import format_chapter_title, split_highlighted_words
from lrwr.core.retrieval.anchors import AnchoredCitation, Freshness

if TYPE_CHECKING:
    from typing import TypeAlias

    from lrwr.core.model.chunks import Passage
    from lrwr.core.model.documents import DocumentId
    from lrwr.core.model.facts import Fact
    from lrwr.core.model.text import LineRange
    from lrwr.core.ports.stores import DocumentText
    from lrwr.core.ports.story_stores import DocumentFact
    from lrwr.core.retrieval.confidence import SearchConfidence
    from lrwr.core.retrieval.search_model import SearchRequest, SearchResult

    FactTexts: TypeAlias = Mapping[DocumentId, DocumentText]


def format_line_range(document: str, lines: "LineRange") -> str:
    """Return `document:first-last`, or `document:line` if it is one line.

    Lines count from 1, `last` is inclusive.
    """
    name = sanitize_line(document)
    if lines.first == lines.last:
        return f"{name}:{lines.first}"
    return f"{name}:{lines.first}-{lines.last}"


def format_place(document: str, lines: "LineRange") -> str:
    """Return `document:first-last`, or for a `.docx` or `.epub` "document, paragraphs first-last".

    A single line or paragraph has one number. Numbers count from 1.
    """
    if not has_paragraph_numbers(document):
        return format_line_range(document, lines)
    name = sanitize_line(document)
    if lines.first == lines.last:
        return f"{name}, paragraph {lines.first}"
    return f"{name}, paragraphs {lines.first}-{lines.last}"


def describe_story_place(
    kind: str, chapter: int | None, title: str, scene: int | None
) -> str:
    """Return where a passage is in the story, such as "chapter 3 “Ebb”, scene 2".

    `chapter` is 0 before chapter 1. For a note it is None; then the result names the
    type of note (`kind`) and its title: "character note, Nell".
    """
    if chapter is None:
        return f"{kind} note, {title}"
    titled = format_chapter_title(chapter, title)
    if chapter == 0:
        return f"before chapter 1{titled}"
    return f"chapter {chapter}{titled}, scene {scene}"


NOT_LOOKED_UP = "Could not check whether the cited passages have changed."
BEFORE = 60
"""Characters shown before the first difference between old and new text."""


@dataclass(frozen=True, slots=True)
class CitationLine:
    """The text of one citation in four parts: `before`, `place`, `after` and `words`.

    `place` is the current location of the cited words, empty if they are gone. `words`
    is their current text, or the text that was cited if they are gone; shown in quotes.
    """

    before: str
    place: str
    after: str
    words: str


def describe_citation_freshness(anchored_citation: AnchoredCitation) -> CitationLine:
    """Return the line of a citation: where its words are now, and whether they changed.

    If that was not checked, the line has the location and words that were cited.
    """
    cited, current = anchored_citation.citation, anchored_citation.now
    if current is None and anchored_citation.freshness is Freshness.GONE:
        return CitationLine("is no longer in the text", "", "; it read: ", cited.text)
    if current is None:
        place = format_line_range(cited.document, cited.lines)
        return CitationLine("", place, "  ", cited.text)
    place = format_line_range(current.document, current.lines)
    if anchored_citation.freshness is Freshness.EDITED:
        return CitationLine(
            "", place, " was edited since; it now reads: ", current.text
        )
    return CitationLine(
        "moved to " if anchored_citation.moved else "", place, "  ", current.text
    )


def describe_changed_citations(places: Sequence[AnchoredCitation]) -> str:
    """Return a sentence that counts the passages of an answer that changed since.

    `places` are the answer's citations. Those of which the stored text is damaged are
    counted apart. Empty if none changed; `NOT_LOOKED_UP` if any was not checked.
    """
    if any(place.freshness is Freshness.NOT_EVALUATED for place in places):
        return NOT_LOOKED_UP
    changed, total = sum(place.changed for place in places), len(places)
    damaged = sum(place.freshness is Freshness.DAMAGED for place in places)
    sentences = []
    if changed:
        verb = "has" if changed == 1 else "have"
        which = _count_passages(changed, total)
        sentences.append(f"{which} {verb} changed since this answer.")
    if damaged:
        which = _count_passages(damaged, total)
        verb = "was" if damaged == 1 else "were"
        sentences.append(
            f"{which} {verb} not compared with the text, because stored data is damaged"
            " or missing. Run `lrwr ingest --verify`."
        )
    return " ".join(sentences)


def _count_passages(number: int, total: int) -> str:
    """Return "2 of 3 cited passages", or what says that it is all of them."""
    if total == 1:
        return "The cited passage"
    if number < total:
        return f"{number} of {total} cited passages"
    return "Both cited passages" if total == 2 else f"All {total} cited passages"


def get_displayed_words(anchored_citation: AnchoredCitation) -> str:
    """Return the words of a citation on one line, cut to `EXCERPT_CHARACTERS`; of a
    passage that was not edited, its best sentence.

    The excerpt of an edited passage starts shortly before the first change.
    """
    words = " ".join(describe_citation_freshness(anchored_citation).words.split())
    citation = anchored_citation.citation
    if citation.best is not None and anchored_citation.freshness is Freshness.CURRENT:
        best = citation.text[citation.best.start : citation.best.end]
        return shorten_excerpt(" ".join(best.split()))
    if (
        anchored_citation.freshness is Freshness.EDITED
        and len(words) > EXCERPT_CHARACTERS
    ):
        common_length = _alike_until(
            words, " ".join(anchored_citation.citation.text.split())
        )
        at = words.rfind(" ", 0, max(0, common_length - BEFORE)) + 1
        return f"… {shorten_excerpt(words[at:])}" if at else shorten_excerpt(words)
    return shorten_excerpt(words)


def freshness_as_json(anchored_citation: AnchoredCitation) -> dict[str, object]:
    """Return the state of the cited words in the current text as two JSON keys.

    `freshness` names the state. `now` has `document`, `lines` (first and last, from 1,
    inclusive), `chars` (half-open offsets in the document) and `text` of the words or
    their edited version; None if they are gone or were not looked up.
    """
    current = anchored_citation.now
    return {
        "freshness": anchored_citation.freshness,
        "now": None
        if current is None
        else {
            "document": current.document,
            "lines": [current.lines.first, current.lines.last],
            "chars": [current.span.start, current.span.end],
            "text": current.text,
        },
    }


def _alike_until(first_text: str, second_text: str) -> int:
    pairs = enumerate(zip(first_text, second_text, strict=False))
    return next(
        (at for at, (a, b) in pairs if a != b), min(len(first_text), len(second_text))
    )


def describe_passage_chapter(passage: "Passage") -> str:
    """Return where a passage is in the story, such as "chapter 3 “Ebb”, scene 2".

    For a note, return its type and title: "character note, Nell".
    """
    return describe_story_place(
        passage.type, passage.chapter, passage.chapter_title, passage.scene
    )


def describe_passage_remark(passage: "Passage", result: "SearchResult") -> str:
    """Return what to say of a passage of a search behind its location, after two spaces:
    that it is an author's comment, and that it lacks the quoted phrases of the question,
    if others have one. Empty if there is nothing to say.
    """
    chunk = passage.chunk
    remark = "  author's comment" if chunk.kind == "note" else ""
    if result.phrases and chunk.id not in result.phrases:
        remark += "  without the phrase"
    return remark


def highlight_words(text: str, words: Sequence[str]) -> list[LinePiece]:
    """Return `text` in pieces; words with the stem of one of `words` are "strong".

    `words` must be in lower case; case in `text` is ignored. The pieces, joined, are
    `text`.
    """
    return [
        StyledText(piece, "strong") if hit else piece
        for piece, hit in split_highlighted_words(text, words)
    ]


def passage_as_json(passage: "Passage") -> dict[str, object]:
    """Return a passage as JSON: `text`, `file`, `type` of document, location, `score`.

    The location is `chapter`, `chapter_title`, `scene`, `lines` and `chars`. `lines`
    are first and last, from 1, inclusive; paragraphs for a `.docx`. `chars` is a
    half-open range in the document's text. Scores of two searches cannot be compared.
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


def search_result_as_json(
    result: "SearchResult", texts: "FactTexts"
) -> dict[str, object]:
    """Return what a search found besides its passages, as JSON.

    `warned` says whether its text warns. `texts` must have the document of every fact.
    """
    return {
        "confidence": result.confidence,
        "low_confidence": result.low_confidence,
        "warned": is_search_doubtful(result),
        "unknown_words": list(result.unknown),
        "similar_names": list(result.similar_names),
        "missing_phrases": list(result.missing_phrases),
        "notes_phrases": list(result.notes_phrases),
        "elsewhere": list(result.elsewhere),
        "found_elsewhere": result.found_elsewhere,
        "facts": known_facts_as_json(result.facts, texts),
        "remarks": list(result.remarks),
        "total": result.total,
        "total_matches": result.total_matches,
    }


def render_known_facts(
    facts: "Sequence[DocumentFact]", texts: "FactTexts"
) -> Iterator[StyledLine]:
    """Yield the heading "Facts:" and a line for each of `facts`, in their order.

    A line has the fact, its location and, unless it is an open question, its certainty.
    Nothing if `facts` is empty.
    `texts` must have the document of every fact.
    """
    if facts:
        yield styled_line("Facts:")
    for fact in facts:
        text = texts[fact.document]
        place = format_line_range(
            fact.document, text.lines.lines_of(fact.fact.spans[0])
        )
        is_question = fact.fact.about is FactAbout.GAP
        yield styled_line(
            f"  {sanitize_line(describe_fact(fact.fact))}  ",
            StyledText(place, "place"),
            StyledText(
                "" if is_question else f"  {fact.fact.certainty}",
                "faint",
            ),
        )


def known_facts_as_json(
    facts: "Sequence[DocumentFact]", texts: "FactTexts"
) -> list[dict[str, object]]:
    """Return a JSON object for each of `facts`, in their order.

    It has the fact's `about`, `subject`, `field`, `value`, `details` (name-value pairs)
    and `certainty`; `filled_by`, its source; `file`; `chars`, the half-open offsets of
    each supporting span; and `lines`, first and last (from 1, inclusive) of the first
    span. `texts` must have the document of every fact.
    """
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


def describe_fact(fact: "Fact") -> str:
    """Return a fact as a short phrase, such as "Nell, eyes: grey"."""
    match fact.about:
        case FactAbout.EVENT | FactAbout.SCENE:
            return fact.value
        case FactAbout.TOLD:
            return f"{fact.subject} tells {fact.detail('hearer')}: {fact.value}"
        case FactAbout.GAP:
            subject = f"{fact.subject}: " if fact.subject else ""
            return f"Open question: {subject}{fact.value}"
        case FactAbout.WORLD if fact.field == WorldField.ELEMENT_TYPE:
            article = "an" if fact.value[:1] in "aeiou" else "a"
            return f"{fact.subject}: {article} {fact.value}"
        case _:
            attribute = fact.detail("attribute") or fact.detail("kind") or fact.field
            target = fact.detail("target")
            value = " ".join(word for word in (fact.value, target) if word)
            return f"{fact.subject}, {attribute.replace('_', ' ')}: {value}"


def describe_missing_words(result: "SearchResult", as_of: str | None) -> Iterator[str]:
    """Yield a sentence for each kind of words of a search that it did not find.

    Words and quoted phrases that are nowhere in the text, up to the point of the story
    `as_of` if given, are told from those that only the filters exclude, and from phrases
    that only notes contain.
    """
    until = "" if as_of is None else f" up to {format_horizon(as_of)}"
    unknown = [word for word in result.unknown if word not in result.elsewhere]
    if unknown:
        names = " or ".join(result.similar_names)
        offer = f" Did you mean {names}?" if names else ""
        words = ", ".join(map(_quote_word, unknown))
        yield f"Not found in the text{until}: {words}.{offer}"
    for phrase in result.missing_phrases:
        if phrase not in result.elsewhere:
            yield f"The phrase {_quote_word(phrase)} is not in the text{until}."
    for phrase in result.notes_phrases:
        yield f"The phrase {_quote_word(phrase)} is only in notes{until}."
    if result.elsewhere:
        elsewhere = ", ".join(map(_quote_word, result.elsewhere))
        total = format_count(result.found_elsewhere, "passage")
        yield f"Not found within the filters: {elsewhere} (found elsewhere: {total})."


def _quote_word(word: str) -> str:
    return f"“{word}”"


def is_search_doubtful(result: "SearchResult") -> bool:
    """Return whether the text of a search warns: of words or phrases that the story lacks, of low
    confidence, of skipped steps, or that nothing was found.
    """
    return bool(
        result.unknown
        or result.missing_phrases
        or result.notes_phrases
        or result.low_confidence
        or result.remarks
        or not result.passages
    )


CALIBRATION_HINT = " `lrwr eval --calibrate` measures them."


def describe_search_total(
    request: "SearchRequest", result: "SearchResult", *, is_book: bool = False
) -> str:
    """Return how many passages and matches, or scenes, were found; for a ranked search,
    the confidence. Empty if there is nothing to say, or no passage.

    With `is_book`, that of an e-book, it does not say how a writer measures the confidence.
    """
    if not result.passages:
        return ""
    if result.total is not None:
        total = format_count(result.total, "passage" if request.question else "scene")
        if request.exact:
            total += f", {format_count(result.total_matches or 0, 'match', 'matches')}"
        shown = len(result.passages)
        more = f"; the first {'is' if shown == 1 else f'{shown} are'} shown (`--limit`)"
        return f"{total}{more if shown < result.total else ''}."
    # The confidence was measured with questions; it says little about a single word.
    if len(request.question.split()) > 1:
        if result.confidence is not None:
            return describe_confidence(result.confidence, low=result.low_confidence)
        if not result.low_confidence:
            missing = describe_missing_confidence(request, result.judgement)
            return missing.removesuffix(CALIBRATION_HINT) if is_book else missing
    return ""


def describe_confidence(confidence: float, *, low: bool | None) -> str:
    """Return how likely the top 5 passages contain the answer, as a sentence.

    `confidence` is a probability from 0.0 to 1.0, measured on test questions. With
    `low` True the sentence starts with "Low confidence"; False and None are the same.
    """
    warning = "Low confidence" if low else "Confidence"
    return (
        f"{warning}: for about {100 * confidence:.0f} of 100 test questions with similar"
        " scores, the first five passages contained the answer."
    )


def describe_missing_confidence(
    search_request: "SearchRequest", judgement: "SearchConfidence | None"
) -> str:
    """Return a sentence that says why the confidence of a search was not computed.

    `judgement` is the search's; None if none was made.
    """
    signals = judgement.signals if judgement else None
    if signals is not None and signals.avoids_text:
        return (
            "Confidence: not evaluated, because the passages contain few of the"
            " question's words."
        )
    if search_request.is_filtered:
        return "Confidence: not computed for searches with filters."
    if not (search_request.lexical and search_request.dense):
        return "Confidence: not computed with `--lexical` or `--dense`."
    return (
        "Confidence: not computed, because no test questions were measured with these"
        f" search settings.{CALIBRATION_HINT}"
    )
