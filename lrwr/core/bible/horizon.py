"""How far one has read: what of the documents is in sight, and where it stands."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from lrwr.core.bible.values import TextEvidence
from lrwr.core.canon.model import CanonNames, normalize_canon_text, resolve_canon_person
from lrwr.core.model.cast import Alias, Cast, Character
from lrwr.core.model.chunks import ChunkKind
from lrwr.core.model.documents import Chapter, DocumentId, Horizon
from lrwr.core.model.facts import Certainty, Fact
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.lookup import is_misread_place
from lrwr.core.ports.stores import DocumentText
from lrwr.core.ports.story_stores import DocumentFact, FirstMention
from lrwr.core.retrieval.story import StoryOrder, build_search_scope

OMISSION_MARK = " … "
"""Stands where words between two stretches are left out."""


@dataclass(frozen=True, slots=True)
class _SceneSpan:
    span: Span
    chapter: int
    scene: int


class HorizonView:
    """What a reader who has come to the horizon has seen; with none, everything.

    Under a horizon only the story's own words count: notes and the author's comments
    have no place in it.
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
        self._own: dict[DocumentId, list[_SceneSpan]] = {}

    def sees(self, document: DocumentId, spans: Sequence[Span]) -> bool:
        """Say whether all of `spans` are there, and in sight."""
        if not spans or not self.opens(document):
            return False
        size = len(self.texts[document].text)
        until = min(size, self._until.get(document, size))
        if not all(0 <= span.start < span.end <= until for span in spans):
            return False
        return not self.bounded or all(
            any(True for _ in self._cut(document, span)) for span in spans
        )

    def knows(self, document_fact: DocumentFact) -> bool:
        """Say whether a fact is visible, and all text that its reader had read for it."""
        if not self.sees(document_fact.document, document_fact.fact.spans):
            return False
        until = self._until.get(document_fact.document)
        return until is None or document_fact.fact.reach <= until

    def opens(self, document: DocumentId) -> bool:
        """Say whether anything of `document` is in sight."""
        if document not in self.order.outlines or document not in self.texts:
            return False
        return self._documents is None or document in self._documents

    def whole(self, document: DocumentId) -> bool:
        """Say whether a document in sight is seen to its end."""
        return document not in self._until

    def tells(self, document: DocumentId) -> bool:
        """Say whether `document` tells the story, and is no note on it."""
        return document in self._ranks

    def key(self, document: DocumentId, start: int) -> tuple[int, str, int]:
        """Return what sorts places into story order; notes come before it all."""
        return self._ranks.get(document, -1), document, start

    def evidence(
        self,
        document: DocumentId,
        spans: Sequence[Span],
        keeper: str,
        certainty: Certainty,
        joint: str = OMISSION_MARK,
    ) -> TextEvidence:
        """Return the evidence at `spans`, which are visible."""
        document_text = self.texts[document]
        stretches = tuple(
            stretch for span in spans for stretch in self._shown(document, span)
        )
        chapter, scene = self.home(document, spans[0])
        chapters = self.order.outlines[document].chapters
        number = self.order.chapter_number(document, chapter)
        title = chapters[chapter].title if chapter < len(chapters) else ""
        return TextEvidence(
            document=document,
            spans=stretches,
            text=joint.join(document_text.text[s.start : s.end] for s in stretches),
            lines=document_text.lines.lines_of(
                Span(stretches[0].start, stretches[-1].end)
            ),
            chapter=number,
            chapter_title=title or self.order.outlines[document].title,
            scene=None if number is None else scene + 1,
            keeper=keeper,
            certainty=certainty,
        )

    def home(self, document: DocumentId, span: Span) -> tuple[int, int]:
        """Return the indexes of the chapter and the scene in which `span` begins."""
        part = next(self._parts_from(document, span.start), None)
        if part is not None and part.span.start <= span.start:
            return part.chapter, part.scene
        chapters = self.order.outlines[document].chapters
        for n, chapter in enumerate(chapters):
            for m, scene in enumerate(chapter.scenes):
                if _begins(span, scene.span):
                    return n, m
        within = (n for n, c in enumerate(chapters) if _begins(span, c.span))
        return next(within, 0), 0

    def scenes(self) -> Iterator[tuple[DocumentId, Chapter, int, int]]:
        """Yield each scene in sight: its chapter, that one's number, its own index."""
        for document, chapter, number in self.order.iter_chapters():
            for index, scene in enumerate(chapter.scenes):
                if self.opens(document) and self._ends(document, scene.span):
                    yield document, chapter, number, index

    def names(self, name: str) -> bool:
        """Say whether `name` stands in the text in sight; always without a horizon."""
        return not self.bounded or name.casefold() in self._told

    def prefix(self, document: DocumentId) -> str:
        """Return the visible text of the story, one span a line."""
        text = self.texts[document].text
        until = self._until.get(document, len(text))
        visible_spans = (
            part.span for part in self._parts(document) if part.span.start < until
        )
        return "\n".join(
            text[span.start : min(span.end, until)] for span in visible_spans
        )

    @cached_property
    def _told(self) -> str:
        visible_documents = (d for d in self.order.story if self.opens(d))
        return "\n".join(
            self.prefix(document) for document in visible_documents
        ).casefold()

    def _ends(self, document: DocumentId, span: Span) -> bool:
        return span.end <= self._until.get(document, span.end)

    def _shown(self, document: DocumentId, span: Span) -> Iterator[Span]:
        if self.bounded:
            return self._cut(document, span)
        return iter((span,))

    def _cut(self, document: DocumentId, span: Span) -> Iterator[Span]:
        """Yield the stretches of `span` that are no comment."""
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
        if document not in self._own:
            chapters = self.order.outlines[document].chapters
            self._own[document] = sorted(
                (
                    _SceneSpan(part, n, m)
                    for n, chapter in enumerate(chapters)
                    for m, scene in enumerate(chapter.scenes)
                    for part in scene.parts
                ),
                key=lambda part: part.span,
            )
        return self._own[document]


