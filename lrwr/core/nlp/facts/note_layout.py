"""Layout of notes: front matter, entries, labelled lines, aliases."""

import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.documents import Document, DocumentType
from lrwr.core.model.text import Span

_FRONT = re.compile(
    r"\A---[ \t]*\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.S | re.M
)
_FIELD = re.compile(r"^(?P<key>[A-Za-z][\w -]*):[ \t]*(?P<value>[^\n]*)$", re.M)
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>[^\n]+)\n?")
_HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+(?P<title>[^\n]+?)[ \t#]*$", re.M)
# Titles of notes with several subjects
_SEVERAL = re.compile(
    r"(?:the )?(?:main |minor |side |all |major |supporting )?(?:characters?|cast|people|"
    r"persons|dramatis personae|places?|settings?|locations?|factions?|world|lore|"
    r"artifacts?|artefacts?|objects|technology|glossary|notes|who's who)"
    r"(?: (?:list|notes|bible|sheet|of \w+(?: \w+)*))?",
    re.I,
)
_BOLD = re.compile(r"^[ \t]*(?:[-*][ \t]+)?\*\*(?P<title>[^*\n]+?)[.:]?\*\*[.:]?", re.M)
_LISTED = re.compile(
    r"^[-*+][ \t]+(?:\[\[)?(?P<title>[^\W\d_a-z][^\n(\[\]|,:;–—]*?)(?:\]\])?"
    r"[ \t]*(?=[(,:;–—]|$)",
    re.M,
)
_BULLET = re.compile(r"^[-*+][ \t]+", re.M)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|\[([^\[\]]+)\]\([^()]*\)")
# "also known as …", "aka …", "nickname: …" up to the end of the phrase; a full stop
# after an abbreviated title does not end it
_ALSO = re.compile(
    r"(?:^|[.(;\n])[ \t]*(?:[-*][ \t]+)?(?:\*\*)?(?:also (?:known as|called)"
    r"|(?<=\()also(?=[ \t]+(?-i:[A-Z]|the [A-Z]))|aliases?|aka|"
    r"a\.k\.a\.|nicknames?|other names?|call-?names?)\b(?:\*\*)?:?(?:\*\*)?[ \t]*"
    r"(?P<names>(?:\b(?:mrs?|ms|drs?|st|mme|mlle|rev|prof|capt|col|gen|lt|sgt|[a-z])\."
    r"|[^\n.;)])+)",
    re.I,
)


_MAX_ALIAS_LENGTH = 60
"""Maximum characters of an alias; longer text is a sentence."""


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """The section of a note about one person or thing.

    `place` is the span of its name in the note, `body` that of its text. `fields` maps
    keys of the front matter to a value and its span. `aliases` are other names, in text
    order, each once.
    """

    name: str
    place: Span
    body: Span
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, Span]] = field(default_factory=dict)


def parse_note_entries(document: Document) -> list[NoteEntry]:
    """Split a note into entries, in text order: one for the whole note, or one for each
    subject.

    A note with a collective title ("Characters", "Factions") has an entry for each
    heading below its title, else for each paragraph with a bold name, else for each
    name in a list: `- Nell Tallow (also Wren), the keeper`.
    """
    fields, start = _parse_front_matter(document.text)
    headings = list(_HEADING.finditer(document.text, start))
    title = (
        _field_value(fields, "name") or _field_value(fields, "title") or document.title
    )
    if _SEVERAL.fullmatch(title.strip()):
        return _parse_several(document, headings, start, fields)
    return [_parse_single(document, title, headings, start, fields)]


def strip_note_markdown(words: str) -> str:
    """Return `words` on one line, without Markdown markup; a link becomes its label."""
    words = _LINK.sub(lambda match: match[1] or match[2], words)
    words = re.sub(r"\*{1,3}|(?<!\w)_|_(?!\w)|`", "", words)
    return " ".join(words.split())


