"""The parts of the evidence that a judge sees, as titled blocks.

A part that holds nothing is shown as "(none)", one that the trace does not report as "(not reported)". So
faithfulness is judged without any context too, where the trace says that nothing was retrieved: the definition asks
whether the answer stays with what the agent saw, and with nothing seen only an answer that states nothing does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from liftbay.domain.episode import Evidence, Turn
from liftbay.domain.metric import Shown
from liftbay.domain.trace import Chunk, ToolCallRecord
from liftbay.domain.vocabulary import Bilingual
from liftbay.llm import wording
from liftbay.llm.fences import Block
from liftbay.llm.wording import said
from liftbay.scoring.trace_parts import intents


def blocks_of(shown: Iterable[Shown], evidence: Evidence, language: str) -> list[Block]:
    """The blocks of these parts, in the order of a conversation."""
    wanted = set(shown)
    return [block for part, blocks in _PARTS.items() if part in wanted for block in blocks(evidence, language)]


def chunks_of(evidence: Evidence) -> list[Chunk] | None:
    """What was retrieved in all turns, each passage once; None where no turn reports it."""
    found: dict[str, Chunk] | None = None
    for turn in evidence.episode.turns:
        retrievals = turn.trace.retrievals if turn.trace else None
        for retrieval in retrievals or ():
            if retrieval.chunks is not None or retrieval.count == 0:
                found = found or {}
            for chunk in retrieval.chunks or ():
                found = found or {}
                found.setdefault(chunk.content, chunk)
        if retrievals == []:
            found = found or {}
    return None if found is None else list(found.values())


def _user_input(evidence: Evidence, language: str) -> Iterator[Block]:
    text = evidence.episode.turns[-1].user_input if evidence.episode.turns else evidence.case.rounds[-1].user_input
    yield Block(said(wording.USER_INPUT, language), text)


def _answer(evidence: Evidence, language: str) -> Iterator[Block]:
    yield Block(said(wording.ANSWER, language), evidence.answer)


def _history(evidence: Evidence, language: str) -> Iterator[Block]:
    yield from _messages_before(evidence, language)
    yield from _turns(evidence.episode.turns[:-1], language)


def _conversation(evidence: Evidence, language: str) -> Iterator[Block]:
    yield from _messages_before(evidence, language)
    yield from _turns(evidence.episode.turns, language)


def _messages_before(evidence: Evidence, language: str) -> Iterator[Block]:
    for number, message in enumerate(evidence.case.history, 1):
        role = said(wording.ROLES.get(message.role, wording.OTHER_ROLE), language)
        lines = [message.content or "", *(_json(call) for call in message.tool_calls or ())]
        yield Block(said(wording.EARLIER, language, number=number, role=role), "\n".join(filter(None, lines)))


def _turns(turns: Sequence[Turn], language: str) -> Iterator[Block]:
    for turn in turns:
        yield Block(said(wording.ROUND_INPUT, language, round=turn.round), turn.user_input)
        yield Block(said(wording.ROUND_ANSWER, language, round=turn.round), turn.answer or "")


def _reference(evidence: Evidence, language: str) -> Iterator[Block]:
    case = evidence.case
    found = [Block(said(wording.REFERENCE, language), case.reference_output)] if case.reference_output else []
    found += [
        Block(said(wording.ROUND_REFERENCE, language, round=one.round), one.reference_output)
        for one in case.conversation_chain
        if one.reference_output
    ]
    yield from found or [_absent(wording.REFERENCE, wording.NONE, language)]


def _chunks(evidence: Evidence, language: str) -> Iterator[Block]:
    chunks = chunks_of(evidence)
    if not chunks:
        yield _absent(wording.CHUNKS, wording.UNREPORTED if chunks is None else wording.NONE, language)
        return
    for number, chunk in enumerate(chunks, 1):
        yield Block(said(wording.CHUNK, language, number=number), chunk.content)


def _tool_results(evidence: Evidence, language: str) -> Iterator[Block]:
    reported = [
        turn.trace.tool_calls for turn in evidence.episode.turns if turn.trace and turn.trace.tool_calls is not None
    ]
    calls = [call for of_turn in reported for call in of_turn]
    if not calls:
        yield _absent(wording.TOOL_RESULTS, wording.NONE if reported else wording.UNREPORTED, language)
    for number, call in enumerate(calls, 1):
        yield Block(said(wording.TOOL_CALL, language, number=number), _call(call, language))


def _call(call: ToolCallRecord, language: str) -> str:
    arguments = said(wording.UNREPORTED, language) if call.arguments is None else _json(call.arguments)
    lines = [said(wording.TOOL_NAME, language, value=call.name)]
    lines.append(said(wording.TOOL_ARGUMENTS, language, value=arguments))
    if call.error is not None:
        lines.append(said(wording.TOOL_ERROR, language, value=call.error))
    else:
        result = call.result if isinstance(call.result, str) else _json(call.result)
        lines.append(said(wording.TOOL_RESULT, language, value=result))
    if call.mocked:
        lines.append(said(wording.TOOL_MOCKED, language))
    return "\n".join(lines)


def _expected_intents(evidence: Evidence, language: str) -> Iterator[Block]:
    case = evidence.case
    expected = case.expected_intents or ([case.expected_intent] if case.expected_intent else [])
    yield _list(wording.EXPECTED_INTENTS, expected, language)


def _recognised_intents(evidence: Evidence, language: str) -> Iterator[Block]:
    yield _list(wording.RECOGNISED_INTENTS, intents(evidence), language)


def _list(title: Bilingual, found: Sequence[str] | None, language: str) -> Block:
    if not found:
        return _absent(title, wording.UNREPORTED if found is None else wording.NONE, language)
    return Block(said(title, language), "\n".join(found))


def _absent(title: Bilingual, how: Bilingual, language: str) -> Block:
    return Block(said(title, language), None, said(how, language))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


_PARTS: dict[Shown, Callable[[Evidence, str], Iterator[Block]]] = {
    Shown.HISTORY: _history,
    Shown.CONVERSATION: _conversation,
    Shown.USER_INPUT: _user_input,
    Shown.REFERENCE: _reference,
    Shown.CHUNKS: _chunks,
    Shown.TOOL_RESULTS: _tool_results,
    Shown.EXPECTED_INTENTS: _expected_intents,
    Shown.RECOGNISED_INTENTS: _recognised_intents,
    Shown.ANSWER: _answer,
}
