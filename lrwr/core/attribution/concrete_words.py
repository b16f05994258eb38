"""Words of a concrete kind, such as colours and kin, that a statement changes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from lrwr.core.attribution.details import stem_words
from lrwr.core.model.text import WORD_PATTERN, normalize_word

_COLOURS = (
    "red crimson scarlet ruddy blood, blue azure navy, green emerald, white ivory snow"
    " pale, black ebony coal jet, brown chestnut auburn tan, grey gray slate silver ash,"
    " yellow gold golden amber straw, pink rose rosy, purple violet lilac mauve, orange"
)
_MATERIALS = (
    "iron, steel, brass bronze, copper, tin, gold golden, silver silvery, wood wooden oak"
    " oaken, wood wooden pine, wood wooden elm, wood wooden walnut, wood wooden mahogany,"
    " wood wooden beech, wood wooden cedar, stone, glass, wool woollen, silk silken, leather, linen, velvet"
)
_SIDES = "left, right"
_ANIMALS = (
    "horse mare pony, dog hound, cat kitten, mule donkey ass, ox cow bull, goat, sheep"
    " lamb, goose geese"
)
_KINDS = (
    "father papa dad da, mother mamma mama mam mum, brother brothers, sister sisters, son"
    " sons, daughter daughters girl, uncle, aunt, cousin cousins, nephew, niece,"
    " grandfather, grandmother, widow, widower",
    "monday, tuesday, wednesday, thursday, friday, saturday, sunday",
    "january, february, april, june, july, august, september, october,"
    " november, december, michaelmas, christmas, easter",
    "spring, summer, autumn fall, winter",
    "morning dawn breakfast, noon midday, afternoon, evening night midnight dusk supper",
    "minute minutes, hour hours, day days daily, week weeks weekly fortnight, month months,"
    " year years yearly annual winters",
    "pound pounds, guinea guineas, shilling shillings, crown crowns, penny pence pennies,"
    " franc francs, dollar dollars",
    "mile miles, foot feet, inch inches, yard yards, league leagues",
    "king, queen, prince, duke, duchess, earl, count, baron, lord, lady, knight, captain,"
    " colonel, major, sergeant, lieutenant, admiral, bishop, doctor, judge, parson clergyman",
    "north northern, south southern, east eastern, west western",
    "left, right",
    _ANIMALS,
    "iron, steel, brass bronze, copper, lead, tin, wood wooden oak, stone, glass, wool"
    " woollen, silk, leather, linen, velvet",
    "coat cloak, hat bonnet cap, gown dress frock, boots shoes, gloves, shawl scarf, ring,"
    " necklace, belt",
    "library study, kitchen, parlour drawing-room, bedroom bedchamber, garden, stable,"
    " cellar, attic loft, church chapel, inn tavern, mill, school, laboratory",
    "tall, short small little",
    "old elderly aged, young",
    "rich wealthy, poor",
)
"""Kinds of words; the words between two commas mean nearly the same."""

_EQUIVALENTS = (
    "marry married marriage wedding wed wedded, die died dies dead death dying, bury"
    " buried burial funeral, weep wept weeping cry cried cries crying tears sob sobbed"
    " sobbing, steal stole stolen theft thief rob robbed robbery, kill killed murder"
    " murdered slew slain, born birth, choose chose chosen choice, lose lost loss, flee"
    " fled flight escape escaped, speak spoke spoken speech, give gave given gift"
    " present, know knew known knowledge, think thought thoughts, believe believed"
    " belief, see saw seen sight, arrive arrived arrival, depart departed departure,"
    " live lived life lives, eat ate eaten, drink drank drunk, sell sold sale, fight"
    " fought, promise promised vow vowed swear swore sworn oath, quarrel quarrelled"
    " argue argued argument, anger angry rage fury furious, afraid fear feared"
    " frightened scared terrified terror, sad sorrow unhappy grief grieved, happy glad"
    " joy delighted pleased, begin began begun start started, end ended finish finished,"
    " ill sick illness sickness disease, child children infant baby, home house, money"
    " cash, doctor physician surgeon, hide hid hidden conceal concealed, throw threw"
    " thrown, break broke broken, fall fell fallen, run ran, leave left, send sent,"
    " bring brought, buy bought, catch caught, teach taught, find found, wear wore worn,"
    " sleep slept asleep, wake woke awoke awake, strike struck hit, big large great"
    " huge, small little tiny, quick fast swift"
)
"""Words, by groups, that say nearly the same in other forms or parts of speech."""

_CALENDAR = frozenset({2, 3})
"""The indexes, with the colours as 0, of the kinds with a capital letter."""

_VERB = re.compile(
    r"\brose(?=\s+(?:above|again|against|at|before|by|early|from|in|into|on|out|over|through"
    r"|to|up|with)\b)"
)
"""What looks like a colour but says that somebody or something gets up."""

_KIN = 1
"""The index of the kin words."""

MIN_KIN_SHARE = 0.3
MIN_SHARED = 2
MIN_SHARED_SHARE = 0.5
"""Other content words of a statement, and their share, that a sentence must have for it
to be the one that the statement follows."""


def find_changed_words(
    statement: str, sentences: Sequence[str], known: str
) -> tuple[str, ...]:
    """Return the concrete words of `statement` for which its source has others.

    `sentences` are those of the source. A colour is changed if neither the source nor
    `known` has it; another word if the sentences that `statement` follows closely have
    another word of its kind instead, which the statement lacks.
    """
    present = _words("\n".join((*sentences, known)))
    changed = []
    for word, (kind, group) in _list_concrete(statement):
        if not present.isdisjoint({*group, word.removesuffix("s"), f"{word}s"}):
            continue
        if kind == 0 or _is_replaced(word, kind, statement, sentences):
            changed.append(word)
    return tuple(dict.fromkeys(changed))


def _is_replaced(
    word: str, kind: int, statement: str, sentences: Sequence[str]
) -> bool:
    own = {
        group for _, (own_kind, group) in _list_concrete(statement) if own_kind == kind
    }
    stems = stem_words(statement) - stem_words(word)
    share = MIN_KIN_SHARE if kind == _KIN else MIN_SHARED_SHARE
    wanted = max(MIN_SHARED, share * len(stems))
    for sentence in sentences:
        if len(stems & stem_words(sentence)) < wanted:
            continue
        other = {g for _, (k, g) in _list_concrete(sentence) if k == kind}
        if other - own:
            return True
    return False


@cache
def group_equivalents() -> Mapping[str, frozenset[str]]:
    """Return for each word that has some the words that say nearly the same, with it."""
    groups = [frozenset(words.split()) for words in _EQUIVALENTS.split(",")]
    return MappingProxyType({word: group for group in groups for word in group})


@cache
def group_looks() -> Mapping[str, tuple[frozenset[int], frozenset[str]]]:
    """Return for each colour, material and side the kinds that it belongs to, 0, 1 and 2,
    and the words that mean the same.
    """
    kinds: dict[str, frozenset[int]] = {}
    groups: dict[str, frozenset[str]] = {}
    for index, kind in enumerate((_COLOURS, _MATERIALS, _SIDES)):
        for group in (frozenset(words.split()) for words in kind.split(",")):
            for word in group:
                kinds[word] = kinds.get(word, frozenset()) | {index}
                groups[word] = groups.get(word, frozenset()) | group
    return MappingProxyType({word: (kinds[word], groups[word]) for word in kinds})


@cache
def list_materials() -> frozenset[str]:
    """Return the words for materials that `group_looks` has."""
    return frozenset(word for word, (kinds, _) in group_looks().items() if 1 in kinds)


def is_colour(word: str) -> bool:
    """Return whether a normalized word is a colour."""
    return _group_by_word().get(word, (-1, ()))[0] == 0


@cache
def group_animals() -> Mapping[str, frozenset[str]]:
    """Return for each word for an animal the words that mean the same kind of it."""
    groups = (frozenset(words.split()) for words in _ANIMALS.split(","))
    return MappingProxyType({word: group for group in groups for word in group})


def _list_concrete(text: str) -> Iterator[tuple[str, tuple[int, frozenset[str]]]]:
    groups = _group_by_word()
    for match in WORD_PATTERN.findall(_VERB.sub("", text)):
        word = re.sub(r"['’]s?$", "", normalize_word(match))
        if word in groups and (match[0].islower() or groups[word][0] in _CALENDAR):
            yield word, groups[word]


@cache
def _group_by_word() -> Mapping[str, tuple[int, frozenset[str]]]:
    """Return for each concrete word the index of its kind, 0 for colours, and the words
    that mean the same.
    """
    return MappingProxyType(
        {
            word: (index, frozenset(group.split()))
            for index, kind in enumerate((_COLOURS, *_KINDS))
            for group in kind.split(",")
            for word in group.split()
        }
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(
        re.sub(r"['’]s?$", "", normalize_word(word))
        for word in WORD_PATTERN.findall(text)
    )
