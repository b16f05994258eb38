"""The places a value may come from: a file, the environment, flags."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import SettingOrigin, SettingSource, index_settings
from lrwr.core.settings.parser import (
    build_unknown_setting_error,
    find_nearest_name,
    parse_setting_text,
    parse_setting_value,
)

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"\s*([\w.\"'-]+)\s*=")
_SECRET_WORDS = frozenset(
    {"key", "apikey", "token", "secret", "password", "passphrase", "credentials"}
)


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value that was set, and where."""

    value: object
    origin: SettingOrigin


def load_settings_file(path: Path, source: SettingSource) -> dict[str, SettingValue]:
    """Return what a settings file sets, by dotted name; nothing when it is not there.

    Raises:
        SettingsProblem: The file cannot be read, is no TOML, or says something that
            no setting understands.
    """
    text = _text_of(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsProblem(
            f"{path} is not valid TOML: {error}",
            hint='Write texts in quotes and lists in brackets, as in name = ["a", "b"].',
        ) from error
    lines = _lines_of_keys(text)
    given: dict[str, SettingValue] = {}
    for key, value in _flat(content):
        where = f"{path}:{lines[key]}" if key in lines else str(path)
        given[key] = SettingValue(
            _checked(key, value, where), SettingOrigin(source, where)
        )
    return given


def collect_environment_settings(
    env: Mapping[str, str],
) -> tuple[dict[str, SettingValue], list[str]]:
    """Return what `LRWR_*` variables set, and a warning for each that sets nothing.

    An empty variable counts as not set.

    Raises:
        SettingsProblem: A variable holds a value its setting cannot take.
    """
    known = {setting.variable: setting for setting in index_settings().values()}
    given: dict[str, SettingValue] = {}
    warnings: list[str] = []
    for name in sorted(env):
        if not name.startswith("LRWR_") or not env[name]:
            continue
        if name in known:
            value = parse_setting_text(known[name], env[name], name)
            given[known[name].key] = SettingValue(
                value, SettingOrigin(SettingSource.ENVIRONMENT, name)
            )
        else:
            warnings.append(_nothing_set(name, known))
    return given, warnings


def collect_flag_settings(flags: Mapping[str, object]) -> dict[str, SettingValue]:
    """Return what flags set, by dotted name; None means the flag was not given.

    Raises:
        SettingsProblem: A flag holds a value its setting cannot take.
    """
    given: dict[str, SettingValue] = {}
    for key, value in flags.items():
        if value is not None:
            checked = _checked(key, value, "command line")
            given[key] = SettingValue(checked, SettingOrigin(SettingSource.FLAG, key))
    return given


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise SettingsProblem(
            f"{path} is not a UTF-8 text", hint="Save it again as UTF-8."
        ) from error
    except OSError as error:
        raise SettingsProblem(
            f"{path} cannot be read: {error.strerror}",
            hint="Check that the file may be read by you.",
        ) from error


def _flat(
    content: Mapping[str, object], prefix: str = ""
) -> Iterator[tuple[str, object]]:
    for name, value in content.items():
        key = prefix + name
        if isinstance(value, dict) and key not in index_settings():
            yield from _flat(value, f"{key}.")
            if value or _is_section(key):
                continue
        yield key, value


def _is_section(key: str) -> bool:
    return any(setting.section == key for setting in index_settings().values())


def _checked(key: str, value: object, where: str) -> object:
    if key in index_settings():
        return parse_setting_value(index_settings()[key], value, where)
    if _sounds_secret(key):
        raise SettingsProblem(
            f"{where}: `{key}` looks like a secret, and secrets are never read from"
            " a file",
            hint="Delete the line, and change the secret if the file was shared;"
            " keep keys in the keyring, with `lrwr config set-key`, or in environment"
            " variables such as OPENAI_API_KEY.",
        )
    if _is_section(key):
        raise SettingsProblem(
            f"{where}: `{key}` is a section, not a value",
            hint=f"Write [{key}] on a line of its own, and its settings below.",
        )
    raise build_unknown_setting_error(key, where)


def _sounds_secret(key: str) -> bool:
    words = re.split(r"[^a-z]+", key.rpartition(".")[2].lower())
    return not _SECRET_WORDS.isdisjoint(words)


def _nothing_set(name: str, known: Mapping[str, object]) -> str:
    nearest = find_nearest_name(name, known)
    meant = f"; did you mean {nearest}?" if nearest else "."
    return f"The environment variable {name} sets nothing{meant}"


def _lines_of_keys(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            section = f"{_plain(header[1])}."
            lines.setdefault(section[:-1], number)
        elif key := _KEY.match(line):
            lines.setdefault(section + _plain(key[1]), number)
    return lines


def _plain(key: str) -> str:
    return key.replace('"', "").replace("'", "")
