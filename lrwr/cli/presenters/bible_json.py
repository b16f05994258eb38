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
        "characters": [
            profile_as_json(character, bible) for character in bible.characters
        ],
        "world": [element_as_json(entry) for entry in bible.world],
        "events": [narrative_event_as_json(event) for event in bible.events],
        "told": [disclosure_as_json(entry) for entry in bible.told],
        "relations": [relation_as_json(relation) for relation in bible.relations],
        "timeline": [moment_as_json(entry) for entry in bible.timeline],
        "scenes": [scene_as_json(scene) for scene in bible.scenes],
        "quotes": [quote_as_json(quote) for quote in bible.quotes],
        "gaps": [gap_as_json(gap) for gap in bible.gaps],
    }


def character_summary_as_json(character_profile: CharacterProfile) -> JsonObject:
    """Return a character in short."""
    first_place = character_profile.first_seen
    return {
        "name": character_profile.name,
        "aliases": [form.name for form in character_profile.aliases],
        "gender": character_profile.gender,
        "certainty": character_profile.certainty,
        "first_seen": first_place
        and {
            "file": first_place.document,
            "line": first_place.lines.first,
            "chapter": first_place.chapter,
        },
        "mentions": character_profile.mentions,
    }


def profile_as_json(character_profile: CharacterProfile, bible: Bible) -> JsonObject:
    """Return all that is known of a character."""
    model_claims = {
        "personality_traits": _claims(character_profile.personality_traits),
        "stated_values": _claims(character_profile.stated_values),
        "behavioral_patterns": _claims(character_profile.behavioral_patterns),
        "speech_patterns": _claims(character_profile.speech_patterns),
        "external_references": _claims(character_profile.external_references),
    }
    return {
        **character_summary_as_json(character_profile),
        "gender_certainty": character_profile.gender_certainty,
        "because": character_profile.because,
        "narrator": character_profile.narrator,
        "forms": character_profile.aliases,
        "also_called": _claims(character_profile.also_called),
        "attributes": _claims(character_profile.attributes),
        **model_claims,
        "relationships": [
            relation_as_json(relationship)
            for relationship in character_profile.relationships
        ],
        "open_gaps": [
            gap_as_json(open_gap) for open_gap in character_profile.open_gaps
        ],
        "not_evaluated": []
        if bible.readers
        else [field for field, claims in model_claims.items() if not claims],
    }


def element_as_json(world_element: WorldElement) -> JsonObject:
    """Return a thing of the world."""
    return {
        "name": world_element.name,
        "certainty": world_element.certainty,
        "element_types": _claims(world_element.element_types),
        "descriptions": _claims(world_element.descriptions),
        "connected_characters": _claims(world_element.connected_characters),
    }


def narrative_event_as_json(narrative_event: NarrativeEvent) -> JsonObject:
    """Return something that happens."""
    return {
        "description": narrative_event.description,
        "characters_involved": narrative_event.characters_involved,
        "emotional_weight": narrative_event.emotional_weight,
        "story_grid_tag": narrative_event.story_grid_tag or None,
        "evidence": evidence_as_json(narrative_event.evidence),
    }


def disclosure_as_json(disclosure: Disclosure) -> JsonObject:
    """Return who tells whom what."""
    return {
        "teller": disclosure.teller,
        "hearer": disclosure.hearer or None,
        "what": disclosure.what,
        "evidence": evidence_as_json(disclosure.evidence),
    }


def relation_as_json(character_relation: CharacterRelation) -> JsonObject:
    """Return how one character stands to another."""
    return {
        "source": character_relation.source,
        "target": character_relation.target,
        "kind": character_relation.kind or None,
        "valence": character_relation.valence or None,
        "certainty": character_relation.certainty,
        "evidence": _all(character_relation.evidence),
    }


def moment_as_json(timeline_moment: TimelineMoment) -> JsonObject:
    """Return a line of the timeline."""
    return {
        "kind": timeline_moment.kind,
        "text": timeline_moment.text,
        "characters": timeline_moment.characters,
        "evidence": evidence_as_json(timeline_moment.evidence),
    }


def scene_as_json(scene_summary: SceneSummary) -> JsonObject:
    """Return a scene in short."""
    return {
        "file": scene_summary.document,
        "chapter": scene_summary.chapter,
        "chapter_title": scene_summary.chapter_title,
        "scene": scene_summary.scene,
        "lines": [scene_summary.lines.first, scene_summary.lines.last],
        "chars": [scene_summary.span.start, scene_summary.span.end],
        "points_of_view": _claims(scene_summary.points_of_view),
        "present": scene_summary.present,
        "recap": _claims(scene_summary.recap),
        "key_sentences": _all(scene_summary.key_sentences),
    }


def quote_as_json(attributed_quote: AttributedQuote) -> JsonObject:
    """Return what somebody says."""
    place = evidence_as_json(attributed_quote.evidence)
    return {
        "speaker": attributed_quote.speaker or None,
        "certainty": attributed_quote.evidence.certainty,
        "text": attributed_quote.evidence.text,
        "file": attributed_quote.evidence.document,
        "chars": place["chars"],
        "lines": place["lines"],
        "chapter": attributed_quote.evidence.chapter,
        "scene": attributed_quote.evidence.scene,
        "addressee": attributed_quote.addressee or None,
        "addressee_certainty": attributed_quote.addressee_certainty,
    }


def gap_as_json(gap: Gap) -> JsonObject:
    """Return what the text leaves open."""
    return {
        "id": gap.id,
        "about": gap.about or None,
        "attribute": gap.attribute,
        "state": gap.state,
        "implied": _claims(gap.implied),
        "suggestions": gap.suggestions,
        "answer": gap.answer or None,
        "defined": _claims(gap.defined),
        "asked_in_conversation": gap.wondered,
    }


def claim_as_json(bible_claim: BibleClaim) -> JsonObject:
    """Return what is said, with its words; `attribute` only where there is one."""
    return {
        **({"attribute": bible_claim.label} if bible_claim.label else {}),
        "value": bible_claim.value,
        "certainty": bible_claim.certainty,
        "decided": bible_claim.decided,
        "evidence": _all(bible_claim.evidence),
    }


def evidence_as_json(text_evidence: TextEvidence) -> JsonObject:
    """Return words and their place; `chars` are pairs, ends not included."""
    return {
        "text": text_evidence.text,
        "file": text_evidence.document,
        "lines": [text_evidence.lines.first, text_evidence.lines.last],
        "chars": [[span.start, span.end] for span in text_evidence.spans],
        "chapter": text_evidence.chapter,
        "chapter_title": text_evidence.chapter_title,
        "scene": text_evidence.scene,
        "kept_by": text_evidence.keeper,
        "certainty": text_evidence.certainty,
    }


def _claims(claims: Iterable[BibleClaim]) -> list[JsonObject]:
    return [claim_as_json(claim) for claim in claims]


def _all(words: Iterable[TextEvidence]) -> list[JsonObject]:
    return [evidence_as_json(word) for word in words]
