"""Every cost and performance probe: what it measures, in which unit, and how it is read."""

from __future__ import annotations

import msgspec

from liftbay.domain.vocabulary import Bilingual, Dimension, Module


class Probe(msgspec.Struct, frozen=True, rename="camel"):
    """One probe. A cost adds up over the turns of a conversation; performance is per turn or per call."""

    id: str
    name: Bilingual
    dimension: Dimension
    module: Module
    unit: str
    read: Bilingual  # how its values are read
    needs: tuple[str, ...] = ()  # the parts of the trace that report it; the client's clock needs none
    real_only: bool = False  # measured in E2E_REAL only


def _cost(id_: str, name: Bilingual, unit: str, read: Bilingual, *needs: str) -> Probe:
    return Probe(id_, name, Dimension.COST, Module.END_TO_END, unit, read, needs)


def _latency(id_: str, name: Bilingual, module: Module, read: Bilingual, *needs: str, real_only: bool = False) -> Probe:
    return Probe(id_, name, Dimension.PERFORMANCE, module, "ms", read, needs, real_only)


_ROWS = (
    _cost(
        "model_calls",
        Bilingual("Model calls", "モデル呼び出し回数"),
        "calls",
        Bilingual(
            "Calls of language models in the trace, added up over the turns.",
            "トレースにある言語モデルの呼び出し回数。ターンをまたいで合計する。",
        ),
        "model.calls",
    ),
    _cost(
        "tool_calls",
        Bilingual("Tool calls", "ツール呼び出し回数"),
        "calls",
        Bilingual(
            "Tool calls in the trace, added up over the turns.",
            "トレースにあるツールの呼び出し回数。ターンをまたいで合計する。",
        ),
        "tool_calls",
    ),
    _cost(
        "input_tokens",
        Bilingual("Input tokens", "入力トークン数"),
        "tokens",
        Bilingual(
            "Tokens sent to language models, added up over the turns.",
            "言語モデルに送ったトークン数。ターンをまたいで合計する。",
        ),
        "model.input_tokens",
    ),
    _cost(
        "output_tokens",
        Bilingual("Output tokens", "出力トークン数"),
        "tokens",
        Bilingual(
            "Tokens that language models wrote, added up over the turns.",
            "言語モデルが生成したトークン数。ターンをまたいで合計する。",
        ),
        "model.output_tokens",
    ),
    _cost(
        "cost",
        Bilingual("Cost", "費用"),
        "money",
        Bilingual(
            "The tokens at the prices of the price table; not reported without one.",
            "トークン数に料金表の単価を掛けた金額。料金表がなければ「報告なし」とする。",
        ),
        "model.input_tokens",
        "model.output_tokens",
    ),
    _latency(
        "time_to_first_token",
        Bilingual("Time to first token", "初回トークン遅延"),
        Module.END_TO_END,
        Bilingual(
            "On the client's clock, from sending the request to the first visible character; a span's value stands in "
            "only where the answer does not stream, and is marked.",
            "クライアントの時計で、リクエストの送信から最初の文字が見えるまで。"
            "回答がストリーミングでない場合に限りスパンの値で代用し、その旨を示す。",
        ),
    ),
    _latency(
        "response_latency",
        Bilingual("Response latency", "エンドツーエンド応答遅延"),
        Module.END_TO_END,
        Bilingual(
            "On the client's clock, from sending the request to the end of the answer; per turn.",
            "クライアントの時計で、リクエストの送信から回答の完了まで。ターンごとに測る。",
        ),
    ),
    _latency(
        "intent_latency",
        Bilingual("Intent recognition latency", "意図認識遅延"),
        Module.PERCEPTION,
        Bilingual("The time of the perception node, per turn.", "知覚ノードの所要時間。ターンごとに測る。"),
        "perception.latency_ms",
    ),
    _latency(
        "planning_latency",
        Bilingual("Planning latency", "計画意思決定遅延"),
        Module.PLANNING,
        Bilingual("The time of the planning node, per turn.", "計画ノードの所要時間。ターンごとに測る。"),
        "planning.latency_ms",
    ),
    _latency(
        "memory_injection_latency",
        Bilingual("Short-term memory injection latency", "短期記憶注入遅延"),
        Module.MEMORY,
        Bilingual("The time of the memory node, per turn.", "記憶ノードの所要時間。ターンごとに測る。"),
        "memory.latency_ms",
    ),
    _latency(
        "retrieval_latency",
        Bilingual("Long-term memory retrieval latency", "長期記憶検索遅延"),
        Module.MEMORY,
        Bilingual("The time of the RAG node, per retrieval.", "RAG ノードの所要時間。検索ごとに測る。"),
        "retrievals.latency_ms",
    ),
    _latency(
        "tool_call_latency",
        Bilingual("Tool call latency", "ツール呼び出し遅延"),
        Module.TOOL,
        Bilingual(
            "The time of each tool call; in E2E_REAL only, for a mock's time is nobody's.",
            "ツール呼び出しごとの所要時間。モックの時間は意味を持たないため、E2E_REAL でのみ測る。",
        ),
        "tool_calls.latency_ms",
        real_only=True,
    ),
    _latency(
        "hot_update_latency",
        Bilingual("Hot update latency", "ホットアップデート適用遅延"),
        Module.TOOL,
        Bilingual(
            "From publishing a changed Skill until it is in effect; needs a hook in the agent file that publishes one.",
            "変更した Skill を公開してから反映されるまで。公開を行うフックがエージェントファイルに必要。",
        ),
        "perception.skill_version",
    ),
)

PROBES: dict[str, Probe] = {row.id: row for row in _ROWS}
