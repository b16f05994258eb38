"""What a draft says of people that the story contradicts: the dead who act, other
trades, and names that nothing knows.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from lrwr.core.attribution.concrete_words import group_animals
from lrwr.core.attribution.names import find_missing_names
from lrwr.core.bible.name_lookup import list_cast_forms
from lrwr.core.bible.values import (
    BibleClaim,
    CharacterProfile,
    TextEvidence,
    format_evidence_location,
)
from lrwr.core.continuity.deaths import (
    find_death_sentences,
    find_present_acts,
    is_told_dead,
)
from lrwr.core.continuity.statements import (
    find_enclosing_paragraph,
    find_enclosing_sentence,
)
from lrwr.core.continuity.values import (
    classify_kinship,
    excludes_kinship,
    invert_kinship,
)
from lrwr.core.drafting.findings import DraftContext, DraftFinding, FindingKind
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import SURE_CERTAINTIES
from lrwr.core.model.text import WORD_PATTERN, LineRange, Span, normalize_word
from lrwr.core.nlp.facts.attribute_rules import OCCUPATIONS

MAX_ACTING_DOCUMENTS = 1
"""Documents between a death and the draft with acts of the same person; more of them
make the death doubtful."""

_NAME = re.compile(r"(?<![\w’'-])[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)+")
"""A name of several words, also of somebody whom the cast does not have."""

_LISTED = r"(?:Drowned|Dead|Killed|Died|Buried|Hanged|Murdered|Lost): [^\n:!?“”]{{0,120}}?{}\b"
_OWN_NOTE = re.compile(
    r"(?:Dead|Died|Killed|Drowned|Murdered|Hanged|Buried)\b(?! (?:tired|set|drunk))"
)


@dataclass(frozen=True, slots=True)
class DeadActor:
    """Somebody who acts at `act` of a draft, though their death is told at `death` of
    `document`.
    """

    name: str
    act: Span
    document: DocumentId
    death: Span


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """A character with the forms of the name that nobody else has.

    `notes` are sentences of the author's notes about them, each with its document and
    place. `is_present` says that they are there in a scene before the draft.
    """

    name: str
    forms: tuple[str, ...]
    notes: tuple[tuple[str, DocumentId, Span], ...] = ()
    is_present: bool = False


def find_dead_actors(
    draft: str, before: Mapping[DocumentId, str], people: Sequence[KnownPerson]
) -> Iterator[DeadActor]:
    """Yield those who act in the text `draft` though they are dead, each once.

    `before` are the documents of the story before the draft, in story order. A death
    counts if the narration tells of it, if a list names the dead, or if a note begins
    with it and they are in no scene before the draft. Names of several words need not be
    those of a character.
    """
    forms = {form for person in people for form in person.forms}
    names = {match[0] for match in _NAME.finditer(draft)} - forms
    others = [KnownPerson(name, (name,)) for name in sorted(names)]
    for person in (*people, *others):
        act = (
            next(find_present_acts(draft, person.forms), None) if person.forms else None
        )
        death = _find_death(person, before) if act is not None else None
        if act is not None and death is not None:
            yield DeadActor(person.name, act, *death)


def _find_death(
    person: KnownPerson, before: Mapping[DocumentId, str]
) -> tuple[DocumentId, Span] | None:
    documents = list(before)
    for at, document in enumerate(documents):
        span = _find_told_death(before[document], person.forms)
        if span is None:
            continue
        acting = [
            other
            for other in documents[at + 1 :]
            if next(find_present_acts(before[other], person.forms), None) is not None
        ]
        return (document, span) if len(acting) <= MAX_ACTING_DOCUMENTS else None
    if person.is_present:
        return None
    dead = (row for row in person.notes if _OWN_NOTE.match(row[0]))
    return next(((document, span) for _, document, span in dead), None)


def _find_told_death(text: str, forms: Sequence[str]) -> Span | None:
    """Return the first sentence of `text` that tells of the death of somebody."""
    for form in forms:
        listed = re.search(_LISTED.format(re.escape(form)), text)
        if listed is not None:
            return find_enclosing_sentence(text, Span(*listed.span()))
    names = "|".join(map(re.escape, forms))
    name = re.compile(rf"(?<![\w’'-])(?:{names})(?![\w-])")
    sentences = (
        sentence
        for sentence in find_death_sentences(text)
        for match in name.finditer(text, sentence.start, sentence.end)
        if is_told_dead(text, sentence, Span(*match.span()))
    )
    return next(sentences, None)


def select_own_forms(forms: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return for each person the forms of the name that can mean nobody else.

    `forms` has all of them, by person. A form that is part of another person's is left
    out, and so are those without a capital, such as "the keeper".
    """
    words = {
        person: [frozenset(form.casefold().split()) for form in own]
        for person, own in forms.items()
    }
    return {
        person: tuple(
            form
            for form in own
            if form[:1].isupper()
            and not any(
                frozenset(form.casefold().split()) <= other
                for name, others in words.items()
                if name != person
                for other in others
            )
        )
        for person, own in forms.items()
    }


