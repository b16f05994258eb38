import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from lrwr.core.adapters.storage.memory_thread_store import MemoryThreadStore
from lrwr.core.model.choices import AnswerMode
from lrwr.core.model.documents import DocumentId
from lrwr.core.model.errors import NotFound
from lrwr.core.model.turns import (
    GapFlag,
    NarrativeState,
    Thread,
    ThreadId,
    Turn,
    TurnState,
)
from lrwr.core.ports.threads import RecordedGap, TurnCitations
from tests.fakes.conversations import (
    OTHER,
    QUOTED,
    THREAD,
    a_turn,
    numbered,
    some_turns,
)
from tests.fakes.hosted import library_in_supabase
from tests.fakes.libraries import Library, sqlite_library
from tests.fakes.records import ONE, TWO

STATE = NarrativeState(
    character="PurpleFrog",
    mode=AnswerMode.IN_CHARACTER,
    as_of="ch3",
    witnessed=True,
    entities=("the sluice",),
    assumptions=("The gate is open.",),
)


@pytest.fixture(
    params=["sqlite", "memory", pytest.param("supabase", marks=pytest.mark.supabase)]
)
async def library(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Library]:
    if request.param == "supabase":
        async with library_in_supabase(request) as hosted:
            yield hosted
        return
    async with sqlite_library(tmp_path) as opened:
        if request.param == "memory":
            yield replace(opened, threads=MemoryThreadStore())
        else:
            yield opened


async def keep(
    library: Library,
    *turns: Turn,
    thread: ThreadId = THREAD,
    title: str = "Tides",
    state: NarrativeState | None = None,
) -> Thread:
    for turn in turns:
        kept = await library.threads.save_turn(
            thread, title, turn, state or NarrativeState()
        )
    return kept


async def titles(library: Library) -> list[str]:
    return [thread.title for thread in await library.threads.threads()]


async def found(library: Library, *words: str, limit: int = 9) -> list[str]:
    return [
        turn.question for _, turn in await library.threads.search(words, limit=limit)
    ]


async def test_before_anything_is_asked_there_is_no_conversation(
    library: Library,
) -> None:
    assert await library.threads.threads() == []
    assert await library.threads.turns(THREAD) == []
    assert await library.threads.restore() is None
    assert await library.threads.purge(1e12) == 0
    with pytest.raises(NotFound) as caught:
        await library.threads.thread(THREAD)
    assert "lrwr threads" in caught.value.hint


async def test_the_first_turn_begins_a_conversation(library: Library) -> None:
    turn = a_turn(asked_at=5.5)
    kept = await keep(library, turn, state=STATE)
    assert kept == Thread(THREAD, "Tides", 5.5, 5.5, 1, STATE)
    assert await library.threads.threads() == [kept]
    assert await library.threads.thread(THREAD) == kept
    assert await library.threads.turns(THREAD) == [numbered(turn, 1)]


async def test_a_later_turn_changes_state_and_time_but_not_the_title(
    library: Library,
) -> None:
    await keep(library, a_turn(asked_at=5.0))
    kept = await keep(library, a_turn(asked_at=9.0), title="Another", state=STATE)
    assert kept == Thread(THREAD, "Tides", 5.0, 9.0, 2, STATE)
    earlier = await keep(library, a_turn(asked_at=7.0), state=STATE)
    assert (earlier.updated_at, earlier.turns) == (9.0, 3)


async def test_turns_come_back_in_order_or_the_last_of_them(library: Library) -> None:
    turns = some_turns(12)
    await keep(library, *turns)
    await keep(library, a_turn(), thread=OTHER)
    whole = [numbered(turn, n) for n, turn in enumerate(turns, start=1)]
    assert await library.threads.turns(THREAD) == whole
    assert await library.threads.turns(THREAD, last=3) == whole[-3:]
    assert await library.threads.turns(THREAD, last=99) == whole
    assert await library.threads.turns(THREAD, last=0) == []


async def test_a_turn_that_is_kept_twice_is_there_once(library: Library) -> None:
    turn = a_turn()
    await keep(library, turn)
    assert (await keep(library, turn)).turns == 1
    assert await library.threads.turns(THREAD) == [numbered(turn, 1)]


async def test_turns_that_are_kept_at_once_are_all_there_with_numbers_of_their_own(
    library: Library,
) -> None:
    turns = some_turns(16)
    await asyncio.gather(*(keep(library, turn) for turn in turns))
    kept = await library.threads.turns(THREAD)
    assert [turn.number for turn in kept] == list(range(1, 17))
    assert {turn.id for turn in kept} == {turn.id for turn in turns}
    assert (await library.threads.thread(THREAD)).turns == 16


