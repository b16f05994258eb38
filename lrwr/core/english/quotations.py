"""What is said in a text: quotations, whatever marks a writer sets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.english.dashes import dash_quotations
from lrwr.core.english.marks import Piece, Style, find_pieces, tell_style
from lrwr.core.english.paragraphs import find_paragraphs
from lrwr.core.english.speech import GESTURE_VERBS, SPEECH_VERBS
from lrwr.core.model.text import Span

_VERB = "|".join(sorted(SPEECH_VERBS | GESTURE_VERBS, key=len, reverse=True))
_TAG_AFTER = re.compile(
    rf"[\s,—–-]*(?:(?:and|but|so|then)\s+)?(?:[\w.’'-]+\s+){{0,5}}?(?:{_VERB})\b"
)
_TAG_BEFORE = re.compile(
    rf"(?:\b(?:{_VERB})\b[^.!?\n]{{0,80}}[,:—–-]|:|[,—–-])\s*$", re.IGNORECASE
)
_NAMES_WORDS = re.compile(
    r"\b(?:words?|phrase|term|title|titled|entitled|called|named|nicknamed|labelled|"
    r"labeled|marked|inscribed|so-called|known as|spelled|spelt|sign|name of)"
    r"(?:\s+(?:is|was|it|him|her|them|read|a|an|the))?[\s,:]*$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?…—–-][\"”’')*_]*\s*$")
_SPOKEN_END = re.compile(r"(?:[.!?,;:…]|—|–|--)[*_]*$")
_INNER_END = re.compile(r"[.!?…](?=\s+[^\W\d_a-z])")
_LONG_SPEECH = 8
_LONG_RUN = 3
_LONGEST_TAG = 220
_LOOKS_BACK = 120
_TAG_ENDS = frozenset(",;:—–-.!?*_)")


@dataclass(frozen=True, slots=True)
class RawQuotation:
    """Words between quotation marks: one utterance, speaker not yet asked for.

    `spans` are its stretches without the marks, in order: a tag or a paragraph's end
    stands between them. `speech` is false where the marks set off a title, a quoted
    word or irony.
    """

    spans: tuple[Span, ...]
    speech: bool = True


def find_quotations(text: str, parts: Sequence[Span]) -> list[RawQuotation]:
    """Return every quotation of one document, in order.

    The kind of marks is told from the whole document: “…”, "…", ‘…’, '…' or a dash
    at a paragraph's start. A quotation inside another belongs to the outer one. One
    that is never closed ends with its paragraph; one that opens again at the next
    paragraph goes on there.
    """
    paragraphs = find_paragraphs(text, parts)
    style = tell_style(text, paragraphs)
    if style is Style.DASH:
        return [RawQuotation(spans) for spans in dash_quotations(text, paragraphs)]
    groups: list[list[Span]] = []
    speech: list[bool] = []
    for piece in find_pieces(text, paragraphs, style):
        if groups and _goes_on(text, groups[-1], speech[-1], piece):
            groups[-1].append(piece.span)
            continue
        groups.append([piece.span])
        speech.append(_is_speech(text, piece.span, piece.paragraph))
    return [
        RawQuotation(tuple(spans), said)
        for spans, said in zip(groups, speech, strict=True)
    ]


def _goes_on(text: str, group: Sequence[Span], is_speech: bool, piece: Piece) -> bool:
    """Say whether a piece belongs to the same utterance as those of `group`.

    After a long speech, a paragraph with a tag of its own more likely shows that a
    closing mark was forgotten.
    """
    if piece.goes_on:
        tagged = len(group) >= _LONG_RUN and _tagged(text, piece.span, piece.paragraph)
        return not tagged
    same = is_speech and piece.paragraph.holds(group[-1])
    return same and _belongs(text, group[-1], piece.span)


def _belongs(text: str, before: Span, after: Span) -> bool:
    """Say whether only a tag stands between two pieces of one paragraph."""
    gap = text[before.end + 1 : after.start - 1].strip()
    if len(gap) > _LONGEST_TAG or not gap:
        return False
    if _INNER_END.search(gap) or gap[-1] not in _TAG_ENDS:
        return False
    if gap[0].islower() or gap[0] in ",;—–-":
        return bool(_TAG_AFTER.match(gap)) or gap[-1] in ",;:—–-"
    broken = gap[-1] in ",;:—–-" and text[before.end - 1] in ",;—–-"
    return broken or bool(_TAG_AFTER.match(gap) and text[before.end - 1] == ",")


def _is_speech(text: str, span: Span, paragraph: Span) -> bool:
    """Tell what somebody says from a title, a quoted word and irony."""
    said = text[span.start : span.end].strip()
    before = text[max(paragraph.start, span.start - _LOOKS_BACK) : span.start - 1]
    if not said:
        return False
    whole = bool(_SPOKEN_END.search(said)) or len(said.split()) >= _LONG_SPEECH
    if not before.strip(" *_>—–-("):
        alone = span.end + 1 >= paragraph.end
        return whole or alone or _tagged(text, span, paragraph)
    if _NAMES_WORDS.search(before):
        return False
    if _SENTENCE_END.search(before) or _TAG_BEFORE.search(before):
        return whole or _tagged(text, span, paragraph)
    return _stands_out(said) or (whole and _tagged(text, span, paragraph))


def _tagged(text: str, span: Span, paragraph: Span) -> bool:
    after = text[span.end + 1 : min(paragraph.end, span.end + 80)]
    return bool(_TAG_AFTER.match(after))


def _stands_out(said: str) -> bool:
    """Say whether words inside a sentence are whole sentences themselves."""
    if not said[0].isupper():
        return len(said.split()) >= _LONG_SPEECH and bool(re.search(r"[.!?]$", said))
    return bool(re.search(r"[.!?—][*_]*$", said)) or len(said.split()) >= _LONG_SPEECH
