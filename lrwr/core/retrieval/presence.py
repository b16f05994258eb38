"""Which words and quoted phrases of a question the text contains: within the filters of
a search, elsewhere up to the horizon, or nowhere.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.chunks import Chunk, ChunkId, ChunkKind, SearchScope
from lrwr.core.model.text import WORD_PATTERN, normalize_word
from lrwr.core.ports.indexes import LexicalIndex
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.query_words import list_word_forms
from lrwr.core.retrieval.story import StoryOrder, is_within_scope
from lrwr.core.retrieval.story_matches import find_exact_words

_ALL_CHUNKS = 1_000_000


_DERIVED = re.compile(r"(?:ity|ities|ations?|isms?|ists?|ical|ional)$")
"""Endings of words that the index takes for the same as others: "university" and
"universe"."""

_INFLECTION = re.compile(r"(?:es|s|ed|ing|e)$")
_MAX_READ_CHUNKS = 40
"""Passages with a stem of a word that are read for the word itself."""


@dataclass(frozen=True, slots=True)
class SearchedText:
    """The text that a search may return, and the text around it.

    `scope` is what its document types and horizon allow, `visible` what the horizon
    allows. `allowed` are the chunks that pass the other filters, None without them.
    """

    lexical: LexicalIndex
    store: PassageStore
    order: StoryOrder
    pipeline: Pipeline
    scope: SearchScope
    visible: SearchScope
    allowed: Collection[ChunkId] | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether filters exclude text that the horizon allows."""
        return self.allowed is not None or self.scope != self.visible

    def select_in_scope(self, chunks: Iterable[Chunk]) -> frozenset[ChunkId]:
        """Return those of `chunks`, which are visible, that a search may return."""
        return self.select_allowed(
            [c.id for c in chunks if is_within_scope(c.document, c.span, self.scope)]
        )

    def is_story(self, chunk: Chunk) -> bool:
        """Return whether `chunk` is story text: no note and no author's comment."""
        return chunk.kind is ChunkKind.PROSE and chunk.document in self.order.numbers

    def select_allowed(self, chunks: Collection[ChunkId]) -> frozenset[ChunkId]:
        """Return those of `chunks`, which are in `scope`, that pass the filters."""
        return frozenset(
            chunks if self.allowed is None else {*chunks} & {*self.allowed}
        )


@dataclass(frozen=True, slots=True)
class QuestionPresence:
    """What a search found of the words of a question.

    `unknown` are its content words that no passage within the filters contains,
    `missing_phrases` its quoted phrases of that kind, as typed. `elsewhere` are those of
    both that text outside the filters contains, up to the horizon, in `found_elsewhere`
    passages. `notes_phrases` are the phrases found that no story text up to the horizon
    contains, only notes or author's comments. `phrases` is the number of quoted phrases
    in each chunk that has one; None if the question has none.
    """

    unknown: tuple[str, ...] = ()
    missing_phrases: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    found_elsewhere: int = 0
    notes_phrases: tuple[str, ...] = ()
    phrases: Mapping[ChunkId, int] | None = None


def needs_lookup(counts: Mapping[str, int]) -> bool:
    """Return whether the counts of passages with the stems of words do not tell which
    of the words the text contains.
    """
    return any(
        _DERIVED.search(word) if count else list_word_forms(word)
        for word, count in counts.items()
    )


async def find_question_words(
    phrases: Sequence[str], counts: Mapping[str, int], text: SearchedText
) -> QuestionPresence:
    """Look up the content words of a question and its quoted `phrases` in `text`.

    `counts` maps each content word to the number of chunks of the library that contain
    it.

    Raises:
        StoreProblem: The library cannot be read.
    """
    unknown = [word for word in counts if not await _has_word(word, counts, text)]
    visible = {phrase: await _find_phrase(phrase, text) for phrase in phrases}
    found = {phrase: text.select_in_scope(chunks) for phrase, chunks in visible.items()}
    missing = [phrase for phrase, chunks in found.items() if not chunks]
    elsewhere: dict[str, frozenset[ChunkId]] = {}
    if text.is_filtered:
        elsewhere = {
            word: await _find_word(word, text.visible, text) for word in unknown
        }
        for phrase in missing:
            elsewhere[phrase] = frozenset(chunk.id for chunk in visible[phrase])
    return QuestionPresence(
        tuple(unknown),
        tuple(missing),
        tuple(words for words, chunks in elsewhere.items() if chunks),
        len(frozenset[ChunkId]().union(*elsewhere.values())),
        tuple(
            phrase
            for phrase, chunks in visible.items()
            if found[phrase] and not any(map(text.is_story, chunks))
        ),
        Counter(chunk for chunks in found.values() for chunk in chunks)
        if phrases
        else None,
    )


async def _has_word(word: str, counts: Mapping[str, int], text: SearchedText) -> bool:
    """Return whether a search may return a passage with `word`, or with an irregular
    form of it, which the index does not know: "died" for "die".
    """
    if await _has_stem(word, counts, text):
        return not _DERIVED.search(word) or await _has_inflection(word, text)
    limit = 1 if text.allowed is None else _ALL_CHUNKS
    for form in list_word_forms(word):
        chunks = await _find_word(form, text.scope, text, limit=limit)
        if text.select_allowed(chunks):
            return True
    return False


async def _has_inflection(word: str, text: SearchedText) -> bool:
    """Return whether a visible passage has `word` or an inflected form of it, of which
    the index only tells that one has a word with the same stem.
    """
    ids = await _find_word(word, text.scope, text, limit=_MAX_READ_CHUNKS)
    if len(ids) == _MAX_READ_CHUNKS:
        return True
    base = _cut_inflection(word)
    return any(
        _cut_inflection(normalize_word(other)) == base
        for chunk in await text.store.chunks(list(ids))
        for other in WORD_PATTERN.findall(chunk.text)
    )


def _cut_inflection(word: str) -> str:
    """Return `word`, in lower case, without the ending of a plural or a verb form."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return _INFLECTION.sub("", word)


async def _has_stem(word: str, counts: Mapping[str, int], text: SearchedText) -> bool:
    if text.allowed is None and text.scope.documents is None:
        return counts[word] > 0
    limit = 1 if text.allowed is None else _ALL_CHUNKS
    chunks = await _find_word(word, text.scope, text, limit=limit)
    return bool(text.select_allowed(chunks))


async def _find_word(
    word: str, scope: SearchScope, text: SearchedText, *, limit: int = _ALL_CHUNKS
) -> frozenset[ChunkId]:
    scored = await text.lexical.search_words(
        [word], pipeline=text.pipeline, scope=scope, limit=limit
    )
    return frozenset(one.chunk for one in scored)


async def _find_phrase(phrase: str, text: SearchedText) -> list[Chunk]:
    """Return the visible chunks that contain `phrase` as typed, or in which it begins.

    Case, punctuation and white space do not matter. The index cannot tell: it compares
    stems, within one chunk.
    """
    matches = await find_exact_words(
        phrase,
        store=text.store,
        order=text.order,
        scope=text.visible,
        pipeline=text.pipeline,
    )
    return [match.chunk for match in matches]
