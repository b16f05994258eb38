"""English given names and their short forms."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

_FEMALE_NAMES_TEXT = """ada adela adelaide agatha agnes alice alicia alison amanda amelia amy angela anita
    ann anna annabel anne annette annie audrey augusta barbara beatrice belinda bella
    bertha bess bessie beth betsey betsy betty bianca bridget camilla carla carol
    caroline carrie catherine cecilia celia charlotte christina christine clara claire
    clarissa constance cora cordelia cynthia daisy daphne deborah delia diana dinah dora
    doris dorothea dorothy edith effie eileen elaine eleanor elena eliza elizabeth ella
    ellen elsie emily emma emmeline esther ethel eugenia eva eve eveline evelyn fanny
    flora florence frances georgiana georgina gertrude gladys grace gwen gwendolen
    hannah harriet hattie helen helena henrietta hester hilda ida irene iris isabel
    isabella ivy jane janet jean jemima jennifer jenny jessica jessie joan joanna
    josephine joyce judith julia juliana juliet kate katherine kathleen kitty laura
    lavinia leah lena letitia lilian lily linda lisa lizzie lizzy lois louisa louise lucia
    lucilla lucinda lucy lydia mabel madeleine maggie marcia margaret maria marian
    marianne marie marjorie martha mary matilda maud maude meg melissa mercy mildred
    millicent minnie miranda miriam molly monica muriel myra myrtle nancy naomi natalie
    nell nellie nelly nina nora olive olivia ophelia pamela patience patricia paula
    pauline penelope philippa phoebe phyllis polly priscilla prudence rachel rebecca
    rhoda rosa rosalie rosalind rosamond rosamund rosemary ruth sally sandra sara sarah
    selina sheila sibyl sophia sophie stella susan susanna sybil sylvia tabitha teresa
    tess theodora theresa ursula valerie vera veronica victoria viola violet virginia
    vivian wendy winifred zoe"""
FEMALE_NAMES = frozenset(_FEMALE_NAMES_TEXT.split())
_MALE_NAMES_TEXT = """aaron abel abraham adam adrian alan albert alec alexander alfred ambrose andrew
    angus anthony antony archibald archie arnold arthur augustus barnaby bartholomew
    basil ben benjamin bernard bert bertram bill billy bob bobby brian bruce caleb carl
    cecil charles charley charlie christopher claude clement clifford colin cornelius
    cyril daniel dave david dennis dick donald douglas duncan ebenezer ed eddie edgar
    edmund edward edwin eli elijah ephraim eric ernest eugene eustace evan ezra felix
    ferdinand francis frank franklin fred freddy frederick gabriel geoffrey george gerald
    gilbert giles godfrey gordon graham gregory guy hal harold harry harvey hector henry
    herbert herman hiram horace howard hubert hugh humphrey ian isaac ivan jack jacob
    jake james jasper jeremiah jeremy jerry jim jimmy joe joel john johnny jonah jonathan
    joseph joshua josiah julian julius keith kenneth kevin lawrence lemuel leo leonard
    leopold lewis lionel louis luke marcus mark martin matthew maurice max michael miles
    mike mortimer moses nathan nathaniel ned neil nicholas nick nigel noah norman oliver
    oscar oswald owen patrick paul percy peter philip phineas pip ralph randolph raymond
    reginald reuben richard robert robin rodney roger roland ronald rupert sam samuel
    saul sebastian seth sidney silas simeon simon solomon stanley stephen steve steven
    sydney ted theodore thomas tim timothy tobias toby tom tommy tony ulysses valentine
    victor vincent walter wilfred will william willie"""
MALE_NAMES = frozenset(_MALE_NAMES_TEXT.split())
"""Common English given names of men; names used for both genders are in neither list."""

_EXTRA_NICKNAMES = {
    "nell": ("helen", "eleanor", "ellen", "cornelia", "penelope"),
    "nance": ("nancy", "anne"),
    "evie": ("evelyn", "eve", "eva"),
    "loo": ("louisa", "louise"),
    "nolly": ("oliver",),
    "sissy": ("cecilia", "priscilla"),
    "ally": ("alice", "alison"),
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
"""Nicknames of English fiction that are missing in the `nicknames` package."""
_MIN_STEM = 3
"""Minimum letters of a truncated name before -ie; one more without -ie."""


@cache
def _nickname_table() -> dict[str, frozenset[str]]:
    from nicknames import name_triplets

    full: dict[str, set[str]] = {}
    for name, relationship, short in name_triplets():
        if relationship == "has_nickname":
            full.setdefault(short, set()).add(name)
    for short, names in _EXTRA_NICKNAMES.items():
        full.setdefault(short, set()).update(names)
    return {short: frozenset(names) for short, names in full.items()}


@cache
def _known_given_names() -> frozenset[str]:
    return FEMALE_NAMES.union(
        MALE_NAMES, _nickname_table(), *_nickname_table().values()
    )


def is_given_name(word: str) -> bool:
    """Return whether `word` is a common English given name or nickname."""
    return word.lower() in _known_given_names()


def expand_nickname(short: str) -> frozenset[str]:
    """Return the given names, in lower case, that the nickname `short` may stand for."""
    return _nickname_table().get(short.lower(), frozenset())


def is_short_for(short: str, name: str) -> bool:
    """Return whether `short` equals `name` or is a nickname or short form of it,
    ignoring case.
    """
    short, name = short.lower(), name.lower()
    if short == name:
        return True
    return name in expand_nickname(short) or _is_truncation_of(short, name)


def is_same_given_name(first: str, second: str) -> bool:
    """Return whether two given names are equal or one is a short form of the other,
    ignoring case.
    """
    first, second = first.lower(), second.lower()
    if first[:1] == second[:1] and (
        _is_truncation_of(first, second) or _is_truncation_of(second, first)
    ):
        return True
    return (
        first == second
        or second in expand_nickname(first)
        or first in expand_nickname(second)
    )


def list_known_variants(word: str) -> frozenset[str]:
    """Return the given names that `word`, in lower case, is a nickname of, and its own
    nicknames, as far as they are in the table.
    """
    return expand_nickname(word) | _short_names().get(word, frozenset())


def find_matching_given_names(word: str, givens: Iterable[str]) -> set[str]:
    """Return those of `givens` that equal `word`, or are a short or long form of it.

    All names are in lower case.
    """
    known_names, letter = list_known_variants(word), word[:1]
    return {
        given_name
        for given_name in givens
        if given_name in known_names
        or (given_name[:1] == letter and is_same_given_name(word, given_name))
    }


@cache
def _short_names() -> dict[str, frozenset[str]]:
    """Return the nicknames of each given name."""
    shorts_by_name: dict[str, set[str]] = {}
    for short, names in _nickname_table().items():
        for name in names:
            shorts_by_name.setdefault(name, set()).add(short)
    return {name: frozenset(shorts) for name, shorts in shorts_by_name.items()}


def _is_truncation_of(short: str, name: str) -> bool:
    """Return whether `short` is a truncated `name`, optionally with -y or -ie."""
    stem = _truncation_stem(short)
    return bool(stem) and len(name) >= len(stem) + 2 and name.startswith(stem)


@lru_cache(maxsize=16_384)
def _truncation_stem(short: str) -> str:
    """Return the letters that a name begins with if `short` is a truncated form of it;
    "" if `short` has too few letters.
    """
    if short.endswith("ie"):
        return short[:-2] if len(short) - 2 >= _MIN_STEM else ""
    stem = short.removesuffix("y")
    return stem if len(stem) > _MIN_STEM else ""


class GivenNameIndex:
    """Given names in lower case, indexed for the search for short and long forms.

    A comparison with each name would take minutes in a text with thousands of names.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._sorted: list[str] = []
        self._by_stem: dict[str, set[str]] = {}
        self._stem_lengths: set[int] = set()

    def add(self, name: str) -> None:
        """Add a given name. Idempotent."""
        if name in self._names:
            return
        self._names.add(name)
        insort(self._sorted, name)
        stem = _truncation_stem(name)
        if stem:
            self._by_stem.setdefault(stem, set()).add(name)
            self._stem_lengths.add(len(stem))

    def find(self, word: str) -> set[str]:
        """Return the names that `word` equals or is a short or long form of, as
        `find_matching_given_names` does.
        """
        candidates = self._names & {word, *list_known_variants(word)}
        for length in self._stem_lengths:
            candidates |= self._by_stem.get(word[:length], set())
        candidates.update(self._beginning_with(_truncation_stem(word)))
        return find_matching_given_names(word, candidates)

    def _beginning_with(self, stem: str) -> Iterator[str]:
        first = bisect_left(self._sorted, stem) if stem else len(self._sorted)
        for place in range(first, len(self._sorted)):
            if not self._sorted[place].startswith(stem):
                return
            yield self._sorted[place]
