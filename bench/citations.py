"""The check of citations on stored answers of a capable model, with planted mistakes.

`DATA/model_answers` has the answers, one JSON file each, on the sample manuscript.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bench.children import REPO, lrwr, run
from bench.inside.noted import read_folder
from bench.library import Bench, make_library
from bench.report import Line, skipped
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.citations import ANY_MARK, CITATION_MARK
from lrwr.core.attribution.claims import CheckedAnswer, check_citations
from lrwr.core.attribution.details import find_numbers, has_negation
from lrwr.core.attribution.names import find_missing_names
from lrwr.core.attribution.quotations import (
    find_answer_quotations,
    list_numbers,
    occurs_in,
)
from lrwr.core.attribution.sources import StoryContext
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import Citation

PART = "citations"
Cast = tuple[tuple[str, ...], ...]
"""All forms of the name of each character."""

SAMPLE = REPO / "examples" / "marsh-lantern"
SEED = 21
WRONG = frozenset({"vague", "fu1", "fu2"})
"""Answers with mistakes of their own, whose findings are deserved."""

KINDS = ("name", "number", "negation", "moved", "invented")
INVENTED = (
    "{a} was born in a valley two days inland.",
    "{a} once sold a fishing boat to a pedlar for eleven shillings.",
    "{a} keeps a caged linnet by the kitchen window.",
    "{a} and {b} were married in the chapel at midsummer.",
    "{a} learned to swim from a Portuguese sailor.",
    "{a} is afraid of dogs because one bit {b} in childhood.",
    "{a} burned the letters before the funeral.",
    "{a} secretly pays the schoolmaster for lessons.",
    "{a} lost two brothers in a mining accident.",
    "{a} had dreamed of becoming an opera singer.",
    "{a} inherited a vineyard from an uncle abroad.",
    "{a} poisoned the geese to spite {b}.",
    "A telegram arrives that forces {a} to travel abroad.",
    "The bishop forgave {a} during the harvest festival.",
    "Her mother ran a bakery in the capital.",
    "He had served as a sergeant in the cavalry.",
    "The doctor prescribed laudanum for the headaches.",
    "They buried the silver under a walnut tree.",
    "She taught the orphans geography and dancing.",
    "The wedding guests danced until the candles guttered.",
)
"""Sentences of which the sample says nothing."""

_AUXILIARY = re.compile(
    r"\b(?:is|was|are|were|has|had|have|can|could|will|would|does|did)\b(?! not)"
)
_VERB = re.compile(
    r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|who|PurpleFrog|Nell|OchraMags|Mags|GreyAnsel)"
    r"(?= \w+(?:s|ed)\b)"
)
_NEGATED = re.compile(r"\b(?:did|does|could|had|was|is)(?P<n>n[’']t| not)\b| never\b")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer with the citations that it uses."""

    name: str
    text: str
    question: str
    mode: AnswerMode
    citations: tuple[Citation, ...]
    chapters: frozenset[int] = frozenset()

    @property
    def is_right(self) -> bool:
        """Whether a reader found the answer right, or honest."""
        return self.name not in WRONG


@dataclass(frozen=True, slots=True)
class Plant:
    """An answer with one mistake of a `kind`."""

    kind: str
    text: str


def measure(bench: Bench) -> list[Line]:
    """Return the findings on right and on wrong answers, and the planted mistakes that
    are found, for each kind.
    """
    root = bench.data.root
    if root is None or not (root / "model_answers").is_dir():
        return skipped(PART, "no model_answers in the data folder")
    cast = _load_cast(bench)
    answers = load_answers(root / "model_answers")
    right = [answer for answer in answers if answer.is_right]
    counts = {a.name: len(check(a, a.text, cast).findings) for a in answers}
    lines = [
        Line(
            PART,
            f"findings on {len(right)} right answers",
            sum(counts[answer.name] for answer in right),
            goal=2,
        )
    ]
    lines += [
        Line(PART, f"findings on {name}, deserved", counts[name])
        for name in sorted(WRONG & counts.keys())
    ]
    return [*lines, *_measure_plants(right, cast)]


