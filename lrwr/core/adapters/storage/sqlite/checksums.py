"""Checksums of stored rows, with which a changed bit is noticed when a row is read.

A checksum is a CRC-32 over the columns of a row. SQLite computes it with the function
`row_checksum`, which every connection of this package has.
"""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from lrwr.core.adapters.storage.sqlite.errors import describe_skipped_rows
from lrwr.core.settings.library import create_private_file, write_private_file

Result = TypeVar("Result")
END_OF_TIMES = 253_402_214_400.0
"""In seconds since 1970: a day before the year 10000, which has no date."""
DECODING_ERRORS = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What decoding a damaged value may raise; InvalidData is a ValueError."""

CHECKED_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "processed": ("document_id", "pipeline", "content", "recipe"),
    "chunk": (
        *("id", "document_id", "pipeline", "ordinal", "char_start", "char_end"),
        *("line_first", "line_last", "chapter", "scene", "kind", "tokens", "space"),
        *("lead", "heading", "text_hash", "text"),
    ),
    "embedding": ("space", "text_hash", "vector"),
    "token_state": ("space", "text_hash", "version", "states"),
    "seam": ("document_id", "space", "key", "distance"),
    "reading": ("document_id", "evidence", "noted"),
    "fact": (
        *("document_id", "about", "subject", "field", "attribute", "value", "keeper"),
        *("certainty", "char_start", "reach", "spans", "details"),
    ),
    "woven": ("document_id", "revision"),
    "quotation": (
        *("document_id", "char_start", "speaker", "certainty", "cue", "addressee"),
        *("addressee_certainty", "spans", "mentions"),
    ),
    "appearance": ("chunk_id", "character", "role", "count"),
    "first_seen": (
        *("document_id", "character", "alias", "char_start", "char_end", "mentions"),
    ),
    "story": ("id", "cast"),
    "narration": ("document_id", "signs"),
    "attribution": ("id", "state"),
    "reply": ("key", "made", "prompt_tokens", "completion_tokens", "finding"),
    "thread": ("id", "title", "created_at", "state"),
    "turn": (
        *("id", "thread_id", "number", "asked_at", "state", "price", "usage"),
        *("question", "answer", "output"),
    ),
}
"""The columns that the checksum of a table's row covers.

