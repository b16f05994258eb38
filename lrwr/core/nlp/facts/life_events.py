"""Life events in narration and speech: the turning points that a timeline lists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lrwr.core.model.facts import Certainty, Fact, FactAbout, LifeEventKind
from lrwr.core.model.text import LazyPattern, Span
from lrwr.core.nlp.facts.clauses import (
    ends_in_question,
    extract_clause_before,
    extract_verbatim,
    is_asserted,
    make_fact,
    to_text_span,
)
from lrwr.core.nlp.facts.participants import ParticipantTracker
from lrwr.core.nlp.text.prose import AnnotatedProse, ProseSentence

_PERSON = (
    r"(?:[A-Z][\w'.-]+|him|her|them|me|us|you|each other|one another|himself|herself|"
    r"(?:his|her|their|my|the|an?|this|that|your|our) (?:[\w-]+ ){0,3}?(?:man|woman|"
    r"girl|boy|child|gentleman|lady|stranger|friend|father|mother|sister|brother|son|"
    r"daughter|wife|husband|uncle|aunt|cousin|nephew|niece|captain|doctor|lover|"
    r"daughters|sons|sisters|brothers|friends|people|master|mistress|creature|fellow|"
    r"enemy|victim|rival|old man|antagonist|prisoner|guest|visitor|baby|infant|"
    r"colonel|inspector|officer|servant|companion|assailant|pursuer))(?![\w-])"
)
_NOT_TO = r"(?! (?:to|by|with|of) (?:the )?(?:sleep|laugh|death by))"
_PLACE = (
    r"(?:(?:the |his |her |their |this |that |my |our )?(?:[\w-]+ )?(?:house|home|town|"
    r"city|country|village|county|island|cottage|castle|neighbourhood|farm|hotel|inn|"
    r"school|college|prison|hospital|workhouse|abroad|lodgings|parish|ship|place)"
    r"(?! of (?:cards))|[A-Z][\w'-]+)(?![\w-])"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """How one kind of life event is stated.

    `words` are words of which a sentence must contain one. `predicate` matches what
    follows the subject. With `impersonal` the phrase needs no person as its subject
    ("The wedding took place"). `spoken` rules also hold in dialogue.
    """

    kind: LifeEventKind
    words: frozenset[str]
    predicate: LazyPattern
    impersonal: bool = False
    spoken: bool = False


def _rule(kind: LifeEventKind, words: str, predicate: str, *flags: str) -> _Rule:
    return _Rule(
        kind,
        frozenset(words.split()),
        LazyPattern(rf"(?<![\w'-])(?:{predicate})(?![\w-])"),
        "impersonal" in flags,
        "spoken" in flags,
    )


_K = LifeEventKind
_RULES = (
    # Death
    _rule(
        _K.DIED,
        "died expired perished drowned hanged murdered killed dead lifeless suicide",
        r"died(?! (?:of laughing|away|down|out|upon|on h\w+ lips))|expired|perished|"
        r"breathed h\w+ last|ceased to (?:breathe|live)|"
        r"(?:is|are|was|were|been|lay|lying|fell|dropped|found) (?:\w+ly |quite |already |stone |stone-)?"
        r"(?:dead|lifeless|murdered|killed|drowned|hanged|strangled|poisoned|shot dead|"
        r"stabbed to death|beheaded|executed|no more)(?! (?:tired|silence|of night|asleep|to|against|"
        r"certain|sure|drunk|set|calm|weight|letter|weary|level|with (?:fatigue|fear)))|"
        r"(?:drowned|hanged|poisoned|shot|stabbed|killed|destroyed) (?:himself|herself|themselves)|"
        rf"(?:murdered|killed|strangled|drowned|poisoned|slew|slain) {_PERSON}|"
        r"committed (?:suicide|the murder)|put an end to (?:himself|herself|h\w+ life)|"
        r"took h(?:is|er) own life",
        "spoken",
    ),
    _rule(
        _K.DIED,
        "death funeral burial buried inquest",
        r"(?:the |his |her )?(?:funeral|burial|inquest) (?:of [\w. ]+ )?(?:took place|was held|was over)|"
        r"(?:was|were) buried(?! (?:in (?:thought|h\w+ (?:hands|face|own|book|work)|sleep|books)|deep|under|beneath))",
        "impersonal",
    ),
    _rule(
        _K.BORN,
        "born birth delivered",
        r"(?:was|were) born(?! (?:to (?:be|suffer|rule|do)|with|under an?))|gave birth to|"
        r"(?:was|been) (?:safely )?delivered of|bore (?:him|her) (?:a|one|two|three) (?:\w+ )?(?:son|daughter|child|children)",
        "spoken",
    ),
    # Marriage and engagement
    _rule(
        _K.MARRIED,
        "married wedded eloped marriage",
        rf"(?:was|were|is|are|got|been|being|be) (?:\w+ly |lately |just |already )?married(?! (?:man|woman|men|women|life|state|people|couple|lad))|"
        rf"(?:had|has|have) (?:\w+ly |just |already )?married(?: {_PERSON}|(?=[,.;!]))|married {_PERSON}|wedded {_PERSON}|"
        r"(?:has |have |had )?eloped(?: with)?",
        "spoken",
    ),
    _rule(
        _K.MARRIED,
        "wedding marriage ceremony",
        r"(?:the |their |h\w+ )?(?:wedding|marriage|ceremony|nuptials) (?:of [\w. ]+ )?(?:took place|was (?:celebrated|performed|solemni[sz]ed))",
        "impersonal",
    ),
    _rule(
        _K.ENGAGED,
        "engaged betrothed accepted affianced engagement consent hand wife",
        rf"(?:is|are|was|were|am|became|become|been) (?:\w+ly |now |already |actually )?(?:engaged|betrothed|affianced)(?: to (?:{_PERSON}|be married|marry)|(?=[.;!]))|"
        rf"(?:had |has )?accepted (?:{_PERSON}(?=[,.;!])|h\w+ (?:hand|proposals?|offer of marriage))|"
        rf"(?:had |has )?(?:promised|agreed|consented) to (?:marry|be h\w+ wife|become h\w+ wife)|"
        r"(?:had |has )?given h\w+ consent to (?:the|their) (?:match|marriage)",
        "spoken",
    ),
    _rule(
        _K.ENGAGED,
        "engagement match betrothal",
        r"(?:the|their|h\w+) (?:engagement|betrothal) (?:was|is) (?:\w+ly )?(?:announced|known|settled|made public|over|broken off|at an end)",
        "impersonal",
    ),
    _rule(
        _K.PROPOSED,
        "proposed marry wife hand proposals proposal",
        rf"proposed (?:to {_PERSON}(?! that)|marriage)|"
        r"(?:made|renewed|repeated) (?:\w+ )?(?:an offer of (?:marriage|h\w+ hand)|(?:a )?proposals? (?:of marriage|to))|"
        rf"(?:asked|begged|implored|entreated|besought|urged|wanted) {_PERSON} to (?:marry|be h\w+ wife|become h\w+ wife)|"
        rf"asked (?:for )?(?:h\w+|[A-Z][\w.]+'s) hand(?! (?:in|and))|offered {_PERSON} (?:his|her) hand (?:in marriage|and (?:heart|fortune))",
    ),
    _rule(
        _K.REFUSED,
        "refused rejected declined",
        rf"(?:refused|rejected|declined)(?: {_PERSON}(?=[,.;!])| to marry| to be h\w+ wife| h\w+ (?:hand|proposals?|offer|suit|addresses))",
        "spoken",
    ),
    # Meetings
    _rule(
        _K.MET,
        "met introduced encountered recognised recognized presented acquaintance face called waited paid visited shook came ran found saw",
        rf"(?:met|encountered) (?:with )?{_PERSON}(?! (?:with an?|in the passage|at the (?:door|gate)|half)\b)(?! (?:eyes?|eye|gaze|glance|look|own|face|lips|hand|advances|wishes|half|objections?)\b)|"
        rf"(?:met|encountered)(?= (?:at|in|on) (?:the )?[A-Z])|"
        rf"(?:was|were|been) (?:\w+ly |then )?(?:introduced|presented) to {_PERSON}|"
        rf"introduced (?:{_PERSON} (?:\w+ )?to {_PERSON}|himself|herself)|"
        rf"presented {_PERSON} (?:\w+ )?to {_PERSON}|"
        rf"came (?:suddenly )?(?:face to face with|upon) {_PERSON}|ran (?:\w+ )?(?:into|against) {_PERSON}|"
        r"found (?:himself|herself|themselves) (?:face to face with|in the presence of)|"
        rf"made (?:the|his|her) acquaintance(?: of)?|(?:called|waited) (?:up)?on {_PERSON}|(?:visited) {_PERSON}(?=[,.;])|(?:paid) {_PERSON} (?:a|his|her|their) (?:\w+ )?(?:visit|call)|shook hands with {_PERSON}|saw \w+(?: \w+)? for the first time|"
        rf"(?:instantly |at once |immediately )?recogni[sz]ed {_PERSON}(?! (?:voice|hand|writing|step|face|own))",
    ),
    # Coming and going
    _rule(
        _K.ARRIVED,
        "arrived arrival returned came come reached landed alighted announced",
        r"(?:arrived(?! at (?:the|a|this|that|an|h\w+) (?:\w+ )?(?:conclusion|point|door|decision|age|opinion|idea))|"
        r"(?:returned|came|come|got|gone) (?:back )?(?:home|to (?:London|town|the (?:house|village|country|city|town|island|castle|farm)))|"
        r"(?:returned|came|come|came back|come back|got back) (?:from|to) (?!God|Heaven)[A-Z][\w'-]+(?![\w']* (?:and|said))|"
        r"reached (?:home|London|the (?:house|village|town|city|inn|station|island|castle|cottage|farm)|(?!God)[A-Z][\w'-]+)|"
        r"(?:was|were) (?:shown in|ushered in|announced|shown into)|alighted|landed (?:at|in|on)|"
        r"has come(?: back| home)?(?=[.,;!])|came to (?:stay|live|visit|see)|made h\w+ appearance)",
    ),
    _rule(
        _K.LEFT,
        "left departed fled escaped sailed leave quitted farewell away abandoned deserted set started bade",
        rf"left (?:(?!Mr|Mrs|Miss|Dr){_PLACE}(?! (?:hand|arm|side|open|alone|to|no|him|her|behind|in|with|but|by|on|and)\b)|England|{_PERSON} for (?:ever|good))|"
        rf"left for {_PLACE}|(?:set out|set off|started|departed|sailed|embarked|started off)(?: \w+)? (?:for|on (?:h\w+|their) (?:journey|voyage|way)|to (?=[A-Z]))|"
        r"departed(?=[.,;])|fled(?: (?:from|to|away|into)|(?=[.,;]))|(?:ran|had run|has run|gone|rode|drove|driven) away(?=[.,;!]| (?:from|to|with|together))|"
        rf"gone off(?: to| with)|(?:took|taken) (?:\w+ )?leave(?: of {_PERSON})?(?=[.,;]| of)|"
        rf"(?:bade|bid) (?:{_PERSON} )?(?:farewell|good-bye|goodbye|adieu)|quitted {_PLACE}|"
        rf"made (?:his|her|their) escape|escaped from {_PLACE}|(?:deserted|abandoned) {_PERSON}",
    ),
    _rule(
        _K.MOVED,
        "moved removed settled lodgings live abode residence carried conveyed taken sent adopted brought took bought house",
        rf"(?:moved|removed) (?:in)?to {_PLACE}|settled (?:down )?(?:in|at|near) {_PLACE}|"
        r"(?:went|gone|came|come) to live|took up (?:h\w+|their) (?:abode|residence|quarters)|"
        rf"took (?:a )?(?:house|cottage|lodgings|rooms)|"
        rf"(?:was|were|been) (?:\w+ly |then |at once )?(?:sent|carried|conveyed|taken|removed|led|brought) (?:away|off|back|home|to {_PLACE}|from {_PLACE}|to live)|"
        rf"(?:took|carried|brought|led|conveyed|sent|dragged) {_PERSON} (?:away|off|home|back to|to live|to {_PLACE}|to bed)|"
        r"(?:was|were) (?:apprenticed|bound) to|adopted (?:him|her|[A-Z]\w+)",
    ),
    # Harm
    _rule(
        _K.WOUNDED,
        "wounded shot stabbed injured ill fever fainted illness bleeding hurt unconscious hit senseless",
        rf"(?:was|were|been|is) (?:\w+ly |mortally )?(?:wounded|shot|stabbed|injured|badly hurt|hit by|bitten|crippled|run over)|"
        rf"(?:wounded|shot|stabbed) {_PERSON}|(?:fired at|shot at|struck down|struck at|dug the \w+ into) ?{_PERSON}?|"
        r"(?:fell|fallen|was taken|were taken|became|had been taken|lay|is|was) (?:\w+ly |very |seriously )?(?:ill|sick)(?! (?:at ease|will|of|used|humou?r|judged|satisfied|with (?:fear|envy)))|"
        r"(?:was|is|were) (?:in|seized with|attacked by|down with) (?:\w+ )?(?:\w+ )?(?:a )?(?:high |violent |raging |dangerous |burning )+(?:and \w+ )?fever|"
        r"broke (?:his|her) (?:leg|arm|neck|ankle|collar-bone)|(?:fainted|swooned)(?: away|(?=[.,;]))|"
        r"(?:fell|dropped|sank) (?:\w+ )?(?:\w+ )?(?:senseless|unconscious|in a (?:swoon|faint|dead faint)|insensible)",
        "spoken",
    ),
    _rule(
        _K.FOUGHT,
        "fought fight struck attacked knocked seized quarrelled quarreled quarrel sprang blow duel struggled felled threw flung rushed beat throat wrestled pistol revolver knife",
        rf"fought(?: (?:a duel|with|against) ?{_PERSON}?| {_PERSON}|(?=[.,;]))|"
        rf"(?:struck|hit|beat|attacked|assaulted|felled|kicked|slapped|flogged|thrashed) {_PERSON}(?! (?:as|that|hand|hands|eye|eyes|fist|stick|foot|heart|breast|forehead|knee|head|own|with (?:wonder|surprise|admiration|awe|astonishment|horror|terror))\b)|"
        rf"knocked {_PERSON} (?:\w+ )?(?:down|over|senseless)|knocked down {_PERSON}|"
        rf"(?:seized|caught|gripped|grasped|took) {_PERSON} by the (?:throat|collar|neck|hair)|"
        rf"(?:quarrell?ed|wrestled|grappled|struggled|come to blows|came to blows) with {_PERSON}|"
        rf"(?:sprang|rushed|flew|threw himself|flung himself|fell|leapt|leaped) (?:at|upon|on) {_PERSON}(?! (?:feet|knees|neck|own|hand|face|arm|arms|breast|bed|knee)\b)|"
        r"challenged (?:him|[A-Z]\w+)|had (?:a|an|their) (?:\w+ )?quarrel",
    ),
    _rule(
        _K.ARRESTED,
        "arrested arrest condemned sentenced convicted acquitted discharged committed trial guilty prison imprisoned verdict released transported custody",
        rf"(?:was|were|been|is) (?:\w+ly |then )?(?:arrested(?! by)|condemned(?: to (?:death|die|be))|sentenced|convicted|acquitted|discharged(?= (?:from (?:custody|prison))|[.,;])|fully committed|committed (?:for trial|to prison|to gaol)|imprisoned|tried for|found guilty|transported|set free|released|taken into custody|captured|taken prisoner)|"
        rf"arrested {_PERSON}",
        "spoken",
    ),
    _rule(
        _K.ARRESTED,
        "verdict arrest",
        r"(?:a |the )?verdict (?:of [\w ]+ )?was (?:returned|given|brought in)|a verdict of [\w ]+",
        "impersonal",
    ),
    # Knowledge, letters, fortune
    _rule(
        _K.INHERITED,
        "inherited succeeded bequeathed heir heiress fortune estate legacy will",
        r"inherited|succeeded to (?:the|h\w+) (?:title|estate|property|fortune|family)|(?:was|been|were) (?:bequeathed|left) (?:an?|the|all|h\w+) (?:\w+ )?(?:fortune|estate|legacy|property|money)|"
        r"came into (?:the|h\w+|a) (?:\w+ )?(?:property|fortune|money|title|estate|inheritance)|made (?:a new|h\w+|a fresh) will|became (?:the )?(?:\w+ )?heir(?:ess)?",
        "spoken",
    ),
    _rule(
        _K.LETTER,
        "letter letters wrote note telegram written message",
        r"(?:wrote|written)(?: \w+){0,3} (?:to|letters?|note)(?! (?:dictation|myself|himself))|"
        r"(?:received|got|had|opened|read|found|brought|sent|gave|handed|posted|despatched|dispatched|delivered|burned|burnt|tore up|broke the seal of|put into h\w+ hands?) (?:\w+ )?(?:an?|the|this|that|h\w+|another|two) (?:\w+ )?(?:letters?|note|telegram)(?! ?-?(?:paper|book|case))|"
        r"holding out a (?:letter|note)|telegraphed|(?:was|were) (?:handed|brought|given) a (?:letter|note|telegram)",
    ),
    _rule(
        _K.LETTER,
        "letter telegram note express",
        rf"(?:an?|the|this|another|h\w+) (?:\w+ )?(?:letter|telegram|note|express) (?:(?:from|for) {_PERSON} )?(?:(?:was|had been) (?:\w+ )?(?:brought|delivered|handed|put|received)|arrived|came)",
        "impersonal",
    ),
    _rule(
        _K.LEARNED,
        "discovered learned learnt overheard revealed informed found heard told disclosed secret truth betrayed knew realised realized understood",
        rf"(?:discovered|learned|learnt|found out|overheard|ascertained)(?: that| the (?:truth|secret|murder\w*|fact)| what| how| who| from {_PERSON}| {_PERSON}|(?=[,.;]))|"
        rf"(?:was|were|been) (?:\w+ly |then )?(?:informed|told|apprised) (?:of|that|by)|"
        rf"(?:informed|told) {_PERSON} (?:that (?!he|she|it would|they)|of (?:the|h\w+|all)|all|everything|the (?:whole|truth|story|secret)|what (?:he|she|had)|h\w+ (?:secret|story|whole|history))|"
        rf"(?:revealed|disclosed|betrayed|related|recounted) (?:the (?:secret|truth|whole|story)|that|h\w+ (?:secret|story|history)|to {_PERSON}|all|what)|"
        r"heard (?:that|of) (?:h\w+|the|[A-Z]\w+(?:'s)?) (?:\w+ )?(?:death|marriage|engagement|arrival|elopement|murder|arrest|illness|departure)|(?:knew|realised|realized|understood) the truth",
    ),
    _rule(
        _K.CONFESSED,
        "confessed confession avowed acknowledged owned guilt love forgave forgiveness",
        r"confessed(?: (?:that|to|everything|all|his|her|the|it)(?! own self)|(?=[.;]))|made (?:a|h\w+) (?:\w+ )?confession|"
        r"(?:avowed|declared|acknowledged|told) (?:h\w+ )?(?:(?:that )?(?:he|she) loved|(?:his|her) (?:love|guilt|passion|attachment))|"
        r"pleaded guilty",
        "spoken",
    ),
)
# What a character does by saying it: the speaker and the one spoken to take part.
_ACTS = (
    _rule(
        _K.PROPOSED,
        "marry wife love hand heart",
        r"(?:will|would|won't|could) you (?:not )?(?:marry me|be my wife|become my wife|have me)|"
        r"(?:be|become) my wife|how (?:ardently|dearly|deeply|much) I (?:\w+ and )?love you|"
        r"I (?:have )?(?:\w+ )?loved? you(?! (?:too|also|like|as))|(?:ask|asked|beg) you to (?:marry me|be my wife)|"
        r"(?:offer|offering) you my (?:hand|heart)|I want (?:to marry you|you to marry me)",
    ),
    _rule(
        _K.REFUSED,
        "marry wife decline refuse forget proposals offer",
        r"I (?:cannot|can't|can never|will not|won't|could not|could never|shall never|will never) (?:marry|be your wife|become your wife|accept (?:you|your))|"
        r"I (?:must )?(?:refuse|decline|reject) (?:you|your|to marry)|(?:than|but) decline them|(?:must|should) (?:\w+ to )?forget me",
    ),
    _rule(
        _K.ENGAGED,
        "engaged engagement marry married betrothed consent",
        r"(?:I am|I'm|we are|we're) (?:\w+ )?(?:engaged to|engaged(?=[.!])|betrothed|going to (?:be married|marry)|to be married)|"
        r"(?:I have|I've) (?:\w+ )?(?:promised to marry|given (?:him|her|them) my consent)",
    ),
    _rule(
        _K.MET,
        "introduce friend acquaintance meet present",
        r"(?:allow me to|let me|may I|permit me to) (?:introduce|present)(?= [A-Zmy])|[Tt]his is (?:my (?:\w+ )?(?:friend|brother|sister|son|daughter|wife|husband|cousin|nephew|niece|uncle|aunt|father|mother),? [A-Z]|(?:Mr|Mrs|Miss|Dr|Lord|Lady|Sir|Captain|Colonel)\b)|my friend [A-Z]\w+ [A-Z]|"
        r"(?:glad|pleased|delighted|honou?red) to (?:meet you|make your acquaintance)",
    ),
    _rule(
        _K.LEFT,
        "away good-bye goodbye farewell leaving",
        r"(?:I am|I'm|we are|we're) (?:\w+ )?(?:running away|going away|leaving (?:home|town|England|you|to-night|to-morrow|tomorrow|tonight))|(?:[Gg]ood-bye|[Gg]oodbye|[Ff]arewell)(?=[,.!])",
    ),
    _rule(
        _K.CONFESSED,
        "confess killed murdered guilty poisoned",
        r"I confess(?= (?:it|everything)|[.!])|I (?:have )?(?:killed|murdered|poisoned|robbed|betrayed) (?:him|her|[A-Z]\w+)|it was I (?:who|that)|I am (?:guilty|the (?:thief|murderer|man who|girl that|woman who))|I have (?:a confession|something to confess)",
    ),
    _rule(
        _K.LEARNED,
        "son daughter brother sister father mother half-brother aunt uncle niece nephew child",
        r"(?:you are|he is|she is|is) (?:his|her|my|your|the|[A-Z]\w+'s) (?:own |real |natural |illegitimate |lost )*(?:son|daughter|brother|half-brother|sister|child|aunt|uncle|niece|nephew) of [A-Z]|"
        r"(?:you are|he is|she is|is) (?:my|your) (?:own |real |natural |illegitimate |lost )*(?:son|daughter|brother|half-brother|sister|father|mother|child|niece|nephew)(?=[,.;!])",
    ),
    _rule(
        _K.ARRESTED,
        "arrest committed discharged",
        r"I arrest (?:you|him|her)|under arrest|(?:is|are|'s|stands) (?:fully )?(?:committed|discharged)(?=[,.!])|you are my prisoner",
    ),
    _rule(
        _K.WOUNDED,
        "hit bleeds bleeding shot dying wounded",
        r"(?:[Tt]hey've|[Tt]hey have|[Hh]e's|I'm|I am|I've been|[Yy]ou've) (?:\w+ )?(?:hit (?:him|her|me)|shot|wounded|dying|bleeding)|how (?:he|she|the \w+) bleeds",
    ),
)
_WORDS = frozenset().union(*(rule.words for rule in (*_RULES, *_ACTS)))
_ADVERBS = (
    r"(?:(?:then|now|suddenly|at last|at once|also|again|once more|[a-z]+ly|just|soon|"
    r"both|all|had|has|have|himself|herself|at length|already|thus|next|never again|"
    r"here|there|afterwards|once|ever|since|been|being|too|still|at this moment|too),? )*"
)
_NOUNS = (
    "man|woman|girl|boy|child|gentleman|lady|stranger|father|mother|sister|brother|"
    "son|daughter|wife|husband|uncle|aunt|cousin|nephew|niece|doctor|captain|baby|"
    "infant|widow|orphan|colonel|king|queen|prince|princess|sisters|brothers|friends"
)
_SUBJECT = LazyPattern(
    r"(?:^|[\s\x01(—-])(?P<who>[Hh]e|[Ss]he|[Tt]hey|[Ww]e|I|[Ww]ho|"
    r"(?:[A-ZÀ-Þ][\w-]*'?[\w-]*\.? (?:(?:de|du|van|von|of|the|and|la) )*){1,5}|"
    r"(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Mm]y|[Oo]ur) (?:[\w-]+ ){0,2}"
    rf"(?:{_NOUNS}))"
    rf" ?(?:,[^,;:\x01]{{3,60}}, )?{_ADVERBS}$"
)
_COORDINATED = re.compile(rf"(?:\band|\bbut|,|\bthen) {_ADVERBS}$")
_FIRST = re.compile(r"^[\x01\s]*(?P<who>[Hh]e|[Ss]he|[Tt]hey|I|We)\b")
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|idea of|dream\w*|dreamt|imagin\w+|would|should|could|might|may|"
    r"must|suppos\w+|pretend\w*|fanc(?:y|ied)|perhaps|wish\w*|hop(?:e|ed)|fear(?:ed)?|"
    r"never|as though|lest|ought|shall|will|cannot|can't|won't|not|rumou?r\w*|"
    r"no one|nobody|nor|neither|every|whenever|always|often|usually|sometimes)\b|n't\b",
    re.I,
)
_HYPOTHESIS = re.compile(
    r"\b(?:if|unless|whether|dream\w*|dreamt|imagin\w+|suppos\w+|pretend\w*|would|might)\b"
    r"[^.]{0,60}$",
    re.I,
)
_UNTIL = re.compile(r"\b(?:until|till) ")
_EARLIER = re.compile(
    r"\b(?:(?:\w+ )?(?:years?|months|weeks|days) (?:before|ago|earlier|since)|"
    r"long (?:before|ago)|(?:as|when|while) (?:a|an|yet a|still a|quite a) (?:mere )?"
    r"(?:child|boy|girl|lad|young man|baby|infant)|in (?:his|her|their) (?:youth|childhood|boyhood|"
    r"girlhood)|once upon|formerly|in former (?:days|years|times))\b",
    re.I,
)
_LONG = 200
"""Characters of a sentence above which only a part of it is quoted."""


def find_life_event_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield an event for each sentence that states a turning point of somebody's life.

    The value is the sentence verbatim. Details: `kind`, the kind of event; `involved`,
    each person in it; `told` if a character reports it; `earlier` if the text places it
    before the scene. Doubted, negated and habitual statements are skipped. In text
    order, at most one event for each sentence and kind.
    """
    tracker = ParticipantTracker(prose)
    for sentence in prose.sentences:
        if not sentence.words.isdisjoint(_WORDS):
            yield from _find_in_sentence(prose, sentence, tracker)
        tracker.leave(sentence)


