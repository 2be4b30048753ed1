"""Which override puts a module's output right in a failed trial, by what the case expects.

Of one module as little is replaced as its expectation says, so that the modules before and after it stay as they are:

- perception: the intents and the Skill; where a Skill was hit and none should be, the route says so;
- planning: the route; which tools are called, with the agent's own arguments where it made the call itself;
- memory: everything that was said before; the passages that hold the expected knowledge (see `KnownFacts.passages`);
- tool: the arguments of the calls that the agent made; the results of those that failed.

The answer is never replaced, so a fault of the generation cannot be confirmed. A module is left alone where its output
was as expected already (unless it is blamed all the same), and where what it was given was wrong: putting its output
right would hide the fault of the module before it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from liftbay.diagnosis.known_facts import KnownFacts
from liftbay.diagnosis.view import KNOWN, View, calls_of, chunks_of, least_held
from liftbay.domain.blame import Candidate, Culprit
from liftbay.domain.case import Case
from liftbay.domain.override import GivenResult, Intervention, Overrides
from liftbay.domain.result import CaseResult
from liftbay.domain.toolcall import ToolCall
from liftbay.domain.vocabulary import Route
from liftbay.scoring.matchers import argument_results

_NOT_LOADED = "a Skill that was not loaded cannot be put in place"
OVERRIDABLE = (Culprit.PERCEPTION, Culprit.PLANNING, Culprit.MEMORY, Culprit.TOOL)


class InterventionPlan(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How a module's output is put right in a trial, or why it is not."""

    culprit: Culprit
    intervention: Intervention | None = None
    as_expected: bool | None = None  # whether its output was right already; None: that is not known
    why_not: str | None = None  # in plain English words


def intervention_of(
    result: CaseResult, culprit: Culprit, known: KnownFacts, first: Candidate | None = None
) -> InterventionPlan:
    """The plan for one module, whether it is blamed or not; `first` is the most probable first fault."""
    plan = _PLANS.get(culprit)
    if plan is None:
        return _not(culprit, "the output of this module is never replaced")
    view = View(result)
    if culprit is Culprit.MEMORY and first is not None and first.culprit is culprit:
        why = _why_no_history(view, first)
        if why is not None:
            return _not(culprit, why)
    return plan(view, known)


def interventions_of(
    result: CaseResult, first: Candidate | None, known: KnownFacts
) -> list[tuple[InterventionPlan, bool]]:
    """The plans for all overridable modules, the blamed one first, and whether each is worth a replay."""
    blamed = None if first is None else first.culprit
    order = sorted(OVERRIDABLE, key=lambda one: one is not blamed)
    plans = [intervention_of(result, culprit, known, first) for culprit in order]
    return [(one, one.intervention is not None and (one.culprit is blamed or not one.as_expected)) for one in plans]


def _perception(view: View, known: KnownFacts) -> InterventionPlan:
    if _skill_missing(view):
        return _not(Culprit.PERCEPTION, _NOT_LOADED)
    case = view.case
    no_skill = case.expected_route is Route.SKILL_MISS
    skill = None if no_skill else case.expected_skill
    route = Route.SKILL_MISS if no_skill and _skill_hit(view) is not False else None
    intents = case.expected_intents or _one(case.expected_intent) or _one(skill)
    if route is not None and view.intent_right is True:
        intents = None  # only the Skill is wrong: a message with several questions keeps them apart
    found = Overrides(intents=intents, skill=skill, route=route)
    if not found.empty:
        return InterventionPlan(Culprit.PERCEPTION, Intervention(found), _perceived_rightly(view))
    if no_skill:
        return InterventionPlan(Culprit.PERCEPTION, as_expected=True, why_not="its output was as expected already")
    return _not(Culprit.PERCEPTION, "the case states no intent and no Skill")


def _perceived_rightly(view: View) -> bool | None:
    """Whether the intents and the Skill are as the case states; None: one of them is not known."""
    case, wanted = view.case, view.wanted & view.skills
    if case.expected_intents is not None and view.intents is not None:
        return set(case.expected_intents) <= set(view.intents)
    if view.intent_right is False:
        return False
    if case.expected_route is Route.SKILL_MISS and _skill_hit(view) is True:
        return False
    if wanted and view.intents is not None and not wanted & set(view.intents):
        return False
    return view.intent_right


def _skill_missing(view: View) -> bool:
    """Whether a Skill that the case is for was not loaded: nothing could go right after that."""
    return any(not load.success and load.kind == "skill" and load.name in view.wanted for load in view.loads)


def _skill_hit(view: View) -> bool | None:
    trace = view.turns[-1].trace if view.turns else None
    return trace.perception.skill_hit if trace and trace.perception else None


def _planning(view: View, known: KnownFacts) -> InterventionPlan:
    case = view.case
    if case.expected_route is None and case.expected_tools is None:
        return _not(Culprit.PLANNING, "the case states neither a route nor tools")
    if case.conversation_chain and case.expected_tools is not None:
        return _not(Culprit.PLANNING, "the case does not state in which turn its tools are called")
    if _skill_missing(view):
        return _not(Culprit.PLANNING, _NOT_LOADED)
    if _perceived_rightly(view) is False:
        return _not(Culprit.PLANNING, "the module before it was wrong already: perception")
    calls = None if case.expected_tools is None else _planned_calls(view)
    found = Overrides(route=case.expected_route, tool_calls=calls)
    return InterventionPlan(Culprit.PLANNING, Intervention(found), _planned_rightly(view))


