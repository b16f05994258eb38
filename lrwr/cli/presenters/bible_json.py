"""The story bible for a script: see docs/bible.md."""

from collections.abc import Iterable
from typing import TypeAlias

from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Disclosure,
    Gap,
    NarrativeEvent,
    SceneSummary,
    TextEvidence,
    TimelineMoment,
    WorldElement,
)

JsonObject: TypeAlias = dict[str, object]


def bible_as_json(bible: Bible, as_of: str | None) -> JsonObject:
    """Return all of it."""
    return {
        "as_of": as_of,
        "read_by": bible.readers,
        "characters": [profile_as_json(one, bible) for one in bible.characters],
        "world": [element_as_json(one) for one in bible.world],
        "events": [narrative_event_as_json(one) for one in bible.events],
        "told": [disclosure_as_json(one) for one in bible.told],
        "relations": [relation_as_json(one) for one in bible.relations],
        "timeline": [moment_as_json(one) for one in bible.timeline],
        "scenes": [scene_as_json(one) for one in bible.scenes],
        "quotes": [quote_as_json(one) for one in bible.quotes],
        "gaps": [gap_as_json(one) for one in bible.gaps],
    }


def character_summary_as_json(one: CharacterProfile) -> JsonObject:
    """Return a character in short."""
    first = one.first_seen
    return {
        "name": one.name,
        "aliases": [form.name for form in one.aliases],
        "gender": one.gender,
        "certainty": one.certainty,
        "first_seen": first
        and {
            "file": first.document,
            "line": first.lines.first,
            "chapter": first.chapter,
        },
        "mentions": one.mentions,
    }


def profile_as_json(one: CharacterProfile, bible: Bible) -> JsonObject:
    """Return all that is known of a character."""
    told = {
        "personality_traits": _claims(one.personality_traits),
        "stated_values": _claims(one.stated_values),
        "behavioral_patterns": _claims(one.behavioral_patterns),
        "speech_patterns": _claims(one.speech_patterns),
        "external_references": _claims(one.external_references),
    }
    return {
        **character_summary_as_json(one),
        "gender_certainty": one.gender_certainty,
        "because": one.because,
        "narrator": one.narrator,
        "forms": one.aliases,
        "also_called": _claims(one.also_called),
        "attributes": _claims(one.attributes),
        **told,
        "relationships": [relation_as_json(each) for each in one.relationships],
        "open_gaps": [gap_as_json(each) for each in one.open_gaps],
        "not_evaluated": []
        if bible.readers
        else [field for field, found in told.items() if not found],
    }


def element_as_json(one: WorldElement) -> JsonObject:
    """Return a thing of the world."""
    return {
        "name": one.name,
        "certainty": one.certainty,
        "element_types": _claims(one.element_types),
        "descriptions": _claims(one.descriptions),
        "connected_characters": _claims(one.connected_characters),
    }


def narrative_event_as_json(one: NarrativeEvent) -> JsonObject:
    """Return something that happens."""
    return {
        "description": one.description,
        "characters_involved": one.characters_involved,
        "emotional_weight": one.emotional_weight,
        "story_grid_tag": one.story_grid_tag or None,
        "evidence": evidence_as_json(one.evidence),
    }


def disclosure_as_json(one: Disclosure) -> JsonObject:
    """Return who tells whom what."""
    return {
        "teller": one.teller,
        "hearer": one.hearer or None,
        "what": one.what,
        "evidence": evidence_as_json(one.evidence),
    }


def relation_as_json(one: CharacterRelation) -> JsonObject:
    """Return how one character stands to another."""
    return {
        "source": one.source,
        "target": one.target,
        "kind": one.kind or None,
        "valence": one.valence or None,
        "certainty": one.certainty,
        "evidence": _all(one.evidence),
    }


def moment_as_json(one: TimelineMoment) -> JsonObject:
    """Return a line of the timeline."""
    return {
        "kind": one.kind,
        "text": one.text,
        "characters": one.characters,
        "evidence": evidence_as_json(one.evidence),
    }


def scene_as_json(one: SceneSummary) -> JsonObject:
    """Return a scene in short."""
    return {
        "file": one.document,
        "chapter": one.chapter,
        "chapter_title": one.chapter_title,
        "scene": one.scene,
        "lines": [one.lines.first, one.lines.last],
        "chars": [one.span.start, one.span.end],
        "points_of_view": _claims(one.points_of_view),
        "present": one.present,
        "recap": _claims(one.recap),
        "key_sentences": _all(one.key_sentences),
    }


def quote_as_json(one: AttributedQuote) -> JsonObject:
    """Return what somebody says."""
    place = evidence_as_json(one.evidence)
    return {
        "speaker": one.speaker or None,
        "certainty": one.evidence.certainty,
        "text": one.evidence.text,
        "file": one.evidence.document,
        "chars": place["chars"],
        "lines": place["lines"],
        "chapter": one.evidence.chapter,
        "scene": one.evidence.scene,
        "addressee": one.addressee or None,
        "addressee_certainty": one.addressee_certainty,
    }


def gap_as_json(one: Gap) -> JsonObject:
    """Return what the text leaves open."""
    return {
        "id": one.id,
        "about": one.about or None,
        "attribute": one.attribute,
        "state": one.state,
        "implied": _claims(one.implied),
        "suggestions": one.suggestions,
        "answer": one.answer or None,
        "defined": _claims(one.defined),
        "asked_in_conversation": one.wondered,
    }


def claim_as_json(one: BibleClaim) -> JsonObject:
    """Return what is said, with its words; `attribute` only where there is one."""
    return {
        **({"attribute": one.label} if one.label else {}),
        "value": one.value,
        "certainty": one.certainty,
        "decided": one.decided,
        "evidence": _all(one.evidence),
    }


def evidence_as_json(one: TextEvidence) -> JsonObject:
    """Return words and their place; `chars` are pairs, ends not included."""
    return {
        "text": one.text,
        "file": one.document,
        "lines": [one.lines.first, one.lines.last],
        "chars": [[span.start, span.end] for span in one.spans],
        "chapter": one.chapter,
        "chapter_title": one.chapter_title,
        "scene": one.scene,
        "kept_by": one.keeper,
        "certainty": one.certainty,
    }


def _claims(claims: Iterable[BibleClaim]) -> list[JsonObject]:
    return [claim_as_json(one) for one in claims]


def _all(words: Iterable[TextEvidence]) -> list[JsonObject]:
    return [evidence_as_json(one) for one in words]
