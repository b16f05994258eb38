"""Splits an English question into parts and finds the words that say what each asks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.bible.kin_terms import read_kin_term
from lrwr.core.bible.values import CharacterProfile
from lrwr.core.chat.planning import lexicon
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.documents import Horizon
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    extract_content_words,
    normalize_word,
    normalize_words,
    parse_numeral,
)
from lrwr.core.model.turns import NO_CHAPTER, QuestionPlan
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.excerpts import (
    PassageSource,
    weigh_question_words,
)
from lrwr.core.retrieval.people import infer_question_role
from lrwr.core.retrieval.retrievers import WordWeights
from lrwr.core.retrieval.story import StoryOrder, parse_horizon

_ASPECTS = (
    "related relation relations relationship relationships describe description look"
    " looks like likes kind sort trait traits personality behave happen happens"
    " happened happening mention mentioned recap summary summarise summarize think"
    " thinks feel feels say says said tell tells know knows believe believes habit"
    " habits note notes noted wrote written chapter chapters compare compared contrast"
    " text manuscript draft ever never really actually exactly remember remembers"
    " remembered recall recalls"
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

_KIND_WORDS = frozenset(
    [
        "whereabouts", "nationality", "surname", "nickname", "alias", "address",
        "narrator", "author", "reader", "profession", "occupation",
        "height", "size", "big", "tall",
    ]
)  # fmt: skip
"""Words for a kind of information, of which a text has the information."""

_LABEL_BY_WORD = MappingProxyType(
    {
        "old": "age", "birthday": "age", "live": "home", "lives": "home",
        "lived": "home", "job": "occupation", "living": "occupation",
        "profession": "occupation", "trade": "occupation", "afraid": "fears",
        "clothes": "clothing",
        "value": "values", "dead": "life", "alive": "life",
    }
)  # fmt: skip
"""The labels that profiles and notes use for what a word asks about."""

_MIN_PART_WORDS = 3
"""Words below which a part does not stand alone: "how and why did she leave" is one
question."""

_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    "|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty)"
    "(?:-(?:one|two|three|four|five|six|seven|eight|nine))?"
)
_NUMBER = rf"(?:\d{{1,4}}|{_NUMBER_WORDS}|(?-i:[IVXLC]{{2,}}|[VX]))\b"
"""A number of a chapter. A lone I is none: "the chapter I wrote"."""

_CHAPTER = re.compile(
    r"\b(?:(?P<relation>by|before|after|since|until|till|from|up\s+to|to|than|through"
    r"|as\s+of|as\s+at)\s+)?"
    r"(?:the\s+(?:very\s+)?(?P<edge>end|close|start|beginning|opening)\s+of\s+)?"
    r"(?P<whole>(?P<volume>(?:volume|vol\.?|book|part)\s+"
    rf"(?:{_NUMBER}|(?-i:I)\b)[\s,.;:]+)?"
    rf"(?:ch(?:apter|\.)?\s*(?P<number>{_NUMBER})"
    rf"|(?(volume)(?P<bare>{_NUMBER}|(?-i:I)\b)|(?!))))",
    re.IGNORECASE,
)
"""A chapter by its number, or by those of volume and chapter, and its place in the
phrase: "before chapter 3", "by the end of Book II, 5"."""

_FIRST_CHAPTERS = re.compile(
    rf"\b(?:in|within|during|over)\s+the\s+first\s+(?P<number>{_NUMBER})\s+chapters\b",
    re.IGNORECASE,
)

_BOUNDS = frozenset(
    {"by", "before", "until", "till", "up to", "through", "as of", "as at"}
)
"""Words before a chapter that limit a question to the story up to it."""

_EARLY_EDGES = frozenset({"start", "beginning", "opening"})


@dataclass(frozen=True, slots=True)
class ChapterBound:
    """The last chapter that a question is about: `reference` as a horizon is typed, and
    `includes`, which is false for "before chapter 5".
    """

    reference: str
    includes: bool = True


_QUESTION_BOUNDARY = re.compile(
    r"[;?!]\s+(?=\w)"
    r"|,?\s+(?:and|but|or)\s+(?=(?:also\s+)?(?:who|whom|whose|what|when|where|why|how"
    r"|which|is|are|was|were|does|do|did|has|have|had|can|could|would|will)\b)",
    re.IGNORECASE,
)
"""The boundary between two questions in one sentence."""


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One thing that a question asks for; most questions have one part, some have two.

    `text` is the part, followed by the names that its pronouns refer to. `words` and
    `naming` weigh its words by rarity: `words` those that say what is asked, without
    names of people; `naming` those that carry meaning, names included. `people` are the
    characters it names, empty for anybody. `is_of_something` means that it
    names a known character or entity, `allows_speech` that dialogue lines may answer
    it.
    """

    text: str
    words: WordWeights
    naming: WordWeights
    people: frozenset[str] = frozenset()
    is_of_something: bool = False
    allows_speech: bool = True

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
        question_words = extract_question_words(text, plan, result, question.cast)
        parts.append(
            QuestionPart(
                text=part_text,
                words=await weigh_question_words(
                    [*question_words, *map_words_to_labels(question_words)],
                    passage_source,
                ),
                people=people,
                is_of_something=bool(people or _find_entities(text, plan)),
                naming=await weigh_question_words(
                    _extract_naming_words(part_text), passage_source
                ),
                allows_speech=len(texts) == 1
                or lexicon.SPEECH_PATTERN.search(text.lower()) is not None,
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
    text: str,
    plan: QuestionPlan | None,
    result: RetrievalResult,
    cast: Sequence[Sequence[str]] = (),
) -> list[str]:
    """Return the normalized words of `text` that say what is asked, not about whom.

    In "what does Nell wear" that is "wear". The name of a thing counts as what is asked
    if nothing else remains. Names are those in `result` and, if not None, in `plan`;
    `cast` has all names of each character.
    Empty if the question only names a character.
    """
    text = remove_chapter_references(strip_request_phrase(text))
    words = _extract_naming_words(text)
    people = set(_iter_naming_words(text, _iter_people_names(result, cast)))
    element_names = (
        [entity.name for entity in plan.entities] if plan is not None else []
    )
    element_names += [element.name for element in result.world]
    of_things = set(_iter_naming_words(text, element_names)) - people
    rest = [word for word in words if word not in people]
    return [word for word in rest if word not in of_things] or rest


def _iter_people_names(
    result: RetrievalResult, cast: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Yield the names of all characters found and of the speakers of all lines found."""
    for profile in result.character_profiles:
        yield from iter_profile_names(profile)
    speakers = dict.fromkeys(quote.speaker for quote in result.lines)
    yield from speakers
    for forms in cast:
        if not speakers.keys().isdisjoint(forms):
            yield from forms


def strip_request_phrase(text: str) -> str:
    """Return `text` without phrases such as "tell me" and "does the text say".

    Unchanged if nothing would remain.
    """
    stripped_text = lexicon.GAP_PROBE_PATTERN.sub(" ", lexicon.strip_request(text))
    return " ".join(stripped_text.split()) or text


def _iter_naming_words(text: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the words by which a text names something: complete names, or capitalized
    parts.
    """
    words = set(normalize_words(text))
    capital = {normalize_word(w) for w in WORD_PATTERN.findall(text) if w[0].isupper()}
    for name in names:
        name_words = set(extract_content_words(name))
        yield from name_words if name_words <= words else name_words & capital


def parse_chapter_numbers(text: str) -> frozenset[int]:
    """Return the numbers of the chapters that `text` asks about.

    "Chapter 3", "ch. three" and "the end of chapter 3" count; "after chapter 3", "by the
    end of chapter 3" and the like name no chapter, nor does a chapter of a volume.
    """
    numbers = (
        parse_numeral(match["number"])
        for match in _CHAPTER.finditer(text)
        if not (match["relation"] or match["volume"])
    )
    return frozenset(number for number in numbers if number is not None)


def find_chapters_after(text: str) -> list[int]:
    """Return the numbers of the chapters that follow "since" or "after" in `text`."""
    numbers = (
        parse_numeral(match["number"])
        for match in _CHAPTER.finditer(text)
        if (match["relation"] or "").lower() in ("since", "after") and match["number"]
    )
    return [number for number in numbers if number is not None]


def find_chapter_words(text: str) -> list[str]:
    """Return the content words of phrases such as "chapter three" in `text`.

    A passage need not contain them to answer a question.
    """
    names = " ".join(match.group() for match in _CHAPTER.finditer(text))
    return extract_content_words(names)


def remove_chapter_references(text: str) -> str:
    """Return `text` without phrases such as "by the end of chapter three"."""
    return _FIRST_CHAPTERS.sub(" ", _CHAPTER.sub(" ", text))


def remove_chapter_bound(text: str) -> str:
    """Return `text` without the chapter up to which it asks, if it names one."""
    return text if find_chapter_bound(text) is None else remove_chapter_references(text)


def find_chapter_bound(text: str) -> ChapterBound | None:
    """Return the last chapter that a question is about, as in "by chapter 6", "before
    the end of Book II, 3" or "in the first ten chapters"; None if it names none.
    """
    for match in _CHAPTER.finditer(text):
        relation = " ".join((match["relation"] or "").lower().split())
        if relation not in _BOUNDS:
            continue
        edge = (match["edge"] or "").lower()
        before_it = relation == "before" and not edge
        return ChapterBound(
            match["whole"], includes=not before_it and edge not in _EARLY_EDGES
        )
    first = _FIRST_CHAPTERS.search(text)
    return ChapterBound(f"chapter {first['number']}") if first else None


def find_question_horizon(
    text: str, limit: Horizon | None, order: StoryOrder
) -> Horizon | None:
    """Return the point of the story up to which `text` asks, if it is before `limit`,
    the horizon that applies anyway; else `limit`.

    Raises:
        NotFound: The question names a chapter that the story does not have.
    """
    bound = find_chapter_bound(text)
    if bound is None:
        return limit
    horizon = parse_horizon(bound.reference, order)
    if not bound.includes:
        if horizon.chapter <= 1:
            return limit
        horizon = parse_horizon(f"ch{horizon.chapter - 1}", order)
    if limit is not None and limit.chapter <= horizon.chapter:
        return limit
    return horizon


def describe_question_chapters(
    text: str, order: StoryOrder, horizon: Horizon | None, limit: Horizon | None
) -> str:
    """Return the remark on an answer whose question `text` sets a `horizon` other than
    the `limit` that applies anyway, or names chapters that the story does not have; ""
    for other questions.
    """
    if horizon is not None and horizon != limit:
        return (
            f"Nothing after chapter {horizon.chapter} was read, as the question says."
        )
    missing = sorted(n for n in parse_chapter_numbers(text) if n > order.last)
    if not missing:
        return ""
    numbers = " or ".join(map(str, missing))
    return f"{NO_CHAPTER} {numbers}; its last chapter is {order.last}."


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


def build_name_pattern(names: Iterable[str], text: str) -> str | None:
    """Return a pattern of those `names` that occur in `text`, a longer one first; None
    if there are none.

    It finds in `text` what a pattern of all names finds, and is not as large as a cast.
    """
    present = sorted({name for name in names if name in text}, key=len, reverse=True)
    return "|".join(map(re.escape, present)) if present else None


def find_people_named(text: str, cast: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Return those of `cast`, the names of each character, whom `text` names, in its
    order. "Ada Pike" names Ada, not everybody called Pike.
    """
    named = [forms for forms in cast if any(form in text for form in forms)]
    names = {form for forms in named for form in forms if form[:1].isupper()}
    pattern = build_name_pattern(names, text)
    if pattern is None:
        return []
    matches = re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", text)
    people = [forms for name in matches for forms in named if name in forms]
    return list(dict.fromkeys(people))


def find_speaker_names(text: str, cast: Iterable[Sequence[str]]) -> list[str]:
    """Return the names, as `text` has them, of the characters of whom it asks what they
    say. Each item of `cast` has all names of a character. "Nell's aunt" is not Nell.
    """
    names = build_name_pattern((form for forms in cast for form in forms), text)
    if names is None:
        return []
    pattern = re.compile(rf"(?<!\w)(?:{names})(?!\w|['’])")
    speakers = (
        match.group()
        for match in pattern.finditer(text)
        if infer_question_role(text, match.start()) is AppearanceRole.SPEAKS
    )
    return list(dict.fromkeys(speakers))


def iter_profile_names(profile: CharacterProfile) -> Iterator[str]:
    """Yield the full name of a character, then their aliases; the name may occur twice."""
    yield profile.name
    yield from (form.name for form in profile.aliases)


def _find_entities(text: str, plan: QuestionPlan) -> list[str]:
    words = set(extract_content_words(text))
    names = (entity.name for entity in plan.entities)
    return [name for name in names if words & set(extract_content_words(name))]


def _extract_naming_words(text: str) -> list[str]:
    ignored_words = ASPECT_WORDS | STOP_WORDS | _PARTICLES
    return [word for word in extract_content_words(text) if word not in ignored_words]


def is_unneeded_word(word: str) -> bool:
    """Return whether a text can answer a question without `word`, which only says what
    to report: an aspect, a kind of information, or a relative.
    """
    return (
        word in ASPECT_WORDS
        or word in _KIND_WORDS
        or read_kin_term(word) is not None
        or read_kin_term(word.rstrip("s")) is not None
    )


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
