"""Finds the passages that have a value of the kind that a question asks for."""

import re
from collections.abc import Collection, Iterator, Sequence

from lrwr.core.chat.extractive.answer_forms import KIN_WORD, KIN_WORD_PATTERN, NAMING
from lrwr.core.chat.extractive.answer_types import (
    MARRIAGE_QUESTION,
    AnswerType,
    asks_when,
    asks_why,
    find_answer_type,
)
from lrwr.core.chat.extractive.subjects import (
    FORMS_OF_ADDRESS,
    Subject,
    ValueQuestion,
    are_related_in,
    find_person_asked,
    list_pair,
)
from lrwr.core.model.chunks import Passage
from lrwr.core.model.text import (
    WORD_PATTERN,
    SentenceSplitter,
    Span,
    extract_capitalized_words,
    extract_content_words,
    normalize_word,
    stem_word,
)
from lrwr.core.nlp.facts.clauses import TITLE_WORDS
from lrwr.core.retrieval.query_words import find_related_words

_TITLES = frozenset(TITLE_WORDS.split())

_TITLED_NAME = re.compile(
    rf"\b(?:{'|'.join(sorted(_TITLES, key=len, reverse=True))})\.?(?:\s+[A-Z][\w-]+)+"
)
"""A person by title and name: "Admiral Rook"."""


def describe_missing_value(
    question: ValueQuestion, texts: Sequence[str], sentences: SentenceSplitter
) -> str | None:
    """Return what the question asks for and none of `texts` has, as in "gives the age".

    Empty if a text has it; None if the question needs no kind of value.
    """
    answer_type = find_answer_type(question.text)
    if answer_type is None or not answer_type.is_needed:
        return None
    missing = f"{answer_type.verb} {answer_type.name}"
    return "" if any(find_texts_with_value(question, texts, sentences)) else missing


def find_texts_with_value(
    question: ValueQuestion, texts: Sequence[str], sentences: SentenceSplitter
) -> list[bool]:
    """Return for each of `texts` whether it has a value of the kind asked for; always
    false if the question asks for no such value.
    """
    answer_type = find_answer_type(question.text)
    if answer_type is not None and _asks_full_name(question, answer_type):
        return [_has_full_name(question)] * len(texts)
    return [bool(_find_value(question, text, sentences)) for text in texts]


def sort_by_value(
    question: ValueQuestion, passages: Sequence[Passage], sentences: SentenceSplitter
) -> list[Passage]:
    """Return `passages`, first those with a value of the kind asked for; of a time, those
    with most of the names.
    """
    texts = [passage.chunk.text for passage in passages]
    has_value = [
        bool(_find_value(question, text, sentences, is_strict=False)) for text in texts
    ]
    names = set(extract_capitalized_words(question.text))
    if not asks_when(question.text):
        names.clear()

    def rank(place: int) -> tuple[bool, int]:
        named = names.intersection(extract_content_words(texts[place]))
        return not has_value[place], -len(named) if has_value[place] else 0

    return [passages[place] for place in sorted(range(len(passages)), key=rank)]


def count_values(
    question: ValueQuestion, text: str, sentences: SentenceSplitter
) -> int:
    """Return how many values of the kind asked for the sentences of `text` state of the
    person in question.
    """
    answer_type = find_answer_type(question.text)
    match = answer_type.asks.search(question.text) if answer_type else None
    if answer_type is None or match is None:
        return 0
    gives = answer_type.gives
    pattern = re.compile(gives if isinstance(gives, str) else gives(match))
    return sum(
        len(pattern.findall(text[span.start : span.end]))
        for span in _find_value(question, text, sentences)
    )


def find_sentences_about_person(
    question: ValueQuestion, text: str, sentences: SentenceSplitter
) -> list[Span]:
    """Return the sentences of `text` with a value of the kind asked for, if it is that
    of a person, such as an age; empty for other questions.
    """
    answer_type = find_answer_type(question.text)
    if answer_type is None or not answer_type.people:
        return []
    spans = _find_value(question, text, sentences)
    return spans or _find_value(question, text, sentences, is_strict=False)


