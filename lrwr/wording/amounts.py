"""Numbers in words: how many, and what they cost."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.core.model.metering import Usage


def count(number: int, noun: str) -> str:
    """Return a number and its noun: "1 word", "2 words"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ago(seconds: float) -> str:
    """Return how long ago something was, as one says it."""
    if seconds < 2:
        return "just now"
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    return f"{seconds // 3600:.0f} h ago"


def tokens_and_price(usage: "Usage", cost: float | None, *, about: bool) -> str:
    """Return the tokens and their price; `about` says that they are an estimate."""
    return (
        f"{'about ' if about else ''}{usage.prompt_tokens:,} tokens sent,"
        f" {usage.completion_tokens:,} answered ({dollars(cost)})"
    )


def dollars(cost: float | None) -> str:
    """Return a price; what is spent is never said to be nothing."""
    if cost is None:
        return "price unknown"
    return "less than $0.01" if 0 < cost < 0.005 else f"${cost:.2f}"
