import json
import re
import sys
from pathlib import Path

import pytest

from lrwr.core.model.errors import ExitCode
from tests.fakes.terminal import Terminal, check_refusal

PASSAGE = {
    "text",
    "file",
    "type",
    "kind",
    "chapter",
    "chapter_title",
    "scene",
    "lines",
    "chars",
    "score",
}
FACT = {
    "about",
    "subject",
    "field",
    "value",
    "details",
    "certainty",
    "filled_by",
    "file",
    "chars",
    "lines",
}


def chapter_of(file: str) -> int:
    return int(Path(file).name[:2])


def text_at(terminal: Terminal, file: str, chars: list[int]) -> str:
    content = (terminal.folder / file).read_text(encoding="utf-8")
    return content[chars[0] : chars[1]]


def test_a_search_shows_passages_with_file_and_lines(marsh: Terminal) -> None:
    ran = marsh.run("search", "the lantern burned all night", "-k", "3")
    assert (ran.code, ran.err) == (0, "")
    text, _, notes = ran.out.partition("\nNotes:")
    heads = [line for line in text.split("\n") if line[:3].strip().isdigit()]
    assert len(heads) == 3
    assert "notes/" in notes
    assert all(".md:" in head or ".docx:" in head for head in heads)


def test_a_search_as_json_has_the_documented_keys(marsh: Terminal) -> None:
    ran = marsh.run("search", "Which colour are Nell's eyes?", "--json", "-k", "4")
    assert ran.code == 0
    assert set(ran.json) == {
        "question",
        "as_of",
        "chapters",
        "passages",
        "total",
        "total_matches",
        "confidence",
        "low_confidence",
        "warned",
        "unknown_words",
        "similar_names",
        "missing_phrases",
        "notes_phrases",
        "elsewhere",
        "found_elsewhere",
        "facts",
        "remarks",
    }
    files = [passage["file"] for passage in ran.json["passages"]]
    assert len([file for file in files if not file.startswith("notes/")]) == 4
    for passage in ran.json["passages"]:
        assert set(passage) == PASSAGE
    assert ran.json["facts"]
    for fact in ran.json["facts"]:
        assert set(fact) == FACT


def test_what_is_known_besides_stands_where_it_is_said(marsh: Terminal) -> None:
    facts = marsh.run("search", "Which colour are Nell's eyes?", "--json").json["facts"]
    eyes = next(fact for fact in facts if ["attribute", "eyes"] in fact["details"])
    (chars,) = eyes["chars"]
    assert eyes["value"] in text_at(marsh, eyes["file"], chars)
    bounded = ("search", "Which colour are Nell's eyes?", "--as-of", "ch1", "--json")
    assert all(chapter_of(f["file"]) == 1 for f in marsh.run(*bounded).json["facts"])


def test_a_batch_is_answered_line_by_line_with_exact_spans(
    marsh: Terminal, tmp_path: Path
) -> None:
    questions = [
        {"id": "1", "question": "Who keeps the ledger?"},
        {"id": 2, "question": "What does PurpleFrog say about the marsh lantern?"},
        {"id": "3", "question": "Who did it?", "as_of": "ch3"},
        {"id": "4", "question": "What happened at Gull Post?", "asof_chapter": 2},
        {"id": "5", "question": "A line\u2028with a separator"},
    ]
    file = tmp_path / "questions.jsonl"
    lines = [json.dumps(question, ensure_ascii=False) for question in questions]
    file.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    ran = marsh.run("search", "--batch", str(file), "-k", "6")
    assert (ran.code, ran.err) == (0, "")
    answers = [json.loads(line) for line in ran.out.split("\n") if line]
    assert [answer["id"] for answer in answers] == ["1", 2, "3", "4", "5"]
    spans = 0
    for answer in answers:
        for passage in answer["ranked"]:
            assert set(passage) == PASSAGE
            if passage["file"].endswith(".md"):
                spans += 1
                told = text_at(marsh, passage["file"], passage["chars"])
                assert told == passage["text"]
    assert spans > 10
    for answer, last in ((answers[2], 3), (answers[3], 2)):
        assert answer["ranked"]
        assert all(chapter_of(p["file"]) <= last for p in answer["ranked"])


@pytest.mark.parametrize("flag", ["--dense", "--lexical"])
def test_no_way_of_searching_goes_past_the_horizon(marsh: Terminal, flag: str) -> None:
    ran = marsh.run(
        *("search", "Who was on Gull Post?", "--as-of", "ch4:s2", flag),
        *("--json", "-k", "100", "--no-rerank"),
    )
    passages = ran.json["passages"]
    assert passages
    for passage in passages:
        assert (passage["type"], passage["chapter"] <= 4) == ("scene", True)
        assert passage["chapter"] < 4 or passage["scene"] <= 2


def test_an_answer_quotes_the_text_word_for_word(marsh: Terminal) -> None:
    ran = marsh.run("ask", "Who is OchraMags?", "--json", "--as-of", "ch5")
    assert ran.code == 0
    assert {"question", "as_of", "model", "answer", "citations"} <= set(ran.json)
    assert {"thread", "state", "intent", "gaps", "remarks"} <= set(ran.json)
    assert (ran.json["model"], ran.json["as_of"]) == (None, "ch5")
    assert ran.json["citations"]
    for quote in ran.json["citations"]:
        assert chapter_of(quote["file"]) <= 5
        assert f"[{quote['number']}]" in ran.json["answer"]
        if quote["file"].endswith(".md"):
            assert text_at(marsh, quote["file"], quote["chars"]) == quote["text"]


