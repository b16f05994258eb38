"""Settings written as TOML, and the commented file that explains them all."""

import json
from textwrap import fill

from lrwr.core.settings.model import index_settings
from lrwr.core.settings.schema import Setting

_HEAD = """\
# lrwr.toml: the settings of one library, in the library's top folder.
#
# Every setting here is switched off: remove the # before one to change it.
# The same settings may stand in your own file for all libraries (`lrwr config path`
# says where). A flag wins over the environment, the environment over this file, this
# file over your own, and that over the defaults.
# Keys and passwords are never read from a file.
"""


def render_example_toml() -> str:
    """Return an `lrwr.toml` that explains every setting and changes none."""
    parts = [_HEAD]
    section = ""
    for setting in index_settings().values():
        if setting.section != section:
            section = setting.section
            parts.append(f"[{section}]\n")
        parts.append(_explained(setting))
    return "\n".join(parts)


def format_toml_value(value: object) -> str:
    """Return `value` as TOML writes it."""
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


def _explained(setting: Setting) -> str:
    comment = [
        _wrapped(setting.about.meaning),
        _wrapped(f"Takes {setting.expected}. Variable: {setting.variable}"),
    ]
    value = setting.default
    if setting.about.example is not None:
        value = setting.about.example
        comment.append(_wrapped(f"Default: {format_toml_value(setting.default)}"))
    return "\n".join([*comment, f"#{setting.name} = {format_toml_value(value)}", ""])


def _wrapped(text: str) -> str:
    return fill(
        text,
        width=88,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )
