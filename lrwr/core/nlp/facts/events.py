"""Extraction of events, and of reported speech between two people."""

import re
from collections.abc import Iterator

from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import LazyPattern, Span
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    ends_in_question,
    extract_clause_before,
    extract_verbatim,
    find_matches_at,
    find_prose_person_names,
    has_place_preposition,
    is_asserted,
    make_fact,
    may_be_person,
    to_text_span,
)
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
    ProseSentence,
)

_DEEDS_TEXT = (
    "died drowned perished expired fell slipped stumbled tripped collapsed "
    "fainted arrived returned came entered left departed fled escaped vanished "
    "disappeared ran rushed hurried hastened followed pursued chased caught "
    "seized grabbed snatched met found discovered noticed recognised recognized "
    "locked unlocked broke smashed tore burst struck hit "
    "slapped attacked fought wrestled killed murdered shot stabbed poisoned "
    "strangled wounded buried married proposed accepted refused promised swore "
    "confessed kissed embraced betrayed deserted abandoned rescued saved released "
    "freed arrested captured stole robbed hid threw flung "
    "dropped picked pulled pushed dragged lifted brought sent wrote "
    "read burned burnt lit sprang jumped leapt leaped climbed crept "
    "crossed knelt woke awoke whispered ordered summoned "
    "dismissed visited joined won lost sold bought paid quarrelled quarreled"
    " put set led drove rode sailed swam dived dug cut tied untied poured drank "
    "ate moved walked went marched reached passed landed boarded mounted ascended "
    "descended retired withdrew gathered danced sang inherited succeeded "
    "recovered gained struck fetched flew sank swung "
    "shot slammed knocked rang interrupted replaced removed drained "
    "filled emptied lifted laid sprang advanced retreated surrendered yielded"
)
EVENT_VERBS = frozenset(_DEEDS_TEXT.split())
"""Simple-past verbs of single, completed actions."""
_SUFFERED = (
    "killed murdered shot stabbed poisoned wounded buried married arrested captured "
    "rescued saved born taken dismissed sent robbed drowned hanged found attacked "
    "betrayed released expelled elected appointed invited summoned thrown carried"
)
_ADVERB = (
    r"(?:(?:then|now|suddenly|at last|at once|also|again|once more|\w+ly|just|"
    r"both|all|himself|herself) )?"
)
# A name (or several), an adverb, and a passive participle or a verb
_ACTION = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<who>{NAME_PATTERN})(?P<with>(?:, {NAME_PATTERN})*,? and {NAME_PATTERN})? {_ADVERB}"
    rf"(?:(?:was|were) {_ADVERB}(?P<suffered>{'|'.join(_SUFFERED.split())})"
    r"|(?P<deed>[a-z]+))\b"
)
_HABIT_TEXT = (
    "always often usually sometimes never every whenever generally frequently "
    "seldom rarely daily occasionally"
)
_HABIT = frozenset(_HABIT_TEXT.split())
_LONG = 160
"""Characters of a sentence above which only a part of it is quoted."""
_TRIGGERS = EVENT_VERBS | frozenset(_SUFFERED.split())


def find_event_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield an event for each narrated sentence in which a named person does something.

    Doubted, negated, questioned and habitual actions are skipped. The fact's value is
    the sentence verbatim; its details name the people in it. In text order.
    """
    for sentence in prose.sentences:
        if not _may_hold_event(sentence):
            continue
        for match in find_matches_at(_ACTION, sentence.narration, sentence.starts):
            name = clean_name(match["who"], prose)
            if name and may_be_person(name, prose) and _is_stated_event(match):
                yield _build_fact(prose, sentence, match.start())
                break


def _may_hold_event(sentence: ProseSentence) -> bool:
    if sentence.words.isdisjoint(_TRIGGERS) or sentence.words & _HABIT:
        return False
    return MASK_CHARACTER not in sentence.narration


def _is_stated_event(match: re.Match[str]) -> bool:
    words = match.string
    if not match["suffered"] and match["deed"] not in EVENT_VERBS:
        return False
    if has_place_preposition(words, match.start()):
        return False
    before = extract_clause_before(words, match.start())
    return is_asserted(before) and not ends_in_question(words, match.end())


def _build_fact(prose: AnnotatedProse, sentence: ProseSentence, at: int) -> Fact:
    span = _clause_span(sentence, at)
    start = span.start - sentence.span.start
    words = sentence.narration[start : start + len(span)]
    involved = [
        n for n in find_prose_person_names(prose, words) if may_be_person(n, prose)
    ]
    return make_fact(
        FactAbout.EVENT,
        "event",
        extract_verbatim(prose, span),
        span,
        Certainty.PROBABLE,
        details=tuple(("involved", name) for name in involved),
    )


def _clause_span(sentence: ProseSentence, at: int) -> Span:
    """Return the sentence; of a long one, the part around `at` between `;` or `:`."""
    words = sentence.narration
    if len(words) <= _LONG:
        return sentence.span
    start = max(words.rfind(";", 0, at), words.rfind(":", 0, at)) + 1
    start += len(words[start:]) - len(words[start:].lstrip())
    ends = [words.find(mark, at) for mark in ";:"]
    end = min((end for end in ends if end >= 0), default=len(words))
    return to_text_span(sentence, start, end)


_VERBS = "told informed assured warned reminded notified advised persuaded convinced"
_TO_VERBS = (
    "confessed explained admitted mentioned confided announced revealed remarked "
    "whispered reported repeated related described declared"
)
_WHEN = (
    r"(?:then |also |once |had |has |had once |had already |afterwards |"
    r"later |at last |now |again |frankly |quietly |solemnly )*"
)
# "Nell told Corin that …", "Nell confessed to Corin that …"
_REPORT = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<teller>{NAME_PATTERN}) {_WHEN}(?:(?:{'|'.join(_VERBS.split())}) "
    rf"|(?:{'|'.join(_TO_VERBS.split())}) to )(?P<hearer>{NAME_PATTERN})(?!['\w-]),? "
    r"(?P<what>(?:that|about|of|how|why|what|where|who|all about) [^;:!?\x01]{8,})"
)
_END = re.compile(r"[.,\s—–-]+$")
_TELLING_TRIGGERS = frozenset(f"{_VERBS} {_TO_VERBS}".split())


def find_reported_speech_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield a fact for each "Nell told Corin that …", with the reported words verbatim
    as its value.
    """
    for sentence in prose.sentences:
        if sentence.words.isdisjoint(_TELLING_TRIGGERS):
            continue
        for match in find_matches_at(_REPORT, sentence.narration, sentence.starts):
            teller = clean_name(match["teller"], prose)
            hearer = clean_name(match["hearer"], prose)
            if not (teller and hearer and _is_stated(match)):
                continue
            end = match.end() - len(_ending(match["what"]))
            start = match.end("teller") - len(teller)
            text_span = to_text_span(sentence, match.start("what"), end)
            yield make_fact(
                FactAbout.TOLD,
                "told",
                extract_verbatim(prose, text_span),
                to_text_span(sentence, start, end),
                Certainty.VERIFIED,
                subject=teller,
                details=(("hearer", hearer),),
            )


def _is_stated(match: re.Match[str]) -> bool:
    words = match.string
    if (
        has_place_preposition(words, match.start())
        or MASK_CHARACTER in words[match.end() : match.end() + 1]
    ):
        return False
    before = extract_clause_before(words, match.start())
    return is_asserted(before) and not ends_in_question(words, match.end())


def _ending(phrase: str) -> str:
    match = _END.search(phrase)
    return match.group() if match else ""
