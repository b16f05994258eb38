from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.canon.model import Canon
from lrwr.core.model.documents import Chapter, DocumentId, DocumentOutline, DocumentType
from lrwr.core.model.text import Span
from lrwr.core.retrieval.locations import merge_document_order
from lrwr.core.retrieval.story import (
    StoryOrder,
    StoryOrderBuilder,
    build_story_order,
    reorder_documents,
)

ONE = (Chapter("", Span(0, 9), ()),)
PATHS = [DocumentId(f"{n}.md") for n in range(1, 8)]
chosen = st.lists(st.sampled_from(PATHS), unique=True)


def outline(
    path: str, kind: str = "scene", order: float | None = None
) -> DocumentOutline:
    return DocumentOutline(DocumentId(path), DocumentType(kind), path, 9, order, ONE)


def told(canon: Canon, *outlines: DocumentOutline, order: Sequence[str] = ()) -> str:
    return " ".join(build_story_order(outlines, order, canon).story)


def decided(*paths: str) -> Canon:
    return Canon(order=tuple(DocumentId(path) for path in paths))


def test_a_decided_order_outranks_front_matter_and_settings() -> None:
    outlines = [outline("a.md", order=1), outline("b.md", order=2), outline("c.md")]
    assert told(Canon(), *outlines) == "a.md b.md c.md"
    canon = decided("c.md", "b.md", "a.md")
    assert told(canon, *outlines, order=["a.md"]) == "c.md b.md a.md"


def test_what_is_not_named_stays_where_it_is() -> None:
    outlines = [outline(path) for path in PATHS[:4]]
    assert told(decided("3.md", "2.md"), *outlines) == "1.md 3.md 2.md 4.md"


def test_a_decided_type_outranks_what_the_document_says() -> None:
    types = {
        DocumentId("a.md"): DocumentType.CHARACTER,
        DocumentId("é.md"): DocumentType.SCENE,
    }
    outlines = [outline("a.md"), outline("e\u0301.md", "setting"), outline("z.md")]
    order: StoryOrder = build_story_order(outlines, (), Canon(types=types))
    assert order.story == ("e\u0301.md", "z.md")
    assert order.outlines[DocumentId("a.md")].type is DocumentType.CHARACTER
    assert order.numbers == {"e\u0301.md": (1,), "z.md": (2,)}


def test_a_decision_about_a_document_that_is_gone_changes_nothing() -> None:
    outlines = [outline("1.md"), outline("2.md")]
    canon = Canon({DocumentId("x.md"): DocumentType.SCENE}, (DocumentId("x.md"),))
    assert told(canon, *outlines) == "1.md 2.md"


def test_the_order_is_built_again_when_files_or_decisions_change() -> None:
    builder = StoryOrderBuilder(["9.md"])
    outlines = [outline(path) for path in PATHS[:3]]
    first = builder.build(outlines, Canon())
    assert builder.build(list(outlines), Canon()) is first
    steps = (
        (outlines, decided("3.md", "1.md"), "3.md 2.md 1.md"),
        ([*outlines, outline("9.md")], decided("3.md", "1.md"), "9.md 3.md 2.md 1.md"),
        ([*outlines, outline("9.md", order=4)], Canon(), "1.md 2.md 9.md 3.md"),
        (outlines, Canon(types={PATHS[1]: DocumentType.SETTING}), "1.md 3.md"),
        (outlines, Canon(), "1.md 2.md 3.md"),
    )
    for documents, canon, expected in steps:
        order = builder.build(documents, canon)
        assert " ".join(order.story) == expected
        assert order == build_story_order(documents, ["9.md"], canon)


@given(chosen, chosen)
def test_trading_places_loses_no_document(
    story: list[DocumentId], order: list[DocumentId]
) -> None:
    after = reorder_documents(story, order)
    assert sorted(after) == sorted(story)
    named = [document for document in after if document in order]
    assert named == [document for document in order if document in story]


@given(chosen, chosen)
def test_a_second_order_keeps_what_the_first_decided(
    first: list[DocumentId], second: list[DocumentId]
) -> None:
    present = reorder_documents(PATHS, first)
    both = merge_document_order(present, first, second)
    assert reorder_documents(PATHS, both) == reorder_documents(present, second)
    assert {*both} == {*first, *second}


def test_an_order_can_be_decided_before_anything_is_known() -> None:
    two, one, three = PATHS[1], PATHS[0], PATHS[2]
    assert merge_document_order([], [], [two, one]) == (two, one)
    assert merge_document_order([], [two, one], [three, two]) == (three, one, two)
