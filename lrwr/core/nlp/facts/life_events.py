"""Life events in narration and speech: the turning points that a timeline lists."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lrwr.core.model.facts import Certainty, Fact, FactAbout, LifeEventKind
from lrwr.core.model.text import LazyPattern, Span
from lrwr.core.nlp.facts.clauses import (
    NAME_PATTERN,
    clean_name,
    ends_in_question,
    extract_clause_before,
    extract_verbatim,
    has_place_preposition,
    infer_title_possessive,
    is_asserted,
    is_known_person,
    make_fact,
    may_be_person,
    to_text_span,
)
from lrwr.core.nlp.facts.events import (
    LIFE_EVENT_RULES,
    SPEECH_ACT_RULES,
    LifeEventRule,
    collect_life_event_words,
)
from lrwr.core.nlp.text.prose import AnnotatedProse, ProseSentence

_NAME = LazyPattern(NAME_PATTERN)
_PRONOUN = re.compile(r"\b(?:he|him|himself|she|her|herself|his)\b", re.I)
_GENDERS = {"he": "his", "him": "his", "himself": "his", "his": "his"}
_PEOPLE_TEXT = (
    "man woman girl boy child gentleman lady stranger father mother sister brother son "
    "daughter wife husband uncle aunt cousin nephew niece doctor captain baby infant "
    "mamma papa widow orphan colonel king queen prince princess sisters brothers "
    "friends"
)
PEOPLE_NOUNS = tuple(_PEOPLE_TEXT.split())
"""Common nouns for a person who may be the subject of a life event."""
_ADVERBS = (
    r"(?:(?:then|now|suddenly|at last|at once|also|again|once more|[a-z]+ly|just|soon|"
    r"both|all|had|has|have|himself|herself|at length|already|thus|next|never again|"
    r"here|there|afterwards|once|ever|since|been|being|too|still|at this moment|too),? )*"
)
_SUBJECT = LazyPattern(
    r"(?:^|[\s\x01(—-])(?P<who>[Hh]e|[Ss]he|[Tt]hey|[Ww]e|I|[Ww]ho|"
    r"(?:[A-ZÀ-Þ][\w-]*'?[\w-]*\.? (?:(?:de|du|van|von|of|the|and|la) )*){1,5}|"
    r"(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Mm]y|[Oo]ur) (?:[\w-]+ ){0,2}"
    rf"(?:{'|'.join(PEOPLE_NOUNS)}))"
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
    words = collect_life_event_words()
    for sentence in prose.sentences:
        if not sentence.words.isdisjoint(words):
            yield from _find_in_sentence(prose, sentence, tracker)
        tracker.leave(sentence)


def _find_in_sentence(
    prose: AnnotatedProse, sentence: ProseSentence, tracker: "ParticipantTracker"
) -> Iterator[Fact]:
    for rule in LIFE_EVENT_RULES:
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
    prose: AnnotatedProse, sentence: ProseSentence, tracker: "ParticipantTracker"
) -> Iterator[Fact]:
    """Yield the first event that the speech in a sentence brings about."""
    words = sentence.speech
    for rule in SPEECH_ACT_RULES:
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
    rule: LifeEventRule,
    sentence: ProseSentence,
    words: str,
    tracker: "ParticipantTracker",
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
    clause: str, words: str, tracker: "ParticipantTracker", spoken: bool
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
    tracker: "ParticipantTracker",
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


class ParticipantTracker:
    """Resolves names and pronouns to people, sentence by sentence in text order.

    A pronoun stands for the person of its gender that the narration named last as a
    subject. The gender of a name comes from its title or from the pronouns in sentences
    that name nobody else.
    """

    def __init__(self, prose: AnnotatedProse) -> None:
        self._prose = prose
        self._names: dict[int, list[tuple[int, str]]] = {}
        self._genders = self._vote_genders()
        self._recent: dict[str, list[str]] = {"his": [], "her": []}
        self._latest: list[str] = []

    def leave(self, sentence: ProseSentence) -> None:
        """Remember the people whom the narration of `sentence` names."""
        words = sentence.narration
        for at, name in reversed(self._named(sentence)):
            if words[at + len(name) : at + len(name) + 2] == "'s":
                continue
            if name in self._latest:
                self._latest.remove(name)
            self._latest.insert(0, name)
            del self._latest[3:]
            gender = self.gender_of(name)
            for key in (gender,) if gender else ("his", "her"):
                recent = self._recent[key]
                if name in recent:
                    recent.remove(name)
                recent.insert(0, name)
                del recent[3:]

    def gender_of(self, name: str) -> str:
        """Return "his" or "her" for the gender of `name`; "" if unknown."""
        title = infer_title_possessive(name)
        return title or self._genders.get(name.split(" ")[0], "")

    def is_actor(self, who: str) -> bool:
        """Return whether the subject `who` of narration is a person: a name, a personal
        pronoun or a word for a person.
        """
        word = who.lower()
        if word in ("he", "she", "i", "they", "we"):
            return True
        return self.is_person(who) or who.split(" ")[-1].lower() in PEOPLE_NOUNS

    def is_person(self, who: str) -> bool:
        """Return whether `who` is a name that may be a person's."""
        if not who or not who[0].isupper() or who in ("He", "She", "They", "We", "I"):
            return False
        name = clean_name(who, self._prose)
        return bool(name) and (
            is_known_person(name, self._prose)
            if self._prose.known
            else may_be_person(name, self._prose)
        )

    def first_name(self, words: str) -> str:
        """Return the first name of a person in `words`; "" without one."""
        return next((name for _, name in self._find_names(words, ())), "")

    def list_people(self, words: str, subject: str, spoken: bool) -> list[str]:
        """Return the distinct people in a sentence whose words are `words`, the subject
        first; pronouns of narration are resolved.
        """
        people: dict[str, None] = {}
        if not spoken and subject.lower() in ("he", "she"):
            self._add_pronoun(people, subject)
        for at, name in self._find_names(words, ()):
            if not has_place_preposition(words, at) or is_known_person(
                name, self._prose
            ):
                people.setdefault(name)
        if not spoken:
            for match in _PRONOUN.finditer(words):
                self._add_pronoun(people, match.group())
        return list(people)

    def list_speakers(self, sentence: ProseSentence) -> list[str]:
        """Return the people whom the narration and the speech of a sentence name, and
        those whom the narration named last if there are fewer than two.
        """
        people = {name: None for _, name in self._named(sentence)}
        for name in self._latest:
            if len(people) >= 2:
                break
            people.setdefault(name)
        for _, name in self._find_names(sentence.speech, ()):
            people.setdefault(name)
        return list(people)

    def _add_pronoun(self, people: dict[str, None], pronoun: str) -> None:
        """Add the person whom `pronoun` stands for."""
        gender = _GENDERS.get(pronoun.lower(), "her")
        if any(self.gender_of(name) == gender for name in people):
            return
        candidates = self._recent[gender]
        if candidates:
            people.setdefault(candidates[0])

    def _named(self, sentence: ProseSentence) -> list[tuple[int, str]]:
        key = sentence.span.start
        if key not in self._names:
            self._names[key] = self._find_names(sentence.narration, sentence.starts)
        return self._names[key]

    def _find_names(self, words: str, starts: tuple[int, ...]) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        end = 0
        for at in starts or _capitals(words):
            if at < end:
                continue
            match = _NAME.match(words, at)
            name = clean_name(match.group(), self._prose) if match else ""
            if match and name and may_be_person(name, self._prose):
                place = words.find(name, at)
                found.append((place if place >= 0 else at, name))
                end = match.end()
        return found

    def _vote_genders(self) -> dict[str, str]:
        votes: dict[str, Counter[str]] = {}
        for sentence in self._prose.sentences:
            if not sentence.starts:
                continue
            names = self._named(sentence)
            if len({name for _, name in names}) != 1:
                continue
            at, name = names[0]
            match = _PRONOUN.search(sentence.narration, at)
            if match:
                gender = _GENDERS.get(match.group().lower(), "her")
                votes.setdefault(name.split(" ")[0], Counter())[gender] += 1
        genders = {}
        for word, counts in votes.items():
            (best, count), *_ = counts.most_common()
            if count >= 2 and count >= 0.7 * sum(counts.values()):
                genders[word] = best
        return genders


_CAPITAL = re.compile(r"(?<![\w'])(?<!\w-)[A-ZÀ-Þ]")


def _capitals(words: str) -> tuple[int, ...]:
    return tuple(match.start() for match in _CAPITAL.finditer(words))
