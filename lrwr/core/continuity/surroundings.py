"""The words around a statement: whole sentences, and whether they take it back."""

import re

from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.claims import is_asserted

_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?][”’\"')*_]*\s")
_HEARSAY = re.compile(
    r"\b(?:they say|people sa(?:y|id)|it (?:is|was) said|so they said|rumou?r\w*|"
    r"supposed|believed|suppos\w+|according to|would|might|could|as if|as though|if|"
    r"legend|gossip\w*|story went|stories|lie|lied|lying|wrong\w*|(?<!no )mistak\w+|"
    r"false\w*|forge[dr]\w*|fake[ds]?|counterfeit\w*|"
    r"(?:sa(?:ys?|id)|stat(?:es?|ed)|wr(?:ites?|ote|itten)|tells?|told|reports?|reported|"
    r"announc\w+|maintain\w*|alleg\w+|testif\w+|swears?)(?: [\w’']+){0,4} that|"
    r"so (?:the )?\w+(?: \w+)? (?:sa(?:ys?|id)|told|wrote))\b",
    re.I,
)
_NOT_THERE = re.compile(
    r"\b(?:dream\w*|nightmare\w*|vision|portrait|pictured?|painting|photograph\w*|"
    r"miniature|disguise\w*|mask\w*|wig|on (?:the )?stage|actor|actress|"
    r"play(?:ed|ing)? the part|legend|imagin\w+|pretend\w*|delirium|delirious|statue|"
    r"doll|ghost|(?:in|for|on|to) (?:\w+(?:['’]s)? ){1,3}?(?:story|tale|play|novel|poem|"
    r"ballad|song|film|drama|charade|tableau|masquerade|masque|pantomime|fiction)s?)\b",
    re.I,
)
_CHANGES = re.compile(
    r"\b(?:once|formerly|used to|had been|had had|no longer|any ?more|"
    r"in (?:his|her|their) (?:youth|childhood|boyhood|girlhood)|as an? (?:child|boy|girl|"
    r"lad|young \w+|baby|youth)|years? (?:ago|before|earlier|since|later|after)|long ago|"
    r"(?:turn|grow|go|becom)(?:s|ed|n|ne|e|es|ing)? (?:\w+ ){0,2}(?:gr[ea]y|white|silver|black|dark\w*|brown|blonde?|fair\w*|red|green|blue|bald)\b|"
    r"(?:grew|went|became) (?:\w+ ){0,2}(?:gr[ea]y|white|silver|black|dark\w*|brown|blonde?|fair\w*|red|green|blue|bald)\b|"
    r"dye[ds]?|dyeing|bleach\w*|stain\w*|painted|tint\w*|powder\w*|fad(?:ed|ing)|"
    r"grey(?:ing|ed)|gray(?:ing|ed)|whiten\w*|darken\w*|lighten\w*|chang\w+|now|"
    r"these days|nowadays|by then|new)\b",
    re.I,
)
_WHEN = re.compile(
    r"\b(?:when|since|until|till|after|by the time|at th(?:at|is) time|remember\w*|"
    r"recall\w*|then|from the age|in \d{4}|as long as|before|ever since|while)\b",
    re.I,
)
_PLACED = re.compile(r"\W*(?:(?:And|But|Then),? )?(?:at|in|on|during|for|by)\b", re.I)
_APOSTROPHES = re.compile(r"(?:^|(?<=[\s—]))['‘](?=[A-Z])(?:[^'’]|(?<=\w)['’](?=\w))*$")
"""A quotation in single marks that is open where the text ends."""

_YEARS_PASS = re.compile(
    r"\b(?:years?|decades?) (?:later|after(?:wards)?|(?:had |have )?(?:passed|gone|went|"
    r"rolled|flew|elapsed|slipped))|\b(?:after|for|in) \w+ (?:long )?years\b|"
    r"\byears (?:and years|on)\b",
    re.I,
)


def find_enclosing_sentence(text: str, span: Span) -> Span:
    """Return the whole sentence or sentences that `span` stands in."""
    paragraph = find_enclosing_paragraph(text, span)
    start, end = paragraph.start, paragraph.end
    for stop in _END.finditer(text, paragraph.start, paragraph.end):
        if stop.end() <= span.start:
            start = stop.end()
        elif stop.end() > span.end:
            end = stop.end()
            break
    while end > span.end and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def find_enclosing_paragraph(text: str, span: Span) -> Span:
    """Return the paragraph that `span` stands in, up to empty lines."""
    start = text.rfind("\n\n", 0, span.start)
    end = text.find("\n\n", span.end)
    return Span(0 if start < 0 else start + 2, len(text) if end < 0 else end)


def is_asserted_in_context(text: str, span: Span) -> bool:
    """Say whether the words around `span` assert it: no doubt, dream, picture, hearsay.

    Nor may they stand in italics, as thoughts and letters do, or in any quotation
    marks, be they of another kind than the book's.
    """
    sentence, paragraph = (
        find_enclosing_sentence(text, span),
        find_enclosing_paragraph(text, span),
    )
    before = re.sub(r"\blike th(?:at|is)\b", "", text[sentence.start : span.start])
    if not is_asserted(before) or _HEARSAY.search(text, sentence.start, sentence.end):
        return False
    if _NOT_THERE.search(text, paragraph.start, paragraph.end):
        return False
    led = text[paragraph.start : span.start]
    inside = led.count("“") > led.count("”") or led.count('"') % 2
    inside = inside or bool(_APOSTROPHES.search(led))
    return not inside and led.count("*") % 2 == 0 and led.count("_") % 2 == 0


def mentions_change(text: str, span: Span) -> bool:
    """Say whether the sentence speaks of another time, or of something that changed."""
    sentence = find_enclosing_sentence(text, span)
    return bool(_CHANGES.search(text, sentence.start, sentence.end))


def mentions_past_age(text: str, span: Span) -> bool:
    """Say whether the sentence tells how old somebody was at some other time.

    It does where a time or a place stands in front ("In the year of the flood …").
    """
    sentence = find_enclosing_sentence(text, span)
    if _PLACED.match(text, sentence.start, span.start):
        return True
    return bool(_WHEN.search(text, sentence.start, sentence.end))


def may_skip_years(text: str) -> bool:
    """Say whether a text may leap over years."""
    return bool(_YEARS_PASS.search(text))
