"""Checks a draft about the manuscript, sentence by sentence, without a language model."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lrwr.core.attribution.details import find_numbers, stem_words
from lrwr.core.attribution.names import (
    contains_name,
    find_missing_names,
    fold_words,
    list_named_characters,
    strip_names,
)
from lrwr.core.attribution.quotations import occurs_in
from lrwr.core.evidence.attribute_check import (
    find_attribute_differences,
    find_count_and_kin_differences,
)
from lrwr.core.evidence.comparison import (
    Comparison,
    DetailDifference,
    compare_with_text,
)
from lrwr.core.evidence.later_check import (
    MIN_LATER_WORDS,
    find_closer_chapter,
    find_foreign_names,
    find_later,
    find_other_chapter,
    list_absent_words,
    list_telling_stems,
)
from lrwr.core.evidence.quotation_check import (
    find_other_speaker,
    find_probable_speaker,
    find_wrong_quotations,
    list_checked_quotations,
    strip_speaker_tag,
)
from lrwr.core.evidence.results import (
    CheckedStatement,
    CheckedStory,
    ClosestPassage,
    ComparedPassage,
    StatementResult,
)
from lrwr.core.evidence.statement_search import (
    StatementSearch,
    list_subject_forms,
    resolve_subject,
)
from lrwr.core.evidence.statements import (
    MIN_CLAUSE_STEMS,
    DraftStatement,
    split_clauses,
)
from lrwr.core.model.chunks import ChunkKind, Passage
from lrwr.core.model.text import SentenceSplitter, Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.story import build_search_scope, is_within_scope

SHOWN_PASSAGES = 8
"""Passages that are shown for a statement."""

MIN_FOREIGN_SHARE = 0.6
MIN_SHARED_WORDS = 2
"""Share of its content words, and their number, that a sentence of the text must have
for a statement without a name of the story to be about the story."""

MIN_FOREIGN_NUMBER = 100
"""A number from which on a statement without names of the story is about something else
if no passage has the number."""

MIN_CLAIM_WORDS = 3
RANK_OFFSET = 20
SUBJECT_BONUS = 0.25
"""How much closer a passage counts that names whom a statement calls "she"."""

_AUTHOR = re.compile(r"\b(?:I|me|my|mine|we|us|our|you|your|readers?)\b")

_MY_BOOK = re.compile(
    r"\b(?:my|our|your) (?:[a-z-]+ )?(?:book|novel|story|tale|hero|heroine|protagonist"
    r"|narrator|villain|(?:main )?characters?)\b(?:,? (?:I|we) (?:wrote|write|tell|told))?",
    re.IGNORECASE,
)
"""Words with which an author speaks of the story: "in my novel the mule dies"."""

_PERSON_START = re.compile(r"\W*(?:he|she|they|it)\s+\w+[^?]*\.\W*\Z", re.IGNORECASE)
_CLAIM_START = re.compile(
    r"\W*(?:he|she|they|it|the|an?|his|her|its|their|this|that|these|those|no|nobody"
    r"|nothing|every|everyone|everybody|all|both|some|one|two|three|there)\s+"
    r"\w+[^?]*\.\W*\Z",
    re.IGNORECASE,
)
"""The form of a short sentence that states something: "She drowns.", "The mule dies."
"""

SAME_MARGIN = 0.1
"""How much less close a passage may be that has the details of a statement after all."""

_COMPARED = frozenset((StatementResult.CLOSEST, StatementResult.OUTSIDE))
"""Results of statements whose colours, names and the like are compared, too."""

AROUND_CHARS = 1_500
"""Characters around a passage in which a person may be named whom it calls "she"."""


class DraftChecker:
    """Compares the statements of drafts with the passages of one library. Read-only.

    `split` divides a text into sentences. Without `with_details`, no differences are found.
    """

    def __init__(
        self,
        search: StatementSearch,
        passages: PassageStore,
        split: SentenceSplitter,
        *,
        with_details: bool = True,
    ) -> None:
        self._search, self._passages, self._split = search, passages, split
        self._with_details = with_details

    async def check(
        self,
        statement: DraftStatement,
        story: CheckedStory,
        subject: str = "",
        before: str = "",
    ) -> CheckedStatement:
        """Return the result of one statement.

        `subject` is the character whom the sentences before name last: "she" may mean
        her. `before` is the sentence before: "it" may mean something in it.

        Raises:
            StoreProblem: The library cannot be read.
        """
        if _states_nothing(statement):
            return CheckedStatement(statement, StatementResult.NOTHING)
        subject = resolve_subject(statement, story, subject)
        candidates = await self.find_passages(statement, story, subject, before)
        checked = _decide(statement, story, candidates)
        if story.horizon is not None and checked.result in _COMPARED:
            later = await self._find_later_clause(statement, story, candidates)
            if later is not None:
                return replace(
                    checked, result=StatementResult.LATER, chapter=later.chapter
                )
            closer = find_closer_chapter(statement, story, candidates)
            checked = replace(checked, closer_chapter=closer)
        lacks_value = checked.result is StatementResult.DETAILS_DIFFER and not any(
            difference.found for difference in checked.differences
        )
        if checked.result in _COMPARED or lacks_value:
            checked = self._compare_attributes(checked, story, candidates, subject)
        if checked.claims_nothing:
            return CheckedStatement(statement, StatementResult.NOTHING)
        return checked

    async def _find_later_clause(
        self,
        statement: DraftStatement,
        story: CheckedStory,
        candidates: Sequence[ComparedPassage],
    ) -> ComparedPassage | None:
        """Return the passage after the horizon that tells what a clause says, as
        `find_later`.
        """
        passages = [candidate.passage for candidate in candidates]
        for clause in split_clauses(statement.own_text):
            telling = len(list_telling_stems(clause, story.cast))
            if telling < MIN_CLAUSE_STEMS or len(stem_words(clause)) < MIN_LATER_WORDS:
                continue
            part = replace(statement, text=clause, quotations=())
            later = find_later(
                part, story, await self._compare_all(part, story, passages)
            )
            if later is not None:
                return later
        return None

    def _compare_attributes(
        self,
        checked: CheckedStatement,
        story: CheckedStory,
        candidates: Sequence[ComparedPassage],
        subject: str,
    ) -> CheckedStatement:
        """Return the result with what the text says otherwise of the same thing."""
        visible = [c for c in candidates if c.is_visible]
        if any(c.compared.is_near for c in visible):
            return checked
        statement = checked.statement
        text, passages = statement.own_text, [c.passage.chunk.text for c in visible]
        differences = (
            *find_attribute_differences(text, passages, self._split, story, subject),
            *find_count_and_kin_differences(
                text, passages, self._split, story, subject
            ),
        )
        chapter = find_other_chapter(statement, story, visible)
        differences += (chapter,) if chapter is not None else ()
        differences = differences or tuple(find_foreign_names(statement, story))
        if not differences:
            return checked
        return _mark_different(checked, differences, is_repeated=False)

    async def find_more(
        self, checked: CheckedStatement, story: CheckedStory
    ) -> tuple[ClosestPassage, ...]:
        """Return the neighbours of the closest passages of a statement, and passages that
        a deeper search finds, without those that it has.

        Raises:
            StoreProblem: The library cannot be read.
        """
        statement = checked.statement
        shown = [closest.passage for closest in checked.passages]
        passages = await self._search.find_more(statement, story, checked.before, shown)
        compared = await self._compare_all(statement, story, passages)
        return tuple(_show(c) for c in compared if c.is_visible)

    async def find_passages(
        self,
        statement: DraftStatement,
        story: CheckedStory,
        subject: str,
        before: str,
    ) -> list[ComparedPassage]:
        """Return the passages that may tell of a statement, closest first.

        Its clauses are searched if the passages do not repeat the whole. `subject` and
        `before` are as in `check`.

        Raises:
            StoreProblem: The library cannot be read.
        """
        whole = await self._search.find(statement, story, subject, before)
        candidates = await self._compare_all(statement, story, whole.values())
        if not any(c.compared.is_near for c in candidates):
            more = await self._search.find_for_clauses(statement, story, subject)
            new = [passage for id_, passage in more.items() if id_ not in whole]
            candidates += await self._compare_all(statement, story, new)
        return _rank(candidates, list_subject_forms(subject, story))

    async def _compare_all(
        self, statement: DraftStatement, story: CheckedStory, found: Iterable[Passage]
    ) -> list[ComparedPassage]:
        """Compare a statement with each of the passages that have sentences."""
        passages = list(found)
        texts = await self._passages.texts({p.chunk.document for p in passages})
        scope = build_search_scope(
            story.order, types=(), horizon=story.horizon, kinds=[*ChunkKind]
        )
        candidates = []
        unnamed = strip_names(statement.text, story.cast) if story.horizon else ""
        for passage in passages:
            chunk = passage.chunk
            is_visible = is_within_scope(chunk.document, chunk.span, scope)
            text = texts[chunk.document].text if chunk.document in texts else chunk.text
            if is_visible:
                text = text[: scope.until.get(chunk.document)]
            compared = self._compare(statement.text, passage, story, text)
            if compared is not None:
                own = None
                if statement.quotations and is_visible and self._with_details:
                    words = strip_speaker_tag(statement)
                    own = self._compare(words, passage, story, text)
                bare = None
                if unnamed and unnamed != statement.text:
                    bare = self._compare(unnamed, passage, story, text)
                candidates.append(
                    ComparedPassage(passage, compared, own, is_visible, text, bare)
                )
        return candidates

    def _compare(
        self, words: str, passage: Passage, story: CheckedStory, text: str
    ) -> Comparison | None:
        """Compare `words` with a passage of the document with `text`."""
        chunk = passage.chunk
        start, end = chunk.span.start - AROUND_CHARS, chunk.span.end + AROUND_CHARS
        around = text[max(0, start) : end]
        return compare_with_text(
            words, chunk.text, self._split, story.cast, around, self._with_details
        )


def _iter_name_lines(statement: DraftStatement, story: CheckedStory) -> Iterator[str]:
    """Yield a line for each character that a statement names: its name, other names."""
    named = list_named_characters(statement.text, story.cast)
    for forms in story.known_cast:
        folded = {fold_words(form) for form in forms}
        if any(folded & found for found in named):
            yield ", ".join(dict.fromkeys(forms))


def _states_nothing(statement: DraftStatement) -> bool:
    """Return whether a statement claims nothing: a heading, or too few words."""
    if statement.is_heading:
        return True
    words = len(stem_words(statement.text))
    is_short_claim = words == 1 and _PERSON_START.match(statement.text)
    return not statement.quotations and words < 2 and not is_short_claim


def _decide(
    statement: DraftStatement,
    story: CheckedStory,
    candidates: Sequence[ComparedPassage],
) -> CheckedStatement:
    visible = [c for c in candidates if c.is_visible]
    shown = tuple(_show(c) for c in _choose_shown(statement, visible))
    checked = CheckedStatement(
        statement,
        StatementResult.CLOSEST,
        shown,
        names=tuple(_iter_name_lines(statement, story)),
        absent_words=list_absent_words(statement, story),
        probable_speaker=find_probable_speaker(statement, story),
    )
    later = find_later(statement, story, candidates)
    if later is not None:
        return replace(checked, result=StatementResult.LATER, chapter=later.chapter)
    wrong = _list_wrong_quotations(statement, story, visible)
    if wrong:
        return _mark_different(checked, wrong, is_repeated=True)
    source = next((c for c in visible if occurs_in(statement.text, [c.found])), None)
    is_mixed = bool(statement.quotations)
    has_claim = not is_mixed or _claims_beyond_quotations(statement, story)
    if source is not None or not has_claim:
        is_quoted = source is not None or not checked.probable_speaker
        result = StatementResult.QUOTED if is_quoted else StatementResult.CLOSEST
        return replace(checked, result=result)
    differences = _find_differences(
        [c.compared for c in visible if not is_mixed or c.compared.is_near]
    )
    if is_mixed and not differences:
        differences = _find_differences(_list_own_comparisons(statement, visible))
    if differences:
        is_repeated = visible[0].compared.is_near
        return _mark_different(checked, differences, is_repeated=is_repeated)
    if not is_mixed:
        other = _find_other_subject(statement, story, visible)
        if other is not None:
            return replace(checked, result=other)
    return checked


def _mark_different(
    checked: CheckedStatement,
    differences: tuple[DetailDifference, ...],
    *,
    is_repeated: bool,
) -> CheckedStatement:
    return replace(
        checked,
        result=StatementResult.DETAILS_DIFFER,
        differences=differences,
        is_repeated=is_repeated,
    )


def _list_wrong_quotations(
    statement: DraftStatement, story: CheckedStory, visible: Sequence[ComparedPassage]
) -> tuple[DetailDifference, ...]:
    quotations = list_checked_quotations(statement)
    passages = [c.passage.chunk.text for c in visible]
    wrong = find_wrong_quotations(quotations, passages, [c.text for c in visible])
    other = find_other_speaker(statement, passages, story) if quotations else None
    return (*wrong, other) if other is not None else tuple(wrong)


def _claims_beyond_quotations(statement: DraftStatement, story: CheckedStory) -> bool:
    """Return whether a statement says more outside its quotations than who speaks."""
    names = {w for forms in story.cast for form in forms for w in fold_words(form)}
    return bool(stem_words(strip_speaker_tag(statement, names)))


def _list_own_comparisons(
    statement: DraftStatement, visible: Sequence[ComparedPassage]
) -> list[Comparison]:
    """Return the comparisons with the words outside the quotations, closest first: of
    the passages with a quotation, if there are any.
    """
    quoting = [
        c
        for c in visible
        if any(occurs_in(q.text, [c.passage.chunk.text]) for q in statement.quotations)
    ]
    compared = [c.own for c in quoting or visible if c.own is not None]
    return sorted(compared, key=lambda comparison: -comparison.strength)


def _find_differences(
    comparisons: Sequence[Comparison],
) -> tuple[DetailDifference, ...]:
    """Return the details that the closest text has otherwise, unless one that is nearly
    as close has them as stated; `comparisons` are closest first.
    """
    best = comparisons[0] if comparisons else None
    if best is None or not best.differences:
        return ()
    same = (c for c in comparisons if c.strength >= best.strength - SAME_MARGIN)
    return best.differences if all(c.differences for c in same) else ()


def _choose_shown(
    statement: DraftStatement, visible: Sequence[ComparedPassage]
) -> list[ComparedPassage]:
    """Return the passages to show, best first; the last are those closest to a clause
    of the statement that are not among the first.
    """
    closest = {}
    for clause in split_clauses(statement.own_text):
        stems = stem_words(clause)
        best = max(
            visible,
            key=lambda c: len(stems & stem_words(c.passage.chunk.text)),
            default=None,
        )
        if best is not None:
            closest[id(best)] = best
    first = visible[:SHOWN_PASSAGES]
    missing = [best for key, best in closest.items() if key not in {*map(id, first)}]
    return [*first[: SHOWN_PASSAGES - len(missing)], *missing]


def _show(candidate: ComparedPassage) -> ClosestPassage:
    start = candidate.passage.chunk.span.start
    span = candidate.compared.span
    return ClosestPassage(
        candidate.passage,
        Span(start + span.start, start + span.end),
        candidate.compared.share,
    )


def _find_other_subject(
    statement: DraftStatement, story: CheckedStory, visible: Sequence[ComparedPassage]
) -> StatementResult | None:
    """Return `OUTSIDE` for a statement about something else than the story, `NOTHING`
    for one that claims nothing about anything, such as a greeting; None for others.
    """
    if list_named_characters(statement.text, story.cast):
        return None
    best = visible[0].compared if visible else None
    if best is not None and (
        best.is_near
        or (
            best.share >= MIN_FOREIGN_SHARE
            and best.share * len(stem_words(statement.text)) >= MIN_SHARED_WORDS
        )
    ):
        return None
    passages = "\n".join(c.passage.chunk.text for c in visible)
    names = {name.text for name in find_missing_names(statement.text, "", story.cast)}
    foreign = {
        name.text for name in find_missing_names(statement.text, passages, story.cast)
    }
    if names - foreign:
        return None
    numbers = {value for value, _ in find_numbers(statement.text)}
    numbers -= {value for value, _ in find_numbers(passages)}
    if foreign or statement.links or max(numbers, default=0) >= MIN_FOREIGN_NUMBER:
        return StatementResult.OUTSIDE
    is_remark = _AUTHOR.search(_MY_BOOK.sub(" ", statement.own_text)) is not None
    is_short = len(stem_words(statement.text)) < MIN_CLAIM_WORDS
    is_short = is_short and not _CLAIM_START.match(statement.text)
    return StatementResult.NOTHING if is_remark or is_short or best is None else None


def _rank(
    candidates: Sequence[ComparedPassage], subject: Sequence[tuple[str, ...]]
) -> list[ComparedPassage]:
    """Return candidates, given in the order of the search, closest first.

    Those that the statement repeats come first. The others are ranked by their place in
    the search and by how many words of the statement they have, each counting as much
    as the other (reciprocal rank fusion); a sentence that names the `subject` gains.
    """

    def measure(candidate: ComparedPassage) -> float:
        names_subject = contains_name(candidate.found, subject)
        return candidate.compared.strength + SUBJECT_BONUS * names_subject

    by_words = sorted(candidates, key=lambda c: -measure(c))
    places = {id(c): place for place, c in enumerate(by_words)}
    fused = {
        id(c): 1 / (RANK_OFFSET + place) + 1 / (RANK_OFFSET + places[id(c)])
        for place, c in enumerate(candidates)
    }
    return sorted(
        candidates,
        key=lambda c: (-c.compared.near if c.compared.is_near else 0.0, -fused[id(c)]),
    )
