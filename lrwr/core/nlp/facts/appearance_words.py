"""Words for what people look like, how old they are and what they do."""

COLOUR_WORDS = (
    "blue grey gray brown green hazel violet black amber golden auburn chestnut fair "
    "blond blonde white silver sandy ginger flaxen yellow raven copper red dark"
)
_EYE_COLOURS_TEXT = "blue grey gray brown green hazel violet black amber dark"
EYE_COLOURS = "|".join(_EYE_COLOURS_TEXT.split())
HAIR_LOOKS = "|".join(
    [*COLOUR_WORDS.split(), "curly", "straight", "wavy", "frizzy", "grizzled", "tawny"]
)
SHADES = (
    r"(?:(?:very|dark|light|pale|deep|bright|soft|clear|fine|large|small|long|"
    r"short|thick|thin|beautiful|jet|iron|steel|snow|curly|curling|smooth|"
    r"great|big|pretty|little|close-cropped|cropped)(?:,? |-))*"
)
EYE = rf"{SHADES}(?:{EYE_COLOURS})(?:(?:-| and |, | or )(?:{EYE_COLOURS}))?"
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
"""Every number of years that an age is written with, as a word."""

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
"""A day, a date or a year to be born on."""

AGE = rf"(?:only |about |nearly |almost |just |past |barely |now |not quite )*{NUMBER}"
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
"""How words for trades end that need no list."""

OCCUPATION = (
    rf"(?:(?:old|young|retired|former|village|town|parish|head|local|under|chief|ship's|"
    rf"police|family|army|\w+ing|bell|lady's) |bell-)*"
    rf"(?:{OCCUPATIONS}|\w*(?:smith|keeper|ringer|monger|wright|maker)|\w+-master)"
)
