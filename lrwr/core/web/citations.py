"""Citations of web pages, marked as [w1] and numbered separately from those of the
manuscript.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from lrwr.core.model.turns import WebCitation
from lrwr.core.ports.sources import WebPage

WEB_MARK = re.compile(r"\[w(\d{1,6})\]")
"""The mark after a sentence that rests on a web page, in normalized form."""

WEB_HEAD = "From the web:"
"""The line that precedes web quotations in an answer without a language model."""

_MARK_PART = r"[wW]?\s?\d+(?:\s*[–-]\s*[wW]?\s?\d+)?"
_WEB_MARK_GROUP = re.compile(
    rf"([^\S\n]*)\[\s*((?=[^\]]*[wW])(?:{_MARK_PART})(?:\s*[,;]\s*{_MARK_PART})*)\s*\]"
)
"""A mark as a model may write it: [w1, w2], [W1], [1, w2], [w1-w3]."""

_ANY_MARK_GROUP = re.compile(
    rf"([^\S\n]*)\[\s*{_MARK_PART}(?:\s*[,;]\s*{_MARK_PART})*\s*\]"
)
_SENTENCE_GAP = re.compile(r"(?<=[.!?…\]”\"])\s+")
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"\n]*\"")


def number_web_pages(pages: Sequence[WebPage]) -> tuple[WebCitation, ...]:
    """Return `pages` as citations, in the same order, numbered from 1.

    The number is that of the mark in an answer: [w1].
    """
    return tuple(
        WebCitation(number, page.title, page.url, page.text)
        for number, page in enumerate(pages, start=1)
    )


def find_web_citations(
    answer: str, pages: Sequence[WebPage]
) -> tuple[WebCitation, ...]:
    """Return those `pages` whose marks, such as [w1], occur in `answer`.

    In the order of their numbers, which are the positions in `pages`, from 1.
    """
    used_numbers = set(parse_web_marks(answer))
    return tuple(
        web_page
        for web_page in number_web_pages(pages)
        if web_page.number in used_numbers
    )


def parse_web_marks(text: str) -> list[int]:
    """Return the numbers of all marks such as [w1] in `text`, in text order, repeated
    ones included.
    """
    return [int(mark[1]) for mark in WEB_MARK.finditer(text)]


def normalize_web_marks(answer: str, page_numbers: Collection[int]) -> str:
    """Return `answer` with web marks written as [w1], without those that are not in
    `page_numbers`.

    Manuscript numbers in the same brackets stay, in brackets of their own: [1][w2].
    """
    return _replace_until_stable(
        _WEB_MARK_GROUP, lambda mark: _rewrite_mark(mark, page_numbers), answer
    )


def strip_mark_lookalikes(text: str) -> str:
    """Return `text`, which comes from outside, without anything that looks like a
    citation mark, such as [1] or [w2, 3].
    """
    return _replace_until_stable(_ANY_MARK_GROUP, lambda _: "", text)


def strip_web_part(answer: str) -> str:
    """Return `answer` without what comes from the web.

    Removed are every sentence with a web mark such as [w1], and everything from the
    heading that introduces quoted web pages on. A sentence inside a quotation is not
    removed alone: it belongs to the sentence that contains the quotation.
    """
    kept_lines: list[str] = []
    for line in answer.split("\n"):
        if line.strip() == WEB_HEAD:
            break
        kept_lines.append(_drop_web_sentences(line) if WEB_MARK.search(line) else line)
    return "\n".join(kept_lines).strip()


def _drop_web_sentences(line: str) -> str:
    kept_sentences: list[str] = []
    for piece in _iter_sentences(line):
        if not WEB_MARK.search(piece):
            kept_sentences.append(piece)
        elif kept_sentences and not WEB_MARK.sub("", piece).strip(" .,;"):
            kept_sentences.pop()  # the mark stands after the full stop
    return " ".join(kept_sentences)


def _iter_sentences(line: str) -> Iterator[str]:
    quoted = [match.span() for match in _QUOTED.finditer(line)]
    at = 0
    for end in _SENTENCE_GAP.finditer(line):
        if not any(start < end.start() < until for start, until in quoted):
            yield line[at : end.start()]
            at = end.end()
    yield line[at:]


def _rewrite_mark(mark: re.Match[str], page_numbers: Collection[int]) -> str:
    web_marks, own_parts = "", []
    for part in re.split(r"\s*[,;]\s*", mark[2]):
        if part[:1] not in "wW":
            own_parts.append(part)
            continue
        ends = [int(end) for end in re.findall(r"\d+", part) if len(end) <= 6]
        if ends:
            inside = (
                number
                for number in sorted(page_numbers)
                if ends[0] <= number <= ends[-1]
            )
            web_marks += "".join(f"[w{number}]" for number in inside)
    beside = f"[{', '.join(own_parts)}]" if own_parts else ""
    return f"{mark[1]}{beside}{web_marks}" if beside or web_marks else ""


def _replace_until_stable(
    pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str
) -> str:
    before = ""
    while before != text:  # removing a mark may create another one: "[[w9]w8]"
        before, text = text, pattern.sub(replace, text)
    return text
