"""Extraction of places: names, possessives such as "Mr. Vale's shop", and rooms."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lrwr.core.model.facts import (
    LOCATIVE_DETAIL,
    MENTIONS_DETAIL,
    PART_OF_DETAIL,
    Certainty,
    ElementType,
    Fact,
    FactAbout,
    WorldField,
)
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    find_matches_at,
    find_sentence_subject,
    is_known_person,
    make_fact,
    split_narration_and_speech,
)
from lrwr.core.nlp.names.lexicon import is_given_name
from lrwr.core.nlp.text.prose import (
    AnnotatedProse,
    ProseSentence,
    find_capitalized_offsets,
)

_NOUNS_TEXT = (
    "House Street Road Lane Square Park Hall Court Place Gate Bridge Church Abbey "
    "Castle Tower Hill Wood Woods Forest Moor Marsh River Lake Sea Bay Harbour Harbor "
    "Port Island Isle Valley Mountain Mountains Hills Cottage Inn Hotel Tavern "
    "School College University Station Market Row Terrace Gardens Garden Grove "
    "Farm Manor Grange Priory Cathedral Chapel Prison Hospital Theatre Museum "
    "Palace Fort Cliff Beach Shore Point Head County Village Town City "
    "Avenue Boulevard Crescent Mews Wharf Dock Docks Quay Quarter Heath Common "
    "Green Down Downs Fields Field Mill Wells Falls Ford Creek Brook Pond Ditch "
    "Pass Peak Ridge Desert Plains Ocean Coast Bank Library Lodge Villa Alley Arms "
    "Mount Parsonage Rectory Vicarage Spinney Copse Arch Statue Buildings Chambers"
)
PLACE_NOUNS = frozenset(_NOUNS_TEXT.split())
"""Last words of names of places."""
_LOWERCASE_NOUNS_TEXT = (
    "street road lane square lodge hall park house church terrace gardens"
)
LOWERCASE_NOUNS = frozenset(_LOWERCASE_NOUNS_TEXT.split())
"""Those of `PLACE_NOUNS` that older books write in lower case: "Gull-street"."""
_SURNAME_NOUNS_TEXT = (
    "Hill Wells Wood Woods Fields Field Brook Marsh Forest Lake Moor Church Lane Bay "
    "Heath Green Bank Head Mill Ford Park Down Downs Bridge Hall Place Pond Court "
    "Garden Grove Cliff Mount Quarter Row Port"
)
SURNAME_NOUNS = frozenset(_SURNAME_NOUNS_TEXT.split())
"""Those of `PLACE_NOUNS` that are also surnames."""
_STRONG_PREPOSITIONS_TEXT = (
    "in at into near through throughout toward towards across outside inside around "
    "round beyond reached within"
)
STRONG_PREPOSITIONS = frozenset(_STRONG_PREPOSITIONS_TEXT.split())
_WEAK_PREPOSITIONS_TEXT = "to from entered left behind along by"
WEAK_PREPOSITIONS = frozenset(_WEAK_PREPOSITIONS_TEXT.split())
"""Prepositions and verbs that precede places as often as other things."""
_PAIRS_TEXT = (
    "left for|leave for|road to|way to|journey to|back to|went to|go to|"
    "gone to|came to|come to|come from|came from|arrived from|down to|up to|"
    "over to|sent to|return to|returned to|removed to|walk to|drive to|walked to|"
    "drove to|off to|going to|taken to|visit to|got to|out of|streets of|arrived at"
)
STRONG_WORD_PAIRS = frozenset(_PAIRS_TEXT.split("|"))
"""Two words before a name that make it a place's."""
_KINDS_OF_PLACES_TEXT = (
    "city town village county isle parish port neighbourhood neighborhood hamlet borough "
    "island district suburb kingdom province"
)
KINDS_OF_PLACES = frozenset(_KINDS_OF_PLACES_TEXT.split())
"""Nouns before "of" and a name that say that it is a place's."""
_NOT_LOCATIVE_BEFORE_TEXT = (
    "look looked looking looks glance glanced glancing stare stared staring gaze gazed "
    "gazing laugh laughed laughing smile smiled smiling frown frowned pointed nodded "
    "angry aimed shouted scowled winked believe believed believes belief faith "
    "confidence confide confided trust trusted interest interested change changed "
    "delight delighted disappointed see saw seen written read reading read sung played "
    "hope joy pleasure"
)
NOT_LOCATIVE_BEFORE = frozenset(_NOT_LOCATIVE_BEFORE_TEXT.split())
"""Words before "at" or "in" after which a person or a thing follows."""
_NO_PLACE_NAMES_TEXT = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February "
    "March April May June July August September October November December "
    "Christmas Easter Michaelmas Lent Spring Summer Autumn Winter God Gods Heaven Hell "
    "Providence Nature Fortune Fate Love Death Time Parliament Congress Lord Lor Jove "
    "Jupiter Venus Mars Apollo Christ Jesus Satan Devil Bible Scripture Scriptures "
    "Latin Greek English French German Italian Spanish Russian Dutch Hebrew Arabic "
    "Chinese Japanese Roman Mr Mrs Miss Ms Sir Madam Monsieur Madame Messieurs "
    "Mademoiselle Esq Court Society"
)
NO_PLACE_NAMES = frozenset(_NO_PLACE_NAMES_TEXT.split())
"""Words of no place's name: days, gods, languages, forms of address."""
_WORKS_AND_PAPERS_TEXT = (
    "Times Gazette Herald Chronicle Standard Globe Courier Journal Guide Calendar "
    "Book Books Magazine Review Sermons Post Mail Telegraph Observer Mercury Tribune "
    "News Advertiser Examiner Spectator Tales Poems Sonata Symphony Act Bill Law "
    "Company Committee Society Army Navy Ministry Office Press Murder Inquest"
)
WORKS_AND_PAPERS = frozenset(_WORKS_AND_PAPERS_TEXT.split())
"""Last words of titles of works, of newspapers and of organisations."""
_ACTS_LIKE_A_PERSON_TEXT = (
    "said says asked cried replied answered thought felt who whom eyes face hand hands "
    "voice arm heart mother father sister brother wife husband exclaimed whispered "
    "murmured muttered smiled nodded laughed sighed"
)
ACTS_LIKE_A_PERSON = frozenset(_ACTS_LIKE_A_PERSON_TEXT.split())
"""Words that follow a person's name."""
_MAY_FOLLOW_RESIDENCE_TEXT = (
    "as with and or but in on till until when where while after before for to that he "
    "she i we they last yesterday to-day to-night to-morrow again once then"
)
MAY_FOLLOW_RESIDENCE = frozenset(_MAY_FOLLOW_RESIDENCE_TEXT.split())
"""Words that may follow "at Mr. Vale's"; any other is what Mr. Vale owns."""
_RESIDENCES_TEXT = (
    "house home cottage studio shop farm lodgings lodging rooms room library garden "
    "estate mill chambers villa flat office cell cabin tavern inn school stable "
    "bedroom dressing-room drawing-room study place"
)
RESIDENCES = frozenset(_RESIDENCES_TEXT.split())
"""Nouns after a possessive that make a place: "Mr. Vale's shop"."""
_ALONE_TEXT = (
    "abbey almshouse archway arcade arena attic bakery balcony ballroom barn barracks "
    "basement bathroom battlements bay beach bedroom belfry boathouse boudoir brewery "
    "bridge cabin cafe canteen castle cathedral causeway cave cavern cellar cemetery "
    "chapel church churchyard clinic cloister club coach-house cockpit coffee-house college "
    "conservatory convent copse cottage courthouse courtroom courtyard crypt dairy "
    "dining-room dispensary docks dormitory drawing-room dressing-room dungeon embassy "
    "factory farm farmhouse farmyard ferry foundry forge forest fort fortress gallery "
    "garage garden gardens garret graveyard greenhouse grove guardroom gymnasium harbour "
    "harbor hall harem hayloft hospital hotel infirmary inn jail jetty kitchen laboratory "
    "laundry library lighthouse lodge loft manor manse marsh mansion market mill "
    "monastery moor morgue morning-room mosque museum nursery observatory office opera "
    "orchard orphanage palace palisade pantry park parlour parlor parsonage pier "
    "playground plantation police-station post-office prison public-house pub quarry quay "
    "railway-station ranch rectory refectory restaurant saloon school schoolroom "
    "scullery shipyard shrubbery smithy smoking-room sitting-room spinney stable stables "
    "station studio study summer-house summerhouse surgery swamp tavern temple theatre "
    "theater throne-room tower treasury tunnel university valley vault vestry vicarage "
    "waiting-room warehouse watchtower waterfront wharf windmill woods workhouse workshop"
)
_MODIFIED_TEXT = "room house shop office den station field store theatre tent camp hut"
PLACES_WITH_MODIFIER = frozenset(_MODIFIED_TEXT.split())
"""Common nouns of places that need a word before them: "the assembly room"."""
COMMON_PLACES = frozenset(_ALONE_TEXT.split()) | PLACES_WITH_MODIFIER
"""All common nouns of places after "the"."""
_DROPPED_MODIFIERS_TEXT = (
    "old little great big small large long dark next same other whole very first last "
    "new own open narrow wide high low deep quiet silent front back inner outer lower "
    "upper adjoining opposite nearest distant only main second third bare cold warm "
    "poor good bad gloomy dingy black white red green grey gray brown blue best right "
    "left private public neighbouring ancient ruined huge vast tiny whole entire fine "
    "sick hot close near far late sunny dim bright lonely strange wretched squalid "
    "beautiful pretty cheerful common ordinary usual"
)
DROPPED_MODIFIERS = frozenset(_DROPPED_MODIFIERS_TEXT.split())
"""Adjectives that are no part of a place's name."""
_NOUNS_IN_Y_TEXT = (
    "assembly party jury nursery library laundry story city county military navy army "
    "grocery jewelry toy pastry embroidery surgery lottery body"
)
NOUNS_IN_Y = frozenset(_NOUNS_IN_Y_TEXT.split())
"""Words before a noun of a place that end like adjectives and are nouns."""

