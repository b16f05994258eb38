"""Texts that all presenters use."""

from lrwr.app.presenters.text import shorten_chapter_names, shorten_titles


def test_a_long_common_beginning_of_titles_is_left_out() -> None:
    titles = [
        "Book the First Sowing, Chapter I The Bell",
        "Book the First Sowing, Chapter II A Walk",
        "Book the Second Reaping, Chapter I Home",
    ]
    assert shorten_titles(titles) == ["… I The Bell", "… II A Walk", titles[2]]


def test_titles_that_share_little_stay_whole() -> None:
    titles = ["The Bell", "The Walk", "The Walk", ""]
    assert shorten_titles(titles) == titles
    assert shorten_titles([]) == []


def test_the_whole_title_is_never_left_out() -> None:
    title = "A very long title that two chapters have"
    assert shorten_titles([title, title]) == ["… have", "… have"]


def test_names_of_chapters_without_numbers_lose_their_common_beginning() -> None:
    names = [f"BOOK THE FIRST SOWING, CHAPTER {n}" for n in ("I BELL", "II WALK")]
    assert shorten_chapter_names(names) == ["… I BELL", "… II WALK"]


def test_the_number_of_a_chapter_stays_before_its_title() -> None:
    names = [f"Chapter {n} “The Chronicle of Thole, part {n}”" for n in (1, 2)]
    assert shorten_chapter_names([*names, "Notes"]) == [
        "Chapter 1 “… 1”",
        "Chapter 2 “… 2”",
        "Notes",
    ]
