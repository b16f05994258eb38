"""The check of the sentences of a draft against their evidence."""

from collections.abc import Sequence
from typing import cast

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.batch_judge import BatchJudgeResult
from lrwr.core.evidence.checker import DraftChecker
from lrwr.core.evidence.comparison import DetailDifference, DetailKind
from lrwr.core.evidence.drafts import DraftSentence
from lrwr.core.evidence.judge import (
    ClaimJudge,
    ClaimJudgement,
    EvidenceClaim,
    Verdict,
)
from lrwr.core.evidence.pack import EvidenceFact, EvidencePack
from lrwr.core.evidence.results import CheckedStatement, CheckedStory, StatementResult
from lrwr.core.evidence.revision import SentenceCheckParts, check_draft_sentences
from lrwr.core.evidence.sources import EvidenceSource
from lrwr.core.evidence.statements import DraftStatement
from lrwr.core.model.choices import Pipeline
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
