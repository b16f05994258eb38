"""Quote attribution: speaker and addressee of each quotation, and the narrator's name."""

import re
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
"""Turns on each side that are searched for the other speaker."""
_SPOUSES = frozenset({"wife", "husband", "lady", "spouse"})
_FAR_GAP = 2
"""Maximum paragraphs of narration inside one dialogue."""


@dataclass(frozen=True, slots=True)
class Addressee:
    """The character spoken to, and how certain that is; `name` is empty if unknown."""

    name: str = ""
    certainty: Certainty = Certainty.NOT_EVALUATED


def find_addressees(
    cues: Sequence[SpeakerCues], speakers: Sequence[str], scorer: SpeakerScorer
) -> list[Addressee]:
    """Return the addressee of each turn; an unknown one has an empty name.

    Tried in this order: the dialogue tag ("to Nell"), a vocative ("Nell, …"), the
    nearest other speaker in the same dialogue. `speakers` are the keys of the turns'
    speakers; `cues` and `speakers` have one item per turn, in text order.
    """
    return [
        _addressee_from_tag(cues[number], speakers[number], scorer)
        or _addressee_from_vocative(cues, speakers, number)
        or _addressee_nearby(cues, speakers, number, scorer)
        for number in range(len(cues))
    ]


def _addressee_from_tag(
    turn_cues: SpeakerCues, speaker: str, scorer: SpeakerScorer
) -> Addressee | None:
    """Return the person in "said Corin to Nell"; nobody for "to his wife" if the cast
    does not show who that is, because it is none of those nearby for certain.
    """
    for tag in turn_cues.tags:
        person = tag.addressee
        if person is None or person.name == speaker:
            continue
        if person.kind is PersonMentionKind.NAMED:
            return Addressee(person.name, Certainty.VERIFIED)
        if person.kind is PersonMentionKind.NARRATOR:
            return _address_narrator(scorer.narrator)
        if person.kind is PersonMentionKind.DESCRIBED and person.noun in _SPOUSES:
            spouse = scorer.find_spouse(speaker)
            certainty = Certainty.PROBABLE if spouse else Certainty.NOT_EVALUATED
            return Addressee(spouse, certainty)
    return None


def _address_narrator(narrator: str) -> Addressee:
    return Addressee(narrator, Certainty.VERIFIED) if narrator else Addressee()


def _addressee_from_vocative(
    cues: Sequence[SpeakerCues], speakers: Sequence[str], number: int
) -> Addressee | None:
    """Return the person whom the words address, first of all one who speaks nearby.

    That is certain only if the person speaks nearby, or nobody else does, and the words
    cannot merely be about that person ("Nell! She is ill").
    """
    address = cues[number].address
    called = [name for name in address.called if name != speakers[number]]
    near = _neighbouring_speakers(cues, speakers, number)
    for name in [*(n for n in called if n in near), *address.clearly]:
        if name != speakers[number]:
            clear = name in address.clearly and (name in near or not near)
            return Addressee(name, Certainty.VERIFIED if clear else Certainty.PROBABLE)
    return None


def _addressee_nearby(
    cues: Sequence[SpeakerCues],
    speakers: Sequence[str],
    number: int,
    scorer: SpeakerScorer,
) -> Addressee:
    """Return the nearest other speaker in the same dialogue."""
    speaker, gender = speakers[number], cues[number].address.gender
    if speaker == UNKNOWN_SPEAKER_PREFIX:
        return Addressee()
    for name in _neighbouring_speakers(cues, speakers, number):
        fits = gender in {Gender.UNKNOWN, scorer.gender(name)}
        if name != speaker and not name.startswith(UNKNOWN_SPEAKER_PREFIX) and fits:
            return Addressee(name, Certainty.PROBABLE)
    return Addressee()


def _neighbouring_speakers(
    cues: Sequence[SpeakerCues], speakers: Sequence[str], number: int
) -> list[str]:
    scene = cues[number].turn.scene
    before, after = [], []
    gap = cues[number].turn.gap
    for neighbour in range(number - 1, max(-1, number - _NEAR - 1), -1):
        if cues[neighbour].turn.scene != scene or gap > _FAR_GAP:
            break
        before.append(speakers[neighbour])
        gap = cues[neighbour].turn.gap
    for neighbour in range(number + 1, min(len(cues), number + _NEAR + 1)):
        if cues[neighbour].turn.scene != scene or cues[neighbour].turn.gap > _FAR_GAP:
            break
        after.append(speakers[neighbour])
    return [*before[:1], *after[:1], *before[1:], *after[1:]]


