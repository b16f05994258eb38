"""Splits an English question into parts and finds the words that say what each asks."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.bible.values import CharacterProfile
from lrwr.core.chat.extractive.sentence_ranker import (
    PassageSource,
    weigh_question_words,
)
from lrwr.core.chat.planning import lexicon
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    extract_content_words,
    normalize_word,
)
from lrwr.core.model.turns import QuestionPlan
from lrwr.core.retrieval.retrievers import WordWeights

ANSWER_TYPE_FACTOR = 1.2
"""Score factor of sentences with the kind of answer asked for: a time, number or
reason."""

_TIMES = (
    r"\b(?:day|days|week|weeks|month|months|year|years|hours?|o['’]clock|noon|midnight"
    r"|morning|evening|afternoon|night|yesterday|tomorrow|today|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|\d+)\b"
)
_AMOUNTS = (
    r"\b(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty\S*|hundred|thousand|dozen"
    r"|half|none|nobody|all|both)\b"
)
_REASONS = (
    r"\b(?:because|since|so that|in order|that was why|that is why|that['’]s why"
    r"|on account of|for fear|lest|owing to|therefore|the reason)\b"
)
_ANSWER_TYPES = tuple(
    (
        re.compile(question_pattern, re.IGNORECASE),
        re.compile(sentence_pattern, re.IGNORECASE),
    )
    for question_pattern, sentence_pattern in (
        (r"\bwhen\s+(?:did|does|do|was|is|were|has|had|will)\b|\bhow\s+long\b"
         r"|\b(?:what|which)\s+(?:day|date|year|month|time)\b", _TIMES),
        (r"\bhow\s+(?:many|much|old|far)\b", _AMOUNTS),
        (r"\bwhy\b", _REASONS),
    )
)  # fmt: skip
"""Patterns of questions, with patterns of sentences that contain such an answer."""

_ASPECTS = (
    "related relation relations relationship relationships describe description look"
    " looks like likes kind sort trait traits personality behave happen happens"
    " happened happening mention mentioned recap summary summarise summarize think"
    " thinks feel feels say says said tell tells know knows believe believes habit"
    " habits note notes noted wrote written chapter chapters compare compared contrast"
    " text manuscript draft ever never really actually exactly"
)
_PARTICLES = frozenset(
    {
        "out", "up", "down", "off", "over", "away", "back", "through", "go", "goes",
        "going", "went", "gone", "come", "comes", "came", "get", "gets", "got",
    }
)  # fmt: skip
"""Common verbs and verb particles, which say little about what is asked."""

ASPECT_WORDS = frozenset(_ASPECTS.split())
"""Words that name an aspect to report on; the text need not contain them to answer."""

_LABEL_BY_WORD = MappingProxyType(
    {
        "old": "age", "birthday": "age", "live": "home", "lives": "home",
        "lived": "home", "job": "occupation", "living": "occupation",
        "profession": "occupation", "trade": "occupation", "afraid": "fears",
        "clothes": "clothing",
        "value": "values",
    }
)  # fmt: skip
"""The labels that profiles and notes use for what a word asks about."""

ALL_NAMED_FACTOR = 1.5
"""Score factor of sentences that name all characters the question is about."""

_MIN_PART_WORDS = 3
"""Words below which a part does not stand alone: "how and why did she leave" is one
question."""

_NUMBERS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen|twenty"
)
_CHAPTER = re.compile(
    r"\b(?:(?P<beyond>before|after|since|until|till|by|from|to|than)\s+)?"
    rf"(?P<whole>ch(?:apter|\.)?\s*(?P<number>\d{{1,4}}|{_NUMBERS}))\b",
    re.IGNORECASE,
)
"""A chapter by its number. `beyond` is set in "before chapter 3", which is not about
it."""

_QUESTION_BOUNDARY = re.compile(
    r"[;?!]\s+(?=\w)"
    r"|,?\s+(?:and|but|or)\s+(?=(?:also\s+)?(?:who|whom|whose|what|when|where|why|how"
    r"|which|is|are|was|were|does|do|did|has|have|had|can|could|would|will)\b)",
    re.IGNORECASE,
)
"""The boundary between two questions in one sentence."""


def score_answer_type(question: str, sentence: str) -> float:
    """Return the factor by which to multiply the score of `sentence`.

    It is 1.2 if `question` asks for a time, a number or a reason and `sentence`
    contains one of that kind, else 1.0.
    """
    kinds = (
        sentence_pattern
        for question_pattern, sentence_pattern in _ANSWER_TYPES
        if question_pattern.search(question)
    )
    return ANSWER_TYPE_FACTOR if any(kind.search(sentence) for kind in kinds) else 1.0


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One thing that a question asks for; most questions have one part, some have two.

    `text` is the part, followed by the names that its pronouns refer to. `whole`,
    `words` and `naming` weigh its words by rarity: `whole` all content words; `words`
    those that say what is asked, without names of people; `naming` those that carry
    meaning, names included. `people` are the characters it names, empty for anybody;
    `forms` has, for each of them, all their names. `is_of_something` means that it
    names a known character or entity, `allows_speech` that dialogue lines may answer
    it.
    """

    text: str
    words: WordWeights
    whole: WordWeights
    naming: WordWeights
    people: frozenset[str] = frozenset()
    is_of_something: bool = False
    allows_speech: bool = True
    forms: tuple[tuple[str, ...], ...] = ()

    def worth(self, text: str) -> float:
        """Return the factor by which to multiply the score of the sentence `text`.

        It starts at 1.0, times 1.5 if the part names two or more people and the
        sentence names all of them, times 1.2 if the sentence contains the kind of
        answer asked for (a time, a number or a reason).
        """
        sentence_words = {normalize_word(word) for word in WORD_PATTERN.findall(text)}
        names_all_people = len(self.forms) > 1 and all(
            any(
                sentence_words.issuperset(extract_content_words(form)) for form in forms
            )
            for forms in self.forms
        )
        return (ALL_NAMED_FACTOR if names_all_people else 1.0) * score_answer_type(
            self.text, text
        )

    def is_about(self, names: Iterable[str], everybody: Iterable[str]) -> bool:
        """Return whether a statement about `names` may concern the people of this part.

        `everybody` are the names of all characters in question; names that are not
        among them, such as those of places, always concern the part. True for any names
        if the part names no people.
        """
        matching_names = set(names) & set(everybody)
        return (
            not matching_names
            or not self.people
            or not self.people.isdisjoint(matching_names)
        )


