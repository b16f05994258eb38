"""Answers without a language model: facts and quotations, each with citations.

Every line ends with citation numbers, except lines that say what was not found.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from lrwr.core.attribution.citations import CitationNumbering
from lrwr.core.bible.gaps import find_asked_attribute
from lrwr.core.bible.values import Gap, GapState, list_gap_implications
from lrwr.core.chat.context.conflicts import collect_count_items
from lrwr.core.chat.context.gap_finder import format_gap_decision
from lrwr.core.chat.context.items import (
    ContextItem,
    StoryFacet,
    collect_context_items,
    load_result_texts,
    map_intentions_to_facets,
)
from lrwr.core.chat.extractive.answer_values import find_sentences_about_person
from lrwr.core.chat.extractive.doubts import (
    MIN_ANSWERED_COVERAGE,
    describe_chapter_silence,
    describe_conflicting_facts,
    describe_doubt,
    describe_substitutes,
    has_chapter_passages,
    is_answered,
    lacks_kind_only,
)
from lrwr.core.chat.extractive.item_kinds import drop_body_alone
from lrwr.core.chat.extractive.question_parts import (
    QuestionPart,
    split_question_parts,
)
from lrwr.core.chat.extractive.relatives import (
    Relative,
    drop_owner_items,
    find_relative,
    put_relative_first,
    select_asked_kin,
    select_near_kin,
)
from lrwr.core.chat.extractive.selection import MAX_FACTS_PER_PART, ItemSelector
from lrwr.core.chat.extractive.shared_scenes import (
    SharedScenesWriter,
    describe_unnamed_person,
)
from lrwr.core.chat.extractive.spoken_lines import (
    CharacterAnswerer,
    describe_uncertain_speaker,
    find_spoken_item,
)
from lrwr.core.chat.extractive.subjects import ValueQuestion
from lrwr.core.chat.extractive.value_search import (
    build_value_question,
    order_by_value,
)
from lrwr.core.chat.extractive.writer import (
    AnswerPieces,
    AnswerWriter,
    NotFoundLevel,
    classify_not_found,
    find_unknown_words,
    format_not_found,
)
from lrwr.core.chat.state import (
    RetrievalResult,
    SharedScenes,
    TurnQuestion,
    find_answering_character,
)
from lrwr.core.model.text import extract_content_words
from lrwr.core.model.turns import (
    NO_CLEAR_ANSWER,
    AnswerIntent,
    AnswerToken,
    GapFlag,
    GapFound,
    PassageCited,
    QuestionPlan,
    SourceIntention,
)
from lrwr.core.retrieval.excerpts import (
    MAX_PASSAGES_BESIDE_FACTS,
    MAX_QUOTED_PASSAGES,
    PassageQuote,
    PassageSource,
    select_passage_quotes,
    weigh_question_words,
)
from lrwr.core.retrieval.retrievers import WordWeights

__all__ = ["find_question_gap", "stream_extractive_answer"]

PASSAGES_HEADING = "Closest passages:"
"""The line before the passages that a search found."""

SCENARIO_FACETS = frozenset(
    {StoryFacet.HAPPENED, StoryFacet.CHARACTER, StoryFacet.LINE}
)
"""Facets shown for a scenario, which only a language model can play out."""

AnswerEventStream = AsyncGenerator[AnswerToken | PassageCited | GapFound]
"""An answer in pieces; each citation precedes the line that cites it."""

AnswerLine = tuple[ContextItem, ...]


async def stream_extractive_answer(
    question: TurnQuestion,
    plan: QuestionPlan,
    result: RetrievalResult,
    passage_source: PassageSource,
) -> AnswerEventStream:
    """Yield an answer made of facts and quotations from `result`, line by line.

    If a character answers, it consists of their own dialogue lines; otherwise of facts,
    then, unless they answer the question, of the closest passages. If something is not in the text, a line says so and
    a gap is yielded. The texts of the tokens, joined, are the answer. `passage_source`
    has the texts to cite.

    Raises:
        StoreProblem: The library cannot be read.
    """
    extractive_answer = _ExtractiveAnswer(
        question=question,
        plan=plan,
        result=result,
        source=passage_source,
        parts=await split_question_parts(question, plan, result, passage_source),
        writer=AnswerWriter(
            CitationNumbering(await load_result_texts(result, passage_source.store)),
            passage_source.sentences,
        ),
        relative=find_relative(plan.question or question.text, question.cast),
    )
    facets = map_intentions_to_facets(choice.intention for choice in plan.choices)
    if plan.intent is AnswerIntent.GAP_PROBE:
        facets |= {StoryFacet.GAP}
    answer = extractive_answer.analytical(facets)
    if plan.intent is AnswerIntent.SCENARIO:
        answer = extractive_answer.scenario()
    elif find_answering_character(question, plan):
        answer = extractive_answer.in_character()
    elif any(gap.state is not GapState.OPEN for gap in result.gaps):
        answer = extractive_answer.decisions()
    async with aclosing(answer):
        async for event in answer:
            yield event


@dataclass(slots=True)
class _ExtractiveAnswer:
    """An answer in progress."""

    question: TurnQuestion
    plan: QuestionPlan
    result: RetrievalResult
    source: PassageSource
    parts: Sequence[QuestionPart]
    writer: AnswerWriter
    relative: Relative | None

    async def decisions(self) -> AnswerEventStream:
        """Yield what the user decided about the question, and where the text asks it."""
        for gap in self.result.gaps:
            if gap.state is not GapState.OPEN:
                evidence = [e for claim in gap.implied for e in claim.evidence]
                for piece in self.writer.decision(format_gap_decision(gap), evidence):
                    yield piece

    async def analytical(self, facets: frozenset[StoryFacet]) -> AnswerEventStream:
        """Yield what is not in the text, then facts, then passages."""
        if self.result.shared_scenes is not None:
            start = self._write_scenes(self.result.shared_scenes)
        elif self._asks_for_all_gaps and not self._select_open_gaps(facets):
            yield self.writer.say(self._no_gaps_message)
            return
        else:
            start = self._write_findings(facets)
        async with aclosing(start) as events:
            async for event in events:
                yield event
        shared = self.result.shared_scenes
        if not self.writer.lines and not (shared and shared.is_answer):
            gap = self._question_gap
            if self._nothing_found_level is NotFoundLevel.SURE and gap is not None:
                yield GapFound(gap)
            for line in self._iter_not_found(self._nothing_found_level, nearest=False):
                yield line

    async def _write_scenes(self, shared: SharedScenes) -> AnswerEventStream:
        """Yield the scenes in question, then passages if it is whether people meet."""
        scenes = SharedScenesWriter(
            shared,
            await load_result_texts(self.result, self.source.store),
            self.source.sentences,
            bounded=self.question.horizon is not None,
            question=self.plan.question or self.question.text,
        )
        for piece in scenes.write(self.writer):
            yield piece
        if not shared.is_answer:
            async with aclosing(self._write_facts_and_passages([])) as events:
                async for event in events:
                    yield event

    async def _write_findings(self, facets: frozenset[StoryFacet]) -> AnswerEventStream:
        """Yield the message about what was not found, then facts, then passages."""
        if self._select_open_gaps(facets):
            facets |= {StoryFacet.GAP}
        facts = self._select_facts(facets)
        text = self.plan.question or self.question.text
        if spoken := await find_spoken_item(text, self.result.lines, self.source):
            facts[0].insert(0, (spoken,))
            if doubt := describe_uncertain_speaker(spoken):
                yield self.writer.say(doubt)
        unknown_parts = () if any(facts) else self.parts
        near = _write_near_kin(unknown_parts, self)
        for piece in chain(self._iter_introduction(facets, facts), near):
            yield piece
        async with aclosing(self._write_facts_and_passages(facts)) as events:
            async for event in events:
                yield event

    @property
    def _nothing_found_level(self) -> NotFoundLevel:
        """How certain it is that the text holds no answer if nothing was found."""
        if self.result.by_words_only:
            return NotFoundLevel.MAYBE
        return NotFoundLevel.SURE

    def _iter_introduction(
        self, facets: frozenset[StoryFacet], facts: Sequence[Sequence[AnswerLine]]
    ) -> Iterator[AnswerToken | GapFound]:
        """Yield the question's open gaps and the message about what was not found."""
        has_facts = any(facts)
        nearest = has_facts or bool(self.result.ranked_chunks)
        silence = classify_not_found(self.question, self.parts, self.result)
        if not nearest:
            silence = self._nothing_found_level
        gaps = [build_gap_from_ledger(gap) for gap in self._select_open_gaps(facets)]
        outward = self.plan.intent is AnswerIntent.EXTERNAL_REFERENCE
        is_silent = silence in (NotFoundLevel.SURE, NotFoundLevel.UNDEFINED)
        if is_silent and self._question_gap and not (gaps or outward):
            gaps = [self._question_gap]
        for gap in gaps:
            yield GapFound(gap)
        if has_facts and lacks_kind_only(self.parts, self.result, facts):
            return
        missing = describe_chapter_silence(self.question, self.plan, self.result)
        missing = missing or describe_unnamed_person(self.question, self.result.unknown)
        if missing:
            yield self.writer.say(missing)
            silence = NotFoundLevel.NONE
        yield from self._iter_not_found(silence, nearest)

    async def _write_facts_and_passages(
        self, facts: Sequence[Sequence[AnswerLine]], *, heading: str = PASSAGES_HEADING
    ) -> AnswerEventStream:
        """Yield the facts of all parts, then `heading` with the closest passages."""
        if conflict := describe_conflicting_facts(facts, self.writer.texts):
            yield self.writer.say(conflict)
        for event in chain.from_iterable(map(self.writer.facts, chain(*facts))):
            yield event
        if not (limit := self._count_passages(facts)):
            return
        typed = build_value_question(self.question, self.plan, self.result, self.parts)
        weights = await weigh_question_words(
            extract_content_words(typed.text), self.source
        )
        quotes = await _quote_passages(self, typed, weights)
        if quotes and not any(facts):
            doubt = describe_doubt(
                self.question,
                typed,
                quotes,
                weights,
                self.source.sentences,
                is_first=not self.writer.lines,
            )
            if doubt:
                yield self.writer.say(doubt)
        for event in self.writer.passages(quotes, heading, limit=limit):
            yield event
        about = describe_substitutes(
            self.result, quotes, self.source.sentences, self.question.horizon
        )
        if about:
            yield self.writer.say(about)

    async def in_character(self) -> AnswerEventStream:
        """Yield the character's own lines, or a message that there are none."""
        voice = CharacterAnswerer(self.question, self.plan, self.result, self.writer)
        before = self.writer.lines
        for event in voice.answer(self.parts):
            yield event
        if self.writer.lines == before:
            yield self.writer.say(voice.not_found_message)

    async def scenario(self) -> AnswerEventStream:
        """Yield related passages, because only a language model can play out a
        scenario.
        """
        names = [profile.name for profile in self.result.character_profiles]
        subject = self.question.character or " and ".join(names[:2])
        about = f" about {subject}" if subject else ""
        yield self.writer.say(f"Playing out a scenario{about} needs a language model.")
        async with aclosing(
            self._write_facts_and_passages(
                self._select_facts(SCENARIO_FACETS), heading="Related passages:"
            )
        ) as events:
            async for event in events:
                yield event
        if self.writer.lines == 1:
            yield self.writer.say("No related passage was found.")

    @property
    def _asks_for_all_gaps(self) -> bool:
        """Whether the question asks for all gaps instead of one thing."""
        probe = self.plan.intent is AnswerIntent.GAP_PROBE
        return probe and not any(part.words.weights for part in self.parts)

    @property
    def _no_gaps_message(self) -> str:
        names = [entity.name for entity in self.plan.entities]
        about = f" about {' and '.join(names)}" if names else ""
        return f"There are no open questions{about}."

    @property
    def _question_gap(self) -> GapFlag | None:
        """The attribute of a known character that was asked for over the whole story;
        None if the question asks for something else.
        """
        return find_question_gap(self.question, self.result, self.plan)

    def _select_facts(self, facets: frozenset[StoryFacet]) -> list[list[AnswerLine]]:
        """Return the lines of facts for each part, each line once."""
        selector = ItemSelector(
            collect_context_items(self.result), self.plan, self.result
        )
        answer_lines: set[AnswerLine] = set()
        facts: list[list[AnswerLine]] = []
        for part in self.parts:
            kin = select_asked_kin(part, self.result, self.question.cast)
            lines = [
                line
                for line in (
                    drop_owner_items(
                        self.relative,
                        drop_body_alone(part, selector.facts(part, facets)),
                    )
                    if kin is None
                    else kin
                )
                if line not in answer_lines
            ]
            answer_lines.update(lines)
            facts.append(lines)
        counts = collect_count_items(self.question.text, self.result.ranked_chunks)
        facts[0][:0] = [(count,) for count in counts]
        return facts

    def _count_passages(self, facts: Sequence[Sequence[AnswerLine]]) -> int:
        """Return how many passages to quote: fewer, or none, if facts answer."""
        intentions = {choice.intention for choice in self.plan.choices}
        listing_intentions = intentions & {
            SourceIntention.OPEN_QUESTION,
            SourceIntention.RECAP,
        }
        items = [[item for line in lines for item in line] for lines in facts]
        if self.result.shared_scenes is not None:
            return MAX_PASSAGES_BESIDE_FACTS
        if not any(items):
            return MAX_QUOTED_PASSAGES
        all_answered = all(
            is_answered(part, own) for part, own in zip(self.parts, items, strict=True)
        )
        if listing_intentions or self._asks_for_all_gaps or all_answered:
            return 0
        return MAX_PASSAGES_BESIDE_FACTS

    def _select_open_gaps(self, facets: frozenset[StoryFacet]) -> list[Gap]:
        """Return the open gaps that the question names; else the first ones if it asks
        for gaps.
        """
        gaps = [gap for gap in self.result.gaps if gap.state is GapState.OPEN]
        gaps_in_question = [
            gap
            for gap in gaps
            if any(
                part.words.coverage(gap.attribute) >= MIN_ANSWERED_COVERAGE
                for part in self.parts
            )
        ]
        return gaps_in_question or (
            gaps[:MAX_FACTS_PER_PART] if StoryFacet.GAP in facets else []
        )

    def _iter_not_found(
        self, silence: NotFoundLevel, nearest: bool
    ) -> Iterator[AnswerToken]:
        unknown_words = find_unknown_words(self.result)
        if silence is NotFoundLevel.SURE and has_chapter_passages(
            self.plan, self.result
        ):
            silence = NotFoundLevel.MAYBE
        not_found_text = format_not_found(
            self.question,
            unknown_words,
            silence,
            nearest=nearest,
            similar_names=self.result.similar_names,
            phrases=self.result.missing_phrases,
        )
        return map(self.writer.say, not_found_text)


