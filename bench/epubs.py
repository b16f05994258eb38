"""What becomes of e-books: how many open, why others do not, damaged ones, and CPU time.

Run with `python -m bench.epubs FOLDER [--mutants N] [--cfis FILE]`; the folder has `.epub`
files, such as those of w3c/epub-tests, IDPF/epub3-samples and readium/readium-test-files.
`--cfis` writes paragraphs with their CFIs as JSON, to be resolved by another program.
"""

import argparse
import json
import random
import time
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path

from lrwr.core.adapters.source.epub import read_epub
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import UnreadableDocument


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--cfis", type=Path)
    options = parser.parse_args()
    files = sorted(options.folder.rglob("*.epub"))
    open_all(files)
    if options.mutants:
        mutate(files, options.mutants)
    if options.cfis:
        write_cfis(files, options.cfis)


def open_all(files: list[Path]) -> None:
    outcomes: Counter[str] = Counter()
    words = seconds = 0.0
    for file in files:
        content = file.read_bytes()
        began = time.process_time()
        try:
            document = parse_document(DocumentId(file.name), content)
        except UnreadableDocument as error:
            outcomes[str(error).replace(file.name, "BOOK")] += 1
            print(f"refused  {file.name}: {error}")
            continue
        seconds += time.process_time() - began
        words += document.words
        outcomes["opened"] += 1
        if document.warnings:
            print(f"warned   {file.name}: {document.warnings[0]}")
    print(f"{len(files)} books:")
    for outcome, count in outcomes.most_common():
        print(f"  {count:5} {outcome}")
    rate = 1e6 * seconds / max(1, words)
    print(
        f"{words:,.0f} words, {seconds:.1f} CPU s, {rate:.2f} CPU s per million words"
    )


def mutate(files: list[Path], count: int) -> None:
    """Open damaged books; anything but an answer or `UnreadableDocument` ends the run."""
    small = [file for file in files if file.stat().st_size < 400_000]
    chance, outcomes = random.Random(26), Counter[str]()
    began = time.process_time()
    slowest = 0.0
    for _ in range(count):
        content = damage(chance.choice(small).read_bytes(), chance)
        started = time.process_time()
        try:
            parse_document(DocumentId("book.epub"), content)
            outcomes["opened"] += 1
        except UnreadableDocument as error:
            outcomes[str(error).split(":")[0]] += 1
        slowest = max(slowest, time.process_time() - started)
    print(
        f"{count} mutants, {time.process_time() - began:.0f} CPU s, slowest {slowest:.2f}"
    )
    for outcome, number in outcomes.most_common():
        print(f"  {number:5} {outcome}")


def damage(content: bytes, chance: random.Random) -> bytes:
    """Return a book with bytes changed: in the zip file, or in the files inside it."""
    kind = chance.randrange(4)
    if kind == 0:
        return content[: chance.randrange(len(content))]
    if kind == 1:
        return spoil(content, chance)
    packed = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(content)) as archive,
        zipfile.ZipFile(packed, "w") as copy,
    ):
        for info in archive.infolist():
            part = archive.read(info)
            is_text = not info.filename.endswith((".jpg", ".png", ".mp3", ".mp4"))
            if is_text and part and chance.random() < 0.5:
                part = spoil(part, chance) if kind == 2 else shuffle_tags(part, chance)
            if chance.random() > 0.03:
                copy.writestr(info.filename, part)
    return packed.getvalue()


def spoil(content: bytes, chance: random.Random) -> bytes:
    spoiled = bytearray(content)
    for _ in range(chance.choice((1, 3, 20, 200))):
        spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
    return bytes(spoiled)


def shuffle_tags(content: bytes, chance: random.Random) -> bytes:
    pieces = content.split(b"<")
    for _ in range(chance.choice((1, 3, 10))):
        at, other = (chance.randrange(len(pieces)) for _ in range(2))
        pieces[at] = pieces[other]
    return b"<".join(pieces)


def write_cfis(files: list[Path], target: Path, most: int = 5_400) -> None:
    """Write the path of each book with up to 60 of its paragraphs and their CFIs."""
    chance, books, count = random.Random(26), [], 0
    for file in files:
        try:
            book = read_epub(file.read_bytes(), file.name)
        except UnreadableDocument:
            continue
        story = book.outline.paragraphs[: book.outline.length]
        chosen = chance.sample(story, min(60, len(story)))
        texts = [book.layout.text[p.span.start : p.span.end] for p in chosen]
        books.append(
            {
                "file": str(file),
                "paragraphs": [
                    [p.cfi, p.kind, text] for p, text in zip(chosen, texts, strict=True)
                ],
            }
        )
        count += len(chosen)
        if count >= most:
            break
    target.write_text(json.dumps(books), encoding="utf-8")
    print(f"{count} CFIs of {len(books)} books written")


if __name__ == "__main__":
    main()
