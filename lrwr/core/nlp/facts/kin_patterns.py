"""Regular expressions for signs of kinship and marriage; see `relation_cues`.

The groups are the same in all: `whose` is a pronoun or `one` the name of the one whose
kin, `kin`, the name `two` is.
"""

import re

from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import NAME_PATTERN
from lrwr.core.nlp.facts.kinship import KINSHIP_ADJECTIVES, RELATIONSHIP_WORDS

FAMILY = (
    "mother-in-law father-in-law sister-in-law brother-in-law son-in-law "
    "daughter-in-law half-sister half-brother stepmother stepfather stepson "
    "stepdaughter step-mother step-father step-son step-daughter grandmother "
    "grandfather grandson granddaughter mother father sister brother daughter son wife "
    "husband aunt uncle niece nephew cousin guardian ward mamma mama papa"
)
WORDS = {
    "mamma": "mother",
    "mama": "mother",
    "papa": "father",
    "mum": "mother",
    "in love": "love interest",
}
"""Words of the text, and the nouns for the same relation."""
_FAMILY_NOUN = "|".join(FAMILY.split())
_ANY_NOUN = "|".join(
    sorted(RELATIONSHIP_WORDS | {"patroness", "patron"}, key=len, reverse=True)
)
_NO_NAME = r"(?![\w'’-]|,? [A-Z])"
_LIST = rf"{NAME_PATTERN}(?:, {NAME_PATTERN})*,? (?:and|or) {NAME_PATTERN}"
PLURALS = (
    "sisters|brothers|daughters|sons|cousins|children|aunts|uncles|nieces|nephews|"
    "friends"
)

