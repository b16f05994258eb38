"""Words that tell whether a capitalised word beside them is a person's name."""

_NO_NAMES_WRITTEN = """i i'm i'll i've i'd the a an and but or nor so yet for if then when while as at by in
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
    we'll they'll we've they've north south east west northern southern"""
_CALENDAR_WRITTEN = """monday tuesday wednesday thursday friday saturday sunday january february
    march april june july august september october november december christmas easter
    michaelmas lent"""
CALENDAR = frozenset(_CALENDAR_WRITTEN.split())
"""Names of days and times of the year, in lower case."""

NON_NAME_WORDS = frozenset(_NO_NAMES_WRITTEN.split()) | CALENDAR
"""Capitalised words, in lower case, that are no name by themselves."""

_STRICT_SPEECH_WRITTEN = """said says say asked asks replied replies answered cried cries exclaimed whispered
    whispers shouted muttered mutters murmured murmurs added adds continued returned
    observed remarked inquired enquired demanded repeated declared sobbed growled
    grumbled screamed interrupted protested suggested admitted announced echoed
    ejaculated gasped groaned hissed insisted mumbled objected persisted pleaded
    rejoined responded retorted roared snapped snarled squeaked stammered urged wailed
    yelled thundered drawled faltered resumed agreed called began sighed laughed
    bellowed croaked chuckled blurted mused quipped grunted warned promised confessed
    concluded ventured went explained told"""
STRICT_SPEECH = frozenset(_STRICT_SPEECH_WRITTEN.split())
"""Verbs that stand beside what is said and beside who says it."""

_ACTS_WRITTEN = """nodded nods smiled smiles laughed laughs shrugged frowned grinned blushed sighed
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
PERSON_ACTION_VERBS = frozenset(_ACTS_WRITTEN.split())
"""Verbs of which a person is more often the subject than a place."""

_BODY_WRITTEN = """eyes eye face hand hands voice head arm arms hair lips mouth shoulder shoulders
    heart mind wife husband mother father sister brother daughter son aunt uncle cousin
    friend friends feet foot breath brow cheek cheeks knees manner manners countenance
    smile mouth fingers side attention feelings temper opinion sister's"""
BODY_NOUNS = frozenset(_BODY_WRITTEN.split())
"""What only a person, or an animal, has."""

_KIN_FEMALE_WRITTEN = """sister wife mother daughter aunt niece grandmother widow bride girl maid
    housekeeper nurse woman lady girlfriend queen princess granddaughter"""
KIN_FEMALE = frozenset(_KIN_FEMALE_WRITTEN.split())
_KIN_MALE_WRITTEN = """brother husband father son uncle nephew grandfather widower groom boy man
    gentleman butler boyfriend king prince footman coachman grandson"""
KIN_MALE = frozenset(_KIN_MALE_WRITTEN.split())
_KIN_EITHER_WRITTEN = """cousin friend child servant doctor captain clerk neighbour neighbor colleague
    keeper partner boss teacher twin"""
KIN_EITHER = frozenset(_KIN_EITHER_WRITTEN.split())

_INSIDE_WRITTEN = """in into near through across throughout outside inside within beyond around
    along"""
PLACE_PREPOSITIONS = frozenset(_INSIDE_WRITTEN.split())
"""Prepositions that stand before places and hardly ever before people."""

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
"""Prepositions that stand before both."""

DETERMINERS = frozenset(
    {"a", "an", "this", "these", "those", "every", "each", "no", "any", "some"}
)

_PLACE_NOUNS_WRITTEN = """street road lane avenue square place park hall house abbey castle court cottage
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
PLACE_NOUNS = frozenset(_PLACE_NOUNS_WRITTEN.split())
"""The last word of a name that is no person's."""

PEOPLE_SUFFIXES = frozenset({"esq", "esquire", "jr", "sr", "junior", "senior"})

_PARTICLES_WRITTEN = (
    """de du des la le van von der den del della di da dos ben bin ibn al el y"""
)
PARTICLES = frozenset(_PARTICLES_WRITTEN.split())
"""Small words inside a name: Lady Orla de Vane."""


AMBIGUOUS_NAME_WORDS = frozenset(
    {"will", "may", "april", "june", "august", "grace", "christian"}
)
"""Names that begin many a sentence as common words: only inside one they are names."""


def is_non_name(word: str) -> bool:
    """Say whether a capitalised word is no name by itself, with either apostrophe."""
    low = word.lower().replace("’", "'")
    return low in NON_NAME_WORDS and low not in AMBIGUOUS_NAME_WORDS
