"""Plans an English question by rules: from its words and the names in the bible."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lrwr.core.bible.index import BibleParts
from lrwr.core.bible.name_lookup import (
    EntityMatches,
    NamedEntity,
    NamedEntityKind,
    match_entity,
    match_people,
    normalize_element_name,
    recognize_named_entities,
)
from lrwr.core.bible.profiles import extract_visible_cast
from lrwr.core.bible.values import Bible
from lrwr.core.chat.context.builder import MAX_GATHERED_SCENES, SCENE_PASSAGES
from lrwr.core.chat.extractive.question_parts import (
    parse_chapter_numbers,
    remove_chapter_bound,
)
from lrwr.core.chat.extractive.shared_scenes import (
    find_scene_request,
    list_people_to_compare,
)
from lrwr.core.chat.extractive.spoken_lines import select_spoken_chunks
from lrwr.core.chat.planning import lexicon
from lrwr.core.chat.planning.follow_up import rewrite_question
from lrwr.core.chat.state import TurnQuestion
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER
from lrwr.core.model.turns import (
    INTENTIONS_BY_SOURCE,
    AnswerIntent,
    AnswerSource,
    EntityLocation,
    QuestionEntity,
    QuestionPlan,
    ResolvedEntity,
    SourceChoice,
    SourceIntention,
)
from lrwr.core.ports.story_stores import AppearanceRole
from lrwr.core.retrieval.people import (
    asks_about_saying,
    find_question_characters,
    infer_question_role,
)
from lrwr.core.retrieval.search_model import SearchResult
from lrwr.core.retrieval.story import StoryOrder

ADDRESSED_CONFIDENCE = 0.95
"""Confidence that "you" is the character talked to."""

IN_PLAY_CONFIDENCE = 0.6
"""Confidence that "she" refers to one of the entities of the previous turns."""

_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:he|him|his|she|her|hers|they|them|their|theirs|it|its)\b", re.IGNORECASE
)
_SOMEBODY = re.compile(
    rf"\b(?:{NamedEntityKind.PERSON}|{NamedEntityKind.STRANGER}|he|she|they|who)\b"
)


def plan_by_rules(question: TurnQuestion, bible: Bible) -> QuestionPlan:
    """Return the kind of answer and the sources that `question` needs, and its
    entities.

    No language model is used: the same input gives the same plan. Entities are names in
    the question, and known ones that its pronouns refer to. A follow-up is rewritten
    with the names of the last turn, "Nell's aunt" with her name. `chapters` are those
    that the question names.
    """
    standalone = rewrite_question(question, bible)
    question = replace(question, text=standalone or question.text)
    named_entities = recognize_named_entities(question.text, bible)
    plain = _mask_names(question, named_entities)
    intent = _classify_intent(plain)
    choices = _keep_most_confident(
        _iter_choices(question, plain, named_entities, intent)
    )
    if question.mode is AnswerMode.IN_CHARACTER:
        intent = AnswerIntent.IN_CHARACTER
    return QuestionPlan(
        intent,
        choices,
        tuple(_iter_entities(question, named_entities, bible)),
        RULES_KEEPER,
        question=standalone,
        chapters=tuple(sorted(parse_chapter_numbers(question.text))),
    )


def build_search_text(question: TurnQuestion, bible: Bible) -> str:
    """Return the text to search for: the question, a follow-up rewritten, without
    phrases such as "tell me", followed by the names that its pronouns refer to.
    """
    plan = plan_by_rules(question, bible)
    standalone = plan.question or question.text
    text = remove_chapter_bound(lexicon.strip_request(standalone) or standalone)
    text_names = {entity.name for entity in recognize_named_entities(text, bible)}
    names = (entity.name for entity in plan.entities if entity.name not in text_names)
    return " ".join((text, *names))


def _mask_names(question: TurnQuestion, named_entities: Sequence[NamedEntity]) -> str:
    """Return the question for pattern matching: names masked, the rest in lower case."""
    parts: list[str] = []
    at = 0
    for named_entity in named_entities:
        parts += (
            question.text[at : named_entity.span.start].lower(),
            named_entity.kind,
        )
        at = named_entity.span.end
    parts.append(question.text[at:].lower())
    text = lexicon.strip_request(" ".join("".join(parts).split())).strip(" .?!")
    if question.mode is AnswerMode.IN_CHARACTER:
        return _SECOND_PERSON.sub(NamedEntityKind.PERSON, text)
    return text


def _classify_intent(plain: str) -> AnswerIntent:
    """Return the kind of answer that is asked for, whoever answers."""
    if lexicon.GAP_PATTERN.search(plain):
        return AnswerIntent.GAP_PROBE
    if lexicon.SCENARIO_PATTERN.search(plain):
        return AnswerIntent.SCENARIO
    if lexicon.CRAFT_PATTERN.search(plain) or lexicon.ALLUSION_PATTERN.search(plain):
        return AnswerIntent.EXTERNAL_REFERENCE
    if lexicon.JUDGEMENT_PATTERN.search(plain):
        return AnswerIntent.JUDGEMENT
    return AnswerIntent.ANALYTICAL


def _iter_choices(
    question: TurnQuestion,
    plain: str,
    named_entities: Sequence[NamedEntity],
    intent: AnswerIntent,
) -> Iterator[SourceChoice]:
    """Yield a choice for each source to use; the web is never the only one."""
    # "Does the text say …" is not about what a character says.
    rest = lexicon.GAP_PATTERN.sub(" ", plain)
    saying = _is_about_saying(question, rest)
    # What a character talks about is found in dialogue, not in the world's elements.
    elements = [
        entity
        for entity in named_entities
        if entity.elements and not (saying and _is_topic(question.text, entity))
    ]
    choices = [
        *_iter_intent_choices(plain, intent),
        *_iter_cue_choices(rest, saying=saying),
    ]
    has_person = any(e.kind is NamedEntityKind.PERSON for e in named_entities)
    if not choices and elements and has_person:
        source, intention = AnswerSource.PROFILES, SourceIntention.BEHAVIOR
        choices.append(SourceChoice(source, intention, lexicon.HINTED_CUE_CONFIDENCE))
    for element in elements:
        choices += _iter_element_choices(element)
    yield from choices
    yield from _iter_web_choices(plain)
    # What is known of the story is cited by its passages.
    sources = {choice.source for choice in choices}
    if AnswerSource.MANUSCRIPT not in sources and sources != {AnswerSource.NOTES}:
        source, intention = AnswerSource.MANUSCRIPT, SourceIntention.FIND_PASSAGE
        yield SourceChoice(source, intention, lexicon.FALLBACK_CONFIDENCE)


def _iter_intent_choices(plain: str, intent: AnswerIntent) -> Iterator[SourceChoice]:
    if intent is AnswerIntent.GAP_PROBE:
        yield SourceChoice(
            AnswerSource.MANUSCRIPT,
            SourceIntention.FIND_PASSAGE,
            lexicon.PLAIN_CUE_CONFIDENCE,
        )
        if NamedEntityKind.PERSON in plain:
            yield SourceChoice(
                AnswerSource.PROFILES,
                SourceIntention.TRAITS,
                lexicon.HINTED_CUE_CONFIDENCE,
            )
    if intent is AnswerIntent.SCENARIO and NamedEntityKind.PERSON in plain:
        yield SourceChoice(
            AnswerSource.PROFILES,
            SourceIntention.BEHAVIOR,
            lexicon.PLAIN_CUE_CONFIDENCE,
        )
        yield SourceChoice(
            AnswerSource.PROFILES, SourceIntention.VALUES, lexicon.LIKELY_CUE_CONFIDENCE
        )


def _iter_cue_choices(plain: str, *, saying: bool) -> Iterator[SourceChoice]:
    person = NamedEntityKind.PERSON in plain
    matched_cues = [
        cue
        for cue in lexicon.QUESTION_CUES
        if (person or not cue.person) and cue.words.search(plain)
    ]
    sure = [c for c in matched_cues if c.confidence > lexicon.FALLBACK_CONFIDENCE]
    for cue in sure or matched_cues:
        yield SourceChoice(cue.source, cue.intention, cue.confidence)
    if person and lexicon.NOTES_PATTERN.search(plain):
        yield SourceChoice(
            AnswerSource.PROFILES, SourceIntention.TRAITS, lexicon.HINTED_CUE_CONFIDENCE
        )
    if saying:
        yield SourceChoice(
            AnswerSource.MANUSCRIPT,
            SourceIntention.DIALOGUE_OF,
            lexicon.PLAIN_CUE_CONFIDENCE,
        )


def _is_about_saying(question: TurnQuestion, plain: str) -> bool:
    """Return whether the question asks what a character says, not how they talk."""
    somebody = _SOMEBODY.search(plain) is not None
    is_speech = lexicon.SPEECH_PATTERN.search(plain) and asks_about_saying(
        question.text
    )
    voice = next(
        cue for cue in lexicon.QUESTION_CUES if cue.intention is SourceIntention.VOICE
    )
    return somebody and bool(is_speech) and not voice.words.search(plain)


def _is_topic(text: str, named_entity: NamedEntity) -> bool:
    return (
        infer_question_role(text, named_entity.span.start) is AppearanceRole.MENTIONED
    )


def _iter_element_choices(named_entity: NamedEntity) -> Iterator[SourceChoice]:
    types = [
        claim.value
        for element in named_entity.elements
        for claim in element.element_types
    ]
    intentions = [
        source_intention
        for source_intention in INTENTIONS_BY_SOURCE[AnswerSource.WORLD]
        if source_intention in types
    ]
    for intention in intentions:
        yield SourceChoice(AnswerSource.WORLD, intention, lexicon.PLAIN_CUE_CONFIDENCE)
    if not intentions:  # most elements of unknown type are settings
        yield SourceChoice(
            AnswerSource.WORLD, SourceIntention.SETTING, lexicon.HINTED_CUE_CONFIDENCE
        )


def _iter_web_choices(plain: str) -> Iterator[SourceChoice]:
    if lexicon.ALLUSION_PATTERN.search(plain):
        yield SourceChoice(
            AnswerSource.WEB,
            SourceIntention.EXTERNAL_REFERENCE,
            lexicon.LIKELY_CUE_CONFIDENCE,
        )
    if lexicon.CRAFT_PATTERN.search(plain):
        yield SourceChoice(
            AnswerSource.WEB, SourceIntention.CRAFT, lexicon.LIKELY_CUE_CONFIDENCE
        )


def _keep_most_confident(choices: Iterable[SourceChoice]) -> tuple[SourceChoice, ...]:
    """Return each choice once, with its highest confidence, most confident first."""
    best: dict[tuple[AnswerSource, SourceIntention], SourceChoice] = {}
    for choice in sorted(choices, key=lambda choice: -choice.confidence):
        best.setdefault((choice.source, choice.intention), choice)
    return tuple(best.values())


def _iter_entities(
    question: TurnQuestion, named_entities: Sequence[NamedEntity], bible: Bible
) -> Iterator[QuestionEntity]:
    """Yield each name once: those in the question, then those its pronouns refer to."""
    names: dict[str, QuestionEntity] = {}
    for named_entity in named_entities:
        names.setdefault(
            named_entity.name,
            QuestionEntity(named_entity.name, named_entity.confidence),
        )
    talked_to = question.character if question.mode is AnswerMode.IN_CHARACTER else ""
    if talked_to and _SECOND_PERSON.search(question.text):
        names.setdefault(talked_to, QuestionEntity(talked_to, ADDRESSED_CONFIDENCE))
    if not names and _PRONOUN.search(question.text):
        for name in question.state.entities:
            if match_people(name, bible):  # the horizon may have moved since
                names.setdefault(name, QuestionEntity(name, IN_PLAY_CONFIDENCE))
    yield from names.values()


def resolve_entities(
    plan: QuestionPlan,
    bible: Bible,
    notes: Sequence[str],
    passages: Sequence[Passage] = (),
) -> tuple[ResolvedEntity, ...]:
    """Return each entity of `plan` with the sources of the plan that contain it, and
    the name under which each does.

    `notes` are the titles of the manuscript's notes, `passages` what the search found.
    In the world source, a character is under each element connected with them; in the
    timeline, under each name that occurs there; in the manuscript, under each of their
    names that the story mentions, and anything else if evidence of the story or a
    passage of it contains the name. The web has only names that the bible lacks. The
    locations of an entity are in the order of `AnswerSource`; empty if no source of the
    plan contains it.
    """
    sources = [source for source in AnswerSource if source in plan.sources]
    story_texts = [p.chunk.text for p in passages if p.chapter is not None]
    resolved_entities: list[ResolvedEntity] = []
    for entity in plan.entities:
        matches = match_entity(entity.name, bible)
        places: dict[tuple[AnswerSource, str], EntityLocation] = {}
        for source in sources:
            names = _find_in_source(source, matches, bible, notes, story_texts)
            for name, text in names:
                location = EntityLocation(source, name, *matches.rate(text), text)
                places.setdefault((source, name), location)
        resolved_entities.append(ResolvedEntity(entity, tuple(places.values())))
    return tuple(resolved_entities)


def _find_in_source(
    source: AnswerSource,
    matches: EntityMatches,
    bible: Bible,
    notes: Sequence[str],
    story_texts: Sequence[str],
) -> Iterable[tuple[str, str]]:
    """Return the names under which `source` has an entity, each with the words of the
    source that match.
    """
    match source:
        case AnswerSource.PROFILES:
            return (
                (person.name, matches.select_form(person)) for person in matches.people
            )
        case AnswerSource.WORLD:
            return _iter_world_names(matches, bible)
        case AnswerSource.TIMELINE:
            return _iter_timeline_names(matches, bible)
        case AnswerSource.MANUSCRIPT:
            return _iter_manuscript_names(matches, story_texts)
        case AnswerSource.NOTES:
            words = _compile_names(matches.forms)
            return ((title, at[0]) for title in notes if (at := words.search(title)))
        case AnswerSource.WEB:
            is_known = matches.people or matches.elements
            return () if is_known else ((matches.name, matches.name),)


def _iter_manuscript_names(
    matches: EntityMatches, story_texts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    forms = [form for person in matches.people for form in person.aliases]
    mentioned = {form.name for form in forms if form.mentions}
    evidence = [
        words.text
        for element in matches.elements
        for claim in (*element.element_types, *element.descriptions)
        for words in claim.evidence
        if words.chapter is not None
    ]
    for form in matches.forms:
        words = _compile_names((form,))
        texts = map(words.search, (*story_texts, *evidence))
        occurrence = next(filter(None, texts), None)
        if occurrence or form in mentioned:
            yield form, occurrence[0] if occurrence else form


def _iter_world_names(
    matches: EntityMatches, bible: Bible
) -> Iterator[tuple[str, str]]:
    yield from ((element.name, element.name) for element in matches.elements)
    for element in bible.world:
        for claim in element.connected_characters:
            if claim.value in matches.names:
                yield element.name, claim.value


def _iter_timeline_names(
    matches: EntityMatches, bible: Bible
) -> Iterator[tuple[str, str]]:
    timeline_characters = {
        name for moment in bible.timeline for name in moment.characters
    }
    for person in matches.people:
        if person.name in timeline_characters:
            yield person.name, person.name
    for form in matches.forms:
        words = _compile_names((form,))
        texts = (words.search(moment.text) for moment in bible.timeline)
        if occurrence := next(filter(None, texts), None):
            yield form, occurrence[0]


def _compile_names(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of `names` as whole words, ignoring case and
    articles.
    """
    bare_names = (
        re.sub(r"^(?:the|an?)\s+(?=\S)", "", name, flags=re.I) for name in names
    )
    written = "|".join(r"\s+".join(map(re.escape, name.split())) for name in bare_names)
    return re.compile(rf"(?<!\w)(?:{written})(?!\w)", re.IGNORECASE)


