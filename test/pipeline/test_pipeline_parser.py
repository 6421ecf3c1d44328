"""Pass pipelines as text."""

import math
from dataclasses import dataclass, field

import pytest

from residency.pipeline.pass_options import parse_options
from residency.pipeline.passes._base import Pass
from residency.pipeline.pipeline_parser import parse_pipeline, pipeline_text
from residency.pipeline.pipeline_text import PipelineError, quote, split, unquote
from residency.pipeline.registry import PASSES
from residency.pipeline.upstream import UpstreamPass


@dataclass(frozen=True)
class Sample(Pass):
    """A pass with an option of every type."""

    name = "residency-sample"
    min_bytes: int = 1 << 20
    budget: int | float = math.inf
    ratio: float = 0.5
    verbose: bool = False
    label: str = ""
    slots: tuple[str, ...] = ()
    depths: list[int] = field(default_factory=list)
    limit: int | None = None

    def run(self, module: object) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Needy(Pass):
    """A pass with an option that has no default."""

    name = "residency-needy"
    slots: tuple[str, ...]

    def run(self, module: object) -> None:
        raise NotImplementedError


OPTIONS = {
    "": Sample(),
    "min-bytes=4096": Sample(min_bytes=4096),
    "min-bytes=-1": Sample(min_bytes=-1),
    "min-bytes=64KiB": Sample(min_bytes=64 << 10),
    "min-bytes=3MiB budget=6GiB": Sample(min_bytes=3 << 20, budget=6 << 30),
    "budget=0": Sample(budget=0),
    "budget=inf": Sample(),
    "ratio=0.25": Sample(ratio=0.25),
    "verbose": Sample(verbose=True),
    "verbose=true": Sample(verbose=True),
    "verbose=false": Sample(),
    "label=x": Sample(label="x"),
    'label="two words, {braces}"': Sample(label="two words, {braces}"),
    "slots=saved_0,saved_1": Sample(slots=("saved_0", "saved_1")),
    "slots={saved_0,saved_1}": Sample(slots=("saved_0", "saved_1")),
    "slots=": Sample(),
    "depths=1,2KiB": Sample(depths=[1, 2048]),
    "limit=5": Sample(limit=5),
    "  min-bytes=1   label=y ": Sample(min_bytes=1, label="y"),
}


@pytest.mark.parametrize("text", OPTIONS)
def test_options_are_typed_by_their_fields(text: str) -> None:
    assert parse_options(Sample, text) == OPTIONS[text]


@pytest.mark.parametrize("text", OPTIONS)
def test_a_pass_prints_as_what_it_is_parsed_from(text: str) -> None:
    name, _, options = str(OPTIONS[text]).removesuffix("}").partition("{")
    assert name == "residency-sample"
    assert parse_options(Sample, options) == OPTIONS[text]


ALL = "options: min-bytes, budget, ratio, verbose, label, slots, depths, limit"
WRONG = {
    "min-byte=3": rf"no such option; did you mean min-bytes\? \({ALL}\), got: min-byte$",
    "zzz=3": rf"residency-sample has no such option \({ALL}\), got: zzz$",
    "min_bytes=3": r"did you mean min-bytes\?.*, got: min_bytes$",
    "min-bytes": r"residency-sample needs a value for its option, got: min-bytes$",
    "min-bytes=lots": r"residency-sample: min-bytes must be a count of bytes .*got: 'lots'$",
    "min-bytes=3KB": r"got: '3KB'$",
    "min-bytes=inf": r"residency-sample: min-bytes must be finite, got: inf$",
    "budget=-3": r"budget must be a count of bytes .*got: '-3'$",
    "ratio=much": r"residency-sample: ratio must be a number, got: much$",
    "verbose=maybe": r"residency-sample: verbose must be true or false, got: maybe$",
    "label=a label=b": r"residency-sample takes label once, got: label=a label=b$",
    'label="a': r'needs a closing ", got: label="a$',
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_options_say_what_is_right(text: str) -> None:
    with pytest.raises(PipelineError, match=WRONG[text]):
        parse_options(Sample, text)


def test_an_option_without_a_default_is_asked_for() -> None:
    with pytest.raises(PipelineError, match=r"residency-needy needs the options: slots$"):
        parse_options(Needy, "")


def test_our_passes_and_those_of_mlir_mix() -> None:
    text = "residency-check-imported,canonicalize{max-iterations=3},func.func(cse,canonicalize)"
    passes = parse_pipeline(text)
    assert [p.name for p in passes] == [
        "residency-check-imported",
        "canonicalize",
        "func.func-cse-canonicalize",
    ]
    assert passes[1:] == [
        UpstreamPass("canonicalize{max-iterations=3}"),
        UpstreamPass("func.func(cse,canonicalize)"),
    ]
    assert pipeline_text(passes) == text
    assert parse_pipeline(f"builtin.module({text})") == passes
    assert parse_pipeline(f" builtin.module( builtin.module({text}) ) ,") == passes


@pytest.mark.parametrize("text", ["", "builtin.module()", " , "])
def test_an_empty_pipeline_has_no_passes(text: str) -> None:
    assert parse_pipeline(text) == []


LISTED = ", ".join(sorted(PASSES))
BROKEN = {
    "residency-check-import": rf"no such pass; did you mean residency-check-imported\? \(passes: {LISTED}, and those of "
    r"MLIR\), got: residency-check-import$",
    "canonicalise": r"did you mean canonicalize\?.*, got: canonicalise$",
    "func.func(csee)": r"no such pass; did you mean cse\?.*, got: csee$",
    "zzz": rf"^no such pass \(passes: {LISTED}, and those of MLIR\), got: zzz$",
    "residency-check-imported{x=1}": r"residency-check-imported has no such option \(it takes none\), got: x$",
    "canonicalize{x=1}": r"MLIR does not take this element \(no such option x.*\), got: canonicalize\{x=1\}$",
    "func.func(residency-check-imported)": r"residency-check-imported runs on the module, not inside func.func, got: ",
    "residency-check-imported(cse)": r"is a pass and takes no nested ones, got: ",
    "cse,func.func(canonicalize": r"needs a closing \), got: cse,func.func\(canonicalize$",
    "cse)": r"brackets do not match, got: cse\)$",
    "cse;canonicalize": r"needs <pass>\{<options>\} or <op>\(<passes>\), got: 'cse;canonicalize'$",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_pipelines_say_what_is_wrong(text: str) -> None:
    with pytest.raises(PipelineError, match=BROKEN[text]):
        parse_pipeline(text)


def test_text_is_split_outside_of_brackets_and_quotes() -> None:
    assert split("a{b,c},d(e,(f,g)),'h,i'", ",") == ["a{b,c}", "d(e,(f,g))", "'h,i'"]


@pytest.mark.parametrize("text", ["", "a", "a b", 'say "a, b"', "{x}", "a=b", "it's"])
def test_quoted_text_comes_back(text: str) -> None:
    assert split(f"a,{quote(text)}", ",") == ["a", quote(text)]
    assert unquote(quote(text)) == text
