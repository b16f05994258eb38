"""English patterns for the words of a question that reveal what it asks for.

Most are matched against a masked question: lower case, with PERSON, THING or STRANGER
in place of names, and without phrases such as "can you tell me".
"""

import re
from dataclasses import dataclass

from lrwr.core.model.turns import AnswerSource, SourceIntention
from lrwr.core.retrieval.people import AUTHOR_PHRASE

PLAIN_CUE_CONFIDENCE = 0.9
"""The question asks for it literally: "who is X", "when did …"."""

LIKELY_CUE_CONFIDENCE = 0.8
"""The words usually ask for it: "change", "friend"."""

HINTED_CUE_CONFIDENCE = 0.75
"""No word asks for it, but the names in the question suggest it."""

FALLBACK_CONFIDENCE = 0.7
"""Nothing else is known to help, so the text is searched. Equals `TOOL_THRESHOLD`, the
lowest confidence at which a model's choices count."""

_PERSON = r"\bPERSON\b"


@dataclass(frozen=True, slots=True)
class QuestionCue:
    """A pattern (`words`) that shows that a question needs a source, and for what.

    `confidence` is from 0.0 to 1.0. If `person` is true, the cue applies only to
    questions that name a character.
    """

    words: re.Pattern[str]
    source: AnswerSource
    intention: SourceIntention
    confidence: float
    person: bool = False


REQUEST_PATTERN = re.compile(
    r"^(?:(?:please|so|and|ok|okay|well),?\s+)*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
    r"(?:tell|remind|show|give|teach)\s+(?:me|us)\b(?:\s+again)?(?:\s+(?:about|of))?",
    re.IGNORECASE,
)
"""A request to lrwr itself ("can you tell me"), which is not about telling in the
story."""


def strip_request(text: str) -> str:
    """Return `text` without a request to lrwr and without the author's phrases about
    what they wrote ("do I say"); empty if nothing else remains.
    """
    return AUTHOR_PHRASE.sub(" ", REQUEST_PATTERN.sub(" ", text)).strip()


_STATED = (
    r"(?:said|told|mentioned|explained|stated|defined|described|specified|given"
    r"|revealed|named|established|settled|clear)"
)
GAP_PATTERN = re.compile(
    r"\b(?:does|did|do)\s+(?:the|my|this)\s+(?:text|book|story|manuscript|novel|draft"
    r"|chapter|scene)\s+(?:\w+\s+){0,2}?(?:say|tell|explain|mention|define|give|state"
    r"|describe|reveal|specify|establish|name|settle)\b"
    r"|\b(?:is|are|was|were|has|have)\b[^?.!]{0,80}\b(?:ever|anywhere|never)\b"
    rf"[^?.!]{{0,80}}\b{_STATED}\b"
    r"|\b(?:is|was)\s+(?:it|there)\s+(?:said|told|mentioned|explained|stated|defined"
    r"|described|specified|revealed|established)\b"
    r"|\b(?:do|did)\s+(?:we|readers)\s+(?:ever\s+|actually\s+)?(?:know|learn|find out"
    r"|hear|see)\b"
    r"|\bhave\s+i\s+(?:ever\s+|already\s+|actually\s+)?" + _STATED + r"\b"
    r"|\bdid\s+i\s+(?:ever|anywhere)\s+(?:say|mention|state|tell|explain|give)\b"
    r"|\b(?:un(?:defined|explained|specified|stated|said|named)|left\s+open|never\s+"
    + _STATED + r")\b"
)  # fmt: skip
"""Asks whether the text says something, instead of what it says."""

