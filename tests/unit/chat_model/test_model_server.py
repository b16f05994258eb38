"""The fake server is strict where the real one is: a test that passes means something."""

import json
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.fakes.model_replies import Json
from tests.fakes.model_server import KEY, MODEL, ModelServer, Refuse, Say

HELLO = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as opened:
        yield opened


def ask(server: ModelServer, path: str, body: Json = None, key: str = KEY) -> Json:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{server.base_url}{path}", content, headers)) as answer:
        return json.load(answer)


def refused(server: ModelServer, body: Json, key: str = KEY) -> tuple[int, str]:
    with pytest.raises(HTTPError) as caught:
        ask(server, "/chat/completions", body, key)
    with caught.value as error:
        return error.code, json.load(error)["error"]["message"]


def test_it_says_what_it_was_given_and_counts_tokens(server: ModelServer) -> None:
    server.will(Say("Once", " more"))
    answer = ask(server, "/chat/completions", HELLO)
    assert answer["choices"][0]["message"]["content"] == "Once more"
    assert answer["usage"] == {
        "prompt_tokens": 2,
        "completion_tokens": 3,
        "total_tokens": 5,
    }
    assert ask(server, "/chat/completions", HELLO) != answer


def test_a_function_answers_with_a_text_or_a_failure(server: ModelServer) -> None:
    server.answering(lambda asked: asked.texts[0] * 2)
    answer = ask(server, "/chat/completions", HELLO)
    assert answer["choices"][0]["message"]["content"] == "HelloHello"
    server.answering(lambda asked: Refuse(529))
    assert refused(server, HELLO)[0] == 529


def test_a_wrong_key_is_refused(server: ModelServer) -> None:
    assert refused(server, HELLO, "sk-other")[0] == 401


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "object", "properties": {}}, "additionalProperties"),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": [],
                "additionalProperties": False,
            },
            "required",
        ),
        ({"type": "array", "items": {"anyOf": []}}, "no type"),
        ({"type": "string", "format": "date"}, "format"),
    ],
)
def test_a_schema_that_is_not_strict_is_refused(
    server: ModelServer, schema: Json, says: str
) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    status, message = refused(server, {**HELLO, "response_format": wanted})
    assert status == 400
    assert says in message


def test_models_are_listed(server: ModelServer) -> None:
    assert [one["id"] for one in ask(server, "/models")["data"]] == [MODEL]


def test_texts_that_share_words_have_near_vectors(server: ModelServer) -> None:
    texts = ["the fog came in", "the fog came", "seven cakes"]
    body = {"model": MODEL, "input": texts, "dimensions": 64}
    data = ask(server, "/embeddings", body)["data"]
    one, near, far = (row["embedding"] for row in data)
    assert len(one) == 64
    assert dot(one, near) > dot(one, far)
    assert dot(one, one) == pytest.approx(1.0)


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
