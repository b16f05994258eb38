"""Builds character profiles and relationships from facts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from lrwr.core.bible.horizon import (
    HorizonCast,
    HorizonView,
    VisibleCharacter,
    normalize_character_name,
)
from lrwr.core.bible.values import (
    AliasForm,
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Gap,
    GapState,
    TextEvidence,
)
from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.facts import (
    DIRECTED_DETAIL,
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    CharacterField,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import normalize_words, stem_lightly
from lrwr.core.ports.story_stores import DocumentFact

_ARTICLES = frozenset({"a", "an", "the"})
_GENERIC = frozenset({"colour", "color", "exact", "full", "current", "present"})
"""Words that do not identify an attribute: "eye colour" is "eye"."""

_NAMING = frozenset({"target", "hearer", "involved", "pov", WorldField.CONNECTED.value})
"""Fields and details whose value is a character's name."""


@dataclass(frozen=True, slots=True)
class SourcedFact:
    """A fact that is visible at the horizon, and the quotation that supports it."""

    fact: Fact
    evidence: TextEvidence


@dataclass(frozen=True, slots=True)
class VisibleFacts:
    """The facts that are visible at the horizon (`found`), in story order, notes first.

    `cast` has the visible characters, `view` the visible text.
    """

    found: tuple[SourcedFact, ...]
    cast: HorizonCast
    view: HorizonView

    def about(self, about: FactAbout) -> list[SourcedFact]:
        """Return the facts about one kind of subject, such as characters, in story
        order.
        """
        return [
            sourced_fact
            for sourced_fact in self.found
            if sourced_fact.fact.about is about
        ]


def collect_visible_facts(
    document_facts: Iterable[DocumentFact],
    horizon_cast: HorizonCast,
    horizon_view: HorizonView,
) -> VisibleFacts:
    """Return those of `document_facts` whose evidence and wording are visible at the
    horizon, in story order, notes first.

    A fact whose wording has a name revealed after the horizon is left out, because a
    model that has read the whole story may use it; a detail with such a name is
    removed. A relationship that a model may have given reversed is left out until its
    document is read again.
    """
    visible_facts = [
        document_fact
        for document_fact in document_facts
        if horizon_view.is_fact_visible(document_fact)
        and not _may_be_reversed(document_fact.fact)
    ]
    visible_facts.sort(
        key=lambda document_fact: horizon_view.sort_key(
            document_fact.document, document_fact.fact.spans[0].start
        )
    )
    sourced_facts = (
        SourcedFact(
            _without_hidden_details(document_fact.fact, horizon_cast)
            if horizon_view.bounded
            else document_fact.fact,
            horizon_view.evidence(
                document_fact.document,
                document_fact.fact.spans,
                document_fact.fact.keeper,
                document_fact.fact.certainty,
            ),
        )
        for document_fact in visible_facts
        if document_fact.fact.field in _NAMING
        or not (
            horizon_cast.reveals_hidden_name(document_fact.fact.value)
            or horizon_cast.reveals_hidden_name(document_fact.fact.field)
        )
    )
    return VisibleFacts(tuple(sourced_facts), horizon_cast, horizon_view)


def _may_be_reversed(fact: Fact) -> bool:
    """Return whether a fact is a relationship from a model that was not asked who is
    what of whom.
    """
    return (
        fact.field == CharacterField.RELATIONSHIP
        and fact.keeper not in (RULES_KEEPER, WRITER_KEEPER)
        and bool(fact.detail("kind"))
        and DIRECTED_DETAIL not in fact.details
    )


def _without_hidden_details(fact: Fact, horizon_cast: HorizonCast) -> Fact:
    details = tuple(_visible_details(fact.details, horizon_cast))
    return fact if details == fact.details else replace(fact, details=details)


def _visible_details(
    details: Iterable[tuple[str, str]], horizon_cast: HorizonCast
) -> Iterator[tuple[str, str]]:
    """Yield the details without hidden names; details that are names are resolved
    later.
    """
    for name, text in details:
        words = text.partition(":")[2] if name == "feels" else text
        if name in _NAMING or not horizon_cast.reveals_hidden_name(words):
            yield name, text


def merge_claims(
    rows: Iterable[tuple[str, str, TextEvidence]],
) -> tuple[BibleClaim, ...]:
    """Merge rows of (label, value, evidence) with equal label and value into claims.

    To compare them, case, articles and punctuation are ignored. `rows` must be in story
    order. The claims are in the order of their first rows, but those that the author's
    notes state come first. A claim has the wording of the first row from a note, else
    of its first row, and the highest certainty of its evidence.
    """
    groups: dict[tuple[str, str], list[tuple[str, str, TextEvidence]]] = {}
    for label, value, evidence in rows:
        key = (normalize_attribute(label), normalize_value(value))
        groups.setdefault(key, []).append((label, value, evidence))
    claims = [_build_claim(group) for group in groups.values()]
    return tuple(sorted(claims, key=lambda claim: not claim.writers))