def select_bible_parts(
    question: TurnQuestion,
    plan: QuestionPlan,
    names: Bible,
    search_result: SearchResult,
    order: StoryOrder,
) -> BibleParts:
    """Return the parts of the story bible from which `resolve_entities` and
    `gather_context` give the same result as from all of it.

    `names` are the names of the bible up to the question's horizon.
    """
    matches = [match_entity(entity.name, names) for entity in plan.entities]
    people = {question.character} - {""}
    people.update(name for match in matches for name in (*match.forms, *match.names))
    element_names = {entity.name for entity in plan.entities}
    element_names |= {e.name for match in matches for e in match.elements}
    elements = [
        element
        for element in names.world
        if element.name in element_names
        or any(claim.value in people for claim in element.connected_characters)
    ]
    cast = extract_visible_cast(names)
    speakers = people.union(
        name
        for character in find_question_characters(question.text, cast)
        for name in character.people
    )
    people.update(c.value for e in elements for c in e.connected_characters)
    people.update(list_people_to_compare(question.text, names))
    keys = {normalize_element_name(element.name) for element in elements}
    return BibleParts(
        people=frozenset(people),
        elements=frozenset(element.name for element in elements),
        speakers=frozenset(speakers),
        documents=frozenset(
            _list_scene_documents(question, plan, search_result, order, keys)
        ),
        timeline=_needs_timeline(question, plan, matches),
        relations=AnswerSource.PROFILES in plan.sources or bool(question.character),
    )


