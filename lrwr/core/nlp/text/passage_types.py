"""What a passage is made of, where the words show it."""

import re

from lrwr.core.model.facts import (
    RULES_KEEPER,
    Certainty,
    ContentType,
    Fact,
    FactAbout,
    PassageField,
)
from lrwr.core.model.text import Span
from lrwr.core.nlp.facts.events import EVENT_VERBS
from lrwr.core.nlp.text.prose import MASK_CHARACTER, AnnotatedProse
from lrwr.core.nlp.text.scenes import MENTAL_VERBS

_WORD = re.compile(r"\w+(?:'\w+)?")
_STATIC_TEXT = (
    "was were is are had has stood lay hung ran stretched rose seemed looked "
    "appeared consisted contained belonged covered surrounded led faced "
    "overlooked sloped bore wore sat there"
)
_STATIC = frozenset(_STATIC_TEXT.split())
_SENSED_TEXT = (
    "white black grey gray green blue red brown yellow golden bright pale broad "
    "narrow wide tall square thick thin smooth rough wooden stone iron brick glass "
    "silver wall walls window windows door doors roof floor ceiling chimney chimneys "
    "garden trees tree leaves grass hill hills river sea sky sun moon light shadow "
    "shadows road street table chair chairs corner above below beneath beyond hair "
    "coat hat beard tower bridge field fields lawn curtains carpet shutters steps"
)
_SENSED = frozenset(_SENSED_TEXT.split())
_MOVES_TEXT = (
    "ran rushed hurried seized grabbed snatched caught struck hit slapped shot stabbed "
    "fell slipped stumbled tripped collapsed climbed crept jumped leapt leaped sprang "
    "pulled pushed dragged lifted threw flung dropped swung opened shut closed slammed "
    "broke smashed tore burst turned knelt stooped bent picked kicked grasped clutched "
    "fled chased fought wrestled poured lit burned untied tied rang knocked swam dived "
    "drew stepped raised lowered shook reached flew dashed plunged hauled heaved buckled "
    "twisted bolted gripped crawled scrambled staggered hurled stopped crossed put took"
)
_MOVES = frozenset(_MOVES_TEXT.split())
_THINKS = re.compile(
    r"\b(?:I|[Hh]e|[Ss]he|[A-Z]\w+) (?:(?:had|did|could|not|never|\w+ly|only|still|"
    rf"now|always|couldn't|didn't) )*(?:{'|'.join(sorted(MENTAL_VERBS))})\b"
)
_SPEAKS = re.compile(r"\bI\b")
_MUSES = re.compile(r"[?]|!(?![\w])|\b(?:perhaps|surely|what if|if only)\b", re.I)
_DIALOGUE = 0.55
_QUIET = 0.12
_LEAST_WORDS = 40


def classify_passage(prose: AnnotatedProse, *, in_speech: bool = False) -> list[Fact]:
    """Return what a passage is made of, where it is clear.

    `in_speech` says that it begins within somebody's words: then nothing is certain
    of it but that it is dialogue.
    """
    content = _content_type(prose)
    if not content or (in_speech and content is not ContentType.DIALOGUE):
        return []
    return [_fact(content, Span(0, len(prose.text)))]


def _content_type(prose: AnnotatedProse) -> ContentType | None:
    narration = " ".join(s.told.replace(MASK_CHARACTER, " ") for s in prose.sentences)
    words = [word.lower() for word in _WORD.findall(narration)]
    spoken_words = sum(
        len(_WORD.findall(prose.text, q.start, q.end)) for q in prose.quoted
    )
    total = len(words) + spoken_words
    if total and spoken_words / total >= _DIALOGUE:
        return ContentType.DIALOGUE
    if total < _LEAST_WORDS or spoken_words / total > _QUIET:
        return None
    return _of_narration(words, narration)


def _of_narration(words: list[str], narration: str) -> ContentType | None:
    """Tell narration apart by what stands out in it: thoughts, things, or deeds."""
    total = len(words)
    thoughts = len(_THINKS.findall(narration))
    muses = len(_MUSES.findall(narration))
    musing = (thoughts + muses) / total
    deeds = sum(word in EVENT_VERBS for word in words) / total
    moves = sum(word in _MOVES for word in words) / total
    sensed = sum(word in _SENSED for word in words) / total
    static = sum(word in _STATIC for word in words) / total
    # Where "I" speaks, thoughts cannot be told from a letter or a cut-off speech.
    ponders = (
        not _SPEAKS.search(narration)
        and thoughts >= 2
        and muses >= 1
        and musing >= 0.025
    )
    if ponders and deeds <= musing and sensed < 0.03:
        return ContentType.INTERNAL_MONOLOGUE
    if sensed >= 0.06 and static >= 0.03 and deeds <= 0.015 and not thoughts:
        return ContentType.DESCRIPTION
    if moves >= 0.035 and musing <= 0.01 and moves > static / 2:
        return ContentType.ACTION_REACTION
    return None


def _fact(content: ContentType, span: Span) -> Fact:
    return Fact(
        FactAbout.PASSAGE,
        "",
        PassageField.CONTENT_TYPE,
        content,
        (span,),
        RULES_KEEPER,
        Certainty.PROBABLE,
    )