_NOUN = "|".join(sorted(PLACE_NOUNS | LOWERCASE_NOUNS))
_NAMED = LazyPattern(
    r"(?P<name>(?:[Tt]he )?(?:(?:St\. )?[A-Z][\w]+(?:-[A-Z]\w+)*(?:'s)? ){1,3}"
    rf"(?:{_NOUN})|(?:[Tt]he )?[A-Z]\w+(?:-[A-Z]\w+)*(?:'s)?-(?:{_NOUN}))\b(?![-'])"
)
_SAINT = LazyPattern(r"(?P<name>(?:[A-Z]\w+ )?St\. [A-Z]\w+(?:'s)?)(?![\w-])")
_NAME = LazyPattern(rf"(?P<name>{NAME_PATTERN})(?![\w-])")
_OWNED = LazyPattern(
    rf"(?P<name>(?P<owner>(?!The |the ){NAME_PATTERN})'s?"
    rf"(?: (?P<what>{'|'.join(sorted(RESIDENCES))})\b)?)(?![\w'-])"
)
_COMMON = LazyPattern(
    r"\b(?P<article>[Tt]he) (?P<name>(?:(?P<modifier>[A-Za-z][a-z]+(?:'s)?) )?"
    rf"(?P<noun>{'|'.join(sorted(COMMON_PLACES, key=len, reverse=True))}))\b(?![-'])"
)
_WITHIN = LazyPattern(
    r"(?:,(?: (?:in|at|near))?| in| at| of) "
    r"(?P<whole>(?:the )?[A-Z][\w-]+(?: [A-Z][\w-]+){0,3})"
)
_NEXT = re.compile(r"(?:'s)?,? ?([a-z]+)?")
_FIRST_WORD = re.compile(r" ?([\w'-]*)")
_SAINTED = re.compile(r"\.\s+([A-Z]\w+)")
_ITALIC = ("_", "*")
"""Marks after a title of a work, which is no place."""


