"""What a draft says of people that the story contradicts: the dead who act, and other
trades, ages, animals, kin and sides of limbs.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from lrwr.core.attribution.concrete_words import group_animals
from lrwr.core.bible.horizon import compile_forms_pattern
from lrwr.core.bible.values import (
    BibleClaim,
    CharacterProfile,
    TextEvidence,
    format_evidence_location,
)
from lrwr.core.continuity.deaths import KnownPerson, find_dead_actors
from lrwr.core.continuity.rules import YEARS_LATER
from lrwr.core.continuity.statements import (
    find_enclosing_paragraph,
    find_enclosing_sentence,
    is_asserted_in_context,
    mentions_past_age,
)
from lrwr.core.continuity.values import parse_age_range
from lrwr.core.drafting.findings import (
    DraftContext,
    DraftFinding,
    FindingKind,
    compile_apposition,
    describe_other_word,
    find_named_people,
    read_apposition,
    select_own_forms,
)
from lrwr.core.drafting.kin_check import find_other_kin
from lrwr.core.drafting.thing_check import is_asserted_up_to
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import SURE_CERTAINTIES
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.attribute_rules import AGE, OCCUPATIONS

_TRADE, _AGE = "occupation", "age"
MAX_GROWTH = 2
"""Years by which an age may grow if the story does not skip years."""
_YEARS_PASS = re.compile(rf"{YEARS_LATER}|\b(?:next|following) years?\b", re.I)
_OCCUPATION = re.compile(OCCUPATIONS)
_LIMBS = (
    frozenset(("hand", "arm", "finger", "wrist", "thumb", "elbow", "shoulder")),
    frozenset(("leg", "knee", "foot", "ankle", "hip", "heel", "toe")),
    frozenset(("eye",)),
    frozenset(("ear",)),
    frozenset(("cheek", "temple", "eyebrow")),
)
_TRAITS = re.compile(
    r"\b(?:deaf|blind|lame|limp\w*|scar(?:red)?|missing|wooden|glass|lost|hook|stump|joint"
    r"|patch|tattoo\w*|cripple\w*|wither\w*|birthmark|amputat\w*|crooked|twisted|maimed)\b"
)
_ALL_LIMBS = "|".join(sorted(limb for limbs in _LIMBS for limb in limbs))
_SIDE = re.compile(rf"\b(?P<side>left|right)(?: [a-z]+)? (?P<limb>{_ALL_LIMBS})s?\b")
_CAPITALIZED = re.compile(r"(?<![\w’'-])[A-ZÀ-Þ][\w-]+")


def find_wrong_people(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the findings about people in a draft, in no order."""
    yield from _find_dead(context)
    yield from _find_other_trades(context)
    yield from _find_other_animals(context)
    yield from _find_other_ages(context)
    yield from _find_other_sides(context)
    yield from find_other_kin(context)


def _find_dead(context: DraftContext) -> Iterator[DraftFinding]:
    before = context.texts_before
    people = [*_list_known_people(context)]
    people += _list_known_animals(context, {f for p in people for f in p.forms})
    for actor in find_dead_actors(context.text, before, people):
        text = context.knowledge.texts[actor.document].text
        death = " ".join(text[actor.death.start : actor.death.end].split()).lstrip("> ")
        yield DraftFinding(
            FindingKind.DEAD,
            f"{actor.name} acts here, but is dead by then: “{death}”",
            context.lines_of(actor.act),
            context.quote_sentence(actor.act),
            context.locate(actor.document, actor.death),
            is_remark=actor.document not in before,
            words=actor.name,
        )


def _list_known_people(context: DraftContext) -> Iterator[KnownPerson]:
    people = [p for p in context.bible.characters if context.is_known_before(p)]
    forms = select_own_forms({p.name: [f.name for f in p.aliases] for p in people})
    present = {
        name
        for scene in context.bible.scenes
        if context.ranks.get(scene.document, 0) < context.ranks.get(context.draft, 0)
        for name in scene.present
    }
    for person in people:
        notes = tuple(
            (claim.value, evidence.document, evidence.spans[0])
            for claim in person.attributes
            for evidence in claim.evidence
            if evidence.chapter is None
        )
        yield KnownPerson(
            person.name,
            forms[person.name],
            notes=notes,
            is_present=person.name in present,
        )


