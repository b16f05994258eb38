"""Nothing from after the horizon is in any surface of the bible."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from lrwr.core.bible.export import build_bible_blocks
from lrwr.core.bible.projection import project_bible
from lrwr.core.canon.model import Canon, UndefinedAttribute
from lrwr.core.model.documents import Horizon
from lrwr.core.model.facts import (
    RULES_KEEPER,
    FactAbout,
)
from tests.fakes.stories import Book
from tests.fakes.suite import examples
from tests.unit.bible.tellings import MARK, NAMES, telling


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (*texts_in(key), *texts_in(inner))
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from texts_in(inner)
    elif is_dataclass(value):
        for one in fields(value):
            yield from texts_in(getattr(value, one.name))


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32))
def test_no_word_value_or_name_is_there_before_its_time(seed: int) -> None:
    known = telling(seed)
    horizon, stories = known.horizon, known.stories
    canon = Canon(answers={UndefinedAttribute("Nella", "eyes"): "v98"})
    bible = project_bible(stories.knowledge(canon), horizon)
    shown = " ".join(texts_in((bible, build_bible_blocks(bible))))
    read = [word for word in known.words if word.seen(horizon)]
    allowed = {word.text for word in read}
    for value, over in known.facts.items():
        if all(word.seen(horizon) for word in over):
            allowed.add(value)
    assert set(MARK.findall(shown)) <= allowed
    told = " ".join(seen_text(stories.book, horizon))
    for name in NAMES:
        assert name not in shown or name in told


def seen_text(book: Book, horizon: Horizon) -> Iterator[str]:
    """Yield the scenes that a reader has come to, by a rule of this test's own."""
    number = 0
    for path, document in sorted(book.documents.items()):
        if path.startswith("notes/"):
            continue
        for chapter in document.text.split("# Chapter ")[1:]:
            number += 1
            scenes = chapter.split("***")
            if number == horizon.chapter:
                scenes = scenes[: horizon.scene]
            if number <= horizon.chapter:
                yield from scenes


@given(st.integers(0, 2**32))
def test_without_a_horizon_every_quotation_and_every_event_is_there(seed: int) -> None:
    known = telling(seed).stories.knowledge()
    bible = project_bible(known)
    assert len(bible.quotes) == len(known.quotations)
    events = {
        (k.document, k.fact.spans, k.fact.value)
        for k in known.facts
        if k.fact.about is FactAbout.EVENT and k.fact.keeper != RULES_KEEPER
    }
    by_model = [e for e in bible.events if e.evidence.keeper != RULES_KEEPER]
    assert len(by_model) == len(events)
    assert len(bible.characters) == len(known.cast.characters)
