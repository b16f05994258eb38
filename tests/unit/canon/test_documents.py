from collections.abc import Sequence
from pathlib import Path

import pytest

from lrwr.core.canon.decision import (
    DocumentMoved,
    DocumentTypeSet,
    PointOfViewSet,
    StoryOrderSet,
)
from lrwr.core.canon.model import Canon, ManuscriptLocation
from lrwr.core.canon.reducer import apply_decision, list_decided_documents
from lrwr.core.canon.resolver import (
    OrphanedDecisions,
    find_orphaned_decisions,
    resolve_decided_document,
    resolve_document,
)
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import NotFound

MILL, INN = DocumentId("notes/mill.md"), DocumentId("places/inn.md")
KNOWN = [DocumentId(f"chapters/0{n}-{w}.md") for n, w in enumerate(["fog", "line"])]


def named(
    text: str,
    root: Path,
    here: str = ".",
    known: Sequence[DocumentId] | None = None,
) -> str:
    documents = KNOWN if known is None else known
    return resolve_document(
        text, document_ids=documents, root=root, working_directory=root / here
    )


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("chapters/00-fog.md", "."),
        ("./chapters/00-fog.md", "."),
        ("chapters\\00-fog.md", "."),
        ("00-fog.md", "chapters"),
        ("../chapters/00-fog.md", "notes"),
        ("chapters/00-fog.md", "notes"),
        ("00-fog.md", "."),
    ],
)
def test_a_document_is_known_by_its_path_or_by_the_end_of_it(
    tmp_path: Path, text: str, here: str
) -> None:
    assert named(text, tmp_path, here) == KNOWN[0]


def test_a_file_that_was_not_ingested_yet_will_do(tmp_path: Path) -> None:
    (tmp_path / "new.md").touch()
    assert named("new.md", tmp_path) == "new.md"


@pytest.mark.parametrize("text", ["chapters/00-fgo.md", "Fog.md", "00-fog"])
def test_a_mistyped_name_is_answered_with_the_nearest(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(NotFound) as caught:
        named(text, tmp_path)
    assert "chapters/00-fog.md" in caught.value.hint


@pytest.mark.parametrize("text", ["chapters/07.md", "ch7", "Chapter 7.md"])
def test_a_number_is_answered_with_the_document_of_that_number(
    tmp_path: Path, text: str
) -> None:
    paths = ["chapters/06-fog.md", "chapters/07-third-bell.docx", "chapters/08-eel.md"]
    with pytest.raises(NotFound) as caught:
        named(text, tmp_path, known=tuple(map(DocumentId, paths)))
    assert caught.value.hint == "Did you mean chapters/07-third-bell.docx?"


def test_a_name_that_is_like_nothing_gets_another_hint(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        named("xyzzy", tmp_path, known=())
    assert "lrwr ingest" in caught.value.hint


def test_a_name_that_two_documents_share_is_asked_about(tmp_path: Path) -> None:
    two = [DocumentId("a/fog.md"), DocumentId("b/fog.md")]
    with pytest.raises(NotFound, match="More than one") as caught:
        resolve_document(
            "fog.md", document_ids=two, root=tmp_path, working_directory=tmp_path
        )
    assert "a/fog.md or b/fog.md" in caught.value.hint


def canon_about(document: DocumentId) -> Canon:
    canon = apply_decision(Canon(), DocumentTypeSet(document, DocumentType.SCENE))
    canon = apply_decision(canon, StoryOrderSet((document, INN)))
    place = ManuscriptLocation(document, "ch1", 2)
    return apply_decision(canon, PointOfViewSet(place, "Nell"))


def test_a_move_carries_everything_that_was_decided() -> None:
    new = DocumentId("places/mill.md")
    assert apply_decision(canon_about(MILL), DocumentMoved(MILL, new)) == canon_about(
        new
    )


def test_a_move_onto_a_document_with_decisions_keeps_those() -> None:
    canon = apply_decision(
        canon_about(MILL), DocumentTypeSet(INN, DocumentType.SETTING)
    )
    moved = apply_decision(canon, DocumentMoved(MILL, INN))
    assert moved.types == {INN: DocumentType.SETTING}
    assert moved.order == (INN,)
    assert list(moved.points_of_view) == [ManuscriptLocation(INN, "ch1", 2)]


def test_decisions_about_documents_that_are_gone_are_kept_and_listed() -> None:
    canon, new = canon_about(MILL), DocumentId("places/mill.md")
    words = ("type", "order", "point of view")
    assert list_decided_documents(canon)[MILL] == words
    lost = find_orphaned_decisions(
        canon, document_ids=[new, INN], is_there=lambda one: one == INN
    )
    assert lost == (OrphanedDecisions(MILL, words, new),)


def test_only_a_document_with_decisions_can_be_moved() -> None:
    assert resolve_decided_document(canon_about(MILL), "./notes/mill.md") == MILL
    with pytest.raises(NotFound, match="There is no decision") as caught:
        resolve_decided_document(canon_about(MILL), "notes/mil.md")
    assert "notes/mill.md" in caught.value.hint
