"""Splits an English question into parts and finds the words that say what each asks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lrwr.core.bible.kin_directory import read_kin_term
from lrwr.core.bible.values import CharacterProfile, Gap, list_gap_implications
from lrwr.core.chat.planning import lexicon
from lrwr.core.chat.state import RetrievalResult, TurnQuestion
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    extract_content_words,
    normalize_word,
)
from lrwr.core.model.turns import GapFlag, QuestionPlan
from lrwr.core.retrieval.excerpts import (
    PassageSource,
    weigh_question_words,
)
from lrwr.core.retrieval.retrievers import WordWeights

_THING = r"(?P<thing>[a-z][\w-]*(?: [a-z][\w-]*){0,3}?)"
_NO_ATTRIBUTES = frozenset(
    [
        "thing",
        "things",
        "way",
        "part",
        "plan",
        "idea",
        "idea",
        "opinion",
        "reaction",
        "answer",
        "reason",
        "role",
        "fault",
        "life",
        "point",
        "problem",
        "matter",
        "relation",
        "relationship",
        "feeling",
        "feelings",
    ]
)
"""Nouns after "Nell's" that are no attribute which a story defines once."""
_FORMS = tuple(
    (re.compile(pattern, re.I), attribute)
    for pattern, attribute in (
        (r"\bhow old\b|\b(?:what|which) age\b", "age"),
        (r"\bhow tall\b", "height"),
        (r"\b(?:when|what (?:day|year)) (?:is|was)\b.*\bborn\b", "birth"),
        (r"\bwhere (?:is|was)\b.*\bborn\b", "place of birth"),
        (r"\bwhere (?:do|does|did)\b.*\b(?:live|dwell|lodge|reside)\b", "home"),
        (
            rf"\bwhat (?:(?:is|was) the )?(?P<kind>colou?r|name) (?:of|is|are|was|were)\b"
            rf".*?(?:['’]s?|\bhis|\bher|\btheir) {_THING}\W*$",
            "",
        ),
        (rf"\b(?:what|who)(?:['’]s| is| are| was| were)\b.*?['’]s? {_THING}\W*$", ""),
        (rf"\bwhat(?:['’]s| is| are| was| were) the {_THING} of\b", ""),
        (rf"\b(?:has|have|had)\b.*? (?:an?|any) {_THING}\W*$", ""),
        (
            rf"\b(?:do|does|did)\b.*? (?:have|own|keep) (?:an?|any) {_THING}\W*$",
            "",
        ),
    )
)
"""Questions for an attribute; without a fixed name, it is the group `thing`."""


def find_question_gap(
    question: TurnQuestion, result: RetrievalResult, plan: QuestionPlan | None = None
) -> GapFlag | None:
    """Return a gap for the attribute of a character that `question` asks for; None if
    it asks for something else, about nobody or several, or up to a horizon.

    The character is the one who is talked to, else the only one of `result`, else the
    only entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    attribute = find_asked_attribute(question.text)
    if not about or not attribute or question.horizon is not None:
        return None
    return GapFlag(about, attribute)


def find_asked_attribute(text: str) -> str:
    """Return the attribute that an English question asks for, such as "age" or
    "favourite song"; "" if it asks for something else, such as a reason.
    """
    words = " ".join(text.split())
    for pattern, attribute in _FORMS:
        if match := pattern.search(words):
            groups = match.groupdict()
            thing = (groups.get("thing") or "").casefold()
            if thing and thing.split()[-1] in _NO_ATTRIBUTES:
                return ""
            match (groups.get("kind") or "").casefold():
                case "":
                    return attribute or thing
                case "name":
                    return f"name of {thing}"
                case colour:
                    return f"{thing.removesuffix('s')} {colour}"
    return ""


def build_gap_from_ledger(gap: Gap) -> GapFlag:
    """Return `gap`, of the story bible, in the form that answers use.

    Of its suggestions only the first is included.
    """
    implied = "; ".join(list_gap_implications(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))


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

_KIND_WORDS = frozenset(
    [
        "whereabouts", "nationality", "surname", "nickname", "alias", "address",
        "narrator", "author", "reader", "profession", "occupation",
    ]
)  # fmt: skip
"""Words for a kind of information, of which a text has the information."""

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
        question_words = extract_question_words(text, plan, result)
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
    stripped_text = lexicon.GAP_PROBE_PATTERN.sub(" ", lexicon.strip_request(text))
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
