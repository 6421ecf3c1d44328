"""Names of the attributes that residency puts on functions and on ops of other dialects.

They are spelled once, here: a misspelt attribute is silently ignored by MLIR, so no other file writes one as a string.
"""

from __future__ import annotations

KIND = "residency.kind"
"""on a function argument: what it is, one of `KINDS`"""

SLOT = "residency.slot"
"""on a forward result and on a backward argument: the slot symbol that ties the two together"""

FX = "residency.fx"
"""on an op or argument: handle of the FX node it came from; a hint for raising, never an identity"""

CONSTANT = "residency.constant"
"""on an argument: handle of the tensor constant that the emitted driver passes there"""

SEGMENT = "residency.segment"
"""on a private function: it is a compute segment, outlined from the named entry function"""

CUT = "residency.cut"
"""on an op: a segment may end right after it"""

INPUT, PARAM, SAVED, TANGENT, SYMINT, OPAQUE = KINDS = (
    "input",
    "param",
    "saved",
    "tangent",
    "symint",
    "opaque",
)

DEVICE, HOST, DISK = TIERS = ("device", "host", "disk")
"""where a slot's bytes are between forward and backward"""

STAYS = "stays"
"""on a slot, from the importer: why its value can never leave the device"""

REASON = "reason"
"""on a slot, from placement: why it is in its tier"""
