"""Compares the quotations of a statement with the text that it quotes."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate

from lrwr.core.attribution.names import fold_words, list_named_characters
from lrwr.core.attribution.quotations import AnswerQuotation, occurs_in
from lrwr.core.bible.values import Bible
from lrwr.core.evidence.comparison import DetailDifference, DetailKind
from lrwr.core.evidence.results import (
    CheckedStatement,
    CheckedStory,
    KnownQuotation,
    StatementResult,
)
from lrwr.core.evidence.statements import DraftStatement, is_saying
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    normalize_word,
    normalize_words,
)

MIN_WORDING_SHARE = 0.5
"""Share of the words of a quotation that a text must have, in their order, to be shown
as what it should be."""

COMPARED_PLACES = 8
"""Places of a text that are compared word by word, those with most words in common."""

SURE = frozenset({Certainty.CONFIRMED, Certainty.VERIFIED})

_CHAPTER = re.compile(r"\b(?:in |of )?chapter [\w-]+", re.IGNORECASE)

_CLAUSE_END = re.compile(r"[,;:!?—–]|(?<!\bMr)(?<!\bMrs)(?<!\bDr)\.")

_WORDS_OF = re.compile(
    r"(?:was|were) (?:[a-z]+ ){0,3}(?:words?|cry|answer|reply|question|remark)\b"
    r".*\b(?:from|of|by) ",
    re.IGNORECASE,
)
"""How a text may name the speaker: "were the last words of Nell"."""

_LONG_TAG_WORDS = 12
_TAG_WORDS = 3
"""Words between a quotation and its verb of saying, at most: "says the old keeper"."""


def list_checked_quotations(statement: DraftStatement) -> list[AnswerQuotation]:
    """Return the quotations of a statement that must be verbatim: long ones, and short
    ones beside a verb of saying; other short ones may be a title or irony.
    """
    return [
        quotation
        for quotation in statement.quotations
        if (quotation.is_long and not _is_title(quotation.text))
        or _has_speaker_tag(statement.text, quotation)
    ]


def _is_title(text: str) -> bool:
    """Return whether all words of a quotation but function words begin with capitals."""
    words = [
        w for w in WORD_PATTERN.findall(text) if normalize_word(w) not in STOP_WORDS
    ]
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _has_speaker_tag(text: str, quotation: AnswerQuotation) -> bool:
    before = re.split(r"[.!?;]", text[: quotation.span.start])[-1]
    after = re.split(r"[.!?;]", text[quotation.span.end :])[0]
    last = WORD_PATTERN.findall(before)[-_TAG_WORDS:]
    first = WORD_PATTERN.findall(after)[:_TAG_WORDS]
    is_introduced = before.rstrip().endswith((",", ":"))
    return any(map(is_saying, (*first, *(last if is_introduced else last[-1:]))))


def strip_speaker_tag(statement: DraftStatement, names: Collection[str] = ()) -> str:
    """Return the words of a statement outside its quotations, without verbs of saying,
    `names`, folded words, and chapters: who says it where.
    """
    text = _CHAPTER.sub(" ", statement.own_text)
    words = (
        word
        for word in text.split()
        if not is_saying(plain := word.strip("“”\"'’.,;:!?()—–-"))
        and normalize_word(re.sub(r"['’]s$", "", plain)) not in names
    )
    return " ".join(words).strip(" ,;:–—")


def split_quotation(quotation: str) -> list[str]:
    """Return the parts of a quotation between ellipses that have at least two words."""
    parts = (part.strip(" .,;:!?") for part in re.split(r"…|\.\s?\.\s?\.", quotation))
    return [part for part in parts if len(part.split()) > 1]


def find_wrong_quotations(
    quotations: Sequence[AnswerQuotation],
    passages: Sequence[str],
    texts: Sequence[str],
) -> Iterator[DetailDifference]:
    """Yield the quotations that `texts` do not contain, each with the most similar words
    of `passages`; empty if there are none.
    """
    for quotation in quotations:
        if not occurs_in(quotation.text, texts):
            wording = find_nearest_wording(quotation.text, passages)
            yield DetailDifference(DetailKind.QUOTATION, quotation.text, wording)


def list_known_quotations(bible: Bible) -> tuple[KnownQuotation, ...]:
    """Return the quotations of which a speaker is known or probable."""
    forms = {
        profile.name: (profile.name, *(form.name for form in profile.aliases))
        for profile in bible.characters
    }
    return tuple(
        KnownQuotation(
            forms.get(quote.speaker, (quote.speaker,)),
            quote.evidence.text,
            quote.evidence.certainty in SURE,
        )
        for quote in bible.quotes
        if quote.speaker
    )


def find_other_speaker(
    statement: DraftStatement, texts: Sequence[str], story: CheckedStory
) -> DetailDifference | None:
    """Return whom a statement names as the speaker of one of its quotations, and whom the
    text names instead; None if it names nobody else, or the statement several people.
    """
    named = _find_stated_speaker(statement, story)
    for quotation in statement.quotations if named else ():
        tag = _find_other_tag(quotation, texts, story, named)
        tag = tag or _find_known_speaker(quotation, story, named, is_sure=True)
        if tag:
            stated = strip_speaker_tag(statement).strip(" .,")
            return DetailDifference(DetailKind.NAME, stated, tag)
    return None


def find_probable_speaker(statement: DraftStatement, story: CheckedStory) -> str:
    """Return who seems to say a quotation of a statement that names somebody else as its
    speaker; empty if nobody else does.
    """
    named = _find_stated_speaker(statement, story)
    speakers = (
        _find_known_speaker(quotation, story, named, is_sure=False)
        for quotation in (statement.quotations if named else ())
    )
    return next(filter(None, speakers), "")


def _find_stated_speaker(
    statement: DraftStatement, story: CheckedStory
) -> frozenset[tuple[str, ...]]:
    """Return the folded forms of the only character whom a statement names outside its
    quotations; empty if it names others too or several people speak.
    """
    own = statement.own_text
    named = list_named_characters(own, story.cast)
    sayings = [word for word in WORD_PATTERN.findall(own) if is_saying(word)]
    is_dialogue = len(statement.quotations) > 1 and len(sayings) > 1
    return frozenset() if len(named) != 1 or is_dialogue else named[0]


def _find_known_speaker(
    quotation: AnswerQuotation,
    story: CheckedStory,
    named: Collection[tuple[str, ...]],
    *,
    is_sure: bool,
) -> str:
    """Return who says the words of a quotation everywhere in the text; empty if unknown or
    the character `named`. With `is_sure`, the text must name the speaker.
    """
    speakers = {
        attributed.speaker
        for attributed in story.quotations
        if (attributed.is_sure or not is_sure)
        and occurs_in(quotation.text, [attributed.text])
    }
    if not quotation.is_long or len(speakers) != 1:
        return ""
    (forms,) = speakers
    is_same = any(fold_words(form) in named for form in forms)
    return "" if is_same else forms[0]


def _find_other_tag(
    quotation: AnswerQuotation,
    texts: Sequence[str],
    story: CheckedStory,
    named: Collection[tuple[str, ...]],
) -> str:
    """Return whom the text names right after each place of a quotation; empty if that is
    nobody, or the character `named`.
    """
    words = r"\W+".join(re.findall(r"\w+", quotation.text))
    tags = [
        _cut_tag(_CLAUSE_END.split(match[1])[0])
        for text in texts
        for match in re.finditer(
            rf"(?i:{words})[,.!?…—–]*[”\"’']\s+([^“”‘\"\n]+)", text
        )
    ]
    speakers = {
        tag: speaker
        for tag in tags
        if any(map(is_saying, tag.split())) or _WORDS_OF.match(tag)
        for speaker in _list_tagged(tag, story)[:1]
    }
    if not tags or len(speakers) < len({*tags}):
        return ""
    is_other = all(speaker.isdisjoint(named) for speaker in speakers.values())
    return tags[0].strip(" .,") if is_other else ""


def _cut_tag(clause: str) -> str:
    """Return the words after a quotation that may say who speaks."""
    words = clause.split()
    most = _LONG_TAG_WORDS if _WORDS_OF.match(clause) else _TAG_WORDS + 1
    return " ".join(words[:most])


def _list_tagged(
    tag: str, story: CheckedStory
) -> tuple[frozenset[tuple[str, ...]], ...]:
    """Return the characters whom the words after a quotation name: "I" is the narrator, if
    the story has only one.
    """
    named = list_named_characters(tag, story.cast)
    if named or len(story.narrators) != 1 or not re.search(r"\bI\b", tag):
        return named
    return (frozenset(map(fold_words, story.narrators[0])),)


def compare_with_texts(
    checked: CheckedStatement, texts: Sequence[str]
) -> CheckedStatement:
    """Return a quoted statement as one with another wording if none of `texts` has it
    or, if it has quotations, one of these; any other statement as it is.
    """
    statement = checked.statement
    if checked.result is not StatementResult.QUOTED or occurs_in(statement.text, texts):
        return checked
    quotations = [quotation.text for quotation in statement.quotations]
    missing = [q for q in quotations or [statement.text] if not occurs_in(q, texts)]
    differences = tuple(
        DetailDifference(DetailKind.QUOTATION, q, find_nearest_wording(q, texts))
        for q in missing
    )
    result = StatementResult.DETAILS_DIFFER if missing else checked.result
    return replace(checked, result=result, differences=differences)


def find_nearest_wording(quotation: str, texts: Sequence[str]) -> str:
    """Return the words of `texts` that are most similar to `quotation`, as many as it
    has; empty if fewer than `MIN_WORDING_SHARE` of its words stand there in their order.
    """
    words = normalize_words(quotation)
    best, wording = (MIN_WORDING_SHARE, 0), ""
    for text in texts:
        places = list(WORD_PATTERN.finditer(text))
        plain = [normalize_word(place[0]) for place in places]
        for at in _list_likely_places(words, plain):
            part = plain[at : at + len(words)]
            share = SequenceMatcher(None, words, part, autojunk=False).ratio()
            same = sum(map(str.__eq__, words, part))
            if (share, same) > best:
                last = places[min(at + len(words), len(places)) - 1]
                best, wording = (share, same), text[places[at].start() : last.end()]
    return wording


def _list_likely_places(words: Sequence[str], plain: Sequence[str]) -> list[int]:
    """Return the starts of the windows of `plain`, as long as `words`, that have most of
    them.
    """
    size, wanted = len(words), frozenset(words)
    counts = [0, *accumulate(word in wanted for word in plain)]
    starts = range(max(1, len(plain) - size + 1)) if plain else range(0)
    shared = ((counts[min(at + size, len(plain))] - counts[at], -at) for at in starts)
    return [
        -at for count, at in sorted(shared, reverse=True)[:COMPARED_PLACES] if count
    ]
