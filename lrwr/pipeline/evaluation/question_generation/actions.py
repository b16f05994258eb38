"""Questions about what people do, from sentences of the narrator's.

Only a sentence that says plainly who does what to which thing becomes a question: a
name, a verb of the lists below, and an object that ends where a place or a new clause
begins.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.text import STOP_WORDS, WORD_PATTERN, stem_lightly
from lrwr.core.nlp.facts.events import EVENT_VERBS
from lrwr.pipeline.evaluation.question_generation.draft import QuestionDraft
from lrwr.pipeline.evaluation.question_generation.lexicon import (
    ACTION_VERBS,
    BODY,
    BOUND,
    DISTINCTIVE_VERBS,
    NOT_ACTIONS,
    VAGUE_WORDS,
    WHERE,
)
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SourceMaterial,
    stem_noun,
)
from lrwr.pipeline.evaluation.questions import AnswerPlace, QuestionKind

MADE = "something that happens"

_KNOWN = 30
"""How often a thing may come up that is asked after by where it is put."""

_SELDOM = 5
_NEAR = 6
"""Words before a thing among which its verb is looked for."""

_ADVERB = r"(?:(?:then|now|suddenly|at last|once more|only|also|\w+ly) )?"
_DET = r"(?:the|an?|his|her|their|its|two|three|four|five|six)"
_ENDED = (
    r"(?=[,.;:!?]|\s(?:and|but|on|onto|in|into|from|with|at|to|over|under|upon|by|for"
    r"|out|up|down|behind|beside|against|off|through|across|that|which|who|as|so"
    r"|until|till|before|after|again|back|round|when|while|where)\b)"
)
_SOMEWHERE = (
    r"(?P<where> (?:on to|onto|on|into|in|under|behind|over|against|beside|upon|round"
    rf"|between|out of|from|off) (?:{_DET}|[A-Z])[^.;,!?]*?"
    r"(?= (?:and|that|which|as|while|when|till|until|because|where) |[.;,!?]|$))?"
)
_STARTS = r"(?:^|[,;:] (?:and |but |then |so )?|\b(?:and|but|while|when|as|then) )"


@dataclass(frozen=True, slots=True)
class NarratedAction:
    """Somebody does something: `verb` as it is asked after, with the thing."""

    who: str
    verb: str
    thing: str
    noun: str
    where: str
    place: AnswerPlace


def draft_action_questions(material: SourceMaterial) -> Iterator[QuestionDraft]:
    """Yield questions on the place, object or doer of actions that are done once."""
    deeds = [
        deed for deed in _found(material) if stem_noun(deed.noun) in material.nouns
    ]
    by_doer = Counter((deed.who, deed.verb) for deed in deeds)
    sentences = _by_stem(material)
    heads = _heads()
    for deed in deeds:
        stem = stem_noun(deed.noun)
        near = sum(_is_near(heads[deed.verb], stem, s) for s in sentences[stem])
        if not deed.verb:
            yield from _done_with(deed, sentences[stem], material)
        elif near <= 1:
            once = by_doer[deed.who, deed.verb] == 1
            yield from _asked(deed, material, once=once)


def _by_stem(material: SourceMaterial) -> dict[str, list[list[str]]]:
    """Return the words of the story's sentences, grouped by each stem they contain."""
    sentences_by_stem: dict[str, list[list[str]]] = defaultdict(list)
    for document, spans in material.sentences.items():
        text = material.texts[document]
        for span in spans:
            words = [
                w.lower() for w in WORD_PATTERN.findall(text[span.start : span.end])
            ]
            for stem in {stem_noun(word) for word in words}:
                sentences_by_stem[stem].append(words)
    return sentences_by_stem


def _is_near(heads: Collection[str], stem: str, words: Sequence[str]) -> bool:
    """Say whether one of `heads` stands shortly before the thing."""
    things = [n for n, word in enumerate(words) if stem_noun(word) == stem]
    return any(
        word in heads or stem_lightly(word) in heads
        for at in things
        for word in words[max(0, at - _NEAR) : at]
    )


def _heads() -> dict[str, set[str]]:
    """Return the first words that can express each action, in any tense."""
    heads: dict[str, set[str]] = defaultdict(set)
    for narrated_verb, question_verb in ACTION_VERBS.items():
        head = question_verb.partition(" ")[0]
        heads[question_verb] |= {
            narrated_verb.partition(" ")[0],
            head,
            stem_lightly(head),
        }
    return heads