@dataclass(frozen=True, slots=True)
class _Use:
    """One occurrence of a name that may be a place's, at `match`.

    `located` means that "in", "went to" or the like precedes it, `sure` that the text
    also says that it is a place: by a place noun ("Gull Street") or "the town of".
    """

    name: str
    match: re.Match[str]
    located: bool
    sure: bool


@dataclass(slots=True)
class _Place:
    """What one text says about a name that may be a place's."""

    first: ProseSentence
    names: Counter[str] = field(default_factory=Counter)
    uses: int = 0
    located: ProseSentence | None = None
    sure: bool = False
    is_acting: bool = False
    part_of: str = ""
    seen: dict[str, ProseSentence] = field(default_factory=dict)


def find_place_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield what the text says about names of places, in the order of first occurrence.

    A name with a locative use ("in Thole", "went to Thole") gives a setting with the
    sentence of the first such use, and a fact for each character whom a sentence puts
    there; any other name that may be a place's gives a mention. Details: the numbers of
    occurrences and of locative uses, and the place around it if the text names one. A
    setting is verified if the text also says that it is a place ("Gull Street", "the
    town of Thole"), otherwise probable. The whole story decides which places are
    listed; see `collect_world_elements`.
    """
    found: dict[str, _Place] = {}
    for sentence in prose.sentences:
        for words, is_spoken in split_narration_and_speech(sentence):
            starts = find_capitalized_offsets(words) if is_spoken else sentence.starts
            for use in _find_uses(prose, sentence, words, starts):
                place = found.setdefault(_key(use.name), _Place(sentence))
                _add_use(place, use, sentence, prose)
    for place in found.values():
        if not place.is_acting:
            yield from _build_facts(place)


def _key(name: str) -> str:
    return name.removeprefix("The ").removeprefix("the ").replace("-", " ").casefold()


def _add_use(
    place: _Place, use: _Use, sentence: ProseSentence, prose: AnnotatedProse
) -> None:
    place.names[use.name] += 1
    words, end = use.match.string, use.match.end("name")
    following = _NEXT.match(words, end)
    place.is_acting |= bool(following and following[1] in ACTS_LIKE_A_PERSON)
    if not use.located:
        return
    place.uses += 1
    place.sure |= use.sure
    place.located = place.located or sentence
    within = _WITHIN.match(words, end)
    if within and not is_known_person(within["whole"], prose):
        place.part_of = place.part_of or clean_name(within["whole"], prose)
    person = find_sentence_subject(prose, sentence.narration)
    if person and person not in use.name and is_known_person(person, prose):
        place.seen.setdefault(person, sentence)


def _build_facts(place: _Place) -> Iterator[Fact]:
    name = place.names.most_common(1)[0][0]
    if name.startswith("The "):
        name = f"the {name.removeprefix('The ')}"
    details: tuple[tuple[str, str], ...] = (
        (MENTIONS_DETAIL, str(place.names.total())),
        (LOCATIVE_DETAIL, str(place.uses)),
    )
    if place.part_of and _key(place.part_of) != _key(name):
        details += ((PART_OF_DETAIL, place.part_of),)
    is_setting = place.located is not None
    yield make_fact(
        FactAbout.WORLD,
        WorldField.ELEMENT_TYPE if is_setting else WorldField.MENTION,
        ElementType.SETTING if is_setting else "",
        (place.located or place.first).span,
        Certainty.VERIFIED if place.sure else Certainty.PROBABLE,
        subject=name,
        details=details,
    )
    for person, sentence in place.seen.items():
        yield make_fact(
            FactAbout.WORLD,
            WorldField.CONNECTED,
            person,
            sentence.span,
            Certainty.PROBABLE,
            subject=name,
        )


def _find_uses(
    prose: AnnotatedProse, sentence: ProseSentence, words: str, starts: Sequence[int]
) -> Iterator[_Use]:
    """Yield the uses in `words` of names that may be places'; `starts` are the offsets
    of capitalised words.
    """
    end = 0
    for start in starts:
        if start >= end and (use := _find_use_at(prose, words, start)):
            end = use.match.end()
            if not prose.text.startswith(_ITALIC, sentence.span.start + end):
                yield _complete_saint(prose, sentence, use)
    if sentence.words.isdisjoint(COMMON_PLACES):
        return
    for match in _COMMON.finditer(words):
        if name := _common_name(match):
            located = _is_located(words, match.start(), weak=True)
            yield _Use(name, match, located, sure=False)


def _find_use_at(prose: AnnotatedProse, words: str, start: int) -> _Use | None:
    for pattern, check in _CHECKS:
        for match in find_matches_at(pattern, words, (start,)):
            if name := check(match, prose):
                located = _is_located(words, start, weak=pattern is not _NAME)
                noun = pattern is _NAMED
                sure = noun and (located or _is_unlike_surname(name))
                sure = sure or _follows_kind(words, start)
                return _Use(name, match, located or noun or sure, sure)
    return None


def _complete_saint(prose: AnnotatedProse, sentence: ProseSentence, use: _Use) -> _Use:
    """Return `use` with the words after "St.", which ends a sentence for the splitter."""
    if not use.name.endswith(" St"):
        return use
    rest = _SAINTED.match(prose.text, sentence.span.start + use.match.end("name"))
    return replace(use, name=f"{use.name}. {rest[1]}") if rest else use


def _is_unlike_surname(name: str) -> bool:
    """Return whether the place noun of a name is hardly a surname's: "Abbey Farm"."""
    words = name.removeprefix("the ").removeprefix("The ").split(" ")
    return len(words) > 1 and words[-1] in PLACE_NOUNS - SURNAME_NOUNS


def _follows_kind(words: str, start: int) -> bool:
    """Return whether "the town of" or the like directly precedes offset `start`."""
    before = words[max(0, start - 24) : start].lower().split()
    return len(before) > 1 and before[-1] == "of" and before[-2] in KINDS_OF_PLACES


def _check_saint(match: re.Match[str], prose: AnnotatedProse) -> str:
    del prose
    located = _is_located(match.string, match.start(), weak=False)
    return match["name"] if located else ""


def _check_named(match: re.Match[str], prose: AnnotatedProse) -> str:
    name = clean_name(match["name"], prose)
    words = name.removeprefix("the ").removeprefix("The ").split(" ")
    if len(words) < 2 and "-" not in name:
        return ""
    if is_given_name(words[0]) and words[-1] in SURNAME_NOUNS and len(words) == 2:
        return ""
    return "" if _is_excluded(name) or _is_titled(name) else name


def _check_owned(match: re.Match[str], prose: AnnotatedProse) -> str:
    owner = clean_name(match["owner"], prose)
    if not owner or not is_known_person(owner, prose):
        return ""
    if not match["what"] and is_given_name(owner):
        return ""  # "beyond Nell's" is rarely a place
    if not match["what"]:
        following = _FIRST_WORD.match(match.string, match.end())
        word = following[1].lower() if following else ""
        located = _is_located(match.string, match.start(), weak=True)
        if not located or (word and word not in MAY_FOLLOW_RESIDENCE):
            return ""
    return match["name"][match["name"].index(owner) :]


def _check_plain(match: re.Match[str], prose: AnnotatedProse) -> str:
    name = clean_name(match["name"], prose)
    if not name or is_known_person(name, prose) or _is_excluded(name):
        return ""
    if match.string.startswith("'s", match.end()) and is_given_name(name):
        return ""  # "down to Nell's"
    if " " not in name and name not in prose.names:
        return ""  # capitalised only as the first word of sentences
    return name


_CHECKS: tuple[
    tuple[LazyPattern, Callable[[re.Match[str], AnnotatedProse], str]], ...
] = (
    (_SAINT, _check_saint),
    (_NAMED, _check_named),
    (_OWNED, _check_owned),
    (_NAME, _check_plain),
)


def _common_name(match: re.Match[str]) -> str:
    """Return "the chemist's shop", or "the garden" for "the old garden"; "" if the noun
    alone says too little.
    """
    modifier = match["modifier"] or ""
    is_dropped = modifier.lower() in DROPPED_MODIFIERS or (
        modifier.endswith(("ed", "est", "ous", "ful", "ish", "less", "y"))
        and modifier not in NOUNS_IN_Y
    )
    needs_modifier = match["noun"] in PLACES_WITH_MODIFIER
    if modifier and not is_dropped and (needs_modifier or modifier.endswith("'s")):
        return f"the {match['name']}"
    return (
        ""
        if needs_modifier or (modifier and not is_dropped)
        else f"the {match['noun']}"
    )


def _is_titled(name: str) -> bool:
    return name.split(" ")[0].rstrip(".") in (
        "Mr",
        "Mrs",
        "Miss",
        "Dr",
        "Lady",
        "Lord",
        "Sir",
    )


def _is_excluded(name: str) -> bool:
    """Return whether a name is no place's: in capitals, or with a word such as "Gazette"
    or "Providence".
    """
    words = name.split(" ")
    if any(len(word) > 1 and word.isupper() for word in words):
        return True
    return not NO_PLACE_NAMES.isdisjoint(words) or words[-1] in WORKS_AND_PAPERS


def _is_located(words: str, start: int, *, weak: bool) -> bool:
    """Return whether "in", "went to" or the like directly precedes offset `start`; with
    `weak`, also "to" and "from".
    """
    before = words[max(0, start - 32) : start].lower().split()
    if not before or not words[start - 1 : start].isspace():
        return False
    last, earlier = before[-1], before[-2] if len(before) > 1 else ""
    if last in STRONG_PREPOSITIONS or (weak and last in WEAK_PREPOSITIONS):
        return earlier.strip(",.;") not in NOT_LOCATIVE_BEFORE
    return f"{earlier} {last}" in STRONG_WORD_PAIRS
