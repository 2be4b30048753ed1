"""The page, piece by piece: first what the report says, then the trials as they stream by, the script last.

The page asks nobody for anything: its policy allows only its own style and script, by their hashes. Trials are data
for the script, which puts every text in as text.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterator
from importlib import resources

from liftbay.catalog.metrics import METRICS
from liftbay.catalog.words import MODULES, text_of
from liftbay.diagnosis.first_fault import blame_of
from liftbay.domain.result import CaseResult, Outcome, RunRecord
from liftbay.language import language, tr
from liftbay.report.html.about import about, legend, tools
from liftbay.report.html.blame import blame
from liftbay.report.html.case_index import CaseIndex
from liftbay.report.html.elements import Html, tag
from liftbay.report.html.metrics_section import metrics_sections
from liftbay.report.html.modules import lift, module_table
from liftbay.report.html.packed import BLOCK, Blocks, packed
from liftbay.report.html.sections import (
    conclusion,
    decay,
    header,
    lines,
    probes,
    trade_offs,
    trials,
)
from liftbay.report.html.words import script_words
from liftbay.report.observed import failed_in_modules
from liftbay.report.report import Report
from liftbay.report.wording import full_name

MOST_TRIALS = 6_000


class Page:
    """One page; `head`, then `trial` for each result, then `tail`."""

    def __init__(self, report: Report, record: RunRecord) -> None:
        """`record` says when and with what it was run."""
        self._report, self._record = report, record
        self._keep_every = _thinning(report)
        self._seen = [0, 0]  # passed, others
        self._index = CaseIndex()
        self._blocks = Blocks(min(report.cases.total, MOST_TRIALS))
        self._kept = 0

    def head(self) -> Iterator[str]:
        """Everything that is said without opening a trial."""
        report = self._report
        style, script = _asset("style.css"), _asset("script.js")
        policy = (
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        title = f"{report.agent} · {report.scope} · liftbay"
        yield f'<!doctype html>\n<html lang="{language()}">\n'
        yield tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("meta", name="generator", content=f"liftbay {self._record.liftbay}".strip()),
            tag("link", rel="icon", href="data:,"),
            tag("title", title),
            tag("style", Html(style)),
        )
        yield "\n<body>\n"
        yield _contents(report)
        yield from self._sections()

    def _sections(self) -> Iterator[str]:
        report = self._report
        picture = tag("div", lift(report), module_table(report), class_="beside")
        parts = (
            header(report, self._record),
            conclusion(report),
            blame(report),
            tag("section", tag("h2", tr("The five modules")), picture, id="modules"),
            tag("section", tag("h2", tr("Quality")), metrics_sections(report), id="quality"),
            probes(report),
            trade_offs(report),
            decay(report),
            trials(report),
            tools(report),
            lines(report),
            _cases(),
            about(report, self._record),
            legend(),
        )
        yield "<main>\n"
        for part in parts:
            if part is not None:
                yield part + "\n"
        yield "</main>\n"

    def trial(self, result: CaseResult) -> Iterator[str]:
        """Take one trial of the run; where there are too many, only some of them are kept."""
        passed = result.outcome is Outcome.PASSED
        self._seen[not passed] += 1
        if (self._seen[not passed] - 1) % self._keep_every[not passed]:
            return
        self._kept += 1
        blame = blame_of(result)
        self._index.add(result, blame, lucky=passed and bool(failed_in_modules(result)))
        yield from map(_data, self._blocks.add(result, blame))

    def tail(self) -> Iterator[str]:
        """The index of the trials and the script."""
        yield from map(_data, self._blocks.rest())
        about_page = {
            "block": BLOCK,
            "total": self._report.cases.total,
            "kept": self._kept,
            "cut": [self._blocks.characters, self._blocks.items],
            "words": script_words(),
            "metricNames": {id_: full_name(id_) for id_ in METRICS},
            "moduleNames": {module.value: text_of(name) for module, name in MODULES.items()},
            "modules": {id_: metric.module.value for id_, metric in METRICS.items()},
            "sceneNames": self._report.scene_names,
        }
        yield tag("script", packed(about_page | self._index.payload()), type="text/plain", id="index") + "\n"
        yield tag("script", Html(_asset("script.js"))) + "\n</body>\n</html>\n"


def _data(block: str) -> str:
    return tag("script", block, type="text/plain", class_="block") + "\n"


def _thinning(report: Report) -> tuple[int, int]:
    """Of how many passed and of how many other trials one is kept: all where they fit, the passed go first."""
    cases = report.cases
    others = cases.total - cases.passed
    if cases.total <= MOST_TRIALS:
        return 1, 1
    every_other = -(-others // (MOST_TRIALS * 4 // 5)) if others else 1
    room = MOST_TRIALS - -(-others // max(1, every_other))
    return max(1, -(-cases.passed // room)), max(1, every_other)


def _contents(report: Report) -> Html:
    names = (
        ("conclusion", tr("What to fix")),
        *((("blame", tr("First faults")),) if report.blame.trials or report.blame.lucky else ()),
        ("modules", tr("Modules")),
        ("quality", tr("Quality")),
        ("probes", tr("Cost and performance")),
        ("trade-offs", tr("Quality, cost and latency")),
        ("cases", tr("Cases")),
        ("about", tr("The run")),
    )
    return tag("nav", *(tag("a", name, href=f"#{id_}") for id_, name in names))


def _cases() -> Html:
    """Where the script lists trials; without it, nothing can be opened."""
    return tag(
        "section",
        tag("h2", tr("Cases")),
        tag("noscript", tr("Opening cases needs JavaScript; all figures are there without it.")),
        tag("div", id="explorer"),
        id="cases",
    )


@functools.cache
def _asset(name: str) -> str:
    return resources.files("liftbay.report.html").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