def _planned_calls(view: View) -> list[ToolCall]:
    """The calls that are expected, with the arguments that the agent gave where it made such a call."""
    made = list(view.calls)
    calls = []
    for tool in view.case.expected_tools or ():
        own = next((call for call in made if call.name == tool.name and call.arguments is not None), None)
        if own is not None:
            made.remove(own)
        calls.append(ToolCall(tool.name, tool.arguments if own is None else own.arguments or {}))
    return calls


def _planned_rightly(view: View) -> bool | None:
    case, trace = view.case, view.turns[-1].trace if view.turns else None
    if view.route_right is False:
        return False
    if case.expected_route is Route.SKILL_MISS and trace and trace.retrievals == []:
        return False
    if case.expected_tools is None:
        return view.route_right
    if trace is None or trace.tool_calls is None:
        return None
    return sorted(call.name for call in view.calls) == sorted(tool.name for tool in case.expected_tools)


def _memory(view: View, known: KnownFacts) -> InterventionPlan:
    case = view.case
    history = any(one.refers_to for one in case.conversation_chain) or bool(case.history)
    if not history and not case.expected_knowledge:
        return _not(Culprit.MEMORY, "the case refers to no earlier turn and states no knowledge")
    trace = view.turns[-1].trace if view.turns else None
    if not history and trace and trace.retrievals == []:
        return _not(Culprit.MEMORY, "nothing was retrieved: passages would not be used")
    chunks = known.passages(case.expected_knowledge) if case.expected_knowledge else None
    plan = Intervention(Overrides(chunks=chunks), full_history=history)
    return InterventionPlan(Culprit.MEMORY, plan, None if history else _retrieved_rightly(view))


def _why_no_history(view: View, first: Candidate) -> str | None:
    """Why what was said before does not put memory right in the round that first went wrong; None: it may."""
    round_ = next((one for one in view.case.conversation_chain if one.round == first.turn), None)
    if round_ is None or view.case.expected_knowledge:
        return None
    if not round_.refers_to:
        return "the round refers to no earlier one, and the case states no knowledge for it"
    turn = next((one for one in view.turns if one.round == first.turn), None)
    if turn is not None and turn.trace is not None and turn.trace.retrievals:
        return "the round looks something up, and the case does not state what should be found"
    return None


def _retrieved_rightly(view: View) -> bool | None:
    found = chunks_of(view.turns[-1]) if view.turns else None
    if found is None:
        return None
    share = least_held(view.case.expected_knowledge or (), [chunk.content for chunk in found])
    return None if share is None else share >= KNOWN


def _tool(view: View, known: KnownFacts) -> InterventionPlan:
    if (why := _why_no_calls(view)) is not None:
        return _not(Culprit.TOOL, why)
    case, last = view.case, calls_of(view.turns[-1])
    calls = _with_expected_arguments(case, [ToolCall(call.name, call.arguments or {}) for call in last])
    changed = [call.arguments != right.arguments for call, right in zip(last, calls, strict=True)]
    # A call with other arguments is made anew: what it comes to is for the tool to say.
    failed = [call.error is not None or call.success is False for call in last]
    names = {call.name for call, bad, new in zip(calls, failed, changed, strict=True) if bad and not new}
    results = _results(case, calls, names, known)
    if results is None:
        return _not(Culprit.TOOL, "nobody knows what a call that failed should have come to")
    if not any(changed) and not results:
        if case.expected_tools is None:
            return _not(Culprit.TOOL, "the case states no tools, and no call failed")
        return InterventionPlan(Culprit.TOOL, as_expected=True, why_not="its output was as expected already")
    found = Overrides(tool_calls=calls if any(changed) else None, tool_results=results or None)
    return InterventionPlan(Culprit.TOOL, Intervention(found), as_expected=False)


def _why_no_calls(view: View) -> str | None:
    """Why no call of the trial can be put right; None: some may."""
    if _skill_missing(view):
        return _NOT_LOADED
    if view.case.conversation_chain:
        return "the case does not state in which turn its tools are called"
    last = calls_of(view.turns[-1]) if view.turns else []
    if not last or any(call.arguments is None for call in last):
        return "the agent made no call, or did not report its arguments"
    return None


def _with_expected_arguments(case: Case, calls: list[ToolCall]) -> list[ToolCall]:
    """The calls, each with the arguments that the case states for its tool where it does and they differ."""
    left = list(case.expected_tools or ())
    right = []
    for call in calls:
        same = [tool for tool in left if tool.name == call.name]
        fits = next((tool for tool in same if not any(argument_results(tool, call.arguments).values())), None)
        tool = fits or (same[0] if same else None)
        if tool is not None:
            left.remove(tool)
        right.append(call if tool is None or fits is not None else ToolCall(call.name, tool.arguments))
    return right


def _results(case: Case, calls: list[ToolCall], names: set[str], known: KnownFacts) -> list[GivenResult] | None:
    """What all calls of these tools should have come to; None where that is not known of one.

    A tool is given all of its results or none, since they are taken by name in their order.
    """
    found = [known.result(case, call) for call in calls if call.name in names]
    known_ones = [result for result in found if result is not None]
    return known_ones if len(known_ones) == len(found) else None


def _one(name: str | None) -> list[str] | None:
    return None if name is None else [name]


def _not(culprit: Culprit, why: str) -> InterventionPlan:
    return InterventionPlan(culprit, why_not=why)


_PLANS: dict[Culprit, Callable[[View, KnownFacts], InterventionPlan]] = {
    Culprit.PERCEPTION: _perception,
    Culprit.PLANNING: _planning,
    Culprit.MEMORY: _memory,
    Culprit.TOOL: _tool,
}
