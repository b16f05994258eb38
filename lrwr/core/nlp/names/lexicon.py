"""Word lists for recognising person names, English given names, and name normalization."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from lrwr.core.model.cast import Gender

_NO_NAMES_TEXT = """i i'm i'll i've i'd the a an and but or nor so yet for if then when while as at by in
    on of to from with without he she it they we you his her its him us them me my our
    your their mine yours this that these those there here what who whom whose which
    why how where whether not no yes oh ah o eh well now nay aye ay hush hallo hullo
    hello hey ha ho alas bravo pray god gods lord heaven heavens christ jesus devil
    providence good-bye goodbye farewell thank thanks please indeed perhaps chapter
    volume book part act scene english french german italian american british indian
    irish scotch scottish welsh spanish russian greek roman latin dutch chinese turkish
    european christian christians catholic protestant jewish all one two
    three four five six seven eight nine ten some any many much more most other such
    only very too just let do did does done have has had will would shall should can
    could may might must be been being was were is are am never always still again once
    after before until till because though although since unless than even both either
    neither each every another same also else about above below under over up down out
    off into upon between through first last next come go look see say said come tell
    'tis 'twas tis twas bible gospel parliament majesty highness grace honour excellency
    worship ladyship lordship reverence madam ma'am sir sirs sire gentlemen ladies
    mesdames messieurs don't won't can't i't mr mrs ms dr it's that's there's he's
    she's you're we're they're what's let's isn't wasn't ain't didn't doesn't couldn't
    wouldn't shouldn't haven't hasn't hadn't aren't you'll you've you'd he'll she'll
    we'll they'll we've they've north south east west northern southern esq esquire
    lor lord's gad egad ecod zounds begad hurrah hurray huzza bah pooh tush fie alack
    ugh pshaw phew eureka admirals captains colonels lieutenants sergeants"""
_CALENDAR_TEXT = """monday tuesday wednesday thursday friday saturday sunday january february
    march april june july august september october november december christmas easter
    michaelmas lent"""
CALENDAR = frozenset(_CALENDAR_TEXT.split())
"""Names of weekdays, months and seasons of the church year, in lower case."""
NON_NAME_WORDS = frozenset(_NO_NAMES_TEXT.split()) | CALENDAR
"""Words, in lower case, that are often capitalised but never a name alone."""
_STRICT_SPEECH_TEXT = """said says say asked asks replied replies answered cried cries exclaimed whispered
    whispers shouted muttered mutters murmured murmurs added adds continued returned
    observed remarked inquired enquired demanded repeated declared sobbed growled
    grumbled screamed interrupted protested suggested admitted announced echoed
    ejaculated gasped groaned hissed insisted mumbled objected persisted pleaded
    rejoined responded retorted roared snapped snarled squeaked stammered urged wailed
    yelled thundered drawled faltered resumed agreed called began sighed laughed
    bellowed croaked chuckled blurted mused quipped grunted warned promised confessed
    concluded ventured went explained told"""
STRICT_SPEECH = frozenset(_STRICT_SPEECH_TEXT.split())
"""Verbs of dialogue tags ("said Nell")."""
_ACTS_TEXT = """nodded nods smiled smiles laughed laughs shrugged frowned grinned blushed sighed
    thought thinks felt feels looked looks turned turns knew knows wanted wants wished
    sat sits stood stands walked walks ran runs stepped leaned glanced stared gazed
    watched heard hears saw sees took takes gave gives shook raised lifted put puts held
    holds drank ate slept woke rose knelt bowed paused hesitated waited listened
    remembered forgot hoped feared believed supposed loved hated married died dies wept
    smoked wrote read reads came comes entered approached followed spoke speaks talked
    talks tried tries started seemed swallowed winced trembled kissed caught pulled
    pushed reached picked dropped opened closed set carried rubbed drew threw wore wears
    considered decided understood told swore cursed snorted coughed
    whistled hurried left leaves got gets made makes let kept keeps meant means
    could would might must can will never always"""
PERSON_ACTION_VERBS = frozenset(_ACTS_TEXT.split())
"""Verbs whose subject is usually a person, not a place."""
_BODY_TEXT = """eyes eye face hand hands voice head arm arms hair lips mouth shoulder shoulders
    heart mind wife husband mother father sister brother daughter son aunt uncle cousin
    friend friends feet foot breath brow cheek cheeks knees manner manners countenance
    smile mouth fingers side attention feelings temper opinion sister's"""
