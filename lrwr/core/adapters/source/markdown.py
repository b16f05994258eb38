"""Layout of Markdown files, parsed by CommonMark: front matter, headings, scene breaks
and comments.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from typing import TYPE_CHECKING

import yaml
from markdown_it import MarkdownIt

from lrwr.core.adapters.source.layout import (
    MAX_HEADING_CHARS,
    DocumentLayout,
    Heading,
    HeadingKind,
    find_scene_breaks,
    find_unmarked_headings,
    parse_heading,
    trim_prose_span,
)
from lrwr.core.adapters.source.text import (
    check_merge_markers,
    decode_text,
    find_text_blocks,
)
from lrwr.core.model.text import LineIndex, Span

if TYPE_CHECKING:
    from markdown_it.token import Token

FRONT_MATTER_LIMIT = 65_536
"""Characters of the longest front matter that lrwr reads."""
_MAX_NESTING = 20


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a front matter by lower-case name, with values as written.

    `end` is the offset in characters where the text after the front matter begins, 0 if
    there is none. `warnings` are sentences about what cannot be read. `scene_files` are
    the files of Longform's index, see `parse_longform_index`.
    """

    end: int = 0
    fields: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    scene_files: tuple[str, ...] | None = None


def parse_front_matter(text: str) -> FrontMatter:
    """Parse the YAML between `---` lines at the top of `text`; no fields if there is
    none.

    A text that opens with a scene break and continues with prose has no front matter.
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
    values, warning = _load_values(block)
    fields = {
        name.strip().lower(): value.strip()
        for name, value in values.items()
        if isinstance(name, str) and isinstance(value, str)
    }
    scene_files = parse_longform_index(values.get("longform"))
    warnings = (warning,) if warning else ()
    return FrontMatter(closed.end(), fields, warnings, scene_files)


def _looks_like_fields(block: str) -> bool:
    lines = (line for line in block.split("\n", 200)[:200] if line.strip())
    first = next((line for line in lines if not line.startswith("#")), "")
    return (
        not first
        or re.match(r"[\"']?\w[\w .-]{0,60}[\"']?\s*:(?:\s|$)", first) is not None
    )


def _load_values(block: str) -> tuple[dict[object, object], str]:
    """Return texts, lists and maps by name, and a warning; one of the two is empty."""
    if len(block) > FRONT_MATTER_LIMIT:
        return {}, "The front matter is too long; its fields are ignored."
    try:
        loaded = yaml.load(block, Loader=_plain_loader())
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, "The front matter is not valid YAML; its fields are ignored."
    return loaded if isinstance(loaded, dict) else {}, ""


def parse_longform_index(longform: object) -> tuple[str, ...] | None:
    """Return the scene files of a project of Longform, a plug-in of Obsidian, in story
    order; None if `longform` is no index of scenes.

    `longform` is the value of that name in an index note's front matter. Paths are
    relative to the folder of the note. Nested lists, which indent scenes, are
    flattened.
    """
    if not isinstance(longform, dict) or longform.get("format") != "scenes":
        return None
    scenes, folder = longform.get("scenes", []), longform.get("sceneFolder", "")
    if not isinstance(scenes, list):
        return None
    folder = folder.strip("/") if isinstance(folder, str) else ""
    return tuple(
        normpath(f"{folder or '.'}/{name}.md")
        for name in _flatten(scenes)
        if name.strip("/. ")
    )


def _flatten(scenes: list[object]) -> Iterator[str]:
    for scene in scenes:
        if isinstance(scene, list):  # the loader limits the depth
            yield from _flatten(scene)
        elif isinstance(scene, str):
            yield scene


def _plain_loader() -> type[yaml.BaseLoader]:
    """Return a YAML loader for texts, lists and maps only.

    It rejects aliases and deep nesting.
    """

    class PlainLoader(yaml.BaseLoader):
        depth = 0

        def compose_node(
            self, parent: yaml.Node | None, index: int
        ) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not supported")
            self.depth += 1
            if self.depth > _MAX_NESTING:
                raise yaml.YAMLError("nested too deeply")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return PlainLoader


_SETEXT_LIMIT = 80
"""Characters of the longest heading with an underline; longer ones are prose."""

_MAX_UNCLOSED_WARNINGS = 3


def parse_markdown(content: bytes, name: str) -> DocumentLayout:
    """Parse the bytes of a Markdown file; `name` is its name in error messages.

    The text of the layout is the whole decoded file.

    Raises:
        UnreadableDocument: The bytes are not text, or have git conflict markers.
    """
    text, warnings = decode_text(content, name)
    check_merge_markers(text, name)
    front = parse_front_matter(text)
    lines = LineIndex.of(text)
    notes, unclosed = _find_comments(text, front.end)
    page = _MarkdownPage(text, lines, front.end, notes)
    headings, breaks = page.headings(), page.breaks()
    if not headings:
        headings = page.unmarked_headings()
    return DocumentLayout(
        text=text,
        lines=lines,
        body=Span(front.end, len(text)),
        headings=headings,
        breaks=breaks,
        notes=notes,
        fields=front.fields,
        scene_files=front.scene_files,
        warnings=(
            *warnings,
            *front.warnings,
            *(_unclosed_warning(lines, at) for at in unclosed[:_MAX_UNCLOSED_WARNINGS]),
        ),
    )


def _unclosed_warning(lines: LineIndex, at: int) -> str:
    return f"A comment opened on line {lines.line_of(at)} is never closed, so it is read as prose."


_MARKS = re.compile(
    r"(?P<html><!--)|(?P<percent>%%)"
    r"|^(?P<fence>[ ]{0,3}(?P<ticks>`{3,}|~{3,})[^`\n]*\n)",
    re.M,
)
_LONE_TILDES = re.compile(r"(?<=\n\n)[ ]{0,3}~{3,}[ \t]*(?=\n\n|\n*\Z)")
"""A scene break that CommonMark would read as the start of a code block."""


def _find_comments(text: str, start: int) -> tuple[tuple[Span, ...], list[int]]:
    """Return the spans of `<!-- … -->` and `%%…%%` outside code, and the offsets of
    unclosed ones.
    """
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
    """Return the offset after the closing `-->`.

    The last one of the text is at `last`.
    """
    return text.find("-->", opened.end()) + 3 if opened.end() <= last else None


def _percent_end(text: str, opened: re.Match[str]) -> int | None:
    """Return the offset after the closing `%%`; None if there is none.

    A comment may contain an empty line only if it opens at the start of a line.
    """
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
    """A Markdown text whose front matter and comments are blanked, with the same lines."""

    def __init__(
        self, text: str, lines: LineIndex, start: int, notes: Sequence[Span]
    ) -> None:
        self._text = text
        self._starts = lines.starts
        self._bare = "".join(_blank_out(text, start, notes))
        self._bare_starts = (
            LineIndex.of(self._bare).starts if notes or start else lines.starts
        )
        self._tokens = self._parse()

    def headings(self) -> tuple[Heading, ...]:
        """Return every non-empty heading that CommonMark finds at the top level."""
        return tuple(
            Heading(
                self._lines_span(token), int(token.tag[1]), _strip_marks(inline.content)
            )
            for token, inline in self._heading_tokens()
            if _has_words(inline) and not _is_prose_over_dashes(token, inline)
        )

    def breaks(self) -> tuple[Span, ...]:
        """Return every scene break, those of CommonMark and those that writers use."""
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

    def unmarked_headings(self) -> tuple[Heading, ...]:
        """Return headings that only their words mark.

        For a text without other headings.
        """
        found_headings = find_unmarked_headings(find_text_blocks(self._bare))
        return tuple(
            Heading(
                self._row_span(self._row(h.span.start), self._row(h.span.end - 1) + 1),
                h.level,
                h.title,
            )
            for h in found_headings
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
            if token.type != "heading_open" or token.level:
                continue
            inline = self._tokens[at + 1]
            if len(inline.content) <= MAX_HEADING_CHARS:
                yield token, inline

    def _lines_span(self, token: "Token") -> Span:
        return self._row_span(*(token.map or (0, 0)))

    def _row_span(self, first: int, end: int) -> Span:
        last = self._starts[end] if end < len(self._starts) else len(self._text)
        return trim_prose_span(self._text, self._starts[first], last)


def _blank_out(text: str, start: int, notes: Sequence[Span]) -> Iterator[str]:
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
    """Return whether `---` right below a paragraph is a scene break, not a heading's
    underline.
    """
    title = inline.content.strip()
    if (
        not title
        or token.markup != "-"
        or parse_heading(title).kind is not HeadingKind.OTHER
    ):
        return False
    return "\n" in title or len(title) > _SETEXT_LIMIT or title[-1] in ".!?…,;:\"'”’*_"


def _strip_marks(title: str) -> str:
    title = re.sub(r"\s*\{[#.][^{}]*\}$", "", " ".join(title.split()))
    title = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]", r"\1", title)
    return re.sub(r"(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1", r"\2", title)
