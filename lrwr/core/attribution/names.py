"""The names in a statement, and which of them a source lacks."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    normalize_word,
    normalize_words,
)
from lrwr.core.nlp.facts.clauses import NON_NAMES
from lrwr.core.nlp.names.lexicon import NAME_TITLES, is_non_name

_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[“\"‘'(*\[]*$")
_EPITHETS = frozenset({"poor", "dear", "good", "old", "young", "little"})
"""Words before a name that are no part of it when they begin a sentence."""
_COMPOUND_NAME = re.compile(r"[A-Z][a-z]+[A-Z]")


@dataclass(frozen=True, slots=True)
class MissingName:
    """A name that a source lacks.

    `forms` are the words of all forms of the characters that it may mean; empty if it
    belongs to nobody of the cast.
    """

    text: str
    forms: tuple[tuple[str, ...], ...]


def find_missing_names(
    statement: str, source: str, cast: Sequence[Collection[str]]
) -> tuple[MissingName, ...]:
    """Return the names in `statement` of which `source` contains no form, each once.

    `cast` has for each character all forms of its name. A name that belongs to none of
    them is missing unless the source has all of its words. Names side by side are
    divided where one of them belongs to the cast; a plural counts as its singular.
    """
    words = fold_words(source)
    missing: dict[str, MissingName] = {}
    for run in _find_names(statement, cast):
        for name in _divide_run(run, cast):
            forms = _find_forms(name, cast) or _find_forms(name.removesuffix("s"), cast)
            own_words = tuple(fold_words(name))  # the source may have the plural, too
            if not _occurs(name, [*forms, own_words] if forms else (), words):
                missing.setdefault(name, MissingName(name, tuple(forms)))
    return tuple(missing.values())


def list_named_characters(
    text: str, cast: Sequence[Collection[str]]
) -> tuple[frozenset[tuple[str, ...]], ...]:
    """Return the characters that `text` names, in its order, each with the words of its
    forms.

    A name that several characters may have counts as all of them.
    """
    found = (
        frozenset(forms)
        for run in _find_names(text, cast)
        for name in _divide_run(run, cast)
        if (forms := _find_forms(name, cast))
    )
    return tuple(dict.fromkeys(found))


def strip_names(text: str, cast: Sequence[Collection[str]]) -> str:
    """Return `text` without the words of names of `cast`."""
    words = {word for forms in cast for form in forms for word in fold_words(form)}

    def strip(match: re.Match[str]) -> str:
        is_name = normalize_word(match[0]) in words and is_name_word(text, match, words)
        return "" if is_name else match[0]

    return " ".join(WORD_PATTERN.sub(strip, text).split())


def contains_name(text: str, forms: Collection[tuple[str, ...]]) -> bool:
    """Return whether `text` has one of the forms of a name."""
    words = fold_words(text)
    return any(_contains_words(words, form) for form in forms)


def _occurs(
    name: str, forms: Collection[tuple[str, ...]], words: tuple[str, ...]
) -> bool:
    if forms:
        return any(_contains_words(words, form) for form in (*forms, fold_words(name)))
    wanted = set(fold_words(name))
    return wanted <= set(words) or {word.removesuffix("s") for word in wanted} <= set(
        words
    )


def _divide_run(run: str, cast: Sequence[Collection[str]]) -> Iterator[str]:
    """Yield the names of which a run of capitalized words consists.

    A run that as a whole is no form of a character is divided before and after the
    longest form within it, as in "Rosings Elizabeth".
    """
    if _find_forms(run, cast):
        yield run
        return
    words = run.split(" ")
    known = {tuple(fold_words(form)) for forms in cast for form in forms}
    sizes = range(len(words) - 1, 0, -1)
    for size in sizes:
        for at in range(len(words) - size + 1):
            part = " ".join(words[at : at + size])
            if tuple(fold_words(part)) in known:
                rest = (words[:at], words[at + size :])
                yield from (" ".join(side) for side in rest[:1] if side)
                yield part
                yield from (" ".join(side) for side in rest[1:] if side)
                return
    yield run


def _find_names(text: str, cast: Sequence[Collection[str]]) -> Iterator[str]:
    """Yield the names in `text`: forms of `cast`, and runs of capitalized words, which
    do not begin a sentence alone.
    """
    known = {word for forms in cast for form in forms for word in fold_words(form)}
    run: list[re.Match[str]] = []
    before: re.Match[str] | None = None
    for word in WORD_PATTERN.finditer(text):
        is_name = is_name_word(text, word, known)
        if run and not (is_name and are_adjacent(text, run[-1], word)):
            yield _join_name(text, run)
            run = []
        if is_name and not run and before and _may_open_name(text, before, word):
            run = [before]
        run += [word] if is_name else []
        before = word
    if run:
        yield _join_name(text, run)


def are_adjacent(text: str, word: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether `other` follows `word` as the next part of a name may."""
    return text[word.end() : other.start()] in (" ", ". ")


def _join_name(text: str, run: Sequence[re.Match[str]]) -> str:
    return text[run[0].start() : run[-1].start()] + _strip_possessive(run[-1][0])


def _may_open_name(text: str, word: re.Match[str], name: re.Match[str]) -> bool:
    """Return whether `word`, which begins a sentence, belongs to the name after it."""
    plain = normalize_word(word[0])
    is_common = plain in STOP_WORDS | _EPITHETS or is_non_name(word[0])
    is_common = is_common or (word[0] in NON_NAMES and plain not in NAME_TITLES)
    return word[0][0].isupper() and not is_common and are_adjacent(text, word, name)


def is_name_word(text: str, word: re.Match[str], known: Collection[str]) -> bool:
    """Return whether `word`, a match in `text`, may belong to a name.

    Of the first words of sentences only those in `known`, normalized words, may.
    """
    plain = normalize_word(word[0])
    if not word[0][0].isupper() or len(plain) == 1 or word[0][:2] in ("I’", "I'"):
        return False
    if _COMPOUND_NAME.match(word[0]):
        return True
    if plain in STOP_WORDS or is_non_name(word[0]):
        return False
    begins_sentence = _SENTENCE_START.search(text, 0, word.start()) is not None
    return not begins_sentence or (plain in known and plain not in NAME_TITLES)


def _find_forms(name: str, cast: Sequence[Collection[str]]) -> list[tuple[str, ...]]:
    """Return all forms of the characters of `cast` that `name` may mean: those with that form,
    else those with all of its words in one form, else with its last word.
    """
    words = tuple(fold_words(name))
    groups = [[tuple(fold_words(form)) for form in forms] for forms in cast]
    same = [forms for forms in groups if words in forms]
    if not same:
        wanted = set(words) - NAME_TITLES or set(words)
        same = [forms for forms in groups if any(wanted <= set(form) for form in forms)]
    return [form for forms in same for form in forms if set(form) - STOP_WORDS]


def _contains_words(words: Sequence[str], form: Sequence[str]) -> bool:
    wanted = [word for word in form if word not in STOP_WORDS]
    size = len(wanted)
    return any(
        list(words[at : at + size]) == wanted for at in range(len(words) - size + 1)
    )


@lru_cache(maxsize=256)
def fold_words(text: str) -> tuple[str, ...]:
    """Return the normalized words of `text`."""
    return tuple(normalize_words(text))


def _strip_possessive(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)
