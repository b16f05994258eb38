"""Who says what: a speaker and a listener for every quotation of a document."""

from collections.abc import Sequence

from lrwr.core.model.cast import Cast, Cue, Mention, Quotation
from lrwr.core.model.certainty import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.addressees import Listener, find_listeners
from lrwr.core.nlp.dialogue.sequence import choose_speakers, margins
from lrwr.core.nlp.dialogue.speaker_scores import NARRATOR, STRANGER, Casting, Reading
from lrwr.core.nlp.dialogue.subjects import PersonKind
from lrwr.core.nlp.dialogue.tag_patterns import Strength, Tag
from lrwr.core.nlp.dialogue.tags_after import tag_after
from lrwr.core.nlp.dialogue.tags_before import tag_before
from lrwr.core.nlp.dialogue.turns import Page, Turn, lay_out
from lrwr.core.nlp.dialogue.vocatives import read_address


def read_tags(page: Page, turn: Turn) -> list[Tag]:
    """Return what the narration around a turn tells of its speaker, surest first."""
    found: list[Tag] = []
    for span in turn.inside[:2]:
        _keep(found, tag_after(page, span, broken=True))
    if not found:
        _keep(found, tag_after(page, turn.after, broken=False))
    if any(tag.strength is Strength.SURE for tag in found):
        return found
    _keep(found, tag_before(page, turn.before))
    if turn.lead is not None:
        _keep(found, tag_before(page, turn.lead))
    return sorted(found, key=lambda tag: -tag.strength)


def _keep(found: list[Tag], tag: Tag | None) -> None:
    if tag is not None:
        found.append(tag)


_CLEAR_MARGIN = 5.0
_CUES = {
    PersonKind.NAMED: Cue.NAMED,
    PersonKind.STRANGER: Cue.NAMED,
    PersonKind.PRONOUN: Cue.PRONOUN,
    PersonKind.DESCRIBED: Cue.PRONOUN,
    PersonKind.NARRATOR: Cue.NARRATOR,
    PersonKind.SEVERAL: Cue.NONE,
}


def attribute(
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
    page = lay_out(text, scenes, mentions)
    starts = [mention.span.start for mention in page.mentions]
    readings = [
        Reading(turn, tuple(read_tags(page, turn)), read_address(page, starts, turn))
        for turn in page.turns
    ]
    casting = Casting(page, readings, cast, narrator)
    chosen = _chosen(readings, casting)
    names = [name for name, _ in chosen]
    listeners = find_listeners(readings, names, casting)
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


def _chosen(readings: Sequence[Reading], casting: Casting) -> list[tuple[str, float]]:
    """Choose twice: who talks nearby is known better the second time."""
    fits = [casting.fit(number) for number in range(len(readings))]
    first = choose_speakers(readings, fits)
    fits = [casting.fit(number, first) for number in range(len(readings))]
    names = choose_speakers(readings, fits)
    return list(zip(names, margins(readings, fits, names), strict=True))


def _quotation(
    page: Page,
    reading: Reading,
    chosen: tuple[str, float],
    listener: Listener,
    sure: frozenset[tuple[str, str]],
) -> Quotation:
    name, margin = chosen
    speaker = "" if name.startswith(STRANGER) else name
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


def _cue(reading: Reading, name: str) -> Cue:
    if name == NARRATOR:
        return Cue.NARRATOR
    for tag in reading.tags:
        if tag.strength is Strength.BEAT:
            return Cue.ACTION
        return _CUES[tag.person.kind]
    return Cue.TURN if name else Cue.NONE


def _is_told(
    page: Page, reading: Reading, speaker: str, sure: frozenset[tuple[str, str]]
) -> bool:
    """Say whether a tag against the words names the speaker by a sure form."""
    if not reading.tags or reading.tags[0].strength is not Strength.SURE:
        return False
    person = reading.tags[0].person
    if person.kind is PersonKind.NAMED:
        return (speaker, page.name_at(person.at).lower()) in sure
    return person.kind is PersonKind.NARRATOR
