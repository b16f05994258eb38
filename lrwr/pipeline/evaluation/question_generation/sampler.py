"""Choosing among drafts: shares, an even spread, and no place twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from types import MappingProxyType

from lrwr.pipeline.evaluation.question_generation.draft import (
    QuestionDraft,
    has_overlap,
    question_from_draft,
)
from lrwr.pipeline.evaluation.question_generation.source_material import SourceMaterial
from lrwr.pipeline.evaluation.questions import AnswerPlace, EvalQuestion, QuestionKind

KIND_SHARES: Mapping[QuestionKind, int] = MappingProxyType(
    {
        QuestionKind.FACT: 35,
        QuestionKind.SEVERAL: 15,
        QuestionKind.RELATIONSHIP: 10,
        QuestionKind.TIMELINE: 8,
        QuestionKind.AS_OF: 7,
        QuestionKind.UNANSWERABLE: 25,
    }
)
"""Parts of a hundred.

Most of what is asked of a book is one fact; but a set of facts alone flatters whatever
matches words, so a third needs several passages, people or places in time. Less than a
quarter without an answer would not show what invents one, nor teach when evidence is
weak.
"""

_CALLED: Mapping[QuestionKind, str] = MappingProxyType(
    {
        QuestionKind.FACT: "on single facts",
        QuestionKind.SEVERAL: "that need several passages",
        QuestionKind.RELATIONSHIP: "on relationships",
        QuestionKind.TIMELINE: "on order and time",
        QuestionKind.AS_OF: "at a point of the story",
        QuestionKind.UNANSWERABLE: "that the text does not answer",
    }
)


@dataclass(frozen=True, slots=True)
class DraftFamily:
    """Drafts of one kind, made in one way; `weight` is its part beside the others."""

    drafts: Sequence[QuestionDraft]
    weight: int = 1


class DraftSelector:
    """Chooses questions, each about another place than all chosen before."""

    def __init__(self, material: SourceMaterial, seed: int) -> None:
        self._material = material
        self._seed = seed
        self._used: list[AnswerPlace] = []
        self._asked: set[tuple[str, ...]] = set()
        self._chapters: Counter[int] = Counter()
        self._people: Counter[str] = Counter()

    def choose(self, families: Sequence[DraftFamily], limit: int) -> list[EvalQuestion]:
        """Return at most `limit` questions, from each family by its weight.

        What a family cannot give, the others do. Chapters that have few questions go
        first, then people who have.
        """
        remaining = [self._shuffled(family.drafts) for family in families]
        chosen_counts = [0] * len(families)
        eval_questions: list[EvalQuestion] = []
        while len(eval_questions) < limit and any(remaining):
            at = min(
                (n for n, drafts in enumerate(remaining) if drafts),
                key=lambda n: (Fraction(chosen_counts[n], families[n].weight), n),
            )
            question = self._next(remaining[at])
            if question is not None:
                eval_questions.append(question)
                chosen_counts[at] += 1
        return eval_questions

    def _shuffled(self, drafts: Sequence[QuestionDraft]) -> list[QuestionDraft]:
        shuffled = list(drafts)
        Random(f"{self._seed}").shuffle(shuffled)
        return shuffled

    def _next(self, drafts: list[QuestionDraft]) -> EvalQuestion | None:
        """Take the draft that is most wanted; None if it turns out not to do."""
        best = min(range(len(drafts)), key=lambda n: (*self._crowd(drafts[n]), n))
        return self.accepted(drafts.pop(best))

    def accepted(self, draft: QuestionDraft) -> EvalQuestion | None:
        """Return a draft as a question; None if its words, or it, were asked already.

        None, too, if words that it rests on are too few, or stand twice in their file.
        """
        places = (*draft.places, *draft.spoilers)
        if draft.about in self._asked or has_overlap(places, self._used):
            return None
        question = question_from_draft(draft, self._material)
        if question is not None:
            self._asked.add(draft.about)
            self._used.extend(places)
            self._chapters.update(map(self._material.chapter_of, places[:1]))
            self._people.update(draft.about[:1])
        return question

    def _crowd(self, draft: QuestionDraft) -> tuple[int, int]:
        """Return how much is asked already of a draft's chapter, and of its person."""
        places = (*draft.places, *draft.spoilers)
        chapter = self._chapters[self._material.chapter_of(places[0])] if places else 0
        return chapter, self._people[draft.about[0]] if draft.about else 0


def divide_by_shares(number: int) -> dict[QuestionKind, int]:
    """Divide `number` by `KIND_SHARES`; what is left over goes to the largest remainders."""
    parts = {kind: Fraction(number * share, 100) for kind, share in KIND_SHARES.items()}
    counts = {kind: int(part) for kind, part in parts.items()}
    remainder = number - sum(counts.values())
    by_rest = sorted(parts, key=lambda kind: counts[kind] - parts[kind])
    for kind in by_rest[:remainder]:
        counts[kind] += 1
    return counts


def describe_shortfall(
    kind: QuestionKind, question_count: int, target: int, why: str
) -> str:
    """Return a sentence that says a kind has fewer questions than its share."""
    return f"{question_count} of {target} questions {_CALLED[kind]} were made: {why}."
