"""Passages of the library that the sentences of a draft are about: what they say
otherwise, and what a language model needs to compare the draft with the story.
"""

import re
from collections import Counter
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from math import log
from typing import TypeAlias

from lrwr.app.container import Workspace
from lrwr.app.posts import (
    create_draft_checker,
    load_checked_story,
    split_passage,
)
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.details import stem_words
from lrwr.core.attribution.names import fold_words, list_named_characters
from lrwr.core.bible.name_evidence import shorten_line
from lrwr.core.bible.name_lookup import list_cast_forms
from lrwr.core.bible.values import CharacterProfile, format_evidence_location
from lrwr.core.continuity.statements import (
    find_enclosing_sentence,
)
from lrwr.core.drafting.brief_items import BriefItem, BriefSection
from lrwr.core.drafting.findings import DraftContext, DraftFinding, FindingKind
from lrwr.core.drafting.story_passages import (
    SHORT_PASSAGE_CHARS,
    extend_passage,
    find_last_mentions,
)
from lrwr.core.evidence.attribute_check import (
    find_attribute_differences,
    list_known_attributes,
    states_attribute,
)
from lrwr.core.evidence.comparison import DetailDifference
from lrwr.core.evidence.results import CheckedStory, ComparedPassage
from lrwr.core.evidence.statement_search import find_subject, resolve_subject
from lrwr.core.evidence.statements import DraftStatement, iter_statements
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import DocumentText

_Texts: TypeAlias = Mapping[DocumentId, DocumentText]

