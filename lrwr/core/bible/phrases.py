"""Words in which the bible is told, wherever it is shown."""

from collections.abc import Iterator

from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Gap,
    TextEvidence,
)

NO_READER = "not evaluated: no language model has read this manuscript."
"""What is said of everything that only a model can tell, when none has read."""


def format_evidence_location(evidence: TextEvidence) -> str:
    """Return `file:first-last`, as editors and writers know it."""
    first, last = evidence.lines.first, evidence.lines.last
    return f"{evidence.document}:{first}{'' if first == last else f'-{last}'}"


def format_chapter_name(evidence: TextEvidence) -> str:
    """Return a place in the story in words; the document's title outside of it."""
    if evidence.chapter is None:
        return f"Notes, {evidence.chapter_title}"
    title = f" “{evidence.chapter_title}”" if evidence.chapter_title else ""
    if evidence.chapter == 0:
        return f"Before chapter 1{title}"
    return f"Chapter {evidence.chapter}{title}"


def list_model_claims(
    profile: CharacterProfile,
) -> Iterator[tuple[str, tuple[BibleClaim, ...]]]:
    """Yield what only a language model tells of a character, and what to call it."""
    yield "also called", profile.also_called
    yield "trait", profile.personality_traits
    yield "values", profile.stated_values
    yield "does", profile.behavioral_patterns
    yield "speaks", profile.speech_patterns
    yield "refers to", profile.external_references


def list_unevaluated_fields(profile: CharacterProfile, bible: Bible) -> list[str]:
    """Return the empty fields of a character if no language model has read the text."""
    claims_by_field = {
        "traits": profile.personality_traits,
        "values": profile.stated_values,
        "behaviour": profile.behavioral_patterns,
        "voice": profile.speech_patterns,
        "references": profile.external_references,
    }
    return (
        []
        if bible.readers
        else [name for name, claims in claims_by_field.items() if not claims]
    )


def format_relation(relation: CharacterRelation) -> tuple[str, str]:
    """Return who and who, and what: "Nell’s sister", "Mags"; "Nell and Mags", "ally"."""
    valence_note = (
        f" ({relation.valence})" if relation.kind and relation.valence else ""
    )
    if relation.kind:
        return (
            f"{relation.source}’s {relation.kind}",
            f"{relation.target}{valence_note}",
        )
    people = f"{relation.source} and {relation.target}"
    return people, relation.valence or "related"


def list_gap_implications(gap: Gap) -> list[str]:
    """Return what the text lets one infer, unless it only says the gap again."""
    return [claim.value for claim in gap.implied if claim.value != gap.attribute]
