"""Questions about what people say, from quotations whose speaker is sure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lrwr.core.bible.values import AttributedQuote
from lrwr.core.model.cast import Gender
from lrwr.core.model.text import WORD_PATTERN, Span, normalize_word
from lrwr.pipeline.evaluation.question_generation.draft import QuestionDraft
from lrwr.pipeline.evaluation.question_generation.source_material import (
    SURE,
    SourceMaterial,
    TopicNoun,
    find_topics,
    stem_noun,
)
from lrwr.pipeline.evaluation.questions import AnswerPlace, QuestionKind

MADE = "a quotation"

_FEW = 3
_RARE = 30
"""How often a word may stand in the text that somebody is to have said once."""
_APART = 1500
"""Characters between two places that no one passage is expected to hold."""
_TELLING = 8
"""Words that a sentence needs to say something of somebody."""


@dataclass(frozen=True, slots=True)
class TopicQuote:
    """A quotation that holds a topic, and the sentence it stands in."""

    quote: AttributedQuote
    topic: TopicNoun
    place: AnswerPlace
    asked: bool


class QuoteQuestionDrafter:
    """What is said in a manuscript, by whom, and about what."""

    def __init__(self, material: SourceMaterial) -> None:
        self._material = material
        people = {character_profile.name for character_profile in material.people()}
        self._quotes = [
            quote
            for quote in material.bible.quotes
            if quote.speaker in people and quote.evidence.certainty in SURE
        ]
        self._heard = _stems_by_speaker(material)
        self._forms = {
            character_profile.name: material.forms(character_profile)
            for character_profile in material.people()
        }
        self._people = self._of_people()
        self.sayings = self._sayings()

    def facts(self) -> Iterator[QuestionDraft]:
        """Yield questions on what somebody says of what they name once."""
        for topic_quote in self.single():
            yield _asked(topic_quote, self._material)

    def several(self) -> Iterator[QuestionDraft]:
        """Yield questions on what is said of one thing in several places."""
        by_stem: dict[str, list[TopicQuote]] = defaultdict(list)
        for one in self.single():
            by_stem[one.topic.stem].append(one)
        for sayings in self.sayings.values():
            places = tuple(saying.place for saying in sayings)
            whole = self._said(sayings[0]) == len(sayings)
            if whole and 2 <= len(sayings) <= _FEW and _are_apart(places):
                yield self._all_of(
                    f"What does {sayings[0].quote.speaker} say about"
                    f" {_the(sayings[0])} over the course of the story?",
                    sayings,
                )
        for same in by_stem.values():
            for one, other in combinations(same, 2):
                if _are_apart((one.place, other.place)):
                    yield self._all_of(
                        f"What do {one.quote.speaker} and {other.quote.speaker} each"
                        f" have to say about {_the(one)}?",
                        (one, other),
                    )

    def ties(self) -> Iterator[QuestionDraft]:
        """Yield questions on what somebody says of somebody who is not addressed."""
        for (speaker, name), places in self._people.items():
            yield QuestionDraft(
                QuestionKind.RELATIONSHIP,
                f"What does {speaker} say about {name}?",
                places,
                MADE,
                answer=self._answer(places),
                about=(speaker, name),
            )

    def views(self) -> Iterator[QuestionDraft]:
        """Yield questions on what two people say of a third."""
        by_name: dict[str, list[tuple[str, AnswerPlace]]] = defaultdict(list)
        for (speaker, name), places in self._people.items():
            if len(places) == 1:
                by_name[name].append((speaker, places[0]))
        for name, said in by_name.items():
            for (one, place), (other, second) in combinations(said, 2):
                if _are_apart((place, second)):
                    yield QuestionDraft(
                        QuestionKind.SEVERAL,
                        f"What do {one} and {other} each say about {name}?",
                        (place, second),
                        "several quotations",
                        answer=self._answer((place, second)),
                        every=True,
                        about=(name, one, other),
                    )

    def _answer(self, places: Sequence[AnswerPlace]) -> str:
        return " … ".join(self._material.said(place) for place in places)

    def orders(self) -> Iterator[QuestionDraft]:
        """Yield questions on which of two things is spoken of first."""
        single = [topic_quote for topic_quote in self.single() if not topic_quote.asked]
        half = len(single) // 2
        for number, one in enumerate(single[:half]):
            other = single[half + number]
            if not _are_apart((one.place, other.place)):
                continue
            turned = number % 2 == 1
            first, second = (other, one) if turned else (one, other)
            yield QuestionDraft(
                QuestionKind.TIMELINE,
                f"Does {_speaks(first)} before or after {_speaks(second, 's')}?",
                (first.place, second.place),
                "two quotations",
                answer="After." if turned else "Before.",
                every=True,
                about=(first.quote.speaker, first.topic.stem),
            )

    def single(self) -> list[TopicQuote]:
        """Return what somebody says of what they name once, in story order."""
        alone = (own[0] for own in self.sayings.values() if len(own) == 1)
        once = [one for one in alone if self._said(one) == 1]
        return sorted(once, key=lambda one: self._material.rank(one.place))

    def _all_of(self, text: str, sayings: Sequence[TopicQuote]) -> QuestionDraft:
        return QuestionDraft(
            QuestionKind.SEVERAL,
            text,
            tuple(saying.place for saying in sayings),
            "several quotations",
            answer=self._answer([saying.place for saying in sayings]),
            every=True,
            about=(sayings[0].topic.stem,),
        )

    def _said(self, topic_quote: TopicQuote) -> int:
        """Count the quotations that may be the same speaker's and hold the word."""
        held = self._heard[topic_quote.topic.stem]
        told = len(held.get(topic_quote.quote.speaker, ())) + len(held.get("", ()))
        return max(told, 1)

    def _of_people(self) -> dict[tuple[str, str], tuple[AnswerPlace, ...]]:
        """Return where somebody surely speaks of somebody, if in few places at most."""
        said: dict[tuple[str, str], dict[AnswerPlace, None]] = defaultdict(dict)
        unsure: Counter[tuple[str, str]] = Counter()
        for quote in self._material.bible.quotes:
            for name, place in self._spoken_of(quote):
                if quote.evidence.certainty in SURE:
                    said[quote.speaker, name][place] = None
                else:
                    unsure[quote.speaker, name] += 1
        return {
            pair: tuple(own)
            for pair, own in said.items()
            if len(own) <= _FEW and unsure[pair] < len(own) and pair[0] in self._forms
        }

    def _sayings(self) -> dict[tuple[str, str], list[TopicQuote]]:
        found: dict[tuple[str, str], list[TopicQuote]] = defaultdict(list)
        for quote in self._quotes:
            for span in quote.evidence.spans:
                for saying in self._in_stretch(quote, span):
                    found[quote.speaker, saying.topic.stem].append(saying)
        return found

    def _in_stretch(self, quote: AttributedQuote, span: Span) -> Iterator[TopicQuote]:
        document = quote.evidence.document
        text = self._material.texts[document]
        for topic in find_topics(text, span, self._material, rare=_RARE):
            place = self._material.sentence_at(document, topic.span.start)
            if place is not None and _is_enough(text, place.span):
                asked = _is_asked(text, topic.span, place.span)
                yield TopicQuote(quote, topic, place, asked)

    def _spoken_of(self, quote: AttributedQuote) -> Iterator[tuple[str, AnswerPlace]]:
        """Yield whom a quotation names, its hearer and speaker apart, and where."""
        document = quote.evidence.document
        text = self._material.texts[document]
        for name, forms in self._forms.items():
            if name in (quote.speaker, quote.addressee):
                continue
            for span in quote.evidence.spans:
                at = _first_of(forms, text, span)
                place = self._material.sentence_at(document, at) if at >= 0 else None
                if place is not None and _says_something(text, place.span):
                    yield name, place