def _asked(
    deed: NarratedAction, material: SourceMaterial, *, once: bool
) -> Iterator[QuestionDraft]:
    """Yield a question on a deed that is done to one thing once, if there is a good one.

    `once` says that this person does no other such deed.
    """
    count = material.stems[stem_noun(deed.noun)]
    turn = deed.place.span.start % 2
    if deed.where and deed.verb in WHERE and count <= _KNOWN and (turn or not once):
        text = f"Where does {deed.who} {deed.verb} the {deed.noun}?"
        yield _draft(deed, text, deed.where)
    elif once and deed.where:
        text = f"What does {deed.who} {deed.verb}{deed.where}?"
        yield _draft(deed, text, deed.thing)
    elif once and deed.verb in DISTINCTIVE_VERBS and turn:
        yield _draft(deed, f"What does {deed.who} {deed.verb}?", deed.thing)
    elif count <= _KNOWN and deed.verb not in BOUND:
        yield _draft(deed, f"Who {_third(deed.verb)} {_a_or_the(deed)}?", deed.who)


def _done_with(
    deed: NarratedAction, sentences: Sequence[Sequence[str]], material: SourceMaterial
) -> Iterator[QuestionDraft]:
    """Yield a question on what is done with a thing that comes up seldom."""
    names = {word.lower() for word in deed.who.split()}
    together = sum(not names.isdisjoint(words) for words in sentences)
    if together <= 1 and material.stems[stem_noun(deed.noun)] <= _SELDOM:
        text = f"What does {deed.who} do with {_a_or_the(deed)}?"
        yield _draft(deed, text, material.said(deed.place).rstrip("."))


def _a_or_the(deed: NarratedAction) -> str:
    if deed.thing.startswith(("a ", "an ")):
        return f"{'an' if deed.noun[0] in 'aeiou' else 'a'} {deed.noun}"
    return f"the {deed.noun}"


def _draft(deed: NarratedAction, text: str, answer: str) -> QuestionDraft:
    shown = answer.strip()
    return QuestionDraft(
        QuestionKind.FACT,
        text,
        (deed.place,),
        MADE,
        answer=f"{shown[:1].upper()}{shown[1:]}.",
        about=(deed.who, stem_noun(deed.noun)),
    )


def _found(material: SourceMaterial) -> Iterator[NarratedAction]:
    names = _forms(material)
    if not names:
        return
    pattern = _pattern(list(names))
    for document in material.order.story:
        text = material.texts.get(document, "")
        for span in material.narration(document):
            words = " ".join(text[span.start : span.end].split())
            for match in pattern.finditer(words):
                yield from _deed(match, names, AnswerPlace(document, span))


def _deed(
    match: re.Match[str], names: Mapping[str, str], place: AnswerPlace
) -> Iterator[NarratedAction]:
    noun = match["noun"].lower()
    if noun in VAGUE_WORDS | BODY | STOP_WORDS or len(noun) < 3:
        return
    verb = ACTION_VERBS.get(match["verb"], "")
    if match["verb"] in NOT_ACTIONS:
        return
    where = match["where"] or ""
    doer = names[match["who"]]
    yield NarratedAction(
        doer, verb, f"{match['det']} {match['np']}", noun, where, place
    )


def _pattern(forms: Sequence[str]) -> re.Pattern[str]:
    longest = sorted(forms, key=len, reverse=True)
    doers = "|".join(re.escape(form) for form in longest)
    verbs = "|".join([*sorted(ACTION_VERBS, key=len, reverse=True), "[a-z]{3,}ed"])
    before = "|".join([*sorted(EVENT_VERBS), "[a-z]{3,}ed"])
    return re.compile(
        rf"{_STARTS}(?P<who>{doers}) (?:(?:{before}) (?:[a-z-]+ ){{0,7}}?and )?"
        rf"{_ADVERB}(?P<verb>{verbs}) (?P<det>{_DET}) "
        rf"(?P<np>(?:[\w-]+ ){{0,2}}?(?P<noun>[a-z]+(?:-[a-z]+)*)){_ENDED}{_SOMEWHERE}"
    )


def _forms(material: SourceMaterial) -> dict[str, str]:
    """Return the names by which one person surely is meant, and whom."""
    forms: dict[str, str] = {}
    for profile in material.people():
        for form in material.forms(profile):
            forms.setdefault(form, profile.name)
    return forms


def _third(verb: str) -> str:
    """Return a verb as it is said of her or him: "pick up" is "picks up"."""
    head, _, rest = verb.partition(" ")
    if head.endswith(("ch", "sh", "ss", "x", "o", "zz")):
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = f"{head[:-1]}ies"
    else:
        head += "s"
    return f"{head} {rest}" if rest else head
