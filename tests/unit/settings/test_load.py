"""What wins over what, and where each value says it came from."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import ExitCode, SettingsProblem
from lrwr.core.settings.loader import (
    collect_environment_settings,
    collect_flag_settings,
    load_settings,
)
from lrwr.core.settings.model import (
    SettingOrigin,
    Settings,
    SettingSource,
    index_settings,
)
from lrwr.core.settings.schema import Setting


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    folder = tmp_path / "novel"
    folder.mkdir()
    return folder


def load(
    novel: Path,
    library: str = "",
    user: str = "",
    env: dict[str, str] | None = None,
    **flags: object,
) -> Settings:
    own = novel.parent / "config" / "lrwr.toml"
    own.parent.mkdir(exist_ok=True)
    own.write_text(user, encoding="utf-8")
    (novel / "lrwr.toml").write_text(library, encoding="utf-8")
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return load_settings(novel, env or {}, dotted, user=own)


def test_without_any_file_every_value_is_the_default(novel: Path) -> None:
    settings = load_settings(novel, {}, {}, user=novel / "nowhere.toml")
    assert settings == Settings(novel)
    assert settings.pipeline is Pipeline.AGENTIC
    assert settings.origin("search.limit") == SettingOrigin(SettingSource.DEFAULT, "")


LIMIT = "[search]\nlimit = {}\n"


@pytest.mark.parametrize(
    ("user", "library", "env", "flag", "expected"),
    [
        (2, None, None, None, (2, SettingSource.USER)),
        (2, 3, None, None, (3, SettingSource.LIBRARY)),
        (2, 3, 4, None, (4, SettingSource.ENVIRONMENT)),
        (2, 3, 4, 5, (5, SettingSource.FLAG)),
        (None, 3, None, 5, (5, SettingSource.FLAG)),
    ],
)
def test_the_nearer_place_wins_and_is_named(
    novel: Path,
    user: int | None,
    library: int | None,
    env: int | None,
    flag: int | None,
    expected: tuple[int, SettingSource],
) -> None:
    settings = load(
        novel,
        LIMIT.format(library) if library else "",
        LIMIT.format(user) if user else "",
        {"LRWR_SEARCH_LIMIT": str(env)} if env else {},
        search__limit=flag,
    )
    assert (settings.search.limit, settings.origin("search.limit").source) == expected


def test_a_value_from_a_file_knows_its_line(novel: Path) -> None:
    settings = load(novel, "# mine\n\n[search]\n# few\nlimit = 3\n")
    assert settings.origin("search.limit").where == f"{novel / 'lrwr.toml'}:5"


def test_dotted_and_inline_settings_are_understood(novel: Path) -> None:
    settings = load(novel, "search.limit = 3\nchunk = { size = 200, overlap = 9 }\n")
    assert (settings.search.limit, settings.chunk.size) == (3, 200)
    assert settings.origin("search.limit").where.endswith("lrwr.toml:1")


def test_a_file_saved_with_a_byte_order_mark_is_read(novel: Path) -> None:
    assert load(novel, "\ufeffpipeline = 'a'\n").pipeline is Pipeline.NAIVE


def test_lists_are_kept_in_order(novel: Path) -> None:
    settings = load(novel, '[manuscript]\nfolders = ["b", "a"]\n')
    assert settings.manuscript.folders == ("b", "a")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('pipline = "a"', ":1: unknown setting `pipline`; did you mean `pipeline`?"),
        ("\nlimit = 3", ":2: unknown setting `limit`; did you mean `search.limit`?"),
        ("[serach]\nlimit = 3", "`serach.limit`; did you mean `search.limit`?"),
        ("[gardening]\nroses = 3", ":2: unknown setting `gardening.roses`"),
        ("[gardening]", ":1: unknown setting `gardening`"),
        ('pipeline = "c"', '`pipeline` is "c", expected one of "a", "b"'),
        ("[search]\nlimit = 0", "`search.limit` is 0, expected a whole number from 1"),
        ("[search]\nlimit = 101", "expected a whole number from 1 to 100"),
        ("[search]\nlimit = true", "`search.limit` is true, expected a whole number"),
        ("[search]\nlimit = 2.5", "`search.limit` is 2.5, expected a whole number"),
        ("[output]\nprogress = 1", "`output.progress` is 1, expected true or false"),
        ('[output]\ncolor = "red"', 'expected one of "auto", "always", "never"'),
        ('[manuscript]\nfolders = "m"', '`manuscript.folders` is "m", expected a list'),
        ("[manuscript]\nfolders = [1]", "expected a list of strings"),
        ("search = 3", "`search` is a section, not a value"),
        ("[pipeline]\na = 1", "`pipeline` is a section, expected"),
        ("limit = ", "lrwr.toml is not valid TOML"),
        ("[chunk]\noverlap = 41\nsize = 80", "`chunk.overlap` is 41, more than half"),
        ("[chunk]\nsmallest = 221", "`chunk.smallest` is 221, more than half"),
    ],
)
def test_what_no_setting_understands_is_refused_with_its_place(
    novel: Path, text: str, said: str
) -> None:
    with pytest.raises(SettingsProblem) as caught:
        load(novel, text)
    assert str(novel / "lrwr.toml") in str(caught.value)
    assert said in str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code is ExitCode.SETTINGS


def test_an_unknown_name_like_nothing_gets_the_list_of_names(novel: Path) -> None:
    with pytest.raises(SettingsProblem) as caught:
        load(novel, "zzz = 1")
    assert "search.limit" in caught.value.hint


def test_a_size_that_is_not_set_follows_the_one_that_is(novel: Path) -> None:
    chunk = load(novel, "[chunk]\nsize = 80\nlargest = 100\n").chunk
    assert (chunk.overlap, chunk.smallest) == (40, 50)


@pytest.mark.parametrize(
    "text",
    [
        '[embedding]\napi_key = "sk-abc"',
        'OPENAI_API_KEY = "sk-abc"',
        '[embedding]\nopenai = { token = "sk-abc" }',
        'client-secret = "sk-abc"',
        'apiKey = "sk-abc"',
        '[zzz]\npassword = "sk-abc"',
    ],
)
def test_a_secret_in_a_file_is_refused_and_never_repeated(
    novel: Path, text: str
) -> None:
    with pytest.raises(SettingsProblem, match="looks like a secret") as caught:
        load(novel, text)
    assert "environment" in caught.value.hint
    assert "sk-abc" not in f"{caught.value}{caught.value.hint}"


def test_a_file_that_is_not_utf8_is_refused(novel: Path) -> None:
    (novel / "lrwr.toml").write_bytes(b'pipeline = "\xe9"')
    with pytest.raises(SettingsProblem, match="not UTF-8 text"):
        load_settings(novel, {}, {}, user=novel / "nowhere.toml")


@pytest.mark.parametrize(
    "text",
    [
        '[manuscript]\nfolders = ["m"]',
        '[manuscript]\norder = ["m"]',
        'state_dir = "~/state"',
    ],
)
def test_the_user_file_cannot_set_what_belongs_to_one_library(
    novel: Path, text: str
) -> None:
    with pytest.raises(SettingsProblem, match="belongs to one library"):
        load(novel, user=text)


def test_an_unknown_variable_is_warned_of_and_not_refused(novel: Path) -> None:
    settings = load(novel, env={"LRWR_SERCH_LIMIT": "3", "LRWR_ZZZ": "1", "HOME": "x"})
    assert settings.warnings == (
        "Unknown environment variable LRWR_SERCH_LIMIT;"
        " did you mean LRWR_SEARCH_LIMIT?",
        "Unknown environment variable LRWR_ZZZ.",
    )


def test_an_empty_variable_counts_as_not_set(novel: Path) -> None:
    assert load(novel, env={"LRWR_SEARCH_LIMIT": ""}).search.limit == 8


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("LRWR_SEARCH_LIMIT", "many"),
        ("LRWR_SEARCH_LIMIT", "-1"),
        ("LRWR_OUTPUT_PROGRESS", "perhaps"),
        ("LRWR_MODEL_BUDGET", "little"),
        ("LRWR_MODEL_BUDGET", "nan"),
        ("LRWR_PIPELINE", "c"),
    ],
)
def test_a_variable_that_says_no_such_value_is_named(
    novel: Path, variable: str, text: str
) -> None:
    with pytest.raises(SettingsProblem, match=f"{variable}: .*{text}"):
        load(novel, env={variable: text})


@pytest.mark.parametrize(
    ("text", "expected"), [("off", False), ("1", True), (" Yes ", True), ("NO", False)]
)
def test_a_variable_says_yes_or_no_in_several_ways(
    novel: Path, text: str, expected: bool
) -> None:
    assert load(novel, env={"LRWR_OUTPUT_PROGRESS": text}).output.progress is expected


def test_a_bound_that_another_place_makes_too_large_is_named(novel: Path) -> None:
    text = "[chunk]\nsmallest = 100\nlargest = 200"
    assert load(novel, text).chunk.smallest == 100
    with pytest.raises(SettingsProblem, match=r"`chunk\.smallest` is 100") as caught:
        load(novel, text, env={"LRWR_CHUNK_LARGEST": "199"})
    assert str(caught.value).startswith(f"{novel / 'lrwr.toml'}:2: ")
    assert caught.value.hint == "Set `chunk.smallest` to 99 or less."


def test_a_flag_with_a_value_out_of_range_is_refused(novel: Path) -> None:
    with pytest.raises(SettingsProblem, match=r"line: `search.limit` is 0"):
        load(novel, search__limit=0)


def values_of(setting: Setting) -> st.SearchStrategy[object]:
    if setting.choices:
        return st.sampled_from(setting.choices)
    match setting.default:
        case bool():
            return st.booleans()
        case int():
            return st.integers(setting.about.low, setting.about.high)
        case float():
            return st.floats(setting.about.low, setting.about.high)
        case tuple():
            return st.lists(st.text("abc/*. é", min_size=1), min_size=1).map(tuple)
        case _:
            return st.text("abc/~ é", min_size=1)


@given(st.data())
def test_every_value_a_setting_takes_comes_through_a_variable_unchanged(
    data: st.DataObject,
) -> None:
    setting = data.draw(st.sampled_from(list(index_settings().values())))
    value = data.draw(values_of(setting))
    text = ":".join(value) if isinstance(value, tuple) else str(value)
    found, warnings = collect_environment_settings({setting.variable: text})
    assert found[setting.key].value == value
    assert not warnings


@given(st.data())
def test_every_value_a_setting_takes_comes_through_a_flag_unchanged(
    data: st.DataObject,
) -> None:
    setting = data.draw(st.sampled_from(list(index_settings().values())))
    value = data.draw(values_of(setting))
    assert collect_flag_settings({setting.key: value})[setting.key].value == value
