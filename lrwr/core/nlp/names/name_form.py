"""Name forms: parsing, gender by given name, and nicknames."""

import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from lrwr.core.model.cast import Character, Gender
from lrwr.core.nlp.names.lexicon import (
    NAME_EPITHETS,
    PARTICLES,
    PEOPLE_SUFFIXES,
    infer_title_gender,
    normalize_name_title,
    split_bare_words,
)

# Two or more capitalised parts in one word: NellTallow
_JOINED = re.compile(r"([A-Z][a-z]+)(?:[A-Z][a-z]+)+")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_PREFIXES = frozenset({"Mc", "Mac", "Fitz", "De", "Di", "La", "Le", "Van", "Von"})


@dataclass(slots=True)
class NameForm:
    """One spelling of a name ("Mr. Vale"), counted over all documents.

    `title` is normalized ("mr") or empty, `words` are the words after it, `of` is what
    follows an "of" ("Duke of Thole"). `counts` holds cue counts as described at
    `NameEvidence.forms`. `first` is the first occurrence: index of the document and
    character offset. `documents` counts the documents with this form. `male` and
    `female` are the gender votes of the given name.

    `given_name` and `last` are the given name and the surname of two or more words, else
    empty: the first word, and the last one with its particles ("de"), in lower case.
    """

    name: str
    title: str
    words: tuple[str, ...]
    of: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    first: tuple[int, int] = (0, 0)
    documents: int = 0
    male: int = 0
    female: int = 0
    given_name: str = field(init=False, default="")
    last: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if len(self.words) > 1:
            self.given_name = self.words[0].lower()
            self.last = _surname_with_particles(self.words)

    @classmethod
    def of_name(cls, name: str) -> "NameForm":
        """Return the form of `name` with its title and words; all counts are 0."""
        title, words, of = parse_name_form(name)
        return cls(name, title, words, of)

    @property
    def n(self) -> int:
        """Number of occurrences of this form in all documents."""
        return self.counts["n"]

    @property
    def parts(self) -> frozenset[str]:
        """Lower-case words of a name written without a space ("BrineHob"); else empty."""
        name = self.words[0] if len(self.words) == 1 else ""
        match = _JOINED.fullmatch(name)
        if match is None or match[1] in _PREFIXES:
            return frozenset()
        return frozenset(word.lower() for word in _CAPITAL.findall(name))


def is_single_word(form: NameForm) -> bool:
    """Return whether a form is one word without a title, such as "Nell"."""
    return not form.title and len(form.words) == 1 and not form.of


def is_joined_word(form: NameForm) -> bool:
    """Return whether a form is several words without a space, such as "NellTallow"."""
    return is_single_word(form) and bool(form.parts)


def is_titled_word(form: NameForm) -> bool:
    """Return whether a form is a title and one word, such as "Mr. Vale"."""
    return bool(form.title) and len(form.words) == 1 and not form.of


def is_full_name(form: NameForm) -> bool:
    """Return whether a form has several words after its title, or an "of"."""
    return bool(form.of) or len(form.words) > 1


def is_titled_initial(form: NameForm) -> bool:
    """Return whether a form is a title and an initial, such as "Mr. V"."""
    return len(form.words[-1].rstrip(".")) == 1


def _surname_with_particles(words: Sequence[str]) -> str:
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return " ".join(words[at:]).lower()


def parse_name_form(name: str) -> tuple[str, tuple[str, ...], str]:
    """Split a name into its title, its words, and the words after "of".

    "the Duke of Thole" gives ("duke", (), "Thole"). The title is normalized. Articles,
    epithets ("old") and suffixes ("Jr.") are dropped.
    """
    body, _, of = name.partition(" of ")
    words = body.split(" ")
    if len(words) > 1 and words[0].lower() in ("the", "a", "an"):
        words.pop(0)
    title = ""
    while len(words) > 1 and words[0].lower() in NAME_EPITHETS:
        words.pop(0)
    while words and normalize_name_title(words[0]) and (len(words) > 1 or not title):
        title = normalize_name_title(words.pop(0))
    while len(words) > 1 and words[-1].lower().rstrip(".") in PEOPLE_SUFFIXES:
        words.pop()
    return title, tuple(words), of


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


