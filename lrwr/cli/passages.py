"""How a passage is shown and told: its place, its words, its JSON."""

from typing import TYPE_CHECKING

from lrwr.cli.clean import one_line

if TYPE_CHECKING:
    from lrwr.cli.stream import Piece
    from lrwr.core.model.search import Passage
    from lrwr.core.model.text import Lines


def place_of(document: str, lines: "Lines") -> str:
    """Return `file:first-last`, as editors and writers know it."""
    name = one_line(document)
    if lines.first == lines.last:
        return f"{name}:{lines.first}"
    return f"{name}:{lines.first}-{lines.last}"


def chapter_of(passage: "Passage") -> str:
    """Return the passage's place in the story, in words; its type outside of it."""
    if passage.chapter is None:
        return f"{passage.type} note, {passage.chapter_title}"
    title = f" “{passage.chapter_title}”" if passage.chapter_title else ""
    if passage.chapter == 0:
        return f"before chapter 1{title}"
    return f"chapter {passage.chapter}{title}, scene {passage.scene}"


def pieces_of(text: str, words: "list[str]") -> "list[Piece]":
    """Return `text` with the words of the question made to stand out."""
    from lrwr.cli.stream import Styled
    from lrwr.core.retrieval.evidence import highlights

    return [
        Styled(piece, "strong") if hit else piece
        for piece, hit in highlights(text, words)
    ]


def as_json(passage: "Passage") -> dict[str, object]:
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
