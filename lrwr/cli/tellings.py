"""The story told in lists: what happens, who says what, what is left open."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lrwr.cli.cards import show_lines
from lrwr.cli.stream import Styled
from lrwr.core.bible.telling import name_of_chapter, place_of
from lrwr.core.model.certainty import Certainty
from lrwr.wording.cleaning import one_line
from lrwr.wording.excerpts import excerpt
from lrwr.wording.tellings import gap_lines, moment_lines

if TYPE_CHECKING:
    from lrwr.cli.output import Output
    from lrwr.core.bible.values import Claim, Gap, Moment, Quote, SceneTold


def show_timeline(moments: "Sequence[Moment]", output: "Output") -> None:
    """Show what happens, chapter by chapter."""
    for chapter, told in groupby(moments, lambda one: name_of_chapter(one.evidence)):
        output.answer(Styled(chapter, "strong"))
        for one in told:
            show_lines(moment_lines(one), output)
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
        show_lines(gap_lines(gap), output)
