"""Cuts a captured graph into segments by hand, as the passes do on MLIR: views stay with their readers, bases cross."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import fx

from residency.pipeline.segments import CompiledSegment, SegmentCompiler


@dataclass
class Piece:
    """One segment of a cut graph, and the nodes of the whole graph that it reads and makes."""

    gm: fx.GraphModule
    reads: list[fx.Node]
    makes: list[fx.Node]


def is_replayed(node: fx.Node) -> bool:
    """Views and scalar arithmetic are made anew by each reader."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return is_replayed(node.args[0])
    if not isinstance(node.target, torch._ops.OpOverload):
        return isinstance(node.meta.get("val"), torch.SymInt)
    if node.target is torch.ops.aten.sym_size.int:
        return True
    return node.target.is_view and node.target is not torch.ops.aten.as_strided.default


def base_of(node: fx.Node) -> fx.Node:
    """The node whose storage a replayed one shows."""
    while is_replayed(node):
        node = node.all_input_nodes[0]
    return node


def cut(gm: fx.GraphModule, count: int, at: Callable[[fx.Node], bool] | None = None) -> list[Piece]:
    """`count` segments of about equal length, or a cut before each node that `at` picks."""
    work = [
        n for n in gm.graph.nodes if n.op in ("call_function", "get_attr") and not is_replayed(n)
    ]
    groups: list[list[fx.Node]] = [[]]
    for index, node in enumerate(work):
        starts = at(node) if at else index >= len(groups) * len(work) / count
        if starts and groups[-1] and node.target is not operator.getitem:
            groups.append([])
        groups[-1].append(node)
    group_of = {node: i for i, group in enumerate(groups) for node in group}
    # A view that the graph returns comes from the segment that makes its base.
    outputs = list(dict.fromkeys(gm.graph.output_node().all_input_nodes))
    returned: dict[int, list[fx.Node]] = {}
    for node in outputs:
        if is_replayed(node) and base_of(node) in group_of:
            returned.setdefault(group_of[base_of(node)], []).append(node)
    return [
        piece(gm, i, group, group_of, returned.get(i, []), outputs)
        for i, group in enumerate(groups)
    ]


def piece(
    gm: fx.GraphModule,
    index: int,
    group: list[fx.Node],
    group_of: dict[fx.Node, int],
    views: list[fx.Node],
    outputs: Sequence[fx.Node],
) -> Piece:
    graph, env, reads = fx.Graph(), {}, []
    wanted = wanted_by([*group, *views], set(group))
    for node in gm.graph.nodes:
        if node in wanted and not is_replayed(node):
            env[node] = graph.placeholder(node.name)
            env[node].meta = dict(node.meta)
            reads.append(node)
    for node in gm.graph.nodes:
        if node in group or (node in wanted and is_replayed(node)) or node in views:
            env[node] = graph.node_copy(node, env.__getitem__)
    makes = [
        n
        for n in group
        if not isinstance(n.meta.get("val"), tuple | list)
        and (n in outputs or any(crosses(user, index, group_of) for user in n.users))
    ] + views
    graph.output(tuple(env[n] for n in makes))
    return Piece(fx.GraphModule(gm, graph), reads, makes)


def wanted_by(nodes: list[fx.Node], own: set[fx.Node]) -> set[fx.Node]:
    """What `nodes` read from outside: replayed nodes and, behind those, the values they are made from."""
    wanted: set[fx.Node] = set()
    stack = [read for node in nodes for read in node.all_input_nodes]
    while stack:
        node = stack.pop()
        if node in wanted or node in own:
            continue
        wanted.add(node)
        if is_replayed(node):
            stack += node.all_input_nodes
    return wanted


def crosses(user: fx.Node, index: int, group_of: dict[fx.Node, int]) -> bool:
    """True if `user`, or a reader of the view that it is, sits in a later segment."""
    if is_replayed(user):
        return any(crosses(u, index, group_of) for u in user.users)
    return user.op != "output" and group_of[user] != index


class Chain:
    """A cut graph, compiled in order; calling it runs the segments."""

    def __init__(
        self,
        gm: fx.GraphModule,
        inputs: Sequence[object],
        compiler: SegmentCompiler,
        count: int = 1,
        *,
        at: Callable[[fx.Node], bool] | None = None,
        is_backward: bool = False,
        visible: int = 0,
        donate: bool = False,
    ) -> None:
        placeholders = gm.graph.find_nodes(op="placeholder")
        self.gm, self.placeholders = gm, placeholders
        self.result = gm.graph.output_node().args[0]
        env = dict(zip(placeholders, inputs, strict=True))
        shown = {n for n in self.result[:visible] if isinstance(n, fx.Node)}
        self.steps: list[tuple[CompiledSegment, Piece, list[fx.Node]]] = []
        pieces = cut(gm, count, at)
        last = {node: i for i, p in enumerate(pieces) for node in p.reads}
        kept = {base_of(n) for n in self.result if isinstance(n, fx.Node)} | set(placeholders)
        for i, p in enumerate(pieces):
            dying = [n for n in p.reads if last[n] == i and n not in kept]
            compiled = compiler.compile(
                p.gm,
                [env[n] for n in p.reads],
                is_backward=is_backward,
                user_visible=frozenset(j for j, n in enumerate(p.makes) if n in shown),
                donated=frozenset(p.reads.index(n) for n in dying) if donate else frozenset(),
            )
            env.update(zip(p.makes, compiled.outputs, strict=True))
            self.steps.append((compiled, p, dying))
        self.env = env
        self.strides = [
            tuple(v.stride()) if isinstance(v := self.fake(n), torch.Tensor) else None
            for n in self.result
        ]

    def fake(self, node: object) -> object:
        if not isinstance(node, fx.Node):
            return node
        return self.env[node] if node in self.env else node.meta["val"]

    def boxed(self) -> Callable[[list], tuple]:
        """A function, since AOTAutograd does not look for the mark on an object."""

        def run(args: list) -> tuple:
            return self(args)

        run._boxed_call = True
        return run

    def __call__(self, args: list) -> tuple:
        env = dict(zip(self.placeholders, args, strict=True))
        args.clear()
        for compiled, p, dying in self.steps:
            values = [env[n] for n in p.reads]
            for node in dying:
                del env[node]
            env.update(zip(p.makes, compiled.fn(values), strict=True))
        return tuple(self.value(n, env) for n in self.result)

    def value(self, node: object, env: dict[fx.Node, object]) -> object:
        """An output; a view of a graph input is made here."""
        if not isinstance(node, fx.Node):
            return node
        if node not in env:
            args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: self.value(n, env))
            env[node] = node.target(*args, **kwargs)
        return env[node]
