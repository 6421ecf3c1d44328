"""What FX knew about the ops of a module and MLIR does not carry, by handle.

An op refers to its entry with the attribute `residency.fx`. That is a hint (fake values, stack traces, what Inductor wants to
know) and never an identity: clones share a handle, new ops have none, and all may be stripped. The exception are opaque ops,
whose name holds the handle of the call that they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .torch_private import FakeTensor, FakeTensorMode


@dataclass(frozen=True)
class Leaf:
    """Operand number `index` of an opaque op, inside its argument template."""

    index: int


@dataclass(frozen=True)
class Attribute:
    """A constant object of the graph module (a sub-graph of a higher-order op), inside an argument template."""

    name: str
    value: Any


@dataclass(frozen=True)
class OpaqueCall:
    """A call that is carried through untouched."""

    op: str
    """FX opcode: call_function, call_method, call_module, or "constant" for an object that is an output"""
    target: Any
    args: tuple
    """templates: Python data with `Leaf` and `Attribute` leaves"""
    kwargs: dict[str, Any]
    results: Any
    """the structure of the value: nested tuples, lists and dicts with `Leaf` for result number i and constants"""

    def flatten(self, value: Any, found: dict[int, Any]) -> None:
        """Puts the parts of a value of this structure into `found`, by result number."""
        _flatten(self.results, value, found)


def _flatten(structure: Any, value: Any, found: dict[int, Any]) -> None:
    if isinstance(structure, Leaf):
        found[structure.index] = value
    elif isinstance(structure, tuple | list):
        for inner, item in zip(structure, value, strict=True):
            _flatten(inner, item, found)
    elif isinstance(structure, dict):
        for key, inner in structure.items():
            _flatten(inner, value[key], found)


@dataclass(slots=True)
class NodeInfo:
    """What FX knew about one node."""

    name: str
    meta: dict[str, Any] = field(default_factory=dict)
    spelling: tuple[int, tuple[str, ...]] | None = None
    """how the call was written: number of positional arguments, names of the keyword arguments"""
    result_meta: dict[Any, dict[str, Any]] | None = None
    """result index -> meta of the `getitem` node that read it"""
    call: OpaqueCall | None = None
    constant: Any = None

    def values(self, results: int) -> list[Any]:
        """FX's value of each of the `results` results of the op, in order. Raises KeyError where FX knew none."""
        value = self.meta["val"] if "val" in self.meta else self._of_elements()
        if self.call is not None:
            found: dict[int, Any] = {}
            self.call.flatten(value, found)
            return [found[index] for index in range(results)]
        return [value] if results == 1 else list(value)

    def _of_elements(self) -> tuple:
        """The value of a node whose elements alone carry values, as those of higher-order ops do."""
        if self.call is None or not self.result_meta or not isinstance(self.call.results, tuple):
            raise KeyError(f"FX knew no value of the node: {self.name}")
        metas = [self.result_meta.get(i, {}) for i in range(len(self.call.results))]
        return tuple(meta.get("val") for meta in metas)


class NodeTable:
    """Handles -> `NodeInfo`, for both functions of a step."""

    def __init__(self) -> None:
        self._infos: list[NodeInfo] = []
        self._fake_mode: FakeTensorMode | None = None

    def add(self, info: NodeInfo) -> int:
        """Stores `info`; returns its handle."""
        self._infos.append(info)
        return len(self._infos) - 1

    def __getitem__(self, handle: int) -> NodeInfo:
        if not 0 <= handle < len(self._infos):
            raise KeyError(f"the node table has {len(self._infos)} entries, got handle: {handle}")
        return self._infos[handle]

    def __len__(self) -> int:
        return len(self._infos)

    def __iter__(self) -> Iterator[NodeInfo]:
        return iter(self._infos)

    def call_target(self, handle: int) -> Callable | str | None:
        """FX target of the opaque op with this handle; what it aliases and writes is in its schema, if it has one."""
        call = self[handle].call
        return call.target if call else None

    @property
    def fake_mode(self) -> FakeTensorMode | None:
        """The mode that the recorded fake values belong to; None if there is none."""
        if self._fake_mode is None:
            for info in self._infos:
                value = info.meta.get("val")
                if isinstance(value, FakeTensor):
                    self._fake_mode = value.fake_mode
                    break
        return self._fake_mode