def _build_claim(group: Sequence[tuple[str, str, TextEvidence]]) -> BibleClaim:
    label, value, _ = min(group, key=lambda row: row[2].keeper != WRITER_KEEPER)
    evidence = deduplicate_evidence(text_evidence for _, _, text_evidence in group)
    return BibleClaim(value, evidence, find_highest_certainty(evidence), label)


def deduplicate_evidence(evidence: Iterable[TextEvidence]) -> tuple[TextEvidence, ...]:
    """Return one piece of evidence for each location (document and spans): the one with
    the highest certainty, or the first of those.

    The order of first occurrence is preserved.
    """
    evidence_by_place: dict[object, TextEvidence] = {}
    for text_evidence in evidence:
        place = (text_evidence.document, text_evidence.spans)
        if place not in evidence_by_place or _rank(text_evidence.certainty) < _rank(
            evidence_by_place[place].certainty
        ):
            evidence_by_place[place] = text_evidence
    return tuple(evidence_by_place.values())


def find_highest_certainty(evidence: Iterable[TextEvidence]) -> Certainty:
    """Return the highest certainty of `evidence`; "not evaluated" if it is empty."""
    ranked = sorted((text_evidence.certainty for text_evidence in evidence), key=_rank)
    return ranked[0] if ranked else Certainty.NOT_EVALUATED


def normalize_value(text: str) -> str:
    """Return the words of `text` in lower case, joined by spaces, without punctuation,
    articles and possessive endings, to compare values.

    If nothing is left, the whole text in lower case.
    """
    words = normalize_words(text)
    return " ".join(word for word in words if word not in _ARTICLES) or text.casefold()


def normalize_attribute(text: str) -> str:
    """Return a form of an attribute's name for comparison: its stems without words such
    as "colour", so that "Eyes" and "eye colour" are equal.
    """
    words = normalize_value(text.replace("_", " ")).split()
    specific_words = [stem_lightly(word) for word in words if word not in _GENERIC]
    return " ".join(specific_words or words)


@cache
def _rank(certainty: Certainty) -> int:
    return list(Certainty).index(certainty)


_FEMALE = "mrs miss ms lady madame mademoiselle aunt queen princess mother sister"
_MALE = "mr sir lord monsieur uncle king prince father brother"
_TITLES: Mapping[str, Gender] = dict(
    [(word, Gender.FEMALE) for word in _FEMALE.split()]
    + [(word, Gender.MALE) for word in _MALE.split()]
)


def build_character_profiles(
    material: VisibleFacts,
    relations: Sequence[CharacterRelation],
    gaps: Sequence[Gap],
    names: Collection[str] | None = None,
) -> tuple[CharacterProfile, ...]:
    """Return a profile of each visible character, or of those whose displayed name is
    in `names`, most mentioned first.

    A profile includes those of `relations` with the character as the source, and those
    of `gaps` about the character.
    """
    facts_by_person: dict[str, list[SourcedFact]] = {}
    for sourced_fact in material.about(FactAbout.CHARACTER):
        person = material.cast.resolve_name(sourced_fact.fact.subject)
        if person:
            facts_by_person.setdefault(person, []).append(sourced_fact)
    return tuple(
        _build_profile(
            visible_character, facts_by_person.get(name, []), relations, gaps, material
        )
        for name, visible_character in material.cast.visible.items()
        if names is None or visible_character.character.name in names
    )


def build_name_profile(
    visible_character: VisibleCharacter,
    also_called: tuple[BibleClaim, ...] = (),
    *,
    bounded: bool,
) -> CharacterProfile:
    """Return the profile of a character with names, gender and certainty only.

    `bounded` means that there is a horizon, so that only visible titles tell the gender.
    """
    character = visible_character.character
    gender, certainty = character.gender, character.gender_certainty
    if bounded:
        gender, certainty = _visible_gender(character.name, visible_character)
    return CharacterProfile(
        name=character.name,
        aliases=tuple(
            AliasForm(alias.name, alias.mentions, alias.certainty)
            for alias in character.aliases
        ),
        gender=gender,
        gender_certainty=certainty,
        certainty=character.certainty,
        because="" if bounded else character.because,
        narrator=character.narrator,
        also_called=also_called,
    )


