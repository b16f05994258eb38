from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.analyst.rules import RulesAnalyst
from lrwr.core.adapters.source.parser import parse_document
from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.facts import Certainty, Fact, FactAbout
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Excerpt

SAMPLE = Path(__file__).parents[3] / "examples" / "marsh-lantern"
CHAPTERS = sorted(p.name for p in (SAMPLE / "chapters").iterdir())

PIECES = st.sampled_from(
    [
        *("Nell", "Mrs. Gannet", "’s", " sister", " was", " eleven", ",", ".", "\n\n"),
        *(
            "“",
            "”",
            '"',
            " Mags",
            " told",
            " that",
            " the",
            " in",
            " her",
            "?",
            " [",
            "]",
        ),
        *(
            " grey eyes",
            " <!--",
            "-->",
            "%%",
            " TODO",
            "* * *\n",
            "# ",
            " I",
            " had",
            "‘",
        ),
    ]
)


async def read(text: str, start: int = 0) -> list[Fact]:
    analyst = RulesAnalyst(find_sentence_spans)
    excerpt = Excerpt(Span(start, start + len(text)), text, "", (), "")
    (classified,), _ = await analyst.classify([excerpt])
    extracted, usage = await analyst.extract(excerpt)
    assert usage == Usage()
    return [*classified.facts, *extracted.facts]


@given(pieces=st.lists(PIECES, max_size=40), start=st.integers(0, 9))
async def test_no_text_breaks_the_rules_and_no_span_leaves_it(
    pieces: list[str], start: int
) -> None:
    text = "".join(pieces)
    for fact in await read(text, start):
        for span in fact.spans:
            assert start <= span.start < span.end <= start + len(text)
            assert text[span.start - start : span.end - start].strip()


@pytest.mark.parametrize("name", CHAPTERS)
async def test_what_is_claimed_of_people_names_them_in_its_own_words(
    name: str,
) -> None:
    path = SAMPLE / "chapters" / name
    document = parse_document(DocumentId(name), path.read_bytes())
    for fact in await read(document.text):
        words = " ".join(document.text[s.start : s.end] for s in fact.spans)
        plain = " ".join(words.split())
        if fact.certainty is Certainty.VERIFIED and fact.subject:
            assert fact.subject in plain or fact.about is FactAbout.GAP
        if fact.about is FactAbout.EVENT:
            assert fact.value == plain
            known = document.text[: fact.spans[-1].end]
            assert all(name in known for name in fact.all_details("involved"))


async def test_nobodys_words_are_taken_for_the_narrators() -> None:
    facts = await read("“Corin Vale, Nell’s uncle, has died.” Nobody answered.")
    sure = {fact.certainty for fact in facts if fact.about is FactAbout.CHARACTER}
    assert sure == {Certainty.PROBABLE}
    assert all(
        fact.detail("said") for fact in facts if fact.about is FactAbout.CHARACTER
    )


async def test_comments_and_headings_are_no_story() -> None:
    facts = await read("# Nell’s sister Mags\n\n<!-- Nell was eleven years old. -->\n")
    assert [fact for fact in facts if fact.about is not FactAbout.GAP] == []


async def test_each_scene_of_an_excerpt_has_its_own_point_of_view() -> None:
    text = (
        "Nell felt the cold. Nell knew the stones. Nell saw a lamp. She wondered.\n\n"
        "* * *\n\nI wrote it down, and I closed my book. I was tired, I think.\n"
    )
    views = [fact for fact in await read(text) if fact.field == "pov"]
    assert [(fact.value, fact.detail("person")) for fact in views] == [
        ("Nell", "third"),
        ("", "first"),
    ]
