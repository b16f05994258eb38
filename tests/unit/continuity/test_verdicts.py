"""What a model claims of a pair is reported with two quotes, or not at all."""

from dataclasses import replace

import pytest

from lrwr.core.bible.projection import StoryKnowledge
from lrwr.core.canon.model import Canon, IntendedContradiction
from lrwr.core.continuity.contradictions import find_contradictions
from lrwr.core.continuity.judge import PairJudgement
from lrwr.core.continuity.pair_selection import find_statement_pairs
from lrwr.core.continuity.verdicts import (
    DropReason,
    VerifiedJudgements,
    verify_judgements,
)
from tests.unit.continuity.readers import TWO, read

KEEPER = "- **Occupation:** lock-keeper, at Ness Lock"
TEXT = "It blew. Nell Tallow, a cooper, came in with Mags. “I am a weaver,” said Nell."
RIGHT = PairJudgement(True, "lock-keeper", "a cooper", "two trades")


def told(one: PairJudgement, text: str = TEXT) -> VerifiedJudgements:
    knowledge = read(two=text, note=KEEPER)
    return verify_judgements(
        [(p, one) for p in find_statement_pairs(knowledge)], knowledge, "a-model"
    )


def test_two_quotes_that_stand_there_make_a_contradiction_with_its_places() -> None:
    knowledge = read(two=TEXT, note=KEEPER)
    said = verify_judgements(
        [(p, RIGHT) for p in find_statement_pairs(knowledge)], knowledge, "a-model"
    )
    (one,) = said.found
    assert (one.about, one.attribute) == ("Nell Tallow", "occupation")
    assert (one.canon.value, one.found.value) == ("lock-keeper", "a cooper")
    assert (one.judge, one.why) == ("a-model", "two trades")
    (place,) = one.found.evidence
    assert place.document == TWO
    assert place.text.startswith("Nell Tallow, a cooper")
    assert (said.agreed, said.dropped, said.judged) == (0, {}, 1)


@pytest.mark.parametrize(
    ("canon", "text", "why"),
    [
        ("lock-keeper", "a weaver by trade", DropReason.NOT_THERE),
        ("the lock-keeper", "a cooper", DropReason.NOT_THERE),
        ("a cooper", "lock-keeper", DropReason.NOT_THERE),
        ("", "", DropReason.NOT_THERE),
        ("lock-keeper", "It blew", DropReason.BESIDE),
        ("lock-keeper", "Nell Tallow", DropReason.BESIDE),
        ("lock-keeper", "a", DropReason.BESIDE),
    ],
)
def test_a_quote_that_is_not_there_or_not_on_the_pair_is_silence(
    canon: str, text: str, why: DropReason
) -> None:
    said = told(PairJudgement(True, canon, text, "so it is"))
    assert (said.found, said.dropped) == ((), {why: 1})


def test_what_somebody_says_is_never_reported() -> None:
    text = "Nell Tallow, a cooper, came in: “I am a weaver,” she said."
    said = told(PairJudgement(True, "lock-keeper", "I am a weaver", "two trades"), text)
    assert (said.found, said.dropped) == ((), {DropReason.SAID: 1})


def test_a_pair_that_does_not_contradict_is_counted_and_not_shown() -> None:
    said = told(PairJudgement(False, "lock-keeper", "a cooper"))
    assert (said.found, said.agreed, said.judged) == ((), 1, 1)


def test_what_is_marked_as_intended_stays_so() -> None:
    knowledge = read(two=TEXT, note=KEEPER)
    judged = [(p, RIGHT) for p in find_statement_pairs(knowledge)]
    (one,) = verify_judgements(judged, knowledge, "a-model").found
    meant = IntendedContradiction(
        one.about, one.attribute, one.canon.value, one.found.value
    )
    marked = replace(knowledge, canon=Canon(intentional={meant: "a disguise"}))
    (again,) = verify_judgements(judged, marked, "a-model").found
    assert (again.intended, again.because, again.id) == (True, "a disguise", one.id)


def both(knowledge: StoryKnowledge) -> VerifiedJudgements:
    judged = [(p, RIGHT) for p in find_statement_pairs(knowledge)]
    return verify_judgements(
        judged, knowledge, "a-model", find_contradictions(knowledge)
    )


def test_what_rules_report_is_not_reported_twice() -> None:
    described = "She has grey eyes and keeps the lock of the mill, a tall lock."
    text = "Nell’s green eyes looked past the lock and the mill."
    knowledge = read(two=text, note=described)
    (pair,) = find_statement_pairs(knowledge)
    claim = PairJudgement(True, "grey eyes", "green eyes", "colours")
    assert len(verify_judgements([(pair, claim)], knowledge, "a-model").found) == 1
    ruled = find_contradictions(knowledge)
    assert len(ruled) == 1
    assert verify_judgements([(pair, claim)], knowledge, "a-model", ruled).found == ()
    assert both(read(two=TEXT, note=KEEPER)).found
