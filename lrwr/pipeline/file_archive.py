"""Every file that is read is kept elsewhere as well, as it is."""

from dataclasses import dataclass

from lrwr.core.model.documents import DocumentId
from lrwr.core.ports.jobs import JobProgressCallback, JobResult, JobRunner
from lrwr.core.ports.stores import FileStore


@dataclass(frozen=True, slots=True)
class ArchivingRunner:
    """Keeps the JobRunner port: has `files` keep each file, and `runner` read it.

    What is known of a file is told only when the file itself is kept: whoever follows
    the library elsewhere finds every file that it names.
    """

    runner: JobRunner
    files: FileStore

    @property
    def places(self) -> int:
        """Return how many documents may be in work at once."""
        return self.runner.places

    async def run(
        self, document: DocumentId, content: bytes, report: JobProgressCallback
    ) -> JobResult:
        """Keep a file's bytes, and return the knowledge of them.

        Raises:
            LrwrError: The file cannot be kept; else as `runner` does.
        """
        read = await self.runner.run(document, content, report)
        await self.files.put(content)
        return read

    async def stored(self, document: DocumentId) -> None:
        """Say that what was returned of a document is kept."""
        await self.runner.stored(document)

    async def aclose(self) -> None:
        """Let go of connections; who opened `files` closes them."""
        await self.runner.aclose()
