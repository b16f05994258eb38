"""Details of a statement that its source must contain: numbers and negations."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from types import MappingProxyType

from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    Span,
    normalize_word,
    stem_lightly,
)

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen"
    " fourteen fifteen sixteen seventeen eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh"
    " twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth"
    " nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENTHS = (
    "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
)
_VALUES: Mapping[str, int] = MappingProxyType(
    {
        **dict(zip(_UNITS.split(), range(20), strict=True)),
        **dict(zip(_ORDINALS.split(), range(20), strict=True)),
        **dict(zip(_TENS.split(), range(20, 100, 10), strict=True)),
        **dict(zip(_TENTHS.split(), range(20, 100, 10), strict=True)),
        "dozen": 12,
        "dozens": 12,
    }
)
_SCALES: Mapping[str, int] = MappingProxyType(
    {"hundred": 100, "hundredth": 100, "thousand": 1000, "thousandth": 1000}
)
_NUMBER_TOKEN = re.compile(r"\d+(?:[.,]\d{3})*|[^\W\d_]+")
_DIGIT_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_TENS_AFTER = re.compile(
    rf"[-‑ ](?:{'|'.join((_TENS + ' ' + _TENTHS).split())})\b", re.I
)
_RANGE_START = re.compile(r"\b(?:between|from)\W+$", re.I)
_YEAR_WORDS = re.compile(
    rf"\b(?P<century>{'|'.join(_UNITS.split()[13:])}|twenty)[- ]"
    rf"(?P<rest>(?:{'|'.join(_UNITS.split()[10:])})|(?:{'|'.join(_TENS.split())})"
    rf"(?:[- ](?:{'|'.join(_UNITS.split()[1:10])}))?)\b(?!-)",
    re.IGNORECASE,
)
"""A year in words, such as "seventeen eighty-five"."""

_UNCOUNTED = frozenset({"zero", "one", "zeroth", "first", "second"})
"""Words that are mostly no number: "one of them", "at first", "a second later"."""

_COUNTED_BEFORE = re.compile(r"\b(?:the|these|those|both|all) (?:two|three)\b", re.I)
"""A count of what was named before: "the two days"."""

_CHAPTER = re.compile(
    r"\b(?:chapters?|ch\.?)\s+((?:\d+|[a-z]+)(?:(?:\s*(?:,|and|to|-|–)\s*)(?:\d+))*)",
    re.I,
)

_AFFIRMING = (
    r"(?!(?:not only|not least|no (?:less|fewer|more) than|no (?:doubt|sooner|wonder)"
    r"|no(?:thing|ne) (?:less than|short of|other than)"
    r"|without (?:an? |any |the (?:least |slightest )?)?(?:moment['’]s )?"
    r"(?:delay|doubt|exception|fail|hesitati(?:on|ng)|question))\b)"
)
"""What does not follow a negation: the whole says the contrary, as "without fail"."""

_NEGATION = re.compile(
    rf"\b{_AFFIRMING}"
    r"(?:not|never|no|nobody|nothing|none|nowhere|neither|nor|without|cannot"
    r"|hardly|scarcely|barely|\w+n['’]t|nowt|(?:can|did|din|is|was|shan|win|won)na)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    rf"{_NEGATION.pattern}|\b(?:refus|impossib|unable|declin|den(?:y|ie))\w*",
    re.IGNORECASE,
)
"""A negation, or a word that has one in it."""

_NOBODY = re.compile(r"\W*(?:no ?(?:body|thing|where|ne)|no one)\b", re.IGNORECASE)
"""The beginning of a sentence that says that something does not exist."""

_DENIAL = re.compile(r"\b(?:not|never|cannot|\w+n['’]t)\b", re.IGNORECASE)
"""A negation of a verb, such as "never says"."""

_LACK = re.compile(
    r"\b(?:den(?:y|ie[sd])|fail|refus|avoid|lack|miss|forg[eo]t|forgot|declin|stop|skip"
    r"|silent|unable|instead|rather|only|until|except|but)\w*",
    re.IGNORECASE,
)
"""Words by which a statement denies something without a negation."""

_MIN_LOST_STEMS = 3
_MIN_LOST_SHARE = 0.6
"""Content words of a statement, at least, and their share that a sentence must have for
it to be about the same."""

_SAYING = re.compile(
    r"(?:add|ask|call|count|cr[iy]|giv|hear|learn|letter|name|note|read|repeat|sa[iy]"
    r"|shout|speak|tell|told|whisper|writ)\w*$",
    re.IGNORECASE,
)
"""A verb that may introduce the words after a colon."""

_ADMITTING = re.compile(
    r"\W*(?:even\s+)?(?:answer|care|deny|explain|flinch|forget|hesitate|hide|lie|mean"
    r"|mince|need|pretend|soften|spare|stop|wait)",
    re.IGNORECASE,
)
"""What is negated where somebody does speak: "does not deny it: “…”"."""

_PREPOSITIONS = frozenset(
    ("after", "at", "before", "by", "for", "from", "in", "of", "on", "to", "with")
)
_CLAUSE_END = re.compile(r"[,;:.!?()–—]")
_CONTRAST = re.compile(r"\b(?:and|but|,)\s*$")
_LISTED = re.compile(r"[,;:]|\b(?:and|or)\b")
_ABILITY = re.compile(r"\b(?:can|could)(?:not|n['’]t|\s+not|\s+never)$", re.IGNORECASE)
_INABILITY = re.compile(
    r"\b(?:can|could)(?:not|n['’]t|\s+not|\s+never)\b|\bin vain\b"
    r"|\b(?:hopeless|impossible|unable|powerless)\b",
    re.IGNORECASE,
)
_NEWS = "news word message tidings answer reply report letter telegram information"
_NO_WORD = re.compile(
    r"\b(?:not|never|nor)\b(?: even)? (?:a|one) (?:single )?"
    r"(?:word|line|sign|trace|whisper|message|letter|answer|reply)\b",
    re.IGNORECASE,
)
"""What "Not a word came" denies: news in any form."""

_SCOPE = 4
"""Words after a negation that it can negate."""

FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Numbers between these may be years."""

