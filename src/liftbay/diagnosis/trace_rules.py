"""What the trace of a failed trial shows beside its verdicts: loading, calls that fail, calls that nobody made."""

from __future__ import annotations

import re
from collections.abc import Iterator

from liftbay.diagnosis.overlap import folded
from liftbay.diagnosis.signs import BEFORE_ALL, Sign, shown, why
from liftbay.diagnosis.view import View, calls_of, stands_in, taken_for_a_skill, text_of
from liftbay.domain.blame import Culprit
from liftbay.domain.episode import Turn
from liftbay.domain.trace import ToolCallRecord
from liftbay.domain.vocabulary import Route

# By what a tool says that it got wrong arguments, rather than that there is no such thing.
_REFUSED = re.compile(r"invalid|required|missing|malformed|must |必須|不正|形式")
_ASKS = re.compile(r"\bask\b")
_IDENTIFIER_IN = re.compile(r"\d{6}|[A-Za-z]+_[A-Za-z0-9_]+|[0-9a-f]{12}")
_IDENTIFIER = re.compile(r"(?=.*[0-9])[0-9A-Za-z_\-]{6,}")


def load_signs(view: View) -> list[Sign]:
    """A server or a Skill that the case needs was not loaded: then nothing after it could go right."""
    signs = []
    served = bool(view.calls) and all(call.error is None and call.success is not False for call in view.calls)
    for load in view.loads:
        if load.success:
            continue
        if load.kind == "skill":
            known = bool(view.wanted & view.skills)
            reliability = 0.97 if load.name in view.wanted else 0.02 if known else 0.5
        else:
            needs_tools = bool(view.case.expected_tools) or bool(view.wanted & view.skills) or len(view.turns) > 1
            reliability = 0.97 if needs_tools and not served else 0.05
        said = "the Skill was not loaded" if load.kind == "skill" else "the MCP server was not loaded"
        signs.append(
            Sign(
                culprit=Culprit.TOOL,
                reliability=reliability,
                why=f"{said}: {load.name}",
                metric="tool_load_success_rate",
                turn=1,
                about=(("load", load.name),),
                place=BEFORE_ALL,
            )
        )
    return signs


def call_signs(view: View) -> list[Sign]:
    """Calls that failed, that no mock knows, and whose arguments nobody ever said."""
    judged = "tool_call_success_rate" in view.failed
    return [
        sign
        for turn in view.turns
        for call in calls_of(turn)
        if (sign := _call_sign(view, turn, call)) is not None and not (judged and call.error is not None)
    ]


def _call_sign(view: View, turn: Turn, call: ToolCallRecord) -> Sign | None:
    about = (("tool", call.name),)
    if call.error is not None and not call.unmocked:
        designed = 0.3 if call.mocked else 0.93
        return _tool(turn, designed, why("a tool call failed", came=f"{call.name}: {call.error}"), about)
    said, shown_call = list(_said(view, turn, call)), f"{call.name}({text_of(call.arguments)})"
    unsaid = next(((name, value) for name, value in (call.arguments or {}).items() if _unsaid(value, said)), None)
    groundless = unsaid is not None and not any(map(_IDENTIFIER_IN.search, _told(view, turn)))
    if groundless or _beside_others(turn, call, said):
        told = why("a tool was called that nothing asks for", came=shown_call)
        return Sign(culprit=Culprit.PLANNING, reliability=0.85, why=told, turn=turn.round, about=about)
    if call.unmocked:
        return _tool(turn, 0.75, why("no mock answers the call", came=shown_call), about)
    if unsaid is not None:
        name, value = unsaid
        argument = (("argument", f"{call.name}.{name}"), *about)
        return _tool(turn, 0.85, why("an argument that nobody said", came=f"{name}={value}"), argument)
    return _without_success(turn, call, about)


def _without_success(turn: Turn, call: ToolCallRecord, about: tuple[tuple[str, str], ...]) -> Sign | None:
    """A result that says itself that it is none."""
    if not isinstance(call.result, dict) or call.result.get("success") is not False:
        return None
    refused = _REFUSED.search(folded(text_of(call.result))) is not None
    return _tool(turn, 0.9 if refused else 0.25, why("a tool call had no success", came=call.name), about)


def _said(view: View, turn: Turn, call: ToolCallRecord) -> Iterator[str]:
    """All that a call of the turn could take its arguments from."""
    yield turn.user_input
    yield from view.earlier_texts(turn)
    yield from (text_of(one.result) for one in calls_of(turn) if one is not call)