async def test_the_conversation_that_was_spoken_in_last_comes_first(
    library: Library,
) -> None:
    await keep(library, a_turn(asked_at=1.0), title="Old")
    await keep(library, a_turn(asked_at=2.0), thread=OTHER, title="New")
    assert await titles(library) == ["New", "Old"]
    await keep(library, a_turn(asked_at=3.0))
    assert await titles(library) == ["Old", "New"]


@pytest.mark.parametrize(
    "title",
    ["The mill", "", "\x1b[31mred\x1b[0m\a\x00", "two\nlines", "[bold]no[/]", "\u202e"],
)
async def test_a_title_is_kept_as_it_is(library: Library, title: str) -> None:
    await keep(library, a_turn(), title=title)
    assert await titles(library) == [title]
    await library.threads.rename(THREAD, f"{title}.")
    assert (await library.threads.thread(THREAD)).title == f"{title}."


async def test_what_is_not_unicode_is_kept_with_a_sign_and_in_its_place(
    library: Library,
) -> None:
    await keep(library, a_turn("Who\udcff?", "Nell\ud800 did [1]."), title="\udcff")
    (turn,) = await library.threads.turns(THREAD)
    assert (turn.question, turn.output.response_text) == ("Who??", "Nell? did [1].")
    assert await titles(library) == ["?"]


async def test_nothing_can_be_done_with_a_conversation_that_is_not_there(
    library: Library,
) -> None:
    await keep(library, a_turn())
    for call in (
        library.threads.rename(OTHER, "x"),
        library.threads.delete(OTHER, 1.0),
        library.threads.thread(OTHER),
    ):
        with pytest.raises(NotFound):
            await call
    await library.threads.delete(THREAD, 1.0)
    for call in (
        library.threads.rename(THREAD, "x"),
        library.threads.delete(THREAD, 2.0),
        library.threads.thread(THREAD),
    ):
        with pytest.raises(NotFound):
            await call


async def test_a_deleted_conversation_is_gone_until_it_is_brought_back(
    library: Library,
) -> None:
    kept = await keep(library, *some_turns(2), state=STATE)
    turns = await library.threads.turns(THREAD)
    await library.threads.delete(THREAD, 9.0)
    assert await library.threads.threads() == []
    assert await library.threads.turns(THREAD) == []
    assert await found(library, "sluice", "question") == []
    assert await library.threads.restore() == kept
    assert await library.threads.turns(THREAD) == turns
    assert await found(library, "question") != []
    assert await library.threads.restore() is None


async def test_what_was_deleted_last_comes_back_first_whatever_the_clock_says(
    library: Library,
) -> None:
    three = ThreadId("7f3c0000000040008000000000000003")
    for thread, title in ((THREAD, "A"), (OTHER, "B"), (three, "C")):
        await keep(library, a_turn(), thread=thread, title=title)
    for thread, at in ((three, 9.0), (THREAD, 9.0), (OTHER, 4.0)):
        await library.threads.delete(thread, at)
    back = [await library.threads.restore() for _ in range(4)]
    assert [thread.title if thread else None for thread in back] == [
        *("B", "A", "C"),
        None,
    ]


async def test_what_was_deleted_before_a_time_is_forgotten_for_good(
    library: Library,
) -> None:
    await keep(library, *some_turns(3))
    await keep(library, a_turn("And the lamp?"), thread=OTHER)
    await library.threads.delete(THREAD, 10.0)
    await library.threads.delete(OTHER, 20.0)
    assert await library.threads.purge(10.0) == 0
    assert await library.threads.purge(20.0) == 1
    assert await library.threads.purge(20.0) == 0
    back = await library.threads.restore()
    assert back is not None
    assert back.id == OTHER
    assert await library.threads.restore() is None
    assert await found(library, "question", "lamp") == ["And the lamp?"]
    assert (await keep(library, a_turn(), title="Anew")).turns == 1
    assert (await library.threads.thread(THREAD)).title == "Anew"


async def test_an_answer_that_comes_after_the_deletion_brings_the_conversation_back(
    library: Library,
) -> None:
    await keep(library, a_turn())
    await library.threads.delete(THREAD, 9.0)
    assert (await keep(library, a_turn())).turns == 2
    assert await titles(library) == ["Tides"]
    assert await library.threads.restore() is None


