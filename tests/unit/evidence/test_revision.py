"""The check of the sentences of a draft against their evidence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.batch_judge import BatchJudgeResult
from lrwr.core.evidence.checker import DraftChecker
from lrwr.core.evidence.comparison import DetailDifference, DetailKind
from lrwr.core.evidence.drafts import DraftPart, DraftSentence, PostDraft, add_citations
from lrwr.core.evidence.judge import (
    ClaimJudge,
    ClaimJudgement,
    EvidenceClaim,
    Verdict,
)
from lrwr.core.evidence.kinds import PostKind
from lrwr.core.evidence.pack import EvidenceFact, EvidencePack
from lrwr.core.evidence.prompts import (
    FlaggedSentence,
    WritingRequest,
    build_revision_messages,
)
from lrwr.core.evidence.results import CheckedStatement, CheckedStory, StatementResult
from lrwr.core.evidence.revision import (
    SentenceCheckParts,
    check_draft_sentences,
)
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.evidence.statements import DraftStatement
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.text import Span
from lrwr.core.ports.stores import PassageStore
from lrwr.core.retrieval.story import StoryOrder

TEXT = "Nell found the trail of the mule ended at the water."
PACK = EvidencePack((EvidenceFact(1, "The trail ends.", TEXT, EvidenceSource(TEXT)),))
STORY = CheckedStory(StoryOrder({}, (), {}), Pipeline.NAIVE)
SENTENCE = DraftSentence("The mule cannot be traced.", (1,))


class NegationChecker:
    """Finds that the text has no negation where a statement has one."""

    def __init__(self, *, is_repeated: bool) -> None:
        self._is_repeated = is_repeated

    async def check(
        self, statement: DraftStatement, *_: object, **__: object
    ) -> CheckedStatement:
        """Return the statement with the difference."""
        difference = DetailDifference(DetailKind.NEGATION, "cannot", "")
        return CheckedStatement(
            statement,
            StatementResult.DETAILS_DIFFER,
            differences=(difference,),
            is_repeated=self._is_repeated,
        )


class QuietChecker:
    """Finds that each statement has one `result`: nothing to check."""

    def __init__(self, result: StatementResult = StatementResult.NOTHING) -> None:
        self._result = result

    async def check(
        self, statement: DraftStatement, *_: object, **__: object
    ) -> CheckedStatement:
        """Return the statement with the result."""
        return CheckedStatement(statement, self._result)


class SteadyJudge:
    """Gives each statement the same verdict; None for none."""

    def __init__(self, verdict: Verdict | None) -> None:
        self._verdict = verdict

    async def judge(
        self, items: Sequence[EvidenceClaim]
    ) -> BatchJudgeResult[EvidenceClaim, ClaimJudgement]:
        """Return the verdict with the words of the source."""
        if self._verdict is None:
            return BatchJudgeResult(unjudged=len(items))
        judgement = ClaimJudgement(self._verdict, 0, "trail of the mule ended")
        return BatchJudgeResult([(item, judgement) for item in items])


@pytest.mark.parametrize(
    ("verdict", "is_repeated", "is_flagged"),
    [
        (Verdict.SUPPORTED, False, False),
        (Verdict.CONTRADICTED, False, True),
        (None, False, True),
        (Verdict.SUPPORTED, True, True),
    ],
)
async def test_a_negation_in_other_words_is_left_to_the_language_model(
    verdict: Verdict | None, *, is_repeated: bool, is_flagged: bool
) -> None:
    parts = SentenceCheckParts(
        cast("DraftChecker", NegationChecker(is_repeated=is_repeated)),
        STORY,
        find_sentence_spans,
        judge=cast("ClaimJudge", SteadyJudge(verdict)),
    )
    check = await check_draft_sentences([SENTENCE], PACK, parts)
    assert bool(check.flagged) == is_flagged


@pytest.mark.parametrize(
    ("text", "is_flagged"),
    [
        ("A drunken mule, a boy and a false name: how long can it last?", True),
        ("How long can a mule with a false name hide from a boy?", False),
        ("Now, dear readers: what would you do?", False),
    ],
)
async def test_what_a_question_states_before_it_asks_needs_a_fact(
    text: str, *, is_flagged: bool
) -> None:
    parts = SentenceCheckParts(
        cast("DraftChecker", QuietChecker()), STORY, find_sentence_spans
    )
    check = await check_draft_sentences([DraftSentence(text)], PACK, parts)
    assert bool(check.flagged) == is_flagged


@pytest.mark.parametrize(
    ("text", "is_flagged"),
    [
        ("Dear Ms. Bell,", False),
        ("Thank you for your time and consideration.", False),
        ("Best wishes,", False),
        ("My novel is complete at 83,000 words.", False),
        ("Then Nell meets the mule again.", False),
        ("My novel is complete at 93,000 words.", True),
        ("Dear Ms. Bell, Nell has drowned a mule.", True),
        ("Thank you for drowning the mule.", True),
        ("Then Nell sells the mule again.", True),
    ],
)
async def test_an_address_and_the_words_of_the_brief_need_no_fact(
    text: str, *, is_flagged: bool
) -> None:
    parts = SentenceCheckParts(
        cast("DraftChecker", QuietChecker(StatementResult.OUTSIDE)),
        STORY,
        find_sentence_spans,
        brief="Nell meets a mule again (The manuscript has 83,000 words.)",
    )
    check = await check_draft_sentences([DraftSentence(text)], PACK, parts)
    assert bool(check.flagged) == is_flagged


def test_a_flagged_sentence_is_shown_with_its_neighbours() -> None:
    sentences = (DraftSentence("One."), SENTENCE, DraftSentence("Three."))
    draft = PostDraft("", (DraftPart(sentences),))
    request = WritingRequest("The mule", PostKind.ESSAY)
    flagged = [FlaggedSentence(SENTENCE, "it is odd")]
    user = build_revision_messages(request, PACK, flagged, [draft])[1].text
    assert "Before it: One.\nAfter it: Three." in user


@pytest.mark.parametrize(
    ("text", "is_flagged"),
    [
        ("You will not be able to put this book down.", True),
        ("Nothing will ever be the same for the marsh.", True),
        ("I hope that you love the most thrilling of my books.", True),
        ("You follow her into the fog.", True),
        ("I want to tell you of the trail that ended at the water.", True),
        ("Why did Nell leave the mule?", True),
        ("Will Nell find a mule?", False),
        ("In this letter I tell you about a mule.", False),
        ("Write to me, and I will answer.", False),
        ("Dear readers, I am glad that you are here.", False),
    ],
)
async def test_a_framing_sentence_promises_and_tells_nothing(
    text: str, *, is_flagged: bool
) -> None:
    parts = SentenceCheckParts(
        cast("DraftChecker", QuietChecker()),
        replace(STORY, cast=(("Nell",),)),
        find_sentence_spans,
        brief="How a mule is traced",
    )
    check = await check_draft_sentences([DraftSentence(text)], PACK, parts)
    assert bool(check.flagged) == is_flagged


async def test_a_supported_sentence_cites_the_words_that_decide() -> None:
    text = "Nell lit the lantern. She found the trail of the mule ended at the water."
    source = EvidenceSource(text, "1.md", Span(0, len(text)))
    pack = EvidencePack(
        (EvidenceFact(1, "It is lit.", "Nell lit the lantern", source),)
    )
    sentence = DraftSentence("The trail of a mule ends at the water.", (1,))
    parts = SentenceCheckParts(
        cast("DraftChecker", QuietChecker()),
        STORY,
        find_sentence_spans,
        judge=cast("ClaimJudge", SteadyJudge(Verdict.SUPPORTED)),
    )
    check = await check_draft_sentences([sentence], pack, parts)
    assert check.citations[sentence].quote == "trail of the mule ended"
    draft = PostDraft("", (DraftPart((sentence,)),))
    (cited,), longer = await add_citations(
        [draft], check.citations, pack, cast("PassageStore", NoPassages())
    )
    assert cited.sentences[0].facts == (1, 2)
    assert longer.select([2])[0].quote == "trail of the mule ended"
    quoted = replace(
        pack, facts=(replace(pack.facts[0], quote="the trail of the mule"),)
    )
    assert (await check_draft_sentences([sentence], quoted, parts)).citations == {}


class NoPassages:
    """A store without documents."""

    async def texts(self, _: object) -> dict[object, object]:
        """Return no text."""
        return {}