def _begins(span: Span, within: Span) -> bool:
    return within.start <= span.start < within.end


_ARTICLE = re.compile(r"(?:the|a|an) ")


@dataclass(frozen=True, slots=True)
class VisibleCharacter:
    """A character as far as one has read; `character.name` is the name to show.

    `character.aliases` are those seen, most mentioned first. `first` is where, None
    for somebody who is in no text.
    """

    character: Character
    first: FirstMention | None


class HorizonCast:
    """The cast at a horizon. Keeps the whole cast's names to itself.

    A fact names people by whatever the text or a reader calls them; `shown` gives
    what to call them here, or nothing where that would give something away.
    """

    def __init__(
        self,
        cast: Cast,
        first_seen: Sequence[FirstMention],
        horizon_view: HorizonView,
        names: CanonNames,
    ) -> None:
        self._cast = cast
        self._sight = horizon_view
        self._names = names
        self._index = _index(cast)
        self._counted: dict[DocumentId, Mapping[str, int]] = {}
        self._rows: dict[str, list[FirstMention]] = {}
        for row in first_seen:
            if horizon_view.sees(row.document, (row.span,)):
                self._rows.setdefault(row.character, []).append(row)

    @cached_property
    def seen(self) -> Mapping[str, VisibleCharacter]:
        """Return visible characters by their name in the whole cast, most mentioned first."""
        visible_by_name = {c.name: self._seen(c) for c in self._cast.characters}
        visible_pairs = [
            (name, visible_character)
            for name, visible_character in visible_by_name.items()
            if visible_character is not None
        ]
        return dict(sorted(visible_pairs, key=lambda pair: -pair[1].character.mentions))

    def person(self, name: str) -> str:
        """Return the name in the whole cast of whoever is called so; empty if nobody.

        A name that several people share is nobody's.
        """
        people = self._index.get(normalize_character_name(name), ())
        return people[0] if len(people) == 1 else ""

    def shown(self, name: str) -> str:
        """Return the display name of whoever a fact calls `name`; empty if not visible."""
        person = self.person(name)
        if person:
            visible_character = self.seen.get(person)
            return visible_character.character.name if visible_character else ""
        return name if self._sight.names(name) else ""

    def misread(self, fact: Fact) -> bool:
        """Say whether a fact takes a person for a place."""
        return is_misread_place(fact, self._cast)

    def betrays(self, text: str) -> bool:
        """Say whether `text` names somebody in a form that is not in sight yet."""
        return self._unseen is not None and bool(self._unseen.search(text))

    @cached_property
    def _unseen(self) -> re.Pattern[str] | None:
        if not self._sight.bounded:
            return None
        forms = {
            name
            for character in self._cast.characters
            for name in (character.name, *(a.name for a in character.aliases))
        }
        visible_aliases = (
            a.name for s in self.seen.values() for a in s.character.aliases
        )
        return compile_forms_pattern(forms.difference(visible_aliases))

    def _seen(self, character: Character) -> VisibleCharacter | None:
        rows = self._rows.get(character.name, [])
        if self._sight.bounded and not rows:
            return None
        aliases = self._aliases(character, rows)
        called = {alias.name for alias in aliases}
        name = character.name
        if self._sight.bounded and name not in called:
            name = aliases[0].name
        story_rows = [row for row in rows if self._sight.tells(row.document)]
        place = min(story_rows or rows, key=self._place, default=None)
        certainty = character.certainty
        if self._confirmed(character):
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
        story_rows = [row for row in rows if self._sight.tells(row.document)]
        for row in story_rows or rows:
            counts[row.alias] = counts.get(row.alias, 0) + self._mentions(row)
        aliases_by_name = {alias.name: alias for alias in character.aliases}
        if not self._sight.bounded:
            counts = {name: counts.get(name, 0) for name in (*aliases_by_name, *counts)}
        plainly = Alias("", 0, character.certainty)
        aliases = [
            replace(aliases_by_name.get(name, plainly), name=name, mentions=count)
            for name, count in counts.items()
        ]
        return tuple(sorted(aliases, key=lambda alias: (-alias.mentions, alias.name)))

    def _mentions(self, row: FirstMention) -> int:
        """Count a name as far as one has read; the row counts in the whole document."""
        if self._sight.whole(row.document):
            return row.mentions
        return min(row.mentions, self._counts(row.document).get(row.alias, 1))

    def _counts(self, document: DocumentId) -> Mapping[str, int]:
        if document not in self._counted:
            forms = {a.name for c in self._cast.characters for a in c.aliases}
            text = self._sight.prefix(document)
            self._counted[document] = count_form_occurrences(text, forms)
        return self._counted[document]

    def _confirmed(self, character: Character) -> bool:
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

    def _place(self, row: FirstMention) -> tuple[int, str, int]:
        return self._sight.key(row.document, row.span.start)


