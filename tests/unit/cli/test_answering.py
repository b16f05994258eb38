"""An answer is shown without the brackets of links, however its pieces are cut."""

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lrwr.app.presenters.answers import strip_links
from lrwr.cli.chat.live_answer import LiveAnswer
from lrwr.cli.runtime.output import Output
from lrwr.core.model.turns import AnswerSpeaker, AnswerToken

TOLD = "Nell lives at [[Half House]] with [[OchraMags|Mags]] [1][[2]]. A [ and [[ too"
SHOWN = "Nell lives at Half House with Mags [1][[2]]. A [ and [[ too"


def shown(*pieces: str) -> str:
    stdout = io.StringIO()
    live = LiveAnswer(Output(env={}, stdout=stdout, stderr=io.StringIO()), quiet=False)
    for piece in pieces:
        live.show(AnswerToken(piece, AnswerSpeaker.AVATAR))
    live.finish()
    return stdout.getvalue()


def test_of_a_link_its_label_is_shown_and_numbers_stay() -> None:
    assert strip_links(TOLD) == shown(TOLD) == SHOWN


@given(st.lists(st.integers(0, len(TOLD)), max_size=8).map(sorted))
def test_a_link_that_comes_in_pieces_is_shown_whole(cuts: list[int]) -> None:
    ends = [0, *cuts, len(TOLD)]
    pieces = [TOLD[start:end] for start, end in pairwise(ends)]
    assert shown(*pieces) == SHOWN


@given(st.text(alphabet="[]|a1 \n"))
def test_a_text_without_links_is_shown_as_it_is(text: str) -> None:
    if strip_links(text) == text:
        assert shown(*text) == text
