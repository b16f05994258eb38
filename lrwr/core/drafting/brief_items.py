"""The entries of briefs: what the plan and the story up to a scene say for it."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from lrwr.core.bible.horizon import HorizonView, compile_forms_pattern
from lrwr.core.bible.name_lookup import match_elements
from lrwr.core.bible.service import find_profile_by_name
from lrwr.core.bible.values import (
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    SceneSummary,
    TextEvidence,
    WorldElement,
    format_evidence_location,
    format_relation,
)
from lrwr.core.continuity.statements import find_enclosing_sentence
from lrwr.core.continuity.values import are_values_incompatible
from lrwr.core.drafting.board import SceneCard
from lrwr.core.drafting.folder import DraftFile
from lrwr.core.drafting.story_passages import (
    SHORT_PASSAGE_CHARS,
    RelatedPassage,
    cut_at_sentence,
    iter_paragraphs,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.documents import DocumentId, Horizon
from lrwr.core.model.errors import NotFound
from lrwr.core.model.facts import RULES_KEEPER, SURE_CERTAINTIES, Certainty
from lrwr.core.model.text import Span

CANON_PLACE = "lrwr.canon.toml"
MAX_TAIL_CHARACTERS = 1_500
"""Characters of the end of the scene before."""
MAX_QUOTES, MAX_CLAIMS = 4, 12
MIN_LINE_WORDS = 4
"""Words of a line that shows how somebody speaks, if they have any as long."""

_ALWAYS = re.compile(r"^#{1,6}[ \t]+(always|never)\b.*$", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_FIELD_LINE = re.compile(r"^[-*+][ \t]+(\w[\w ]{0,30}):[ \t]*(\S.*)$", re.MULTILINE)


class BriefSection(StrEnum):
    """A section of a brief; its value is the heading. They are shown in this order.

    The last two are for the review of a draft only.
    """

    CARD = "The scene"
    RULES = "Rules"
    PEOPLE = "People"
    PLACE = "Place"
    GAPS = "Open questions"
    ABOUT = "What the story says about it"
    AROUND = "Around it"
    BEFORE = "The end of the scene before"
    VOICE = "How the text sounds"
    STORY = "What the story says of the same"
    NOTES = "What the notes say of the same"


@dataclass(frozen=True, slots=True)
class BriefItem:
    """One entry of a brief.

    `rank` says what is included first, from 0. `place` is `file:line`, empty for what
    stands on the board only. `evidence` is the passage of the manuscript that the entry
    is from, if it is from one. With `cut` an entry that does not fit is shortened: at
    its "start" or its "end".
    """

    section: BriefSection
    text: str
    rank: int
    place: str = ""
    evidence: TextEvidence | None = None
    cut: str = ""


@dataclass(frozen=True, slots=True)
class BriefMaterial:
    """What a brief is made of.

    `bible` and `view` end at `horizon`. `before` and `after` are the neighbouring
    cards; of `after`, only one that is not written yet. `intent`, `world` and `sheets`
    are the writer's plans. `pending` is a sentence on the text of the scene before, if it
    is not part of the story, at `pending_place`, a `file:line`. `related` are passages
    for the words of the card, the best first.
    """

    card: SceneCard
    horizon: Horizon
    bible: Bible
    view: HorizonView
    before: SceneCard | None = None
    after: SceneCard | None = None
    intent: DraftFile | None = None
    world: Sequence[DraftFile] = ()
    sheets: Sequence[DraftFile] = ()
    pending: str = ""
    pending_place: str = ""
    related: Sequence[RelatedPassage] = ()
    board: str = "board.md"


def iter_brief_items(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield the entries of a brief about card, rules, people and place, in no order of
    importance.
    """
    yield from _iter_card(material)
    yield from _iter_rules(material)
    yield from _iter_last_scenes(material)
    for name in material.card.cast:
        yield from _PersonItems(name, material).iterate()
    yield from _iter_place(material)


def _iter_card(material: BriefMaterial) -> Iterator[BriefItem]:
    card = material.card
    place = f"{material.board}:{card.line}" if card.line else ""
    fields = {
        "point of view": card.pov,
        "people": ", ".join(card.people),
        "place": card.place,
        "length": f"{card.words:,} words" if card.words else "",
    }
    facts = "; ".join(f"{name}: {value}" for name, value in fields.items() if value)
    if facts:
        yield BriefItem(BriefSection.CARD, facts, 0, place, cut="end")
    if card.summary:
        yield BriefItem(BriefSection.CARD, card.summary, 0, place, cut="end")
    for number, beat in enumerate(card.beats, start=1):
        yield BriefItem(BriefSection.CARD, f"beat {number}: {beat}", 1, place)


