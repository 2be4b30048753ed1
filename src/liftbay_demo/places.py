"""Where the things are that ship with the agent."""

from __future__ import annotations

from pathlib import Path

WORLD = Path(__file__).parent / "world"
DATA = WORLD / "data"
KNOWLEDGE = WORLD / "knowledge"
SKILLS = WORLD / "skills"
TOOLS = WORLD / "tools.json"
