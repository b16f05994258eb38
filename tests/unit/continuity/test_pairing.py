import pytest

from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.continuity.pair_selection import (
    MAX_PASSAGES_PER_CLAIM,
    find_statement_pairs,
)
from lrwr.core.continuity.pairs import PAIR_CONTEXT_CHARS, StatementPair
from lrwr.core.continuity.statements import StatementSource
from lrwr.core.model.documents import DocumentId, Horizon
from tests.unit.continuity.readers import NOTE, ONE, TWO, known, read

COOPER = "Nell Tallow, a cooper, came in."
KEEPER = "- **Occupation:** lock-keeper"
SCAR = "- **Scar:** a white scar across the left palm"


def core(pair: StatementPair) -> str:
    passage = pair.found
    return passage.text[passage.core.start : passage.core.end]


def test_a_note_and_the_text_are_joined_on_the_attribute_of_one_person() -> None:
    (pair,) = find_statement_pairs(read(two=COOPER, note=KEEPER))
    assert (pair.about, pair.attribute) == ("Nell Tallow", "occupation")
    assert (pair.canon.source, pair.canon.document) == (StatementSource.NOTE, NOTE)
    assert pair.canon.text == "**Occupation:** lock-keeper"
    assert core(pair) == COOPER


@pytest.mark.parametrize("label", ["Job", "Trade", "Profession", "Occupation"])
def test_what_writers_call_one_attribute_is_one(label: str) -> None:
    (pair,) = find_statement_pairs(read(two=COOPER, note=f"- **{label}:** lock-keeper"))
    assert pair.attribute == "occupation"


def test_an_answer_of_the_writers_is_canon_and_has_no_place() -> None:
    canon = Canon(answers={UndefinedAttribute("Nell", "occupation"): "lock-keeper"})
    (pair,) = find_statement_pairs(read(two=COOPER, canon=canon))
    assert pair.canon.source is StatementSource.ANSWER
    assert pair.canon.document is None
    assert pair.canon.text == "occupation: lock-keeper"


def test_the_text_counts_from_an_earlier_document_where_the_writer_says_nothing() -> (
    None
):
    (pair,) = find_statement_pairs(read("Nell Tallow, a miller, came in.", COOPER))
    assert (pair.canon.document, pair.found.document) == (ONE, TWO)
    assert find_statement_pairs(read(f"Nell Tallow, a miller, came in. {COOPER}")) == ()


def test_a_note_is_held_against_sentences_that_share_its_label_or_two_of_its_words() -> (
    None
):
    text = (
        "Nell Tallow showed the scar on her right hand. It rained.\n\n"
        "Bram Ottley had a scar."
    )
    (pair,) = find_statement_pairs(read(two=text, note=SCAR))
    assert pair.attribute == "scar"
    assert core(pair) == "Nell Tallow showed the scar on her right hand."
    described = "She keeps a tame heron in the boathouse."
    (pair,) = find_statement_pairs(
        read(two="Nell owned no heron, tame or wild.", note=described)
    )
    assert pair.attribute == "description"


@pytest.mark.parametrize(
    "text",
    [
        "Nell Tallow, a lock-keeper, came in.",
        "“Nell Tallow, a cooper, came in,” said Mags.",
        "If Nell Tallow was a cooper, nobody knew.",
        "Mags dreamt of it. Nell Tallow, a cooper, came in.",
        "*Nell Tallow, a cooper, came in.*",
        "Bram Ottley, a cooper, came in.",
        "Nell Tallow was now a cooper.",
    ],
)
def test_what_agrees_or_is_not_asserted_now_is_no_pair(text: str) -> None:
    assert find_statement_pairs(read(two=text, note=KEEPER)) == ()


@pytest.mark.parametrize(
    "note",
    [
        "- **Wants:** to be a cooper, not a clerk",
        "- **Secret:** she was never a clerk",
        "- **Occupation:** clerk until chapter 4, then cooper",
        "- **Eyes:** grey",
        "- **Father:** Corin Vale",
    ],
)
def test_what_is_meant_or_holds_at_times_or_is_for_the_rules_is_no_pair(
    note: str,
) -> None:
    text = f"{COOPER} Nell wanted a clerk. Nell’s eyes were green."
    assert find_statement_pairs(read(two=text, note=note)) == ()


def test_a_passage_holds_no_comment_and_nothing_beyond_its_paragraph() -> None:
    text = f"It was wet.\n\nIt blew. %%Fix this later.%% {COOPER} It blew.\n\nFog."
    (pair,) = find_statement_pairs(read(two=text, note=KEEPER))
    assert "Fix this" not in pair.found.text
    assert "Fog" not in pair.found.text
    assert "wet" not in pair.found.text
    text = f"{'It blew hard. ' * 99}{COOPER}{' It blew hard.' * 99}"
    (pair,) = find_statement_pairs(read(two=text, note=KEEPER))
    assert len(pair.found.text) <= len(COOPER) + 2 * PAIR_CONTEXT_CHARS
    noted = f"{KEEPER} <!-- really a spy -->"
    assert not any(
        "spy" in one.canon.text
        for one in find_statement_pairs(read(two=text, note=noted))
    )


def test_under_a_horizon_nothing_of_the_story_beyond_it_is_in_a_pair() -> None:
    knowledge = read(COOPER, "Nell Tallow, a weaver, came in.", KEEPER)
    assert len(find_statement_pairs(knowledge)) == 2
    (pair,) = find_statement_pairs(knowledge, Horizon(chapter=1, scene=None))
    assert pair.found.document == ONE


def test_the_latest_comes_first_and_documents_may_be_named() -> None:
    knowledge = read(COOPER, "Nell Tallow, a weaver, came in.", KEEPER)
    assert [one.found.document for one in find_statement_pairs(knowledge)] == [TWO, ONE]
    (pair,) = find_statement_pairs(knowledge, documents=[DocumentId(ONE)])
    assert pair.found.document == ONE
    assert len(find_statement_pairs(knowledge, documents=[DocumentId(NOTE)])) == 2


def test_one_note_is_held_against_few_passages_however_many_there_are() -> None:
    told = [f"Nell Tallow had {n} scars." for n in range(30)]
    text = "\n\n".join([*told, *["Nell Tallow walked on."] * 300])
    assert (
        len(find_statement_pairs(read(two=text, note=SCAR))) == MAX_PASSAGES_PER_CLAIM
    )


def test_places_of_the_world_are_compared_too() -> None:
    files = {
        "book/01.md": "# One\n\nHalf House had four chimneys and a slate roof.\n",
        "notes/Half House.md": "---\ntype: setting\n---\n# Half House\n\n"
        "A low house with a thatched roof and one chimney of brick.\n",
    }
    (pair,) = find_statement_pairs(known(files))
    assert pair.about == "Half House"


@pytest.mark.parametrize(
    ("note", "text", "pairs"),
    [
        ("She keeps a tame heron.", "Mags told Nell of a tame heron she had lost.", 0),
        ("She was at the mill on the night of Day 720.", "Nell left by day and night.", 0),
        ("- **Hands:** left-handed", "Nell looked at her hand.", 0),
        ("- **Hands:** left-handed, a scar on the left wrist",
         "Nell rubbed the scar on her right hand.", 1),
        ("She has thirty hens and a pony.", "Nell owned three hens.", 1),
    ],
)  # fmt: skip
def test_a_note_is_held_only_against_what_is_said_of_the_same_attribute(
    note: str, text: str, pairs: int
) -> None:
    assert len(find_statement_pairs(read(two=text, note=note))) == pairs
