"""What kind of value a question asks for, such as an age or a relative, and which texts
have one.

Some questions can only be answered by a sentence of a certain form: what colour
something is by a colour, when something happens by a date. If no passage has such a
sentence, none of them answers the question.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lrwr.core.chat.extractive.answer_forms import (
    AGE,
    KIN_WORD,
    LOOKS,
    MANNER_OF_DEATH,
    MARRIAGE_PATTERN,
    NAMING,
    NUMBER,
    ORDINAL,
    SITES,
    TIME,
    match_colour,
    match_date,
    match_identity,
    match_number,
    match_place,
    match_relative,
    match_role,
    match_site,
    match_thing,
)


@dataclass(frozen=True, slots=True)
class AnswerType:
    """A kind of value that a question asks for.

    `name` is how a message calls it ("the age"). `asks` matches such a question;
    its group, if any, is the thing whose value is asked for. `gives` is the pattern
    that an answering sentence must match, or builds it from that match; with `people`,
    the sentence, or one beside it, must also name so many of those whom the question
    names, and, if it `is_topical`, have a word of the topic. `verb` precedes the name in
    a message: a passage "gives the age". `words` are frequent in sentences with such a
    value. Unless `is_needed`, passages with it are better,
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
    words: str = ""


_LEAD_IN = (
    r"^\W*(?:(?:and|so|but)\s+)?(?:(?:if|once|after|before|by|in|at|on)\b[^,?]*,\s*)?"
)
"""What may precede the word that asks: "And", "If Nell comes back,"."""

