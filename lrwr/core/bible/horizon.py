"""What a reader who stops at a horizon has seen: text, facts and characters."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice, pairwise

from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.model import CanonNames, normalize_canon_text, resolve_canon_person
from lrwr.core.model.cast import Alias, Cast, Character
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Chapter, DocumentId, Horizon
from lrwr.core.model.facts import Certainty, Fact
from lrwr.core.model.text import Span
from lrwr.core.nlp.names import lookup
from lrwr.core.ports.stores import DocumentText
from lrwr.core.ports.story_stores import DocumentFact, FirstMention
from lrwr.core.retrieval.story import StoryOrder, build_search_scope

OMISSION_MARK = " … "
"""Replaces omitted words between two spans."""


@dataclass(frozen=True, slots=True)
class _SceneSpan:
    span: Span
    chapter: int
    scene: int


class HorizonView:
    """The text visible to somebody who has read the story up to `horizon`.

    With a horizon, notes and author's comments are not visible; None makes all text
    visible. `order` is the story order, `texts` maps the stored documents to their
    texts. `bounded` says whether there is a horizon.
    """

    def __init__(
        self,
        order: StoryOrder,
        texts: Mapping[DocumentId, DocumentText],
        horizon: Horizon | None,
    ) -> None:
        self.order = order
        self.texts = texts
        self.bounded = horizon is not None
        scope = build_search_scope(
            order, types=(), horizon=horizon, kinds=(ChunkKind.PROSE,)
        )
        self._documents = scope.documents
        self._until = scope.until
        self._ranks = {document: rank for rank, document in enumerate(order.story)}
        self._parts_by_document: dict[DocumentId, list[_SceneSpan]] = {}

    def is_visible(self, document: DocumentId, spans: Sequence[Span]) -> bool:
        """Return whether all of `spans` are within `document` and visible.

        With a horizon, each must end before it and contain some story text. False if
        `spans` is empty or `document` is not stored.
        """
        if not spans or not self.is_document_visible(document):
            return False
        size = len(self.texts[document].text)
        until = min(size, self._until.get(document, size))
        if not all(0 <= span.start < span.end <= until for span in spans):
            return False
        return not self.bounded or all(
            any(True for _ in self._visible_parts(document, span)) for span in spans
        )

    def is_fact_visible(self, document_fact: DocumentFact) -> bool:
        """Return whether the evidence of a fact is visible, and so is all text that a
        model had read when it stated the fact.
        """
        if not self.is_visible(document_fact.document, document_fact.fact.spans):
            return False
        until = self._until.get(document_fact.document)
        return until is None or document_fact.fact.reach <= until

    def is_document_visible(self, document: DocumentId) -> bool:
        """Return whether `document` is in the library and any part of it is visible."""
        if document not in self.order.outlines or document not in self.texts:
            return False
        return self._documents is None or document in self._documents

    def is_fully_visible(self, document: DocumentId) -> bool:
        """Return whether `document`, some of which is visible, is visible to its end."""
        return document not in self._until

    def is_story(self, document: DocumentId) -> bool:
        """Return whether `document` belongs to the story; false for a note."""
        return document in self._ranks

    def sort_key(self, document: DocumentId, start: int) -> tuple[int, str, int]:
        """Return a key that sorts passages by story order, those in notes first.

        `start` is an offset in `document`, in characters.
        """
        return self._ranks.get(document, -1), document, start

    def evidence(
        self,
        document: DocumentId,
        spans: Sequence[Span],
        keeper: str,
        certainty: Certainty,
        *,
        speech: bool = False,
    ) -> TextEvidence:
        """Return the words at `spans` of `document`, with their location, as evidence.

        `spans` must be visible. With a horizon, author's comments are cut out. `speech`
        means that the spans are one utterance: where only a paragraph ends between two
        of them, nothing was left out.
        `keeper` (the source) and `certainty` are those of the fact; they are copied
        into the result.
        """
        document_text = self.texts[document]
        stretches = tuple(
            stretch for span in spans for stretch in self._shown_spans(document, span)
        )
        chapter, scene = self.locate_scene(document, spans[0])
        chapters = self.order.outlines[document].chapters
        number = self.order.chapter_number(document, chapter)
        title = chapters[chapter].title if chapter < len(chapters) else ""
        return TextEvidence(
            document=document,
            spans=stretches,
            text=_join_stretches(document_text.text, stretches, speech=speech),
            lines=document_text.lines.lines_of(
                Span(stretches[0].start, stretches[-1].end)
            ),
            chapter=number,
            chapter_title=title or self.order.outlines[document].title,
            scene=None if number is None else scene + 1,
            keeper=keeper,
            certainty=certainty,
        )

    def locate_scene(self, document: DocumentId, span: Span) -> tuple[int, int]:
        """Return the index of the chapter in `document`, and that of the scene in the
        chapter, in which `span` begins.

        Both count from 0. An index is 0 if no chapter, or no scene, contains the start.
        """
        part = next(self._parts_from(document, span.start), None)
        if part is not None and part.span.start <= span.start:
            return part.chapter, part.scene
        chapters = self.order.outlines[document].chapters
        for n, chapter in enumerate(chapters):
            for m, scene in enumerate(chapter.scenes):
                if _starts_within(span, scene.span):
                    return n, m
        within = (n for n, c in enumerate(chapters) if _starts_within(span, c.span))
        return next(within, 0), 0

    def scenes(self) -> Iterator[tuple[DocumentId, Chapter, int, int]]:
        """Yield each scene that is visible to its end, in story order: its document and
        chapter, the chapter's story-order number, and the scene's index in the chapter,
        from 0.
        """
        for document, chapter, number in self.order.iter_chapters():
            for index, scene in enumerate(chapter.scenes):
                if self.is_document_visible(document) and self._is_visible_to_end(
                    document, scene.span
                ):
                    yield document, chapter, number, index

    def contains_name(self, name: str) -> bool:
        """Return whether `name` occurs in the visible story text, ignoring case, also
        within a word.

        Always true without a horizon.
        """
        return not self.bounded or name.casefold() in self._visible_text

    def list_unseen_names(self, names: Collection[str]) -> tuple[str, ...]:
        """Return those of `names` that the visible story text has in no form: capital
        letters, an article, and a possessive or plural ending do not count.
        """
        return tuple(
            name for name in names if not self.contains_name(_strip_name_form(name))
        )

    def visible_story_text(self, document: DocumentId) -> str:
        """Return the visible story text of `document`, without author's comments.

        The pieces between comments and scene breaks are joined by line breaks.
        """
        text = self.texts[document].text
        until = self._until.get(document, len(text))
        visible_spans = (
            part.span for part in self._parts(document) if part.span.start < until
        )
        return "\n".join(
            text[span.start : min(span.end, until)] for span in visible_spans
        )

    @cached_property
    def _visible_text(self) -> str:
        visible_documents = (d for d in self.order.story if self.is_document_visible(d))
        return "\n".join(
            self.visible_story_text(document) for document in visible_documents
        ).casefold()

    def _is_visible_to_end(self, document: DocumentId, span: Span) -> bool:
        return span.end <= self._until.get(document, span.end)

    def _shown_spans(self, document: DocumentId, span: Span) -> Iterator[Span]:
        if self.bounded:
            return self._visible_parts(document, span)
        return iter((span,))

    def _visible_parts(self, document: DocumentId, span: Span) -> Iterator[Span]:
        """Yield the parts of `span` that are story text."""
        for part in self._parts_from(document, span.start):
            if part.span.start >= span.end:
                break
            start = max(span.start, part.span.start)
            yield Span(start, min(span.end, part.span.end))

    def _parts_from(self, document: DocumentId, at: int) -> Iterator[_SceneSpan]:
        """Yield the document's parts that end after `at`, in order."""
        parts = self._parts(document)
        first = bisect_right(parts, at, key=lambda part: part.span.end)
        return islice(parts, first, None)

    def _parts(self, document: DocumentId) -> list[_SceneSpan]:
        if document not in self._parts_by_document:
            chapters = self.order.outlines[document].chapters
            self._parts_by_document[document] = sorted(
                (
                    _SceneSpan(part, n, m)
                    for n, chapter in enumerate(chapters)
                    for m, scene in enumerate(chapter.scenes)
                    for part in scene.parts
                ),
                key=lambda part: part.span,
            )
        return self._parts_by_document[document]


