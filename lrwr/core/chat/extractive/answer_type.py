"""What kind of thing a question wants: a time, a number, a reason. English rules."""

import re

ANSWER_TYPE_FACTOR = 1.2
"""What a sentence is worth that has what is asked for: a time, a number, a reason."""

_TIMES = (
    r"\b(?:day|days|week|weeks|month|months|year|years|hours?|o['’]clock|noon|midnight"
    r"|morning|evening|afternoon|night|yesterday|tomorrow|today|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|\d+)\b"
)
_AMOUNTS = (
    r"\b(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty\S*|hundred|thousand|dozen"
    r"|half|none|nobody|all|both)\b"
)
_REASONS = (
    r"\b(?:because|since|so that|in order|that was why|that is why|that['’]s why"
    r"|on account of|for fear|lest|owing to|therefore|the reason)\b"
)
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(told, re.IGNORECASE))
    for asked, told in (
        (r"\bwhen\s+(?:did|does|do|was|is|were|has|had|will)\b|\bhow\s+long\b"
         r"|\b(?:what|which)\s+(?:day|date|year|month|time)\b", _TIMES),
        (r"\bhow\s+(?:many|much|old|far)\b", _AMOUNTS),
        (r"\bwhy\b", _REASONS),
    )
)  # fmt: skip
"""What is asked for, and the words of a sentence that has such a thing."""


def score_answer_type(question: str, sentence: str) -> float:
    """Return `ANSWER_TYPE_FACTOR` where a sentence has the kind of thing asked for, else 1.0."""
    kinds = (told for asked, told in _KINDS if asked.search(question))
    return ANSWER_TYPE_FACTOR if any(told.search(sentence) for told in kinds) else 1.0
