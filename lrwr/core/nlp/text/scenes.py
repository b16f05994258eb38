"""Scene analysis: point of view, key sentences, and the type of a passage."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import log

from lrwr.core.model.facts import (
    RULES_KEEPER,
    Certainty,
    ContentType,
    Fact,
    FactAbout,
    LifeEventKind,
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
from lrwr.core.nlp.facts.participants import EVENT_VERBS
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
"""Verbs of thought and perception: only the point-of-view character's are told."""
# Auxiliaries and adverbs between the subject and the verb
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
"""Number of spans stored as evidence."""
_LEAST_FIRST, _LEAST_SHARE, _SURE_SHARE = 4, 0.01, 0.02
"""First person: minimum count of "I", minimum share of the words, share to be certain."""
_LEAST_NAMED, _LEAST_ALL, _MOST = 1, 4, 0.6
"""Third person: minimum thoughts with the name, of all, and share of all thoughts."""


@dataclass(slots=True)
class _InnerLifeCounts:
    """How often the narration describes the thoughts of each character, and where."""

    all: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    spans: dict[str, list[Span]] = field(default_factory=dict)

    def add(self, name: str, span: Span, *, is_named: bool) -> None:
        self.all[name] += 1
        self.named[name] += is_named
        self.spans.setdefault(name, []).append(span)


def infer_point_of_view(prose: AnnotatedProse, scene: Span) -> Fact | None:
    """Return a fact that states whose point of view the scene at the span `scene` of
    `prose` has; None if it is unclear.

    In a first-person scene the value is empty. The detail `person` is "first" or
    "third".
    """
    inside = [s for s in prose.sentences if scene.holds(s.span)]
    pronoun_spans, share = _first_person(inside)
    if len(pronoun_spans) >= _LEAST_FIRST and share >= _LEAST_SHARE:
        sure = Certainty.VERIFIED if share >= _SURE_SHARE else Certainty.PROBABLE
        return _point_of_view_fact("", pronoun_spans[:_SHOWN], "first", sure)
    return _third_person(prose, inside)


def _first_person(sentences: Sequence[ProseSentence]) -> tuple[list[Span], float]:
    """Return the spans of "I" in narration, and their share of the narration's words."""
    spans: list[Span] = []
    words = 0
    for sentence in sentences:
        words += sentence.narration.replace(MASK_CHARACTER, "").count(" ") + 1
        matches = _FIRST.finditer(sentence.narration)
        spans.extend(to_text_span(sentence, *match.span()) for match in matches)
    return spans, len(spans) / max(1, words)


def _third_person(
    prose: AnnotatedProse, sentences: Sequence[ProseSentence]
) -> Fact | None:
    minds = _InnerLifeCounts()
    last = {"her": "", "his": "", "": ""}
    for sentence in sentences:
        subject = find_sentence_subject(prose, sentence.narration)
        if not sentence.words.isdisjoint(_TRIGGERS):
            _count_minds(prose, sentence, last, minds)
        if subject and may_be_person(subject, prose):
            last |= dict.fromkeys(_genders(subject), subject)
    if not minds.all:
        return None
    (name, count), *_ = minds.all.most_common(1)
    clear = count >= _LEAST_ALL and count >= _MOST * sum(minds.all.values())
    if not name or not clear or minds.named[name] < _LEAST_NAMED:
        return None
    return _point_of_view_fact(
        name, minds.spans[name][:_SHOWN], "third", Certainty.PROBABLE
    )


def _genders(name: str) -> tuple[str, ...]:
    """Return the possessive pronouns that may refer to a name, according to its title."""
    gender = infer_title_possessive(name)
    return (gender,) if gender else ("her", "his")


def _count_minds(
    prose: AnnotatedProse,
    sentence: ProseSentence,
    last: dict[str, str],
    minds: _InnerLifeCounts,
) -> None:
    name_matches = find_matches_at(_NAMED, sentence.narration, sentence.starts)
    for match in chain(name_matches, _PRONOUN.finditer(sentence.narration)):
        word = match["who"] or match["whom"]
        gender = {"she": "her", "he": "his", "her": "her", "him": "his"}.get(
            word.lower()
        )
        name = last[gender] if gender else clean_name(word, prose)
        if gender or (
            name and not has_place_preposition(sentence.narration, match.start())
        ):
            minds.add(name, to_text_span(sentence, *match.span()), is_named=not gender)


