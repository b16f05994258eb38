"""A loopback store of what is too large for a message: as Modal has one beside it."""

import hashlib
from dataclasses import dataclass, field

from tests.fakes.loopback import Line, Loopback


@dataclass
class BlobStore(Loopback):
    """Blobs by name, put and got over HTTP. What is put is answered by its MD5."""

    blobs: dict[str, bytes] = field(default_factory=dict)

    def new(self) -> str:
        """Return the name of a blob that is to come."""
        name = f"bl-{len(self.blobs)}"
        self.blobs[name] = b""
        return name

    def address(self, name: str) -> str:
        """Return where a blob is put and got."""
        return f"{self.origin}/{name}"

    def serve(self, line: Line) -> None:
        """Take a blob, or give it."""
        name = line.path.strip("/")
        if line.command == "PUT":
            self.blobs[name] = body = line.received()
            line.send(200, b"", {"etag": f'"{hashlib.md5(body).hexdigest()}"'})
        else:
            line.send(200, self.blobs[name], {})
