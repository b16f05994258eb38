"""Parses the `[screen] keys` setting, and corrects keys that terminals send
differently.
"""

import unicodedata
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from difflib import get_close_matches
from itertools import product
from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import KEY_ALIASES, KEY_NAME_REPLACEMENTS, Keys, key_to_character

from lrwr.tui.actions.keys_and_commands import (
    FIXED_ACTIONS,
    PROMPT_ACTIONS,
    ROOM_ACTIONS,
    SOURCE_ACTIONS,
    TURN_ACTIONS,
    Action,
)
from lrwr.tui.actions.screen_keys import SCREEN_ACTIONS

ALL_ACTIONS = (
    *ROOM_ACTIONS,
    *PROMPT_ACTIONS,
    *SOURCE_ACTIONS,
    *TURN_ACTIONS,
    *(action for _, actions in SCREEN_ACTIONS for action in actions),
)
"""Actions whose keys can be configured."""

LETTER_KEY_PREFIXES = (
    "place.",
    "gaps.",
    "threads.",
    "library.",
    "reader.",
    "list.find",
)
"""Prefixes of actions that letters may run: no text is typed where they are active."""

CONCURRENT_PREFIXES = (
    *(frozenset({"room", part}) for part in ("prompt", "place", "turn")),
    *(
        frozenset({"list", part})
        for part in (
            "gaps",
            "threads",
            "characters",
            "people",
            "library",
            "search",
            "check",
            "review",
        )
    ),
)
"""Prefixes of actions that are active at the same time."""

GLOBAL_ACTIONS = frozenset({"room.quit", "room.help"})
"""Actions that also work while another screen covers the chat screen."""

MODIFIERS = frozenset({"alt", "ctrl", "hyper", "meta", "shift", "super"})

KEY_SYNONYMS = {
    "control": "ctrl",
    "option": "alt",
    "cmd": "super",
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "pgup": "pageup",
    "pgdn": "pagedown",
}
"""Other names of keys, and Textual's names."""


KEY_LABELS = {"escape": "Esc", "pageup": "Page Up", "pagedown": "Page Down"}
"""Names of keys that users see, where they differ from Textual's."""

KEY_UNICODE_NAMES = {name: called for called, name in KEY_NAME_REPLACEMENTS.items()}
"""Unicode names of symbols by Textual's names, such as "solidus" for "slash"."""

REASSIGN_HINT = "Assign another key to that action first."


def parse_keymap(lines: Sequence[str]) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Parse the lines of the `[screen] keys` setting.

    A line has an action id, a space, and keys separated by commas. The first result
    maps action ids to their valid keys, separated by commas; actions without any are
    left out. The second has a warning sentence for each invalid line or key. A key that
    another action uses is invalid, unless that action is assigned other keys.
    """
    bindings: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for line in lines:
        name, _, keys = line.strip().partition(" ")
        accepted, rejected = _parse_keys(name, keys)
        problems += rejected
        if accepted:
            bindings[name] = accepted
    while clash := next(_clashes(bindings), None):
        name, key, other = clash
        problems.append(
            f"{format_key(key)} cannot be assigned to {name}: {other.id}"
            f" (“{other.title}”) uses it."
            f" {'That key is fixed.' if other in FIXED_ACTIONS else REASSIGN_HINT}"
        )
        rest = tuple(k for k in bindings.pop(name) if k != key)
        if rest:
            bindings[name] = rest
    return {name: ",".join(keys) for name, keys in bindings.items()}, tuple(problems)


def resolve_keys(action: Action, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of an action in Textual's notation, in their configured order.

    `keymap` is the first result of `parse_keymap`; an action that it does not contain
    has its default keys.
    """
    keys = keymap.get(action.id, action.keys)
    return tuple(normalize_key(part) for part in keys.split(","))


def format_key(key: str) -> str:
    """Return the name of a key as users know it, such as Ctrl+O, F2 or Alt+Enter."""
    *modifiers, name = normalize_key(key).split("+")
    character = key_to_character(KEY_UNICODE_NAMES.get(name, name)) or ""
    name = character if character.isprintable() and character.strip() else name
    if not modifiers and len(name) == 1:
        return name
    parts = [*modifiers, KEY_LABELS.get(name, name.replace("_", " "))]
    return "+".join(part[:1].upper() + part[1:] for part in parts)


