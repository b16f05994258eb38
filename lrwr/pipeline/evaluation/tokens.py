"""Counting the tokens of what is given."""

from collections.abc import Callable, Sequence

from lrwr.core.model.errors import LrwrError

CountTokens = Callable[[Sequence[str]], list[int]]
"""How many tokens each text has, in the same order."""

CHARACTERS_A_TOKEN = 4
"""What a token is taken for where no tokenizer is at hand."""


def choose_token_counter(count: CountTokens) -> tuple[CountTokens, tuple[str, ...]]:
    """Return the token counter: `count` if it works, else an estimate and a remark on it.

    Either caches: arms get the same passages many times.
    """
    try:
        count(["a word"])
    except LrwrError as error:
        assumption = f"{CHARACTERS_A_TOKEN} characters are taken for one: {error}."
        return estimate_token_counts, (f"Tokens are estimated, {assumption}",)
    return _remembering(count), ()


def estimate_token_counts(texts: Sequence[str]) -> list[int]:
    """Take four characters for a token, and a text for one token at least."""
    return [max(1, round(len(text) / CHARACTERS_A_TOKEN)) for text in texts]


def _remembering(count: CountTokens) -> CountTokens:
    counts: dict[str, int] = {}

    def tokens(texts: Sequence[str]) -> list[int]:
        new = [text for text in dict.fromkeys(texts) if text not in counts]
        counts.update(zip(new, count(new), strict=True))
        return [counts[text] for text in texts]

    return tokens
