"""Colours as classes: two that share a hue may be the same to two pairs of eyes."""

import re
from functools import lru_cache
from types import MappingProxyType

_ANY_DARK = "black brown"

_HAIR = MappingProxyType(
    {
        "black": "black", "raven": "black", "jet": "black", "ebony": "black",
        "sable": "black", "dark": _ANY_DARK, "brown": "brown", "brunette": _ANY_DARK,
        "chestnut": "brown red", "auburn": "brown red", "red": "red",
        "ginger": "red fair", "copper": "red brown", "coppery": "red brown",
        "fair": "fair", "blond": "fair", "blonde": "fair", "golden": "fair",
        "gold": "fair", "yellow": "fair", "flaxen": "fair white", "straw": "fair",
        "sandy": "fair red brown", "tawny": "fair red brown", "amber": "fair brown red",
        "mousy": "brown fair", "honey": "fair brown", "white": "white grey",
        "silver": "white grey", "grey": "grey white", "gray": "grey white",
        "grizzled": "grey white", "hoary": "grey white", "iron": "grey",
    }
)  # fmt: skip
_EYES = MappingProxyType(
    {
        "black": _ANY_DARK, "dark": "black brown", "brown": _ANY_DARK,
        "hazel": "brown green", "amber": "brown", "golden": "brown", "blue": "blue",
        "violet": "violet blue", "grey": "grey", "gray": "grey", "green": "green",
        "chestnut": "brown", "sea": "green blue grey", "turquoise": "blue green",
    }
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_TAIL = re.compile(r"\b(?:like|as|than|for)\b.*", re.S)
_UNSURE = re.compile(
    r"\b(?:not?|never|perhaps|maybe|or|unknown|open|once|later|after|before|when|then|"
    r"until|dyed?|wig|tbd)\b|\?"
)


@lru_cache(maxsize=10_000)
def hues(attribute: str, value: str) -> frozenset[str]:
    """Return every hue that `value` may be said of; none where it names no colour."""
    words = _TAIL.sub("", value.casefold())
    if _UNSURE.search(words):
        return frozenset()
    known = _EYES if attribute == "eyes" else _HAIR
    found: set[str] = set()
    plain = _WORD.findall(words)
    if attribute == "eyes" and plain == ["dark"]:
        return frozenset()  # dark blue, dark grey: only how light they are not
    for word in plain:
        if word != "dark" or plain == ["dark"]:
            found.update(known.get(word, "").split())
    return frozenset(found | _shaded(attribute, plain, found))


def _shaded(attribute: str, words: list[str], found: set[str]) -> set[str]:
    """Return the hues that a shade lets in: light brown is fair to many."""
    if attribute != "hair":
        return set()
    if "brown" in found and not {"light", "pale", "bright"}.isdisjoint(words):
        return {"fair"}
    if "dark" in words and found & {"brown", "red", "fair"}:
        return {"brown", "black"} if "brown" in found else {"brown"}
    return set()
