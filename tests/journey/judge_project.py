"""A project whose cases a judge must decide, and a judge's endpoint that decides them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aiohttp import web
from command import write_lines
from judge_double import completion

AGENT = """
CHUNKS = [{"content": "在庫が 0 なら販売不可", "id": "c-1"}, {"content": "食堂は水曜定休", "id": "c-2"}]

def answer(text):
    trace = {"planning": {"route": "SKILL_MISS"}, "toolCalls": [], "retrievals": [{"count": 2, "chunks": CHUNKS}]}
    return {"text": f"答え: {text}", "trace": trace}
"""
CASES = 5
VERDICTS = 4 * CASES  # task completion, faithfulness, retrieval precision and recall


def make_project(folder: Path, settings: str = "") -> Path:
    """Write the project; `settings` stand in its liftbay.toml."""
    (folder / "shop.py").write_text(AGENT, encoding="utf-8")
    (folder / "datasets").mkdir()
    (folder / "liftbay.toml").write_text(f'[agent]\ndefault = "python:shop:answer"\n{settings}', encoding="utf-8")
    cases = [
        {
            "id": f"KQA-{number}",
            "datasetType": "KNOWLEDGE_QA",
            "userInput": f"質問 {number}",
            "expectedRoute": "SKILL_MISS",
            "referenceOutput": "販売できない理由",
            "expectedKnowledge": ["在庫 0 は販売不可"],
        }
        for number in range(CASES)
    ]
    write_lines(folder / "datasets" / "cases.jsonl", cases)
    return folder


def obliging(request: dict[str, Any]) -> dict[str, Any]:
    """The completion of a judge that passes everything."""
    schema = request["response_format"]["json_schema"]["schema"]["properties"]
    if "items" not in schema:
        return completion({"reasoning": "よい", "verdict": schema["verdict"]["enum"][0]})
    item = schema["items"]["items"]["properties"]
    word = item["verdict"]["enum"][0]
    return completion({"items": [{"id": id_, "reasoning": "よい", "verdict": word} for id_ in item["id"]["enum"]]})


class Endpoint:
    """Passes everything, and notes what it was asked and with which key."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.keys.add(request.headers.get("Authorization"))
        if request.path.endswith("/models"):
            return web.json_response({"data": [{"id": "the-only-one"}]})
        self.asked.append(await request.json())
        return web.json_response(obliging(self.asked[-1]))


def with_status(report: dict[str, Any], kind: str) -> dict[str, int]:
    """How many verdicts of a kind (`errors`, `notApplicable`) each judged metric has."""
    judged = ("task_completion_rate", "faithfulness_rate", "retrieval_precision", "retrieval_recall")
    return {name: sum(report["metrics"][name][kind].values()) for name in judged}


def text_of(value: Any) -> str:
    """The value as JSON."""
    return json.dumps(value, ensure_ascii=False)
