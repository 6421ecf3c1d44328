"""What may exist after each phase. The gates enforce it."""

from __future__ import annotations

from dataclasses import dataclass

SYMBOLS = frozenset({"residency.param", "residency.slot"})
COMPUTE = frozenset({"torch."})
PLACED = frozenset(f"residency.{op}" for op in ("gather", "release", "reduce", "offload", "reload"))
SCHEDULED = frozenset(
    f"residency.{op}"
    for op in ("gather_start", "reduce_start", "offload_start", "reload_start", "wait", "free")
)


@dataclass(frozen=True)
class Rules:
    """What one phase allows. A name that ends in "." stands for a dialect."""

    phase: str
    entry: frozenset[str]
    """ops in the functions that the outside calls"""
    segment: frozenset[str] | None = None
    """ops in private functions; None if there must be no such functions"""
    tiers: bool = True
    """slots may be in another tier than the device"""
    views: bool = False
    """entry functions may also make views, of arguments for instance, and the numbers that these take"""

    def allows(self, op_name: str, *, in_segment: bool) -> bool:
        """True if an op may stand in an entry function, or in a segment."""
        allowed = self.segment if in_segment else self.entry
        return allowed is not None and (
            op_name in allowed or op_name.partition(".")[0] + "." in allowed
        )


RULES = {
    rules.phase: rules
    for rules in (
        Rules("imported", COMPUTE | {"func.return"}, tiers=False),
        Rules("placed", COMPUTE | PLACED | {"func.return"}),
        Rules("scheduled", COMPUTE | SCHEDULED | {"func.return"}),
        Rules(
            "outlined",
            SCHEDULED | {"func.call", "func.return"},
            segment=COMPUTE | {"func.return"},
            views=True,
        ),
    )
}
"""phase -> its rules"""
