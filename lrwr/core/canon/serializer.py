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
from lrwr.core.settings.library import CANON_FILE_NAME

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
    old_canon = parse_canon(before, CANON_FILE_NAME)
    old_tables, new_tables = _tree(old_canon), _tree(canon)
    mark = "\ufeff" if before.startswith("\ufeff") else ""
    try:
        content = tomlkit.parse(before.removeprefix(mark))
        for name in new_tables:
            if old_tables[name] != new_tables[name]:
                _change_table(content, name, old_tables[name], new_tables[name])
        for name, rows in _rows(canon).items():
            _change_rows(content, name, _rows(old_canon)[name], rows)
        serialized = tomlkit.dumps(content)
        if before.count("\r\n") * 2 > before.count("\n"):
            serialized = serialized.replace("\r\n", "\n").replace("\n", "\r\n")
        is_preserved = parse_canon(serialized, CANON_FILE_NAME) == canon
    except (LrwrError, ValueError, LookupError, TypeError) as error:
        raise _cannot() from error
    if not is_preserved:
        raise _cannot()
    return mark + serialized


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
    """Return the rows of the array tables; no two rows have the same question."""
    answers = [{**_row(q), "answer": answer} for q, answer in canon.answers.items()]
    contradictions = [
        {
            "about": contradiction.about,
            "attribute": contradiction.attribute,
            "one": contradiction.one,
            "other": contradiction.other,
            **({"because": why} if why else {}),
        }
        for contradiction, why in canon.intentional.items()
    ]
    return {
        "answer": answers,
        "wont_say": [_row(q) for q in canon.unsaid],
        "intentional": contradictions,
    }


def _row(question: UndefinedAttribute) -> dict[str, str]:
    about = {"about": question.about} if question.about else {}
    return {**about, "attribute": question.attribute}


def _change_rows(
    parent: MutableMapping[str, Any],
    name: str,
    old_rows: Sequence[Mapping[str, str]],
    new_rows: Sequence[Mapping[str, str]],
) -> None:
    """Apply changes to the array table `name`; a question identifies its row."""
    rows_by_question = {_asked(row): row for row in new_rows}
    if not _stand_in_order(old_rows, rows_by_question):
        del parent[name]
        old_rows = ()
    for at in reversed(range(len(old_rows))):
        row = rows_by_question.pop(_asked(old_rows[at]), None)
        if row is None:
            del parent[name][at]
        elif row != old_rows[at]:
            parent[name][at].update(
                {
                    key: value
                    for key, value in row.items()
                    if old_rows[at].get(key) != value
                }
            )
    if rows_by_question and not parent.get(name):
        parent[name] = tomlkit.aot()
    for row in rows_by_question.values():
        inline = isinstance(parent[name], tomlkit.items.Array)
        table = tomlkit.inline_table() if inline else tomlkit.table()
        table.update(row)
        parent[name].append(table)
    if name in parent and not parent[name]:
        del parent[name]


def _stand_in_order(
    old_rows: Sequence[Mapping[str, str]],
    rows_by_question: Mapping[tuple[str, ...], object],
) -> bool:
    """Say whether the rows that stay can stay where they are."""
    stay = [_asked(row) for row in old_rows if _asked(row) in rows_by_question]
    return stay == list(rows_by_question)[: len(stay)]


def _asked(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(key, "") for key in ("about", "attribute", "one", "other"))


def _change_table(
    parent: MutableMapping[str, Any],
    name: str,
    old_table: Mapping[str, Any],
    new_table: Mapping[str, Any],
) -> None:
    """Carry over to the table `name` what has changed from `old_table` to `new_table`."""
    if name not in parent:
        parent[name] = tomlkit.table()
    table = parent[name]
    written = {_as_read(name, raw): raw for raw in table}
    for key in old_table.keys() - new_table.keys():
        del table[written[key]]
    for key, value in new_table.items():
        before = old_table.get(key)
        if before == value or (not before and not value):
            continue
        if isinstance(value, Mapping):
            _change_table(table, key, old_table[key], value)
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
    old_items: Sequence[object],
    new_items: Sequence[object],
) -> None:
    kept_items = [item for item in old_items if item in new_items]
    if key in table and kept_items == new_items[: len(kept_items)]:
        array = table[key]
        for at in reversed(range(len(old_items))):
            if old_items[at] not in new_items:
                del array[at]
    else:
        kept_items, array = [], tomlkit.array()
        long = sum(len(str(item)) for item in new_items) > _ONE_LINE
        table[key] = array.multiline(long)
    for item in new_items[len(kept_items) :]:
        table[key].append(item)


def _cannot() -> StoreProblem:
    return StoreProblem(
        f"{CANON_FILE_NAME} is written in a way that lrwr cannot change safely",
        hint="Write the decision there yourself, or give each table its own [header].",
    )
