from lrwr.core.chat.extractive.writer import flatten_markdown_quote


def test_a_quotation_of_several_lines_is_told_in_one_without_its_signs() -> None:
    text = "> > Lantern lit.\n> > Counted on: 6.\n>\n> Drowned: nobody > all told."
    assert (
        flatten_markdown_quote(text)
        == "Lantern lit. Counted on: 6. Drowned: nobody > all told."
    )


def test_what_is_one_line_stays_as_it_is() -> None:
    assert (
        flatten_markdown_quote("“Six strokes,” said Mags.")
        == "“Six strokes,” said Mags."
    )
