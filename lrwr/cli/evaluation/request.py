"""The options of `lrwr eval`."""

from dataclasses import dataclass
from pathlib import Path

from lrwr.cli.runtime.options import parse_choice
from lrwr.core.model.choices import Pipeline
from lrwr.core.model.errors import SettingsProblem


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """The options of one `lrwr eval` call; see `lrwr eval --help`.

    `budgets` are in tokens, `budget` in US dollars. `make` is the number of questions
    to generate; 0 generates some only if there are none yet. Each answer is judged
    `repeats` times.
    """

    pipelines: tuple[Pipeline, ...]
    questions: Path | None
    make: int
    budgets: tuple[int, ...]
    answers: bool
    model: bool
    read: bool
    repeats: int
    budget: float
    dry_run: bool
    as_json: bool


def parse_pipelines(name: str | None) -> tuple[Pipeline, ...]:
    """Return the pipelines that `--pipeline` names; both if it is None or "both".

    Raises:
        SettingsProblem: The name is unknown.
    """
    if name is None or name.strip().lower() == "both":
        return (Pipeline.NAIVE, Pipeline.AGENTIC)
    return (parse_choice(Pipeline, name, "--pipeline"),)


def parse_token_budgets(text: str) -> tuple[int, ...]:
    """Return the numbers of tokens in a comma-separated list, ascending and distinct.

    Raises:
        SettingsProblem: `text` is not a list of whole numbers from 10 to 1,000,000.
    """
    try:
        budgets = sorted({int(number) for number in text.split(",")})
    except ValueError:
        budgets = []
    if not budgets or budgets[0] < 10 or budgets[-1] > 1_000_000:
        raise SettingsProblem(
            f"--budget-tokens cannot be {text!r}",
            hint="Give whole numbers from 10 to 1000000, as in 500,1000,2000.",
        )
    return tuple(budgets)
