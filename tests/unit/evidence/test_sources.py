"""Sources of a draft: canonical addresses, no duplicates, the author's text first."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.adapters.source.text import find_sentence_spans
from lrwr.core.evidence.pack import (
    EvidenceFact,
    FactCertainty,
    FactProposal,
    QuoteState,
    anchor_facts,
    build_pack,
    build_pack_by_rules,
    cut_quote,
    mark_cut,
)
from lrwr.core.evidence.prompts import SHOWN_SOURCE_CHARS, cut_source
from lrwr.core.evidence.results import KnownQuotation
from lrwr.core.evidence.sources import (
    MAX_PAGES_PER_SITE,
    EvidenceSource,
    canonicalize_address,
    choose_sources,
    drop_duplicates,
    fuse_rankings,
    merge_overlapping,
    rank_sources,
)
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.text import LineIndex, Span
from lrwr.core.ports.stores import DocumentText


def own(text: str, at: int = 0) -> EvidenceSource:
    return EvidenceSource(text, "1.md", Span(at, at + len(text)), chapter=1)


def page(text: str, url: str = "https://a.example/1") -> EvidenceSource:
    site = url.split("/")[2]
    return EvidenceSource(text, url=url, title="A page", author=site)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://Example.ORG:80/a/../b", "http://example.org/b"),
        ("https://a.example/x?utm_source=n&b=2&a=1#top", "https://a.example/x?a=1&b=2"),
        ("https://a.example/x?fbclid=1", "https://a.example/x"),
        ("https://a.example", "https://a.example/"),
    ],
)
def test_an_address_has_one_form(url: str, canonical: str) -> None:
    assert canonicalize_address(url) == canonical
    assert canonicalize_address(canonical) == canonical


@given(st.text(max_size=60))
def test_any_address_is_taken(text: str) -> None:
    once = canonicalize_address(f"https://a.example/{text}")
    assert canonicalize_address(once) == once


async def test_at_least_five_of_eight_are_ones_own() -> None:
    words = [
        "lantern",
        "oil",
        "wick",
        "glass",
        "fog",
        "marsh",
        "ladder",
        "bell",
        "keeper",
        "stone",
    ]
    texts = [f"The {word} is lit at dusk by her {n}." for n, word in enumerate(words)]
    passages = [own(text, at=n * 100) for n, text in enumerate(texts)]
    pages = [
        page(f"{text} So they say.", f"https://s{n}.example/")
        for n, text in enumerate(texts)
    ]
    ranked = await rank_sources("How it is lit at dusk", [*pages, *passages])
    chosen = choose_sources(await drop_duplicates(ranked), 8)
    assert len(chosen) == 8
    assert sum(source.is_own for source in chosen) >= 5
    assert sum(not source.is_own for source in chosen) >= 1


async def test_what_repeats_another_is_dropped_and_a_site_has_two_pages() -> None:
    text = "The keeper trimmed the wick four times a night, and slept by day."
    sources = [
        page(text, "https://b.example/copy"),
        own(text),
        page("Lamps burned whale oil then.", "https://a.example/1"),
        page("Lamps burned colza oil after.", "https://a.example/2"),
        page("Lamps burned paraffin in the end.", "https://a.example/3"),
        page("Lamps were of brass.", "https://c.example/1"),
        page("Lamps were of copper.", "https://c.example/1"),
    ]
    chosen = await drop_duplicates(sources)
    assert [s.text for s in chosen if "trimmed" in s.text] == [text]
    assert chosen[0].is_own
    sites = [source.author for source in chosen]
    assert sites.count("a.example") == MAX_PAGES_PER_SITE
    assert sites.count("c.example") == 1


def test_what_several_searches_find_comes_first() -> None:
    a, b, c = own("A one."), own("B two.", 10), own("C three.", 20)
    assert [s.text for s in fuse_rankings([[a, b], [b, c]])] == [
        "B two.",
        "A one.",
        "C three.",
    ]


def test_a_passage_inside_another_one_is_no_source_of_its_own() -> None:
    whole = "The fog came in. Nell lit the lantern. The mule slept."
    sentence = replace(own("Nell lit the lantern.", 17), focus="Nell lit the lantern.")
    other = own("Hob slept on the stage.", 200)
    tail = own("The mule slept. Nobody saw it leave the yard, or so they said.", 39)
    merged = merge_overlapping([sentence, other, own(whole)])
    assert [source.text for source in merged] == [whole, other.text]
    assert merged[0].focus == sentence.text
    assert merge_overlapping([own(whole), tail]) == [own(whole), tail]
    elsewhere = replace(own(whole), document="2.md")
    assert merge_overlapping([own(whole), elsewhere]) == [own(whole), elsewhere]


def test_a_fact_is_the_sentence_for_which_its_passage_was_chosen() -> None:
    text = "Nell lit the lantern at dusk. Then the brown mule fell into the water."
    sources = [replace(own(text), focus="Then the brown mule fell into the water.")]
    pack = build_pack_by_rules("How the lantern is lit", sources, find_sentence_spans)
    assert pack.facts[0].quote == "Then the brown mule fell into the water."


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "“I know. The lantern was lit by Hob. He told me.”",
            "Nell: “The lantern was lit by Hob.”",
        ),
        (
            '"I know. The lantern was lit by Jack. He told me."',
            "“The lantern was lit by Jack.”",
        ),
        (
            "“I know. The lantern was lit by Hob,” she said.",
            "“The lantern was lit by Hob,” she said.",
        ),
        ("“I know.” The lantern was lit by Hob.", "The lantern was lit by Hob."),
        ("“I know.\n\nThe lantern was lit by Hob.", "The lantern was lit by Hob."),
    ],
)
def test_speech_is_marked_and_has_its_speaker_if_the_text_names_one(
    text: str, statement: str
) -> None:
    said = "I know. The lantern was lit by Hob. He told me."
    spoken = [KnownQuotation(("Nell", "Nell Tallow"), said, is_sure=True)]
    pack = build_pack_by_rules(
        "How the lantern was lit", [own(text)], find_sentence_spans, spoken=spoken
    )
    assert pack.facts[0].statement == statement


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 14))
def test_pages_never_displace_most_of_the_text(kinds: list[bool], limit: int) -> None:
    sources = [
        own(f"Text {n}.", n * 10) if is_own else page(f"Page {n}.", f"https://{n}.a/")
        for n, is_own in enumerate(kinds)
    ]
    chosen = choose_sources(sources, limit)
    assert len(chosen) == min(limit, sum(kinds) + min(3, len(kinds) - sum(kinds)))
    assert sum(s.is_own for s in chosen) >= min(sum(kinds), limit - 3)


TEXT = "She said: “It’s owed.” *Not* by\nyou — by the house, which stands on the marsh."


@pytest.mark.parametrize(
    ("quote", "verbatim"),
    [
        ('"It\'s owed." Not by you', "It’s owed.” *Not* by you"),
        ("by the house, which stands", "by the house, which stands"),
        ("by the house which never stands", ""),
        ("the house", ""),
        ("", ""),
    ],
)
def test_a_quotation_has_the_letters_of_its_source(quote: str, verbatim: str) -> None:
    assert cut_quote(quote, TEXT) == verbatim


LONG = (
    "He was past seventy, by some accounts well past it, and for all of thirty-one years"
    " he had rung the tides from the bell stage: three when one hour was left."
)


def test_a_long_quotation_keeps_the_words_that_the_fact_is_about() -> None:
    start = cut_quote(LONG, LONG, "He is past seventy.")
    assert start.startswith("He was past seventy")
    end = cut_quote(LONG, LONG, "The bell rings three strokes when an hour is left.")
    assert end.endswith("three when one hour was left.")
    for quote in (start, end):
        assert quote in LONG
        assert len(quote.split()) == 20
    fact = EvidenceFact(1, "Hob rings.", end, own(LONG))
    assert mark_cut(fact) == f"… {end}"
    assert mark_cut(replace(fact, quote=start)) == f"{start} …"
    assert mark_cut(replace(fact, quote="He was past seventy")) == "He was past seventy"


@given(
    st.lists(
        st.sampled_from(["the", "fog", "came", "in", "over", "a", "marsh"]), max_size=60
    )
)
def test_each_fact_of_a_pack_resolves_verbatim(words: list[str]) -> None:
    text = " ".join(words)
    sources = [own(text), page(text)]
    proposals = [
        FactProposal(n % 2, "So.", " ".join(words[n : n + 40]), FactCertainty.STATED)
        for n in range(len(words))
    ]
    pack = build_pack(proposals, sources, 14)
    for fact in pack.facts:
        assert fact.quote in " ".join(fact.source.text.split())
        assert len(fact.quote.split()) <= 20
    assert [fact.number for fact in pack.facts] == list(range(1, len(pack.facts) + 1))
    assert pack.dropped + len(pack.facts) == min(14, len(proposals))


@pytest.mark.parametrize(
    ("now", "state", "line"),
    [
        ("The fog came in over the marsh.\n", QuoteState.CURRENT, 1),
        ("New.\n\nOld.\n\nThe fog came in over the marsh.\n", QuoteState.MOVED, 5),
        ("Other.\n\nThe fog came down over the marsh.\n", QuoteState.CHANGED, 3),
        ("Nothing of it.\n", QuoteState.GONE, 1),
    ],
)
def test_a_quotation_is_found_where_it_is_now(
    now: str, state: QuoteState, line: int
) -> None:
    was = "The fog came in over the marsh."
    proposal = FactProposal(0, "It came.", was, FactCertainty.STATED)
    facts = build_pack([proposal], [own(was)], 14).facts
    texts = {DocumentId("1.md"): DocumentText(now, LineIndex.of(now))}
    (anchored,) = anchor_facts(facts, texts)
    assert anchored.state is state
    assert anchored.fact.source.lines.first == line


@pytest.mark.parametrize(
    ("now", "state", "line"),
    [
        ("The fog came. It was late. She slept.\n", QuoteState.CURRENT, 1),
        ("New.\n\nThe fog came. It was late. She slept.\n", QuoteState.MOVED, 3),
        ("New.\n\nThe fog came. Nobody knew why. She slept.\n", QuoteState.CHANGED, 3),
        ("New.\n\nThe fog came. She slept.\n", QuoteState.GONE, 3),
    ],
)
def test_a_short_quotation_is_found_by_the_words_around_it(
    now: str, state: QuoteState, line: int
) -> None:
    was = "The fog came. It was late. She slept."
    fact = EvidenceFact(1, "It is late.", "It was late.", own(was))
    texts = {DocumentId("1.md"): DocumentText(now, LineIndex.of(now))}
    (anchored,) = anchor_facts([fact], texts)
    assert anchored.state is state
    assert anchored.fact.source.lines.first == line


def test_a_quotation_moves_with_lines_inside_its_passage() -> None:
    was = "The fog came.\n\nThe brown mule slept in the yard."
    now = f"A new line.\n\n{was}"
    fact = EvidenceFact(1, "It sleeps.", "The brown mule slept", own(was))
    texts = {DocumentId("1.md"): DocumentText(was, LineIndex.of(was))}
    first = anchor_facts([fact], texts)[0].fact
    texts = {DocumentId("1.md"): DocumentText(now, LineIndex.of(now))}
    (anchored,) = anchor_facts([first], texts)
    assert (anchored.state, anchored.fact.source.lines.first) == (QuoteState.MOVED, 5)


async def test_a_model_that_compares_texts_counts_more() -> None:
    class Backwards:
        name = "backwards"

        async def rerank(
            self, question: str, passages: Sequence[str], stored: object = ()
        ) -> list[float]:
            return [float(n) for n in range(len(passages))]

    ranked = await rank_sources("x", [own("A."), own("B.", 9)], Backwards())  # type: ignore[arg-type]
    assert [source.text for source in ranked] == ["B.", "A."]


def test_further_searches_do_not_displace_the_best_passages_of_the_brief() -> None:
    brief = [own(f"Brief {n}.", n * 10) for n in range(10)]
    other = [own(f"Other {n}.", 200 + n * 10) for n in range(10)]
    fused = fuse_rankings([brief, other, other, other], leading=4)
    assert [s.text for s in fused[:4]] == [s.text for s in brief[:4]]
    assert [s.text for s in fused[4:7]] == ["Other 0.", "Other 1.", "Other 2."]
    assert len(fused) == 20


async def test_ones_own_text_comes_before_pages_in_the_order_of_its_search() -> None:
    passages = fuse_rankings([[own(f"Text {n}.", n * 10) for n in range(9)]])
    pages = await rank_sources("a page", [page("A page.", "https://p.example/")])
    chosen = choose_sources([*passages, *pages], 8)
    texts = [source.text for source in chosen]
    assert texts == [*(f"Text {n}." for n in range(7)), "A page."]


def test_a_prompt_has_the_part_of_a_long_source_that_is_about_the_brief() -> None:
    filler = "The fog came in over the marsh and nobody went out to look at it. "
    text = filler * 60 + "The mule was sold for eleven shillings. " + filler * 5
    shown = cut_source(text, "What was the mule sold for?")
    assert "sold for eleven shillings" in shown
    assert shown.startswith("… The fog")
    assert len(shown) <= SHOWN_SOURCE_CHARS + 4
    assert cut_source(filler, "The mule") == filler
    assert cut_source(text, "the").startswith("The fog")


def test_an_outline_has_sentences_about_the_brief_without_odd_quotation_marks() -> None:
    texts = [
        f"“The lamp number {n} is lit. It burns well.” So he said." for n in "abcde"
    ]
    sources = [
        own(text, n * 100) for n, text in enumerate([*texts, "Hob went home early."])
    ]
    pack = build_pack_by_rules("How a lamp is lit", sources, find_sentence_spans)
    assert [fact.statement for fact in pack.facts] == [
        f"“The lamp number {n} is lit.”" for n in "abcde"
    ]
    assert [fact.number for fact in pack.facts] == [1, 2, 3, 4, 5]
    whole = build_pack_by_rules(
        "How a lamp is lit", sources, find_sentence_spans, covers_story=True
    )
    assert whole.facts[-1].statement == "Hob went home early."
