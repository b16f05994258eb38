"""Documents with chapters, scenes and comments, for what cuts them."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Chapter, Document, Scene
from lrwr.core.model.text import Span
from tests.fakes.records import a_document

NOTE = "[note] "

Scenes = list[list[str]]
"""Scenes as lists of parts; a part that begins with NOTE is the author's comment."""

words = st.one_of(
    st.sampled_from(
        ["frog", "Ness", "“Keeper,”", "and", "stop.", "Why?", "no…", "*so*"]
    ),
    st.text("abcdefgh", min_size=20, max_size=90),
    st.text("霧の中で灯をともす。", min_size=1, max_size=30),
    st.sampled_from(["é" * 15, "🐸🐸🐸", "a\u0301", "—"]),
)
lines = st.lists(words, min_size=1, max_size=25).map(" ".join)
gaps = st.sampled_from(["\n", "\n\n", "\n \n", "\n\n\n", "  \n\t\n ", " "])


@st.composite
def some_paragraphs(draw: st.DrawFn) -> str:
    text = draw(lines)
    for line in draw(st.lists(lines, max_size=5)):
        text += draw(gaps) + line
    return text


def document_of(told: Sequence[Scenes]) -> Document:
    """A document of these chapters, its scenes apart by a break."""
    text = "# Heading\n\n"
    chapters: list[Chapter] = []
    notes: list[Span] = []
    for chapter in told:
        begin, made = len(text), list[Scene]()
        for scene in chapter:
            start, inner = len(text), list[Span]()
            for part in scene:
                span = Span(len(text), len(text) + len(part))
                (notes if part.startswith(NOTE) else inner).append(span)
                text += part + "\n\n"
            made.append(Scene(Span(start, len(text)), tuple(inner)))
            text += "* * *\n\n"
        chapters.append(Chapter("", Span(begin, len(text)), tuple(made)))
    return replace(a_document(text=text), chapters=tuple(chapters), notes=tuple(notes))


def homes_of(document: Document) -> list[tuple[Span, tuple[int, int], ChunkKind]]:
    prose, notes = [], []
    for c, chapter in enumerate(document.chapters):
        for s, scene in enumerate(chapter.scenes):
            prose += [(part, (c, s), ChunkKind.PROSE) for part in scene.parts]
            lines = document.lines.lines_of(scene.span)
            notes += [
                (note, (c, s), ChunkKind.NOTE)
                for note in document.notes
                if lines.first <= document.lines.line_of(note.start) <= lines.last
            ]
    return prose + notes
