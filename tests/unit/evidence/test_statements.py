"""The sentences of a draft, without their markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.evidence.statements import (
    DraftStatement,
    is_english,
    iter_statements,
    split_clauses,
    split_phrases,
)
from lrwr.core.model.text import LineIndex
from lrwr.core.ports.stores import DocumentText

DRAFT = """\
---
title: News
---
# From the *lamp house*

Nell lights the lamp [2]. Her eyes are **brown**, see [the picture](https://a.example/x).

- The mule has no name
- The bell has [[Uncle Bell|a keeper]].

```
Nobody reads code.
```

<!-- Nobody reads this. -->
1. First, the tide. #amwriting https://b.example/y

## Sources

- https://c.example/z and the ledger.
"""


def read(text: str) -> list[DraftStatement]:
    return list(
        iter_statements(DocumentText(text, LineIndex.of(text)), find_sentence_spans)
    )


@pytest.mark.parametrize(
    ("text", "is_opinion"),
    [
        ("I love Nell most when she is late.", True),
        ("But to my mind the mule is wiser.", True),
        ("For me, this is the best chapter.", True),
        ("I think that Nell sells the mule.", False),
        ("To mend nets is hard for me.", False),
        ("For Meg it is too late.", False),
        ("I think Nell is the best liar of the marsh.", True),
        ("Personally, I think Mags deserved better.", True),
        ("My favourite chapter is that of the fog.", True),
        ("I think the mule dies in the forest.", False),
    ],
)
def test_an_opinion_begins_with_a_liking_or_a_judgement(
    text: str, *, is_opinion: bool
) -> None:
    (statement,) = read(text)
    assert statement.is_opinion == is_opinion


def test_sentences_stand_without_markup_with_their_lines() -> None:
    found = [(one.lines.first, one.text) for one in read(DRAFT)]
    assert found == [
        (4, "From the lamp house"),
        (6, "Nell lights the lamp."),
        (6, "Her eyes are brown, see the picture."),
        (8, "The mule has no name"),
        (9, "The bell has a keeper."),
        (16, "First, the tide."),
        (18, "Sources"),
        (20, "and the ledger."),
    ]


def test_links_are_those_of_their_sentence() -> None:
    links = [one.links for one in read(DRAFT) if one.links]
    assert links == [
        ("https://a.example/x",),
        ("https://b.example/y",),
        ("https://c.example/z",),
    ]


def test_headings_and_sources_claim_nothing() -> None:
    assert [one.text for one in read(DRAFT) if one.is_heading] == [
        "From the lamp house",
        "Sources",
        "and the ledger.",
    ]


def test_a_statement_has_its_quotations_and_its_own_words() -> None:
    (one,) = read("She says “it is only fog” twice.")
    assert [quotation.text for quotation in one.quotations] == ["it is only fog"]
    assert one.own_text == "She says twice."


@given(
    st.text(alphabet=st.sampled_from("aB. ?!\n#-*>[](){}`~“”\"1%<hT:/'"), max_size=80)
)
def test_every_statement_lies_in_the_text_in_order(text: str) -> None:
    statements = read(text)
    spans = [one.span for one in statements]
    assert spans == sorted(spans)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    for one in statements:
        assert one.lines.first == text.count("\n", 0, one.span.start) + 1
        assert one.text == " ".join(one.text.split()) != ""


def test_english_is_told_from_other_languages() -> None:
    assert is_english("Short. Kurz.")
    assert is_english(
        "She went out into the fog with the lamp, and nobody saw her go. " * 3
    )
    assert not is_english(
        "Sie ging mit der Lampe hinaus in den Nebel, und niemand sah sie gehen. " * 3
    )


def test_a_sentence_with_two_facts_has_two_clauses() -> None:
    assert split_clauses("The mule had no name.") == []
    two = "The Reeve walks with a stick, and Hob rings the bell for the tide."
    assert split_clauses(two) == [
        "The Reeve walks with a stick",
        "and Hob rings the bell for the tide.",
    ]
    assert split_clauses("Nell, tired, lit the old brass lamp.") == []


def test_a_quotation_with_an_end_mark_ends_a_sentence_unless_its_speaker_follows() -> (
    None
):
    text = "“I’m in bed. I’ve got a cold.” Dot Pell wipes the slate."
    assert [one.text for one in read(text)][-1] == "Dot Pell wipes the slate."
    tagged = "“Who is there?” Nell asked the fog."
    assert [one.text for one in read(tagged)] == [tagged]


def test_a_line_between_posts_belongs_to_no_sentence() -> None:
    found = [one.text for one in read("A gap lets in the water\n---\nThe cat sleeps.")]
    assert found == ["A gap lets in the water", "The cat sleeps."]


def test_a_sentence_has_phrases_of_three_content_words_at_least() -> None:
    sentence = (
        "Nell carries twelve heavy cans up the ladder to the lamp room in the fog."
    )
    assert split_phrases(sentence) == [
        "Nell carries twelve heavy cans up the ladder",
        "to the lamp room in the fog.",
    ]
    assert split_phrases("Nell sings.") == []


def test_a_quotation_of_several_sentences_is_one_statement_with_its_speaker() -> None:
    assert [one.text for one in read('"Oh! Mr. Lusk," said Nell. She left.')] == [
        '"Oh! Mr. Lusk," said Nell.',
        "She left.",
    ]
    (one, _) = read("‘I keep nothing. I never did,’ says Nell. She left.")
    assert [q.text for q in one.quotations] == ["I keep nothing. I never did,"]


def test_a_line_that_begins_with_a_quotation_begins_a_sentence() -> None:
    text = "Mr. Lusk has sold the ferry.\n‘I’d rather have rowed,’ remarked Jack."
    assert [one.text for one in read(text)] == [
        "Mr. Lusk has sold the ferry.",
        "‘I’d rather have rowed,’ remarked Jack.",
    ]


def test_words_between_two_quotations_are_no_quotation() -> None:
    text = 'The tide is out," said Nell, tired of the oars: "and the boat is heavy! Oh, very."'
    assert [one.text for one in read(text)] == [
        'The tide is out," said Nell, tired of the oars: "and the boat is heavy! Oh, very."'
    ]
    assert [q.text for one in read(text) for q in one.quotations] == [
        "and the boat is heavy! Oh, very."
    ]
