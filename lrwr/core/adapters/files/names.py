"""The names of kept files, which tell what they hold."""

import hashlib
import re

_NAME = re.compile(r"[0-9a-f]{64}")


def hash_file_content(content: bytes) -> str:
    """Return the SHA-256 of `content` in hex, in lower case."""
    return hashlib.sha256(content).hexdigest()


def is_stored_file_name(text: str) -> bool:
    """Say whether `text` can be the name of a kept file, and so is no path."""
    return _NAME.fullmatch(text) is not None
