"""What kind of value a question asks for, such as an age or a relative, and which texts
have one.

Some questions can only be answered by a sentence of a certain form: what colour
something is by a colour, when something happens by a date. If no passage has such a
sentence, none of them answers the question.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lrwr.core.nlp.facts.clauses import TITLE_WORDS

_NUMBER = (
    r"(?:\d[\d,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million)"
)
_PERSON = r"(?:m[ae]n|wom[ae]n|boy|girl|lady|gentleman|child|lad|person|fellow|youth|creature)"
_COLOUR = (
    r"(?:black|white|red|blue|green|gr[ae]y|brown|gold(?:en)?|yellow|dark|fair|blonde?"
    r"|auburn|hazel|violet|purple|crimson|scarlet|silvery?|tawny|pink|chestnut|ginger"
    r"|orange|amber|ruddy|sandy|flaxen|raven|copper|russet|light|pale)"
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December)"
)
_DAY = (
    r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Christmas|Easter"
    r"|Michaelmas|Midsummer)"
)
_ORDINAL = (
    r"(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
    r"|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth|(?:twenty|thirty)-\w+)"
)
_SITES = (
    r"street|road|square|lane|church|chapel|village|town|city|county|country|theatre"
    r"|playhouse|hotel|inn|tavern|shop|school|college|regiment|ship|battle|club|prison"
)
NAMING = (
    r"(?:\b(?:[Nn]amed|christened|surname|nickname|alias|known\s+as|entitled)\b"
    r"|\b(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|\w+['’]s)\s+(?:\w+\s+)?name\b"
    r"|\b[Nn]ames?\s+(?:of|is|was|were)\b"
    r"|\bcall(?:s|ed)?\s+(?:(?:him|her|it|me|you|them)(?:self|selves)?\s+"
    r"|(?:the|his|her|their|our|my)\s+\w+\s+)?[“\"‘'_*]?[A-Z])"
)


@dataclass(frozen=True, slots=True)
class AnswerType:
    """A kind of value that a question asks for.

    `name` is how a message calls it ("the age"). `asks` matches such a question;
    its group, if any, is the thing whose value is asked for. `gives` is the pattern
    that an answering sentence must match, or builds it from that match; with `people`,
    the sentence, or one beside it, must also name so many of those whom the question
    names, and, if it `is_topical`, have a word of the topic. `verb` precedes the name in
    a message: a passage "gives the age". Unless `is_needed`, passages with it are better,
    but others may answer, too.
    """

    name: str
    asks: re.Pattern[str]
    gives: str | Callable[[re.Match[str]], str]
    people: int = 0
    verb: str = "gives"
    is_needed: bool = True
    is_topical: bool = False
    is_close: bool = False
    is_personal: bool = False


def _colour_of_thing(question: re.Match[str]) -> str:
    thing = rf"\b{re.escape(question['thing'].rstrip('s'))}(?:s|es)?\b"
    colour = rf"\b{_COLOUR}(?:-\w+)?\b"
    # In one clause: "her large dark eyes", "his hair, once black, was grey".
    return rf"(?i){colour}(?:[\s,]+[\w'’-]+){{0,3}}?[\s,]+{thing}|{thing}[^.;:!?“”]{{0,50}}{colour}"


def _named_site(question: re.Match[str]) -> str:
    site = {"playhouse": "theatre"}.get(question["site"].lower(), question["site"])
    kind = rf"(?:{site}|{site.capitalize()}|{question['site']})"
    name = r"[A-Z][\w.'’]+"
    return (
        rf"(?:\bSt\.?|\bSaint)\s+{name}|{name}(?:\s+{name})*[\s-]+{kind}\b|\b{kind}\s+(?:of|at|in|called|named)\s+"
        rf"{name}|\b{kind}[,:]?\s+{name}"
    )


def _named_thing(question: re.Match[str]) -> str:
    thing = rf"\b{re.escape(question['thing'])}\b"
    title = r"[“\"‘'_*]{1,2}[A-Z][^“”\"‘’_*.!?,]{0,40}[”\"’'_*]"
    name = rf"(?:{NAMING}|{title})"
    return (
        rf"(?s){thing}.{{0,60}}{name}|(?={name}).{{0,80}}{thing}|{thing}\s+of\s+[A-Z]"
    )


_PLACE = (
    r"\b(?:[Ii]n|[Aa]t|[Nn]ear|[Tt]o|[Ff]rom|[Oo]ff|[Oo]n|[Bb]y|[Bb]eside|[Bb]ehind|[Oo]pposite|[Uu]nder)\s+"
    r"(?:the\s+)?(?!(?:Mr|Mrs|Miss|Sir|Lady|Lord|Dr|I|God)\b)[A-Z][\w'’-]+"
    rf"|\b(?:in|at|on|near)\s+(?:an?|the|his|her|their|my)\s+(?:\w+\s+){{0,2}}(?:{_SITES}"
    r"|house|cottage|room|garden|park|wood|river|bridge|stairs|kitchen|cellar|attic|library|farm|inn|island|corner|parish)\b"
)
"""A place that a preposition puts something in: "in London", "at the old mill"."""

_LEAD_IN = (
    r"^\W*(?:(?:and|so|but)\s+)?(?:(?:if|once|after|before|by|in|at|on)\b[^,?]*,\s*)?"
)
"""What may precede the word that asks: "And", "If Nell comes back,"."""

_WHEN = re.compile(rf"{_LEAD_IN}when\b", re.IGNORECASE)
_SPAN_OF_TIME = r"(?:hours?|days?|nights?|weeks?|fortnights?|months?|years?)"
_TIME = (
    rf"\b{_MONTH}\b|\b{_DAY}\b|\b1\d{{3}}\b|\b20\d\d\b|\b[Dd]ay\s+\d+"
    r"|(?i:\bo['’]\s?clock\b|\bnoon\b|\bmidnight\b|\bdawn\b|\bsun(?:rise|set)\b|\bdusk\b"
    r"|\b(?:yesterday|to-?day|to-?morrow|to-?night)\b"
    r"|\b(?:in|of|last|next|that|this|every)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:spring|summer|autumn|winter|morning|afternoon|evening)\b"
    rf"|\b(?:{_ORDINAL}|{_NUMBER}|a|an|few|some|several|many|the\s+(?:next|following|same)"
    rf"|next|last|that|this|one)\s+(?:\w+\s+)?{_SPAN_OF_TIME}\b"
    r"|\b(?:after|before|during|since|until|till)\s+(?:the|his|her|their|my|our|its)\s+\w+)"
)
"""A time: "in the summer of 1806", "three years ago", "after the funeral"."""

KIN_WORD = (
    r"(?i)\b(?:(?:grand|step|half-|god)?(?:father|mother|son|daughter|brother|sister|child)"
    r"(?:-in-law)?|cousin|aunt|uncle|nephew|niece|wife|husband|widow|parents?|children|"
    r"related|relation|relative|kinsman|kinswoman|family|married|ward|guardian|heir)s?\b"
)
KIN_WORD_PATTERN = re.compile(KIN_WORD)
_KIN_NOUNS = (
    r"father|mother|son|daughter|brother|sister|cousin|aunt|uncle|nephew|niece|wife|husband"
    r"|widow|child|ward|guardian|heir"
)
_FEATURES = (
    r"(?:hair|eyes?|face|nose|lips|cheeks?|complexion|features|figure|beard|whiskers"
    r"|moustache|skin|teeth|tooth|hands|forehead|countenance|chin|mouth|limbs|build)"
)
_LOOKS = (
    r"(?i)\b(?:tall|short|stout|thin|slender|slight|slim|plump|fat|lean|gaunt|pale|sallow"
    r"|swarthy|ruddy|freckle[sd]?|wrinkled|shrivelled|bald|handsome|pretty|beautiful|ugly"
    r"|plain|comely|elderly|middle-aged|sickly|burly|lanky|bearded|spectacles"
    r"|\w+-(?:looking|haired|eyed|faced|featured|set|built|shouldered)"
    r"|dressed\s+in|wore|wearing)\b(?!\s+(?:of|away|out)\b)"
    rf"|\b{_COLOUR}(?:[-\s,]+\w+){{0,3}}?[-\s,]+{_FEATURES}\b"
    rf"|\b(?:large|small|big|little|long|sharp|round|square|bright|fine|delicate|regular"
    rf"|clumsy|rough|curly|straight|thick|projecting)\s+(?:\w+\s+){{0,2}}?{_FEATURES}\b"
)
_MANNER_OF_DEATH = (
    r"(?i)\b(?:died?|dies|dying|dead|death)\b.{0,60}\b(?:fever|duel|fall|fell|childbirth|"
    r"giving\s+(?:\w+\s+)?birth|accident|poison\w*|wound\w*|own\s+hand|hearts?|illness|disease"
    r"|consumption|cholera|stroke|apoplexy|grief|hunger|fright|seizure|attack|old\s+age"
    r"|cancer|cold|drowning|shooting)\b"
    r"|\b(?:hang(?:ed|s)|noose|gallows|drown\w*|poisoned|strangled|stabbed|(?<!within )(?<!a )shot|murdered|"
    r"killed|suicide)\b"
)


MARRIAGE_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:whom?(?:['’]s)?)\s+(?:(?:does|did|do|has|had|will|is|was|gets?)\s+)?"
    r"(?:[^,;]{1,40}?\s+)?(?:marr(?:y|ies|ied)|wed|weds)(?:\s+to)?(?:\s+[^,;]{1,30})?\W*$",
    re.IGNORECASE,
)
"""Asks whom somebody marries, and no more."""
MARRIAGE_PATTERN = re.compile(
    r"(?i)\b(?:marri(?:es|ed)|(?:is|was|are|were)\s+to\s+marry|marriage\s+(?:of|with|to)"
    r"|wedding|wedded|bride|bridegroom|wife|husband|engaged\s+to|Mr\.?\s+and\s+Mrs)\b"
)


def _date(question: re.Match[str]) -> str:
    date = rf"\b{_MONTH}\b|\b1\d{{3}}\b|(?i:\b{_ORDINAL}\s+(?:of|instant)\b)"
    if question["kind"].lower() == "date":
        return date
    return (
        rf"{date}|\b{_DAY}\b|(?i:\b{_ORDINAL}\s+day\b"
        r"|\b(?:next|following|previous|same)\s+(?:day|morning|evening|week)\b"
        r"|\b(?:yesterday|to-?morrow|to-?day)\b)"
    )


def _identity(question: re.Match[str]) -> str:
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
        rf"|(?i:\b(?:my|his|her|our|their|your|the|\w+['’]s)\s+(?:\w+\s+){{0,2}}?(?:{_KIN_NOUNS}|friend|servant|maid"
        rf"|master|mistress|doctor|captain|lawyer|housekeeper|governess|nurse|landlord|landlady)),?\s+(?:\w+\.?\s+)?{name}"
        rf"|{name}['’]s\s+(?i:{_KIN_NOUNS})\b|{name}\s+(?:is|was)\s+\w+\s+to\b"
    )


def _named_relative(question: re.Match[str]) -> str:
    return rf"(?i)\b{re.escape(question['kin'])}s?\b"


ANSWER_TYPES: Sequence[AnswerType] = (
    AnswerType(
        "such a relative",
        re.compile(
            r"^\W*(?:and\s+)?(?:who|what)(?:['’]s|\s+(?:is|was))\s+(?:the\s+name\s+of\s+)?"
            r"(?!the\s+\w+\s+name\b)"
            r"[A-Z][\w. ]*?['’]s?\s+(?:(?:elder|eldest|younger|youngest|older|oldest|only)\s+)?"
            r"(?P<kin>(?:grand|step)?(?:mother|father|son|daughter)"
            r"|brother|sister|aunt|uncle|cousin|wife|husband|nephew|niece)"
            r"(?:['’]s?\s+(?:\w+\s+)?name)?\W*$",
            re.IGNORECASE,
        ),
        _named_relative,
        people=1,
        verb="names",
        is_personal=True,
    ),
    AnswerType(
        "how they are related",
        re.compile(
            r"\b(?:how|are|were|is|was)\b.*\b(?:related|connected)\s+to\b|\brelat(?:ed|ives)"
            r"\W*$|\bwhat\s+relation\b|\bfamily\s+to\b"
            r"|^\W*(?:what|who)\s+(?:exactly\s+)?(?:is|was)\s+[A-Z][\w. ]*\bto\s+[A-Z]",
            re.IGNORECASE,
        ),
        KIN_WORD,
        people=2,
        verb="says",
    ),
    AnswerType(
        "whom the person marries",
        MARRIAGE_QUESTION,
        MARRIAGE_PATTERN.pattern,
        people=1,
        verb="says",
        is_personal=True,
    ),
    AnswerType(
        "who the person is",
        re.compile(
            r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:is|was)\s+(?-i:(?:[A-Z][\w.'’-]*\s*)+)\W*$",
            re.IGNORECASE,
        ),
        _identity,
        people=1,
        verb="says",
    ),
    AnswerType(
        "how the person looks",
        re.compile(
            r"\blooks?\s+like\b|\bappearance\b|\bphysically\b"
            r"|\b(?:describe|introduce)\b(?!.*\bas\b)",
            re.IGNORECASE,
        ),
        _LOOKS,
        people=1,
        verb="says",
        is_personal=True,
    ),
    AnswerType(
        "how somebody dies",
        re.compile(
            r"\b(?:how|in\s+what\s+way)\b[^,;]*\b(?:die[sd]?|killed)\b|\bcause\s+of\s+death\b"
            r"|\bhow\s+(?:does|do|did|was|were|is)\b.*\b(?:die|killed)\W*$"
            r"|\bwhat\s+kill(?:s|ed)\b|\bwhat\b[^,;]*\bdie[sd]?\s+of\b",
            re.IGNORECASE,
        ),
        _MANNER_OF_DEATH,
        people=1,
        verb="says",
        is_personal=True,
    ),
    AnswerType(
        "the colour",
        re.compile(r"\bwhat\s+colou?r\b.*?(?P<thing>\w+)\W*$", re.IGNORECASE),
        _colour_of_thing,
        people=1,
        is_personal=True,
    ),
    AnswerType(
        "the age",
        re.compile(
            r"\bhow\s+old\b|\bwhat\s+age\b|\b(?:what|how)\b.*\bage\W*$", re.IGNORECASE
        ),
        (
            rf"(?i)(?<!at )\b{_NUMBER}(?:[-\s]+and[-\s]+\w+)?[-\s]+(?:years?|months?)[-\s]+(?:old|of\s+age)\b"
            rf"|\b(?:his|her|my|your)\s+(?:\w+-and-)?{_NUMBER}(?:-\w+)?\s+years\b"
            rf"|(?<!at the )\bage\s+of\b|\baged\b|\b{_PERSON}\s+of\s+(?:about\s+)?{_NUMBER}\b|\b(?:is|was|be|being|am|are|were|under|over|about|turned"
            rf"|nearly|barely|hardly|scarcely|only|past)\s+(?:\w+-and-)?(?!one\b){_NUMBER}(?:\s+years)?(?=\W|$)"
            r"(?!\s+(?:o['’]|(?:of|minutes?|hours?|days?|weeks?|months?|miles?|times?|thousand"
            r"|hundred|pounds?|since|ago|(?!years)\w{3,}s)\b))"
            r"|\b(?:ninth|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth|fortieth)"
            r"\s+(?:birthday|year)"
        ),
        people=1,
        is_personal=True,
    ),
    AnswerType(
        "such a name",
        re.compile(
            r"\b(?:what|which)\b.*\b(?:surname|nickname|alias"
            r"|(?:last|family|first|Christian|maiden|middle|given)\s+name)\b",
            re.IGNORECASE,
        ),
        NAMING,
        people=1,
    ),
    AnswerType(
        "its name",
        re.compile(
            r"\bwhat\b.*\b(?:name|title)\s+of\s+(?:the\s+|this\s+|that\s+|an?\s+)?"
            r"(?:\w+\s+)??(?P<thing>[a-z]+)\b(?!['’])",
            re.IGNORECASE,
        ),
        _named_thing,
        is_close=True,
    ),
    AnswerType(
        "the year",
        re.compile(r"\b(?:which|what)\s+year\b", re.IGNORECASE),
        r"\b1\d{3}\b|\b20\d\d\b",
    ),
    AnswerType(
        "the date",
        re.compile(
            r"\b(?:what|which)(?:['’]s|\s+(?:is|was))?(?:\s+the)?(?:\s+exact)?"
            r"\s+(?P<kind>date|day)\b",
            re.IGNORECASE,
        ),
        _date,
    ),
    AnswerType(
        "the time of day",
        re.compile(
            r"\b(?:what|which)\s+(?:hour|time)\b(?!\s+of\s+year)", re.IGNORECASE
        ),
        (
            rf"(?i)\bo['’]\s?clock\b|\bnoon\b|\bmidnight\b|\bhalf[-\s]past\b|\bquarter\s+"
            rf"(?:to|past)\b|\b(?:at|past|about|till|until|before|after|struck|nearly)\s+"
            rf"{_NUMBER}\b|\b{_NUMBER}\s+in\s+the\s+(?:morning|afternoon|evening)"
            r"|\b[ap]\.?m\b|\bdawn\b|\bsun(?:rise|set)\b|\bdusk\b"
        ),
    ),
    AnswerType(
        "when",
        _WHEN,
        _TIME,
        people=2,
        verb="says",
        is_topical=True,
    ),
    AnswerType(
        "the length of time",
        re.compile(
            r"\bhow\s+long\s+(?!ago)|\bhow\s+many\s+(?:days|weeks|months|years|hours)\b",
            re.IGNORECASE,
        ),
        (
            rf"(?i)\b(?:{_NUMBER}|a|an|several|some|many|few|{_ORDINAL})[-\s]+(?:\w+[-\s]+)?"
            r"(?:days?|weeks?|months?|years?|hours?|minutes?|nights?|mornings?)\b"
            r"|\bfortnight\b"
        ),
        is_close=True,
        is_personal=True,
    ),
    AnswerType(
        "the distance",
        re.compile(r"\bhow\s+far\b(?!\s+along)", re.IGNORECASE),
        r"(?i)\b(?:miles?|yards?|leagues?|pages?|feet|paces|streets?|doors?|chapters?)\b",
        is_needed=False,
    ),
    AnswerType(
        "how often",
        re.compile(r"\bhow\s+(?:often|many\s+times)\b", re.IGNORECASE),
        r"(?i)\b(?:once|twice|thrice|times|every|always|seldom|often|never)\b",
        verb="says",
        is_needed=False,
    ),
    AnswerType(
        "the sum of money",
        re.compile(
            r"\bhow\s+much\s+money\b|\bworth\s+a\s+year\b|\bhow\s+(?:big|large|much)\b"
            r".*\b(?:dowry|fortune|income|salary|rent|inheritance|legacy)\b",
            re.IGNORECASE,
        ),
        (
            rf"(?i)\b{_NUMBER}\W+(?:\w+\W+)?(?:pounds?|guineas?|shillings?|pence|dollars?"
            rf"|francs?|crowns?|a[-\s]year)\b|[£$€]\s?\d|\b{_NUMBER}\s+thousand\b"
        ),
        is_close=True,
        is_personal=True,
    ),
    AnswerType(
        "the number",
        re.compile(r"\bhow\s+many\b", re.IGNORECASE),
        (rf"(?i)\b{_NUMBER}\b|\b(?:once|twice|thrice|dozens?|several|both|couple)\b"),
    ),
    AnswerType(
        "such a name",
        re.compile(
            rf"\b(?:which|what)\s+(?:\w+\s+)?(?P<site>{_SITES})\b", re.IGNORECASE
        ),
        _named_site,
        is_close=True,
    ),
    AnswerType(
        "where",
        re.compile(
            rf"{_LEAD_IN}(?:where(?:abouts)?\b(?!\s+(?:do|did|have)\s+I\b)"
            r"|in\s+(?:what|which)\s+(?:part|place|quarter)\b)",
            re.IGNORECASE,
        ),
        _PLACE,
        verb="says",
        is_close=True,
        is_personal=True,
    ),
    AnswerType(
        "why",
        re.compile(
            r"\bwhy\b|\bwhat\s+(?:made|makes|kept|keeps)\b|\breasons?\b", re.IGNORECASE
        ),
        (
            r"(?i)\b(?:because|since|reasons?|for\s+fear|lest|in\s+order|so\s+that|cannot"
            r"|that\s+(?:he|she|they|I)\s+(?:might|may)|could\s+not|afraid|owing\s+to"
            r"|on\s+account|therefore)\b"
        ),
        is_needed=False,
    ),
)
"""Kinds of values in the order in which a question is compared with them; a question has
the first that matches."""


def find_answer_type(question: str) -> AnswerType | None:
    """Return the kind of value that `question` asks for; None if it is none of
    `ANSWER_TYPES`.
    """
    for answer_type in ANSWER_TYPES:
        if answer_type.asks.search(question):
            return answer_type
    return None


def needs_value(question: str) -> bool:
    """Return whether only a value of some kind answers `question`."""
    answer_type = find_answer_type(question)
    return answer_type is not None and answer_type.is_needed


def has_value_form(question: str, text: str) -> bool:
    """Return whether `text` has the form of a value that `question` asks for, whosesoever
    it is; false if it asks for none.
    """
    answer_type = find_answer_type(question)
    match = answer_type.asks.search(question) if answer_type else None
    if answer_type is None or match is None:
        return False
    gives = answer_type.gives
    form = gives if isinstance(gives, str) else gives(match)
    return re.search(form, text) is not None


def asks_where(question: str) -> bool:
    """Return whether `question` asks where something is or happens."""
    answer_type = find_answer_type(question)
    return answer_type is not None and answer_type.name == "where"


def asks_why(question: str) -> bool:
    """Return whether `question` asks for a reason."""
    answer_type = find_answer_type(question)
    return answer_type is not None and answer_type.name == "why"


def asks_when(question: str) -> bool:
    """Return whether `question` asks when something happens."""
    return _WHEN.search(question) is not None


_LIST_OF_ANSWERS = re.compile(
    r"^\W*(?:list|trace|enumerate|who\s+(?:all\s+|else\s+)?knows?)\b|\b(?:every|each\s+of|all\s+of\s+the|all\s+the|the"
    r"\s+fates?\s+of|in\s+order|one\s+by\s+one)\b|\bwhich\s+(?:\w+\s+)?\w+s\s+(?:has|have|had)\b"
    r".*,|\b(?:do|does|did)\b.*\beach\b(?!\s+other)|\bsteps\s+by\s+which\b|\bdifferent\s+\w+s\b",
    re.IGNORECASE,
)
"""Questions with several answers, which a few passages hardly have all."""


def asks_for_list(question: str) -> bool:
    """Return whether `question` has several answers, such as every letter of somebody."""
    return _LIST_OF_ANSWERS.search(question) is not None
