"""What a model that plans well says, for tests of all that comes after."""

import json

from tests.fakes.model_server import Answering, Asked, Turn

SHAPES = {"Tools", "Entities", "Gaps", ""}
"""All that a turn ever asks of a model; the answer itself has no shape."""


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
        case "Gaps":
            return '{"gaps": []}'
        case other:
            raise AssertionError(f"nobody should ask for {other}")


def saying(turn: Turn | str) -> Answering:
    """Plan, and answer with `turn`."""
    return lambda asked: planning(asked) if asked.shape else turn