def _build_profile(
    visible_character: VisibleCharacter,
    sourced_facts: Sequence[SourcedFact],
    relations: Sequence[CharacterRelation],
    gaps: Sequence[Gap],
    material: VisibleFacts,
) -> CharacterProfile:
    character, horizon_view = visible_character.character, material.view
    first = None
    if visible_character.first is not None:
        place = (visible_character.first.document, (visible_character.first.span,))
        first = horizon_view.evidence(*place, RULES_KEEPER, character.certainty)
    own_gaps = [gap for gap in gaps if gap.about == character.name]
    profile = replace(
        build_name_profile(visible_character, bounded=horizon_view.bounded),
        first_seen=first,
        relationships=tuple(r for r in relations if r.source == character.name),
        open_gaps=tuple(
            gap
            for gap in own_gaps
            if gap.state is GapState.OPEN and not gap.asked_in_thread
        ),
    )
    return _with_claims(profile, sourced_facts, own_gaps)


def _with_claims(
    profile: CharacterProfile, sourced_facts: Sequence[SourcedFact], gaps: Sequence[Gap]
) -> CharacterProfile:
    answers = tuple(
        BibleClaim(gap.answer, (), Certainty.CONFIRMED, gap.attribute, decided=True)
        for gap in gaps
        if gap.answer
    )
    return replace(
        profile,
        also_called=_other_names(profile, sourced_facts),
        attributes=_group_by_label(
            answers + merge_claims(_claim_rows(sourced_facts, CharacterField.ATTRIBUTE))
        ),
        personality_traits=merge_claims(
            _claim_rows(sourced_facts, CharacterField.TRAIT)
        ),
        stated_values=merge_claims(
            _claim_rows(sourced_facts, CharacterField.STATED_VALUE)
        ),
        behavioral_patterns=merge_claims(
            _claim_rows(sourced_facts, CharacterField.BEHAVIOR)
        ),
        speech_patterns=merge_claims(
            _claim_rows(sourced_facts, CharacterField.SPEECH_PATTERN)
        ),
        external_references=merge_claims(
            _claim_rows(sourced_facts, CharacterField.EXTERNAL_REFERENCE)
        ),
    )


def _other_names(
    profile: CharacterProfile, sourced_facts: Sequence[SourcedFact]
) -> tuple[BibleClaim, ...]:
    alias_names = {normalize_character_name(form.name) for form in profile.aliases}
    claims = merge_claims(_claim_rows(sourced_facts, CharacterField.ALIAS))
    return tuple(
        claim
        for claim in claims
        if normalize_character_name(claim.value) not in alias_names
    )


def _group_by_label(bible_claims: Sequence[BibleClaim]) -> tuple[BibleClaim, ...]:
    """Group claims by attribute, in order of first occurrence."""
    labels = list(
        dict.fromkeys(normalize_attribute(claim.label) for claim in bible_claims)
    )
    return tuple(
        sorted(bible_claims, key=lambda c: labels.index(normalize_attribute(c.label)))
    )


def _claim_rows(
    sourced_facts: Sequence[SourcedFact], field: CharacterField
) -> Iterable[tuple[str, str, TextEvidence]]:
    for sourced_fact in sourced_facts:
        if sourced_fact.fact.field == field:
            yield (
                sourced_fact.fact.detail("attribute"),
                sourced_fact.fact.value,
                sourced_fact.evidence,
            )


def _visible_gender(
    name: str, visible_character: VisibleCharacter
) -> tuple[Gender, Certainty]:
    """Return the gender according to the visible titles.

    The cast's gender uses the whole text, which may reveal more than is visible.
    """
    forms = (name, *(alias.name for alias in visible_character.character.aliases))
    genders = {
        _TITLES[word]
        for form in forms
        if (word := form.split()[0].rstrip(".").casefold()) in _TITLES
    }
    if len(genders) == 1:
        return genders.pop(), Certainty.VERIFIED
    return Gender.UNKNOWN, Certainty.NOT_EVALUATED


def extract_visible_cast(bible: Bible) -> Cast:
    """Return the characters of `bible` as a cast, with the aliases visible at its
    horizon.

    A cast that `bible` carries is returned as it is, so that it is indexed only once.
    """
    return bible.visible_cast or build_visible_cast(bible.characters)


def build_visible_cast(profiles: Iterable[CharacterProfile]) -> Cast:
    """Return the characters of `profiles` as a cast, with the aliases in them."""
    return Cast(
        tuple(
            Character(
                name=profile.name,
                aliases=tuple(
                    Alias(form.name, form.mentions, form.certainty)
                    for form in profile.aliases
                ),
                gender=profile.gender,
                gender_certainty=profile.gender_certainty,
                certainty=profile.certainty,
            )
            for profile in profiles
        )
    )
