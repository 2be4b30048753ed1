"""Groups of trials that failed alike: one module, and what the trials have in common, the largest group first.

A trial is in one group. Within a module the feature that most trials share makes the first group, then the one that
most of the others share; what shares nothing is grouped by the metric that shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from liftbay.diagnosis.phrases import lacking_phrase, shared_phrase
from liftbay.diagnosis.remedies import fix_of
from liftbay.domain.blame import Blame, Culprit
from liftbay.domain.remedy import Fix
from liftbay.domain.result import CaseResult

Word = TypeVar("Word", bound=str)

MOST_KEPT = 20_000  # trials that are grouped; further ones are only counted
MOST_PASSING = 2_000  # inputs of trials that passed, to set the failing ones against
_INPUT_KEPT = 400
_EXAMPLES = 5
_LEAST_SHARED = 2  # trials, for a feature to make a group
_MOSTLY = 0.8  # of a group: then its scene is what it has in common
# What says most stands first; trials share a turn distance by chance sooner than an argument.
_KINDS = ("fault", "load", "argument", "mix-up", "intent", "tool", "skill", "point", "distance")


class Group(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Trials that failed alike."""

    culprit: Culprit | None  # None: unexplained
    trials: int
    kind: str | None = None  # of what they have in common: argument, tool, mix-up, intent, distance, load, …
    value: str | None = None  # and which
    metric: str | None = None  # that shows it most often
    scene: str | None = None  # where nearly all are of one
    phrase: str | None = None  # in most of these inputs, and in few of those that passed
    without: str | None = None  # in most inputs that passed, and in few of these
    why: str | None = None  # what was wrong most often
    fix: Fix | None = None
    examples: list[str] = []


class Member(msgspec.Struct, frozen=True):
    """What is kept of a trial to group it."""

    id: str
    scene: str
    input: str
    culprit: Culprit | None
    metric: str | None
    why: str | None
    fix: Fix | None
    features: tuple[tuple[str, str], ...]


def member_of(result: CaseResult, blame: Blame) -> Member:
    """A trial with its blame, ready to be grouped."""
    case = result.case
    first = blame.candidates[0] if blame.candidates else None
    rounds = case.rounds
    at = next((one for one in rounds if first is not None and one.round == first.turn), rounds[-1])
    return Member(
        id=f"{case.id} #{result.trial}",
        scene=case.scene_code,
        input=at.user_input[:_INPUT_KEPT],
        culprit=first.culprit if first else None,
        metric=first.metric if first else result.main_metric,
        why=first.why.partition(": ")[0] if first else None,
        fix=fix_of(first, conversation=bool(case.conversation_chain)) if first else None,
        features=first.about if first else (),
    )


class PassingInputs:
    """Inputs of trials that passed, as many as are kept, by scene."""

    def __init__(self) -> None:
        self._inputs: list[tuple[str, str]] = []

    def add(self, result: CaseResult) -> None:
        """Keep the inputs of a trial."""
        if len(self._inputs) < MOST_PASSING:
            self._inputs += [(result.case.scene_code, one.user_input[:_INPUT_KEPT]) for one in result.case.rounds]

    def of(self, scene: str | None) -> list[str]:
        """Those of a scene, or all."""
        return [text for of_scene, text in self._inputs if scene in (None, of_scene)]


def grouped(members: Iterable[Member], passing: PassingInputs) -> list[Group]:
    """The groups, the largest first; what is unexplained last."""
    by_culprit: dict[Culprit | None, list[Member]] = {}
    for member in members:
        by_culprit.setdefault(member.culprit, []).append(member)
    groups = [
        _group(culprit, feature, part, passing)
        for culprit, of_culprit in by_culprit.items()
        for feature, part in _parts(of_culprit)
    ]
    return sorted(groups, key=lambda one: (one.culprit is None, -one.trials))


def _parts(members: Sequence[Member]) -> list[tuple[tuple[str, str] | None, list[Member]]]:
    """Members by the feature that most share, then the next; the rest by metric and reason."""
    parts: list[tuple[tuple[str, str] | None, list[Member]]] = []
    left = list(members)
    while left:
        counts = Counter(feature for member in left for feature in dict.fromkeys(member.features))
        shared = [feature for feature, count in counts.items() if count >= _LEAST_SHARED]
        if not shared:
            break
        best = max(shared, key=lambda one: (counts[one], -_rank(one)))
        parts.append((best, [member for member in left if best in member.features]))
        left = [member for member in left if best not in member.features]
    by_reason: dict[tuple[str | None, str | None], list[Member]] = {}
    for member in left:
        by_reason.setdefault((member.metric, member.why), []).append(member)
    return parts + [(None, part) for part in by_reason.values()]


def _rank(feature: tuple[str, str]) -> int:
    return _KINDS.index(feature[0]) if feature[0] in _KINDS else len(_KINDS)


def _group(
    culprit: Culprit | None, feature: tuple[str, str] | None, members: Sequence[Member], passing: PassingInputs
) -> Group:
    scene, in_scene = Counter(member.scene for member in members).most_common(1)[0]
    one_scene = scene if in_scene >= _MOSTLY * len(members) else None
    inputs = list(dict.fromkeys(member.input for member in members))
    phrase = shared_phrase(inputs, passing.of(None))
    return Group(
        culprit=culprit,
        trials=len(members),
        kind=feature[0] if feature else None,
        value=feature[1] if feature else None,
        metric=_most(member.metric for member in members),
        scene=one_scene,
        phrase=phrase,
        without=None if phrase else lacking_phrase(inputs, passing.of(one_scene)) if one_scene else None,
        why=_most(member.why for member in members),
        fix=_most(member.fix for member in members),
        examples=[member.id for member in members[:_EXAMPLES]],
    )


def _most(words: Iterable[Word | None]) -> Word | None:
    counts = Counter(word for word in words if word is not None)
    return counts.most_common(1)[0][0] if counts else None