_NOUN_ENDINGS = ("ance", "ence", "ness", "ment", "ion", "er", "or", "al", "y", "e")
_SHORTEST_STEM = 3

MAX_ROUNDING = 0.15
"""How far a number with "about", as a share of it, may be from the exact one."""

_HEDGE = re.compile(
    r"\b(?:(?P<over>more than|over|at least|upwards of|no (?:fewer|less) than)"
    r"|(?P<near>almost|nearly|close to|not quite)"
    r"|(?P<under>less than|fewer than|under|at most|up to|no more than)"
    r"|(?P<round>about|around|roughly|approximately|circa))\s+(?:an?\s+)?$",
    re.IGNORECASE,
)
"""Words before a number after which it is not meant exactly."""


def find_numbers(text: str) -> list[tuple[int, str]]:
    """Return the numbers in `text` with their words, as `find_number_places`."""
    places = find_number_places(text)
    return [(value, text[span.start : span.end]) for value, span in places]


def find_number_places(text: str) -> list[tuple[int, Span]]:
    """Return the numbers in `text` with their places, in text order.

    Digits and words up to thousands are read, ordinals as their numbers: "twenty-first"
    gives 21, "seventeen eighty-five" 1785. "one", "first" and "second" alone are left
    out: they seldom count.
    """
    numbers: list[tuple[int, Span]] = []
    run: list[re.Match[str]] = []
    for token in [*_NUMBER_TOKEN.finditer(text), None]:
        if token and _continues_number(run, token, text):
            run.append(token)
            continue
        numbers += _read_run(run)
        run = [token] if token and _is_number(token[0]) else []
    years = [_read_year(match) for match in _YEAR_WORDS.finditer(text)]
    within = [span for _, span in years]
    numbers = [n for n in numbers if not any(span.holds(n[1]) for span in within)]
    return sorted((*numbers, *years), key=lambda number: number[1].start)


