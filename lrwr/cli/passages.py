"""How a passage is shown and told: its place, its words, its JSON."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.cli.stream import Piece
    from lrwr.core.model.search import Passage


def chapter_of(passage: "Passage") -> str:
    """Return the passage's place in the story, in words; its type outside of it."""
    from lrwr.wording.places import told_in

    return told_in(passage.type, passage.chapter, passage.chapter_title, passage.scene)


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
