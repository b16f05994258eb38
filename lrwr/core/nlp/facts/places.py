"""Recognition of place names."""

import re
from collections.abc import Iterator

from lrwr.core.model.facts import Certainty, ElementType, Fact, FactAbout, WorldField
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    find_matches_at,
    is_known_person,
    make_fact,
    split_narration_and_speech,
)
from lrwr.core.nlp.text.prose import (
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
)

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