def _point_of_view_fact(
    name: str, spans: Sequence[Span], person: str, certainty: Certainty
) -> Fact:
    details = (("person", person),)
    return Fact(
        FactAbout.SCENE, "", "pov", name, tuple(spans), RULES_KEEPER, certainty, details
    )


_NAME = re.compile(r"(?<![\w'])[A-ZÀ-ÖØ-Þ]\w+")
_SHORTEST, _LONGEST = 7, 45
"""Allowed length of a key sentence, in words."""
_PER_KEY_SENTENCE = 12
"""One more key sentence for this many sentences of the scene."""
_MAX_KEY_SENTENCES = 3
"""Maximum number of key sentences of a scene of ordinary length."""
_LONG_SCENE = 80
"""One more key sentence for each time that a scene has so many sentences."""
_MOST_KEY_SENTENCES = 6
_TURNING_POINTS = frozenset(
    {
        LifeEventKind.DIED,
        LifeEventKind.MARRIED,
        LifeEventKind.ENGAGED,
        LifeEventKind.PARTED,
        LifeEventKind.PROPOSED,
        LifeEventKind.REFUSED,
        LifeEventKind.ELOPED,
        LifeEventKind.ACCIDENT,
        LifeEventKind.ARRESTED,
        LifeEventKind.CONFESSED,
        LifeEventKind.WOUNDED,
        LifeEventKind.BORN,
        LifeEventKind.TAKEN,
    }
)
"""Events that a recap always shows, as far as there is room."""
_NOT_DONE = re.compile(
    r"\b(?:would|must|could|might|should|never|not|no|had (?:been|\w+ed)|seemed|perhaps)\b"
)
_ENDS_OPEN = re.compile(r"(?:--|—|[:,;-])[\s\x01]*$")
_SOMEBODY = re.compile(
    r"\b(?:[Hh]e|[Ss]he|[Tt]hey|[Ww]e|I|[a-z,;]+ [A-Z]\w+|[A-Z]\w+ [A-Z]\w+|[A-Z]\w+ [a-z]+ed)\b"
)
_ACTS_IN_PAST = re.compile(
    r"\b(?:[Hh]e|[Ss]he|[Tt]hey|[Ww]e|I|[A-Z]\w+|who|and|then) (?:[a-z]+ly |then |at last )?"
    r"(?:[a-z]{2,}ed|was|were|had|[a-z]*(?:came|went|took|gave|saw|fell|told|left|met|found|"
    r"made|led|ran|rose|sat|stood|began|brought|threw|got|held|heard|spoke|drew|set|wrote))\b"
)


