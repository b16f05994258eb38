"""Phrases that look like life events and are none: figures of speech and routine."""

import re

from lrwr.core.model.facts import LifeEventKind
from lrwr.core.model.text import LazyPattern

_K = LifeEventKind
_CASUALLY = re.compile(
    r"\b(?:on (?:his|her|their|my|our|the) (?:entrance|stairs|staircase|landing)|within (?:a "
    r"few|some|\w+) (?:yards|paces|steps)|(?:at|in|by|near) the (?:door|doorway|hall|passage|"
    r"lobby|shrubbery|corridor|gate))\b",
    re.I,
)
_IN_TOWN = re.compile(
    r"[^,.;]{0,30}?\b(?:[A-Z][\w']+ )+(?:Street|Square|Row|Road|Lane|Buildings|Place|Inn|"
    r"Terrace|Crescent|Gardens)\b"
)
# What stops or is hurt instead of a person: "arrested her attention", "wounded his pride"
_ARRESTED_THING = LazyPattern(
    r" (?:whole |own |very )?(?:attention|notice|eyes?|ears?|gaze|glance|look|steps?|"
    r"footsteps|progress|course|flight|retreat|departure|career|hand|arm|tongue|speech|"
    r"words|pen|thoughts?|fancy|imagination|mind|curiosity)\b"
)
# "Arrested her by shouting": only officers of the law arrest by their office.
_ARRESTED_BY = LazyPattern(
    r"(?: [A-Z][\w'.-]+)* (?:by (?:\w+ly )?(?:\w+ing|(?:a|an|the|his|her|their|my|this) "
    r"(?:\w+ )?(?:words?|look|glance|gesture|question|sound|cry|voice|sight|touch|exclamation))\b"
    r"|in (?:his|her|their|the) (?:act|course|career|flight|progress|speech)\b|with (?:a|an|the|his|her) )"
)
_FELT = re.compile(r"\b(?:deeply|keenly|bitterly|acutely|inwardly|secretly|morally)\b")
_FEELINGS = (
    r"(?:feelings?|pride|vanity|self-love|self-esteem|self-respect|dignity|sensibilit(?:y|ies)|"
    r"affections?|spirits?|soul|honou?r|conscience|delicacy|susceptibilities|amour-propre|taste)"
)
_HURT_FEELINGS = LazyPattern(
    rf"(?:'s)? (?:in )?(?:(?:his|her|their|my|the|its) )?(?:[a-z]+ ){{0,2}}?{_FEELINGS}\b|"
    r"(?: [A-Z][\w'.-]+)* to the (?:quick|heart|soul|core)\b|"
    r" (?:by|at|with) (?:(?:his|her|their|my|your|the|this|that|such|so much|a|an|[A-Z][\w]+'s) )?(?:\w+ )?"
    r"(?:words?|coldness|neglect|tone|indifference|remarks?|manner|look|suspicions?|doubts?|"
    r"reproach(?:es)?|silence|refusal|ingratitude|unkindness|contempt|scorn|distrust|want of)\b"
)
_LIMB = LazyPattern(
    r" (?:in|through|on|about) (?:the|his|her|my|one) (?:\w+ )?(?:arm|leg|thigh|shoulder|"
    r"side|breast|chest|head|neck|back|hand|foot|knee|face|lung|groin|throat|temple|forehead)s?\b"
)
_BUSY = re.compile(
    r"\b(?:week|evening|to-?morrow|to-?night|dinner|day|dine|afternoon|morning|busy|dance|dances|ball|(?:in|on|upon) which|quest|search|conversation)\b",
    re.I,
)
# "Dead" as an adverb: wholly, exactly
_WHOLLY = LazyPattern(
    r" (?:sick|lame|beat|broke|bored|keen|slow|sober|quiet|straight|serious|pale|white|"
    r"ahead|astern|faint|in (?:earnest|love)|on (?:time|target)|\w+ly\b)\b"
)
_LEFT_TO_ACT = LazyPattern(
    r"(?: [A-Z][\w'-]+\.?)*(?:,? and [A-Z][\w'.-]+(?: [A-Z][\w'.-]+)*)? to [a-z]"
)
# What is handed down by will or by law; not a temper, a habit, a task or a mess
_PROPERTY = LazyPattern(
    r"(?=[.,;:!?\x01]|$)|(?: (?!(?:as|for|with|about|in|from|and)\b)[\w'’-]+){0,7}? (?:estates?|propert(?:y|ies)|fortunes?|money|"
    r"houses?|home|mills?|farms?|lands?|titles?|business|shop|manor|halls?|castle|cottage|"
    r"pounds|thousands?|income|wealth|riches|everything|half|share|legacy|mines?|ship|"
    r"kingdom|throne|crown|baronetcy|dukedom|earldom|annuity|library|jewels|capital|practice|"
    r"firm|plantation|acres|rents?|gold|silver|living|inn|ranch|works|factory|park)\b|"
    r" (?:the |all )?(?!I\b)[A-Z]\w+"
)
# "Since Nell was born" dates something else; "cursed the hour that he was born".
_DATED = re.compile(
    r"\b(?:(?:hour|day|night|moment|minute|year)s?(?: that| when| on which)? (?:\w+\.? ){1,3}|"
    r"(?:before|since|until|till|ere|where|in which|wish\w*)\b[^,;]*)$"
)
_ILL_MEANWHILE = re.compile(r"\b(?:when(?:ever)?|while|whilst|as|since)\b[^,;]*$")
# "As far as he was concerned, Nell was dead"
_DEAD_TO = re.compile(
    r"\b(?:[Ss]o|[Aa]s) far as\b|\bdead (?:to|for (?:hundreds|thousands|centuries|ages))\b"
)
_OF_SOMEBODY = re.compile(
    r"\b(?:child|baby|man|woman|boy|girl|one|those|people|person) who (?:had|has|have) "
    r"(?:been )?$"
)
_RAN = re.compile(r"\b(?:frightened|scared|terrified|laugh\w*|shriek\w*|scream\w*)\b")
_GAME = re.compile(
    r"\b(?:rats?|hares?|rabbits?|birds?|pigeons?|pheasants?|partridges?|ducks?|foxe?s?|"
    r"deer|stags?|wol(?:f|ves)|bears?|lions?|tigers?|horses?|dogs?|cats?|game)\b",
    re.I,
)
_ROOM = LazyPattern(
    r"(?: \w+)?,? (?:into|down|along|from|out of|up|to|through)(?: (?:the|a|an|his|her|my|our|"
    r"their|this|that))? (?:\w+[ -])?(?:room|chair|seat|sofa|corner|hall|door|window|fire|dance|"
    r"talk|conversation|discussion|argument|subject|street|stairs|passage|table|parlou?r|kitchen|"
    r"circle|group|light|feet|side|story|affair|business)\b"
)
_TIME = re.compile(
    r"\b(?:\w+day|day|days|night|morning|evening|afternoon|noon|midnight|week|month|year|"
    r"hours?|o'clock|o’clock|at last|at length|spring|summer|autumn|winter|January|February|"
    r"March|April|May|June|July|August|September|October|November|December)\b"
)


