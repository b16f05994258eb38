"""A log of experiments in memory."""

from collections.abc import Callable, Sequence

from lrwr.core.ports.telemetry import Experiment, GoldenSet


class MemoryExperiments:
    """Keeps the ExperimentLog port; `kept` are scores by set, experiment and number."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, int], dict[str, float | None]] = {}

    async def keep(
        self,
        golden: GoldenSet,
        experiments: Sequence[Experiment],
        on_stored: Callable[[], None] | None = None,
    ) -> str:
        """Keep them."""
        for one in experiments:
            for result in one.results:
                place = (golden.key, one.key, result.number)
                self.kept[place] = {s.measure: s.value for s in result.scores}
            if on_stored is not None:
                on_stored()
        return golden.title