def lacks_reason(
    question: ValueQuestion, texts: Sequence[str], sentences: SentenceSplitter
) -> bool:
    """Return whether `question` asks why, and none of `texts` has a reason beside what it
    asks about.
    """
    answer_type = find_answer_type(question.text)
    if answer_type is None or not asks_why(question.text):
        return False
    near = _NearWords(question, answer_type)
    for text in texts:
        spans = list(sentences(text))
        parts = [text[span.start : span.end] for span in spans]
        for span in _find_value(question, text, sentences):
            if near.fit_people(_join_around(parts, spans.index(span), REASON_REACH)):
                return False
    return True


REASON_REACH = 2
"""Sentences before and after a reason that may name whose it is."""

MAX_ACTION_WORDS = 2
"""Words that say what happens in a question for an action: "die", "strike"."""

SENTENCES_BESIDE_ACTION = 2
"""Sentences before and after a word of an action that may name the people instead."""

_ACTION_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:(?:when|why)\b"
    r"|how\s+(?:do|does|did|is|was|were|has|have|had)\b"
    r"|whom?\s+(?!(?:is|was|are|were)\b)\w+)",
    re.IGNORECASE,
)
"""Asks when, why or how something happens, or who does it."""


def lacks_action(
    question: ValueQuestion,
    texts: Sequence[str],
    sentences: SentenceSplitter,
    *,
    is_narrator: bool,
) -> bool:
    """Return whether `question` asks for an action of people, and none of `texts` has a
    word of the action, or a related one, near the names of all of them.

    The first person may stand for one of them if one `is_narrator`.
    """
    action = set(question.topic) - _KINDS
    people = [set(words) for words in question.people if words]
    if not people and (names := extract_capitalized_words(question.text)):
        people = [set(names)]
    is_of_action = 0 < len(action) <= MAX_ACTION_WORDS and bool(people)
    if not is_of_action or not _ACTION_QUESTION.search(question.text):
        return False
    forms = {
        _cut_ending(form)
        for word in action
        for form in (word, *find_related_words([word]))
    }
    return not any(
        sum(
            not (n - FORMS_OF_ADDRESS or n).isdisjoint(
                _extract_words(_drop_namesakes(near, n))
            )
            for n in people
        )
        + (is_narrator and not _FIRST_PERSON.isdisjoint(_extract_words(near)))
        >= len(people)
        for text in texts
        for near in _iter_around(forms, text, sentences)
    )


def _iter_around(
    stems: Collection[str], text: str, sentences: SentenceSplitter
) -> Iterator[str]:
    """Yield each sentence of `text` that has one of `stems`, with those beside it."""
    parts = [text[span.start : span.end] for span in sentences(text) if len(span)]
    reach = SENTENCES_BESIDE_ACTION
    for place, part in enumerate(parts):
        if not set(map(_cut_ending, _extract_words(part))).isdisjoint(stems):
            yield " ".join(parts[max(0, place - reach) : place + reach + 1])


def _asks_full_name(question: ValueQuestion, answer_type: AnswerType) -> bool:
    is_of_relative = KIN_WORD_PATTERN.search(question.text) is not None
    return answer_type.gives == NAMING and not is_of_relative


def _find_value(
    question: ValueQuestion,
    text: str,
    sentences: SentenceSplitter,
    *,
    is_strict: bool = True,
) -> list[Span]:
    """Return the sentences of `text` with a value of the kind asked for, which have, with
    those beside them, the people and the topic of the question.

    If it `is_strict`, the value of a person must be said of the one in question.
    """
    answer_type = find_answer_type(question.text)
    question_match = answer_type.asks.search(question.text) if answer_type else None
    if answer_type is None or question_match is None:
        return []
    if _asks_full_name(question, answer_type):
        return []
    gives = answer_type.gives
    form = gives if isinstance(gives, str) else gives(question_match)
    if gives == NAMING and (kin := KIN_WORD_PATTERN.search(question.text)):
        # Whose name is asked for stands in the sentence that names somebody.
        form = rf"(?s)(?=.*(?i:\b{re.escape(kin.group())}\b)).*{NAMING}"
    pattern, near = re.compile(form), _NearWords(question, answer_type)
    spans = list(sentences(text))
    parts = [text[span.start : span.end] for span in spans]
    subject = find_person_asked(question, answer_type) if is_strict else None
    is_close = is_strict and answer_type.is_close
    pair = list_pair(question) if is_strict and answer_type.gives == KIN_WORD else ()
    return [
        span
        for place, span in enumerate(spans)
        if pattern.search(parts[place])
        and near.fit(_join_around(parts, place, near.reach), is_close=is_close)
        and (
            subject is None
            or _is_said_of(subject, text, spans, place, pattern, answer_type)
        )
        and (not pair or are_related_in(parts[place], *pair))
        and (not is_close or near.fit_doing(parts[place]))
        and (not is_close or near.fit_people(_join_around(parts, place, PEOPLE_REACH)))
    ]