def _starts_within(span: Span, within: Span) -> bool:
    return within.start <= span.start < within.end


_ARTICLE = re.compile(r"(?:the|a|an) ")


@dataclass(frozen=True, slots=True)
class VisibleCharacter:
    """A character as known at the horizon; `character.name` is the name to display.

    `character.aliases` are the visible ones, most mentioned first. `first` is the first
    mention, in the story if there is one; None for a character who occurs in no text.
    """

    character: Character
    first: FirstMention | None


class HorizonCast:
    """The characters visible at a horizon, with their names and mentions up to there.

    `first_seen` has the first mention of each alias in each document. `names` are the
    user's decisions on names; a character with a name in them is confirmed. Facts may
    use any name of a character; `display_name` converts it to the one to display. With
    `visible`, an earlier value of that property for the same horizon, `first_seen` is
    not needed.
    """

    def __init__(
        self,
        cast: Cast,
        first_seen: Sequence[FirstMention],
        horizon_view: HorizonView,
        names: CanonNames,
        visible: Mapping[str, VisibleCharacter] | None = None,
    ) -> None:
        self._cast = cast
        self._known_visible = visible
        self._view = horizon_view
        self._names = names
        self._index_by_name = _index_by_name(lookup.CastIdentity(cast))
        self._counts_by_document: dict[DocumentId, Mapping[str, int]] = {}
        self._rows_by_character: dict[str, list[FirstMention]] = {}
        for row in first_seen:
            if horizon_view.is_visible(row.document, (row.span,)):
                self._rows_by_character.setdefault(row.character, []).append(row)

    @cached_property
    def visible(self) -> Mapping[str, VisibleCharacter]:
        """The visible characters, most mentioned first, by their names in the whole
        cast.

        The name to display may be another one; see `VisibleCharacter`.
        """
        if self._known_visible is not None:
            return self._known_visible
        visible_by_name = {c.name: self._make_visible(c) for c in self._cast.characters}
        visible_pairs = [
            (name, visible_character)
            for name, visible_character in visible_by_name.items()
            if visible_character is not None
        ]
        return dict(sorted(visible_pairs, key=lambda pair: -pair[1].character.mentions))

    def resolve_name(self, name: str) -> str:
        """Return the name in the whole cast of the character with the name or alias
        `name`, ignoring case, punctuation and a leading article.

        Empty if there is none, or if several characters share it.
        """
        people = self.list_owners(name)
        return people[0] if len(people) == 1 else ""

    def list_owners(self, name: str) -> tuple[str, ...]:
        """Return the names in the whole cast of all whom the text or the user calls so."""
        names = (name, resolve_canon_person(self._names, name))
        owners = (self._index_by_name.get(normalize_character_name(n)) for n in names)
        return next(filter(None, owners), ())

    def display_name(self, name: str) -> str:
        """Return the visible name of the character with the name or alias `name`.

        Empty if the character is not visible at the horizon. A name that is not in the
        cast is returned unchanged if it occurs in the visible text, else "".
        """
        person = self.resolve_name(name)
        if person:
            visible_character = self.visible.get(person)
            return visible_character.character.name if visible_character else ""
        return name if self._view.contains_name(name) else ""

    def is_misread_place(self, fact: Fact) -> bool:
        """Return whether `fact` describes a character of the cast as a setting, by
        mistake.

        Always false for facts from the author's notes.
        """
        return lookup.is_misread_place(fact, self._cast)

    def reveals_hidden_name(self, text: str) -> bool:
        """Return whether `text` contains a character's name that occurs only after the
        horizon.

        Always false without a horizon.
        """
        return self._hidden_names is not None and bool(self._hidden_names.search(text))

    @cached_property
    def _hidden_names(self) -> re.Pattern[str] | None:
        if not self._view.bounded:
            return None
        forms = {
            name
            for character in self._cast.characters
            for name in (character.name, *(a.name for a in character.aliases))
        }
        visible_aliases = (
            a.name for s in self.visible.values() for a in s.character.aliases
        )
        return compile_forms_pattern(forms.difference(visible_aliases))

    def _make_visible(self, character: Character) -> VisibleCharacter | None:
        rows = self._rows_by_character.get(character.name, [])
        if self._view.bounded and not rows:
            return None
        aliases = self._aliases(character, rows)
        called = {alias.name for alias in aliases}
        name = character.name
        if self._view.bounded and name not in called:
            name = aliases[0].name
        story_rows = [row for row in rows if self._view.is_story(row.document)]
        place = min(story_rows or rows, key=self._row_key, default=None)
        certainty = character.certainty
        if self._is_confirmed(character):
            certainty = Certainty.CONFIRMED
        return VisibleCharacter(
            replace(character, name=name, aliases=aliases, certainty=certainty), place
        )

    def _aliases(
        self, character: Character, rows: Sequence[FirstMention]
    ) -> tuple[Alias, ...]:
        if not rows:
            return character.aliases
        counts: dict[str, int] = {}
        story_rows = [row for row in rows if self._view.is_story(row.document)]
        aliases_by_name = {alias.name: alias for alias in character.aliases}
        spelled = {name.casefold(): name for name in aliases_by_name}
        for row in story_rows or rows:
            name = row.alias
            if name not in aliases_by_name:  # "NELL" is no name beside "Nell"
                name = spelled.get(name.casefold(), name)
            counts[name] = counts.get(name, 0) + self._mentions(row)
        if not self._view.bounded:
            counts = {name: counts.get(name, 0) for name in (*aliases_by_name, *counts)}
        plainly = Alias("", 0, character.certainty)
        aliases = [
            replace(aliases_by_name.get(name, plainly), name=name, mentions=count)
            for name, count in counts.items()
        ]
        return tuple(sorted(aliases, key=lambda alias: (-alias.mentions, alias.name)))

    def _mentions(self, row: FirstMention) -> int:
        """Count the visible mentions; the row's count covers the whole document."""
        if self._view.is_fully_visible(row.document):
            return row.mentions
        return min(row.mentions, self._counts(row.document).get(row.alias, 1))

    def _counts(self, document: DocumentId) -> Mapping[str, int]:
        if document not in self._counts_by_document:
            forms = {a.name for c in self._cast.characters for a in c.aliases}
            text = self._view.visible_story_text(document)
            self._counts_by_document[document] = count_form_occurrences(text, forms)
        return self._counts_by_document[document]

    def _is_confirmed(self, character: Character) -> bool:
        names = self._names
        confirmed_names = {*names.confirmed, *names.renamed, *names.renamed.values()}
        confirmed_names.update(name for pair in names.split for name in pair)
        for canonical, others in names.merged.items():
            confirmed_names.update((canonical, *others))
        own_names = {normalize_canon_text(alias.name) for alias in character.aliases}
        own_names |= {resolve_canon_person(names, name) for name in own_names}
        return not confirmed_names.isdisjoint(
            own_names | {normalize_canon_text(character.name)}
        )

    def _row_key(self, row: FirstMention) -> tuple[int, str, int]:
        return self._view.sort_key(row.document, row.span.start)


