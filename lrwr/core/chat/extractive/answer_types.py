"""What kind of value a question asks for, such as an age, an attribute or a relative,
and which texts have one.

Some questions can only be answered by a sentence of a certain form: what colour
something is by a colour, when something happens by a date. If no passage has such a
sentence, none of them answers the question.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.bible.kin_directory import KinTerm, read_kin_term
from lrwr.core.bible.values import CharacterRelation, Gap, list_gap_implications
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.cast import Gender
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    extract_capitalized_words,
    normalize_word,
)
from lrwr.core.model.turns import GapFlag, QuestionPlan

_NUMBER = (
    r"(?:\d[\d,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million)"
)
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
_NAMING = (
    r"(?:\b(?:[Nn]amed|christened|surname|nickname|alias|known\s+as|entitled)\b"
    r"|\b(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|\w+['’]s)\s+(?:\w+\s+)?name\b"
    r"|\b[Nn]ames?\s+(?:of|is|was|were)\b"
    r"|\bcall(?:s|ed)?\s+(?:(?:him|her|it|me|you|them)(?:self|selves)?\s+"
    r"|(?:the|his|her|their|our|my)\s+\w+\s+)?[“\"‘'_*]?[A-Z])"
)


@dataclass(frozen=True, slots=True)
class AnswerType:
    """A kind of value that a question asks for.

    `name` is how a message calls it ("an age"). `asks` matches such a question;
    its group, if any, is the thing whose value is asked for. `gives` is the pattern
    that an answering sentence must match, or builds it from that match. With `is_about_person`, the
    sentence, or one beside it, must also name whom the question names.
    """

    name: str
    asks: re.Pattern[str]
    gives: str | Callable[[re.Match[str]], str]
    is_about_person: bool = False


def _colour_of_thing(question: re.Match[str]) -> str:
    thing = re.escape(question["thing"].rstrip("s"))
    return rf"(?i)(?=.*\b{thing}(?:s|es)?\b)(?=.*\b{_COLOUR}(?:-\w+)?\b)"


def _named_site(question: re.Match[str]) -> str:
    site = {"playhouse": "theatre"}.get(question["site"].lower(), question["site"])
    kind = rf"(?:{site}|{site.capitalize()}|{question['site']})"
    name = r"[A-Z][\w.'’]+"
    return (
        rf"{name}(?:\s+{name})*[\s-]+{kind}\b|\b{kind}\s+(?:of|at|in|called|named)\s+"
        rf"{name}|\b{kind}[,:]?\s+{name}"
    )


def _named_thing(question: re.Match[str]) -> str:
    thing = re.escape(question["thing"])
    return rf"(?s)(?=.*\b{thing}\b)(?=.*(?:{_NAMING}|\b{thing}\s+of\s+[A-Z]|[“\"‘'_*]{{1,2}}[A-Z]))"


ANSWER_TYPES: Sequence[AnswerType] = (
    AnswerType(
        "a colour",
        re.compile(r"\bwhat\s+colou?r\b.*?(?P<thing>\w+)\W*$", re.IGNORECASE),
        _colour_of_thing,
        is_about_person=True,
    ),
    AnswerType(
        "an age",
        re.compile(
            r"\bhow\s+old\b|\bwhat\s+age\b|\b(?:what|how)\b.*\bage\W*$", re.IGNORECASE
        ),
        (
            rf"(?i)\b{_NUMBER}(?:[-\s]+and[-\s]+\w+)?[-\s]+(?:years?|months?)\b"
            rf"|\bage\s+of\b|\baged\b|\b(?:is|was|be|being|of|at|under|over|about|turned"
            rf"|nearly|only|not|past)\s+(?:\w+-and-)?{_NUMBER}(?=\W|$)(?!\s+(?:of|o['’]))"
            r"|\b(?:ninth|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth|fortieth)"
            r"\s+(?:birthday|year)"
        ),
        is_about_person=True,
    ),
    AnswerType(
        "such a name",
        re.compile(
            r"\b(?:surname|(?:last|family|first|Christian|maiden|middle|given)\s+name"
            r"|nickname|alias)\b",
            re.IGNORECASE,
        ),
        _NAMING,
        is_about_person=True,
    ),
    AnswerType(
        "its name",
        re.compile(
            r"\bwhat\b.*\b(?:name|title)\s+of\s+(?:the\s+|this\s+|that\s+|an?\s+)?"
            r"(?:\w+\s+)??(?P<thing>[a-z]+)\b(?!['’])",
            re.IGNORECASE,
        ),
        _named_thing,
    ),
    AnswerType(
        "a year",
        re.compile(r"\b(?:which|what)\s+year\b", re.IGNORECASE),
        (r"(?i)\b1\d{3}\b|\b20\d\d\b|\byears?\s+(?:ago|before|later|after)\b"),
    ),
    AnswerType(
        "a date",
        re.compile(
            r"\b(?:what|which)(?:['’]s|\s+(?:is|was))?(?:\s+the)?(?:\s+exact)?\s+(?:date|day)\b",
            re.IGNORECASE,
        ),
        (
            rf"\b{_MONTH}\b|\b{_DAY}\b|(?i:\b{_ORDINAL}\s+(?:of|day|instant)\b)"
            r"|(?i:\b(?:next|following|previous|same)\s+(?:day|morning|evening|week)\b"
            r"|\b(?:yesterday|to-?morrow|to-?day)\b)"
        ),
    ),
    AnswerType(
        "a time of day",
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
        "a length of time",
        re.compile(
            r"\bhow\s+long\s+(?!ago)|\bhow\s+many\s+(?:days|weeks|months|years|hours)\b",
            re.IGNORECASE,
        ),
        (
            rf"(?i)\b(?:{_NUMBER}|a|an|several|some|many|few|{_ORDINAL})[-\s]+(?:\w+[-\s]+)?"
            r"(?:days?|weeks?|months?|years?|hours?|minutes?|nights?|mornings?)\b"
            r"|\bfortnight\b"
        ),
    ),
    AnswerType(
        "a sum of money",
        re.compile(
            r"\bhow\s+much\s+money\b|\bworth\s+a\s+year\b|\bhow\s+(?:big|large|much)\b"
            r".*\b(?:dowry|fortune|income|salary|rent|inheritance|legacy)\b",
            re.IGNORECASE,
        ),
        (
            rf"(?i)\b{_NUMBER}\W+(?:\w+\W+)?(?:pounds?|guineas?|shillings?|pence|dollars?"
            rf"|francs?|crowns?|a[-\s]year)\b|[£$€]\s?\d|\b{_NUMBER}\s+thousand\b"
        ),
    ),
    AnswerType(
        "a number",
        re.compile(r"\bhow\s+(?:many|often)\b", re.IGNORECASE),
        (rf"(?i)\b{_NUMBER}\b|\b(?:once|twice|thrice|dozens?|several|both|couple)\b"),
    ),
    AnswerType(
        "such a name",
        re.compile(
            rf"\b(?:which|what)\s+(?:\w+\s+)?(?P<site>{_SITES})\b", re.IGNORECASE
        ),
        _named_site,
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


def describe_missing_value(
    question: str,
    names: Collection[str],
    texts: Sequence[str],
    sentences: SentenceSplitter,
) -> str:
    """Return the kind of value that `question` asks for and none of `texts` has, such as
    "an age"; empty if a text has one, or the question asks for no such value.

    `names` are the words by which the text calls the people of the question. Without
    them, words that the question capitalizes count as names.
    """
    answer_type = find_answer_type(question)
    if answer_type is None:
        return ""
    asked = answer_type.asks.search(question)
    if asked is None:
        return ""
    gives = answer_type.gives
    pattern = re.compile(gives if isinstance(gives, str) else gives(asked))
    name_words = {normalize_word(word) for word in names}
    name_words = name_words or set(extract_capitalized_words(question))
    if not answer_type.is_about_person:
        name_words = set()
    has_value = any(_has_value(text, sentences, pattern, name_words) for text in texts)
    return "" if has_value else answer_type.name


def _has_value(
    text: str,
    sentences: SentenceSplitter,
    pattern: re.Pattern[str],
    name_words: Collection[str],
) -> bool:
    """Return whether a sentence matches `pattern` and it, or one beside it, contains one
    of `name_words`, if there are any.
    """
    texts = [text[span.start : span.end] for span in sentences(text)]
    for place, sentence in enumerate(texts):
        if pattern.search(sentence) is None:
            continue
        near = " ".join(texts[max(0, place - 1) : place + 2])
        words = map(normalize_word, WORD_PATTERN.findall(near))
        if not name_words or not set(name_words).isdisjoint(words):
            return True
    return False


_KIN_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:"
    r"(?:who|what)(?:['’]s|\s+(?:is|was|are|were))\s+(?:the\s+names?\s+of\s+)?(?:"
    r"(?:.{1,40}?['’]s?|his|her|their|its)\s+(?P<owned>[\w-]+)"
    r"|the\s+(?P<of>[\w-]+)\s+of\s+.{1,40}?)(?:['’]s?\s+names?|\s+called|\s+named)?"
    r"|(?:does|did|do|has|have|had)\s+.{1,40}?\s+(?:have\s+)?(?:any|an?)\s+(?P<has>[\w-]+)"
    r"|whose\s+(?P<whose>[\w-]+)\s+(?:is|was|are|were)\s+.{1,40}?)\W*$",
    re.IGNORECASE,
)
"""Asks who is related to somebody in one way ("Who is Nell's mother?"), and no more."""

_PLURALS = {"children": "child", "wives": "wife"}


def find_kin_asked(question: str) -> KinTerm | None:
    """Return the relationship to whom `question` names that it asks for, as in "Who is
    Nell's mother?"; None if it asks for anything else.
    """
    match = _KIN_QUESTION.match(question)
    if match is None:
        return None
    noun = next(filter(None, match.groups())).lower()
    term = read_kin_term(noun) or read_kin_term(_PLURALS.get(noun, noun.rstrip("s")))
    if term is None or not match["whose"]:
        return term
    return replace(term, side=-term.side, gender=Gender.UNKNOWN)


def select_kin(
    asked: KinTerm,
    people: Collection[str],
    relations: Iterable[CharacterRelation],
    genders: Mapping[str, Gender],
) -> list[CharacterRelation]:
    """Return those of `relations` in which somebody is in the relationship `asked` to
    one of `people`, each once, in their order.

    A relationship stated the other way round counts: who has a daughter is her mother
    or father, as the `genders` of characters tell, or a noun such as "husband".
    """
    relations = list(relations)
    called = {
        relation.target: term.gender
        for relation in relations
        if (term := read_kin_term(relation.kind)) is not None
        and term.gender is not Gender.UNKNOWN
    }
    genders = {**genders, **called}
    return list(
        dict.fromkeys(
            relation
            for relation in relations
            if (relation.source in people and _names_kin(asked, relation))
            or (relation.target in people and _implies_kin(asked, relation, genders))
        )
    )


def _names_kin(asked: KinTerm, relation: CharacterRelation) -> bool:
    """Return whether the target of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, term.gender)
    )


