"""The story bible as headings, paragraphs and lists of a document, for export."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from lrwr.core.bible.values import (
    NO_READER,
    SHOWN_EVIDENCE,
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    Gap,
    GapState,
    SceneSummary,
    TextEvidence,
    WorldElement,
    format_chapter_name,
    format_evidence_location,
    format_relation,
    list_gap_implications,
    list_model_claims,
)
from lrwr.core.model.documents import Block, BlockKind
from lrwr.core.model.text import format_chapter_title, strip_closing_mark
from lrwr.core.nlp.facts.note_layout import strip_note_markdown

MAX_PRINTED_QUOTE_CHARS = 400
"""Maximum characters of a printed quotation."""


def build_bible_blocks(bible: Bible, *, title: str = "Story bible") -> list[Block]:
    """Return the whole bible as headings, paragraphs, list items and quotations.

    `title` is the main heading, followed by a table of contents. The parts are
    characters, world, relations, timeline, scenes, quotes and open questions; an empty
    one says so.
    """
    blocks = [_heading(title, 1)]
    if not bible.readers:
        blocks.append(_text(f"Some fields are {NO_READER}"))
    parts = {
        "Characters": _characters(bible),
        "The world": _world(bible.world),
        "Relations": _relations(bible.relations),
        "Timeline": _timeline(bible),
        "Scenes": _scenes(bible.scenes),
        "Quotes": _dialogue(bible),
        "Open questions": _gaps(bible.gaps),
    }
    blocks += [Block(BlockKind.CONTENTS, part) for part in parts]
    for part, content in parts.items():
        blocks += [_heading(part, 2), *(list(content) or [_text("None.")])]
    return blocks


def _characters(bible: Bible) -> Iterator[Block]:
    for profile in bible.characters:
        yield _heading(profile.name, 3)
        yield from _who(profile)
        for claim in profile.attributes:
            yield from _claim(claim.label.rstrip(" .:"), claim)
        for label, claims in list_model_claims(profile):
            for claim in claims:
                yield from _claim(label, claim)
        for relation in profile.relationships:
            yield from _relation(relation)


def _who(profile: CharacterProfile) -> Iterator[Block]:
    others = [form.name for form in profile.aliases if form.name != profile.name]
    if others:
        yield _item("also called", ", ".join(others))
    if profile.first_seen is not None:
        yield _item("first seen", format_evidence_location(profile.first_seen))
    yield _item("mentioned", f"{_times(profile.mentions)} ({profile.certainty})")


def _times(mentions: int) -> str:
    return "once" if mentions == 1 else f"{mentions} times"


def _world(world: Iterable[WorldElement]) -> Iterator[Block]:
    for element in world:
        yield _heading(element.name, 3)
        if element.part_of:
            yield _item("in", element.part_of)
        if element.mentions:
            yield _item("mentioned", _times(element.mentions))
        for claim in element.element_types:
            yield from _claim("is", claim)
        for claim in element.descriptions:
            yield from _claim("", claim)
        names = [claim.value for claim in element.connected_characters]
        if names:
            yield _item("characters", ", ".join(names))


def _relations(relations: Iterable[CharacterRelation]) -> Iterator[Block]:
    for relation in relations:
        yield from _relation(relation)


def _relation(relation: CharacterRelation) -> Iterator[Block]:
    lead, description = format_relation(relation)
    shown, number = relation.evidence[:SHOWN_EVIDENCE], len(relation.evidence)
    more = f" (in {number} places)" if number > len(shown) else ""
    yield _item(lead, f"{description}, {relation.certainty}{more}")
    yield from _quotes(shown, description)


def _timeline(bible: Bible) -> Iterator[Block]:
    for chapter, moments in groupby(
        bible.timeline, lambda moment: format_chapter_name(moment.evidence)
    ):
        yield _heading(chapter, 3)
        for moment in moments:
            yield _item(", ".join(moment.characters), moment.text)
            yield from _quotes([moment.evidence], moment.text)


def _scenes(scenes: Iterable[SceneSummary]) -> Iterator[Block]:
    for scene in scenes:
        title = format_chapter_title(scene.chapter, scene.chapter_title)
        yield _heading(f"Chapter {scene.chapter}{title}, scene {scene.scene}", 3)
        views = [claim.value for claim in scene.points_of_view]
        if views:
            yield _item("point of view", ", ".join(views))
        if scene.present:
            yield _item("present", ", ".join(scene.present))
        for claim in scene.recap:
            yield _text(claim.value)
        if not scene.recap:
            yield from _quotes(scene.key_sentences, "")


def _dialogue(bible: Bible) -> Iterator[Block]:
    """Yield the quotations whose speaker is known, under the headings of chapters."""
    spoken = (quote for quote in bible.quotes if quote.speaker)
    for chapter, quotes in groupby(
        spoken, lambda quote: format_chapter_name(quote.evidence)
    ):
        yield _heading(chapter, 3)
        for quote in quotes:
            to = f" to {quote.addressee}" if quote.addressee else ""
            yield _item(f"{quote.speaker}{to}", str(quote.evidence.certainty))
            yield from _quotes([quote.evidence], "")


def _gaps(gaps: Iterable[Gap]) -> Iterator[Block]:
    for gap in gaps:
        whose = f"{gap.about}, {gap.attribute}" if gap.about else gap.attribute
        yield _item(
            whose.rstrip(" .:"), f"{gap.state}{f': {gap.answer}' if gap.answer else ''}"
        )
        if gap.state is GapState.OPEN:
            for text in (*list_gap_implications(gap), *gap.suggestions):
                yield _text(text)


def _claim(label: str, claim: BibleClaim) -> Iterator[Block]:
    by = "you decided" if claim.decided else str(claim.certainty)
    yield _item(label, f"{claim.value} ({by})")
    yield from _quotes(claim.evidence, claim.value)


def _quotes(evidence: Iterable[TextEvidence], description: str) -> Iterator[Block]:
    for text_evidence in evidence:
        words = strip_closing_mark(strip_note_markdown(text_evidence.text))
        if len(words) > MAX_PRINTED_QUOTE_CHARS:
            words = words[:MAX_PRINTED_QUOTE_CHARS].rsplit(" ", 1)[0] + " …"
        if words == description:
            words = ""
        yield Block(
            BlockKind.QUOTE, words, place=format_evidence_location(text_evidence)
        )


def _heading(text: str, level: int) -> Block:
    return Block(BlockKind.HEADING, text, level=level)


def _text(text: str) -> Block:
    return Block(BlockKind.TEXT, text)


def _item(lead: str, text: str) -> Block:
    return Block(BlockKind.ITEM, text, lead=lead)
