"""Names that are one letter off from a name that the writer has confirmed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType

from lrwr.core.bible.claims import VisibleFacts
from lrwr.core.bible.horizon import HorizonView
from lrwr.core.canon.model import Canon
from lrwr.core.continuity.statements import Statement, find_enclosing_sentence
from lrwr.core.continuity.values import StatementSource
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.patterns import TITLE_WORDS
from lrwr.core.nlp.text.prose import find_quoted_spans

NAME_ATTRIBUTE = "name"

SPELLING_CACHE_SIZE = 4_096
"""Texts of which a process remembers the words: a watch looks at all after each save,
and all but one say what they said before."""

_WORD = re.compile(r"(?<![\w’'-])[^\W\d_a-z][\w]+")
_SHORTEST = 5
_RARE = 2
_OFTEN = 5
_TITLES = frozenset(TITLE_WORDS.split())


def find_misspelled_names(
    material: VisibleFacts, canon: Canon
) -> Iterator[tuple[Statement, Statement]]:
    """Yield a confirmed name, and where the narrator writes it one letter off.

    The odd form stands beside the rest of the name ("Nell Tallov"), or is one word
    with capitals inside ("OchroMags"); it is rare, is nobody's name, no plural, and
    no word of the text in lower case.
    """
    horizon_view = material.sight
    texts = {
        d: horizon_view.texts[d].text
        for d in horizon_view.order.story
        if horizon_view.opens(d)
    }
    counts: Counter[str] = Counter()
    for text in texts.values():
        counts.update(_words(text))
    names = _confirmed(material, canon)
    name_words = {word for name in _all_names(material) for word in name.split()}
    names_by_misspelling = _odd(names, counts, name_words)
    for document, text in texts.items():
        if names_by_misspelling.keys().isdisjoint(_words(text)):
            continue
        quoted = list(find_quoted_spans(text))
        for match in _WORD.finditer(text):
            name = names_by_misspelling.get(match[0])
            span = Span(*match.span())
            if name is None or any(q.start <= span.start < q.end for q in quoted):
                continue
            wrong = _whole(name, match, text)
            if wrong:
                yield _pair_spellings(name, wrong, document, text, span, horizon_view)


def _pair_spellings(
    name: str,
    wrong: str,
    document: DocumentId,
    text: str,
    span: Span,
    horizon_view: HorizonView,
) -> tuple[Statement, Statement]:
    """Return the confirmed name as an answer, and the narrator's spelling at `span`."""
    enclosing_sentence = find_enclosing_sentence(text, span)
    place = horizon_view.evidence(
        document, (enclosing_sentence,), RULES_KEEPER, Certainty.VERIFIED
    )
    rank = horizon_view.key(document, span.start)
    answer, story = StatementSource.ANSWER, StatementSource.TEXT
    return (
        Statement(name, NAME_ATTRIBUTE, name, answer, True, (-2, "", 0)),
        Statement(name, NAME_ATTRIBUTE, wrong, story, True, rank, place, span),
    )


@lru_cache(maxsize=SPELLING_CACHE_SIZE)
def _words(text: str) -> Mapping[str, int]:
    """Count the words of a text that begin with a capital, in order."""
    return MappingProxyType(Counter(map(intern, _WORD.findall(text))))


def _confirmed(material: VisibleFacts, canon: Canon) -> list[str]:
    names = canon.names
    confirmed_names = {*names.confirmed, *names.merged, *names.renamed.values()}
    confirmed_names.update(
        other for others in names.merged.values() for other in others
    )
    confirmed_names.update(
        visible_character.character.name
        for visible_character in material.roll.seen.values()
        if visible_character.character.certainty is Certainty.CONFIRMED
    )
    return sorted(confirmed_names)


def _all_names(material: VisibleFacts) -> Iterator[str]:
    for visible_character in material.roll.seen.values():
        yield visible_character.character.name
        for alias in visible_character.character.aliases:
            if alias.mentions > _RARE or alias.certainty is Certainty.CONFIRMED:
                yield alias.name


def _odd(
    names: list[str], counts: Counter[str], name_words: set[str]
) -> dict[str, str]:
    """Return each rare word that is a letter off, and the name that it may be."""
    rare = [w for w, n in counts.items() if n <= _RARE and len(w) >= _SHORTEST]
    rare = [w for w in rare if w not in name_words and not w.isupper()]
    pairs = [(word, name) for name in names for word in _telling_words(name, counts)]
    slips = (
        (other, name) for word, name in pairs for other in rare if _is_slip(word, other)
    )
    names_by_misspelling: dict[str, str] = {}
    for other, name in slips:
        names_by_misspelling.setdefault(other, name)
    return names_by_misspelling


def _telling_words(name: str, counts: Counter[str]) -> list[str]:
    """Return the words of a name that a slip can be told from: long and frequent."""
    words = [word for word in name.split() if word.rstrip(".") not in _TITLES]
    if len(words) == 1 and not _has_inner_capital(words[0]):
        return []
    return [w for w in words if len(w) >= _SHORTEST and counts[w] >= _OFTEN]


def _whole(name: str, match: re.Match[str], text: str) -> str:
    """Return the odd name whole, if it stands as the confirmed one would; else ""."""
    words = name.split()
    if len(words) == 1:
        return match[0]
    for at, word in enumerate(words):
        if _is_slip(word, match[0]):
            before = " ".join(words[:at])
            after = " ".join(words[at + 1 :])
            led = not before or text[: match.start()].endswith(f"{before} ")
            followed = not after or text.startswith(f" {after}", match.end())
            if led and followed:
                return " ".join([*words[:at], match[0], *words[at + 1 :]])
    return ""


def _has_inner_capital(word: str) -> bool:
    return any(letter.isupper() for letter in word[1:]) and not word.isupper()


def _is_slip(word: str, other: str) -> bool:
    """Say whether one letter was changed, dropped, added, or two have traded places."""
    if word[0] != other[0] or word == other or abs(len(word) - len(other)) > 1:
        return False
    if {word, other} == {min(word, other, key=len), min(word, other, key=len) + "s"}:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    word_rest, other_rest = word[start:], other[start:]
    swapped = (
        word_rest[:2] == other_rest[1::-1]
        and word_rest[2:] == other_rest[2:]
        and len(word_rest) > 1
    )
    return (
        swapped
        or word_rest[1:] == other_rest[1:]
        or word_rest[1:] == other_rest
        or word_rest == other_rest[1:]
    )