`chunk.names` is left out: it only serves the full-text index, which is compared with
it. `processed.revision` changes without anything being stored."""

OUTLINE_COLUMNS = (
    *("id", "format", "type", "title", "order_hint", "words", "updated_at"),
    *("warnings", "chapters"),
)
TEXT_COLUMNS = ("id", "paragraphs", "text")
_MARKS = 256
_SIZE_MARKS = tuple(b"%d:" % size for size in range(_MARKS))
"""What follows a value of few bytes, made in advance: it is half of the work."""

_REAL_COLUMNS = frozenset(
    {"order_hint", "updated_at", "distance", "made", "price", "asked_at", "created_at"}
)


def register_row_checksum(connection: sqlite3.Connection) -> None:
    """Define the SQL function `row_checksum` for `connection`."""
    connection.create_function("row_checksum", -1, _row_checksum, deterministic=True)


def _row_checksum(*values: bytes | float | None) -> int:
    checksum = 0
    for value in values:
        piece = value if isinstance(value, bytes) else repr(value).encode()
        size = len(piece)
        # The length separates the values: no text can pass for two.
        mark = _SIZE_MARKS[size] if size < _MARKS else b"%d:" % size
        checksum = zlib.crc32(mark, zlib.crc32(piece, checksum))
    return checksum


def checksum_sql(columns: tuple[str, ...], alias: str = "") -> str:
    """Return the SQL expression with the checksum of `columns` of one row.

    `alias` is the name of the table in the statement, if that is needed.
    """
    prefix = f"{alias}." if alias else ""
    return _call([f'{prefix}"{column}"' for column in columns], columns)


def checksum_parameters_sql(table: str) -> str:
    """Return the SQL expression with the checksum of a row of `table` whose values are
    parameters with the names of the columns.
    """
    columns = CHECKED_COLUMNS[table]
    return _call([f":{column}" for column in columns], columns)


def fits_sql(table: str, alias: str = "") -> str:
    """Return the SQL expression that is 1 if a row of `table` has the checksum that was
    stored with it, or none, else 0.
    """
    name = alias or table
    computed = checksum_sql(CHECKED_COLUMNS[table], name)
    return f"({name}.crc is null or {name}.crc = {computed})"


def outline_fits_sql(document: str) -> str:
    """Return the SQL expression that is 1 if a document's columns other than its text
    have the stored checksum, or none. `document` is the table's name in the statement.
    """
    return _document_fits("outline", OUTLINE_COLUMNS, document)


def text_fits_sql(document: str) -> str:
    """Return the SQL expression that is 1 if a document's text has the stored checksum,
    or none. `document` is the table's name in the statement.
    """
    return _document_fits("text", TEXT_COLUMNS, document)


def _document_fits(part: str, columns: tuple[str, ...], alias: str) -> str:
    computed = checksum_sql(columns, alias)
    return f"""coalesce((select k.{part} = {computed} from document_check k
      where k.document_id = {alias}.id), 1)"""


def insert_sql(table: str, columns: tuple[str, ...], verb: str = "insert") -> str:
    """Return the statement that inserts a row with its checksum.

    Its parameters are the values of `columns`, in their order, among which all checked
    ones must be.
    """
    names = ", ".join(f'"{column}"' for column in columns)
    parameters = {column: f"?{n}" for n, column in enumerate(columns, 1)}
    covered = CHECKED_COLUMNS[table]
    checksum = _call([parameters[column] for column in covered], covered)
    values = ", ".join(parameters.values())
    return f"{verb} into {table} ({names}, crc) values ({values}, {checksum})"


def seal_sql(table: str, where: str) -> str:
    """Return the statement that sets the checksums of the rows of `table` that match
    the SQL condition `where`.
    """
    return (
        f"update {table} set crc = {checksum_sql(CHECKED_COLUMNS[table])} where {where}"
    )


def _call(expressions: list[str], columns: tuple[str, ...]) -> str:
    # Text is passed as bytes, because damaged text need not be valid UTF-8.
    casts = (
        f"cast({expression} as {'real' if column in _REAL_COLUMNS else 'blob'})"
        for expression, column in zip(expressions, columns, strict=True)
    )
    return f"row_checksum({', '.join(casts)})"


DOCUMENT_CHECKSUMS = f"{checksum_sql(OUTLINE_COLUMNS)}, {checksum_sql(TEXT_COLUMNS)}"
"""SQL for the checksums of the outline and the text of a row of `document`."""
_SEAL_DOCUMENT = f"""
insert or replace into document_check (document_id, outline, text)
select id, {DOCUMENT_CHECKSUMS} from document where id = ?
"""
_PARTS = ("fact", "seam", "reading")
PROCESSED_ROWS = f"""(
  (select coalesce(sum(crc), 0) from chunk
   where document_id = processed.document_id and pipeline = processed.pipeline)
  + iif(pipeline = 'b', {
    " + ".join(
        f"(select coalesce(sum(crc), 0) from {part}"
        " where document_id = processed.document_id)"
        for part in _PARTS
    )
}, 0))
"""
"""SQL for the sum of the checksums of what a pipeline has stored of a document."""

WOVEN_ROWS = """(
  (select coalesce(sum(crc), 0) from quotation where document_id = woven.document_id)
  + (select coalesce(sum(crc), 0) from first_seen
     where document_id = woven.document_id)
  + (select coalesce(sum(a.crc), 0) from chunk c join appearance a on a.chunk_id = c.id
     where c.document_id = woven.document_id and c.pipeline = 'b'))
"""
"""SQL for the sum of the checksums of a document's attribution."""

_SEAL_PROCESSED = (
    seal_sql("chunk", "document_id = ?1 and pipeline = ?2 and crc is null"),
    f"""update processed set rows = {PROCESSED_ROWS}
    where document_id = ?1 and pipeline = ?2""",
)
_SEAL_WOVEN = f"update woven set rows = {WOVEN_ROWS} where document_id = ?"


