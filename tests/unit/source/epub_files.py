"""Builds small EPUB files for tests."""

import io
import zipfile
from collections.abc import Mapping

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""

XHTML = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">
<head><title>{name}</title></head><body>{body}</body></html>"""

LANTERNS = {
    "one": "<h1>Chapter 1. Ebb</h1><p>Nell lit the lamp.</p><p>It was “late”.</p>",
    "two": "<h1>Chapter 2. Flood</h1><p>Mags drowned the lamp.</p>",
}
"""Bodies of a book of two chapters, by file."""


def build_epub(
    bodies: Mapping[str, str] = LANTERNS,
    *,
    nav: str | None = None,
    ncx: str | None = None,
    extra: Mapping[str, str | bytes] | None = None,
    doctype: str = "",
    title: str = "Lanterns",
) -> bytes:
    """Return the bytes of an EPUB file with one XHTML file for each of `bodies`.

    `nav` and `ncx` are the contents of the tables of contents of EPUB 3 and 2; without
    both there is none. `extra` are more files of the zip. `doctype` is written before
    the root element of each file. `title` is that of the book.
    """
    items = [
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in bodies
    ]
    files: dict[str, str | bytes] = {"META-INF/container.xml": CONTAINER}
    for name, body in bodies.items():
        text = XHTML.format(name=name, body=body)
        files[f"OPS/{name}.xhtml"] = text.replace("<html", f"{doctype}<html", 1)
    if nav is not None:
        items.append(
            '<item id="nav" href="nav.xhtml" properties="nav"'
            ' media-type="application/xhtml+xml"/>'
        )
        listed = f'<nav epub:type="toc"><ol>{nav}</ol></nav>'
        files["OPS/nav.xhtml"] = XHTML.format(name="nav", body=listed)
    if ncx is not None:
        items.append(
            '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        )
        files["OPS/toc.ncx"] = (
            '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">'
            f"<navMap>{ncx}</navMap></ncx>"
        )
    spine = "".join(f'<itemref idref="{name}"/>' for name in bodies)
    files["OPS/book.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"'
        ' unique-identifier="id"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title>"
        "<dc:creator>A. Writer</dc:creator><dc:language>en</dc:language>"
        '<dc:identifier id="id">urn:uuid:1</dc:identifier></metadata>'
        f"<manifest>{''.join(items)}</manifest>"
        f'<spine toc="ncx">{spine}</spine></package>'
    )
    return pack_files({**files, **(extra or {})})


def pack_files(files: Mapping[str, str | bytes]) -> bytes:
    """Return the bytes of a zip file with `files`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()