def find_dialogue_tags(page: DialoguePage, turn: DialogueTurn) -> list[DialogueTag]:
    """Return the tags around `turn` that indicate its speaker, strongest first; empty
    if there are none.

    Tags inside and after the words are read first. If one of them is `SURE`, the tags
    before the words are not read.
    """
    dialogue_tags: list[DialogueTag] = []
    for span in turn.inside[:2]:
        _add_tag(dialogue_tags, parse_tag_after(page, span, broken=True))
    if not dialogue_tags:
        _add_tag(dialogue_tags, parse_tag_after(page, turn.after, broken=False))
    if any(tag.strength is TagStrength.SURE for tag in dialogue_tags):
        return dialogue_tags
    _add_tag(dialogue_tags, parse_tag_before(page, turn.before))
    if turn.lead is not None:
        _add_tag(dialogue_tags, parse_tag_before(page, turn.lead))
    return sorted(dialogue_tags, key=lambda tag: -tag.strength)


def _add_tag(dialogue_tags: list[DialogueTag], tag: DialogueTag | None) -> None:
    if tag is not None:
        dialogue_tags.append(tag)


_CLEAR_MARGIN = 5.0
"""Minimum margin to the next candidate for a verified speaker."""
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
    """Return the quotations of a document with speaker, addressee and certainty, in
    text order.

    Args:
        scenes: For each scene, the spans of its text; dialogue ends with its scene.
        mentions: Where the text names characters.
        narrator: Name of a first-person narrator. If empty, quotations of "I" have no
            speaker and the cue NARRATOR.

    Quoted titles, words and irony are left out.
    """
    page = build_dialogue_page(text, scenes, mentions)
    starts = [mention.span.start for mention in page.mentions]
    cues = [
        SpeakerCues(
            turn,
            tuple(find_dialogue_tags(page, turn)),
            find_vocatives(page, starts, turn),
        )
        for turn in page.turns
    ]
    scorer = SpeakerScorer(page, cues, cast, narrator)
    chosen = _leave_out_others(page, cues, _decode_speakers(cues, scorer))
    names = [name for name, _ in chosen]
    listeners = find_addressees(cues, names, scorer)
    sure = _certain_forms(cast)
    return [
        _build_quotation(page, turn_cues, speaker, listener, sure)
        for turn_cues, speaker, listener in zip(cues, chosen, listeners, strict=True)
    ]


# A paragraph after which people without names talk: "the ladies began talking of it."
_OTHERS_TALK = re.compile(
    r"\b(?:ladies|gentlemen|men|women|girls|boys|others|servants|neighbours|neighbors|"
    r"visitors|guests|crowd|people|company|soldiers|children)\b[^.!?]*\b(?:began|fell to|"
    r"started|were|went on|continued)\s+(?:to\s+)?(?:talk|whisper|gossip|chatter|discuss)"
    r"[^.!?]*\.[\s*_]*$"
)


def _leave_out_others(
    page: DialoguePage,
    cues: Sequence[SpeakerCues],
    chosen: Sequence[tuple[str, float]],
) -> list[tuple[str, float]]:
    """Return `chosen` without speakers for turns of people who have no names.

    They are the turns without a tag after a paragraph that says so, up to the next
    narration.
    """
    result = list(chosen)
    are_others = False
    last_end = 0
    for number, turn_cues in enumerate(cues):
        start = turn_cues.turn.raw.spans[0].start
        between = page.text[last_end:start].rstrip(" \n\"“‘'>*_")
        if turn_cues.turn.gap or not number:
            are_others = bool(_OTHERS_TALK.search(between))
        if are_others and not turn_cues.tags:
            result[number] = UNKNOWN_SPEAKER_PREFIX, 0.0
        last_end = turn_cues.turn.raw.spans[-1].end
    return result


def _certain_forms(cast: Cast) -> frozenset[tuple[str, str]]:
    """Return the certain aliases of each character, in lower case."""
    certain = {Certainty.CONFIRMED, Certainty.VERIFIED}
    return frozenset(
        (character.name, alias.name.lower())
        for character in cast.characters
        for alias in character.aliases
        if alias.certainty in certain
    )


def _decode_speakers(
    cues: Sequence[SpeakerCues], scorer: SpeakerScorer
) -> list[tuple[str, float]]:
    """Decode twice: the second pass knows who speaks nearby."""
    fits = [scorer.fit(number) for number in range(len(cues))]
    first = decode_speakers(cues, fits)
    fits = [scorer.fit(number, first) for number in range(len(cues))]
    names = decode_speakers(cues, fits)
    return list(zip(names, compute_speaker_margins(cues, fits, names), strict=True))


def _build_quotation(
    page: DialoguePage,
    turn_cues: SpeakerCues,
    chosen: tuple[str, float],
    listener: Addressee,
    sure: frozenset[tuple[str, str]],
) -> Quotation:
    name, margin = chosen
    speaker = "" if name.startswith(UNKNOWN_SPEAKER_PREFIX) else name
    certainty = Certainty.PROBABLE if speaker else Certainty.NOT_EVALUATED
    if (
        speaker
        and margin >= _CLEAR_MARGIN
        and _is_named_by_tag(page, turn_cues, speaker, sure)
    ):
        certainty = Certainty.VERIFIED
    return Quotation(
        turn_cues.turn.raw.spans,
        speaker,
        certainty,
        _attribution_cue(turn_cues, name),
        listener.name,
        listener.certainty,
        turn_cues.address.named,
    )


