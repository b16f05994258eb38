"""The sentences of a draft about the manuscript, without their markup."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lrwr.core.attribution.citations import ANY_MARK, strip_answer_citation_marks
from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.quotations import AnswerQuotation, find_draft_quotations
from lrwr.core.evidence.limits import PART_LINE
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    LineIndex,
    LineRange,
    SentenceSplitter,
    Span,
    normalize_word,
    normalize_words,
)
from lrwr.core.ports.stores import DocumentText

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.M)
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_BLOCK = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_OWN_LINE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,3}[.)/][ \t]|>)", re.M)
_PREFIX = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+][ \t]+|\d{1,3}[.)/][ \t]+)?")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")
_SOURCES = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]*)?\W*(?:sources|notes|references)\W*$", re.I
)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^()\s]*)[^()]*\)|<(https?://[^>\s]*)>")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_SPACE_BEFORE = re.compile(r"\s+(?=[.,;:!?)])")
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]]+")
_TAG = re.compile(r"(?<!\w)[#@]\w+")
_EMPHASIS = re.compile(r"(?<!\w)[*_~]{1,3}(?=\S)|(?<=\S)[*_~]{1,3}(?!\w)|`")

_SAYING = re.compile(
    r"(?:add|admit|agre|announc|answer|argu|ask|call|claim|complain|continu|cr[iy]|declar"
    r"|demand|exclaim|explain|growl|insist|jok|murmur|mutter|not|observ|promis|protest"
    r"|recall|remark|repeat|repl[iy]|scream|shout|sigh|stat|wail|warn|whisper|wonder|yell)"
    r"(?:e|y|s|es|d|ed|ted|ing)?|begins?|began|sa(?:y|ys|id|ying)|tells?|told"
    r"|thinks?|thought|writes?|wrote"
)
"""A verb that may introduce or follow a quotation, in lower case."""

_OPINION = re.compile(
    r"\W*(?:(?:and|but|so|still|yet|personally|honestly|frankly),? )?(?:I (?:\w+ly )?(?:adore"
    r"|admire|enjoy|find|hate|like|love|prefer)\b|(?:for|to) me,? |to my mind\b"
    r"|in my (?:opinion|view)\b|my favou?rite\b"
    r"|I (?:\w+ly )?(?:think|believe|consider|(?:would )?call)\b[^.]*\b(?:deserve[sd]?|the"
    r" (?:most|least|worst|(?!(?:arr|ch|conqu|cr|for|gu|harv|inter|n|pri|qu|r|requ|t|temp|w)"
    r"est\b)\w{1,9}est)\b))",
    re.IGNORECASE,
)
"""The beginning of a liking or judgement: "I love …", "I think she is the bravest"."""

_QUOTATION_END = re.compile(r"(?P<end>[.!?…][”\"’'])\s+(?=[A-Z“\"‘']|\Z)")
_LINE_QUOTATION = re.compile(r"(?P<end>[.!?…][”\"’']?)[ \t]*\n\s*(?=[“\"‘'])")
"""Where a sentence ends: at a quotation with an end mark, and before a line that begins
with a quotation.
"""

MAX_WHOLE_QUOTATION = 600
"""Characters of a quotation up to which its sentences are one statement."""

_CLAUSE_START = re.compile(
    r"[;:—–]\s*|,\s+|\s+(?=(?:and|but|while|because|after|before|until|although|who"
    r"|which|where)\s)"
)
_PHRASE_START = re.compile(
    r"[;:—–,]\s+|\s+(?=(?:and|but|while|because|after|before|until|although|who|which"
    r"|where|that|when|to|for|from|in|on|at|of|with|as|into)\s)"
)
MIN_CLAUSE_STEMS = 3
MAX_CLAUSES = 3
MAX_PHRASES = 6
"""Content words of a clause or phrase, at least, and how many of a sentence are
searched."""

MIN_LANGUAGE_WORDS = 20
MIN_ENGLISH_SHARE = 0.15
"""Share of function words from which a text of `MIN_LANGUAGE_WORDS` words is English;
English prose has about half."""


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """A sentence of a draft, at `span` of the draft, on `lines`.

    `text` is the sentence without Markdown, citation marks, addresses and hashtags.
    `quotations` are those in `text`, `links` the addresses that the sentence cites.
    `is_heading` says that it stands in a heading or a list of sources.
    """

    span: Span
    lines: LineRange
    text: str
    quotations: tuple[AnswerQuotation, ...] = ()
    links: tuple[str, ...] = ()
    is_heading: bool = False

    @property
    def own_text(self) -> str:
        """The text without its quotations."""
        pieces, at = [], 0
        for quotation in self.quotations:
            pieces.append(self.text[at : quotation.span.start])
            at = quotation.span.end
        return " ".join(" ".join((*pieces, self.text[at:])).split())

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip('”"’ ').endswith("?")

    @property
    def is_opinion(self) -> bool:
        """Whether it begins as the author's liking or judgement does."""
        return _OPINION.match(self.text) is not None


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a sentence that state something each, at most
    `MAX_CLAUSES`; none if there is one only.
    """
    clauses: list[str] = []
    for part in _CLAUSE_START.split(text):
        if (clauses and len(stem_words(part)) < MIN_CLAUSE_STEMS) or (
            clauses and len(stem_words(clauses[-1])) < MIN_CLAUSE_STEMS
        ):
            clauses[-1] += f" {part}"
        else:
            clauses.append(part)
    return clauses[:MAX_CLAUSES] if len(clauses) > 1 else []


def split_phrases(text: str) -> list[str]:
    """Return the phrases of a sentence with `MIN_CLAUSE_STEMS` content words each, cut
    before prepositions and conjunctions; none if there is one only.
    """
    phrases: list[str] = []
    for part in _PHRASE_START.split(text):
        if phrases and len(stem_words(phrases[-1])) < MIN_CLAUSE_STEMS:
            phrases[-1] += f" {part}"
        else:
            phrases.append(part)
    return phrases[:MAX_PHRASES] if len(phrases) > 1 else []


def is_english(text: str) -> bool:
    """Return whether enough words of `text` are English function words; True for a text
    of few words.
    """
    words = normalize_words(text)
    common = sum(word in STOP_WORDS for word in words)
    return len(words) < MIN_LANGUAGE_WORDS or common >= MIN_ENGLISH_SHARE * len(words)


def extract_post(text: str) -> str:
    """Return the text of a draft that is to be posted: without front matter, comments
    and citation marks.
    """
    for pattern in (_FRONT_MATTER, _COMMENT):
        text = pattern.sub("", text)
    return strip_answer_citation_marks(text).strip()


def iter_statements(
    draft: DocumentText, split: SentenceSplitter
) -> Iterator[DraftStatement]:
    """Yield the sentences of a draft, in text order.

    `split` divides a text into the spans of its sentences. Front matter, code blocks,
    comments and scene breaks are skipped; an item of a list or a heading ends at the end
    of its line.
    """
    blank = _blank_out(draft.text)
    in_sources = False
    for block in _iter_blocks(blank):
        body = blank[block.start : block.end]
        is_heading = _HEADING.match(body) is not None
        if is_heading or _SOURCES.match(body):
            in_sources = _SOURCES.match(body) is not None
        statements: list[DraftStatement] = []
        for span in _iter_sentences(body, split):
            place = Span(block.start + span.start, block.start + span.end)
            statement = _read_statement(blank, place, draft.lines)
            if any(character.isalnum() for character in statement.text):
                is_label = is_heading or in_sources
                statements.append(replace(statement, is_heading=is_label))
            elif statements:  # only an address: it belongs to the sentence before
                links = (*statements[-1].links, *statement.links)
                statements[-1] = replace(statements[-1], links=links)
        yield from statements


def _iter_sentences(text: str, split: SentenceSplitter) -> Iterator[Span]:
    """Yield the sentences of a paragraph; one ends at a quotation with an end mark unless
    the next words say who speaks. Sentences of one quotation stay together.
    """
    quoted = [
        quotation.span
        for quotation in find_draft_quotations(text.replace("\n", " "))
        if len(quotation.span) <= MAX_WHOLE_QUOTATION
    ]
    spans: list[Span] = []
    for span in split(text):
        start = span.start
        if spans and (
            _is_within(quoted, start)
            or (
                _QUOTATION_END.fullmatch(text, spans[-1].end - 2, start)
                and _begins_with_saying(text[start : span.end])
            )
        ):
            start = spans.pop().start
        for end, after in _iter_cuts(text, Span(start, span.end)):
            if not _is_within(quoted, end):
                spans.append(Span(start, end))
                start = after
        spans.append(Span(start, span.end))
    yield from spans


def _is_within(quoted: Sequence[Span], place: int) -> bool:
    return any(span.start < place < span.end for span in quoted)


def _iter_cuts(text: str, span: Span) -> Iterator[tuple[int, int]]:
    """Yield where a sentence ends within `span`, and where the next one begins."""
    matches = [
        match
        for match in _QUOTATION_END.finditer(text, span.start, span.end)
        if not _begins_with_saying(text[match.end() : span.end])
    ]
    matches += _LINE_QUOTATION.finditer(text, span.start, span.end)
    yield from sorted({(match.end("end"), match.end()) for match in matches})


def _begins_with_saying(text: str) -> bool:
    return any(map(is_saying, WORD_PATTERN.findall(text)[:3]))


def is_saying(word: str) -> bool:
    """Return whether `word` is a verb that may introduce or follow a quotation."""
    plain = normalize_word(word)
    return plain != "not" and _SAYING.fullmatch(plain) is not None


def _blank_out(text: str) -> str:
    """Replace what is no prose with spaces, so that offsets stay the same."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    for pattern in (_FRONT_MATTER, _FENCE, _COMMENT):
        text = pattern.sub(blank, text)
    return PART_LINE.sub(blank, text)