def _iter_rules(material: BriefMaterial) -> Iterator[BriefItem]:
    if material.intent is not None:
        yield from _iter_intent(material.intent)
    for element in material.bible.world:
        if any(claim.value == "rule" for claim in element.element_types):
            yield from _iter_element(element, BriefSection.RULES, 3)
    for file in material.world:
        yield _from_plan(file, BriefSection.RULES, 4)


def _iter_intent(intent: DraftFile) -> Iterator[BriefItem]:
    for match in _FIELD_LINE.finditer(intent.text):
        line = intent.text.count("\n", 0, match.start()) + 1
        text = f"{match[1]}: {match[2].strip()}"
        yield BriefItem(BriefSection.RULES, text, 3, f"{intent.path}:{line}")
    for match in _ALWAYS.finditer(intent.text):
        following = _HEADING.search(intent.text, match.end())
        end = following.start() if following else len(intent.text)
        first = intent.text.count("\n", 0, match.end()) + 1
        lines = intent.text[match.end() : end].split("\n")
        for number, row in enumerate(lines, start=first):
            rule = row.strip().lstrip("-*+ ")
            if rule:
                text = f"{match[1].lower()}: {rule}"
                place = f"{intent.path}:{number}"
                yield BriefItem(BriefSection.RULES, text, 2, place)


def _from_plan(file: DraftFile, section: BriefSection, rank: int) -> BriefItem:
    text = " ".join(file.text.split()).lstrip("# ")
    return BriefItem(section, f"plan: {text}", rank, f"{file.path}:1", cut="end")


@dataclass(frozen=True, slots=True)
class _PersonItems:
    """The entries about one person of the card, by the name on the card."""

    name: str
    material: BriefMaterial
    section: BriefSection = BriefSection.PEOPLE

    def iterate(self) -> Iterator[BriefItem]:
        for sheet in self.material.sheets:
            if sheet.path.rpartition("/")[2][:-3].casefold() == self.name.casefold():
                yield _from_plan(sheet, self.section, 4)
        try:
            profile = find_profile_by_name(self.name, self.material.bible)
        except NotFound:
            text = f"{self.name}: not in the story up to here"
            yield BriefItem(self.section, text, 1)
            return
        yield from self._introduction(profile)
        yield from self._claims(profile)
        for relation in self.material.bible.relations:
            is_own = profile.name in (relation.source, relation.target)
            if is_own and not _is_courtesy(relation):
                yield self._relation(relation, profile)
        yield from self._lines(profile)
        for gap in profile.open_gaps:
            evidence = next((e for c in gap.implied for e in c.evidence), None)
            text = f"{profile.name}: {gap.attribute}"
            yield item_of(BriefSection.GAPS, text, 6, evidence)

    def _introduction(self, profile: CharacterProfile) -> Iterator[BriefItem]:
        others = [f.name for f in profile.aliases if f.name != profile.name][:4]
        also = f", also called {', '.join(others)}" if others else ""
        narrates = ", tells the story" if profile.narrator else ""
        gender = "" if profile.gender is Gender.UNKNOWN else profile.gender
        facts = f"{gender}{also}{narrates}".removeprefix(", ")
        if facts:
            text = f"{profile.name}: {facts}"
            yield item_of(self.section, text, 4, profile.first_seen)

    def _lines(self, profile: CharacterProfile) -> Iterator[BriefItem]:
        """Yield their last lines of some length, or of any; those that are only probably
        theirs if there is no other.
        """
        spoken = [q for q in self.material.bible.quotes if q.speaker == profile.name]
        sure = [q for q in spoken if q.evidence.certainty in SURE_CERTAINTIES]
        says = "says" if sure else "probably says"
        lines = sure or spoken
        longer = [q for q in lines if len(q.evidence.text.split()) >= MIN_LINE_WORDS]
        for number, quote in enumerate(reversed((longer or lines)[-MAX_QUOTES:])):
            text = f"{profile.name} {says}: {quote_evidence(quote.evidence)}"
            yield item_of(self.section, text, 6 + number, quote.evidence)

    def _claims(self, profile: CharacterProfile) -> Iterator[BriefItem]:
        claims = (
            *profile.attributes,
            *profile.personality_traits,
            *profile.stated_values,
            *profile.behavioral_patterns,
            *profile.speech_patterns,
        )
        for claim in claims[:MAX_CLAIMS]:
            label = f"{claim.label.rstrip(' .:')}: " if claim.label else ""
            but = "" if claim.decided else _describe_disagreement(claim, claims)
            text = f"{profile.name}, {label}{claim.value}"
            item = _from_claim(self.section, text, 3, claim)
            yield replace(item, text=item.text + but)

    def _relation(
        self, relation: CharacterRelation, profile: CharacterProfile
    ) -> BriefItem:
        label, text = format_relation(relation)
        other = relation.target if relation.source == profile.name else relation.source
        rank = 2 if other in self.material.card.cast else 5
        evidence = next(iter(relation.evidence), None)
        text = f"{label}: {text}{_hedge(relation.certainty)}"
        return item_of(self.section, text, rank, evidence)