# "Nell's mother" without a name
NAMED_OWNER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN})(?:'s|(?<=s)') {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_FAMILY_NOUN}){_NO_NAME}"
)
# "her mother", "my mother", without a name
OWNER = LazyPattern(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_FAMILY_NOUN})\b{_NO_NAME}"
)
# "her cousin Mags"
OWNER_AND_NAME = LazyPattern(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_ANY_NOUN}) (?P<two>{NAME_PATTERN})(?![\w-]| [A-Z])(?! and [A-Z])"
)
# "a letter from my cousin, Mr. Vale", not "I thank my cousin, Mr. Vale", said to him
OWNER_AND_APPOSITION = LazyPattern(
    rf"\b(?:from|of|by|about|than|is|was|to|with|for|between|like|upon|on) (?:my \w+, )?(?P<whose>"
    rf"[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_ANY_NOUN}), (?P<two>{NAME_PATTERN})(?![\w-]| [A-Z])(?! and [A-Z])"
)
# "his brother-in-law, Mr. Vale, …"
OWNER_AND_CLOSED_NAME = LazyPattern(
    rf"\b(?P<whose>[Hh]is|[Hh]er) {KINSHIP_ADJECTIVES}(?P<kin>{_ANY_NOUN}), "
    rf"(?P<two>{NAME_PATTERN})(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
)
# "Mags, her cousin,"
NAME_AND_OWNER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}), (?P<whose>his|her|my|your) "
    rf"{KINSHIP_ADJECTIVES}(?P<kin>{_ANY_NOUN})(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
)
# "Mags is my dearest friend", "Mags was one of his cousins"
NAME_IS_OWNED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}) (?:is|was|has been|had been) (?:one of )?"
    rf"(?P<whose>my|his|her|your) {KINSHIP_ADJECTIVES}(?P<kin>{_ANY_NOUN})s?"
    r"(?=[.,;:!?)—–\x01]|$| (?:and|but|in|at|now)\b)"
)
# "Mags, an old friend of mine", "Mags was a great friend of Hob's"
NAME_OF_OWNER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN})(?:,| (?:is|was))(?: [A-Z]\w+,)? "
    rf"(?:an?|the) {KINSHIP_ADJECTIVES}(?:[A-Z]\w+ )?(?P<kin>{_ANY_NOUN}) of (?:(?P<whose>"
    rf"mine|his|hers|yours)\b|(?P<one>{NAME_PATTERN})'s(?! \w))"
)
# "Mags Vale, the duchess's brother"
_RANK = (
    "duchess|duke|countess|count|baroness|baron|marquis|earl|prince|princess|king|"
    "queen|captain|colonel|general|admiral|major|doctor|inspector|squire|rector|vicar"
)
NAME_OF_RANK = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN}), (?P<one>the (?:{_RANK}))'s "
    rf"{KINSHIP_ADJECTIVES}(?P<kin>{_ANY_NOUN})(?=[.;:!?)—–]|$|,(?! (?:and|or)\b))"
)
# "she and Hob were cousins"
PRONOUN_AND_NAME = LazyPattern(
    rf"\b(?P<whose>[Hh]e|[Ss]he|I) and (?P<two>{NAME_PATTERN}) (?:were|are|had been|have been) "
    r"(?:\w+ )?(?P<kin>sister|brother|cousin|friend)s\b"
)
# "Mags came. She is my cousin."
PRONOUN_IS_OWNED = LazyPattern(
    rf"\b(?P<who>[Hh]e|[Ss]he)(?:'s| is| was) (?:one of )?(?P<whose>my) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_ANY_NOUN})s?(?=[.,;:!?)—–\x01]|$| (?:and|but)\b)"
)
# "his sisters, Mags and Ada", "Nell's two sisters Mags and Ada"
PLURAL = LazyPattern(
    rf"(?:\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our)|(?P<one>{NAME_PATTERN})(?:'s|(?<=s)')) "
    rf"{KINSHIP_ADJECTIVES}(?:(?:two|three|four|five|six|elder|younger|eldest|"
    rf"youngest) )*(?P<kin>{PLURALS}),? (?P<names>{_LIST})(?![\w-])"
)
# "the eldest of his daughters, Jane"
ONE_OF = LazyPattern(
    rf"\b(?:one|eldest|elder|youngest|younger|second|third|first|last) of (?:(?P<whose>"
    rf"his|her|my|your)|(?P<one>{NAME_PATTERN})(?:'s|(?<=s)')) {KINSHIP_ADJECTIVES}"
    rf"(?:(?:two|three|four|five|six) )?(?P<kin>{PLURALS}),? (?P<two>{NAME_PATTERN})"
    r"(?=[.,;:!?)—–]|$| (?:was|is|had|and)\b)"
)
# "his mother was Mags Vale", "her mother was a Vale, Ada Vale"
OWNER_IS_NAME = LazyPattern(
    rf"\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our) {KINSHIP_ADJECTIVES}(?P<kin>{_FAMILY_NOUN}) "
    rf"(?:is|was|had been) (?:(?:called|named) |an? [A-Z]\w+, )?(?P<two>{NAME_PATTERN})"
    r"(?=[.;:!?)—–]|$|,(?! (?:and|or)\b)(?! [A-Z]))"
)
# "Mags came. She was the only daughter of Hob", "he is a great friend of Hob's"
PRONOUN_OF_NAME = LazyPattern(
    rf"\b(?P<whose>[Hh]e|[Ss]he|I)(?:'s|'m| is| am| was| had been) (?:an?|the|one of the) "
    rf"{KINSHIP_ADJECTIVES}(?P<role>daughter|son|child|grandson|"
    r"granddaughter|wife|widow|husband|cousin|friend)s? of "
    rf"(?P<two>{NAME_PATTERN})(?:'s(?! \w))?(?![\w'-]| (?:and|or) [A-Z])"
)
# "She is Hob's daughter."
PRONOUN_IS_NAMED = LazyPattern(
    rf"\b(?P<whose>[Hh]e|[Ss]he|I)(?:'s|'m| is| am| was| had been) (?:the (?:late |last |old ))?"
    rf"(?P<two>{NAME_PATTERN})(?:'s|(?<=s)') {KINSHIP_ADJECTIVES}(?P<role>daughter|son|child|"
    r"grandson|granddaughter|wife|widow|husband|cousin|friend)(?=[.,;:!?)—–\x01]|$| (?:and|but)\b)"
)
INVERSE = {"daughter": "parent", "son": "parent", "child": "parent", "wife": "husband",
           "widow": "husband", "husband": "wife", "grandson": "grandparent",
           "granddaughter": "grandparent"}  # fmt: skip
