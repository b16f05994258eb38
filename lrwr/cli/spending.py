"""The tokens of a language model and what they cost, in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lrwr.core.model.metering import Usage


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
