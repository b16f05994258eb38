"""`lrwr ask --book` with a language model: steps within what has been read, an answer with
citations, and questions that continue after a crash.
"""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.hosted_server import Hang
from tests.fakes.model_server import MODEL, Asked, ModelServer, Refuse, Say
from tests.fakes.read_books import BY_WORDS
from tests.fakes.terminal import Ran, Terminal, check_refusal
from tests.unit.source.epub_files import build_epub

LAMPS = [f"<p>Nell counted {n} lamps on the Strake.</p>" for n in range(1, 20)]
BODIES = {
    "one": "<h1>Chapter 1. Ebb</h1>" + "".join(LAMPS),
    "two": "<h1>Chapter 2. The Betrayal</h1><p>Hob betrayed Nell for silver.</p>"
    "<p>“You sold me,” said Nell. “I did,” said Hob Tarn. Hob Tarn laughed.</p>",
}
NAV = "".join(
    f'<li><a href="{name}.xhtml">{title}</a></li>'
    for name, title in (("one", "Chapter 1. Ebb"), ("two", "Chapter 2. The Betrayal"))
)
SPOILERS = ("etray", "silver", "Hob")
ASK = ("ask", "--book", "lanterns", "How many lamps does Nell count?")


def step(name: str, *phrasings: str, chapter: int = 0) -> Say:
    value = {"step": name, "phrasings": phrasings, "chapter": chapter, "part": 0}
    return Say(json.dumps(value))


def run(terminal: Terminal, *words: str) -> Ran:
    ran = terminal.run(*words)
    assert ran.code == 0, ran.err
    return ran


def sent(server: ModelServer) -> str:
    return "\n".join(text for asked in server.asked for text in asked.texts)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(key="") as opened:
        yield opened


@pytest.fixture
def reader(empty: Terminal, server: ModelServer, tmp_path: Path) -> Terminal:
    """Somebody with a model, who has read 11 of 19 paragraphs on lamps."""
    (empty.folder / "lanterns.epub").write_bytes(build_epub(BODIES, nav=NAV))
    assert empty.run("read", "lanterns.epub").code == 0
    return Terminal(
        empty.folder,
        home=tmp_path / "home",
        LRWR_MODEL_USE="local",
        LRWR_MODEL_NAME=MODEL,
        LRWR_MODEL_BASE_URL=server.base_url,
        **BY_WORDS,
    )


