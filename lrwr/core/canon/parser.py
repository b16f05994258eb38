"""Parser of the canon file `lrwr.canon.toml`; its error messages name the line."""

import re
from collections.abc import Iterable, Iterator, Mapping

from lrwr.core.canon.model import (
    Canon,
    CanonNames,
    IntendedContradiction,
    ManuscriptLocation,
    UndefinedAttribute,
    find_answer_conflicts,
    find_name_conflicts,
    normalize_canon_path,
    normalize_canon_text,
)
from lrwr.core.model.documents import DocumentId, DocumentType
from lrwr.core.model.errors import SettingsProblem
from lrwr.core.model.untrusted_text import InvalidText, parse_toml
from lrwr.core.settings.loader import find_nearest_name

CANON_TABLES: Mapping[str, tuple[str, ...]] = {
    "types": (),
    "order": ("story",),
    "pov": (),
    "names": ("merged", "split", "renamed", "ignored", "confirmed"),
}
"""All tables and their keys; an empty tuple allows one key per document."""

CANON_ARRAY_TABLES: Mapping[str, tuple[str, ...]] = {
    "answer": ("about", "attribute", "answer"),
    "wont_say": ("about", "attribute"),
    "intentional": ("about", "attribute", "one", "other", "because"),
}
"""All array tables and their keys; `because`, and `about` of a gap, are optional."""

# The location in messages of tomllib
_AT = r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$"
_HEADER = r"\s*\[+(?P<key>[^\n]*?)\]+\s*(?:#.*)?"
_KEY = r"""\s*(?P<key>(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w.\-]|[ \t])+?)\s*="""
_LONGEST = 500
_DECIDE = "Delete one of the two decisions."
_KEEP_ONE = "Delete one of them."
_NAMES_TAKE = 'Write it like this: split = [["Mags", "Maggie"]]'


def parse_canon(text: str, file: str) -> Canon:
    """Return the decisions in the `text` of a canon file.

    `file` is the file's name in error messages.

    Raises:
        SettingsProblem: The text is not valid TOML or not a valid canon; the message
            names the line.
    """
    text = text.removeprefix("\ufeff")
    try:
        content = parse_toml(text)
    except InvalidText as error:
        raise _toml_problem(text, file, str(error)) from error
    return _CanonParser(text, file).canon(content)