def _is_courtesy(relation: CharacterRelation) -> bool:
    """Return whether all that tells of a kinship is a form of address, as in "Aunt Mags":
    it may be mere courtesy.
    """
    title = re.compile(rf"{re.escape(relation.kind)} [A-ZÀ-Þ]", re.IGNORECASE)
    return (
        bool(relation.kind)
        and relation.certainty not in SURE_CERTAINTIES
        and all(title.match(evidence.text) for evidence in relation.evidence)
    )


def _describe_disagreement(claim: BibleClaim, claims: Sequence[BibleClaim]) -> str:
    """Return what other claims of the same label say that cannot be true, too."""
    others = [
        f"{other.value} ({format_evidence_location(evidence)})"
        for other in claims
        if other.label == claim.label
        and are_values_incompatible(claim.label, claim.value, other.value)
        for evidence in other.evidence[:1]
    ]
    return f"; the text disagrees: {', '.join(others)}" if others else ""


def _iter_last_scenes(material: BriefMaterial) -> Iterator[BriefItem]:
    """Yield the last scene of each person of the card, once for all who share it."""
    people: dict[SceneSummary, list[CharacterProfile]] = {}
    for profile in find_profiles(material):
        scene = find_last_scene(profile, material.bible, material.view)
        if scene is not None:
            people.setdefault(scene, []).append(profile)
    for scene, profiles in people.items():
        names = [profile.name for profile in profiles]
        key = _find_telling_sentence(scene, profiles, material.view)
        quoted = f": {quote_evidence(key)}" if key else ""
        who = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        verb = "were" if len(names) > 1 else "was"
        where = f"chapter {scene.chapter}, scene {scene.scene}"
        text = f"{who} {verb} last there in {where}{quoted}"
        place = f"{scene.document}:{scene.lines.first}-{scene.lines.last}"
        evidence = key or cite_end_of_scene(scene, material.view)
        yield BriefItem(BriefSection.PEOPLE, text, 1, place, evidence, cut="end")


def _find_telling_sentence(
    scene: SceneSummary, people: Sequence[CharacterProfile], view: HorizonView
) -> TextEvidence | None:
    """Return a key sentence of a scene that names one of `people`, else the last sentence
    that does, else its first key sentence.
    """
    pattern = compile_forms_pattern([f.name for p in people for f in p.aliases])
    key = next((k for k in scene.key_sentences if _names(pattern, k.text)), None)
    if key is not None or pattern is None:
        return key
    text = view.texts[scene.document].text
    *_, last = (None, *pattern.finditer(text, scene.span.start, scene.span.end))
    if last is not None:
        sentence = find_enclosing_sentence(text, Span(*last.span()))
        return cite_span(sentence, scene.document, view)
    return next(iter(scene.key_sentences), None)


