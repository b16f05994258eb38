"""The forms of sentences that state a value of some kind: patterns of ages, colours, places,
names, relatives, looks and deaths.
"""

import re

from lrwr.core.nlp.facts.clauses import TITLE_WORDS
from lrwr.core.retrieval.query_words import find_related_words

NUMBER = (
    r"(?:\d[\d,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million)"
)
PERSON = r"(?:m[ae]n|wom[ae]n|boy|girl|lady|gentleman|child|lad|person|fellow|youth|creature)"
COLOUR = (
    r"(?:black|white|red|blue|green|gr[ae]y|brown|gold(?:en)?|yellow|dark|fair|blonde?"
    r"|auburn|hazel|violet|purple|crimson|scarlet|silvery?|tawny|pink|chestnut|ginger"
    r"|orange|amber|ruddy|sandy|flaxen|raven|copper|russet|light|pale)"
)
MONTH = (
    r"(?:January|February|March|April|May(?!\s+(?:I|we|he|she|it|they|you|not|God|the)\b)|June|July|August|September|October|November"
    r"|December)"
)
DAY = (
    r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Christmas|Easter"
    r"|Michaelmas|Midsummer)"
)
ORDINAL = (
    r"(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
    r"|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth|(?:twenty|thirty)-\w+)"
)
SITES = (
    r"street|road|square|lane|church|chapel|village|town|city|county|country|theatre"
    r"|playhouse|hotel|inn|tavern|shop|school|college|regiment|ship|battle|club|prison"
    r"|hospital|university|island|station|bank|farm|harbour|port"
)
NAMING = (
    r"(?:\b(?:[Nn]amed|christened|surname|nickname|alias|known\s+as|entitled)\b"
    r"|\b(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|\w+['’]s)\s+(?:\w+\s+)?name\b"
    r"|\b[Nn]ames?\s+(?:of|is|was|were)\b"
    r"|\bcall(?:s|ed)?\s+(?:(?:him|her|it|me|you|them)(?:self|selves)?\s+"
    r"|(?:the|his|her|their|our|my)\s+\w+\s+)?[“\"‘'_*]?[A-Z])"
)


def match_colour(question: re.Match[str]) -> str:
    """Return the pattern of a clause with the colour of the thing in question."""
    thing = rf"\b{re.escape(question['thing'].rstrip('s'))}(?:s|es)?\b"
    colour = rf"\b{COLOUR}(?:-\w+)?\b"
    # In one clause: "her large dark eyes", "his hair, once black, was grey".
    return rf"(?i){colour}(?:[\s,]+[\w'’-]+){{0,3}}?[\s,]+{thing}|{thing}[^.;:!?“”]{{0,50}}{colour}"


def match_site(question: re.Match[str]) -> str:
    """Return the pattern of the name of a site, such as a street, of the kind in question."""
    site = {"playhouse": "theatre"}.get(question["site"].lower(), question["site"])
    kind = rf"(?:{site}|{site.capitalize()}|{question['site']})"
    name = r"[A-Z][\w.'’]+"
    return (
        rf"(?:\bSt\.?|\bSaint)\s+{name}|{name}(?:\s+{name})*[\s-]+{kind}\b|\b{kind}\s+(?:of|at|in|called|named)\s+"
        rf"{name}|\b{kind}[,:]?\s+{name}"
    )


def match_thing(question: re.Match[str]) -> str:
    """Return the pattern of a name beside the thing in question."""
    thing = rf"\b{re.escape(question['thing'])}\b"
    title = r"[“\"‘'_*]{1,2}[A-Z][^“”\"‘’_*.!?,]{0,40}[”\"’'_*]"
    name = rf"(?:{NAMING}|{title})"
    return (
        rf"(?s){thing}.{{0,60}}{name}|(?={name}).{{0,80}}{thing}|{thing}\s+of\s+[A-Z]"
    )


PLACE = (
    r"\b(?:[Ii]n|[Aa]t|[Nn]ear|[Tt]o|[Ff]rom|[Oo]ff|[Oo]n|[Bb]y|[Bb]eside|[Bb]ehind|[Oo]pposite|[Uu]nder)\s+"
    r"(?:the\s+)?(?!(?:Mr|Mrs|Miss|Sir|Lady|Lord|Dr|I|God)\b)[A-Z][\w-]+\b(?!['’]s)"
    rf"|\b(?:in|at|on|near)\s+(?!the\s+house\b)(?:an?|the|his|her|their|my)\s+(?:\w+\s+){{0,2}}(?:{SITES}"
    r"|house|cottage|room|garden|park|wood|river|bridge|stairs|kitchen|cellar|attic|library|farm|inn|island|corner|parish)\b"
)
"""A place that a preposition puts something in: "in London", "at the old mill"."""

