"""Words that name nothing a question could ask about."""

from collections.abc import Mapping
from types import MappingProxyType

_TEXT = (
    "able about above absolute accident account across afraid afternoon along"
    " also always amount answer any anything attempt aware away back beautiful"
    " been beginning being below best better bit brave cannot case certain chance"
    " chap clever come coming could course creature day days dead dear degree"
    " difference different does doing done doubt down dozen effect eight eighth"
    " eighty eleven else end ends even evening ever everything evil example fact"
    " favor favour fellow few fifteen fifth fifty first five following foolish"
    " former forty found four fourteen fourth friend from future given glad going"
    " gone good great habit half hates have having here herself himself hold hour"
    " hours hundred idea instance into itself just kind kinds known last latter"
    " least left length less life like likes little living look lost lot loved"
    " lovely mad made manner many matter matters middle might mind minute minutes"
    " mistake moment moments month more morning most much must myself name names"
    " nearest never next night nights nine ninety ninth nothing number occasion"
    " often old once one ones only open opposite ordinary other others own part"
    " parts past people person piece place places pleasure point poor present"
    " pretty purpose quarter question quite rate ready real reason rest rich"
    " right round said sake same saying second seen sense seven seventh seventy"
    " shall should shut side sides sight sixth sixty someone something sorry sort"
    " sorts start step still strong stupid such sure taken tenth themselves then"
    " there thing things third thirteen thirty thousand three time times today"
    " told tomorrow tone trouble true truth turn twelve twenty two ugly upon use"
    " used very view want wants way ways weak week well were while whole wicked"
    " will wise with word words world worse worst would wrong year years"
    " yesterday young yourself"
    " afterwards later ago apart together upstairs downstairs outside inside abroad"
    " girl boy man men woman women child children mother father brother sister lady"
    " ladies gentleman gentlemen husband wife son daughter mark"
)
VAGUE_WORDS = frozenset(_TEXT.split())


ACTION_VERBS: Mapping[str, str] = MappingProxyType({
    "picked up": "pick up", "took up": "pick up", "took out": "take out",
    "pulled out": "take out", "drew out": "take out", "took off": "take off",
    "pulled off": "take off", "put on": "put on", "pulled on": "put on",
    "held out": "offer", "held up": "hold up", "handed": "hand over",
    "reached down": "take down", "took down": "take down", "put down": "put down",
    "laid down": "put down", "put out": "put out", "put away": "put away",
    "threw away": "throw away", "tore up": "tear up", "poured out": "pour out",
    "opened": "open", "closed": "close", "shut": "shut", "locked": "lock",
    "unlocked": "unlock", "broke": "break", "smashed": "break", "tore": "tear",
    "lit": "light", "brought": "bring", "fetched": "fetch", "wrote": "write",
    "sent": "send", "drank": "drink", "ate": "eat", "bought": "buy", "sold": "sell",
    "paid": "pay", "stole": "steal", "hid": "hide", "found": "find", "lost": "lose",
    "counted": "count", "carried": "carry", "lifted": "lift", "raised": "raise",
    "cut": "cut", "tied": "tie", "untied": "untie", "washed": "wash", "wiped": "wipe",
    "painted": "paint", "mended": "mend", "poured": "pour", "filled": "fill",
    "emptied": "empty", "seized": "seize", "grabbed": "seize", "stabbed": "stab",
    "signed": "sign", "rang": "ring", "dropped": "drop", "threw": "throw",
    "flung": "throw", "tossed": "throw", "read": "read", "blew out": "blow out",
    "pulled": "pull", "pushed": "push", "noticed": "notice", "caught": "catch",
    "discovered": "discover", "played": "play", "sang": "sing", "burned": "burn",
    "burnt": "burn", "drew": "draw", "hung": "hang", "put": "put", "laid": "put",
    "set": "set", "placed": "put", "left": "leave", "tucked": "tuck", "wore": "wear",
    "showed": "show", "shook": "shake", "folded": "fold", "dug": "dig",
    "buttoned": "button", "unfolded": "unfold", "unrolled": "unroll", "packed": "pack",
    "kissed": "kiss", "struck": "strike", "killed": "kill", "married": "marry",
    "picked": "pick",
})  # fmt: skip
"""How a verb in the past is asked after."""
_NO_DEED_TEXT = (
    "asked answered reached entered passed crossed followed watched liked loved wanted"
    " remembered loathed called hated needed supposed seemed turned looked walked"
    " heard considered regarded admired feared obeyed wished believed expected"
    " addressed joined approached noticed"
)
NOT_ACTIONS = frozenset(_NO_DEED_TEXT.split())
"""Verbs of which nobody asks what is done with the thing."""
_WHERE_TEXT = "put set hang leave tuck throw drop hide pour pack button"
WHERE = frozenset(_WHERE_TEXT.split())
"""Verbs whose thing goes somewhere: asked with "where"."""
_TELLING_TEXT = (
    "count steal hide sell buy unlock dig paint mend sign burn write stab kill wash"
    " wipe play sing wear bring offer light unroll break"
)
DISTINCTIVE_VERBS = frozenset({"tear up", "put on", *_TELLING_TEXT.split()})
"""Verbs that are done so seldom that "what" is enough to ask."""
BOUND = frozenset({"put", "set", "leave", "hang", "tuck"})
"""Verbs that say nothing without where."""
_BODY_TEXT = (
    "them hand hands head eyes face feet arm arms foot finger fingers voice lips"
    " shoulders shoulder mouth breath glance eye seat step heart cuff hair knee knees"
    " tongue toe nose neck chest skin cheek cheeks chin ear ears"
)
BODY = frozenset(_BODY_TEXT.split())
"""What everybody moves, and nobody asks after."""
