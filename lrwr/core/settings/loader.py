"""Loading of settings: options > environment > lrwr.toml > user file > defaults.

Also parses and formats values, and renders the commented `lrwr.toml.example`.
"""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from typing import TypeVar

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.untrusted_text import InvalidText, parse_toml, read_limited_file
from lrwr.core.settings.library import (
    SETTINGS_FILE_NAME,
    find_library_root,
    get_user_settings_path,
)
from lrwr.core.settings.model import (
    SettingOrigin,
    Settings,
    SettingSource,
    index_settings,
)
from lrwr.core.settings.schema import Setting

_HEAD = """\
# lrwr.toml: the settings of one library, in the library's top folder.
#
# Every setting here is commented out: remove the # before a setting to change it.
# Your own file for all libraries (`lrwr config path` shows it) takes the same settings.
# Command-line options override environment variables, which override this file, which
# overrides your own file, which overrides the defaults.
# Keys and passwords are never read from a file.
"""


def render_example_toml() -> str:
    """Return the text of an `lrwr.toml` that describes every setting, each one
    commented out.
    """
    parts = [_HEAD]
    section = ""
    for setting in index_settings().values():
        if setting.section != section:
            section = setting.section
            parts.append(f"[{section}]\n")
        parts.append(_render_setting(setting))
    return "\n".join(parts)


def format_toml_value(value: object) -> str:
    """Return `value` as TOML text; a table becomes the words "a section"."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            text = json.dumps(str(value), ensure_ascii=False)
            return text.replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(format_toml_value(part) for part in value)}]"
        case dict():
            return "a section"
        case _:
            return str(value)


def _render_setting(setting: Setting) -> str:
    comment = [
        _wrap(setting.about.meaning),
        _wrap(f"Value: {setting.expected}. Variable: {setting.variable}"),
    ]
    value = setting.default
    if setting.about.example is not None:
        value = setting.about.example
        comment.append(_wrap(f"Default: {format_toml_value(setting.default)}"))
    return "\n".join([*comment, f"#{setting.name} = {format_toml_value(value)}", ""])


def _wrap(text: str) -> str:
    return fill(
        text,
        width=88,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


def parse_setting_value(setting: Setting, raw: object, where: str) -> object:
    """Return the value `raw` of a TOML file or option in the type of `setting`.

    `where` names the source in error messages.

    Raises:
        SettingsProblem: The value has another type, is out of range or is not a choice.
    """
    match setting.default:
        case _ if setting.choices:
            value = _choice(setting, raw)
        case bool():
            value = raw if isinstance(raw, bool) else None
        case int() | float():
            value = _number(setting, raw)
        case tuple():
            value = _texts(raw)
        case _:
            value = raw if isinstance(raw, str) else None
    if value is None:
        raise _invalid_value_error(setting, raw, where)
    return value


def parse_setting_text(setting: Setting, text: str, where: str) -> object:
    """Return the text of an environment variable in the type of `setting`.

    A boolean is true, yes, on or 1, or false, no, off or 0. The parts of a list are
    separated as in PATH: by `:`, on Windows by `;`. `where` names the variable in error
    messages.

    Raises:
        SettingsProblem: The text is not a valid value.
    """
    raw: object = text
    match setting.default:
        case bool():
            word = text.strip().lower()
            raw = True if word in _YES else False if word in _NO else text
        case int():
            digits = text.strip()
            raw = int(digits) if digits.isdecimal() and len(digits) < 19 else text
        case float():
            raw = _parse_float(text)
        case tuple():
            raw = [part for part in text.split(os.pathsep) if part]
    return parse_setting_value(setting, raw, where)


def build_unknown_setting_error(key: str, where: str) -> SettingsProblem:
    """Return the error for the unknown setting `key`; it suggests the most similar
    name.

    `where` names the file, variable or option in the message.
    """
    nearest = _nearest_setting(key)
    if nearest:
        message = f"{where}: unknown setting `{key}`; did you mean `{nearest}`?"
        return SettingsProblem(message, hint="Correct the name, or delete the line.")
    names = ", ".join(index_settings())
    return SettingsProblem(
        f"{where}: unknown setting `{key}`", hint=f"Use one of: {names}."
    )


def find_nearest_name(word: str, names: Iterable[str]) -> str:
    """Return the name most similar to `word`; empty if none is similar."""
    close_matches = get_close_matches(word, list(names), n=1, cutoff=0.7)
    return close_matches[0] if close_matches else ""


def _nearest_setting(key: str) -> str:
    last = key.rpartition(".")[2]
    for setting in index_settings().values():
        if setting.name == last:
            return setting.key
    return find_nearest_name(key, index_settings())


def _choice(setting: Setting, raw: object) -> object:
    return next((choice for choice in setting.choices if choice == raw), None)


def _number(setting: Setting, raw: object) -> object:
    is_integer = isinstance(setting.default, int)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    if is_integer and not isinstance(raw, int):
        return None
    if isinstance(raw, float) and not math.isfinite(raw):
        return None
    low, high = setting.about.low, setting.about.high
    fits = (low is None or low <= raw) and (high is None or raw <= high)
    value = raw if is_integer else float(raw)
    return value if fits else None


def _parse_float(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _texts(raw: object) -> object:
    if not isinstance(raw, list | tuple):
        return None
    return tuple(raw) if all(isinstance(part, str) for part in raw) else None


def _invalid_value_error(setting: Setting, raw: object, where: str) -> SettingsProblem:
    return SettingsProblem(
        f"{where}: `{setting.key}` is {format_toml_value(raw)}, expected {setting.expected}",
        hint="Change it, or delete it to use the default,"
        f" {format_toml_value(setting.default)}.",
    )


_MAX_SETTINGS_BYTES = 1024 * 1024
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"\s*([\w.\"'-]+)\s*=")
_SECRET_WORDS = frozenset(
    {"key", "apikey", "token", "secret", "password", "passphrase", "credentials"}
)


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The value of one setting, and the file, variable or option that it comes from."""

    value: object
    origin: SettingOrigin


