"""Cases of all eight dataset types, each with what the scripted agent does in it, in shares that are known."""

from __future__ import annotations

import asyncio
from typing import Any

Record = dict[str, Any]
Behaviour = dict[str, Any]  # fault, text and trace of each round; see `behaviour`

HIT, MISS = "SKILL_HIT", "SKILL_MISS"


def behaviour(
    *rounds: Record | None, fault: str | None = None, text: str = "an answer", faulty_round: int = 1
) -> Behaviour:
    """What the agent does: the trace of each round; with a fault it breaks in a round in its own way."""
    return {"rounds": list(rounds) or [None], "fault": fault, "faultyRound": faulty_round, "text": text}


def agent_of(script: dict[str, Behaviour]) -> Any:
    """The agent that plays the script; it knows the case by its `bizCode`."""

    async def agent(user_input: str, biz_code: str, round: int) -> Any:
        did = script[biz_code]
        if did["fault"] is not None and round == did["faultyRound"]:
            match did["fault"]:
                case "timeout":
                    await asyncio.Event().wait()
                case "crash":
                    raise ZeroDivisionError(user_input)
                case "protocol":
                    return 42
                case "unreachable":
                    raise ConnectionRefusedError
        return {"text": did["text"], "trace": did["rounds"][round - 1]}

    return agent


def perception(intent: str, skill: str | None) -> Record:
    """The perception of a trace."""
    return {"skillHit": skill is not None, "skill": skill, "intents": [intent], "latencyMs": 5}


def planning(route: str) -> Record:
    """The planning of a trace."""
    return {"route": route, "latencyMs": 7}


MODEL = {"calls": 2, "inputTokens": 100, "outputTokens": 20, "timeToFirstTokenMs": 50}
MEMORY = {"rounds": 0, "latencyMs": 1}
LOADS = [{"kind": "mcp", "name": "m", "success": True}, {"kind": "skill", "name": "s", "success": False}]


def _skill_trace(intent: str = "find", skill: str | None = "finder", route: str = HIT) -> Record:
    return {
        "perception": perception(intent, skill),
        "planning": planning(route),
        "memory": MEMORY,
        "toolCalls": [],
        "toolLoads": LOADS,
        "retrievals": [],
        "model": MODEL,
    }


def _knowledge_trace(
    intent: str = "knowledge_qa", skill: str | None = None, route: str = MISS, retrievals: int = 1
) -> Record:
    found = {"count": 2, "chunks": [{"content": "a"}, {"content": "b"}], "latencyMs": 30}
    return _skill_trace(intent, skill, route) | {"retrievals": [found] * retrievals}


def _without(trace: Record, *parts: str) -> Record:
    return {name: part for name, part in trace.items() if name not in parts}


def _tool(name: str, success: bool = True, **arguments: Any) -> Record:
    return {"name": name, "arguments": arguments, "success": success, "latencyMs": 11}


def _tools(*calls: Record) -> Record:
    return {"planning": {"latencyMs": 7}, "toolCalls": list(calls), "model": MODEL}