SPAN_OF_TIME = r"(?:hours?|days?|nights?|weeks?|fortnights?|months?|years?)"
TIME = (
    rf"\b{MONTH}\b|\b{DAY}\b|\b1\d{{3}}\b|\b20\d\d\b|\b[Dd]ay\s+\d+"
    r"|(?i:\bo['’]\s?clock\b|\bnoon\b|\bmidnight\b|\bdawn\b|\bsun(?:rise|set)\b|\bdusk\b"
    r"|\b(?:yesterday|to-?day|to-?morrow|to-?night)\b"
    r"|\b(?:in|of|last|next|that|this|every)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:spring|summer|autumn|winter|morning|afternoon|evening)\b"
    rf"|\b(?:{ORDINAL}|{NUMBER}|a|an|few|some|several|many|the\s+(?:next|following|same)"
    rf"|next|last|that|this|one)\s+(?:\w+\s+)?{SPAN_OF_TIME}\b"
    r"|\b(?:after|before|during|since|until|till)\s+(?:the|his|her|their|my|our|its)\s+\w+)"
)
"""A time: "in the summer of 1806", "three years ago", "after the funeral"."""

KIN_WORD = (
    r"(?i)\b(?:(?:grand|step|half-|god)?(?:father|mother|son|daughter|brother|sister|child)"
    r"(?:-in-law)?|cousin|aunt|uncle|nephew|niece|wife|husband|widow|parents?|children|"
    r"related|relation|relative|kinsman|kinswoman|family|married|ward|guardian|heir)s?\b"
)
KIN_WORD_PATTERN = re.compile(KIN_WORD)
KIN_NOUNS = (
    r"father|mother|son|daughter|brother|sister|cousin|aunt|uncle|nephew|niece|wife|husband"
    r"|widow|child|ward|guardian|heir"
)
FEATURES = (
    r"(?:hair|eyes?|face|nose|lips|cheeks?|complexion|features|figure|beard|whiskers"
    r"|moustache|skin|teeth|tooth|hands|forehead|countenance|chin|mouth|limbs|build)"
)


def match_place(question: re.Match[str]) -> str:
    """Return the pattern of a place, other than one that the question names itself."""
    names = re.findall(r"(?<=\s)[A-Z][\w-]+", question.string)
    own = "|".join(re.escape(name.rstrip("s")) for name in names)
    own = rf"(?!(?:{own})s?\b)" if names else ""
    return PLACE.replace("[A-Z][", f"{own}[A-Z][")


