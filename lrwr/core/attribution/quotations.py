"""Quotations in an answer: whether they are verbatim, and under which number."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from lrwr.core.attribution.citations import (
    ANY_MARK,
    CITATION_MARK,
    list_plain_words,
    parse_numbers,
)
from lrwr.core.model.text import WORD_PATTERN, Span, normalize_word, normalize_words
from lrwr.core.model.turns import Citation, WebCitation
from lrwr.core.web.citations import WEB_MARK, parse_web_marks

MIN_QUOTED_WORDS = 4
"""Words from which on quotation marks count as a verbatim quotation; fewer without a
citation may be a title, a name or irony."""

REPEATED_WORDS = 5
"""Words in a row that show where a sentence comes from."""

QUOTED = re.compile(r"“(?P<curly>[^“”]+)”|\"(?P<straight>[^\"\n]+)\"")
_ELIDED = r"(?i:tis|twas|twere|twill|em|til|cause|bout|neath|gainst|n)\b"
_APOSTROPHE = (
    r"[’'](?=\w)|(?:(?<=s)|(?<=in))[’'](?=\s[a-z][^‘“”\"\n]*[,.!?…—–-][’'](?!\w))"
)
"""Within a quotation: in a word, or after a possessive or dropped ending if a surer end
of the quotation follows."""

_INNER = rf"[^‘’'\n“”\"]|“[^“”\n]*”|{_APOSTROPHE}"
DRAFT_QUOTED = re.compile(
    r"“(?P<curly>[^“”]+)”"
    r"|(?<![\w.,;:!?…–—-])\"(?P<straight>(?=\S)[^\"\n]*(?<=\S))\"(?!\w)"
    rf"|(?<![\w’'])‘(?!{_ELIDED})(?=[^\W\d]|[’'“…—])(?P<single>(?:{_INNER})+)’(?!\w)"
    rf"|(?<![\w’'])'(?!{_ELIDED})(?=[^\W\d]|[…—])(?P<plain>(?:{_INNER})+)'(?!\w)"
)
"""A quotation in a draft, in double or single quotation marks; apostrophes are none."""

_MARKS = re.compile(rf"(?:(?:{CITATION_MARK.pattern}|{WEB_MARK.pattern})[^\S\n]*)+")
_MARKS_AFTER = re.compile(rf"[\s.,;:!?)]*({_MARKS.pattern})")
_CLAUSE_END = re.compile(r"[.!?;:,](?:\s|$)|\n")
_PLAIN_WORD = re.compile(r"[^\W_]+")
"""A word that `list_plain_words` returns."""
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")


@dataclass(frozen=True, slots=True)
class AnswerQuotation:
    """A quotation in an answer.

    `span` includes the quotation marks; `text` is what stands between them, without
    citation marks. `marks` is the span of the citation marks that follow it: directly,
    or later on its line before the next quotation; None without any.
    """

    span: Span
    text: str
    marks: Span | None

    @property
    def is_long(self) -> bool:
        """Whether it has so many words that it must be verbatim."""
        return len(WORD_PATTERN.findall(self.text)) >= MIN_QUOTED_WORDS


def find_answer_quotations(text: str) -> list[AnswerQuotation]:
    """Return the quotations in an answer, in text order, each with its marks."""
    return [
        AnswerQuotation(
            Span(match.start(), match.end()),
            ANY_MARK.sub("", match["curly"] or match["straight"]),
            _find_marks(text, match.end()),
        )
        for match in QUOTED.finditer(text)
    ]


def find_draft_quotations(text: str) -> list[AnswerQuotation]:
    """Return the quotations in a draft, in text order, those in single quotation marks
    too; a draft has no citation marks.
    """
    return [
        AnswerQuotation(Span(match.start(), match.end()), match[match.lastgroup], None)
        for match in DRAFT_QUOTED.finditer(text)
        if match.lastgroup
    ]


def _find_marks(text: str, end: int) -> Span | None:
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    following = QUOTED.search(text, end, line_end)
    mark = ANY_MARK.search(text, end, following.start() if following else line_end)
    mark = mark or ANY_MARK.search(text, end, line_end)
    group = _MARKS.match(text, mark.start(), line_end) if mark else None
    return Span(group.start(), group.end()) if group else None


@dataclass(frozen=True, slots=True)
class MovedQuotation:
    """A quotation whose citation numbers `before` were replaced by `number`."""

    text: str
    before: tuple[int, ...]
    number: int

    @property
    def remark(self) -> str:
        """A sentence that says where the quotation stands."""
        before = "".join(f"[{number}]" for number in self.before)
        return f"“{self.text}” stands in [{self.number}], not in {before}: renumbered."


FitsCitation: TypeAlias = Callable[[AnswerQuotation, Citation], bool]
"""Whether a quotation of an answer may be cited from a passage that contains it."""


def renumber_quotations(
    text: str, citations: Sequence[Citation], fits: FitsCitation
) -> tuple[str, tuple[MovedQuotation, ...]]:
    """Return an answer in which each quotation has the number of the text that has it,
    and the quotations whose numbers changed.

    Only a quotation that is directly followed by numbers of other texts is changed, and
    only if exactly one of `citations` contains it, or the first of several that `fits`.
    Numbers of the same mark that other quotations before it need stay.
    """
    by_number = {citation.number: citation for citation in citations}
    pieces: list[str] = []
    moved: list[MovedQuotation] = []
    done = 0
    quotations = find_answer_quotations(text)
    for index, quotation in enumerate(quotations):
        marks = _find_direct_marks(text, quotation)
        if marks is None:
            continue
        numbers = list_numbers(marks[1])
        rights = _list_right_numbers(quotation, numbers, by_number)
        right = next((n for n in rights if fits(quotation, by_number[n])), None)
        if right is None:
            continue
        needed = _list_needed_numbers(
            quotations[:index], _find_marks_start(text, quotation), numbers, by_number
        )
        listed = "".join(f"[{number}]" for number in dict.fromkeys((*needed, right)))
        trailing = marks[1][len(marks[1].rstrip()) :]
        pieces += [text[done : marks.start(1)], listed, trailing]
        done = marks.end(1)
        moved.append(MovedQuotation(quotation.text, tuple(numbers), right))
    return "".join((*pieces, text[done:])), tuple(moved)


def find_misplaced_quotations(
    text: str, citations: Sequence[Citation]
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the quotations that only other passages contain than those of the numbers
    directly after them, with the words that these lack.

    In an answer of `renumber_quotations`, these are the quotations whose passage did not
    fit.
    """
    by_number = {citation.number: citation for citation in citations}
    for quotation in find_answer_quotations(text):
        marks = _find_direct_marks(text, quotation)
        numbers = list_numbers(marks[1]) if marks else []
        if _list_right_numbers(quotation, numbers, by_number) and numbers:
            sources = [by_number[n].text for n in numbers if n in by_number]
            yield quotation.span, find_differing_words(quotation.text, sources)