class _CanonParser:
    """Parses one file; line numbers are computed only for errors."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    def canon(self, content: Mapping[str, object]) -> Canon:
        for name in content:
            self._check_known(
                name, (*CANON_TABLES, *CANON_ARRAY_TABLES), (name,), "table"
            )
        tables = {
            name: self._table(content.get(name, {}), (name,)) for name in CANON_TABLES
        }
        for name, keys in CANON_TABLES.items():
            for key in tables[name] if keys else ():
                self._check_known(key, keys, (name, key), "setting")
        canon = Canon(
            types=self._types(tables["types"]),
            order=self._order(tables["order"].get("story", [])),
            points_of_view=self._points_of_view(tables["pov"]),
            names=self._names(tables["names"]),
            answers=self._questions("answer", content.get("answer", [])),
            unsaid=tuple(self._questions("wont_say", content.get("wont_say", []))),
            intentional=self._intended_contradictions(content.get("intentional", [])),
        )
        for _, sentence in find_answer_conflicts(canon):
            raise self._problem_at(("wont_say",), sentence.rstrip("."), _DECIDE)
        return canon

    def _types(self, table: Mapping[str, object]) -> dict[DocumentId, DocumentType]:
        types_by_document: dict[DocumentId, DocumentType] = {}
        for key, value in table.items():
            where = ("types", key)
            document = self._document(key, where, types_by_document)
            word = str(value).lower()
            if word not in list(DocumentType):
                similar_type = find_nearest_name(word, DocumentType) or "scene"
                raise self._problem_at(
                    where,
                    f"the type of {document} cannot be {value!r}",
                    f'Write one of {", ".join(DocumentType)}, such as "{similar_type}".',
                )
            types_by_document[document] = DocumentType(word)
        return types_by_document

    def _order(self, value: object) -> tuple[DocumentId, ...]:
        where = ("order", "story")
        documents: dict[DocumentId, None] = {}
        for name in self._strings(value, where):
            documents[self._document(name, where, documents)] = None
        return tuple(documents)

    def _points_of_view(
        self, table: Mapping[str, object]
    ) -> dict[ManuscriptLocation, str]:
        points_of_view: dict[ManuscriptLocation, str] = {}
        for key, value in table.items():
            place = ManuscriptLocation.read(key)
            if place is None or place in points_of_view:
                raise self._problem_at(
                    ("pov", key),
                    f"`{key}` is listed twice"
                    if place
                    else f"`{key}` is not a valid location",
                    'Write it as "ch5.md", "book.md#The Mill" or "book.md#ch5:s2".',
                )
            points_of_view[place] = self._name(value, ("pov", key))
        return points_of_view

    def _names(self, table: Mapping[str, object]) -> CanonNames:
        at = "names"
        merged = self._table(table.get("merged", {}), (at, "merged"))
        renamed = self._table(table.get("renamed", {}), (at, "renamed"))
        names = CanonNames(
            merged={
                self._name(key, (at, "merged", key)): tuple(
                    self._iter_names(value, (at, "merged", key))
                )
                for key, value in merged.items()
            },
            split=tuple(self._pairs(table.get("split", []))),
            renamed={
                self._name(key, (at, "renamed", key)): self._name(
                    value, (at, "renamed", key)
                )
                for key, value in renamed.items()
            },
            ignored=tuple(self._iter_names(table.get("ignored", []), (at, "ignored"))),
            confirmed=tuple(
                self._iter_names(table.get("confirmed", []), (at, "confirmed"))
            ),
        )
        self._check(names, len(merged), len(renamed))
        return names

    def _pairs(self, value: object) -> Iterator[tuple[str, str]]:
        where = ("names", "split")
        if not isinstance(value, list):
            raise self._problem_at(
                where, "`split` must be a list of pairs", _NAMES_TAKE
            )
        for pair in value:
            names = list(self._iter_names(pair, where))
            if len(names) != 2:
                problem = f"{pair} is not a pair of names"
                raise self._problem_at(where, problem, _NAMES_TAKE)
            name, other = sorted(names)
            yield name, other

    def _check(self, names: CanonNames, merged: int, renamed: int) -> None:
        if merged != len(names.merged) or renamed != len(names.renamed):
            raise self._problem_at(("names",), "a name is listed twice", _KEEP_ONE)
        for name, sentence in find_name_conflicts(names):
            wheres = [
                ("names", kind, name) for kind in ("renamed", "merged", "ignored")
            ]
            where = next((w for w in wheres if self._line(w)), ("names",))
            raise self._problem_at(where, sentence.rstrip("."), _DECIDE)

    def _questions(self, table: str, value: object) -> dict[UndefinedAttribute, str]:
        """Return each row's attribute and answer; "" for tables without answers."""
        answers_by_question: dict[UndefinedAttribute, str] = {}
        for number, row in enumerate(self._rows(table, value), start=1):
            at = (table, str(number))
            for key in row:
                self._check_known(key, CANON_ARRAY_TABLES[table], (*at, key), "setting")
            about = row.get("about", "")
            question = UndefinedAttribute(
                self._name(about, (*at, "about")) if about != "" else "",
                self._name(row.get("attribute", ""), (*at, "attribute")),
            )
            if question in answers_by_question:
                raise self._problem_at(at, f"{question} is listed twice", _KEEP_ONE)
            answers_by_question[question] = ""
            if "answer" in CANON_ARRAY_TABLES[table]:
                answer = row.get("answer", "")
                answers_by_question[question] = self._name(
                    answer, (*at, "answer"), "answer"
                )
        return answers_by_question

    def _intended_contradictions(
        self, value: object
    ) -> dict[IntendedContradiction, str]:
        table, reasons = "intentional", dict[IntendedContradiction, str]()
        for number, row in enumerate(self._rows(table, value), start=1):
            at = (table, str(number))
            for key in row:
                self._check_known(key, CANON_ARRAY_TABLES[table], (*at, key), "setting")
            about, attribute, first_value, other = (
                self._name(row.get(key, ""), (*at, key))
                for key in CANON_ARRAY_TABLES[table][:4]
            )
            intended_contradiction = IntendedContradiction(
                about, attribute, first_value, other
            )
            if intended_contradiction in reasons:
                raise self._problem_at(
                    at, f"{intended_contradiction} is listed twice", _KEEP_ONE
                )
            why = row.get("because", "")
            reasons[intended_contradiction] = (
                self._name(why, (*at, "because"), "reason") if why else ""
            )
        return reasons

    def _rows(self, table: str, value: object) -> list[Mapping[str, object]]:
        if isinstance(value, list) and all(isinstance(row, dict) for row in value):
            return value
        raise self._problem_at(
            (table,),
            f"`{table}` must be an array of tables",
            f"Write `[[{table}]]` on its own line, and its keys below.",
        )

    def _table(self, value: object, where: tuple[str, ...]) -> Mapping[str, object]:
        if isinstance(value, dict):
            return value
        raise self._problem_at(
            where,
            f"`{'.'.join(where)}` must be a table, not a value",
            f"Write `[{'.'.join(where)}]` on its own line, and its keys below.",
        )

    def _strings(self, value: object, where: tuple[str, ...]) -> list[str]:
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return value
        raise self._problem_at(
            where,
            f"`{where[-1]}` must be a list of strings",
            'Write it in brackets, such as ["one", "two"].',
        )

    def _document(
        self, text: str, where: tuple[str, ...], document_ids: Iterable[DocumentId]
    ) -> DocumentId:
        document = normalize_canon_path(text)
        if not document or document in document_ids:
            problem = (
                f"{document} is listed twice" if document else "a file name is empty"
            )
            raise self._problem_at(where, problem, _KEEP_ONE)
        return document

    def _iter_names(self, value: object, where: tuple[str, ...]) -> Iterator[str]:
        for name in self._strings(value, where):
            yield self._name(name, where)

    def _name(self, value: object, where: tuple[str, ...], noun: str = "name") -> str:
        name = normalize_canon_text(value) if isinstance(value, str) else ""
        if name and name.isprintable():
            return name
        raise self._problem_at(
            where,
            f"{value!r} is not a valid {noun}",
            f"Write the {noun} as a string in quotes.",
        )

    def _check_known(
        self, name: str, names: Iterable[str], where: tuple[str, ...], noun: str
    ) -> None:
        if name in names:
            return
        similar_name = find_nearest_name(name, names)
        suggestion = f"; did you mean `{similar_name}`?" if similar_name else ""
        all_names = ", ".join(names)
        raise self._problem_at(
            where,
            f"unknown {noun} `{'.'.join(where)}`{suggestion}",
            f"Use one of: {all_names}. If a newer version of lrwr wrote it, update lrwr.",
        )

    def _problem_at(
        self, where: tuple[str, ...], message: str, hint: str
    ) -> SettingsProblem:
        line = next(
            filter(None, (self._line(where[:n]) for n in range(len(where), 0, -1))), 0
        )
        at = f"{self._file}:{line}" if line else self._file
        return SettingsProblem(f"{at}: {message}", hint=hint)

    def _line(self, where: tuple[str, ...]) -> int:
        return find_key_lines(self._text).get(where, 0)


