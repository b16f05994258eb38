"""The words of a question that are worth looking for. English rules."""

import re
from functools import lru_cache

WORD_PATTERN = re.compile(r"\w+(?:['’]\w+)*")
"""A word with its inner apostrophes: don't, fo'c'sle."""

_STOP = (
    "a about an and any are as at be been being but by can could did do does for "
    "from had has have he her hers him his how i if in into is it its may me might "
    "mine my no not of on or our ours shall she should so than that the their "
    "theirs them then there these they this those to up upon us was we were what "
    "when where which who whom whose why will with would you your yours "
)

STOP_WORDS = frozenset(_STOP.split())
"""Words that hold an English sentence together and say little of what it is about."""

_NAME = re.compile(r"(?<=[^\W\d_][\s,;:(“‘\"'])[^\W\d_a-z]\w+(?:['’]\w+)*")
"""A capitalised word after another word: the first of a sentence may be any word."""

_POSSESSIVE = re.compile(r"['’]s?$")
_ENDINGS = ("ingly", "edly", "ing", "ies", "ed", "es", "ly", "s")
_SHORTEST_STEM = 3


def normalize_word(word: str) -> str:
    """Return a word in lower case, without a possessive ending."""
    return _POSSESSIVE.sub("", word.lower())


def extract_content_words(text: str) -> list[str]:
    """Return the words that carry meaning, plain, each once, in order.

    A text of stop words alone keeps them all: "Who was he?" asks for something too.
    """
    words = list(
        dict.fromkeys(normalize_word(word) for word in WORD_PATTERN.findall(text))
    )
    return [word for word in words if word not in STOP_WORDS] or words


def extract_capitalized_words(text: str) -> list[str]:
    """Return the capitalised words that begin no sentence, plain, each once."""
    found = [word for word in _NAME.findall(text) if word[0].isupper()]
    return list(dict.fromkeys(normalize_word(word) for word in found))


@lru_cache(maxsize=50_000)
def stem_lightly(word: str) -> str:
    """Return a word without its commonest English endings, good enough to compare."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