_WHEN = re.compile(rf"{_LEAD_IN}when\b", re.IGNORECASE)
MARRIAGE_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:whom?(?:['’]s)?)\s+(?:(?:does|did|do|has|had|will|is|was|gets?)\s+)?"
    r"(?:[^,;]{1,40}?\s+)?(?:marr(?:y|ies|ied)|wed|weds)(?:\s+to)?(?:\s+[^,;]{1,30})?\W*$",
    re.IGNORECASE,
)
"""Asks whom somebody marries, and no more."""
_ROLES = (
    r"housekeeper|maid|governess|nurse|surgeon|doctor|physician|apothecary|lawyer|attorney"
    r"|solicitor|steward|coachman|groom|gardener|cook|footman|valet|servant|tenant|landlord"
    r"|landlady|miller|smith|clerk|curate|vicar|rector|parson|teacher|tutor|captain|colonel"
    r"|judge|magistrate|inspector|detective|secretary|partner|owner|master|mistress|heir"
)
"""Occupations and posts that one person has."""

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
        match_relative,
        people=1,
        verb="names",
        is_personal=True,
    ),
    AnswerType(
        "how they are related",
        re.compile(
            r"\b(?:how|are|were|is|was)\b.*\b(?:related|connected)\s+to\b|\brelat(?:ed|ives)"
            r"\W*$|\bwhat\s+relation\b|\bfamily\s+to\b"
            r"|^\W*(?:what|who)\s+(?:exactly\s+)?(?:is|was)\s+(?-i:[A-Z])[\w.'’ ]*\bto\s+(?-i:[A-Z])",
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
        words="married marriage wedding bride engaged",
    ),
    AnswerType(
        "who the person is",
        re.compile(
            r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:is|was)\s+(?-i:(?:[A-Z][\w.'’-]*\s*)+)\W*$",
            re.IGNORECASE,
        ),
        match_identity,
        people=1,
        verb="says",
    ),
    AnswerType(
        "who that is",
        re.compile(
            r"^\W*(?:(?:and|so|but)\s+)?who\s+(?:is|was)\s+(?:the|[A-Z][\w. ]*?['’]s?)\s+(?P<role>butler"
            rf"|{_ROLES})\b",
            re.IGNORECASE,
        ),
        match_role,
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
        LOOKS,
        people=1,
        verb="says",
        is_personal=True,
        words=(
            "tall short stout thin slender plump handsome plain pretty beautiful"
            " eyes hair complexion figure face features countenance man woman girl"
        ),
    ),
    AnswerType(
        "how somebody dies",
        re.compile(
            r"\b(?:how(?!\s+(?:long|many|much|old|often|far))|in\s+what\s+way)\b[^,;]*\b(?:die[sd]?|killed)\b|\bcause\s+of\s+death\b"
            r"|\bhow\s+(?:does|do|did|was|were|is)\b.*\b(?:die|killed)\W*$"
            r"|\bwhat\s+kill(?:s|ed)\b|\bwhat\b[^,;]*\bdie[sd]?\s+of\b",
            re.IGNORECASE,
        ),
        MANNER_OF_DEATH,
        people=1,
        verb="says",
        is_personal=True,
        words="died death killed dead illness funeral drowned fever",
    ),
    AnswerType(
        "the colour",
        re.compile(r"\bwhat\s+colou?r\b.*?(?P<thing>\w+)\W*$", re.IGNORECASE),
        match_colour,
        people=1,
        is_personal=True,
        words=(
            "black white red blue green grey brown"
            " golden yellow dark fair auburn hazel light pale"
        ),
    ),
    AnswerType(
        "the age",
        re.compile(
            r"\bhow\s+old\b|\bwhat\s+age\b|\b(?:what|how)\b.*\bage\W*$", re.IGNORECASE
        ),
        AGE,
        people=1,
        is_personal=True,
        words=(
            "years old age aged twelve fourteen fifteen sixteen"
            " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy"
        ),
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
            r"\bwhat\b.*\b(?:name|title)\s+of\s+(?:the\s+|this\s+|that\s+|an?\s+|[A-Z]\w+['’]s?\s+)?"
            r"(?:(?:little|big|small|great|old|young|new|first|second|dead|dear|white|black|\w+['’]s)\s+)*"
            r"(?:\w+\s+)??(?P<thing>[a-z]+)\b(?!['’])",
            re.IGNORECASE,
        ),
        match_thing,
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
        match_date,
    ),
    AnswerType(
        "the time of day",
        re.compile(
            r"\b(?:what|which)\s+(?:hour|time)\b(?!\s+of\s+year)", re.IGNORECASE
        ),
        (
            rf"(?i)\bo['’]\s?clock\b|\bnoon\b|\bmidnight\b|\bhalf[-\s]past\b|\bquarter\s+"
            rf"(?:to|past)\b|\b(?:at|past|about|till|until|before|after|struck|nearly)\s+"
            rf"{NUMBER}\b|\b{NUMBER}\s+in\s+the\s+(?:morning|afternoon|evening)"
            r"|\b[ap]\.?m\b|\bdawn\b|\bsun(?:rise|set)\b|\bdusk\b"
        ),
    ),
    AnswerType(
        "when",
        _WHEN,
        TIME,
        people=2,
        verb="says",
        is_topical=True,
        is_close=True,
    ),
    AnswerType(
        "the length of time",
        re.compile(
            r"\bhow\s+long\s+(?!ago)|\bhow\s+many\s+(?:days|weeks|months|years|hours)\b",
            re.IGNORECASE,
        ),
        (
            rf"(?i)\b(?:{NUMBER}|a|an|several|some|many|few|{ORDINAL})[-\s]+(?:\w+[-\s]+)?"
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
            rf"(?i)\b{NUMBER}\W+(?:\w+\W+)?(?:pounds?|guineas?|shillings?|pence|dollars?"
            rf"|francs?|crowns?|a[-\s]year)\b|[£$€]\s?\d|\b{NUMBER}\s+thousand\b"
        ),
        is_close=True,
        is_personal=True,
    ),
    AnswerType(
        "the number",
        re.compile(r"\bhow\s+many\s+(?:more\s+)?(?P<thing>\w+)", re.IGNORECASE),
        match_number,
        people=1,
    ),
    AnswerType(
        "such a name",
        re.compile(
            rf"\b(?:which|what)\s+(?:\w+\s+)?(?P<site>{SITES})\b", re.IGNORECASE
        ),
        match_site,
        is_close=True,
    ),
    AnswerType(
        "where",
        re.compile(
            rf"{_LEAD_IN}(?:where(?:abouts)?\b(?!\s+(?:do|did|have)\s+I\b)"
            r"|in\s+(?:what|which)\s+(?:part|place|quarter)\b)",
            re.IGNORECASE,
        ),
        match_place,
        verb="says",
        is_close=True,
        is_personal=True,
        words=("live lives lived lodgings house home residence street settled"),
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
    r"^\W*(?:list|trace|enumerate|who\s+(?:all\s+|else\s+)?knows?)\b|\ball\s+the\s+(?:\w+\s+)?(?!(?:is|was|has|does)\b)\w+s\b"
    r"|\bevery\b(?!\s+(?:\w+\s+)?(?:time|day|night|morning|evening|week|month|year|summer|winter)s?\b|body|thing)"
    r"|\b(?:each\s+of|all\s+of\s+the|the"
    r"\s+fates?\s+of|in\s+order|one\s+by\s+one)\b|\bwhich\s+(?:\w+\s+)?\w+s\s+(?:has|have|had)\b"
    r".*,|\b(?:do|does|did)\b.*\beach\b(?!\s+other)|\bsteps\s+by\s+which\b|\bdifferent\s+\w+s\b",
    re.IGNORECASE,
)
"""Questions with several answers, which a few passages hardly have all."""


def asks_for_list(question: str) -> bool:
    """Return whether `question` has several answers, such as every letter of somebody."""
    return _LIST_OF_ANSWERS.search(question) is not None
