"""What was found in an excerpt is the same wherever the excerpt stands."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.text import Span
from lrwr.core.ports.models import ExcerptFinding
from lrwr.pipeline.analysis import finding_from_json, finding_to_json

START = 1000

spans = st.tuples(st.integers(START, 9000), st.integers(0, 500)).map(
    lambda pair: Span(pair[0], pair[0] + pair[1])
)
facts = st.builds(
    Fact,
    about=st.sampled_from(FactAbout),
    subject=st.text(max_size=9),
    field=st.text(max_size=9),
    value=st.text(max_size=30),
    spans=st.lists(spans, max_size=3).map(tuple),
    keeper=st.text(max_size=9),
    certainty=st.sampled_from(Certainty),
    details=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5))).map(tuple),
    reach=st.just(0) | st.integers(START + 1, 9000),
)
findings = st.lists(facts, max_size=4).map(lambda told: ExcerptFinding(tuple(told)))


def moved(finding: ExcerptFinding, by: int) -> ExcerptFinding:
    return ExcerptFinding(
        tuple(
            replace(
                fact,
                spans=tuple(Span(s.start + by, s.end + by) for s in fact.spans),
                reach=fact.reach + by if fact.reach else 0,
            )
            for fact in finding.facts
        )
    )


@given(findings)
def test_a_finding_comes_back_as_it_was(finding: ExcerptFinding) -> None:
    assert finding_from_json(finding_to_json(finding, START), START) == finding


@given(findings, st.integers(0, 5000))
def test_a_finding_goes_with_its_excerpt(finding: ExcerptFinding, start: int) -> None:
    kept = finding_to_json(finding, START)
    assert finding_from_json(kept, start) == moved(finding, start - START)
    assert finding_to_json(moved(finding, start - START), start) == kept
