"""The story told in lists: what happens, and what is left open."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lrwr.core.bible.telling import implied_by
from lrwr.core.bible.values import GapState
from lrwr.wording.cards import claim_lines, words_lines
from lrwr.wording.excerpts import excerpt
from lrwr.wording.lines import Line, Styled

if TYPE_CHECKING:
    from lrwr.core.bible.values import Gap, Moment


def moment_lines(moment: "Moment") -> Iterator[Line]:
    """Tell what happens, to whom, and the words that say so."""
    who = ", ".join(moment.characters)
    yield Line(
        (
            Styled(f"{moment.kind}  ", "faint"),
            excerpt(moment.text),
            Styled(f"  {who}" if who else "", "faint"),
        ),
        2,
        moment.evidence,
    )
    yield from words_lines([moment.evidence], besides=moment.text)


def gap_lines(gap: "Gap") -> Iterator[Line]:
    """Tell what the text leaves open, and what has become of it."""
    whose = f"{gap.about}: " if gap.about else ""
    yield Line(
        (
            Styled(gap.id, "place"),
            f"  {whose}{excerpt(gap.attribute)}",
            Styled(f"  {gap.state}{', asked by you' if gap.wondered else ''}", "faint"),
        )
    )
    if gap.answer:
        yield Line((f"you answered: {gap.answer}",), 6)
    if gap.state is GapState.CLOSED:
        yield Line(("the text says so now:",), 6)
        for claim in gap.defined:
            yield from claim_lines("", claim)
    else:
        yield from _hints(gap)


def _hints(gap: "Gap") -> Iterator[Line]:
    for text in implied_by(gap):
        yield Line((f"implied: {excerpt(text)}",), 6)
    for text in gap.suggestions:
        yield Line((f"perhaps: {excerpt(text)}",), 6)
    for claim in gap.implied:
        yield from words_lines(claim.evidence, besides=gap.attribute)
