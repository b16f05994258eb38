"""Which of the things that were found are told for a part of a question."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lrwr.core.chat.context.items import UNNAMED, ContextItem, StoryFacet, is_sure
from lrwr.core.chat.extractive.question_parts import (
    QuestionPart,
    find_profiles_in_text,
    iter_profile_names,
)
from lrwr.core.chat.extractive.sentence_ranker import (
    MIN_QUOTE_WORDS,
    MIN_RELATIVE_QUOTE_SCORE,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.facts import WRITER_KEEPER
from lrwr.core.model.text import WORD_PATTERN, normalize_word
from lrwr.core.model.turns import AnswerIntent, QuestionPlan, SourceIntention

MAX_FACTS_PER_PART = 6
"""Lines of facts told at most: what fits less is in the bible, whole."""

MAX_ITEMS_PER_LINE = 8
MAX_WORLD_ITEMS_PER_LINE = 16
"""Facts of one kind about one person, or one thing of the world, in one line at most:
rules are of no use by halves."""

MAX_LINES_PER_PART = 3
"""Lines of what somebody says, and chapters of what happened, told at most."""

MIN_SURE_LINES = 2
"""Lines surely somebody's that make those only probably theirs superfluous."""

MAX_SHORT_TRAIT_WORDS = 4
"""Words of a trait at most that is told beside others: eyes, age."""

_DULL = frozenset({"pronoun", "pronouns"})
"""Labels of notes that tell a writer nothing unless asked for."""

MIN_ITEM_FIT = 0.25
"""The share of the question's weight that a trait or somebody's own line must hold to
be an answer to it: a common word alone is less."""

TRAITS = frozenset({StoryFacet.LOOK, StoryFacet.NAME, StoryFacet.CHARACTER})
"""What a profile has much of, and a question mostly asks one thing of."""

_IN_ONE_LINE = frozenset(
    {
        StoryFacet.LOOK,
        StoryFacet.CHARACTER,
        StoryFacet.VOICE,
        StoryFacet.WORLD,
        StoryFacet.HAPPENED,
    }
    | {StoryFacet.RECAP, StoryFacet.NAME}
)
"""What reads well side by side; somebody's lines and relations do not."""

_TOLD_WHOLE = frozenset({StoryFacet.WORLD, StoryFacet.RELATION, StoryFacet.GAP})
"""What is told for whom or what is named, if nothing of it has the words asked for."""

_GATHERED = frozenset({StoryFacet.PRESENT, StoryFacet.RECAP})
"""What is there only where it is asked for: it need have no word of the question."""

_FIRST = frozenset({StoryFacet.PRESENT, StoryFacet.GAP})
"""What answers before all else, where it fits."""

_OF_CHARACTER = frozenset({SourceIntention.VALUES, SourceIntention.ARC})


@dataclass(frozen=True, slots=True)
class _ScoredItem:
    """A piece and how well it fits: `place` is its place among those of its facet."""

    piece: ContextItem
    fit: float
    place: int

    @property
    def order(self) -> tuple[bool, float, int]:
        """Return a sort key: sure items first, then the better fit, then the place."""
        is_certain = self.piece.decided or any(map(is_sure, self.piece.evidence))
        return not is_certain, -self.fit, self.place


