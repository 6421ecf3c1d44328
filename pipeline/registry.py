"""All passes by name. The module of a pass is imported when the pass is asked for."""

from __future__ import annotations

import importlib
from difflib import get_close_matches

from .passes._base import Pass

PASSES = {
    "residency-check-imported": "check_imported:CheckImported",
    "residency-check-outlined": "check_outlined:CheckOutlined",
    "residency-check-placed": "check_placed:CheckPlaced",
    "residency-check-scheduled": "check_scheduled:CheckScheduled",
    "residency-dedupe-segments": "dedupe_segments:DedupeSegments",
    "residency-insert-releases": "insert_releases:InsertReleases",
    "residency-match-slots": "match_slots:MatchSlots",
    "residency-offload-saved": "offload_saved:OffloadSaved",
    "residency-outline-segments": "outline_segments:OutlineSegments",
    "residency-schedule-transfers": "schedule_transfers:ScheduleTransfers",
    "residency-sink-views": "sink_views:SinkViews",
    "residency-tag-layers": "tag_layers:TagLayers",
    "residency-undo-offload": "undo_offload:UndoOffload",
}
"""pass name -> "<file under pipeline/passes>:<class>" """


class UnknownPassError(ValueError):
    """A name that no pass has."""


def pass_class(name: str) -> type[Pass]:
    """The class of the pass called `name`. Raises UnknownPassError, which lists the passes."""
    if name not in PASSES:
        near = get_close_matches(name, PASSES, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnknownPassError(
            f"no such pass{hint} (passes: {', '.join(sorted(PASSES))}), got: {name}"
        )
    file, _, class_ = PASSES[name].partition(":")
    return getattr(importlib.import_module(f".passes.{file}", __package__), class_)


def create(name: str, **options: object) -> Pass:
    """The pass called `name` with options by field name. Raises UnknownPassError."""
    return pass_class(name)(**options)
