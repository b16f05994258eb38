"""Generates bad inputs: everything odd that a manuscript folder may contain."""

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

GOOD_WORD = "quillfeather"
"""A word of every good chapter and of nothing else."""

GOOD = {
    f"chapter-{number}.md": f"# Chapter {number}\n\nThe {GOOD_WORD} {deed}.\n"
    for number, deed in enumerate(("woke", "rowed to the mill", "slept"), start=1)
}
"""The three good chapters, by file name."""

GROWING = "growing.md"
"""The file that is written to as long as lrwr runs."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MB = 1_000_000
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)
_BODY = (
    f'<w:document xmlns:w="{_W}"><w:body><w:p><w:r><w:t>The tide rose.</w:t></w:r>'
    "</w:p></w:body></w:document>"
)


@dataclass(frozen=True, slots=True)
class BadInput:
    """One kind of bad input: `name` describes it, `make` writes it to a folder."""

    name: str
    make: Callable[[Path], None]


def good_chapters(folder: Path) -> None:
    """Write three valid chapters into `folder`."""
    for name, text in GOOD.items():
        (folder / name).write_text(text, encoding="utf-8")


def _file(name: str, content: bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return make


def _files(contents: Mapping[str, str]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        for name, text in contents.items():
            (folder / name).write_text(text, encoding="utf-8")

    return make


def _word(name: str, document: str, extra: Mapping[str, bytes]) -> BadInput:
    """A Word file whose text is the XML `document`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/document.xml", document)
        for part, content in extra.items():
            archive.writestr(part, content)
    return BadInput(name, _file(f"{_plain(name)}.docx", out.getvalue()))


def _plain(name: str) -> str:
    return "-".join(name.replace(".", "").replace(",", "").lower().split()[:3])


def _entities() -> str:
    names = "abcdefghij"
    inner = "".join(
        f'<!ENTITY {one} "{f"&{before};" * 10}">' for before, one in pairwise(names)
    )
    bomb = f'<!DOCTYPE bomb [<!ENTITY a "tide">{inner}]>'
    return bomb + _BODY.replace("The tide rose.", "&j;")