def _implies_kin(
    asked: KinTerm, relation: CharacterRelation, genders: Mapping[str, Gender]
) -> bool:
    """Return whether the source of `relation` is what is asked for."""
    term = read_kin_term(relation.kind)
    return (
        term is not None
        and (term.base, -term.side) == (asked.base, asked.side)
        and _may_be_same(asked.gender, genders.get(relation.source, Gender.UNKNOWN))
    )


def _may_be_same(first: Gender, second: Gender) -> bool:
    return first is second or Gender.UNKNOWN in (first, second)


_THING = r"(?P<thing>[a-z][\w-]*(?: [a-z][\w-]*){0,3}?)"
_NO_ATTRIBUTES = frozenset(
    [
        "thing",
        "things",
        "way",
        "part",
        "plan",
        "idea",
        "idea",
        "opinion",
        "reaction",
        "answer",
        "reason",
        "role",
        "fault",
        "life",
        "point",
        "problem",
        "matter",
        "relation",
        "relationship",
        "feeling",
        "feelings",
    ]
)
"""Nouns after "Nell's" that are no attribute which a story defines once."""
_FORMS = tuple(
    (re.compile(pattern, re.I), attribute)
    for pattern, attribute in (
        (r"\bhow old\b|\b(?:what|which) age\b", "age"),
        (r"\bhow tall\b", "height"),
        (r"\b(?:when|what (?:day|year)) (?:is|was)\b.*\bborn\b", "birth"),
        (r"\bwhere (?:is|was)\b.*\bborn\b", "place of birth"),
        (r"\bwhere (?:do|does|did)\b.*\b(?:live|dwell|lodge|reside)\b", "home"),
        (
            rf"\bwhat (?:(?:is|was) the )?(?P<kind>colou?r|name) (?:of|is|are|was|were)\b"
            rf".*?(?:['’]s?|\bhis|\bher|\btheir) {_THING}\W*$",
            "",
        ),
        (rf"\b(?:what|who)(?:['’]s| is| are| was| were)\b.*?['’]s? {_THING}\W*$", ""),
        (rf"\bwhat(?:['’]s| is| are| was| were) the {_THING} of\b", ""),
        (rf"\b(?:has|have|had)\b.*? (?:an?|any) {_THING}\W*$", ""),
        (
            rf"\b(?:do|does|did)\b.*? (?:have|own|keep) (?:an?|any) {_THING}\W*$",
            "",
        ),
    )
)
"""Questions for an attribute; without a fixed name, it is the group `thing`."""


