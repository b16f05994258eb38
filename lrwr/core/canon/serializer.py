"""From the canon back to the text of its file; the writer's comments and order stay."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import tomlkit

from lrwr.core.canon.model import (
    Canon,
    ManuscriptLocation,
    UndefinedAttribute,
    normalize_canon_path,
    normalize_canon_text,
)
from lrwr.core.canon.parser import parse_canon
from lrwr.core.model.errors import LrwrError, StoreProblem
from lrwr.core.settings.places import CANON_FILE_NAME

_HEAD = f"""\
# {CANON_FILE_NAME}: what you have decided about your story; every guess gives way to it.
# It is yours: edit it, keep it in git. `lrwr canon` shows it, and
# `lrwr canon undo` takes the last decision back.
"""

_ONE_LINE = 60
"""Characters of a list's items from which each item gets a line of its own."""


def serialize_canon(text: str | None, canon: Canon) -> str:
    """Return `text` so changed that it says `canon`; None means there is no file yet.

    Only what differs is touched. Comments inside a list survive additions and
    removals, not a new order.

    Raises:
        SettingsProblem: The text cannot be understood as it is.
        StoreProblem: It is written in a way that cannot be changed safely.
    """
    before = _HEAD if text is None else text
    was = parse_canon(before, CANON_FILE_NAME)
    had, wanted = _tree(was), _tree(canon)
    mark = "\ufeff" if before.startswith("\ufeff") else ""
    try:
        content = tomlkit.parse(before.removeprefix(mark))
        for name in wanted:
            if had[name] != wanted[name]:
                _change_table(content, name, had[name], wanted[name])
        for name, rows in _rows(canon).items():
            _change_rows(content, name, _rows(was)[name], rows)
        made = tomlkit.dumps(content)
        if before.count("\r\n") * 2 > before.count("\n"):
            made = made.replace("\r\n", "\n").replace("\n", "\r\n")
        kept = parse_canon(made, CANON_FILE_NAME) == canon
    except (LrwrError, ValueError, LookupError, TypeError) as error:
        raise _cannot() from error
    if not kept:
        raise _cannot()
    return mark + made


def _tree(canon: Canon) -> dict[str, dict[str, Any]]:
    names = canon.names
    return {
        "types": {document: str(kind) for document, kind in canon.types.items()},
        "order": {"story": list(canon.order)},
        "pov": {str(place): name for place, name in canon.points_of_view.items()},
        "names": {
            "split": [list(pair) for pair in names.split],
            "ignored": list(names.ignored),
            "confirmed": list(names.confirmed),
            "merged": {name: list(others) for name, others in names.merged.items()},
            "renamed": dict(names.renamed),
        },
    }


def _rows(canon: Canon) -> dict[str, list[dict[str, str]]]:
    """Return the tables that stand many times; no two rows ask the same."""
    answers = [{**_row(q), "answer": answer} for q, answer in canon.answers.items()]
    meant = [
        {
            "about": one.about,
            "attribute": one.attribute,
            "one": one.one,
            "other": one.other,
            **({"because": why} if why else {}),
        }
        for one, why in canon.intentional.items()
    ]
    return {
        "answer": answers,
        "wont_say": [_row(q) for q in canon.unsaid],
        "intentional": meant,
    }


def _row(question: UndefinedAttribute) -> dict[str, str]:
    about = {"about": question.about} if question.about else {}
    return {**about, "attribute": question.attribute}


def _change_rows(
    parent: MutableMapping[str, Any],
    name: str,
    had: Sequence[Mapping[str, str]],
    wanted: Sequence[Mapping[str, str]],
) -> None:
    """Carry over to the rows `name` what has changed; a row is known by its question."""
    asked = {_asked(row): row for row in wanted}
    if not _stand_in_order(had, asked):
        del parent[name]
        had = ()
    for at in reversed(range(len(had))):
        row = asked.pop(_asked(had[at]), None)
        if row is None:
            del parent[name][at]
        elif row != had[at]:
            parent[name][at].update(
                {key: value for key, value in row.items() if had[at].get(key) != value}
            )
    if asked and not parent.get(name):
        parent[name] = tomlkit.aot()
    for row in asked.values():
        inline = isinstance(parent[name], tomlkit.items.Array)
        made = tomlkit.inline_table() if inline else tomlkit.table()
        made.update(row)
        parent[name].append(made)
    if name in parent and not parent[name]:
        del parent[name]


def _stand_in_order(
    had: Sequence[Mapping[str, str]], wanted: Mapping[tuple[str, ...], object]
) -> bool:
    """Say whether the rows that stay can stay where they are."""
    stay = [_asked(row) for row in had if _asked(row) in wanted]
    return stay == list(wanted)[: len(stay)]


def _asked(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(key, "") for key in ("about", "attribute", "one", "other"))


def _change_table(
    parent: MutableMapping[str, Any],
    name: str,
    had: Mapping[str, Any],
    wanted: Mapping[str, Any],
) -> None:
    """Carry over to the table `name` what has changed from `had` to `wanted`."""
    if name not in parent:
        parent[name] = tomlkit.table()
    table = parent[name]
    written = {_as_read(name, raw): raw for raw in table}
    for key in had.keys() - wanted.keys():
        del table[written[key]]
    for key, value in wanted.items():
        before = had.get(key)
        if before == value or (not before and not value):
            continue
        if isinstance(value, Mapping):
            _change_table(table, key, had[key], value)
        elif isinstance(value, list):
            _change_list(table, written.get(key, key), before or [], value)
        else:
            table[written.get(key, key)] = value


def _as_read(table: str, raw: str) -> str:
    """Return a key as the canon has it, however the writer wrote it."""
    if table == "pov":
        return str(ManuscriptLocation.read(raw) or raw)
    return normalize_canon_path(raw) if table == "types" else normalize_canon_text(raw)


def _change_list(
    table: MutableMapping[str, Any],
    key: str,
    had: Sequence[object],
    wanted: Sequence[object],
) -> None:
    kept = [item for item in had if item in wanted]
    if key in table and kept == wanted[: len(kept)]:
        array = table[key]
        for at in reversed(range(len(had))):
            if had[at] not in wanted:
                del array[at]
    else:
        kept, array = [], tomlkit.array()
        long = sum(len(str(item)) for item in wanted) > _ONE_LINE
        table[key] = array.multiline(long)
    for item in wanted[len(kept) :]:
        table[key].append(item)


def _cannot() -> StoreProblem:
    return StoreProblem(
        f"{CANON_FILE_NAME} is written in a way that lrwr cannot change safely",
        hint="Write the decision there yourself, or give each table its own [header].",
    )
