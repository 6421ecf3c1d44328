"""`residency-opt --list-passes`."""

from __future__ import annotations

from dataclasses import MISSING, fields

from ..passes._base import option_name
from ..registry import PASSES, pass_class


def describe() -> str:
    """Every pass: its first sentence and its options with their types and defaults."""
    lines = []
    for name in sorted(PASSES):
        class_ = pass_class(name)
        lines.append(f"{name}\n    {(class_.__doc__ or '').strip().splitlines()[0]}")
        for field in fields(class_):
            default = "required" if field.default is MISSING else f"default {field.default}"
            lines.append(f"    {{{option_name(field.name)}=<{field.type}>}} ({default})")
    return "\n".join(lines) + "\n"
