"""Rules that decide whether two statements contradict each other."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lrwr.core.bible.horizon import HorizonCast
from lrwr.core.bible.profiles import SourcedFact, VisibleFacts, normalize_attribute
from lrwr.core.continuity.statements import (
    COMPARED_ATTRIBUTES,
    KINSHIP_ATTRIBUTE,
    WHEN,
    Statement,
    StatementSource,
    build_statement,
    find_enclosing_paragraph,
    is_asserted_in_context,
    mentions_change,
    mentions_past_age,
)
from lrwr.core.continuity.values import (
    COLOUR_ATTRIBUTES,
    UNIQUE_KINSHIP_CLASSES,
    are_values_incompatible,
    classify_hues,
    classify_kinship,
    excludes_kinship,
    invert_kinship,
    normalize_value_meaning,
    parse_age_range,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.facts import (
    RULES_KEEPER,
    Certainty,
    CharacterField,
    FactAbout,
)
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.clauses import SPOKEN_DETAIL, TITLE_WORDS

LIFE_ATTRIBUTE = "life"
MIN_REPEATED_STATEMENTS = 2
"""Minimum equal statements of the story that make a value canon."""

_TITLES = frozenset(TITLE_WORDS.split())

YEARS_LATER = (
    r"\b(?:years?|decades?) (?:later|after(?:wards?)?|on|(?:had |have )?(?:passed|gone|went"
    r"|rolled|flew|elapsed|slipped))\b|\byears and years\b"
)
"""Pattern of words that say that years went by; upper or lower case."""
_YEARS_PASS = re.compile(
    rf"{YEARS_LATER}|\b(?:after|for|in) \w+ (?:long )?years\b", re.I
)
MAX_GROWTH = 3
"""Maximum years by which an age may grow if the story does not skip years."""

_TIME_SKIPPED = re.compile(rf"{YEARS_LATER}|\btime (?:had )?(?:passed|went)", re.I)
_CLAUSE_END = re.compile(r"[.!?;:,—“”\"]")


@dataclass(frozen=True, slots=True)
class StatementConflict:
    """Two statements about one attribute that exclude each other.

    `canon` is the one that counts as true, `found` the one that contradicts it.
    `values` are the values of both for display, that of `canon` first. `is_possible`
    means that rules are not sure of it.
    """

    attribute: str
    canon: Statement
    found: Statement
    values: tuple[str, str]
    is_possible: bool = False


class StatementComparator:
    """Compares statements by rules, which also read the story text between them."""

    def __init__(self, material: VisibleFacts) -> None:
        self._material = material

    def clashes(self, statements: Sequence[Statement]) -> Iterator[StatementConflict]:
        """Yield the pairs of `statements` that contradict each other.

        `statements` must be in story order. Notes and answers in the canon file count
        as true against all story text. A statement of the story counts only against
        later documents, and for hair and build only if it is repeated.
        """
        groups: dict[tuple[str, str], list[Statement]] = {}
        for statement in statements:
            groups.setdefault((statement.about, statement.attribute), []).append(
                statement
            )
        for (_, attribute), group in groups.items():
            if attribute != KINSHIP_ATTRIBUTE:
                yield from self._attribute_conflicts(attribute, group)
        kin = [
            statement
            for statement in statements
            if statement.attribute == KINSHIP_ATTRIBUTE
        ]
        yield from find_kinship_conflicts(kin, self._material.cast)

    def _attribute_conflicts(
        self, attribute: str, group: Sequence[Statement]
    ) -> Iterator[StatementConflict]:
        for at, statement in enumerate(group):
            for canon in self._canon_for(attribute, statement, group[:at]):
                if self._differ(attribute, canon, statement):
                    yield StatementConflict(
                        attribute, canon, statement, (canon.value, statement.value)
                    )
                    break

    def _canon_for(
        self, attribute: str, statement: Statement, before: Sequence[Statement]
    ) -> Iterator[Statement]:
        """Yield the statements that `statement` must agree with: the author's, if any."""
        writers = [
            statement
            for statement in before
            if statement.source is not StatementSource.TEXT
        ]
        if writers:
            yield from writers
            return
        candidates = [
            statement
            for statement in before
            if statement.source is StatementSource.TEXT and statement.certain
        ]
        # Within one document, only what is stated of a name, not of a pronoun.
        is_stated = statement.certain and attribute in COLOUR_ATTRIBUTES
        candidates = [
            candidate
            for candidate in candidates
            if is_stated or candidate.rank[:2] != statement.rank[:2]
        ]
        if is_stated or attribute in ("eyes", "life", "age", "born"):
            yield from candidates
            return
        counter = Counter(
            normalize_value_meaning(attribute, candidate.value)
            for candidate in candidates
        )
        for candidate in candidates:
            if (
                counter[normalize_value_meaning(attribute, candidate.value)]
                >= MIN_REPEATED_STATEMENTS
            ):
                yield candidate

    def _differ(self, attribute: str, canon: Statement, statement: Statement) -> bool:
        if attribute == "age":
            return self._ages_conflict(canon, statement)
        if attribute == "life":
            return self._is_alive_after_death(canon, statement)
        if not are_values_incompatible(attribute, canon.value, statement.value):
            return False
        if (
            attribute not in COLOUR_ATTRIBUTES
            or statement.source is not StatementSource.TEXT
        ):
            return True
        if any(
            self._mentions_change(compared_statement)
            for compared_statement in (canon, statement)
        ):
            return False
        return not turned_grey(canon, statement)

    def _ages_conflict(self, canon: Statement, statement: Statement) -> bool:
        """Return whether the later age is lower, or too high with no years in between."""
        age_range, other = (
            parse_age_range(canon.value),
            parse_age_range(statement.value),
        )
        if (
            age_range is None
            or other is None
            or StatementSource.ANSWER is statement.source
        ):
            return False
        if any(
            mentions_past_age(*self._place(s))
            for s in (canon, statement)
            if self._is_story_statement(s)
        ):
            return False
        if other[1] < age_range[0] - 1:
            return True
        return other[0] > age_range[1] + MAX_GROWTH and not self._years_between(
            canon, statement
        )

    def _is_alive_after_death(self, canon: Statement, statement: Statement) -> bool:
        """Return whether a character is alive after the story has told of the death."""
        if "dead" not in canon.value.casefold() or statement.value != "alive":
            return False
        return self._is_story_statement(canon) and not self._mentions_change(statement)

    def _is_story_statement(self, statement: Statement) -> bool:
        return statement.source is StatementSource.TEXT

    def _mentions_change(self, statement: Statement) -> bool:
        return self._is_story_statement(statement) and mentions_change(
            *self._place(statement)
        )

    def _place(self, statement: Statement) -> tuple[str, Span]:
        assert statement.document is not None
        assert statement.span is not None
        return self._material.view.texts[statement.document].text, statement.span

    def _years_between(self, canon: Statement, statement: Statement) -> bool:
        """Return whether the story may skip years between the two statements."""
        order = self._material.view.order.story
        first = order.index(canon.document) if canon.document in order else 0
        for document in order[first:]:
            text = self._material.view.texts[document].text
            if document == statement.document:
                end = statement.span.end if statement.span else 0
                return bool(_YEARS_PASS.search(text, 0, end))
            if _YEARS_PASS.search(text):
                return True
        return True