def _read_year(match: re.Match[str]) -> tuple[int, Span]:
    century, rest = match["century"].lower(), match["rest"].lower()
    value = 100 * _VALUES[century] + sum(_VALUES[w] for w in re.split("[- ]", rest))
    return value, Span(*match.span())


def find_missing_numbers(
    statement: str, source: str, also: Collection[int] = ()
) -> tuple[str, ...]:
    """Return the numbers of `statement`, in its words, that neither `source` nor `also`
    contains.

    A number that is the sum or the difference of two others of the statement or of one
    of them and one is a calculation, and is not missing.
    """
    numbers = find_numbers(_COUNTED_BEFORE.sub(" ", statement))
    known = {value for value, _ in find_numbers(source)} | set(also)
    known |= {1, 0} & {value for value, _ in numbers}
    missing = [(value, words) for value, words in numbers if value not in known]
    stated = {value for value, _ in numbers if value in known}
    sums = {a + b for a, b in combinations(stated, 2)}
    sums |= {abs(a - b) for a, b in combinations(stated, 2)}
    # A year may be cited without its century: "in fifty-one".
    sums |= {v for v, _ in missing if 1000 < v <= LAST_YEAR and v % 100 in known}
    return tuple(words for value, words in missing if value not in sums)


def find_chapter_numbers(text: str) -> frozenset[int]:
    """Return the numbers that follow "chapter" or "chapters" in `text`."""
    return frozenset(
        value
        for match in _CHAPTER.finditer(text)
        for value, _ in find_numbers(match[1].replace("one", "1"))
    )


def _is_number(word: str) -> bool:
    return word[0].isdecimal() or word.lower() in _VALUES or word.lower() in _SCALES


def _continues_number(
    run: Sequence[re.Match[str]], token: re.Match[str], text: str
) -> bool:
    """Return whether `token` belongs to the number that `run` begins: "and" within
    "three hundred and six", the second word of "twenty-one", an ordinal ending.
    """
    if not run:
        return False
    between = text[run[-1].end() : token.start()]
    word, last = token[0].lower(), run[-1][0].lower()
    if run[0][0][0].isdecimal():
        return len(run) == 1 and not between and word in _DIGIT_ORDINAL
    if between not in ("-", " ", "‑"):
        return False
    if word in _SCALES:
        return last in _VALUES
    if word == "and":
        return last in _SCALES or _opens_reversed(run, token, text)
    if last in _SCALES or last == "and":
        return word in _VALUES
    return _VALUES.get(last, 0) >= 20 and 0 < _VALUES.get(word, 0) < 10


def _opens_reversed(
    run: Sequence[re.Match[str]], token: re.Match[str], text: str
) -> bool:
    """Return whether a unit and "and" begin a number such as "five-and-twenty"; not in
    "between five and twenty".
    """
    is_unit = len(run) == 1 and 0 < _VALUES.get(run[0][0].lower(), 0) < 10
    is_range = _RANGE_START.search(text[: run[0].start()])
    return is_unit and not is_range and bool(_TENS_AFTER.match(text, token.end()))


def _read_run(run: Sequence[re.Match[str]]) -> list[tuple[int, Span]]:
    words = [token[0].lower() for token in run]
    while words and words[-1] == "and":
        words.pop()
    if not words or words in ([word] for word in _UNCOUNTED):
        return []
    span = Span(run[0].start(), run[len(words) - 1].end())
    if words[0][0].isdecimal():
        return [(int(re.sub(r"\D", "", words[0])), span)]
    total = part = 0
    for word in words:
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            total, part = (total + part, 0) if _SCALES[word] > 100 else (total, part)
        else:
            part += _VALUES.get(word, 0)
    return [(total + part, span)]


