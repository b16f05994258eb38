"""Whether our figures agree with the scorer's: `python -m bench.inside.agree DATA WORK`.

WORK holds the libraries that `python -m bench --only retrieval --work WORK` made. Every
question of the same searches is measured by both, twice: as lrwr does, in characters of
the text, and in the scorer's own unit, letters and digits. Budgets are characters, and
all that answers is wanted, as the scorer has it. As passages seldom end within what
answers, it is all done again with the passages cut up.
"""

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.data import DataFolder, read_lines
from bench.inside.roster import scorer
from lrwr.app.container import open_workspace
from lrwr.core.model.chunks import Chunk, Pipeline
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.retrieval.service import SearchRequest
from lrwr.core.settings.loader import load_settings
from lrwr.pipeline.evaluation.outcomes import ContextPiece, RetrievedContext
from lrwr.pipeline.evaluation.questions import AnswerPlace, covers_answer_place
from lrwr.pipeline.evaluation.search_measures import compute_retrieval_figures

BUDGETS = (2000, 4000, 8000)
RANKED = ("hit@1", "hit@5", "hit@10", "mrr", "ndcg@10")
PAIRS = {name: name for name in RANKED} | {
    f"recall@{budget}": f"coverage@{budget}" for budget in BUDGETS
}
"""The names of our figures, and the scorer's for the same."""

LIMIT = 20
EVERY = 5
"""Of so many questions on tales one is asked."""

SHORT, DEEPEST = 90, 50
"""Characters of what passages are cut up into, and how much of that is ranked: the
scorer looks no deeper."""

SAME = 1e-9
UNEXPLAINED = "UNEXPLAINED"
ELSEWHERE = "found where the same words stand first"
LETTERS = 20
"""The scorer wants a piece to share so many letters with what answers."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Questions of one library, and the folder of the texts they are about."""

    root: Path
    docs: Path
    asked: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """One question's pieces and what answers it, in one unit."""

    pieces: tuple[ContextPiece, ...]
    gold: tuple[AnswerPlace, ...]

    def figures(self) -> dict[str, float]:
        retrieved_context = RetrievedContext(self.pieces, 0.0)
        gold = [[place] for place in self.gold]
        return compute_retrieval_figures(
            retrieved_context, gold, every=True, budgets=BUDGETS, late=None
        )


