"""Making questions without a model.

What templates can do is limited. They ask about what one sentence says, in the words
of a list, with one word of the passage as the thing asked about: so they are easier to
find by words than what a writer asks, and never ask why. Whether an answer stands in a
second place in other words, nobody looks. They compare ways of finding fairly, since
all are asked the same; they do not tell how well a writer's own questions will fare.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType

from lrwr.pipeline.evaluation.question_generation import facts, unanswerable
from lrwr.pipeline.evaluation.question_generation.actions import draft_action_questions
from lrwr.pipeline.evaluation.question_generation.details import (
    draft_detail_questions,
    draft_person_and_thing_questions,
)
from lrwr.pipeline.evaluation.question_generation.draft import (
    GeneratedQuestions,
    QuestionDraft,
)
from lrwr.pipeline.evaluation.question_generation.quotes import QuoteQuestionDrafter
from lrwr.pipeline.evaluation.question_generation.sampler import (
    DraftFamily,
    DraftSelector,
    describe_shortfall,
    divide_by_shares,
)
from lrwr.pipeline.evaluation.question_generation.source_material import SourceMaterial
from lrwr.pipeline.evaluation.questions import EvalQuestion, QuestionKind

_WHY: Mapping[QuestionKind, str] = MappingProxyType(
    {
        QuestionKind.FACT: "few sentences say plainly who says or does what",
        QuestionKind.SEVERAL: "few things come up in several places by one word",
        QuestionKind.RELATIONSHIP: "few people are surely tied to others, or spoken of by name",
        QuestionKind.TIMELINE: "few first appearances, dates or sayings can be told apart",
        QuestionKind.AS_OF: "too few facts stand alone in one chapter of several",
        QuestionKind.UNANSWERABLE: "too few people have a sure name, or the text has a word for"
        " nearly everything",
    }
)


def make_questions(
    material: SourceMaterial, number: int, seed: int = 0
) -> GeneratedQuestions:
    """Make at most `number` questions by templates, the same for the same seed.

    They come in the shares of `choosing.SHARES`. No two rest on the same place, they
    are spread over the chapters, and every quote stands in its file exactly once.
    Where a share cannot be filled, fewer are made and a remark says why; no other kind
    takes its place.
    """
    return make_questions_by_kind(material, divide_by_shares(number), seed)


def make_questions_by_kind(
    material: SourceMaterial, shares: Mapping[QuestionKind, int], seed: int
) -> GeneratedQuestions:
    """Make so many questions of each kind by templates; see `make_questions`."""
    chooser = DraftSelector(material, seed)
    pools = collect_draft_families(material, seed)
    questions: list[EvalQuestion] = []
    remarks: list[str] = []
    for kind, own in pools.items():
        kind_questions = choose_kind_questions(chooser, kind, own, shares.get(kind, 0))
        questions += kind_questions.questions
        remarks += kind_questions.remarks
    return GeneratedQuestions(tuple(questions), tuple(remarks))


def choose_kind_questions(
    chooser: DraftSelector,
    kind: QuestionKind,
    families: Sequence[DraftFamily],
    target: int,
) -> GeneratedQuestions:
    """Choose `target` questions of one kind; a remark says if there are too few."""
    questions = chooser.choose(families, target)
    if len(questions) >= target:
        return GeneratedQuestions(tuple(questions))
    return GeneratedQuestions(
        tuple(questions),
        (describe_shortfall(kind, len(questions), target, _WHY[kind]),),
    )


def collect_draft_families(
    material: SourceMaterial, seed: int
) -> dict[QuestionKind, list[DraftFamily]]:
    """Return the drafts of each kind, the kinds that are hardest to fill first."""
    speech, rng = QuoteQuestionDrafter(material), Random(f"{seed}")
    speech_facts, actions = list(speech.facts()), list(draft_action_questions(material))
    detailed = list(draft_detail_questions(material))
    firsts = list(facts.draft_first_appearance_questions(material))
    after_telling, before_telling = bound_drafts_by_horizon(
        [*speech_facts, *actions, *detailed], material, firsts
    )
    return {
        QuestionKind.RELATIONSHIP: [
            DraftFamily(list(facts.draft_relation_questions(material)), 2),
            DraftFamily(list(speech.ties()), 1),
        ],
        QuestionKind.SEVERAL: [
            DraftFamily([*speech.several(), *speech.views()], 2),
            DraftFamily(list(facts.draft_thing_place_questions(material)), 2),
            DraftFamily(list(facts.draft_two_fact_questions(material)), 1),
        ],
        QuestionKind.AS_OF: [DraftFamily(after_telling), DraftFamily(before_telling)],
        QuestionKind.TIMELINE: [
            DraftFamily(firsts, 2),
            DraftFamily(list(facts.draft_date_questions(material)), 2),
            DraftFamily(list(speech.orders()), 1),
        ],
        QuestionKind.FACT: [
            DraftFamily(speech_facts, 4),
            DraftFamily(actions, 4),
            DraftFamily(detailed, 2),
            DraftFamily(list(facts.draft_fact_questions(material)), 3),
            DraftFamily(list(draft_person_and_thing_questions(material)), 2),
        ],
        QuestionKind.UNANSWERABLE: _draft_unanswerable(material, speech, rng),
    }


def _draft_unanswerable(
    material: SourceMaterial, speech: QuoteQuestionDrafter, rng: Random
) -> list[DraftFamily]:
    absent = unanswerable.draft_absent_word_questions(material, rng)
    unsaid = unanswerable.draft_unsaid_topic_questions
    return [
        DraftFamily(list(absent), 2),
        DraftFamily(list(unsaid(material, speech.single(), rng)), 1),
    ]


def bound_drafts_by_horizon(
    drafts: Iterable[QuestionDraft],
    material: SourceMaterial,
    firsts: Iterable[QuestionDraft],
) -> tuple[list[QuestionDraft], list[QuestionDraft]]:
    """Return drafts with a horizon after their answer is told, and drafts with one before.

    Both are about people who have appeared by then, according to `firsts`. Those before have no
    gold; their answer is the spoiler.
    """
    first_chapters = {
        first.about[0]: material.chapter_of(first.places[0]) for first in firsts
    }
    after_telling, before_telling = [], []
    for draft in drafts:
        chapter = material.chapter_of(draft.places[0])
        if chapter < 1:
            continue
        after = min(material.order.last, chapter + draft.places[0].span.start % 2)
        after_telling.append(replace(draft, kind=QuestionKind.AS_OF, as_of=after))
        before = _before(draft, chapter, first_chapters)
        if before:
            before_telling.append(before)
    return after_telling, before_telling


def _before(
    draft: QuestionDraft, chapter: int, first_chapters: Mapping[str, int]
) -> QuestionDraft | None:
    first = first_chapters.get(draft.about[0], chapter)
    if not 1 <= max(first, 1) < chapter or draft.text.startswith("Who "):
        return None
    latest = chapter - 1
    return replace(
        draft,
        kind=QuestionKind.AS_OF,
        places=(),
        spoilers=draft.places,
        as_of=latest,
        answer=f"Not told by then; in chapter {chapter}: {draft.answer}",
    )
