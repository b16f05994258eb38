"""Questions made from templates, and the selection among drafts.

Templates ask about what one sentence says, in the words of a list, so their questions
are easier to find by words than an author's own, and they never ask why. They compare
ways of searching fairly, because every arm gets the same questions; they do not predict
how well search answers an author's own questions.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from random import Random
from types import MappingProxyType

from lrwr.core.bible.values import CharacterProfile
from lrwr.pipeline.evaluation.question_generation import templates
from lrwr.pipeline.evaluation.question_generation.source_material import (
    QuestionDraft,
    SourceMaterial,
)
from lrwr.pipeline.evaluation.questions import AnswerPlace, EvalQuestion, QuestionKind

_ID_LENGTH = 10
_SHORTEST = 12
"""Minimum length of a quote in characters."""

MODEL_SHARES: Mapping[QuestionKind, int] = MappingProxyType(
    {
        QuestionKind.FACT: 35,
        QuestionKind.SEVERAL: 15,
        QuestionKind.RELATIONSHIP: 10,
        QuestionKind.TIMELINE: 8,
        QuestionKind.AS_OF: 7,
        QuestionKind.UNANSWERABLE: 25,
    }
)
"""Percent of each kind among the questions that a language model makes.

Most of what is asked of a book is one fact; but a set of facts alone flatters whatever
matches words, so a third needs several passages, people or places in time. Less than a
quarter without an answer would not show what invents one, nor teach when evidence is
weak.
"""

TEMPLATE_SHARES: Mapping[QuestionKind, int] = MappingProxyType(
    {
        QuestionKind.FACT: 50,
        QuestionKind.SEVERAL: 15,
        QuestionKind.AS_OF: 10,
        QuestionKind.UNANSWERABLE: 25,
    }
)
"""Percent of each kind among the questions that templates make: they know these four."""

_KIND_PHRASES: Mapping[QuestionKind, str] = MappingProxyType(
    {
        QuestionKind.FACT: "on single facts",
        QuestionKind.SEVERAL: "that need several passages",
        QuestionKind.AS_OF: "at a point of the story",
        QuestionKind.UNANSWERABLE: "that the text does not answer",
    }
)
_SHORTAGE_REASONS: Mapping[QuestionKind, str] = MappingProxyType(
    {
        QuestionKind.FACT: "too few notes or sentences name a character and one rarely mentioned thing",
        QuestionKind.SEVERAL: "too few things are mentioned in just two or three chapters",
        QuestionKind.AS_OF: "too few facts occur in only one of several chapters",
        QuestionKind.UNANSWERABLE: "too few characters have a proper name, or the text"
        " mentions nearly everything that could be asked about",
    }
)


@dataclass(frozen=True, slots=True)
class GeneratedQuestions:
    """Generated questions, and remarks: sentences on those that could not be
    generated.
    """

    questions: tuple[EvalQuestion, ...]
    remarks: tuple[str, ...] = ()


def make_question_id(kind: QuestionKind, text: str, as_of: str = "") -> str:
    """Return the id of a question: a hash of its kind, text and horizon, the same in
    every run.

    `as_of` is the horizon as users write it, empty for the whole story.
    """
    hash_input = "\n".join((kind.value, text, as_of) if as_of else (kind.value, text))
    return f"{kind.value}-{sha256(hash_input.encode()).hexdigest()[:_ID_LENGTH]}"


def question_from_draft(
    draft: QuestionDraft, material: SourceMaterial
) -> EvalQuestion | None:
    """Return the question of a draft; the words at the draft's places become its gold
    quotes (words that answer it).

    None if a quote is shorter than 12 characters or occurs more than once in its file.
    """
    golds = [material.gold_at(place) for place in draft.places]
    spoilers = [material.gold_at(place) for place in draft.spoilers]
    golds_and_spoilers = [
        gold for gold in (*golds, *spoilers) if gold and len(gold.quote) >= _SHORTEST
    ]
    if len(golds_and_spoilers) < len(golds) + len(spoilers):
        return None
    text = material.respell_names(draft.text)
    as_of = f"ch{draft.as_of}" if draft.as_of else ""
    return EvalQuestion(
        id=make_question_id(draft.kind, text, as_of),
        text=text,
        gold=tuple(golds_and_spoilers[: len(golds)]),
        every=draft.every,
        as_of=as_of,
        kind=draft.kind,
        answer=draft.answer,
        spoilers=tuple(golds_and_spoilers[len(golds) :]),
        made=draft.made,
    )


def has_overlap(places: Sequence[AnswerPlace], used: Sequence[AnswerPlace]) -> bool:
    """Return whether any of `places` overlaps any of `used`: the same document, and at
    least one character in both spans.
    """
    return any(
        place.document == other.document
        and place.span.start < other.span.end
        and other.span.start < place.span.end
        for place in places
        for other in used
    )


@dataclass(frozen=True, slots=True)
class DraftFamily:
    """Drafts of one kind and source.

    `weight` is the share of questions to select from it, relative to other families.
    """

    drafts: Sequence[QuestionDraft]
    weight: int = 1


class DraftSelector:
    """Selects drafts so that no two questions depend on overlapping text.

    `seed` determines the order in which drafts are tried.
    """

    def __init__(self, material: SourceMaterial, seed: int) -> None:
        self._material = material
        self._seed = seed
        self._used: list[AnswerPlace] = []
        self._asked: set[tuple[str, ...]] = set()
        self._chapters: Counter[int] = Counter()
        self._people: Counter[str] = Counter()

    def choose(self, families: Sequence[DraftFamily], limit: int) -> list[EvalQuestion]:
        """Return at most `limit` questions, from each family according to its weight.

        If a family has too few drafts, others fill the gap. Drafts about chapters with
        few questions come first, then about people with few questions.
        """
        remaining = [self._shuffle(family.drafts) for family in families]
        chosen_counts = [0] * len(families)
        eval_questions: list[EvalQuestion] = []
        while len(eval_questions) < limit and any(remaining):
            at = min(
                (n for n, drafts in enumerate(remaining) if drafts),
                key=lambda n: (Fraction(chosen_counts[n], families[n].weight), n),
            )
            question = self._take_next(remaining[at])
            if question is not None:
                eval_questions.append(question)
                chosen_counts[at] += 1
        return eval_questions

    def _shuffle(self, drafts: Sequence[QuestionDraft]) -> list[QuestionDraft]:
        shuffled = list(drafts)
        Random(f"{self._seed}").shuffle(shuffled)
        return shuffled

    def _take_next(self, drafts: list[QuestionDraft]) -> EvalQuestion | None:
        """Remove the draft about the least covered chapter and person; None if rejected."""
        best = min(range(len(drafts)), key=lambda n: (*self._crowding(drafts[n]), n))
        return self.accept(drafts.pop(best))

    def accept(self, draft: QuestionDraft) -> EvalQuestion | None:
        """Return the question of a draft and remember its text; None if it is rejected.

        A draft is rejected if its subject was asked about before, its text overlaps an
        earlier question's, or `question_from_draft` rejects it.
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

    def _crowding(self, draft: QuestionDraft) -> tuple[int, int]:
        """Return how many questions a draft's chapter and its person have."""
        places = (*draft.places, *draft.spoilers)
        chapter = self._chapters[self._material.chapter_of(places[0])] if places else 0
        return chapter, self._people[draft.about[0]] if draft.about else 0


