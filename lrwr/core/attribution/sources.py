"""What the sentences of an answer may rest on: the cited words and their chapters."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import PurePosixPath

from lrwr.core.attribution.citations import ANY_MARK
from lrwr.core.attribution.details import find_numbers, stem_words
from lrwr.core.attribution.names import contains_name, list_named_characters
from lrwr.core.attribution.quotations import occurs_in
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import WORD_PATTERN, SentenceSplitter
from lrwr.core.model.turns import Citation
from lrwr.core.ports.stores import DocumentText

MIN_SUPPORT_SHARE = 0.25
"""Share of the content words of a sentence, without names, that must occur within
`WINDOW_SENTENCES` of what it cites, or for a sentence without number, of anything that
the answer cites. At least two words must, or half of fewer than four."""

WINDOW_SENTENCES = 3

OPENING_WORDS = 4
"""Words by which the sentence is found in which a longer quotation begins."""

ANTECEDENT_CHARS = 200
"""Characters before cited words that may name who "she" is in them."""

SURROUNDING_CHARS = 1_000
"""Characters before and after cited words in which a number may stand."""

CHAPTER_CHARS = 12_000
"""Characters before and after cited words in which, within the chapter, a person may be
named whom they call "he", or who speaks or writes them."""

RECENT_CHARACTERS = 4
"""Characters whom the narration names last before or in a passage: the passage may call
them "he", or they may speak or write it. More would let names be swapped."""

MIN_TOLD_WORDS = 5
"""Words such as "I" and "my" in cited words from which on somebody tells a story."""

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_SPEECH = re.compile(r"[“\"][^“”\"]*(?:[”\"]|$)|(?<!\w)‘(?:[^‘’]|’\w)*(?:’|$)")
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our)\b")
_SIGNATURE = re.compile(r"^\W*[A-Z]+(?:[. ]+[A-Z]+)+\W*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StoryContext:
    """What a check knows of the story beside the cited words.

    `cast` has for each character all forms of its name. `name_words` are the normalized
    words of the names of which no web page can tell. `texts` are the texts of the cited
    documents. `chapters` are the chapters that an answer may name without citing them,
    such as that of the horizon. `narrators` are those of `cast` who tell the story.
    """

    cast: tuple[tuple[str, ...], ...] = ()
    name_words: frozenset[str] = frozenset()
    texts: Mapping[DocumentId, DocumentText] = field(default_factory=dict)
    chapters: frozenset[int] = frozenset()
    narrators: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class CitedSource:
    """The text that a sentence is compared with.

    `for_names` and `for_numbers` also have what may be named or counted around the
    cited words, `neighbourhood` everything in the chapters of the passages; `chapters`
    are their numbers. `paragraphs` are those of the passages, whole.
    """

    text: str
    for_names: str
    neighbourhood: str
    paragraphs: tuple[str, ...]
    recent: frozenset[tuple[str, ...]]
    for_numbers: str
    chapters: frozenset[int]
    split: SentenceSplitter = field(repr=False)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the text."""
        return [self.text[span.start : span.end] for span in self.split(self.text)]

    def find_quoted(self, quotation: str) -> list[str]:
        """Return the sentences that have a quotation, or its first words."""
        first_words = " ".join(quotation.split()[:OPENING_WORDS])
        pairs = zip(self.sentences, self.sentences[1:], strict=False)
        return (
            [s for s in self.sentences if occurs_in(quotation, [s])]
            or [s for s in self.sentences if occurs_in(first_words, [s])]
            or [f"{s} {t}" for s, t in pairs if occurs_in(first_words, [f"{s} {t}"])]
        )

    def find_narration(self, quotation: str) -> str:
        """Return what the paragraphs with a quotation say outside of speech, or if the
        quotation is no speech, the sentences that have it.
        """
        paragraphs = [p for p in self.paragraphs if occurs_in(quotation, [p])]
        narration = "\n".join(_SPEECH.sub(" ", p) for p in paragraphs)
        if occurs_in(quotation, [narration]):
            return "\n".join(self.find_quoted(quotation))
        return narration

    def find_fitting(self, statement: str) -> str:
        """Return the sentences that share most content words with a statement, empty if
        none shares two.
        """
        stems = stem_words(statement)
        shared = [len(stems & stem_words(sentence)) for sentence in self.sentences]
        most = max(shared, default=0)
        pairs = zip(self.sentences, shared, strict=True)
        return "\n".join(s for s, count in pairs if count == most and most > 1)

    def supports(self, words: Mapping[str, frozenset[str]]) -> bool:
        """Return whether neighbouring sentences have enough of `words`: for each stem
        those that count for it.
        """
        sentence_stems = [stem_words(sentence) for sentence in self.sentences]
        windows = (
            frozenset().union(*sentence_stems[at : at + WINDOW_SENTENCES])
            for at in range(len(sentence_stems))
        )
        wanted = max(1, min(2, len(words) // 2), MIN_SUPPORT_SHARE * len(words))
        return any(
            sum(not forms.isdisjoint(window) for forms in words.values()) >= wanted
            for window in windows
        )


@dataclass(frozen=True)
class AnswerSources:
    """What the sentences of one answer may rest on; see `check_citations`."""

    cited: tuple[Citation, ...]
    split: SentenceSplitter
    question: str
    notes: Mapping[int, str]
    decided: tuple[str, ...]
    story: StoryContext

    @cached_property
    def decisions(self) -> CitedSource:
        """The source of what rests on the user's decisions alone."""
        return replace(self, cited=(), question="").select(())

    def select(self, numbers: Collection[int]) -> CitedSource:
        """Return the source of a sentence with these numbers; without any, all."""
        citations = [c for c in self.cited if not numbers or c.number in numbers]
        texts = [c.text for c in citations]
        texts += [self.notes[c.number] for c in citations if c.number in self.notes]
        if not numbers:
            texts += [*self.decided, self.question]
        text = "\n".join(texts)
        titles = (PurePosixPath(c.document).stem.replace("-", " ") for c in citations)
        before = (self._around(c, ANTECEDENT_CHARS, 0) for c in citations)
        around = (
            self._around(c, SURROUNDING_CHARS, SURROUNDING_CHARS) for c in citations
        )
        return CitedSource(
            text,
            "\n".join((text, *before, *titles)),
            "\n".join("".join(self._chapter_around(c)) for c in citations),
            tuple(p for c in citations for p in self._list_paragraphs(c)),
            frozenset().union(*(self._list_recent(c) for c in citations)),
            "\n".join((text, *around, self.question)),
            frozenset(c.chapter for c in citations if c.chapter is not None),
            self.split,
        )

    def _around(self, citation: Citation, before: int, after: int) -> str:
        """Return up to so many characters before and after cited words, in whole
        words.
        """
        document = self.story.texts.get(citation.document)
        if document is None:
            return ""
        start, end = citation.span.start, citation.span.end
        # Spaces mark the ends of the text, so that only cut words are dropped.
        text = f" {document.text} "
        head = text[max(0, start + 1 - before) : start + 1].partition(" ")[2]
        tail = text[end + 1 : end + 1 + after].rpartition(" ")[0]
        return f"{head}\n{tail}"

    def names_any(
        self, number: int, people: Collection[frozenset[tuple[str, ...]]]
    ) -> bool:
        """Return whether the passage of `number` names one of `people`, or is of a scene
        in which the narration has just named one; True if there are none.
        """
        source = self.select({number})
        return not people or any(
            contains_name(source.for_names, forms)
            or not source.recent.isdisjoint(forms)
            for forms in people
        )

    def _list_paragraphs(self, citation: Citation) -> list[str]:
        """Return the whole paragraphs of which cited words are a part."""
        document = self.story.texts.get(citation.document)
        if document is None:
            return _PARAGRAPH_END.split(citation.text)
        text, span = document.text, citation.span
        start = text.rfind("\n\n", 0, span.start + 1) + 1
        end = text.find("\n\n", span.end)
        return _PARAGRAPH_END.split(text[start : end if end > 0 else None])

    def _list_recent(self, citation: Citation) -> frozenset[tuple[str, ...]]:
        """Return the forms of the characters whom the narration names last before cited
        words, of who signs a letter that they may be in, and of who may be their "I".

        Somebody who tells a story at length may be named in speech alone.
        """
        head, _, tail = self._chapter_around(citation)
        signature = _SIGNATURE.search(tail)
        signed = list_named_characters(
            signature[0] if signature else "", self.story.cast
        )
        before = list(reversed(_PARAGRAPH_END.split(head)))
        recent = self._list_last_named(
            _SPEECH.sub(" ", paragraph) for paragraph in (citation.text, *before)
        )
        cited = _PARAGRAPH_END.split(citation.text)
        # A turn without a tag may be the narrator's own.
        if any(not WORD_PATTERN.search(_SPEECH.sub(" ", turn)) for turn in cited):
            cited += [*before, *_PARAGRAPH_END.split(tail)]
        narration = "\n".join(_SPEECH.sub(" ", paragraph) for paragraph in cited)
        narrators = self._narrators if _FIRST_PERSON.search(narration) else ()
        in_speech: list[frozenset[tuple[str, ...]]] = []
        if len(_FIRST_PERSON.findall(citation.text)) >= MIN_TOLD_WORDS:
            in_speech = self._list_last_named((citation.text, *before))
        return frozenset().union(*narrators, *signed, *recent, *in_speech)

    def _list_last_named(
        self, paragraphs: Iterable[str]
    ) -> list[frozenset[tuple[str, ...]]]:
        """Return the characters whom `paragraphs` name, the last ones first, up to
        `RECENT_CHARACTERS`.
        """
        recent: list[frozenset[tuple[str, ...]]] = []
        for paragraph in paragraphs:
            named = list_named_characters(paragraph, self.story.cast)
            recent += [forms for forms in reversed(named) if forms not in recent]
            if len(recent) >= RECENT_CHARACTERS:
                break
        return recent[:RECENT_CHARACTERS]

    @cached_property
    def _narrators(self) -> tuple[frozenset[tuple[str, ...]], ...]:
        """The forms of the characters who tell the story."""
        names = "\n".join(form for forms in self.story.narrators for form in forms)
        return list_named_characters(names, self.story.cast)

    def _chapter_around(self, citation: Citation) -> tuple[str, str, str]:
        """Return what is before cited words in their chapter, the words, and what is
        after them.
        """
        document = self.story.texts.get(citation.document)
        if document is None:
            return "", citation.text, ""
        start, end = citation.span.start, citation.span.end
        before = document.text[max(0, start - CHAPTER_CHARS) : start]
        after = document.text[end : end + CHAPTER_CHARS]
        headings = [match.start() for match in _HEADING.finditer(before)]
        following = _HEADING.search(after)
        head = before[headings[-1] :] if headings else before
        tail = after[: following.start()] if following else after
        return head, document.text[start:end], tail

    @cached_property
    def name_stems(self) -> frozenset[str]:
        """The stems of all names of the cast."""
        return stem_words(" ".join(form for forms in self.story.cast for form in forms))

    def select_sums(self, text: str) -> frozenset[int]:
        """Return the sums and differences of the cited numbers in the answer `text`."""
        known = {n for c in self.cited for n, _ in find_numbers(c.text)}
        known |= {c.chapter for c in self.cited if c.chapter is not None}
        stated = {n for n, _ in find_numbers(ANY_MARK.sub(" ", text))} & known
        pairs = list(combinations(stated, 2))
        return frozenset({a + b for a, b in pairs} | {abs(a - b) for a, b in pairs})