MAX_NEW_NAMES = 12
"""Names that nothing knows which are listed."""

_TRADE = "occupation"
_OCCUPATION = re.compile(OCCUPATIONS)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_ARTICLES = frozenset(("the", "a", "an"))
KIN_WORDS = (
    "father", "mother", "brother", "sister", "son", "daughter", "husband", "wife", "uncle",
    "aunt", "nephew", "niece", "cousin", "grandfather", "grandmother",
)  # fmt: skip


def find_wrong_people(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the findings about people in a draft, in no order."""
    yield from _find_dead(context)
    yield from _find_other_trades(context)
    yield from _find_other_animals(context)
    yield from _find_other_kin(context)
    yield from _find_new_names(context)


def _find_dead(context: DraftContext) -> Iterator[DraftFinding]:
    before = context.texts_before
    people = [*_list_known_people(context)]
    for actor in find_dead_actors(context.text, before, people):
        text = context.knowledge.texts[actor.document].text
        death = " ".join(text[actor.death.start : actor.death.end].split()).lstrip("> ")
        yield DraftFinding(
            FindingKind.DEAD,
            f"{actor.name} acts here, but is dead by then: “{death}”",
            context.lines_of(actor.act),
            _quote_sentence(context, actor.act),
            context.locate(actor.document, actor.death),
            is_remark=actor.document not in before,
            words=actor.name,
        )


def _list_known_people(context: DraftContext) -> Iterator[KnownPerson]:
    people = [p for p in context.bible.characters if _is_known_before(context, p)]
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
            person.name, forms[person.name], notes, person.name in present
        )


def _is_known_before(context: DraftContext, person: CharacterProfile) -> bool:
    first = person.first_seen
    return first is None or first.document != context.draft


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


def _find_other_animals(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the names to which a draft gives a kind of animal where the story has them
    beside other kinds only.
    """
    groups = group_animals()
    for match in _compile_apposition("|".join(groups)).finditer(context.text):
        name, noun = match["name"] or match["after"], match["noun"] or match["before"]
        places = [*_iter_animals(context, name)]
        if places and not any(animal in groups[noun] for animal, _, _ in places):
            _, document, sentence = places[0]
            yield _describe_other(context, match, noun, document, sentence)


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


def _find_other_kin(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield the kin words such as "Ansel, her cousin" in a paragraph that names somebody
    to whom they are of another kin, and nobody to whom they are of this one.
    """
    people = [p for p in context.bible.characters if _is_known_before(context, p)]
    forms = select_own_forms({p.name: [f.name for f in p.aliases] for p in people})
    owners = {form: person for person, own in forms.items() for form in own}
    for match in _compile_apposition("|".join(KIN_WORDS)).finditer(context.text):
        name, noun = match["name"] or match["after"], match["noun"] or match["before"]
        own = owners.get(name)
        if own is None or (match["owner"] or match["whose"]).casefold() in _ARTICLES:
            continue
        near = find_enclosing_paragraph(context.text, Span(*match.span()))
        start = max(0, context.text.rfind("\n\n", 0, max(0, near.start - 2)))
        around = context.text[start : near.end]
        present = {person for form, person in owners.items() if form in around}
        kin = [*_iter_kin(context, own, present - {own})]
        if kin and all(
            excludes_kinship(kind, classify_kinship(noun)) for kind, _ in kin
        ):
            evidence = kin[0][1]
            span = Span(evidence.spans[0].start, evidence.spans[-1].end)
            yield _describe_other(context, match, noun, evidence.document, span)


def _iter_kin(
    context: DraftContext, name: str, others: Collection[str]
) -> Iterator[tuple[str, TextEvidence]]:
    """Yield what somebody is to each of `others`, as far as the story is sure of it."""
    for relation in context.bible.relations:
        evidence = next(
            (e for e in relation.evidence if e.document != context.draft), None
        )
        if evidence is None or relation.certainty not in SURE_CERTAINTIES:
            continue
        if relation.target == name and relation.source in others:
            kind = classify_kinship(relation.kind)
        elif relation.source == name and relation.target in others:
            kind = invert_kinship(relation.kind)
        else:
            continue
        if kind:
            yield kind, evidence


@cache
def _compile_apposition(nouns: str) -> re.Pattern[str]:
    owner = r"the|an?|his|her|their|my|our|your"
    return re.compile(
        rf"\b(?P<name>[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)*), (?P<owner>{owner})"
        rf" (?:[a-z]+ ){{0,2}}?(?P<noun>{nouns})(?=[,.;:!?])"
        rf"|\b(?P<whose>(?i:{owner})) (?:[a-z]+ ){{0,2}}?(?P<before>{nouns}),?"
        r" (?P<after>[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)*)"
    )


def _describe_other(
    context: DraftContext,
    match: re.Match[str],
    noun: str,
    document: DocumentId,
    other: Span,
) -> DraftFinding:
    """Return the finding that a word for somebody differs from that at `other`."""
    text = context.knowledge.texts[document].text
    quote = " ".join(_LINK.sub(r"\1", text[other.start : other.end]).split())
    span = Span(*match.span())
    return DraftFinding(
        FindingKind.DETAIL,
        f"“{noun}”, but elsewhere: “{quote}”",
        context.lines_of(span),
        _quote_sentence(context, span),
        context.locate(document, other),
        is_remark=document not in context.texts_before,
        words=noun,
    )


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
    forms = [form.name for form in person.aliases]
    for document, text in context.knowledge.texts.items():
        if document == context.draft:
            continue
        for match in words.finditer(text.text):
            sentence = find_enclosing_sentence(text.text, Span(*match.span()))
            around = text.text[max(0, sentence.start - 200) : sentence.end]
            if any(form in around for form in forms):
                return True
    return False


def _find_new_names(context: DraftContext) -> Iterator[DraftFinding]:
    """Yield one finding with the names that neither story nor notes nor plans have."""
    texts = context.knowledge.texts.items()
    others = [text.text for document, text in texts if document != context.draft]
    words = {w for text in (*others, context.plans) for w in _list_capitalized(text)}
    # "Afterwards" at the start of a sentence is no name if the story has "afterwards".
    plain = {w for text in others for w in WORD_PATTERN.findall(text) if w.islower()}
    people = tuple(p for p in context.bible.characters if _is_known_before(context, p))
    cast = list_cast_forms(replace(context.bible, characters=people))
    names = [
        name.text
        for name in find_missing_names(_HEADING.sub("", context.text), "", cast)
        if not words.issuperset(_list_capitalized(name.text))
        and name.text.lower() not in plain
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


def _list_capitalized(text: str) -> set[str]:
    """Return the words with a capital, folded, without possessive endings."""
    words = (word for word in WORD_PATTERN.findall(text) if word[0].isupper())
    return {normalize_word(re.sub(r"['’]s?$", "", word)) for word in words}


def _find_line(context: DraftContext, name: str) -> LineRange:
    at = max(0, context.text.find(name))
    return context.lines_of(Span(at, at + len(name)))


def _quote_sentence(context: DraftContext, span: Span) -> str:
    sentence = find_enclosing_sentence(context.text, span)
    return " ".join(context.text[sentence.start : sentence.end].split())
