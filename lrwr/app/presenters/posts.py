"""Checked drafts about the manuscript, as text and JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping

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
from lrwr.core.evidence.checker import (
    CheckedStatement,
    ClosestPassage,
    StatementResult,
)
from lrwr.core.evidence.comparison import DetailDifference, DetailKind
from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.stores import DocumentText

SHOWN = 2
"""Passages shown below one statement."""


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
                describe_result(checked), "bad" if checked.needs_author else "good"
            ),
        )
        yield styled_line(f"“{shorten_excerpt(checked.statement.text)}”", indent=4)
        for difference in checked.differences:
            yield styled_line(describe_difference(difference), indent=6)
        shown = 1 if checked.result is StatementResult.QUOTED else SHOWN
        for closest in checked.passages[:shown]:
            yield _render_passage(closest, texts)
        yield styled_line()
    yield styled_line(summarize_draft(draft))


def describe_result(checked: CheckedStatement) -> str:
    """Return the result of a statement, with what belongs to it: "later: chapter 7"."""
    if checked.result is StatementResult.LATER:
        return f"later: chapter {checked.chapter}"
    if checked.result is StatementResult.OUTSIDE:
        links = checked.statement.links
        page = sanitize_line(links[0]) if links else "no page cited"
        return f"outside the book: {page}"
    return checked.result.value


def describe_difference(difference: DetailDifference) -> str:
    """Return a sentence that shows both values of a detail."""
    stated, found = (
        sanitize_line(words) for words in (difference.stated, difference.found)
    )
    if difference.kind is DetailKind.QUOTATION:
        return f"quotation: “{stated}” is not in the text"
    own = f"you wrote “{stated}”" if stated else "you left it out"
    theirs = f"the text has “{found}”" if found else "the text has no such word"
    return f"{difference.kind}: {own}; {theirs}"


def summarize_draft(draft: CheckedDraft) -> str:
    """Return a sentence that counts the results, and says how many need the author."""
    counts = Counter(checked.result for checked in draft.statements)
    parts = [f"{counts[kind]:,} {kind}" for kind in StatementResult if counts[kind]]
    needing = sum(checked.needs_author for checked in draft.statements)
    rest = f" {format_count(needing, 'sentence')} to look at." if needing else ""
    total = format_count(len(draft.statements), "sentence")
    return f"{total}: {', '.join(parts)}.{rest}" if parts else f"{total}."


def checked_draft_as_json(
    draft: CheckedDraft, name: str, texts: Mapping[DocumentId, DocumentText]
) -> dict[str, object]:
    """Return a checked draft as JSON: `file`, and the `sentences` with their results."""
    return {
        "file": name,
        "needs_author": draft.needs_author,
        "sentences": [
            {
                "text": checked.statement.text,
                "lines": [checked.statement.lines.first, checked.statement.lines.last],
                "result": checked.result,
                "needs_author": checked.needs_author,
                "chapter": checked.chapter,
                "pages": list(checked.statement.links),
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
        f"“{shorten_excerpt(_cut(closest, texts))}”",
        indent=6,
    )


def _cut(closest: ClosestPassage, texts: Mapping[DocumentId, DocumentText]) -> str:
    chunk = closest.passage.chunk
    if chunk.document not in texts:
        return chunk.text
    return texts[chunk.document].text[closest.span.start : closest.span.end]
