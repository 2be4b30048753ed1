"""A case: one annotated input with its expectations, and the mock data that answers its tool calls."""

from __future__ import annotations

from typing import Any

import msgspec

from liftbay.domain.vocabulary import DatasetType, EvalMode, Route


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message of a dialogue, in the form of the OpenAI API."""

    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class ArgumentMatcher(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """How one argument is compared, in place of exact equality; exactly one of the fields is given."""

    one_of: list[Any] | None = None
    regex: str | None = None  # the whole text must match
    tolerance: float | None = None  # of the number in `arguments`
    ignore: bool = False


class ExpectedTool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call that is expected, with matchers for the arguments that need not be equal."""

    name: str
    arguments: dict[str, Any] = {}
    matchers: dict[str, ArgumentMatcher] = {}


class ConversationRound(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One turn of a conversation, with what its answer should carry over from earlier rounds."""

    round: int
    user_input: str
    expected_contains: list[str] = []
    refers_to: list[int] = []
    reference_output: str | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One annotated input; absent expectations are None, so that what needs them is not applicable."""

    id: str
    dataset_type: DatasetType
    eval_mode: EvalMode = EvalMode.E2E_REAL
    scene_code: str = "default"
    scene_name: str = ""
    user_input: str | None = None
    conversation_chain: list[ConversationRound] = []
    expected_skill: str | None = None
    expected_route: Route | None = None
    expected_intent: str | None = None
    expected_intents: list[str] | None = None
    expected_knowledge: list[str] | None = None
    expected_tools: list[ExpectedTool] | None = None  # [] means that no tool should be called
    reference_output: str | None = None
    biz_code: str | None = None
    mock_data_id: str | None = None
    keywords: list[str] = []
    history: list[Message] = []
    tools: list[dict[str, Any]] | None = None  # tool definitions that come with the case
    extra: dict[str, Any] = {}  # keys that this format does not know

    @property
    def rounds(self) -> list[ConversationRound]:
        """The turns to send; a single-turn case is a conversation of one round."""
        if self.conversation_chain:
            return self.conversation_chain
        return [ConversationRound(round=1, user_input=self.user_input or "", reference_output=self.reference_output)]


class MockAnswer(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a mocked tool call answers; without `match` it answers any arguments."""

    match: dict[str, Any] | None = None
    result: Any = msgspec.UNSET
    error: str | None = None
    latency_ms: float = 0.0


class MockData(msgspec.Struct, frozen=True, rename="camel"):
    """The answers of tools, by tool, that a case names by `mockDataId`."""

    mock_data_id: str
    tools: dict[str, list[MockAnswer]]