def load_answers(folder: Path) -> list[StoredAnswer]:
    """Return the stored answers of `folder`, sorted by file name."""
    return [
        _parse_answer(path.stem, json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*.json"))
    ]


def _parse_answer(name: str, value: dict[str, Any]) -> StoredAnswer:
    citations = tuple(
        Citation(
            one["number"],
            DocumentId(one["file"]),
            Span(*one["chars"]),
            LineRange(*one["lines"]),
            one["text"],
            one["chapter"],
        )
        for one in value["citations"]
    )
    mode = AnswerMode(value["mode"])
    chapters = frozenset(int(n) for n in re.findall(r"\d+", value["as_of"] or ""))
    return StoredAnswer(
        name, value["answer"], value["question"], mode, citations, chapters
    )


def _load_cast(bench: Bench) -> Cast:
    library = make_library(bench.work / "sample", {"manuscript": SAMPLE})
    shown = run([*lrwr(), "characters", "--json"], cwd=library.root).out
    return tuple((one["name"], *one["aliases"]) for one in json.loads(shown))


@cache
def _texts() -> dict[DocumentId, Any]:
    return {document.id: document for document in read_folder(SAMPLE)}


def check(answer: StoredAnswer, text: str, cast: Cast) -> CheckedAnswer:
    """Check `text`, which is `answer` or a variant of it."""
    return check_citations(
        text,
        answer.citations,
        find_sentence_spans,
        mode=answer.mode,
        question=answer.question,
        story=StoryContext(cast, texts=_texts(), chapters=answer.chapters),
    )


def _measure_plants(answers: Sequence[StoredAnswer], cast: Cast) -> list[Line]:
    """Return the share of planted mistakes that are found, for each kind and in all."""
    random = Random(SEED)
    counts = {kind: [0, 0] for kind in KINDS}
    for answer in answers:
        checked = check(answer, answer.text, cast)
        for plant in iter_plants(answer, cast, random):
            counts[plant.kind][0] += is_found(plant, answer, checked, cast)
            counts[plant.kind][1] += 1
    lines = [
        Line(
            PART,
            f"planted, found: {kind}",
            round(found / max(1, planted), 3),
            note=f"{found} of {planted}",
        )
        for kind, (found, planted) in counts.items()
    ]
    found = sum(pair[0] for pair in counts.values())
    planted = sum(pair[1] for pair in counts.values())
    share = round(found / max(1, planted), 3)
    note = f"{found} of {planted}"
    return [*lines, Line(PART, "planted, found: all", share, "", 0.95, ">=", note)]


def is_found(
    plant: Plant, answer: StoredAnswer, before: CheckedAnswer, cast: Cast
) -> bool:
    """Return whether the check of `plant` has a finding that `answer` lacks, or undoes
    a wrong number.
    """
    after = check(answer, plant.text, cast)
    if plant.kind == "moved" and after.text == before.text:
        return True
    old = {before.text[f.span.start : f.span.end] for f in before.findings}
    return any(after.text[f.span.start : f.span.end] not in old for f in after.findings)


def iter_plants(answer: StoredAnswer, cast: Cast, random: Random) -> Iterator[Plant]:
    """Yield `answer` with one mistake at a time, at every place that can have one.

    A swapped name or number is one that the cited words of the sentence lack. In
    character nothing is negated or added, since a character may say more than the text.
    """
    for start, end in _sentence_spans(answer.text):
        numbers = list_numbers(answer.text[start:end])
        if answer.text[start:end].strip().startswith(("Suggestion", "What it implies")):
            continue
        cited = [c for c in answer.citations if c.number in numbers or not numbers]
        if answer.mode is AnswerMode.ANALYTICAL or numbers:
            source = "\n".join(f"{c.document} {c.text}" for c in cited)
            yield from _swap_names(answer, start, end, source, cast, random)
            yield from _swap_numbers(answer, start, end, cited, random)
        if answer.mode is AnswerMode.ANALYTICAL and numbers:
            yield from _negate(answer, start, end)
    yield from _move_quotations(answer, random)
    if answer.mode is AnswerMode.ANALYTICAL:
        yield from _invent(answer, cast, random)


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of an answer with the marks after them."""
    ends = [
        m.end()
        for m in re.finditer(r"[.!?][”\"]?(?:\s*\[[\d, ]+\])*(?=\s|$)", text)
        if text.count("“", 0, m.end()) == text.count("”", 0, m.end())
    ]
    starts = [0, *ends]
    return list(zip(starts, [*ends, len(text)], strict=True))


def _swap_names(
    answer: StoredAnswer,
    start: int,
    end: int,
    source: str,
    cast: Cast,
    random: Random,
) -> Iterator[Plant]:
    forms = sorted({f for fs in cast for f in fs if f[0].isupper()}, key=len)
    pattern = "|".join(re.escape(form) for form in reversed(forms))
    others = [
        names[0]
        for names in cast
        if find_missing_names(names[0], source, cast)
        and not any(name in answer.question for name in names)
    ]
    for match in re.finditer(rf"\b(?:{pattern})\b", answer.text[start:end]):
        if others:
            other = random.choice(others)
            yield _replace(answer, "name", start, match.span(), other)


def _swap_numbers(
    answer: StoredAnswer,
    start: int,
    end: int,
    cited: Sequence[Citation],
    random: Random,
) -> Iterator[Plant]:
    sentence = ANY_MARK.sub(lambda mark: "_" * len(mark[0]), answer.text[start:end])
    known = {value for c in cited for value, _ in find_numbers(c.text)}
    known |= {c.chapter for c in cited if c.chapter is not None}
    at = 0
    for value, words in find_numbers(sentence):
        at = sentence.index(words, at)
        place = (at, at + len(words))
        at = place[1]
        if re.match(r"\d+\.(?:\s|$)", sentence[place[0] :]) and value < 10:
            continue  # the number of a list item
        choices = [n for n in range(value + 2, value + 40) if n not in known]
        yield _replace(answer, "number", start, place, str(random.choice(choices)))


def _negate(answer: StoredAnswer, start: int, end: int) -> Iterator[Plant]:
    sentence = answer.text[start:end]
    outside = _hide_quotations(sentence)
    for match in [*_NEGATED.finditer(outside)]:
        place = match.span("n") if match["n"] else match.span()
        yield _replace(answer, "negation", start, place, "")
    if has_negation(outside):
        return
    auxiliary, verb = _AUXILIARY.search(outside), _VERB.search(outside)
    if auxiliary:
        yield _replace(answer, "negation", start, (auxiliary.end(),) * 2, " not")
    elif verb:
        yield _replace(answer, "negation", start, (verb.end(),) * 2, " never")


def _hide_quotations(text: str) -> str:
    return re.sub(r"“[^”]*”|\[\d+\]", lambda match: "_" * len(match[0]), text)


def _move_quotations(answer: StoredAnswer, random: Random) -> Iterator[Plant]:
    for quotation in find_answer_quotations(answer.text):
        mark = CITATION_MARK.match(answer.text[quotation.span.end :].lstrip(" ,.;"))
        wrong = [
            citation.number
            for citation in answer.citations
            if not occurs_in(quotation.text, [citation.text])
        ]
        if mark is None or not wrong or not quotation.is_long:
            continue
        at = answer.text.index(mark[0], quotation.span.end)
        place = (at, at + len(mark[0]))
        choices = [number for number in wrong if f"[{number}]" != mark[0]]
        if choices:
            yield _replace(answer, "moved", 0, place, f"[{random.choice(choices)}]")


def _invent(answer: StoredAnswer, cast: Cast, random: Random) -> Iterator[Plant]:
    """Add invented sentences behind sentences with a number: each once with this number,
    and once without.
    """
    ends = [
        (end, numbers[-1])
        for start, end in _sentence_spans(answer.text)
        if (numbers := list_numbers(answer.text[start:end]))
    ]
    known = [names[0] for names in cast]
    for sentence in INVENTED:
        end, number = random.choice(ends)
        a, b = random.sample(known, 2)
        bare = sentence.format(a=a, b=b)
        marked = f"{bare[:-1]} [{number}]."
        for added in (marked, bare):
            yield _replace(answer, "invented", 0, (end, end), f" {added}")


def _replace(
    answer: StoredAnswer, kind: str, start: int, place: tuple[int, int], words: str
) -> Plant:
    left, right = start + place[0], start + place[1]
    return Plant(kind, answer.text[:left] + words + answer.text[right:])
