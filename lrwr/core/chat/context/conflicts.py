"""Finds facts and counts in the material of an answer that contradict each other.

Values and counts are compared as `lrwr check` compares them. A model is also told of
those that time or doubt may explain, because it is only told where to look; the answer
itself says of no others than `lrwr check` that they contradict (`select_checked_items`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from lrwr.core.bible.values import TextEvidence
from lrwr.core.chat.context.fact_selection import MaterialFocus
from lrwr.core.chat.context.items import (
    ContextItem,
    StoryFacet,
    collect_context_items,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.continuity.statements import (
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_change,
    mentions_past_age,
)
from lrwr.core.continuity.values import (
    PARSED_ATTRIBUTES,
    are_values_incompatible,
    do_ages_differ,
    find_counts,
    parse_value_number,
)
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, WRITER_KEEPER, Certainty
from lrwr.core.model.text import (
    WORD_PATTERN,
    Span,
    extract_content_words,
    stem_lightly,
)
from lrwr.core.ports.stores import DocumentText

MAX_CONFLICTS = 4
"""Contradictions that are pointed out at most."""

_SINGLE_VALUED = frozenset(
    {"eyes", "hair", "age", "born", "birthday", "height", "build", "occupation", "home"}
)
"""Attributes that have one value at a time."""

_CHECKED = frozenset({"eyes", "hair", "age", "born", "birthday"})
"""Attributes that `lrwr check` compares."""

_COUNT_LABEL = "number of "
_COUNT_QUESTION = re.compile(r"\bhow\s+many\b", re.IGNORECASE)


def find_conflicts(
    result: RetrievalResult, focus: MaterialFocus
) -> list[tuple[ContextItem, ContextItem]]:
    """Return pairs of facts that cannot both hold, of attributes that fit `focus`."""
    return pair_conflicts(
        [item for item in collect_context_items(result) if focus.fits(item)]
    )


def pair_conflicts(
    items: Sequence[ContextItem],
) -> list[tuple[ContextItem, ContextItem]]:
    """Return the pairs of `items` that cannot both hold, of attributes with one value."""
    claims = [
        item
        for item in items
        if item.facet is StoryFacet.LOOK
        and (
            item.label.lower() in _SINGLE_VALUED or item.label.startswith(_COUNT_LABEL)
        )
        and item.evidence
    ]
    return [
        (first, second)
        for first, second in combinations(claims, 2)
        if first.about == second.about
        and first.label == second.label
        and _exclude_each_other(first, second)
    ][:MAX_CONFLICTS]


def select_checked_items(
    items: Iterable[ContextItem], texts: Mapping[DocumentId, DocumentText]
) -> list[ContextItem]:
    """Return those of `items` that `lrwr check` compares, by the texts of their documents.

    These are decisions, notes, and what the narration asserts of a named character:
    neither hearsay nor doubt, and not about another time or a change.
    """
    return [item for item in items if _is_checked(item, texts)]


def _is_checked(item: ContextItem, texts: Mapping[DocumentId, DocumentText]) -> bool:
    label = item.label.lower()
    if item.decided or label.startswith(_COUNT_LABEL):
        return True
    return label in _CHECKED and any(
        evidence.chapter is None or _is_asserted(label, evidence, texts)
        for evidence in item.evidence
    )


def _is_asserted(
    label: str, evidence: TextEvidence, texts: Mapping[DocumentId, DocumentText]
) -> bool:
    document = texts.get(evidence.document)
    if document is None or evidence.certainty is Certainty.PROBABLE:
        return False
    place = document.text, evidence.spans[0]
    is_past = mentions_past_age if label == "age" else mentions_change
    return is_asserted_in_context(*place) and not is_past(*place)


def find_count_conflicts(
    texts: Sequence[tuple[int, str]],
) -> list[tuple[str, tuple[tuple[int, str], ...]]]:
    """Return the things of which numbered `texts` state different counts.

    Each is a phrase such as "rungs of the ladder", and the number of a text with the
    count that it states, one for each different count.
    """
    counts: dict[str, dict[int, tuple[int, str]]] = {}
    for number, text in texts:
        for thing, count, words in _iter_counts(text):
            counts.setdefault(thing, {}).setdefault(count, (number, words))
    return [
        (thing, tuple(stated.values()))
        for thing, stated in counts.items()
        if len(stated) > 1
    ][:MAX_CONFLICTS]


def collect_count_items(
    question: str, passages: Sequence[Passage]
) -> list[ContextItem]:
    """Return the counts that `passages` state of what `question` asks how many there are
    of, as facts: "ladder, number of rungs: nineteen". Each count of a thing occurs once,
    notes first, then in story order.

    Dialogue and sentences about a change do not count.
    """
    if not _COUNT_QUESTION.search(question):
        return []
    stems = set(map(stem_lightly, extract_content_words(question)))
    items: dict[tuple[str, str, int | None], ContextItem] = {}
    for passage in sorted(passages, key=_get_story_place):
        text = passage.chunk.text
        for match in find_counts(text):
            thing, noun = match["place"].partition(" of ")[0], match["noun"]
            span = Span(*match.span())
            is_asked_for = {stem_lightly(noun), stem_lightly(thing)} <= stems
            if not is_asked_for or mentions_change(text, span):
                continue
            if is_asserted_in_context(text, span):
                key = thing, noun, parse_value_number(match["number"])
                items.setdefault(key, _build_count_item(match, passage))
    return list(items.values())


def _get_story_place(passage: Passage) -> tuple[int, str, int]:
    chapter = -1 if passage.chapter is None else passage.chapter
    return chapter, str(passage.chunk.document), passage.chunk.span.start


def _build_count_item(match: re.Match[str], passage: Passage) -> ContextItem:
    chunk = passage.chunk
    sentence = find_enclosing_sentence(chunk.text, Span(*match.span()))
    start = chunk.span.start
    evidence = TextEvidence(
        document=chunk.document,
        spans=(Span(start + sentence.start, start + sentence.end),),
        text=chunk.text[sentence.start : sentence.end],
        lines=chunk.lines,
        chapter=passage.chapter,
        chapter_title=passage.chapter_title,
        scene=passage.scene,
        keeper=WRITER_KEEPER if passage.chapter is None else RULES_KEEPER,
        certainty=Certainty.VERIFIED,
    )
    thing, label = match["place"].partition(" of ")[0], f"{_COUNT_LABEL}{match['noun']}"
    return ContextItem(StoryFacet.LOOK, thing, label, match["number"], (evidence,))


def _iter_counts(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield each counted thing with its count, as a number and as the text has it."""
    for match in find_counts(text):
        count = parse_value_number(match["number"])
        if count is not None:
            yield f"{match['noun']} of the {match['place']}", count, match["number"]


def _exclude_each_other(item: ContextItem, other: ContextItem) -> bool:
    """Return whether two values exclude each other by what they mean.

    Those of which the kind is unknown do if they share no word and are numbers both or
    neither.
    """
    attribute = item.label.lower()
    if attribute == "age":
        return do_ages_differ(item.statement, other.statement)
    if attribute.startswith(_COUNT_LABEL):
        return parse_value_number(item.statement) != parse_value_number(other.statement)
    if attribute in PARSED_ATTRIBUTES:
        return are_values_incompatible(attribute, item.statement, other.statement)
    words, other_words = _split_value(item), _split_value(other)
    are_numbers = {any(map(str.isdecimal, each)) for each in (words, other_words)}
    return words.isdisjoint(other_words) and len(are_numbers) == 1


def _split_value(item: ContextItem) -> frozenset[str]:
    value = item.statement.casefold().replace("-", " ")
    return frozenset(stem_lightly(word) for word in WORD_PATTERN.findall(value))