PASSAGES_PER_CLAIM = 3
"""Passages that are considered for each sentence of a draft."""
MIN_SHARED_STEMS = 2
"""Content words that a passage and a sentence must share for it to be considered."""
NOTE_RARITY = 6.0
"""How rare a word counts that notes have and the story does not; see `_measure_rarity`."""
NOTE_WEIGHT = 2.0
"""How much more a common word counts in what notes say of somebody than in a passage."""
UNNAMED_LABEL = "description"
"""The label of what notes say in whole sentences."""
_MARKUP = re.compile(r"(?m)^[ \t]*>[ \t]?|\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
"""The mark of a quoted line; a link between notes, of which its words stay."""
_LIST_MARK = re.compile(r"[ \t]*[>|*+-][ \t]")
RARE = 4.5
"""How rare a word is, as `_measure_rarity` says, that alone makes a passage worth a look:
about one paragraph in ninety has it."""
REPEATED_CHARS = 80
"""Characters at the beginning of a passage that another one has if both overlap."""
MAX_LAST_MENTIONS = 8
"""Last passages about things of a draft."""


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A sentence of a draft with passages of the library, the closest first.

    `subject` is the character whom its pronouns mean.
    """

    statement: DraftStatement
    subject: str
    passages: tuple[ComparedPassage, ...]


@dataclass(frozen=True, slots=True)
class DraftClaimFinder:
    """Finds the passages of a library that sentences of a draft are about.

    `before` are the documents of the story before the draft. Passages of `own`, the
    document that the draft is, do not count. Nothing is embedded or sent.
    """

    workspace: Workspace
    before: Collection[DocumentId]
    own: DocumentId

    async def find_differences(self, context: DraftContext) -> list[DraftFinding]:
        """Return a finding for each colour, material, side or name in the narration of
        which the library has another one, and nowhere the same.

        Raises:
            StoreProblem: The library cannot be read.
        """
        cast = list_cast_forms(context.bible)
        attributes = list_known_attributes(context.bible)
        order, pipeline = context.knowledge.order, self.workspace.settings.pipeline
        draft = context.knowledge.texts[context.draft]
        story = CheckedStory(order, pipeline, cast, None, cast, attributes=attributes)
        claims = await self._find_claims(draft, story, only_attributes=True)
        texts = await self._load_texts(story)
        return [f for claim in claims for f in self._compare(claim, story, texts)]

    async def find_passages(self, draft: DocumentText) -> list[BriefItem]:
        """Return passages before `draft`, and of notes, that are about what it says, as
        entries of a brief: those with the rarest common words first.

        Raises:
            StoreProblem: The library cannot be read.
        """
        story = await load_checked_story(self.workspace)
        texts = await self._load_texts(story)
        rarity = _measure_rarity(text.text for text in texts.values())
        names = frozenset(
            word for forms in story.cast for f in forms for word in fold_words(f)
        )
        rated: dict[BriefItem, float] = {}
        for claim in await self._find_claims(draft, story):
            stems = stem_words(claim.statement.text)
            for passage in self._list_earlier(claim)[:PASSAGES_PER_CLAIM]:
                shared = stems & stem_words(passage.found)
                if _is_about_same(shared, names, rarity):
                    item = _build_item(passage, texts)
                    score = sum(rarity.get(stem, 0.0) for stem in shared - names)
                    rated[item] = max(score, rated.get(item, 0.0))
        named = frozenset().union(*list_named_characters(draft.text, story.cast))
        bible = await self.workspace.bible().read()
        for person in bible.characters:
            if fold_words(person.name) in named:
                for item, shared in _iter_notes(person, stem_words(draft.text)):
                    weights = (rarity.get(stem, NOTE_RARITY) for stem in shared)
                    rated[item] = NOTE_WEIGHT * sum(weights)
        places = (word for e in bible.world for word in fold_words(e.name))
        mentions = self._list_last_mentions(draft, story, texts, names.union(places))
        return _merge_items(sorted(rated, key=lambda item: -rated[item]), mentions)

    def _list_last_mentions(
        self,
        draft: DocumentText,
        story: CheckedStory,
        texts: _Texts,
        names: frozenset[str],
    ) -> list[BriefItem]:
        """Return what the story before the draft tells last of things in it."""
        before = {d: texts[d].text for d in story.order.story if d in self.before}
        return [
            _describe_passage(BriefSection.STORY, passage.document, passage.span, texts)
            for passage in find_last_mentions(
                draft.text, before, MAX_LAST_MENTIONS, without=names
            )
        ]

    async def _load_texts(self, story: CheckedStory) -> _Texts:
        return await self.workspace.passages.texts(list(story.order.outlines))

    async def _find_claims(
        self, draft: DocumentText, story: CheckedStory, *, only_attributes: bool = False
    ) -> list[DraftClaim]:
        checker = create_draft_checker(self.workspace, by_words_only=True)
        claims: list[DraftClaim] = []
        subject = before = ""
        for statement in iter_statements(draft, find_sentence_spans):
            is_compared = not only_attributes or states_attribute(statement.own_text)
            if is_compared and not statement.is_heading:
                meant = resolve_subject(statement, story, subject)
                passages = await checker.find_passages(statement, story, meant, before)
                others = [p for p in passages if _document(p) != self.own]
                claims.append(DraftClaim(statement, meant, tuple(others)))
            before = statement.text
            subject = find_subject(statement, story) or subject
        return claims

    def _compare(
        self, claim: DraftClaim, story: CheckedStory, texts: _Texts
    ) -> Iterator[DraftFinding]:
        """Yield what the passages of a claim have otherwise; nothing if one repeats it."""
        if any(passage.compared.is_near for passage in claim.passages):
            return

        def compare(passages: Sequence[ComparedPassage]) -> Sequence[DetailDifference]:
            return find_attribute_differences(
                claim.statement.own_text,
                [passage.passage.chunk.text for passage in passages],
                split_passage,
                story,
                claim.subject,
            )

        for difference in compare(claim.passages):
            passage = next(
                (p for p in claim.passages if difference in compare([p])), None
            )
            if passage is None:
                continue
            place, quote = _quote_difference(passage, difference, texts)
            yield DraftFinding(
                FindingKind.DETAIL,
                f"“{difference.stated}”, but elsewhere: “{quote}”",
                claim.statement.lines,
                claim.statement.text,
                place,
                is_remark=_document(passage) not in self.before,
                words=difference.stated,
            )

    def _list_earlier(self, claim: DraftClaim) -> list[ComparedPassage]:
        """Return the passages of a claim that are before the draft, or in notes."""
        return [
            passage
            for passage in claim.passages
            if _document(passage) in self.before or passage.passage.chapter is None
        ]


def _iter_notes(
    person: CharacterProfile, stems: frozenset[str]
) -> Iterator[tuple[BriefItem, frozenset[str]]]:
    """Yield what the notes say of somebody, if it has any of `stems`, each with those.
    What a longer sentence has, too, is left out.
    """
    values = [claim.value.casefold() for claim in person.attributes]
    for claim in person.attributes:
        evidence = claim.evidence[0] if claim.evidence else None
        shared = stems & stem_words(claim.value)
        own = claim.value.casefold()
        is_repeated = any(own in value and own != value for value in values)
        is_note = evidence is not None and evidence.chapter is None
        if evidence is not None and is_note and shared and not is_repeated:
            label = f", {claim.label}" if claim.label != UNNAMED_LABEL else ""
            text = f"{person.name}{label}: {' '.join(claim.value.split())}"
            place = format_evidence_location(evidence)
            yield BriefItem(BriefSection.NOTES, text, 3, place), shared


def _document(passage: ComparedPassage) -> DocumentId:
    return passage.passage.chunk.document


def _quote_difference(
    passage: ComparedPassage, difference: DetailDifference, texts: _Texts
) -> tuple[str, str]:
    """Return the `file:line` and the sentence of the first place in a passage that has
    what differs.
    """
    chunk = passage.passage.chunk
    word = re.compile(rf"\b{re.escape(difference.found)}\b", re.IGNORECASE)
    match = word.search(chunk.text)
    start = chunk.span.start + (match.start() if match else passage.compared.span.start)
    text = texts[chunk.document]
    sentence = find_enclosing_sentence(text.text, Span(start, start + 1))
    quote = shorten_line(
        text.text[sentence.start : sentence.end],
        Span(start - sentence.start, start - sentence.start + len(difference.found)),
    )
    return f"{chunk.document}:{text.lines.lines_of(sentence).first}", quote


def _build_item(passage: ComparedPassage, texts: _Texts) -> BriefItem:
    """Return the sentences of a passage that are closest to a claim, with those around
    them in the same paragraph, as an entry of a brief.
    """
    chunk = passage.passage.chunk
    text = texts[chunk.document].text
    closest = passage.compared.span
    start, end = chunk.span.start + closest.start, chunk.span.start + closest.end
    span = extend_passage(text, Span(start, end))
    line = text.rfind("\n", 0, start) + 1
    if _LIST_MARK.match(text, line) and end - line <= SHORT_PASSAGE_CHARS:
        # A list says at its beginning what it lists: "Drowned: Ansel. Hob."
        span = Span(min(span.start, line), span.end)
    is_note = passage.passage.chapter is None
    section = BriefSection.NOTES if is_note else BriefSection.STORY
    return _describe_passage(section, chunk.document, span, texts)


def _describe_passage(
    section: BriefSection, document: DocumentId, span: Span, texts: _Texts
) -> BriefItem:
    text = texts[document]
    words = _MARKUP.sub(r"\1", text.text[span.start : span.end])
    words = " ".join(words.split())
    return BriefItem(section, words, 3, f"{document}:{text.lines.lines_of(span).first}")


def _is_about_same(
    shared: frozenset[str], names: frozenset[str], rarity: Mapping[str, float]
) -> bool:
    """Return whether the stems that a passage and a sentence share are enough for it to be
    considered: two that are no names, or one rare one beside a name.
    """
    content = shared - names
    if len(content) >= MIN_SHARED_STEMS:
        return True
    is_rare = any(rarity.get(stem, 0.0) >= RARE for stem in content)
    return is_rare and len(shared) >= MIN_SHARED_STEMS


def _merge_items(
    items: Sequence[BriefItem], mentions: Sequence[BriefItem]
) -> list[BriefItem]:
    """Return the entries with every fourth place for `mentions`, without those whose words
    another one has.
    """
    own = iter(items)
    rows = [own, own, own, iter(mentions)]
    merged: list[BriefItem] = []
    for place in range(len(rows) * (len(items) + len(mentions))):
        item = next(rows[place % len(rows)], None)
        if item is not None and not any(
            item.text[:REPEATED_CHARS] in other.text
            or other.text[:REPEATED_CHARS] in item.text
            for other in merged
        ):
            merged.append(item)
    return merged


def _measure_rarity(texts: Iterable[str]) -> Mapping[str, float]:
    """Return for each stem how rare it is: the logarithm of the share of paragraphs that
    have it, negated.
    """
    counts: Counter[str] = Counter()
    paragraphs = [p for text in texts for p in text.split("\n\n") if p.strip()]
    for paragraph in paragraphs:
        counts.update(stem_words(paragraph))
    total = len(paragraphs)
    return {stem: log(total / count) for stem, count in counts.items()}
