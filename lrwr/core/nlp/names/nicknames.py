"""Which given name a short one stands for."""

from collections.abc import Iterable
from functools import cache

from lrwr.core.nlp.names.given_names import FEMALE_NAMES, MALE_NAMES

_MORE = {
    "nell": ("helen", "eleanor", "ellen", "cornelia", "penelope"),
    "nellie": ("helen", "eleanor", "ellen"),
    "nelly": ("helen", "eleanor", "ellen"),
    "kitty": ("catherine", "katherine", "kathleen"),
    "kate": ("catherine", "katherine"),
    "katy": ("catherine", "katherine"),
    "kit": ("christopher", "catherine"),
    "lizzie": ("elizabeth",),
    "eliza": ("elizabeth",),
    "lou": ("louisa", "louise"),
    "jem": ("james", "jeremy"),
    "jim": ("james",),
    "jack": ("john",),
    "charley": ("charles",),
    "harry": ("henry", "harold"),
    "hal": ("henry", "harold"),
    "dot": ("dorothea", "dorothy"),
    "dolly": ("dorothea", "dorothy"),
    "mags": ("magdalen", "magdalena", "margaret"),
    "meg": ("margaret",),
    "maggie": ("margaret",),
    "peggy": ("margaret",),
    "polly": ("mary",),
    "molly": ("mary",),
    "sally": ("sarah",),
    "sadie": ("sarah",),
    "ned": ("edward", "edmund"),
    "ted": ("edward", "theodore"),
    "bab": ("barbara",),
    "gus": ("augustus", "angus"),
    "tony": ("anthony", "antony"),
    "alec": ("alexander",),
    "sandy": ("alexander", "alexandra"),
    "sasha": ("alexander", "alexandra"),
    "bertie": ("albert", "herbert", "bertram"),
    "fanny": ("frances", "fanny"),
    "frank": ("francis", "franklin"),
    "will": ("william",),
    "bill": ("william",),
    "dick": ("richard",),
    "bob": ("robert",),
    "robin": ("robert",),
    "tess": ("theresa", "teresa"),
    "tibby": ("isabel", "theobald"),
    "bella": ("isabella", "arabella", "annabella"),
}
"""Short forms of English fiction that the list does not have."""

_LONG_ENOUGH = 3


@cache
def _list() -> dict[str, frozenset[str]]:
    from nicknames import name_triplets

    full: dict[str, set[str]] = {}
    for name, relationship, short in name_triplets():
        if relationship == "has_nickname":
            full.setdefault(short, set()).add(name)
    for short, names in _MORE.items():
        full.setdefault(short, set()).update(names)
    return {short: frozenset(names) for short, names in full.items()}


@cache
def _known() -> frozenset[str]:
    return FEMALE_NAMES.union(MALE_NAMES, _list(), *_list().values())


def is_given_name(word: str) -> bool:
    """Say whether `word` is a given name of English custom."""
    return word.lower() in _known()


def expand_nickname(short: str) -> frozenset[str]:
    """Return the given names, in lower case, that `short` may stand for."""
    return _list().get(short.lower(), frozenset())


def is_short_for(short: str, name: str) -> bool:
    """Say whether `short` is used for `name`; both in any case."""
    short, name = short.lower(), name.lower()
    if short == name:
        return True
    return name in expand_nickname(short) or _is_cut_of(short, name)


def is_same_given_name(first: str, second: str) -> bool:
    """Say whether two given names may be one person's."""
    first, second = first.lower(), second.lower()
    if first[:1] == second[:1] and (
        _is_cut_of(first, second) or _is_cut_of(second, first)
    ):
        return True
    return (
        first == second
        or second in expand_nickname(first)
        or first in expand_nickname(second)
    )


def find_matching_given_names(word: str, givens: Iterable[str]) -> set[str]:
    """Return those of `givens` that may be one person's with `word`; all small."""
    known_names, letter = (
        expand_nickname(word) | _short_names().get(word, frozenset()),
        word[:1],
    )
    return {
        given_name
        for given_name in givens
        if given_name in known_names
        or (given_name[:1] == letter and is_same_given_name(word, given_name))
    }


@cache
def _short_names() -> dict[str, frozenset[str]]:
    """Return for each given name those that are short for it."""
    shorts_by_name: dict[str, set[str]] = {}
    for short, names in _list().items():
        for name in names:
            shorts_by_name.setdefault(name, set()).add(short)
    return {name: frozenset(shorts) for name, shorts in shorts_by_name.items()}


def _is_cut_of(short: str, name: str) -> bool:
    """Say whether `short` is the beginning of `name`, perhaps with -y or -ie."""
    ending = next((e for e in ("ie", "y") if short.endswith(e)), "")
    stem = short.removesuffix(ending)
    enough = _LONG_ENOUGH if ending == "ie" else _LONG_ENOUGH + 1
    if len(stem) < enough or len(name) < len(stem) + 2:
        return False
    return name.startswith(stem)