def _list_known_animals(
    context: DraftContext, people: Collection[str]
) -> Iterator[KnownPerson]:
    """Yield the animals with a name in the draft that is none of `people`."""
    groups = group_animals()
    names = _CAPITALIZED.findall(context.text)
    candidates = set(names).difference(people)
    kinds: dict[str, str] = {}
    texts = context.knowledge.texts.items() if candidates else ()
    for document, text in texts:
        if document != context.draft:
            for match in compile_apposition("|".join(groups)).finditer(text.text):
                name, noun = read_apposition(match)
                kinds.setdefault(name, noun)
    for name in sorted(candidates.intersection(kinds)):
        noun = kinds[name]
        is_only = sum(groups[noun] == groups[other] for other in kinds.values()) == 1
        nouns = (f"the {noun}", f"The {noun}") if is_only else ()
        yield KnownPerson(name, (name,), nouns)


def _find_other_trades(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the trades that a draft gives to somebody of whom the story has another one,
    if their name and the trade are nowhere else in one sentence.
    """
    for person in context.bible.characters:
        trades = [c for c in person.attributes if c.label == _TRADE]
        own = [c for c in trades if _is_only_in_draft(context, c)]
        others = [c for c in trades if not _is_only_in_draft(context, c)]
        roles = _list_roles(context, person, others)
        for claim in own if roles else []:
            evidence = claim.evidence[0]
            if _is_told_elsewhere(context, person, claim.value):
                continue
            role, place = roles[0]
            yield DraftFinding(
                FindingKind.DETAIL,
                f"{person.name}, {claim.value}, but elsewhere: {role}",
                evidence.lines,
                evidence.text,
                format_evidence_location(place) if place else "",
                is_remark=place is None or place.document not in context.texts_before,
                words=claim.value,
            )


def _find_other_ages(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the ages that a draft gives to somebody who was surely younger by more than
    `MAX_GROWTH` years, or older; none if the story or the draft says that years passed.
    """
    people = [p for p in context.bible.characters if context.is_known_before(p)]
    for person in people:
        ages = [
            (claim.value, evidence)
            for claim in person.attributes
            if claim.label == _AGE and claim.certainty in SURE_CERTAINTIES
            for evidence in claim.evidence
            if _is_before_or_note(context, evidence)
        ]
        for age, span in _iter_own_ages(context, person) if ages else ():
            if all(_is_other_age(context, age, span, *row) for row in ages):
                evidence = ages[0][1]
                place = Span(evidence.spans[0].start, evidence.spans[-1].end)
                yield describe_other_word(context, span, age, evidence.document, place)
                break


def _is_before_or_note(context: DraftContext, evidence: TextEvidence) -> bool:
    rank = context.ranks.get(evidence.document)
    return rank is None or rank < context.ranks.get(context.draft, -1)


def _iter_own_ages(
    context: DraftContext, person: CharacterProfile
) -> Iterator[tuple[str, Span]]:
    """Yield the ages that the draft gives to somebody, each with its place."""
    for claim in person.attributes:
        for evidence in claim.evidence if claim.label == _AGE else ():
            if evidence.document == context.draft:
                yield claim.value, evidence.spans[0]
    for form in person.aliases:
        if f"{form.name}, " not in context.text:
            continue
        for match in _compile_age(form.name).finditer(context.text):
            span = Span(*match.span())
            if is_asserted_in_context(context.text, span):
                yield match["age"], span


@cache
def _compile_age(form: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w’'-]){re.escape(form)}, (?P<age>{AGE})(?=,)")


def _is_other_age(
    context: DraftContext, age: str, span: Span, earlier: str, evidence: TextEvidence
) -> bool:
    own, other = parse_age_range(age), parse_age_range(earlier)
    if own is None or other is None or mentions_past_age(context.text, span):
        return False
    if own[1] < other[0]:
        return True
    if own[0] <= other[1] + MAX_GROWTH:
        return False
    rank = context.ranks.get(evidence.document, -1)
    texts = (t for d, t in context.texts_before.items() if context.ranks[d] >= rank)
    return not any(_YEARS_PASS.search(text) for text in (*texts, context.text))


def _find_other_animals(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the names to which a draft gives a kind of animal where the story has them
    beside other kinds only.
    """
    groups = group_animals()
    for match in compile_apposition("|".join(groups)).finditer(context.text):
        name, noun = read_apposition(match)
        places = [*_iter_animals(context, name)]
        if places and not any(animal in groups[noun] for animal, _, _ in places):
            _, document, sentence = places[0]
            span = Span(*match.span())
            yield describe_other_word(context, span, noun, document, sentence)


def _iter_animals(
    context: DraftContext, name: str
) -> Iterator[tuple[str, DocumentId, Span]]:
    """Yield the animals that the story names near `name`: word, document, sentence."""
    words = "|".join(group_animals())
    own = re.escape(name)
    near = re.compile(
        rf"\b(?:{own}\W+(?:\w+\W+){{0,4}}?(?P<after>{words})"
        rf"|(?P<before>{words})\W+(?:\w+\W+){{0,4}}?{own})\b"
    )
    for document, text in context.knowledge.texts.items():
        for match in near.finditer(text.text) if document != context.draft else ():
            sentence = find_enclosing_sentence(text.text, Span(*match.span()))
            yield match["after"] or match["before"], document, sentence


def _find_other_sides(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the sides of limbs of which the story says something particular, such as "his
    deaf right ear", of somebody with whom it is the other side.
    """
    people = context.list_own_forms()
    for match in _SIDE.finditer(context.text):
        span = Span(*match.span())
        traits = _list_traits(context.text, span)
        if not traits or not is_asserted_up_to(context.text, span):
            continue
        present = _list_people(context.text, span, people)
        places = [
            (document, place, other["side"])
            for document, text, other in _iter_sides(context, match["limb"])
            if traits & _list_traits(text, place := Span(*other.span()))
            and present & _list_people(text, place, people)
        ]
        if places and all(side != match["side"] for _, _, side in places):
            document, place, _ = places[0]
            text = context.knowledge.texts[document].text
            sentence = find_enclosing_sentence(text, place)
            yield describe_other_word(context, span, match["side"], document, sentence)


def _iter_sides(
    context: DraftContext, limb: str
) -> Iterator[tuple[DocumentId, str, re.Match[str]]]:
    """Yield the places outside the draft that give a side to the same limb, with their
    documents and texts; those of the story before it first.
    """
    before = context.texts_before
    texts = context.knowledge.texts
    for document in sorted(texts, key=lambda name: name not in before):
        text = texts[document].text
        for other in _SIDE.finditer(text) if document != context.draft else ():
            if any(limb in limbs and other["limb"] in limbs for limbs in _LIMBS):
                yield document, text, other


def _list_traits(text: str, span: Span) -> frozenset[str]:
    sentence = find_enclosing_sentence(text, span)
    words = _TRAITS.findall(text, sentence.start, sentence.end)
    return frozenset(word[:4] for word in words)


def _list_people(text: str, span: Span, people: Mapping[str, str]) -> frozenset[str]:
    """Return the people named in the paragraph at `span`, or in the one before, and in the
    title of the document.
    """
    paragraph = find_enclosing_paragraph(text, span)
    start = max(0, text.rfind("\n\n", 0, max(0, paragraph.start - 2)))
    around = text[start : paragraph.end] + text[: text.find("\n\n") + 1]
    return find_named_people(around, people)


def _is_only_in_draft(context: DraftContext, claim: BibleClaim) -> bool:
    return {e.document for e in claim.evidence} == {context.draft}


def _list_roles(
    context: DraftContext, person: CharacterProfile, trades: list[BibleClaim]
) -> list[tuple[str, TextEvidence | None]]:
    """Return the trades that story and notes give to somebody, each with its place: also
    what they are to others without kinship, and names such as "the clerk".
    """
    roles = [(claim.value, next(iter(claim.evidence), None)) for claim in trades]
    for relation in context.bible.relations:
        if relation.target == person.name and _OCCUPATION.fullmatch(relation.kind):
            evidence = next(
                (e for e in relation.evidence if e.document != context.draft), None
            )
            if evidence is not None:
                roles.append((f"{relation.kind} of {relation.source}", evidence))
    articles = (f.name for f in person.aliases if f.name.startswith("the "))
    return [*roles, *((name, person.first_seen) for name in articles)]


def _is_told_elsewhere(
    context: DraftContext, person: CharacterProfile, trade: str
) -> bool:
    """Return whether a sentence outside the draft has a name of somebody and the trade."""
    words = re.compile(rf"\b{re.escape(trade)}\b", re.IGNORECASE)
    names = compile_forms_pattern([form.name for form in person.aliases])
    for document, text in context.knowledge.texts.items():
        if document == context.draft or names is None:
            continue
        for match in words.finditer(text.text):
            sentence = find_enclosing_sentence(text.text, Span(*match.span()))
            if names.search(text.text, max(0, sentence.start - 200), sentence.end):
                return True
    return False