def select_key_sentences(
    prose: AnnotatedProse, scene: Span, events: Sequence[Fact] = ()
) -> Fact | None:
    """Return a fact whose spans are the one to six sentences that best summarise the
    scene at the span `scene` of `prose`, in text order; None without narration.

    Turning points among `events`, the life events of `prose`, come first. Other
    sentences score by words that recur in the scene, names of people, verbs of events,
    and a position at the start or end of the scene; they must say what somebody did.
    """
    inside = [s for s in prose.sentences if scene.holds(s.span)]
    able = [(at, s) for at, s in enumerate(inside) if _is_candidate(s)]
    told = sorted(
        (fact for fact in events if scene.holds(fact.spans[0])), key=_rank_event
    )
    if not able and not told:
        return None
    weights = _weights(inside)
    edges = {0, 1, len(inside) - 2, len(inside) - 1}
    scores = sorted((-_score(s, at in edges, weights, prose), at) for at, s in able)
    count = min(_MAX_KEY_SENTENCES, 1 + len(inside) // _PER_KEY_SENTENCE)
    count = min(_MOST_KEY_SENTENCES, count + len(inside) // _LONG_SCENE)
    spans = {fact.spans[0] for fact in told if _is_turning_point(fact)}
    spans = (
        set(sorted(spans)[:count])
        if len(spans) <= count
        else {fact.spans[0] for fact in told[:count]}
    )
    ranked = [inside[at].span for _, at in scores]
    for fact in told:
        ranked.insert(min(len(ranked), 1), fact.spans[0])
    for span in ranked:
        if len(spans) < count and not any(span.overlaps(other) for other in spans):
            spans.add(span)
    return Fact(
        FactAbout.SCENE,
        "",
        "recap",
        "",
        tuple(sorted(spans)),
        RULES_KEEPER,
        Certainty.PROBABLE,
    )


def _is_turning_point(fact: Fact) -> bool:
    return fact.detail("kind") in _TURNING_POINTS and not fact.detail("earlier")


def _rank_event(fact: Fact) -> tuple[bool, bool, Span]:
    """Return a sort key: turning points of the scene first, those told later."""
    return not _is_turning_point(fact), bool(fact.detail("told")), fact.spans[0]


def _is_candidate(sentence: ProseSentence) -> bool:
    words = sentence.narration
    return (
        words.count(MASK_CHARACTER) == 0
        and _SHORTEST <= words.count(" ") + 1 <= _LONGEST
        and not _ENDS_OPEN.search(words)
        and bool(_ACTS_IN_PAST.search(words))
        and bool(_SOMEBODY.search(words))
    )


def _weights(sentences: list[ProseSentence]) -> dict[str, float]:
    """Return the weight of each word: high if it recurs, but not in every sentence."""
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
    # 4 keeps very short sentences from getting the highest average.
    theme = sum(weights.get(word, 0.0) for word in words) / (4 + len(words))
    name_count = len({w for w in _NAME.findall(sentence.narration) if w in prose.names})
    deeds = len(words & EVENT_VERBS)
    vague = min(2, len(_NOT_DONE.findall(sentence.narration)))
    base = theme + 0.6 * min(name_count, 3) + 0.5 * min(deeds, 2) + 0.5 * at_edge
    return base - 0.4 * vague


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
_FIRST_PERSON_I = re.compile(r"\bI\b")
_MUSES = re.compile(r"[?]|!(?![\w])|\b(?:perhaps|surely|what if|if only)\b", re.I)
_DIALOGUE = 0.55
"""Minimum share of quoted words in a passage of dialogue."""
_QUIET = 0.12
"""Maximum share of quoted words in any other type."""
_LEAST_WORDS = 40
"""Minimum words for a passage to be classified as narration."""


def classify_passage(prose: AnnotatedProse, *, in_speech: bool = False) -> list[Fact]:
    """Return one fact with the `ContentType` of a passage; an empty list if it is
    unclear.

    `prose` is the passage. With `in_speech` it begins inside a quotation; then only
    dialogue is recognised.
    """
    content = _content_type(prose)
    if not content or (in_speech and content is not ContentType.DIALOGUE):
        return []
    return [_content_fact(content, Span(0, len(prose.text)))]


def _content_type(prose: AnnotatedProse) -> ContentType | None:
    narration = " ".join(
        s.narration.replace(MASK_CHARACTER, " ") for s in prose.sentences
    )
    words = [word.lower() for word in _WORD.findall(narration)]
    spoken_words = sum(
        len(_WORD.findall(prose.text, q.start, q.end)) for q in prose.quoted
    )
    total = len(words) + spoken_words
    if total and spoken_words / total >= _DIALOGUE:
        return ContentType.DIALOGUE
    if total < _LEAST_WORDS or spoken_words / total > _QUIET:
        return None
    return _classify_narration(words, narration)


def _classify_narration(words: list[str], narration: str) -> ContentType | None:
    """Classify narration by its share of thoughts, sensory words, and verbs of action."""
    total = len(words)
    thoughts = len(_THINKS.findall(narration))
    muses = len(_MUSES.findall(narration))
    musing = (thoughts + muses) / total
    deeds = sum(word in EVENT_VERBS for word in words) / total
    moves = sum(word in _MOVES for word in words) / total
    sensed = sum(word in _SENSED for word in words) / total
    static = sum(word in _STATIC for word in words) / total
    # The thresholds are shares of all words. With "I" in the narration, thoughts
    # cannot be distinguished from a letter or a cut-off quotation.
    ponders = (
        not _FIRST_PERSON_I.search(narration)
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


def _content_fact(content: ContentType, span: Span) -> Fact:
    return Fact(
        FactAbout.PASSAGE,
        "",
        PassageField.CONTENT_TYPE,
        content,
        (span,),
        RULES_KEEPER,
        Certainty.PROBABLE,
    )