def _large_text(folder: Path) -> None:
    line = b"The tide rose over the causeway, and nobody came.\n\n"
    (folder / "sixty-megabytes.txt").write_bytes(line * (60 * _MB // len(line) + 1))


def _long_line(folder: Path) -> None:
    words = b"the tide rose over the causeway and nobody came "
    (folder / "one-line.md").write_bytes(words * (10 * _MB // len(words) + 1))


def _mixed_encodings(folder: Path) -> None:
    lines = ["# The Café\n\nUne journée à la mer.\n\n", "Encore à l’été, à Orléans.\n"]
    mixed = lines[0].encode() + lines[1].encode("cp1252")
    (folder / "mixed.md").write_bytes(mixed)
    (folder / "windows.txt").write_bytes(lines[1].encode("cp1252"))


def _link_loops(folder: Path) -> None:
    inner = folder / "loop"
    inner.mkdir()
    (inner / "up").symlink_to(folder, target_is_directory=True)
    (inner / "itself.md").symlink_to(inner / "itself.md")
    (inner / "here.md").symlink_to(inner / "there.md")
    (inner / "there.md").symlink_to(inner / "here.md")


def _link_outside(folder: Path) -> None:
    secret = folder.parent / "outside.md"
    secret.write_text("# A diary\n\nNobody may read this.\n", encoding="utf-8")
    (folder / "diary.md").symlink_to(secret)


def _odd_names(folder: Path) -> None:
    text = "# Odd\n\nThe tide rose.\n"
    names = (
        "cafe\u0301 (NFD).md", "caf\u00e9 (NFC).md", "caf\u00e9 (NFD).md",
        "\U0001f438 emoji \U0001f469\u200d\U0001f680.md", "right\u202eto-left.md",
        "  spaces  at both ends .md", "-rf.md", "--help.md", "two\nlines.md",
        "zero\u200bwidth.md", "bell\a and \x1b[31mred.md", "[bold]markup[bold].md",
        "back\\slash.md", "\u05e9\u05dc\u05d5\u05dd.md", "q" * 250 + ".md",
    )  # fmt: skip
    for name in names:
        (folder / name).write_text(text + name, encoding="utf-8")
    with open(os.path.join(os.fsencode(folder), b"caf\xe9 latin.md"), "wb") as file:  # noqa: PTH118, PTH123 (a name in bytes)
        file.write(text.encode())


def _unreadable(folder: Path) -> None:
    file, inner = folder / "forbidden.md", folder / "forbidden"
    file.write_text("# Forbidden\n", encoding="utf-8")
    inner.mkdir()
    (inner / "inside.md").write_text("# Inside\n", encoding="utf-8")
    file.chmod(0)
    inner.chmod(0)


def _fifo(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")


def _front_matter(folder: Path) -> None:
    bad = {
        "not-yaml": "title: [unclosed",
        "aliases": "a: &a [x, x]\nb: *a",
        "wrong-values": "type: dragon\norder: soon\nchapter: many",
        "a-list": "tags: x\n- one\n- two",
    }
    for name, block in bad.items():
        text = f"---\n{block}\n---\n# {name}\n\nThe tide rose.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "unclosed.md").write_text("---\ntitle: Fog\n\nThe tide rose.\n")


def _growing(folder: Path) -> None:
    (folder / GROWING).write_bytes(b"# Fog\n\n" + b"And on it went. " * (2 * _MB))


def _folder_as_file(folder: Path) -> None:
    (folder / "a-folder.md").mkdir()


_TWICE = {
    "fog-1.md": "---\ntitle: Fog\n---\n# Fog\n\nIt came in.\n",
    "fog-2.md": "---\ntitle: Fog\n---\n# Fog\n\nIt went out.\n",
}


_MERGE = {"merge.md": "# Fog\n\n<<<<<<< a\nIt came.\n=======\nIt went.\n>>>>>>> b\n"}
_COPIED = {
    "bell.md": "# Bell\n\nThe bell rang in the fog.\n",
    "bell (1).md": "# Bell\n\nThe bell rang in the old fog.\n",
}


def bad_inputs() -> list[BadInput]:
    """Return every kind of bad input, in the order in which the table lists them."""
    locked = _OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    bomb = _BODY.replace("The tide rose.", " " * (150 * _MB))
    broken = f"PK\x03\x04{_BODY[:60]}".encode()
    return [
        BadInput("empty .md", _file("empty.md", b"")),
        BadInput("binary .md", _file("binary.md", bytes(range(256)) * 40)),
        BadInput("text with a NUL", _file("nul.md", b"# Fog\n\nIt ca\0me in.\n")),
        BadInput("broken .docx", _file("broken.docx", broken)),
        BadInput("empty .docx", _file("empty.docx", b"")),
        BadInput("encrypted .docx", _file("encrypted.docx", locked)),
        BadInput(".doc renamed to .docx", _file("old.docx", _OLE + bytes(2000))),
        BadInput("text renamed to .docx", _file("text.docx", b"The tide rose.\n")),
        _word("zip bomb .docx", bomb, {}),
        _word("picture bomb .docx", _BODY, {"word/media/a.png": bytes(250 * _MB)}),
        _word("XML entity bomb in .docx", _entities(), {}),
        BadInput("60 MB .txt", _large_text),
        BadInput("10 MB in a single line", _long_line),
        BadInput("mixed encodings", _mixed_encodings),
        BadInput(
            "UTF-16 without a mark",
            _file("utf16.md", "# Fog\n\nIt came in.\n".encode("utf-16-le")),
        ),
        BadInput("bad front matter", _front_matter),
        BadInput("git conflict markers", _files(_MERGE)),
        BadInput("a copy made by a sync program", _files(_COPIED)),
        BadInput("the same title in two files", _files(_TWICE)),
        BadInput("symlink loops", _link_loops),
        BadInput("symlink to a file outside", _link_outside),
        BadInput("odd names", _odd_names),
        BadInput("no permission to read", _unreadable),
        BadInput("a FIFO", _fifo),
        BadInput("a folder named .md", _folder_as_file),
        BadInput("a file that grows while it is read", _growing),
    ]
