"""Serializer of the canon file; the user's comments and layout are preserved."""

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
# {CANON_FILE_NAME}: your decisions about the story. They override lrwr's guesses.
# You can edit this file; keep it in version control. `lrwr canon` shows it, and
# `lrwr canon undo` undoes the last decision.
"""

_ONE_LINE = 60
"""Total characters of a list above which each item is on its own line."""


def serialize_canon(text: str | None, canon: Canon) -> str:
    """Return the TOML text of a canon file, `text` edited so that it expresses `canon`.

    `text` is the present content; None means that there is no file yet. Lines that need
    no change stay as they are, with their comments. Comments inside a list survive
    additions and removals, but not a new order.

    Raises:
        SettingsProblem: `text` is not a valid canon file.
        StoreProblem: `text` is laid out in a way that cannot be edited safely.
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
        raise _layout_problem() from error
    if not is_preserved:
        raise _layout_problem()
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
    """Return the rows of the array tables; keys of rows are unique."""
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
    """Update the array table `name`; rows are identified by their key (see `_row_key`)."""
    rows_by_question = {_row_key(row): row for row in new_rows}
    if not _keeps_order(old_rows, rows_by_question):
        del parent[name]
        old_rows = ()
    for at in reversed(range(len(old_rows))):
        row = rows_by_question.pop(_row_key(old_rows[at]), None)
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


def _keeps_order(
    old_rows: Sequence[Mapping[str, str]],
    rows_by_question: Mapping[tuple[str, ...], object],
) -> bool:
    """Return whether the remaining rows can stay at their position."""
    stay = [_row_key(row) for row in old_rows if _row_key(row) in rows_by_question]
    return stay == list(rows_by_question)[: len(stay)]


def _row_key(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(key, "") for key in ("about", "attribute", "one", "other"))


def _change_table(
    parent: MutableMapping[str, Any],
    name: str,
    old_table: Mapping[str, Any],
    new_table: Mapping[str, Any],
) -> None:
    """Update the table `name` with the differences between `old_table` and `new_table`."""
    if name not in parent:
        parent[name] = tomlkit.table()
    table = parent[name]
    written = {_normalize_key(name, raw): raw for raw in table}
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


def _normalize_key(table: str, raw: str) -> str:
    """Return a key of the file in normalized form."""
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


def _layout_problem() -> StoreProblem:
    return StoreProblem(
        f"{CANON_FILE_NAME} is written in a way that lrwr cannot change safely",
        hint="Add the decision to the file yourself, or give each table its own [header].",
    )