def load_settings_file(path: Path, source: SettingSource) -> dict[str, SettingValue]:
    """Return the settings in the file `path`, by key; empty if the file does not exist.

    Raises:
        SettingsProblem: The file cannot be read, is not valid TOML, or has an unknown
            setting or an invalid value.
    """
    text = _read_text(path)
    try:
        content = parse_toml(text)
    except InvalidText as error:
        raise SettingsProblem(
            f"{path} is not valid TOML: {error}",
            hint=_suggest_toml_correction(str(error)),
        ) from error
    lines = _index_lines(text)
    values: dict[str, SettingValue] = {}
    for key, value in _flatten(content):
        where = f"{path}:{lines[key]}" if key in lines else str(path)
        values[key] = SettingValue(
            _parse_value(key, value, where), SettingOrigin(source, where)
        )
    return values


def _suggest_toml_correction(message: str) -> str:
    """Return the hint for a syntax error of `tomllib`, by the words of its message."""
    if "declaration" in message:
        return "Write a heading in brackets on a line of its own, as in `[search]`."
    if "Invalid value" in message:
        return 'Put text in quotes and lists in brackets, as in name = ["a", "b"].'
    if "Unclosed array" in message:
        return 'Close the list with a bracket, as in name = ["a", "b"].'
    if "Expected '='" in message:
        return 'Write each setting as a name and a value, as in name = "value".'
    return "Correct that line of the file."


def collect_environment_settings(
    env: Mapping[str, str],
) -> tuple[dict[str, SettingValue], list[str]]:
    """Return the settings in `LRWR_*` variables by key, and a warning for each unknown
    variable.

    `env` maps variables to values. An empty variable counts as not set.

    Raises:
        SettingsProblem: A variable has an invalid value.
    """
    setting_by_variable = {
        setting.variable: setting for setting in index_settings().values()
    }
    values: dict[str, SettingValue] = {}
    warnings: list[str] = []
    for name in sorted(env):
        if not name.startswith("LRWR_") or not env[name]:
            continue
        if name in setting_by_variable:
            value = parse_setting_text(setting_by_variable[name], env[name], name)
            values[setting_by_variable[name].key] = SettingValue(
                value, SettingOrigin(SettingSource.ENVIRONMENT, name)
            )
        else:
            warnings.append(_unknown_variable_warning(name, setting_by_variable))
    return values, warnings


def collect_flag_settings(flags: Mapping[str, object]) -> dict[str, SettingValue]:
    """Return the settings of command-line options by key, such as `search.limit`.

    `flags` maps keys to values; an option whose value is None is absent and left out.

    Raises:
        SettingsProblem: A key is unknown, or a value is invalid.
    """
    values: dict[str, SettingValue] = {}
    for key, value in flags.items():
        if value is not None:
            checked = _parse_value(key, value, "command line")
            values[key] = SettingValue(checked, SettingOrigin(SettingSource.FLAG, key))
    return values


