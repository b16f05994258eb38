"""Quotation detection for double, single and dash styles."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.lexicon import GESTURE_VERBS, SPEECH_VERBS
from lrwr.core.nlp.text.prose import find_paragraphs

_DASH = re.compile(r"(?:—|–|―|--|- )\s*")
_DASHES_VERB = "|".join(sorted(SPEECH_VERBS | GESTURE_VERBS, key=len, reverse=True))
_PERSON = r"(?:he|she|I|they|we|it|(?:the|a|his|her|my)\s+[\w-]+|[^\W\d_a-z][\w.’'-]*)"
# A tag inside dash dialogue: punctuation, then verb and person or person and verb
_TAG = re.compile(
    rf"(?:(?<=[,.!?…])|(?<=[—–]))\s*[—–]?\s*"
    rf"(?:(?:{_DASHES_VERB})\s+{_PERSON}|{_PERSON}(?:\s+[^\W\d_a-z][\w’']*)?\s+(?:{_DASHES_VERB}))\b"
)
_WORDS_AGAIN = re.compile(r"[^\s—–]")
_TAG_END = re.compile(r"[,.;:!?—–](?=\s|$|[—–])")


def find_dash_quotations(
    text: str, paragraphs: Sequence[Span]
) -> Iterator[tuple[Span, ...]]:
    """Yield the quotation of each paragraph that starts with a dash, in the order of
    `paragraphs`.

    A quotation is the tuple of the spans of its spoken words, without the dialogue tag:
    two if a tag interrupts them, else one.
    """
    for paragraph in paragraphs:
        dash = _DASH.match(text, paragraph.start, paragraph.end)
        if dash is None or dash.end() >= paragraph.end:
            continue
        spans = _spoken_spans(text, dash.end(), paragraph.end)
        if spans:
            yield spans


def _spoken_spans(text: str, start: int, end: int) -> tuple[Span, ...]:
    tag = _TAG.search(text, start, end)
    if tag is None:
        return (Span(start, end),)
    spans = [Span(start, tag.start())] if tag.start() > start else []
    over = _TAG_END.search(text, tag.end(), end)
    continuation = _WORDS_AGAIN.search(text, over.end(), end) if over else None
    if continuation:
        spans.append(Span(continuation.start(), end))
    return tuple(spans)


class QuoteStyle(StrEnum):
    """How a text marks speech: double quotation marks, single ones, or a dash at the
    start of a paragraph.
    """

    DOUBLE = "double"
    """“Come in,” or "Come in,"."""
    SINGLE = "single"
    """‘Come in,’ or 'Come in,'."""
    DASH = "dash"
    """— Come in, said Nell."""


@dataclass(frozen=True, slots=True)
class QuotedSegment:
    """The words between an opening and a closing mark, within one paragraph.

    `span` excludes the marks; `paragraph` is the span of the whole paragraph. `goes_on`
    means that the previous paragraph ended with an open quotation and this one
    continues it.
    """

    span: Span
    paragraph: Span
    goes_on: bool = False


_FIRST_CHARACTERS = 3
_AT_START = 3
"""Weight of a mark at the start of a paragraph when detecting the style."""
_OPENS_AFTER = " \n\t—–-([{*_>…"
_DOUBLE = re.compile(r"[“”„\"]")
# An opening single mark; words such as 'tis start with an apostrophe instead.
_SINGLE_OPENS = re.compile(
    r"(?:(?<=[\s—–\-(\[*_>])|\A)(?:‘(?=\w)|'(?=\w)"
    r"(?!(?i:tis|twas|twere|twill|twould|em|cause|bout|round|til|till|ere|im|er|is|un|"
    r"cos|neath|gainst|n)\b))"
)
_DASH_OPENS = re.compile(r"(?:—|–|―|--|- )\s*(?=[^\W\d_a-z]|[“‘’']?[^\W\d_a-z])")
_SINGLE = re.compile(r"[‘’']")
_ENDS_SPEECH = re.compile(r"[.,!?;:…—–-][*_]*$")
_MARKUP = " \t>*_#—–-"


def detect_quote_style(text: str, paragraphs: Sequence[Span]) -> QuoteStyle:
    """Return the most frequent way in which a text marks speech; double marks if it has
    none.

    Marks that open one of `paragraphs` weigh most.
    """
    weights = dict.fromkeys(QuoteStyle, 0)
    for paragraph in paragraphs:
        first = _opening_style(text, paragraph)
        if first is not None:
            weights[first] += _AT_START
    for paragraph in paragraphs:
        words = text[paragraph.start : paragraph.end]
        weights[QuoteStyle.DOUBLE] += words.count("“") + words.count('"') // 2
        if "‘" in words or "'" in words:
            weights[QuoteStyle.SINGLE] += len(_SINGLE_OPENS.findall(words))
    return max(QuoteStyle, key=lambda style: weights[style])


def _opening_style(text: str, paragraph: Span) -> QuoteStyle | None:
    if _DASH_OPENS.match(text, paragraph.start, paragraph.end):
        return QuoteStyle.DASH
    start = paragraph.start
    while start < paragraph.end and text[start] in _MARKUP:
        start += 1
    if _DOUBLE.match(text, start, paragraph.end):
        return QuoteStyle.DOUBLE
    if _SINGLE_OPENS.match(text[start : start + _FIRST_CHARACTERS + 5]):
        return QuoteStyle.SINGLE
    return None


def find_quoted_segments(
    text: str, paragraphs: Sequence[Span], style: QuoteStyle
) -> Iterator[QuotedSegment]:
    """Yield the segments between quotation marks in `paragraphs`, in text order.

    `style` is double or single marks; for the dash style, use `find_dash_quotations`.
    """
    left_open = False
    for paragraph in paragraphs:
        marks = _double_marks if style is QuoteStyle.DOUBLE else _single_marks
        pieces, closed = _pair_marks(text, paragraph, marks(text, paragraph))
        for number, span in enumerate(pieces):
            at_start = not text[paragraph.start : span.start - 1].strip(_MARKUP)
            goes_on = left_open and number == 0 and at_start
            yield QuotedSegment(span, paragraph, goes_on)
        left_open = bool(pieces) and not closed


def _pair_marks(
    text: str, paragraph: Span, marks: Iterator[tuple[int, bool]]
) -> tuple[list[Span], bool]:
    """Pair the marks of one paragraph; the flag is false if the last one stays open."""
    spans: list[Span] = []
    start: int | None = None
    for at, opens in marks:
        if opens and start is not None:
            spans.append(_trim_end(text, start, at))  # the closing mark was forgotten
        elif not opens and start is not None:
            spans.append(Span(start, at))
        start = at + 1 if opens else None
    if start is not None and start < paragraph.end:
        spans.append(_trim_end(text, start, paragraph.end))
    return [span for span in spans if len(span)], start is None


def _trim_end(text: str, start: int, end: int) -> Span:
    return Span(start, start + len(text[start:end].rstrip()))


def _double_marks(text: str, paragraph: Span) -> Iterator[tuple[int, bool]]:
    """Yield the offset of each double mark, and whether it opens a quotation."""
    is_open = False
    for match in _DOUBLE.finditer(text, paragraph.start, paragraph.end):
        at, mark = match.start(), match.group()
        opens = (
            mark in "“„"
            if mark != '"'
            else _straight_opens(text, at, paragraph, is_open=is_open)
        )
        if mark == "“" and is_open:
            continue  # a quotation inside the quotation
        if not opens and not is_open:
            continue  # a mark for inches or "ditto"
        yield at, opens
        is_open = opens


def _straight_opens(text: str, at: int, paragraph: Span, *, is_open: bool) -> bool:
    before = text[at - 1] if at > paragraph.start else " "
    after = text[at + 1] if at + 1 < paragraph.end else " "
    could_open = before in _OPENS_AFTER and not after.isspace()
    could_close = not before.isspace() and not after.isalnum()
    if could_open and not could_close:
        return True
    if could_close and not could_open:
        return False
    return not is_open


def _single_marks(text: str, paragraph: Span) -> Iterator[tuple[int, bool]]:
    """Yield the offset of each single mark that is no apostrophe, and whether it opens."""
    is_open = False
    matches = list(_SINGLE.finditer(text, paragraph.start, paragraph.end))
    for match in matches:
        at = match.start()
        if not is_open:
            if _single_opens(text, at, paragraph):
                is_open = True
                yield at, True
        elif _single_closes(text, at, paragraph):
            is_open = False
            yield at, False


def _single_opens(text: str, at: int, paragraph: Span) -> bool:
    if at > paragraph.start:
        return bool(_SINGLE_OPENS.match(text[at - 1 : at + 10], 1))
    if _SINGLE_OPENS.match(text[at : at + 10]):
        return True
    return text[at] == "'" and _closes_later(text, at + 1, paragraph)


def _single_closes(text: str, at: int, paragraph: Span) -> bool:
    """Tell a closing mark from an apostrophe: boys’, runnin’, don’t, ’em."""
    if text[at] == "‘":
        return False
    before = text[at - 1]
    after = text[at + 1] if at + 1 < paragraph.end else " "
    if before.isspace() or after.isalnum():
        return False
    if not before.isalnum():
        return True
    return not _closes_later(text, at + 1, paragraph)


def _closes_later(text: str, start: int, paragraph: Span) -> bool:
    """Return whether a clearer closing mark follows before the next opening one."""
    for match in _SINGLE.finditer(text, start, paragraph.end):
        at = match.start()
        if _single_opens(text, at, paragraph):
            return False
        after = text[at + 1] if at + 1 < paragraph.end else " "
        if _ENDS_SPEECH.search(text[max(start, at - 3) : at]) and not after.isalnum():
            return True
    return False


_VERB = "|".join(sorted(SPEECH_VERBS | GESTURE_VERBS, key=len, reverse=True))
_TAG_AFTER = re.compile(
    rf"[\s,—–-]*(?:(?:and|but|so|then)\s+)?(?:[\w.’'-]+\s+){{0,5}}?(?:{_VERB})\b"
)
_TAG_BEFORE = re.compile(
    rf"(?:\b(?:{_VERB})\b[^.!?\n]{{0,80}}[,:—–-]|:|[,—–-])\s*$", re.IGNORECASE
)
# Words before a quotation that is a name or a mentioned word, not speech
_NAMES_WORDS = re.compile(
    r"\b(?:words?|phrase|term|title|titled|entitled|called|named|nicknamed|labelled|"
    r"labeled|marked|inscribed|so-called|known as|spelled|spelt|sign|name of)"
    r"(?:\s+(?:is|was|it|him|her|them|read|a|an|the))?[\s,:]*$",
    re.IGNORECASE,
)
# Words of a sentence that leads to an inscription or a text that somebody reads
_WRITTEN = re.compile(
    r"\b(?:mottos?|inscriptions?|inscribed|finale|paragraph|page|volume|entry|label|"
    r"heading|headed|handwriting|advertisement|placard|epitaph|tombstone|signature|"
    r"postscript|date|plate|ran|engraved|printed|painted|written|addressed|directed)\b"
    r"[^.!?\n]*[:—–-]+[\s*_]*$",
    re.IGNORECASE,
)
_SPEAKS = re.compile(rf"\b(?:{_VERB})\b", re.IGNORECASE)
# The quoted words are the subject of the sentence: "Let it" would sound well
_IS_SUBJECT = re.compile(
    r"\s+(?:would|will|might|could|must|may|should|sounds?|sounded|means?|meant)\b"
    r"(?!\s+(?:say|ask|cry|reply|answer|add|have said|be (?:his|her|the)))"
)
_MENTIONED_AFTER = re.compile(
    r"\b(?:of|all|the|a|an|this|that|these|those|his|her|their|its|my|your|our|as|"
    r"than|for|no|such|all that)\s*$",
    re.IGNORECASE,
)
_PART_OF_SENTENCE = re.compile(r"[^.!?]*$")
_CAPITALS = re.compile(r"[^a-z]*[A-Z]{2,}[^a-z]*")
# A second speaker in the narration between two quoted pieces
_ANSWERS = (
    "answered|replied|rejoined|retorted|returned|responded|asked|inquired|enquired"
)
_REPLIES = "reply|answer|rejoinder|response|remark|retort|question|declaration|language"
_SECOND_SPEAKER = re.compile(
    rf"(?:;|,|^|\s)\s*(?:and|but|while|when)\s[^;]*?"
    rf"(?:\b(?:he|she|[A-Z][\w.]*(?:\s[A-Z]\w+)?)\s+(?:\w+ly\s+)?(?:{_ANSWERS})\b"
    rf"|\b(?:his|her|[A-Z]\w+[’']s)\s+(?:\w+\s+)?(?:{_REPLIES})\s+was\b"
    rf"|\bthus\s+(?:spoke|said|answered)\s+[A-Z]"
    rf"|[A-Z]\w+\s+(?:said|cried|exclaimed|whispered|murmured|observed)\b)[^;]*$"
)
_FIRST_SPEAKER = re.compile(
    r"(?:said|cried|\w+ed|was)\s+(?:[a-z]+\s+)?(?P<who>[A-Z]\w+)"
)
_SENTENCE_END = re.compile(r"[.!?…—–-][\"”’')*_]*\s*$")
_SPOKEN_END = re.compile(r"(?:[.!?,;:…]|—|–|--)[*_]*$")
_INNER_END = re.compile(r"[.!?…](?=\s+[^\W\d_a-z])")
_LONG_SPEECH = 8
"""Words from which a quotation counts as speech without final punctuation."""
_SHORT_CAPITALS = 12
"""Characters up to which words in capitals may be shouted."""
_LONG_RUN = 3
"""Paragraphs of one speech from which a tag signals a forgotten closing mark."""
_LONGEST_TAG = 220
"""Maximum characters between two parts of one utterance."""
_LOOKS_BACK = 120
"""Characters before a quotation that are checked for its kind."""
_TAG_ENDS = frozenset(",;:—–-.!?*_)")


@dataclass(frozen=True, slots=True)
class RawQuotation:
    """One utterance, before its speaker is determined.

    `spans` are its pieces without the marks, in text order; dialogue tags or paragraph
    ends separate them. `speech` is false if the marks enclose a title, a mentioned word
    or irony.
    """

    spans: tuple[Span, ...]
    speech: bool = True


def find_quotations(text: str, parts: Sequence[Span]) -> list[RawQuotation]:
    """Return all quotations in the spans `parts` of a document, in text order.

    The style (“…”, "…", ‘…’, '…' or a dash at the paragraph start) is detected once for
    the whole document. A quotation inside another belongs to the outer one. An unclosed
    quotation ends with its paragraph, unless the next paragraph opens with a mark.
    """
    paragraphs = find_paragraphs(text, parts)
    style = detect_quote_style(text, paragraphs)
    if style is QuoteStyle.DASH:
        return [RawQuotation(spans) for spans in find_dash_quotations(text, paragraphs)]
    groups: list[list[Span]] = []
    speech: list[bool] = []
    for piece in find_quoted_segments(text, paragraphs, style):
        if groups and _continues_utterance(text, groups[-1], speech[-1], piece):
            groups[-1].append(piece.span)
            continue
        groups.append([piece.span])
        speech.append(_is_speech(text, piece.span, piece.paragraph))
    return [
        RawQuotation(tuple(spans), is_speech)
        for spans, is_speech in zip(groups, speech, strict=True)
    ]


def _continues_utterance(
    text: str, group: Sequence[Span], is_speech: bool, piece: QuotedSegment
) -> bool:
    """Return whether a segment belongs to the same utterance as those of `group`.

    In a speech of several paragraphs, one with its own tag more likely means that a
    closing mark was forgotten.
    """
    if piece.goes_on:
        tagged = len(group) >= _LONG_RUN and _has_tag_after(
            text, piece.span, piece.paragraph
        )
        return not tagged
    same = is_speech and piece.paragraph.holds(group[-1])
    return same and _is_separated_by_tag(text, group[-1], piece.span)


def _is_separated_by_tag(text: str, before: Span, after: Span) -> bool:
    """Return whether only a dialogue tag separates two segments of one paragraph."""
    gap = text[before.end + 1 : after.start - 1].strip()
    if len(gap) > _LONGEST_TAG or not gap:
        return False
    if _INNER_END.search(gap) or gap[-1] not in _TAG_ENDS:
        return False
    if _has_second_speaker(gap):
        return False
    if gap[0].islower() or gap[0] in ",;—–-":
        return bool(_TAG_AFTER.match(gap)) or gap[-1] in ",;:—–-"
    broken = gap[-1] in ",;:—–-" and text[before.end - 1] in ",;—–-"
    return broken or bool(_TAG_AFTER.match(gap) and text[before.end - 1] == ",")


def _has_second_speaker(gap: str) -> bool:
    """Return whether the narration `gap` has a tag of one person for the words before
    it, and of another for those after it.
    """
    second = _SECOND_SPEAKER.search(gap)
    if second is None:
        return False
    first = _FIRST_SPEAKER.match(gap)
    return first is None or first["who"] not in gap[second.start() :]


def _is_speech(text: str, span: Span, paragraph: Span) -> bool:
    """Return whether a quotation is speech, not a title, a mentioned word or irony."""
    quoted = text[span.start : span.end].strip()
    before = text[max(paragraph.start, span.start - _LOOKS_BACK) : span.start - 1]
    if not quoted or _is_text_shown(text, span, paragraph):
        return False
    is_sentence = (
        bool(_SPOKEN_END.search(quoted)) or len(quoted.split()) >= _LONG_SPEECH
    )
    if not before.strip(" *_>—–-("):
        alone = span.end + 1 >= paragraph.end
        return is_sentence or alone or _has_tag_after(text, span, paragraph)
    if _NAMES_WORDS.search(before):
        return False
    if _SENTENCE_END.search(before) or _TAG_BEFORE.search(before):
        return is_sentence or _has_tag_after(text, span, paragraph)
    return _is_independent_sentence(quoted) or (
        is_sentence and _has_tag_after(text, span, paragraph)
    )


def _is_text_shown(text: str, span: Span, paragraph: Span) -> bool:
    """Return whether quoted words are read, mentioned or inscribed, not said."""
    if _has_tag_after(text, span, paragraph):
        return False
    if _CAPITALS.fullmatch(text, span.start, span.end) and len(span) > _SHORT_CAPITALS:
        return True
    if _IS_SUBJECT.match(text, span.end + 1, paragraph.end):
        return True
    before = text[max(0, span.start - _LOOKS_BACK) : span.start - 1].rstrip("\n >*_")
    sentence = _PART_OF_SENTENCE.search(before)
    lead = sentence[0] if sentence else ""
    if _SPEAKS.search(lead):
        return False
    if _WRITTEN.search(lead):
        return True
    words = text[span.start : span.end].split()
    return len(words) < _LONG_SPEECH and bool(
        lead.strip() and "\n" not in before[-1:] and _MENTIONED_AFTER.search(lead)
    )


def _has_tag_after(text: str, span: Span, paragraph: Span) -> bool:
    after = text[span.end + 1 : min(paragraph.end, span.end + 80)]
    return bool(_TAG_AFTER.match(after))


def _is_independent_sentence(quoted: str) -> bool:
    """Return whether words quoted inside a sentence form a sentence of their own."""
    if not quoted[0].isupper():
        return len(quoted.split()) >= _LONG_SPEECH and bool(
            re.search(r"[.!?]$", quoted)
        )
    return (
        bool(re.search(r"[.!?—][*_]*$", quoted)) or len(quoted.split()) >= _LONG_SPEECH
    )
