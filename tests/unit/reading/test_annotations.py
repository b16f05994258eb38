"""Annotations keep their words, and are found again by them in another edition."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.app.presenters.books import export_csv, export_markdown
from lrwr.core.adapters.source.epub import read_epub
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.errors import UnreadableDocument
from lrwr.core.model.text import Span
from lrwr.core.reading.annotations import (
    Annotation,
    HighlightColor,
    carry_annotations,
    create_annotation,
    export_readest,
    export_w3c,
    find_quote,
    import_annotations,
    import_w3c,
    place_annotations,
)
from tests.unit.source.epub_files import build_epub

SAMPLE = Path(__file__).parents[3] / "examples" / "marsh-lantern" / "chapters"
BOOK = read_epub(build_epub(), "book.epub")
TEXT = BOOK.layout.text
AT = 1_700_000_000.0


def mark(text: str, span: Span, note: str = "") -> Annotation:
    return create_annotation(text, BOOK.outline, span, color="green", note=note, now=AT)


def words(quote: str) -> Span:
    start = TEXT.index(quote)
    return Span(start, start + len(quote))


def test_an_annotation_has_the_words_around_it_and_the_cfi_of_its_paragraph() -> None:
    annotation = mark(TEXT, words("lit the lamp"))
    assert annotation.quote == "lit the lamp"
    assert annotation.before.endswith("Nell ")
    assert annotation.cfi == "/6/2!/4/4"


def test_annotations_survive_w3c_unchanged() -> None:
    annotations = [
        mark(TEXT, words("lit the lamp"), note="Really?"),
        mark(TEXT, words("“late”")),
    ]
    exported = export_w3c(annotations, BOOK.outline, AT)
    assert exported["type"] == "AnnotationSet"
    assert exported["about"]["dc:title"] == "Lanterns"
    assert [item["motivation"] for item in exported["items"]] == [
        "commenting",
        "highlighting",
    ]
    assert import_w3c(exported, "a.json") == annotations


def test_an_exported_annotation_names_the_file_in_the_package() -> None:
    exported = export_w3c([mark(TEXT, words("lit the lamp"))], BOOK.outline, AT)
    assert exported["items"][0]["target"]["source"] == "OPS/one.xhtml"


def test_annotations_survive_readest_but_for_what_it_has_no_place_for() -> None:
    annotations = [
        replace(mark(TEXT, words("lit the lamp"), note="Really?"), color=color)
        for color in HighlightColor
    ]
    exported = export_readest(annotations, BOOK.outline)
    assert exported["booknotes"][0]["cfi"] == "epubcfi(/6/2!/4/4)"
    known = [replace(a, before="", after="") for a in annotations]
    assert list(import_annotations(exported, "a.json").annotations) == known
    assert import_annotations(exported["booknotes"], "a.json").annotations == tuple(
        known
    )


def test_deleted_notes_and_bookmarks_of_readest_are_left_out() -> None:
    notes = [
        {"cfi": "epubcfi(/6/2)", "type": "bookmark", "note": ""},
        {"cfi": "epubcfi(/6/2)", "text": "the lamp", "deletedAt": 5},
        {"cfi": "epubcfi(/6/2)", "text": "the lamp", "color": "violet", "note": "x"},
    ]
    (annotation,) = import_annotations({"booknotes": notes}, "a.json").annotations
    assert (annotation.quote, annotation.color) == ("the lamp", "pink")
    assert import_annotations({"booknotes": []}, "a.json").annotations == ()


def test_annotations_are_carried_to_an_edition_or_listed_as_lost() -> None:
    kept, gone = mark(TEXT, words("lit the lamp"), "Why?"), mark(TEXT, words("Mags"))
    other = read_epub(
        build_epub({"new": "<p>New.</p><p>Then Nell  lit the lamp again.</p>"}),
        "b.epub",
    )
    result = carry_annotations([kept, gone], other.layout.text, other.outline)
    (carried,) = result.carried
    assert (carried.id, carried.note, carried.color) == (kept.id, "Why?", "green")
    assert (carried.cfi, carried.after.strip()[:5]) == ("/6/2!/4/4", "again")
    assert result.lost == (gone,)


def test_foreign_annotations_are_read_as_far_as_they_have_words() -> None:
    items = [
        {"target": {"selector": {"type": "TextQuoteSelector", "exact": "the lamp"}}},
        {"target": {"selector": {"type": "FragmentSelector", "value": "x"}}},
        {"target": "https://a.example"},
        "nothing",
    ]
    assert [a.quote for a in import_w3c(items, "a.json")] == ["the lamp"]


@pytest.mark.parametrize("value", [3, "x", {"items": 4}, None])
def test_what_is_no_list_of_annotations_is_refused(value: object) -> None:
    with pytest.raises(UnreadableDocument, match=r"a\.json has no annotations"):
        import_w3c(value, "a.json")


def test_words_that_stand_twice_are_told_apart_by_what_is_around_them() -> None:
    text = "The lamp was lit. A door shut. The lamp was out."
    assert len(find_quote(text, "The lamp was")) == 2
    (span,) = find_quote(text, "The lamp was", before="A door shut. ")
    assert span.start == text.rindex("The lamp")


def test_typography_may_differ() -> None:
    text = 'She said: "No -- it\'s *late* now..."'
    for quote in ("“No — it’s late now…”", "said: “No – it’s"):
        assert len(find_quote(text, quote)) == 1


def straighten(text: str) -> str:
    text = re.sub("[“”]", '"', re.sub("[‘’]", "'", text))
    return text.replace("—", "--").replace("…", "...")


def reflow(text: str) -> str:
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).replace(". ", ".\n")


def revise(text: str) -> str:
    """Drop every tenth sentence and add a new one before every seventh."""
    parts, end = [], 0
    for number, span in enumerate(find_sentence_spans(text)):
        if number % 10 != 9:
            new = " Rain fell again. " if number % 7 == 6 else ""
            parts += [text[end : span.start], new, text[span.start : span.end]]
        end = span.end
    return "".join(parts)


@pytest.mark.parametrize("edition", [straighten, reflow, revise])
def test_annotations_are_found_in_another_edition_and_none_wrongly(
    edition: Callable[[str], str],
) -> None:
    text = "\n\n".join(
        path.read_text(encoding="utf-8") for path in sorted(SAMPLE.glob("*.md"))
    )
    spans = [s for s in find_sentence_spans(text) if len(s) > 15]
    chosen = random.Random(26).sample(spans, 200)
    later = edition(text)
    placed = place_annotations([mark(text, span) for span in chosen], later)
    plain = straighten(" ".join(later.split()))
    kept = [
        item
        for item in placed
        if straighten(" ".join(item.annotation.quote.split())) in plain
    ]
    found = [item for item in kept if item.span]
    assert len(found) >= 0.95 * len(kept)
    assert len(kept) >= 0.85 * len(chosen)
    for item in placed:
        if item.span:
            there = later[item.span.start : item.span.end]
            assert straighten(" ".join(there.split())) == straighten(
                " ".join(item.annotation.quote.split())
            )
    assert all(item in kept for item in placed if item.span)


def test_exports_name_the_place_and_guard_against_formulas() -> None:
    annotation = Annotation("urn:1", "=1+1", note="A *note*", author="Bea")
    placed = place_annotations([annotation], "what =1+1 is")
    assert "'=1+1" in export_csv(placed, ["paragraph 1"], BOOK.outline)
    page = export_markdown(placed, ["paragraph 1"], BOOK.outline)
    assert "> =1+1" in page
    assert "(paragraph 1, yellow, Bea)" in page