BODY_NOUNS = frozenset(_BODY_TEXT.split())
"""Nouns that only a person or an animal can own ("Nell's eyes")."""
_KIN_FEMALE_TEXT = """sister wife mother daughter aunt niece grandmother widow bride girl maid
    housekeeper nurse woman lady girlfriend queen princess granddaughter"""
KIN_FEMALE = frozenset(_KIN_FEMALE_TEXT.split())
_KIN_MALE_TEXT = """brother husband father son uncle nephew grandfather widower groom boy man
    gentleman butler boyfriend king prince footman coachman grandson"""
KIN_MALE = frozenset(_KIN_MALE_TEXT.split())
_KIN_EITHER_TEXT = """cousin friend child servant doctor captain clerk neighbour neighbor colleague
    keeper partner boss teacher twin"""
KIN_EITHER = frozenset(_KIN_EITHER_TEXT.split())
_INSIDE_TEXT = """in into near through across throughout outside inside within beyond around
    along"""
PLACE_PREPOSITIONS = frozenset(_INSIDE_TEXT.split())
"""Prepositions before places, hardly ever before people."""
DIRECTION_WORDS = frozenset(
    {
        "at",
        "from",
        "to",
        "towards",
        "toward",
        "of",
        "off",
        "leave",
        "left",
        "reached",
        "visit",
    }
)
"""Prepositions and verbs before places and people alike."""
DETERMINERS = frozenset(
    {"a", "an", "this", "these", "those", "every", "each", "no", "any", "some"}
)
_PLACE_NOUNS_TEXT = """street road lane avenue square place park hall house abbey castle court cottage
    lodge hill hills mount mountain river lake sea ocean bay harbour harbor port bridge
    church chapel cathedral college school university station inn hotel tavern club
    library hospital prison theatre theater city town village island islands isle
    county shire wood woods forest valley moor marsh heath green common fields field
    gate gates tower market row crescent terrace gardens garden yard wharf dock quay
    point post causeway sluice head cape coast beach rock falls spring springs pass plain desert kingdom
    empire states avenue alley close mews grange manor priory rectory parsonage farm
    mill farmhouse buildings building office bank times gazette journal chronicle
    company society association league act committee army navy regiment fleet
    street's"""
PLACE_NOUNS = frozenset(_PLACE_NOUNS_TEXT.split())
"""Last words of names of places and organisations."""
PEOPLE_SUFFIXES = frozenset({"esq", "esquire", "jr", "sr", "junior", "senior"})
_PARTICLES_TEXT = (
    """de du des la le van von der den del della di da dos ben bin ibn al el y"""
)
PARTICLES = frozenset(_PARTICLES_TEXT.split())
"""Lower-case words inside a name: Lady Orla de Vane."""

AMBIGUOUS_NAME_WORDS = frozenset(
    {"will", "may", "april", "june", "august", "grace", "christian"}
)
"""Names that are also common words; at a sentence start they are not counted as names."""


def is_non_name(word: str) -> bool:
    """Return whether a capitalised word alone is never a name, such as "Monday"."""
    low = word.lower().replace("’", "'")
    return low in NON_NAME_WORDS and low not in AMBIGUOUS_NAME_WORDS


_MALE_TEXT = """mr mister messrs master sir lord king prince duke earl baron count viscount
    marquis marquess emperor uncle father brother grandfather grandpa granddad monsieur
    m don signor signore senor señor herr squire friar abbot monk lad boy"""
MALE_TITLES = frozenset(_MALE_TEXT.split())
_FEMALE_TEXT = """mrs miss ms missus missis mistress lady queen princess duchess countess baroness
    viscountess marchioness empress aunt auntie aunty mother sister grandmother granny
    grandma madame madam mademoiselle mme mlle dame donna signora signorina senora
    señora fräulein frau nurse widow abbess"""
FEMALE_TITLES = frozenset(_FEMALE_TEXT.split())
_EITHER_TEXT = """dr doctor prof professor captain capt colonel col general gen major maj
    lieutenant lieut lt sergeant sgt corporal private inspector superintendent detective
    constable sheriff marshal deputy officer judge justice reverend rev saint st cousin
    president senator governor mayor admiral commodore commander chief bishop archbishop
    cardinal pope deacon parson vicar chancellor comrade agent warden keeper reeve"""
NEUTRAL_TITLES = frozenset(_EITHER_TEXT.split())
NAME_TITLES = MALE_TITLES | FEMALE_TITLES | NEUTRAL_TITLES
_SHORTENED_TEXT = """mr mrs ms dr st messrs mme mlle rev prof capt col gen maj lieut lt sgt hon jr sr
    esq m"""
