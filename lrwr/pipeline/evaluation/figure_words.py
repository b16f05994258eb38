"""Figures by their names, in a writer's words. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

LOWER = frozenset(
    {
        *("seconds", "tokens", "dollars", "leak", "false_gap", "invented"),
        *("answer_seconds", "answer_tokens", "answer_leak"),
    }
)
"""Figures of which less is better."""


@dataclass(frozen=True, slots=True)
class Words:
    """How a figure is told: what the better arm does, and what it is about.

    Both stand in the middle of a sentence.
    """

    does: str
    about: str


_TOLD: Mapping[str, Words] = {
    "recall": Words(
        "finds more of the answer in {n} tokens",
        "how much of the answer is found in {n} tokens",
    ),
    "precision": Words(
        "gives less beside the answer in {n} tokens",
        "how much of what is given in {n} tokens is the answer",
    ),
    "iou": Words(
        "comes closer to the answer alone in {n} tokens",
        "how close it comes to the answer alone in {n} tokens",
    ),
    "hit": Words(
        "has the answer among the first {n} more often",
        "how often the answer is among the first {n}",
    ),
    "mrr": Words("has the answer higher up", "how high up the answer comes"),
    "ndcg": Words(
        "has all of the answer higher up among the first {n}",
        "how high up all of the answer comes among the first {n}",
    ),
    "leak": Words(
        "shows what comes later less often", "how often it shows what comes later"
    ),
    "seconds": Words("is faster", "how long it takes"),
    "tokens": Words("gives fewer tokens", "how many tokens it gives"),
    "dollars": Words("costs less", "what it costs"),
    "resolved": Words(
        "cites more often what stands there",
        "how often what it cites stands there",
    ),
    "citation_precision": Words(
        "cites more often what bears it out",
        "how often what it cites bears it out",
    ),
    "citation_recall": Words(
        "bears out more of what it says", "how much of what it says is borne out"
    ),
    "quotes": Words(
        "quotes more often what stands in the text",
        "how often what it quotes stands in the text",
    ),
    "gap": Words(
        "says more often that the text does not tell",
        "how often it says that the text does not tell",
    ),
    "false_gap": Words(
        "misses less often what the text does tell",
        "how often it misses what the text does tell",
    ),
    "invented": Words("invents an answer less often", "how often it invents an answer"),
    "doubted": Words(
        "warns more often that its evidence is weak",
        "how often it warns that its evidence is weak",
    ),
    "word_overlap": Words(
        "answers more in the words of the known answer",
        "how far it answers in the words of the known answer",
    ),
    "answer_seconds": Words("answers faster", "how long an answer takes"),
    "answer_tokens": Words(
        "takes fewer tokens for an answer", "how many tokens an answer takes"
    ),
    "answer_leak": Words(
        "gives away less often what comes later",
        "how often it gives away what comes later",
    ),
    "correctness": Words("answers more correctly", "how correct its answers are"),
    "faithfulness": Words(
        "keeps closer to what it was given, says the judge",
        "how close it keeps to what it was given, says the judge",
    ),
    "context_precision": Words(
        "puts what is useful higher up, says the judge",
        "how high up it puts what is useful, says the judge",
    ),
    "context_recall": Words(
        "is given more of what the answer needs, says the judge",
        "how much of what the answer needs is given, says the judge",
    ),
}


def less_is_better(figure: str) -> bool:
    """Say whether the arm with less of it is the better one."""
    return figure.partition("@")[0] in LOWER


def words_of(figure: str) -> Words:
    """Return how a figure is told; of one that is not known, its own name."""
    if figure == "hit@1":
        return Words("has the answer first more often", "how often the answer is first")
    name, _, number = figure.partition("@")
    told = _TOLD.get(name, Words(f"has more {name}", name))
    shown = f"{int(number):,}" if number.isdecimal() else number
    return Words(told.does.format(n=shown), told.about.format(n=shown))


def number_of(figure: str, value: float, digits: int) -> str:
    """Return a figure's value with its unit; dollars and seconds have one."""
    shown = f"{value:,.{digits}f}"
    if figure == "dollars":
        return f"${shown}"
    return f"{shown} s" if figure.endswith("seconds") else shown
