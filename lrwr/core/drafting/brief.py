"""The brief of a scene: what its place in the story lets one know, within a budget."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lrwr.core.bible.values import SceneSummary
from lrwr.core.continuity.statements import find_enclosing_sentence
from lrwr.core.drafting.board import SceneCard, spell_horizon
from lrwr.core.drafting.brief_items import (
    BriefItem,
    BriefMaterial,
    BriefSection,
    cite_end_of_scene,
    cite_span,
    find_last_scene,
    find_profiles,
    item_of,
    iter_brief_items,
    quote_evidence,
)
from lrwr.core.drafting.story_passages import (
    find_last_mentions,
    find_latest_days,
    iter_paragraphs,
)
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.language_model import CHARACTERS_PER_TOKEN, estimate_tokens

MAX_MENTIONS, MAX_VOICE_PASSAGES = 5, 3
VOICE_WORDS = (40, 160)
"""Length of a passage that shows the writer's voice, in words."""
DEFAULT_BRIEF_TOKENS = 4_000
LEAST_BRIEF_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Brief:
    """What a scene needs, in at most `tokens` tokens.

    `horizon` is the point of the story up to which the text was used. `left_out`
    entries did not fit.
    """

    card: SceneCard
    horizon: Horizon
    tokens: int
    items: tuple[BriefItem, ...] = ()
    left_out: int = 0


def build_brief(material: BriefMaterial, tokens: int) -> Brief:
    """Return the brief of a scene, with as many entries as fit into `tokens`.

    `tokens` are counted as about four characters each, headings included. Nothing of
    the manuscript is from after the horizon.
    """
    entries = (*iter_brief_items(material), *_iter_passages(material))
    items = sorted(entries, key=lambda item: item.rank)
    unique = list(
        {(item.section, item.text, item.place): item for item in items}.values()
    )
    brief = Brief(material.card, material.horizon, tokens)
    room = tokens * CHARACTERS_PER_TOKEN - len(render_brief(brief))
    chosen: list[BriefItem] = []
    repeated = 0
    for item in unique:
        if any(_contains(c, item) for c in chosen):
            repeated += 1
            continue
        heading = 0 if any(c.section is item.section for c in chosen) else _HEADING_ROOM
        fitting = _shorten(item, room - heading - _LABEL_ROOM)
        if fitting is not None:
            for shorter in [c for c in chosen if _contains(fitting, c)]:
                chosen.remove(shorter)
                room += _LABEL_ROOM + len(_format_item(shorter))
                repeated += 1
            chosen.append(fitting)
            room -= heading + _LABEL_ROOM + len(_format_item(fitting))
    order = list(BriefSection)
    chosen.sort(key=lambda item: (order.index(item.section), item.rank))
    left_out = len(unique) - len(chosen) - repeated
    return replace(brief, items=tuple(chosen), left_out=left_out)


_PASSAGES = (BriefSection.ABOUT, BriefSection.BEFORE, BriefSection.VOICE)
"""Sections whose entries are passages of the story."""


def _contains(item: BriefItem, other: BriefItem) -> bool:
    """Return whether `item` shows all of the passage that `other` is."""
    whole, part = item.evidence, other.evidence
    return (
        item is not other
        and other.section in (BriefSection.ABOUT, BriefSection.VOICE)
        and item.section in _PASSAGES
        and whole is not None
        and part is not None
        and whole.document == part.document
        and whole.spans[0].start <= part.spans[0].start
        and part.spans[-1].end <= whole.spans[-1].end
        and " ".join(part.text.split()) in item.text
    )


_LABEL_ROOM = 9
"""Characters of a number and line break: "[1234] "."""
_HEADING_ROOM = 5 + max(len(section) for section in BriefSection)
_LEAST_CUT = 60
"""Characters of an entry below which it is left out instead of shortened."""


def _shorten(item: BriefItem, room: int) -> BriefItem | None:
    """Return `item` so that it takes at most `room` characters; None if it cannot."""
    excess = len(_format_item(item)) - room
    if excess <= 0:
        return item
    size = len(item.text) - excess - 4
    if not item.cut or size < _LEAST_CUT:
        return None
    if item.cut == "start":
        return replace(item, text="… " + item.text[-size:].partition(" ")[2])
    return replace(item, text=item.text[:size].rpartition(" ")[0] + " …")


def render_brief(brief: Brief) -> str:
    """Return a brief as text; its entries are numbered from 1."""
    title = f"{' '.join(brief.card.title.split())[:80]} ({brief.card.id[:80]})"
    lines = [f"# {title}", f"The story up to {spell_horizon(brief.horizon)}."]
    section = None
    for number, item in enumerate(brief.items, start=1):
        if item.section is not section:
            section = item.section
            lines += ["", f"## {section}"]
        lines.append(f"[{number}] {_format_item(item)}")
    return "\n".join(lines) + "\n"


