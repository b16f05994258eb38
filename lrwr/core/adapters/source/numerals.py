"""Numbers as chapter headings write them: 12, XII, twelve, the twelfth."""

import re
from functools import cache

_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_UNITS_TH = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
)  # fmt: skip
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TEENS_TH = (
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
    "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_TENS = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_TENS_TH = (
    "twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth",
    "eightieth", "ninetieth",
)  # fmt: skip

_ROMAN = r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})"
_ROMAN_SMALL = r"(?=[clxvi])c{0,3}(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})"
_UNIT = "|".join((*_UNITS_TH, *_UNITS))
_WORD = (
    f"(?:{'|'.join(_TENS)})(?:[-\\s](?:{_UNIT}))?"
    f"|{'|'.join((*_TENS_TH, *_TEENS_TH, *_TEENS))}|{_UNIT}"
)

NUMERAL_PATTERN = (
    rf"(?:\d{{1,4}}(?:st|nd|rd|th)?|(?i:{_WORD})|(?-i:{_ROMAN}|{_ROMAN_SMALL}))\b"
)
"""A pattern for a number; `parse_numeral` reads what it finds."""

FIGURE_PATTERN = rf"(?:\d{{1,4}}|(?-i:{_ROMAN}))"
"""A pattern for an Arabic or Roman numeral alone."""

_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def parse_numeral(numeral: str) -> int | None:
    """Read "12", "12th", "XII", "twelve" or "Twelfth"; None when it is none of them."""
    word = " ".join(numeral.lower().replace("-", " ").split())
    digits = re.match(r"\d{1,6}", word)
    if digits:
        return int(digits[0])
    if word in _named():
        return _named()[word]
    if word and re.fullmatch(_ROMAN, word.upper()):
        return _roman(word.upper())
    return None


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(
        -value if value < after else value
        for value, after in zip(values, following, strict=True)
    )


@cache
def _named() -> dict[str, int]:
    names: dict[str, int] = {}
    for first, words in (
        (1, _UNITS),
        (1, _UNITS_TH),
        (10, _TEENS),
        (10, _TEENS_TH),
    ):
        names.update({word: first + i for i, word in enumerate(words)})
    for i, (ten, tenth) in enumerate(zip(_TENS, _TENS_TH, strict=True)):
        value = 20 + 10 * i
        names |= {ten: value, tenth: value}
        for units in (_UNITS, _UNITS_TH):
            names.update({f"{ten} {u}": value + 1 + j for j, u in enumerate(units)})
    return names
