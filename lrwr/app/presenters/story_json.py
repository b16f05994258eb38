"""The story bible as JSON objects, as documented in docs/bible.md."""

from collections.abc import Iterable
from typing import TypeAlias

from lrwr.app.presenters.story import format_scene_point
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
    find_last_scenes,
)

JsonObject: TypeAlias = dict[str, object]


def bible_as_json(bible: Bible, as_of: str | None) -> JsonObject:
    """Return the story bible as JSON, with a list for each kind of entry.

    Characters are sorted by mentions, most first, everything else by story order.
    `read_by` names the language models that analysed the manuscript. `as_of` is the
    horizon as typed, None for the whole story.
    """
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


def character_summary_as_json(profile: CharacterProfile) -> JsonObject:
    """Return a character's names, gender, first location and mentions as JSON.

    `certainty` says how sure it is that this is a character. `first_seen` has `file`,
    `line` (from 1) and `chapter` (None in a note); it is None if there is no location.
    `mentions` is a number.
    """
    first = profile.first_seen
    return {
        "name": profile.name,
        "aliases": [form.name for form in profile.aliases],
        "gender": profile.gender,
        "certainty": profile.certainty,
        "first_seen": first
        and {
            "file": first.document,
            "line": first.lines.first,
            "chapter": first.chapter,
        },
        "mentions": profile.mentions,
    }


def characters_as_json(
    profiles: Iterable[CharacterProfile], bible: Bible
) -> list[JsonObject]:
    """Return characters as JSON; `last_scene` is None if they are in no scene."""
    last_scenes = find_last_scenes(bible)
    return [
        {
            **character_summary_as_json(profile),
            "last_scene": format_scene_point(last_scenes.get(profile.name)) or None,
        }
        for profile in profiles
    ]


def profile_as_json(profile: CharacterProfile, bible: Bible) -> JsonObject:
    """Return the profile of a character of `bible` as JSON.

    It is `character_summary_as_json` with facts (lists of `claim_as_json`),
    relationships and open gaps. `because` says why several names are one character.
    `not_evaluated` lists the empty fields that only a language model can fill, if none
    analysed the manuscript.
    """
    model_claims = {
        "personality_traits": _claims(profile.personality_traits),
        "stated_values": _claims(profile.stated_values),
        "behavioral_patterns": _claims(profile.behavioral_patterns),
        "speech_patterns": _claims(profile.speech_patterns),
        "external_references": _claims(profile.external_references),
    }
    return {
        **character_summary_as_json(profile),
        "gender_certainty": profile.gender_certainty,
        "because": profile.because,
        "narrator": profile.narrator,
        "forms": profile.aliases,
        "also_called": _claims(profile.also_called),
        "attributes": _claims(profile.attributes),
        **model_claims,
        "relationships": [
            relation_as_json(relationship) for relationship in profile.relationships
        ],
        "open_gaps": [gap_as_json(open_gap) for open_gap in profile.open_gaps],
        "not_evaluated": []
        if bible.readers
        else [field for field, claims in model_claims.items() if not claims],
    }


def element_as_json(element: WorldElement) -> JsonObject:
    """Return a world element as JSON: its name, types, descriptions, characters, number
    of mentions and the place that it is part of.

    World elements are settings, objects, rules and other named things of the story.
    Types, descriptions and characters are lists of `claim_as_json`, each with its own certainty; `certainty` is
    the highest of the element's evidence.
    """
    return {
        "name": element.name,
        "certainty": element.certainty,
        "element_types": _claims(element.element_types),
        "descriptions": _claims(element.descriptions),
        "connected_characters": _claims(element.connected_characters),
        "mentions": element.mentions,
        "part_of": element.part_of or None,
    }


def narrative_event_as_json(event: NarrativeEvent) -> JsonObject:
    """Return an event of the story as JSON: description, characters and quotation.

    `emotional_weight` maps characters to their feelings. `story_grid_tag` is the
    event's role in its scene, None if unknown. `evidence` is one `evidence_as_json`.
    """
    return {
        "description": event.description,
        "characters_involved": event.characters_involved,
        "emotional_weight": event.emotional_weight,
        "story_grid_tag": event.story_grid_tag or None,
        "evidence": evidence_as_json(event.evidence),
    }


def disclosure_as_json(disclosure: Disclosure) -> JsonObject:
    """Return what one character tells another as JSON.

    Keys are `teller`, `hearer` (None if unknown), `what`, and `evidence`, the quotation
    (see `evidence_as_json`).
    """
    return {
        "teller": disclosure.teller,
        "hearer": next(iter(disclosure.hearers), None),
        "hearers": list(disclosure.hearers),
        "what": disclosure.what,
        "evidence": evidence_as_json(disclosure.evidence),
    }


