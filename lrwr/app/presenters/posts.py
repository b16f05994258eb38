"""Checked drafts about the manuscript, as text and JSON."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from lrwr.app.post_judgement import DraftJudgement
from lrwr.app.posts import CheckedDraft
from lrwr.app.presenters.citations import format_place, passage_as_json
from lrwr.app.presenters.text import (
    StyledLine,
    StyledText,
    format_count,
    sanitize_line,
    shorten_excerpt,
    styled_line,
)
from lrwr.core.attribution.quotations import find_quotation
from lrwr.core.evidence.comparison import DetailDifference, DetailKind
from lrwr.core.evidence.judge import Verdict
from lrwr.core.evidence.limits import PartLength
from lrwr.core.evidence.results import (
    CheckedStatement,
    ClosestPassage,
    StatementResult,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText

SHOWN = 2
"""Passages shown below one statement."""

_QUOTE_MARK = re.compile(r"(?:^|\n)(?:[ \t]*>)+[ \t]*")
"""The mark of a quoted paragraph in Markdown."""

_SHOWN = {
    StatementResult.QUOTED: 1,
    StatementResult.OUTSIDE: 0,
    StatementResult.NOTHING: 0,
}


def render_checked_draft(
    draft: CheckedDraft,
    name: str,
    texts: Mapping[DocumentId, DocumentText],
    *,
    every: bool = False,
) -> Iterator[StyledLine]:
    """Yield the lines of a checked draft: each statement with its result and passages.

    `name` is the draft's file name, `texts` are those of the documents with passages.
    Statements with nothing to check are shown with `every` only.
    """
    for checked in draft.statements:
        if checked.result is StatementResult.NOTHING and not every:
            continue
        yield styled_line(
            StyledText(format_place(name, checked.statement.lines), "place"),
            "  ",
            StyledText(
                describe_result(checked), "bad" if checked.needs_author else "faint"
            ),
        )
        yield styled_line(f"“{shorten_excerpt(checked.statement.text)}”", indent=4)
        for difference in checked.differences:
            yield styled_line(describe_difference(difference), indent=6)
        if note := describe_note(checked, draft.horizon):
            yield styled_line(StyledText(note, "faint"), indent=6)
        for page in checked.pages:
            yield styled_line(
                StyledText("a page, not compared: ", "faint"),
                f"{sanitize_line(page.title)}, {sanitize_line(page.url)}",
                indent=6,
            )
        yield from _render_judgement(checked, texts)
        if checked.judgement is not None and checked.judgement.passage is not None:
            yield styled_line()
            continue
        for closest in checked.passages[: _SHOWN.get(checked.result, SHOWN)]:
            yield _render_passage(closest, texts)
        yield styled_line()
    yield styled_line(summarize_draft(draft))


def render_part_lengths(parts: Sequence[PartLength]) -> Iterator[StyledLine]:
    """Yield a line for each part of a thread: its length, and whether it is too long."""
    for part in parts:
        over = part.characters - part.limit
        note = f": {over:,} too many" if over > 0 else ": too many bytes"
        yield styled_line(
            f"Part {part.part}: {part.characters:,} of {part.limit:,} characters",
            StyledText(note if part.is_too_long else "", "bad"),
        )


def describe_result(checked: CheckedStatement) -> str:
    """Return the result of a statement, with what belongs to it: "later: chapter 7".

    A statement of which there is a closest passage has the language model's verdict.
    """
    if checked.result is StatementResult.LATER:
        return f"later: chapter {checked.chapter}"
    if checked.result is StatementResult.OUTSIDE:
        links = checked.statement.links
        page = sanitize_line(links[0]) if links else "no page cited"
        return f"outside the book: {page}"
    return describe_kind(checked)


def describe_kind(checked: CheckedStatement) -> str:
    """Return the result of a statement, or the language model's verdict about it."""
    if checked.judgement is not None and checked.result is StatementResult.CLOSEST:
        return checked.judgement.verdict.value
    return checked.result.value


def describe_note(checked: CheckedStatement, horizon: Horizon | None) -> str:
    """Return what an author may look at in a statement, in a sentence; empty for nothing:
    words that the story up to `horizon` has nowhere, and who seems to say its quotation.
    """
    sentences = []
    if checked.absent_words and checked.result is StatementResult.CLOSEST:
        words = ", ".join(f"“{sanitize_line(word)}”" for word in checked.absent_words)
        until = f" up to chapter {horizon.chapter}" if horizon is not None else ""
        sentences.append(f"Nowhere in your text{until}: {words}.")
    judgement = checked.judgement
    is_open = judgement is None or judgement.verdict is Verdict.ABSENT
    if checked.closer_chapter is not None and is_open:
        sentences.append(
            f"Perhaps told later: chapter {checked.closer_chapter} comes closer than"
            " anything up to there."
        )
    if checked.probable_speaker and not checked.differences:
        name = sanitize_line(checked.probable_speaker)
        sentences.append(f"In the text, {name} seems to say this.")
    return " ".join(sentences)


