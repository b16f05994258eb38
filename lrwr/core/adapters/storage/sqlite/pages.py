"""Reads rows from the pages of a damaged SQLite file, without SQLite.

SQLite refuses a whole file if the page with the schema is damaged, and a whole table
if a page at the top of its tree is. This module follows the file format
(https://www.sqlite.org/fileformat2.html) page by page, so that damage costs only the
rows on damaged pages. Nothing is written.
"""

import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = int | float | bytes | str | None
"""A stored value; a text is a `str`, with U+FFFD for bytes that are not UTF-8."""

_MAGIC = b"SQLite format 3\0"
_DEFAULT_PAGE_SIZE = 4096
_HEADER_BYTES = 100
_INDEX_INTERIOR, _TABLE_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_INTERIOR = frozenset({_INDEX_INTERIOR, _TABLE_INTERIOR})
_ROW_PAGES = tuple(bytes([k]) for k in (_INDEX_INTERIOR, _INDEX_LEAF, _TABLE_LEAF))
_SCHEMA_COLUMNS = 5
_SERIAL_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)
"""Bytes of a value, by its serial type."""
_SERIAL_NULLS = frozenset({0, 10, 11})
"""Serial types of a null; the format reserves two, which SQLite reads as null."""
_SERIAL_REAL, _SERIAL_ZERO, _SERIAL_ONE, _SERIAL_BLOB = 7, 8, 9, 12
_WAL_HEADER, _FRAME_HEADER = 32, 24
_WAL_MAGIC = 0x377F0682
_WORD = 0xFFFFFFFF
_LOG_READS, _LOG_WAIT = 5, 0.05
"""How often a log that seems damaged is read, and the seconds in between."""


