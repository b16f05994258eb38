"""The world, what happens, who tells whom, scenes in short: made of claims."""

from collections.abc import Iterable, Iterator, Sequence

from lrwr.core.bible.gathering import Found, Material, claims, surest
from lrwr.core.bible.roll import name_key
from lrwr.core.bible.values import (
    Claim,
    Evidence,
    Moment,
    MomentKind,
    NarrativeEvent,
    Quote,
    SceneTold,
    Told,
    WorldElement,
)
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.facts import RULES, WRITER, About, StoryGridTag, WorldField
from lrwr.core.ports.story_store import Said


def world_of(material: Material) -> tuple[WorldElement, ...]:
    """Return the things of the world, in the order in which they come up.

    What a reader takes for a place and is a person's name is none.
    """
    groups: dict[str, list[Found]] = {}
    for found in material.about(About.WORLD):
        if found.fact.subject and material.sight.names(found.fact.subject):
            groups.setdefault(name_key(found.fact.subject), []).append(found)
    elements = (_element(group, material) for group in groups.values())
    return tuple(one for one in elements if one is not None)


def events_of(material: Material) -> tuple[NarrativeEvent, ...]:
    """Return what happens, in story order, each event once."""
    events: dict[tuple[object, ...], NarrativeEvent] = {}
    for found in material.about(About.EVENT):
        fact, roll = found.fact, material.roll
        involved = filter(None, map(roll.shown, fact.all_details("involved")))
        tag = fact.detail("story_grid_tag")
        place = (found.evidence.document, found.evidence.spans, fact.value)
        event = NarrativeEvent(
            description=fact.value or found.evidence.text,
            characters_involved=tuple(dict.fromkeys(involved)),
            emotional_weight=dict(_feelings(fact.all_details("feels"), material)),
            story_grid_tag="" if tag == StoryGridTag.NONE else tag,
            evidence=found.evidence,
        )
        events.setdefault(place, event)
    return tuple(events.values())


def told_of(material: Material) -> tuple[Told, ...]:
    """Return who tells whom what, in story order."""
    found = (
        Told(
            material.roll.shown(one.fact.subject),
            material.roll.shown(one.fact.detail("hearer")),
            one.fact.value,
            one.evidence,
        )
        for one in material.about(About.TOLD)
    )
    return tuple(told for told in found if told.teller)


def timeline_of(
    events: Sequence[NarrativeEvent],
    told: Sequence[Told],
    scenes: Sequence[SceneTold],
    material: Material,
) -> tuple[Moment, ...]:
    """Return what happens and what is told, in story order.

    A chapter of which no event is known is there with its key sentences.
    """
    moments = [
        Moment(MomentKind.EVENT, e.description, e.characters_involved, e.evidence)
        for e in events
    ]
    eventful = {(m.evidence.document, m.evidence.chapter) for m in moments}
    moments += (
        Moment(MomentKind.TOLD, t.what, tuple(filter(None, (t.teller, t.hearer))), t.evidence)
        for t in told
    )  # fmt: skip
    moments += (
        Moment(MomentKind.SENTENCE, sentence.text, scene.present, sentence)
        for scene in scenes
        if (scene.document, scene.chapter) not in eventful
        for sentence in scene.key_sentences
    )
    return tuple(sorted(moments, key=lambda m: _key(m.evidence, material)))


def quotes_of(said: Iterable[Said], material: Material) -> tuple[Quote, ...]:
    """Return what is said in sight, in story order."""
    sight = material.sight
    seen = [one for one in said if sight.sees(one.document, one.quotation.spans)]
    seen.sort(key=lambda one: sight.key(one.document, one.quotation.spans[0].start))
    return tuple(_quote(one, material) for one in seen)


def _quote(said: Said, material: Material) -> Quote:
    quotation = said.quotation
    speaker, certainty = _named(quotation.speaker, quotation.certainty, material)
    addressee, sureness = _named(
        quotation.addressee, quotation.addressee_certainty, material
    )
    words = material.sight.evidence(
        said.document, quotation.spans, RULES, certainty, joint=" "
    )
    return Quote(speaker, addressee, sureness, words)


def _named(
    name: str, certainty: Certainty, material: Material
) -> tuple[str, Certainty]:
    shown = material.roll.shown(name) if name else ""
    return shown, certainty if shown else Certainty.NOT_EVALUATED


def _element(found: Sequence[Found], material: Material) -> WorldElement | None:
    group = [one for one in found if not material.roll.misread(one.fact)]
    if len(group) < len(found) and not _claims(group, WorldField.ELEMENT_TYPE):
        return None
    written = [f for f in group if f.fact.keeper == WRITER]
    evidence = [one.evidence for one in group]
    return WorldElement(
        name=(written or group)[0].fact.subject,
        element_types=_claims(group, WorldField.ELEMENT_TYPE),
        descriptions=_claims(group, WorldField.DESCRIPTION),
        connected_characters=claims(
            ("", name, one.evidence)
            for one in group
            if one.fact.field == WorldField.CONNECTED
            and (name := material.roll.shown(one.fact.value))
        ),
        certainty=surest(evidence),
    )


def _claims(group: Sequence[Found], field: WorldField) -> tuple[Claim, ...]:
    return claims(
        ("", found.fact.value or found.evidence.text, found.evidence)
        for found in group
        if found.fact.field == field
    )


def _feelings(said: Iterable[str], material: Material) -> Iterator[tuple[str, str]]:
    for one in said:
        who, _, feeling = one.partition(":")
        shown = material.roll.shown(who.strip())
        if shown and feeling.strip():
            yield shown, feeling.strip()


def _key(evidence: Evidence, material: Material) -> tuple[int, str, int]:
    return material.sight.key(evidence.document, evidence.spans[0].start)
