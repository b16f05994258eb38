"""Renders blocks of text as Markdown or Word files, which lrwr writes for the user."""

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lrwr.core.model.documents import Block, BlockKind

if TYPE_CHECKING:
    from docx.document import Document

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&])")
_LISTED = (BlockKind.ITEM, BlockKind.QUOTE, BlockKind.CONTENTS)
_LIST_MARK_AT_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def render_blocks_as_markdown(blocks: Iterable[Block]) -> str:
    """Return `blocks` as Markdown, in their order; special characters in texts are
    escaped.
    """
    lines: list[str] = []
    before: BlockKind | None = None
    for block in blocks:
        if lines and not (block.kind in _LISTED and before in _LISTED):
            lines.append("")
        lines.append(_render_block_line(block))
        before = block.kind
    return "\n".join(lines) + "\n"


def _render_block_line(block: Block) -> str:
    text = _escape_markdown(block.text)
    match block.kind:
        case BlockKind.HEADING:
            return f"{'#' * max(1, block.level)} {text}"
        case BlockKind.ITEM:
            lead = _escape_markdown(block.lead)
            return f"- **{lead}**: {text}" if lead else f"- {text}"
        case BlockKind.CONTENTS:
            anchor = "-".join(re.findall(r"\w+", block.text.lower()))
            return f"- [{text}](#{anchor})"
        case BlockKind.QUOTE:
            place = f"*{_escape_markdown(block.place)}*" if block.place else ""
            return f"  - {f'“{text}” ' if text else ''}{place}".rstrip()
        case _:
            return text


def _escape_markdown(text: str) -> str:
    one_line = " ".join(text.split())
    escaped = _MARKUP.sub(r"\\\1", one_line)
    return _LIST_MARK_AT_START.sub(
        lambda m: f"{m[1]}{_escape_list_mark(m[2])}", escaped
    )


def _escape_list_mark(mark: str) -> str:
    return f"{mark[:-1]}\\{mark[-1]}"


_MAX_HEADING_LEVEL = 9
_NOT_XML = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_blocks_as_docx(blocks: Iterable[Block]) -> bytes:
    """Return the bytes of a `.docx` file with `blocks`, in their order.

    Characters that XML does not allow are dropped.
    """
    # Imported here: python-docx takes a tenth of a second, and Markdown needs none.
    import docx

    document = docx.Document()
    for block in blocks:
        _add_block(document, block)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _add_block(document: "Document", block: Block) -> None:
    text = _clean_for_xml(block.text)
    match block.kind:
        case BlockKind.HEADING:
            document.add_heading(
                text, level=min(max(1, block.level), _MAX_HEADING_LEVEL)
            )
        case BlockKind.ITEM:
            paragraph = document.add_paragraph(style="List Bullet")
            if block.lead:
                paragraph.add_run(_clean_for_xml(block.lead)).bold = True
                paragraph.add_run(": ")
            paragraph.add_run(text)
        case BlockKind.CONTENTS:
            document.add_paragraph(text, style="List Bullet")
        case BlockKind.QUOTE:
            paragraph = document.add_paragraph(style="List Bullet 2")
            if text:
                paragraph.add_run(f"“{text}” ")
            paragraph.add_run(_clean_for_xml(block.place)).italic = True
        case _:
            document.add_paragraph(text)


def _clean_for_xml(text: str) -> str:
    return _NOT_XML.sub("", " ".join(text.split()))
