"""Inspects a draft at its place in the story: things from later, other numbers, an unmet
card, repetitions, abrupt changes of a relation, and what is wrong about people.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from lrwr.core.attribution.names import find_missing_names
from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.bible.name_evidence import shorten_line
from lrwr.core.bible.name_lookup import list_cast_forms, match_people
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterRelation,
    TextEvidence,
    format_evidence_location,
    format_relation,
)
from lrwr.core.continuity.statements import (
    find_enclosing_paragraph,
    find_enclosing_sentence,
)
from lrwr.core.drafting.findings import (
    DraftContext,
    DraftFinding,
    DraftReport,
    FindingKind,
    NewFact,
    describe_other_word,
)
from lrwr.core.drafting.people_check import find_wrong_people
from lrwr.core.drafting.story_passages import find_latest_days, iter_days
from lrwr.core.drafting.style import Repetition, find_repetitions, measure_voice
from lrwr.core.drafting.thing_check import (
    CountComparison,
    CountedThing,
    compare_counts,
    find_other_looks,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, LineRange, Span, normalize_word
from lrwr.core.nlp.facts.clauses import NON_NAMES, TITLE_WORDS
from lrwr.core.ports.story_stores import FirstMention

MAX_NEW_NAMES = 12
"""Names that nothing knows which are listed."""

LENGTH_TOLERANCE = 0.25
"""Share by which a scene may be shorter or longer than its card says."""

OPPOSITES = frozenset({"ally", "antagonist"})
_NO_OPENING_DAY = re.compile(
    r"\b(?:had|ago|since|before|after|until|till|from|page|remember\w*|recall\w*)\b|^[>|]",
    re.I | re.M,
)
_OPENING = re.compile(
    r"(?:^#{1,6}[ \t][^\n]*|^[ \t]*(?:[*#~-][ \t]*){3,})$(?![\s\S])", re.M
)
"""A heading or scene break at the end of a text."""
_TITLES = "|".join(TITLE_WORDS.split())
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)


def inspect_draft(context: DraftContext) -> DraftReport:
    """Return the findings of a draft, in text order, and what it makes known."""
    texts = {document: text.text for document, text in context.knowledge.texts.items()}
    counts = compare_counts(context.draft, texts, context.texts_before)
    findings = [
        *_find_later(context),
        *_describe_counts(context, counts),
        *describe_other_looks(context, texts),
        *_find_earlier_days(context),
        *_find_abrupt_relations(context),
        *find_wrong_people(context),
        *find_new_names(context),
        *_find_unmet_card(context),
        *_describe_repetitions(context),
    ]
    findings.sort(key=lambda f: f.lines.first if f.lines else 0)
    story = context.knowledge.order.story
    chapters = [context.knowledge.texts[d].text for d in story if d != context.draft]
    return DraftReport(
        tuple(findings),
        tuple(_list_new_facts(context)),
        measure_voice(context.text, chapters),
        counts.compared,
    )


def _find_later(context: DraftContext) -> Iterator[DraftFinding]:
    if not context.is_revision:
        yield from _find_later_names(context)
        yield from _find_later_facts(context)


def _find_later_names(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the names of the draft that the story has only after it.

    A longer or shorter form of a name that the story has before is none of them.
    """
    rows: dict[str, list[FirstMention]] = {}
    for row in context.knowledge.first_seen:
        if row.document in context.ranks:
            rows.setdefault(row.character, []).append(row)
    for character, mentions in rows.items():
        words = {
            word
            for row in mentions
            if row.document != context.draft and not context.is_later(row.document)
            for word in row.alias.casefold().split()
        }
        for own in (row for row in mentions if row.document == context.draft):
            later = _find_first_later(context, own, mentions)
            if later and words.isdisjoint(own.alias.casefold().split()):
                yield _describe_later_name(context, character, own, later)


def _find_first_later(
    context: DraftContext, own: FirstMention, mentions: Sequence[FirstMention]
) -> FirstMention | None:
    """Return the first mention of a name after the draft; None if there is one before,
    or none at all.
    """
    others = [
        row
        for row in mentions
        if row.alias == own.alias and row.document != context.draft
    ]
    if not all(context.is_later(row.document) for row in others):
        return None
    return min(others, key=lambda row: context.ranks[row.document], default=None)


