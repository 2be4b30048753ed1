"""Evidence as blocks that what stands in them cannot leave.

Each block stands between two lines that hold a nonce, new in each call: who wrote the data did not know it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from liftbay.llm.wording import BROKEN_UP, EMPTY, LEFT_OUT, TAKEN_OUT, said

# What a server may take for the end of a message although it stands inside one.
_CHAT_MARK = re.compile(
    r"<(?=\|\w{1,40}\|>|｜[^｜\n]{1,40}｜>|/?(?:s|bos|eos)>|(?:start|end)_of_turn>|</?SYS>>)|\[(?=/?INST\])"
)
# Controls but for line ends and tabs, halves of surrogate pairs, and text that shows as something else or not at all:
# controls of direction, invisible operators, tags. Joiners stay, since emoji and some scripts need them.
_HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


class Block(msgspec.Struct, frozen=True):
    """A titled part of the evidence; without `text` its title alone says so, as in `absent`."""

    title: str
    text: str | None
    absent: str = ""


def clean(text: str) -> tuple[str, int, int]:
    """The text without characters that control or hide, and with marks of chat formats broken up; how many of both."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text, taken_out = _HIDING.subn("", text)
    text, broken_up = _CHAT_MARK.subn(lambda mark: f"{mark[0]} ", text)
    return text, taken_out, broken_up


def shortened(text: str, most: int, language: str) -> str:
    """The beginning and the end of a text that is longer than `most`, with a mark of how much is left out between."""
    if len(text) <= most:
        return text
    head = (most + 1) // 2
    tail = most - head
    mark = said(LEFT_OUT, language, count=len(text) - most)
    return f"{text[:head]}\n{mark}\n{text[len(text) - tail :]}"


def level(lengths: Sequence[int], most: int) -> int:
    """The length that each may have at most so that all together have `most`: only the long ones give way."""
    left = most
    for position, length in enumerate(ordered := sorted(lengths)):
        share = left // (len(ordered) - position)
        if length > share:
            return share
        left -= length
    return max(lengths, default=0)


def fenced(blocks: Sequence[Block], nonce: str, *, most: int, language: str) -> str:
    """The blocks one after another, with at most `most` characters of data in all."""
    cleaned = [clean(block.text or "") for block in blocks]
    longest = level([len(text) for text, *_ in cleaned], most)
    return "\n\n".join(
        _fenced(block, shortened(text, longest, language), nonce, _notes(taken_out, broken_up, language), language)
        for block, (text, taken_out, broken_up) in zip(blocks, cleaned, strict=True)
    )


def _fenced(block: Block, text: str, nonce: str, notes: list[str], language: str) -> str:
    if block.text is None:
        return f"# {block.title}\n{block.absent}"
    inside = [text] if text.strip() else []
    around = [] if inside else [said(EMPTY, language)]
    return "\n".join([f"# {block.title}", f"<data-{nonce}>", *inside, f"</data-{nonce}>", *around, *notes])


def _notes(taken_out: int, broken_up: int, language: str) -> list[str]:
    counted = ((TAKEN_OUT, taken_out), (BROKEN_UP, broken_up))
    return [said(note, language, count=count) for note, count in counted if count]