class ItemSelector:
    """Chooses from `pieces`, all that was found, for one question."""

    def __init__(
        self, pieces: Sequence[ContextItem], plan: QuestionPlan, result: RetrievalResult
    ) -> None:
        self._asked = {choice.intention for choice in plan.choices}
        self._played = plan.intent is AnswerIntent.SCENARIO
        self._people = result.character_profiles
        self._unknown = frozenset(result.unknown)
        if SourceIntention.AUTHOR_INTENT in self._asked:
            pieces = [piece for piece in pieces if _is_writers(piece)]
        self._pieces = _without_scraps(pieces)
        self._forms = {
            character_profile.name: " ".join(iter_profile_names(character_profile))
            for character_profile in result.character_profiles
        }

    def facts(
        self, part: QuestionPart, facets: frozenset[StoryFacet]
    ) -> list[tuple[ContextItem, ...]]:
        """Return the facts that fit a part, in the order found; a tuple is a line.

        Where it says what it asks for, a trait that does not fit is not it; nor is
        what happened, nor anything else where the text never has those words.
        """
        own_items = [
            context_item
            for context_item in self._between(part)
            if context_item.facet in facets
            and (part.says or context_item.facet is not StoryFacet.LINE)
            and part.is_about((context_item.about,), self._forms)
            and self._may_answer(part, context_item)
        ]
        unknown_words = self._unknown.intersection(part.words.weights)
        least = MIN_ITEM_FIT if unknown_words and not self._played else 0.0
        context_items = set(self._fitting(part, own_items, least))
        chosen_items = [item for item in own_items if item in context_items]
        return _few(list(_in_lines(_without_repeats(chosen_items))))

    def lines(
        self, part: QuestionPart, pieces: Iterable[ContextItem]
    ) -> list[ContextItem]:
        """Return the lines of somebody that answer a part, the surest first.

        Where it asks for somebody and no more, these name them.
        """
        weighted_part = part if part.words.weights else replace(part, words=part.naming)
        fitting = self._fitting(weighted_part, pieces, MIN_ITEM_FIT)
        guessed = set(_guessed(fitting))
        return [item for item in fitting if item not in guessed][:MAX_LINES_PER_PART]

    def _between(self, part: QuestionPart) -> Sequence[ContextItem]:
        """Leave out relations to others where the part names two."""
        if len(part.people) < 2:
            return self._pieces
        return [
            piece
            for piece in self._pieces
            if piece.facet is not StoryFacet.RELATION or _joins(piece, part.people)
        ]

    def _may_answer(self, part: QuestionPart, piece: ContextItem) -> bool:
        """Say whether it is of the kind asked for: most traits are another one."""
        plain = piece.facet not in TRAITS or (
            piece.facet is StoryFacet.CHARACTER
            and not self._asked.isdisjoint(_OF_CHARACTER)
        )
        if self._played or not part.words.weights:
            return piece.label.lower() not in _DULL
        if plain:
            return True
        return self._fit(part, piece) >= MIN_ITEM_FIT

    def _fit(self, part: QuestionPart, piece: ContextItem) -> float:
        """Return the share of what is asked for that a piece has, 0.0 to 1.0.

        Of whom it is counts by any form of the name; a line has to fit without.
        """
        if piece.facet is not StoryFacet.LINE:
            return part.words.coverage(
                f"{piece.words} {self._forms.get(piece.about, '')}"
            )
        people_in_item = find_profiles_in_text(piece.words, self._people)
        forms = " ".join(
            self._forms[name] for name in people_in_item if name in self._forms
        )
        return part.words.coverage(f"{piece.words} {forms}")

    def _fitting(
        self, part: QuestionPart, pieces: Iterable[ContextItem], least: float
    ) -> list[ContextItem]:
        """Return what fits nearly as well as the best of its facet, best first."""
        scored: list[_ScoredItem] = []
        turns: Counter[StoryFacet] = Counter()
        best: dict[StoryFacet, float] = {}
        for piece in pieces:
            fit = self._fit(part, piece)
            scored.append(_ScoredItem(piece, fit, turns[piece.facet]))
            turns[piece.facet] += 1
            best[piece.facet] = max(fit, best.get(piece.facet, 0.0))
        any_fits = max(best.values(), default=0.0) > 0
        scored_items = [
            scored_item
            for scored_item in scored
            if scored_item.piece.facet in _GATHERED
            or (
                scored_item.fit
                >= max(least, MIN_RELATIVE_QUOTE_SCORE * best[scored_item.piece.facet])
                and (
                    scored_item.fit > 0
                    or self._counts_without(part, scored_item.piece, any_fits)
                )
            )
        ]
        return [
            scored_item.piece
            for scored_item in sorted(
                scored_items, key=lambda scored_item: scored_item.order
            )
        ]

    def _counts_without(
        self, part: QuestionPart, piece: ContextItem, any_fits: bool
    ) -> bool:
        """Say whether a piece that has no word of the question is told."""
        if not part.words.weights:
            return not any_fits
        if self._played:
            return piece.facet is StoryFacet.CHARACTER and not any_fits
        plain = piece.facet in _TOLD_WHOLE or piece.facet in TRAITS
        return plain and not any_fits


