"""What is shown with an answer as text: remarks, cost and the model that answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from lrwr.app.presenters.citations import describe_changed_citations
from lrwr.app.presenters.text import (
    format_count,
    format_dollars,
    format_tokens_and_price,
    sanitize_line,
    shorten_excerpt,
)
from lrwr.core.model.language_model import Usage
from lrwr.core.model.turns import (
    CONTRADICTORY,
    NO_CHAPTER,
    NO_CLEAR_ANSWER,
    NO_LINE,
    NO_SCENE,
    NOBODY_PRESENT,
    NOT_MENTIONED,
    STOPPED_REMARK,
    GapFlag,
    SupervisorOutput,
    Turn,
    TurnState,
)
from lrwr.core.settings.model import Settings

if TYPE_CHECKING:
    from lrwr.core.retrieval.anchors import AnchoredCitation

_LINK = re.compile(r"\[\[(?!\s*\d[\d\s,;–-]*\]\])(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
"""A wiki link in a note, `[[Half House]]` or `[[target|label]]`; `[[1]]` is a citation."""
_CITATION = re.compile(r"\[w?\d")
"""The beginning of a citation of a passage, `[1]`, or of a web page, `[w1]`."""
_EMPHASIS = re.compile(
    r"(?<![\w*\\])(\*{1,3}|_{1,3})(?=[^\s*_])([^\n]{1,2000}?)(?<=[^\s*_])\1(?![\w*])"
)
"""Words between equal marks of Markdown emphasis, on one line."""
UNFINISHED_LINK = re.compile(r"\[(?:\[[^\[\]\n]{0,120}\]?)?\Z")
"""The possible beginning of a wiki link at the end of a partly streamed answer."""
_SENTENCE = 4
"""Number of words from which an open question counts as a sentence of the text."""


NO_MODEL = "No language model configured: showing quotations only."
"""Shown with an answer that consists of quoted sentences."""
MODEL_NOT_USED = "The language model is not used: showing quotations only."
"""Shown if a configured model may not be used; each answer says why."""


def strip_links(text: str) -> str:
    """Return `text` with each wiki link replaced by its label.

    The label of `[[Nell|she]]` is "she", that of `[[Nell]]` is "Nell". Citations such
    as `[[1]]` are unchanged.
    """
    return _LINK.sub(r"\1", text)


def strip_markup(text: str) -> str:
    """Return `text` with wiki links replaced by their labels and without emphasis.

    `**The named.** They own [[Thole]].` becomes "The named. They own Thole."
    """
    return _EMPHASIS.sub(r"\2", strip_links(text))


@dataclass(frozen=True, slots=True)
class AnswerNote:
    """A remark shown below an answer, such as "Low confidence".

    `kind` sets its style: `warning` if the answer may be wrong, `stopped` if it was cut
    off, else `info`.
    """

    text: str
    kind: Literal["info", "warning", "stopped"] = "info"


DAMAGED_ANSWER = (
    "This saved answer was damaged on disk; words in it may be wrong. Run"
    " `lrwr restore --latest` to put back the copy in your automatic backups, if they"
    " have one."
)


_NOT_FOUND = (
    "Not found in the text",
    "Not found in the story",
    NO_CLEAR_ANSWER,
    NO_LINE,
    NO_SCENE,
    NOBODY_PRESENT,
    NOT_MENTIONED,
    CONTRADICTORY,
)
"""How answers begin that say what was not found, or is not certain."""


_NEXT_STEPS = (
    (
        re.compile(
            r"what (?:does|did|do|can|could) .+? (?:already |really )?know\b", re.I
        ),
        "Without a language model, lrwr does not say who knows what. Answers only from"
        " scenes that a character witnessed or was told of: F2 and Alt+W in the chat"
        " screen, `--character NAME --witnessed` in the shell.",
    ),
    (
        re.compile(
            r"(?:which|what|are there).*\b(?:findings?|contradictions?)\b", re.I
        ),
        "Contradictions are listed by Alt+C in the chat screen, where n shows the new"
        " ones, and by `lrwr check` and `lrwr check --since yesterday` in the shell.",
    ),
    (
        re.compile(r"what (?:has |have |did )?(?:i |we )?chang\w* since\b", re.I),
        "Changes are listed by Alt+D in the chat screen, and by `lrwr diff` and"
        " `lrwr diff --last` in the shell.",
    ),
    (
        re.compile(
            r"who (?:has|have|had|does|did)(?: not|n['’]t) (?:\w+ )*?since\b", re.I
        ),
        "Who is absent since a chapter is listed by F7 and “since ch4” in the chat"
        " screen, and by `lrwr characters --absent-since ch4` in the shell.",
    ),
)
"""Questions that a screen and a command answer better than `ask` without a model."""


def describe_reliability(turn: Turn, places: "Sequence[AnchoredCitation]") -> str:
    """Return what to know before reading a stored answer: that it is damaged, or that
    passages it cites have changed. Empty if neither.

    `places` are its citations with their state in the current text.
    """
    return DAMAGED_ANSWER if turn.is_damaged else describe_changed_citations(places)


def describe_answer_notes(turn: Turn) -> Iterator[AnswerNote]:
    """Yield the remarks shown below the answer of `turn`, in the order of display.

    They cover open questions, unsupported statements, low confidence, skipped steps,
    the web search, and whether the answer was stopped.
    """
    yield from [AnswerNote(DAMAGED_ANSWER, "warning")] * turn.is_damaged
    answer = turn.output
    line = sanitize_line(answer.response_text)
    for gap in answer.gap_flags:
        if _is_quoted(gap.undefined_attribute, line) or _is_without_subject(gap):
            continue
        yield AnswerNote(_describe_gap(gap))
        if gap.development_suggestion:
            yield AnswerNote(f"Suggestion: {gap.development_suggestion}")
    for span, lacking in zip_longest(answer.unsupported, answer.lacking_words):
        words = answer.response_text[span.start : span.end]
        yield AnswerNote(_describe_unsupported(words, lacking or ()), "warning")
    if answer.low_confidence and answer.model:  # quotations say what they may lack
        text = "Low confidence: check the answer against the passages."
        yield AnswerNote(text, "warning")
    is_stopped = turn.state is TurnState.STOPPED
    remarks = (remark for remark in answer.remarks if remark != STOPPED_REMARK)
    yield from map(_build_remark_note, remarks)
    yield from map(AnswerNote, _list_next_steps(turn))
    if answer.tavily_used:
        query_text = f": “{answer.web_query}”" if answer.web_query else ""
        yield AnswerNote(f"Searched the web{query_text}")
    if is_stopped:
        yield AnswerNote("Stopped before the end", "stopped")


def _list_next_steps(turn: Turn) -> list[str]:
    """Return what answers the question better, if no language model did."""
    question = " ".join(turn.question.split())
    steps = [step for pattern, step in _NEXT_STEPS if pattern.match(question)]
    return [] if turn.output.model else steps


def _build_remark_note(remark: str) -> AnswerNote:
    is_warning = remark.startswith(NO_CHAPTER)
    return AnswerNote(remark, "warning" if is_warning else "info")


def is_answer_doubtful(turn: Turn) -> bool:
    """Return whether the text of an answer or the notes below it warn: of words that
    were not found, no clear answer, or statements to check.
    """
    return turn.output.response_text.startswith(_NOT_FOUND) or any(
        note.kind == "warning" for note in describe_answer_notes(turn)
    )


def findings_as_json(answer: SupervisorOutput) -> list[dict[str, object]]:
    """Return the findings of an answer: the span in characters, the words that the cited
    text lacks, and a sentence that says what is wrong.
    """
    text = answer.response_text
    return [
        {
            "span": [span.start, span.end],
            "words": list(words or ()),
            "message": _describe_unsupported(text[span.start : span.end], words or ()),
        }
        for span, words in zip_longest(answer.unsupported, answer.lacking_words)
    ]


def _describe_unsupported(words: str, lacking: Sequence[str]) -> str:
    """Return why a quotation or sentence of an answer is doubtful, with its words.

    `lacking` are the words that the cited text lacks; empty if none in particular.
    """
    excerpt = shorten_excerpt(words)
    if lacking:
        listed = ", ".join(f"“{sanitize_line(word)}”" for word in lacking)
        return f"Not in the passages that the answer cites: {listed}, in {excerpt}"
    if words[:1] + words[-1:] in ("“”", '""'):
        return f"Not verbatim in the passages that the answer cites: {excerpt}"
    if _CITATION.search(words):
        return f"Shares few words with the passages it cites: “{excerpt}”"
    return f"Without a supporting citation: “{excerpt}”"


def _is_without_subject(gap: GapFlag) -> bool:
    """Return whether a gap is a lone word or two, such as "built", of nobody."""
    attribute = gap.undefined_attribute
    is_question = attribute.endswith("?") or len(attribute.split()) >= _SENTENCE
    return not (gap.about or is_question)


def _describe_gap(gap: GapFlag) -> str:
    """Return an open question as a note, such as "Open question: Nell, coat"."""
    attribute = gap.undefined_attribute
    is_question = attribute.endswith("?")  # the user's own, which names its subject
    subject = f"{gap.about}, " if gap.about and not is_question else ""
    implied = f" ({gap.what_is_implied})" if gap.what_is_implied else ""
    return f"Open question: {subject}{attribute}{implied}"


def format_spending(turns: Sequence[Turn]) -> str:
    """Return tokens and price of the last turn; with several turns, also the total.

    An example is "9 tokens, $0.01; total 20 tokens, $0.02". `turns` are those of a
    thread, oldest first. Tokens sent and received are added up; those received are
    estimated. Empty if no turn called a language model.
    """
    if not any(turn.usage.calls for turn in turns):
        return ""
    last = _format_usage(turns[-1:])
    return last if len(turns) == 1 else f"{last}; total {_format_usage(turns)}"


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
    """Return model calls, tokens and price of a turn as a sentence ("1 call: …").

    Tokens received are estimated, so the total is marked "about". Empty if the turn
    called no language model, or all calls failed before anything was sent.
    """
    usage = turn.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    if not usage.calls or (usage.failed == usage.calls and not tokens):
        return ""
    count_text = format_count(usage.calls, "call")
    failed = f"; {format_count(usage.failed, 'call')} failed" if usage.failed else ""
    return f"{count_text}: {format_tokens_and_price(usage, turn.price, about=True)}{failed}."


def describe_answering_model(settings: Settings, model: str) -> str:
    """Return a sentence that says which model answers, and where questions are sent.

    `model` is the model's name. If it is empty, the sentence says that answers only
    quote the text.
    """
    if not model:
        return NO_MODEL if settings.model.use == "off" else MODEL_NOT_USED
    if settings.model.use == "openai":
        return (
            f"Your question and the passages found for it are sent to OpenAI ({model})."
        )
    server = urlsplit(settings.model.base_url).netloc.rpartition("@")[2]
    address = server or "this machine"
    return f"{model} answers, on your own server at {address}."


def _is_quoted(attribute: str, answer: str) -> bool:
    words = sanitize_line(attribute).rstrip(" .")
    return len(words.split()) >= _SENTENCE and words in answer