def _names(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is None or pattern.search(text) is not None


def find_profiles(material: BriefMaterial) -> Iterator[CharacterProfile]:
    """Yield the people of the card whom the story knows, each once."""
    profiles = {}
    for name in material.card.cast:
        with suppress(NotFound):
            profile = find_profile_by_name(name, material.bible)
            profiles[profile.name] = profile
    yield from profiles.values()


def find_last_scene(
    profile: CharacterProfile, bible: Bible, view: HorizonView
) -> SceneSummary | None:
    """Return the last visible scene in which a character is present; if there is none,
    the last one that names them.
    """
    present = [scene for scene in bible.scenes if profile.name in scene.present]
    if present:
        return present[-1]
    pattern = compile_forms_pattern([form.name for form in profile.aliases])
    naming = (
        scene
        for scene in reversed(bible.scenes)
        if pattern
        and pattern.search(
            view.texts[scene.document].text, scene.span.start, scene.span.end
        )
    )
    return next(naming, None)


def _iter_place(material: BriefMaterial) -> Iterator[BriefItem]:
    name = material.card.place
    if not name:
        return
    elements = match_elements(name, material.bible)
    for element in elements[:2]:
        yield from _iter_element(element, BriefSection.PLACE, 3)
    forms = [name, *(element.name for element in elements[:2])]
    pattern = re.compile(
        rf"(?<!\w)(?<!from )(?:{'|'.join(map(re.escape, forms))})(?!\w)", re.IGNORECASE
    )
    texts = material.view.texts
    for scene in reversed(material.bible.scenes):
        text = texts[scene.document].text
        span = next(
            (
                _find_sentence(text, paragraph.start + match.start())
                for paragraph in iter_paragraphs(text, scene.span, (1, len(text)))
                if (match := pattern.search(text[paragraph.start : paragraph.end]))
            ),
            None,
        )
        if span is not None:
            evidence = cite_span(span, scene.document, material.view)
            if evidence is not None:
                yield item_of(BriefSection.PLACE, quote_evidence(evidence), 4, evidence)
            return
    if not elements:
        text = f"{name}: not in the story up to here"
        yield BriefItem(BriefSection.PLACE, text, 2)


def _find_sentence(text: str, at: int) -> Span:
    sentence = find_enclosing_sentence(text, Span(at, at + 1))
    return cut_at_sentence(text, sentence, SHORT_PASSAGE_CHARS)


def _iter_element(
    element: WorldElement, section: BriefSection, rank: int
) -> Iterator[BriefItem]:
    for claim in element.descriptions[:4]:
        yield _from_claim(section, f"{element.name}: {claim.value}", rank, claim)
    if element.part_of:
        evidence = next((e for c in element.element_types for e in c.evidence), None)
        text = f"{element.name} is in {element.part_of}"
        yield item_of(section, text, rank, evidence)


def cite_end_of_scene(scene: SceneSummary, view: HorizonView) -> TextEvidence | None:
    """Return the last paragraphs of a scene, whole ones if they are short enough."""
    text = view.texts[scene.document].text
    end = scene.span.start + len(text[scene.span.start : scene.span.end].rstrip())
    start = max(scene.span.start, end - MAX_TAIL_CHARACTERS)
    paragraph = text.find("\n\n", start, end)
    if start > scene.span.start and paragraph >= 0:
        start = paragraph + 2
    return cite_span(Span(start, end), scene.document, view)


def cite_span(
    span: Span, document: DocumentId, view: HorizonView
) -> TextEvidence | None:
    """Return a part of the text as evidence; None if it is not visible."""
    if not view.is_visible(document, (span,)):
        return None
    return view.evidence(document, (span,), RULES_KEEPER, Certainty.CONFIRMED)


def _from_claim(
    section: BriefSection, text: str, rank: int, claim: BibleClaim
) -> BriefItem:
    evidence = next(iter(claim.evidence), None)
    item = item_of(section, f"{text}{_hedge(claim.certainty)}", rank, evidence)
    return replace(item, place=CANON_PLACE) if claim.decided else item


def _hedge(certainty: Certainty) -> str:
    return "" if certainty in SURE_CERTAINTIES else " (probably)"


def item_of(
    section: BriefSection, text: str, rank: int, evidence: TextEvidence | None
) -> BriefItem:
    """Return an entry that rests on `evidence`, or on none."""
    place = format_evidence_location(evidence) if evidence else ""
    return BriefItem(section, _flatten(text), rank, place, evidence)


def quote_evidence(evidence: TextEvidence) -> str:
    """Return a passage on one line, in quotation marks unless it begins or ends with
    some.
    """
    text = _flatten(evidence.text)
    has_marks = text.startswith("“") or text.endswith("”")
    return text if has_marks else f"“{text}”"


def _flatten(text: str) -> str:
    return " ".join(text.split())
