"""How a note is laid out: fields on top, one or several entries, labelled lines."""

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
_ALSO = re.compile(
    r"(?:^|[.(;\n])[ \t]*(?:[-*][ \t]+)?(?:\*\*)?(?:also (?:known as|called)"
    r"|(?<=\()also(?=[ \t]+(?-i:[A-Z]|the [A-Z]))|aliases?|aka|"
    r"a\.k\.a\.|nicknames?|other names?|call-?names?)\b(?:\*\*)?:?(?:\*\*)?[ \t]*"
    r"(?P<names>(?:\b(?:mrs?|ms|drs?|st|mme|mlle|rev|prof|capt|col|gen|lt|sgt|[a-z])\."
    r"|[^\n.;)])+)",
    re.I,
)


_LONGEST = 60


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """What a note says of one person or thing.

    `name` stands at `place`; `body` is the text about it. `fields` are front matter's,
    with the value's place. `aliases` are other names in the order of the text.
    """

    name: str
    place: Span
    body: Span
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, Span]] = field(default_factory=dict)


def parse_note_entries(document: Document) -> list[NoteEntry]:
    """Cut a note into what it is about: the whole, or one entry for each heading.

    A note called "Characters", "Factions" or the like has an entry for each heading
    below its title, or for each paragraph that begins with a bold name, or for each
    name that is an item of a list: `- Nell Tallow (also Wren), the keeper`.
    """
    fields, start = _front_matter(document.text)
    headings = list(_HEADING.finditer(document.text, start))
    title = _field(fields, "name") or _field(fields, "title") or document.title
    if _SEVERAL.fullmatch(title.strip()):
        return _several(document, headings, start, fields)
    return [_single(document, title, headings, start, fields)]


def strip_note_markdown(words: str) -> str:
    """Return words in one line, without Markdown's marks; links by their label."""
    words = _LINK.sub(lambda match: match[1] or match[2], words)
    words = re.sub(r"\*{1,3}|(?<!\w)_|_(?!\w)|`", "", words)
    return " ".join(words.split())


def _front_matter(text: str) -> tuple[dict[str, tuple[str, Span]], int]:
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


def _field(fields: Mapping[str, tuple[str, Span]], key: str) -> str:
    return strip_note_markdown(fields[key][0]) if key in fields else ""


def _single(
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
    names += _also(document.text[start:])
    return NoteEntry(
        name=title,
        place=place,
        body=Span(start, len(document.text)),
        aliases=_others(title, names),
        fields=fields,
    )


def _several(
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
        return _made(text, heads, bodies, shared)
    items = list(_LISTED.finditer(text, start))
    starts = [bullet.start() for bullet in _BULLET.finditer(text, start)] + [len(text)]
    bodies = [Span(i.start(), starts[bisect(starts, i.start())]) for i in items]
    return _made(text, items, bodies, shared)


def _made(
    text: str,
    heads: Sequence[re.Match[str]],
    bodies: Sequence[Span],
    shared: Mapping[str, tuple[str, Span]],
) -> list[NoteEntry]:
    entries = []
    for head, body in zip(heads, bodies, strict=True):
        name = strip_note_markdown(head["title"])
        names = _also(text[body.start : body.end])
        place = Span(*head.span("title"))
        entries.append(NoteEntry(name, place, body, _others(name, names), shared))
    return entries


def _also(text: str) -> list[str]:
    return [
        name
        for match in _ALSO.finditer(text)
        for name in split_name_list(match["names"])
    ]


def split_name_list(words: str) -> list[str]:
    """Split a list of names: `[a, b]`, `a, b or c`, or lines of `- a`."""
    words = re.sub(r"^\[(?!\[)|(?<!\])\]$", "", words.strip())
    parts = re.split(r",|;|\n[ \t]*-|^[ \t]*-[ \t]|\bor\b|\band\b|\n", words)
    return [strip_note_markdown(part).strip(" \"'“”‘’.") for part in parts]


def _others(name: str, names: list[str]) -> tuple[str, ...]:
    unique_names: dict[str, str] = {}
    for alias in names:
        if alias and len(alias) <= _LONGEST and alias.lower() != name.lower():
            unique_names.setdefault(alias.lower(), alias)
    return tuple(unique_names.values())


def is_note(document: Document) -> bool:
    """Say whether a document is a note of the writer's, not a part of the story."""
    return document.type is not DocumentType.SCENE