def turned_grey(canon: Statement, statement: Statement) -> bool:
    """Return whether hair turned grey with time."""
    return (
        statement.attribute == "hair"
        and "grey" in classify_hues("hair", statement.value)
        and canon.rank < statement.rank
    )


def find_kinship_conflicts(
    statements: Sequence[Statement], horizon_cast: HorizonCast
) -> Iterator[StatementConflict]:
    """Yield the pairs of kinship statements that contradict each other.

    They give one child two fathers or two mothers, or a pair of characters two kinships
    that exclude each other. Two parents who share a part of a name may be the same
    person and do not contradict.
    """
    ties_by_pair: dict[tuple[str, str], list[tuple[str, Statement]]] = {}
    parents: dict[tuple[str, str], list[tuple[str, Statement]]] = {}
    for statement in statements:
        if not classify_kinship(statement.value):
            continue
        for child, kind, parent in _parentage(statement, horizon_cast):
            known_parents = parents.setdefault((child, kind), [])
            # A contradiction is about the child, also if "Hob's son Sel" states it.
            yield from _parent_conflicts(
                kind,
                parent,
                replace(statement, about=child),
                known_parents,
                horizon_cast,
            )
            known_parents.append((parent, statement))
        pair, kinship = _pair(statement)
        yield from _tie_conflicts(statement, kinship, ties_by_pair.setdefault(pair, []))
        ties_by_pair[pair].append((kinship, statement))


