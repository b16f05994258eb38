"""Reads the settings of one run: flags > environment > lrwr.toml > user file > defaults."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TypeVar

from lrwr.core.model.errors import SettingsProblem
from lrwr.core.settings.model import Settings, SettingSource, index_settings
from lrwr.core.settings.places import (
    SETTINGS_FILE_NAME,
    find_library_root,
    get_user_settings_path,
)
from lrwr.core.settings.sources import (
    SettingValue,
    collect_environment_settings,
    collect_flag_settings,
    load_settings_file,
)

S = TypeVar("S")


def load_settings(
    start: Path,
    env: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    user: Path | None = None,
) -> Settings:
    """Return the settings that hold for a command run in `start`.

    `flags` go by dotted name ("search.limit"), None for one that was not given.
    `user` is the user's own file, by default where the system keeps such files.

    Raises:
        SettingsProblem: A file, variable or flag cannot be understood.
    """
    user = user or get_user_settings_path()
    root = find_library_root(start, user=user, home=Path.home())
    from_env, warnings = collect_environment_settings(env)
    given: dict[str, SettingValue] = {
        **_for_every_library(load_settings_file(user, SettingSource.USER)),
        **load_settings_file(root / SETTINGS_FILE_NAME, SettingSource.LIBRARY),
        **from_env,
        **collect_flag_settings(flags),
    }
    settings = _built(root, given, tuple(warnings))
    settings = _with_half(settings, "overlap", "size")
    return _with_half(settings, "smallest", "largest")


def _for_every_library(given: dict[str, SettingValue]) -> dict[str, SettingValue]:
    for key, one in given.items():
        local = index_settings()[key].about.per_library
        shared = key == "state_dir" and _is_absolute(str(one.value))
        if local or shared:
            raise SettingsProblem(
                f"{one.origin.where}: `{key}` would hold for all your libraries at once",
                hint="Move the line into the lrwr.toml of the library it belongs to.",
            )
    return given


def _is_absolute(path: str) -> bool:
    return path.startswith("~") or Path(path).is_absolute()


def _built(
    root: Path, given: Mapping[str, SettingValue], warnings: tuple[str, ...]
) -> Settings:
    sections = {
        found.name: _section(found.type, found.name, given, {})
        for found in fields(Settings)
        if isinstance(found.type, type) and is_dataclass(found.type)
    }
    origins = {key: one.origin for key, one in given.items()}
    rest = {"root": root, "origins": origins, "warnings": warnings, **sections}
    return _section(Settings, "", given, rest)


def _section(
    make: Callable[..., S],
    name: str,
    given: Mapping[str, SettingValue],
    rest: Mapping[str, object],
) -> S:
    values = {
        found.name: given[found.key].value
        for found in index_settings().values()
        if found.section == name and found.key in given
    }
    return make(**values, **rest)


def _with_half(settings: Settings, less: str, more: str) -> Settings:
    """Keep the size `less` of chunks at most half of `more`.

    One that the writer did not set follows; one that they did is theirs to change.
    """
    chunk = settings.chunk
    half, whole = getattr(chunk, less), getattr(chunk, more)
    if half * 2 <= whole:
        return settings
    where = settings.origin(f"chunk.{less}").where
    if not where:
        followed = replace(chunk, **{less: whole // 2})
        return replace(settings, chunk=followed)
    raise SettingsProblem(
        f"{where}: `chunk.{less}` is {half}, more than half of `chunk.{more}`, {whole}",
        hint=f"Set `chunk.{less}` to {whole // 2} or less.",
    )
