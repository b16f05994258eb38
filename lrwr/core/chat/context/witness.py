"""Restricts retrieved material to what one character witnessed or was told."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lrwr.core.bible.values import (
    AttributedQuote,
    Bible,
    BibleClaim,
    CharacterProfile,
    CharacterRelation,
    TextEvidence,
    TimelineMoment,
    TimelineMomentKind,
    WorldElement,
)
from lrwr.core.chat.state import RetrievalResult
from lrwr.core.model.chunks import Passage
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import Span


class WitnessFilter:
    """Restricts material to what `character`, a name in `bible`, can know.

    They know the scenes in which they act or speak, what somebody tells them, and their
    own profile. Notes are outside the story, so no character knows them.
    """

    def __init__(self, character: str, bible: Bible) -> None:
        self._character = character
        self._scenes: dict[DocumentId, list[Span]] = {}
        for scene in bible.scenes:
            if character in scene.present:
                self._scenes.setdefault(scene.document, []).append(scene.span)
        for disclosure in bible.told:
            if character in disclosure.hearers:
                spans = self._scenes.setdefault(disclosure.evidence.document, [])
                spans.extend(disclosure.evidence.spans)

    def knows(self, document: DocumentId, span: Span) -> bool:
        """Return whether the character can know the text at `span` of `document`.

        True if the span lies in one scene in which they act or speak, or in words that
        somebody says to them.
        """
        return any(
            scene_span.start <= span.start and span.end <= scene_span.end
            for scene_span in self._scenes.get(document, ())
        )

    def restrict(self, result: RetrievalResult) -> RetrievalResult:
        """Return `result` without story data and passages that the character cannot
        know.

        Evidence that they cannot know is removed from facts; facts and decisions
        without evidence are removed, except in their own profile.
        """
        return replace(
            result,
            character_profiles=tuple(
                map(self._filter_profile, result.character_profiles)
            ),
            ranked_chunks=tuple(filter(self._knows_passage, result.ranked_chunks)),
            world=tuple(self._filter_world(result.world)),
            moments=tuple(filter(self._knows_moment, result.moments)),
            relations=tuple(filter(self._knows_relation, result.relations)),
            scenes=tuple(s for s in result.scenes if self._character in s.present),
            gaps=tuple(gap for gap in result.gaps if gap.about == self._character),
            lines=tuple(filter(self._knows_quote, result.lines)),
        )

    def _knows_evidence(self, evidence: TextEvidence) -> bool:
        return all(self.knows(evidence.document, span) for span in evidence.spans)

    def _filter_claims(self, claims: Iterable[BibleClaim]) -> tuple[BibleClaim, ...]:
        """Return the claims with evidence that the character knows; decisions have
        none.
        """
        known_claims = (
            replace(claim, evidence=tuple(filter(self._knows_evidence, claim.evidence)))
            for claim in claims
        )
        return tuple(claim for claim in known_claims if claim.evidence)

    def _filter_profile(self, profile: CharacterProfile) -> CharacterProfile:
        if profile.name == self._character:
            return profile
        return replace(
            profile,
            because="",
            aliases=(),
            first_seen=None,
            also_called=self._filter_claims(profile.also_called),
            attributes=self._filter_claims(profile.attributes),
            personality_traits=self._filter_claims(profile.personality_traits),
            stated_values=self._filter_claims(profile.stated_values),
            behavioral_patterns=self._filter_claims(profile.behavioral_patterns),
            relationships=tuple(filter(self._knows_relation, profile.relationships)),
            speech_patterns=self._filter_claims(profile.speech_patterns),
            external_references=self._filter_claims(profile.external_references),
            open_gaps=(),
        )

    def _filter_world(self, world: Sequence[WorldElement]) -> Iterable[WorldElement]:
        for element in world:
            restrict = replace(
                element,
                element_types=self._filter_claims(element.element_types),
                descriptions=self._filter_claims(element.descriptions),
                connected_characters=self._filter_claims(element.connected_characters),
            )
            if restrict.element_types or restrict.descriptions:
                yield restrict

    def _knows_relation(self, relation: CharacterRelation) -> bool:
        is_involved = self._character in (relation.source, relation.target)
        return is_involved or any(
            self._knows_evidence(text_evidence) for text_evidence in relation.evidence
        )

    def _knows_moment(self, moment: TimelineMoment) -> bool:
        is_involved = (
            moment.kind is not TimelineMomentKind.TOLD
            and self._character in (moment.characters)
        )
        return is_involved or self._knows_evidence(moment.evidence)

    def _knows_quote(self, quote: AttributedQuote) -> bool:
        return quote.speaker == self._character or self._knows_evidence(quote.evidence)

    def _knows_passage(self, passage: Passage) -> bool:
        return self.knows(passage.chunk.document, passage.chunk.span)