_WHEN = re.compile(r"\b(?:when|after|before|till|until|once|if)\b", re.I)
_TIME_OF_WEDDING = re.compile(
    r"\b(?:when|after|before|till|until|once|if)\b(?! I\b)[^,;]{0,40}$", re.I
)
_KILLS = re.compile(
    r"(?:murdered|killed|strangled|drowned|poisoned|slew|slain|found) (?!(?:him|her|them)sel)|"
    r"committed the murder"
)


_PARENTHESIS = re.compile(
    r", (?:I|he|she|we|they) (?:found|thought?|think|believed?|supposed?|hear|heard|feared?|"
    r"understood|understand|knew|know|said|say|fancied|suspect(?:ed)?|learne?d|hoped?),"
)


def hide_parentheses(words: str) -> str:
    """Return `words` with spaces in place of parentheses such as ", I found,"."""
    return _PARENTHESIS.sub(lambda match: " " * len(match.group()), words)


_LOSES = re.compile(r"(?:(?:had|has|have) )?lost (?:his|her|their|both)")


def is_loss(phrase: str) -> bool:
    """Return whether `phrase` says that a relative of its subject died."""
    return bool(_LOSES.match(phrase))


def is_killing(phrase: str) -> bool:
    """Return whether the subject of `phrase` kills somebody, or finds somebody dead."""
    return bool(_KILLS.match(phrase))


