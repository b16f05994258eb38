"""The splitter that edits are compared with."""

from collections.abc import Sequence

from bench.greedy import Greedy


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_paragraphs_are_packed_until_the_next_would_not_fit() -> None:
    text = "a b c\n\nd e\n\nf g h\n\ni"
    assert Greedy(words, size=5, overlap=0).split(text) == [
        "a b c\n\nd e",
        "f g h\n\ni",
    ]


def test_a_chunk_begins_with_what_fits_the_overlap() -> None:
    text = "a b c\n\nd\n\ne f g"
    assert Greedy(words, size=4, overlap=1).split(text) == ["a b c\n\nd", "d\n\ne f g"]


def test_what_is_too_long_is_cut_finer() -> None:
    chunks = Greedy(words, size=3, overlap=0).split("a b. c d. e f\n\ng")
    assert chunks == ["a b", "c d", "e f", "g"]
    assert all(count <= 3 for count in words(chunks))


def test_an_edit_at_the_front_moves_what_follows() -> None:
    greedy = Greedy(words, size=4, overlap=0)
    text = "\n\n".join(f"{letter} {letter}" for letter in "abcdefgh")
    before, after = set(greedy.split(text)), set(greedy.split(f"z z\n\n{text}"))
    assert len(after - before) == len(after)