def relation_as_json(relation: CharacterRelation) -> JsonObject:
    """Return a relationship as JSON: what `source` is to `target`, both characters.

    `kind` ("sister") and `valence` ("ally") are None if unknown. `evidence` is a list
    of `evidence_as_json`.
    """
    return {
        "source": relation.source,
        "target": relation.target,
        "kind": relation.kind or None,
        "valence": relation.valence or None,
        "certainty": relation.certainty,
        "derived": relation.derived,
        "evidence": _all(relation.evidence),
    }


def moment_as_json(moment: TimelineMoment) -> JsonObject:
    """Return a timeline entry as JSON: `kind`, `text`, `characters` and `evidence`.

    `characters` are names; `evidence` is one quotation (see `evidence_as_json`). An
    event has `event_kind` (None if unknown), `told` if a character reports it and
    `earlier` if it happened before its scene; a scene `when` and `where`, None if
    unknown.
    """
    return {
        "kind": moment.kind,
        "text": moment.text,
        "characters": moment.characters,
        "event_kind": moment.event_kind or None,
        "told": moment.told,
        "earlier": moment.earlier,
        "when": moment.when or None,
        "where": moment.where or None,
        "evidence": evidence_as_json(moment.evidence),
    }


def scene_as_json(scene: SceneSummary) -> JsonObject:
    """Return a scene as JSON: location, points of view, characters present, recap.

    `lines` are first and last, from 1, inclusive; `chars` are half-open offsets in the
    document. `recap` is empty without a language model; `key_sentences` are quotations.
    """
    return {
        "file": scene.document,
        "chapter": scene.chapter,
        "chapter_title": scene.chapter_title,
        "scene": scene.scene,
        "lines": [scene.lines.first, scene.lines.last],
        "chars": [scene.span.start, scene.span.end],
        "points_of_view": _claims(scene.points_of_view),
        "present": scene.present,
        "recap": _claims(scene.recap),
        "key_sentences": _all(scene.key_sentences),
    }


def quote_as_json(quote: AttributedQuote) -> JsonObject:
    """Return a quotation of dialogue as JSON: speaker, addressee, words and location.

    `speaker` and `addressee` are None if unknown; `certainty` is that of the speaker.
    `lines` are first and last, from 1, inclusive; `chars` is a list of half-open
    `[start, end]` offsets in the document, one pair for each part of an interrupted
    quotation.
    """
    place = evidence_as_json(quote.evidence)
    return {
        "speaker": quote.speaker or None,
        "certainty": quote.evidence.certainty,
        "text": quote.evidence.text,
        "file": quote.evidence.document,
        "chars": place["chars"],
        "lines": place["lines"],
        "chapter": quote.evidence.chapter,
        "scene": quote.evidence.scene,
        "addressee": quote.addressee or None,
        "addressee_certainty": quote.addressee_certainty,
    }


def gap_as_json(gap: Gap) -> JsonObject:
    """Return an open question as JSON: what is undefined, its state and its answer.

    `about` and `answer` are None if there are none. `implied` (what the text suggests)
    and `defined` (what defines it in the text by now) are lists of `claim_as_json`.
    `asked_in_conversation` means that it was found only while answering a question.
    """
    return {
        "id": gap.id,
        "about": gap.about or None,
        "attribute": gap.attribute,
        "state": gap.state,
        "implied": _claims(gap.implied),
        "suggestions": gap.suggestions,
        "answer": gap.answer or None,
        "defined": _claims(gap.defined),
        "asked_in_conversation": gap.asked_in_thread,
    }


def claim_as_json(claim: BibleClaim) -> JsonObject:
    """Return one value of a story bible entry, with the quotations that support it.

    The key `attribute`, the value's label, is left out if the label is empty. `decided`
    is true if the user decided the value; then `evidence` is empty.
    """
    return {
        **({"attribute": claim.label} if claim.label else {}),
        "value": claim.value,
        "certainty": claim.certainty,
        "decided": claim.decided,
        "evidence": _all(claim.evidence),
    }


def evidence_as_json(evidence: TextEvidence) -> JsonObject:
    """Return a quotation as JSON: `text`, `file`, location, source and certainty.

    `lines` are first and last, from 1, inclusive. `chars` is a list of half-open
    `[start, end]` offsets in the document, one pair for each part of the quotation.
    `chapter` is 0 before chapter 1; it and `scene` are None in a note. `kept_by` is the
    source: rules, the author or a language model.
    """
    return {
        "text": evidence.text,
        "file": evidence.document,
        "lines": [evidence.lines.first, evidence.lines.last],
        "chars": [[span.start, span.end] for span in evidence.spans],
        "chapter": evidence.chapter,
        "chapter_title": evidence.chapter_title,
        "scene": evidence.scene,
        "kept_by": evidence.keeper,
        "certainty": evidence.certainty,
    }


def _claims(claims: Iterable[BibleClaim]) -> list[JsonObject]:
    return [claim_as_json(claim) for claim in claims]


def _all(words: Iterable[TextEvidence]) -> list[JsonObject]:
    return [evidence_as_json(word) for word in words]
