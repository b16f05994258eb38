"""Markdown: headings, scene breaks, front matter and comments, by CommonMark."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml
from markdown_it import MarkdownIt

from lrwr.core.adapters.source.layout import (
    DocumentLayout,
    Heading,
    HeadingKind,
    find_scene_breaks,
    find_unmarked_headings,
    parse_heading,
    trim_prose_span,
)
from lrwr.core.adapters.source.text import decode_text, find_text_blocks
from lrwr.core.model.text import LineIndex, Span

if TYPE_CHECKING:
    from markdown_it.token import Token

FRONT_MATTER_LIMIT = 65_536
"""The longest front matter that is read, in characters."""
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Fields by lower-case name, values as written; `end` is where prose begins."""

    end: int = 0
    fields: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def parse_front_matter(text: str) -> FrontMatter:
    """Read the YAML at the top of `text`, if there is any.

    A text that opens with a scene break and goes on in prose has none.
    """
    opened = re.match(r"---[ \t]*\n", text)
    if not opened:
        return FrontMatter()
    closed = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.M).search(
        text, opened.end()
    )
    if not closed:
        return FrontMatter()
    block = text[opened.end() : closed.start()]
    if not _looks_like_fields(block):
        return FrontMatter()
    fields, warning = _fields(block)
    return FrontMatter(closed.end(), fields, (warning,) if warning else ())


def _looks_like_fields(block: str) -> bool:
    lines = (line for line in block.split("\n", 200)[:200] if line.strip())
    first = next((line for line in lines if not line.startswith("#")), "")
    return (
        not first
        or re.match(r"[\"']?\w[\w .-]{0,60}[\"']?\s*:(?:\s|$)", first) is not None
    )


def _fields(block: str) -> tuple[dict[str, str], str]:
    if len(block) > FRONT_MATTER_LIMIT:
        return {}, "The front matter is too long to be read; its fields are ignored."
    try:
        loaded = yaml.load(block, Loader=_plain_loader())
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, "The front matter is not valid YAML; its fields are ignored."
    if not isinstance(loaded, dict):
        return {}, ""
    return {
        name.strip().lower(): value.strip()
        for name, value in loaded.items()
        if isinstance(name, str) and isinstance(value, str)
    }, ""


def _plain_loader() -> type[yaml.BaseLoader]:
    """Return a loader that makes strings, lists and maps, and refuses aliases."""

    class PlainLoader(yaml.BaseLoader):
        depth = 0

        def compose_node(
            self, parent: yaml.Node | None, index: int
        ) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not read")
            self.depth += 1
            if self.depth > _DEEPEST:
                raise yaml.YAMLError("nested too deep")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return PlainLoader


_SETEXT_LIMIT = 80
_TOLD = 3


def parse_markdown(content: bytes, name: str) -> DocumentLayout:
    """Read a `.md` file; the canonical text is the whole file as decoded.

    Raises:
        UnreadableDocument: The bytes are no text.
    """
    text, warnings = decode_text(content, name)
    front = parse_front_matter(text)
    lines = LineIndex.of(text)
    notes, unclosed = _comments(text, front.end)
    page = _MarkdownPage(text, lines, front.end, notes)
    headings, breaks = page.headings(), page.breaks()
    if not headings:
        headings = page.spoken_headings()
    return DocumentLayout(
        text=text,
        lines=lines,
        body=Span(front.end, len(text)),
        headings=headings,
        breaks=breaks,
        notes=notes,
        fields=front.fields,
        warnings=(
            *warnings,
            *front.warnings,
            *(_unclosed(lines, at) for at in unclosed[:_TOLD]),
        ),
    )


def _unclosed(lines: LineIndex, at: int) -> str:
    return f"A comment opened in line {lines.line_of(at)} is never closed; it is read as prose."


_MARKS = re.compile(
    r"(?P<html><!--)|(?P<percent>%%)"
    r"|^(?P<fence>[ ]{0,3}(?P<ticks>`{3,}|~{3,})[^`\n]*\n)",
    re.M,
)
_LONE_TILDES = re.compile(r"(?<=\n\n)[ ]{0,3}~{3,}[ \t]*(?=\n\n|\n*\Z)")
"""A scene break that CommonMark would take for the start of a code block."""


def _comments(text: str, start: int) -> tuple[tuple[Span, ...], list[int]]:
    """Find `<!-- … -->` and `%%…%%` outside code, and those that nothing closes."""
    notes: list[Span] = []
    unclosed: list[int] = []
    if "%%" not in text and "<!--" not in text:
        return (), unclosed
    at, last = start, text.rfind("-->")
    while match := _MARKS.search(text, at):
        if match["fence"]:
            at = _fence_end(text, match)
            continue
        is_html = match["html"] is not None
        end = _html_end(text, match, last) if is_html else _percent_end(text, match)
        if end is None:
            unclosed.append(match.start())
            at = match.end()
        else:
            notes.append(Span(match.start(), end))
            at = end
    return tuple(notes), unclosed


