"""Finds the contradictions of a library again after each save, and counts the facts that
rules can compare.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lrwr.core.bible.horizon import HorizonCast, HorizonView, VisibleCharacter
from lrwr.core.bible.profiles import collect_visible_facts, normalize_attribute
from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.canon.model import Canon, CanonNames
from lrwr.core.continuity.contradictions import StoryWords, compare_statements
from lrwr.core.continuity.statements import (
    COMPARED_ATTRIBUTES,
    Contradiction,
    collect_statements,
    is_asserted_in_context,
)
from lrwr.core.continuity.values import find_quantity_statements
from lrwr.core.model.cast import Cast, Character
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.facts import (
    RULES_KEEPER,
    WRITER_KEEPER,
    CharacterField,
    Fact,
)
from lrwr.core.nlp.facts.clauses import SPOKEN_DETAIL
from lrwr.core.ports.story_stores import (
    DocumentFact,
    FirstMention,
    StatedDocument,
    StatedStore,
    StoryStore,
)
from lrwr.core.retrieval.story import StoryOrderBuilder

StatedDocuments = Mapping[DocumentId, StatedDocument]


class ContradictionFinder:
    """Finds the contradictions in a library again and again, as its documents change.

    What depends on one document only is computed again if that document has changed.
    `patterns` is the setting `[manuscript] order`. `canon` loads the user's decisions.
    """

    def __init__(
        self,
        *,
        stated: StatedStore,
        stories: StoryStore,
        patterns: Sequence[str],
        canon: Callable[[], Canon],
    ) -> None:
        self._stated, self._stories = stated, stories
        self._canon = canon
        self._order = StoryOrderBuilder(patterns)
        self._words = StoryWords()
        self._characters = _CharacterMemory()
        self._facts = _FactMemory()
        self._finding = asyncio.Lock()

    async def find(self) -> tuple[Contradiction, ...]:
        """Return what `find_contradictions` returns for the whole story.

        Raises:
            SettingsProblem: The canon file is invalid.
            StoreProblem: The library cannot be read.
        """
        async with self._finding:
            canon = await asyncio.to_thread(self._canon)
            documents = await self._stated.documents()
            cast = await self._stories.cast()
            return await asyncio.to_thread(self._find_in, documents, cast, canon)

    def _find_in(
        self, documents: StatedDocuments, cast: Cast, canon: Canon
    ) -> tuple[Contradiction, ...]:
        outlines = [d.outline for d in documents.values() if d.outline is not None]
        order = self._order.build(outlines, canon)
        texts = {
            name: stated.text
            for name, stated in documents.items()
            if stated.text is not None and name in order.outlines
        }
        view = HorizonView(order, texts, None)
        visible = self._characters.update(documents, cast, view, canon.names)
        horizon_cast = HorizonCast(cast, (), view, canon.names, visible)
        facts = self._facts.select(documents, view)
        material = collect_visible_facts(facts, horizon_cast, view)
        return compare_statements(material, canon, self._words)


class _FactMemory:
    """The facts that may become statements, of each document."""

    def __init__(self) -> None:
        self._stories: frozenset[DocumentId] = frozenset()
        self._documents: StatedDocuments = {}
        self._facts: dict[DocumentId, tuple[DocumentFact, ...]] = {}

    def select(
        self, documents: StatedDocuments, view: HorizonView
    ) -> Iterable[DocumentFact]:
        """Return the facts of `documents` without those of which `collect_statements`
        makes nothing, in the order of the documents.
        """
        stories = frozenset(filter(view.is_story, documents))
        known = self._documents if stories == self._stories else {}
        self._facts = {
            name: self._facts[name]
            if known.get(name) is stated
            else _select_stating_facts(stated, is_story=name in stories)
            for name, stated in documents.items()
        }
        self._stories, self._documents = stories, documents
        return [fact for facts in self._facts.values() for fact in facts]


def _select_stating_facts(
    stated: StatedDocument, *, is_story: bool
) -> tuple[DocumentFact, ...]:
    if stated.text is None:
        return ()
    text = stated.text.text
    return tuple(
        known
        for known in stated.facts
        if SPOKEN_DETAIL not in known.fact.details
        and (
            _is_compared(known.fact) and _is_asserted(known.fact, text)
            if is_story
            else known.fact.keeper == WRITER_KEEPER
        )
    )


def _is_compared(fact: Fact) -> bool:
    attribute = normalize_attribute(fact.detail("attribute"))
    return fact.field == CharacterField.RELATIONSHIP or attribute in COMPARED_ATTRIBUTES


def _is_asserted(fact: Fact, text: str) -> bool:
    return (
        fact.keeper == RULES_KEEPER
        and all(span.end <= len(text) for span in fact.spans)
        and bool(fact.spans)
        and is_asserted_in_context(text, fact.spans[0])
    )


class _CharacterMemory:
    """The visible characters of the whole story, as `HorizonCast` makes them."""

    def __init__(self) -> None:
        self._frame: tuple[object, ...] = ()
        self._documents: StatedDocuments = {}
        self._mentions: dict[str, dict[DocumentId, list[FirstMention]]] = {}
        self._characters: dict[str, tuple[Character, VisibleCharacter]] = {}

    def update(
        self,
        documents: StatedDocuments,
        cast: Cast,
        view: HorizonView,
        names: CanonNames,
    ) -> Mapping[str, VisibleCharacter]:
        """Return `HorizonCast.visible` for the first mentions in `documents`."""
        frame = (tuple(view.order.story), frozenset(view.order.outlines), names)
        if frame != self._frame:
            self._frame, self._documents = frame, {}
            self._mentions, self._characters = {}, {}
        touched = self._update_mentions(documents, view)
        made = self._make_visible(
            [c for c in cast.characters if self._is_new(c, touched)], view, names
        )
        self._characters = {
            character.name: (character, made[character.name])
            if character.name in made
            else self._characters[character.name]
            for character in cast.characters
        }
        visible = [(name, found) for name, (_, found) in self._characters.items()]
        return dict(sorted(visible, key=lambda pair: -pair[1].character.mentions))

    def _update_mentions(
        self, documents: StatedDocuments, view: HorizonView
    ) -> set[str]:
        """Take the first mentions of changed documents; return whose have changed."""
        touched: set[str] = set()
        known, self._documents = self._documents, documents
        for name in known.keys() | documents.keys():
            old, new = known.get(name), documents.get(name)
            if old is new:
                continue
            for mention in old.first_seen if old else ():
                self._mentions.get(mention.character, {}).pop(name, None)
                touched.add(mention.character)
            for mention in new.first_seen if new else ():
                if view.is_visible(name, (mention.span,)):
                    by_document = self._mentions.setdefault(mention.character, {})
                    by_document.setdefault(name, []).append(mention)
                    touched.add(mention.character)
        return touched

    def _is_new(self, character: Character, touched: set[str]) -> bool:
        known = self._characters.get(character.name)
        return known is None or known[0] != character or character.name in touched

    def _make_visible(
        self, characters: Sequence[Character], view: HorizonView, names: CanonNames
    ) -> Mapping[str, VisibleCharacter]:
        mentions = [
            mention
            for character in characters
            for _, found in sorted(self._mentions.get(character.name, {}).items())
            for mention in found
        ]
        return HorizonCast(Cast(tuple(characters)), mentions, view, names).visible


@dataclass(frozen=True, slots=True)
class ComparedFacts:
    """How many facts rules could compare: `stated` in all, of which `compared` are of an
    attribute that notes or text state more than once.
    """

    stated: int
    compared: int


def count_compared_facts(
    knowledge: StoryKnowledge, horizon: Horizon | None = None
) -> ComparedFacts:
    """Return how many facts `find_contradictions` compares."""
    view = HorizonView(knowledge.order, knowledge.texts, horizon)
    cast = HorizonCast(
        knowledge.cast, knowledge.first_seen, view, knowledge.canon.names
    )
    material = collect_visible_facts(knowledge.facts, cast, view)
    statements = (
        *collect_statements(material, knowledge.canon),
        *find_quantity_statements(view),
    )
    counts = Counter((statement.about, statement.attribute) for statement in statements)
    return ComparedFacts(
        counts.total(),
        sum(count for count in counts.values() if count > 1),
    )