class DamagedPage(Exception):
    """A page, a row or a value does not follow the file format."""


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row as it is stored: `rowid` (0 in a table without rowids) and its values."""

    rowid: int
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """A table or an index: its name and its first page."""

    kind: str
    name: str
    root: int


@dataclass(slots=True)
class TreeScan:
    """The rows of one table or index, and how much of it is damaged.

    `pages` are the numbers of the pages that were read or found damaged. `bad_pages`
    counts damaged pages, each with an unknown number of rows; `bad_rows` counts damaged
    rows on the others.
    """

    rows: list[StoredRow] = field(default_factory=list)
    pages: set[int] = field(default_factory=set)
    bad_pages: int = 0
    bad_rows: int = 0


class DatabasePages:
    """The pages of the SQLite file at `path`, with the changes in its `-wal` file.

    As in SQLite, the changes end at the last complete transaction before the first
    damaged entry of the `-wal` file.

    Raises:
        OSError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._content = path.read_bytes()
        self.page_size = _read_page_size(self._content)
        log = path.with_name(f"{path.name}-wal")
        content = log.read_bytes() if log.is_file() else b""
        self._changed = _read_log(content, self.page_size)
        in_file = -(-len(self._content) // self.page_size)
        self.count = max([in_file, *self._changed])

    @property
    def schema_version(self) -> int:
        """The number in `PRAGMA user_version`; 0 if the header is damaged."""
        first = self._page(1)
        is_sound = first.startswith(_MAGIC)
        return int.from_bytes(first[60:64], "big", signed=True) if is_sound else 0

    def read_schema(self) -> list[SchemaEntry]:
        """Return the tables and indexes whose entries in the schema can be read."""
        entries = []
        for row in self.scan(1).rows:
            if len(row.values) != _SCHEMA_COLUMNS:
                continue
            kind, name, _, root, _ = row.values
            if isinstance(root, int) and 1 < root <= self.count:
                entries.append(SchemaEntry(str(kind), str(name), root))
        return entries

    def scan(self, root: int) -> TreeScan:
        """Return the rows of the table or index whose first page is `root`."""
        scan, waiting = TreeScan(), [root]
        while waiting:
            number = waiting.pop()
            if number in scan.pages:
                continue
            scan.pages.add(number)
            try:
                waiting += self._read_page(number, scan)
            except DamagedPage:
                scan.bad_pages += 1
        return scan

    def list_pages(self, root: int) -> set[int]:
        """Return the pages of the table or index whose first page is `root`.

        Pages on which a long row continues are left out.
        """
        pages, waiting = set[int](), [root]
        while waiting:
            number = waiting.pop()
            if number not in pages:
                pages.add(number)
                with suppress(DamagedPage):
                    waiting += self._read_page(number, None)
        return pages

    def scan_page(self, number: int) -> TreeScan:
        """Return the rows of the page `number` without the pages below it.

        The page with the schema, and a page without rows, have none.
        """
        scan = TreeScan()
        if number > 1 and self._page(number)[:1] in _ROW_PAGES:
            try:
                self._read_page(number, scan)
            except DamagedPage:
                scan.bad_pages += 1
        return scan

    def list_free_pages(self) -> set[int] | None:
        """Return the numbers of unused pages; None if their list is damaged.

        Unused pages may contain deleted rows.
        """
        first = self._page(1)
        if not first.startswith(_MAGIC):
            return None
        trunk, expected = struct.unpack_from(">II", first, 32)
        free: set[int] = set()
        while trunk:
            page = self._page(trunk)
            if trunk in free or len(page) < self.page_size:
                return None
            following, count = struct.unpack_from(">II", page)
            if count > self.page_size // 4 - 2:
                return None
            free.add(trunk)
            free.update(struct.unpack_from(f">{count}I", page, 8))
            trunk = following
        return free if len(free) == expected else None

    def _page(self, number: int) -> bytes:
        """Return a page; it is empty or short beyond the end of the file."""
        changed = self._changed.get(number)
        if changed is not None:
            return changed
        start = (number - 1) * self.page_size
        return self._content[start : start + self.page_size]

    def _read_page(self, number: int, scan: TreeScan | None) -> list[int]:
        """Add the rows of a page to `scan`, and return the pages below it."""
        page = self._page(number)
        start = _HEADER_BYTES if number == 1 else 0
        if not 0 < number <= self.count or len(page) < self.page_size:
            raise DamagedPage
        kind = page[start]
        first = start + (12 if kind in _INTERIOR else 8)
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        is_kind = kind in {*_INTERIOR, _INDEX_LEAF, _TABLE_LEAF}
        if not is_kind or first + 2 * count > self.page_size:
            raise DamagedPage
        # SQLite, too, ignores the bits of an offset that lead out of the page.
        pointers = struct.unpack_from(f">{count}H", page, first)
        cells = [pointer & (self.page_size - 1) for pointer in pointers]
        below = []
        if kind in _INTERIOR:
            below = [int.from_bytes(page[cell : cell + 4], "big") for cell in cells]
            below.append(int.from_bytes(page[start + 8 : start + 12], "big"))
            cells = [cell + 4 for cell in cells]
        if kind != _TABLE_INTERIOR and scan is not None:
            self._read_cells(page, cells, kind, scan)
        return below

    def _read_cells(
        self, page: bytes, cells: list[int], kind: int, scan: TreeScan
    ) -> None:
        for cell in cells:
            try:
                scan.rows.append(self._read_cell(page, cell, kind))
            except (DamagedPage, IndexError, struct.error):
                scan.bad_rows += 1

    def _read_cell(self, page: bytes, cell: int, kind: int) -> StoredRow:
        size, cell = _read_varint(page, cell)
        rowid = 0
        if kind == _TABLE_LEAF:
            rowid, cell = _read_varint(page, cell)
            rowid -= (rowid >> 63) << 64
        local = self._count_local_bytes(size, kind)
        payload = page[cell : cell + local]
        if local < size:
            overflow = int.from_bytes(page[cell + local : cell + local + 4], "big")
            payload += self._read_overflow(overflow, size - local)
        if len(payload) != size:
            raise DamagedPage
        return StoredRow(rowid, _decode_record(payload))

    def _count_local_bytes(self, size: int, kind: int) -> int:
        """Return how many bytes of a row of `size` bytes stand on its own page."""
        usable = self.page_size
        most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        return local if local <= most else least

    def _read_overflow(self, number: int, size: int) -> bytes:
        """Return `size` bytes from the chain of pages that begins with `number`."""
        if size > self.count * self.page_size:
            raise DamagedPage
        parts, room = [], self.page_size - 4
        while size > 0:
            page = self._page(number) if number else b""
            if len(page) < self.page_size:
                raise DamagedPage
            parts.append(page[4 : 4 + min(size, room)])
            number = int.from_bytes(page[:4], "big")
            size -= room
        return b"".join(parts)


def _read_page_size(content: bytes) -> int:
    size = int.from_bytes(content[16:18], "big")
    size = 65536 if size == 1 else size
    is_valid = 512 <= size <= 65536 and size & (size - 1) == 0
    is_sound = content.startswith(_MAGIC) and is_valid
    return size if is_sound else _DEFAULT_PAGE_SIZE


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    """Return the number at the offset `at`, and the offset behind it."""
    number = 0
    for byte in content[at : at + 8]:
        number = number << 7 | byte & 0x7F
        at += 1
        if byte < 0x80:
            return number, at
    return number << 8 | content[at], at + 1


def _decode_record(payload: bytes) -> tuple[Value, ...]:
    """Return the values of a row, and whether a text among them is damaged."""
    header_size, at = _read_varint(payload, 0)
    kinds = []
    while at < header_size:
        kind, at = _read_varint(payload, at)
        kinds.append(kind)
    if at != header_size:
        raise DamagedPage
    values: list[Value] = []
    for kind in kinds:
        value, at = _decode_value(payload, at, kind)
        values.append(value)
    return tuple(values)


def _decode_value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    size = (kind - _SERIAL_BLOB) // 2 if kind > 11 else _SERIAL_SIZES[kind]
    part = payload[at : at + size]
    if len(part) != size:
        raise DamagedPage
    if kind >= _SERIAL_BLOB:
        return part if kind % 2 == 0 else part.decode("utf-8", "replace"), at + size
    if kind in _SERIAL_NULLS:
        return None, at
    if kind == _SERIAL_REAL:
        return float(struct.unpack(">d", part)[0]), at + size
    if kind in {_SERIAL_ZERO, _SERIAL_ONE}:
        return kind - _SERIAL_ZERO, at
    return int.from_bytes(part, "big", signed=True), at + size


def _read_log(content: bytes, page_size: int) -> dict[int, bytes]:
    """Return the pages that the complete transactions of a `-wal` file changed."""
    if len(content) < _WAL_HEADER:
        return {}
    magic, _, size, _, *salts = struct.unpack_from(">6I", content)
    if magic & ~1 != _WAL_MAGIC or size != page_size:
        return {}
    order = ">" if magic & 1 else "<"
    checksum = _add_checksum((0, 0), content[:24], order)
    if checksum != struct.unpack_from(">2I", content, 24):
        return {}
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for start in range(_WAL_HEADER, len(content), _FRAME_HEADER + page_size):
        page = content[start + _FRAME_HEADER : start + _FRAME_HEADER + page_size]
        if len(page) < page_size:
            break
        number, commit, *rest = struct.unpack_from(">6I", content, start)
        checksum = _add_checksum(checksum, content[start : start + 8], order)
        checksum = _add_checksum(checksum, page, order)
        if rest != [*salts, *checksum]:
            break
        pending[number] = page
        if commit:
            committed.update(pending)
            pending.clear()
    return committed


def has_damaged_log(path: Path) -> bool:
    """Return whether a frame in the `-wal` file of the database at `path` is damaged.

    SQLite ignores the log from there on, without an error, so changes that were stored
    are lost. An incomplete end of the log, as after a crash, is no damage. A file that
    another process is writing is read again.

    Raises:
        OSError: The file cannot be read.
    """
    log, seen = path.with_name(f"{path.name}-wal"), b""
    for _ in range(_LOG_READS):
        content = log.read_bytes() if log.exists() else b""
        if not _is_log_damaged(content):
            return False
        if content == seen:
            return True
        seen = content
        time.sleep(_LOG_WAIT)
    return False


def _is_log_damaged(content: bytes) -> bool:
    if len(content) < _WAL_HEADER + _FRAME_HEADER:
        return False
    magic, _, page_size, _, *salts = struct.unpack_from(">6I", content)
    order = ">" if magic & 1 else "<"
    checksum = _add_checksum((0, 0), content[:24], order)
    if checksum != struct.unpack_from(">2I", content, 24):
        return True
    frame, has_ended = _FRAME_HEADER + page_size, False
    for start in range(_WAL_HEADER, len(content) - frame + 1, frame):
        rest = struct.unpack_from(">4I", content, start + 8)
        if rest[0] != salts[0] and rest[1] != salts[1]:
            has_ended = True  # what follows is left from an earlier log
            continue
        checksum = _add_checksum(checksum, content[start : start + 8], order)
        page = content[start + _FRAME_HEADER : start + frame]
        checksum = _add_checksum(checksum, page, order)
        if has_ended or rest != (*salts, *checksum):
            return True
    return False


def _add_checksum(
    checksum: tuple[int, int], content: bytes, order: str
) -> tuple[int, int]:
    """Return the checksum of the `-wal` format, continued over `content`."""
    first, second = checksum
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for index in range(0, len(words), 2):
        first = (first + words[index] + second) & _WORD
        second = (second + words[index + 1] + first) & _WORD
    return first, second
