"""What a question needs, told by its words and by what the bible holds.

No model is asked. English rules; how often they are right is not evaluated.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from lrwr.core.bible.name_lookup import (
    NamedEntity,
    NamedEntityKind,
    match_people,
    recognize_named_entities,
)
from lrwr.core.bible.values import Bible
from lrwr.core.chat.planning import lexicon
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.facts import RULES
from lrwr.core.model.turns import (
    INTENTIONS,
    Choice,
    Entity,
    Intent,
    Intention,
    Mode,
    Plan,
    Source,
)
from lrwr.core.ports.story_store import Role
from lrwr.core.retrieval.people import asks_about_saying, infer_question_role

ADDRESSED_CONFIDENCE = 0.95
"""In character, "you" is whom the writer talks to: nothing is surer."""

IN_PLAY_CONFIDENCE = 0.6
""" "She" is most likely somebody of the question before, but of several any."""

_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:he|him|his|she|her|hers|they|them|their|theirs|it|its)\b", re.IGNORECASE
)

_SOMEBODY = re.compile(
    rf"\b(?:{NamedEntityKind.PERSON}|{NamedEntityKind.STRANGER}|he|she|they|who)\b"
)


def plan_by_rules(question: TurnQuestion, bible: Bible) -> Plan:
    """Return a plan for `question`: the same one every time."""
    named = recognize_named_entities(question.text, bible)
    plain = _plain(question, named)
    entities = tuple(_entities(question, named, bible))
    intent = _intent(plain)
    choices = _best(_choices(question, plain, named, intent))
    if question.mode is Mode.IN_CHARACTER:
        intent = Intent.IN_CHARACTER
    return Plan(intent, choices, entities, RULES)


def build_search_text(question: TurnQuestion, bible: Bible) -> str:
    """Return what is searched for: the question without "tell me", and with the names
    that its pronouns stand for."""
    text = lexicon.REQUEST_PATTERN.sub("", question.text).strip() or question.text
    own = {one.name for one in recognize_named_entities(text, bible)}
    entities = plan_by_rules(question, bible).entities
    return " ".join((text, *(one.name for one in entities if one.name not in own)))


def _plain(question: TurnQuestion, named: Sequence[NamedEntity]) -> str:
    """Return the question as cues know it: names masked, all else in lower case."""
    parts: list[str] = []
    at = 0
    for one in named:
        parts += (question.text[at : one.span.start].lower(), one.kind)
        at = one.span.end
    parts.append(question.text[at:].lower())
    text = " ".join("".join(parts).split())
    text = lexicon.REQUEST_PATTERN.sub("", text).strip(" .?!")
    if question.mode is Mode.IN_CHARACTER:
        return _YOU.sub(NamedEntityKind.PERSON, text)
    return text


def _intent(plain: str) -> Intent:
    """Return what kind of answer is asked for, whoever gives it."""
    if lexicon.GAP_PATTERN.search(plain):
        return Intent.GAP_PROBE
    if lexicon.SCENARIO_PATTERN.search(plain):
        return Intent.SCENARIO
    if lexicon.CRAFT_PATTERN.search(plain) or lexicon.ALLUSION_PATTERN.search(plain):
        return Intent.EXTERNAL_REFERENCE
    return Intent.ANALYTICAL


def _choices(
    question: TurnQuestion, plain: str, named: Sequence[NamedEntity], intent: Intent
) -> Iterator[Choice]:
    """Yield what is asked of which source; the web is never the only one."""
    # What the text says is no talk of anybody's.
    rest = lexicon.GAP_PATTERN.sub(" ", plain)
    saying = _is_about_saying(question, rest)
    things = [
        # What somebody talks about is asked of them, not of the world.
        one
        for one in named
        if one.elements and not (saying and _is_topic(question.text, one))
    ]
    own = [*_of_intent(plain, intent), *_of_cues(rest, saying=saying)]
    if not own and things and any(one.kind is NamedEntityKind.PERSON for one in named):
        own.append(
            Choice(Source.PROFILES, Intention.BEHAVIOR, lexicon.HINTED_CUE_CONFIDENCE)
        )
    own += (choice for one in things for choice in _of_elements(one))
    yield from own
    yield from _of_the_world_outside(plain)
    if not own:
        yield Choice(
            Source.MANUSCRIPT, Intention.FIND_PASSAGE, lexicon.FALLBACK_CONFIDENCE
        )


def _of_intent(plain: str, intent: Intent) -> Iterator[Choice]:
    if intent is Intent.GAP_PROBE:
        yield Choice(
            Source.MANUSCRIPT, Intention.FIND_PASSAGE, lexicon.PLAIN_CUE_CONFIDENCE
        )
        if NamedEntityKind.PERSON in plain:
            yield Choice(
                Source.PROFILES, Intention.TRAITS, lexicon.HINTED_CUE_CONFIDENCE
            )
    if intent is Intent.SCENARIO and NamedEntityKind.PERSON in plain:
        yield Choice(Source.PROFILES, Intention.BEHAVIOR, lexicon.PLAIN_CUE_CONFIDENCE)
        yield Choice(Source.PROFILES, Intention.VALUES, lexicon.LIKELY_CUE_CONFIDENCE)


def _of_cues(plain: str, *, saying: bool) -> Iterator[Choice]:
    person = NamedEntityKind.PERSON in plain
    told = [
        cue
        for cue in lexicon.QUESTION_CUES
        if (person or not cue.person) and cue.words.search(plain)
    ]
    surely = any(cue.confidence > lexicon.FALLBACK_CONFIDENCE for cue in told)
    for cue in told:
        if cue.confidence > lexicon.FALLBACK_CONFIDENCE or not surely:
            yield Choice(cue.source, cue.intention, cue.confidence)
    if person and lexicon.NOTES_PATTERN.search(plain):
        yield Choice(Source.PROFILES, Intention.TRAITS, lexicon.HINTED_CUE_CONFIDENCE)
    if saying:
        yield Choice(
            Source.MANUSCRIPT, Intention.DIALOGUE_OF, lexicon.PLAIN_CUE_CONFIDENCE
        )


def _is_about_saying(question: TurnQuestion, plain: str) -> bool:
    """Say whether somebody's words are asked for, and not merely how they talk."""
    somebody = _SOMEBODY.search(plain) is not None
    says = lexicon.SPEECH_PATTERN.search(plain) is not None and asks_about_saying(
        question.text
    )
    voice = next(
        cue for cue in lexicon.QUESTION_CUES if cue.intention is Intention.VOICE
    )
    return somebody and says and not voice.words.search(plain)


