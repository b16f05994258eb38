"""Answers to questions that the writer decided with `lrwr gaps`."""

import pytest

from lrwr.core.bible.values import Gap, GapState
from lrwr.core.canon.model import UndefinedAttribute
from lrwr.core.chat.context.gap_finder import select_decided_gaps
from tests.fakes.terminal import Terminal

BOOK = """# One

Nell Tallow walked the strake at dusk and lit the lamp. Orla watched her go.

TODO which ship did Orla command at Thole?

“You are late,” said Nell Tallow. “I know,” said Orla. Nell looked at the water.

TODO: does Nell ever ride?

“Go home,” said Orla to Nell. Orla commanded a barge in the spring, and sold it.

TODO: who saved Orla?

“Come,” said Nell Tallow, and took the lamp. Nell Tallow laughed. “No,” said Nell.

TODO Orla's middle name
"""


@pytest.fixture
def decided(empty: Terminal) -> Terminal:
    (empty.folder / "1.md").write_text(BOOK, encoding="utf-8")
    assert empty.run("ingest", "1.md").code == 0
    gaps = {gap["attribute"]: gap["id"] for gap in empty.run("gaps", "--json").json}
    ship, ride, saved, middle = (
        next(id_ for text, id_ in gaps.items() if word in text)
        for word in ("ship", "ride", "saved", "middle")
    )
    assert empty.run("gaps", "answer", ship, "the Temeraire").code == 0
    assert empty.run("gaps", "answer", ride, "never").code == 0
    assert empty.run("gaps", "answer", middle, "Ada").code == 0
    assert empty.run("gaps", "dismiss", saved).code == 0
    assert empty.run("ingest", "1.md").code == 0
    return empty


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which ship did Orla command at Thole?", "You decided: the Temeraire ("),
        ("What ship did Orla command at Thole?", "You decided: the Temeraire ("),
        ("Does Nell ride?", "You decided: never ("),
        ("Does Nell Tallow ever ride?", "You decided: never ("),
        ("What is Orla's middle name?", "You decided: Ada ("),
        ("What is the middle name of Orla?", "You decided: Ada ("),
        ("Who saved Orla?", "You left this open on purpose ("),
    ],
)
def test_a_decided_question_is_answered_by_the_decision(
    decided: Terminal, question: str, answer: str
) -> None:
    shown = decided.run("ask", question, "--json").json
    assert shown["answer"].startswith(answer)
    assert "lrwr.canon.toml; the open question: “" in shown["answer"]
    assert [c["text"].startswith("TODO") for c in shown["citations"]] == [True]
    assert shown["warned"] is False


@pytest.mark.parametrize(
    "question",
    [
        "Which ship did Nell command at Thole?",
        "Which ship did Orla command at Ness?",
        "Does Orla ever ride?",
        "Where does Nell ride?",
        "Who did Orla save?",
        "Who saved Nell?",
        "What is Nell's middle name?",
        "Where does Orla's middle name come from?",
    ],
)
def test_a_decision_answers_no_other_question(decided: Terminal, question: str) -> None:
    answer = decided.run("ask", question).out
    assert "You decided" not in answer
    assert "on purpose" not in answer


def test_a_decision_is_among_the_facts_of_the_prompt(decided: Terminal) -> None:
    asked = "Which ship did Orla command at Thole?"
    shown = decided.run(
        "ask",
        asked,
        "--show-prompt",
        LRWR_MODEL_USE="local",
        LRWR_MODEL_NAME="model",
        LRWR_MODEL_BASE_URL="http://127.0.0.1:9/v1",
    )
    assert "the Temeraire" in shown.out


@pytest.mark.parametrize(
    ("attribute", "question", "is_same"),
    [
        ("age", "How old is Nell?", True),
        ("age", "How old is Orla?", False),
        ("favourite colour", "What is Nell's favourite colour?", True),
        ("opinion of Orla", "What is Nell's opinion of Orla?", True),
        ("opinion of Orla", "What is Orla's opinion of Nell?", False),
        ("TODO does she love Orla?", "Does Orla love Nell?", False),
        ("TODO where did she sleep?", "Where did Nell sleep?", True),
        ("TODO who hurt her?", "Who hurt Nell?", True),
        ("TODO who hurt her?", "Who did Nell hurt?", False),
        ("TODO did Nell leave?", "Did Nell not leave?", False),
        ("???", "Who is Nell?", False),
        ("TODO", "Who is Nell?", False),
    ],
)
def test_only_the_same_attribute_of_the_same_person_is_the_same_question(
    attribute: str, question: str, is_same: bool
) -> None:
    asked = UndefinedAttribute("Nell", attribute)
    gap = Gap("bdfk", asked, "Nell", attribute, GapState.ANSWERED, answer="yes")
    cast = (("Nell", "Nell Tallow"), ("Orla",))
    assert bool([*select_decided_gaps(question, [gap], cast)]) == is_same