def _told(view: View, turn: Turn) -> list[str]:
    """What the user said so far."""
    told = [message.content or "" for message in view.case.history]
    return told + [one.user_input for one in view.turns if one.round <= turn.round]


def _unsaid(value: object, said: list[str]) -> bool:
    return isinstance(value, str) and _IDENTIFIER.fullmatch(value) is not None and not stands_in(value, said)


def _beside_others(turn: Turn, call: ToolCallRecord, said: list[str]) -> bool:
    """Whether the call rests on nothing, or no mock knows it, while calls of other tools in the turn are sound."""
    if _misplaced(turn, call):
        return False
    groundless = (call.unmocked and bool(call.arguments)) or any(
        _unsaid(value, said) for value in (call.arguments or {}).values()
    )
    others = [one for one in calls_of(turn) if one.name != call.name]
    return groundless and any(
        not one.unmocked and not any(_unsaid(value, said) for value in (one.arguments or {}).values()) for one in others
    )


def _misplaced(turn: Turn, call: ToolCallRecord) -> bool:
    """Whether an argument has what other calls of the turn give to another one."""
    arguments = call.arguments or {}
    others = [
        (name, value) for one in calls_of(turn) if one is not call for name, value in (one.arguments or {}).items()
    ]
    swapped = any(mine == value and own != name for own, mine in arguments.items() for name, value in others)
    return swapped or any(name in arguments and arguments[name] != value for name, value in others)


def _tool(turn: Turn, reliability: float, said: str, about: tuple[tuple[str, str], ...]) -> Sign:
    return Sign(culprit=Culprit.TOOL, reliability=reliability, why=said, turn=turn.round, about=about)


def route_signs(view: View) -> list[Sign]:
    """What does not follow from what was understood: a Skill hit on a question, a route beside the intent."""
    return [sign for turn in view.turns if (sign := _inconsistent(view, turn)) is not None]


def _inconsistent(view: View, turn: Turn) -> Sign | None:
    understood, trace = taken_for_a_skill(view, turn), turn.trace
    if understood is None or trace is None or trace.planning is None or trace.perception is None:
        return None
    route, intents = trace.planning.route, shown(trace.perception.intents)
    if not understood and trace.perception.skill_hit:
        said = why(
            "a Skill was hit that does not follow from the intent", expected=intents, came=trace.perception.skill
        )
        about = (("mix-up", f"{intents} → {trace.perception.skill}"),)
        return Sign(culprit=Culprit.PERCEPTION, reliability=0.9, why=said, turn=turn.round, about=about)
    if understood and route is Route.SKILL_MISS:
        said = why("the route does not follow from the intent", expected=intents, came=route.value)
        about = (("mix-up", f"{intents} → {route.value}"),)
        return Sign(culprit=Culprit.PLANNING, reliability=0.93, why=said, turn=turn.round, about=about)
    if not understood and trace.tool_calls:
        name = trace.tool_calls[0].name
        said = why("a tool was called where none is expected", came=name)
        return Sign(culprit=Culprit.PLANNING, reliability=0.9, why=said, turn=turn.round, about=(("tool", name),))
    return None


def planning_signs(view: View) -> list[Sign]:
    """Of a single turn without expected tools: a Skill that called nothing, a call where none was due."""
    if len(view.turns) != 1 or view.case.expected_tools is not None or not view.turns[0].trace:
        return []
    trace = view.turns[0].trace
    if trace.tool_calls is None:
        return []
    decided = (trace.planning.decision if trace.planning else None) or ""
    if taken_for_a_skill(view, view.turns[0]) and not trace.tool_calls and not trace.retrievals:
        surely = 0.85 if decided and not _ASKS.search(decided) else 0.3 if view.case.expected_skill else 0.05
        return [_planning(surely, "a Skill was hit, and no tool was called", ("skill", shown(sorted(view.wanted))))]
    if view.case.expected_route is Route.SKILL_MISS and view.route_right is not False and trace.tool_calls:
        name = trace.tool_calls[0].name
        return [_planning(0.85, why("a tool was called where none is expected", came=name), ("tool", name))]
    return []


def _planning(reliability: float, said: str, about: tuple[str, str]) -> Sign:
    return Sign(culprit=Culprit.PLANNING, reliability=reliability, why=said, turn=1, about=(about,))