async def split_question_parts(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    passage_source: PassageSource,
) -> list[QuestionPart]:
    """Return the parts of `question`, in the order of its text; at least one.

    A part that names nobody is about the people of the part before it.

    Raises:
        StoreProblem: The library cannot be read.
    """
    parts: list[QuestionPart] = []
    referents = _list_pronoun_referents(question, plan, result)
    texts = split_questions(question.text)
    for text in texts:
        people_in_text = find_profiles_in_text(text, result.character_profiles)
        people = people_in_text or (parts[-1].people if parts else frozenset())
        part_text = " ".join(
            (strip_request_phrase(text), *(() if people_in_text else referents))
        )
        question_words = extract_question_words(text, plan, result)
        parts.append(
            QuestionPart(
                text=part_text,
                words=await weigh_question_words(
                    [*question_words, *map_words_to_labels(question_words)],
                    passage_source,
                ),
                whole=await weigh_question_words(
                    extract_content_words(part_text), passage_source
                ),
                people=people,
                is_of_something=bool(people or _find_entities(text, plan)),
                naming=await weigh_question_words(
                    _extract_naming_words(part_text), passage_source
                ),
                allows_speech=len(texts) == 1
                or lexicon.SPEECH_PATTERN.search(text.lower()) is not None,
                forms=_collect_forms(people, result),
            )
        )
    return parts


def split_questions(text: str) -> list[str]:
    """Split `text` into its questions: "Who is Nell, and what does she want?" has two.

    If one of them would have fewer than three words, `text` is returned as one.
    """
    questions = [part.strip(" ,?!;") for part in _QUESTION_BOUNDARY.split(text)]
    are_complete = all(len(part.split()) >= _MIN_PART_WORDS for part in questions)
    return questions if are_complete and len(questions) > 1 else [text]


