"""What a model that plans well says, for tests of all that comes after."""

import json
from collections.abc import Sequence

from tests.fakes.model_server import Answering, Asked, Turn

ENOUGH = '{"tool": "enough", "words": "", "chapter": 0, "part": 0, "keep": []}'

SHAPES = {"Tools", "Entities", "Step", "Gaps", ""}
"""All that a turn ever asks of a model; the answer itself has no shape."""


def a_step(
    tool: str, words: str = "", chapter: int = 0, keep: Sequence[int] = ()
) -> str:
    """Return a reply that asks for a step."""
    fields = {"words": words, "chapter": chapter, "part": 1, "keep": list(keep)}
    return json.dumps({"tool": tool, **fields})


def planning(
    asked: Asked,
    *,
    tool: str = "manuscript",
    intention: str = "dialogue_of",
    intent: str = "analytical",
    name: str = "Nell Tallow",
) -> str:
    """Return a reply of the shape that is asked for."""
    match asked.shape:
        case "Tools":
            choice = {"tool": tool, "intention": intention, "confidence": 0.9}
            return json.dumps({"intent": intent, "tools": [choice]})
        case "Entities":
            return json.dumps({"entities": [{"name": name, "confidence": 1.0}]})
        case "Step":
            return ENOUGH
        case "Gaps":
            return '{"gaps": []}'
        case other:
            raise AssertionError(f"nobody should ask for {other}")


def saying(turn: Turn | str) -> Answering:
    """Plan, and answer with `turn`."""
    return lambda asked: planning(asked) if asked.shape else turn