def _needs_timeline(
    question: TurnQuestion, plan: QuestionPlan, matches: Sequence[EntityMatches]
) -> bool:
    """Return whether scenes and events of all chapters are needed, as for who meets."""
    forms = [form for match in matches for form in match.forms]
    return (
        AnswerSource.TIMELINE in plan.sources
        or plan.intent is AnswerIntent.SCENARIO
        or (question.witnessed and bool(question.character))
        or find_scene_request(plan.question or question.text, forms) is not None
    )


def _list_scene_documents(
    question: TurnQuestion,
    plan: QuestionPlan,
    search_result: SearchResult,
    order: StoryOrder,
    element_keys: Iterable[str],
) -> Iterator[DocumentId]:
    """Yield the documents of the scenes that the question may be about."""
    text, passages = plan.question or question.text, search_result.passages
    yield from (chunk.document for chunk in select_spoken_chunks(text, passages))
    intentions = {choice.intention for choice in plan.choices}
    if not intentions & {SourceIntention.RECAP, SourceIntention.WHO_WAS_THERE}:
        return
    chapters, last = parse_chapter_numbers(question.text), list[DocumentId]()
    last_chapter = question.horizon.chapter if question.horizon else order.last
    for document, chapter, number in order.iter_chapters():
        if number == last_chapter:
            yield document  # how many of its scenes are visible depends on its text
        elif number < last_chapter:
            last += [document] * len(chapter.scenes)
        title = f" {normalize_element_name(chapter.title)} "
        if number in chapters or any(f" {key} " in title for key in element_keys):
            yield document
    yield from last[-MAX_GATHERED_SCENES:]
    yield from (passage.chunk.document for passage in passages[:SCENE_PASSAGES])
