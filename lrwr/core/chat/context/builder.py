"""Gathers story data and passages that a question is about, from the sources of its
plan.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.name_lookup import match_entity, normalize_element_name
from lrwr.core.bible.profiles import extract_visible_cast
from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    CharacterProfile,
    CharacterRelation,
    Gap,
    GapState,
    SceneSummary,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    WorldElement,
)
from lrwr.core.chat.context.gap_finder import select_decided_gaps
from lrwr.core.chat.context.witness import WitnessFilter
from lrwr.core.chat.extractive.question_parts import (
    find_chapter_words,
    parse_chapter_numbers,
)
from lrwr.core.chat.extractive.shared_scenes import (
    find_absence_chapter,
    find_scene_request,
    gather_absent_people,
    gather_shared_scenes,
)
from lrwr.core.chat.extractive.spoken_lines import gather_spoken_lines
from lrwr.core.chat.state import RetrievalResult, SharedScenes, TurnQuestion
from lrwr.core.model.chunks import Passage
from lrwr.core.model.facts import RULES_KEEPER, SURE_CERTAINTIES
from lrwr.core.model.text import extract_content_words, stem_lightly
from lrwr.core.model.turns import (
    AnswerIntent,
    AnswerSource,
    QuestionPlan,
    ResolvedEntity,
    SourceIntention,
)
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.people import find_people_in_role
from lrwr.core.retrieval.search_model import SearchResult

MAX_GATHERED_MOMENTS = 12
MAX_GATHERED_LINES = 60
MAX_GATHERED_SCENES = 6
"""Upper bounds of what is gathered; the prompt's token budget reduces it further."""

MAX_NOTE_SHARE = 1 / 3
"""Share of the prompt's material for notes, unless the plan chose them as a source."""

SCENE_PASSAGES = 2
"""Passages whose scenes are used if a question about a scene names no setting."""

_SOURCES_OF_PEOPLE = frozenset(
    {AnswerSource.PROFILES, AnswerSource.TIMELINE, AnswerSource.MANUSCRIPT}
)

MIN_SHARED_WORDS = 2
"""Stems that a question and a gap must share to concern the same thing."""

BiblePartReader = Callable[[BibleParts], Coroutine[None, None, Bible]]
"""Reads parts of the story bible up to the horizon of a turn."""

_T = TypeVar("_T")


def gather_context(
    question: TurnQuestion,
    plan: QuestionPlan,
    resolved_entities: Sequence[ResolvedEntity],
    bible: Bible,
    search_result: SearchResult,
) -> RetrievalResult:
    """Return the story data of `bible` and the passages that the sources of `plan` hold
    for `question`; nothing from other sources.

    Passages of the story need the manuscript as a source, passages of notes the
    manuscript or the notes. A character who answers, and those of a scenario, add their
    profiles, lines and events, because they decide how the answer sounds.
    `resolved_entities` are the names in the question with the sources that contain
    them. `bible` and `search_result` must end at the question's horizon. If the
    question is limited to what its character witnessed, all that they cannot know is
    removed.
    """
    question = replace(question, text=plan.question or question.text)
    people = {
        name: None
        for resolved_entity in resolved_entities
        if any(place.source in _SOURCES_OF_PEOPLE for place in resolved_entity.places)
        for name in sorted(match_entity(resolved_entity.entity.name, bible).names)
    }
    if question.character:
        people.setdefault(question.character, None)
    intentions = {choice.intention for choice in plan.choices}
    chapters = parse_chapter_numbers(question.text)
    moments = _select_moments(question, plan, people, resolved_entities, bible)
    scenes = _select_scenes(
        question, intentions, resolved_entities, bible, search_result
    )
    result = RetrievalResult(
        character_profiles=_select_profiles(question, plan, resolved_entities, bible),
        ranked_chunks=_select_passages(
            plan, chapters, search_result, has_story_items=bool(moments or scenes)
        ),
        world=_select_world(resolved_entities, bible),
        moments=moments,
        relations=_select_relations(intentions, people, bible),
        scenes=scenes,
        gaps=_select_gaps(question, plan, intentions, resolved_entities, people, bible),
        lines=_select_lines(question, plan, people, bible, search_result),
        unknown=_list_unknown_words(question, search_result),
        similar_names=search_result.similar_names,
        missing_phrases=search_result.missing_phrases,
        low_confidence=search_result.low_confidence,
        remarks=(*plan.remarks, *search_result.remarks),
        by_words_only=search_result.by_words_only,
        shared_scenes=_select_shared_scenes(question, resolved_entities, bible),
        max_note_share=1.0 if AnswerSource.NOTES in plan.sources else MAX_NOTE_SHARE,
    )
    if question.witnessed and question.character:
        return WitnessFilter(question.character, bible).restrict(result)
    return result