def _find_in_sentence(
    prose: AnnotatedProse, sentence: ProseSentence, tracker: ParticipantTracker
) -> Iterator[Fact]:
    for rule in _RULES:
        if sentence.words.isdisjoint(rule.words):
            continue
        match = _find_statement(rule, sentence, sentence.narration, tracker)
        if match is None and rule.spoken and sentence.speech:
            match = _find_statement(rule, sentence, sentence.speech, tracker)
        if match:
            yield _build(prose, sentence, rule.kind, match, tracker)
            return
    if sentence.speech:
        yield from _find_acts(prose, sentence, tracker)


def _find_acts(
    prose: AnnotatedProse, sentence: ProseSentence, tracker: ParticipantTracker
) -> Iterator[Fact]:
    """Yield the first event that the speech in a sentence brings about."""
    words = sentence.speech
    for rule in _ACTS:
        if sentence.words.isdisjoint(rule.words):
            continue
        for match in rule.predicate.finditer(words):
            if _HYPOTHESIS.search(extract_clause_before(words, match.start())):
                continue
            span = _quoted_span(sentence, words, match.start(), match.end())
            people = tracker.list_speakers(sentence)
            details = [("kind", str(rule.kind)), *(("involved", n) for n in people)]
            yield _make_event(prose, span, details)
            return


