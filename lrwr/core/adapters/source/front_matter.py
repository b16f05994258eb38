"""The fields that a writer puts above a Markdown file, between `---` and `---`."""

import re
from dataclasses import dataclass, field

import yaml

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
