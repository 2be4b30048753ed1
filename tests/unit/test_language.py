"""The catalogue of Japanese messages against the source, and how the language is chosen."""

import ast
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from liftbay import errors
from liftbay.language import language, language_of, tr, use_language

SOURCE = Path(errors.__file__).parent
ERRORS = {
    name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, errors.LiftbayError)
}


def entries() -> list[dict[str, str]]:
    """The entries of the catalogue as they stand in the file."""
    found: list[dict[str, str]] = tomllib.loads((SOURCE / "locale/ja.toml").read_text(encoding="utf-8"))["messages"]
    return found


def modules() -> Iterator[ast.Module]:
    """Every module of the source, parsed; adjacent string literals are one constant there."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"), str(path))


def texts_said(module: ast.Module) -> Iterator[str]:
    """The texts that a module says to the user: through `tr`, and through errors with their remedies and values."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "tr" or node.func.id in ERRORS:
            for argument in node.args[:1]:
                yield from literals(argument, module)
        if node.func.id in ERRORS:
            for keyword in node.keywords:
                if keyword.arg == "remedy" or isinstance(keyword.value, ast.Subscript):
                    yield from literals(keyword.value, module)


def literals(node: ast.expr | None, module: ast.Module) -> Iterator[str]:
    """The texts that an expression can be, as far as the module alone tells."""
    inner: Iterator[ast.expr | None] = iter(())
    match node:
        case ast.JoinedStr():
            pytest.fail(f"line {node.lineno}: an f-string cannot be looked up; give a template and its values")
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            inner = iter((one, other))
        case ast.BoolOp(values=values):
            inner = iter(values)
        case ast.Call(func=ast.Name(id=name)):
            inner = returned_by(name, module)
        case ast.Subscript(value=ast.Name(id=name)):
            inner = held_by_table(name, module)
        case ast.Name(id=name):
            inner = taken_by_loop(name, module)
    for expression in inner:
        yield from literals(expression, module)


def returned_by(name: str, module: ast.Module) -> Iterator[ast.expr | None]:
    """What the function `name` of this module returns."""
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef) and function.name == name:
            yield from (node.value for node in ast.walk(function) if isinstance(node, ast.Return))


def held_by_table(name: str, module: ast.Module) -> Iterator[ast.expr]:
    """The values of the dictionary `name` of this module."""
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Dict(values=values)) if target == name:
                yield from values


def taken_by_loop(name: str, module: ast.Module) -> Iterator[ast.expr]:
    """What the variable `name` takes in loops over tuples of tuples."""
    for loop in ast.walk(module):
        match loop:
            case ast.For(target=ast.Tuple(elts=targets), iter=ast.Tuple(elts=rows)):
                names = [target.id if isinstance(target, ast.Name) else None for target in targets]
                if name in names:
                    yield from (row.elts[names.index(name)] for row in rows if isinstance(row, ast.Tuple))


def has_words(text: str) -> bool:
    """Whether anything is left to translate beside placeholders, signs and names in capitals."""
    plain = "".join(part for part, *_ in string.Formatter().parse(text))
    return any(character.islower() for character in plain)


def placeholders(text: str) -> list[tuple[str, str | None, str | None]]:
    """The placeholders of a template with their formats, sorted."""
    return sorted((name, form, how) for _, name, form, how in string.Formatter().parse(text) if name is not None)


def test_every_text_has_a_japanese_entry() -> None:
    known = {entry["en"] for entry in entries()}
    said = {text for module in modules() for text in texts_said(module) if has_words(text)}
    assert len(said) > 50, "the scan finds too little: did the way of saying things change?"
    assert sorted(said - known) == []


def test_every_entry_is_in_the_source() -> None:
    constants = {
        node.value
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [entry["en"] for entry in entries() if entry["en"] not in constants] == []


def test_no_entry_stands_twice() -> None:
    texts = [entry["en"] for entry in entries()]
    assert sorted({text for text in texts if texts.count(text) > 1}) == []


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["en"][:60])
def test_placeholders_agree(entry: dict[str, str]) -> None:
    assert set(entry) == {"en", "ja"}
    assert entry["ja"].strip()
    assert placeholders(entry["ja"]) == placeholders(entry["en"])


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja"}, "ja"),
        ({"LANG": "JA_JP.eucJP"}, "ja"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": ""}, "ja"),
        ({"LANGUAGE": "ja"}, "en"),
    ],
)
def test_the_locale_chooses(environment: dict[str, str], expected: str) -> None:
    assert language_of(environment) == expected


@pytest.fixture
def _japanese() -> Iterator[None]:
    before = language()
    use_language("ja")
    yield
    use_language(before)


def test_english_is_said_as_it_stands() -> None:
    assert language() == "en"
    assert tr("stopped") == "stopped"


@pytest.mark.usefixtures("_japanese")
def test_japanese_comes_from_the_catalogue() -> None:
    assert language() == "ja"
    assert tr("stopped") == "中断しました。"
    assert tr("written: {path}", path="score_x.json") == "書き出しました: score_x.json"


@pytest.mark.usefixtures("_japanese")
def test_a_text_without_an_entry_stays_english() -> None:
    assert tr("no such entry: {what}", what=1) == "no such entry: 1"


def test_a_value_may_have_any_name() -> None:
    assert tr("{text}", text="it") == "it"
