"""The cast as one JSON value."""

import json
from collections.abc import Sequence
from typing import Any

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.documents import Chapter, Scene
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span


def cast_to_json(cast: Cast) -> str:
    """Return `cast` as JSON."""
    fields = {
        "characters": [
            {
                "name": character.name,
                "aliases": [
                    [a.name, a.mentions, a.certainty.value, a.because]
                    for a in character.aliases
                ],
                "gender": [character.gender.value, character.gender_certainty.value],
                "certainty": character.certainty.value,
                "because": character.because,
                "narrator": character.narrator,
            }
            for character in cast.characters
        ],
        "shared": {form: list(names) for form, names in cast.shared.items()},
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def cast_from_json(text: str) -> Cast:
    """Return what `cast_to_json` was given."""
    fields = json.loads(text)
    return Cast(
        characters=tuple(_character(character) for character in fields["characters"]),
        shared={form: tuple(names) for form, names in fields["shared"].items()},
    )


def _character(fields: dict[str, Any]) -> Character:
    gender, gender_certainty = fields["gender"]
    return Character(
        name=fields["name"],
        aliases=tuple(
            Alias(name, mentions, Certainty(certainty), because)
            for name, mentions, certainty, because in fields["aliases"]
        ),
        gender=Gender(gender),
        gender_certainty=Certainty(gender_certainty),
        certainty=Certainty(fields["certainty"]),
        because=fields["because"],
        narrator=fields["narrator"],
    )


def chapters_to_json(chapters: Sequence[Chapter]) -> str:
    """Return `chapters` as JSON; a span is a pair, its end not included."""
    rows = [
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
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def chapters_from_json(text: str) -> tuple[Chapter, ...]:
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
        for chapter in json.loads(text)
    )


def _scene(fields: dict[str, Any]) -> Scene:
    return Scene(Span(*fields["span"]), tuple(Span(*part) for part in fields["parts"]))


def _pair(span: Span) -> tuple[int, int]:
    return span.start, span.end