def count_form_occurrences(text: str, forms: Collection[str]) -> dict[str, int]:
    """Count each form in `text`, the longest that fits first, as whole words."""
    pattern = compile_forms_pattern(forms)
    counts: dict[str, int] = {}
    for match in pattern.finditer(text) if pattern else ():
        counts[match[0]] = counts.get(match[0], 0) + 1
    return counts


def compile_forms_pattern(forms: Collection[str]) -> re.Pattern[str] | None:
    """Return what finds any of `forms` as whole words, the longest first."""
    longest = sorted(filter(None, forms), key=lambda form: (-len(form), form))
    if not longest:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")


def normalize_character_name(name: str) -> str:
    """Return what two spellings of one name share: no case, points or article."""
    words = re.sub(r"[^\w' ]+", " ", name.replace("’", "'")).casefold()
    return _ARTICLE.sub("", " ".join(words.split()), count=1)


def _index(cast: Cast) -> dict[str, tuple[str, ...]]:
    index: dict[str, tuple[str, ...]] = {}
    for form, people in cast.shared.items():
        index[normalize_character_name(form)] = tuple(people)
    for character in cast.characters:
        for name in (character.name, *(alias.name for alias in character.aliases)):
            others = index.get(normalize_character_name(name), ())
            if character.name not in others:
                index[normalize_character_name(name)] = (*others, character.name)
    return index
