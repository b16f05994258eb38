"""Checks that every chunk matches its characters and lines in the file on disk."""

import json
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.library import (
    Bench,
    Library,
    manuscript_library,
    novels_library,
    open_database,
    tales_library,
)
from bench.report import Line

PART = "spans"


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the library stores it.

    `start` and `end` are its offsets in characters, half-open; `first` and `last` are
    its lines from 1, both included, in a `.docx` paragraphs.
    """

    text: str
    start: int
    end: int
    first: int
    last: int


def measure(bench: Bench) -> list[Line]:
    libraries = [manuscript_library(bench), novels_library(bench), tales_library(bench)]
    return [line for library in libraries if library for line in check_library(library)]


def check_library(library: Library) -> list[Line]:
    counts, wrong = check_chunks(library)
    name, total = library.root.name, counts["chunks"]
    note = f"first wrong: {wrong[0]}" if wrong else ""
    return [
        Line(PART, f"{name}: chunks checked", total,
             note=f"{counts['on disk']:,} against the file on disk"),
        Line(PART, f"{name}: text at span is the chunk",
             100 * (total - counts["wrong text"]) / total, "%", 100, ">=", note),
        Line(PART, f"{name}: lines are right",
             100 * (total - counts["wrong lines"]) / total, "%", 100, ">=", note),
    ]  # fmt: skip


def check_chunks(library: Library) -> tuple[Counter[str], list[str]]:
    """Compare every chunk of `library` with its file.

    A chunk of a `.docx` is compared with the stored text. Return counts by name
    ("chunks", "on disk", "wrong text", "wrong lines"), and the location of each wrong
    chunk.
    """
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for document, paragraphs, text, chunks in _documents(library.database):
        path = library.root / document
        plain = path.suffix.lower() != ".docx"
        source = decode_file(path) if plain else text
        starts, numbers = json.loads(paragraphs) if paragraphs else ([], [])
        for chunk in chunks:
            counts["chunks"] += 1
            counts["on disk"] += plain
            if not chunk.text or source[chunk.start : chunk.end] != chunk.text:
                counts["wrong text"] += 1
                wrong.append(f"{document}[{chunk.start}:{chunk.end}]")
            if plain:
                there = _lines_in(source, chunk)
            else:
                there = _paragraphs_in(starts, numbers, chunk)
            if there != (chunk.first, chunk.last):
                counts["wrong lines"] += 1
                wrong.append(f"{document}:{chunk.first}-{chunk.last}, not {there}")
    return counts, wrong


def decode_file(path: Path) -> str:
    """Return the text of a plain file, decoded without lrwr's own code.

    UTF-8 is tried, then Windows-1252, then Latin-1. The byte-order mark is removed,
    line ends become LF, characters are composed (NFC).
    """
    content = path.read_bytes()
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        text = content.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def _lines_in(text: str, chunk: StoredChunk) -> tuple[int, int]:
    return (
        text.count("\n", 0, chunk.start) + 1,
        text.count("\n", 0, chunk.end - 1) + 1,
    )


def _paragraphs_in(
    starts: list[int], numbers: list[int], chunk: StoredChunk
) -> tuple[int, int]:
    first = bisect_right(starts, chunk.start) - 1
    last = bisect_right(starts, chunk.end - 1) - 1
    return numbers[first], numbers[last]


def _documents(
    database: Path,
) -> Iterator[tuple[str, str, str, list[StoredChunk]]]:
    with open_database(database) as connection:
        found = connection.execute("select id, paragraphs, text from document")
        for document, paragraphs, text in found:
            rows = connection.execute(
                "select text, char_start, char_end, line_first, line_last"
                " from chunk where document_id = ? order by ordinal",
                (document,),
            )
            yield document, paragraphs, text, [StoredChunk(*row) for row in rows]
