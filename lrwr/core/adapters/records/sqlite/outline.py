"""A document's chapters as one JSON value, as they are kept in its row."""

import json
from collections.abc import Sequence
from typing import Any

from lrwr.core.model.documents import Chapter, Scene
from lrwr.core.model.text import Span


def chapters_to_json(chapters: Sequence[Chapter]) -> str:
    """Return `chapters` as JSON; a span is a pair, its end not included."""
    found = [
        {
            "title": chapter.title,
            "span": _pair(chapter.span),
            "scenes": [
                {"span": _pair(scene.span), "parts": [_pair(p) for p in scene.parts]}
                for scene in chapter.scenes
            ],
            "opening": chapter.opening,
            "volume": chapter.volume,
            "number": chapter.number,
        }
        for chapter in chapters
    ]
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def chapters_from_json(kept: str) -> tuple[Chapter, ...]:
    """Return what `chapters_to_json` was given."""
    return tuple(
        Chapter(
            title=chapter["title"],
            span=Span(*chapter["span"]),
            scenes=tuple(_scene(scene) for scene in chapter["scenes"]),
            opening=chapter["opening"],
            volume=chapter["volume"],
            number=chapter["number"],
        )
        for chapter in json.loads(kept)
    )


def _scene(kept: dict[str, Any]) -> Scene:
    return Scene(Span(*kept["span"]), tuple(Span(*part) for part in kept["parts"]))


def _pair(span: Span) -> tuple[int, int]:
    return span.start, span.end
