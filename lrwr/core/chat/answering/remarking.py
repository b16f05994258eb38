"""An avatar that says first what the writer should know of its answers."""

from dataclasses import dataclass, replace

from lrwr.core.chat.nodes import Answer, Avatar, Emit
from lrwr.core.chat.state import Question, RetrievalResult
from lrwr.core.model.turns import Plan


@dataclass(frozen=True, slots=True)
class RemarkingAvatar:
    """Answers as `avatar` does, with `remark` before all others."""

    avatar: Avatar
    remark: str

    @property
    def model(self) -> str:
        """Name the language model; empty without one."""
        return self.avatar.model

    async def answer(
        self, question: Question, plan: Plan, result: RetrievalResult, emit: Emit
    ) -> Answer:
        """Answer, and remark on it."""
        answer = await self.avatar.answer(question, plan, result, emit)
        return replace(answer, remarks=(self.remark, *answer.remarks))
