import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.canon.model import Canon, CanonNames, ManuscriptLocation
from lrwr.core.canon.parser import parse_canon
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem
from tests.fakes.canons import places

WHOLE = """\
# Mine.
[types]
"notes/mill.md" = "Setting"

[order]
story = ["./ch2.md", "ch1.md"]

[pov]
"ch1.md" = "Nell  Tallow"
"book.md#The Mill:s2" = "Mags"

[names]
split = [["Mags", "Maggie"]]
ignored = ["Monday"]
[names.merged]
Nell = ["Wren"]
[names.renamed]
"the narrator" = "Jory"
"""


def refusal(text: str) -> str:
    with pytest.raises(SettingsProblem) as caught:
        parse_canon(text, "lrwr.canon.toml")
    assert caught.value.hint
    return f"{caught.value} {caught.value.hint}"


def test_a_file_written_by_hand_says_what_it_says() -> None:
    assert parse_canon(WHOLE, "canon") == Canon(
        types={DocumentId("notes/mill.md"): DocumentType.SETTING},
        order=(DocumentId("ch2.md"), DocumentId("ch1.md")),
        points_of_view={
            ManuscriptLocation(DocumentId("ch1.md")): "Nell Tallow",
            ManuscriptLocation(DocumentId("book.md"), "The Mill", 2): "Mags",
        },
        names=CanonNames(
            merged={"Nell": ("Wren",)},
            split=(("Maggie", "Mags"),),
            renamed={"the narrator": "Jory"},
            ignored=("Monday",),
        ),
    )


def test_an_empty_file_decides_nothing() -> None:
    assert parse_canon("\ufeff# nothing yet\n", "canon") == Canon()


def test_the_two_ways_to_write_an_accent_are_one() -> None:
    found = parse_canon('[types]\n"e\u0301.md" = "scene"\n', "canon")
    assert list(found.types) == ["\xe9.md"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[types]\n\n[tpyes]\n", "lrwr.canon.toml:3: unknown table `tpyes`"),
        ("[name]\n", "did you mean `names`?"),
        ("[names]\n[names.rename]\n", "lrwr.canon.toml:2: unknown setting"),
        ("[names.rename]\n", "did you mean `renamed`?"),
        ("[order]\nstroy = []\n", "did you mean `story`?"),
        ("answers = 1\n", "lrwr.canon.toml:1: unknown table `answers`"),
        ('[types]\n"a.md" = "sene"\n', 'lrwr.canon.toml:2: the type of a.md cannot be'),
        ('[types]\n"a.md" = "sene"\n', 'such as "scene"'),
        ('[types]\n"a.md" = "scene"\n"./a.md" = "scene"\n', "listed twice"),
        ("types = 3\n", "`types` must be a table"),
        ('[order]\nstory = "a.md"\n', "lrwr.canon.toml:2: `story` must be a list"),
        ('[order]\nstory = ["a.md", "a.md"]\n', "a.md is listed twice"),
        ('[order]\nstory = [""]\n', "a file name is empty"),
        ('[pov]\n"a" = "Nell"\n', "lrwr.canon.toml:2: `a` is not a valid location"),
        ('[pov]\n"a.md" = 3\n', "3 is not a valid name"),
        ('[pov]\n"a.md" = "A"\n"./a.md" = "B"\n', "lrwr.canon.toml:3: `./a.md` is listed"),
        ('[names]\nsplit = ["a", "b"]\n', "lrwr.canon.toml:2: `split` must be a list"),
        ('[names]\nsplit = [["a"]]\n', "is not a pair"),
        ('[names]\nsplit = [["a", "a"]]\n', "both merged and split"),
        ('[names.merged]\na = ["b"]\nc = ["b"]\n', "b is merged twice"),
        ('[names.merged]\na = ["b"]\n" a" = ["c"]\n', "a name is listed twice"),
        ('[names.merged]\na = ["b"]\n[names.renamed]\n"b" = "c"\n', "toml:4: b is merged"),
        ('[names.renamed]\na = "x"\nb = "x"\n', "lrwr.canon.toml:3: x is the name of two"),
        ('[names]\nignored = ["a"]\n[names.merged]\na = ["b"]\n', "a is both ignored and"),
        ("[types\n", "lrwr.canon.toml:1: this is not valid TOML"),
        ('[types]\n"a.md" = [\n\n', "lrwr.canon.toml:2: this is not valid TOML"),
        ("x = " + "[" * 5000, "not valid TOML"),
        (" " * 1_000_000 + "[tpyes]", "unknown table"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_its_line(text: str, said: str) -> None:
    assert said in refusal(text)


@given(st.text(max_size=60) | st.text('[]"=.\n abtypesn#', max_size=60))
def test_no_text_is_a_surprise(text: str) -> None:
    try:
        parse_canon(text, "lrwr.canon.toml")
    except SettingsProblem as problem:
        assert problem.hint


@given(places)
def test_a_place_is_read_as_it_is_written(place: ManuscriptLocation) -> None:
    assert ManuscriptLocation.read(str(place)) == place
