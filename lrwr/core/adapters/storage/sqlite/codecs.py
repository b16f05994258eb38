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
    kept = {
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
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def cast_from_json(kept: str) -> Cast:
    """Return what `cast_to_json` was given."""
    whole = json.loads(kept)
    return Cast(
        characters=tuple(_character(one) for one in whole["characters"]),
        shared={form: tuple(names) for form, names in whole["shared"].items()},
    )


def _character(one: dict[str, Any]) -> Character:
    gender, gender_certainty = one["gender"]
    return Character(
        name=one["name"],
        aliases=tuple(
            Alias(name, mentions, Certainty(certainty), because)
            for name, mentions, certainty, because in one["aliases"]
        ),
        gender=Gender(gender),
        gender_certainty=Certainty(gender_certainty),
        certainty=Certainty(one["certainty"]),
        because=one["because"],
        narrator=one["narrator"],
    )


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
