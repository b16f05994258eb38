"""Patterns for looks, ages, occupations, births and deaths in English prose."""

from types import MappingProxyType
from typing import TypeAlias

from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import NAME_PATTERN

COLOUR_WORDS = (
    "blue grey gray brown green hazel violet black amber golden auburn chestnut fair "
    "blond blonde white silver sandy ginger flaxen yellow raven copper red dark"
)
_EYE_COLOURS_TEXT = "blue grey gray brown green hazel violet black amber dark"
EYE_COLOURS = "|".join(_EYE_COLOURS_TEXT.split())
HAIR_LOOKS = "|".join(
    [*COLOUR_WORDS.split(), "curly", "straight", "wavy", "frizzy", "grizzled", "tawny"]
)
# Adjectives before a colour: "very dark"
SHADES = (
    r"(?:(?:very|dark|light|pale|deep|bright|soft|clear|fine|large|small|long|"
    r"short|thick|thin|beautiful|jet|iron|steel|snow|curly|curling|smooth|"
    r"great|big|pretty|little|close-cropped|cropped)(?:,? |-))*"
)
EYE = rf"{SHADES}(?:{EYE_COLOURS})(?:(?:-| and |, | or )(?:{EYE_COLOURS}))?"
# "hair" as a noun of its own, not "hair ribbon"
HAIR_END = r"hair\b(?!-| (?:ribbon|brush|pin|net|cut|dresser|oil|tonic|cloth|shirt|tie|band)s?\b)"
HAIR = rf"{SHADES}(?:{HAIR_LOOKS})(?:(?:-| and |, )(?:{HAIR_LOOKS}))*"
LOCKS = "curls|locks|braids?|plaits?|tresses|ringlets"
_BUILDS_TEXT = (
    "tall short stout thin slim slender plump fat lean gaunt lanky burly stocky "
    "portly corpulent wiry frail bald one-eyed one-legged "
    "one-armed left-handed hunchbacked red-haired red-headed dark-haired "
    "fair-haired grey-haired white-haired grey-eyed blue-eyed dark-eyed "
    "black-haired brown-haired golden-haired auburn-haired chestnut-haired "
    "raven-haired silver-haired flaxen-haired sandy-haired ginger-haired brown-eyed "
    "green-eyed hazel-eyed black-eyed violet-eyed "
    "broad-shouldered bearded freckled bow-legged pock-marked"
)
BUILDS = "|".join(_BUILDS_TEXT.split())
BUILD = (
    rf"(?:very |rather |so |remarkably |extremely )?(?:{BUILDS})(?:(?:,| and|"
    rf", and) (?:{BUILDS}))*"
)
UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS_TEXT = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
TEENS = _TEENS_TEXT.split()
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBER = (
    rf"(?:(?:{'|'.join(TENS)})(?:[- ](?:{'|'.join(UNITS)}))?|{'|'.join(TEENS)}|"
    rf"(?:{'|'.join(UNITS[:4])})[- ]and[- ](?:{'|'.join(TENS)})|"
    rf"(?:{'|'.join(UNITS[4:])})[- ]and[- ](?:{'|'.join(TENS)})|"
    rf"{'|'.join(UNITS[2:])}|[1-9]\d?)"
)
NUMBER_WORDS = frozenset(
    [*UNITS[2:], *TEENS, *TENS]
    + [f"{tens}-{unit}" for tens in TENS for unit in UNITS]
    + [f"{unit}-and-{tens}" for tens in TENS for unit in UNITS]
    + [f"{number}-year-old" for number in [*UNITS, *TEENS, *TENS]]
)
"""All spelled-out numbers of years that an age may have."""
_MONTH = (
    "January|February|March|April|May|June|July|August|September|October|November|"
    "December"
)
_DAY = r"(?:\d{1,2}(?:st|nd|rd|th)?|(?:twenty-|thirty-)?[a-z]+(?:st|nd|rd|th|ieth))"
BIRTH = (
    rf"(?:(?:an? )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    rf"|(?:the )?{_DAY} (?:day )?of (?:{_MONTH})(?:,? (?:in )?1\d{{3}})?"
    rf"|(?:{_MONTH})(?: {_DAY})?(?:,? (?:of )?1\d{{3}})?|(?:the year )?1\d{{3}})"
)
"""A weekday, a date or a year of birth."""
_AGE_RANGE = (
    rf"(?:{'|'.join(UNITS)}) or (?:{'|'.join(UNITS)})[- ]and[- ](?:{'|'.join(TENS)})"
)
"""An old form: "seven or eight and forty"."""
AGE = (
    r"(?:only |about |nearly |almost |just |past |barely |now |not quite |some |near |"
    r"upwards of |under |over |turned |rising )*"
    rf"(?:{_AGE_RANGE}|{NUMBER}(?: or {NUMBER})?)"
)
AGE_END = r"(?: years? old| years of age|(?= (?:and|when|but|or)\b)|(?=[.,;:!)]))"
PERSON_PATTERN = (
    "man|woman|girl|boy|lad|lass|child|youth|gentleman|lady|fellow|widow|widower|"
    "bachelor|spinster|maiden|person|creature|matron"
)
_OCCUPATIONS_TEXT = (
    "bellman carter gatekeeper keeper clerk doctor physician surgeon apothecary "
    "lawyer solicitor barrister attorney magistrate judge priest vicar rector "
    "curate parson clergyman minister bishop monk nun teacher schoolmaster "
    "schoolmistress tutor governess headmaster headmistress professor smith "
    "blacksmith baker butcher miller tailor weaver cobbler carpenter mason cooper "
    "painter sculptor poet novelist writer author journalist editor printer "
    "bookseller publisher musician singer actor actress dancer soldier sailor "
    "captain colonel sergeant lieutenant general admiral pilot fisherman hunter "
    "farmer ploughman shepherd gardener gamekeeper groom coachman driver footman "
    "butler valet steward housekeeper cook maid housemaid nurse midwife porter "
    "servant merchant banker broker grocer draper haberdasher shopkeeper "
    "innkeeper landlord landlady publican barman barmaid waiter waitress "
    "detective inspector constable policeman sheriff mayor ambassador engineer "
    "mechanic architect chemist scientist astronomer alchemist herbalist healer "
    "witch wizard mage sorcerer king queen prince princess duke duchess knight "
    "squire reeve bailiff beadle sexton verger undertaker gravedigger jeweller "
    "watchmaker clockmaker secretary librarian manager overseer foreman miner "
    "collier postman ferryman boatman lamplighter thief pirate smuggler spy "
    "assassin pedlar peddler tinker gipsy gypsy seamstress dressmaker milliner "
    "laundress governor sculptress"
)
OCCUPATIONS = "|".join(_OCCUPATIONS_TEXT.split())
TRADES = ("smith", "keeper", "ringer", "monger", "wright", "maker", "master")
"""Endings of occupations that are not in the list."""
OCCUPATION = (
    rf"(?:(?:old|young|retired|former|village|town|parish|head|local|under|chief|ship's|"
    rf"police|family|army|\w+ing|bell|lady's) |bell-)*"
    rf"(?:{OCCUPATIONS}|\w*(?:smith|keeper|ringer|monger|wright|maker)|\w+-master)"
)


