import io

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lrwr.core.adapters.document_renderer import (
    render_blocks_as_docx,
    render_blocks_as_markdown,
)
from lrwr.core.bible.export import build_bible_blocks
from lrwr.core.bible.projection import project_bible
from lrwr.core.model.documents import Block, BlockKind, Horizon
from tests.unit.bible.family import Family
from tests.unit.bible.marsh import marsh

blocks = st.lists(
    st.builds(
        Block,
        st.sampled_from(list(BlockKind)),
        st.text(max_size=30) | st.text("*_#-1. )<>[]`\\+&;a\n", max_size=12),
        level=st.integers(0, 12),
        lead=st.text(max_size=6),
        place=st.text(max_size=6),
    ),
    max_size=6,
)


def test_a_markdown_bible_has_parts_claims_and_places() -> None:
    text = render_blocks_as_markdown(
        build_bible_blocks(project_bible(marsh().knowledge()))
    )
    contents, _, parts = text.partition("\n\n## Characters\n\n")
    assert contents.startswith(
        "# Story bible\n\n- [Characters](#characters)\n- [The world](#the-world)\n"
    )
    assert parts.startswith("### Nell Tallow\n\n")
    assert "- **Nell Tallow**: verified\n  - “Is it late?” *book/1.md:5*\n" in text
    assert "- **eyes**: grey (verified)\n  - “eyes were grey” *book/1.md:3*\n" in text
    assert "## Open questions" in text


def test_a_bible_of_a_horizon_says_nothing_of_later() -> None:
    text = render_blocks_as_markdown(
        build_bible_blocks(
            project_bible(marsh().knowledge(), Horizon(1)), title="So far"
        )
    )
    assert text.startswith("# So far\n")
    for later in ("Corin", "Tallow", "OchraMags", "brown", "aunt"):
        assert later not in text


def test_a_word_bible_has_headings_and_lists() -> None:
    content = render_blocks_as_docx(
        build_bible_blocks(project_bible(marsh().knowledge()))
    )
    document = docx.Document(io.BytesIO(content))
    first, *_ = document.paragraphs
    assert (first.text, first.style and first.style.name) == (
        "Story bible",
        "Heading 1",
    )
    assert "eyes: grey (verified)" in [p.text for p in document.paragraphs]


@pytest.mark.parametrize(
    "text",
    ["*a* _b_ `c`", "# no heading", "- no list", "1. no list", "<b>", "[a](b)", "&lt;"],
)
def test_nothing_counts_as_markup(text: str) -> None:
    made = render_blocks_as_markdown([Block(BlockKind.TEXT, text)])
    (paragraph, inline, _) = MarkdownIt().parse(made)
    assert paragraph.type == "paragraph_open"
    assert inline.children is not None
    assert "".join(child.content for child in inline.children) == text


@given(blocks)
def test_every_document_can_be_written(written: list[Block]) -> None:
    assert render_blocks_as_markdown(written).endswith("\n")
    assert render_blocks_as_docx(written).startswith(b"PK")


def test_the_number_of_places_of_a_relation_does_not_end_its_list() -> None:
    family = Family("Miss Vale", "Mr. Vale", "Nell Tallow")
    for _ in range(5):
        family.states("Mr. Vale", "brother", "Miss Vale")
    bible = project_bible(family.stories.knowledge())
    text = render_blocks_as_markdown(build_bible_blocks(bible))
    assert "**Miss Vale’s brother**: Mr. Vale, verified (in 5 places)\n  - “" in text
    assert "more" not in text
