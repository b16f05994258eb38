"""What the web says, in its own words, below an answer that the text gave."""

from collections.abc import Iterator, Sequence

from lrwr.core.chat.companion.wording import quoted
from lrwr.core.chat.outside.marks import WEB_HEAD, web_citations
from lrwr.core.model.text import SplitSentences
from lrwr.core.model.turns import CitedOutside, Speaker, Token
from lrwr.core.ports.web_search import WebPage
from lrwr.core.retrieval.evidence import WordWeights, excerpt

SHOWN = 3
"""Pages quoted at most."""

ROOM = 320
"""Characters of one page that are quoted, unless a sentence alone is longer."""


def web_words(
    pages: Sequence[WebPage], words: WordWeights, sentences: SplitSentences
) -> Iterator[CitedOutside | Token]:
    """Yield the best sentences of the first pages, verbatim, each behind its title.

    They stand under a line of their own and have the web's marks: nobody can take them
    for the book's. A page that has none of `words` is left out if another has some.
    """
    covered = [words.coverage(f"{page.title} {page.text}") for page in pages]
    some = max(covered, default=0.0) > 0
    told = [
        citation
        for citation, share in zip(web_citations(pages), covered, strict=True)
        if share > 0 or not some
    ][:SHOWN]
    if told:
        yield _line(WEB_HEAD)
    for citation in told:
        start, end = excerpt(citation.text, words, sentences, limit=ROOM)
        said = quoted(" ".join(citation.text[start:end].split()))
        yield CitedOutside(citation)
        yield _line(f"{citation.title}: {said} [w{citation.number}]")


def _line(text: str) -> Token:
    return Token(f"\n\n{text}", Speaker.AVATAR)
