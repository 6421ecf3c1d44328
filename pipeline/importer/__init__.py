"""FX graphs -> MLIR. Nothing that torch.compile accepts may fail here or change its numbers."""

from .step import ImportedStep, StepError, import_step

__all__ = ["ImportedStep", "StepError", "import_step"]
