"""Sentences by nupunkt, which knows abbreviations: "Mr." ends none."""

from lrwr.core.model.text import Span


def sentence_spans(text: str) -> list[Span]:
    """Return where each sentence of `text` stands, in order, without white space."""
    from nupunkt import sent_spans

    spans = []
    for start, end in sent_spans(text):
        inner = text[start:end]
        left = start + len(inner) - len(inner.lstrip())
        right = start + len(inner.rstrip())
        if right > left:
            spans.append(Span(left, right))
    return spans