def find_question_gap(
    question: TurnQuestion, result: RetrievalResult, plan: QuestionPlan | None = None
) -> GapFlag | None:
    """Return a gap for the attribute of a character that `question` asks for; None if
    it asks for something else, about nobody or several, or up to a horizon.

    The character is the one who is talked to, else the only one of `result`, else the
    only entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    attribute = find_asked_attribute(question.text)
    if not about or not attribute or question.horizon is not None:
        return None
    return GapFlag(about, attribute)


def find_asked_attribute(text: str) -> str:
    """Return the attribute that an English question asks for, such as "age" or
    "favourite song"; "" if it asks for something else, such as a reason.
    """
    words = " ".join(text.split())
    for pattern, attribute in _FORMS:
        if match := pattern.search(words):
            groups = match.groupdict()
            thing = (groups.get("thing") or "").casefold()
            if thing and thing.split()[-1] in _NO_ATTRIBUTES:
                return ""
            match (groups.get("kind") or "").casefold():
                case "":
                    return attribute or thing
                case "name":
                    return f"name of {thing}"
                case colour:
                    return f"{thing.removesuffix('s')} {colour}"
    return ""


def build_gap_from_ledger(gap: Gap) -> GapFlag:
    """Return `gap`, of the story bible, in the form that answers use.

    Of its suggestions only the first is included.
    """
    implied = "; ".join(list_gap_implications(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))
