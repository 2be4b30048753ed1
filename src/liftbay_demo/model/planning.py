"""Planning with a language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from liftbay_demo import spans
from liftbay_demo.domain import Dialogue, Perceived, Plan, Step, ToolCall
from liftbay_demo.model.client import ModelClient, ModelError
from liftbay_demo.planning.offline import OfflinePlanning
from liftbay_demo.tools.catalogue import Tool

_PROMPT = """商品センターの照会アシスタントの計画を立てます。
依頼ごとに使えるツールと、分かっている引数は次のとおりです。
{material}
呼ぶツールと引数を calls に、知識ベースの検索が要るかを retrieve に書いてください。
引数は分かっている値だけを使います。"""


class _Answer(msgspec.Struct):
    calls: list[ToolCall]
    retrieve: bool


class ModelPlanning:
    """Asks the model which tools to call and whether to look something up."""

    def __init__(self, rules: OfflinePlanning, model: ModelClient, catalogue: Mapping[str, Tool]) -> None:
        self._rules = rules
        self._model = model
        self._catalogue = catalogue

    async def plan(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        """What is done about the message; by rules where the model does not say, or says what cannot be."""
        plan = self._rules.planned(message, perceived, dialogue)
        open_steps = [step for step in plan.steps if step.calls or step.query is not None]
        if not open_steps:
            return plan  # there is something to ask, or nothing to do
        prompt = _PROMPT.format(material=spans.text_of([self._described(step) for step in open_steps]))
        messages = [{"role": "system", "content": prompt}, {"role": "user", "content": message}]
        try:
            answer = msgspec.convert(await self._model.structured(messages, "plan", self._schema()), _Answer)
        except (ModelError, msgspec.ValidationError):
            return plan
        return self._with(plan, answer)

    def _described(self, step: Step) -> dict[str, Any]:
        tools = dict.fromkeys(call.name for call in step.calls)
        return {
            "request": step.request.text,
            "skill": step.skill,
            "tools": {name: self._catalogue[name].names for name in tools},
            "values": step.values,
        }

    def _schema(self) -> dict[str, Any]:
        call = {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": list(self._catalogue)},
                "arguments": {"type": "object"},
            },
            "required": ["name", "arguments"],
        }
        return {
            "type": "object",
            "properties": {"calls": {"type": "array", "items": call, "maxItems": 8}, "retrieve": {"type": "boolean"}},
            "required": ["calls", "retrieve"],
        }

    def _with(self, plan: Plan, answer: _Answer) -> Plan:
        """The plan with the model's calls, if each of them can be made with what is known."""
        steps = []
        left = list(answer.calls)
        for step in plan.steps:
            mine = tuple(call for call in left if self._possible(step, call))
            left = [call for call in left if call not in mine]
            if step.calls:
                step = msgspec.structs.replace(step, calls=mine)  # noqa: PLW2901
            elif step.query is not None and not answer.retrieve:
                step = msgspec.structs.replace(step, query=None)  # noqa: PLW2901
            steps.append(step)
        nothing_done = any(before.calls and not after.calls for before, after in zip(plan.steps, steps, strict=True))
        return plan if left or nothing_done else msgspec.structs.replace(plan, steps=tuple(steps))

    def _possible(self, step: Step, call: ToolCall) -> bool:
        tool = self._catalogue.get(call.name)
        if tool is None or call.name not in {one.name for one in step.calls}:
            return False
        known = all(value in step.values.get(name, ()) for name, value in call.arguments.items())
        return known and set(tool.required) <= call.arguments.keys() <= set(tool.names)