PEOPLE_REACH = 4
"""Sentences before and after a value of no person that may name who has to do with it."""


def _join_around(parts: Sequence[str], place: int, reach: int) -> str:
    return " ".join(parts[max(0, place - reach) : place + reach + 1])


_DEATH = re.compile(
    r"(?i)\b(?:die[sd]?|dying|dead|deaths?|kill(?:s|ed)|murder(?:ed)?|hang(?:ed|s)|"
    r"drown(?:ed|s)|shot|stabbed|poisoned|strangled|suicide|expired|perished|drowning"
    r"|carried\s+(?:him|her)\s+off|no\s+more)\b"
)


_UNREAL = re.compile(
    r"(?i)\b(?:would|should|might|may|could|shall|will|if|let|when(?:ever)?|since|until|almost|ready\s+to|afraid\s+of"
    r"|fear\s+of|wish(?:es|ed)?|never|not)\b"
)
"""Words before a death or marriage that has not happened, or before a past age."""


def _is_unreal(text: str, sentence: Span, at: int) -> bool:
    return _UNREAL.search(text[max(sentence.start, at - 40) : at]) is not None


def _is_said_of(
    subject: Subject,
    text: str,
    spans: Sequence[Span],
    place: int,
    pattern: re.Pattern[str],
    answer_type: AnswerType,
) -> bool:
    """Return whether a value in the sentence at `place` of `spans` is that of `subject`."""
    if answer_type.name == "how somebody dies":
        near = spans[max(0, place - 1) : place + 2]
        matches = [
            Span(s.start + m.start(), s.start + m.end())
            for s in near
            for m in _DEATH.finditer(text[s.start : s.end])
            if not _is_unreal(text, s, s.start + m.start())
        ]
        return any(subject.suffers(text, spans, match) for match in matches)
    start = spans[place].start
    places = [
        Span(start + m.start(), start + max(m.end(), m.start() + 1))
        for m in pattern.finditer(text[start : spans[place].end])
    ]
    if answer_type.asks is MARRIAGE_QUESTION:
        return subject.is_with_another(text, spans[place]) and any(
            (subject.owns(text, spans, at) or subject.suffers(text, spans, at))
            and not _is_unreal(text, spans[place], at.start)
            for at in places
        )
    if answer_type.name == "how the person looks":
        # "Nell was tall": she is named within the match.
        places = [Span(at.end - 1, at.end) for at in places]
    if answer_type.name == "the age":
        places = [at for at in places if not _is_unreal(text, spans[place], at.start)]
    return any(subject.owns(text, spans, at) for at in places)


def _has_full_name(question: ValueQuestion) -> bool:
    """Return whether somebody's name has two words or more, without titles."""
    if not question.forms:
        return False
    return any(
        len(
            [w for w in form.split() if w.rstrip(".") not in _TITLES and w[0].isupper()]
        )
        > 1
        for form in question.forms
    )


MIN_TOPIC_WORDS = 1
"""Words of the topic that must stand near a value, if the question has as many."""

_KINDS = frozenset(
    {
        "date", "day", "hour", "time", "name", "long", "many", "much", "money",
        "number", "exact", "first", "last", "exactly", "place", "part", "whereabouts", "kind", "sort",
    }
)  # fmt: skip
"""Words of a question that name the kind of value, which need not stand near it."""

_FIRST_PERSON = frozenset({"i", "my", "me", "mine"})


