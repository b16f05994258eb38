"""What an answer without a language model says of itself."""

import pytest

from tests.fakes.terminal import Terminal

ONE = """# One

“Mind the lamp,” said Nell, “or the boats will find no harbour tonight.”

Nell's eyes were blue. Nell was a baker.
"""
TWO = "# Two\n\nNell's eyes were green. Mags mended the sail.\n"


def read_book(empty: Terminal) -> Terminal:
    for name, text in (("1.md", ONE), ("2.md", TWO)):
        (empty.folder / name).write_text(text, encoding="utf-8")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    return empty


def test_a_line_of_dialogue_with_a_tag_in_it_has_one_number(empty: Terminal) -> None:
    shown = read_book(empty).run("ask", "What does Nell say?", "--json").json
    (line, *_) = [c for c in shown["citations"] if "lamp" in c["text"]]
    assert line["text"].startswith("Mind the lamp,” said Nell, “or the boats")
    assert "[1][2]" not in shown["answer"]


def test_a_chapter_that_does_not_exist_is_told(empty: Terminal) -> None:
    words = ("ask", "What happens in chapter 45?")
    assert "The story has no chapter 45; its last chapter is 2." in (
        read_book(empty).run(*words).out
    )
    assert empty.run(*words, "--json").json["warned"] is True
    assert "no chapter" not in empty.run("ask", "What happens in chapter 2?").out


def test_facts_that_contradict_each_other_are_told_first(empty: Terminal) -> None:
    words = ("ask", "What colour are Nell's eyes?")
    shown = read_book(empty).run(*words, "--json").json
    assert shown["answer"].startswith("The text contradicts itself on Nell, eyes: ")
    assert "blue" in shown["answer"]
    assert "green" in shown["answer"]
    assert shown["warned"] is True


@pytest.mark.parametrize(
    ("sentence", "contradicts"),
    [
        ("Orla's eyes were green.", True),
        ("Tam said that Orla's eyes were green.", False),
        ("People said Orla's eyes were green.", False),
        ("As if Orla's eyes were green, the light was strange.", False),
        ("In the portrait Orla's eyes were green.", False),
        ("Orla's eyes were green once.", False),
    ],
)
def test_an_answer_names_a_contradiction_exactly_if_the_check_does(
    empty: Terminal, sentence: str, contradicts: bool
) -> None:
    first = "# One\n\nOrla came in. Orla's eyes were blue. “Yes,” said Orla.\n"
    (empty.folder / "1.md").write_text(first, encoding="utf-8")
    second = f"# Two\n\nOrla came in.\n\n{sentence}\n\n“No,” said Orla.\n"
    (empty.folder / "2.md").write_text(second, encoding="utf-8")
    assert empty.run("ingest", "1.md", "2.md").code == 0
    found = empty.run("check", "--json").json
    answer = empty.run("ask", "What colour are Orla's eyes?").out
    assert bool(found) == contradicts
    assert answer.startswith("The text contradicts itself") == contradicts


def test_a_stored_fact_answers_a_question_for_its_attribute(empty: Terminal) -> None:
    asked = read_book(empty).run("ask", "What is Nell's occupation?").out
    assert asked.startswith("Nell, occupation: baker")


def test_the_colour_of_eyes_does_not_say_who_somebody_is(empty: Terminal) -> None:
    text = "# One\n\nOrla's eyes were blue. Orla sat down. “Yes,” said Orla.\n"
    (empty.folder / "1.md").write_text(text, encoding="utf-8")
    assert empty.run("ingest", "1.md").code == 0
    answer = empty.run("ask", "Who is Orla?").out
    assert "clearly says who the person is" in answer
    assert "Closest passages" in answer
    assert empty.run("ask", "What colour are Orla's eyes?").out.startswith("Orla, eyes")
