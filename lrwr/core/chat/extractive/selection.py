"""Selects the facts and dialogue lines that answer a part of a question."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lrwr.core.chat.context.items import (
    UNNAMED,
    ContextItem,
    StoryFacet,
    is_sure,
)
from lrwr.core.chat.extractive.item_kinds import (
    MIN_STATEMENT_FIT,
    RELATION_QUESTION,
    is_beside_question,
)
from lrwr.core.chat.extractive.question_parts import (
    QuestionPart,
    find_profiles_in_text,
    iter_profile_names,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.facts import WRITER_KEEPER
from lrwr.core.model.text import (
    extract_capitalized_words,
    extract_content_words,
    normalize_words,
)
from lrwr.core.model.turns import AnswerIntent, QuestionPlan, SourceIntention

MIN_QUOTE_WORDS = 4
"""Words below which a dialogue line is not worth quoting."""

MIN_RELATIVE_FIT = 0.6
"""Fit, relative to the best item of the same facet, that further items need."""

MAX_FACTS_PER_PART = 6
"""Lines of facts at most; the story bible has them all."""

MAX_ITEMS_PER_LINE = 8
MAX_WORLD_ITEMS_PER_LINE = 16
"""Items of one kind about one character or world element on one line, at most. World
elements get more, because half of a rule is useless."""

MAX_LINES_PER_PART = 3
"""Dialogue lines, and chapters with events, at most."""

MIN_SURE_LINES = 2
"""Certain dialogue lines that make probable ones unnecessary."""

MAX_SHORT_TRAIT_WORDS = 4
"""Words of a trait at most for it to share a line with others: eyes, age."""

_UNINFORMATIVE_LABELS = frozenset({"pronoun", "pronouns"})
"""Labels of notes that are only shown if asked for."""

MIN_ITEM_FIT = 0.25
"""Share of the part's term weight that a trait or dialogue line must cover to answer
it; a single common word covers less."""

TRAITS = frozenset({StoryFacet.LOOK, StoryFacet.NAME, StoryFacet.CHARACTER})
"""Facets of which a profile has many, and a question asks for one."""

_GROUPED_FACETS = frozenset(
    {
        StoryFacet.LOOK,
        StoryFacet.CHARACTER,
        StoryFacet.VOICE,
        StoryFacet.WORLD,
        StoryFacet.HAPPENED,
    }
    | {StoryFacet.RECAP, StoryFacet.NAME}
)
"""Facets whose items can share a line; dialogue lines and relations cannot."""

_SHOWN_WITHOUT_MATCH = frozenset(
    {StoryFacet.WORLD, StoryFacet.RELATION, StoryFacet.GAP}
)
"""Facets shown for a named subject even if no item contains the words asked for."""

_SHOWN_ON_REQUEST = frozenset({StoryFacet.PRESENT, StoryFacet.RECAP})
"""Facets that are only gathered if asked for, so they need share no word."""

_LEADING_FACETS = frozenset({StoryFacet.PRESENT, StoryFacet.GAP})
"""Facets that come first in an answer."""

_CHARACTER_INTENTIONS = frozenset({SourceIntention.VALUES, SourceIntention.ARC})


@dataclass(frozen=True, slots=True)
class _ScoredItem:
    """An item with its fit; `place` is its index among the items of its facet."""

    item: ContextItem
    fit: float
    place: int

    @property
    def order(self) -> tuple[bool, float, int]:
        """Sort key: sure items first, then better fit, then original order."""
        is_certain = self.item.decided or any(map(is_sure, self.item.evidence))
        return not is_certain, -self.fit, self.place


class ItemSelector:
    """Selects, for each part of a question, those of `pieces` that answer it.

    If `plan` asks for the author's intentions, only items from notes and decisions
    count.
    """

    def __init__(
        self, pieces: Sequence[ContextItem], plan: QuestionPlan, result: RetrievalResult
    ) -> None:
        self._intentions = {choice.intention for choice in plan.choices}
        self._is_scenario = plan.intent is AnswerIntent.SCENARIO
        self._people = result.character_profiles
        self._unknown = frozenset(result.unknown)
        if SourceIntention.AUTHOR_INTENT in self._intentions:
            pieces = [item for item in pieces if _is_from_writer(item)]
        self._pieces = _drop_short_lines(pieces)
        self._forms = {
            character_profile.name: " ".join(iter_profile_names(character_profile))
            for character_profile in result.character_profiles
        }

    def facts(
        self, part: QuestionPart, facets: frozenset[StoryFacet]
    ) -> list[tuple[ContextItem, ...]]:
        """Return the items of `facets` that answer `part`, grouped into lines.

        Each tuple holds the items of one line; there are at most `MAX_FACTS_PER_PART`
        lines, in the order of the items, but gaps and present characters first. If the
        part asks for something in particular, as in "what does Nell wear", items about
        traits must match its words; if the text never uses one of these words, so must
        other items.
        """
        own_items = [
            context_item
            for context_item in self._filter_relations(part)
            if context_item.facet in facets
            and (part.allows_speech or context_item.facet is not StoryFacet.LINE)
            and part.is_about((context_item.about,), self._forms)
            and self._may_answer(part, context_item)
        ]
        unknown_words = self._unknown.intersection(part.words.weights)
        least = MIN_ITEM_FIT if unknown_words and not self._is_scenario else 0.0
        context_items = set(self._select_fitting(part, own_items, least))
        chosen_items = [item for item in own_items if item in context_items]
        return _limit_lines(list(_group_into_lines(_drop_repeated(chosen_items))))

    def lines(
        self, part: QuestionPart, pieces: Iterable[ContextItem]
    ) -> list[ContextItem]:
        """Return those dialogue lines of `pieces` that answer `part`, at most
        `MAX_LINES_PER_PART`.

        Lines of certain speakers come first, then those that match best. If the part
        only names somebody, lines that contain the name answer it.
        """
        weighted_part = part if part.words.weights else replace(part, words=part.naming)
        fitting = self._select_fitting(weighted_part, pieces, MIN_ITEM_FIT)
        uncertain = set(_find_uncertain(fitting))
        return [item for item in fitting if item not in uncertain][:MAX_LINES_PER_PART]

    def _filter_relations(self, part: QuestionPart) -> Sequence[ContextItem]:
        """If the part names two people, drop relations to others."""
        if len(part.people) < 2:
            return self._pieces
        return [
            item
            for item in self._pieces
            if item.facet is not StoryFacet.RELATION or _relates_two(item, part.people)
        ]

    def _may_answer(self, part: QuestionPart, item: ContextItem) -> bool:
        """Return whether an item is of the kind asked for; of traits, only those that
        fit.
        """
        plain = item.facet not in TRAITS or (
            item.facet is StoryFacet.CHARACTER
            and not self._intentions.isdisjoint(_CHARACTER_INTENTIONS)
        )
        if self._is_scenario:
            return item.label.lower() not in _UNINFORMATIVE_LABELS
        if is_beside_question(part, item):
            return False
        if not part.words.weights:
            return item.label.lower() not in _UNINFORMATIVE_LABELS
        if item.facet is StoryFacet.LINE and not self._is_line_on(part, item):
            return False
        if item.facet in (StoryFacet.HAPPENED, StoryFacet.LINE):
            fits = self._compute_fit(part, item) >= MIN_STATEMENT_FIT
            return fits and self._names_people(part, item)
        if item.facet is StoryFacet.RELATION and not RELATION_QUESTION.search(
            part.text
        ):
            return False
        has_to_fit = not plain or item.facet in (StoryFacet.RELATION, StoryFacet.WORLD)
        return not has_to_fit or self._compute_fit(part, item) >= MIN_ITEM_FIT

    def _is_line_on(self, part: QuestionPart, item: ContextItem) -> bool:
        """Return whether a line is certain, and has the names in the question that are
        of no character, such as "the Hands".
        """
        people = " ".join((item.about, item.label, *self._forms.values()))
        question, *_ = part.text.split("?")  # referents of its pronouns follow
        topics = set(extract_capitalized_words(question)).difference(
            extract_content_words(people)
        )
        words = set(extract_content_words(item.words))
        return topics <= words and all(map(is_sure, item.evidence))

    def _names_people(self, part: QuestionPart, item: ContextItem) -> bool:
        """Return whether an event names everybody that `part` names; others always do."""
        if item.facet is not StoryFacet.HAPPENED:
            return True
        question, *_ = part.text.split("?")  # referents of its pronouns follow
        own_words = extract_content_words(" ".join(self._forms.values()))
        unknown = set(extract_capitalized_words(question)).difference(own_words)
        return unknown.issubset(
            extract_content_words(item.words)
        ) and part.people <= find_profiles_in_text(item.words, self._people)

    def _compute_fit(self, part: QuestionPart, item: ContextItem) -> float:
        """Return the share of the part's term weight that an item covers, 0.0 to 1.0.

        The subject counts under all of its names, except for dialogue lines, which must
        fit by their own words.
        """
        if item.facet is not StoryFacet.LINE:
            return part.words.coverage(
                f"{item.words} {self._forms.get(item.about, '')}"
            )
        people_in_item = find_profiles_in_text(item.words, self._people)
        forms = " ".join(
            self._forms[name] for name in people_in_item if name in self._forms
        )
        return part.words.coverage_by_related(f"{item.words} {forms}")

    def _select_fitting(
        self, part: QuestionPart, pieces: Iterable[ContextItem], least: float
    ) -> list[ContextItem]:
        """Return the items that fit nearly as well as the best of their facet, best
        first.
        """
        scored: list[_ScoredItem] = []
        turns: Counter[StoryFacet] = Counter()
        best: dict[StoryFacet, float] = {}
        for item in pieces:
            fit = self._compute_fit(part, item)
            scored.append(_ScoredItem(item, fit, turns[item.facet]))
            turns[item.facet] += 1
            best[item.facet] = max(fit, best.get(item.facet, 0.0))
        any_fits = max(best.values(), default=0.0) > 0
        scored_items = [
            scored_item
            for scored_item in scored
            if scored_item.item.facet in _SHOWN_ON_REQUEST
            or (
                scored_item.fit
                >= max(least, MIN_RELATIVE_FIT * best[scored_item.item.facet])
                and (
                    scored_item.fit > 0
                    or self._is_shown_without_match(part, scored_item.item, any_fits)
                )
            )
        ]
        return [
            scored_item.item
            for scored_item in sorted(
                scored_items, key=lambda scored_item: scored_item.order
            )
        ]

    def _is_shown_without_match(
        self, part: QuestionPart, item: ContextItem, any_fits: bool
    ) -> bool:
        """Return whether an item that shares no word with the question is shown."""
        if not part.words.weights:
            return not any_fits
        if self._is_scenario:
            return item.facet is StoryFacet.CHARACTER and not any_fits
        plain = item.facet in _SHOWN_WITHOUT_MATCH or item.facet in TRAITS
        return plain and not any_fits


def _limit_lines(
    lines: Sequence[tuple[ContextItem, ...]],
) -> list[tuple[ContextItem, ...]]:
    """Return the first lines, with at most a few of dialogue and of events."""
    pieces = [line[0] for line in lines]
    uncertain = set(
        _find_uncertain([item for item in pieces if item.facet is StoryFacet.LINE])
    )
    lines = [line for line in lines if line[0] not in uncertain]
    surplus_lines = [
        line
        for facet in (StoryFacet.LINE, StoryFacet.HAPPENED)
        for line in [group for group in lines if group[0].facet is facet][
            MAX_LINES_PER_PART:
        ]
    ]
    first = [line for line in lines if line[0].facet in _LEADING_FACETS]
    skipped_facets = (StoryFacet.WORLD,) if first else ()
    rest = [
        line
        for line in lines
        if line not in first
        and line not in surplus_lines
        and line[0].facet not in skipped_facets
    ]
    return (first + rest)[:MAX_FACTS_PER_PART]


def _find_uncertain(lines: Sequence[ContextItem]) -> list[ContextItem]:
    """Return the lines that are only probably theirs, if there are enough certain ones."""
    sure_lines = [line for line in lines if all(map(is_sure, line.evidence))]
    return (
        [line for line in lines if line not in sure_lines]
        if len(sure_lines) >= MIN_SURE_LINES
        else []
    )


def _group_into_lines(
    pieces: Sequence[ContextItem],
) -> Iterator[tuple[ContextItem, ...]]:
    """Group the items of one kind about one subject."""
    places: dict[object, list[ContextItem]] = {}
    for number, item in enumerate(pieces):
        places.setdefault(_build_line_key(item, number), []).append(item)
    for item_group in places.values():
        most = (
            MAX_WORLD_ITEMS_PER_LINE
            if item_group[0].facet is StoryFacet.WORLD
            else MAX_ITEMS_PER_LINE
        )
        yield tuple(item_group[:most])


def _build_line_key(item: ContextItem, number: int) -> object:
    """Return the key that items of one line share; `number` if an item has its own
    line.
    """
    if item.facet not in _GROUPED_FACETS or item.decided:
        return number
    short = (
        item.label not in ("", UNNAMED)
        and len(item.statement.split()) <= MAX_SHORT_TRAIT_WORDS
    )
    return (item.facet, item.about) if short else (item.facet, item.head)


def _drop_repeated(pieces: Sequence[ContextItem]) -> list[ContextItem]:
    """Drop items that a full sentence about the same subject repeats word for word."""
    statements = [item for item in pieces if item.label in ("", UNNAMED)]
    return [
        item
        for item in pieces
        if item in statements
        or item.decided
        or not any(_contains_statement(o, item) for o in statements)
    ]


def _contains_statement(context_item: ContextItem, part: ContextItem) -> bool:
    """Return whether an item about the same subject contains another word for word."""
    words = f" {' '.join(normalize_words(part.statement))} "
    has_same_subject = (
        context_item.about == part.about and context_item.facet is part.facet
    )
    return (
        has_same_subject
        and words.strip() != ""
        and words in f" {' '.join(normalize_words(context_item.statement))} "
    )


def _drop_short_lines(pieces: Sequence[ContextItem]) -> list[ContextItem]:
    """Drop dialogue lines of a word or two, unless all lines are that short."""
    lines = [item for item in pieces if item.facet is StoryFacet.LINE]
    short_lines = {line for line in lines if len(line.words.split()) < MIN_QUOTE_WORDS}
    if len(short_lines) == len(lines):
        return list(pieces)
    return [item for item in pieces if item not in short_lines]


def _relates_two(item: ContextItem, people: frozenset[str]) -> bool:
    """Return whether a relation is between two of `people`."""
    return sum(name in f"{item.about} {item.statement}" for name in people) > 1


def _is_from_writer(item: ContextItem) -> bool:
    """Return whether an item is the author's: a decision, a note or an open gap."""
    is_from_writer = item.decided or item.facet is StoryFacet.GAP
    return is_from_writer or any(
        text_evidence.keeper == WRITER_KEEPER for text_evidence in item.evidence
    )