_LISTED_NAME_VOTES = 6
"""Votes of a given name from the lists; a pronoun near the name is one vote."""
_TITLE_VOTES = 5
"""Votes of a title before the given name."""
_MIN_MAJORITY = 0.72
"""Minimum share of the votes for a gender to be assigned."""


def score_given_name_gender(forms: Collection[NameForm]) -> None:
    """Set the gender votes `male` and `female` of each form.

    Votes come from pronouns, titles and lists of common names; those of all forms with
    the same given name are added up.
    """
    words = {id(form): _given_word(form) for form in forms}
    males, females = Counter[str](), Counter[str]()
    for form in forms:
        if word := words[id(form)]:
            male, female = _gender_votes(form)
            males[word] += male
            females[word] += female
    for form in forms:
        if word := words[id(form)]:
            form.male = males[word] + _LISTED_NAME_VOTES * (word in MALE_NAMES)
            form.female = females[word] + _LISTED_NAME_VOTES * (word in FEMALE_NAMES)


def _given_word(form: NameForm) -> str:
    if not form.words or form.title == "mrs" or form.of:
        return ""
    if form.given_name:
        return form.given_name
    if not form.title or form.title in ("sir", "aunt", "uncle", "sister", "brother"):
        return form.words[0].lower()
    return ""


def _gender_votes(form: NameForm) -> tuple[int, int]:
    title_gender = infer_title_gender(form.title)
    if title_gender is Gender.UNKNOWN:
        return form.counts["male"], form.counts["female"]
    is_male = title_gender is Gender.MALE
    return _TITLE_VOTES * is_male, _TITLE_VOTES * (not is_male)


def resolve_gender_votes(male: int, female: int) -> tuple[Gender, bool]:
    """Return the gender with at least 72 % of the votes, and whether that is certain.

    `male` and `female` are numbers of votes. Unknown with fewer than 2 votes or a
    smaller majority; certain from 5 votes.
    """
    total = male + female
    if total < 2 or max(male, female) / total < _MIN_MAJORITY:
        return Gender.UNKNOWN, False
    return (Gender.MALE if male > female else Gender.FEMALE), total >= 5


def infer_form_gender(form: NameForm) -> Gender:
    """Return the gender of the form's title, else of its votes if they are certain,
    else unknown.
    """
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return title_gender
    male = max(form.male, form.counts["male"])
    gender, sure = resolve_gender_votes(male, max(form.female, form.counts["female"]))
    return gender if sure else Gender.UNKNOWN


_EXTRA_NICKNAMES = {
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


@dataclass(frozen=True, slots=True)
class NameParts:
    """The first names and surnames of a character, folded, and the gender."""

    givens: frozenset[str]
    surnames: frozenset[str]
    gender: Gender

    @classmethod
    def of(cls, character: Character) -> "NameParts":
        """Split all names of a character into their parts.

        A single word is a surname after a title such as "Mr.", else a first name, unless
        it is the surname in another of the names.
        """
        givens, singles, surnames = set[str](), set[str](), set[str]()
        gender = character.gender
        for name in list_name_forms(character):
            title, _, _ = parse_name_form(name)
            words = split_bare_words(name)
            if gender is Gender.UNKNOWN:
                gender = infer_title_gender(title)
            if len(words) > 1:
                givens.add(words[0])
            if len(words) > 1 or (words and title):
                surnames.add(words[-1])
            else:
                singles.update(words)
        surnames -= givens
        return cls(frozenset(givens | singles - surnames), frozenset(surnames), gender)

    def may_be_called(self, words: Sequence[str]) -> bool:
        """Return whether no part contradicts a name of folded words, surname last."""
        has_other_surname = self.surnames and self.surnames.isdisjoint(words)
        has_other_gender = (
            self.gender is Gender.MALE and words[0] in FEMALE_NAMES - MALE_NAMES
        ) or (self.gender is Gender.FEMALE and words[0] in MALE_NAMES - FEMALE_NAMES)
        return (
            not has_other_surname
            and not has_other_gender
            and self.has_first_name(words)
        )

    def has_first_name(self, words: Sequence[str]) -> bool:
        """Return whether a first name, or a short form of one, is among folded words;
        true if no first name is known.
        """
        return not self.givens or any(
            is_same_given_name(own, word) for own in self.givens for word in words
        )


def list_name_forms(character: Character) -> tuple[str, ...]:
    """Return the name and all aliases of a character."""
    return character.name, *(alias.name for alias in character.aliases)
