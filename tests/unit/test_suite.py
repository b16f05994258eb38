import pytest

from tests.fakes.suite import examples, sampled


def marks_of(case: object) -> list[str]:
    return [mark.name for mark in getattr(case, "marks", ())]


@pytest.mark.parametrize(
    ("whole", "count", "tried"),
    [("1", 100, 100), ("", 100, 20), ("", 3, 1), ("", 1, 1), ("1", 1, 1)],
)
def test_the_fast_suite_tries_a_fifth_and_at_least_one(
    monkeypatch: pytest.MonkeyPatch, whole: str, count: int, tried: int
) -> None:
    monkeypatch.setenv("WHOLE_SUITE", whole)
    assert examples(count) == tried


def test_one_case_in_so_many_is_fast_and_the_others_are_exhaustive() -> None:
    named = pytest.param(7, id="seven", marks=pytest.mark.supabase)
    found = sampled([("a", 1), ("b", 2), named, "d"], every=3)
    assert found[0] == ("a", 1)
    assert [marks_of(one) for one in found] == [
        [],
        ["exhaustive"],
        ["supabase", "exhaustive"],
        [],
    ]


def test_an_exhaustive_case_keeps_its_values_and_its_name() -> None:
    named = pytest.param("b", id="bee")
    found: list[object] = ["a", named, "c"]
    _, second, third = sampled(found)
    assert (getattr(second, "values", ()), getattr(second, "id", "")) == (("b",), "bee")
    assert getattr(third, "values", ()) == ("c",)