"""What somebody is to their daughter, and so on; of a cousin, a cousin."""
# "Hob Vale has got a pretty young wife"
HAS_PARTNER = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) (?:has|had) (?:got )?an? (?:[a-z]+ ){{0,3}}"
    r"(?P<kin>wife|husband)\b(?! and)"
)
# "Mrs. Vale, his guardian's wife,"
SOMEBODYS_WIFE = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}), (?:his|her|my|your|the) (?:[a-z]+ )?[a-z]+'s "
    r"(?P<kin>wife)(?=[.;:!?)—–]|$|,)"
)
# "Mags had formed a great friendship with Hob"
FRIENDSHIP = LazyPattern(
    rf"(?:\b(?P<whose>[Hh]e|[Ss]he|I)|(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN})) "
    r"(?:(?:had|has|have|soon|at once|managed to) )*(?:formed?|contract(?:ed)?|struck up|"
    r"conceived?) an? (?:[a-z]+ )*(?P<kin>friend)ship (?:with|for) "
    rf"(?P<two>{NAME_PATTERN})(?![\w'-])"
)
# "Hob was deeply in love with Mags"
IN_LOVE = LazyPattern(
    rf"(?:\b(?P<whose>[Hh]e|[Ss]he|I)|(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}))"
    r"(?:'s|'m| is| am| was| are| were| fell| has fallen| had fallen| has been| had been)"
    r"(?: (?:still|now|really|deeply|desperately|passionately|very much|madly|truly|\w+ly))? "
    rf"(?P<kin>in love) with (?P<two>{NAME_PATTERN})(?![\w'-])"
)
SINGULAR = {"children": "child"}
_PAUSE = r"(?:^|(?<=[\x01.!?;:—“\"‘',])|(?<=[\x01.!?;:—“\"‘',] ))"
# "…, mamma." and "My dear aunt, …"
VOCATIVE = LazyPattern(
    rf"(?i){_PAUSE}(?:(?:oh|ah|no|yes|well|but|and|now|"
    r"O|good \w+|thank you)[,!]? )?(?P<dear>(?:my )?(?:(?:dear|dearest|own|sweet|"
    r"beloved|poor) )+|my )?(?P<kin>mamma|mama|papa|mother|father|aunt|uncle|"
    r"sister|brother|cousin|niece|nephew|grandmother|grandfather|grandmamma|grandpapa|"
    r"wife|husband|son|daughter)(?=[,.!?;\x01”\"—])"
)
# "Aunt Mags", of an aunt of the speaker
TITLED_KIN = LazyPattern(
    rf"(?<![\w-])(?<![Hh]is )(?<![Hh]er )(?<![Yy]our )(?<![Mm]y )(?P<kin>[Aa]unt|[Uu]ncle|[Cc]ousin) (?P<two>{NAME_PATTERN})"
)
# "the daughter of Hob Gannet" is a pattern of `kinship`; these are of couples.
UNION = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) (?:(?:is|was|were|be|been|being|had been|has "
    r"been|are) )?(?:(?:now|already|really|actually|secretly|formally) )?"
    r"(?P<verb>engaged|betrothed|affianced|married|wedded) (?:to be married )?to "
    rf"(?P<two>{NAME_PATTERN})(?![\w-])"
)
UNION_OF = LazyPattern(
    rf"\b(?P<verb>marriage|wedding|engagement|union) (?:of|between) (?P<one>"
    rf"{NAME_PATTERN}) (?:and|with|to) (?P<two>{NAME_PATTERN})(?![\w-])"
)
UNION_WITH = LazyPattern(
    rf"(?:(?P<one>{NAME_PATTERN})(?:'s|(?<=s)')|\b(?P<whose>[Hh]is|[Hh]er|[Mm]y|[Yy]our)) "
    rf"(?:\w+ )?(?P<verb>marriage|wedding|engagement) (?:to|with) (?P<two>{NAME_PATTERN})(?![\w-])"
)
FIRST_PERSON_UNION = LazyPattern(
    r"\b(?P<whose>I|[Yy]ou) (?:(?:am|was|are|were|have|had|have been|had been) (?:\w+ )?"
    rf"(?=engaged|married)|(?=married [A-Z]))(?P<verb>engaged|married) (?:to )?"
    rf"(?P<two>{NAME_PATTERN})(?![\w-])"
)
PRONOUN_UNION = LazyPattern(
    r"\b(?P<whose>[Hh]e|[Ss]he) (?:(?:is|was|were|had been|has been) (?:\w+ )?"
    r"(?=\w+ (?:to be married )?to)|(?:had |has |had just |at last )?(?=(?:married|wedded) [A-Z]))"
    rf"(?P<verb>engaged|married|betrothed|wedded) (?:(?:to be married )?to )?"
    rf"(?P<two>{NAME_PATTERN})(?![\w'-])"
)
TIME_CLAUSE = re.compile(r"^\s*(?:Before|Until|Till)\b[^,]*,")
# "Mags and Hob were married", but not "were married to"
BOTH_UNITED = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<one>{NAME_PATTERN}) and (?P<two>{NAME_PATTERN}) (?:are|were|had "
    r"been|have been) (?:(?:now|already|really|soon|at last) )?(?P<verb>engaged|"
    r"betrothed|married|wedded)(?! to (?!be\b))"
)
# "Mags became the wife of Hob"
WIFE_OF = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<two>{NAME_PATTERN})(?: will| had| has)?(?: soon| now| at last)?"
    r"(?: be| become| became| been|) the (?P<verb>wife|widow|husband) of "
    rf"(?P<one>{NAME_PATTERN})(?![\w-])"
)
# "…," said her mother
TAG = LazyPattern(
    r"\x01,? (?:said|cried|replied|asked|returned|answered|exclaimed|observed|added|"
    r"continued|inquired|rejoined|remarked|whispered|repeated|resumed|interrupted|called"
    rf") (?P<whose>his|her) {KINSHIP_ADJECTIVES}(?P<kin>{_FAMILY_NOUN}|friend){_NO_NAME}"
)
# "…," said Mags to her mother
TAG_TO = LazyPattern(
    rf"\x01,? (?:said|cried|replied|answered|exclaimed|observed|added|remarked|whispered|"
    rf"murmured) (?:he|she|{NAME_PATTERN}),?(?: \w+ly,?)? to (?P<whose>his|her) "
    rf"{KINSHIP_ADJECTIVES}(?P<kin>{_FAMILY_NOUN}|friend){_NO_NAME}"
)
UNION_WORDS = frozenset(
    [
        "engaged",
        "betrothed",
        "affianced",
        "married",
        "wedded",
        "marriage",
        "wedding",
        "engagement",
        "union",
        "wife",
        "widow",
        "husband",
    ]
)
ENGAGED = frozenset({"engaged", "betrothed", "affianced", "engagement"})
UNIONS = {"wife": "wife", "husband": "husband", "widow": "widow"}
# "You are my cousin", "I am your aunt"
YOU_ARE = LazyPattern(
    rf"\b(?P<who>[Yy]ou|I) (?:are|were|am|was) (?P<whose>my|your) {KINSHIP_ADJECTIVES}"
    rf"(?P<kin>{_FAMILY_NOUN})(?=[.,;:!?)—–\x01]|$| (?:and|but)\b)"
)
FRIENDLY = LazyPattern(
    rf"(?i){_PAUSE}(?:(?:oh|ah|no|yes|well|but|and|now),? )?"
    r"(?:my (?:dear |dearest |good |old )*friend|mon ami|(?:my )?(?:dear |dearest |good )*"
    r"old (?:friend|fellow|chap|man)|my (?:dear |dearest |good )+(?:fellow|chap))(?=[,.!?;\x01”\"—])"
)
# "You are late, Mags."
ADDRESSED = re.compile(rf", {NAME_PATTERN}(?=[.!?;\x01]|$)|^{NAME_PATTERN},")
OWNED_NAME = re.compile(rf"{NAME_PATTERN}'s\b")
# "My dear Mags", with a given name; "my dear Mr. Vale" is a form of politeness
DEAR_NAME = LazyPattern(
    rf"\b[Mm]y (?:dear|dearest)(?: old| good)? (?P<two>{NAME_PATTERN})(?![\w-])"
)