@dataclass(frozen=True, slots=True)
class _Statement:
    """Where a sentence states an event, in which layer, and who is its subject."""

    words: str
    start: int
    end: int
    subject: str
    spoken: bool


def _find_statement(
    rule: _Rule, sentence: ProseSentence, words: str, tracker: ParticipantTracker
) -> _Statement | None:
    spoken = words is sentence.speech
    for match in rule.predicate.finditer(words):
        start = max(words.rfind(mark, 0, match.start()) for mark in ";:\x01") + 1
        clause = words[start : match.start()]
        if not _is_stated(clause) or ends_in_question(words, match.end()):
            continue
        who = _find_subject(clause, words, tracker, spoken)
        if who or rule.impersonal:
            return _Statement(words, match.start(), match.end(), who, spoken)
    return None


def _is_stated(clause: str) -> bool:
    """Return whether nothing in `clause` makes its predicate doubtful or negated."""
    part = clause[clause.rfind(", ") + 1 :]
    if _CONDITION.search(part) or _HYPOTHESIS.search(clause):
        return False
    return is_asserted(_UNTIL.sub("", part))


def _find_subject(
    clause: str, words: str, tracker: ParticipantTracker, spoken: bool
) -> str:
    """Return the words of the subject before a predicate; "" if it is no person."""
    match = _SUBJECT.search(clause[-120:])
    who = (match["who"] or "").strip() if match else ""
    if who.lower() == "who" or (not who and _COORDINATED.search(clause)):
        first = _FIRST.match(words)
        who = first["who"] if first else tracker.first_name(words)
    if spoken:
        return who if tracker.is_person(who) else ""
    return who if tracker.is_actor(who) else ""