def normalize_key(key: str) -> str:
    """Return the name of a key in Textual's notation, such as "ctrl+o".

    Modifiers are in alphabetical order, symbols have names ("full_stop").
    """
    parts = [part.strip() for part in key.split("+")]
    *modifiers, name = parts if key.strip() != "+" else ["plus"]
    before = sorted(KEY_SYNONYMS.get(m.lower(), m.lower()) for m in modifiers if m)
    name = name.lower() if len(name) > 1 or before else name
    combination = "+".join([*before, KEY_SYNONYMS.get(name, _name_symbol(name))])
    aliases = (
        key for key, alternatives in KEY_ALIASES.items() if combination in alternatives
    )
    return next(aliases, combination)


def _name_symbol(name: str) -> str:
    """Return Textual's name of a symbol, such as full_stop.

    Return other names unchanged.
    """
    if len(name) != 1 or name.isalnum():
        return name
    called = unicodedata.name(name, "").lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(called, called)


def _parse_keys(name: str, keys: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the valid keys of a line, and warnings about the others."""
    action_ids = [action.id for action in ALL_ACTIONS]
    if name not in action_ids:
        similar_names = get_close_matches(name, action_ids, n=1)
        offer = f" Did you mean {similar_names[0]}?" if similar_names else ""
        return (), [f"There is no action “{name}” in `[screen] keys`.{offer}"]
    parsed = [normalize_key(key) for key in keys.split(",") if key.strip()]
    if not parsed:
        return (), [f"“{name}” in `[screen] keys` has no key."]
    problems = {key: _explain_rejection(name, key) for key in parsed}
    usable_keys = tuple(key for key, problem in problems.items() if not problem)
    return usable_keys, [problem for problem in problems.values() if problem]


def _explain_rejection(name: str, key: str) -> str:
    """Return why a key cannot be assigned to an action; empty if it can."""
    if not _is_key(key):
        return f"“{key}” is not a valid key for {name}."
    if _is_printable(name, key):
        return (
            f"“{format_key(key)}” types a character, so it cannot be assigned to"
            f" {name}. Add ctrl+ or alt+."
        )
    return ""


def _is_key(key: str) -> bool:
    *modifiers, name = key.split("+")
    if not name or not MODIFIERS.issuperset(modifiers):
        return False
    named = {key.value for key in Keys if not key.value.startswith("<")}
    named |= set(KEY_NAME_REPLACEMENTS.values())
    return name in named or key_to_character(name) is not None


def _is_printable(name: str, key: str) -> bool:
    """Return whether a key types a character where the action's widget accepts text."""
    if name.startswith(LETTER_KEY_PREFIXES):
        return False
    *modifiers, last = key.split("+")
    return set(modifiers) <= {"shift"} and key_to_character(last) is not None


def _clashes(
    bindings: dict[str, tuple[str, ...]],
) -> Iterator[tuple[str, str, Action]]:
    """Yield conflicts, last line first: action id, key, and the action that uses the key."""
    keymap = {name: ",".join(keys) for name, keys in bindings.items()}
    for name, other in product(reversed(bindings), (*ALL_ACTIONS, *FIXED_ACTIONS)):
        if other.id == name or not _are_concurrent(name, other.id):
            continue
        other_keys = resolve_keys(other, keymap)
        yield from ((name, key, other) for key in bindings[name] if key in other_keys)


def _are_concurrent(name: str, other: str) -> bool:
    """Return whether two actions can be active at the same time."""
    prefixes = frozenset({name.partition(".")[0], other.partition(".")[0]})
    concurrent = len(prefixes) == 1 or prefixes in CONCURRENT_PREFIXES
    return concurrent or not GLOBAL_ACTIONS.isdisjoint({name, other})


def enable_alt_number_keys() -> None:
    """Make Alt with a digit work in terminals that send Escape and the digit.

    Textual decodes that sequence as the symbol that Option with the digit types on a
    Mac. Removing the sequence does not affect typing the symbol itself.
    """
    sequences = cast("MutableMapping[str, object]", ANSI_SEQUENCES_KEYS)
    for number in range(1, 10):
        sequences.pop(f"\x1b{number}", None)


def enable_alt_enter_key() -> None:
    """Make Alt+Enter insert a line break in terminals that send Escape and Enter.

    Textual decodes that sequence as Enter alone, which would send the question.
    """
    sequences = cast("MutableMapping[str, object]", ANSI_SEQUENCES_KEYS)
    for ending in ("\r", "\n"):
        sequences[f"\x1b{ending}"] = (Keys.ControlJ,)
