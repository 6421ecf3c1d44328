"""One name, four spellings: pass `residency-match-slots`, class `MatchSlots`, file `match_slots.py`, test `match_slots.mlir`."""

import ast
import dataclasses
import inspect
import re
from pathlib import Path

import pytest

from residency import dialect
from residency.pipeline.passes._base import Pass
from residency.pipeline.registry import PASSES, pass_class

ROOT = Path(__file__).parents[1]
FILES = {p.stem for p in (ROOT / "pipeline" / "passes").glob("*.py") if p.stem[0] != "_"}
TESTS = {p.stem for p in (ROOT / "test" / "passes").glob("*.mlir")}
STEMS = {entry.partition(":")[0] for entry in PASSES.values()}


def camel(snake: str) -> str:
    return "".join(word.capitalize() for word in snake.split("_"))


def source_of(name: str) -> tuple[ast.ClassDef, list[str]]:
    """The class statement of a pass and the lines of its file."""
    text = Path(inspect.getfile(pass_class(name))).read_text()
    classes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ClassDef)]
    return next(c for c in classes if c.name == pass_class(name).__name__), text.splitlines()


def is_documented(field: ast.AnnAssign, class_: ast.ClassDef, lines: list[str]) -> bool:
    """True if a docstring follows the field or a comment stands before or behind it."""
    following = class_.body[class_.body.index(field) + 1 :]
    if following and isinstance(following[0], ast.Expr):
        value = following[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return True
    return "#" in lines[field.lineno - 1] or lines[field.lineno - 2].lstrip().startswith("#")


def test_every_file_holds_a_registered_pass() -> None:
    assert FILES == STEMS


@pytest.mark.parametrize("name", PASSES)
def test_the_spellings_of_a_pass_agree(name: str) -> None:
    stem, _, class_name = PASSES[name].partition(":")
    assert name == "residency-" + stem.replace("_", "-")
    assert class_name == camel(stem)
    assert stem in TESTS, f"no test/passes/{stem}.mlir"
    class_ = pass_class(name)
    assert class_.name == name
    assert issubclass(class_, Pass)
    assert class_.__dataclass_params__.frozen
    assert Path(inspect.getfile(class_)).stem == stem


def test_every_pass_test_starts_with_the_stem_of_its_pass() -> None:
    assert [t for t in TESTS if not any(t == s or t.startswith(s + "_") for s in STEMS)] == []


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_says_what_it_does(name: str) -> None:
    doc = inspect.cleandoc(pass_class(name).__doc__ or "")
    assert re.search(r"^Input:", doc, re.MULTILINE), "no Input: in the docstring"
    assert re.search(r"^Output:", doc, re.MULTILINE), "no Output: in the docstring"
    assert doc.splitlines()[0].endswith("."), doc.splitlines()[0]


@pytest.mark.parametrize("name", PASSES)
def test_every_option_is_documented(name: str) -> None:
    class_, lines = source_of(name)
    statements = [s for s in class_.body if isinstance(s, ast.AnnAssign)]
    options = {f.name for f in dataclasses.fields(pass_class(name))}
    own = [s for s in statements if s.target.id in options]
    assert [s.target.id for s in own if not is_documented(s, class_, lines)] == []


@pytest.mark.parametrize("op", dialect.Residency.operations, ids=lambda op: op.__name__)
def test_the_spellings_of_an_op_agree(op: type) -> None:
    dialect_name, _, name = op.OPERATION_NAME.partition(".")
    assert dialect_name == "residency"
    assert op.__name__ == camel(name) + "Op"
    assert op.__name__ in dialect.__all__
    assert "Constraints:" in op.__doc__
    assert f'"residency.{name}"(' in op.__doc__
