"""Runs a graph node by node: straight-line Python, every value dropped in the statement after its last use."""

from __future__ import annotations

import hashlib
import linecache
import math
import operator
from collections.abc import Callable
from typing import Any

from torch import fx

PLAIN = (int, bool, str, type(None))
"""constants whose `repr` is Python"""


def straight_line(gm: fx.GraphModule) -> Callable[[list], tuple]:
    """A boxed callable: it takes a list, which it empties, and returns a tuple; the bits are those of running `gm`.

    An input that only the list held is dropped after its last use too.
    """
    return _Writer(gm).compile()


class _Writer:
    def __init__(self, gm: fx.GraphModule) -> None:
        self.gm = gm
        self.lines: list[str] = []
        self.names: dict[fx.Node, str] = {}
        self.globals: dict[str, Any] = {}
        self.bound: dict[int, str] = {}

    def compile(self) -> Callable[[list], tuple]:
        nodes = list(self.gm.graph.nodes)
        dying = last_uses(nodes)
        placeholders = [n for n in nodes if n.op == "placeholder"]
        self.names = {n: f"a{i}" for i, n in enumerate(placeholders)}
        if placeholders:
            self.lines.append("".join(f"{self.names[n]}, " for n in placeholders) + "= args")
        self.lines.append("args.clear()")
        self.drop([n for n in placeholders if not n.users])
        for node in nodes:
            if node.op == "output":
                self.lines.append(f"return {self.show(tuple(node.args[0]))}")
            elif node.op == "get_attr":
                self.names[node] = self.bind(operator.attrgetter(node.target)(self.gm))
            elif node.op != "placeholder":
                self.call(node, dying.get(node, []))
        source = "def segment(args):\n" + "".join(f"    {line}\n" for line in self.lines)
        return self.load(source)

    def load(self, source: str) -> Callable[[list], tuple]:
        filename = f"<residency segment {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
        # So that a traceback shows the statement; equal sources share an entry.
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        exec(compile(source, filename, "exec"), self.globals)
        segment = self.globals["segment"]
        segment._boxed_call = True
        return segment

    def call(self, node: fx.Node, dying: list[fx.Node]) -> None:
        args = [self.show(a) for a in node.args]
        if node.op == "call_method":
            function = f"{args.pop(0)}.{node.target}"
        elif node.op == "call_module":
            function = self.bind(self.gm.get_submodule(node.target))
        else:
            function = self.bind(node.target)
        keywords = {k: self.show(v) for k, v in node.kwargs.items()}
        if all(k.isidentifier() for k in keywords):
            args += [f"{k}={v}" for k, v in keywords.items()]
        else:
            args.append("**{" + ", ".join(f"{k!r}: {v}" for k, v in keywords.items()) + "}")
        text = f"{function}({', '.join(args)})"
        if node.users:
            self.names[node] = f"v{len(self.names)}"
            text = f"{self.names[node]} = {text}"
        self.lines.append(text)
        self.drop(dying)

    def drop(self, nodes: list[fx.Node]) -> None:
        names = [self.names[n] for n in nodes if n.op != "get_attr"]
        if names:
            self.lines.append("del " + ", ".join(names))

    def show(self, value: Any) -> str:
        """Python text of an argument whose leaves may be nodes."""
        if isinstance(value, fx.Node):
            return self.names[value]
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return "(" + "".join(f"{self.show(v)}, " for v in value) + ")"
        if isinstance(value, list):
            return "[" + ", ".join(self.show(v) for v in value) + "]"
        if isinstance(value, dict):
            items = (f"{self.show(k)}: {self.show(v)}" for k, v in value.items())
            return "{" + ", ".join(items) + "}"
        if isinstance(value, slice):
            return (
                f"slice({', '.join(self.show(v) for v in (value.start, value.stop, value.step))})"
            )
        if isinstance(value, tuple):  # a named tuple
            return f"{self.bind(type(value))}({', '.join(self.show(v) for v in value)})"
        if type(value) in PLAIN or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self.bind(value)

    def bind(self, value: Any) -> str:
        """A global name for an object; the globals keep it alive, so that its id stays its own."""
        name = self.bound.get(id(value))
        if name is None:
            name = self.bound[id(value)] = f"g{len(self.bound)}"
            self.globals[name] = value
        return name


def last_uses(nodes: list[fx.Node]) -> dict[fx.Node, list[fx.Node]]:
    """Node -> the values that no later node reads. The output keeps what it returns."""
    last: dict[fx.Node, fx.Node] = {}
    for node in nodes:
        for read in node.all_input_nodes:
            last[read] = node
    dying: dict[fx.Node, list[fx.Node]] = {}
    for value, reader in last.items():
        dying.setdefault(reader, []).append(value)
    return dying