def _fence_end(text: str, opened: re.Match[str]) -> int:
    if _LONE_TILDES.match(text, opened.start()):
        return opened.end() - 1
    ticks = opened["ticks"]
    closing = re.compile(rf"^[ ]{{0,3}}{ticks}{ticks[0]}*[ \t]*$", re.M)
    closed = closing.search(text, opened.end())
    return closed.end() if closed else opened.end() - 1


def _html_end(text: str, opened: re.Match[str], last: int) -> int | None:
    """Find the closing `-->`, the last of which is at `last`."""
    return text.find("-->", opened.end()) + 3 if opened.end() <= last else None


def _percent_end(text: str, opened: re.Match[str]) -> int | None:
    """Find the closing `%%`; past an empty line only for one that opens its line."""
    closed = text.find("%%", opened.end())
    if closed < 0:
        return None
    before = opened.start() - 1
    while before >= 0 and text[before] in " \t":
        before -= 1
    inline = before >= 0 and text[before] != "\n"
    if inline and re.search(r"\n[ \t]*\n", text[opened.end() : closed]):
        return None
    return closed + 2


class _MarkdownPage:
    """A Markdown text with front matter and comments blanked, line by line the same."""

    def __init__(
        self, text: str, lines: LineIndex, start: int, notes: Sequence[Span]
    ) -> None:
        self._text = text
        self._starts = lines.starts
        self._bare = "".join(_blanked(text, start, notes))
        self._bare_starts = (
            LineIndex.of(self._bare).starts if notes or start else lines.starts
        )
        self._tokens = self._parse()

    def headings(self) -> tuple[Heading, ...]:
        """Return every heading with words that CommonMark sees at the top level."""
        return tuple(
            Heading(self._lines_span(token), int(token.tag[1]), _plain(inline.content))
            for token, inline in self._heading_tokens()
            if _has_words(inline) and not _is_prose_over_dashes(token, inline)
        )

    def breaks(self) -> tuple[Span, ...]:
        """Return every scene break: CommonMark's, and those that writers use."""
        rows = {
            bisect_right(self._bare_starts, at) - 1
            for at in find_scene_breaks(self._bare)
        }
        for token in self._tokens:
            if token.type == "fence" and token.map:
                rows -= set(range(*token.map))
        for token, inline in self._heading_tokens():
            first, end = token.map or (0, 0)
            if _is_prose_over_dashes(token, inline):
                end -= 1
            if _has_words(inline):
                rows -= set(range(first, end))
        return tuple(self._row_span(row, row + 1) for row in sorted(rows))

    def spoken_headings(self) -> tuple[Heading, ...]:
        """Return headings that only their words mark; for a text with no others."""
        unmarked_headings = find_unmarked_headings(find_text_blocks(self._bare))
        return tuple(
            Heading(
                self._row_span(self._row(h.span.start), self._row(h.span.end - 1) + 1),
                h.level,
                h.title,
            )
            for h in unmarked_headings
        )

    def _row(self, at: int) -> int:
        return bisect_right(self._bare_starts, at) - 1

    def _parse(self) -> "list[Token]":
        page = self._bare
        if "~~~" in page:
            page = _LONE_TILDES.sub("***", page)
        parser = MarkdownIt("commonmark").disable(["inline", "reference"])
        return parser.parse(page)

    def _heading_tokens(self) -> "Iterator[tuple[Token, Token]]":
        for at, token in enumerate(self._tokens):
            if token.type == "heading_open" and token.level == 0:
                yield token, self._tokens[at + 1]

    def _lines_span(self, token: "Token") -> Span:
        return self._row_span(*(token.map or (0, 0)))

    def _row_span(self, first: int, end: int) -> Span:
        last = self._starts[end] if end < len(self._starts) else len(self._text)
        return trim_prose_span(self._text, self._starts[first], last)


def _blanked(text: str, start: int, notes: Sequence[Span]) -> Iterator[str]:
    yield "\n" * text.count("\n", 0, start)
    at = start
    for note in notes:
        yield text[at : note.start]
        yield "\n" * text.count("\n", note.start, note.end)
        at = note.end
    yield text[at:]


def _has_words(inline: "Token") -> bool:
    return not set(inline.content) <= set("# \t")


def _is_prose_over_dashes(token: "Token", inline: "Token") -> bool:
    """Say whether `---` right under a paragraph was meant as a scene break."""
    title = inline.content.strip()
    if (
        not title
        or token.markup != "-"
        or parse_heading(title).kind is not HeadingKind.OTHER
    ):
        return False
    return "\n" in title or len(title) > _SETEXT_LIMIT or title[-1] in ".!?…,;:\"'”’*_"


def _plain(title: str) -> str:
    title = re.sub(r"\s*\{[#.][^{}]*\}$", "", " ".join(title.split()))
    title = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]", r"\1", title)
    return re.sub(r"(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1", r"\2", title)
