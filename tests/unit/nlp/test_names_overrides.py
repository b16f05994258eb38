"""Decisions on names change the people that they name, and nobody else."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.model.cast import Cast
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.evidence import gather_name_evidence
from lrwr.core.nlp.names.inference import NotePerson, infer_cast
from lrwr.core.nlp.names.overrides import NameOverrides

NAMES = [
    "Nell", "Lou", "Tom", "Thomas", "Nell Tallow", "Lou Tallow", "Louisa Tallow",
    "Tom Tallow", "Thomas Tallow", "Corin Vale", "Corin", "Vale", "Mr. Tallow",
    "Mrs. Tallow", "Miss Tallow", "Miss Nell", "Mr. Vale", "Mrs. Vale", "Mrs. Corin Vale",
    "Captain Vale", "Tallow",
]  # fmt: skip
SENTENCES = [
    "“Is it late?” said {0}. They met {0}, and {1} shut the book. ",
    "“No, {0},” said {1}. “Well, {0}?” said {1} to {0}.\n\n“I come,” said {0}.\n\n",
    "{0} shook her head. “Four,” she said. {0} and {1} rowed on. ",
    "{0} married {1} in the spring. ",
    "He saw {0}, called {1}. ",
]
sentences = st.tuples(
    st.sampled_from(SENTENCES), st.sampled_from(NAMES), st.sampled_from(NAMES)
)
texts = st.lists(sentences, min_size=4, max_size=25).map(
    lambda parts: "".join(text.format(one, other) for text, one, other in parts)
)


def cast_from(text: str, **told: object) -> Cast:
    evidence = [gather_name_evidence(text, [Span(0, len(text))])]
    return infer_cast(evidence, **told)  # type: ignore[arg-type]


def aliases_by_person(cast: Cast) -> list[set[str]]:
    return [{alias.name for alias in person.aliases} for person in cast.characters]


def names_in_text(cast: Cast) -> list[set[str]]:
    return [
        {alias.name for alias in person.aliases if alias.mentions}
        for person in cast.characters
    ]


def bearer(people: list[set[str]], name: str) -> set[str]:
    return next(aliases for aliases in people if name in aliases)


@settings(max_examples=150, deadline=None)
@given(texts, st.data())
def test_a_merge_joins_two_people_and_leaves_all_others_as_they_are(
    text: str, data: st.DataObject
) -> None:
    before = names_in_text(cast_from(text))
    if len(before) < 2:
        return
    one, other = data.draw(st.permutations(before))[:2]
    main, alias = data.draw(st.sampled_from(sorted(one))), min(other)
    decided = NameOverrides(merged={main: (alias,)})

    after = names_in_text(cast_from(text, decided=decided))

    assert one | other <= bearer(after, main)
    others = [aliases for aliases in before if aliases not in (one, other)]
    assert sorted(map(sorted, others)) == sorted(
        sorted(aliases) for aliases in after if main not in aliases
    )


@settings(max_examples=100, deadline=None)
@given(texts, st.data())
def test_a_split_takes_one_name_out_of_a_person(text: str, data: st.DataObject) -> None:
    before = names_in_text(cast_from(text))
    known = [aliases for aliases in before if len(aliases) > 1]
    if not known:
        return
    person = data.draw(st.sampled_from(known))
    first, second = data.draw(st.permutations(sorted(person)))[:2]
    pair = (first, second)

    after = names_in_text(cast_from(text, decided=NameOverrides(split=(pair,))))

    others = [aliases for aliases in before if aliases != person]
    assert all(aliases in after for aliases in others)
    assert any(person - {name} in after for name in pair)


FATHER_AND_SON = (
    "“Is it late?” said Tom Tallow. They met Tom, and Tom shut the book. He sat. Tom "
    "sighed. “Well, Tom?” said Mr. Corin Tallow. Corin Tallow sat. “No,” said Tom. "
    "“Yes,” said Mr. Tom. “Four,” said Corin Tallow, and Corin rowed on.\n\n"
)


def test_a_split_name_goes_to_the_person_with_whom_it_is_merged_later() -> None:
    before = aliases_by_person(cast_from(FATHER_AND_SON))
    decided = NameOverrides(
        merged={"Corin Tallow": ("Tom Tallow",)}, split=(("Tom", "Tom Tallow"),)
    )
    after = aliases_by_person(cast_from(FATHER_AND_SON, decided=decided))

    son, father = bearer(before, "Tom"), bearer(before, "Corin Tallow")
    assert "Tom Tallow" in son
    assert bearer(after, "Tom") == son - {"Tom Tallow"}
    assert bearer(after, "Corin Tallow") == father | {"Tom Tallow"}


def test_two_people_of_the_notes_can_be_merged() -> None:
    noted = (NotePerson("Tom Tallow", ("the boy",)), NotePerson("Wren", ()))
    decided = NameOverrides(merged={"Wren": ("Tom Tallow",)})
    cast = cast_from(FATHER_AND_SON, noted=noted, decided=decided)

    assert {"Wren", "Tom Tallow", "Tom", "the boy"} <= bearer(
        aliases_by_person(cast), "Wren"
    )
    assert "Wren" in {one.name for one in cast.characters}


def test_a_merged_name_that_the_text_lacks_is_an_alias() -> None:
    decided = NameOverrides(merged={"Tom": ("Old Sock",)})

    people = aliases_by_person(cast_from(FATHER_AND_SON, decided=decided))

    assert {"Tom Tallow", "Old Sock"} <= bearer(people, "Tom")