def _build(
    prose: AnnotatedProse,
    sentence: ProseSentence,
    kind: LifeEventKind,
    statement: _Statement,
    tracker: ParticipantTracker,
) -> Fact:
    span = _quoted_span(sentence, statement.words, statement.start, statement.end)
    people = tracker.list_people(statement.words, statement.subject, statement.spoken)
    details = [("kind", str(kind)), *(("involved", name) for name in people)]
    if statement.spoken:
        details.append(("told", "yes"))
    if _EARLIER.search(statement.words) or _is_pluperfect(statement):
        details.append(("earlier", "yes"))
    return _make_event(prose, span, details)


def _make_event(
    prose: AnnotatedProse, span: Span, details: list[tuple[str, str]]
) -> Fact:
    return make_fact(
        FactAbout.EVENT,
        "event",
        extract_verbatim(prose, span),
        span,
        Certainty.PROBABLE,
        details=tuple(details),
    )


def _is_pluperfect(statement: _Statement) -> bool:
    before = statement.words[max(0, statement.start - 14) : statement.start]
    return bool(re.search(r"\bhad (?:\w+ )?$", before)) and not statement.spoken


def _quoted_span(sentence: ProseSentence, words: str, first: int, last: int) -> Span:
    """Return the sentence; of a long one, the part around `first` to `last` between `;`."""
    if len(words) <= _LONG:
        return sentence.span
    start = words.rfind(";", 0, first) + 1
    start += len(words[start:]) - len(words[start:].lstrip())
    end = words.find(";", last)
    return to_text_span(sentence, start, end if end >= 0 else len(words))
