"""Whether an answer begins by saying that the text does not tell."""

import pytest

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.attribution.answer_sentences import states_silence


@pytest.mark.parametrize(
    "answer",
    [
        "The text is silent on her surname.",
        "The text does not say which bell it was.",
        "The text is silent on the bell: he says only that he “heard a bell” [2].",
        "The story never names the bell; Nell hears “a bell” [2].",
    ],
)
def test_silence_is_noticed(answer: str) -> None:
    assert states_silence(answer, find_sentence_spans)


@pytest.mark.parametrize(
    "answer",
    [
        "It was the third bell [2].",
        "“The book does not say,” Mags told her: she was “thirteen” [2].",
        "Nell [1]: the text does not say more.",
        "The text does not call her Nell [1].",
        "It was the third bell: the text says so twice [1].",
    ],
)
def test_an_answer_is_not_silence(answer: str) -> None:
    assert not states_silence(answer, find_sentence_spans)
