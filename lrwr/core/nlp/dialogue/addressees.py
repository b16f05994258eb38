"""To whom a quotation is said."""

from collections.abc import Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import Gender
from lrwr.core.model.certainty import Certainty
from lrwr.core.nlp.dialogue.speaker_scores import (
    UNKNOWN_SPEAKER_PREFIX,
    SpeakerCues,
    SpeakerScorer,
)
from lrwr.core.nlp.dialogue.subjects import PersonMentionKind

_NEAR = 3
_FAR_GAP = 2


@dataclass(frozen=True, slots=True)
class Addressee:
    """Who is spoken to, "" when nobody can tell."""

    name: str = ""
    certainty: Certainty = Certainty.NOT_EVALUATED


def find_addressees(
    readings: Sequence[SpeakerCues], speakers: Sequence[str], casting: SpeakerScorer
) -> list[Addressee]:
    """Return the listener of each turn: named in the tag, called, or the other one."""
    return [
        _told_so(readings[number], speakers[number])
        or _called(readings[number], speakers[number])
        or _other(readings, speakers, number, casting)
        for number in range(len(readings))
    ]


def _told_so(reading: SpeakerCues, speaker: str) -> Addressee | None:
    for tag in reading.tags:
        person = tag.addressee
        if person and person.kind is PersonMentionKind.NAMED and person.name != speaker:
            return Addressee(person.name, Certainty.VERIFIED)
    return None


def _called(reading: SpeakerCues, speaker: str) -> Addressee | None:
    for name in reading.address.called:
        if name != speaker:
            return Addressee(name, Certainty.VERIFIED)
    return None


def _other(
    readings: Sequence[SpeakerCues],
    speakers: Sequence[str],
    number: int,
    casting: SpeakerScorer,
) -> Addressee:
    """Return who spoke last, or speaks next, in the same conversation."""
    own, gender = speakers[number], readings[number].address.gender
    for name in _around(readings, speakers, number):
        fits = gender in {Gender.UNKNOWN, casting.gender(name)}
        if name != own and not name.startswith(UNKNOWN_SPEAKER_PREFIX) and fits:
            return Addressee(name, Certainty.PROBABLE)
    return Addressee()


def _around(
    readings: Sequence[SpeakerCues], speakers: Sequence[str], number: int
) -> list[str]:
    scene = readings[number].turn.scene
    before, after = [], []
    gap = readings[number].turn.gap
    for other in range(number - 1, max(-1, number - _NEAR - 1), -1):
        if readings[other].turn.scene != scene or gap > _FAR_GAP:
            break
        before.append(speakers[other])
        gap = readings[other].turn.gap
    for other in range(number + 1, min(len(readings), number + _NEAR + 1)):
        if readings[other].turn.scene != scene or readings[other].turn.gap > _FAR_GAP:
            break
        after.append(speakers[other])
    return [*before[:1], *after[:1], *before[1:], *after[1:]]