def test_a_character_answers_in_their_own_words(marsh: Terminal) -> None:
    asked = ("ask", "What of the ledger?", "--character", "Mags", "--json")
    ran = marsh.run(*asked, "--mode", "in_character")
    assert ran.code == 0
    said = {
        quote["text"]
        for quote in marsh.run("quotes", "--speaker", "Mags", "--json").json
    }
    assert ran.json["character"] == "OchraMags"
    assert ran.json["citations"]
    for quote in ran.json["citations"]:
        # One citation has the whole line: words between quotations belong to it.
        pieces = [piece.strip() for piece in re.split('["“”]', quote["text"])]
        assert any(piece and piece in line for piece in pieces for line in said)


def test_a_conversation_goes_on_and_is_listed(marsh: Terminal) -> None:
    first = marsh.run("ask", "Who is TinToby?", "--json")
    then = marsh.run("ask", "What does he do?", "--thread", first.json["thread"])
    assert (first.code, then.code) == (0, 0)
    threads = marsh.run("threads", "--json").json
    (thread,) = [one for one in threads if one["id"] == first.json["thread"]]
    assert (thread["title"], thread["turns"]) == ("TinToby", 2)


def test_a_question_may_come_from_a_pipe_or_be_refused(marsh: Terminal) -> None:
    check_refusal(marsh.run("ask", "Why?", "--stdin"), ExitCode.SETTINGS, "--stdin")
    check_refusal(marsh.run("ask", " "), ExitCode.SETTINGS, "lrwr ask")
    ran = marsh.run("ask", "Why?", "--mode", "aloud")
    check_refusal(ran, ExitCode.SETTINGS, "analytical")
    ran = marsh.run("ask", "Why?", "--mode", "in-character")
    check_refusal(ran, ExitCode.NOT_FOUND, "--character")


def test_a_search_with_filters_says_why_it_has_no_confidence(marsh: Terminal) -> None:
    ran = marsh.run("search", "Who keeps the ledger?", "--content-type", "dialogue")
    assert ran.out.endswith("Confidence: not computed for searches with filters.\n")


def test_search_shows_the_types_of_things_in_plain_words(marsh: Terminal) -> None:
    ran = marsh.run("search", "Which setting is the Ledger House?")
    assert "  the Ledger House: a setting  chapters/01" in ran.out
    ran = marsh.run("search", "Did I check these times?")
    (question,) = (line for line in ran.out.splitlines() if "Open question" in line)
    assert question.startswith("  Open question: Check these times")
    assert question.endswith("  chapters/04-six-strokes.docx:10")


def test_without_a_model_nothing_would_be_sent(marsh: Terminal) -> None:
    before = marsh.run("threads", "--json").json
    ran = marsh.run("ask", "Who is Nell?", "--show-prompt")
    assert "nothing would be sent" in ran.out
    assert "set `use` and `name` under `[model]`" in ran.err
    assert marsh.run("ask", "Who is Nell?", "--show-prompt", "--json").json == []
    assert marsh.run("threads", "--json").json == before


def test_an_answer_in_words_names_file_and_line(marsh: Terminal) -> None:
    ran = marsh.run("ask", "When did BrineHob bring the oil?")
    assert ran.code == 0
    assert "Hob" in ran.out
    assert ".md:" in ran.out or ".docx:" in ran.out


def test_what_the_text_does_not_name_is_said_to_be_missing(marsh: Terminal) -> None:
    ran = marsh.run("ask", "What did Esmeralda Vanderbilt wear?")
    assert ran.code == 0
    assert "Not found in the text" in ran.out
    assert "does not mention this" in ran.out


def test_the_state_of_the_library_is_told(marsh: Terminal) -> None:
    ran = marsh.run("status", "--json")
    assert ran.code == 0
    told = ran.json
    assert (told["chapters"], told["changed"], told["gone"]) == (10, 0, 0)
    assert told["chunks"] == told["embedded"] > 50
    assert told["words"] > 12_000
    assert "up to date" in marsh.run("status").out


def test_jobs_are_listed(marsh: Terminal) -> None:
    ran = marsh.run("jobs", "--json", "-n", "5")
    assert ran.code == 0
    assert [job["state"] for job in ran.json] == ["complete"] * 5
    assert marsh.run("jobs", "--state", "failed").out == "No jobs.\n"


def test_a_second_ingestion_costs_nothing(marsh: Terminal) -> None:
    again = marsh.run("ingest", "--json").json
    assert (again["processed"], again["embedded"], again["forgotten"]) == (0, 0, 0)
    assert again["unchanged"] == again["documents"] > 20


NO_NETWORK = """
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit("the network was asked")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
from lrwr.cli.main import run
sys.argv = ["lrwr", "ask", "Who keeps the lantern?"]
run()
"""


def test_no_key_and_no_network_are_needed(marsh: Terminal) -> None:
    marsh.run("ask", "Who keeps the lantern?")  # the first answer has advice
    ran = marsh.command([sys.executable, "-c", NO_NETWORK])
    again = marsh.run("ask", "Who keeps the lantern?")
    assert (ran.out, ran.code) == (again.out, 0)
