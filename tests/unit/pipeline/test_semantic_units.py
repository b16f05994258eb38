import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.pipeline.stages.semantic_splitter import ChunkLimits, plan_cuts
from lrwr.pipeline.stages.units import UnitBond
from tests.fakes.embedder import count_words
from tests.unit.pipeline.told import document_of

NARRATION = "The marsh lay grey and flat. The bell was still. No bird was on it." * 2
SPEECH = f"“I came by the wall,” said Corin Vale. “{NARRATION} {NARRATION}”"


def bonds(*paragraphs: str, between: str = "\n\n") -> list[str]:
    """What stands before each unit, where no paragraph is cut."""
    document = document_of([[[between.join(paragraphs)]]])
    planned = plan_cuts(
        document, find_sentence_spans, count_words, ChunkLimits(900, 900)
    )
    return [unit.bond.value for unit in planned.regions[0].units]


def is_quick(paragraph: str) -> bool:
    return bonds("“Who is there?”", paragraph)[1] == UnitBond.EXCHANGE


@pytest.mark.parametrize(
    "paragraph",
    [
        "“Only me.”",
        '"Only me."',
        "‘Only me,’ he said.",
        "'Only me,' he said.",
        "*“Only me.”*",
        "— Only me, said the frog.",
        "«Only me», said the frog.",
        "„Only me“, said the frog.",
        "Mrs. Gannet said, “Only me.”",
        'He sat. "Only me," he said.',
        "“Only me, and the rope, and",
    ],
)
def test_dialogue_is_told_in_whatever_way_it_is_quoted(paragraph: str) -> None:
    assert is_quick(paragraph)


@pytest.mark.parametrize(
    "paragraph",
    [
        "It was only me.",
        "’Twas late, and the wardens’ lamp was out.",
        "'Tis late, and the lamp is out.",
        "The ship was the “Lantern”.",
        "Nobody's lamp - not even Nell's - was lit.",
    ],
)
def test_words_in_quotation_marks_and_apostrophes_are_no_dialogue(
    paragraph: str,
) -> None:
    assert not is_quick(paragraph)


def test_an_exchange_goes_on_over_one_short_beat_but_not_over_two_nor_a_long_one() -> (
    None
):
    one = bonds("“A?”", "“B.”", "He laughed.", "“C.”")
    assert one == ["none", "exchange", "exchange", "exchange"]
    two = bonds("“A?”", "“B.”", "He laughed.", "So did she.", "“C.”")
    assert two == ["none", "exchange", "paragraph", "paragraph", "paragraph"]
    long = bonds("“A?”", "“B.”", NARRATION, "“C.”")
    assert long == ["none", "exchange", "paragraph", "paragraph"]


def test_a_long_speech_is_a_reply_and_no_quick_turn() -> None:
    told = bonds("“A?”", SPEECH, "“B.”", NARRATION)
    assert told == ["none", "reply", "reply", "paragraph"]


def test_lines_are_paragraphs_where_they_end_with_a_sentence_and_not_where_wrapped() -> (
    None
):
    told = ["“Who is it?” he said.", "“Only me,” she said.", "He sat. She did not."]
    assert bonds(*told, between="\n") == ["none", "exchange", "paragraph"]
    wrapped = "The marsh lay\ngrey and\nflat.\nThe bell\nwas still."
    assert bonds(wrapped) == ["none"]


def test_a_long_paragraph_is_cut_into_sentences_and_a_short_one_is_not() -> None:
    document = document_of([[[f"{NARRATION} {NARRATION}\n\nA short one. It ends."]]])
    planned = plan_cuts(document, find_sentence_spans, count_words, ChunkLimits(9, 60))
    last, units = planned.regions[0].units[-1], planned.regions[0].units
    assert (last.bond, last.end - last.first) == (UnitBond.PARAGRAPH, 2)
    assert {unit.bond for unit in units[1:-1]} == {UnitBond.SENTENCE}
