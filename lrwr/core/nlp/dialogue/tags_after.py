"""Tags behind the words: "…," said Nell; "…," she asked him; "…" Nell sat down."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lrwr.core.model.text import Span
from lrwr.core.nlp.dialogue.lexicon import GESTURE_VERBS, SPEECH_VERBS, SURE_VERBS
from lrwr.core.nlp.dialogue.subjects import (
    PersonMention,
    PersonMentionKind,
    TextToken,
    parse_person_mention,
    parse_possessor,
    tokenize_masked_text,
)
from lrwr.core.nlp.dialogue.tag_patterns import (
    CONTINUATION_VERBS,
    PREPOSITIONS,
    SUBORDINATORS,
    DialogueTag,
    TagStrength,
    find_first_sentence,
    parse_tag_addressee,
)
from lrwr.core.nlp.dialogue.turns import MASKED_NAME_CHARACTER, DialoguePage

_SKIPPED = frozenset({*",—–-*", "--", "and", "but", "then", "so", "thus"})
_BEHIND_VERB = "out in up on off away forth back aloud again"
_PARTICLES = frozenset(_BEHIND_VERB.split())
_NO_SPEECH = "nothing no not to of at the a it this that"
_SAYS_NOTHING = frozenset(_NO_SPEECH.split())
_FARTHEST_VERB = 4
_IN_LONG_SUBJECT = 28


def parse_tag_after(
    page: DialoguePage, span: Span, *, broken: bool
) -> DialogueTag | None:
    """Read the sentence that follows the words."""
    sentence = find_first_sentence(page.masked, span)
    tokens = tokenize_masked_text(page.masked, sentence.start, sentence.end)
    start = 0
    while start < len(tokens) and tokens[start] in _SKIPPED:
        start += 1
    if start >= len(tokens):
        return None
    tokens = tokens[start:]
    tag = (
        _verb_first(tokens, page.who)
        or _reply_of(tokens, page.who)
        or _person_first(tokens, page.who, broken=broken or _ends_open(page, span))
    )
    if tag and not broken and _is_for_next(page, span, tokens):
        return replace(tag, strength=TagStrength.BEAT)
    return tag


def _ends_open(page: DialoguePage, span: Span) -> bool:
    """Say whether the words before `span` end in a comma: a tag must follow."""
    words = page.text[max(0, span.start - 4) : span.start].rstrip("\"”’' *_")
    return (
        words.endswith((",", "—", "–", "--"))
        or page.text[span.start : span.start + 1] == ","
    )


def _is_for_next(page: DialoguePage, span: Span, tokens: Sequence[TextToken]) -> bool:
    """Say whether a sentence after the words leads up to the next ones."""
    words = page.masked[span.start : span.end].rstrip(" *_\n")
    return words.endswith((",", ":")) and not tokens[0][0].islower()


def _verb_first(
    tokens: Sequence[TextToken], who: Mapping[int, str]
) -> DialogueTag | None:
    """Read "said Nell", "broke in the old man"."""
    verb = tokens[0]
    known = verb in SPEECH_VERBS or verb in GESTURE_VERBS
    if not known and not verb.endswith("ed"):
        return None
    at = 1
    while at < len(tokens) and tokens[at] in _PARTICLES:
        at += 1
    read = parse_person_mention(tokens, at, who, any_noun=True)
    if read is None and at < len(tokens) and tokens[at].endswith("ly"):
        read = parse_person_mention(tokens, at + 1, who, any_noun=True)
    if read is None:
        return None
    person, end = read
    sure = known and (
        verb in SURE_VERBS or person.kind is not PersonMentionKind.STRANGER
    )
    return DialogueTag(
        person,
        TagStrength.SURE if sure else TagStrength.LIKELY,
        verb in CONTINUATION_VERBS,
        parse_tag_addressee(tokens, end, who),
    )


def _reply_of(
    tokens: Sequence[TextToken], who: Mapping[int, str]
) -> DialogueTag | None:
    """Read "was Nell's reply", "came from the old man's lips"."""
    if tokens[0] not in {"was", "were", "came", "is"}:
        return None
    for at in range(1, min(len(tokens), 8)):
        person = parse_possessor(tokens, at, who)
        if person is not None:
            return DialogueTag(person, TagStrength.SURE)
        if tokens[at] in {".", ";", ","}:
            return None
        if tokens[at] in {"from", "of"}:
            read = parse_person_mention(tokens, at + 1, who)
            return DialogueTag(read[0], TagStrength.LIKELY) if read else None
    return None


def _person_first(
    tokens: Sequence[TextToken], who: Mapping[int, str], *, broken: bool
) -> DialogueTag | None:
    """Read "she said", "Nell, who had come in, asked", "Nell shut the door."."""
    read = parse_person_mention(tokens, 0, who, any_noun=False)
    if read is None:
        read = _capitalised_first(tokens, who)
    if read is None:
        return None
    person, end = read
    verb = _verb_after(tokens, end)
    if verb is None and broken and _any_verb(tokens, end):
        return DialogueTag(
            person,
            TagStrength.SURE,
            addressee=parse_tag_addressee(tokens, end + 1, who),
        )
    if verb is None:
        return DialogueTag(person, TagStrength.BEAT)
    strength = _strength_after(tokens, end, verb, broken=broken)
    return DialogueTag(
        person,
        strength,
        tokens[verb].lower() in CONTINUATION_VERBS,
        parse_tag_addressee(tokens, verb + 1, who),
    )


def _capitalised_first(
    tokens: Sequence[TextToken], who: Mapping[int, str]
) -> tuple[PersonMention, int] | None:
    """Read a sentence that begins with a time or an adverb: "Then Nell laughed."."""
    for at in range(1, min(4, len(tokens))):
        if tokens[at] in SUBORDINATORS or tokens[at - 1].lower() in PREPOSITIONS:
            return None
        if tokens[at][0] == MASKED_NAME_CHARACTER or tokens[at] in {"he", "she", "I"}:
            return parse_person_mention(tokens, at, who)
    return None


def _strength_after(
    tokens: Sequence[TextToken], end: int, verb: int, *, broken: bool
) -> TagStrength:
    """Judge a verb of speech at `verb` by its distance from the subject's end."""
    nothing = verb + 1 < len(tokens) and tokens[verb + 1] in _SAYS_NOTHING
    near = verb - end <= _FARTHEST_VERB and "," not in tokens[end:verb]
    if near and (broken or (verb - end <= 1 and not nothing)):
        return TagStrength.SURE
    return TagStrength.LIKELY if near or broken else TagStrength.BEAT


def _any_verb(tokens: Sequence[TextToken], at: int) -> bool:
    """Say whether a verb of the past stands at `at`, perhaps behind an adverb."""
    if at < len(tokens) and tokens[at].endswith("ly"):
        at += 1
    return at < len(tokens) and (
        tokens[at].endswith("ed") or tokens[at] in GESTURE_VERBS
    )


def _verb_after(tokens: Sequence[TextToken], start: int) -> int | None:
    """Find the verb of speech that belongs to the subject before `start`."""
    for at in range(start, min(len(tokens), start + _IN_LONG_SUBJECT)):
        word = tokens[at].lower()
        if word in SPEECH_VERBS:
            return at
        if word in {".", "!", "?", ";"}:
            return None
    return None
