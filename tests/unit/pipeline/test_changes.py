import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.sources import ManuscriptFile
from lrwr.core.ports.stores import DocumentVersion
from lrwr.pipeline.changes import DocumentChanges, detect_changes, match_renames

A, B, C = DocumentId("a.md"), DocumentId("b.md"), DocumentId("c.md")

ids = st.sampled_from([DocumentId(f"{letter}.md") for letter in "abcdef"])
revisions = st.sampled_from(["r1", "r2"])
recipes = st.sampled_from(["old", "new"])


def was(
    document: DocumentId, revision: str = "r1", recipe: str = "new"
) -> DocumentVersion:
    return DocumentVersion(document, revision, f"content of {document}", recipe)


def everywhere(document: DocumentId) -> bool:
    return True


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        ([], [], DocumentChanges((), (), (), ())),
        ([], [ManuscriptFile(A, "r1")], DocumentChanges((A,), (), (), ())),
        ([was(A)], [ManuscriptFile(A, "r1")], DocumentChanges((), (), (), (A,))),
        ([was(A)], [ManuscriptFile(A, "r2")], DocumentChanges((A,), (), (), ())),
        (
            [was(A, recipe="old")],
            [ManuscriptFile(A, "r1")],
            DocumentChanges((), (A,), (), ()),
        ),
        (
            [was(A, recipe="old")],
            [ManuscriptFile(A, "r2")],
            DocumentChanges((A,), (), (), ()),
        ),
        ([was(A)], [], DocumentChanges((), (), (A,), ())),
        ([was(B), was(A)], [], DocumentChanges((), (), (A, B), ())),
    ],
)
def test_a_document_is_changed_stale_gone_or_unchanged(
    before: list[DocumentVersion], now: list[ManuscriptFile], changes: DocumentChanges
) -> None:
    assert detect_changes(before, now, recipes=["new"], covers=everywhere) == changes


def test_what_lies_elsewhere_is_not_gone() -> None:
    def covers(document: DocumentId) -> bool:
        return document == A

    found = detect_changes([was(A), was(B)], [], recipes=["new"], covers=covers)
    assert found.gone == (A,)


def test_what_never_was_a_file_here_is_not_gone_unless_that_is_wanted() -> None:
    before = [was(B, revision=""), was(A)]
    found = detect_changes(before, [], recipes=["new"], covers=everywhere)
    assert (found.gone, found.never_here) == ((A,), (B,))
    asked = detect_changes(
        before, [], recipes=["new"], covers=everywhere, missing_too=True
    )
    assert (asked.gone, asked.never_here) == ((A, B), ())


def test_to_verify_is_to_distrust_every_revision() -> None:
    now = [ManuscriptFile(A, "r1"), ManuscriptFile(B, "r1")]
    before = [was(A), was(B, recipe="old")]
    found = detect_changes(before, now, recipes=["new"], covers=everywhere, verify=True)
    assert found == DocumentChanges((A, B), (), (), ())


@given(
    st.dictionaries(ids, st.tuples(revisions, recipes)),
    st.dictionaries(ids, revisions),
    st.booleans(),
)
def test_every_document_is_in_one_place_and_each_place_is_sorted(
    before: dict[DocumentId, tuple[str, str]],
    now: dict[DocumentId, str],
    verify: bool,
) -> None:
    found = detect_changes(
        [was(document, *rest) for document, rest in before.items()],
        [ManuscriptFile(document, revision) for document, revision in now.items()],
        recipes=["new"],
        covers=everywhere,
        verify=verify,
    )
    places = [found.changed, found.stale, found.gone, found.unchanged]
    named = [document for place in places for document in place]
    assert sorted(named) == sorted(before.keys() | now.keys())
    assert all(list(place) == sorted(place) for place in places)
    assert set(found.gone) == before.keys() - now.keys()
    if not verify:
        assert set(found.unchanged) == {
            document
            for document in now
            if before.get(document) == (now[document], "new")
        }


def test_a_new_document_that_says_what_a_gone_one_said_is_renamed() -> None:
    seen = [was(A), was(B)]
    assert match_renames([A], seen, {C: f"content of {A}"}) == {C: A}
    assert match_renames([A], seen, {C: "something new"}) == {}
    assert match_renames([], seen, {C: f"content of {A}"}) == {}
    assert match_renames([A], seen, {C: f"content of {B}"}) == {}


@given(
    st.dictionaries(ids, st.sampled_from("xyz"), max_size=6),
    st.dictionaries(ids.map(lambda d: DocumentId(f"new/{d}")), st.sampled_from("xyz")),
)
def test_a_rename_matches_equal_contents_and_each_document_once(
    gone: dict[DocumentId, str], arrived: dict[DocumentId, str]
) -> None:
    seen = [
        DocumentVersion(document, "r", content, "n")
        for document, content in gone.items()
    ]
    matched = match_renames(sorted(gone), seen, arrived)
    assert len(set(matched.values())) == len(matched)
    for new, old in matched.items():
        assert arrived[new] == gone[old]
    left_new = [arrived[document] for document in arrived.keys() - matched.keys()]
    left_old = [gone[document] for document in gone.keys() - set(matched.values())]
    assert not set(left_new) & set(left_old)
