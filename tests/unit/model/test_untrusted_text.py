import json
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.untrusted_text import (
    MAX_DEPTH,
    MAX_KEY_PARTS,
    InvalidText,
    parse_json,
    parse_toml,
    read_limited_file,
)

DEEP = 100_000
DIGITS = "9" * 100_000

BAD_TOML = {
    "arrays": "a = " + "[" * DEEP,
    "closed arrays": "a = " + "[" * 300 + "]" * 300,
    "inline tables": "a = " + "{b = " * DEEP,
    "dotted key": ".".join(["a"] * DEEP) + " = 1",
    "spaced key": " . ".join(["a"] * DEEP) + " = 1",
    "quoted key": ".".join(['"a"'] * DEEP) + " = 1",
    "header": "[" + ".".join(["a"] * DEEP) + "]",
    "key in a table": "x = {" + ".".join(["a"] * DEEP) + " = 1}",
    "key after a string": 'x = {y = "' + "." * 99 + '", ' + "a." * DEEP + "b = 1}",
    "digits": f"a = {DIGITS}",
    "257 bits": f"a = {2**256}",
    "no TOML": "a = \n",
}
BAD_JSON = {
    "arrays": "[" * DEEP,
    "closed arrays": "[" * 300 + "]" * 300,
    "objects": '{"a":' * DEEP,
    "digits": DIGITS,
    "257 bits": f"[{2**256}]",
    "no JSON": "{",
    "Latin-1": b'"\xe9"',
}


@pytest.mark.parametrize("text", BAD_TOML.values(), ids=BAD_TOML)
def test_toml_beyond_a_limit_is_refused_within_a_second(text: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidText):
        parse_toml(text)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("text", BAD_JSON.values(), ids=BAD_JSON)
def test_json_beyond_a_limit_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidText) as caught:
        parse_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[[],"]",', '[{"a":1},'])
def test_deep_json_is_refused_before_the_parser_recurses(opening: str) -> None:
    with pytest.raises(InvalidText, match="nested more than") as caught:
        parse_json((opening * DEEP).encode())
    assert caught.value.__context__ is None


def test_brackets_in_strings_and_side_by_side_are_no_nesting() -> None:
    value = ["[" * 500, '"' + "{[" * 500, *([{}] * 500)]
    assert parse_json(json.dumps(value)) == value


def test_values_at_the_limits_are_read() -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse_json(deep) == json.loads(deep)
    key = ".".join(["a"] * MAX_KEY_PARTS)
    assert parse_toml(f"{key} = {2**63 - 1}")
    assert parse_json(str(2**256 - 1)) == 2**256 - 1


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_dots_in_a_string_or_comment_are_no_key(quote: str) -> None:
    dots = "a." * 1000
    text = f"a = {quote}{dots}{quote} # {dots}\n# {dots}\nb = [1.5, 2.5]\n"
    assert parse_toml(text) == {"a": dots, "b": [1.5, 2.5]}


def test_many_numbers_and_dates_on_a_line_are_no_key() -> None:
    assert len(parse_toml(f"a = [{'1.5, ' * 1000}]")["a"]) == 1000


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**256 - 1) | st.text()


@given(
    st.recursive(
        SCALARS, lambda part: st.lists(part) | st.dictionaries(st.text(), part)
    )
)
def test_json_that_json_writes_is_read_as_it_was(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@given(st.text(alphabet="ab.\"'[]{}=#\\ \n\t19-", max_size=400))
def test_no_text_raises_another_error(text: str) -> None:
    for parse in (parse_toml, parse_json):
        try:
            parse(text)
        except InvalidText:
            continue


def test_a_file_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_bytes(b"x" * 2048)
    assert len(read_limited_file(file, 2048)) == 2048
    with pytest.raises(InvalidText, match="it is larger than 1 KB"):
        read_limited_file(file, 1024)


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes in folders")
def test_a_pipe_or_device_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(InvalidText, match="not a regular file"):
            read_limited_file(path, 1024)
