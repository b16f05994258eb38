"""The texts and story data from which questions are generated."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.bible.projection import StoryKnowledge, project_bible
from lrwr.core.bible.service import BibleService
from lrwr.core.bible.values import Bible, CharacterProfile, TextEvidence
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import (
    STOP_WORDS,
    WORD_PATTERN,
    SentenceSplitter,
    Span,
    normalize_word,
    stem_lightly,
)
from lrwr.core.retrieval.story import StoryOrder
from lrwr.pipeline.evaluation.questions import (
    AnswerPlace,
    GoldQuote,
    QuestionKind,
    find_quote_places,
)

_VAGUE_TEXT = (
    "able about above absolute accident account across afraid afternoon along"
    " also always amount answer any anything attempt aware away back beautiful"
    " been beginning being below best better bit brave cannot case certain chance"
    " chap clever come coming could course creature day days dead dear degree"
    " difference different does doing done doubt down dozen effect eight eighth"
    " eighty eleven else end ends even evening ever everything evil example fact"
    " favor favour fellow few fifteen fifth fifty first five following foolish"
    " former forty found four fourteen fourth friend from future given glad going"
    " gone good great habit half hates have having here herself himself hold hour"
    " hours hundred idea instance into itself just kind kinds known last latter"
    " least left length less life like likes little living look lost lot loved"
    " lovely mad made manner many matter matters middle might mind minute minutes"
    " mistake moment moments month more morning most much must myself name names"
    " nearest never next night nights nine ninety ninth nothing number occasion"
    " often old once one ones only open opposite ordinary other others own part"
    " parts past people person piece place places pleasure point poor present"
    " pretty purpose quarter question quite rate ready real reason rest rich"
    " right round said sake same saying second seen sense seven seventh seventy"
    " shall should shut side sides sight sixth sixty someone something sorry sort"
    " sorts start step still strong stupid such sure taken tenth themselves then"
    " there thing things third thirteen thirty thousand three time times today"
    " told tomorrow tone trouble true truth turn twelve twenty two ugly upon use"
    " used very view want wants way ways weak week well were while whole wicked"
    " will wise with word words world worse worst would wrong year years"
    " yesterday young yourself"
    " afterwards later ago apart together upstairs downstairs outside inside abroad"
    " girl boy man men woman women child children mother father brother sister lady"
    " ladies gentleman gentlemen husband wife son daughter mark"
)
VAGUE_WORDS = frozenset(_VAGUE_TEXT.split())
"""Words that name nothing a question could ask about."""

_BODY_TEXT = (
    "them hand hands head eyes face feet arm arms foot finger fingers voice lips"
    " shoulders shoulder mouth breath glance eye seat step heart cuff hair knee knees"
    " tongue toe nose neck chest skin cheek cheeks chin ear ears"
)
BODY = frozenset(_BODY_TEXT.split())
"""Parts of the body, which nobody asks about."""

RARE = 9
"""Occurrences of a word in all texts up to which it identifies a place."""
_ENDED_TEXT = (
    "in on at to from with by and or but is was were are had has have if who when"
    " before after as than because into upon over under behind again till until for"
    " i you he she it they we"
)
_ENDED = "|".join(_ENDED_TEXT.split())
AFTER = rf"(?=[.,;:!?—”\"’')]|\s(?:{_ENDED})\b)(?![’'][a-z])"
"""Pattern of what may follow a noun that ends a phrase."""
_DET = r"(?i:the|an?|my|your|his|our|their)"
_PLAIN = re.compile(rf"\b{_DET} (?P<noun>[a-z]{{4,}}){AFTER}")
_NOUN = re.compile(
    rf"\b(?P<det>{_DET}|(?i:with|without|for|about|from|no|some|any|more|two|three"
    r"|four|five|six|these|those|this)) "
    rf"(?:(?P<kind>[a-z]+(?:-[a-z]+)?) )?(?P<noun>[a-z]{{4,}}){AFTER}"
)
_PREDICATE = re.compile(
    r"(?:\b(?:is|was|be|are|were|been|being|like|as|mere|merely|such|becomes?|became"
    r"|called|than|of|simply|only)(?: (?:not|even|merely|simply|only|just|but|perhaps))*|,) $",
    re.IGNORECASE,
)
"""Text before a noun that is a predicate or a comparison, not a thing."""
_LOOK_BEHIND = 24
"""Characters before a noun that are searched for a predicate."""
_NO_NOUN = (
    "ly",
    "ing",
    "ous",
    "ful",
    "ible",
    "able",
    "est",
    "ive",
    "ish",
    "less",
    "ed",
)
_ABSTRACT = ("ism", "ness", "ity", "ics", "ence", "ance", "thy", "dom", "ship")


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question with the places in the text that answer it, before its quotes are
    checked.

    `made` names the source of the question. `every` means that the answer needs all
    places instead of any one. `about` names its subjects; no two selected drafts have
    the same. `as_of` is the chapter number of its horizon, 0 for none; `spoilers` are
    places after the horizon that answer the question.
    """

    kind: QuestionKind
    text: str
    places: tuple[AnswerPlace, ...]
    made: str
    answer: str = ""
    every: bool = False
    about: tuple[str, ...] = ()
    as_of: int = 0
    spoilers: tuple[AnswerPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicNoun:
    """A noun or name in a text that a question can ask about, with its stem and span.

    `phrase` is its wording in a question ("the lamp", "a lamp").
    """

    phrase: str
    noun: str
    stem: str
    span: Span


def collect_nouns(texts: Iterable[str]) -> frozenset[str]:
    """Return the stems of all words in `texts` that follow an article or a
    possessive.
    """
    return frozenset(
        stem_noun(match["noun"]) for text in texts for match in _PLAIN.finditer(text)
    )


def find_topics(
    text: str, span: Span, material: "SourceMaterial", rare: int = RARE
) -> Iterator[TopicNoun]:
    """Yield the rare nouns within `span` of `text`, then the rare names; each stem
    once.

    A noun is rare if its stem occurs at most `rare` times in all texts of `material`.
    """
    yielded_stems: set[str] = set()
    for match in _NOUN.finditer(text, span.start, span.end):
        stem = stem_noun(match["noun"])
        before = text[max(span.start, match.start() - _LOOK_BEHIND) : match.start()]
        if (
            stem in yielded_stems
            or (match["kind"] or "") in VAGUE_WORDS
            or _PREDICATE.search(before)
        ):
            continue
        if not is_distinctive_noun(match["noun"], material, rare):
            continue
        yielded_stems.add(stem)
        phrase = _phrase_topic(match["noun"], match["det"].lower())
        yield TopicNoun(phrase, match["noun"], stem, Span(*match.span("noun")))
    for name in material.rare_names:
        at = text.find(name, span.start, span.end)
        if at >= 0 and not _is_inside_word(text, at, len(name)):
            place = Span(at, at + len(name))
            yield TopicNoun(name, name, name.casefold(), place)


def is_distinctive_noun(noun: str, material: "SourceMaterial", rare: int) -> bool:
    """Return whether `noun` is used as a noun in the texts, and occurs at most `rare`
    times.
    """
    stem = stem_noun(noun)
    is_noun = stem in material.nouns and is_possible_noun(noun)
    return is_noun and material.stems[stem] <= rare


def is_possible_noun(noun: str) -> bool:
    """Return whether `noun`, a word after an article, can be the name of a thing.

    False for adjectives by their endings, and for vague words such as "thing".
    """
    return noun not in VAGUE_WORDS | BODY | STOP_WORDS and not noun.endswith(_NO_NOUN)


def is_plural_noun(noun: str) -> bool:
    """Return whether a noun looks like a plural, by its ending."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def _phrase_topic(noun: str, determiner: str) -> str:
    if determiner in ("a", "an"):
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    return noun if noun.endswith(_ABSTRACT) else f"the {noun}"


def _is_inside_word(text: str, at: int, length: int) -> bool:
    """Return whether the match is part of a longer word."""
    before, after = text[max(0, at - 1) : at], text[at + length : at + length + 1]
    return before.isalnum() or after.isalnum()


SURE = frozenset({Certainty.CONFIRMED, Certainty.VERIFIED})
"""Certainties that a question may rest on."""
_HEADING = "#|<"
"""First characters of headings, tables and quotes, which are not sentences."""
_INITIALS = 2
"""Length of initials, which are not names."""


@dataclass(frozen=True, slots=True)
class SourceMaterial:
    """All texts and story data from which questions are generated.

    `texts` are canonical texts of story and notes. `sentences` are the spans of the
    story's sentences by document, in text order. `stems` counts words of all texts by
    `stem_noun`, `words` are all normalized words, `nouns` the stems used as nouns, and
    `rare_names` names of places and things that occur at most `RARE` times.
    """

    bible: Bible
    order: StoryOrder
    texts: Mapping[DocumentId, str]
    sentences: Mapping[DocumentId, Sequence[Span]]
    stems: Mapping[str, int]
    words: frozenset[str]
    nouns: frozenset[str] = frozenset()
    rare_names: tuple[str, ...] = ()

    def text_at(self, place: AnswerPlace) -> str:
        """Return the text at `place`, a span of a document, on one line with single
        spaces.
        """
        text = self.texts[place.document]
        return " ".join(text[place.span.start : place.span.end].split())

    def sentence_at(self, document: DocumentId, at: int) -> AnswerPlace | None:
        """Return the story sentence that contains the character at offset `at`; None if
        none does.
        """
        spans = self.sentences.get(document, ())
        index = bisect_right(spans, at, key=lambda span: span.start) - 1
        if index < 0 or spans[index].end <= at:
            return None
        return AnswerPlace(document, spans[index])

    def chapter_of(self, place: AnswerPlace) -> int:
        """Return the story-order number of the chapter that contains the beginning of
        `place`.

        0 for text before the first chapter, -1 for a place in a note.
        """
        row = self.order.numbers.get(place.document, ())
        chapters = self.order.outlines[place.document].chapters
        for chapter, number in zip(chapters, row, strict=False):
            if chapter.span.start <= place.span.start < chapter.span.end:
                return number
        return row[-1] if row else -1

    def rank(self, place: AnswerPlace) -> tuple[int, int]:
        """Return a sort key for places: the position of the document in story order,
        then the offset.

        Places in notes sort first.
        """
        story = self.order.story
        own = story.index(place.document) if place.document in story else -1
        return own, place.span.start

    def people(self) -> list[CharacterProfile]:
        """Return the confirmed and verified characters that have a name of their own,
        not just a title; most mentioned first.
        """
        return [
            character
            for character in self.bible.characters
            if character.certainty in SURE and _is_proper_name(character.name)
        ]

    def forms(self, profile: CharacterProfile) -> list[str]:
        """Return the capitalized names of a character, longer than initials, from its
        aliases.

        A single word that also occurs in another character's name, such as the family
        name of a relative, is left out.
        """
        others = {
            word
            for character in self.bible.characters
            if character.name != profile.name
            for form in character.aliases
            for word in form.name.split()
        }
        own = [form.name for form in profile.aliases if len(form.name) > _INITIALS]
        named = [name for name in own if name[:1].isupper() and not name.isupper()]
        return [name for name in named if name not in others]

    def respell_names(self, text: str) -> str:
        """Return the question `text` with the names of characters spelled as in the
        story.

        A name that the story spells exactly so stays; otherwise an alias is used that
        differs only in case, if there is one.
        """
        for profile in self.bible.characters:
            if profile.name in text and not self._occurs_in_story(profile.name):
                present_forms = (
                    f.name for f in profile.aliases if self._occurs_in_story(f.name)
                )
                full_forms = [
                    f for f in present_forms if f.casefold() == profile.name.casefold()
                ]
                text = text.replace(profile.name, (*full_forms, profile.name)[0])
        return text

    def _occurs_in_story(self, name: str) -> bool:
        return any(name in text for text in self._story_texts())

    def _story_texts(self) -> list[str]:
        return [
            self.texts[document]
            for document in self.order.story
            if document in self.texts
        ]

    def gold_at(self, place: AnswerPlace) -> GoldQuote | None:
        """Return the words at `place`, a span of a document, as a gold quote (words
        that answer a question); None if they do not occur exactly once in their
        document.
        """
        quote = self.text_at(place)
        standing = find_quote_places(quote, place.document, self.texts[place.document])
        return GoldQuote(place.document, quote) if len(standing) == 1 else None

    def narration(self, document: DocumentId) -> Iterator[Span]:
        """Yield the spans of a document's sentences without dialogue, in text order."""
        spoken = sorted(
            span
            for quote in self.bible.quotes
            if quote.evidence.document == document
            for span in quote.evidence.spans
        )
        starts = [span.start for span in spoken]
        for sentence in self.sentences.get(document, ()):
            before = bisect_right(starts, sentence.end - 1) - 1
            if before < 0 or spoken[before].end <= sentence.start:
                yield sentence


async def load_source_material(
    bible: BibleService, split: SentenceSplitter
) -> SourceMaterial:
    """Load the texts and story data for question generation from a library.

    `split` splits a text into the spans of its sentences.

    Raises:
        SettingsProblem: The canon file is invalid.
        StoreProblem: The library cannot be read.
    """
    return build_source_material(await bible.knowledge(), split)


def build_source_material(
    knowledge: StoryKnowledge, split: SentenceSplitter
) -> SourceMaterial:
    """Build the texts and story data for question generation from stored story
    knowledge.

    `split` splits a text into the spans of its sentences.
    """

    bible = project_bible(knowledge)
    texts = {
        document: document_text.text
        for document, document_text in knowledge.texts.items()
    }
    counts = Counter(
        normalize_word(word)
        for text in texts.values()
        for word in WORD_PATTERN.findall(text)
    )
    stems: Counter[str] = Counter()
    for word, count in counts.items():
        stems[stem_noun(word)] += count
    return SourceMaterial(
        bible=bible,
        order=knowledge.order,
        texts=texts,
        sentences={
            document: _own_sentences(document, texts[document], knowledge.order, split)
            for document in knowledge.order.story
            if document in texts
        },
        stems=stems,
        words=frozenset(counts),
        nouns=collect_nouns(texts.values()),
        rare_names=tuple(
            thing.name
            for thing in bible.world
            if thing.element_types
            and thing.name[:1].isupper()
            and sum(text.count(thing.name) for text in texts.values()) <= RARE
        ),
    )


def stem_noun(word: str) -> str:
    """Return the stem that a noun and its plural have in common, in lower case."""
    return stem_lightly(normalize_word(word)).rstrip("e")


def get_first_evidence_place(evidence: TextEvidence) -> AnswerPlace:
    """Return the document and the first span of `evidence` as the place of an answer.

    `evidence` must have a span.
    """
    return AnswerPlace(evidence.document, evidence.spans[0])


def _own_sentences(
    document: DocumentId, text: str, order: StoryOrder, split: SentenceSplitter
) -> tuple[Span, ...]:
    parts = [
        part
        for chapter in order.outlines[document].chapters
        for scene in chapter.scenes
        for part in scene.parts
    ]
    return tuple(
        Span(part.start + sentence.start, part.start + sentence.end)
        for part in sorted(parts)
        for sentence in split(text[part.start : part.end])
        if text[part.start + sentence.start] not in _HEADING
    )


def _is_proper_name(name: str) -> bool:
    """Return whether a name is capitalized and more than a title or a role."""
    words = name.split()
    capital = all(word[:1].isupper() for word in words)
    return capital and words[-1].casefold() not in _ANYBODY


_ANYBODY_TEXT = (
    "mother father mamma papa mama mum mummy dad daddy sir madam lord lady king queen"
    " uncle aunt doctor captain duchess duke driver nurse sister brother master"
    " mistress miss god man woman boy girl"
)
_ANYBODY = frozenset(_ANYBODY_TEXT.split())
