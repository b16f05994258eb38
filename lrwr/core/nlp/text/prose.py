"""Preparation of a text for rules: sentences, narration and speech apart."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.model.text import SentenceSplitter, Span

MASK_CHARACTER = "\x01"
"""Replaces every character that rules must ignore."""
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
# Markdown headings, and lines in capitals with three or more in a row
_HEADING = re.compile(r"^(?:#{1,6}[ \t].*|[^a-z\n]*[A-Z]{3}[^a-z\n]*)$", re.M)
_SET_OFF = re.compile(r"^(?:>|[A-Z][A-Z.' ]{2,}:[ \t]).*$", re.M)
"""A line set off by `>` (a letter), or a line of a play ("NELL: …")."""
# A scene break ("* * *", "---") or a Markdown heading
_BREAK = re.compile(
    r"^(?:[ \t]*[*~_–—•⁂#-](?:[ \t]*[*~_–—•⁂#-])*[ \t]*|#+[ \t].*)$", re.M
)
# Quotations by their opening mark: within a paragraph, closed or not. Single marks
# inside a word are apostrophes; straight single quotes must be closed.
_QUOTED = {
    "“": re.compile(r"“(?:[^”\n]|\n(?![ \t]*\n))*”?"),
    '"': re.compile(r'"(?:[^"\n]|\n(?![ \t]*\n))*"?'),
    "‘": re.compile(r"(?<!\w)‘(?:[^’\n]|’(?=\w)|\n(?![ \t]*\n))*’?"),
    "'": re.compile(r"(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)|\n(?![ \t]*\n))*'"),
}
# A straight single quotation that ends with punctuation, so no apostrophe
_STRAIGHT = re.compile(r"(?<!\w)'\w(?:[^'\n]|(?<=\w)'(?=\w))*[,.!?—-]'(?!\w)")
_BEGUN = {
    "“": re.compile(r"[^“”]+”"),
    '"': re.compile(r'(?:[^"\n]|\n(?![ \t]*\n))*[.,!?—-]"(?=\s)'),
}
"""The end of a quotation that started before the text."""
_WORD = re.compile(r"[A-Za-zÀ-ÿ]+(?:-[A-Za-zÀ-ÿ]+)*")
_INSIDE_WORD = re.compile(r"(?:[\w']|\w-)$")
_LARGE = re.compile(r"[A-ZÀ-ÖØ-Þ]")
# A capitalised word inside a sentence: after a word or comma
_CAPITAL = re.compile(r"(?<=[\w,;:’'-] )[A-ZÀ-ÖØ-Þ][\w-]+")
_NORMALIZED = str.maketrans("’‘\n\t_", "''   ")


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """One sentence at `span`, with narration and speech separated.

    `narration` is the text outside quotations: quotations, comments and headings are
    replaced by `MASK_CHARACTER`. `speech` is the quoted text, masked the same way, or
    empty. Both have the length of the sentence, straight apostrophes and plain spaces.
    `words` are all words in lower case, including masked ones. `starts` are the offsets
    in `narration` where a name may begin, ascending.
    """

    span: Span
    narration: str
    speech: str
    words: frozenset[str]
    starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedProse:
    """A text with its sentences in text order, and the words that are names in it.

    `known` are the words of names known to be people's. `names` are those and all words
    capitalised inside a sentence. `plain` are the words that occur in lower case.
    `quoted` are the spans of quotations.
    """

    text: str
    sentences: tuple[ProseSentence, ...]
    names: frozenset[str]
    known: frozenset[str]
    plain: frozenset[str]
    quoted: tuple[Span, ...]


def annotate_prose(
    text: str, split: SentenceSplitter, known_names: tuple[str, ...] = ()
) -> AnnotatedProse:
    """Prepare a text for the rules: separate sentences, narration and speech.

    `split` splits a text into the spans of its sentences; `known_names` are names of
    people in it.
    """
    bare = _COMMENT.sub(_mask, text)
    quoted = tuple(find_quoted_spans(bare))
    bare = _HEADING.sub(_mask, bare)
    normalized = bare.translate(_NORMALIZED)
    narration, speech = _separate_quotations(normalized, quoted)
    words = frozenset(word for name in known_names for word in name.split())
    words_seen: set[str] = set()
    sentences = tuple(
        _sentence(span, normalized, narration, speech, words_seen)
        for span in split(text)
    )
    return AnnotatedProse(
        text=text,
        sentences=sentences,
        names=words.union(_CAPITAL.findall(normalized)),
        known=words,
        plain=frozenset(word for word in words_seen if word[0].islower()),
        quoted=quoted,
    )


def find_quoted_spans(text: str) -> Iterator[Span]:
    """Yield the spans of quotations, of lines set off by `>`, and of lines of a play,
    in text order.

    Of quotation marks, only the most frequent kind counts. An unclosed quotation ends
    with its paragraph. Spans include the marks and do not overlap.
    """
    kind = _most_used_mark(text)
    spans = [Span(*match.span()) for match in _SET_OFF.finditer(text)]
    if kind:
        open_match = _BEGUN[kind].match(text) if kind in _BEGUN else None
        start = open_match.end() if open_match else 0
        spans += [Span(0, start)] if open_match else []
        spans += [Span(*match.span()) for match in _QUOTED[kind].finditer(text, start)]
    end = 0
    for span in sorted(spans):
        if span.end > end:
            yield Span(max(span.start, end), span.end)
            end = span.end


def ends_in_speech(text: str) -> bool:
    """Return whether a double quotation mark is still open at the end of the last
    paragraph.
    """
    paragraph = text.rstrip(" ").rpartition("\n\n")[2]
    return paragraph.count("“") > paragraph.count("”") or paragraph.count('"') % 2 == 1


def split_scene_spans(text: str) -> list[Span]:
    """Return the spans of `text` between scene breaks ("* * *") and headings, in text
    order; empty ones are dropped.
    """
    starts, spans = 0, []
    edges = [*_BREAK.finditer(text), None]
    for edge in edges:
        end = edge.start() if edge else len(text)
        if text[starts:end].strip():
            spans.append(Span(starts, end))
        starts = edge.end() if edge else end
    return spans


def _most_used_mark(text: str) -> str:
    opened = len(re.findall(r"(?<!\w)‘(?=\w)", text))
    marks = {"“": text.count("“"), '"': (text.count('"') + 1) // 2, "‘": opened}
    kind = max(marks, key=lambda mark: marks[mark])
    if marks[kind]:
        return kind
    return "'" if _STRAIGHT.search(text) else ""


def _mask(match: re.Match[str]) -> str:
    return MASK_CHARACTER * len(match.group())


def _separate_quotations(text: str, quoted: tuple[Span, ...]) -> tuple[str, str]:
    """Return the text with quotations masked, and with everything else masked."""
    narration, speech, at = [], [], 0
    for span in quoted:
        narration += [text[at : span.start], MASK_CHARACTER * len(span)]
        speech += [MASK_CHARACTER * (span.start - at), text[span.start : span.end]]
        at = span.end
    tail = text[at:]
    return "".join([*narration, tail]), "".join([*speech, MASK_CHARACTER * len(tail)])


def _sentence(
    span: Span, normalized: str, narration: str, speech: str, words_seen: set[str]
) -> ProseSentence:
    words = set(_WORD.findall(normalized, span.start, span.end))
    words_seen |= words
    narrated_text, spoken_text = (
        narration[span.start : span.end],
        speech[span.start : span.end],
    )
    mixed = MASK_CHARACTER in narrated_text and bool(spoken_text.strip(MASK_CHARACTER))
    return ProseSentence(
        span=span,
        narration=narrated_text,
        speech=spoken_text if mixed else "",
        words=frozenset(map(str.lower, words)),
        starts=find_capitalized_offsets(narrated_text),
    )


def find_capitalized_offsets(words: str) -> tuple[int, ...]:
    """Return the offsets of capitalised words in `words`, ascending.

    If "the" precedes a word, the offset is that of "the".
    """
    starts = []
    for match in _LARGE.finditer(words):
        at = match.start()
        if not _INSIDE_WORD.search(words, max(0, at - 2), at):
            is_article = words[at - 4 : at] == "the " and at >= 4
            starts.append(at - 4 if is_article else at)
    return tuple(starts)


_BLANK_LINE = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LINE_END = re.compile(r"\n")
_WORD_CHARACTER = re.compile(r"\S")
_LONG_LINE = 110
"""Length of a line, in characters, that shows that the text is not wrapped."""
_NEVER_WRAPPED = 0.2
"""Maximum blank lines per full line in a text where each line is a paragraph."""


def find_paragraphs(text: str, parts: Sequence[Span]) -> list[Span]:
    """Return the spans of the paragraphs within `parts`, in the order of `parts`,
    without surrounding whitespace.

    A blank line ends a paragraph. If there are hardly any blank lines and lines are not
    wrapped, each line is a paragraph.
    """
    spans: list[Span] = []
    for part in parts:
        ends = _LINE_END if _lines_are_paragraphs(text, part) else _BLANK_LINE
        start = part.start
        for gap in ends.finditer(text, part.start, part.end):
            _append_paragraph(text, start, gap.start(), spans)
            start = gap.end()
        _append_paragraph(text, start, part.end, spans)
    return spans


def _append_paragraph(text: str, start: int, end: int, spans: list[Span]) -> None:
    first = _WORD_CHARACTER.search(text, start, end)
    if first:
        length = len(text[start:end].rstrip())
        spans.append(Span(first.start(), start + length))


def _lines_are_paragraphs(text: str, part: Span) -> bool:
    """Return whether the lines are long (unwrapped) and follow each other without gaps."""
    lines = text[part.start : part.end].split("\n")
    full = [line for line in lines if line.strip()]
    empty = len(lines) - len(full)
    if len(full) < 2 or empty > _NEVER_WRAPPED * len(full):
        return False
    return max(len(line) for line in full) > _LONG_LINE
