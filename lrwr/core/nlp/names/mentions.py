"""Where a text names its characters."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lrwr.core.model.cast import Cast, Mention
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.candidates import CAPITALIZED_WORD, starts_sentence
from lrwr.core.nlp.names.lexicon import AMBIGUOUS_NAME_WORDS, NON_NAME_WORDS
from lrwr.core.nlp.names.titles import NAME_EPITHETS

_POSSESSIVE = re.compile(r"['’]s$")
_CAPITAL_BEFORE = re.compile(r"([^\W\d_][\w'’-]*)\.?[ \u00a0\n]\Z")
_CAPITAL_AFTER = re.compile(r"[ \u00a0\n]([^\W\d_][\w'’-]*)")
_VERB_AFTER = re.compile(r"['’]s\b|\s+(?:\w+ed|was|is|had|has|said|asked|told)\b")
_PIECE = re.compile(r"[^\s'’]+|['’]")
_RECENT = 4000
"""A shared name means the bearer named within this many characters before."""


@dataclass(frozen=True, slots=True)
class _NamePattern:
    """A name to look for; `who` are its bearers, one or several."""

    words: int
    pattern: re.Pattern[str]
    who: tuple[str, ...]


@dataclass(slots=True)
class _NameIndex:
    """All names of a cast, under their first word in lower case, longest first."""

    by_first: dict[str, list[_NamePattern]] = field(default_factory=dict)
    small: list[_NamePattern] = field(default_factory=list)


def find_mentions(text: str, parts: Sequence[Span], cast: Cast) -> list[Mention]:
    """Find every name of a character in `parts`, in order; names never overlap.

    A form that several share means the one who was named last, not long before;
    where nobody was, it is left out.
    """
    names = _names_of(cast)
    last_end: dict[str, int] = {}
    mentions: list[Mention] = []
    for part in parts:
        for span, people in _in_part(text, part, names):
            chosen = (
                people[0] if len(people) == 1 else _latest(people, last_end, span.start)
            )
            if chosen:
                last_end[chosen] = span.end
                mentions.append(Mention(chosen, span))
    return mentions


def _latest(people: Sequence[str], last_end: Mapping[str, int], at: int) -> str:
    near = [name for name in people if at - last_end.get(name, -_RECENT) < _RECENT]
    return max(near, key=lambda name: last_end[name]) if near else ""


def _names_of(cast: Cast) -> _NameIndex:
    owned = {
        alias.name: (character.name,)
        for character in cast.characters
        for alias in character.aliases
    }
    names = _NameIndex()
    for form, people in {**cast.shared, **owned}.items():
        _add_name(names, form, tuple(people))
    for patterns in names.by_first.values():
        patterns.sort(key=lambda name: -len(name.pattern.pattern))
    return names


def _add_name(names: _NameIndex, form: str, people: tuple[str, ...]) -> None:
    words = form.split()
    if len(words) > 1 and words[0].lower() in ("the", "a", "an") and form[:1].islower():
        words = words[1:]
    if not words:
        return
    pattern = r"[\s\u00a0]+".join(_loosely(word) for word in words) + r"(?![^\W_])"
    if not words[0][0].isupper():
        article_pattern = re.compile(rf"(?<![^\W_])the\s+{pattern}")
        names.small.append(_NamePattern(len(words), article_pattern, people))
        return
    first = words[0].lower().rstrip(".").replace("’", "'")
    name = _NamePattern(len(words), re.compile(pattern, re.IGNORECASE), people)
    names.by_first.setdefault(first, []).append(name)


def _loosely(word: str) -> str:
    """Match a word with either apostrophe, and with or without its full stop."""
    stem = word.rstrip(".")
    pieces = ("['’]" if p in "'’" else re.escape(p) for p in _PIECE.findall(stem))
    return "".join(pieces) + (r"\.?" if stem != word else "")


def _in_part(
    text: str, part: Span, names: _NameIndex
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    matches = [*_capitalised(text, part, names), *_small(text, part, names)]
    end = part.start
    for span, people in sorted(matches, key=lambda pair: (pair[0].start, -pair[0].end)):
        if span.start >= end:
            yield span, people
            end = span.end


def _capitalised(
    text: str, part: Span, names: _NameIndex
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    by_first, end = names.by_first, part.start
    for token in CAPITALIZED_WORD.finditer(text, part.start, part.end):
        if token.start() < end:
            continue
        patterns = by_first.get(_key(token[0]))
        if patterns is None:
            continue
        for name in patterns:
            match = name.pattern.match(text, token.start(), part.end)
            if match and _is_whole(text, match, name.words):
                end = match.end()
                yield Span(token.start(), end), name.who
                break


def _key(token: str) -> str:
    return _POSSESSIVE.sub("", token).lower().replace("’", "'")


def _small(
    text: str, part: Span, names: _NameIndex
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    for name in names.small:
        for match in name.pattern.finditer(text, part.start, part.end):
            yield Span(*match.span()), name.who


def _is_whole(text: str, match: re.Match[str], words: int) -> bool:
    """Say whether a single word is not part of somebody else's longer name."""
    if words > 1:
        return True
    start, end = match.span()
    if match[0].lower() in AMBIGUOUS_NAME_WORDS and starts_sentence(text, start):
        return bool(_VERB_AFTER.match(text, end))
    before = _CAPITAL_BEFORE.search(text, max(0, start - 24), start)
    if before and before[1][0].isupper() and not _is_filler(before[1]):
        lead = before.start(1)
        if not starts_sentence(text, lead) or before[0].rstrip()[-1:] == ".":
            return False
    after = _CAPITAL_AFTER.match(text, end)
    return not (after and after[1][0].isupper() and not _is_filler(after[1]))


def _is_filler(word: str) -> bool:
    low = word.lower()
    return low in NAME_EPITHETS or (
        low in NON_NAME_WORDS and low not in ("mr", "mrs", "dr", "ms")
    )
