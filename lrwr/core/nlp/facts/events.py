"""Extraction of events, of reported speech between two people, and of places."""

import re
from collections.abc import Iterator

from lrwr.core.model.facts import Certainty, ElementType, Fact, FactAbout, WorldField
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
    is_known_person,
    make_fact,
    may_be_person,
    split_narration_and_speech,
    to_text_span,
)
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
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


_NOUNS_TEXT = (
    "House Street Road Lane Square Park Hall Court Place Gate Bridge Church Abbey "
    "Castle Tower Hill Wood Forest Moor Marsh River Lake Sea Bay Harbour Harbor "
    "Port Island Isle Valley Mountain Mountains Hills Cottage Inn Hotel Tavern "
    "School College University Station Market Row Terrace Gardens Garden Grove "
    "Farm Manor Grange Priory Cathedral Chapel Prison Hospital Theatre Museum "
    "Palace Fort Cliff Beach Shore Point Head Post County Village Town City "
    "Avenue Boulevard Crescent Mews Wharf Dock Docks Quay Quarter Heath Common "
    "Green Down Downs Fields Field Mill Well Wells Falls Ford Creek Brook Pond "
    "Pass Peak Ridge Desert Plains Ocean Coast Bank Library Lodge Villa Alley"
)
_NOUNS = frozenset(_NOUNS_TEXT.split())
_NEAR_TEXT = (
    "in at into near through toward towards across outside inside around round "
    "beyond reached"
)
_NEAR = frozenset(_NEAR_TEXT.split())
# Two words before a place name
_NEAR_BY_TWO_TEXT = (
    "left for|leave for|road to|way to|journey to|back to|went to|go to|"
    "gone to|came to|come to|come from|came from|arrived from|down to|up to|"
    "over to|sent to|return to|returned to|removed to|walk to|drive to|"
    "visit to|neighbourhood of|city of|town of|village of|streets of|"
    "county of|isle of"
)
_NEAR_BY_TWO = frozenset(_NEAR_BY_TWO_TEXT.split("|"))
_AFTER = LazyPattern(rf"(?P<name>{NAME_PATTERN})(?!'s?\b|[\w-])")
_NAMED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<name>(?:[Tt]he )?(?:[A-Z][\w-]+(?:'s)? ){{1,3}}"
    rf"(?:{'|'.join(sorted(_NOUNS))}))\b(?!-)"
)
_NOT_PLACES_TEXT = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February "
    "March April May June July August September October November December "
    "Christmas Easter Michaelmas Spring Summer Autumn Winter God Heaven Hell "
    "Providence Nature Fortune Fate Love Death Time Parliament Congress"
)
_NOT_PLACES = frozenset(_NOT_PLACES_TEXT.split())
_SPEAKS = frozenset(
    ["said", "asked", "cried", "replied", "answered", "thought", "felt", "who"]
)


def find_place_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield one fact per name of a place, in the order of first occurrence: it is a
    setting, probable, with the sentence of that occurrence.

    A name is a place if it has a place noun ("Gull Street") or follows place words
    ("in", "went to") and is never used like a person's name. Without known people, or
    if the name begins with "the", two occurrences are needed; a place noun counts as
    two.
    """
    first: dict[str, ProseSentence] = {}
    counts: dict[str, int] = {}
    for sentence in prose.sentences:
        for name, weight in _iter_place_names(prose, sentence):
            first.setdefault(name, sentence)
            counts[name] = counts.get(name, 0) + weight
    people = _find_acting_names(prose, counts)
    for name, sentence in first.items():
        least = 1 if prose.known and not name.startswith(("the ", "The ")) else 2
        if counts[name] >= least and name not in people:
            yield make_fact(
                FactAbout.WORLD,
                WorldField.ELEMENT_TYPE,
                ElementType.SETTING,
                sentence.span,
                Certainty.PROBABLE,
                subject=name,
            )


def _iter_place_names(
    prose: AnnotatedProse, sentence: ProseSentence
) -> Iterator[tuple[str, int]]:
    for words, is_spoken in split_narration_and_speech(sentence):
        starts = find_capitalized_offsets(words) if is_spoken else sentence.starts
        for match in find_matches_at(_AFTER, words, starts):
            name = (
                clean_name(match["name"], prose) if _follows_place_word(match) else ""
            )
            if name and _may_be_place(name, prose):
                yield name, 1
        for match in find_matches_at(_NAMED, words, starts):
            name = clean_name(match["name"], prose)
            if " " in name and _may_be_place(name, prose):
                yield name, 2


def _follows_place_word(match: re.Match[str]) -> bool:
    """Return whether "in", "went to" or the like precedes a name."""
    before = match.string[max(0, match.start() - 24) : match.start()].split()
    return bool(before) and (
        before[-1] in _NEAR or " ".join(before[-2:]) in _NEAR_BY_TWO
    )


def _may_be_place(name: str, prose: AnnotatedProse) -> bool:
    return not is_known_person(name, prose) and _NOT_PLACES.isdisjoint(name.split(" "))


def _find_acting_names(prose: AnnotatedProse, names: dict[str, int]) -> set[str]:
    """Return the names that speak, think, or own body parts and relatives."""
    acting: set[str] = set()
    single = [name for name in names if name.split(" ")[-1] not in _NOUNS]
    if not single:
        return acting
    pattern = re.compile(
        rf"\b(?P<name>{'|'.join(re.escape(name) for name in single)})"
        rf"(?:,? (?:{'|'.join(_SPEAKS)})\b|'s (?:eyes|face|hand|hands|voice|head|arm|"
        r"heart|mother|father|sister|brother|wife|husband)\b)|"
        rf"\b(?:{'|'.join(_SPEAKS)}) (?P<after>{'|'.join(re.escape(n) for n in single)})\b"
        rf"|\b(?:Mr|Mrs|Miss|Sir|Lady|Lord|Dr|Captain)\.? "
        rf"(?P<titled>{'|'.join(re.escape(n) for n in single)})\b"
    )
    for sentence in prose.sentences:
        for match in pattern.finditer(sentence.narration):
            acting.add(match["name"] or match["after"] or match["titled"])
    return acting
