"""One form of a name, taken apart, with what is counted of it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from lrwr.core.model.cast import Gender
from lrwr.core.nlp.names.lexicon import (
    NAME_EPITHETS,
    PARTICLES,
    PEOPLE_SUFFIXES,
    infer_title_gender,
    normalize_name_title,
)

_JOINED = re.compile(r"([A-Z][a-z]+)(?:[A-Z][a-z]+)+")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_PREFIXES = frozenset({"Mc", "Mac", "Fitz", "De", "Di", "La", "Le", "Van", "Von"})


@dataclass(slots=True)
class NameForm:
    """One form of a name, all documents taken together.

    `title` is plain ("mr"), empty without one; `words` are what follows it, `of`
    what follows an "of" ("the Duke of Thole"). `counts` are those of the evidence,
    `first` says where it stood first: document, character. `documents` have it.
    `male` and `female` weigh what the text, and English, say of the given name.
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

    @classmethod
    def of_name(cls, name: str) -> "NameForm":
        """Take `name` apart; nothing is counted yet."""
        title, words, of = parse_name_form(name)
        return cls(name, title, words, of)

    @property
    def n(self) -> int:
        """How often it stands in the text."""
        return self.counts["n"]

    @property
    def parts(self) -> frozenset[str]:
        """The words of a name written without a space, in lower case: BrineHob."""
        name = self.words[0] if len(self.words) == 1 else ""
        match = _JOINED.fullmatch(name)
        if match is None or match[1] in _PREFIXES:
            return frozenset()
        return frozenset(word.lower() for word in _CAPITAL.findall(name))

    @property
    def given(self) -> str:
        """The first word of two or more, in lower case; else ""."""
        return self.words[0].lower() if len(self.words) > 1 else ""

    @property
    def last(self) -> str:
        """The last word of two or more, particles with it, in lower case; else ""."""
        return _surname(self.words) if len(self.words) > 1 else ""


def _surname(words: Sequence[str]) -> str:
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return " ".join(words[at:]).lower()


def parse_name_form(name: str) -> tuple[str, tuple[str, ...], str]:
    """Take a name apart: its title, its words, and what follows an "of"."""
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


_FEMALE_NAMES_WRITTEN = """ada adela adelaide agatha agnes alice alicia alison amanda amelia amy angela anita
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
FEMALE_NAMES = frozenset(_FEMALE_NAMES_WRITTEN.split())
_MALE_NAMES_WRITTEN = """aaron abel abraham adam adrian alan albert alec alexander alfred ambrose andrew
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
MALE_NAMES = frozenset(_MALE_NAMES_WRITTEN.split())
"""Kept apart from names that are as often a girl's."""


_CUSTOM = 6
"""A given name of English custom weighs as much as this many pronouns."""
_TITLED = 5
"""A title before the given name weighs as much as this many pronouns."""
_SURE = 0.72


def score_given_name_gender(forms: Collection[NameForm]) -> None:
    """Set `male` and `female` of each form to what is said of its given name."""
    votes: dict[str, Counter[Gender]] = {}
    for form in forms:
        word = _given_word(form)
        if word:
            votes.setdefault(word, Counter()).update(_votes(form))
    for form in forms:
        word = _given_word(form)
        if word:
            form.male = votes[word][Gender.MALE] + _CUSTOM * (word in MALE_NAMES)
            form.female = votes[word][Gender.FEMALE] + _CUSTOM * (word in FEMALE_NAMES)


def _given_word(form: NameForm) -> str:
    if not form.words or form.title == "mrs" or form.of:
        return ""
    if form.given:
        return form.given
    if not form.title or form.title in ("sir", "aunt", "uncle", "sister", "brother"):
        return form.words[0].lower()
    return ""


def _votes(form: NameForm) -> Counter[Gender]:
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return Counter({title_gender: _TITLED})
    return Counter(
        {Gender.MALE: form.counts["male"], Gender.FEMALE: form.counts["female"]}
    )


def resolve_gender_votes(male: int, female: int) -> tuple[Gender, bool]:
    """Return the gender that votes tell, and whether they leave no doubt."""
    total = male + female
    if total < 2 or max(male, female) / total < _SURE:
        return Gender.UNKNOWN, False
    return (Gender.MALE if male > female else Gender.FEMALE), total >= 5


def infer_form_gender(form: NameForm) -> Gender:
    """Return the gender that one form alone tells."""
    title_gender = infer_title_gender(form.title)
    if title_gender is not Gender.UNKNOWN:
        return title_gender
    male = max(form.male, form.counts["male"])
    gender, sure = resolve_gender_votes(male, max(form.female, form.counts["female"]))
    return gender if sure else Gender.UNKNOWN


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
