"""Declaration of settings: one call per field gives default, range and description."""

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Literal, TypeVar, get_args, get_origin

T = TypeVar("T")

_ABOUT = "about"


@dataclass(frozen=True, slots=True)
class SettingMetadata:
    """Description and limits of a setting, which its type does not express.

    `meaning` is the description that users read. `low` and `high` bound a number, both
    inclusive. `per_library` marks a setting that a user's own file may not set.
    `example` replaces the default in `lrwr.toml.example` where the default is empty.
    """

    meaning: str
    low: int | None = None
    high: int | None = None
    per_library: bool = False
    example: object = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting: its name, default and description.

    `key` is its dotted name in `lrwr.toml`, such as `search.limit`. `choices` are the
    only values allowed; empty if any value of the type is.
    """

    key: str
    default: object
    choices: tuple[object, ...]
    about: SettingMetadata

    @property
    def section(self) -> str:
        """The `[section]` of the setting; empty for the top of the file."""
        return self.key.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The name of the setting without its section."""
        return self.key.rpartition(".")[2]

    @property
    def variable(self) -> str:
        """The environment variable that sets it, such as `LRWR_SEARCH_LIMIT`."""
        return "LRWR_" + self.key.upper().replace(".", "_")

    @property
    def expected(self) -> str:
        """Description of the allowed values, for the phrase "expected …" in error
        messages.
        """
        if self.choices:
            quoted = [f'"{choice}"' for choice in self.choices]
            return quoted[0] if len(quoted) == 1 else "one of " + ", ".join(quoted)
        match self.default:
            case bool():
                return "true or false"
            case int():
                return f"a whole number from {self.about.low} to {self.about.high}"
            case float():
                return f"a number from {self.about.low} to {self.about.high}"
            case tuple():
                example = self.about.example
                texts = example if isinstance(example, tuple) else ("one", "two")
                joined = ", ".join(f'"{text}"' for text in texts)
                return f"a list of strings, such as [{joined}]"
            case _:
                return "a string in quotes"


def declare_setting(
    default: T,
    meaning: str,
    *,
    low: int | None = None,
    high: int | None = None,
    per_library: bool = False,
    example: object = None,
) -> T:
    """Return a dataclass field that declares a setting.

    The annotation of the field gives the type: `bool`, `int` or `float` (which need
    `low` and `high`, both inclusive), `str`, `tuple[str, ...]`, or `Literal[...]` for a
    choice. For `meaning`, `per_library` and `example` see `SettingMetadata`.
    """
    about = SettingMetadata(meaning, low, high, per_library, example)
    declared: T = field(default=default, metadata={_ABOUT: about})
    return declared


def iterate_settings(kind: type, prefix: str = "") -> Iterator[Setting]:
    """Yield the settings of the dataclass `kind` and of its sections, in the order of
    declaration.

    `prefix` is put before every key; it ends in a dot, unless it is empty.
    """
    for setting_field in _fields(kind):
        if isinstance(setting_field.type, type) and is_dataclass(setting_field.type):
            yield from iterate_settings(setting_field.type, f"{setting_field.name}.")
        elif _ABOUT in setting_field.metadata:
            choices = (
                get_args(setting_field.type)
                if get_origin(setting_field.type) is Literal
                else ()
            )
            about: SettingMetadata = setting_field.metadata[_ABOUT]
            yield Setting(
                prefix + setting_field.name, setting_field.default, choices, about
            )


def _fields(kind: type) -> tuple[Field[object], ...]:
    return fields(kind) if is_dataclass(kind) else ()
