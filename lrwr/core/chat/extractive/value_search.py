"""What value of whom a question asks for, and the passages that have one.

For a value of a person, such as an age, the story is searched by the words that sentences
with one have: a question seldom has the words of its answer.
"""

import re
from collections.abc import Sequence
from itertools import chain

from lrwr.core.chat.extractive.answer_types import find_answer_type
from lrwr.core.chat.extractive.answer_values import count_values, sort_by_value
from lrwr.core.chat.extractive.question_parts import (
    QuestionPart,
    find_people_named,
    iter_profile_names,
)
from lrwr.core.chat.extractive.subjects import ValueQuestion
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import Horizon
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import QuestionPlan
from lrwr.core.retrieval.excerpts import PassageSource

_FAMILY = re.compile(r"\b[Tt]he\s+(?P<name>[A-Z][\w-]+)s\b(?!['’])")
"""A family by its surname: "the Rooks"."""

_FAMILY_TITLES = ("Mr", "Mrs", "Miss")

MAX_ADDED = 2
"""Passages with a value that are put beside those of the search."""


def build_value_question(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    parts: Sequence[QuestionPart],
) -> ValueQuestion:
    """Return what the values in passages are compared with."""
    text = plan.question or question.text
    named = frozenset[str]().union(*(part.people for part in parts))
    profiles = [p for p in result.character_profiles if p.name in named]
    people = (
        [*find_people_named(text, question.cast), *_find_families(text, question.cast)]
        or [forms for forms in question.cast if not named.isdisjoint(forms)]
        or [tuple(iter_profile_names(profile)) for profile in profiles]
    )
    name_words = {w for forms in people for form in forms for w in form.lower().split()}
    return ValueQuestion(
        text=text,
        people=[
            [word for form in forms for word in extract_content_words(form)]
            for forms in people
        ],
        forms=[form for forms in people for form in forms],
        topic=[w for p in parts for w in p.words.weights if w not in name_words],
        others=extract_content_words(
            " ".join(
                form for forms in question.cast if forms not in people for form in forms
            )
        ),
        has_narrator=any(
            set(forms) & set(chain(*people)) for forms in question.narrators
        ),
    )


def _find_families(text: str, cast: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return for each family that `text` names, such as "the Rooks", the names that mean
    one of them.
    """
    surnames = {form.split()[-1] for forms in cast for form in forms if form}
    return [
        (f"{name}s", *(f"{title} {name}" for title in _FAMILY_TITLES))
        for match in _FAMILY.finditer(text)
        if (name := match["name"]) in surnames
    ]


async def order_by_value(
    question: ValueQuestion,
    passages: Sequence[Passage],
    source: PassageSource,
    horizon: Horizon | None,
) -> list[Passage]:
    """Return `passages`, first those with a value of the kind asked for.

    For a value of a person, passages up to `horizon` that `source` finds by its words are
    added after those that surely have one.

    Raises:
        StoreProblem: The library cannot be read.
    """
    ordered = sort_by_value(question, passages, source.sentences)
    added = await _find_more(question, passages, source, horizon)
    if not added:
        return ordered
    sure = [
        p for p in ordered if count_values(question, p.chunk.text, source.sentences)
    ]
    rest = [p for p in ordered if p not in sure]
    return [*sure, *added, *rest]


async def _find_more(
    question: ValueQuestion,
    passages: Sequence[Passage],
    source: PassageSource,
    horizon: Horizon | None,
) -> list[Passage]:
    """Return the passages not among `passages` that have most values of the person."""
    answer_type = find_answer_type(question.text)
    if source.search_words is None or answer_type is None or not question.forms:
        return []
    match = answer_type.asks.search(question.text)
    if not answer_type.words or match is None:
        return []
    names = dict.fromkeys(word for words in question.people for word in words)
    thing = match.groupdict().get("thing") or ""
    text = " ".join((*names, thing, answer_type.words))
    present = {passage.chunk.id for passage in passages}
    counts = [
        (count_values(question, passage.chunk.text, source.sentences), passage)
        for passage in await source.search_words(text, horizon)
        if passage.chunk.id not in present
    ]
    best = sorted(counts, key=lambda pair: -pair[0])[:MAX_ADDED]
    return [passage for count, passage in best if count]