def seal_document(connection: sqlite3.Connection, document: str, pipeline: str) -> None:
    """Store the checksums of a document's text and outline, and of the chunks of
    `pipeline` that have none; then the sum that shows whether a row is missing.

    Must be called inside the transaction that stores the rows, as the last step.
    """
    connection.execute(_SEAL_DOCUMENT, (document,))
    for statement in _SEAL_PROCESSED:
        connection.execute(statement, (document, pipeline))


def seal_attribution(connection: sqlite3.Connection, document: str) -> None:
    """Store the sum that shows whether a row of a document's attribution is missing.

    Must be called inside the transaction that stores the rows, as the last step.
    """
    connection.execute(_SEAL_WOVEN, (document,))


DOCUMENT_PARTS = {
    "record": f"select document_id from processed where not {fits_sql('processed')}",
    "outline": f"select id from document where not {outline_fits_sql('document')}",
    "text": f"select id from document where not {text_fits_sql('document')}",
    "passages": f"select document_id from chunk where not {fits_sql('chunk')}",
    "facts": f"select document_id from fact where not {fits_sql('fact')}",
    "sentence distances": (
        f"select document_id from seam where not {fits_sql('seam')}"
    ),
    "names": f"select document_id from reading where not {fits_sql('reading')}",
    "missing entries": f"""
      select document_id from processed where rows <> {PROCESSED_ROWS}""",
}
"""For each part of a document's data, the query for documents in which it is damaged."""
ATTRIBUTION_PARTS = {
    "quotations": f"select document_id from quotation where not {fits_sql('quotation')}",
    "first mentions": (
        f"select document_id from first_seen where not {fits_sql('first_seen')}"
    ),
    "signs of a narrator": (
        f"select document_id from narration where not {fits_sql('narration')}"
    ),
    "appearances": f"""
      select c.document_id from appearance join chunk c on c.id = appearance.chunk_id
      where not {fits_sql("appearance")}""",
    "attribution": f"""
      select document_id from woven
      where (not {fits_sql("woven")} or rows <> {WOVEN_ROWS})""",
}
"""The same for the attribution of a document's quotations and mentions."""


def report_damaged_rows(connection: sqlite3.Connection, path: Path) -> str:
    """Return the notice that damaged rows of the library at `path` are left out.

    This is recorded in a file beside the library, so that `lrwr ingest` can say it, too.
    """
    mark_damaged(path)
    return describe_skipped_rows(*_find_damaged_documents(connection))


def mark_damaged(path: Path) -> None:
    """Record that a command has met damaged rows of the library at `path`."""
    with suppress(OSError):
        create_private_file(_get_damage_mark(path))


def is_marked_damaged(path: Path) -> bool:
    """Return whether a command has met damaged rows of the library at `path` since all
    were verified.
    """
    return _get_damage_mark(path).exists()


def clear_damage_mark(path: Path) -> None:
    """Record that the damaged rows of the library at `path` were deleted."""
    with suppress(OSError):
        _get_damage_mark(path).unlink(missing_ok=True)


def _get_damage_mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.damaged")


PAGE_CHECK_SECONDS = 3_600.0
"""Seconds for which the pages of a large library's file count as checked."""


def is_page_check_due(path: Path, now: float) -> bool:
    """Return whether the pages of the library's file at `path` were not checked for
    `PAGE_CHECK_SECONDS`, or were those of another file.

    `now` is in seconds since 1970.
    """
    try:
        mark = _get_page_check_mark(path)
        age = now - mark.stat().st_mtime
        is_same = mark.read_text("utf-8") == _identify_file(path)
    except (OSError, ValueError):
        return True
    return not is_same or not 0 <= age < PAGE_CHECK_SECONDS


def record_page_check(path: Path, now: float) -> None:
    """Record that all pages of the library's file at `path` were sound at `now`."""
    with suppress(OSError):
        write_private_file(_get_page_check_mark(path), _identify_file(path))
        os.utime(_get_page_check_mark(path), (now, now))


