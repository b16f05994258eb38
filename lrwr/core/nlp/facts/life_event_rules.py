"""Phrases that state life events."""

import re
from dataclasses import dataclass
from functools import cache, cached_property

from lrwr.core.model.facts import LifeEventKind

_PERSON = (
    r"(?:[A-Z][\w'.-]+|each other|one another|"
    r"(?:his|her|their|my|the|an?|this|that|your|our) (?:[\w-]+ ){0,3}?(?:man|woman|"
    r"girl|boy|child|gentleman|lady|stranger|friend|father|mother|sister|brother|son|"
    r"daughter|wife|husband|uncle|aunt|cousin|nephew|niece|captain|doctor|lover|"
    r"daughters|sons|sisters|brothers|friends|people|master|mistress|creature|fellow|"
    r"enemy|victim|rival|old man|antagonist|prisoner|guest|visitor|baby|infant|"
    r"colonel|inspector|officer|servant|companion|assailant|pursuer)|"
    r"him|her|them|me|us|you|himself|herself)(?![\w-])"
)
_NAMED = r"(?:(?:Mrs?|Dr|Sir|Lady|Lord|Miss|Captain|Colonel|[a-z]+ (?=[A-Z]))\.? ?)?[A-Z][\w-]+(?: [A-Z][\w-]+)*"
_PLACE = (
    r"(?:(?:the |his |her |their |this |that |my |our )?(?:[\w-]+ )?(?:house|home|town|"
    r"city|country|village|county|island|cottage|castle|neighbourhood|farm|hotel|inn|"
    r"school|college|prison|hospital|workhouse|abroad|lodgings|parish|ship|place)"
    r"(?! of (?:cards))|[A-Z][\w'-]+)(?![\w-])"
)