def count_brief_tokens(brief: Brief) -> int:
    """Return the estimated tokens of a brief as `render_brief` returns it."""
    return estimate_tokens(render_brief(brief))


def _format_item(item: BriefItem) -> str:
    return f"{item.text} ({item.place})" if item.place else item.text


def _iter_passages(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield the passages of the story that may help, and what is planned around."""
    yield from _iter_related(material)
    yield from _iter_last_mentions(material)
    yield from _iter_days(material)
    yield from _iter_neighbours(material)
    yield from _iter_end_before(material)
    yield from _iter_voice(material)


def _iter_related(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield the passages that were found for the words of the card."""
    for number, passage in enumerate(material.related):
        evidence = cite_span(passage.span, passage.document, material.view)
        if evidence is not None:
            item = item_of(
                BriefSection.ABOUT, quote_evidence(evidence), 3 + number // 3, evidence
            )
            yield replace(item, cut="end")


def _list_texts(material: BriefMaterial) -> dict[DocumentId, str]:
    """Return the texts of the story up to the horizon, in story order."""
    ends: dict[DocumentId, int] = {}
    for scene in material.bible.scenes:
        ends[scene.document] = max(scene.span.end, ends.get(scene.document, 0))
    texts = material.view.texts
    return {document: texts[document].text[:end] for document, end in ends.items()}


def _iter_last_mentions(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield the last passages that mention a thing on the card."""
    card = material.card
    wording = "\n".join((card.title, card.summary, *card.beats))
    people = (f.name for p in material.bible.characters for f in p.aliases)
    names = [*people, *(element.name for element in material.bible.world)]
    without = frozenset(word.casefold() for name in names for word in name.split())
    texts = _list_texts(material)
    for passage in find_last_mentions(wording, texts, MAX_MENTIONS, without=without):
        evidence = cite_span(passage.span, passage.document, material.view)
        if evidence is not None:
            text = f"last mention: {quote_evidence(evidence)}"
            yield item_of(BriefSection.ABOUT, text, 3, evidence)


def _iter_days(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield the numbered day that the story has come to, such as "Day 12"."""
    for unit, row in find_latest_days(_list_texts(material)).items():
        number, document, span = row
        sentence = find_enclosing_sentence(material.view.texts[document].text, span)
        evidence = cite_span(sentence, document, material.view)
        if evidence is not None:
            text = f"The story has come to {unit} {number}: {quote_evidence(evidence)}"
            yield item_of(BriefSection.AROUND, text, 2, evidence)


def _iter_neighbours(material: BriefMaterial) -> Iterator[BriefItem]:
    scenes = material.bible.scenes
    people = list(find_profiles(material))
    shown = [find_last_scene(p, material.bible, material.view) for p in people]
    for number, scene in enumerate(reversed(scenes[-3:])):
        if scene in shown:
            continue
        for key in scene.key_sentences[:1]:
            where = f"chapter {scene.chapter}, scene {scene.scene}"
            text = f"{where}: {quote_evidence(key)}"
            yield item_of(BriefSection.AROUND, text, 4 + number, key)
    for label, card in (("before", material.before), ("after", material.after)):
        if card is not None:
            plan = " ".join(filter(None, (card.title, card.summary)))
            place = f"{material.board}:{card.line}" if card.line else ""
            text = f"planned {label}: {plan}"
            yield BriefItem(BriefSection.AROUND, text, 3, place, cut="end")


def _iter_end_before(material: BriefMaterial) -> Iterator[BriefItem]:
    if material.pending:
        yield BriefItem(
            BriefSection.BEFORE, material.pending, 2, material.pending_place
        )
    if material.bible.scenes:
        evidence = cite_end_of_scene(material.bible.scenes[-1], material.view)
        if evidence is not None:
            item = item_of(BriefSection.BEFORE, quote_evidence(evidence), 2, evidence)
            yield replace(item, cut="start")


def _iter_voice(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield passages of the writer's own, from the scenes most like this one first."""
    cast = {name.casefold() for name in material.card.cast}

    def rate(scene: SceneSummary) -> int:
        views = {claim.value.casefold() for claim in scene.points_of_view}
        people = {name.casefold() for name in scene.present}
        return 2 * len(views & {material.card.pov.casefold()}) + len(people & cast)

    scenes = sorted(
        enumerate(material.bible.scenes), key=lambda s: (-rate(s[1]), -s[0])
    )
    for number, (_, scene) in enumerate(scenes[:MAX_VOICE_PASSAGES]):
        text = material.view.texts[scene.document].text
        spans = iter_paragraphs(text, scene.span, VOICE_WORDS)
        span = max(spans, key=len, default=None)
        evidence = cite_span(span, scene.document, material.view) if span else None
        if evidence is not None:
            yield item_of(
                BriefSection.VOICE, quote_evidence(evidence), 5 + number, evidence
            )