GAP_PROBE_PATTERN = re.compile(
    r"\b(?:does|did|do)\s+(?:the|my|this)\s+(?:text|book|story|manuscript|novel|draft"
    r"|chapter|scene)\s+(?:ever\s+|actually\s+)?(?:say|tell|explain|mention|define|give"
    r"|state|describe|reveal|specify|establish|name|settle)s?\b"
    r"|\b(?:is|was)\s+it\s+(?:ever\s+|anywhere\s+)?" + _STATED + r"\b"
    r"|\b(?:is|are|was|were)\s+(?:still\s+)?left\s+open\b|\bleft\s+open\b"
    r"|\bun(?:defined|explained|specified|stated)\b|\bopen\s+questions?\b"
    r"|\bloose\s+ends?\b|\b(?:stands?\s+)?to\s+(?:each\s+other|one\s+another)\b",
    re.IGNORECASE,
)
"""Phrases that ask whether something is said, or how two characters relate, and that
are not themselves what is asked for."""

SCENARIO_PATTERN = re.compile(
    r"\bwhat\s+if\b"
    r"|\b(?:how|what)\s+would\s+(?!(?:you|one|i)\s+(?:describe|explain|say|call|put|sum"
    r"|characteri[sz]e|rate|compare|suggest|recommend|advise))"
    r"|^(?:suppose|imagine)\b"
    r"|\bwould\b[^?.!]{0,80}\bif\b|\bif\b[^?.!]{0,80}\bwould\b"
    rf"|\bwould\s+{_PERSON}\s+(?:ever\s+)?\w+"
)
"""Asks for something that does not happen in the story but could."""

NOTES_PATTERN = re.compile(
    r"\bdid\s+i\s+(?:note|write|jot|decide|plan|intend)\b"
    r"|\b(?:my|our)\s+(?:\w+\s+)?(?:notes?|plans?|outline|ideas?)\b"
)
"""Asks what the author noted or planned."""

CRAFT_PATTERN = re.compile(
    r"\btropes?\b|\bclich[eé]s?\b|\bgenres?\b|\barchetyp\w+"
    r"|\b(?:writing|storytelling|narrative|craft)\s+(?:craft|techniques?|advice"
    r"|conventions?|rules?|theory|books?)\b"
    r"|\bthree[\s-]act\b|\bhero['’]s\s+journey\b|\bsave\s+the\s+cat\b"
    r"|\bshow,?\s+don['’]t\s+tell\b"
    r"|\b(?:other|most|famous|great)\s+(?:writers|authors|novelists|novels|books"
    r"|stories)\b|\bin\s+(?:literature|fiction)\b"
)
"""Asks about the craft of writing instead of this story."""

_CRAFT_TOPIC = (
    r"(?:chapters?|scenes?|openings?|endings?|reveals?|revealed|twists?|dialogue|voices?"
    r"|prose|plot|book|novel|draft|manuscript|stakes|tension|suspense|exposition"
    r"|descriptions?|backstory|flashbacks?|narration|tone|themes?|point\s+of\s+view"
    r"|first\s+line|last\s+line|subplots?|transitions?|style|foreshadow\w*|arcs?"
    r"|motivation|imagery|metaphors?)"
)
_CRAFT_VERDICT = (
    r"(?:too\s+\w+|work|works|working|drags?|dragging|earned|lands?|convinc\w+"
    r"|believable|plausible|strong\w*|weak\w*|clear|clearly|confus\w+|rush\w*|repetit\w+"
    r"|distinct\w*|natural|wooden|flat|effective\w*|improv\w+|better|cut|tight\w*|hold"
    r"|holds\s+up|stand\s+out|slow\w*|sags?|abrupt\w*|predictable|heavy-handed|any\s+good"
    r"|well\s+(?:written|placed|paced)|needed|necessary|enough|alike|believe)"
)
JUDGEMENT_PATTERN = re.compile(
    r"\bpac(?:ing|ed)\b|\b(?:in)?consisten\w+|\bout\s+of\s+character\b"
    rf"|\b{_CRAFT_TOPIC}\b[^?.!]{{0,60}}\b{_CRAFT_VERDICT}\b"
    rf"|\b{_CRAFT_VERDICT}\b[^?.!]{{0,40}}\b{_CRAFT_TOPIC}\b"
    r"|\bshould\s+i\s+(?:cut|move|split|merge|rewrite|drop|add|shorten|change|keep)\b"
    r"|\b(?:info-?dump\w*|over-?writ\w+|melodramatic|heavy-handed)\b"
    r"|\b(?:ring|rings)\s+true\b|\bsound\s+(?:alike|the\s+same|natural)\b"
    r"|\bin\s+your\s+(?:opinion|view)\b|\bwhat\s+do\s+you\s+think\b"
    r"|\b(?:would|will|can)\s+(?:a|the)\s+readers?\b|\b(?:read|reads)\s+(?:well|badly)\b"
)
"""Asks for an opinion on the craft, pacing, voice or consistency of this story."""

