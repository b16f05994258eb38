"""From what a file, a variable or a flag says to a value, or to a clear refusal."""

import os
from collections.abc import Iterable
from difflib import get_close_matches

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.example import format_toml_value
from lrwr.core.settings.model import index_settings
from lrwr.core.settings.schema import Setting

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


def parse_setting_value(setting: Setting, raw: object, where: str) -> object:
    """Return `raw` as the setting's own type.

    Raises:
        SettingsProblem: It is of another type, out of range or not on offer.
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
        raise _refusal(setting, raw, where)
    return value


def parse_setting_text(setting: Setting, text: str, where: str) -> object:
    """Return what a variable says as the setting's own type.

    Several texts are separated as in PATH: by `:`, on Windows by `;`.

    Raises:
        SettingsProblem: The text does not say such a value.
    """
    raw: object = text
    match setting.default:
        case bool():
            word = text.strip().lower()
            raw = True if word in _YES else False if word in _NO else text
        case int():
            digits = text.strip()
            raw = int(digits) if digits.isdecimal() else text
        case float():
            raw = _fraction(text)
        case tuple():
            raw = [part for part in text.split(os.pathsep) if part]
    return parse_setting_value(setting, raw, where)


def build_unknown_setting_error(key: str, where: str) -> SettingsProblem:
    """Say that no setting has this name, and which one was probably meant."""
    nearest = _nearest_setting(key)
    if nearest:
        message = f"{where}: unknown setting `{key}`; did you mean `{nearest}`?"
        return SettingsProblem(message, hint="Correct the name, or delete the line.")
    names = ", ".join(index_settings())
    return SettingsProblem(
        f"{where}: unknown setting `{key}`", hint=f"Use one of these: {names}."
    )


def find_nearest_name(word: str, names: Iterable[str]) -> str:
    """Return the name most like `word`, or nothing when none is like it."""
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
    low, high = setting.about.low, setting.about.high
    fits = (low is None or low <= raw) and (high is None or raw <= high)
    value = raw if is_integer else float(raw)
    return value if fits else None


def _fraction(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _texts(raw: object) -> object:
    if not isinstance(raw, list | tuple):
        return None
    return tuple(raw) if all(isinstance(part, str) for part in raw) else None


def _refusal(setting: Setting, raw: object, where: str) -> SettingsProblem:
    return SettingsProblem(
        f"{where}: `{setting.key}` is {format_toml_value(raw)}, expected {setting.expected}",
        hint=f"Change it, or delete it to get the default, "
        f"{format_toml_value(setting.default)}.",
    )