def _asked(topic_quote: TopicQuote, material: SourceMaterial) -> QuestionDraft:
    """Return one question on a saying; how it is asked depends on the saying alone."""
    quote = topic_quote.quote
    sure = quote.addressee and quote.addressee_certainty in SURE
    hearer = quote.addressee if sure else ""
    said = _owned(topic_quote, hearer, material)
    turn = topic_quote.topic.span.start % 3
    answer = material.said(topic_quote.place)
    if topic_quote.asked:
        text = f"What does {quote.speaker} ask {f'{hearer} ' if hearer else ''}about {said}?"
    elif hearer and hearer not in said:
        text = f"What does {quote.speaker} tell {hearer} about {said}?"
    elif turn == 0:
        text = f"What does {quote.speaker} have to say on the subject of {said}?"
    else:
        text = f"What does {quote.speaker} say about {said}?"
    return QuestionDraft(
        QuestionKind.FACT,
        text,
        (topic_quote.place,),
        MADE,
        answer=answer,
        about=(quote.speaker, topic_quote.topic.stem),
    )


def _speaks(topic_quote: TopicQuote, ending: str = "") -> str:
    return f"{topic_quote.quote.speaker} speak{ending} of {topic_quote.topic.said}"


def _the(topic_quote: TopicQuote) -> str:
    """Return what is spoken of more than once: "a lamp" is "the lamp" then."""
    said = topic_quote.topic.said
    return f"the {topic_quote.topic.noun}" if said.startswith(("a ", "an ")) else said