async def complete_moments(
    result: RetrievalResult, read_parts: BiblePartReader
) -> RetrievalResult:
    """Return `result` with all characters who are present in its scenes.

    With parts of the story bible, only those of whom the question asks are known.
    """
    documents = frozenset(
        moment.evidence.document
        for moment in result.moments
        if moment.kind is TimelineMomentKind.SCENE
    )
    if not documents:
        return result
    bible = await read_parts(BibleParts(documents=documents))
    present = {
        (scene.document, scene.key_sentences[0].spans[0]): scene.present
        for scene in bible.scenes
        if scene.key_sentences
    }

    def complete(moment: TimelineMoment) -> TimelineMoment:
        if moment.kind is not TimelineMomentKind.SCENE:
            return moment
        key = (moment.evidence.document, moment.evidence.spans[0])
        return replace(moment, characters=present.get(key, moment.characters))

    return replace(result, moments=tuple(map(complete, result.moments)))


def _list_unknown_words(
    question: TurnQuestion, search_result: SearchResult
) -> tuple[str, ...]:
    """Return the unknown words of the question, without chapter numbers."""
    chapter_words = find_chapter_words(question.text)
    return tuple(word for word in search_result.unknown if word not in chapter_words)


def _select_passages(
    plan: QuestionPlan,
    chapters: frozenset[int],
    search_result: SearchResult,
    *,
    has_story_items: bool,
) -> tuple[Passage, ...]:
    """Return the passages of the chapters asked about, else all, best first; notes
    first if asked for, and only they if the manuscript is no source.

    `has_story_items` says that the bible has events or scenes of those chapters, so
    that an empty list of passages is acceptable.
    """
    passages = search_result.passages
    if AnswerSource.MANUSCRIPT not in plan.sources:
        has_notes = AnswerSource.NOTES in plan.sources
        return tuple(p for p in passages if has_notes and p.chapter is None)
    chapter_passages = tuple(p for p in passages if p.chapter in chapters)
    if chapters and (chapter_passages or has_story_items):
        return chapter_passages
    if AnswerSource.NOTES in plan.sources:
        return tuple(sorted(passages, key=lambda passage: passage.chapter is not None))
    if plan.planner != RULES_KEEPER and (plan.question or plan.searches):
        return passages  # scores of several searches do not compare
    return tuple(sorted(passages, key=lambda passage: -passage.score))


def _select_scenes(
    question: TurnQuestion,
    source_intentions: set[SourceIntention],
    resolved_entities: Sequence[ResolvedEntity],
    bible: Bible,
    search_result: SearchResult,
) -> tuple[SceneSummary, ...]:
    """Return the scenes to recap, or those whose characters are asked about."""
    chapters = parse_chapter_numbers(question.text)
    chapter_scenes = tuple(scene for scene in bible.scenes if scene.chapter in chapters)
    if SourceIntention.RECAP in source_intentions:
        return (
            chapter_scenes[:MAX_GATHERED_SCENES]
            if chapter_scenes
            else bible.scenes[-MAX_GATHERED_SCENES:]
        )
    if SourceIntention.WHO_WAS_THERE not in source_intentions:
        return ()
    places = _QuestionPlaces(resolved_entities, bible)
    scenes_at_place = chapter_scenes or tuple(filter(places.title, bible.scenes))
    passages = () if chapters else search_result.passages[:SCENE_PASSAGES]
    scenes = scenes_at_place or _find_scenes_of(passages, bible.scenes)
    return tuple(
        _add_present_quotations(scene, bible) for scene in scenes[:MAX_GATHERED_SCENES]
    )


def _select_shared_scenes(
    question: TurnQuestion, resolved_entities: Sequence[ResolvedEntity], bible: Bible
) -> SharedScenes | None:
    """Return the scenes of the people named, if the question asks for no more."""
    matches = [match_entity(r.entity.name, bible) for r in resolved_entities]
    forms = [form for match in matches for form in match.forms]
    request = find_scene_request(question.text, forms)
    if request is None or question.character:
        return None
    if (chapter := find_absence_chapter(question.text)) is not None:
        return gather_absent_people(chapter, bible)
    return gather_shared_scenes(request, matches, bible)