def count_quotations(text: str, citations: Sequence[Citation]) -> tuple[int, int]:
    """Return how many quotations an answer has, and how many of them `citations`
    contain.
    """
    quotations = find_answer_quotations(text)
    texts = [citation.text for citation in citations]
    return len(quotations), sum(occurs_in(q.text, texts) for q in quotations)


def _find_direct_marks(text: str, quotation: AnswerQuotation) -> re.Match[str] | None:
    marks = _MARKS_AFTER.match(text, quotation.span.end)
    return None if marks is None or WEB_MARK.search(marks[1]) else marks


def _find_marks_start(text: str, quotation: AnswerQuotation) -> int:
    """Return the end of the last mark before a quotation, or of the line before it."""
    ends = [mark.end() for mark in ANY_MARK.finditer(text, 0, quotation.span.start)]
    return max((*ends, text.rfind("\n", 0, quotation.span.start)), default=0)


def _list_right_numbers(
    quotation: AnswerQuotation,
    numbers: Sequence[int],
    by_number: Mapping[int, Citation],
) -> list[int]:
    """Return the numbers under which a quotation belongs; none to leave it as it is.

    A short quotation is only moved to the one text that contains it.
    """
    own_texts = [by_number[n].text for n in numbers if n in by_number]
    if not WORD_PATTERN.search(quotation.text) or occurs_in(quotation.text, own_texts):
        return []
    containing = [
        number
        for number, citation in by_number.items()
        if occurs_in(quotation.text, [citation.text])
    ]
    return containing if len(containing) == 1 or quotation.is_long else []


def _list_needed_numbers(
    earlier: Sequence[AnswerQuotation],
    since: int,
    numbers: Sequence[int],
    by_number: Mapping[int, Citation],
) -> list[int]:
    """Return those of `numbers` that quotations after offset `since` rest on."""
    texts = [q.text for q in earlier if q.span.start >= since and q.is_long]
    return [
        number
        for number in numbers
        if number in by_number
        and any(occurs_in(text, [by_number[number].text]) for text in texts)
    ]


