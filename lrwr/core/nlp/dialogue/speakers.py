"""Quote attribution: a speaker and an addressee for every quotation of a document."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.cast import AttributionCue, Cast, Gender, Mention, Quotation
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.speaker_scores import (
    NARRATOR,
    UNKNOWN_SPEAKER_PREFIX,
    SpeakerCues,
    SpeakerScorer,
    compute_speaker_margins,
    decode_speakers,
)
from lrwr.core.nlp.dialogue.subjects import PersonMentionKind
from lrwr.core.nlp.dialogue.tags import (
    DialogueTag,
    TagStrength,
    parse_tag_after,
    parse_tag_before,
)
from lrwr.core.nlp.dialogue.turns import (
    DialoguePage,
    DialogueTurn,
    VocativeCues,
    build_dialogue_page,
    find_vocatives,
)

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
    speaker, gender = speakers[number], readings[number].address.gender
    for name in _around(readings, speakers, number):
        fits = gender in {Gender.UNKNOWN, casting.gender(name)}
        if name != speaker and not name.startswith(UNKNOWN_SPEAKER_PREFIX) and fits:
            return Addressee(name, Certainty.PROBABLE)
    return Addressee()


def _around(
    readings: Sequence[SpeakerCues], speakers: Sequence[str], number: int
) -> list[str]:
    scene = readings[number].turn.scene
    before, after = [], []
    gap = readings[number].turn.gap
    for neighbour in range(number - 1, max(-1, number - _NEAR - 1), -1):
        if readings[neighbour].turn.scene != scene or gap > _FAR_GAP:
            break
        before.append(speakers[neighbour])
        gap = readings[neighbour].turn.gap
    for neighbour in range(number + 1, min(len(readings), number + _NEAR + 1)):
        if (
            readings[neighbour].turn.scene != scene
            or readings[neighbour].turn.gap > _FAR_GAP
        ):
            break
        after.append(speakers[neighbour])
    return [*before[:1], *after[:1], *before[1:], *after[1:]]


def find_dialogue_tags(page: DialoguePage, turn: DialogueTurn) -> list[DialogueTag]:
    """Return what the narration around a turn tells of its speaker, surest first."""
    dialogue_tags: list[DialogueTag] = []
    for span in turn.inside[:2]:
        _keep(dialogue_tags, parse_tag_after(page, span, broken=True))
    if not dialogue_tags:
        _keep(dialogue_tags, parse_tag_after(page, turn.after, broken=False))
    if any(tag.strength is TagStrength.SURE for tag in dialogue_tags):
        return dialogue_tags
    _keep(dialogue_tags, parse_tag_before(page, turn.before))
    if turn.lead is not None:
        _keep(dialogue_tags, parse_tag_before(page, turn.lead))
    return sorted(dialogue_tags, key=lambda tag: -tag.strength)


def _keep(dialogue_tags: list[DialogueTag], tag: DialogueTag | None) -> None:
    if tag is not None:
        dialogue_tags.append(tag)


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
        _quotation(page, reading, speaker, listener, sure)
        for reading, speaker, listener in zip(readings, chosen, listeners, strict=True)
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


_FEWEST_CALLS = 2
_FEWEST_TURNS = 3
_CLEARLY = 2


@dataclass(frozen=True, slots=True)
class NarratorEvidence:
    """What one document tells of its narrator.

    `turns` counts what "I" said; `called` the names by which others call whom they
    talk to then, `told` the names in narration.
    """

    turns: int
    called: Mapping[str, int]
    told: Mapping[str, int]


def gather_narrator_evidence(
    text: str, scenes: Sequence[Sequence[Span]], mentions: Sequence[Mention]
) -> NarratorEvidence:
    """Look through one document for "I said", and for the names called beside it."""
    page = build_dialogue_page(text, scenes, mentions)
    starts = [mention.span.start for mention in page.mentions]
    says_i = [_narrator_speaks(page, number) for number in range(len(page.turns))]
    called: Counter[str] = Counter()
    if any(says_i):
        addresses = [find_vocatives(page, starts, turn) for turn in page.turns]
        called.update(_called_beside(page, addresses, says_i))
    counter = Counter(name for names in page.told for name in names)
    return NarratorEvidence(sum(says_i), called, counter)


def infer_narrators(signs: Sequence[NarratorEvidence]) -> list[str]:
    """Return who says "I" in each of these documents, "" where nobody can tell.

    One narrator who is clear over all documents tells them all; else each document
    has its own, for a story may have several by turns.
    """
    narrator = _narrator_of(signs)
    return [narrator or _narrator_of([sign]) for sign in signs]


def _narrator_of(signs: Sequence[NarratorEvidence]) -> str:
    """Return the name called far oftener than told, and than any other."""
    turns = sum(sign.turns for sign in signs)
    called: Counter[str] = Counter()
    counter: Counter[str] = Counter()
    for sign in signs:
        called.update(sign.called)
        counter.update(sign.told)
    fits = {name: count for name, count in called.items() if count > counter[name]}
    ranked = sorted(fits, key=lambda name: (-fits[name], name))
    if turns < _FEWEST_TURNS or not ranked or fits[ranked[0]] < _FEWEST_CALLS:
        return ""
    first = ranked[0]
    rivals = [name for name in ranked[1:] if not _one_person(first, name)]
    if rivals and fits[first] < _CLEARLY * fits[rivals[0]]:
        return ""
    return first


def _one_person(first: str, second: str) -> bool:
    """Say whether two names may be forms of one: Vale, Mr. Vale."""
    return first.split()[-1] == second.split()[-1]


def _narrator_speaks(page: DialoguePage, number: int) -> bool:
    tags = find_dialogue_tags(page, page.turns[number])
    return bool(tags) and tags[0].person.kind is PersonMentionKind.NARRATOR


def _called_beside(
    page: DialoguePage, addresses: Sequence[VocativeCues], says_i: Sequence[bool]
) -> Iterator[str]:
    for number, turn in enumerate(page.turns):
        if says_i[number]:
            continue
        before = number > 0 and says_i[number - 1] and turn.gap == 0
        follows = number + 1 < len(says_i) and says_i[number + 1]
        if before or (follows and page.turns[number + 1].gap == 0):
            yield from addresses[number].called
