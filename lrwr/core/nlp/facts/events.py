"""Verbs of single actions, and extraction of reported speech."""

import re
from collections.abc import Iterator

from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    ends_in_question,
    extract_clause_before,
    extract_verbatim,
    find_matches_at,
    has_place_preposition,
    is_asserted,
    make_fact,
    to_text_span,
)
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
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
