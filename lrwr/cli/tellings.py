"""The story told in lists: what happens, who says what, what is left open."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lrwr.cli.cards import excerpt, show_claim, show_words
from lrwr.cli.clean import one_line
from lrwr.cli.stream import Styled
from lrwr.core.bible.telling import implied_by, name_of_chapter, place_of
from lrwr.core.bible.values import GapState
from lrwr.core.model.certainty import Certainty

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.bible.values import Claim, Gap, Moment, Quote, SceneTold


def show_timeline(moments: "Sequence[Moment]", output: "Output") -> None:
    """Show what happens, chapter by chapter."""
    for chapter, told in groupby(moments, lambda one: name_of_chapter(one.evidence)):
        output.answer(Styled(chapter, "strong"))
        for one in told:
            who = ", ".join(one.characters)
            output.answer(
                Styled(f"{one.kind}  ", "faint"),
                excerpt(one.text),
                Styled(f"  {who}" if who else "", "faint"),
                indent=2,
            )
            show_words([one.evidence], output, besides=one.text)
        output.answer()


def show_quotes(quotes: "Sequence[Quote]", output: "Output") -> None:
    """Show what is said, whole."""
    for quote in quotes:
        known = quote.evidence.certainty is not Certainty.NOT_EVALUATED
        sure = f" ({quote.evidence.certainty})" if known else ""
        to = f" to {quote.addressee}" if quote.addressee else ""
        output.answer(
            Styled(one_line(place_of(quote.evidence)), "place"),
            Styled(f"  {quote.speaker or 'somebody'}{to}{sure}", "faint"),
        )
        output.answer(f"“{quote.evidence.text}”", indent=4)


def show_recap(scenes: "Sequence[SceneTold]", output: "Output") -> None:
    """Show every scene in short, chapter by chapter."""
    for (number, title), told in groupby(
        scenes, lambda one: (one.chapter, one.chapter_title)
    ):
        name = f"Chapter {number}" if number else "Before chapter 1"
        output.answer(Styled(f"{name}{f' “{title}”' if title else ''}", "strong"))
        for scene in told:
            _show_scene(scene, output)
        output.answer()


def _show_scene(scene: "SceneTold", output: "Output") -> None:
    first, last = scene.lines.first, scene.lines.last
    views = [_view(claim) for claim in scene.points_of_view]
    told = [f"scene {scene.scene}"]
    told += [f"seen by {', '.join(views)}"] if views else []
    told += [f"with {', '.join(scene.present)}"] if scene.present else []
    output.answer(
        Styled(f"{one_line(scene.document)}:{first}-{last}", "place"),
        Styled(f"  {'; '.join(told)}", "faint"),
        indent=2,
    )
    for claim in scene.recap:
        output.answer(claim.value, Styled(f"  {claim.certainty}", "faint"), indent=4)
    if not scene.recap:
        for sentence in scene.key_sentences:
            output.answer(f"“{excerpt(sentence.text)}”", indent=4)


def _view(claim: "Claim") -> str:
    return claim.value if claim.decided else f"{claim.value} ({claim.certainty})"


def show_gaps(gaps: "Sequence[Gap]", output: "Output") -> None:
    """Show what the text leaves open, and what has become of it."""
    for gap in gaps:
        whose = f"{gap.about}: " if gap.about else ""
        output.answer(
            Styled(gap.id, "place"),
            f"  {whose}{excerpt(gap.attribute)}",
            Styled(f"  {gap.state}{', asked by you' if gap.wondered else ''}", "faint"),
        )
        if gap.answer:
            output.answer(f"you answered: {gap.answer}", indent=6)
        if gap.state is GapState.CLOSED:
            output.answer("the text says so now:", indent=6)
            for claim in gap.defined:
                show_claim("", claim, output)
        else:
            _show_hints(gap, output)


def _show_hints(gap: "Gap", output: "Output") -> None:
    for text in implied_by(gap):
        output.answer(f"implied: {excerpt(text)}", indent=6)
    for text in gap.suggestions:
        output.answer(f"perhaps: {excerpt(text)}", indent=6)
    for claim in gap.implied:
        show_words(claim.evidence, output, besides=gap.attribute)
