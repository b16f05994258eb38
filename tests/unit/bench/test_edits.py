"""The edits that the bench makes are real ones, and told truly."""

from random import Random

import pytest

from bench.edits import WAYS, Edit, next_edit, one_line, paragraphs, sentence

PROSE = " ".join(f"Word{n} follows word{n + 1}." for n in range(30))
TEXT = f"# One\n\n{PROSE}\n\nShort.\n\n{PROSE.upper()}\n"


def test_only_long_paragraphs_of_prose_are_edited() -> None:
    places = paragraphs(TEXT)
    assert [TEXT[p.start : p.end] for p in places] == [PROSE, PROSE.upper()]


def test_windows_line_ends_part_paragraphs_too() -> None:
    assert len(paragraphs(TEXT.replace("\n", "\r\n"))) == 2


@pytest.mark.parametrize("number", range(20))
def test_what_an_edit_says_is_what_it_did(number: int) -> None:
    name, edit = next_edit({"a.md": TEXT}, number, Random(number))
    assert name == "a.md"
    assert edit.text != TEXT
    assert edit.sought in edit.text
    assert edit.sought not in TEXT or not edit.sought
    assert edit.gone in TEXT
    assert bool(edit.sought or edit.gone)


def test_the_same_seed_makes_the_same_edits() -> None:
    def edits() -> list[Edit]:
        random = Random(7)
        return [next_edit({"a.md": TEXT}, n, random)[1] for n in range(len(WAYS))]

    assert edits() == edits()


def test_sentences_differ_by_their_number() -> None:
    assert len({sentence(n, Random(1)) for n in range(200)}) == 200


def test_one_line_drops_line_ends() -> None:
    assert one_line("a\r\n  b\tc ") == "a b c"
