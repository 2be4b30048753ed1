"""Elements of HTML and SVG; every text is escaped unless it was made here."""

from __future__ import annotations

import html
from collections.abc import Iterable
from urllib.parse import urlencode


class Html(str):
    """Markup that was made here, and is not escaped again."""

    __slots__ = ()


Child = str | int | None
Attribute = str | float | bool | None
_EMPTY = {"meta", "br", "hr", "rect", "circle", "line", "path", "polyline", "polygon", "ellipse", "link"}


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` is `class`, `data_q` is `data-q`; an attribute that is None or False is left out."""
    shown = "".join(
        f" {_attribute(key)}" if value is True else f' {_attribute(key)}="{_attribute_value(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY and not children:
        return Html(f"<{name}{shown}>" if name in ("meta", "br", "hr", "link") else f"<{name}{shown}/>")
    return Html(f"<{name}{shown}>{together(children)}</{name}>")


def together(children: Iterable[Child]) -> Html:
    """The children one after another."""
    return Html("".join(escaped(child) for child in children if child is not None))


def escaped(child: str | int) -> str:
    """A child as markup."""
    return child if isinstance(child, Html) else html.escape(str(child), quote=False)


def cases_link(text: Child, class_: str | None = None, **filters: str | int | None) -> Html:
    """A figure that opens the cases behind it."""
    wanted = {key.rstrip("_"): value for key, value in filters.items() if value is not None}
    return tag("a", text, href=f"#cases?{urlencode(wanted)}", class_=class_)


def table(names: Iterable[Child], rows: Iterable[Iterable[Child]], class_: str | None = None) -> Html:
    """A table; the first column names the row."""
    head = tag("tr", *(tag("th", name, scope="col") for name in names))
    body = (
        tag("tr", *(tag("th", cell, scope="row") if not column else tag("td", cell) for column, cell in enumerate(row)))
        for row in rows
    )
    return tag(
        "div", tag("table", tag("thead", head), tag("tbody", *body), class_=class_), class_="scroll", tabindex="0"
    )


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _attribute_value(value: str | float) -> str:
    return html.escape(value if isinstance(value, str) else f"{round(value, 2):g}")