def _owned(topic_quote: TopicQuote, hearer: str, material: SourceMaterial) -> str:
    """Return what is spoken of, with whose it is where that is plain."""
    if topic_quote.topic.owner == "my":
        return (
            f"{_his(topic_quote.quote.speaker, material)} own {topic_quote.topic.noun}"
        )
    if topic_quote.topic.owner == "your" and hearer:
        return f"{hearer}’s {topic_quote.topic.noun}"
    return topic_quote.topic.said


def _his(name: str, material: SourceMaterial) -> str:
    genders = {
        character_profile.name: character_profile.gender
        for character_profile in material.people()
    }
    return {Gender.FEMALE: "her", Gender.MALE: "his"}.get(genders[name], "their")


def _stems_by_speaker(material: SourceMaterial) -> dict[str, dict[str, list[int]]]:
    """Return in which quotations of whom each word stands, whoever is sure of it."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, quote in enumerate(material.bible.quotes):
        words = WORD_PATTERN.findall(quote.evidence.text)
        for stem in {stem_noun(normalize_word(word)) for word in words}:
            found[stem][quote.speaker].append(number)
    return found


def _are_apart(places: Sequence[AnswerPlace]) -> bool:
    return all(
        one.document != other.document
        or abs(one.span.start - other.span.start) > _APART
        for one, other in combinations(places, 2)
    )


def _is_asked(text: str, topic: Span, sentence: Span) -> bool:
    rest = text[topic.end : sentence.end]
    ends = [rest.find(mark) for mark in ".!?" if mark in rest]
    return bool(ends) and rest[min(ends)] == "?"


def _is_enough(text: str, sentence: Span) -> bool:
    return len(text[sentence.start : sentence.end].split()) >= _TELLING


def _says_something(text: str, sentence: Span) -> bool:
    return len(text[sentence.start : sentence.end].split()) >= _TELLING


def _first_of(forms: Sequence[str], text: str, span: Span) -> int:
    """Return where one of these names stands first as a whole word; -1 if none."""
    found = []
    for form in forms:
        at = text.find(form, span.start, span.end)
        after = text[at + len(form) : at + len(form) + 1]
        before = text[at - 1 : at] if at > 0 else ""
        if at >= 0 and not (before.isalpha() or after.isalpha()):
            found.append(at)
    return min(found, default=-1)