async def test_a_turn_is_found_by_words_of_its_question_and_of_its_answer(
    library: Library,
) -> None:
    await keep(library, a_turn("Who counts the eels?", "OchraMags [1]."))
    await keep(library, a_turn("Who else?", "Nobody counts."), thread=OTHER, title="B")
    assert await found(library, "eel") == ["Who counts the eels?"]
    assert await found(library, "ochramags") == ["Who counts the eels?"]
    assert await found(library, "eels", "counting") == [
        "Who counts the eels?",
        "Who else?",
    ]
    assert await found(library, "eels", "counting", limit=1) == ["Who counts the eels?"]
    assert await found(library, "eels", limit=0) == []
    ((thread, turn),) = await library.threads.search(["nobody"], limit=9)
    assert (thread.title, thread.turns, turn.number) == ("B", 1, 1)
    assert [turn] == await library.threads.turns(OTHER)


@pytest.mark.parametrize(
    "words",
    [
        [],
        [""],
        ["", " "],
        ['"'],
        ["'"],
        ["NEAR(", ")"],
        ["NEAR"],
        ["AND", "OR", "NOT"],
        ["question:"],
        ["*", "^", "-", "+", "{", "}"],
        ["\0"],
        ["\udcff"],
        ["a" * 5_000],
    ],
)
async def test_no_words_can_break_a_search(library: Library, words: list[str]) -> None:
    await keep(library, a_turn("Who shut it?", "Nell."))
    assert await found(library, *words) == []
    assert await found(library, *words, "shut") == ["Who shut it?"]


async def test_words_that_look_like_a_query_are_found_as_words(
    library: Library,
) -> None:
    await keep(library, a_turn('Is "NEAR" a word?'), a_turn("And the frog?"))
    assert await found(library, "near") == ['Is "NEAR" a word?']
    assert await found(library, '"NEAR"') == ['Is "NEAR" a word?']


async def test_a_turn_that_was_kept_stays_as_it_is_when_another_follows(
    library: Library,
) -> None:
    first, second = a_turn("One?"), replace(a_turn("Two?"), price=0.25)
    await keep(library, first, state=STATE)
    await keep(library, second)
    kept = await library.threads.turns(THREAD)
    assert kept == [numbered(first, 1), numbered(second, 2)]


async def test_what_answers_left_open_is_kept_with_where_they_stood(
    library: Library,
) -> None:
    threads = library.threads
    early = NarrativeState(as_of="ch2")
    age, boat = GapFlag("Mags", "age", "She is old.", "Say it."), GapFlag("", "boat")
    newer = a_turn("What boat?", gaps=(boat,), asked_at=2_000.0)
    older = a_turn("How old?", gaps=(age,), asked_at=1_000.0, state=early)
    stopped = replace(a_turn(gaps=(boat,)), state=TurnState.STOPPED)
    for turn in (newer, older, stopped, a_turn()):
        await threads.save_turn(THREAD, "Gaps", turn, NarrativeState())
    assert await threads.gaps() == [RecordedGap(age, "ch2"), RecordedGap(boat, "")]
    await threads.delete(THREAD, 3_000.0)
    assert await threads.gaps() == []
    await threads.restore()
    assert len(await threads.gaps()) == 2


async def test_what_answers_cite_is_found_by_document_oldest_first(
    library: Library,
) -> None:
    threads = library.threads
    other = replace(QUOTED, number=2, document=TWO, text="“No.”\n\x00\u202e")
    twice = replace(QUOTED, number=3)
    newer = a_turn("Why?", citations=(QUOTED,), asked_at=2_000.0)
    older = replace(
        a_turn("Who?", citations=(QUOTED, other, twice), asked_at=1_000.0),
        state=TurnState.STOPPED,
    )
    nothing = a_turn("What?", citations=())
    await keep(library, newer, nothing)
    await keep(library, older, thread=OTHER)
    whole = [
        TurnCitations(OTHER, older.id, (QUOTED, other, twice)),
        TurnCitations(THREAD, newer.id, (QUOTED,)),
    ]
    assert await threads.turn_citations() == whole
    assert await threads.turn_citations([TWO]) == [
        TurnCitations(OTHER, older.id, (other,))
    ]
    assert await threads.turn_citations([ONE]) == [
        TurnCitations(OTHER, older.id, (QUOTED, twice)),
        TurnCitations(THREAD, newer.id, (QUOTED,)),
    ]
    assert await threads.turn_citations([ONE, TWO, DocumentId("none.md")]) == whole
    assert await threads.turn_citations([]) == []
    assert (
        await threads.turn_citations([DocumentId("' or 1 --"), DocumentId("\udcff")])
        == []
    )


async def test_what_deleted_conversations_cite_is_not_looked_at(
    library: Library,
) -> None:
    assert await library.threads.turn_citations() == []
    await keep(library, a_turn())
    await library.threads.delete(THREAD, 9.0)
    assert await library.threads.turn_citations() == []
    assert await library.threads.turn_citations([ONE]) == []
    await library.threads.restore()
    assert len(await library.threads.turn_citations([ONE])) == 1
