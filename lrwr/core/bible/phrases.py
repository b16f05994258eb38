"""Words in which the bible is told, wherever it is shown."""

from collections.abc import Iterator

from lrwr.core.bible.values import (
    Bible,
    CharacterProfile,
    Claim,
    Evidence,
    Gap,
    Relation,
)

NO_READER = "not evaluated: no language model has read this manuscript."
"""What is said of everything that only a model can tell, when none has read."""


def place_of(evidence: Evidence) -> str:
    """Return `file:first-last`, as editors and writers know it."""
    first, last = evidence.lines.first, evidence.lines.last
    return f"{evidence.document}:{first}{'' if first == last else f'-{last}'}"


def name_of_chapter(evidence: Evidence) -> str:
    """Return a place in the story in words; the document's title outside of it."""
    if evidence.chapter is None:
        return f"Notes, {evidence.chapter_title}"
    title = f" “{evidence.chapter_title}”" if evidence.chapter_title else ""
    if evidence.chapter == 0:
        return f"Before chapter 1{title}"
    return f"Chapter {evidence.chapter}{title}"


def told_by_models(
    profile: CharacterProfile,
) -> Iterator[tuple[str, tuple[Claim, ...]]]:
    """Yield what only a language model tells of a character, and what to call it."""
    yield "also called", profile.also_called
    yield "trait", profile.personality_traits
    yield "values", profile.stated_values
    yield "does", profile.behavioral_patterns
    yield "speaks", profile.speech_patterns
    yield "refers to", profile.external_references


def not_evaluated(profile: CharacterProfile, bible: Bible) -> list[str]:
    """Return what nobody could tell of a character, no language model having read."""
    told = {
        "traits": profile.personality_traits,
        "values": profile.stated_values,
        "behaviour": profile.behavioral_patterns,
        "voice": profile.speech_patterns,
        "references": profile.external_references,
    }
    return (
        [] if bible.readers else [name for name, claims in told.items() if not claims]
    )


def relation_in_words(relation: Relation) -> tuple[str, str]:
    """Return who and who, and what: "Nell’s sister", "Mags"; "Nell and Mags", "ally"."""
    judged = f" ({relation.valence})" if relation.kind and relation.valence else ""
    if relation.kind:
        return f"{relation.source}’s {relation.kind}", f"{relation.target}{judged}"
    people = f"{relation.source} and {relation.target}"
    return people, relation.valence or "related"


def implied_by(gap: Gap) -> list[str]:
    """Return what the text lets one infer, unless it only says the gap again."""
    return [claim.value for claim in gap.implied if claim.value != gap.attribute]