def _identify_file(path: Path) -> str:
    """Return what differs if another file takes the place of `path`, as by a restore."""
    status = path.stat()
    return f"{status.st_dev} {status.st_ino}"


def _get_page_check_mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _find_damaged_documents(
    connection: sqlite3.Connection,
) -> tuple[list[str], list[str]]:
    """Return the ids of documents that are damaged as a whole, and of those with other
    damaged rows, both sorted.

    Parts of the file that cannot be read are left out.
    """
    text_factory, connection.text_factory = connection.text_factory, _decode_visibly
    whole, others = set[str](), set[str]()
    try:
        for part, sql in (*DOCUMENT_PARTS.items(), *ATTRIBUTION_PARTS.items()):
            found = whole if part in ("text", "outline") else others
            with suppress(sqlite3.DatabaseError):
                found.update(str(row[0]) for row in connection.execute(sql))
    finally:
        connection.text_factory = text_factory
    return sorted(whole), sorted(others - whole)


@contextmanager
def report_schema_damage() -> Iterator[None]:
    """Inside this context, a schema that is not UTF-8 raises `sqlite3.DatabaseError`.

    SQLite's message quotes the damaged statement, which Python then cannot decode.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        damage = sqlite3.DatabaseError("malformed database schema")
        damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damage from error


def has_damaged_rows(connection: sqlite3.Connection) -> bool:
    """Return whether any row of the library does not fit its checksum or its columns.

    For the moment after an error only: the whole file is read.
    """
    try:
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            return True
        checks = (
            f"select 1 from {table} where not {fits_sql(table)} limit 1"
            for table in CHECKED_COLUMNS
        )
        if any(connection.execute(sql).fetchone() for sql in checks):
            return True
    except sqlite3.DatabaseError:
        return True
    return any(_find_damaged_documents(connection))


def _decode_visibly(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def decode_checked_rows(
    rows: Iterable[Sequence[Any]],
    decode: Callable[[Any], Result],
    notice_damage: Callable[[], None],
    is_strict: bool = False,
) -> list[Result]:
    """Return each row decoded by `decode`, without the damaged rows.

    The first column of a row says whether its checksum fits; `decode` gets a list of
    the others. `notice_damage` is called for each row that does not fit or cannot be
    decoded. `is_strict` means that no text can have come from `decode_tolerantly`.
    """
    decoded = []
    for fits, *columns in rows:
        try:
            if not fits:
                raise ValueError("the checksum differs")
            if not is_strict:
                _check_unicode(columns)
            decoded.append(decode(columns))
        except DECODING_ERRORS:
            notice_damage()
    return decoded


def check_types(values: Sequence[object], *kinds: type) -> None:
    """Raise ValueError unless each value has its type; a `float` must be a time.

    For rows without a checksum: a changed bit can turn a number into a text, whatever
    the column's type.
    """
    if tuple(map(type, values)) == kinds and float not in kinds:
        return  # the usual case, made fast: there may be thousands of rows
    for value, kind in zip(values, kinds, strict=True):
        if not isinstance(value, kind) or (kind is float and not _is_time(value)):
            raise ValueError(f"{value!r} is no {kind.__name__}")


def replace_unless(value: Any, otherwise: Result) -> Result:
    """Return a stored value, or `otherwise` if it does not have its type.

    A `float` must be a time. For rows whose words are shown even if they are damaged.
    """
    kind = type(otherwise)
    is_sound = isinstance(value, kind) and (kind is not float or _is_time(value))
    return value if is_sound else otherwise


def _is_time(value: Any) -> bool:
    return bool(0 <= value < END_OF_TIMES)


def decode_tolerantly(text: bytes) -> str:
    """Decode UTF-8; invalid bytes become lone surrogates, as in `os.fsdecode`."""
    return text.decode("utf-8", "surrogateescape")


def decode_or_keep(text: bytes) -> str | bytes:
    """Decode UTF-8; text of a damaged row that is none stays bytes."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _check_unicode(columns: Sequence[Any]) -> None:
    for column in columns:
        if isinstance(column, str) and not column.isascii():
            column.encode()  # raises for what `decode_tolerantly` could not decode
