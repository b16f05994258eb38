"""Gives the parsers damaged and invented files: python -m bench.fuzz [--inputs 10000].

Every input must give a document with exact spans, or one message why it cannot be read.
Anything else is a failure, counted and printed.
"""

import argparse
import io
import json
import random
import sys
import time
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lrwr.core.adapters.embed.local import LocalEmbedder
from lrwr.core.adapters.source.parser import ManuscriptParser
from lrwr.core.model.documents import Document, DocumentId
from lrwr.core.model.errors import UnreadableDocument
from lrwr.pipeline.stages.recursive_splitter import split_recursively

SAMPLE = Path(__file__).parent.parent / "examples" / "marsh-lantern"
SNIPPETS = (
    "# ", "## ", "---\n", "***\n\n", "%%", "<!--", "-->", "```", "\n\n", "\r\n", "\r",
    "[[", "]]", "|", "> ", "- ", "1. ", "\t", "    ", "\x0c", "\u2028", "\u00ad",
    "\u202e", "\ufeff", "e\u0301", "Å", "ﬁ", "🐸", "漢字", "“", "”", "…", "CHAPTER IV.\n\n",
    "Chapter Two: ", "type: scene\n", "order: 1e309\n", "pov: &a [*a]\n", "\\", "_", "*",
)  # fmt: skip
SIZE, OVERLAP = 64, 16


def inputs(count: int, dice: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of `count` damaged files.

    Two thirds are text, one third Word. `dice` is the source of randomness.
    """
    texts = [path.read_bytes() for path in sorted(SAMPLE.rglob("*.md"))]
    words = [path.read_bytes() for path in sorted(SAMPLE.rglob("*.docx"))]
    for number in range(count):
        kind = number % 3
        if kind == 2:
            maker = (damage_bytes, damage_word_part)[dice.randrange(2)]
            yield f"{number}.docx", maker(dice.choice(words), dice)
            continue
        whole = dice.choice(texts)
        start = dice.randrange(len(whole))
        part = whole[start : start + dice.randrange(1, 6_000)]
        maker = (damage_bytes, insert_markup)[dice.randrange(2)]
        yield f"{number}.{('md', 'txt')[kind]}", maker(part, dice)


def damage_bytes(content: bytes, dice: random.Random) -> bytes:
    """Return `content` with bytes changed, deleted, repeated or inserted.

    `dice` chooses what and where.
    """
    raw = bytearray(content)
    for _ in range(dice.randrange(1, 12)):
        at = dice.randrange(len(raw)) if raw else 0
        match dice.randrange(4):
            case 0 if raw:
                raw[at] = dice.randrange(256)
            case 1:
                del raw[at : at + dice.randrange(1, 40)]
            case 2:
                raw[at:at] = raw[at : at + dice.randrange(1, 200)]
            case _:
                raw[at:at] = dice.randbytes(dice.randrange(1, 8))
    return bytes(raw)


def damage_word_part(content: bytes, dice: random.Random) -> bytes:
    """Return the Word file `content` with one of its XML parts damaged.

    It is packed again with valid checksums.
    """
    fresh = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(fresh, "w") as new,
    ):
        victim = dice.choice(
            [n for n in old.namelist() if n.endswith((".xml", ".rels"))]
        )
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, damage_bytes(part, dice) if name == victim else part)
    return fresh.getvalue()


def insert_markup(content: bytes, dice: random.Random) -> bytes:
    """Insert characters that mean something to parsers into a text in UTF-8.

    Return it in a random encoding.
    """
    text = content.decode("utf-8", "ignore")
    for _ in range(dice.randrange(1, 40)):
        at = dice.randrange(len(text) + 1)
        text = text[:at] + dice.choice(SNIPPETS) + text[at:]
    encoding = dice.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"))
    return text.encode(encoding, "replace")


def find_broken_promise(document: Document, count: LocalEmbedder) -> str:
    """Return the first property of a parsed `document` that does not hold, as a phrase.

    Empty if all hold. The document is split into chunks, too, whose spans, lines and
    sizes are checked; `count` counts their tokens.
    """
    if not unicodedata.is_normalized("NFC", document.text) or "\r" in document.text:
        return "the canonical text is not NFC with LF"
    chunks = split_recursively(document, count.count_tokens, size=SIZE, overlap=OVERLAP)
    for chunk in chunks:
        if document.text[chunk.span.start : chunk.span.end] != chunk.text:
            return f"the text at {chunk.span} is not the chunk's"
        if chunk.lines != document.lines.lines_of(chunk.span):
            return f"the lines of {chunk.span} are wrong"
        if chunk.tokens > SIZE and len(chunk.text) > 1:
            return f"{chunk.span} has {chunk.tokens} tokens"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print one JSON object, and return 0 if there was no failure, else 1.

    `arguments` are those of the command line; None reads them from there.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    parse, embedder = ManuscriptParser(), LocalEmbedder(None, threads=1)
    counter: Counter[str] = Counter()
    failures: list[str] = []
    began = time.process_time()
    for name, content in inputs(args.inputs, random.Random(args.seed)):
        try:
            wrong = find_broken_promise(parse(DocumentId(name), content), embedder)
            counter["read"] += 1
        except UnreadableDocument as error:
            counter["refused"] += 1
            wrong = "" if str(error) and error.hint else "a refusal without a hint"
        except Exception as error:  # noqa: BLE001 - what is looked for
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            failures.append(f"{name}: {wrong}")
    report = {
        "inputs": args.inputs,
        "seed": args.seed,
        **counter,
        "failures": failures[:20],
        "failed": len(failures),
        "cpu_seconds": round(time.process_time() - began, 1),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