def _is_topic(text: str, one: NamedEntity) -> bool:
    return infer_question_role(text, one.span.start) is Role.MENTIONED


def _of_elements(named: NamedEntity) -> Iterator[Choice]:
    types = [claim.value for one in named.elements for claim in one.element_types]
    known = [one for one in INTENTIONS[Source.WORLD] if one in types]
    for intention in known:
        yield Choice(Source.WORLD, intention, lexicon.PLAIN_CUE_CONFIDENCE)
    if not known:  # nobody said what it is: places are the commonest things
        yield Choice(Source.WORLD, Intention.SETTING, lexicon.HINTED_CUE_CONFIDENCE)


def _of_the_world_outside(plain: str) -> Iterator[Choice]:
    if lexicon.ALLUSION_PATTERN.search(plain):
        yield Choice(
            Source.WEB, Intention.EXTERNAL_REFERENCE, lexicon.LIKELY_CUE_CONFIDENCE
        )
    if lexicon.CRAFT_PATTERN.search(plain):
        yield Choice(Source.WEB, Intention.CRAFT, lexicon.LIKELY_CUE_CONFIDENCE)


def _best(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """Return each pair once, at its surest, surest first."""
    best: dict[tuple[Source, Intention], Choice] = {}
    for one in choices:
        pair = one.source, one.intention
        if pair not in best or best[pair].confidence < one.confidence:
            best[pair] = one
    return tuple(sorted(best.values(), key=lambda one: -one.confidence))


def _entities(
    question: TurnQuestion, named: Sequence[NamedEntity], bible: Bible
) -> Iterator[Entity]:
    """Yield each name once: those in the question, then those that it points to."""
    names: dict[str, Entity] = {}
    for one in named:
        names.setdefault(one.name, Entity(one.name, one.confidence))
    talked_to = question.character if question.mode is Mode.IN_CHARACTER else ""
    if talked_to and _YOU.search(question.text):
        names.setdefault(talked_to, Entity(talked_to, ADDRESSED_CONFIDENCE))
    if not names and _PRONOUN.search(question.text):
        for name in question.state.entities:
            if match_people(name, bible):  # the horizon may have moved since
                names.setdefault(name, Entity(name, IN_PLAY_CONFIDENCE))
    yield from names.values()