def find_missing_negation(statement: str, source: Sequence[str]) -> tuple[str, ...]:
    """Return a negation of `statement` if the sentences of `source` about what it negates
    have none.

    What is negated are the content words that follow within `_SCOPE` words and the
    clause. Empty if the statement negates nothing, or if no sentence has these words. That
    somebody cannot do something may be in other words, such as "hopeless", in a sentence
    that shares a word with the statement.
    """
    for negation in _NEGATION.finditer(statement):
        clause = _CLAUSE_END.split(statement[negation.end() :], maxsplit=1)[0]
        if _CONTRAST.search(statement[: negation.start()]):
            continue
        negated = stem_words(" ".join(clause.split()[:_SCOPE]))
        if not negated:
            before = _CLAUSE_END.split(statement[: negation.start()])[-1]
            negated = stem_words(" ".join(before.split()[-_SCOPE:]))
        if not negated.isdisjoint(stem_words(_NEWS)) and any(
            _NO_WORD.search(sentence) for sentence in source
        ):
            continue
        if _ABILITY.search(statement[: negation.end()]) and any(
            _INABILITY.search(sentence)
            and not stem_words(statement).isdisjoint(stem_words(sentence))
            for sentence in source
        ):
            continue
        about = _find_fitting(negated, source)
        if about and not any(_NEGATION.search(sentence) for sentence in about):
            return (negation[0],)
    return ()


def loses_negation(statement: str, source: Sequence[str]) -> bool:
    """Return whether `statement` states what the sentences of `source` deny.

    These are the sentences that share most of its content words; each of them negates
    one of these within `_SCOPE` words. False if the statement has a negation of its own
    or says that something is lacking.
    """
    if has_negation(statement) or _LACK.search(statement):
        return False
    stems = stem_words(statement)
    about = _find_fitting(stems, source)
    wanted = max(_MIN_LOST_STEMS, _MIN_LOST_SHARE * len(stems))
    if not about or len(stems & stem_words(about[0])) < wanted:
        return False
    return all(
        any(
            not stems.isdisjoint(_list_negated(sentence, negation))
            for negation in _DENIAL.finditer(sentence)
        )
        for sentence in about
    )


def _list_negated(sentence: str, negation: re.Match[str]) -> frozenset[str]:
    clause = _CLAUSE_END.split(sentence[negation.end() :], maxsplit=1)[0]
    return stem_words(" ".join(clause.split()[:2]))


def has_negation(text: str) -> bool:
    """Return whether `text` contains a negation."""
    return _NEGATION.search(text) is not None


def has_denial(text: str) -> bool:
    """Return whether `text` has a negation or a word such as "refuse"."""
    return _DENIED.search(text) is not None


def denies_existence(statement: str) -> bool:
    """Return whether `statement` begins with "nobody", "nothing" or the like."""
    return _NOBODY.match(statement) is not None


def count_listed(statement: str) -> frozenset[int]:
    """Return the counts that "two things, the debts and the outfit" may state of what
    follows them.
    """
    counts: set[int] = set()
    for value, span in find_number_places(statement):
        rest = statement[span.end :]
        parts = len([p for p in _LISTED.split(rest) if WORD_PATTERN.search(p)])
        counts |= {value} & {parts, parts - 1} if parts > 1 else set()
    return frozenset(counts)


def find_denial(text: str, span: Span) -> str:
    """Return the negation that denies the quotation at `span` of an answer; empty if
    there is none.

    It stands in the clause before ("she never says “…”"), in that before a colon with a
    verb of saying ("she never says it to him: “…”"), or after it ("“…”, she never says").
    """
    before = text[max(0, span.start - 160) : span.start].rstrip("“\"‘' ")
    clauses = re.split(r"[.!?;()–—]\s|\n", before.rstrip(",:"))[-1].split(",")
    while (
        len(clauses) > 1
        and clauses[-1].split()[:1]
        and (clauses[-1].split()[0].lower() in _PREPOSITIONS)
    ):
        clauses[-2:] = [" ".join(clauses[-2:])]
    words: list[str] = clauses[-1].rpartition(":")[2].split()
    last_words = " ".join(words[-2 * _SCOPE :])
    near = _DENIAL.search(last_words)
    # "will not believe it, so she repeats that" denies something else.
    between = last_words[near.end() :].split()[2:] if near else []
    says_later = any(_SAYING.match(word) for word in between)
    if near and not says_later and not _ADMITTING.match(last_words, near.end()):
        return near[0]
    if before.endswith(":"):
        for word, verb in pairwise(words):
            if _DENIAL.fullmatch(word) and _SAYING.match(verb):
                return word
    after = re.match(
        r"[”\"’']*,?\s*((?:\w+ ){1,2})(\w+)", text[span.end : span.end + 80]
    )
    denial = _DENIAL.search(after[1]) if after and _SAYING.match(after[2]) else None
    return str(denial[0]) if denial else ""


