"""Which files are manuscripts, and in plain words why the others are passed over."""

import re
from pathlib import PurePosixPath

from lrwr.core.adapters.source.parser import FORMATS_BY_SUFFIX

OUTSIDE = "a link that leads out of the manuscript folder; it is not followed"
NOWHERE = "a link to nothing, or back to itself"
TWICE = "a link to a file that is read at its own place"
LINKED_FOLDER = "a link to a folder; it is not followed"
EXCLUDED = "excluded by your settings"
IGNORED = "excluded by .lrwrignore"
CLOSED = "may not be opened: you have no permission"
BAD_NAME = "its name is not valid text; rename it"
NOT_A_FILE = "not an ordinary file"

_HIDDEN = "hidden"
_LOCK = "a lock file that Word keeps while a document is open"
_BACKUP = "a backup or temporary file"
_SCRIVENER = "a Scrivener project; compile it to .docx or .md"
_FORMAT = "not a format lrwr reads; save it as .docx or .md"
_OTHER = "not text that lrwr reads"

_WRITERS_FORMATS = (
    ".doc .odt .fodt .rtf .pages .epub .pdf .mobi .azw3 .fdx .fountain .gdoc .wps "
    ".wpd .docm .dot .dotx .htm .html .tex .org .rst .adoc .sxw"
)
_TEMPORARY = re.compile(
    r".*~|#.*#|~.*\.tmp|.*\.(?:bak|tmp|temp|swp|swo|swx|orig|old|part|partial"
    r"|crdownload|kate-swp|wbk|asd)|.*\.sb-[0-9a-f]+-\w+|4913",
    re.I,
)


def explain_skipped_file(name: str) -> str:
    """Say why the file called `name` is passed over; empty when it is read."""
    if name.startswith("~$"):
        return _LOCK
    if name.startswith("."):
        return _HIDDEN
    if _TEMPORARY.fullmatch(name):
        return _BACKUP
    ending = PurePosixPath(name).suffix.lower()
    if ending in FORMATS_BY_SUFFIX:
        return ""
    return _FORMAT if ending and ending in _WRITERS_FORMATS.split() else _OTHER


def may_be_manuscript_name(name: str) -> bool:
    """Say whether `name` may be a manuscript's or a folder's, and no temporary one."""
    return explain_skipped_file(name) not in (_LOCK, _HIDDEN, _BACKUP, _FORMAT)


def explain_skipped_folder(name: str) -> str:
    """Say why the folder called `name` is passed over; empty when it is entered."""
    if name.startswith("."):
        return _HIDDEN
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".scriv":
        return _SCRIVENER
    return _FORMAT if ending in (".pages", ".rtfd") else ""