def extract_question_words(
    text: str, plan: QuestionPlan | None, result: RetrievalResult
) -> list[str]:
    """Return the normalized words of `text` that say what is asked, not about whom.

    In "what does Nell wear" that is "wear". The name of a thing counts as what is asked
    if nothing else remains. Names are those in `result` and, if not None, in `plan`.
    Empty if the question only names a character.
    """
    text = _CHAPTER.sub(" ", strip_request_phrase(text))
    words = _extract_naming_words(text)
    people = set(_iter_naming_words(text, _iter_people_names(result)))
    element_names = (
        [entity.name for entity in plan.entities] if plan is not None else []
    )
    element_names += [element.name for element in result.world]
    of_things = set(_iter_naming_words(text, element_names)) - people
    rest = [word for word in words if word not in people]
    return [word for word in rest if word not in of_things] or rest


def _iter_people_names(result: RetrievalResult) -> Iterator[str]:
    """Yield the names of all characters found and of the speakers of all lines found."""
    for profile in result.character_profiles:
        yield from iter_profile_names(profile)
    yield from dict.fromkeys(quote.speaker for quote in result.lines)


def strip_request_phrase(text: str) -> str:
    """Return `text` without phrases such as "tell me" and "does the text say".

    Unchanged if nothing would remain.
    """
    stripped_text = lexicon.GAP_PROBE_PATTERN.sub(
        " ", lexicon.REQUEST_PATTERN.sub(" ", text)
    )
    return " ".join(stripped_text.split()) or text


def _iter_naming_words(text: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the words by which a text names something: complete names, or capitalized
    parts.
    """
    words = {normalize_word(word) for word in WORD_PATTERN.findall(text)}
    capital = {normalize_word(w) for w in WORD_PATTERN.findall(text) if w[0].isupper()}
    for name in names:
        name_words = set(extract_content_words(name))
        yield from name_words if name_words <= words else name_words & capital


def parse_chapter_numbers(text: str) -> frozenset[int]:
    """Return the numbers of the chapters that `text` asks about.

    "Chapter 3" and "ch. three" count; "after chapter 3" and the like name no chapter.
    """
    number_words = _NUMBERS.split("|")
    numbers = (
        match["number"].lower()
        for match in _CHAPTER.finditer(text)
        if not match["beyond"]
    )
    return frozenset(
        int(number) if number.isdecimal() else number_words.index(number) + 1
        for number in numbers
    )


def find_chapter_words(text: str) -> list[str]:
    """Return the content words of phrases such as "chapter three" in `text`.

    A passage need not contain them to answer a question.
    """
    chapter_names = " ".join(match["whole"] for match in _CHAPTER.finditer(text))
    return extract_content_words(chapter_names)


def find_profiles_in_text(
    text: str, people: Iterable[CharacterProfile]
) -> frozenset[str]:
    """Return the full names of those `people` whose name or an alias occurs in `text`.

    All content words of that name must occur, in any order; case is ignored.
    """
    words = set(extract_content_words(text))
    return frozenset(
        person.name
        for person in people
        if any(
            words.issuperset(extract_content_words(form))
            for form in iter_profile_names(person)
        )
    )


def iter_profile_names(profile: CharacterProfile) -> Iterator[str]:
    """Yield the full name of a character, then their aliases; the name may occur twice."""
    yield profile.name
    yield from (form.name for form in profile.aliases)


def _collect_forms(
    people: Collection[str], result: RetrievalResult
) -> tuple[tuple[str, ...], ...]:
    """Return all names of each of `people`."""
    profiles = result.character_profiles
    return tuple(
        tuple(iter_profile_names(profile))
        for profile in profiles
        if profile.name in people
    )


def _find_entities(text: str, plan: QuestionPlan) -> list[str]:
    words = set(extract_content_words(text))
    names = (entity.name for entity in plan.entities)
    return [name for name in names if words & set(extract_content_words(name))]


def _extract_naming_words(text: str) -> list[str]:
    ignored_words = ASPECT_WORDS | STOP_WORDS | _PARTICLES
    return [word for word in extract_content_words(text) if word not in ignored_words]


def map_words_to_labels(words: Iterable[str]) -> list[str]:
    """Return the labels that profiles use for what some words ask ("old": "age")."""
    return list(
        dict.fromkeys(_LABEL_BY_WORD[word] for word in words if word in _LABEL_BY_WORD)
    )


def _list_pronoun_referents(
    question: TurnQuestion, plan: QuestionPlan, result: RetrievalResult
) -> Sequence[str]:
    """Return the names that the pronouns of a question without names refer to."""
    if find_profiles_in_text(question.text, result.character_profiles):
        return ()
    return [
        entity.name for entity in plan.entities if entity.name != question.character
    ]
