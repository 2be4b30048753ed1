"""Planning by rules, without a language model."""

from __future__ import annotations

import re
from collections.abc import Mapping

from liftbay_demo.domain import Dialogue, Kind, Perceived, Plan, Request, Route, Step
from liftbay_demo.planning import profile
from liftbay_demo.planning.calls import calls_of
from liftbay_demo.planning.references import completed
from liftbay_demo.tools.catalogue import Tool
from liftbay_demo.tools.skills import Skill
from liftbay_demo.words import Words

_LEANS_ON_THE_LAST = re.compile(
    r"それ(?!と|から|ぞれ)|これ(?!まで|から)|その|この|あの|じゃあ|^では?、|さっき|先ほど|逆に|^(?:で"
    r"|だと)|(?:の)?(?:場合|とき|時)は[??]?$"
)


class OfflinePlanning:
    """Decides by the Skills' front matter, the tools' parameters and what was said before."""

    def __init__(self, catalogue: Mapping[str, Tool], words: Words) -> None:
        self._catalogue = catalogue
        self._words = words
        self._skills: Mapping[str, Skill] = {}

    def use(self, skills: Mapping[str, Skill]) -> None:
        """Plan with these Skills from now on."""
        self._skills = skills

    async def plan(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        """What is done about the message."""
        return self.planned(message, perceived, dialogue)

    def planned(self, message: str, perceived: Perceived, dialogue: Dialogue) -> Plan:
        """What is done about the message, at once."""
        steps = tuple(self._step(request, dialogue) for request in perceived.requests)
        return Plan(
            route=Route.SKILL_HIT if any(step.skill for step in steps) else Route.SKILL_MISS,
            steps=steps,
            profile=profile.for_this_answer(dialogue.profile, message),
            store=profile.to_remember(dialogue.profile, message, perceived, steps, self._words),
            store_results=any(step.calls for step in steps),
        )

    def _step(self, request: Request, dialogue: Dialogue) -> Step:
        if request.skill is None:
            query = self._query(request, dialogue) if request.kind is Kind.KNOWLEDGE else None
            return Step(request, query=query)
        values = completed(request, dialogue)
        skill = self._skills.get(request.skill)
        names = skill.tools if skill else ()
        calls, missing, malformed = calls_of(request.skill, names, self._catalogue, values, request.mentions.malformed)
        return Step(request, request.skill, values, calls, missing, malformed)

    def _query(self, request: Request, dialogue: Dialogue) -> str:
        """What to look up: a question that leans on the one before is put together with it."""
        asked = dialogue.turns[-1].asked if dialogue.turns else ()
        before = next((one.text for one in reversed(asked) if one.kind is Kind.KNOWLEDGE), None)
        leans = _LEANS_ON_THE_LAST.search(request.text) is not None or len(self._words.of(request.text)) <= 1
        return f"{before} {request.text}" if before is not None and leans else request.text
