"""The marks of what is from the web, [w1]: apart from the numbers of the text."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from lrwr.core.model.turns import WebCitation
from lrwr.core.ports.sources import WebPage

WEB_MARK = re.compile(r"\[w(\d{1,6})\]")
"""What stands behind a sentence that rests on a page of the web, as we write it."""

WEB_HEAD = "From the web:"
"""The line after which an answer without a language model quotes the web."""

_PART = r"[wW]?\s?\d+(?:\s*[–-]\s*[wW]?\s?\d+)?"
_MIXED = re.compile(
    rf"([^\S\n]*)\[\s*((?=[^\]]*[wW])(?:{_PART})(?:\s*[,;]\s*{_PART})*)\s*\]"
)
"""A mark as a model may write it: [w1, w2], [W1], [1, w2], [w1-w3]."""

_ANY = re.compile(rf"([^\S\n]*)\[\s*{_PART}(?:\s*[,;]\s*{_PART})*\s*\]")
_END = re.compile(r"(?<=[.!?…\]”\"])\s+")
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"\n]*\"")


def number_web_pages(pages: Sequence[WebPage]) -> tuple[WebCitation, ...]:
    """Return pages with their numbers, from 1, in their order."""
    return tuple(
        WebCitation(number, page.title, page.url, page.text)
        for number, page in enumerate(pages, start=1)
    )


def find_web_citations(
    answer: str, pages: Sequence[WebPage]
) -> tuple[WebCitation, ...]:
    """Return what an answer has from the web by its marks, in order."""
    used_numbers = set(parse_web_marks(answer))
    return tuple(
        web_page
        for web_page in number_web_pages(pages)
        if web_page.number in used_numbers
    )


def parse_web_marks(text: str) -> list[int]:
    """Return the numbers of the web's marks in a text, as they come."""
    return [int(mark[1]) for mark in WEB_MARK.finditer(text)]


def normalize_web_marks(answer: str, page_numbers: Collection[int]) -> str:
    """Return an answer with each web mark as [w1], those that stand for nothing gone.

    What a mark of the web has of the text's own numbers stays beside it: [1][w2].
    """
    return _until_steady(_MIXED, lambda mark: _rewritten(mark, page_numbers), answer)


def strip_mark_lookalikes(text: str) -> str:
    """Return somebody else's text without what would look like a mark of ours."""
    return _until_steady(_ANY, lambda _: "", text)


def strip_web_part(answer: str) -> str:
    """Return an answer without what it has from the web: the part that quotes it, and
    each sentence with a mark of it, a quotation being part of its sentence."""
    kept_lines: list[str] = []
    for line in answer.split("\n"):
        if line.strip() == WEB_HEAD:
            break
        kept_lines.append(_own_sentences(line) if WEB_MARK.search(line) else line)
    return "\n".join(kept_lines).strip()


def _own_sentences(line: str) -> str:
    kept_sentences: list[str] = []
    for piece in _sentences(line):
        if not WEB_MARK.search(piece):
            kept_sentences.append(piece)
        elif kept_sentences and not WEB_MARK.sub("", piece).strip(" .,;"):
            kept_sentences.pop()  # the mark stands after the full stop
    return " ".join(kept_sentences)


def _sentences(line: str) -> Iterator[str]:
    quoted = [match.span() for match in _QUOTED.finditer(line)]
    at = 0
    for end in _END.finditer(line):
        if not any(start < end.start() < until for start, until in quoted):
            yield line[at : end.start()]
            at = end.end()
    yield line[at:]


def _rewritten(mark: re.Match[str], page_numbers: Collection[int]) -> str:
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


def _until_steady(
    pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str
) -> str:
    before = ""
    while before != text:  # what is taken out may leave a new mark: "[[w9]w8]"
        before, text = text, pattern.sub(replace, text)
    return text
