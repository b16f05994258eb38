"""A greedy splitter over the whole file, as a reference for the cost of edits.

It works as LangChain's RecursiveCharacterTextSplitter, with lengths in tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Count = Callable[[Sequence[str]], list[int]]

SEPARATORS = ("\n\n", "\n", ". ", " ")


@dataclass(frozen=True, slots=True)
class Greedy:
    """Splits a text at the coarsest separator that fits, and fills chunks in turn.

    `size` is the maximum of a chunk in tokens, and `overlap` how many tokens of a chunk
    the next one repeats at most. `count` returns the number of tokens of each text.
    """

    count: Count
    size: int = 500
    overlap: int = 50

    def split(self, text: str, level: int = 0) -> list[str]:
        """Return the texts of the chunks, in text order.

        `level` is the index in `SEPARATORS` of the first separator to try. A text that
        no separator splits is one chunk, even if it is too long.
        """
        if level == len(SEPARATORS):
            return [text]
        separator = SEPARATORS[level]
        parts = [part for part in text.split(separator) if part.strip()]
        chunks: list[str] = []
        waiting: list[tuple[str, int]] = []
        for part, tokens in zip(parts, self.count(parts), strict=True):
            if tokens < self.size:
                waiting.append((part, tokens))
                continue
            chunks += self._packed(waiting, separator)
            waiting = []
            chunks += self.split(part, level + 1)
        return chunks + self._packed(waiting, separator)

    def _packed(self, parts: Sequence[tuple[str, int]], separator: str) -> list[str]:
        chunks: list[str] = []
        held: list[tuple[str, int]] = []
        for part in parts:
            if held and _tokens(held) + part[1] > self.size:
                chunks.append(separator.join(text for text, _ in held))
                while held and not self._goes_on(held, part[1]):
                    held.pop(0)
            held.append(part)
        if held:
            chunks.append(separator.join(text for text, _ in held))
        return chunks

    def _goes_on(self, held: Sequence[tuple[str, int]], more: int) -> bool:
        tokens = _tokens(held)
        return tokens <= self.overlap and tokens + more <= self.size


def _tokens(parts: Sequence[tuple[str, int]]) -> int:
    return sum(tokens for _, tokens in parts)
