"""Builds character profiles and relationships from facts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from lrwr.core.bible.claims import (
    SourcedFact,
    VisibleFacts,
    merge_claims,
    normalize_attribute,
)
from lrwr.core.bible.horizon import VisibleCharacter, normalize_character_name
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
from lrwr.core.model.facts import RULES_KEEPER, Certainty, CharacterField, FactAbout

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