def find_key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line, from 1, where each table and key of a TOML text first occurs.

    A key is the path of its names, such as ("names", "merged", "Nell"). The n-th row of
    the array table `answer` has the path ("answer", str(n)), from "1".
    """
    lines_by_key: dict[tuple[str, ...], int] = {}
    rows: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw[:_LONGEST]  # limits the regex on long lines; keys are short
        if header := re.fullmatch(_HEADER, line):
            table = _path(header["key"])
            lines_by_key.setdefault(table, number)
            if line.lstrip().startswith("[["):
                rows[table] = rows.get(table, 0) + 1
                table = (*table, str(rows[table]))
                lines_by_key.setdefault(table, number)
        elif key := re.match(_KEY, line):
            path = (*table, *_path(key["key"]))
            for end in range(len(table) + 1, len(path) + 1):
                lines_by_key.setdefault(path[:end], number)
    return lines_by_key


def _path(key: str) -> tuple[str, ...]:
    try:
        level: object = parse_toml(f"{key} = 0")
    except ValueError:
        return ()
    path: list[str] = []
    while isinstance(level, dict):
        name, level = next(iter(level.items()))
        path.append(name)
    return tuple(path)


def _toml_problem(text: str, file: str, problem: str) -> SettingsProblem:
    at = re.search(_AT, problem)
    line = at["line"] if at else None
    if at and line is None:
        line = str(len(text.rstrip().split("\n")))
    where = f"{file}:{line}" if line else file
    return SettingsProblem(
        f"{where}: this is not valid TOML: {re.sub(_AT, '', problem)}",
        hint="Correct this line. Write names and files in quotes, such as"
        ' "Nell Tallow" = ["Wren"].',
    )
