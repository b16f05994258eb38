"""Word files made on the spot, with the parts that python-docx does not write."""

import io
import zipfile
from collections.abc import Callable, Mapping

import docx
from docx.document import Document as WordDocument

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def word_file(write: Callable[[WordDocument], object]) -> bytes:
    document = docx.Document()
    write(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def paragraphs(*texts: str) -> bytes:
    return word_file(lambda d: [d.add_paragraph(text) for text in texts])


def changed(content: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """Return the zip with its parts changed in place."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    return zipped(parts)


def zipped(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_body(xml: str) -> bytes:
    """A Word file whose body is `xml`, with `w:` bound to Word's namespace."""

    def change(parts: dict[str, bytes]) -> None:
        parts["word/document.xml"] = (
            f'<w:document xmlns:w="{W}"><w:body>{xml}</w:body></w:document>'
        ).encode()

    return changed(paragraphs(), change)


def with_notes(content: bytes, kind: str, notes: Mapping[int, str]) -> bytes:
    """Add a part of footnotes or endnotes; `kind` is "footnote" or "endnote"."""

    def change(parts: dict[str, bytes]) -> None:
        inner = "".join(
            f'<w:{kind} w:id="{i}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{kind}>'
            for i, text in notes.items()
        )
        parts[f"word/{kind}s.xml"] = (
            f'<w:{kind}s xmlns:w="{W}"><w:{kind} w:type="separator" w:id="-1">'
            f"<w:p><w:r><w:t>no</w:t></w:r></w:p></w:{kind}>{inner}</w:{kind}s>"
        ).encode()
        _put(
            parts,
            "[Content_Types].xml",
            f'<Override PartName="/word/{kind}s.xml" '
            f'ContentType="{_TYPES}.{kind}s+xml"/></Types>',
        )
        _put(
            parts,
            "word/_rels/document.xml.rels",
            f'<Relationship Id="rIdX{kind}" Type="{_OFFICE}/{kind}s" '
            f'Target="{kind}s.xml"/></Relationships>',
        )

    return changed(content, change)


def _put(parts: dict[str, bytes], name: str, last: str) -> None:
    end = last[last.rindex("</") :].encode()
    assert end in parts[name]
    parts[name] = parts[name].replace(end, last.encode())
