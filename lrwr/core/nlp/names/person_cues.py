"""What stands beside a name and tells whose it is: a person's, or a place's."""

import re
from collections import Counter

from lrwr.core.nlp.names.candidates import NameCandidate, TextSection
from lrwr.core.nlp.names.lexicon import (
    BODY_NOUNS,
    DETERMINERS,
    DIRECTION_WORDS,
    KIN_EITHER,
    KIN_FEMALE,
    KIN_MALE,
    PERSON_ACTION_VERBS,
    PLACE_PREPOSITIONS,
    STRICT_SPEECH,
)
from lrwr.core.nlp.names.titles import NAME_EPITHETS

_BEFORE = re.compile(r"(?:(\w+)(,?)\s+)?(\w+)([^\w]*)\Z")
_AFTER = re.compile(r"([^\w]*)(\w+)?(?:\s+(\w+))?")
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
_NEAR = 70
_BACK = 40


def is_alias_phrase(gap: str) -> bool:
    """Say whether what stands between two names says that they are one person's."""
    return bool(_ALIKE.fullmatch(gap))


def count_name_cues(reading: TextSection, sighting: NameCandidate) -> Counter[str]:
    """Count each cue that stands beside one sighting; `n` is always 1."""
    text = reading.text
    before = text[max(0, sighting.start - _BACK) : sighting.start]
    after = text[sighting.end : sighting.end + _NEAR + 30]
    cues = Counter(("n",))
    if not sighting.initial:
        cues["inside"] = 1
    if len(sighting.words) > 1 and sighting.words[0] == "The":
        cues["the"] = 1
    if sighting.quoted:
        cues["quoted"] = 1
        if _is_vocative(before, after):
            cues["vocative"] = 1
            return cues
    if sighting.possessive:
        cues["possessive"] = 1
        after = after[2:]
    _count_before(cues, before)
    _count_after(cues, after, possessive=sighting.possessive)
    _count_gender(cues, after)
    if not sighting.quoted and _NAMING.search(before):
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
    found = _BEFORE.search(before)
    if found is None:
        return
    earlier, last = (found[1] or "").lower(), found[3].lower()
    gap = found[4].strip(" \n\t_*")
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
    found = _AFTER.match(after)
    if found is None or not found[2]:
        return
    gap, word, second = found[1].strip(" _*"), found[2], found[3] or ""
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
    found = _PRONOUN.search(after[:_NEAR])
    if found is None:
        return
    if found[1]:
        cues["male"] += 1
    elif found[2]:
        cues["female"] += 1