def _pair(statement: Statement) -> tuple[tuple[str, str], str]:
    """Return both names in order, and the kinship class of the second to the first."""
    if statement.about < statement.other:
        return (statement.about, statement.other), classify_kinship(statement.value)
    return (statement.other, statement.about), invert_kinship(statement.value)


def _tie_conflicts(
    statement: Statement, kinship: str, known_ties: Sequence[tuple[str, Statement]]
) -> Iterator[StatementConflict]:
    for other, before in _most_authoritative(known_ties):
        if _may_contradict(before, statement) and excludes_kinship(other, kinship):
            values = (_kinship_text(before), _kinship_text(statement))
            yield StatementConflict("kin", before, statement, values)
            return


def _parentage(
    statement: Statement, horizon_cast: HorizonCast
) -> Iterator[tuple[str, str, str]]:
    """Yield (child, "father" or "mother", parent)."""
    if statement.value in UNIQUE_KINSHIP_CLASSES:
        yield statement.about, statement.value, statement.other
    elif classify_kinship(statement.value) == "child":
        visible_character = horizon_cast.visible.get(statement.about)
        gender = (
            visible_character.character.gender if visible_character else Gender.UNKNOWN
        )
        if gender is Gender.MALE:
            yield statement.other, "father", statement.about
        elif gender is Gender.FEMALE:
            yield statement.other, "mother", statement.about


def _parent_conflicts(
    kind: str,
    parent: str,
    statement: Statement,
    known_parents: Sequence[tuple[str, Statement]],
    horizon_cast: HorizonCast,
) -> Iterator[StatementConflict]:
    for other, before in _most_authoritative(known_parents):
        if (
            other != parent
            and _may_contradict(before, statement)
            and _are_distinct(other, parent, horizon_cast)
        ):
            yield StatementConflict(kind, before, statement, (other, parent))
            return


def _most_authoritative(
    rows: Sequence[tuple[str, Statement]],
) -> list[tuple[str, Statement]]:
    """Return the author's statements, or those of the text if there are none."""
    writers = [pair for pair in rows if pair[1].source is not StatementSource.TEXT]
    return writers or list(rows)


def _may_contradict(canon: Statement, statement: Statement) -> bool:
    if (
        statement.source is not StatementSource.TEXT
        and canon.source is StatementSource.TEXT
    ):
        return False
    return (
        canon.document != statement.document or canon.source is not StatementSource.TEXT
    )


def _kinship_text(statement: Statement) -> str:
    return f"{statement.other} is {statement.about}’s {statement.value}"


def _are_distinct(name: str, other: str, horizon_cast: HorizonCast) -> bool:
    """Return whether two people share no word of any name, so that they surely differ."""
    return _words(name, horizon_cast).isdisjoint(_words(other, horizon_cast))


def _words(person: str, horizon_cast: HorizonCast) -> set[str]:
    visible_character = horizon_cast.visible.get(person)
    forms = (
        [person, *(a.name for a in visible_character.character.aliases)]
        if visible_character
        else [person]
    )
    words = {word.rstrip(".") for form in forms for word in form.split()}
    return {word.casefold() for word in words - _TITLES} - {"the"}


def find_possible_conflicts(material: VisibleFacts) -> Iterator[StatementConflict]:
    """Yield the first pair of ages, eye colours or hair colours of each character that
    may contradict each other, in story order.

    Both are what the narration says of the character, maybe only by a pronoun. Ages
    that grow over a leap of time, and looks that change, are left out; so is hair of
    which both mentions are doubtful.
    """
    statements = [
        statement
        for sourced_fact in material.about(FactAbout.CHARACTER)
        for statement in _read_statement(sourced_fact, material)
    ]
    statements.sort(key=lambda s: (s.about, s.attribute, s.rank))
    for _, group in groupby(statements, key=lambda s: (s.about, s.attribute)):
        yield from _find_first_conflict(list(group), material)