TITLE_ABBREVIATIONS = frozenset(_SHORTENED_TEXT.split())
"""Abbreviated titles; a full stop after them does not end a sentence."""
SURNAME_TITLES = frozenset(
    {"mr", "mrs", "miss", "ms", "mister", "missus", "missis", "messrs"}
)
"""Titles before a surname or full name, rarely before a given name."""
_GIVEN_TITLES_TEXT = """sir aunt auntie aunty uncle cousin sister brother king queen prince princess
    master granny saint st pope friar"""
GIVEN_TITLES = frozenset(_GIVEN_TITLES_TEXT.split())
"""Titles that may precede a given name."""
_RANKS_TEXT = """king queen prince princess duke duchess earl count countess baron baroness lord
    lady knave marquis emperor empress bishop archbishop mayor master keeper reeve
    warden"""
TITLES_WITH_OF = frozenset(_RANKS_TEXT.split())
"""Titles that may be followed by "of" and a place: the Duke of Thole."""
_MEN_TEXT = """captain colonel general major lieutenant sergeant corporal admiral commodore
    inspector constable sheriff bishop archbishop cardinal vicar parson squire"""
DEFAULT_MALE_TITLES = frozenset(_MEN_TEXT.split())
"""Titles of men unless other evidence says otherwise (the usage of older fiction)."""
_TITLES_OF_WORK_TEXT = """dr prof captain colonel general major lieutenant sergeant corporal inspector
    superintendent detective constable sheriff marshal judge reverend president mayor
    admiral commodore commander chief bishop archbishop cardinal king queen prince
    princess duke duchess earl count countess baron baroness knave keeper reeve widow
    vicar parson squire abbot abbess"""
TITLES_OF_WORK = frozenset(_TITLES_OF_WORK_TEXT.split())
"""Titles that may stand alone for their bearer: the Captain."""
_ADDRESS_TEXT = """mother father mama mamma papa mum mom mummy mommy dad daddy pa ma granny
    grandma grandpa grandmother grandfather aunt auntie aunty uncle sister brother cousin
    son daughter wife husband monsieur madame mademoiselle mme mlle messieurs mesdames
    signor signore signora signorina señor señora herr frau fräulein don donna dame sahib
    memsahib"""
ADDRESS_WORDS = frozenset(_ADDRESS_TEXT.split())
"""Words by which people are addressed, which are hardly ever a name alone."""
_EPITHETS_TEXT = """old young little poor dear dearest good big great honest gentle sweet darling
    kind mad"""
NAME_EPITHETS = frozenset(_EPITHETS_TEXT.split())
"""Adjectives before a name that are not part of it ("old Nell")."""
_SAME = {
    "mister": "mr",
    "missus": "mrs",
    "missis": "mrs",
    "mistress": "mrs",
    "ms": "miss",
    "doctor": "dr",
    "professor": "prof",
    "capt": "captain",
    "col": "colonel",
    "gen": "general",
    "maj": "major",
    "lieut": "lieutenant",
    "lt": "lieutenant",
    "sgt": "sergeant",
    "rev": "reverend",
    "auntie": "aunt",
    "aunty": "aunt",
    "mme": "madame",
    "mlle": "mademoiselle",
}


def normalize_name_title(word: str) -> str:
    """Return the standard lower-case form of a title; "" if `word` is no title.

    "Capt." gives "captain", "Nell" gives "".
    """
    low = word.lower().rstrip(".")
    return _SAME.get(low, low) if low in NAME_TITLES else ""


def infer_title_gender(title: str) -> Gender:
    """Return the gender of a title, or unknown.

    `title` has the form that `normalize_name_title` returns.
    """
    if title in MALE_TITLES:
        return Gender.MALE
    return Gender.FEMALE if title in FEMALE_TITLES else Gender.UNKNOWN


@lru_cache(maxsize=50_000)
def fold_name(name: str) -> str:
    """Return a name in the form used for comparison.

    Ignores case, full stops, a leading article and the style of apostrophes.
    """
    words = name.replace(".", ". ").replace("’", "'").casefold().split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        words.pop(0)
    return " ".join(word.rstrip(".") for word in words)


@lru_cache(maxsize=50_000)
def split_bare_words(name: str) -> tuple[str, ...]:
    """Return the folded words of a name without titles and epithets, in their order."""
    return tuple(
        word
        for word in fold_name(name).split()
        if not normalize_name_title(word) and word not in NAME_EPITHETS
    )


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


@lru_cache(maxsize=16_384)
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


@lru_cache(maxsize=16_384)
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
