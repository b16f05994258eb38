"""Sentences by nupunkt, which knows abbreviations: "Mr." ends none."""

import re

from lrwr.core.model.text import Span

_PARAGRAPH = re.compile(r"\S(?:.*?)(?=\n[^\S\n]*\n|\n#|\Z)", re.DOTALL)
"""A run of text without an empty line; a heading ends it too."""


def find_sentence_spans(text: str) -> list[Span]:
    """Return where each sentence of `text` stands, in order, without white space.

    No sentence crosses an empty line, and a heading is one of its own.
    """
    from nupunkt import sent_spans

    spans = []
    for paragraph in _PARAGRAPH.finditer(text):
        for start, end in sent_spans(paragraph.group()):
            inner = paragraph.group()[start:end]
            sentence_start = (
                paragraph.start() + start + len(inner) - len(inner.lstrip())
            )
            sentence_end = paragraph.start() + start + len(inner.rstrip())
            if sentence_end > sentence_start:
                spans.append(Span(sentence_start, sentence_end))
    return spans
