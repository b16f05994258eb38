"""Finds out what of a statement the story tells only after the horizon, in another
chapter, or nowhere.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from lrwr.core.attribution.details import find_chapter_numbers, stem_words
from lrwr.core.attribution.names import (
    contains_name,
    find_missing_names,
    fold_words,
    list_named_characters,
    strip_names,
)
from lrwr.core.attribution.quotations import AnswerQuotation, occurs_in
from lrwr.core.evidence.comparison import DetailDifference, DetailKind
from lrwr.core.evidence.results import CheckedStory, ComparedPassage
from lrwr.core.evidence.statements import DraftStatement
from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, normalize_word
from lrwr.core.nlp.names.lexicon import NAME_TITLES
from lrwr.core.retrieval.query_words import list_word_forms

MIN_LATER_WORDS = 4
MIN_LATER_SHARE = 0.75
MIN_LONG_SHARE = 0.6
LATER_MARGIN = 0.25
"""How many content words a statement must have besides names, which share of them a
later passage must have, or which share if it has that many of them, and how much closer
it must be than any passage up to the horizon, for the statement to be told later only."""

MIN_WORDS_OF_OTHERS = 8
"""Content words besides names from which on a passage may tell it of others."""


MIN_CLOSER_WORDS = 3
CLOSER_MARGIN = 2
"""Content words of a statement that a later sentence must have, one more for a passage,
and how many more than any up to the horizon, to be closer."""

MIN_PLACED_WORDS = 3
MIN_PLACED_SHARE = 0.5
PLACED_MARGIN = 0.2
"""Content words of a statement, and their share, that a passage of another chapter must
have, and how much more it must have than any passage of the stated chapter."""

MIN_SAME_LETTERS = 0.8
"""How alike two words are, from 0.0 to 1.0, of which one is the other misspelt."""

_ABOUT_THE_BOOK = re.compile(
    r"\b(?:novel|book|story|chapters?|scenes?|author|readers?|hero|heroine|protagonist"
    r"|narrator|characters?|plot|theme|part|opening|ending|I|me|my|we|us|our|you|your)\b"
)
"""Words of a sentence about the book as a book, which may have names from outside it."""

_LIGHT = re.compile(
    r"becom(?:e|es|ing)|became|gets?|got|getting|comes?|came|goes|went|going|makes?|made"
    r"|takes?|took|begins?|began|starts?|started|finally|eventually|soon|later|already|end"
    r"|mr|mrs|ms|dr|captain|sir|lady|miss",
    re.IGNORECASE,
)
"""Words that need no counterpart for a passage to tell the same."""

_EVENTS = (
    "marry married marriage wed wedding engaged engagement betrothed",
    "die died dead death dying kill murder drown drowned",
)
"""Words for the same event of a life, by groups."""

_BUSY = re.compile(
    r"\bengaged (?=(?:already|as|at|by|elsewhere|for|in|on|quite|upon|with)\b)"
)
"""Words that sound like an event: "engaged for the next dance"."""

_IN_CHAPTER = re.compile(r"\b(?:in|opens|ends|begins) (?:the )?chapter\b", re.I)
_PEOPLES = re.compile(r"\w+(?:ians?|ish|ese|ch)$")
"""Words such as "Victorian" and "English", which are no names of anything in the story."""


def find_later(
    statement: DraftStatement,
    story: CheckedStory,
    candidates: Sequence[ComparedPassage],
) -> ComparedPassage | None:
    """Return the first passage of the story after the horizon that tells what a statement
    says, if no passage up to the horizon does; None if there is none.
    """
    if story.horizon is None:
        return None
    later = [
        c for c in candidates if not c.is_visible and c.passage.chapter is not None
    ]
    visible = [c for c in candidates if c.is_visible]
    if not later:
        return None
    for quotation in statement.quotations:
        if quotation.is_long and not _has(quotation, visible):
            told = [c for c in later if _has(quotation, [c])]
            if told:
                return min(told, key=lambda c: c.chapter)
    named = list_named_characters(statement.text, story.cast)
    known = {fold_words(form) for forms in story.known_cast for form in forms}
    unknown = [forms for forms in named if known.isdisjoint(forms)]
    if unknown:
        forms = [form for forms in unknown for form in forms]
        carriers = [c for c in later if contains_name(c.passage.chunk.text, forms)]
        strongest = max(later, key=lambda c: c.compared.strength)
        return min((*carriers, strongest), key=lambda c: c.chapter)
    if (naming := _find_later_name(statement, story, later)) is not None:
        return naming
    telling = (c for c in later if _is_told_later(statement, story, c, visible))
    return min(telling, key=lambda c: c.chapter, default=None)


def list_telling_stems(text: str, cast: Sequence[Collection[str]]) -> frozenset[str]:
    """Return the stems of the content words of `text` that are no names or titles."""
    words = WORD_PATTERN.findall(strip_names(text, cast))
    return stem_words(
        " ".join(w for w in words if normalize_word(w) not in NAME_TITLES)
    )


def find_closer_chapter(
    statement: DraftStatement,
    story: CheckedStory,
    candidates: Sequence[ComparedPassage],
) -> int | None:
    """Return the first chapter after the horizon with a passage that has clearly more
    content words of a statement, names not counted, than any passage up to there, or
    that tells it of the same characters.
    """
    stems = stem_words(strip_names(statement.own_text, story.cast))
    rated = [
        (
            len(stems & stem_words(candidate.passage.chunk.text)),
            len(stems & stem_words(candidate.found)),
            candidate,
        )
        for candidate in candidates
    ]
    in_passage = max((row[0] for row in rated if row[2].is_visible), default=0)
    in_sentence = max((row[1] for row in rated if row[2].is_visible), default=0)
    chapters = (
        c.chapter
        for passage, sentence, c in rated
        if not c.is_visible
        and c.passage.chapter is not None
        and (
            passage >= max(in_passage + CLOSER_MARGIN, MIN_CLOSER_WORDS + 1)
            or sentence >= max(in_sentence + CLOSER_MARGIN, MIN_CLOSER_WORDS)
        )
    )
    related = (c.chapter for c in _list_related_passages(statement, story, candidates))
    return min((*chapters, *related), default=None)


def _list_related_passages(
    statement: DraftStatement,
    story: CheckedStory,
    candidates: Sequence[ComparedPassage],
) -> list[ComparedPassage]:
    """Return the passages after the horizon with a paragraph that names two characters
    of a statement and has each of its other content words, or another word for the same
    event; none if a paragraph up to the horizon does.
    """
    named = list_named_characters(statement.own_text, story.cast)
    words = WORD_PATTERN.findall(strip_names(statement.own_text, story.cast))
    groups = [_list_event_stems(word) for word in words if not _LIGHT.fullmatch(word)]
    groups = [group for group in groups if group]
    if len(named) < 2 or not groups:
        return []

    def tells(candidate: ComparedPassage) -> bool:
        for paragraph in candidate.passage.chunk.text.split("\n\n"):
            if all(contains_name(paragraph, forms) for forms in named):
                plain = _BUSY.sub(" ", strip_names(paragraph, story.cast))
                stems = stem_words(plain)
                if not any(group.isdisjoint(stems) for group in groups):
                    return True
        return False

    telling = [c for c in candidates if tells(c)]
    if any(c.is_visible for c in telling):
        return []
    return [c for c in telling if c.passage.chapter is not None]


def _list_event_stems(word: str) -> frozenset[str]:
    """Return the stems of a word, its forms and other words for the same life event."""
    stems = stem_words(" ".join((word, *list_word_forms(word.lower()))))
    events = (stem_words(event) for event in _EVENTS)
    return stems.union(*(event for event in events if stems & event))


def _is_told_later(
    statement: DraftStatement,
    story: CheckedStory,
    candidate: ComparedPassage,
    visible: Sequence[ComparedPassage],
) -> bool:
    """Return whether `candidate`, a passage after the horizon, tells what a statement
    says, and no `visible` one is nearly as close.
    """
    words = len(stem_words(strip_names(statement.text, story.cast)))
    if words < MIN_WORDS_OF_OTHERS and _is_about_others(statement, story, candidate):
        return False
    closeness, differs = candidate.closeness, bool(candidate.compared.differences)
    before = max(
        (c.closeness for c in visible if differs or not c.compared.differences),
        default=0.0,
    )
    if closeness < before + LATER_MARGIN:
        return False
    is_repeated = closeness > 1.0
    is_close = closeness >= MIN_LATER_SHARE or (
        closeness >= MIN_LONG_SHARE and closeness * words >= MIN_LATER_WORDS
    )
    return is_repeated or (words >= MIN_LATER_WORDS and is_close and not differs)


def _is_about_others(
    statement: DraftStatement, story: CheckedStory, candidate: ComparedPassage
) -> bool:
    """Return whether a statement and a passage name characters, and not the same ones."""
    named, others = (
        list_named_characters(text, story.cast)
        for text in (statement.text, candidate.found)
    )
    forms = frozenset().union(*named)
    return bool(named and others) and all(forms.isdisjoint(o) for o in others)


def _find_later_name(
    statement: DraftStatement, story: CheckedStory, later: Sequence[ComparedPassage]
) -> ComparedPassage | None:
    """Return the first passage that has a name of the statement which no text up to the
    horizon has, also if it is another name of a character who is known there.
    """
    words = list_unknown_names(statement, story)
    naming = [
        c for c in later if not words.isdisjoint(fold_words(c.passage.chunk.text))
    ]
    return min(naming, key=lambda c: c.chapter, default=None)


def list_unknown_names(
    statement: DraftStatement, story: CheckedStory
) -> frozenset[str]:
    """Return the folded words of names that no text up to the horizon has; none without
    a horizon.
    """
    if not story.words:
        return frozenset()
    names = find_missing_names(statement.text, "", story.cast)
    return frozenset(w for name in names for w in fold_words(name.text)) - story.words


def _has(quotation: AnswerQuotation, candidates: Sequence[ComparedPassage]) -> bool:
    return occurs_in(quotation.text, [c.text for c in candidates])


def find_foreign_names(
    statement: DraftStatement, story: CheckedStory
) -> Iterator[DetailDifference]:
    """Yield the names in a statement about characters that the story up to the horizon
    and the notes have nowhere, with the character's name that is nearly the same, if any.
    """
    text = statement.own_text
    if not story.stems or not list_named_characters(text, story.cast):
        return
    if _ABOUT_THE_BOOK.search(text):
        return
    for name in find_missing_names(text, "", story.cast):
        plain = [w for w in fold_words(name.text) if w not in STOP_WORDS]
        is_known = any(
            not stem_words(re.sub(r"['’]s$", "", word)).isdisjoint(story.stems)
            for word in plain
        )
        if plain and not (name.forms or is_known or _PEOPLES.search(name.text)):
            meant = _find_misspelt(plain, story)
            yield DetailDifference(DetailKind.NAME, name.text, meant)


def _find_misspelt(words: Sequence[str], story: CheckedStory) -> str:
    """Return the form of a character's name with a word that is nearly one of `words`;
    empty if there is none.
    """
    cast = story.known_cast or story.cast
    named = ((form, fold_words(form)) for forms in cast for form in forms)
    alike = (
        form
        for form, parts in named
        if any(get_close_matches(word, parts, 1, MIN_SAME_LETTERS) for word in words)
    )
    return next(alike, "")


def find_other_chapter(
    statement: DraftStatement, story: CheckedStory, visible: Sequence[ComparedPassage]
) -> DetailDifference | None:
    """Return the chapter that a statement names and the one whose passage tells of it;
    None unless no passage of the named chapter comes near.
    """
    stated = find_chapter_numbers(statement.own_text)
    if len(stated) != 1 or not _IN_CHAPTER.search(statement.own_text):
        return None
    (number,) = stated
    stems = stem_words(strip_names(statement.own_text, story.cast))
    shares = [
        (len(stems & stem_words(c.found)), c.chapter)
        for c in visible
        if c.passage.chapter is not None
    ]
    most, chapter = max(shares, default=(0, number))
    here = max((count for count, at in shares if at == number), default=0)
    enough = max(MIN_PLACED_WORDS, MIN_PLACED_SHARE * len(stems))
    if most < enough or most - here < max(1.0, PLACED_MARGIN * len(stems)):
        return None
    return DetailDifference(
        DetailKind.CHAPTER, f"chapter {number}", f"chapter {chapter}"
    )


def list_absent_words(
    statement: DraftStatement, story: CheckedStory
) -> tuple[str, ...]:
    """Return the content words of a statement that the story up to the horizon and the
    notes have in no form, in the order of the statement.
    """
    if not story.stems:
        return ()
    words = (
        re.sub(r"['’]s?$", "", word)
        for word in WORD_PATTERN.findall(statement.own_text)
    )
    absent = (
        word
        for word in words
        if word.isalpha()
        and normalize_word(word) not in STOP_WORDS
        and (stems := stem_words(word))
        and stems.isdisjoint(story.stems)
    )
    return tuple(dict.fromkeys(absent))
