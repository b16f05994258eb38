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


def parse_setting_value(setting: Setting, given: object, where: str) -> object:
    """Return `given` as the setting's own type.

    Raises:
        SettingsProblem: It is of another type, out of range or not on offer.
    """
    match setting.default:
        case _ if setting.choices:
            value = _choice(setting, given)
        case bool():
            value = given if isinstance(given, bool) else None
        case int() | float():
            value = _number(setting, given)
        case tuple():
            value = _texts(given)
        case _:
            value = given if isinstance(given, str) else None
    if value is None:
        raise _refusal(setting, given, where)
    return value


def parse_setting_text(setting: Setting, text: str, where: str) -> object:
    """Return what a variable says as the setting's own type.

    Several texts are separated as in PATH: by `:`, on Windows by `;`.

    Raises:
        SettingsProblem: The text does not say such a value.
    """
    given: object = text
    match setting.default:
        case bool():
            word = text.strip().lower()
            given = True if word in _YES else False if word in _NO else text
        case int():
            digits = text.strip()
            given = int(digits) if digits.isdecimal() else text
        case float():
            given = _fraction(text)
        case tuple():
            given = [part for part in text.split(os.pathsep) if part]
    return parse_setting_value(setting, given, where)


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
    for known in index_settings().values():
        if known.name == last:
            return known.key
    return find_nearest_name(key, index_settings())


def _choice(setting: Setting, given: object) -> object:
    return next((choice for choice in setting.choices if choice == given), None)


def _number(setting: Setting, given: object) -> object:
    whole = isinstance(setting.default, int)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if whole and not isinstance(given, int):
        return None
    low, high = setting.about.low, setting.about.high
    fits = (low is None or low <= given) and (high is None or given <= high)
    value = given if whole else float(given)
    return value if fits else None


def _fraction(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _texts(given: object) -> object:
    if not isinstance(given, list | tuple):
        return None
    return tuple(given) if all(isinstance(part, str) for part in given) else None


def _refusal(setting: Setting, given: object, where: str) -> SettingsProblem:
    return SettingsProblem(
        f"{where}: `{setting.key}` is {format_toml_value(given)}, expected {setting.expected}",
        hint=f"Change it, or delete it to get the default, "
        f"{format_toml_value(setting.default)}.",
    )
