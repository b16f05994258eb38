"""Parsing of people in a sentence: names, pronouns and descriptions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.dialogue.lexicon import (
    FAMILY_NOUNS,
    FEMALE_NOUNS,
    MALE_NOUNS,
    PERSON_NOUNS,
)
from lrwr.core.nlp.dialogue.turns import MASKED_NAME_CHARACTER

_TOKEN = re.compile(
    rf"{MASKED_NAME_CHARACTER}+|(?:Mr|Mrs|Ms|Dr|St|Rev|Prof|M|Mme|Capt|Col)\.|[^\W\d_][\w’']*(?:-[\w’']+)*|--|[^\w\s]"
)
_HE_SHE = {"he": Gender.MALE, "she": Gender.FEMALE}
_DETERMINERS = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "that",
        "his",
        "her",
        "my",
        "our",
        "their",
        "your",
        "its",
        "another",
        "one",
    ]
)
_OWNERS = frozenset({"his", "her", "my", "our", "their", "your", "its"})
_DESCRIPTION_ENDS = frozenset(
    [
        "in",
        "with",
        "to",
        "as",
        "at",
        "of",
        "after",
        "and",
        "who",
        "when",
        "while",
        "from",
        "on",
        "for",
        "by",
        "once",
        "whose",
        "looking",
        "turning",
        "without",
        "through",
        "into",
        "very",
        "quite",
        "rather",
        "again",
        "more",
        "before",
        "but",
        "then",
        "still",
        "now",
        "here",
        "there",
        "almost",
        "suddenly",
        "quietly",
        "aloud",
    ]
)
_NAME_ADJECTIVES = frozenset(
    [
        "old",
        "young",
        "poor",
        "little",
        "dear",
        "good",
        "honest",
        "the",
        "worthy",
        "great",
    ]
)
_REPLY_NOUNS = frozenset(
    [
        "reply",
        "answer",
        "response",
        "rejoinder",
        "question",
        "retort",
        "remark",
        "comment",
        "words",
        "observation",
        "exclamation",
        "cry",
        "lips",
        "declaration",
        "language",
        "reasoning",
        "reproach",
        "inquiry",
        "enquiry",
        "conclusion",
        "opinion",
        "verdict",
    ]
)
_LONGEST_DESCRIPTION = 6


class TextToken(str):
    """A word, a punctuation mark or a masked name; `at` is its offset in the document."""

    __slots__ = ("at",)
    at: int


class PersonMentionKind(StrEnum):
    """How a sentence refers to a person: by name (`NAMED`, or `STRANGER` if not in the
    cast), by pronoun, by description ("the porter"), as the narrator ("I"), or as
    several people.
    """

    NAMED = "named"
    PRONOUN = "pronoun"
    NARRATOR = "narrator"
    DESCRIBED = "described"
    STRANGER = "stranger"
    """A name that is not in the cast."""
    SEVERAL = "several"


@dataclass(frozen=True, slots=True)
class PersonMention:
    """A reference to a person in a sentence.

    `name` is the character's name, the words of an unknown name, or a description;
    empty for a pronoun and "I". `noun` is the last word of a description. In "Nell's
    brother", `owner` is "Nell" and `is_owned` is true; in "his brother" only `is_owned`
    is. `at` is the offset of a character's name in the document, else -1.
    """

    kind: PersonMentionKind
    name: str = ""
    gender: Gender = Gender.UNKNOWN
    noun: str = ""
    owner: str = ""
    is_owned: bool = False
    at: int = -1


def tokenize_masked_text(masked: str, start: int, end: int) -> list[TextToken]:
    """Split `masked[start:end]` into words, punctuation marks and masked names.

    Every character of a masked name is `MASKED_NAME_CHARACTER`. Tokens know their
    offset in `masked`, which is that in the document.
    """
    tokens = []
    for match in _TOKEN.finditer(masked, start, end):
        token = TextToken(match.group())
        token.at = match.start()
        tokens.append(token)
    return tokens


def parse_person_mention(
    tokens: Sequence[TextToken],
    at: int,
    name_at: Mapping[int, str],
    *,
    any_noun: bool = False,
) -> tuple[PersonMention, int] | None:
    """Return the person mentioned at `tokens[at]` and the index of the token after it;
    None if there is no person.

    `name_at` maps offsets in the document to the names masked in `tokens`. With
    `any_noun`, "the conjuror" is accepted although no word list has the noun.
    """
    at = _skip_adjectives(tokens, at)
    if at >= len(tokens):
        return None
    word = tokens[at]
    if word[0] == MASKED_NAME_CHARACTER:
        return _parse_name(tokens, at, name_at)
    lower = word.lower()
    if word == "I":
        return PersonMention(PersonMentionKind.NARRATOR), at + 1
    if lower in _HE_SHE:
        return PersonMention(PersonMentionKind.PRONOUN, gender=_HE_SHE[lower]), at + 1
    if lower in {"they", "we", "both", "all"}:
        return PersonMention(PersonMentionKind.SEVERAL), at + 1
    if lower in _DETERMINERS:
        return _parse_description(tokens, at, any_noun=any_noun)
    if word[0].isupper() and at > 0:
        return _parse_unknown_name(tokens, at)
    return None


def parse_possessor(
    tokens: Sequence[TextToken], at: int, name_at: Mapping[int, str]
) -> PersonMention | None:
    """Return the person of a possessive at `tokens[at]`, as in "Nell's reply", "his
    answer" or "my question".

    None if there is no possessive, or no noun of saying within the next four tokens.
    `name_at` maps offsets in the document to the names masked in `tokens`.
    """
    word = tokens[at]
    if (
        word[0] == MASKED_NAME_CHARACTER
        and at + 1 < len(tokens)
        and tokens[at + 1] in {"’", "'"}
    ):
        person = PersonMention(
            PersonMentionKind.NAMED, name_at.get(word.at, ""), at=word.at
        )
        start = at + 2
    elif word.lower() in {"his", "her"}:
        gender = Gender.MALE if word.lower() == "his" else Gender.FEMALE
        person = PersonMention(PersonMentionKind.PRONOUN, gender=gender)
        start = at + 1
    elif word.lower() == "my":
        person, start = PersonMention(PersonMentionKind.NARRATOR), at + 1
    else:
        return None
    near = [token.lower() for token in tokens[start : start + 4]]
    return person if any(token in _REPLY_NOUNS for token in near) else None


def _skip_adjectives(tokens: Sequence[TextToken], at: int) -> int:
    """Skip adjectives such as "poor old" if a name follows."""
    position = at
    while position < len(tokens) and tokens[position].lower() in _NAME_ADJECTIVES:
        position += 1
    is_name = position < len(tokens) and tokens[position][0] == MASKED_NAME_CHARACTER
    return position if is_name else at


def _parse_name(
    tokens: Sequence[TextToken], at: int, name_at: Mapping[int, str]
) -> tuple[PersonMention, int]:
    name = name_at.get(tokens[at].at, "")
    after = at + 1
    following = tokens[after] if after < len(tokens) else ""
    if following in {"’", "'"}:
        owned = _parse_owned_noun(tokens, after, name)
        if owned:
            return owned
    if following == "and" and after + 1 < len(tokens):
        second = tokens[after + 1]
        if second[0] == MASKED_NAME_CHARACTER:
            return PersonMention(PersonMentionKind.SEVERAL, name), after + 2
    return PersonMention(PersonMentionKind.NAMED, name, at=tokens[at].at), after


def _parse_owned_noun(
    tokens: Sequence[TextToken], apostrophe: int, owner: str
) -> tuple[PersonMention, int] | None:
    """Parse "Nell’s old aunt"."""
    at = apostrophe + 1
    if at < len(tokens) and tokens[at] == "s":
        at += 1
    for position in range(at, min(at + _LONGEST_DESCRIPTION, len(tokens))):
        noun = tokens[position].lower()
        if noun in PERSON_NOUNS:
            person = PersonMention(
                PersonMentionKind.DESCRIBED,
                noun,
                _noun_gender(noun),
                noun,
                owner,
                is_owned=True,
            )
            return person, position + 1
        if not noun.isalpha():
            break
    return PersonMention(PersonMentionKind.SEVERAL), at


def _parse_description(
    tokens: Sequence[TextToken], at: int, *, any_noun: bool
) -> tuple[PersonMention, int] | None:
    words: list[str] = []
    end = at + 1
    for position in range(at + 1, min(at + 1 + _LONGEST_DESCRIPTION, len(tokens))):
        word = tokens[position]
        if not word[0].isalpha() or word.lower() in _DESCRIPTION_ENDS:
            break
        words.append(word.lower())
        end = position + 1
        if words[-1] in PERSON_NOUNS and not _has_next_noun(tokens, end):
            break
    if not words:
        return None
    noun = words[-1]
    if noun not in PERSON_NOUNS and not (any_noun and _is_simple_noun(words)):
        return None
    owned = tokens[at].lower() in _OWNERS and (
        noun in FAMILY_NOUNS or noun in PERSON_NOUNS
    )
    gender = _noun_gender(noun)
    return PersonMention(
        PersonMentionKind.DESCRIBED, " ".join(words), gender, noun, is_owned=owned
    ), end


def _has_next_noun(tokens: Sequence[TextToken], at: int) -> bool:
    """Return whether another noun for a person follows: the old lady | visitor."""
    return at < len(tokens) and tokens[at].lower() in PERSON_NOUNS


def _is_simple_noun(words: Sequence[str]) -> bool:
    return len(words) <= 3 and not words[-1].endswith("ly")


def _noun_gender(noun: str) -> Gender:
    if noun in MALE_NOUNS:
        return Gender.MALE
    return Gender.FEMALE if noun in FEMALE_NOUNS else Gender.UNKNOWN


def _parse_unknown_name(
    tokens: Sequence[TextToken], at: int
) -> tuple[PersonMention, int]:
    end = at
    while end < len(tokens) and tokens[end][0].isupper():
        end += 1
    words = [word.rstrip("’'") for word in tokens[at:end]]
    return PersonMention(PersonMentionKind.STRANGER, " ".join(words).lower()), end
