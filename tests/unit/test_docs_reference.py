"""The generated pages of the reference are those that the program would write now."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_command_line_page_is_fresh() -> None:
    generator = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert generator["CLI_PAGE"].read_text(encoding="utf-8") == generator["cli_page"](), "stale: run `make docs`"


def test_every_command_and_option_is_on_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for text in ("liftbay jmultiwoz generate", "liftbay jmultiwoz evaluate", "liftbay jmultiwoz compare"):
        assert f"\n## `{text}`\n" in page
    for option in ("--base-url", "--retry-errors", "--breakdown", "--lang"):
        assert f"| `{option}" in page