_GOOD = _tool("search", q="x")
_PLAYED: dict[str, list[tuple[int, Behaviour]]] = {
    "BASIC_FUNCTION": [
        (9, behaviour(_skill_trace())),
        (3, behaviour(_skill_trace(route=MISS))),
        (2, behaviour(_skill_trace(intent="other"))),
        (2, behaviour(_skill_trace(skill="other"))),
        (1, behaviour(_skill_trace(skill=None))),
        (2, behaviour(_without(_skill_trace(), "planning"))),
        (1, behaviour(_without(_skill_trace(), "perception", "toolLoads"))),
        (1, behaviour(None)),
        (1, behaviour(fault="timeout")),
        (2, behaviour(fault="crash")),
    ],
    "KNOWLEDGE_QA": [
        (8, behaviour(_knowledge_trace())),
        (4, behaviour(_knowledge_trace(skill="finder", intent="find", route=HIT, retrievals=0))),
        (1, behaviour(_knowledge_trace(route=HIT))),
        (3, behaviour(_knowledge_trace(retrievals=0))),
        (2, behaviour(_without(_knowledge_trace(), "retrievals"))),
        (1, behaviour(fault="unreachable")),
        (1, behaviour(fault="protocol")),
    ],
    "MULTI_TURN": [
        (3, behaviour(_skill_trace(), _skill_trace(), _skill_trace())),
        (1, behaviour(_skill_trace(), None, None, fault="crash", faulty_round=2)),
        (1, behaviour(None, None, _skill_trace())),
    ],
    "ABNORMAL_INPUT": [
        (3, behaviour(_without(_skill_trace(), "toolLoads"), text="please say it again")),
        (2, behaviour(_skill_trace(), text="  ")),
        (1, behaviour(fault="timeout")),
        (2, behaviour(fault="crash")),
        (1, behaviour(fault="protocol")),
    ],
    "TOOL_CALL": [
        (6, behaviour(_tools(_GOOD))),
        (2, behaviour(_tools(_tool("search", q="y")))),
        (2, behaviour(_tools(_tool("other", q="x")))),
        (1, behaviour(_tools(_GOOD, _tool("other")))),
        (1, behaviour(_tools(_GOOD, _tool("search", q="x")))),
        (2, behaviour(_tools())),
        (2, behaviour(_tools(_tool("search", success=False, q="x")))),
        (1, behaviour(_without(_tools(), "toolCalls"))),
        (1, behaviour(fault="timeout")),
    ],
    "TOOL_CALL/none": [
        (3, behaviour(_tools())),
        (1, behaviour(_tools(_GOOD))),
    ],
    "TOOL_CALL/mock": [
        (2, behaviour(_tools(_GOOD))),
        (1, behaviour(_tools(_tool("search", success=False, q="x")))),
    ],
    "MULTI_INTENT": [
        (4, behaviour({"perception": {"intents": ["b", "a"], "latencyMs": 4}})),
        (2, behaviour({"perception": {"intents": ["a"], "latencyMs": 4}})),
        (1, behaviour({"perception": {"latencyMs": 4}})),
        (1, behaviour(fault="crash")),
    ],
    "AMBIGUOUS_INTENT": [
        (3, behaviour({"model": MODEL}, text="which one?")),
        (1, behaviour(fault="timeout")),
    ],
    "LONG_DIALOGUE_DECAY": [
        (2, behaviour(*[{"memory": {"rounds": n, "latencyMs": n}, "model": MODEL} for n in range(5)])),
        (1, behaviour(*[{"memory": {"rounds": n, "latencyMs": n}} for n in range(5)], fault="timeout", faulty_round=4)),
    ],
}
_EXPECTED: dict[str, Record] = {
    "BASIC_FUNCTION": {"expectedSkill": "finder", "expectedRoute": HIT, "expectedIntent": "find"},
    "KNOWLEDGE_QA": {
        "expectedSkill": None,
        "expectedRoute": MISS,
        "expectedIntent": "knowledge_qa",
        "expectedKnowledge": ["a", "b"],
    },
    "ABNORMAL_INPUT": {"userInput": ""},
    "TOOL_CALL": {"expectedTools": [{"name": "search", "arguments": {"q": "x"}}]},
    "TOOL_CALL/none": {"expectedTools": []},
    "TOOL_CALL/mock": {"expectedTools": [{"name": "search", "arguments": {"q": "x"}}], "evalMode": "E2E_MOCK"},
    "MULTI_INTENT": {"expectedIntents": ["a", "b"]},
}
_ROUNDS = {"MULTI_TURN": 3, "LONG_DIALOGUE_DECAY": 5}


def scripted_cases() -> tuple[list[Record], dict[str, Behaviour]]:
    """The cases as records of a dataset, and what the agent does in each, by the case's id."""
    cases: list[Record] = []
    script: dict[str, Behaviour] = {}
    for group, kinds in _PLAYED.items():
        dataset_type = group.partition("/")[0]
        for kind, (count, did) in enumerate(kinds):
            for number in range(count):
                id_ = f"{group.replace('/', '-')}-{kind}-{number}"
                case: Record = {
                    "id": id_,
                    "bizCode": id_,
                    "datasetType": dataset_type,
                    "sceneCode": f"scene{number % 2}",
                }
                if rounds := _ROUNDS.get(dataset_type):
                    chain = [{"round": n, "userInput": f"turn {n}"} for n in range(1, rounds + 1)]
                    case |= {"conversationChain": chain}
                else:
                    case |= {"userInput": "the question"}
                cases.append(case | _EXPECTED.get(group, {}))
                script[id_] = did
    return cases, script
