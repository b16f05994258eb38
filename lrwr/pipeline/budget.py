"""What one run may spend on a language model, and what it has spent."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lrwr.core.model.language_model import Usage

PriceLookup = Callable[[Usage], float | None]
"""What a usage costs, in US dollars; None where the model's price is unknown."""


@dataclass(slots=True)
class ModelBudget:
    """Counts what a run asks of a model, and stops it when enough was spent.

    `budget` is in US dollars, `most_calls` in calls; 0 means no bound. A budget can be
    kept only where the price is known: elsewhere the meter begins stopped. What is
    under way counts as spent at its estimate until it is paid. `stopped` says in a
    sentence why nothing more is asked; empty while more may be.
    """

    price: PriceLookup
    budget: float = 0.0
    usage: Usage = field(default_factory=Usage)
    stopped: str = ""
    most_calls: int = 0
    _reserved: float = 0.0
    _begun: int = 0

    def __post_init__(self) -> None:
        if self.budget and self.price(Usage(calls=1)) is None:
            self.stopped = (
                "The budget cannot be kept, since the model's price is unknown: set"
                " `model.prices`, or set the budget to 0."
            )

    @property
    def spent(self) -> float | None:
        """What was paid so far, in US dollars; None where the price is unknown."""
        return self.price(self.usage)

    def reserve(self, estimate: Usage) -> float | None:
        """Set the price of a call aside; None when the run must not make it."""
        if self.stopped:
            return None
        if self.most_calls and self._begun + estimate.calls > self.most_calls:
            self.stopped = f"Calls were made, as many as may be: {self.most_calls}."
            return None
        price = self.price(estimate) or 0.0
        if self.budget and (self.spent or 0.0) + self._reserved + price > self.budget:
            self.stopped = f"The budget of ${self.budget:.2f} is used up."
            return None
        self._reserved += price
        self._begun += estimate.calls
        return price

    def settle(self, reserved: float, usage: Usage) -> None:
        """Count what a call really took, in the place of what was set aside."""
        self._reserved -= reserved
        self.usage += usage

    def stop(self, reason: str) -> None:
        """Ask nothing more in this run; the first reason stays."""
        self.stopped = self.stopped or reason
