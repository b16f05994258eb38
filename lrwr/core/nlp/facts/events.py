"""Phrases that state life events, and extraction of reported speech."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from lrwr.core.model.facts import Certainty, Fact, FactAbout, LifeEventKind
from lrwr.core.model.text import LazyPattern
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    ends_in_question,
    extract_clause_before,
    extract_verbatim,
    find_matches_at,
    has_place_preposition,
    is_asserted,
    make_fact,
    to_text_span,
)
from lrwr.core.nlp.text.prose import (
    MASK_CHARACTER,
    AnnotatedProse,
)

_DEEDS_TEXT = (
    "died drowned perished expired fell slipped stumbled tripped collapsed "
    "fainted arrived returned came entered left departed fled escaped vanished "
    "disappeared ran rushed hurried hastened followed pursued chased caught "
    "seized grabbed snatched met found discovered noticed recognised recognized "
    "locked unlocked broke smashed tore burst struck hit "
    "slapped attacked fought wrestled killed murdered shot stabbed poisoned "
    "strangled wounded buried married proposed accepted refused promised swore "
    "confessed kissed embraced betrayed deserted abandoned rescued saved released "
    "freed arrested captured stole robbed hid threw flung "
    "dropped picked pulled pushed dragged lifted brought sent wrote "
    "read burned burnt lit sprang jumped leapt leaped climbed crept "
    "crossed knelt woke awoke whispered ordered summoned "
    "dismissed visited joined won lost sold bought paid quarrelled quarreled"
    " put set led drove rode sailed swam dived dug cut tied untied poured drank "
    "ate moved walked went marched reached passed landed boarded mounted ascended "
    "descended retired withdrew gathered danced sang inherited succeeded "
    "recovered gained struck fetched flew sank swung "
    "shot slammed knocked rang interrupted replaced removed drained "
    "filled emptied lifted laid sprang advanced retreated surrendered yielded"
)
EVENT_VERBS = frozenset(_DEEDS_TEXT.split())
"""Simple-past verbs of single, completed actions."""
_VERBS = "told informed assured warned reminded notified advised persuaded convinced"
_TO_VERBS = (
    "confessed explained admitted mentioned confided announced revealed remarked "
    "whispered reported repeated related described declared"
)
_WHEN = (
    r"(?:then |also |once |had |has |had once |had already |afterwards |"
    r"later |at last |now |again |frankly |quietly |solemnly )*"
)
# "Nell told Corin that …", "Nell confessed to Corin that …"
_REPORT = LazyPattern(
    rf"(?<![\w'])(?<!\w-)(?P<teller>{NAME_PATTERN}) {_WHEN}(?:(?:{'|'.join(_VERBS.split())}) "
    rf"|(?:{'|'.join(_TO_VERBS.split())}) to )(?P<hearer>{NAME_PATTERN})(?!['\w-]),? "
    r"(?P<what>(?:that|about|of|how|why|what|where|who|all about) [^;:!?\x01]{8,})"
)
_END = re.compile(r"[.,\s—–-]+$")
_TELLING_TRIGGERS = frozenset(f"{_VERBS} {_TO_VERBS}".split())


def find_reported_speech_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield a fact for each "Nell told Corin that …", with the reported words verbatim
    as its value.
    """
    for sentence in prose.sentences:
        if sentence.words.isdisjoint(_TELLING_TRIGGERS):
            continue
        for match in find_matches_at(_REPORT, sentence.narration, sentence.starts):
            teller = clean_name(match["teller"], prose)
            hearer = clean_name(match["hearer"], prose)
            if not (teller and hearer and _is_stated(match)):
                continue
            end = match.end() - len(_ending(match["what"]))
            start = match.end("teller") - len(teller)
            text_span = to_text_span(sentence, match.start("what"), end)
            yield make_fact(
                FactAbout.TOLD,
                "told",
                extract_verbatim(prose, text_span),
                to_text_span(sentence, start, end),
                Certainty.VERIFIED,
                subject=teller,
                details=(("hearer", hearer),),
            )


