"""How blame is said, in the language in use."""

from __future__ import annotations

from liftbay.catalog.words import MODULES, text_of
from liftbay.diagnosis.groups import Group
from liftbay.domain.blame import Blame, Candidate, Culprit
from liftbay.domain.vocabulary import Module
from liftbay.language import in_language, language, tr
from liftbay.report.blame import BlameReport
from liftbay.report.wording import fix_text, full_name, joined, percent, rate_text, sentences

_COMMON = {
    "fault": "the trial did not finish ({value})",
    "load": "{value} was not loaded",
    "argument": "the argument {value} is wrong",
    "mix-up": "expected and came: {value}",
    "intent": "the intent {value} is lost",
    "distance": "what was said {value} rounds before is lost",
    "point": "a point of knowledge is lost: {value}",
}


def culprit_name(culprit: Culprit | None) -> str:
    """The module, the environment, or that nothing explains it."""
    if culprit is None:
        return tr("unexplained")
    return tr("environment") if culprit is Culprit.ENVIRONMENT else text_of(MODULES[Module(culprit.value)])


def why_text(why: str) -> str:
    """The reason of a blame: its sentence is translated, what was expected and came stands as it is."""
    said, mark, values = why.partition(": ")
    return in_language(said) + ("：" if language() == "ja" else mark) + values if mark else in_language(said)


def candidate_text(candidate: Candidate) -> str:
    """A candidate in one line."""
    name = f"{culprit_name(candidate.culprit)} ({percent(candidate.probability)} %)"
    at = [tr("round {round}", round=candidate.turn)] if candidate.turn is not None and candidate.turn > 1 else []
    shows = [full_name(candidate.metric)] if candidate.metric else []
    return " · ".join((f"{name}: {why_text(candidate.why)}", *at, *shows))


def blame_text(blame: Blame) -> str:
    """Whose fault a trial is, in one line: the most probable culprit, and the others in short."""
    if not blame.candidates:
        return tr("unexplained")
    first, *others = blame.candidates
    more = joined(f"{culprit_name(one.culprit)} {percent(one.probability)} %" for one in others)
    return f"{candidate_text(first)}{f' ({more})' if more else ''}"


def group_name(group: Group) -> str:
    """What the trials of a group have in common, in plain words."""
    said = []
    if group.kind in _COMMON:
        said.append(tr(_COMMON[group.kind], value=group.value))
    elif group.why is not None:
        said.append(in_language(group.why) + (f" ({group.value})" if group.value else ""))
    else:
        said.append(tr("no metric of a module failed"))
    if group.phrase is not None:
        said.append(tr("inputs with “{phrase}”", phrase=group.phrase))
    if group.without is not None:
        said.append(tr("inputs without “{phrase}”", phrase=group.without))
    return joined(said)


def group_grounds(group: Group, scene_names: dict[str, str]) -> str:
    """Where a group shows, and what to change."""
    said = []
    if group.metric is not None and group.culprit is not None:
        said.append(tr("It shows in {metric}.", metric=full_name(group.metric)))
    if group.scene is not None:
        said.append(tr("Scene: {scene}.", scene=scene_names.get(group.scene) or group.scene))
    if group.fix is not None:
        said.append(tr("Remedy: {what}.", what=fix_text(group.fix)))
    said.append(tr("For example: {cases}.", cases=joined(group.examples)))
    return sentences(said)


def blame_sentence(blame: BlameReport) -> str | None:
    """How the trials divide, in one sentence; None: there is nothing to lay to anybody."""
    if not blame.trials:
        return None
    shares = [(one.trials, culprit_name(culprit), one.share) for culprit, one in blame.by_culprit.items() if one.trials]
    shares.sort(key=lambda one: -one[0])
    parts = [f"{name} {trials} ({rate_text(share)} %)" for trials, name, share in shares]
    if blame.unexplained.trials:
        parts.append(f"{tr('unexplained')} {blame.unexplained.trials}")
    return tr("The first fault of {count} trials: {shares}.", count=blame.trials, shares=joined(parts))