def _describe_later_name(
    context: DraftContext, character: str, own: FirstMention, later: FirstMention
) -> DraftFinding:
    also = f", a name of {character}," if own.alias != character else ""
    chapter = context.number_chapter(later.document, later.span)
    sentence = find_enclosing_sentence(context.text, own.span)
    return DraftFinding(
        FindingKind.LATER,
        f"{own.alias}{also} is in the story only from chapter {chapter} on",
        context.lines_of(own.span),
        context.text[sentence.start : sentence.end],
        context.locate(later.document, later.span),
    )


def _find_later_facts(context: DraftContext) -> Iterator[DraftFinding]:
    for about, claim in _iter_claims(context.bible):
        own = _own_evidence(context, claim.evidence)
        if own and context.is_first_told_later(claim.evidence):
            yield _build_later(context, f"{about}: {claim.value}", own, claim.evidence)
    for relation in context.bible.relations:
        own = _own_evidence(context, relation.evidence)
        if own and context.is_first_told_later(relation.evidence):
            label, text = format_relation(relation)
            yield _build_later(context, f"{label}: {text}", own, relation.evidence)


def _build_later(
    context: DraftContext,
    fact: str,
    own: TextEvidence,
    evidence: Sequence[TextEvidence],
) -> DraftFinding:
    others = [e for e in evidence if context.is_later(e.document)]
    first = min(others, key=lambda e: (context.ranks[e.document], e.spans[0]))
    number = context.number_chapter(first.document, first.spans[0])
    return DraftFinding(
        FindingKind.LATER,
        f"{fact} is told only in chapter {number}",
        own.lines,
        own.text,
        format_evidence_location(first),
    )


def _describe_counts(
    context: DraftContext, counts: CountComparison
) -> Iterator[DraftFinding]:
    """Yield a finding for each differing count. It is for the writer only where the other
    one is not of the story before the draft: a model gets nothing from there; and where
    the story itself has two numbers.
    """
    for row in counts.differing:
        quote = _quote_sentence(context, row.document, row.other)
        rank = context.ranks.get(row.document)
        also = ""
        if row.also is not None:
            document, second = row.also
            place = context.locate(document, second.sentence)
            also = f", and “{_quote_sentence(context, document, second)}” ({place})"
        yield DraftFinding(
            FindingKind.NUMBER,
            f"{row.own.words}, but elsewhere: “{quote}”{also}",
            context.lines_of(row.own.span),
            _quote_sentence(context, context.draft, row.own),
            context.locate(row.document, row.other.sentence),
            is_remark=rank is None or context.is_later(row.document) or bool(also),
            words=row.own.words,
        )


