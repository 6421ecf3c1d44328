"""Segments: an FX graph to a callable that takes a list, empties it and returns a tuple. Needs neither MLIR nor the importer."""

from .cache import SegmentCompiler
from .compiled import CompiledSegment, SegmentError, compile_segment
from .fakes import restride

__all__ = ["CompiledSegment", "SegmentCompiler", "SegmentError", "compile_segment", "restride"]