_LOOK = (
    r"(?:tall|short|stout|thin|slender|slight|slim|plump|fat|lean|gaunt|pale|sallow"
    r"|swarthy|ruddy|freckled|wrinkled|shrivelled|bald|handsome|pretty|beautiful|ugly"
    r"|plain|comely|elderly|middle-aged|sickly|burly|lanky|bearded"
    r"|\w+[- ](?:looking|haired|eyed|faced|featured|set|built|shouldered))"
)
_BE = (
    r"(?:is|was|are|were|be|been|being|looks|looked|seems|seemed|appeared|grown|become)"
)
_NAME = (
    r"(?!(?:The|An?|It|Its|This|That|There|These|Those|What|Which|All|Nothing|Everything"
    r"|His|Her|My|Your|Their|Our|How|Such)\b)[A-Z]\w+"
)
LOOKS = (
    # "Nell was very tall", "he seemed about thirty, was rather tall": said of somebody,
    # not of a room or a meeting.
    rf"(?:\b(?:[Hh]e|[Ss]he|I|who|[Yy]ou|{_NAME}|(?i:{PERSON}))\s+(?:\w+\s+){{0,2}}?|[,;]\s+(?:and\s+|but\s+)?)"
    rf"{_BE}\s+(?:[\w-]+,?\s+){{0,4}}?{_LOOK}(?=\W*$|\s*[,.;:!?)]|-|\s+(?:and(?!\s+\w+\s+(?:had|was|is)\b)|or|but|for|as|in|with|enough|of\s+(?:his|her)\s+age)\b)"
    rf"|(?:\b(?:{_BE}|had\s+been|as|like|the|this|that|such|one\s+of\s+the)\s+(?:\w+\s+)?(?:an?\s+)?|[,;:-]\s+an?\s+)(?:[\w*-]+,?\s+){{0,3}}?{_LOOK}"
    rf"(?:,?\s+[\w-]+){{0,3}}?,?\s+(?i:{PERSON})\b"
    rf"|\b{_NAME},\s+(?:though\s+)?(?:not\s+|so\s+|very\s+|\w+,\s+)?{_LOOK}\b"
    rf"|\b(?:think|thinks|thought|find|found|call|called|consider|considered)\s+(?:\w+\.?\s+){{1,3}}?(?:very\s+|so\s+|rather\s+)?{_LOOK}\b(?!\s+\w)"
    rf"|\b{FEATURES},?\s+(?:(?:is|was|are|were)\s+)?(?:[\w-]+\s+){{0,4}}?(?:{_LOOK}|{COLOUR}|small|large|round|sharp|bright|delicate|irregular)(?=\W|$)(?!\s+\w+ing\b)"
    r"|\b(?:freckles|dressed\s+in|wore|wearing)\b(?!\s+(?:of|away|out)\b)"
    rf"|\b{COLOUR}(?:[-\s,]+\w+){{0,3}}?[-\s,]+{FEATURES}\b"
    rf"|\b(?:large|small|big|little|long|sharp|round|square|bright|fine|delicate|regular"
    rf"|clumsy|rough|curly|straight|thick|projecting|plain|handsome|pleasing|striking"
    rf"|insignificant)\s+(?:\w+\s+){{0,2}}?{FEATURES}\b"
)
AGE = (
    rf"(?i)(?<!at )\b{NUMBER}(?:[-\s]+and[-\s]+\w+)?[-\s]+(?:years?|months?)[-\s]+(?:old|of\s+age)\b"
    rf"|\b(?:his|her|my|your)\s+(?:\w+-and-)?{NUMBER}(?:-\w+)?\s+years\b(?!\s+(?:ago|before|since|hence|later|past|in|at|of)\b)"
    rf"|(?<!at the )\bage\s+of\b|(?<![-\w])aged\s+(?:about\s+)?(?:\w+-and-)?{NUMBER}\b|\b{PERSON}\s+of\s+(?:about\s+)?{NUMBER}\b|\b(?:is|was|be|being|am|are|were|under|over|about|turned"
    rf"|nearly|barely|hardly|scarcely|only|(?<!half )(?<!quarter )past)\s+(?:\w+-and-)?(?!one\b){NUMBER}(?:\s+years)?+"
    r"(?=\s*(?:$|[^\w\s])|\s+(?:and|or|but|when|then|at|in|on|as|if|now|last|next|this|that|though|older|younger|with|to)\b)"
    r"(?!\s+(?:o\W?\s?clock|o['’]|(?:of|minutes?|hours?|days?|weeks?|months?|miles?|times?|thousand"
    r"|hundred|pounds?|since|ago|before|later|hence|(?!years)\w{3,}s)\b))"
    r"|\b(?:ninth|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth|fortieth)"
    r"\s+(?:birthday|year)"
    r"|\b(?:his|her|my|your)\s+\w+-(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)\s+year\b"
    rf"|\b{PERSON}\s+(?:of\s+)?(?:about\s+|some\s+)?(?:\w+\s+(?:or|and)\s+)?\w+-and-{NUMBER}\b"
    rf"|\babout\s+\w+\s+or\s+\w+[-\s]and[-\s]{NUMBER}\b"
)
MANNER_OF_DEATH = (
    r"(?i)\b(?:died?|dies|dying|dead|death)\b.{0,60}\b(?:fever|duel|fall|fell|childbirth|"
    r"giving\s+(?:\w+\s+)?birth|accident|poison\w*|wound\w*|own\s+hand|hearts?|illness|disease"
    r"|consumption|cholera|stroke|apoplexy|grief|hunger|fright|seizure|attack|old\s+age"
    r"|cancer|cold|drowning|shooting)\b"
    r"|\b(?:hang(?:ed|s)|noose|gallows|drown\w*|poisoned|strangled|stabbed|(?<!within )(?<!a )shot|murdered|"
    r"killed|suicide)\b"
    r"|\b(?:fever|duel|accident|illness|disease|consumption|cholera|stroke|apoplexy|seizure|attack|complaint)\b"
    r".{0,120}\b(?:carried\s+(?:him|her|them|\w+)\s+off|took\s+(?:him|her|them)\s+off|was\s+no\s+more|put\s+an\s+end\s+to)\b"
)


