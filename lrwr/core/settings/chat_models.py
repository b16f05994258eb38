"""The tasks of language models, and the names of the models that the settings give
them.
"""

from collections.abc import Mapping
from enum import StrEnum

from lrwr.core.model.egress import RequestPurpose
from lrwr.core.settings.model import Settings

DEFAULT_CHAT_MODEL = "gpt-6-luna"
"""The OpenAI model that is used if `model.name` is empty."""


class ModelRole(StrEnum):
    """A task of language models; the settings may name a model for each.

    The planner plans how to answer a question. The analyst extracts facts from the
    manuscript and judges contradictions. The avatar answers questions. The judge scores
    answers in `lrwr eval`. The checker compares drafts with the manuscript, the writer
    drafts them, and scenes. The ranker orders the first passages of a search; it is the
    planner's model.
    """

    PLANNER = "planner"
    ANALYST = "analyst"
    AVATAR = "avatar"
    JUDGE = "judge"
    CHECKER = "checker"
    WRITER = "writer"
    RANKER = "ranker"

    @property
    def purpose(self) -> RequestPurpose:
        """The purpose of this role's requests in the send log."""
        return _PURPOSES[self]


_PURPOSES: Mapping[ModelRole, RequestPurpose] = {
    ModelRole.PLANNER: RequestPurpose.PLANNING,
    ModelRole.ANALYST: RequestPurpose.READING,
    ModelRole.AVATAR: RequestPurpose.ANSWERING,
    ModelRole.JUDGE: RequestPurpose.JUDGING,
    ModelRole.CHECKER: RequestPurpose.CHECKING,
    ModelRole.WRITER: RequestPurpose.WRITING,
    ModelRole.RANKER: RequestPurpose.RERANKING,
}


def get_chat_model_name(settings: Settings, role: ModelRole) -> str:
    """Return the name of the model for `role` in the settings, or the default for
    OpenAI.

    Empty if `model.use` is off, or if no model is named for the user's own server.
    """
    model = settings.model
    names = {
        ModelRole.PLANNER: model.planner,
        ModelRole.ANALYST: model.analyst,
        ModelRole.AVATAR: model.avatar,
        ModelRole.JUDGE: model.judge,
        ModelRole.CHECKER: model.checker,
        ModelRole.WRITER: model.writer,
        ModelRole.RANKER: model.planner,
    }
    default = DEFAULT_CHAT_MODEL if model.use == "openai" else ""
    return "" if model.use == "off" else names[role] or model.name or default


def list_chat_models(settings: Settings) -> dict[RequestPurpose, str]:
    """Return the names of the models in use, by the purpose of their requests in the
    send log.

    Purposes without a model are left out.
    """
    name_by_purpose = {
        role.purpose: get_chat_model_name(settings, role)
        for role in ModelRole
        if role is not ModelRole.RANKER or settings.rerank.model == "model"
    }
    return {purpose: name for purpose, name in name_by_purpose.items() if name}
