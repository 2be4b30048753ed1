"""What a case of each dataset type must hold, and what is only doubtful in it.

A fault makes the case meaningless; a doubt leaves it runnable, mostly with metrics that are not applicable to it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from liftbay.domain.case import ArgumentMatcher, Case, ConversationRound, ExpectedTool
from liftbay.domain.vocabulary import DatasetType, EvalMode, Route
from liftbay.errors import InputError

Finding = tuple[str, InputError]  # the field and what is wrong with it

CONVERSATIONS = (DatasetType.MULTI_TURN, DatasetType.LONG_DIALOGUE_DECAY)
_LABELLED = (DatasetType.BASIC_FUNCTION, DatasetType.KNOWLEDGE_QA)


def faults(case: Case, mock_data: Container[str]) -> Iterator[Finding]:
    """What is wrong with a case; `mock_data` holds the ids of the mock data that there is."""
    if not case.id.strip():
        yield "id", InputError("the id is empty", remedy="give each case an id of its own, such as TC-001")
    yield from _mode_faults(case, mock_data)
    if case.dataset_type in CONVERSATIONS:
        yield from _conversation_faults(case)
    else:
        yield from _single_turn_faults(case)
    if case.dataset_type is DatasetType.TOOL_CALL and case.expected_tools is None:
        yield (
            "expectedTools",
            InputError(
                "a case of {type} needs expectedTools",
                remedy="list the calls that are expected; an empty list means that no tool should be called",
                type=case.dataset_type,
            ),
        )
    for place, tool in enumerate(case.expected_tools or ()):
        yield from _tool_faults(f"expectedTools[{place}]", tool)


def _mode_faults(case: Case, mock_data: Container[str]) -> Iterator[Finding]:
    if case.eval_mode is EvalMode.E2E_REAL:
        return
    if case.dataset_type is DatasetType.KNOWLEDGE_QA:
        yield (
            "evalMode",
            InputError(
                "a case of KNOWLEDGE_QA is always E2E_REAL: mock data would go round the retrieval that it tests",
                remedy="set evalMode to E2E_REAL",
            ),
        )
    elif case.mock_data_id is not None and case.mock_data_id not in mock_data:
        yield (
            "mockDataId",
            InputError(
                "there is no mock data {id}",
                remedy="write it into a file of the folder mocks/, in the project or beside the dataset",
                id=case.mock_data_id,
            ),
        )


def _single_turn_faults(case: Case) -> Iterator[Finding]:
    if case.conversation_chain:
        yield (
            "conversationChain",
            InputError(
                "a case of {type} has one turn, not a conversation",
                remedy="give userInput (and earlier messages as history), or set datasetType to MULTI_TURN",
                type=case.dataset_type,
            ),
        )
    elif case.user_input is None:
        yield (
            "userInput",
            InputError(
                "a case of {type} needs userInput",
                remedy="give what the user says; an empty text is an empty input",
                type=case.dataset_type,
            ),
        )


def _conversation_faults(case: Case) -> Iterator[Finding]:
    chain = case.conversation_chain
    if not chain:
        yield (
            "conversationChain",
            InputError(
                "a case of {type} needs conversationChain",
                remedy="give its turns: a list of objects with round, userInput and expectedContains",
                type=case.dataset_type,
            ),
        )
    elif case.dataset_type is DatasetType.MULTI_TURN and not 2 <= len(chain) <= 5:
        yield (
            "conversationChain",
            InputError(
                "a conversation of MULTI_TURN has 2 to 5 rounds, not {count}",
                remedy="one of 5 rounds and more can be a case of LONG_DIALOGUE_DECAY",
                count=len(chain),
            ),
        )
    elif case.dataset_type is DatasetType.LONG_DIALOGUE_DECAY and len(chain) < 5:
        yield (
            "conversationChain",
            InputError(
                "a conversation of LONG_DIALOGUE_DECAY has 5 rounds or more, not {count}",
                remedy="one of 2 to 5 rounds can be a case of MULTI_TURN",
                count=len(chain),
            ),
        )
    for place, turn in enumerate(chain):
        yield from _round_faults(place, turn)


def _round_faults(place: int, turn: ConversationRound) -> Iterator[Finding]:
    field = f"conversationChain[{place}]"
    if turn.round != place + 1:
        yield (
            f"{field}.round",
            InputError(
                "expected round {expected}, found {found}",
                remedy="number the rounds in order from 1",
                expected=place + 1,
                found=turn.round,
            ),
        )
    for number, earlier in enumerate(turn.refers_to):
        if not 1 <= earlier <= place:
            yield (
                f"{field}.refersTo[{number}]",
                InputError(
                    "round {round} cannot refer to round {found}: only to earlier ones",
                    remedy="give the numbers of earlier rounds, or leave refersTo out",
                    round=place + 1,
                    found=earlier,
                ),
            )


def _tool_faults(field: str, tool: ExpectedTool) -> Iterator[Finding]:
    if not tool.name:
        yield f"{field}.name", InputError("the name of the tool is empty", remedy="give the name of the tool")
    for name, matcher in tool.matchers.items():
        place = f"{field}.matchers.{name}"
        if name not in tool.arguments:
            yield (
                place,
                InputError(
                    "there is a matcher for {name}, but no such argument",
                    remedy="add the argument to arguments, with one right value",
                    name=name,
                ),
            )
        elif error := _matcher_fault(matcher, tool.arguments[name]):
            yield place, error


def _matcher_fault(matcher: ArgumentMatcher, value: object) -> InputError | None:
    given = (matcher.one_of is not None, matcher.regex is not None, matcher.tolerance is not None, matcher.ignore)
    if sum(given) != 1:
        return InputError(
            "a matcher is exactly one of oneOf, regex, tolerance and ignore; here are {count}",
            remedy="keep one of them",
            count=sum(given),
        )
    if matcher.one_of == []:
        return InputError("oneOf lists no value", remedy="list the values that are right")
    if matcher.regex is not None:
        return _regex_fault(matcher.regex)
    if matcher.tolerance is not None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return InputError(
                "a tolerance needs a number in arguments", remedy="give the number, or another kind of matcher"
            )
        if matcher.tolerance < 0:
            return InputError("a tolerance is not negative", remedy="give 0 or more")
    return None


def _regex_fault(regex: str) -> InputError | None:
    try:
        re.compile(regex)
    except (re.error, RecursionError, OverflowError) as error:
        return InputError(
            "the regular expression does not compile: {why}",
            remedy="write it as Python's re module takes it",
            why=error,
        )
    return None


def doubts(case: Case) -> Iterator[Finding]:
    """What is doubtful in a case without a fault."""
    yield from _mode_doubts(case)
    if case.dataset_type in CONVERSATIONS:
        yield from _conversation_doubts(case)
    elif case.dataset_type is not DatasetType.ABNORMAL_INPUT and not (case.user_input or "").strip():
        yield (
            "userInput",
            InputError("the input is empty", remedy="an empty input is a case of ABNORMAL_INPUT"),
        )
    if case.dataset_type in _LABELLED:
        yield from _label_doubts(case)
    if case.dataset_type is DatasetType.MULTI_INTENT:
        yield from _intent_doubts(case)


def _mode_doubts(case: Case) -> Iterator[Finding]:
    if case.eval_mode is EvalMode.E2E_MOCK and case.mock_data_id is None:
        yield (
            "mockDataId",
            InputError(
                "a case of E2E_MOCK without mock data: each tool call is a fault (unmocked call)",
                remedy="name mock data, unless no tool should be called",
            ),
        )
    if case.eval_mode is EvalMode.E2E_REAL and case.mock_data_id is not None:
        yield (
            "mockDataId",
            InputError(
                "the mock data is not used: the case is E2E_REAL", remedy="set evalMode to E2E_MOCK, if that is meant"
            ),
        )


def _conversation_doubts(case: Case) -> Iterator[Finding]:
    if case.user_input is not None:
        yield (
            "userInput",
            InputError("it is not used: the turns are in conversationChain", remedy="leave userInput out"),
        )
    if not any(turn.refers_to for turn in case.conversation_chain):
        metric = "memory_decay_curve" if case.dataset_type is DatasetType.LONG_DIALOGUE_DECAY else _RETENTION
        yield (
            "conversationChain",
            InputError(
                "no round has refersTo: {metrics} will not be applicable",
                remedy="say in refersTo which earlier rounds a round needs",
                metrics=metric,
            ),
        )


_RETENTION = "short_term_retention_rate"


def _label_doubts(case: Case) -> Iterator[Finding]:
    knowledge = case.dataset_type is DatasetType.KNOWLEDGE_QA
    for field, value, metrics in (
        ("expectedRoute", case.expected_route, "routing_accuracy"),
        ("expectedIntent", case.expected_intent, "intent_accuracy"),
        ("expectedKnowledge", case.expected_knowledge if knowledge else [], "retrieval_recall"),
        ("referenceOutput", case.reference_output, "task_completion_rate"),
    ):
        if value is None:
            yield field, _missing(metrics)
    if case.expected_route is Route.SKILL_HIT and case.expected_skill is None:
        yield "expectedSkill", _missing("intent_recall, intent_precision")
    if case.expected_route is Route.SKILL_MISS and case.expected_skill is not None:
        yield (
            "expectedSkill",
            InputError(
                "a Skill is expected, but expectedRoute is SKILL_MISS",
                remedy="leave expectedSkill out, or set expectedRoute to SKILL_HIT",
            ),
        )


def _missing(metrics: str) -> InputError:
    return InputError(
        "it is not given: {metrics} will not be applicable, or not exact",
        remedy="give it, where it is known",
        metrics=metrics,
    )


def _intent_doubts(case: Case) -> Iterator[Finding]:
    if case.expected_intents is None:
        yield (
            "expectedIntents",
            InputError(
                "the expected intents are not given: only a judge can decide multi_intent_recognition_rate",
                remedy="list the 2 or 3 intents of the request",
            ),
        )
    elif not 2 <= len(case.expected_intents) <= 3:
        yield (
            "expectedIntents",
            InputError(
                "a compound request has 2 or 3 intents, not {count}",
                remedy="list the 2 or 3 intents of the request",
                count=len(case.expected_intents),
            ),
        )