def is_figure_or_routine(kind: LifeEventKind, words: str, match: re.Match[str]) -> bool:
    """Return whether the phrase of an event of `kind`, at `match` in `words`, is a figure
    of speech ("wounded his pride"), an everyday action or what may happen.
    """
    before = words[: match.start()]
    clause = max(before.rfind(mark) for mark in (";", ":", "\x01", "—", "--", "("))
    if match.group().startswith(("is ", "are ", "am ")) and _WHEN.search(
        before, clause + 1
    ):
        return True  # "when he is married"
    return _is_figure(kind, words, match) or _is_everyday(kind, words, match)


def _is_figure(kind: LifeEventKind, words: str, match: re.Match[str]) -> bool:
    phrase, end = match.group(), match.end()
    if kind is _K.WOUNDED and "wounded" in phrase:
        is_felt = bool(_FELT.search(phrase)) and not _LIMB.match(words, end)
        return is_felt or bool(_HURT_FEELINGS.match(words, end))
    if kind is _K.ARRESTED and "arrested " in phrase:
        return bool(_ARRESTED_THING.match(words, end) or _ARRESTED_BY.match(words, end))
    if kind is _K.DIED and phrase.endswith("dead"):
        is_wholly = bool(_WHOLLY.match(words, end))
        return is_wholly or bool(_DEAD_TO.search(words))
    if kind is _K.DIED:
        return bool(_OF_SOMEBODY.search(words, 0, match.start()))
    if kind is _K.LEFT and phrase.startswith("left ") and phrase[5:6].isupper():
        return bool(_LEFT_TO_ACT.match(words, end))
    if kind is _K.BORN:
        return bool(_DATED.search(words, 0, match.start()))
    is_inherited = kind is _K.INHERITED and phrase == "inherited"
    return is_inherited and not _PROPERTY.match(words, end)


def _is_everyday(kind: LifeEventKind, words: str, match: re.Match[str]) -> bool:
    """Return whether people who live together meet by a door, somebody only goes to
    another street or into another room, is busy, hunts, or is ill while something happens.
    """
    phrase = match.group()
    if kind is _K.ENGAGED:
        return bool(_BUSY.search(words))
    if kind is _K.MARRIED:
        return bool(_TIME_OF_WEDDING.search(words[: match.start()]))
    if kind is _K.MET and phrase.startswith("met"):
        return bool(_CASUALLY.search(words, match.start()))
    if kind is _K.LEFT and phrase == "ran away":
        return bool(_RAN.search(words))
    if kind is _K.WOUNDED:
        is_ill = phrase.endswith(("ill", "sick", "unwell"))
        return bool(
            (is_ill and _ILL_MEANWHILE.search(words, 0, match.start()))
            or ("shot" in phrase and _GAME.search(words))
        )
    if kind is _K.TAKEN:
        return bool(_ROOM.match(words, match.start() + phrase.find(" ")))
    if kind is not _K.ARRIVED:
        return False
    is_bare = phrase == "arrived" and not _TIME.search(words)
    return is_bare or bool(_IN_TOWN.match(words, match.start()))
