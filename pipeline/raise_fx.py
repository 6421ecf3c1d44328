"""MLIR -> FX: the names that other parts use."""

from .raising import TRANSFERS, RaiseError, literal_of, raise_function, torch_call

__all__ = ["TRANSFERS", "RaiseError", "literal_of", "raise_function", "torch_call"]
