"""Cues beside a name that it is a person's, a place's, or another name of somebody."""

import re
from collections import Counter

from lrwr.core.nlp.names.lexicon import (
    BODY_NOUNS,
    DETERMINERS,
    DIRECTION_WORDS,
    KIN_EITHER,
    KIN_FEMALE,
    KIN_MALE,
    NAME_EPITHETS,
    PERSON_ACTION_VERBS,
    PLACE_PREPOSITIONS,
    STRICT_SPEECH,
)
from lrwr.core.nlp.names.mentions import NameCandidate, TextSection

# The last two words before a name, and the punctuation between them and the name
_BEFORE = re.compile(r"(?:(\w+)(,?)\s+)?(\w+)([^\w]*)\Z")
_AFTER = re.compile(r"([^\w]*)(\w+)?(?:\s+(\w+))?")
# The first pronoun after a name; a new sentence's subject or a paragraph end first
# stops the search, because the pronoun would mean someone else.
_PRONOUN = re.compile(
    r"\b(?:([Hh]e|[Hh]is|himself)|([Ss]he|[Hh]er|hers|herself))\b"
    r"|[a-z,;.!?] (?!He\b|She\b|His\b|Her\b)[A-Z][a-z]+|\n\n",
)
_VOCATIVE_AFTER = re.compile(r"\s*[,.!?;:—”\"-]")
_ALIKE = re.compile(
    r",?\s+(?:also |often |sometimes )?(?:called|known as|nicknamed|alias)\s+"
    r"|,?\s+whose (?:real|true|other|first) name was\s+"
)
_QUOTE_NEAR = re.compile(r"[“”\"‘’]")
_NAMING = re.compile(r"\b(?:[Mm]y name is|I,|call(?:ed)? me|named me|I am) $")
_PREPOSED = {"a": DETERMINERS, "in": PLACE_PREPOSITIONS, "at": DIRECTION_WORDS}
_PRONOUN_WINDOW = 70
"""Characters after a name that are searched for a pronoun."""
_CUE_WINDOW = 40
"""Characters before a name that are searched for cues."""


def is_alias_phrase(gap: str) -> bool:
    """Return whether `gap`, the text between two names, says that both are one person,
    as in "Nell, called Wren".
    """
    return bool(_ALIKE.fullmatch(gap))


def count_name_cues(section: TextSection, candidate: NameCandidate) -> Counter[str]:
    """Count the cues beside one occurrence of a name; `n` is always 1.

    Cues: `inside` (not at a sentence start), `quoted` (in speech), `vocative` (is
    addressed), `tag` (in a dialogue tag), `speech` (beside a speech verb), `act`
    (subject of another verb), `who` (followed by "who"), `body` and `possessive`
    ("Nell's eyes"), `kin` ("her brother Corin"), `epithet` ("old Nell"), `the` and `a`
    (article), `in` and `at` (place preposition), `narrator` ("my name is"), `male` and
    `female` (pronouns).
    """
    text = section.text
    before = text[max(0, candidate.start - _CUE_WINDOW) : candidate.start]
    after = text[candidate.end : candidate.end + _PRONOUN_WINDOW + 30]
    cues = Counter(("n",))
    if not candidate.initial:
        cues["inside"] = 1
    if len(candidate.words) > 1 and candidate.words[0] == "The":
        cues["the"] = 1
    if candidate.quoted:
        cues["quoted"] = 1
        if _is_vocative(before, after):
            cues["vocative"] = 1
            return cues
    if candidate.possessive:
        cues["possessive"] = 1
        after = after[2:]
    _count_before(cues, before)
    _count_after(cues, after, possessive=candidate.possessive)
    _count_gender(cues, after)
    if not candidate.quoted and _NAMING.search(before):
        cues["narrator"] = 1
    return +cues


def _is_vocative(before: str, after: str) -> bool:
    if not _VOCATIVE_AFTER.match(after):
        return False
    if before.rstrip("_*")[-1:] in ("“", '"', "‘", "'"):
        return True
    lead = before.rstrip(" _*\n")
    words = lead.rstrip(",").split()
    last = words[-1].strip("“\"‘'—-").lower() if words else ""
    if lead.endswith(","):
        return not _has_kin(words) and after.lstrip()[:1] != "-"
    return last in (
        "dear",
        "dearest",
        "oh",
        "o",
        "ah",
        "my",
        "poor",
        "well",
        "no",
        "yes",
    )


def _has_kin(words: list[str]) -> bool:
    last = words[-1].lower() if words else ""
    return last in KIN_FEMALE or last in KIN_MALE or last in KIN_EITHER


def _count_before(cues: Counter[str], before: str) -> None:
    match = _BEFORE.search(before)
    if match is None:
        return
    earlier, last = (match[1] or "").lower(), match[3].lower()
    gap = match[4].strip(" \n\t_*")
    if gap:
        if gap == "," and _has_kin([last]):
            _count_kin(cues, last)
        return
    if last in NAME_EPITHETS:
        cues["epithet"] = 1
        last, earlier = earlier, ""
    if last == "the":
        cues["the"] = 1
        last = earlier
    _count_word_before(cues, last, before)


def _count_word_before(cues: Counter[str], word: str, before: str) -> None:
    if word in STRICT_SPEECH and word != "called":
        cues["speech"] = 1
        if _QUOTE_NEAR.search(before[-28:]):
            cues["tag"] = 1
    elif _has_kin([word]):
        _count_kin(cues, word)
    else:
        for cue, words in _PREPOSED.items():
            if word in words:
                cues[cue] = 1


def _count_kin(cues: Counter[str], word: str) -> None:
    cues["kin"] = 1
    if word in KIN_FEMALE:
        cues["female"] += 3
    elif word in KIN_MALE:
        cues["male"] += 3


def _count_after(cues: Counter[str], after: str, *, possessive: bool) -> None:
    match = _AFTER.match(after)
    if match is None or not match[2]:
        return
    gap, word, second = match[1].strip(" _*"), match[2], match[3] or ""
    if possessive:
        cues["body"] += not gap and (word in BODY_NOUNS or second in BODY_NOUNS)
    elif gap:
        cues["who"] += gap == "," and word in ("who", "whom")
    else:
        _count_verb(cues, second if word.endswith("ly") else word, after)


def _count_verb(cues: Counter[str], word: str, after: str) -> None:
    if word in STRICT_SPEECH:
        cues["speech"] += 1
        cues["tag"] += bool(_QUOTE_NEAR.search(after[:40]))
    elif word in PERSON_ACTION_VERBS or word in ("who", "whom", "himself", "herself"):
        cues["act"] = 1


def _count_gender(cues: Counter[str], after: str) -> None:
    match = _PRONOUN.search(after[:_PRONOUN_WINDOW])
    if match is None:
        return
    if match[1]:
        cues["male"] += 1
    elif match[2]:
        cues["female"] += 1
