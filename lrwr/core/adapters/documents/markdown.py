"""Blocks as Markdown."""

import re
from collections.abc import Iterable

from lrwr.core.model.documents import Block, BlockKind

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&])")
_AT_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def render_blocks_as_markdown(blocks: Iterable[Block]) -> str:
    """Return `blocks` as a Markdown text; nothing in them counts as markup."""
    lines: list[str] = []
    before: BlockKind | None = None
    for block in blocks:
        together = block.kind in (BlockKind.ITEM, BlockKind.QUOTE)
        if lines and not (together and before in (BlockKind.ITEM, BlockKind.QUOTE)):
            lines.append("")
        lines.append(_line(block))
        before = block.kind
    return "\n".join(lines) + "\n"


def _line(block: Block) -> str:
    text = _plain(block.text)
    match block.kind:
        case BlockKind.HEADING:
            return f"{'#' * max(1, block.level)} {text}"
        case BlockKind.ITEM:
            lead = _plain(block.lead)
            return f"- **{lead}**: {text}" if lead else f"- {text}"
        case BlockKind.QUOTE:
            place = f"*{_plain(block.place)}*" if block.place else ""
            return f"  - {f'“{text}” ' if text else ''}{place}".rstrip()
        case _:
            return text


def _plain(text: str) -> str:
    one_line = " ".join(text.split())
    escaped = _MARKUP.sub(r"\\\1", one_line)
    return _AT_START.sub(lambda m: f"{m[1]}{_stopped(m[2])}", escaped)


def _stopped(mark: str) -> str:
    """Return what would begin a list so that it does not."""
    return f"{mark[:-1]}\\{mark[-1]}"