_IS = r"(?:is|was|had been|has been)"
_STOP = r"(?=[.,;:!)—–]| --|$)"
_CLOSED = r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
CHARACTER_PATTERN = rf"(?<![\w'])(?<!\w-)(?P<who>{NAME_PATTERN})"
_DEATH_END = (
    r"(?=[.,;:!]|$| (?:in|at|of|on|when|before|after|from|last|that|there|"
    r"this|by|and|a|two|three|four|five|six|some|many|soon|suddenly|years|"
    r"long|under|beside|next)\b)"
)

_ADVERB = r"(?:then |now |already |still |at that time |at this time |just )?"
TRADE_APPOSITION = LazyPattern(
    rf"\b[Tt]he (?P<value>{OCCUPATION}), (?P<who>{NAME_PATTERN}){_CLOSED}"
)
"""Not used on speech, where the name may be a vocative ("the baker, Nell, …")."""
DECEASED_PATTERN = LazyPattern(rf"\b[Tt]he late (?P<who>{NAME_PATTERN})")
"""Only probable: a parent and a child may share the name."""
_FALLEN = LazyPattern(
    rf"{CHARACTER_PATTERN}, who (?:(?:fell|dropped|lay) dead|died|was killed){_DEATH_END}"
)
# "The death of Nell was told", "the news of Nell's death", "Nell's funeral took place"
_OBSEQUIES = "death|funeral|burial"
_HAPPENED = (
    r"(?:was|were|had been|took|reached|came|happened|followed|occurred|left|made)\b"
)
_DEATH_OF = LazyPattern(
    rf"\b[Tt]he (?:{_OBSEQUIES}) of (?P<who>{NAME_PATTERN}) {_HAPPENED}"
)
_OWN_DEATH = LazyPattern(
    rf"{CHARACTER_PATTERN}'s (?:sudden )?(?:{_OBSEQUIES}) {_HAPPENED}"
)
AttributeRule: TypeAlias = tuple[str, LazyPattern, str, bool]
"""Attribute, pattern, fixed value or "", and whether the attribute is presupposed.

A presupposed attribute ("if Nell's grey eyes …") holds even in a doubtful clause.
"""
RULES_BY_NAME: tuple[AttributeRule, ...] = (
    ("eyes", LazyPattern(rf"{CHARACTER_PATTERN}'s (?P<value>{EYE}) eyes\b"), "", True),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s eyes(?:,? which)? (?:were|are) (?P<value>{EYE})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(rf"{CHARACTER_PATTERN}'s (?P<value>{HAIR}) {HAIR_END}"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s hair(?:,? which)? {_IS} (?P<value>{HAIR})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:had|has) (?:\w+ hair and )?(?P<value>{EYE}) eyes\b"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:had|has) (?:\w+ eyes and )?(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(rf"{CHARACTER_PATTERN}'s eyes, (?P<value>{EYE})(?=,| as\b| and\b)"),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s eyes (?:were|are) (?:of )?(?:an?|the) (?:\w+ )?(?P<value>{EYE})"
            r"(?= (?:and|but|that|as|of)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "eyes",
        LazyPattern(
            rf"^[ \x01]*(?P<who>{NAME_PATTERN}), with (?:his |her |their )?(?P<value>{EYE}) eyes\b"
        ),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(
            rf"{CHARACTER_PATTERN}, whose eyes (?:were|are) (?P<value>{EYE})(?= (?:and|but|as)\b|[.,;:!—])"
        ),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(rf"\bthe (?P<value>{EYE}) eyes of (?P<who>{NAME_PATTERN})(?!['-])"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN}'s hair, (?P<value>{HAIR})(?=,| as\b| and\b)"
        ),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(rf"{CHARACTER_PATTERN}'s (?P<value>{HAIR}) (?:{LOCKS})\b"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"^[ \x01]*(?P<who>{NAME_PATTERN}), with (?:his |her |their )?(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN}, whose hair (?:was|is) (?P<value>{HAIR})(?= (?:and|but|as)\b|[.,;:!—])"
        ),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:had|has) (?:a (?:head|shock|mop|mass) of )(?P<value>{HAIR}) {HAIR_END}"
        ),
        "",
        False,
    ),
    (
        "hair",
        LazyPattern(
            rf"\bthe (?P<value>{HAIR}) hair of (?P<who>{NAME_PATTERN})(?!['-])"
        ),
        "",
        True,
    ),
    (
        "life",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:is|was) (?:still |yet |very much )?alive(?=[.,;:!]| and\b)"
        ),
        "alive",
        False,
    ),
    (
        "born",
        LazyPattern(
            rf"{CHARACTER_PATTERN} (?:was|had been) born (?:on |in )?(?P<value>{BIRTH})"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who)? (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN},? (?:who was )?aged (?P<value>{NUMBER})\b"
            r"(?! (?:or|months|weeks|days|hours)\b)"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?: {_IS}|,) an? (?:[\w-]+,? )*?(?:{PERSON_PATTERN}) of "
            rf"(?P<value>{AGE})\b{AGE_END}"
        ),
        "",
        False,
    ),
    (
        "age",
        LazyPattern(rf"\b(?P<value>{NUMBER}-year-old) (?P<who>{NAME_PATTERN})(?!['-])"),
        "",
        True,
    ),
    (
        "occupation",
        LazyPattern(
            rf"{CHARACTER_PATTERN}, (?:the|an?) (?P<value>{OCCUPATION}){_CLOSED}"
        ),
        "",
        True,
    ),
    (
        "occupation",
        TRADE_APPOSITION,
        "",
        True,
    ),
    (
        "occupation",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who)? {_IS} an? (?P<value>{OCCUPATION}){_STOP}"
        ),
        "",
        False,
    ),
    ("life", DECEASED_PATTERN, "dead", True),
    (
        "life",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who [^,.;:]{{2,50}},)? (?:(?:had |has )?(?:already )?(?:died|drowned|"
            r"passed away|expired|perished|lay dead|fell dead|"
            r"(?:closed|shut) (?:his|her) eyes for ever|(?:quietly|peacefully) died|died (?:quietly|peacefully)|"
            r"breathed (?:his|her) last)|(?:is|was|had been) (?:now |found |already )?"
            r"(?:(?:drowned|murdered|hanged|killed|shot (?:dead|through the (?:heart|head))|beheaded|guillotined)|"
            r"buried(?= (?:under|beside|at|on|next|that|in the church))|"
            r"dead(?! (?:tired|set|drunk|asleep|beat|sure|silent|certain|on))))"
            rf"{_DEATH_END}"
        ),
        "dead",
        False,
    ),
    (
        "life",
        LazyPattern(
            rf"\b(?:[Tt]hey|[Ww]e) (?:had )?buried (?P<who>{NAME_PATTERN})(?!['-])"
            rf"{_DEATH_END}"
        ),
        "dead",
        False,
    ),
    (
        "life",
        LazyPattern(
            rf"{CHARACTER_PATTERN},? (?:[^.;:!?\"“”]{{2,30}}, (?:and )?(?:then )?|(?:[a-z]+ ){{2,6}}and )"
            rf"(?:died|drowned|expired|perished|was (?:killed|drowned)){_DEATH_END}"
        ),
        "dead",
        False,
    ),
    ("life", _FALLEN, "dead", False),
    ("life", _DEATH_OF, "dead", True),
    ("life", _OWN_DEATH, "dead", False),
    (
        "build",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?:, who)? {_IS} {_ADVERB}(?P<value>{BUILD})"
            r"(?= (?:and|but)\b|[.,;:!—])"
        ),
        "",
        False,
    ),
    (
        "build",
        LazyPattern(
            rf"{CHARACTER_PATTERN}(?: {_IS}|,) an? (?P<value>{BUILD})(?:,? [\w-]+){{0,3}}? "
            rf"(?:{PERSON_PATTERN})\b"
        ),
        "",
        False,
    ),
)
RULES_BY_PRONOUN: tuple[AttributeRule, ...] = (
    (
        "eyes",
        LazyPattern(rf"\bwith (?P<who>those) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "eyes",
        LazyPattern(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{EYE}) eyes\b"),
        "",
        True,
    ),
    (
        "hair",
        LazyPattern(rf"\b(?P<who>[Hh]is|[Hh]er) (?P<value>{HAIR}) {HAIR_END}"),
        "",
        True,
    ),
    (
        "age",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) (?:is|was) {_ADVERB}(?P<value>{AGE}){AGE_END}"
        ),
        "",
        False,
    ),
    (
        "build",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) was (?:an? )?(?P<value>{BUILD})"
            rf"(?:(?:,? [\w-]+){{0,3}}? (?:{PERSON_PATTERN})\b|(?= (?:and|but)\b|[.,;:!—]))"
        ),
        "",
        False,
    ),
    (
        "occupation",
        LazyPattern(
            rf"^[ \x01]*(?P<who>He|She) was an? (?P<value>{OCCUPATION}){_STOP}"
        ),
        "",
        False,
    ),
)
TRIGGERS = MappingProxyType(
    {
        "eyes": frozenset({"eyes"}),
        "hair": frozenset({"hair"}) | frozenset(LOCKS.split("|")),
        "born": frozenset({"born"}),
        "life": frozenset(
            [
                "late",
                "died",
                "dead",
                "drowned",
                "alive",
                "killed",
                "hanged",
                "murdered",
                "buried",
                "breathed",
                "passed",
                "ever",
                "expired",
                "perished",
                "shot",
                "death",
                "funeral",
                "burial",
                "beheaded",
                "guillotined",
            ]
        ),
        "build": frozenset(BUILDS.split("|")),
        "age": NUMBER_WORDS | {"aged", "old", "age"},
        "occupation": frozenset(OCCUPATIONS.split("|")),
    }
)
