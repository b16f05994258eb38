"""When and where a scene happens, from the words with which its text opens."""

import re

from lrwr.core.model.text import LazyPattern, Span

_OPENING = 700
"""Characters of a scene in which its time and place are looked for."""
_NUMBER = (
    r"(?i:a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|some|"
    r"several|many|a few|the next|the same|the following|\d+)"
)
_DAY = r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December)"
)
_PART = r"(?:morning|afternoon|evening|night|day|week|month|year)"
_TIME = LazyPattern(
    rf"\b(?:(?:[Oo]n |[Ee]arly on |[Ll]ate on |[Bb]y )?[Tt]he (?:next|following|same|very next|\w+th|second|third|first) {_PART}"
    rf"|(?:[Oo]n )?(?:[Tt]hat|[Tt]his|[Tt]he same|[Ll]ate that|[Ee]arly that) (?:same |very )?{_PART}"
    rf"|[Nn]ext {_PART}|[Oo]ne (?:\w+ )?{_PART}"
    rf"|{_NUMBER} (?:\w+ )?(?:hours|hour|days|day|weeks|week|months|month|years|year) (?:later|after|afterwards|before|ago|earlier)"
    rf"|[Aa]fter {_NUMBER} (?:hours|days|weeks|months|years)"
    rf"|(?:[Oo]n |[Nn]ext |[Ll]ast )(?:the following )?{_DAY}(?: (?:morning|evening|afternoon|night))?"
    rf"|(?:[Oo]n the \w+ of |[Ii]n |[Ee]arly in |[Ll]ate in )(?:the (?:spring|summer|autumn|winter)|{_MONTH})"
    r"|[Aa]t (?:midnight|noon|dawn|dusk|sunset|sunrise|daybreak|nightfall|\w+ o.?clock|half[- ]past \w+)"
    r"|[Tt]omorrow|[Yy]esterday|[Ll]ast night|[Tt]o-?night|[Aa]fter (?:breakfast|dinner|supper|tea|lunch))\b"
)
_PLACE = LazyPattern(
    r"\b(?:in|at|to|into|reached|near|inside|outside) (?P<place>(?:the )?(?:[A-Z][\w'’-]+ )*"
    r"(?:Street|Road|Lane|Square|Park|Hall|Court|Place|Bridge|Church|Abbey|Castle|"
    r"Tower|House|Cottage|Inn|Hotel|Farm|Manor|Hill|Station|Harbour|Island)"
    r"|the (?:[a-z-]+ )?(?:drawing-room|dining-room|sitting-room|kitchen|parlour|library|"
    r"garden|church|churchyard|inn|street|bedroom|study|attic|cellar|hall|harbour|"
    r"station|school|shop|office|theatre|hospital|prison|ship|deck|forest|tower|"
    r"lighthouse|workhouse|studio|stable|barn|cottage))\b"
)
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]?")


def find_time_phrase(text: str, scene: Span) -> str:
    """Return the first phrase of time in the opening narration of `scene`, on one line,
    such as "the next morning"; "" without one.
    """
    match = _TIME.search(_opening(text, scene))
    return match.group() if match else ""


def find_scene_place(text: str, scene: Span) -> str:
    """Return the first place in the opening narration of `scene`, such as "the kitchen"
    or "Gull Street"; "" without one.
    """
    match = _PLACE.search(_opening(text, scene))
    return match["place"] if match else ""


def _opening(text: str, scene: Span) -> str:
    end = min(scene.end, scene.start + _OPENING)
    return " ".join(_QUOTED.sub("", text[scene.start : end]).split())
