"""Whatever a manuscript, a model or the web says: it is shown as text, and all holds."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineRange, Span
from lrwr.core.model.turns import AnswerSpeaker, Citation, GapFlag, Turn, WebCitation
from tests.fakes.conversations import a_turn
from tests.fakes.desk_app import DeskApp, a_desk, settle
from tests.fakes.suite import examples

PIECES = (
    "[bold]x[/]",
    "[/]",
    "[@click=app.bell]x[/]",
    "[$",
    "[1]",
    "[w1] [99]",
    "[[Half House|the house]]",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://x.invalid\x07link\x1b]8;;\x07",
    "\x9b2J",
    "\x07\x08\x00\x7f",
    "\r\nnew\rline",
    "\tTab\t",
    "‮turned‬ ⁦isolated⁩",
    "שלום עולם",
    "مرحبا",
    "👩‍👩‍👧‍👦👍🏽🇦🇶",
    "e\u0301\u0327\u0301" * 5,
    "漢字" * 40,
    "a" * 5_000,
    " ".join(["word"] * 1_000),
    "\u200b\u200d\ufeff\u00ad",
    "\ufffd\ud7ff\U0010ffff",
    "| a | b |\n|---|---|\n| 1 |",
    "```\ncode [1]\n",
    "# Head\n\n> quote\n\n- one\n- two\n",
    "<script>x</script> &amp; &#27;[31m",
    "![picture](file:///etc/passwd) [link](javascript:alert)",
    "",
    "\n\n\n",
)

odd = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.text(
            alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30
        ),
    ),
    min_size=1,
    max_size=6,
).map("".join)


def told(text: str, *, model: str) -> Turn:
    cited = Citation(
        1, DocumentId(text[:60] or "a.md"), Span(0, 4), LineRange(1, 2), text, None
    )
    page = WebCitation(1, text, text[:200], text)
    gap = GapFlag(text[:40], text[:80], text[:40], text)
    turn = a_turn(text, text, citations=(cited,), gaps=(gap,))
    doubted = (Span(0, len(text) // 2), Span(len(text) // 3, len(text) + 9))
    said = replace(
        turn.output, model=model, web=(page,), unsupported=doubted, remarks=(text,)
    )
    return replace(turn, output=said)


def on_the_screen(app: DeskApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "".join(one.text for strip in strips for one in strip)


def is_harmless(shown: str) -> bool:
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return not any(
        unicodedata.category(one) == "Cc" or unicodedata.bidirectional(one) in bidi
        for one in shown
    )


@given(odd, st.sampled_from(["", "a-model"]))
@settings(
    max_examples=examples(6),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
async def test_odd_text_is_shown_as_text_at_any_width(text: str, model: str) -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show([told(text, model=model)])
        await settle(app, pilot)
        assert is_harmless(on_the_screen(app))
        for width in (250, 60):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert is_harmless(on_the_screen(app))
        app.desk.jump("1")
        await settle(app, pilot)
        assert is_harmless(on_the_screen(app))


@pytest.mark.parametrize("model", ["", "a-model"])
async def test_odd_text_comes_in_pieces_of_any_length(model: str) -> None:
    whole = " ".join(PIECES)
    async with a_desk() as (app, pilot):
        view = await app.desk.start_turn(whole)
        view.show_stage(whole)
        for start in range(0, len(whole), 17):
            piece = whole[start : start + 17]
            await view.write(
                piece, AnswerSpeaker.AVATAR, avatar=whole[:50], model=model
            )
        await view.fail(whole, whole)
        await settle(app, pilot)
        assert is_harmless(on_the_screen(app))


async def test_the_words_of_a_manuscript_are_no_markup() -> None:
    async with a_desk() as (app, pilot):
        await app.desk.show([told("Say [bold]x[/] and [red]y.", model="")])
        await settle(app, pilot)
        shown = on_the_screen(app)
        assert shown.count("[bold]x[/] and [red]y.") >= 3
