"""Keeps the facts whose words stand where they are said to stand."""

from collections.abc import Iterable

from lrwr.core.model.facts import Fact
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.quote_lookup import find_fuzzy_quote

__all__ = ["filter_verified_facts", "find_fuzzy_quote"]


def filter_verified_facts(
    facts: Iterable[Fact], text: str, within: Span
) -> tuple[Fact, ...]:
    """Return the facts that rest on words of `text` inside `within`, each once.

    An analyst promises as much; what comes back from a cache, or was read before an
    edit, is looked at again.
    """
    return tuple(dict.fromkeys(fact for fact in facts if _stands(fact, text, within)))


def _stands(fact: Fact, text: str, within: Span) -> bool:
    return bool(fact.spans) and all(
        span.start < span.end <= len(text)
        and within.holds(span)
        and bool(text[span.start : span.end].strip())
        for span in fact.spans
    )