def _attribution_cue(turn_cues: SpeakerCues, name: str) -> AttributionCue:
    if name == NARRATOR:
        return AttributionCue.NARRATOR
    for tag in turn_cues.tags:
        if tag.strength is TagStrength.BEAT:
            return AttributionCue.ACTION
        return _CUES[tag.person.kind]
    return AttributionCue.TURN if name else AttributionCue.NONE


def _is_named_by_tag(
    page: DialoguePage,
    turn_cues: SpeakerCues,
    speaker: str,
    sure: frozenset[tuple[str, str]],
) -> bool:
    """Return whether an adjacent tag names the speaker by a certain alias."""
    if not turn_cues.tags or turn_cues.tags[0].strength is not TagStrength.SURE:
        return False
    person = turn_cues.tags[0].person
    if person.kind is PersonMentionKind.NAMED:
        return (speaker, page.name_at(person.at).lower()) in sure
    return person.kind is PersonMentionKind.NARRATOR


_FEWEST_CALLS = 2
"""Minimum times that others address the narrator by the name."""
_FEWEST_TURNS = 3
"""Minimum quotations of the narrator."""
_CLEARLY = 2
"""Minimum ratio of a name's count to that of the next one."""


@dataclass(frozen=True, slots=True)
class NarratorEvidence:
    """Counts that indicate who the first-person narrator of one document is.

    `turns` is the number of quotations with the tag "I said". `called` counts the names
    by which others address the narrator in dialogue, `narrated` the names in narration.
    """

    turns: int
    called: Mapping[str, int]
    narrated: Mapping[str, int]


def gather_narrator_evidence(
    text: str, scenes: Sequence[Sequence[Span]], mentions: Sequence[Mention]
) -> NarratorEvidence:
    """Count "I said" tags, names addressed in the turns beside them, and names in
    narration.

    `scenes` has the spans of each scene's text; `mentions` are those of all characters.
    """
    page = build_dialogue_page(text, scenes, mentions)
    starts = [mention.span.start for mention in page.mentions]
    narrator_speaks = [
        _narrator_speaks(page, number) for number in range(len(page.turns))
    ]
    called: Counter[str] = Counter()
    if any(narrator_speaks):
        addresses = [find_vocatives(page, starts, turn) for turn in page.turns]
        called.update(_names_addressed_beside(page, addresses, narrator_speaks))
    counter = Counter(name for names in page.narrated_names for name in names)
    return NarratorEvidence(sum(narrator_speaks), called, counter)


def infer_narrators(signs: Sequence[NarratorEvidence]) -> list[str]:
    """Return the name of the first-person narrator of each document; "" if unclear.

    `signs` has one item per document. If all documents together give a clear narrator,
    that name is used for each of them; otherwise each document is decided alone.
    """
    narrator = _infer_narrator(signs)
    return [narrator or _infer_narrator([sign]) for sign in signs]


def _infer_narrator(signs: Sequence[NarratorEvidence]) -> str:
    """Return the name used far more in address than in narration, and than any other."""
    turns = sum(sign.turns for sign in signs)
    called: Counter[str] = Counter()
    counter: Counter[str] = Counter()
    for sign in signs:
        called.update(sign.called)
        counter.update(sign.narrated)
    fits = {name: count for name, count in called.items() if count > counter[name]}
    ranked = sorted(fits, key=lambda name: (-fits[name], name))
    if turns < _FEWEST_TURNS or not ranked or fits[ranked[0]] < _FEWEST_CALLS:
        return ""
    first = ranked[0]
    rivals = [name for name in ranked[1:] if not _may_be_same_person(first, name)]
    if rivals and fits[first] < _CLEARLY * fits[rivals[0]]:
        return ""
    return first


def _may_be_same_person(first: str, second: str) -> bool:
    """Return whether two names may belong to one person: Vale, Mr. Vale."""
    return first.split()[-1] == second.split()[-1]


def _narrator_speaks(page: DialoguePage, number: int) -> bool:
    tags = find_dialogue_tags(page, page.turns[number])
    return bool(tags) and tags[0].person.kind is PersonMentionKind.NARRATOR


def _names_addressed_beside(
    page: DialoguePage,
    addresses: Sequence[VocativeCues],
    narrator_speaks: Sequence[bool],
) -> Iterator[str]:
    for number, turn in enumerate(page.turns):
        if narrator_speaks[number]:
            continue
        before = number > 0 and narrator_speaks[number - 1] and turn.gap == 0
        follows = number + 1 < len(narrator_speaks) and narrator_speaks[number + 1]
        if before or (follows and page.turns[number + 1].gap == 0):
            yield from addresses[number].called
