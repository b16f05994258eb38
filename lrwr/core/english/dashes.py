"""Speech that a dash opens, as in — Come in, said Nell."""

import re
from collections.abc import Iterator, Sequence

from lrwr.core.english.speech import GESTURE_VERBS, SPEECH_VERBS
from lrwr.core.model.text import Span

_DASH = re.compile(r"(?:—|–|―|--|- )\s*")
_VERB = "|".join(sorted(SPEECH_VERBS | GESTURE_VERBS, key=len, reverse=True))
_PERSON = r"(?:he|she|I|they|we|it|(?:the|a|his|her|my)\s+[\w-]+|[^\W\d_a-z][\w.’'-]*)"
_TAG = re.compile(
    rf"(?:(?<=[,.!?…])|(?<=[—–]))\s*[—–]?\s*"
    rf"(?:(?:{_VERB})\s+{_PERSON}|{_PERSON}(?:\s+[^\W\d_a-z][\w’']*)?\s+(?:{_VERB}))\b"
)
_WORDS_AGAIN = re.compile(r"[^\s—–]")
_TAG_END = re.compile(r"[,.;:!?—–](?=\s|$|[—–])")


def dash_quotations(
    text: str, paragraphs: Sequence[Span]
) -> Iterator[tuple[Span, ...]]:
    """Yield the words that each paragraph with a dash in front says, tags cut out."""
    for paragraph in paragraphs:
        dash = _DASH.match(text, paragraph.start, paragraph.end)
        if dash and dash.end() < paragraph.end:
            yield _spoken(text, dash.end(), paragraph.end)


def _spoken(text: str, start: int, end: int) -> tuple[Span, ...]:
    tag = _TAG.search(text, start, end)
    if tag is None:
        return (Span(start, end),)
    spans = [Span(start, tag.start())]
    over = _TAG_END.search(text, tag.end(), end)
    rest = _WORDS_AGAIN.search(text, over.end(), end) if over else None
    if rest:
        spans.append(Span(rest.start(), end))
    return tuple(spans)