def denies_saying(text: str, span: Span) -> bool:
    """Return whether an answer says that the quotation at `span` is not said, asked or
    the like: "she never says to him, “…”".
    """
    clause = re.split(r"[.!?;(]\s|\n", text[max(0, span.start - 80) : span.start])[-1]
    words = [word.strip(",:") for word in clause.split()]
    return any(
        _DENIAL.fullmatch(word) and _SAYING.match(verb)
        for word, verb in pairwise(words[-2 * _SCOPE :])
    )


def has_negation_near(sentence: str, quotation: str) -> bool:
    """Return whether a sentence negates its quotation: before it, in the same clause.

    If the beginning of the quotation does not occur, any negation counts.
    """
    words = [re.escape(word) for word in WORD_PATTERN.findall(quotation)[:_SCOPE]]
    match = re.search(r"\b" + r"\W+".join(words), sentence, re.IGNORECASE)
    if match is None or not words:
        return has_negation(sentence)
    return has_negation(_CLAUSE_END.split(sentence[: match.start()])[-1])


def _find_fitting(stems: frozenset[str], source: Sequence[str]) -> list[str]:
    """Return the sentences of `source` that share most stems with `stems`, if any."""
    shared = [(len(stems & stem_words(sentence)), sentence) for sentence in source]
    most = max((count for count, _ in shared), default=0)
    return [sentence for count, sentence in shared if count and count == most]


@lru_cache(maxsize=2_000)
def stem_words(text: str) -> frozenset[str]:
    """Return the stems of the words of `text` without stop words.

    They unite more forms than `stem_lightly`: "paint", "painted" and "painter".
    """
    words = (normalize_word(word) for word in WORD_PATTERN.findall(text))
    return frozenset(_stem(word) for word in words if word not in STOP_WORDS)


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    stem = stem_lightly(word)
    for ending in _NOUN_ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= _SHORTEST_STEM:
            stem = stem[: -len(ending)]
            break
    has_double = len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2]
    return stem[:-1] if has_double else stem


def are_hedged(
    own: Sequence[int], theirs: Sequence[int], statement: str, source: str
) -> bool:
    """Return whether the numbers of two texts differ, but each pair can be the same
    because of a word such as "about" or "more than" before only one of them.
    """
    if not own or len(own) != len(theirs) or list(own) == list(theirs):
        return False
    hedges, others = _find_hedges(statement), _find_hedges(source)
    return all(
        value == other
        or (
            hedges.get(value) != others.get(other)
            and (
                _fits(hedges.get(value), value, other)
                or _fits(others.get(other), other, value)
            )
        )
        for value, other in zip(own, theirs, strict=True)
    )


def _find_hedges(text: str) -> dict[int, str]:
    """Return for each number in `text` that is not meant exactly how it is meant."""
    hedges = {}
    for value, span in find_number_places(text):
        hedge = _HEDGE.search(text[: span.start])
        if hedge is not None:
            hedges[value] = str(hedge.lastgroup)
    return hedges


def _fits(hedge: str | None, value: int, exact: int) -> bool:
    """Return whether `exact` may be called `value` with the `hedge` before it."""
    is_close = abs(exact - value) <= MAX_ROUNDING * value
    match hedge:
        case "over":
            return exact >= value
        case "under":
            return exact <= value
        case "near":
            return exact <= value and is_close
        case _:
            return hedge is not None and is_close
