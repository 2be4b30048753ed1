"""The table of docs/reference/trace.md says of each part what carries it, as `liftbay trace check` does."""

import re
from pathlib import Path

from liftbay.telemetry import attributes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "trace.md"
ROW = re.compile(r"\| `([\w.]+)` \| (`[^|]+`\)?) \| (`[^|]+`\)?|the same) \|")


def carriers_on_the_page() -> dict[str, tuple[str, str]]:
    """By part, in liftbay's own spelling: what the columns GenAI and OpenInference say."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("## What carries each part in OpenTelemetry\n")[2].partition("\n## ")[0]
    found = {}
    for part, genai, openinference in ROW.findall(section):
        name = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", part)
        plain = genai.replace("`", "")
        found[name] = (plain, plain if openinference == "the same" else openinference.replace("`", ""))
    return found


def test_the_page_names_the_carriers_of_every_part() -> None:
    known = {part: (carriers.genai, carriers.openinference) for part, carriers in attributes._CARRIERS.items()}
    assert len(known) > 20
    assert carriers_on_the_page() == known