class _NearWords:
    """The words that must stand near a value for it to be that of the question."""

    def __init__(self, question: ValueQuestion, answer_type: AnswerType) -> None:
        people = answer_type.people
        known = [set(words) for words in question.people]
        self._are_known = bool(known)
        capitalized = [
            {word}
            for word in extract_capitalized_words(question.text)
            if word not in FORMS_OF_ADDRESS
        ]
        self._people = (known or capitalized) if people else []
        self._count = min(people, len(self._people))
        is_topical = answer_type.is_topical or not people
        topic = set(question.topic) - _KINDS if is_topical else set()
        self._all = known
        doing = _DOING_WHERE.search(question.text) if answer_type.is_close else None
        self._doing = _list_stems(doing["verb"].lower()) if doing else set()
        self._topic = [_list_stems(word) for word in topic]
        home = {_cut_ending(word) for word in _HOME_WORDS}
        if not self._doing.isdisjoint(home):
            for stems in (self._doing, *self._topic):
                if not stems.isdisjoint(home):
                    stems |= home

    @property
    def reach(self) -> int:
        """How many sentences beside the one with the value are read: who is related to
        whom stands in one sentence.
        """
        return 0 if self._count > 1 else 1

    def fit_doing(self, text: str) -> bool:
        """Return whether `text` has what is done, if the question asks where."""
        stems = set(map(_cut_ending, _extract_words(text)))
        return not self._doing or not self._doing.isdisjoint(stems)

    def fit_people(self, text: str) -> bool:
        """Return whether `text` names one of the known people in question, if any."""
        if self._people or not self._all:
            return True
        return any(
            not (n - FORMS_OF_ADDRESS or n).isdisjoint(
                _extract_words(_drop_namesakes(text, n))
            )
            for n in self._all
        )

    def fit(self, text: str, *, is_close: bool = False) -> bool:
        """Return whether `text` names enough people, and has a word of the topic or a
        related one, if the question needs one; half of the topic, if it `is_close`.
        """
        words = _extract_words(text)
        named = sum(
            not (names - FORMS_OF_ADDRESS or names).isdisjoint(
                _extract_words(_drop_namesakes(text, names))
                if self._are_known
                else words
            )
            for names in self._people
        )
        # Of two people, one may be the narrator or speaker: "Hob was my uncle".
        speaker = self._count > 1 and not _FIRST_PERSON.isdisjoint(words)
        if named + speaker < self._count:
            return False
        stems = set(map(_cut_ending, words))
        shared = sum(not forms.isdisjoint(stems) for forms in self._topic)
        least = MIN_TOPIC_WORDS
        if is_close:
            least = max(least, -(-len(self._topic) // 2))
        return shared >= min(least, len(self._topic))


_DOING_WHERE = re.compile(
    r"\bwhere(?:abouts)?\b.*\b(?:do|does|did)\b.*?\s(?P<verb>\w+)"
    r"(?:\s+(?:in|at|on|near|during|with)\s+[\w.'’ -]{1,40})?\W*$",
    re.IGNORECASE,
)
"""Asks where something is done, in its last word, or the last before a place."""


_HOME_WORDS = (
    "live",
    "lodge",
    "stay",
    "reside",
    "residence",
    "settle",
    "house",
    "home",
)


def _list_stems(word: str) -> set[str]:
    return {_cut_ending(form) for form in (word, *find_related_words([word]))}


def _extract_words(text: str) -> set[str]:
    return {normalize_word(word) for word in WORD_PATTERN.findall(text)}


def _drop_namesakes(text: str, names: Collection[str]) -> str:
    """Return `text` without people who share only the title or surname with the one who
    has `names`: "Admiral Vane" and "Mrs Rook" are not Admiral Rook.
    """

    def keep_own(match: re.Match[str]) -> str:
        title, *first, last = map(normalize_word, WORD_PATTERN.findall(match.group()))
        is_own = last in names and not {title, *first}.isdisjoint(names)
        return match.group() if is_own else " "

    return _TITLED_NAME.sub(keep_own, text)


def _cut_ending(word: str) -> str:
    """Return a word without its ending: "marr" for "marry" and "married"."""
    return stem_word(word).rstrip("eiy")