@dataclass(slots=True)
class Tally:
    """How often the two agree, how far they are apart, and why."""

    questions: int = 0
    same: Counter[str] = field(default_factory=Counter)
    ours: defaultdict[str, list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    apart: defaultdict[str, list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    reasons: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(
        self,
        ours: Mapping[str, float],
        theirs: Mapping[str, float],
        why: Mapping[str, str],
    ) -> None:
        self.questions += 1
        for name, other in PAIRS.items():
            apart = ours[name] - theirs[other]
            self.ours[name].append(ours[name])
            self.apart[name].append(apart)
            if abs(apart) <= SAME:
                self.same[name] += 1
            else:
                self.reasons[name][why[name]] += 1

    def say(self) -> None:
        for name in PAIRS:
            far = max(abs(one) for one in self.apart[name])
            mean, more = fmean(self.ours[name]), fmean(self.apart[name])
            told = "; ".join(f"{n} {why}" for why, n in self.reasons[name].items())
            print(
                f"    {name:12} {mean:.4f}, {self.same[name]:4} of {self.questions}"
                f" agree, at most {far:.4f} apart, {more:+.5f} on average"
                f"{'; ' if told else ''}{told}"
            )


class Judged:
    """The scorer, and where it finds words in documents."""

    def __init__(self, data: Path, docs: Path) -> None:
        self._scorer = scorer(data, "retrieval_score")
        self._corpus = self._scorer.Corpus(str(docs))

    def figures(self, question: dict[str, Any], chunks: Sequence[Chunk]) -> Any:
        ranked = [{"text": chunk.text, "file": str(chunk.document)} for chunk in chunks]
        return self._scorer.score_one(question, ranked, self._corpus)

    def places(self, question: dict[str, Any]) -> Iterator[tuple[str, Any, int, int]]:
        """Yield the file's name, its text and where each thing stands that answers."""
        for gold in question["gold_passages"]:
            path = self._corpus.path(question, gold)
            yield Path(path).name, self._corpus.doc(path), gold["start"], gold["end"]


def main() -> None:
    data, work = (Path(argument).resolve() for argument in sys.argv[1:3])
    for pipeline in Pipeline:
        for name, samples in _samples(DataFolder(data), work).items():
            asyncio.run(_agree(f"{name}, pipeline {pipeline}", samples, pipeline, data))


def _samples(folder: DataFolder, work: Path) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {}
    dialogue, novels = folder.questions("novel_dialogue"), folder.novel_root()
    if dialogue and novels:
        by_novel = defaultdict[str, list[dict[str, Any]]](list)
        for question in read_lines(dialogue):
            by_novel[question["novel"]].append(question)
        present = [n for n in sorted(by_novel) if (work / f"novel-{n}").exists()]
        samples["dialogue"] = [
            Sample(work / f"novel-{name}", novels, by_novel[name]) for name in present
        ]
    fairy, tales = folder.questions("fairytale"), folder.tales()
    if fairy and tales and (work / "tales").exists():
        val = [q for q in read_lines(fairy) if q.get("official_split") == "val"]
        samples["tales, val"] = [Sample(work / "tales", tales, val[::EVERY])]
    return samples


async def _agree(
    name: str, samples: Sequence[Sample], pipeline: Pipeline, data: Path
) -> None:
    tallies = defaultdict[tuple[str, str], Tally](Tally)
    libraries = set[Path]()
    for sample in samples:
        judged = Judged(data, sample.docs)
        async for question, chunks in _searched(sample, pipeline):
            libraries.add(sample.root)
            for key, own, found in _ways(question, chunks, judged):
                theirs = judged.figures(question, own)
                why = _reasons(question, own, found, judged, key[1])
                tallies[key].add(found.figures(), theirs, why)
    print(f"{name}: {len(libraries)} of the libraries")
    for (cut, unit), tally in tallies.items():
        print(f"  {cut}, in {unit}: {tally.questions} questions")
        tally.say()


def _ways(
    question: dict[str, Any], chunks: Sequence[Chunk], judged: Judged
) -> Iterator[tuple[tuple[str, str], Sequence[Chunk], Found]]:
    """Yield what was found, whole and cut up, in both units."""
    for cut, own in (("as found", chunks), ("cut up", _cut_up(chunks))):
        yield (cut, "characters"), own, _raw(question, own, judged)
        yield (cut, "letters and digits"), own, _in_letters(question, own, judged)


def _cut_up(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the first short pieces of passages, in order."""
    pieces = [
        replace(
            chunk,
            span=Span(chunk.span.start + at, chunk.span.start + at + len(text)),
            text=text,
        )
        for chunk in chunks
        for at in range(0, len(chunk.text), SHORT)
        if (text := chunk.text[at : at + SHORT])
    ]
    return pieces[:DEEPEST]


async def _searched(sample: Sample, pipeline: Pipeline) -> Any:
    """Yield questions with the chunks found for each, if the library has any."""
    async with open_workspace(load_settings(sample.root, {}, {})) as workspace:
        finder = workspace.finder()
        order = await finder.story_order()
        some = await workspace.passages.chunks_of(order.story[0], pipeline)
        for question in sample.asked if some else ():
            request = SearchRequest(question["question"], pipeline, LIMIT)
            found = await finder.find(request, order)
            yield question, [passage.chunk for passage in found.passages]


def _raw(question: dict[str, Any], chunks: Sequence[Chunk], judged: Judged) -> Found:
    """Return it in characters; a budget's tokens are characters too."""
    gold = tuple(
        AnswerPlace(DocumentId(name), Span(start, end))
        for name, _, start, end in judged.places(question)
    )
    pieces = tuple(
        ContextPiece(_named(chunk), chunk.span, chunk.text, len(chunk.text))
        for chunk in chunks
    )
    return Found(pieces, gold)


def _in_letters(
    question: dict[str, Any], chunks: Sequence[Chunk], judged: Judged
) -> Found:
    """Return it in the letters and digits of those documents that answer.

    What stands elsewhere keeps its place: only its length counts, against budgets.
    """
    texts = {name: text for name, text, _, _ in judged.places(question)}
    gold = tuple(
        AnswerPlace(DocumentId(name), Span(*text.raw_to_norm(start, end)))
        for name, text, start, end in judged.places(question)
    )
    pieces = []
    for chunk in chunks:
        text = texts.get(_named(chunk))
        span = chunk.span
        if text is not None:
            span = Span(*text.raw_to_norm(span.start, span.end))
        shown = chunk.text if text is None else text.n[span.start : span.end]
        pieces.append(ContextPiece(_named(chunk), span, shown, len(chunk.text)))
    return Found(tuple(pieces), gold)


def _reasons(
    question: dict[str, Any],
    chunks: Sequence[Chunk],
    own: Found,
    judged: Judged,
    unit: str,
) -> dict[str, str]:
    """Say for each figure why it may differ, where that can be shown."""
    moved = any(
        not _stands(text, chunk)
        for name, text, _, _ in judged.places(question)
        for chunk in chunks
        if _named(chunk) == name
    )
    odd = {*_odd_pieces(question, chunks, own, judged)}
    ranked = UNEXPLAINED if not odd or UNEXPLAINED in odd else " and ".join(sorted(odd))
    other = "counted in letters" if unit == "characters" else UNEXPLAINED
    given = ELSEWHERE if moved else other
    return {name: ranked if name in RANKED else given for name in PAIRS}


def _odd_pieces(
    question: dict[str, Any], chunks: Sequence[Chunk], own: Found, judged: Judged
) -> Iterator[str]:
    """Yield why a piece covers what answers by one rule and not by the other."""
    for chunk, piece in zip(chunks, own.pieces, strict=True):
        for place, gold in zip(own.gold, judged.places(question), strict=True):
            name, text, start, end = gold
            if name != piece.document:
                continue
            answer = text.raw_to_norm(start, end)
            theirs = _covers(text.locate(chunk.text), answer, LETTERS)
            ours = covers_answer_place(piece, place)
            if theirs == ours:
                continue
            there = [text.raw_to_norm(chunk.span.start, chunk.span.end)]
            in_characters = [(chunk.span.start, chunk.span.end)]
            if ours == _covers(there, answer, LETTERS):
                yield ELSEWHERE
            elif ours == _covers(there, answer, 1):
                yield f"fewer than {LETTERS} letters are shared"
            elif ours == _covers(in_characters, (start, end), 1):
                yield "half of the letters is not half of the characters"
            else:
                yield UNEXPLAINED


def _covers(
    spans: Sequence[tuple[int, int]], answer: tuple[int, int], least: int
) -> bool:
    """Say whether spans share half of the shorter with an answer, and at least so much."""
    first, last = answer
    shared = sum(max(0, min(end, last) - max(start, first)) for start, end in spans)
    half = min(sum(end - start for start, end in spans), last - first) / 2
    return shared >= max(min(least, last - first), half)


def _stands(text: Any, chunk: Chunk) -> bool:
    """Say whether the scorer finds a chunk where it stands."""
    own = text.raw_to_norm(chunk.span.start, chunk.span.end)
    return tuple(text.locate(chunk.text)) == (own,)


def _named(chunk: Chunk) -> DocumentId:
    return DocumentId(Path(str(chunk.document)).name)


if __name__ == "__main__":
    main()