def divide_by_shares(
    number: int, shares: Mapping[QuestionKind, int]
) -> dict[QuestionKind, int]:
    """Divide `number` questions among kinds; `shares` are percentages that add up to
    100.

    What rounding leaves over goes to the kinds with the largest remainders.
    """
    parts = {kind: Fraction(number * share, 100) for kind, share in shares.items()}
    counts = {kind: int(part) for kind, part in parts.items()}
    remainder = number - sum(counts.values())
    by_rest = sorted(parts, key=lambda kind: counts[kind] - parts[kind])
    for kind in by_rest[:remainder]:
        counts[kind] += 1
    return counts


def make_questions(
    material: SourceMaterial, number: int, seed: int = 0
) -> GeneratedQuestions:
    """Make at most `number` questions from templates; the same `seed` gives the same
    ones.

    The shares of kinds are `TEMPLATE_SHARES`. No two questions depend on the same
    words, they are spread over the chapters, and every quote occurs in its file exactly
    once. If there are too few questions of a kind, a remark says why; no other kind
    replaces them.
    """
    selector = DraftSelector(material, seed)
    shares = divide_by_shares(number, TEMPLATE_SHARES)
    questions: list[EvalQuestion] = []
    remarks: list[str] = []
    for kind, families in collect_draft_families(material, seed).items():
        chosen = choose_kind_questions(selector, kind, families, shares[kind])
        questions += chosen.questions
        remarks += chosen.remarks
    return GeneratedQuestions(tuple(questions), tuple(remarks))


def choose_kind_questions(
    selector: DraftSelector,
    kind: QuestionKind,
    families: Sequence[DraftFamily],
    target: int,
) -> GeneratedQuestions:
    """Choose `target` questions of one kind from `families`; if there are fewer, a
    remark says so.
    """
    questions = tuple(selector.choose(families, target))
    if len(questions) >= target:
        return GeneratedQuestions(questions)
    remark = (
        f"{len(questions)} of {target} questions {_KIND_PHRASES[kind]} were made:"
        f" {_SHORTAGE_REASONS[kind]}."
    )
    return GeneratedQuestions(questions, (remark,))


def collect_draft_families(
    material: SourceMaterial, seed: int
) -> dict[QuestionKind, list[DraftFamily]]:
    """Return the drafts of questions by kind; kinds for which suitable text is rare
    come first.

    `seed` determines the drafts of unanswerable questions.
    """
    sentences = list(templates.draft_sentence_questions(material))
    # An answer can be early or late only if its thing occurs nowhere else.
    single = [draft for draft in sentences if material.stems[draft.about[1]] == 1]
    after_telling, before_telling = templates.bound_drafts_by_chapter(
        single, material, find_first_chapters(material)
    )
    return {
        QuestionKind.SEVERAL: [
            DraftFamily(list(templates.draft_chapters_questions(material)))
        ],
        QuestionKind.AS_OF: [DraftFamily(after_telling), DraftFamily(before_telling)],
        QuestionKind.FACT: [
            DraftFamily(list(templates.draft_profile_questions(material))),
            DraftFamily(sentences),
        ],
        QuestionKind.UNANSWERABLE: [
            DraftFamily(
                list(templates.draft_absent_word_questions(material, Random(f"{seed}")))
            )
        ],
    }


def find_first_chapters(material: SourceMaterial) -> dict[str, int]:
    """Return the story-order number of the chapter that first names each person, by
    name.

    A person whom no chapter names is missing.
    """
    first_chapters: dict[str, int] = {}
    for profile in material.people():
        place = _find_first_place(profile, material)
        if place is not None and (chapter := material.chapter_of(place)) >= 1:
            first_chapters[profile.name] = chapter
    return first_chapters


def _find_first_place(
    profile: CharacterProfile, material: SourceMaterial
) -> AnswerPlace | None:
    """Return the place of the first sentence that names a person; None if none does."""
    forms = material.forms(profile)
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")
    for document in material.order.story:
        text = material.texts.get(document, "")
        for match in named.finditer(text) if forms else ():
            place = material.sentence_at(document, match.start())
            if place is not None:
                return place
    return None
