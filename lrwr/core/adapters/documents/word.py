"""Blocks as a Word document, with python-docx."""

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import docx

from lrwr.core.model.documents import Block, BlockKind

if TYPE_CHECKING:
    from docx.document import Document

_DEEPEST = 9
_NOT_XML = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_blocks_as_docx(blocks: Iterable[Block]) -> bytes:
    """Return `blocks` as a `.docx` file; characters that Word cannot hold are gone."""
    document = docx.Document()
    for block in blocks:
        _add(document, block)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _add(document: "Document", block: Block) -> None:
    text = _plain(block.text)
    match block.kind:
        case BlockKind.HEADING:
            document.add_heading(text, level=min(max(1, block.level), _DEEPEST))
        case BlockKind.ITEM:
            paragraph = document.add_paragraph(style="List Bullet")
            if block.lead:
                paragraph.add_run(_plain(block.lead)).bold = True
                paragraph.add_run(": ")
            paragraph.add_run(text)
        case BlockKind.QUOTE:
            paragraph = document.add_paragraph(style="List Bullet 2")
            if text:
                paragraph.add_run(f"“{text}” ")
            paragraph.add_run(_plain(block.place)).italic = True
        case _:
            document.add_paragraph(text)


def _plain(text: str) -> str:
    return _NOT_XML.sub("", " ".join(text.split()))
