"""How a setting is declared: once, where its value lives, with its meaning."""

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Literal, TypeVar, get_args, get_origin

T = TypeVar("T")

_ABOUT = "about"


@dataclass(frozen=True, slots=True)
class SettingMetadata:
    """What the type of a setting cannot say.

    `low` and `high` bound a number, both included. `per_library` marks a
    setting that means something in one library only. `example` is shown where the
    default would teach nothing.
    """

    meaning: str
    low: int | None = None
    high: int | None = None
    per_library: bool = False
    example: object = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that may be set.

    `key` is its dotted name in `lrwr.toml`; `choices` is empty unless only these
    values may be chosen.
    """

    key: str
    default: object
    choices: tuple[object, ...]
    about: SettingMetadata

    @property
    def section(self) -> str:
        """The `[section]` it stands in, empty for the top of the file."""
        return self.key.rpartition(".")[0]

    @property
    def name(self) -> str:
        """Its name inside the section."""
        return self.key.rpartition(".")[2]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "LRWR_" + self.key.upper().replace(".", "_")

    @property
    def expected(self) -> str:
        """What a value must be, as the end of "expected …"."""
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
                return 'a list of texts, such as ["one", "two"]'
            case _:
                return "a text in quotes"


def declare_setting(
    default: T,
    meaning: str,
    *,
    low: int | None = None,
    high: int | None = None,
    per_library: bool = False,
    example: object = None,
) -> T:
    """Declare a field of a settings dataclass; its annotation says what it takes.

    `bool`, `int` and `float` (which want `low` and `high`), `str`, `tuple[str, ...]`,
    and `Literal[...]` for a choice.
    """
    about = SettingMetadata(meaning, low, high, per_library, example)
    declared: T = field(default=default, metadata={_ABOUT: about})
    return declared


def iterate_settings(kind: type, prefix: str = "") -> Iterator[Setting]:
    """Yield the settings of a dataclass and of the sections in it, as written."""
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
