"""Who says what: a speaker and a listener for every quotation of a document."""

from collections.abc import Sequence

from lrwr.core.model.cast import AttributionCue, Cast, Mention, Quotation
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.addressees import Addressee, find_addressees
from lrwr.core.nlp.dialogue.sequence import compute_speaker_margins, decode_speakers
from lrwr.core.nlp.dialogue.speaker_scores import (
    NARRATOR,
    UNKNOWN_SPEAKER_PREFIX,
    SpeakerCues,
    SpeakerScorer,
)
from lrwr.core.nlp.dialogue.subjects import PersonMentionKind
from lrwr.core.nlp.dialogue.tag_patterns import DialogueTag, TagStrength
from lrwr.core.nlp.dialogue.tags_after import parse_tag_after
from lrwr.core.nlp.dialogue.tags_before import parse_tag_before
from lrwr.core.nlp.dialogue.turns import DialoguePage, DialogueTurn, build_dialogue_page
from lrwr.core.nlp.dialogue.vocatives import find_vocatives


def find_dialogue_tags(page: DialoguePage, turn: DialogueTurn) -> list[DialogueTag]:
    """Return what the narration around a turn tells of its speaker, surest first."""
    found: list[DialogueTag] = []
    for span in turn.inside[:2]:
        _keep(found, parse_tag_after(page, span, broken=True))
    if not found:
        _keep(found, parse_tag_after(page, turn.after, broken=False))
    if any(tag.strength is TagStrength.SURE for tag in found):
        return found
    _keep(found, parse_tag_before(page, turn.before))
    if turn.lead is not None:
        _keep(found, parse_tag_before(page, turn.lead))
    return sorted(found, key=lambda tag: -tag.strength)


def _keep(found: list[DialogueTag], tag: DialogueTag | None) -> None:
    if tag is not None:
        found.append(tag)


_CLEAR_MARGIN = 5.0
_CUES = {
    PersonMentionKind.NAMED: AttributionCue.NAMED,
    PersonMentionKind.STRANGER: AttributionCue.NAMED,
    PersonMentionKind.PRONOUN: AttributionCue.PRONOUN,
    PersonMentionKind.DESCRIBED: AttributionCue.PRONOUN,
    PersonMentionKind.NARRATOR: AttributionCue.NARRATOR,
    PersonMentionKind.SEVERAL: AttributionCue.NONE,
}


def attribute_quotations(
    text: str,
    scenes: Sequence[Sequence[Span]],
    cast: Cast,
    mentions: Sequence[Mention],
    *,
    narrator: str = "",
) -> list[Quotation]:
    """Tell who says each quotation of one document, and to whom.

    `scenes` are the parts of each scene, in order; a conversation ends with its
    scene. `mentions` are the places where the text names characters. `narrator` is
    the name of the one who says "I" outside quotations; when it is unknown, what
    they say has no speaker and the cue NARRATOR. What nobody says is left out.
    """
    page = build_dialogue_page(text, scenes, mentions)
    starts = [mention.span.start for mention in page.mentions]
    readings = [
        SpeakerCues(
            turn,
            tuple(find_dialogue_tags(page, turn)),
            find_vocatives(page, starts, turn),
        )
        for turn in page.turns
    ]
    casting = SpeakerScorer(page, readings, cast, narrator)
    chosen = _chosen(readings, casting)
    names = [name for name, _ in chosen]
    listeners = find_addressees(readings, names, casting)
    sure = _sure_forms(cast)
    return [
        _quotation(page, reading, one, listener, sure)
        for reading, one, listener in zip(readings, chosen, listeners, strict=True)
    ]


def _sure_forms(cast: Cast) -> frozenset[tuple[str, str]]:
    """Return names with the forms that are surely theirs, in lower case."""
    certain = {Certainty.CONFIRMED, Certainty.VERIFIED}
    return frozenset(
        (character.name, alias.name.lower())
        for character in cast.characters
        for alias in character.aliases
        if alias.certainty in certain
    )


def _chosen(
    readings: Sequence[SpeakerCues], casting: SpeakerScorer
) -> list[tuple[str, float]]:
    """Choose twice: who talks nearby is known better the second time."""
    fits = [casting.fit(number) for number in range(len(readings))]
    first = decode_speakers(readings, fits)
    fits = [casting.fit(number, first) for number in range(len(readings))]
    names = decode_speakers(readings, fits)
    return list(zip(names, compute_speaker_margins(readings, fits, names), strict=True))


def _quotation(
    page: DialoguePage,
    reading: SpeakerCues,
    chosen: tuple[str, float],
    listener: Addressee,
    sure: frozenset[tuple[str, str]],
) -> Quotation:
    name, margin = chosen
    speaker = "" if name.startswith(UNKNOWN_SPEAKER_PREFIX) else name
    certainty = Certainty.PROBABLE if speaker else Certainty.NOT_EVALUATED
    if speaker and margin >= _CLEAR_MARGIN and _is_told(page, reading, speaker, sure):
        certainty = Certainty.VERIFIED
    return Quotation(
        reading.turn.raw.spans,
        speaker,
        certainty,
        _cue(reading, name),
        listener.name,
        listener.certainty,
        reading.address.named,
    )


def _cue(reading: SpeakerCues, name: str) -> AttributionCue:
    if name == NARRATOR:
        return AttributionCue.NARRATOR
    for tag in reading.tags:
        if tag.strength is TagStrength.BEAT:
            return AttributionCue.ACTION
        return _CUES[tag.person.kind]
    return AttributionCue.TURN if name else AttributionCue.NONE


def _is_told(
    page: DialoguePage,
    reading: SpeakerCues,
    speaker: str,
    sure: frozenset[tuple[str, str]],
) -> bool:
    """Say whether a tag against the words names the speaker by a sure form."""
    if not reading.tags or reading.tags[0].strength is not TagStrength.SURE:
        return False
    person = reading.tags[0].person
    if person.kind is PersonMentionKind.NAMED:
        return (speaker, page.name_at(person.at).lower()) in sure
    return person.kind is PersonMentionKind.NARRATOR