def _find_scenes_of(
    passages: Iterable[Passage], scenes: Sequence[SceneSummary]
) -> tuple[SceneSummary, ...]:
    """Return the scenes that contain the passages, in the order of the passages."""
    scenes_of_passages = (
        scene
        for passage in passages
        for scene in scenes
        if scene.document == passage.chunk.document
        and scene.span.start <= passage.chunk.span.start < scene.span.end
    )
    return tuple(dict.fromkeys(scenes_of_passages))


def _add_present_quotations(scene: SceneSummary, bible: Bible) -> SceneSummary:
    """Return the scene with the first quotation of each speaker as its key sentences."""
    first: dict[str, TextEvidence] = {}
    for quote in bible.quotes:
        words = quote.evidence
        is_in_scene = words.document == scene.document and scene.span.holds(
            words.spans[0]
        )
        if is_in_scene and quote.speaker in scene.present:
            first.setdefault(quote.speaker, words)
    quotations = tuple(first[name] for name in scene.present if name in first)
    return replace(scene, key_sentences=quotations or scene.key_sentences)


def _collect_names(
    resolved_entities: Iterable[ResolvedEntity], sources: Sequence[AnswerSource]
) -> dict[str, None]:
    """Return the names that `sources` have for the entities, each once, in order."""
    return {
        place.name: None
        for resolved_entity in resolved_entities
        for place in resolved_entity.places
        if place.source in sources
    }


def _select_profiles(
    question: TurnQuestion,
    plan: QuestionPlan,
    resolved_entities: Sequence[ResolvedEntity],
    bible: Bible,
) -> tuple[CharacterProfile, ...]:
    profile_names = _collect_names(resolved_entities, (AnswerSource.PROFILES,))
    if question.character:
        profile_names.setdefault(question.character, None)
    if AnswerSource.PROFILES not in plan.sources and not question.character:
        return ()
    return tuple(
        profile for profile in bible.characters if profile.name in profile_names
    )


def _select_world(
    resolved_entities: Sequence[ResolvedEntity], bible: Bible
) -> tuple[WorldElement, ...]:
    element_names = _collect_names(resolved_entities, (AnswerSource.WORLD,))
    return tuple(element for element in bible.world if element.name in element_names)


def _select_moments(
    question: TurnQuestion,
    plan: QuestionPlan,
    people: dict[str, None],
    resolved_entities: Sequence[ResolvedEntity],
    bible: Bible,
) -> tuple[TimelineMoment, ...]:
    """Return the events that share words, people, chapters or settings with the
    question.

    For a scenario without the timeline source, only events with the people in question.
    """
    played = plan.intent is AnswerIntent.SCENARIO
    if AnswerSource.TIMELINE not in plan.sources and not played:
        return ()
    words = set(extract_content_words(question.text))
    chapters = parse_chapter_numbers(question.text)
    places = _QuestionPlaces(resolved_entities, bible)

    def shared(moment: TimelineMoment) -> int:
        if chapters and moment.evidence.chapter not in chapters:
            return 0
        shared_people = len(people.keys() & set(moment.characters))
        if played and AnswerSource.TIMELINE not in plan.sources and not shared_people:
            return 0
        shared_words = len(words.intersection(extract_content_words(moment.text)))
        # A shared person counts as two words: names are the best evidence, and the
        # words of an event are few.
        return shared_words + 2 * shared_people + bool(chapters) + places.near(moment)

    return _select_best(bible.timeline, shared, MAX_GATHERED_MOMENTS)


class _QuestionPlaces:
    """The world elements that a question names, and which events take place there."""

    def __init__(
        self, resolved_entities: Sequence[ResolvedEntity], bible: Bible
    ) -> None:
        entity_names = {
            resolved_entity.entity.name for resolved_entity in resolved_entities
        }
        elements = [element for element in bible.world if element.name in entity_names]
        self._keys = [normalize_element_name(element.name) for element in elements]
        self._select_scenes = {
            (words.document, words.scene)
            for element in elements
            for claim in (
                *element.element_types, *element.descriptions, *element.connected_characters
            )
            for words in claim.evidence
            if words.scene is not None
        }  # fmt: skip
        self._people = {
            claim.value
            for element in elements
            for claim in element.connected_characters
        }

    def title(self, scene: SceneSummary) -> bool:
        """Return whether the title of the scene's chapter contains the name of an
        element.
        """
        chapter_title = f" {normalize_element_name(scene.chapter_title)} "
        return any(f" {key} " in chapter_title for key in self._keys)

    def near(self, moment: TimelineMoment) -> int:
        """Return 2 if the event's chapter title, text or scene names an element, plus 1
        if it is about a character connected with one.
        """
        title = normalize_element_name(moment.evidence.chapter_title)
        moment_words = f" {title} {normalize_element_name(moment.text)} "
        is_named = any(f" {key} " in moment_words for key in self._keys)
        scene = (moment.evidence.document, moment.evidence.scene) in self._select_scenes
        belongs = not self._people.isdisjoint(moment.characters)
        return 2 * (is_named or scene) + belongs


