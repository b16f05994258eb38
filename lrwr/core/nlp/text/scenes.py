"""Through whose eyes a scene is told."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import log

from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    Certainty,
    ContentType,
    Fact,
    FactAbout,
    PassageField,
)
from lrwr.core.model.text import STOP_WORDS, LazyPattern, Span
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    find_matches_at,
    find_sentence_subject,
    has_place_preposition,
    infer_title_possessive,
    may_be_person,
    to_text_span,
)
from lrwr.core.nlp.facts.events import EVENT_VERBS
from lrwr.core.nlp.text.prose import MASK_CHARACTER, AnnotatedProse, ProseSentence

_INNER_TEXT = (
    "felt thought wondered knew realised realized remembered supposed understood "
    "wished hoped feared believed considered guessed recognised recognized "
    "imagined recalled noticed heard saw sensed suspected forgot recollected "
    "reflected concluded decided regretted longed dreaded doubted watched "
    "listened wanted"
)
_INNER = _INNER_TEXT.split()
_THINKING_TEXT = (
    "feel think wonder know realise remember suppose wish hope fear believe"
)
MENTAL_VERBS = frozenset(_INNER) | frozenset(_THINKING_TEXT.split())
"""Verbs of what goes on in one mind."""
_BETWEEN = (
    r"(?:had |did not |could |could not |couldn't |didn't |never |had not |"
    r"\w+ly |only |still |now |suddenly |had never |had always |always )*"
)
_VERBS = "|".join([*_INNER, "feel", "think", "know", "see", "hear", "remember"])
_NAMED = LazyPattern(rf"(?P<who>{NAME_PATTERN}) {_BETWEEN}(?:{_VERBS})\b")
_PRONOUN = re.compile(
    rf"\b(?P<who>[Ss]he|[Hh]e) {_BETWEEN}(?:{_VERBS})\b"
    rf"|\b[Ii]t (?:seemed|occurred|appeared|came|struck) (?:to )?(?P<whom>{NAME_PATTERN}|her|him)\b"
)
_FIRST = re.compile(r"(?<![\w'])(?:I|my|me|myself)(?![\w-])")
_TRIGGERS = MENTAL_VERBS | frozenset({"seemed", "occurred", "appeared", "see", "hear"})
_SHOWN = 3
_LEAST_FIRST, _LEAST_SHARE, _SURE_SHARE = 4, 0.01, 0.02
_LEAST_NAMED, _LEAST_ALL, _MOST = 1, 4, 0.6


@dataclass(slots=True)
class _InnerLifeCounts:
    """Whose inner life was told how often, and where."""

    all: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    spans: dict[str, list[Span]] = field(default_factory=dict)

    def add(self, name: str, span: Span, *, is_named: bool) -> None:
        self.all[name] += 1
        self.named[name] += is_named
        self.spans.setdefault(name, []).append(span)


def infer_point_of_view(
    prose: AnnotatedProse, scene: Span, *, pov: str = "", narrator: str = ""
) -> Fact | None:
    """Return who tells or sees a scene, or nothing when it is not clear.

    `pov` is what the writer says it is; it is taken over as confirmed. The narrator of
    a scene told by "I" is `narrator`, and without a name the value is empty; the
    detail `person` says "first" or "third".
    """
    if pov:
        return Fact(
            FactAbout.SCENE,
            "",
            "pov",
            pov,
            (scene,),
            WRITER_KEEPER,
            Certainty.CONFIRMED,
        )
    inside = [s for s in prose.sentences if scene.holds(s.span)]
    pronoun_spans, share = _first_person(inside)
    if len(pronoun_spans) >= _LEAST_FIRST and share >= _LEAST_SHARE:
        sure = Certainty.VERIFIED if share >= _SURE_SHARE else Certainty.PROBABLE
        return _fact(narrator, pronoun_spans[:_SHOWN], "first", sure)
    return _third_person(prose, inside)


def _first_person(sentences: Sequence[ProseSentence]) -> tuple[list[Span], float]:
    """Return where the narrator says "I", and how many of the told words that is."""
    spans: list[Span] = []
    words = 0
    for sentence in sentences:
        words += sentence.told.replace(MASK_CHARACTER, "").count(" ") + 1
        matches = _FIRST.finditer(sentence.told)
        spans.extend(to_text_span(sentence, *match.span()) for match in matches)
    return spans, len(spans) / max(1, words)


def _third_person(
    prose: AnnotatedProse, sentences: Sequence[ProseSentence]
) -> Fact | None:
    minds = _InnerLifeCounts()
    last = {"her": "", "his": "", "": ""}
    for sentence in sentences:
        subject = find_sentence_subject(prose, sentence.told)
        if not sentence.words.isdisjoint(_TRIGGERS):
            _read_minds(prose, sentence, last, minds)
        if subject and may_be_person(subject, prose):
            last |= dict.fromkeys(_genders(subject), subject)
    if not minds.all:
        return None
    (name, count), *_ = minds.all.most_common(1)
    clear = count >= _LEAST_ALL and count >= _MOST * sum(minds.all.values())
    if not name or not clear or minds.named[name] < _LEAST_NAMED:
        return None
    return _fact(name, minds.spans[name][:_SHOWN], "third", Certainty.PROBABLE)


def _genders(name: str) -> tuple[str, ...]:
    """Return the pronouns that may stand for a name, as its title tells."""
    gender = infer_title_possessive(name)
    return (gender,) if gender else ("her", "his")


def _read_minds(
    prose: AnnotatedProse,
    sentence: ProseSentence,
    last: dict[str, str],
    minds: _InnerLifeCounts,
) -> None:
    name_matches = find_matches_at(_NAMED, sentence.told, sentence.starts)
    for match in chain(name_matches, _PRONOUN.finditer(sentence.told)):
        word = match["who"] or match["whom"]
        gender = {"she": "her", "he": "his", "her": "her", "him": "his"}.get(
            word.lower()
        )
        name = last[gender] if gender else clean_name(word, prose)
        if gender or (name and not has_place_preposition(sentence.told, match.start())):
            minds.add(name, to_text_span(sentence, *match.span()), is_named=not gender)


def _fact(name: str, spans: Sequence[Span], person: str, certainty: Certainty) -> Fact:
    details = (("person", person),)
    return Fact(
        FactAbout.SCENE, "", "pov", name, tuple(spans), RULES_KEEPER, certainty, details
    )


_NAME = re.compile(r"(?<![\w'])[A-ZÀ-ÖØ-Þ]\w+")
_SHORTEST, _LONGEST = 6, 45
_PER_KEY_SENTENCE = 12
_RECAPS_MOST = 3


def select_key_sentences(prose: AnnotatedProse, scene: Span) -> Fact | None:
    """Return the one to three sentences that say most of a scene, as spans in order.

    They are the narrator's, name people, hold words that the scene comes back to, and
    tell of deeds; the first and the last sentences count for a little more.
    """
    inside = [s for s in prose.sentences if scene.holds(s.span)]
    able = [(at, s) for at, s in enumerate(inside) if _may_stand(s)]
    if not able:
        return None
    weights = _weights(inside)
    edges = {0, 1, len(inside) - 2, len(inside) - 1}
    scores = [(-_score(s, at in edges, weights, prose), at) for at, s in able]
    count = min(_RECAPS_MOST, 1 + len(inside) // _PER_KEY_SENTENCE)
    spans = [inside[at].span for at in sorted(at for _, at in sorted(scores)[:count])]
    return Fact(
        FactAbout.SCENE, "", "recap", "", tuple(spans), RULES_KEEPER, Certainty.PROBABLE
    )


def _may_stand(sentence: ProseSentence) -> bool:
    is_narration = sentence.told.count(MASK_CHARACTER) == 0
    return is_narration and _SHORTEST <= sentence.told.count(" ") + 1 <= _LONGEST


def _weights(sentences: list[ProseSentence]) -> dict[str, float]:
    """Return what each word is worth: it comes back, yet not in every sentence."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.words - STOP_WORDS)
    total = len(sentences)
    return {w: log(1 + n) * log(1 + total / n) for w, n in counts.items() if n > 1}


def _score(
    sentence: ProseSentence,
    at_edge: bool,
    weights: dict[str, float],
    prose: AnnotatedProse,
) -> float:
    words = sentence.words - STOP_WORDS
    theme = sum(weights.get(word, 0.0) for word in words) / (4 + len(words))
    name_count = len({w for w in _NAME.findall(sentence.told) if w in prose.names})
    deeds = len(words & EVENT_VERBS)
    return theme + 0.6 * min(name_count, 3) + 0.5 * min(deeds, 2) + 0.5 * at_edge


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
    return [_passage_types_fact(content, Span(0, len(prose.text)))]


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


def _passage_types_fact(content: ContentType, span: Span) -> Fact:
    return Fact(
        FactAbout.PASSAGE,
        "",
        PassageField.CONTENT_TYPE,
        content,
        (span,),
        RULES_KEEPER,
        Certainty.PROBABLE,
    )
