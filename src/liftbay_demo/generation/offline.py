"""Answers from templates, without a language model."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

from liftbay_demo.domain import Kind, Material, Outcome, Step, Work
from liftbay_demo.generation import guidance, operations_skills, product_skills
from liftbay_demo.generation.knowledge import FromPassages
from liftbay_demo.generation.results import data_of, why_not
from liftbay_demo.generation.style import Style, said
from liftbay_demo.perception import cues
from liftbay_demo.words import Words

Sections = Callable[[Step, Sequence[Outcome], Style], list[str]]
_SECTIONS: dict[str, Sections] = {
    cues.TRACE: operations_skills.trace,
    cues.CODE: operations_skills.error_code,
    cues.LISTING: operations_skills.listing,
    cues.STOCK: product_skills.stock,
    cues.PRODUCT: product_skills.product,
    cues.TAGS: product_skills.tags,
    cues.CHANGES: product_skills.changes,
    cues.SELLABLE: product_skills.sellability,
}
_PURPOSES = {
    cues.TRACE: "トレースの調査",
    cues.CODE: "エラーコードの照会",
    cues.LISTING: "出品ルールの確認",
    cues.STOCK: "在庫の照会",
    cues.PRODUCT: "商品情報の照会",
    cues.TAGS: "タグの分析",
    cues.CHANGES: "変更履歴の照会",
    cues.SELLABLE: "販売可否の診断",
}
_PIECES = re.compile(r".{1,24}?(?:[。、\n]|$)|.{1,24}", re.DOTALL)


class OfflineGeneration:
    """Writes the answer under the Skills' headings, or out of the passages."""

    def __init__(self, words: Words) -> None:
        self._passages = FromPassages(words)

    async def answer(self, material: Material) -> AsyncGenerator[str, None]:
        """The answer, piece by piece."""
        for piece in pieces(self.composed(material)):
            yield piece

    def composed(self, material: Material) -> str:
        """The whole answer."""
        parts = [self._part(work, material) for work in material.works]
        if len(parts) > 1:
            parts = [
                f"**{number}. {_title(work)}**\n\n{part}"
                for number, (work, part) in enumerate(zip(material.works, parts, strict=True), start=1)
            ]
        if material.instruction_ignored and any(
            work.step.request.kind is not Kind.INSTRUCTION for work in material.works
        ):
            parts.append(guidance.INSTRUCTION_IGNORED)
        return "\n\n".join(parts)

    def _part(self, work: Work, material: Material) -> str:
        step = work.step
        style = Style(material.profile.no_tables, material.profile.brief)
        if step.skill is not None or work.outcomes:
            return _of_a_skill(work, style)
        if step.query is not None or step.request.kind is Kind.KNOWLEDGE:
            return self._passages.answer(step.query or step.request.text, work.chunks, brief=style.brief)
        return guidance.of_a_request(step, material.dialogue, material.profile, material.stored)


def pieces(text: str) -> Iterator[str]:
    """The text in the pieces in which it is sent."""
    return (match[0] for match in _PIECES.finditer(text))


def _title(work: Work) -> str:
    step = work.step
    if step.skill is None:
        return {Kind.CHANGE: "変更のご依頼"}.get(step.request.kind, step.request.text.strip("。、 \n")[:30])
    return _PURPOSES.get(step.skill, step.skill)


def _of_a_skill(work: Work, style: Style) -> str:
    step = work.step
    if not work.outcomes:
        if step.malformed:
            return guidance.not_well_formed(step.malformed)
        return guidance.ask_for(step.missing or ("productId",), _PURPOSES.get(step.skill or "", "照会"))
    blocks = [_block(work, group, style) for group in _groups(step.skill, work.outcomes)]
    if step.malformed:
        blocks.append(guidance.not_well_formed(step.malformed))
    return "\n\n".join(blocks)


def _groups(skill: str | None, outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """The outcomes by what they are about: each product, each country of a diagnosis, each code."""
    if skill == cues.SELLABLE:
        pairs = dict.fromkeys(
            (str(outcome.call.arguments.get("productId")), str(outcome.call.arguments["country"]))
            for outcome in outcomes
            if "country" in outcome.call.arguments
        )
        if not pairs:
            return [list(outcomes)]
        return [
            [
                outcome
                for outcome in outcomes
                if str(outcome.call.arguments.get("productId", product)) == product
                and str(outcome.call.arguments.get("country", where)) == where
            ]
            for product, where in pairs
        ]
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        arguments = outcome.call.arguments
        key = next((str(arguments[name]) for name in ("productId", "traceId", "code") if name in arguments), "")
        groups.setdefault(key, []).append(outcome)
    return list(groups.values())


def _block(work: Work, outcomes: Sequence[Outcome], style: Style) -> str:
    failed = [outcome for outcome in outcomes if data_of(outcome) is None]
    done = [outcome for outcome in outcomes if data_of(outcome) is not None]
    reasons = "\n".join(dict.fromkeys(why_not(outcome) for outcome in failed))
    skill = work.step.skill or ""
    if not done or (skill == cues.SELLABLE and any(_is_missing(outcome) for outcome in failed)):
        return reasons
    write = _SECTIONS.get(skill, _plain)
    text = style.sections(work.headings, write(work.step, done, style))
    return f"{text}\n\n{reasons}" if reasons else text


def _is_missing(outcome: Outcome) -> bool:
    """Whether the thing itself is not there, or not asked for rightly."""
    return outcome.error is None


def _plain(step: Step, outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """The results of a Skill that no template is for."""
    rows = [[name, said(value)] for outcome in outcomes for name, value in (data_of(outcome) or {}).items()]
    return [f"{len(outcomes)} 件の結果を得ました。", style.table(["項目", "値"], rows)]