def _select_relations(
    source_intentions: set[SourceIntention], people: dict[str, None], bible: Bible
) -> tuple[CharacterRelation, ...]:
    if SourceIntention.RELATIONSHIPS not in source_intentions:
        return ()
    return tuple(
        relation
        for relation in bible.relations
        if relation.source in people or relation.target in people
    )


def _select_gaps(
    question: TurnQuestion,
    plan: QuestionPlan,
    source_intentions: set[SourceIntention],
    resolved_entities: Sequence[ResolvedEntity],
    people: dict[str, None],
    bible: Bible,
) -> tuple[Gap, ...]:
    asks_for_gaps = (
        SourceIntention.OPEN_QUESTION in source_intentions
        or plan.intent is AnswerIntent.GAP_PROBE
    )
    words = _extract_stems(question.text)
    names = (
        people.keys()
        | _collect_names(
            resolved_entities, (AnswerSource.WORLD, AnswerSource.NOTES)
        ).keys()
    )
    decided_gaps = select_decided_gaps(question.text, bible.gaps, question.cast)
    open_gaps = (
        gap
        for gap in bible.gaps
        if gap.state is GapState.OPEN
        and (
            (
                (gap.about in names or (asks_for_gaps and not names))
                and (asks_for_gaps or gap.about)
            )
            or len(words & _extract_stems(gap.attribute)) >= MIN_SHARED_WORDS
        )
    )
    return (*decided_gaps, *open_gaps)


def _extract_stems(text: str) -> set[str]:
    return {stem_lightly(word) for word in extract_content_words(text)}


def _select_lines(
    question: TurnQuestion,
    plan: QuestionPlan,
    people: dict[str, None],
    bible: Bible,
    search_result: SearchResult,
) -> tuple[AttributedQuote, ...]:
    """Return quotations of the people asked about, verified ones first, then in story
    order; without any, those among which the speaker of certain words is asked for.

    If the question names a hearer, only what is said to them, if there is anything; if
    it names chapters, only what is said there, unless a character answers it.
    """
    intentions = {choice.intention for choice in plan.choices}
    speakers = {question.character} if question.character else set()
    hearers: set[str] = set()
    cast = extract_visible_cast(bible)
    if not speakers and intentions & {
        SourceIntention.DIALOGUE_OF,
        SourceIntention.VOICE,
    }:
        speakers = find_people_in_role(
            question.text, AppearanceRole.SPEAKS, cast
        ) or set(people)
        hearers = find_people_in_role(question.text, AppearanceRole.HEARS, cast)
    if not speakers and plan.intent is AnswerIntent.SCENARIO:
        speakers = set(people)
    quotes = [quote for quote in bible.quotes if quote.speaker in speakers]
    chapters = parse_chapter_numbers(question.text)
    if chapters and not question.character and plan.intent is not AnswerIntent.SCENARIO:
        quotes = [quote for quote in quotes if quote.evidence.chapter in chapters]
    quotes = [quote for quote in quotes if quote.addressee in hearers] or quotes
    words = set(extract_content_words(question.text))

    def fit(quote: AttributedQuote) -> float:
        shared_words = len(
            words.intersection(extract_content_words(quote.evidence.text))
        )
        # Certainty only breaks ties between equal word counts; 0.1 lets quotations
        # without a shared word pass, because `_select_best` drops scores of 0.
        return shared_words + 0.5 * (quote.evidence.certainty in SURE_CERTAINTIES) + 0.1

    best = sorted(
        _select_best(quotes, fit, MAX_GATHERED_LINES),
        key=lambda quote: quote.evidence.certainty not in SURE_CERTAINTIES,
    )
    return tuple(best) or gather_spoken_lines(
        question.text, search_result.passages, bible.quotes
    )


def _select_best(
    items: Sequence[_T], score: Callable[[_T], float], limit: int
) -> tuple[_T, ...]:
    """Return the `limit` items with the highest positive scores, in their original
    order.
    """
    scored = [(score(item), -place) for place, item in enumerate(items)]
    top = sorted(scored, reverse=True)[:limit]
    places = sorted(-place for value, place in top if value > 0)
    return tuple(items[place] for place in places)
