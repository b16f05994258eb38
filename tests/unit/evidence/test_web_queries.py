"""What drafting may search the web for: no name and no words in a row of the book."""

import random
import re

import pytest

from lrwr.core.attribution.citations import list_plain_words
from lrwr.core.bible.values import AliasForm, Bible, CharacterProfile, WorldElement
from lrwr.core.evidence.kinds import GapKind, PostGap
from lrwr.core.evidence.web_queries import (
    MAX_QUERIES,
    BookWords,
    build_queries,
    list_topics,
    search_pages,
)
from lrwr.core.model.cast import Gender
from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import STOP_WORDS
from lrwr.core.ports.sources import WebPage
from tests.fakes.read_books import EXAMPLE
from tests.fakes.suite import examples
from tests.fakes.web_search import ScriptedWeb

SURE = Certainty.VERIFIED
NAMES = (
    ("PurpleFrog", "the Keeper", "Frog"),
    ("Nell Tallow", "Nell", "Miss Tallow"),
    ("BrineHob", "Hob", "Uncle Bell"),
    ("Mags Quill", "Mags"),
)
PLACES = ("Half House", "Ness Gate", "the Strake", "Thole")


def person(name: str, *forms: str) -> CharacterProfile:
    aliases = tuple(AliasForm(form, 3, SURE) for form in (name, *forms))
    return CharacterProfile(name, aliases, Gender.UNKNOWN, SURE, SURE)


BIBLE = Bible(
    characters=tuple(person(*forms) for forms in NAMES),
    world=tuple(WorldElement(name, (), (), (), SURE) for name in PLACES),
)
TEXTS = [
    path.read_text("utf-8") for path in sorted((EXAMPLE / "chapters").glob("*.md"))
]
BOOK = BookWords(TEXTS)
SENTENCES = [
    sentence
    for text in TEXTS
    for sentence in re.split(r"(?<=[.!?])\s+", text)
    if 4 < len(sentence.split()) < 25
]
COMMON = [
    "history",
    "of",
    "oil",
    "lamps",
    "tides",
    "mules",
    "salt",
    "trade",
    "books",
    "about",
    "keepers",
    "in",
    "fog",
]


def check_query(query: str) -> None:
    """Make sure that a query has no name and no run of five words of the book."""
    words = list_plain_words(query)
    forms = {
        tuple(list_plain_words(form)) for forms in (*NAMES, PLACES) for form in forms
    }
    for form in forms:
        plain = tuple(word for word in form if word not in STOP_WORDS)
        runs = zip(*(words[at:] for at in range(len(plain))), strict=False)
        assert plain not in list(runs), (query, form)
    text = " ".join(" ".join(list_plain_words(text)) for text in TEXTS)
    for at in range(len(words) - 4):
        assert f" {' '.join(words[at : at + 5])} " not in text, query


def topics(count: int, seed: int) -> list[str]:
    """Return made-up topics: common words, mixed with names and pieces of the book."""
    chance = random.Random(seed)
    names = [form for forms in (*NAMES, PLACES) for form in forms]
    made = []
    for _ in range(count):
        pieces = [chance.choice(COMMON) for _ in range(chance.randint(1, 6))]
        for _ in range(chance.randint(0, 3)):
            name = chance.choice(names)
            form = chance.choice([name, name.lower(), name.upper(), f"{name}’s"])
            pieces.insert(chance.randint(0, len(pieces)), form)
        if chance.random() < 0.5:
            words = chance.choice(SENTENCES).split()
            start = chance.randint(0, max(0, len(words) - 8))
            piece = " ".join(words[start : start + chance.randint(3, 14)])
            piece = chance.choice([piece, f"“{piece}”", piece.lower(), f"({piece})"])
            pieces.insert(chance.randint(0, len(pieces)), piece)
        made.append(" ".join(pieces))
    return made


def test_no_query_has_a_name_or_a_run_of_words_of_the_book() -> None:
    for topic in topics(examples(500), seed=1):
        for query in build_queries([topic], BIBLE, BOOK):
            check_query(query)


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_no_query_of_ten_thousand_has_a_name_or_a_run_of_words() -> None:
    sent = 0
    for topic in topics(10_000, seed=2):
        for query in build_queries([topic], BIBLE, BOOK):
            check_query(query)
            sent += 1
    assert sent > 1_000


@pytest.mark.parametrize(
    ("topic", "query"),
    [
        ("history of oil lamps", ("history oil lamps",)),
        ("Nell Tallow and oil lamps at Thole", ("oil lamps",)),
        ("nell", ()),
        (max(SENTENCES, key=len), ()),
        ("", ()),
    ],
)
def test_a_topic_loses_what_belongs_to_the_book(
    topic: str, query: tuple[str, ...]
) -> None:
    assert build_queries([topic], BIBLE, BOOK) == query


def test_queries_are_few_and_different() -> None:
    many = [f"oil lamps {n}" for n in range(20)]
    assert len(build_queries([*many, *many], BIBLE, BOOK)) == MAX_QUERIES
    assert build_queries(["Oil lamps", "oil lamps"], BIBLE, BOOK) == ("Oil lamps",)


def test_only_what_a_page_may_fill_is_searched_for() -> None:
    gaps = [PostGap(kind, "x", f"about {kind}") for kind in GapKind]
    found = list_topics(gaps)
    assert "about picture" not in found
    assert "about only you can say" not in found
    assert len(found) == len(GapKind) - 2


async def test_each_query_is_told_before_any_is_sent() -> None:
    web = ScriptedWeb(WebPage("A [3]", "https://a.example/?utm_source=b", "Lamps [1]."))
    told: list[str] = []

    def tell(sentence: str) -> None:
        assert web.asked == []
        told.append(sentence)

    results = await search_pages(("oil lamps", "salt trade"), web, tell)
    assert [sentence.split("“")[1] for sentence in told] == [
        "oil lamps”",
        "salt trade”",
    ]
    first = results.pages[0]
    assert (first.title, first.text, first.url) == ("A", "Lamps.", "https://a.example/")
    assert first.author == "a.example"


async def test_a_dead_web_is_a_remark() -> None:
    web = ScriptedWeb(error=ServiceUnavailable("It is down", hint="Wait."))
    results = await search_pages(("oil lamps", "salt trade"), web, lambda _: None)
    assert results.pages == ()
    assert results.remarks == ("Web search failed. It is down. Wait.",)