async def _quote_passages(
    answer: _ExtractiveAnswer, typed: ValueQuestion, weights: WordWeights
) -> list[PassageQuote]:
    """Return what the closest passages have on the question, best first.

    The search by words is left out if not all passages up to the horizon may be quoted:
    if they must be of certain chapters, or witnessed.
    """
    source, question = answer.source, answer.question
    if question.witnessed or answer.plan.chapters:
        source = replace(source, search_words=None)
    ordered = await order_by_value(
        typed, answer.result.ranked_chunks, source, question.horizon
    )
    return await select_passage_quotes(
        typed.text,
        weights,
        put_relative_first(
            answer.relative, ordered, question.narrators, source.sentences
        ),
        source,
        partial(find_sentences_about_person, typed, sentences=source.sentences),
    )


def _write_near_kin(
    parts: Sequence[QuestionPart], answer: _ExtractiveAnswer
) -> AnswerPieces:
    """Yield all known brothers if the eldest is asked for, whom nothing tells from the
    others.
    """
    writer = answer.writer
    for phrase, lines in select_near_kin(parts, answer.result, answer.question.cast):
        doubt = f"{NO_CLEAR_ANSWER}. No relation says who the {phrase} is."
        yield writer.say(f"{doubt} Known relatives:")
        yield from chain.from_iterable(map(writer.facts, lines))


def find_question_gap(
    question: TurnQuestion, result: RetrievalResult, plan: QuestionPlan | None = None
) -> GapFlag | None:
    """Return a gap for the attribute of a character that `question` asks for; None if
    it asks for something else, about nobody or several, or up to a horizon.

    The character is the one who is talked to, else the only one of `result`, else the
    only entity of `plan`.
    """
    names = [profile.name for profile in result.character_profiles]
    if not names and plan is not None:
        names = [entity.name for entity in plan.entities]
    about = question.character or (names[0] if len(names) == 1 else "")
    attribute = find_asked_attribute(question.text)
    if not about or not attribute or question.horizon is not None:
        return None
    return GapFlag(about, attribute)


def build_gap_from_ledger(gap: Gap) -> GapFlag:
    """Return `gap`, of the story bible, in the form that answers use.

    Of its suggestions only the first is included.
    """
    implied = "; ".join(list_gap_implications(gap))
    return GapFlag(gap.about, gap.attribute, implied, "".join(gap.suggestions[:1]))
