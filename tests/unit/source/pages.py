"""What the tests of this folder share: documents made of text, and their promises."""

import re
import unicodedata

from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.documents import Chapter, Document, DocumentId
from lrwr.core.model.text import Span

BREAK = re.compile(
    r"(?:[*\\]+(?:\s*[*\\])*|(?:-\s*){3,}|[_#~⁂•·](?:\s*[_#~⁂•·])*|<hr\s*/?>)", re.I
)


def parse(text: str | bytes, name: str = "draft.md") -> Document:
    content = text.encode() if isinstance(text, str) else text
    return parse_document(DocumentId(name), content)


def scenes_of(chapter: Chapter, document: Document) -> list[list[str]]:
    return [[at(document, part) for part in scene.parts] for scene in chapter.scenes]


def at(document: Document, span: Span) -> str:
    return document.text[span.start : span.end]


def outline(document: Document) -> list[tuple[str, int | None, int | None]]:
    """Chapters as (title, volume, number); number 0 marks an opening."""
    return [
        (c.title, c.volume, 0 if c.opening else c.number) for c in document.chapters
    ]


def check_promises(document: Document, *, front: int = 0) -> None:
    """Every word is in one place: front matter, a note, a break or a scene part."""
    text = document.text
    assert unicodedata.is_normalized("NFC", text)
    assert "\r" not in text
    _check_order(document)
    owners = [0] * len(text)
    for span in [*document.notes, *_parts(document)]:
        assert 0 <= span.start <= span.end <= len(text)
        for i in range(span.start, span.end):
            owners[i] += 1
    assert max(owners, default=0) <= 1
    bare = list(text)
    for note in document.notes:
        bare[note.start : note.end] = " " * len(note)
    left = front
    for line in "".join(bare)[front:].split("\n"):
        lost = [
            i
            for i, letter in enumerate(line, start=left)
            if not letter.isspace() and not owners[i]
        ]
        assert not lost or BREAK.fullmatch(line.strip()), line
        left += len(line) + 1


def _check_order(document: Document) -> None:
    end = 0
    for chapter in document.chapters:
        assert chapter.scenes
        assert chapter.span.start >= end
        end = chapter.span.end
        inner = chapter.span.start
        for scene in chapter.scenes:
            assert scene.span.start >= inner
            assert chapter.span.holds(scene.span)
            inner = scene.span.end
            for before, after in zip(scene.parts, scene.parts[1:], strict=False):
                assert before.end <= after.start
            for part in scene.parts:
                words = at(document, part)
                assert words
                assert words == words.strip()
                assert scene.span.holds(part) or words.startswith("[note ")
    assert document.lines.starts[0] == 0
    assert list(document.lines.starts) == sorted(set(document.lines.starts))


def _parts(document: Document) -> list[Span]:
    return [p for c in document.chapters for s in c.scenes for p in s.parts]
