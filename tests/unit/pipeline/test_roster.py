"""Whom of the cast a text may name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import Alias, Cast, Character, Gender
from lrwr.core.model.chunks import ChunkId
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.mentions import find_mentions
from lrwr.core.ports.story_stores import ChunkSpan
from lrwr.pipeline.stages.speakers import CastLookup, SceneSpans, attribute_document

FORMS = [
    "Nell", "Nell Tallow", "NELL", "Mrs. Gannet", "the Hatmaker", "the lamp keeper",
    "O’Vale", "O'Vale", "Will", "de Marne", "The Heron", "Corin-Vale", "'Liza", "Élan",
    "a Reeve", "29", "🐸", "Işık", "Strauß", "Gaſt",
]  # fmt: skip
WORDS = [
    *FORMS, "Tallow", "Gannet,", "Will asked", "NELL’S", "nell", "Nell's", "hatmaker",
    "the Hatmaker", "Heron.", "the", "Marne", "\n\n", "“Nell,”", "ÉLAN", "Corin", "and",
    "Reeve", "the 🐸", "IŞIK", "STRAUSS", "GAST", "# NELL", "tallow_", "İşik",
]  # fmt: skip


def a_person(
    name: str, *forms: str, certainty: Certainty = Certainty.VERIFIED
) -> Character:
    aliases = tuple(Alias(form, 1, certainty) for form in (name, *forms))
    return Character(name, aliases, Gender.UNKNOWN, certainty, certainty)


def revision(text: str, cast: Cast, narrator: str = "") -> str:
    roster = CastLookup(cast)
    return roster.revision("rules", "content", narrator, roster.of(text, narrator))


@given(
    words=st.lists(st.sampled_from(WORDS), max_size=30),
    forms=st.lists(st.sampled_from(FORMS), max_size=8, unique=True),
)
def test_what_a_text_names_is_found_with_its_own_people_as_with_the_whole_cast(
    words: list[str], forms: list[str]
) -> None:
    text = " ".join(words)
    shared = {forms[0]: tuple(forms[1:3])} if len(forms) > 2 else {}
    cast = Cast(tuple(a_person(form) for form in sorted(forms[1:])), shared)
    own = CastLookup(cast).of(text, "")
    parts = [Span(0, len(text))]
    assert find_mentions(text, parts, own) == find_mentions(text, parts, cast)


def test_a_name_that_stands_in_a_heading_alone_makes_its_bearer_the_texts_own() -> None:
    cast = Cast((a_person("Bell"), a_person("Orla Finch")))
    own = CastLookup(cast).of("# Bell\n\nThe rain fell.", "")
    assert [one.name for one in own.characters] == ["Bell"]


def test_a_narrator_is_one_of_their_own_text_unnamed() -> None:
    own = CastLookup(Cast((a_person("Nell Tallow"),))).of("I rowed.", "Nell Tallow")
    assert [one.name for one in own.characters] == ["Nell Tallow"]


def test_who_is_not_in_a_text_changes_nothing_of_it() -> None:
    nell = a_person("Nell")
    before, after = Cast((nell,)), Cast((a_person("Corin"), nell), {"Vale": ("Corin",)})
    assert revision("Nell sang.", before) == revision("Nell sang.", after)


@pytest.mark.parametrize(
    "after",
    [
        a_person("Nell", "Wren"),
        a_person("Nell", certainty=Certainty.PROBABLE),
        a_person("Nell Tallow", "Nell"),
    ],
)
def test_whatever_is_told_of_those_in_a_text_counts(after: Character) -> None:
    before = Cast((a_person("Nell"),))
    assert revision("Nell sang.", before) != revision("Nell sang.", Cast((after,)))


def test_the_order_of_people_and_names_in_the_cast_is_nothing_to_a_text() -> None:
    text = "“Go,” said Nell, and Corin went."
    nell, corin = a_person("Nell", "Wren", "Ash"), a_person("Corin")
    swapped = a_person("Nell", "Ash", "Wren")
    whole = Span(0, len(text))
    place, scenes = ChunkSpan(ChunkId("one"), whole), SceneSpans(((whole,),))
    made = []
    for cast in (Cast((nell, corin)), Cast((corin, swapped))):
        own = CastLookup(cast).of(text, "")
        made.append(
            (revision(text, cast), attribute_document(text, scenes, [place], own))
        )
    (one, _), (other, _) = made
    assert one == other
    assert made[0][1].names == {"one": "Corin Nell Ash Wren"} == made[1][1].names
