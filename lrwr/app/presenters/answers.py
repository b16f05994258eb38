"""What there is to say of an answer besides its words."""

import re
from collections.abc import Iterator, Sequence

from lrwr.app.presenters.text import (
    format_count,
    format_dollars,
    format_tokens_and_price,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import Turn, TurnState
from lrwr.core.settings.model import Settings

_LINK = re.compile(r"\[\[(?!\s*\d[\d\s,;–-]*\]\])(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
"""A link of the writer's notes, [[Half House]]; numbers alone are no link but a mark."""
UNFINISHED_LINK = re.compile(r"\[(?:\[[^\[\]\n]{0,120}\]?)?\Z")
"""The beginning of what may be a link, at the end of what has come so far."""
_SENTENCE = 4
"""Words from which on a gap is no mere name of an attribute."""


def strip_links(text: str) -> str:
    """Return `text` as it is shown: of a link its label, or the name without brackets."""
    return _LINK.sub(r"\1", text)


def describe_answer_notes(turn: Turn) -> Iterator[str]:
    """Yield what there is to say of an answer besides its words and citations."""
    answer = turn.output
    line = sanitize_line(answer.response_text)
    for gap in answer.gap_flags:
        if _is_quoted(gap.undefined_attribute, line):
            continue
        subject = f"{gap.about}, " if gap.about else ""
        implied = f" ({gap.what_is_implied})" if gap.what_is_implied else ""
        yield f"Not found in the text: {subject}{gap.undefined_attribute}{implied}"
        if gap.development_suggestion:
            yield f"a way to go: {gap.development_suggestion}"
    for span in answer.unsupported:
        words = shorten_excerpt(answer.response_text[span.start : span.end])
        yield f"no passage bears out: “{words}”"
    if answer.low_confidence:
        yield "the evidence is weak"
    yield from answer.remarks
    if answer.tavily_used:
        query_text = f": “{answer.web_query}”" if answer.web_query else ""
        yield f"the web was asked{query_text}"
    if turn.state is TurnState.STOPPED:
        yield "stopped before its end"


def format_spending(turns: Sequence[Turn]) -> str:
    """Return what the last turn took, and all of them; empty where no model was asked.

    Tokens sent and answered are counted together; those of an answer are estimated.
    """
    if not any(turn.usage.calls for turn in turns):
        return ""
    last = _format_usage(turns[-1:])
    return last if len(turns) == 1 else f"{last}; in all {_format_usage(turns)}"


def _format_usage(turns: Sequence[Turn]) -> str:
    usage = sum((turn.usage for turn in turns), Usage())
    prices = [turn.price for turn in turns if turn.usage.calls]
    known_prices = [price for price in prices if price is not None]
    cost = (
        format_dollars(sum(known_prices))
        if len(known_prices) == len(prices)
        else "price unknown"
    )
    return f"{usage.prompt_tokens + usage.completion_tokens:,} tokens, {cost}"


def describe_turn_cost(turn: Turn) -> str:
    """Return what a turn asked of a model, as a sentence; empty where it asked nothing.

    The tokens of an answer are estimated, and so is the whole.
    """
    usage = turn.usage
    if not usage.calls:
        return ""
    count_text = format_count(usage.calls, "call")
    failed = f"; {format_count(usage.failed, 'call')} failed" if usage.failed else ""
    return f"{count_text}: {format_tokens_and_price(usage, turn.price, about=True)}{failed}."


def describe_answering_model(settings: Settings, model: str) -> str:
    """Return which model answers and what it is sent; `model` empty is none."""
    if not model:
        return "No language model configured: showing quotations only."
    if settings.model.use == "openai":
        return f"Your question and what was found for it go to OpenAI ({model})."
    return f"Answered by {model} on its own server."


def _is_quoted(attribute: str, answer: str) -> bool:
    """Say whether an answer quotes a gap as the writer left it: in a sentence."""
    words = sanitize_line(attribute).rstrip(" .")
    return len(words.split()) >= _SENTENCE and words in answer


LONGEST = 4_000
"""Characters that a question may have."""
NEARLY = 3_600
"""Characters from which on a writer is told how many there are."""


def describe_question_length(length: int) -> str:
    """Say how long a question of so many characters is; empty while there is room."""
    if length > LONGEST:
        return (
            f"{length:,} characters, and {LONGEST:,} can be asked: shorten it. Nothing"
            " of it is lost."
        )
    return f"{length:,} of {LONGEST:,} characters" if length >= NEARLY else ""
