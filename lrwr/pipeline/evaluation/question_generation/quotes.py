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
        """Yield questions on what people say about one thing in several places."""
        by_stem: dict[str, list[TopicQuote]] = defaultdict(list)
        for saying in self.single():
            by_stem[saying.topic.stem].append(saying)
        for sayings in self.sayings.values():
            places = tuple(saying.place for saying in sayings)
            is_complete = self._said(sayings[0]) == len(sayings)
            if is_complete and 2 <= len(sayings) <= _FEW and _are_apart(places):
                yield self._all_of(
                    f"What does {sayings[0].quote.speaker} say about"
                    f" {_the(sayings[0])} over the course of the story?",
                    sayings,
                )
        for topic_quotes in by_stem.values():
            for saying, other_saying in combinations(topic_quotes, 2):
                if _are_apart((saying.place, other_saying.place)):
                    yield self._all_of(
                        f"What do {saying.quote.speaker} and {other_saying.quote.speaker} each"
                        f" have to say about {_the(saying)}?",
                        (saying, other_saying),
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
        for name, mentions in by_name.items():
            for (speaker, place), (other_speaker, second) in combinations(mentions, 2):
                if _are_apart((place, second)):
                    yield QuestionDraft(
                        QuestionKind.SEVERAL,
                        f"What do {speaker} and {other_speaker} each say about {name}?",
                        (place, second),
                        "several quotations",
                        answer=self._answer((place, second)),
                        every=True,
                        about=(name, speaker, other_speaker),
                    )

    def _answer(self, places: Sequence[AnswerPlace]) -> str:
        return " … ".join(self._material.said(place) for place in places)

    def orders(self) -> Iterator[QuestionDraft]:
        """Yield questions on which of two things is spoken of first."""
        single = [topic_quote for topic_quote in self.single() if not topic_quote.asked]
        half = len(single) // 2
        for number, topic_quote in enumerate(single[:half]):
            other_quote = single[half + number]
            if not _are_apart((topic_quote.place, other_quote.place)):
                continue
            turned = number % 2 == 1
            first, second = (
                (other_quote, topic_quote) if turned else (topic_quote, other_quote)
            )
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
        """Return the sayings on topics that their speaker names only once, in story order."""
        alone = (
            topic_quotes[0]
            for topic_quotes in self.sayings.values()
            if len(topic_quotes) == 1
        )
        single_quotes = [saying for saying in alone if self._said(saying) == 1]
        return sorted(
            single_quotes, key=lambda saying: self._material.rank(saying.place)
        )

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
        """Count the quotations with the word that the same speaker may have spoken."""
        quotes_by_speaker = self._heard[topic_quote.topic.stem]
        quote_count = len(quotes_by_speaker.get(topic_quote.quote.speaker, ())) + len(
            quotes_by_speaker.get("", ())
        )
        return max(quote_count, 1)

    def _of_people(self) -> dict[tuple[str, str], tuple[AnswerPlace, ...]]:
        """Return the places where a speaker certainly mentions a person, if they are few."""
        places_by_pair: dict[tuple[str, str], dict[AnswerPlace, None]] = defaultdict(
            dict
        )
        unsure: Counter[tuple[str, str]] = Counter()
        for quote in self._material.bible.quotes:
            for name, place in self._spoken_of(quote):
                if quote.evidence.certainty in SURE:
                    places_by_pair[quote.speaker, name][place] = None
                else:
                    unsure[quote.speaker, name] += 1
        return {
            pair: tuple(places)
            for pair, places in places_by_pair.items()
            if len(places) <= _FEW
            and unsure[pair] < len(places)
            and pair[0] in self._forms
        }

    def _sayings(self) -> dict[tuple[str, str], list[TopicQuote]]:
        sayings: dict[tuple[str, str], list[TopicQuote]] = defaultdict(list)
        for quote in self._quotes:
            for span in quote.evidence.spans:
                for saying in self._in_stretch(quote, span):
                    sayings[quote.speaker, saying.topic.stem].append(saying)
        return sayings

    def _in_stretch(self, quote: AttributedQuote, span: Span) -> Iterator[TopicQuote]:
        document = quote.evidence.document
        text = self._material.texts[document]
        for topic in find_topics(text, span, self._material, rare=_RARE):
            place = self._material.sentence_at(document, topic.span.start)
            if place is not None and _is_enough(text, place.span):
                is_question = _is_asked(text, topic.span, place.span)
                yield TopicQuote(quote, topic, place, is_question)

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
    """Return one question on a saying; its wording depends on the saying alone."""
    quote = topic_quote.quote
    sure = quote.addressee and quote.addressee_certainty in SURE
    hearer = quote.addressee if sure else ""
    topic_phrase = _owned(topic_quote, hearer, material)
    turn = topic_quote.topic.span.start % 3
    answer = material.said(topic_quote.place)
    if topic_quote.asked:
        text = f"What does {quote.speaker} ask {f'{hearer} ' if hearer else ''}about {topic_phrase}?"
    elif hearer and hearer not in topic_phrase:
        text = f"What does {quote.speaker} tell {hearer} about {topic_phrase}?"
    elif turn == 0:
        text = (
            f"What does {quote.speaker} have to say on the subject of {topic_phrase}?"
        )
    else:
        text = f"What does {quote.speaker} say about {topic_phrase}?"
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
    """Return the topic with a definite article: "a lamp" becomes "the lamp"."""
    phrase = topic_quote.topic.said
    return (
        f"the {topic_quote.topic.noun}" if phrase.startswith(("a ", "an ")) else phrase
    )


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
    """Return the numbers of the quotations that contain each stem, by speaker."""
    numbers_by_stem: dict[str, dict[str, list[int]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for number, quote in enumerate(material.bible.quotes):
        words = WORD_PATTERN.findall(quote.evidence.text)
        for stem in {stem_noun(normalize_word(word)) for word in words}:
            numbers_by_stem[stem][quote.speaker].append(number)
    return numbers_by_stem


def _are_apart(places: Sequence[AnswerPlace]) -> bool:
    return all(
        place.document != other_place.document
        or abs(place.span.start - other_place.span.start) > _APART
        for place, other_place in combinations(places, 2)
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
    """Return the first offset of any of these names as a whole word; -1 if none."""
    starts = []
    for form in forms:
        at = text.find(form, span.start, span.end)
        after = text[at + len(form) : at + len(form) + 1]
        before = text[at - 1 : at] if at > 0 else ""
        if at >= 0 and not (before.isalpha() or after.isalpha()):
            starts.append(at)
    return min(starts, default=-1)
