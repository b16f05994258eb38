"""What language models were asked, and what it cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls and tokens of a language model.

    `cached` counts the results that needed no call. `repaired` replies did not parse
    and were asked for once more; `failed` ones did not parse even then. `quotes` were
    offered as evidence, `verified` of them stand in the text.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached: int = 0
    repaired: int = 0
    failed: int = 0
    quotes: int = 0
    verified: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached + other.cached,
            self.repaired + other.repaired,
            self.failed + other.failed,
            self.quotes + other.quotes,
            self.verified + other.verified,
        )
