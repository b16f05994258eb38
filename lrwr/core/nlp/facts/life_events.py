"""Life events in narration and speech: the turning points that a timeline lists."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lrwr.core.model.facts import (
    NARRATOR_DETAIL,
    Certainty,
    CueParty,
    Fact,
    FactAbout,
    LifeEventKind,
)
from lrwr.core.model.text import LazyPattern, Span
from lrwr.core.nlp.facts.clauses import (
    ends_in_question,
    extract_verbatim,
    is_asserted,
    make_fact,
    to_text_span,
)
from lrwr.core.nlp.facts.life_event_exclusions import (
    hide_parentheses,
    is_figure_or_routine,
    is_killing,
    is_loss,
)
from lrwr.core.nlp.facts.life_event_rules import (
    LIFE_EVENT_RULES,
    SPEECH_ACT_RULES,
    LifeEventRule,
    collect_life_event_words,
)
from lrwr.core.nlp.facts.participants import PEOPLE_NOUNS, ParticipantTracker
from lrwr.core.nlp.text.prose import AnnotatedProse, ProseSentence

_ADVERBS = (
    r"(?:(?:then|now|suddenly|at last|at once|also|again|once more|[a-z]+ly|just|soon|"
    r"both|all|had|has|have|himself|herself|at length|already|thus|next|never again|"
    r"here|there|afterwards|once|ever|since|been|being|too|still|at this moment),? )*"
)
_WORD = r"[A-ZÀ-Þ][\w-]*'?[\w-]*\.?"
_NAME = rf"{_WORD}(?: (?:(?:de|du|van|von|of|the|and|la) )*{_WORD}){{0,4}}"
_NOUN = (
    r"(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Mm]y|[Oo]ur) (?:[\w-]+ ){0,2}"
    rf"(?:{'|'.join(PEOPLE_NOUNS)})"
)
_PRONOUNS = r"[Hh]e|[Ss]he|[Tt]hey|[Ww]e|[Yy]ou|I"
_SUBJECT = LazyPattern(
    rf"(?:^|[\s\x01(—“\"-])(?P<who>(?:{_PRONOUNS})\b|{_NOUN}|{_NAME})(?:'s|'ve|'d|'re)?"
    rf"(?:,[^,;:\x01]{{3,60}},)?(?P<relative>,? who)? {_ADVERBS}$"
)
# A second predicate of the same subject: "Nell rose, took the lamp, and left"
_COORDINATED = LazyPattern(rf"(?:\band|\bbut|,|\bthen|^) ?{_ADVERBS}$")
_ASIDE = LazyPattern(r", (?:however|indeed|therefore|too|of course|then|at last),? $")
# A subject with its verb anywhere before: "Nell started up; overthrew the table; …"
_EARLIER_SUBJECT = LazyPattern(
    rf"(?:^|[,;\x01\n—] ?|\b(?:and|but|then|that|when|because|while|where|as) |“|\")(?P<who>(?:{_PRONOUNS})\b|{_NOUN}|{_NAME}) (?=[a-z])"
)
_OBJECT_BEFORE = re.compile(
    r"\b(?:of|from|with|to|by|for|in|at|on|about|after|upon|between|than|like|towards?|"
    r"into|before|against|near|beside|through|without) $"
)
_REST_OF_NAME = re.compile(
    r"(?: [A-Z][\w'-]+\.?)*(?: (?:from|to|with|by|for|of|and)(?: [A-Z][\w'-]+\.?)+)?"
)
_COUNTERFACTUAL = LazyPattern(
    r"(?:^|[;,.“\"—-] ?|\band |\bbut )[Hh]ad (?:(?:his|her|the|my|your|their) \w+|[A-Z]\w+|not)\b[^.;]{0,40}$"
)
_CLAUSE_MARK = re.compile(r"[;:\x01(—]|--")
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|as soon as|once|idea of|dream\w*|dreamt|imagin\w+|would|should|could|might|may|"
    r"must|suppos\w+|pretend\w*|fanc(?:y|ied)|perhaps|wish\w*|hop(?:e|ed)|fear(?:ed)?|"
    r"never|as though|lest|ought|shall|will|cannot|can't|won't|not|rumou?r\w*|hardly|"
    r"no one|nobody|nor|neither|every|whenever|always|often|usually|sometimes|"
    r"intend\w*|mean|means|meant|going to|about to|want\w*|tried|try|trying|resolv\w+|"
    r"determin\w+|prevent\w*|threat\w*|offer\w*|expect\w*|ready to|refus\w+ to|without|"
    r"instead of|rather|than|sooner|hundred times|plan\w*|propos\w+ to|thought of|talk\w* of|used to|gave out|"
    r"able to|anxious to|eager to|glad to|allowed to|likely|told to|ordered to|to have)\b|n't\b",
    re.I,
)
_HYPOTHESIS = re.compile(
    r"\b(?:(?<!as )if|unless|whether|dream\w*|dreamt|imagin\w+|suppos\w+|pretend\w*|would|might|"
    r"had (?:I|he|she|it|they|we|you)|what|why|how|thought|believed|fancied|hoped)\b[^.]{0,60}$",
    re.I,
)
_IF = re.compile(r"\b(?:if|unless|whether)\b", re.I)
_SUBORDINATE = re.compile(
    r"\b(?:when|as|where|whither|while|whilst|until|till|after|before|since|which|whom|"
    r"who|whose|that|than|for|how|because|whence|time|though|although|so)\b",
    re.I,
)
_INFINITIVE = re.compile(
    r"\b(?:to|of|by|in|on|for|without) (?:have |be |being |having )?$"
)
_EARLIER = re.compile(
    r"\b(?:(?:\w+ )?(?:years?|months|weeks|days|summers?|winters?) (?:before|ago|earlier|since)|"
    r"long (?:before|ago|since)|(?:as|when|while) (?:a|an|yet a|still a|quite a) (?:mere )?"
    r"(?:child|boy|girl|lad|young man|baby|infant)|in (?:his|her|their) (?:youth|childhood|boyhood|"
    r"girlhood)|once upon|formerly|in former (?:days|years|times)|the (?:preceding|previous) "
    r"(?:year|summer|winter|autumn|spring|month|week)|last (?:year|summer|winter|autumn|spring|"
    r"month|week|June|July|May|April|March)|when (?:\w+\.? ){1,3}(?:was|were) born)\b",
    re.I,
)
# The life of somebody dead: the events of the paragraph are of an earlier time
_LATE_SUBJECT = re.compile(r"[ \x01]*[Tt]he late (?:[A-Z]\w+\.? )+")
_PERFECT = re.compile(r"\b(?:had|'d)\b(?! to\b)")
_COMES_TO = LazyPattern(r"\b(?:to|from|reached|left) (?P<whom>[A-Z][\w'.-]+)$")
_YEAR = re.compile(r"\b1[0-9]{3}\b")
_GUESTS = re.compile(r" and the [A-Z]")
_SUBJECT_REACH = 140
"""Characters before a predicate in which its subject is looked for."""
_LONG = 200
"""Characters of a sentence above which only a part of it is quoted."""
_NEAR = 48
"""Characters before a predicate in which a word of doubt refers to it."""
_SHORT = 40
"""Characters of a sentence up to which the one before it is quoted, too."""
_YOU = frozenset({"you", "You"})
_THIRD = frozenset({"he", "she", "they"})
_CONTRACTED = frozenset({"he", "she", "it", "who"})
_K = LifeEventKind
_MINOR = frozenset(
    {_K.MET, _K.ARRIVED, _K.LEFT, _K.MOVED, _K.LETTER, _K.LEARNED, _K.FOUGHT}
)
"""Kinds that need a main clause and a known person, or they are everyday actions."""
_OF_ONE = frozenset({_K.CONFESSED, _K.ENGAGED, _K.ARRESTED, _K.WOUNDED, _K.LEFT})
"""Kinds that speech tells of one person, who may be neither speaker nor hearer."""
_PERSONAL_SPEECH = frozenset({_K.MARRIED, _K.ARRESTED, _K.ELOPED, _K.ENGAGED})
"""Kinds that dialogue may state of somebody whom it only names by a pronoun."""


def find_life_event_facts(prose: AnnotatedProse) -> Iterator[Fact]:
    """Yield an event for each sentence that states a turning point of somebody's life.

    The value is the sentence verbatim, or the part of a long one. Details: `kind`, the
    kind of event; `involved`, its subject and objects, as far as they are clear, or a
    `CueParty` of the dialogue that states it; `told`
    if a character reports it; `earlier` if the text places it before the scene. Doubted,
    intended, negated and habitual statements are skipped. In text order, at most one
    event for each sentence.
    """
    tracker = ParticipantTracker(prose)
    words = collect_life_event_words()
    before: ProseSentence | None = None
    is_late = False
    for sentence in prose.sentences:
        if (
            before is None
            or "\n\n" in prose.text[before.span.end : sentence.span.start]
        ):
            is_late = False
        is_late |= bool(_LATE_SUBJECT.match(sentence.narration))
        if not sentence.words.isdisjoint(words):
            fact = _find_in_sentence(prose, sentence, tracker)
            if fact:
                fact = _mark_earlier(fact) if is_late else fact
                yield _with_context(prose, fact, sentence, before)
        tracker.leave(sentence)
        before = sentence


def _mark_earlier(fact: Fact) -> Fact:
    """Return `fact` as an event before the scene."""
    if fact.detail("earlier"):
        return fact
    return replace(fact, details=(*fact.details, ("earlier", "yes")))


def _with_context(
    prose: AnnotatedProse,
    fact: Fact,
    sentence: ProseSentence,
    before: ProseSentence | None,
) -> Fact:
    """Return `fact` with the sentence `before` it in its value and span, if it is
    `sentence`, short and in dialogue, and nothing separates the two.
    """
    (span,) = fact.spans
    is_clear = fact.detail("told") and fact.detail("involved")
    if before is None or is_clear or len(span) > _SHORT or len(before.span) > _LONG:
        return fact
    joint = Span(before.span.start, span.end)
    gap = prose.text[before.span.end - 3 : sentence.span.start]
    is_new_paragraph = (
        "\n\n" in gap and not gap.startswith((":", "?", ".:")) and ":" not in gap
    )
    if (
        not sentence.speech
        or is_new_paragraph
        or "#" in prose.text[joint.start : joint.end]
    ):
        return fact
    return replace(fact, value=extract_verbatim(prose, joint), spans=(joint,))


def _find_in_sentence(
    prose: AnnotatedProse, sentence: ProseSentence, tracker: ParticipantTracker
) -> Fact | None:
    years = _YEAR.findall(prose.text, sentence.span.start, sentence.span.end)
    if len(years) > 1 or len(_GUESTS.findall(sentence.narration)) > 3:
        return None  # an inscription, a register, a list of guests
    for rule in LIFE_EVENT_RULES:
        if sentence.words.isdisjoint(rule.words):
            continue
        statement = _find_statement(rule, sentence, sentence.narration, tracker)
        if statement is None and rule.spoken and sentence.speech:
            statement = _find_statement(rule, sentence, sentence.speech, tracker)
        if statement:
            return _build(prose, sentence, rule.kind, statement)
    return _find_act(prose, sentence, tracker) if sentence.speech else None


def _find_act(
    prose: AnnotatedProse, sentence: ProseSentence, tracker: ParticipantTracker
) -> Fact | None:
    """Return the first event that the speech in a sentence brings about."""
    words = sentence.speech
    for rule in SPEECH_ACT_RULES:
        if sentence.words.isdisjoint(rule.words):
            continue
        for match in rule.predicate.finditer(words):
            clause = words[_clause_start(words, match.start()) : match.start()]
            if _HYPOTHESIS.search(clause) or is_figure_or_routine(
                rule.kind, words, match
            ):
                continue
            span = _quoted_span(sentence, words, match.start(), match.end())
            people = _list_speech_people(rule.kind, words, match, tracker)
            details = [("kind", str(rule.kind)), *(("involved", n) for n in people)]
            return _make_event(prose, span, details)
    return None


def _list_speech_people(
    kind: LifeEventKind,
    speech: str,
    match: re.Match[str],
    tracker: ParticipantTracker,
) -> list[str]:
    """Return whom an event concerns that speech brings about: mostly who speaks and who
    is spoken to, whom attribution knows. Nobody else is guessed.
    """
    phrase = match.group()
    around = speech[max(0, match.start() - _NEAR) : match.end() + _NEAR]
    named = [name for _, name in tracker.find_names(around)]
    if kind is _K.MET:
        return [*named, CueParty.ADDRESSEE, CueParty.SPEAKER]
    if kind is _K.ARRESTED and phrase.endswith(" you"):
        return [CueParty.ADDRESSEE]
    if kind in _OF_ONE:
        is_own = phrase.startswith(("I ", "I'", "We", "we"))
        return [CueParty.SPEAKER, *named[:1]] if is_own else named[:2]
    is_of_other = phrase.endswith((" him", " her"))
    return [CueParty.SPEAKER] if is_of_other else [CueParty.SPEAKER, CueParty.ADDRESSEE]


@dataclass(frozen=True, slots=True)
class _Statement:
    """Where a sentence states an event, in which layer, and who takes part."""

    words: str
    start: int
    end: int
    people: tuple[str, ...]
    spoken: bool
    by_narrator: bool = False


def _find_statement(
    rule: LifeEventRule,
    sentence: ProseSentence,
    words: str,
    tracker: ParticipantTracker,
) -> _Statement | None:
    spoken = words is sentence.speech
    for match in rule.predicate.finditer(words):
        clause = words[_clause_start(words, match.start()) : match.start()]
        if (
            ends_in_question(words, match.end())
            or not _is_stated(clause, rule)
            or is_figure_or_routine(rule.kind, words, match)
            or (
                rule.kind in (_K.ARRIVED, _K.LEFT)
                and _is_of_person(words, match, tracker)
            )
        ):
            continue
        who = _find_subject(clause, words, match.start(), tracker)
        if not who and not rule.impersonal:
            continue
        people = _list_people(words, match, who, spoken, tracker)
        if spoken and who == "I":
            people = tuple(dict.fromkeys((CueParty.SPEAKER, *people)))
        if rule.impersonal and rule.kind is _K.MARRIED and len(people) < _COUPLE:
            people = _list_couple(words, match.end(), tracker) or people
        if rule.kind is _K.DIED and who.lower() in ("he", "she"):
            # Who speaks afterwards is not dead: the pronoun means another person.
            people = tuple(n for n in people if not tracker.speaks_after(n, sentence))
        by_narrator = not spoken and who in ("I", "We", "we")
        statement = _Statement(words, *match.span(), people, spoken, by_narrator)
        if _is_worth_telling(rule, who, people, statement):
            return statement
    return None


def _is_of_person(
    words: str, phrase: re.Match[str], tracker: ParticipantTracker
) -> bool:
    """Return whether somebody only comes back to a person, such as "returned to Nell",
    or goes away from one.
    """
    match = _COMES_TO.search(phrase.group())
    rest = _REST_OF_NAME.match(words, phrase.end())
    if match is None or rest is None:
        return False
    name = match["whom"] + rest.group()
    if match.group().startswith("left"):
        return tracker.is_known(name)
    return tracker.is_person(name)


def _clause_start(words: str, at: int) -> int:
    """Return the offset after the last mark before `at` that ends a clause."""
    marks = [mark.end() for mark in _CLAUSE_MARK.finditer(words, 0, at)]
    return marks[-1] if marks else 0


def _is_stated(clause: str, rule: LifeEventRule) -> bool:
    """Return whether nothing in `clause` makes its predicate doubtful, intended or
    negated, and it is a main clause where the kind of event needs one.
    """
    part = clause[clause.rfind(", ") + 1 :][-_NEAR:]
    if _CONDITION.search(part) or not is_asserted(part) or _INFINITIVE.search(part):
        return False
    if _COUNTERFACTUAL.search(clause):
        return False
    if rule.impersonal:
        return not _IF.search(clause)
    is_main = rule.kind not in _MINOR or not _SUBORDINATE.search(part)
    return is_main and not _HYPOTHESIS.search(clause)


def _list_people(
    words: str,
    match: re.Match[str],
    who: str,
    spoken: bool,
    tracker: ParticipantTracker,
) -> tuple[str, ...]:
    if not who and _NOUN_OF.search(match.group()):  # "the death of Nell"
        return tuple(dict.fromkeys(n for _, n in tracker.find_names(match.group())))
    if not spoken:
        names = tracker.resolve_subject(words, match.start(), who)
    else:
        names = [name for _, name in tracker.find_names(who)]
    rest = _REST_OF_NAME.match(words, match.end())
    end = rest.end() if rest else match.end()
    objects = tracker.list_objects(words, match.start(), end, pronouns=not spoken)
    if is_loss(match.group()) or (not objects and is_killing(match.group())):
        return ()  # the subject is not who is dead
    return tuple(dict.fromkeys((*names, *objects)))


_NOUN_OF = re.compile(r"\b(?:death|elopement|flight)\b")
_COUPLE = 2
"""People in a wedding."""
_IN_PLACE = re.compile(r"\b(?:of|in|at|by|from)(?: the)? $")


def _list_couple(
    words: str, start: int, tracker: ParticipantTracker
) -> tuple[str, ...]:
    """Return the first two names after `start` that are neither a parent's nor a place's,
    as in "There were married in Thole Corin Vale, to Nell, daughter of Hob Tallow".
    """
    names = [
        name
        for at, name in tracker.find_names(words)
        if at >= start and not _IN_PLACE.search(words[:at])
    ]
    return tuple(dict.fromkeys(names))[:_COUPLE]


def _is_worth_telling(
    rule: LifeEventRule,
    who: str,
    people: tuple[str, ...],
    statement: _Statement,
) -> bool:
    phrase = statement.words[statement.start : statement.end]
    spoken, is_earlier = statement.spoken, _is_earlier(statement)
    if rule.kind is _K.MET and not rule.impersonal:
        return _is_meeting_of_two(who, people, phrase, is_earlier)
    if spoken and who == "I" and rule.kind not in _PERSONAL_SPEECH:
        people = tuple(name for name in people if name != CueParty.SPEAKER)
    if people or rule.impersonal:
        return True
    if who.lower() in _THIRD and (is_earlier or rule.kind in (_K.DIED, _K.MARRIED)):
        return who.lower() == "they" and rule.kind is _K.MARRIED and not is_earlier
    if spoken:
        return rule.kind in _PERSONAL_SPEECH
    is_narrator = who in ("I", "We", "we") and rule.kind is not _K.LEFT
    return rule.kind not in _MINOR or is_narrator


def _is_meeting_of_two(
    who: str, people: Sequence[str], phrase: str, is_earlier: bool
) -> bool:
    """Return whether it is clear who meets whom: two names, the narrator and a name, or
    a name and a noun such as "a gentleman". A meeting of before counts if it is the first.
    """
    if is_earlier and phrase.startswith(("met", "encountered", "waited")):
        return False
    is_named = not phrase.endswith((" him", " her", " them", " me", " us"))
    needed = 1 if who in ("I", "We", "we") or is_named else 2
    return len(people) >= needed


def _find_subject(clause: str, words: str, at: int, tracker: ParticipantTracker) -> str:
    """Return the words of the subject of the predicate at offset `at`, which ends
    `clause`; "" if it is no person.
    """
    near = clause[-_SUBJECT_REACH:]
    match = _SUBJECT.search(near)
    if (
        match
        and not match["relative"]
        and _OBJECT_BEFORE.search(near[: match.start("who")])
    ):
        return ""
    if match:
        who = match["who"].strip()
        # "Nell's" owns the subject, "she's" is one.
        if who[:1].isupper() and words.startswith(
            ("'s", "’s"), at - len(near) + match.end("who")
        ):
            who = who if who.lower() in _CONTRACTED else ""
    elif _COORDINATED.search(clause) and not _ASIDE.search(clause):
        subjects = [
            subject["who"].strip()
            for subject in _EARLIER_SUBJECT.finditer(hide_parentheses(words))
            if at - _SUBJECT_REACH <= subject.start() < at
        ]
        near_first = reversed(subjects)
        who = next((s for s in near_first if s in _YOU or tracker.is_actor(s)), "")
    else:
        return ""
    return who if tracker.is_actor(who) else ""


def _build(
    prose: AnnotatedProse,
    sentence: ProseSentence,
    kind: LifeEventKind,
    statement: _Statement,
) -> Fact:
    span = _quoted_span(sentence, statement.words, statement.start, statement.end)
    details = [("kind", str(kind)), *(("involved", name) for name in statement.people)]
    if statement.by_narrator:
        details.append(NARRATOR_DETAIL)
    if statement.spoken:
        details.append(("told", "yes"))
    if _is_earlier(statement):
        details.append(("earlier", "yes"))
    return _make_event(prose, span, details)


def _make_event(
    prose: AnnotatedProse, span: Span, details: list[tuple[str, str]]
) -> Fact:
    value, sure = extract_verbatim(prose, span), Certainty.PROBABLE
    about = FactAbout.EVENT
    return make_fact(about, "event", value, span, sure, details=tuple(details))


def _is_earlier(statement: _Statement) -> bool:
    """Return whether a phrase of time or the pluperfect places the event before the
    scene.
    """
    if _EARLIER.search(statement.words):
        return True
    start = _clause_start(statement.words, statement.start)
    clause = statement.words[start : statement.end]
    return not statement.spoken and bool(
        _PERFECT.search(clause[clause.rfind(", ") + 1 :])
    )


def _quoted_span(sentence: ProseSentence, words: str, first: int, last: int) -> Span:
    """Return the sentence; of a long one, the part around `first` to `last` between `;`."""
    if len(words) <= _LONG:
        return sentence.span
    start = words.rfind(";", 0, first) + 1
    start += len(words[start:]) - len(words[start:].lstrip())
    end = words.find(";", last)
    return to_text_span(sentence, start, end if end >= 0 else len(words))
