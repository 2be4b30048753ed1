"""Small pictures in SVG: whiskers, bars, curves. Hues and strokes come from the style, by class."""

from __future__ import annotations

from collections.abc import Sequence

from liftbay.language import tr
from liftbay.report.decay import CurvePoint
from liftbay.report.histogram import Histogram
from liftbay.report.html.elements import Html, tag
from liftbay.report.marks import Mark
from liftbay.report.trade_offs import TradeOff
from liftbay.report.wording import figure, rate_text
from liftbay.scoring.percentiles import Distribution
from liftbay.scoring.rates import Rate

_WHISKER = 110


def whisker(rate: Rate, hue: str) -> Html:
    """A rate on a line from 0 to 100 %, with its interval."""
    inner = [tag("line", class_="axis", x1=5, y1=8, x2=_WHISKER + 5, y2=8)]
    inner += [tag("line", class_="axis", x1=x, y1=6, x2=x, y2=10) for x in (5, 5 + _WHISKER / 2, 5 + _WHISKER)]
    if rate.value is not None and rate.low is not None and rate.high is not None:
        low, value, high = (5 + share * _WHISKER for share in (rate.low, rate.value, rate.high))
        inner += [
            tag("line", class_="band", x1=low, y1=8, x2=high, y2=8),
            tag("line", class_="end", x1=low, y1=4, x2=low, y2=12),
            tag("line", class_="end", x1=high, y1=4, x2=high, y2=12),
            tag("circle", class_="dot", cx=value, cy=8, r=4),
        ]
    label = f"{rate_text(rate)}, n = {rate.n}"
    return tag("svg", *inner, class_=f"whisker {hue}", viewBox=f"0 0 {_WHISKER + 10} 16", role="img", aria_label=label)


def outcome_bar(counts: dict[Mark, int]) -> Html:
    """Passed, failed, excluded and broken trials as one bar."""
    total = sum(counts.values()) or 1
    inner, x = [], 0.0
    for mark in Mark:
        width = counts.get(mark, 0) / total * 1000
        if width:
            inner.append(tag("rect", class_=f"bar-{mark.value}", x=x, y=0, width=max(width - 2, 1), height=14))
        x += width
    return tag("svg", *inner, class_="outcome", viewBox="0 0 1000 14", preserveAspectRatio="none", aria_hidden="true")


def shape_of(found: Histogram | None, values: Distribution) -> Html:
    """How values are spread, with marks at the median and at the 95th percentile."""
    if found is None or values.p50 is None or values.p95 is None:
        return Html("")
    bar, most = 120 / len(found.counts), max(found.counts)
    inner = [
        tag("rect", class_="bin", x=i * bar, y=22 - 20 * count / most, width=bar - 0.8, height=20 * count / most)
        for i, count in enumerate(found.counts)
    ]
    for name, at in (("p50", values.p50), ("p95", values.p95)):
        x = min(120.0, (at - found.low) / found.width * bar)
        inner.append(tag("line", class_=name, x1=x, y1=0, x2=x, y2=24))
    label = f"{figure(found.low)} – p99 {figure(values.p99)}"
    return tag("svg", *inner, class_="shape", viewBox="0 0 121 24", role="img", aria_label=label)