def _find_earlier_days(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the numbered day on which a scene of the draft opens, such as "Day 12", if the
    story before it has come to a later one. A draft that comes to that day, too, tells of
    an earlier one on purpose.
    """
    latest = find_latest_days(context.texts_before)
    own = list(iter_days(context.text, _NO_OPENING_DAY))
    for unit, number, span in own:
        most = max(other for name, other, _ in own if name == unit)
        if most < latest.get(unit, (-1,))[0] and _is_in_opening(context.text, span):
            _, document, place = latest[unit]
            sentence = find_enclosing_sentence(
                context.knowledge.texts[document].text, place
            )
            quote = context.knowledge.texts[document].text[
                sentence.start : sentence.end
            ]
            at = Span(place.start - sentence.start, place.end - sentence.start)
            yield DraftFinding(
                FindingKind.NUMBER,
                f"{unit} {number}, but before it: “{shorten_line(quote, at)}”",
                context.lines_of(span),
                context.quote_sentence(span),
                context.locate(document, place),
                is_remark=True,
                words=f"{unit} {number}",
            )


def _is_in_opening(text: str, span: Span) -> bool:
    """Return whether a place is in the first paragraph of a scene."""
    before = text[: find_enclosing_paragraph(text, span).start].rstrip()
    return not before or _OPENING.search(before) is not None


def describe_other_looks(
    context: DraftContext, texts: Mapping[DocumentId, str]
) -> Iterator[DraftFinding]:
    """Yield a finding for each look of a part of which the story has another one."""
    for look in find_other_looks(context.draft, texts, context.texts_before):
        yield describe_other_word(
            context, look.span, look.word, look.document, look.other
        )


def _quote_sentence(
    context: DraftContext, document: DocumentId, counted: CountedThing
) -> str:
    start, end = counted.sentence.start, counted.sentence.end
    text = context.knowledge.texts[document].text[start:end]
    at = counted.span.start - start
    return shorten_line(text, Span(at, at + len(counted.span)))


def find_new_names(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield one finding with the names that neither story nor notes nor plans have."""
    texts = context.knowledge.texts.items()
    others = [text.text for document, text in texts if document != context.draft]
    texts_words = {word for text in others for word in WORD_PATTERN.findall(text)}
    words = _list_capitalized(" ".join(texts_words)) | _list_capitalized(context.plans)
    # "Afterwards" at the start of a sentence is no name if the story has "afterwards".
    plain = {word for word in texts_words if word.islower()}
    people = tuple(p for p in context.bible.characters if context.is_known_before(p))
    cast = list_cast_forms(replace(context.bible, characters=people))
    names = [
        _add_title(context.text, name.text)
        for name in find_missing_names(_HEADING.sub("", context.text), "", cast)
        if not words.issuperset(_list_capitalized(name.text))
        and name.text.lower() not in plain
        and name.text not in NON_NAMES
    ][:MAX_NEW_NAMES]
    if not names:
        return
    places = [(_find_line(context, name), name) for name in names]
    first = min(lines.first for lines, _ in places)
    shown = ", ".join(f"{name} (line {lines.first})" for lines, name in places)
    yield DraftFinding(
        FindingKind.NAME,
        f"not in the story, its notes or the plan: {shown}",
        LineRange(first, first),
        is_remark=True,
    )


def _add_title(text: str, name: str) -> str:
    """Return a name with the title that it has in `text`: "Mrs Hale"."""
    titled = re.search(rf"\b(?:{_TITLES})\.? {re.escape(name)}\b", text)
    return titled[0] if titled else name


def _list_capitalized(text: str) -> set[str]:
    """Return the words with a capital, folded, without possessive endings."""
    words = (word for word in WORD_PATTERN.findall(text) if word[0].isupper())
    return {normalize_word(re.sub(r"['’]s?$", "", word)) for word in words}


def _find_line(context: DraftContext, name: str) -> LineRange:
    at = max(0, context.text.find(name))
    return context.lines_of(Span(at, at + len(name)))


def _find_abrupt_relations(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield pairs who are allies in the draft and were opponents when the story last said
    before it what they are, or the other way round.
    """
    relations = [r for r in context.bible.relations if r.valence]
    for relation in relations:
        own = _own_evidence(context, relation.evidence)
        if own is None or relation.valence not in OPPOSITES:
            continue
        pair = {relation.source, relation.target}
        earlier = [
            (context.ranks[evidence.document], evidence.spans[0], other, evidence)
            for other in relations
            if {other.source, other.target} == pair
            for evidence in other.evidence
            if _is_before(context, evidence)
        ]
        if not earlier:
            continue
        *_, other, last = max(earlier, key=lambda row: row[:2])
        if other.valence in OPPOSITES - {relation.valence}:
            yield _describe_abrupt(relation, own, last)


def _describe_abrupt(
    relation: CharacterRelation, own: TextEvidence, last: TextEvidence
) -> DraftFinding:
    was = next(iter(OPPOSITES - {relation.valence}))
    return DraftFinding(
        FindingKind.RELATION,
        f"{relation.source} and {relation.target}: {was} in chapter {last.chapter},"
        f" {relation.valence} here, and nothing in between",
        own.lines,
        own.text,
        format_evidence_location(last),
    )


def _find_unmet_card(context: DraftContext) -> Iterator[DraftFinding]:
    card = context.card
    if card is None:
        return
    present = {
        name
        for scene in context.bible.scenes
        if scene.document == context.draft
        for name in scene.present
    }
    for name in card.cast:
        problem = _check_person(context, name, present)
        if problem:
            yield DraftFinding(FindingKind.CARD, problem)
    pattern = compile_forms_pattern([_strip_article(card.place).casefold()])
    if card.place and pattern and not pattern.search(context.text.casefold()):
        text = f"{card.place} is not named"
        yield DraftFinding(FindingKind.PLACE, text, is_remark=True)
    words = len(context.text.split())
    if card.words and abs(words - card.words) > LENGTH_TOLERANCE * card.words:
        text = f"{words:,} words; the card plans {card.words:,}"
        yield DraftFinding(FindingKind.CARD, text, is_remark=True)


def _check_person(context: DraftContext, name: str, present: set[str]) -> str:
    """Return what is wrong with a person of the card; empty if they are present."""
    people = match_people(name, context.bible)
    if any(person.name in present for person in people):
        return ""
    forms = [name, *(form.name for person in people for form in person.aliases)]
    pattern = compile_forms_pattern(forms)
    if pattern and pattern.search(context.text):
        return f"{name} is named, but neither acts nor speaks"
    return f"{name} is not in the draft"


def _strip_article(place: str) -> str:
    first, _, rest = place.partition(" ")
    return rest if first.casefold() in ("the", "a", "an") and rest else place


def _describe_repetitions(context: DraftContext) -> Iterator[DraftFinding]:
    story = context.knowledge.order.story
    texts = {document: context.knowledge.texts[document].text for document in story}
    texts.setdefault(context.draft, context.text)
    for repetition in find_repetitions(context.draft, texts):
        is_own = repetition.document == context.draft
        yield DraftFinding(
            FindingKind.REPETITION,
            _describe_repetition(repetition, is_own=is_own),
            context.lines_of(repetition.span),
            context.text[repetition.span.start : repetition.span.end],
            context.locate(repetition.document, repetition.other_span),
        )


def _describe_repetition(repetition: Repetition, *, is_own: bool) -> str:
    where = "earlier in the draft" if is_own else "in the story"
    if repetition.is_verbatim:
        return f"{repetition.words} words in a row stand {where}, too"
    return f"a passage {where} is very similar"


def _list_new_facts(context: DraftContext) -> Iterator[NewFact]:
    yield from _list_new_people_and_events(context)
    for about, claim in _iter_claims(context.bible):
        own = _own_evidence(context, claim.evidence)
        if own is not None and all(e.document == context.draft for e in claim.evidence):
            yield NewFact(about, claim.value, own)
    for relation in context.bible.relations:
        own = _own_evidence(context, relation.evidence)
        documents = {e.document for e in relation.evidence}
        if own is not None and documents == {context.draft}:
            label, text = format_relation(relation)
            yield NewFact(label, text, own)


def _list_new_people_and_events(context: DraftContext) -> Iterator[NewFact]:
    for person in context.bible.characters:
        first = person.first_seen
        if first is not None and first.document == context.draft:
            yield NewFact(person.name, "a new person", first)
    for event in context.bible.events:
        if event.evidence.document == context.draft:
            yield NewFact("event", event.description, event.evidence)


def _iter_claims(bible: Bible) -> Iterator[tuple[str, BibleClaim]]:
    """Yield (subject and attribute, claim) for each claim about people and the world."""
    for person in bible.characters:
        for claim in chain(person.attributes, person.personality_traits):
            label = f", {claim.label.rstrip(' .:')}" if claim.label else ""
            yield f"{person.name}{label}", claim
    for element in bible.world:
        for claim in element.descriptions:
            yield element.name, claim


def _own_evidence(
    context: DraftContext, evidence: Iterable[TextEvidence]
) -> TextEvidence | None:
    return next((e for e in evidence if e.document == context.draft), None)


def _is_before(context: DraftContext, evidence: TextEvidence) -> bool:
    rank = context.ranks.get(evidence.document)
    return rank is not None and rank < context.ranks.get(context.draft, -1)
