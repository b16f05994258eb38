"""A novel that is moved without being stopped on the way proves nothing."""

import pytest

from bench.moving import KILLS, killed


@pytest.mark.parametrize(
    ("times", "verdict"), [(0, "NOT MET"), (len(KILLS) - 1, "NOT MET"), (6, "met")]
)
def test_fewer_kills_than_meant_miss_the_goal(times: int, verdict: str) -> None:
    came = [True] * times + [False] * (len(KILLS) - times)
    assert killed(came, "TheLampAndTheMarsh").verdict == verdict


def test_the_novel_that_was_moved_is_named() -> None:
    assert "TheLampAndTheMarsh" in killed([True], "TheLampAndTheMarsh").note
