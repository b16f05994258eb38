"""The story bible for a script: see docs/bible.md."""

from collections.abc import Iterable
from typing import TypeAlias

from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
    Claim,
    Evidence,
    Gap,
    Moment,
    NarrativeEvent,
    Quote,
    Relation,
    SceneTold,
    Told,
    WorldElement,
)

Plain: TypeAlias = dict[str, object]


def whole(bible: Bible, as_of: str | None) -> Plain:
    """Return all of it."""
    return {
        "as_of": as_of,
        "read_by": bible.readers,
        "characters": [profile(one, bible) for one in bible.characters],
        "world": [element(one) for one in bible.world],
        "events": [event(one) for one in bible.events],
        "told": [told(one) for one in bible.told],
        "relations": [relation(one) for one in bible.relations],
        "timeline": [moment(one) for one in bible.timeline],
        "scenes": [scene(one) for one in bible.scenes],
        "quotes": [quote(one) for one in bible.quotes],
        "gaps": [gap(one) for one in bible.gaps],
    }


def in_the_list(one: CharacterProfile) -> Plain:
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


def profile(one: CharacterProfile, bible: Bible) -> Plain:
    """Return all that is known of a character."""
    told = {
        "personality_traits": _claims(one.personality_traits),
        "stated_values": _claims(one.stated_values),
        "behavioral_patterns": _claims(one.behavioral_patterns),
        "speech_patterns": _claims(one.speech_patterns),
        "external_references": _claims(one.external_references),
    }
    return {
        **in_the_list(one),
        "gender_certainty": one.gender_certainty,
        "because": one.because,
        "narrator": one.narrator,
        "forms": one.aliases,
        "also_called": _claims(one.also_called),
        "attributes": _claims(one.attributes),
        **told,
        "relationships": [relation(each) for each in one.relationships],
        "open_gaps": [gap(each) for each in one.open_gaps],
        "not_evaluated": []
        if bible.readers
        else [field for field, found in told.items() if not found],
    }


def element(one: WorldElement) -> Plain:
    """Return a thing of the world."""
    return {
        "name": one.name,
        "certainty": one.certainty,
        "element_types": _claims(one.element_types),
        "descriptions": _claims(one.descriptions),
        "connected_characters": _claims(one.connected_characters),
    }


def event(one: NarrativeEvent) -> Plain:
    """Return something that happens."""
    return {
        "description": one.description,
        "characters_involved": one.characters_involved,
        "emotional_weight": one.emotional_weight,
        "story_grid_tag": one.story_grid_tag or None,
        "evidence": evidence(one.evidence),
    }


def told(one: Told) -> Plain:
    """Return who tells whom what."""
    return {
        "teller": one.teller,
        "hearer": one.hearer or None,
        "what": one.what,
        "evidence": evidence(one.evidence),
    }


def relation(one: Relation) -> Plain:
    """Return how one character stands to another."""
    return {
        "source": one.source,
        "target": one.target,
        "kind": one.kind or None,
        "valence": one.valence or None,
        "certainty": one.certainty,
        "evidence": _all(one.evidence),
    }


def moment(one: Moment) -> Plain:
    """Return a line of the timeline."""
    return {
        "kind": one.kind,
        "text": one.text,
        "characters": one.characters,
        "evidence": evidence(one.evidence),
    }


def scene(one: SceneTold) -> Plain:
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


def quote(one: Quote) -> Plain:
    """Return what somebody says."""
    place = evidence(one.evidence)
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


def gap(one: Gap) -> Plain:
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


def claim(one: Claim) -> Plain:
    """Return what is said, with its words; `attribute` only where there is one."""
    return {
        **({"attribute": one.label} if one.label else {}),
        "value": one.value,
        "certainty": one.certainty,
        "decided": one.decided,
        "evidence": _all(one.evidence),
    }


def evidence(one: Evidence) -> Plain:
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


def _claims(claims: Iterable[Claim]) -> list[Plain]:
    return [claim(one) for one in claims]


def _all(words: Iterable[Evidence]) -> list[Plain]:
    return [evidence(one) for one in words]
