"""An analyst that returns prepared findings."""

from collections.abc import Mapping, Sequence

from lrwr.core.model.errors import ServiceUnavailable
from lrwr.core.model.facts import Certainty, Fact, FactAbout, PassageField
from lrwr.core.model.language_model import Usage
from lrwr.core.model.text import Span
from lrwr.core.ports.models import Excerpt, ExcerptFinding


class ScriptedAnalyst:
    """Finds words in an excerpt, and says of them what the script says.

    `script` gives for some words what they are about, the field and the value.
    Excerpts that hold `broken` cannot be read. `patience` is how many more calls are
    answered before it is away; None means all. `classified` holds the texts of each
    call, `extracted` one text for each.
    """

    def __init__(
        self,
        script: Mapping[str, tuple[FactAbout, str, str]],
        *,
        name: str = "scripted",
        broken: str = "",
        patience: int | None = None,
    ) -> None:
        self._script = script
        self._name = name
        self._broken = broken
        self.patience = patience
        self.classified: list[list[str]] = []
        self.extracted: list[str] = []

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return len(self.classified) + len(self.extracted)

    @property
    def name(self) -> str:
        return self._name

    @property
    def revision(self) -> str:
        return f"{self._name}-1"

    def prompt_tokens(self, excerpts: Sequence[Excerpt], *, extracting: bool) -> int:
        return sum(1 + len(excerpt.text) // 4 for excerpt in excerpts)

    async def classify(
        self, excerpts: Sequence[Excerpt]
    ) -> tuple[list[ExcerptFinding], Usage]:
        self._wait()
        self.classified.append([excerpt.text for excerpt in excerpts])
        kinds = (FactAbout.PASSAGE, FactAbout.GAP)
        return self._answered([self._find(excerpt, kinds) for excerpt in excerpts])

    async def extract(self, excerpt: Excerpt) -> tuple[ExcerptFinding, Usage]:
        self._wait()
        self.extracted.append(excerpt.text)
        kinds = tuple(
            kind for kind in FactAbout if kind not in (FactAbout.PASSAGE, FactAbout.GAP)
        )
        (finding,), usage = self._answered([self._find(excerpt, kinds)])
        return finding, usage

    def _wait(self) -> None:
        if self.patience is not None:
            self.patience -= 1
            if self.patience < 0:
                raise ServiceUnavailable("The model is away", hint="Wake it up.")

    def _answered(
        self, findings: list[ExcerptFinding]
    ) -> tuple[list[ExcerptFinding], Usage]:
        quotes = sum(len(finding.facts) for finding in findings)
        failed = sum(bool(finding.failed) for finding in findings)
        return findings, Usage(
            calls=1,
            prompt_tokens=100,
            completion_tokens=10,
            failed=failed,
            quotes=quotes,
            verified=quotes,
        )

    def _find(self, excerpt: Excerpt, kinds: tuple[FactAbout, ...]) -> ExcerptFinding:
        if self._broken and self._broken in excerpt.text:
            return ExcerptFinding((), failed="the model's reply could not be read")
        facts = []
        for words, (about, field, value) in self._script.items():
            at = excerpt.text.find(words)
            if at >= 0 and about in kinds:
                start = excerpt.span.start + at
                span = Span(start, start + len(words))
                facts.append(self._fact(about, field, value, span, excerpt))
        return ExcerptFinding(tuple(facts))

    def _fact(
        self, about: FactAbout, field: str, value: str, span: Span, excerpt: Excerpt
    ) -> Fact:
        subject = excerpt.known[0] if excerpt.known else ""
        if about in (FactAbout.PASSAGE, FactAbout.SCENE, FactAbout.EVENT):
            subject = ""
        certainty = Certainty.VERIFIED
        if field == PassageField.CONTENT_TYPE:
            certainty = Certainty.PROBABLE
        return Fact(about, subject, field, value, (span,), self._name, certainty)