@dataclass(frozen=True)
class LifeEventRule:
    """How one kind of life event is stated.

    A sentence needs one of the words in `triggers`. `phrase` is a pattern of what
    follows the subject. An `impersonal` phrase needs no person as its subject ("The
    wedding took place"). A `spoken` rule also holds in dialogue.
    """

    kind: LifeEventKind
    triggers: str
    phrase: str
    impersonal: bool = False
    spoken: bool = False

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of which a sentence needs one, in lower case."""
        return frozenset(self.triggers.split())

    @cached_property
    def predicate(self) -> re.Pattern[str]:
        """The compiled phrase, as whole words."""
        return re.compile(rf"(?<![\w'-])(?:{self.phrase})(?![\w-])")


_K = LifeEventKind
LIFE_EVENT_RULES = (
    # Death
    LifeEventRule(
        _K.DIED,
        "died expired perished drowned hanged murdered killed dead lifeless suicide motionless more lost",
        r"died(?! (?:to |the death|of laughing|away|down|out|upon|on h\w+ lips))|expired|perished|"
        r"breathed h\w+ last|ceased to (?:breathe|live)|"
        r"(?:is|are|was|were|been|lay|lying|fell|fell back|dropped|found) (?:\w+ly |quite |already |stone |stone-)?"
        r"(?:dead|lifeless|murdered|killed|drowned|hanged|strangled|poisoned|shot dead|"
        r"stabbed to death|beheaded|executed|no more(?=[.,;!:]|$))(?! (?:again|tired|silence|of night|asleep|to|against|"
        r"certain|sure|drunk|set|calm|weight|letter|weary|level|with (?:fatigue|fear)))|"
        r"(?:drowned|hanged|poisoned|shot|stabbed|killed|destroyed) (?:himself|herself|themselves)|"
        rf"(?:murdered|killed|strangled|drowned|poisoned|slew|slain) {_PERSON}|"
        rf"fell back motionless|found {_PERSON} (?:lying |quite )*(?:dead|murdered)|"
        r"committed (?:suicide|the murder)|put an end to (?:himself|herself|h\w+ life)|"
        r"took h(?:is|er) own life|(?:(?:had|has|have) )?lost (?:his|her|their|both (?:his|her)) (?:only |eldest |youngest |elder |dear |first |own |little )*(?:father|mother|parents|wife|husband|brother|sister|son|daughter|child|baby)(?=[.,;!]| (?:when|in (?:the|a)|at|early|by|to|some|a few|last|soon|before|after)\b)",
        spoken=True,
    ),
    LifeEventRule(
        _K.DIED,
        "death funeral burial buried inquest",
        r"(?:the |his |her )?(?:funeral|burial|inquest) (?:of [\w. ]+ )?(?:took place|was held|was over)|"
        r"(?:was|were) buried(?! (?:in (?:thought|h\w+ (?:hands|face|own|book|work)|sleep|books)|deep|under|beneath))",
        impersonal=True,
    ),
    LifeEventRule(
        _K.DIED,
        "death",
        rf"(?:was|were|followed by|came|(?:news|tidings|intelligence|account|announcement) of) the (?:\w+ )?death of {_NAMED}|"
        rf"the (?:\w+ )?death of {_NAMED},? (?:which )?(?:happened|took place|occurred|followed|was announced|made|left|put)|"
        rf"(?:news|tidings|intelligence|account) of {_NAMED}'s? death|"
        rf"{_NAMED}'s? (?:\w+ )?death (?:happened|took place|occurred|followed|was announced)|"
        rf"(?:[Oo]n|[Uu]pon|[Aa]fter|[Ss]ince|[Bb]y|[Bb]efore) the (?:\w+ )?death of {_NAMED}(?=[.,;]| [a-z])|brought on (?:\w+ and |[\w ]{{0,20}})?death\b",
        impersonal=True,
    ),
    LifeEventRule(
        _K.DIED,
        "dead",
        r"(?:lying|lay) (?:[\w ]+ )?(?:was |were )?(?:a|the) dead (?:man|woman|body|boy|girl)\b|"
        r"(?:the|a) (?:dead body|corpse|lifeless body) of (?:a|the|h\w+|[A-Z]\w+)",
        impersonal=True,
    ),
    LifeEventRule(
        _K.BORN,
        "born birth delivered bore",
        r"bore (?:a|twin) (?:son|daughter|child|sons|daughters)|(?:was|were) born(?! (?:to [a-z]\w*|with|under an?|an?|one|for|free|lucky|too)\b)|gave birth to|"
        r"(?:was|been) (?:safely )?delivered of|bore (?:him|her) (?:a|one|two|three) (?:\w+ )?(?:son|daughter|child|children)",
        spoken=True,
    ),
    # Marriage and engagement
    LifeEventRule(
        _K.MARRIED,
        "married wedded became become wife husband united altar",
        rf"(?:became|become) (?:the )?(?:wife|husband|bride) of {_PERSON}|became (?:his|[A-Z]\w+(?: [A-Z]\w+)*'s?) wife|"
        rf"(?:was|were) (?:\w+ly )?united (?:in marriage )?to {_NAMED}|led {_PERSON} to the altar|made (?:man and wife|h\w+ (?:his )?wife(?=[.,;]))|"
        rf"(?:was|were|is|are|got|been) (?:\w+ly |lately |just |already )?married(?! (?:man|woman|men|women|life|state|people|couple|lad))|"
        rf"(?:had|has|have) (?:\w+ly |just |already )?married(?: {_PERSON}(?! to\b)|(?=[,.;!]))|married {_PERSON}(?! to\b)|wedded {_PERSON}|"
        rf"'s married {_PERSON}",
        spoken=True,
    ),
    LifeEventRule(
        _K.MARRIED,
        "wedding marriage ceremony nuptials hands married",
        r"[Tt]here (?:was|were) married(?= [A-Z]| in\b| at\b|,)|"
        r"(?:the |their |h\w+ )?(?:wedding|marriage|ceremony|nuptials) (?:of [\w. ]+ )?(?:(?:took|had taken) place|was (?:celebrated|performed|solemni[sz]ed))|"
        r"join(?:ed)? the hands of [A-Z]\w+|[Ii]t was an? (?:\w+,? )*(?:wedding|marriage)(?=[.,;:])",
        impersonal=True,
    ),
    LifeEventRule(
        _K.ELOPED,
        "eloped gone ran run away off",
        rf"(?:has |have |had )?eloped(?: with {_PERSON})?|"
        rf"(?:is|was|were|has|had|have|are) (?:gone|run|ran) (?:off|away)(?: to [A-Z]\w+)? with (?:one of (?:his|her|their) \w+|{_PERSON})|"
        rf"ran (?:off|away) with (?:another (?:man|woman)|a (?:man|woman|girl|\w+ (?:man|woman|officer))|[A-Z]\w+|him\b|her(?! \w))|went off with another (?:man|woman)|"
        r"(?:had |has )?(?:ran|run) away from (?:home|school|h\w+ (?:husband|wife|father|mother|master|home|family|parents))",
        spoken=True,
    ),
    LifeEventRule(
        _K.ELOPED,
        "elopement flight",
        rf"{_NAMED}'s? elopement(?: with {_NAMED})?|elopement of {_NAMED}|(?:flight|elopement) with {_NAMED}",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.LOVED,
        "love",
        rf"(?:fell|fallen) (?:\w+ly )?in love with (?!it\b){_PERSON}",
        spoken=True,
    ),
    LifeEventRule(
        _K.ELOPED,
        "established scotland gretna husband wife",
        rf"established under h\w+ protection|gone to (?:Scotland|Gretna Green) with {_PERSON}|"
        r"(?<!dying, )(?<!died, )(?<!died and )(?:quitted|left) (?:her|his) (?:husband|wife)(?:'s (?:house|roof))?(?: with\b|(?=[.;:])|(?=,(?! and)))",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.PARTED,
        "broke broken engagement released deserted jilted separated parted ended persuaded gave",
        rf"(?:broke|broken) (?:off|with) (?:the|h\w+|their|{_PERSON})(?: engagement| match)?|"
        r"(?:ended|broke|dissolved|gave up) (?:the|their|h\w+) (?:engagement|match|betrothal)|"
        rf"(?:jilted|deserted|cast off) {_PERSON}|parted from {_PERSON} for ever|"
        r"(?:was|were) persuaded to (?:believe the (?:engagement|match)|give (?:him|her) up|break)|"
        r"put an end to (?:the|their|h\w+) (?:engagement|match)|released (?:him|her) from (?:the|h\w+) engagement|gave (?:him|her) up for ever",
        spoken=True,
    ),
    LifeEventRule(
        _K.PARTED,
        "engagement match betrothal between",
        r"(?:[Tt]he|[Tt]heir|[Hh]\w+) (?:engagement|betrothal|match) (?:was|is) (?:\w+ly )?(?:over|broken off|at an end|broken|dissolved)|"
        r"(?:[Ee]very ?thing|[Aa]ll) (?:is|was) (?:\w+ )?(?:at an end|over) between \w+",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.ENGAGED,
        "settled engaged understood",
        r"(?:every ?thing|all|it) was (?:\w+ly )?settled between (?:them|the \w+|[A-Z]\w+)(?![^.;]{0,30} that)|"
        rf"to (?:tell|inform|let) {_PERSON} (?:know )?that (?:he|she|[A-Z]\w+) was engaged to",
        impersonal=True,
    ),
    LifeEventRule(
        _K.ENGAGED,
        "marry engaged betrothed accepted affianced engagement consent hand wife",
        rf"(?:is|are|was|were|am|became|become|been) (?:\w+ly |now |already |actually )?(?:engaged|betrothed|affianced)(?: to (?:{_PERSON}|be married|marry)|(?<!am engaged)(?=[.!]))|"
        rf"(?:had |has )?accepted (?:(?:him|her|[A-Z]\w+)(?=[,.;!])|h\w+ (?:hand|proposals?|offer of marriage))|"
        rf"(?:is|am|are|was|were) (?:to be married|to marry {_PERSON})|"
        rf"(?:had |has )?(?:promised|agreed|consented) to (?:marry|be h\w+ wife|become h\w+ wife)|"
        r"(?:had |has )?given h\w+ consent to (?:the|their) (?:match|marriage)",
        spoken=True,
    ),
    LifeEventRule(
        _K.ENGAGED,
        "engagement match betrothal",
        r"(?:[Tt]he|[Tt]heir|[Hh]\w+) (?:engagement|betrothal) (?:was|is) (?:\w+ly )?(?:announced|known|settled|made public)",
        impersonal=True,
    ),
    LifeEventRule(
        _K.PROPOSED,
        "proposed marry wife hand proposals proposal love offered offering",
        rf"proposed (?:to {_PERSON}(?: [A-Z]\w+)?(?=[.,;!]| (?:again|in|at|on|last|yesterday)\b|$)|marriage)|"
        r"(?:making|made) (?:violent |actual )?love to (?:her|him|[A-Z]\w+)|(?:made|renewed|repeated) (?:\w+ )?(?:an offer of (?:marriage|h\w+ hand)|(?:a )?proposals? of marriage)|"
        rf"(?:asked|begged|implored|entreated|besought|urged|wanted) {_PERSON} to (?:marry|be h\w+ wife|become h\w+ wife)|"
        rf"asked (?:for )?(?:h\w+|[A-Z][\w.]+'s) hand(?! (?:in|and))|offered {_PERSON} (?:his|her) hand (?:in marriage|and (?:heart|fortune))|offered himself to {_PERSON}|"
        r"offering (?:himself|(?:her )?h\w+ (?:hand|heart))(?=,| and| to)|(?:made|making) (?:her|him|[A-Z]\w+) (?:an offer|a proposal|proposals)(?=[.,;!]| of marriage)|(?:(?:had|has) )?offered (?:her )?(?:marriage|h\w+ hand (?:to|in))",
    ),
    LifeEventRule(
        _K.REFUSED,
        "refused rejected declined",
        rf"(?:refused|rejected|declined)(?: {_PERSON}(?=[,.;!])| to marry| to be h\w+ wife| h\w+ (?:hand|proposals?|offer|suit|addresses))",
        spoken=True,
    ),
    # Meetings
    LifeEventRule(
        _K.MET,
        "receiving met introduced encountered presented acquaintance face waited visit time arms embraced cannoned ran",
        rf"(?:met|encountered) (?:[A-Z][\w.-]+|an? (?:\w+ )?(?:man|woman|stranger|gentleman|lady|girl|boy)\b)(?! (?:on h\w+ entrance|before \w+|at the [\w-]*(?:door|gate)|with|in the (?:passage|landing|hall|lobby|corridor|doorway)|(?:on|at) the (?:stairs|landing|door|gate)|half)\b)(?! (?:eyes?|eye|gaze|glance|look|own|face|lips|hand|advances|wishes|half|objections?|views?)\b)|"
        rf"(?:was|were|been) (?:\w+ly |then )?(?:introduced|presented) to {_PERSON}|"
        rf"introduced (?:{_PERSON} (?:\w+ )?to {_PERSON}|himself|herself)|"
        rf"presented (?!them|her ){_PERSON} to {_PERSON}|"
        rf"came (?:suddenly )?face to face with {_PERSON}|(?:ran|run|cannoned|bumped) (?:into|against|across) (?:[A-Z]\w+|an? (?:\w+ )?(?:man|woman|girl|boy|friend|stranger))|"
        r"found (?:himself|herself|themselves) (?:face to face with|in the presence of)|"
        rf"made (?:the|his|her) acquaintance of {_PERSON}|made [A-Z][\w.]+'s acquaintance|waited (?:up)?on {_PERSON}|paid {_PERSON} (?:a|his|her|their) (?:\w+ )?visit|"
        r"saw (?:[A-Z]\w+|him|her)(?: [A-Z]\w+)? for the first time|"
        rf"(?:sprang|fell|rushed|flew) into (?:[A-Z]\w+'s|each other's) arms|"
        rf"(?:was|were) together (?:once more|again)|"
        rf"had (?:the )?pleasure of receiving {_PERSON}",
    ),
    LifeEventRule(
        _K.MET,
        "sight eyes introduction meeting time",
        r"(?:my|his|her) first (?:sight|glimpse|meeting) (?:of|with) [A-Z]\w+|"
        r"introduction took place|"
        r"saw (?:[A-Z]\w+ )+for the first time",
        impersonal=True,
        spoken=True,
    ),
    # Coming and going
    LifeEventRule(
        _K.ARRIVED,
        "arrived returned came come descended landed alighted punctual received welcomed ushered descended got home back",
        r"(?:arrived(?: (?:at|in|from) (?:the (?:house|village|town|city|inn|castle|island|farm|cottage|station|workhouse)|home|(?!God|Mr|Mrs|Miss|Dr|Sir|Lady|Lord|Captain|Colonel)[A-Z][\w'-]+)|(?=[.;!]| (?:at last|the next|that|on (?:\w+day|the)|late|early)))|"
        r"(?:returned|came|come) (?:back )?home(?=[.,;!]| (?:again|safely|alone|for good|for the|from|in (?:the )?[A-Z]|on|early|late|that|the next))|"
        r"(?:returned|came|come|gone) (?:back )?(?:home (?:after|at last)|to (?:London|town|the (?:house|village|city|town|island|castle|farm)))|"
        r"(?:returned|came|come|came back|come back) (?:from|to) (?!God|Heaven|Mr|Mrs|Miss|Dr|Sir|Lady|Lord|Captain|Colonel)[A-Z][\w-]+(?!['\w]|[\w']* (?:and|said|with|for|at))|"
        r"reached (?:London|the (?:village|town|city|island|castle)|(?!God|Mr|Mrs|Miss|Dr|Sir|Lady|Lord|Captain|Colonel)[A-Z][\w'-]+)|"
        rf"(?:alighted|descended|got (?:down|out)) (?:from|of) the (?:train|coach|carriage|boat|ship) (?:at|in)|landed (?:at|in|on) [A-Z]\w+|"
        rf"came to (?:stay|live|visit) (?:with|at|in|{_PERSON})|(?:was|were) (?:\w+ )?punctual to (?:his|her|their) time|"
        r"(?:is|are) (?:come|come back|arrived|returned)(?=[.,;!]))",
    ),
    LifeEventRule(
        _K.LEFT,
        "went departure left departed fled escaped sailed quitted farewell away abandoned deserted set started bade leave drove",
        rf"left (?:(?!Mr|Mrs|Miss|Dr|Sir|Lady|(?:his|her|their) (?:at|in|on|for|with|alone)\b){_PLACE}(?<!the house)(?<!his house)(?<!her house)(?<!my house)(?<!the place)(?! (?:hand|arm|side|open|alone|to|no|him|her|behind|in|with|but)\b)|England|{_PERSON} for (?:ever|good))|"
        rf"left for {_PLACE}|(?:set out|set off|departed|sailed|embarked|started)(?: \w+)? (?:for (?:the |his |her )?[A-Z]\w+|on (?:h\w+|their) (?:journey|voyage)|to (?=[A-Z]\w+))|"
        r"fled(?: (?:from|to|away|into)|(?=[.,;]))|(?:ran|had run|has run|rode|drove|driven) away(?=[.;!]| (?:from|with|together))|"
        rf"gone off(?: to| with)|(?:took|taken) (?:\w+ )?leave of [A-Z]\w+|went (?:abroad|to sea)|(?:set out|set off|departed)(?= (?:early|the next|on \w+day|at (?:daybreak|dawn)|that (?:day|night|morning)))|took (?:his|her|their) departure(?=[.,;]| for)|"
        rf"(?:bade|bid) [A-Z]\w+ (?:farewell|good-bye|goodbye|adieu)|quitted (?:(?!the room|the house|the cottage|the inn){_PLACE})|"
        rf"made (?:his|her|their) escape|escaped from {_PLACE}|deserted {_PERSON}|"
        r"(?:is|are|'s) off(?= (?:to|for) [A-Z]\w+)|were to set out",
        spoken=True,
    ),
    LifeEventRule(
        _K.MOVED,
        "moved removed settled live abode residence carried conveyed taken sent brought took bought house led let",
        rf"(?:moved|removed) (?:in)?to {_PLACE}|(?<!quietly )(?<!comfortably )(?<!snugly )settled (?:down )?(?:in|at|near) {_PLACE}|"
        r"(?:went|gone|came|come) to live|took up (?:h\w+|their) (?:abode|residence|quarters)|"
        rf"(?:took|bought|rented) (?:a )?(?:house|cottage|lodgings|rooms)|"
        rf"(?:was|were|been) (?:\w+ly |then |at once )?(?:(?:sent|conveyed|taken|removed|led|brought) away(?: by| from| to)|(?:sent|carried|conveyed|taken|removed|led|brought) (?:to (?:the |a )?(?:\w+ )?(?:school|college|sea|prison|jail|gaol|hospital|asylum|workhouse|convent|orphanage)(?![\w-])|abroad|to live))|"
        rf"(?:took|carried|brought|conveyed|sent) {_PERSON} (?:to live|(?:back |away )?to (?:the |a )?(?:\w+ )?(?:school|college|sea|prison|jail|gaol|hospital|asylum|workhouse|convent|orphanage))(?![\w-])|"
        r"(?:was|were) (?:apprenticed|bound) to",
    ),
    LifeEventRule(
        _K.MOVED,
        "taken let arranged settled agreed decided determined",
        r"[A-Z]\w+(?: [A-Z]\w+)? is (?:let|taken)(?: at last| by)|"
        r"it was (?:\w+ )?(?:arranged|settled|decided|determined|agreed) that (?:[A-Z]\w+|he|she|they)(?: [A-Z]\w+)? should (?:go|live|stay|remain|leave|accompany|set|return)",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.ADOPTED,
        "adopted",
        r"(?:was )?adopted (?:him|her|[A-Z]\w+|by)(?! (?:the|this) (?:plan|opinion|tone))",
    ),
    # Harm
    LifeEventRule(
        _K.WOUNDED,
        "bed caught seized laid measles small-pox smallpox wounded shot stabbed injured ill fever fainted swooned bitten crippled bleeding hurt unconscious hit senseless fired swoon knife convulsions unwell cold broke run struck",
        rf"(?:was|were|been|is) (?:\w+ly |mortally )?(?:wounded|shot|stabbed|injured(?= (?:in|by|at)\b|[.;])|badly hurt|hit by|bitten|crippled|run over)|"
        rf"(?:wounded|shot|stabbed) (?!each|one|them){_PERSON}|(?:fired at|shot at|struck down|struck at|dug the \w+ into) ?{_PERSON}?|"
        r"(?:fell|fallen|was taken|were taken|became|had been taken|lay|is|was) (?:\w+ly |very |seriously )?(?:ill|sick)(?! \w+ed\b)(?! (?:at ease|will|of(?! an? )|used|humou?r|judged|satisfied|with (?:fear|envy)))|"
        r"(?:was|is|were) (?:in|seized with|attacked by|down with|in the first stage of) (?:\w+ )?(?:\w+ )?(?:a )?(?:high |violent |raging |dangerous |burning )+(?:and \w+ )?fever|"
        rf"(?:is|was) (?:\w+ly |very )?(?:ill|unwell) (?:at [A-Z]\w+|in bed)|find (?:myself|herself|himself) (?:very |quite )?(?:unwell|ill)|"
        r"lost (?:his|her) (?:senses|consciousness)|stabbed (?:at|again)|"
        r"broke (?:his|her) (?:leg|arm|neck|ankle|collar-bone)|took to (?:his|her) bed(?=[.,;]| (?:and|with))|"
        r"caught (?:a|the) (?:\w+ )*(?:fever|cold(?= that| which)|small-?pox|measles)|(?:was|were|been) (?:\w+ )?(?:(?:seized with|struck down by) (?:an? )?(?:\w+ )*(?:fever|illness|paralysis|apoplexy|cholera|plague)|laid up with)",
        spoken=True,
    ),
    LifeEventRule(
        _K.WOUNDED,
        "convulsions shot fever illness stroke apoplexy attack",
        r"(?:had )?brought on (?:a |an )?(?:\w+ )*(?:fever|illness|stroke|apoplexy|attack)|agitated by (?:\w+ )*convulsions|(?:was|were) in (?:\w+ )?convulsions",
        impersonal=True,
    ),
    LifeEventRule(
        _K.ACCIDENT,
        "fell fallen tumbled accident thrown slipped upset overturned capsized wrecked crashed",
        r"(?:fell|fallen|tumbled|plunged|slipped) (?:\w+ )?(?:over|down|off|from|into|through|on|overboard)(?: (?:the|a|his|her|their|some))? (?:\w+ )?(?:parapet|cliff|stairs|steps|ladder|horse|roof|window|tree|river|water|well|sea|quarry|pit|pavement|ice|precipice|bridge|wall)\b|"
        r"(?:was|were|been) (?:thrown from (?:his|her|the) \w+|run over|knocked down by)|fell overboard|"
        r"(?:met with|had) (?:a|an) (?:\w+ )?accident",
        spoken=True,
    ),
    LifeEventRule(
        _K.ACCIDENT,
        "accident carriage ship boat fall",
        r"(?:after|had|of|from) a (?:bad|severe|dreadful|terrible|serious|violent) (?:fall|accident)|"
        r"(?:carriage|coach|gig|boat|car) (?:was |had been )?(?:overturned|upset|capsized|crashed|ran into)|ship (?:was wrecked|went down|sank)",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.TAKEN,
        "kidnapped dragged forced seized captured borne carried prisoner",
        rf"(?:was|were|been) (?:\w+ly |at once )?(?:kidnapped|abducted|dragged|carried off|borne off)(?: (?:away|off|into|along|by|through))?(?![ \w]*by (?:his|her) (?:feelings|thoughts))|"
        rf"(?:kidnapped|abducted|dragged) {_PERSON} (?:away|off|into|along|home|down|through)|kidnapped {_PERSON}",
        spoken=True,
    ),
    LifeEventRule(
        _K.ROBBED,
        "stole stolen robbed pocket burgled broken forced plunge plunged thieves",
        rf"(?:stole|stolen) (?:the|a|an|his|their|my)(?! (?:\w+ )?(?:glance|look|march|away|softly|arm|hand|kiss))|(?:robbed|burgled) (?:{_PERSON}|the)(?! of (?:all|every|h\w+|the|one|any)\b)|"
        r"(?:picked|picking|pick) (?:h\w+|the|[A-Z]\w+'s|a) (?:\w+ )*pocket|"
        r"(?:plunge|plunged|thrust) h\w+ hand into (?:the )?(?:[\w. ]+'s) pocket",
        spoken=True,
    ),
    LifeEventRule(
        _K.ROBBED,
        "forced broken stolen robbed plunge",
        r"lock (?:has|had) been forced|[Tt]he [\w ]{2,20}'s (?:been )?(?:robbed|stolen)(?=[.,;!])|(?:was|has been|had been|were) (?:stolen|robbed|burgled)(?! (?:of (?:all|every|h\w+|the|one|any)|from h\w+ sleep)\b)|"
        r"to see (?:the )?[\w ]+ plunge h\w+ hand into (?:the )?(?:[\w. ]+'s) pocket",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.FOUGHT,
        "fired pointing quarrelling quarreling",
        r"(?:was|were) (?:\w+ly )?quarrell?ing(?! about (?:nothing|trifles))|(?:he|she|[A-Z]\w+) fired (?:at|upon) (?:him|her|them|[A-Z]\w+)|"
        r"pointing (?:straight )?at (?:his|her|my) (?:head|heart|breast)",
        impersonal=True,
    ),
    LifeEventRule(
        _K.FOUGHT,
        "fought struck hit attacked assaulted kicked slapped flogged thrashed knocked throat quarrelled quarreled quarrel row sprang duel struggled grappled blows felled threw flung rushed beat challenged wrestled collar neck",
        rf"fought(?: (?:a duel|with|against) ?{_PERSON}?| {_PERSON}|(?=[.,;]))|"
        rf"(?:struck|beat|attacked|assaulted|felled|slapped|flogged|thrashed) (?!each|one){_PERSON}(?!'s)(?! (?:as|in|about|on|that|hand|hands|eye|eyes|fist|stick|foot|heart|breast|forehead|knee|head|own|with (?:wonder|surprise|admiration|awe|astonishment|horror|terror))\b)|"
        rf"knocked {_PERSON} (?:\w+ )?(?:down|over|senseless)|knocked down {_PERSON}|"
        rf"(?:seized|caught|gripped|grasped|took) {_PERSON} by the (?:throat|collar|neck|hair)|"
        rf"(?:quarrell?ed|wrestled|grappled|struggled|come to blows|came to blows) with (?!h\w+ own){_PERSON}|"
        rf"(?:sprang|rushed|flew|threw himself|flung himself|fell|leapt|leaped) (?:at|upon|on) {_PERSON}(?! (?:feet|knees|neck|own|hand|face|arm|arms|breast|bed|knee)\b)(?!'s)|"
        rf"challenged (?:him|[A-Z]\w+)|(?:had|has|have|'s had) (?:a|an|their) (?:\w+ )?(?:quarrel|row|scene)(?: with {_PERSON}|(?=[.,;]))",
        spoken=True,
    ),
    LifeEventRule(
        _K.ARRESTED,
        "arrested arrest condemned sentenced convicted acquitted discharged committed trial guilty prison imprisoned transported custody tried captured prisoner dock charged free gaol jail",
        rf"(?:was|were|been|is) (?:\w+ly |then )?(?:arrested(?! by)|condemned(?: to (?:death|die|be))|sentenced|convicted|(?<!is )acquitted|discharged(?= from (?:custody|prison))|fully committed|committed (?:for trial|to prison|to gaol)|imprisoned|tried for|found guilty|transported for|taken into custody|captured|taken prisoner)|"
        rf"(?:have |has |had |'ve )?arrested {_PERSON}(?! would)|appeared in the dock|(?:was|were|stood) (?:\w+ly )?charged with (?:the )?(?:\w+ )*(?:murder|theft|robbery|crime|forgery)|"
        r"stood (?:upon )?(?:h\w+ )?trial|(?:was|were|is|are) (?:\w+ )?in (?:custody|prison|gaol|jail)|were fully committed",
        spoken=True,
    ),
    LifeEventRule(
        _K.ARRESTED,
        "verdict murder",
        r"(?:a |the )?verdict (?:of [\w ]+ )?was (?:returned|given|brought in)|a verdict of [\w ]+|"
        r"[Ww]ilful [Mm]urder against",
        impersonal=True,
        spoken=True,
    ),
    # Knowledge, letters, fortune
    LifeEventRule(
        _K.INHERITED,
        "inherited succeeded bequeathed heir heiress fortune estate legacy will",
        r"inherited(?! (?:also |much |all )*(?:of )?(?:h\w+ |the |a )?(?:\w+ )?(?:\w+'s )?(?:trait|constitution|temper|features|beauty|looks|eyes|nose|character|talent|spirit))|succeeded to (?:the|h\w+) (?:title|estate|property|fortune|family)|(?:was|been|were) (?:bequeathed|left) (?:an?|the|all|h\w+) (?:\w+ )?(?:fortune|estate|legacy|property|money)|"
        r"came into (?:the|h\w+|a) (?:\w+ )?(?:property|fortune|money|title|estate|inheritance)|made (?:a new|h\w+|a fresh) will|became (?:the )?(?:\w+ )?heir(?:ess)?",
        spoken=True,
    ),
    LifeEventRule(
        _K.SIGNED,
        "signed sign sold will deed purchased bought",
        r"sign(?:ed)? (?:our|his|her|my|their) names? (?:at|to|in|on)|signed (?:a|an|the|h\w+) (?:\w+ )?(?:paper|will|deed|contract|lease|confession|document|agreement)|"
        r"sold (?:the|h\w+) (?:\w+ )?(?:house|estate|farm|land|property|business|shop|ship|horse|mill)\b",
        spoken=True,
    ),
    LifeEventRule(
        _K.LETTER,
        "letter letters wrote note telegram written message",
        rf"wrote (?:a |an |the )?(?:\w+ )?(?:letter|note) to {_PERSON}|wrote to {_PERSON}(?! that he| that she)|"
        r"(?:received|got|had|opened|found|sent|posted|despatched|dispatched|delivered|burned|burnt|tore up|broke the seal of) (?:\w+ )?(?:an?|the|this|that|another|two) (?:\w+ )?(?:letters?|telegram)(?! ?-?(?:paper|book|case))|"
        rf"(?:gave|handed|brought) {_PERSON} (?:a|the|his|her) (?:\w+ )?(?:letter|note|telegram)|"
        r"holding out a (?:letter|note)|(?:was|were) (?:handed|brought|given) a (?:letter|note|telegram)|saw a (?:letter|telegram|note) lying",
    ),
    LifeEventRule(
        _K.LETTER,
        "letter telegram note express",
        rf"(?:an?|the|this|another|h\w+) (?:\w+ )?(?:letter|telegram|note|express) (?:(?:from|for) {_PERSON} )?(?:(?:was|had been) (?:\w+ )?(?:brought|delivered|handed|put|received)|arrived|came)(?! (?:to mind|into))",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.LEARNED,
        "discovered learned learnt overheard revealed informed found heard told disclosed secret truth betrayed knew realised realized understood",
        r"(?:discovered|learned|learnt|found out|overheard)(?: that (?:he|she|[A-Z]\w+|h\w+ \w+) (?:was|were|had|is) |(?: the (?:whole )?(?:truth|secret|murder\w*))| who (?:he|she|[A-Z]\w+) (?:was|is)\b)|"
        rf"(?:informed|told) {_PERSON} (?:of (?:h\w+|the) (?:\w+ )?(?:death|marriage|engagement|elopement|murder|arrest|illness|secret)|everything|the (?:whole truth|secret)(?=[.,;])|h\w+ secret)|"
        rf"(?:was|were) (?:\w+ly )?(?:informed|told|apprised) of (?:h\w+|the|[A-Z]\w+'s) (?:\w+ )?(?:death|marriage|engagement|arrival|elopement|murder|arrest|illness)|"
        rf"(?:revealed|disclosed|betrayed|related|recounted) (?:the (?:secret|truth|whole)|h\w+ (?:secret|story|history)|to {_PERSON})|"
        r"heard (?:that [A-Z]\w+ (?:was|had)|of (?:h\w+|the|[A-Z]\w+(?:'s)?)) (?:\w+ )?(?:dead|died|death|marriage|married|engagement|engaged|elopement|murder|murdered|arrest|arrested)",
    ),
    LifeEventRule(
        _K.LEARNED,
        "murderer shot recognized recognised",
        r"(?:you|me) to the murderer|the murderer,? (?:is |was )?(?:Mr|Mrs|Miss|Dr)\.? [A-Z]\w+|"
        r"[Tt]he (?:dead )?man (?:who|whom) (?:had been|was|they) (?:\w+ )+was [A-Z]\w+ [A-Z]\w+|"
        r"recogni[sz]ed who it was",
        impersonal=True,
        spoken=True,
    ),
    LifeEventRule(
        _K.CONFESSED,
        "confessed confession avowed acknowledged owned guilt love forgave forgiveness",
        r"confessed(?: (?:to (?:the|h\w+|having)|everything|all|(?:his|her) (?:love|guilt|crime|sin|fault|secret|passion)|the (?:whole|truth|crime|murder)|that (?:he|she) (?:loved|was (?:guilty|in love|engaged|married)|had (?:never )?(?:loved|killed|murdered|stolen|taken|married|lied|betrayed|deceived|written|done))))|made (?:a|h\w+) (?:\w+ )?confession|"
        r"(?:avowed|declared|acknowledged|told) (?:h\w+ )?(?:(?:that )?(?:he|she) loved|(?:his|her) (?:love|guilt|passion|attachment))|"
        r"pleaded guilty",
        spoken=True,
    ),
)
SPEECH_ACT_RULES = (
    LifeEventRule(
        _K.LOVED,
        "love loved",
        r"how (?:ardently|dearly|deeply|much) I (?:\w+ and )?love you|"
        r"(?<!if )(?<!as )(?<!do )(?<!Do )I (?:(?:have|do|still|really|truly|dearly|deeply|so|always|only) )*loved? you(?=[.;,!]| with| and| more than (?:I|words))",
    ),
    LifeEventRule(
        _K.PROPOSED,
        "marry wife love hand heart",
        r"(?<!to )[Mm]arry me(?=[,!])|(?:[Ww]ill|[Ww]ould|[Ww]on't|[Cc]ould) you (?:not )?(?:marry me|be my wife|become my wife|have me)|"
        r"(?:ask|asked|beg) you to (?:marry me|be my wife)|"
        r"(?:offer|offering) you my (?:hand|heart)|I want (?:to marry you|you to marry me)",
    ),
    LifeEventRule(
        _K.REFUSED,
        "marry wife decline refuse forget proposals offer promise see",
        r"I (?:cannot|can't|can never|will not|won't|could not|could never|shall never|will never) (?:marry (?:you|him)|be your wife|become your wife|accept (?:you|your))|"
        r"I (?:must )?(?:refuse|decline|reject) (?:you(?! as)|your|to marry)|(?:than|but) decline them|(?:must|should) (?:\w+ to )?forget me|I will make no (?:such )?promise|I can(?:no|')t see you again",
    ),
    LifeEventRule(
        _K.ENGAGED,
        "engaged engagement marry married betrothed consent",
        r"(?:I am|I'm|[Ww]e are|[Ww]e're|[Hh]e is|[Ss]he is) (?:(?!not|never)\w+ )?(?:engaged to (?:be married|marry|[A-Z]\w+|him|her)|engaged(?=[.!])|betrothed|going to be married|to be married)|"
        r"(?:I have|I've) (?:(?!not|never)\w+ )?(?:promised to marry|given (?:him|her|them) my consent)",
    ),
    LifeEventRule(
        _K.MET,
        "introduce friend acquaintance meet present here remember isn",
        r"(?:[Aa]llow me to|[Ll]et me|[Mm]ay I|[Pp]ermit me to) (?:introduce|present)(?= [A-Zmy])|[Tt]his is (?:my (?:\w+ )?(?:friend|brother|sister|son|daughter|wife|husband|cousin|nephew|niece|uncle|aunt|father|mother),? [A-Z]\w+|(?:Mr|Mrs|Miss|Dr|Lord|Lady|Sir|Captain|Colonel)\b)|(?:^|[;:.,] |[“\"])my (?:old )?friend [A-Z]\w+ [A-Z]\w+|"
        r"(?:glad|pleased|delighted|honou?red) to make your acquaintance|You here, [A-Z]\w+|(?:do not|don't) (?:you )?remember me, [A-Z]\w+|if it (?:isn't|is not) (?:Mr|Mrs|Miss|Dr|[A-Z]\w+[,!])|introduce (?:his|her|my) (?:\w+ )?(?:friend|brother|sister|cousin), (?:Mr|Mrs|Miss|[A-Z]\w+)",
    ),
    LifeEventRule(
        _K.LEFT,
        "away leaving",
        r"(?:I am|I'm|[Ww]e are|[Ww]e're) (?:\w+ )?(?:running away|leaving (?:home|town|England|you|to-night|to-morrow|tomorrow|tonight))",
    ),
    LifeEventRule(
        _K.CONFESSED,
        "confess killed murdered guilty poisoned girl man woman forced stole took",
        r"I (?:forced|broke open|picked) the (?:safe|lock|door|desk|box|chest)\b|I (?:stole|took) the money(?=[.,;!])|I stole it(?=[.,;!])|"
        r"I confess(?= (?:it|everything)[.,!;]|!)|I (?:have )?(?:killed|murdered|poisoned|robbed|betrayed) (?:him|her|[A-Z]\w+)|[Ii]t was I (?:who|that)|I am (?:guilty(?=[.!])|the (?:thief|murderer|man who|girl that|woman who))|I have (?:a confession|something to confess)",
    ),
    LifeEventRule(
        _K.LEARNED,
        "son daughter brother sister father mother half-brother aunt uncle niece nephew child",
        r"(?:[Yy]ou are|[Hh]e is|[Ss]he is|is) (?:his|her|my|your|the|[A-Z]\w+'s) (?:own |real |natural |illegitimate |lost )*(?:son|daughter|brother|half-brother|sister|child|aunt|uncle|niece|nephew) of [A-Z]\w+|"
        r"[Yy]ou are my (?:own |real |natural |illegitimate |lost )*(?:son|daughter|brother|sister|father|mother)(?=[.!]|,[”\"\x01])|I am your (?:own |real )?(?:father|mother|son|daughter|brother|sister)(?=[,.;!])|(?:He|She) is your (?:own |real |natural |lost )*(?:son|daughter|half-brother|brother|half-sister|sister|father|mother)(?=[.!])",
    ),
    LifeEventRule(
        _K.ARRESTED,
        "arrest arrested committed discharged",
        r"I arrest (?:you|him|her)|(?:[Tt]hey've|[Tt]hey have|has been|'s been) arrested|under arrest|(?:(?:is|'s|stands) (?:fully )?committed|(?:boy|man|prisoner|girl|woman|he|she) is discharged)(?=[,.!])|you are my prisoner",
    ),
    LifeEventRule(
        _K.WOUNDED,
        "hit bleeds bleeding shot dying wounded",
        r"(?:[Tt]hey've|[Tt]hey have|[Hh]e's|I'm|I am|I've been|[Yy]ou've) (?:\w+ )?(?:hit (?:him|her|me)|shot|wounded|dying|bleeding)|how (?:he|she|the \w+) bleeds",
    ),
)
"""What characters do by saying it: the speaker and the one spoken to take part."""


@cache
def collect_life_event_words() -> frozenset[str]:
    """Return the words of which every sentence with a life event has at least one."""
    rules = (*LIFE_EVENT_RULES, *SPEECH_ACT_RULES)
    return frozenset(word for rule in rules for word in rule.words)