def _is_stated(match: re.Match[str]) -> bool:
    words = match.string
    if (
        has_place_preposition(words, match.start())
        or MASK_CHARACTER in words[match.end() : match.end() + 1]
    ):
        return False
    before = extract_clause_before(words, match.start())
    return is_asserted(before) and not ends_in_question(words, match.end())


def _ending(phrase: str) -> str:
    match = _END.search(phrase)
    return match.group() if match else ""


_PERSON = (
    r"(?:[A-Z][\w'.-]+|him|her|them|me|us|you|each other|one another|himself|herself|"
    r"(?:his|her|their|my|the|an?|this|that|your|our) (?:[\w-]+ ){0,3}?(?:man|woman|"
    r"girl|boy|child|gentleman|lady|stranger|friend|father|mother|sister|brother|son|"
    r"daughter|wife|husband|uncle|aunt|cousin|nephew|niece|captain|doctor|lover|"
    r"daughters|sons|sisters|brothers|friends|people|master|mistress|creature|fellow|"
    r"enemy|victim|rival|old man|antagonist|prisoner|guest|visitor|baby|infant|"
    r"colonel|inspector|officer|servant|companion|assailant|pursuer))(?![\w-])"
)
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
        _K.BORN,
        "born birth delivered",
        r"(?:was|were) born(?! (?:to (?:be|suffer|rule|do)|with|under an?))|gave birth to|"
        r"(?:was|been) (?:safely )?delivered of|bore (?:him|her) (?:a|one|two|three) (?:\w+ )?(?:son|daughter|child|children)",
        spoken=True,
    ),
    # Marriage and engagement
    LifeEventRule(
        _K.MARRIED,
        "married wedded eloped marriage",
        rf"(?:was|were|is|are|got|been|being|be) (?:\w+ly |lately |just |already )?married(?! (?:man|woman|men|women|life|state|people|couple|lad))|"
        rf"(?:had|has|have) (?:\w+ly |just |already )?married(?: {_PERSON}|(?=[,.;!]))|married {_PERSON}|wedded {_PERSON}|"
        r"(?:has |have |had )?eloped(?: with)?",
        spoken=True,
    ),
    LifeEventRule(
        _K.MARRIED,
        "wedding marriage ceremony",
        r"(?:the |their |h\w+ )?(?:wedding|marriage|ceremony|nuptials) (?:of [\w. ]+ )?(?:took place|was (?:celebrated|performed|solemni[sz]ed))",
        impersonal=True,
    ),
    LifeEventRule(
        _K.ENGAGED,
        "engaged betrothed accepted affianced engagement consent hand wife",
        rf"(?:is|are|was|were|am|became|become|been) (?:\w+ly |now |already |actually )?(?:engaged|betrothed|affianced)(?: to (?:{_PERSON}|be married|marry)|(?=[.;!]))|"
        rf"(?:had |has )?accepted (?:{_PERSON}(?=[,.;!])|h\w+ (?:hand|proposals?|offer of marriage))|"
        rf"(?:had |has )?(?:promised|agreed|consented) to (?:marry|be h\w+ wife|become h\w+ wife)|"
        r"(?:had |has )?given h\w+ consent to (?:the|their) (?:match|marriage)",
        spoken=True,
    ),
    LifeEventRule(
        _K.ENGAGED,
        "engagement match betrothal",
        r"(?:the|their|h\w+) (?:engagement|betrothal) (?:was|is) (?:\w+ly )?(?:announced|known|settled|made public|over|broken off|at an end)",
        impersonal=True,
    ),
    LifeEventRule(
        _K.PROPOSED,
        "proposed marry wife hand proposals proposal",
        rf"proposed (?:to {_PERSON}(?! that)|marriage)|"
        r"(?:made|renewed|repeated) (?:\w+ )?(?:an offer of (?:marriage|h\w+ hand)|(?:a )?proposals? (?:of marriage|to))|"
        rf"(?:asked|begged|implored|entreated|besought|urged|wanted) {_PERSON} to (?:marry|be h\w+ wife|become h\w+ wife)|"
        rf"asked (?:for )?(?:h\w+|[A-Z][\w.]+'s) hand(?! (?:in|and))|offered {_PERSON} (?:his|her) hand (?:in marriage|and (?:heart|fortune))",
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
    LifeEventRule(
        _K.ARRIVED,
        "arrived arrival returned came come reached landed alighted announced",
        r"(?:arrived(?! at (?:the|a|this|that|an|h\w+) (?:\w+ )?(?:conclusion|point|door|decision|age|opinion|idea))|"
        r"(?:returned|came|come|got|gone) (?:back )?(?:home|to (?:London|town|the (?:house|village|country|city|town|island|castle|farm)))|"
        r"(?:returned|came|come|came back|come back|got back) (?:from|to) (?!God|Heaven)[A-Z][\w'-]+(?![\w']* (?:and|said))|"
        r"reached (?:home|London|the (?:house|village|town|city|inn|station|island|castle|cottage|farm)|(?!God)[A-Z][\w'-]+)|"
        r"(?:was|were) (?:shown in|ushered in|announced|shown into)|alighted|landed (?:at|in|on)|"
        r"has come(?: back| home)?(?=[.,;!])|came to (?:stay|live|visit|see)|made h\w+ appearance)",
    ),
    LifeEventRule(
        _K.LEFT,
        "left departed fled escaped sailed leave quitted farewell away abandoned deserted set started bade",
        rf"left (?:(?!Mr|Mrs|Miss|Dr){_PLACE}(?! (?:hand|arm|side|open|alone|to|no|him|her|behind|in|with|but|by|on|and)\b)|England|{_PERSON} for (?:ever|good))|"
        rf"left for {_PLACE}|(?:set out|set off|started|departed|sailed|embarked|started off)(?: \w+)? (?:for|on (?:h\w+|their) (?:journey|voyage|way)|to (?=[A-Z]))|"
        r"departed(?=[.,;])|fled(?: (?:from|to|away|into)|(?=[.,;]))|(?:ran|had run|has run|gone|rode|drove|driven) away(?=[.,;!]| (?:from|to|with|together))|"
        rf"gone off(?: to| with)|(?:took|taken) (?:\w+ )?leave(?: of {_PERSON})?(?=[.,;]| of)|"
        rf"(?:bade|bid) (?:{_PERSON} )?(?:farewell|good-bye|goodbye|adieu)|quitted {_PLACE}|"
        rf"made (?:his|her|their) escape|escaped from {_PLACE}|(?:deserted|abandoned) {_PERSON}",
    ),
    LifeEventRule(
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
    LifeEventRule(
        _K.WOUNDED,
        "wounded shot stabbed injured ill fever fainted illness bleeding hurt unconscious hit senseless",
        rf"(?:was|were|been|is) (?:\w+ly |mortally )?(?:wounded|shot|stabbed|injured|badly hurt|hit by|bitten|crippled|run over)|"
        rf"(?:wounded|shot|stabbed) {_PERSON}|(?:fired at|shot at|struck down|struck at|dug the \w+ into) ?{_PERSON}?|"
        r"(?:fell|fallen|was taken|were taken|became|had been taken|lay|is|was) (?:\w+ly |very |seriously )?(?:ill|sick)(?! (?:at ease|will|of|used|humou?r|judged|satisfied|with (?:fear|envy)))|"
        r"(?:was|is|were) (?:in|seized with|attacked by|down with) (?:\w+ )?(?:\w+ )?(?:a )?(?:high |violent |raging |dangerous |burning )+(?:and \w+ )?fever|"
        r"broke (?:his|her) (?:leg|arm|neck|ankle|collar-bone)|(?:fainted|swooned)(?: away|(?=[.,;]))|"
        r"(?:fell|dropped|sank) (?:\w+ )?(?:\w+ )?(?:senseless|unconscious|in a (?:swoon|faint|dead faint)|insensible)",
        spoken=True,
    ),
    LifeEventRule(
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
    LifeEventRule(
        _K.ARRESTED,
        "arrested arrest condemned sentenced convicted acquitted discharged committed trial guilty prison imprisoned verdict released transported custody",
        rf"(?:was|were|been|is) (?:\w+ly |then )?(?:arrested(?! by)|condemned(?: to (?:death|die|be))|sentenced|convicted|acquitted|discharged(?= (?:from (?:custody|prison))|[.,;])|fully committed|committed (?:for trial|to prison|to gaol)|imprisoned|tried for|found guilty|transported|set free|released|taken into custody|captured|taken prisoner)|"
        rf"arrested {_PERSON}",
        spoken=True,
    ),
    LifeEventRule(
        _K.ARRESTED,
        "verdict arrest",
        r"(?:a |the )?verdict (?:of [\w ]+ )?was (?:returned|given|brought in)|a verdict of [\w ]+",
        impersonal=True,
    ),
    # Knowledge, letters, fortune
    LifeEventRule(
        _K.INHERITED,
        "inherited succeeded bequeathed heir heiress fortune estate legacy will",
        r"inherited|succeeded to (?:the|h\w+) (?:title|estate|property|fortune|family)|(?:was|been|were) (?:bequeathed|left) (?:an?|the|all|h\w+) (?:\w+ )?(?:fortune|estate|legacy|property|money)|"
        r"came into (?:the|h\w+|a) (?:\w+ )?(?:property|fortune|money|title|estate|inheritance)|made (?:a new|h\w+|a fresh) will|became (?:the )?(?:\w+ )?heir(?:ess)?",
        spoken=True,
    ),
    LifeEventRule(
        _K.LETTER,
        "letter letters wrote note telegram written message",
        r"(?:wrote|written)(?: \w+){0,3} (?:to|letters?|note)(?! (?:dictation|myself|himself))|"
        r"(?:received|got|had|opened|read|found|brought|sent|gave|handed|posted|despatched|dispatched|delivered|burned|burnt|tore up|broke the seal of|put into h\w+ hands?) (?:\w+ )?(?:an?|the|this|that|h\w+|another|two) (?:\w+ )?(?:letters?|note|telegram)(?! ?-?(?:paper|book|case))|"
        r"holding out a (?:letter|note)|telegraphed|(?:was|were) (?:handed|brought|given) a (?:letter|note|telegram)",
    ),
    LifeEventRule(
        _K.LETTER,
        "letter telegram note express",
        rf"(?:an?|the|this|another|h\w+) (?:\w+ )?(?:letter|telegram|note|express) (?:(?:from|for) {_PERSON} )?(?:(?:was|had been) (?:\w+ )?(?:brought|delivered|handed|put|received)|arrived|came)",
        impersonal=True,
    ),
    LifeEventRule(
        _K.LEARNED,
        "discovered learned learnt overheard revealed informed found heard told disclosed secret truth betrayed knew realised realized understood",
        rf"(?:discovered|learned|learnt|found out|overheard|ascertained)(?: that| the (?:truth|secret|murder\w*|fact)| what| how| who| from {_PERSON}| {_PERSON}|(?=[,.;]))|"
        rf"(?:was|were|been) (?:\w+ly |then )?(?:informed|told|apprised) (?:of|that|by)|"
        rf"(?:informed|told) {_PERSON} (?:that (?!he|she|it would|they)|of (?:the|h\w+|all)|all|everything|the (?:whole|truth|story|secret)|what (?:he|she|had)|h\w+ (?:secret|story|whole|history))|"
        rf"(?:revealed|disclosed|betrayed|related|recounted) (?:the (?:secret|truth|whole|story)|that|h\w+ (?:secret|story|history)|to {_PERSON}|all|what)|"
        r"heard (?:that|of) (?:h\w+|the|[A-Z]\w+(?:'s)?) (?:\w+ )?(?:death|marriage|engagement|arrival|elopement|murder|arrest|illness|departure)|(?:knew|realised|realized|understood) the truth",
    ),
    LifeEventRule(
        _K.CONFESSED,
        "confessed confession avowed acknowledged owned guilt love forgave forgiveness",
        r"confessed(?: (?:that|to|everything|all|his|her|the|it)(?! own self)|(?=[.;]))|made (?:a|h\w+) (?:\w+ )?confession|"
        r"(?:avowed|declared|acknowledged|told) (?:h\w+ )?(?:(?:that )?(?:he|she) loved|(?:his|her) (?:love|guilt|passion|attachment))|"
        r"pleaded guilty",
        spoken=True,
    ),
)
SPEECH_ACT_RULES = (
    LifeEventRule(
        _K.PROPOSED,
        "marry wife love hand heart",
        r"(?:[Ww]ill|[Ww]ould|[Ww]on't|[Cc]ould) you (?:not )?(?:marry me|be my wife|become my wife|have me)|"
        r"how (?:ardently|dearly|deeply|much) I (?:\w+ and )?love you|"
        r"I (?:have )?(?:\w+ )?loved? you(?! (?:too|also|like|as))|(?:ask|asked|beg) you to (?:marry me|be my wife)|"
        r"(?:offer|offering) you my (?:hand|heart)|I want (?:to marry you|you to marry me)",
    ),
    LifeEventRule(
        _K.REFUSED,
        "marry wife decline refuse forget proposals offer",
        r"I (?:cannot|can't|can never|will not|won't|could not|could never|shall never|will never) (?:marry|be your wife|become your wife|accept (?:you|your))|"
        r"I (?:must )?(?:refuse|decline|reject) (?:you|your|to marry)|(?:than|but) decline them|(?:must|should) (?:\w+ to )?forget me",
    ),
    LifeEventRule(
        _K.ENGAGED,
        "engaged engagement marry married betrothed consent",
        r"(?:I am|I'm|[Ww]e are|[Ww]e're) (?:\w+ )?(?:engaged to|engaged(?=[.!])|betrothed|going to (?:be married|marry)|to be married)|"
        r"(?:I have|I've) (?:\w+ )?(?:promised to marry|given (?:him|her|them) my consent)",
    ),
    LifeEventRule(
        _K.MET,
        "introduce friend acquaintance meet present",
        r"(?:[Aa]llow me to|[Ll]et me|[Mm]ay I|[Pp]ermit me to) (?:introduce|present)(?= [A-Zmy])|[Tt]his is (?:my (?:\w+ )?(?:friend|brother|sister|son|daughter|wife|husband|cousin|nephew|niece|uncle|aunt|father|mother),? [A-Z]|(?:Mr|Mrs|Miss|Dr|Lord|Lady|Sir|Captain|Colonel)\b)|my friend [A-Z]\w+ [A-Z]|"
        r"(?:glad|pleased|delighted|honou?red) to (?:meet you|make your acquaintance)",
    ),
    LifeEventRule(
        _K.LEFT,
        "away leaving",
        r"(?:I am|I'm|[Ww]e are|[Ww]e're) (?:\w+ )?(?:running away|going away|leaving (?:home|town|England|you|to-night|to-morrow|tomorrow|tonight))",
    ),
    LifeEventRule(
        _K.CONFESSED,
        "confess killed murdered guilty poisoned",
        r"I confess(?= (?:it|everything)|[.!])|I (?:have )?(?:killed|murdered|poisoned|robbed|betrayed) (?:him|her|[A-Z]\w+)|[Ii]t was I (?:who|that)|I am (?:guilty|the (?:thief|murderer|man who|girl that|woman who))|I have (?:a confession|something to confess)",
    ),
    LifeEventRule(
        _K.LEARNED,
        "son daughter brother sister father mother half-brother aunt uncle niece nephew child",
        r"(?:[Yy]ou are|[Hh]e is|[Ss]he is|is) (?:his|her|my|your|the|[A-Z]\w+'s) (?:own |real |natural |illegitimate |lost )*(?:son|daughter|brother|half-brother|sister|child|aunt|uncle|niece|nephew) of [A-Z]|"
        r"(?:[Yy]ou are|[Hh]e is|[Ss]he is|is) (?:my|your) (?:own |real |natural |illegitimate |lost )*(?:son|daughter|brother|half-brother|sister|father|mother|child|niece|nephew)(?=[,.;!])",
    ),
    LifeEventRule(
        _K.ARRESTED,
        "arrest committed discharged",
        r"I arrest (?:you|him|her)|under arrest|(?:is|are|'s|stands) (?:fully )?(?:committed|discharged)(?=[,.!])|you are my prisoner",
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