def _iter_blocks(text: str) -> Iterator[Span]:
    """Yield the paragraphs, and each item of a list and each heading by itself."""
    for block in _BLOCK.finditer(text):
        starts = [
            m.start() for m in _OWN_LINE.finditer(text, block.start(), block.end())
        ]
        ends: list[int] = []
        for start in starts:
            if _HEADING.match(text, start):
                end = text.find("\n", start, block.end())
                ends += [end + 1] if end >= 0 else []
        cuts = sorted({block.start(), *starts, *ends, block.end()})
        for start, end in pairwise(cuts):
            begin = start + len(_PREFIX.match(text, start, end)[0])  # type: ignore[index]
            if text[begin:end].strip():
                yield Span(begin, end)


def _read_statement(text: str, span: Span, lines: LineIndex) -> DraftStatement:
    raw = text[span.start : span.end]
    links = [match[2] or match[3] for match in _LINK.finditer(raw)]
    plain = _LINK.sub(lambda match: match[1] or " ", raw)
    plain = _WIKILINK.sub(lambda match: match[1], plain)
    links += _ADDRESS.findall(plain)
    plain = _ADDRESS.sub(" ", plain)
    plain = _TAG.sub(" ", ANY_MARK.sub(" ", plain))
    plain = _EMPHASIS.sub("", plain.lstrip("# \t"))
    plain = " ".join(_SPACE_BEFORE.sub("", plain).split())
    return DraftStatement(
        span,
        lines.lines_of(span),
        plain,
        tuple(find_draft_quotations(plain)),
        tuple(link for link in dict.fromkeys(links) if link),
    )