_NAME_FORM = re.compile(r"^(?:the|a|an)\s+|['’]s?$|(?<=\w{3})s$", re.IGNORECASE)


def _strip_name_form(name: str) -> str:
    return _NAME_FORM.sub("", " ".join(name.split()))


def count_form_occurrences(text: str, forms: Collection[str]) -> dict[str, int]:
    """Return how often each of `forms` occurs in `text`, as whole words,
    case-sensitive.

    Where several overlap, the longest counts. Forms that do not occur are missing.
    """
    pattern = compile_forms_pattern(forms)
    counts: dict[str, int] = {}
    for match in pattern.finditer(text) if pattern else ():
        counts[match[0]] = counts.get(match[0], 0) + 1
    return counts


def compile_forms_pattern(forms: Collection[str]) -> re.Pattern[str] | None:
    """Return a regex that matches any of `forms` as whole words, preferring longer
    ones.

    None if there is no form that is not empty.
    """
    longest = sorted(filter(None, forms), key=lambda form: (-len(form), form))
    if not longest:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")


@lru_cache(maxsize=20_000)
def normalize_character_name(name: str) -> str:
    """Return `name` in lower case, without punctuation and a leading article, to
    compare names.
    """
    words = re.sub(r"[^\w' ]+", " ", name.replace("’", "'")).casefold()
    return _ARTICLE.sub("", " ".join(words.split()), count=1)


@lru_cache(maxsize=2)
def _index_by_name(identity: lookup.CastIdentity) -> Mapping[str, tuple[str, ...]]:
    cast = identity.cast
    index: dict[str, tuple[str, ...]] = {}
    for form, people in cast.shared.items():
        index[normalize_character_name(form)] = tuple(people)
    for character in cast.characters:
        for name in (character.name, *(alias.name for alias in character.aliases)):
            others = index.get(normalize_character_name(name), ())
            if character.name not in others:
                index[normalize_character_name(name)] = (*others, character.name)
    return index


def _join_stretches(text: str, stretches: Sequence[Span], *, speech: bool) -> str:
    """Join the words at `stretches` of `text`, with a mark where words were left out."""
    pieces = [text[stretches[0].start : stretches[0].end]]
    for before, after in pairwise(stretches):
        gap = text[before.end : after.start]
        whole = speech and not any(character.isalnum() for character in gap)
        pieces += [" " if whole else OMISSION_MARK, text[after.start : after.end]]
    return "".join(pieces)
