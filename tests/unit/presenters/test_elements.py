"""How an element of the world is shown."""

from lrwr.app.presenters.story import render_element
from lrwr.core.bible.values import BibleClaim, TextEvidence, WorldElement
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import RULES_KEEPER, Certainty
from lrwr.core.model.text import LineRange, Span


def quotation(start: int) -> TextEvidence:
    return TextEvidence(
        document=DocumentId("1.md"),
        spans=(Span(start, start + 6),),
        text="Ferris",
        lines=LineRange(start, start),
        chapter=1,
        chapter_title="",
        scene=1,
        keeper=RULES_KEEPER,
        certainty=Certainty.VERIFIED,
    )


def shown(mentions: int) -> str:
    claim = BibleClaim(
        "setting", (quotation(1), quotation(9)), Certainty.VERIFIED, "type"
    )
    element = WorldElement("Ferris", (claim,), (), (), Certainty.VERIFIED, mentions)
    return "\n".join(
        "".join(str(piece) for piece in line.pieces) for line in render_element(element)
    )


def test_mentions_that_are_not_quoted_are_counted() -> None:
    assert "mentions: 5, 3 more than are quoted here" in shown(5)


def test_if_all_mentions_are_quoted_only_their_number_is_shown() -> None:
    assert "mentions: 2" in shown(2)
    assert "more than" not in shown(2)