def describe_difference(difference: DetailDifference) -> str:
    """Return a sentence that shows both values of a detail."""
    stated, found = (
        sanitize_line(" ".join(words.split()))
        for words in (difference.stated, difference.found)
    )
    if difference.kind is DetailKind.QUOTATION:
        theirs = f"; the text has “{found}”" if found else ""
        return f"quotation: “{stated}” is not in the text{theirs}"
    if not stated:
        return f"{difference.kind}: the text has “{found}”, which you left out"
    is_negation = difference.kind is DetailKind.NEGATION
    missing = "does not negate it" if is_negation else "does not say that"
    theirs = f"the text has “{found}”" if found else f"the text {missing}"
    return f"{difference.kind}: you wrote “{stated}”; {theirs}"


def summarize_draft(draft: CheckedDraft) -> str:
    """Return a sentence that counts the results, and says how many need the author."""
    kinds: list[str] = [*StatementResult, *Verdict]
    counts = Counter(describe_kind(checked) for checked in draft.statements)
    parts = [f"{counts[kind]:,} {kind}" for kind in kinds if counts[kind]]
    needing = sum(checked.needs_author for checked in draft.statements)
    rest = f" {format_count(needing, 'sentence')} to look at." if needing else ""
    total = format_count(len(draft.statements), "sentence")
    return f"{total}: {', '.join(parts)}.{rest}" if parts else f"{total}."


def checked_draft_as_json(
    draft: CheckedDraft,
    name: str,
    texts: Mapping[DocumentId, DocumentText],
    judged: DraftJudgement | None = None,
) -> dict[str, object]:
    """Return a checked draft as JSON: `file`, and the `sentences` with their results.

    `model` is the language model that judged; None without one.
    """
    return {
        "file": name,
        "model": judged.model if judged else None,
        "not_analysed": judged.unjudged + judged.unverified if judged else None,
        "needs_author": draft.needs_author,
        "sentences": [
            {
                "text": checked.statement.text,
                "lines": [checked.statement.lines.first, checked.statement.lines.last],
                "result": checked.result,
                "needs_author": checked.needs_author,
                "verdict": _judgement_as_json(checked),
                "chapter": checked.chapter,
                "absent_words": list(checked.absent_words),
                "closer_chapter": checked.closer_chapter,
                "probable_speaker": checked.probable_speaker or None,
                "pages": list(checked.statement.links),
                "web": [{"title": p.title, "url": p.url} for p in checked.pages],
                "differences": [
                    {
                        "kind": difference.kind,
                        "stated": difference.stated,
                        "found": difference.found,
                    }
                    for difference in checked.differences
                ],
                "passages": [
                    {
                        **passage_as_json(closest.passage),
                        "closest": _cut(closest, texts),
                        "share": round(closest.share, 3),
                    }
                    for closest in checked.passages
                ],
            }
            for checked in draft.statements
        ],
    }


def _judgement_as_json(checked: CheckedStatement) -> dict[str, object] | None:
    judgement = checked.judgement
    if judgement is None:
        return None
    return {
        "verdict": judgement.verdict,
        "passage": judgement.passage,
        "quote": judgement.quote,
        "why": judgement.why,
    }


def _render_judgement(
    checked: CheckedStatement, texts: Mapping[DocumentId, DocumentText]
) -> Iterator[StyledLine]:
    """Yield the reason of the language model, with the words that it quotes."""
    judgement = checked.judgement
    if judgement is None:
        return
    verdict = judgement.verdict.value
    is_headed = checked.result is StatementResult.CLOSEST
    parts = ["" if is_headed else verdict, sanitize_line(judgement.why)]
    if reason := ": ".join(part for part in parts if part):
        yield styled_line(StyledText(reason, "faint"), indent=6)
    if judgement.passage is not None:
        chunk = checked.passages[judgement.passage].passage.chunk
        lines, quoted = chunk.lines, find_quotation(chunk.text, judgement.quote)
        if quoted is not None and chunk.document in texts:
            start = chunk.span.start
            span = Span(start + quoted.start, start + quoted.end)
            lines = texts[chunk.document].lines.lines_of(span)
        yield styled_line(
            StyledText(format_place(chunk.document, lines), "place"),
            f"  “{shorten_excerpt(judgement.quote)}”",
            indent=6,
        )


def _render_passage(
    closest: ClosestPassage, texts: Mapping[DocumentId, DocumentText]
) -> StyledLine:
    document, chapter = closest.passage.chunk.document, closest.passage.chapter
    lines = closest.passage.chunk.lines
    if document in texts:
        lines = texts[document].lines.lines_of(closest.span)
    return styled_line(
        StyledText(format_place(document, lines), "place"),
        StyledText("  note: " if chapter is None else f"  ch{chapter}: ", "faint"),
        f"“{shorten_excerpt(_QUOTE_MARK.sub(' ', _cut(closest, texts)).strip())}”",
        indent=6,
    )


def _cut(closest: ClosestPassage, texts: Mapping[DocumentId, DocumentText]) -> str:
    chunk = closest.passage.chunk
    if chunk.document not in texts:
        return chunk.text
    return texts[chunk.document].text[closest.span.start : closest.span.end]