def _parse_front_matter(text: str) -> tuple[dict[str, tuple[str, Span]], int]:
    front = _FRONT.match(text)
    if not front:
        return {}, 0
    fields = {}
    for match in _FIELD.finditer(text, front.start("fields"), front.end("fields")):
        start, end = match.span("value")
        at = match.end() + 1
        while not match["value"].strip() and (item := _ITEM.match(text, at)):
            end = at = item.end()
        value = text[start:end]
        value_start = start + len(value) - len(value.lstrip())
        span = Span(value_start, max(value_start, start + len(value.rstrip())))
        fields[match["key"].strip().lower()] = (value.strip().strip("\"'"), span)
    return fields, front.end()


def _field_value(fields: Mapping[str, tuple[str, Span]], key: str) -> str:
    return strip_note_markdown(fields[key][0]) if key in fields else ""


def _parse_single(
    document: Document,
    title: str,
    headings: list[re.Match[str]],
    start: int,
    fields: Mapping[str, tuple[str, Span]],
) -> NoteEntry:
    heading = headings[0] if headings else None
    place = Span(*heading.span("title")) if heading else Span(start, start)
    for key in ("name", "title"):
        place = fields[key][1] if key in fields else place
        if key in fields:
            break
    names = [strip_note_markdown(heading["title"])] if heading else []
    names += split_name_list(fields["aliases"][0]) if "aliases" in fields else []
    names += _find_aliases(document.text[start:])
    return NoteEntry(
        name=title,
        place=place,
        body=Span(start, len(document.text)),
        aliases=_other_names(title, names),
        fields=fields,
    )


def _parse_several(
    document: Document,
    headings: list[re.Match[str]],
    start: int,
    fields: Mapping[str, tuple[str, Span]],
) -> list[NoteEntry]:
    text = document.text
    below = [h for h in headings if len(h["level"]) > len(headings[0]["level"])]
    level = min((len(h["level"]) for h in below), default=0)
    heads = [h for h in below if len(h["level"]) == level]
    heads = heads or list(_BOLD.finditer(text, start))
    shared = {key: fields[key] for key in ("element", "type") if key in fields}
    if heads:
        ends = [*(head.start() for head in heads[1:]), len(text)]
        bodies = [Span(h.end(), end) for h, end in zip(heads, ends, strict=True)]
        return _build_entries(text, heads, bodies, shared)
    items = list(_LISTED.finditer(text, start))
    starts = [bullet.start() for bullet in _BULLET.finditer(text, start)] + [len(text)]
    bodies = [Span(i.start(), starts[bisect(starts, i.start())]) for i in items]
    return _build_entries(text, items, bodies, shared)


def _build_entries(
    text: str,
    heads: Sequence[re.Match[str]],
    bodies: Sequence[Span],
    shared: Mapping[str, tuple[str, Span]],
) -> list[NoteEntry]:
    entries = []
    for head, body in zip(heads, bodies, strict=True):
        name = strip_note_markdown(head["title"])
        names = _find_aliases(text[body.start : body.end])
        place = Span(*head.span("title"))
        entries.append(NoteEntry(name, place, body, _other_names(name, names), shared))
    return entries


def _find_aliases(text: str) -> list[str]:
    return [
        name
        for match in _ALSO.finditer(text)
        for name in split_name_list(match["names"])
    ]


def split_name_list(words: str) -> list[str]:
    """Return the names in a list such as `[a, b]`, `a, b or c`, or lines starting with
    `-`.

    Markdown and quotation marks are removed; items may be empty.
    """
    words = re.sub(r"^\[(?!\[)|(?<!\])\]$", "", words.strip())
    parts = re.split(r",|;|\n[ \t]*-|^[ \t]*-[ \t]|\bor\b|\band\b|\n", words)
    return [strip_note_markdown(part).strip(" \"'“”‘’.") for part in parts]


def _other_names(name: str, names: list[str]) -> tuple[str, ...]:
    unique_names: dict[str, str] = {}
    for alias in names:
        if alias and len(alias) <= _MAX_ALIAS_LENGTH and alias.lower() != name.lower():
            unique_names.setdefault(alias.lower(), alias)
    return tuple(unique_names.values())


def is_note(document: Document) -> bool:
    """Return whether a document is a note about the story, not story text."""
    return document.type is not DocumentType.SCENE