def _read_text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        return read_limited_file(path, _MAX_SETTINGS_BYTES).decode("utf-8-sig")
    except InvalidText as error:
        raise SettingsProblem(
            f"{path} cannot be read: {error}",
            hint="Delete everything that is not a setting.",
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsProblem(
            f"{path} is not UTF-8 text", hint="Save it again as UTF-8."
        ) from error
    except OSError as error:
        raise SettingsProblem(
            f"{path} cannot be read: {error.strerror}",
            hint="Check the permissions of the file.",
        ) from error


def _flatten(
    content: Mapping[str, object], prefix: str = ""
) -> Iterator[tuple[str, object]]:
    for name, value in content.items():
        key = prefix + name
        if isinstance(value, dict) and key not in index_settings():
            yield from _flatten(value, f"{key}.")
            if value or _is_section(key):
                continue
        yield key, value


def _is_section(key: str) -> bool:
    return any(setting.section == key for setting in index_settings().values())


def _parse_value(key: str, value: object, where: str) -> object:
    if key in index_settings():
        return parse_setting_value(index_settings()[key], value, where)
    if _looks_secret(key):
        raise SettingsProblem(
            f"{where}: `{key}` looks like a secret, and lrwr reads no secrets from files",
            hint="Delete the line, and replace the secret if the file was shared. Store"
            " keys with `lrwr config set-key`, or in environment variables such as"
            " OPENAI_API_KEY.",
        )
    if _is_section(key):
        raise SettingsProblem(
            f"{where}: `{key}` is a section, not a value",
            hint=f"Write `[{key}]` on a line of its own, and its settings below.",
        )
    raise build_unknown_setting_error(key, where)


def _looks_secret(key: str) -> bool:
    words = re.split(r"[^a-z]+", key.rpartition(".")[2].lower())
    return not _SECRET_WORDS.isdisjoint(words)


def _unknown_variable_warning(name: str, variables: Mapping[str, object]) -> str:
    nearest = find_nearest_name(name, variables)
    suggestion = f"; did you mean {nearest}?" if nearest else "."
    return f"Unknown environment variable {name}{suggestion}"


def _index_lines(text: str) -> dict[str, int]:
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


S = TypeVar("S")


def load_settings(
    start: Path,
    env: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    user: Path | None = None,
) -> Settings:
    """Return the settings for a command that runs in the folder `start`.

    Sources, the first wins: `flags`, `env`, the `lrwr.toml` of the library (the nearest
    folder from `start` upward that is one), the user's own settings file, the defaults.

    `env` maps environment variables to values. `flags` maps keys such as `search.limit`
    to values of command-line options; None means that the option is absent. `user` is
    the user's own settings file, by default in the configuration folder of the
    operating system.

    Raises:
        SettingsProblem: A file, variable or option has an invalid value.
    """
    user = user or get_user_settings_path()
    root = find_library_root(start, user=user, home=Path.home())
    from_env, warnings = collect_environment_settings(env)
    values: dict[str, SettingValue] = {
        **_check_user_settings(load_settings_file(user, SettingSource.USER)),
        **load_settings_file(root / SETTINGS_FILE_NAME, SettingSource.LIBRARY),
        **from_env,
        **collect_flag_settings(flags),
    }
    settings = _build_settings(root, values, tuple(warnings))
    settings = _limit_to_half(settings, "overlap", "size")
    return _limit_to_half(settings, "smallest", "largest")


def _check_user_settings(values: dict[str, SettingValue]) -> dict[str, SettingValue]:
    for key, setting_value in values.items():
        local = index_settings()[key].about.per_library
        shared = key == "state_dir" and _is_absolute(str(setting_value.value))
        if local or shared:
            raise SettingsProblem(
                f"{setting_value.origin.where}: `{key}` belongs to one library, not to your own settings file",
                hint="Move the line to the lrwr.toml of the library.",
            )
    return values


def _is_absolute(path: str) -> bool:
    return path.startswith("~") or Path(path).is_absolute()


def _build_settings(
    root: Path, values: Mapping[str, SettingValue], warnings: tuple[str, ...]
) -> Settings:
    sections = {
        section_field.name: _build_section(
            section_field.type, section_field.name, values, {}
        )
        for section_field in fields(Settings)
        if isinstance(section_field.type, type) and is_dataclass(section_field.type)
    }
    origins = {key: setting_value.origin for key, setting_value in values.items()}
    other_fields = {"root": root, "origins": origins, "warnings": warnings, **sections}
    return _build_section(Settings, "", values, other_fields)


def _build_section(
    make: Callable[..., S],
    name: str,
    setting_values: Mapping[str, SettingValue],
    other_fields: Mapping[str, object],
) -> S:
    values = {
        setting.name: setting_values[setting.key].value
        for setting in index_settings().values()
        if setting.section == name and setting.key in setting_values
    }
    return make(**values, **other_fields)


def _limit_to_half(settings: Settings, less: str, more: str) -> Settings:
    """Return the settings with the chunk size `less` at most half of the chunk size
    `more`.

    A default is lowered; a value that the user set is an error.
    """
    chunk = settings.chunk
    half, full_size = getattr(chunk, less), getattr(chunk, more)
    if half * 2 <= full_size:
        return settings
    where = settings.origin(f"chunk.{less}").where
    if not where:
        followed = replace(chunk, **{less: full_size // 2})
        return replace(settings, chunk=followed)
    raise SettingsProblem(
        f"{where}: `chunk.{less}` is {half}, more than half of `chunk.{more}` ({full_size})",
        hint=f"Set `chunk.{less}` to {full_size // 2} or less.",
    )