def curve(points: Sequence[CurvePoint], axis: str) -> Html:
    """Retention from point to point, with the band of its intervals and n below each."""
    width, height, left, top = 420, 190, 40, 10
    across = (width - left - 20) / max(1, len(points) - 1)

    def place(i: int, share: float) -> str:
        return f"{left + i * across:.1f},{top + (1 - share) * (height - 60):.1f}"

    inner = []
    for share in (0.0, 0.5, 1.0):
        y = top + (1 - share) * (height - 60)
        inner += [
            tag("line", class_="axis", x1=left, y1=y, x2=width - 20, y2=y),
            tag("text", f"{share * 100:.0f}", x=left - 8, y=y + 4, text_anchor="end"),
        ]
    drawn = [
        (i, one.rate.low, one.rate.value, one.rate.high)
        for i, one in enumerate(points)
        if one.rate.low is not None and one.rate.value is not None and one.rate.high is not None
    ]
    upper = [place(i, high) for i, _, _, high in drawn]
    lower = [place(i, low) for i, low, _, _ in drawn]
    inner.append(tag("polygon", class_="area", points=" ".join([*upper, *reversed(lower)])))
    inner.append(tag("polyline", class_="line", points=" ".join(place(i, value) for i, _, value, _ in drawn)))
    for i, low, value, high in drawn:
        dot_x, dot_y = place(i, value).split(",")
        ends = (place(i, low).split(",")[1], place(i, high).split(",")[1])
        inner += [
            tag("line", class_="band", x1=dot_x, x2=dot_x, y1=ends[0], y2=ends[1]),
            tag("circle", class_="dot", cx=dot_x, cy=dot_y, r=4),
        ]
    for i, one in enumerate(points):
        x = left + i * across
        inner += [
            tag("text", str(one.at), x=x, y=height - 30, text_anchor="middle"),
            tag("text", f"n {one.rate.n}", class_="small", x=x, y=height - 14, text_anchor="middle"),
        ]
    inner.append(tag("text", axis, class_="small", x=width - 20, y=height - 2, text_anchor="end"))
    label = "; ".join(f"{one.at}: {rate_text(one.rate)}" for one in points)
    return tag("svg", *inner, class_="curve memory", viewBox=f"0 0 {width} {height}", role="img", aria_label=label)


def trade_off_plot(groups: Sequence[TradeOff], costs: str) -> Html | None:
    """Quality upwards, cost to the right, latency as the size of the circle; letters name the groups of the table."""
    drawn = [
        (letter(i), one.cost, one.pass_rate.value, one)
        for i, one in enumerate(groups)
        if one.cost is not None and one.pass_rate.value is not None
    ]
    if len(drawn) < 2:
        return None
    width, height, left, top = 480, 270, 44, 12
    most = max(cost for _, cost, _, _ in drawn) * 1.1 or 1.0
    slowest = max((one.latency_ms or 0.0 for *_, one in drawn), default=0.0) or 1.0
    inner = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + (1 - share) * (height - 60)
        inner += [
            tag("line", class_="axis", x1=left, y1=y, x2=width - 10, y2=y),
            tag("text", f"{share * 100:.0f} %", class_="small", x=left - 6, y=y + 4, text_anchor="end"),
        ]
    for share in (0.0, 0.5, 1.0):
        x = left + share * (width - left - 20)
        anchor = "end" if share == 1 else "middle"
        inner.append(tag("text", figure(most * share), class_="small", x=x, y=height - 28, text_anchor=anchor))
    for name, cost, value, one in sorted(drawn, key=lambda item: -(item[3].latency_ms or 0.0)):
        x, y = left + cost / most * (width - left - 20), top + (1 - value) * (height - 60)
        radius = 5 + 13 * ((one.latency_ms or 0.0) / slowest) ** 0.5
        inner += [
            _interval(one.pass_rate, x, top, height - 60),
            tag("circle", class_=f"bubble by-{one.by.value}", cx=x, cy=y, r=radius),
            tag("text", name, class_="letter", x=x, y=y + 4, text_anchor="middle"),
        ]
    said = tr("pass rate against {cost}; the larger the circle, the slower", cost=costs)
    inner.append(tag("text", said, class_="small", x=left, y=height - 8))
    return tag("svg", *inner, class_="trade", viewBox=f"0 0 {width} {height}", role="img", aria_label=said)


def _interval(rate: Rate, x: float, top: float, height: float) -> Html:
    low, high = (top + (1 - (share or 0.0)) * height for share in (rate.low, rate.high))
    return tag("line", class_="end", x1=x, x2=x, y1=low, y2=high)


def letter(position: int) -> str:
    """A, B, … Z, AA, …: the name of a group in the plot."""
    name = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