ALLUSION_PATTERN = re.compile(
    r"(?:\b(?:like|as)\s+(?:in|with)|^(?:is|are|was|were|isn['’]t|aren['’]t)\b[^?.!]{0,80}"
    r"\blike|\bresembl\w+|\b(?:reminds?|reminiscent|reminding)\s+(?:\w+\s+)?"
    r"of|\b(?:compared?|similar|allu(?:des?|sions?)|nod|homage|ref(?:ers?|erences?))"
    r"\s+(?:to|with)|\b(?:borrowed|taken|quot(?:ed|ation))\s+from|\b(?:based|modelled"
    r"|modeled|riff(?:ing)?)\s+on|\binspired\s+by|\bversion\s+of|\bretelling\s+of)"
    r"\s+(?:the\s+|a\s+|an\s+)?[\"“‘']?STRANGER\b"
)
"""Compares the story with a work or person outside of it."""

SPEECH_PATTERN = re.compile(
    r"\b(?:say|says|said|saying|tell|tells|told|telling|talk|talks|talked|talking"
    r"|speak|speaks|spoke|spoken|ask|asks|asked|answer|answers|answered|reply|replies"
    r"|replied|promise|promises|promised|explain|explains|explained|words)\b"
)

QUESTION_CUES: tuple[QuestionCue, ...] = (
    QuestionCue(
        re.compile(
            r"\brecap\w*|\bsummar(?:y|ies|i[sz]e\w*)\b|\bso\s+far\b|\bcatch\s+me\s+up\b"
            r"|\bwhere\s+did\s+(?:i|we)\s+(?:leave|stop)\b|\bsynopsis\b"
        ),
        AnswerSource.MANUSCRIPT,
        SourceIntention.RECAP,
        PLAIN_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\bcompar(?:e|es|ed|ing|ison)\b|\bcontrast\w*|\bdiffer\w*|\bversus\b"
            r"|\bvs\b|\b(?:in)?consisten\w+|\bcontradict\w*"
        ),
        AnswerSource.MANUSCRIPT,
        SourceIntention.COMPARE_PASSAGES,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\b(?:which|what)\s+(?:chapter|scene|passage|page)s?\b|^find\b|\bquote\b"
            r"|\bpassages?\b|\b(?:first|last)\s+(?:mention|appear|seen?|time)\w*"
            r"|\bwhere\s+(?:does|do|did|is|are|was|were|have|has)\b"
        ),
        AnswerSource.MANUSCRIPT,
        SourceIntention.FIND_PASSAGE,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            rf"\bwho\s+(?:is|was|are|were)\s+(?:the\s+)?{_PERSON}"
            rf"|\bwho['’]s\s+{_PERSON}|\bwho\s+{_PERSON}\s+(?:is|was|are|were)\b"
            rf"|^\W*{_PERSON}\W*$"
        ),
        AnswerSource.PROFILES,
        SourceIntention.TRAITS,
        PLAIN_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            rf"\bwho\s+(?:is|was|are|were)\s+(?:the\s+)?{_PERSON}"
            rf"|\bwho['’]s\s+{_PERSON}|\bwho\s+{_PERSON}\s+(?:is|was|are|were)\b"
            rf"|^\W*{_PERSON}\W*$"
        ),
        AnswerSource.MANUSCRIPT,
        SourceIntention.FIND_PASSAGE,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\b(?:occupation|profession|job|trade|for\s+a\s+living|nationality|birthday"
            r"|born|complexion|beard)\b|\b(?:is|was|are|were)\b[^?.!]{0,40}\b(?:dead|alive)\b"
        ),
        AnswerSource.PROFILES,
        SourceIntention.TRAITS,
        LIKELY_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(
            r"\btraits?\b|\bpersonalit\w+|\bcharacter\s+of\b|\bdescri(?:be|ption)\w*"
            r"|\blooks?\s+like\b|\bappearance\b|\bwhat\b[^?.!]{0,80}\blike$|\bold\b|\bage\b"
            r"|\b(?:eyes?|hair|height|tall|wears?|wearing)\b|\bkind\s+of\s+(?:person"
            r"|man|woman|girl|boy)\b|\bstrengths?\b|\bflaws?\b|\bweakness\w*"
        ),
        AnswerSource.PROFILES,
        SourceIntention.TRAITS,
        LIKELY_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(
            r"\bvalues?\b|\bvalued\b|\bbeliefs?\b|\bbeliev\w+|\bcares?\s+(?:about|for)"
            r"\b|\bwants?\b|\bmotiv\w+|\bprinciples?\b|\bmatters?\s+to\b|\bstands?\s+for"
            r"\b|\bfears?\b|\bafraid\b|\bhopes?\b|\bdreams?\s+of\b"
        ),
        AnswerSource.PROFILES,
        SourceIntention.VALUES,
        LIKELY_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(
            r"\bhabits?\b|\busually\b|\balways\b|\btends?\b|\breact\w*|\bbehav\w+"
            r"|\bacts?\b|\bwould\b|\bbreaks?\b|\bobeys?\b|\brefus\w+|\bkeeps?\s+to\b"
        ),
        AnswerSource.PROFILES,
        SourceIntention.BEHAVIOR,
        LIKELY_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(
            r"\brelat(?:ed|ion\w*|ives?)\b|\bbetween\b|\bfriend\w*|\benem(?:y|ies)\b"
            r"|\brivals?\b|\ball(?:y|ies)\b|\b(?:sister|brother|mother|father|aunt"
            r"|uncle|cousin|daughter|son|wife|husband|parent|sibling|famil)(?:s|y|ies)?"
            r"\b|\bmarri\w+|\bloves?\b|\bhates?\b|\btrusts?\b|\bget(?:s)?\s+along\b"
            r"|\bfeels?\s+(?:about|towards?)\b|\bknows?\s+each\s+other\b"
            r"|\bstands?\s+(?:to|towards?|with)\b|\bget(?:s|ting)?\s+on\s+with\b"
            r"|\b(?:think|thinks|thought|make|makes)\s+of\s+(?:PERSON|each\s+other"
            r"|one\s+another)|\b(?:dis)?likes?\s+PERSON|\bthe\s+two\s+of\s+them\b"
        ),
        AnswerSource.PROFILES,
        SourceIntention.RELATIONSHIPS,
        LIKELY_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(
            rf"\bhow\s+(?:does|do|did)\s+{_PERSON}\s+(?:\w+ly\s+)?(?:talk|speak|sound"
            r"|express)|\bvoice\b|\baccent\b|\bdialect\b|\bcatch-?phrases?\b"
            r"|\b(?:way|manner)\s+of\s+(?:talking|speaking|speech)\b"
            r"|\bspeech\s+patterns?\b|\bverbal\s+tics?\b"
        ),
        AnswerSource.PROFILES,
        SourceIntention.VOICE,
        PLAIN_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(
            r"\barcs?\b|\bchang(?:e|es|ed|ing)\b|\bgr[eo]ws?\b|\bgrowth\b|\bgrown\b"
            r"|\bdevelop\w*|\bbec[ao]mes?\b|\btransform\w*|\bevol\w+"
        ),
        AnswerSource.PROFILES,
        SourceIntention.ARC,
        LIKELY_CUE_CONFIDENCE,
        person=True,
    ),
    QuestionCue(
        re.compile(r"\bsettings?\b|\b(?:what|which)\s+places?\b|\bgeograph\w+"),
        AnswerSource.WORLD,
        SourceIntention.SETTING,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(r"\btechnolog\w+|\b(?:what|which)\s+(?:machine|device)s?\b"),
        AnswerSource.WORLD,
        SourceIntention.TECHNOLOGY,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(r"\bfactions?\b|\bguilds?\b|\bclans?\b"),
        AnswerSource.WORLD,
        SourceIntention.FACTION,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(r"\bart[ei]facts?\b|\brelics?\b"),
        AnswerSource.WORLD,
        SourceIntention.ARTIFACT,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\b(?:rules?|laws?)\s+of\s+(?:the|this|my|that)\s+world\b"
            r"|\bmagic\s+systems?\b|\bhow\s+(?:does|do)\s+(?:the\s+)?magic\b"
        ),
        AnswerSource.WORLD,
        SourceIntention.RULE,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\bwhat\s+(?:happen(?:s|ed)|has\s+happened|had\s+happened|went\s+on)\b"
            r"|\bevents?\b|\btimeline\b|\bwhat\s+(?:does|do|did)\s+(?:\w+\s+){1,2}do\b"
        ),
        AnswerSource.TIMELINE,
        SourceIntention.WHAT_HAPPENED,
        PLAIN_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"^\W*when\b|[,;.?!]\s*when\s+(?:did|does|do|is|was|were|will|had|has)\b"
            r"|\b(?:and|or|know|since)\s+when\b|\bhow\s+long\s+ago\b"
            r"|\b(?:what|which)\s+(?:day|year|month|time|date|season)\b"
        ),
        AnswerSource.TIMELINE,
        SourceIntention.WHEN,
        PLAIN_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(r"\S\s+when(?:ever)?\b"),
        AnswerSource.TIMELINE,
        SourceIntention.WHAT_HAPPENED,
        FALLBACK_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\bbefore\b|(?<!\blook )(?<!\blooks )(?<!\blooked )(?<!\blooking )"
            r"(?<!\bnamed )(?<!\btakes )(?<!\btake )(?<!\btook )\bafter\b(?!\s+all\b)"
            r"|\b(?:earlier|later)\s+than\b|\b(?:which|what)\s+comes\s+first\b"
        ),
        AnswerSource.TIMELINE,
        SourceIntention.BEFORE_AFTER,
        LIKELY_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\bwho\s+(?:is|was|are|were|else\s+(?:is|was))\s+(?:all\s+)?(?:there"
            r"|present|with|at|in|on|around)\b|\bwho\s+(?:saw|sees)\b"
            r"|\bwitness\w*\b(?!\s+(?:it|(?:the|a|his|her)\s+(?:\w+\s+)?(?:will|deed))\b)"
        ),
        AnswerSource.TIMELINE,
        SourceIntention.WHO_WAS_THERE,
        PLAIN_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\b(?:why|what)\s+did\s+i\b|\bdid\s+i\s+(?:mean|intend|plan|decide|want)\b"
            r"|\b(?:my|our)\s+(?:\w+\s+)?(?:notes?|intentions?|plans?|outline|ideas?)\b"
            r"|\bauthor(?:ial|['’]s)?\s+inten\w+"
        ),
        AnswerSource.NOTES,
        SourceIntention.AUTHOR_INTENT,
        PLAIN_CUE_CONFIDENCE,
    ),
    QuestionCue(
        re.compile(
            r"\bopen\s+questions?\b|\bto-?dos?\b|\bloose\s+ends?\b|\bundecided\b"
            r"|\bunresolved\b|\bstill\s+(?:have\s+to|need\s+to|must)\s+(?:decide|write"
            r"|fix|settle)\b"
        ),
        AnswerSource.NOTES,
        SourceIntention.OPEN_QUESTION,
        PLAIN_CUE_CONFIDENCE,
    ),
)  # fmt: skip
"""All cues. Choices of equal confidence are used in this order; several may apply."""