def list_numbers(text: str) -> list[int]:
    """Return the citation numbers of all marks in `text`, each once, in text order."""
    marks = CITATION_MARK.finditer(text)
    return list(dict.fromkeys(n for mark in marks for n in parse_numbers(mark[1])))


def find_misquotations(
    text: str,
    citations: Sequence[Citation],
    pages: Mapping[int, WebCitation],
    question: str = "",
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the quotations of `text` that its sources do not contain, with the words
    that differ from the most similar passage.

    A short one counts if a citation stands after it in its sentence: else it may be a
    title or irony. A quotation of the web must occur in the pages of its own mark; words of `question`
    may be quoted.
    """
    for quotation in find_answer_quotations(text):
        if not quotation.is_long and not _is_attributed(text, quotation):
            continue
        sources = _list_sources(text, quotation, citations, pages)
        if not occurs_in(quotation.text, [*sources, question]):
            yield quotation.span, find_differing_words(quotation.text, sources)


def _is_attributed(text: str, quotation: AnswerQuotation) -> bool:
    """Return whether a citation of the manuscript follows in the same clause."""
    if quotation.marks is None or not WORD_PATTERN.search(quotation.text):
        return False
    between = QUOTED.sub(" ", text[quotation.span.end : quotation.marks.start])
    group = text[quotation.marks.start : quotation.marks.end]
    return not _CLAUSE_END.search(between) and bool(CITATION_MARK.search(group))


def _list_sources(
    text: str,
    quotation: AnswerQuotation,
    citations: Sequence[Citation],
    pages: Mapping[int, WebCitation],
) -> list[str]:
    group = text[quotation.marks.start : quotation.marks.end] if quotation.marks else ""
    page_numbers = parse_web_marks(group)
    of_manuscript = not page_numbers or CITATION_MARK.search(group)
    return [
        *(citation.text for citation in (citations if of_manuscript else ())),
        *(pages[number].text for number in page_numbers),
    ]


def find_differing_words(quotation: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the words of `quotation` that the most similar part of `sources` lacks; empty
    if that has less than half of at least `MIN_QUOTED_WORDS`: it is then no variant.
    """
    words = WORD_PATTERN.findall(quotation)
    plain = [normalize_word(word) for word in words]
    best: frozenset[str] = frozenset()
    for source in sources:
        source_words = normalize_words(source)
        for at in range(0, max(1, len(source_words) - len(words)), 4):
            window = frozenset(source_words[at : at + len(words) + 4])
            best = max(best, window & frozenset(plain), key=len)
    if len(words) >= MIN_QUOTED_WORDS and 2 * len(best) < len(frozenset(plain)):
        return ()
    missing = (
        word for word, form in zip(words, plain, strict=True) if form not in best
    )
    return tuple(dict.fromkeys(missing))


def occurs_in(quotation: str, texts: Sequence[str]) -> bool:
    """Return whether one of `texts` contains a quotation, whole or in parts between
    ellipses.
    """
    if any(_contains(text, quotation) for text in texts):
        return True
    parts = [part for part in _ELLIPSIS.split(quotation) if WORD_PATTERN.search(part)]
    return len(parts) > 1 and all(
        any(_contains(text, part) for text in texts) for part in parts
    )


def find_quotation(text: str, quotation: str) -> Span | None:
    """Return where the words of `quotation` first stand in `text` one after the other,
    compared as `occurs_in` does; None if they do not.
    """
    quoted = list_plain_words(quotation)
    places = list(_PLAIN_WORD.finditer(text))
    words = [place[0].casefold() for place in places]
    for at in range(len(words) - len(quoted) + 1):
        if quoted and words[at : at + len(quoted)] == quoted:
            return Span(places[at].start(), places[at + len(quoted) - 1].end())
    return None


def repeats_words(statement: str, texts: Sequence[str]) -> bool:
    """Return whether `statement` has `REPEATED_WORDS` words in a row from one of `texts`,
    or all of its words if it has fewer.
    """
    words = list_plain_words(statement)
    size = min(REPEATED_WORDS, len(words))
    runs = (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
    return size > 1 and any(occurs_in(run, texts) for run in runs)


def _contains(text: str, quotation: str) -> bool:
    return _fold_text(quotation) in _fold_text(text)


@lru_cache(maxsize=512)
def _fold_text(text: str) -> str:
    """Return the plain words of `text`, each between spaces, to compare texts."""
    return f" {' '.join(list_plain_words(text))} "