def test_the_answer_cites_what_the_steps_returned(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(
        step("search", "Nell counted lamps", "lamps on the Strake"),
        step("answer"),
        Say("She counts 3 lamps at one time: “Nell counted 3 lamps” [1]."),
    )
    answer = run(reader, *ASK, "--json").json
    assert [s["step"] for s in answer["steps"]] == ["search"]
    assert "“Nell counted lamps | lamps on the Strake”" in answer["steps"][0]["text"]
    assert answer["model"] == MODEL
    (citation,) = answer["citations"]
    assert "Nell counted 3 lamps" in citation["text"]
    assert [asked.shape for asked in server.asked] == ["ReadingStep"] * 2 + [""]


def test_steps_are_shown_on_stderr_if_the_answer_goes_elsewhere(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(step("current_page"), step("answer"), Say("She counts lamps [1]."))
    ran = run(reader, *ASK)
    assert "Reading your page …" in ran.err
    assert "Reading your page" not in ran.out


def test_every_tool_is_bounded_by_the_position(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(
        step("book_info"),
        step("table_of_contents"),
        step("search", "Hob betrayed Nell for silver", "lamps"),
        step("read_chapter", chapter=1),
        step("read_chapter", chapter=2),
        step("current_page"),
        step("answer"),
        Say("What has been read does not tell it."),
    )
    ran = run(reader, "ask", "--book", "lanterns", "What comes at the end?")
    assert "Reading chapter 1 …" in ran.err
    assert "Looking for chapter 2 in what you have read …" in ran.err
    prompts = sent(server)
    assert "title: Lanterns" in prompts
    assert "chapter 1: " in prompts
    assert "counted 11 lamps" in prompts
    assert "What has been read has no chapter 2" in prompts
    assert "counted 12 lamps" not in prompts
    searched = prompts.replace("Hob betrayed Nell for silver", "")
    assert not any(word in searched for word in SPOILERS)


def test_the_model_learns_which_paragraphs_each_part_of_a_long_chapter_has(
    reader: Terminal, server: ModelServer
) -> None:
    lamp = f"<p>Nell counted {'very ' * 200}many lamps.</p>"
    body = {"one": f"<h1>Chapter 1. Ebb</h1>{15 * lamp}"}
    nav = '<li><a href="one.xhtml">Chapter 1. Ebb</a></li>'
    book = build_epub(body, title="Dark Mole", nav=nav)
    (reader.folder / "mole.epub").write_bytes(book)
    run(reader, "read", "mole.epub")
    run(reader, "read", "mole.epub", "--next")
    server.will(
        step("table_of_contents"), step("read_chapter", chapter=1), step("answer"),
        Say("The text so far does not say it."),
    )  # fmt: skip
    run(reader, "ask", "--book", "mole", "How many lamps are there?")
    parts = "part 1 is paragraphs 1 to 12, part 2 is paragraphs 13 to 16"
    assert f"(from paragraph 1: {parts})" in server.asked[-1].texts[1]
    assert f"Part 1 of 2 of chapter 1, as far as read: {parts}" in sent(server)


def test_a_step_is_shown_only_with_words_of_what_has_been_read(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(
        step("search", "Hob betrayed Nell for silver", "Nell counts lamps"),
        step("search", "the lamps on the Strake drown"),
        step("answer"),
        Say("What has been read does not tell it."),
    )
    answer = run(reader, *ASK, "--json").json
    assert [s["text"] for s in answer["steps"]] == [
        "Searching what you have read for “Nell counts lamps”",
        "Searching what you have read",
    ]
    assert "no name and no event from after" in " ".join(
        server.asked[0].texts[0].split()
    )


def test_a_step_shows_words_only_that_stand_together_or_in_the_question(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(
        step("search", "3 lamps and 5 lamps", "how many lamps Nell counts"),
        step("search", "Nell counted 5 lamps"),
        step("answer"),
        Say("What has been read does not tell it."),
    )
    answer = run(reader, *ASK, "--json").json
    assert [s["text"] for s in answer["steps"]] == [
        "Searching what you have read for “how many lamps Nell counts”",
        "Searching what you have read for “Nell counted 5 lamps”",
    ]


def test_with_whole_everything_may_be_read(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(step("read_chapter", chapter=2), step("answer"), Say("Hob did [2]."))
    ran = run(reader, "ask", "--book", "lanterns", "Who betrayed Nell?", "--whole")
    assert "Hob did" in ran.out
    assert "after your position" in ran.err
    assert "Hob betrayed Nell for silver." in sent(server)


def test_a_passage_is_read_with_its_surroundings_before_the_first_step(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(step("answer"), Say("She counts lamps [1]."))
    words = ("--passage", "nell counted 8 LAMPS", "--json")
    answer = run(reader, *ASK, *words).json
    prompt = server.asked[0].texts[1]
    assert "Nell counted 8 lamps" in prompt.partition("passage in question")[2]
    assert "counted 1 lamps" in prompt
    assert "counted 11 lamps" in prompt
    assert "counted 12 lamps" not in prompt
    assert answer["citations"]
    check_refusal(
        reader.run(*ASK, "--passage", "Hob betrayed"),
        ExitCode.NOT_FOUND,
        "not in what you have read",
    )


@pytest.mark.parametrize(
    "answer",
    [
        "{} will take her lamps.",
        "The text so far mentions neither {} nor a thief.",
        "A thief, {}, counted the lamps.",
    ],
)
@pytest.mark.parametrize("question", ["Is it {}?", "Who took the lamps?"])
def test_a_name_from_after_the_position_is_treated_as_an_invented_one(
    reader: Terminal, server: ModelServer, question: str, answer: str
) -> None:
    """Nobody learns from a remark which names come later."""
    outputs = []
    for name in ("Hob Tarn", "Ada Pike"):
        server.will(step("answer"), Say(answer.format(name)))
        ran = run(
            reader, "ask", "--book", "lanterns", question.format(name), "--json"
        ).json
        notes = ran["remarks"] + [f["message"] for f in ran["findings"]]
        outputs.append("\n".join(notes).replace(name, "NAME"))
    assert outputs[0] == outputs[1]
    assert ("NAME" in outputs[0]) == ("neither" not in answer)


def test_a_chapter_after_the_last_is_not_told_from_one_after_the_position(
    reader: Terminal, server: ModelServer
) -> None:
    for number in (2, 9):
        server.will(step("answer"), Say("The text so far does not say it."))
        question = f"What happens in chapter {number}?"
        answer = run(reader, "ask", "--book", "lanterns", question, "--json").json
        assert answer["remarks"] == []


def test_what_is_stated_without_a_citation_or_with_none_that_exists_is_reported(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(
        step("current_page"),
        step("answer"),
        Say("The lamps that Nell counts are stolen goods. She weds a sailor [99]."),
    )
    ran = run(reader, *ASK)
    assert "Without a supporting citation: “The lamps that Nell" in ran.out
    assert "Without a supporting citation: “She weds a sailor" in ran.out
    assert "There is no passage [99]: the number was removed." in ran.out
    assert "weds a sailor.\n" in ran.out


def test_a_claim_without_a_citation_needs_more_than_words_of_what_is_cited(
    reader: Terminal, server: ModelServer
) -> None:
    claim = "The lamps on the Strake are smugglers in disguise."
    refusal = "The text so far does not say who lit the lamps on the Strake."
    server.will(
        step("current_page"), step("answer"), Say(f"She counts lamps [1]. {claim}")
    )
    (finding,) = run(reader, *ASK, "--json").json["findings"]
    assert claim in finding["message"]
    server.will(step("answer"), Say(f"She counts lamps [1]. {refusal}"))
    ran = run(reader, *ASK, "--passage", "counted 5 lamps", "--json").json
    assert ran["findings"] == ran["remarks"] == []


def test_an_invented_quotation_is_reported_as_such(
    reader: Terminal, server: ModelServer
) -> None:
    quotation = "“a hidden treasure lies beneath every chapel floor”"
    server.will(
        step("current_page"), step("answer"), Say(f"Nell says it: {quotation} [1].")
    )
    (finding,) = run(reader, *ASK, "--json").json["findings"]
    assert finding["words"] == []
    assert finding["message"].startswith("Not verbatim in the passages")
    assert quotation.strip("“”") in finding["message"]


def test_a_conversation_continues_and_its_first_answer_is_in_the_prompt(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(step("answer"), Say("Eleven, all in all."))
    run(reader, *ASK)
    server.will(step("answer"), Say("On the Strake."))
    run(reader, "ask", "--book", "lanterns", "--thread", "1", "And where?")
    assert "You: Eleven, all in all." in server.asked[-1].texts[1]


def test_a_question_that_was_stopped_before_its_answer_is_not_in_the_next_prompt(
    reader: Terminal, server: ModelServer
) -> None:
    server.answering(lambda _: Hang())
    process = reader.start(*ASK)
    while not server.asked:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait()
    server.answering(lambda _: step("answer"))
    run(reader, "ask", "--book", "lanterns", "--thread", "1", "And where?")
    assert "The reader's question: And where?" in server.asked[-1].texts[1]
    assert "Reader: How many" not in server.asked[-1].texts[1]


def test_the_first_prompt_can_be_seen_and_nothing_is_sent(
    reader: Terminal, server: ModelServer
) -> None:
    prompts = run(reader, *ASK, "--show-prompt", "--json").json
    assert "table_of_contents" in prompts[0]["messages"][0]["text"]
    place = "Lanterns, Chapter 1. Ebb: paragraph 12 of 23"
    assert place in prompts[0]["messages"][1]["text"]
    assert server.asked == []


def test_a_question_continues_if_the_model_failed(
    reader: Terminal, server: ModelServer
) -> None:
    server.will(step("current_page"), Refuse(400))
    check_refusal_after_steps = reader.run(*ASK)
    assert check_refusal_after_steps.code == ExitCode.SERVICE
    assert "Ask the same question again" in check_refusal_after_steps.err
    server.will(step("answer"), Say("Eleven [1]."))
    ran = run(reader, *ASK, "--json").json
    assert "Continuing after step 1" in ran["steps"][0]["text"]
    assert "counted 11 lamps" in server.asked[-1].texts[1]
    server.will(step("answer"), Say("Eleven."))
    assert run(reader, *ASK, "--json").json["steps"] == []


def test_a_killed_question_continues_after_its_last_step(
    reader: Terminal, server: ModelServer
) -> None:
    def hang_after_a_step(asked: Asked) -> Say | Hang:
        taken = "Step 2" in asked.texts[1], "Step 1" in asked.texts[1]
        if taken[0]:
            return Hang()
        return step("book_info") if taken[1] else step("current_page")

    server.answering(hang_after_a_step)
    process = reader.start(*ASK)
    while len(server.asked) < 3:
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    server.answering(lambda _: step("answer"))
    ran = run(reader, *ASK, "--json").json
    assert "Continuing after step 2" in ran["steps"][0]["text"]
    third = server.asked[-2].texts[1]
    assert "counted 11 lamps" in third
    assert "title: Lanterns" in third


def test_a_character_of_a_book_answers_as_in_a_manuscript(
    reader: Terminal, server: ModelServer
) -> None:
    run(reader, *ASK, "--character", "Nell")
    assert "ReadingStep" not in [asked.shape for asked in server.asked]
