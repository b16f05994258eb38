"""Replies that write or revise a draft: used as a whole, or not at all."""

import json
from dataclasses import replace

import pytest

from lrwr.core.drafting.findings import DraftFinding, FindingKind
from lrwr.core.drafting.prompts import (
    DraftIssue,
    PromptName,
    PromptTexts,
    check_prompt,
    get_default_prompt,
    list_prompt_names,
    parse_prose,
    parse_revision,
)
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.language_model import MalformedReply

DRAFT = "# Bell\n\nNell rang it twice. Hob heard it.\n\nHob heard nothing.\n"
ISSUES = [DraftIssue("contradiction: bell"), DraftIssue("card: Hob")]


def edit(finding: object, find: object, replace: object) -> dict[str, object]:
    return {"finding": finding, "find": find, "replace": replace}


def revise(*edits: dict[str, object], **more: object) -> str:
    reply = json.dumps({"edits": edits, "refused": [], **more})
    return parse_revision(reply, DRAFT, ISSUES).text


def test_edits_match_once_and_are_applied_together() -> None:
    text = revise(edit(2, "nothing", "all of it"), edit(1, "rang it twice", "rang it"))
    assert text == ("# Bell\n\nNell rang it. Hob heard it.\n\nHob heard all of it.\n")


def test_an_edit_matches_the_draft_not_the_result_of_another() -> None:
    text = revise(edit(1, "twice", "nothing"), edit(2, "nothing.", "it all."))
    assert "rang it nothing" in text
    assert "heard it all." in text


def test_an_issue_names_a_place_in_the_draft_as_such() -> None:
    kind, draft = FindingKind.REPETITION, "chapters/3.md"
    within = DraftFinding(kind, "repeated", place=f"{draft}:31")
    elsewhere = replace(within, place="chapters/2.md:4")
    assert DraftIssue.of(within, draft).others == ("See the draft, line 31",)
    assert DraftIssue.of(elsewhere, draft).others == ("See chapters/2.md:4",)


def test_what_is_refused_has_its_reason() -> None:
    refused = [{"finding": 2, "why": "He is\nthere."}]
    reply = json.dumps({"edits": [], "refused": refused})
    revision = parse_revision(reply, DRAFT, ISSUES)
    assert revision.text == DRAFT
    assert [(r.finding, r.why) for r in revision.refused] == [(2, "He is there.")]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (edit(1, "not in it", "x"), "“not in it” stands not in the draft"),
        (edit(1, "heard", "x"), "“heard” stands 2 times"),
        (edit(9, "twice", "x"), "there is no finding 9"),
        (edit(0, "twice", "x"), "there is no finding 0"),
        (edit(True, "twice", "x"), "an edit is not"),
        (edit(1, "", "x"), "`find` is empty"),
        (edit(1, " ", "x"), "`find` is empty"),
        (edit(1, "twice", "twice"), "changes nothing"),
        (edit(1, "twice", "# Heading"), "`replace` has a heading"),
        (edit(1, "it twice. Hob", "x"), "overlaps another"),
        (edit(1, "x" * 1_001, "x"), "is longer than"),
        (edit(1, "twice", 2), "an edit is not"),
        ({"finding": 1, "find": "twice"}, "an edit is not"),
    ],
)
def test_a_bad_edit_is_named_and_none_is_used(
    bad: dict[str, object], problem: str
) -> None:
    sound = edit(2, "Nell rang it", "Nell struck it")
    with pytest.raises(MalformedReply, match=problem):
        revise(sound, bad)


@pytest.mark.parametrize(
    "reply", ["no JSON", "{}", '{"edits": []}', '{"edits": 1, "refused": []}']
)
def test_another_shape_is_no_revision(reply: str) -> None:
    with pytest.raises(MalformedReply):
        parse_revision(reply, DRAFT, ISSUES)


def test_prose_has_an_empty_line_between_its_paragraphs() -> None:
    reply = json.dumps({"paragraphs": [" Nell came. ", "", "“Hob?”\x07\r\nNo."]})
    assert parse_prose(reply) == "Nell came.\n\n“Hob?”\nNo."


@pytest.mark.parametrize(
    "reply",
    [
        "no JSON",
        '{"paragraphs": []}',
        '{"paragraphs": ["…", "* * *"]}',
        '{"paragraphs": [3]}',
        '{"paragraphs": ["# Chapter"]}',
        '{"paragraphs": ["```"]}',
        '{"text": "Nell came in."}',
        '{"paragraphs": ["Nell came"',
    ],
)
def test_what_is_no_prose_is_malformed(reply: str) -> None:
    with pytest.raises(MalformedReply):
        parse_prose(reply)


@pytest.mark.parametrize("prompt", PromptName)
def test_each_prompt_has_only_its_names(prompt: PromptName) -> None:
    text = get_default_prompt(prompt)
    check_prompt(prompt, text, "write.md")
    values = dict.fromkeys(list_prompt_names(prompt), "VALUE")
    assert "$" not in PromptTexts().render(prompt, **values)
    assert "VALUE" in PromptTexts().render(prompt, **values)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("Write $lenght.", "`$lenght`", "The names allowed are `$length`."),
        ("It costs 5$.", "without a name", "`$$`"),
        (" \n", "is empty", "prompts reset write"),
    ],
)
def test_a_prompt_that_cannot_be_used_says_why(
    text: str, problem: str, hint: str
) -> None:
    with pytest.raises(SettingsProblem) as refused:
        check_prompt(PromptName.WRITE, text, "drafts/prompts/write.md")
    assert problem in str(refused.value)
    assert hint in refused.value.hint
