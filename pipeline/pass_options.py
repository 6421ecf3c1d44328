"""Options of a pass as text: `{min-bytes=64KiB slots=saved_0,saved_1}`, typed by the fields of its dataclass."""

from __future__ import annotations

import types
import typing
from dataclasses import fields
from difflib import get_close_matches

from .options import OptionError, parse_bytes
from .passes._base import Pass, option_name
from .pipeline_text import PipelineError, split, unquote

_BOOLS = {"true": True, "1": True, "false": False, "0": False}


def parse_options(class_: type[Pass], text: str) -> Pass:
    """The pass with options set from `text`, the inside of the braces.

    Counts take units (KiB, MiB, GiB), lists commas, a bool alone means true. Raises PipelineError, which lists the valid
    options and ends with the wrong name or value.
    """
    hints = typing.get_type_hints(class_)
    valid = {option_name(f.name): f.name for f in fields(class_)}
    given: dict[str, object] = {}
    for part in split(text, " "):
        option, equals, value = part.partition("=")
        if option not in valid:
            near = get_close_matches(option, valid, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            listed = f"options: {', '.join(valid)}" if valid else "it takes none"
            raise PipelineError(f"{class_.name} has no such option{hint} ({listed}), got: {option}")
        if valid[option] in given:
            raise PipelineError(f"{class_.name} takes {option} once, got: {text}")
        type_ = hints[valid[option]]
        if not equals and type_ is not bool:
            raise PipelineError(f"{class_.name} needs a value for its option, got: {option}")
        try:
            given[valid[option]] = _value(type_, value if equals else "true", option)
        except ValueError as error:
            raise PipelineError(f"{class_.name}: {error}") from None
    try:
        return class_(**given)
    except TypeError:
        missing = [o for o, f in valid.items() if f not in given and not hasattr(class_, f)]
        raise PipelineError(f"{class_.name} needs the options: {', '.join(missing)}") from None


def _value(type_: object, text: str, option: str) -> object:
    """`text` as a value of a field's type. Raises ValueError."""
    origin, inner = typing.get_origin(type_), typing.get_args(type_)
    if origin in (types.UnionType, typing.Union):
        kinds = [t for t in inner if t is not types.NoneType]
        # `int | float` is a count that may be infinite.
        return parse_bytes(text, option) if int in kinds else _value(kinds[0], text, option)
    if origin in (tuple, list):
        inside = text[1:-1] if text.startswith("{") and text.endswith("}") else text
        return origin(_value(inner[0], item, option) for item in split(inside, ","))
    if type_ is bool:
        if text.lower() not in _BOOLS:
            raise ValueError(f"{option} must be true or false, got: {text}")
        return _BOOLS[text.lower()]
    if type_ is int:
        try:
            return int(text)
        except ValueError:
            count = parse_bytes(unquote(text), option)
        if not isinstance(count, int):
            raise OptionError(f"{option} must be finite, got: {text}")
        return count
    if type_ is float:
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"{option} must be a number, got: {text}") from None
    if type_ is str:
        return unquote(text)
    raise TypeError(f"no text form for options of this type: {type_}")
