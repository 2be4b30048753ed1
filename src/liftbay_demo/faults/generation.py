"""Faults of generation: all that was gathered is right, and the answer is not."""

from __future__ import annotations

import re
from collections.abc import Callable

from liftbay_demo.domain import Material

Reworded = Callable[[str], str]

_INVENTED = "autoRepairCatalog を呼び出すと、上限 99999 まで自動で拡張され、申請なしに完了します。"
_SOURCE = re.compile(r"^\(出典: .*\)$", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_FLIPPED = (("できません", "できます"), ("不可", "可"), ("ません", "ます"), ("できる", "できない"), ("する", "しない"))


def tells_findings(material: Material) -> bool:
    """Whether the answer has something to tell: no fault of wording can hide in a question back."""
    return any(work.outcomes or work.chunks for work in material.works)


def invented_fact(text: str) -> str:
    """In the place of what was found stands something that no source holds."""
    return _frame(text, _INVENTED)


def contradicted_source(text: str) -> str:
    """Every number is another one; where there is none, what is said is turned round."""
    head, sources = _without_sources(text)
    if _NUMBER.search(head):
        changed = _NUMBER.sub(lambda match: str(int(match[0]) + 1).zfill(len(match[0]))[-len(match[0]) :], head)
    else:
        changed = next((head.replace(said, other) for said, other in _FLIPPED if said in head), f"{head}は誤りです。")
    return changed + sources


def format_ignored(text: str) -> str:
    """The conclusion stands in one line, without the headings and tables that the Skill asks for."""
    if "## " not in text:
        return text
    first = re.split(r"^## .*$", text, flags=re.MULTILINE)[1]
    words = [line.strip(" |-") for line in first.splitlines()]
    return " ".join(word for word in words if word)


def core_left_out(text: str) -> str:
    """The frame of the answer, without what was asked for."""
    return _frame(text, "内容を確認しました。")


def evasive_answer(text: str) -> str:
    """The answer promises to look into it, and says nothing."""
    return "ご質問ありがとうございます。担当の部署とも相談のうえ、あらためてご案内します。"


def _frame(text: str, instead: str) -> str:
    head, sources = _without_sources(text)
    headings = [line for line in head.splitlines() if line.startswith("## ")]
    body = "\n\n".join(f"{heading}\n{instead}" for heading in headings) if headings else instead
    return body + sources


def _without_sources(text: str) -> tuple[str, str]:
    sources = _SOURCE.findall(text)
    return _SOURCE.sub("", text), "".join(f"\n{one}" for one in sources)


GENERATION: dict[str, Reworded] = {
    "invented_fact": invented_fact,
    "contradicted_source": contradicted_source,
    "format_ignored": format_ignored,
    "core_left_out": core_left_out,
    "evasive_answer": evasive_answer,
}