def _read_statement(
    sourced_fact: SourcedFact, material: VisibleFacts
) -> Iterator[Statement]:
    fact, place = sourced_fact.fact, sourced_fact.evidence
    label = normalize_attribute(fact.detail("attribute"))
    attribute = COMPARED_ATTRIBUTES.get(label, "")
    person = material.cast.resolve_name(fact.subject)
    if (
        not person
        or fact.field != CharacterField.ATTRIBUTE
        or (attribute != "age" and attribute not in COLOUR_ATTRIBUTES)
        or fact.keeper != RULES_KEEPER
        or SPOKEN_DETAIL in fact.details
        or place.chapter is None
    ):
        return
    text, span = material.view.texts[place.document].text, fact.spans[0]
    clause = _find_clause(text, span)
    at = Span(span.start - clause.start, span.end - clause.start)
    if is_asserted_in_context(text[clause.start : clause.end], at):
        certain = fact.certainty is not Certainty.PROBABLE
        source = StatementSource.TEXT
        yield build_statement(
            sourced_fact, person, attribute, fact.value, material, source, certain
        )


def _find_first_conflict(
    group: Sequence[Statement], material: VisibleFacts
) -> Iterator[StatementConflict]:
    for at, later in enumerate(group):
        for canon in group[:at]:
            if _may_differ(canon, later, material):
                values = canon.value, later.value
                yield StatementConflict(
                    later.attribute, canon, later, values, is_possible=True
                )
                return


def _may_differ(canon: Statement, later: Statement, material: VisibleFacts) -> bool:
    if canon.attribute == "age":
        return _may_ages_differ(canon, later, material)
    if not are_values_incompatible(canon.attribute, canon.value, later.value):
        return False
    if canon.attribute == "hair" and not (canon.certain or later.certain):
        return False
    return not turned_grey(canon, later) and not any(
        mentions_change(_text(statement, material), statement.span)
        for statement in (canon, later)
        if statement.span is not None
    )


def _may_ages_differ(
    canon: Statement, later: Statement, material: VisibleFacts
) -> bool:
    before, after = parse_age_range(canon.value), parse_age_range(later.value)
    if before is None or after is None:
        return False
    if any(_is_of_another_time(statement, material) for statement in (canon, later)):
        return False
    if after[1] < before[0] - 1:
        return True
    return after[0] > before[1] + MAX_GROWTH and not _is_time_skipped(
        canon, later, material
    )


def _is_of_another_time(statement: Statement, material: VisibleFacts) -> bool:
    """Return whether the clause of an age says when that was ("when she was ten")."""
    text, span = _text(statement, material), statement.span
    if span is None:
        return False
    clause = _find_clause(text, span)
    return bool(WHEN.search(text, clause.start, clause.end))


def _find_clause(text: str, span: Span) -> Span:
    """Return the words of the paragraph around `span` between punctuation marks."""
    within = find_enclosing_paragraph(text, span)
    stops = [m.end() for m in _CLAUSE_END.finditer(text, within.start, span.start)]
    end = _CLAUSE_END.search(text, span.end, within.end)
    return Span(
        stops[-1] if stops else within.start, end.start() if end else within.end
    )


def _is_time_skipped(
    canon: Statement, later: Statement, material: VisibleFacts
) -> bool:
    """Return whether the text between two statements says that years pass."""
    order = material.view.order.story
    if canon.document not in order or canon.span is None or later.span is None:
        return True
    for document in order[order.index(canon.document) :]:
        text = material.view.texts[document].text
        start = canon.span.end if document == canon.document else 0
        end = later.span.start if document == later.document else len(text)
        if _TIME_SKIPPED.search(text, start, end):
            return True
        if document == later.document:
            return False
    return True


def _text(statement: Statement, material: VisibleFacts) -> str:
    return material.view.texts[statement.document].text if statement.document else ""