def _few(lines: Sequence[tuple[ContextItem, ...]]) -> list[tuple[ContextItem, ...]]:
    """Return the first lines; the number of dialogue and event lines is limited."""
    pieces = [line[0] for line in lines]
    guessed = set(
        _guessed([piece for piece in pieces if piece.facet is StoryFacet.LINE])
    )
    lines = [line for line in lines if line[0] not in guessed]
    surplus_lines = [
        line
        for facet in (StoryFacet.LINE, StoryFacet.HAPPENED)
        for line in [group for group in lines if group[0].facet is facet][
            MAX_LINES_PER_PART:
        ]
    ]
    first = [line for line in lines if line[0].facet in _FIRST]
    skipped_facets = (StoryFacet.WORLD,) if first else ()
    rest = [
        line
        for line in lines
        if line not in first
        and line not in surplus_lines
        and line[0].facet not in skipped_facets
    ]
    return (first + rest)[:MAX_FACTS_PER_PART]


def _guessed(lines: Sequence[ContextItem]) -> list[ContextItem]:
    """Return the lines that are only probably theirs, where enough surely are."""
    sure_lines = [line for line in lines if all(map(is_sure, line.evidence))]
    return (
        [line for line in lines if line not in sure_lines]
        if len(sure_lines) >= MIN_SURE_LINES
        else []
    )


def _in_lines(pieces: Sequence[ContextItem]) -> Iterator[tuple[ContextItem, ...]]:
    """Group the items of one kind about one person or thing."""
    places: dict[object, list[ContextItem]] = {}
    for number, piece in enumerate(pieces):
        places.setdefault(_line_of(piece, number), []).append(piece)
    for item_group in places.values():
        most = (
            MAX_WORLD_ITEMS_PER_LINE
            if item_group[0].facet is StoryFacet.WORLD
            else MAX_ITEMS_PER_LINE
        )
        yield tuple(item_group[:most])


def _line_of(piece: ContextItem, number: int) -> object:
    """Return what pieces of one line have in common; `number` where it has its own."""
    if piece.facet not in _IN_ONE_LINE or piece.decided:
        return number
    short = (
        piece.label not in ("", UNNAMED)
        and len(piece.says.split()) <= MAX_SHORT_TRAIT_WORDS
    )
    return (piece.facet, piece.about) if short else (piece.facet, piece.head)


def _without_repeats(pieces: Sequence[ContextItem]) -> list[ContextItem]:
    """Drop items that a full sentence about the same subject repeats word for word."""
    statements = [piece for piece in pieces if piece.label in ("", UNNAMED)]
    return [
        piece
        for piece in pieces
        if piece in statements
        or piece.decided
        or not any(_says(o, piece) for o in statements)
    ]


def _says(context_item: ContextItem, part: ContextItem) -> bool:
    """Say whether a fact is part of another about the same subject, word for word."""
    words = f" {' '.join(_words(part.says))} "
    has_same_subject = (
        context_item.about == part.about and context_item.facet is part.facet
    )
    return (
        has_same_subject
        and words.strip() != ""
        and words in f" {' '.join(_words(context_item.says))} "
    )


def _words(text: str) -> list[str]:
    return [normalize_word(word) for word in WORD_PATTERN.findall(text)]


def _without_scraps(pieces: Sequence[ContextItem]) -> list[ContextItem]:
    """Return `pieces` without lines of a word or two, unless all lines are such."""
    lines = [piece for piece in pieces if piece.facet is StoryFacet.LINE]
    short_lines = {line for line in lines if len(line.words.split()) < MIN_QUOTE_WORDS}
    if len(short_lines) == len(lines):
        return list(pieces)
    return [piece for piece in pieces if piece not in short_lines]


def _joins(piece: ContextItem, people: frozenset[str]) -> bool:
    """Say whether a relation is between two of `people`."""
    return sum(name in f"{piece.about} {piece.says}" for name in people) > 1


def _is_writers(piece: ContextItem) -> bool:
    """Say whether the item is the writer's: a decision, a note or an open gap."""
    is_from_writer = piece.decided or piece.facet is StoryFacet.GAP
    return is_from_writer or any(
        text_evidence.keeper == WRITER_KEEPER for text_evidence in piece.evidence
    )
