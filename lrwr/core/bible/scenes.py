"""Builds scene summaries: time, place, point of view, recap, key sentences, characters
present.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lrwr.core.bible.profiles import SourcedFact, VisibleFacts, merge_claims
from lrwr.core.bible.values import BibleClaim, SceneSummary, TextEvidence
from lrwr.core.canon.model import (
    Canon,
    ManuscriptLocation,
    normalize_canon_path,
    normalize_canon_text,
)
from lrwr.core.model.documents import Chapter, DocumentId, DocumentOutline
from lrwr.core.model.facts import (
    PRESENT_FIELD,
    WRITER_KEEPER,
    Certainty,
    FactAbout,
    LifeEventKind,
)
from lrwr.core.model.text import STOP_WORDS, LazyPattern, Span
from lrwr.core.nlp.dialogue.presence import IRREGULAR_PAST_VERBS
from lrwr.core.ports.story_stores import Appearance, AppearanceRole
from lrwr.core.retrieval.story import number_chapters


@dataclass(slots=True)
class _Presence:
    """How often a character speaks, hears, acts and is spoken of in a scene."""

    roles: Counter[AppearanceRole]

    @property
    def count(self) -> int:
        """How often the character takes part, apart from what others say."""
        return self.roles.total() - self.roles[AppearanceRole.MENTIONED]

    @property
    def speaks(self) -> bool:
        """Whether the character speaks."""
        return self.roles[AppearanceRole.SPEAKS] > 0

    @property
    def speaks_often(self) -> bool:
        """Whether the character speaks more than once: one speech may be misattributed,
        or a memory.
        """
        return self.roles[AppearanceRole.SPEAKS] > 1

    @property
    def is_there(self) -> bool:
        """Whether the character is present rather than thought or spoken of."""
        return self.roles[AppearanceRole.PRESENT] > 0


_TITLE_PAGE_WORDS, _FRONT_MATTER_WORDS = 40, 60
_SENTENCE_END = re.compile(r"[a-z\w][.!?…][”’\"')*_]*\s*$|[.!?…][”’\"']", re.M)
"""The end of a sentence; a title page has none."""

SceneKey = tuple[DocumentId, int, int]
"""Document, index of the chapter, index of the scene in the chapter."""


def build_scene_summaries(
    material: VisibleFacts,
    appearances: Iterable[Appearance],
    canon: Canon,
    documents: Collection[DocumentId] | None = None,
) -> tuple[SceneSummary, ...]:
    """Return a summary of every scene that is visible to its end, in story order; with
    `documents`, only of the scenes in them.

    `appearances` say who is present. A point of view that `canon` decides comes before
    those that the text suggests.
    """
    horizon_view = material.view
    facts_by_scene: dict[SceneKey, list[SourcedFact]] = {}
    for sourced_fact in material.about(FactAbout.SCENE):
        evidence = sourced_fact.evidence
        home = horizon_view.locate_scene(evidence.document, evidence.spans[0])
        facts_by_scene.setdefault((evidence.document, *home), []).append(sourced_fact)
    people_by_scene = _count_presence(material, appearances)
    deaths = _find_deaths(material)
    scenes = []
    for document, chapter, number, index in horizon_view.scenes():
        if documents is not None and document not in documents:
            continue
        outline = horizon_view.order.outlines[document]
        span = chapter.scenes[index].span
        text = horizon_view.texts[document].text[span.start : span.end]
        if _is_title_page(text) or (not number and _is_front_matter(text)):
            continue
        start = horizon_view.sort_key(document, span.start)
        dead = {name for name, died in deaths.items() if died < start}
        at = (document, *horizon_view.locate_scene(document, span))
        decided = find_decided_point_of_view(canon, outline, chapter, index)
        facts, people = facts_by_scene.get(at, ()), people_by_scene.get(at, {})
        scenes.append(
            SceneSummary(
                document=document,
                span=span,
                lines=horizon_view.texts[document].lines.lines_of(span),
                chapter=number,
                chapter_title=chapter.title,
                scene=index + 1,
                points_of_view=_points_of_view(decided, facts, material),
                recap=_recap(facts),
                key_sentences=_key_sentences(facts, material),
                present=_merge_presence(facts, people, material, dead, decided),
            )
        )
    return tuple(scenes)


def find_decided_point_of_view(
    canon: Canon, outline: DocumentOutline, chapter: Chapter, scene: int
) -> str:
    """Return the point-of-view character that `canon` sets for a scene; "" if none.

    `scene` is the scene's index in the chapter, from 0. A decision about the scene
    comes before one about its chapter, and that before one about its file.
    """
    if not canon.points_of_view:
        return ""
    document = normalize_canon_path(outline.id)
    places = [
        ManuscriptLocation(document, name, number)
        for number in (scene + 1, None)
        for name in _chapter_names(outline, chapter)
    ]
    views = (
        canon.points_of_view.get(location, "")
        for location in (*places, ManuscriptLocation(document))
    )
    return next(filter(None, views), "")


class SceneNarrators:
    """Looks up who says "I" in the narration of a scene, by displayed name.

    A point of view that `canon` decides comes first, then one that the author states in
    the text, then the narrator of the story.
    """

    def __init__(self, material: VisibleFacts, canon: Canon) -> None:
        self._view, self._cast, self._canon = material.view, material.cast, canon
        self._stated: dict[SceneKey, str] = {}
        for sourced_fact in _select_field(material.about(FactAbout.SCENE), "pov"):
            if sourced_fact.fact.keeper == WRITER_KEEPER:
                evidence = sourced_fact.evidence
                home = self._view.locate_scene(evidence.document, evidence.spans[0])
                name = self._cast.display_name(sourced_fact.fact.value)
                self._stated[(evidence.document, *home)] = name
        characters = (v.character for v in material.cast.visible.values())
        self._usual = next((c.name for c in characters if c.narrator), "")

    def find(self, document: DocumentId, span: Span) -> str:
        """Return who narrates at `span`; "" if nobody known does."""
        chapter, scene = self._view.locate_scene(document, span)
        outline = self._view.order.outlines[document]
        decided = ""
        if outline.chapters:
            decided = find_decided_point_of_view(
                self._canon, outline, outline.chapters[chapter], scene
            )
        if decided:
            return self._cast.display_name(decided)
        return self._stated.get((document, chapter, scene), self._usual)


def _find_present_narrator(
    decided: str, scene_facts: Iterable[SourcedFact], material: VisibleFacts
) -> str:
    """Return the displayed name of the `decided` point of view, if the narration of the
    scene says "I", which shows that the narrator is there; else "".
    """
    is_first_person = any(
        sourced_fact.fact.detail("person") == "first"
        for sourced_fact in _select_field(scene_facts, "pov")
    )
    return material.cast.display_name(decided) if decided and is_first_person else ""


def _recap(scene_facts: Iterable[SourcedFact]) -> tuple[BibleClaim, ...]:
    sourced_facts = _select_field(scene_facts, "recap")
    return merge_claims(
        ("", sourced_fact.fact.value, sourced_fact.evidence)
        for sourced_fact in sourced_facts
        if sourced_fact.fact.value
    )


def _select_field(
    sourced_facts: Iterable[SourcedFact], field: str
) -> list[SourcedFact]:
    return [
        sourced_fact
        for sourced_fact in sourced_facts
        if sourced_fact.fact.field == field
    ]


def _key_sentences(
    scene_facts: Iterable[SourcedFact], material: VisibleFacts
) -> tuple[TextEvidence, ...]:
    return tuple(
        material.view.evidence(
            sourced_fact.evidence.document,
            (span,),
            sourced_fact.fact.keeper,
            sourced_fact.fact.certainty,
        )
        for sourced_fact in _select_field(scene_facts, "recap")
        if not sourced_fact.fact.value
        for span in sourced_fact.evidence.spans
    )


def _points_of_view(
    decided: str, scene_facts: Iterable[SourcedFact], material: VisibleFacts
) -> tuple[BibleClaim, ...]:
    shown_name = material.cast.display_name(decided) if decided else ""
    claims = merge_claims(
        ("", name, sourced_fact.evidence)
        for sourced_fact in _select_field(scene_facts, "pov")
        if (name := material.cast.display_name(sourced_fact.fact.value))
    )
    if not shown_name:
        return claims
    others = tuple(claim for claim in claims if claim.value != shown_name)
    return (BibleClaim(shown_name, (), Certainty.CONFIRMED, decided=True), *others)


def _count_presence(
    material: VisibleFacts, appearances: Iterable[Appearance]
) -> Mapping[SceneKey, Mapping[str, _Presence]]:
    """Return for each scene how often each character appears in each role, without those
    who died before the story.
    """
    horizon_view = material.view
    dead = _find_dead_from_start(material)
    counts: dict[SceneKey, dict[str, _Presence]] = {}
    for appearance in appearances:
        if not horizon_view.is_visible(appearance.document, (appearance.span,)):
            continue
        name = material.cast.display_name(appearance.character)
        if name and name not in dead:
            home = (
                appearance.document,
                *horizon_view.locate_scene(appearance.document, appearance.span),
            )
            row = counts.setdefault(home, {})
            presence = row.setdefault(name, _Presence(Counter()))
            presence.roles[appearance.role] += appearance.count
    return counts


_LATE = re.compile(r"the late\b", re.I)


def drop_predecessors(
    material: VisibleFacts, appearances: Iterable[Appearance]
) -> VisibleFacts:
    """Return the facts without "the late Mr. Vale" if a Mr. Vale speaks or is present
    there or later: the dead one is his father or predecessor.
    """
    places: dict[str, tuple[int, str, int]] = {}
    late: dict[int, str] = {}
    for number, sourced_fact in enumerate(material.found):
        fact, evidence = sourced_fact.fact, sourced_fact.evidence
        if fact.value == "dead" and _LATE.match(evidence.text):
            name = material.cast.display_name(fact.subject)
            place = material.view.sort_key(evidence.document, evidence.spans[0].start)
            late[number], places[name] = name, min(place, places.get(name, place))
    acting = set()
    for appearance in appearances if places else ():
        name = material.cast.display_name(appearance.character)
        at = appearance.document, appearance.span.end
        acts = appearance.role in (AppearanceRole.SPEAKS, AppearanceRole.PRESENT)
        if acts and name in places and material.view.sort_key(*at) >= places[name]:
            acting.add(name)
    kept_facts = (f for n, f in enumerate(material.found) if late.get(n) not in acting)
    return replace(material, found=tuple(kept_facts)) if acting else material


def _merge_presence(
    scene_facts: Iterable[SourcedFact],
    counts: Mapping[str, _Presence],
    material: VisibleFacts,
    dead: Collection[str],
    decided: str,
) -> tuple[str, ...]:
    """Return who is present in a scene, most frequent first; of the `dead` only those
    who speak more than once. The `decided` point of view is present who says "I" in narration.

    If a language model read the scene, these are whom it found there and who speaks:
    rules cannot tell a person who is only thought of.
    """
    named = (
        material.cast.display_name(sourced_fact.fact.value)
        for sourced_fact in _select_field(scene_facts, PRESENT_FIELD)
    )
    found = set(filter(None, named))
    speakers = {name for name, presence in counts.items() if presence.speaks}
    there = {
        name
        for name, presence in counts.items()
        if presence.is_there and (presence.speaks_often or name not in dead)
    }
    present = found | speakers if found else there
    narrator = _find_present_narrator(decided, scene_facts, material)
    present |= {narrator} if narrator else set()

    def count(name: str) -> int:
        return counts[name].count if name in counts else 0

    return tuple(sorted(present, key=lambda name: (-count(name), name)))


def _find_deaths(material: VisibleFacts) -> dict[str, tuple[int, str, int]]:
    """Return where in the story each character is first said to be dead.

    Only events with a single person count: of two, one may have killed the other.
    """
    deaths: dict[str, tuple[int, str, int]] = {}
    for sourced_fact in material.about(FactAbout.EVENT):
        involved = tuple(sourced_fact.fact.all_details("involved"))
        if (
            sourced_fact.fact.detail("kind") == LifeEventKind.DIED
            and len(involved) == 1
        ):
            name = material.cast.display_name(involved[0])
            evidence = sourced_fact.evidence
            place = material.view.sort_key(evidence.document, evidence.spans[0].start)
            deaths[name] = min(place, deaths.get(name, place))
    return deaths


_DEAD_FROM_START = re.compile(
    r"\b(?:dead|died|dies|killed|drowned|murdered)\b[^.;]{0,40}\bbefore (?:the |this )?"
    r"(?:book|story|novel|events?|action|first chapter|chapter (?:one|1))\b",
    re.IGNORECASE,
)


def _find_dead_from_start(material: VisibleFacts) -> frozenset[str]:
    """Return the characters of whom the author's notes say that they died before the
    story: it only tells of them.
    """
    return frozenset(
        material.cast.display_name(sourced_fact.fact.subject)
        for sourced_fact in material.about(FactAbout.CHARACTER)
        if sourced_fact.fact.keeper == WRITER_KEEPER
        and _DEAD_FROM_START.search(sourced_fact.fact.value)
    )


def _is_title_page(text: str) -> bool:
    """Return whether `text` has only a few words and no sentence, as a title page."""
    words = len(text.split())
    return 0 < words <= _TITLE_PAGE_WORDS and not _SENTENCE_END.search(text)


def _is_front_matter(text: str) -> bool:
    """Return whether `text`, before the first chapter, is too short for a prologue, such
    as a title with a motto.
    """
    return len(text.split()) <= _FRONT_MATTER_WORDS


def _chapter_names(outline: DocumentOutline, chapter: Chapter) -> Sequence[str]:
    """Return the names by which canon may refer to a chapter, best first."""
    at = next(n for n, candidate in enumerate(outline.chapters) if candidate is chapter)
    number = number_chapters({outline.id: outline}, [outline.id])[outline.id][at]
    title = normalize_canon_text(chapter.title)
    is_unique = (
        sum(
            normalize_canon_text(candidate.title) == title
            for candidate in outline.chapters
        )
        == 1
    )
    names = [title] if title and is_unique else []
    names.append(f"ch{number}")
    return [*names, ""] if len(outline.chapters) == 1 else names


_OPENING = 700
"""Characters of a scene in which its time and place are looked for."""
_NUMBER = (
    r"(?i:a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|some|"
    r"several|many|a few|the next|the same|the following|\d+)"
)
_DAY = r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December)"
)
_PART = r"(?:morning|afternoon|evening|night|day|week|month|year)"
_TIME = LazyPattern(
    rf"\b(?:(?:[Oo]n |[Ee]arly on |[Ll]ate on |[Bb]y )?[Tt]he (?:next|following|same|very next|\w+th|second|third|first) {_PART}"
    rf"|(?:[Oo]n )?(?:[Tt]hat|[Tt]his|[Tt]he same|[Ll]ate that|[Ee]arly that) (?:same |very )?{_PART}"
    rf"|[Nn]ext {_PART}|[Oo]ne (?:\w+ )?{_PART}"
    rf"|{_NUMBER} (?:\w+ )?(?:hours|hour|days|day|weeks|week|months|month|years|year) (?:later|after|afterwards|before|ago|earlier)"
    rf"|[Aa]fter {_NUMBER} (?:hours|days|weeks|months|years)"
    rf"|(?:[Oo]n |[Nn]ext |[Ll]ast )(?:the following )?{_DAY}(?: (?:morning|evening|afternoon|night))?"
    rf"|(?:[Oo]n the \w+ of |[Ii]n |[Ee]arly in |[Ll]ate in )(?:the (?:spring|summer|autumn|winter)|{_MONTH})"
    r"|[Aa]t (?:midnight|noon|dawn|dusk|sunset|sunrise|daybreak|nightfall|\w+ o.?clock|half[- ]past \w+)"
    r"|[Tt]omorrow|[Yy]esterday|[Ll]ast night|[Tt]o-?night|[Aa]fter (?:breakfast|dinner|supper|tea|lunch))\b"
)
_PLACE = LazyPattern(
    r"\b(?:in|at|to|into|reached|near|inside|outside) (?P<place>(?:the )?(?:[A-Z][\w'’-]+ )*"
    r"(?:Street|Road|Lane|Square|Park|Hall|Court|Place|Bridge|Church|Abbey|Castle|"
    r"Tower|House|Cottage|Inn|Hotel|Farm|Manor|Hill|Station|Harbour|Island)"
    r"|the (?:[a-z-]+ )?(?:drawing-room|dining-room|sitting-room|kitchen|parlour|library|"
    r"garden|church|churchyard|inn|street|bedroom|study|attic|cellar|hall|harbour|"
    r"station|school|shop|office|theatre|hospital|prison|ship|deck|forest|tower|"
    r"lighthouse|workhouse|studio|stable|barn|cottage))\b"
)
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]?")


_CLAUSE_END = re.compile(r"[.;:!?—]|--")
_OTHER_TIME = re.compile(
    r"\b(?:would|should|could|might|may|must|will|shall|can|had|if|than|like|till|until|"
    r"since|unless|wish\w*|hop\w+|fear\w*|expect\w*|thought|think\w*|promis\w+|intend\w*|"
    r"plan\w*|propos\w+|remember\w*|recollect\w*|to (?:be|come|go|return|leave|arrive|"
    r"set|sail|begin|have|meet|see|visit|dine|take|start|wait|follow|join))\b",
    re.I,
)


def find_time_phrase(text: str, scene: Span) -> str:
    """Return the first phrase of time in the opening narration of `scene`, on one line,
    such as "the next morning"; "" without one. Left out are times of something that is
    expected, wished, remembered or compared.
    """
    opening = _opening(text, scene)
    for match in _TIME.finditer(opening):
        clause = _CLAUSE_END.split(opening[: match.start()])[-1]
        if not _OTHER_TIME.search(clause):
            return match.group()
    return ""


def find_scene_place(text: str, scene: Span) -> str:
    """Return the first place in the opening narration of `scene`, such as "the kitchen"
    or "Gull Street"; "" without one.
    """
    opening = _opening(text, scene)
    places = (
        match["place"]
        for match in _PLACE.finditer(opening)
        if not _is_part_of_noun(opening, match.end())
    )
    return next(places, "")


def _is_part_of_noun(text: str, end: int) -> bool:
    """Return whether a noun follows, as in "the school register"."""
    word = re.match(r" ([a-z]+)\b", text[end : end + 20])
    return (
        word is not None
        and word[1] not in STOP_WORDS | IRREGULAR_PAST_VERBS
        and not word[1].endswith(("ed", "ing", "ly"))
    )


def _opening(text: str, scene: Span) -> str:
    end = min(scene.end, scene.start + _OPENING)
    return " ".join(_QUOTED.sub("", text[scene.start : end]).split())
