import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.model.documents import (
    Document,
    DocumentId,
    DocumentOutline,
    DocumentType,
)
from lrwr.core.retrieval.story import StoryOrder, build_story_order, parse_horizon

EXAMPLES = Path(__file__).parents[2] / "examples"
ROOT = EXAMPLES / "marsh-lantern"
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("chapters", "notes")
    for path in (ROOT / folder).rglob("*.*")
)

Quote = tuple[str, str]
"""A file and words that it holds."""


@cache
def parsed(file: str) -> Document:
    return parse_document(DocumentId(file), (ROOT / file).read_bytes())


@cache
def features() -> dict[str, Any]:
    return tomllib.loads((EXAMPLES / "marsh-lantern.features.toml").read_text("utf-8"))


@cache
def questions(name: str = "questions") -> list[dict[str, Any]]:
    text = (EXAMPLES / f"marsh-lantern.{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def quotes_in(value: object) -> Iterator[Quote]:
    if isinstance(value, dict):
        if {"file", "quote"} <= value.keys():
            yield value["file"], value["quote"]
        for part in value.values():
            yield from quotes_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from quotes_in(part)


def order() -> StoryOrder:
    documents = [parsed(file) for file in FILES]
    return build_story_order(
        [
            DocumentOutline(d.id, d.type, d.title, d.words, d.order, d.chapters)
            for d in documents
        ],
        [],
    )


def misplaced(quotes: Iterator[Quote]) -> list[tuple[str, str, int]]:
    counted = [(f, q, parsed(f).text.count(q)) for f, q in quotes]
    assert counted
    return [quote for quote in counted if quote[2] != 1]


def test_every_quote_of_the_features_stands_once_in_its_file() -> None:
    assert misplaced(quotes_in(features())) == []


def test_every_quote_of_the_questions_stands_once_in_its_file() -> None:
    assert misplaced(quotes_in(questions())) == []


def test_the_questions_are_forty_answered_twenty_not_and_twenty_bounded() -> None:
    ids = [question["id"] for question in questions()]
    assert len(set(ids)) == len(ids)
    assert Counter(found[0] for found in ids) == {"a": 40, "u": 20, "t": 20}
    kinds = Counter(question["kind"] for question in questions())
    assert (kinds["unanswerable"], kinds["as-of"]) == (20, 20)
    for question in questions():
        assert bool(question.get("gold")) == (
            question["id"][0] == "a" or question.get("answerable", False)
        )


def test_the_second_half_asks_the_same_in_the_other_wording() -> None:
    first = {question["id"]: question for question in questions()}
    second = questions("wording")
    assert Counter(one["id"][0] for one in second) == {"n": 24, "e": 20}
    for one in second:
        other = first[("a" if one["id"][0] == "n" else "u") + one["id"][1:]]
        assert one | {"id": 0, "question": 0} == other | {"id": 0, "question": 0}
        assert one["question"] != other["question"]


def test_the_story_is_long_enough_and_in_order() -> None:
    story = order()
    assert [number for *_, number in story.iter_chapters()] == list(range(1, 11))
    assert story.last == features()["chapters"]
    assert sum(story.outlines[d].words for d in story.story) >= 12_000
    kinds = {parsed(file).type for file in FILES}
    assert kinds == set(DocumentType)
    assert all(parsed(file).warnings == () for file in FILES)


@pytest.mark.parametrize(
    "question",
    [q for q in questions() if q["kind"] == "as-of"],
    ids=lambda question: str(question["id"]),
)
def test_a_bounded_question_has_its_spoiler_beyond_and_its_answer_within(
    question: dict[str, Any],
) -> None:
    story = order()
    horizon = parse_horizon(question["as_of"], story)
    for file, _ in quotes_in(question["gold"]):
        number = story.chapter_number(DocumentId(file), 0)
        assert number is not None
        assert number <= horizon.chapter
    for file, _ in quotes_in(question.get("spoiler", [])):
        number = story.chapter_number(DocumentId(file), 0)
        assert number is None or number > horizon.chapter


def test_every_alias_is_said_in_the_text() -> None:
    prose = "\n".join(parsed(file).text for file in FILES)
    names = [name for alias in features()["alias"] for name in alias["names"]]
    assert [name for name in names if name not in prose] == []


def test_comments_in_word_files_are_notes() -> None:
    for comment in features()["word_comment"]:
        document = parsed(comment["file"])
        notes = [document.text[note.start : note.end] for note in document.notes]
        assert any(comment["text"] in note for note in notes)


def test_scene_breaks_break_scenes() -> None:
    for found in features()["scene_break"]:
        document = parsed(found["file"])
        (chapter,) = document.chapters
        assert len(chapter.scenes) > 1
        for scene in chapter.scenes:
            for part in scene.parts:
                lines = document.text[part.start : part.end].split("\n")
                assert found["line"] not in lines
