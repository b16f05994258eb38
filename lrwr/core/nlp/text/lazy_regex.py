"""A regular expression that costs nothing until a text is read by it."""

import re
from collections.abc import Iterator
from functools import cached_property


class LazyPattern:
    """A regular expression, compiled when it is first used.

    For the long ones: compiling all that name people's looks and kin takes a tenth of a
    second, and most commands read no text by them.
    """

    def __init__(self, source: str) -> None:
        self.pattern = source
        """As it is written."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def match(self, text: str, start: int) -> re.Match[str] | None:
        """Return what fits from `start` on, if anything does."""
        return self._compiled.match(text, start)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first place in `text` that fits."""
        return self._compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the places in `text` that fit, in order; none overlaps another."""
        return self._compiled.finditer(text)
