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
from lrwr.pipeline.evaluation.question_generation.actions import deeds
from lrwr.pipeline.evaluation.question_generation.details import details, together
from lrwr.pipeline.evaluation.question_generation.draft import Draft, Made
from lrwr.pipeline.evaluation.question_generation.quotes import Speech
from lrwr.pipeline.evaluation.question_generation.sampling import (
    Chooser,
    Family,
    shares_of,
    short,
)
from lrwr.pipeline.evaluation.question_generation.source_material import Material
from lrwr.pipeline.evaluation.questions import Kind, Question

_WHY: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.FACT: "few sentences say plainly who says or does what",
        Kind.SEVERAL: "few things come up in several places by one word",
        Kind.RELATIONSHIP: "few people are surely tied to others, or spoken of by name",
        Kind.TIMELINE: "few first appearances, dates or sayings can be told apart",
        Kind.AS_OF: "too few facts stand alone in one chapter of several",
        Kind.UNANSWERABLE: "too few people have a sure name, or the text has a word for"
        " nearly everything",
    }
)


def make_questions(material: Material, number: int, seed: int = 0) -> Made:
    """Make at most `number` questions by templates, the same for the same seed.

    They come in the shares of `choosing.SHARES`. No two rest on the same place, they
    are spread over the chapters, and every quote stands in its file exactly once.
    Where a share cannot be filled, fewer are made and a remark says why; no other kind
    takes its place.
    """
    return make_shares(material, shares_of(number), seed)


def make_shares(material: Material, shares: Mapping[Kind, int], seed: int) -> Made:
    """Make so many questions of each kind by templates; see `make_questions`."""
    chooser = Chooser(material, seed)
    pools = families(material, seed)
    questions: list[Question] = []
    remarks: list[str] = []
    for kind, own in pools.items():
        made = filled(chooser, kind, own, shares.get(kind, 0))
        questions += made.questions
        remarks += made.remarks
    return Made(tuple(questions), tuple(remarks))


def filled(chooser: Chooser, kind: Kind, own: Sequence[Family], wanted: int) -> Made:
    """Choose `wanted` questions of one kind; a remark says if there are too few."""
    made = chooser.choose(own, wanted)
    if len(made) >= wanted:
        return Made(tuple(made))
    return Made(tuple(made), (short(kind, len(made), wanted, _WHY[kind]),))


def families(material: Material, seed: int) -> dict[Kind, list[Family]]:
    """Return the drafts of each kind; those that are hardest to fill come first."""
    speech, rng = Speech(material), Random(f"{seed}")
    said, done = list(speech.facts()), list(deeds(material))
    detailed = list(details(material))
    firsts = list(facts.firsts(material))
    known, unknown = bounded([*said, *done, *detailed], material, firsts)
    return {
        Kind.RELATIONSHIP: [
            Family(list(facts.ties(material)), 2),
            Family(list(speech.ties()), 1),
        ],
        Kind.SEVERAL: [
            Family([*speech.several(), *speech.views()], 2),
            Family(list(facts.places_of_things(material)), 2),
            Family(list(facts.several(material)), 1),
        ],
        Kind.AS_OF: [Family(known), Family(unknown)],
        Kind.TIMELINE: [
            Family(firsts, 2),
            Family(list(facts.dated(material)), 2),
            Family(list(speech.orders()), 1),
        ],
        Kind.FACT: [
            Family(said, 4),
            Family(done, 4),
            Family(detailed, 2),
            Family(list(facts.facts(material)), 3),
            Family(list(together(material)), 2),
        ],
        Kind.UNANSWERABLE: [
            Family(list(unanswerable.unheld(material, rng)), 2),
            Family(list(unanswerable.unsaid(material, speech.single(), rng)), 1),
        ],
    }


def bounded(
    drafts: Iterable[Draft], material: Material, firsts: Iterable[Draft]
) -> tuple[list[Draft], list[Draft]]:
    """Return questions asked after their answer is told, and such asked before.

    Both are asked of somebody who has come up by then, which `firsts` tell. Those asked before have no
    gold; their answer is what must not be given away.
    """
    seen = {one.about[0]: material.chapter_of(one.places[0]) for one in firsts}
    known, unknown = [], []
    for draft in drafts:
        told = material.chapter_of(draft.places[0])
        if told < 1:
            continue
        after = min(material.order.last, told + draft.places[0].span.start % 2)
        known.append(replace(draft, kind=Kind.AS_OF, as_of=after))
        before = _before(draft, told, seen)
        if before:
            unknown.append(before)
    return known, unknown


def _before(draft: Draft, told: int, seen: Mapping[str, int]) -> Draft | None:
    first = seen.get(draft.about[0], told)
    if not 1 <= max(first, 1) < told or draft.text.startswith("Who "):
        return None
    latest = told - 1
    return replace(
        draft,
        kind=Kind.AS_OF,
        places=(),
        spoilers=draft.places,
        as_of=latest,
        answer=f"Not told by then; in chapter {told}: {draft.answer}",
    )
