from hypothesis import given
from hypothesis import strategies as st

from lrwr.pipeline.watch.debounce import (
    LONGEST,
    WatchAction,
    WatchIntervals,
    WatchSchedule,
)

PACE = WatchIntervals(debounce=1.0, sweep=60.0, idle=20.0)


def an_agenda(pace: WatchIntervals = PACE) -> WatchSchedule:
    return WatchSchedule(pace, swept=0.0, stirred=0.0)


def test_a_save_of_several_events_is_read_once_they_have_come_to_rest() -> None:
    agenda = an_agenda().after_event(5.0).after_event(5.2).after_event(5.9)
    assert agenda.due(6.5) is None
    assert agenda.next_at() == 6.9
    assert agenda.due(6.9) is WatchAction.SAVE
    assert agenda.after_action(WatchAction.SAVE, 6.9).due(7.0) is None


def test_files_that_never_come_to_rest_are_read_all_the_same() -> None:
    agenda = an_agenda()
    for tenth in range(200):
        agenda = agenda.after_event(5.0 + tenth / 10)
    assert agenda.due(5.0 + LONGEST) is WatchAction.SAVE


def test_a_sweep_comes_again_and_again() -> None:
    agenda = an_agenda()
    assert agenda.due(59.9) is None
    assert agenda.due(60.0) is WatchAction.SWEEP
    assert agenda.after_action(WatchAction.SWEEP, 61.0).next_at() == 121.0


def test_a_save_is_a_sweep_too() -> None:
    agenda = an_agenda().after_event(59.0).after_action(WatchAction.SAVE, 60.0)
    assert agenda.due(60.0) is None
    assert agenda.next_at() == 120.0


def test_a_model_reads_when_nothing_has_changed_for_long() -> None:
    agenda = (
        an_agenda()
        .after_event(5.0)
        .after_action(WatchAction.SAVE, 6.0)
        .with_model_work(unread=True)
    )
    assert agenda.next_at() == 25.0
    assert agenda.due(25.0) is WatchAction.IDLE
    assert (
        agenda.after_event(24.0).after_action(WatchAction.SAVE, 25.0).due(43.9) is None
    )
    assert agenda.after_action(WatchAction.IDLE, 25.0).next_at() == 85.0


def test_a_model_that_has_nothing_to_read_is_left_alone() -> None:
    agenda = (
        an_agenda()
        .after_event(5.0)
        .after_action(WatchAction.SAVE, 6.0)
        .with_model_work(unread=False)
    )
    assert agenda.next_at() == 66.0


def test_without_idle_reading_no_model_is_waited_for() -> None:
    agenda = (
        an_agenda(WatchIntervals(1.0, 60.0))
        .after_event(5.0)
        .after_action(WatchAction.SAVE, 6.0)
    )
    assert agenda.with_model_work(unread=True).next_at() == 66.0


@given(st.lists(st.floats(0, 3), max_size=40))
def test_every_event_is_followed_by_a_look_and_what_is_due_was_foretold(
    gaps: list[float],
) -> None:
    agenda, now, open_events = an_agenda(), 0.0, False
    for gap in gaps:
        until = now + gap
        while agenda.next_at() <= until:
            now = agenda.next_at()
            due = agenda.due(now)
            assert due is not None
            agenda, open_events = agenda.after_action(due, now), False
        now = until
        assert agenda.due(now) is None
        agenda, open_events = agenda.after_event(now), True
    if open_events:
        assert agenda.due(agenda.next_at()) is not None
        assert agenda.next_at() <= now + PACE.debounce