MARRIAGE_PATTERN = re.compile(
    r"(?i)\b(?:marri(?:es|ed)|(?:is|was|are|were)\s+to\s+marry|marriage\s+(?:of|with|to)"
    r"|wedding|wedded|bride|bridegroom|wife|husband|engaged\s+to|Mr\.?\s+and\s+Mrs)\b"
)


def match_date(question: re.Match[str]) -> str:
    """Return the pattern of a date, or of a day if that is in question."""
    date = rf"\b{MONTH}\b|\b1\d{{3}}\b|(?i:\b{ORDINAL}\s+(?:of|instant)\b)"
    if question["kind"].lower() == "date":
        return date
    return (
        rf"{date}|\b{DAY}\b|(?i:\b{ORDINAL}\s+day\b"
        r"|\b(?:next|following|previous|same)\s+(?:day|morning|evening|week)\b"
        r"|\b(?:yesterday|to-?morrow|to-?day)\b)"
    )


def match_identity(question: re.Match[str]) -> str:
    """Return the pattern of a clause that says who the person in question is."""
    names = [
        word
        for word in re.findall(r"[A-Z][\w-]+", question.group())[1:]
        if word not in TITLE_WORDS.split()
    ]
    name = rf"\b(?:{'|'.join(names) or 'nobody'})\b"
    noun = r"(?:an?|the|his|her|my|our|their|your|one\s+of)\s+\w+"
    return (
        rf"{name}(?:,?\s+who)?\s+(?:is|was|had\s+been|has\s+been|be|been)\s+(?:\w+\s+)?{noun}"
        rf"|{name},\s+(?:{noun}|of\s+[A-Z])"
        rf"|(?i:\b(?:my|his|her|our|their|your|the|\w+['’]s)\s+(?:\w+\s+){{0,2}}?(?:{KIN_NOUNS}|friend|servant|maid"
        rf"|master|mistress|doctor|captain|lawyer|housekeeper|governess|nurse|landlord|landlady)),?\s+(?:\w+\.?\s+)?{name}"
        rf"|{name}['’]s\s+(?i:{KIN_NOUNS})\b|{name}\s+(?:is|was)\s+\w+\s+to\b"
    )


def match_relative(question: re.Match[str]) -> str:
    """Return the pattern of the word for the relative in question, beside a name if the
    question asks for that.
    """
    kin = rf"\b(?i:{re.escape(question['kin'])})s?\b"
    if re.search(r"\bname\b", question.string, re.IGNORECASE) is None:
        return kin
    called = r"(?:,|(?:is|was|were|named|called|by\s+name)\s)"
    title = rf"(?:(?:{'|'.join(TITLE_WORDS.split())})\.?\s+)?"
    return (
        rf"{kin}(?:\s*{called}){{0,2}}\s*{title}{_NAME}|{kin}['’]s\s+name\b"
        rf"|{_NAME},?\s+(?:(?:is|was)\s+)?(?:an?|the|his|her|their|my|your|our|\w+['’]s)\s+(?:\w+\s+){{0,2}}?{kin}"
    )


def match_number(question: re.Match[str]) -> str:
    """Return the pattern of a number of the things in question."""
    thing = question["thing"].lower()
    words = {thing, *find_related_words([thing])}
    stems = "|".join(re.escape(word.rstrip("s")) for word in sorted(words))
    many = rf"(?:{NUMBER}|no|a|an|several|dozens?|couple|both|only|single)"
    return (
        rf"(?i)\b{many}(?:[\s-]+[\w'’-]+){{0,4}}?[\s-]+(?:{stems})\w*"
        rf"|\b(?:{stems})\w*\W+(?:[\w'’-]+\W+){{0,6}}?{NUMBER}\b"
        rf"|\b{NUMBER}\s+of\s+(?:them|those|these|whom)\b"
    )


def match_role(question: re.Match[str]) -> str:
    """Return the pattern of a name beside the role in question: "Hob, the miller"."""
    role = rf"\b(?i:{re.escape(question['role'])})\b"
    title = rf"(?:(?:{'|'.join(TITLE_WORDS.split())})\.?\s+)?"
    return (
        rf"{role},?\s+(?:(?:is|was|named|called|a|an|Mr|Mrs)\W+){{0,2}}{title}{_NAME}"
        rf"|{_NAME},?\s+(?:\w+\s+){{0,3}}?{role}"
    )
