"""Options of the torch.compile backend."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SEGMENTS = ("inductor", "eager")


class OptionError(ValueError):
    """An option that does not exist, or a value that makes no sense for it."""


def parse_bytes(value: int | float | str, name: str = "size") -> int | float:
    """Bytes from an integer or from a text such as "6GiB", "512 MiB", "1.5GiB"; `math.inf` stays.

    Raises OptionError, which names `name` and ends with the value.
    """
    if value == math.inf:
        return math.inf
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value)
        if match and (match[2] or "B") in UNITS:
            return int(float(match[1]) * UNITS[match[2] or "B"])
        if value.strip().lower() in ("inf", "infinite"):
            return math.inf
    units = ", ".join(UNITS)
    raise OptionError(
        f"{name} must be a count of bytes or a text with a unit ({units}), for example 6GiB; got: {value!r}"
    )


@dataclass(frozen=True)
class Options:
    """What `torch.compile(model, backend="residency", options={...})` takes."""

    device_budget: int | float = math.inf
    """bytes of saved activations that may stay on the device between forward and backward: int or "6GiB" """

    segments: str = "inductor"
    """what compiles the compute between transfers: "inductor" or "eager" """

    min_bytes: int | float = 0
    """saved values smaller than this many bytes are never moved: int or "64KiB" """

    dump: Path | None = None
    """a folder that gets the module after every pass and the emitted Python, or None"""

    fallback: bool = True
    """hand what we cannot compile to plain torch.compile, with one warning; False raises instead"""

    def __post_init__(self) -> None:
        for name in ("device_budget", "min_bytes"):
            object.__setattr__(self, name, parse_bytes(getattr(self, name), name))
        if self.segments not in SEGMENTS:
            raise OptionError(f"segments must be one of {SEGMENTS}; got: {self.segments!r}")
        if not isinstance(self.fallback, bool):
            raise OptionError(f"fallback must be True or False; got: {self.fallback!r}")
        if self.dump is not None:
            if not isinstance(self.dump, str | Path):
                raise OptionError(f"dump must be a folder's path; got: {self.dump!r}")
            object.__setattr__(self, "dump", Path(self.dump))

    @classmethod
    def parse(cls, given: Mapping[str, object] | None) -> Options:
        """Options from the dict that the user gave to torch.compile; raises OptionError."""
        given = {} if given is None else given
        if not isinstance(given, Mapping):
            raise OptionError(f"options must be a dict; got: {given!r}")
        valid = [field.name for field in fields(cls)]
        for name in given:
            if name not in valid:
                raise OptionError(f"options are {', '.join(valid)}; got an unknown one: {name!r}")
        return cls(**given)
