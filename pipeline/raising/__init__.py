"""MLIR -> FX."""

from .calls import torch_call
from .errors import RaiseError
from .function import raise_function
from .literals import literal_of
from .transfers import TRANSFERS

__all__ = ["TRANSFERS", "RaiseError", "literal_of", "raise_function", "torch_call"]
