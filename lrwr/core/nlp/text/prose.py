"""Preparation of a text for rules: sentences, narration and speech apart, and the
author's marks of what is left to write.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lrwr.core.model.documents import Document
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    Fact,
    FactAbout,
)
from lrwr.core.model.text import SentenceSplitter, Span

_ASKS = (
    r"describe|name|check|insert|add|fix|find out|look up|research|expand|decide|date|"
    r"confirm|rewrite|missing|unclear|which|who|what|when|where|how|why|more here|"
    r"something|scene|verify|age|todo|tbd|tk"
)
# [bracketed request or question], HTML or Obsidian comment, TODO-like word, ???
_MARKED = re.compile(
    r"(?P<bracket>\[(?![ xX]\])(?!\[)(?:(?:" + _ASKS + r")\b[^\][\n]{0,200}"
    r"|[^\][\n]{0,200}\?)\](?![(\[:\]]))"
    r"|(?P<note><!--.*?-->|%%.*?%%)"
    r"|(?<![\w-])(?P<mark>TODO|TBD|TBC|FIXME|TK(?:TK)*|"
    r"XXX+)(?![\w-])(?P<rest>[^\n.!?%<\]]*[?!]?)"
    r"|(?<![?!\w])(?P<asked>\?{3,})",
    re.S | re.I,
)
# Quick check that a text may contain a marker at all
_SIGN = re.compile(r"\[|<!--|%%|\?\?\?|XXX|TODO|TB[DC]|TK|FIXME")
_UPPER = re.compile(r"TODO|TBD|TBC|FIXME|TK(?:TK)*|XXX+")
# What precedes a Roman numeral in a heading, such as "Chapter "
_NUMBERED = re.compile(r"[\s#*_]*(?:(?:chapter|book|part|canto|letter)[\s:.]*)?", re.I)
_SAYS_MORE = re.compile(r"[:!?]|[ \t]+[a-z]{2}")
_OPEN = re.compile(
    r"\?|(?-i:\b(?:TODO|TBD|TBC|FIXME|TK|XXX)\b)|\b(?:undecided|not decided|haven't decided|"
    r"have not decided|decide|not sure|don't know|do not know|need to know|to be decided|"
    r"work out|figure out|describe|check|find out|look up|research|name)\b",
    re.I,
)
_OPEN_LINE = re.compile(
    r"(?:\*\*)?\b(?:Open|Undecided|TBD|To decide|To be decided|Unknown|Open question)s?\b"
    r"(?: [\w ]{1,20})?:(?:\*\*)?[ ]*(?P<what>[^\n]+)"
    r"|(?P<not>I (?:have not|haven't|have not yet) decided [^.\n]+)",
)
_NEAR = 90
"""Maximum characters between a marker and the name it is about."""


def find_marked_gaps(text: str, known_names: tuple[str, ...] = ()) -> Iterator[Fact]:
    """Yield a gap for each TODO, TK, ???, [name?] and comment of `text` that leaves
    something undecided, in text order; all are verified.

    The gap's subject is the nearest of `known_names` on the same line, or empty; its
    value is the marked words.
    """
    for match in _MARKED.finditer(text) if _SIGN.search(text) else ():
        if _is_marked(match):
            mark = Span(*match.span("mark" if match["mark"] else 0))
            subject = _nearest_name(text, mark, known_names)
            yield _build_gap(
                text, _trim_marker(match), subject, RULES_KEEPER, Certainty.VERIFIED
            )


def find_note_gaps(document: Document) -> Iterator[Fact]:
    """Yield a gap for each author's comment of `document` that leaves something
    undecided, such as "TODO" or a question, in text order.

    All are confirmed and have no subject; the value is the text of the comment.
    """
    for span in document.notes:
        words = document.text[span.start : span.end]
        if _OPEN.search(words):
            yield _build_gap(
                document.text, span, "", WRITER_KEEPER, Certainty.CONFIRMED
            )


def find_open_questions(text: str, subject: str, start: int = 0) -> Iterator[Fact]:
    """Yield a gap for each "Open: …" and "I have not decided …" of a note about
    `subject`.

    The search begins at offset `start`; spans refer to `text`.
    """
    for match in _OPEN_LINE.finditer(text, start):
        yield Fact(
            FactAbout.GAP,
            subject,
            "open",
            " ".join(match.group().split()),
            (Span(*match.span()),),
            WRITER_KEEPER,
            Certainty.CONFIRMED,
        )


def _is_marked(match: re.Match[str]) -> bool:
    if match["note"]:
        return bool(_OPEN.search(match["note"]))
    if not match["mark"]:
        return True
    return bool(_UPPER.fullmatch(match["mark"])) and not _is_roman_numeral(match)


def _is_roman_numeral(match: re.Match[str]) -> bool:
    """Return whether "XXX" is a chapter number, not a marker."""
    if match["mark"] != "XXX":
        return False
    text = match.string
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    if line.lstrip().startswith("#"):
        return True  # "# Chapter 30: XXX"
    return bool(_NUMBERED.fullmatch(line)) and not _SAYS_MORE.match(match["rest"])


def _trim_marker(match: re.Match[str]) -> Span:
    words = match.group()
    return Span(match.start(), match.start() + len(words.rstrip(" ,;:*_")))


def _build_gap(
    text: str, span: Span, subject: str, keeper: str, certainty: Certainty
) -> Fact:
    words = text[span.start : span.end]
    value = " ".join(re.sub(r"<!--|-->|%%|[\][]", " ", words).split())
    return Fact(FactAbout.GAP, subject, "marked", value, (span,), keeper, certainty)


def _nearest_name(text: str, span: Span, known_names: tuple[str, ...]) -> str:
    """Return the known name nearest to `span` on its line; one inside it is nearest."""
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - _NEAR)
    end = text.find("\n", span.end)
    end = min(end if end >= 0 else len(text), span.end + _NEAR)
    best, least = "", _NEAR + 1
    for name in known_names:
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text[start:end]):
            name_start, name_end = start + match.start(), start + match.end()
            away = max(span.start - name_end, name_start - span.end, 0)
            if away < least:
                best, least = name, away
    return best


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
